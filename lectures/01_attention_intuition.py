# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 1 · Attention: the idea and where it came from
#
# *From the eye that cannot look everywhere to the network that learns where to look.*
#
# [Lab 1](../labs/01_attention_intuition/01_attention_intuition.ipynb) · [1b · Visual attention
# →](01b_visual_attention.ipynb)
#
# **Afterwards you can**
#
# * say what attention is for, and show the problem that it solves;
# * compute attention as a weighted average by hand; fit Nadaraya–Watson regression and choose its bandwidth;
# * explain Bahdanau attention step by step, and read an alignment matrix;
# * choose among six score functions, and say which ones learn;
# * tell self from cross, soft from hard, global from local attention.
#
# The second part, [1b · Visual attention](01b_visual_attention.ipynb), is about the gradient of a hard choice and about images: attention as
# a part of a convolutional network, and what a map of attention and a Grad-CAM can prove.
#
# **You need** matrix products, the softmax, what an LSTM takes in and gives out; Keras `Model` and
# `fit`. Some cells use `tf.function` and `GradientTape`: you may take these cells as given and read their results.
#
# **Time**: about 86 minutes to read and predict; the code runs in about a minute and a half on two CPU cores.
#
# **How to read it.** Most results are preceded by a question. Answer it, on paper or aloud, *before* you run the cell
# and before you open the answer.
#
# Letters are the same in all nine lectures: **B** is the size of the batch, **T** the number of queries (the
# length of the target), **S** the number of keys (the length of the source), **D** the width of a vector.

# %% tags=["course-setup", "active-ipynb"]
# # Colab: install the course's helper package. Anywhere else this cell does nothing.
# import sys
#
# if "google.colab" in sys.modules:
#     print("This notebook was not told where Colab finds the course's helper package: ask whoever gave it to you.")

# %%
from coursekit import dates, diagrams, live, plots, quiet

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook
plots.use_course_style()

import time
from functools import partial
from itertools import pairwise

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import layers, ops
from scipy.ndimage import gaussian_filter
from scipy.special import softmax
from sklearn.datasets import load_digits

keras.utils.set_random_seed(1)
np.set_printoptions(precision=3, suppress=True)

# %% [markdown]
# ## 1 · Selective attention: eye, image, sentence
#
# You do not read this page all at once. The eye sees sharply only a patch about as wide as a thumb at arm's
# length; the rest is a blur that is good enough to decide *where to look next*. Seeing a page is a sequence of
# choices.
#
# Here is a page of digits as an eye sees it that rests on the red cross (the blur grows with the distance from it).
#
# **Predict.** How many sevens are there? Count on the left picture only, then decide what you would need to be sure.

# %%
digits = load_digits()
on_page = np.random.default_rng(1).permutation(1797)[:40]
framed = np.pad(digits.images[on_page] / 16, ((0, 0), (3, 3), (3, 3)))  # (40, 14, 14)
page = framed.reshape(5, 8, 14, 14).swapaxes(1, 2).reshape(70, 112)  # 5 rows of 8 digits
page = np.kron(page, np.ones((3, 3)))  # (210, 336)


def look_at(image, row, column, sharp=30):
    """Blur an image (h, w) the more, the farther a pixel is from (row, column)."""
    rows, columns = np.indices(image.shape)
    distance = np.hypot(rows - row, columns - column)
    levels = [gaussian_filter(image, blur) for blur in range(10)]  # 10 × (h, w)
    level = np.clip((distance - sharp) / 10, 0, 9).round().astype(int)
    return np.choose(level, levels)  # (h, w)


# %%
figure, panels = plt.subplots(1, 2, figsize=(9, 3))
for panel, (row, column) in zip(panels, [(105, 168), (63, 84)], strict=True):
    panel.imshow(look_at(page, row, column), cmap="gray_r", vmin=0, vmax=1)
    panel.plot(column, row, "+", color=diagrams.PALETTE["accent"], markersize=12, markeredgewidth=2)
    panel.axis("off")
plots.show(
    figure,
    alt="""A page of 5 by 8 handwritten digits, twice. Left, only the digits around the cross in the middle are sharp;
right, the cross and the sharp digits are at the upper left. Everything else is blurred.""",
)

# %%
# NBVAL_CHECK_OUTPUT
sevens = np.flatnonzero(digits.target[on_page] == 7)  # which of the 40 digits, row by row
print("sevens on the page:", len(sevens))

# %%
figure, ax = plt.subplots(figsize=(4.6, 3))
ax.imshow(page, cmap="gray_r")
for row, column in zip(*divmod(sevens, 8), strict=True):
    ax.add_patch(plt.Rectangle((42 * column, 42 * row), 42, 42, fill=False, color=diagrams.PALETTE["accent"], lw=2))
ax.axis("off")
plots.show(figure, alt="The same page, sharp everywhere; a frame stands around each of its two sevens.")

# %% [markdown]
# <details><summary>What you would need</summary>
#
# Several looks, one after the other, and a memory for what you have seen. Each look is sharp in one place; the choice
# of the next place depends on the question ("sevens") and on what the blur promises. That is **selective attention**:
# a *query* (the question), candidate places, a decision how much each place matters, and a summary of what is there.
#
# </details>
#
# A sentence is read the same way. To fill the gap you do not use all words alike:
#
# > *The **keys** that Ada left on the table near the door ___ still there.*
#
# Whether the gap is "was" or "were" depends on a word ten places away, not on "door" beside it. The widths below are
# **our own guess** of how much each word helps; the rest of this lecture is about letting a network find such
# numbers.

# %%
sentence = ["the", "keys", "that", "Ada", "left", "on", "the", "table", "near", "the", "door"]
guess = np.array([[0.05, 0.7, 0.03, 0.04, 0.05, 0.01, 0.01, 0.03, 0.02, 0.01, 0.05]])  # (T, S) = (1, 11)
ax = plots.attention_lines(guess, ["___"], sentence, title="Which words decide was or were?", threshold=0)
plots.show(
    ax,
    alt="""Lines from the gap to the eleven words of the sentence. The line to keys is by far the widest, the others
are thin: a guess made by hand.""",
)

# %% [markdown]
# ## 2 · Sequences in, sequences out
#
# The attention that this lecture builds was first published for one of these five tasks. Which one?

# %%
KINDS = [  # title, example, inputs, outputs, steps before the first output
    ("one to one", "image → class", 1, 1, 0), ("one to many", "image → caption", 1, 3, 0),
    ("many to one", "review → mood", 3, 1, 2), ("many to many", "text → translation", 3, 4, 2),
    ("many to many", "word → its tag", 3, 3, 0),
]  # fmt: skip


def row_of_boxes(ax, x, y, count, role):
    return [diagrams.box(ax, x + 0.37 * i, y, "", role=role, width=0.27, height=0.4) for i in range(count)]


# %%
figure, ax = diagrams.canvas(10, 3.1)
start = 0.35
for number, (title, example, n_in, n_out, delay) in enumerate(KINDS, 1):
    steps = max(n_in, n_out + delay)
    cells = row_of_boxes(ax, start, 1.4, steps, "neutral")
    for i, below in enumerate(row_of_boxes(ax, start, 0.6, n_in, "key")):
        diagrams.arrow(ax, below, cells[i])
    for i, above in enumerate(row_of_boxes(ax, start + 0.37 * delay, 2.2, n_out, "output")):
        diagrams.arrow(ax, cells[i + delay], above)
    for left, right in pairwise(cells):
        diagrams.arrow(ax, left.right, right.left)
    middle = start + 0.37 * (steps - 1) / 2
    diagrams.note(ax, middle, 2.8, f"({number}) {title}", fontsize=9)
    diagrams.note(ax, middle, 0.15, example, fontsize=9)
    start += 0.37 * steps + 0.95
plots.show(
    figure,
    alt="""Five small recurrent networks: one to one, one to many (image to caption), many to one (review to mood),
many to many with delay (translation: all three inputs are read before the first of four outputs), many to many step
by step.""",
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# The fourth: translation (Bahdanau et al., September 2014). Input and output may differ in length and order, so the network
# has to read **everything** before it writes. Captions from images (the second) followed within months (Xu et al.,
# February 2015).
#
# It was not the first network that looks selectively. Larochelle and Hinton (2010) and Mnih et al. (2014) trained
# networks that choose where in an image to look next, as the eye in section 1 does. Graves (2013) let a network that
# writes by hand move a soft window over the text that it copies.
#
# </details>
#
# (The five sketches follow a figure by Karpathy, 2015. A convolutional network that ends in a dense layer on all its places accepts inputs of one
# size only; a recurrent network reads a sequence of any length.)
#
# A translator of that kind has two halves. The **encoder** reads the source and ends in a state; the **decoder**
# starts from that state and writes one token after the other, each time reading what it wrote last (Sutskever et al.
# 2014, Cho et al. 2014).

# %%
figure, ax = diagrams.canvas(9.2, 2.5)
source_boxes = diagrams.tokens(ax, ["2", "march", "1", "9", "9", "4"], 0.5, 0.35, role="key", step=0.6, fontsize=8)
target_boxes = diagrams.tokens(ax, ["start", "1", "9", "9", "…"], 6.0, 0.35, role="query", step=0.6, fontsize=8)
written = diagrams.tokens(ax, ["1", "9", "9", "4", "…"], 6.0, 2.15, role="output", step=0.6, fontsize=8)
encoder_box = diagrams.box(ax, 2.0, 1.25, "encoder: LSTM, both directions", width=3.5, height=0.55)
state = diagrams.box(ax, 4.6, 1.25, "state", role="accent", width=0.9, height=0.55, detail="128")
decoder_box = diagrams.box(ax, 7.2, 1.25, "decoder: LSTM", width=3.0, height=0.55)
for token in source_boxes:
    diagrams.arrow(ax, token.top, (token.x, 0.98))
for below, above in zip(target_boxes, written, strict=True):
    diagrams.arrow(ax, below.top, (below.x, 0.98))
    diagrams.arrow(ax, (above.x, 1.53), above.bottom)
diagrams.arrow(ax, encoder_box, state)
diagrams.arrow(ax, state, decoder_box)
plots.show(
    figure,
    alt="""Encoder and decoder. Source tokens flow up into the encoder, one arrow leads to a small red box, the state
of 128 numbers, and one arrow from there into the decoder, which writes the target tokens.""",
)

# %% [markdown]
# ## 3 · The bottleneck, seen
#
# Everything the decoder will ever know about the source passes through the red box. It has the same size for a source
# of five tokens and for one of fifty. Does that matter? We train one and look.
#
# **The task**: dates as people write them into ISO 8601 dates (year, month, day without signs between). Words are
# single tokens and digits are single tokens. A line holds one, two or three dates, so longer lines carry *more* to
# remember. The lines are drawn by `coursekit.dates`; no data set is needed.

# %%
# NBVAL_CHECK_OUTPUT
rng = np.random.default_rng(0)
for count in (1, 2, 3):
    sources, targets = dates.date_lines([count], rng)
    print(" ".join(sources[0]), "→", " ".join(targets[0]))
print(len(dates.VOCABULARY), "tokens in the vocabulary, source and target together")

# %%
MOST, PER_DATE = 3, 9  # dates in a training line; target tokens per date, with its separator
S, T = 32, MOST * PER_DATE - 1
V, START = len(dates.VOCABULARY), dates.IDS[dates.START]


def lines_of(counts, rng, source_length=S, target_length=T):
    """Draw lines; returns ids of the sources (N, S) and of the targets (N, T), padded with 0."""
    sources, targets = dates.date_lines(counts, rng)
    return dates.encode(sources, source_length), dates.encode(targets, target_length)


rng = np.random.default_rng(1)
train_source, train_target = lines_of(rng.choice([1, 2, 3], size=4000, p=[0.5, 0.3, 0.2]), rng)  # (N, S), (N, T)
shifted = np.roll(train_target, 1, axis=1)  # (N, T): what the decoder reads is the target, one place later
shifted[:, 0] = START
print(train_source.shape, train_target.shape)

# %% [markdown]
# The decoder reads the *right* previous token during training, whatever it would have written itself (teacher
# forcing; lecture 8 comes back to it).
#
# **Shapes.** The encoder is bidirectional with 32 units in each direction: at every source place it leaves a vector
# of 64 numbers, and at the end a state of 4 × 32 = 128 numbers (an LSTM has two states, in two directions).

# %%
UNITS = 32


def encode_source(source, embedding):
    """Read the source (B, S): returns a vector per place (B, S, 64), the mask (B, S) and the last state."""
    mask = ops.not_equal(source, 0)  # (B, S)
    both = layers.Bidirectional(layers.LSTM(UNITS, return_sequences=True, return_state=True))
    places, h_forward, c_forward, h_backward, c_backward = both(embedding(source), mask=mask)  # places: (B, S, 64)
    state = [ops.concatenate([h_forward, h_backward], axis=-1), ops.concatenate([c_forward, c_backward], axis=-1)]
    return places, mask, state  # the state: 2 × (B, 64)


# %%
def translator_without_attention():
    source, previous = keras.Input((None,), dtype="int32"), keras.Input((None,), dtype="int32")
    embedding = layers.Embedding(V, 32)
    _, _, state = encode_source(source, embedding)  # the places are thrown away: only the state goes on
    decoded = layers.LSTM(2 * UNITS, return_sequences=True)(embedding(previous), initial_state=state)  # (B, T, 64)
    hidden = layers.Dense(64, activation="tanh")(decoded)  # (B, T, 64)
    return keras.Model([source, previous], layers.Dense(V)(hidden))  # (B, T, V)


def train(model, epochs):
    """Fit a translator; padding (id 0) does not count. Returns the loss of each epoch."""
    steps = epochs * len(train_source) // 32
    schedule = keras.optimizers.schedules.CosineDecay(0.01, steps)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=0)
    model.compile(keras.optimizers.Adam(schedule, clipnorm=1.0), loss)
    return model.fit([train_source, shifted], train_target, batch_size=32, epochs=epochs, verbose=0).history


# %% [markdown]
# After training the decoder is on its own: it reads what it wrote. We take the most probable token at every step
# (greedy decoding) and call a date right when all eight digits are. The number of tokens to write is given: lecture 8 adds a token that ends a line.

# %%
def translate(predict, source, length):
    """Write `length` tokens for every source (N, S), each from the most probable token; returns ids (N, length)."""
    written = np.full((len(source), length + 1), START, "int32")
    for step in range(length):
        logits = predict(tf.constant(source), tf.constant(written[:, :-1]))  # (N, length, V)
        written[:, step + 1] = np.argmax(logits[:, step], axis=-1)
    return written[:, 1:]


def dates_right(predict, source, target):
    """Which dates of each line come out right, (N, dates); source (N, S), target (N, 9·dates − 1)."""
    hits = translate(predict, source, target.shape[1]) == target  # (N, length)
    starts = range(0, target.shape[1], PER_DATE)
    return np.stack([hits[:, start : start + 8].all(axis=1) for start in starts], axis=1)  # (N, dates)


rng = np.random.default_rng(2)
tests = {count: lines_of([count] * 200, rng, 11 * count - 1, 9 * count - 1) for count in (1, 2, 3)}
keras.utils.set_random_seed(1)
plain = translator_without_attention()
histories = {"without attention": train(plain, epochs=16)}
plain_predict = tf.function(lambda source, previous: plain([source, previous]), reduce_retracing=True)

# %% [markdown]
# **Predict.** Lines with one, two and three dates. Which share of the dates comes out right? And in a line of three: is
# it the first date that comes out right, the last one, or each of them equally often?
#
# <details><summary>How to check your answer</summary>
#
# If every date were translated on its own, the share would be the same for all three lengths. If the state had room for
# a fixed amount only, each place of the line would lose a part. Compare both with the output below.
#
# </details>

# %%
plain_right = {count: dates_right(plain_predict, *test) for count, test in tests.items()}  # (N, dates) each
for count, right in plain_right.items():
    print(f"{count} per line: {right.mean():.0%} of the dates are right; by place in the line: {right.mean(axis=0)}")

# %%
source, target = tests[3]
answer = translate(plain_predict, source[:2], target.shape[1])
for row in range(2):
    print("source ", " ".join(dates.decode(source[row])))
    print("target ", " ".join(dates.decode(target[row])))
    print("written", " ".join(dates.decode(answer[row])), "\n")

# %% [markdown]
# What comes out still *looks* like dates: eight digits, a separator, eight digits. The decoder has learned the form. The
# content is right for **one date of each line**, the first, and for hardly any other. So the shares 98 %, 49 % and 30 %
# are close to 1, 1/2 and 1/3.
#
# Is the state too small? That is not shown here. Three dates are about 45 bits (each is one of some 36,500 days), and the
# state holds 128 numbers. The first date is also the one with the shortest way: the decoder writes it first, and the
# half of the encoder that reads backwards has read it last. What this run shows is that **training did not find** a way
# to carry the later dates through the state.
#
# Cho et al. (2014b) and Bahdanau et al. (2015, figure 2) measured networks without attention on English–French. There
# the quality falls with the length of the sentence. In our run the place of the date decides.

# %% [markdown]
# ## 4 · Three limits of recurrence
#
# **Vanishing gradients and locality.** How much does the last state of a recurrent network depend on the token *k*
# steps back? We measure it: the gradient of a random projection of the last state, with respect to each input vector,
# for untrained layers.
#
# **Predict.** Draw four curves on a logarithmic axis: a simple RNN; an LSTM as Keras makes it; an LSTM in which one thing
# is changed, `unit_forget_bias=False`; and one attention step in which the last token asks all others. Both LSTMs have
# the same additive memory. Which of the two falls more slowly, and is the other one above the simple RNN?
#
# <details><summary>Answer</summary>
#
# All recurrent curves fall like a straight line, that is, exponentially: every step back multiplies by a factor
# below one. The LSTM of Keras falls most slowly. With a forget bias of 0 it falls *faster* than the simple RNN.
# Attention is flat, because every token is one step away; it is also low, because one query spreads its weight over 59
# tokens.
#
# </details>

# %%
LENGTH, WIDTH = 60, 32
tokens = tf.random.stateless_normal((64, LENGTH, WIDTH), seed=(1, 2))  # (B, T, D)
projection = tf.random.stateless_normal((64, WIDTH), seed=(3, 4))  # (B, D)


def last_token_attends(x):
    scores = ops.einsum("bd,bsd->bs", x[:, -1], x[:, :-1]) / WIDTH**0.5  # (B, S), S = T − 1
    return ops.einsum("bs,bsd->bd", ops.softmax(scores), x[:, :-1])  # (B, D)


def gradient_by_distance(read):
    """Median over the batch of the gradient norm, from the last token back to the first: (T,)."""
    with tf.GradientTape() as tape:
        tape.watch(tokens)
        loss = tf.reduce_sum(read(tokens) * projection)
    return np.median(np.linalg.norm(tape.gradient(loss, tokens), axis=-1), axis=0)[::-1]


keras.utils.set_random_seed(4)
readers = {
    "simple RNN": layers.SimpleRNN(WIDTH),
    "LSTM": layers.LSTM(WIDTH),  # Keras sets the bias of the forget gate to 1
    "LSTM, forget bias 0": layers.LSTM(WIDTH, unit_forget_bias=False),
    "attention": last_token_attends,
}
decay = {name: gradient_by_distance(read) for name, read in readers.items()}

# %%
figure, ax = plt.subplots(figsize=(6.5, 3.3))
for (name, norms), style in zip(decay.items(), plots.LINES, strict=False):
    distance = np.arange(1, LENGTH)
    ax.plot(distance, norms[1:], label=name, markevery=6, **style)
ax.set(yscale="log", xlabel="steps back from the last token", ylabel="gradient")
ax.legend()
plots.show(
    figure,
    alt="""Gradient size against distance, logarithmic. Three recurrent layers fall in straight lines over many orders
of magnitude: the LSTM with forget bias 1 most slowly, the LSTM with forget bias 0 fastest, the simple RNN between
them. Attention stays flat, at a low level.""",
)
for name in list(readers)[:3]:
    share = np.cumsum(decay[name]) / decay[name].sum()
    factor = (decay[name][-1] / decay[name][1]) ** (1 / (LENGTH - 2))
    print(f"{name}: times {factor:.2f} a step; the last {np.argmax(share > 0.99) + 1} of {LENGTH} tokens carry 99 %")


# %% [markdown]
# That is the **locality** of recurrence: the gradient of a near token is large, the gradient of a far token is close to
# zero (Bengio et al. 1994).
#
# The two LSTMs differ in one number. Keras starts the bias of the forget gate at 1, so the gate lets about
# σ(1) = 0.73 of the memory pass at each step; with bias 0 it lets about σ(0) = 0.5 pass. An additive memory helps only
# while its gate is open. (These layers are untrained. Training can open the gates further, but it has to learn that from
# gradients that are small for far tokens.)
#
# **No parallelism.** Step 100 needs step 99. Attention computes all pairs in one product.

# %%
def fastest_runs(calls, rounds=40, kept=5):
    """Seconds of the fastest runs of each call, all taking turns: other programs disturb the slower ones."""
    times = {name: [] for name in calls}
    for round_number in range(-4, rounds):  # the first four trace and warm up
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            if round_number >= 0:
                times[name].append(time.perf_counter() - begin)
    return {name: sorted(each)[:kept] for name, each in times.items()}


# %%
attend = layers.Attention()  # Keras's own: a dot product for each pair of tokens, a softmax, a mixture
readers = {"LSTM": layers.LSTM(64, return_sequences=True), "attention": lambda x: attend([x, x])}  # (B, T, D) each
lengths = [16, 32, 64, 128, 256, 512]
calls = {}
for length in lengths:
    x = tf.random.stateless_normal((4, length, 64), seed=(5, 6))  # (B, T, D)
    for name, read in readers.items():
        calls[name, length] = partial(tf.function(read), x)
tf.get_logger().setLevel("ERROR")  # a trace for every length is meant here, and no reason for a warning
fastest = fastest_runs(calls)
measured = {name: [fastest[name, length] for length in lengths] for name in readers}

# %%
figure, ax = plt.subplots(figsize=(6.5, 3.3))
for line, (name, times) in enumerate(measured.items()):
    plots.measured_curve(lengths, 1000 * np.array(times).T, label=name, line=line, ax=ax)
ax.set(xscale="log", yscale="log", xticks=lengths, xticklabels=lengths)
ax.set(xlabel="tokens T", ylabel="milliseconds per call")
ax.minorticks_off()
plots.show(
    figure,
    alt="""Time per call against length, both axes logarithmic, the five fastest of forty calls each. Both grow with
the length. Attention lies below the LSTM throughout.""",
)

# %% [markdown]
# The times are those of one machine, the five fastest of forty calls each. The LSTM needs
# T steps *one after another*, however many cores there are. The scores of attention do not wait for each other.
# The comparison is not quite fair: the LSTM multiplies by learned matrices, and this attention layer has none. Lecture 2
# counts both with their projections.
#
# | | recurrence | attention |
# |---|---|---|
# | steps that must wait for each other | T | 1 |
# | way from one token to another (longest) | T | 1 |
# | multiplications, roughly | T · D² | T² · D |
#
# (Vaswani et al. 2017, table 1. Lecture 2 measures the last line.)

# %% [markdown]
# ## 5 · Attention as a database that answers with an average
#
# Forget networks for a moment. A **database** holds pairs of a *key* and a *value*; you come with a *query*. Somebody
# read the thermometer a few times today:

# %%
hours = np.array([8.0, 9.0, 10.0, 12.0, 15.0])  # keys (S,)
degrees = np.array([11.0, 13.0, 15.0, 20.0, 22.0])  # values (S,)
readings = dict(zip(hours.tolist(), degrees.tolist(), strict=True))

# %% [markdown]
# **Exact query**: an ordinary dictionary. **Approximate query**: the value of the nearest key. **Top-k query**: the
# mean of the k nearest.
#
# **Predict.** Half past ten. What do the three answer?

# %%
# NBVAL_CHECK_OUTPUT
query = 10.5
nearest_first = np.argsort(np.abs(hours - query))  # (S,)
print("exact      ", readings.get(query, "no such key"))
print("approximate", degrees[nearest_first[0]])
print("top 3      ", degrees[nearest_first[:3]].mean())


# %% [markdown]
# The exact query fails, the approximate one ignores all readings but one, and top-k treats its k readings alike and
# the others as if they did not exist. The natural fourth answer: **use all values, each with a weight that falls with
# the distance of its key**, and let the weights sum to 1.
#
# $$\text{output}(q) \;=\; \sum_{j=1}^{S} \alpha_j(q)\, v_j \qquad \alpha_j \ge 0,\quad \sum_j \alpha_j = 1$$
#
# This formula is attention. Three of the four answers have weights of this kind. The exact query has them only if the key
# exists; otherwise all its weights are 0, and it has no answer.
#
# | answer | weights |
# |---|---|
# | exact | 1 where the key equals the query, nothing otherwise |
# | approximate | 1 for the nearest key, 0 elsewhere (**hard** attention) |
# | top k | 1/k for the k nearest, 0 elsewhere |
# | all, by distance | something positive for every key (**soft** attention) |
#
# What remains is to choose α. The history of attention is the history of that choice. Four things hold for each choice (after Zhang et al.,
# *Dive into Deep Learning*, section 11.1):
#
# * The same query works on a database of any size.
# * The same query gets another answer from another database.
# * The rule is short, also where the database is large.
# * Nothing has to be compressed first, as the encoder of section 3 has to do it: keys and values are read where they are.

# %% [markdown]
# ## 6 · Attention pooling: Nadaraya and Watson, 1964
#
# In 1964 two statisticians, independently, proposed a weighted mean whose weights come from a **kernel**, a function that
# falls with the distance. Many kernels will do. Ours is the Gaussian:
#
# $$\alpha_j(q) = \frac{\exp\big(-(q-k_j)^2/2\sigma^2\big)}{\sum_i \exp\big(-(q-k_i)^2/2\sigma^2\big)}$$
#
# σ is the **bandwidth**: at the distance σ a key has 61 % of the kernel that it has at distance 0. Written with a *score* $s_j = -(q-k_j)^2 / 2\sigma^2$, the
# weights are **softmax(scores)**. Keep the two words apart in this course: *scores* go into the softmax, *weights*
# come out and sum to 1.
#
# **By hand.** Keys 0, 1, 3 with values 2, 4, 0; query 1; σ = 1.
#
# | key | distance² | score | exp(score) | weight | weight · value |
# |---|---|---|---|---|---|
# | 0 | 1 | −0.5 | 0.607 | 0.607 / 1.742 = 0.348 | 0.696 |
# | 1 | 0 | 0 | 1 | 1 / 1.742 = 0.574 | 2.296 |
# | 3 | 4 | −2 | 0.135 | 0.135 / 1.742 = 0.078 | 0 |
# | | | sum | 1.742 | 1 | **2.993** |
#
# Now by code, and compared:

# %%
# NBVAL_CHECK_OUTPUT
def smooth(queries, keys, values, sigma):
    """Nadaraya–Watson estimate at queries (T,) from pairs (S,), (S,); returns the estimate (T,) and weights (T, S)."""
    scores = -((queries[:, None] - keys[None, :]) ** 2) / (2 * sigma**2)  # (T, S)
    weights = softmax(scores, axis=-1)  # (T, S), every row sums to 1
    return weights @ values, weights


estimate, weights = smooth(np.array([1.0]), np.array([0.0, 1.0, 3.0]), np.array([2.0, 4.0, 0.0]), sigma=1.0)
print("weights", weights[0], "output", estimate[0].round(3))
assert np.allclose(estimate, 2.993, atol=1e-3)

# %% [markdown]
# Now a real fit: 150 noisy measurements of a function that we know, so that we can judge the result.
#
# **Predict.** What does the estimate look like for a very small σ, and for a very large one?
#
# <details><summary>Answer</summary>
#
# Very small: the nearest measurement wins everything, the curve jumps from point to point and follows the noise. Very
# large: the weights differ little, and the curve is close to the mean of all values, a flat line. In between it smooths.
#
# </details>

# %%
rng = np.random.default_rng(3)


def truth(x):
    return np.sin(2 * x) + 0.4 * x


S_POINTS = 150
keys = np.sort(rng.uniform(0, 5, size=S_POINTS))  # (S,)
values = truth(keys) + 0.4 * rng.normal(size=S_POINTS)  # (S,)
queries = np.linspace(0, 5, 200)  # (T,)

# %%
figure, panels = plt.subplots(2, 3, figsize=(9, 4.6), height_ratios=[3, 2])
for column, sigma in zip(panels.T, (0.02, 0.2, 3.0), strict=True):
    estimate, weights = smooth(queries, keys, values, sigma)
    column[0].plot(keys, values, ".", color=diagrams.PALETTE["residual"], label="measured")
    column[0].plot(queries, truth(queries), "--", color=diagrams.PALETTE["ink"], label="truth")
    column[0].plot(queries, estimate, color=diagrams.PALETTE["query"], label="estimate")
    column[0].set(title=f"σ = {sigma}")
    plots.matrix_map(weights, values=False, colorbar=True, ax=column[1])
    column[1].set(xlabel="key", yticks=[0, 199], yticklabels=["q = 0", "q = 5"])
panels[0, 0].legend(fontsize=8)
plots.show(
    figure,
    alt="""Three fits of the same 150 noisy points with bandwidths 0.02, 0.2 and 3, and below each its weights, queries
by keys. The first curve jumps and its weights are a thin diagonal; the second follows the truth with a soft
diagonal; the third is nearly flat, and its weights fall by a factor of at most four from one end to the other.""",
)

# %% [markdown]
# The same 150 measurements, with a σ and a query of your choice; the amber bars are one row of the maps above.
#
# **Predict.** Set the query to 2.5. How many of the 150 bars are high enough to be seen at σ = 0.02? And at σ = 3? Then move the query to
# 2.6: with which of the two σ does the estimate change more?
#
# <details><summary>Answer</summary>
#
# The 150 measurements lie on a stretch of length 5, so there are about three on a stretch of 0.1, which is the width of the bell at σ = 0.02.
# At σ = 3 all 150 bars can be seen: the largest weight is 1.4 times the smallest. The estimate with σ = 0.02 changes more, by 0.42: at 2.6 it is an average of
# other measurements. The estimate with σ = 3 changes by 0.01.
#
# </details>

# %%
live.bandwidth(keys, values, low=0, high=5)

# %% [markdown]
# The lower row shows your first **attention maps**: a row per query, a column per key. The larger σ is, the broader is
# the diagonal. Each map has a colour scale of its own (the bar beside it), from its smallest to its largest weight: at σ = 3
# the darkest and the lightest cell differ by a factor of about four only.
#
# **Which σ?** Measure the error. But on what?
#
# **Predict.** We compute the mean squared error (a) on the measurements themselves, (b) on each measurement with
# itself left out, (c) against the truth, which in real life you do not have. Where does each have its minimum?
#
# <details><summary>Answer</summary>
#
# (a) at the smallest σ of all, (b) and (c) somewhere in the middle, close to each other.
#
# </details>

# %%
sigmas = np.geomspace(0.01, 5, 40)
errors = {"(a) on the data itself": [], "(b) leaving each one out": [], "(c) against the truth": []}
for sigma in sigmas:
    fitted, weights = smooth(keys, keys, values, sigma)
    others = weights * (1 - np.eye(S_POINTS))  # (S, S): the diagonal is a point's weight on itself
    others = others / np.maximum(others.sum(axis=1, keepdims=True), 1e-300)
    errors["(a) on the data itself"].append(np.mean((fitted - values) ** 2))
    errors["(b) leaving each one out"].append(np.mean((others @ values - values) ** 2))
    errors["(c) against the truth"].append(np.mean((smooth(queries, keys, values, sigma)[0] - truth(queries)) ** 2))
figure, ax = plt.subplots(figsize=(6.5, 3.3))
for (name, curve), style in zip(errors.items(), plots.LINES, strict=False):
    ax.plot(sigmas, curve, label=name, markevery=4, **style)
ax.set(xscale="log", xlabel="bandwidth σ", ylabel="mean squared error")
ax.legend()
plots.show(
    figure,
    alt="""Three error curves against bandwidth. On the data itself the error falls towards zero as the bandwidth shrinks;
the other two are U-shaped with a minimum at about the same place.""",
)
for name, curve in errors.items():
    print(f"{name:26s} least error at σ = {sigmas[np.argmin(curve)]:.2f}")

# %% [markdown]
# (a) is best at the smallest σ of all: every point attends to itself, and a small error there says nothing. (b) needs
# no truth and finds nearly the same σ as (c). It is the same lesson as validation data, in one dimension.
#
# **From distance to dot product.** Expand the square:
#
# $$-\frac{(q-k)^2}{2\sigma^2} = \frac{q k}{\sigma^2} - \frac{k^2}{2\sigma^2} - \frac{q^2}{2\sigma^2}$$
#
# The last term is the same for all keys, so the softmax does not see
# it. If all keys have the same length, neither does it see the middle one. What is left is the **dot product** of
# query and key, divided by σ². Check it with vectors:

# %%
# NBVAL_CHECK_OUTPUT
rng = np.random.default_rng(4)
unit_keys = rng.normal(size=(7, 5))  # (S, D)
unit_keys /= np.linalg.norm(unit_keys, axis=1, keepdims=True)
asked = rng.normal(size=5)  # (D,)
by_distance = softmax(-((asked - unit_keys) ** 2).sum(axis=1) / (2 * 0.5**2))  # (S,)
by_dot_product = softmax(unit_keys @ asked / 0.5**2)  # (S,)
print(by_distance.round(3), np.allclose(by_distance, by_dot_product))


# %% [markdown]
# So, for keys of one length, the "scaled dot product" of 2017 is Nadaraya–Watson pooling with the bandwidth
# $\sigma = d^{1/4}$ (that is, $\sigma^2 = \sqrt{d}$). This is an identity and not how $\sqrt{d}$ was found: the paper of 2017
# argues with the variance of the scores (lecture 2). What is new since 1964: keys, queries and values are **learned**.
#
# (Sections 5 and 6 take the way from the database to the kernel that *Dive into Deep Learning* takes, sections 11.1 to
# 11.3.)

# %% [markdown]
# ## 7 · Bahdanau attention, 2014
#
# Back to the translator. Its encoder leaves a vector at *every* source place, and we threw all of them away but the
# last. Bahdanau, Cho and Bengio keep them and let the decoder ask, at every step *i*, for the mixture it needs:
#
# 1. **Annotations.** A bidirectional RNN gives $h_j = [\overrightarrow{h}_j; \overleftarrow{h}_j]$ for every source
#    place j: what is written there, with what stands before and after it.
# 2. **Alignment model.** A small network scores how well place j fits what is to be written next:
#    $e_{ij} = v^\top \tanh(W s_{i-1} + U h_j)$, where $s_{i-1}$ is the decoder's state.
# 3. **Weights.** $\alpha_{ij} = \mathrm{softmax}_j(e_{ij})$: over the *source places*, so they sum to 1 for every
#    step i.
# 4. **Context vector.** $c_i = \sum_j \alpha_{ij} h_j$. A new one for every output token, instead of one for all.
#
# 5. **The next state and word.** $s_i$ is computed from $s_{i-1}$, the last word $y_{i-1}$ and $c_i$; then the word
#    $y_i$ is predicted from $s_i$, $y_{i-1}$ and $c_i$.
#
# (Bahdanau et al. 2015: section 3.2 for the annotations, section 3.1 with equations 5 and 6 for weights and context,
# appendix A.1.2 for the formula of the alignment model.)

# %%
def draw_annotations(ax):
    """Draw four source tokens and, above them, the vectors that an encoder of both directions leaves there."""
    words = diagrams.tokens(ax, ["2", "march", "1", "9"], 0.8, 0.25, role="key", step=1.3, fontsize=9)
    boxes = [
        diagrams.box(ax, word.x, 1.2, f"$h_{j}$", role="value", width=0.9, detail="(64,)")
        for j, word in enumerate(words, 1)
    ]
    for word, box in zip(words, boxes, strict=True):
        diagrams.arrow(ax, word, box)
    for left, right in pairwise(boxes):
        diagrams.arrow(ax, (left.right[0], 1.3), (right.left[0], 1.3))
        diagrams.arrow(ax, (right.left[0], 1.1), (left.right[0], 1.1))
    return boxes


# %%
figure, ax = diagrams.canvas(9.4, 4.4)
annotations = draw_annotations(ax)
align = diagrams.box(ax, 2.75, 2.6, "alignment model, softmax over places", role="query", width=4.3)
for annotation in annotations:
    diagrams.arrow(ax, annotation.top, (annotation.x, 2.3))
before = diagrams.box(ax, 2.75, 3.8, "$s_{i-1}$", role="query", width=1.0, detail="(64,)")
diagrams.arrow(ax, before, align, label="query")
total = diagrams.operator(ax, 5.9, 1.2, "Σ")
diagrams.arrow(ax, diagrams.group(ax, annotations, pad=0.08), total)  # all four
diagrams.arrow(ax, (4.9, 2.6), (5.9, 2.6), total.top, dashed=True, label="α")
context = diagrams.box(ax, 7.1, 1.2, "$c_i$", role="output", width=0.9, detail="(64,)")
state_box = diagrams.box(ax, 7.1, 3.8, "$s_i$", role="query", width=1.0, detail="(64,)")
word = diagrams.box(ax, 8.7, 3.8, "$y_i$", role="output", width=0.8)
last_word = diagrams.box(ax, 7.9, 2.5, "$y_{i-1}$", role="output", width=0.8)
diagrams.arrow(ax, total, context)
diagrams.arrow(ax, before, state_box, label="the recurrent step")
diagrams.arrow(ax, context, (7.1, 3.5))
diagrams.arrow(ax, (7.6, 2.8), (7.3, 3.5))
diagrams.arrow(ax, (8.2, 2.8), (8.6, 3.5))
diagrams.arrow(ax, state_box, word)
diagrams.arrow(ax, context.right, (8.9, 1.2), (8.9, 3.5))
plots.show(
    figure,
    alt="""Four annotations h1 to h4 stand above their source tokens, with arrows between neighbours in both directions.
They go up into the alignment model, which also receives the state s of step i − 1 as query. Its weights alpha form the
context vector c as a weighted sum of all four. The state of step i − 1, the last word and the context give the
state of step i; that state, the last word and the context give the next word.""",
)

# %% [markdown]
# **By hand**, with the numbers small: state $s = (1, 0)$, annotations $h_1 = (1, 0)$, $h_2 = (0, 1)$, $h_3 = (1, 1)$,
# both matrices the identity, $v = (1, 1)$.
#
# * $W s + U h_1 = (2, 0)$, tanh gives (0.964, 0), so $e_1 = 0.964$. In the same way $e_2 = 0.762 + 0.762 = 1.523$ and
#   $e_3 = 0.964 + 0.762 = 1.726$.
# * exp: 2.622, 4.586, 5.616; sum 12.824. Weights **0.204, 0.358, 0.438**.
# * Context: first number 0.204 · 1 + 0.358 · 0 + 0.438 · 1 = **0.642**, second 0.358 + 0.438 = **0.796**.

# %%
# NBVAL_CHECK_OUTPUT
state = np.array([1.0, 0.0])  # (D,)
annotation = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # (S, D)
w, u, v = np.eye(2), np.eye(2), np.ones(2)
energy = np.tanh(state @ w + annotation @ u) @ v  # (S,)
alpha = softmax(energy)  # (S,)
print("scores ", energy, "\nweights", alpha, "\ncontext", alpha @ annotation)


# %% [markdown]
# **In Keras** the alignment model is `keras.layers.AdditiveAttention`. It adds queries and keys, applies tanh and a
# learned vector; the two matrices are two `Dense` layers without bias. (In the lab you write it yourself.)
#
# One difference to the paper: there, $s_{i-1}$ asks, and $c_i$ goes into the recurrent step that makes $s_i$. Here the
# *current* state asks, after the recurrence, and all decoder states ask at once, as in Luong et al. (2015). The alignment
# model is Bahdanau's; the decoder does not have to wait for it.

# %%
def translator_with_attention():
    """Three models that share their layers: all of it; up to the weights; from the context on."""
    source, previous = keras.Input((None,), dtype="int32"), keras.Input((None,), dtype="int32")
    embedding = layers.Embedding(V, 32)
    places, mask, state = encode_source(source, embedding)  # (B, S, 64), (B, S)
    decoded = layers.LSTM(2 * UNITS, return_sequences=True)(embedding(previous), initial_state=state)  # (B, T, 64)
    query = layers.Dense(UNITS, use_bias=False)(decoded)  # (B, T, 32)
    key = layers.Dense(UNITS, use_bias=False)(places)  # (B, S, 32)
    align = layers.AdditiveAttention(name="align")
    context, weights = align([query, places, key], mask=[None, mask], return_attention_scores=True)  # (B, T, S) weights

    decoded_in, context_in = keras.Input((None, 2 * UNITS)), keras.Input((None, 2 * UNITS))
    both = ops.concatenate([decoded_in, context_in], axis=-1)  # (B, T, 128)
    writer = keras.Model([decoded_in, context_in], layers.Dense(V)(layers.Dense(64, activation="tanh")(both)))
    parts = {"decoded": decoded, "places": places, "query": query, "key": key, "weights": weights}
    reader = keras.Model([source, previous], parts)
    return keras.Model([source, previous], writer([decoded, context])), reader, writer


keras.utils.set_random_seed(1)
attentive, reader, writer = translator_with_attention()
histories["with attention"] = train(attentive, epochs=5)
attentive_predict = tf.function(lambda source, previous: attentive([source, previous]), reduce_retracing=True)
print(f"parameters: {plain.count_params():,} without, {attentive.count_params():,} with attention")

# %% [markdown]
# Note the budgets: the translator *without* attention had 16 epochs, this one only 5.
#
# **Predict.** Accuracy on lines with one, two and three dates?
#
# <details><summary>Answer</summary>
#
# Close to all of them, and hardly less for three dates than for one.
#
# </details>

# %%
attentive_right = {count: dates_right(attentive_predict, *test) for count, test in tests.items()}
for count in tests:
    without, with_attention = plain_right[count].mean(), attentive_right[count].mean()
    print(f"{count} per line: {without:.0%} right without, {with_attention:.0%} with attention")

# %%
figure, panels = plt.subplots(1, 2, figsize=(9, 3.3))
plots.training_history(histories, ax=panels[0])
marks = ["1st of 1", "1st of 2", "2nd of 2", "1st of 3", "2nd of 3", "3rd of 3"]
for style, (name, right) in zip(
    plots.LINES, {"without attention": plain_right, "with attention": attentive_right}.items(), strict=False
):
    by_place = np.concatenate([right[count].mean(axis=0) for count in (1, 2, 3)])  # (6,)
    panels[1].plot(marks, by_place, label=name, **{**style, "linestyle": "none"})
panels[1].set(xlabel="date of the line", ylabel="share right", ylim=(-0.05, 1.05), title="Right by place in the line")
panels[1].tick_params(axis="x", labelsize=8)
panels[0].set(title="Training loss")
panels[1].legend()
plots.show(
    figure,
    alt="""Left: training loss by epoch; with attention it falls to nearly zero within three epochs, without it
flattens out far above. Right: share of dates right for each place in lines of one, two and three dates; with
attention every place is near 1, without it the first date is near 1 and all later ones are near 0.""",
)
assert min(right.mean() for right in attentive_right.values()) > 0.9 > 1.5 * plain_right[3].mean()


# %% [markdown]
# With a third of the training and 17 % more parameters, the second network reads every line. Both networks have the same
# state. What the second one has in addition is a **short way** from every output token to every source place: for the
# values forward, and for the gradient back.
#
# ### The alignment matrix
#
# The weights α say, for every written token, where the decoder looked. Nobody told it: there is no word alignment in
# the training data.

# %%
def weights_for(text, answer):
    """Attention weights (T, S) while the decoder writes `answer` for `text`."""
    source = dates.encode([dates.tokenize(text)], len(dates.tokenize(text)))  # (1, S)
    previous = np.roll(dates.encode([dates.tokenize(answer)], len(answer)), 1, axis=1)  # (1, T)
    previous[0, 0] = START
    return reader([source, previous])["weights"][0].numpy(), dates.tokenize(text), list(answer)


weights, source_tokens, target_tokens = weights_for("friday 14 july 2023;5/23/1988", "20230714;19880523")
ax = plots.attention_map(
    weights, target_tokens, source_tokens, values=False, title="Learned alignment", colorbar=True
)
plots.show(
    ax,
    alt="""Alignment matrix, 17 written tokens by 18 source tokens. The year digits of each output date look at the
year of the source date, which stands last, the month digits at the month name or number, the day digits at
the day: blocks off the diagonal, because the order changes.""",
)

# %% [markdown]
# Read it row by row. The first date is written as day, month, year, the second as month, day, year; the target is year,
# month, day. So the bright cells are *not* on the diagonal. A model that can only move forwards in the source would fail
# here. Look for surprises too: cells beside the
# one you expect. The annotation of a place also tells what stands beside it (the encoder is recurrent in both
# directions), so looking one token too far to the left or right need not cost anything. **A bright cell is where a vector was
# taken from, not necessarily what the vector is about.**
#
# A limit: a line with four dates, one more than ever seen in training.
#
# **Predict.** Lines of four dates: does attention help?
#
# <details><summary>Answer</summary>
#
# With the second date, yes: it is lost without attention. (The first is right in both networks.) The line as a whole
# still fails: see below.
#
# </details>

# %%
four = lines_of([4] * 100, np.random.default_rng(6), 43, 35)
for name, predict in {"without": plain_predict, "with": attentive_predict}.items():
    print(f"{name:8s}attention, 1st to 4th date right:", dates_right(predict, *four).mean(axis=0))

# %% [markdown]
# The network has never had to write a fourth date, and attention does not teach it that. In our run the third date is
# lost and some of the fourth are right: the decoder seems to have learned "first", "second" and "last". The network can reach
# every place, but it has not learned which place is meant.

# %% [markdown]
# ## 8 · Six ways to score
#
# Bahdanau's is one way to turn a query q and a key k into a score. These are the six that you will meet; only the
# score differs, the softmax and the weighted sum stay.
#
# | name | score(q, k) | who | parameters |
# |---|---|---|---|
# | content-based (cosine) | $q \cdot k / (\lVert q\rVert \lVert k\rVert)$ | Graves et al. 2014 | none (β beside it) |
# | additive | $v^\top \tanh(W_q q + W_k k)$ | Bahdanau et al. 2015 | $W_q, W_k, v$ |
# | location-based | $(W q)_j$: a number per place, the key is not looked at | Luong et al. 2015 | $W$ |
# | general | $q^\top W k$ | Luong et al. 2015 | $W$ |
# | dot | $q \cdot k$ | Luong et al. 2015 | none |
# | scaled dot | $q \cdot k \,/\, \sqrt{d}$ | Vaswani et al. 2017 | none (but see below) |
#
# Which is best? That depends on how the query names what it wants. **One task, three variants**: five items lie in
# random order, each with a noisy key vector. The query asks for one of them:
#
# * *same language*: the query is another noisy copy of the item's key;
# * *other language*: each word has a query vector that has nothing to do with its key (a fixed dictionary, to be
#   learned);
# * *by place*: the query says "the second", whatever lies there.
#
# We train those functions that have parameters. Then we measure (i) how often the largest attention weight is on the
# right item, (ii) the mean attention weight on the right item. (From here on *parameters* are learned numbers, *weights*
# are what the softmax gives.)
#
# **Predict.** Fill a table of six functions by three variants: succeeds or guesses (1 of 5)?
#
# <details><summary>Answer</summary>
#
# Same language: all but location-based. Other language: only those that learn a connection between q and k, additive and
# general. By place: only location-based, because the keys say nothing about places.
#
# </details>

# %%
ITEMS, D, WORDS, HIDDEN = 5, 16, 20, 32
rng = np.random.default_rng(0)
key_of, query_of = rng.normal(size=(WORDS, D)), rng.normal(size=(WORDS, D))
query_for_place = rng.normal(size=(ITEMS, D))


def requests(variant, count, rng):
    """Queries (N, D), keys (N, S, D) with S = 5, and the place of the right item (N,)."""
    words = np.array([rng.permutation(WORDS)[:ITEMS] for _ in range(count)])  # (N, S)
    place = rng.integers(ITEMS, size=count)  # (N,)
    wanted = words[np.arange(count), place]  # (N,)
    names = {"same language": key_of[wanted], "other language": query_of[wanted], "by place": query_for_place[place]}
    q = names[variant] + 0.3 * rng.normal(size=(count, D))
    k = key_of[words] + 0.3 * rng.normal(size=(count, ITEMS, D))
    return q.astype("float32"), k.astype("float32"), place


# %%
def pair(q, k):
    return ops.einsum("nd,nsd->ns", q, k)  # (N, S)


SCORES = {  # name: (score, shapes of its parameters); q (N, D), k (N, S, D) -> (N, S)
    "content (cosine)": (lambda q, k: pair(ops.normalize(q), ops.normalize(k)), []),
    "additive": (
        lambda q, k, w_q, w_k, v: ops.einsum("nsu,u->ns", ops.tanh((q @ w_q)[:, None] + k @ w_k), v),
        [(D, HIDDEN), (D, HIDDEN), (HIDDEN,)],
    ),
    "location-based": (lambda q, k, w: q @ w, [(D, ITEMS)]),
    "general": (lambda q, k, w: pair(q @ w, k), [(D, D)]),
    "dot": (lambda q, k: pair(q, k), []),
    "scaled dot": (lambda q, k: pair(q, k) / D**0.5, []),
}


# %%
def train_score(score, shapes, variant, steps=300):
    """Fit the parameters of a score function on requests; returns them (an empty list when it has none)."""
    draw = np.random.default_rng(1)
    parameters = [tf.Variable((draw.normal(size=shape) / shape[0] ** 0.5).astype("float32")) for shape in shapes]
    if not parameters:
        return parameters
    optimizer = keras.optimizers.Adam(0.02)
    optimizer.build(parameters)

    @tf.function
    def step(q, k, place):
        with tf.GradientTape() as tape:
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=place, logits=score(q, k, *parameters))
            loss = tf.reduce_mean(loss)
        optimizer.apply(tape.gradient(loss, parameters), parameters)

    data = tf.data.Dataset.from_tensor_slices(requests(variant, 64 * steps, draw)).batch(64)
    for batch in data:
        step(*batch)
    return parameters


# %%
variants = ["same language", "other language", "by place"]
picked, trust, largest = (np.zeros((len(SCORES), 3)) for _ in range(3))
for column, variant in enumerate(variants):
    q, k, place = requests(variant, 2000, np.random.default_rng(9))
    for row, (score, shapes) in enumerate(SCORES.values()):
        fitted = train_score(score, shapes, variant)
        w = ops.convert_to_numpy(ops.softmax(score(q, k, *fitted), axis=-1))  # (N, S)
        picked[row, column] = np.mean(w.argmax(axis=1) == place)
        trust[row, column] = w[np.arange(len(w)), place].mean()
        largest[row, column] = w.max(axis=1).mean()
figure, panels = plt.subplots(1, 3, figsize=(9.6, 3.4))
titles = ["right item has the largest weight", "mean weight on the right item", "mean of the largest weight"]
for number, (panel, table, title) in enumerate(zip(panels, (picked, trust, largest), titles, strict=True)):
    rows = list(SCORES) if number == 0 else [""] * 6
    plots.matrix_map(table, rows=rows, columns=variants, limits=(0, 1), ax=panel)
    panel.set_title(title, fontsize=9)
plots.show(
    figure,
    alt="""Three tables of six score functions by three variants. Same language: all but location-based succeed. Other
language: only additive and general succeed. By place: only location-based succeeds. Cosine puts little
weight on the right item even where it always picks it; the dot product puts much weight on wrong ones.""",
)

# %% [markdown]
# Four things to read off:
#
# 1. **No parameters, no dictionary.** Dot, scaled dot and cosine compare what is there. They cannot learn that two
#    different vectors mean the same. That is why a Transformer multiplies queries and keys with *learned* matrices
#    first (lecture 2): $(W_q x)\cdot(W_k y)$ is "general" in two halves.
# 2. **Location-based** is the only one that can say "the second", and it cannot say anything else. (Later models put
#    the place into the vectors: lecture 5.)
# 3. **Cosine is right and faint**: its scores lie between −1 and 1, so the softmax of five stays nearly even. Graves
#    et al. multiply by a sharpness β for that reason.
# 4. **Dot is sure even where it guesses**: compare the last table with the first in the middle column. With D = 16
#    its scores have a standard deviation of about 4, and a softmax of such scores is nearly hard. The division by √D
#    cures that; lecture 2 measures it.

# %%
# NBVAL_CHECK_OUTPUT
for name, (_, shapes) in SCORES.items():
    print(f"{name:18s}{sum(int(np.prod(shape)) for shape in shapes):5d} learnable numbers")

# %%
q, k, place = requests("same language", 2000, np.random.default_rng(9))
for sharpness in (1, 3, 10, 30):
    w = softmax(sharpness * SCORES["content (cosine)"][0](q, k).numpy(), axis=-1)  # (N, S)
    print(f"cosine with sharpness {sharpness:2d}: weight on the right item {w[np.arange(2000), place].mean():.2f}")

# %% [markdown]
# ## 9 · Two distinctions: who asks whom, and how sharply
#
# ### Self and cross
#
# In the translator, queries come from the target and keys from the source: **cross-attention**, weights (T, S).
# Nothing in the formula asks for two sequences. Let a sequence ask *itself* and you have **self-attention**, weights
# (S, S): every token collects from its own sentence. The trained encoder's vectors can show both.

# %%
text, answer = "3 may 2010;7 june 1999", "20100503;19990607"
cross, source_tokens, target_tokens = weights_for(text, answer)  # (T, S)
source = dates.encode([source_tokens], len(source_tokens))  # (1, S)
places = reader([source, np.full((1, 1), START)])["places"][0].numpy()  # (S, 64)
unit = places / np.linalg.norm(places, axis=-1, keepdims=True)  # (S, 64)
own = softmax(4 * unit @ unit.T, axis=-1)  # (S, S): cosine scores with sharpness 4
figure, panels = plt.subplots(1, 2, figsize=(9, 3.9))
plots.attention_map(cross, target_tokens, source_tokens, values=False, title=f"cross: {cross.shape}", ax=panels[0])
title = f"self: {own.shape}"
plots.attention_map(own, source_tokens, source_tokens, values=False, title=title, colorbar=True, ax=panels[1])
plots.show(
    figure,
    alt="""Left, cross-attention from written tokens to source tokens, learned. Right, self-attention of the source
tokens among themselves, square, brightest on the diagonal and between neighbouring digits of a year.""",
)


# %% [markdown]
# Left: learned. Right: only similarities of vectors that were trained for something else, so do not read much into
# it; the point is the shape. Lecture 2 is about the right picture, done properly.
#
# ### Soft and hard, global and local
#
# * **Soft, global** attention: every place gets some weight. The output changes smoothly with the query.
# * **Hard** attention: one place gets all. Either the largest weight, or one place drawn at random with probabilities
#   α (Xu et al. 2015, section 4.1).
# * **Local** attention: soft inside a window around one place, nothing outside (Luong et al. 2015, section 3.2).
#
# A hard choice has no slope, so gradient descent cannot train it as it stands; [lecture 1b](01b_visual_attention.ipynb) estimates
# a gradient from random draws. But what if we train softly and *use* hard? On the date translator nothing has to be trained again. We
# only change the weights between `reader` and `writer`.
#
# **Predict.** How many dates come out right if each written token may use one place only, and if it may use three?
#
# <details><summary>Answer</summary>
#
# Nearly as many as with all places; see the output below.
#
# </details>

# %%
def sharpened(kind):
    """A predictor that turns the trained weights hard, or local (a window of three places around the largest)."""

    @tf.function(reduce_retracing=True)
    def predict(source, previous):
        parts = reader([source, previous])
        weights = parts["weights"]  # (B, T, S)
        top = ops.argmax(weights, axis=-1)[..., None]  # (B, T, 1)
        distance = ops.abs(ops.arange(ops.shape(weights)[-1], dtype="int32") - ops.cast(top, "int32"))  # (B, T, S)
        weights = weights * ops.cast(distance <= {"hard": 0, "local": 1}[kind], "float32")
        weights = weights / ops.sum(weights, axis=-1, keepdims=True)
        return writer([parts["decoded"], weights @ parts["places"]])  # (B, T, V)

    return predict


comparison = {"soft": np.mean(attentive_right[2])}
for kind in ("local", "hard"):
    comparison[kind] = dates_right(sharpened(kind), *tests[2]).mean()
print({kind: f"{value:.0%} right" for kind, value in comparison.items()}, "on lines with two dates")

# %% [markdown]
# ## 10 · Common mistakes, and what they look like
#
# **1 · Padding is attended.** The five items of section 8, padded with fifteen vectors of zeros to a length of
# twenty:

# %%
q, k, place = requests("same language", 2000, np.random.default_rng(9))
padded = np.concatenate([k, np.zeros((2000, 15, D), "float32")], axis=1)  # (N, 20, D)
real = np.arange(20) < ITEMS  # (S,): True may be attended
for name in ("content (cosine)", "scaled dot"):
    scores = SCORES[name][0](q, padded).numpy()  # (N, 20)
    for how, masked in {"no mask": scores, "with mask": np.where(real, scores, -np.inf)}.items():
        w = softmax(masked, axis=-1)
        on_item, on_padding = w[np.arange(2000), place].mean(), w[:, ITEMS:].sum(axis=-1).mean()
        print(f"{name:18s}{how:10s} right item {on_item:.2f}, padding {on_padding:.2f}")

# %% [markdown]
# Nothing crashes, and no shape is wrong; but vectors of zeros are mixed into the context.
#
# How bad it is depends on the scores. Leave the mask of the trained translator out, and (in our run) hardly any
# weight goes to padding: its scores there happen to be low. That is luck, not a property of attention:

# %%
source, target = lines_of([1] * 200, np.random.default_rng(12), S, 8)  # one date each, padded to 32 places
previous = np.roll(target, 1, axis=1)  # (B, T)
previous[:, 0] = START
parts = reader([source, previous])
align = attentive.get_layer("align")
_, unmasked = align([parts["query"], parts["places"], parts["key"]], return_attention_scores=True)  # (B, T, S)
on_padding = np.sum(unmasked * (source == 0)[:, None, :], axis=-1).mean()
print(f"translator, mask left out: {on_padding:.2%} of the weight on padding")

# %% [markdown]
# **2 · Masked scores set to 0 instead of very low.** A score of 0 is a score like any other. Three real keys, two of
# padding:

# %%
# NBVAL_CHECK_OUTPUT
scores = np.array([-1.2, 0.3, -0.5, 0.9, 1.4])  # (S,): the last two are padding
real = np.array([True, True, True, False, False])
print("set to 0:    ", softmax(np.where(real, scores, 0)))
print("set to -1e9: ", softmax(np.where(real, scores, -1e9)))
print("after:       ", softmax(scores) * real, "sum", (softmax(scores) * real).sum().round(3))

# %% [markdown]
# First row: padding gets nearly half of the weight. Third row: the mask came *after* the softmax, and the weights no longer sum to 1.
#
# **3 · The softmax runs over the wrong axis.** Weights are (T, S); the sum over S must be 1 for every query.

# %%
# NBVAL_CHECK_OUTPUT
scores = np.random.default_rng(13).normal(size=(2, 4))  # (T, S)
for axis in (-1, -2):
    weights = softmax(scores, axis=axis)
    print(f"axis={axis}: sums over the keys {weights.sum(axis=-1)}, sums over the queries {weights.sum(axis=-2)}")

# %% [markdown]
# With `axis=-2` the queries compete for every key, and the context of a query that loses is close to zero.
#
# **4 · The softmax overflows.** exp(1000) is infinite in float32 and in float64, and ∞/∞ is not a number.
# Subtracting the largest score changes nothing else:

# %%
# NBVAL_CHECK_OUTPUT
large = np.array([1000.0, 1001.0, 999.0])
with np.errstate(over="ignore", invalid="ignore"):
    print("as the formula stands:", np.exp(large) / np.exp(large).sum())
print("largest subtracted:   ", np.exp(large - large.max()) / np.exp(large - large.max()).sum())

# %% [markdown]
# ### What other texts get wrong: spot the mistake
#
# Three claims that you will meet. Find the error before you open the answer.
#
# **a** · "The decoder takes a softmax over the positions and so finds the most probable next word."
# <details><summary>What is wrong</summary>
#
# There are two softmaxes. The one over source *positions* gives attention weights. The next word comes from a softmax
# over the *vocabulary*. The cell below shows both, with their shapes.
#
# </details>
#
# **b** · "Attention tells the model which words to ignore, so padding takes care of itself."
# <details><summary>What is wrong</summary>
#
# For scores of ordinary size a softmax gives every key a positive weight (in float32 it rounds to 0 about a hundred below the largest score), and
# a padding vector has a score like any other: see mistake 1. A model with no
# mask attends to padding, more or less as its scores happen to fall.
#
# </details>
#
# **c** · "The attention map shows why the model made its decision."
# <details><summary>What is wrong</summary>
#
# It shows which vectors were mixed and in what proportion. Those vectors already contain their neighbours (section
# 7), other branches can carry information too, and different maps can give the same output (Jain and Wallace 2019). It is a
# reading aid. [Lecture 1b](01b_visual_attention.ipynb) tests maps by deletion.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
source = dates.encode([dates.tokenize("2 march 1994")], 6)  # (1, S)
previous = np.full((1, 1), START)  # (1, T) with T = 1
over_positions = reader([source, previous])["weights"]  # (1, 1, S)
over_vocabulary = ops.softmax(attentive([source, previous]), axis=-1)  # (1, 1, V)
for name, array in {"over positions": over_positions, "over the vocabulary": over_vocabulary}.items():
    print(f"{name:20s}{tuple(array.shape)} sum {array.numpy().sum():.3f}")

# %% [markdown]
# ## 11 · Check yourself
#
# 1. Four keys have the scores 2, 2, 2, 2. What are the weights? And for the scores 100, 100, 100, 100?
# <details><summary>Answer</summary>¼ each, both times: a softmax depends on differences only.</details>
#
# 2. In Nadaraya–Watson pooling all values are 5. What is the output at any query, for any bandwidth?
# <details><summary>Answer</summary>5. The weights sum to 1, so the output is a mean of the values; a mean of fives is
# five.</details>
#
# 3. T = 7 decoder states of width 64 ask S = 11 annotations of width 48. Which score functions can be computed?
# <details><summary>Answer</summary>Additive and general: their parameters connect width 64 with width 48. (Location-based too, if S is
# fixed.) Dot, scaled dot and cosine need equal widths.</details>
#
# 4. Which of the six can tell the second item from the fourth if both have the same key vector?
# <details><summary>Answer</summary>Location-based only. All the others give equal keys equal scores.</details>
#
# <details><summary><b>Symptoms and causes</b> (for the lab and for your own networks)</summary>
#
# | you see | look at |
# |---|---|
# | NaN from the first step | large scores without subtracting the maximum; a row masked with −∞ throughout |
# | every output is the mean of all values | scores all alike: cosine without sharpness, a bandwidth that is too large |
# | every output is one of the values | scores too large: no scaling, bandwidth too small |
# | it works alone and not in a batch with longer lines | no mask, or the mask inverted (True means *may attend*) |
# | rows of the weights do not sum to 1 | softmax over the wrong axis, or a mask applied after it |
# | loss falls, attention map even | another way carries the information (a state, a residual): the map is not needed |
# | `None` as gradient | `argmax`, `.numpy()` or NumPy on the way |
#
# </details>
#
# <details><summary><b>Slow machine, or a GPU?</b></summary>
#
# The costly cells are the two translators. *Slow machine:* 2,000 lines in place of 4,000, and fewer epochs for the translator
# without attention. *GPU:* `UNITS = 128` and 24 epochs at half the
# learning rate for the translator without attention. Does a larger state carry more dates?
#
# </details>
#
# **Caveats, plainly.** The dates are made by a generator; real text is messier. One seed, one run: repeat with other
# seeds before you believe a difference of a few per cent. We did not tune the translator without attention, nor reverse its
# source (as Sutskever et al. did): a better result without attention is possible.

# %% [markdown]
# ## Summary
#
# * Attention answers a query with a **weighted mean of values**; the weights come from a score of query and key,
#   through a softmax, and sum to 1.
# * Everything that a decoder without attention knows passes through one fixed state. In our run it carried one date of
#   each line, the first. With a new context for every output step, all dates came out right.
# * Gradients through a recurrence fade exponentially with the distance; how fast, depends on the gates.
# * Nadaraya–Watson is attention with a distance as score; its **bandwidth** decides how sharp the weights are.
# * **Bahdanau**: bidirectional annotations, alignment model, softmax over source places, context vector. The
#   alignment is learned from translations alone.
# * Six scores: additive, location-based and general have parameters; cosine, dot and scaled dot have none and need
#   queries and keys that speak the same language.
# * **Soft** attention uses every place a little; **hard** attention uses one, **local** attention a window.
#
# **Next:** [lecture 1b](01b_visual_attention.ipynb), where a network looks at images. Write these parts yourself in [lab
# 1](../labs/01_attention_intuition/01_attention_intuition.ipynb); then [lecture 2](02_self_attention.ipynb) lets a sentence ask itself.
#
# ## References
#
# * Y. Bengio, P. Simard, P. Frasconi (1994), *Learning Long-Term Dependencies with Gradient Descent is Difficult*, IEEE
#   Transactions on Neural Networks 5.
# * D. Bahdanau, K. Cho, Y. Bengio (2015), *Neural Machine Translation by Jointly Learning to Align and Translate*,
#   ICLR; sections 3.1 and 3.2, appendix A.1.2; figure 3 shows alignments. [arXiv:1409.0473](https://arxiv.org/abs/1409.0473)
# * K. Cho et al. (2014), *Learning Phrase Representations using RNN Encoder–Decoder for Statistical Machine
#   Translation*, EMNLP.
# * K. Cho et al. (2014b), *On the Properties of Neural Machine Translation: Encoder–Decoder Approaches*, SSST-8.
# * A. Graves (2013), *Generating Sequences With Recurrent Neural Networks*; section 5.1, a soft window over a text.
#   [arXiv:1308.0850](https://arxiv.org/abs/1308.0850)
# * A. Graves, G. Wayne, I. Danihelka (2014), *Neural Turing Machines*; section 3.3 (content and location addressing).
# * S. Jain, B. Wallace (2019), *Attention is not Explanation*, NAACL; S. Wiegreffe, Y. Pinter (2019), *Attention is
#   not not Explanation*, EMNLP.
# * A. Karpathy (2015), *The Unreasonable Effectiveness of Recurrent Neural Networks*; the five sketches of section 2.
# * H. Larochelle, G. Hinton (2010), *Learning to Combine Foveal Glimpses with a Third-Order Boltzmann Machine*, NeurIPS.
# * M.-T. Luong, H. Pham, C. Manning (2015), *Effective Approaches to Attention-based Neural Machine Translation*,
#   EMNLP; section 3.
# * V. Mnih et al. (2014), *Recurrent Models of Visual Attention*, NeurIPS.
#   [arXiv:1406.6247](https://arxiv.org/abs/1406.6247)
# * È. Nadaraya (1964), *On Estimating Regression*; G. Watson (1964), *Smooth Regression Analysis*.
# * I. Sutskever, O. Vinyals, Q. Le (2014), *Sequence to Sequence Learning with Neural Networks*, NeurIPS.
# * A. Vaswani et al. (2017), *Attention Is All You Need*, NeurIPS; section 3.2.1, table 1.
# * K. Xu et al. (2015), *Show, Attend and Tell*, ICML. [arXiv:1502.03044](https://arxiv.org/abs/1502.03044)
#
# ## Further reading
#
# * First contact: J. Alammar, [*Visualizing a Neural Machine Translation
#   Model*](https://jalammar.github.io/visualizing-neural-machine-translation-mechanics-of-seq2seq-models-with-attention/):
#   the translator of section 7 as a moving picture, without code.
# * The same topics with more kernels, batch code and exercises with proofs: A. Zhang et al., [*Dive into Deep
#   Learning*](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html), chapter 11.
# * An overview with many variants: L. Weng (2018),
#   [*Attention? Attention!*](https://lilianweng.github.io/posts/2018-06-24-attention/).
# * Attention beside other external memories: C. Olah, S. Carter (2016), [*Attention and Augmented Recurrent Neural
#   Networks*](https://distill.pub/2016/augmented-rnns/).

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
# # 8b · Generating text
#
# *The model gives probabilities. Which token do we write?*
#
# [← 8 · Decoder and masking](08_decoder_and_masking.ipynb) · [Lab
# 8](../labs/08b_generating_text/08b_generating_text.ipynb) · [9 · Vision Transformer
# →](09_vision_transformer.ipynb)
#
# **Afterwards you can**
#
# * choose between greedy decoding, sampling and beam search, and say what each of them is good for;
# * say what a key–value cache saves and what it costs, and build a decoder with one;
# * tell encoder-only, decoder-only and encoder–decoder models apart by their masks;
# * judge a language model by its perplexity, beside counted n-grams;
# * say what an alignment matrix and a BLEU value show, and what they do not show.
#
# This is the second part of [lecture 8](08_decoder_and_masking.ipynb), and **you need** the first. **Time:** about 88 minutes to read and
# predict; the code runs in about two minutes on two CPU cores.
#
# Answer each **Predict** before you run the cell below it. Letters: **B** batch, **T** target tokens, **S** source tokens, **D** width of a token,
# **H** heads, **V** words in the vocabulary.

# %% tags=["course-setup"]
# Colab: install the course's helper package. Anywhere else this cell does nothing.
import sys

if "google.colab" in sys.modules:
    print("This notebook was not told where Colab finds the course's helper package: ask whoever gave it to you.")

# %%
from coursekit import dates, diagrams, live, plots, quiet, recorded

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook
plots.use_course_style()

import re
import time
from collections import Counter

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import layers, ops
from scipy.special import softmax
from threadpoolctl import threadpool_limits

np.set_printoptions(precision=3, suppress=True)
print("running on:", "GPU" if tf.config.list_physical_devices("GPU") else "CPU")

# %% [markdown]
# ## 1 · The model of lecture 8, once more
#
# Everything below uses the date translator of [lecture 8](08_decoder_and_masking.ipynb). The next cells are that lecture's, unchanged: the dates, the blocks, the
# model, the training. You know them; run them and go on.

# %%
# NBVAL_CHECK_OUTPUT
NAMES = [*dates.VOCABULARY, "<end>"]
V, START, END = len(NAMES), dates.IDS[dates.START], len(dates.VOCABULARY)
S, T = 10, 9


def date_pairs(count, rng):
    """Draw lines of one date: sources (N, S), padded with 0, and targets (N, T), each with its end token."""
    sources, targets = dates.date_lines([1] * count, rng)
    end = np.full((count, 1), END, "int32")
    return dates.encode(sources, S), np.concatenate([dates.encode(targets, T - 1), end], axis=1)


rng = np.random.default_rng(8)
source, target = date_pairs(16_000, rng)  # (N, S), (N, T)
days = np.array(["".join(dates.decode(row[:-1])) for row in target])  # (N,)
unseen = np.isin(days, rng.permutation(np.unique(days))[:3_000])  # (N,)
train_source, train_target = source[~unseen], target[~unseen]
test_source, test_target = source[unseen], target[unseen]
print(f"{len(train_source):,} lines to train, {len(test_source):,} to test, V = {V}")
print("days in both:", len(set(days[unseen]) & set(days[~unseen])))
for row in range(3):
    print(" ".join(dates.decode(test_source[row])), "->", " ".join(NAMES[i] for i in test_target[row]))


# %%
def with_start(target):
    """What the decoder reads: the start token, then the target (N, T) without its last token."""
    return np.insert(target[:, :-1], 0, START, axis=1)  # (N, T)


EPSILON = 0.1  # of label smoothing

# %%
D, H, F, N, BIAS = 48, 4, 96, 2, True  # BIAS: whether the attention's projections have biases


def attention(name=None):
    return layers.MultiHeadAttention(num_heads=H, key_dim=D // H, use_bias=BIAS, name=name)


def after(x, change):
    """The frame around every sub-layer: residual sum, then norm."""
    return layers.LayerNormalization(epsilon=1e-6)(layers.add([x, change]))  # (B, T, D)


def fed_forward(x):
    widened = layers.Dense(F, activation="relu")(x)  # (B, T, F)
    return after(x, layers.Dense(D)(widened))  # (B, T, D)


def encoder_block(x, visible):
    return fed_forward(after(x, attention()(query=x, value=x, attention_mask=visible)))


def decoder_block(x, memory, visible, causal, name):
    x = after(x, attention()(query=x, value=x, use_causal_mask=causal))  # (B, T, D)
    asked = attention(name)(query=x, value=memory, attention_mask=visible, return_attention_scores=True)
    return fed_forward(after(x, asked[0])), asked[1]  # (B, T, D), (B, H, T, S)


# %%
class Positions(keras.Layer):
    """√D times the token plus the sinusoids of lecture 5, for up to 64 places; sine and cosine in turn."""

    def build(self, shape):
        angle = np.arange(64)[:, None] / 10_000 ** (np.arange(0, D, 2) / D)  # (64, D/2)
        self.table = np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(64, D).astype("float32")  # (64, D)

    def call(self, x):
        return x * D**0.5 + ops.cast(self.table, x.dtype)[: ops.shape(x)[1]]  # (B, T, D)


def transformer(causal=True):
    """Returns the model, (source, target_in) -> logits, and one on the same weights that returns the cross-attention."""
    source, target_in = keras.Input((None,), dtype="int32"), keras.Input((None,), dtype="int32")  # (B, S), (B, T)
    small = keras.initializers.RandomNormal(stddev=D**-0.5)
    embedding = layers.ReversibleEmbedding(V, D, embeddings_initializer=small, reverse_dtype="float32")
    visible = layers.Lambda(lambda ids: ops.not_equal(ids, 0)[:, None, :])(source)  # (B, 1, S)
    memory, x, looked = Positions()(embedding(source)), Positions()(embedding(target_in)), []
    for _ in range(N):
        memory = encoder_block(memory, visible)  # (B, S, D)
    for block in range(N):
        x, weights = decoder_block(x, memory, visible, causal, f"cross_{block}")  # (B, T, D)
        looked.append(weights)
    logits = embedding(x, reverse=True)  # (B, T, V)
    return keras.Model([source, target_in], logits), keras.Model([source, target_in], looked)


# %%
def greedy(predict, source):
    """Write T tokens for every source (N, S), the most probable one each time: ids (N, T)."""
    written = np.full((len(source), T + 1), START, "int32")  # the start token, then T places to fill
    for place in range(T):
        logits = predict(tf.constant(source), tf.constant(written[:, :-1]))  # (N, T, V)
        written[:, place + 1] = np.argmax(logits[:, place], axis=-1)  # (N,)
    return written[:, 1:]


def compiled(model):
    return tf.function(lambda source, target_in: model([source, target_in], training=False), reduce_retracing=True)


class WriteUnseenDates(keras.callbacks.Callback):
    """After each epoch: the share of 300 unseen dates written without a mistake. Keeps the weights of epoch 2."""

    def set_model(self, model):
        super().set_model(model)
        self.predict = compiled(model)

    def on_epoch_end(self, epoch, logs=None):
        logs["exact"] = (greedy(self.predict, test_source[:300]) == test_target[:300]).all(axis=1).mean()
        if epoch == 1:
            self.after_two = self.model.get_weights()


# %%
BATCH, EPOCHS = 128, 7


def pipeline(source, target):
    pairs = tf.data.Dataset.from_tensor_slices(((source, with_start(target)), target)).shuffle(len(source), seed=1)
    pairs = pairs.batch(BATCH, drop_remainder=True)  # one shape, one compiled program
    return pairs.map(lambda read, say: (read, tf.one_hot(say, V))).prefetch(tf.data.AUTOTUNE)


def train(model, epochs, callbacks=()):
    """Fit with Adam as in the paper (section 5.3), a warm-up of 150 steps and a fall to zero; returns the history."""
    steps = epochs * (len(train_source) // BATCH)
    rate = keras.optimizers.schedules.CosineDecay(0.0, steps - 150, warmup_target=3e-3, warmup_steps=150)
    model.compile(
        optimizer=keras.optimizers.Adam(rate, beta_2=0.98, epsilon=1e-9),
        loss=keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=EPSILON),
        metrics=[keras.metrics.CategoricalAccuracy(name="token_accuracy")],
        jit_compile=not tf.distribute.has_strategy(),  # XLA's programs do not reach over several devices
    )  # fmt: skip
    return model.fit(
        pipeline(train_source, train_target), epochs=epochs, callbacks=[*callbacks], shuffle=False, verbose=2
    ).history  # shuffle=False: the pipeline shuffles


# %%
keras.utils.set_random_seed(8)
model, looking = transformer()
watcher, started = WriteUnseenDates(), time.process_time()
history = train(model, EPOCHS, [watcher])
print(f"{time.process_time() - started:.0f} CPU seconds")

# %%
predict = compiled(model)
written = greedy(predict, test_source)  # (N, T)
correct = (written == test_target).all(axis=1)  # (N,)
places = ["Y1", "Y2", "Y3", "Y4", "M1", "M2", "D1", "D2", "end"]
p_right = 1 - EPSILON + EPSILON / V  # what label smoothing asks for
print(f"unseen dates without a mistake: {correct.mean():.2%} of {len(correct):,}")


# %% [markdown]
# ## 2 · Decoding: from distributions to a sentence
#
# ### Step by step
#
# One unseen date, written greedily. Each row is one step: what is written so far, the distribution over the next token, and
# where the last block's cross-attention looks (mean over the heads).

# %%
def by_step(source, written):
    """For one source (S,) and what was written (T,): probabilities (T, V) and cross-attention of the last block (T, S)."""
    inputs = [source[None], with_start(written[None])]
    weights = np.asarray(looking(inputs)[-1])[0].mean(axis=0)  # (H, T, S) -> (T, S)
    return softmax(predict(*map(tf.constant, inputs))[0], axis=-1), weights


# %%
row = int(np.argmax((test_source > 0).sum(axis=1) * correct))  # the first of the longest lines that came out right
probabilities, weights = by_step(test_source[row], written[row])  # (T, V), (T, S)
columns = [*(dates.IDS[digit] for digit in "0123456789"), END]
prefixes = [" ".join(["‹s›", *(NAMES[i] for i in written[row, :t])]) for t in range(T)]
keys = dates.decode(test_source[row])

figure, (left_ax, right_ax) = plt.subplots(1, 2, figsize=(10.4, 4.2), width_ratios=[11, len(keys)])
plots.matrix_map(
    probabilities[:, columns], rows=prefixes, columns=[NAMES[i] for i in columns], limits=(0, 1),
    title="probability of the next token", ax=left_ax,
)  # fmt: skip
plots.attention_map(weights[:, : len(keys)], [NAMES[i] for i in written[row]], keys, values=True, ax=right_ax)
right_ax.set(title="cross-attention", ylabel="token written")
plots.show(
    figure,
    alt="""Nine steps of writing a date. Left, each row shows the prefix so far and the distribution over the next token:
one entry near 0.9 moves from digit to digit and ends at the end token. Right, the cross-attention of the same steps
over the source tokens.""",
)
print(" ".join(keys), "->", " ".join(NAMES[i] for i in written[row]))
print(f"largest entries: between {probabilities.max(axis=-1).min():.2f} and {probabilities.max():.2f}")


# %% [markdown]
# The largest entry stays near 0.90 and does not reach 1: that is label smoothing, p(right) = 0.903 as calculated.
#
# ### Sampling: temperature, top-k, top-p
#
# Text in which every token is the most probable one is often dull and repetitive (Holtzman et al., 2020), so chat models *draw* the
# next token. Three settings change the logits z before that:
#
# * **temperature** τ: $\text{softmax}(z/\tau)$. The distribution is sharper for τ below 1 and flatter for τ above 1; τ → 0 is greedy;
# * **top-k**: keep the k most probable words, set the others to 0, and divide by the sum of those that are left;
# * **top-p**, nucleus sampling: keep the fewest most probable words whose probabilities reach p together.
#
# **By hand.** The probabilities are (0.5, 0.25, 0.15, 0.1). What is left with top-k, k = 2? With top-p, p = 0.8? And at
# temperature ½?
#
# <details><summary>Answer</summary>
#
# With k = 2: (0.667, 0.333). With p = 0.8: 0.5 + 0.25 = 0.75 is not enough, and three words reach 0.9, so (0.556, 0.278, 0.167).
# Temperature ½ squares the probabilities: (0.25, 0.0625, 0.0225, 0.01)/0.345 = (0.725, 0.181, 0.065, 0.029).
#
# </details>

# %%
def reshaped(logits, temperature=1.0, top_k=None, top_p=None):
    """Distributions (…, V) to draw from, after temperature and a cut; ties at the cut all stay."""
    p = softmax(logits / temperature, axis=-1)
    falling = np.flip(np.sort(p, axis=-1), axis=-1)  # (…, V)
    least = np.zeros_like(p[..., :1])
    if top_k is not None:
        least = falling[..., top_k - 1 : top_k]  # (…, 1)
    if top_p is not None:
        before = np.cumsum(falling, axis=-1) - falling  # probability in front of each word
        least = np.min(np.where(before < top_p - 1e-9, falling, 1.0), axis=-1, keepdims=True)
    p = np.where(p >= least, p, 0.0)
    return p / p.sum(axis=-1, keepdims=True)


# NBVAL_CHECK_OUTPUT
four = np.log([0.5, 0.25, 0.15, 0.1])
for settings in ({"top_k": 2}, {"top_p": 0.8}, {"temperature": 0.5}):
    print(settings, reshaped(four, **settings))

# %%
MENU = ["mat", "sofa", "floor", "roof", "moon", "idea"]
z = np.log([0.42, 0.24, 0.16, 0.1, 0.05, 0.03])  # (V,): our own guess for "the cat sat on the …"
knobs = {
    "as it is": {}, "temperature 0.5": {"temperature": 0.5}, "temperature 2": {"temperature": 2.0},
    "top-k, k = 2": {"top_k": 2}, "top-p, p = 0.9": {"top_p": 0.9},
}  # fmt: skip
figure, panels = plt.subplots(1, 5, figsize=(11, 2.7), sharey=True)
for ax, (name, settings) in zip(panels, knobs.items(), strict=True):
    p = reshaped(z, **settings)
    draws = np.random.default_rng(0).choice(6, size=2_000, p=p)
    ax.bar(range(6), p, color=diagrams.PALETTE["key"], hatch="//", label="distribution")
    ax.plot(range(6), np.bincount(draws, minlength=6) / 2_000, "o", color=diagrams.PALETTE["ink"], label="2,000 draws")
    ax.set_title(name)
    ax.set_xticks(range(6), MENU, rotation=60)
panels[0].set_ylabel("probability")
panels[2].legend(fontsize=8)
plots.show(
    figure,
    alt="""Five bar charts of the same six words. As it is; temperature 0.5 makes the first word larger; temperature 2
makes the bars nearly equal; top-k keeps two words; top-p 0.9 keeps four. Dots from 2,000 draws lie on the bars.""",
)

# %% [markdown]
# **Predict.** Top-p with p = 0.9 leaves four words at temperature 1. How many does it leave at temperature 0.5, and how many at 2? And what
# about top-k with k = 4? Then move the controls.
#
# <details><summary>Answer</summary>
#
# At temperature 0.5 three words reach 0.9 (0.646 + 0.211 + 0.094), at temperature 2 it takes five. Top-k leaves four at every temperature. So top-p
# follows the temperature, and top-k does not.
#
# </details>

# %%
live.sampling(z, MENU)


# %% [markdown]
# **Predict.** Our date model is practically never wrong when it writes greedily. What share of the dates is right when
# it *draws* at temperature 1? (It gives the right token 0.90 at every step, and there are nine.)
#
# <details><summary>Answer</summary>
#
# About 0.903⁹ = 0.40. Label smoothing has taught the model to give other tokens a tenth of the probability. Drawing then picks one of them, one time
# in ten.
#
# </details>

# %%
def drawn(source, rng, **settings):
    """Write T tokens for every source (N, S), each drawn from the reshaped distribution: ids (N, T)."""
    written = np.full((len(source), T + 1), START, "int32")
    for place in range(T):
        p = reshaped(np.asarray(predict(source, written[:, :-1]))[:, place], **settings)  # (N, V)
        written[:, place + 1] = (p.cumsum(axis=-1) < rng.random((len(p), 1))).sum(axis=-1).clip(max=V - 1)
    return written[:, 1:]


temperatures = np.array([0.25, 0.5, 0.75, 1.0, 1.25, 1.5])
some, truth = test_source[:300], test_target[:300]
cuts = {"all words": {}, "top-k, k = 3": {"top_k": 3}, "top-p, p = 0.8": {"top_p": 0.8}}
figure, ax = plt.subplots(figsize=(6.5, 3.3))
rng, shares = np.random.default_rng(5), {}
for line, (name, cut) in enumerate(cuts.items()):
    shares[name] = [(drawn(some, rng, temperature=t, **cut) == truth).all(axis=1).mean() for t in temperatures]
    plots.measured_curve(temperatures, shares[name], label=name, line=line, ax=ax)
ax.set(xlabel="temperature", ylabel="unseen dates right", ylim=(-0.03, 1.05))
plots.show(
    figure,
    alt="""Share of dates written right against the temperature. Drawing from all words falls from 1 at low temperature
to about 0.4 at temperature 1 and further to nearly 0. Cutting to three words or to a probability of 0.8 keeps the share
high for longer.""",
)
for name, values in shares.items():
    print(f"{name:15}", " ".join(f"{value:.2f}" for value in values))
print(f"temperature 1, all words: {shares['all words'][3]:.2f}; calculated 0.903 to the ninth = {p_right**9:.2f}")

# %% [markdown]
# If only one answer is right (translation, dates, code), draw at a low temperature or not at all. If many answers are right, draw.
#
# ## 3 · Beam search
#
# Greedy takes the best *token* each time. That need not lead to the best *sentence*. Here is a language of two-token
# sentences.
#
# **Predict.** Which sentence does greedy write? Which one is the most probable?

# %%
TREE = {
    "a": (0.5, {"dog": 0.4, "cat": 0.35, "cow": 0.25}),
    "the": (0.4, {"dog": 0.9, "cat": 0.06, "cow": 0.04}),
    "my": (0.1, {"dog": 0.5, "cat": 0.3, "cow": 0.2}),
}
figure, ax = diagrams.canvas(7.6, 4.0)
root = diagrams.box(ax, 0.9, 2.0, "‹start›", width=1.1, height=0.4)
for i, (first, (p_first, nexts)) in enumerate(TREE.items()):
    y = 3.35 - 1.35 * i
    kept = first in ("a", "the")
    node = diagrams.box(ax, 3.1, y, f"{first}  {p_first:.2f}", role="query" if kept else "mask", width=1.2, height=0.4)
    diagrams.arrow(ax, root.right, node.left, width=1 + 4 * p_first)
    for j, (second, p_second) in enumerate(nexts.items()):
        p = p_first * p_second
        role = {("a", "dog"): "accent", ("the", "dog"): "value"}.get((first, second), "neutral")
        leaf = diagrams.box(ax, 5.9, y + 0.4 - 0.4 * j, f"{first} {second}  {p:.3f}", role=role, width=1.8, height=0.34)
        diagrams.arrow(ax, node.right, leaf.left, width=0.6 + 4 * p_second)
diagrams.note(ax, 7.15, 3.75, "greedy")
diagrams.note(ax, 7.15, 2.4, "beam 2")
plots.show(
    figure,
    alt="""A tree. From start, a with 0.5, the with 0.4, my with 0.1. Greedy takes a and then dog: 0.200. The best
sentence is the dog with 0.360. Beam search with width 2 keeps a and the, drops my, and finds it.""",
)

# %% [markdown]
# The slider below changes the probability of "a"; "the" and "my" share the rest as before.
#
# **Predict.** For which probabilities of "a" does greedy search (a beam of width 1) write the most probable sentence, ★?
#
# <details><summary>Answer</summary>
#
# "the" gets 0.8 of the rest. With probability p for "a", greedy begins with "the" while p < 0.8·(1 − p), that is below 0.444. Then it writes "the dog",
# which is the best sentence there. "a dog" has 0.4·p, "the dog" 0.72·(1 − p): from 0.643 on "a dog" is the best, and greedy writes it. Between the two
# greedy misses the star, and a beam of 2 finds it.
#
# </details>

# %%
live.beam(TREE)


# %% [markdown]
# Greedy takes "a", since 0.5 > 0.4, and ends with "a dog", 0.20. The best sentence is "the dog", 0.36. **Beam search** keeps
# the k best *prefixes*. At each step all k are continued by all V words, and of the k·V candidates the k best stay. k = 1
# is greedy search. A wider beam gives no guarantee: it, too, can drop the beginning of the best sentence.
#
# For a whole batch at once the beam is one more axis. All our targets have nine tokens, so no prefix ends early; the lab
# treats ends properly.

# %%
def widened(predict, source, k):
    """Beam search of width k over T tokens: the best rows (N, T) and their log-probabilities (N,)."""
    asked = np.repeat(source, k, axis=0)  # (N·k, S)
    rows = np.full((len(source), k, T + 1), START, "int32")
    total = np.where(np.arange(k) == 0, 0.0, -np.inf) * np.ones((len(source), 1))  # (N, k): k equal starts are one
    for place in range(T):
        logits = np.asarray(predict(asked, rows[:, :, :-1].reshape(-1, T)))[:, place]  # (N·k, V)
        step = np.log(softmax(logits, axis=-1)).reshape(len(source), k, V)
        options = (total[:, :, None] + step).reshape(len(source), -1)  # (N, k·V)
        best = np.argsort(-options, axis=-1)[:, :k]  # (N, k)
        total = np.take_along_axis(options, best, axis=-1)  # (N, k)
        rows = np.take_along_axis(rows, best[:, :, None] // V, axis=1)  # each with its own prefix
        rows[:, :, place + 1] = best % V
    return rows[:, 0, 1:], total[:, 0]


# %% [markdown]
# The finished model makes practically no mistakes, so a beam cannot improve it. So we also ask the model as it was after two epochs.

# %%
young, _ = transformer()
young.set_weights(watcher.after_two)
some, truth = test_source[:400], test_target[:400]
found = {}
for name, function in {"after 2 epochs": compiled(young), "trained": predict}.items():
    for k in (1, 2, 4):
        rows, total = widened(function, some, k)
        found[name, k] = rows, total
        better = np.mean(total > found[name, 1][1] + 1e-4)
        print(
            f"{name:15} beam {k}: dates right {np.mean((rows == truth).all(axis=1)):6.1%}, "
            f"mean log p {total.mean():.3f}, more probable than greedy's in {better:.1%}"
        )
same = (found["trained", 1][0] == greedy(predict, some)).all()
print("beam 1 is greedy:", bool(same))

# %% [markdown]
# A wider beam finds sentences that the model finds *more probable*; whether they are *better* depends on the model. With an
# exact search Stahlberg and Byrne (2019) found that a Transformer base model gives its highest score to the *empty*
# translation for more than half of the sentences of a test set, and that even a beam of 100 misses the highest score most
# of the time. Small widths are usual for translation; the paper has 4.
#
# **Length penalty.** Log-probabilities are negative and add up, so a beam that compares hypotheses of different length
# prefers the short ones. The usual choice is to divide the sum by $\left(\frac{5 + n}{6}\right)^{\alpha}$ for n tokens (Wu et al., 2016). The Transformer
# paper takes α = 0.6.

# %%
# NBVAL_CHECK_OUTPUT
hypotheses = {"short, 3 tokens": (-2.0, 3), "long, 8 tokens": (-2.6, 8)}
for alpha in (0.0, 0.6, 1.0):
    ranked = {name: total / ((5 + n) / 6) ** alpha for name, (total, n) in hypotheses.items()}
    print(
        f"alpha {alpha}:", {name: round(value, 2) for name, value in ranked.items()}, "->", max(ranked, key=ranked.get)
    )

# %% [markdown]
# ## 4 · The key–value cache
#
# To write token t + 1, the functions above send all tokens through the whole decoder again. But the mask has fixed the
# keys and values of the old tokens: nothing that comes later can change them. So we keep them. Per step only *one* token
# goes through the layers; it makes one query, one new key and one new value in each layer, and attends to the stored ones.
#
# **Predict.** Without the cache, by what factor does the time for *one* more token grow, when the prefix grows from 256
# to 1,024? And with it?
#
# <details><summary>Answer</summary>
#
# Without the cache the whole prefix goes through the projections (four times the work) and attention (sixteen times), so the factor is somewhere
# between 4 and 16. With it, the projections of one token cost the same at every step, and only the stored keys and values grow. The time rises less.
#
# </details>

# %%
WIDTH, LAYERS, LONGEST = 256, 4, 1024
rng = np.random.default_rng(0)
stack_weights = rng.normal(scale=WIDTH**-0.5, size=(LAYERS, 4, WIDTH, WIDTH)).astype("float32")  # q, k, v, output


def all_again(x):
    """A decoder of attention layers on all tokens x (t, D); returns the last token's output (D,)."""
    hidden = np.triu(np.full((len(x), len(x)), -1e9, "float32"), k=1)  # (t, t)
    for w_q, w_k, w_v, w_o in stack_weights:
        scores = (x @ w_q) @ (x @ w_k).T / WIDTH**0.5 + hidden  # (t, t)
        x = x + softmax(scores, axis=-1) @ (x @ w_v) @ w_o  # (t, D)
    return x[-1]


def one_more(x, cache, place):
    """The same for token x (D,) at a place, with keys and values of all earlier tokens in cache (LAYERS, 2, t, D)."""
    for (w_q, w_k, w_v, w_o), (keys, values) in zip(stack_weights, cache, strict=True):
        keys[place], values[place] = x @ w_k, x @ w_v  # (D,) each
        weights = softmax(keys[: place + 1] @ (x @ w_q) / WIDTH**0.5)  # (place + 1,)
        x = x + weights @ values[: place + 1] @ w_o  # (D,)
    return x


# %% [markdown]
# **Predict.** A text has 7 tokens. How many scores does each layer compute in all seven steps together, with the cache and without it? (`all_again`
# computes the whole square of scores at each step.)
#
# <details><summary>Answer</summary>
#
# With the cache, step t computes one row of t scores: 1 + 2 + … + 7 = 28. Without it, step t computes t² of them: 1 + 4 + 9 + 16 + 25 + 36 + 49 = 140. And
# 28 tokens go through the projections instead of 7.
#
# </details>

# %%
live.cache("the cat sat on the mat .".split())

# %%
text = rng.normal(size=(LONGEST, WIDTH)).astype("float32")  # (T, D)
cache = np.zeros((LAYERS, 2, LONGEST, WIDTH), "float32")
lengths = np.array([16, 32, 64, 128, 256, 512, 1024])
kept, again = np.zeros((3, LONGEST)), np.zeros((3, len(lengths)))  # processor seconds for one token, three runs
with threadpool_limits(1):  # one thread, so that a processor second is a second
    for run in range(3):
        for place in range(LONGEST):
            begun = time.thread_time()
            output = one_more(text[place], cache, place)
            kept[run, place] = time.thread_time() - begun
        for column, length in enumerate(lengths):
            begun = time.thread_time()
            full = all_again(text[:length])
            again[run, column] = time.thread_time() - begun
print("same output at token 1,024:", np.allclose(output, full, rtol=1e-3, atol=1e-3))

# %%
smooth = np.stack(
    [np.median(kept[:, max(length - 9, 0) : length], axis=1) for length in lengths], axis=1
)  # (3, lengths)
figure, ax = plt.subplots(figsize=(6.5, 3.4))
plots.measured_curve(lengths, again * 1e3, label="everything again", ax=ax)
plots.measured_curve(lengths, smooth * 1e3, label="with cache", line=1, ax=ax)
ax.set(xscale="log", yscale="log", xlabel="tokens in the prefix", ylabel="CPU milliseconds for one more token")
ax.set_xticks(lengths, [str(length) for length in lengths])
plots.show(
    figure,
    alt="""Time for one more token against the length of the prefix, both axes logarithmic. Computing everything again
rises steeply. With the cache the time rises less.""",
)
slow, fast = np.median(again, axis=0), np.median(smooth, axis=0)
print(
    f"from 256 to 1,024 tokens: {slow[-1] / slow[-3]:.1f} times the time without, {fast[-1] / fast[-3]:.1f} times with"
)
print(f"at 1,024 tokens the cache is {slow[-1] / fast[-1]:.0f} times as fast")

# %% [markdown]
# The price is memory: two vectors of D numbers per token and layer. GPT-3 has 96 layers of width 12,288 and reads
# 2,048 tokens (Brown et al., 2020); with two bytes per number its cache for *one* text takes:

# %%
# NBVAL_CHECK_OUTPUT
per_token = 2 * 96 * 12_288 * 2  # keys and values, layers, width, bytes
print(f"{per_token / 1e6:.2f} MB per token, {per_token * 2048 / 1e9:.2f} GB for 2,048 tokens")


# %% [markdown]
# Cross-attention needs only a simple cache: the keys and values of the memory are the same at every step.
#
# ## 5 · Three families, told apart by who sees whom
#
# From the same blocks you can build three kinds of model. We build one of each, untrained, and measure as in lecture 8,
# section 2, which output depends on which input. In the third the first four input tokens are the source, the last four the target.

# %%
def influence(function, x):
    """How far output token t (row) moves when input token s (column) is pushed: (T, S), largest entry 1."""
    length = x.shape[1]
    copies = np.repeat(x, length + 1, axis=0)  # (S + 1, S, D): in copy s token s is pushed, the last copy stays
    copies[range(length), range(length)] += np.random.default_rng(0).normal(size=x.shape[-1])
    outputs = np.asarray(function(copies))  # (S + 1, T, D)
    moved = np.linalg.norm(outputs[:-1] - outputs[-1], axis=-1).T  # (T, S)
    return moved / moved.max()


# %%
keras.utils.set_random_seed(5)
tokens_in, memory_in = keras.Input((None, D)), keras.Input((None, D))  # (B, T, D), (B, S, D)
reader = keras.Model(tokens_in, encoder_block(tokens_in, None))
masked = after(tokens_in, attention()(query=tokens_in, value=tokens_in, use_causal_mask=True))
writer = keras.Model(tokens_in, fed_forward(masked))
pair = keras.Model(
    [memory_in, tokens_in], decoder_block(tokens_in, encoder_block(memory_in, None), None, True, "pair")[0]
)

families = {
    "encoder-only": reader, "decoder-only": writer,
    "encoder–decoder": lambda x: pair([x[:, :4], x[:, 4:]]),
}  # fmt: skip
x = keras.random.normal((1, 8, D))
figure, panels = plt.subplots(1, 3, figsize=(10, 3.4), height_ratios=[1])
for ax, (name, function) in zip(panels, families.items(), strict=True):
    seen = influence(function, x) > 1e-4  # (T, S)
    plots.matrix_map(seen, mask=seen, limits=(0, 1.6), values=False, title=name, ax=ax)
    ax.set(xlabel="input token", xticks=range(8), yticks=range(len(seen)), ylabel="output token")
panels[2].set_xticks(range(8), [f"s{i}" for i in range(4)] + [f"t{i}" for i in range(4)])
panels[2].set_yticks(range(4), [f"t{i}" for i in range(4)])
plots.show(
    figure,
    alt="""Which output depends on which input, measured. Encoder-only: everything on everything. Decoder-only: a lower
triangle. Encoder-decoder: every target token on all four source tokens and on the target tokens up to itself.""",
)

# %% [markdown]
# | family | who sees whom | trained to | examples | good for |
# |---|---|---|---|---|
# | encoder-only | all see all | fill in masked tokens | BERT (lecture 7), ViT's reading of images (lecture 9) | understanding: classify, tag, embed; not made to write from left to right |
# | decoder-only | each sees itself and what is before | predict the next token | GPT-2, GPT-3 | writing; the source is the beginning of the text |
# | encoder–decoder | target sees all of the source, and its own past | write the target | the Transformer of 2017, T5, BART | translation, summaries |
#
# **Predict.** A decoder-only model is to translate: it reads `march 2 7 … ; 1 9 9 4 …`. Can the token *march* attend to the same
# tokens as in an encoder–decoder?
#
# <details><summary>Answer</summary>
#
# No: in the decoder-only model *march* cannot see the day behind it, in an encoder it can. Only later tokens can combine the two. A **prefix** mask,
# open among the source tokens and triangular after them, is between the two (T5's paper compares all three: Raffel et al., 2020).
#
# </details>
#
# ## 6 · A language model: only a decoder
#
# Without the source and the cross-attention, what is left of the model predicts the next word of a text from the words before. That is a
# **language model**, and all GPT models are of this kind. `experiments/language_model.py` trains a small one from scratch on the 29,000 English captions of Multi30k, one caption after
# the other. Its attention carries the cache inside: with `cache=None` it reads a whole text, as in training; with a cache it reads one new token and
# adds that token's key and value to the ones it has. Its central lines:
#
# ```python
# if cache is not None:
#     k, v = (ops.slice_update(old, (0, 0, place, 0), fresh) for old, fresh in zip(cache, (k, v)))
# scores = ops.matmul(q, ops.transpose(k, (0, 1, 3, 2))) * (D // H) ** -0.5     # (B, H, T, M)
# seen = ops.arange(ops.shape(k)[2])[None, :] <= place + ops.arange(new)[:, None]  # (T, M)
# read = ops.matmul(ops.softmax(ops.where(seen, scores, -1e9), axis=-1), v)      # (B, H, T, K)
# ```
#
# How good is it? The older way to guess the next word is to count: a **5-gram model** asks which words followed these four words in the training
# text. Where the four were never seen, it asks for the last three, and so on (Kneser and Ney, 1995). Both kinds give every word a probability, so both have a **perplexity** on the same unseen captions:
# e to the mean of −log p. It says among how many equally likely words the model is undecided.
#
# **Predict.** Counting has a perplexity near 200 when it looks at no word before, and improves with each word of context up to a point. Where does that point lie for
# 29,000 captions? Does the Transformer get below it?

# %%
record = recorded.load("language_model")
lm = record["results"]
print(record["what"], "|", record["date"], "|", record["device"])
print("repeat it with:", record["command"], "\n")
print(lm["model"], f"{lm['parameters']:,} parameters, {lm['vocabulary']:,} words, {lm['training tokens']:,} tokens to train on")
reached = {seed: run["test perplexity"] for seed, run in lm["runs"].items()}
print("test perplexity, counted:    ", ", ".join(f"{order}-gram {value:.1f}" for order, value in lm["n-gram test perplexity"].items()))
print("test perplexity, Transformer:", ", ".join(f"seed {seed}: {value:.1f}" for seed, value in reached.items()))
print("logits with the cache and without differ by at most", lm["largest difference of logits with and without cache"])
for name, rates in lm["tokens per processor second"].items():
    print(f"{name:10}", ", ".join(f"{tokens} tokens: {rate:.0f} a processor second" for tokens, rate in rates.items()))

# %%
orders = [int(order) for order in lm["n-gram test perplexity"]]
figure, (left_ax, right_ax) = plt.subplots(1, 2, figsize=(9.8, 3.3))
plots.measured_curve(orders, list(lm["n-gram test perplexity"].values()), label="counted n-grams", ax=left_ax)
left_ax.axhline(np.mean(list(reached.values())), color=diagrams.PALETTE["accent"], linestyle="--", label="decoder-only Transformer")
left_ax.set(yscale="log", xlabel="n: the word and n − 1 before it", ylabel="perplexity, test captions", xticks=orders)
left_ax.set_yticks([20, 30, 50, 100, 200], ["20", "30", "50", "100", "200"])
left_ax.legend()
for line, (name, rates) in enumerate(lm["tokens per processor second"].items()):
    plots.measured_curve([int(tokens) for tokens in rates], list(rates.values()), label=name, line=line, ax=right_ax)
right_ax.set(xscale="log", xlabel="tokens written, from the start", ylabel="tokens a processor second", ylim=(0, None))
right_ax.set_xticks([int(tokens) for tokens in rates], list(rates))
for ax in (left_ax, right_ax):
    ax.minorticks_off()
plots.show(
    figure,
    alt="""Recorded run. Left, perplexity on unseen captions: it falls steeply from 1-grams to 2-grams, a little more to 3-grams, and stays
there; the dashed line of the Transformer lies below all of them. Right, tokens written in a processor second: with the cache about the same for every length,
without it fewer the longer the text.""",
)
for temperature, captions in lm["samples"].items():
    print(f"temperature {temperature}:")
    for caption in captions[:3]:
        print("   ", caption)

# %% [markdown]
# Counting is best with four words, and gains nothing from a fifth: most groups of five words in an unseen caption never occurred in training. The Transformer's perplexity
# is lower than that of every counted model, by about three tenths with each of three seeds. It can read the whole caption so far, and its embeddings can treat words alike that were used
# alike. Which of the two helps, these runs do not say.
#
# The cache changes the logits by rounding only. At the start of a text the model writes about as many tokens in one processor second with it as
# without it. At 512 tokens it is four
# times as fast, because the time of a step no longer grows with the text.
#
# And the captions: at temperature 0.5 they are correct and alike, at 1 they begin well and stop making sense, at 1.5 the grammar is wrong. Each is the first that was drawn;
# we did not select them.
#
# ### How large such models became
#
# The GPT models are models of this kind, made larger. The next cell has sizes and amounts of training text as the papers on the models state them. (The Transformer
# of 2017, T5 and BERT are of the other families.) The choice is ours. Models whose size was not published are missing, and so are mixtures of experts, which use only a part of
# their parameters for each token.
#
# **Predict.** The big Transformer of June 2017 has 213 million parameters, GPT-3 of May 2020 has 175 billion. In how many months did the size double, on average?
#
# <details><summary>Answer</summary>
#
# 175,000/213 is 822, or 9.7 doublings, in 35 months: one in 3.6 months. From GPT-3 to PaLM, 23 months later, one doubling took 14 months.
#
# </details>

# %%
# Published: year and month, parameters, tokens read in training (None: the paper does not state a number of tokens).
PUBLISHED = {
    "Transformer, big": (2017, 6, 213e6, None), "GPT": (2018, 6, 117e6, None), "BERT-large": (2018, 10, 340e6, None),
    "GPT-2": (2019, 2, 1.542e9, None), "Megatron-LM": (2019, 9, 8.3e9, None), "T5": (2019, 10, 11e9, 1e12),
    "GPT-3": (2020, 5, 175e9, 300e9), "Gopher": (2021, 12, 280e9, 300e9), "MT-NLG": (2022, 1, 530e9, 270e9),
    "Chinchilla": (2022, 3, 70e9, 1.4e12), "PaLM": (2022, 4, 540e9, 780e9), "LLaMA": (2023, 2, 65.2e9, 1.4e12),
    "Llama 2": (2023, 7, 70e9, 2e12), "Llama 3.1": (2024, 7, 405e9, 15.6e12),
}  # fmt: skip


def doubling(what, first, last):
    """How many times the parameters (what = 2) or the tokens (what = 3) of another model, and how fast they doubled."""
    a, b = PUBLISHED[first], PUBLISHED[last]
    months, times = 12 * (b[0] - a[0]) + b[1] - a[1], b[what] / a[what]
    name = ("parameters", "tokens")[what - 2]
    print(f"{name}, {first} to {last}: {times:.1f} times in {months} months, one doubling in {months / np.log2(times):.1f}")


doubling(2, "Transformer, big", "GPT-3")
doubling(2, "GPT-3", "PaLM")
doubling(3, "GPT-3", "Llama 3.1")
for name in ("Gopher", "Chinchilla"):
    print(f"{name}: 6 · parameters · tokens = {6 * PUBLISHED[name][2] * PUBLISHED[name][3]:.1e}")

# %%
figure, panels = plt.subplots(1, 2, figsize=(10.4, 4.2))
for ax, what, title in zip(panels, (2, 3), ("parameters", "tokens read in training"), strict=True):
    for name, row in PUBLISHED.items():
        if row[what] is not None:
            when = row[0] + (row[1] - 0.5) / 12
            left, high = name in ("Chinchilla", "GPT-3", "MT-NLG", "T5"), name in ("Gopher", "LLaMA", "PaLM", "T5")
            ax.plot(when, row[what], **plots.LINES[1 if name in ("Gopher", "Chinchilla") else 0] | {"linestyle": ""})
            ax.annotate(name, (when, row[what]), xytext=(-5 if left else 5, 5 if high else -8), textcoords="offset points",
                        fontsize=8, ha="right" if left else "left")  # fmt: skip
    ax.set(yscale="log", title=title, xlabel="year", xlim=(2017, 2025.9))
plots.show(
    figure,
    alt="""Left: parameters of published models by the date of publication, on a logarithmic axis. They rise steeply from 2017 to GPT-3 in 2020 and
little from there to PaLM in 2022; the later ones are smaller. Right: the tokens that they read in training. None of the models up to 2022 read more than
1.4 trillion; Llama 3.1 of 2024 read eleven times as many.""",
)

# %% [markdown]
# Until 2020 the number of parameters grew fast. After that the text grew: from GPT-3 to Llama 3.1 one doubling of its amount took 9 months. (But T5 had read more than GPT-3 before.) The table does not say
# why. One experiment points to a reason: Hoffmann et al. (2022) trained Chinchilla with about as much computation as Gopher (both are squares in the figure), but with
# a quarter of the parameters and nearly five times the text. Chinchilla was better in 51 of the 57 tasks of one large test. (The usual estimate of the computation is
# 6 operations for each parameter and token; Kaplan et al., 2020.)
#
# ### Not only words
#
# The blocks do not know that their tokens are words. What changes from field to field is what a token is, and what its place is:
#
# | field | tokens | example |
# |---|---|---|
# | proteins | amino acids | Rives et al., 2021; AlphaFold, Jumper et al., 2021 |
# | DNA | groups of a few bases | DNABERT, Ji et al., 2021 |
# | sound | short windows of a spectrogram | Whisper, Radford et al., 2023 |
# | time series | measurements of one time | Lim et al., 2021 |
# | reinforcement learning | rewards still to come, states, actions | Decision Transformer, Chen et al., 2021 |
# | shapes | points in space | Point Transformer, Zhao et al., 2021 |
# | questions about a text | word pieces; the answer is a first and a last place | BERT, Devlin et al., 2019 |
# | grammar | words, then the brackets of the parsed sentence | Vaswani et al., 2017, section 6.3 |
# | images, videos | patches, tubelets | [lecture 9](09_vision_transformer.ipynb) |
#
# That a Transformer can read something does not make it the best model. On nine real sets of time series, linear models forecast better than the
# Transformers that were made for forecasting (Zeng et al., 2023).
#
# ## 7 · Alignment: where the decoder looks
#
# The weights of the cross-attention form an alignment matrix as in lecture 1. Three unseen days, in three ways of
# writing; last block, mean over the heads.

# %%
texts = [" ".join(dates.decode(line)) for line in test_source]
figure, panels = plt.subplots(1, 3, figsize=(11.4, 3.9))
for ax, pattern in zip(panels, [r"(\d ){1,2}[a-z]+ \d", r"\d \d / ", r"[a-z]+day [a-z]+ \d"], strict=True):
    row = next(i for i, text in enumerate(texts) if re.match(pattern, text) and correct[i])
    _, weights = by_step(test_source[row], written[row])  # (T, S)
    keys = texts[row].split()
    said, last = [NAMES[i] for i in written[row]], ax is panels[-1]
    plots.attention_map(weights[:, : len(keys)], said, keys, values=False, colorbar=last, ax=ax)
    ax.set(xlabel="", ylabel="token written" if ax is panels[0] else "", title=" ".join(keys))
figure.supxlabel("key: attended to", fontsize=10)
plots.show(
    figure,
    alt="""Three maps of the last block's cross-attention, written tokens against source tokens, for a date with day,
month name and year, one with slashes, and one with the weekday in front; one colour scale, from 0 to 1, for all.""",
)


# %% [markdown]
# Three pictures prove little. We label every source token (year, month, day, weekday, sign) and sum the weights over 500
# unseen days and both blocks.

# %%
def parts_of(line):
    """What each token of a source line belongs to; the year is always the last four digits."""
    parts, field = [], "month" if "/" in line else "day"
    for place, token in enumerate(line):
        if token in ("/", "."):
            field = "day" if token == "/" else "month"
        named = {token in ("/", "."): "sign", token in dates.MONTHS: "month", token in dates.WEEKDAYS: "weekday"}
        parts.append("year" if place >= len(line) - 4 else named.get(True, field))
    return parts


PARTS = ["year", "month", "day", "weekday", "sign"]
counted = slice(0, 500)
belongs = np.zeros((500, S, len(PARTS)))  # one-hot; padding belongs to nothing
for row, line in enumerate(test_source[counted]):
    for place, part in enumerate(parts_of(dates.decode(line))):
        belongs[row, place, PARTS.index(part)] = 1
looked = np.stack(looking.predict([test_source[counted], with_start(written[counted])], verbose=0))  # (N, B, H, T, S)
mass = np.einsum("nbhts,bsp->ntp", looked, belongs) / (500 * H)  # (blocks, T, parts)

# %%
figure, panels = plt.subplots(1, N, figsize=(9.2, 3.7))
for block, ax in enumerate(panels):
    plots.matrix_map(mass[block], rows=places, columns=PARTS, limits=(0, 1), title=f"decoder block {block + 1}", ax=ax)
    ax.set(ylabel="token written" if block == 0 else "", xlabel="part of the source")
plots.show(
    figure,
    alt="""Two tables, one per decoder block: the share of cross-attention weight that each written token puts on the
year, month, day, weekday and signs of the source, mean over 500 unseen dates.""",
)
own = [mass[:, 0:4, 0].mean(), mass[:, 4:6, 1].mean(), mass[:, 6:8, 2].mean()]
for part, share in zip(PARTS, own, strict=False):
    print(f"digits of the {part:5} put {share:.0%} of their weight on the {part} of the source, mean of both blocks")
print(f"first digit of the month: {mass[:, 4, 0].mean():.0%} on the year, {mass[:, 4, 1].mean():.0%} on the month")

# %% [markdown]
# The model was trained on right outputs only, and not on which source token belongs to which digit. The alignment is clear for the year
# and, less so, for the day. It is not for the month: the first digit of the month puts more weight on the year than on the month. (The
# year's last digits tell where a line ends. Whether the model uses that, the table cannot say.)
# Read this table with care. Memory vectors are mixtures already (the encoder's self-attention ran first), so that a
# token can carry what belongs to its neighbours; the two blocks share the work; and a weight is not an explanation
# (lecture 1).
#
# ### Where the decoder looks back
#
# Before the Transformer, Cheng et al. (2016) let a network that reads word after word look back at every word that it had read, and called this **intra-attention**. Their
# figure shows a sentence row by row: each row is a word that has just been read, with its connections to the words before it. The first attention of a decoder
# block does the same with the tokens that are already written.
#
# **Predict.** Which cells of such a table are 0 whatever the model has learned? And what does a row look like that has no preference?
#
# <details><summary>Answer</summary>
#
# All cells to the right of the diagonal: the mask. Without a preference row t has t equal weights of 1/t.
#
# </details>

# %%
back = [layer for layer in model.layers if isinstance(layer, layers.MultiHeadAttention) and "cross" not in layer.name][N:]
entering = keras.Model(model.input, [layer.input[0] for layer in back])  # what each decoder block reads, (B, T, D)
read = ["start", *places[:-1]]
figure, panels = plt.subplots(1, N, figsize=(9.2, 3.9))
for block, x in enumerate(entering.predict([test_source[counted], with_start(written[counted])], verbose=0)):
    _, weights = back[block](query=x, value=x, use_causal_mask=True, return_attention_scores=True)  # (B, H, T, T)
    table = np.asarray(weights).mean(axis=(0, 1))  # (T, T)
    plots.matrix_map(table, rows=places, columns=read, mask=np.tri(T), limits=(0, 1), title=f"decoder block {block + 1}", ax=panels[block])
    panels[block].set(ylabel="token that is due" if block == 0 else "", xlabel="token read")
    most = (table[1:].argmax(axis=1) == np.arange(1, T)).sum()
    print(f"block {block + 1}, rows Y2 to end: weight on the token written last {np.diag(table)[1:].mean():.2f}, the largest of its row in {most} of {T - 1}")
print(f"equal weights would give {np.mean(1 / np.arange(2, T + 1)):.2f}")
plots.show(
    figure,
    alt="""Two lower triangles, one for each decoder block: how much weight each place of the decoder puts on the tokens written before it, mean over 500 unseen
dates and all heads. Nothing lies to the right of the diagonal.""",
)

# %% [markdown]
# In the second block the token that was written last has the largest weight in 7 of 8 rows, and 0.43 on average. In the first block it has the largest weight in 4
# of 8 rows, and 0.32 on average. Equal weights would give 0.23. So both blocks look at the last token more than at an average one. What they take from it, the table does not say.
#
# ## 8 · English to German, recorded from a real run
#
# Dates are a toy. The same architecture on real sentences takes longer than a lecture may run, so
# `experiments/multi30k.py` did it before, and this page shows its record. The data are those of Multi30k (Elliott et al.,
# 2016): image captions, 29,000 pairs to train on, tested on the 1,000 of *test_2016_flickr*. New, compared with the dates: word pieces (lecture 7) learned from both languages together, dropout, pre-norm, batches of sentences of about one length, and a
# beam that treats ends.

# %%
record = recorded.load("multi30k")
results, seeds = record["results"], record["results"]["seeds"]
print(record["what"], "|", record["date"], "|", record["device"])
print("repeat it with:", record["command"], "\n")
print({name: value for name, value in results["model"].items()}, f"{results['parameters']:,} parameters")
minutes = ", ".join(f"{run['training_cpu_seconds'] / 60:.0f}" for run in seeds.values())
print(f"training: {len(seeds['1']['epochs'])} epochs, {minutes} minutes of processor time (seeds {', '.join(seeds)})")
for name in ("greedy", "beam 4"):
    bleu = [run["bleu"][name] for run in seeds.values()]
    seconds = np.mean([run["translating_cpu_seconds"][name] for run in seeds.values()])
    each = ", ".join(f"{value:.1f}" for value in bleu)
    print(f"BLEU on test_2016_flickr, {name:6}: {np.mean(bleu):.1f} (by seed: {each}), {seconds:.0f} CPU seconds for 1,000 sentences")
print("sacreBLEU signature:", results["signature"])

# %%
epochs = seeds["1"]["epochs"]
log = {name: [epoch[name] for epoch in epochs] for name in epochs[0]}
figure, (left_ax, right_ax) = plt.subplots(1, 2, figsize=(9.8, 3.3))
plots.training_history({"smoothed loss": log}, ax=left_ax)
plots.training_history({"next token right": log}, metric="token_accuracy", ax=right_ax)
right_ax.set(ylabel="share", ylim=(0, 1))
plots.show(
    figure,
    alt="""Recorded training on Multi30k, seed 1. Left, training and validation loss by epoch, both falling and flattening. Right,
the share of next tokens guessed right in training and validation, both rising.""",
)


# %% [markdown]
# **BLEU** (Papineni et al., 2002) counts how many of the translation's n-grams, n = 1 to 4, occur in the reference, each at
# most as often as there; takes the geometric mean of the four shares $p_n$; and multiplies by a penalty when the output (c tokens) is shorter
# than the reference (r tokens). All sentences are counted together.
#
# $$\text{BLEU} = \min\left(1,\ e^{1 - r/c}\right) \cdot \left(p_1\, p_2\, p_3\, p_4\right)^{1/4}$$
#
# **By hand.** Output "the the cat", reference "the cat sat". Which share of its 1-grams and of its 2-grams counts?
#
# <details><summary>Answer</summary>
#
# 1-grams: "the" occurs twice, the reference has it once, so one counts; "cat" counts: 2/3. 2-grams: "the the" no, "the cat"
# yes: 1/2. The lengths are equal: no penalty.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
def matched(output, reference, n):
    """How many n-grams of the output count, and how many it has."""
    grams = [Counter(zip(*(text.split()[i:] for i in range(n)), strict=False)) for text in (output, reference)]
    return (grams[0] & grams[1]).total(), grams[0].total()


for n in (1, 2):
    print(f"{n}-grams: {matched('the the cat', 'the cat sat', n)}")

# %% [markdown]
# The number depends on how words are split, on case, and on the reference, so two BLEU values can be compared only when
# they were computed in the same way. sacreBLEU (Post, 2018) fixes all of that and writes it into its signature: *case:mixed* and
# *tok:13a* mean that upper case counts, and which splitting was used. Lower-cased text that
# was split beforehand usually gives a higher value to the same translations, and many papers report that one. An example for this test set: a Transformer
# that reads the images as well has 38.7 (Yao and Wan, 2020; the script in their [repository](https://github.com/QAQ-v/MMT) scores lower-cased, split
# text). So their number and ours cannot be compared.
#
# Some sentences, chosen by a rule that was fixed beforehand:

# %%
print(results["rule"] + ", seed 1\n")
for example in seeds["1"]["examples"]:
    for name, text in example.items():
        print(f"{name:9} {text}")
    print()

# %% [markdown]
# The last caption shows a weakness of word pieces: *schlekt* is not a German word. A vocabulary of pieces can write every
# word, and also every word that does not exist. Twenty to thirty minutes of processor time and 29,000 captions give usable German about
# people, dogs and bicycles, and not more. The beam is ahead of greedy search with each of the three seeds, by 0.4 to 0.9 BLEU.

# %% [markdown]
# ## 9 · Recurrent attention and the Transformer on the same sentences
#
# [Lecture 1](01_attention_intuition.ipynb) explained the decoder of Bahdanau et al. (2015), and trained the order of Luong et al. (2015) on dates.
# `experiments/recurrent_translation.py` trained both on real sentences, from French to English, beside a Transformer. With $s_t$ for the decoder's state, $c_t$
# for the mixture of the source that attention returns, and $y_{t-1}$ for the last token:
#
# | order | first | then |
# |---|---|---|
# | Bahdanau | the old state $s_{t-1}$ asks and gets $c_t$ | $s_t = \text{GRU}(s_{t-1}, [y_{t-1}; c_t])$: the mixture enters the new state |
# | Luong | $s_t = \text{GRU}(s_{t-1}, y_{t-1})$ | the new state $s_t$ asks and gets $c_t$, which goes to the output only |
#
# Two things follow. Bahdanau's state asks before it has read the last token. And Bahdanau's decoder has to step in training too, while in Luong's order all states can be
# computed first and then ask at the same time. (We leave out Luong's "input feeding". With it, each step would again need the one before it.) Luong compared
# several scores; the record has *dot*, *general* and *additive*. (Left out: *location*, which does not look at the keys.)
#
# Everything else is equal: pieces, encoder (a bidirectional GRU), output layers, batches, the number of parameters (within 1 %), and the
# processor seconds on one thread. Equal parameters make Bahdanau's states narrower, since its GRU reads the mixture as well. The Transformer has two blocks on each side.
#
# **Predict.** All models train for the same few processor seconds. Which of the five gets through the most sentences, which one through the fewest? And which one has the lowest BLEU
# in the end?
#
# <details><summary>Answer</summary>
#
# The recurrent networks in Luong's order get through the most, between 0.82 and 1.01 of the training pairs, and the Transformer through the fewest, 0.55 to 0.60. After
# 40 seconds the Transformer also has the lowest BLEU, 10.6 on average.
#
# </details>

# %%
race = recorded.load("recurrent_translation")
raced = race["results"]
print(race["what"], "|", race["date"], "|", race["device"])
print("repeat it with:", race["command"], "\n")
for name, mean in raced["mean BLEU"].items():
    runs = [run for run in raced["runs"] if run["kind"] == name]
    seen = np.mean([run["passes"] for run in runs])
    each = ", ".join(f"{run['BLEU']:.1f}" for run in runs)
    print(f"{name:15} {raced['parameters'][name]:,} parameters, {seen:.2f} passes, BLEU {mean:.1f} (by seed: {each})")
print("sacreBLEU signature:", raced["signature"], "\n")
for name, (difference, low, high) in raced["Bahdanau less"].items():
    print(f"Bahdanau less {name:15}: {difference:+.1f} BLEU, 95 % of redrawn test sets from {low:+.1f} to {high:+.1f}")

# %%
groups = raced["sentences by words of the French"]
figure, ax = plt.subplots(figsize=(7.4, 3.6))
for line, name in enumerate(raced["mean BLEU"]):
    lines = [list(run["by length"].values()) for run in raced["runs"] if run["kind"] == name]  # (seeds, groups)
    plots.measured_curve(range(len(groups)), lines, label=name, line=line, ax=ax)
ax.set(xlabel="words of the French sentence (number of sentences)", ylabel="BLEU", ylim=(0, None))
names = [*list(groups)[:-1], "more"]
ax.set_xticks(range(len(groups)), [f"{name} ({count})" for name, count in zip(names, groups.values(), strict=True)])
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
plots.show(
    figure,
    alt="""Recorded BLEU by length of the French sentence, five models. All lines fall from short to long sentences. Luong's order
with the additive score is highest everywhere, the Transformer is far below the four recurrent models.""",
)

# %% [markdown]
# With the same additive score, Luong's order reaches 32.7 and Bahdanau's 26.9. The interval of the difference, −6.4 to −5.1, does not include 0, and Luong's order is ahead with each of the three seeds, by
# 4.6 to 7.2. This compares the two at an equal budget. It does not isolate the order, since Bahdanau's states are narrower and it took fewer steps. With the dot score Luong's order is ahead with each
# seed too, by 1.9 to 2.3. The general score is the lowest of the recurrent models with each seed, and its seeds lie between 17.9 and 24.5. The intervals say what other test sentences would change; they say
# nothing about other seeds.
#
# The Transformer's 10.6 says nothing about longer training: 40 seconds are about a half of one pass. The Transformer of section 8, with about 35 times as many processor seconds, has 35.6 with greedy
# search, in another direction and language. Trained to the end on millions of sentences, the order is the other one: on WMT 2014, English to German, the base model of 2017 has 27.3 BLEU and the recurrent GNMT with
# attention 24.6, for about seven times as much computation (Vaswani et al., table 2). Two peak rates were tried for each family; the larger one was better each time, so an even larger one might be better still.
#
# **Alignment.** The weights of a real sentence, chosen by a rule that was fixed before training: the first test sentence of 8 to 12 words with exactly one colour. French
# puts the colour after the noun, English before it. Each row is the step at which the piece at its left is due, after the true pieces before it.

# %%
shown = raced["alignment"]
best = max((name for name in shown["weights"] if name != "Bahdanau"), key=raced["mean BLEU"].get)
figure, panels = plt.subplots(1, 2, figsize=(11, 4.4))
for ax, name in zip(panels, ("Bahdanau", best), strict=True):
    weights = np.array(shown["weights"][name])  # (T, S)
    plots.attention_map(
        weights, shown["english"], shown["french"], values=False, colorbar=name == best, title=name, ax=ax
    )
    ax.set(xlabel="French piece", ylabel="English piece that is due")
plots.show(
    figure,
    alt="""Two maps of weights for one sentence, English pieces against French pieces. In both, the weights of red and shirt cross:
French has the colour behind the noun. The map of Bahdanau's decoder is paler and more spread out than the other one.""",
)
colours = raced["colours"]
print(f"{colours['sentences']} test sentences with one colour: mean weight on it when its translation is due, by seed")
for name, weights in colours["weight"].items():
    print(f"{name:15}", ", ".join(f"{weight:.2f}" for weight in weights))
print(f"equal weights would give {colours['equal weights']:.2f}")

# %%
for example in raced["examples"][:2]:
    for name, text in example.items():
        print(f"{name:15} {text}")
    print()
print(raced["rule"])

# %% [markdown]
# In Luong's order with dot and additive scores, 0.72 to 0.80 of the weight lie on the colour when its translation is due, in Bahdanau's order 0.49 to 0.52. Equal weights would
# put 0.07 there. The general score differs between its seeds, 0.82, 0.45 and 0.81, and its seed with the *least sharp* alignment has the highest BLEU: a clear picture of weights is no proof of a good translation.
#
# **A published result.** `opus-mt-tc-big-fr-en` of Helsinki NLP, trained on text of many kinds, has a BLEU of 49.7 from French to English on *test_2016_flickr*, as the metadata of its
# [model card](https://huggingface.co/Helsinki-NLP/opus-mt-tc-big-fr-en) say. They state neither case nor how words are split, so the number says only how far our
# few seconds are from a good translator.

# %% [markdown]
# ## Common mistakes
#
# **Predict** what each of them prints before you run the cell.
#
# 1. Top-p is cut *before* the word with which the sum reaches p. 2. The logits are multiplied by the temperature. 3. All k equal starts of a beam count as different
# beginnings. 4. With a cache, every new token gets position 0.

# %%
four = np.array([0.5, 0.25, 0.15, 0.1])
print("1. top-p 0.8 keeps", int((np.cumsum(four) <= 0.8).sum()), "words instead of", int((reshaped(np.log(four), top_p=0.8) > 0).sum()))
print("2. temperature 0.5, multiplied:", softmax(np.log(four) * 0.5), " divided:", softmax(np.log(four) / 0.5))
steps = np.log(softmax(np.asarray(predict(test_source[:1], with_start(written[:1])))[0, 0]))  # (V,) log-probabilities of the first token
equal = np.zeros((2, 1)) + steps  # two starts that are the same, both counted
print("3. the best two first tokens:", [NAMES[i % V] for i in np.argsort(-equal.ravel(), kind="stable")[:2]], "- one prefix, twice")
sums = keras.ops.convert_to_numpy(Positions()(np.zeros((1, 3, D), "float32")))[0]  # (3, D): three new tokens and their places
alone = np.stack([keras.ops.convert_to_numpy(Positions()(np.zeros((1, 1, D), "float32")))[0, 0] for _ in range(3)])
print("4. largest difference of the positions:", np.abs(sums - alone).max(axis=-1))

# %% [markdown]
# 1: two words are left instead of three, so the nucleus is too small. 2: the distribution gets flatter where it should get sharper. 3: the beam of two is a beam of
# one, that is greedy search. 4: the first token is right, and all others are read as if they stood first; there is no error message.
#
# ## What other texts get wrong
#
# Each sentence has one mistake. Find it before you open the answer.
#
# <details><summary>“Beam search finds the most probable sentence.”</summary>
#
# Only a search over all sentences is sure to find it; a beam can miss it as greedy search can. And the most probable
# sentence need not be the best (section 3).
#
# </details>
#
# <details><summary>“The cache makes writing faster and changes what is written a little.”</summary>
#
# It changes nothing but rounding: the mask has already fixed the old keys and values. Section 6 compares the logits.
#
# </details>
#
# <details><summary>“Our model has a perplexity of 12, yours of 15, so ours is better.”</summary>
#
# Only if both have the same vocabulary and the same test text. A model with fewer words and more `[UNK]` can have a lower perplexity without being better.
#
# </details>
#
# ## Check yourself
#
# <details><summary>1. How many forward passes does it take to train on a sentence of 20 tokens, and to write one?</summary>
#
# One, thanks to mask and teacher forcing. Twenty (with a cache each of them for one token), and a beam of 4 does four rows
# each time.
#
# </details>
#
# <details><summary>2. Top-p with p = 0.9 on a distribution whose first word has 0.95. How many words are left?</summary>
#
# One. Top-p leaves few words where the model is sure, and many where it is not. Top-k always leaves k.
#
# </details>
#
# <details><summary>3. You add a sixth token to a cached prefix of five. Which stored keys have to be computed again?</summary>
#
# None. The mask guarantees that earlier tokens never see the sixth.
#
# </details>
#
# ## Symptoms
#
# <details><summary>The output begins well and repeats one token for ever.</summary>
# The buffer is not updated: the same prefix is read at every step, or the argmax is taken at the wrong place.
# </details>
# <details><summary>It never stops.</summary>
# No end token in the training targets, or the end is masked out of the loss together with padding (the same id).
# </details>
# <details><summary>Validation loss is good, BLEU is bad.</summary>
# Validation reads the target. Look for differences between training and writing: dropout on, mask off, positions that start
# elsewhere.
# </details>
# <details><summary>Greedy and beam 1 differ.</summary>
# They should be equal. Two usual causes: all k equal starts of the beam count as different ones, or the two functions treat the end differently.
# </details>
#
# ## Slow machine, or a GPU
#
# > **Slow machine:** 5 epochs instead of 7 in section 1; `LONGEST = 512` in section 4. The recorded runs need nothing.
# >
# > **GPU:** the cells run unchanged. Short sequences and small models leave a GPU idle; decode many sources at once.
#
# ## Honest caveats
#
# * On Multi30k each seed was trained for 20 to 30 minutes of processor time, and three seeds are few. BLEU compares surface forms with a single reference; a good
#   paraphrase scores low. Many published figures for this test set are for lower-cased, pre-split text and cannot be compared with ours.
# * Our cache is measured in NumPy on a processor. We did not measure it on a GPU.
# * The language model is small and reads captions only: short, simple, all of one kind. Models of general text are trained on far more.
#
# ## Summary
#
# | piece | remember |
# |---|---|
# | greedy | fast, one path; the best token is not the best sentence |
# | sampling | varied; temperature, top-k and top-p decide how much |
# | beam | more probable sentences, not always better ones; divide by a length penalty |
# | cache | 2 · layers · t · D numbers; one token per step instead of all |
# | families | told apart by who sees whom |
# | perplexity | e to the mean of −log p, on the same words and text |
# | growth | until 2020 of the parameters, since then of the text |
# | BLEU | matched n-grams of the whole test set; only with its signature |
#
# Write both searches and the perplexity yourself in [lab 8b](../labs/08b_generating_text/08b_generating_text.ipynb). Then: images as sentences of patches, in
# [lecture 9](09_vision_transformer.ipynb).
#
# ## Further reading
#
# * A. Karpathy, [*nanoGPT*](https://github.com/karpathy/nanoGPT), and Stanford's [*CS336*](https://stanford-cs336.github.io/), assignment 1: a decoder-only model at the next size, trained and sampled.
# * A. Holtzman et al. (below): what greedy search and beams do to open text; short and well illustrated.
# * P. von Platen, [*How to generate text*](https://huggingface.co/blog/how-to-generate): the same decoders on GPT-2, with its outputs.
#
# ## References
#
# * A. Holtzman et al., *The curious case of neural text degeneration*, ICLR 2020 (top-p). A. Fan et al., *Hierarchical neural
#   story generation*, ACL 2018 (top-k).
# * Y. Wu et al., *Google's neural machine translation system*, 2016, arXiv:1609.08144, equation 14 (length penalty).
# * F. Stahlberg, B. Byrne, *On NMT search errors and model errors: cat got your tongue?*, EMNLP 2019.
# * C. Raffel et al., *Exploring the limits of transfer learning with a unified text-to-text Transformer*, JMLR 21, 2020.
# * T. Brown et al., *Language models are few-shot learners*, NeurIPS 2020 (table 2.1). J. Devlin et al., *BERT*, NAACL 2019.
#   M. Lewis et al., *BART*, ACL 2020. A. Radford et al., *Language models are unsupervised multitask learners*, 2019 (GPT-2).
# * Sizes and amounts of text: Vaswani et al., table 3; Radford et al. 2019, table 2 (GPT, GPT-2); Devlin et al.; M. Shoeybi et al., *Megatron-LM*,
#   2019, arXiv:1909.08053; Raffel et al.; Brown et al.; J. Hoffmann et al., *Training compute-optimal large language models*, NeurIPS 2022, table 1
#   (Gopher, MT-NLG, Chinchilla); A. Chowdhery et al., *PaLM*, JMLR 24, 2023; H. Touvron et al., *LLaMA*, 2023, arXiv:2302.13971, table 2, and *Llama 2*,
#   2023, arXiv:2307.09288; A. Grattafiori et al., *The Llama 3 herd of models*, 2024, arXiv:2407.21783. J. Kaplan et al., *Scaling laws for neural language models*, 2020,
#   arXiv:2001.08361.
# * A. Rives et al., *Biological structure and function emerge from scaling unsupervised learning to 250 million protein sequences*, PNAS 118, 2021.
#   J. Jumper et al., *Highly accurate protein structure prediction with AlphaFold*, Nature 596, 2021. Y. Ji et al., *DNABERT*, Bioinformatics 37, 2021.
#   A. Radford et al., *Robust speech recognition via large-scale weak supervision*, ICML 2023. B. Lim et al., *Temporal fusion transformers*,
#   International Journal of Forecasting 37, 2021. L. Chen et al., *Decision Transformer*, NeurIPS 2021. H. Zhao et al., *Point Transformer*, ICCV 2021.
#   A. Zeng et al., *Are Transformers effective for time series forecasting?*, AAAI 2023.
# * D. Elliott et al., *Multi30K: multilingual English–German image descriptions*, Workshop on Vision and Language 2016.
# * D. Bahdanau, K. Cho, Y. Bengio, *Neural machine translation by jointly learning to align and translate*, ICLR 2015. M.-T. Luong,
#   H. Pham, C. Manning, *Effective approaches to attention-based neural machine translation*, EMNLP 2015.
# * D. Elliott et al., *Findings of the second shared task on multimodal machine translation and multilingual image description*,
#   WMT 2017 (the French of Multi30k). P. Koehn, *Statistical significance tests for machine translation evaluation*, EMNLP 2004.
# * J. Cheng, L. Dong, M. Lapata, *Long short-term memory-networks for machine reading*, EMNLP 2016, figure 1.
# * S. Yao, X. Wan, *Multimodal Transformer for multimodal machine translation*, ACL 2020.
# * K. Papineni et al., *BLEU*, ACL 2002. M. Post, *A call for clarity in reporting BLEU scores*, WMT 2018.
# * R. Kneser, H. Ney, *Improved backing-off for m-gram language modeling*, ICASSP 1995.
# * A. Vaswani et al., *Attention is all you need*, NeurIPS 2017: 6.1 (beam 4, penalty 0.6).

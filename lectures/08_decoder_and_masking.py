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
# # 8 · Decoder and masking
#
# **A decoder learns to predict the next token, and never sees it.**
#
# [← 7 · BERT on AG News](07_bert_ag_news.ipynb) · [Lab
# 8](../labs/08_decoder_and_masking/08_decoder_and_masking.ipynb) · [8b · Generating text →](08b_generating_text.ipynb)
#
# In training, the decoder of a translator reads the correct translation while it learns to write it. **Why does it not copy?** Write down your guess. Section 5 shows
# one that does copy, and its loss is lower than that of the correct model.
#
# **Afterwards you can**
#
# * shift a target and mask a decoder so that no position reads the token that it has to predict, and test the mask by changing tokens;
# * write a decoder block, and put the whole Transformer together;
# * measure leakage and exposure bias;
# * calculate the smallest loss that a model can reach.
#
# **You need** [the encoder block](04_encoder_block.ipynb) and [positions](05_positional_encoding.ipynb). **Time:** about 65 minutes to read and predict (estimated, not measured); the code
# runs in about a minute on two CPU cores. Letters: **B** batch, **T** target tokens, **S** source tokens, **D** width, **H** heads, **V** vocabulary. A mask is True where a query *may* look.

# %% tags=["course-setup"]
# Colab: install the course's helper package. Anywhere else this cell says how, where it is missing.
import sys
from importlib.util import find_spec

if "google.colab" in sys.modules:
    from pathlib import Path

    if Path("coursekit.zip").exists():
        print("Installing the course's helper package …")
        # %pip install --quiet --no-deps ./coursekit.zip
    else:
        print("Upload coursekit.zip, which comes with this course, and run this cell again.")
        print("To upload it, click the folder on the left and drop the file there.")
elif find_spec("coursekit") is None:
    print("The course's helper package is missing here. With coursekit.zip, which comes with this course, beside the notebook, run in a cell:")
    print('%pip install ./coursekit.zip')

# %% tags=["setup"]
from coursekit import quiet

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook

from coursekit import date_translator, dates, diagrams, live, plots, recorded
from coursekit.date_translator import END, NAMES, START, V
from coursekit.pages.post_norm import PostNormEncoderBlock, ScaledPositions

plots.use_course_style()

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import layers, ops
from scipy.special import softmax

np.set_printoptions(precision=3, suppress=True)
T = date_translator.TARGET_LENGTH
print("running on:", "GPU" if tf.config.list_physical_devices("GPU") else "CPU")


# %% [markdown]
# <a id="teacher-forcing"></a>
#
# ## 1 · Shift the target, read it all at once
#
# A translator cannot choose among all sentences. It writes a token, reads it, and writes the next. The probability of a target $y$ for a source $x$ is a product of such steps:
#
# $$p(y \mid x) = p(y_1 \mid x) \cdot p(y_2 \mid y_1, x) \cdot p(y_3 \mid y_1, y_2, x) \cdots$$
#
# A model that predicts each token from the ones before it is **autoregressive**.
#
# Writing is slow, because token 50 needs token 49. Training need not be slow: the correct target is known. So let the decoder read it, moved one position to the right, with a
# start token in the gap:

# %%
def with_start(target):
    """What the decoder reads: the start token, then the target (N, T) without its last token."""
    return np.insert(target[:, :-1], 0, START, axis=1)  # (N, T)


training, test = date_translator.task()  # one date a line; the days of the test lines are in no training line
print("source  ", date_translator.text(test.source[0]))
print("reads   ", date_translator.text(with_start(test.target)[0]))
print("predicts", date_translator.text(test.target[0]))

# %% tags=["drawing"]
predicts = [NAMES[number] for number in test.target[0]]
reads = ["<start>", *predicts[:-1]]
figure, ax = diagrams.canvas(8.6, 2.5)
diagrams.box(ax, 4.6, 1.25, "decoder", role="query", width=7.6, height=0.5)
below = diagrams.tokens(ax, reads, 1.2, 0.45, role="key", step=0.85, fontsize=8)
above = diagrams.tokens(ax, predicts, 1.2, 2.05, role="output", step=0.85, fontsize=8)
for low, high in zip(below, above, strict=True):
    diagrams.arrow(ax, low.top, (low.x, 1.0))
    diagrams.arrow(ax, (high.x, 1.5), high.bottom)
for t in range(8):
    diagrams.arrow(ax, (above[t].x + 0.2, 1.84), (below[t + 1].x - 0.2, 0.66), role="accent", dashed=True)
diagrams.note(ax, 0.3, 0.45, "reads")
diagrams.note(ax, 0.3, 2.05, "predicts")
plots.show(
    figure,
    alt="""What a position predicts is what the next position reads. A row of nine tokens, start and eight digits, goes into the
decoder; a row of eight digits and an end token comes out. Dashed arrows lead from every token of the upper row to the lower row, one
position further right.""",
)

# %% [markdown]
# The decoder reads the *correct* previous token, not the one that it would have written itself. This is called **teacher forcing** (Williams and Zipser, 1989). One pass
# gives T predictions, and the loss compares all of them with the target.
#
# Reading the target is also a danger. Position 0 has to predict the first digit, and position 1 *reads* the first digit. Attention looks at all positions, so position 0 could fetch its answer
# from its right-hand neighbour. Such a *leak*, in which a prediction reads what it has to predict, must be closed.
#
# **Shift the target by one position, and a single pass gives a prediction at every position.**

# %% [markdown]
# <a id="look-ahead-mask"></a>
#
# ## 2 · The look-ahead mask
#
# The **look-ahead mask**, or causal mask, lets position $t$ look only at the positions 0 to $t$: a lower triangle with its diagonal. A blocked score becomes a huge negative number
# *before* the softmax, so that its weight is 0 and the others still sum to 1:
#
# $$\text{weights} = \operatorname{softmax}(\text{scores} + (1 - \text{mask}) \cdot (-10^9))$$

# %% [markdown]
# **By hand.** Position 1 has the scores $(0, \ln 3, 5)$ with the positions 0, 1 and 2. Which weights does it get without the mask, and which with it? ($e^5 \approx 148.4$)
#
# <details><summary>Answer</summary>
#
# Without the mask the exponentials are 1, 3 and 148.4, and their sum is 152.4. The weights are 0.007, 0.020 and 0.974: nearly all of the weight lies on the future. With the mask the exponentials are
# 1, 3 and 0 with the sum 4, so the weights are 1/4 = 0.25, 3/4 = 0.75 and 0.
#
# </details>

# %%
scores = np.array([[1.0, 0.5, 2.0], [0.0, np.log(3), 5.0], [0.3, 0.2, 0.1]])  # (T, T)
look_back = np.tri(3)  # (T, T): row t has ones in the columns 0 to t
print("position 1 without the mask:", softmax(scores, axis=-1)[1])
print("position 1 with the mask:   ", softmax(scores + (1 - look_back) * -1e9, axis=-1)[1])

# %% [markdown]
# Targets of one batch differ in length, and the short ones are padded. A key may be attended to if it is *not padding* **and** *not in the future*. The padding mask has the shape (B, 1, T),
# the same row for every query; the triangle has (T, T), the same for every line. Together they broadcast to (B, T, T). In Keras: `attention_mask=not_padding, use_causal_mask=True`.
#
# Switch both on and off below. The scores are random numbers.

# %% [markdown]
# **Predict.** Leave only the look-ahead mask on, and block *after* the softmax instead of before it. Which rows still sum to 1?
#
# - (a) all rows
# - (b) only the first row
# - (c) only the last row
#
# <details><summary>Answer</summary>
#
# **(c)** Nothing of the last row is blocked. Every other row has lost the weights of its blocked keys, and no later softmax brings its sum back to 1.
#
# </details>

# %%
live.masks(np.random.default_rng(3).normal(size=(5, 5)), reads[:5])


# %% [markdown]
# How do you know that a mask is correct in a model with many layers? Not by looking at weights. Change one token that the decoder reads, and look at which predictions move.
#
# **A mask hides the future if no prediction moves when a later token changes.**

# %% [markdown]
# <a id="decoder-block"></a>
#
# ## 3 · The decoder block, and the whole Transformer
#
# The encoder of lecture 4 turns the source into one vector for each token: the **memory** (B, S, D). A decoder block has three parts instead of two. Its new part is **cross-attention**: the queries come from the
# target, keys and values from the memory. The formula and the Keras layer are the same as before.
#
# | attention | queries from | keys and values from | mask | weights |
# |---|---|---|---|---|
# | in the encoder | source | source | padding of the source | (B, H, S, S) |
# | in the decoder | target | target | look-ahead, padding of the target | (B, H, T, T) |
# | cross-attention | target | **memory** | padding of the source | (B, H, T, S) |
#
# Cross-attention needs no look-ahead mask: the whole source is known before the first token is written. Each of the three parts has a residual connection with a norm after the sum, as in the paper (post-norm). The class below leaves out the padding mask of the target, because all our targets have the same length.

# %%
class PlainDecoderBlock(keras.Layer):
    """Target tokens (B, T, D) read themselves, then the memory (B, S, D); post-norm, without dropout."""

    def __init__(self, width, heads, hidden, causal=True):
        super().__init__()
        self.causal = causal
        self.read_target, self.read_source = (layers.MultiHeadAttention(heads, width // heads) for _ in range(2))
        self.widen, self.narrow = layers.Dense(hidden, activation="relu"), layers.Dense(width)
        self.norms = [layers.LayerNormalization(epsilon=1e-6) for _ in range(3)]

    def call(self, x, memory, visible):  # visible (B, 1, S): True where the source is not padding
        read = self.read_target(query=x, value=x, use_causal_mask=self.causal)  # (B, T, D)
        x = self.norms[0](x + read)
        read = self.read_source(query=x, value=memory, attention_mask=visible)  # (B, T, D)
        x = self.norms[1](x + read)
        return self.norms[2](x + self.narrow(self.widen(x)))  # (B, T, D)


# %% [markdown]
# > **If you come from PyTorch:** `nn.MultiheadAttention` takes query, key, value; Keras's layer takes query, **value**, key (second mistake below): always use keywords. In this PyTorch layer True means *blocked*, so invert boolean masks. `tgt_mask` of `nn.Transformer` does the work of `use_causal_mask=True`.
#
# The whole model: source and target share one table of embeddings, and the same table, transposed, turns the last vectors into logits (Press and Wolf, 2017). `ScaledPositions` multiplies by $\sqrt{D}$ and adds
# the sinusoids of lecture 5. The paper's model has a dropout of 0.1 behind every part and behind the sum of embeddings and positions; ours has none, and lab 8 adds it.

# %%
def plain_transformer(vocabulary, width=48, heads=4, hidden=96, blocks=2, causal=True):
    """The model (source (B, S), what the decoder reads (B, T)) -> logits (B, T, V), with one table for everything."""
    source, reads = keras.Input((None,), dtype="int32"), keras.Input((None,), dtype="int32")
    small = keras.initializers.RandomNormal(stddev=width**-0.5)
    table = layers.ReversibleEmbedding(vocabulary, width, embeddings_initializer=small, reverse_dtype="float32")
    visible = layers.Lambda(lambda ids: ops.not_equal(ids, 0)[:, None, :])(source)  # (B, 1, S)
    memory, x = ScaledPositions()(table(source)), ScaledPositions()(table(reads))  # (B, S, D), (B, T, D)
    for _ in range(blocks):
        memory = PostNormEncoderBlock(width, heads, hidden)(memory, visible)
    for _ in range(blocks):
        x = PlainDecoderBlock(width, heads, hidden, causal)(x, memory, visible)
    return keras.Model([source, reads], table(x, reverse=True))


# %% tags=["drawing"]
def stack(ax, x, y, parts, offset):
    """Draw sub-layers upwards from (x, y), each with its sum and norm; returns the boxes by name."""
    boxes, below = {}, (x, y)
    for name, role in parts:
        part = diagrams.box(ax, x, y + 0.62, name, role=role, width=2.3, height=0.42)
        norm = diagrams.box(ax, x, y + 1.28, "add & norm", role="mask", width=2.3, height=0.34, fontsize=9)
        diagrams.arrow(ax, below, part)
        diagrams.arrow(ax, part, norm)
        side = (x + offset, y + 0.2), (x + offset, y + 1.28), (x + np.sign(offset) * 1.15, y + 1.28)
        diagrams.arrow(ax, (x, y + 0.2), *side, role="residual", width=2)
        boxes[name], boxes["norm of " + name], below, y = part, norm, norm, y + 1.45
    return boxes


# %% tags=["drawing"]
figure, ax = diagrams.canvas(9.6, 8.7)
source_in = diagrams.box(ax, 2.2, 0.4, "source", role="key", detail="(B, S)", width=1.5)
target_in = diagrams.box(ax, 7.0, 0.4, "target, shifted right", role="query", detail="(B, T)", width=2.2)
table = diagrams.box(ax, 4.6, 1.3, "one table (V, D)", role="accent", width=1.7, height=0.45)
for x, side, below in ((2.2, -1.45, source_in), (7.0, 1.45, target_in)):
    looked_up = diagrams.box(ax, x, 1.3, r"look up, times $\sqrt{D}$", role="accent", width=1.7, height=0.45, fontsize=9)
    added = diagrams.operator(ax, x, 2.1)
    waves = diagrams.box(ax, x + side, 2.1, "positions", width=1.1, height=0.36, fontsize=9)
    for arrow in ((below, looked_up), (table, looked_up), (looked_up, added), (waves, added)):
        diagrams.arrow(ax, *arrow)
left = stack(ax, 2.2, 2.55, [("self-attention", "query"), ("feed-forward", "neutral")], offset=-1.5)
parts = [("causal self-attention", "query"), ("cross-attention", "value"), ("feed-forward", "neutral")]
right = stack(ax, 7.0, 2.55, parts, offset=1.5)
for boxes, first in ((left, "self-attention"), (right, "causal self-attention")):
    diagrams.arrow(ax, (boxes[first].x, 2.27), (boxes[first].x, 2.6))
    diagrams.group(ax, [boxes[first], boxes["norm of feed-forward"]], "× N", pad=0.42)
path = left["norm of feed-forward"].top, (2.2, 6.33), (4.6, 6.33), (4.6, 4.62), right["cross-attention"].left
diagrams.arrow(ax, *path, role="value", width=2)
diagrams.note(ax, 3.35, 6.5, "memory (B, S, D): keys and values")
logits = diagrams.box(ax, 7.0, 8.23, "logits", role="output", detail="(B, T, V)", width=1.5)
diagrams.arrow(ax, right["norm of feed-forward"], logits)
diagrams.arrow(ax, (5.1, 1.53), (5.1, 8.23), logits, role="accent", dashed=True)
diagrams.note(ax, 5.0, 7.9, "the same table, transposed", ha="right")
plots.show(figure, alt="""The memory is the only thing that goes from the encoder to the decoder. Left the encoder: source, embedding plus positions, N blocks of self-attention and
feed-forward, each followed by add and norm. Its output, the memory, leads as keys and values into the cross-attention of the
decoder on the right: shifted target, embedding plus positions, N blocks of causal self-attention, cross-attention and
feed-forward. On top are the logits (B, T, V), computed with the embedding table, transposed.""")  # fmt: skip


# %% [markdown]
# Now the test of section 2, for the whole model, before any training. 

# %%
def influence(model, source, reads):
    """How far each prediction (row) moves when one token that is read (column) changes: (T, T)."""
    moved, before = np.zeros((T, T)), model([source, reads])  # (B, T, V)
    for s in range(T):
        changed = reads.copy()
        changed[:, s] = END  # a token that stands nowhere else in what is read
        moved[:, s] = np.abs(model([source, changed]) - before).max(axis=(0, 2))
    return moved


maps = {}
for causal in (True, False):
    keras.utils.set_random_seed(8)
    untrained = plain_transformer(V, causal=causal)
    maps[causal] = influence(untrained, test.source[:20], with_start(test.target[:20]))
    print(f"causal={causal!s:5}: largest influence of a later token {np.triu(maps[causal], k=1).max():.4f}")

# %% tags=["drawing"]
figure, panels = plt.subplots(1, 2, figsize=(7.8, 3.5))
for ax, (causal, moved) in zip(panels, maps.items(), strict=True):
    plots.matrix_map(moved / moved.max(), limits=(0, 1), values=False, title=f"causal={causal}", ax=ax)
    ax.set(xlabel="token that is changed", xticks=range(T), yticks=range(T))
panels[0].set_ylabel("prediction that moves")
plots.show(
    figure,
    alt="""With the mask no prediction moves when a later token changes. Two 9 by 9 maps of how far each prediction moves when one token
that is read changes. With the mask only the lower triangle with its diagonal is filled. Without the mask every cell is filled.""",
)

# %% [markdown]
# The left map is a triangle: with the mask, only the tokens up to a position influence its prediction. The right map is full: without the mask, position 0 can read its own answer at position 1.
#
# **A decoder block is an encoder block with two changes: it reads only its own past, and it reads the memory.**

# %% [markdown]
# <a id="training"></a>
#
# ## 4 · Train it, and type a date
#
# A date in one of six formats becomes eight digits: *27.3.1994* becomes 19940327. We train with Adam, the paper's label smoothing (section 7) and a short warm-up. 

# %%
EPOCHS = 5
keras.utils.set_random_seed(8)
model = plain_transformer(V)
history = date_translator.train(model, training.source, with_start(training.target), training.target, EPOCHS)
print("parameters:", f"{model.count_params():,}", "  loss by epoch:", np.array(history["loss"]))


# %% [markdown]
# To write, begin with the start token. Take the most probable token, put it into the prefix, and go on: **greedy** decoding. The array `written` has its full length from the start; the look-ahead mask hides what is not yet written.

# %%
def write_greedily(model, source, start, length):
    """Write `length` tokens for each source (N, S), the most probable one each time: ids (N, length)."""
    predict = tf.function(lambda *inputs: model(inputs, training=False))
    written = np.full((len(source), length + 1), start, "int32")  # the start token, then positions to fill
    for t in range(length):
        logits = predict(tf.constant(source), tf.constant(written[:, :-1]))  # (N, T, V)
        written[:, t + 1] = np.argmax(logits[:, t], axis=-1)  # (N,)
    return written[:, 1:]


written = write_greedily(model, test.source, START, T)  # (N, T)
correct = (written == test.target).all(axis=1)  # (N,)
print(f"unseen days written without a mistake: {correct.mean():.1%} of {len(correct):,}")

MY_DATES = ["27.3.1994", "march 27 1994", "friday 13 may 2044", "27th of march, 94"]  # type your own
ids = dates.encode([[word for word in dates.tokenize(date) if word in dates.IDS] for date in MY_DATES], 10)
for date, line in zip(MY_DATES, write_greedily(model, ids, START, T), strict=True):
    print(f"{date:20} -> {date_translator.text(line)}")

# %% [markdown]
# The last date is in none of the six formats, and the model gets it wrong. *Unseen* means unseen days here, not unseen formats.
#
# **Real sentences.** A larger Transformer (pre-norm, with dropout) with three blocks and 1.7 million parameters learned English to German from the 29,000 captions of Multi30k (recorded; Elliott et al., 2016). On 1,000 unseen captions it reaches 35.2 to 36.0 BLEU with three seeds
# ([evidence](evidence/08.ipynb#captions); what BLEU is stands [there](evidence/08.ipynb#bleu), too). Of five recorded translations, this one has two colours, *brauner* (brown) and *lilafarbenen* (purple); German gives each the ending that its noun needs.

# %%
for seed, run in recorded.load("multi30k")["results"]["seeds"].items():
    example = next(line for line in run["examples"] if "brown" in line["english"])
    if seed == "1":
        print("English      ", example["english"], "\nhuman        ", example["german"])
    print(f"model, seed {seed}", example["greedy"])

# %% [markdown]
# The German says, word for word, *a brown dog with a purple Frisbee in the mouth*. Both colours reach their nouns, with each seed. Two words differ from the human translation: *einer* for *einem* (both mean *a*), and *Maul*, the mouth of an animal.
#
# **Training takes one pass for all positions; writing takes one pass for each token.**

# %% [markdown]
# <a id="leak"></a>
#
# ## 5 · The leak
#
# Train the same model again, from the same start, on the same lines, at the same learning rates. One thing is changed: `causal=False` (recorded, three seeds).

# %% [markdown]
# **Predict.** How does the training loss fall without the mask?
#
# - (a) more slowly: the task has become harder
# - (b) equally fast
# - (c) faster
#
# And what does the model write?
#
# <details><summary>Answer</summary>
#
# **(c)** Most answers stand one position to the right, ready to be copied. When the model writes, only start tokens stand there, and it gets no date correct. What it writes instead differs from seed to seed.
#
# </details>

# %%
leaks = recorded.load("decoder_leak")["results"]  # by experiments/decoder_leak.py
print(f"3,701 unseen dates without a mistake, seeds {', '.join(leaks)}:   reads the target      writes alone")
for trained in ("mask", "no mask"):
    for used in ("mask on", "mask off"):
        cells = [run[trained][used] for run in leaks.values()]
        shares = ["".join(f"{cell[how]:8.1%}" for cell in cells) for how in ("reading", "alone")]
        print(f"trained with {trained:8} used with {used:9}   {shares[0]}   {shares[1]}")
for used in ("mask on", "mask off"):
    lines = [run["no mask"][used]["first line written"] for run in leaks.values()]
    print(f"trained without mask, {used:8} writes:", *dict.fromkeys(lines), sep="\n    ")

# %% [markdown]
# The first row is the correct model. (The two columns agree: as long as each digit is correct, the model reads the same prefix.) In the second row the same weights run without their mask and write 0 to 15 % of the dates correctly, so the mask is a part of the model. The fourth row is the leak:
# perfect on unseen days while it reads the target, and not one date correct on its own, with each of three seeds. In the third row the mask is added to the leaky weights afterwards. That does not help: no date is correct, even while the model reads the target.
#
# What does the leaky model copy? Put a *false* digit one position to the right, where its answer stands, and count how often the model predicts it (1,000 unseen dates; [evidence](evidence/08.ipynb#leak)).

# %% tags=["drawing"]
FIELDS = ["Y1", "Y2", "Y3", "Y4", "M1", "M2", "D1", "D2"]
figure, (left_ax, right_ax) = plt.subplots(1, 2, figsize=(9.6, 3.3))
for line, name in enumerate(("mask", "no mask")):
    losses = np.array([run[name]["losses"] for run in leaks.values()])  # (seeds, epochs)
    plots.measured_curve(range(1, losses.shape[1] + 1), losses, label=name, line=line, ax=left_ax)
    copies = np.array([run[name]["copied"] for run in leaks.values()])  # (seeds, 8)
    plots.measured_curve(range(8), copies, label=name, line=line, ax=right_ax)
left_ax.set(xlabel="epoch", ylabel="training loss", ylim=(0, None), xticks=range(1, EPOCHS + 1))
right_ax.set(xlabel="digit", ylabel="false digit predicted", ylim=(-0.03, 1.03), xticks=range(8), xticklabels=FIELDS)
left_ax.legend()
plots.show(
    figure,
    alt="""Without the mask the loss falls faster, and from the third digit on the model copies. Left, training loss by epoch: without the mask it is lower from the second epoch on and both end near the same floor. Right, how often the model predicts a false digit that stands one
position to the right: with the mask almost never; without it rarely for the first digit, for some dates at the second, for nearly all from the third on. Lines are medians of three seeds, bands their range.""",
)

# %% tags=["drawing"]
for seed, run in leaks.items():
    shares = " ".join(f"{name} {share:6.1%}" for name, share in zip(FIELDS, run["no mask"]["copied"], strict=True))
    print(f"seed {seed}: {shares}")


# %% [markdown]
# Without the mask the model copies the first digit in 7 to 17 % of the dates, the second in 18 to 53 %, and each later one in 91 to 100 % (the range of three seeds). The base rate comes from the model with the mask: it cannot see the false digit, and predicts it in at most 0.4 %.  A loss that reaches its floor too early can make you suspicious, but it cannot show the copying. Two tests do: let it write, or change a later token (section 3).
#
# **A model that leaks can be perfect while it reads the target, and wrong when it writes.**

# %% [markdown]
# <a id="exposure-bias"></a>
#
# ## 6 · Exposure bias
#
# Teacher forcing has a price. In training the model reads only correct prefixes; when it writes, it reads its own prefixes, mistakes included. This difference is called **exposure bias** (Ranzato et al., 2016). How much can one mistake cost? Put a false digit into the prefix. Everything else is correct, and the source still says what to write.

# %% [markdown]
# **Predict.** The model with the mask writes nearly every unseen date correctly. After *one* false digit in its prefix, how often is the next digit correct?
#
# - (a) nearly always: the source says what to write
# - (b) about half the time
# - (c) one time in ten: it guesses
#
# <details><summary>Answer</summary>
#
# **(b)** In 43 to 45 % of the cases (three seeds); after a correct prefix in more than 99 %. The share depends on the digit: in the left map below, the next digit of the same year, month or day suffers most.
#
# </details>

# %% [markdown]
# Is training on correct prefixes the cause? The control replaces a tenth of the digits that the decoder *reads*, and changes nothing else:

# %%
def corrupted(reads, share, rng):
    """A copy of (N, T) in which this share of the digits, drawn at random, is replaced by other digits."""
    hit = rng.random(reads.shape) < share
    hit[:, 0] = False  # the start token stays
    return np.where(hit, date_translator.false_digits(reads, rng), reads)


clean = with_start(training.target)[:3]
for line, changed in zip(clean, corrupted(clean, 0.1, np.random.default_rng(3)), strict=True):
    print(f"correct: {date_translator.text(line)}   read: {date_translator.text(changed)}")

# %% tags=["drawing"]
figure, panels = plt.subplots(1, 2, figsize=(10.4, 3.9))
ahead = np.arange(T)[None, :] > np.arange(8)[:, None]  # (8, T): predictions that can read the false digit
after = {}
for ax, name in zip(panels, ("mask", "mask, corrupted prefixes"), strict=True):
    hurt = np.mean([run[name]["after a false digit"] for run in leaks.values()], axis=0)  # (8, T)
    after[name] = [np.mean([run[name]["after a false digit"][t][t + 1] for t in range(7)]) for run in leaks.values()]
    shown = np.where(ahead, hurt, np.nan)
    title = "trained on correct prefixes" if name == "mask" else "trained with a tenth of false digits"
    plots.matrix_map(shown, rows=FIELDS, columns=[*FIELDS, "end"], mask=ahead, limits=(0, 1), title=title, ax=ax)
    for number in ax.texts:
        number.set_text(number.get_text().replace("nan", ""))
    ax.set(xlabel="token predicted", ylabel="false digit in the prefix" if ax is panels[0] else "")
plots.show(
    figure,
    alt="""A tenth of false digits in training repairs nearly everything. Two maps of the share of correct predictions after one false digit in 1,000 unseen dates; rows: where the false digit stands, columns: the token predicted. Means of three seeds. Trained on correct prefixes, the cells
next to the diagonal are far below 1 inside the year, the month and the day, and higher where the next field begins. Trained with false digits, all cells are near 1.""",
)

# %%
for name, shares in after.items():
    alone = [run[name]["mask on"]["alone"] for run in leaks.values()]
    base = [np.mean(run[name]["after a false digit"][7][1:8]) for run in leaks.values()]  # before the false digit
    print(f"{name:25} correct just after a false digit: {', '.join(f'{share:.1%}' for share in shares)}", end="")
    print(f"   after correct ones: {', '.join(f'{share:.1%}' for share in base)}", end="")
    print(f"   whole dates written alone: {', '.join(f'{share:.2%}' for share in alone)}")

# %% [markdown]
# The correct prefixes are the cause: with false digits in training, 99 % of the next digits are correct with each of three seeds. Whole dates, written after its *own* prefixes, gain only 0.2 to 1.7 points: this model seldom makes a mistake that it could then read. In longer text a first mistake is more likely; how much it costs there is disputed (He et al., 2021).
#
# **A model learns to continue after mistakes if its training contains mistakes.**

# %% [markdown]
# <a id="loss-floor"></a>
#
# ## 7 · What the loss measures: six words
#
# *The cat sat on the …* Suppose that a hundred people continue: their answers are a distribution $p$ over six words. A model predicts $q$. Its loss is the **cross-entropy** $H(p, q) = -\sum p \log q$. Its smallest value, at $q = p$, is
# the entropy of $p$, not 0. What lies above this floor is the Kullback–Leibler divergence: $\text{KL}(p \,\|\, q) = H(p, q) - H(p)$.

# %%
people = np.array([0.55, 0.20, 0.15, 0.07, 0.03, 0.0])  # mat, sofa, floor, roof, moon, idea
def loss_of(logits):
    return -(people * np.log(softmax(logits))).sum()


guess = np.zeros(6)  # the logits of an untrained model
for step in range(301):
    if step in (0, 30, 300):
        print(f"step {step:3}: loss {loss_of(guess):.3f}, predicts", softmax(guess))
    guess -= 0.3 * (softmax(guess) - people)  # the gradient of the cross-entropy with respect to the logits is q − p
print("entropy of the people:", -(people[:5] * np.log(people[:5])).sum().round(3))

# %% [markdown]
# A line of a translator's text has a one-hot target. Where each source has one correct target, as our dates have, the floor is 0, and the loss comes ever closer to 0 while the correct logit grows. A sentence with several good translations is like the hundred people: its floor is the entropy of what follows the *same source and prefix*.
#
# **Label smoothing** (Szegedy et al., 2016; ε = 0.1 in the paper) takes away the reward for growing certainty. It takes ε of the probability and
# spreads it over all V words: the correct one gets $1 - \varepsilon + \varepsilon/V$, every other $\varepsilon/V$. For our dates the floor is now the entropy of this target.

# %% [markdown]
# **By hand.** What is the smallest loss for ε = 0.1 and V = 35? (ln 0.90286 = −0.1022; ln 0.002857 = −5.858)
#
# <details><summary>Answer</summary>
#
# The correct word gets 0.9 + 0.1/35 = 0.90286, each of the 34 others 0.1/35 = 0.002857. The entropy is 0.90286 · 0.1022 + 34 · 0.002857 · 5.858 = 0.661.
#
# </details>

# %%
share, rest = 0.9 + 0.1 / V, 0.1 / V
floor = -share * np.log(share) - (V - 1) * rest * np.log(rest)
print(f"floor {floor:.3f}; loss of the last epoch {history['loss'][-1]:.3f} on this page")
for name in ("mask", "no mask"):
    print(f"recorded, {name:7}:", ", ".join(f"{run[name]['losses'][-1]:.3f}" for run in leaks.values()))

# %% tags=["drawing"]
figure, ax = plt.subplots(figsize=(6.5, 3.1))
gaps = np.linspace(0, 12, 121)  # by how much the correct logit exceeds the others
for line, epsilon in enumerate((0.0, 0.1)):
    log_sum = np.log(np.exp(gaps) + V - 1)  # of the exponentials of all logits
    losses = log_sum - (1 - epsilon + epsilon / V) * gaps
    ax.plot(gaps, losses, label=f"ε = {epsilon}", markevery=10, **plots.LINES[line])
ax.axhline(floor, color=diagrams.PALETTE["accent"], linewidth=1)
ax.text(0.1, floor + 0.06, f"floor {floor:.3f}", fontsize=9)
ax.set(xlabel="correct logit minus the others", ylabel="loss", ylim=(0, 4))
ax.legend()
plots.show(
    figure,
    alt="""With label smoothing too much certainty costs. Loss against the gap between the correct logit and the others. Without smoothing it falls towards 0;
with smoothing 0.1 it has its minimum, the floor of 0.661, near a gap of 5.8, and rises again.""",
)

# %% [markdown]
# All trainings end near the floor: with the mask 0.009 to 0.017 above it, the leaky ones 0.001. A loss near its floor says that a model has almost nothing left to learn from *this* task. It does not say that this is the task you meant.
#
# **The smallest possible loss is the entropy of the target, given what the model reads: it is 0 only if that makes the target certain.**

# %% [markdown]
# ## Two mistakes
#
# **The target is not shifted.** Then each position reads the very token it has to predict, and the look-ahead mask lets it: the diagonal is open. A "model" without any attention is enough to copy it.

# %%
for shifted in (True, False):
    keras.utils.set_random_seed(0)
    copier = keras.Sequential([layers.Embedding(V, 32), layers.Dense(V)])
    copier.compile(keras.optimizers.Adam(0.03), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    reads = with_start(training.target) if shifted else training.target
    loss = copier.fit(reads, training.target, batch_size=512, epochs=2, verbose=0).history["loss"][-1]
    print(f"shifted: {shifted!s:5}   loss without any attention: {loss:.3f}")

# %% [markdown]
# **Keys and values are swapped.** PyTorch's order, passed by position to Keras: no error, the same shapes, other numbers.

# %%
cross = layers.MultiHeadAttention(num_heads=2, key_dim=4)
query, key, value = (keras.random.normal((1, length, 8), seed=length) for length in (3, 5, 5))
value = value + 1.0
meant = cross(query=query, key=key, value=value)  # (B, T, D)
by_position = cross(query, key, value)  # Keras reads this as query, value, key
print("shapes", meant.shape, by_position.shape, "  equal:", np.allclose(meant, by_position))

# %% [markdown]
# ## Four questions
#
# <details><summary>1. The target is “1 9 9 4 &lt;end&gt;”. What does the decoder read, and what does it predict at position 0 and at position 4?</summary>
#
# It reads “&lt;start&gt; 1 9 9 4”. At position 0 it predicts 1, at position 4 the end token.
#
# </details>
#
# <details><summary>2. B = 2, H = 4, T = 7, S = 11. Which shapes do the weights of the three attentions have?</summary>
#
# In the encoder (2, 4, 11, 11), in the decoder (2, 4, 7, 7), in the cross-attention (2, 4, 7, 11).
#
# </details>
#
# <details><summary>3. “The look-ahead mask is only needed in training.” What is wrong?</summary>
#
# The mask is part of the model. In section 5 (second row) good weights that are used without it write few dates correctly, or none.
#
# </details>
#
# <details><summary>4. A validation loss is at its floor after one epoch. What do you test first?</summary>
#
# Leakage: change a token that is read, and see whether an earlier prediction moves. Then let the model write.
#
# </details>
#
# ## Summary
#
# | piece | shape | remember |
# |---|---|---|
# | shift | (B, T) | reads start, y₁, y₂, …; predicts y₁, y₂, …, end |
# | look-ahead mask | (T, T) | the diagonal is open; test it by changing a later token |
# | padding mask | (B, 1, S) | one row for all queries; in the target a key must be open in both masks |
# | cross-attention | weights (B, H, T, S) | queries from the target, keys and values from the memory |
# | logits | (B, T, V) | softmax over the vocabulary |
# | loss | scalar | its floor is the entropy of the target, given what is read |
#
# Build the masks, the block and the Transformer in [lab 8](../labs/08_decoder_and_masking/08_decoder_and_masking.ipynb), then let it write in [8b · Generating text](08b_generating_text.ipynb). The paper's learning rate, the parameters of its base model,
# divergences and untracked variables are in the [evidence](evidence/08.ipynb).
#
# **A decoder learns to predict the next token, and never sees it.**
#
# ## References
#
# * A. Vaswani et al., *Attention is all you need*, NeurIPS 2017: 3.1 (decoder), 3.2.3 (three attentions), 3.4 (shared embeddings), 5.3 (schedule), 5.4 (dropout, label smoothing).
# * R. J. Williams, D. Zipser, *A learning algorithm for continually running fully recurrent neural networks*, Neural Computation 1, 1989 (teacher forcing).
# * M. Ranzato et al., *Sequence level training with recurrent neural networks*, ICLR 2016 (exposure bias). S. Bengio et al., *Scheduled sampling*, NeurIPS 2015. T. He et al., *Exposure bias versus self-recovery*, EMNLP 2021.
# * O. Press, L. Wolf, *Using the output embedding to improve language models*, EACL 2017.
# * C. Szegedy et al., *Rethinking the Inception architecture for computer vision*, CVPR 2016 (label smoothing).
# * D. Elliott et al., *Multi30K: multilingual English-German image descriptions*, Workshop on Vision and Language 2016.
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# **Symptoms.** Loss near its floor suspiciously early, output nonsense: a leak (section 3's test). First token always wrong: the start token differs from the one in training. Loss far above 0, output correct: its floor (section 7).
#
# **Slow machine:** `EPOCHS = 3` (some dates stay wrong). **GPU:** the cells run unchanged.
#
# **More.** A. Rush et al., [*The Annotated Transformer*](https://nlp.seas.harvard.edu/annotated-transformer/), in PyTorch. TensorFlow, [*Neural machine translation with a Transformer and Keras*](https://www.tensorflow.org/text/tutorials/transformer). J. Alammar, [*The Illustrated Transformer*](https://jalammar.github.io/illustrated-transformer/).
#
# </details>

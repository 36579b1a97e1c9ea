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
# *A model that writes one token after the other, and that must not see the token that it has to guess.*
#
# [← 7 · BERT on AG News](07_bert_ag_news.ipynb) · [Lab
# 8](../labs/08_decoder_and_masking/08_decoder_and_masking.ipynb) · [8b · Generating text
# →](08b_generating_text.ipynb)
#
# **Afterwards you can**
#
# * say what autoregression is, and mask a decoder so that no place of a sentence can read the token that it has to predict;
# * show what happens without the mask: the training loss falls, and what is written is nonsense;
# * build, train and count the whole Transformer, with one embedding for source, target and output;
# * read a loss: cross-entropy, its floor, what label smoothing does to it;
# * count the base model of 2017, and find weights that are never trained.
#
# The second part, [8b · Generating text](08b_generating_text.ipynb), is about what is done with such a model: greedy decoding,
# sampling, beam search, the key–value cache, models that are only a decoder, and translation with BLEU.
#
# **You need** [the encoder block](04_encoder_block.ipynb), [positions](05_positional_encoding.ipynb), padding and its
# mask ([lecture 6](06_imdb_classifier.ipynb)). **Time:** about 88 minutes to read and predict; the code runs in about
# two minutes on two CPU cores.
#
# Answer each **Predict** before you run the cell below it. Letters: **B** batch, **T** target tokens (they ask), **S**
# source tokens (they are asked), **D** width of a token, **H** heads, **F** width inside the feed-forward network, **V**
# words in the vocabulary. A mask says True for *may attend*.

# %% tags=["course-setup"]
# Colab: install the course's helper package. Anywhere else this cell does nothing.
import sys

if "google.colab" in sys.modules:
    print("This notebook was not told where Colab finds the course's helper package: ask whoever gave it to you.")

# %%
from coursekit import dates, diagrams, live, plots, quiet, recorded

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook
plots.use_course_style()

import time
import warnings
from collections import Counter

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import layers, ops
from scipy.special import rel_entr, softmax, xlogy

np.set_printoptions(precision=3, suppress=True)
print("running on:", "GPU" if tf.config.list_physical_devices("GPU") else "CPU")

# %% [markdown]
# ## 1 · One token after the other
#
# A translation model does not choose among whole sentences: there are too many. It writes a token, reads it, and writes the next. The probability of a sentence y for a source x is then a product of small steps:
#
# $$p(y \mid x) = p(y_1 \mid x) \cdot p(y_2 \mid y_1, x) \cdot p(y_3 \mid y_1, y_2, x) \cdots$$
#
# That is no approximation: it is the chain rule of probability. **Autoregressive** means: each factor is
# computed from what was written before. The model is one function, (source, prefix) → distribution over the next token,
# used again and again.
#
# **Calculate.** A model gives the right next token the probabilities 0.9, 0.8 and 0.5. What is the probability of the
# sentence, its log-probability, and the mean of −log p per token?
#
# <details><summary>Answer</summary>
#
# 0.9 · 0.8 · 0.5 = 0.36. The logarithms add up: −0.105 − 0.223 − 0.693 = −1.022. The mean of −log p is 0.341: that is
# the **cross-entropy** per token, the number that training prints as the loss. e^0.341 = 1.41 is the **perplexity**:
# the model is as uncertain as between 1.41 equally likely tokens.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
steps = np.array([0.9, 0.8, 0.5])  # (T,)
loss = -np.log(steps).mean()
print(f"p = {steps.prod():.2f}, log p = {np.log(steps).sum():.3f}, loss {loss:.3f}, perplexity {np.exp(loss):.2f}")

# %% [markdown]
# **Predict.** A model picks the right token 99 times out of 100. What share of its sentences of 10 tokens is free of mistakes, and what
# share of its sentences of 100 tokens?
#
# <details><summary>Answer</summary>
#
# 0.99¹⁰ = 90 % and 0.99¹⁰⁰ = 37 %, if mistakes are independent. Section 10 shows that they are not.
#
# </details>
#
# Writing is slow: token 50 needs token 49. *Training* need not be slow: the right sentence is known, so all T predictions can be made at
# once, in one pass over the target. The next three sections show how. It needs a mask.
#
# ## 2 · The look-ahead mask
#
# Feed the decoder the target `<start> 1 9 9 4` and ask for the next token at every place at once. Without a mask,
# self-attention lets place 0 read the very token it has to guess. The **look-ahead mask** (or **causal mask**) opens
# to place t only the places 0 to t: a lower triangle with its diagonal.
#
# Blocked scores are set to a huge negative number *before* the softmax, so that their weight is 0 and the others
# still sum to 1.
#
# **By hand.** Place 1 has the scores (0, ln 3, 5) for the places 0, 1 and 2. Which weights does it get without the mask, and
# which with it?
#
# <details><summary>Answer</summary>
#
# Without the mask the exponentials are (1, 3, 148.4) with sum 152.4, and the weights are (0.007, 0.020, 0.974): nearly everything comes from the
# future. With the mask they are (1, 3, 0) with sum 4, and the weights are (0.25, 0.75, 0).
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
scores = np.array([[1.0, 0.5, 2.0], [0.0, np.log(3), 5.0], [0.3, 0.2, 0.1]])  # (T, T)
look_back = np.tri(3, dtype=bool)  # (T, T): row t, column s, True where s is not after t
print(look_back.astype(int))
print("place 1 without the mask:", softmax(scores, axis=-1)[1])
print("place 1 with the mask:   ", softmax(np.where(look_back, scores, -1e9), axis=-1)[1])

# %%
words = ["<start>", "1", "9", "9", "4"]
scores = np.random.default_rng(3).normal(size=(5, 5))  # (T, T)
look_back = np.tri(5, dtype=bool)  # (T, T)
figure, panels = plt.subplots(1, 3, figsize=(10.2, 3.3))
plots.matrix_map(scores, rows=words, columns=words, digits=1, title="scores", limits=(-3, 3), ax=panels[0])
plots.matrix_map(
    np.where(look_back, scores, -3), rows=words, columns=words, digits=1, limits=(-3, 3), mask=look_back,
    title="look-ahead mask: hatched is blocked", values=False, ax=panels[1],
)  # fmt: skip
weights = softmax(np.where(look_back, scores, -1e9), axis=-1)  # (T, T)
plots.attention_map(weights, words, words, mask=look_back, title="weights: every row sums to 1", ax=panels[2])
panels[2].set(xlabel="", ylabel="")
plots.show(
    figure,
    alt="""Three 5 by 5 maps for the tokens start, 1, 9, 9, 4. Scores everywhere; the same with the upper triangle
hatched; weights that are 0 above the diagonal. The first row has the single weight 1 on itself.""",
)

# %% [markdown]
# In the first row `<start>` can attend only to itself, with weight 1. In the last row all places are open.
#
# Keras builds this triangle itself: `attention(query=x, value=x, use_causal_mask=True)`. We check it without looking
# at weights: push one input token a little, and see which outputs move.
#
# **Predict.** Draw the two pictures, row = output token, column = input token that was pushed: without and with
# `use_causal_mask`.

# %%
keras.utils.set_random_seed(1)
attend = layers.MultiHeadAttention(num_heads=2, key_dim=8)
x = keras.random.normal((1, 7, 16))  # (B, T, D)


def influence(function, x):
    """How far output token t (row) moves when input token s (column) is pushed: (T, S), largest entry 1."""
    length = x.shape[1]
    copies = np.repeat(x, length + 1, axis=0)  # (S + 1, S, D): in copy s token s is pushed, the last copy stays
    copies[range(length), range(length)] += np.random.default_rng(0).normal(size=x.shape[-1])
    outputs = np.asarray(function(copies))  # (S + 1, T, D)
    moved = np.linalg.norm(outputs[:-1] - outputs[-1], axis=-1).T  # (T, S)
    return moved / moved.max()


figure, panels = plt.subplots(1, 2, figsize=(7.4, 3.2))
for ax, causal in zip(panels, (False, True), strict=True):
    seen = influence(lambda x, causal=causal: attend(query=x, value=x, use_causal_mask=causal), x)
    plots.matrix_map(seen, limits=(0, 1), values=False, title=f"use_causal_mask={causal}", ax=ax)
    ax.set(xlabel="input token pushed", ylabel="output token that moves", xticks=range(7), yticks=range(7))
plots.show(
    figure,
    alt="""Two 7 by 7 maps of how much each output token depends on each input token. Without the causal mask every
cell is filled; with it only the lower triangle with the diagonal.""",
)
print("largest influence from the future, with the mask:", np.triu(seen, k=1).max().round(6))

# %% [markdown]
# No output depends on any later input, so the T predictions of one pass are the same T predictions
# that a writer would make one after the other. That is why a single pass can train them all.
#
# ## 3 · Padding, and two masks at once
#
# Lines of a batch differ in length, so the short ones are padded, and padding must not be attended to
# ([lecture 6](06_imdb_classifier.ipynb)). A decoder needs both: a key is open when it is *not padding* **and** *not in
# the future*. The padding mask has shape (B, 1, S): the same row for every query. The triangle has shape (T, T): the
# same for every sentence. Their "and" broadcasts to (B, T, S).

# %%
ids = np.array([[1, 6, 14, 14, 9], [1, 7, 5, 0, 0]])  # (B, T): the second line has two places of padding
not_padding = ids[:, None, :] > 0  # (B, 1, S)
both = not_padding & look_back  # (B, T, S)
print("shapes:", not_padding.shape, "and", look_back.shape, "->", both.shape)

figure, panels = plt.subplots(1, 3, figsize=(9.6, 3.2))
titles = ("not in the future (T, T)", "not padding (B, 1, S), line 2", "both (B, T, S), line 2")
for ax, mask, title in zip(panels, (look_back, np.tile(not_padding[1], (5, 1)), both[1]), titles, strict=True):
    plots.matrix_map(mask, mask=mask, limits=(0, 1), values=False, title=title, ax=ax, cmap="Greens")
    ax.set(xlabel="key", ylabel="query", xticks=range(5), yticks=range(5))
plots.show(
    figure,
    alt="""Three masks of 5 by 5. The lower triangle; the first three columns; their intersection, a triangle cut off
after the third column. Blocked cells are hatched.""",
)

# %% [markdown]
# In Keras you pass the padding mask and switch the triangle on: `attention_mask=not_padding, use_causal_mask=True` combines the two.
#
# **Predict.** Is there a row in which *every* key is blocked? And if the padding stood in front, as Keras's
# `pad_sequences` does by default?
#
# <details><summary>Answer</summary>
#
# Not with padding at the end: key 0 is real and open to all. With padding in front, the first rows are padding that sees
# only padding: every key is blocked, and the softmax of "all minus infinity" is NaN. Keras uses a large finite number
# instead, and sets the weights of blocked places to 0 afterwards. So a row without any open key is finite: all its weights are 0, and
# it sums to 0 instead of 1. Nobody reads those rows, but a NaN in them would spoil the whole gradient.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
front = np.array([[0, 0, 1, 7, 5]])  # (B, T), padding in front
y, weights = attend(
    query=x[:, :5], value=x[:, :5], attention_mask=front[:, None, :] > 0, use_causal_mask=True,
    return_attention_scores=True,
)  # fmt: skip
print("row 2, first real token:", np.asarray(weights)[0, 0, 2], " all rows finite:", bool(np.isfinite(y).all()))
with np.errstate(invalid="ignore"):
    print("row 0 with -inf scores: ", softmax(np.full(5, -np.inf)))

# %% [markdown]
# ### Switch the masks yourself
#
# The five scores of section 2, with two places of padding where you put them.
#
# **Predict.** Look-ahead mask on, padding *in front*: which weights do the rows 0 and 1 get, if a blocked score is −10⁹? Then switch
# the padding off and block *after* the softmax instead of before it: which rows still sum to 1?
#
# <details><summary>Answer</summary>
#
# Rows 0 and 1 have no open key. Five equal scores of −10⁹ give five equal weights of 0.20, all of them on keys that nobody should
# see (Keras sets them to 0 afterwards, as above). Row 2 has one open key and gives it everything. Blocked after the softmax, only the last row sums to 1,
# because nothing of it is blocked. All others have lost what their blocked keys had.
#
# </details>

# %%
live.masks(scores, words)

# %% [markdown]
# ## 4 · Shift right, and teacher forcing
#
# One more thing could leak. The mask lets place t see place t. So what the decoder *reads* at place t must not be what
# it has to *say* there. The target is moved one place to the right, and a start token fills the gap:

# %%
figure, ax = diagrams.canvas(8.6, 2.5)
says = ["1", "9", "9", "4", "0", "3", "2", "7", "<end>"]
reads = ["<start>", *says[:-1]]
decoder = diagrams.box(ax, 4.6, 1.25, "decoder with look-ahead mask", role="query", width=7.6, height=0.5)
below = diagrams.tokens(ax, reads, 1.2, 0.45, role="key", step=0.85, fontsize=8)
above = diagrams.tokens(ax, says, 1.2, 2.05, role="output", step=0.85, fontsize=8)
for low, high in zip(below, above, strict=True):
    diagrams.arrow(ax, low.top, (low.x, 1.0))
    diagrams.arrow(ax, (high.x, 1.5), high.bottom)
for place in range(8):
    diagrams.arrow(ax, (above[place].x + 0.2, 1.84), (below[place + 1].x - 0.2, 0.66), role="accent", dashed=True)
diagrams.note(ax, 0.35, 0.45, "reads")
diagrams.note(ax, 0.35, 2.05, "says")
plots.show(
    figure,
    alt="""The decoder reads start, 1, 9, 9, 4, 0, 3, 2, 7 and says 1, 9, 9, 4, 0, 3, 2, 7, end. Dashed red arrows lead
from every token of the upper row to the place one to the right in the lower row.""",
)

# %% [markdown]
# Reading the *right* previous token, whatever the model itself would have written there, is called **teacher forcing**
# (Williams and Zipser, 1989). It is what makes the single parallel pass possible. It also means that the model never
# meets its own mistakes in training: **exposure bias**. We measure it in section 10, when there is a model to measure.
#
# The task is the one of lecture 1, dates into ISO 8601, now one date per line. Eight digits, then an end token of
# our own, so that V = 35. And **unseen** has to mean something: we hold back whole *days*. A day of the test set occurs
# in no line of the training set, in none of the six ways of writing it.

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


# NBVAL_CHECK_OUTPUT
print("says ", test_target[0])
print("reads", with_start(test_target)[0])

# %% [markdown]
# ## 5 · Cross-attention: the target asks, the source answers
#
# The encoder turns the source into one vector per token, the **memory** (B, S, D). In **cross-attention** the queries
# come from the decoder, keys and values from the memory. Formula and layer are the ones you know; only the inputs
# differ:
#
# | | query from | keys and values from | mask | weights |
# |---|---|---|---|---|
# | encoder self-attention | source | source | padding of the source | (B, H, S, S) |
# | decoder self-attention | target | target | look-ahead (and padding of the target) | (B, H, T, T) |
# | cross-attention | target | **memory** | padding of the source | (B, H, T, S) |
#
# **Predict.** Does cross-attention need the look-ahead mask?
#
# <details><summary>Answer</summary>
#
# No. The whole source is known before the first token is written: nothing in it is "the future".
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
keras.utils.set_random_seed(2)
cross = layers.MultiHeadAttention(num_heads=4, key_dim=12)
memory = keras.random.normal((2, 10, 48))  # (B, S, D)
asking = keras.random.normal((2, 9, 48))  # (B, T, D)
visible = (train_source[:2] > 0)[:, None, :]  # (B, 1, S)
y, weights = cross(query=asking, value=memory, attention_mask=visible, return_attention_scores=True)
print("output", y.shape, " weights", weights.shape)  # (B, T, D), (B, H, T, S)

hidden_part = ops.where(train_source[:2, :, None] > 0, memory, 100.0)  # (B, S, D): padding filled with nonsense
again = cross(query=asking, value=hidden_part, attention_mask=visible)
print("nonsense in the padded places changes the output:", not np.allclose(again, y, atol=1e-5))


# %% [markdown]
# > **If you come from PyTorch.** In `nn.MultiheadAttention` and `nn.Transformer` a boolean mask means the opposite: True is
# > *blocked*. Invert it. Their axes are (T, B, D) unless you say `batch_first=True`. Query, key and value come in the same order,
# > but pass everything by keyword here: the fourth argument of the Keras layer is `query_mask`. `tgt_mask` is `use_causal_mask=True`,
# > `memory_key_padding_mask` is an `attention_mask` of shape (B, 1, S). `nn.CrossEntropyLoss` wants the vocabulary on axis 1, (B, V, T), and has
# > `ignore_index`; Keras wants it last, and you take the mean over the real tokens yourself. `model.eval()` is `training=False`.
#
# One row of weights per *target* token, one column per *source* token. The output has the target's length: each
# place of the target has fetched what it needs from the source. The memory is computed once per sentence, however
# many tokens are written.
#
# ## 6 · The decoder block, and the whole Transformer
#
# An encoder block has two sub-layers, a decoder block three: masked self-attention, cross-attention, feed-forward. Each
# sits in the frame of lecture 4, residual sum and layer norm (post-norm here, as in the paper).

# %%
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


# %%
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
way = left["norm of feed-forward"].top, (2.2, 6.33), (4.6, 6.33), (4.6, 4.62), right["cross-attention"].left
diagrams.arrow(ax, *way, role="value", width=2)
diagrams.note(ax, 3.35, 6.5, "memory (B, S, D): keys and values")
logits = diagrams.box(ax, 7.0, 8.23, "logits", role="output", detail="(B, T, V)", width=1.5)
diagrams.arrow(ax, right["norm of feed-forward"], logits)
diagrams.arrow(ax, (4.9, 1.53), (5.1, 1.9), (5.1, 8.23), logits, role="accent", dashed=True)
diagrams.note(ax, 5.0, 7.9, "the same table, transposed", ha="right")
plots.show(figure, alt="""The whole Transformer. Left the encoder: source, embedding plus positions, N blocks of self-attention and
feed-forward, each with add and norm. Its output, the memory, leads as keys and values into the cross-attention of the
decoder on the right: shifted target, embedding plus positions, N blocks of causal self-attention, cross-attention,
feed-forward. On top the logits (B, T, V), computed with the same embedding table, transposed.""")  # fmt: skip

# %% [markdown]
# **Tied embeddings** (Press and Wolf, 2017; the paper's section 3.4): one table E of shape (V, D) serves three times.
# It turns source ids and target ids into vectors, and it turns the decoder's output h into scores over the vocabulary,
# $\text{logits} = h E^\top$: the score of a word is the dot product with its own embedding. The table is drawn with variance 1/D, so
# that the logits start near 1 in size, and what is looked up is multiplied by √D, so that it is not small beside the positions. Keras has a layer that works in both directions, `ReversibleEmbedding`.
#
# Here the blocks are functions. In the lab you write them as layers.

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


# %% [markdown]
# **Calculate.** How many parameters does it have? D = 48, F = 96, V = 35, N = 2 blocks on each side. Attention has 4(D² + D),
# feed-forward 2DF + F + D, a norm 2D.
#
# <details><summary>Answer</summary>
#
# Attention 9,408; feed-forward 9,360; norm 96. Encoder block 9,408 + 9,360 + 2·96 = 18,960. Decoder block 2·9,408 +
# 9,360 + 3·96 = 28,464. Table 35·48 = 1,680, counted **once**. Sum 2·18,960 + 2·28,464 + 1,680 = **96,528**.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
keras.utils.set_random_seed(8)
model, looking = transformer()
attention_count, feed_count, norm_count = 4 * (D * D + D), 2 * D * F + F + D, 2 * D
encoder_count = attention_count + feed_count + 2 * norm_count
decoder_count = 2 * attention_count + feed_count + 3 * norm_count
print(f"by hand {N * (encoder_count + decoder_count) + V * D:,}, by Keras {model.count_params():,}")
logits = model([train_source[:2], with_start(train_target[:2])])  # (B, T, V)
print("logits", logits.shape, " the softmax over the last axis sums to", softmax(logits, axis=-1).sum(axis=-1)[0, :3])

# %% [markdown]
# **The softmax runs over the vocabulary**, the last axis: for every place a distribution over the V words. A softmax over the
# places would answer another question: which place is the best one for this word?
#
# ## 7 · What the loss measures: six words
#
# A vocabulary of six words, one place: *the cat sat on the …*. Somebody asked a hundred people, and their answers are the
# **target** distribution. The **untrained** model has logits of zero; the **trained** one started there and followed
# the gradient of the cross-entropy. Three ways to compare a target p with a prediction q, in nats:
#
# | | formula | |
# |---|---|---|
# | cross-entropy | $H(p, q) = -\sum p \log q$ | what training minimises; smallest at q = p, where it is the **entropy** H(p), not 0 |
# | Kullback–Leibler | $\text{KL}(p\,\|\,q) = \sum p \log(p/q) = H(p, q) - H(p)$ | 0 exactly at q = p; not symmetric |
# | Jensen–Shannon (optional) | $\frac12 \text{KL}(p\,\|\,m) + \frac12 \text{KL}(q\,\|\,m)$, $m = \frac12 (p + q)$ | symmetric, never above log 2 = 0.693 |
#
# **By hand.** p = (½, ½, 0, 0, 0, 0), q uniform over six words. Cross-entropy, entropy, KL? And KL(q‖p)?
#
# <details><summary>Answer</summary>
#
# −log(1/6) = 1.792 for each word, so H(p, q) = 1.792. H(p) = log 2 = 0.693. KL(p‖q) = 1.792 − 0.693 = log 3 = 1.099.
# KL(q‖p) is infinite: q allows words that p calls impossible. A term with p = 0 counts 0, whatever q is.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
MENU = ["mat", "sofa", "floor", "roof", "moon", "idea"]
asked = np.array([0.55, 0.2, 0.15, 0.07, 0.03, 0.0])  # (V,): the target
keras_kl = keras.losses.KLDivergence()


def distances(p, q):
    """Cross-entropy, KL both ways and Jensen–Shannon, with SciPy's rules for zeros."""
    kl = lambda a, b: float(rel_entr(a, b).sum())  # noqa: E731
    crossed = -float(xlogy(p, q).sum())
    return crossed, kl(p, q), kl(q, p), (kl(p, (p + q) / 2) + kl(q, (p + q) / 2)) / 2


half = np.array([0.5, 0.5, 0, 0, 0, 0])
print(
    "by hand above: H(p,q) {:.3f}  KL(p|q) {:.3f}  KL(q|p) {:.3f}  JS {:.3f}".format(
        *distances(half, np.full(6, 1 / 6))
    )
)

# %%
guess, path = np.zeros(6), []  # logits (V,)
for _ in range(301):
    q = softmax(guess)
    path.append((*distances(asked, q), q))
    guess -= 0.3 * (q - asked)  # the gradient of the cross-entropy with respect to the logits is q − p
untrained, trained = path[0][4], path[-1][4]

# %%
figure, (left_ax, right_ax) = plt.subplots(1, 2, figsize=(10, 3.5))
for shift, (name, q, role, hatch) in enumerate(
    [("untrained", untrained, "mask", "xx"), ("trained", trained, "value", ".."), ("target", asked, "query", "")]
):
    left_ax.bar(np.arange(6) + 0.27 * (shift - 1), q, 0.27, label=name, color=diagrams.PALETTE[role], hatch=hatch)
left_ax.set(ylabel="probability", xticks=range(6), xticklabels=MENU, title="three distributions over six words")
left_ax.legend()
for line, (name, column) in enumerate({"cross-entropy": 0, "KL(target‖model)": 1, "Jensen–Shannon": 3}.items()):
    right_ax.plot([step[column] for step in path], label=name, markevery=50, **plots.LINES[line])
right_ax.axhline(path[-1][0] - path[-1][1], color=diagrams.PALETTE["residual"], linewidth=1)
right_ax.text(
    300, path[-1][0] - path[-1][1] - 0.03, "entropy of the target: the floor", ha="right", va="top", fontsize=9
)
right_ax.set(xlabel="gradient steps", ylabel="nats", title="while training", ylim=(0, None))
right_ax.legend(loc="upper right", bbox_to_anchor=(1, 0.6))
plots.show(
    figure,
    alt="""Left, bars over six words: the untrained model is flat, the trained one nearly equals the target, except for
a little probability left on the last word, which the target never has. Right, over 300 gradient steps cross-entropy
falls to the entropy of the target and stays there, KL and Jensen-Shannon fall to nearly 0.""",
)

# %%
# NBVAL_CHECK_OUTPUT
print("                      H(p,q)  KL(p|q)  KL(q|p)    JS")
for name, q in {"untrained": untrained, "trained": trained, "target itself": asked}.items():
    print(f"target against {name:13} " + "  ".join(f"{value:6.3f}" for value in distances(asked, q)))

# %% [markdown]
# Cross-entropy and KL differ by a constant, so they have the same gradient; the loss that is printed never goes
# below the entropy of the target. A loss that stays above 0 is no sign of a bad model: it may be the floor. KL(q‖p) is
# infinite for every softmax, because *idea* has probability 0 in the target and a softmax gives no zeros. Jensen–Shannon
# stays finite.
#
# **Spot the mistake.** A handout shows what a trained decoder says at five places, over six words, for *the cat sat down*. The table is
# ours, the mistake is a common one. What is wrong with it?
#
# | place | the | cat | sat | down | ‹end› | dog |
# |---|---|---|---|---|---|---|
# | 0 | 0.93 | 0.01 | 0.01 | 0.01 | 0.03 | 0.01 |
# | 1 | 0.02 | 0.80 | 0.10 | 0.03 | 0.03 | 0.10 |
# | 2 | 0.01 | 0.02 | 0.85 | 0.04 | 0.02 | 0.01 |
# | 3 | 0.02 | 0.01 | 0.02 | 0.90 | 0.03 | 0.02 |
# | 4 | 0.01 | 0.01 | 0.02 | 0.01 | 0.98 | 0.01 |
#
# <details><summary>Answer</summary>
#
# Add up the rows: places 1, 2 and 4 sum to 1.08, 0.95 and 1.04. Nothing that left a softmax does that. Read −log₂ p as the **length of a code**, in bits,
# for each word: a row that sums to more than 1 promises words shorter than any code can make them, so its loss is too small. Keras does not
# complain: it divides each row by its sum first, and reports another loss than the table says.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
handout = np.array([
    [0.93, 0.01, 0.01, 0.01, 0.03, 0.01], [0.02, 0.80, 0.10, 0.03, 0.03, 0.10], [0.01, 0.02, 0.85, 0.04, 0.02, 0.01],
    [0.02, 0.01, 0.02, 0.90, 0.03, 0.02], [0.01, 0.01, 0.02, 0.01, 0.98, 0.01],
])  # (T, V)  # fmt: skip
print("sums of the rows:       ", handout.sum(axis=-1))
print("bits of the right words:", -np.log2(handout[range(5), range(5)]))
print("loss from the table:    ", -np.log(handout[range(5), range(5)]))
print("loss that Keras reports:", np.asarray(keras.losses.sparse_categorical_crossentropy(np.arange(5), handout)))

# %% [markdown]
# ### Label smoothing
#
# In training, p is one-hot: all on the right token. Then the loss can always be lowered by making its logit larger, and
# the model becomes ever more certain. **Label smoothing** (Szegedy et al., 2016; ε = 0.1 in the Transformer paper)
# takes ε of the probability and spreads it evenly over all V words:
#
# $$p(\text{right}) = 1 - \varepsilon + \varepsilon/V, \qquad p(\text{any other}) = \varepsilon/V$$
#
# **Predict.** With ε = 0.1 and our V = 35: what is the smallest loss a perfect model can reach?
#
# <details><summary>Answer</summary>
#
# The entropy of the smoothed target. p(right) = 0.9 + 0.1/35 = 0.90286, others 0.1/35 = 0.002857. −0.90286·log 0.90286 −
# 34·0.002857·log 0.002857 = 0.0923 + 0.5690 = **0.661**. Remember the number: the training below ends there.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
EPSILON = 0.1
gaps = np.linspace(0, 12, 121)  # by how much the right logit exceeds the others
figure, ax = plt.subplots(figsize=(6.5, 3.3))
for line, epsilon in enumerate((0.0, EPSILON, 0.3)):
    logits = np.zeros((len(gaps), V))  # (gaps, V)
    logits[:, 0] = gaps
    loss = keras.losses.categorical_crossentropy(
        np.eye(V)[[0] * len(gaps)], logits, from_logits=True, label_smoothing=epsilon
    )
    ax.plot(gaps, loss, label=f"ε = {epsilon}", markevery=10, **plots.LINES[line])
    best = int(np.argmin(loss))
    print(f"smoothing {epsilon}: smallest loss {float(loss[best]):.3f} at a gap of {gaps[best]:.1f}")
ax.set(xlabel="right logit minus the others", ylabel="loss", ylim=(0, 4))
ax.legend()
plots.show(
    figure,
    alt="""Loss against the gap between the right logit and the others. Without smoothing it falls for ever; with
smoothing 0.1 it has its minimum near a gap of 5.8, with 0.3 near 4.4, and rises again.""",
)
p_right = 1 - EPSILON + EPSILON / V
floor = -p_right * np.log(p_right) - (V - 1) * EPSILON / V * np.log(EPSILON / V)
print(f"floor with smoothing 0.1: {floor:.3f}")


# %% [markdown]
# Without smoothing the best gap is infinite. With it, too much certainty makes the loss larger. But a model that has
# reached the floor says 0.90 where it could say 1. [Part b](08b_generating_text.ipynb) shows what that can lead to.
#
# ### A warm-up for the learning rate
#
# Post-norm Transformers do not train well with a high learning rate from the start (measured in [lecture 4](04_encoder_block.ipynb)). The
# paper's schedule rises in a straight line for W steps, then falls with the root of the step:
#
# $$\text{rate}(\text{step}) = D^{-1/2} \cdot \min\left(\text{step}^{-1/2},\ \text{step} \cdot W^{-3/2}\right)$$
#
# **By hand.** Where is the peak, and how high is it for D = 512, W = 4,000?
#
# <details><summary>Answer</summary>
#
# The two terms are equal at step = W. There, the rate is $(D \cdot W)^{-1/2} = 2{,}048{,}000^{-1/2} = 0.0007$.
#
# </details>

# %%
class InverseRoot(keras.optimizers.schedules.LearningRateSchedule):
    """Equation 3 of the paper, written around its peak: peak · min(s/W, √(W/s)). Step 0 counts as 1, all others as they are."""

    def __init__(self, width, warmup):
        self.peak, self.warmup = (width * warmup) ** -0.5, warmup

    def __call__(self, step):
        share = ops.maximum(ops.cast(step, "float32"), 1) / self.warmup
        return self.peak * ops.minimum(share, ops.rsqrt(share))


figure, ax = plt.subplots(figsize=(6.5, 3.2))
for line, (width, warmup) in enumerate([(512, 4000), (512, 8000), (256, 4000)]):
    rates = np.asarray(InverseRoot(width, warmup)(np.arange(20_000)))  # (steps,)
    ax.plot(rates, label=f"D = {width}, W = {warmup:,}: peak {rates.max():.5f}", markevery=2500, **plots.LINES[line])
ax.set(xlabel="step", ylabel="learning rate")
ax.legend()
plots.show(
    figure,
    alt="""Three learning rate schedules over 20,000 steps: straight up to the warm-up step, then falling with the
root. A wider model has a lower peak, a longer warm-up a later and lower one.""",
)
print(f"peak for D = 512, W = 4,000: {float(InverseRoot(512, 4000)(4000)):.5f}")

# %% [markdown]
# **Predict.** Twice the warm-up, or twice the width: which of the two lowers the peak more? And which of them also lowers the rate of
# the last step? Move both.
#
# <details><summary>Answer</summary>
#
# The peak is $(D \cdot W)^{-1/2}$, so both divide it by $\sqrt{2}$. After the warm-up the rate is $(D \cdot \text{step})^{-1/2}$, in
# which W does not occur: only the width lowers the last step.
#
# </details>

# %%
live.warm_up()


# %% [markdown]
# From step 8,000 on the first two curves are one: after its warm-up the rate does not depend on W any more. The peak depends on D and W, so it is tuned by W. In many trainings the peak is chosen freely, and the rate falls to zero at the end of the
# training. Our short run does that.
#
# ## 8 · Training the whole Transformer
#
# We use `compile`, `fit`, a `tf.data` pipeline and one callback. The loss is Keras's own, with label smoothing, on one-hot
# targets. Our targets have no padding (all have nine tokens); where targets are padded, those places must be taken out of
# the mean, see "Common mistakes".
#
# The greedy writer comes first, because the callback uses it: at each step take the most probable token, put it into
# the prefix, go on. The buffer has all T places from the start, so that one compiled program serves every step. What
# stands in the places that are not written yet does not matter: the look-ahead mask hides it.

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


watcher, started = WriteUnseenDates(), time.process_time()
history = train(model, EPOCHS, [watcher])
print(f"{time.process_time() - started:.0f} CPU seconds")

# %% [markdown]
# **Predict.** In the early epochs, token accuracy is far above the share of dates without a mistake. A model has 0.9 of the nine tokens
# right, and always the end token. If mistakes were independent, what share of its dates would be free of mistakes?
#
# <details><summary>Answer</summary>
#
# One ninth of the tokens are end tokens, all right. So a digit is right with (0.9 · 9 − 1)/8 = 0.8875, and eight digits with 0.8875⁸ = 0.38. The
# table above does not follow this rule exactly. Its token accuracy is a mean *during* the epoch, on training lines; "exact" is measured after the epoch, on
# unseen days. And mistakes are not independent (section 10).
#
# </details>

# %%
figure, (left_ax, right_ax) = plt.subplots(1, 2, figsize=(9.6, 3.3))
epochs = range(1, EPOCHS + 1)
left_ax.plot(epochs, history["loss"], **plots.LINES[0])
left_ax.axhline(floor, color=diagrams.PALETTE["accent"], linestyle="--")
left_ax.text(EPOCHS, floor - 0.05, f"floor of the smoothed target: {floor:.3f}", ha="right", va="top", fontsize=9)
left_ax.set(xlabel="epoch", ylabel="training loss", ylim=(0, None))
plots.measured_curve(epochs, history["token_accuracy"], label="next token, training lines", ax=right_ax)
plots.measured_curve(epochs, history["exact"], label="whole date written, unseen days", line=1, ax=right_ax)
right_ax.set(xlabel="epoch", ylabel="share right", ylim=(0, 1.02))
plots.show(
    figure,
    alt="""Left, the training loss falls and flattens out at the dashed floor of 0.661. Right, token accuracy rises
fast; the share of unseen dates written without a mistake starts near 0 and reaches 1 a few epochs later.""",
)

# %%
predict = compiled(model)
written = greedy(predict, test_source)  # (N, T)
correct = (written == test_target).all(axis=1)  # (N,)
print(f"unseen dates without a mistake: {correct.mean():.2%} of {len(correct):,}; last loss {history['loss'][-1]:.3f}")
for row in [*np.flatnonzero(~correct)[:3], 0, 1, 2]:
    says = " ".join(NAMES[i] for i in written[row])
    print(f"{' '.join(dates.decode(test_source[row])):34} -> {says} {'' if correct[row] else '   WRONG'}")
others = recorded.load("lecture_seeds")["results"]["08_decoder_and_masking"]
print("the same cells with", ", ".join(f"seed {seed}: {run['unseen dates right']:.2%}" for seed, run in others.items()))

# %% [markdown]
# The loss arrives at the floor calculated in section 7, and practically every unseen date is written without a mistake.
# It is so with another seed, too (`experiments/lecture_seeds.py` ran these cells again). No mistake in 3,701 dates means, with 95 % confidence, fewer than 3/3,701 = 0.1 % mistakes on dates like these.
#
# **On other hardware.** The cells run unchanged on one GPU. In mixed precision, call
# `keras.mixed_precision.set_global_policy("mixed_float16")` before the model is built; the logits stay in float32 by
# `reverse_dtype`. For several GPUs, build and compile inside `with tf.distribute.MirroredStrategy().scope():` and raise
# `BATCH` with their number.
#
# ## 9 · Without the mask: the loss falls, the output is nonsense
#
# Now the same model on the same data, with the same seed, the same number of epochs and the same learning rates. Only one
# thing is changed: `causal=False`.
#
# **Predict.** Will the training loss fall more slowly, equally fast or faster? What will it write?
#
# <details><summary>Answer</summary>
#
# Faster, from the second epoch on: the answer stands one place to the right and can be copied. What it writes is
# nonsense: when it writes, there is nothing to the right that it could copy.
#
# </details>

# %%
keras.utils.set_random_seed(8)
leaky, _ = transformer(causal=False)
leaky_history = train(leaky, EPOCHS)

# %%
leaky_predict = compiled(leaky)
sample = slice(0, 500)
scores, entropy = {}, keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=EPSILON)
for name, function in {"with mask": predict, "without mask": leaky_predict}.items():
    logits = function(test_source[sample], with_start(test_target[sample]))  # (N, T, V)
    forced, alone = np.argmax(logits, axis=-1), greedy(function, test_source[sample])  # (N, T) each
    scores[name] = [(out == test_target[sample]).all(axis=1).mean() for out in (forced, alone)]
    print(
        f"{name:13} unseen days, reading the target: loss {float(entropy(np.eye(V)[test_target[sample]], logits)):.3f}, "
        f"{scores[name][0]:.1%} of the dates right; on its own {scores[name][1]:.1%}"
    )
for row in range(3):
    says = " ".join(NAMES[i] for i in alone[row])
    print(f"   {' '.join(dates.decode(test_source[row])):32} -> {says}")
lower = {"this page": np.less(leaky_history["loss"], history["loss"])}
lower |= {f"seed {seed}": np.less(run["leaky losses"], run["losses"]) for seed, run in others.items()}
print("epochs with a lower loss without the mask:", {name: [int(i) + 1 for i in np.flatnonzero(row)] for name, row in lower.items()})
print("on its own, other seeds:", ", ".join(f"{run['without the mask, reading and alone'][1]:.1%}" for run in others.values()))

# %%
figure, (left_ax, right_ax) = plt.subplots(1, 2, figsize=(9.6, 3.2))
for line, (name, losses) in enumerate({"with mask": history["loss"], "without": leaky_history["loss"]}.items()):
    left_ax.plot(range(1, len(losses) + 1), losses, label=name, **plots.LINES[line])
left_ax.set(xlabel="epoch", ylabel="training loss", ylim=(0, None))
left_ax.legend()
for bar, (name, shares) in enumerate(scores.items()):
    look = {"color": plots.LINES[bar]["color"], "hatch": "//" if bar else ""}
    right_ax.bar(np.arange(2) + 0.36 * (bar - 0.5), shares, 0.36, label=name, **look)
right_ax.set(xticks=[0, 1], xticklabels=["reads the target", "reads its own output"], ylabel="unseen dates right")
right_ax.set(ylim=(0, 1.3), yticks=np.linspace(0, 1, 6))
right_ax.legend(loc="upper center", ncols=2)
plots.show(
    figure,
    alt="""Left, training loss with and without the look-ahead mask, by the same schedule: without it the loss is lower from
the second epoch on, until both reach the same floor. Right, both models get all unseen dates right while they read the target; on its own, the model without the mask
gets none right.""",
)


# %% [markdown]
# At the end both training losses are at the floor, and in between the leaky model is ahead. It is as good in every evaluation that feeds it the
# target, on unseen days, too: the same loss, all dates right. It has learned to copy place t + 1. When it has to write, there is nothing to
# copy. **Only writing shows the mistake**: never judge a generator by its teacher-forced loss alone.
#
# ### The mask is part of the model, at inference, too
#
# Many texts say that the mask is for training only: when writing, "the future does not exist yet". We test it. We copy the
# good weights into the model without mask, and write in two ways: into a buffer of T places as above, and with a
# prefix that grows, so that nothing stands to the right of the last token.
#
# **Predict.** Which of the four cells of the table are at 100 %?

# %%
def greedy_growing(model, source):
    """As `greedy`, but the model reads only what is written so far: (N, 1), then (N, 2), …"""
    written = np.full((len(source), 1), START, "int32")
    for _ in range(T):
        logits = model([source, written], training=False)  # (N, t, V)
        written = np.append(written, np.argmax(logits[:, -1:], axis=-1).astype("int32"), axis=1)  # (N, t + 1)
    return written[:, 1:]


warnings.filterwarnings("ignore", message=".*softmax over axis")  # a prefix of one token has one key, weight 1
bare, _ = transformer(causal=False)
bare.set_weights(model.get_weights())
some, truth = test_source[:300], test_target[:300]
for name, chosen in {"mask on": model, "mask off": bare}.items():
    buffered, growing = greedy(compiled(chosen), some), greedy_growing(chosen, some)
    shares = [(out == truth).all(axis=1).mean() for out in (buffered, growing)]
    print(f"{name:9} buffer of T places: {shares[0]:6.1%}    growing prefix: {shares[1]:6.1%}")
for seed, run in others.items():
    buffer, prefix = run["mask off at inference, buffer and growing prefix"]
    print(f"   seed {seed}, mask off: buffer {buffer:6.1%}            growing prefix: {prefix:6.1%}")

# %% [markdown]
# With the mask both ways agree. Without it the buffer's unwritten places are read as if they were text. But the growing
# prefix fails, too (how often depends on the run), although nothing stands to the right of the *last* token. The *earlier* tokens now see later ones. So from the
# second block on, their vectors differ from those that the model was trained on. Only with a single
# block would the growing prefix be safe. A key–value cache ([part b](08b_generating_text.ipynb)) has the same effect as the mask: it keeps each token's
# vectors as they were when the token was the last one.
#
# ## 10 · Exposure bias, measured
#
# In training the model has read right prefixes only. We break a prefix on purpose: at place j the decoder reads a wrong
# digit, everything before and after it is right. How many of the later tokens does it still get right?
#
# **Predict.** The model can read the source at every step. Does one wrong digit in the prefix matter all the same?

# %%
rng = np.random.default_rng(3)
some, truth = test_source[:400], test_target[:400]
hurt = np.zeros((8, T))  # place of the wrong digit, place of the prediction
zero = dates.IDS["0"]
for wrong_place in range(8):
    reads = with_start(truth)  # (N, T)
    digit = reads[:, wrong_place + 1] - zero
    reads[:, wrong_place + 1] = zero + (digit + rng.integers(1, 10, len(digit))) % 10
    hurt[wrong_place] = (np.argmax(predict(some, reads), axis=-1) == truth).mean(axis=0)

# %%
places = ["Y1", "Y2", "Y3", "Y4", "M1", "M2", "D1", "D2", "end"]
figure, ax = plt.subplots(figsize=(6.6, 3.9))
after_it = np.arange(T)[None, :] > np.arange(8)[:, None]  # (8, T): tokens that can read the wrong digit
plots.matrix_map(np.where(after_it, hurt, np.nan), rows=places[:8], columns=places, mask=after_it, limits=(0, 1), ax=ax)
for number in ax.texts:
    number.set_text(number.get_text().replace("nan", ""))
ax.set(xlabel="token predicted", ylabel="wrong digit in the prefix", title="share right after one wrong digit")
plots.show(
    figure,
    alt="""Share of right tokens by place, after one wrong digit at an earlier place. Hatched cells lie before the wrong
digit. After a wrong digit the next digit of the same field is often wrong, too; most places further on recover.""",
)
print(f"share right just after a wrong digit: {np.mean([hurt[j, j + 1] for j in range(7)]):.0%} on average,", end=" ")
print("other seeds:", ", ".join(f"{np.mean(run['right just after a wrong digit']):.0%}" for run in others.values()))
print("in a year", [f"{hurt[j, j + 1]:.0%}" for j in range(3)], " after the year", [f"{hurt[j, j + 1]:.0%}" for j in range(3, 7)])

# %% [markdown]
# It does matter: after a mistake the next one is more likely. (In training such a prefix never occurred.) On dates the model recovers at the next
# field; free text has no fields. Two remedies train the model on its own output: with rising probability (scheduled sampling, Bengio
# et al., 2015), or with a reward for the whole sequence (Ranzato et al., 2016). Large language models are first trained by teacher
# forcing. Many are then trained further with rewards for whole answers (Ouyang et al., 2022). How much
# exposure bias harms free text is disputed (He et al., 2021).
#
# ## 11 · The base model, counted
#
# The base model of the paper is the same program with other numbers: 6 + 6 blocks, D = 512, H = 8, F = 2,048. We build it for a vocabulary of
# 29 words, with one table for everything and no biases in the attention.
#
# **Calculate.** How many parameters does it have?
#
# <details><summary>Answer</summary>
#
# Feed-forward networks: 12 of 2·512·2,048 + 2,048 + 512 = 2,099,712. Norms: 6·2 + 6·3 = 30, each of 2·512 = 1,024. Together 25,227,264.
# Attentions: 6 + 2·6 = 18, each of 4·512² = 1,048,576. One table 29·512 = 14,848. In all **44,116,480**.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
ours = D, H, F, N, BIAS, V
D, H, F, N, BIAS, V = 512, 8, 2048, 6, False, 29  # the functions of section 6 read these names when they are called
base, _ = transformer()
D, H, F, N, BIAS, V = ours
trained_in = Counter()
for layer in base.layers:
    trained_in[type(layer).__name__] += sum(int(np.prod(w.shape)) for w in layer.trainable_weights)
for kind, count in trained_in.items():
    if count:
        print(f"{kind:22} {count:12,}")
print(f"{'all of them trained':22} {sum(trained_in.values()):12,}")
print(f"Dense and norms alone  {trained_in['Dense'] + trained_in['LayerNormalization']:12,}")

# %% [markdown]
# Suppose that somebody keeps the matrices of the attentions and the table in bare `tf.Variable`s, which Keras 3 does not track
# ([lecture 4](04_encoder_block.ipynb)). Then Keras counts 25,227,264 trainable parameters: the feed-forward networks and norms. The other 18,889,216
# numbers stay as they were drawn, and no error message says so. Compare Keras's count with a count by hand.
#
# How long does one training step of the base model take on this machine, on 8 pairs of 10 tokens?

# %%
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
base.compile(keras.optimizers.Adam(1e-4), loss, jit_compile=False)  # for three steps XLA is not worth its compiling
draw = np.random.default_rng(0).integers(2, 29, size=(8, 10))  # (B, T)
losses, spent = [], []
for _ in range(3):
    begun = time.perf_counter()
    losses.append(base.train_on_batch([draw, with_start(draw)], draw))
    spent.append(time.perf_counter() - begun)
print(f"first step, with compiling: {spent[0]:.1f} s; then {min(spent[1:]):.2f} s a step; loss {losses[0]:.2f}")


# %% [markdown]
# ## Common mistakes
#
# Each mistake is shown with what it does.
#
# **1. The target is not shifted.** The decoder reads what it has to say, and the look-ahead mask lets it: place t may see
# place t. Even a "model" without any attention then reaches the floor. It has learned to copy.

# %%
def copier_loss(shift):
    """Train embedding and output layer alone, no attention at all; returns the last loss."""
    keras.utils.set_random_seed(0)
    small = keras.Sequential([layers.Embedding(V, 32), layers.Dense(V)])
    small.compile(keras.optimizers.Adam(0.03), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    reads = with_start(train_target) if shift else train_target
    return small.fit(reads, train_target, batch_size=512, epochs=3, verbose=0).history["loss"][-1]


for shift in (True, False):
    print(f"shifted: {shift!s:5}  loss without any attention {copier_loss(shift):.3f}")

# %% [markdown]
# **2. Softmax over the places instead of the vocabulary. 3. An inverted mask** (in some libraries True means
# *blocked*). **4. Padding counted in the mean.** **5. Query and value swapped in cross-attention.**
#
# **Predict** what each of the next outputs shows before you read it.

# %%
logits = np.asarray(predict(test_source[:200], with_start(test_target[:200])))  # (N, T, V)
for name, axis in {"vocabulary": -1, "places": 1}.items():
    p = softmax(logits, axis=axis)
    hit = np.take_along_axis(p, test_target[:200, :, None], axis=-1)  # (N, T, 1)
    print(
        f"2. softmax over the {name:10}: a place's words sum to {p.sum(axis=-1).min():.2f} … {p.sum(axis=-1).max():.2f}, "
    )
    print(f"   mean −log p of the right token {-np.log(hit).mean():.3f}")

per_token = np.array([[2.0, 2.0, 2.0, 2.0], [4.0, 0.0, 0.0, 0.0]])  # (B, T): the loss of padding set to 0
real = np.array([[1, 1, 1, 1], [1, 0, 0, 0]])
print(
    f"4. mean over all places {per_token.mean():.2f}; over the lines' means {(per_token.sum(1) / real.sum(1)).mean():.2f}",
    end="; ",
)
print(f"over the real tokens {per_token.sum() / real.sum():.2f}")

swapped = cross(query=memory, value=asking)  # the source asks, the target answers
print(f"5. query=memory, value=target: output {swapped.shape}, but the target has {asking.shape[1]} tokens")

# %%
keras.utils.set_random_seed(1)
x = keras.random.normal((1, 5, 16))
figure, panels = plt.subplots(1, 2, figsize=(7.4, 3.1))
for ax, (name, mask) in zip(panels, {"right": look_back, "3. inverted": ~look_back}.items(), strict=True):
    _, weights = attend(query=x, value=x, attention_mask=mask[None], return_attention_scores=True)  # (B, H, T, S)
    plots.attention_map(np.asarray(weights)[0, 0], words, words, title=name, values=True, ax=ax)
plots.show(
    figure,
    alt="""Weights with the right mask, a lower triangle, and with the inverted one: an upper triangle without diagonal, in
which the last row has no open key at all.""",
)

# %% [markdown]
# Mistake 4: the second line has one real token with a loss of 4, the first has four with a loss of 2. The mean over all places is too small, and it
# gets smaller the more padding there is. The mean of the lines' means counts a token of a short line four times as much. The loss of lab 8 is the mean
# over the real tokens.
#
# Mistake 3: the inverted mask leaks, just like no mask at all: each token reads the next one, and the training loss falls. The last row has no open
# key, and Keras gives it weights of 0, which sum to 0 (section 3).
#
# ## What other texts get wrong
#
# Each sentence has one mistake. Find it before you open the answer.
#
# <details><summary>“The decoder's softmax gives each position of the output its probability.”</summary>
#
# It runs over the vocabulary: at each position, a distribution over words.
#
# </details>
#
# <details><summary>“The look-ahead mask is only needed in training.”</summary>
#
# Section 9: without it, at inference, dates go wrong, even with a prefix that grows. A cache replaces the mask because it
# has the same effect ([part b](08b_generating_text.ipynb)).
#
# </details>
#
# <details><summary>“Blocked places get the weight 0 after the softmax.”</summary>
#
# Then the rest does not sum to 1. They get a huge negative *score before* the softmax.
#
# </details>
#
# <details><summary>“In cross-attention the encoder's output asks the decoder.”</summary>
#
# The decoder asks: queries from the target, keys and values from the memory. Mistake 5 shows the shape that would come
# out.
#
# </details>
#
# <details><summary>“The original base model: D = 768, 12 + 12 blocks, dropout 0.1, beam 4.”</summary>
#
# D = 512, H = 8, F = 2,048, 6 + 6 blocks; dropout 0.1, label smoothing 0.1, 4,000 warm-up steps, beam 4 with length penalty
# 0.6. 768 and 12 are BERT-base.
#
# </details>
#
# <details><summary>“My six-block model learns all its parameters: they are all `tf.Variable`s.”</summary>
#
# Keras 3 does not track a bare `tf.Variable` on a layer, so the optimizer never sees it: section 11.
#
# </details>
#
# ## Check yourself
#
# <details><summary>1. Target "1 9 9 4 &lt;end&gt;". What does the decoder read, what does it say at place 0 and at place 4?</summary>
#
# It reads "&lt;start&gt; 1 9 9 4". At place 0 it says 1, at place 4 the end.
#
# </details>
#
# <details><summary>2. B = 2, H = 4, T = 7, S = 11. What is the shape of the weights of the three attentions, and what is the shape of
# their masks?</summary>
#
# Encoder (2, 4, 11, 11), mask (2, 1, 11). Decoder (2, 4, 7, 7), mask (7, 7), or (2, 7, 7) with the target's padding. Cross
# (2, 4, 7, 11), mask (2, 1, 11).
#
# </details>
#
# <details><summary>3. The loss of a model with label smoothing 0.1 over V = 35 is 0.66. Can more training lower it?</summary>
#
# No. 0.661 is the entropy of the smoothed target, the floor.
#
# </details>
#
# <details><summary>4. JS(p, q) = 0.693. What do you know?</summary>
#
# It is log 2, the largest value: no word has positive probability in both.
#
# </details>
#
# ## Symptoms
#
# <details><summary>Training loss near its floor in the first epoch, output nonsense.</summary>
# A leak: no look-ahead mask, an inverted one, or a target that is not shifted. Run the test of section 2.
# </details>
# <details><summary>The first token is always wrong, all others would be right.</summary>
# Start token missing or another one than in training.
# </details>
# <details><summary>The loss stays far above 0 although the output is right.</summary>
# Label smoothing: calculate the floor.
# </details>
#
# ## Slow machine, or a GPU
#
# | knob | here | slow machine | GPU | what it changes |
# |---|---|---|---|---|
# | `EPOCHS` | 7 | 5 | 20 | how many dates are right: the curve in section 8 |
# | `BATCH` | 128 | 128 | 1,024 with a rate that is tuned again | fewer steps per epoch |
# | `jit_compile` | True | False on old processors | True | compiling takes some seconds, then each step is faster |
# | D, F, N | 48, 96, 2 | keep | 128, 512, 3 with two or three dates per line | longer lines need more |
#
# ## Honest caveats
#
# * One date per line, six ways of writing, a fixed target length: the hardest parts of translation (reordering at a distance,
#   unknown words, when to stop) are hardly in it.
# * "Unseen" means unseen days, not unseen ways of writing. Write `27th of March, 94` and the model fails: it has no tokens for
#   that.
# * The text says where other seeds were tried (section 8). What it says of one run, the mixture of wrong digits in section 10 for example, may differ
#   on your machine in detail.
#
# ## Summary
#
# | piece | shape | remember |
# |---|---|---|
# | look-ahead mask | (T, T) | diagonal included; in training *and* when writing |
# | padding mask | (B, 1, S) | "and" with the other: (B, T, S) |
# | shift right | (B, T) | reads start, y₁, y₂, …; says y₁, y₂, …, end |
# | cross-attention | weights (B, H, T, S) | target asks, memory answers |
# | logits | (B, T, V) | softmax over V; table shared with both embeddings |
# | loss | scalar | mean over real tokens; floor = entropy of the smoothed target |
#
# Now build the masks, the block, the losses and the Transformer in
# [lab 8](../labs/08_decoder_and_masking/08_decoder_and_masking.ipynb). Then let it write, in the second part:
# [8b · Generating text](08b_generating_text.ipynb).
#
# ## Further reading
#
# * A. Rush et al., [*The Annotated Transformer*](https://nlp.seas.harvard.edu/annotated-transformer/): the paper, line by line, with code in PyTorch.
#   Read it after the lab, and compare the shapes.
# * TensorFlow, [*Neural machine translation with a Transformer and Keras*](https://www.tensorflow.org/text/tutorials/transformer): the same model on a larger corpus; you
#   can type a sentence.
# * J. Alammar, [*The Illustrated Transformer*](https://jalammar.github.io/illustrated-transformer/): the same architecture in pictures; its last pages compare output distributions
#   with targets over six words, which section 7 measures.
#
# ## References
#
# * A. Vaswani et al., *Attention is all you need*, NeurIPS 2017: 3.1 (decoder), 3.2.3 (three attentions), 3.4 (shared
#   embeddings), 5.3 (schedule, equation 3), 5.4 (label smoothing), table 3 (base model).
# * R. J. Williams, D. Zipser, *A learning algorithm for continually running fully recurrent neural networks*, Neural
#   Computation 1, 1989 (teacher forcing).
# * S. Bengio et al., *Scheduled sampling for sequence prediction with recurrent neural networks*, NeurIPS 2015.
# * M. Ranzato et al., *Sequence level training with recurrent neural networks*, ICLR 2016 (exposure bias). L. Ouyang et al., *Training language models to
#   follow instructions with human feedback*, NeurIPS 2022. T. He et al., *Exposure bias versus self-recovery*, EMNLP 2021.
# * O. Press, L. Wolf, *Using the output embedding to improve language models*, EACL 2017.
# * C. Szegedy et al., *Rethinking the Inception architecture for computer vision*, CVPR 2016 (label smoothing).
# * J. Lin, *Divergence measures based on the Shannon entropy*, IEEE Transactions on Information Theory 37, 1991.

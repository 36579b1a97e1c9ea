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
# **A decoder learns to predict the next token, and no position sees its own answer.**
#
# [← 7 · BERT on AG News](07_bert_ag_news.ipynb) · [Lab
# 8](../labs/08_decoder_and_masking/08_decoder_and_masking.ipynb) · [8b · Generating text →](08b_generating_text.ipynb)
#
# In training, the decoder of a translator reads the correct translation while it learns to write it. **Why does it not copy?** Write down your guess; the answer comes in
# ten minutes. Then you take away the one matrix that forbids copying: from a published model, and from a model before its training. The second comes
# nearer to the smallest possible loss than the correct model, and writes strange dates.
#
# **Afterwards you can**
#
# * shift a target and mask a decoder so that no position reads the token that it has to predict, and test the mask by changing tokens;
# * write a decoder block, and put the whole Transformer together;
# * say which positions a loss counts, and calculate the smallest loss that a model can reach;
# * measure leakage and exposure bias.
#
# **You need** [the encoder block](04_encoder_block.ipynb) and [positions](05_positional_encoding.ipynb). **Time:** about 65 minutes to read and predict (estimated, not measured); the code
# runs in about a minute on two CPU cores. Letters: **B** batch, **T** target tokens, **S** source tokens, **D** width, **F** width inside the feed-forward network, **H** heads, **V** vocabulary. A mask is True where a query *may* look.
#
# **Two cells of section 2 need a model that does not come with the course:** SmolLM2 (93 MB: `data.published("smollm2")` in a cell fetches it once; 0.6 GB of memory). Without it they are left out: read their outputs before you run the page.

# %% jupyter={"source_hidden": true} tags=["course-setup"]
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

# %% jupyter={"source_hidden": true} tags=["setup"]
from coursekit import quiet

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook

from unittest import mock

from coursekit import date_translator, dates, diagrams, live, plots, recorded, scenes
from coursekit.data.published_models import is_here
from coursekit.date_translator import END, NAMES, START, V
from coursekit.pages.post_norm import PostNormEncoderBlock, ScaledPositions
from coursekit.pages.smollm2 import PlainSmolLM2, numbers_and_tokens  # lecture 3b shows them

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
# Writing goes token by token: token 50 needs token 49. Training need not: the correct target is known. So let the decoder read it, moved one position to the right, with a
# start token in the gap. Our sources are dates as people write them; a target is the same date in eight digits:

# %%
def with_start(target):
    """What the decoder reads: the start token, then the target (N, T) without its last token."""
    return np.insert(target[:, :-1], 0, START, axis=1)  # (N, T)


training, test = date_translator.task()  # one date a line; the days of the test lines are in no training line
print("source  ", date_translator.text(test.source[0]))
print("reads   ", date_translator.text(with_start(test.target)[0]))
print("predicts", date_translator.text(test.target[0]))

# %% jupyter={"source_hidden": true} tags=["drawing"]
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
diagrams.note(ax, 0.3, 2.05, "target")
plots.show(
    figure,
    alt="""In training both rows are the correct date: what a position should predict is what the next position reads. A row of nine tokens, start and eight digits, goes into the
decoder; a row of eight digits and an end token comes out. Dashed arrows lead from every token of the upper row to the lower row, one
position further right.""",
)

# %% [markdown]
# The decoder reads the *correct* previous token, not the one that it would have written itself: **teacher forcing** (Williams and Zipser, 1989). One pass
# gives T predictions, and the loss compares all of them with the target.
#
# There is a danger. Position 0 has to predict the first digit, and position 1 *reads* the first digit. Attention looks at all positions, so position 0 could fetch its answer
# from its right-hand neighbour. Such a **leak** has to be closed.
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
# **So why does it not copy?** Two things keep the answer out of its reach. The *shift* takes it away from the position itself: position $t$ reads the token before its own. The *mask* takes it away
# from the neighbours: the answer stands to the right of position $t$, where it may not look.
#
# A second mask hides padding: targets of one batch differ in length, and the short ones are padded. The **padding mask** has the shape (B, 1, T), the same row for every query; the triangle has (T, T), the same
# for every line. A key may be seen if it is *not padding* **and** *not in the future*, (B, T, T). In Keras: `attention_mask=not_padding, use_causal_mask=True`.
#
# Switch both on and off below (the scores are random numbers). Then block *after* the softmax instead of before it: which row still sums to 1, and why?
#
# <details><summary>Answer</summary>
#
# Without padding, the last row: nothing of it is blocked. In the other rows the blocked weights are missing from the sum.
#
# </details>

# %%
live.masks(np.random.default_rng(3).normal(size=(5, 5)), reads[:5])

# %% [markdown]
# How do you know that a mask is correct in a model of many layers? Change one token that it reads, and look at which predictions move. Try it on **SmolLM2** (Hugging Face; [lecture 3b](03b_reading_heads.ipynb) shows its class),
# a decoder of 30 blocks that has no source. The last word of the caption changes:

# %%
if is_here("smollm2"):
    numbers, tokens = numbers_and_tokens()
    published, log_p = PlainSmolLM2(numbers), {}
    for word in ("dog", "cat"):
        ids = tokens.encode(scenes.CAPTION.removesuffix("dog") + word)
        log_p[word], _ = published([ids])  # of the next token, (1, T, V)
    print("largest change of a prediction, by the last token that it may look at:")
    for number, moved in zip(ids, np.abs(log_p["dog"] - log_p["cat"]).max(axis=-1)[0], strict=True):
        print(f"{tokens.decode([number]):>10} {moved:.6f}")
else:
    published = None
    print('SmolLM2 is not here, so two live cells are left out: their outputs stand in the page as it came. To fetch 93 MB, once: data.published("smollm2")')


# %% [markdown]
# Eight predictions stay as they were to six decimals. Only the ninth moves, and it may: it *reads* the word that has changed.
#
# `PlainSmolLM2` makes its mask with `np.tri`. Put ones in its place, and every position but the last sees its own answer.

# %% [markdown]
# **Predict.** It was trained with the mask, on two trillion tokens (Ben Allal et al., 2025), and never had an answer to look at. Without its mask, what does a token of the caption cost it? (The loss of a token is $-\ln p$, in nats.)
#
# - (a) far less than with the mask: it makes use of the answer
# - (b) about as much: it goes on as it has learned
# - (c) far more: it is lost
#
# <details><summary>Answer</summary>
#
# **(a)** In the caption 1.2 nats instead of 5.8. The control, random tokens, which no context gives away: 11.7 instead of 14.6.
#
# </details>

# %%
def nats(ids):
    """What each token of ids (T,) costs but the first, (T − 1,); the model reads all but the last."""
    log_p, _ = published([ids[:-1]])  # (1, T − 1, V)
    return -log_p[0, range(len(ids) - 1), ids[1:]]


if published:
    noise = np.random.default_rng(0).integers(17, 49_152, 32)
    for name, ids in {"the caption": tokens.encode(scenes.CAPTION), "32 random tokens": noise}.items():
        print(f"{name}: {nats(ids).mean():.1f} nats a token with the mask", end="")
        for seen, closed in (("all open but the next token", 1), ("all open", len(ids))):
            with mock.patch.object(np, "tri", lambda rows, columns, *_, closed=closed, **__: ~np.eye(rows, columns, closed, dtype=bool)):
                print(f", {nats(ids).mean():.1f} with {seen}", end="")
        ahead = np.diagonal(published.weights[18][0, 6], offset=1).mean()
        print(f" (a uniform guess: {np.log(49_152):.1f}); now block 18, head 6 puts {ahead:.2f} of its weight on the next token, equal weights {1 / (len(ids) - 1):.2f}")


# %% [markdown]
# In this caption of nine words taking the mask away saves 4.6 of 5.8 nats; with the next token alone still closed it saves 0.5. So most of it hangs on the look at the answer.
#
# <details><summary>With the next token closed, does the answer still leak?</summary>
#
# Yes, in two hops. Position $t$ may not look at $t + 1$. But in one block $t + 2$ looks at $t + 1$, and in a later one $t$ looks at $t + 2$. So a part of the 0.5 nats may be the answer, too.
#
# </details>
#
# In noise 11.7 is still more than a uniform guess costs. Some heads look there: an **induction head** ([lecture 3b](03b_reading_heads.ipynb)) looks for a copy of the present token, and at what *follows* it. Without the mask
# the nearest copy is the present token itself, and what follows is the answer: 0.91 of one such head's weight lies on it in the caption, 0.31 in noise ([evidence](evidence/08.ipynb#without-mask)).
#
# One movement refutes a mask; a few still cases do not prove it.
#
# **A mask hides the future if no prediction moves when *any* later token changes.**

# %% [markdown]
# <a id="decoder-block"></a>
#
# ## 3 · The decoder block, and the whole Transformer
#
# The encoder of lecture 4 turns the source into one vector for each token: the **memory** (B, S, D). Every decoder block reads it:

# %% jupyter={"source_hidden": true} tags=["drawing"]
def stack(ax, x, y, parts, offset):
    """Draw sub-layers upwards from (x, y), each with its shape, sum and norm; returns the boxes by name."""
    boxes, below = {}, (x, y - 0.28)
    for name, role, shape in parts:
        part = diagrams.box(ax, x, y + 0.68, name, role=role, detail=shape, width=2.5, height=0.54)
        norm = diagrams.box(ax, x, y + 1.36, "add & norm", role="mask", width=2.5, height=0.34, fontsize=9)
        diagrams.arrow(ax, below, part)
        diagrams.arrow(ax, part, norm)
        side = (x + offset, y + 0.2), (x + offset, y + 1.36), (x + np.sign(offset) * 1.25, y + 1.36)
        diagrams.arrow(ax, (x, y + 0.2), *side, role="residual", width=2)
        boxes[name], boxes["norm of " + name], below, y = part, norm, norm, y + 1.53
    return boxes


# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, ax = diagrams.canvas(9.8, 9.1)
source_in = diagrams.box(ax, 2.3, 0.4, "source", role="key", detail="(B, S)", width=1.5)
target_in = diagrams.box(ax, 7.3, 0.4, "target, shifted right", role="query", detail="(B, T)", width=2.2)
table = diagrams.box(ax, 4.8, 1.35, "one table", role="accent", detail="(V, D)", width=1.6)
for x, side, below, shape in ((2.3, -1.5, source_in, "(B, S, D)"), (7.3, 1.5, target_in, "(B, T, D)")):
    looked_up = diagrams.box(ax, x, 1.35, r"look up, times $\sqrt{D}$", role="accent", detail=shape, width=1.9, fontsize=9)
    added = diagrams.operator(ax, x, 2.15)
    waves = diagrams.box(ax, x + side, 2.15, "positions", width=1.1, height=0.36, fontsize=9)
    for arrow in ((below, looked_up), (table, looked_up), (looked_up, added), (waves, added)):
        diagrams.arrow(ax, *arrow)
encoder = [("self-attention", "query", "weights (B, H, S, S)"), ("feed-forward", "neutral", "hidden (B, S, F)")]
decoder = [("causal self-attention", "query", "weights (B, H, T, T)"), ("cross-attention", "value", "weights (B, H, T, S)"), ("feed-forward", "neutral", "hidden (B, T, F)")]
left, right = stack(ax, 2.3, 2.6, encoder, offset=-1.6), stack(ax, 7.3, 2.6, decoder, offset=1.6)
for boxes, first, title in ((left, "self-attention", "encoder, × N"), (right, "causal self-attention", "decoder, × N")):
    diagrams.group(ax, [boxes[first], boxes["norm of feed-forward"]], title, pad=0.45)
path = left["norm of feed-forward"].top, (2.3, 6.6), (4.8, 6.6), (4.8, right["cross-attention"].y), right["cross-attention"].left
diagrams.arrow(ax, *path, role="value", width=2)
diagrams.note(ax, 3.55, 6.77, "memory (B, S, D): keys and values")
logits = diagrams.box(ax, 7.3, 8.6, "logits", role="output", detail="(B, T, V)", width=1.5)
diagrams.arrow(ax, right["norm of feed-forward"], logits, label="(B, T, D)")
diagrams.arrow(ax, (5.35, 1.65), (5.35, 8.6), logits, role="accent", dashed=True)
diagrams.note(ax, 5.25, 8.2, "the same table, transposed", ha="right")
plots.show(figure, alt="""The memory is all that the encoder hands to the decoder. Left the encoder: source (B, S), embedding plus positions (B, S, D), N blocks of self-attention with weights (B, H, S, S) and
feed-forward, each followed by add and norm. Its output, the memory (B, S, D), leads as keys and values into the cross-attention of the
decoder on the right: shifted target (B, T), embedding plus positions (B, T, D), N blocks of causal self-attention with weights (B, H, T, T), cross-attention with weights (B, H, T, S) and
feed-forward. On top are the logits (B, T, V), computed with the embedding table, transposed.""")  # fmt: skip


# %% [markdown]
# What is new is the middle part of the decoder block, **cross-attention**. The formula and the Keras layer are the same as before; the inputs and the masks differ:
#
# | attention | queries from | keys and values from | mask |
# |---|---|---|---|
# | in the encoder | source | source | padding of the source |
# | in the decoder | target | target | look-ahead, padding of the target |
# | cross-attention | target | **memory** | padding of the source |
#
# Cross-attention needs no look-ahead mask: the whole source is known before the first token is written. Each part has a residual connection with a norm after the sum, as in the paper (post-norm). The class leaves out the padding mask of the target, because all our targets have the same length.

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
# > **If you come from PyTorch:** see the two mistakes at the end. `tgt_mask` of `nn.Transformer` does the work of `use_causal_mask=True`.
#
# The whole model: source and target share one table of embeddings, and the same table, transposed, turns the last vectors into logits (Press and Wolf, 2017). `ScaledPositions` multiplies by $\sqrt{D}$ and adds
# the sinusoids of lecture 5. The paper's model has a dropout of 0.1 behind every part; ours has none, and lab 8 adds it.

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


# %% [markdown]
# The test of section 2, for the whole model, before any training:

# %%
def measure_leak(model, source, reads):
    """The largest change of a prediction when a token to the right of its position changes."""
    before, largest = model([source, reads]), 0.0  # (B, T, V)
    for s in range(1, T):
        changed = reads.copy()
        changed[:, s] = END  # a token that stands nowhere else in what is read
        moved = np.abs(model([source, changed]) - before)  # (B, T, V)
        largest = max(largest, moved[:, :s].max())
    return largest


for causal in (True, False):
    keras.utils.set_random_seed(8)
    untrained = plain_transformer(V, causal=causal)
    print(f"causal={causal!s:5}: {measure_leak(untrained, test.source[:20], with_start(test.target[:20])):.4f}")

# %% [markdown]
# With the mask a later token moves nothing. Without it, it does: position 0 can read its own answer at position 1.
#
# **A decoder block is an encoder block with two changes: it reads only its own past, and it reads the memory.**

# %% [markdown]
# <a id="loss-floor"></a>
#
# ## 4 · What the loss counts, and how low it goes
#
# Padding may not be looked at, and it may not be counted: the decoder predicts something at padded positions, too. So the loss has a mask of its own. The **loss mask** $m$ is 1 where the target is a real token and 0 where it is
# padding. The loss of a batch is the sum over real tokens, divided by their number:
#
# $$\text{loss} = \frac{\sum_{b,t} m_{bt}\,\ell_{bt}}{\sum_{b,t} m_{bt}}$$

# %%
lines = ["a man . <end>", "a brown dog is running after the black dog . <end>"]
target = np.array([line.split() + ["<pad>"] * (11 - len(line.split())) for line in lines])  # (B, T)
counts = target != "<pad>"  # (B, T), the loss mask
losses = np.where(counts, [[3.0], [1.0]], 0.0)  # say: 3 nats a token in the first line, 1 in the second, padding costs 0
print("reads ", *np.insert(target[:, :-1], 0, "<start>", axis=1)[0], "\ntarget", *target[0], "\ncounts", *counts[0].astype(int))
print(f"over real tokens {losses[counts].mean():.2f}, over all positions {losses.mean():.2f}, mean of the lines' means", end=" ")
print(f"{np.mean([line[real].mean() for line, real in zip(losses, counts, strict=True)]):.2f}")

# %% [markdown]
# The mean over all positions divides by padding, too: the more padding, the lower it is. (Padding in the sum as well would count what is easy.) The mean of the lines' means gives words of short lines more weight. (In Keras, pass the loss mask as `sample_weight`, and ask
# for `reduction="mean_with_sample_weight"`: the default divides by all positions.)
#
# **How low can a loss go?** *The cat sat on the …* Suppose that a hundred people continue. Each answer makes one line of training, with one word as its target. Together they are a distribution $p$ on six words. A model predicts $q$, and its mean loss is the **cross-entropy** $H(p, q) = -\sum p \log q$:

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
# Each of the hundred targets is one-hot: one word, with certainty. Still the loss cannot fall below 1.227. Its smallest value, at $q = p$, is the entropy of $p$; what lies above is the Kullback–Leibler divergence, $\text{KL}(p \,\|\, q) = H(p, q) - H(p)$. So take all lines with the *same input*, and ask
# what follows it. The floor is the **conditional entropy** $H(Y \mid X)$ of the target $Y$, given what the model reads, $X$.
#
# * **Our dates**: one source, one correct target. The floor is 0.
# * **Sentences**: *a man is running* may become *ein Mann rennt* or *ein Mann läuft*. Where both are equally frequent, this word has the floor $\ln 2 = 0.69$: the target is one-hot on each line, and no model gets below the floor on new text.
#
# Where the floor is 0, the loss falls as long as the correct logit grows. **Label smoothing** (Szegedy et al., 2016; ε = 0.1 in the paper) ends that. It takes ε of the probability and
# spreads it over all V words: the correct one gets $1 - \varepsilon + \varepsilon/V$, every other $\varepsilon/V$. The floor of our dates, with V = 35, is now the entropy of this target:

# %%
share, rest = 0.9 + 0.1 / V, 0.1 / V
FLOOR = -share * np.log(share) - (V - 1) * rest * np.log(rest)
print(f"floor {FLOOR:.3f}")

# %% [markdown]
# **The smallest possible loss is the entropy of what follows the same input. Without label smoothing it is 0 exactly where the input makes the target certain.**

# %% [markdown]
# <a id="training"></a>
#
# ## 5 · Train it, and type a date
#
# We train with Adam, label smoothing and a short warm-up.

# %%
EPOCHS = 5
keras.utils.set_random_seed(8)
model = plain_transformer(V)
history = date_translator.train(model, training.source, with_start(training.target), training.target, EPOCHS)
print("parameters:", f"{model.count_params():,}", "  loss above its floor, by epoch:", np.array(history["loss"]) - FLOOR)


# %% [markdown]
# To write, begin with the start token. Take the most probable token, put it into the prefix, and go on: **greedy** decoding. The array `written` has its full length from the start, filled with start tokens; the look-ahead mask hides what is not yet written. (Each step makes the memory anew, only to keep the code short.)

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
# The last date is in none of the six formats of the training, and the model gets it wrong.
#
# **Real sentences.** A larger Transformer with three blocks and 1.7 million parameters learned English to German from the 29,000 captions of Multi30k (recorded; Elliott et al., 2016). On the 1,000 unseen captions of `test_2016_flickr` it reaches 35.2 to 36.0 BLEU (sacreBLEU) with three seeds
# ([evidence](evidence/08.ipynb#captions)). Here is one of five recorded translations:

# %% jupyter={"source_hidden": true} tags=["setup"]
for seed, run in recorded.load("multi30k")["results"]["seeds"].items():
    example = next(line for line in run["examples"] if "brown" in line["english"])
    if seed == "1":
        print("English      ", example["english"], "\nhuman        ", example["german"])
    print(f"model, seed {seed}", example["greedy"])

# %% [markdown]
# Two words differ from the human translation: *einer* for *einem* (both mean *a*), and *Maul*, the mouth of an animal. German allows both, so $H(Y \mid X)$ is not 0.
#
# **Training takes one pass for all positions; writing takes one pass for each token.**

# %% [markdown]
# <a id="leak"></a>
#
# ## 6 · The leak
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
# **(c)** After three epochs it is nearer to its floor than the correct model after five. Most answers stand one position to the right, ready to be copied. When the model writes, only start tokens stand there, and it gets no date correct.
#
# </details>

# %% jupyter={"source_hidden": true} tags=["drawing"]
leaks = recorded.load("decoder_leak")["results"]  # by experiments/decoder_leak.py
FIELDS = ["Y1", "Y2", "Y3", "Y4", "M1", "M2", "D1", "D2"]
figure, (left_ax, right_ax) = plt.subplots(1, 2, figsize=(9.6, 3.3))
for line, name in enumerate(("mask", "no mask")):
    losses = np.array([run[name]["losses"] for run in leaks.values()])  # (seeds, epochs)
    plots.measured_curve(range(1, losses.shape[1] + 1), losses - FLOOR, label=name, line=line, ax=left_ax)
    copies = np.array([run[name]["copied"] for run in leaks.values()])  # (seeds, 8)
    plots.measured_curve(range(8), copies, label=name, line=line, ax=right_ax)
left_ax.set(xlabel="epoch", ylabel="training loss above its floor", yscale="log", xticks=range(1, 6))
right_ax.set(xlabel="digit", ylabel="false digit predicted", ylim=(-0.03, 1.03), xticks=range(8), xticklabels=FIELDS)
plots.show(
    figure,
    alt="""Without the mask less than a tenth of the loss is left above the floor, with each seed, and from the third digit on the model copies. Left, training loss minus its floor of 0.661 by epoch, on a logarithmic axis: nearly equal in the first epoch; in the last 0.0091 to 0.0166 with the mask and 0.0009 to 0.0011 without. Right, how often the model predicts a false digit that stands one
position to the right: with the mask almost never; without it rarely for the first digit, for some dates at the second, for nearly all from the third on. Lines are medians of three seeds, bands their range.""",
)

# %% [markdown]
# Left: from the second epoch on the loss is lower without the mask, with each seed. In the end 0.0091 to 0.0166 are left above the floor with the mask, and 0.0009 to 0.0011 without.
#
# Right: put a *false* digit one position to the right, where the answer stands, and count how often the model predicts it. Without the mask it copies the first digit in 7 to 17 % of the dates, the second in 18 to 53 %, and each later one in 91 to 100 %. With the mask it is at most 0.4 %.
#
# Now let both models write:

# %% jupyter={"source_hidden": true} tags=["setup"]
print(f"3,701 unseen dates without a mistake, seeds {', '.join(leaks)}:   reads the target      writes alone")
for trained in ("mask", "no mask"):
    for used in ("mask on", "mask off"):
        cells = [run[trained][used] for run in leaks.values()]
        right = ["".join(f"{round(3701 * cell[how]):8,}" for cell in cells) for how in ("reading", "alone")]
        print(f"trained with {trained:8} used with {used:9}   {right[0]}   {right[1]}")
print("trained and used without, writes:", *dict.fromkeys(run["no mask"]["mask off"]["first line written"] for run in leaks.values()), sep="\n    ")

# %% [markdown]
# One thought explains the table. A date is written without a mistake only if every token is correct, and then the model has read the very prefixes that it reads in the left column. So the columns differ in one thing: *what stands to the right* of each position. On the left it is the rest of the target, on the right it is start tokens.
#
# 1. With the mask nothing to the right is seen: the columns have to be equal.
# 2. The same weights without their mask. Unlike SmolLM2 in its sentence they do not profit (why, was not tested): what stands to the right disturbs them. With the target there 0 to 10 dates are correct, with start tokens 0 to 539.
# 3. The mask, put on weights that were trained without it, hides their answers. No date is correct in either column.
# 4. The leak. Where the answers stand to the right, all dates are correct. Where they do not, none is.
#
# **A model that leaks can be perfect while it reads the target, and wrong when it writes.**

# %% [markdown]
# <a id="exposure-bias"></a>
#
# ## 7 · Exposure bias
#
# Teacher forcing has a price. In training the model reads only correct prefixes; when it writes, it reads its own, mistakes included. This difference is called **exposure bias** (Ranzato et al., 2016). What does it cost here?
#
# Whole dates cannot tell: row 1 is the same in both columns, because a first mistake spoils the date, whatever follows it. So count tokens: those that are wrong after *correct* prefixes, and those that are wrong after the model's *own*.

# %%
reading = np.argmax(model.predict([test.source, with_start(test.target)], batch_size=500, verbose=0), axis=-1)  # (N, T)
for name, ids in {"correct prefixes": reading, "its own prefixes": written}.items():
    wrong = ids != test.target  # (N, T)
    print(f"{name}: {wrong.sum()} of {wrong.size:,} tokens are wrong, in {wrong.any(axis=1).sum()} dates")

# %% jupyter={"source_hidden": true} tags=["setup"]
print("recorded, three seeds")
for seed, run in leaks.items():
    own = run["mask"]["own mistakes"]
    print(f"seed {seed}: {own['wrong']['reading']:3} tokens wrong after correct prefixes, {own['wrong']['alone']:3} after its own;", end=" ")
    print(f"next token after its first mistake: wrong in {own['wrong next']['alone']} of {own['dates']} dates, after the correct token in {own['wrong next']['reading']}")


# %% [markdown]
# After its own prefixes the model makes about twice as many mistakes: 24 to 164 wrong tokens instead of 13 to 78. Right after its first mistake the next token is wrong in 104 of 131 dates; after the correct token, in none of the same dates. So one mistake often brings the next. But mistakes are rare: all in all exposure bias costs 0.03 to 0.26 % of the tokens.
#
# **A stress test.** Would any false digit do? Put one into the prefix, drawn at random. Everything else is correct.

# %% [markdown]
# **Predict.** The *first* digit of the year is false. How often is the second one correct? Then the *last* digit of the year is false. How often is the first digit of the month correct?
#
# - (a) both nearly always: the source says what to write
# - (b) both about half the time
# - (c) the first rarely, the second mostly
#
# <details><summary>Answer</summary>
#
# **(c)** In 6 to 19 % and in 84 to 86 % of the dates; after a correct prefix it is more than 99 %. In the left map below, the next digit of the same year, month or day suffers most.
#
# </details>

# %% [markdown]
# Does it come from training on correct prefixes alone? The control replaces a tenth of the digits that the decoder *reads* in training, and changes nothing else:

# %%
def corrupted(reads, share, rng):
    """A copy of (N, T) in which this share of the digits, drawn at random, is replaced by other digits."""
    hit = rng.random(reads.shape) < share
    hit[:, 0] = False  # the start token stays
    return np.where(hit, date_translator.false_digits(reads, rng), reads)


clean = with_start(training.target)[:3]
for line, changed in zip(clean, corrupted(clean, 0.1, np.random.default_rng(3)), strict=True):
    print(f"correct: {date_translator.text(line)}   read: {date_translator.text(changed)}")

# %% jupyter={"source_hidden": true} tags=["drawing"]
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
    alt="""A tenth of false digits in training repairs nearly everything that one random false digit does. Two maps of the share of correct predictions after one false digit in 1,000 unseen dates; rows: where the false digit stands, columns: the token predicted. Means of three seeds. Trained on correct prefixes, the cells
next to the diagonal are far below 1 inside the year, the month and the day, and higher where the next field begins. Trained with false digits, all cells are near 1.""",
)

# %% jupyter={"source_hidden": true} tags=["setup"]
for name, shares in after.items():
    base = [np.mean(run[name]["after a false digit"][7][1:8]) for run in leaks.values()]  # before the false digit
    print(f"{name:25} correct just after a false digit: {', '.join(f'{share:.1%}' for share in shares)}", end="")
    print(f"   after correct ones: {', '.join(f'{share:.1%}' for share in base)}")

# %% [markdown]
# With false digits in training, 99 % of the next digits are correct with each of three seeds: the model has become *robust to random false digits*, the kind that it was trained on. What that does to its *own* mistakes, which are not random, this test does not say.
#
# **What exposure bias costs is the price of one mistake times the number of mistakes: in this translator the price is high, and the number small.**

# %% [markdown]
# ## Two mistakes
#
# **The mask is turned round.** In Keras True means *may look*. Whoever comes from PyTorch's `nn.MultiheadAttention`, where True means *blocked*, hides the past and shows the future. There is no error.

# %%
attend = layers.MultiHeadAttention(num_heads=2, key_dim=4)
x = keras.random.normal((1, 4, 8), seed=1)  # (B, T, D)
for name, may_look in (("right", np.tri(4, dtype=bool)), ("turned round", ~np.tri(4, dtype=bool))):
    _, weights = attend(query=x, value=x, attention_mask=may_look[None], return_attention_scores=True)
    print(f"{name:12} position 0 {np.asarray(weights[0, 0, 0])}, position 3 {np.asarray(weights[0, 0, 3])}")

# %% [markdown]
# Turned round, position 0 sees everything but itself. Position 3 may see nothing, and Keras sets its row to zero; the formula of section 2 would not.
#
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
# <details><summary>3. You double the longest line of each batch with padding, and the printed loss falls by nearly half. What is wrong?</summary>
#
# The loss divides by all positions. Only real tokens may count, in the sum and in the number by which it is divided.
#
# </details>
#
# <details><summary>4. A validation loss is at its floor after one epoch. What do you test first?</summary>
#
# Leakage: change a token that is read, and see whether an earlier prediction moves. Then let the model write.
#
# </details>
#
# <details><summary><b>What this page does not show</b></summary>
#
# * One small translator of dates, one recipe, three seeds. Where copying begins in another task, and why the first two digits are copied less, was not tested.
# * SmolLM2 without its mask read a caption, 32 random tokens and the first words of a module.
# * What exposure bias costs in longer, free text, where no source says what comes next, is another question, and disputed (He et al., 2021).
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
# | loss mask | (B, T) | only real tokens count, above and below the fraction line |
# | cross-attention | weights (B, H, T, S) | queries from the target, keys and values from the memory |
# | logits | (B, T, V) | softmax over the vocabulary |
# | loss | scalar | its floor is the entropy of what follows the same input |
#
# Build the masks, the block, the Transformer and its loss in [lab 8](../labs/08_decoder_and_masking/08_decoder_and_masking.ipynb), then let it write in [8b · Generating text](08b_generating_text.ipynb). The paper's learning rate, the parameters of its base model,
# label smoothing drawn, divergences and untracked variables are in the [evidence](evidence/08.ipynb).
#
# **A decoder learns to predict the next token, and no position sees its own answer.**
#
# ## References
#
# * A. Vaswani et al., *Attention is all you need*, NeurIPS 2017: 3.1 (decoder), 3.2.3 (three attentions), 3.4 (shared embeddings), 5.3 (schedule), 5.4 (dropout, label smoothing).
# * R. J. Williams, D. Zipser, *A learning algorithm for continually running fully recurrent neural networks*, Neural Computation 1, 1989 (teacher forcing).
# * M. Ranzato et al., *Sequence level training with recurrent neural networks*, ICLR 2016 (exposure bias). S. Bengio et al., *Scheduled sampling*, NeurIPS 2015. T. He et al., *Exposure bias versus self-recovery*, EMNLP 2021.
# * O. Press, L. Wolf, *Using the output embedding to improve language models*, EACL 2017.
# * L. Ben Allal et al., *SmolLM2: when Smol goes big*, 2025, arXiv:2502.02737. The model is SmolLM2-135M-Instruct, Apache licence 2.0.
# * C. Szegedy et al., *Rethinking the Inception architecture for computer vision*, CVPR 2016 (label smoothing).
# * D. Elliott et al., *Multi30K: multilingual English-German image descriptions*, Workshop on Vision and Language 2016.
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# **Symptoms.** Loss near its floor suspiciously early, output nonsense: a leak (section 3's test). First token always wrong: the start token differs from the one in training. Loss far above 0, output correct: its floor (section 4).
#
# **Slow machine:** `EPOCHS = 3` (some dates stay wrong). **GPU:** the cells run unchanged.
#
# **More.** A. Rush et al., [*The Annotated Transformer*](https://nlp.seas.harvard.edu/annotated-transformer/), in PyTorch. TensorFlow, [*Neural machine translation with a Transformer and Keras*](https://www.tensorflow.org/text/tutorials/transformer). J. Alammar, [*The Illustrated Transformer*](https://jalammar.github.io/illustrated-transformer/).
#
# </details>

# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown] nbgrader={"grade": false, "grade_id": "introduction", "locked": true, "schema_version": 3, "solution": false, "task": false}
# # Lab 08 · Decoder and masking
#
# You build the other half of the Transformer: masks, a decoder block, and the whole model with one embedding for
# source, target and output. You write its loss, derive how low it can go, and measure what one wrong token does to what
# the model writes next. The second part shows how a sentence comes out of it: [lab
# 08b](../08b_generating_text/08b_generating_text.ipynb).
#
# <details><summary>If you come from PyTorch</summary>A mask says True for <i>may attend</i>; in <code>nn.MultiheadAttention</code> True means blocked. Pass masks by name: <code>attention_mask=</code>.</details>
#
# **Before you start:** read [lecture 08](../../lectures/08_decoder_and_masking.ipynb): this lab begins where its class
# `PlainDecoderBlock` ends (no dropout). **Time:** about 95 minutes.
# The end of each part is a good place to stop.
#
# **How a lab works.** Each exercise has a cell with a stub, and below it a cell `check("…")`. Replace the line
# `raise NotImplementedError`, run your cell, then run the check. After the second failed attempt it adds hints. Your mark
# comes from the same tests on inputs that you have not seen. Add cells wherever you like.
#
# **Letters.** B batch, T target tokens, S source tokens, D width of a token (`d_model`), H heads, F width inside the
# feed-forward network (`d_ff`), V words in the vocabulary. Id 0 is padding, 1 is `[UNK]`.
#
# | part | exercise | what you write | points | difficulty | minutes |
# |---|---|---|---|---|---|
# | A · the model | 1 | `causal_mask` | 1 | ●○○○○ | 5 |
# | | 1 | `padding_mask` | 1 | ●○○○○ | 5 |
# | | 1 | `combine_masks` (optional) | 0 | ●○○○○ | 5 |
# | | 1 | `shift_right` | 1 | ●○○○○ | 5 |
# | | 2 | `DecoderBlock` | 7 | ●●○○○ | 10 |
# | | 3 | `Transformer` | 7 | ●●○○○ | 10 |
# | B · the loss | 4 | `kl_divergence` (optional) | 0 | ●●○○○ | 10 |
# | | 5 | `masked_cross_entropy` | 5 | ●●○○○ | 10 |
# | | 5 | `find_the_bug` | 3 | ●○○○○ | 5 |
# | | 6 | `predict` | 1 | ●○○○○ | 5 |
# | | 6 | `derive_smoothing_floor` | 7 | ●●○○○ | 10 |
# | C · the measurement | 7 | `measure_exposure` | 5 | ●●○○○ | 10 |
# | D · optional | 8 | `answers` (optional) | 0 | ●●○○○ | 10 |
# | | 9 | `cross_entropy` (optional) | 0 | ●○○○○ | 5 |
# | | 9 | `js_divergence` (optional) | 0 | ●●○○○ | 10 |
# | | 9 | `transformer_schedule` (optional) | 0 | ●○○○○ | 5 |
#
# Optional exercises earn no points, and their minutes are not in the total, which counts reading and given cells as well.
#
# Times and difficulties are estimates, not measurements.
#
# Exercise 3 uses 1 and 2, and the training before exercise 7 uses 1 to 3, 5 and 6. If you are stuck elsewhere, go on.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["course-setup"]
# Colab: install the course's helper package. Anywhere else this cell does nothing.
import sys

if "google.colab" in sys.modules:
    print("Installing the course's helper package …")
    # %pip install --quiet --no-deps transformers-coursekit==0.1.0

# %% nbgrader={"grade": false, "grade_id": "imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
print("Loading TensorFlow, which takes about ten seconds …")

import functools
import warnings

from coursekit import plots, quiet, start_lab

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import ops

from coursekit.pages.decoder_and_masking import PlainDecoderBlock  # the lecture's class

warnings.filterwarnings("ignore", message="`build\\(\\)` was called")  # of an attention that is never used
plots.use_course_style()

check = start_lab("08_decoder_and_masking")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-1", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Part A · The model
#
# ## 1 · Masks
#
# A decoder writes from left to right, so the token at position t may look at positions 0 to t and at nothing later.
# As a mask: a matrix (T, T) whose row t belongs to the query at t and whose column s belongs to the key at s. **True
# means: may attend**, here and everywhere in this course, and in Keras.
#
# By hand, for length 3: the rows are (True, False, False), (True, True, False), (True, True, True).

# %% nbgrader={"grade": false, "grade_id": "causal_mask-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def causal_mask(length):
    """Make the mask that hides later positions.

    Args:
        length: number of positions, T; an int.

    Returns:
        (T, T), True on and below the diagonal.
    """
    ### BEGIN SOLUTION
    return np.arange(length)[:, None] >= np.arange(length)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "causal_mask", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("causal_mask")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-2", "locked": true, "schema_version": 3, "solution": false, "task": false}
# **Padding** fills the sentences of a batch up so that they fit into one matrix. No query may look at it. The mask is the
# same for every query, so it gets an axis of size 1 for the queries: (B, 1, S) broadcasts to (B, T, S). Padding usually
# stands at the end; your function looks at the ids. Exercise 3 calls it inside `tf.function`, where NumPy cannot read
# them: write it with `keras.ops`.
#
# By hand, for the ids [[5, 7, 0], [8, 0, 0]]: [[[True, True, False]], [[True, False, False]]], of shape (2, 1, 3).

# %% nbgrader={"grade": false, "grade_id": "padding_mask-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def padding_mask(ids, pad_id=0):
    """Make the mask that hides padding.

    Args:
        ids: token ids, (B, S), an array or a tensor of integers.
        pad_id: the id of padding.

    Returns:
        (B, 1, S), True at every token whose id is not pad_id.
    """
    ### BEGIN SOLUTION
    return ops.not_equal(ids, pad_id)[:, None, :]  # (B, 1, S)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "padding_mask", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("padding_mask")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-3", "locked": true, "schema_version": 3, "solution": false, "task": false}
# **Both at once (optional, no points):** a key may be seen when **every** mask allows it. The masks have different shapes, such as (T, T) and
# (B, 1, T), and broadcast as NumPy's rules say. Write it for any number of masks:
#
# - masks may be boolean or hold the integers 0 and 1, also mixed;
# - `None` stands for "nothing is blocked" and is left out;
# - when no mask is left, or none was given, the result is `None`.

# %% nbgrader={"grade": false, "grade_id": "combine_masks-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def combine_masks(*masks):
    """Join masks: True where all of them are.

    Args:
        masks: any number of masks whose shapes broadcast, boolean or of 0 and 1, arrays or tensors; or None.

    Returns:
        The broadcast "and" of all masks that are not None; None when there is no such mask.
    """
    ### BEGIN SOLUTION
    masks = [ops.cast(mask, "bool") for mask in masks if mask is not None]
    return functools.reduce(ops.logical_and, masks) if masks else None
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "combine_masks", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("combine_masks")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-4", "locked": true, "schema_version": 3, "solution": false, "task": false}
# **What the decoder reads** in training is the correct target, shifted one position to the right (teacher forcing). A start
# id comes first, and the last token is dropped.
#
# By hand: the target ((7, 8, 9), (4, 5, 0)) and start id 2 give ((2, 7, 8), (2, 4, 5)).
#
# Predict first: the causal mask lets position t look at itself. Why is that not cheating here?
#
# <details><summary>Answer</summary>What stands at position t after the shift is the target's token t − 1. The token to be predicted, target t, stands at t + 1, which is hidden.</details>

# %% nbgrader={"grade": false, "grade_id": "shift_right-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def shift_right(ids, start_id):
    """Make the decoder's input from its target.

    Args:
        ids: target ids, (B, T), an array or a tensor of integers.
        start_id: the id that every sentence starts with.

    Returns:
        (B, T): start_id, then every id of the sentence but the last.
    """
    ### BEGIN SOLUTION
    ids = ops.convert_to_tensor(ids)
    return ops.concatenate([ops.full_like(ids[:, :1], start_id), ids[:, :-1]], axis=1)  # (B, T)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "shift_right", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("shift_right")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-5", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See your masks
#
# Two target sentences; the second is padded. Which rows of the right panel differ from the left?

# %% nbgrader={"grade": false, "grade_id": "picture-masks", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
target_ids = np.array([[5, 9, 6, 7, 3], [8, 4, 3, 0, 0]])  # (B, T)
words = [["the", "cat", "sat", "down", "[END]"], ["it", "slept", "[END]", "[PAD]", "[PAD]"]]
masks = np.asarray(causal_mask(5), bool) & np.asarray(padding_mask(target_ids), bool)  # (B, T, T)
figure, panels = plt.subplots(1, 2, figsize=(9.2, 3.6), layout="constrained")
for panel, mask, names in zip(panels, masks, words, strict=True):
    plots.attention_map(mask, names, names, mask=mask, title="dark: may attend", values=False, ax=panel)
plots.show(
    figure,
    alt="""The last two rows differ: their queries may not look at the padding. Two masks of five by five. Left: dark on and
below the diagonal. Right: the same, with the last two columns empty.""",
)


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-6", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 2 · The decoder block
#
# Three sub-layers, each with dropout, a residual path and a layer norm after the sum (post-norm, as in the paper of
# 2017):
#
# > y = LN₁(x + Dropout₁(SelfAttention(x)))
# > z = LN₂(y + Dropout₂(CrossAttention(y, memory)))
# > out = LN₃(z + Dropout₃(FFN(z)))
#
# The stub makes the parts, and you write `call`. Keep their names, because the checks use them. In `self_attention` query, key
# and value are x. In `cross_attention` the query comes from the target; key and value are the memory, the encoder's output.
#
# - The block is **causal by itself**: nobody passes it a causal mask, in training or later. The output at position t
#   depends on x at 0 to t and on the memory, and not on what follows in x. A causal mask over the cross-attention
#   would be wrong: the source is known as a whole.
# - Keras takes `memory_mask` as it is. Pass it by its name, `attention_mask=`: by position it is another argument.
# - There is no mask for padding in x. It stands at the end, where no real token looks, and the loss leaves it out.
# - `training` decides whether dropout is on. Pass it to all three, by its name. (Keras hands it on too.)
# - It has to work inside `tf.function`, where **lengths may be unknown**: `x.shape[1]` is then None, and
#   `ops.shape(x)[1]` a tensor, which NumPy and `ops.tri` cannot take. `use_causal_mask=True` needs no length; a
#   comparison of `ops.arange` takes a tensor.

# %% nbgrader={"grade": false, "grade_id": "DecoderBlock-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
class DecoderBlock(keras.Layer):
    """One decoder block, post-norm: causal self-attention, attention over the memory, a feed-forward network.

    Args:
        d_model: width of a token, D.
        num_heads: number of heads, H; each is D/H wide.
        d_ff: width of the feed-forward network's hidden layer, F.
        dropout: rate of the three dropouts.
    """

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.self_attention = keras.layers.MultiHeadAttention(num_heads, key_dim=d_model // num_heads)
        self.cross_attention = keras.layers.MultiHeadAttention(num_heads, key_dim=d_model // num_heads)
        dense = keras.layers.Dense
        self.feed_forward = keras.Sequential([dense(d_ff, activation="relu"), dense(d_model)])
        self.norm1, self.norm2, self.norm3 = (keras.layers.LayerNormalization(epsilon=1e-6) for _ in range(3))
        self.dropout1, self.dropout2, self.dropout3 = (keras.layers.Dropout(dropout) for _ in range(3))

    def call(self, x, memory, memory_mask=None, training=None):
        """Decode.

        Args:
            x: target tokens, (B, T, D).
            memory: the encoder's output, (B, S, D).
            memory_mask: (B, 1, S), (T, S) or (B, T, S), true where a target token may look at the memory; or None.
            training: whether dropout is on.

        Returns:
            (B, T, D).
        """
        ### BEGIN SOLUTION
        h = self.self_attention(query=x, key=x, value=x, use_causal_mask=True)  # (B, T, D)
        x = self.norm1(x + self.dropout1(h, training=training))
        h = self.cross_attention(query=x, key=memory, value=memory, attention_mask=memory_mask)  # (B, T, D)
        x = self.norm2(x + self.dropout2(h, training=training))
        return self.norm3(x + self.dropout3(self.feed_forward(x), training=training))

        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "DecoderBlock", "locked": true, "points": 7, "schema_version": 3, "solution": false, "task": false}
check("DecoderBlock")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-lecture", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See the lecture's class beside yours
#
# `PlainDecoderBlock` has the same parts in the same order, without dropout. With your weights it must give the same.

# %% nbgrader={"grade": false, "grade_id": "lecture", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
x, memory = np.random.default_rng(8).normal(size=(2, 3, 5, 8)).astype("float32")  # (B, T, D), (B, S, D)
visible = padding_mask(np.array([[5, 9, 6, 7, 3], [8, 4, 3, 0, 0], [7, 3, 0, 0, 0]]))  # (B, 1, S)
lecture, block = PlainDecoderBlock(8, 2, 16), DecoderBlock(8, 2, 16)
yours, _ = block(x, memory, visible), lecture(x, memory, visible)  # now both have weights
lecture.set_weights(block.get_weights())
print(f"largest difference: {np.abs(np.asarray(lecture(x, memory, visible) - yours)).max():.4f}")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-7", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 3 · The Transformer
#
# This is the whole model of 2017, at any size. It takes source ids and target ids and returns logits over the
# vocabulary. Below is its skeleton; you write `embed` and `decode`. What the model computes:
#
# 1. **One table** E, (V, D), serves three times: for the source, for the target and for the output. It is
#    `self.embedding.embeddings`, once the layer has been called.
# 2. A sentence of ids becomes E[ids]·√D + positions, then dropout; source and target alike. The skeleton has the table of
#    positions, as a tensor: unlike an array, it can be sliced by a length that is not known yet.
# 3. The **encoder**: `num_layers` blocks of `EncoderBlock`, with weights of their own. Padding (id 0) of the source is
#    masked. The encoder is not causal.
# 4. The **decoder**: `num_layers` blocks of your `DecoderBlock`. All of them read the output of the *last* encoder
#    block, with the padding of the source masked.
# 5. The **logits** are x Eᵀ for the decoder's output x, (B, T, D) times (D, V): no bias, no scaling, no softmax.
#    The loss and the decoding apply the softmax.
#
# The model has to work inside `tf.function`, where a length may be unknown: `ops.shape(ids)[1]`. Pass masks and `training=` to the blocks by name: Keras refuses `True` by position.
#
# `EncoderBlock`, the post-norm block of lab 04, is given above the skeleton: norm1 and dropout1, then norm3 and dropout3 of a decoder block. Its
# cross-attention is never called, and so has no weights. Your own block of lab 04 fits in its place.
#
# There is no norm outside of the blocks. `num_layers` may be 0: then the logits are (E[ids]·√D + positions) Eᵀ, and the
# first group of the check looks at these alone.

# %% nbgrader={"grade": false, "grade_id": "Transformer-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
class EncoderBlock(DecoderBlock):
    """The block of an encoder, post-norm: a decoder block without its middle part, and not causal."""

    def call(self, x, attention_mask=None, training=None):
        """Encode x, (B, S, D); attention_mask is (B, 1, S), True where a token may be looked at."""
        seen = self.self_attention(query=x, value=x, attention_mask=attention_mask)  # (B, S, D)
        x = self.norm1(self.dropout1(seen, training=training) + x)
        return self.norm3(self.dropout3(self.feed_forward(x), training=training) + x)


class Transformer(keras.Model):
    """The encoder-decoder Transformer, with one embedding for source, target and output.

    Args:
        num_layers: number of encoder blocks, and of decoder blocks.
        d_model: width of a token, D, an even number.
        num_heads: number of heads, H; each is D/H wide.
        d_ff: width of the feed-forward networks, F.
        vocab_size: number of ids, V; id 0 is padding.
        max_length: largest number of tokens of a source or a target.
        dropout: rate of every dropout.
    """

    def __init__(self, num_layers, d_model, num_heads, d_ff, vocab_size, max_length, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff, "dropout": dropout}
        self.settings = {"num_layers": num_layers, "vocab_size": vocab_size, "max_length": max_length, **sizes}
        self.d_model = d_model
        self.embedding = keras.layers.Embedding(vocab_size, d_model)
        self.source_dropout = keras.layers.Dropout(dropout)
        self.target_dropout = keras.layers.Dropout(dropout)
        self.encoder_blocks = [EncoderBlock(**sizes) for _ in range(num_layers)]
        self.decoder_blocks = [DecoderBlock(**sizes) for _ in range(num_layers)]
        angles = np.arange(max_length)[:, None] / 10_000 ** (np.arange(0, d_model, 2) / d_model)  # (max_length, D/2)
        waves = np.stack([np.sin(angles), np.cos(angles)], axis=-1)  # (max_length, D/2, 2)
        self.positions = ops.cast(waves.reshape(max_length, d_model), "float32")  # a tensor: a graph can slice it

    def get_config(self):
        return {**super().get_config(), **self.settings}  # a `keras.Model` is saved with these

    def embed(self, ids):
        """Tokens of ids, (B, T) -> (B, T, D): scaled embeddings plus positions."""
        ### BEGIN SOLUTION
        return self.embedding(ids) * self.d_model**0.5 + self.positions[: ops.shape(ids)[1]]  # (B, T, D)
        ### END SOLUTION

    def encode(self, source, mask, training=None):
        """The memory, (B, S, D), of source ids, (B, S); mask is (B, 1, S)."""
        memory = self.source_dropout(self.embed(source), training=training)  # (B, S, D)
        for encoder_block in self.encoder_blocks:
            memory = encoder_block(memory, attention_mask=mask, training=training)
        return memory

    def decode(self, target_in, memory, mask, training=None):
        """Logits, (B, T, V), of target ids, (B, T); memory is (B, S, D) and mask (B, 1, S)."""
        x = self.target_dropout(self.embed(target_in), training=training)  # (B, T, D)
        ### BEGIN SOLUTION
        for block in self.decoder_blocks:
            x = block(x, memory, memory_mask=mask, training=training)
        return ops.matmul(x, ops.transpose(self.embedding.embeddings))  # (B, T, V)
        ### END SOLUTION

    def call(self, inputs, training=None):
        """Predict every next token of the target.

        Args:
            inputs: the pair (source, target_in) of ids, (B, S) and (B, T); target_in begins with the start id.
            training: whether dropout is on.

        Returns:
            Logits, (B, T, V).
        """
        source, target_in = inputs
        mask = padding_mask(source)  # (B, 1, S)
        memory = self.encode(source, mask, training) if self.encoder_blocks else None
        return self.decode(target_in, memory, mask, training)


# %% nbgrader={"grade": true, "grade_id": "Transformer", "locked": true, "points": 7, "schema_version": 3, "solution": false, "task": false}
check("Transformer")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-9", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Part B · The loss
#
# ## 4 · Kullback–Leibler divergence (optional)
#
# No points. A prediction q and the target p are distributions over the V words. The cross-entropy $H(p, q) = -\sum_v p_v \ln q_v$ is
# what q costs when the words come from p. The divergence says how much more q costs than p itself would, in nats:
#
# $$KL(p \,\|\, q) = \sum_v p_v \ln \frac{p_v}{q_v} = H(p, q) - H(p).$$
#
# $H(p) = H(p, p)$ is the entropy of p. Where p is 0 the term is 0, whatever q is there. Where q is 0 and p is not, the result is `inf`.
#
# By hand: p = (½, ½, 0) and q = (¼, ½, ¼) give ½ ln 2 = 0.347.

# %% nbgrader={"grade": false, "grade_id": "kl_divergence-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def kl_divergence(p, q):
    """Kullback–Leibler divergence KL(p ‖ q), in nats.

    Args:
        p, q: distributions, (V,), arrays or tensors of floats.

    Returns:
        Σ p ln(p/q), a float; inf when q is 0 where p is not.
    """
    ### BEGIN SOLUTION
    p, q = np.asarray(p, "float64"), np.asarray(q, "float64")
    with np.errstate(divide="ignore"):  # a division by 0 is inf, as it should be
        return float(np.sum(p[p > 0] * np.log(p[p > 0] / q[p > 0])))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "kl_divergence", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("kl_divergence")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-11", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 5 · The loss
#
# Now you write the cross-entropy of a batch, from logits, with padding and label smoothing. For each position, with the
# prediction softmax(logits) over the last axis, the loss is the cross-entropy with a target distribution t:
#
# - without smoothing, t is 1 at the right word and 0 elsewhere;
# - with ε = `label_smoothing`, t is (1 − ε) times that plus ε/V at **every** one of the V ids, the right one and
#   padding included.
#
# Positions whose target is `pad_id` do not count. The result is the sum over all real tokens of the batch divided by
# their number: not a mean of the sentences' means, which would give words of short sentences more weight. (At least
# one token of a batch is real. Before you multiply with a boolean mask, `ops.cast` makes 1 and 0 of it.)
#
# The function trains the model, so gradients have to reach the logits, and it has to work inside `tf.function`: write
# it with `keras.ops` or TensorFlow. Logits may be in the thousands: there a softmax rounds to 0, and its logarithm is −∞. `ops.log_softmax`
# gives ln p without that.
#
# By hand: one position, V = 2, logits (0, ln 3), target 1: the prediction is (¼, ¾), the loss ln(4/3) = 0.288. With ε
# = 0.2 it is 0.9 · 0.288 + 0.1 · ln 4 = 0.398.

# %% nbgrader={"grade": false, "grade_id": "masked_cross_entropy-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def masked_cross_entropy(logits, targets, pad_id=0, label_smoothing=0.0):
    """Cross-entropy of predictions with their targets, averaged over the real tokens of a batch.

    Args:
        logits: (B, T, V).
        targets: ids, (B, T).
        pad_id: targets with this id do not count.
        label_smoothing: ε; the target distribution is (1 − ε)·one-hot + ε/V.

    Returns:
        A scalar, in nats.
    """
    ### BEGIN SOLUTION
    log_p = ops.log_softmax(ops.convert_to_tensor(logits), axis=-1)  # (B, T, V)
    one_hot = ops.one_hot(targets, log_p.shape[-1], dtype=log_p.dtype)  # (B, T, V)
    right_word = ops.sum(one_hot * log_p, axis=-1)  # (B, T)
    losses = -(1 - label_smoothing) * right_word - label_smoothing * ops.mean(log_p, axis=-1)  # (B, T)
    real = ops.cast(ops.not_equal(targets, pad_id), log_p.dtype)  # (B, T)
    return ops.sum(losses * real) / ops.sum(real)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "masked_cross_entropy", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check("masked_cross_entropy")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Find the bug
#
# A colleague has written the same loss in her own way. It runs, gradients flow, and her model learns; for a batch without
# padding it even returns what yours returns. But her losses differ from those of her neighbours.
#
# Delete the line `raise NotImplementedError`, and her code runs. Find out for which inputs it is wrong, and fix it in
# place, with as few changes as possible. It is graded all or nothing.

# %% nbgrader={"grade": false, "grade_id": "find_the_bug-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def find_the_bug(logits, targets, pad_id=0, label_smoothing=0.0):
    """The loss, as in `masked_cross_entropy`: arguments and result are the same."""
    logits = ops.convert_to_tensor(logits)
    words = logits.shape[-1]
    wanted = (1 - label_smoothing) * ops.one_hot(targets, words, dtype=logits.dtype) + label_smoothing / words
    ### BEGIN SOLUTION
    real = ops.cast(ops.not_equal(targets, pad_id), logits.dtype)  # (B, T)
    losses = ops.categorical_crossentropy(wanted, logits, from_logits=True)  # (B, T)
    return ops.sum(losses * real) / ops.sum(real)
    ### END SOLUTION
    # This runs, and is wrong.
    real = ops.cast(ops.not_equal(targets, pad_id), logits.dtype)[..., None]  # (B, T, 1)
    losses = ops.categorical_crossentropy(wanted, logits * real, from_logits=True)  # (B, T)
    return ops.sum(losses) / ops.sum(real)


# %% nbgrader={"grade": true, "grade_id": "find_the_bug", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("find_the_bug")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-guess", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 6 · How low can the loss go?
#
# Your Transformer is about to learn to write a row of digits backwards: a task in which every output token has to find
# its source token. Suppose that the model becomes perfect: how low does a loss with **label smoothing** go?
#
# Guess first, for a vocabulary of **V = 4 words** and ε = 0.4. Put your number, in nats, in place of `None`, delete the last line of the cell, and
# run both cells. The second one searches with your `masked_cross_entropy`: 300 steps downhill on the four logits of one token. A guess earns
# no points.

# %% nbgrader={"grade": false, "grade_id": "guess", "locked": false, "schema_version": 3, "solution": true, "task": false}
guess = None  # one number, in nats
### BEGIN SOLUTION
guess = 0.94
### END SOLUTION

# %% nbgrader={"grade": false, "grade_id": "measured", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
if guess is None:
    print("First write your guess into the cell above.")
else:
    logits = tf.Variable(np.zeros((1, 1, 4), "float32"))  # (B, T, V)
    for _ in range(300):
        with tf.GradientTape() as tape:
            loss = masked_cross_entropy(logits, np.array([[3]]), label_smoothing=0.4)
        logits.assign_sub(tape.gradient(loss, logits))
    print(f"lowest loss found {float(loss):.3f}, your guess {guess:.3f}; its prediction:", *ops.softmax(logits)[0, 0].numpy().round(3))

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# Now answer the same question for your Transformer: **V = 14 words**, label smoothing 0.1. It has to be within 0.015.

# %% nbgrader={"grade": false, "grade_id": "predict-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
predict = None  # one number, in nats
### BEGIN SOLUTION
predict = 0.55
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("predict")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-floor", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Derive: the floor, and the logits that reach it
#
# Now for every V and every ε. Derive two closed forms:
#
# - `floor`: the smallest value that the smoothed loss of a token can have, over all logits;
# - `gap`: the logits that reach it are equal for all wrong words. By how much does the logit of the right word exceed theirs?
#
# V and ε are numbers or arrays that broadcast, and so are the results. ε lies between 0 and 1, both included; V is at least 2
# and can be 10¹², so a closed form has no array of V entries, and Python loops are ruled out. With ε = 0 the floor is 0,
# and no finite gap reaches it: return `inf`. Neither result is ever NaN.
#
# **By hand:** V = 2 and ε = 0.5.
# <details><summary>Answer</summary>The target is (0.75, 0.25). The floor is 0.75 ln(4/3) + 0.25 ln 4 = 0.562. A softmax of the logits (s, 0) is (0.75, 0.25) for eˢ = 3, so the gap is ln 3 = 1.099.</details>

# %% nbgrader={"grade": false, "grade_id": "derive_smoothing_floor-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def derive_smoothing_floor(vocab_size, smoothing):
    """The smallest loss with label smoothing, and the gap between logits that reaches it.

    Args:
        vocab_size: number of ids, V, an int or an array of ints.
        smoothing: ε, a float or an array.

    Returns:
        The tuple (floor, gap), in nats; each has the shape that the arguments broadcast to.
    """
    ### BEGIN SOLUTION
    vocab_size, smoothing = np.asarray(vocab_size, "float64"), np.asarray(smoothing, "float64")
    other = smoothing / vocab_size  # what the target gives to each wrong word
    right = 1 - smoothing + other
    ln_other = np.log(np.where(other > 0, other, 1.0))
    floor = -right * np.log(right) - (vocab_size - 1) * other * ln_other
    return floor, np.where(other > 0, np.log(right) - ln_other, np.inf)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "derive_smoothing_floor", "locked": true, "points": 7, "schema_version": 3, "solution": false, "task": false}
check("derive_smoothing_floor")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-13", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Part C · The measurement
#
# ### See it train
#
# Two models with the same start learn from the same batches. The first reads correct prefixes. For the second, a tenth of
# the digits that the decoder reads is false. Training takes a minute or two. The dotted line is your floor.
#
# <details><summary>The loss stays above 1?</summary>The model guesses the digits that occur without seeing where. Look at the positions of source and target, and at the memory.</details>
# <details><summary>The loss falls far below the dotted line, and the floor has passed its check?</summary>The loss is not the smoothed one, or the decoder sees what it should predict: look at the shift and the causal mask.</details>

# %% nbgrader={"grade": false, "grade_id": "training", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
PAD, START, END, FIRST = 0, 2, 3, 4  # digits are the ids 4 to 13


def draw_batch(rng, size=64):
    source = np.zeros((size, 6), "int32")  # (B, S)
    target = np.zeros((size, 7), "int32")  # (B, T)
    for row, length in enumerate(rng.integers(3, 7, size=size)):
        digits = rng.integers(FIRST, FIRST + 10, size=length)
        source[row, :length] = digits
        target[row, : length + 1] = [*digits[::-1], END]
    return source, target


def with_false_digits(reads, rng, share=0.1):
    is_hit = (rng.random(reads.shape) < share) & (reads >= FIRST)
    return np.where(is_hit, FIRST + (reads - FIRST + rng.integers(1, 10, reads.shape)) % 10, reads)


# %% nbgrader={"grade": false, "grade_id": "training-loop", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
def trained(share, steps=350):
    keras.utils.set_random_seed(8)
    rng, noise = np.random.default_rng(8), np.random.default_rng(9)
    model = Transformer(num_layers=1, d_model=64, num_heads=4, d_ff=128, vocab_size=14, max_length=8)
    rate = keras.optimizers.schedules.CosineDecay(0.0, steps, warmup_target=6e-3, warmup_steps=100)
    optimizer = keras.optimizers.Adam(rate, beta_2=0.98, epsilon=1e-9)

    @tf.function
    def train_step(source, reads, target):
        with tf.GradientTape() as tape:
            logits = model((source, reads), training=True)  # (B, T, V)
            loss = masked_cross_entropy(logits, target, label_smoothing=0.1)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    losses = []
    for _ in range(steps):
        source, target = draw_batch(rng)
        reads = with_false_digits(np.asarray(shift_right(target, START)), noise, share)
        losses.append(float(train_step(*(tf.constant(ids) for ids in (source, reads, target)))))
    return model, losses


models, (figure, ax) = {}, plt.subplots(figsize=(6.5, 3.2))
for line, (name, share) in enumerate({"correct prefixes": 0.0, "a tenth false": 0.1}.items()):
    models[name], losses = trained(share)
    ax.plot(losses, label=name, markevery=50, **plots.LINES[line])
ax.axhline(float(derive_smoothing_floor(14, 0.1)[0]), linestyle=":", color="gray", label="your floor")
ax.set(xlabel="step", ylabel="loss", ylim=(0, None))
ax.legend()
plots.show(figure, alt="Both losses fall and level off just above a dotted line, the floor that you derived.")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-exposure", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 7 · Measure: does a model recover from a wrong token?
#
# The lecture put one false digit into a prefix and went on with correct ones. A model that writes goes on with **its own**
# tokens, so one mistake may lead to the next. You measure it, for any model. For each sentence n, with p =
# `positions[n]`, the model continues twice:
#
# - after `targets[n][:p]` and the **right** token `targets[n][p]`. This is the base rate;
# - after `targets[n][:p]` and the **false** token.
#
# The stub does this. Each written token is appended to its own prefix, right or wrong, and compared with the target at its position. Step k is
# the k-th written token, at position p + k. What you get is the array `is_right`, (2, N, K): 1 or 0 for each sentence and step, first after the
# right token, then after the false one. It is NaN where the target has no token at this step; there the sentence does **not count**, but before it does.
#
# You write the rest: for each step the two shares `base` and `after`, and whether they differ by more than chance. The sentences are the **same**, so take for each d: right after the right token
# (1 or 0) minus right after the false one. With n sentences at a step, the `margin` is 1.96 · (standard deviation of d, with
# `ddof=1`) / √n. It is 0 if all d are equal, which is no certainty.
#
# **By hand:** four sentences at step 1; after the right token 1, 1, 1, 1 are right, after the false one 1, 0, 1, 0.
# <details><summary>Answer</summary>base 1, after ½; d is 0, 1, 0, 1 with the standard deviation 0.577, so the margin is 1.96 · 0.577/2 = 0.566: four sentences prove nothing.</details>

# %% nbgrader={"grade": false, "grade_id": "measure_exposure-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def measure_exposure(next_token, targets, positions, false_ids, steps):
    """How often a model writes the right token, by the number of steps after a false token.

    Args:
        next_token: called as next_token(n, prefix); the id that the model writes for sentence n after a list of ids,
            without the start id.
        targets: correct ids, (N, T), with 0 at the end of shorter sentences.
        positions, false_ids: for each sentence the position of the false token, and the false token, (N,).
        steps: K, how many tokens are written; each step has sentences that are long enough.

    Returns:
        The tuple (after, base, margin), each (K,): entry 0 belongs to step 1.
    """
    is_right = np.full((2, len(targets), steps), np.nan)  # (2, N, K)
    for n, target in enumerate(np.asarray(targets)):
        place = positions[n]
        for kind, token in enumerate((target[place], false_ids[n])):
            prefix = [*target[:place], token]
            for step, wanted in enumerate(target[place + 1 : place + 1 + steps]):
                if wanted != 0:
                    prefix.append(next_token(n, prefix))
                    is_right[kind, n, step] = prefix[-1] == wanted
    ### BEGIN SOLUTION
    base, after = np.nanmean(is_right, axis=1)
    lost = is_right[0] - is_right[1]
    return after, base, 1.96 * np.nanstd(lost, axis=0, ddof=1) / np.sqrt(np.sum(lost == lost, axis=0))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "measure_exposure", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check("measure_exposure")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-recovery", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See who recovers
#
# Your two models, 150 new rows of digits, one false digit in the first three positions of each. Before you run the cell: at
# which step does the first model lose most, and does it ever recover? What do false prefixes in training change? Write
# down your answers in numbers.
# <details><summary>In our run</summary>The first model loses most at step 1, 0.31 with a margin of 0.07, and at step 4 nothing: it recovers. False prefixes in training take the whole loss away.</details>

# %% nbgrader={"grade": false, "grade_id": "recovery", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
rng = np.random.default_rng(10)
source, target = draw_batch(rng, size=150)
positions = rng.integers(0, 3, size=150)
digits = target[np.arange(150), positions] - FIRST
false_ids = FIRST + (digits + rng.integers(1, 10, size=150)) % 10
figure, ax = plt.subplots(figsize=(6.5, 3.2))
for name, model in models.items():
    logits_of = tf.function(lambda source, reads, model=model: model((source, reads), training=False))

    def next_token(n, prefix, logits_of=logits_of):
        reads = np.zeros((1, 7), "int32")  # what stands behind the prefix is hidden by the causal mask
        reads[0, : len(prefix) + 1] = [START, *prefix]
        return int(np.argmax(logits_of(tf.constant(source[n : n + 1]), tf.constant(reads))[0, len(prefix)]))

    after, base, margin = measure_exposure(next_token, target, positions, false_ids, steps=4)
    ax.errorbar(range(1, 5), base - after, margin, capsize=3, label=name, **plots.LINES[len(ax.containers)])
    for step, numbers in enumerate(zip(after, base, margin, strict=True), 1):
        print(
            f"{name:16} step {step}: after a false digit {numbers[0]:.2f}, base {numbers[1]:.2f}, margin {numbers[2]:.2f}"
        )
ax.axhline(0, color="gray", linestyle=":")
ax.set(xlabel="steps after the false digit", ylabel="accuracy lost", xticks=range(1, 5))
ax.legend(title="trained with")
plots.show(
    figure,
    alt="""Accuracy that one false digit costs, by the number of steps after it, with its margin. One curve for each of your two models: trained on
correct prefixes, and on prefixes with a tenth of false digits.""",
)

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-17", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Part D · Optional
#
# ## 8 · By hand (optional)
#
# Paper and pencil, no code, no points. Put your answers in place of `None`, and delete the last line of the cell.
#
# - `base_model`: the *base* model of "Attention Is All You Need": d_model, number of heads, d_ff, number of encoder
#   blocks. Four numbers.
# - `inference`: while a trained decoder writes, one token at a time, it reads its own prefix. What about the causal
#   mask? One letter:
#   - `"a"`: it is needed in training only; at inference there is no future that it could hide;
#   - `"b"`: it stays, or a key–value cache does the same: without it earlier tokens would see later ones;
#   - `"c"`: it is turned round, because the last token now has to see everything;
#   - `"d"`: the padding mask takes its place.
# - `vocabulary`: the logits are (B, T, V), and a softmax makes predictions of them. What sums to 1? One letter:
#   - `"a"`: for each word, its T positions: the softmax says where it stands;
#   - `"b"`: for each position, its B sentences;
#   - `"c"`: for each position, its V words;
#   - `"d"`: nothing; the decoder's logits are probabilities already.
# - `untracked`: somebody keeps the embedding of a Keras 3 layer in `self.table = tf.Variable(…)`. What happens in
#   `fit`? One letter:
#   - `"a"`: you notice nothing: the loss falls, because the other weights learn, and the table stays as it was drawn;
#   - `"b"`: `compile` raises an error, because the layer has a variable that it does not know;
#   - `"c"`: the table learns, and is only missing in the saved file;
#   - `"d"`: the table learns: Keras tracks every variable that is assigned to an attribute.

# %% nbgrader={"grade": false, "grade_id": "answers-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
answers = {
    "base_model": None,  # four numbers: [.., .., .., ..]
    "inference": None,  # "a", "b", "c" or "d"
    "vocabulary": None,  # "a", "b", "c" or "d"
    "untracked": None,  # "a", "b", "c" or "d"
}
### BEGIN SOLUTION
answers = {
    "base_model": [512, 8, 2048, 6],
    "inference": "b",
    "vocabulary": "c",
    "untracked": "a",
}
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "answers", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("answers")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-8", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 9 · Three formulas (optional)
#
# **Cross-entropy**, the loss of one position from probabilities, in nats: $H(p, q) = -\sum_v p_v \ln q_v$. Zeros count as in
# exercise 4. By hand: p = (½, ½, 0) and q = (¼, ½, ¼) give ½ ln 4 + ½ ln 2 = 1.040.

# %% nbgrader={"grade": false, "grade_id": "cross_entropy-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cross_entropy(p, q):
    """Cross-entropy of two distributions, in nats.

    Args:
        p: the target distribution, (V,), an array or a tensor of floats.
        q: the prediction, (V,).

    Returns:
        −Σ p ln q, a float; inf when q is 0 where p is not.
    """
    ### BEGIN SOLUTION
    p, q = np.asarray(p, "float64"), np.asarray(q, "float64")
    with np.errstate(divide="ignore"):  # the logarithm of 0 is −inf, as it should be
        return float(-np.sum(p[p > 0] * np.log(q[p > 0])))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "cross_entropy", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("cross_entropy")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-10", "locked": true, "schema_version": 3, "solution": false, "task": false}
# **Jensen–Shannon divergence** is symmetric: both distributions are compared with the one in the middle.
#
# $$JS(p, q) = \tfrac12 KL(p \,\|\, m) + \tfrac12 KL(q \,\|\, m), \qquad m = \tfrac12 (p + q).$$
#
# Predict first: what is the largest value it can have, and for which p and q?
#
# <details><summary>Answer</summary>ln 2 = 0.693, when p and q have no word in common: then m is half of p where p is positive, and half of q where q is. It is never infinite, because m is positive wherever p or q is.</details>

# %% nbgrader={"grade": false, "grade_id": "js_divergence-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def js_divergence(p, q):
    """Jensen–Shannon divergence, in nats.

    Args:
        p, q: distributions, (V,), arrays or tensors of floats.

    Returns:
        ½ KL(p ‖ m) + ½ KL(q ‖ m) with m = ½ (p + q), a float between 0 and ln 2.
    """
    ### BEGIN SOLUTION
    p, q = np.asarray(p, "float64"), np.asarray(q, "float64")
    middle = (p + q) / 2
    return (kl_divergence(p, middle) + kl_divergence(q, middle)) / 2
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "js_divergence", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("js_divergence")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-12", "locked": true, "schema_version": 3, "solution": false, "task": false}
# **Warm-up.** The learning rate of 2017 rises in a straight line for `warmup_steps` steps and falls with the root of the step
# afterwards:
#
# $$\text{rate} = D^{-0.5} \cdot \min(\text{step}^{-0.5},\; \text{step} \cdot \text{warmup}^{-1.5}).$$
#
# Step 0 counts as step 1; no other step is changed. For the base model (D = 512, 4,000 steps) the peak is 0.0007.

# %% nbgrader={"grade": false, "grade_id": "transformer_schedule-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def transformer_schedule(step, d_model, warmup_steps=4000):
    """Learning rate of a step.

    Args:
        step: number of the step, an int from 0 on; 0 counts as 1.
        d_model: width of the model, D.
        warmup_steps: how many steps the rate rises.

    Returns:
        The rate, a float.
    """
    ### BEGIN SOLUTION
    step = max(step, 1)
    return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "transformer_schedule", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("transformer_schedule")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-18", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## In your own words
#
# A colleague trains a decoder without the causal mask. Her training loss falls faster than yours, and she is pleased.
# Then she lets it write, and gets nonsense. Explain both to her, and why adding the mask at inference only does not
# help. And what did you measure in exercise 7: which lost accuracy is larger than its margin, at which step, and what do false
# prefixes in training change? One seed of training was used: what can your numbers not say? Four to eight sentences. This
# earns no points; your instructor reads it and writes back.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explanation", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# Without the mask the decoder's input at position t + 1, which is the very token that position t should predict, is
# in sight. So the model learns to copy its neighbour on the right: that costs little, and it needs neither the source
# nor the words before. When it writes, there is nothing on the right to copy, and nothing else was learned. A mask at
# inference only takes away what the model relies on; it does not teach it what it could have learned instead. The
# mask has to be there when the weights are learned, and for the same reason afterwards: outputs of earlier tokens
# must be computed as they were in training.
#
# Exercise 7, with one seed: after a false digit the first model writes the next one correctly in 69 % of the rows, against
# 100 % after the right one. The loss of 31 points is larger than the margin of 7. At step 2 it loses 9 points (margin 5), and
# from step 3 on its loss is within the margin: it recovers, because the source says what comes next. The model that read
# false digits in training loses nothing that 150 rows can show. Both were trained once: the margin is about the rows, and
# another seed of training could give other losses.

# %% [markdown] nbgrader={"grade": false, "grade_id": "closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# You have the whole machine of 2017 in about a hundred lines. How sentences come out of it is the subject of
# [lab 08b](../08b_generating_text/08b_generating_text.ipynb).

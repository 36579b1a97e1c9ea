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
# source, target and output. Then you write the loss that trains the model and the schedule of its learning rate. The
# second part shows how a sentence comes out of the model: [lab
# 08b](../08b_generating_text/08b_generating_text.ipynb).
#
# <details><summary>If you come from PyTorch</summary>A mask says True for <i>may attend</i>; in <code>nn.MultiheadAttention</code> True means blocked. Pass masks by name: <code>attention_mask=</code>. <code>Dense(width)</code> takes the output width only. The first argument of <code>LayerNormalization</code> is the axis, so write <code>epsilon=1e-6</code> by name. <code>key_dim</code> is the width of one head. <code>nn.ModuleList</code> is a plain list. Sizes that are unknown in a graph come from <code>ops.shape(x)</code>.</details>
#
# **Before you start:** read [lecture 08](../../lectures/08_decoder_and_masking.ipynb). **Time:** about 150 minutes.
# The lab comes in three parts, and each of them is a good place to stop.
#
# **How a lab works.** Each exercise has a cell with a stub, and below it a cell `check("…")`. Replace the line `raise
# NotImplementedError`, run your cell, then run the check. It says what works, what differs first, and which mistake
# it looks like; from the second failed try on it adds hints. Your mark comes from the same tests on inputs that you
# have not seen, so code that fits only the visible inputs earns nothing. Add cells wherever you like; the check cells
# themselves are restored before grading.
#
# **Letters.** B batch, T target tokens, S source tokens, D width of a token (`d_model`), H heads, F width inside the
# feed-forward network (`d_ff`), V words in the vocabulary. Id 0 is padding, 1 is `[UNK]`.
#
# | part | exercise | what you write | points | difficulty | minutes |
# |---|---|---|---|---|---|
# | A · masks | 1 | `causal_mask` | 1 | ●○○○○ | 5 |
# | | 2 | `padding_mask` | 2 | ●○○○○ | 5 |
# | | 3 | `combine_masks` | 2 | ●○○○○ | 5 |
# | | 4 | `shift_right` | 2 | ●○○○○ | 5 |
# | B · the model | 5 | `DecoderBlock` | 8 | ●●●●○ | 30 |
# | | 6 | `Transformer` | 7 | ●●●●○ | 30 |
# | C · the training | 7 | `cross_entropy` | 2 | ●●○○○ | 10 |
# | | 8 | `kl_divergence` | 2 | ●○○○○ | 5 |
# | | 9 | `js_divergence`, optional | 0 | ●●○○○ | 10 |
# | | 10 | `masked_cross_entropy` | 4 | ●●●○○ | 15 |
# | | 11 | `find_the_bug` | 3 | ●○○○○ | 5 |
# | | 12 | `transformer_schedule` | 2 | ●○○○○ | 5 |
# | | 13 | `predict` | 2 | ●○○○○ | 5 |
# | | 14 | `answers` | 2 | ●●○○○ | 10 |
#
# Exercise 9 is optional: it earns no points, and its minutes are not in the total.
#
# Minutes and dots are estimated by a rule: how much there is to read and to write, and what can go wrong. They were not
# measured with students.
#
# Exercise 6 uses your results of 2 and 5. All others stand on their own: if you are stuck, go on.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["course-setup"]
# Colab: install the course's helper package. Anywhere else this cell does nothing.
import sys

if "google.colab" in sys.modules:
    print("Installing the course's helper package …")
    # %pip install --quiet --no-deps transformers-coursekit==0.1.0

# %% nbgrader={"grade": false, "grade_id": "imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
print("Loading TensorFlow, which takes about ten seconds …")

import functools

from coursekit import plots, quiet, start_lab

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import ops

check = start_lab("08_decoder_and_masking")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-1", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Part A · Masks
#
# ## 1 · Who may look at whom
#
# A decoder writes from left to right, so the token at position t may look at positions 0 to t and at nothing later.
# As a mask: a matrix (T, T) whose row t belongs to the query at t and whose column s belongs to the key at s. **True
# means: may attend**, here and everywhere in this course, and in Keras.
#
# By hand, for length 3: the rows are (True, False, False), (True, True, False), (True, True, True).
#
# <details><summary>Hint 1</summary>Row t, column s: the entry is a comparison of t and s.</details>
# <details><summary>Hint 2</summary>A column of positions compared with a row of positions broadcasts to a matrix.</details>

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
# ## 2 · Padding is not there
#
# Sentences of a batch are filled up with padding so that they fit into one matrix. No query may look at padding. The
# mask is made from the ids and is the same for every query, so it gets an axis of size 1 for the queries: (B, 1, S)
# broadcasts to (B, T, S).
#
# By hand, for the ids [[5, 7, 0], [8, 0, 0]]: the mask is [[[True, True, False]], [[True, False, False]]], of shape (2, 1, 3).
# Padding usually stands at the end; your function looks at the ids and not at the positions.
#
# <details><summary>Hint</summary>A comparison gives (B, S). Where does the new axis go so that the last one still counts the keys?</details>

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


# %% nbgrader={"grade": true, "grade_id": "padding_mask", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("padding_mask")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-3", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 3 · Both at once
#
# A key may be seen when **every** mask allows it. The masks have different shapes, such as (T, T) and (B, 1, T), and
# broadcast as NumPy's rules say. Write it for any number of masks:
#
# - masks may be boolean or hold the integers 0 and 1, also mixed;
# - `None` stands for "nothing is blocked" and is left out;
# - when no mask is left, or none was given, the result is `None`.
#
# By hand: the causal mask of length 3 and the padding mask (True, True, False) give the rows (True, False, False),
# (True, True, False), (True, True, False).
#
# <details><summary>Hint 1</summary>Inside the function, <code>masks</code> is a tuple. Take out what is None first.</details>
# <details><summary>Hint 2</summary>A logical and of two masks broadcasts by itself. Turn numbers into truth values first: <code>&amp;</code> does not take a bool and an int32 together in TensorFlow.</details>

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


# %% nbgrader={"grade": true, "grade_id": "combine_masks", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("combine_masks")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-4", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 4 · What the decoder reads, and what it should say
#
# In training the decoder gets the right target sentence, shifted one place to the right: at each position it reads
# the token before the one it should predict (teacher forcing). A start id comes first, and the last token is dropped.
#
# By hand: the target ((7, 8, 9), (4, 5, 0)) and start id 2 give ((2, 7, 8), (2, 4, 5)).
#
# Predict first: the causal mask lets position t look at itself. Why is that not cheating here?
#
# <details><summary>Answer</summary>What stands at position t after the shift is the target's token t − 1. The token to be predicted, target t, stands at t + 1, which is hidden.</details>
# <details><summary>Hint</summary>Concatenate a column (B, 1) of start ids and all columns of ids but one.</details>

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


# %% nbgrader={"grade": true, "grade_id": "shift_right", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("shift_right")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-5", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See your masks
#
# The next cell shows the masks of two target sentences; the second is padded. Before you run the cell: which rows of
# the right panel differ from the left?

# %% nbgrader={"grade": false, "grade_id": "picture-masks", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
target_ids = np.array([[5, 9, 6, 7, 3], [8, 4, 3, 0, 0]])  # (B, T)
words = [["the", "cat", "sat", "down", "[END]"], ["it", "slept", "[END]", "[PAD]", "[PAD]"]]
masks = combine_masks(causal_mask(5), padding_mask(target_ids))  # (B, T, T)
figure, panels = plt.subplots(1, 2, figsize=(8, 3.6))
for panel, mask, names in zip(panels, np.asarray(masks), words, strict=True):
    plots.attention_map(mask, names, names, mask=mask, title="1: may attend", ax=panel)
plots.show(
    figure,
    alt="Two masks of five by five. Left: ones on and below the diagonal. Right: the same, with the last two columns empty.",
)


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-6", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Part B · The model
#
# ## 5 · The decoder block
#
# Three sub-layers, each with dropout, a residual path and a layer norm after the sum (post-norm, as in the paper of
# 2017):
#
# > y = LN₁(x + Dropout₁(SelfAttention(x)))
# > z = LN₂(y + Dropout₂(CrossAttention(y, memory)))
# > out = LN₃(z + Dropout₃(FFN(z)))
#
# **Use these names**, because the checks put known weights into these layers and decide which features the dropouts
# erase:
#
# | attribute | what it is |
# |---|---|
# | `self_attention` | `keras.layers.MultiHeadAttention` with H heads of `key_dim` D/H, without dropout of its own. Query, key and value are x |
# | `cross_attention` | the same kind of layer. The query comes from the target; key and value are the memory, the encoder's output |
# | `feed_forward` | a layer with two Dense, both with bias: D to F with ReLU, then F to D. Your `FeedForward` of lab 04 serves, and so does a `keras.Sequential` |
# | `norm1`, `norm2`, `norm3` | `keras.layers.LayerNormalization` with `epsilon=1e-6` |
# | `dropout1`, `dropout2`, `dropout3` | `keras.layers.Dropout` at the rate `dropout`, each on a sub-layer's output, before the sum |
#
# - The block is **causal by itself**: nobody passes it a causal mask, in training or later. The output at position t
#   depends on x at 0 to t and on the memory, and not on what follows in x. A causal mask over the cross-attention
#   would be wrong: the source is known as a whole.
# - The stub lists the shapes of `memory_mask`, which is boolean or holds numbers. Keras takes all of them as they are, by the
#   name `attention_mask=`. Passed by position, the mask would go into `query_mask`.
# - There is no mask for padding in x. It stands at the end, where no real token looks, and the loss leaves it out.
# - `training` decides whether dropout is on. Pass it to all three.
#
# <details><summary>Hint 1</summary><code>MultiHeadAttention</code> has an argument of its call that makes it causal, and it takes a mask of your own as well.</details>
# <details><summary>Hint 2</summary>Write the three lines with the names of the table; each line overwrites x.</details>
# <details><summary>Hint 3</summary>The result of an attention has as many rows as its query. What would the shape be if the memory were the query?</details>

# %% nbgrader={"grade": false, "grade_id": "DecoderBlock-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
class DecoderBlock(keras.Layer):
    """One decoder block, post-norm: causal self-attention, attention over the memory, a feed-forward network.

    Args:
        d_model: width of a token, D.
        num_heads: number of heads, H; each is D/H wide.
        d_ff: width of the feed-forward network's hidden layer, F.
        dropout: rate of the three dropouts.

    Attributes:
        those of the table above.
    """

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        ### BEGIN SOLUTION
        self.self_attention = keras.layers.MultiHeadAttention(num_heads=num_heads, key_dim=d_model // num_heads)
        self.cross_attention = keras.layers.MultiHeadAttention(num_heads=num_heads, key_dim=d_model // num_heads)
        dense = keras.layers.Dense
        self.feed_forward = keras.Sequential([dense(d_ff, activation="relu"), dense(d_model)])
        self.norm1, self.norm2, self.norm3 = (keras.layers.LayerNormalization(epsilon=1e-6) for _ in range(3))
        self.dropout1, self.dropout2, self.dropout3 = (keras.layers.Dropout(dropout) for _ in range(3))
        ### END SOLUTION

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


# %% nbgrader={"grade": true, "grade_id": "DecoderBlock", "locked": true, "points": 8, "schema_version": 3, "solution": false, "task": false}
check("DecoderBlock")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-7", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 6 · The Transformer
#
# This is the whole model of 2017, at any size. It takes source ids and target ids and returns logits over the
# vocabulary. Below is its skeleton; you write the four parts that are missing. You may also build it in your own way
# and with your own names: the checks put the same values into all weights of a kind, and compare the logits. What it
# computes is fixed:
#
# 1. **One table** E, (V, D), serves three times: for the source, for the target and for the output. Keep it in a
#    `keras.layers.Embedding`, or make it with `add_weight`. (A bare `tf.Variable` on a Keras 3 layer is not tracked:
#    it is never trained.)
# 2. A sentence of ids becomes E[ids]·√D + positions, then dropout; source and target alike. The positions are those
#    of lab 05, sin and cos in turn, not learned; rows count from 0, there are `max_length` of them, and D is even. The
#    skeleton has their table, as a tensor: unlike an array, it can be sliced by a length that is not known yet.
# 3. The **encoder**: `num_layers` blocks, each y = LN(x + Dropout(SelfAttention(x))), z = LN(y + Dropout(FFN(y))),
#    with weights of its own. The skeleton takes the parts of a `DecoderBlock` for it: norm1 and dropout1, then norm3
#    and dropout3; its cross-attention is never called, and so has no weights. Padding (id 0) of the source is masked.
#    The encoder is not causal.
# 4. The **decoder**: `num_layers` blocks of your `DecoderBlock`. All of them read the output of the *last* encoder
#    block, with the padding of the source masked.
# 5. The **logits** are x Eᵀ for the decoder's output x, (B, T, D) times (D, V): no bias, no scaling, no softmax.
#    The loss and the decoding apply the softmax.
#
# Layers are Keras's own, with the settings of exercise 5. There is no norm outside of the blocks. `num_layers` may
# be 0: then the logits are (E[ids]·√D + positions) Eᵀ.
#
# **Go in three steps.** First write `embed`, and `decode` without its loop: the first group of the check passes. Then
# write `EncoderBlock` and `encode`: the cell below the stub tries them alone. Then write the loop of `decode`:
# all groups pass.
#
# <details><summary>Hint 1</summary><code>embed</code> has no dropout: <code>encode</code> and <code>decode</code> apply it to the result of <code>embed</code>.</details>
# <details><summary>Hint 2</summary>The padding mask of the source goes to every encoder block as attention mask, and to every decoder block as memory mask.</details>
# <details><summary>Hint 3</summary><code>embedding.embeddings</code> is the table of a <code>keras.layers.Embedding</code> once it has been called.</details>

# %% nbgrader={"grade": false, "grade_id": "Transformer-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
class EncoderBlock(DecoderBlock):
    """The block of an encoder, post-norm: a decoder block without its middle part, and not causal."""

    def call(self, x, attention_mask=None, training=None):
        """Encode x, (B, S, D); attention_mask is (B, 1, S), True where a token may be looked at."""
        ### BEGIN SOLUTION
        h = self.self_attention(query=x, key=x, value=x, attention_mask=attention_mask)  # (B, S, D)
        x = self.norm1(x + self.dropout1(h, training=training))
        return self.norm3(x + self.dropout3(self.feed_forward(x), training=training))
        ### END SOLUTION


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
        ### BEGIN SOLUTION
        memory = self.source_dropout(self.embed(source), training=training)  # (B, S, D)
        for block in self.encoder_blocks:
            memory = block(memory, attention_mask=mask, training=training)
        return memory
        ### END SOLUTION

    def decode(self, target_in, memory, mask, training=None):
        """Logits, (B, T, V), of target ids, (B, T); memory is (B, S, D) and mask (B, 1, S)."""
        ### BEGIN SOLUTION
        x = self.target_dropout(self.embed(target_in), training=training)  # (B, T, D)
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


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-7b", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Try the encoder alone
#
# This is the second step of exercise 6. Both lines should say True.

# %% nbgrader={"grade": false, "grade_id": "encoder-alone", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
encoder = Transformer(num_layers=2, d_model=8, num_heads=2, d_ff=16, vocab_size=20, max_length=9)
sentences = np.array([[5, 9, 6, 7], [8, 4, 0, 0]])  # (B, S)
memory = encoder.encode(sentences, padding_mask(sentences))  # (B, S, D)
longer = np.pad(sentences, ((0, 0), (0, 3)))  # more padding
print("one vector for each id:", memory.shape == (2, 4, 8))
print("padding changes nothing:", np.allclose(memory[1, :2], encoder.encode(longer, padding_mask(longer))[1, :2], atol=1e-5))

# %% nbgrader={"grade": true, "grade_id": "Transformer", "locked": true, "points": 7, "schema_version": 3, "solution": false, "task": false}
check("Transformer")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-8", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Part C · The training
#
# ## 7 · Cross-entropy
#
# A prediction q is a distribution over the V words, and so is what it should be, p. The cross-entropy is what q costs
# when the words come from p:
#
# $$H(p, q) = -\sum_v p_v \ln q_v.$$
#
# With the natural logarithm the unit is the nat. Two cases need care:
#
# - where p is 0 the term is 0, whatever q is there. (A computer says that 0 times the logarithm of 0 is NaN.)
# - where q is 0 and p is not, the result is infinite, `inf`. Nothing is added to hide that.
#
# By hand: p = (½, ½, 0) and q = (¼, ½, ¼) give ½ ln 4 + ½ ln 2 = 1.040.
#
# <details><summary>Hint 1</summary>Choose the entries where p is positive before you take a logarithm.</details>
# <details><summary>Hint 2</summary><code>p[p &gt; 0]</code> and <code>q[p &gt; 0]</code> are arrays of the same length. NumPy warns at the logarithm of 0 and returns −inf, which is right here.</details>

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


# %% nbgrader={"grade": true, "grade_id": "cross_entropy", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("cross_entropy")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-9", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 8 · Kullback–Leibler divergence
#
# This divergence says how much more q costs than p itself would:
#
# $$KL(p \,\|\, q) = \sum_v p_v \ln \frac{p_v}{q_v} = H(p, q) - H(p, p).$$
#
# It is 0 when the two are equal and positive otherwise, and it is not symmetric. Zeros count as in exercise 7.
#
# By hand: p = (½, ½, 0) and q = (¼, ½, ¼) give ½ ln 2 = 0.347.
#
# <details><summary>Hint</summary>The difference on the right needs your function of exercise 7 only. The sum takes the same entries as there, and the quotient in the logarithm.</details>

# %% nbgrader={"grade": false, "grade_id": "kl_divergence-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def kl_divergence(p, q):
    """Kullback–Leibler divergence KL(p ‖ q), in nats.

    Args:
        p, q: distributions, (V,), arrays or tensors of floats.

    Returns:
        Σ p ln(p/q), a float; inf when q is 0 where p is not.
    """
    ### BEGIN SOLUTION
    return cross_entropy(p, q) - cross_entropy(p, p)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "kl_divergence", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("kl_divergence")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-10", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 9 · Jensen–Shannon divergence (optional)
#
# This exercise earns no points. The divergence of Jensen and Shannon is symmetric: both distributions are compared
# with the one in the middle.
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


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-11", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 10 · The loss
#
# Now you write the loss for a batch, from logits, with padding and label smoothing. For each position, with the
# prediction softmax(logits) over the last axis, the loss is the cross-entropy with a target distribution t:
#
# - without smoothing, t is 1 at the right word and 0 elsewhere;
# - with ε = `label_smoothing`, t is (1 − ε) times that plus ε/V at **every** one of the V ids, the right one and
#   padding included.
#
# Positions whose target is `pad_id` do not count. The result is the sum over all real tokens of the batch divided by
# their number: not a mean of the sentences' means, which would give words of short sentences more weight. (At least
# one token of a batch is real.)
#
# The function trains the model, so gradients have to reach the logits, and it has to work inside `tf.function`: write
# it with `keras.ops` or TensorFlow. Logits may be in the thousands.
#
# By hand: one position, V = 2, logits (0, ln 3), target 1: the prediction is (¼, ¾), the loss ln(4/3) = 0.288. With ε
# = 0.2 it is 0.9 · 0.288 + 0.1 · ln 4 = 0.398.
#
# <details><summary>Hint 1</summary>Logarithms of probabilities first, (B, T, V), by a function that takes logits and does not overflow.</details>
# <details><summary>Hint 2</summary>The smoothed loss is (1 − ε) times the loss of the right word plus ε times the mean of the losses of all V words.</details>
# <details><summary>Hint 3</summary>Multiply the losses (B, T) by 1 at real tokens and 0 at padding, sum everything, divide by the sum of the ones.</details>

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


# %% nbgrader={"grade": true, "grade_id": "masked_cross_entropy", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("masked_cross_entropy")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 11 · Find the bug
#
# A colleague has written the loss of exercise 10 in her own way. It runs, gradients flow, and her model learns; for a
# batch without padding it even returns what yours returns. But her losses differ from those of her neighbours.
#
# Delete the line `raise NotImplementedError`, and her code runs. Find out for which inputs it is wrong, and fix it in
# place. It is graded like exercise 10, all or nothing, and the check names no mistake: finding it is the exercise. Change
# as little as possible. If you paste your own function instead, you learn nothing.
#
# <details><summary>Hint</summary>What should happen to the loss when a batch gets one more column, of padding? Try it.</details>

# %% nbgrader={"grade": false, "grade_id": "find_the_bug-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def find_the_bug(logits, targets, pad_id=0, label_smoothing=0.0):
    """The loss of exercise 10: arguments and result are the same."""
    ### BEGIN SOLUTION
    logits = ops.convert_to_tensor(logits)
    real = ops.cast(ops.not_equal(targets, pad_id), logits.dtype)  # (B, T)
    words = logits.shape[-1]
    wanted = (1 - label_smoothing) * ops.one_hot(targets, words, dtype=logits.dtype) + label_smoothing / words
    losses = ops.categorical_crossentropy(wanted, logits, from_logits=True)  # (B, T)
    return ops.sum(losses * real) / ops.sum(real)
    ### END SOLUTION
    # This runs, and is wrong.
    logits = ops.convert_to_tensor(logits)
    words = logits.shape[-1]
    real = ops.cast(ops.not_equal(targets, pad_id), logits.dtype)[..., None]  # (B, T, 1)
    wanted = (1 - label_smoothing) * ops.one_hot(targets, words, dtype=logits.dtype) + label_smoothing / words
    losses = ops.categorical_crossentropy(wanted, logits * real, from_logits=True)  # (B, T)
    return ops.sum(losses) / ops.sum(real)


# %% nbgrader={"grade": true, "grade_id": "find_the_bug", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("find_the_bug")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-12", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 12 · Warm-up
#
# The learning rate of 2017 rises in a straight line for `warmup_steps` steps and falls with the root of the step
# afterwards:
#
# $$\text{rate} = D^{-0.5} \cdot \min(\text{step}^{-0.5},\; \text{step} \cdot \text{warmup}^{-1.5}).$$
#
# Step 0 counts as step 1; no other step is changed. For the base model (D = 512, 4,000 steps) the peak is 0.0007.
#
# <details><summary>Hint</summary>Where do the two curves meet? Left of it one is smaller, right of it the other.</details>

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


# %% nbgrader={"grade": true, "grade_id": "transformer_schedule", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("transformer_schedule")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 13 · Predict, then measure
#
# Your Transformer is about to learn to write a row of digits backwards: a task in which every output token has to find
# its source token. The loss has **label smoothing 0.1**, and the vocabulary has **V = 14 words**. Suppose that the model
# becomes perfect: how low does this loss go? Put the number, in nats, in place of `None`, and delete the last line of
# the cell, **before** you run the training below. It has to be within 0.05, and at the end you are asked for the reason.
#
# <details><summary>Hint</summary>Which distribution q makes the cross-entropy H(p, q) as small as possible, and how small is it then? The p is the smoothed target.</details>

# %% nbgrader={"grade": false, "grade_id": "predict-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
predict = None  # one number, in nats
### BEGIN SOLUTION
predict = 0.55
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("predict")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-13", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See it train
#
# The training below uses your loss, your schedule and your shifted targets. It takes about half a minute. The dotted
# line is your prediction. How close to it does the loss settle?
#
# <details><summary>The loss stays above 1?</summary>The model guesses the digits that occur without seeing where. Look at the positions of source and target, and at the memory.</details>
# <details><summary>The loss falls far below the dotted line, and the prediction has passed its check?</summary>The loss is not the smoothed one, or the decoder sees what it should predict: look at the shift and the causal mask.</details>

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


keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)
model = Transformer(num_layers=1, d_model=64, num_heads=4, d_ff=128, vocab_size=14, max_length=8)
optimizer = keras.optimizers.Adam(beta_2=0.98, epsilon=1e-9)


# %% nbgrader={"grade": false, "grade_id": "training-loop", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
@tf.function
def train_step(source, target):
    with tf.GradientTape() as tape:
        logits = model((source, shift_right(target, START)), training=True)  # (B, T, V)
        loss = masked_cross_entropy(logits, target, label_smoothing=0.1)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


losses, rates = [], []
for step in range(800):
    rates.append(transformer_schedule(step, 64, warmup_steps=200))
    optimizer.learning_rate = rates[-1]
    source, target = draw_batch(rng)
    losses.append(float(train_step(tf.constant(source), tf.constant(target))))
figure, panels = plt.subplots(1, 2, figsize=(9, 3.2))
panels[0].plot(rates)
panels[1].plot(losses)
panels[1].axhline(predict, linestyle=":", color="black")
panels[0].set(xlabel="step", title="learning rate")
panels[1].set(xlabel="step", title="loss", ylim=(0, None))
plots.show(
    figure,
    alt="Left: a learning rate that rises in a straight line and falls slowly. Right: a loss that falls and levels off; a dotted line shows the prediction.",
)

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-17", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 14 · By hand
#
# Paper and pencil, no code. Put your answers in place of `None`, and delete the last line of the cell.
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

# %% nbgrader={"grade": true, "grade_id": "answers", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("answers")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-18", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## In your own words
#
# A colleague trains a decoder without the causal mask. Her training loss falls faster than yours, and she is pleased.
# Then she lets it write, and gets nonsense. Explain both to her, and why adding the mask at inference only does not
# help. And how did you find your prediction of exercise 13? Three to eight sentences. This earns no points; your
# instructor reads it and writes back.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explanation", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# Without the mask the decoder's input at position t + 1, which is the very token that position t should predict, is
# in sight. So the model learns to copy its neighbour on the right: that costs little, and it needs neither the source
# nor the words before. When it writes, there is nothing on the right to copy, and nothing else was learned. A mask at
# inference only takes away what the model relies on; it does not teach it what it could have learned instead. The
# mask has to be there when the weights are learned, and for the same reason afterwards: outputs of earlier tokens
# must be computed as they were in training.
#
# Exercise 13: H(p, q) is smallest where q is p, and then it is the entropy of the smoothed target p. Its right word has
# 0.9 + 0.1/14 = 0.907, each of the other 13 has 0.1/14: 0.907 ln(1/0.907) + 13 · 0.0071 ln(1/0.0071) = 0.55.

# %% [markdown] nbgrader={"grade": false, "grade_id": "closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# You have the whole machine of 2017 in about a hundred lines. How sentences come out of it is the subject of
# [lab 08b](../08b_generating_text/08b_generating_text.ipynb).

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
# # Lab 03 · Multi-head attention
#
# In lab 02 one head looked at a sentence with one set of weights. Here you build the layer that the Transformer is made of:
# several heads side by side, each with a view of its own. You show with Keras's weights that it computes the same as
# Keras's layer, and build the variant of today's language models, in which heads share keys and values. Then you measure which heads
# a trained model needs, and derive from the parameters what a head does.
#
# **Before you start:** read [lecture 03](../../lectures/03_multi_head_attention.ipynb), and section 4 of [03b](../../lectures/03b_reading_heads.ipynb) for exercise 6. This lab begins where the class
# `PlainHeads` ends (one sentence, no mask, no biases). Have your
# `scaled_dot_product_attention` of [lab 02](../02_self_attention/02_self_attention.ipynb) at hand: you may copy it. If yours does not pass,
# write its five lines anew, after lecture 02, section 7.
# **Time:** about 105 minutes.
#
# **How a lab works.** Replace the line `raise NotImplementedError`, run your cell, then run the check below it. It says what
# works, what differs first, and which mistake it looks like; after the second failed attempt it adds hints. Your mark
# comes from the same tests on inputs that you have not seen.
#
# **Letters.** B batch, T queries, S keys, D width of a token (`d_model`), H heads (`num_heads`), K width of one head (`key_dim` in
# Keras), G heads of keys and values in exercise 4. In exercises 1, 2 and 4, K = D/H. Heads are counted from 0.
#
# | exercise | what you write | points | difficulty | minutes |
# |---|---|---|---|---|
# | 1 | `split_heads` | 2 | ●●○○○ | 10 |
# | 1 | `merge_heads` | 2 | ●○○○○ | 5 |
# | 2 | `MultiHeadAttention` | 10 | ●●●○○ | 20 |
# | 2 | `mha_parameter_count` (optional) | 0 | ●●●○○ | 15 |
# | 3 | `load_keras_weights` | 4 | ●●○○○ | 10 |
# | 4 | `GroupedQueryAttention` | 4 | ●●○○○ | 10 |
# | 4 | `predict` | 1 | ●○○○○ | 5 |
# | 4 | `kv_cache_numbers` (optional) | 0 | ●○○○○ | 5 |
# | 5 | `find_the_bug` | 3 | ●○○○○ | 5 |
# | 6 | `ablate_heads` (optional) | 0 | ●○○○○ | 5 |
# | 6 | `measure_head` | 7 | ●●●○○ | 15 |
# | 7 | `derive_circuits` | 6 | ●●○○○ | 10 |
#
# Optional exercises earn no points, and their minutes are not in the total, which counts reading and given cells as well.
#
# Times and difficulties are estimates, not measurements.
#
# <details><summary>If you come from PyTorch</summary>
#
# - `keras.Layer` is `nn.Module`, `call` is `forward`. Parts are made in `__init__`, as you are used to.
# - `Dense(units)` takes the width of the output only; the second argument is the activation. Its kernel is (in, out); the
#   kernel of `nn.Linear` is (out, in).
# - `ops.transpose(x, axes=(0, 2, 1, 3))` is `permute`: it names all axes. `ops.swapaxes(x, 1, 2)` is `transpose(1, 2)`.
# - True in a mask means *may attend*. In `masked_fill` and in `nn.MultiheadAttention` True means *blocked*.
# - Inside `tf.function` a size in `x.shape` may be None. `ops.shape(x)` has all sizes.
# - `key_dim` of Keras's layer is the width of **one** head; `embed_dim` of PyTorch's layer is the width of all heads
#   together.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["course-setup"]
# Colab: install the course's helper package. Anywhere else this cell does nothing.
import sys

if "google.colab" in sys.modules:
    print("Installing the course's helper package …")
    # %pip install --quiet --no-deps transformers-coursekit==0.1.0

# %% nbgrader={"grade": false, "grade_id": "imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
print("Loading TensorFlow, which takes about ten seconds …")

from coursekit import plots, quiet, start_lab

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from coursekit.pages.multi_head import PlainHeads  # the lecture's class

plots.use_course_style()
check = start_lab("03_multi_head_attention")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-1", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 1 · Split the heads, and merge them
#
# One projection makes the queries of all heads at once: a token's row of D numbers is [head 0 | head 1 | …], each D/H wide.
# To let every head attend on its own, the heads need an axis of their own, *before* the tokens, so that a batched
# matrix product treats (B, H) as batch.
#
# - `split_heads` turns (B, T, D) into (B, H, T, D/H). Head 0 holds the first D/H features of **every** token, head 1 the next
#   ones, and so on. The float type of `x` stays. You may assume that H divides D.
# - `merge_heads` undoes it: (B, H, T, K) becomes (B, T, H·K). Float types stay as they are.
#
# Both take an array or a tensor. Your layer will call them inside `tf.function`, where batch size and T are not known in
# advance, and so does the check. There `x.shape` contains `None`, `ops.shape(x)` gives the sizes to put into a reshape, and
# NumPy cannot read the tensor.

# %% nbgrader={"grade": false, "grade_id": "split_heads-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def split_heads(x, num_heads):
    """Give every head an axis of its own.

    Args:
        x: projected tokens, (B, T, D), an array or a tensor.
        num_heads: H, which divides D.

    Returns:
        (B, H, T, D/H), in the float type of x.
    """
    ### BEGIN SOLUTION
    x = ops.convert_to_tensor(x)
    batch, length, width = ops.shape(x)
    x = ops.reshape(x, (batch, length, num_heads, width // num_heads))  # (B, T, H, K)
    return ops.transpose(x, axes=(0, 2, 1, 3))  # (B, H, T, K)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "split_heads", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("split_heads")


# %% nbgrader={"grade": false, "grade_id": "merge_heads-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def merge_heads(x):
    """Put the heads of each token side by side.

    Args:
        x: outputs of the heads, (B, H, T, K), an array or a tensor.

    Returns:
        (B, T, H·K).
    """
    ### BEGIN SOLUTION
    x = ops.convert_to_tensor(x)
    batch, heads, length, size = ops.shape(x)
    x = ops.transpose(x, axes=(0, 2, 1, 3))  # (B, T, H, K)
    return ops.reshape(x, (batch, length, heads * size))  # (B, T, H·K)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "merge_heads", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("merge_heads")

# %% nbgrader={"grade": false, "grade_id": "round_trip", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
origin = 10 * np.arange(3)[:, None] + np.arange(6)  # (T, D): entry td is token t, feature d
print("head 0:", *np.asarray(split_heads(origin[None], 2))[0, 0].tolist())
print("head 1:", *np.asarray(split_heads(origin[None], 2))[0, 1].tolist())
print("and back:", np.array_equal(merge_heads(split_heads(origin[None], 2)), origin[None]))


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-3", "locked": true, "schema_version": 3, "solution": false, "task": false}
# Each row should show one token only (same first digit), and the way back should give the array again.
#
# ## 2 · The layer
#
# $$\text{head}_h = \mathrm{softmax}\left(\frac{Q_h K_h^\top}{\sqrt{K}}\right) V_h, \qquad \text{output} = [\text{head}_0 \mid \text{head}_1 \mid \dots]\; W_O$$
#
# - `MultiHeadAttention(d_model, num_heads)` holds four `keras.layers.Dense(d_model)` **with bias**, under the names `w_q`, `w_k`, `w_v`, `w_o`:
#   the checks put known weights into them by these names. Columns 0 to K − 1 of `w_q` belong to head 0, and so on.
# - If `num_heads` does not divide `d_model`, it raises `ValueError`.
# - `call(query, key, value, attention_mask=None, return_weights=False)`: query (B, T, D), key and value (B, S, D). In self-attention all
#   three are the same; in cross-attention keys and values come from elsewhere. It returns the output (B, T, D), or with
#   `return_weights=True` the tuple (output, weights), weights (B, H, T, S).
# - The mask is (T, S), (B, T, S) or (B, 1, T, S), boolean, integer or float; True or 1 means *may attend*. It is the same for all heads.
#   A query that may attend to nothing must not give NaN; its weights sum to 1, or all are 0.
# - Gradients must reach all weights, and the layer must run inside `tf.function` with unknown batch size and lengths.
# - `keras.layers.MultiHeadAttention` and its relatives are forbidden here.
#
# **Predict first.** B = 3 and H = 3, and you forget the axis for the heads in a mask (B, T, S). What will you see: an error, or a result?
#
# <details><summary>Answer</summary>A result, and a wrong one: with B = H the mask (B, T, S) is read as (H, T, S), so each head gets the mask of another sentence. With B ≠ H (both larger than 1) it is an error.</details>

# %% nbgrader={"grade": false, "grade_id": "MultiHeadAttention-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
class MultiHeadAttention(keras.Layer):
    """Attention with several heads, each d_model / num_heads wide (Vaswani et al. 2017, section 3.2.2).

    Args:
        d_model: width D of tokens and output.
        num_heads: H, which must divide d_model.

    Attributes:
        w_q, w_k, w_v, w_o: Dense layers with bias, (D, D).

    Raises:
        ValueError: num_heads does not divide d_model.
    """

    def __init__(self, d_model, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True  # tokens may come with a padding mask of Keras, which is handed on
        ### BEGIN SOLUTION
        if d_model % num_heads:
            raise ValueError(f"num_heads has to divide d_model; got d_model={d_model}, num_heads={num_heads}")
        self.num_heads = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (keras.layers.Dense(d_model) for _ in range(4))
        ### END SOLUTION

    def call(self, query, key, value, attention_mask=None, return_weights=False):
        """Attend.

        Args:
            query: (B, T, D).
            key, value: (B, S, D).
            attention_mask: (T, S), (B, T, S) or (B, 1, T, S), or None.
            return_weights: whether the weights (B, H, T, S) are returned too.

        Returns:
            The output (B, T, D), or the tuple (output, weights).
        """
        ### BEGIN SOLUTION
        q = split_heads(self.w_q(query), self.num_heads)  # (B, H, T, K)
        k = split_heads(self.w_k(key), self.num_heads)  # (B, H, S, K)
        v = split_heads(self.w_v(value), self.num_heads)  # (B, H, S, K)
        scores = ops.matmul(q, ops.swapaxes(k, -1, -2)) / q.shape[-1] ** 0.5  # (B, H, T, S)
        if attention_mask is not None:
            mask = ops.cast(attention_mask, "bool")
            mask = ops.expand_dims(mask, axis=1) if len(mask.shape) == 3 else mask  # (B, 1, T, S)
            scores = ops.where(mask, scores, ops.cast(-1e9, scores.dtype))
        weights = ops.softmax(scores, axis=-1)  # (B, H, T, S)
        output = self.w_o(merge_heads(ops.matmul(weights, v)))  # (B, T, D)
        return (output, weights) if return_weights else output
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "MultiHeadAttention", "locked": true, "points": 10, "schema_version": 3, "solution": false, "task": false}
check("MultiHeadAttention")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-lecture", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See the lecture's class beside yours
#
# A new layer has biases of 0, so `PlainHeads` with its four kernels gives the same for one sentence.

# %% nbgrader={"grade": false, "grade_id": "lecture", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
layer, sentence = MultiHeadAttention(12, 3), np.random.default_rng(2).normal(size=(1, 5, 12)).astype("float32")  # (B, T, D)
yours = np.asarray(layer(sentence, sentence, sentence))[0]  # (T, D)
kernels = [dense.get_weights()[0] for dense in (layer.w_q, layer.w_k, layer.w_v, layer.w_o)]
print("largest difference:", np.abs(PlainHeads(*kernels, heads=3)(sentence[0]) - yours).max().round(4))


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-4", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Count the parameters (optional)
#
# How many trainable numbers does a multi-head layer have? Count the general one, in which the width of a head is free, as in
# `keras.layers.MultiHeadAttention`:
#
# - `key_dim` is the width of **one** head's queries and keys. No `key_dim` means the paper's choice, D/H.
# - `value_dim` is the width of **one** head's values. No `value_dim` means the same as `key_dim`.
# - $W_O$ takes the merged heads back to D.
# - With `use_bias=True` each of the four projections has a bias as wide as its output.
#
# On paper first: D = 12, H = 3, no `key_dim`, with biases.
#
# <details><summary>Answer</summary>Four matrices of 12 × 12 and four biases of 12: 4·144 + 4·12 = 624.</details>

# %% nbgrader={"grade": false, "grade_id": "mha_parameter_count-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mha_parameter_count(d_model, num_heads, key_dim=None, value_dim=None, use_bias=True):
    """Count the parameters of multi-head attention.

    Args:
        d_model: width D of tokens and output.
        num_heads: H.
        key_dim: width of one head's queries and keys; None means D/H.
        value_dim: width of one head's values; None means key_dim.
        use_bias: whether the four projections have biases.

    Returns:
        The number of trainable parameters, an int.
    """
    ### BEGIN SOLUTION
    if key_dim is None:
        key_dim = d_model // num_heads
    if value_dim is None:
        value_dim = key_dim
    keys, values = num_heads * key_dim, num_heads * value_dim
    count = 2 * d_model * keys + d_model * values + values * d_model
    if use_bias:
        count += 2 * keys + values + d_model
    return count
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "mha_parameter_count", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("mha_parameter_count")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-5", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 3 · Prove it against Keras
#
# The best test of your layer is a layer that somebody else wrote. Copy all weights of a `keras.layers.MultiHeadAttention` into a
# layer of yours; afterwards the two must give the same outputs.
#
# `load_keras_weights(mine, keras_mha)` changes `mine`. Both layers are built (they have been called once), and Keras's layer has
# `key_dim` = D/H and biases. `keras_mha.get_weights()` gives eight arrays: kernel and bias of the query, key and value
# projections and of the output projection, in this order. Keras keeps the heads as an axis, (D, H, K); your
# Dense layers have them side by side, (D, H·K).

# %% nbgrader={"grade": false, "grade_id": "load_keras_weights-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def load_keras_weights(mine, keras_mha):
    """Copy the weights of Keras's layer into `mine`, so that the outputs agree.

    Args:
        mine: a MultiHeadAttention of this notebook, built.
        keras_mha: a keras.layers.MultiHeadAttention, built, with key_dim = d_model / num_heads and biases.
    """
    ### BEGIN SOLUTION
    weights = keras_mha.get_weights()
    for dense, kernel, bias in zip([mine.w_q, mine.w_k, mine.w_v, mine.w_o], weights[::2], weights[1::2], strict=True):
        old_kernel, old_bias = dense.get_weights()
        dense.set_weights([kernel.reshape(old_kernel.shape), bias.reshape(old_bias.shape)])
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "load_keras_weights", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("load_keras_weights")

# %% nbgrader={"grade": false, "grade_id": "agreement", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
rng = np.random.default_rng(3)
query = rng.normal(size=(2, 5, 12)).astype("float32")  # (B, T, D)
memory = rng.normal(size=(2, 7, 12)).astype("float32")  # (B, S, D)
mask = np.tri(5, 7, k=2, dtype=bool)  # (T, S)
mine, theirs = MultiHeadAttention(12, 3), keras.layers.MultiHeadAttention(num_heads=3, key_dim=4)
mine(query, memory, memory), theirs(query=query, value=memory)
theirs.set_weights([rng.normal(size=weight.shape) for weight in theirs.get_weights()])  # biases too

load_keras_weights(mine, theirs)
ours = np.asarray(mine(query, memory, memory, attention_mask=mask))  # (B, T, D)
keras_output = np.asarray(theirs(query=query, value=memory, key=memory, attention_mask=mask))  # (B, T, D)
print("largest difference:", np.abs(ours - keras_output).max().round(4))


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-6", "locked": true, "schema_version": 3, "solution": false, "task": false}
# If the difference is zero up to rounding (below 0.001), your layer computes the same as Keras's layer, also with the
# mask.

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-grouped", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 4 · Heads that share keys and values
#
# A language model that writes a text keeps the keys and values of all earlier tokens, in every layer: the **key–value cache**. It
# can be larger than the model itself when many texts are written at once. So most current models have fewer heads of keys and values
# than heads of queries: *multi-query* attention has one (Shazeer 2019), *grouped-query* attention has G, each shared by H/G query
# heads (Ainslie et al. 2023).
#
# `GroupedQueryAttention(d_model, num_heads, num_kv_heads)` has H query heads and G key heads, all of width K = D/H.
#
# - `w_q` and `w_o` are Dense layers of width D, `w_k` and `w_v` of width G·K, all with bias. They are given, and so is everything
#   from the scores on. You write three lines, q, k and v, each (B, H, …, K), and refuse numbers that do not fit.
# - Query head h uses the keys and the values of key head h // (H/G): with H = 6 and G = 2, heads 0, 1, 2 use key head 0 and
#   heads 3, 4, 5 use key head 1. (`repeat` writes 0, 1 three times as 0 0 0 1 1 1, `tile` as 0 1 0 1 0 1; NumPy and `keras.ops` have both.)
# - `call(query, key, value, attention_mask=None, return_weights=False)` takes and returns the same as in exercise 2; the weights are
#   (B, H, T, S).
# - If H does not divide D, or G does not divide H, it raises `ValueError`.
# - With G = H it computes what your `MultiHeadAttention` computes.
#
# You may use `split_heads` and `merge_heads`.

# %% nbgrader={"grade": false, "grade_id": "GroupedQueryAttention-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
class GroupedQueryAttention(keras.Layer):
    """Attention whose query heads share heads of keys and values (Ainslie et al. 2023).

    Args:
        d_model: width D of tokens and output.
        num_heads: H, the number of query heads, which must divide d_model.
        num_kv_heads: G, the number of heads of keys and values, which must divide num_heads.

    Attributes:
        w_q, w_k, w_v, w_o: Dense layers with bias; w_k and w_v have G·D/H columns.

    Raises:
        ValueError: num_heads does not divide d_model, or num_kv_heads does not divide num_heads.
    """

    def __init__(self, d_model, num_heads, num_kv_heads, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True  # tokens may come with a padding mask of Keras, which is handed on
        ### BEGIN SOLUTION
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError(f"{num_kv_heads} key heads have to divide {num_heads} heads, and these d_model={d_model}")
        ### END SOLUTION
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.w_q, self.w_o = keras.layers.Dense(d_model), keras.layers.Dense(d_model)
        shared = num_kv_heads * (d_model // num_heads)  # G·K columns
        self.w_k, self.w_v = keras.layers.Dense(shared), keras.layers.Dense(shared)
        self.softmax = keras.layers.Softmax()  # over the keys; it takes a mask

    def call(self, query, key, value, attention_mask=None, return_weights=False):
        """Attend.

        Args:
            query: (B, T, D).
            key, value: (B, S, D).
            attention_mask: (T, S), (B, T, S) or (B, 1, T, S), or None.
            return_weights: whether the weights (B, H, T, S) are returned too.

        Returns:
            The output (B, T, D), or the tuple (output, weights).
        """
        ### BEGIN SOLUTION
        copies = self.num_heads // self.num_kv_heads
        q = split_heads(self.w_q(query), self.num_heads)  # (B, H, T, K)
        k = ops.repeat(split_heads(self.w_k(key), self.num_kv_heads), copies, axis=1)  # (B, H, S, K)
        v = ops.repeat(split_heads(self.w_v(value), self.num_kv_heads), copies, axis=1)  # (B, H, S, K)
        ### END SOLUTION
        visible = attention_mask  # what follows is the layer of exercise 2, written with Einstein's sums
        if visible is not None:
            visible = ops.cast(visible, "bool")
            visible = visible[:, None] if len(visible.shape) == 3 else visible  # (B, 1, T, S)
        scores = ops.einsum("bhtk,bhsk->bhts", q, k) / q.shape[-1] ** 0.5  # (B, H, T, S)
        weights = self.softmax(scores, mask=visible)  # (B, H, T, S)
        heads = ops.einsum("bhts,bhsk->bhtk", weights, v)  # (B, H, T, K)
        result = self.w_o(merge_heads(heads))  # (B, T, D)
        return (result, weights) if return_weights else result


# %% nbgrader={"grade": true, "grade_id": "GroupedQueryAttention", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("GroupedQueryAttention")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-guess", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Guess, then run
#
# A layer with D = 512 and 8 heads gets **4** key heads instead of 8. Its cache shrinks to one half. What share of its *parameters* is left?
#
# Put your guess in place of `None`, and delete the last line of the cell. It earns nothing, and nobody checks it. Then run the count, and compare.

# %% nbgrader={"grade": false, "grade_id": "guess", "locked": false, "schema_version": 3, "solution": true, "task": false}
guess = None  # one number between 0 and 1: parameters with 4 key heads / parameters with 8 key heads
### BEGIN SOLUTION
guess = 0.75
### END SOLUTION

# %% nbgrader={"grade": false, "grade_id": "counted", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
if guess is None:
    print("First write your guess into the cell above.")
else:
    tokens, parameters = keras.random.normal((1, 4, 512)), {}  # (B, T, D)
    for key_heads in (8, 4):
        layer = GroupedQueryAttention(512, 8, key_heads)
        layer(tokens, tokens, tokens)
        parameters[key_heads] = layer.count_params()
        share, cache = parameters[key_heads] / parameters[8], key_heads / 8
        print(f"{key_heads} key heads: {parameters[key_heads]:9,} parameters, {share:.3f} of them; {cache:.3f} of the cache")
    print(f"your guess for 4 key heads: {guess}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Predict
#
# The same question for a layer that the page has not counted: it gets **2** key heads instead of 8, and its cache shrinks to a
# quarter. Put a number between 0 and 1 in place of `None`, and delete the last line of the cell. Write down why: "In your own words"
# asks for it.

# %% nbgrader={"grade": false, "grade_id": "predict-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
predict = None  # one number between 0 and 1: parameters with 2 key heads / parameters with 8 key heads
### BEGIN SOLUTION
predict = 0.625
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("predict")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-cache", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### What the cache holds (optional)
#
# How many **numbers** does the key–value cache hold, for a batch of texts of `length` tokens in a model of `num_layers` layers? Each
# layer has attention with `num_kv_heads` heads of keys and values, each `head_dim` wide. With your function: how many gigabytes
# does a text of 8,192 tokens take in float16, with 80 layers and heads of width 128, if there are 64 key heads, 8, or 1?
#
# <details><summary>Answer</summary>21.47, 2.68 and 0.34 GB: two bytes for each number.</details>

# %% nbgrader={"grade": false, "grade_id": "kv_cache_numbers-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def kv_cache_numbers(length, num_layers, num_kv_heads, head_dim, batch=1):
    """Count the numbers in a key–value cache.

    Args:
        length: tokens of each text so far.
        num_layers: number of layers.
        num_kv_heads: heads of keys and values in each layer.
        head_dim: width of a head.
        batch: number of texts.

    Returns:
        The number of numbers, an int.
    """
    ### BEGIN SOLUTION
    return 2 * batch * num_layers * num_kv_heads * head_dim * length
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "kv_cache_numbers", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("kv_cache_numbers")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 5 · Find the bug
#
# A colleague leaves the heads where the reshape puts them, behind the tokens, and lets `einsum` do the rest: q is (B, T, H, K), k and v are
# (B, S, H, K), and so is the result, (B, T, H, K). No axis is ever moved. The code runs in self-attention, and the maps of the weights look
# as they should. But a model with this layer trains as if no token ever saw another token.
#
# The code is in the cell below. Delete the line `raise NotImplementedError`, find out why this happens, and fix it, so that it
# also works when T and S differ.

# %% nbgrader={"grade": false, "grade_id": "find_the_bug-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def find_the_bug(q, k, v):
    """Attention of all heads, with the heads behind the tokens.

    Args:
        q: queries, (B, T, H, K), an array or a tensor.
        k, v: keys and values, (B, S, H, K).

    Returns:
        (B, T, H, K): the outputs of the heads.
    """
    ### BEGIN SOLUTION
    scores = ops.einsum("bthk,bshk->bhts", q, k) / q.shape[-1] ** 0.5  # (B, H, T, S)
    weights = ops.softmax(scores, axis=-1)  # (B, H, T, S)
    return ops.einsum("bhts,bshk->bthk", weights, v)  # (B, T, H, K)
    ### END SOLUTION
    # This runs in self-attention, and is wrong.
    scores = ops.einsum("bthk,bshk->bhts", q, k) / q.shape[-1] ** 0.5  # (B, H, T, S)
    weights = ops.softmax(scores, axis=-1)  # (B, H, T, S)
    return ops.einsum("bhts,bthk->bthk", weights, v)  # (B, T, H, K)


# %% nbgrader={"grade": true, "grade_id": "find_the_bug", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("find_the_bug")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-switch", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 6 · Switch heads off
#
# A map shows where a head looks, not whether the model needs it. So take the head away and look at what gets worse.
#
# The first part is optional and earns no points. `ablate_heads` takes the outputs of all heads, before they are merged, and a list
# `keep`, in any order and perhaps empty, of the heads that **stay**. The others become zero. Leave the argument itself unchanged.

# %% nbgrader={"grade": false, "grade_id": "ablate_heads-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def ablate_heads(head_outputs, keep):
    """Set the outputs of all heads but some to zero.

    Args:
        head_outputs: (B, H, T, K), an array or a tensor.
        keep: list of the indices of the heads that stay.

    Returns:
        (B, H, T, K).
    """
    ### BEGIN SOLUTION
    head_outputs = ops.convert_to_tensor(head_outputs)
    stays = [float(head in keep) for head in range(head_outputs.shape[1])]  # H ones and zeros
    return head_outputs * ops.reshape(ops.convert_to_tensor(stays, head_outputs.dtype), (1, -1, 1, 1))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "ablate_heads", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("ablate_heads")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-measure", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Measure: how much does the loss grow without a head?
#
# Lecture 3b puts zeros into the place of a head. Zeros may be far from anything the model has seen, so here two means may stand there
# as well. You write this measurement for any model. `heads` holds the outputs
# of all heads on a batch, (B, H, T, K). `loss(heads)` is the model's loss, a number, when these outputs go on to $W_O$. For each
# head, measure by how much the loss **grows** when this head alone is replaced
#
# - by `zero`;
# - by its `mean` over batch and positions: K numbers, the same everywhere;
# - by its `row_mean`, the mean over the batch at each position: (T, K), the same in each item of the batch.
#
# Leave `heads` itself unchanged. A negative number is possible: the model may be better without a head.
#
# **By hand:** one head, K = 1; in two texts of two tokens its output is (1, 5) and (3, 7). The loss is the mean squared
# difference from these same numbers.
# <details><summary>Answer</summary>The intact loss is 0. Zero: (1 + 25 + 9 + 49)/4 = 21. The mean is 4: (9 + 1 + 1 + 9)/4 = 5. The means of the positions are 2 and 6: 1.</details>

# %% nbgrader={"grade": false, "grade_id": "measure_head-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def measure_head(loss, heads):
    """Measure how much the loss grows when one head is replaced.

    Args:
        loss: called as loss(heads) with an array (B, H, T, K); returns a number.
        heads: the intact outputs of the heads, a NumPy array (B, H, T, K).

    Returns:
        A dictionary: "zero", "mean" and "row_mean", each (H,).
    """
    ### BEGIN SOLUTION
    intact = loss(heads)
    found = {}
    for name, axes in (("zero", None), ("mean", (0, 1)), ("row_mean", 0)):
        found[name] = np.zeros(heads.shape[1])
        for head in range(heads.shape[1]):
            replaced = heads.copy()
            replaced[:, head] = 0 if axes is None else heads[:, head].mean(axis=axes)
            found[name][head] = loss(replaced) - intact
    return found
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "measure_head", "locked": true, "points": 7, "schema_version": 3, "solution": false, "task": false}
check("measure_head")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-8", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See which heads your model needs
#
# This is the table of the lecture: each row has a name, names another row that it wants, and holds a number. Each row is
# asked for the number *above* it and for the number of the row that it *wants*. Your layer learns it now, with **four** heads
# for two questions, in some seconds. Before you run the cells: how many of the four heads will the model need, and will
# every head with a clear map be one of them?

# %% nbgrader={"grade": false, "grade_id": "table", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
from coursekit import two_questions

keras.utils.set_random_seed(1)
table = two_questions.tables(12_000, seed=0)
inputs = keras.Input(table.tokens.shape[1:])
embed, attention, read = keras.layers.Dense(16, use_bias=False), MultiHeadAttention(16, 4), keras.layers.Dense(2)
x = embed(inputs)  # (B, T, D)
solver = keras.Model(inputs, read(x + attention(x, x, x)))
solver.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
solver.fit(table.tokens, table.answers, batch_size=128, epochs=4, verbose=0)

table = two_questions.tables(500, seed=1)
x = embed(table.tokens)  # (B, T, D)
_, weights = attention(x, x, x, return_weights=True)  # (B, H, T, T)
names, wants = ["abcdef"[i] for i in table.names[0]], ["abcdef"[i] for i in table.wants[0]]
labels = [f"{name}→{want}" for name, want in zip(names, wants, strict=True)]
figure = plots.head_maps(np.asarray(weights[0]), labels, names, titles=[f"your head {head}" for head in range(4)])
plots.show(figure, alt="Four attention maps of six by six. Some have a stripe below the diagonal, some follow the wanted names.")

# %% nbgrader={"grade": false, "grade_id": "ablation", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
heads = np.asarray(ops.matmul(weights, split_heads(attention.w_v(x), 4)))  # (B, H, T, K)
above = np.asarray(weights)[:, :, np.arange(6), np.arange(6) - 1].mean(axis=(0, 2))  # (H,)


def loss(heads):
    return float(np.mean((np.asarray(read(x + attention.w_o(merge_heads(heads)))) - table.answers) ** 2))


found = measure_head(loss, heads)
print(f"intact loss {loss(heads):.4f}")
for head in range(4):
    print(f"head {head}: weight on the row above {above[head]:.2f};", *(f"{name} {found[name][head]:.2f} " for name in found))
needed = [head for head in range(4) if found["mean"][head] > 0.05]
alone = heads * np.isin(range(4), needed)[:, None, None]  # (B, H, T, K)
print(f"needed one by one: {needed}; loss with these alone {loss(alone):.2f}")


# %% [markdown] nbgrader={"grade": false, "grade_id": "observed", "locked": true, "schema_version": 3, "solution": false, "task": false}
# Each of the two answers has variance 1, and the loss is their mean, so a model that can only guess one of them loses 0.5.
# Which heads cost about as much? Which of them costs less with `row_mean` than with `zero`? Which head looks above, in part at
# least, and costs nothing? Keep your numbers for "In your own words".
#
# <details><summary>In our run</summary>Two heads are needed, one for each question. Zero in the place of the head that looks above costs 0.54, its
# mean 0.53, and its mean at each position 0.50: part of what this head adds depends on the row alone. Another head puts half of its
# weight on the row above, and nothing is lost without it.</details>

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-derive", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 7 · Derive: a head as two matrices
#
# Why can a head look at something and not matter? Its kernels say so. A layer without biases has the kernels $W_Q, W_K$
# (D, H·K), $W_V$ (D, H·V) and $W_O$ (H·V, D), with the heads in the order of `split_heads`; K need not be D/H, and values may
# have a width V of their own. Derive two matrices for each head, (D, D) both, which say all that the layer does with tokens
# x (T, D) and y (S, D):
#
# $$\text{scores}_h = x \;\text{qk}_h\; y^\top \qquad\qquad \text{output} = \sum_h A_h\; y \;\text{ov}_h$$
#
# Here the scores are those that go into the softmax, with nothing left to do, and $A_h$ (T, S) is what comes out of it. So the
# factor that the lecture writes beside the QK circuit is part of it here.
#
# **By hand:** H = 2 and D = K = V = 1, with $W_Q$ = (2, 3), $W_K$ = (5, 7), $W_V$ = (1, 4), $W_O$ = (6, ½)ᵀ.
# <details><summary>Answer</summary>Head 0 has 2·5 = 10 and 1·6 = 6, head 1 has 3·7 = 21 and 4·½ = 2.</details>

# %% nbgrader={"grade": false, "grade_id": "derive_circuits-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def derive_circuits(w_q, w_k, w_v, w_o, num_heads):
    """The QK and the OV circuit of every head.

    Args:
        w_q, w_k: kernels (D, H·K), NumPy arrays.
        w_v: kernel (D, H·V).
        w_o: kernel (H·V, D).
        num_heads: H.

    Returns:
        The tuple (qk, ov), each (H, D, D).
    """
    ### BEGIN SOLUTION
    queries, keys, values = (np.stack(np.split(kernel, num_heads, axis=1)) for kernel in (w_q, w_k, w_v))  # (H, D, K)
    outputs = np.stack(np.split(w_o, num_heads, axis=0))  # (H, V, D)
    qk = queries @ keys.transpose(0, 2, 1) / queries.shape[-1] ** 0.5
    return qk, values @ outputs
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "derive_circuits", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("derive_circuits")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-read", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See what your heads read and write
#
# The columns of a token have a meaning: position, name, want and number. With the embedding in front and the read-out behind,
# your circuits can be read in these columns (biases left out; what is equal for all keys or all queries is taken away, as in the lecture).
# Before you run the cell: what will a head that is not needed write?
# <details><summary>Answer</summary>Almost nothing: its OV circuit adds nearly 0 times the number to both answers, wherever it looks.</details>

# %% nbgrader={"grade": false, "grade_id": "circuits", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
qk, ov = derive_circuits(*(dense.get_weights()[0] for dense in (attention.w_q, attention.w_k, attention.w_v, attention.w_o)), 4)
kinds, columns = two_questions.KINDS, embed.get_weights()[0]  # columns (19, D)
centre = np.eye(19)  # (19, 19)
for kind in ("position", "name", "want"):
    centre[kinds[kind], kinds[kind]] -= 1 / 6
looks = centre @ columns @ qk @ columns.T @ centre  # (H, 19, 19): query columns by key columns
writes = columns @ ov @ read.get_weights()[0]  # (H, 19, 2)
for head in range(4):
    squares = {(one, two): np.sum(looks[head][kinds[one], kinds[two]] ** 2) for one in kinds for two in kinds}
    (query, key), strongest = max(squares.items(), key=lambda item: item[1])
    share, (up, wanted) = strongest / sum(squares.values()), writes[head, 18]
    print(f"head {head}: {query} meets {key} ({share:.0%} of the squares); a number adds {up:5.2f} to above, {wanted:5.2f} to wanted")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-smollm2", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Your layer in a published model: which heads copy?
#
# SmolLM2 is a chat model that Hugging Face published in 2024: 30 blocks, nine query heads, three heads of keys and values. Here **your** `GroupedQueryAttention` is the attention of all its blocks. Your `w_q`, `w_k` and `w_v` get what is already projected and turned to its position, with an identity matrix as kernel.
#
# It reads 64 random tokens, then the same 64 again. To copy, a head looks at what *followed* the present token the first time, 63 back.
#
# Nothing here is graded. Set `TALK = True` and run the two cells. The first time, 93 MB are fetched; then it takes about a quarter of a minute and 1.7 GB of memory.
#
# **Predict.** How many of the 270 heads put more than half of their weight 63 tokens back, and in which blocks do they stand: early, in the middle, or late? An even guess costs 10.8 nats a token. What does the second copy cost?

# %% tags=["demonstration"]
TALK = False  # True: fetch the published numbers

# %% nbgrader={"grade": false, "grade_id": "smollm2", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
if TALK:
    from coursekit.published_heads import read_through, said_twice

    ids = said_twice(rows=2, length=64)  # (2, 128)
    weights, nats = read_through(GroupedQueryAttention(576, 9, 3), ids)  # (30, B, 9, 127, 127), (B, 127)
    queries = np.arange(64, 127)
    for name, back in (("the token before", 1), ("what followed the first copy", 63)):
        looks = weights[..., queries, queries - back].mean(axis=(1, 3))  # (30, 9)
        best = [(*divmod(int(place), 9), looks.flat[place]) for place in np.argsort(-looks, axis=None)[:4]]
        print(f"{name}:", ", ".join(f"block {block} head {head} {weight:.2f}" for block, head, weight in best))
        print(f"    above one half: {(looks > 0.5).sum()} of 270 heads; the median head: {np.median(looks):.3f}")
    print(f"first copy {nats[:, :63].mean():.1f} nats a token, second copy {nats[:, 64:].mean():.1f}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "smollm2-seen", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>In our run</summary>
#
# Seven heads put more than half of their weight 63 tokens back, all in blocks 17 to 23: **induction heads**. Just below them, in block 16, stands the strongest head for the token before: what it finds is what an induction head needs to look for. The second copy costs 1.9 nats a token, the first one 14.2. [Lecture 03b](../../lectures/03b_reading_heads.ipynb) switches these heads off. (`MultiHeadAttention(576, 9)` reads as well: its heads get copies.)
#
# </details>

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-keep", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## A picture to keep
#
# Your four heads as exercise 7 has taken them apart. Each map says which columns of a token the query side meets with which columns of the
# key side; the title says what the head writes for a number that it finds. Before you run the cell: where will the head that follows the
# wants have its block?
# <details><summary>Answer</summary>In the rows of <em>want</em> and the columns of <em>name</em>: the want of the query meets the name of the key.</details>

# %% jupyter={"source_hidden": true} nbgrader={"grade": false, "grade_id": "keep", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
import matplotlib.pyplot as plt

figure, panels = plt.subplots(1, 4, figsize=(10, 3.3), sharey=True)
middles = [(part.start + part.stop - 1) / 2 for part in kinds.values()]
for head, panel in enumerate(panels):
    most = np.abs(looks[head]).max()
    up, wanted = writes[head, 18]
    title = f"head {head}\nabove {up:.2f}, wanted {wanted:.2f}"
    plots.matrix_map(looks[head], values=False, limits=(-most, most), cmap="PuOr", title=title, ax=panel)
    for part in list(kinds.values())[1:]:
        panel.axhline(part.start - 0.5, color="gray", linewidth=0.5)
        panel.axvline(part.start - 0.5, color="gray", linewidth=0.5)
    panel.set_xticks(middles, list(kinds), rotation=45, ha="right")
    panel.set(xlabel="key", yticks=middles, yticklabels=list(kinds))
panels[0].set_ylabel("query")
plots.show(figure, alt="A head that is needed has one strong block, and writes. Four maps of 19 by 19 columns, divided into position, name, want and number.")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-7", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## In your own words
#
# What did you measure in exercise 6: which heads does your model need, how do the three replacements differ, and what does the
# map of a head not tell you? And say how you found your number in `predict`, and why it differs from the share of the cache. Four
# to eight sentences. This earns no points; your instructor reads it and writes back.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explanation", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# Two of the four heads matter: without one of them the loss grows by 0.5 or a little more, which is one question of two; without
# one of the others it stays as it is, whatever takes the place. The mean is not milder than zero. With the mean of each row the
# head that looks above costs 0.50 exactly: what it adds to a row whatever the numbers are stays, and the number is lost. For the
# head that follows the wants the mean of each row helps little, because a name stands in another row in each table. One
# head puts half of its weight on the row above, and nothing depends on it: its OV circuit writes almost nothing. A map
# shows where a head looks, not what it writes. One seed and one batch: with another seed other heads are needed.
#
# Of the four matrices $W_Q$ and $W_O$ keep their size, and $W_K$ and $W_V$ shrink to a quarter: (1 + 1 + ¼ + ¼)/4 = 0.625, biases
# included. The cache holds keys and values only, so all of it shrinks to a quarter.

# %% [markdown] nbgrader={"grade": false, "grade_id": "closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# [Lecture 04](../../lectures/04_encoder_block.ipynb) puts this layer into a block that can be stacked.

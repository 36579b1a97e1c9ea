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
# # Lab 05 · Positional encoding
#
# Attention does not know in which order its tokens came. You build the remedies: the sinusoidal table, two layers that add
# positions to words, rotary positions, and slopes that make far keys fade. A test finds out whether a function sees order at all; you
# derive what a rotary score depends on, and measure how far back a trained model can read.
#
# **Before you start:** read [lecture 05](../../lectures/05_positional_encoding.ipynb): this lab begins where its class
# `PlainPositions` ends (one length, known beforehand). **Time:** about 95 minutes.
#
# **How a lab works.** Each exercise has a cell with a stub, and below it a cell `check("…")`. Replace the line
# `raise NotImplementedError`, run your cell, then run the check. It says in a second what works, what differs first, and
# which mistake it looks like; after the second failed attempt it adds hints. Your mark comes from the same tests on
# inputs that you have not seen, so code that fits only the visible inputs earns nothing. Add cells wherever you like;
# the check cells themselves are restored before grading.
#
# **Letters.** B is the batch, T the number of tokens, D (`d_model`) the width of a token. A *pair* is two neighbouring columns,
# 2i and 2i + 1; there are D/2 of them. "(…, T, D)" means: any leading dimensions, or none.
#
# | exercise | what you write | points | difficulty | minutes |
# |---|---|---|---|---|
# | 1 | `sinusoidal_positions` | 3 | ●●●○○ | 15 |
# | 1 | `predict` | 1 | ●○○○○ | 5 |
# | 2 | `TokenAndPositionEmbedding` | 4 | ●●○○○ | 10 |
# | 2 | `SinusoidalEmbedding` (optional) | 0 | ●●○○○ | 10 |
# | 3 | `is_permutation_equivariant` | 4 | ●●○○○ | 10 |
# | 4 | `rotary` | 5 | ●●○○○ | 10 |
# | 4 | `derive_relative` | 7 | ●●○○○ | 10 |
# | 4 | `find_the_bug` | 3 | ●●○○○ | 10 |
# | 5 | `design` (optional) | 0 | ●○○○○ | 5 |
# | 6 | `measure_reach` | 7 | ●●●○○ | 15 |
# | 7 | `shift_matrix` (optional) | 0 | ●●●○○ | 15 |
#
# Optional exercises earn no points, and their minutes are not in the total, which counts reading and given cells as well.
#
# Times and difficulties are estimates, not measurements.
#
# `SinusoidalEmbedding` uses the table of exercise 1. All others stand on their own: if you are stuck, go on.

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

from functools import partial

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import ops

from coursekit import memory_task
from coursekit.pages.positions import PlainPositions  # the lecture's class

plots.use_course_style()

check = start_lab("05_positional_encoding")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-1", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 1 · The sinusoidal table
#
# Every position p = 0, 1, …, length − 1 gets a row of D numbers. Pair i (columns 2i and 2i + 1) turns with the angular
# frequency $\omega_i = 1/10000^{2i/D}$:
#
# $$PE[p, 2i] = \sin(\omega_i\,p), \qquad PE[p, 2i+1] = \cos(\omega_i\,p).$$
#
# By hand, for D = 4, row 1 is (sin 1, cos 1, sin 0.01, cos 0.01) = (0.841, 0.540, 0.010, 1.000).
#
# Since columns come in pairs, an odd `d_model` has no meaning: raise a `ValueError` that says so. The result may be an array
# or a tensor, of float32 or float64. `PlainPositions` and `memory_task.wave_table` are forbidden here.

# %% nbgrader={"grade": false, "grade_id": "sinusoidal_positions-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sinusoidal_positions(length, d_model):
    """Make the table of sinusoidal positions.

    Args:
        length: number of positions.
        d_model: width of a row, an even number.

    Returns:
        (length, d_model): sines in the even columns, cosines in the odd ones.

    Raises:
        ValueError: d_model is odd.
    """
    ### BEGIN SOLUTION
    if d_model % 2:
        raise ValueError(f"d_model has to be even, because sine and cosine come in pairs; got {d_model}")
    speeds = 10_000 ** -(np.arange(0, d_model, 2) / d_model)  # (D/2,)
    phases = np.arange(length)[:, None] * speeds  # (length, D/2)
    table = np.empty((length, d_model), dtype="float32")  # (length, D)
    table[:, 0::2] = np.sin(phases)
    table[:, 1::2] = np.cos(phases)
    return table
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "sinusoidal_positions", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("sinusoidal_positions")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-guess", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Guess, then run
#
# A table with D = 64 has 32 pairs. The first pair turns by 1 radian from position to position, the last one by about 1/7500. The table
# has **64** positions. How many of the 32 pairs turn by **less than a quarter turn** over the whole table, from position 0 to 63?
#
# Put your guess in place of `None`, and delete the last line of the cell. It earns nothing, and nobody checks it. Then run the measurement, and compare.

# %% nbgrader={"grade": false, "grade_id": "guess", "locked": false, "schema_version": 3, "solution": true, "task": false}
guess = None  # one number: of 32 pairs, those that turn by less than a quarter from position 0 to 63
### BEGIN SOLUTION
guess = 19
### END SOLUTION

# %% nbgrader={"grade": false, "grade_id": "measured", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
if guess is None:
    print("First write your guess into the cell above.")
else:
    cosines = np.asarray(sinusoidal_positions(64, 64))[:, 1::2]  # (T, 32): a cosine stays above 0 for a quarter turn
    slow = (cosines > 0).all(axis=0)  # (32,)
    print(f"{slow.sum()} of 32 pairs, your guess: {guess}")
    print(f"the first of them is pair {slow.argmax()}, and its cosine falls to {cosines[-1, slow][0]:.2f}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Predict
#
# The same question for a table that the page has not computed: it has **512** positions, from 0 to 511, and again D = 64.
# Put your number in place of `None`, and delete the last line of the cell. Write down why: "In your own words" asks for it. An answer
# that is off by up to two pairs counts as correct.

# %% nbgrader={"grade": false, "grade_id": "predict-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
predict = None  # one number: of 32 pairs, those that turn by less than a quarter from position 0 to 511
### BEGIN SOLUTION
predict = 11
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("predict")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-3", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 2 · Two layers that add positions
#
# BERT and GPT-2 *learn* one vector per position, as they learn one per word: `TokenAndPositionEmbedding` has two
# `keras.layers.Embedding`, `token_embedding` (`vocab_size` rows) and `position_embedding` (`max_length` rows). The checks put known
# weights into them by these names.
#
# - `call(ids)` takes whole numbers (B, T) with T ≤ max_length and returns (B, T, D): the vector of the token plus the vector of its
#   position. The first token has position 0, in a short sequence too.
# - Both tables are learned and find their sizes, so nothing is scaled.
# - The layer must run inside `tf.function` with a batch size *and a length* that are not known in advance. There `ids.shape[1]` is
#   None, and `ops.shape(ids)[1]` is a number that becomes known when the function runs. `ids` is a tensor: take functions of `ops`.
#
# `__init__` and `get_config` are begun for you: leave the three attributes in place, so that the layer can be saved and loaded.

# %% nbgrader={"grade": false, "grade_id": "TokenAndPositionEmbedding-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
class TokenAndPositionEmbedding(keras.Layer):
    """Adds a learned position vector to each token's vector.

    Args:
        max_length: the longest sequence, the number of rows of the position table.
        vocab_size: number of different tokens.
        d_model: width of the vectors.

    Attributes:
        token_embedding, position_embedding: Embedding layers.
    """

    def __init__(self, max_length, vocab_size, d_model, **kwargs):
        super().__init__(**kwargs)
        self.max_length, self.vocab_size, self.d_model = max_length, vocab_size, d_model
        ### BEGIN SOLUTION
        self.token_embedding = keras.layers.Embedding(vocab_size, d_model)
        self.position_embedding = keras.layers.Embedding(max_length, d_model)
        ### END SOLUTION

    def call(self, ids):
        """Embed.

        Args:
            ids: token ids, (B, T), with T ≤ max_length.

        Returns:
            (B, T, D): token vector plus position vector.
        """
        ### BEGIN SOLUTION
        places = ops.arange(ops.shape(ids)[1])  # (T,)
        return self.token_embedding(ids) + self.position_embedding(places)  # (B, T, D)
        ### END SOLUTION

    def get_config(self):
        return {
            **super().get_config(),
            "max_length": self.max_length,
            "vocab_size": self.vocab_size,
            "d_model": self.d_model,
        }


# %% nbgrader={"grade": true, "grade_id": "TokenAndPositionEmbedding", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("TokenAndPositionEmbedding")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-lecture", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See the lecture's class beside yours
#
# With the table of exercise 1 as its positions, your layer gives what the lecture's class gives. `PlainPositions` gets vectors of words, fixes
# their number in the graph, and multiplies them by √D. Yours takes ids, and with one model both lengths below.

# %% nbgrader={"grade": false, "grade_id": "lecture", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
layer = TokenAndPositionEmbedding(max_length=11, vocab_size=13, d_model=6)
layer(np.zeros((1, 11), "int32"))  # now it has weights
layer.position_embedding.set_weights([np.asarray(sinusoidal_positions(11, 6))])
for length in (4, 9):
    ids = np.random.default_rng(length).integers(13, size=(2, length))  # (B, T)
    words = layer.token_embedding(ids) / 6**0.5  # (B, T, D)
    print(f"{length} tokens, largest difference: {np.abs(np.asarray(PlainPositions()(words) - layer(ids))).max():.4f}")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-fixed", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### The fixed table in a layer (optional)
#
# `SinusoidalEmbedding` has the table of exercise 1 in place of the second embedding, so only its `token_embedding` is trained. Beside the
# sinusoids the words have to be scaled: they start small, and a row of the table has the length √(D/2). So this layer returns
# $\sqrt{D}\cdot\text{token} + \text{position}$. It takes the same ids under the same conditions: an unknown
# length can slice a tensor, but no NumPy array.

# %% nbgrader={"grade": false, "grade_id": "SinusoidalEmbedding-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
class SinusoidalEmbedding(keras.Layer):
    """Multiplies each token's vector by √D and adds its sinusoidal position.

    Args:
        max_length: the longest sequence.
        vocab_size: number of different tokens.
        d_model: width of the vectors, an even number.

    Attributes:
        token_embedding: Embedding layer, the only part that is trained.
    """

    def __init__(self, max_length, vocab_size, d_model, **kwargs):
        super().__init__(**kwargs)
        self.max_length, self.vocab_size, self.d_model = max_length, vocab_size, d_model
        ### BEGIN SOLUTION
        self.token_embedding = keras.layers.Embedding(vocab_size, d_model)
        self.positions = sinusoidal_positions(max_length, d_model)  # (max_length, D)
        ### END SOLUTION

    def call(self, ids):
        """Embed.

        Args:
            ids: token ids, (B, T), with T ≤ max_length.

        Returns:
            (B, T, D): token vector times √D, plus the sinusoidal position.
        """
        ### BEGIN SOLUTION
        positions = ops.convert_to_tensor(self.positions, dtype="float32")[: ops.shape(ids)[1]]  # (T, D)
        return self.token_embedding(ids) * self.d_model**0.5 + positions  # (B, T, D)
        ### END SOLUTION

    def get_config(self):
        return {
            **super().get_config(),
            "max_length": self.max_length,
            "vocab_size": self.vocab_size,
            "d_model": self.d_model,
        }


# %% nbgrader={"grade": true, "grade_id": "SinusoidalEmbedding", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("SinusoidalEmbedding")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-5", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 3 · Does it see the order?
#
# A map `fn` of tokens is *permutation equivariant* when it does not matter whether you shuffle the tokens before `fn` or after
# it:
#
# fn(shuffled x) = shuffled fn(x).
#
# Write the test. `fn` takes tokens (B, T, D), an array or a tensor, and returns the same kind, (B, T, E) with any width E. `permutation` is a vector of T
# whole numbers: token number `permutation[t]` comes to position t. "Equal" means: no entry differs by more than `tolerance`.
#
# Take care with one word. *Equivariant* is not *invariant*: the result of an invariant map stays the same under shuffling. If
# its rows differ, your test must answer False for it. (If all rows of the result are equal, the map is both.)

# %% nbgrader={"grade": false, "grade_id": "is_permutation_equivariant-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):
    """Test whether a map of tokens commutes with a permutation of them.

    Args:
        fn: the map, from (B, T, D) to (B, T, E).
        x: tokens, (B, T, D), an array or a tensor.
        permutation: (T,), token permutation[t] comes to position t.
        tolerance: largest difference of an entry that still counts as equal.

    Returns:
        True or False.
    """
    ### BEGIN SOLUTION
    before = fn(ops.take(x, permutation, axis=1))  # (B, T, …)
    after = ops.take(fn(x), permutation, axis=1)  # (B, T, …)
    return bool(ops.max(ops.abs(before - after)) <= tolerance)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "is_permutation_equivariant", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("is_permutation_equivariant")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-6", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 4 · Rotary positions
#
# Rotary positions do not add anything. They turn each pair of a query or key by an angle that grows with its position. For
# pair i, with a = x[2i], b = x[2i + 1] and θ = position / 10000^(2i/D):
#
# $$(a,\; b) \;\longmapsto\; (a\cos\theta - b\sin\theta,\;\; a\sin\theta + b\cos\theta).$$
#
# - x is (…, T, D): it works for (T, D), for (B, T, D) and for the (B, H, T, K) inside multi-head attention.
# - `positions` is given, T whole numbers (integers or floats), in any order and with gaps: with a key–value cache the new token may be number 117.
# - The result has the shape and the float type of x. Keep the pairs adjacent in the result.

# %% nbgrader={"grade": false, "grade_id": "rotary-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rotary(x, positions):
    """Turn the pairs of x by angles that grow with the position.

    Args:
        x: queries or keys, (…, T, D) with an even D, an array or a tensor.
        positions: (T,), the position of each of the T vectors.

    Returns:
        (…, T, D) in the float type of x.
    """
    ### BEGIN SOLUTION
    x = ops.convert_to_tensor(x)
    speeds = ops.cast(10_000.0 ** -(np.arange(0, x.shape[-1], 2) / x.shape[-1]), x.dtype)  # (D/2,)
    theta = ops.cast(positions, x.dtype)[:, None] * speeds  # (T, D/2)
    a, b = x[..., 0::2], x[..., 1::2]  # (…, T, D/2) each
    turned = ops.stack([a * ops.cos(theta) - b * ops.sin(theta), a * ops.sin(theta) + b * ops.cos(theta)], axis=-1)
    return ops.reshape(turned, ops.shape(x))  # (…, T, D)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "rotary", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check("rotary")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-derive", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Derive: the score by offset
#
# Turn a query q to position m and a key k to position n, and take the dot product. The lecture shows that m and n matter only
# by the **offset** m − n. What is this function of q, k and the offset, written out? Take one pair first, (a, b) of the query and (c, d) of the
# key; multiply out, and collect the terms until no m and no n stands alone. Then go on to D/2 pairs with their own angles.
#
# - q and k are (…, D), not turned yet; `offset` is (N,), whole numbers of either sign: positive where the key stands before the query.
# - The result is (…, N), the dot products, not divided by √D.
# - Do not call `rotary` or `find_the_bug`: write the scores in a, b, c, d and the offset. The check sees numbers alone, and cannot tell
#   whether your code turns the query instead.
#
# **By hand:** one pair with θ = 1, q = (2, 1), k = (3, 1). What does your formula give at the offsets 0 and 1?
# <details><summary>Answer</summary>7 and 2.94. To check 2.94 without a formula, turn the query by 1 radian on paper: (2·0.540 − 0.841, 2·0.841 + 0.540) = (0.239, 2.223), and 3 · 0.239 + 2.223 = 2.94.</details>

# %% nbgrader={"grade": false, "grade_id": "derive_relative-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def derive_relative(q, k, offset):
    """Rotary scores of a query with keys at given offsets.

    Args:
        q, k: a query and a key before they are turned, arrays (…, D) with an even D.
        offset: (N,), position of the query minus position of the key, whole numbers.

    Returns:
        (…, N): the dot product at each offset.
    """
    ### BEGIN SOLUTION
    a, b, c, d = q[..., 0::2], q[..., 1::2], k[..., 0::2], k[..., 1::2]  # (…, D/2) each
    along, across = a * c + b * d, a * d - b * c  # (…, D/2) each
    theta = offset[:, None] * 10_000.0 ** -(np.arange(0, q.shape[-1], 2) / q.shape[-1])  # (N, D/2)
    return (along[..., None, :] * np.cos(theta) + across[..., None, :] * np.sin(theta)).sum(axis=-1)  # (…, N)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "derive_relative", "locked": true, "points": 7, "schema_version": 3, "solution": false, "task": false}
check("derive_relative")

# %% nbgrader={"grade": false, "grade_id": "anywhere", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
query, key = np.random.default_rng(2).normal(size=(2, 1, 32))  # (1, D) each
derived = derive_relative(query[0], key[0], np.array([5]))[0]
for m in (7, 70, 700):
    turned = np.asarray(rotary(query, np.array([m]))) @ np.asarray(rotary(key, np.array([m - 5]))).T
    print(f"query at {m:3}, key at {m - 5:3}: {turned.item():.4f}, by your formula {derived:.4f}")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Find the bug
#
# A pair (a, b) is a complex number a + ib, and to turn it by θ is to multiply it by $e^{i\theta}$. A colleague uses this to calculate the
# scores of rotary attention, queries times keys, in five lines. The code runs. With equal queries and equal keys the scores should be
# constant along the diagonals, where m − n is constant. Here they are constant along the *other* diagonals, where m + n is constant.
#
# The code is in the cell below. Delete the line `raise NotImplementedError`, find out why this happens, and fix it.

# %% nbgrader={"grade": false, "grade_id": "find_the_bug-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def find_the_bug(q, k, positions):
    """Scores of queries and keys with rotary positions, by complex numbers.

    Args:
        q, k: queries and keys, (…, T, D) with an even D, arrays.
        positions: (T,), the position of each of the T vectors, an array of whole numbers.

    Returns:
        (…, T, T): the dot product of each turned query with each turned key, divided by √D.
    """
    ### BEGIN SOLUTION
    width = q.shape[-1]
    speeds = 10_000.0 ** (-np.arange(0, width, 2) / width)  # (D/2,)
    turns = np.exp(1j * positions[:, None] * speeds)  # (T, D/2)
    q = (q[..., 0::2] + 1j * q[..., 1::2]) * turns  # (…, T, D/2)
    k = (k[..., 0::2] + 1j * k[..., 1::2]) * turns  # (…, T, D/2)
    return np.real(q @ np.swapaxes(np.conj(k), -1, -2)) / width**0.5  # (…, T, T)
    ### END SOLUTION
    # This runs, and is wrong.
    width = q.shape[-1]
    speeds = 10_000.0 ** (-np.arange(0, width, 2) / width)  # (D/2,)
    turns = np.exp(1j * positions[:, None] * speeds)  # (T, D/2)
    q = (q[..., 0::2] + 1j * q[..., 1::2]) * turns  # (…, T, D/2)
    k = (k[..., 0::2] + 1j * k[..., 1::2]) * turns  # (…, T, D/2)
    return np.real(q @ np.swapaxes(k, -1, -2)) / width**0.5  # (…, T, T)


# %% nbgrader={"grade": true, "grade_id": "find_the_bug", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("find_the_bug")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-design", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 5 · Design: slopes for a reach (optional)
#
# ALiBi subtracts $s_h\,(m - n)$ from the score of an earlier key. A model has four heads and reads 1,024 tokens. Choose its four slopes. To
# see what a slope does alone, let all scores be equal before it, and look at the weights of the **last** query, after the softmax over
# its 1,024 keys (distances 0 to 1,023). Any slopes that keep **all** of these are right:
#
# - all are positive, and each is at most half of the next larger one;
# - the steepest head reads the nearest keys, but is no steeper than needed: its keys at distance 8 and beyond have **from 0.1 % to 5 %** of its
#   weight together;
# - the flattest head reaches far keys, and still they fade: its keys at distance 256 and beyond have **from 20 % to 50 %** of its weight.

# %% nbgrader={"grade": false, "grade_id": "design-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def design():
    """Your choice: a dictionary with slopes, a list of four numbers in any order."""
    ### BEGIN SOLUTION
    return {"slopes": [0.5, 0.1, 0.02, 0.004]}
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "design", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("design")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-measure", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 6 · Measure: how far back does a model read?
#
# The lecture's memory task asks for the last letter seen, and reports accuracy by *position*. Most letters stand near by, so a model that
# forgets everything far away may still do well. You measure by *distance*: how many tokens before the end does the letter stand that the
# question asks for? `window` is the number of last keys that the model may see, itself included; the same model is asked under several windows.
#
# - **Accuracy** at a distance is the share of correct answers among the questions with exactly this distance. Where there is no question,
#   the accuracy is not 0 but unknown: `np.nan`.
# - **Base rate** b: the share that you get right if you give the most frequent of all `answers` to each question, without reading it.
# - **Reach**: a share of n independent answers, each correct with probability b, has the standard deviation $\sqrt{b(1-b)/n}$. A distance with
#   n questions is *clear* if its accuracy is above $b + 2\sqrt{b(1-b)/n}$, two standard errors above a guesser.
#   The reach is the last clear distance before the first one that is not clear; distances without questions neither end the reach
#   nor extend it. It is −1 if the first distance that has questions is not clear.
# - Every question is asked under every window, also where the window hides its letter.
#
# The counts, the base rate and the limit of *clear* are given; you fill `accuracy` and `reach`, one entry for each window.
#
# **By hand:** 100 questions at each of the distances 0, 1, 3, none at 2, and b = 0.2. The accuracies are 0.9, 0.3 and 0.27.
# <details><summary>Answer</summary>A standard error is √(0.2 · 0.8/100) = 0.04, so clear means above 0.28. The reach is 1: at 2 nothing is known, and 3 is not clear.</details>

# %% nbgrader={"grade": false, "grade_id": "measure_reach-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def measure_reach(model, ids, answers, distances, windows):
    """Accuracy by distance, and how far a model reads, under several windows.

    Args:
        model: called as model(ids, window); returns its answers, an array (n,), to n questions (n, T).
        ids: questions, an array (n, T).
        answers: the correct answers, an array (n,) of whole numbers from 0.
        distances: an array (n,) of whole numbers from 0; M is the largest.
        windows: a list of whole numbers.

    Returns:
        A dictionary: "counts", the number of questions at the distances 0 to M, an array (M + 1,); "base_rate", a number;
        "accuracy", a dictionary, window -> array (M + 1,); "reach", a dictionary, window -> whole number.
    """
    at = distances == np.arange(distances.max() + 1)[:, None]  # (M + 1, n): row d says which questions have distance d
    counts = at.sum(axis=1)  # (M + 1,)
    base_rate = np.bincount(answers).max() / len(answers)
    limit = base_rate + 2 * np.sqrt(base_rate * (1 - base_rate) / np.maximum(counts, 1))  # (M + 1,): clear is above
    accuracy, reach = {}, {}
    ### BEGIN SOLUTION
    for window in windows:
        correct = model(ids, window) == answers  # (n,)
        accuracy[window] = np.array([correct[row].mean() if row.any() else np.nan for row in at])
        reach[window] = -1
        for distance in np.flatnonzero(counts):
            if accuracy[window][distance] <= limit[distance]:
                break
            reach[window] = int(distance)
    ### END SOLUTION
    return {"counts": counts, "base_rate": base_rate, "accuracy": accuracy, "reach": reach}


# %% nbgrader={"grade": true, "grade_id": "measure_reach", "locked": true, "points": 7, "schema_version": 3, "solution": false, "task": false}
check("measure_reach")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-reach", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See how far two models read
#
# Two models of the lecture's task, trained on 32 tokens for two epochs (up to a minute), read 96 tokens with a letter 0 to 59 tokens before the
# end. In the lecture ALiBi "holds" at positions 64 to 159, and rotary positions hold there with a window of 32. Before you run the cell: what will the
# four reaches of each model be? Note the numbers: "In your own words" asks for them.
# <details><summary>In our run</summary>Rotary: 7, 15, 15 and 0. ALiBi: 7, 15, 21 and 21. A reach ends at the first gap: without a window the rotary model reads some letters far behind it again.</details>

# %% nbgrader={"grade": false, "grade_id": "reaches", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
ids, answers, distances = memory_task.questions(900, length=96, farthest=59, seed=1)
figure, panels = plt.subplots(1, 2, figsize=(9, 3), sharey=True)
for method, panel in zip(("rotary", "ALiBi"), panels, strict=True):
    reader = memory_task.trained(method, seed=0, epochs=2)
    found = measure_reach(partial(memory_task.last_answers, reader), ids, answers, distances, [8, 16, 32, 96])
    print(f"{method:6} base rate {found['base_rate']:.2f}, reach by window {found['reach']}")
    for style, (window, accuracy) in zip(plots.LINES, found["accuracy"].items(), strict=False):
        panel.plot(accuracy, label=f"window {window}", markevery=10, **style)
    panel.axhline(found["base_rate"], linestyle=":", color="gray", label="base rate")
    panel.set(title=method, xlabel="distance of the letter", ylim=(0, 1.05))
panels[0].set_ylabel("accuracy")
panels[1].legend()
plots.show(figure, alt="Accuracy by distance of two models under four windows; the dotted line is the base rate.")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-2", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 7 · A shift is a rotation (optional)
#
# Moving `offset` positions further turns pair i by the angle $\omega_i \cdot \text{offset}$, at every position. So one matrix M, the same for
# all positions, shifts the whole table:
#
# $$PE[p + \text{offset}] = PE[p]\; M \qquad \text{for every } p.$$
#
# Rows of the table stand on the *left* of M. Build M from sines and cosines of the shift's angles: D/2 blocks of 2 × 2 on the
# diagonal, zeros elsewhere. The offset may be negative (a shift back) or 0. `d_model` is even.
#
# Do it on paper first, for one pair with ω = 1 and an offset of 1: which 2 × 2 matrix takes the row (sin p, cos p) to the row
# (sin(p + 1), cos(p + 1))?

# %% nbgrader={"grade": false, "grade_id": "shift_matrix-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def shift_matrix(offset, d_model):
    """Make the matrix that shifts sinusoidal positions.

    Args:
        offset: by how many positions, any whole number.
        d_model: width of the table, an even number.

    Returns:
        M, (d_model, d_model), such that PE[p + offset] = PE[p] @ M for every position p.
    """
    ### BEGIN SOLUTION
    matrix = np.zeros((d_model, d_model))  # (D, D)
    for start in range(0, d_model, 2):
        turn = offset / 10_000 ** (start / d_model)
        matrix[start, start] = matrix[start + 1, start + 1] = np.cos(turn)
        matrix[start, start + 1] = -np.sin(turn)
        matrix[start + 1, start] = np.sin(turn)
    return matrix
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "shift_matrix", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("shift_matrix")

# %% nbgrader={"grade": false, "grade_id": "shifted", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
table = np.asarray(sinusoidal_positions(60, 32))  # (T, D)
moved = table[:50] @ np.asarray(shift_matrix(10, 32))  # (50, D)
print(f"rows 0 to 49, shifted by 10, differ from rows 10 to 59 by at most {np.abs(moved - table[10:]).max():.1e}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-smollm2", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Your positions in two published models
#
# Two models that others trained read with **your** code. SmolLM2, a chat model (Hugging Face, 2024), turns its queries and keys by `rotary`. MiniLM, a BERT encoder (Microsoft, 2020), gets your `TokenAndPositionEmbedding` with its own two tables.
#
# Nothing here is graded. Set `TALK = True` and run the three cells. The first time, 177 MB are fetched; then it takes about half a minute and 1.7 GB of memory.
#
# **Predict.** SmolLM2 was trained with the base 100,000; your `rotary` has 10,000. With its own base, a paragraph of 108 tokens costs it about 3.8 nats a token; an even guess costs 10.8. What does it cost with your base, and what if nothing is turned? And the third cell: from MiniLM, "a brown dog is running after the black dog" and its twin with the colours swapped get the cosine .98. What is it when every token says that it stands at position 5?

# %% tags=["demonstration"]
TALK = False  # True: fetch the published numbers

# %% nbgrader={"grade": false, "grade_id": "smollm2", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
if TALK:
    from coursekit.published_heads import PARAGRAPH, losses

    def slower(x, positions, base=100_000):
        """Another base: a pair alone turns by its position, so pair i gets position / base^(2i/D)."""
        pairs = [rotary(x[..., i : i + 2], positions / base ** (i / x.shape[-1])) for i in range(0, x.shape[-1], 2)]
        return np.concatenate(pairs, axis=-1)

    turns = {"base 100,000": (slower, 100_000), "base 10,000": (rotary, 10_000), "no turn": (lambda x, positions: x, None)}
    for name, (turn, base) in turns.items():
        print(f"{name:13} {losses(PARAGRAPH, turn, base).mean():.2f} nats a token")

# %% nbgrader={"grade": false, "grade_id": "minilm", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
if TALK:
    from coursekit.pages.news_classifier import PlainBertBlock
    from coursekit.published import load_published

    minilm = load_published(PlainBertBlock, "minilm").embedded_by(TokenAndPositionEmbedding)
    texts = ["a brown dog is running after the black dog", "a black dog is running after the brown dog"]
    texts += ["the company said its profit rose"]
    table = minilm.embedding.position_embedding
    for name in ("its positions", "position 5 for all"):
        vectors = minilm(texts)  # (3, 384), each of length 1
        print(f"{name:18} cosine with the twin {vectors[0] @ vectors[1]:.4f}, with the company {vectors[0] @ vectors[2]:.2f}")
        table.set_weights([np.repeat(table.get_weights()[0][5:6], 512, axis=0)])

# %% [markdown] nbgrader={"grade": false, "grade_id": "smollm2-seen", "locked": true, "schema_version": 3, "solution": false, "task": false}
# In our run the paragraph costs 3.78 nats a token with the model's base, 3.88 with yours, and 5.18 when nothing is turned. Pair 0 turns alike with any base, and the last pair turns by less than .02 over 108 tokens with both bases; only the pairs between them differ. This is one paragraph, and says nothing about long texts.
#
# Without positions the twin's cosine rises from .9837 to 1.0000: your test of exercise 3 says why. So .0163 is all that tells which dog runs after which. (Position 5, because MiniLM's row for position 0 is that of `[CLS]`, more than three times as long as the others.)

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-8", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## A picture to keep
#
# In the first cell your test judges an attention layer, first on plain word vectors and then on word vectors with positions. In the
# second cell the left picture shows the dot products of your sinusoidal rows, the right picture shows those of one query and one key,
# turned by your `rotary` to all positions. Before you run the cells: what do the two pictures have in common, and how do they differ?

# %% nbgrader={"grade": false, "grade_id": "verdicts", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
keras.utils.set_random_seed(5)
attention = keras.layers.MultiHeadAttention(num_heads=2, key_dim=16)
ids = np.array([[4, 2, 7, 2, 9, 1, 5]])  # (B, T)
words = keras.layers.Embedding(11, 32)(ids)  # (B, T, D)
rows = np.asarray(sinusoidal_positions(7, 32))  # (T, D)
shuffle = np.array([3, 0, 6, 1, 5, 2, 4])
maps = {
    "attention": lambda x: attention(query=x, value=x),
    "positions, then attention": lambda x: attention(query=x + rows, value=x + rows),
}
for name, fn in maps.items():
    print(f"{name:26} equivariant: {is_permutation_equivariant(fn, words, shuffle)}")

# %% nbgrader={"grade": false, "grade_id": "picture", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
rows = np.asarray(sinusoidal_positions(48, 32))  # (T, D)
query, key = np.random.default_rng(5).normal(size=(2, 1, 32)).astype("float32").repeat(48, axis=1)  # (T, D) each
places = np.arange(48)
scores = np.asarray(rotary(query, places)) @ np.asarray(rotary(key, places)).T  # (T, T)

figure, panels = plt.subplots(1, 2, figsize=(8.5, 3.4))
plots.matrix_map(rows @ rows.T, values=False, title="sinusoidal: PE[p]·PE[q]", colorbar=True, ax=panels[0])
plots.matrix_map(scores, values=False, title="rotary: query at p, key at q", colorbar=True, ax=panels[1])
for panel in panels:
    panel.set(xlabel="q", ylabel="p")
plots.show(figure, alt="Two 48 by 48 maps, each constant along every diagonal; the left one is symmetric, the right one is not.")

# %% [markdown] nbgrader={"grade": false, "grade_id": "observed", "locked": true, "schema_version": 3, "solution": false, "task": false}
# The order that attention alone cannot see is visible once positions are added. Both maps are constant along every diagonal: only
# the distance p − q counts. The sinusoidal one is symmetric and cannot tell before from after; the rotary one can.

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-7", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## In your own words
#
# A friend says: "ALiBi works for any length, so my model can read texts ten times as long as those it was trained on." What do your numbers
# of exercise 6 say to this: which reach has each model under each window, which of the two limits is the window's and which the model's, and
# why did the lecture's accuracy look better? Then say how you found your number in the prediction, and what it means for a model
# with sinusoidal positions that is trained on 512 of them and reads 5,000. Four to eight sentences. This earns no points; your instructor
# reads it and writes back.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explanation", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# In my run the rotary model reaches 7, 15 and 15 under the windows 8, 16 and 32, and 0 with all 96 keys; ALiBi reaches 7, 15, 21 and 21.
# Under 8 and 16 the window is the limit, because it ends at distance 7 or 15. Under 32 it is the model: both are trained on letters that
# stand near by. ALiBi does not fail on 96 tokens, but it reads the last twenty of them only, so nothing is gained by a longer
# text. The lecture's accuracy looked better because its letters are dense: 0.7 to the power 22, or 0.04 %, of its questions have a
# distance above 21.
#
# A quarter turn is π/2 = 1.57, and 1.57/511 is a speed of 0.0031, which is 10000 to the power of −0.63. So 0.63 of the pairs are
# faster, and 0.37 of 32, about 11, are slower. In training these columns never leave the first quarter turn: at position 5,000 they
# have values that no layer has seen.

# %% [markdown] nbgrader={"grade": false, "grade_id": "closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# [Lab 06](../06_imdb_classifier/06_imdb_classifier.ipynb) puts `TokenAndPositionEmbedding` to work on film reviews.

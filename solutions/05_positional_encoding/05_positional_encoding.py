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
# Attention does not know in which order its tokens came. You build the remedies: the sinusoidal table and the matrix that
# shifts it, two embedding layers that add positions to words, a test that finds out whether a function sees order at all, and
# rotary positions, which most current language models use.
#
# **Before you start:** read [lecture 05](../../lectures/05_positional_encoding.ipynb). **Time:** about 105 minutes.
#
# **How a lab works.** Each exercise has a cell with a stub, and below it a cell `check("…")`. Replace the line
# `raise NotImplementedError`, run your cell, then run the check. It says in a second what works, what differs first, and
# which mistake it looks like; from the second failed try on it adds hints. Your mark comes from the same tests on
# inputs that you have not seen, so code that fits only the visible inputs earns nothing. Add cells wherever you like;
# the check cells themselves are restored before grading.
#
# **Letters.** B is the batch, T the number of tokens, D (`d_model`) the width of a token. A *pair* is two neighbouring columns,
# 2i and 2i + 1; there are D/2 of them. "(…, T, D)" means: any leading dimensions, or none.
#
# | exercise | what you write | points | difficulty | minutes |
# |---|---|---|---|---|
# | 1 | `sinusoidal_positions` | 4 | ●●●○○ | 15 |
# | 2 | `shift_matrix` | 4 | ●●●○○ | 15 |
# | 3 | `TokenAndPositionEmbedding` | 6 | ●●○○○ | 10 |
# | 4 | `SinusoidalEmbedding` | 6 | ●●○○○ | 10 |
# | 5 | `is_permutation_equivariant` | 4 | ●●○○○ | 10 |
# | 6 | `rotary` | 5 | ●●●○○ | 15 |
# | 7 | `find_the_bug` | 3 | ●●○○○ | 10 |
# | 8 | `predict` | 1 | ●○○○○ | 5 |
#
# Minutes and dots are estimated by a rule: how much there is to read and to write, and what can go wrong. They were not
# measured with students.
#
# Exercise 4 uses the table of exercise 1. All others stand on their own: if you are stuck, go on.

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
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import ops

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
# or a tensor, of any float type.
#
# <details><summary>Hint 1</summary>Both columns of a pair share one frequency. How many frequencies are there, and what is the first one?</details>
# <details><summary>Hint 2</summary><code>np.arange(0, d_model, 2)</code> is 0, 2, 4, …: these are the numbers 2i. Mind that <code>/</code> divides and <code>//</code> rounds down.</details>
# <details><summary>Hint 3</summary>A column of positions times a row of frequencies gives all angles at once. Even columns of an array are <code>table[:, 0::2]</code>, and you can assign to them.</details>

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


# %% nbgrader={"grade": true, "grade_id": "sinusoidal_positions", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("sinusoidal_positions")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-2", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 2 · A shift is a rotation
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
#
# <details><summary>Hint 1</summary>sin(a + b) = sin a cos b + cos a sin b, and cos(a + b) = cos a cos b − sin a sin b.</details>
# <details><summary>Hint 2</summary>In a product row · M, column 0 of M says how the new sine is made from the old sine (row 0) and the old cosine (row 1).</details>
# <details><summary>Hint 3</summary>Does your M shift by −offset? Then your block is the transpose of the right one. Try <code>table[5] @ M</code> against <code>table[5 + offset]</code>.</details>

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


# %% nbgrader={"grade": true, "grade_id": "shift_matrix", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("shift_matrix")

# %% nbgrader={"grade": false, "grade_id": "shifted", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
table = np.asarray(sinusoidal_positions(60, 32))  # (T, D)
moved = table[:50] @ np.asarray(shift_matrix(10, 32))  # (50, D)
print(f"rows 0 to 49, shifted by 10, differ from rows 10 to 59 by at most {np.abs(moved - table[10:]).max():.1e}")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-3", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 3 · Learned positions
#
# BERT and GPT-2 learn one vector per position, as they learn one per word. Write the layer: two `keras.layers.Embedding`, kept
# under the names `token_embedding` (`vocab_size` rows) and `position_embedding` (`max_length` rows). The checks put known weights
# into them by these names.
#
# - `call(ids)` takes whole numbers (B, T) with T ≤ max_length and returns (B, T, D): the vector of the token plus the vector of its
#   position. The first token has position 0, in a short sequence too.
# - Nothing is scaled here: both tables are learned, so they find their sizes.
# - It must run inside `tf.function` with a batch size *and a length* that are not known in advance. There `ids.shape[1]` is
#   None, and `ops.shape(ids)[1]` is a number that becomes known when the function runs.
#
# `__init__` and `get_config` are begun for you: leave the three attributes in place, so that the layer can be saved and loaded.
#
# <details><summary>Hint 1</summary>An Embedding turns whole numbers of any shape into vectors. What are the positions of T tokens? <code>ops.arange</code> writes them down.</details>
# <details><summary>Hint 2</summary>(B, T, D) + (T, D) broadcasts over the batch: no loop, no repetition.</details>

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


# %% nbgrader={"grade": true, "grade_id": "TokenAndPositionEmbedding", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("TokenAndPositionEmbedding")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-4", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 4 · Sinusoidal positions in a layer
#
# The same layer with the fixed table of exercise 1 in place of the learned one. Only `token_embedding` is trained, and here
# the scale matters: word vectors start small, sinusoidal rows have the length √(D/2). So the output is
#
# $$\sqrt{D}\cdot\text{token} + \text{position}.$$
#
# `call(ids)` takes and returns the same as in exercise 3, also for unknown lengths; `d_model` is even.
#
# <details><summary>Hint 1</summary>The length is not known inside <code>tf.function</code>, but <code>max_length</code> is known in <code>__init__</code>. Make the table there, once.</details>
# <details><summary>Hint 2</summary>The first T rows: <code>table[: ops.shape(ids)[1]]</code> works for a tensor. A NumPy array cannot be sliced with a number that is not known yet: <code>ops.convert_to_tensor</code> first, float32.</details>

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


# %% nbgrader={"grade": true, "grade_id": "SinusoidalEmbedding", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("SinusoidalEmbedding")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-5", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 5 · Does it see the order?
#
# A map `fn` of tokens is *permutation equivariant* when it does not matter whether you shuffle the tokens before `fn` or after
# it:
#
# fn(shuffled x) = shuffled fn(x).
#
# Write the test. `fn` takes tokens (B, T, D), an array or a tensor, and returns the same kind, (B, T, …). `permutation` is a vector of T
# whole numbers: token number `permutation[t]` comes to place t. "Equal" means: no entry differs by more than `tolerance`.
#
# Take care with one word. *Equivariant* is not *invariant*: the result of an invariant map stays the same under shuffling. If
# its rows differ, your test must answer False for it. (If all rows of the result are equal, the map is both.)
#
# <details><summary>Hint 1</summary>Two results have to be compared. Write down what each of them is before you write code.</details>
# <details><summary>Hint 2</summary><code>x[:, permutation]</code> shuffles the tokens of an array. For a tensor there is <code>ops.take(x, permutation, axis=1)</code>, which takes arrays too.</details>
# <details><summary>Hint 3</summary>One entry too far off is enough for False. Which of sum, mean and maximum notices it?</details>

# %% nbgrader={"grade": false, "grade_id": "is_permutation_equivariant-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def is_permutation_equivariant(fn, x, permutation, tolerance=1e-5):
    """Test whether a map of tokens commutes with a permutation of them.

    Args:
        fn: the map, from (B, T, D) to (B, T, …).
        x: tokens, (B, T, D), an array or a tensor.
        permutation: (T,), token permutation[t] comes to place t.
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
# ## 6 · Rotary positions
#
# Rotary positions do not add anything. They turn each pair of a query or key by an angle that grows with its position. For
# pair i, with a = x[2i], b = x[2i + 1] and θ = position / 10000^(2i/D):
#
# $$(a,\; b) \;\longmapsto\; (a\cos\theta - b\sin\theta,\;\; a\sin\theta + b\cos\theta).$$
#
# The dot product of a turned query and a turned key then depends only on the *difference* of their positions.
#
# - x is (…, T, D): it works for (T, D), for (B, T, D) and for the (B, H, T, K) inside multi-head attention.
# - `positions` is given, T whole numbers (integers or floats), in any order and with gaps: with a key–value cache the new token may be number 117.
# - The result has the shape and the float type of x. Pairs are neighbours, and they are neighbours again in the result.
#
# <details><summary>Hint 1</summary>All a's at once are <code>x[..., 0::2]</code>, (…, T, D/2). Write the two formulas with whole arrays.</details>
# <details><summary>Hint 2</summary>The angles have the shape (T, D/2) and broadcast over the leading dimensions. TensorFlow wants them in the float type of x: <code>ops.cast</code>.</details>
# <details><summary>Hint 3</summary>Interleaving: stack the two results along a new last axis, (…, T, D/2, 2), then reshape to (…, T, D).</details>

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


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 7 · Find the bug
#
# A pair (a, b) is a complex number a + ib, and to turn it by θ is to multiply it by $e^{i\theta}$. A colleague uses this to calculate the
# scores of rotary attention, queries times keys, in five lines. The code runs. With equal queries and equal keys the scores should be
# constant along the diagonals, where p − q is constant. Here they are constant along the *other* diagonals, where p + q is constant.
#
# The code is in the cell below. Delete the line `raise NotImplementedError`, find out why this happens, and fix it.
#
# <details><summary>Hint 1</summary>What happens to the angles of two complex numbers when they are multiplied?</details>
# <details><summary>Hint 2</summary>The dot product a·c + b·d is the real part of a product of two complex numbers. Multiply out (a + ib)(c + id), and compare.</details>

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

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 8 · Predict, then measure
#
# A table for 512 positions with D = 64 has 32 pairs. The first pair turns by 1 radian from position to position, the last one by about
# 1/7500. How many of the 32 pairs turn by **less than a quarter turn** over the whole table, from position 0 to 511? Put your number in
# place of `None`, and delete the last line of the cell. Predict it before you run the measurement, and write down why: "In your own words"
# asks for it. An answer that is off by up to two pairs counts as right.

# %% nbgrader={"grade": false, "grade_id": "predict-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
predict = None  # one number: of 32 pairs, those that turn by less than a quarter from position 0 to 511
### BEGIN SOLUTION
predict = 11
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("predict")

# %% nbgrader={"grade": false, "grade_id": "measured", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
cosines = np.asarray(sinusoidal_positions(512, 64))[:, 1::2]  # (T, 32): a cosine stays above 0 for a quarter turn
slow = (cosines > 0).all(axis=0)  # (32,)
print(f"{slow.sum()} of 32 pairs; the first of them is pair {slow.argmax()}, and its cosine falls to {cosines[-1, slow][0]:.2f}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-8", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## See your functions at work
#
# Before you run the cell: the left picture shows the dot products of your sinusoidal rows, the right picture shows those of one
# query and one key, turned by your `rotary` to all positions. What do the two pictures have in common, and how do they differ? In
# the next cell your test judges an attention layer, first on plain word vectors and then on word vectors with positions.

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

# %% nbgrader={"grade": false, "grade_id": "verdicts", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
keras.utils.set_random_seed(5)
attention = keras.layers.MultiHeadAttention(num_heads=2, key_dim=16)
ids = np.array([[4, 2, 7, 2, 9, 1, 5]])  # (B, T)
words = SinusoidalEmbedding(max_length=7, vocab_size=11, d_model=32).token_embedding(ids)  # (B, T, D)
shuffle = np.array([3, 0, 6, 1, 5, 2, 4])
maps = {
    "attention": lambda x: attention(query=x, value=x),
    "positions, then attention": lambda x: attention(query=x + rows[:7], value=x + rows[:7]),
}
for name, fn in maps.items():
    print(f"{name:26} equivariant: {is_permutation_equivariant(fn, words, shuffle)}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "observed", "locked": true, "schema_version": 3, "solution": false, "task": false}
# Both maps are constant along every diagonal: only the distance p − q counts. The sinusoidal one is symmetric and cannot tell before
# from after; the rotary one can. And the order that attention alone cannot see is visible once positions are added.

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-7", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## In your own words
#
# A friend says: "Sinusoidal positions work for any length, so my model can read texts ten times as long as those it was trained on."
# What is right in this, what is wrong, and how would you test it? Then say how you found your number in exercise 8, and what it
# means for a model that is trained on 512 positions and reads 5,000. Four to eight sentences. This earns no points; your instructor
# reads it and writes back.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explanation", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# The table can indeed be computed for any position, since it is a formula. But the layers behind it have only seen the rows of
# the training lengths, and attention over more tokens than ever before is new to them as well. In the lecture's memory task accuracy fell
# right behind the training length. I would train on short sequences and plot accuracy against position on long ones.
#
# A quarter turn is π/2 = 1.57, and 1.57/511 is a speed of 0.0031, which is 10000 to the power of −0.63. So 0.63 of the pairs are
# faster, and 0.37 of 32, about 11, are slower. In training these columns never leave the first quarter turn: at position 5,000 they
# have values that no layer has seen.

# %% [markdown] nbgrader={"grade": false, "grade_id": "closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# [Lab 06](../06_imdb_classifier/06_imdb_classifier.ipynb) puts `TokenAndPositionEmbedding` to work on film reviews.

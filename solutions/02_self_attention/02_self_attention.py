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
# # Lab 02 · Self-attention
#
# You build self-attention with loops, as matrix products, and as a Keras layer. You derive the gradient of its softmax, measure at which width it saturates, and compute attention in blocks.
#
# **Before you start:** read [lecture 02](../../lectures/02_self_attention.ipynb): this lab begins where its class
# `PlainSelfAttention` ends. Exercise 7 belongs to sections 1, 3 and 4 of [lecture 02b](../../lectures/02b_what_attention_costs.ipynb).
# **Time:** about 100 minutes.
#
# **How a lab works.** Replace the line `raise NotImplementedError`, run your cell, then run the check below it. It says what differs first, and which mistake it looks like; after the second failed attempt it adds hints. Your mark comes from the same tests on inputs that you have not seen.
#
# **Letters.** T is the number of queries, S the number of keys (in self-attention T = S), D the width of a token, $d_k$ the
# width of queries and keys, $d_v$ the width of values, B the batch. "(…, T, D)" means: any leading dimensions, or none.
#
# | exercise | what you write | points | difficulty | minutes |
# |---|---|---|---|---|
# | 1 | `self_attention_loops` | 2 | ●●●○○ | 15 |
# | 1 | `self_attention_matrix` | 2 | ●●○○○ | 10 |
# | 2 | `project_qkv` (optional) | 0 | ●○○○○ | 5 |
# | 2 | `scaled_dot_product_attention` | 8 | ●●○○○ | 10 |
# | 3 | `SelfAttention` | 6 | ●●●○○ | 15 |
# | 4 | `answers` (optional) | 0 | ●○○○○ | 5 |
# | 4 | `predict` | 1 | ●○○○○ | 5 |
# | 5 | `derive_softmax_jacobian` | 7 | ●●○○○ | 10 |
# | 6 | `measure_saturation` | 4 | ●●●○○ | 15 |
# | 6 | `report` | 1 | ●○○○○ | 5 |
# | 7 | `attention_cost` (optional) | 0 | ●○○○○ | 5 |
# | 7 | `online_attention` (optional) | 0 | ●●●○○ | 15 |
# | 7 | `design` | 2 | ●○○○○ | 5 |
# | 8 | `find_the_bug` | 3 | ●●○○○ | 10 |
#
# Optional exercises earn no points, and their minutes are not in the total, which counts reading and given cells as well.
#
# Times and difficulties are estimates, not measurements.

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

from coursekit.pages.self_attention import PlainSelfAttention  # the lecture's class

check = start_lab("02_self_attention")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-1", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 1 · One token at a time, then all at once
#
# Self-attention replaces each token by a mixture of all tokens. For token t:
#
# 1. its **score** with token s is the dot product of the two rows, divided by √D;
# 2. its **weights** are the softmax of its scores, so they are positive and sum to 1;
# 3. its **output** is the sum of all rows, each times its weight.
#
# Nothing is learned here yet: the same row is query, key and value. (Lecture 02 explains the division in its section 5.)
#
# **`self_attention_loops`** does this with loops. **`self_attention_matrix`** does the same with whole
# arrays: no `for`, no `while`, no comprehension. The T² dot products are the entries of one matrix product, and the weighted sums
# are another. It has to work for one sequence (T, D), for a batch (B, T, D), and for any other leading dimensions.
#
# Scores may be large in both: a softmax that works for ±1e4 subtracts something first. `PlainSelfAttention` is forbidden in both.

# %% nbgrader={"grade": false, "grade_id": "self_attention_loops-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def self_attention_loops(x):
    """Self-attention without parameters, token by token.

    Args:
        x: tokens, (T, D), an array or a tensor.

    Returns:
        (T, D): row t is the sum of all rows of x, weighted by softmax over s of x[t]·x[s] / √D.
    """
    ### BEGIN SOLUTION
    x = np.asarray(x)
    output = np.zeros_like(x)
    for t, query in enumerate(x):
        scores = np.array([query @ key for key in x]) / x.shape[1] ** 0.5  # (T,)
        powers = np.exp(scores - scores.max())  # (T,)
        for weight, value in zip(powers / powers.sum(), x, strict=True):
            output[t] += weight * value
    return output  # (T, D)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "self_attention_loops", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("self_attention_loops")


# %% nbgrader={"grade": false, "grade_id": "self_attention_matrix-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def self_attention_matrix(x):
    """Self-attention without parameters as two matrix products.

    Args:
        x: tokens, (…, T, D), an array or a tensor.

    Returns:
        (…, T, D): softmax(x xᵀ / √D) x for each sequence.
    """
    ### BEGIN SOLUTION
    x = ops.convert_to_tensor(x)
    scores = ops.matmul(x, ops.swapaxes(x, -1, -2)) / x.shape[-1] ** 0.5  # (…, T, T)
    weights = ops.softmax(scores, axis=-1)  # (…, T, T)
    return ops.matmul(weights, x)  # (…, T, D)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "self_attention_matrix", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("self_attention_matrix")

# %% nbgrader={"grade": false, "grade_id": "timing", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
import time


def seconds(function):
    start = time.perf_counter()
    function(long)
    return time.perf_counter() - start


long = np.random.default_rng(0).normal(size=(256, 32)).astype("float32")  # (T, D)
self_attention_matrix(long)  # the first call pays for starting up
ratio = seconds(self_attention_loops) / seconds(self_attention_matrix)
print(f"256 tokens: the loops take {ratio:.0f} times as long as the matrix products")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-3", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 2 · Scaled dot-product attention
#
# A token has three roles: query, key and value. Three matrices, the same for
# every token, give it a vector for each role: $Q = X W_q$, $K = X W_k$, $V = X W_v$. Attention learns these matrices.
# `project_qkv` writes these three products; it is optional and earns no points.

# %% nbgrader={"grade": false, "grade_id": "project_qkv-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def project_qkv(x, w_q, w_k, w_v):
    """Make queries, keys and values from tokens.

    Args:
        x: tokens, (…, T, D).
        w_q, w_k: (D, d_k).
        w_v: (D, d_v).

    Returns:
        The tuple (q, k, v): (…, T, d_k), (…, T, d_k), (…, T, d_v).
    """
    ### BEGIN SOLUTION
    return ops.matmul(x, w_q), ops.matmul(x, w_k), ops.matmul(x, w_v)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "project_qkv", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("project_qkv")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-4", "locked": true, "schema_version": 3, "solution": false, "task": false}
# The heart of the Transformer takes any queries, keys and values:
#
# $$\mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# It returns the weights as well, and it takes a **mask**.
#
# - True (or 1) in the mask means *may attend*, False (or 0) means *blocked*. A blocked key has weight 0, and the weights
#   of the others still sum to 1, also where the scores are tens of thousands below 0.
# - The mask may be boolean, integer or float, and it broadcasts to the scores (…, T, S): (T, S), (B, T, S), (B, 1, S).
# - A query that may attend to nothing must not give NaN. Any finite weights will do for it: all zero, or all equal.
# - T and S differ in general, and so do $d_k$ and $d_v$.
# - The results have the float type of q. For $\sqrt{d_k}$, `d_k ** 0.5` is safe: a Python float leaves float32 alone.
# - The next exercise calls this function inside a layer, where NumPy does not work: write it with `keras.ops`. The check of
#   this exercise accepts NumPy, that of the next one does not.

# %% nbgrader={"grade": false, "grade_id": "scaled_dot_product_attention-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scaled_dot_product_attention(q, k, v, mask=None):
    """Attention as in Vaswani et al. (2017), equation 1, with a mask.

    Args:
        q: queries, (…, T, d_k).
        k: keys, (…, S, d_k).
        v: values, (…, S, d_v).
        mask: broadcasts to (…, T, S); True or 1 where a query may attend to a key. None blocks nothing.

    Returns:
        The tuple (output, weights): (…, T, d_v) and (…, T, S), in the float type of q.
    """
    ### BEGIN SOLUTION
    q, k, v = (ops.convert_to_tensor(each) for each in (q, k, v))
    scores = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1] ** 0.5  # (…, T, S)
    if mask is not None:
        blocked = ops.cast(-1e9, scores.dtype)
        scores = ops.where(ops.cast(mask, "bool"), scores, blocked)
    weights = ops.softmax(scores, axis=-1)  # (…, T, S)
    return ops.matmul(weights, v), weights  # (…, T, d_v), (…, T, S)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "scaled_dot_product_attention", "locked": true, "points": 8, "schema_version": 3, "solution": false, "task": false}
check("scaled_dot_product_attention")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-5", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 3 · A layer that can learn
#
# Put projections and attention into a Keras layer. The projections are three `keras.layers.Dense` **without bias**,
# kept under the names `w_q`, `w_k` and `w_v`: the checks use these names.
#
# - `call(x, attention_mask=None, return_weights=False)` takes x (B, T, D) and returns the output (B, T, $d_v$), or with
#   `return_weights=True` the tuple (output, weights).
# - The mask is (T, S), (B, T, S), (B, 1, S), or (B, 1, T, S). The last shape is the one that multi-head attention uses: axis 1
#   stands for the heads. This layer has no heads, so take that axis out of the mask.
# - The argument is called `attention_mask`, as in Keras's own layer: Keras fills an argument `mask` with a padding mask
#   (B, T), and that shape is wrong here.
# - Gradients must reach all three matrices, and the layer must run inside `tf.function` with an unknown batch size: use
#   `keras.ops`, not NumPy.

# %% nbgrader={"grade": false, "grade_id": "SelfAttention-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
class SelfAttention(keras.Layer):
    """Self-attention with one head and learned projections.

    Args:
        d_k: width of queries and keys.
        d_v: width of values and of the output.

    Attributes:
        w_q, w_k, w_v: Dense layers without bias.
    """

    def __init__(self, d_k, d_v, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True  # tokens may come with a padding mask of Keras, which is handed on
        ### BEGIN SOLUTION
        self.w_q = keras.layers.Dense(d_k, use_bias=False)
        self.w_k = keras.layers.Dense(d_k, use_bias=False)
        self.w_v = keras.layers.Dense(d_v, use_bias=False)
        ### END SOLUTION

    def call(self, x, attention_mask=None, return_weights=False):
        """Attend.

        Args:
            x: tokens, (B, T, D).
            attention_mask: (T, S), (B, T, S), (B, 1, S) or (B, 1, T, S), or None.
            return_weights: whether the weights (B, T, S) are returned too.

        Returns:
            The output (B, T, d_v), or the tuple (output, weights).
        """
        ### BEGIN SOLUTION
        mask = attention_mask
        if mask is not None and len(mask.shape) == 4:
            mask = mask[:, 0]  # (B, T, S)
        output, weights = scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x), mask=mask)
        return (output, weights) if return_weights else output
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "SelfAttention", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("SelfAttention")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-7", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 4 · By hand, and a prediction
#
# ### By hand (optional)
#
# Paper and pencil, no code. Put your answers in place of `None`, and delete the last line of the cell. The three tokens are "How are you":
#
# X = [[1, 2, 3, 4], [2, 4, 8, 7], [1, 2, 1, 2]], and $W_k$ = [[1, 0, 2], [0, 1, 1], [1, 1, 0], [0, 1, 0]].
#
# - `key_row`: the key of token 1, "are" (tokens are counted from 0): three numbers.
# - `scaled_scores`: a query has the scores 126 and 120 with two keys of width $d_k = 36$. What are the scores after scaling?
# - `weights`: the softmax of these two numbers, rounded to two decimals (e ≈ 2.718).

# %% nbgrader={"grade": false, "grade_id": "answers-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
answers = {
    "key_row": None,  # three numbers: [.., .., ..]
    "scaled_scores": None,  # two numbers
    "weights": None,  # two numbers, two decimals
}
### BEGIN SOLUTION
answers = {"key_row": [10, 19, 8], "scaled_scores": [21, 20], "weights": [0.73, 0.27]}
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "answers", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("answers")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-guess", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Guess, then run
#
# Dividing by $\sqrt{d_k}$ is said to bring the scores back to a standard deviation of 1. Let all entries of q and k be independent, with
# mean 0; those of q have a standard deviation of **3**, those of k of **1**, and $d_k = 64$. What is the standard deviation of the *scaled* scores?
#
# Put your guess in place of `None`, and delete the last line of the cell. It earns nothing, and nobody checks it. Then run the measurement, and compare.

# %% nbgrader={"grade": false, "grade_id": "guess", "locked": false, "schema_version": 3, "solution": true, "task": false}
guess = None  # one number: the standard deviation of the scaled scores
### BEGIN SOLUTION
guess = 3
### END SOLUTION

# %% nbgrader={"grade": false, "grade_id": "measured", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
if guess is None:
    print("First write your guess into the cell above.")
else:
    rng = np.random.default_rng(0)
    for spread in (1, 3):
        q, k = rng.normal(scale=spread, size=(1000, 64)), rng.normal(size=(1000, 64))  # (T, d_k), (S, d_k)
        scaled = q @ k.T / 64**0.5  # (T, S)
        largest = np.max(ops.softmax(scaled, axis=-1), axis=1).mean()
        print(f"entries of deviation {spread} and 1: scaled scores of deviation {scaled.std():.1f}, largest of 1000 weights {largest:.2f}")
    print(f"your guess for the deviations 3 and 1: {guess}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Predict
#
# The same question for a case that the page has not computed: the entries of q **and** of k have a standard deviation of
# **2**, and $d_k = 100$. Put your number in place of `None`, and delete the last line of the cell. An answer within about 10 % counts as
# right. Write down why: "In your own words" asks for it.

# %% nbgrader={"grade": false, "grade_id": "predict-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
predict = None  # one number: the standard deviation of the scaled scores
### BEGIN SOLUTION
predict = 4
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("predict")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-derive", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 5 · Derive: the Jacobian of the softmax
#
# Every gradient that reaches $W_q$ and $W_k$ passes through the softmax. For one row of scores z and its weights p = softmax(z), the
# **Jacobian** holds the derivative of every weight by every score: $J_{ij} = \partial p_i / \partial z_j$. Derive it on paper, and write it
# with p alone, as a closed form.
#
# - Scores are (…, S), and the result is (…, S, S): one matrix for each row. They may be near ±1000.
# - This exercise forbids automatic gradients (`tf.GradientTape`, `tf.gradients`, `tf.autodiff.ForwardAccumulator`). Any softmax is allowed.
#   A difference quotient in float64 with a step near 10⁻⁵ passes, but the closed form shows why a saturated row's Jacobian is nearly 0.
#
# **By hand:** two equal scores, p = (½, ½). One of them grows a little, by h. By how much does each weight change?
# <details><summary>Answer</summary>The weight is 1/(1 + e⁻ʰ), which is about ½ + h/4; the other one loses the same, h/4.</details>

# %% nbgrader={"grade": false, "grade_id": "derive_softmax_jacobian-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def derive_softmax_jacobian(scores):
    """The derivatives of softmax weights by their scores.

    Args:
        scores: (…, S), an array or a tensor.

    Returns:
        (…, S, S): entry (i, j) is the derivative of weight i by score j of the same row.
    """
    ### BEGIN SOLUTION
    p = np.asarray(ops.softmax(scores, axis=-1))  # (…, S)
    return p[..., :, None] * (np.eye(p.shape[-1], dtype=p.dtype) - p[..., None, :])  # (…, S, S)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "derive_softmax_jacobian", "locked": true, "points": 7, "schema_version": 3, "solution": false, "task": false}
check("derive_softmax_jacobian")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-measure", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 6 · Measure: where does the softmax saturate?
#
# A softmax is **saturated** when nearly all weight of a row lies on one key. Then its Jacobian is close to 0. Write the function
# that measures this for any queries and keys: `draw(seed, d)` returns q (T, d) and k (S, d), the same ones for the same arguments;
# change neither. It is the only source of chance. Scores may be in the thousands.
#
# For each width d: take the softmax of the scores, the largest weight of each query, and the mean of these over all queries and all
# seeds. Do this with and without the division by √d, **on the same draws**, so that the two differ in nothing else. The result also
# says what equal weights would give, the *base rate*.

# %% nbgrader={"grade": false, "grade_id": "measure_saturation-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def measure_saturation(draw, widths, seeds, threshold=0.9):
    """The mean largest weight at each width, with and without the division by √d.

    Args:
        draw: a function; draw(seed, d) returns the tuple (q, k), arrays (T, d) and (S, d).
        widths: a list of widths d, in ascending order.
        seeds: a list of seeds; each is used at each width.
        threshold: a mean above it counts as saturated.

    Returns:
        A dictionary: "unscaled" and "scaled", a list each with the mean of every width; "first_unscaled" and
        "first_scaled", the first width whose mean is above the threshold, or None; and "base", the base rate.
    """
    ### BEGIN SOLUTION
    found = {"unscaled": [], "scaled": []}
    for d in widths:
        draws = [draw(seed, d) for seed in seeds]
        for name, divisor in (("unscaled", 1), ("scaled", d**0.5)):
            weights = [ops.softmax(q @ k.T / divisor, axis=-1) for q, k in draws]  # (T, S) each
            found[name].append(np.mean([np.max(each, axis=-1) for each in weights]))
    for name in ("unscaled", "scaled"):
        above = [d for d, mean in zip(widths, found[name], strict=True) if mean > threshold]
        found[f"first_{name}"] = above[0] if above else None
    return {**found, "base": 1 / len(draws[0][1])}
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "measure_saturation", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("measure_saturation")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-saturation", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See it saturate
#
# Fifty queries with seven keys, from two kinds of draws: independent normal numbers, and what your untrained layer
# makes of random tokens of width 64. The last column is the size of your Jacobian, without the division. Before you run
# the second cell: at which width will the independent numbers pass 0.9 without the division, and will the layer do the same?

# %% nbgrader={"grade": false, "grade_id": "draws", "locked": true, "schema_version": 3, "solution": false, "task": false}
from functools import cache


def independent(seed, d):
    rng = np.random.default_rng([seed, d])
    return rng.normal(size=(50, d)).astype("float32"), rng.normal(size=(7, d)).astype("float32")


@cache
def untrained(seed, d):
    keras.utils.set_random_seed(seed)
    layer, tokens = SelfAttention(d_k=d, d_v=1), keras.random.normal((1, 50, 64))
    return np.asarray(layer.w_q(tokens))[0], np.asarray(layer.w_k(tokens))[0, :7]


widths, seeds = [2**n for n in range(1, 11)], list(range(6))

# %% nbgrader={"grade": false, "grade_id": "saturation", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
for draw in (independent, untrained):
    found = measure_saturation(draw, widths, seeds)
    lines = [f"{draw.__name__}: first above 0.9: {found['first_unscaled']}, divided: {found['first_scaled']}; equal weights {found['base']:.2f}"]
    for d, *means in zip(widths, found["unscaled"], found["scaled"], strict=True):
        jacobians = [derive_softmax_jacobian(q @ k.T) for q, k in (draw(seed, d) for seed in seeds)]
        size = np.mean([np.linalg.norm(each, axis=(-2, -1)) for each in jacobians])
        lines.append(f"   d {d:4}: mean largest weight {means[0]:.2f}, divided {means[1]:.2f}; Jacobian {size:.2f}")
    print("\n".join(lines))

# %% [markdown] nbgrader={"grade": false, "grade_id": "saturation-observed", "locked": true, "schema_version": 3, "solution": false, "task": false}
# Without the division the independent numbers saturate, and their Jacobian goes to 0; the layer never passes 0.9. A fresh `Dense`
# draws its kernel with the variance 2/(64 + d), so the entries of a query have the variance 128/(64 + d). That is 1 at d = 64, where the two
# kinds of draws agree. In a wider layer the entries are smaller.

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-report", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Report your own numbers
#
# Measure again, in a cell of your own, with **a hundred keys** in `independent` and with six seeds that nobody else will take. Report
# `first`, the first width above 0.9 without the division, and `flat`, the mean largest weight at d = 128 with it.
# The check accepts any six seeds. How many times the base rate is `flat`, here and with seven keys?
# <details><summary>Answer</summary>About 8 times with a hundred keys, and 2.7 times with seven: 0.081 · 100 and 0.388 · 7. The more scores, the farther the largest lies above their mean.</details>

# %% nbgrader={"grade": false, "grade_id": "report-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
report = {"first": None, "flat": None}  # two numbers
### BEGIN SOLUTION
report = {"first": 512, "flat": 0.081}
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "report", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("report")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-6", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 7 · Attention in blocks
#
# The first two parts are optional and earn no points; the third stands on its own. Count the work of attention for one sequence and one head of width `d_model`, without the projections. A multiplication
# together with the addition that follows it counts as one *multiply-add*. Count two products: Q Kᵀ, and weights times V.

# %% nbgrader={"grade": false, "grade_id": "attention_cost-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_cost(length, d_model):
    """Count the work and the memory of one attention head.

    Args:
        length: number of tokens T.
        d_model: width of queries, keys and values.

    Returns:
        A dictionary: "multiply_adds" of Q Kᵀ and weights·V together, and "weights_entries", the number of attention
        weights (how many entries the softmax returns; no parameters).
    """
    ### BEGIN SOLUTION
    return {"multiply_adds": 2 * length**2 * d_model, "weights_entries": length**2}
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "attention_cost", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("attention_cost")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-online", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Without the whole matrix (optional)
#
# The T × S scores of a long text do not fit into memory. **FlashAttention** (Dao et al. 2022)
# reads the keys in blocks and adds up as it goes. For each query it keeps three things from block to block:
#
# - the largest score so far, m;
# - the sum of the exponentials exp(score − m) so far;
# - the sum of the exponentials times the values so far.
#
# When the next block brings a larger score, the sums so far still belong to the old m, and you have to convert them to the
# new m. After the last block one sum is divided by the other.
#
# `online_attention` does this with blocks of `block_size` keys: at any time it has the scores of one block only.
# The result is that of exercise 2 without a mask, for any block size, also one that does not divide S. The function never holds all T × S scores. Write
# it with `keras.ops` or NumPy.

# %% nbgrader={"grade": false, "grade_id": "online_attention-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def online_attention(q, k, v, block_size):
    """Attention without a mask that reads keys and values in blocks.

    Args:
        q: queries, (T, d_k).
        k: keys, (S, d_k).
        v: values, (S, d_v).
        block_size: how many keys are looked at at a time, at least 1; it need not divide S.

    Returns:
        (T, d_v): softmax(q kᵀ / √d_k) v.
    """
    ### BEGIN SOLUTION
    q, k, v = (np.asarray(each) for each in (q, k, v))
    largest, total, output = np.full((len(q), 1), -np.inf, q.dtype), 0, 0  # (T, 1), later (T, 1) and (T, d_v)
    for start in range(0, len(k), block_size):
        block = slice(start, start + block_size)
        scores = q @ k[block].T / q.shape[1] ** 0.5  # (T, block)
        new = np.maximum(largest, scores.max(axis=1, keepdims=True))  # (T, 1)
        powers, shrink = np.exp(scores - new), np.exp(largest - new)  # (T, block), (T, 1)
        total = total * shrink + powers.sum(axis=1, keepdims=True)
        output, largest = output * shrink + powers @ v[block], new
    return output / total
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "online_attention", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("online_attention")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-design", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Design: how large is a block?
#
# FlashAttention takes the queries in blocks, too: R queries stay in the fast memory, and all keys pass by them in blocks of C keys.
# At each moment it holds 2·R·d numbers for the queries and their outputs, 2·R for m and the sum, 2·C·d for the keys and their values, and
# R·C scores. Here T = S = 4,096, d = 64, a number takes four bytes, and the fast memory has 128 KiB (131,072 bytes). Choose R, C
# and the number of blocks of keys. Any choice that keeps **all** of these is right:
#
# - what is held fits into the 128 KiB, and fills at least half of it: small blocks waste the chip;
# - all keys are read at most 64 times, once for each block of queries;
# - the blocks of keys hold all keys, the last one may be shorter, and none is empty.

# %% nbgrader={"grade": false, "grade_id": "design-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def design():
    """Your choice: a dictionary with block_queries (R), block_keys (C) and key_blocks (how many blocks of keys)."""
    ### BEGIN SOLUTION
    return {"block_queries": 128, "block_keys": 32, "key_blocks": 128}
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "design", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("design")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 8 · Find the bug
#
# A colleague has written self-attention in which no token sees a later one: row t of the result mixes the values of tokens 0
# to t. The code runs, and the weights of later tokens are exactly 0. But when the **last** token changes,
# the **first** row of the result changes, too.
#
# Delete the line `raise NotImplementedError`, find out why this happens, and fix it. x has any
# leading dimensions, and scores may be large, as in exercise 2.

# %% nbgrader={"grade": false, "grade_id": "find_the_bug-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def find_the_bug(x, w_q, w_k, w_v):
    """Self-attention in which no token sees a later one.

    Args:
        x: tokens, (…, T, D), an array or a tensor.
        w_q, w_k: (D, d_k).
        w_v: (D, d_v).

    Returns:
        (…, T, d_v): row t mixes the values of tokens 0 to t.
    """
    ### BEGIN SOLUTION
    q, k, v = (ops.einsum("...td,dk->...tk", x, w) for w in (w_q, w_k, w_v))
    scores = ops.einsum("...tk,...sk->...ts", q, k) / w_k.shape[1] ** 0.5  # (…, T, T)
    past = np.tri(x.shape[-2], dtype=bool)
    weights = ops.softmax(ops.where(past, scores, ops.cast(-1e9, scores.dtype)), axis=-1)
    return ops.einsum("...ts,...sv->...tv", weights, v)
    ### END SOLUTION
    # This runs, and is wrong.
    q, k, v = (ops.einsum("...td,dk->...tk", x, w) for w in (w_q, w_k, w_v))
    scores = ops.einsum("...tk,...sk->...ts", q, k) / w_k.shape[1] ** 0.5  # (…, T, T)
    weights = ops.softmax(scores, axis=-1)
    weights = weights * np.tri(x.shape[-2], dtype="float32")  # nobody sees a later token
    return ops.einsum("...ts,...sv->...tv", weights, v)


# %% nbgrader={"grade": true, "grade_id": "find_the_bug", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("find_the_bug")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-9", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## See your layer at work
#
# Your layer, with random weights, looks at seven tokens; the mask lets each one see itself and what came before. Before
# you run the cell: which half of the picture will be empty, and what is in its first row? Without the mask, the lecture's class gives the same
# for one sentence.

# %% nbgrader={"grade": false, "grade_id": "picture", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
plots.use_course_style()
keras.utils.set_random_seed(2)
tokens = "the cat sat because it was tired".split()
x = keras.random.normal((1, len(tokens), 16))  # (B, T, D)
mask = np.tril(np.ones((len(tokens), len(tokens)), dtype=bool))  # (T, S)
layer = SelfAttention(d_k=8, d_v=16)
output, weights = layer(x, attention_mask=mask, return_weights=True)  # (B, T, d_v), (B, T, S)
lecture = PlainSelfAttention(*(dense.get_weights()[0] for dense in (layer.w_q, layer.w_k, layer.w_v)))
print("without the mask, minus the lecture's class:", np.abs(layer(x)[0] - lecture(np.asarray(x[0]))).max().round(4))
ax = plots.attention_map(np.asarray(weights[0]), tokens, tokens, mask=mask, title="weights of an untrained layer, causal mask")
plots.show(ax.figure, alt="A heat map of seven by seven weights. Everything above the diagonal is blocked; the first row is a single 1.")

# %% [markdown] nbgrader={"grade": false, "grade_id": "observed", "locked": true, "schema_version": 3, "solution": false, "task": false}
# The first token sees only itself, so its weight is 1. The other rows are not equal, although nothing is learned yet: x and the
# matrices are random. Another seed gives another pattern.

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-smollm2", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Your attention in a published model
#
# SmolLM2 is a chat model that Hugging Face published in 2024: 30 blocks, each with nine attentions side by side, its heads. While it reads a sentence, block 16 hands its queries, keys and values to **your** `scaled_dot_product_attention`.
#
# Nothing here is graded. Set `TALK = True` and run the two cells. The first time, 93 MB are fetched; then it takes about ten seconds and 1 GB of memory.
#
# **Predict.** Lecture 02 ends with head 0 of this block. At which token does each *dog* look most: at itself, at the other dog, or at its colour? And where in the third sentence?

# %% tags=["demonstration"]
TALK = False  # True: fetch the published numbers

# %% nbgrader={"grade": false, "grade_id": "smollm2", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
if TALK:
    from coursekit.published_heads import heads_of_block

    for sentence in (
        "a brown dog is running after the black dog",
        "a black dog is running after the brown dog",
        "a brown and wet dog is running after the black and old dog",
    ):
        heads = heads_of_block(sentence, block=16)  # q, k, v: (9, T, 64)
        weights = heads.compare(scaled_dot_product_attention(heads.q, heads.k, heads.v, mask=heads.mask))
        found = heads.most(weights, "dog", head=0)
        print(f"{sentence}: the dogs look at", ", ".join(f"{token} {weight:.2f}" for token, weight in found))

# %% [markdown] nbgrader={"grade": false, "grade_id": "smollm2-seen", "locked": true, "schema_version": 3, "solution": false, "task": false}
# Each dog puts more than .9 of its weight on its own colour; equal weights would give the first one 1/3 and the second 1/9. The third sentence is the control: there the dogs look at *wet* and *old*. So this is no head for colours. It looks one token back, whatever stands there. `compare` held your weights and outputs against the model's. Try another head, or a block from 0 to 29; [lecture 03b](../../lectures/03b_reading_heads.ipynb) finds out what such a head is good for.

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-dogs", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## A picture to keep
#
# **Your** `SelfAttention` learns to see the dogs of the lecture: at each of the two dogs, a Dense layer has to read the colour of *that* dog
# from its output. Here the tokens have positions, which lecture 05 explains. There are four colours, and brown before black never
# occurs in the training, which takes some seconds. Before you run the cells: at which tokens will the two rows of *dog* look?
# <details><summary>Answer</summary>Each at its own colour: no other token holds what is asked for.</details>
#
# Only these two rows are read, so only they have learned where to look: the other rows of the map mean nothing.

# %% nbgrader={"grade": false, "grade_id": "dogs", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
keras.utils.set_random_seed(4)
words = "brown black white grey a dog is running after the".split()
caption = np.array([[4, 0, 5, 6, 7, 8, 9, 1, 5]])  # (1, T): a brown dog is running after the black dog
colours = np.random.default_rng(4).integers(4, size=(2000, 2))  # (N, 2)
colours = colours[(colours != [0, 1]).any(axis=1)]  # brown before black is kept out
sentences = caption.repeat(len(colours), axis=0)  # (N, T)
sentences[:, [1, 7]] = colours

ids = keras.Input((9,), dtype="int32")  # (B, T)
places = ops.cumsum(ops.ones_like(ids), axis=1) - 1  # (B, T): 0 to 8
x = keras.layers.Embedding(10, 16)(ids) + keras.layers.Embedding(9, 16)(places)  # (B, T, D)
output, weights = SelfAttention(d_k=16, d_v=16)(x, return_weights=True)  # (B, T, d_v), (B, T, T)
at_dogs = ops.take(keras.layers.Dense(4)(output), [2, 8], axis=1)  # (B, 2, 4)
dogs, looking = keras.Model(ids, at_dogs), keras.Model(ids, weights)
dogs.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
dogs.fit(sentences, colours, batch_size=64, epochs=8, verbose=0)
print("your layer, of a brown dog and a black dog:", *(words[best] for best in np.argmax(dogs(caption)[0], axis=-1)))

# %% jupyter={"source_hidden": true} nbgrader={"grade": false, "grade_id": "keep", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
names = [words[number] for number in caption[0]]
ax = plots.attention_map(np.asarray(looking(caption)[0]), names, names, title="what your layer learned")
plots.show(ax.figure, alt="Each dog looks at its own colour. A map of nine by nine weights; in the rows of the two dogs the colour before them is darkest.")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-8", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## In your own words
#
# Explain to a friend who knows matrix products why self-attention without $W_q$, $W_k$ and $W_v$ has nothing to learn, and what each
# of the three matrices adds. Also say how you found your prediction in exercise 4: what does the division by $\sqrt{d_k}$ assume about
# queries and keys? And what did you measure in exercise 6, compared with the base rate? Four to eight sentences. This earns no points; your instructor reads it and writes back.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explanation", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# Without the matrices every number in the calculation comes from the input: the scores are dot products of the tokens, the
# weights follow from the scores, and the output mixes the tokens. There is no number that training could change. $W_q$
# learns what a token looks for, $W_k$ what it can be found by, and $W_v$ what it hands over when it is found; the first two
# need not agree, so attention can be asymmetric.
#
# A product of two entries has the variance 4 · 4 = 16, and the sum of 100 of them the variance 1600, so q·k has the deviation 40,
# and 40/√100 = 4. The divisor $\sqrt{d_k}$ takes away what comes from the number of summands. It presupposes that the entries themselves have a
# variance of about 1; if they grow in training, the scores grow with the square of it.
#
# With seven keys the base rate is 1/7. Independent entries pass 0.9 at d = 128 without the division, and never with it. The queries of the
# untrained layer never pass: Keras starts a wider Dense layer with smaller numbers, so its entries do not keep the variance 1.

# %% [markdown] nbgrader={"grade": false, "grade_id": "closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# [Lecture 03](../../lectures/03_multi_head_attention.ipynb) shows why one map of weights is not enough.

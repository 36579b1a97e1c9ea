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
# *How a new vector of a word is computed from all words of its sentence.*
#
# [← 1b · Visual attention](01b_visual_attention.ipynb) · [Lab
# 2](../labs/02_self_attention/02_self_attention.ipynb) · [3 · Multi-head attention →](03_multi_head_attention.ipynb)
#
# **Afterwards you can**
#
# * compute self-attention by hand and in code, and give the shape of every array on the way;
# * say what queries, keys and values are for, and why attention without them has nothing to learn;
# * explain why scores are divided by $\sqrt{d_k}$, and back it with measurements;
# * predict how time and memory grow with length, and compare with convolution and recurrence;
# * recognise the usual bugs by their output.
#
# **You need** matrix products, the softmax and weighted averages of [lecture 1](01_attention_intuition.ipynb), and a
# little NumPy. Keras appears in section 7. **Time:** about 90 minutes to read and predict; the code runs in one to
# two minutes on two CPU cores.
#
# **How to read it.** Answer each question, on paper or aloud, *before* you run the cell and open the answer.
#
# Letters: **B** batch, **T** number of tokens that ask (queries), **S** number of tokens that are asked (keys), **D**
# width of a token's vector. In self-attention a sentence asks itself, so S = T.

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
from scipy.special import softmax

keras.utils.set_random_seed(2)
np.set_printoptions(precision=3, suppress=True)

# %% [markdown]
# ## 1 · One word, one vector, several meanings
#
# An **embedding table** gives every word one vector: row 17 of the table is "station", in every sentence. Such
# vectors are called *static*. Words are not static:
#
# * *the train stops at the **station*** – a place; *the radio **station** plays music* – a broadcaster;
# * *she ate a sweet **date*** – a fruit; *the exam **date** is in the calendar* – a day;
# * *the dog did not cross the road because **it** was tired* – the dog; *… because **it** was wide* – the road.
#
# Real embeddings are learned and their columns have no names. To read the columns we use **hand-made vectors**: we
# chose eight features and wrote the numbers. (Section 7 trains a model.) Words that are not listed, such as "the", get
# a vector of zeros.

# %%
FEATURES = ["travel", "broadcast", "food", "calendar", "animal", "thing", "state", "pronoun"]
HAND_MADE = {
    "train": {"travel": 2}, "stops": {"travel": 1}, "radio": {"broadcast": 2}, "plays": {"broadcast": 1},
    "music": {"broadcast": 2}, "station": {"travel": 1, "broadcast": 1},
    "ate": {"food": 1}, "sweet": {"food": 2}, "exam": {"calendar": 1}, "calendar": {"calendar": 2},
    "date": {"food": 1, "calendar": 1},
    "dog": {"animal": 2}, "road": {"thing": 2}, "it": {"pronoun": 1},
    "tired": {"animal": 1, "state": 1}, "wide": {"thing": 1, "state": 1},
}  # fmt: skip


def embed(sentence):
    """Look up each word's static vector; returns (T, D) with D = 8."""
    return np.array([[HAND_MADE.get(word, {}).get(name, 0) for name in FEATURES] for word in sentence.split()], float)


train_sentence = "the train stops at the station"
radio_sentence = "the radio station plays music"
x = embed(train_sentence)  # (T, D) = (6, 8)
print(x.shape)
print("station", embed("station"))

# %% [markdown]
# "station" is the same row of the same table in every sentence, so the cosine of the angle between its two static
# vectors is exactly 1. For *contextual* vectors we want something clearly below 1: one station should move towards
# *train*, the other towards *radio*.

# %% [markdown]
# ## 2 · Self-attention without a single parameter
#
# The idea is the weighted average of lecture 1, turned on the sentence itself. For each word in turn:
#
# 1. **score** every word of the sentence: how similar is it to me? We use the dot product;
# 2. turn the scores into **weights** that are positive and sum to 1: softmax;
# 3. **average** all the words' vectors with these weights. The average is my new vector.
#
# Two names are kept apart from here on: *scores* are the numbers before the softmax and can have any value; *weights* are the numbers
# after it and sum to 1.
#
# ### By hand
#
# "station" = (travel 1, broadcast 1) in *the train stops at the station*. All its other features are 0.
#
# | | the | train | stops | at | the | station | sum |
# |---|---|---|---|---|---|---|---|
# | (travel, broadcast) | (0, 0) | (2, 0) | (1, 0) | (0, 0) | (0, 0) | (1, 1) | |
# | score = dot product with station | 0 | 2 | 1 | 0 | 0 | 2 | |
# | e^score | 1 | 7.389 | 2.718 | 1 | 1 | 7.389 | 20.496 |
# | weight | 0.049 | **0.361** | 0.133 | 0.049 | 0.049 | **0.361** | 1 |
#
# New travel: 0.361·2 + 0.133·1 + 0.361·1 = **1.214**. New broadcast: 0.361·1 = **0.361**. The word has moved from
# (1, 1) towards travel, because "train" and "stops" stand in the same sentence.
#
# ### By code, with loops
#
# Every word is the query once. The last row belongs to "station", so it must be the vector that you computed.

# %%
# NBVAL_CHECK_OUTPUT
rows = []
for query in x:  # every word is the query once
    scores = np.array([query @ word for word in x])  # (T,)
    weights = softmax(scores)  # (T,)
    new = np.zeros_like(query)  # (D,)
    for weight, word in zip(weights, x, strict=True):
        new += weight * word
    rows.append(new)
z_loops = np.stack(rows)  # (T, D)
print("scores  of station", scores)
print("weights of station", weights)
print(z_loops[:, :2])
print("last row, by hand = by code:", np.allclose(z_loops[-1, :2], [1.214, 0.361], atol=1e-3))

# %% [markdown]
# ### One matrix product
#
# The score of word *i* with word *j* is row *i* of X times row *j* of X, for all *i* and *j*. All of them together
# are the matrix product **X Xᵀ**. The averaging is a matrix product too: weights times X.
#
# **Predict.** X is (T, D). What is the shape of X Xᵀ? Along which axis must the softmax run?
#
# <details><summary>Answer</summary>
#
# (T, D) times (D, T) is (T, T): one row per query, one column per key. Each *row* holds one query's scores and must
# sum to 1 after the softmax, so it runs along the last axis, over the keys.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
scores = x @ x.T  # (T, D) @ (D, T) -> (T, T)
weights = softmax(scores, axis=-1)  # (T, T), each row sums to 1
z = weights @ x  # (T, T) @ (T, D) -> (T, D)
print("same as the loops:", np.allclose(z, z_loops))

# %% [markdown]
# Two lines in place of two nested loops. In both versions no score has to wait for another.
#
# ### What it does to meaning
#
# Now all six example sentences. Each panel follows one word: the ring is its static vector, the arrows lead to its
# new vector in each of two sentences.
#
# **Predict.** "station" and "date" have a feature of each of their meanings. "it" has only the feature *pronoun*. Will "it" move
# further than the plain mean of its sentence would move it: towards *animal* when the dog is tired, and towards *thing*
# when the road is wide?

# %%
CASES = {
    "station": ("travel", "broadcast", [train_sentence, radio_sentence]),
    "date": ("food", "calendar", ["she ate a sweet date", "the exam date is in the calendar"]),
    "it": (
        "animal",
        "thing",
        [f"the dog did not cross the road because it was {state}" for state in ("tired", "wide")],
    ),
}
moved = {}
for word, (first, second, sentences) in CASES.items():
    axes = [FEATURES.index(first), FEATURES.index(second)]
    for text in sentences:
        x = embed(text)  # (T, D)
        z = softmax(x @ x.T, axis=-1) @ x  # (T, D)
        position = text.split().index(word)
        moved.setdefault(word, []).append((x[position, axes], z[position, axes]))
        print(f"{word:8}{first}, {second}: before {x[position, axes]}, after {z[position, axes]}", end="")
        print(f", plain mean of the sentence {x[:, axes].mean(axis=0)}")

# %%
figure, panels = plt.subplots(1, 3, figsize=(9, 3.2))
for ax, (word, (first, second, sentences)) in zip(panels, CASES.items(), strict=True):
    ax.plot([0, 2], [0, 2], color=diagrams.PALETTE["mask"], linestyle=":")
    for (before, after), text, role in zip(moved[word], sentences, ["query", "accent"], strict=True):
        colour = diagrams.PALETTE[role]
        ax.annotate("", after, before, arrowprops={"arrowstyle": "-|>", "color": colour, "shrinkA": 5, "shrinkB": 3})
        ax.plot(*after, "o" if role == "query" else "s", color=colour, label=f"… {text.split()[-1]}")
    ax.plot(*before, "o", markersize=10, markerfacecolor="none", color=diagrams.PALETTE["ink"])
    ax.set(xlabel=first, ylabel=second, title=f"“{word}”", xlim=(-0.1, 2), ylim=(-0.1, 2))
    ax.legend(title="sentence ends in", fontsize=7, title_fontsize=7, loc="upper right")
plots.show(
    figure,
    alt="""Three panels. Station starts on the diagonal between travel and broadcast and moves far to the travel
side in one sentence and to the broadcast side in the other. Date does the same between food and
calendar. It starts at zero and moves a little: slightly more to animal in one sentence, to thing in the other.""",
)

# %% [markdown]
# <details><summary>What you see</summary>
#
# "station" and "date" come apart, each towards the meaning of its sentence. "it" moves in the right direction, but only a little: (0.236, 0.157) in one sentence, (0.157, 0.236) in the
# other. That is *less* than the plain mean of all words gives, (0.273, 0.182) and (0.182, 0.273). So attention has not
# found anything: the direction comes from our hand-made vector of "tired", which contains *animal* 1, and any average
# takes it over. The vector of "it" has nothing in common with "tired", "wide", "dog" or "road", so all of them get the
# same score, 0. To find "tired", "it" would have to look for a feature that its own vector does not have.
#
# </details>
#
# ## 3 · Why there is nothing to learn
#
# Count what a training run could change in softmax(X Xᵀ) X: nothing but the embeddings. Three limits follow, and we can measure the last two.
#
# 1. **No parameters.** The rule "attend to what is similar to you" is fixed, whatever the task is.
# 2. **Symmetric scores.** $x_i\cdot x_j = x_j\cdot x_i$: the score of "it" with "dog" is exactly the score of "dog" with "it".
# 3. **Attention to oneself.** A vector of usual length is most similar to itself. For vectors of equal length $\lVert x_i\rVert^2$ is the
#    largest score of its row (the Cauchy–Schwarz inequality), so every word gives itself the largest weight.
#
# **Predict.** Ten words with random vectors, each component with mean 0 and variance 1. What weight does a word put
# on *itself* on average if D = 4? If D = 64? (All equal would be 0.1.)

# %%
rng = np.random.default_rng(0)
widths = [1, 2, 4, 8, 16, 32, 64]
self_weight = np.empty((20, len(widths)))
for column, width in enumerate(widths):
    for run in range(20):
        x = rng.normal(size=(10, width))  # (T, D)
        self_weight[run, column] = np.diag(softmax(x @ x.T, axis=-1)).mean()

text = CASES["it"][2][0]
x = embed(text)  # (T, D)
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), width_ratios=[1.25, 1])
plots.matrix_map(x @ x.T, rows=text.split(), columns=text.split(), digits=0, ax=left, title="scores X Xᵀ")
plots.measured_curve(widths, self_weight, label="weight on itself", xscale="log", ylim=(0, 1.05), ax=right)
right.axhline(0.1, color=diagrams.PALETTE["residual"], linestyle=":", label="all words equal")
right.set(xlabel="D (random vectors, T = 10)", ylabel="mean weight", title="every word attends to itself")
right.set_xticks(widths, widths)
right.legend(loc="center right")
plots.show(
    figure,
    alt="""Left: the matrix of scores of the tired-dog sentence; it is symmetric, and the row of the word it is
zero except on the diagonal. Right: the weight of a random vector on itself rises from about 0.2 at
width 1 to 1 at width 32 and above.""",
)

# %%
# NBVAL_CHECK_OUTPUT
scores = x @ x.T  # (T, T)
print("scores equal their transpose:", np.array_equal(scores, scores.T))
print("self-weight by width:", dict(zip(widths, self_weight.mean(axis=0).round(2).tolist(), strict=True)))

# %% [markdown]
# For vectors like these (independent components with variance 1, no division) attention without parameters returns each
# word almost unchanged once D is 16 or more. Shorter vectors, or a division of the scores, change the number.
#
# ## 4 · Queries, keys and values
#
# The remedy is to let a word play three different parts, as in a search on a video site:
#
# | part | in the search | in the sentence |
# |---|---|---|
# | **query** q | what you type into the box | what this word is *looking for* |
# | **key** k | the titles and tags that the query is matched with | what each word *can be found under* |
# | **value** v | the video that you get | what each word *hands over* when it is found |
#
# The three are different things, so each gets its own learned matrix:
#
# $$ q = x\,W_q \qquad k = x\,W_k \qquad v = x\,W_v $$
#
# $W_q$ and $W_k$ are (D, $d_k$), since queries and keys must have the same width to be compared. $W_v$ is (D, $d_v$): any
# width. The same three matrices serve every word.

# %%
figure, ax = diagrams.canvas(9.8, 3.9, title="“it” asks, every word answers, “it” too")
asks = diagrams.box(ax, 0.7, 3.2, "it", width=0.9)
answers = diagrams.group(ax, diagrams.tokens(ax, ["dog", "road", "it", "tired"], 0.6, 0.45, step=0.85), pad=0.08)
query = diagrams.box(ax, 3.0, 3.2, "query", role="query", detail="$x W_q$")
keys = diagrams.box(ax, 5.4, 1.75, "keys", role="key", detail="$x W_k$")
values = diagrams.box(ax, 5.4, 0.45, "values", role="value", detail="$x W_v$")
match = diagrams.box(ax, 5.4, 3.2, "match", detail="q·k", width=1.1)
weights_box = diagrams.box(ax, 7.2, 3.2, "weights", detail="softmax", width=1.3)
total = diagrams.operator(ax, 7.2, 0.45, "Σ")
output = diagrams.box(ax, 8.8, 0.45, "new “it”", role="output", width=1.2, detail="Σ w·v")
diagrams.arrow(ax, asks, query, label="looks for")
diagrams.arrow(ax, answers.top, (answers.x, 1.75), keys, label="can be found under")
diagrams.arrow(ax, answers, values, label="hands over")
diagrams.arrow(ax, weights_box, total, label="how much of each")
for start, end in [(query, match), (keys, match), (match, weights_box), (values, total), (total, output)]:
    diagrams.arrow(ax, start, end)
plots.show(
    figure,
    alt="""Block diagram. The word it gives a query. Every word of the sentence, it included, gives a key and a value. The
query is matched with the keys, a softmax turns the matches into weights, and the sum of the values, each times its
weight, is the new vector of it.""",
)

# %% [markdown]
# ### Two numbers that solve "it"
#
# With separate roles, "it" can look for a feature that it does not have. Set $d_k$ = 1 and choose $W_q$ and $W_k$ by hand: the query of
# a *pronoun* is 4; the key of a word that describes a *state* ("tired", "wide") is 1; everything else is 0. $W_v$ hands
# over the features *animal* and *thing*.
#
# **Predict.** The sentence has 11 words. The score of "it" with "tired" is 4·1 = 4, with the ten others 0. What
# weight does "tired" get? (e⁴ ≈ 54.6.)
#
# <details><summary>Answer</summary>
#
# 54.6 / (54.6 + 10) = 0.845. The other ten words share the rest.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
w_query = np.zeros((8, 1))  # (D, d_k)
w_query[FEATURES.index("pronoun")] = 4
w_key = np.zeros((8, 1))  # (D, d_k)
w_key[FEATURES.index("state")] = 1
w_value = np.eye(8)[:, [FEATURES.index("animal"), FEATURES.index("thing")]]  # (D, d_v) = (8, 2)

for text in CASES["it"][2]:
    x = embed(text)  # (T, D)
    weights = softmax((x @ w_query) @ (x @ w_key).T, axis=-1)  # (T, T)
    z = weights @ (x @ w_value)  # (T, d_v)
    it, state = text.split().index("it"), text.split()[-1]
    print(f"“it” puts {weights[it, -1]:.3f} on “{state}”  ->  animal {z[it, 0]:.2f}, thing {z[it, 1]:.2f}")

# %% [markdown]
# Two non-zero numbers in $W_q$ and $W_k$ let "it" find "tired", which no dot product of the two vectors could do.
# ($W_v$ then copies two features. That "tired" is said of an animal is written in our hand-made vector.) The scores are
# no longer symmetric: "tired" does not look at "it". Section 7 lets training find such numbers.
#
# ## 5 · The whole calculation by hand
#
# Three words, "How are you", each with D = 4; queries and keys with $d_k$ = 3; values with $d_v$ = 2:
#
# $$
# X=\begin{pmatrix}1&2&3&4\\2&4&8&7\\1&2&1&2\end{pmatrix}\quad
# W_q=\begin{pmatrix}1&1&1\\0&0&0\\2&1&1\\3&2&4\end{pmatrix}\quad
# W_k=\begin{pmatrix}0&-1&0\\2&1&-1\\-1&1&-1\\0&-1&2\end{pmatrix}\quad
# W_v=\begin{pmatrix}0&0\\2&-1\\-1&0\\0&1\end{pmatrix}
# $$
#
# **Step 1, project.** The query of "How" is row 1 of X times $W_q$. Its first entry: 1·1 + 2·0 + 3·2 + 4·3 = 19. Do the
# other two, then the key and the value of "How".
#
# <details><summary>Answer</summary>
#
# q₁ = (19, 12, 20), k₁ = (1, 0, 3), v₁ = (1, 2). All three words:
#
# $$
# Q=\begin{pmatrix}19&12&20\\39&24&38\\9&6&10\end{pmatrix}\quad
# K=\begin{pmatrix}1&0&3\\0&3&2\\3&0&1\end{pmatrix}\quad
# V=\begin{pmatrix}1&2\\0&3\\3&0\end{pmatrix}
# $$
#
# </details>
#
# **Step 2, score.** Match q₁ with each of the three keys.
#
# <details><summary>Answer</summary>
#
# q₁·k₁ = 19 + 0 + 60 = 79; q₁·k₂ = 0 + 36 + 40 = 76; q₁·k₃ = 57 + 0 + 20 = 77.
#
# </details>
#
# **Step 3, scale** by $\sqrt{d_k}$ = √3 = 1.732 (section 6 says why).
#
# <details><summary>Answer</summary>
#
# 45.61, 43.88, 44.46.
#
# </details>
#
# **Step 4, softmax.** Only differences matter, so subtract the largest score first: 0, −1.732, −1.155.
#
# <details><summary>Answer</summary>
#
# e⁰ = 1, e^−1.732 = 0.177, e^−1.155 = 0.315; their sum is 1.492. Weights: **0.670, 0.119, 0.211**.
#
# </details>
#
# **Step 5, average the values.** 0.670·(1, 2) + 0.119·(0, 3) + 0.211·(3, 0) = ?
#
# <details><summary>Answer</summary>
#
# **(1.304, 1.696)**, the new vector of "How" (1.303 or 1.697 if you rounded on the way).
#
# </details>
#
# Now the code, with the same five steps for all three words at once.

# %%
# NBVAL_CHECK_OUTPUT
X = np.array([[1, 2, 3, 4], [2, 4, 8, 7], [1, 2, 1, 2]])  # (T, D) = (3, 4)
W_q = np.array([[1, 1, 1], [0, 0, 0], [2, 1, 1], [3, 2, 4]])  # (D, d_k) = (4, 3)
W_k = np.array([[0, -1, 0], [2, 1, -1], [-1, 1, -1], [0, -1, 2]])  # (D, d_k) = (4, 3)
W_v = np.array([[0, 0], [2, -1], [-1, 0], [0, 1]])  # (D, d_v) = (4, 2)

Q, K, V = X @ W_q, X @ W_k, X @ W_v  # (T, d_k), (T, d_k), (T, d_v)
raw = Q @ K.T  # (T, d_k) @ (d_k, T) -> (T, T)
scaled = raw / np.sqrt(3)  # (T, T)
A = softmax(scaled, axis=-1)  # (T, T)
Z = A @ V  # (T, T) @ (T, d_v) -> (T, d_v)
for name, array in {"Q": Q, "K": K, "V": V, "scores": raw, "scaled": scaled, "weights": A, "Z": Z}.items():
    print(f"{name} {array.shape}\n{array}")
print("output by hand = by code:", np.allclose(Z[0], [1.304, 1.696], atol=1e-3))

# %%
figure, panels = plt.subplots(2, 4, figsize=(10, 4.8))
names = ["How", "are", "you"]
inputs = {"$X$  (3, 4)": X, "$Q = XW_q$  (3, 3)": Q, "$K = XW_k$  (3, 3)": K, "$V = XW_v$  (3, 2)": V}
for ax, (title, matrix) in zip(panels[0], inputs.items(), strict=True):
    plots.matrix_map(matrix, rows=names, digits=0, title=title, ax=ax)
for number, (ax, matrix) in enumerate(zip(panels[1], [raw, scaled, A], strict=False)):
    title = [r"$QK^\top$", r"$QK^\top/\sqrt{3}$", "weights"][number]
    plots.matrix_map(matrix, rows=names, columns=names, digits=number, title=f"{title}  (3, 3)", ax=ax)
plots.matrix_map(Z, rows=names, title="$Z$ = weights · $V$  (3, 2)", ax=panels[1, 3])
plots.show(
    figure,
    alt="""The eight matrices of the calculation: X, Q, K and V above; scores, scaled scores, weights and Z below. Weights,
row by row: How 0.67, 0.12, 0.21; are 0.24, 0.01, 0.75; you 0.53, 0.30, 0.17.""",
)

# %% [markdown]
# Read the weights by rows. "are" takes three quarters of its new vector from "you". "you" looks mostly at "How". The
# weights are not symmetric any more, and no word has to prefer itself. (The numbers are arbitrary: who looks at whom
# has no meaning.)
#
# ## 6 · Why divide by $\sqrt{d_k}$
#
# A second small case: a word's scores with two keys are 112 and 96, and $d_k$ = 64. (The numbers are those of J. Alammar's
# *Illustrated Transformer*. They are easy to divide by 8; scores of components with variance 1 are far smaller.)
#
# **Predict.** What are the two weights with the division by √64 = 8? What are they without it?
#
# <details><summary>Answer</summary>
#
# With: 112/8 = 14 and 96/8 = 12. The difference is 2, so the first weight is e²/(e² + 1) = 7.389/8.389 = **0.88**,
# the second **0.12**. Without: the difference is 16 and e¹⁶ is about 8.9 million. The second key gets a
# ten-millionth.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
pair = np.array([112.0, 96.0])
print("divided by 8 :", pair / 8, "->", softmax(pair / 8).round(2))
print("not divided  :", pair, "->", [f"{weight:.7f}" for weight in softmax(pair)])

# %% [markdown]
# ### Move the divisor yourself
#
# The scores of *the train stops at the station* once more (section 2), divided by a number that you choose. Point at a row,
# or choose its query in the menu.
#
# **Predict.** Divided by 1, "train" and "station" get 0.361 each from "station". Which divisor brings the two weights to
# more than 0.9 together: a half or two? And which row stays as it is, whatever you divide by?
#
# <details><summary>Answer</summary>
#
# A half. The scores (0, 2, 1, 0, 0, 2) become (0, 4, 2, 0, 0, 4), and e⁴ = 54.6 leaves little for the others: 2·54.6 of
# 2·54.6 + 7.4 + 3, which is 0.913. With two, the scores come closer together, and so do the weights. The rows of "the" and "at" stay:
# their vectors are zero, all their scores are 0, and 0 divided by any number is 0.
#
# </details>

# %%
live.sharpness(embed(train_sentence) @ embed(train_sentence).T, train_sentence.split())


# %% [markdown]
# A weight of 0.9999999 may even be right. But the softmax of such scores is flat: a small change of a score hardly moves the weights, so
# hardly any gradient reaches $W_q$ and $W_k$, and they hardly learn.
#
# Large scores come from $d_k$ itself: a dot product is a sum of $d_k$ products. If the components of q and
# k are independent with mean 0 and variance 1, each product has variance 1, and variances of independent terms add
# up:
#
# $$ \operatorname{Var}(q\cdot k)=\sum_{i=1}^{d_k}\operatorname{Var}(q_i k_i)=d_k $$
#
# Typical scores are as large as $\sqrt{d_k}$. Dividing by $\sqrt{d_k}$ brings the variance back to 1 at any width. That is the
# argument of the paper (Vaswani et al. 2017, section 3.2.1 and its footnote 4). We measure it.
#
# The experiment has one query and 32 keys with random components, and is repeated 400 times. For each d from 4 to 1024 we measure (a)
# the variance of the scores, (b) the largest of the 32 weights, (c) how much gradient passes through the softmax: the
# size (Frobenius norm) of its Jacobian, ∂weights/∂scores = diag(w) − w wᵀ. For (b) and (c) we take the median of the
# 400 draws.
#
# **Predict** the three curves without scaling: does each rise, fall or stay? And with scaling?

# %%
def measure(d, divide_by, repeats=400, n_keys=32):
    """Return the variance of the scores, and the medians of the largest weight and of the Jacobian's norm."""
    rng = np.random.default_rng(d)
    q = rng.normal(size=(repeats, 1, d))  # (B, 1, d_k)
    k = rng.normal(size=(repeats, n_keys, d))  # (B, S, d_k)
    scores = (q @ k.swapaxes(-1, -2))[:, 0] / divide_by  # (B, S)
    w = softmax(scores, axis=-1)  # (B, S)
    jacobian = w[:, :, None] * (np.eye(n_keys) - w[:, None, :])  # (B, S, S), diag(w) - w wᵀ
    return scores.var(), np.median(w.max(axis=-1)), np.median(np.linalg.norm(jacobian, axis=(1, 2)))


WIDTHS = [4, 8, 16, 32, 64, 128, 256, 512, 1024]
plain = np.array([measure(d, divide_by=1) for d in WIDTHS])  # (9, 3)
divided = np.array([measure(d, divide_by=np.sqrt(d)) for d in WIDTHS])  # (9, 3)

# %%
figure, panels = plt.subplots(1, 3, figsize=(10.5, 3.3))
titles = ["variance of the scores", "largest of 32 weights", "gradient through the softmax"]
for column, (ax, title) in enumerate(zip(panels, titles, strict=True)):
    plots.measured_curve(WIDTHS, plain[:, column], label="q·k", line=1, ax=ax)
    plots.measured_curve(
        WIDTHS, divided[:, column], label="q·k / √d", line=0, ax=ax, title=title, xlabel="d", xscale="log"
    )
    ax.set_xticks([4, 16, 64, 256, 1024], [4, 16, 64, 256, 1024])
    ax.minorticks_off()
panels[0].set(yscale="log")
panels[1].set(ylim=(0, 1.05))
panels[2].set(yscale="log")
plots.show(
    figure,
    alt="""Three plots against width d from 4 to 1024. Variance of the unscaled scores rises in a straight line to
about 1000, scaled it stays at 1. The largest weight rises towards 1 unscaled and stays near 0.15
scaled. The gradient through the softmax falls towards zero unscaled and stays level scaled.""",
)

# %%
# NBVAL_CHECK_OUTPUT
print("   d |    variance      |  largest weight  | gradient")
for d, without, scaled_row in zip(WIDTHS, plain, divided, strict=True):
    cells = [f"{a:9.3g} {b:6.2f}" for a, b in zip(without, scaled_row, strict=True)]
    print(f"{d:4} | " + " | ".join(cells))
print("in each pair: not scaled, scaled")

# %% [markdown]
# Without scaling, the variance follows d, as computed. The largest of 32 weights is typically 0.91 at d = 64, and at
# d = 1024 it takes everything. The gradient first rises a little, from 0.30 to 0.33, and then falls to 0.00015. With
# the division all three stay where they are, at every width. (Up to d = 32 the raw scores pass *more* gradient than the
# divided ones.)
#
# <details><summary>A sceptic asks: is the gradient that reaches q not divided by $\sqrt{d_k}$ as well?</summary>
#
# It is. So to compare what reaches q, multiply the unscaled curve by another √d. At d = 1024 that makes
# 0.00015·32 = 0.005, still 50 times less than 0.24. At d = 64 it makes 0.138·8 = 1.1, *more* than 0.24. Section 7
# trains such a model and measures the Jacobian before and after.
#
# </details>

# %% [markdown]
# ## 7 · The formula, its shapes, and a model that learns it
#
# $$ Z=\operatorname{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right)V \qquad Q=XW_q,\; K=XW_k,\; V=XW_v $$
#
# This is *scaled dot-product attention* (equation 1 of the paper). Every symbol has a shape, and the shapes alone
# catch most mistakes:

# %%
figure, ax = diagrams.canvas(10.8, 5.2)
inputs = diagrams.grid(ax, 0.8, 2.5, 5, 4, text="X", detail="(T, D)")
q = diagrams.grid(ax, 3.2, 4.2, 5, 3, cell=0.24, role="query", text="Q", detail="(T, $d_k$)")
k = diagrams.grid(ax, 3.2, 2.5, 3, 5, cell=0.24, role="key", text="Kᵀ", detail="($d_k$, T)")
v = diagrams.grid(ax, 3.2, 0.85, 5, 2, cell=0.24, role="value", text="V", detail="(T, $d_v$)")
scores = diagrams.grid(ax, 5.5, 3.3, 5, 5, cell=0.24, text=r"$QK^\top/\sqrt{d_k}$", detail="(T, T) scores")
weights = diagrams.grid(ax, 7.8, 3.3, 5, 5, cell=0.24, role="residual", text="weights", detail="(T, T) rows sum to 1")
out = diagrams.grid(ax, 10.1, 2.3, 5, 2, cell=0.24, role="output", text="Z", detail="(T, $d_v$)")
diagrams.arrow(ax, (1.36, 2.5), (1.9, 2.5), (1.9, 4.2), q, label="$W_q$")
diagrams.arrow(ax, inputs, k)
diagrams.note(ax, 2.2, 2.6, "$W_k$")
diagrams.arrow(ax, (1.36, 2.5), (1.9, 2.5), (1.9, 0.85), v, label="$W_v$")
diagrams.arrow(ax, q, (4.4, 4.2), (4.4, 3.5), (4.9, 3.5))
diagrams.arrow(ax, k, (4.4, 2.5), (4.4, 3.1), (4.9, 3.1))
diagrams.arrow(ax, scores, weights, label="softmax")
diagrams.arrow(ax, weights, (9.1, 3.3), (9.1, 2.5), (9.86, 2.5))
diagrams.arrow(ax, v, (9.1, 0.85), (9.1, 2.1), (9.86, 2.1))
plots.show(
    ax,
    alt="""Flow of shapes. X, T by D, is projected to Q, T by d_k, to K transposed, d_k by T, and to V, T by d_v. Q
times K transposed gives T by T scores, the softmax gives T by T weights whose rows sum to 1, and
weights times V give Z, T by d_v.""",
)

# %% [markdown]
# No shape of $W_q$, $W_k$, $W_v$ contains T, so the same layer reads sentences of any length.
#
# With a batch, every array gains a leading B and the code stays the same, because `@` multiplies the last two axes.
# Only the transpose must swap the *last two* axes; `.T` would reverse all of them.
#
# **Predict.** B = 2, T = 5, D = 7, $d_k$ = 3, $d_v$ = 11. Write down the shapes of q, k, v, scores, weights and z before
# you run the cell.

# %%
# NBVAL_CHECK_OUTPUT
rng = np.random.default_rng(1)
x = rng.normal(size=(2, 5, 7)).astype("float32")  # (B, T, D)
w_query, w_key = rng.normal(size=(2, 7, 3)).astype("float32")  # (D, d_k) each
w_value = rng.normal(size=(7, 11)).astype("float32")  # (D, d_v)

q, k, v = x @ w_query, x @ w_key, x @ w_value  # (B, T, d_k), (B, T, d_k), (B, T, d_v)
scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])  # (B, T, d_k) @ (B, d_k, T) -> (B, T, T)
weights = softmax(scores, axis=-1)  # (B, T, T)
z = weights @ v  # (B, T, T) @ (B, T, d_v) -> (B, T, d_v)
print({"q": q.shape, "k": k.shape, "v": v.shape, "scores": scores.shape, "weights": weights.shape, "z": z.shape})

same_width = rng.normal(size=(2, 5, 1, 3)).astype("float32")  # (B, T, heads, d_k): Keras wants a head axis
keras_z = ops.dot_product_attention(query=q[:, :, None], key=k[:, :, None], value=same_width)  # (B, T, 1, d_k)
print("agrees with Keras:", np.allclose(keras_z[:, :, 0], weights @ same_width[:, :, 0], atol=1e-5))

# %% [markdown]
# ### A mask in one minute
#
# Sentences of a batch have different lengths; the short ones are filled with padding that nobody should attend to. A
# **mask** says which pairs are allowed: True means *may attend*. It acts on the **scores**, before the softmax: a
# blocked score becomes so negative that e^score is 0, and the remaining weights still sum to 1. Here the third word
# of "How are you" is padding:

# %%
# NBVAL_CHECK_OUTPUT
may_attend = np.array([True, True, False])  # (S,), broadcasts over the queries
masked = softmax(np.where(may_attend, scaled, -1e9), axis=-1)  # (T, S)
print(masked)
print("rows sum to", masked.sum(axis=-1))

# %% [markdown]
# ### Let it learn
#
# Can training find out where to look? In our task a sentence has two clauses, each with one ambiguous word (two of
# "station", "date", "it"), and the model has to tell the meaning of each. Clauses about the same word differ in only
# **one clue word**; 24 clue words stand for 6 meanings. We write the grammar ourselves, so the sentences are
# artificial.

# %%
CLUES = {
    "rail": "trains platforms tickets passengers", "radio": "music news songs interviews",
    "fruit": "sweet sticky ripe dried", "day": "early late final official",
    "animal": "tired hungry afraid asleep", "thing": "wide muddy icy flooded",
}  # fmt: skip
FRAMES = {
    "station": ["the station in our town is known for its {clue}",
                "the old station by the river lost its {clue}",
                "everybody likes the station with the {clue}"],
    "date": ["the date on the table seemed {clue}",
             "she said the date was too {clue}",
             "a {clue} date is what they wanted"],
    "it": ["the {animal} did not cross the {thing} because it was {clue}",
           "the {animal} left the {thing} since it looked {clue}",
           "the {animal} ran along the {thing} although it was {clue}"],
}  # fmt: skip
MEANINGS = list(CLUES)
CHOICES = {"station": ["rail", "radio"], "date": ["fruit", "day"], "it": ["animal", "thing"]}

# %%


def clause(word, rng):
    """Return the words of one clause and, for each, its meaning's number (-1 where there is nothing to tell)."""
    meaning, frame = rng.choice(CHOICES[word]), rng.choice(FRAMES[word])
    animal, thing = rng.choice(["dog", "cat", "horse", "child"]), rng.choice(["road", "bridge", "river", "field"])
    words = frame.format(clue=rng.choice(CLUES[meaning].split()), animal=animal, thing=thing).split()
    return words, [MEANINGS.index(meaning) if w == word else -1 for w in words]


# %%
def write_sentences(count, rng):
    """Return `count` different sentences as {words: labels}."""
    sentences = {}
    while len(sentences) < count:
        first, second = rng.permutation(list(FRAMES))[:2]
        (words, labels), (more_words, more_labels) = clause(first, rng), clause(second, rng)
        sentences[(*words, "and", *more_words)] = [*labels, -1, *more_labels]
    return sentences


corpus = write_sentences(3500, np.random.default_rng(0))
vocabulary = ["", "[UNK]", *sorted({word for words in corpus for word in words})]  # id 0 is padding
length = max(map(len, corpus))
ids = np.zeros((len(corpus), length), "int32")  # (B, T)
labels = np.full((len(corpus), length), -1)  # (B, T)
for row, (words, numbers) in enumerate(corpus.items()):
    ids[row, : len(words)] = [vocabulary.index(word) for word in words]
    labels[row, : len(words)] = numbers
train, test = slice(0, 3000), slice(3000, None)  # no sentence is in both
print(" ".join(next(iter(corpus))))
print(f"{len(corpus)} sentences, {len(vocabulary)} words, T = {length}")

# %% [markdown]
# The model is one attention layer and one linear read-out, nothing else. Two decisions make it a fair test of
# *attention*:
#
# * The embeddings are **random and frozen**. All learning must happen in $W_q$, $W_k$, $W_v$ and the read-out.
# * The read-out gets only Z. There is no path around the attention.
#
# We build it in five versions: a plain average of all words; attention without parameters; queries, keys and values
# without the division; the full formula; and a control. The control has no division either, but its $W_q$ starts at an
# eighth of the usual size. Since √64 = 8, it *starts with exactly the weights of the full formula*, and it can express
# the same functions. Only the steps differ: a step of the same size in $W_q$ changes its scores eight times as much.

# %%
D = 64


def start_of(name, kind):
    """Keras's usual start of a Dense layer (Glorot, uniform); for W_q of the last version an eighth of it."""
    shrunk = name == "to_q" and kind == "W_q / 8, no √d_k"
    return keras.initializers.VarianceScaling(1 / 64 if shrunk else 1.0, "fan_avg", "uniform")


# %%
def build_reader(kind):
    """Return a model from ids (B, T) to meanings (B, T, 6), and a second one that shows its weights (B, T, T)."""
    tokens = keras.Input(shape=(length,), dtype="int32")  # (B, T)
    frozen = keras.initializers.RandomNormal(stddev=0.7, seed=3)
    embedding = layers.Embedding(
        input_dim=len(vocabulary), output_dim=D, embeddings_initializer=frozen, trainable=False
    )
    x = embedding(tokens)  # (B, T, D)
    q = k = v = x
    if kind not in ("plain average", "no parameters"):
        q, k, v = (
            layers.Dense(units=D, use_bias=False, kernel_initializer=start_of(name, kind), name=name)(x)
            for name in ("to_q", "to_k", "to_v")
        )  # (B, T, D)
    scores = ops.matmul(q, ops.transpose(k, axes=(0, 2, 1)))  # (B, T, T)
    if kind == "plain average":
        scores = scores * 0.0
    if kind in ("no parameters", "full formula"):
        scores = scores / np.sqrt(D)
    padding = ops.cast(ops.expand_dims(tokens, axis=1) == 0, "float32")  # (B, 1, T)
    weights = ops.softmax(scores - 1e9 * padding, axis=-1)  # (B, T, T)
    z = ops.matmul(weights, v)  # (B, T, D)
    return keras.Model(tokens, layers.Dense(units=len(MEANINGS))(z)), keras.Model(tokens, weights)


# %%
def train_reader(kind, seed, epochs=15):
    """Train one reader; return its history, its guesses for the test sentences and its attention model."""
    keras.utils.set_random_seed(seed)
    reader, attention = build_reader(kind)
    rate = 1e-2 if kind in ("plain average", "no parameters") else 1e-3  # a read-out alone bears larger steps
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=-1)
    reader.compile(optimizer=keras.optimizers.Adam(learning_rate=rate), loss=loss, steps_per_execution=47)
    history = reader.fit(ids[train], labels[train], batch_size=64, epochs=epochs, verbose=0).history
    guesses = ops.convert_to_numpy(reader(ids[test])).argmax(axis=-1)  # (B, T)
    return history, guesses, attention


def accuracy(guesses):
    """Share of right guesses, counting the ambiguous words only."""
    return (guesses == labels[test])[labels[test] >= 0].mean()


# %% [markdown]
# **Predict** the order of the five versions by test accuracy. Guessing among the two meanings of each word gives 0.50.
# If only the start matters, which other version should the control equal in the end?
#
# <details><summary>A hint for the first one</summary>
#
# With a plain average every position of the sentence gets the *same* Z. The read-out then cannot even know which of
# the two ambiguous words it is asked about.
#
# </details>

# %%
KINDS = ["plain average", "no parameters", "without √d_k", "full formula", "W_q / 8, no √d_k"]
runs = {kind: [train_reader(kind, seed) for seed in range(3)] for kind in KINDS}
for kind in KINDS:
    print(f"{kind:16} test accuracy, 3 seeds: " + ", ".join(f"{accuracy(guesses):.2f}" for _, guesses, _ in runs[kind]))

# %%
figure, ax = plt.subplots(figsize=(6.8, 3.5))
for line, kind in enumerate(KINDS):
    losses = [history["loss"] for history, _, _ in runs[kind]]
    name = kind.replace("√d_k", r"$\sqrt{d_k}$").replace("W_q", "$W_q$")
    plots.measured_curve(range(1, 16), losses, label=name, line=line, ax=ax)
ax.set(xlabel="epoch", ylabel="training loss", title="median of three seeds; the band is their range", ylim=(0, 2.1))
ax.legend(loc="upper right", ncols=2)
plots.show(
    figure,
    alt="""Training loss over fifteen epochs. The full formula falls to about 0.1. The two versions without the division by
root d_k stay far above it, close to attention without parameters. The plain average is highest.""",
)
for kind in KINDS:
    print(f"{kind:16} last training loss, 3 seeds: " + ", ".join(f"{run[0]['loss'][-1]:.2f}" for run in runs[kind]))

# %% [markdown]
# <details><summary>What you see</summary>
#
# The plain average stays at exactly 0.50, for the reason in the hint. Attention without parameters is better by 0.07 to
# 0.17 only; a word keeps most of its weight for itself (0.72 on average; see section 3). The full formula is right in
# 96 or 97 of 100 cases, with every seed, on sentences it has never seen. **Without $\sqrt{d_k}$** the same model, with
# the same data, ends where attention without parameters ends. Its *training* loss is high, so this is not overfitting.
#
# The control ends there, too (0.61, 0.61 and 0.72). So a start with sharp weights is not what makes the difference: the
# control starts as soft as the full formula does.
#
# </details>
#
# When does the softmax saturate: at the start, or on the way? For the queries that are trained we measure the largest
# weight and the Jacobian of section 6, before and after training.
#
# **Predict.** Which of the three versions has the *largest* Jacobian before training, and which after it?

# %%
asked = labels[test] >= 0  # (B, T): the ambiguous words, whose queries are trained


def sharpness(attention):
    """Mean of the largest weight and median of the Jacobian's norm, over the queries of the ambiguous words."""
    w = ops.convert_to_numpy(attention(ids[test]))[asked]  # (N, S)
    jacobian = w[:, :, None] * (np.eye(length) - w[:, None, :])  # (N, S, S), diag(w) - w wᵀ
    return w.max(axis=-1).mean(), np.median(np.linalg.norm(jacobian, axis=(1, 2)))


own = np.einsum("btt->bt", ops.convert_to_numpy(runs["no parameters"][0][2](ids[test])))[asked].mean()
print(f"no parameters: a word's weight on itself is {own:.2f} on average")
print("                   largest weight    Jacobian")
for kind in KINDS[2:]:
    for seed in range(3):
        keras.utils.set_random_seed(seed)
        pairs = zip(sharpness(build_reader(kind)[1]), sharpness(runs[kind][seed][2]), strict=True)
        print(f"{kind:16}", *(f" {before:.2f} → {after:.2f}  " for before, after in pairs))

# %% [markdown]
# <details><summary>What you see</summary>
#
# Before training the version without the division passes *more* gradient than the full formula (about 0.32 against
# 0.22), as unscaled scores up to d = 32 did in the table of section 6. After
# training it is the other way round. The full formula still passes 0.10 to 0.18, and the two versions without the
# division pass 0.04 or less: their weights have become sharp *during* training, and little gradient is left to change them.
#
# Between the control and the full formula only the size of a step in the scores is different. So in this experiment the
# division by $\sqrt{d_k}$ helps by keeping the steps of the scores small. (Adam's steps hardly depend on the size of a
# gradient. So with an eighth of the learning rate for $W_q$ as well, the control would take the same steps as the full
# formula, up to rounding and Adam's small ε.)
#
# </details>

# %% [markdown]
# ### Where it looks
#
# For each ambiguous word we show a test sentence in which it attends to its clue (the first one with a weight above
# 0.8), and, on the far right, one in which it does not (the first one below 0.1) although the answer is right. The
# width of a line is the weight; the bold word is the query.

# %%
_, guesses, attention = runs["full formula"][0]
sentences = list(corpus)[test]
clue_words = {clue for clues in CLUES.values() for clue in clues.split()}


def weight_on_clues(model):
    """Return the weights of the test sentences (B, T, T) and each query's weight on clue words (B, T)."""
    weights = ops.convert_to_numpy(model(ids[test]))  # (B, T, T)
    is_clue = np.isin(ids[test], [vocabulary.index(word) for word in clue_words])  # (B, T)
    return weights, (weights * is_clue[:, None, :]).sum(axis=-1)


weights, on_clue = weight_on_clues(attention)  # (B, T, T), (B, T)
picks = []  # (sentence number, position of the query)
for word in ("station", "date", "it"):
    at = np.array([words.index(word) if word in words else -1 for words in sentences])  # (B,)
    looks = [n for n, position in enumerate(at) if position >= 0 and on_clue[n, position] > 0.8]
    picks.append((looks[0], at[looks[0]]))
away = np.argwhere((guesses == labels[test]) & (on_clue < 0.1))[0]
picks.append(tuple(away))

# %%
figure, panels = plt.subplots(1, 4, figsize=(12, 6.4))
for ax, (number, position) in zip(panels, picks, strict=True):
    words = sentences[number]
    shown = np.zeros((len(words), len(words)))  # (T, T): the lines of one query only
    shown[position] = weights[number, position, : len(words)]
    meaning = MEANINGS[labels[test][number, position]]
    title = f"“{words[position]}” ({meaning})"
    plots.attention_lines(shown, words, words, highlight=position, threshold=0.06, title=title, ax=ax)
    ax.set_ylim(0.4 - max(len(sentences[n]) for n, _ in picks), 1.1)  # the same height for a word in all four
    print(f"{title}: weight {on_clue[number, position]:.2f} on clue words")
plots.show(
    figure,
    alt="""Four test sentences, each written twice, as queries and as keys, with the lines of one highlighted query. In
the first three, station, date and it send one thick line to a clue word. In the fourth the thick line of the
highlighted word goes to a word that carries no clue.""",
)

# %%
number, position = picks[2]
words = sentences[number]
shown = weights[number, : len(words), : len(words)]  # (T, T)
ax = plt.subplots(figsize=(6.6, 5.6))[1]
plots.attention_map(shown, words, words, values=False, title="all weights of one sentence", colorbar=True, ax=ax)
plots.show(
    ax,
    alt="""Heat map of all attention weights of the third sentence, one row per query. Each of the
two ambiguous words has one dark cell, at its clue; most other rows are pale patterns.""",
)
for query in np.flatnonzero(labels[test][number] >= 0):
    key = shown[query].argmax()
    print(f"“{words[query]}” puts {shown[query, key]:.2f} on “{words[key]}”")
print(f"mean of the largest weight in the other rows: {shown.max(axis=1)[labels[test][number, : len(words)] < 0].mean():.2f}")

# %% [markdown]
# In the row of "it" the large weight is not on the animal. It is on the clue, the word that decides the answer. The
# rows of words that were never asked ("the", "and") show patterns as well. No answer depends on them.
#
# ### Honest caveat: a picture is not an explanation
#
# In the fourth picture the answer is right, and the weight is somewhere else. The next cell counts how often that happens.
#
# **Predict.** For each meaning, how much weight do the ambiguous words put on clue words, averaged over the test
# sentences? Will three models that answer about equally well agree?

# %%
table = np.zeros((3, len(MEANINGS)))  # (seed, meaning)
for seed, (_, guesses, model) in enumerate(runs["full formula"]):
    _, on_clue = weight_on_clues(model)  # (B, T)
    table[seed] = [on_clue[labels[test] == meaning].mean() for meaning in range(len(MEANINGS))]
    away = on_clue[(guesses == labels[test]) & (labels[test] >= 0)] < 0.1
    print(f"seed {seed}: {away.mean():.0%} of the right answers have less than 0.1 of the weight on clue words")
    print("   mean weight on clue words: " + ", ".join(f"{m} {w:.2f}" for m, w in zip(MEANINGS, table[seed], strict=True)))

rows = [f"seed {seed}: accuracy {accuracy(guesses):.2f}" for seed, (_, guesses, _) in enumerate(runs["full formula"])]
ax = plots.matrix_map(table, rows=rows, columns=MEANINGS, limits=(0, 1), ax=plt.subplots(figsize=(6.8, 2.4))[1])
ax.set_title("mean attention weight on clue words, by true meaning")
plots.show(
    ax,
    alt="""Heat map, three trained models by six meanings: the mean weight on clue words. Some meanings have high
weights and their counterparts low ones, and the models differ in which.""",
)

# %% [markdown]
# It happens often. A possible reason, which we have not tested: each word has two meanings, so a model that detects
# only one of them can answer. For the other meaning its weights may then be anywhere. Three seeds find different
# meanings: the weight on the clues of *fruit* is 0.18, 0.00 and 0.93. So:
#
# * models of equal accuracy can have different pictures;
# * a model may also use that a word is *absent*, and no weight shows that;
# * to learn what a model *depends on*, change the input and watch the output.
#
# The literature disagrees: read Jain and Wallace (2019) and the reply of Wiegreffe and Pinter (2019).

# %% [markdown]
# ## 8 · What it costs
#
# Count multiply–adds for the two big products. Q Kᵀ has T·T entries, each a sum of D products. Weights·V has T·D
# entries, each a sum of T products. Together **2·T²·D**. The weights are **T²** numbers for every head, and our program
# stores them all.
#
# **Predict.** T doubles. By what factor do time and memory grow? At T = 512 the weights take 1 MiB in float32. How
# much do they take at T = 32,768?

# %%
# NBVAL_CHECK_OUTPUT
print("      T   multiply-adds (D = 64)   weights (float32)")
for T in (128, 512, 2048, 8192, 32768):
    print(f"{T:7,} {2 * T * T * 64:20,} {T * T * 4 / 2**20:16,.2f} MiB")

# %% [markdown]
# Four times for each doubling; 64 times the length is 4,096 times the memory: 4 GiB for one head of one layer.
#
# ### The same output without the square
#
# The multiplications remain, but the memory can be saved. **FlashAttention** (Dao et al. 2022) computes exactly the same output and never
# stores the T×T weights: it takes the keys in blocks and keeps three things for each query: the largest score so far, the
# sum of the exponentials so far, and the sum of the values so far, each times its exponential. The trick is the *online
# softmax* (Milakov and Gimelshein 2018): when a block brings a larger maximum m′ in place of m, both sums were computed with
# the wrong maximum, and one factor, $e^{m-m'}$, puts that right.
#
# **Predict.** "How" asks (section 5; its scaled scores are 45.61, 43.88 and 44.46). The first block holds the keys of "are"
# and "you", the second that of "How". By which factor does the second block multiply the two sums?
#
# <details><summary>Answer</summary>
#
# The largest score of the first block is 44.46, then 45.61 comes. The factor is e^(44.46 − 45.61) = e^−1.15 = 0.315.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
largest, total, mixed = -np.inf, 0.0, np.zeros(2)  # of one query: scalar, scalar, (d_v,)
for block in ([1, 2], [0]):  # the keys of "are" and "you", then the key of "How"
    seen = scaled[0, block]  # the scores of this block, and of no other
    before, largest = largest, max(largest, seen.max())
    factor = np.exp(before - largest)  # puts right what was summed with the old maximum; 0 at first
    part = np.exp(seen - largest)
    total, mixed = factor * total + part.sum(), factor * mixed + part @ V[block]
    print(f"factor {factor:.3f}, sum of exponentials {total:.3f}, sum of values {mixed}")
print("output", mixed / total, "as in section 5:", np.allclose(mixed / total, Z[0]))
T, size = 32768, 128
print(f"scores held for T = {T:,}: {T * T * 4 / 2**20:,.0f} MiB at once, {size * T * 4 / 2**20:.0f} MiB in blocks of {size} keys")


# %% [markdown]
# FlashAttention cuts the queries into blocks, too, and computes the blocks again in the backward pass; the memory that it needs
# beside its inputs grows with T and not with T². [Lab 2](../labs/02_self_attention/02_self_attention.ipynb) lets you write
# it for all queries.
#
# Now we time the core of attention, and beside it a convolution over 3 places and a simple recurrent layer, all with
# D = 64 on the same input.

# %%
def seconds(layer, T, repeats=15):
    """Time compiled calls of layer on (1, T, 64) after a warm-up; return the five least disturbed of `repeats`."""
    x = tf.random.normal((1, T, 64))  # (B, T, D)
    compiled, times = tf.function(layer), []
    compiled(x)
    for _ in range(repeats):
        start = time.perf_counter()
        compiled(x).numpy()
        times.append(time.perf_counter() - start)
    return sorted(times)[:5]


def attention_core(x):
    weights = tf.nn.softmax(tf.matmul(x, x, transpose_b=True) / 8.0)  # (B, T, T)
    return tf.matmul(weights, x)  # (B, T, D)


lengths = [64, 128, 256, 512, 1024, 2048, 4096]
convolution = layers.Conv1D(filters=64, kernel_size=3, padding="causal")
recurrence = layers.SimpleRNN(units=64, return_sequences=True)
timed = {
    name: np.array([seconds(layer, T) for T in lengths]).T * 1e3  # (repeats, lengths) in milliseconds
    for name, layer in {"attention": attention_core, "convolution": convolution, "recurrence": recurrence}.items()
}

# %%
figure, ax = plt.subplots(figsize=(6.6, 3.7))
for line, (name, milliseconds) in enumerate(timed.items()):
    plots.measured_curve(lengths, milliseconds, label=name, line=line, ax=ax, xscale="log", yscale="log")
ax.set(xlabel="T", ylabel="milliseconds per call", title="forward pass, B = 1, D = 64, on the CPU of this run")
ax.set_xticks(lengths, lengths)
ax.minorticks_off()
plots.show(
    figure,
    alt="""Time per call against length on logarithmic axes. Attention is nearly level at first and bends upwards until it
grows about fourfold per doubling. At the longest input convolution takes least. Recurrence rises all along.""",
)
for name, milliseconds in timed.items():
    best = milliseconds.min(axis=0)
    ratios = "  ".join(f"{ratio:4.1f}" for ratio in best[1:] / best[:-1])
    print(f"{name:12} {best[-1]:5.1f} ms for T = 4096; time ratio at each doubling of T: {ratios}")

# %% [markdown]
# With short sequences the growth hardly shows. Look at the last two doublings together, from T = 1024 to 4096: they multiply the time of
# attention by 16, that of the recurrence by 3.7, and that of the convolution by 2.2. Remember the ratios: the milliseconds belong to one
# machine, and single ratios vary (look at the recurrence: 3.1, then 1.2).
#
# ## 9 · Against convolution and recurrence
#
# What differs is **how many steps lie between two tokens**, and **how much must wait for something else**. In the
# drawing each column is a token, information flows upwards, and the red path is the shortest way from the first token
# to the last (T = 7; the convolution looks back over k = 3 places). Of self-attention only the arrows into the last
# token are drawn.

# %%
DESIGNS = {  # name: (rows of nodes, which column feeds which column of the row above)
    "self-attention\npath: 1": (2, {(s, 6) for s in range(7)}),
    "recurrence\npath: up, then T − 1 = 6 steps": (2, {(s, s) for s in range(7)}),
    "convolution, k = 3\npath: (T − 1)/(k − 1) = 3 layers": (
        4,
        {(s, s + j) for s in range(7) for j in range(3) if s + j < 7},
    ),
}

# %%
figure, panels = plt.subplots(1, 3, figsize=(11, 3.2))
for ax, (title, (n_rows, links)) in zip(panels, DESIGNS.items(), strict=True):
    ax.set(xlim=(0.5, 7.5), ylim=(0.3, 4.0), title=title, aspect="equal")
    ax.axis("off")
    heights = np.linspace(0.7, 3.6, n_rows)
    nodes = [[diagrams.operator(ax, column + 1, y, "", radius=0.14) for column in range(7)] for y in heights]
    for level in range(n_rows - 1):
        for s, t in links:
            on_path = (s, t) == (2 * level, 2 * level + 2) if n_rows > 2 else s == 0
            style = {"role": "accent", "width": 2.2} if on_path else {"role": "residual", "width": 0.7}
            diagrams.arrow(ax, nodes[level][s], nodes[level + 1][t], **style)
    if title.startswith("recurrence"):
        for s in range(6):
            diagrams.arrow(ax, nodes[1][s], nodes[1][s + 1], role="accent", width=2.2)
plots.show(
    figure,
    alt="""Three small graphs of seven tokens. In self-attention one arrow leads from the first token straight to
the last output. In recurrence the path goes up once and then through every state in turn, six steps. In
the convolution it climbs three layers, two places at a time.""",
)

# %% [markdown]
# | layer | multiply–adds | steps that must wait for each other | longest path |
# |---|---|---|---|
# | self-attention | 2·T²·D for the two products (plus 3·T·D² for the projections) | O(1) | O(1) |
# | recurrence | 2·T·D² | **O(T)** | **O(T)** |
# | convolution, width k | k·T·D² | O(1) | O(T/k) layers; $O(\log_k T)$ if dilated |
#
# This is table 1 of the paper with our constants. Only attention has a path that does not grow with T, and a cost that
# grows with T².
#
# **Predict.** D = 512. From which T on do the two attention products cost more than the recurrence? (Solve 2·T²·D =
# 2·T·D².)
#
# <details><summary>Answer</summary>
#
# At T = D = 512, if the two products are all that is counted. But a layer also has to make its queries, keys and
# values: 3·T·D² more, and these alone exceed 2·T·D². So with its projections attention takes more multiply–adds than
# the recurrence at *every* length. (The paper's table has no constants, and notes that T is mostly smaller than D.)
#
# </details>

# %% [markdown]
# The length of the path shows in the gradient: [lecture 1](01_attention_intuition.ipynb), section 4, measures that the gradient of a
# recurrent layer fades exponentially with the distance, and that of attention does not.
#
# ## 10 · Common mistakes, with their results
#
# All of these run without an error, because in our hand example T = $d_k$ = 3 and every wrong product fits. (That is
# why good tests use sizes that differ.) The causal mask used here lets a word see itself and earlier words only.
#
# **Predict**, before you look: for which of them do the rows *not* sum to 1?

# %%
earlier = np.tri(3, dtype=bool)  # (T, S) True on and below the diagonal: may attend
mistakes = {
    "right": A,
    "softmax over the wrong axis": softmax(scaled, axis=0),
    "no scaling": softmax(raw.astype(float), axis=-1),
    "scaled after the softmax": softmax(raw.astype(float), axis=-1) / np.sqrt(3),
    "keys not transposed": softmax((Q @ K) / np.sqrt(3), axis=-1),
    "right, with causal mask": softmax(np.where(earlier, scaled, -1e9), axis=-1),
    "mask inverted": softmax(np.where(earlier, -1e9, scaled), axis=-1),
    "mask after the softmax": np.where(earlier, A, 0),
}
figure, panels = plt.subplots(2, 4, figsize=(11, 5.4))
for ax, (name, wrong) in zip(panels.flat, mistakes.items(), strict=True):
    mask = earlier if name == "right, with causal mask" else None
    plots.matrix_map(wrong, rows=names, columns=names, limits=(0, 1), mask=mask, title=name, ax=ax)
    ax.set_xlabel("row sums  " + "  ".join(f"{total:.2f}" for total in wrong.sum(axis=-1)), fontsize=9)
plots.show(
    figure,
    alt="""Eight 3 by 3 matrices of weights with their row sums. Right and right with causal mask: rows sum to 1.
Wrong axis, scaled after the softmax, and mask after the softmax: rows do not sum to 1. No scaling:
weights more extreme. Keys not transposed: other weights. Mask inverted: only later words are seen, and
the last row is uniform.""",
)
for name, wrong in mistakes.items():
    print(f"row sums, {name}: " + "  ".join(f"{total:.2f}" for total in wrong.sum(axis=-1)))

# %% [markdown]
# * **Wrong axis**: the *columns* sum to 1. Now the weights of each word are divided among the queries.
# * **No scaling**: at $d_k$ = 3 you hardly notice; at $d_k$ = 64 our training got stuck (section 7).
# * **Scaled after the softmax**: rows sum to 1/√3 = 0.577. The saturation is still there, and the output is too
#   small.
# * **Keys not transposed**: rows sum to 1, so the sums do not show it. With different sizes for T and $d_k$ there is an error.
# * **Mask inverted**: each word sees only what it must not see. The last row may see nothing and falls back to a
#   uniform average.
# * **Mask after the softmax**: the blocked share of the weight is lost instead of being given to the others.
#
# Many programs write −∞ for blocked scores. See what happens if every key of a row is blocked:

# %%
# NBVAL_CHECK_OUTPUT
nothing_allowed = np.array([False, False, False])
with np.errstate(invalid="ignore"):
    print("with -inf:", softmax(np.where(nothing_allowed, scaled[2], -np.inf)))
print("with -1e9:", softmax(np.where(nothing_allowed, scaled[2], -1e9)))

# %% [markdown]
# One such row is enough: NaN spreads to everything that is computed from it. A large finite number gives a harmless average of
# values that nobody uses.
#
# <details><summary><b>Symptoms and likely causes</b> (open when your own code misbehaves)</summary>
#
# | you see | look at |
# |---|---|
# | NaN, sooner or later | −∞ in a row with every key blocked; a softmax that does not subtract the maximum |
# | one weight is 1.00 in every row, loss stuck | no division by $\sqrt{d_k}$; learning rate too high |
# | weights all near 1/T, loss stuck | tiny scores: divided by $d_k$ instead of $\sqrt{d_k}$, or $W_q$ and $W_k$ get no gradient |
# | training loss too good, predictions useless | mask inverted or missing: words see what they should predict |
# | right for one sentence, wrong for a batch | `.T` on a 3-D array reverses *all* axes; swap the last two |
# | right in your test, wrong in ours | T = $d_k$ in your test; divided by √T instead of $\sqrt{d_k}$ |
#
# </details>
#
# ## 11 · Sentences to be careful with
#
# **"If you shuffle the words, the output stays the same."** It does not stay the same: it is shuffled in the same
# way. Each word gets the same new vector as before, at its new place. The name is *permutation equivariance*. Here "How are you" becomes "you How are"
# (rows 2, 0, 1):

# %%
# NBVAL_CHECK_OUTPUT
order = [2, 0, 1]
shuffled = X[order]  # (T, D)
Z_shuffled = softmax((shuffled @ W_q) @ (shuffled @ W_k).T / np.sqrt(3), axis=-1) @ (shuffled @ W_v)  # (T, d_v)
print("the same as before:        ", np.allclose(Z_shuffled, Z))
print("the old rows, reordered:   ", np.allclose(Z_shuffled, Z[order]))
print("their mean over the words: ", np.allclose(Z_shuffled.mean(axis=0), Z.mean(axis=0)))

# %% [markdown]
# Only after pooling over the words is the result the same (*invariance*). Either way, "dog bites man" and "man bites
# dog" hold the same vectors until lecture 5 adds positions.
#
# **"$W_q$ has shape N × (D/H)"**, with N the number of tokens. No: with H heads it is **D × (D/H)**, and with one head
# D × $d_k$. A matrix with N in its shape could read only sentences of N words.
#
# **"Divide by the square root of the number of keys."** The sum q·k runs over $d_k$ components; how many keys there are
# does not enter. In "How are you" both are 3, so that example cannot tell the two apart. Here it is for S = 32 keys
# of width 256:

# %%
# NBVAL_CHECK_OUTPUT
for label, divisor in {"√d_k": np.sqrt(256), "√S": np.sqrt(32), "d_k": 256}.items():
    variance, largest, _ = measure(256, divide_by=divisor)
    print(f"divided by {label:4}: variance {variance:6.3f}, largest weight {largest:.2f}")
print(f"uniform weights would be {1 / 32:.2f}")

# %% [markdown]
# ## 12 · Check yourself
#
# **1.** Which of $W_q$, $W_k$, $W_v$ may have a different number of columns from the others, and why?
# <details><summary>Answer</summary>$W_v$. Queries and keys meet in a dot product and need the same width $d_k$; values
# are only averaged, so $d_v$ is free.</details>
#
# **2.** Scores (3, 1) with $d_k$ = 4. What are the weights? (e ≈ 2.718)
# <details><summary>Answer</summary>Divide by 2: (1.5, 0.5). The difference is 1, so 2.718/3.718 = 0.731 and
# 0.269.</details>
#
# **3.** You multiply $W_q$ by 10. What happens to the weights? And if you add 10 to every score of one row?
# <details><summary>Answer</summary>Ten times larger scores: the softmax saturates, the largest weight goes towards 1.
# Adding a constant to a row changes nothing: it cancels in the softmax.</details>
#
# **4.** Set $W_q$ = $W_k$. Which limit of section 3 comes back?
# <details><summary>Answer</summary>The symmetry of the scores (and with it the tendency to attend to oneself).</details>
#
# **5.** With $d_k$ = 64 all scores of a row lie between 112 and 113 before the division. Does it make a difference to leave the division out?
# <details><summary>Answer</summary>A small one: only differences count. A gap of 1 gives at most a ratio of e = 2.7;
# divided by 8 it is 1.13. Large scores alone do not saturate a softmax; large differences do.</details>
#
# ## 13 · Low-resource box
#
# > **Slow machine:** use `range(1)` in the loop over seeds, which removes the bands, and stop `lengths` at 1024.
# >
# > **GPU:** raise `lengths` to 16,384 (the weights alone then take 1 GiB).
#
# ## Summary
#
# * Static embeddings give one vector per word. Self-attention replaces each word's vector by a weighted average over
#   its sentence.
# * Without parameters it is softmax(X Xᵀ) X: nothing to learn, symmetric scores, and much weight on the word itself.
# * Queries (what I look for), keys (what I am found under) and values (what I hand over) separate the roles: three
#   learned matrices.
# * Z = softmax(Q Kᵀ/$\sqrt{d_k}$) V. Scores are (T, T) before the softmax, weights after it, and each row of weights sums
#   to 1.
# * Without $\sqrt{d_k}$ the variance of the scores grows like $d_k$. For large $d_k$ the softmax saturates, and little gradient
#   passes. Our model without the division got stuck, and so did one with the same start as the full formula and larger steps.
# * Cost: 2·T²·D multiply–adds and T² weights, which FlashAttention never stores; path length 1; nothing has to wait.
# * Attention alone ignores order, and its maps are not explanations.
#
# One softmax gives one pattern of attention. A word often needs several at once: the noun it refers to *and* the verb
# it belongs to. That is [lecture 3](03_multi_head_attention.ipynb). First, [lab
# 2](../labs/02_self_attention/02_self_attention.ipynb): write it yourself.
#
# ## References
#
# * A. Vaswani et al., *Attention Is All You Need*, NeurIPS 2017: section 3.2.1 (equation 1; footnote 4 on the
#   variance), section 4 and table 1 (comparison of layers). arXiv:1706.03762
# * D. Bahdanau, K. Cho, Y. Bengio, *Neural Machine Translation by Jointly Learning to Align and Translate*, ICLR
#   2015: attention between two sentences. arXiv:1409.0473
# * A. Parikh et al., *A Decomposable Attention Model for Natural Language Inference*, EMNLP 2016: attention without
#   recurrence, before the Transformer. arXiv:1606.01933
# * T. Mikolov et al., *Efficient Estimation of Word Representations in Vector Space*, 2013: static embeddings.
#   arXiv:1301.3781
# * M. Peters et al., *Deep Contextualized Word Representations*, NAACL 2018: one vector per word *and sentence*.
#   arXiv:1802.05365
# * S. Jain, B. Wallace, *Attention is not Explanation*, NAACL 2019 (arXiv:1902.10186), and S. Wiegreffe, Y. Pinter,
#   *Attention is not not Explanation*, EMNLP 2019 (arXiv:1908.04626)
# * T. Dao et al., *FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness*, NeurIPS 2022
#   ([arXiv:2205.14135](https://arxiv.org/abs/2205.14135)), on the online softmax of M. Milakov, N. Gimelshein, *Online
#   Normalizer Calculation for Softmax*, 2018 ([arXiv:1805.02867](https://arxiv.org/abs/1805.02867))
# * The sentence "… because it was tired / wide" follows an example in J. Uszkoreit, *Transformer: A Novel Neural Network
#   Architecture for Language Understanding* (Google blog, 2017). It is a Winograd schema (H. Levesque et al. 2012).
# * J. Cheng, L. Dong, M. Lapata, *Long Short-Term Memory-Networks for Machine Reading*, EMNLP 2016, and Z. Lin et al., *A
#   Structured Self-attentive Sentence Embedding*, ICLR 2017: attention within one sentence before the Transformer.
#   [arXiv:1601.06733](https://arxiv.org/abs/1601.06733), [arXiv:1703.03130](https://arxiv.org/abs/1703.03130)
#
# ## Further reading
#
# * First contact, pictures without code: J. Alammar, [*The Illustrated
#   Transformer*](https://jalammar.github.io/illustrated-transformer/) (the source of the numbers 112 and 96).
# * The same ideas in motion: 3Blue1Brown, [*Attention in transformers, step by
#   step*](https://www.3blue1brown.com/lessons/attention).
# * With code and exercises with proofs: *Dive into Deep Learning*, [section
#   11.6](https://d2l.ai/chapter_attention-mechanisms-and-transformers/self-attention-and-positional-encoding.html).
# * A complete encoder in PyTorch with more experiments: P. Lippe, [*UvA Deep Learning Tutorials*, tutorial
#   6](https://uvadlc-notebooks.readthedocs.io/en/latest/tutorial_notebooks/tutorial6/Transformers_and_MHAttention.html).

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
# **One softmax gives one average: in one layer with a linear read-out, two answers in the same feature need two heads.**
#
# [← 2b · What attention costs](02b_what_attention_costs.ipynb) · [Lab 3](../labs/03_multi_head_attention/03_multi_head_attention.ipynb) · [4 · The encoder block →](04_encoder_block.ipynb) · if you want more: [3b · Reading heads of a real model](03b_reading_heads.ipynb)
#
# > *a brown dog is running after the black dog*
#
# In lecture 2 "dog" looked for a colour. Now it looks for its verb as well: what does the dog do?
# **"dog" needs its colour *and* its verb. Can one row of attention weights fetch both?** Write down yes, no, or on what it depends. Section 1 has the answer.
#
# **Afterwards you can**
#
# * calculate what one softmax cannot do;
# * split, attend, merge and project, with the shape of every array;
# * count the parameters of the paper's layer and of Keras's;
# * read off what a head attends to from its parameters.
#
# **You need** [self-attention](02_self_attention.ipynb); `reshape` and `transpose` in NumPy. Letters: **T** tokens,
# **D** width of a token, **H** heads, **K** width of one head. Heads are counted from 0.
#
# **Time:** about 54 minutes to read and predict (estimated, not measured); the code runs in about one minute on two
# CPU cores.

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
from coursekit import diagrams, live, plots, quiet, recorded, scenes

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook
plots.use_course_style()

import matplotlib.pyplot as plt
import numpy as np
from keras import layers
from scipy.linalg import block_diag
from scipy.special import softmax

from coursekit import two_questions

np.set_printoptions(precision=3, suppress=True)
words = scenes.CAPTION.split()

# %% [markdown]
# <a id="one-average"></a>
#
# ## 1 · One softmax averages
#
# A **head** is one attention with a softmax of its own, so each token has one row of weights. Let "dog" put half of its row on its colour and half on its verb.
# Each of the two hands over one number, in the same column: the colour says how bright it is, the verb how fast.

# %%
BRIGHT = {"black": 0, "brown": 1, "grey": 2, "white": 3}
FAST = {"sitting": 0, "walking": 1, "trotting": 2, "running": 3}
for colour, verb in (("black", "running"), ("brown", "trotting"), ("grey", "walking"), ("white", "sitting")):
    arrives = 0.5 * BRIGHT[colour] + 0.5 * FAST[verb]
    print(f"{f'a {colour} dog is {verb}:':26} what arrives at dog is {arrives}")

# %% [markdown]
# Four different dogs, and the same number arrives. With half of the weight on each answer, nothing that comes after this head can tell a black dog that runs from a white one that sits.
#
# Do other shares help? With p on the colour, which holds the number $a$, and 1 − p on the verb, which holds $b$, what arrives is $m = p\,a + (1-p)\,b$. How much is lost?
# Let $a$ and $b$ be independent, with mean 0 and variance 1. The best linear guess of $a$ from $m$ leaves a share
# $u_a$ of its variance unexplained:
#
# $$ u_a = 1-\frac{p^2}{p^2+(1-p)^2} \qquad u_b = 1-\frac{(1-p)^2}{p^2+(1-p)^2} \qquad u_a + u_b = 1 $$

# %% [markdown]
# **Calculate.** $u_a$ and $u_b$ for p = ½, p = 0.8 and p = 1. Which p is best for both answers together?
#
# <details><summary>Answer</summary>
#
# For p = ½ both are ½. For p = 0.8 the share 0.64/(0.64 + 0.04) = 0.941 of $a$ is explained, so 0.059 of $a$ and
# 0.941 of $b$ remain. For p = 1 the two are 0 and 1. The sum is 1 each time, so no p is better than any other.
#
# </details>

# %%
a, b = np.random.default_rng(0).normal(size=(2, 200_000))  # the two numbers asked for
for p in (0.5, 0.8, 1.0):
    left = [1 - np.corrcoef(p * a + (1 - p) * b, number)[0, 1] ** 2 for number in (a, b)]
    print(f"p = {p}: unexplained {left[0]:.3f} and {left[1]:.3f}, together {sum(left):.3f}")

# %% [markdown]
# Would other weights do better, spread over all tokens? No: with weights $p_1 \dots p_T$ the two explained shares are
# $p_a^2/\sum p^2$ and $p_b^2/\sum p^2$, so together they are at most 1. A wider head? No: both answers are in the
# same feature, so each of the head's K columns gets a multiple of the same sum.
#
# That answers the opening question: **it depends on the columns.** Two answers in *different* columns do not mix, and one row fetches both. Then sharing only dilutes: each arrives with its share of the weight, and not with nearly all of a row of its own (section 2 has the numbers). Two answers in the *same* column become one number.
#
# **One softmax gives one average: of two answers in the same feature, the shares that it explains sum to at most one.**

# %% [markdown]
# <a id="heads"></a>
#
# ## 2 · Several heads
#
# So let H heads attend at the same time: **multi-head attention**. Each head has its own projections, compares the
# tokens in its own subspace, and has its own softmax:
#
# $$ \text{head}_h = \operatorname{Attention}(X W_Q^h,\; X W_K^h,\; X W_V^h) \qquad \text{output} = [\text{head}_0;\dots;\text{head}_{H-1}]\; W_O $$
#
# (Vaswani et al., 2017, section 3.2.2.) To keep the cost the same, each head is narrow: K = D/H.

# %% tags=["drawing"]
figure, ax = diagrams.canvas(11.8, 3.6)
x_box = diagrams.box(ax, 0.8, 1.8, "X", detail="(T, D)", width=1.2)
merged = diagrams.box(ax, 7.5, 1.8, "merge", detail="(T, H·K)", width=1.3)
w_o = diagrams.box(ax, 9.25, 1.8, "$W_O$", detail="(H·K, D)", width=1.2)
for y, name in ((2.9, "head 0: colour"), (0.7, "head 1: verb")):
    parts = [
        diagrams.box(ax, 2.9, y + shift, label, role=role, width=0.9, height=0.3, fontsize=9)
        for shift, label, role in ((0.36, "query", "query"), (0, "key", "key"), (-0.36, "value", "value"))
    ]
    diagrams.group(ax, parts, pad=0.1)
    head = diagrams.box(ax, 5.1, y, name, width=1.8, height=0.75, detail="softmax(QKᵀ/√K)V")
    diagrams.arrow(ax, x_box, (1.85, 1.8), (1.85, y), (2.35, y))
    diagrams.arrow(ax, (3.45, y), head, label="(T, K)")
    diagrams.arrow(ax, head, (6.4, y), (6.4, 1.8), merged)
output = diagrams.box(ax, 11.0, 1.8, "output", role="output", detail="(T, D)", width=1.2)
diagrams.arrow(ax, merged, w_o)
diagrams.arrow(ax, w_o, output)
plots.show(
    ax,
    alt="""Each head has its own projections and its own softmax; the output projection is where they meet. X goes
to two heads, one for the colour and one for the verb. Each has a query, a key and a value projection and gives an
array (T, K).
The heads are merged to (T, H·K) and multiplied by the output matrix, which gives (T, D).""",
)


# %%
class PlainHeads:
    """H heads for one sentence, x (T, D) to (T, D), without a mask (Vaswani et al. 2017, section 3.2.2)."""

    def __init__(self, w_q, w_k, w_v, w_o, heads):
        self.w_q, self.w_k, self.w_v, self.w_o = w_q, w_k, w_v, w_o  # (D, H·K) three times, (H·K, D)
        self.heads = heads

    def split(self, x):
        """Give every head its own K columns: (T, H·K) to (H, T, K)."""
        return x.reshape(len(x), self.heads, -1).transpose(1, 0, 2)

    def merge(self, x):
        """Put the heads side by side again: (H, T, K) to (T, H·K)."""
        return np.concatenate(list(x), axis=-1)

    def __call__(self, x):
        q, k, v = self.split(x @ self.w_q), self.split(x @ self.w_k), self.split(x @ self.w_v)  # (H, T, K)
        self.scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])  # (H, T, T)
        self.weights = softmax(self.scores, axis=-1)  # (H, T, T): a softmax for each head
        return self.merge(self.weights @ v) @ self.w_o  # (T, D)


# %% [markdown]
# Now the caption, with matrices by hand. A token has six numbers: *dog, colour, brown, black, verb, running*. Head 0
# lets "dog" look for colours, head 1 for verbs.

# %%
TABLE = {
    "dog": [1, 0, 0, 0, 0, 0],
    "brown": [0, 1, 1, 0, 0, 0],
    "black": [0, 1, 0, 1, 0, 0],
    "running": [0, 0, 0, 0, 1, 1],
}
x = np.array([TABLE.get(word, [0] * 6) for word in words], float)  # (T, D), D = 6, H = 2, K = 3
w_q, w_k, w_v = np.zeros((3, 6, 6))
w_q[0, [0, 3]] = 8  # "dog" has a query in both heads
w_k[1, 0] = w_k[4, 3] = 1  # found under colour in head 0, under verb in head 1
w_k[4, 1] = 1  # a verb has a key in head 0, too: no query asks for it yet
w_v[2, 0] = w_v[3, 1] = w_v[5, 3] = 1  # handed over: brown and black; running
two = PlainHeads(w_q, w_k, w_v, np.eye(6), heads=2)
mixed = two(x)  # (T, D)

# %% [markdown]
# **Calculate.** In head 0 "dog" has the query (8, 0, 0), a colour has the key (1, 0, 0), a verb (0, 1, 0), and every
# other word has the key 0. So the score of "dog" with "brown" is 8/√3 = 4.62, and 0 with every word that is no colour.
# What weight does "brown" get? (e^4.62 = 101.) Head 1 does the same with verbs: what weight does "running" get, if only *running* counts as one?
#
# <details><summary>Answer</summary>
#
# Two colours and seven other words: 101/(2·101 + 7) = 0.48. One verb and eight other words: 101/(101 + 8) = 0.93.
#
# </details>

# %%
for_verbs = np.zeros((6, 6))
for_verbs[0, 1] = 8  # another W_Q: in head 0, "dog" asks for a verb
other = PlainHeads(for_verbs, w_k, w_v, np.eye(6), heads=2)
other(x)
live.side_by_side(two.scores, other.scores[0], words, query="dog (2)", asks=("colour", "verb"))

# %%
print("two heads, a dog gets", mixed[2], "\nand the other dog    ", mixed[8])
one = PlainHeads(w_q, w_k, w_v, np.eye(6), heads=1)
print("one head of width 6  ", one(x)[2])

# %% [markdown]
# Each head spends nearly all its weight on its own question; the single head shares one row among three tokens, and so
# does head 0 when you turn it half way: its weights must sum to 1, whatever it asks.
# So here one row *does* fetch both, 0.31 of each: colours and verbs have columns of their own. (A softmax that divides by √6, not √3, is flatter, too, but the sharing costs more.) In section 4
# both answers are numbers in the same column. (Both dogs still get the same: positions come in lecture 5.)

# %% [markdown]
# **Predict.** Here is an array of T = 3 tokens with D = 6 numbers. Each entry says where it comes from: 24 is token 2,
# feature 4. We want two heads of width 3. Which line splits it correctly?
#
# - (a) `origin.reshape(2, 3, 3)`
# - (b) `origin.reshape(3, 2, 3).transpose(1, 0, 2)`
#
# <details><summary>Answer</summary>
#
# **(b)** Head 0 must hold features 0 to 2 of *every* token. A reshape never moves a number: (a) has the right shape,
# and its head 0 holds all of token 0 and half of token 1.
#
# </details>

# %%
origin = 10 * np.arange(3)[:, None] + np.arange(6)  # (T, D)
print("(a) head 0\n", origin.reshape(2, 3, 3)[0], "\n(b) head 0\n", origin.reshape(3, 2, 3).transpose(1, 0, 2)[0])

# %% [markdown]
# **H heads are H softmaxes: each can ask a question of its own.**

# %% [markdown]
# <a id="key-dim"></a>
#
# ## 3 · The output matrix, and how wide a head is
#
# After merging, a token's row is [head 0 | head 1 | …], and nothing has mixed the heads yet. $W_O$ does. Cut it into
# blocks of K rows, and the output is a **sum of contributions**, one from each head:
#
# $$ [\text{head}_0;\dots;\text{head}_{H-1}]\,W_O = \text{head}_0 W_O^0 + \dots + \text{head}_{H-1} W_O^{H-1} $$
#
# In the paper's base model D = 512, H = 8 and K = 64. Keras leaves K to you: `key_dim` is the width **of one head**.

# %% [markdown]
# **Calculate.** D = 512 and H = 8, with biases. How many parameters does the layer have for K = 64? And for
# `key_dim=512`, the whole width D? ([Keras's example of text
# classification](https://keras.io/examples/nlp/text_classification_with_transformer/) sets `key_dim` to its own D.)
#
# <details><summary>Answer</summary>
#
# For K = 64: queries, keys and values 3·(512·512 + 512) = 787,968, output 512·512 + 512 = 262,656, together 787,968 +
# 262,656 = 1,050,624. For K = 512 a projection is 512 × 4,096: 3·(512·4,096 + 4,096) + 4,096·512 + 512 = 8,401,408,
# eight times as many.
#
# </details>

# %%
for key_dim in (64, 512):
    layer = layers.MultiHeadAttention(num_heads=8, key_dim=key_dim)
    layer.build(query_shape=(None, None, 512), value_shape=(None, None, 512))
    print(f"key_dim={key_dim}: {layer.count_params():,}")

rng = np.random.default_rng(0)
keras_layer = layers.MultiHeadAttention(num_heads=2, key_dim=3, use_bias=False)
keras_layer.build(query_shape=(None, None, 6), value_shape=(None, None, 6))
matrices = rng.normal(size=(4, 6, 6))  # W_Q, W_K, W_V, W_O
keras_layer.set_weights([m.reshape(6, 2, 3) for m in matrices[:3]] + [matrices[3].reshape(2, 3, 6)])
x = rng.normal(size=(9, 6))  # (T, D)
theirs = np.asarray(keras_layer(query=x[None], value=x[None]))[0]
print("our class equals Keras:", np.allclose(PlainHeads(*matrices, heads=2)(x), theirs, atol=1e-5))

# %% [markdown]
# With K = D/H the number of heads does not change the number of parameters: H only divides the width. The paper varied
# H (table 3, rows A): one head was 0.9 points of BLEU, a score of translations ([what it is](evidence/08.ipynb#bleu)), worse than the best setting, and 32 heads of width 16 were worse than 8
# or 16 heads. Many heads of a trained translator can be taken out one at a time without much loss (Michel et al., 2019).
#
# **Heads divide the width: Keras's `key_dim` is the width of one head, in the paper D/H.**

# %% [markdown]
# <a id="two-jobs"></a>
#
# ## 4 · Two jobs, trained
#
# Does training find heads with jobs? Take a table of six rows. Each row has a name, a number, and the
# name of another row that it *wants*. For each row the model predicts two numbers: the one that the row *above* holds (a question of position; the last is above the first), and the one that the *wanted* row holds (a look-up by name).
# If row 2 is *name D, number 0.7, wants A*, its answers are the number of row 1 and the number of the row named A.
# The two rows are never the same, and all numbers stand in the same column, as in section 1.
# The model is an embedding, one attention layer whose output is added to its input, and a linear read-out. So numbers
# pass from row to row only through attention.

# %% [markdown]
# **Predict.** Five versions, five seeds each. For both answers we measure the share of the variance that is left unexplained: 0
# is perfect, 1 is no answer. What do one head of width 16, one head of width 64, and two heads of width 8
# reach? (The other two: four heads; and two layers of one head each, "one head, twice".)
#
# <details><summary>Answer</summary>
#
# One head, narrow or wide, answers one question (0) and leaves the other (1). Two heads answer both, with exactly as many parameters as one head of width 16.
#
# </details>

# %% tags=["setup"]
runs = recorded.load("two_questions")["results"]
for version, seeds in runs.items():
    left = np.array([run["unexplained"] for run in seeds])  # (5 seeds, 2 answers)
    print(
        f"{version:16} {seeds[0]['parameters']:5,} parameters   unexplained, above and wanted:",
        *(f"{above:.2f} {wanted:.2f} |" for above, wanted in left),
    )

# %% tags=["drawing"]
figure, panels = plt.subplots(1, 4, figsize=(11.5, 3.6), width_ratios=[1, 1, 1, 1])
for ax, version in zip(panels, ("one head", "two heads", "four heads", "one head, twice"), strict=True):
    table = [sorted(run["jobs"], key=lambda job: job[1] - job[0]) for run in runs[version]]  # heads sorted by job
    rows = [f"seed {seed}" if head == 0 else "" for seed in range(5) for head in range(len(table[0]))]
    plots.matrix_map(
        np.concatenate(table),
        rows=rows,
        columns=["above", "wanted"],
        limits=(0, 1),
        title=version,
        values=len(table[0]) < 4,
        ax=ax,
    )
    for seed in range(1, 5):
        ax.axhline(seed * len(table[0]) - 0.5, color=diagrams.PALETTE["accent"], linewidth=1.5)
plots.show(
    figure,
    alt="""Two heads divide the work in every seed: one looks above, the other follows the want. Four tables of mean attention
weights on the row above and on the wanted row, for five seeds, the heads of a seed sorted by job. One head: one of
the two columns is near 1. Two heads: the first is near 1 for above, the second for wanted. Four heads: the jobs are
shared less cleanly. One head, twice: the two layers have one job each in most seeds.""",
)

# %% [markdown]
# One head solves one question perfectly and gives up the other; which one differs from seed to seed. A wide head gains
# nothing. Four heads solve both too, but share the jobs less cleanly. "One head, twice" solves the task too, with
# twice the parameters: in four of five seeds each of its two layers takes one job. Equal weights on all six rows would give 0.17 in each cell ([evidence](evidence/03.ipynb#two-jobs)).
#
# **Trained on two questions, one head answers one of them; two heads with the same number of parameters answer both.**

# %% [markdown]
# <a id="circuits"></a>
#
# ## 5 · Read a head
#
# *Where* is a job written down? The four matrices of a head (of $W_O$ only its own block) appear in two
# products only (Elhage et al., 2021):
#
# * $W_Q W_K^\top$, the **QK circuit**: the score of a query token x and a key token y is $x\,W_Q W_K^\top
#   y^\top/\sqrt K$. It decides who looks at whom.
# * $W_V W_O$, the **OV circuit**: a token y that gets all the weight adds $y\,W_V W_O$ to the output. It decides what
#   is written.
#
# In our task the 19 columns of a token have a meaning: position, name, want (six each) and the number. Multiplied by the
# embedding at its inputs, a QK circuit becomes a matrix over these columns. Retrain the two-head model and plot both circuits:

# %%
solver = two_questions.Solver(num_heads=2, key_dim=8, seed=0)
centre = block_diag(*[np.eye(6) - 1 / 6] * 3, 1)  # (19, 19): takes row and column means of each block away
circuits = [solver.circuits(head) for head in range(2)]  # looks (19, 19), writes (19, 2) each
for head, (_, writes) in enumerate(circuits):
    above, wanted = np.round(writes[-1], 2) + 0.0  # the last column is the number
    print(f"head {head} copies the number to: above {above:.2f}, wanted {wanted:.2f}")

# %% tags=["drawing"]
figure, panels = plt.subplots(1, 2, figsize=(8.6, 4.1), layout="constrained")
for head, (square, (looks, _)) in enumerate(zip(panels, circuits, strict=True)):
    plots.matrix_map(
        centre @ looks @ centre,
        limits=(-10, 10),
        title=f"head {head}: who looks at whom",
        values=False,
        cmap="PuOr",
        ax=square,
    )
    square.set_yticks([2.5, 8.5, 14.5, 18], two_questions.KINDS if square is panels[0] else [""] * 4)
    square.set_xticks([2.5, 8.5, 14.5, 18], two_questions.KINDS, rotation=30)
    for edge in (5.5, 11.5, 17.5):
        square.axhline(edge, color=diagrams.PALETTE["residual"], linewidth=0.8)
        square.axvline(edge, color=diagrams.PALETTE["residual"], linewidth=0.8)
panels[0].set(ylabel="query column")
figure.supxlabel("key column", fontsize=10)
figure.colorbar(panels[0].images[0], ax=panels, fraction=0.03, label="added to the score")
plots.show(
    figure,
    alt="""Each head uses one block: one head matches wants with names, the other positions with positions. For each of two heads
a matrix of 19 by 19, query columns by key columns. In head 0 the strong block has wants as rows
and names as columns, strong on the diagonal. In head 1 it has positions as rows and as columns, strong below the
diagonal.""",
)

# %% [markdown]
# Each *token* has exactly one position, one name and one want. So a constant added to a row of a block shifts all
# scores of a query alike: the softmax ignores it. A constant added to a column favours one key, whatever the query
# is. The figure removes both constants, so what is left depends on query *and* key: purple raises a score, orange lowers it.

# %% [markdown]
# **Predict.** Each QK circuit has 19 × 19 = 361 numbers. Keep the 36 of its head's job, one block of the figure, and set all others to zero. How much of an answer's variance is now unexplained?
#
# - (a) about a half
# - (b) about a tenth
# - (c) less than a hundredth
#
# <details><summary>Answer</summary>
#
# **(c)** It is at most 0.004, with each of five seeds. (The blocks are centred, as in the figure, and biases are left out; the OV circuits stay.)
#
# </details>

# %% tags=["setup"]
for seed, run in enumerate(runs["two heads"]):
    kept = run["predicted blocks alone"]
    shares = ", ".join(f"{head['job']} {head['share']:.1%}" for head in kept["heads"])
    print(
        f"seed {seed}: sum of squares in the block: {shares}; unexplained with the two blocks alone {max(kept['unexplained']):.3f}"
    )

# %% [markdown]
# The blocks are enough: with them alone at most 0.004 of an answer's variance is unexplained. Of each head's 361 numbers 36 do the work: they form one of two blocks that the task suggests. In each of the five recorded models one head copies the number to “above” and the other to “wanted”, times 1.00 to 1.01; to its other answer it adds 0.00. Reading is this easy with
# one layer, no norm and no feed-forward network; [lecture 3b](03b_reading_heads.ipynb) reads the heads of a published model of 30 blocks, and switches them off.
#
# **A head is two matrices: where it looks, and what it writes.**

# %% [markdown]
# ## Two mistakes
#
# **Arguments by position.** Papers say query, key, value. The arguments of Keras's layer are, in this order, query,
# **value**, key, and then `query_mask`, not `attention_mask`:

# %% tags=["setup"]
x, keys = rng.normal(size=(2, 1, 5, 6)).astype("float32")  # (B, T, D) each
named = np.asarray(keras_layer(query=x, key=keys, value=x))
print("layer(q, k, v) is off by", np.abs(np.asarray(keras_layer(x, keys, x)) - named).max().round(2))
causal = np.tri(5, dtype=bool)[None]  # (B, T, T)
masked = np.asarray(keras_layer(query=x, value=x, attention_mask=causal))
print(
    "a mask in the fourth position is off by", np.abs(np.asarray(keras_layer(x, x, x, causal)) - masked).max().round(2)
)

# %% [markdown]
# **A mask (B, T, S) meets scores (B, H, T, S).** NumPy aligns shapes from the right, so B meets H. With as many
# sentences as heads there is no error, and in every sentence head 1 gets the mask of sentence 1:

# %% tags=["setup"]
scores = np.random.default_rng(5).normal(size=(2, 2, 4, 4))  # (B, H, T, S)
mask = np.ones((2, 4, 4), bool)  # (B, T, S)
mask[1, :, 2:] = False  # sentence 1 ends after two tokens
for name, shaped in {"mask[:, None]": mask[:, None], "mask": mask}.items():
    weights = softmax(np.where(shaped, scores, -1e9), axis=-1)
    print(f"{name:14} sentence 1, head 0: weight of a query on padding {weights[1, 0, :, 2:].sum(axis=-1).mean():.2f}")

# %% [markdown]
# Always use keywords, and give the mask its head axis. Keras adds the head axis to an `attention_mask` by itself.
#
# ## Four questions
#
# <details><summary>1. D = 12 and H = 3. What are the shapes of the weights, of a head's output, and of the blocks of W_O, for one sentence of T tokens?</summary>
#
# The weights are (3, T, T), a head's output is (T, 4), and each block of $W_O$ is (4, 12).
#
# </details>
#
# <details><summary>2. The number of heads goes from 8 to 16, with K = D/H. What happens to the number of parameters, and to the number of attention weights?</summary>
#
# The number of parameters stays the same. The weights, H·T² of them, double.
#
# </details>
#
# <details><summary>3. Colour and verb are in the same column, and "dog" puts 0.9 of its row on the colour and 0.1 on the verb. How much of each answer can a matrix still read?</summary>
#
# Of the colour 0.81/(0.81 + 0.01) = 0.988 of the variance, of the verb 0.01/(0.81 + 0.01) = 0.012. They sum to 1, as before.
#
# </details>
#
# <details><summary>4. What is the largest rank of the QK circuit of a head, and why?</summary>
#
# K, the head width: $W_Q W_K^\top$ is a product of a (D, K) and a (K, D) matrix.
#
# </details>
#
# <details><summary><b>What this page does not show</b></summary>
#
# * The proof of section 1 assumes weights that do not depend on the numbers, and a linear read-out. With p = 0.8, for example, the sixteen dogs of section 1 give sixteen different numbers, as digits do; a matrix cannot take digits apart, a feed-forward network can try.
# * The task of section 4 has two questions by construction, and no run has more than two.
# * A real model reads its columns through norms and feed-forward networks: no block of its matrices says alone what a head does.
#
# </details>
#
# ## Summary
#
# | step | shape for one sentence |
# |---|---|
# | project | (T, D) → three times (T, H·K) |
# | split | (H, T, K) |
# | scores and weights, one softmax a head | (H, T, T) |
# | merge, and $W_O$ | (T, H·K) → (T, D) |
#
# Heads may share keys and values, which makes a language model cheaper to run ([lecture
# 8b](08b_generating_text.ipynb); [lab 3](../labs/03_multi_head_attention/03_multi_head_attention.ipynb) builds
# it). [Lecture 3b](03b_reading_heads.ipynb) finds heads with a job in a real model; [lecture 4](04_encoder_block.ipynb) puts the heads into a block.
#
# **One softmax gives one average: in one layer with a linear read-out, two answers in the same feature need two heads.**
#
# ## References
#
# * A. Vaswani et al., *Attention is all you need*, NeurIPS 2017: section 3.2.2 and table 3, rows A.
# * N. Elhage et al., *A mathematical framework for Transformer circuits*, 2021. P. Michel, O. Levy, G. Neubig, *Are sixteen heads really better than one?*, NeurIPS 2019.
# * D. Elliott et al., *Multi30K: multilingual English-German image descriptions*, 2016: the caption (validation, line
#   7, without its capital and its full stop).
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# **Heads mix tokens:** a reshape without a transpose. **Eight times too many parameters:** `key_dim` = D. **Keys and
# values swapped, or a mask without effect:** arguments by position. **Weight on padding in some heads only:** a mask
# without its head axis.
#
# **Slow machine:** one training on this page takes some seconds; the rest is recorded. **GPU:** `python
# experiments/two_questions.py` with wider tables.
#
# **Further reading:** A. Zhang et al., [*Dive into Deep Learning*](https://d2l.ai/), section 11.5. Elhage et al., [*A
# mathematical framework*](https://transformer-circuits.pub/2021/framework/index.html).
#
# </details>

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
# # 5 · Positional encoding
#
# **Attention does not see order: add the position to each token, or put the distance into the scores.**
#
# [← 4 · The encoder block](04_encoder_block.ipynb) · [Lab 5](../labs/05_positional_encoding/05_positional_encoding.ipynb) · [6 · A classifier that reads film reviews →](06_imdb_classifier.ipynb)
#
# > *a brown dog is running after the black dog* · *a black dog is running after the brown dog*
#
# The caption and its twin hold the same nine words. **Who chases whom, and what would a model answer if it knew the
# words but not their order?** Write down your guess. Section 1 has the answer for a small model, section 7 for a published one.
#
# **Afterwards you can**
#
# * prove that attention is blind to order, and say exactly what that means;
# * build the sinusoidal table by hand, and find a shift in it;
# * derive rotary positions from one demand, and write them in seven lines;
# * predict what a model does beyond the length that it was trained on.
#
# **You need** [self-attention](02_self_attention.ipynb), the [encoder block](04_encoder_block.ipynb), sine and
# cosine. Letters: **B** batch, **T** tokens, **D** width of a token, **H** heads, **K** width of a head.
#
# **Time:** about 65 minutes to read and predict (estimated, not measured); the code runs in about two minutes on two CPU cores.
#
# **A published model.** Section 7 asks MiniLM: `data.published("minilm")` in a cell fetches it once (84 MB). Without it the cell is left out. Read the stored output first: running overwrites it.

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
from coursekit import diagrams, live, plots, quiet, recorded, scenes

quiet.start_tensorflow("tensorflow_text", "tensorflow_hub", "tf_keras")  # keeps their messages out of the notebook
plots.use_course_style()

from dataclasses import replace

import keras
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import softmax

from coursekit import twins
from coursekit.data.published_models import is_here
from coursekit.live import bert_heads
from coursekit.published import load_published

np.set_printoptions(precision=3, suppress=True)

# %% [markdown]
# <a id="twins"></a>
#
# ## 1 · Twins

# %% jupyter={"source_hidden": true} tags=["drawing"]
plots.show(
    scenes.two_scenes(),
    alt="""The same nine words make two pictures. Left: a brown dog runs after a black dog, above its caption.
Right: a black dog runs after a brown dog, above the
twin of the caption, in which the two colours are swapped.""",
)

# %% [markdown]
# Here is self-attention with random matrices, as in lecture 2, and a random vector for each of the eight different
# words.

# %% [markdown]
# **Predict.** We feed the caption, then its twin. What happens to the new vector of the first "dog"?
#
# - (a) It changes: another colour stands beside it.
# - (b) It stays the same, and it equals the new vector of the second "dog".
# - (c) It stays the same, but the two dogs differ.
#
# <details><summary>Answer</summary>
#
# **(b)** Each token looks at all tokens and averages what it finds. A sum does not depend on the order of its terms, and
# both dogs have the same query.
#
# </details>

# %%
rng = np.random.default_rng(0)
table = {word: rng.normal(size=4) for word in sorted(set(scenes.CAPTION.split()))}  # (D,) each
w_q, w_k, w_v = rng.normal(size=(3, 4, 4))  # (D, D) each


def attend(x):
    return softmax((x @ w_q) @ (x @ w_k).T / np.sqrt(4), axis=-1) @ (x @ w_v)  # (T, D)


caption, twin = (attend(np.stack([table[word] for word in text.split()])) for text in (scenes.CAPTION, scenes.TWIN))
print("the first dog in both sentences:", caption[2], twin[2], np.allclose(caption[2], twin[2], atol=1e-6))
print("the two dogs are equal:", np.allclose(caption[2], caption[8], atol=1e-6))
print("the means over the words are equal:", np.allclose(caption.mean(axis=0), twin.mean(axis=0), atol=1e-6))

# %% [markdown]
# A token's **position** is its number in the sentence, counted from 0. Write P for a matrix that reorders rows.
# Queries, keys and values are reordered with the rows, so the scores $S = QK^\top/\sqrt{d_k}$ become $P S P^\top$.
# The softmax works
# on each row alone, and $P^\top P = I$:
#
# $$ \operatorname{softmax}\!\big(P\,S\,P^\top\big)\,P\,V = P\operatorname{softmax}(S)\,P^\top P\,V = P\,\operatorname{softmax}(S)\,V . $$
#
# Reordering before attention or after it gives the same: attention is **permutation equivariant**. So are the
# feed-forward network, the norm and the residual connection, and therefore the whole encoder block. The mean over the
# words is even *invariant*: it does not change at all. Causal attention, convolutions and recurrent
# networks are neither: what they compute for a token depends on which tokens stand before or beside it
# ([evidence](evidence/05.ipynb#equivariance)).
#
# Does training help? A model with one attention layer reads sentences of twelve words, which hold *brown* and *black*
# once each, and predicts whether *brown* comes first. Each test sentence comes with its twin.

# %%
blind, accuracy = twins.trained(lambda x: x, seed=0)  # no positions
ids, _ = twins.pairs(500, seed=1)
sentence, other = (float(blind(ids[[row]])[0, 0]) for row in (0, 500))
print(
    f"no positions: P(brown first) = {sentence:.3f} for a sentence, {other:.3f} for its twin; accuracy {accuracy[-1]}"
)


# %% [markdown]
# **Without positions (and without a causal mask) caption and twin get the same probability: however
# long you train, exactly half of the answers are correct.**

# %% [markdown]
# <a id="sinusoids"></a>
#
# ## 2 · Rows of numbers
#
# So add to each token a vector that says where the token stands. Which vector?
#
# | idea | what goes wrong |
# |---|---|
# | the number p itself | at p = 500 it is far larger than any feature of a word |
# | p/T, between 0 and 1 | the step from one position to the next depends on the length of the sentence |
# | the binary digits of p | bounded and unique, but from 7 = 0111 to 8 = 1000 all four digits flip |
#
# The **sinusoidal** table (Vaswani et al., 2017) makes the digits smooth. Pair $i$ of columns is a sine and a cosine
# of one frequency $\omega_i$; the first pair turns fast, the last one hardly:
#
# $$ PE[p, 2i] = \sin(\omega_i\,p), \qquad PE[p, 2i+1] = \cos(\omega_i\,p), \qquad \omega_i = 10000^{-2i/D} . $$

# %%
class PlainPositions(keras.Layer):
    """Adds sinusoidal positions to √D times the tokens: x (B, T, D) to (B, T, D), D even (Vaswani et al. 2017, 3.5)."""

    def call(self, x):
        length, width = x.shape[1:]
        table = np.zeros((length, width), "float32")  # (T, D)
        for p in range(length):
            for i in range(width // 2):  # a pair of columns turns with one frequency
                omega = 10_000 ** (-2 * i / width)
                table[p, 2 * i : 2 * i + 2] = np.sin(omega * p), np.cos(omega * p)
        return x * width**0.5 + table


def sinusoids(length, width):
    return np.asarray(PlainPositions()(np.zeros((1, length, width), "float32")))[0]  # (T, D): the positions alone


# %% [markdown]
# **By hand.** D = 4. What are ω₀ and ω₁, and what are rows 0, 1 and 2? (sin 1 = 0.841, cos 1 = 0.540, sin 2 = 0.909,
# cos 2 = −0.416; for a small angle a, sin a ≈ a and cos a ≈ 1.)
#
# <details><summary>Answer</summary>
#
# ω₀ = 1 and ω₁ = 10000^(−2/4) = 1/100 = 0.01. Row 0 is (0, 1, 0, 1), row 1 is (0.841, 0.540, 0.010, 1.000), row 2 is
# (0.909, −0.416, 0.020, 1.000).
#
# </details>

# %%
print(sinusoids(3, 4))

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, panels = plt.subplots(1, 2, figsize=(9.6, 4), width_ratios=[0.5, 2])
bits = (np.arange(16)[:, None] >> np.arange(4)) & 1  # (16, 4), lowest digit first
plots.matrix_map(bits, rows=list(map(str, range(16))), values=False, title="binary digits of p", ax=panels[0])
plots.matrix_map(
    sinusoids(128, 64),
    values=False,
    cmap="PuOr",
    limits=(-1, 1),
    title="128 positions, D = 64",
    colorbar=True,
    ax=panels[1],
)
panels[1].set_xticks(range(0, 64, 8), range(0, 64, 8))
panels[1].set_yticks(range(0, 128, 16), range(0, 128, 16))
for ax in panels:
    ax.set(xlabel="column", ylabel="position p")
plots.show(
    figure,
    alt="""The sinusoidal table is a smooth binary counter: fast columns on the left, slow ones on the right.
Left: the binary digits of 0 to 15, whose columns flip ever more slowly. Right:
sinusoidal positions 0 to 127; the left columns oscillate from row to row, the right ones hardly change within 128
positions.""",
)

# %% [markdown]
# The table is *added* to the tokens; the paper multiplies the words' vectors by $\sqrt D$ first ([evidence](evidence/05.ipynb#adding)). Is it enough? Train on twins again, with sinusoidal positions:

# %%
_, accuracy = twins.trained(PlainPositions(), seed=0)
print("sinusoidal: accuracy on new twins after 1, 3 and 6 epochs:", *(f"{accuracy[epoch]:.2f}" for epoch in (0, 2, 5)))

# %% [markdown]
# After three epochs it reads all new twins correctly; without a table it stays at 0.50.
#
# **A row of numbers for each position, added to the token, is enough to tell a sentence from its twin.**

# %% [markdown]
# <a id="distance"></a>
#
# ## 3 · Distance is a rotation
#
# Attention compares by dot products. Each pair contributes $\sin\cdot\sin + \cos\cdot\cos$, which is the cosine of
# the difference of the angles:
#
# $$ PE[p]\cdot PE[q] = \sum_{i} \cos\big(\omega_i\,(p-q)\big) . $$
#
# So the product depends on the distance alone. At distance 0 it is largest, D/2. It cannot tell *before* from *after*,
# since $p - q$ and $q - p$ have the same cosine.

# %% [markdown]
# **Predict.** D = 64, so the product is 32 at offset 0. How large is it at offset 40?
#
# - (a) Near 0.
# - (b) About half of 32.
# - (c) Nearly 32.
#
# <details><summary>Answer</summary>
#
# **(b)** It is 15.4 ([evidence](evidence/05.ipynb#waves)). Half of the pairs are so slow that their cosine is still near
# 1; the cosines of the fast half have both signs and nearly cancel. In the figure below, move the first position p: the curve stays as it is.
#
# </details>

# %%
live.positions()

# %% [markdown]
# A matrix between the two vectors can tell before from after. Seen as a point, pair $i$ lies on a circle at the angle
# $\omega_i p$. One position further the angle
# has grown by $\omega_i$: moving by $k$ positions turns each pair by $\omega_i k$, *wherever it was*. So one fixed
# matrix $M$ shifts all rows: $PE[p]\,M = PE[p+k]$.
#
# We let least squares find $M$ for $k = -1$, one position to the left, and give it to attention as $W_q$; $W_k$ is
# the identity. The tokens are the caption's positions alone, without its words.

# %%
rows = sinusoids(500, 64).astype("float64")  # (T, D)
shift, *_ = np.linalg.lstsq(rows[1:], rows[:-1], rcond=None)  # (D, D)
print("one matrix shifts all positions:", np.abs(rows[1:] @ shift - rows[:-1]).max() < 1e-6)
position = rows[:9]  # (T, D): the caption's
weights = softmax(50 * (position @ shift) @ position.T / np.sqrt(64), axis=-1)  # (T, T); 50 makes the softmax sharp
for dog, colour in ((2, 1), (8, 7)):
    print(
        f"dog at position {dog}: weight {weights[dog, colour]:.2f} on position {colour}, {scenes.CAPTION.split()[colour]}"
    )

# %% [markdown]
# Positions 2 and 8, where the dogs stand, look one to the left, where their colours stand. The tokens hold no dog and no colour, and the scores are multiplied by 50. The matrix is calculated; [lecture 2](02_self_attention.ipynb#real-head) has a trained head that looks one token back.
#
# **With positions alone, one fixed matrix looks one to the left, wherever the query stands.**

# %% [markdown]
# <a id="learned"></a>
#
# ## 4 · Learned positions
#
# BERT and GPT-2 have a second embedding table, with one trainable row for each position: 512·768 = 393,216 numbers in
# BERT-base. What structure does training give it? Here is the table of our small BERT, which has read texts of up to
# 128 tokens.

# %% jupyter={"source_hidden": true} tags=["drawing"]
rows = bert_heads.position_table()[:64]  # (T, D)
unit = (rows - rows.mean(axis=0)) / np.linalg.norm(rows - rows.mean(axis=0), axis=-1, keepdims=True)
waves = sinusoids(64, rows.shape[1])
waves = (waves - waves.mean(axis=0)) / np.linalg.norm(waves - waves.mean(axis=0), axis=-1, keepdims=True)
figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.6))
for ax, vectors, title in zip(panels, (unit, waves), ("learned by the small BERT", "sinusoidal"), strict=True):
    plots.matrix_map(
        vectors @ vectors.T, values=False, cmap="PuOr", limits=(-1, 1), title=title, colorbar=ax is panels[1], ax=ax
    )
    ax.set(xlabel="position", ylabel="position", xticks=range(0, 64, 16), yticks=range(0, 64, 16))
plots.show(
    figure,
    alt="""In this trained table neighbouring positions are the most alike. Two maps of cosines between 64 position vectors, their mean taken away: the learned table of the small BERT
and the sinusoidal one. Both show a band along the diagonal; far from it the learned map has irregular patches of both
signs.""",
)

# %% [markdown]
# Nobody told the table that 4 lies between 3 and 5. A thin band along the diagonal shows that neighbours are alike. But
# the limit is hard: a table of 128 rows has no row for position 128, and a row that no training text reaches learns nothing.
#
# **In this trained table neighbouring positions are alike, and a learned table has no row beyond its length.**

# %% [markdown]
# <a id="rotary"></a>
#
# ## 5 · Rotary positions and ALiBi
#
# Often only the distance matters: *the token before me*, not *token 57*. **Relative positions** put the distance
# straight into the scores, in every layer. Shaw et al. (2018) add a learned vector for each distance to the keys; T5
# (Raffel et al., 2020) adds one learned number to the score for each range of distances.
#
# **Rotary positions** (RoPE; Su et al., 2021) follow from one demand, if the position acts on query and key by a matrix. A query $q$ at position $m$ and a key $k$ at
# position $n$ should have a score that depends on the two vectors and on $m - n$ alone:
#
# $$ \langle f(q, m),\, f(k, n)\rangle = g(q, k, m - n) . $$
#
# Take one pair of features, let the position act on it by a matrix, $f(q, m) = R_m q$, and begin with $R_0 = I$. By the
# demand, $R_m^\top R_n$ depends on $m - n$ alone. Two choices of $n$ are enough:
#
# * $n = m$ gives $R_m^\top R_m = R_0^\top R_0 = I$. So $R_m$ keeps all lengths and angles: it is a rotation. (If $R_1$ were a
#   reflection, the next line would give $R_2 = R_1 R_1 = I$, and position 2 would be the same as position 0.)
# * $n = m + 1$ gives $R_m^\top R_{m+1} = R_0^\top R_1 = R_1$, so $R_{m+1} = R_m R_1$. Each step turns by the same angle
#   $\theta$, and position $m$ by $m\theta$.
#
# So rotary positions *turn* the query and the key by an angle that is proportional to their positions. With the pair
# written as a complex number, $f(q, m) = q\,e^{i m\theta}$, and the score is
# $\operatorname{Re}\big(q\,\bar k\; e^{i(m - n)\theta}\big)$. A longer vector is cut into pairs, and each pair has its own
# $\theta$: the $\omega_i$ of section 2, with D the width of a head. (Every rotation turns some set of planes. RoPE takes the pairs of coordinates, and $W_q$ and $W_k$ can learn any other basis.)

# %% [markdown]
# **Calculate.** One pair, θ = 1. The query (1, 0) stands at position 3, the key (1, 0) at position 1. What is the
# score? And with the query at 53 and the key at 51?
#
# <details><summary>Answer</summary>
#
# The angle between them is 3 − 1 = 2 radians, so the score is cos 2 = −0.416. It is the same at 53 and 51. With the
# key (0, 1) it would be sin 2 = 0.909 for a key before the query and −0.909 for one after it: rotary positions do
# tell before from after.
#
# </details>

# %%
for m, n in ((3, 1), (53, 51), (1, 3)):
    scores = [(np.exp(1j * m) * np.conj(key * np.exp(1j * n))).real for key in (1, 1j)]
    print(f"query at {m:2}, key at {n:2}: score with the key (1, 0) {scores[0]:6.3f}, with (0, 1) {scores[1]:6.3f}")


# %% [markdown]
# Now the real thing: seven lines for queries or keys of all heads, (B, H, T, K). A complex number holds a pair, and one product turns it:

# %%
def rotary(x, base=10_000.0):
    """Turns the pairs (2i, 2i + 1) of x (B, H, T, K) by their positions (Su et al. 2021)."""
    length, size = x.shape[-2:]
    theta = base ** (-np.arange(0, size, 2) / size)  # (K/2,): one angle a step for each pair
    turn = np.exp(1j * np.outer(np.arange(length), theta))  # (T, K/2)
    pairs = (x[..., 0::2] + 1j * x[..., 1::2]) * turn  # (B, H, T, K/2)
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(x.shape)  # (B, H, T, K)


def rotary_of_halves(x, base=10_000.0):
    """The same with the pairs (i, i + K/2)."""
    size = x.shape[-1]
    order = np.arange(size).reshape(2, -1).T.ravel()  # 0, K/2, 1, K/2 + 1, …
    return rotary(x[..., order], base)[..., np.argsort(order)]


words = np.random.default_rng(2).normal(size=(2, 3, 1, 8))  # (B, H, 1, K): one query for all positions …
q, k = np.repeat(words, 50, axis=2), np.repeat(words[..., ::-1], 50, axis=2)  # … and one key, (B, H, T, K)
for turned in (rotary, rotary_of_halves):
    scores = turned(q) @ turned(k).swapaxes(-1, -2)  # (B, H, T, T)
    diagonals = [np.ptp(np.diagonal(scores, offset, 2, 3), axis=-1).max() for offset in (-7, 0, 7)]
    print(f"{turned.__name__:17} constant along diagonals: {max(diagonals) < 1e-9}, lengths kept:", np.allclose(np.linalg.norm(turned(q), axis=-1), np.linalg.norm(q, axis=-1)))
print("the two layouts agree:", np.allclose(rotary(q), rotary_of_halves(q)))

# %% [markdown]
# Both layouts are in use: neighbours $(2i, 2i+1)$ in the paper and in this course, halves $(i, i + K/2)$ in many libraries. Both keep the demand, and they are not the same: with weights for the other one a model writes nonsense, without an error.
#
# *Values* are not turned, because what is handed over should not depend on where it stood; and the rotation happens in every layer, after the projections.
#
# **How large a base?** The slowest pair turns once in $2\pi\cdot\text{base}^{(K-2)/K}$ positions. A pair that turns several times within the text says where a token is only up to whole turns: good for *one to the left*, useless for *far or near*. Longer texts want slower pairs, and so a larger base:

# %% jupyter={"source_hidden": true} tags=["setup"]
# NBVAL_CHECK_OUTPUT
for base in (10_000, 100_000, 500_000):
    turns_in = 2 * np.pi * base ** (np.arange(0, 64, 2) / 64)  # (K/2,): positions for one turn, K = 64
    print(f"base {base:7,}: the slowest of 32 pairs turns once in {turns_in[-1]:11,.0f} positions; pairs that turn within 8,192: {(turns_in < 8192).sum()}")

# %% [markdown]
# The paper takes 10,000, SmolLM2-135M 100,000 (it stands in its file), Llama 3 500,000 (Grattafiori et al., 2024). And a model that is already trained? *Interpolation* (Chen et al., 2023) divides all positions, so that none is new, and blurs the fast pairs with which the model counts single tokens. *NTK-aware* scaling raises the base instead: the slow pairs are stretched, the fast ones hardly change. (More in Peng et al., 2024.)
#
# **ALiBi** (Press et al., 2022) is simpler: subtract $s_h\,(m - n)$ from the score of an earlier key, with a slope $s_h = 2^{-8h/H}$ for head $h = 1 \dots H$. Far keys fade. Below, one query and one key meet at all pairs of 48 positions, in the first two maps through the same two matrices. Follow the framed diagonal: on the left its colour changes, in the middle it does not. (The bands on the left are mostly one word's product with the position of the other: they depend on $m$ alone or on $n$ alone.) The third map shows what ALiBi adds to a score.

# %% jupyter={"source_hidden": true} tags=["drawing"]
rng = np.random.default_rng(4)
q, k = rng.normal(size=(2, 32))  # (D,) each
turn = np.exp(1j * np.outer(np.arange(48), 10_000.0 ** (-np.arange(0, 32, 2) / 32)))  # (T, D/2)
distance = np.subtract.outer(np.arange(48), np.arange(48))  # (T, T) query − key
w_q, w_k = rng.normal(size=(2, 32, 32)) / 6
q, k = q * 32**0.5, k * 32**0.5  # √D as in section 2, for both maps
own, other = ((x @ w)[0::2] + 1j * (x @ w)[1::2] for x, w in ((q, w_q), (k, w_k)))  # (D/2,) complex
added = [(x + sinusoids(48, 32)) @ w for x, w in ((q, w_q), (k, w_k))]  # (T, D)
maps = {
    "words + sinusoidal positions": added[0] @ added[1].T,
    "rotary": ((own * turn) @ (other * turn).conj().T).real,
    "ALiBi, slope 1/16, causal": -distance / 16,
}

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, panels = plt.subplots(1, 3, figsize=(11, 3.4))
for ax, (name, values) in zip(panels, maps.items(), strict=True):
    seen = distance >= (0 if "causal" in name else -48)
    look = (
        {"cmap": "PuOr", "limits": (values.min(), values.max())}
        if "ALiBi" not in name
        else {"cmap": "Blues_r", "limits": (-3, 0)}
    )
    plots.matrix_map(values, mask=seen, values=False, title=name, colorbar=True, ax=ax, **look)
    for side in (-0.7, 0.7):  # a frame around the keys 12 before their query
        ax.plot([-0.5, 34.8], [11.5 + side, 46.8 + side], color=diagrams.PALETTE["accent"], linewidth=1.5, scalex=False, scaley=False)
    ax.set(
        xticks=range(0, 48, 16),
        yticks=range(0, 48, 16),
        xlabel="position of the key",
        ylabel="position of the query" if ax is panels[0] else "",
    )
plots.show(
    figure,
    alt="""Rotary scores and ALiBi are constant along every diagonal: they depend on the distance alone. Three
maps for one query and one key at 48 positions each. Words plus sinusoidal positions: crossing
bands, which change along the framed diagonal. Rotary: stripes along the diagonals. ALiBi's part alone: zero on the diagonal, falling to −3 at distance 47, hatched where
the key comes after the query.""",
)

# %% [markdown]
# **Let the position act by a matrix, and demand that a score depends on the offset alone: in two dimensions you get a rotation.**

# %% [markdown]
# <a id="beyond"></a>
#
# ## 6 · Beyond the training length
#
# A model may meet longer texts than any in its training: **length extrapolation**. We test
# memory. Most tokens are blank, some are one of eight letters, and at each position a causal model predicts *the last
# letter seen*. In "· B · · A · ·" the answers at the end are A.
# Five models of one block differ in their positions only (the sinusoidal one also multiplies its tokens by
# $\sqrt D$). One model has no positions at all (**NoPE**), only the causal mask. With one block it cannot win: its query sees the earlier tokens as a set (section 1), and a set has no last letter. It shows what counting letters is worth; deeper models without positions can recover the order (Haviv et al., 2022). They train on 32 tokens and are tested on 160, with
# three seeds ([evidence](evidence/05.ipynb#beyond)).

# %% [markdown]
# **Predict.** None, learned, sinusoidal, rotary, ALiBi: which of them is still correct at positions 64 to 159?
#
# <details><summary>Answer</summary>
#
# ALiBi only, with 0.96 to 0.97. The other four end between 0.25 and 0.44, rotary positions too.
#
# </details>

# %% jupyter={"source_hidden": true} tags=["setup"]
by_seed = recorded.load("positions")["results"].values()  # three runs of five methods
results = {method: [run[method] for run in by_seed] for method in ("none", "learned", "sinusoidal", "rotary", "ALiBi")}

# %%
print("share of correct letters, three seeds   positions 32-63     64-159")
for method, runs in results.items():
    views = np.array([run["views"]["all keys"] for run in runs])  # (3 seeds, 3 parts)
    print(f"{method:40}", *(f"{share:.2f}" for share in views[:, 1]), "  ", *(f"{share:.2f}" for share in views[:, 2]))

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, ax = plt.subplots(figsize=(8, 3.6))
for line, (method, runs) in enumerate(results.items()):
    plots.measured_curve(np.arange(4, 160, 8), [run["by 8 positions"] for run in runs], label=method, line=line, ax=ax)
ax.axvline(32, color=diagrams.PALETTE["residual"], linestyle=":")
ax.text(33, 0.02, "training ends here")
ax.axhline(0.3 + 0.7 / 8, color=diagrams.PALETTE["residual"])
ax.text(162, 0.3 + 0.7 / 8, "no memory: 0.39", va="center", fontsize=8)
ax.set(xlabel="position", ylabel="correct letters", ylim=(0, 1.05), xlim=(0, 160))
ax.legend(loc="upper left", bbox_to_anchor=(1, 1), title="positions")
plots.show(
    figure,
    alt="""Beyond the training length of 32 only ALiBi keeps its accuracy. Share of correct letters by position,
median and range of three seeds. ALiBi stays near 0.97. Rotary holds for some positions, then falls below 0.4.
Learned and sinusoidal positions fall at once, learned the lowest. Without positions the accuracy starts below the
others, falls fast at first, then slowly. A line at 0.39 marks a model without memory.""",
)

# %% [markdown]
# The task asks for recency, and ALiBi has recency built in: where far tokens are needed, others find the opposite (Kazemnejad et al., 2023). Within the training length ALiBi pays for it: in the figure it lies below the rotary model. Letters stand at 30 % of the positions. Copying these and guessing elsewhere gives 0.3 + 0.7/8 = 0.39, and three of the five end there or below. The learned table has rows beyond 32, but random ones; training never used the sinusoidal ones. The rotary model fails although its scores depend on the distance alone. For it two things are new: distances are longer than in training, and there are more keys. Which of the two spoils it? Test the *same* model again with a different view of the keys:
#
# * *last 32*: each query sees its last 32 keys only, a **window** (as in Mistral 7B, Jiang et al., 2023);
# * *last 28, first 4*: as many keys, but four of them are far away;
# * *all keys, positions / 5*: all 160 keys, but every distance divided by 5 (interpolation).

# %% jupyter={"source_hidden": true} tags=["setup"]
VIEWS = ("all keys", "last 28, first 4", "all keys, positions / 5", "last 32")
shares = {view: np.array([run["views"][view] for run in results["rotary"]]) for view in VIEWS}  # each (3 seeds, 3 parts)
for view, values in shares.items():
    print(f"rotary, {view:24} positions 32-63:", *(f"{share:.3f}" for share in values[:, 1]), "  64-159:", *(f"{share:.3f}" for share in values[:, 2]))
for method in ("sinusoidal", "none"):
    cut = np.array([run["views"]["last 32"] for run in results[method]])
    print(f"{method + ', last 32':32} positions 32-63:", *(f"{share:.3f}" for share in cut[:, 1]), "  64-159:", *(f"{share:.3f}" for share in cut[:, 2]))

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, panels = plt.subplots(1, 2, figsize=(9.6, 2.7), sharey=True)
for ax, part, title in zip(panels, (1, 2), ("positions 32 to 63", "positions 64 to 159"), strict=True):
    for row, values in enumerate(shares.values()):
        ax.plot(values[:, part], np.full(3, row), "o", color=diagrams.PALETTE["query"], markersize=8)
    ax.axvline(0.3 + 0.7 / 8, color=diagrams.PALETTE["residual"], linestyle=":")
    ax.set(yticks=range(4), yticklabels=VIEWS, xlim=(0.25, 1.04), ylim=(3.5, -0.5), xlabel="correct letters", title=title)
plots.show(
    figure,
    alt="""One model, four views: the weights stay as they are, and a window takes the rotary model from a third to all letters. Share of correct letters at positions 32 to 63 and 64 to 159, one dot for each of three seeds.
All keys: about 0.63, then about 0.35. Last 28 and first 4 keys: the same as all keys on the left, 0.82 to 0.90 on the right. All keys with positions divided by five: 0.91 to 0.92. Last 32 keys: 1.00 in both panels. A dotted line at 0.39 marks a model without memory.""",
)

# %% [markdown]
# Mostly the distances. With all 160 keys, and no distance beyond those of training, the *unchanged* weights reach 0.91 to 0.92 in place of about 0.35: more keys, and neighbours only a fifth of a step apart, cost at most 0.09 together. The other way round, four far keys among 32 do as badly as all keys between 32 and 63. (From 64 on the same four are *further* away and cost less; why, these numbers do not say.) Through the window everything is correct. The window does not save the sinusoidal model, nor the one without positions.
#
# Large language models show one more effect: weight that they do not need goes to the first tokens, the **attention sinks**, and a window that loses these tokens fails (Xiao et al., 2024).
#
# **In a task that asks only for the most recent letter, ALiBi, which weakens far keys, holds beyond its length by itself; the rotary model holds only if far keys are cut or brought nearer.**

# %% [markdown]
# <a id="real-encoder"></a>
#
# ## 7 · Does a real encoder read the order?
#
# MiniLM (lecture 4) has a learned table of 512 positions. It makes one vector of a sentence, so you can ask it about caption and twin.

# %% [markdown]
# **Predict.** Caption and twin describe reverse scenes. What is the cosine of their vectors?
#
# - (a) below 0.5: another meaning
# - (b) about 0.8
# - (c) above 0.95
#
# <details><summary>Answer</summary>
#
# **(c)** It is 0.98. In the passive, *the black dog is being run after by a brown dog*, the caption means the same, and has 0.93.
#
# </details>

# %%
if is_here("minilm"):
    from coursekit.pages.news_classifier import PlainBertBlock  # lecture 4's block

    minilm = load_published(PlainBertBlock, "minilm")
    texts = [scenes.CAPTION, scenes.TWIN, "the black dog is being run after by a brown dog", "a man in a red shirt is playing the guitar", "dog black the after running is dog brown a"]
    pairs = "cat mouse, boy girl, nurse doctor, car bus, teacher student, wolf sheep, thief policeman, man woman, king soldier, child clown"
    blind = replace(minilm, by_position=np.repeat(minilm.by_position.mean(axis=0, keepdims=True), 512, axis=0))
    for name, encoder in {"with its positions": minilm, "all positions equal": blind}.items():
        vectors = encoder(texts)  # (5, 384), of length 1
        twin, passive, other, backwards = vectors[1:] @ vectors[0]
        print(f"{name:20} cosine of the caption with its twin {twin:.3f}, in the passive {passive:.3f}, another caption {other:.3f}, its words backwards {backwards:.3f}")
    found = []
    for first, second in (pair.split() for pair in pairs.split(", ")):
        vectors = minilm([f"the {first} is following the {second}", f"the {second} is following the {first}", f"the {second} is being followed by the {first}"])
        found.append(vectors[1:] @ vectors[0])  # (2,)
    for name, cosines in zip(("who follows whom exchanged", "the same in the passive"), np.transpose(found), strict=True):
        print(f"ten sentences, {name:26} cosine {cosines.min():.3f} to {cosines.max():.3f}")
else:
    print('MiniLM is not here, so this cell is left out. To fetch 84 MB, once: data.published("minilm")')

# %% [markdown]
# It does read the order. Make all rows of its position table equal, and caption, twin and the words backwards get one and the same vector: section 1, in a published model. With its positions the words backwards fall to 0.73. And yet, to swap who chases whom costs 0.02, less than to say the same in the passive; another caption has −0.06. So it is in ten more sentences of the form *the cat is following the mouse*: exchanged, 0.979 to 0.992; in the passive, 0.930 to 0.968.
#
# Does that hurt? Lectures 6b and 7 shuffle real texts and count the answers that change.
#
# **This published encoder reads the order, and still a sentence is nearer to its reverse than to its own passive.**

# %% [markdown]
# ## Two mistakes
#
# **The layout of another program.** Weights trained for neighbours, rotated as halves. Here are the scores of one query with five keys:

# %%
rng = np.random.default_rng(0)
q, k = rng.normal(size=(2, 1, 1, 5, 8))  # (B, H, T, K) each
for turned in (rotary, rotary_of_halves):
    print(f"{turned.__name__:17}", (turned(q) @ turned(k).swapaxes(-1, -2))[0, 0, 4])
order = np.r_[0:8:2, 1:8:2]  # the features as the other program wants them
print("reordered first  ", (rotary_of_halves(q[..., order]) @ rotary_of_halves(k[..., order]).swapaxes(-1, -2))[0, 0, 4])

# %% [markdown]
# The key at the query's own position gets the same score either way; all others differ. Reorder the columns of $W_q$ and $W_k$ once, and the other program is right.
#
# **The table is not quite sinusoidal.** Here are four tables, and all run without an error. Is there *one* matrix that shifts all
# rows by 3?

# %%
p, columns = np.arange(60)[:, None], np.arange(16)  # (T, 1), (D,)
own = p / 10_000 ** (2 * columns / 16)  # a frequency for each column, not for each pair
tables = {
    "correct": sinusoids(60, 16),
    "column number in place of the pair's": np.where(columns % 2 == 0, np.sin(own), np.cos(own)),
    "sine only": np.sin(p / 10_000 ** (2 * (columns // 2) / 16)),
    "sines first, then cosines": np.concatenate([sinusoids(60, 16)[:, 0::2], sinusoids(60, 16)[:, 1::2]], axis=1),
}
for name, rows in tables.items():
    matrix, *_ = np.linalg.lstsq(rows[:-3], rows[3:], rcond=None)
    print(f"{name:37} shift by one matrix: {np.abs(rows[:-3] @ matrix - rows[3:]).max() < 1e-3}")

# %% [markdown]
# The last one is only another order of the columns: harmless in a model of your own. Two more tables are in the [evidence](evidence/05.ipynb#tables).
#
# ## Four questions
#
# <details><summary>1. Encoder blocks without positions, then the maximum over the words: equivariant, invariant, or neither?</summary>
#
# Invariant: the blocks are equivariant, and the maximum does not depend on the order.
#
# </details>
#
# <details><summary>2. How many parameters do positions cost for 512 positions and D = 768: learned, sinusoidal, rotary, ALiBi?</summary>
#
# 512·768 = 393,216 for the learned table; the others have none.
#
# </details>
#
# <details><summary>3. What goes wrong if rotary positions also turn the values?</summary>
#
# A word would hand over something different at position 3 and at position 50, and the sum would no longer depend on
# distances alone.
#
# </details>
#
# <details><summary>4. A window of 8 keys: information from how many tokens can reach the last token after one block, two blocks, four blocks?</summary>
#
# 8, 15 and 29: each further block reaches 7 tokens further back.
#
# </details>
#
# <details><summary><b>What this page does not show</b></summary>
#
# * Section 6 is one small task and one block, three seeds. On reasoning and mathematical tasks Kazemnejad et al. (2023) find ALiBi, rotary and absolute positions *not* well suited to longer inputs; models without positions do better.
# * The window does not help the sinusoidal model between 32 and 63: its rows are new as well, and these alone were not tested.
# * No base other than the given one was trained here; what a larger base is for is arithmetic and citation.
# * Section 7 is one encoder and eleven sentences of one form. How often word order changes an answer is counted in lectures 6b and 7.
#
# </details>
#
# ## Summary
#
# | method | where | parameters | the score depends on distance alone | beyond the training length |
# |---|---|---|---|---|
# | none | – | 0 | – | 0.44 here, low from the start: one block sees the earlier tokens as a set |
# | sinusoidal | added to √D times the tokens | 0 | its own products do; a shift is a rotation | rows exist, the model never saw them |
# | learned | added to the tokens | length · D | no | no rows, or random ones |
# | rotary | turns q and k in every layer | 0 | yes | fails here, unless far keys are cut or brought nearer |
# | ALiBi | − slope · distance on the scores | 0 | yes | holds here: far keys fade |
#
# Write it yourself in [lab 5](../labs/05_positional_encoding/05_positional_encoding.ipynb). Then [lecture
# 6](06_imdb_classifier.ipynb) puts positions, blocks and a head together and reads film reviews.
#
# **Attention does not see order: add the position to each token, or put the distance into the scores.**
#
# ## References
#
# * A. Vaswani et al., *Attention is all you need*, NeurIPS 2017: sections 3.4 and 3.5. J. Devlin et al., *BERT*,
#   NAACL 2019.
# * P. Shaw, J. Uszkoreit, A. Vaswani, *Self-attention with relative position representations*, NAACL 2018. C. Raffel
#   et al., *Exploring the limits of transfer learning with a unified text-to-text Transformer*, JMLR 21, 2020.
# * J. Su et al., *RoFormer: enhanced Transformer with rotary position embedding*, 2021. O. Press, N. A. Smith, M.
#   Lewis, *Train short, test long*, ICLR 2022.
# * A. Grattafiori et al., *The Llama 3 herd of models*, 2024, arXiv:2407.21783. B. Peng et al., *YaRN: efficient context window
#   extension of large language models*, ICLR 2024, arXiv:2309.00071; its section 2 names the origin of NTK-aware scaling.
# * S. Chen et al., *Extending context window of large language models via positional interpolation*, 2023. A. Jiang
#   et al., *Mistral 7B*, 2023. G. Xiao et al., *Efficient streaming language models with attention sinks*, ICLR 2024.
# * A. Kazemnejad et al., *The impact of positional encoding on length generalization in Transformers*, NeurIPS 2023.
#   A. Haviv et al., *Transformer language models without positional encodings still learn positional information*,
#   Findings of EMNLP 2022.
# * D. Elliott et al., *Multi30K: multilingual English-German image descriptions*, 2016: the caption (validation, line
#   7, without its capital and its full stop).
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# **Accuracy exactly 0.5 on a question about order:** the positions never reach the model. **Fine on training lengths,
# nonsense beyond:** section 6. **Index out of range:** more tokens than rows. **Loaded weights give nonsense with
# rotary positions:** pairs are neighbours in one program, halves in another. **A shift goes the wrong direction:**
# the transposed rotation.
#
# **More seeds:** `python experiments/positions.py
# --seeds 3,4`.
#
# **Further reading:** S. Biderman et al., [*Rotary embeddings: a relative
# revolution*](https://blog.eleuther.ai/rotary-embeddings/). A. Zhang et al., [*Dive into Deep
# Learning*](https://d2l.ai/), section 11.6.
#
# </details>

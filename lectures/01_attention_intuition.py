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
# # 1 · Attention
#
# **A query looks at all keys and gets the average of their values, weighted by how well they match.**
#
# [Lab 1](../labs/01_attention_intuition/01_attention_intuition.ipynb) · [1b · Seeing what a network looks at →](01b_visual_attention.ipynb)
#
# > *Un chien brun court après le chien noir.* → *A brown dog is running after the black dog.*
#
# French puts the colour after the noun. A translator writes English from left to right. **To write "brown", which French word must it look at?** And how can it
# find that word, when nobody has told it any French?
#
# **Afterwards you can**
#
# * compute attention by hand;
# * choose a bandwidth, and say what it decides;
# * compare six scores, and say which of them can learn;
# * write an attentive translator, read its alignment, and say what attention adds.
#
# **You need** matrix products, the softmax, Keras `Model` and `fit`, and for section 5 what a recurrent network and its state are. **Time:** about 48 minutes to read and predict (estimated, not measured); the
# code runs in about a minute on two CPU cores. Letters: **T** queries, **S** keys and values, **D** width of a query and of a key, $D_v$ width of a value, **B** sentences of a batch.

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

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook
plots.use_course_style()

import keras
import matplotlib.pyplot as plt
import numpy as np
from keras import layers, ops
from scipy.special import softmax

from coursekit import date_translators as translators
from coursekit import dates

# %% jupyter={"source_hidden": true} tags=["drawing"]
plots.show(
    scenes.two_scenes(),
    alt="""The colours decide the picture. Left: a brown dog runs after a black dog. Right, with the two colour words
exchanged: a black dog runs after a brown dog.""",
)

# %% [markdown]
# <a id="one-word-looks"></a>
#
# ## 1 · One word looks for another
#
# A small translator has read most of the 29,000 French–English sentence pairs of Multi30k (Elliott et al. 2016 and 2017). To predict an English
# word, it computes an average of the vectors of all French words. The **weights** of this average are numbers from 0 to 1 that sum to 1, one for each French word.

# %% [markdown]
# **Predict.** A test sentence is *Un homme en T-shirt rouge …* The translator is given the first English words, *A man in a*. Which French word gets the largest weight for the next English word?
#
# - (a) *T-shirt*, the next French word
# - (b) *rouge*
# - (c) all about the same
#
# <details><summary>Answer</summary>
#
# **(b)** The next English word is "red". The weight jumps over *T-shirt* to *rouge*, and then comes back for "shirt".
#
# </details>

# %% jupyter={"source_hidden": true} tags=["drawing"]
translated = recorded.load("recurrent_translation")["results"]
red = translated["alignment"]  # a test sentence that was never trained
weights = np.array(red["weights"]["Luong, additive"])[:6]  # the first six English words
shown = np.column_stack([weights[:, :5], weights[:, 5:].sum(axis=1)])  # five French words, and all the others together
ax = plots.attention_map(shown, red["english"][:6], [*red["french"][:5], "others"], ax=plt.subplots(figsize=(5.6, 3.4))[1])
ax.set(xlabel="French word looked at", ylabel="English word predicted")
plots.show(
    ax,
    alt="""The word orders cross: for "red" the translator jumps ahead, for "shirt" it comes back. A map of weights
with one row for each English word of "A man in a red shirt" and one column for each French word of "Un homme en
T-shirt rouge"; the two large weights of red and shirt stand off the diagonal.""",
)

# %% [markdown]
# Such a map is an **alignment**. The training data holds none: the translator learned it from pairs of whole sentences. One map may be luck, so here is the mean over all test sentences that name one colour:

# %%
colours = translated["colours"]
print(f"{colours['sentences']} test sentences; mean weight on the French colour when the English one is due,")
print("three seeds:", colours["weight"]["Luong, additive"], "| equal weights:", colours["equal weights"])


# %% [markdown]
# **A translator needs a vector that has read the matching word, wherever it is, and can learn to find it.**

# %% [markdown]
# <a id="ten-lines"></a>
#
# ## 2 · Ten lines
#
# Five words are enough to describe attention. A **query** $q$ says what is looked for. Each item of a list has a **key** $k_j$, which is compared with the query, and a **value** $v_j$, which is handed
# over. A **score** $s_j$ says how well query and key match. A softmax turns scores into weights, and the answer, called the **context**, is the average of the values:
#
# $$s_j = \operatorname{score}(q, k_j),\qquad \alpha_j = \frac{e^{s_j}}{\sum_i e^{s_i}},\qquad c = \sum_j \alpha_j v_j$$

# %%
class PlainAttention:
    """Soft attention of queries over keys and values; the score is a function of a query and all keys."""

    def __init__(self, score):
        self.score = score  # (D,), (S, D) -> (S,)

    def __call__(self, queries, keys, values):  # (T, D), (S, D), (S, D_v)
        scores = np.array([self.score(query, keys) for query in queries])  # (T, S)
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))  # the largest becomes 1: no overflow
        self.weights = exponentials / exponentials.sum(axis=-1, keepdims=True)  # (T, S), every row sums to 1
        return self.weights @ values  # (T, D_v)


# %% [markdown]
# The score is left open: section 3 uses a distance, section 4 compares six scores. First a case that you can check.

# %% [markdown]
# **By hand.** Three keys: (1, 0), (0, 1), (1, 1). Their values: 10, 20, 0. The query is (1, 0), and the score is the dot product. Find the three
# scores, the weights and the context. ($e \approx 2.718$)
#
# <details><summary>Answer</summary>
#
# The scores are 1, 0 and 1. Their exponentials are 2.718, 1 and 2.718, with the sum 6.436. The weights are 2.718/6.436 = 0.4223,
# 1/6.436 = 0.1554 and again 0.4223. The context is 0.4223·10 + 0.1554·20 + 0.4223·0 = 7.33.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
keys = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # (S, D)
values = np.array([[10.0], [20.0], [0.0]])  # (S, D_v)
attention = PlainAttention(score=lambda query, keys: keys @ query)
context = attention(np.array([[1.0, 0.0]]), keys, values)  # (T, D_v) with T = 1
print("weights", attention.weights.round(4), "context", context.round(3))

# %% [markdown]
# **Attention is an average whose weights are computed from the query.**

# %% [markdown]
# <a id="bandwidth"></a>
#
# ## 3 · How sharp?
#
# The words *query*, *key* and *value* come from databases: you bring a query, and get the value whose key matches. Attention differs in one point: it answers even if no key matches exactly. **Hard** attention then takes the value of the nearest key, and ignores all others. **Soft** attention averages all values. With the kernel of this section the weights fall with the distance.
#
# In 1964 Nadaraya and Watson, independently, predicted a value in this way, as a weighted average of measurements. With a Gaussian kernel, their estimate is attention with the score
#
# $$s_j = -\frac{(q-k_j)^2}{2\sigma^2}$$
#
# The **bandwidth** $\sigma$ says how near a key must be to count. Here are 150 noisy measurements of a curve. In the live figure, the panel on the right shows the weights for one query.

# %%
rng = np.random.default_rng(3)
curve = lambda x: np.sin(2 * x) + 0.4 * x  # noqa: E731
times = np.sort(rng.uniform(0, 5, size=150))  # keys (S,)
measured = curve(times) + 0.4 * rng.normal(size=150)  # values (S,)

# %% [markdown]
# **Predict.** Set the query to 2.5. What does the estimate look like for a very small $\sigma$, and for a very large one?
#
# - (a) small: nearly flat; large: it follows the noise
# - (b) small: it follows the noise; large: nearly flat
# - (c) both follow the curve
#
# <details><summary>Answer</summary>
#
# **(b)** A very small bandwidth gives the nearest measurement nearly all of the weight: it copies. A very large one gives all measurements nearly the same weight: the answer is their mean.
#
# </details>

# %%
live.bandwidth(times, measured, low=0, high=5)

# %% [markdown]
# Which $\sigma$ is best? The error on the measurements themselves is smallest at the smallest $\sigma$, because each point then copies itself. So leave each point out and predict it from the others:

# %%
sigmas = np.geomspace(0.02, 3, 30)
errors = {"on the measurements": [], "leaving each one out": []}
for sigma in sigmas:
    scores = -((times[:, None] - times[None, :]) ** 2) / (2 * sigma**2)  # (S, S)
    others = np.where(np.eye(150, dtype=bool), -np.inf, scores)  # no point may look at itself
    for name, used in zip(errors, (scores, others), strict=True):
        errors[name].append(np.mean((softmax(used, axis=-1) @ measured - measured) ** 2))
for name, row in errors.items():
    print(f"{name}: smallest error at σ = {sigmas[np.argmin(row)]:.2f}")

# %% jupyter={"source_hidden": true} tags=["drawing"]
ax = plt.subplots(figsize=(6.0, 2.9))[1]
for (name, row), style in zip(errors.items(), plots.LINES, strict=False):
    ax.plot(sigmas, row, label=name, markevery=4, **style)
ax.set(xscale="log", xlabel="bandwidth σ", ylabel="mean squared error")
ax.legend()
plots.show(
    ax,
    alt="""Only the error on points that were left out shows which bandwidth is good. On the measurements themselves the
error falls all the way to the smallest bandwidth; leaving each point out, it has a minimum in between.""",
)

# %% [markdown]
# Of the bandwidths tried, 0.19 predicts the left-out points best: wide enough to average the noise away, narrow enough to follow the curve.
#
# **The bandwidth decides between copying and averaging: a small one is hard attention, a large one the plain mean.**

# %% [markdown]
# <a id="six-scores"></a>
#
# ## 4 · Six scores
#
# Expand the square, now for vectors: $-\lVert q-k\rVert^2/2\sigma^2$ $= q\cdot k/\sigma^2 - \lVert k\rVert^2/2\sigma^2 - \lVert q\rVert^2/2\sigma^2$. The last term is the same for all keys, so it cancels in the softmax. If all keys have the same length, the middle one cancels too. What is left is the **dot product** of query and key, divided by $\sigma^2$. Here are six scores from the literature; the rest of attention stays as it is.
#
# | name | score | who | learned |
# |---|---|---|---|
# | cosine | $q\cdot k/(\lVert q\rVert\lVert k\rVert)$ | Graves et al. 2014 | nothing here |
# | additive | $v^\top\tanh(W_q q + W_k k)$ | Bahdanau et al. 2015 | $W_q, W_k, v$ |
# | location-based | $(Wq)_j$, the key is not used | Luong et al. 2015 | $W$ |
# | general | $q^\top W k$ | Luong et al. 2015 | $W$ |
# | dot | $q\cdot k$ | Luong et al. 2015 | nothing |
# | scaled dot | $q\cdot k/\sqrt{d}$ | Vaswani et al. 2017 | nothing |
#
# Three toy tasks show how they differ. Five items lie in random order, and the query wants one of them. *Same language*: query and key are noisy copies of one vector. *Other language*: query and key of a
# word have nothing in common, and a dictionary must be learned. *By position*: "the second", whatever lies there.

# %% jupyter={"source_hidden": true} tags=["drawing"]
from coursekit import toy_scores

tasks = ["same language", "other language", "by position"]
picked, trust = toy_scores.measured(tasks)
figure, panels = plt.subplots(1, 2, figsize=(8.6, 3.2))
plots.matrix_map(picked, rows=list(toy_scores.SCORES), columns=tasks, limits=(0, 1), ax=panels[0])
plots.matrix_map(trust, rows=[""] * 6, columns=tasks, limits=(0, 1), ax=panels[1])
panels[0].set_title("share with the correct item on top", fontsize=9)
panels[1].set_title("mean weight on the correct item", fontsize=9)
plots.show(
    figure,
    alt="""No score wins everywhere: the dictionary needs a learned score, and the task of positions the location-based one, because the keys carry no position.
Two tables of six scores by three tasks; guessing is 0.20. In the same language cosine picks the correct item and gives it little weight.""",
)

# %% [markdown]
# Only the location-based score solves the third task, because the keys here carry no position. The division by $\sqrt d$ leaves the same item on top and lowers its weight. Cosine lies between −1 and 1, so its weights differ little; Graves et al. (2014) multiply it by a learned sharpness. Dot, scaled dot and cosine have nothing to learn. So a Transformer first multiplies queries and keys
# by learned matrices: $(W_q x)\cdot(W_k y) = x^\top (W_q^\top W_k)\,y$ is the general score, with $W$ in two factors.
#
# **A score without parameters can only compare; to connect what does not look alike, something must be learned.**

# %% [markdown]
# <a id="translator"></a>
#
# ## 5 · The translator
#
# A translator has two parts: an **encoder** reads, and a **decoder** writes (Sutskever et al. 2014; Cho et al. 2014). Without attention the decoder starts from the encoder's last state, and this state is all that it knows of the source. Bahdanau, Cho and Bengio (2015) keep what the encoder left at *every* position:
#
# 1. **Annotations** $h_j$: a recurrent network in both directions leaves a vector at each source position $j$.
# 2. **Alignment model**, a small network: $e_{ij} = v^\top\tanh(W s_{i-1} + U h_j)$, with the decoder's last state $s_{i-1}$ as the query. (The figure and our network take the current state $s_i$, as Luong et al., 2015.)
# 3. **Weights** $\alpha_{ij} = \operatorname{softmax}_j(e_{ij})$: over source positions.
# 4. **Context** $c_i = \sum_j \alpha_{ij} h_j$: a new one for each written word. The decoder computes the next word from this context and its state.

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, ax = diagrams.canvas(10.4, 4.3)
french, english = ["un", "chien", "brun", "court", "…"], ["a", "brown", "dog"]
sources = diagrams.tokens(ax, french, 0.8, 0.45, step=1.15)
notes = [diagrams.box(ax, word.x, 1.45, f"$h_{number + 1}$", role="key", width=0.7, height=0.46) for number, word in enumerate(sources)]
for number, (word, note) in enumerate(zip(sources, notes, strict=True)):
    diagrams.arrow(ax, word, note)
    if number:
        diagrams.arrow(ax, (notes[number - 1].x + 0.35, 1.52), (note.x - 0.35, 1.52))
        diagrams.arrow(ax, (note.x - 0.35, 1.38), (notes[number - 1].x + 0.35, 1.38))
states = [diagrams.box(ax, 7.4 + 1.2 * number, 1.45, f"$s_{number + 1}$", role="query", width=0.7, height=0.46) for number in range(3)]
diagrams.arrow(ax, notes[-1].right, states[0].left, dashed=True, label="last state")
for number in (0, 1):
    diagrams.arrow(ax, states[number], states[number + 1])
context = diagrams.box(ax, 3.1, 2.75, "context $c_2$ = Σ weights · annotations", role="value", width=4.4, height=0.5)
for note, width in zip(notes, (0.6, 1.4, 4.5, 0.6, 0.6), strict=True):
    diagrams.arrow(ax, note.top, (note.x * 0.55 + 1.4, 2.5), width=width)
written = [diagrams.box(ax, state.x, 3.6, word, role="output", width=1.0, height=0.46) for state, word in zip(states, english, strict=True)]
for state, word in zip(states, written, strict=True):
    diagrams.arrow(ax, state, word)
diagrams.arrow(ax, context.right, (written[1].x, 2.75), role="value", width=2.5)
diagrams.arrow(ax, states[1].bottom, (states[1].x, 0.75), (6.6, 0.75), (6.6, 2.2), (5.0, 2.2), role="query", dashed=True)
diagrams.note(ax, 7.5, 0.55, "query: which annotations now?")
diagrams.note(ax, 5.75, 2.38, "weights")
diagrams.note(ax, 3.1, 3.25, "encoder (B, S, 2U) below, attention above")
plots.show(
    figure,
    alt="""Without attention only the dashed arrow on the ground joins reader and writer; with it, each written word draws on all annotations. Below left the French words un, chien, brun, court, each with an annotation h;
the annotations are joined in both directions. To the right the decoder's states s1 to s3, above them the English words a, brown, dog. The second state is a query; the weights, thick at brun, mix the annotations to a context, which goes to the written word brown.""",
)


# %% [markdown]
# Here it is for dates: as people write them they become *YYYYMMDD*. (The task comes from Coursera's *Sequence Models*, week 3; what is new is that a line holds one, two or three dates.) In training the decoder reads the correct tokens as its own past (**teacher forcing**; lecture 8 says how). In the test it reads what it has written itself.

# %%
def attentive_translator(units=32, tokens=translators.VOCABULARY_SIZE):
    """Source (B, S) and the tokens written before (B, T) to the logits (B, T, V) of the next ones, and its weights."""
    source, before = keras.Input((None,), dtype="int32"), keras.Input((None,), dtype="int32")
    embedding, mask = layers.Embedding(tokens, 32), ops.not_equal(source, 0)
    read = layers.Bidirectional(layers.LSTM(units, return_sequences=True, return_state=True))
    annotations, h1, c1, h2, c2 = read(embedding(source), mask=mask)  # (B, S, 2U)
    last = [ops.concatenate([h1, h2], axis=-1), ops.concatenate([c1, c2], axis=-1)]  # (B, 2U) each
    states = layers.LSTM(2 * units, return_sequences=True)(embedding(before), initial_state=last)  # (B, T, 2U)
    query, key = (layers.Dense(units, use_bias=False)(x) for x in (states, annotations))  # (B, T, U), (B, S, U)
    attend = layers.AdditiveAttention(name="align")  # v · tanh(query + key), softmax over S, average
    context, weights = attend([query, annotations, key], mask=[None, mask], return_attention_scores=True)  # (B, T, 2U)
    features = layers.Dense(64, activation="tanh")(ops.concatenate([states, context], axis=-1))
    model = keras.Model([source, before], layers.Dense(tokens)(features))  # (B, T, V)
    return translators.Translator(model, keras.Model([source, before], {"weights": weights}))


keras.utils.set_random_seed(1)
attentive = attentive_translator()
translators.train(attentive, epochs=5)
sources, targets = dates.date_lines([2], np.random.default_rng(0))
print(" ".join(sources[0]), "→", " ".join(targets[0]))
shares = translators.correct_dates(attentive.model)
for count, row in shares.items():
    print(f"{count} in a line: correct by position in the line", [f"{share:.2f}" for share in row])

# %% [markdown]
# Nobody tells this network which tokens belong together. The softmax has a gradient, so the error of a predicted token also changes the query's and the key's matrix, until the weights help to predict it.

# %% [markdown]
# **Predict.** Four seeds with attention train for 5 epochs. Without attention the same network trains for 16, with three seeds. Its decoder begins with one state of 128 numbers. Which dates of a line does it translate correctly?
#
# - (a) all, a little worse
# - (b) each with the same smaller share
# - (c) one date of each line
#
# <details><summary>Answer</summary>
#
# **(c)** Of the first dates 70 to 100 % are correct, depending on seed and length of the line. Of all other dates at most 3 % are.
#
# </details>

# %% jupyter={"source_hidden": true} tags=["drawing"]
by_seed = recorded.load("date_translators")["results"]
marks = ["1 of 1", "1 of 2", "2 of 2", "1 of 3", "2 of 3", "3 of 3"]
ax = plt.subplots(figsize=(7.0, 3.2))[1]
for name, style, shift in (("with attention", plots.LINES[0], -0.1), ("without attention", plots.LINES[1], 0.1)):
    for number, run in enumerate(by_seed[name]):
        shares = [share for count in "123" for share in run["correct"][count]]
        label = f"{name}, {len(by_seed[name])} seeds" if number == 0 else None
        ax.plot(np.arange(6) + shift, shares, label=label, alpha=0.7, **{**style, "linestyle": "none"})
ax.set(xlabel="date of the line", ylabel="share correct", ylim=(-0.05, 1.05), xticks=range(6), xticklabels=marks)
ax.legend(loc="center left")
plots.show(
    ax,
    alt="""Without attention one date of a line is correct, with attention all of one to three are. Share of correct test dates by position in lines of
one, two and three dates, one mark for each seed.""",
)
for name, runs in by_seed.items():
    print(name, *(" ".join(f"{share:.2f}" for count in "123" for share in run["correct"][count]) for run in runs), sep=" | ")

# %% [markdown]
# Cho et al. (2014) and Bahdanau et al. (2015) saw the quality fall with the length of a sentence; here, without attention, the position of the date in its line matters ([evidence](evidence/01.ipynb#one-date)). Attention adds a direct path between each written token and each source position: values go forwards, gradients backwards. The next figure shows which weight each position gets; equal weights would give each 1/18 = 0.06.

# %% jupyter={"source_hidden": true} tags=["drawing"]
weights, read, written = translators.weights_for(attentive, "friday 14 july 2023;5/23/1988", "20230714;19880523")
ax = plots.attention_map(weights, written, read, values=False, colorbar=True, ax=plt.subplots(figsize=(6.4, 4.2))[1])
plots.show(
    ax,
    alt="""The alignment jumps: the year is written first and stands last. A map of weights, seventeen written tokens by
eighteen source tokens; year, month and day of each date form blocks off the diagonal.""",
)

# %% [markdown]
# A translator that copies token by token, moving only forwards, could not write this order.
#
# Back to the opening question. To write "brown", a translator needs a vector that has read *brun*, and it finds the vector by training on whole sentences alone. Each annotation also holds neighbouring words: for our caption, one translator wrote "black" while looking mostly at *chien* ([evidence](evidence/01.ipynb#caption)). So a large weight says where a vector was taken from, not what it is about.
#
# The network without attention also has fewer parameters (48,930, with attention 57,154). Whether longer training or a larger state would bring it further was not tried, nor whether it must *look*: equal weights on all positions would be the control for that.
#
# **Trained for 16 epochs without attention, the translator writes one date of a line; trained for 5 with it, all of one to three.**

# %% [markdown]
# <a id="kinds"></a>
#
# ## 6 · Soft and hard, global and local, self and cross
#
# * **Soft** attention averages; **hard** attention takes one value. No gradient passes a hard choice, so it is trained in another way ([lecture 1b](01b_visual_attention.ipynb)).
# * **Global** attention looks at all positions, **local** attention at a window (Luong et al. 2015).
# * In **cross-attention** queries and keys come from two sequences: English looks at French. In **self-attention** a sequence looks at itself. The same ten lines compute both.
#
# **Behind each of these names stand a query, keys, values and weights.**

# %% [markdown]
# ## Two mistakes
#
# **Padding is not masked.** Padding fills up short lines. Its score is a score like any other, and a score of 0 is no mask: below, padding still gets 0.47 of the weight. Only a very negative score removes it.
#
# **The softmax runs over the queries.** Then the queries compete for each key, and a query can lose everywhere: the second row below sums to 0.00.

# %%
# NBVAL_CHECK_OUTPUT
scores = np.array([-1.2, 0.3, -0.5, 0.9, 1.4])  # (S,): the last two are padding
real = np.array([True, True, True, False, False])
for name, used in {"no mask": scores, "set to 0": np.where(real, scores, 0), "set to −1e9": np.where(real, scores, -1e9)}.items():
    print(f"{name:12} weight on padding {softmax(used)[3:].sum():.2f}")
scores = np.array([[9.0, 8.0, 9.0], [1.0, 2.0, 1.0], [8.0, 9.0, 8.0]])  # (T, S)
print("softmax over the queries, row sums", softmax(scores, axis=0).sum(axis=-1).round(2))

# %% [markdown]
# ## Four questions
#
# **1.** Four keys have the scores 100, 100, 100 and 100. What are the weights?
# <details><summary>Answer</summary>A quarter each: a softmax depends on differences only.</details>
#
# **2.** All values are 5. What is the context for any query and any bandwidth?
# <details><summary>Answer</summary>5. The weights sum to 1, so the context is a mean of fives.</details>
#
# **3.** Queries have width 64, keys have width 48. Which scores can be computed?
# <details><summary>Answer</summary>Additive and general, whose parameters connect the two widths; and location-based, for a fixed number of keys.</details>
#
# **4.** "The decoder takes a softmax over the positions and so finds the most probable next word." What is wrong?
# <details><summary>Answer</summary>There are two softmaxes. The one over source positions gives the weights; the next word comes from another one, over the vocabulary.</details>
#
# <details><summary><b>What this page does not show</b></summary>
#
# * A learned alignment has its limits: lines of *four* dates were never trained, and their third date is nearly always wrong ([evidence](evidence/01.ipynb#four-dates)).
# * The six scores are compared on three toy tasks only. Lecture 2 shows what the division by $\sqrt d$ is for.
# * A trained network may hide a missing mask ([evidence](evidence/01.ipynb#padding)).
#
# </details>
#
# ## Summary
#
# * Scores, softmax, average: the weights are positive and sum to 1.
# * The bandwidth, or the size of the scores, decides between copying one value and averaging all.
# * Six scores differ in what they can learn; only those with parameters can connect what does not look alike.
# * A translator with attention learns its alignment from pairs of sentences alone, and reaches every source position in one step.
#
# Next: [lab 1](../labs/01_attention_intuition/01_attention_intuition.ipynb), then [lecture 1b](01b_visual_attention.ipynb) (optional, images) or
# [lecture 2](02_self_attention.ipynb), where a sentence looks at itself.
#
# **A query looks at all keys and gets the average of their values, weighted by how well they match.**
#
# ## References
#
# * D. Bahdanau, K. Cho, Y. Bengio, *Neural Machine Translation by Jointly Learning to Align and Translate*, 2015: sections 3.1, 3.2, appendix A.1.2. [arXiv:1409.0473](https://arxiv.org/abs/1409.0473)
# * M.-T. Luong, H. Pham, C. Manning, *Effective Approaches to Attention-based Neural Machine Translation*, 2015: section 3. [arXiv:1508.04025](https://arxiv.org/abs/1508.04025)
# * E. Nadaraya, *On Estimating Regression*, 1964; G. Watson, *Smooth Regression Analysis*, 1964
# * A. Graves, G. Wayne, I. Danihelka, *Neural Turing Machines*, 2014: section 3.3. Before it, A. Graves 2013 ([arXiv:1308.0850](https://arxiv.org/abs/1308.0850)) moved a soft window over a text.
# * Networks that choose where to look: H. Larochelle, G. Hinton 2010; V. Mnih et al. 2014 ([arXiv:1406.6247](https://arxiv.org/abs/1406.6247))
# * I. Sutskever, O. Vinyals, Q. Le 2014 ([arXiv:1409.3215](https://arxiv.org/abs/1409.3215)); K. Cho et al. 2014 ([arXiv:1406.1078](https://arxiv.org/abs/1406.1078), and on the length of sentences [arXiv:1409.1259](https://arxiv.org/abs/1409.1259)): encoder and decoder. A. Vaswani et al. 2017: the scaled dot product.
# * D. Elliott et al., *Multi30K*, 2016 (the caption: validation, line 7), and the French of D. Elliott et al. 2017
# * *Sequence Models*, week 3, Coursera (deeplearning.ai): the task of the dates
# * A. Zhang et al., *Dive into Deep Learning*, [sections 11.1 to 11.4](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html)
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# **Symptoms.** NaN: large scores without subtracting the maximum, or a row masked throughout with −∞. Every context is the mean of all values: scores too small. Correct alone and wrong in a batch: no mask. Rows that do not sum to 1: softmax over the wrong axis, or a mask after it.
#
# **Slow machine, GPU.** Train the translator for three epochs. Nothing here needs a GPU.
#
# **Further reading.** J. Alammar, [a translator as a moving picture](https://jalammar.github.io/visualizing-neural-machine-translation-mechanics-of-seq2seq-models-with-attention/); L. Weng, [*Attention? Attention!*](https://lilianweng.github.io/posts/2018-06-24-attention/).
#
# </details>

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
# # 4 · The encoder block
#
# **Attention moves information between tokens, the feed-forward network transforms it, the residual stream carries
# it, and the norm keeps its scale.**
#
# [← 3 · Multi-head attention](03_multi_head_attention.ipynb) ([3b](03b_reading_heads.ipynb)) · [Lab 4](../labs/04_encoder_block/04_encoder_block.ipynb) · [5 · Positional encoding →](05_positional_encoding.ipynb)
#
# > *a brown dog is running after the black dog*
#
# Attention lets each "dog" fetch a colour. A deep model fetches again and again, in twelve layers or more. **Stack
# twelve attention layers, each with a small
# network behind it: what fails first, the gradient, the scale of the numbers, or the difference between the tokens?**
# Write down your guess.
#
# **Afterwards you can**
#
# * write the encoder block in ten lines and name the shape at every arrow;
# * compute a layer norm by hand;
# * say what each part is for, and what a run shows of it;
# * choose the position of the norm, and a learning rate that fits it.
#
# **You need** [multi-head attention](03_multi_head_attention.ipynb), the chain rule, mean and variance. Letters:
# **B** batch, **T** tokens, **D** width of a token, **H** heads,
# **F** width inside the feed-forward network.
#
# **Time:** about 63 minutes to read and predict (estimated, not measured); the code runs in about one minute on two
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

import keras
import matplotlib.pyplot as plt
import numpy as np
from keras import layers
from scipy.special import softmax

from coursekit import sorting, stacks
from coursekit.live import bert_heads
from coursekit.sorting import glorot

keras.utils.set_random_seed(4)
np.set_printoptions(precision=3, suppress=True)
runs = recorded.load("encoder_block")["results"]

# %% [markdown]
# <a id="block"></a>
#
# ## 1 · The block in ten lines
#
# What is left of "dog" after it has fetched its colour? Write the vectors by hand, with one number for each property,
# as in lecture 2.

# %% [markdown]
# **Predict.** "dog" is (1, 0, 0, 0). Both dogs look for a colour: each of the two colours gets the weight 0.47, and
# its value hands over *brown* or *black*. What does attention put at the position of "dog"? And what do you get if you
# *add* the fetched vector to the token?
#
# <details><summary>Answer</summary>
#
# Attention gives (0, 0, 0.47, 0.47): two colours and no dog. The sum is (1, 0, 0.47, 0.47): still a dog, and now with
# colours.
#
# </details>

# %%
words = scenes.CAPTION.split()
TABLE = {"dog": [1, 0, 0, 0], "brown": [0, 1, 1, 0], "black": [0, 1, 0, 1]}  # dog, colour, brown, black
x = np.array([TABLE.get(word, [0, 0, 0, 0]) for word in words], float)  # (T, D)
scores = 4 * np.outer(x[:, 0], x[:, 1])  # (T, T): a dog looks for a colour
fetched = softmax(scores, axis=-1) @ (x * [0, 0, 1, 1])  # (T, D): values hand over brown and black
print("attention alone:", fetched[2].round(2), "  token + attention:", (x + fetched)[2].round(2))

# %% [markdown]
# Adding the input to the output of a layer, $x + f(x)$, is a **residual connection** or **skip connection** (He et
# al., 2016). A token then keeps one vector from the bottom of the model to the top, the **residual stream** (Elhage et
# al., 2021). Each layer only reads it and adds to it.
#
# An **encoder block** has two such layers, its sub-layers: attention, and a small network that works on each token
# alone, the **feed-forward network** or **MLP**. Each reads a
# normalised copy of the stream (section 3). The norm in front of the sub-layer is called **pre-norm**:
#
# $$ y = x + \operatorname{Attention}(\operatorname{LN}(x)) \qquad\qquad z = y + \operatorname{FFN}(\operatorname{LN}(y)) $$

# %% tags=["drawing"]
figure, ax = diagrams.canvas(10.2, 2.9)
stream = 0.55
ends = [
    diagrams.box(ax, x, stream, text, role=role, detail="(B, T, D)", width=1.2)
    for x, text, role in ((0.8, "x", "neutral"), (9.4, "z", "output"))
]
sums = [diagrams.operator(ax, x, stream) for x in (4.3, 8.0)]
for start, end in zip((ends[0], *sums), (*sums, ends[1]), strict=True):
    diagrams.arrow(ax, start, end, role="residual", width=3)
diagrams.note(ax, 5.3, stream + 0.2, "y")
for left, name, role, inside in (
    (2.0, "attention", "query", "weights (B, H, T, T)"),
    (5.7, "feed-forward", "value", "hidden (B, T, F)"),
):
    norm = diagrams.box(ax, left, 1.5, "norm", role="key", width=0.9, height=0.5)
    part = diagrams.box(ax, left + 1.2, 2.4, name, role=role, detail=inside, width=2.2)
    diagrams.arrow(ax, (left, stream), norm)
    diagrams.arrow(ax, norm, (left, 2.4), part)
    diagrams.arrow(ax, part, (left + 2.3, 2.4), sums[left > 3])
plots.show(
    figure,
    alt="""The residual stream is the straight line; both sub-layers read a normalised copy of it and add their
result. From left to right: x, a branch through
norm and attention with weights (B, H, T, T) that ends in a sum, then a branch through norm and feed-forward network
with hidden features (B, T, F) that ends in a
second sum, then z. Every arrow of the stream carries (B, T, D).""",
)


# %%
def pre_norm_block(width, heads, hidden):
    """An encoder block, x (B, T, D) to (B, T, D): each sub-layer reads a normalised copy and adds its result to x."""
    x = keras.Input((None, width))  # (B, T, D)
    normed = layers.LayerNormalization(epsilon=1e-6)(x)  # (B, T, D)
    attention = layers.MultiHeadAttention(heads, width // heads, kernel_initializer=glorot(width))
    y = x + attention(query=normed, value=normed)  # (B, T, D)
    normed = layers.LayerNormalization(epsilon=1e-6)(y)  # (B, T, D)
    wide = layers.Dense(hidden, activation="relu")(normed)  # (B, T, F)
    return keras.Model(x, y + layers.Dense(width)(wide))  # (B, T, D)


# %% [markdown]
# The shape that goes in comes out, so blocks stack like bricks. Two of them, between an embedding and a last norm
# with a `Dense` layer, learn to sort eight digits:

# %%
model = sorting.sorter(lambda: pre_norm_block(32, heads=4, hidden=64), depth=2)
losses, correct = sorting.Trainer(model).run(model.get_weights(), sorting.digits(250), rate=lambda step: 3e-3)
print(f"loss {losses[0]:.2f} in the first 25 steps, {losses[-1]:.2f} in the last; {correct:.0%} of the digits correct")

# %% [markdown]
# **Attention moves information between tokens; everything else in the block works on each token alone.**

# %% [markdown]
# <a id="without-residual"></a>
#
# ## 2 · Without the residual connections
#
# Now take the sums away: each sub-layer *replaces* the token. The norms stay. Here is how well such stacks learn to
# sort, with the same data and three seeds each ([evidence](evidence/04.ipynb#without-residual)):

# %%
for name in ("whole, 2 blocks", "no residual, 2 blocks", "no residual, 12 blocks"):
    print(f"{name:23} digits correct:", *(f"{share:.0%}" for share in runs["parts"][name]["0.003"]["correct"]))
print(
    "whole, 12 blocks        digits correct:",
    *(f"{share:.0%}" for share in runs["rates"]["pre-norm"]["0.003"]["correct"]),
)
lists = np.sort(np.random.default_rng(0).integers(0, 10, (100_000, 8)), axis=1)
known = np.mean([np.bincount(column).max() for column in lists.T]) / len(lists)
print(f"the likeliest digit of each position: {known:.0%}; any digit: 10%")

# %% [markdown]
# Two blocks still learn without the sums, though less well. Twelve learn nothing in 250 steps: guessing gives 10 %
# (and whoever knows only the position, not the digits, gets 34 %). So what fails? Look at twelve
# blocks before the first step of training.

# %% [markdown]
# **Predict.** Without residual connections, in block 12: which gradient is tiny, that of the query matrix $W_q$, that
# of the value matrix $W_v$, or both?
#
# - (a) both: a gradient shrinks from block to block
# - (b) that of $W_q$ only
# - (c) neither
#
# <details><summary>Answer</summary>
#
# **(b)** The gradient of $W_v$ has about the same size in all blocks. That of $W_q$ falls by seven powers of ten
# within five blocks; what the figure shows from there on is the rounding of float32 ([evidence](evidence/04.ipynb#start)).
#
# </details>

# %%
measured = {
    residual: [stacks.at_the_start(12, seed, residual=residual) for seed in (1, 2, 3)] for residual in (True, False)
}
for residual, seeds in measured.items():
    for what in ("cosine", "value", "query"):
        values = np.array([getattr(seed, what)[-12:] for seed in seeds])  # (3 seeds, 12 blocks)
        ends = np.median(values[:, [0, 2, 11]], axis=0)  # after, or in, blocks 1, 3 and 12
        name = {"cosine": "cosine of two tokens", "value": "gradient of W_v", "query": "gradient of W_q"}[what]
        print(f"{'with' if residual else 'without':8}{name:21} blocks 1, 3, 12:", *(f"{value:9.2g}" for value in ends))

# %% tags=["drawing"]
figure, panels = plt.subplots(1, 2, figsize=(9.6, 3.3))
for residual, seeds in measured.items():
    label = "with residual" if residual else "without"
    plots.measured_curve(
        range(13), [seed.cosine for seed in seeds], label=label, line=0 if residual else 1, ax=panels[0]
    )
    for what, line in (("query", 0), ("value", 2)):
        name = f"$W_{what[0]}$, {label}"
        plots.measured_curve(
            range(1, 13), [getattr(seed, what) for seed in seeds], label=name, line=line + (not residual), ax=panels[1]
        )
panels[0].set(xlabel="blocks passed", ylabel="cosine of two tokens", ylim=(-0.05, 1.05))
panels[1].set(xlabel="block", ylabel="norm of the gradient", yscale="log")
panels[1].legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
plots.show(
    figure,
    alt="""Without the residual stream all tokens are alike after three blocks, and from there on the query matrix
gets hardly any gradient. Left: the mean cosine of two tokens
by block; without residual connections it reaches 1 after three blocks, with them it rises slowly. Right, on a
logarithmic scale: the gradient of the query matrix
falls within five blocks to the rounding of float32 without residual connections, and by a factor of ten with them; the gradient of the value
matrix keeps its size without them and falls to about a third with them.""",
)

# %% [markdown]
# Attention averages tokens, and an average lies between what it averages. Layer after layer the tokens come closer,
# until all rows are the same vector: **rank collapse** (Dong et al., 2021). Then the weights of the average do not
# matter any more, and $W_q$ and $W_k$, which only make weights, get no gradient. Values still pass, so $W_v$ gets one.
#
# So in this stack the difference between the tokens fails first: after three blocks it is gone, and the gradient of
# $W_q$ goes with it. The scale cannot fail here, since the norms keep it (section 3).
#
# The stack of the opening question has no norms either, and there it goes faster: after *two* blocks the cosine is 1, in
# block 5 the gradient of $W_q$ is exactly 0. The scale fails as well, but slowly: the numbers shrink to 0.002 in twelve blocks ([evidence](evidence/04.ipynb#start)).
#
# With the sums the cosine rises slowly, to 0.76 after twelve blocks. The sum keeps what each token was, and it gives
# the gradient a direct path: the derivative of $x + f(x)$ is $1 + f'(x)$. Two sub-layers in a row make four **paths**
# from bottom to top: through both, through either one, around both. Veit et al. (2016) read a residual network as an
# ensemble of such paths ([evidence](evidence/04.ipynb#paths)).
#
# **Where all tokens are alike, attention has nothing to learn from (Noci et al., 2022); the residual stream keeps them
# apart for longer.**

# %% [markdown]
# <a id="norm"></a>
#
# ## 3 · The norm keeps the scale
#
# **Layer norm** (Ba et al., 2016) takes one token $x$ with its D features. It subtracts their mean μ, divides by
# their standard deviation, and then applies a learned scale γ and
# shift β for each feature:
#
# $$ \hat x_i = \frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}}, \qquad y_i = \gamma_i\,\hat x_i + \beta_i, \qquad \mu = \tfrac{1}{D}\sum_i x_i, \quad \sigma^2 = \tfrac{1}{D}\sum_i (x_i-\mu)^2 $$

# %% [markdown]
# **By hand.** The token is (0, 6, 6, 8), with γ = (1, 1, 3, 2), β = (0, 1, 0, 0), and ε is negligible. Compute μ, σ²,
# x̂ and y. Then multiply the token by ten: what is x̂ now?
# And if you divide it by a thousand, with ε = 10⁻⁶?
#
# <details><summary>Answer</summary>
#
# μ = 20/4 = 5. The differences are (−5, 1, 1, 3), so σ² = (25 + 1 + 1 + 9)/4 = 9 and σ = 3. x̂ = (−1.667, 0.333,
# 0.333, 1) and y = (−1.667, 1.333, 1, 2). Ten times the token has
# the same x̂: layer norm forgets the length and the mean of a token. A thousandth of it has σ² = 9·10⁻⁶, only nine
# times ε, so x̂ shrinks a little: its last entry is
# $1/\sqrt{1 + 1/9} = 0.949$. The figure shows this case, with γ = 1 and β = 0.
#
# </details>

# %%
norm = layers.LayerNormalization(epsilon=1e-6)
norm.build((None, 4))
norm.set_weights([np.array([1, 1, 3, 2]), np.array([0, 1, 0, 0])])  # γ and β
print("the token:", np.asarray(norm(np.array([[0.0, 6, 6, 8]])))[0])
live.layer_norm([0, 6, 6, 8], power=-3)

# %% [markdown]
# What is it for? Leave it out, keep the residual stream, and look at the attention of twelve untrained blocks: how large
# is the largest weight of a row, on average?

# %%
for name, kind in {"without a norm": "none", "with the norm ": "pre"}.items():
    seeds = [stacks.at_the_start(12, seed, norm=kind) for seed in (1, 2, 3)]
    weight = np.median([seed.largest for seed in seeds], axis=0)[[0, 3, 7, 11]]
    size = np.median([seed.size for seed in seeds], axis=0)[[0, 4, 8, 12]]
    print(f"{name}: largest weight in blocks 1, 4, 8, 12: {weight.round(2)}   size after 0, 4, 8, 12: {size.round(1)}")
print(
    "trained to sort, 12 blocks, no norm:",
    *(f"{share:.0%}" for share in runs["parts"]["no norm, 12 blocks"]["0.003"]["correct"]),
    "correct",
)

# %% [markdown]
# Without a norm, the larger the tokens are, the more a block adds to them: every four blocks make their size, the standard
# deviation of the features, five to eight times as large. Scores grow with the *square* of that size, and soon each softmax puts nearly all its weight on one
# token. The norm hands every sub-layer tokens of one size. Trained to sort, two blocks learn without a norm, and
# twelve reach 48 % at most within 250 steps ([evidence](evidence/04.ipynb#without-residual)).
#
# **Batch norm** (Ioffe and Szegedy, 2015) uses the same formula over another set of numbers: one feature, all tokens
# of all sentences. It was introduced against *covariate shift*, a distribution of inputs that
# moves during training; Santurkar et al. (2018) found that it helps without reducing that shift. For
# text, its trouble is that in training a token's output depends on the other sentences
# of the batch, and on their padding. On sorting, where all lists are equally long, twelve blocks learn with batch norm,
# too: three seeds reach 95 to 97 %, with layer norm 98 to 99 %
# ([evidence](evidence/04.ipynb#batch-norm)).

# %% tags=["drawing"]
figure, panels = plt.subplots(2, 1, figsize=(7.2, 4.6))
titles = {
    "layer": "layer norm: one token, all its features",
    "batch": "batch norm: one feature, all tokens of the batch",
}
for ax, (kind, title) in zip(panels, titles.items(), strict=True):
    diagrams.normalised_together(ax, [5, 3, 2], kind)
    ax.set_title(title)
plots.show(
    figure,
    alt="""Layer norm uses one token alone; batch norm mixes all sentences and their padding into one mean. Three
sentences are drawn as grids of tokens by features, padding
hatched. Above, one row of one sentence is coloured. Below, the same column is coloured in all three sentences,
through the padding too.""",
)

# %% [markdown]
# **The norm gives every sub-layer tokens of one scale, whatever the stream has grown to and whatever else is in the
# batch.**

# %% [markdown]
# <a id="feed-forward"></a>
#
# ## 4 · The feed-forward network
#
# $$ \operatorname{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2 \qquad W_1: (D, F),\quad W_2: (F, D) $$
#
# The network is *position-wise*: the same two matrices serve every token, and no token sees another. The 2017 paper
# also describes it as two convolutions with kernel size 1 (section 3.3), and so it is:

# %%
x = keras.random.normal((2, 7, 16))  # (B, T, D)
dense = [layers.Dense(64, activation="relu"), layers.Dense(16)]
convolutions = [layers.Conv1D(64, kernel_size=1, activation="relu"), layers.Conv1D(16, kernel_size=1)]
expected, _ = dense[1](dense[0](x)), convolutions[1](convolutions[0](x))  # (B, T, D); this makes the kernels
for convolution, layer in zip(convolutions, dense, strict=True):
    convolution.set_weights([np.asarray(layer.kernel)[None], layer.bias])  # (D, F) becomes (1, D, F)
print("two 1×1 convolutions are equal:", np.allclose(expected, convolutions[1](convolutions[0](x)), atol=1e-5))

# %% [markdown]
# Without the ReLU the two matrices would be one: $(xW_1 + b_1)W_2 + b_2$ $= x(W_1W_2) + (b_1W_2 + b_2)$. With it,
# each hidden feature can bend a curve at one point. Three bends follow a wave roughly,
# eight follow it closely ([evidence](evidence/04.ipynb#bends)). For *fixed* attention weights, ReLU and the norms are
# the only parts of the block that are not linear.
#
# So a block mixes a table of T tokens by D features in both directions. Attention mixes along the tokens, the network
# along the features. MLP-Mixer (Tolstikhin et al., 2021) does both with plain networks. A dense layer gives
# weighted sums of numbers, with learned weights; attention gives weighted sums of vectors, and
# computes its weights from the input.
#
# To see which part mixes what, nudge token $s$ and measure how far each output token moves. Nine random vectors stand
# for the words, and all parts are untrained. In the maps below each row is divided by its largest entry: compare within a
# row.

# %% tags=["drawing"]
parts = [
    layers.MultiHeadAttention(4, 8, kernel_initializer=glorot(32)),
    layers.LayerNormalization(epsilon=1e-6),
    keras.Sequential([layers.Dense(64, activation="relu"), layers.Dense(32)]),
]
attend, feed = (lambda x: parts[0](query=x, value=x)), parts[2]
shown = {"attention": attend, "layer norm": parts[1], "feed-forward": feed}
shown["whole block"] = lambda x: (y := x + attend(parts[1](x))) + feed(parts[1](y))
start = np.asarray(keras.random.normal((9, 32)))  # (T, D)
nudged = np.repeat(start[None], 9, axis=0)  # (9 copies, T, D)
nudged[np.arange(9), np.arange(9)] += 0.01 * np.asarray(keras.random.normal((9, 32)))

# %% tags=["drawing"]
figure, panels = plt.subplots(1, 4, figsize=(11.5, 3.2))
for ax, (name, part) in zip(panels, shown.items(), strict=True):
    reach = np.linalg.norm(np.asarray(part(nudged)) - np.asarray(part(start[None])), axis=-1).T  # (T out, T in)
    plots.matrix_map(
        reach / reach.max(axis=1, keepdims=True),
        rows=words if ax is panels[0] else None,
        columns=words,
        values=False,
        limits=(0, 1),
        title=name,
        ax=ax,
    )
    ax.set_xlabel("nudged token")
plots.show(
    figure,
    alt="""Of the three parts only attention has entries off the diagonal: it alone moves information between tokens. Four maps of
nine output tokens by nine nudged input tokens, each row relative to its
largest entry. Attention: all entries filled. Layer norm and feed-forward network: the diagonal only. Whole block: a
dark diagonal, and paler entries everywhere else.""",
)

# %% [markdown]
# **Attention mixes tokens; the feed-forward network mixes the features of one token.**

# %% [markdown]
# <a id="dropout"></a>
#
# ## 5 · Dropout
#
# A model with many parameters and few examples may learn the examples themselves: it is good on them and worse on new
# ones. This gap is **overfitting**, and what reduces it is
# **regularisation**. **Dropout** (Srivastava et al., 2014) sets each number to 0 with probability p, and divides the
# others by 1 − p, so that the expected value stays. With p = 0.5, the token (2, 4, 6, 8) may become (4, 0, 0, 16).
# At inference dropout does nothing. In the block it acts on the output of each sub-layer, before the sum, and never
# on the stream itself. (The paper also applies it once to the embeddings; Vaswani et al., 2017,
# section 5.4.)
#
# Train two blocks on 300 rows only, drawn again and again for 700 steps, with three seeds:

# %%
for rate in (0.0, 0.2):
    seen, new = sorting.seen_and_new(dropout=rate).T  # (3 seeds,) each
    print(f"dropout {rate}: on the 300 rows", *(f"{share:.0%}" for share in seen), end="   ")
    print("on new rows", *(f"{share:.0%}" for share in new), f"  mean gap {100 * np.mean(seen - new):.1f} points")


# %% [markdown]
# Every model knows the 300 rows by heart. Yet all are nearly as good on new rows: the gap is about two points, with
# dropout and without it. Sorting follows one rule, and 300 rows are enough to learn it. [Lecture
# 6](06_imdb_classifier.ipynb) has film reviews, where the gap is larger.
#
# The argument `training` of a layer's call decides whether dropout is on. Keras hands it down to inner layers;
# the lab passes it on explicitly.
#
# **Dropout is noise in training only; whether it helps is measured on new examples.**

# %% [markdown]
# <a id="post-or-pre"></a>
#
# ## 6 · Post-norm or pre-norm?
#
# The block of 2017, and of BERT, has its norms elsewhere: **post-norm**, after each sum.

# %%
def post_norm_block(width, heads, hidden):
    """The block of 2017, x (B, T, D) to (B, T, D): every sum goes through a norm (Vaswani et al. 2017, section 3.1)."""
    x = keras.Input((None, width))  # (B, T, D)
    attention = layers.MultiHeadAttention(heads, width // heads, kernel_initializer=glorot(width))
    y = layers.LayerNormalization(epsilon=1e-6)(x + attention(query=x, value=x))  # (B, T, D)
    wide = layers.Dense(hidden, activation="relu")(y)  # (B, T, F)
    return keras.Model(x, layers.LayerNormalization(epsilon=1e-6)(y + layers.Dense(width)(wide)))  # (B, T, D)


# %% [markdown]
# Nothing normalises the stream of a pre-norm stack, and it grows with depth; so such a stack ends with one more norm.
# In post-norm every sum is normalised, so no path leads straight from bottom to top.
#
# A choice that is made before training, such as the position of the norm or the learning rate, is a
# **hyperparameter**. The paper trained post-norm with a **warm-up**: the learning rate climbs from 0 to its full
# value,
# in its case over 4,000 steps, here over 100.

# %% [markdown]
# **Predict.** Twelve post-norm blocks are trained to sort with Adam, 250 steps. At a constant rate of 0.003 they learn
# nothing. What saves them?
#
# - (a) only a warm-up
# - (b) a warm-up or a smaller constant rate
# - (c) neither: pre-norm is needed
#
# <details><summary>Answer</summary>
#
# **(b)** Both work: the warm-up begins with small steps, a smaller rate keeps all steps small.
#
# </details>

# %%
for order, rates in runs["rates"].items():
    for rate, seeds in rates.items():
        print(f"{order:10} {rate:32} digits correct:", *(f"{share:4.0%}" for share in seeds["correct"]))

# %% tags=["drawing"]
steps = range(25, 251, 25)
left = {
    "post-norm, 0.003": ("post-norm", "0.003"),
    "post-norm, 0.001": ("post-norm", "0.001"),
    "post-norm, 0.0003": ("post-norm", "0.0003"),
    "pre-norm, 0.003": ("pre-norm", "0.003"),
}
right = {
    "100 steps of warm-up to 0.003": "0.003, warm-up",
    "1 full step first": "1 full step, then the warm-up",
    "10 full steps first": "10 full steps, then the warm-up",
}

# %% tags=["drawing"]
figure, panels = plt.subplots(1, 2, figsize=(10.5, 4.1), sharey=True)
for line, (label, (order, rate)) in enumerate(left.items()):
    plots.measured_curve(steps, runs["rates"][order][rate]["losses"], label=label, line=line, ax=panels[0])
for line, (label, rate) in enumerate(right.items()):
    plots.measured_curve(steps, runs["rates"]["post-norm"][rate]["losses"], label=label, line=line, ax=panels[1])
panels[0].set(xlabel="step", ylabel="training loss", title="constant rates", ylim=(0, 2.7))
panels[1].set(xlabel="step", title="post-norm with a warm-up", ylim=(0, 2.7))
for ax in panels:
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, fontsize=9)
plots.show(
    figure,
    alt="""A smaller rate or a warm-up lets twelve post-norm blocks learn; ten full steps at the start spoil the
run. Training loss over 250 steps, median and range of three seeds. Left, constant
rates: post-norm at 0.003 stays at 2.3, the loss of guessing; at 0.001 the seeds differ widely; at 0.0003 it falls
steadily; pre-norm at 0.003 falls fastest. Right, post-norm with a warm-up: it falls; with one full
step before the warm-up it falls later; with ten full steps it stays near 2.3.""",
)

# %% [markdown]
# At 0.003 all three seeds stay at the level of guessing. At 0.0003 all of them learn, about as well as with the
# warm-up; at 0.001 two of three do. One step at the full rate before the warm-up already delays some seeds; after ten, none
# recovers within 250 steps. Pre-norm learns at each rate
# that we tried.
#
# Why does post-norm need this? Xiong et al. (2020) blame large gradients near the output: at the start, a bound
# on them does not depend on the number of blocks in post-norm, and falls with it in pre-norm. Liu et al. (2020) see another
# cause: a post-norm stack depends more on its sub-layers, and this amplifies small changes of the parameters. Our two stacks also start differently: after twelve post-norm blocks
# the cosine of two tokens is 0.99, close to the collapse of section 2, against 0.76 in pre-norm
# ([evidence](evidence/04.ipynb#start)). We did not test whether that matters.
#
# **In our runs, deep post-norm needs a smaller rate or a warm-up; ten full steps at the start spoil it.**

# %% [markdown]
# <a id="parameters"></a>
#
# ## 7 · Every parameter counted

# %% [markdown]
# **Calculate.** The classifier of [lecture 6](06_imdb_classifier.ipynb) has one block with D = 32, F = 32 and two
# heads, each of `key_dim` = 32 (not D/H = 16). How many parameters do its attention, its feed-forward network and
# its two norms have, with all biases?
#
# <details><summary>Answer</summary>
#
# Query, key and value: 32·64 + 64 = 2,112 each. Output: 64·32 + 32 = 2,080. Attention: 3·2,112 + 2,080 = 8,416.
# Feed-forward: 2·(32·32 + 32) = 2,112. Norms: 2·64 = 128. Together **10,656**.
#
# </details>

# %%
for name, (width, heads, hidden, key_dim) in {
    "lecture 6": (32, 2, 32, 32),
    "Transformer base, 2017": (512, 8, 2048, 64),
    "BERT-base": (768, 12, 3072, 64),
}.items():
    attention = layers.MultiHeadAttention(heads, key_dim)
    attention.build(query_shape=(None, None, width), value_shape=(None, None, width))
    network = 2 * width * hidden + hidden + width
    total = attention.count_params() + network + 4 * width
    print(
        f"{name:23} attention {attention.count_params():9,}  feed-forward {network:9,}  block {total:9,}: {network / total:.0%} feed-forward"
    )

# %% [markdown]
# In a block with F = 4D two thirds of the parameters are in the feed-forward network. Language models of the LLaMA
# kind keep the pre-norm block, and replace its norm and its feed-forward network. **RMSNorm** (Zhang and Sennrich,
# 2019) divides by the root of the
# mean square and does not subtract the mean. **SwiGLU** (Shazeer, 2020) multiplies two hidden layers, so that one is a gate
# for the other ([evidence](evidence/04.ipynb#newer-parts)).
#
# **Count the parameters by hand and compare with `count_params()`: a part that is missing or shared shows at once.**
#
# <a id="two-dogs"></a>
#
# ## 8 · Two dogs in a trained stack
#
# The small BERT that comes with the course reads four sentences with capital letter and full stop: the caption, its twin
# with the colours swapped, and two in which both dogs have the same colour. Both "dog"s begin
# as one row of the table, plus a position.

# %%
for sentence in (
    scenes.CAPTION,
    scenes.TWIN,
    scenes.CAPTION.replace("black", "brown"),
    scenes.TWIN.replace("brown", "black"),
):
    pieces, states = bert_heads.tokens_by_block(sentence.capitalize() + ".")  # states (blocks + 1, T, D)
    unit = states / np.linalg.norm(states, axis=-1, keepdims=True)
    one, other = (unit[:, at] for at, piece in enumerate(pieces) if piece == "dog")  # (blocks + 1, D) each
    print(
        f"{sentence:44} cosine of the two dogs after 0 to 3 blocks:", *(f"{c:.2f}" for c in (one * other).sum(axis=-1))
    )

# %% [markdown]
# Before the first block only the positions tell the dogs apart: the cosine is 0.60 in all four sentences. Block by
# block the two become more alike. But after three blocks they are less alike where their colours differ (0.87, 0.86)
# than where both have the same colour (0.90, 0.93). So in these four sentences the colours have left a trace in the
# two streams.
#
# **In this trained stack the two dogs become more alike block by block, and different colours keep them further apart.**

# %% [markdown]
# ## Two mistakes
#
# **A mask by position.** The fourth positional argument of Keras's `MultiHeadAttention` is `query_mask`. A padding
# mask that is passed there says nothing about the keys. How much weight do the two words give to the two padding
# tokens?

# %%
padding = np.array([[True, True, False, False]])  # (B, T): two words, two tokens of padding
attend = layers.MultiHeadAttention(1, key_dim=16, kernel_initializer=glorot(16))
x = np.random.default_rng(0).normal(size=(1, 4, 16)).astype("float32")  # (B, T, D)
by_keyword = attend(query=x, value=x, attention_mask=padding[:, None], return_attention_scores=True)[1]
by_position = attend(x, x, x, padding, return_attention_scores=True)[1]  # (B, H, T, S)
for name, weights in {"attention_mask=…": by_keyword, "by position": by_position}.items():
    print(f"{name:16} weight on padding: {np.asarray(weights)[0, 0, :2, 2:].sum(axis=-1).mean():.0%}")

# %% [markdown]
# **A norm over the wrong axis.** `axis=1` normalises each feature over the tokens. The shapes agree, and now a token
# depends on all others, even on those that a mask should hide.

# %%
x = np.asarray(keras.random.normal((2, 5, 32)))  # (B, T, D)
changed = x.copy()
changed[0, 4] += 10  # only the last token of the first sentence changes
for axis in (-1, 1):
    norm = layers.LayerNormalization(axis=axis)
    moved = np.abs(np.asarray(norm(x)) - np.asarray(norm(changed)))[0, 0].max()
    print(f"axis {axis:2}: token 0 moves by {moved:.1f}")

# %% [markdown]
# Three more mistakes, with what they look like, are in the [evidence](evidence/04.ipynb#mistakes): a weight that
# Keras does not know, one norm used twice, `training=True` left in.
#
# ## Four questions
#
# <details><summary>1. A block has D = 16, H = 4, F = 64 and key_dim = D/H. How many parameters?</summary>
#
# Attention 4·(16·16 + 16) = 1,088; feed-forward 16·64 + 64 + 64·16 + 16 = 2,128; norms 2·32 = 64. Together 1,088 +
# 2,128 + 64 = 3,280.
#
# </details>
#
# <details><summary>2. You double T. Which of these change: parameters, shape of the output, cost of attention's scores, cost of the feed-forward network?</summary>
#
# The parameters stay. The output is (B, 2T, D). The scores cost four times as much, the feed-forward network twice.
#
# </details>
#
# <details><summary>3. Which outputs change if you change token 3: in a feed-forward network, in batch norm during training, in a block whose mask hides token 3 from all others?</summary>
#
# In the feed-forward network, token 3 only. In batch norm, all tokens of the batch. In the block, token 3 only: no
# other token attends to it, but its own stream and its own query are still there.
#
# </details>
#
# <details><summary>4. Remove every norm and every ReLU, and fix the attention weights. Is the whole stack linear in post-norm, in pre-norm, or in both?</summary>
#
# In both, apart from the biases: without norms they are the same stack, and it consists of matrix products and sums.
#
# </details>
#
# ## Summary
#
# | part | shape | sees other tokens? | what it is for | parameters |
# |---|---|---|---|---|
# | attention | (B, T, D) → (B, T, D) | **yes** | moves information | 4(D² + D) if key_dim = D/H |
# | feed-forward | (B, T, D) → (B, T, F) → (B, T, D) | no | transforms it | 2DF + F + D |
# | residual stream | sum | no | keeps tokens apart, carries the gradient | 0 |
# | layer norm | each token, over D | no | one scale for every sub-layer | 2D |
# | dropout | output of a sub-layer, in training | no | regularisation | 0 |
#
# Nothing in this block knows the *order* of the tokens: [lecture 5](05_positional_encoding.ipynb). First build it
# yourself in [lab 4](../labs/04_encoder_block/04_encoder_block.ipynb).
#
# **Attention moves information between tokens, the feed-forward network transforms it, the residual stream carries
# it, and the norm keeps its scale.**
#
# ## References
#
# * A. Vaswani et al., *Attention is all you need*, NeurIPS 2017: sections 3.1, 3.3, 5.3, 5.4.
# * J. L. Ba, J. R. Kiros, G. E. Hinton, *Layer normalization*, 2016. S. Ioffe, C. Szegedy, *Batch normalization*,
#   ICML 2015. S. Santurkar et al., *How does batch normalization help optimization?*, NeurIPS 2018.
# * K. He et al., *Deep residual learning for image recognition*, CVPR 2016. A. Veit, M. Wilber, S. Belongie,
#   *Residual networks behave like ensembles of relatively shallow networks*, NIPS 2016.
# * Y. Dong, J.-B. Cordonnier, A. Loukas, *Attention is not all you need: pure attention loses rank doubly
#   exponentially with depth*, ICML 2021. L. Noci et al., *Signal propagation in Transformers: theoretical
#   perspectives and the role of rank collapse*, NeurIPS 2022.
# * N. Elhage et al., *A mathematical framework for Transformer circuits*, 2021. N. Srivastava et al., *Dropout*, JMLR 15, 2014. I. Tolstikhin et al., *MLP-Mixer*, NeurIPS 2021.
# * R. Xiong et al., *On layer normalization in the Transformer architecture*, ICML 2020. L. Liu et al.,
#   *Understanding the difficulty of training Transformers*, EMNLP 2020.
# * B. Zhang, R. Sennrich, *Root mean square layer normalization*, NeurIPS 2019. N. Shazeer, *GLU variants improve
#   Transformer*, 2020.
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# **The loss stays at the level of guessing:** a deep post-norm stack with a rate that is too large; or a sum that
# adds the normalised x. **NaN:** a rate far too high, a mask that blocks a whole row, float16 without loss scaling.
# **Two predictions differ:** `training=True` inside a `call`.
# **Too few parameters:** a shared norm, or a `tf.Variable` that Keras does not track.
#
# **Slow machine:** the trainings of sections 1 and 5 run here; the others are recorded. **GPU:** `python
# experiments/encoder_block.py rates` with 24 blocks.
#
# **Further reading:** A. Zhang et al., [*Dive into Deep Learning*](https://d2l.ai/), section 11.7. [Xiong et
# al.](https://arxiv.org/abs/2002.04745), sections 3 and 4. [Noci et al.](https://arxiv.org/abs/2206.03126).
#
# </details>

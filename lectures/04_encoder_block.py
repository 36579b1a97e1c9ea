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
# Write down your guess; section 2 measures exactly this stack.
#
# **Afterwards you can**
#
# * write the encoder block in ten lines and name the shape at every arrow;
# * compute a layer norm by hand;
# * say what attention, the sums and the norm are for, and what a run shows of each;
# * choose the position of the norm, and a learning rate that fits it;
# * load a published BERT into your own block, and check it number by number.
#
# **You need** [multi-head attention](03_multi_head_attention.ipynb), the chain rule, mean and variance. Letters:
# **B** batch, **T** tokens, **D** width of a token, **H** heads,
# **F** width inside the feed-forward network.
#
# **Time:** about 65 minutes to read and predict (estimated, not measured); the code runs in about one minute on two CPU cores.
#
# **A published model.** Section 8 fills your block with MiniLM: `data.published("minilm")` in a cell fetches it once (84 MB). Without it one cell of that section is left out. Read the stored outputs first: running overwrites them.

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
from keras import layers
from scipy.special import softmax

from coursekit import sorting, stacks
from coursekit.data.published_models import is_here
from coursekit.published import load_published
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
# colours. Which of them is its own it does not know yet.
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

# %% jupyter={"source_hidden": true} tags=["drawing"]
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
# (`glorot(width)` is Glorot's uniform start, written out: versions of Keras differ in how their attention starts.) The shape that goes in comes out, so blocks stack like bricks. Two of them, between an embedding of digit *and place* (lecture 5 says why it needs the place) and a last norm
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
# Now the stack of the opening question: twelve times attention, and a small network behind it. No sums, and no norms: each layer *replaces* the token. Nothing is trained. Random tokens go up. We multiply the output by random numbers, add everything up, and follow the gradient of this sum back down.

# %% [markdown]
# **Predict.** In the upper blocks, which gradient dies: that of the query matrix $W_q$, that of the value matrix $W_v$, or both?
#
# - (a) both: a gradient shrinks from block to block
# - (b) that of $W_q$ only
# - (c) neither
#
# <details><summary>Answer</summary>
#
# **(b)** The gradient of $W_v$ has about the same size in all blocks. That of $W_q$ is 0 from block 4 on, but for the rounding of float32 (blocks are counted from 0).
#
# </details>

# %%
versions = {
    "the stack of the question": {"residual": False, "norm": "none"},
    "with norms": {"residual": False},
    "with norms and sums": {},
}
measured = {name: [stacks.at_the_start(12, seed, **how) for seed in (1, 2, 3)] for name, how in versions.items()}
print(f"{'':35} block 0         1         2         4        11")
for name, seeds in measured.items():
    for label, what in {"cosine of two tokens": "cosine", "size of the numbers": "size", "largest weight": "largest", "gradient of W_q": "query", "gradient of W_v": "value"}.items():
        values = np.median([getattr(seed, what)[-12:] for seed in seeds], axis=0)  # (12 blocks,)
        print(f"{name if what == 'cosine' else '':26}{label:21}", *(f"{value:9.{3 if what == 'largest' else 2}g}" for value in values[[0, 1, 2, 4, 11]]))

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, panels = plt.subplots(1, 2, figsize=(10, 3.4))
for line, (name, seeds) in enumerate(measured.items()):
    plots.measured_curve(range(13), [seed.cosine for seed in seeds], label=name, line=line, ax=panels[0])
    plots.measured_curve(range(1, 13), [np.maximum(seed.query, 1e-12) for seed in seeds], label=name, line=line, ax=panels[1])
panels[0].set(xlabel="after block (0: the input)", ylabel="cosine of two tokens", ylim=(-0.05, 1.05))
panels[1].set(xlabel="block", ylabel="norm of the gradient of $W_q$", yscale="log", ylim=(3e-13, 3))
panels[1].text(7.5, 2.2e-12, "0 is drawn here", fontsize=8, ha="center")
panels[0].legend(fontsize=8, loc="lower right")
plots.show(
    figure,
    alt="""Without sums all tokens become one vector, and then the query matrix gets no gradient. Left: the mean cosine of two tokens by block, three stacks.
It reaches 1 after two blocks in the stack of the question and after three with norms; with norms and sums it rises slowly. Right, on a logarithmic scale, the gradient of the query matrix: without sums it falls within five blocks
to 0 or to the rounding of float32, and by a factor of ten with norms and sums.""",
)

# %% [markdown]
# There is your answer: **the difference between the tokens fails first.** After *two* blocks the mean cosine of two tokens is 1: eight tokens, one vector. The gradient of $W_q$ goes with it: from block 4 on only rounding errors are left. The scale fails too, but slowly: the numbers shrink to 0.002 in twelve blocks.
#
# Why? Attention averages tokens, and an average lies between what it averages. After the first block the numbers are small, so the scores are, and the weights of the second are nearly equal: the largest of a row is 0.135 on average, equal weights have 0.125. Each token gets nearly the same mean: **rank collapse** (Dong et al., 2021). Then the weights of the average do not matter any more, and $W_q$ and $W_k$, which only make weights, get no gradient. Values still pass, so $W_v$ gets one.
#
# Now the control. Take the networks out of the same stack, and then the attention:

# %%
for parts in ("attention and network", "attention", "network"):
    seeds = [stacks.at_the_start(12, seed, residual=False, norm="none", parts=parts) for seed in (1, 2, 3)]
    cosine = np.median([seed.cosine for seed in seeds], axis=0)
    print(f"{parts:22} cosine after 0, 1, 2, 3, 12 blocks:", *(f"{value:.2f}" for value in cosine[[0, 1, 2, 3, 12]]))

# %% [markdown]
# Attention alone is as fast as both together: 1.00 after two blocks. The networks alone make tokens alike, too, but slowly: 0.45 after two blocks, 0.93 after twelve. So in this stack it is the attention that makes one vector of all tokens.
#
# Norms alone do not help: with them the collapse takes three blocks in place of two. Here is how well stacks with norms learn to sort in 250 steps at the rate 0.003 ([evidence](evidence/04.ipynb#without-residual)):

# %% jupyter={"source_hidden": true} tags=["setup"]
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
# Two blocks still learn without the sums, though less well: at depth two a start with the cosine 0.99 does not forbid learning. Twelve learn nothing at this rate and hardly anything at 0.001 (10 to 16 %). A smaller rate or a warm-up, which save the post-norm stack of section 6, were not tried. Guessing gives 10 %, and whoever knows only the position, not the digits, gets 34 %.
#
# With the sums the cosine rises slowly, to 0.76 after twelve blocks. The sum keeps what each token was, and it gives the gradient a direct path: the derivative of $x + f(x)$ is $1 + f'(x)$. A stack with sums is a sum over many paths ([evidence](evidence/04.ipynb#paths)).
#
# **Where all tokens are alike, attention has nothing to learn from (Noci et al., 2022); the residual stream keeps them apart for longer.**

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
# $1/\sqrt{1 + 1/9} = 0.949$. In the figure, with γ = 1 and β = 0, make the token a thousand times smaller: the bars shrink.
#
# </details>

# %%
norm = layers.LayerNormalization(epsilon=1e-6)
norm.build((None, 4))
norm.set_weights([np.array([1, 1, 3, 2]), np.array([0, 1, 0, 0])])  # γ and β
print("the token, with γ and β:", np.asarray(norm(np.array([[0.0, 6, 6, 8]])))[0])
live.layer_norm([0, 6, 6, 8])  # begins with γ = 1 and β = 0 for every feature: there y is x̂

# %% [markdown]
# <details><summary>How a gradient comes back through the norm</summary>
#
# Let $g_i$ be the gradient that arrives at $\hat x_i$: γ times that of $y_i$. A small change of one feature $x_j$ takes three paths.
#
# 1. Directly: $\hat x_j$ grows by $dx_j/\sigma$. This path gives $g_j/\sigma$.
# 2. Through the mean: μ grows by $dx_j/D$, and every $\hat x_i$ falls by $dx_j/(D\sigma)$. This path gives $-\operatorname{mean}(g)/\sigma$.
# 3. Through the deviation: $2\sigma\,d\sigma = 2\,(x_j-\mu)\,dx_j/D$, so $d\sigma = \hat x_j\,dx_j/D$, and every $\hat x_i$ changes by $-\hat x_i\,d\sigma/\sigma$. This path gives $-\hat x_j\operatorname{mean}(g\,\hat x)/\sigma$.
#
# The gradient with respect to $x_j$ is the sum, $\big(g_j - \operatorname{mean}(g) - \hat x_j \operatorname{mean}(g\,\hat x)\big)/\sigma$, with σ for $\sqrt{\sigma^2+\varepsilon}$.
#
# </details>
#
# What is it for? Leave it out, keep the residual stream, and look at the attention of twelve untrained blocks: how large
# is the largest weight of a row, on average?

# %% jupyter={"source_hidden": true} tags=["setup"]
for name, kind in {"without a norm": "none", "with the norm ": "pre"}.items():
    seeds = [stacks.at_the_start(12, seed, norm=kind) for seed in (1, 2, 3)]
    weight = np.median([seed.largest for seed in seeds], axis=0)[[0, 3, 7, 11]]
    size = np.median([seed.size for seed in seeds], axis=0)[[0, 4, 8, 12]]
    print(f"{name}: largest weight in blocks 0, 3, 7, 11: {weight.round(2)}   size after 0, 4, 8, 12 blocks: {size.round(1)}")
print(
    "trained to sort, 12 blocks, no norm:",
    *(f"{share:.0%}" for share in runs["parts"]["no norm, 12 blocks"]["0.003"]["correct"]),
    "correct",
)

# %% [markdown]
# Without a norm, the larger the tokens are, the more a block adds to them: every four blocks make their size, the standard deviation of the features, five to eight times as large. Scores grow with the *square* of that size, and soon each softmax puts nearly all its weight on one token: lecture 2's saturation again. The norm hands every sub-layer tokens of one size. Trained to sort at the rate 0.003, two blocks without a norm reach 99.9 to 100 %, and twelve 15 to 48 % within 250 steps; at 0.001 the twelve reach 20 to 27 %. At these two rates, then, twelve blocks need it; smaller ones were not tried.
#
# **Batch norm** (Ioffe and Szegedy, 2015) uses the same formula over another set of numbers: one feature, all tokens of all sentences. In training a token's output then depends on the other sentences of the batch, and on their padding. On sorting, where all lists are equally long, twelve blocks learn with batch norm, too ([evidence](evidence/04.ipynb#batch-norm)).

# %% jupyter={"source_hidden": true} tags=["drawing"]
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
# The network is *position-wise*: the same two matrices serve every token, and no token sees another. Without the ReLU the two matrices would be one: $(xW_1 + b_1)W_2 + b_2$ $= x(W_1W_2) + (b_1W_2 + b_2)$. With it, each hidden feature can bend a curve at one point ([evidence](evidence/04.ipynb#bends)). For *fixed* attention weights, ReLU and the norms are the only parts of the block that are not linear.
#
# So a block mixes a table of T tokens by D features in both directions: attention along the tokens, the network along the features of each token. (Attention's matrices mix features, too.) To see it, nudge token $s$ and measure how far each output token moves. Nine random vectors are the tokens, and all parts are untrained. In the maps below each row is divided by its largest entry: compare within a row.

# %% jupyter={"source_hidden": true} tags=["drawing"]
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

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, panels = plt.subplots(1, 4, figsize=(11.5, 3.2))
for ax, (name, part) in zip(panels, shown.items(), strict=True):
    reach = np.linalg.norm(np.asarray(part(nudged)) - np.asarray(part(start[None])), axis=-1).T  # (T out, T in)
    plots.matrix_map(
        reach / reach.max(axis=1, keepdims=True),
        rows=[str(number) for number in range(9)] if ax is panels[0] else None,
        columns=[str(number) for number in range(9)],
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
# **Only attention mixes tokens; the feed-forward network mixes the features of one token.**

# %% [markdown]
# <a id="dropout"></a>
#
# ## 5 · Dropout
#
# A large model may learn its examples by heart and be worse on new ones: **overfitting**. **Dropout** (Srivastava et al., 2014), a **regularisation** against it, sets each number to 0 with probability p, and divides the others by 1 − p, so that the expected value stays. With p = 0.5, the token (2, 4, 6, 8) may become (4, 0, 0, 16).
#
# In the block it acts on the output of each sub-layer, before the sum, and never on the stream itself. At inference it does nothing: the argument `training` of a layer's call decides. In the block above, which has none, the line would be `y = x + layers.Dropout(0.1)(attention(query=normed, value=normed))`.
#
# **Dropout is noise, and in training only.**

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

# %% jupyter={"source_hidden": true} tags=["drawing"]
steps = range(25, 251, 25)
constant = {"post-norm, 0.003": ("post-norm", "0.003"), "post-norm, 0.001": ("post-norm", "0.001"), "post-norm, 0.0003": ("post-norm", "0.0003"), "pre-norm, 0.003": ("pre-norm", "0.003")}
warmed = {"100 steps of warm-up to 0.003": "0.003, warm-up", "1 full step first": "1 full step, then the warm-up", "10 full steps first": "10 full steps, then the warm-up"}
figure, panels = plt.subplots(1, 2, figsize=(10.5, 4.1), sharey=True)
for line, (label, (order, rate)) in enumerate(constant.items()):
    plots.measured_curve(steps, runs["rates"][order][rate]["losses"], label=label, line=line, ax=panels[0])
for line, (label, rate) in enumerate(warmed.items()):
    plots.measured_curve(steps, runs["rates"]["post-norm"][rate]["losses"], label=label, line=line + 4, ax=panels[1])
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
# At 0.003 all three seeds stay at the level of guessing. At 0.0003 all of them learn, about as well as with the warm-up; at 0.001 two of three do. One step at the full rate before the warm-up already delays some seeds; after ten, none recovers within 250 steps. Pre-norm learns at both rates that we tried, 0.003 and 0.001.
#
# Why does post-norm need this? Xiong et al. (2020) blame large gradients near the output. Liu et al. (2020) find that a small change of its parameters changes its output more. Our two stacks also start differently: after twelve post-norm blocks the cosine of two tokens is 0.99, close to the collapse of section 2, against 0.76 in pre-norm ([evidence](evidence/04.ipynb#start)). That is a difference, not yet a reason: at 0.0003 the same start learns.
#
# **In our runs, deep post-norm needs a smaller rate or a warm-up; ten full steps at the start spoil it.**

# %% [markdown]
# <a id="newer-parts"></a>
#
# ## 7 · The block of today
#
# Language models of the LLaMA kind keep the pre-norm block and replace two of its parts. **RMSNorm** (Zhang and Sennrich, 2019) leaves out the mean: it divides by the root of the mean square. **SwiGLU** (Shazeer, 2020) widens each token twice, and one copy gates the other:
#
# $$ \operatorname{RMS}(x)_i = \gamma_i\,\frac{x_i}{\sqrt{\tfrac{1}{D}\sum_j x_j^2 + \varepsilon}}, \qquad \operatorname{SwiGLU}(x) = \big(\operatorname{silu}(xW_g)\odot xW_u\big)\,W_d, \qquad \operatorname{silu}(a)=\frac{a}{1+e^{-a}} $$
#
# No mean, no β, no biases, three matrices in place of two. With F cut to two thirds, the network has about as many parameters as before.

# %%
class RMSNorm(keras.Layer):
    """Divides each token by the root of its mean square, (B, T, D) to (B, T, D)."""

    def build(self, shape):
        self.gamma = self.add_weight(shape=shape[-1:], initializer="ones")

    def call(self, x):
        return self.gamma * x * keras.ops.rsqrt(keras.ops.mean(x * x, axis=-1, keepdims=True) + 1e-6)


def block_of_today(width, heads, hidden):
    """pre_norm_block with RMSNorm and SwiGLU, x (B, T, D) to (B, T, D)."""
    x = keras.Input((None, width))  # (B, T, D)
    normed = RMSNorm()(x)
    attention = layers.MultiHeadAttention(heads, width // heads, use_bias=False, kernel_initializer=glorot(width))
    y = x + attention(query=normed, value=normed)  # (B, T, D)
    normed = RMSNorm()(y)
    gate, up = (layers.Dense(hidden, use_bias=False)(normed) for _ in range(2))  # (B, T, F) each
    return keras.Model(x, y + layers.Dense(width, use_bias=False)(keras.ops.silu(gate) * up))  # (B, T, D)


# %% jupyter={"source_hidden": true} tags=["setup"]
for name, block in {"layer norm, ReLU": pre_norm_block(32, 4, 64), "RMSNorm, SwiGLU": block_of_today(32, 4, 43)}.items():
    print(f"{name:16} {block.count_params():,} parameters")


# %% [markdown]
# What is known of their worth comes from larger models: in a T5 model SwiGLU lowered the held-out log-perplexity from 1.677 to 1.636 (Shazeer, 2020, table 1), and with RMSNorm in place of layer norm whole models, some of them recurrent, took 7 to 64 % less time (Zhang and Sennrich, 2019, abstract).
#
# **RMSNorm and SwiGLU change two parts of the pre-norm block and leave its plan as it is: two sums around one stream.**

# %% [markdown]
# <a id="parameters"></a>
#
# ## 8 · A published BERT in your block
#
# Your post-norm block, with GELU in place of ReLU, *is* a block of BERT. GELU is a smooth ReLU, $x\,\Phi(x)$ with the normal distribution function Φ. Written as a layer, with names for its parts, it can take the numbers of a published model: **MiniLM** (Wang et al., 2020), six blocks with D = 384, F = 1,536 and twelve heads, trained further so that similar sentences get similar vectors (lecture 7 uses it).

# %%
class PlainFeedForward(keras.Layer):
    """Each token alone, (B, T, D) to (B, T, D), through a wider layer with GELU."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense_in, self.dense_out = keras.layers.Dense(d_ff, "gelu"), keras.layers.Dense(d_model)

    def call(self, x):
        wide = self.dense_in(x)  # (B, T, F)
        return self.dense_out(wide)


class PlainBertBlock(keras.Layer):
    """BERT's block: lecture 4's post-norm block with GELU in place of ReLU."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm="post"):
        super().__init__()
        self.attention = keras.layers.MultiHeadAttention(num_heads, d_model // num_heads)
        self.feed_forward = PlainFeedForward(d_model, d_ff)
        self.norm1, self.norm2 = (keras.layers.LayerNormalization(epsilon=1e-12) for _ in range(2))

    def call(self, x, attention_mask=None):  # (B, T, D), (B, 1, T)
        x = self.norm1(x + self.attention(query=x, value=x, attention_mask=attention_mask))
        return self.norm2(x + self.feed_forward(x))


# %% [markdown]
# **Calculate.** How many parameters does one such block have, with all biases: attention (`key_dim` = D/H), feed-forward network, two norms? And which share of them is in the feed-forward network?
#
# <details><summary>Answer</summary>
#
# Query, key, value and output: 4·(384·384 + 384) = 591,360. Feed-forward: 384·1,536 + 1,536 + 1,536·384 + 384 = 1,181,568. Norms: 2·2·384 = 1,536. Together 591,360 + 1,181,568 + 1,536 = 1,774,464. Two thirds of them are in the feed-forward network, as in every block with F = 4D.
#
# </details>

# %%
block = PlainBertBlock(384, 12, 1536)
block(np.zeros((1, 2, 384), "float32"))  # now it has weights
print(f"one block: {block.count_params():,}, of these {block.feed_forward.count_params() / block.count_params():.0%} feed-forward")


# %% [markdown]
# It fits. But pre-norm and post-norm, or ReLU and GELU, have the same shapes and names. Now fill six blocks, each matrix under its name: yours, one with ReLU and one with pre-norm. Compare with what the makers' own library (`sentence-transformers` 6.2.0) gives for the caption; its first twelve numbers stand in the cell. (`load_published` also names a dropout and a norm; `PlainBertBlock` has no such choice and ignores both.)

# %% jupyter={"source_hidden": true} tags=["setup"]
class WithReLU(PlainBertBlock):
    def __init__(self, *args, **settings):
        super().__init__(*args, **settings)
        self.feed_forward.dense_in.activation = keras.activations.relu


class WithPreNorm(PlainBertBlock):
    def call(self, x, attention_mask=None):
        normed = self.norm1(x)
        x = x + self.attention(query=normed, value=normed, attention_mask=attention_mask)
        return x + self.feed_forward(self.norm2(x))


# %%
published = [-0.020219, -0.067767, -0.015182, -0.003724, -0.006739, -0.045534, -0.082027, -0.100947, 0.083597, 0.01212, 0.036724, -0.002585]
if is_here("minilm"):
    for build in (PlainBertBlock, WithReLU, WithPreNorm):
        minilm = load_published(build, "minilm")
        off = np.abs(minilm([scenes.CAPTION])[0, :12] - published).max()
        print(f"{build.__name__:14} six blocks, {sum(block.count_params() for block in minilm.blocks):,} parameters; largest difference {off:.0e}")
else:
    print('MiniLM is not here, so this cell is left out. To fetch 84 MB, once: data.published("minilm")')

# %% [markdown]
# All three load without a word; only your block gives the published numbers. The others are off by about as much as those numbers are themselves, 0.1 at most.
#
# **Right shapes and names let published numbers load into your block; only the comparison of an output tells whether it computes what BERT does.**

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
# <details><summary><b>What this page does not show</b></summary>
#
# * Sections 2 and 3 measure fresh stacks of width 32, three seeds each. In a trained stack the parts may share the work differently.
# * All trainings are of one task, sorting, at 250 steps; a run that is at 26 % after 250 steps may learn later.
# * Why post-norm needs small first steps: two explanations are cited, none is tested here.
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
# | layer norm | each token, over D | no | one scale for every sub-layer | 2D; RMSNorm D |
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
#   ICML 2015.
# * K. He et al., *Deep residual learning for image recognition*, CVPR 2016. A. Veit, M. Wilber, S. Belongie,
#   *Residual networks behave like ensembles of relatively shallow networks*, NIPS 2016.
# * Y. Dong, J.-B. Cordonnier, A. Loukas, *Attention is not all you need: pure attention loses rank doubly
#   exponentially with depth*, ICML 2021. L. Noci et al., *Signal propagation in Transformers: theoretical
#   perspectives and the role of rank collapse*, NeurIPS 2022.
# * N. Elhage et al., *A mathematical framework for Transformer circuits*, 2021. N. Srivastava et al., *Dropout*, JMLR 15, 2014.
# * R. Xiong et al., *On layer normalization in the Transformer architecture*, ICML 2020. L. Liu et al.,
#   *Understanding the difficulty of training Transformers*, EMNLP 2020.
# * B. Zhang, R. Sennrich, *Root mean square layer normalization*, NeurIPS 2019. N. Shazeer, *GLU variants improve
#   Transformer*, 2020. W. Wang et al., *MiniLM*, NeurIPS 2020; the model is all-MiniLM-L6-v2, Apache licence 2.0.
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# **The loss stays at the level of guessing:** a deep post-norm stack with a rate that is too large; or a sum that
# adds the normalised x. **NaN:** a rate far too high, a mask that blocks a whole row, float16 without loss scaling.
# **Two predictions differ:** `training=True` inside a `call`.
# **Too few parameters:** a shared norm, or a `tf.Variable` that Keras does not track.
#
# **Slow machine:** the training of section 1 runs here; the others are recorded. **GPU:** `python
# experiments/encoder_block.py rates` with 24 blocks.
#
# **Further reading:** A. Zhang et al., [*Dive into Deep Learning*](https://d2l.ai/), section 11.7. [Xiong et
# al.](https://arxiv.org/abs/2002.04745), sections 3 and 4. [Noci et al.](https://arxiv.org/abs/2206.03126).
#
# </details>

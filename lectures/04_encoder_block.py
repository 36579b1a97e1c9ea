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
# *Attention mixes words. With four simple parts around it, it can be stacked twelve times.*
#
# [← 3 · Multi-head attention](03_multi_head_attention.ipynb) · [Lab
# 4](../labs/04_encoder_block/04_encoder_block.ipynb) · [5 · Positional encoding →](05_positional_encoding.ipynb)
#
# **Afterwards you can**
#
# * draw the block and name the shape at every arrow;
# * say what residual paths, layer norm, the feed-forward network and dropout are for, with a measurement for each;
# * compute a layer norm and an RMSNorm by hand;
# * choose between post-norm and pre-norm;
# * count the block's parameters to the last one.
#
# **You need** [multi-head attention](03_multi_head_attention.ipynb), the chain rule, mean and variance. **Time:**
# about 90 minutes to read and predict; the code runs in about two minutes on two CPU cores.
#
# Answer each **Predict** before you run the cell below it. Letters: **B** batch, **T** tokens, **D** width of a token
# (`d_model`), **H** heads, **F** width inside the feed-forward network (`d_ff`).

# %% tags=["course-setup"]
# Colab: install the course's helper package. Anywhere else this cell does nothing.
import sys

if "google.colab" in sys.modules:
    print("This notebook was not told where Colab finds the course's helper package: ask whoever gave it to you.")

# %%
from coursekit import diagrams, live, plots, quiet, recorded

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook
plots.use_course_style()

import math

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import layers

np.set_printoptions(precision=3, suppress=True)

# %% [markdown]
# ## 1 · The block in one picture
#
# You know one part of this picture, attention. The sections below explain the others one by one: residual paths, layer norm, the
# feed-forward network, dropout.

# %%
figure, ax = diagrams.canvas(9.2, 8.3)
diagrams.note(ax, 4.5, 0.35, "every arrow: (B, T, D)", fontsize=10)
for x, order, title in [(2.2, "post", "post-norm (2017 paper, BERT)"), (6.8, "pre", "pre-norm (GPT-2, ViT)")]:
    diagrams.encoder_block(ax, x, order)
    diagrams.note(ax, x, 8.1, title, fontsize=11)
plots.show(
    figure,
    alt="""Two block diagrams, bottom to top. Post-norm: x, multi-head attention, dropout, sum with x, layer norm,
feed-forward, dropout, sum, layer norm, output. Pre-norm: x, layer norm, attention, dropout, sum with x, layer norm,
feed-forward, dropout, sum, output. Grey residual paths lead around each sub-layer. Every arrow carries shape (B, T, D).
Inside attention the weights are (B, H, T, T), inside the feed-forward network the hidden features are (B, T, F).""",
)


# %% [markdown]
# Two **sub-layers**, attention and feed-forward, and around each the same frame. As formulas, with x of shape (B, T,
# D):
#
# | | first sub-layer | second sub-layer |
# |---|---|---|
# | **post-norm** | y = LN(x + Dropout(Attention(x))) | z = LN(y + Dropout(FFN(y))) |
# | **pre-norm** | y = x + Dropout(Attention(LN(x))) | z = y + Dropout(FFN(LN(y))) |
#
# Shape in equals shape out, (B, T, D), so blocks can be stacked like bricks. The grey line that runs past the
# sub-layers is the **residual path**. In pre-norm it is a clean line from bottom to top; in post-norm every sum goes
# through a norm.
#
# ## 2 · What happens if we only stack attention
#
# Attention returns, for each token, an average of values. Take eight random tokens and send them through 16 freshly
# made attention layers, one after the other, with nothing in between.
#
# **Predict.** After 16 layers, how similar are two different tokens: what is the cosine of the angle between them?
#
# <details><summary>Answer</summary>
#
# Almost exactly 1. An average of tokens lies between them, so each layer pulls them together, and an average of
# averages is closer still. After a few layers all tokens of the sentence are the same vector up to its length: the
# sentence is lost. The effect has a name, **rank collapse** (Dong et al., 2021).
#
# </details>

# %%
def glorot(width):
    """Glorot's initialiser for attention as wide as its input, written out: Keras versions differ in how they start it."""
    limit = (3 / width) ** 0.5  # √(6 / (fan in + fan out))
    return keras.initializers.RandomUniform(-limit, limit)


def fresh_parts(depth, width=32, heads=4, hidden=64):
    """New random parts for `depth` blocks: an attention layer and a feed-forward network each."""
    feed = lambda: keras.Sequential([layers.Dense(hidden, activation="relu"), layers.Dense(width)])  # noqa: E731
    attention = lambda: layers.MultiHeadAttention(heads, width // heads, kernel_initializer=glorot(width))  # noqa: E731
    return [(attention(), feed()) for _ in range(depth)]


def mean_cosine(x):
    """Mean cosine between different tokens of each sentence; x (B, T, D)."""
    unit = x / np.linalg.norm(x, axis=-1, keepdims=True)  # (B, T, D)
    cosines = np.einsum("btd,bsd->bts", unit, unit)  # (B, T, T)
    length = x.shape[1]
    return float((cosines.sum() - len(x) * length) / (len(x) * length * (length - 1)))


# %%
DEPTH = 16
normalise = layers.LayerNormalization(center=False, scale=False, epsilon=1e-6)
kinds = ("attention alone", "with residual path", "with residual path and norm", "and with feed-forward")
similar = {name: np.zeros((3, DEPTH + 1)) for name in kinds}
for seed in range(3):
    keras.utils.set_random_seed(seed)
    alone = added = normed = whole = keras.random.normal((4, 8, 32))  # (B, T, D)
    for level, (attend, feed) in enumerate([(None, None), *fresh_parts(DEPTH)]):
        if attend is not None:
            alone = attend(query=alone, value=alone)  # (B, T, D)
            added = added + attend(query=added, value=added)  # (B, T, D)
            normed = normalise(normed + attend(query=normed, value=normed))  # (B, T, D)
            whole = normalise(whole + attend(query=whole, value=whole))  # (B, T, D)
            whole = normalise(whole + feed(whole))  # (B, T, D)
        for name, x in zip(similar, (alone, added, normed, whole), strict=True):
            similar[name][seed, level] = mean_cosine(np.asarray(x))

# %%
figure, ax = plt.subplots(figsize=(6.5, 3.3))
for line, (name, runs) in enumerate(similar.items()):
    plots.measured_curve(range(DEPTH + 1), runs, label=name, line=line, ax=ax)
ax.set(xlabel="attention layers passed", ylabel="mean cosine of two tokens", ylim=(-0.1, 1.05))
plots.show(
    figure,
    alt="""Mean cosine between two tokens by the number of attention layers passed, three runs each. With attention
alone it jumps from 0 to nearly 1 after two or three layers and stays there. With a residual path, with
a norm as well, and with a feed-forward network after each attention it rises more slowly.""",
)

# %%
# NBVAL_CHECK_OUTPUT
for name, runs in similar.items():
    middle = np.median(runs, axis=0)  # (DEPTH + 1,) of three runs
    print(f"{name:28} mean cosine after 2, 6 and 16 layers: {middle[2]:.2f} {middle[6]:.2f} {middle[16]:.2f}")

# %% [markdown]
# Two layers of bare attention make all tokens alike. With a residual path it takes many more layers, without any
# training. The norm makes no difference beyond the spread of the three runs, and a random feed-forward network does not
# help either: its curve lies highest of the three. (Dong et al. say the same of the norm. They find that feed-forward
# networks *can* help.) All this is measured with random weights. Trained attention can put nearly all its weight on one
# token, which is hardly an average any more. So attention alone does not make a deep network.
#
# ## 3 · Residual paths: a short way home for the gradient
#
# A layer with a residual path computes x + f(x) instead of f(x). Its derivative is **1 + f′(x)** instead of f′(x).
#
# **By hand.** Let every layer be f(x) = 0.5·x, and put 12 of them in a row. What is the derivative of the last output
# with respect to the first input, without and with residual paths? With them, on how many ways can the signal pass *two* layers?
#
# <details><summary>Answer</summary>
#
# Without: 0.5¹² = 0.000244. With: 1.5¹² = 129.7. The signal no longer vanishes. It grows instead, and that is one
# reason why a normalisation comes along: section 4.
#
# On four ways: through both layers, through one of them, or around both. Twelve layers have 2¹² = 4,096 ways. Where the layers are linear, as here, the derivative is the
# sum over all ways, 0.5ᵏ for a way through k layers; the short ones dominate it, as the next cell shows.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
for name, skip in {"without": 0, "with residual": 1}.items():
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        h = x
        for _ in range(12):
            h = skip * h + 0.5 * h
    print(f"{name:14} dy/dx = {float(tape.gradient(h, x)):.6f}")
share = np.array([math.comb(12, k) * 0.5**k for k in range(13)])  # what all ways through k layers add to it
print(f"sum over {2**12:,} ways {share.sum():.6f}; ways through at most 4 layers: {sum(math.comb(12, k) for k in range(5))}, with {share[:5].sum() / share.sum():.0%} of it")


# %% [markdown]
# Sixteen blocks of attention and feed-forward, fresh weights, and a random direction in which we want the output to
# move. We record the norm of the gradient at every depth, in four versions **of the same weights**.
#
# **Predict.** Without residual paths, by what factor is the gradient at the input smaller than at the output: 10,
# 1,000, a million? And with residual paths, but no norm?
#
# <details><summary>Answer</summary>
#
# By a factor between 1,000 and 10,000: each block takes away about two fifths. With residual paths and no norm it goes
# the other way: about a million times *larger* in the median of three seeds.
#
# </details>

# %%
def states_by_depth(x, parts, residual=True, order="none"):
    """The tokens (B, T, D) before the first block and after each one."""
    states = [x]
    for attend, feed in parts:
        for sub_layer in (lambda h, attend=attend: attend(query=h, value=h), feed):
            h = sub_layer(normalise(x) if order == "pre" else x)  # (B, T, D)
            x = x + h if residual else h
            x = normalise(x) if order == "post" else x
        states.append(x)
    return states


# %%
versions = {
    "no residual": {"residual": False},
    "residual, no norm": {},
    "residual, post-norm": {"order": "post"},
    "residual, pre-norm": {"order": "pre"},
}
gradients = {name: np.zeros((3, DEPTH + 1)) for name in versions}
sizes = {name: np.zeros((3, DEPTH + 1)) for name in versions}
for seed in range(3):
    keras.utils.set_random_seed(seed)
    parts = fresh_parts(DEPTH)
    x, direction = keras.random.normal((4, 8, 32)), keras.random.normal((4, 8, 32))  # (B, T, D)
    for name, settings in versions.items():
        with tf.GradientTape() as tape:
            tape.watch(x)
            states = states_by_depth(x, parts, **settings)
            loss = tf.reduce_sum(states[-1] * direction)
        norms = [float(tf.norm(gradient)) for gradient in tape.gradient(loss, states)]
        gradients[name][seed] = np.array(norms) / norms[-1]
        sizes[name][seed] = [float(tf.math.reduce_std(state)) for state in states]

# %%
figure, ax = plt.subplots(figsize=(6.8, 3.6))
for line, (name, runs) in enumerate(gradients.items()):
    plots.measured_curve(range(DEPTH + 1), runs, label=name, line=line, ax=ax)
ax.set(xlabel="block whose output we look at (0 = input)", ylabel="gradient norm, output = 1", yscale="log")
plots.show(
    figure,
    alt="""Gradient norm at each depth of sixteen blocks, relative to the output, on a logarithmic scale. Without
residual paths it falls in a straight line to less than a thousandth at the input. With residual paths and no norm it
rises to a million. With residual paths and norm, in either order, it stays within a factor of ten.""",
)

# %%
# NBVAL_CHECK_OUTPUT
for name, runs in gradients.items():
    factor = np.median(runs[:, 0])
    span = f"all depths and seeds: {runs.min():.1e} to {runs.max():.1e}"
    print(f"{name:20} at the input {factor:.1e} times that at the output; per block {factor ** (1 / DEPTH):.2f}; {span}")

# %% [markdown]
# **Without residual paths** the line is straight on the logarithmic scale: every block takes the same factor away. Per
# block it is 39 %: after 16 blocks about 1/2,900 is left, and after 32 it would be about a ten-millionth. The first
# blocks learn next to nothing. **A residual path alone** overshoots as in the calculation with 1.5¹²: what is added is
# as large as what was there, and it compounds: to about a million in the median of three seeds. **Residual path and
# norm together** keep the gradient within a factor of ten at every depth, in either order.
#
# Residual paths come from image networks, where they made the step from some twenty layers to 152 (He et al., 2016). Veit et al. (2016) read such a
# network as an **ensemble** of its many short ways: in their trained network, single layers could be removed with little damage. DenseNet (Huang et al., 2017) does
# not add what came before but appends it, so that each layer reads the outputs of all earlier ones.
#
# ## 4 · Layer norm: every token back to a common scale
#
# For one token x with D features, layer norm (Ba et al., 2016) does three things:
#
# 1. the mean over its features, μ = (1/D) Σ xᵢ, and the variance σ² = (1/D) Σ (xᵢ − μ)². Divided by D, not D − 1;
# 2. x̂ᵢ = (xᵢ − μ) / √(σ² + ε): mean 0, variance 1. The small ε keeps a constant token from dividing by 0;
# 3. yᵢ = γᵢ x̂ᵢ + βᵢ with a learned **scale** γ and **shift** β for each feature, the same for all tokens.
#
# **By hand.** Token (0, 6, 6, 8), γ = (1, 1, 3, 2), β = (0, 1, 0, 0), ε negligible. Compute μ, σ², x̂ and y.
#
# <details><summary>Answer</summary>
#
# μ = 20/4 = 5. Differences (−5, 1, 1, 3), squares 25 + 1 + 1 + 9 = 36, σ² = 36/4 = 9, σ = 3. x̂ = (−1.667, 0.333,
# 0.333, 1). y = (−1.667, 1.333, 1, 2). With D − 1 = 3 the variance would be 12: wrong by a third.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
token = np.array([0.0, 6.0, 6.0, 8.0])  # (D,)
gamma, beta = np.array([1.0, 1.0, 3.0, 2.0]), np.array([0.0, 1.0, 0.0, 0.0])  # (D,), (D,)
mu, variance = token.mean(), token.var()
x_hat = (token - mu) / np.sqrt(variance + 1e-6)  # (D,)
by_steps = gamma * x_hat + beta  # (D,)

norm = layers.LayerNormalization(epsilon=1e-6)
norm.build((None, 4))
norm.set_weights([gamma, beta])
by_keras = np.asarray(norm(token[None]))[0]  # (D,)
print(f"mean {mu:.0f}, variance {variance:.0f}, x_hat {x_hat.round(3)}")
print("by steps:", by_steps.round(3), " by keras:", by_keras.round(3))
print("the hand's (-1.667, 1.333, 1, 2):", np.allclose(by_steps, [-1.667, 1.333, 1, 2], atol=1e-3))

# %% [markdown]
# **Predict.** The token (0, 60, 60, 80), ten times as long: what is its x̂? And (20, 26, 26, 28)? Then make the token
# shorter: for which of 10⁻², 10⁻³ and 10⁻⁴ times (0, 6, 6, 8) is the largest entry of x̂ below 0.99, if ε = 10⁻⁶? Move the controls; those for γ and
# β change one feature of the output.
#
# <details><summary>Answer</summary>
#
# The first two have the same x̂ as before. Layer norm forgets the length and the mean of a token. If the network needs a scale, γ and β must bring it back. A token that is 10⁻ᵏ times as long has σ² = 9·10⁻²ᵏ, so its largest entry is
# $1/\sqrt{1 + 10^{2k - 6}/9}$: 0.999 for k = 2, 0.949 for k = 3, 0.287 for k = 4. So x̂ shrinks as soon as σ² is about as small as ε.
#
# </details>

# %%
live.layer_norm([0, 6, 6, 8])

# %% [markdown]
# ### Spot the mistake: where does ε go?
#
# Some texts write (x − μ) / (σ + ε). For ordinary tokens you cannot see the difference. Take a token whose features
# are nearly equal, say (1, 1.001, 1, 1.001) with ε = 0.001, and compare.

# %%
# NBVAL_CHECK_OUTPUT
flat = np.array([1.0, 1.001, 1.0, 1.001])  # (D,)
centred = flat - flat.mean()  # (D,)
keras_flat = np.asarray(layers.LayerNormalization(epsilon=1e-3)(flat[None]))[0]  # (D,)
print("epsilon added to the standard deviation:", (centred / (flat.std() + 1e-3)).round(3))
print("epsilon added to the variance (right)  :", (centred / np.sqrt(flat.var() + 1e-3)).round(3))
print("keras                                  :", keras_flat.round(3))

# %% [markdown]
# The first version blows noise of 0.0005 up to 0.333; the right one leaves it small, because √0.001 = 0.032 is the
# smallest divisor. It also matters when you copy weights between libraries: Keras's own default is ε = 0.001,
# PyTorch's 0.00001; this course uses 10⁻⁶.
#
# ### Which axis? Layer norm against batch norm
#
# **Batch norm** uses the same formula over another set of numbers. The pictures show a batch of three sentences,
# padded to the same length; coloured cells share one mean and one variance.

# %%
figure, panels = plt.subplots(2, 1, figsize=(7.2, 5))
titles = {"layer": "layer norm: one token, all its features", "batch": "batch norm: one feature, all tokens"}
for ax, (kind, title) in zip(panels, titles.items(), strict=True):
    diagrams.normalised_together(ax, [5, 3, 2], kind)
    ax.set_title(title)
plots.show(
    figure,
    alt="""Three sentences drawn as grids of tokens by features, padding hatched. Layer norm: one row of one
sentence is coloured. Batch norm: the same column is coloured in all three sentences, through the padding too.""",
)


# %% [markdown]
# With batch norm a token's output depends on the other sentences of the batch, and on the padding that their lengths require. Watch one sentence of five tokens. We put it into batches of eight whose longest sentence has L tokens,
# padded with zeros, and ask two questions: how far does **our** sentence's output move when its neighbours change,
# and how large are the normalised features of real tokens?
#
# **Predict.** Which norm's curve stays flat at zero? What happens to batch norm if it is told the padding mask?
#
# <details><summary>Answer</summary>
#
# Layer norm's. The mask takes the padding out of batch norm's statistics, but the other sentences stay in: it still
# moves, by less.
#
# </details>

# %%
def batch_around(ours, longest, rng):
    """Our sentence and seven others of 5 to `longest` tokens, padded with zeros; returns x (8, longest, D) and mask."""
    lengths = [len(ours), longest, *rng.integers(5, longest + 1, size=6)]
    x = np.zeros((8, longest, ours.shape[1]), "float32")  # (B, T, D)
    for row, length in enumerate(lengths):
        x[row, :length] = rng.normal(loc=1, size=(length, ours.shape[1]))
    x[0, : len(ours)] = ours
    return x, np.arange(longest) < np.array(lengths)[:, None]  # (B, T, D), (B, T)


# %%
lengths, repeats = [5, 8, 12, 20, 35, 60], 10
batch_norm = layers.BatchNormalization(epsilon=1e-6)
ours = np.random.default_rng(1).normal(loc=1, size=(5, 16)).astype("float32")  # (T, D)
moved = {name: np.zeros((repeats, len(lengths))) for name in ("batch norm", "batch norm, masked", "layer norm")}
scale = {name: np.zeros((repeats, len(lengths))) for name in moved}
x, mask = batch_around(ours, 5, np.random.default_rng(99))  # the neighbours to compare with: none of them comes again
outputs = (batch_norm(x, training=True), batch_norm(x, training=True, mask=mask), normalise(x))
reference = {name: np.asarray(output)[0, :5] for name, output in zip(moved, outputs, strict=True)}  # (5, D) each
for repeat in range(repeats):
    rng = np.random.default_rng(repeat)
    for column, longest in enumerate(lengths):
        x, mask = batch_around(ours, longest, rng)
        outputs = (batch_norm(x, training=True), batch_norm(x, training=True, mask=mask), normalise(x))
        for name, output in zip(moved, map(np.asarray, outputs), strict=True):
            moved[name][repeat, column] = np.linalg.norm(output[0, :5] - reference[name]) / np.linalg.norm(reference[name])
            scale[name][repeat, column] = output[mask].std()

# %%
figure, panels = plt.subplots(1, 2, figsize=(9.5, 3.5))
for line, name in enumerate(moved):
    plots.measured_curve(lengths, moved[name], label=name, line=line, ax=panels[0])
    plots.measured_curve(lengths, scale[name], label=name, line=line, ax=panels[1])
panels[0].get_legend().remove()  # the right one serves both
panels[0].set(xlabel="longest sentence in the batch", ylabel="relative change", title="output of the same five tokens")
panels[1].set(xlabel="longest sentence in the batch", ylabel="standard deviation", title="features of real tokens, normalised", ylim=(0, 1.3))
plots.show(
    figure,
    alt="""Left: how far the output of one sentence moves when the rest of its batch changes. Layer norm is zero
throughout, batch norm changes by tens of per cent, and masked batch norm by somewhat less. Right: standard
deviation of real tokens' features: 1 for layer norm and masked batch norm, drifting with the amount of padding for
plain batch norm.""",
)

# %%
# NBVAL_CHECK_OUTPUT
for name in moved:
    print(f"{name:20} moves by up to {moved[name].max():.0%}, features of real tokens: {scale[name][:, -1].mean():.2f}")

# %% [markdown]
# * **Batch norm** returns the *same five tokens* up to 84 % different, because the mean and the variance come from
#   all the sentences and from the padding. The zeros of the padding pull the statistics away from the real tokens,
#   whose features come out too large (right picture).
# * **Told the mask**, it leaves the padding out and the scale is right again. The neighbours still count: up to 37 %.
# * **Layer norm** does not move at all. It has nothing to do with the batch, and it computes the same in training and
#   at inference. Batch norm swaps its statistics for moving averages at inference, a third set of numbers.
#
# With images, where all inputs have one size and a batch holds thousands of pixels per feature, batch norm works
# well. With sentences of varying length layer norm is the safe choice.
#
# ## 5 · The feed-forward network: each token on its own
#
# After attention has fetched information, a small network works on it:
#
# $$ \mathrm{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2 \qquad W_1: (D, F),\quad W_2: (F, D) $$
#
# It is *position-wise*: the same two matrices for every token, and no token sees another.
#
# ### The same as two 1×1 convolutions
#
# The 2017 paper mentions it in one sentence of section 3.3. A convolution with kernel size 1 slides a window of a
# single token: it cannot see neighbours either.
#
# **Predict.** Dense has a kernel of shape (16, 64). What is the shape of the convolution's kernel?
#
# <details><summary>Answer</summary>
#
# (1, 16, 64): a window of one token, 16 channels in, 64 channels out. It holds the same numbers, so copied weights
# give equal outputs.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
keras.utils.set_random_seed(0)
x = keras.random.normal((2, 7, 16))  # (B, T, D)
dense_1, dense_2 = layers.Dense(64, activation="relu"), layers.Dense(16)
dense_output = dense_2(dense_1(x))  # (B, T, D) -> (B, T, F) -> (B, T, D)

conv_1, conv_2 = layers.Conv1D(64, kernel_size=1, activation="relu"), layers.Conv1D(16, kernel_size=1)
conv_2(conv_1(x))  # creates the kernels
for conv, dense in ((conv_1, dense_1), (conv_2, dense_2)):
    conv.set_weights([np.asarray(dense.kernel)[None], np.asarray(dense.bias)])  # (D, F) -> (1, D, F)
conv_output = conv_2(conv_1(x))  # (B, T, D)
print("kernel of the first convolution:", tuple(conv_1.kernel.shape))
print("equal outputs:", np.allclose(dense_output, conv_output, atol=1e-5))

# %% [markdown]
# ### The inverted bottleneck
#
# The paper's base model has D = 512 and F = 2,048: the network widens four times and comes back. Computer vision
# knows this shape as an **inverted bottleneck** (MobileNetV2). The classic ResNet bottleneck does the opposite:
# narrow inside, wide outside.

# %%
figure, ax = diagrams.canvas(8.6, 2.9)
shapes = [("ResNet bottleneck", [256, 64, 256], 0.9), ("feed-forward network", [512, 2048, 512], 5.4)]
for title, widths, left in shapes:
    drawn = []
    for step, width in enumerate(widths):
        height = 1.9 * width / 2048  # one scale for both
        role = "query" if step == 1 else "neutral"
        drawn.append(diagrams.box(ax, left + 1.15 * step, 1.2, "", role=role, width=0.5, height=height))
        diagrams.note(ax, left + 1.15 * step, 0.08, f"{width:,}")
    diagrams.arrow(ax, drawn[0], drawn[1])
    diagrams.arrow(ax, drawn[1], drawn[2])
    diagrams.note(ax, left + 1.15, 2.5, title, fontsize=11)
plots.show(
    figure,
    alt="""Widths as bars, both on one scale. ResNet bottleneck: 256, 64, 256, narrow in the middle. Feed-forward network:
512, 2,048, 512, wide in the middle.""",
)

# %% [markdown]
# Why wide inside? Each hidden feature with its ReLU can bend the function in one place. Below you see what one, two,
# three and eight of them can do at best. The hidden layer is also where most of the block's parameters sit: with F = 4D it
# has 8D² of them against 4D² in attention, two thirds of the block. Section 9 counts them.
#
# ### Why the non-linearity
#
# **Predict.** Remove the ReLU. What can the two layers compute that one layer cannot?
#
# <details><summary>Answer</summary>
#
# Nothing: (x W₁ + b₁) W₂ + b₂ = x (W₁W₂) + (b₁W₂ + b₂), one linear layer. The 2,048 in the middle would be for
# nothing.
#
# </details>
#
# How close can a network 1 → F → 1 come to the curve sin(2x)? To see what it *can* do, and not how lucky a training run
# is, we do not train it. We try 4,000 random choices of the first layer, solve for the best second layer by least squares
# each time, and keep the best result.
#
# **Predict.** F = 64 without ReLU, and F = 1, 2, 3 and 8 with ReLU: which of them follow the whole wave?

# %%
grid = np.linspace(-2, 2, 200)[:, None]  # (200, 1): 200 tokens of width 1
wave = np.sin(2 * grid)  # (200, 1)


def best_fit(hidden, relu, draws=4000):
    """The best of `draws` networks 1 → F → 1 with a random first layer and the best second layer for it."""
    rng = np.random.default_rng(hidden)
    best, smallest = None, np.inf
    for _ in range(draws):
        slopes, kinks = rng.choice([-1.0, 1.0], size=hidden), rng.uniform(-2, 2, size=hidden)  # (F,) each
        features = slopes * (grid - kinks)  # (200, F)
        features = np.concatenate([np.maximum(features, 0) if relu else features, np.ones_like(grid)], axis=1)
        second, *_ = np.linalg.lstsq(features, wave, rcond=None)  # (F + 1, 1)
        error = np.mean((features @ second - wave) ** 2)
        if error < smallest:
            best, smallest = features @ second, error
    return best, smallest


fits = {"linear, F = 64": best_fit(64, relu=False, draws=1)}
fits |= {f"ReLU, F = {hidden}": best_fit(hidden, relu=True) for hidden in (1, 2, 3, 8)}

# %%
# NBVAL_CHECK_OUTPUT
for name, (_, error) in fits.items():
    print(f"{name:15} error {error:.3f}")

# %%
figure, ax = plt.subplots(figsize=(6.8, 3.4))
ax.plot(grid, wave, color=diagrams.PALETTE["residual"], linewidth=5, alpha=0.6, label="target")
for style, (name, (fit, _)) in zip(plots.LINES, fits.items(), strict=False):
    ax.plot(grid, fit, **{**style, "marker": None}, label=name)
ax.set(xlabel="x", ylabel="sin(2x)")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plots.show(
    figure,
    alt="""Best fits of sin(2x). Without ReLU the fit is a straight line although 64 hidden features are there. With one
ReLU it is a line with one kink, with two a line with two kinks; with three it follows the wave in straight pieces, and with
eight it can hardly be told from the target.""",
)

# %% [markdown]
# With one kink the best fit is hardly better than the straight line; with three the error is below 0.01, and with eight
# it is gone to three decimals. Training may end far from these fits, for instance when a unit is negative for every
# input and gets no gradient any more.
#
# A linear network can only draw a straight line, however wide it is. Attention does not change that: for given weights it is linear in its values. Apart from the softmax and the norms, ReLU is the only part of the block that is not linear.
#
# ## 6 · Dropout: noise that is only there in training
#
# With rate p, each number is set to 0 with probability p, and the survivors are divided by 1 − p, so that the
# expected value stays what it was.
#
# **By hand.** The row (2, 4, 6, 8), p = 0.5, and the coin keeps the first and the last. What comes out in training?
# At inference?
#
# <details><summary>Answer</summary>
#
# (4, 0, 0, 16) in training: the survivors are divided by 0.5. At inference (2, 4, 6, 8): dropout does nothing.
#
# </details>

# %%
keras.utils.set_random_seed(1)
dropout = layers.Dropout(0.5)
row = np.array([[2.0, 4.0, 6.0, 8.0]], "float32")  # (1, D)
draws = np.concatenate([dropout(row, training=True) for _ in range(6)])  # (6, D)
rows = [*(f"training, draw {i + 1}" for i in range(6)), "mean of 5,000 draws", "inference"]
mean = np.asarray(dropout(np.repeat(row, 5000, axis=0), training=True)).mean(axis=0, keepdims=True)  # (1, D)
table = np.concatenate([draws, mean, dropout(row, training=False)])  # (8, D)
ax = plots.matrix_map(table, rows=rows, columns=["x₁", "x₂", "x₃", "x₄"], digits=1, title="dropout 0.5 of (2, 4, 6, 8)")
plots.show(
    ax,
    alt="""Table. Six training draws in which each entry is either 0 or twice the input; their mean over 5,000 draws
is close to 2, 4, 6, 8; at inference exactly 2, 4, 6, 8.""",
)

# %% [markdown]
# In the block, dropout stands on each **sub-layer's output, before the sum** (section 5.4 of the paper, p = 0.1;
# there is one more below the stack, on the sum of embeddings and positions). The residual path itself is never
# dropped.
#
# **Predict.** Suppose somebody puts it after the sum instead. There are 12 blocks, so 24 sums. What is the chance
# that a given feature of a token gets from bottom to top of the residual path without being erased?
#
# <details><summary>Answer</summary>
#
# 0.9²⁴ = 0.08. Twelve of thirteen features lose their short way home somewhere.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
keras.utils.set_random_seed(0)
drop = layers.Dropout(0.1)
stream = tf.ones((1000, 32))  # (tokens, D)
for _ in range(24):
    stream = drop(stream, training=True)
print(f"survive 24 dropouts on the residual path: {float(tf.reduce_mean(tf.cast(stream > 0, 'float32'))):.2f}")
print(f"calculated: {0.9**24:.2f}")

# %% [markdown]
# Whether dropout is on is decided by the argument `training` of a layer's call. Keras 3 hands it down to inner layers
# by itself, but only as long as each layer is called as a layer and nobody overrides it. The lab's contract is to
# pass it on explicitly: `self.dropout1(h, training=training)`.
#
# ## 7 · One block, step by step
#
# All parts on one small batch. Post-norm, as in the paper. Follow the shapes.

# %%
# NBVAL_CHECK_OUTPUT
keras.utils.set_random_seed(4)
width, hidden, heads = 32, 64, 4
attend = layers.MultiHeadAttention(heads, width // heads)
widen, narrow = layers.Dense(hidden, activation="relu"), layers.Dense(width)
norm_a, norm_b = layers.LayerNormalization(epsilon=1e-6), layers.LayerNormalization(epsilon=1e-6)
drop_a, drop_b = layers.Dropout(0.1), layers.Dropout(0.1)

x = 5 * keras.random.normal((2, 7, width))  # (B, T, D)
mask = np.arange(7) < np.array([[7], [4]])  # (B, T): the second sentence has 4 tokens
h = attend(query=x, value=x, attention_mask=mask[:, None, :])  # mask (B, 1, S) -> h (B, T, D)
y = norm_a(x + drop_a(h, training=False))  # (B, T, D)
h = narrow(widen(y))  # (B, T, D) -> (B, T, F) -> (B, T, D)
z = norm_b(y + drop_b(h, training=False))  # (B, T, D)
for name, value in {"x": x, "y": y, "z": z}.items():
    value = np.asarray(value)
    print(f"{name} {value.shape}: token 0 has mean {abs(value[0, 0].mean()):.1f}, variance {value[0, 0].var():.1f}")

# %% [markdown]
# Which token can reach which? We make seven copies of a sentence, nudge token s a little in copy s, and measure how
# far each output token moves. Dark means "this input token has a say in that output token". The last two tokens are
# padding, and attention's mask hides them.
#
# **Predict.** Which of the four pictures are diagonal? What stands in the two masked columns of attention?
#
# <details><summary>Answer</summary>
#
# Layer norm and feed-forward are diagonal: each token on its own. The masked columns are empty except on the
# diagonal: a padding token is not attended to, but it asks, with a query of its own.
#
# </details>

# %%
x = np.asarray(keras.random.normal((7, width)))  # (T, D)
nudged = np.repeat(x[None], 7, axis=0)  # (7 copies, T, D)
nudged[np.arange(7), np.arange(7)] += 0.01 * np.asarray(keras.random.normal((7, width)))
mask = (np.arange(7) < 5)[None, None, :]  # (1, 1, S)
parts = {"attention": lambda x: attend(query=x, value=x, attention_mask=mask), "layer norm": norm_a, "feed-forward": lambda x: narrow(widen(x))}
parts["whole block"] = lambda x: norm_b(parts["feed-forward"](norm_a(x + parts["attention"](x))))
figure, panels = plt.subplots(1, 4, figsize=(11, 3))
for ax, (name, part) in zip(panels, parts.items(), strict=True):
    move = np.asarray(part(nudged)) - np.asarray(part(x[None]))  # (7 copies, T, D)
    reach = np.linalg.norm(move, axis=-1).T  # (T out, T in)
    numbers = ["0", "1", "2", "3", "4", "pad", "pad"]
    shares = reach / reach.max(axis=1, keepdims=True).clip(1e-9)  # each row's largest entry is 1
    plots.matrix_map(shares, rows=numbers, columns=numbers, values=False, title=name, ax=ax)
    others = shares[~np.eye(7, dtype=bool)].max()
    print(f"{name:12} largest entry off the diagonal {others:.2f}, from the padding {shares[:5, 5:].max():.2f}")
    ax.set(xlabel="input token", ylabel="output token" if ax is panels[0] else "")
plots.show(
    figure,
    alt="""Four maps of seven output tokens by seven input tokens. Attention: full columns for the five real tokens; the
last two columns are empty except on the diagonal. Layer norm and feed-forward: only the diagonal. Whole block: a strong diagonal and weak
full columns for the five real tokens; the last two columns are empty except on the diagonal.""",
)

# %% [markdown]
# Each row is drawn on a scale of its own: its largest entry is black. Attention is the only part with entries off the
# diagonal. Beside the diagonal, a row is paler in the whole block than in attention alone: the residual path keeps each token's
# own content. **Attention moves information between tokens; everything else works on each token alone.**
#
# ## 8 · Post-norm or pre-norm?
#
# Stack N blocks, each with **its own** weights. In post-norm every block ends in a norm. In pre-norm nothing
# normalises the residual path: each sub-layer adds to it, and it grows. We recorded the size of the tokens in section
# 3.
#
# **Predict.** In pre-norm each sub-layer adds roughly the same variance. How does the *standard deviation* of the
# tokens grow with depth: constant, like √depth, or like 2^depth?
#
# <details><summary>Answer</summary>
#
# Like √depth: the variances of unrelated numbers add up, and the standard deviation is the root of the variance.
#
# </details>

# %%
weight_gradients = {order: np.zeros((3, DEPTH)) for order in ("post", "pre")}
for seed in range(3):
    keras.utils.set_random_seed(seed)
    parts = fresh_parts(DEPTH)
    x, direction = keras.random.normal((4, 8, 32)), keras.random.normal((4, 8, 32))  # (B, T, D)
    states_by_depth(x, parts)  # creates the weights
    kernels = [feed.layers[-1].kernel.value for _, feed in parts]  # W₂ of each block, (F, D)
    for order, results in weight_gradients.items():
        with tf.GradientTape() as tape:
            output = normalise(states_by_depth(x, parts, order=order)[-1])  # (B, T, D)
            loss = tf.reduce_mean(output * direction)
        results[seed] = [float(tf.norm(gradient)) for gradient in tape.gradient(loss, kernels)]

# %%
figure, panels = plt.subplots(1, 2, figsize=(9.5, 3.5))
for line, order in enumerate(["post", "pre"]):
    size = sizes[f"residual, {order}-norm"]
    plots.measured_curve(range(DEPTH + 1), size, label=f"{order}-norm", line=line, ax=panels[0])
    plots.measured_curve(range(1, DEPTH + 1), weight_gradients[order], label=f"{order}-norm", line=line, ax=panels[1])
depths = np.arange(DEPTH + 1)
growth = np.median(sizes["residual, pre-norm"][:, -1] ** 2 - 1) / DEPTH
panels[0].plot(depths, np.sqrt(1 + growth * depths), color=diagrams.PALETTE["ink"], linestyle=":", label="√(1 + c · depth)")
panels[0].legend()
panels[0].set(xlabel="blocks passed", ylabel="standard deviation", title="size of the tokens", ylim=(0, None))
panels[1].set(xlabel="block", ylabel="gradient norm", title="gradient of W₂ in each block", ylim=(0, None))
plots.show(
    figure,
    alt="""Left: standard deviation of the tokens by depth: constant at 1 in post-norm, growing like the square root
of depth in pre-norm. Right: norm of the gradient of the feed-forward network's second matrix in each of sixteen
blocks. Pre-norm's falls from the first block to the last; post-norm's has a wide band and no such trend.""",
)

# %% [markdown]
# **Left.** Variances add up, so the standard deviation grows like √depth: to above 4 after 16 blocks. Hence a rule: *a
# pre-norm stack ends with one more layer norm*.
#
# **Right.** The gradient that a block's own weights receive at the start of training. The next cell prints three places
# of this curve, and two of the left one.

# %%
# NBVAL_CHECK_OUTPUT
for block in (1, 6, 16):
    post, pre = (weight_gradients[order][:, block - 1] for order in ("post", "pre"))  # (3 seeds,) each
    print(f"block {block:2}: post-norm {post.min():.3f} to {post.max():.3f}, pre-norm {pre.min():.3f} to {pre.max():.3f}")
for order in ("post", "pre"):
    ends = sizes[f"residual, {order}-norm"][:, [4, 16]]  # (3 seeds, 2)
    print(f"{order}-norm, tokens after 4 and 16 blocks, median: {np.median(ends, axis=0).round(1)}")


# %% [markdown]
# In the last block the gradient of post-norm is about three times that of pre-norm. In the first block pre-norm's is the
# larger one, and post-norm's varies by a factor of three between seeds in blocks 1 and 6. Xiong et al. (2020) prove it for the last layer: at initialisation
# its gradient is large in post-norm, whatever the depth, and falls like $1/\sqrt{\text{depth}}$ in pre-norm. They conclude
# that a full learning rate from the first step is too much for post-norm.
#
# ### Trained side by side
#
# A task that needs every token: **sort**. Input: eight random digits; output: the same digits in rising order, one per
# position. The model: token and position embeddings (lecture 5), twelve blocks of width 32, a Dense layer to ten
# digits. By hand: 10·32 digits, 8·32 places, 12 blocks of 8,544, and 330 in the last layer make 103,434; pre-norm has
# 64 more for its final norm. Three runs from the same seed, all with Adam at a learning rate of 0.003: post-norm,
# post-norm with a **warm-up** (the rate climbs from 0 over the first 100 steps), and pre-norm.
#
# **Predict.** Which of the three are below half of the starting loss after 250 steps?
#
# <details><summary>Answer</summary>
#
# Pre-norm, early; post-norm with warm-up, later; post-norm without warm-up does not get there.
#
# </details>

# %%
def layer_norm():
    return layers.LayerNormalization(epsilon=1e-6)


def relu_network(width):
    return keras.Sequential([layers.Dense(2 * width, activation="relu"), layers.Dense(width)])  # (…, D) -> (…, D)


def sorting_model(depth, order, norm=layer_norm, network=relu_network, width=32, heads=4):
    """Eight digits in, scores for eight digits out; the blocks are post-norm or pre-norm, with any norm and any network."""

    def before(x):
        return norm()(x) if order == "pre" else x

    def after(x):
        return norm()(x) if order == "post" else x

    digits = keras.Input((8,), dtype="int32")
    places = keras.ops.cumsum(keras.ops.ones_like(digits), axis=1) - 1  # (B, T): 0 to 7 in every row
    x = layers.Embedding(10, width)(digits) + layers.Embedding(8, width)(places)  # (B, T, D)
    for _ in range(depth):
        attend = layers.MultiHeadAttention(heads, width // heads, kernel_initializer=glorot(width))
        h = before(x)  # (B, T, D)
        x = after(x + attend(query=h, value=h))  # (B, T, D)
        x = after(x + network(width)(before(x)))  # (B, T, D)
    return keras.Model(digits, layers.Dense(10)(before(x)))  # (B, T, 10); in pre-norm before() is the final norm


# %%
BLOCKS, STEPS, PEAK = 12, 250, 3e-3
digits = np.random.default_rng(0).integers(0, 10, size=(64 * STEPS, 8))  # (steps · B, T)


def learner(model):
    """Return the model, its Adam, and one step of training: (ids (B, T), sorted ids (B, T)) -> loss, share of right digits."""
    adam = keras.optimizers.Adam(PEAK)
    adam.build(model.trainable_variables)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function  # a step of our own: fit() makes its graph twice, and twelve blocks take long
    def learn(ids, ordered):
        with tf.GradientTape() as tape:
            scores = model(ids, training=True)  # (B, T, 10)
            error = loss(ordered, scores)
        adam.apply(tape.gradient(error, model.trainable_variables))
        return error, keras.ops.mean(keras.metrics.sparse_categorical_accuracy(ordered, scores))

    return model, adam, learn


# %%
def train_to_sort(sorter, start, rate=lambda step: PEAK):
    """From the weights `start`, with rate(step): the mean loss of each 25 steps, and the share of right digits in the last 25."""
    model, adam, learn = sorter
    model.set_weights(start)
    for variable in adam.variables:  # what Adam remembers of an earlier run
        variable.assign(keras.ops.zeros_like(variable))
    measured = np.zeros((STEPS // 25, 25, 2))  # loss and share of right digits
    for step, ids in enumerate(digits.reshape(STEPS, 64, 8)):  # ids (B, T)
        adam.learning_rate.assign(rate(step))
        measured[step // 25, step % 25] = learn(ids, np.sort(ids))
    return measured[..., 0].mean(axis=1).tolist(), measured[-1, :, 1].mean()


# %%
sorters = {order: learner(sorting_model(BLOCKS, order)) for order in ("post", "pre")}  # one for all runs: compiling is slow
warm_up = {"rate": lambda step: PEAK * min(1, step / 100)}
runs = {"post-norm": ("post", {}), "post-norm, warm-up": ("post", warm_up), "pre-norm": ("pre", {})}
losses, accuracy = {}, {}
for name, (order, how) in runs.items():
    keras.utils.set_random_seed(1)
    start = sorting_model(BLOCKS, order).get_weights()
    losses[name], accuracy[name] = train_to_sort(sorters[order], start, **how)
    print(f"{name:20} {sorters[order][0].count_params():,} parameters")

# %%
figure, ax = plt.subplots(figsize=(6.8, 3.5))
for line, (name, values) in enumerate(losses.items()):
    plots.measured_curve(range(25, STEPS + 1, 25), values, label=f"{name}: {accuracy[name]:.0%} right", line=line, ax=ax)
counts = np.stack([np.bincount(column, minlength=10) for column in np.sort(digits, axis=1).T])  # (T, 10)
shares = counts / len(digits)  # how often each place of a sorted row holds each digit
place_alone = -np.sum(shares * np.log(shares.clip(1e-12))) / 8
for value, what in ((np.log(10), "guessing: ln 10"), (place_alone, f"knows the place alone: {place_alone:.2f}")):
    ax.axhline(value, color=diagrams.PALETTE["residual"], linestyle=":")
    ax.text(STEPS, value + 0.1, what, ha="right", fontsize=9)
ax.set(xlabel="step", ylabel="training loss", title=f"{BLOCKS} blocks, learning rate {PEAK}", ylim=(0, 2.7))
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plots.show(
    figure,
    alt="Training loss over 250 steps of three models of twelve blocks, with lines at 2.30 for guessing and at "
    f"{place_alone:.2f} for a model that knows the place alone. "
    + " ".join(f"{name}: {values[0]:.2f} after 25 steps, {values[-1]:.2f} at the end." for name, values in losses.items()),
)

# %%
# NBVAL_CHECK_OUTPUT
for name, values in losses.items():
    print(f"{name:20} learns within {STEPS} steps: {values[-1] < 0.5 * np.log(10)}")

# %%
others = recorded.load("lecture_seeds")["results"]["04_encoder_block"].values()
for name, values in losses.items():
    print(f"{name:20} loss after 25, 100 and {STEPS} steps: {values[0]:.2f} {values[3]:.2f} {values[-1]:.2f}")
    print(f"{name:20} other seeds, at the end: " + " ".join(f"{run['losses'][name][-1]:.2f}" for run in others))


# %% [markdown]
# Post-norm stays at 2.30. Guessing gives ln 10 = 2.303, and a model that ignores the digits but knows the *place* would
# have 1.61, since small digits come first in a sorted row. So this model does not even use its positions. With a
# warm-up the same model ends at 0.16, and pre-norm, which needs none, at 0.10. Two other seeds end in the same order
# (`experiments/lecture_seeds.py` ran these cells again). That it holds for larger models and real tasks is the finding
# of Xiong et al. (2020). The 2017 paper trained post-norm with 4,000 warm-up steps.
#
# ### Is it the first step?
#
# A common explanation goes: post-norm's gradients are large at the start, so the first steps are too large. But Adam divides
# the size of the gradient out: its first step moves every parameter by about the learning rate, in both orders.
# How far does the *output* move in the first step of Adam, relative to its own size?
#
# **Predict.** Rate 0.003, twelve blocks: in which order does the output move further, and by what factor?
#
# <details><summary>Answer</summary>
#
# It moves about as far in both orders: by more than its own size. The two ranges overlap.
#
# </details>

# %%
def first_step(order, seed, rates=(PEAK, PEAK / 100)):
    """How far the output moves in Adam's first step at each learning rate, relative to the output before."""
    keras.utils.set_random_seed(seed)
    model = sorting_model(BLOCKS, order)
    ids, start, moves = digits[:64], model.get_weights(), []  # ids (B, T)
    with tf.GradientTape() as tape:
        before = model(ids)  # (B, T, 10)
        error = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(np.sort(ids), before, from_logits=True))
    gradients = tape.gradient(error, model.trainable_variables)
    for rate in rates:
        model.set_weights(start)
        keras.optimizers.Adam(rate).apply(gradients, model.trainable_variables)
        moves.append(float(tf.norm(model(ids) - before) / tf.norm(before)))
    return moves


moves = {order: np.array([first_step(order, seed) for seed in range(3)]) for order in ("post", "pre")}  # (3, rates)
for column, rate in enumerate((PEAK, PEAK / 100)):
    parts = [f"{order}-norm " + " ".join(f"{m:.3f}" for m in moves[order][:, column]) for order in moves]
    print(f"rate {rate:<7g} the output moves by  " + "    ".join(parts))

# %% [markdown]
# At the full rate the first step moves the output by more than its own size in **both** orders. The ranges of three seeds
# overlap, and pre-norm learns all the same. At a hundredth of the rate, post-norm's output moves more on average, by
# a factor of less than two, and the ranges overlap again. So the first step does not tell the two orders apart, and neither do the gradient norms above. What
# keeps post-norm from learning must come in later steps, which we have not measured. Xiong et al. (2020) point to the
# large gradients near the output. Liu et al. (2020) answer that unbalanced gradients are not the root cause: a post-norm stack depends more on its residual branches, and these
# amplify small changes of the parameters.
#
# > **Slow machine?** Set `BLOCKS = 6`: about half the time. **GPU or time to spare?** `BLOCKS = 24`, `STEPS = 1000`, over several learning rates.
#
# ## 9 · Every parameter accounted for
#
# The classifier of [lecture 6](06_imdb_classifier.ipynb) uses one block with D = 32, F = 32 and two heads. Following
# a published example it takes `key_dim` = 32 for *each* head, not D/H = 16. Fill in the empty column before you open
# the answer.
#
# | line | shape | numbers |
# |---|---|---|
# | query weights and bias | (32, 2, 32) and (2, 32) | ? |
# | key weights and bias | (32, 2, 32) and (2, 32) | ? |
# | value weights and bias | (32, 2, 32) and (2, 32) | ? |
# | output weights and bias | (2, 32, 32) and (32,) | ? |
# | first layer of the feed-forward network | (32, 32) and (32,) | ? |
# | second layer of the feed-forward network | (32, 32) and (32,) | ? |
# | first layer norm: γ and β | (32,) and (32,) | ? |
# | second layer norm: γ and β | (32,) and (32,) | ? |
#
# <details><summary>Answer</summary>
#
# 32·64 + 64 = **2,112**, three times; 64·32 + 32 = **2,080**; 32·32 + 32 = **1,056**, twice; 64, twice. Dropout has
# none. Attention 3·2,112 + 2,080 = 8,416; feed-forward 2,112; norms 128. Together **10,656**.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
attend, widen, narrow = layers.MultiHeadAttention(2, key_dim=32), layers.Dense(32, activation="relu"), layers.Dense(32)
norm_a, norm_b = layers.LayerNormalization(), layers.LayerNormalization()
x = np.zeros((1, 3, 32), "float32")  # (B, T, D)
norm_b(narrow(widen(norm_a(attend(query=x, value=x)))))  # creates all weights
total = 0
block = {"attention": attend, "widen": widen, "narrow": narrow, "norm 1": norm_a, "norm 2": norm_b}
for name, part in block.items():
    for variable in part.trainable_variables:
        size = int(np.prod(variable.shape))
        total += size
        line = f"{name} {variable.path.split('/')[-2]}" if name == "attention" else name
        print(f"{line:26} {variable.name:7} {tuple(variable.shape)!s:12} {size:6,}   total {total:7,}")

# %% [markdown]
# The running total ends at 10,656. Now the models that people quote. (All numbers are those of Keras's layers, which have
# biases in attention. The 2017 paper's formulas have none there: one block of its base model has 3,150,336 parameters then,
# 2,048 fewer.)
#
# In our small block F = D, and attention is the largest part.

# %%
# NBVAL_CHECK_OUTPUT
models = {
    "this course, key_dim 32": (32, 2, 32, 32),
    "this course, key_dim 16": (32, 2, 32, 16),
    "Transformer base, 2017": (512, 8, 2048, 64),
    "BERT-base": (768, 12, 3072, 64),
}
for name, (width, heads, hidden, key_dim) in models.items():
    x = keras.Input((None, width))  # (B, T, D)
    attend = layers.MultiHeadAttention(heads, key_dim)
    attend(query=x, value=x)
    feed = keras.Sequential([keras.Input((None, width)), layers.Dense(hidden), layers.Dense(width)])
    counts = np.array([attend.count_params(), feed.count_params(), 4 * width])  # attention, feed-forward, norms
    share = f"{counts[1] / counts.sum():.0%} feed-forward"
    print(f"{name:24} attention {counts[0]:9,}  feed-forward {counts[1]:9,}  block {counts.sum():9,}, {share}")


# %% [markdown]
# ## 10 · What newer models have exchanged
#
# The frame of section 1 has stayed since 2017. Inside it, many large language models of today use three other parts.
#
# **RMSNorm** (Zhang and Sennrich, 2019) is a layer norm that leaves the mean alone. It has no β:
#
# $$ y_i = \gamma_i \, \frac{x_i}{\sqrt{\tfrac{1}{D}\sum_j x_j^2 + \varepsilon}} . $$
#
# **By hand.** The token (1, 7, 5, 5), γ = 1 everywhere. What is y? Which change of the token leaves y as it is: ten times as
# long, or 100 added to each feature?
#
# <details><summary>Answer</summary>
#
# The mean of the squares is (1 + 49 + 25 + 25)/4 = 25, its root 5, so y = (0.2, 1.4, 1, 1). Ten times as long gives the same
# y. With 100 added it is another one: RMSNorm forgets the length of a token and keeps its mean. Layer norm forgets both.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
def rms_norm():
    return layers.RMSNormalization(epsilon=1e-6)


token = np.array([[1.0, 7.0, 5.0, 5.0]], "float32")  # (1, D)
for name, x in {"the token": token, "ten times as long": 10 * token, "100 added": token + 100}.items():
    print(f"{name:18} RMSNorm {np.asarray(rms_norm()(x))[0].round(2)}   layer norm {np.asarray(layer_norm()(x))[0].round(2)}")


# %% [markdown]
# **GELU** (Hendrycks and Gimpel, 2016) takes the place of ReLU in BERT, GPT-2 and ViT: $\mathrm{GELU}(x) = x\,\Phi(x)$, with the
# normal distribution function Φ. **Swish**, also called SiLU, has the logistic function in place of Φ: $x\,\sigma(x)$. Both are
# nearly 0 far on the left and nearly x far on the right, like ReLU, but without its corner.
#
# **SwiGLU** (Shazeer, 2020) is a feed-forward network with a **gate**: one product decides how much of another one passes,
# $\;(\mathrm{Swish}(xW) \odot xV)\,W_2$. It has three matrices in place of two, and no biases.
#
# **Predict.** D = 512. An ordinary network has F = 2,048 and, counted without biases, 2·512·2,048 parameters. How wide may
# SwiGLU be inside with as many? And where is GELU below 0?
#
# <details><summary>Answer</summary>
#
# Two thirds as wide: 3·512·F = 2·512·2,048 gives F = 1,365. GELU is below 0 for all negative x: at −1 it is
# −1·Φ(−1) = −0.16. Unlike ReLU it falls before it rises: it has a minimum.
#
# </details>

# %%
class SwiGLU(keras.Layer):
    """A gated feed-forward network, two thirds as wide inside as one with F = 2D: x (…, D) to (…, D)."""

    def __init__(self, width):
        super().__init__()
        hidden = round(2 / 3 * 2 * width)  # F
        self.gate = layers.Dense(hidden, activation="silu", use_bias=False)
        self.passing, self.narrow = layers.Dense(hidden, use_bias=False), layers.Dense(width, use_bias=False)

    def call(self, x):
        return self.narrow(self.gate(x) * self.passing(x))  # (…, F) -> (…, D)


def gelu_network(width):
    return keras.Sequential([layers.Dense(2 * width, activation="gelu"), layers.Dense(width)])  # (…, D) -> (…, D)


# %%
grid = np.linspace(-4, 3, 281)  # in steps of 0.025
figure, panels = plt.subplots(1, 2, figsize=(9.5, 3.3))
for line, kind in enumerate(("relu", "gelu", "silu")):
    curve = np.asarray(keras.activations.get(kind)(grid))  # (281,)
    label = {"relu": "ReLU", "gelu": "GELU", "silu": "Swish"}[kind]
    panels[0].plot(grid, curve, **{**plots.LINES[line], "marker": ""}, label=label)
    print(f"{label:5} at -1: {curve[grid == -1][0]:5.2f}, smallest {curve.min():5.2f} at x = {grid[curve.argmin()]:.2f}")
panels[0].set(xlabel="x", title="three activations")
panels[0].legend()
parts = {"as in section 8": {}, "RMSNorm": {"norm": rms_norm}, "GELU": {"network": gelu_network}, "SwiGLU": {"network": SwiGLU}}
for line, (name, part) in enumerate(parts.items()):
    sorter, curves = learner(sorting_model(2, "pre", **part)), []
    for seed in (1, 2, 3):
        keras.utils.set_random_seed(seed)
        curves.append(train_to_sort(sorter, sorting_model(2, "pre", **part).get_weights())[0])
    plots.measured_curve(range(25, STEPS + 1, 25), np.array(curves), label=name, line=line, ax=panels[1])
    ends = " ".join(f"{curve[-1]:.3f}" for curve in curves)
    print(f"{name:15} {sorter[0].count_params():,} parameters, loss at the end, three seeds: {ends}")
panels[1].set(xlabel="step", ylabel="training loss", title="sorting, two pre-norm blocks", ylim=(0, None))
plots.show(
    figure,
    alt="""Left: ReLU, GELU and Swish from -4 to 3. ReLU has a corner at 0; the two others are smooth and dip below 0. Right:
training loss of four models with two pre-norm blocks, three seeds each.""",
)

# %% [markdown]
# All four learn the task, and the ranges of their three seeds overlap: three runs of a toy cannot say which part is better.
# The papers measured larger models. RMSNorm took 7 to 64 % less time than layer norm, for about the same quality (Zhang and
# Sennrich, abstract). SwiGLU lowered the loss of a T5 model from 1.677 with ReLU to 1.636, and GELU did not: 1.679 (Shazeer,
# table 1). Why the gate helps, Shazeer does not claim to know.
#
# ## 11 · Common mistakes, with what they look like
#
# Five mistakes, in the next three cells. Before you run them, **predict** what each one shows:
#
# 1. A layer norm runs over the tokens (`axis=1`) in place of the features. What happens to token 0 when token 4 changes?
# 2. One layer norm does the work of both. How many parameters does our block of 10,656 have then?
# 3. `training=True` is left in a dropout. Do two runs on the same input agree?
# 4. A layer keeps its γ as a `tf.Variable`. How many of its 32 numbers does Keras count? And a second model calls its
#    position embedding on a fixed array while it is built. How many parameters does that embedding have?
# 5. A padding mask is handed to attention by position. How much of their attention do the real words give to padding?
#
# <details><summary>Answer</summary>
#
# 1\. Token 0 moves; with the right axis it stays. 2. It has 64 parameters fewer. 3. They do not agree. 4. Keras counts none
# of the 32, and the embedding of the second model is missing from the count as well. 5. They give a large part of it to
# padding; with the keyword they give none.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
keras.utils.set_random_seed(0)
x = np.asarray(keras.random.normal((2, 5, 32), mean=3.0))  # (B, T, D)
changed = x.copy()
changed[0, 4] += 10  # only the last token of the first sentence changes
right, wrong = layers.LayerNormalization(axis=-1), layers.LayerNormalization(axis=1)
for name, norm in {"over the features": right, "over the tokens ": wrong}.items():
    token = np.asarray(norm(x))[0, 0]  # (D,)
    shift = np.abs(token - np.asarray(norm(changed))[0, 0]).max()
    print(f"1. norm {name}: token 0 has mean {abs(token.mean()):.1f}; it moves by {shift:.1f} when token 4 changes")

shared = layers.LayerNormalization()
print(f"2. one norm used in both places: {10_656 - 2 * 64 + shared(x).shape[-1] * 2:,} parameters instead of 10,656")

noisy = layers.Dropout(0.1)
a, b = noisy(x, training=True), noisy(x, training=True)
print(f"3. training=True left in at inference: two runs on the same input agree: {np.allclose(a, b)}")


# %%
# NBVAL_CHECK_OUTPUT
class Scale(keras.Layer):
    """A norm's γ, kept in three ways; only weights that Keras knows of are trained and saved."""

    def __init__(self, how):
        super().__init__()
        if how == "tf.Variable":
            self.gamma = tf.Variable(tf.ones(32))
        elif how == "keras.Variable":
            self.gamma = keras.Variable(np.ones(32, "float32"))
        else:
            self.gamma = self.add_weight(shape=(32,), initializer="ones")

    def call(self, x):
        return x * self.gamma


for how in ("tf.Variable", "keras.Variable", "add_weight"):
    layer = Scale(how)
    layer(x)
    print(f"4. {how:15}: {layer.count_params():2} parameters, {len(layer.trainable_variables)} trainable")

ids = keras.Input((8,), dtype="int32")
places = keras.ops.cumsum(keras.ops.ones_like(ids), axis=1) - 1  # (B, T)
for how, where in {"a fixed array": np.arange(8), "a tensor": places}.items():
    model = keras.Model(ids, layers.Embedding(10, 32)(ids) + layers.Embedding(8, 32)(where))
    print(f"4. positions looked up with {how:13}: {model.count_params()} parameters, by hand 10·32 + 8·32 = 576")

# %% [markdown]
# The fourth is the costliest, because nothing complains. In Keras 3 a bare `tf.Variable` kept on a layer is **not
# tracked**. And a layer that is called on a fixed array while a functional model is built leaves its *result* behind as a
# constant: the model never trains it. This page had that mistake itself: the positions of section 8's model were random
# constants, 256 parameters were missing, and the model trained all the same. We found it by counting. Compare
# `count_params()` with a count by hand, as in section 9, and you find it in a minute.
#
# The fifth mistake is a mask **by position**. The fourth positional argument of `MultiHeadAttention` is `query_mask`,
# not `attention_mask`: a padding mask passed there speaks of the queries, and the padding keys stay open.

# %%
words = ["good", "film", "[PAD]", "[PAD]"]
padding = np.array([[True, True, False, False]])  # (B, T)
attend = layers.MultiHeadAttention(1, key_dim=16, kernel_initializer=glorot(16))
x = np.random.default_rng(0).normal(size=(1, 4, 16)).astype("float32")  # (B, T, D)
_, by_keyword = attend(
    query=x, value=x, attention_mask=padding[:, None, :], return_attention_scores=True
)  # (B, H, T, S)
_, by_position = attend(x, x, x, padding, return_attention_scores=True)  # (B, H, T, S)
figure, panels = plt.subplots(1, 2, figsize=(7.6, 3.2))
for ax, weights, title in zip(panels, (by_keyword, by_position), ("attention_mask=… (right)", "by position (wrong)"), strict=True):
    plots.attention_map(np.asarray(weights)[0, 0], words, words, title=title, ax=ax)
plots.show(
    figure,
    alt="""Two maps of attention weights of four tokens, the last two of them padding. With the keyword the padding
columns are 0. By position, the real words put a good part of their weight on padding.""",
)

# %%
# NBVAL_CHECK_OUTPUT
for name, weights in {"by keyword ": by_keyword, "by position": by_position}.items():
    leak = np.asarray(weights)[0, 0, :2, 2:].sum(axis=-1).mean()
    print(f"5. mask {name}: real words give {leak:.0%} of their attention to padding")

# %% [markdown]
# ## 12 · What other texts get wrong
#
# Each sentence has one mistake. Find it before you open the answer.
#
# <details><summary>“The original Transformer has 12 encoder blocks of width 768.”</summary>
#
# That is BERT-base. The base model of 2017 has D = 512, 8 heads, F = 2,048 and 6 + 6 blocks, with dropout 0.1.
#
# </details>
#
# <details><summary>“Layer norm normalises each feature over the tokens of the sentence.”</summary>
#
# It normalises each token over its own features. No token learns anything about another from it: section 4.
#
# </details>
#
# <details><summary>“To avoid a division by zero, ε is added to the standard deviation.”</summary>
#
# To the variance, under the root. Section 4 shows the difference on a flat token.
#
# </details>
#
# <details><summary>“The encoder block computes x + Sublayer(LayerNorm(x)), as in <em>Attention is all you
# need</em>.”</summary>
#
# The paper's section 3.1 says LayerNorm(x + Sublayer(x)): post-norm. What the quoted text gives is pre-norm, which the
# paper's text does not have.
#
# </details>
#
# <details><summary>“Dropout is switched off by <code>model.eval()</code>, so it needs no argument in
# Keras.”</summary>
#
# Keras has no such mode. `training` is an argument of the call, and it has to reach every dropout.
#
# </details>
#
# ## 13 · Check yourself
#
# <details><summary>1. A block has D = 16, H = 4, F = 64, key_dim = D/H. How many parameters?</summary>
#
# Attention 4·(16·16 + 16) = 1,088; feed-forward 16·64 + 64 + 64·16 + 16 = 2,128; norms 2·32 = 64. Together **3,280**.
#
# </details>
#
# <details><summary>2. You double T. Which of these numbers change: parameters, output shape, cost of attention, cost
# of the feed-forward network?</summary>
#
# Parameters: no. Output: (B, 2T, D). Attention's scores: four times. Feed-forward: twice.
#
# </details>
#
# <details><summary>3. In pre-norm, why does the stack end in one more norm?</summary>
#
# Nothing normalises the residual path inside the stack, and it grows with depth. The final norm hands the head tokens
# of a known scale.
#
# </details>
#
# <details><summary>4. Which token's output changes if you change token 3, in (a) a feed-forward network, (b) batch
# norm in training, (c) a block whose mask hides token 3?</summary>
#
# (a) token 3 only; (b) all tokens of the batch; (c) token 3 only: nobody attends to it, but its own residual path and
# query are still there.
#
# </details>
#
# ## Symptoms
#
# <details><summary>The loss sits at the level of guessing, and the model is deep.</summary>
# Post-norm without warm-up: lower the learning rate, add a warm-up, or switch to pre-norm. Check that the residual
# adds <code>x</code>, not the normalised <code>x</code>.
# </details>
# <details><summary>The loss becomes NaN after some steps.</summary>
# Most often a learning rate that is far too high, a row of the mask that allows no key at all, or float16 without loss
# scaling. Look also for a norm without ε.
# </details>
# <details><summary>Two predictions of the same input differ.</summary>
# Dropout is on: <code>training=True</code> is written somewhere inside a <code>call</code>.
# </details>
# <details><summary>Training and evaluation on the same data give very different losses.</summary>
# A little is dropout's work. A lot, when lengths vary, points to batch norm in place of layer norm.
# </details>
# <details><summary>The number of parameters is too small.</summary>
# A shared layer norm, a layer made once and used N times, or a <code>tf.Variable</code> that Keras does not see.
# </details>
# <details><summary>The output of a sentence changes with the padding beside it.</summary>
# The mask does not reach attention, or it got there by position: write <code>attention_mask=</code>.
# </details>
#
# ## Honest caveats
#
# * Sections 2, 3 and the first half of 8 measure *untrained* networks. They explain why training starts well or
#   badly, not how good the result will be. Where post-norm can be trained it may even end up better (Liu et al.,
#   2020).
# * Sorting digits is a toy, with three seeds for each version. That deep post-norm needs a warm-up, and pre-norm does not, was shown on translation and
#   BERT (Xiong et al., 2020).
# * Batch norm is not impossible in Transformers; it needs care with padding and with statistics that fluctuate on
#   text (Shen et al., 2020).
# * Large language models often leave dropout out. How other norms and activations fare in them is the subject of the papers of
#   section 10, not of our toy.
#
# ## Summary
#
# | part | shape | sees other tokens? | what it is for | parameters |
# |---|---|---|---|---|
# | attention | (B, T, D) → (B, T, D) | **yes** | fetch information | 4(D² + D) when key_dim = D/H |
# | feed-forward | (B, T, D) → (B, T, F) → (B, T, D) | no | transform it, non-linearly | 2DF + F + D |
# | residual path | sum | no | gradient and identity at any depth | 0 |
# | layer norm | per token, over D | no | common scale, independent of the batch | 2D |
# | dropout | sub-layer output, training only | no | regularisation | 0 |
#
# Next: nothing in this block knows the *order* of the tokens. [Lecture 5](05_positional_encoding.ipynb) mends that.
# First, build the block yourself in [lab 4](../labs/04_encoder_block/04_encoder_block.ipynb).
#
# ## References
#
# * A. Vaswani et al., *Attention is all you need*, NeurIPS 2017: section 3.1 (residual and norm), 3.3 with equation 2
#   (feed-forward), 5.4 (dropout).
# * J. L. Ba, J. R. Kiros, G. E. Hinton, *Layer normalization*, 2016, arXiv:1607.06450.
# * S. Ioffe, C. Szegedy, *Batch normalization*, ICML 2015.
# * K. He et al., *Deep residual learning for image recognition*, CVPR 2016. A. Veit, M. Wilber, S. Belongie, *Residual networks behave like
#   ensembles of relatively shallow networks*, NIPS 2016. G. Huang et al., *Densely connected convolutional networks*, CVPR 2017.
# * N. Srivastava et al., *Dropout*, JMLR 15, 2014.
# * R. Xiong et al., *On layer normalization in the Transformer architecture*, ICML 2020.
# * Y. Dong, J.-B. Cordonnier, A. Loukas, *Attention is not all you need: pure attention loses rank doubly
#   exponentially with depth*, ICML 2021.
# * L. Liu et al., *Understanding the difficulty of training Transformers*, EMNLP 2020.
# * S. Shen et al., *PowerNorm: rethinking batch normalization in Transformers*, ICML 2020.
# * M. Sandler et al., *MobileNetV2: inverted residuals and linear bottlenecks*, CVPR 2018.
# * B. Zhang, R. Sennrich, *Root mean square layer normalization*, NeurIPS 2019. N. Shazeer, *GLU variants improve
#   Transformer*, 2020, arXiv:2002.05202.
# * D. Hendrycks, K. Gimpel, *Gaussian error linear units (GELUs)*, 2016, arXiv:1606.08415.
# * J. Devlin et al., *BERT*, NAACL 2019; T. Brown et al., *Language models are few-shot learners*, NeurIPS 2020
#   (table 2.1: sizes of GPT-3).
#
# **Further reading.** A. Zhang et al., [*Dive into Deep
# Learning*](https://d2l.ai/chapter_attention-mechanisms-and-transformers/transformer.html), section 11.7: the same block as three
# short PyTorch classes; compare them with yours after the lab. [Xiong et al.](https://arxiv.org/abs/2002.04745), sections 3 and 4:
# the gradients of both orders, with proof. [Liu et al.](https://arxiv.org/abs/2004.08249): why large gradients alone do not explain
# the failure of post-norm. [Dong et al.](https://arxiv.org/abs/2103.03404): what residual paths and feed-forward networks do against
# rank collapse.

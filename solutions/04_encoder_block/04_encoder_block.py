# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown] nbgrader={"grade": false, "grade_id": "introduction", "locked": true, "schema_version": 3, "solution": false, "task": false}
# # Lab 04 · Encoder block
#
# You build the brick of BERT, ViT and every other encoder: attention and a feed-forward network, each with a residual path, a
# layer norm and dropout. You derive what a norm does to the gradient, stack the blocks, fix a stack that is wrong, and measure
# at which rate post-norm learns.
#
# **Before you start:** read [lecture 04](../../lectures/04_encoder_block.ipynb): this lab begins where its `pre_norm_block` and
# `post_norm_block` end (no mask, no dropout). **Time:** about 95 minutes.
#
# **How a lab works.** Each exercise has a cell with a stub, and below it a cell `check("…")`. Replace the line
# `raise NotImplementedError`, run your cell, then run the check. It says what works, what differs first, and which mistake
# it looks like; after the second failed attempt it adds hints. Your mark comes from the same tests on inputs that you have
# not seen, so code that fits only the visible inputs earns nothing. Add cells wherever you like; the check cells themselves
# are restored before grading.
#
# **Letters.** B batch, T tokens, D width of a token (`d_model`), H heads, F width inside the feed-forward network (`d_ff`).
# "(…, D)" means: any leading dimensions, or none.
#
# | exercise | what you write | points | difficulty | minutes |
# |---|---|---|---|---|
# | 1 | `layer_norm` | 5 | ●●○○○ | 10 |
# | 1 | `rms_norm` (optional) | 0 | ●○○○○ | 5 |
# | 2 | `derive_layer_norm_gradient` | 8 | ●●○○○ | 10 |
# | 3 | `FeedForward` | 3 | ●○○○○ | 5 |
# | 4 | `EncoderBlock` | 12 | ●●●○○ | 20 |
# | 5 | `Encoder` | 6 | ●●●○○ | 15 |
# | 5 | `encoder_parameter_count` (optional) | 0 | ●●○○○ | 10 |
# | 6 | `find_the_bug` | 3 | ●○○○○ | 5 |
# | 6 | `predict` | 2 | ●○○○○ | 5 |
# | 7 | `measure_rate` | 6 | ●●○○○ | 10 |
#
# Optional exercises earn no points, and their minutes are not in the total, which counts reading and given cells as well.
#
# Times and difficulties are estimates, not measurements.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["course-setup"]
# Colab: install the course's helper package. Anywhere else this cell does nothing.
import sys

if "google.colab" in sys.modules:
    print("Installing the course's helper package …")
    # %pip install --quiet --no-deps transformers-coursekit==0.1.0

# %% nbgrader={"grade": false, "grade_id": "imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
print("Loading TensorFlow, which takes about ten seconds …")

from coursekit import plots, quiet, start_lab

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from coursekit import sorting, stacks
from coursekit.pages.encoder_block import post_norm_block, pre_norm_block  # the lecture's

plots.use_course_style()

check = start_lab("04_encoder_block")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-1", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 1 · Two norms
#
# For one token with D features:
#
# 1. mean μ and variance σ² of its features, both divided by D;
# 2. subtract μ, divide by √(σ² + eps);
# 3. multiply by gamma, add beta; both have one number for each feature.
#
# Nothing is shared between tokens, sentences, or axes before the last. The result has the float type of `x`. Ready-made normalisation layers and functions are forbidden here; functions for means and roots
# are allowed.
#
# **Try it on paper first:** token (0, 6, 6, 8), gamma all 1, beta all 0. The lecture has the answer.

# %% nbgrader={"grade": false, "grade_id": "layer_norm-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def layer_norm(x, gamma, beta, eps=1e-6):
    """Layer normalisation over the last axis.

    Args:
        x: tokens, (…, D), an array or a tensor.
        gamma, beta: scale and shift of each feature, (D,).
        eps: added to the variance.

    Returns:
        (…, D), in the float type of x.
    """
    ### BEGIN SOLUTION
    x = ops.convert_to_tensor(x)
    mean = ops.mean(x, axis=-1, keepdims=True)  # (…, 1)
    variance = ops.mean((x - mean) ** 2, axis=-1, keepdims=True)  # (…, 1)
    return (x - mean) / ops.sqrt(variance + eps) * gamma + beta  # (…, D)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "layer_norm", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check("layer_norm")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-rms", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### RMS norm (optional)
#
# LLaMA and most language models since then subtract no mean and add no shift. They divide a token by the **root mean square** of its
# features (Zhang and Sennrich 2019):
#
# $$\mathrm{rms\_norm}(x) = \gamma \, \frac{x}{\sqrt{\mathrm{mean}(x^2) + \epsilon}}$$
#
# Again the mean runs over the features of one token, and ready-made norms are forbidden.
#
# **On paper first:** token (0, 6, 6, 8), gamma all 1. What is its root mean square, and for which tokens do both norms give the same
# result?
#
# <details><summary>Answer</summary>The mean of the squares is (0 + 36 + 36 + 64)/4 = 34, so every feature is divided by √34 ≈ 5.83. Both give the same result for tokens whose mean is 0, if gamma is the same and beta is 0.</details>

# %% nbgrader={"grade": false, "grade_id": "rms_norm-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rms_norm(x, gamma, eps=1e-6):
    """Root-mean-square normalisation over the last axis.

    Args:
        x: tokens, (…, D), an array or a tensor.
        gamma: scale of each feature, (D,).
        eps: added to the mean of the squares.

    Returns:
        (…, D).
    """
    ### BEGIN SOLUTION
    x = ops.convert_to_tensor(x)
    return x / ops.sqrt(ops.mean(x**2, axis=-1, keepdims=True) + eps) * gamma
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "rms_norm", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("rms_norm")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-derive", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 2 · Derive: the gradient of layer norm
#
# In a post-norm stack every gradient passes through every norm. It arrives at y = layer_norm(x, gamma, beta) as the **upstream**
# gradient, the derivative of the loss with respect to y, in the shape of y. What is the derivative of the loss with respect to x?
#
# Derive a formula on paper, then write it, for any leading dimensions. Automatic differentiation (`tf.GradientTape`, `tf.gradients`,
# `tf.autodiff.ForwardAccumulator`) is forbidden here. A difference quotient with a fixed step fails on very large or very small
# features, and no step shows the three paths, which are what this exercise is about. In a cell of your own you may compare with both.
#
# **Before you calculate:** gamma and the upstream gradient are all 1. What is the result, whatever x is?
#
# <details><summary>Answer</summary>All zeros: the loss is then the sum of x̂, plus a constant, and the features of x̂ always sum to 0.</details>

# %% nbgrader={"grade": false, "grade_id": "derive_layer_norm_gradient-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def derive_layer_norm_gradient(x, gamma, upstream, eps=1e-6):
    """The gradient of the loss with respect to the tokens that enter a layer norm.

    Args:
        x: tokens, (…, D), an array or a tensor.
        gamma: scale of each feature, (D,).
        upstream: gradient of the loss with respect to the result of the norm, (…, D).
        eps: added to the variance.

    Returns:
        (…, D).
    """
    ### BEGIN SOLUTION
    centred = x - ops.mean(x, axis=-1, keepdims=True)  # (…, D)
    deviation = ops.sqrt(ops.mean(centred**2, axis=-1, keepdims=True) + eps)  # (…, 1)
    normed, g = centred / deviation, gamma * upstream  # (…, D) each
    along = ops.mean(g * normed, axis=-1, keepdims=True)  # (…, 1)
    return (g - ops.mean(g, axis=-1, keepdims=True) - normed * along) / deviation
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "derive_layer_norm_gradient", "locked": true, "points": 8, "schema_version": 3, "solution": false, "task": false}
check("derive_layer_norm_gradient")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-2", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 3 · The feed-forward network
#
# Two Dense layers with bias: `dense_in` takes each token from D to F features, ReLU cuts off what is negative, and `dense_out`
# comes back to D. The checks put known weights into the layers by these names. (In Keras you give a Dense layer the width of its
# result; it finds the width of its input by itself. Its second argument is the activation.) There is no residual path in here:
# the block adds it.
#
# Dense works on the last axis and leaves the others alone, so the same code serves every token.

# %% nbgrader={"grade": false, "grade_id": "FeedForward-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
class FeedForward(keras.Layer):
    """The same two-layer network for every token: max(0, x W₁ + b₁) W₂ + b₂.

    Args:
        d_model: width of a token, D.
        d_ff: width of the hidden layer, F.

    Attributes:
        dense_in: Dense, from D to F, followed by ReLU.
        dense_out: Dense, from F to D.
    """

    def __init__(self, d_model, d_ff, **kwargs):
        super().__init__(**kwargs)
        ### BEGIN SOLUTION
        self.dense_in = keras.layers.Dense(d_ff, activation="relu")
        self.dense_out = keras.layers.Dense(d_model)
        ### END SOLUTION

    def call(self, x):
        """Transform tokens (B, T, D); the result has the same shape."""
        ### BEGIN SOLUTION
        return self.dense_out(self.dense_in(x))  # (B, T, F) -> (B, T, D)
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "FeedForward", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("FeedForward")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-3", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 4 · The encoder block
#
# The block has two sub-layers, the attention and your `FeedForward`, each with dropout, a residual
# path and a layer norm. With `norm="post"`, as in the paper of 2017:
#
# > y = LN₁(x + Dropout₁(Attention(x)))\
# > z = LN₂(y + Dropout₂(FFN(y)))
#
# With `norm="pre"`:
#
# > y = x + Dropout₁(Attention(LN₁(x)))\
# > z = y + Dropout₂(FFN(LN₂(y)))
#
# **Use these names**, because the checks put known weights into these layers and decide which features the dropouts
# erase:
#
# | attribute | what it is |
# |---|---|
# | `attention` | `keras.layers.MultiHeadAttention` with H heads of `key_dim` D/H, without dropout of its own |
# | `feed_forward` | your `FeedForward` |
# | `norm1`, `norm2` | `keras.layers.LayerNormalization` with `epsilon=1e-6`, for the first and for the second half |
# | `dropout1`, `dropout2` | `keras.layers.Dropout` at the rate `dropout`, each on a sub-layer's output, before the sum |
#
# - `call(x, attention_mask=None, training=None)`: the mask is (T, T), (B, T, T) or (B, 1, T), or None. Keras's layer takes all
#   three, under the same name. Passed by position, the mask would go into `query_mask`.
# - `training` decides whether dropout is on. Keras would hand it on by itself; pass it to both dropouts by its name, so that a reader sees it.
# - The argument is not called `mask`, because Keras itself fills an argument of that name with a padding mask (B, T), a shape that
#   is wrong here.
# - The five attributes and `get_config` are given: leave them in place. A saved model holds the weights of a layer and what its
#   `get_config` returns, and `EncoderBlock.from_config(block.get_config())` makes an equal block of the same name. The stack of
#   exercise 5 needs no `get_config`.

# %% nbgrader={"grade": false, "grade_id": "EncoderBlock-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
class EncoderBlock(keras.Layer):
    """One encoder block: self-attention and a feed-forward network, each with dropout, residual path and layer norm.

    Args:
        d_model: width of a token, D.
        num_heads: number of heads, H; each is D/H wide.
        d_ff: width of the feed-forward network's hidden layer.
        dropout: rate of both dropouts.
        norm: "post" (norm after the sum) or "pre" (norm before the sub-layer).

    Attributes:
        attention, feed_forward, norm1, norm2, dropout1, dropout2: see the table above.
    """

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        self.d_model, self.num_heads, self.d_ff = d_model, num_heads, d_ff
        self.dropout, self.norm = dropout, norm  # these five are for get_config
        ### BEGIN SOLUTION
        self.attention = keras.layers.MultiHeadAttention(num_heads, key_dim=d_model // num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.norm2 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.dropout1 = keras.layers.Dropout(dropout)
        self.dropout2 = keras.layers.Dropout(dropout)
        ### END SOLUTION

    def call(self, x, attention_mask=None, training=None):
        """Encode.

        Args:
            x: tokens, (B, T, D).
            attention_mask: (T, T), (B, T, T) or (B, 1, T), true where a token may attend; or None.
            training: whether dropout is on.

        Returns:
            (B, T, D).
        """
        ### BEGIN SOLUTION
        h = self.norm1(x) if self.norm == "pre" else x
        h = self.attention(query=h, value=h, attention_mask=attention_mask)
        x = x + self.dropout1(h, training=training)
        x = x if self.norm == "pre" else self.norm1(x)

        h = self.norm2(x) if self.norm == "pre" else x
        h = self.feed_forward(h)
        x = x + self.dropout2(h, training=training)
        return x if self.norm == "pre" else self.norm2(x)
        ### END SOLUTION

    def get_config(self):
        """Return what `from_config` needs to make an equal block."""
        names = ("d_model", "num_heads", "d_ff", "dropout", "norm")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}


# %% nbgrader={"grade": true, "grade_id": "EncoderBlock", "locked": true, "points": 12, "schema_version": 3, "solution": false, "task": false}
check("EncoderBlock")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-lecture", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See the lecture's blocks beside yours
#
# Your block takes over the numbers of the lecture's blocks: attention and two Dense layers, because new norms are all alike. The results
# should be equal.

# %% nbgrader={"grade": false, "grade_id": "lecture", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
x = np.random.default_rng(4).normal(size=(2, 5, 32)).astype("float32")  # (B, T, D)
for order, make in (("pre", pre_norm_block), ("post", post_norm_block)):
    lecture, block = make(32, heads=4, hidden=64), EncoderBlock(32, 4, 64, norm=order)
    block(x)  # now it has weights
    parts = [layer for layer in lecture.layers if isinstance(layer, (keras.layers.MultiHeadAttention, keras.layers.Dense))]
    for part, own in zip(parts, (block.attention, block.feed_forward.dense_in, block.feed_forward.dense_out), strict=True):
        own.set_weights(part.get_weights())
    print(f"{order}-norm, largest difference: {np.abs(np.asarray(lecture(x) - block(x))).max():.4f}")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-4", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 5 · The stack and its parameters
#
# `num_layers` blocks, one after the other, in a plain Python list under the name `blocks` (not in a `Sequential`), each with weights of
# its own. All get the same mask and the same `training`, by name: `block(x, attention_mask=attention_mask, training=training)`. A
# pre-norm stack ends with one more layer norm, with `epsilon=1e-6` and the name `norm`.
#
# Predict first: three blocks of 10,000 parameters each. How many does the stack have if you write
# `[EncoderBlock(…)] * 3`?
# <details><summary>Answer</summary>10,000: the list holds one block three times.</details>

# %% nbgrader={"grade": false, "grade_id": "Encoder-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Encoder(keras.Layer):
    """A stack of encoder blocks.

    Args:
        num_layers: number of blocks.
        d_model, num_heads, d_ff, dropout, norm: as for the block.

    Attributes:
        blocks: list of the blocks.
        norm: the final layer norm, in a pre-norm stack only.
    """

    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1, norm="post", **kwargs):
        super().__init__(**kwargs)
        ### BEGIN SOLUTION
        self.blocks = [EncoderBlock(d_model, num_heads, d_ff, dropout=dropout, norm=norm) for _ in range(num_layers)]
        self.order = norm
        if norm == "pre":
            self.norm = keras.layers.LayerNormalization(epsilon=1e-6)
        ### END SOLUTION

    def call(self, x, attention_mask=None, training=None):
        """Encode tokens (B, T, D); mask and training as for the block. The result has the same shape."""
        ### BEGIN SOLUTION
        for block in self.blocks:
            x = block(x, attention_mask=attention_mask, training=training)  # (B, T, D)
        return self.norm(x) if self.order == "pre" else x
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "Encoder", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("Encoder")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-7", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See your stack at work
#
# Your `Encoder`, untrained, 16 blocks deep, in both orders: how large the tokens are after each block, and how alike. Before you run
# the cell: which curve grows, and what would the final norm do to it?

# %% nbgrader={"grade": false, "grade_id": "picture", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
import matplotlib.pyplot as plt

figure, panels = plt.subplots(1, 2, figsize=(9, 3.3))
for line, order in enumerate(["post", "pre"]):
    keras.utils.set_random_seed(4)
    x = keras.random.normal((4, 8, 32))  # (B, T, D)
    states = [x]
    for block in Encoder(16, 32, 4, 64, norm=order).blocks:
        states.append(block(states[-1]))  # (B, T, D)
    sizes = [float(ops.std(state)) for state in states]
    alike = [stacks.mean_cosine(np.asarray(state)) for state in states]
    plots.measured_curve(range(17), sizes, label=f"{order}-norm", line=line, ax=panels[0])
    plots.measured_curve(range(17), alike, label=f"{order}-norm", line=line, ax=panels[1])
panels[0].set(xlabel="blocks passed", title="size of the tokens (standard deviation)", ylim=(0, None))
panels[1].set(xlabel="blocks passed", title="mean cosine of two different tokens", ylim=(-0.1, 1.05))
plots.show(
    figure,
    alt="""Two panels over sixteen blocks. Size: constant in post-norm, growing like a square root in pre-norm.
Mean cosine of two tokens: rising in both, faster in post-norm.""",
)


# %% [markdown] nbgrader={"grade": false, "grade_id": "observed", "locked": true, "schema_version": 3, "solution": false, "task": false}
# The final norm brings the tokens of the pre-norm stack back to one size. In both stacks the tokens become more alike, without any
# training.

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-5", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Counting (optional)
#
# How many trainable numbers does **one** block have? Count every weight matrix and every bias: queries, keys, values, the output
# projection, the two Dense layers, and gamma and beta of two norms. Without `key_dim` each head is D/H wide; with it, `key_dim`.
#
# The block with D = 32, two heads, F = 32 and `key_dim` 32 has 10,656.

# %% nbgrader={"grade": false, "grade_id": "encoder_parameter_count-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):
    """Count the trainable parameters of one encoder block.

    Args:
        d_model: width of a token, D.
        num_heads: number of heads, H.
        d_ff: width of the feed-forward network's hidden layer.
        key_dim: width of each head; None means D/H.

    Returns:
        The number, an int.
    """
    ### BEGIN SOLUTION
    width = num_heads * (key_dim or d_model // num_heads)
    attention = 3 * (d_model * width + width) + width * d_model + d_model
    feed_forward = d_model * d_ff + d_ff + d_ff * d_model + d_model
    return attention + feed_forward + 2 * 2 * d_model
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "encoder_parameter_count", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("encoder_parameter_count")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 6 · Find the bug, then predict
#
# A colleague wants to see how tokens grow on their way through a pre-norm stack. Her function keeps the tokens before the first
# sub-layer and after each one; norms and sub-layers are functions of tokens. It runs, and its last entry is right. But according to
# its result, no sub-layer changes anything.
#
# Delete the line `raise NotImplementedError` below, find out why this happens, and fix it.

# %% nbgrader={"grade": false, "grade_id": "find_the_bug-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def find_the_bug(x, norms, sublayers):
    """The residual stream of a pre-norm stack of n sub-layers, which has no final norm here.

    Args:
        x: tokens, (B, T, D), a NumPy array.
        norms: list of functions from tokens to tokens, one for each sub-layer.
        sublayers: list of functions from tokens to tokens: attention, feed-forward network, attention, …

    Returns:
        (n + 1, B, T, D): the tokens before the first sub-layer, and after each one.
    """
    stream = [x]
    ### BEGIN SOLUTION
    for norm, sublayer in zip(norms, sublayers, strict=True):
        x = x + sublayer(norm(x))
        stream.append(x)
    return np.stack(stream)
    ### END SOLUTION
    # This runs, and is wrong.
    for norm, sublayer in zip(norms, sublayers, strict=True):
        x += sublayer(norm(x))
        stream.append(x)
    return np.stack(stream)


# %% nbgrader={"grade": true, "grade_id": "find_the_bug", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("find_the_bug")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-guess", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Guess, then run
#
# The tokens enter a pre-norm stack of 16 blocks with a standard deviation of 3. In each block the attention adds numbers with a
# standard deviation of 1, and so does the feed-forward network. The feed-forward network reads what the attention has just written,
# so the two are **correlated**: here with a coefficient of −0.5. Everything else is independent, and all means are 0. What is the
# standard deviation of the tokens before the final norm?
#
# For any two numbers Var(a + b) = Var a + Var b + 2 Cov(a, b); the covariance is the coefficient times both deviations.
#
# Put your guess in place of `None`, and delete the last line of the cell. It earns nothing, and nobody checks it. Then run the measurement, and compare.

# %% nbgrader={"grade": false, "grade_id": "guess", "locked": false, "schema_version": 3, "solution": true, "task": false}
guess = None  # one number: the standard deviation of the tokens in front of the final norm
### BEGIN SOLUTION
guess = 5
### END SOLUTION

# %% nbgrader={"grade": false, "grade_id": "measured", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
if guess is None:
    print("First write your guess into the cell above.")
else:
    rng = np.random.default_rng(0)
    start = 3 * rng.normal(size=(8, 50, 64)).astype("float32")  # (B, T, D)
    for correlation in (-0.5, 0.0):
        sublayers = []
        for _ in range(16):
            attended, fresh = rng.normal(size=(2, *start.shape)).astype("float32")
            transformed = correlation * attended + (1 - correlation**2) ** 0.5 * fresh  # deviation 1
            sublayers += [lambda tokens, added=added: added for added in (attended, transformed)]
        end = find_the_bug(start, [np.asarray] * 32, sublayers)[-1]  # no norms
        print(f"coefficient {correlation:4}: standard deviation {np.std(end):.2f} after 16 blocks")
    print(f"your guess for the coefficient -0.5: {guess}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Predict
#
# The same question for a stack that the page has not computed: the tokens enter **18** blocks with a standard deviation of
# **6**, and the coefficient is **0.25**. Put your number in place of `None`, and delete the last line of the cell. Write down
# why: "In your own words" asks for it. An answer within 0.1 counts as right.

# %% nbgrader={"grade": false, "grade_id": "predict-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
predict = None  # one number: the standard deviation in front of the final norm
### BEGIN SOLUTION
predict = 9
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("predict")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-measure", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 7 · Measure: at which rate does post-norm learn?
#
# How large may a constant rate be? You write the measurement, for any model. `train(rate, seed)` trains once, from the weights that
# the seed draws, and returns a list of training losses, the last one from the end. A run has **learned** if its last loss is below
# `base_loss`, the loss of a model that ignores its input. A run that diverged ends in NaN; it has not learned.
#
# - For each rate: the share of seeds with which it learned.
# - The **largest** rate of the list such that it and every smaller one learned with *every* seed; `None` if the smallest did not.
#
# The rates come in any order. Train each rate with each seed once: training takes time, and with the same seeds at every rate a
# difference is one of rates.
#
# **By hand:** `base_loss` is 1.6, and two seeds end at 1.5 and 1.2 with the rate 0.004, at 0.4 and 0.5 with 0.001, at 0.3 and NaN with
# 0.002. What comes back?
#
# <details><summary>Answer</summary>The shares are 1 for 0.004, 1 for 0.001 and ½ for 0.002. The largest rate is 0.001: a smaller rate than 0.004 lost a seed.</details>

# %% nbgrader={"grade": false, "grade_id": "measure_rate-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def measure_rate(train, rates, seeds, base_loss):
    """How large a constant learning rate may be.

    Args:
        train: called as train(rate, seed); returns a list of losses.
        rates: a list of different rates, in any order.
        seeds: a list of different whole numbers.
        base_loss: a run has learned if its last loss is below.

    Returns:
        The tuple (shares, largest): a dictionary, rate -> share of seeds; and a rate, or None.
    """
    ### BEGIN SOLUTION
    shares = {rate: np.mean([train(rate, seed)[-1] < base_loss for seed in seeds]) for rate in rates}
    largest = None
    for rate in sorted(rates):
        if shares[rate] < 1:
            break
        largest = rate
    return shares, largest
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "measure_rate", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("measure_rate")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-rates", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### See at which rate your stack learns
#
# Your `Encoder`, post-norm, six blocks, learns to sort eight digits, the task of the lecture, in 75 steps with three seeds. A model that
# knows the positions and ignores the digits has a loss of 1.61; one that ignores both, ln 10 = 2.30. The cell takes about 20 seconds. Before you run it: could the largest
# rate be another one after 150 steps?
#
# <details><summary>Answer</summary>Yes: a run that is still above the base may learn later. So the number belongs to this model, this task and this many steps.</details>

# %% nbgrader={"grade": false, "grade_id": "rates", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
trainer, starts, runs = None, {}, {}
for seed in (1, 2, 3):
    keras.utils.set_random_seed(seed)
    model = sorting.sorter(lambda: Encoder(6, 32, 4, 64, dropout=0.0), depth=1, final_norm=False)
    trainer, starts[seed] = trainer or sorting.Trainer(model), model.get_weights()
batches = sorting.digits(75)  # (steps, B, T), the same for all runs


def train(rate, seed):
    runs[rate, seed], _ = trainer.run(starts[seed], batches, lambda step: rate)
    return runs[rate, seed]


shares, largest = measure_rate(train, [0.001, 0.002, 0.004], [1, 2, 3], base_loss=1.61)
print("share of the seeds that learned, by rate:", {rate: round(float(share), 2) for rate, share in shares.items()})
print("largest rate:", largest)

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-minilm", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## A published BERT in your block
#
# MiniLM is a BERT encoder that was trained to give similar sentences similar vectors. It is six post-norm blocks like **yours**, with one difference: GELU in place of ReLU. `load_published` builds six of your blocks, with a given `FeedForward` for the GELU, and fills in the published numbers.
#
# Nothing here is graded. Set `TALK = True` and run the two cells. The first time, 84 MB are fetched.
#
# **Predict.** Which two of the four sentences below get the most similar vectors?

# %% tags=["demonstration"]
TALK = False  # True: fetch the published numbers

# %% nbgrader={"grade": false, "grade_id": "minilm", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
if TALK:
    from coursekit.published import load_published

    minilm = load_published(EncoderBlock, "minilm")
    sentences = [
        "a brown dog is running after the black dog",
        "a black dog is running after the brown dog",
        "Two canines chase each other",
        "the company said its profit rose",
    ]
    vectors = minilm(sentences)  # (4, 384), each of length 1
    for row, sentence in zip(vectors @ vectors.T, sentences, strict=True):
        print(" ".join(f"{cosine:5.2f}" for cosine in row), sentence)

# %% [markdown] nbgrader={"grade": false, "grade_id": "minilm-seen", "locked": true, "schema_version": 3, "solution": false, "task": false}
# The second sentence describes the reverse of the first, and their cosine is .98: to these vectors it hardly matters which dog runs after which. The third has not one content word in common with the first, and still .60. Lecture 7 measures both.

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-keep", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## A picture to keep
#
# Your nine runs of exercise 7. In each panel the seeds have the same rate and the same batches; they differ only in the weights from
# which they start. A run that ends below the dotted line has learned.

# %% jupyter={"source_hidden": true} nbgrader={"grade": false, "grade_id": "keep", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
import matplotlib.pyplot as plt

figure, panels = plt.subplots(1, 3, figsize=(9, 3), sharey=True)
for (rate, seed), losses in runs.items():
    panel = panels[sorted(shares).index(rate)]
    panel.plot(range(1, 4), losses, label=f"seed {seed}", **plots.LINES[seed - 1])
    panel.set(title=f"rate {rate}: {shares[rate]:.0%} learned", xlabel="25 steps each, mean loss", xticks=range(1, 4))
for panel in panels:
    panel.axhline(1.61, color="gray", linestyle=":")
panels[0].set_ylabel("loss of your stack")
panels[2].legend()
plots.show(figure, alt="Within a panel only the start differs: where the curves part, it decides. Training loss of three seeds at three rates, with a dotted line at 1.61.")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-6", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## In your own words
#
# A colleague wants to save parameters and uses one layer norm for both places, and puts dropout on the sum instead of the
# sub-layer's output, "because it is the same thing one step later". What do you answer? Then say how you found your number in
# exercise 6, and what it means for the last block of a deep pre-norm stack. Which rate did you measure in exercise 7, and for what does
# it hold? Five to ten sentences. This earns no points; your instructor reads it and writes back.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explanation", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# A norm has only 2·D parameters, less than two per cent of the block, so there is next to nothing to save. The two places
# see tokens of different kinds, one with attention's result added and one with the feed-forward network's, and each needs
# a scale and a shift of its own. Dropout on the sum is not the same: it erases parts of the residual path, and through a
# stack of twelve blocks with rate 0.1 only 0.9²⁴ = 8 % of the features get from bottom to top unharmed. On the sub-layer's
# output it only erases what is being added; the token itself passes.
#
# A block adds a + b. Its variance is 1 + 1 + 2 · 0.25 = 2.5, and those of independent blocks add up: 36 + 18 · 2.5 = 81, so the
# deviation is 9. What the last block adds has the size √2.5 beside tokens of the size 9: the deeper a block of a pre-norm stack, the
# less it changes.
#
# I measured a largest rate of 0.001 (three seeds; at 0.002 one of three was still above the base, at 0.004 none was below). It holds for
# six post-norm blocks of width 32 that sort eight digits with Adam in 75 steps. One more seed, or more steps, may give another one.

# %% [markdown] nbgrader={"grade": false, "grade_id": "closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# Neither stack knows the order of the tokens: [lecture 05](../../lectures/05_positional_encoding.ipynb) adds it.

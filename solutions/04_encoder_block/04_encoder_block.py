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
# You build the brick that BERT, ViT and every other encoder is stacked from: attention and a feed-forward network, each
# wrapped in a residual path, a layer norm and dropout. Then you stack it, count its parameters, write the norm that
# today's language models use, and fix a stack that is wrong.
#
# **Before you start:** read [lecture 04](../../lectures/04_encoder_block.ipynb). **Time:** about 110 minutes.
#
# **How a lab works.** Each exercise has a cell with a stub, and below it a cell `check("…")`. Replace the line
# `raise NotImplementedError`, run your cell, then run the check. It says what works, what differs first, and which mistake
# it looks like; from the second failed try on it adds hints. Your mark comes from the same tests on inputs that you have
# not seen, so code that fits only the visible inputs earns nothing. Add cells wherever you like; the check cells themselves
# are restored before grading.
#
# **Letters.** B batch, T tokens, D width of a token (`d_model`), H heads, F width inside the feed-forward network (`d_ff`).
# "(…, D)" means: any leading dimensions, or none.
#
# | exercise | what you write | points | difficulty | minutes |
# |---|---|---|---|---|
# | 1 | `layer_norm` | 5 | ●●○○○ | 10 |
# | 2 | `FeedForward` | 3 | ●○○○○ | 5 |
# | 3 | `EncoderBlock` | 12 | ●●●●○ | 40 |
# | 4 | `Encoder` | 6 | ●●●○○ | 15 |
# | 5 | `encoder_parameter_count` | 4 | ●●○○○ | 10 |
# | 6 | `rms_norm` | 3 | ●●○○○ | 10 |
# | 7 | `find_the_bug` | 3 | ●○○○○ | 5 |
# | 8 | `predict` | 1 | ●○○○○ | 5 |
#
# Minutes and dots are estimated by a rule: how much there is to read and to write, and what can go wrong. They were not
# measured with students.

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

check = start_lab("04_encoder_block")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-1", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 1 · Layer norm
#
# For one token with D features:
#
# 1. mean μ and variance σ² of its features, both divided by D;
# 2. subtract μ, divide by √(σ² + eps);
# 3. multiply by gamma, add beta; both have one number for each feature.
#
# Every token is treated on its own: nothing is shared between tokens, sentences, or axes before the last. The result has
# the float type of `x`. Ready-made normalisation layers and functions are forbidden here; functions for means and roots
# are allowed.
#
# **Try it on paper first:** token (0, 6, 6, 8), gamma all 1, beta all 0. The lecture has the answer.
#
# <details><summary>Hint 1</summary>Mean and variance run along the last axis. With <code>keepdims=True</code> they keep an axis of size 1 and broadcast against x.</details>
# <details><summary>Hint 2</summary>eps stands under the root, with the variance. A token whose features are all equal then gives beta.</details>

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


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-2", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 2 · The feed-forward network
#
# Two Dense layers with bias: `dense_in` takes each token from D to F features, ReLU cuts off what is negative, and `dense_out`
# comes back to D. The checks put known weights into the layers by these names. (In Keras you give a Dense layer the width of its
# result; it finds the width of its input by itself. Its second argument is the activation.) There is no residual path in here:
# the block adds it.
#
# Dense works on the last axis and leaves the others alone, so the same code serves every token.
#
# <details><summary>Hint</summary>The argument of <code>keras.layers.Dense</code> is the number of features that come <em>out</em>.</details>

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
# ## 3 · The encoder block
#
# Now you write the whole block. It has two sub-layers, the attention and your `FeedForward`, each with dropout, a residual
# path and a layer norm. With `norm="post"`, as in the paper of 2017:
#
# > y = LN₁(x + Dropout₁(Attention(x)))    z = LN₂(y + Dropout₂(FFN(y)))
#
# With `norm="pre"`:
#
# > y = x + Dropout₁(Attention(LN₁(x)))    z = y + Dropout₂(FFN(LN₂(y)))
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
# - `training` decides whether dropout is on. Pass it to both dropouts, so that a reader sees it. (Keras would also pass it
#   by itself.)
# - The argument is not called `mask`, because Keras itself fills an argument of that name with a padding mask (B, T) when the
#   tokens come from an `Embedding(mask_zero=True)`. That shape is wrong here. (A block that calls it `mask`, as this lab did
#   before, is still graded.)
# - The block survives a round trip: `EncoderBlock.from_config(block.get_config())` makes an equal block of the same
#   name. So `get_config` returns every argument of `__init__`, and everything that `super().get_config()` returns (the
#   name and the float type, for example). The stack of exercise 4 needs none: no check rebuilds it.
# - The output has the shape of x, (B, T, D).
#
# <details><summary>Hint 1</summary>Write post-norm first and check: you can pass the groups of checks one by one. Then put the pre-norm lines beside it, under an <code>if self.norm == "pre"</code>.</details>
# <details><summary>Hint 2</summary>Self-attention: <code>self.attention(query=h, value=h, attention_mask=attention_mask)</code>. Keras takes the value as key when you give no key. In pre-norm h is normalised once, and is query and value.</details>
# <details><summary>Hint 3</summary>Two dictionaries are joined by <code>{**super().get_config(), "d_model": self.d_model}</code>. For that, <code>__init__</code> has to keep its arguments.</details>

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
        ### BEGIN SOLUTION
        self.d_model, self.num_heads, self.d_ff = d_model, num_heads, d_ff
        self.dropout, self.norm = dropout, norm
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
        ### BEGIN SOLUTION
        names = ("d_model", "num_heads", "d_ff", "dropout", "norm")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "EncoderBlock", "locked": true, "points": 12, "schema_version": 3, "solution": false, "task": false}
check("EncoderBlock")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-4", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 4 · The stack
#
# `num_layers` blocks, one after the other, kept in a plain Python list under the name `blocks` (not in a `Sequential`). Each has weights of its own. They all get
# the same mask and the same `training`, by name: `block(x, attention_mask=attention_mask, training=training)`. A pre-norm stack has one more part, a layer norm with `epsilon=1e-6` under the name
# `norm`, which comes last.
#
# Predict first: three blocks of 10,000 parameters each. How many does the stack have if you write
# `[EncoderBlock(…)] * 3`?
#
# <details><summary>Hint 1</summary><code>[block] * 3</code> is a list of three times the <em>same</em> block. A comprehension calls the class anew for each entry.</details>
# <details><summary>Hint 2</summary>The final layer norm needs the name <code>norm</code>. Keep the argument under another name, for instance <code>self.order</code>.</details>

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


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-5", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 5 · Counting
#
# How many trainable numbers has **one** block? Count every weight matrix and every bias: queries, keys, values, the output
# projection, the two Dense layers, and gamma and beta of two norms. Without `key_dim` each head is D/H wide; with it, each
# head has that width, whatever D and H are.
#
# The block with D = 32, two heads, F = 32 and `key_dim` 32 has 10,656. The block of the base model of 2017
# (512, 8, 2,048) has 3,152,384 in Keras, whose attention has biases (the paper's formulas have none there).
#
# <details><summary>Hint</summary>All heads together are H·key_dim wide. Which matrices have that width on one side, and D on the other?</details>

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
    norms = 2 * 2 * d_model
    return attention + feed_forward + norms
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "encoder_parameter_count", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("encoder_parameter_count")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-rms", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 6 · RMS norm
#
# LLaMA and most language models since then leave out half of the layer norm: they subtract no mean and add no shift. What is left
# divides a token by the **root mean square** of its features (Zhang and Sennrich 2019):
#
# $$\mathrm{rms\_norm}(x) = \gamma \, \frac{x}{\sqrt{\mathrm{mean}(x^2) + \epsilon}}$$
#
# As in exercise 1 the mean runs over the features of one token, and ready-made norms are forbidden.
#
# **On paper first:** token (0, 6, 6, 8), gamma all 1. What is its root mean square, and for which tokens do both norms give the same
# result?
#
# <details><summary>Answer</summary>The mean of the squares is (0 + 36 + 36 + 64)/4 = 34, so every feature is divided by √34 ≈ 5.83. Both give the same result for tokens whose mean is 0, if gamma is the same and beta is 0.</details>
# <details><summary>Hint</summary>Read the name backwards: square, mean, root. Where does eps stand in the formula?</details>

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


# %% nbgrader={"grade": true, "grade_id": "rms_norm", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("rms_norm")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 7 · Find the bug
#
# A colleague has written the pre-norm stack for any norms and any sub-layers, both given as functions of tokens. It runs. But the
# lecture says that the tokens of a pre-norm stack grow from sub-layer to sub-layer, and here they have the same size after every
# sub-layer, however deep the stack is. Nor does it learn with many layers.
#
# The code is in the cell below. Delete the line `raise NotImplementedError`, find out why this happens, and fix it.
#
# <details><summary>Hint 1</summary>Write down the formula of pre-norm. Beside each x in it, write what that name holds in the code.</details>
# <details><summary>Hint 2</summary>Take a norm that returns zeros. What should the token be after one sub-layer, and what is it?</details>

# %% nbgrader={"grade": false, "grade_id": "find_the_bug-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def find_the_bug(x, norms, sublayers, final_norm):
    """A pre-norm stack of any sub-layers.

    Args:
        x: tokens, (B, T, D), a tensor.
        norms: list of functions from tokens to tokens, one for each sub-layer.
        sublayers: list of functions from tokens to tokens: attention, feed-forward network, attention, …
        final_norm: the norm behind the last sub-layer.

    Returns:
        (B, T, D).
    """
    ### BEGIN SOLUTION
    for norm, sublayer in zip(norms, sublayers, strict=True):
        x = x + sublayer(norm(x))
    return final_norm(x)
    ### END SOLUTION
    # This runs, and is wrong.
    for norm, sublayer in zip(norms, sublayers, strict=True):
        x = norm(x)
        x = x + sublayer(x)
    return final_norm(x)


# %% nbgrader={"grade": true, "grade_id": "find_the_bug", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("find_the_bug")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 8 · Predict, then measure
#
# The tokens enter a pre-norm stack of 12 blocks with a standard deviation of 1. Each block has two sub-layers, and each of the 24 adds
# numbers with a standard deviation of 1 that are independent of what is there already. What is the standard deviation of the tokens
# before the final norm? Put your number in place of `None`, and delete the last line of the cell. Predict it before you run the
# measurement, which sends random numbers through the stack of exercise 7. Write down why: "In your own words" asks for it. An answer
# within about 10 % counts as right.

# %% nbgrader={"grade": false, "grade_id": "predict-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
predict = None  # one number: the standard deviation in front of the final norm
### BEGIN SOLUTION
predict = 5
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("predict")

# %% nbgrader={"grade": false, "grade_id": "measured", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
rng = np.random.default_rng(0)


def unchanged(tokens):
    return tokens


def noise(tokens):
    return rng.normal(size=tokens.shape).astype("float32")


start = rng.normal(size=(8, 50, 64)).astype("float32")  # (B, T, D)
for depth in (0, 3, 8, 24):
    end = find_the_bug(start, [unchanged] * depth, [noise] * depth, unchanged)
    print(f"after {depth:2} sub-layers: standard deviation {np.std(end):.2f}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-7", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## See your stack at work
#
# Your `Encoder`, untrained, 16 blocks deep, in both orders. Each panel follows the same tokens from block to block: how large
# they are, and how alike. Before you run the cell: which curve grows, and what would the final norm do to it?

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
    unit = [state / ops.norm(state, axis=-1, keepdims=True) for state in states]
    cosines = [ops.einsum("btd,bsd->bts", u, u) for u in unit]  # (B, T, T) each
    alike = [float((ops.sum(c) - 4 * 8) / (4 * 8 * 7)) for c in cosines]  # of different tokens: the diagonal is left out
    plots.measured_curve(range(17), sizes, label=f"{order}-norm", line=line, ax=panels[0])
    plots.measured_curve(range(17), alike, label=f"{order}-norm", line=line, ax=panels[1])
panels[0].set(xlabel="blocks passed", title="size of the tokens (standard deviation)", ylim=(0, None))
panels[1].set(xlabel="blocks passed", title="mean cosine of two different tokens", ylim=(-0.1, 1.05))
plots.show(figure, alt="""Two panels over sixteen blocks. Size: constant in post-norm, growing like a square root in pre-norm.
Mean cosine of two tokens: rising in both, faster in post-norm.""")

# %% [markdown] nbgrader={"grade": false, "grade_id": "observed", "locked": true, "schema_version": 3, "solution": false, "task": false}
# The pre-norm stack lets its tokens grow, and its final norm brings them back to one size. In both stacks the tokens
# become more alike while nothing is trained.

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-6", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## In your own words
#
# A colleague wants to save parameters and uses one layer norm for both places, and puts dropout on the sum instead of the
# sub-layer's output, "because it is the same thing one step later". What do you answer? Then say how you found your number in
# exercise 8, and what it means for the last block of a deep pre-norm stack. Four to eight sentences. This earns no points;
# your instructor reads it and writes back.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explanation", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# A norm has only 2·D parameters, less than two per cent of the block, so there is next to nothing to save. The two places
# see tokens of different kinds, one with attention's result added and one with the feed-forward network's, and each needs
# a scale and a shift of its own. Dropout on the sum is not the same: it erases parts of the residual path, and through a
# stack of twelve blocks with rate 0.1 only 0.9²⁴ = 8 % of the features get from bottom to top unharmed. On the sub-layer's
# output it only erases what is being added; the token itself passes.
#
# Variances of independent numbers add up: 1 + 24 · 1 = 25, so the deviation is 5. What the last sub-layer adds has the size 1
# beside tokens of the size 5: the deeper a block of a pre-norm stack, the less it changes.

# %% [markdown] nbgrader={"grade": false, "grade_id": "closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# Neither stack knows the order of the tokens: [lecture 05](../../lectures/05_positional_encoding.ipynb) adds it.

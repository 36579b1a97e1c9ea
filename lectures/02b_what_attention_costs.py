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
# # 2b · What attention costs
#
# **Attention takes one step between any two tokens, and pays for it with $T^2$.**
#
# [← 2 · Self-attention](02_self_attention.ipynb) · [Lab 2](../labs/02_self_attention/02_self_attention.ipynb) · [3 · Multi-head
# attention →](03_multi_head_attention.ipynb)
#
# This lecture is optional. A recurrent network reads tokens one after another; attention compares all pairs at once. At 2,048 tokens of width 64 that takes 33 times as many multiplications. **Which of the two is faster there?** Write down your guess. Section 2 counts and measures it.
#
# **Afterwards you can**
#
# * count the operations and the bytes of attention;
# * compare attention, convolution and recurrence by cost, sequential steps and path;
# * compute a softmax in blocks, exactly, without the square in memory;
# * read a timing: what belongs to the method, and what to the program that runs it;
# * say why a model reads its prompt fast and writes slowly.
#
# **You need** [lecture 2](02_self_attention.ipynb). **Time:** about 50 minutes to read and predict (estimated, not measured); the code runs in
# about a minute on two CPU cores.

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
from coursekit import diagrams, plots, quiet

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook
plots.use_course_style()

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import layers
from scipy.special import softmax

from coursekit import speed

keras.utils.set_random_seed(4)

# %% [markdown]
# <a id="counting"></a>
#
# ## 1 · Count it
#
# Two products do the work of attention. $QK^\top$ has $T\cdot T$ entries, each a sum of $D$ terms; weights times $V$ has $T\cdot D$ entries, each a sum of
# $T$ terms. Together they take $2T^2D$ multiply–adds. The projections to $Q$, $K$ and $V$ take $3TD^2$ more. One matrix of weights has $T^2$ numbers.

# %% [markdown]
# **Predict.** At $T = 512$ one matrix of weights takes 1 MiB in float32. How much does it take at $T = 32{,}768$? By which factor do the
# multiply–adds of the two products grow?
#
# <details><summary>Answer</summary>
#
# The length grows by 32768/512 = 64, so both grow by 64·64 = 4096. This one matrix takes 4096 MiB, which is 4 GiB.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
print("      T   products, D = 64   projections   weights (float32)")
for T in (64, 512, 4096, 32768):
    print(f"{T:7,} {2 * T * T * 64:18,} {3 * T * 64 * 64:13,} {T * T * 4 / 2**20:12,.2f} MiB")

# %% [markdown]
# Up to $T = 1.5D$ these projections cost more than the two products. Beside a whole block (lecture 4), whose matrices take $12TD^2$, the square overtakes only at $T = 6D$: at a width of 768, after 4,608 tokens.
#
# **Twice the length costs four times the multiply–adds of the two products, and four times the memory of the weights.**

# %% [markdown]
# <a id="paths"></a>
#
# ## 2 · What the square buys
#
# A recurrence computes $h_t$ from $x_t$ and $h_{t-1}$, so step 100 waits for step 99. A causal convolution of width $k$ sees a token and the $k-1$ before it, so it needs many layers to
# connect distant tokens. A **path** counts the layers or steps between two tokens.
#
# | layer | multiply–adds | sequential steps | longest path |
# |---|---|---|---|
# | self-attention | $2T^2D + 3TD^2$ | 1 | 1 |
# | recurrence | $2TD^2$ | $T$ | $T-1$ |
# | convolution, width $k$ | $kTD^2$ | 1 a layer | $(T-1)/(k-1)$ layers; about $\log_k T$ if dilated |
#
# (After table 1 of Vaswani et al. 2017, with our constants. *Dilated*: each layer skips k times as many positions as the one before.)

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, panels = plt.subplots(1, 3, figsize=(10, 2.7))
titles = ("self-attention: 1 step", "recurrence: T − 1 steps", "convolution, k = 3: (T − 1)/2 layers")
for ax, design, title in zip(panels, ("attention", "recurrence", "convolution"), titles, strict=True):
    diagrams.paths(ax, design, title=title)
plots.show(
    figure,
    alt="""Only in attention does the path not grow with the length. Seven tokens each: attention joins the first and the last by one
arrow, the recurrence by a chain of six steps, the convolution by three layers.""",
)


# %% [markdown]
# A long path shows in the gradient. We take untrained layers and measure how strongly the last output depends on the token $d$ steps back. (We multiply the 32 numbers of the output by random numbers of variance 1, add them up, and take the gradient of the sum.)

# %% [markdown]
# **Predict.** Which curve falls with the distance?
#
# - (a) none; the layers are untrained
# - (b) those of the two recurrences, about exponentially
# - (c) all three
#
# <details><summary>Answer</summary>
#
# **(b)** For each token further back, the gradient passes one more step of the recurrence, and here every step makes it smaller. Attention reaches each token in one step, so its curve is flat. It
# is also low: the gradient at the last output has a norm of about $\sqrt{32}$, and equal weights would pass 1/59 of it to each token: $\sqrt{32}/59 = 0.096$.
#
# </details>

# %%
def last_token_attends(x):  # (B, T, D) -> (B, D): one query, the last token's
    weights = keras.ops.softmax(keras.ops.einsum("bd,bsd->bs", x[:, -1], x[:, :-1]) / 32**0.5)
    return keras.ops.einsum("bs,bsd->bd", weights, x[:, :-1])


untrained = {"simple RNN": layers.SimpleRNN(32), "LSTM": layers.LSTM(32), "attention": last_token_attends}
decay = {name: speed.gradient_by_distance(layer, length=60, width=32) for name, layer in untrained.items()}
for name, norms in decay.items():
    print(f"{name:11} gradient 1 step back {norms[1]:.1e}, 59 steps back {norms[59]:.1e}")

# %% jupyter={"source_hidden": true} tags=["drawing"]
ax = plt.subplots(figsize=(6.2, 3.0))[1]
for line, (name, norms) in enumerate(decay.items()):
    ax.plot(range(1, 60), norms[1:], label=name, markevery=6, **plots.LINES[line])
ax.set(yscale="log", xlabel="steps back from the last token", ylabel="norm of the gradient")
ax.legend()
plots.show(
    ax,
    alt="""The gradient of a recurrence fades with the distance, that of attention does not. Logarithmic axis: two
falling lines, the simple RNN steeper than the LSTM, and one flat line for attention.""",
)


# %% [markdown]
# Attention's curve is flat because the tokens are random: none has a reason to get more weight than another. (This attention has no matrices and leaves its own token out.) Trained attention may look at few tokens, and then its gradient is not flat: what always holds is the path of one step. Bengio et al. (1994) described the fading. The LSTM has a forget gate, which decides how much of its state it keeps; Keras starts the bias of this gate at 1, so that it keeps more (Gers et al. 2000; Jozefowicz et al. 2015).
#
# Now the price. Both layers are whole here: attention with its three projections, the recurrence with its input matrix. At $D = 64$ and 2,048 tokens attention takes 33 times as many multiply–adds: $(2T + 3D)/2D = 33.5$. One recurrence is timed in two programs: in the loop that Keras makes, one turn a token, and compiled as a whole by XLA (`jit_compile=True`). Both do the same arithmetic with the same parameters.

# %% [markdown]
# **Predict.** Which is the fastest on one sequence of 2,048 tokens?
#
# - (a) attention: nothing in it waits
# - (b) the recurrence in Keras's loop: it multiplies least
# - (c) the recurrence as one compiled program
#
# <details><summary>Answer</summary>
#
# **(c)**, in our run. In Keras's loop the same recurrence needs several times as long.
#
# </details>

# %%
class ProjectedAttention(keras.Layer):  # 2T²D + 3TD² multiply-adds
    def __init__(self, width):
        super().__init__()
        self.query, self.key, self.value = (layers.Dense(width, use_bias=False) for _ in range(3))
        self.attend = layers.Attention()  # dot products, softmax, average

    def call(self, x):  # (B, T, D)
        return self.attend([self.query(x), self.value(x), self.key(x)])


attention, recurrence = ProjectedAttention(64), layers.SimpleRNN(64, return_sequences=True)  # the second: 2TD²
x = tf.ones((1, 2, 64))
attention(x), recurrence(x)  # they make their parameters
timed = {"attention": attention, "recurrence, Keras's loop": recurrence, "recurrence, compiled": tf.function(recurrence, jit_compile=True)}
lengths = [64, 128, 256, 512, 1024, 2048]
milliseconds = speed.fastest(timed, lengths, width=64)  # name -> (lengths,): the fastest of thirty calls
print(f"{'T':24}", " ".join(f"{T:7,}" for T in lengths))
for name, row in milliseconds.items():
    T, work = 2048, 2 * 2048**2 * 64 + 3 * 2048 * 64**2 if name == "attention" else 2 * 2048 * 64**2
    print(f"{name:24}", " ".join(f"{value:7.2f}" for value in row), f"ms;  at 2,048: {1000 * row[-1] / T:5.1f} µs a token, {work / row[-1] / 1e6:5.2f} billion multiply-adds a second")

# %% jupyter={"source_hidden": true} tags=["drawing"]
ax = plt.subplots(figsize=(6.6, 3.4))[1]
for line, (name, times) in enumerate(milliseconds.items()):
    plots.measured_curve(lengths, times, label=name, line=line, ax=ax, xscale="log", yscale="log")
ax.set(xlabel="T", ylabel="milliseconds per call")
ax.set_xticks(lengths, lengths)
ax.minorticks_off()
plots.show(
    ax,
    alt="""One recurrence, two programs: in the loop of the framework it is slower than attention up to 1,024 tokens, compiled it is faster at the end. The fastest of thirty calls against length, both axes logarithmic:
the curve of the recurrence in Keras's loop lies highest up to 1,024 tokens, its compiled twin below it everywhere; attention starts low and rises most steeply at the end.""",
)


# %% [markdown]
# At 2,048 tokens Keras's loop takes 14.7 µs a token, the compiled program 1.3, with the same parameters and the same multiply–adds. So what the loop's time measures here is mostly the loop. Up to 1,024 tokens attention is faster than the loop; at 2,048 it is slower than the compiled program. Which of attention and recurrence is “faster” therefore depends on the program, and so does the length at which their curves meet.
#
# Two things do belong to the methods. Attention has 33 times the work at this length, and the terms of each of its products can be computed at the same time; a recurrence's step waits for the step before, in any program.
#
# **The count belongs to the method, the clock to the program as well: time one method in two programs before you compare two methods.**

# %% [markdown]
# <a id="blocks"></a>
#
# ## 3 · The same softmax, in blocks
#
# Attention needs all $T^2$ scores, but not all at the same time. The softmax of a row needs its largest score $m$ and the sum of all $e^{s-m}$. Compute the scores in blocks and keep only these two numbers. When a block brings a larger
# maximum $m'$, multiply the old sum by $e^{m-m'}$: each of its terms $e^{s-m}$ becomes $e^{s-m'}$. This is the *online softmax* (Milakov and Gimelshein 2018).

# %% [markdown]
# **By hand.** Scores 1 and 2 form the first block, 3 the second. What are the maximum and the sum after each block? ($e^{-1} = 0.368$)
#
# <details><summary>Answer</summary>
#
# First block: maximum 2, sum 1 + 0.368 = 1.368. The second block brings 3. The old sum is multiplied by $e^{2-3} = 0.368$, and 1 is added:
# 1.368·0.368 + 1 = 1.503. All at once: 1 + 0.368 + 0.135 = 1.503.
#
# </details>

# %%
# NBVAL_CHECK_OUTPUT
def sum_in_blocks(scores, size):
    """The maximum and the sum of exponentials of scores (T,), `size` scores at a time."""
    largest, total = -np.inf, 0.0
    for start in range(0, len(scores), size):
        block = scores[start : start + size]
        before, largest = largest, max(largest, block.max())
        total = total * np.exp(before - largest) + np.exp(block - largest).sum()
    return largest, total


scores = np.random.default_rng(0).normal(size=1000) * 8
largest, total = sum_in_blocks(scores, size=128)
print("the same weights:", np.allclose(np.exp(scores - largest) / total, softmax(scores)))
print("by hand:", round(sum_in_blocks(np.array([1.0, 2.0, 3.0]), size=2)[1], 3))

# %% [markdown]
# The sum of the weighted values is kept in the same way and multiplied by the same factor. **FlashAttention** (Dao et al. 2022) does this for blocks of queries and keys, and computes the blocks again in the backward
# pass. Its output is exact, and its extra memory grows with $T$ instead of $T^2$. [Lab 2](../labs/02_self_attention/02_self_attention.ipynb) lets you write the forward pass, in blocks of keys.
#
# **For an exact softmax the matrix need not be stored: a running maximum and a running sum for each row are enough.**

# %% [markdown]
# <a id="memory-bound"></a>
#
# ## 4 · Count the bytes that move
#
# FlashAttention computes the scores twice and still takes less time on a GPU. Dao et al. (2022, figure 2) give the numbers of one forward and backward pass on an A100 (64 sequences of 1,024 tokens, 16 heads of width 64). The operations are ours, by the count of section 1: a multiply–add is two, and there are six products of this size (two forward, four backward), or seven with the scores computed again. (The figure prints 66.6 and 75.2 billion, about a twelfth of our count; how it counted we do not know.)
#
# | | operations, counted | moved to and from the main memory | time |
# |---|---|---|---|
# | standard attention | 825 billion | 40.3 GB | 41.7 ms |
# | FlashAttention | 962 billion | 4.4 GB | 7.3 ms |
#
# An A100 can do 312 trillion operations a second, and move 1.555 trillion bytes (NVIDIA 2021, data sheet). So while one byte arrives it could do 200 operations. The ratio of a program, operations per byte that it moves, is its **arithmetic intensity**: in the table about 20 and 220. Below 200 the memory sets the pace: the program is **memory-bound**. The first row's bytes alone take 40.3/1.555 = 26 ms, most of its time. In the second row the bytes alone would take 4.4/1.555 = 2.8 ms and the arithmetic alone 962/312 = 3.1. Both can go on at the same time, so 3.1 ms would be possible; it took 7.3.
#
# * *Standard attention* writes $T^2$ scores, reads them for the softmax, writes $T^2$ weights and reads them again: $4T^2$ numbers of 2 bytes each, for $2T^2D$ multiply–adds, which are $4T^2D$ operations. The intensity is $D/2$, for a head of width 64 thus 32, whatever $T$ is.
# * *In blocks*, only $Q$, $K$, $V$ and $Z$ pass: at best, each of them once, which makes $4TD$ numbers of 2 bytes. The intensity is then $T/2$. A real program reads keys and values again for each block of queries, so it stays below this. (The table's 20 and 220 are for forward and backward pass together, $D/2$ and $T/2$ for the forward pass.)

# %% [markdown]
# **Predict.** A language model with $P$ parameters of 2 bytes each reads a prompt of 1,000 tokens in one pass, then writes 1,000 tokens, one pass each. A pass multiplies each parameter by each token once. What are the two intensities?
#
# <details><summary>Answer</summary>
#
# Reading: $2\cdot 1000\,P$ operations for $2P$ bytes, so 1,000: the arithmetic sets the pace. Writing: $2P$ operations for $2P$ bytes, so 1: two hundred times too few. The chip waits for its memory.
#
# </details>

# %% [markdown]
# Drawn as speed over intensity this is a **roofline** (Williams et al. 2009): the roof climbs while the memory sets the pace, and is flat from the **ridge point** on, where arithmetic does.

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, ax = plt.subplots(figsize=(7.2, 3.5))
roof = np.array([0.5, 312 / 1.555, 3000])
ax.plot(roof, np.minimum(1.555 * roof, 312), color=diagrams.PALETTE["ink"])
ax.text(3, 9, "1.555 trillion bytes a second", rotation=31, ha="center", fontsize=9)
ax.text(2500, 345, "312 trillion operations a second", ha="right", fontsize=9)
for line, (name, operations, moved, took) in enumerate((("standard attention", 825, 40.3, 41.7), ("FlashAttention", 962, 4.4, 7.3))):
    style = {**plots.LINES[line], "linestyle": "none", "markersize": 9}
    ax.plot(operations / moved, operations / took, **style, label=f"{name}, measured")
    print(f"{name}: {operations / moved:.0f} operations per byte, {operations / took:.0f} trillion a second; the roof there: {min(1.555 * operations / moved, 312):.0f}")
for intensity, name in ((1, "writing"), (1000, "reading 1,000 tokens")):
    ax.axvline(intensity, color=diagrams.PALETTE["residual"], linestyle=":", zorder=0)
    ax.text(intensity * 0.9, 0.75, name, rotation=90, ha="right", va="bottom", fontsize=9, zorder=1)
ax.set(xlabel="operations per byte that moves", ylabel="trillion operations a second", xscale="log", yscale="log", ylim=(0.6, 600))
ax.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
ax.set_yticks([1, 10, 100], ["1", "10", "100"])
ax.minorticks_off()
ax.legend(loc=(0.3, 0.05), fontsize=9)
plots.show(
    figure,
    alt="""Writing stands at the left end of the roof, where the memory sets the pace; reading stands where arithmetic does. The roof of an A100 from its data sheet, both axes logarithmic: trillions of operations a second
over operations per byte, climbing up to about 200 and then flat. Two points from Dao et al. lie below it: standard attention under the slope, FlashAttention near the ridge. Dotted lines mark writing, at 1, and reading 1,000 tokens, at 1,000.""",
)

# %% [markdown]
# Two habits of language models follow. A **prefill**, which reads the prompt, is fast for each token; a **decode**, which writes, is slow. And many conversations are written at the same time, because a batch of 50 uses each parameter 50 times while it is there.
#
# A third habit has another reason. The keys and values of what has been read are kept (the **cache**, lecture 8b): that saves computing the whole prefix again. But the cache is read at every step, and no other conversation shares it, so it *lowers* the intensity. SmolLM2 (lecture 10) has 134.5 million parameters, and keeps $2 \cdot 30 \cdot 3 \cdot 64 = 11{,}520$ numbers for each token (a key and a value, 30 layers, three heads of 64). So the cache of 11,700 tokens is as large as the model: in a batch of 50, at 234 tokens each. Hence heads that share keys and values (lecture 3), and *latent attention*, which stores one short vector in place of both (DeepSeek-AI 2024).
#
# **Count the bytes that move, not only the multiplications.**

# %% [markdown]
# <a id="without-the-square"></a>
#
# ## 5 · Without the square
#
# Can the square go? Put $\phi(q)\cdot\phi(k)$, with positive features $\phi$, in place of the exponential, and the brackets may move: $(\phi(Q)\phi(K)^\top)V = \phi(Q)(\phi(K)^\top V)$. On the right stands a matrix of $D \times D$ in place of one of $T \times T$. With a causal mask it grows token by token, $S_t = S_{t-1} + \phi(k_t) v_t^\top$, and the sum that normalises, $\phi(k_1) + \dots + \phi(k_t)$, is carried along: **linear attention** (Katharopoulos et al. 2020) is a recurrence whose state has one size at every length. It is *not* softmax attention computed in another order: the weights are others. By count it takes $2TD^2$ multiply–adds in place of $2T^2D$: fewer for $T > D$, more for $T < D$.

# %%
# NBVAL_CHECK_OUTPUT
Q, K, V = np.random.default_rng(0).normal(size=(3, 6, 4))  # (T, D) each
Q, K = np.exp(Q), np.exp(K)  # the features: positive
weights = np.tril(Q @ K.T)  # (T, T): a token sees itself and what came before
square = weights / weights.sum(axis=1, keepdims=True) @ V

state, keys = np.zeros((4, 4)), np.zeros(4)
for q, k, v, z in zip(Q, K, V, square, strict=True):
    state, keys = state + np.outer(k, v), keys + k
    assert np.allclose(q @ state / (q @ keys), z)
print("the recurrence gives the same six outputs")


# %% [markdown]
# The price is what the state can hold: $D \times D$ numbers for any past. **State-space models** such as Mamba (Gu and Dao 2023) let the state forget, by a gate that the token itself sets; Dao and Gu (2024) show how close they are to linear attention. They write long texts at a constant cost for each token. Where something must be copied word by word from far back, a state of fixed size falls behind attention (Jelassi et al. 2024). So some large models mix both: most layers with a state, a few with attention.
#
# **With features in place of the exponential, this other attention is a recurrence: its cost grows with $T$, not with $T^2$, and its memory has a fixed size.**

# %% [markdown]
# ## Two mistakes
#
# **The sums of the blocks are added without the factor.** Each block has its own maximum, and the result is wrong as soon as two of them differ. **The first call is timed, too.** It also
# builds the program that later calls reuse.

# %%
def never_repaired(scores, size):
    blocks = [scores[start : start + size] for start in range(0, len(scores), size)]
    return sum(np.exp(block - block.max()).sum() for block in blocks)


print(f"sum without the factor {never_repaired(scores, 128):.2f}, correct {total:.2f}")
first, later = speed.first_call_and_later(layers.SimpleRNN(64), length=256, width=64)
print(f"the first call takes {first / later:.0f} times as long as a later one")

# %% [markdown]
# ## Four questions
#
# **1.** $D = 512$. From which $T$ on do the two products of attention take more multiply–adds than a recurrence's $2TD^2$?
# <details><summary>Answer</summary>$2T^2D = 2TD^2$ at $T = D = 512$. With its projections attention takes more at every length: $3TD^2$ alone exceeds $2TD^2$.</details>
#
# **2.** In section 2 attention is faster at $T = 512$ than the recurrence in Keras's loop, although it multiplies more. Why?
# <details><summary>Answer</summary>Mostly for the program's sake: a turn of this loop takes far longer than its arithmetic, and there are 512 turns. Compiled, the same recurrence is faster than attention there.</details>
#
# **3.** Does FlashAttention change the number of multiplications from $T^2$ to $T$?
# <details><summary>Answer</summary>No, they still grow with $T^2$. What grows with $T$ is the extra memory.</details>
#
# **4.** Two programs take 5 ms and 50 ms at $T = 64$, and 20 ms and 60 ms at $T = 256$. Which one grows faster, and which one would you use?
# <details><summary>Answer</summary>The first grows faster (20/5 = 4 against 60/50 = 1.2), and it is faster at both lengths. Growth decides only at lengths that were not timed.</details>
#
# <details><summary><b>What this page does not show</b></summary>
#
# * Its timings are those of one machine with two cores, one sequence at a time, $D = 64$, while other programs ran. Yours will differ, and so will the length at which two curves meet.
# * Nothing here ran on a GPU: its numbers in section 4 are cited or counted.
# * Linear attention is computed, not trained or timed.
# * How long a recurrence takes on a GPU, where thousands of units could work on independent products, was not measured.
#
# </details>
#
# ## Summary
#
# * Attention: $2T^2D$ multiply–adds for its products, $T^2$ weights, a path of one step.
# * Recurrence: $2TD^2$ multiply–adds, $T$ sequential steps; its gradient fades with the distance.
# * A softmax can be computed in blocks, exactly; FlashAttention saves memory and movement, not multiplications.
# * Reading a prompt is bound by arithmetic, writing by memory: operations per byte decide.
# * Linear attention and state-space models keep a state of fixed size in place of all keys and values.
#
# Next: [lecture 3](03_multi_head_attention.ipynb) gives a token two questions at once.
#
# **Attention takes one step between any two tokens, and pays for it with $T^2$.**
#
# ## References
#
# * A. Vaswani et al., *Attention Is All You Need*, 2017: section 4 and table 1. [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)
# * T. Dao et al., *FlashAttention*, 2022. [arXiv:2205.14135](https://arxiv.org/abs/2205.14135)
# * S. Williams, A. Waterman, D. Patterson, *Roofline: an insightful visual performance model*, 2009. NVIDIA, *A100 tensor core GPU*, data sheet, 2021.
# * A. Katharopoulos et al., *Transformers are RNNs*, 2020, [arXiv:2006.16236](https://arxiv.org/abs/2006.16236). A. Gu, T. Dao, *Mamba*, 2023, [arXiv:2312.00752](https://arxiv.org/abs/2312.00752). T. Dao, A. Gu, *Transformers are SSMs*, 2024, [arXiv:2405.21060](https://arxiv.org/abs/2405.21060). S. Jelassi et al., *Repeat after me*, 2024, [arXiv:2402.01032](https://arxiv.org/abs/2402.01032). DeepSeek-AI, *DeepSeek-V2*, 2024, [arXiv:2405.04434](https://arxiv.org/abs/2405.04434): multi-head latent attention.
# * M. Milakov, N. Gimelshein, *Online Normalizer Calculation for Softmax*, 2018. [arXiv:1805.02867](https://arxiv.org/abs/1805.02867)
# * Y. Bengio, P. Simard, P. Frasconi, *Learning Long-Term Dependencies with Gradient Descent is Difficult*, 1994
# * F. Gers, J. Schmidhuber, F. Cummins, *Learning to Forget*, 2000; R. Jozefowicz, W. Zaremba, I. Sutskever, *An Empirical Exploration of Recurrent Network Architectures*, 2015
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# **Symptoms.** Timings that jump: other programs run beside yours; compare the fastest calls, in turns. NaN in blocks: the first block has only blocked keys, and −∞ − (−∞) is not a number.
#
# **Slow machine, GPU.** Stop `lengths` at 1024. On a GPU go to 16,384; one matrix of weights then takes 1 GiB.
#
# **Further reading.** D2L, [section 11.6](https://d2l.ai/chapter_attention-mechanisms-and-transformers/self-attention-and-positional-encoding.html), compares the same three layers, without timings.
#
# </details>

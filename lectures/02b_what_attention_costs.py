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
# This lecture is optional. A recurrent network reads tokens one after another; attention compares all pairs at once. By the count, the products of attention overtake the recurrence in work at $T = D$, here at 64 tokens. **Does the clock agree?** Write down your guess. Section 2 measures it.
#
# **Afterwards you can**
#
# * count the operations and the bytes of attention;
# * compare attention, convolution and recurrence by cost, sequential steps and path;
# * compute a softmax in blocks, exactly, without the square in memory;
# * read a timing: what belongs to the method, and what to the machine;
# * say why a model reads its prompt fast and writes slowly.
#
# **You need** [lecture 2](02_self_attention.ipynb). **Time:** about 47 minutes to read and predict (estimated, not measured); the code runs in
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

import timeit

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
# Now the price. We time the layers in turns, one forward pass on one sequence, $D = 64$; for attention we leave the projections out, which by the count are the larger part at 64 tokens. We take the fastest of thirty calls, because other programs can only make a call slower.

# %%
attend = layers.Attention()  # dot products, softmax, average: no parameters
timed_layers = {
    "attention": lambda x: attend([x, x]),
    "recurrence": layers.SimpleRNN(64, return_sequences=True),
    "convolution": layers.Conv1D(64, kernel_size=3, padding="causal"),
}
lengths = [64, 128, 256, 512, 1024, 2048, 4096, 8192]
milliseconds = speed.fastest(timed_layers, lengths, width=64)  # name -> (lengths,)
for name, row in milliseconds.items():
    print(f"{name:11}", " ".join(f"{value:7.1f}" for value in row), "ms")
crossing = speed.crossing(lengths, milliseconds["attention"], milliseconds["recurrence"])  # None: not in this range
where = f"about T = {crossing:,.0f}" if crossing else "a length outside this range"
print("attention and recurrence take equally long at", where)

# %% jupyter={"source_hidden": true} tags=["drawing"]
ax = plt.subplots(figsize=(6.6, 3.4))[1]
for line, (name, times) in enumerate(milliseconds.items()):
    plots.measured_curve(lengths, times, label=name, line=line, ax=ax, xscale="log", yscale="log")
if crossing:
    ax.axvline(crossing, color=diagrams.PALETTE["residual"], linestyle=":", zorder=0)
    label = f"equal at T ≈ {crossing:,.0f}"
    ax.annotate(label, (crossing, 0.6), ha="right", xytext=(-5, 0), textcoords="offset points")
ax.set(xlabel="T", ylabel="milliseconds per call")
ax.set_xticks(lengths, lengths)
ax.minorticks_off()
plots.show(
    ax,
    alt="""In this run attention is faster than the recurrence for sentences and pages, and slower only for texts of thousands of tokens. The fastest
of thirty calls against length; the two curves cross where the dotted line stands, and the convolution lies below both at the end.""",
)


# %% [markdown]
# The clock does not agree. At short lengths the square does not show: from 64 to 256 tokens attention takes about the same time. At 2,048, with 32 times the recurrence's multiply–adds in its products, it is still 3.7 times as fast. (The convolution is faster than both from 512 tokens on; it loses only the path.)
#
# From 2,048 to 4,096 tokens attention took 13 times as long, not four, and so the curves cross at about 3,275. The formula had not changed. How the C library hands out memory can do part of it: on another machine attention at 8,192 tokens took 92 ms, and 48 ms where the library was told to keep freed memory, and then the curves did not cross. So this crossing is not one of attention and recurrence alone: the count belongs to the method, the clock to the machine as well.
#
# **Attention joins any two tokens in one step and waits for nothing; it pays with a square that only long inputs notice.**

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
# FlashAttention computes the scores twice and still takes less time on a GPU. Dao et al. (2022, figure 2) give the numbers of one forward and backward pass on an A100 (64 sequences of 1,024 tokens, 16 heads of width 64). The operations are ours, by the count of section 1: a multiply–add is two, and forward and backward pass are six products of this size, or seven with the scores computed again.
#
# | | operations, counted | moved to and from the main memory | time |
# |---|---|---|---|
# | standard attention | 825 billion | 40.3 GB | 41.7 ms |
# | FlashAttention | 962 billion | 4.4 GB | 7.3 ms |
#
# An A100 can do 312 trillion operations a second, and move 1.555 trillion bytes (NVIDIA 2021, data sheet). So while one byte arrives it could do 200 operations. The ratio of a program, operations per byte that it moves, is its **arithmetic intensity**: in the table about 20 and 220. Below 200 the memory sets the pace: the program is **memory-bound**. The first row's bytes alone take 40.3/1.555 = 26 ms, most of its time. Of the second row's 7.3 ms, bytes (4.4/1.555 = 2.8) and arithmetic (962/312 = 3.1) take about three each: this program reached neither limit.
#
# * *Standard attention* writes $T^2$ scores, reads them for the softmax, writes $T^2$ weights and reads them again: $4T^2$ numbers of 2 bytes each, for $2T^2D$ multiply–adds, which are $4T^2D$ operations. The intensity is $D/2$, for a head of width 64 thus 32, whatever $T$ is.
# * *In blocks*, only $Q$, $K$, $V$ and $Z$ pass: at best, each of them once, which makes $4TD$ numbers of 2 bytes. The intensity is then $T/2$. A real program reads keys and values again for each block of queries, so it stays below this: about 220 in the table, where $T/2$ is 512.

# %% [markdown]
# **Predict.** A language model with $P$ parameters of 2 bytes each reads a prompt of 1,000 tokens in one pass, then writes 1,000 tokens, one pass each. A pass multiplies each parameter by each token once. What are the two intensities?
#
# <details><summary>Answer</summary>
#
# Reading: $2\cdot 1000\,P$ operations for $2P$ bytes, so 1,000: the arithmetic sets the pace. Writing: $2P$ operations for $2P$ bytes, so 1: two hundred times too few. The chip waits for its memory.
#
# </details>

# %% [markdown]
# | on an A100 | operations per byte | who sets the pace |
# |---|---|---|
# | writing, one token a pass | 1 | the memory |
# | standard attention, $D = 64$ | 32 | the memory |
# | the ridge point: 312/1.555 | 201 | |
# | attention in blocks, $T = 1{,}024$ | about 220, at best 512 | about at the ridge |
# | reading 1,000 tokens | 1,000 | the arithmetic |
#
# Drawn as speed over intensity, this is called a **roofline** (Williams et al. 2009): it climbs while the memory sets the pace, and turns flat at the ridge point. Your machine has one, too. In the next cell 16.8 million numbers are read once, go through 1 to 128 multiply–adds each, and are written once.

# %%
numbers, roof = tf.ones(2**24), []  # 64 MiB to read, 64 MiB to write
for steps in (1, 2, 4, 8, 16, 32, 64, 128):

    @tf.function(jit_compile=True)  # one pass over the numbers: what stands between two steps never goes to memory
    def polynomial(x, steps=steps):
        y = x
        for _ in range(steps):
            y = y * x + 0.5
        return y

    polynomial(numbers)  # the first call builds the program
    seconds = min(timeit.repeat(lambda run=polynomial: run(numbers)[0].numpy(), number=1, repeat=12))
    roof.append((2 * steps / 8, 2 * steps * 2**24 / seconds / 1e9))  # operations per byte, billions of them a second
    print(f"{steps:3} multiply-adds: {roof[-1][0]:5.2f} operations per byte, {1e3 * seconds:6.1f} ms, {roof[-1][1]:5.1f} billion operations a second")

# %% jupyter={"source_hidden": true} tags=["drawing"]
intensity, speeds = np.array(roof).T
ax = plt.subplots(figsize=(6.4, 3.2))[1]
plots.measured_curve(intensity, speeds, label="measured", line=0, ax=ax, xscale="log", yscale="log")
ax.plot(intensity, np.minimum(intensity * (speeds / intensity).max(), speeds.max()), color=diagrams.PALETTE["residual"], linestyle=":", label="roof: the fastest memory and arithmetic seen")
ax.set(xlabel="operations per byte that moves", ylabel="billion operations a second")
ax.legend()
plots.show(
    ax,
    alt="""More arithmetic on each number costs little at first, and then it sets the pace. Both axes are logarithmic: billions of operations a second over operations per byte. The measured points first climb
along the slanted part of a dotted roof, where the memory sets the pace, and then stay below its flat part.""",
)

# %% [markdown]
# Sixteen multiply–adds a number take 27 ms here and one takes 32: the processor waits for its memory, and arithmetic is free. From 16 to 64 the time doubles with the work: now the arithmetic sets the pace. (128 took 3.4 times as long as 64; why, this page does not know.) The dotted roof goes through the best points: it shows the shape, not the limits of the machine. The roofline explains three habits of language models. Reading the prompt (**prefill**) is fast, writing (**decode**) is slow. Many conversations are written at the same time, because a batch of 50 uses each parameter 50 times while it is there. And what has been read once is kept: the **cache** of keys and values (lecture 8b). For each token it holds a key and a value of every layer, and it is read at every step. Long conversations then move more bytes of cache than of parameters; hence heads that share keys and values (lecture 3), and *latent attention*, which stores one short vector in place of both and computes keys and values from it (DeepSeek-AI 2024).
#
# **Count the bytes that move, not only the multiplications.**

# %% [markdown]
# <a id="without-the-square"></a>
#
# ## 5 · Without the square
#
# Can the square go? Put $\phi(q)\cdot\phi(k)$, with positive features $\phi$, in place of the exponential, and the brackets may move: $(\phi(Q)\phi(K)^\top)V = \phi(Q)(\phi(K)^\top V)$. On the right stands a matrix of $D \times D$ in place of one of $T \times T$. With a causal mask it grows token by token, $S_t = S_{t-1} + \phi(k_t) v_t^\top$, and the sum that normalises, $\phi(k_1) + \dots + \phi(k_t)$, is carried along: **linear attention** (Katharopoulos et al. 2020) is a recurrence whose state has one size at every length. By count it takes $2TD^2$ multiply–adds in place of $2T^2D$: fewer for $T > D$, more for $T < D$.

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
# **With features in place of the exponential, attention is a recurrence: its cost grows with $T$, not with $T^2$, and its memory has a fixed size.**

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
# **2.** In section 2 attention is faster at $T = 512$, although it multiplies more. Why?
# <details><summary>Answer</summary>Its products do not wait for each other, so the machine can do many at the same time. The recurrence takes 512 small steps, one after another.</details>
#
# **3.** Does FlashAttention change the number of multiplications from $T^2$ to $T$?
# <details><summary>Answer</summary>No, they still grow with $T^2$. What grows with $T$ is the extra memory.</details>
#
# **4.** Two programs take 5 ms and 50 ms at $T = 64$, and 20 ms and 60 ms at $T = 256$. Which one grows faster, and which one would you use?
# <details><summary>Answer</summary>The first grows faster (20/5 = 4 against 60/50 = 1.2), and it is faster at both lengths. Growth decides only beyond the crossing.</details>
#
# <details><summary><b>What this page does not show</b></summary>
#
# * Its timings are those of one machine, one sequence at a time, $D = 64$, while other programs ran. Your numbers will differ.
# * Nothing here ran on a GPU: its numbers in section 4 are cited or counted.
# * Linear attention is computed, not trained or timed.
# * The 92 and 48 ms were timed once; what else stretched the step to 13, the processor's cache for one, was not measured.
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
# **Slow machine, GPU.** Stop `lengths` at 2048. On a GPU go to 16,384; one matrix of weights then takes 1 GiB.
#
# **Further reading.** D2L, [section 11.6](https://d2l.ai/chapter_attention-mechanisms-and-transformers/self-attention-and-positional-encoding.html), compares the same three layers, without timings.
#
# </details>

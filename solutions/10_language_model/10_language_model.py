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
# # Lab 10 · A language model of your own
#
# You write a tokenizer, attention with a cache, the model, and the functions that judge it. At the end it learns from the
# Python library on your machine and writes functions.
#
# **Before you start:** read [lecture 10](../../lectures/10_language_model.ipynb); this lab begins where its classes end. **Time:** about 115 minutes.
#
# **How a lab works.** Replace the line `raise NotImplementedError`, run your cell, then run the check below it. After the second failed attempt it adds hints. Your mark comes from the same tests on
# inputs that you have not seen.
#
# **Letters.** B rows of a batch, T tokens, D width, H query heads, G key heads, K = D/H width of a head, L blocks, F inner width, V tokens in the vocabulary.
#
# | exercise | what you write | points | difficulty | minutes |
# |---|---|---|---|---|
# | 1 | `train_bpe` | 4 | ●●●○○ | 15 |
# | 1 | `bpe_encode` | 2 | ●○○○○ | 5 |
# | 1 | `bpe_decode` | 1 | ●○○○○ | 5 |
# | 2 | `next_token_windows` | 2 | ●●○○○ | 10 |
# | 3 | `GroupedAttention` | 5 | ●●●○○ | 15 |
# | 3 | `derive_base_rate` | 6 | ●○○○○ | 5 |
# | 3 | `induction_scores` (optional) | 0 | ●○○○○ | 5 |
# | 4 | `LanguageModel` | 5 | ●●○○○ | 10 |
# | 5 | `design` | 4 | ●○○○○ | 5 |
# | 6 | `bits_per_byte` | 2 | ●○○○○ | 5 |
# | 7 | `generate` | 3 | ●●○○○ | 10 |
# | 7 | `find_the_bug` | 2 | ●○○○○ | 5 |
# | 8 | `python_share` (optional) | 0 | ●●○○○ | 10 |
# | 9 | `measure_temperature` | 6 | ●●●○○ | 15 |
# | 10 | `LoRADense` (optional) | 0 | ●●○○○ | 10 |
#
# Optional exercises earn no points, and their minutes are not in the total. The lab fills two sittings: the second one begins behind exercise 4, and a line says where.
# Times and difficulties are estimates, not measurements.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["course-setup"]
# Colab: install the course's helper package. Anywhere else this cell does nothing.
import sys

if "google.colab" in sys.modules:
    print("Installing the course's helper package …")
    # %pip install --quiet --no-deps transformers-coursekit==0.1.0

# %% nbgrader={"grade": false, "grade_id": "imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
print("Loading TensorFlow, which takes about ten seconds …")

from coursekit import data, plots, quiet, start_lab

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook

import ast
from collections import Counter
from functools import cache
from itertools import pairwise

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import ops
from scipy.special import digamma, softmax

from coursekit.pages import parts, training
from coursekit.pages.byte_pairs import CHUNK
from coursekit.pages.parts import PlainRMSNorm, nucleus, rotated
from coursekit.python_names import bound_names, names_read, only_statement, parameter_names

plots.use_course_style()
check = start_lab("10_language_model")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-given", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## What is given
#
# `rotated(x, positions)`, `PlainRMSNorm` and `nucleus(probabilities, p)` are the lecture's. You wrote all three in labs
# 05, 04 and 08b. To see whether yours do the same, put them into the dictionary below.

# %% tags=["demonstration"]
yours = {"rotary": None, "rms_norm": None, "top_p": None}  # the functions of your labs 05, 04 and 08b, if you like

# %% nbgrader={"grade": false, "grade_id": "given", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
for name, says in parts.compared(yours).items():
    print(name, says)
print("given: rotated, PlainRMSNorm, nucleus")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-bytes", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 1 · Byte pairs
#
# The ids 0 to 255 are the bytes. Merge number k (from 0) joins a pair of ids to the new id 256 + k. The text is cut into
# **chunks** first, and no pair reaches over the end of a chunk. `chunks` says how often each chunk occurs.
#
# **`train_bpe`** counts the pairs of all chunks, times the chunk's count, and merges the most frequent pair; of ties it takes the smaller one.
# In “aaa” the pair (a, a) counts twice; the given `merged` makes it (aa, a). Then all pairs are counted anew. A pair that occurs once is merged too; without pairs the list ends early.
#
# **`bpe_encode`** applies the merges to a chunk in the order in which they were learned. **`bpe_decode`** joins the bytes of all ids. The id
# 256 + len(merges) is the **end** of a document and has no byte. Bytes that are no UTF-8 become U+FFFD, which `errors="replace"` of `bytes.decode` does.
#
# **By hand:** one merge for {"self": 2, "set": 1}.
# <details><summary>Answer</summary>(s, e) occurs 3 times, every other pair at most twice. So (115, 101) becomes 256; “self” is then (256, 108, 102).</details>

# %% nbgrader={"grade": false, "grade_id": "train_bpe-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def merged(ids, pair, new):
    """The list `ids` with each occurrence of a pair of ids replaced by the id `new`, from left to right."""
    result = []
    for number in ids:
        if result and (result[-1], number) == pair:
            result[-1] = new
        else:
            result.append(number)
    return result


def train_bpe(chunks, num_merges):
    """Learn byte pairs.

    Args:
        chunks: a dictionary, chunk (str) -> how often it occurs.
        num_merges: how many merges are made at most.

    Returns:
        The list of merges, each a tuple of two ids, in the order in which they are made.
    """
    ### BEGIN SOLUTION
    words, merges = {chunk: list(chunk.encode()) for chunk in chunks}, []
    for new in range(256, 256 + num_merges):
        counts = Counter()
        for chunk, ids in words.items():
            for pair in pairwise(ids):
                counts[pair] += chunks[chunk]
        if counts:
            merges.append(max(counts, key=lambda pair: (counts[pair], -pair[0], -pair[1])))
            words = {chunk: merged(ids, merges[-1], new) for chunk, ids in words.items()}
    return merges
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "train_bpe", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("train_bpe")


# %% nbgrader={"grade": false, "grade_id": "bpe_encode-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bpe_encode(chunk, merges):
    """The ids (list of int) of a chunk (str): its bytes, with all merges in the order in which they were learned."""
    ### BEGIN SOLUTION
    ids = list(chunk.encode())
    for rank, pair in enumerate(merges):
        ids = merged(ids, pair, 256 + rank)
    return ids
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "bpe_encode", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("bpe_encode")


# %% nbgrader={"grade": false, "grade_id": "bpe_decode-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bpe_decode(ids, merges):
    """The text (str) of a list of ids; the end stands for nothing."""
    pieces = [bytes([byte]) for byte in range(256)]  # pieces[id]: its bytes
    for one, two in merges:
        pieces.append(pieces[one] + pieces[two])
    ### BEGIN SOLUTION
    return b"".join(pieces[number] for number in ids if number < len(pieces)).decode(errors="replace")
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "bpe_decode", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("bpe_decode")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-windows", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 2 · Windows of one stream
#
# All documents stand in one row, each followed by `end_id`, the last one too. Of each start, x are the `length` tokens from there on, y the
# tokens that follow each of them, over the ends of documents too. A start whose last target lies beyond the row is a `ValueError`.

# %% nbgrader={"grade": false, "grade_id": "next_token_windows-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def next_token_windows(documents, end_id, length, starts):
    """Inputs and targets of next-token prediction.

    Args:
        documents: list of lists of ids.
        end_id: the id that follows each document.
        length: tokens in a window.
        starts: positions in the stream where the windows begin, (n,), none of them negative.

    Returns:
        The tuple (x, y), each (n, length).

    Raises:
        ValueError: a start is larger than len(stream) − length − 1.
    """
    ### BEGIN SOLUTION
    stream = np.array([number for document in documents for number in (*document, end_id)])
    places = np.asarray(starts)[:, None] + np.arange(length)  # (n, length)
    if places.max() + 1 >= len(stream):
        raise ValueError(f"a start of {max(starts)} reaches beyond the {len(stream)} tokens of the stream")
    return stream[places], stream[places + 1]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "next_token_windows", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("next_token_windows")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-attention", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 3 · Attention that writes
#
# Take the page's `PlainRotaryAttention` and add two things.
#
# - **Grouped heads** (Ainslie et al. 2023): G heads of keys and values serve H query heads. Query head h reads key head h // (H/G), so
#   neighbours share one. `ops.repeat(k, n, axis=1)` writes each head n times in a row, `ops.tile` the whole list n times.
# - **A cache.** `cache` is None or the pair (keys, values) of all earlier tokens, each (B, G, t, K), the newest last. Its keys are **already
#   rotated**. The new tokens stand behind them: their positions begin at t. Each sees all earlier tokens, itself, and no later one. Return the longer pair; the argument stays as it is.
#
# One call with all tokens and several with the cache give the same rows. `split` and `mix` are given. Take sizes from `ops.shape(x)`: inside tf.function `x.shape` holds None.

# %% nbgrader={"grade": false, "grade_id": "GroupedAttention-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
class GroupedAttention(keras.Layer):
    """Causal attention with grouped heads, rotary positions and a cache.

    Args:
        d_model: width D.
        num_heads: query heads H.
        num_kv_heads: heads G of keys and values; G divides H.
    """

    def __init__(self, d_model, num_heads, num_kv_heads, **kwargs):
        super().__init__(**kwargs)
        self.heads, self.shared, self.size = num_heads, num_kv_heads, d_model // num_heads  # H, G, K
        widths = (d_model, self.shared * self.size, self.shared * self.size, d_model)
        self.w_q, self.w_k, self.w_v, self.w_o = (keras.layers.Dense(width, use_bias=False) for width in widths)

    def split(self, x):
        """x (B, T, heads·K) -> (B, heads, T, K)."""
        batch, length, _ = ops.shape(x)
        return ops.transpose(ops.reshape(x, (batch, length, -1, self.size)), (0, 2, 1, 3))

    def mix(self, q, keys, values, seen):
        """q (B, H, T, K), keys and values (B, H, S, K), seen (T, S): what each query may see -> (B, T, D)."""
        scores = ops.matmul(q, ops.swapaxes(keys, -1, -2)) / self.size**0.5  # (B, H, T, S)
        heads = ops.matmul(ops.softmax(ops.where(seen, scores, -1e9)), values)  # (B, H, T, K)
        batch, _, length, _ = ops.shape(q)
        return self.w_o(ops.reshape(ops.transpose(heads, (0, 2, 1, 3)), (batch, length, self.heads * self.size)))

    def call(self, x, cache=None):
        """x (B, T, D) and None or a pair of (B, G, t, K) -> the tuple (output (B, T, D), the pair (B, G, t + T, K))."""
        ### BEGIN SOLUTION
        time = ops.arange(ops.shape(x)[1]) + (0 if cache is None else ops.shape(cache[0])[2])
        q, k = rotated(self.split(self.w_q(x)), time), rotated(self.split(self.w_k(x)), time)  # (B, H, T, K), (B, G, T, K)
        v = self.split(self.w_v(x))
        if cache is not None:
            k, v = ops.concatenate([cache[0], k], axis=2), ops.concatenate([cache[1], v], axis=2)
        keys, values = (ops.repeat(part, self.heads // self.shared, axis=1) for part in (k, v))
        seen = time[:, None] >= ops.arange(ops.shape(k)[2])  # (T, t + T)
        return self.mix(q, keys, values, seen), (k, v)
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "GroupedAttention", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check("GroupedAttention")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-induction", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Does a head copy?
#
# Show a model a random row twice: `period` tokens, then the same again. At position t of the second copy, t = period … 2·period − 1 (counted
# from 0), an induction head looks at what followed the same token last time: position t − period + 1. Its **induction score** is its mean weight there, over the second copy.
#
# What would a head get that looks nowhere in particular? **`derive_base_rate`** is the score of causal attention with **equal weights**, in closed form, without a loop, for periods of 10¹⁵ too, whose terms fit into no array. The **harmonic number**
# Hₙ = 1 + 1/2 + … + 1/n is ψ(n + 1) + γ, where ψ is `digamma` and γ ≈ 0.577 a constant.
#
# **By hand:** the base rate for period 2.
# <details><summary>Answer</summary>t = 2 sees 3 keys and t = 3 sees 4: (1/3 + 1/4)/2 = 7/24.</details>

# %% nbgrader={"grade": false, "grade_id": "derive_base_rate-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def derive_base_rate(period):
    """The induction score (float) of a head whose weights are equal, in closed form."""
    ### BEGIN SOLUTION
    return float(digamma(2 * period + 1) - digamma(period + 1)) / period
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "derive_base_rate", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("derive_base_rate")

# %% nbgrader={"grade": false, "grade_id": "induction-seen", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
equal = np.tri(40) / np.tri(40).sum(axis=1, keepdims=True)  # (T, T)
copying = np.eye(40, k=-19)  # every token looks at the position 19 before it
for name, weights in (("equal weights", equal), ("looks 19 back", copying)):
    score = np.mean([weights[t, t - 19] for t in range(20, 40)])
    print(f"{name}: score {score:.4f}, base rate {derive_base_rate(20):.4f}")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-scores", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### The score of every head (optional)
#
# No points. **`induction_scores`** is the induction score of each head, over the batch as well.

# %% nbgrader={"grade": false, "grade_id": "induction_scores-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def induction_scores(weights, period):
    """The mean weight (H,) of t on t − period + 1 over the second copy; weights (B, H, T, T), T at least 2·period."""
    ### BEGIN SOLUTION
    second = np.arange(period, 2 * period)
    return np.asarray(weights)[:, :, second, second - period + 1].mean(axis=(0, 2))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "induction_scores", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("induction_scores")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-model", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 4 · The model
#
# The page's model with your attention and its caches. The block is given; you write the list of L blocks, `blocks`, and the model's `call`. The checks put known weights into the layers by their names.
#
# Tokens are the rows of the table times √D. Behind the blocks stands the last norm. The logits are the normed tokens times the **same table**,
# `self.embedding.embeddings`, which exists once the embedding has been called. `caches` is None or a list with one pair for each block; return the new list.

# %% nbgrader={"grade": false, "grade_id": "LanguageModel-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
class GatedBlock(keras.Layer):
    """A pre-norm block: attention, then a feed-forward network with a gate."""

    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, **kwargs):
        super().__init__(**kwargs)
        self.norm1, self.norm2 = PlainRMSNorm(), PlainRMSNorm()
        self.attention = GroupedAttention(d_model, num_heads, num_kv_heads)
        self.w_gate, self.w_up = (keras.layers.Dense(d_ff, use_bias=False) for _ in range(2))
        self.w_down = keras.layers.Dense(d_model, use_bias=False)

    def call(self, x, cache=None):
        """x (B, T, D) and None or a pair -> the tuple (x (B, T, D), the longer pair)."""
        mixed, cache = self.attention(self.norm1(x), cache=cache)
        x = x + mixed
        normed = self.norm2(x)
        return x + self.w_down(ops.silu(self.w_gate(normed)) * self.w_up(normed)), cache


class LanguageModel(keras.Model):
    """A decoder-only Transformer; one table reads and predicts."""

    def __init__(self, vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff, **kwargs):
        super().__init__(**kwargs)
        start = keras.initializers.RandomNormal(stddev=d_model**-0.5)
        self.embedding = keras.layers.Embedding(vocab_size, d_model, embeddings_initializer=start)
        ### BEGIN SOLUTION
        self.blocks = [GatedBlock(d_model, num_heads, num_kv_heads, d_ff) for _ in range(num_layers)]
        ### END SOLUTION
        self.norm = PlainRMSNorm()

    def call(self, ids, caches=None):
        """ids (B, T) and None or a list of L pairs -> the tuple (logits (B, T, V), the list of the longer pairs)."""
        ### BEGIN SOLUTION
        x, longer = self.embedding(ids) * self.embedding.output_dim**0.5, []  # (B, T, D)
        for number, block in enumerate(self.blocks):
            x, kept = block(x, cache=None if caches is None else caches[number])
            longer.append(kept)
        return ops.matmul(self.norm(x), ops.transpose(self.embedding.embeddings)), longer
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "LanguageModel", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check("LanguageModel")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-design", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ---
#
# **The second sitting begins here.** When you come back, run the cells above first: what you wrote there is needed below.
#
# ## 5 · Design
#
# A model with D = 128, 4 blocks, H = 4, G = 2 and F = 344 has 791,680 parameters with V = 512. Its cache of 256 tokens in float32 takes 2·L·G·K·256·4 bytes = 512 kB (1 kB = 1,024 bytes). Any choice that keeps **all** of these is right, and you will train it.
#
# - 700,000 to 1,000,000 parameters with V = 512, and at most 256 kB of cache for 256 tokens;
# - at least 4 blocks and 4 heads; H divides D, G divides H; K is even and at least 16.
#
# Count: V·D + D for the table and the last norm; each block has 2·D² + 2·D·G·K for the attention, 3·D·F for the feed-forward network and 2·D for its norms.

# %% nbgrader={"grade": false, "grade_id": "design-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def design():
    """The sizes of your model: a dictionary with d_model, num_layers, num_heads, num_kv_heads and d_ff."""
    ### BEGIN SOLUTION
    return {"d_model": 128, "num_layers": 4, "num_heads": 4, "num_kv_heads": 1, "d_ff": 344}
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "design", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("design")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-bits", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 6 · Bits per byte
#
# All bits of all targets together, divided by their bytes together. The bits of a target are
# −log₂ of its probability. The end of a document costs bits and has 0 bytes.
#
# With logits in the thousands a softmax rounds to 0. `keras.losses.sparse_categorical_crossentropy(targets, logits, from_logits=True)` gives −ln p, (B, T), without that; so does `ops.log_softmax`.
#
# **By hand:** two tokens of probability ½ and ⅛, of 1 and 3 bytes.
# <details><summary>Answer</summary>(1 + 3) bits over (1 + 3) bytes: 1 bit a byte.</details>

# %% nbgrader={"grade": false, "grade_id": "bits_per_byte-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bits_per_byte(logits, targets, token_bytes):
    """Bits a byte (float).

    Args:
        logits: (B, T, V). All three may be arrays or tensors.
        targets: ids of the tokens that come, (B, T).
        token_bytes: how many bytes each token of the vocabulary has, (V,); 0 for the end.
    """
    ### BEGIN SOLUTION
    nats = keras.losses.sparse_categorical_crossentropy(targets, logits, from_logits=True)  # (B, T)
    return float(ops.sum(nats)) / np.log(2) / np.asarray(token_bytes)[np.asarray(targets)].sum()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "bits_per_byte", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("bits_per_byte")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-generate", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 7 · Write
#
# The first call of the model gets the whole prompt, a batch of one row. Every later call gets **one id**, the newest, and the caches of the call before.
# The last position's logits decide: divide them by the temperature, take the `softmax`, cut with `nucleus`, draw with `rng.choice`. Temperature 0 means the largest logit. It ends with a new `end_id`, or after `max_new` ids. All chance comes from `rng`.

# %% nbgrader={"grade": false, "grade_id": "generate-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def generate(model, prompt, max_new, temperature, p, rng, end_id):
    """Continue a prompt.

    Args:
        model: called as model(ids (1, t)) or model(ids, caches=…); returns the tuple (logits (1, t, V), caches).
        prompt: list of ids, at least one.
        max_new: most ids to write, at least 1.
        temperature: what the logits are divided by; 0 takes the largest.
        p: mass of the nucleus.
        rng: a NumPy generator.
        end_id: the id that ends the text.

    Returns:
        The list of the new ids, with the end if it came.
    """
    ### BEGIN SOLUTION
    new, given, caches = [], list(prompt), None
    while len(new) < max_new and end_id not in new:
        logits, caches = model(np.array([given]), caches=caches)
        law = nucleus(softmax(np.asarray(logits, "float64")[0, -1] / (temperature or 1e-9)), p)  # 0: the largest alone
        new.append(int(rng.choice(len(law), p=law)))
        given = new[-1:]
    return new
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "generate", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("generate")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Find the bug
#
# A colleague's model trains well and writes nonsense. This is her causal softmax. The T queries are the **last** T of the S tokens. Delete the line
# `raise NotImplementedError` and mend what is wrong. The check names no mistake.

# %% nbgrader={"grade": false, "grade_id": "find_the_bug-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def find_the_bug(scores):
    """Weights (…, T, S) of the last T of S tokens, each of which sees itself and what came before."""
    length, total = scores.shape[-2:]
    ### BEGIN SOLUTION
    past = np.tri(length, total, total - length, dtype=bool)
    return ops.softmax(ops.where(past, scores, -1e9), axis=-1)
    ### END SOLUTION
    # This runs, and is wrong.
    past = np.tri(length, total, dtype=bool)
    return ops.softmax(ops.where(past, scores, -1e9), axis=-1)


# %% nbgrader={"grade": true, "grade_id": "find_the_bug", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("find_the_bug")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-share", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 8 · Judge without taste (optional)
#
# No points. A prompt is a function's first line, a body what a model wrote behind it. `python_share` returns four arrays (n,):
#
# - `parses`: the body **ended**, and prompt + body is exactly one statement of Python;
# - `lines`: lines of the body that are not blank, whether it parses or not;
# - `bound`: of all readings of names that begin with a small letter, the share whose name exists;
# - `used`: of the parameters except `self` and `cls`, the share that the body reads.
#
# The last two are **NaN** where nothing counts, or nothing parses. `only_statement(text)` is the one statement of a text, or None. `names_read(function)` lists the readings in the body, `bound_names(function)` is the set of names that exist there,
# `parameter_names(function)` lists the parameters; all three are empty for None. You write `function`, parsed or None, and the lists `known` and `used` of True and False, one for each name that counts.

# %% nbgrader={"grade": false, "grade_id": "python_share-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def python_share(prompts, bodies, ended):
    """How much of what was written is Python.

    Args:
        prompts, bodies: lists of n texts.
        ended: list of n bools.

    Returns:
        A dictionary of four arrays (n,): parses, lines, bound, used.
    """
    rows = []
    for prompt, body, end in zip(prompts, bodies, ended, strict=True):
        ### BEGIN SOLUTION
        function = only_statement(prompt + body) if end else None
        known = [name in bound_names(function) for name in names_read(function) if name[0].islower()]
        used = [name in names_read(function) for name in parameter_names(function) if name not in ("self", "cls")]
        ### END SOLUTION
        lines = sum(bool(line.strip()) for line in body.split("\n"))
        shares = [np.mean(each) if each else np.nan for each in (known, used)]
        rows.append([function is not None, lines, *shares])
    return dict(zip(("parses", "lines", "bound", "used"), np.array(rows, dtype=float).T, strict=True))


# %% nbgrader={"grade": true, "grade_id": "python_share", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("python_share")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-measure", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 9 · Measure the temperature
#
# Every temperature gets the **same prompts and the same seeds**: nothing else differs.
#
# A body counts where it **ended** and `only_statement(prompt + body)` is not None: then both together are exactly one statement of Python. For each prompt, average this (1 or 0) over the seeds. The share is the mean of these n numbers. Its standard error is s/√n, where s is their standard deviation (`ddof=1`), and the 95 % interval is share ± 1.96·s/√n, even below 0 or above 1. Two bodies of **one** prompt are not independent.

# %% nbgrader={"grade": false, "grade_id": "measure_temperature-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
def measure_temperature(write, temperatures, prompts, seeds):
    """The share of Python at each temperature, with a 95 % interval over prompts.

    Args:
        write: called as write(prompt, temperature, seed); returns the tuple (body, ended).
        temperatures, prompts, seeds: lists; at least two prompts.

    Returns:
        A dictionary, temperature -> the tuple (share, low, high).
    """
    ### BEGIN SOLUTION
    found = {}
    for temperature in temperatures:
        written = [[write(prompt, temperature, seed) for seed in seeds] for prompt in prompts]  # (prompts, seeds)
        means = [
            np.mean([ended and only_statement(prompt + body) is not None for body, ended in row])
            for prompt, row in zip(prompts, written, strict=True)
        ]
        half = 1.96 * np.std(means, ddof=1) / len(means) ** 0.5
        found[temperature] = (np.mean(means), np.mean(means) - half, np.mean(means) + half)
    return found
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "measure_temperature", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("measure_temperature")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-train", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Train your model
#
# Everything that you wrote learns from an eighth of the library's functions, in about a minute. Nothing here is graded. How many bits a byte do you expect? A guessed byte costs 8, a guessed token of 2.2 bytes 9/2.2 ≈ 4.1.

# %% nbgrader={"grade": false, "grade_id": "train", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
STEPS, PART = 120, 8  # one function in eight
(texts, _), (held_out, _) = data.library_functions()
texts, held_out = texts[::PART], held_out[::PART]
common = dict(Counter(chunk for text in texts for chunk in CHUNK.findall(text)).most_common(2000))
merges = train_bpe(common, 255)
end_id = 256 + len(merges)
encode_chunk = cache(lambda chunk: bpe_encode(chunk, merges))  # a chunk comes many times


def encode(text):
    return [number for chunk in CHUNK.findall(text) for number in encode_chunk(chunk)]


token_bytes = np.array([1] * 256 + [0] * (end_id - 255))
for number, (one, two) in enumerate(merges, 256):
    token_bytes[number] = token_bytes[one] + token_bytes[two]
documents = [encode(text) for text in texts]
print("first merges:", [bpe_decode([256 + rank], merges) for rank in range(12)])
print(f"{sum(map(len, documents)):,} tokens; {sum(map(len, texts)) / sum(map(len, documents)):.2f} bytes a token")

# %% nbgrader={"grade": false, "grade_id": "learn", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
x, y = next_token_windows([encode(text) for text in held_out[:40]], end_id, 255, np.arange(16) * 256)  # (16, 255)
stream = np.concatenate([[*document, end_id] for document in documents]).astype("int32")
model = training.trained_live(
    lambda: LanguageModel(vocab_size=end_id + 1, **design()),
    stream,
    steps=STEPS,
    measure=lambda learner: bits_per_byte(learner(x)[0], y, token_bytes),
)

# %% nbgrader={"grade": false, "grade_id": "write", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
firsts = [text.split("\n")[0] for text in held_out]
prompts = [first for first in firsts if 20 < len(first) < 60 and first.endswith(":")][:4]
quick = training.in_graph(model)  # one graph in place of hundreds of small steps for each token


def write(prompt, temperature, seed):
    rng = np.random.default_rng(seed)
    ids = generate(quick, [end_id, *encode(prompt)], 48, temperature, 0.9, rng, end_id)
    return bpe_decode(ids, merges), ids[-1] == end_id


written = {prompt: write(prompt, 0.7, 0) for prompt in prompts[:2]}
for prompt, (body, has_ended) in written.items():
    print(prompt + body, "\n" + "-" * 20, "ended" if has_ended else "not ended")
for temperature, (share, low, high) in measure_temperature(write, [0.3, 1.0], prompts, [0, 1]).items():
    print(f"temperature {temperature}: {share:.0%} are Python, interval {low:.0%} to {high:.0%}")

# %% [markdown] nbgrader={"grade": false, "grade_id": "observed", "locked": true, "schema_version": 3, "solution": false, "task": false}
# After so few steps most bodies are no Python. An interval from 0 % to 0 % says that four prompts agree, not that the share is 0: with 0 of 8 it may still be 30 %. Train longer, take forty prompts, and give the share **by number of lines**.

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-picture", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### A picture to keep
#
# The first function that your model wrote, behind its prompt. The darker a token, the more bits it cost your model. Before you run the cell: where will
# it be dark, in the words of the prompt or in the spaces at the beginning of a line?
# <details><summary>In our run</summary>In the words of the prompt (*sock*, *map*), and where a word of its own begins. The spaces at the beginning of a line are pale: they follow from the line before.</details>

# %% nbgrader={"grade": false, "grade_id": "picture", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
(prompt, (body, _)), *_ = written.items()
ids = np.array([end_id, *encode(prompt + body)])
bits = -np.asarray(ops.log_softmax(model(ids[None, :-1])[0], axis=-1))[0, np.arange(len(ids) - 1), ids[1:]] / np.log(2)
lines = (prompt + body).split("\n")
width, row, column = max(40, *map(len, lines)), 0, 0
figure = plt.figure(figsize=(0.0753 * width, 0.17 * len(lines)), layout="none")  # a letter of 9 points is as wide
ax = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(len(lines), 0), frame_on=False, xticks=[], yticks=[])
for number, cost in zip(ids[1:], bits, strict=True):
    for place, part in enumerate(bpe_decode([int(number)], merges).split("\n")):
        row, column = (row + 1, 0) if place else (row, column)
        ax.broken_barh([(column, len(part))], (row, 1), facecolors=plt.cm.Blues(min(cost / 12, 0.6)))
        ax.text(column, row + 0.75, part, family="monospace", fontsize=9, parse_math=False)
        column += len(part)
plots.show(figure, alt="A function that your model wrote, one tint for each token: the darker, the more bits it cost.")


# %% [markdown] nbgrader={"grade": false, "grade_id": "text-lora", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 10 · LoRA (optional)
#
# `LoRADense` puts a thin product beside a frozen Dense layer: dense(x) + (alpha/rank)·x·a·b, with `a` (in, rank) random and `b` (rank, out) zeros. `merged()` is the one kernel that does the same. `dense.trainable = False` freezes the given layer, which is built already.

# %% nbgrader={"grade": false, "grade_id": "LoRADense-code", "locked": false, "schema_version": 3, "solution": true, "task": false}
class LoRADense(keras.Layer):
    """A frozen Dense layer with a trained product of rank `rank` beside it.

    Args:
        dense: a Dense layer that is built.
        rank: inner width of the product.
        alpha: the product is scaled by alpha / rank.
    """

    def __init__(self, dense, rank, alpha, **kwargs):
        super().__init__(**kwargs)
        ### BEGIN SOLUTION
        self.dense, self.scale = dense, alpha / rank
        self.dense.trainable = False
        width, columns = dense.kernel.shape
        self.a = self.add_weight(shape=(width, rank), initializer="glorot_uniform", name="a")
        self.b = self.add_weight(shape=(rank, columns), initializer="zeros", name="b")
        ### END SOLUTION

    def call(self, x):
        """x (…, in) -> (…, out)."""
        ### BEGIN SOLUTION
        return self.dense(x) + self.scale * ops.matmul(ops.matmul(x, self.a), self.b)
        ### END SOLUTION

    def merged(self):
        """The kernel (in, out) that does the same as both parts together."""
        ### BEGIN SOLUTION
        return self.dense.kernel + self.scale * ops.matmul(self.a, self.b)
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "LoRADense", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("LoRADense")

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-talk", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 11 · Talk to your own model
#
# SmolLM2 is a chat model that Hugging Face published in 2024. It has the architecture that you built: 30 of **your** blocks with D = 576, nine query heads and three heads of keys and values. `load_published` builds your `LanguageModel` in these sizes and fills in the published numbers. Then your `generate` writes the answer.
#
# Nothing here is graded. Set `TALK = True` and run the two cells. The first time, 93 MB are fetched; it takes about a minute to prepare, and 2.1 GB of memory.
#
# **Predict.** The model has read a great many English pages. Which of the two questions below will it answer correctly?

# %% tags=["demonstration"]
TALK = False  # True: fetch the published numbers, and talk

# %% nbgrader={"grade": false, "grade_id": "talk", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["demonstration"]
if TALK:
    from coursekit.published import chat, load_published

    smollm2 = load_published(LanguageModel, "smollm2")
    print(f"{smollm2.model.count_params():,} numbers fit into your class. After “The capital of France is”:")
    print(", ".join(f"{token!r} {share:.2f}" for token, share in smollm2.next_tokens("The capital of France is")))
    chat(smollm2, generate, "What is the capital of France?")
    chat(smollm2, generate, "How many legs does a spider with two legs missing have?")

# %% [markdown] nbgrader={"grade": false, "grade_id": "talked", "locked": true, "schema_version": 3, "solution": false, "task": false}
# The first answer is right, and it ends by itself: your `generate` stopped at the end token. The second has the form of an answer and is wrong. Each step took the most probable next token; no step asked whether the sentence is true. Ask it something yourself: `chat(smollm2, generate, "…", temperature=0.7)`.

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-words", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## In your own words
#
# Report what you measured: share of Python at two temperatures or more, with intervals, number of lines, prompts, seeds and steps of training. What may your reader conclude, and what not? Name the base rate (`pass` always parses). Four to eight sentences; no points, but your instructor reads it and writes back.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explanation", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# I trained the designed model for 120 steps and wrote with four prompts and two seeds at the temperatures 0.3 and 1. At both
# temperatures none of the eight bodies is Python. The interval from 0 % to 0 % says that the four prompts agree, not that the
# share is 0: after 0 of 8 it may still be as high as 30 %. So I conclude nothing about the temperature, and about the model only
# that most of its bodies are no Python yet. The base rate matters once there are some: `pass` alone parses behind every prompt, and
# short bodies parse more often, so a higher share could come from shorter bodies. To decide it I would train for longer, take the
# same forty prompts at both temperatures, compare within each prompt, and give the share for bodies of one line, of two to four, and
# of more.

# %% [markdown] nbgrader={"grade": false, "grade_id": "closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# [Lecture 10](../../lectures/10_language_model.ipynb), sections 7 to 9, shows what more text, more parameters and other training add. In [lab 10b](../10b_from_model_to_assistant/10b_from_model_to_assistant.ipynb) a model learns to answer.

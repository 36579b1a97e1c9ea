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
# # 10 · A language model of your own
#
# **The parts of this course, put together, predict the next token; loaded with published parameters, they answer you.**
#
# [← 8b](08b_generating_text.ipynb) · [9b, a branch](09b_many_images_and_video.ipynb) · [Lab
# 10](../labs/10_language_model/10_language_model.ipynb) · [10b · From a model to an assistant →](10b_from_model_to_assistant.ipynb)
#
# On this page you build a language model. It reads the functions in your Python's library, and then writes functions. **What would you have to change before it answers “What is the capital of France?”: the code of its class, the numbers in it, or both?** Write down your guess. Section 7 has the answer, and the model that answers.
#
# **Afterwards you can**
#
# * merge byte pairs by hand, and compare models per byte;
# * build, train and sample a decoder-only Transformer, and judge its output by a test, not by eye;
# * put a published chat model into your own class, and ask it;
# * test whether a model copies from its context.
#
# **You need** lectures 2, 3, 4, 5 and 8, and lecture 8b for sampling. **Time:** about 73 minutes to read and predict (estimated, not measured); the code runs in about four
# minutes on two CPU cores, without the published model in about two.
#
# **This page uses a published model that does not come with the course:** SmolLM2 (93 MB to fetch; `data.published("smollm2")` in a cell fetches it once). Without it the cells that need it say so and are left out: read their outputs before you run the page.
#
# Letters: **B** rows of a batch, **T** tokens, **D** width, **H** heads, **K** width of a head, **V** size of the vocabulary.

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
import ast
import random
import re
from collections import Counter, defaultdict
from itertools import pairwise
from operator import attrgetter
from pathlib import Path

from coursekit import data, diagrams, plots, quiet, recorded

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import layers, ops

from coursekit.data.published_models import PUBLISHED, is_here, published
from coursekit.data.tensor_files import open_tensors
from coursekit.pages import assistant, counted, induction, training
from coursekit.pages.byte_pairs import PlainBytePairs
from coursekit.pages.parts import PlainRMSNorm, constants, nucleus, rotated
from coursekit.published import ChatTokens

plots.use_course_style()
tf.get_logger().setLevel("ERROR")  # no advice on retracing

# %% [markdown]
# <a id="guess"></a>
#
# ## 1 · Guess what comes next
#
# A **language model** gives every possible next token a probability, given the tokens before it. A text $x_1 \dots x_T$ gets the product of these
# probabilities. The loss on this text is the negative logarithm of the product. So it is a sum of surprises, in **nats** (natural logarithm) or bits (1 nat = 1.44 bits):
#
# $$-\log p(x_1 \dots x_T) = -\sum_{t=1}^{T} \log p(x_t \mid x_1 \dots x_{t-1})$$
#
# **Perplexity** is 2 to the power of the bits a token: at perplexity 8 the model is as unsure as between 8 equally probable tokens.
#
# Shannon (1948) drew letters by how often they follow others. Here is his method, with four letters of context, on one module of your Python.

# %%
source = Path(random.__file__).read_text("utf-8")
follows = defaultdict(Counter)
for position in range(4, len(source)):
    follows[source[position - 4 : position]][source[position]] += 1  # which letter comes after which four

rng, text = np.random.default_rng(1), "def "
for _ in range(160):
    letters = follows[text[-4:]]
    share = np.array(list(letters.values())) / letters.total()
    text += rng.choice(list(letters), p=share)
print(text)

# %% [markdown]
# Words are nearly correct; the whole means nothing.
#
# **A language model gives every next token a probability, and its loss is the surprise at the true one.**

# %% [markdown]
# <a id="documents"></a>
#
# ## 2 · The text on your machine
#
# `data.library_functions()` reads the standard library of the Python that runs this notebook, and cuts out functions and methods. It executes none of them. Each function is one **document**. The texts come under Python's licence (PSF).

# %%
(train_texts, train_modules), (test_texts, test_modules) = data.library_functions()
print(f"{sum(map(len, train_texts)):,} bytes to train on, {sum(map(len, test_texts)):,} held out")
print("held out:", ", ".join(sorted(set(test_modules))))
print(next(text for text in test_texts if len(text) < 160))

# %% [markdown]
# Our measure is **bits per byte**: all bits that a model pays for a text, divided by the bytes of the text. Less is better.
#
# Why whole modules? A counted model (section 5) pays 1.93 bits a byte for half of the functions of these modules. If it has also counted the other half, it pays 1.64 ([evidence](evidence/10.ipynb#split)).
#
# **Hold out whole modules, so that fewer test functions have neighbours in training.**

# %% [markdown]
# <a id="byte-pairs"></a>
#
# ## 3 · Byte pairs
#
# A model needs tokens from a fixed list. The 256 bytes are such a list and can write everything, but they make long rows. **Byte-pair encoding** (BPE;
# Gage 1994, Sennrich et al. 2016) shortens it: find the most frequent pair of neighbouring tokens, give the pair a new token, repeat.
#
# First the text is cut into **chunks** (pre-tokenization), so that no token joins a name with a bracket. This is nearly as in GPT-2 (Radford et al. 2019); here a newline keeps the indentation after it. New text is cut in the same way, and each chunk gets the merges in the order in which they were learned. `PlainBytePairs` does this; in lab 10 you write it.

# %% [markdown]
# **By hand.** The text is `self.set.self`, in the chunks `self`, `.`, `set`, `.`, `self`. Which pair is merged first, and which second? Of equally
# frequent pairs, take the one whose first token has the smaller number. A byte's number is its value; new tokens count from 256.
#
# <details><summary>Answer</summary>
#
# The pair `s` + `e` occurs three times, so it comes first: `se`. Now `se` + `l` and `l` + `f` occur twice each, and `se` + `t` once. The number of `l` is 108 and
# that of `se` is 256, so the second merge is `lf`.
#
# </details>

# %%
print(PlainBytePairs(["self.set.self"], 4).pieces[256:])

pairs = PlainBytePairs(train_texts, 255)  # 256 bytes, 255 merges, and the end of a document: V = 512
print("first merges:", pairs.pieces[256:272])
first_line = "    def __init__(self, value=None):"
print([pairs.decode([number]) for number in pairs.encode([first_line])[0]])

# %% [markdown]
# **Predict.** A token of this vocabulary stands for about two bytes. One model uses this vocabulary and has a loss of 2 nats a token. Another reads single
# bytes and has a loss of 1.2 nats a byte. Which one is better?
#
# - (a) the first
# - (b) the second
# - (c) the losses cannot be compared
#
# <details><summary>Answer</summary>
#
# **(a)** A loss per token and one per byte cannot be compared as they stand. Divided by bytes they can: the first pays $2/2 = 1$ nat for each byte, and
# the second 1.2.
#
# </details>

# %%
stream, test_stream = pairs.stream(train_texts), pairs.stream(test_texts)
print(f"{len(stream):,} tokens to train on, {len(test_stream):,} held out")
print(f"{sum(map(len, test_texts)) / np.sum(test_stream != pairs.end_id):.2f} bytes a token on held-out text")

# %% [markdown]
# All documents stand in one row. An end token follows each of them, and the model pays for it, too.
#
# **Compare models per byte, not per token.**

# %% [markdown]
# <a id="model"></a>
#
# ## 4 · The model
#
# Nearly everything in it comes from earlier lectures:
#
# * causal attention with heads (lectures 2 and 3), and rotary positions (lecture 5);
# * the pre-norm block with RMS norm (lecture 4);
# * one table for embeddings and predictions (**weight tying**; lecture 8). It starts with standard deviation $1/\sqrt{D}$, and the input is multiplied by $\sqrt{D}$.
#
# The feed-forward network has the gate of lecture 4 (**SwiGLU**, Shazeer 2020), with $\operatorname{silu}(a) = a \cdot \operatorname{sigmoid}(a)$:
#
# $$W_\text{down}\big(\operatorname{silu}(W_\text{gate}x) \odot W_\text{up}x\big)$$
#
# Apart from the table, this is the form of Touvron et al. (2023).

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, ax = diagrams.canvas(11.6, 2.9)
parts = (
    (0.9, "ids", "(B, T)", "neutral", 1.1), (2.8, "table", "gives (B, T, D)", "key", 1.5), (4.9, "attention", "norm before it", "query", 1.8),
    (7.4, "gated network", "norm before it", "value", 1.6), (9.7, "norm", "(B, T, D)", "neutral", 1.2), (11.05, "logits", "(B, T, V)", "accent", 1.0),
)  # fmt: skip
boxes = [diagrams.box(ax, x, 1.25, name, detail=shape, role=role, width=width, height=0.75) for x, name, shape, role, width in parts]
sums = [diagrams.operator(ax, x, 1.25) for x in (6.13, 8.53)]
frame = diagrams.Box(6.26, 1.4, 5.24, 1.55)  # one block, with the two paths around its parts
diagrams.group(ax, [frame], pad=0)
for left, right in pairwise([*boxes[:3], sums[0], boxes[3], sums[1], *boxes[4:]]):
    diagrams.arrow(ax, left, right)
for x, end in ((3.7, sums[0]), (6.42, sums[1])):
    diagrams.arrow(ax, (x, 1.25), (x, 2.0), (end.x, 2.0), end.top, dashed=True)
diagrams.arrow(ax, (2.8, 0.87), (2.8, 0.3), (11.05, 0.3), (11.05, 0.87), dashed=True)
diagrams.note(ax, 6.26, 2.36, "one block; in the page's model four follow each other")
diagrams.note(ax, 6.6, 0.12, "the same table predicts")
plots.show(
    figure,
    alt="""One table is at both ends. Ids become rows of the table; a block, in a dashed frame, adds to them what causal attention and a gated network give, each with a norm before it; four blocks follow each
other; after the last one come a norm and the same table, whose rows are compared with each position's vector to give V logits.""",
)


# %%
class PlainRotaryAttention(keras.Layer):
    """Causal multi-head attention with rotary positions, without biases."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.split = (num_heads, d_model // num_heads)  # H, K
        self.w_q, self.w_k, self.w_v, self.w_o = (layers.Dense(d_model, use_bias=False) for _ in range(4))

    def look(self, x):  # (B, T, D)
        batch, length, _ = ops.shape(x)
        q, k, v = (
            ops.transpose(ops.reshape(dense(x), (batch, length, *self.split)), (0, 2, 1, 3))
            for dense in (self.w_q, self.w_k, self.w_v)
        )  # each (B, H, T, K)
        time = ops.arange(length)
        scores = ops.matmul(rotated(q, time), ops.transpose(rotated(k, time), (0, 1, 3, 2))) / self.split[1] ** 0.5
        return ops.softmax(ops.where(time[:, None] >= time, scores, -1e9)), v  # (B, H, T, T), (B, H, T, K)

    def call(self, x):  # (B, T, D)
        weights, v = self.look(x)
        heads = ops.transpose(ops.matmul(weights, v), (0, 2, 1, 3))  # (B, T, H, K)
        return self.w_o(ops.reshape(heads, ops.shape(x)))


# %%
class PlainGatedBlock(keras.Layer):
    """A pre-norm decoder block: attention, then a feed-forward network with a gate (SwiGLU, Shazeer 2020)."""

    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm1, self.norm2 = PlainRMSNorm(), PlainRMSNorm()
        self.attention = PlainRotaryAttention(d_model, num_heads)
        self.w_gate, self.w_up = (layers.Dense(d_ff, use_bias=False) for _ in range(2))
        self.w_down = layers.Dense(d_model, use_bias=False)

    def call(self, x):  # (B, T, D)
        x = x + self.attention(self.norm1(x))
        x_norm = self.norm2(x)
        return x + self.w_down(ops.silu(self.w_gate(x_norm)) * self.w_up(x_norm))


# %%
class PlainLanguageModel(keras.Model):
    """Ids (B, T) to the logits (B, T, V) of the next token; one table reads and predicts."""

    def __init__(self, vocab_size, d_model, num_layers, num_heads, d_ff):
        super().__init__()
        start = keras.initializers.RandomNormal(stddev=d_model**-0.5)
        self.table = self.add_weight(shape=(vocab_size, d_model), initializer=start, name="table")
        self.blocks = [PlainGatedBlock(d_model, num_heads, d_ff) for _ in range(num_layers)]
        self.norm = PlainRMSNorm()

    def call(self, ids):  # (B, T)
        x = ops.take(self.table, ids, axis=0) * self.table.shape[-1] ** 0.5  # (B, T, D)
        for block in self.blocks:
            x = block(x)
        return ops.matmul(self.norm(x), ops.transpose(self.table))  # (B, T, V)


# %% [markdown]
# **A language model is the pre-norm decoder of earlier lectures, with one table that reads and predicts; what it knows is in its numbers.**

# %% [markdown]
# <a id="train"></a>
#
# ## 5 · Train it, and count against it
#
# A step takes eight random windows of 257 tokens. The first 256 are the inputs, the last 256 the targets:

# %%
def loss_of(model, windows):  # (B, T + 1)
    logits = model(windows[:, :-1])  # (B, T, V): a prediction after each of the first T tokens
    return ops.mean(ops.sparse_categorical_crossentropy(windows[:, 1:], logits, from_logits=True))


untrained, rows = PlainLanguageModel(pairs.end_id + 1, 128, 4, 4, 344), training.windows(stream, 1, seed=1)[0]
print(f"untrained: {loss_of(untrained, rows):.2f} nats a token; guessing costs ln 512 = {np.log(512):.2f}")
print(f"its most probable next token is the one just read: {np.mean(ops.argmax(untrained(rows[:, :-1]), axis=-1) == rows[:, :-1]):.0%}")

# %% [markdown]
# Before training the model costs more than guessing, mostly because one table both reads and predicts, and starts large: the row of the token just read predicts this token again. With a small start, as in GPT-2, the model costs 6.3 nats, as guessing does ([evidence](evidence/10.ipynb#untrained)).

# %% [markdown]
# **Predict.** The other contestant counts, as in section 1: a **4-gram model** counts how often each token $x$ follows the last three tokens, $c$. With $c'$, which is $c$ without its first token, the rule of Witten and Bell (1991) is
#
# $$p(x \mid c) = \frac{\text{count}(c\,x) + \text{kinds}(c) \cdot p(x \mid c')}{\text{count}(c) + \text{kinds}(c)}$$
#
# Here $\text{kinds}(c)$ is the number of different tokens that followed $c$. The shortest context of all gives each token $1/V$. The 4-gram counts all 2.6 million tokens; the Transformer will read 1.3 million. Which model has fewer bits a byte on the held-out modules?
#
# - (a) the Transformer
# - (b) the counted model
#
# <details><summary>Answer</summary>
#
# **(b)** It has counted twice as many tokens as the Transformer has read. With as many tokens each, the two are about equal. A better rule for counting (Kneser–Ney, below) still leads.
#
# </details>

# %%
SIZE, STEPS = (128, 4, 4, 344), 640  # D, blocks, H, inner width (8D/3: as many parameters as two matrices of 4D)
keras.utils.set_random_seed(1)
model = PlainLanguageModel(pairs.end_id + 1, *SIZE)
model(rows[:, :-1])  # makes the weights
rate = keras.optimizers.schedules.CosineDecay(0.0, STEPS - 100, warmup_target=0.003, warmup_steps=100)
optimizer = keras.optimizers.AdamW(rate, weight_decay=0.1, beta_2=0.95, global_clipnorm=1.0)
optimizer.build(model.trainable_variables)


@tf.function
def step(rows):  # (B, T + 1)
    with tf.GradientTape() as tape:
        loss = loss_of(model, rows)
    optimizer.apply(tape.gradient(loss, model.trainable_variables))
    return loss


losses, batches = [], training.windows(stream, STEPS, seed=1)  # (STEPS, B, T + 1)
for number, rows in enumerate(batches, 1):
    losses.append(float(step(rows)))
    if number % 80 == 0:
        nats, length = np.mean(losses[-20:]), pairs.token_bytes[stream].mean()  # bytes a token
        print(f"step {number}: {nats:.2f} nats a token, {nats / np.log(2) / length:.2f} bits a byte")
tokens_read = STEPS * training.BATCH * training.LENGTH
print(f"{model.count_params():,} parameters; {tokens_read:,} tokens read, of a text of {len(stream):,}")


# %% jupyter={"source_hidden": true} tags=["setup"]
def counting(tokens):
    models = counted.WittenBell(tokens, 4, pairs.end_id + 1), counted.KneserNey(tokens, 6, pairs.end_id + 1)
    simple, better = (each.bits_per_byte(test_stream, pairs.token_bytes) for each in models)
    return {f"counted {n}-gram": value for n, value in enumerate(simple, 1)} | {"Kneser–Ney 6-gram": better}


mixed = pairs.stream(random.Random(1).sample(train_texts, len(train_texts)))  # functions in random order
bits, equal = counting(stream), counting(mixed[:tokens_read])
bits |= {f"{name}, as many tokens": equal[name] for name in ("counted 4-gram", "Kneser–Ney 6-gram")}
bits["Transformer"] = training.held_out_bits(model, test_stream, pairs.token_bytes)
half = training.LENGTH // 2  # each held-out token in the second half of a window, with at least so many before it
rows = np.concatenate([training.side_by_side(test_stream[begin:]) for begin in (0, half)])
nats = sum(float(ops.sum(ops.sparse_categorical_crossentropy(part[:, 1:], model(part[:, :-1]), from_logits=True)[:, half:])) for part in np.array_split(rows, 64))
bits[f"Transformer, at least {half} before"] = nats / np.log(2) / pairs.token_bytes[rows[:, half + 1 :]].sum()
for name, value in bits.items():
    print(f"{name:33} {value:.2f} bits a byte")

# %% jupyter={"source_hidden": true} tags=["drawing"]
results = recorded.load("library_language_model")["results"]
less_text = recorded.load("library_counting")["results"]
by_steps = defaultdict(list)  # bits a byte of three seeds on all held-out text, each training to its end
for run in results["table"]["runs"] + results["scale"]["runs"] + results["longer"]["runs"]:
    if run.get("model", run.get("size", "the page's model")) == "the page's model":
        by_steps[run.get("steps", training.STEPS)].append(run["held-out bits a byte"])
million = training.BATCH * training.LENGTH / 1e6
figure, ax = plt.subplots(figsize=(6.4, 3.5))
plots.measured_curve(np.array(sorted(by_steps)) * million, np.array([by_steps[steps] for steps in sorted(by_steps)]).T, label="Transformer", line=1, ax=ax)
few = sorted({draw["tokens"] for draw in [*less_text["less text"], less_text["all text"]]})
for rule, label, line in (("", "counted 4-gram", 3), ("Kneser-Ney, ", "Kneser–Ney 6-gram", 0)):
    draws = [[draw[f"{rule}all held-out text"][-1] for draw in [*less_text["less text"], *[less_text["all text"]] * 3] if draw["tokens"] == tokens] for tokens in few]
    plots.measured_curve(np.array(few) / 1e6, np.array(draws).T, label=label, line=line, ax=ax)
for size, steps, mark in ((857_216, 1280, "x"), (1_878_720, 1280, "+"), (4_877_568, 1012, "^")):  # at the page's rate, three seeds each
    (gpu,) = (run for run in recorded.load("library_scaling")["results"]["runs"] if (run["parameters"], run["steps"]) == (size, steps))
    same_rate = [lane["held-out bits a byte"] for lane in gpu["lanes"] if lane["rate"] == 0.003]
    ax.plot([gpu["tokens"] / 1e6] * 3, same_rate, mark, color=diagrams.PALETTE["ink"], markerfacecolor="none", label=f"{size / 1e6:.1f} million parameters, GPU")
    print(f"GPU: {size / 1e6:.1f} million parameters, {gpu['tokens'] / 1e6:.1f} million tokens: {np.mean(same_rate):.2f} bits a byte (seeds {min(same_rate):.2f} to {max(same_rate):.2f})")
ax.set(xlabel="million tokens read or counted", ylabel="bits a byte, held out", xscale="log")
ax.set_xticks([0.1, 0.3, 1, 3, 10], ["0.1", "0.3", "1", "3", "10"])
ax.minorticks_off()
ax.legend()
plots.show(
    figure,
    alt="Against a Transformer of this size counting by Witten–Bell leads until 1.3 million tokens, by Kneser–Ney until the text ends; with 4 million read the Transformer is ahead of both. Bits a byte on all held-out text over the tokens read or counted, "
    "logarithmic, recorded, each training to its end, median and range of three seeds or of three draws of functions: all curves fall; at 1.3 million tokens the 4-gram is a little below the Transformer, Kneser–Ney far below; "
    "both end at 2.6 million with the text, where three crosses, trainings of the same size on a GPU, lie well below the 4-gram and a little above Kneser–Ney; larger models on a GPU lie below Kneser–Ney there; the Transformer's curve falls on to 16 million.",
)

# %% [markdown]
# **Kneser–Ney** (Chen and Goodman 1999) takes a little from each count and gives it to the shorter context, where a token counts once for each different token that it has followed.
#
# | million tokens, read or counted | Transformer, 0.86 million parameters | 4-gram | Kneser–Ney |
# |---|---|---|---|
# | 1.3, the run above | 2.03 | 2.04 | 1.83 |
# | 1.3, recorded means | 2.04 | 2.02 | 1.82 |
# | 2.6, recorded: all of the text | 1.80 | 1.96 | 1.75 |
# | 2.6, but 1.9 million parameters | 1.71 | | |
# | 2.1, but 4.9 million parameters | 1.71 | | |
# | 4.0, recorded mean | 1.71 | | |
#
# So two things put the Transformer ahead of Kneser–Ney: more parameters, or the same text read again. (The rows with 2.6 and 2.1 million tokens were trained on a GPU, at the page's rate.)
#
# Is it *attention* that helps? We cannot say: an LSTM of the same size is 0.01 to 0.02 bits behind the Transformer on the same tokens, perhaps by chance ([evidence](evidence/10.ipynb#table)).
#
# **Compare with good counting: on one reading of this text Kneser–Ney beats the page's small Transformer, and a larger Transformer beats Kneser–Ney.**

# %% [markdown]
# <a id="sample"></a>
#
# ## 6 · Let it write
#
# Can it write a function that Python accepts? Sometimes, and at temperature 0.7 mostly a short one.
#
# The prompt is the first line of a held-out function, and a body may have 90 tokens. As in lecture 8b, the temperature comes first, then the **nucleus** (top-p; Holtzman et al. 2020).

# %% jupyter={"source_hidden": true} tags=["setup"]
logits_of = tf.function(model)  # (B, T) to (B, T, V)


def write(prompts, temperature, p, most=90, longest=128, seed=0, logits_of=logits_of, tokens=pairs):
    """Continue all prompts at once, without a cache: bodies, and whether each ended."""
    rng, rows = np.random.default_rng(seed), [[tokens.end_id, *ids] for ids in tokens.encode(prompts)]
    begins = [len(row) for row in rows]
    for _ in range(most):
        padded = np.array([row + [0] * (longest - len(row)) for row in rows], "int32")  # later zeros change nothing
        logits = logits_of(padded).numpy()[range(len(rows)), [len(row) - 1 for row in rows]]  # (B, V)
        for row, begin, scores in zip(rows, begins, logits, strict=True):
            if len(row) == begin or row[-1] != tokens.end_id:
                p_next = np.exp((scores - scores.max()) / temperature)
                row.append(rng.choice(len(p_next), p=nucleus(p_next / p_next.sum(), p)))
    return [(tokens.decode(row[begin:]), row[-1] == tokens.end_id) for row, begin in zip(rows, begins, strict=True)]


# %%
firsts = [text.split("\n")[0] for text in test_texts if text.split("\n")[0].endswith(":")]
short = [first for first in firsts if 20 < len(first) < 60]
prompts = [short[place] for place in np.random.default_rng(0).choice(len(short), 24, replace=False)]


def fault(prompt, body):
    """Why Python refuses the function, or "" if it accepts it."""
    try:
        return "" if len(ast.parse(prompt + body).body) == 1 else "more than one statement"
    except (SyntaxError, ValueError) as error:
        return str(error)


written = write(prompts, temperature=0.7, p=0.9)  # bodies, and whether each ended
samples = [(fault(line, body) if ended else "not ended", line + body) for line, (body, ended) in zip(prompts, written, strict=True)]
accepted = max((text for why, text in samples if not why), key=len, default="none")
why, refused = next(sample for sample in samples if sample[0] not in ("", "not ended"))
print(f"The longest function that Python accepts:\n\n{accepted}\n\nThe first that it refuses:\n\n{refused}\n{why}")

# %% [markdown]
# Accepted is not correct: in our run the first function returns `result`, which nothing defines. Count the bodies that **ended** with the end token. Of these, count those that **parse**: `ast.parse` accepts first line and body, and finds one statement.

# %%
lines = [sum(bool(line.strip()) for line in body.split("\n")) for body, _ in written]
print(f"ended: {sum(ended for _, ended in written)} of {len(prompts)}; of these parse: {sum(not why for why, _ in samples)}")
print("lines of those that parse:    ", sorted(line for line, (why, _) in zip(lines, samples, strict=True) if not why))
print("a body of one line, `pass`:   ", sum(not fault(prompt, "\n    pass\n") for prompt in prompts), "parse")

# %% [markdown]
# `pass` parses after every prompt. So look at the lengths, too:

# %% jupyter={"source_hidden": true} tags=["drawing"]
groups = {"1": (1, 1), "2–3": (2, 3), "4–6": (4, 6), "7 or more": (7, 1000)}  # lines
writers = [run for run in results["written"]["runs"] if (run["model"], run["temperature"], run["top-p"]) == ("the page's model", 0.7, 0.9)]
fine, ended = (
    np.array([[sum(low <= lines <= high for lines in run[kind]) for low, high in groups.values()] for run in writers])
    for kind in ("lines of parsed", "lines of ended")
)  # each (seeds, groups)
figure, ax = plt.subplots(figsize=(6.4, 3.3))
ax.bar(range(4), fine.sum(axis=0) / ended.sum(axis=0), 0.6, color=plots.LINES[0]["color"], alpha=0.75)
for shares in fine / ended:
    ax.plot(range(4), shares, ".", color=diagrams.PALETTE["ink"], markersize=9)
for place, (good_ones, of) in enumerate(zip(fine.sum(axis=0), ended.sum(axis=0), strict=True)):
    ax.text(place, 1.06, f"{good_ones} of {of}", ha="center")
ax.set(xlabel="lines of the body", ylabel="share that parses", ylim=(0, 1.16))
ax.set_xticks(range(4), groups)
plots.show(
    figure,
    alt="Bodies of one line parse most often, and those of seven or more lines most seldom. Share of the recorded bodies that parse, of those that ended, by their number of lines; bars are three "
    "seeds together, dots the single seeds. Of one line nearly nine in ten parse, of two to six lines about half, of seven or more one in six.",
)

# %% [markdown]
# Three recorded seeds, each with 96 prompts and at most 256 tokens, so that more bodies end:
#
# | | ended | of these parse | median lines of these |
# |---|---|---|---|
# | temperature 0.7, $p = 0.9$ | 77 to 86 | 40 to 54 % | 2, 3 and 1 |
# | temperature 0 | 39 to 67 | 77 to 87 % | 6.5, 3 and 3 |
# | real bodies | 96 | 100 % | 4 |
#
# What parses is not yet sensible: a real body uses 96 % of its parameters (`self` apart), ours at 0.7 at most 4 % ([evidence](evidence/10.ipynb#temperature)).
#
# **Report the share of samples that parse together with their lengths.**

# %% [markdown]
# <a id="real"></a>
#
# ## 7 · A real one in its place
#
# **SmolLM2-135M-Instruct** (Ben Allal et al. 2025) has 30 of the blocks above, D = 576, nine heads of K = 64 and V = 49,152. It has read 2 trillion tokens of web pages, code and textbooks; yours has read 1.3 million. Then its makers tuned it on conversations ([lecture 10b](10b_from_model_to_assistant.ipynb)). Your class takes its numbers:

# %%
NAMES = {  # yours: the file's
    "norm1.gamma": "attn_norm", "attention.w_q.kernel": "attn_q", "attention.w_k.kernel": "attn_k", "attention.w_v.kernel": "attn_v",
    "attention.w_o.kernel": "attn_output", "norm2.gamma": "ffn_norm", "w_gate.kernel": "ffn_gate", "w_up.kernel": "ffn_up", "w_down.kernel": "ffn_down",
}  # fmt: skip
real_tokens = None
if is_here("smollm2"):
    file = open_tensors(published("smollm2") / next(iter(PUBLISHED["smollm2"].files)))
    real = PlainLanguageModel(49_152, 576, 30, 9, 1536)
    real(np.zeros((1, 2), "int32"))  # makes the weights
    real.table.assign(file.read("token_embd.weight") / 576**0.5)  # the class multiplies by √D, SmolLM2 does not,
    real.norm.gamma.assign(file.read("output_norm.weight") * 576**0.5)  # and the logits stay as they are
    for number, block in enumerate(real.blocks):
        for name, stored in NAMES.items():
            values = file.read(f"blk.{number}.{stored}.weight")  # (out, in)
            if stored in ("attn_k", "attn_v"):  # three heads, each for three heads of queries
                values = np.repeat(values.reshape(3, 64, 576), 3, axis=0).reshape(576, 576)
            attrgetter(name)(block).assign(values.T)  # Keras has (in, out); Hugging Face's own file needs q and k reordered: it pairs i with i + K/2
    real_tokens = ChatTokens.of(file)  # its tokens, text to ids and back

    @tf.function(input_signature=[tf.TensorSpec((None, None), tf.int32)])
    def real_logits(ids):  # (B, T) to (B, T, V)
        with constants(base=100_000.0, epsilon=1e-5):  # of the rotary angles, and of the norms
            return real(ids)

    print(f"{real.count_params():,} numbers in PlainLanguageModel, {len(real.blocks)} blocks")
else:
    print('SmolLM2 is not here, so what it does is left out. To fetch 93 MB, once: data.published("smollm2")')


# %% [markdown]
# So the code of the class stays as it is, and **all numbers change**: the sizes, the parameters, and two constants. `constants` sets the base of the rotary angles (10,000 in lecture 5) and the ε of the norms (ours is 10⁻⁶). Nine heads share three pairs of keys and values, so the cell stores each pair three times (147.8 million numbers, 134.5 million of them different). In [lab 10](../labs/10_language_model/10_language_model.ipynb) you build the sharing and the cache.

# %% [markdown]
# **Predict.** You give the model the text *What is the capital of France?* and nothing else, and let it take the most probable token each time. What comes?
#
# - (a) *Paris*
# - (b) a text that goes on as a page might, with more questions or with an explanation
# - (c) nothing
#
# <details><summary>Answer</summary>
#
# **(c)** The most probable next token is the end of the turn. With the names of the speakers the same question is answered.
#
# </details>

# %%
def continued(ids, most=40):
    """The most probable next token, again and again, until the model ends its turn."""
    ids = list(ids)
    for _ in range(most):
        row = np.array([ids + [0] * (-len(ids) % 16)], "int32")  # later zeros change nothing
        ids.append(int(np.argmax(real_logits(row)[0, len(ids) - 1])))
        if ids[-1] == real_tokens.end_id:
            break
    return ids


if real_tokens:
    question, special = "What is the capital of France?", real_tokens.special
    names = {number: name for name, number in special.items()}
    system = "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
    turns = f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
    plain = ("The capital of France is", question, f"Question: {question}\nAnswer:", f"user\n{question}\nassistant\n")
    for prompt in (*plain, f"{question}\n<|im_start|>assistant\n", turns, system + turns):
        parts = re.split(r"(<\|\w+\|>)", prompt)  # `encode` never makes the special tokens
        ids = [number for part in parts for number in ([special[part]] if part in special else real_tokens.encode(part))]
        answer = "".join(names.get(number) or real_tokens.decode([number]) for number in continued(ids)[len(ids) :])
        print(f"{prompt}\n→ {answer}\n")

# %% [markdown]
# Is that so for other questions? Here are the counts of ten ([evidence](evidence/10.ipynb#template)). **Answered** means that the right word is among the first twenty tokens. So *The largest planet of the solar system is Jupiter, but it's actually Saturn that's the largest* counts.
#
# | what the model reads | end at once | answered |
# |---|---|---|
# | the question alone | 9 | 0 |
# | the end-of-text token, then the question | 5 | 2 |
# | `Question: … Answer:` | 3 | 4 |
# | the speakers' names in plain letters | 0 | 8 |
# | the whole template | 0 | 9 |
#
# The **chat template** is the form of the conversations in the tuning. Its **special tokens** `<|im_start|>` and `<|im_end|>` mark where a turn begins and ends. To chat is to predict the next tokens of a play in which the assistant speaks next. Ask it something of your own:

# %%
if real_tokens:
    for question in ("Why is the sky blue?", "How many legs does a spider with two legs missing have?"):
        templated = real_tokens.chat(question)
        print(f"{question}\n   {real_tokens.decode(continued(templated, most=36)[len(templated) :])}\n")

# %% [markdown]
# The first answer names the right effect. The second has the form of an answer and counts wrong: 4, where it is 6. Nothing here checks an answer.
#
# And as a reader of code? Here are twelve held-out functions of 80 to 400 bytes, each read alone, without its end. (1,960 steps, 4.0 million tokens: a longer training of your model, which comes with the course.)

# %% jupyter={"source_hidden": true} tags=["setup"]
chosen = [test_texts[place] for place in np.random.default_rng(0).permutation(len(test_texts)) if 80 < len(test_texts[place]) < 400][:12]


def bits_on(texts, encode, logits_of, begin):
    """Bits a byte of a few texts, each read alone; `begin` is the token before a text. SmolLM2 has no token for the end of a function."""
    nats = 0.0
    for text in texts:
        ids = np.array([[begin, *encode(text)]], "int32")
        nats += float(ops.sum(ops.sparse_categorical_crossentropy(ids[:, 1:], logits_of(ids[:, :-1]), from_logits=True)))
    return nats / np.log(2) / sum(map(len, texts))


stored_pairs, longer = assistant.stored_writer()
print(f"yours, 640 steps   {bits_on(chosen, lambda text: pairs.encode([text])[0], model, pairs.end_id):.2f} bits a byte")
print(f"yours, 1,960 steps {bits_on(chosen, lambda text: stored_pairs.encode([text])[0], longer, stored_pairs.end_id):.2f} bits a byte")
if real_tokens:
    print(f"SmolLM2            {bits_on(chosen, real_tokens.encode, real_logits, 0):.2f} bits a byte")

# %% [markdown]
# SmolLM2 reads these twelve best. It may have met them (box at the end).
#
# Does it use the order of its prompt? Forty words of a docstring make the next ten words 2.44 nats a token cheaper; shuffled, they keep 44 % of this gain ([evidence](evidence/10.ipynb#order)).
#
# **A model that others trained runs in the class that you wrote. A bare question it mostly ends; a question that looks like a conversation it mostly answers, with or without the special tokens.**

# %% [markdown]
# <a id="copying"></a>
#
# ## 8 · Does it copy?
#
# A function with a parameter `zorvik` should use `zorvik`. A counted model has never met this name. A Transformer can copy it if it finds where the present token stood before, and repeats what followed there. Take small models of attention alone. Each row has 40 tokens, drawn from 32, and repeats its first 6 to 19 tokens; their number, the **period**, is drawn for each row.

# %% [markdown]
# **Predict.** One model has one block of attention, the other two, with four heads each. Which learns to copy?
#
# - (a) both
# - (b) only the one with two blocks
# - (c) neither
#
# <details><summary>Answer</summary>
#
# **(b)** With two blocks, the first can write into each position which token stood before it. The second can then look for the position whose predecessor is the present token (Elhage et al. 2021). A single block scores two tokens and their distance. It cannot see which token stood before the earlier one.
#
# </details>

# %%
curves = {}
for blocks in (1, 2):
    attention_only, curves[blocks] = induction.taught(blocks, steps=450, seed=0)
    before, after = induction.head_scores(attention_only)
    print(f"{blocks} block{'s' * (blocks > 1)}: {curves[blocks][-50:, 1].mean():.2f} nats a repeated token at the end")
    for block in range(blocks):
        print(f"   block {block}: weight on the token before {before[block].max():.2f}, on what followed last time {after[block].max():.2f} (best head)")
print(f"equal weights: {induction.equal_weights():.2f}")

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, axes = plt.subplot_mosaic([["loss", "loss"], ["before", "after"]], figsize=(7, 7), height_ratios=(3, 4))
ax = axes["loss"]
for line, (blocks, curve) in enumerate(curves.items()):
    smooth = np.convolve(curve[:, 1], np.ones(20) / 20, "valid")
    ax.plot(np.arange(20, len(curve) + 1), smooth, **{**plots.LINES[line], "marker": ""}, label=f"{blocks} block{'s' * (blocks > 1)}")
for level, label in ((np.log(induction.TOKENS), "guessing"), (induction.without_order(), "knowing the tokens, not their order")):
    ax.axhline(level, color=plots.LINES[5]["color"], linewidth=1)
    ax.text(len(curve), level + 0.06, label, ha="right")
ax.set(xlabel="step", ylabel="nats a repeated token", ylim=(0, 4.6))
ax.legend(loc="lower left")
ids, (period,) = induction.repeating(np.random.default_rng(2), 1)
looks = attention_only.looks(ids)
for name, block, scores in (("before", 0, before), ("after", 1, after)):
    title = {"before": "block 0: the token before", "after": "block 1: what followed last time"}[name]
    plots.matrix_map(looks[block][0, scores[block].argmax()], values=False, title=title, limits=(0, 1), ax=axes[name])
    axes[name].axhline(period[0] - 0.5, color=plots.LINES[1]["color"], linewidth=1)
    axes[name].text(39, period[0] - 1, "below: the repetition", ha="right", color=plots.LINES[1]["color"], fontsize=8)
    axes[name].set(xlabel="key: position", ylabel="query: position", aspect="equal", xticks=range(0, 40, 10), yticks=range(0, 40, 10))
plots.show(
    figure,
    alt="With two blocks the loss falls off a cliff: one head looks at the token before, the other at what followed last time. Above, nats a repeated token over the steps: both curves fall slowly, that of two blocks a little "
    "sooner, which then drops towards zero while the curve of one block stays above the level of knowing which tokens repeat. Below, two maps of attention weights on one row: the map of "
    "block 0 has its weight just below the diagonal, the map of block 1 has, below the horizontal line where the repetition begins, a line that runs parallel to the diagonal further to the left, and a fainter one another period back.",
)


# %% [markdown]
# The head of block 1 puts more than half of its weight on what followed the same token last time (equal weights: 0.04), as an **induction head** does (lecture 3; Olsson et al. 2022). Two blocks copy in each of three seeds. One block does not, with eight heads or with three times the steps ([evidence](evidence/10.ipynb#two-blocks)): above it ends at 2.59 nats, and knowing the tokens of the period, without their order, costs 2.21.
#
# And language models? Feed them 40 random tokens, then the same 40 again:

# %% jupyter={"source_hidden": true} tags=["setup"]
def copying(logits_of, size, begin, rows=4, period=40):
    """Nats a token of random tokens, the first time and the second time."""
    once = np.random.default_rng(0).integers(300, size, (rows, period))
    ids = np.concatenate([np.full((rows, 1), begin), once, once], axis=1).astype("int32")
    nats = np.concatenate([ops.sparse_categorical_crossentropy(row[:, 1:], logits_of(row[:, :-1]), from_logits=True) for row in ids[:, None]])
    return nats[:, :period].mean(), nats[:, period + 1 :].mean()


print("yours, 640 steps: first time {:.1f}, second time {:.1f} nats a token".format(*copying(model, len(pairs.pieces), pairs.end_id)))
if real_tokens:
    print("SmolLM2:          first time {:.1f}, second time {:.1f} nats a token".format(*copying(real_logits, 49_152, 0)))

# %% [markdown]
# Random tokens cost SmolLM2 14.5 nats each, and 2.6 when they come again. Knowing only *which* 40 tokens come would cost $\ln 40 = 3.7$: it copies in part.
#
# Your model does not copy these; but they are no Python. So put a made-up name into held-out functions three times, and in the control only the last time. In three recorded seeds after 640 steps the last name costs 25.3 nats if it is **known** (it has stood there before) and 25.8 if it is **new**; after 16 million tokens 23.7 and 31.4. So the longer training tells a known name from a new one, mostly because the new one got dearer: it copies in part at most ([evidence](evidence/10.ipynb#copying)).
#
# **Here one block does not learn to copy by content, and two blocks do; in a real model you find such heads ([lecture 3b](03b_reading_heads.ipynb)).**

# %% [markdown]
# <a id="scale"></a>
#
# ## 9 · Larger, or longer?
#
# With more time to compute, should the model be larger, or should it read the same text again? The figure has 20 of our 31 recorded trainings, in four budgets of equal **operations** (multiplications and additions: 6 for each parameter and token, and those of attention). Each has three seeds, and the best of three rates on the held-out text, so its bits are a little too low.

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, ax = plt.subplots(figsize=(6.4, 3.4))
scaling = recorded.load("library_scaling")["results"]
for line, budget in enumerate((4.4, 17.6, 70.4, 281.7)):  # trillion operations
    runs = sorted((run for run in scaling["runs"] if abs(run["operations"] / budget / 1e12 - 1) < 0.01), key=lambda run: run["parameters"])
    bits = []  # of three seeds, at the best of three rates
    for run in runs:
        by_rate = [[lane["held-out bits a byte"] for lane in run["lanes"] if lane["rate"] == rate] for rate in (0.0015, 0.003, 0.006)]
        bits.append(min(by_rate, key=np.mean))
    plots.measured_curve([run["parameters"] for run in runs], np.array(bits).T, label=f"{budget:.0f} trillion operations", line=line, ax=ax, xscale="log")
    print(f"{budget:.1f} trillion operations, the three best of {len(runs)} sizes:")
    for place in np.argsort(np.median(bits, axis=1))[:3]:
        run, passes = runs[place], runs[place]["tokens"] / scaling["training tokens"]
        each = run["operations"] / run["tokens"] / 1e6
        print(f"  {run['parameters']:9,} parameters, {each:4.1f} million operations a token, the text read {passes:5.2f} times: {np.median(bits[place]):.2f} bits a byte (seeds {min(bits[place]):.2f} to {max(bits[place]):.2f})")
ax.set(xlabel="parameters", ylabel="bits a byte, held out")
ax.legend()
plots.show(
    figure,
    alt="""The best size of the largest budget is ten times that of the smallest. Bits a byte on held-out text over the parameters, logarithmic, a curve for each of four budgets of equal operations, recorded, median and range of three seeds at the best of three rates:
each curve is lowest at a size between its ends; the second and the third are lowest at the same size, where the band of the third is the widest of all, and the last is nearly flat.""",
)

# %% [markdown]
# From the first to the last budget, 64 times the operations, our best size grows tenfold and reads eight times as many tokens. This is no law ([evidence](evidence/10.ipynb#equal-operations)):
#
# * **The rate matters.** With the rate 0.003 for all, the best size grows 27-fold and reads 3 times as many tokens. The largest rate tried is the best for 27 of the 31 trainings, so a larger one may be better yet.
# * **Sizes nearly tie.** In the second budget two sizes tie, with one pass over the text and with four; in the last three sizes lie within 0.03.
# * **The text repeats.** In the last budget the best size reads it eight times. Muennighoff et al. (2023) found repeated text nearly as good as new text for about four passes, and less good after that.
#
# Hoffmann et al. (2022), whose text was mostly new, concluded that size and text should grow equally, at about 20 tokens a parameter. SmolLM2 has read 15,000 tokens a parameter: a small model that has read much is cheap to *use*.
#
# **With 64 times the operations the best of these models is larger and has read more; how much of each is best, they do not tell.**

# %% [markdown]
# ## Two mistakes
#
# **1 · The prompt ends in a newline.** A newline and the indentation after it are one token, and a prompt that ends in `\n` splits it. In the training text half of the lone newlines stand at the end of a function, and the model has learned that:

# %%
print([pairs.decode([number]) for number in pairs.encode(["def f(x):\n    return x\n"])[0]])
ends = stream[1:][stream[:-1] == pairs.encode(["\n"])[0][0]] == pairs.end_id
print(f"in the training text a lone newline stands before the end in {ends.mean():.0%}")
split = write([prompt + "\n" for prompt in prompts], temperature=0.7, p=0.9, most=12)
for name, bodies in (("colon", written), ("newline", split)):
    print(f"prompt ends after the {name:8} {sum(not body.strip() for body, _ in bodies):2} of {len(prompts)} bodies are empty")

# %% [markdown]
# **2 · The targets are not shifted.** With `y = x` every position predicts the token that it reads. The loss falls to nearly nothing, and the next token costs more than guessing:

# %%
unshifted = PlainLanguageModel(pairs.end_id + 1, 64, 3, 2, 172)
unshifted.compile(keras.optimizers.Adam(3e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x = training.windows(stream, 30, seed=0).reshape(-1, training.LENGTH + 1)[:, :-1]
unshifted.fit(x, x, batch_size=8, verbose=0)
rows = training.windows(test_stream, 1, seed=0)[0]  # (B, T + 1), held out
print(f"loss on the token just read {unshifted.evaluate(rows[:, :-1], rows[:, :-1], verbose=0):.2f}, on the next token {loss_of(unshifted, rows):.1f}")

# %% [markdown]
# ## Four questions
#
# <details><summary>1. Why does the end token cost bits but have no bytes?</summary>
#
# The model must predict where a function ends, and that is part of describing the text. The file has no byte for it, so it adds to the bits and not to the bytes.
#
# </details>
#
# <details><summary>2. While the model writes, rows are padded at the end with zeros. Why does this change nothing?</summary>
#
# Attention is causal: the logits of a position depend on no later one.
#
# </details>
#
# <details><summary>3. Two models have the same bits a byte. The bodies of one parse twice as often. What do you ask first?</summary>
#
# How long are the bodies, and at which temperature were they drawn? At one temperature shorter bodies parse more often, and a lower temperature changes the share.
#
# </details>
#
# <details><summary>4. Why would rows with one fixed period let a single block copy?</summary>
#
# Rotary scores can prefer a distance. With a fixed period the token to copy always stands at the same one, and a single block learns it ([evidence](evidence/10.ipynb#two-blocks)).
#
# </details>
#
# <details><summary><b>What this page does not show</b></summary>
#
# * One library, one recipe. Counting is tuned better: four tokens (Witten–Bell) and six (Kneser–Ney) are the best of one to six on this held-out text, and six, the edge of what was tried, still gains. For the Transformer the rate 0.006 is better than 0.003.
# * The Transformer begins each held-out window of 256 tokens without context, and counting never does. The difference is small: with at least 128 tokens before each token the run above pays 2.02 bits.
# * SmolLM2 has probably read Python's library, held-out modules included, and docstrings with it. If it has, its bits flatter it, and so may the worth of order: a recited text is cheap only in its own order.
# * Its file has 98 MB (93 MB packed, to fetch), where four bytes a number would make 538 MB. The table has 8 bits a number (Q8_0), the 210 matrices of the blocks 4 bits (Q4_1); 32 numbers share a scale. The answers of the unrounded model were not tried.
# * Twelve functions, 16 docstrings, ten questions: too few to rank models.
#
# </details>
#
# ## Summary
#
# - A language model gives the next token a probability; its loss per byte can be compared with any other model's on the same text.
# - Byte pairs shorten the row; the end token closes each document; whole modules are held out.
# - What it writes is judged by whether it parses, and by its length.
# - SmolLM2 runs in the same class; its makers tuned it to answer, and the template gives the prompt the form of the tuning.
# - **The parts of this course, put together, predict the next token; loaded with published parameters, they answer you.**
#
# ## References
#
# - Ben Allal et al. 2025, *SmolLM2: when Smol goes big*, arXiv 2502.02737. The model is SmolLM2-135M-Instruct, Apache licence 2.0.
# - Chen and Goodman 1999, *An empirical study of smoothing techniques for language modeling*, Computer Speech and Language 13(4)
# - Elhage et al. 2021, *A mathematical framework for Transformer circuits*, transformer-circuits.pub
# - Gage 1994, *A new algorithm for data compression*, C Users Journal 12(2)
# - Hoffmann et al. 2022, *Training compute-optimal large language models*, arXiv 2203.15556
# - Holtzman et al. 2020, *The curious case of neural text degeneration*, arXiv 1904.09751
# - Muennighoff et al. 2023, *Scaling data-constrained language models*, arXiv 2305.16264
# - Olsson et al. 2022, *In-context learning and induction heads*, arXiv 2209.11895
# - Radford et al. 2019, *Language models are unsupervised multitask learners*, OpenAI
# - Sennrich et al. 2016, *Neural machine translation of rare words with subword units*, arXiv 1508.07909
# - Shannon 1948, *A mathematical theory of communication*, Bell System Technical Journal 27
# - Shazeer 2020, *GLU variants improve Transformer*, arXiv 2002.05202
# - Su et al. 2021, *RoFormer*, arXiv 2104.09864; Zhang and Sennrich 2019, *Root mean square layer normalization*, arXiv 1910.07467
# - Touvron et al. 2023, *LLaMA: open and efficient foundation language models*, arXiv 2302.13971
# - Witten and Bell 1991, *The zero-frequency problem*, IEEE Transactions on Information Theory 37(4)
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# Your Python's library differs from ours, so your numbers do too. "holds no Python functions": your Python came without sources; the message says what to do. Slow
# machine: set `SIZE, STEPS = (64, 3, 2, 172), 160`. With a GPU or more time: more steps. Further reading: Karpathy's *nanoGPT*, chapter 5 of
# Raschka's *Build a Large Language Model (From Scratch)*, and the first assignment of Stanford's CS336.
#
# </details>

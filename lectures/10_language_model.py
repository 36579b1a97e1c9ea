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
# **The parts of this course, put together, predict the next token of real text.**
#
# [← 9b · More images, larger images, video](09b_many_images_and_video.ipynb) · [Lab
# 10](../labs/10_language_model/10_language_model.ipynb)
#
# Your machine holds thousands of Python functions that somebody wrote: the standard library. **Can a small model that has read parts of them
# write a function that Python accepts?** Write down your guess. You will see the answer in section 6.
#
# **Afterwards you can**
#
# * merge byte pairs by hand, and say why models are compared per byte;
# * build, train and sample a decoder-only Transformer;
# * judge what it writes by measures that need no taste;
# * test whether a model uses what stood before, and say what two blocks learn here and one does not.
#
# **You need** lectures 2, 3, 4, 5 and 8, and lecture 8b for sampling. **Time:** about 65 minutes to read and predict (estimated, not measured); the code runs in about three
# minutes on two CPU cores that have nothing else to do.
#
# Letters: **B** rows of a batch, **T** tokens, **D** width, **H** heads, **K** width of a head, **V** size of the vocabulary.

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
import ast
import random
from collections import Counter, defaultdict
from pathlib import Path

from coursekit import data, diagrams, plots, quiet, recorded

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import layers, ops

from coursekit.pages import counted, induction, training
from coursekit.pages.byte_pairs import PlainBytePairs
from coursekit.pages.parts import PlainRMSNorm, rotated

plots.use_course_style()
tf.get_logger().setLevel("ERROR")  # no advice on retracing

# %% [markdown]
# <a id="guess"></a>
#
# ## 1 · Guess what comes next
#
# A **language model** gives every possible next token a probability, given the tokens before it. A text $x_1 \dots x_T$ gets the product of these
# probabilities. The model's loss on this text is the negative logarithm of the product: a sum of surprises, in **nats** (natural logarithm) or bits (1 nat = 1.44 bits):
#
# $$-\log p(x_1 \dots x_T) = -\sum_{t=1}^{T} \log p(x_t \mid x_1 \dots x_{t-1})$$
#
# The oldest language models count. Shannon (1948) drew letters by how often they follow others. Here is his method, with four letters of context, on one module of your Python.

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
# Words are nearly correct; the whole means nothing: the model remembers four letters.
#
# **A language model gives every next token a probability, and its loss is the surprise at the true one.**

# %% [markdown]
# <a id="documents"></a>
#
# ## 2 · The text on your machine
#
# `data.library_functions()` reads the standard library of the Python that runs this notebook. It cuts out functions and methods, moves them to the left
# margin, and executes none of them. Each function is one **document**. The texts come under Python's licence (PSF).

# %%
(train_texts, train_modules), (test_texts, test_modules) = data.library_functions()
print(f"{sum(map(len, train_texts)):,} bytes to train on, {sum(map(len, test_texts)):,} held out")
print("held out:", ", ".join(sorted(set(test_modules))))
print(next(text for text in test_texts if len(text) < 160))

# %% [markdown]
# Why whole modules? Counting pays 1.93 bits a byte (section 3; less is better) for functions from modules that it has never met, and 1.64 for the same functions when it has counted the other half of their modules ([evidence](evidence/10.ipynb#split)). There is no third part for choices; where a setting was chosen on held-out text, the page says so.
#
# **Hold out whole modules, so that fewer test functions have neighbours in training.**

# %% [markdown]
# <a id="byte-pairs"></a>
#
# ## 3 · Byte pairs
#
# A model needs tokens from a fixed list. The 256 bytes are such a list and can write everything, but they make each function a long row. **Byte-pair encoding** (BPE;
# Gage 1994, Sennrich et al. 2016) shortens it: find the most frequent pair of neighbouring tokens, give the pair a new token, repeat. First the text is cut
# into **chunks** (pre-tokenization), so that no token joins a name with a bracket. Bytes and chunks come from GPT-2 (Radford et al. 2019); ours differ: a newline keeps the indentation after it, an underscore belongs to the name, digits stand alone. `PlainBytePairs` does this; in lab 10 you write it.

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
# bytes and has a loss of 1.2 nats a byte. Which is better?
#
# - (a) the first
# - (b) the second
# - (c) the losses cannot be compared
#
# <details><summary>Answer</summary>
#
# **(a)** Per token the losses cannot be compared, because the tokens differ. Per byte they can: the first pays $2/2 = 1$ nat for each byte, and
# the second 1.2.
#
# </details>

# %%
stream, test_stream = pairs.stream(train_texts), pairs.stream(test_texts)
print(f"{len(stream):,} tokens to train on, {len(test_stream):,} held out")
print(f"{sum(map(len, test_texts)) / np.sum(test_stream != pairs.end_id):.2f} bytes a token on held-out text")


# %% [markdown]
# All documents stand in one row, each followed by an end token. The measure of this page is **bits per byte**: all bits that a model pays for a text, the
# ends included, divided by the bytes of the text. Many texts report perplexity, $e$ to the loss per token.
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
# * one table for embeddings and predictions (**weight tying**; lecture 8). It starts with standard deviation $1/\sqrt{D}$, and the input is multiplied by $\sqrt{D}$. So inputs and logits start with a standard deviation near 1. The exception is the logit of the token just read: its own row of the table is still in the vector, so it is much larger (section 5).
#
# The feed-forward network has the gate of lecture 4 (**SwiGLU**, Shazeer 2020), with $\operatorname{silu}(a) = a \cdot \operatorname{sigmoid}(a)$:
#
# $$W_\text{down}\big(\operatorname{silu}(W_\text{gate}x) \odot W_\text{up}x\big)$$
#
# Apart from the table, this is the form of Touvron et al. (2023).

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
# **A language model is the pre-norm decoder of earlier lectures, with one table that reads and predicts.**

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


untrained, some = PlainLanguageModel(pairs.end_id + 1, 128, 4, 4, 344), training.windows(stream, 1, seed=1)[0]
print(f"untrained: {loss_of(untrained, some):.2f} nats a token; guessing costs ln 512 = {np.log(512):.2f}")
print(f"its most probable next token is the one just read: {np.mean(ops.argmax(untrained(some[:, :-1]), axis=-1) == some[:, :-1]):.0%}")

# %% [markdown]
# Before training the model costs more than guessing, mostly because one table both reads and predicts, and starts large: the vector resembles the row of the token just read, and the same row predicts it. On random tokens it pays 8.5 nats, with a second table for the predictions 6.7, and with one table that starts at 0.02, without the $\sqrt{D}$, as GPT-2's does, 6.3 ([evidence](evidence/10.ipynb#untrained)).

# %% [markdown]
# **Predict.** The other contestant counts, as in section 1: how often does each token follow the last three, two, one, none? It mixes these shares, and $1/V$ for each token, by a simple rule (Witten and Bell 1991): a **4-gram model**. It counts all 2.6 million tokens; the Transformer will read 1.3 million. Which model has fewer bits a byte on the held-out modules?
#
# - (a) the Transformer
# - (b) the counted model
#
# <details><summary>Answer</summary>
#
# **(b)**. It has counted twice as many tokens as the Transformer has read. With as many tokens each the two are about equal. A better rule for counting (Kneser–Ney, below) still leads.
#
# </details>

# %%
SIZE, STEPS = (128, 4, 4, 344), 640  # D, blocks, H, inner width (8D/3: as many parameters as two matrices of 4D)
keras.utils.set_random_seed(1)
model = PlainLanguageModel(pairs.end_id + 1, *SIZE)
model(some[:, :-1])  # makes the weights
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
        print(f"step {number}: {np.mean(losses[-20:]):.2f} nats a token")
tokens_read = STEPS * training.BATCH * training.LENGTH
print(f"{model.count_params():,} parameters; {tokens_read:,} tokens read, of a text of {len(stream):,}")


# %%
def counting(some):
    models = counted.WittenBell(some, 4, pairs.end_id + 1), counted.KneserNey(some, 6, pairs.end_id + 1)
    simple, better = (each.bits_per_byte(test_stream, pairs.token_bytes) for each in models)
    return {f"counted {n}-gram": value for n, value in enumerate(simple, 1)} | {"Kneser–Ney 6-gram": better}


mixed = pairs.stream(random.Random(1).sample(train_texts, len(train_texts)))  # functions in random order
bits, equal = counting(stream), counting(mixed[:tokens_read])
bits |= {f"{name}, as many tokens": equal[name] for name in ("counted 4-gram", "Kneser–Ney 6-gram")}
bits["Transformer"] = training.held_out_bits(model, test_stream, pairs.token_bytes)
for name, value in bits.items():
    print(f"{name:33} {value:.2f} bits a byte")

# %% tags=["drawing"]
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
(gpu,) = (run for run in recorded.load("library_scaling")["results"]["runs"] if (run["parameters"], run["steps"]) == (857_216, 1280))
same_rate = [lane["held-out bits a byte"] for lane in gpu["lanes"] if lane["rate"] == 0.003]
ax.plot([gpu["tokens"] / 1e6] * 3, same_rate, "x", color=diagrams.PALETTE["ink"], label="Transformer, on a GPU")
ax.set(xlabel="million tokens read or counted", ylabel="bits a byte, held out", xscale="log")
ax.set_xticks([0.1, 0.3, 1, 3, 10], ["0.1", "0.3", "1", "3", "10"])
ax.minorticks_off()
ax.legend()
plots.show(
    figure,
    alt="Counting by Witten–Bell leads until 1.3 million tokens, by Kneser–Ney until the text ends; with 4 million read the Transformer is ahead of both. Bits a byte on all held-out text over the tokens read or counted, "
    "logarithmic, recorded, each training to its end, median and range of three seeds or of three draws of functions: all curves fall; at 1.3 million tokens the 4-gram is a little below the Transformer, Kneser–Ney far below; "
    "both end at 2.6 million with the text, where three crosses, trainings on a GPU, lie well below the 4-gram and a little above Kneser–Ney; the Transformer's curve falls on to 16 million.",
)


# %% [markdown]
# **Kneser–Ney** smoothing (Chen and Goodman 1999) takes a little from each count and gives it to the shorter context. There a token counts by how many different tokens it has followed.
#
# On equal amounts counting (Witten–Bell) leads by 0.6 bits at 0.16 million tokens. At 1.3 million the two are equal: counting is 0.02 ahead in the recorded means and 0.01 behind in the run above. The order of the functions alone moves it by 0.02. Kneser–Ney is 0.22 ahead there. With 4 million read the Transformer has 1.71 bits, counting the whole text by Kneser–Ney 1.75 ([evidence](evidence/10.ipynb#equal-text)). 
#
# Counting is tuned better: four tokens (Witten–Bell) and six (Kneser–Ney) are the best of one to six on this held-out text; for the Transformer the rate 0.006 is better than 0.003 ([evidence](evidence/10.ipynb#scale)).
#
# The Transformer's windows are random, and it can go on re-reading; counting has nothing more to count after 2.6 million tokens. An LSTM of the same size is 0.01 to 0.02 bits behind the Transformer on the same tokens, perhaps by chance ([evidence](evidence/10.ipynb#table)).
#
# **Compare with good counting: here Kneser–Ney leads at first, and the Transformer passes it between 2.6 and 4 million tokens.**

# %% [markdown]
# <a id="sample"></a>
#
# ## 6 · Let it write
#
# The answer to the opening question: sometimes, and what Python accepts is mostly short.
#
# The prompt is the first line of a held-out function. As in lecture 8b, the temperature comes first, then the **nucleus** (top-p), the smallest set of tokens whose mass reaches $p$ (Holtzman et al. 2020).

# %%
def nucleus(probabilities, p):  # (V,)
    """The most probable tokens until their mass reaches p, scaled to sum to 1; all others get 0."""
    order = np.argsort(-probabilities)
    kept = order[np.cumsum(probabilities[order]) - probabilities[order] < p]
    cut = np.zeros_like(probabilities)
    cut[kept] = probabilities[kept]
    return cut / cut.sum()


logits_of = tf.function(model)  # (B, T) to (B, T, V)


def write(prompts, temperature, p, most=90, longest=128, seed=0):
    """Continue all prompts at once, without a cache: bodies, and whether each ended."""
    rng, rows = np.random.default_rng(seed), [[pairs.end_id, *ids] for ids in pairs.encode(prompts)]
    begins = [len(row) for row in rows]
    for _ in range(most):
        padded = np.array([row + [0] * (longest - len(row)) for row in rows], "int32")  # later zeros change nothing
        logits = logits_of(padded).numpy()[range(len(rows)), [len(row) - 1 for row in rows]]  # (B, V)
        for row, begin, scores in zip(rows, begins, logits, strict=True):
            if len(row) == begin or row[-1] != pairs.end_id:
                p_next = np.exp((scores - scores.max()) / temperature)
                row.append(rng.choice(len(p_next), p=nucleus(p_next / p_next.sum(), p)))
    return [(pairs.decode(row[begin:]), row[-1] == pairs.end_id) for row, begin in zip(rows, begins, strict=True)]


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
# Accepted does not mean correct: in our run the first function returns `result`, which nothing defines. Count the bodies that **ended**. Of these, count those that **parse**: `ast.parse` accepts them.

# %%
lines = [sum(bool(line.strip()) for line in body.split("\n")) for body, _ in written]
print(f"ended: {sum(ended for _, ended in written)} of {len(prompts)}; of these parse: {sum(not why for why, _ in samples)}")
print("lines of those that parse:    ", sorted(line for line, (why, _) in zip(lines, samples, strict=True) if not why))
print("a body of one line, `pass`:   ", sum(not fault(prompt, "\n    pass\n") for prompt in prompts), "parse")

# %% [markdown]
# `pass` parses after every prompt. 

# %% tags=["drawing"]
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
# In three recorded seeds (at most 256 tokens; above 90), 40 to 54 % of the bodies that ended parse at temperature 0.7, and 77 to 87 % at temperature 0. But at temperature 0 fewer end: 39 to 67 of 96. What parses is not yet sensible: a real body uses 96 % of its parameters, even one of a single line 89 %; ours at 0.7 at most 4 % ([evidence](evidence/10.ipynb#temperature)).
#
# **Report the share of samples that parse together with their lengths.**

# %% [markdown]
# <a id="copying"></a>
#
# ## 7 · Does it copy?
#
# A function with a parameter `zorvik` should use `zorvik`. Counts of the training text cannot do that with a name they have never met. A Transformer can, if it finds the last occurrence of the present token and repeats what followed. Test: put a made-up name into held-out functions. Does it cost less where it has stood twice?

# %% [markdown]
# After our 640 steps the known name costs 25 nats, half a nat less than the new one. After 16 million tokens they cost 24 and 31: mostly the new one has become dearer. Guessing costs 28, knowing how such names are made 12.5. The known name is cheaper than the new one, so the model uses what stood before, but it hardly copies ([evidence](evidence/10.ipynb#copying), with [the heads](evidence/10.ipynb#heads)).
#
# What does copying need? Take small models of attention alone. Each row repeats a few random tokens, with a period of its own.

# %% [markdown]
# **Predict.** One model has one block of attention, the other two, with four heads each. Which learns to copy?
#
# - (a) both
# - (b) only the one with two blocks
# - (c) neither
#
# <details><summary>Answer</summary>
#
# **(b)** With two blocks, the first can write into each position which token stood before, and the second look for the position whose predecessor is the present token (Elhage et al. 2021). A single block scores two tokens and their distance; it cannot see what preceded the earlier one.
#
# </details>

# %%
curves = {}
for blocks in (1, 2):
    attention_only, curves[blocks] = induction.taught(blocks, steps=450, seed=0)
    before, after = induction.head_scores(attention_only)
    print(f"{blocks} block{'s' * (blocks > 1)}: {curves[blocks][-50:, 1].mean():.2f} nats a repeated token at the end")
    for block in range(blocks):
        print(f"   block {block + 1}: weight on the token before {before[block].max():.2f}, on what followed last time {after[block].max():.2f} (best head)")
print(f"equal weights: {induction.equal_weights():.2f}")

# %% tags=["drawing"]
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
    title = {"before": "block 1: the token before", "after": "block 2: what followed last time"}[name]
    plots.matrix_map(looks[block][0, scores[block].argmax()], values=False, title=title, limits=(0, 1), ax=axes[name])
    axes[name].axhline(period[0] - 0.5, color=plots.LINES[1]["color"], linewidth=1)
    axes[name].set(xlabel="key: position", ylabel="query: position", aspect="equal", xticks=range(0, 40, 10), yticks=range(0, 40, 10))
plots.show(
    figure,
    alt="With two blocks the loss falls off a cliff: one head looks at the token before, the other at what followed last time. Above, nats a repeated token over the steps: both curves fall slowly side by side, "
    "then the curve of two blocks drops towards zero while the curve of one block stays above the level of knowing which tokens repeat. Below, two maps of attention weights on one row: the map of "
    "block 1 has its weight just below the diagonal, the map of block 2 has, below the line where the repetition begins, a line that runs parallel to the diagonal further to the left, and a fainter one another period back.",
)

# %% [markdown]
# The head of block 2 puts more than half of its weight on what followed the same token last time (equal weights: 0.04), as an **induction head** does (lecture 3; Olsson et al. 2022). Switch off one head of block 1: the more weight it had on the token before, the more the loss rises. In three seeds two blocks reach a small loss. One block does not, with eight heads or with three times the steps ([evidence](evidence/10.ipynb#two-blocks)).
#
# **Here one block does not learn to copy by content, and two blocks do.**

# %% [markdown]
# <a id="scale"></a>
#
# ## 8 · Scale
#
# With more computing, should the model grow, or the text? Kaplan et al. (2020) concluded that mostly the model, Hoffmann et al. (2022) that both alike, at about 20 tokens a parameter. Hoffmann's **scaling law** for $N$ parameters and $M$ tokens read ($E$ is the loss that no size and no amount of text removes):
#
# $$L(N, M) = E + \frac{a}{N^{\alpha}} + \frac{b}{M^{\beta}}$$
#
# A training takes about six operations (**FLOPs**) for each parameter and token, and some more for attention. In the figure all models on a line get the same number of operations, so a larger one reads less.

# %% tags=["drawing"]
figure, ax = plt.subplots(figsize=(6.4, 3.8))
for budget, line in zip((4.4, 17.6, 70.4, 281.7), plots.LINES, strict=False):
    points = []  # parameters, and the bits a byte of three seeds at the best of three learning rates
    for run in recorded.load("library_scaling")["results"]["runs"]:
        if abs(run["operations"] / budget / 1e12 - 1) < 0.01:
            rates = {lane["rate"]: [] for lane in run["lanes"]}
            for lane in run["lanes"]:
                rates[lane["rate"]].append(lane["held-out bits a byte"])
            points.append((run["parameters"], min(rates.values(), key=np.mean)))
    sizes, seeds = zip(*sorted(points), strict=True)
    means = np.mean(seeds, axis=1)
    best = np.flatnonzero(means < means.min() + 0.001)
    ax.plot(sizes, means, **line, label=f"{budget:g}")
    ax.plot(sizes, seeds, ".", color=line["color"], markersize=4)
    ax.plot(np.array(sizes)[best], means[best], "o", markersize=13, markerfacecolor="none", markeredgecolor=line["color"])
ax.set(xlabel="parameters", ylabel="bits a byte, held out", xscale="log", yscale="log")
ax.set_xticks([11_328, 41_248, 181_440, 857_216, 1_878_720, 4_877_568], ["11k", "41k", "181k", "857k", "1.9M", "4.9M"])
ax.set_yticks([1.5, 2, 2.5], ["1.5", "2.0", "2.5"])
ax.minorticks_off()
ax.legend(title="trillion operations")
plots.show(
    figure,
    alt="The more operations, the larger the best model. Held-out bits a byte over parameters, both axes logarithmic, one line for each number of operations, mean of three seeds at the best of three learning rates, dots the single seeds, the best size circled (two where they are equal): "
    "each line falls and rises again; from 4.4 to 281.7 trillion operations the lowest point moves from 181,440 to 1,878,720 parameters.",
)

# %% [markdown]
# From first to last line: 64 times the operations, about 10 times the parameters and 8 times the tokens. Each point has the best of three rates, chosen on this held-out text. At 70.4 trillion the circle is uncertain: its seeds have 1.35 to 1.56 bits, the next size 1.50 to 1.59. With the rate 0.003 for all, the best model grows 27 times, and its tokens 3 times: the direction holds, the numbers are rough ([evidence](evidence/10.ipynb#equal-operations)).
#
# Fitted to our 31 settings of three seeds, the law has $\alpha$ of 0.38 to 0.43, $\beta$ of 0.28 to 0.30 and $E$ of 0.7 bits. It wants 5 to 6 times the parameters, not 10; why is open ([evidence](evidence/10.ipynb#scale)). It has no term for repeated text, and our text has only 2.6 million tokens: without the trainings that read it more than about four times, $\beta$ falls to 0.18 to 0.23. 
#
# **With more operations, make the model larger and let it read more.**

# %% [markdown]
# <a id="lora"></a>
#
# ## 9 · LoRA
#
# To fit a model to one kind of text, LoRA (Hu et al. 2022) freezes a matrix $W$ and trains a thin product beside it, $W + AB$, with $A$ of size
# $(D, r)$ and $B$ of size $(r, D)$. $A$ starts at random and $B$ at 0, so training starts from the frozen model. We put it beside the 16 matrices of attention, fit to three quarters of the functions of the held-out module `tarfile` and test on the rest.

# %%
tar = [text for text, module in zip(test_texts, test_modules, strict=True) if module == "tarfile"]
shuffled = np.random.default_rng(0).permutation(len(tar))
fit, rest = (pairs.stream([tar[place] for place in part]) for part in np.split(shuffled, [len(tar) * 3 // 4]))

def copied():
    copy = PlainLanguageModel(pairs.end_id + 1, *SIZE)
    copy(fit[None, :8])  # makes the weights
    copy.set_weights(model.get_weights())
    return copy


thin, whole = copied(), copied()
dense = [getattr(block.attention, name) for block in thin.blocks for name in ("w_q", "w_k", "w_v", "w_o")]
for layer in dense:
    layer.enable_lora(4)  # r
variables = [v for layer in dense for v in (layer.lora_kernel_a, layer.lora_kernel_b)]
training.fit_on(thin, variables, fit, steps=24, rate=1e-2, seed=1)
training.fit_on(whole, whole.trainable_variables, fit, steps=24, rate=3e-4, seed=1)
for name, each in (("not fitted", model), ("LoRA of rank 4", thin), ("all parameters", whole)):
    own, other = (training.held_out_bits(each, some, pairs.token_bytes, most=64) for some in (rest, test_stream))
    print(f"{name:14} {own:.2f} bits a byte, {other:.2f} on other modules")
print(f"{sum(int(np.prod(v.shape)) for v in variables):,} parameters trained, of {model.count_params():,}")

# %% [markdown]
# LoRA trains 2 % of the parameters. Recorded with 48 steps and three seeds at these rates (one of two tried for each): `tarfile` falls to 1.73 (LoRA) and 1.58 bits (all); the other modules cost 0.11 and 0.12 more ([evidence](evidence/10.ipynb#lora)). In large models LoRA learns less and forgets less (Biderman et al. 2024).
#
# **LoRA trains and stores little; here, in attention alone, it fits less well than all parameters at equal cost elsewhere.**

# %% [markdown]
# <a id="chat"></a>
#
# ## 10 · To a chat model
#
# A chat model is fitted twice more: to questions with good answers, then to what people prefer (Ouyang et al. 2022).
#
# **A chat model is a language model fitted to answer.**

# %% [markdown]
# ## Two mistakes
#
# **1 · The prompt ends in a newline.** A newline and the indentation after it are one token, and a prompt that ends in `\n` splits it. In the training text such a lone newline is followed by the end of the function half of the time, and the model has learned that:

# %%
print([pairs.decode([number]) for number in pairs.encode(["def f(x):\n    return x\n"])[0]])
ends = stream[1:][stream[:-1] == pairs.encode(["\n"])[0][0]] == pairs.end_id
print(f"in the training text a lone newline stands before the end in {ends.mean():.0%}")
split = write([prompt + "\n" for prompt in prompts], temperature=0.7, p=0.9, most=12)
for name, bodies in (("colon", written), ("newline", split)):
    print(f"prompt ends behind the {name:8} {sum(not body.strip() for body, _ in bodies):2} of {len(prompts)} bodies are empty")

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
# How long are the bodies, and how were they drawn? Among drawn bodies the shorter ones parse more often, and drawing colder changes the share.
#
# </details>
#
# <details><summary>4. Why would rows with one fixed period let a single block copy?</summary>
#
# Rotary scores can prefer a distance. With a fixed period the token to copy always stands at the same one, and a single block learns it ([evidence](evidence/10.ipynb#two-blocks)).
#
# </details>
#
# ## Summary
#
# - A language model gives the next token a probability; its loss per byte can be compared with any other model's on the same text, counted ones included.
# - Byte pairs shorten the row; the end token closes each document; whole modules are held out.
# - What it writes is judged by parsing, together with length; copying is judged in the kind of text that the model was trained on, against a name that is new there.
# - **The parts of this course, put together, predict the next token of real text.**
#
# ## References
#
# - Biderman et al. 2024, *LoRA learns less and forgets less*, arXiv 2405.09673
# - Chen and Goodman 1999, *An empirical study of smoothing techniques for language modeling*, Computer Speech and Language 13(4)
# - Elhage et al. 2021, *A mathematical framework for Transformer circuits*, transformer-circuits.pub
# - Gage 1994, *A new algorithm for data compression*, C Users Journal 12(2)
# - Hoffmann et al. 2022, *Training compute-optimal large language models*, arXiv 2203.15556
# - Holtzman et al. 2020, *The curious case of neural text degeneration*, arXiv 1904.09751
# - Hu et al. 2022, *LoRA: low-rank adaptation of large language models*, ICLR, arXiv 2106.09685
# - Kaplan et al. 2020, *Scaling laws for neural language models*, arXiv 2001.08361
# - Olsson et al. 2022, *In-context learning and induction heads*, arXiv 2209.11895
# - Ouyang et al. 2022, *Training language models to follow instructions with human feedback*, arXiv 2203.02155
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

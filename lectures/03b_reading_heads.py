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
# # 3b · Reading heads of a real model
#
# **Ten lines find heads that look where copying has to look; switching them off shows that the copying depends on them.**
#
# [← 3 · Multi-head attention](03_multi_head_attention.ipynb) · [Lab 3](../labs/03_multi_head_attention/03_multi_head_attention.ipynb) · [4 · The encoder block →](04_encoder_block.ipynb)
#
# > *Sixty-four tokens, drawn at random. Then the same sixty-four once more.*
#
# There is no grammar in them and no meaning, and the sequence is new. You hand them to a chat model that others have trained. **Does it expect the second copy when it comes? And if it does, which of its 270 heads do that?** Write down both guesses. The first answer comes in five minutes, the second in fifteen.
#
# **Afterwards you can**
#
# * find heads with a job in a published model, beside the base rate;
# * switch heads off, with controls that say what the result is worth;
# * read off what a head writes, and tell looking from writing;
# * say how a model of 30 blocks copies a token that it has never seen in this context.
#
# **You need** [lecture 3](03_multi_head_attention.ipynb), above all its last section. A *block* is one attention layer with what follows it (lecture 4); there are 30. **Time:** about 54 minutes to read and predict (estimated, not measured); the code
# runs in about two minutes on two CPU cores. Letters: **B** rows, **T** tokens, **H** heads, **V** size of the vocabulary. Blocks, heads and tokens are counted from 0.
#
# **This page needs a model that does not come with the course:** SmolLM2 (93 MB: `data.published("smollm2")` in a cell fetches it once; 0.6 GB of memory). Without it the live cells are left out: read their outputs before you run the page.

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
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import log_softmax, softmax

from coursekit import diagrams, plots
from coursekit.data.published_models import PUBLISHED, is_here, published
from coursekit.data.tensor_files import open_tensors
from coursekit.published import ChatTokens

plots.use_course_style()
np.set_printoptions(precision=2, suppress=True)


# %% [markdown]
# <a id="said-twice"></a>
#
# ## 1 · Noise, said twice
#
# **SmolLM2** (Hugging Face; Ben Allal et al., 2025) guesses the next token of a text, and it chats if you let it. It has 134.5 million numbers: a table of tokens and 30 blocks of nine heads; three heads in a row share their keys and values. A token sees itself and what stands before it. The whole model is four short functions and a class in NumPy, in the three folded cells. The class keeps the weights of every head, and it can switch heads off.

# %% jupyter={"source_hidden": true} tags=["setup"]
def numbers_and_tokens():
    """All 134,515,008 numbers by name, block by block, and the tokens; fetched once (93 MB), then half a gigabyte."""
    (file,) = PUBLISHED["smollm2"].files
    tensors = open_tensors(published("smollm2") / file)
    numbers = {name.removesuffix(".weight"): tensors.read(name) for name in tensors}
    own = [f"blk.{block}." for block in range(30)]
    blocks = [{name.removeprefix(each): numbers[name] for name in numbers if name.startswith(each)} for each in own]
    return {"table": numbers["token_embd"], "last_norm": numbers["output_norm"], "blocks": blocks}, ChatTokens.of(
        tensors
    )


def normed(x, gain):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5) * gain


def turned(x, start, base=100_000):
    """Rotary positions: turn each pair (2i, 2i + 1) of x (…, T, K), whose first row stands at position `start`."""
    angles = np.arange(start, start + x.shape[-2])[:, None] / base ** (np.arange(0, x.shape[-1], 2) / x.shape[-1])
    pairs = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)  # as complex numbers: to turn is to multiply
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(x.shape).astype("float32")


# %% jupyter={"source_hidden": true} tags=["setup"]
def attend(x, block, before=None):
    """x (B, T, D) to what each head hands over (B, 9, T, 64), its weights (B, 9, T, S), and keys and values so far."""
    q, k, v = ((x @ block[f"attn_{each}"].T).reshape(*x.shape[:2], -1, 64).swapaxes(1, 2) for each in "qkv")
    start = before[0].shape[2] if before else 0
    q, k = turned(q, start), turned(k, start)  # (B, 9, T, 64), (B, 3, T, 64)
    if before:
        k, v = (np.concatenate(both, axis=2) for both in zip(before, (k, v), strict=True))  # (B, 3, S, 64)
    scores = q.reshape(len(q), 3, -1, 64) @ k.swapaxes(2, 3) / 8  # three heads in a row share keys and values
    scores = scores.reshape(*q.shape[:3], -1)  # (B, 9, T, S)
    weights = softmax(np.where(np.tri(x.shape[1], scores.shape[3], start, dtype=bool), scores, -1e9), axis=-1)
    return (weights.reshape(len(q), 3, -1, k.shape[2]) @ v).reshape(q.shape), weights, (k, v)


# %% jupyter={"source_hidden": true} tags=["setup"]
class PlainSmolLM2:
    """SmolLM2: ids (B, T) to log p (B, T, V) and a cache; it keeps streams and weights, and heads can be `off`."""

    def __init__(self, numbers):
        self.table, self.last_norm, self.blocks = numbers["table"], numbers["last_norm"], numbers["blocks"]

    def __call__(self, ids, cache=None, off=(), instead=np.zeros_like):
        x, kept, self.streams, self.weights = self.table[np.asarray(ids)], [], [], []  # (B, T, D)
        for number, block in enumerate(self.blocks):
            handed, weights, pair = attend(normed(x, block["attn_norm"]), block, cache and cache[number])
            heads = [head for where, head in off if where == number]
            handed[:, heads] = instead(handed[:, heads])  # a head that is off hands over zeros
            self.streams.append(x)  # what the block reads
            x = x + handed.swapaxes(1, 2).reshape(x.shape) @ block["attn_output"].T
            gate, up = (normed(x, block["ffn_norm"]) @ block[name].T for name in ("ffn_gate", "ffn_up"))
            x = x + (gate / (1 + np.exp(-gate)) * up) @ block["ffn_down"].T  # SwiGLU
            self.weights.append(weights)
            kept.append(pair)
        return log_softmax(normed(x, self.last_norm) @ self.table.T, axis=-1), kept


# %%
if is_here("smollm2"):
    numbers, tokens = numbers_and_tokens()
    model = PlainSmolLM2(numbers)
    log_p, _ = model([tokens.encode("The capital of France is")])  # (1, T, V)
    best = np.argsort(-log_p[0, -1])[:3]
    print(
        "The capital of France is …",
        ", ".join(f"{tokens.decode([number]).strip()} {np.exp(log_p[0, -1, number]):.2f}" for number in best),
    )
else:
    model = None
    print(
        'SmolLM2 is not here, so the live cells are left out: their outputs stand in the page as it came. To fetch 93 MB, once: data.published("smollm2")'
    )


# %% [markdown]
# The loss of a token is $-\ln p$, in **nats**. A uniform guess over 49,152 tokens costs ln 49,152 = 10.8 nats for each.

# %% [markdown]
# **Predict.** The model reads 64 random tokens, then the same 64 again. What does a token cost in the first copy, and what in the second?
#
# - (a) 10.8 nats in both: noise is noise
# - (b) more than 10.8 in the first, about 10 in the second
# - (c) more than 10.8 in the first, about 2 in the second
#
# <details><summary>Answer</summary>
#
# **(c)** It pays 14.2 nats in the first copy and 1.9 in the second. In the first it is worse than an even guess: it expects language, and bets against noise.
#
# </details>

# %%
def said_twice(rows=2, length=64):
    """Random tokens, each row said twice: ids (rows, 2 · length)."""
    once = np.stack([np.random.default_rng(seed).integers(17, 49_152, length) for seed in range(rows)])
    return np.hstack([once, once])


def nats(ids, off=(), instead=np.zeros_like):
    """The loss of each token but the first, (B, T − 1); the heads in `off`, pairs (block, head), are switched off."""
    log_p, _ = model(ids[:, :-1], off=off, instead=instead)
    return -np.take_along_axis(log_p, ids[:, 1:, None], axis=-1)[..., 0]


if model:
    ids = said_twice()
    whole = nats(ids)
    print(
        f"first copy {whole[:, :63].mean():.1f} nats a token, second copy {whole[:, 64:].mean():.1f}, an even guess {np.log(49_152):.1f}"
    )

# %% jupyter={"source_hidden": true} tags=["drawing"]
if model:
    figure, ax = plt.subplots(figsize=(8.6, 2.8))
    for row, losses in enumerate(whole):
        ax.plot(range(1, 128), losses, label=f"row {row}", **plots.LINES[row] | {"markersize": 3, "linewidth": 1})
    ax.axhline(np.log(49_152), color=diagrams.PALETTE["residual"], linestyle="--")
    ax.axvline(63.5, color=diagrams.PALETTE["ink"], linewidth=1)
    ax.set(xlabel="token", ylabel="nats", xlim=(0, 128), ylim=(0, None))
    ax.legend()
    plots.show(
        figure,
        alt="""Two or three tokens into the second copy the model expects what comes. The loss of each token for two rows of 64 random tokens, said twice. In the first copy it jumps around 14 nats, above the dashed line of an even guess at 10.8.
After the vertical line, where the second copy begins, it falls within a few tokens and stays between 0 and 7.""",
    )


# %% [markdown]
# That answers the first half of the opening question: it expects the second copy. A uniform guess over the 64 tokens of the first copy would cost ln 64 = 4.2 nats, so the model uses their order, too. Nobody taught it these 64 tokens. It takes them from what it has just read.
#
# **A language model copies: noise that costs 14 nats a token at first costs 2 when it comes again.**

# %% [markdown]
# <a id="ten-lines"></a>
#
# ## 2 · Ten lines find the heads
#
# What must a head look at to know the next token? Say the row is … A B … A, and the model has just read the second A. The first A does not help: what is needed is what stood *behind* it, B. In our rows that token stands 63 back. So ask each head how much weight it puts 63 tokens back, all through the second copy:

# %%
def looks_back(weights, back):
    """The mean weight (H,) of each head on the token `back` before its own, in the second copy; weights (B, H, T, T)."""
    queries = np.arange(64, weights.shape[-1])
    return weights[:, :, queries, queries - back].mean(axis=(0, 2))


if model:
    copying = np.array([looks_back(weights, 63) for weights in model.weights])  # (30, 9)
    for place in np.argsort(-copying, axis=None)[:7]:
        print("block {}, head {}: {:.2f}".format(*divmod(int(place), 9), copying.flat[place]))
    print(
        f"equal weights would give {np.mean(1 / np.arange(65, 128)):.3f}, the median head gives {np.median(copying):.3f}"
    )

# %% [markdown]
# **Predict.** These heads stand in blocks 17 to 23. One head alone, in one block, could not find B by what the tokens are, whatever its matrices. Why not? (What does the key of B know, if no earlier head has added anything to it?)
#
# <details><summary>Answer</summary>
#
# Only that it is B. The query A cannot find it by that: nothing says that an A stood before this B. Some earlier head must have written it there. (A head could also count 63 tokens back. The cell below the figure shows that this one does not.)
#
# </details>

# %% jupyter={"source_hidden": true} tags=["drawing"]
if model:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), width_ratios=[1, 2.1])
    plots.matrix_map(
        copying,
        columns=[str(head) for head in range(9)],
        limits=(0, 1),
        values=False,
        title="weight 63 tokens back",
        ax=left,
    )
    left.set(xlabel="head", ylabel="block", yticks=range(0, 30, 5), yticklabels=range(0, 30, 5))
    plots.matrix_map(
        model.weights[18][0, 6], limits=(0, 1), values=False, title="block 18, head 6, the first row", ax=right
    )
    right.set(
        xlabel="key: attended to",
        ylabel="query: attends from",
        xticks=range(0, 128, 16),
        yticks=range(0, 128, 16),
        xticklabels=range(0, 128, 16),
        yticklabels=range(0, 128, 16),
    )
    plots.show(
        figure,
        alt="""Thirteen of 270 heads put more than 0.2 of their weight on what followed the earlier copy, all in blocks 17 to 24. Left: a map of 30 blocks by nine heads of the mean weight 63 tokens back; it is white but for some cells from block 17 on, darkest in block 18, head 6.
Right: the weights of this head, 127 by 127 tokens. In the first copy most queries look at token 0. In the second copy a dark line runs parallel to the diagonal, 63 tokens to its left.""",
    )

# %% [markdown]
# The dark line is an **induction head** (Elhage et al., 2021; Olsson et al., 2022): it finds an earlier copy of the present token and looks at what came after. Where such a head finds nothing, as in the first copy, it rests on token 0.
#
# Does it count places? Say 40 tokens twice, and it should look 39 back instead:

# %%
if model:
    nats(said_twice(rows=1, length=40))
    by_distance = {back: looks_back(model.weights[18], back)[6] for back in (39, 63)}
    print("40 tokens said twice:", ", ".join(f"{back} back {weight:.2f}" for back, weight in by_distance.items()))
    nats(ids)  # back to the 64 tokens

# %% [markdown]
# It does not count. So you know who *looks*. One half is missing: who told B that an A stood before it?
#
# **Induction heads look at what followed the same token last time, and ten lines find them.**

# %% [markdown]
# <a id="real-heads"></a>
#
# ## 3 · One token back
#
# The same ten lines with another number: who looks *one* token back?

# %%
if model:
    previous = np.array([looks_back(weights, 1) for weights in model.weights])  # (30, 9)
    for place in np.argsort(-previous, axis=None)[:4]:
        print("block {}, head {}: {:.2f} one token back".format(*divmod(int(place), 9), previous.flat[place]))


# %% [markdown]
# Block 16, head 0 is the head of [lecture 2](02_self_attention.ipynb#real-head), which was no colour head: a **previous-token head**. It could be the missing half of section 2, and write into B's row that an A stood before it. (The course's small BERT has one, too: [evidence](evidence/03.ipynb#real-heads).)
#
# Does it? Take what it adds to the stream out of the *keys* of a finder, and of nothing else: a **patch** on the path from one head to another. Two controls: the same taken out of the finder's *queries*, and what its neighbour, head 1, adds taken out of the keys.

# %% [markdown]
# **Predict.** Block 18, head 6 puts 0.91 of its weight 63 back. How much is left when its keys lack what block 16, head 0 adds?
#
# - (a) nearly all
# - (b) about a half
# - (c) hardly any
#
# <details><summary>Answer</summary>
#
# **(c)** 0.01. Without the same in its queries it keeps 0.74, and without head 1 in its keys 0.92.
#
# </details>

# %%
def looks_without(block, head, side, taken):
    """A head's mean weight 63 back, when its queries or keys (side "q", "k") lack what a head of block 16 adds."""
    first, own, stream = model.blocks[16], model.blocks[block], model.streams[block]
    handed, *_ = attend(normed(model.streams[16], first["attn_norm"]), first)  # (B, 9, T, 64)
    adds = handed[:, taken] @ first["attn_output"][:, 64 * taken : 64 * taken + 64].T  # (B, T, D)
    q, k = (normed(stream - adds * (side == each), own["attn_norm"]) @ own[f"attn_{each}"].T for each in "qk")
    q, k = (turned(x[..., 64 * at : 64 * at + 64], 0) for x, at in ((q, head), (k, head // 3)))  # (B, T, 64)
    causal = np.tri(q.shape[1], dtype=bool)
    return looks_back(softmax(np.where(causal, q @ k.swapaxes(1, 2) / 8, -1e9), axis=-1)[:, None], 63)[0]


if model:
    nats(ids)
    four = [(18, 6), (17, 3), (17, 4), (18, 7)]  # the strongest finders
    for side, taken in (("no", 0), ("k", 0), ("q", 0), ("k", 1)):
        looks = ", ".join(f"({block}, {head}) {looks_without(block, head, side, taken):.2f}" for block, head in four)
        print(f"{side:2} side without block 16, head {taken}: 63 back {looks}")

# %% [markdown]
# (The first row is the whole model; "k" are the keys, "q" the queries.) So the four strongest finders recognise B by what block 16, head 0 has put into its keys. (The patch cuts the direct path only, not what blocks 16 and 17 make of it on the way.)
#
# **The finders find B by its key, and one earlier head has written that key: without its part they hardly look there.**

# %% [markdown]
# <a id="ablation"></a>
#
# ## 4 · Switch heads off
#
# So far you have seen where heads look. Does anything depend on it? Take away what a head hands over and read the loss again: **head ablation**. Zeros stand in its place, or its *mean* over all tokens, since a head rarely adds zero. Each figure needs a control: other heads, drawn at random, and ordinary text.

# %% [markdown]
# **Predict.** The second copy costs 1.9 nats a token. Now switch off one head of 270: block 16, head 0, which looks one token back. What does the second copy cost?
#
# - (a) about 2: 269 heads are left
# - (b) about 4
# - (c) about 9
#
# <details><summary>Answer</summary>
#
# **(c)** It costs 8.9 nats. The strongest induction head alone costs less: without block 18, head 6 it is 3.8. Without the four strongest it is 10.6.
#
# </details>

# %%
if model:
    one_back = [(16, 0)]
    sets = {
        "nothing": [],
        "block 18, head 6": four[:1],
        "the four strongest": four,
        "block 16, head 0": one_back,
        "block 0, head 2": [(0, 2)],
    }
    for name, off in sets.items():
        mean = nats(ids, off, instead=lambda handed: handed.mean(axis=(0, 2), keepdims=True))[:, 64:].mean()
        rows = nats(ids, off)[:, 64:].mean(axis=1)
        seen = [looks_back(model.weights[block], 63)[head] for block, head in ((17, 3), (18, 6))]
        print(
            f"off: {name:18} second copy {rows.mean():4.1f} nats ({rows[0]:.1f}, {rows[1]:.1f}), with the mean {mean:4.1f}; 63 back: block 17, head 3 {seen[0]:.2f}, block 18, head 6 {seen[1]:.2f}"
        )
    print(f"block 0, head 2 looks one back with {previous[0, 2]:.2f} and 63 back with {copying[0, 2]:.2f}")

# %% [markdown]
# (The last columns show where a head looks, even when what it hands over is off.) Look at the line of block 16, head 0. The heads of blocks 17 and 18 are on. Yet one of these two looks 63 back with almost nothing, 0.01, and the other with a fifth of its weight, 0.22.
#
# Block 0, head 2 is a warning. It looks neither one nor 63 back (0.01 each), and yet with zeros in its place the second row goes wrong, 10.2 nats, while the first costs 2.2. With its mean in its place the copy costs 2.2: the zeros did the damage. The other three sets cost about the same with their means: 3.9, 9.7 and 8.7.
#
# Now the controls: ten single heads and ten sets of four, drawn at random, and beside the noise an English text of as many tokens:

# %% jupyter={"source_hidden": true} tags=["setup"]
ENGLISH = """The ferry left at six, and by half past six everyone on board knew that the old clock maker had brought his
clocks. There were nineteen of them, wrapped in blankets, and no two agreed about the time. When the ship turned into the
wind, the largest began to strike, then the second, and soon the passengers stood around the boxes and laid bets on which
of them would be right in the end. The captain, who had watched this for some years, said only that the tide would be on
time, as always, and went down to drink his coffee. Nobody asked the clock maker. He sat by the window and looked at the
water, and when the bell of the harbour rang he took a small watch out of his pocket and smiled at it."""


# %% jupyter={"source_hidden": true} tags=["setup"]
def losses_without(off):
    """Second copy of the noise, and an English text: nats a token."""
    losses = nats(np.vstack([ids, tokens.encode(" ".join(ENGLISH.split()))[:128]]), off)
    return losses[:-1, 64:].mean(), losses[-1].mean()


if model:
    rng = np.random.default_rng(0)
    lots = {
        size: [[divmod(int(head), 9) for head in rng.choice(270, size, replace=False)] for _ in range(10)]
        for size in (1, 4)
    }
    by_lot = {size: np.array([losses_without(off) for off in sets]) for size, sets in lots.items()}  # (10, 2) each
    named = {name: losses_without(off) for name, off in {"nothing": [], "16, 0": one_back, "18, 6": four[:1]}.items()}
    for size, found in by_lot.items():
        print(
            f"{size} at random, ten times: second copy, sorted",
            *(f"{loss:.1f}" for loss in sorted(found[:, 0])),
            f"  English {found[:, 1].min():.2f} to {found[:, 1].max():.2f}",
        )
    for name, (noise, english) in named.items():
        print(f"off: {name:8} second copy {noise:.1f}   English {english:.2f}")

# %% jupyter={"source_hidden": true} tags=["drawing"]
if model:
    figure, ax = plt.subplots(figsize=(8, 3.6))
    for line, (size, found) in enumerate(by_lot.items()):
        ax.plot(
            *found.T, "os"[line], color=plots.LINES[2 * line]["color"], markerfacecolor="none", label=f"{size} by lot"
        )
    for name, (noise, english) in named.items():
        ax.plot(noise, english, "D", color=diagrams.PALETTE["accent"])
        ax.annotate(
            name if name == "nothing" else f"block {name.replace(',', ', head')}",
            (noise, english),
            (0, -14),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    ax.set(xlabel="second copy of the noise, nats a token", ylabel="English text, nats a token", xlim=(0, 11))
    ax.legend()
    plots.show(
        figure,
        alt="""Without one head in block 16 the second copy costs far more, and this English text hardly more. Each mark is the model without some heads: to the right the loss on the second copy, upwards that on an English text. Most heads drawn at random, one or four, lie near the whole model at the left.
Block 16, head 0 lies alone far to the right and hardly higher; block 18, head 6 lies between.""",
    )

# %% [markdown]
# Single heads at random leave the second copy between 1.8 and 3.2, sets of four between 1.8 and 3.3. Without block 16, head 0 it costs 8.9, more than with any of these draws; but only ten single heads of 270 were drawn. English costs 3.78 in place of 3.74 without it: this text hardly needs the head, and the copy does.
#
# Two controls more. Does it matter *which* head looks one token back? And does English need the four strongest induction heads?

# %%
if model:
    others = {"block 11, head 1": [(11, 1)], "block 22, head 1": [(22, 1)], "block 19, head 3": [(19, 3)]}
    for name, off in (others | {"the four strongest": four}).items():
        noise, english = losses_without(off)
        print(f"off: {name:18} second copy {noise:4.1f} nats   English {english:.2f}")
    nats(ids)  # back to the whole model
    print(f"whole model: {(copying > 0.2).sum()} heads look 63 back with more than 0.2")


# %% [markdown]
# Block 11, head 1 looks one back, too, and stands below the finders: without it the copy costs 2.0. (Block 22, head 1 and block 19, head 3 stand above the strongest finders, those of blocks 17 and 18, and could not feed these: 2.3 and 2.5.) Without the four strongest induction heads English costs 3.74, as with all heads.
#
# **A head matters where the loss rises without it, and more than without heads drawn at random.**

# %% [markdown]
# <a id="what-it-writes"></a>
#
# ## 5 · Who looks, and who writes
#
# In lecture 3 a head was two circuits: QK looks, OV writes. You have read off who looks at B. Who writes it? Take what one head adds to the stream, $\sum_s w_{ts}\,v_s W_O$, and read it as the model reads its last state: times the gain of the last norm, times the table (a *logit lens*; nostalgebraist, 2020). Each of 49,152 tokens gets a number. Which rank does the right next token have? A head that writes at random would put it about in the middle.

# %% [markdown]
# **Predict.** The strongest induction head, block 18, head 6, puts 0.91 of its weight on the token that comes next. Does it write this token?
#
# <details><summary>Answer</summary>
#
# Hardly, as this lens reads it: the right token has rank 9,070 in the median. Block 23, head 2, which looks with 0.5, writes it: rank 6. It is the only head of 270 with a rank below 10 that also looks back.
#
# </details>

# %%
def rank_of_the_next(ids, block, head, kept):
    """The median rank of the right next token in what one head writes, in the second copy of the first row."""
    handed = model.weights[block][0, head, 64:] @ kept[block][1][0, head // 3]  # (63, 64): weights times values
    written = handed @ model.blocks[block]["attn_output"][:, 64 * head : 64 * head + 64].T  # (63, D)
    scores = (written * model.last_norm) @ model.table.T  # (63, V)
    return np.median((scores > scores[np.arange(63), ids[0, 65:], None]).sum(axis=1))


if model:
    _, kept = model(ids[:, :-1])
    for block, head in ((16, 0), (17, 3), (18, 6), (23, 2), (23, 7), (29, 1)):
        rank = rank_of_the_next(ids, block, head, kept)
        itself = looks_back(model.weights[block], 0)[head]
        print(
            f"block {block}, head {head}: looks 63 back {copying[block, head]:.2f}, at itself {itself:.2f}; writes the next token at rank {rank:6,.0f}"
        )
    ranks = np.array([[rank_of_the_next(ids, block, head, kept) for head in range(9)] for block in range(30)])
    writers = [(int(block), int(head)) for block, head in np.argwhere(ranks < 10)]
    print("of 270 heads, those with a median rank below 10:", ", ".join(f"({block}, {head}) looks {copying[block, head]:.2f}" for block, head in writers))

# %% jupyter={"source_hidden": true} tags=["setup"]
if model:
    for name, off in {"nothing": [], "the four strongest": four}.items():
        second = nats(ids, off)[:, 64:].mean()
        print(f"off: {name:18} block 23, head 2 looks 63 back with {looks_back(model.weights[23], 63)[2]:.2f}")

# %%
if model:
    without, single = nats(ids, [(23, 2)])[:, 64:].mean(), by_lot[1][:, 0]
    print(
        f"off: block 23, head 2   second copy {without:.1f} nats; single heads at random {single.min():.1f} to {single.max():.1f}"
    )

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, ax = diagrams.canvas(11, 4.1)
for name, x in {"A": 1.2, "B": 2.9, "…": 4.3, "A ": 5.9}.items():
    diagrams.box(ax, x, 0.5, name.strip(), width=1.0, height=0.5)
after = diagrams.box(ax, 2.9, 1.55, "after A", role="key", width=1.3, height=0.5)
found = diagrams.box(ax, 5.9, 2.6, "looks at B", role="value", width=1.6, height=0.5)
said = diagrams.box(ax, 5.9, 3.65, "can write B", role="output", width=1.3, height=0.5)
diagrams.arrow(ax, (1.2, 0.75), (1.2, 1.55), after)
diagrams.arrow(ax, (2.9, 0.75), after)
diagrams.arrow(ax, (5.9, 0.75), found)
diagrams.arrow(ax, (2.9, 1.8), (2.9, 2.6), found)
diagrams.note(ax, 4.1, 2.8, "the match")
diagrams.note(ax, 5.15, 1.25, "asks:\nafter A?")
diagrams.arrow(ax, found, said, dashed=True, label="not shown")
for y, text in (
    (1.55, "block 16, head 0: what stands before me?"),
    (2.6, "blocks 17, 18: what came after an A?"),
    (3.65, "block 23, head 2: can write it"),
):
    diagrams.note(ax, 9.0, y, text)
plots.show(
    ax,
    alt="""Copying looks like a relay over three floors. Tokens A, B, dots, A stand at the bottom. From the first A an arrow leads into B's column: block 16, head 0 looks there from B. Over the second A an arrow rises, the query "after A?"; it meets the key "after A" in B's column, an arrow called the match: heads of blocks 17 and 18 look at B. A dashed arrow, not shown to be used, leads on to block 23, head 2, which can write B.""",
)

# %% [markdown]
# So copying looks like a relay, and two of its floors are shown. Block 16, head 0 writes into each key what stood before it; heads of blocks 17 and 18 find B by that. The third is a candidate: block 23, head 2 can write B, but without it the second copy costs 2.2 nats, within the range of single heads at random. Others cover for it. (It looks 63 back itself, with 0.52, and without the four heads before it with 0.07.)
#
# **To look is not to write, as far as this lens can read: the strongest finder hardly writes the token; a later head can, and others cover for that one.**

# %% [markdown]
# ## Two mistakes
#
# **One random set as a control.** Four heads drawn at random may include one that matters, or none. Here the first draw changes hardly anything and the worst costs 1.4 nats; look at all ten:

# %% jupyter={"source_hidden": true} tags=["setup"]
if model:
    print(
        "four heads at random: the first draw",
        f"{by_lot[4][0, 0]:.1f}, the worst of ten {by_lot[4][:, 0].max():.1f}, the whole model {named['nothing'][0]:.1f}",
    )

# %% [markdown]
# **Off by one.** 64 back stands the earlier copy of the present token *itself*. A head looks there, too, with a line nearly as dark as that of section 2, 0.82 against 0.91. It is no induction head: what it looks at does not come next, and without it the model copies as before.

# %%
if model:
    nats(ids)
    same = np.array([looks_back(weights, 64) for weights in model.weights])
    block, head = divmod(int(same.argmax()), 9)
    print(
        f"64 back, the largest: block {block}, head {head}: {same.max():.2f}; second copy without it {nats(ids, [(block, head)])[:, 64:].mean():.1f} nats"
    )

# %% [markdown]
# ## Four questions
#
# <details><summary>1. You say 20 random tokens three times. How far back does an induction head look in the third copy?</summary>
#
# 19 or 39 back, or at both: what followed the present token stands at both. (Equal shares would be a finding; it is quickly tried.)
#
# </details>
#
# <details><summary>2. You switch one head off and nothing changes. Is it useless?</summary>
#
# Not necessarily: another head may cover for it. Remove both to find out. In four of lecture 3's five models with four heads,
# at least one head can go without any loss ([evidence](evidence/03.ipynb#ablation)). Michel et al. (2019) could remove
# most heads of a trained model one at a time without much loss; removing many together cost more.
#
# </details>
#
# <details><summary>3. A head puts 0.9 on the token before, in forty sentences. A colleague calls it the head for adjectives. What do you ask for?</summary>
#
# Sentences in which the adjective does not stand right before its noun.
#
# </details>
#
# <details><summary>4. What is the largest rank of a QK circuit of this model, and of its OV circuit?</summary>
#
# 64, the width of a head: both are products of a (576, 64) and a (64, 576) matrix.
#
# </details>
#
# <details><summary><b>What this page does not show</b></summary>
#
# * Two rows of noise, one model, one length. Induction in other models, and when it appears in training: Olsson et al. (2022).
# * That the loss rises without a head shows that the model needs it as it is, not that it is the only path: later layers were trained with it in place.
# * The lens reads a block's writing as if nothing came after it. Later blocks may read what it cannot.
# * Noise is where copying can be seen. What these heads do in texts of people, who repeat names and phrases, was not measured.
# * The numbers are those of a file with 4 bits each; the original has 16.
#
# </details>
#
# ## Summary
#
# | second copy of the noise | nats a token |
# |---|---|
# | whole model | 1.9 |
# | without one head: block 18, head 6, which finds | 3.8 |
# | without one head: block 16, head 0, which looks one token back | 8.9 |
# | without the four strongest induction heads | 10.6 |
# | first copy | 14.2 |
#
# Ablate and read heads yourself in [lab 3](../labs/03_multi_head_attention/03_multi_head_attention.ipynb). [Lecture 10](10_language_model.ipynb) shows how copying comes about in a small model.
#
# **Ten lines find heads that look where copying has to look; switching them off shows that the copying depends on them.**
#
# ## References
#
# * N. Elhage et al., *A mathematical framework for Transformer circuits*, 2021. C. Olsson et al., *In-context learning and induction heads*, 2022, arXiv:2209.11895.
# * L. Ben Allal et al., *SmolLM2: when Smol goes big*, 2025, arXiv:2502.02737. The model is SmolLM2-135M-Instruct, Apache licence 2.0, with 4 bits a number.
# * P. Michel, O. Levy, G. Neubig, *Are sixteen heads really better than one?*, NeurIPS 2019. E. Voita et al., *Analyzing multi-head self-attention*, ACL 2019.
# * nostalgebraist, *Interpreting GPT: the logit lens*, 2020.
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# **Symptoms.** The second copy costs as much as the first: the row is not said twice, or the rotary pairs are (i, i + 32) instead of (2i, 2i + 1). All heads look at token 0: that is where a head rests that finds nothing.
#
# **Slow machine:** `said_twice(rows=1)`.
#
# **More.** C. McDougall, [*ARENA*](https://www.arena.education/), chapter 1.2, finds induction heads in a model of two layers. Elhage et al., [*A mathematical framework*](https://transformer-circuits.pub/2021/framework/index.html).
#
# </details>

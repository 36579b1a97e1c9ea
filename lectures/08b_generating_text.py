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
# # 8b · Generating text
#
# **A model gives probabilities, never a sentence; how you choose among them makes the text.**
#
# [← 8 · Decoder and masking](08_decoder_and_masking.ipynb) · [Lab
# 8b](../labs/08b_generating_text/08b_generating_text.ipynb) · [9 · Vision Transformer →](09_vision_transformer.ipynb), or straight on: [10 · A language model of your own →](10_language_model.ipynb)
#
# > *A brown dog is running after the black dog.*
#
# You hand this sentence to a published language model and ask for more. For each next token it gives you 49,152 probabilities. **You always take the most probable one. What does it write?** And a second question: of all sentences that a model could write, is the most probable one typical? Write down both guesses.
#
# **Afterwards you can**
#
# * choose the next token greedily or by chance, with a temperature, top-k or top-p, and say what some of these do to a text;
# * write a beam search, and say what a search can and cannot promise;
# * say at most how many times a second a model can be called, from its bytes and the machine's, and how a call gives more than one token;
# * let a cheap draft go ahead, and get the same greedy text in fewer calls.
#
# **You need** [lecture 8](08_decoder_and_masking.ipynb) ([3b](03b_reading_heads.ipynb) shows SmolLM2 from inside). **Time:** about 70 minutes to read and predict (estimated, not measured); the code runs in about three minutes on two CPU
# cores. Letters: **n** texts at once, **T** or **t** tokens, **H** heads, **K** width of a head, **L** blocks, **G** heads with keys and values, **V** vocabulary, **p** a probability that the model gives. (In the names top-k and top-p the letters mean nothing more.) A **parameter** is a learned number; **log p** is the natural logarithm of p.
#
# **This page needs a model that does not come with the course:** SmolLM2 (93 MB: `data.published("smollm2")` in a cell fetches it once; 0.6 GB of memory). Without it the live cells of sections 1, 2, 4 and 5 are left out: read their outputs before you run the page.

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
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: one core, whose seconds are counted

import heapq
import itertools
import time

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg.blas import sgemm
from scipy.special import log_softmax, softmax

from coursekit import captions, diagrams, live, plots, recorded
from coursekit.captions import END, START, normed
from coursekit.data.published_models import is_here
from coursekit.pages.smollm2 import PlainSmolLM2, numbers_and_tokens  # lecture 3b shows them

plots.use_course_style()
np.set_printoptions(precision=3, suppress=True)
study = recorded.load("how_a_model_writes")["results"]
ways = study["ways"]

# %% [markdown]
# <a id="loop"></a>
#
# ## 1 · Always the most probable token
#
# The model is **SmolLM2** (Hugging Face; 134.5 million parameters, most of them rounded to 4 bits; 30 blocks), a chat model and a decoder. `model(ids, cache)` reads tokens and gives log p of what follows each; section 4 explains its cache. `go_on` writes no special token, and the end token only if it `may_end`.

# %% jupyter={"source_hidden": true} tags=["setup"]
if is_here("smollm2"):
    numbers, tokens = numbers_and_tokens()
    model = PlainSmolLM2(numbers)
else:
    model = None
    print(
        'SmolLM2 is not here, so live cells of sections 1, 2, 4 and 5 are left out: their outputs stand in the page as it came. To fetch 93 MB, once: data.published("smollm2")'
    )


# %%
def go_on(ids, count, choose, may_end=False):
    """Write `count` tokens after ids, or up to the end; `choose` turns log p (1, V) into an id. The new ids, p of each."""
    log_p, cache = model([ids])
    new, chances = [], []
    while len(new) < count and tokens.end_id not in new:
        now = np.where(np.arange(49_152) < 17, -np.inf, log_p[:, -1])  # special tokens are never written
        if may_end:
            now[:, tokens.end_id] = log_p[:, -1, tokens.end_id]
        new.append(int(choose(now)[0]))
        chances.append(np.exp(now[0, new[-1]]))
        log_p, cache = model([new[-1:]], cache)
    return new, np.array(chances)


def greedy(log_p):
    return log_p.argmax(axis=-1)


# %% [markdown]
# **Predict.** It writes 80 tokens after the caption, always the most probable. What do you get?
#
# - (a) a dull story without mistakes
# - (b) the same sentence again and again
# - (c) words without grammar
#
# <details><summary>Answer</summary>
#
# **(b)** "The dog is running towards the black dog." And once more.
#
# </details>

# %%
BEGIN = "A brown dog is running after the black dog."
if model:
    new, chances = go_on(tokens.encode(BEGIN), 80, greedy)
    print(BEGIN + tokens.decode(new).replace("\n\n", " ¶ "))
    print("mean probability of what it wrote, by 16 tokens:", chances.reshape(5, 16).mean(axis=1))


# %% [markdown]
# The text repeats one sentence. There the model is much surer of its tokens than at first: 0.86 to 0.87 instead of 0.43. But it is a chat model, and you gave it a bare text. Its chat template marks the text as your message, which the model *answers* instead of continuing it. Also, it could not stop. Change both, one at a time:

# %% jupyter={"source_hidden": true} tags=["setup"]
def seen_before(before, new):
    """The share of the strings of four tokens in `new` that stood in the text before."""
    strings = [tuple((before + new)[place : place + 4]) for place in range(len(before + new) - 3)]
    return np.mean([strings[place] in strings[:place] for place in range(len(before), len(strings))])


if model:
    for where, row in (("bare", tokens.encode(BEGIN)), ("in the template", tokens.chat(BEGIN))):
        for may_end in (True, False):
            new, _ = go_on(row, 160, greedy, may_end)
            print(f"{where}, {'may end' if may_end else 'no end'}: {len(new)} tokens,", end=" ")
            print(f"{seen_before(row, new):.0%} of its strings of four tokens seen before; it ends")
            print("    …" + tokens.decode(new)[-110:].replace("\n", " "))

# %% [markdown]
# Bare, the model stops after 39 tokens if it may; by then it has written the sentence four times. In the template it repeats hardly anything before it stops. If it may not stop, 25 % of its strings are repeated, against 93 % bare. So for this beginning the template matters more than the end.
#
# In a recorded run SmolLM2 goes on after the first 32 tokens of ten film reviews, bare and without an end, for 128 tokens. A token of probability p costs $-\ln p$ **nats**: 0 if the model was certain of it.

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, ax = plt.subplots(figsize=(8, 3.4))
windows = np.arange(len(ways["people"]["nats by 16 tokens"])) * 16 + 8
shown = {"people": "what people wrote", "greedy": "greedy", "temperature 1": "drawn (section 2)"}
for line, (name, label) in enumerate(shown.items()):
    ax.plot(windows, ways[name]["nats by 16 tokens"], label=label, **plots.LINES[line])
ax.set(xlabel="token after the beginning", ylabel="nats a token", ylim=(0, 5))
ax.legend(ncols=3)
plots.show(
    figure,
    alt="""People and drawn text surprise the model to the end; greedy text stops surprising it. The nats of each token after the beginning, in windows of 16, means of ten texts. What people wrote stays between 3.5 and 4.2, drawn text between 3.5 and 4.0; greedy text begins at 1.3 and falls to 0.1.""",
)


# %% [markdown]
# Nine of the ten greedy texts **loop**: their last 16 tokens have occurred before. The words of people cost the model 3.9 nats a token at first and 3.5 in the end; its greedy tokens cost 1.3 at first and 0.1 in the end. The control is text that the same model writes by chance (temperature 1, section 2): no such text loops, and it falls no further than people's. (Holtzman et al., 2020, found loops in a larger model too.)
#
# **On a bare text, always taking the most probable token makes this model loop: people keep surprising it, and it soon stops surprising itself.**

# %% [markdown]
# <a id="choosing"></a>
#
# ## 2 · Choose by chance
#
# So draw. Four ways to choose the next token:
#
# * **greedy**: always the most probable one;
# * **temperature** $\tau$: draw from $\operatorname{softmax}(z/\tau)$, where $z$ are the logits. A $\tau$ below 1 makes the distribution sharper, one above 1 flatter; $\tau \to 0$ is greedy;
# * **top-k**: draw from a fixed number of tokens, the most probable ones (Fan et al., 2018);
# * **top-p**, or nucleus sampling: draw from the fewest tokens whose probabilities add up to a fixed share or more, such as 0.9 (Holtzman et al., 2020).
#
# A cut sets probabilities to 0, and the rest is divided by its sum. The order is a convention: here temperature, top-k, top-p, as in Hugging Face's library; llama.cpp cuts first. The code divides log p, not $z$: they differ by a constant, which the softmax cancels.

# %%
def reshaped(log_p, temperature=1.0, top_k=None, top_p=None):
    """Distributions (n, V) to draw from: temperature, then top-k, then top-p of the rest; ties at a cut all stay."""
    p = softmax(log_p / temperature, axis=-1)
    if top_k is not None:
        p = np.where(p >= np.sort(p, axis=-1)[:, -top_k, None], p, 0)
        p = p / p.sum(axis=-1, keepdims=True)
    if top_p is not None:
        falling = np.flip(np.sort(p, axis=-1), axis=-1)  # (n, V)
        before = np.cumsum(falling, axis=-1) - falling  # the probability in front of each token
        p = np.where(p >= np.min(np.where(before < top_p - 1e-9, falling, 1), axis=-1, keepdims=True), p, 0)
    return p / p.sum(axis=-1, keepdims=True)


def drawn(rng, **settings):
    """A way to choose: draw each next token from the reshaped distribution."""

    def choose(log_p):
        sums = reshaped(log_p, **settings).cumsum(axis=-1)  # (n, V)
        return (sums < rng.random((len(sums), 1)) * sums[:, -1:]).sum(axis=-1)

    return choose


for settings in ({"top_k": 3}, {"top_p": 0.8}, {"top_k": 3, "top_p": 0.8}):
    print(settings, reshaped(np.log([[0.5, 0.25, 0.15, 0.1]]), **settings)[0])

# %% [markdown]
# Each cut alone leaves three tokens, both together two. Now a real distribution. What does SmolLM2 expect after "A brown dog is running"?

# %% jupyter={"source_hidden": true} tags=["setup"]
kinds = {
    "temperature 1": {},
    "temperature 0.7": {"temperature": 0.7},
    "temperature 1.5": {"temperature": 1.5},
    "top-k 5": {"top_k": 5},
    "top-p 0.9": {"top_p": 0.9},
    "temperature 1.5, then top-p 0.9": {"temperature": 1.5, "top_p": 0.9},
}
if model:
    ahead = model([tokens.encode("A brown dog is running")])[0][:, -1]  # log p (1, V)
    first = np.argsort(-ahead[0])[:10]
    for name, settings in kinds.items():
        p = reshaped(ahead, **settings)[0]
        print(f"{name}: {(p > 0).sum():,} tokens left, the ten likeliest have {p[first].sum():.0%}")

# %% jupyter={"source_hidden": true} tags=["drawing"]
if model:
    figure, panels = plt.subplots(2, 3, figsize=(9.6, 5.2), sharex=True, sharey=True)
    ten = [tokens.decode([number]).strip() for number in first]
    for ax, (name, settings) in zip(panels.flat, kinds.items(), strict=True):
        p = reshaped(ahead, **settings)[0]
        ax.bar(range(10), p[first], color=diagrams.PALETTE["key"])
        ax.bar(11, 1 - p[first].sum(), color=diagrams.PALETTE["value"], hatch="//")
        ax.set_title(f"{name}\n{(p > 0).sum():,} tokens left", fontsize=10)
        ax.set_xticks([*range(10), 11], [*ten, "all others"], rotation=60, ha="right")
    for ax in panels[:, 0]:
        ax.set_ylabel("probability")
    plots.show(
        figure,
        alt="""A high temperature moves probability to the tail, and top-p 0.9 then cuts little of it. One distribution, reshaped in six ways; bars for the same ten tokens, from down and towards to from and in, and a hatched bar for all others together. At temperature 0.7 the first bar grows, at 1.5 the hatched one is by far the largest. Top-k 5 leaves five bars and nothing else; top-p 0.9 lowers the hatched bar a little. After temperature 1.5 top-p 0.9 leaves the hatched bar nearly as high as before.""",
    )

# %% [markdown]
# Look at the hatched bar, the **tail**: tens of thousands of tokens, each with little probability. At temperature 1.5 most of the probability is there. Top-k and top-p cut the tail. But top-p 0.9 keeps nine tenths of *what the temperature made*: 1,130 tokens after temperature 1.5, instead of 39.
#
# Four draws after the caption:

# %% jupyter={"source_hidden": true} tags=["setup"]
if model:
    for settings in ({"temperature": 1.5}, {}, {"top_p": 0.9}, {"temperature": 0.7, "top_k": 40}):
        new, _ = go_on(tokens.encode(BEGIN), 40, drawn(np.random.default_rng(1), **settings))
        print(settings or "temperature 1, all tokens", "\n    …" + tokens.decode(new).replace("\n", " "))

# %% [markdown]
# Temperature 1.5 writes word salad; one draw does not rank the others.

# %% [markdown]
# **Predict.** How many tokens does top-p 0.9 leave to draw from, in a story that we made up (below is its first sentence), and in the loop of section 1? Does the loop leave a way out?
#
# <details><summary>Answer</summary>
#
# In the story 49 in the median; at 1 % of its places a single token is left. In the loop, after seven rounds, a single one is left at 78 % of the places: there, drawing *is* greedy. But the first token of each round stays a way out: even in round nine 11 tokens are left for it.
#
# </details>

# %% jupyter={"source_hidden": true} tags=["setup"]
sizes = {}
if model:
    said = "Her hat was too large for the museum, so the guard let it look out of the window."
    story = " There it saw a tram without a driver, two priests who were carrying a piano, and a boy with a map of another town. Nobody told the hat what any of this meant. When the rain came the guard brought it in, dried it with his newspaper and asked whether it wanted to see the clocks. It did not, but it was polite, and so they went together, slowly, past the stuffed bear and the broken globe."
    looped = BEGIN + " The dog is running towards the black dog." * 9
    for name, text in (("the sentence", said), ("the story", said + story), ("the loop", looped)):
        row = tokens.encode(text)
        kept = (reshaped(model([row[:-1]])[0][0], top_p=0.9) > 0).sum(axis=-1)
        sizes[name] = [tokens.decode([number]) for number in row[1:]], kept
        print(
            f"{name}: {len(kept)} places, tokens left in the median {np.median(kept):.0f}, at most {kept.max():,};",
            end=" ",
        )
        print(f"one token left at {np.mean(kept == 1):.0%}, of the last 18 places at {np.mean(kept[-18:] == 1):.0%}")
    print("the loop, at the first token of each round:", *kept[9::9])

# %% jupyter={"source_hidden": true} tags=["drawing"]
if model:
    figure, panels = plt.subplots(2, 1, figsize=(9.6, 5.0), sharey=True)
    for ax, name in zip(panels, ("the sentence", "the loop"), strict=True):
        pieces, kept = sizes[name]
        ax.bar(range(len(kept)), kept, color=diagrams.PALETTE["key"])
        ax.set(yscale="log", ylabel="tokens left", ylim=(0.7, 3_000), title=name)
    panels[0].set_xticks(
        range(len(sizes["the sentence"][0])),
        [piece.strip() for piece in sizes["the sentence"][0]],
        rotation=40,
        ha="right",
    )
    panels[1].set_xticks(range(9, 90, 9), [f"round {number}" for number in range(1, 10)])
    panels[1].axvline(8.5, color=diagrams.PALETTE["ink"], linestyle=":")
    panels[1].text(0, 1_500, "the caption", fontsize=9)
    plots.show(
        figure,
        alt="""In a loop fewer and fewer tokens are left; in the last rounds the most are left where a round begins. Bars say how many tokens top-p 0.9 keeps, on a logarithmic axis, at each true next token. Above, a sentence: more than a thousand to choose museum or guard from, five for the comma. Below, the caption and nine times the same sentence: the bars sink from round to round, and in the end nearly all are at one. The bar where a round begins sinks too, but in the last round it still stands at eleven.""",
    )

# %% [markdown]
# Top-k keeps the same number of tokens everywhere. Top-p keeps few where the model is sure, and many where it is not. Whatever lies beyond the share of 0.9 is dropped, possible or not. The recorded run goes on with each of the ten reviews in six settings. Nats are the model's own, before temperature and cut:

# %% jupyter={"source_hidden": true} tags=["setup"]
print(
    "                            nats a token  (by text)   strings of four seen before   texts that loop   words in no other review"
)
for name in (
    "people",
    "greedy",
    "temperature 0.7, top-k 40",
    "top-p, p = 0.9",
    "temperature 1",
    "temperature 1.5, top-p 0.9",
    "temperature 1.5",
):
    way = ways[name]
    low, high = min(way["by text"]), max(way["by text"])
    print(
        f"{name.replace(', p =', ''):27} {way['nats a token']:8.2f}   ({low:.1f} to {high:4.1f}) {way['strings of four seen before']:18.1%} {way['turns round']:20d} {way['unknown words']:16d} of {way['words']:5,}"
    )

# %% [markdown]
# 3.7 nats a token is like choosing each time among $e^{3.7}\approx 40$ equally likely tokens. What people wrote surprises the model nearly as much, 3.9 nats. At temperature 1 one word in twenty is in none of the 25,000 other reviews; with people it is one in two hundred. Top-p 0.9 more than halves the one in twenty; after temperature 1.5 it helps little. Temperature 0.7 with top-k 40 writes the fewest unknown words of all draws, but 18 % of its strings are repeated, against 3 % with top-p 0.9. No drawn text loops.
#
# So these settings trade unknown words against repetition. Top-p 0.9 at temperature 1 lies in the middle; none is shown to be the best.
#
# **Greedy repeats, and temperature 1.5 is word salad, with top-p 0.9 too; at temperature 1 the nats are nearest to people's, and top-p 0.9 writes fewer unknown words.**

# %% [markdown]
# <a id="beam"></a>
#
# ## 3 · The most probable sentence
#
# Greedy takes the best *word* each time. That need not lead to the best *sentence*. **Beam search** keeps a fixed number of *beginnings*, the best; this number is its **width**. Each beginning is continued by every word, and the best of all these stay. With a width of 1 it is greedy. Take a language whose sentences have two words.

# %% [markdown]
# **By hand.** “a” has the probability $x$; “the” gets 0.8 of the rest and “my” the remaining 0.2. After “a” the best word is “dog” with 0.4, after “the” it is “dog” with 0.9. For which $x$ does greedy search miss the most probable sentence?
#
# <details><summary>Answer</summary>
#
# Greedy begins with “a” as soon as $x > 0.8\,(1 - x)$, from 0.444 on, and writes “a dog” with $0.4\,x$. “the dog” has $0.9 \cdot 0.8\,(1 - x) = 0.72\,(1-x)$; that is more as long as $x$ is below 0.72/1.12 = 0.643. So between 0.444 and 0.643 greedy misses the most probable sentence, and a beam of 2 finds it.
#
# </details>

# %%
TREE = {
    "a": (0.5, {"dog": 0.4, "cat": 0.35, "cow": 0.25}),
    "the": (0.4, {"dog": 0.9, "cat": 0.06, "cow": 0.04}),
    "my": (0.1, {"dog": 0.5, "cat": 0.3, "cow": 0.2}),
}
live.beam(TREE)


# %% [markdown]
# SmolLM2 is too large for this. So take a model that knows 3,276 words: it has read 29,000 captions of photographs (Multi30k; Elliott et al., 2016) and writes its own.

# %% jupyter={"source_hidden": true} tags=["setup"]
class PlainCaptionModel:
    """A decoder-only Transformer; a call reads one more token of each of n captions (pre-norm, no biases)."""

    def __init__(self, weights, heads=4):
        self.weights, self.heads = weights, heads
        self.blocks, self.width = len(weights["w_q"]), weights["table"].shape[1]  # L, D

    def empty(self, count):
        return np.zeros((self.blocks, 2, count, 0, self.heads, self.width // self.heads), "float32")

    def __call__(self, ids, cache):  # (n,), keys and values of t tokens (L, 2, n, t, H, K)
        w, t, grown = self.weights, cache.shape[3], []
        x = w["table"][ids] * self.width**0.5 + w["positions"][t]  # (n, D)
        for i, kept in enumerate(cache):  # (2, n, t, H, K)
            q, k, v = ((normed(x) @ w[name][i]).reshape(len(x), self.heads, -1) for name in ("w_q", "w_k", "w_v"))
            kept = np.concatenate([kept, np.stack([k, v])[:, :, None]], axis=2)  # one more key and value
            weights = softmax(np.einsum("nhk,nthk->nht", q, kept[0]) / q.shape[-1] ** 0.5, axis=-1)
            x = x + np.einsum("nht,nthk->nhk", weights, kept[1]).reshape(x.shape) @ w["w_o"][i]
            x = x + np.maximum(normed(x) @ w["widen"][i], 0) @ w["narrow"][i]
            grown.append(kept)
        return log_softmax(normed(x) @ w["table"].T + w["allowed"], axis=-1), np.stack(grown)  # (n, V), the cache


# %% jupyter={"source_hidden": true} tags=["setup"]
record = recorded.load("caption_model")["results"]
WORDS, weights = captions.load()
captioner = PlainCaptionModel(weights)


def text_of(ids):
    return " ".join(WORDS[number] for number in ids if number not in (START, END))


# %% jupyter={"source_hidden": true} tags=["setup"]
def write(model, count, choose, longest=30):
    """Write `count` captions; `choose` turns log p (n, V) into ids (n,). Returns ids (n, t) and log p of each (n,)."""
    ids, cache, total = np.full((count, 1), START), model.empty(count), np.zeros(count)
    while ids.shape[1] < longest and (ids[:, -1] != END).any():
        log_p, cache = model(ids[:, -1], cache)
        ended = ids[:, -1] == END
        new = np.where(ended, END, choose(log_p))
        total += np.where(ended, 0, log_p[np.arange(count), new])
        ids = np.hstack([ids, new[:, None]])
    return ids, total


# %%
def beam(model, width, alpha=0.0, longest=30):
    """Beam search: ids and log p of the best caption by log p / ((5 + n)/6)^alpha, n tokens (Wu et al. 2016)."""

    def score(found):
        return found[1] / ((5 + len(found[0]) - 1) / 6) ** alpha  # the start token does not count

    kept, cache = [([START], 0.0)], model.empty(1)
    for _ in range(longest - 1):
        log_p, cache = model(np.array([ids[-1] for ids, _ in kept]), cache)  # (width, V); an ended row is read in vain
        found = []
        for row, (ids, total) in enumerate(kept):
            if ids[-1] == END:
                found.append((ids, total, row))  # a finished caption stays as it is, and competes
            else:
                best = np.argsort(-log_p[row])[:width]
                found += [([*ids, int(new)], total + float(log_p[row, new]), row) for new in best]
        found = sorted(found, key=score, reverse=True)[:width]
        kept = [(ids, total) for ids, total, _ in found]
        cache = cache[:, :, [row for *_, row in found]]  # each goes on with the cache of its beginning
        if all(ids[-1] == END for ids, _ in kept):
            break
    return kept[0]


# %% [markdown]
# A finished caption keeps its place while it is among the best. A wider beam can still drop the beginning of the best sentence. But there is an exact search. A beginning never *gains* probability by a further word. So always continue the most probable beginning: once it is a finished sentence, none is more probable (Dijkstra, 1959).

# %%
def most_probable(model, limit):
    """The most probable caption of all: always continue the most probable beginning (Dijkstra 1959).

    Beginnings with a log p below `limit` are dropped: any finished caption is a limit.
    """
    heap = [(0.0, [START], model.empty(1))]
    for continued in itertools.count():
        cost, ids, cache = heapq.heappop(heap)
        if ids[-1] == END:
            return ids, -cost, continued
        log_p, cache = model(np.array(ids[-1:]), cache)
        for new in np.flatnonzero(log_p[0] >= limit + cost - 1e-6):
            heapq.heappush(heap, (cost - log_p[0, new], [*ids, int(new)], cache))


# %% [markdown]
# **Predict.** You run a beam of 64 and the exact search. Does the beam find the most probable caption? And is that caption like those which the model draws?
#
# <details><summary>Answer</summary>
#
# No. The beam of 64 finds “a group of people walking down the street .” with −10.46, and the exact search finds “a man .” with −8.77. Drawn captions have about −40 on average, and the best of 300 stays below both.
#
# </details>

# %% jupyter={"source_hidden": true} tags=["setup"]
for width in (1, 4, 16, 64):
    ids, log_p = beam(captioner, width)
    print(f"beam {width:2}: log p {log_p:7.2f}  {text_of(ids)}")
    if width in (4, 64):
        fair, fair_log_p = beam(captioner, width, alpha=1.0)
        print(f"  with alpha = 1: {fair_log_p:7.2f}  {text_of(fair)}")
ids, best_log_p, continued = most_probable(captioner, limit=log_p)
print(f"exact:   log p {best_log_p:7.2f}  {text_of(ids)}   ({continued:,} beginnings continued)")
drawn_ids, drawn_log_p = write(captioner, 300, drawn(np.random.default_rng(1)))
lengths = (drawn_ids != END).sum(axis=1)  # with the start and without the end: as many as with the end alone
print(
    f"drawn:   log p {drawn_log_p.mean():7.2f} on average (standard deviation {drawn_log_p.std():.1f}), {drawn_log_p.max():.2f} at most; a token {np.mean(drawn_log_p / lengths):.2f}, in the exact one {best_log_p / (len(ids) - 1):.2f}"
)

# %% jupyter={"source_hidden": true} tags=["drawing"]
people = np.array(record["log p of the unseen captions"])
figure, ax = plt.subplots(figsize=(7.6, 3))
bins = np.arange(5 * np.floor(min(*people, *drawn_log_p) / 5), 1, 5)  # none is left out
for line, (values, name) in enumerate(
    ((people, f"{len(people)} captions of people"), (drawn_log_p, "300 drawn captions"))
):
    ax.hist(
        values,
        bins,
        weights=np.full(len(values), 1 / len(values)),
        histtype="step",
        linewidth=2,
        color=plots.LINES[line]["color"],
        linestyle=plots.LINES[line]["linestyle"],
        label=name,
    )
ax.axvline(best_log_p, color=diagrams.PALETTE["value"], linewidth=2)
ax.annotate("the most\nprobable", (best_log_p, 0.1), xytext=(5, 0), textcoords="offset points", fontsize=9)
ax.set(xlabel="log p of the whole caption", ylabel="share")
ax.legend(loc="upper left")
plots.show(
    figure,
    alt=f"""The most probable caption lies at the edge, far from the mean of both. Two histograms of log p of whole captions, those of people and those that the model draws, both broad, with means of {people.mean():.0f} and {drawn_log_p.mean():.0f} and standard deviations of {people.std():.0f} and {drawn_log_p.std():.0f}; to the right of both, a vertical line at {best_log_p:.1f} marks the most probable caption.""",
)


# %% [markdown]
# This answers the second question, for this model. Nothing can be more probable than “a man .”; the finding is the gap: 4.6 nats to the best of 300 drawn captions, 32 to their mean, about two of their standard deviations. *Per token* “a man .” has −2.2 and the beam of 64 has −1.0: against the beam “a man .” wins by its length alone.
#
# How can the most probable caption be so rare? Its probability is $e^{-8.77}$: it is drawn once in 6,400 captions. A drawn caption has about $e^{-40}$, but there are so many of them that together they get nearly all of the probability. Is the model *right*? At that rate 29,000/6,400 = 4.5 of the captions that it has read should be “a man .”, and none is. If the rate were right, the chance of none would be only $e^{-4.5} \approx 1\,\%$. So the rate is probably too high. But we picked the caption with the highest rate, and a maximum is easily too high. Stahlberg and Byrne (2019) too call it a model's error that for more than half of a test set the most probable translation is empty.
#
# A wider search writes a shorter caption: a beam of 4 writes 13 tokens, one of 64 writes 10, the exact search 4 (the end included). So translation systems divide log p by a length penalty, `alpha` above 0 ([evidence](evidence/08.ipynb#length-penalty)). Here it lengthens the caption of the beam of 4 to 15 tokens; the beam of 64 writes the same 10. Beam search does work in translation (Wu et al., 2016): in our evidence a beam of 4 with the penalty is ahead of greedy by 0.4 to 0.9 BLEU, with three seeds.
#
# **The most probable sentence of this model is not a typical one: to see typical sentences, draw.**

# %% [markdown]
# <a id="cache"></a>
#
# ## 4 · What a token costs
#
# To write a token you call the model, and a call fetches every parameter from memory. So the bytes set a bound on *calls*:
#
# $$\text{calls a second} \;\le\; \frac{\text{bytes that the memory delivers a second}}{\text{bytes of the parameters and of the caches}}$$
#
# With the look-ahead mask of lecture 8 no later token changes the keys and values of an earlier one. So a model keeps them, in the **key–value cache**.
#
# In the **prefill** a served model reads the whole prompt in one call. In the **decode** it writes, one call a token.

# %% [markdown]
# **Predict.** A prompt has 256 tokens. How long does reading all of it take on one core of our machine, measured in the time of writing *one* token with the cache?
#
# - (a) about as long: it is one call
# - (b) 10 to 50 times as long
# - (c) 256 times as long
#
# <details><summary>Answer</summary>
#
# **(b)** The line “read 256 tokens” below prints how many. The parameters are fetched once for all 256 tokens, but the arithmetic has to be done for each.
#
# </details>

# %% jupyter={"source_hidden": true} tags=["setup"]
def seconds(call, *given, times=5):
    """The processor seconds of a call, the fastest of several."""
    found = []
    for _ in range(times):
        began = time.process_time()
        call(*given)
        found.append(time.process_time() - began)
    return min(found)


def products(*shape):
    """Every matrix of the model times as many rows, and nothing else; the rows (…, D) have this shape without D."""
    rows = {width: np.ones((*shape, width), "float32") for width in (576, 1536)}
    return [rows[matrix.shape[1]] @ matrix.T for matrix in matrices]


def cache_only(cache):
    """What a call does with a cache, and nothing else: copy it with one more key and value, and attend to it."""
    for pair in cache:
        k, v = (np.concatenate([part, part[:, :, :1]], axis=2) for part in pair)  # (n, 3, t + 1, 64)
        softmax(np.ones((len(k), 3, 3, 64), "float32") @ k.swapaxes(2, 3) / 8, axis=-1) @ v


# %% jupyter={"source_hidden": true} tags=["setup"]
if model:
    matrices = [model.table, *(part for block in model.blocks for part in block.values() if part.ndim == 2)]
    prompt = tokens.encode("It was a bright cold day in April. " * 60)[:256]
    _, cache = model([prompt])
    read, step = seconds(model, [prompt]), seconds(model, [[28]], cache, times=9)
    print("processor seconds of one core, 4 bytes a parameter")
    print(
        f"read 256 tokens:               {1000 * read:5.0f} ms, of which matrix products {1000 * seconds(products, 256):4.0f} ms; {read / step:.0f} times as long as to write one"
    )
    print(
        f"write one, with the cache:     {1000 * step:5.0f} ms, of which matrix products {1000 * seconds(products, 1, times=9):4.0f} ms; {1 / step:.0f} tokens a second"
    )
    print(f"write one, without it: read all 257 again, {1 / read:.1f} tokens a second")
    print(
        f"fetch {sum(matrix.nbytes for matrix in matrices) / 1e6:.0f} MB of parameters and only add them up: {1000 * seconds(lambda: [matrix.sum() for matrix in matrices]):.0f} ms"
    )
    print(f"the logits' share of the products: {model.table.size / sum(matrix.size for matrix in matrices):.0%}")

# %% [markdown]
# Compare the products: among 256 tokens one token costs only a small part of what it costs alone. The arithmetic is the same; but alone, all parameters are fetched for one token. Only to fetch them and add them up takes about half of the time of a written token; this estimates the bound. Fewer bytes lift the bound: to fetch the 93 MB of the 4-bit file in place of 538 MB would lift it nearly sixfold.
#
# (Our class computes logits at all 256 positions. A server needs the last ones only: it saves 21 % of the products of a prefill.) On a GPU the bound is nearer, and decoding is called **bound by memory** ([lecture 2b](02b_what_attention_costs.ipynb) has the roofline).

# %% [markdown]
# **By hand.** A model has 70 billion parameters of two bytes. It runs on accelerators that together fetch 6.7 terabytes a second. How many calls a second at most, and how many tokens for one reader? And if 16 readers share each call?
#
# <details><summary>Answer</summary>
#
# A call needs all 140 GB once: 6,700/140 = 47.9, so at most 48 calls a second, and 48 tokens for one reader. With 16 texts a call gives 16 tokens: at most 16 times as many in all, and less, since a call then fetches 16 caches too.
#
# </details>

# %% jupyter={"source_hidden": true} tags=["setup"]
if model:
    print("fastest of nine calls; the products of as many rows, one a text, and what a step takes beside them")
    print("texts   a step   tokens a second   products text by text   the rest   of it the caches   products at once")
    for count in (1, 2, 4, 8):
        together = [tuple(np.repeat(part, count, axis=0) for part in pair) for pair in cache]
        each, kept = seconds(model, [[28]] * count, together, times=9), seconds(cache_only, together, times=9)
        apart, at_once = seconds(products, count, 1, times=9), seconds(products, count, times=9)
        print(
            f"{count:5} {1000 * each:5.0f} ms {count / each:17.0f} {1000 * apart:20.0f} ms {1000 * (each - apart):7.0f} ms {1000 * kept:15.0f} ms {1000 * at_once:15.0f} ms"
        )
    columns = {width: np.ones((width, 1), "float32", order="F") for width in (576, 1536)}
    other = seconds(lambda: [sgemm(1, each.T, columns[each.shape[1]], trans_a=True) for each in matrices], times=9)
    print(f"one row by sgemm, the routine for many rows: {1000 * other:.0f} ms")


# %% [markdown]
# That is **batching**: servers collect the texts of many readers in one call. Here eight texts write about twice as many tokens a second as one. Our class multiplies text by text: its rows are (n, 1, D), so NumPy makes n products, each with all parameters.
#
# The last column makes one product (n, D) of them, as servers do. There the rows share the fetching. Here that pays with eight texts, not yet with two: eight rows take about three times as long as one. Most of this comes with the second row. NumPy multiplies several rows with another routine, and the last line shows that it takes longer even for one row. What remains of the jump is not explained.
#
# The rest of a step also grows with the texts. A part of it is to copy and read their caches, one for each text; what remains is not explained either. For one text of t tokens the cache holds this many entries:
#
# $$2 \cdot L \cdot G \cdot K \cdot t$$
#
# where G is the number of heads that have keys and values. With G = H each head has its own. In **grouped-query attention**, GQA, several query heads share one key head and its values (Ainslie et al., 2023): SmolLM2 has G = 3 for H = 9. With G = 1 it is *multi-query* attention (Shazeer, 2019). Head $h$ reads the keys of group $\lfloor h\,G/H \rfloor$.

# %% [markdown]
# **By hand.** Llama 2 with 70 billion parameters has L = 80, H = 64, K = 128 and G = 8, and reads 4,096 tokens (Touvron et al., 2023). How large is the cache of one text, with two bytes an entry? And with G = H? And how many calls a second with 16 such texts?
#
# <details><summary>Answer</summary>
#
# One token takes 2 · 80 · 8 · 128 = 163,840 entries, and 4,096 tokens take 1.34 GB. With 64 instead of 8 heads it is eight times as much, 10.7 GB. With 16 texts a call fetches 140 + 16 · 1.34 = 161.4 GB: at most 6,700/161.4 = 41.5 calls a second.
#
# </details>

# %% [markdown]
# Ainslie et al. report a quality near that of G = H, at a speed near that of G = 1.
#
# **A cache trades memory for time; tokens that are read in one product share the fetching of the parameters.**

# %% [markdown]
# <a id="draft"></a>
#
# ## 5 · Let a draft go ahead
#
# A call that reads nine tokens of one text fetches the parameters once, as a call for one does. So let something cheap guess the next eight. The model reads them in one call, which also says what *it* would have written after each. Keep the guesses up to the first that differs, and the model's own token there: the text is the model's, token by token. This is **speculative decoding** (Leviathan et al., 2023; Chen et al., 2023).
#
# The draft is usually a smaller model with the same tokens. The cheapest is to look up what followed the last two tokens the last time they stood in the text (*prompt lookup*; Saxena, 2023).

# %%
def looked_up(ids, most=8):
    """A draft: what followed the last two tokens the last time that they stood in the text."""
    for place in range(len(ids) - 3, -1, -1):
        if ids[place : place + 2] == ids[-2:]:
            return ids[place + 2 : place + 2 + most]
    return []


def written_with(draft, ids, count):
    """At most `count` greedy tokens after ids, the end included; and for each call how many it was given and gave."""
    log_p, cache = model([ids])
    text, calls = [*ids, int(log_p[0, -1].argmax())], [(0, 1)]
    while len(text) < len(ids) + count and text[-1] != tokens.end_id:
        guess, known = draft(text), len(text)
        log_p, cache = model([[text[-1], *guess]], cache)
        own = log_p[0].argmax(axis=-1).tolist()  # what the model writes after each of them
        right = next(
            (place for place, (one, other) in enumerate(zip(guess, own, strict=False)) if one != other), len(guess)
        )
        cache = [(k[:, :, : known + right], v[:, :, : known + right]) for k, v in cache]  # forget what was refused
        new = own[: right + 1]
        new = new[: new.index(tokens.end_id) + 1] if tokens.end_id in new else new
        text, calls = [*text, *new], [*calls, (len(guess), len(new))]
    return text[len(ids) : len(ids) + count], calls


# %% [markdown]
# Three prompts, at most 40 greedy tokens each. Where will the draft help?

# %% jupyter={"source_hidden": true} tags=["setup"]
if model:
    repeat = (
        "Repeat this text: A brown dog is running after the black dog, and the black dog is running after a red ball."
    )
    prompts = {
        "the caption": tokens.encode(BEGIN),
        "repeat this": tokens.chat(repeat),
        "blue sky": tokens.chat("Why is the sky blue?"),
    }
    print("what a call takes, the fastest of nine, measured in calls without a guess")
    without = seconds(model, [[28]], cache, times=9)
    for count in (1, 2, 4, 8):
        print(f"    {count} guessed: {seconds(model, [[28] * (1 + count)], cache, times=9) / without:.1f}")
    print("the texts; seconds are the fastest of three")
    for name, row in prompts.items():
        alone, plain_calls = written_with(lambda text: [], row, 40)
        drafted, calls = written_with(looked_up, row, 40)
        took = [seconds(written_with, draft, row, 40, times=3) for draft in (lambda text: [], looked_up)]
        print(
            f"{name:12} {len(plain_calls)} calls, {took[0]:.1f} s; with the draft {len(calls)} calls, {took[1]:.1f} s; the same text: {alone == drafted}"
        )
        guessed = [pair for pair in calls if pair[0]]
        mean = f", {np.mean(guessed, axis=0)[1]:.1f} tokens each" if guessed else ""
        print(
            f"    {len(guessed)} calls with guesses{mean}; (guesses, tokens): {guessed}; it writes:",
            tokens.decode(drafted).replace("\n", " ").strip(),
        )

# %% [markdown]
# The text is the same each time.
#
# Fewer calls are less *time* only where a call gives more tokens than it costs. On this core a call costs about twice as much with one guess, and about three times as much with eight. In the loop the calls with eight guesses give 6.0 tokens on average, and the draft saves time. Where the model repeats you it changes your words. There they give 2.8 tokens, about what they cost, and no time is saved.
#
# How many tokens does a call give? Let each of γ guesses be accepted with the probability $a$, whatever the others are. Then a call gives on average this many tokens (Leviathan et al., 2023):
#
# $$1 + a + \dots + a^{\gamma} = \frac{1 - a^{\gamma + 1}}{1 - a}$$
#
# And if the text is drawn, not greedy? The draft draws its guess x from its distribution q (here q is no query), and the model, whose distribution is p, accepts it with the probability
#
# $$\min\big(1,\;p(x)/q(x)\big)$$
#
# If it refuses, it draws once more, from what p has more than q: from $\max(0,\,p - q)$, divided by its sum. The token that comes out has exactly the distribution p, whatever q is (proved by Leviathan et al., 2023). You derive both in lab 8b.
#
# **A draft changes the number of calls and, in greedy decoding, not the text; it saves time only where a call gives more tokens than it costs.**

# %% [markdown]
# ## Two mistakes
#
# **The logits are multiplied by the temperature.** What should become sharper becomes flatter. There is no error message.

# %%
four = np.log([0.5, 0.25, 0.15, 0.1])
print("temperature 0.5, divided:", softmax(four / 0.5), " multiplied:", softmax(four * 0.5))

# %% [markdown]
# **Every new token gets position 0.** With a cache each call sees one token, and its position has to be counted by hand.

# %% jupyter={"source_hidden": true} tags=["setup"]
counted, counted_log_p = write(captioner, 1, greedy)
wrong = PlainCaptionModel(weights | {"positions": np.repeat(weights["positions"][:1], 64, axis=0)})
print("positions counted:", text_of(counted[0]), f"({counted_log_p[0]:.1f})")
print("always position 0:", text_of(write(wrong, 1, greedy)[0][0]))

# %% [markdown]
# ## Four questions
#
# <details><summary>1. Top-p 0.9 on a distribution whose best token has 0.95. How many tokens are left? And with top-k 20?</summary>
#
# One, so it is greedy there. Top-k leaves 20, of which 19 share at most 0.05.
#
# </details>
#
# <details><summary>2. “Beam search finds the most probable sentence.” What is wrong?</summary>
#
# It can drop the beginning of the best one. Section 3 has an example with a beam of 64.
#
# </details>
#
# <details><summary>3. You add a sixth token to a cached text of five. Which stored keys have to be computed again?</summary>
#
# None. The look-ahead mask guarantees that earlier tokens never see the sixth.
#
# </details>
#
# <details><summary>4. A draft guesses eight tokens; each is right with probability one half, whatever the others are. Why not nine tokens a call?</summary>
#
# The first wrong guess ends the call. With $a = 1/2$ and γ = 8 a call gives $(1 - 1/2^9)/(1/2) = 1.996$ tokens, about two.
#
# </details>
#
# <details><summary><b>What this page does not show</b></summary>
#
# * One small model with rounded parameters, one beginning live and ten in the record, one draw of each.
# * Nats, strings and unknown words say how familiar a text is, not how good; a new topic also brings unknown words. No person judged a text.
# * The times are the fastest of several calls, on one core in NumPy; on another machine they differ, and so may their order. The exact search is exact for the rounded weights of one caption model (one seed, two epochs).
# * A draft that is a network was not measured. Min-p and penalties for repeated tokens are left out.
#
# </details>
#
# ## Summary
#
# | piece | remember |
# |---|---|
# | greedy | one text; on a bare text it loops, in the template it did not before it stopped |
# | temperature, top-k, top-p | 1.5 gives word salad; top-k keeps a fixed number of tokens, top-p a fixed share of the probability |
# | beam, exact search | only the exact search is sure to find the most probable sentence; for the caption model that is “a man .” |
# | prefill, decode | many tokens in a call, or one; each call fetches all parameters, so bytes bound the calls |
# | cache | 2 · L · G · K entries a token; GQA makes G smaller than H |
# | draft | the same greedy text in fewer calls; less time only above the break-even |
#
# Families of models, alignment and BLEU are covered in the [evidence](evidence/08.ipynb#families). Write both searches, the nucleus and the cache yourself in [lab 8b](../labs/08b_generating_text/08b_generating_text.ipynb). Then train a writer of your own in [lecture 10](10_language_model.ipynb); images are a branch, in [lecture 9](09_vision_transformer.ipynb).
#
# **A model gives probabilities, never a sentence; how you choose among them makes the text.**
#
# ## References
#
# * A. Holtzman et al., *The curious case of neural text degeneration*, ICLR 2020 (top-p). A. Fan et al., *Hierarchical neural story generation*, ACL 2018 (top-k).
# * L. Ben Allal et al., *SmolLM2: when Smol goes big*, 2025, arXiv:2502.02737. The model is SmolLM2-135M-Instruct, Apache licence 2.0.
# * E. W. Dijkstra, *A note on two problems in connexion with graphs*, Numerische Mathematik 1, 1959. F. Stahlberg, B. Byrne, *On NMT search errors and model errors: cat got your tongue?*, EMNLP 2019.
# * Y. Wu et al., *Google's neural machine translation system*, 2016, arXiv:1609.08144 (the length penalty).
# * J. Ainslie et al., *GQA: training generalized multi-query Transformer models from multi-head checkpoints*, EMNLP 2023. N. Shazeer, *Fast Transformer decoding: one write-head is all you need*, 2019, arXiv:1911.02150. H. Touvron et al., *Llama 2*, 2023, arXiv:2307.09288.
# * Y. Leviathan, M. Kalman, Y. Matias, *Fast inference from Transformers via speculative decoding*, ICML 2023. C. Chen et al., *Accelerating large language model decoding with speculative sampling*, 2023, arXiv:2302.01318. A. Saxena, *Prompt lookup decoding*, 2023.
# * D. Elliott et al., *Multi30K*, Workshop on Vision and Language 2016. A. Maas et al., *Learning word vectors for sentiment analysis*, ACL 2011 (the reviews of the record).
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# **Symptoms.** It never stops: no end token in the training targets. One token for ever: the last token is not read in the next step. The lab's top-k differs: tokens that tie at the cut all stay here; lab 8b keeps those with the lower ids. A draft changes a token: where two are nearly equally probable, rounding can decide. Greedy and a beam of 1 differ: one of them treats the end differently.
#
# **Slow machine:** 100 captions instead of 300 in section 3; 20 tokens instead of 80 in section 1. People's 693 captions are those of 1,000 in which the model knows every word. **Record:** `python experiments/how_a_model_writes.py --data FOLDER`.
#
# **More.** P. von Platen, [*How to generate text*](https://huggingface.co/blog/how-to-generate): the same decoders on GPT-2. Stanford [*CS336*](https://stanford-cs336.github.io/), the lecture on inference. Temperature, cuts and cache to move: [evidence](evidence/08.ipynb#live).
#
# </details>

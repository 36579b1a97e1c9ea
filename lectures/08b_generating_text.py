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
# **A model gives probabilities; how you choose among them makes the text.**
#
# [← 8 · Decoder and masking](08_decoder_and_masking.ipynb) · [Lab
# 8b](../labs/08b_generating_text/08b_generating_text.ipynb) · [9 · Vision Transformer →](09_vision_transformer.ipynb)
#
# A small model has read 29,000 captions of photographs and now writes its own. Of all possible captions one is the most probable for this model. **Is the most probable sentence
# a typical one?** Write down your guess. Section 2 finds this caption, and compares it with what people write and with what the model itself writes by chance.
#
# **Afterwards you can**
#
# * choose the next word greedily or by chance, with a temperature, top-k or top-p, and say what each costs;
# * search with a beam, and say what a search can and cannot promise;
# * calculate what a key–value cache saves and how much memory it takes;
# * read an alignment beside its base rate, and a BLEU beside its signature.
#
# **You need** [lecture 8](08_decoder_and_masking.ipynb). **Time:** about 65 minutes to read and predict (estimated, not measured); the code runs in about a minute on two CPU
# cores. Letters: **n** captions at once, **T** or **t** tokens, **D** width, **H** heads, **K** width of a head, **L** blocks, **V** words.

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
import heapq
import itertools
from collections import Counter

from coursekit import captions, diagrams, live, plots, quiet, recorded
from coursekit.captions import END, START, normed

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook

import keras
import matplotlib.pyplot as plt
import numpy as np
from keras import layers
from scipy.special import log_softmax, softmax

from coursekit.pages.decoder_and_masking import PlainDecoderBlock
from coursekit.pages.post_norm import PostNormEncoderBlock

plots.use_course_style()
np.set_printoptions(precision=3, suppress=True)
record = recorded.load("caption_model")["results"]
seeds = record["seeds"]


def text(ids):
    return " ".join(WORDS[number] for number in ids if number not in (START, END))


# %% [markdown]
# <a id="choosing"></a>
#
# ## 1 · Choose the next word
#
# The model is a decoder without a source: its blocks have causal self-attention and a feed-forward network, but no cross-attention. It predicts the next word of a caption from the words before it. It was trained on Multi30k (Elliott et al., 2016), and the page loads its weights. One call reads *one* more
# word and returns log p of every possible next one (section 3 explains its `cache`; `normed` is the RMS norm of lecture 4):

# %%
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


WORDS, weights = captions.load()
model = PlainCaptionModel(weights)


# %%
def next_words(beginning):
    """Log p (T + 1, V) of the next word after the start and after each word of a text."""
    cache, found = model.empty(1), []
    for number in [START, *map(WORDS.index, beginning.split())]:
        log_p, cache = model(np.array([number]), cache)
        found.append(log_p[0])
    return np.array(found)


log_p = next_words("a brown dog is")[-1]
print(f"{len(WORDS):,} words; after “a brown dog is”:", ", ".join(f"{WORDS[i]} {np.exp(log_p[i]):.2f}" for i in np.argsort(-log_p)[:6]))


# %% [markdown]
# How good is it? Its **perplexity** on unseen captions is $e^m$, with $m$ the mean of $-\ln p$ per token. A model that guesses among 24 equally probable words has 24. Ours (one seed, two epochs) has 24.0 on captions whose words it knows. Perplexities can be compared only on the same words and the same captions: with 4,590 words, counting strings of four words gives 30.7, and a model like ours, more than twice as large, 21.3 to 21.4 ([evidence](evidence/08.ipynb#language-model)). Now choose:
#
# * **greedy**: always the most probable word;
# * **temperature** $\tau$: draw from $\operatorname{softmax}(z/\tau)$, where $z$ are the logits. A $\tau$ below 1 makes the distribution sharper, one above 1 flatter; $\tau \to 0$ is greedy;
# * **top-k**: draw from the k most probable words (Fan et al., 2018);
# * **top-p**, or nucleus sampling: draw from the fewest words whose probabilities add up to p or more (Holtzman et al., 2020).
#
# The temperature comes first and changes logits. A cut then sets probabilities to 0, and the rest is divided by its sum. (Here words that tie at the cut all stay; in lab 8b only the lower ids.)

# %%
def reshaped(log_p, temperature=1.0, top_k=None, top_p=None):
    """Distributions (n, V) to draw from, after a temperature and a cut; ties at the cut all stay."""
    p = softmax(log_p / temperature, axis=-1)
    falling = np.flip(np.sort(p, axis=-1), axis=-1)  # (n, V)
    least = np.zeros_like(p[:, :1])
    if top_k is not None:
        least = falling[:, top_k - 1 : top_k]  # (n, 1)
    if top_p is not None:
        before = np.cumsum(falling, axis=-1) - falling  # the probability in front of each word
        least = np.min(np.where(before < top_p - 1e-9, falling, 1), axis=-1, keepdims=True)
    p = np.where(p >= least, p, 0)
    return p / p.sum(axis=-1, keepdims=True)


def drawn(rng, **settings):
    """A way to choose: draw each next word from the reshaped distribution."""

    def choose(log_p):
        sums = reshaped(log_p, **settings).cumsum(axis=-1)  # (n, V)
        return (sums < rng.random((len(sums), 1)) * sums[:, -1:]).sum(axis=-1)

    return choose


print(reshaped(np.log([[0.5, 0.25, 0.15, 0.1]]), top_p=0.8)[0], reshaped(np.log([[0.5, 0.25, 0.15, 0.1]]), temperature=0.5)[0])

# %% [markdown]
# **Predict.** Top-p with p = 0.8, at the positions of 20 unseen captions. How often does it leave a single word, so that drawing *is* greedy?
#
# - (a) never
# - (b) at about one position in ten
# - (c) at about half of the positions
#
# <details><summary>Answer</summary>
#
# **(b)** It leaves one word wherever the best word alone has 0.8 or more. Elsewhere it leaves up to hundreds. Top-k leaves k everywhere, apart from ties.
#
# </details>

# %%
sizes = {caption: (reshaped(next_words(caption), top_p=0.8) > 0).sum(axis=-1) for caption in record["captions"]}
every = np.concatenate(list(sizes.values()))
print(f"{len(every)} positions: one word left at {np.mean(every == 1):.0%}, median {np.median(every):.0f}, most {every.max()}")

# %% tags=["drawing"]
shown = max((caption for caption in sizes if len(caption.split()) < 16), key=lambda caption: np.ptp(np.log(sizes[caption])))
figure, ax = plt.subplots(figsize=(9.2, 2.9))
places = range(len(sizes[shown]))
ax.bar(places, sizes[shown], color=diagrams.PALETTE["key"], hatch="//", label="top-p, p = 0.8")
ax.axhline(20, color=diagrams.PALETTE["accent"], linestyle="--", label="top-k, k = 20")
ax.set(yscale="log", ylabel="words left to draw from", xlabel="true next word", ylim=(0.7, 1500))
ax.set_xticks(places, [*shown.split(), "[end]"], rotation=35)
ax.legend()
plots.show(
    figure,
    alt=f"""The nucleus is one word where the model is sure and hundreds where it is not; top-k is the same everywhere. For each position of one unseen caption ({shown}; of those under 16 words, the one in which the number varies most) a bar shows how many words top-p keeps with p = 0.8, on a logarithmic axis: {", ".join(map(str, sizes[shown]))}. A dashed line marks the 20 words of top-k.""",
)


# %% [markdown]
# Now let it write. All captions start with the start token, a drawn word is read in the next step, and a caption is over at its end token.

# %%
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


greedy, greedy_log_p = write(model, 1, lambda log_p: log_p.argmax(axis=-1))
print("greedy:", text(greedy[0]))
for settings in ({"temperature": 0.5}, {}, {"top_p": 0.9}, {"temperature": 1.5}):
    print(settings or "temperature 1, all words")
    for ids in write(model, 3, drawn(np.random.default_rng(0), **settings))[0]:
        print("   ", text(ids))

# %% [markdown]
# Captions at low temperature resemble each other; at high temperature they are varied and lose their grammar. To measure this, compute the share of their four-word strings that occurs in training (*known* strings), and how many of 150 captions differ from each other. *The base rate matters*: in unseen captions
# written by people, 38 % of the strings are known.

# %% tags=["drawing"]
known = record["unseen, known strings of four words"]
temperatures = [float(name) for name in next(iter(seeds.values()))["settings"]["all words"]]
figure, panels = plt.subplots(1, 2, figsize=(10, 3.3))
for ax, what, label in zip(panels, ("known", "different captions"), ("strings of four words that training held", "different captions among 150"), strict=True):
    for line, cut in enumerate(next(iter(seeds.values()))["settings"]):
        runs = [[setting[what] for setting in run["settings"][cut].values()] for run in seeds.values()]
        plots.measured_curve(temperatures, runs, label=cut, line=line, ax=ax)
    ax.set(xlabel="temperature", ylabel=label, ylim=(-0.03, 1.05))
panels[0].axhline(known, color=diagrams.PALETTE["ink"], linewidth=1)
panels[0].text(0.25, known - 0.07, "people", fontsize=9)
panels[1].get_legend().remove()
plots.show(
    figure,
    alt="""Cold captions repeat what training held, hot ones hardly hold a known string; people lie between. Left, the share of strings of four words that occur in training, by temperature, for all words, top-k 20 and
top-p 0.9, with the share in captions written by people as a line; all curves fall. Right, the share of different captions among 150: all curves rise, from 0.37 to 0.62 at 0.25 to 1 from 0.75 on. One model.""",
)

# %% [markdown]
# At temperature 1 drawn captions are *less* familiar than those of people, 21 against 38 %. With top-p 0.9 it is 35 %, and with top-k 51 % ([evidence](evidence/08.ipynb#caption-model)); only the cut has changed. Hence much of the difference comes from the improbable words that a cut removes. Without a cut, the curve crosses the line of the people between 0.75 and 1. (The share measures how familiar a text is, not how good.)
#
# **Temperature and cuts trade strange text for repeated text; compare the result with what people write.**

# %% [markdown]
# <a id="beam"></a>
#
# ## 2 · Beam search: the most probable sentence
#
# Greedy takes the best *word* each time. That need not lead to the best *sentence*. **Beam search** keeps the k best *beginnings*: each is continued by every word, and the k
# best of all these stay. With k = 1 it is greedy. For an example, take a language whose sentences have two words.

# %% [markdown]
# **By hand.** Do not move the slider below yet. “a” has the probability $p$; “the” gets 0.8 of the rest and “my” the remaining 0.2. After “a” the best word is “dog” with 0.4, after “the” it is “dog” with 0.9. For which $p$ does greedy search miss the most probable sentence?
#
# <details><summary>Answer</summary>
#
# Greedy begins with “a” as soon as $p > 0.8\,(1 - p)$, from 0.444 on, and writes “a dog” with $0.4\,p$. “the dog” has $0.9 \cdot 0.8\,(1 - p) = 0.72\,(1-p)$; that is more as long as $p$ is below 0.72/1.12 = 0.643. So between 0.444 and 0.643 greedy misses
# the most probable sentence, and a beam of 2 finds it.
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
# A wider beam is no guarantee either: it can drop the beginning of the best sentence. But there is an exact search. A beginning never *gains* probability by a further word. So always continue the most probable beginning of all: once it is a
# finished sentence, none is more probable (Dijkstra, 1959).

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
# **Predict.** You run a beam of 64 and the exact search. Does the beam find the most probable caption? And how does log p of the best caption compare with that of the captions which the model draws?
#
# <details><summary>Answer</summary>
#
# No. The beam of 64 finds “a group of people walking down the street .” with −10.46, and the exact search finds “a man .” with −8.77. Drawn captions have about −40 on average, and the best of 300 stays below both.
#
# </details>

# %%
for width in (1, 4, 16, 64):
    ids, log_p = captions.beam(model, width)
    print(f"beam {width:2}: log p {log_p:7.2f}  {text(ids)}")
ids, best_log_p, continued = most_probable(model, limit=log_p)
print(f"exact:   log p {best_log_p:7.2f}  {text(ids)}   ({continued:,} beginnings continued)")
drawn_ids, drawn_log_p = write(model, 300, drawn(np.random.default_rng(1)))
lengths = (drawn_ids != END).sum(axis=1)  # with the start and without the end: as many as with the end alone
print(f"drawn:   log p {drawn_log_p.mean():7.2f} on average, {drawn_log_p.max():.2f} at most; a token {np.mean(drawn_log_p / lengths):.2f}, in the exact one {best_log_p / (len(ids) - 1):.2f}")

# %% tags=["drawing"]
people = np.array(record["log p of the unseen captions"])
figure, ax = plt.subplots(figsize=(7.6, 3))
bins = np.arange(-120, 1, 5)
for line, (values, name) in enumerate(((people, f"{len(people)} captions of people"), (drawn_log_p, "300 drawn captions"))):
    ax.hist(values, bins, weights=np.full(len(values), 1 / len(values)), histtype="step", linewidth=2, color=plots.LINES[line]["color"], linestyle=plots.LINES[line]["linestyle"], label=name)
ax.axvline(best_log_p, color=diagrams.PALETTE["value"], linewidth=2)
ax.annotate("the most\nprobable", (best_log_p, 0.1), xytext=(5, 0), textcoords="offset points", fontsize=9)
ax.set(xlabel="log p of the whole caption", ylabel="share")
ax.legend(loc="upper left")
plots.show(
    figure,
    alt=f"""The most probable caption lies far from all typical ones. Two histograms of log p of whole captions, those of people and those that the model draws, both broad with means of {people.mean():.0f} and {drawn_log_p.mean():.0f}; a vertical line at {best_log_p:.1f}, to the right of every one of them, marks the most probable caption.""",
)

# %% [markdown]
# The most probable caption is “a man .”. It is more probable than each of 300 drawn captions and each of 693 captions of people. *Per token*, too, it is more probable than a drawn caption: −2.2 against −3.2. Among the captions found by search it is the least probable per token (greedy −1.2, beam of 64 −1.0), and wins by its length alone. The drawn captions are the control: they come from the model itself, so the distance is not just the model misjudging people.
#
# How can the most probable caption be so rare? Its probability is $e^{-8.77}$: it is drawn once in 6,400 captions. A typical caption has about $e^{-40}$, but there are so many of them that together they get nearly all of the probability. Translators show the same: the exact best translation is the *empty* one for more than half of a test set (Stahlberg and Byrne, 2019). Here, too, a wider search writes a shorter caption: a beam of 4 writes 13 tokens, one of 64 writes 10, and the exact search 4. A length penalty divides log p by a number that grows with the length; with it the beam of 4 writes 15 ([evidence](evidence/08.ipynb#length-penalty)).
#
# **The most probable sentence is not a typical one: to see typical sentences, draw.**

# %% [markdown]
# <a id="cache"></a>
#
# ## 3 · The key–value cache
#
# How can one call read only *one* word? With the look-ahead mask of lecture 8 no later token changes the keys and values of an earlier one. So the model keeps them, in the **key–value cache**. Each step makes one query, one new key and one new value in every block, and
# attends to what is stored. Find the line in `PlainCaptionModel`. Queries are not kept, because each is used only once.

# %% [markdown]
# **Predict.** A text of 7 tokens is written. How many scores does one head compute in all steps together, with the cache, and without it, when each step runs the whole text so far?
#
# <details><summary>Answer</summary>
#
# With the cache step t computes one row of t scores: 1 + 2 + 3 + 4 + 5 + 6 + 7 = 28. Without it step t computes t² scores: 1 + 4 + 9 + 16 + 25 + 36 + 49 = 140.
#
# </details>

# %%
rates = recorded.load("language_model")["results"]["tokens per processor second"]
for name, each in rates.items():
    print(f"{name:10}", ", ".join(f"{tokens} tokens: {rate:.0f} a processor second" for tokens, rate in each.items()))

# %% [markdown]
# These rates are recorded with the larger model of section 1. At 512 tokens the cache makes writing more than 4 times as fast; at 32 tokens it gains almost nothing. The logits differ by at most 0.0000024, which is rounding ([evidence](evidence/08.ipynb#language-model)). The price is memory. For one text of t tokens the cache holds this many numbers:
#
# $$2 \cdot L \cdot G \cdot K \cdot t$$
#
# where G is the number of heads that have keys and values. So far G = H. In **grouped-query attention**, GQA, several query heads share one key head and its values (Ainslie et al., 2023); with G = 1 it is *multi-query* attention (Shazeer, 2019). Head $h$ reads the keys of group $\lfloor h\,G/H \rfloor$.

# %% [markdown]
# **By hand.** Llama 2 with 70 billion parameters has L = 80, H = 64, K = 128 and G = 8, and reads 4,096 tokens (Touvron et al., 2023). How large is the cache of one text, with two bytes a number? How large would it be with G = H?
#
# <details><summary>Answer</summary>
#
# One token takes 2 · 80 · 8 · 128 = 163,840 numbers, so 327,680 bytes, and 4,096 tokens take 1.34 GB. With 64 instead of 8 heads it is eight times as much, 10.7 GB for each text that is being written.
#
# </details>

# %%
for groups in (64, 8, 1):  # G; the layer is 16 times narrower than Llama's, with the same heads
    layer = layers.GroupQueryAttention(head_dim=8, num_query_heads=64, num_key_value_heads=groups, use_bias=False)
    layer.build((1, 1, 512), (1, 1, 512))
    cache_bytes = 2 * 80 * groups * 128 * 4096 * 2
    print(f"G = {groups:2}: Llama's cache {cache_bytes / 1e9:5.2f} GB; parameters of the small layer {layer.count_params():,}")


# %% [markdown]
# Layer and cache both become smaller, since there are fewer keys and values. Queries and scores are as many as before: each step stores and reads less, but computes as many scores. Ainslie et al. report a quality near that of G = H, at a speed near that of G = 1.
#
# **A cache trades memory for time, and changes nothing but rounding; fewer key heads make it smaller.**

# %% [markdown]
# <a id="families"></a>
#
# ## 4 · Three families
#
# Three families of models are built from the same parts. Change one input token and see which outputs move, in one untrained block of each family. (For decoder-only we take the attention alone: nothing else mixes tokens.)

# %% tags=["drawing"]
def influence(function, x):
    """Which output token (row) moves when an input token (column) of (1, S, D) is pushed: (T, S), True or False."""
    length = x.shape[1]
    copies = np.repeat(x, length + 1, axis=0)  # in copy s token s is pushed; the last copy stays
    copies[range(length), range(length)] += 1 + np.arange(x.shape[-1])
    outputs = np.asarray(function(copies))  # (S + 1, T, D)
    return np.abs(outputs[:-1] - outputs[-1]).max(axis=-1).T > 1e-4


encoder, decoder, causal = PostNormEncoderBlock(16, 2, 32), PlainDecoderBlock(16, 2, 32), layers.MultiHeadAttention(2, 8)
everything = np.ones((1, 1, 1), bool)
families = {
    "encoder-only": lambda x: encoder(x, everything),
    "decoder-only": lambda x: causal(query=x, value=x, use_causal_mask=True),
    "encoder–decoder": lambda x: decoder(x[:, 4:], encoder(x[:, :4], everything), everything),
}

# %% tags=["drawing"]
figure, panels = plt.subplots(1, 3, figsize=(9.6, 3.1))
for ax, (name, function) in zip(panels, families.items(), strict=True):
    seen = influence(function, np.random.default_rng(0).normal(size=(1, 8, 16)).astype("float32"))
    plots.matrix_map(seen, mask=seen, limits=(0, 1.6), values=False, title=name, ax=ax)
    labels = [f"s{i}" for i in range(4)] + [f"t{i}" for i in range(4)] if "–" in name else [f"{i}" for i in range(8)]
    ax.set(xlabel="input token", ylabel="output token" if ax is panels[0] else "")
    ax.set_xticks(range(8), labels)
    ax.set_yticks(range(len(seen)), labels[-len(seen) :])
plots.show(
    figure,
    alt="""The families differ in who sees whom. Which output depends on which input, measured. Encoder-only: everything on everything. Decoder-only: a lower
triangle. Encoder–decoder: every target token on all four source tokens and on the target tokens up to itself.""",
)

# %% [markdown]
# | family | trained to | examples | good for |
# |---|---|---|---|
# | encoder-only | fill in masked tokens | BERT (lecture 7) | classify, tag, embed |
# | decoder-only | predict the next token | GPT-2, Llama, our caption model | write; a source is the beginning of the text |
# | encoder–decoder | write a target for a source | Vaswani et al., 2017; T5 | translate, summarise |
#
# A **prefix mask** lies between the last two: open among the source tokens, a triangle after them (Raffel et al., 2020, compare it with both).
#
# What changes from field to field is what a token is: amino acids (Jumper et al., 2021), short windows of a spectrogram (Radford et al., 2023), states and actions (Chen et al., 2021), patches of an image (lecture 9). A Transformer can read them all, but it need not be the best model: on nine sets of time series linear models forecast better than the Transformers of the time
# (Zeng et al., 2023; more fields in the [evidence](evidence/08.ipynb#fields)).
#
# **The three families are built from the same parts; they differ in who may see whom.**

# %% [markdown]
# <a id="alignment"></a>
#
# ## 5 · Where it looks, and what chance would give
#
# The weights of the cross-attention say, for each token written, where in the source the decoder looks: an alignment, as in [lecture 1](01_attention_intuition.ipynb). Take lecture 8's date translator. Single maps prove little, so take the mean over heads, blocks and dates (1,000 unseen dates, if written correctly; recorded, three seeds). Which share of their weight do the digits of year, month and day put on their own part of the source?

# %% tags=["drawing"]
dates = recorded.load("date_alignment")["results"]
own = {"year": slice(0, 4), "month": slice(4, 6), "day": slice(6, 8)}
share = {part: np.array([np.array(run["shares"])[:, rows, dates["parts"].index(part)].mean() for run in dates["seeds"].values()]) for part, rows in own.items()}  # (seeds,)
equal = {part: np.mean([run["equal"][dates["parts"].index(part)] for run in dates["seeds"].values()]) for part in own}

# %%
print("digits of the   weight on their part, by seed   equal weights   ratio")
for part in own:
    print(f"{part:15} {'  '.join(f'{each:.0%}' for each in share[part]):31} {equal[part]:13.0%}   {share[part].mean() / equal[part]:.1f}")

# %% tags=["drawing"]
figure, (left_ax, right_ax) = plt.subplots(1, 2, figsize=(9, 2.9))
for ax, values in ((left_ax, share), (right_ax, {part: share[part] / equal[part] for part in own})):
    for place, (part, each) in enumerate(values.items()):
        ax.bar(place, each.mean(), color=diagrams.PALETTE["key"], hatch="//")
        ax.plot([place] * len(each), each, "o", color=diagrams.PALETTE["ink"])
        if ax is left_ax:
            ax.plot([place - 0.45, place + 0.45], [equal[part]] * 2, color=diagrams.PALETTE["accent"], linewidth=3)
    ax.set_xticks(range(3), list(values))
right_ax.axhline(1, color=diagrams.PALETTE["accent"], linewidth=3)
left_ax.set(ylabel="weight on its own part", ylim=(0, 1))
right_ax.set(ylabel="divided by equal weights")
plots.show(
    figure,
    alt="""Each part gets more weight than equal weights would give, and the year, with the largest share, has the smallest ratio. Left, the share of the weight that the digits of year, month and day put on their own part of the source, with a line at what equal weights would give: the year has the largest share and the highest line. Right, the shares divided by these lines: month and day are above the year, and all are above 1. Dots are three seeds.""",
)


# %% [markdown]
# By the shares alone the order is year, day, month. But half of all source tokens belong to the year, so equal weights would put half of the weight there. Divided by its base rate, each share is above 1, with each of three seeds. The ratios do not rank the parts: no share exceeds 1, so the year's ratio can reach 1.9 at most, the month's 7.2. On real sentences, where the next word is a colour, recurrent translators put 0.45 to 0.82 of the weight on that colour in the source, and equal weights would put 0.07 there
# ([evidence](evidence/08.ipynb#recurrent)).
#
# Even a large ratio does not make a weight a cause. The memory vectors are mixtures, since the encoder's self-attention came first ([lecture 1b](01b_visual_attention.ipynb) tests maps by deletion).
#
# **An attention map says something only beside what equal weights would give.**

# %% [markdown]
# <a id="bleu"></a>
#
# ## 6 · BLEU
#
# How good is a translation? Take the strings of n words in the output. Which share $p_n$ of them occurs in the reference? A string counts at most as often as it occurs there. **BLEU** (Papineni et al., 2002) is the geometric mean of $p_1$ to $p_4$, times a penalty if the output (c tokens) is shorter than the reference (r tokens). The counts are summed over all sentences first:
#
# $$\text{BLEU} = \min\left(1,\ e^{1 - r/c}\right) \cdot \left(p_1\, p_2\, p_3\, p_4\right)^{1/4}$$
#
# The output “the the cat” with the reference “the cat sat” has $p_1 = 2/3$, since “the” counts once, and $p_2 = 1/2$.

# %%
def bleu(outputs, references, split):
    """BLEU of a corpus, 0 to 100; `split` turns a text into tokens."""
    hits, grams, lengths = np.zeros(4), np.zeros(4), np.zeros(2)
    for pair in zip(outputs, references, strict=True):
        tokens = [split(text) for text in pair]
        lengths += [len(each) for each in tokens]
        for n in range(4):
            mine, theirs = (Counter(zip(*(each[i:] for i in range(n + 1)), strict=False)) for each in tokens)
            hits[n], grams[n] = hits[n] + (mine & theirs).total(), grams[n] + mine.total()
    return 100 * min(1, np.exp(1 - lengths[1] / lengths[0])) * np.exp(np.log(hits / grams).mean())


translations = recorded.load("multi30k")["results"]
shown = [line for run in translations["seeds"].values() for line in run["examples"]]
pairs = [[line[name] for line in shown] for name in ("beam 4", "german")]
splits = {"at spaces": str.split, "punctuation apart": lambda text: text.replace(",", " ,").replace(".", " .").split()}
splits["punctuation apart, lower case"] = lambda text: splits["punctuation apart"](text.lower())
for name, split in splits.items():
    print(f"the same {len(shown)} translations, split {name:30} BLEU {bleu(*pairs, split):.1f}")
for name in ("greedy", "beam 4"):
    print(f"test_2016_flickr, {name:7}", ", ".join(f"{run['bleu'][name]:.1f}" for run in translations["seeds"].values()), "with seeds 1, 2, 3")
print("signature:", translations["signature"])

# %% [markdown]
# The same 15 translations (of five captions, with three seeds) gain 1.3 BLEU when punctuation is split off; lower case adds nothing here. Post (2018) finds differences of up to 1.8 between common settings. The tool sacreBLEU therefore fixes these choices, and writes them into a **signature**: *case:mixed* says that case counts, *tok:13a* how words were split.
#
# The model is the English–German Transformer of lecture 8, section 4. With each of three seeds a beam of 4 with the length penalty is ahead of greedy search, by 0.4 to 0.9 BLEU.  The record does not tell the two apart.
#
# **A BLEU is comparable only with the same test set, the same splitting and the same case: its signature.**

# %% [markdown]
# ## Two mistakes
#
# **The logits are multiplied by the temperature.** What should become sharper becomes flatter. There is no error message.

# %%
four = np.log([0.5, 0.25, 0.15, 0.1])
print("temperature 0.5, divided:", softmax(four / 0.5), " multiplied:", softmax(four * 0.5))

# %% [markdown]
# **Every new token gets position 0.** With a cache each call sees one token, and its position has to be counted by hand.

# %%
wrong = PlainCaptionModel(weights | {"positions": np.repeat(weights["positions"][:1], 64, axis=0)})
print("positions counted:", text(greedy[0]), f"({greedy_log_p[0]:.1f})")
ids, _ = write(wrong, 1, lambda log_p: log_p.argmax(axis=-1))
print("always position 0:", text(ids[0]))

# %% [markdown]
# ## Four questions
#
# <details><summary>1. Top-p with p = 0.9 on a distribution whose best word has 0.95. How many words are left? And with top-k, k = 20?</summary>
#
# One, so it is greedy there. Top-k leaves 20, of which 19 share at most 0.05.
#
# </details>
#
# <details><summary>2. “Beam search finds the most probable sentence.” What is wrong?</summary>
#
# It can drop the beginning of the best one. Section 2 has an example with a beam of 64.
#
# </details>
#
# <details><summary>3. You add a sixth token to a cached text of five. Which stored keys have to be computed again?</summary>
#
# None. The look-ahead mask guarantees that earlier tokens never see the sixth.
#
# </details>
#
# <details><summary>4. A map puts 60 % of the weight on the noun. Is that a finding?</summary>
#
# It depends on the share of the tokens that belong to the noun. If these are half of the source, equal weights would give 50 %.
#
# </details>
#
# ## Summary
#
# | piece | remember |
# |---|---|
# | temperature, top-k, top-p | strange text against repeated text; top-p keeps as many words as it needs |
# | beam, exact search | only the exact search is sure to find the most probable sentence, which is not a typical one |
# | cache | 2 · L · G · K numbers a token; GQA makes G smaller than H |
# | families | told apart by who sees whom |
# | alignment | divide by equal weights |
# | BLEU | only with its signature |
#
# Write both searches, the nucleus and the cache yourself in [lab 8b](../labs/08b_generating_text/08b_generating_text.ipynb). Then images become sentences of patches, in [lecture 9](09_vision_transformer.ipynb).
#
# **A model gives probabilities; how you choose among them makes the text.**
#
# ## References
#
# * A. Holtzman et al., *The curious case of neural text degeneration*, ICLR 2020 (top-p). A. Fan et al., *Hierarchical neural story generation*, ACL 2018 (top-k).
# * E. W. Dijkstra, *A note on two problems in connexion with graphs*, Numerische Mathematik 1, 1959. F. Stahlberg, B. Byrne, *On NMT search errors and model errors: cat got your tongue?*, EMNLP 2019. Y. Wu et al., *Google's neural machine translation system*, 2016, arXiv:1609.08144 (length penalty).
# * J. Ainslie et al., *GQA: training generalized multi-query Transformer models from multi-head checkpoints*, EMNLP 2023. N. Shazeer, *Fast Transformer decoding: one write-head is all you need*, 2019, arXiv:1911.02150. H. Touvron et al., *Llama 2*, 2023, arXiv:2307.09288.
# * C. Raffel et al., *Exploring the limits of transfer learning with a unified text-to-text Transformer*, JMLR 21, 2020 (T5). A. Vaswani et al., *Attention is all you need*, NeurIPS 2017.
# * J. Jumper et al., *AlphaFold*, Nature 596, 2021. A. Radford et al., *Robust speech recognition via large-scale weak supervision*, ICML 2023. L. Chen et al., *Decision Transformer*, NeurIPS 2021. A. Zeng et al., *Are Transformers effective for time series forecasting?*, AAAI 2023.
# * D. Elliott et al., *Multi30K*, Workshop on Vision and Language 2016. K. Papineni et al., *BLEU*, ACL 2002. M. Post, *A call for clarity in reporting BLEU scores*, WMT 2018.
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# **Symptoms.** It never stops: no end token in the training targets. One token for ever: the last word is not read in the next step. Greedy and beam 1 differ: one of them treats the end differently.
#
# **Slow machine:** 100 captions instead of 300 in section 2. **GPU:** not used; NumPy writes the captions.
#
# **More.** P. von Platen, [*How to generate text*](https://huggingface.co/blog/how-to-generate): the same decoders on GPT-2. A. Karpathy, [*nanoGPT*](https://github.com/karpathy/nanoGPT). Stanford [*CS336*](https://stanford-cs336.github.io/), assignment 1.
#
# </details>

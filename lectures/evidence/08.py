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
# # Evidence for lecture 8
#
# The runs behind single lines of [lecture 8](../08_decoder_and_masking.ipynb), and what the lecture leaves to look up.

# %% tags=["setup"]
from unittest import mock

from coursekit import quiet

quiet.start_tensorflow()  # keeps its start-up messages out of the notebook

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from scipy.special import rel_entr, softmax, xlogy

from coursekit import date_translator, diagrams, live, plots, recorded, scenes
from coursekit.data.published_models import is_here
from coursekit.pages.decoder_and_masking import plain_transformer
from coursekit.pages.smollm2 import PlainSmolLM2, numbers_and_tokens

plots.use_course_style()
leaks = recorded.load("decoder_leak")
print(leaks["what"], "|", leaks["date"], "|", leaks["device"], "|", f"{leaks['seconds'] / 60:.0f} processor minutes")
print("repeat with:", leaks["command"])
runs = leaks["results"]

# %% [markdown]
# <a id="leak"></a>
#
# ## A model without the mask copies
#
# **Claim.** Without the look-ahead mask the model is perfect while it reads the target, and writes no date correctly alone. In the last epoch its loss is 0.001 above the floor of 0.661, with the mask 0.009 to 0.017; in the first epoch it is a little higher, with each seed. It copies the third and each later digit in 91 to 100 % of the dates, the second in 18 to 53 % and the first in 7 to 17 %. **Changed:** the mask alone; start, lines and rates are equal. **Runs:** three seeds (8, 1, 2), 5 epochs on 12,299 lines; the share of dates on 3,701 unseen ones, the false digits on 1,000. **Base rate:** the model with the mask cannot see the false digit, and predicts it in at most 0.4 % of the dates. Where its mask is taken away, its own good weights write 0 to 14.6 % of the dates: that varies with the seed.
#
# **What it does not show:** more of the seeds than the range of three, where copying begins in another task, and why the first two digits are copied less.

# %%
print("trained    used      seed   reads the target   writes alone   first line written")
for trained in ("mask", "no mask"):
    for used in ("mask on", "mask off"):
        for seed, run in runs.items():
            cell = run[trained][used]
            print(f"{trained:10} {used:9} {seed:>4} {cell['reading']:18.2%} {cell['alone']:14.2%}   {cell['first line written']}")
print("\nfalse digit predicted, by the digit it stands for: Y1 Y2 Y3 Y4 M1 M2 D1 D2")
for trained in ("mask", "no mask"):
    for seed, run in runs.items():
        print(f"{trained:10} seed {seed}: " + " ".join(f"{share:6.1%}" for share in run[trained]["copied"]))
for trained in ("mask", "no mask"):
    for seed, run in runs.items():
        print(f"loss by epoch, {trained:8} seed {seed}: " + " ".join(f"{loss:.3f}" for loss in run[trained]["losses"]))

# %% [markdown]
# <a id="without-mask"></a>
#
# ## SmolLM2 without its mask
#
# **Claim.** Without its mask a token of the caption costs SmolLM2 1.2 nats instead of 5.8, a token of a module's first words 2.0 instead of 3.9, a random token 11.7 instead of 14.6. With 13 induction heads switched off it costs more than with any of five draws of 13 others: 1.8 against at most 1.7, 6.6 against at most 3.6, 13.9 against at most 12.2. **Changed:** the mask alone (`np.tri` gives ones); weights, tokens and positions are the same. **Controls:** random tokens, which nobody can guess; 13 induction heads (those of [lecture 3b](../03b_reading_heads.ipynb): the largest weight on what followed the earlier copy of 64 random tokens) switched off, against five draws of 13 other heads of the same blocks.
#
# **What it does not show:** that these heads do it alone. In the caption, with eight tokens to predict, the difference to the other draws is small.

# %%
if is_here("smollm2"):
    numbers, tokens = numbers_and_tokens()
    model = PlainSmolLM2(numbers)
    everything = mock.patch.object(np, "tri", lambda rows, columns, *_, **__: np.ones((rows, columns), bool))
    twice = np.tile(np.stack([np.random.default_rng(seed).integers(17, 49_152, 64) for seed in range(2)]), 2)
    model(twice[:, :-1])
    copying = np.array([np.diagonal(weights, -63, 2, 3)[..., 1:].mean(axis=(0, 2)) for weights in model.weights])  # (30, 9)
    induction = [divmod(int(place), 9) for place in np.argsort(-copying, axis=None)[:13]]
    others = [(block, head) for block in range(17, 25) for head in range(9) if (block, head) not in induction]
    rng = np.random.default_rng(0)
    draws = [[others[place] for place in rng.choice(len(others), 13, replace=False)] for _ in range(5)]

    def nats(ids, off=()):
        log_p, _ = model([ids[:-1]], off=off)
        return float(-log_p[0, range(len(ids) - 1), ids[1:]].mean())

    texts = {"the caption": tokens.encode(scenes.CAPTION), "32 random tokens": np.random.default_rng(0).integers(17, 49_152, 32)}
    texts |= {"the first words of a module": tokens.encode(diagrams.__doc__)}
    for name, ids in texts.items():
        print(f"{name}, {len(ids)} tokens: with the mask {nats(ids):.2f} nats", end=", ")
        with everything:
            print(f"without {nats(ids):.2f}", end=", ")
            ahead = np.array([np.diagonal(weights[0], 1, 1, 2).mean(axis=1) for weights in model.weights])  # (30, 9)
            most = [divmod(int(place), 9) for place in np.argsort(-ahead, axis=None)[:13]]
            print(f"weight of 18.6 on the next token {ahead[18, 6]:.2f}, of the 13 with most {len(set(most) & set(induction))} are induction heads", end=", ")
            print(f"induction heads off {nats(ids, induction):.2f}, others off", *[f"{nats(ids, draw):.2f}" for draw in draws])
else:
    print("SmolLM2 is not here, so this cell is left out.")

# %% [markdown]
# <a id="exposure"></a>
#
# ## What a model's own mistakes cost, and a stress test with false digits
#
# **Claim, own mistakes.** After its own prefixes the model writes 24 to 164 wrong tokens, after correct ones 13 to 78; the difference is 0.03 to 0.26 % of all tokens. Just after its first own mistake the next token is wrong in 104 of 131 dates, after the correct token in none of them. **Changed:** the prefix alone; model, line and position are the same. **Runs:** the three seeds below, 3,701 unseen dates of 9 tokens. Whole dates cannot show the effect: a first mistake spoils the date in either case, so both ways get the same dates right.
#
# **Claim, stress test.** After one false digit in the prefix the next digit is correct in 43 to 45 % of the cases, and in 99 % after a training with a tenth of false digits. Inside the year, the month and the day the share is lower (6.4 to 60.5 %) than where the next field begins (76 to 86 %). **Changed:** a tenth of the digits that the decoder reads in training is replaced by other digits, once before training. **Runs:** the same three seeds; 1,000 unseen lines with a
# false digit at each of eight positions.
#
# **Base rate:** after correct prefixes more than 99 % of the digits are correct, with either training. **What it does not show:** more of the seeds than their range, how the model uses its prefix, and what exposure bias costs in free text, where no source says what comes next.

# %%
for seed, run in runs.items():
    own = run["mask"]["own mistakes"]
    print(f"seed {seed}: wrong tokens {own['wrong']}, just after the first own mistake {own['wrong next']} of {own['dates']}", end=", ")
    print(f"anywhere behind it {own['wrong behind']} of {own['tokens behind']}")
for name in ("mask", "mask, corrupted prefixes"):
    for seed, run in runs.items():
        hurt = run[name]["after a false digit"]
        right = " ".join(f"{hurt[t][t + 1]:6.1%}" for t in range(8))
        print(f"{name:25} seed {seed}: Y1→Y2 … D2→end {right}   alone {run[name]['mask on']['alone']:.2%}")

# %% [markdown]
# <a id="smoothing"></a>
#
# ## Label smoothing, drawn
#
# With a one-hot target the loss falls as long as the gap grows between the correct logit and the others. With label smoothing it has a smallest value, the floor, at a finite gap: there the softmax gives the correct token $1 - \varepsilon + \varepsilon/V$. Here all other logits are equal.

# %% tags=["drawing"]
V = date_translator.V
figure, ax = plt.subplots(figsize=(6.5, 3.1))
gaps = np.linspace(0, 12, 121)  # by how much the correct logit exceeds the others
log_sum = np.log(np.exp(gaps) + V - 1)  # of the exponentials of all logits
for line, epsilon in enumerate((0.0, 0.1)):
    losses = log_sum - (1 - epsilon + epsilon / V) * gaps
    ax.plot(gaps, losses, label=f"ε = {epsilon}", markevery=10, **plots.LINES[line])
    print(f"ε = {epsilon}: smallest loss {losses.min():.3f} at a gap of {gaps[losses.argmin()]:.1f}")
ax.set(xlabel="correct logit minus the others", ylabel="loss", ylim=(0, 4))
ax.legend()
plots.show(
    figure,
    alt="""With label smoothing too much certainty costs. Loss against the gap between the correct logit and the others. Without smoothing it falls towards 0;
with smoothing 0.1 it has its minimum, the floor of 0.661, near a gap of 5.8, and rises again.""",
)

# %% [markdown]
# <a id="captions"></a>
#
# ## English captions to German
#
# **Claim.** A larger Transformer (pre-norm, with dropout, word pieces and a vocabulary of 5,701) translates real captions with 35 to 36 BLEU. **Runs:** three seeds, 12 epochs on 29,000 pairs of Multi30k (Elliott et al., 2016), 1,000 test sentences. Greedy search, and a beam of 4 with the length penalty 0.6. The five sentences shown were chosen by their number before training; lecture 8 shows the one with two colours. What BLEU is stands below.
#
# **What it does not show:** long sentences, or other subjects than everyday photographs.

# %%
captions = recorded.load("multi30k")
print("repeat with:", captions["command"], "| sacreBLEU", captions["results"]["signature"])
for seed, run in captions["results"]["seeds"].items():
    print(f"seed {seed}: BLEU greedy {run['bleu']['greedy']:.2f}, beam 4 {run['bleu']['beam 4']:.2f}")


# %% [markdown]
# <a id="divergences"></a>
#
# ## Cross-entropy, KL and Jensen–Shannon
#
# Jensen–Shannon is half of KL(p‖m) and half of KL(q‖m), where m is the mean of p and q (Lin, 1991): symmetric, and never above ln 2 = 0.693. KL(q‖p) is infinite wherever a softmax gives probability to a word that p calls impossible.

# %%
def distances(p, q):
    """Cross-entropy, KL both ways and Jensen–Shannon of two distributions."""
    middle = (p + q) / 2
    shannon = (rel_entr(p, middle).sum() + rel_entr(q, middle).sum()) / 2
    return -xlogy(p, q).sum(), rel_entr(p, q).sum(), rel_entr(q, p).sum(), shannon


people = np.array([0.55, 0.2, 0.15, 0.07, 0.03, 0.0])
guess = np.zeros(6)
for _ in range(300):
    guess -= 0.3 * (softmax(guess) - people)
print("                 H(p,q)  KL(p‖q)  KL(q‖p)     JS")
for name, q in {"untrained": np.full(6, 1 / 6), "300 steps": softmax(guess), "target itself": people}.items():
    print(f"{name:14}" + "".join(f"{value:9.3f}" for value in distances(people, q)))

# %% [markdown]
# <a id="handout"></a>
#
# ## A table that no softmax made
#
# A row of probabilities that sums to more than 1 spends more than there is: every word looks cheaper than it is, and the loss is too small. Keras divides each row by its sum and reports another loss than the table says.

# %%
row = np.array([[0.02, 0.80, 0.10, 0.03, 0.03, 0.10]])
print("sum", row.sum(), " loss from the table", -np.log(row[0, 1]).round(4), end=" ")
print(" loss that Keras reports", float(keras.losses.sparse_categorical_crossentropy(np.array([1]), row)[0]))

# %% [markdown]
# <a id="schedule"></a>
#
# ## The paper's learning rate
#
# Equation 3 of the paper: $\text{rate}(\text{step})$ $= D^{-1/2} \cdot \min(\text{step}^{-1/2}, \text{step} \cdot W^{-3/2})$. The two terms are equal at step W, so the peak is $(D \cdot W)^{-1/2}$; after it the rate is $(D \cdot \text{step})^{-1/2}$, where W does not occur. Whether a warm-up is needed is
# measured in [lecture 4](../04_encoder_block.ipynb). Our training rises for 150 steps and falls to zero along a cosine.

# %%
for width, warm_up in ((512, 4000), (512, 8000), (256, 4000)):
    print(f"D = {width}, W = {warm_up:,}: peak {(width * warm_up) ** -0.5:.5f}")

# %% [markdown]
# **Predict.** Twice the warm-up, or twice the width: which of the two lowers the peak more? And which of them also lowers the rate of the last step? Move both.
#
# <details><summary>Answer</summary>
#
# Both divide the peak by √2. Only the width lowers the last step.
#
# </details>

# %%
live.warm_up()


# %% [markdown]
# <a id="base-model"></a>
#
# ## The base model of 2017, counted
#
# 6 + 6 blocks, D = 512, H = 8, F = 2,048, one table, here for a vocabulary of 29 words. Attention has 4(D² + D) numbers with biases and 4D² without, the feed-forward network 2DF + F + D, a norm 2D. The real base model also has a dropout of 0.1.

# %%
def counted(vocabulary, D, F, blocks, biases):
    attention, feed_forward, norm = 4 * (D * D + biases * D), 2 * D * F + F + D, 2 * D
    encoder, decoder = attention + feed_forward + 2 * norm, 2 * attention + feed_forward + 3 * norm
    return blocks * (encoder + decoder) + vocabulary * D


V = date_translator.V
print(f"the page's model by hand {counted(V, 48, 96, 2, True):,}, by Keras {plain_transformer(V).count_params():,}")
print(f"base model {counted(29, 512, 2048, 6, False):,} without biases in the attention", end=", ")
print(f"of which feed-forward and norms {12 * (2 * 512 * 2048 + 2048 + 512) + 30 * 1024:,}")


# %% [markdown]
# <a id="untracked"></a>
#
# ## A bare `tf.Variable` is never trained
#
# Keras 3 does not track a `tf.Variable` that a layer keeps. It takes part in the forward pass, no optimizer moves it, and no error is raised. Compare Keras's count with a count by hand.

# %%
class Bare(keras.Layer):
    def build(self, shape):
        self.tracked = self.add_weight(shape=(3,), initializer="ones")
        self.bare = tf.Variable(tf.ones(3))

    def call(self, x):
        return x * self.tracked * self.bare


layer = Bare()
model = keras.Sequential([keras.Input((3,)), layer])
model.compile(keras.optimizers.SGD(0.1), "mse")
model.fit(np.ones((8, 3)), np.zeros((8, 3)), epochs=3, verbose=0)
print("Keras counts", model.count_params(), "| tracked", np.round(layer.tracked, 2), "| bare", layer.bare.numpy())

# %% [markdown]
# # Evidence for lecture 8b
#
# The runs behind single lines of [lecture 8b](../08b_generating_text.ipynb), and what the lecture leaves to look up.

# %% tags=["setup"]
from collections import Counter

from keras import layers

from coursekit.pages.decoder_and_masking import PlainDecoderBlock
from coursekit.pages.post_norm import PostNormEncoderBlock

writer = recorded.load("caption_model")
print(writer["what"], "|", writer["date"], "|", writer["device"], "| repeat with:", writer["command"])
written = writer["results"]

# %% [markdown]
# <a id="caption-model"></a>
#
# ## What each way of choosing writes
#
# **Claim.** The most probable caption is more probable than each of 300 drawn captions and each of 693 captions of people, and a beam of 64 does not find it. **Changed:** the way of choosing; the model is the same. **Runs:** the seed below, 29,000 captions of Multi30k, 150 captions for each setting; words with fewer than five occurrences are unknown, and 693 of 1,000 unseen captions have no unknown word.
# "Known" is the share of strings of four words that occur in the training captions.
#
# **Base rate:** 38 % of the strings in captions of people are known. **What it does not show:** the spread of seeds (this is one), open text of other kinds, other sizes of model. The search is exact for the rounded weights of this model.

# %%
print(f"{written['parameters']:,} parameters, {written['words']:,} words; people: known {written['unseen, known strings of four words']:.1%}, {written['unseen, words']:.1f} words")
for seed, run in written["seeds"].items():
    print(f"seed {seed}: loss by epoch {run['training loss']}, perplexity {run['unseen']['perplexity']:.1f}")
    print(f"   mean log p: people {run['unseen']['mean log p']:.1f}, drawn {run['drawn']['mean log p']:.1f}, the largest of 300 {run['drawn']['largest log p']:.1f}")
    for name, found in run["searched"].items():
        print(f"   {name:18} log p {found['log p']:7.2f}, {found['tokens']:2} tokens: {found['text']}")
    for cut, settings in run["settings"].items():
        print(f"   {cut:15} known by temperature:", "  ".join(f"{t} {found['known']:.0%}" for t, found in settings.items()))

# %% [markdown]
# <a id="length-penalty"></a>
#
# ## The length penalty
#
# Log-probabilities are negative and add up, so a search prefers short sentences. The usual choice is to divide the sum by $\left(\frac{5 + n}{6}\right)^{\alpha}$ for n tokens (Wu et al., 2016). Vaswani et al. (2017) take $\alpha = 0.6$ with a beam of 4. Above, the beam of 4 is shown with three values of $\alpha$.

# %%
hypotheses = {"short, 3 tokens": (-2.0, 3), "long, 8 tokens": (-2.6, 8)}
for alpha in (0.0, 0.6, 1.0):
    ranked = {name: total / ((5 + n) / 6) ** alpha for name, (total, n) in hypotheses.items()}
    print(f"alpha {alpha}:", {name: round(value, 2) for name, value in ranked.items()}, "->", max(ranked, key=ranked.get))

# %% [markdown]
# <a id="language-model"></a>
#
# ## Counted words, and the cache of a larger model
#
# **Claim.** A decoder-only Transformer of 984,320 parameters has a lower perplexity than counted n-grams with the same words on the same test captions, and with its cache it does not slow down: 333, 384 and 424 tokens a processor second for texts of 32, 128 and 512 tokens, without it 316, 195 and 98. **Runs:** three seeds, eight epochs on the same captions with 4,590 words (`experiments/language_model.py`). Counting is best with 4-grams, which look at three words; 5-grams are worse.
#
# The **perplexity** is $e^m$, with m the mean of $-\ln p$ per token: a model that guesses among 24 equally probable words has 24.
#
# **What it does not show:** why the network is ahead; speed on a GPU; a comparison with lecture 8b's small model, whose 24.0 comes from fewer words (3,276) and from captions without unknown ones.

# %%
counted_words = recorded.load("language_model")["results"]
print("counted:    ", ", ".join(f"{order}-gram {value:.1f}" for order, value in counted_words["n-gram test perplexity"].items()))
print("Transformer:", ", ".join(f"seed {seed}: {run['test perplexity']:.1f}" for seed, run in counted_words["runs"].items()))
print("logits with the cache and without differ by at most", counted_words["largest difference of logits with and without cache"])

# %% [markdown]
# <a id="live"></a>
#
# ## Temperature, cuts and cache, to move
#
# **Predict.** Top-p with p = 0.9 leaves four words at temperature 1. How many does it leave at 0.5, and how many at 2?
#
# <details><summary>Answer</summary>
#
# Three at 0.5 and five at 2: top-p follows the temperature. Top-k does not.
#
# </details>

# %%
live.sampling(np.log([0.42, 0.24, 0.16, 0.1, 0.05, 0.03]), ["mat", "sofa", "floor", "roof", "moon", "idea"])

# %% [markdown]
# **Predict.** The sixth of seven tokens is written. How many keys are computed anew, how many come from the cache, and how many scores does one head compute with and without it?
#
# <details><summary>Answer</summary>
#
# One key is new and five are taken from the cache. With it the head computes one row of 6 scores, without it 6 · 6 = 36.
#
# </details>

# %%
live.cache("the cat sat on the mat .".split())

# %% [markdown]
# <a id="date-alignment"></a>
#
# ## Where the digits of a date look
#
# **Claim.** Year, month and day each get more of the weight than equal weights would give, and the ratio is smaller for the year. The ratio has a ceiling, 1 divided by the base rate: 1.9 for the year, 7.2 for the month, 4.5 for the day. So the ratios say that each part finds its own tokens, and do not rank the parts. **Runs:** three seeds, lecture 8's Transformer, 1,000 unseen dates of which those written correctly count (`experiments/date_alignment.py`). Mean over heads, blocks and the digits of a part.
#
# **What it does not show:** that these weights cause the digits. Memory vectors are mixtures, since the encoder's self-attention came first.

# %%
aligned = recorded.load("date_alignment")
print("repeat with:", aligned["command"])
for seed, run in aligned["results"]["seeds"].items():
    print(f"seed {seed}, {run['lines']} dates; equal weights:", dict(zip(aligned["results"]["parts"], run["equal"], strict=True)))
    for block, table in enumerate(run["shares"]):
        for field, row in zip(aligned["results"]["fields"], table, strict=True):
            print(f"   block {block + 1} {field:3}", "  ".join(f"{part} {share:.2f}" for part, share in zip(aligned["results"]["parts"], row, strict=True)))

# %% [markdown]
# Single maps prove little, so take the mean over heads, blocks and dates (1,000 unseen dates, if written correctly; recorded, three seeds). Which share of their weight do the digits of year, month and day put on their own part of the source?

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
# (below).
#
# Even a large ratio does not make a weight a cause. The memory vectors are mixtures, since the encoder's self-attention came first ([lecture 1b](../01b_visual_attention.ipynb) tests maps by deletion).
#
# An attention map says something only beside what equal weights would give.
#
# The mean over blocks hides where it happens: from the first block to the second the weight on the own part rises, for the year from 0.74–0.79 to 0.88–0.90, for the month from 0.13–0.26 to 0.37–0.45, for the day from 0.30–0.35 to 0.58–0.82 (three seeds).

# %% [markdown]
# <a id="bleu"></a>
#
# ## BLEU
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
# The model is the English–German Transformer of lecture 8, section 5. With each of three seeds a beam of 4 with the length penalty is ahead of greedy search, by 0.4 to 0.9 BLEU. Beam and penalty changed together, and the record does not tell the two apart.
#
# A BLEU is comparable only with the same test set, the same splitting and the same case: its signature.

# %% [markdown]
# <a id="families"></a>
#
# ## Three families
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
# (Zeng et al., 2023; more fields below).
#
# The three families are built from the same parts; they differ in who may see whom.

# %% [markdown]
# <a id="recurrent"></a>
#
# ## Recurrent translators and a Transformer, 40 processor seconds each
#
# The decoder of Bahdanau et al. (2015): the old state $s_{t-1}$ looks and gets the mixture $c_t$, then $s_t = \text{GRU}(s_{t-1}, [y_{t-1}; c_t])$. The order of Luong et al. (2015): first $s_t = \text{GRU}(s_{t-1}, y_{t-1})$, then $s_t$ looks, and $c_t$ goes to the output alone. Bahdanau's decoder must run step by step even in training.
#
# **Claim.** With the same additive score and equal processor seconds Luong's order is 5.7 BLEU ahead of Bahdanau's; with the general score it is behind. Where a colour is translated much of the weight lies on the colour: 0.45 to 0.82, against 0.07 with equal weights. **Changed:** the order of look and step, at equally many parameters; the other scores change two things at once. **Runs:** three seeds each, French to English, 29,000 pairs (`experiments/recurrent_translation.py`). **What it does not show:** which order is ahead after full training. All models, above all the Transformer, had seen at most one pass, and only two rates were tried, for Bahdanau's decoder, for Luong's with the general score and for the Transformer.

# %%
raced = recorded.load("recurrent_translation")["results"]
for name, mean in raced["mean BLEU"].items():
    runs_of = [run for run in raced["runs"] if run["kind"] == name]
    print(f"{name:15} {np.mean([run['passes'] for run in runs_of]):.2f} passes, BLEU {mean:.1f} (by seed: {', '.join(str(round(run['BLEU'], 1)) for run in runs_of)})")
for name, (difference, low, high) in raced["Bahdanau less"].items():
    print(f"Bahdanau minus {name:15}: {difference:+.1f} BLEU, 95 % of redrawn test sets from {low:+.1f} to {high:+.1f}")
for name, shares in raced["colours"]["weight"].items():
    print(f"weight on the colour, {name:15}", ", ".join(f"{share:.2f}" for share in shares), f"  equal weights {raced['colours']['equal weights']:.2f}")

# %% [markdown]
# Cheng et al. (2016) let a network that reads word after word look back at every word it has read, and called this *intra-attention*: the first attention of a decoder block does the same.
#
# <a id="fields"></a>
#
# ## Fields, and how large such models became
#
# What changes from field to field is what a token is: amino acids (Rives et al., 2021; Jumper et al., 2021), groups of DNA bases (Ji et al., 2021), windows of a spectrogram (Whisper, Radford et al., 2023), measurements of one time (Lim et al., 2021), rewards, states and actions (Chen et al., 2021), points in space (Zhao et al., 2021), word pieces whose answer is a first and a last position (questions about a text; Devlin et al., 2019), and words followed by the brackets of the parsed sentence (Vaswani et al., 2017, section 6.3).
#
# Among published dense models the number of parameters grew from 213 million (Vaswani et al., 2017) over 175 billion (Brown et al., 2020) to 540 billion (Chowdhery et al., 2023). From spring 2022 on the text grew instead: Hoffmann et al. (2022) trained 70 billion parameters on 1.4 trillion tokens, Llama 3.1 read 15.6 trillion (Grattafiori et al., 2024). Mixtures of experts and unpublished sizes are left out.
#
# ## References
#
# * J. Lin, *Divergence measures based on the Shannon entropy*, IEEE Transactions on Information Theory 37, 1991. D. Elliott et al., *Multi30K*, 2016.
# * D. Bahdanau, K. Cho, Y. Bengio, ICLR 2015. M.-T. Luong, H. Pham, C. Manning, EMNLP 2015. J. Cheng, L. Dong, M. Lapata, *Long short-term memory-networks for machine reading*, EMNLP 2016. Y. Wu et al., 2016, arXiv:1609.08144. R. Kneser, H. Ney, ICASSP 1995 (counted n-grams).
# * A. Rives et al., PNAS 118, 2021. J. Jumper et al., Nature 596, 2021. Y. Ji et al., *DNABERT*, Bioinformatics 37, 2021. A. Radford et al., ICML 2023. B. Lim et al., International Journal of Forecasting 37, 2021. L. Chen et al., NeurIPS 2021. H. Zhao et al., ICCV 2021. J. Devlin et al., NAACL 2019.
# * T. Brown et al., NeurIPS 2020. A. Chowdhery et al., *PaLM*, JMLR 24, 2023. J. Hoffmann et al., NeurIPS 2022. A. Grattafiori et al., 2024, arXiv:2407.21783.

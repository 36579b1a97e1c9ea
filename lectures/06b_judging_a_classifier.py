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
# # 6b · Judging a classifier
#
# **A difference between two models counts if it survives other reviews and other seeds.**
#
# [← 6 · A classifier that reads film reviews](06_imdb_classifier.ipynb) · [Lab
# 6](../labs/06_imdb_classifier/06_imdb_classifier.ipynb) · [7 · BERT on AG News →](07_bert_ag_news.ipynb)
#
# > Two linear models classify film reviews. One counts words and pairs, and is correct on 0.904 of 4,596 reviews; the other counts words alone: 0.888. Chance alone moves either number by ±0.009.
#
# So the 95 % interval of the first is 0.895 to 0.913, that of the second 0.879 to 0.897: the margins overlap. **Are pairs better?** Write down yes, no, or cannot say.
#
# **Afterwards you can**
#
# * compare two models on the same reviews, by hand, with McNemar's test;
# * compare two recipes with several seeds, and report one interval;
# * cut a validation part so that nothing leaks, and check it;
# * read a reliability diagram, and tell accuracy from calibration.
#
# **You need** [lecture 6](06_imdb_classifier.ipynb). Everything here is about the real reviews, from recorded answers; nothing is trained.
#
# **Time:** about 56 minutes to read and predict (estimated, not measured); the code runs in ten seconds.

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
import base64

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import binomtest, ttest_ind

from coursekit import diagrams, plots, recorded

plots.use_course_style()
np.set_printoptions(precision=4, suppress=True)

# %% [markdown]
# <a id="mcnemar"></a>
#
# ## 1 · Only the disagreements count
#
# The 4,596 reviews of 685 films were held back so that training has seen no other review of these films. All answers are recorded (`python experiments/imdb_controls.py`); `correct` says which reviews a model classifies correctly:

# %%
record = recorded.load("imdb_controls")["results"]
labels = np.array(list(record["held back"]["labels"]), int)  # (N,)
films = np.array(record["held back"]["films"].split(), int)  # (N,): the film of each review


def probabilities(name, reading="in order"):
    """Recorded probabilities of "positive": (runs, N), one run for each seed, or one where nothing is random."""
    runs = [run for key, run in record["answers"].items() if key.partition(";")[0] == name]
    return np.array([np.frombuffer(base64.b64decode(run[reading]), "uint8") for run in runs]) / 255


def correct(name, reading="in order"):
    return (probabilities(name, reading) > 0.5) == labels  # (runs, N)


pairs, words = correct("words and pairs"), correct("words")
print(f"words and pairs {pairs.mean():.4f}, words {words.mean():.4f}; chance ±{1.96 * np.sqrt(0.9 * 0.1 / len(labels)):.3f}")

# %% [markdown]
# The margin of ±0.009 answers the question "what if there had been other reviews?" for *one* model. But both models read the same reviews, and a review that
# both classify correctly, or neither, does not tell which is better. Count the others: **b** reviews that only the first model classifies correctly, **c** reviews that only the second does. If the models are equally good, each of these b + c reviews is like the toss of a coin. A comparison on the same reviews is a **paired test**; this one is **McNemar's test** (McNemar, 1947):
#
# $$\chi^2 = \frac{(b-c)^2}{b+c},\qquad\text{and a value of 3.84 or more occurs by chance in one case of 20, if the models are equally good.}$$
#
# How often equally good models differ at least this much is called **p**; a $\chi^2$ of 3.84 is p = 0.05.

# %% [markdown]
# **By hand.** Here b = 153 and c = 81. Is the first model better? And if 1,036 and 964 had come out, the same difference from 2,000 disagreements?
#
# <details><summary>Answer</summary>
#
# $72^2/234 = 22.2$, far above 3.84: yes. $72^2/2000 = 2.6$, below 3.84: cannot say. The accuracies differ by the same 72 reviews both times. How
# often the models *disagree* decides what the difference means.
#
# </details>

# %%
b, c = int(np.sum(pairs & ~words)), int(np.sum(~pairs & words))
print(f"b = {b}, c = {c}: chi square {(b - c) ** 2 / (b + c):.1f}, exact p = {binomtest(b, b + c).pvalue:.1g}")
print(f"1,036 to 964: p = {binomtest(1036, 2000).pvalue:.2f}")
by_film = recorded.load("imdb_by_film")["results"]
only_pairs, only_words, p = by_film["McNemar"]["test: words and pairs | words"].values()
print(f"on the 24,996 reviews of the test split: {only_pairs} to {only_words}, p = {p:.1g}")

# %% jupyter={"source_hidden": true} tags=["drawing"]
both, neither = int(np.sum(pairs & words)), int(np.sum(~pairs & ~words))
figure, axes = plt.subplots(2, 1, figsize=(8.2, 2.8))
parts = {"both correct": (both, "mask", ""), "only pairs": (b, "query", ""), "only words": (c, "accent", "//"), "both wrong": (neither, "neutral", "")}
for ax, kinds in zip(axes, (parts, ("only pairs", "only words")), strict=True):
    start = 0
    for label in kinds:
        size, role, hatch = parts[label]
        ax.barh(0, size, left=start, height=0.6, color=diagrams.PALETTE[role], hatch=hatch, edgecolor=diagrams.PALETTE["ink"], linewidth=0.4, label=f"{label}: {size:,}")
        start += size
    ax.set(yticks=[], xlim=(0, start), ylim=(-0.4, 0.4))
    ax.grid(visible=False)
axes[0].set_title("all reviews", loc="left")
axes[1].set_title("the disagreements, enlarged", loc="left")
axes[1].set_xlabel("reviews")
figure.legend(*axes[0].get_legend_handles_labels(), loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4)
plots.show(figure, alt=f"{both + neither:,} reviews say nothing about which is better; {b + c} do. Above, of all {len(labels):,} reviews, those that both models classify correctly, only pairs, only words, "
    f"neither: {both:,}, {b}, {c}, {neither}. Below, the {b} and {c} alone.")

# %% [markdown]
# So the answer is yes: the margins overlap, and the test decides without one new review. One thing is unclean: the penalty of each model was chosen on these 4,596 reviews. On the test split, which chose nothing, it is 790 to 444: yes again.
#
# **On the same reviews only the disagreements count: 153 to 81 decides what two overlapping margins leave open.**

# %% [markdown]
# <a id="seeds"></a>
#
# ## 2 · Other seeds
#
# A linear model that is trained again on the same reviews is the same model. A network with another seed begins with other parameters, reads the batches in another order, and becomes another network. Take the encoder of lecture 6 with and without positions. Each was trained with three seeds and read the same reviews of the
# test split of 24,996 reviews (recorded by `experiments/imdb_by_film.py`).

# %% [markdown]
# **Predict.** With seed 2, McNemar's test prefers positions with p = 0.00006. Are positions worth something in this task?
#
# <details><summary>Answer</summary>
#
# These runs do not show it: with the other two seeds the encoder *without* positions is ahead, and the three together have 2,022 to 1,948, a difference of 0.1 points. Each test is correct about its two networks. But the question is about the *recipe* (model and settings), and each was trained only three times.
#
# </details>

# %%
for name, tests in (("positions | none", "test: encoder with positions | encoder without positions"), ("last 200 | first 200", "held back: encoder with positions | first 200 words")):
    for seed in range(3):
        only_first, only_second, p = by_film["McNemar"][f"{tests}; seed {seed}"].values()
        print(f"{name:21} seed {seed}: {only_first:4} to {only_second:4}, p = {p:.1g}")

# %% [markdown]
# The last three lines show the opposite case: encoders that read the last 200 words of a review, against encoders that read its first 200, on the held-back reviews. Only one of the three tests has p < 0.05, but all three point the same way; a count of small p-values throws this away. Compare
# the seeds instead, with **Welch's test**. It divides the difference of the two mean accuracies by its standard error, computed from the standard deviations $s_a$ and $s_b$ over the n seeds of each recipe:
#
# $$t=\frac{\bar a-\bar b}{\sqrt{s_a^2/n+s_b^2/n}}$$
#
# For p, t is compared with Student's distribution of at most $2(n-1)$ degrees of freedom, fewer where $s_a$ and $s_b$ differ: with three seeds a large t comes about by chance more often than with many.

# %%
last, first = correct("last 200 words"), correct("first 200 words")
test = ttest_ind(last.mean(axis=1), first.mean(axis=1), equal_var=False)
print("last 200: ", last.mean(axis=1), f"mean {last.mean():.4f}")
print("first 200:", first.mean(axis=1), f"mean {first.mean():.4f};  t = {test.statistic:.1f}, "
      f"{test.df:.1f} degrees of freedom, p = {test.pvalue:.3f}")

# %% [markdown]
# With t = 3.7, 3.8 degrees of freedom and p = 0.024 the last 200 words are ahead, *on these reviews*: a test over seeds takes the reviews as given.
#
# **McNemar's test measures the chance in the reviews, a test over seeds the chance in the training; to compare two recipes you need both.**

# %% [markdown]
# <a id="one-procedure"></a>
#
# ## 3 · One procedure
#
# The **bootstrap** (Efron, 1979) puts both chances into one calculation: it repeats the experiment many times, by drawing from what was measured. Draw *films* with replacement, since the reviews of one
# film may resemble each other. Draw *seeds* with replacement, for each recipe. Each time, take the difference of the two mean accuracies on the *same* reviews. The middle 95 % of these differences are the interval:

# %%
rng = np.random.default_rng(0)
reviews_of = [np.flatnonzero(films == film) for film in range(685)]
again = []
for _ in range(1_000):
    reviews = np.concatenate([reviews_of[film] for film in rng.integers(685, size=685)])  # 685 films, some twice
    networks = rng.integers(3, size=(2, 3))  # for each recipe three seeds, some twice
    again.append(last[networks[0]][:, reviews].mean() - first[networks[1]][:, reviews].mean())
print("last minus first 200 words, 95 % between {:+.4f} and {:+.4f}".format(*np.quantile(again, [0.025, 0.975])))


# %% [markdown]
# The function does the same with matrices. It counts how often each film is drawn, so it need not copy the reviews, and it draws 4,000 times; the last digits of an end depend on the draws:

# %%
def difference_interval(first, second, films, draws=4_000, same_networks=False):
    """Difference of two recipes, correct (seeds, N) each, and its 95 % interval: films and seeds drawn again."""
    rng = np.random.default_rng(0)
    count = films.max() + 1
    weight = rng.multinomial(count, np.full(count, 1 / count), size=draws)  # how often each film is drawn
    reviews = weight @ np.bincount(films, minlength=count)  # reviews of each draw, (draws,)

    def accuracies(correct, seeds):  # of one recipe: (draws,); seeds (draws, n) says which networks each draw takes
        by_film = np.array([np.bincount(films, run, minlength=count) for run in correct])  # correct answers, (n, films)
        drawn_correct = weight @ by_film.T  # correct answers of each network in each draw of films, (draws, n)
        return np.take_along_axis(drawn_correct, seeds, axis=1).mean(axis=1) / reviews  # the networks that were drawn

    drawn = [rng.integers(len(correct), size=(draws, len(correct))) for correct in (first, second)]
    if same_networks:  # twice the same ones, with two kinds of input: they are drawn once
        drawn[1] = drawn[0]
    low, high = np.quantile(accuracies(first, drawn[0]) - accuracies(second, drawn[1]), [0.025, 0.975])
    return first.mean() - second.mean(), low, high


for name, one, other in (("pairs minus words", pairs, words), ("last minus first 200", last, first)):
    print(f"{name:21}", "difference {:+.4f}, 95 % between {:+.4f} and {:+.4f}".format(*difference_interval(one, other, films)))

# %% [markdown]
# **Predict.** Instead of films, draw single reviews (`films=np.arange(len(labels))`). Does the interval of "pairs minus words" become narrower, wider, or stay the same? And what happens to the interval of "last minus first" if the seeds are not drawn but averaged?
#
# <details><summary>Answer</summary>
#
# It stays the same: drawing reviews changes next to nothing here. Nobody knows that beforehand, so films are the safe choice. With averaged seeds the interval of “last minus first” becomes narrower and no longer contains zero:
# it leaves out the chance in the training.
#
# </details>

# %%
each = np.arange(len(labels))
print("pairs minus words, reviews drawn: {:+.4f}, {:+.4f} to {:+.4f}".format(*difference_interval(pairs, words, each)))
averaged = [run.mean(axis=0, keepdims=True) for run in (last, first)]
print("last minus first, seeds averaged: {:+.4f}, {:+.4f} to {:+.4f}".format(*difference_interval(*averaged, films)))

# %% jupyter={"source_hidden": true} tags=["drawing"]
against = {"words and pairs − words": (pairs, words), "last 200 − first 200 words": (last, first), "words (whole review) − encoder (200 words)": (words, last), "pairs (whole review) − encoder (200 words)": (pairs, last)}
found = {name: difference_interval(*both, films) for name, both in against.items()}
figure, ax = plt.subplots(figsize=(7.2, 2.5))
for line, (mean, low, high) in enumerate(found.values()):
    ax.plot([low, high], [line, line], color=diagrams.PALETTE["query"], linewidth=3)
    ax.plot(mean, line, "o", color=diagrams.PALETTE["query"], markersize=8)
ax.axvline(0, color=diagrams.PALETTE["accent"], linestyle="--")
ax.set_yticks(range(len(found)), list(found))
ax.invert_yaxis()
ax.set(xlabel="difference of the accuracies", xticks=np.arange(0, 0.05, 0.01), ylim=(len(found) - 0.5, -0.5))
plots.show(figure, alt="Three differences are far from zero; which end of a review to keep is not certain. Differences with 95 % intervals: " + "; ".join(f"{name} {mean:+.4f} ({low:+.4f} to {high:+.4f})" for name, (mean, low, high) in found.items()) + ".")

# %% [markdown]
# Three of the four intervals are far from zero: pairs beat words, and both beat the encoder, which reads less of each review.
#
# The interval for the last against the first 200 words reaches from −0.0005 to +0.0181. With averaged seeds it began at +0.0010, and Welch's test had p = 0.024. Both chances together put the lower end at about zero. Its width is 0.0186, and 0.0156 with averaged seeds, so most of the chance is in the films and reviews. (Seeds drawn from n show only $(n-1)/n$ of their variance, two thirds of it with three: where the seeds matter most, this interval is too narrow.)
#
# In a report you write: *pairs are ahead of single words by 1.6 points (95 % interval 0.9 to 2.2; 4,596 reviews, films drawn again; penalties chosen on these reviews)*.
#
# **Pair the reviews, repeat the seeds, report one interval.**

# %% [markdown]
# <a id="three-splits"></a>
#
# ## 4 · Two splits, one table
#
# All of this assumes that the held-back reviews stand for new ones. They do not if there is **leakage**: they share something with training that new reviews do not. In IMDB up to 30 reviews are about one film, and the
# test split has films of its own. Here are two ways to hold 5,000 reviews back: at random, and by the film's title, with scikit-learn's `GroupShuffleSplit`.

# %% [markdown]
# **Predict.** 5,000 of the 25,000 training reviews are held back at random. What share of them are about a film that also occurs in training: a fifth, a half, nearly all?
#
# <details><summary>Answer</summary>
#
# Nearly all: 93 % of the negative and 99 % of the positive ones.
#
# </details>

# %%
checks = recorded.load("imdb_classifier")["results"]["films"]
print("           film in training               words: held back    test")
for split in ("at random", "by title"):
    shared, alone = checks[f"shared, {split}"], checks[f"words alone, {split}"]
    share = [f"{label} {shared[label]['film in training']:.0%}" for label in ("negative", "positive")]
    print(f"{split:10} {', '.join(share):28} {alone['validation']:12.3f} {alone['test']:10.3f}")

# %% [markdown]
# Both rows are the same kind of model, trained on all reviews that are not held back; only the split differs. At random nearly every film is known; by title no film is shared. That is sure. What it costs is not: the random split promises 1.2 points more than the test split gives, the split by title 0.1, and chance moves each of these by about one point. One draw of each is a hint that leakage flatters, and no measurement.
#
# **Count, in each class, what the held-back reviews share with training.**

# %% [markdown]
# <a id="order"></a>
#
# ## 5 · Does it use the order?
#
# Lecture 6 shuffled the words that its Transformer reads, and it hardly noticed. How do you show *that*? And would the experiment show it if a model *did* use their order? Counted pairs are the control; the encoder has three seeds of one recipe.

# %% [markdown]
# **Calculate.** A model is correct on 4,010 of 4,596 reviews in order, and on 4,010 shuffled. Its answer changes on 230 reviews. How many became correct? Does the model use the order?
#
# <details><summary>Answer</summary>
#
# With two labels every changed answer becomes either correct or wrong. The accuracy is the same, so b = c; and b + c = 230, so 115 became correct. But the answers are not the same: the model *uses* the order, and gains nothing by it.
#
# </details>

# %%
for name in ("words and pairs", "last 200 words"):
    for seed, (before, after) in enumerate(zip(correct(name), correct(name, "shuffled"), strict=True)):
        b, c = int(np.sum(before & ~after)), int(np.sum(~before & after))
        print(f"{name:16} run {seed}: in order {before.mean():.4f}, shuffled {after.mean():.4f}; only in order {b:3}, only shuffled {c:3}")
    print("   in order minus shuffled {:+.4f}, {:+.4f} to {:+.4f}".format(*difference_interval(correct(name), correct(name, "shuffled"), films, same_networks=True)))


# %% [markdown]
# Pairs lose 2.8 points, so this model uses the order, and the experiment shows it. The order is worth less than that: a model trained on single words is only 1.6 points behind.
#
# The encoder has positions and attention, and could use the order; in lecture 6 the same network does, on the sample. In these reviews 15, 6 and 12 of its 4,596 answers change: the order of all its words decides one answer in three hundred, or fewer.
#
# **Count the changed answers and not only the accuracy: shuffled words change hardly any answer of this encoder.**

# %% [markdown]
# <a id="calibration"></a>
#
# ## 6 · How sure, and how often correct
#
# A model has good **calibration** if, of all answers with probability 0.9, nine in ten are correct, and so for every other probability. Sort the reviews into five groups by the probability of the model's answer, and draw each group's
# share of correct answers against its mean probability, the **confidence**: a **reliability diagram**. The mean distance from the diagonal, weighted by the groups' sizes, is the **expected calibration error** (**ECE**; Guo et al., 2017). Below
# the diagonal a model is **overconfident**, above it underconfident.
#
# The linear model is shown with a weak and a strong penalty on its weights; nothing else differs. scikit-learn's C is the *inverse* of the strength: C = 30 is weak, C = 1 strong.
#
# An ECE is never 0, not even of a perfectly calibrated model: chance moves each group. So compute its **noise floor** as well: draw each label from the model's own probability, which makes the model calibrated, and take the ECE.

# %%
def reliability(p, labels=labels, groups=5):
    """Of probabilities (N,): confidence and share correct in each group, (groups,) each, and the ECE."""
    sure, hit = np.maximum(p, 1 - p), (p > 0.5) == labels  # (N,) each
    group = np.minimum((sure - 0.5) * 2 * groups, groups - 1).astype(int)
    sizes = np.bincount(group, minlength=groups)
    means = [np.bincount(group, values, minlength=groups) / sizes for values in (sure, hit)]
    return *means, sizes @ abs(means[0] - means[1]) / len(p)


def noise_floor(p, draws=400):
    """The ECE that a calibrated model with these probabilities has by chance: the median, and 95 of 100 are below."""
    rng = np.random.default_rng(0)
    return np.quantile([reliability(p, rng.random(len(p)) < p)[-1] for _ in range(draws)], [0.5, 0.95])


for name in ("last 200 words", "words and pairs", "words and pairs, C = 1"):
    p = probabilities(name)  # (runs, N)
    confidence, ece = np.maximum(p, 1 - p).mean(), [reliability(run)[-1] for run in p]
    print(f"{name:22} accuracy {correct(name).mean():.3f}, mean confidence {confidence:.3f}, ECE", np.array(ece))
    print(f"{'':22} noise floor of its ECE {{:.3f}}, in 95 of 100 draws below {{:.3f}}".format(*noise_floor(p[0])))
weak, strong = correct("words and pairs"), correct("words and pairs, C = 1")
print("accuracy, C = 30 minus C = 1: {:+.4f}, {:+.4f} to {:+.4f}".format(*difference_interval(weak, strong, films)))

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, ax = plt.subplots(figsize=(5.4, 3.8))
ax.plot([0.5, 1], [0.5, 1], color=diagrams.PALETTE["residual"], linewidth=1, label="calibrated")
for line, (name, label) in enumerate({"last 200 words": "encoder, three seeds", "words and pairs": "words and pairs, C = 30", "words and pairs, C = 1": "words and pairs, C = 1"}.items()):
    each = np.array([reliability(p)[:2] for p in probabilities(name)])  # (runs, 2, groups)
    plots.measured_curve(np.median(each[:, 0], axis=0), each[:, 1], label=label, line=line, ax=ax)
ax.set(xlabel="mean confidence", ylabel="share correct")
plots.show(figure, alt="A strong penalty makes the linear model far too cautious; the encoder lies close to the diagonal. Share of correct answers against mean confidence, in five groups, for the encoder with three seeds (median and range) and for words and pairs with C = 30 and C = 1.")

# %% [markdown]
# The encoder is slightly overconfident: its mean confidence is 0.887, its accuracy 0.872. Its ECE, 0.012 to 0.016, is at or just above what chance alone gives (0.007 in the median, and up to 0.012). Words and pairs with C = 30 are a little underconfident, 0.887 as well, against 0.904. With C = 1, where only the penalty differs, the ECE rises from 0.017 to 0.142, far above its noise floor of 0.010: a strong penalty keeps all weights small, and moves the probabilities towards one half (mean confidence: 0.751). The accuracy is 0.893, 1.1 points lower (0.5 to 1.7); but C = 30 was chosen on these reviews, so this lead is flattered.
#
# One number repairs it (Guo et al.): divide the logits by a temperature τ. Choose the τ for which the log loss on half of the films is smallest; below 1 it makes the answers surer, and none of them changes:

# %%
(p,) = probabilities("words and pairs, C = 1").clip(0.002, 0.998)  # recorded in steps of 1/255
fitting, logits = films % 2 == 0, np.log(p / (1 - p))
log_loss = {tau: np.log1p(np.exp(-(2 * labels - 1) * logits / tau))[fitting].mean() for tau in np.arange(0.1, 1.5, 0.02)}
tau = min(log_loss, key=log_loss.get)
before, after = (1 / (1 + np.exp(-logits[~fitting] / divisor)) for divisor in (1, tau))
ece = [reliability(p, labels[~fitting])[-1] for p in (before, after)]
print(f"tau = {tau:.2f}; ECE on the other half: {ece[0]:.3f} before, {ece[1]:.3f} after")
print("noise floor after: {:.3f}, in 95 of 100 draws below {:.3f}".format(*noise_floor(after)))

# %% [markdown]
# On the other half the ECE falls from 0.139 to 0.003. That is below its noise floor of 0.011, so it is a lucky draw; what it shows is that no error beyond chance is left.
#
# Last, read some errors. Here are those of which all three encoders are surest: the label, the probabilities of *positive* (the encoder's averaged over seeds), and the last ten words.

# %%
for error in record["surest errors"]:
    print(f"label {'+' if error['label'] else '-'}, encoder {error['encoder']:.2f}, words and pairs {error['words and pairs']:.2f}: … {error['end']}")

# %% [markdown]
# Words and pairs misclassify all eight as well. “… i give it no stars out of” is labelled positive, “it surely defines the word masterpiece” negative. To tell irony from a wrong label you need the whole review.
#
# **Accuracy and calibration are two questions: the strong penalty costs about one point of accuracy, and makes the calibration error eight times as large.**

# %% [markdown]
# <a id="two-mistakes"></a>
#
# ## Two mistakes
#
# **Looking at the test split until it is good.** Whoever tries several models on the test split and keeps the best one keeps its luck as well. Here is how much that adds when *all models are equally good* and err independently (models that err on the same reviews gain less):

# %%
# NBVAL_CHECK_OUTPUT
draws = np.random.default_rng(0).binomial(2_500, 0.87, size=(20_000, 20)) / 2_500  # 20 models, each truly 0.87
for looks in (1, 5, 20):
    print(f"best of {looks:2} looks at 2,500 reviews: {draws[:, :looks].max(axis=1).mean():.4f} on average; the truth is 0.8700")

# %% [markdown]
# **One seed.** A search with one seed for each setting sees one number of each line below. In the second line even the sign depends on the seed:

# %%
recipe = [by_film["ladder"][f"encoder with positions; seed {seed}"]["held back"] for seed in range(3)]
for what, without in (
    ("dropping words in training", "no hidden words"),
    ("the mean over the tokens, not their maximum,", "maximum for the mean"),
):
    other = [by_film["search"][f"{without}; seed {seed}"]["held back"] for seed in range(3)]
    gains = [f"{100 * (one - two):+.1f}" for one, two in zip(recipe, other, strict=True)]
    print(f"{what} gains {', '.join(gains)} points with seeds 0, 1, 2")

# %% [markdown]
# ## Four questions
#
# <details><summary>1. A colleague reports 0.88 against your linear model's 0.87, each on 1,000 test reviews. Are you convinced?</summary>
#
# No: chance moves each by ±0.02. Let both read the same reviews, and count where only one of them is correct.
#
# </details>
#
# <details><summary>2. You have X-rays of 500 patients, several of each. How do you hold some back?</summary>
#
# By patient: `GroupShuffleSplit` or `GroupKFold` with the patient as group. Otherwise the model can recognise the patient.
#
# </details>
#
# <details><summary>3. Two models disagree on 40 of 10,000 reviews, 28 to 12. Is the first better?</summary>
#
# The accuracies differ by 0.0016, and $16^2/40 = 6.4$, above 3.84: chance would rarely do it. Even a small difference can be reliable, for these two trained models.
#
# </details>
#
# <details><summary>4. “p = 0.3, so the two models are equally good.” What is wrong?</summary>
#
# p = 0.3 says that equal models *would* often differ so much. It does not say that they are equal: look at the interval, which may hold large differences as well.
#
# </details>
#
# <details><summary><b>What this page does not show</b></summary>
#
# * The penalty C of both linear models was chosen on the 4,596 reviews, which flatters them a little; for C = 30 against C = 1 no answers to the test split were kept.
# * Three networks of each recipe are few. The training reviews are never drawn again, so what another training set would change is in no interval here.
# * A shuffled review is unlike all that a model has learned from, so pairs may lose more than their order is worth.
# * Section 3 compares counting of whole reviews with an encoder of 200 words; on equal input no answers were kept, so there is no paired interval.
#
# </details>
#
# ## Summary
#
# | question | how | here |
# |---|---|---|
# | is one model better? | same reviews, disagreements | 153 to 81: pairs beat words |
# | is one recipe better? | several seeds, one interval over films and seeds | last minus first 200 words: −0.0005 to +0.0181 |
# | does validation predict the test? | count what the two sides share, by class | at random nearly every film is known, by title none |
# | what does it use? | change the input, count the changed answers | the encoder: hardly the order |
# | can its probabilities be trusted? | reliability diagram, ECE | those of the encoder nearly, those with the strong penalty not |
#
# Next: [lecture 7](07_bert_ag_news.ipynb), the same architecture, pre-trained.
#
# **A difference between two models counts if it survives other reviews and other seeds.**
#
# ## References
#
# * Q. McNemar, *Note on the sampling error of the difference between correlated proportions or percentages*, Psychometrika 12, 1947.
# * B. Efron, *Bootstrap methods: another look at the jackknife*, Annals of Statistics 7, 1979.
# * T. Dietterich, *Approximate statistical tests for comparing supervised classification learning algorithms*, Neural Computation 10, 1998.
# * X. Bouthillier et al., *Accounting for variance in machine learning benchmarks*, MLSys 2021.
# * C. Guo et al., *On calibration of modern neural networks*, ICML 2017.
# * A. Maas et al., *Learning word vectors for sentiment analysis*, ACL 2011: the reviews.
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# **Your difference has p = 0.03, and the next run reverses it:** you tested two trained models, not two recipes. **Slow machine, or a GPU:** nothing here is trained; fewer bootstrap draws
# (`draws=1_000`) are enough to try things.
#
# **More:** S. Raschka, [*Model evaluation, model selection, and algorithm selection*](https://arxiv.org/abs/1811.12808), 2018, for tests that train again; Dietterich for which test to use when; Bouthillier for the
# sources of chance, measured. The ladder of models, labels and word vectors: [evidence](evidence/06.ipynb).
#
# </details>

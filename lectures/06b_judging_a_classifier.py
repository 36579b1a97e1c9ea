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
# > Two linear models classify film reviews. One counts words and word pairs, and is correct on 0.908 of 2,450 reviews; the other counts words alone: 0.893. Chance alone moves either number by about ±0.012.
#
# If each had read 2,450 reviews of its own, chance would move the *difference* by ±0.017, and the difference is 0.015. But both have read the same reviews. **Are word pairs better?** Write down yes, no, or cannot say.
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
# **Time:** about 59 minutes to read and predict (estimated, not measured); the code runs in ten seconds.

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
from scipy.stats import binomtest
from scipy.stats import t as student
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit

from coursekit import diagrams, plots, recorded

plots.use_course_style()
np.set_printoptions(precision=4, suppress=True)

# %% [markdown]
# <a id="mcnemar"></a>
#
# ## 1 · Only the disagreements count
#
# The 4,596 reviews of 685 films were held back so that training has seen no other review of these films. All answers are recorded (`python experiments/imdb_controls.py`); `correct` says which reviews a model classifies correctly. The opening takes half of the films, those with even numbers:

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
print(f"words and pairs {pairs.mean():.4f}, words {words.mean():.4f}; all {len(labels):,} reviews")
half = films % 2 == 0  # (N,): half of the films
shares = np.array([run[0, half].mean() for run in (pairs, words)])
margins = 1.96 * np.sqrt(shares * (1 - shares) / half.sum())  # each model's own, on these reviews
print(f"half of the films, {half.sum():,} reviews: {shares.round(4)}, margins {margins.round(4)}")
print(f"difference {shares[0] - shares[1]:.4f}; its margin, if the reviews were different ones: {np.hypot(*margins):.4f}")

# %% [markdown]
# The margin of ±0.012 answers the question "what if there had been other reviews?" for *one* model. Two overlapping margins are no test: chance seldom lifts one number and lowers the other by their whole margins at once. For models that read different reviews, add the margins as squares: the margin of the *difference* is $\sqrt{0.012^2+0.012^2}=0.017$, and not 0.024. Our 0.015 is less than that: on different reviews you could not say.
#
# But both models read the same reviews, and a review that
# both classify correctly, or neither, does not tell which is better. Count the others: **b** reviews that only the first model classifies correctly, **c** reviews that only the second does. If the models are equally good, each of these b + c reviews is like the toss of a coin. A comparison on the same reviews is a **paired test**; this one is **McNemar's test** (McNemar, 1947):
#
# $$\chi^2 = \frac{(b-c)^2}{b+c},\qquad\text{and a value of 3.84 or more occurs by chance in one case of 20, if the models are equally good.}$$
#
# How often equally good models differ at least this much is called **p**; a $\chi^2$ of 3.84 is p = 0.05.

# %% [markdown]
# **By hand.** Here b = 71 and c = 34. Is the first model better? The two make 226 and 263 errors. If they never erred on the same review, b would be 263 and c 226, with the same accuracies. And then?
#
# <details><summary>Answer</summary>
#
# $37^2/105 = 13.0$, far above 3.84: yes. $37^2/489 = 2.8$, below 3.84: cannot say. The difference is 37 reviews both times. How
# often the models *disagree* decides what it means.
#
# </details>

# %%
for part, which in ((half, "half of the films"), (~half, "the other half"), (half | ~half, "all films")):
    b, c = int(np.sum((pairs & ~words)[0, part])), int(np.sum((~pairs & words)[0, part]))
    print(f"{which:18} b = {b}, c = {c}: chi square {(b - c) ** 2 / (b + c):.1f}, exact p = {binomtest(b, b + c).pvalue:.1g}; "
          f"difference {(b - c) / part.sum():.4f} ± {1.96 * np.sqrt(b + c) / part.sum():.4f}")
print(f"263 to 226: p = {binomtest(263, 489).pvalue:.2f}")
by_film = recorded.load("imdb_by_film")["results"]
only_pairs, only_words, p = by_film["McNemar"]["test: words and pairs | words"].values()
print(f"on the 24,996 reviews of the test split: {only_pairs} to {only_words}, p = {p:.1g}")

# %% jupyter={"source_hidden": true} tags=["drawing"]
both, b, c, neither = (int(np.sum(kind[0, half])) for kind in (pairs & words, pairs & ~words, ~pairs & words, ~pairs & ~words))
figure, axes = plt.subplots(2, 1, figsize=(8.2, 2.8))
parts = {"both correct": (both, "mask", ""), "only word pairs": (b, "query", ""), "only words": (c, "accent", "//"), "both wrong": (neither, "neutral", "")}
for ax, kinds in zip(axes, (parts, ("only word pairs", "only words")), strict=True):
    start = 0
    for label in kinds:
        size, role, hatch = parts[label]
        ax.barh(0, size, left=start, height=0.6, color=diagrams.PALETTE[role], hatch=hatch, edgecolor=diagrams.PALETTE["ink"], linewidth=0.4, label=f"{label}: {size:,}")
        start += size
    ax.set(yticks=[], xlim=(0, start), ylim=(-0.4, 0.4))
    ax.grid(visible=False)
axes[0].set_title("all reviews of half the films", loc="left")
axes[1].set_title("the disagreements, enlarged", loc="left")
axes[1].set_xlabel("reviews")
figure.legend(*axes[0].get_legend_handles_labels(), loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4)
plots.show(figure, alt=f"{both + neither:,} reviews say nothing about which is better; {b + c} do. Above, of {half.sum():,} reviews, those that both models classify correctly, only word pairs, only words, "
    f"neither: {both:,}, {b}, {c}, {neither}. Below, the {b} and {c} alone.")

# %% [markdown]
# The answer is yes, and the other half of the films agrees. The counts also give the difference of the accuracies its margin, on N reviews: $\big(b-c\pm1.96\sqrt{b+c}\,\big)/N$. That is ±0.008 in place of ±0.017, without one new review.
#
# One thing is unclean: the penalty of each model was chosen on these reviews. On the test split, which chose nothing, it is 790 to 444: yes again.
#
# **On the same reviews only the disagreements count: 71 to 34 decides what two separate samples of this size would leave open.**

# %% [markdown]
# <a id="seeds"></a>
#
# ## 2 · Other seeds
#
# A linear model that is trained again on the same reviews is the same model. A network with another seed begins with other parameters, reads the batches in another order, and becomes another network. Take the encoder of lecture 6 with and without positions. Each was trained with three seeds and read the same reviews of the
# test split of 24,996 reviews (recorded by `experiments/imdb_by_film.py`). Equal seeds share something: in these runs the same initial word vectors, and the same reviews in each batch. So this page compares seed by seed.

# %% [markdown]
# **Predict.** With seed 2, McNemar's test prefers positions with p = 0.00006. Are positions worth something in this task?
#
# <details><summary>Answer</summary>
#
# These runs cannot say: with the other two seeds the encoder *without* positions is ahead. Each test is correct about its two networks. But the question is about the *recipe* (model and settings), and each was trained only three times.
#
# </details>

# %% [markdown]
# To judge the recipe, take the difference $d$ that each seed gives, its mean $\bar d$ over n seeds, and its standard deviation s. The 95 % interval is
#
# $$\bar d\pm t\,\frac{s}{\sqrt n},\qquad\text{with } t=4.30\text{ for three seeds.}$$
#
# Student's t replaces the 1.96, because an s from few seeds is often too small: t is 12.7 for two seeds, 4.30 for three, 2.26 for ten.

# %%
last, first = correct("last 200 words"), correct("first 200 words")  # (seeds, N): encoders with positions
tests = [by_film["McNemar"][f"test: encoder with positions | encoder without positions; seed {seed}"] for seed in range(3)]
counted = {
    "positions | none": (24_996, [list(test.values())[:2] for test in tests]),
    "last 200 | first 200": (4_596, [(np.sum(one & ~two), np.sum(~one & two)) for one, two in zip(last, first, strict=True)]),
}
for name, (read, disagreements) in counted.items():
    points = [100 * (b - c) / read for b, c in disagreements]
    for seed, (b, c) in enumerate(disagreements):
        print(f"{name:21} seed {seed}: {b:4} to {c:4}, p = {binomtest(int(b), int(b + c)).pvalue:.1g}, {points[seed]:+.2f} points")
    print(f"{'':21} mean {np.mean(points):+.2f} ± {student.ppf(0.975, 2) * np.std(points, ddof=1) / np.sqrt(3):.2f} points")


# %% [markdown]
# Positions are worth 0.10 ± 1.06 points: they may add a point, or cost one. These three seeds say next to nothing, although one of them has a tiny p.
#
# The other lines show the opposite case: encoders that read the last 200 words of a held-back review, against encoders that read its first 200. Only one of the three tests has p < 0.05, but all three point the same way; a count of small p-values throws this away. The mean is 0.86 ± 0.53 points: the last 200 words are ahead, *on these reviews*. An interval over seeds takes the reviews as given.
#
# **McNemar's test measures the chance in the reviews, an interval over seeds the chance in the seeds; to compare two recipes you need both.**

# %% [markdown]
# <a id="one-procedure"></a>
#
# ## 3 · One procedure
#
# The **bootstrap** (Efron, 1979) puts both chances into one calculation: it repeats the experiment many times, by drawing from what was measured. Draw *films* with replacement, since the reviews of one
# film may resemble each other. Draw *seeds* with replacement, equal seeds together. Each time, take the difference of the two mean accuracies on the *same* reviews. The middle 95 % of these differences are the interval.
#
# The function counts how often each film is drawn, so it need not copy reviews:

# %%
def difference_interval(first, second, films, draws=4_000, same_networks=False):
    """Difference of two recipes, correct (seeds, N) each, and its 95 % interval: films and seeds drawn again."""
    rng = np.random.default_rng(0)
    count = films.max() + 1
    weight = rng.multinomial(count, np.full(count, 1 / count), size=draws)  # how often each film is drawn
    reviews = weight @ np.bincount(films, minlength=count)  # reviews of each draw, (draws,)

    def accuracies(answers, seeds):  # of one recipe: (draws,); seeds (draws, n) says which networks each draw takes
        by_film = np.array([np.bincount(films, run, minlength=count) for run in answers])  # correct answers, (n, films)
        drawn_correct = weight @ by_film.T  # correct answers of each network in each draw of films, (draws, n)
        return np.take_along_axis(drawn_correct, seeds, axis=1).mean(axis=1) / reviews  # the networks that were drawn

    drawn = [rng.integers(len(runs), size=(draws, len(runs))) for runs in (first, second)]
    if same_networks:  # the same networks with two kinds of input, or equal seeds: they are drawn together
        drawn[1] = drawn[0]
    low, high = np.quantile(accuracies(first, drawn[0]) - accuracies(second, drawn[1]), [0.025, 0.975])
    return first.mean() - second.mean(), low, high


for name, one, other in (("pairs minus words", pairs, words), ("last minus first 200", last, first)):
    found = difference_interval(one, other, films, same_networks=True)
    print(f"{name:21}", "difference {:+.4f}, 95 % between {:+.4f} and {:+.4f}".format(*found))
b, c = np.sum(pairs & ~words), np.sum(~pairs & words)
ends = [(b - c + sign * 1.96 * np.sqrt(b + c)) / len(labels) for sign in (-1, 1)]
print("pairs minus words, by the formula of section 1:    {:+.4f} and {:+.4f}".format(*ends))

# %% [markdown]
# **Predict.** Instead of films, draw single reviews (`films=np.arange(len(labels))`). Does the interval of "pairs minus words" become narrower, wider, or stay the same? And what happens to the interval of "last minus first" if the seeds are not drawn but averaged?
#
# <details><summary>Answer</summary>
#
# It stays the same: drawing reviews changes next to nothing here, and the formula of section 1, which knows no films, agrees. Nobody knows that beforehand, so films are the safe choice. With averaged seeds the interval of “last minus first” becomes narrower: it leaves out the chance in the seeds.
#
# </details>

# %%
each = np.arange(len(labels))
print("pairs minus words, reviews drawn: {:+.4f}, {:+.4f} to {:+.4f}".format(*difference_interval(pairs, words, each)))
averaged = [run.mean(axis=0, keepdims=True) for run in (last, first)]
print("last minus first, seeds averaged: {:+.4f}, {:+.4f} to {:+.4f}".format(*difference_interval(*averaged, films)))

# %% jupyter={"source_hidden": true} tags=["drawing"]
against = {"word pairs − words": (pairs, words), "last 200 − first 200 words": (last, first), "words (whole review) − encoder (200 words)": (words, last), "word pairs (whole review) − encoder (200 words)": (pairs, last)}
found = {name: difference_interval(*both, films, same_networks=len(both[0]) == len(both[1])) for name, both in against.items()}
figure, ax = plt.subplots(figsize=(7.2, 2.5))
for line, (mean, low, high) in enumerate(found.values()):
    ax.plot([low, high], [line, line], color=diagrams.PALETTE["query"], linewidth=3)
    ax.plot(mean, line, "o", color=diagrams.PALETTE["query"], markersize=8)
ax.axvline(0, color=diagrams.PALETTE["accent"], linestyle="--")
ax.set_yticks(range(len(found)), list(found))
ax.invert_yaxis()
ax.set(xlabel="difference of the accuracies", xticks=np.arange(0, 0.05, 0.01), ylim=(len(found) - 0.5, -0.5))
plots.show(figure, alt="Three differences are far from zero; which end of a review to keep is hardly settled. Differences with 95 % intervals: " + "; ".join(f"{name} {mean:+.4f} ({low:+.4f} to {high:+.4f})" for name, (mean, low, high) in found.items()) + ".")

# %% [markdown]
# Three of the four intervals are far from zero: word pairs beat words, and both beat the encoder, which reads less of each review.
#
# The interval for the last against the first 200 words begins at +0.0002: with both chances its lower end is about zero. Its width is 0.0175, and 0.0156 with averaged seeds, so most of the chance is in the films and reviews. And it is too narrow: seeds drawn from three show only two thirds of their variance, and the draws know nothing of the t of section 2.
#
# Two chances are in no interval of this page. **Other training reviews:** all models had the same ones. So “word pairs − words” compares two trained models; for the recipes you would draw the training reviews again. **Selection:** the penalties were chosen on these 4,596 reviews. The encoder's settings were found on other splits of the same training half, which share reviews with these, and were compared here with three changes. Both may be flattered.
#
# In a report you write: *word pairs are ahead of single words by 1.6 points (95 % interval 0.9 to 2.2; 4,596 reviews, films drawn again; one training set; penalties chosen on these reviews)*.
#
# **Compare on the same reviews, repeat the seeds, report one interval.**

# %% [markdown]
# <a id="three-splits"></a>
#
# ## 4 · Two splits, one table
#
# All of this assumes that the held-back reviews stand for new ones. They do not if there is **leakage**: they share something with training that new reviews do not. In IMDB up to 30 reviews are about one film, and the
# test split has films of its own. Here are two ways to hold back a fifth of our reviews: at random, and by film, with scikit-learn's `GroupShuffleSplit`.

# %% [markdown]
# **Predict.** A fifth of the 4,596 reviews is held back at random. What share of it is about a film that also occurs in the rest: a fifth, a half, nearly all?
#
# <details><summary>Answer</summary>
#
# Nearly all: 93 % of the negative and 99 % of the positive ones.
#
# </details>

# %%
cuts = {
    "at random": ShuffleSplit(1, test_size=0.2, random_state=0).split(labels),
    "by film": GroupShuffleSplit(1, test_size=0.2, random_state=0).split(labels, groups=films),
}
for how, splits in cuts.items():
    training, held = next(splits)  # places of the reviews
    known = np.isin(films[held], films[training])  # the check: is the film of a held-back review in training, too?
    print(f"{how:10} {len(held)} of {len(labels):,} held back; film in training: " + ", ".join(
        f"{label} {known[labels[held] == number].mean():.0%}" for number, label in enumerate(("negative", "positive"))))

# %% [markdown]
# What does leakage cost? In recorded runs 5,000 of the 25,000 training reviews were held back, in these two ways, and a model of single words was trained on the others:

# %% jupyter={"source_hidden": true} tags=["setup"]
checks = recorded.load("imdb_classifier")["results"]["films"]
print("           film in training               words: held back    test")
for split in ("at random", "by title"):
    shared, alone = checks[f"shared, {split}"], checks[f"words alone, {split}"]
    share = [f"{label} {shared[label]['film in training']:.0%}" for label in ("negative", "positive")]
    print(f"{split:10} {', '.join(share):28} {alone['validation']:12.3f} {alone['test']:10.3f}")

# %% [markdown]
# Only the split differs. (Section 1 holds other reviews back, so words have 0.888 there.) At random nearly every film is known; by title no film is shared. That is sure. What it costs is not: the random split promises 1.2 points more than the test split gives, the split by title 0.1, and chance moves each of these by about one point. One draw of each is a hint that leakage flatters, and no measurement.
#
# **Count, in each class, what the held-back reviews share with training.**

# %% [markdown]
# <a id="order"></a>
#
# ## 5 · Does it use the order?
#
# Lecture 6 shuffled the words that its Transformer reads, and it hardly noticed. How do you show *that*? And would the experiment show it if a model *did* use their order? Counted word pairs are the control.

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
    print(f"   a probability moves by {abs(probabilities(name) - probabilities(name, 'shuffled')).mean():.3f} on average")


# %% [markdown]
# Word pairs lose 2.8 points, so this model uses the order, and the experiment shows it. The order is worth less than that: a model trained on single words is only 1.6 points behind.
#
# The encoder has positions and attention, and could use the order; in lecture 6 the same network does, on the sample. In these reviews one shuffle of all its words changes 15, 6 and 12 of its 4,596 answers, one in three hundred or fewer. Its probabilities hardly move either: by 0.003 on average, those of word pairs by 0.082.
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
# The linear model is shown with a weak and a strong penalty on its weights; nothing else differs. scikit-learn's C is the *inverse* of the strength: C = 30 is weak; C = 1, the default, is strong.
#
# An ECE is never 0, not even of a perfectly calibrated model: chance moves each group. So compute its **noise floor** as well (Bröcker and Smith, 2007): draw each label from the model's own probability, which makes the model calibrated, and take the ECE. How many draws lie below the model's own ECE?

# %%
def reliability(prob, labels=labels, groups=5):
    """Of probabilities (N,): confidence, share correct and size of each group, (groups,) each, and the ECE."""
    sure, hit = np.maximum(prob, 1 - prob), (prob > 0.5) == labels  # (N,) each
    group = np.minimum((sure - 0.5) * 2 * groups, groups - 1).astype(int)
    sizes = np.bincount(group, minlength=groups)
    means = [np.bincount(group, values, minlength=groups) / sizes for values in (sure, hit)]
    return *means, sizes, sizes @ abs(means[0] - means[1]) / len(prob)


def beside_its_floor(prob, labels=labels, draws=1_000):
    """The ECE in words, beside those that a calibrated model with these probabilities has by chance."""
    rng, ece = np.random.default_rng(0), reliability(prob, labels)[-1]
    floor = np.array([reliability(prob, rng.random(len(prob)) < prob)[-1] for _ in range(draws)])
    median, most = np.quantile(floor, [0.5, 0.95])
    return f"ECE {ece:.3f}; chance alone {median:.3f}, 95 % below {most:.3f}, {np.mean(floor < ece):.1%} below this ECE"


for name in ("last 200 words", "words and pairs", "words and pairs, C = 1"):
    prob = probabilities(name)  # (runs, N)
    print(f"{name:22} accuracy {correct(name).mean():.3f}, mean confidence {np.maximum(prob, 1 - prob).mean():.3f}")
    print("".join(f"    {beside_its_floor(run)}\n" for run in prob), end="")

# %% jupyter={"source_hidden": true} tags=["drawing"]
figure, (ax, below) = plt.subplots(2, 1, figsize=(6.4, 5.4), sharex=True, height_ratios=(3, 1))
ax.plot([0.5, 1], [0.5, 1], color=diagrams.PALETTE["residual"], linewidth=1, label="calibrated")
drawn = {"last 200 words": "encoder (mean of three seeds)", "words and pairs": "word pairs, weak penalty (C = 30)", "words and pairs, C = 1": "word pairs, strong penalty (C = 1, default)"}
for line, (name, label) in enumerate(drawn.items()):
    confidence, share, sizes = np.mean([reliability(run)[:3] for run in probabilities(name)], axis=0)  # (groups,) each
    style = plots.LINES[line]
    ax.errorbar(confidence, share, 1.96 * np.sqrt(share * (1 - share) / sizes), label=label, capsize=3, **style)
    below.bar(np.arange(0.55, 1, 0.1) + 0.024 * (line - 1), sizes, width=0.022, color=style["color"], hatch=("", "//", "..")[line], edgecolor=diagrams.PALETTE["neutral"], linewidth=0)
ax.set(ylabel="share correct", ylim=(0.4, 1.02))
ax.legend(loc="lower right", fontsize=8)
below.set(xlabel="mean confidence", ylabel="reviews", xticks=np.arange(0.5, 1.01, 0.1))
plots.show(figure, alt="A strong penalty makes the linear model far too cautious; the two others lie close to the diagonal, on its two sides. Above: share of correct answers against mean confidence, in five groups, for the encoder (mean of three seeds) and for word pairs with a weak and a strong penalty. The vertical bars are the chance in the reviews. Below: how many reviews each group has, of the three models in this order; with the encoder and the weak penalty most are in the surest group.")

# %% [markdown]
# The encoder is a little overconfident: its mean confidence is 0.887, its accuracy 0.872. This is more than chance: with two of three seeds more than 99 % of the draws lie below its ECE of 0.016 (with the first, 93 % below 0.012). Words and pairs with C = 30 are as far off on the other side, 0.887 against 0.904, and their ECE of 0.017 is beyond chance as well. C = 1 is far worse: its ECE is 0.142. A strong penalty keeps all weights small, and moves the probabilities towards one half (mean confidence: 0.751). (Its accuracy is lower, too; but C = 30 was chosen on these reviews.)
#
# One number repairs the probabilities (Guo et al.): divide the logits by a temperature τ. Choose the τ for which the log loss on half of the films is smallest; below 1 it makes the answers surer, and none of them changes. Then judge it on the other half:

# %%
(prob,) = probabilities("words and pairs, C = 1").clip(0.002, 0.998)  # recorded in steps of 1/255
logits, signs = np.log(prob / (1 - prob)), 2 * labels - 1
for fitting, which in ((half, "half"), (~half, "the other half")):
    log_loss = {tau: np.log1p(np.exp(-signs * logits / tau))[fitting].mean() for tau in np.arange(0.1, 1.5, 0.02)}
    tau = min(log_loss, key=log_loss.get)
    print(f"tau = {tau:.2f}, chosen on {which}; on the rest:")
    for when, divisor in (("before", 1), ("after", tau)):
        loss = np.log1p(np.exp(-signs * logits / divisor))[~fitting].mean()
        print(f"    {when:6} log loss {loss:.3f}, {beside_its_floor(1 / (1 + np.exp(-logits[~fitting] / divisor)), labels[~fitting])}")

# %% [markdown]
# The ECE falls from 0.139 to 0.003, and with the halves exchanged from 0.145 to 0.012. Chance alone gives 0.011 and 0.010 in the median: on either half five groups now show no error. That is no proof that none is left, since one of less than about 0.017 they could not tell from chance. (And 0.003 is lucky: only 0.3 % of the draws are lower.) The log loss, which counts wrong answers and wrong probabilities together, falls as well.
#
# **Accuracy and calibration are two questions: one temperature changes no answer, and takes the calibration error from 0.14 to what chance alone gives.**

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

# %% jupyter={"source_hidden": true} tags=["setup"]
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
# If each read reviews of its own: no. Chance moves each number by ±0.02, and the difference by $\sqrt2$ times as much, ±0.029; it is 0.01. Let both read the same reviews, and count where only one of them is correct.
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
# * How many reviews and seeds a difference of a given size needs: a question of **power** (Card et al., 2020).
# * A shuffled review is unlike all that a model has learned from, so pairs may lose more than their order is worth.
# * Section 3 compares counting of whole reviews with an encoder of 200 words; on equal input no answers were kept, so there is no paired interval.
#
# </details>
#
# ## Summary
#
# | question | how | here |
# |---|---|---|
# | is one model better? | same reviews, disagreements | 71 to 34: word pairs beat words |
# | is one recipe better? | several seeds, one interval over films and seeds | last minus first 200 words: +0.0002 to +0.0177 |
# | does validation predict the test? | count what the two sides share, by class | at random nearly every film is known, by title none |
# | what does it use? | change the input, count the changed answers | the encoder: hardly the order |
# | can its probabilities be trusted? | reliability diagram, ECE beside its noise floor | the encoder's nearly, those with the strong penalty not |
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
# * R. Dror et al., *The hitchhiker's guide to testing statistical significance in natural language processing*, ACL 2018.
# * N. Reimers, I. Gurevych, *Reporting score distributions makes a difference*, EMNLP 2017: seeds.
# * D. Card et al., *With little power comes great responsibility*, EMNLP 2020.
# * X. Bouthillier et al., *Accounting for variance in machine learning benchmarks*, MLSys 2021.
# * C. Guo et al., *On calibration of modern neural networks*, ICML 2017.
# * J. Bröcker, L. Smith, *Increasing the reliability of reliability diagrams*, Weather and Forecasting 22, 2007: the noise floor.
# * A. Maas et al., *Learning word vectors for sentiment analysis*, ACL 2011: the reviews.
#
# <details><summary>If something looks wrong, runs slowly, or you want more</summary>
#
# **Your difference has p = 0.03, and the next run reverses it:** you tested two trained models, not two recipes. **Slow machine, or a GPU:** nothing here is trained; fewer bootstrap draws
# (`draws=1_000`) are enough to try things.
#
# **More:** S. Raschka, [*Model evaluation, model selection, and algorithm selection*](https://arxiv.org/abs/1811.12808), 2018, for tests that train again; Dietterich for which test to use when; Bouthillier for the
# sources of chance, measured. Confusion matrix, precision, recall and F1: Jurafsky and Martin, [*Speech and Language Processing*](https://web.stanford.edu/~jurafsky/slp3/). The ladder of models, labels and word vectors: [evidence](evidence/06.ipynb).
#
# </details>

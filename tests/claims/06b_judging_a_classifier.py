"""What lecture 6b says of its numbers: recorded answers to real reviews."""

from __future__ import annotations

import numpy as np
from claims.page import Page


def claims(page: Page) -> None:
    disagreements(page)
    seeds(page)
    procedure(page)
    splits(page)
    order(page)
    calibration(page)
    mistakes(page)
    givens(page)


def disagreements(page: Page) -> None:
    pairs, words, chance = page.numbers("answers", r"pairs ([\d.]+), words ([\d.]+); chance ±([\d.]+)")
    page.says(
        "One counts words and pairs, and is correct on {:.3f} of 4,596 reviews; the other counts words alone: {:.3f}. "
        "Chance alone moves either number by ±{:.3f}.",
        pairs, words, chance,
    )  # fmt: skip
    page.says(
        "So the 95 % interval of the first is {:.3f} to {:.3f}, that of the second {:.3f} to {:.3f}: the margins "
        "overlap.",
        pairs - chance, pairs + chance, words - chance, words + chance,
        holds=pairs - chance < words + chance,
    )  # fmt: skip
    b, c, square, other = page.numbers("mcnemar", r"b = (\d+), c = (\d+): chi square ([\d.]+)[^:]*: p = ([\d.]+)")
    untouched = page.numbers("mcnemar", r"test split: (\d+) to (\d+), p = [\d.]+e-\d+")
    page.says(
        "On the test split, which chose nothing, it is {:.0f} to {:.0f}: yes again.",
        *untouched,
        holds=untouched[0] > 1.5 * untouched[1],
    )
    page.says("Here b = {:.0f} and c = {:.0f}.", b, c)
    page.says("far above 3.84: yes", holds=[square > 3.84, round(72**2 / 234, 1) == square, b - c == 72, b + c == 234])
    page.says("below 3.84: cannot say", holds=[72**2 / 2000 < 3.84, other > 0.05])
    page.says("The accuracies differ by the same {:.0f} reviews both times.", b - c, holds=b - c == 1036 - 964)
    both, only_first, only_second, neither = page.numbers("agreement", r"neither: ([\d,]+), (\d+), (\d+), (\d+)\.")
    assert [only_first, only_second, both + neither + b + c] == [b, c, 4596]
    page.says("{:,.0f} reviews say nothing about which is better; {:.0f} do.", both + neither, b + c)
    page.says("{:.0f} to {:.0f} decides what two overlapping margins leave open", b, c)
    page.says("| is one model better? | same reviews, disagreements | {:.0f} to {:.0f}: pairs beat words |", b, c)


def seeds(page: Page) -> None:
    counts = np.reshape(page.numbers("per-seed", r"seed \d: +(\d+) to +(\d+), p = ([\d.e-]+)"), (6, 3))
    page.says(
        "With seed 2, McNemar's test prefers positions with p = 0.00006.",
        holds=[counts[2, 2] == 6e-5, counts[2, 0] > counts[2, 1]],
    )
    page.says(
        "with the other two seeds the encoder without positions is ahead, and the three together have {:,.0f} to "
        "{:,.0f}, a difference of {:.1f} points.",
        *counts[:3, :2].sum(axis=0), 100 * (counts[:3, 0] - counts[:3, 1]).sum() / 3 / 24_996,
        holds=(counts[:2, 0] < counts[:2, 1]).all(),
    )  # fmt: skip
    page.says(
        "Only one of the three tests has p < 0.05, but all three point the same way",
        holds=[(counts[3:, 0] > counts[3:, 1]).all(), np.sum(counts[3:, 2] < 0.05) == 1],
    )
    statistic, free, chance = page.numbers("welch", r"t = ([\d.]+), ([\d.]+) degrees of freedom, p = ([\d.]+)")
    page.says(
        "With t = {:.1f}, {:.1f} degrees of freedom and p = {:.3f} the last 200 words are ahead, on these reviews",
        statistic,
        free,
        chance,
        holds=chance < 0.05,
    )
    page.says("McNemar's test measures the chance in the reviews, a test over seeds the chance in the training")


def procedure(page: Page) -> None:
    shown = r"([+-][\d.]+), (?:95 % between )?([+-][\d.]+) \w+ ([+-][\d.]+)"
    pairs, seeds_drawn = np.reshape(page.numbers("interval", rf"difference {shown}"), (2, 3))
    by_review, averaged = np.reshape(page.numbers("averaged", rf": {shown}"), (2, 3))
    page.says(
        "It stays the same: drawing reviews changes next to nothing here",
        holds=np.allclose(pairs, by_review, atol=3e-4),
    )
    page.says(
        "With averaged seeds the interval of “last minus first” becomes narrower and no longer contains zero",
        holds=[np.ptp(averaged[1:]) < np.ptp(seeds_drawn[1:]), averaged[1] > 0 > seeds_drawn[1]],
    )
    looped = page.numbers("loop", r"between ([+-][\d.]+) and ([+-][\d.]+)")
    page.says("the last digits of an end depend on the draws", holds=np.allclose(looped, seeds_drawn[1:], atol=1.5e-3))
    page.says(
        "Its width is {:.4f}, and {:.4f} with averaged seeds, so most of the chance is in the films and reviews.",
        np.ptp(seeds_drawn[1:]),
        np.ptp(averaged[1:]),
        holds=np.ptp(averaged[1:]) ** 2 > 0.6 * np.ptp(seeds_drawn[1:]) ** 2,
    )
    page.says(
        "Three of the four intervals are far from zero: pairs beat words, and both beat the encoder, which reads "
        "less of each review.",
        holds=_far(page, shown),
    )
    page.says(
        "The interval for the last against the first 200 words reaches from −{:.4f} to +{:.4f}.",
        -seeds_drawn[1],
        seeds_drawn[2],
    )
    page.says(
        "With averaged seeds it began at {:+.4f}, and Welch's test had p = {:.3f}. Both chances together put the lower "
        "end at about zero",
        averaged[1],
        page.number("welch", r"p = ([\d.]+)"),
        holds=-0.001 < seeds_drawn[1] < 0,
    )
    page.says(
        "words and pairs − words {:+.4f} ({:+.4f} to {:+.4f}); last 200 − first 200 words {:+.4f} ({:+.4f} to {:+.4f})",
        *pairs,
        *seeds_drawn,
    )
    page.says("| last minus first 200 words: −{:.4f} to +{:.4f} |", -seeds_drawn[1], seeds_drawn[2])
    page.says("pairs are ahead of single words by {:.1f} points (95 % interval {:.1f} to {:.1f}; 4,596", *100 * pairs)
    page.says("Pair the reviews, repeat the seeds, report one interval.")


def _far(page: Page, shown: str) -> bool:
    found = np.reshape(page.numbers("forest", r"([+-][\d.]+) \(([+-][\d.]+) to ([+-][\d.]+)\)"), (4, 3))
    return bool((found[[0, 2, 3], 1] > 0.004).all() and found[1, 1] < 0.004)


def splits(page: Page) -> None:
    table = np.reshape(page.numbers("splits", r"negative (\d+)%, positive (\d+)% +([\d.]+) +([\d.]+)"), (2, 4))
    gap = 100 * (table[:, 2] - table[:, 3])
    page.says("Nearly all: {:.0f} % of the negative and {:.0f} % of the positive ones.", *table[0, :2])
    spread = [np.sqrt(held * (1 - held) / 5_000 + test * (1 - test) / 24_996) for held, test in table[:, 2:]]
    page.says(
        "the random split promises {:.1f} points more than the test split gives, the split by title {:.1f}, and chance "
        "moves each of these by about one point. One draw of each is a hint that leakage flatters, and no measurement.",
        *gap,
        holds=[0.9 < 196 * np.mean(spread) < 1.1, 196 * spread[0] < gap[0] < 300 * spread[0]],
    )
    page.says("by title no film is shared", holds=not table[1, :2].any())
    page.says("Count, in each class, what the held-back reviews share with training.")


def order(page: Page) -> None:
    page.says("so b = c; and b + c = 230, so 115 became correct.", holds=115 * 2 == 230)
    pairs, *encoders = np.reshape(page.numbers("order", r"only in order +(\d+), only shuffled +(\d+)"), (-1, 2))
    lost = page.numbers("order", r"minus shuffled ([+-][\d.]+), ([+-][\d.]+) to ([+-][\d.]+)")
    page.says(
        "Pairs lose {:.1f} points, so this model uses the order, and the experiment shows it.",
        100 * lost[0],
        holds=[lost[1] > 0, pairs[0] > pairs[1]],
    )
    ahead = 100 * page.number("interval", r"pairs minus words +difference ([+-][\d.]+)")
    page.says(
        "The order is worth less than that: a model trained on single words is only {:.1f} points behind.",
        ahead,
        holds=ahead < 100 * lost[0],
    )
    page.says(
        "In these reviews 15, 6 and 12 of its 4,596 answers change: the order of all its words decides one answer in "
        "three hundred, or fewer.",
        holds=[[sum(changes) for changes in encoders] == [15, 6, 12], 4596 / 15 > 300],
    )
    page.says(
        "shuffled words change hardly any answer of this encoder",
        holds=max(sum(changes) for changes in encoders) < 0.01 * 4596,
    )


def calibration(page: Page) -> None:
    encoder, weak, strong = np.reshape(
        page.numbers("reliability", r"accuracy ([\d.]+), mean confidence ([\d.]+)"), (3, 2)
    )
    weak_ece = page.number("reliability", r"words and pairs  .*ECE \[([\d.]+)\]")
    strong_ece = page.number("reliability", r"C = 1 .*ECE \[([\d.]+)\]")
    floors = np.reshape(page.numbers("reliability", r"its ECE ([\d.]+), in 95 of 100 draws below ([\d.]+)"), (3, 2))
    own = page.numbers("reliability", r"last 200 words .*ECE \[([\d.]+) +([\d.]+) +([\d.]+)\]")
    page.says(
        "overconfident: its mean confidence is {:.3f}, its accuracy {:.3f}.",
        encoder[1],
        encoder[0],
        holds=encoder[1] > encoder[0],
    )
    page.says(
        "Its ECE, {:.3f} to {:.3f}, is at or just above what chance alone gives ({:.3f} in the median, and up to "
        "{:.3f}).",
        min(own), max(own), *floors[0],
        holds=[min(own) >= floors[0, 1] > floors[0, 0], max(own) < 1.4 * floors[0, 1]],
    )  # fmt: skip
    page.says("a little underconfident, {:.3f} as well, against {:.3f}.", weak[1], weak[0], holds=weak[1] < weak[0])
    lost = 100 * np.array(page.numbers("reliability", r"minus C = 1: ([+\d.]+), ([+\d.]+) to ([+\d.]+)"))
    page.says(
        "the ECE rises from {:.3f} to {:.3f}, far above its noise floor of {:.3f}",
        weak_ece, strong_ece, floors[2, 0],
        holds=strong_ece > 5 * floors[2, 1],
    )  # fmt: skip
    page.says(
        "The accuracy is {:.3f}, {:.1f} points lower ({:.1f} to {:.1f}); but C = 30 was chosen on these reviews",
        strong[0], *lost,
        holds=lost[1] > 0,
    )  # fmt: skip
    after = page.number("temperature", r"half: [\d.]+ before, ([\d.]+) after")
    floor = page.number("temperature", r"floor after: ([\d.]+)")
    page.says(
        "On the other half the ECE falls from {:.3f} to {:.3f}. That is below its noise floor of {:.3f}",
        *page.numbers("temperature", r"half: ([\d.]+) before, ([\d.]+) after"), floor,
        holds=after < floor,
    )  # fmt: skip
    page.says("moves the probabilities towards one half (mean confidence: {:.3f})", strong[1])
    page.says(
        "costs about one point of accuracy, and makes the calibration error eight times as large",
        holds=[0.8 < 100 * (weak[0] - strong[0]) < 1.3, 7.5 < strong_ece / weak_ece < 8.6],
    )


def mistakes(page: Page) -> None:
    best = page.numbers("looks", r"reviews: ([\d.]+) on average")
    page.says(
        "Whoever tries several models on the test split and keeps the best one keeps its luck as well.",
        holds=[abs(best[0] - 0.87) < 0.0005, best[2] > best[1] > best[0]],
    )
    film = page.recorded("imdb_by_film")["results"]
    recipe = [film["ladder"][f"encoder with positions; seed {seed}"]["held back"] for seed in range(3)]
    gains = [
        100 * (recipe[seed] - film["search"][f"{name}; seed {seed}"]["held back"])
        for name in ("no hidden words", "maximum for the mean")
        for seed in range(3)
    ]
    shown = page.numbers("one-seed", r"([+-]\d\.\d)")
    page.says(
        "A search with one seed for each setting sees one number of each line below.",
        holds=[len(shown) == 6, np.allclose(gains, shown, atol=0.051), min(shown) < 0],
    )
    page.says("In the second line even the sign depends on the seed", holds=min(shown[3:]) < 0 < max(shown[3:]))


def givens(page: Page) -> None:
    page.given(
        "about 56 minutes to read and predict",
        "the code runs in ten seconds",
        because="counted by tests/lecture/test_lectures.py",
    )
    page.given(
        "The 4,596 reviews of 685 films were held back so that training has seen no other review of these films.",
        "read the same reviews of the test split of 24,996 reviews",
        "In IMDB up to 30 reviews are about one film",
        "Here are two ways to hold 5,000 reviews back",
        "5,000 of the 25,000 training reviews are held back at random.",
        because="counted by experiments/imdb_by_film.py and imdb_classifier.py",
    )
    page.given(
        'The margin of ±0.009 answers the question "what if there had been other reviews?"',
        "encoders that read the last 200 words of a review, against encoders that read its first 200",
        "The middle 95 % of these differences are the interval:",
        "with an encoder of 200 words; on equal input no answers were kept",
        "The penalty C of both linear models was chosen on the 4,596 reviews",
        because="said and shown in a sentence before",
    )
    page.given(
        "Above, of all 4,596 reviews, those that both models classify correctly, only pairs, only words, neither: "
        "4,002, 153, 81, 360. Below, the 153 and 81 alone.",
        "words (whole review) − encoder (200 words) +0.0159 (+0.0077 to +0.0241); pairs (whole review) − encoder (200 "
        "words) +0.0315 (+0.0234 to +0.0403).",
        "Differences with 95 % intervals",
        because="the words of a figure, made from what it draws",
    )
    page.given(
        "A model is correct on 4,010 of 4,596 reviews in order, and on 4,010 shuffled.",
        "Its answer changes on 230 reviews.",
        "of all answers with probability 0.9, nine in ten are correct",
        "C = 30 is weak, C = 1 strong.",
        "Choose the τ for which the log loss on half of the films is smallest; below 1 it makes the answers surer",
        "An ECE is never 0, not even of a perfectly calibrated model",
        "for C = 30 against C = 1 no answers to the test split were kept",
        "and it draws 4,000 times",
        "was chosen on these 4,596 reviews",
        "for words and pairs with C = 30 and C = 1",
        "Words and pairs with C = 30 are",
        "With C = 1, where only the penalty differs",
        "0.88 against your linear model's 0.87, each on 1,000 test reviews.",
        "No: chance moves each by ±0.02.",
        "You have X-rays of 500 patients",
        "Two models disagree on 40 of 10,000 reviews, 28 to 12.",
        "The accuracies differ by 0.0016, and",
        "above 3.84: chance would rarely do it.",
        "“p = 0.3, so the two models are equally good.” What is wrong? p = 0.3 says",
        because="an example, a setting, or calculated by hand",
    )

"""What lecture 6b says of its numbers: recorded answers to real reviews."""

from __future__ import annotations

import numpy as np
from claims.page import Page
from scipy.stats import t as student


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
    pairs, words, *chance = page.numbers("answers", r"reviews: \[([\d.]+) ([\d.]+)\], margins \[([\d.]+) ([\d.]+)\]")
    ahead, apart = page.numbers("answers", r"difference ([\d.]+); its margin, if [^:]*: ([\d.]+)")
    assert np.allclose(chance, 0.012, atol=6e-4)
    page.says(
        "One counts words and word pairs, and is correct on {:.3f} of {:,.0f} reviews; the other counts words alone: "
        "{:.3f}. Chance alone moves either number by about ±0.012.",
        pairs, page.number("answers", r"half of the films, ([\d,]+) reviews"), words,
    )  # fmt: skip
    page.says(
        "If each had read 2,450 reviews of its own, chance would move the difference by ±{:.3f}, and the difference is "
        "{:.3f}.",
        apart, ahead,
        holds=[ahead < apart, abs(np.hypot(*chance) - apart) < 1e-4],
    )  # fmt: skip
    page.says(
        "and not {:.3f}. Our {:.3f} is less than that: on different reviews you could not say.",
        sum(chance), ahead,
        holds=ahead < apart < sum(chance),
    )  # fmt: skip
    found = page.numbers(
        "mcnemar", r"b = (\d+), c = (\d+): chi square ([\d.]+), exact p = [^;]+; difference ([\d.]+) ± ([\d.]+)"
    )
    (b, c, square, _, margin), others, _ = np.reshape(found, (3, 5))
    other = page.number("mcnemar", r"263 to 226: p = ([\d.]+)")
    untouched = page.numbers("mcnemar", r"test split: (\d+) to (\d+), p = [\d.]+e-\d+")
    page.says(
        "The answer is yes, and the other half of the films agrees.",
        holds=[square > 3.84, others[2] > 3.84, others[0] > others[1]],
    )
    page.says(
        "That is ±{:.3f} in place of ±{:.3f}, without one new review.",
        margin,
        apart,
        holds=margin < ahead < apart,
    )
    page.says(
        "On the test split, which chose nothing, it is {:.0f} to {:.0f}: yes again.",
        *untouched,
        holds=untouched[0] > 1.5 * untouched[1],
    )
    page.says("Here b = {:.0f} and c = {:.0f}.", b, c)
    page.says("far above 3.84: yes", holds=[square > 3.84, round(37**2 / 105, 1) == square, b - c == 37, b + c == 105])
    page.says("below 3.84: cannot say", holds=[37**2 / 489 < 3.84, round(37**2 / 489, 1) == 2.8, other > 0.05])
    page.says("The difference is {:.0f} reviews both times.", b - c, holds=b - c == 263 - 226)
    both, only_first, only_second, neither = page.numbers("agreement", r"neither: ([\d,]+), (\d+), (\d+), (\d+)\.")
    assert [only_first, only_second, both + neither + b + c] == [b, c, 2450]
    page.says("The two make {:.0f} and {:.0f} errors.", neither + c, neither + b)
    page.says("{:,.0f} reviews say nothing about which is better; {:.0f} do.", both + neither, b + c)
    page.says(
        "{:.0f} to {:.0f} decides what two separate samples of this size would leave open",
        b, c,
        holds=[square > 3.84, ahead < apart],
    )  # fmt: skip
    page.says("| is one model better? | same reviews, disagreements | {:.0f} to {:.0f}: word pairs beat words |", b, c)


def seeds(page: Page) -> None:
    shown = r"seed \d: +(\d+) to +(\d+), p = ([\d.e-]+), ([+-][\d.]+) points"
    counts = np.reshape(page.numbers("per-seed", shown), (6, 4))
    (positions, ends) = np.reshape(page.numbers("per-seed", r"mean ([+-][\d.]+) ± ([\d.]+)"), (2, 2))
    page.says(
        "With seed 2, McNemar's test prefers positions with p = 0.00006.",
        holds=[counts[2, 2] == 6e-5, counts[2, 0] > counts[2, 1]],
    )
    page.says(
        "with the other two seeds the encoder without positions is ahead.",
        holds=(counts[:2, 0] < counts[:2, 1]).all(),
    )
    page.says(
        "Positions are worth {:.2f} ± {:.2f} points: they may add a point, or cost one.",
        *positions,
        holds=[positions[0] + positions[1] > 1, positions[1] - positions[0] > 0.9],
    )
    page.says(
        "Only one of the three tests has p < 0.05, but all three point the same way",
        holds=[(counts[3:, 0] > counts[3:, 1]).all(), np.sum(counts[3:, 2] < 0.05) == 1],
    )
    page.says(
        "The mean is {:.2f} ± {:.2f} points: the last 200 words are ahead, on these reviews",
        *ends,
        holds=ends[0] > ends[1],
    )
    quantiles = [round(float(student.ppf(0.975, n - 1)), digits) for n, digits in ((2, 1), (3, 2), (10, 2))]
    page.says("t is {:.1f} for two seeds, {:.2f} for three, {:.2f} for ten.", *quantiles)
    for one, (mean, margin) in ((counts[:3, 3], positions), (counts[3:, 3], ends)):
        assert abs(mean - one.mean()) < 0.006 and abs(margin - 4.30 * one.std(ddof=1) / 3**0.5) < 0.03
    page.says("McNemar's test measures the chance in the reviews, an interval over seeds the chance in the seeds")


def procedure(page: Page) -> None:
    shown = r"([+-][\d.]+), (?:95 % between )?([+-][\d.]+) \w+ ([+-][\d.]+)"
    pairs, seeds_drawn = np.reshape(page.numbers("interval", rf"difference {shown}"), (2, 3))
    by_hand = page.numbers("interval", r"section 1: +([+-][\d.]+) and ([+-][\d.]+)")
    by_review, averaged = np.reshape(page.numbers("averaged", rf": {shown}"), (2, 3))
    page.says(
        "It stays the same: drawing reviews changes next to nothing here, and the formula of section 1, which knows no "
        "films, agrees.",
        holds=[np.allclose(pairs, by_review, atol=3e-4), np.allclose(pairs[1:], by_hand, atol=3e-4)],
    )
    page.says(
        "With averaged seeds the interval of “last minus first” becomes narrower",
        holds=np.ptp(averaged[1:]) < np.ptp(seeds_drawn[1:]),
    )
    page.says(
        "Its width is {:.4f}, and {:.4f} with averaged seeds, so most of the chance is in the films and reviews.",
        np.ptp(seeds_drawn[1:]),
        np.ptp(averaged[1:]),
        holds=np.ptp(averaged[1:]) ** 2 > 0.6 * np.ptp(seeds_drawn[1:]) ** 2,
    )
    page.says(
        "Three of the four intervals are far from zero: word pairs beat words, and both beat the encoder, which reads "
        "less of each review.",
        holds=_far(page, shown),
    )
    page.says(
        "The interval for the last against the first 200 words begins at {:+.4f}: with both chances its lower end is "
        "about zero.",
        seeds_drawn[1],
        holds=abs(seeds_drawn[1]) < 0.001,
    )
    page.says(
        "word pairs − words {:+.4f} ({:+.4f} to {:+.4f}); last 200 − first 200 words {:+.4f} ({:+.4f} to {:+.4f})",
        *pairs,
        *seeds_drawn,
    )
    page.says("| last minus first 200 words: {:+.4f} to {:+.4f} |", *seeds_drawn[1:])
    page.says(
        "word pairs are ahead of single words by {:.1f} points (95 % interval {:.1f} to {:.1f}; 4,596", *100 * pairs
    )
    page.says("Compare on the same reviews, repeat the seeds, report one interval.")


def _far(page: Page, shown: str) -> bool:
    found = np.reshape(page.numbers("forest", r"([+-][\d.]+) \(([+-][\d.]+) to ([+-][\d.]+)\)"), (4, 3))
    return bool((found[[0, 2, 3], 1] > 0.004).all() and found[1, 1] < 0.004)


def splits(page: Page) -> None:
    live = np.reshape(page.numbers("cuts", r"in training: negative (\d+)%, positive (\d+)%"), (2, 2))
    page.says(
        "Nearly all: {:.0f} % of the negative and {:.0f} % of the positive ones.", *live[0], holds=not live[1].any()
    )
    table = np.reshape(page.numbers("splits", r"negative (\d+)%, positive (\d+)% +([\d.]+) +([\d.]+)"), (2, 4))
    gap = 100 * (table[:, 2] - table[:, 3])
    spread = [np.sqrt(held * (1 - held) / 5_000 + test * (1 - test) / 24_996) for held, test in table[:, 2:]]
    page.says(
        "the random split promises {:.1f} points more than the test split gives, the split by title {:.1f}, and chance "
        "moves each of these by about one point. One draw of each is a hint that leakage flatters, and no measurement.",
        *gap,
        holds=[0.9 < 196 * np.mean(spread) < 1.1, 196 * spread[0] < gap[0] < 300 * spread[0]],
    )
    page.says(
        "At random nearly every film is known; by title no film is shared.",
        holds=[min(table[0, :2]) > 90, not table[1, :2].any()],
    )
    page.says(
        "(Section 1 holds other reviews back, so words have {:.3f} there.)",
        page.number("answers", r"pairs [\d.]+, words ([\d.]+);"),
    )
    page.says("Count, in each class, what the held-back reviews share with training.")


def order(page: Page) -> None:
    page.says("so b = c; and b + c = 230, so 115 became correct.", holds=115 * 2 == 230)
    pairs, *encoders = np.reshape(page.numbers("order", r"only in order +(\d+), only shuffled +(\d+)"), (-1, 2))
    lost = page.numbers("order", r"minus shuffled ([+-][\d.]+), ([+-][\d.]+) to ([+-][\d.]+)")
    page.says(
        "Word pairs lose {:.1f} points, so this model uses the order, and the experiment shows it.",
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
        "In these reviews one shuffle of all its words changes 15, 6 and 12 of its 4,596 answers, one in three hundred "
        "or fewer.",
        holds=[[sum(changes) for changes in encoders] == [15, 6, 12], 4596 / 15 > 300],
    )
    counted, read = page.numbers("order", r"moves by ([\d.]+) on average")
    page.says("by {:.3f} on average, those of word pairs by {:.3f}.", read, counted, holds=10 * read < counted)
    page.says(
        "shuffled words change hardly any answer of this encoder",
        holds=max(sum(changes) for changes in encoders) < 0.01 * 4596,
    )


def calibration(page: Page) -> None:
    encoder, weak, strong = np.reshape(
        page.numbers("reliability", r"accuracy ([\d.]+), mean confidence ([\d.]+)"), (3, 2)
    )
    shown = r"ECE ([\d.]+); chance alone ([\d.]+), 95 % below ([\d.]+), ([\d.]+)% below this ECE"
    first, second, third, weak_ece, strong_ece = np.reshape(page.numbers("reliability", shown), (5, 4))
    page.says(
        "a little overconfident: its mean confidence is {:.3f}, its accuracy {:.3f}.",
        encoder[1],
        encoder[0],
        holds=encoder[1] > encoder[0],
    )
    page.says(
        "with two of three seeds more than 99 % of the draws lie below its ECE of {:.3f} (with the first, {:.0f} % "
        "below {:.3f}).",
        second[0], first[3], first[0],
        holds=[second[0] == third[0], min(second[3], third[3]) > 99],
    )  # fmt: skip
    page.says(
        "are as far off on the other side, {:.3f} against {:.3f}, and their ECE of {:.3f} is beyond chance as well.",
        weak[1], weak[0], weak_ece[0],
        holds=[weak[1] < weak[0], weak_ece[3] > 99, abs(weak_ece[0] - second[0]) < 0.002],
    )  # fmt: skip
    page.says(
        "C = 1 is far worse: its ECE is {:.3f}.",
        strong_ece[0],
        holds=[strong_ece[0] > 5 * strong_ece[2], strong_ece[0] > 5 * weak_ece[0]],
    )
    page.says("moves the probabilities towards one half (mean confidence: {:.3f}).", strong[1])
    page.says("(Its accuracy is lower, too; but C = 30 was chosen on these reviews.)", holds=strong[0] < weak[0])
    halves = np.reshape(page.numbers("temperature", shown), (2, 2, 4))  # (half, before and after, what is shown)
    page.says(
        "The ECE falls from {:.3f} to {:.3f}, and with the halves exchanged from {:.3f} to {:.3f}. Chance alone gives "
        "{:.3f} and {:.3f} in the median",
        *halves[:, :, 0].ravel(), *halves[:, 1, 1],
    )  # fmt: skip
    page.says(
        "on either half five groups now show no error. That is no proof that none is left, since one of less than "
        "about {:.3f} they could not tell from chance.",
        halves[:, 1, 2].mean(),
        holds=(halves[:, 1, 3] < 95).all(),
    )
    page.says("(And {:.3f} is lucky: only {:.1f} % of the draws are lower.)", halves[0, 1, 0], halves[0, 1, 3])
    losses = np.reshape(page.numbers("temperature", r"log loss ([\d.]+)"), (2, 2))
    page.says(
        "The log loss, which counts wrong answers and wrong probabilities together, falls as well.",
        holds=(losses[:, 1] < losses[:, 0]).all(),
    )
    page.says(
        "one temperature changes no answer, and takes the calibration error from {:.2f} to what chance alone gives.",
        halves[0, 0, 0],
        holds=[abs(halves[1, 0, 0] - halves[0, 0, 0]) < 0.01, (halves[:, 1, 0] < halves[:, 1, 2]).all()],
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
        "about 59 minutes to read and predict",
        "the code runs in ten seconds",
        because="counted by tests/lecture/test_lectures.py",
    )
    page.given(
        "The 4,596 reviews of 685 films were held back so that training has seen no other review of these films.",
        "A fifth of the 4,596 reviews is held back at random.",
        "read the same reviews of the test split of 24,996 reviews",
        "In IMDB up to 30 reviews are about one film",
        "In recorded runs 5,000 of the 25,000 training reviews were held back, in these two ways",
        because="counted by experiments/imdb_by_film.py and imdb_classifier.py",
    )
    page.given(
        'The margin of ±0.012 answers the question "what if there had been other reviews?"',
        "encoders that read the last 200 words of a held-back review, against encoders that read its first 200",
        "If they never erred on the same review, b would be 263 and c 226, with the same accuracies.",
        "The 95 % interval is",
        "with } t=4.30\\text{ for three seeds.}",
        "Student's t replaces the 1.96, because",
        "The middle 95 % of these differences are the interval.",
        "with an encoder of 200 words; on equal input no answers were kept",
        "the penalties were chosen on these 4,596 reviews",
        because="said and shown in a sentence before",
    )
    page.given(
        "Above, of 2,450 reviews, those that both models classify correctly, only word pairs, only words, neither: "
        "2,153, 71, 34, 192. Below, the 71 and 34 alone.",
        "words (whole review) − encoder (200 words) +0.0159 (+0.0077 to +0.0241); word pairs (whole review) − encoder "
        "(200 words) +0.0315 (+0.0234 to +0.0403).",
        "Differences with 95 % intervals",
        because="the words of a figure, made from what it draws",
    )
    page.given(
        "A model is correct on 4,010 of 4,596 reviews in order, and on 4,010 shuffled.",
        "Its answer changes on 230 reviews.",
        "of all answers with probability 0.9, nine in ten are correct",
        "C = 30 is weak; C = 1, the default, is strong.",
        "Choose the τ for which the log loss on half of the films is smallest; below 1 it makes the answers surer",
        "An ECE is never 0, not even of a perfectly calibrated model",
        "Words and pairs with C = 30 are",
        "0.88 against your linear model's 0.87, each on 1,000 test reviews.",
        "Chance moves each number by ±0.02, and the difference by $\\sqrt2$ times as much, ±0.029; it is 0.01.",
        "You have X-rays of 500 patients",
        "Two models disagree on 40 of 10,000 reviews, 28 to 12.",
        "The accuracies differ by 0.0016, and",
        "above 3.84: chance would rarely do it.",
        "“p = 0.3, so the two models are equally good.” What is wrong? p = 0.3 says",
        because="an example, a setting, or calculated by hand",
    )

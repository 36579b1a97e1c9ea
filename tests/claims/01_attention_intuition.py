"""What lecture 1 says of its numbers."""

from __future__ import annotations

import numpy as np
from claims.page import Page

NUMBER = r"([\d.]+)"
SCORES = ("content (cosine)", "additive", "location-based", "general", "dot", "scaled dot")

CHART = "application/vnd.vegalite.v5+json"


def claims(page: Page) -> None:
    page.given("about 86 minutes to read", because="counted by tests/test_lectures.py")
    one_state(page)
    limits_of_recurrence(page)
    pooling(page)
    alignment(page)
    scores(page)
    soft_and_hard(page)
    mistakes_and_questions(page)
    live_figure(page)


def one_state(page: Page) -> None:
    page.given("A page of 5 by 8", because="how the page is drawn")
    page.says("a frame stands around each of its two sevens", holds=page.number("7f33fe62", r"page: (\d+)") == 2)
    page.given(
        "the state of 128 numbers", "4 × 32 = 128 numbers", "a vector of 64 numbers", because="sizes of the model"
    )
    page.given(
        "with 32 units in each direction", "(an LSTM has two states, in two directions)", because="sizes of the model"
    )
    shares = page.numbers("4562c9a9", r"(\d+)% of the dates")
    page.says("So the shares {:.0f} %, {:.0f} % and {:.0f} %", *shares)
    ratios = [100 / count - share for count, share in zip((1, 2, 3), shares, strict=True)]
    page.says("are close to 1, 1/2 and 1/3", holds=max(map(abs, ratios)) < 5)
    first_of_three, *others = page.numbers("4562c9a9", rf"3 per line.*\[{NUMBER} +{NUMBER} +{NUMBER} *\]")
    page.says(
        "for one date of each line , the first, and for hardly any other",
        holds=[first_of_three > 0.8, max(others) < 0.1],
    )
    places = page.numbers("4562c9a9", rf"(?:\[| ){NUMBER}(?=[ \]])")
    page.says(
        "In our run the place of the date decides.",
        holds=[min(places[0], places[1], places[3]) > 0.9, max(places[2], *places[4:]) < 0.1],
    )
    page.given(
        "Three dates are about 45 bits (each is one of some 36,500 days), and the state holds 128", because="by hand"
    )


def limits_of_recurrence(page: Page) -> None:
    plain, open_gate, half_open = page.numbers("0d34e188", rf"times {NUMBER} a step")
    falls_as_drawn = open_gate > plain > half_open
    page.says(
        "The LSTM of Keras falls most slowly. With a forget bias of 0 it falls faster than the simple RNN.",
        holds=falls_as_drawn,
    )
    page.says(
        "the LSTM with forget bias 1 most slowly, the LSTM with forget bias 0 fastest, the simple RNN between them",
        holds=falls_as_drawn,
    )
    page.says("every step back multiplies by a factor below one", holds=max(plain, open_gate, half_open) < 1)
    page.given("spreads its weight over 59 tokens", "Step 100 needs step 99", because="by definition")
    page.given(
        "forget gate at 1, so the gate lets about σ(1) = 0.73",
        "with bias 0 it lets about σ(0) = 0.5",
        because="by hand",
    )
    page.given("| T | 1 |", because="by definition")


def pooling(page: Page) -> None:
    approximate = page.number("8faf8b62", rf"approximate {NUMBER}")
    page.says("The exact query fails", holds="no such key" in page.output("8faf8b62") and approximate == 15)
    page.given(
        "the weights sum to 1",
        "all its weights are 0",
        "| 1 where the key equals",
        "| 1 for the nearest key, 0",
        because="by definition",
    )
    page.given(
        "| 1/k for the k nearest, 0 elsewhere",
        "weights come out and sum to 1",
        "sum to 1 for every step i",
        because="by definition",
    )
    page.given("at the distance σ a key has 61 % of the kernel that it has at distance 0", because="by hand: exp(−1/2)")
    page.given(
        "Keys 0, 1, 3 with values 2, 4, 0; query 1; σ = 1.",
        "| 1 | −0.5 | 0.607 |",
        "| 3 | 4 | −2 | 0.135 |",
        because="by hand",
    )
    weights = page.numbers("0e5eaccd", rf"\[{NUMBER} {NUMBER} {NUMBER}\]")
    page.says("| 0 | 1 | −0.5 | 0.607 | 0.607 / 1.742 = {:.3f} | 0.696 |", weights[0])
    page.says("| 1 | 0 | 0 | 1 | 1 / 1.742 = {:.3f} | 2.296 |", weights[1])
    page.says("| 3 | 4 | −2 | 0.135 | 0.135 / 1.742 = {:.3f} | 0 |", weights[2])
    page.says("| sum | 1.742 | 1 | {:.3f} |", page.number("0e5eaccd", rf"output {NUMBER}"))

    page.given(
        "150 noisy measurements", "150 noisy points with bandwidths 0.02, 0.2 and 3", because="what the cell draws"
    )
    page.given(
        "at σ = 3 the darkest and the lightest cell differ by a factor of about four", because="by hand: exp(25/18)"
    )
    errors = page.numbers("04ffbe74", rf"error at σ = {NUMBER}")
    on_data, left_out, true = errors
    page.says(
        "(a) at the smallest σ of all, (b) and (c) somewhere in the middle",
        holds=[on_data == 0.01, 0.05 < left_out < 1, 0.05 < true < 1],
    )
    page.says("finds nearly the same σ as (c)", holds=0.7 < left_out / true < 1.4)
    page.says("Check it with vectors", holds="True" in page.output("d9a26f6c") and page.numbers("d9a26f6c")[0] < 0.01)


def alignment(page: Page) -> None:
    page.given("i − 1", "sections 11.1 to 11.3", because="by definition, or cited")
    page.given("tanh gives (0.964, 0)", "exp: 2.622, 4.586, 5.616; sum 12.824", because="by hand")
    weights = page.numbers("69bddc40", rf"weights \[{NUMBER} {NUMBER} {NUMBER}\]")
    context = page.numbers("69bddc40", rf"context \[{NUMBER} {NUMBER}\]")
    page.says("Weights {:.3f}, {:.3f}, {:.3f} .", *weights)
    page.says("{:.3f} · 1 + {:.3f} · 0 + {:.3f} · 1 = {:.3f} , second", *weights, context[0])
    page.says("second {:.3f} + {:.3f} = {:.3f} .", *weights[1:], context[1])
    page.given("had 16 epochs, this one only 5", because="how the cells train")
    without, with_attention = page.numbers("a74e9342", r"parameters: ([\d,]+) without, ([\d,]+) with")
    page.says("and {:.0f} % more parameters, the second network reads every line", 100 * with_attention / without - 100)
    right = page.numbers("6caa92c5", r"(\d+)% right without, (\d+)% with")
    page.says(
        "Close to all of them, and hardly less for three dates than for one",
        holds=[min(right[1::2]) > 95, right[1] - right[5] < 4],
    )
    page.says("with attention every place is near 1", holds=95 < min(right[1::2]) <= max(right) <= 100)
    first_of_three, *others = page.numbers("4562c9a9", rf"3 per line.*\[{NUMBER} +{NUMBER} +{NUMBER} *\]")
    page.says(
        "without it the first date is near 1 and all later ones are near 0",
        holds=[first_of_three > 0.85, max(others) < 0.1],
    )
    page.given("17 written tokens by 18 source tokens", because="the sizes of the matrix")
    alone, attentive = (
        page.numbers("a97fea05", rf"right: \[{NUMBER} +{NUMBER} +{NUMBER} +{NUMBER} *\]")[:4],
        page.numbers("a97fea05", rf"with +attention.*\[{NUMBER} +{NUMBER} +{NUMBER} +{NUMBER} *\]"),
    )
    page.says("With the second date, yes: it is lost without attention. (The first is right in both networks.)",
              holds=[alone[1] < 0.1, attentive[1] > 0.8, alone[0] > 0.8, attentive[0] > 0.8])  # fmt: skip
    page.says(
        "the third date is lost and some of the fourth are right", holds=[attentive[2] < 0.1, 0.1 < attentive[3] < 0.9]
    )


def scores(page: Page) -> None:
    page.given("succeeds or guesses (1 of 5)?", because="a question")
    figure = "the numbers in the figure's cells"
    page.given("Same language: all but location-based.", "By place: only location-based", because=figure)
    page.given("its scores lie between −1 and 1", because="by definition")
    sharp = page.numbers("ed3df632", rf"item {NUMBER}")
    page.says(
        "so the softmax of five stays nearly even", holds=[sharp[0] < 0.5, sharp == sorted(sharp), sharp[-1] > 0.95]
    )
    page.given("With D = 16 its scores have a standard deviation of about 4", because="by hand: the root of D")
    counts = page.numbers("1d858e6d", r"(\d+) learnable")
    page.says(
        "Six scores: additive, location-based and general have parameters",
        holds=[bool(count) for count in counts] == [False, True, True, True, False, False],
    )


def soft_and_hard(page: Page) -> None:
    kinds = page.numbers("c12c7803", r"'(\d+)% right'")
    page.says(
        "Nearly as many as with all places", holds=[kinds == sorted(kinds, reverse=True), kinds[0] - min(kinds) <= 6]
    )


def mistakes_and_questions(page: Page) -> None:
    page.given(
        "Masked scores set to 0",
        "A score of 0 is a score",
        "no longer sum to 1",
        "the sum over S must be 1",
        "exp(1000) is infinite",
        because="by definition",
    )
    masked = page.numbers("3ccb8600", rf"right item {NUMBER}, padding {NUMBER}")
    page.says("How bad it is depends on the scores", holds=masked[1] > 2 * masked[5] > 0)
    page.says("hardly any weight goes to padding", holds=page.number("21ae6d8a", rf"out: {NUMBER}%") < 1)
    to_zero = page.numbers("cf9e18c1", r"set to 0: +" + r"\[" + r" *([\d.]+)" * 5)
    page.says("First row: padding gets nearly half of the weight", holds=0.4 < sum(to_zero[3:]) < 0.5)
    page.says("Third row: the mask came after the softmax", holds=page.number("cf9e18c1", rf"sum {NUMBER}") < 0.9)
    page.says(
        "With `axis=-2` the queries compete for every key",
        holds="axis=-2: sums over the keys [1.46 2.54]" in page.output("3f53bea4"),
    )
    page.says(
        "Subtracting the largest score changes nothing else",
        holds=page.numbers("cb5fcd57", r"subtracted: +\[([\d.]+) ([\d.]+)") == [0.245, 0.665],
    )
    page.given("see mistake 1.", because="a reference")
    page.says(  # where the smallest numbers of float32 are flushed to 0, it is 88 below; where they are kept, 104
        "(in float32 it rounds to 0 about a hundred below the largest score)",
        holds=np.exp(-87.0) > 2.0**-126 > np.exp(-88.0) > np.exp(-103.0) > 2.0**-150 > np.exp(-104.0),
    )
    page.says("There are two softmaxes", holds=page.numbers("ddcb1bcd", r"sum ([\d.]+)") == [1, 1])
    page.given("the scores 2, 2, 2, 2", "the scores 100, 100, 100, 100", "¼ each", because="a question")
    page.given(
        "all values are 5",
        "Answer 5. The weights sum to 1",
        "T = 7 decoder states of width 64 ask S = 11 annotations of width 48",
        because="a question",
    )
    page.given(
        "connect width 64 with width 48",
        "do not sum to 1 |",
        "2,000 lines in place of 4,000, and fewer",
        "`UNITS = 128` and 24 epochs",
        because="a question, or advice",
    )
    page.given("through a softmax, and sum to 1", because="by definition")


def live_figure(page: Page) -> None:
    """The answer below the measurements is computed from the numbers that the figure stores."""
    shown = next(each.data[CHART] for each in page.cells["live-bandwidth"].outputs if CHART in each.data)
    (rows,) = shown["datasets"].values()
    keys, values = (np.array([row[name] for row in rows]) for name in ("key", "value"))

    def pooled(query: float, sigma: float) -> tuple[np.ndarray, float]:
        weights = np.exp(-(((query - keys) / sigma) ** 2) / 2)
        weights /= weights.sum()
        return weights, float(weights @ values)

    narrow, wide = (abs(pooled(2.6, sigma)[1] - pooled(2.5, sigma)[1]) for sigma in (0.02, 3))
    near = int((pooled(2.5, 0.02)[0] > 0.01).sum())
    page.says(
        "so there are about three on a stretch of 0.1, which is the width of the bell at σ = 0.02.", holds=near == 3
    )
    page.says(
        "the largest weight is {:.1f} times the smallest.", np.ptp(pooled(2.5, 3)[0]) / pooled(2.5, 3)[0].min() + 1
    )
    page.says("changes more, by {:.2f}: at 2.6 it is an average of other measurements.", narrow)
    page.says("The estimate with σ = 3 changes by {:.2f}.", wide)
    page.given(
        "The same 150 measurements",
        "one row of the maps above",
        "Set the query to 2.5.",
        "How many of the 150 bars are high enough to be seen at σ = 0.02? And at σ = 3? Then move the query to 2.6",
        "The 150 measurements lie on a stretch of length 5",
        "At σ = 3 all 150 bars can be seen",
        "The estimate with σ = 0.02 changes more",
        "at 2.6 it is",
        because="the controls of the figure, and the cell that draws the measurements",
    )

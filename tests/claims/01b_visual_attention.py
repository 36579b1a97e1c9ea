"""What lecture 1b says of its numbers, and which outputs the numbers come from."""

from __future__ import annotations

import numpy as np
from claims.page import Page


def claims(page: Page) -> None:
    photograph(page)
    network(page)
    deletion(page)
    x_rays(page)
    captions(page)
    mistakes(page)
    given(page)


def photograph(page: Page) -> None:
    flower, china, equal = np.reshape(
        page.numbers("b1b-cam", r"flower (\d+)%, map of china ([\d.]+)%; equal weights ([\d.]+)%"), (3, 3)
    ).T
    page.says(
        "The square holds {:.0f}, {:.0f} and {:.0f} % of the map of *flower* (three seeds), "
        "and less than 1 % of the map of *china*. Equal weights would put {:.1f} % there.",
        *flower, equal[0],
        holds=china.max() < 1,
    )  # fmt: skip
    page.says("The map of class flower lights up where the flower was pasted.", holds=flower.min() > 10 * equal[0])
    page.given(
        "The pasted square covers 6 % of the photograph.",
        because=f"64 · 64 of 214 · 320 pixels: {64 * 64 / 214 / 320:.3f}",
    )
    page.says(
        "only by a factor, the number of positions", holds=page.numbers("b1b-ratio", r"\[([\d.]+)\]") == [26 * 40]
    )
    page.given("averages over 26 · 40 = 1040 of them", because="calculated by hand")
    page.says("Grad-CAM needs only a gradient")


def network(page: Page) -> None:
    beside = page.evidence("01")
    found = np.reshape(
        page.numbers(
            "b1b-trained", r"seed \d: (\d+)% correct.*A1 (\d+)%, A2 (\d+)%, Grad-CAM F1 (\d+)%, Grad-CAM g (\d+)%"
        ),
        (3, 5),
    )
    correct, first, second = found.T[:3]
    page.says(
        "Trained on classes alone, the network learns where the digit is: A1 puts {:.0f} to {:.0f} % of itself there.",
        first.min(),
        first.max(),
    )
    rows = [beside.number("digit-maps", r"with attention: ([\d,]+) parameters")]  # the controls stand in the evidence
    page.says(
        "the accuracy of one seed moves by more than ten points with the number of processor cores that train it",
        holds=[correct[0] - 73 > 10, rows[0] > 0],  # 73 %: on one core, told in the evidence
    )
    page.says("with seed 2 it has {:.0f} % in the box, like a map that knows nothing", second[2], holds=second[2] == 11)
    coarse = beside.number("digit-maps", r"knows the position puts (\d+)%")
    page.says(
        "where its authors draw it, is near chance: {:.0f}, {:.0f} and {:.0f} %. Its 3 × 3 cells are coarse, but a "
        "3 × 3 map that knows the position puts {:.0f} % there",
        *found.T[4], coarse, holds=abs(found.T[4] - 11).max() < 4,
    )  # fmt: skip


def x_rays(page: Page) -> None:
    """What the evidence says of the deletion and its control, the own map shifted."""
    beside = page.evidence("01")
    left = {
        owner: beside.number("x-rays", rf"A1, {owner} +AUC after .*40 %: ([\d.]+)")
        for owner in ("own", "another's", "own, shifted", "random")
    }
    beside.says(
        "the own map A1 leaves an AUC of {:.3f}, another image's map {:.3f}, the shifted map {:.3f}, and random "
        "positions {:.3f}",
        *left.values(),
        holds=left["own"] < left["another's"] < left["own, shifted"] < left["random"],
    )
    lost = np.reshape(beside.numbers("x-rays", r"(?m)own minus own shifted.*by seed" + r" ([-+][\d.]+)" * 5), (2, 5))
    beside.says(
        "with seed 1 the shifted map costs no less than the own one",
        holds=[*(lost[:, 0] > 0), *(lost[:, 1:] < 0).ravel()],
    )
    whole = np.mean(
        [run["AUC"] for run in page.recorded("xray_attention")["results"]["runs"] if run["kind"] == "attention"]
    )
    beside.says(
        "So more than half of the loss comes from the position of the hole",
        holds=left["own, shifted"] - left["own"] > 0.5 * (whole - left["own"]),
    )
    assert beside.failures == []


def deletion(page: Page) -> None:
    names = ("a random window", "the digit", "A1", "A2", "Grad-CAM F1", "Grad-CAM g")
    left = {
        name: np.array(page.numbers("b1b-deletion", rf"(?m)^without {name} +(\d+)% +(\d+)% +(\d+)% correct"))
        for name in names
    }
    page.says(
        "Without A1's window {:.0f}, {:.0f} and {:.0f} % of the answers are still correct, without Grad-CAM's {:.0f}, "
        "{:.0f} and {:.0f} %, and guessing would give 10.",
        *left["A1"], *left["Grad-CAM F1"], holds=abs(left["the digit"] - 10).max() < 3,
    )  # fmt: skip
    difference, low, high = page.numbers(
        "b1b-deletion", r"after A1: ([+-][\d.]+) points \(([+-][\d.]+) to ([+-][\d.]+)\)"
    )
    page.says(
        "The difference is {:.1f} points, and its interval includes zero (−{:.1f} to +{:.1f}).",
        difference, -low, high,
        holds=low < 0 < high,
    )  # fmt: skip
    apart = page.numbers("b1b-deletion", r"after a random window: ([+-][\d.]+) points")
    page.says("Judged by deletion, A1 and Grad-CAM at F1 are right about the digit", holds=apart[-1] < -40)
    page.says(
        "Nor does Grad-CAM at g mark much: {:.0f}, {:.0f} and {:.0f} % without its window, {:.0f}, {:.0f} and {:.0f} % "
        "without a random one.",
        *left["Grad-CAM g"], *left["a random window"],
        holds=(left["a random window"] - left["Grad-CAM g"]).max() < 15,
    )  # fmt: skip
    every, elsewhere, control, only = np.reshape(
        page.numbers("b1b-elsewhere", r"(\d+)% +(\d+)% +(\d+)% correct"), (4, 3)
    )
    page.says(
        "Without Grad-CAM's window elsewhere {:.0f}, {:.0f} and {:.0f} % of the answers are correct (three seeds), and "
        "{:.0f}, {:.0f} and {:.0f} % without a random window there. With everything there it is {:.0f}, {:.0f} and "
        "{:.0f} %.",
        *elsewhere, *control, *every,
    )  # fmt: skip
    page.says(
        "with nothing but the digit {:.0f}, {:.0f} and {:.0f} % are correct, more than with everything there.", *only,
        holds=(only > every).all(),
    )  # fmt: skip
    page.says(
        "what Grad-CAM at F1 marks elsewhere these answers do not need.",
        holds=[(elsewhere > control - 4).all(), (only >= every).all()],
    )
    page.says(
        "the window of A2 of seed 2 costs no more than a random one",
        holds=left["A2"][2] >= left["a random window"][2],
    )
    asked = np.reshape(page.numbers("b1b-two", r"(\d+)% on digit 1, (\d+)% on digit 2"), (3, 2))
    page.says(
        "Grad-CAM moves to the chosen digit; A1 splits its weight between the two.",
        holds=[asked[0, 0] > 2 * asked[0, 1], asked[1, 1] > 2 * asked[1, 0], abs(asked[2, 0] - asked[2, 1]) < 10],
    )


def captions(page: Page) -> None:
    written = np.reshape(page.numbers("b1b-captions", r"error (\d+)% (\d+)% (\d+)%.*next (\d+)% (\d+)% (\d+)%"), (3, 6))
    soft, hard, draws = written
    page.says(
        "Soft attention learned where to look without being told a position; "
        "hard attention, trained on samples only, did so with one seed of three.",
        holds=[soft[3:].min() > 80, np.sum(draws[3:] > 50) == 1, soft[:3].min() > hard[:3].max()],
    )
    page.says(
        "Hard attention puts more of its weight on the digit that is named ({:.0f}, {:.0f} and {:.0f} %) than soft "
        "attention ({:.0f}, {:.0f} and {:.0f} %), and yet it writes fewer captions without an error: {:.0f} to "
        "{:.0f} % against {:.0f} to {:.0f} %.",
        *hard[3:], *soft[3:], hard[:3].min(), hard[:3].max(), soft[:3].min(), soft[:3].max(),
        holds=[hard[3:].min() > soft[3:].max(), hard[:3].max() < soft[:3].min()],
    )  # fmt: skip
    told = page.recorded("show_attend_tell")["results"]
    lines = told["first test scenes"]["soft"]
    parked = [[np.ravel(line["maps"][at]) for at in (-3, -1)] for line in lines]  # before the second "a", and the end
    cells = {int(weights.argmax()) for pair in parked for weights in pair}
    top, left = np.divmod(cells.copy().pop(), 6)
    page.says(
        "soft attention puts most of its weight on one empty cell at the upper edge.",
        holds=[
            top == 0,
            [line["words"][-3] for line in lines] == ["a"] * 3,
            min(weights.max() for weights in parked[0]) > 0.8,
            len(cells) == 1,
            not np.array(told["scenes"]["images"])[0, :4, 4 * left : 4 * left + 4].any(),
        ],
    )
    page.given("The weights must sum to 1", because="by definition")


def mistakes(page: Page) -> None:
    page.says("So every weight is 1", holds="smallest weight 1.0000" in page.output("b1b-softmax"))
    logit, probability = page.numbers("b1b-probability", r"largest value ([\d.]+)")
    page.says("nearly zero where the network is sure", holds=probability < logit / 100)


def given(page: Page) -> None:
    page.given(
        "about 46 minutes to read and predict",
        "a real handwritten digit of 8 × 8 pixels (scikit-learn) at a random position of a 24 × 24 image",
        "A map that knows nothing puts 64/576 = 11 % of itself into the digit's box.",
        "both CC BY 2.0.",
        "all on one scale from 0 to 1",
        "Grad-CAM at F1 and at g, all of seed 2.",
        "Set to zero the 8 × 8 window of the image that holds most of the map",
        "The deletion takes away one window of 8 × 8 pixels.",
        "In section 5 “hard” used",
        "That is less than 6 % because only the positions of the map that lie wholly inside the square are counted.",
        "The scores of a map have the shape (B, h, w, 1)",
        "The slope of a softmax is p(1 − p)",
        "Grad-CAM, from the logit of class 3.",
        "features times mean gradients, cut at 0 |",
        "(B, h, w, 1), sums to 1 |",
        "and the positions of F are the keys",
        "A map that knows nothing would put 11 % on the named digit.",
        "A network ends in the average of a 3 × 3 map",
        "By 9, the number of positions.",
        "Map A1 puts 90 % of its weight on a digit.",
        "The window of a map costs 10 points of accuracy.",
        because="the design of the page, an example, or calculated by hand",
    )

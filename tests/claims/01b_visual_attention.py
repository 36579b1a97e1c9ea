"""What lecture 1b says of its numbers."""

from __future__ import annotations

import numpy as np
from claims.page import Page


def claims(page: Page) -> None:
    page.given("about 64 minutes to read", because="counted by tests/test_lectures.py")
    slopes(page)
    drawing_a_place(page)
    two_kinds_of_maps(page)
    attention_in_the_network(page)
    maps_compared(page)
    deleted_and_asked(page)
    x_rays(page)
    captions(page)
    mistakes_and_questions(page)


def slopes(page: Page) -> None:
    page.says("Zero everywhere except at the jumps", holds=page.number("ffcec271", r"at (\d+)% of") > 95)
    soft = page.numbers("3ccedb85", r"soft: +\[ *(-?[\d.]+) +(-?[\d.]+) +(-?[\d.]+)\]")
    page.says("`None`: no way back", holds=["hard: None" in page.output("3ccedb85"), abs(sum(soft)) < 0.002])


def drawing_a_place(page: Page) -> None:
    page.given(
        "for n = 1? For n = 100?",
        "so with 100 draws the direction",
        "from 1, 10 and 100 random looks",
        because="a question",
    )
    page.given(
        "With one look the direction is mostly wrong; with 100 looks it is nearly right", because="the figure's boxes"
    )
    true = page.numbers("de9f53a8", r"true gradient +\[" + r" *(-?[\d.]+)" * 6)
    mean = page.numbers("de9f53a8", r"all the estimates +\[" + r" *(-?[\d.]+)" * 6)
    page.says(
        "The estimate is right on average", holds=max(abs(a - b) for a, b in zip(true, mean, strict=True)) < 0.005
    )
    plain = page.numbers("de9f53a8", r"plain: scatter . .gradient. \[" + r" *([\d.]+)" * 6)
    based = page.numbers("de9f53a8", r"baseline: scatter . .gradient. \[" + r" *([\d.]+)" * 6)
    smallest = min(range(6), key=lambda at: abs(true[at]))
    page.says("The first one is close to zero", holds=smallest == 0)
    page.says("(the scatter is {:.2f} times the gradient)", plain[0])
    page.says("100 draws do not settle its sign", holds=plain[0] > 1)
    smaller = sum(b < a for a, b in zip(plain, based, strict=True))
    page.says("The baseline makes the scatter of four components smaller and that of two larger", holds=smaller == 4)


def two_kinds_of_maps(page: Page) -> None:
    ratios = page.numbers("22fe8e6c", r"\[([\d.]+) +([\d.]+) +([\d.]+)\]")
    page.says("the number of places, 5 · 7", holds=ratios == [35] * 3)
    page.given(
        "digits of 8 × 8 pixels",
        "of a 24 × 24 image",
        "24 by 24 pixels",
        "VGG-16",
        "3×3 convolutions",
        because="sizes, or a name",
    )


def attention_in_the_network(page: Page) -> None:
    page.given(
        "a 1×1 convolution of F, a 1×1 convolution of g", "a 1×1 convolution to one channel", because="the design"
    )
    page.given("the map A , which sums to 1", "inside the 8 × 8 box", because="the design")
    page.given("puts 64/576 = 11 % there", because="by hand")
    first_map, second_map = page.numbers("fec1ce61", r"A1 (\d+)%"), page.numbers("fec1ce61", r"A2 (\d+)%")
    page.says("Nearly all of it.", holds=min(first_map) > 85)
    page.says("With each seed map A1 has nearly all of its weight in the box", holds=min(first_map) > 85)
    page.says(
        "with seed 2 it has {:.0f} % there, like a map that knows nothing", second_map[2], holds=second_map[2] == 11
    )
    accuracy = page.numbers("0886b99d", r"(\d+)%")
    page.says("the accuracy of that network is not the lowest", holds=accuracy[2] > min(accuracy[:3]))
    network = r"{} +([\d,]+) parameters; new drawings right, by seed: (\d+)% (\d+)% (\d+)%"
    rows = [page.numbers("caa1ee61", network.format(kind)) for kind in ("attention", "averages", "g alone")]
    (attention, *with_maps), (averages, *equal_weights), (_, *alone) = rows
    without = equal_weights + alone
    assert accuracy[:3] == with_maps
    page.says(
        "With the maps each seed is better than any seed without them: {:.0f} to {:.0f} % against {:.0f} to {:.0f} %",
        *(min(with_maps), max(with_maps), min(without), max(without)),
        holds=min(with_maps) > max(without),
    )
    page.says("A shorter way to the classifier is not enough", holds=max(equal_weights) < min(with_maps))
    page.says("have parameters of their own, {:,.0f} of them", attention - averages)


def maps_compared(page: Page) -> None:
    page.given("a 3 × 3 map that knows", "where g has the second task only", because="the design")
    page.says("the place puts {:.0f} % there", page.number("8a2a25a4", r"place: (\d+)%"))
    maps = r"network with {}: of Grad-CAM at {} inside the box, by seed: (\d+)% (\d+)% (\d+)%"
    at_g = page.numbers("8a2a25a4", maps.format("attention", "g"))
    page.says("With the three seeds {:.0f}, {:.0f} and {:.0f} % of the Grad-CAM at the prescribed layer", *at_g)
    page.says("and a map that knows nothing has 11 % there", holds=max(at_g) < 16)
    others = [each for kind in ("averages", "g alone") for each in page.numbers("8a2a25a4", maps.format(kind, "g"))]
    page.says("it is {:.0f} or {:.0f} %", min(others), max(others), holds=max(others) - min(others) <= 1)
    at_f1 = page.numbers("8a2a25a4", maps.format("attention", "f1"))
    page.says("At F1 Grad-CAM puts {:.0f} to {:.0f} % inside", min(at_f1), max(at_f1))
    first_map = page.numbers("fec1ce61", r"A1 (\d+)%")
    page.says(
        "still less than the trained map A1 with {:.0f} to {:.0f} %",
        *(min(first_map), max(first_map)),
        holds=max(at_f1) < min(first_map),
    )


def deleted_and_asked(page: Page) -> None:
    page.given("We blank the 8 × 8 window", "are coarse (3 × 3 places)", because="the design")
    page.given("(3 × 3 places), and at F1 (12 × 12", because="the design")
    nothing, random, of_first, _, of_g, _ = page.numbers("1d59b2f1", r"accuracy (\d+)%")
    page.says("A random window hits the digit now and then and costs a little", holds=random < nothing)
    page.says("takes the accuracy down to about chance", holds=of_first < 16)
    page.says("A coarse map lies between", holds=of_first < of_g < random)
    asked = page.numbers("a6e36c77", r"(\d+)% on digit")
    page.says(
        "Grad-CAM: it starts from a logit that you choose", holds=[asked[0] > 2 * asked[1], asked[3] > 2 * asked[2]]
    )
    page.says("it is the same whatever you ask", holds=abs(asked[4] - asked[5]) < 10)


def x_rays(page: Page) -> None:
    without, modules, _, whole = page.numbers(
        "eab7777b", r"layers ([\d,]+) \+ two modules ([\d,]+) \+ dense ([\d,]+) = ([\d,]+)"
    )
    record = page.recorded("xray_attention")["results"]
    counted = record["VGG-16"]
    assert without == counted["VGG-16 without dense layers"]
    page.says("VGG-16 has {:,} parameters", counted["VGG-16 with its dense layers"])
    page.says("About a ninth", holds=0.105 < whole / counted["VGG-16 with its dense layers"] < 0.115)
    page.says("The modules are cheap: {:,.0f} parameters", modules)
    page.says("which makes {:,}", counted["two attention modules"], holds=modules - 2 * 256 == 459_266)
    page.given(
        "a half, a quarter, or about a ninth",
        "have 28 × 28 and 14 × 14 places, for a photograph of 224 × 224 pixels",
        "28 × 28 pixels: half of them",
        "two maps of 16 × 16 and 8 × 8 places",
        "above (A1, 16 by 16 places) and below (A2, 8 by 8 places)",
        "What 28 × 28 pixels can show",
        "a place of A2 is 4 × 4 pixels",
        "deletion of 5 to 40 percent of the pixels",
        because="sizes, and a question",
    )
    means = page.numbers("60ed9faa", r"mean ([\d.]+)\n")
    page.says("the same within {:.3f}", 0.002, holds=max(means) - min(means) <= 0.002)
    apart = record["attention minus"].values()
    page.says("each interval of a difference contains 0", holds=all(e["AUC"][1] < 0 < e["AUC"][2] for e in apart))
    gains = [each["accuracy"][0] for each in apart]
    page.says("The accuracy with attention is higher by {:.3f} to {:.3f}", min(gains), max(gains))
    lows = {kind: each["accuracy"][1] for kind, each in record["attention minus"].items()}
    page.says(
        'against "averages" and "g alone" the interval begins at 0 or above it, against "g alone, wider" it contains 0',
        holds=lows["averages"] >= 0 and lows["g alone"] >= 0 > lows["g alone, wider"],
    )
    between = page.numbers("60ed9faa", r"same image: ([-+][\d.]+) to ([-+][\d.]+), mean ([-+][\d.]+)")
    page.says("is between −{:.2f} and +{:.2f} for A1", -between[0], between[1])
    page.says("and no better for the deep map A2", holds=between[5] <= between[2] + 0.01)
    a1, a2 = (
        page.numbers("60ed9faa", rf"{name} looks at (\d+)%, (\d+)%, (\d+)%, (\d+)%, (\d+)% of") for name in ("A1", "A2")
    )
    page.says(
        "Here that is so with four of five seeds.",
        holds=sum(deep < shallow for shallow, deep in zip(a1, a2, strict=True)) == 4,
    )
    page.says(
        "But the seeds differ more than the depths: A1 looks at {:.0f} to {:.0f} % of its places, "
        "A2 at {:.0f} to {:.0f} %.",
        *(min(a1), max(a1), min(a2), max(a2)),
        holds=max(a1) - min(a1) > max(abs(shallow - deep) for shallow, deep in zip(a1, a2, strict=True)),
    )
    page.given("had 8 × 8 grey pixels", because="the size of the reduced HAM10000")
    after = dict(zip(("own", "another's", "random"), page.numbers("a4c8ce00", r"A1, .*40 %: ([\d.]+)"), strict=True))
    page.says(
        "Without 40 % of the pixels the AUC falls to {:.3f} in random order and to {:.3f} by the image's own map A1",
        *(after["random"], after["own"]),
        holds=after["own"] < after["random"] - 0.05,
    )
    page.says(
        "But by the map of another image it falls to {:.3f}",
        after["another's"],
        holds=after["another's"] - after["own"] < 0.01,
    )
    page.says(
        "Most of the effect of deletion comes from places that matter in any chest, and little of it comes from this "
        "patient's own map.",
        holds=after["random"] - after["another's"] > 0.9 * (after["random"] - after["own"]),
    )


def captions(page: Page) -> None:
    page.given(
        "have 6 × 6 places, each of which sees 10 × 10 pixels",
        "for a scene with probability 0.5",
        "puts 11 % there. Only captions",
        "weights sum to 1, so they lie somewhere",
        because="the design, and by hand",
    )
    run = r"seed \d: exact ([\d.]+)% .*?BLEU ([\d.]+) .*?digit's box (\d+)%, .*?are right ([\d.]+)%"
    exact, bleu, box, order = np.reshape(page.numbers("d7ebce9a", run), (3, 3, 4)).transpose(
        2, 1, 0
    )  # (kind, seed) each
    page.says(
        "writes {:.0f} to {:.0f} % of the captions without an error, and hard attention {:.0f} to {:.0f} %",
        *(exact[0].min(), exact[0].max(), exact[1].min(), exact[1].max()),
        holds=exact[0].min() > exact[1].max() > exact[2].max(),
    )
    page.says("Draws alone write {:.0f}, {:.0f} and {:.0f} % with the three seeds", *exact[2])
    page.says("have at least {:.1f} % of the captions right", order[:2].min())
    page.says(
        "{:.0f} to {:.0f} % of the soft weights and {:.0f} to {:.0f} % of the hard ones lie in that digit's box",
        *(box[0].min(), box[0].max(), box[1].min(), box[1].max()),
    )
    page.says(
        "have not learned where to look within these 1,200 batches",
        holds=page.recorded("show_attend_tell")["results"]["steps"] == 1_200,
    )
    page.says("two seeds of three have not learned", holds=sum(box[2] < 20) == 2)
    page.says(
        "hard attention has a BLEU of {:.0f} to {:.0f}, although more than a quarter of its captions are wrong",
        *(bleu[1].min(), bleu[1].max()),
        holds=exact[1].max() < 75,
    )


def mistakes_and_questions(page: Page) -> None:
    totals = page.numbers("82e6cd52", r"sum +([\d.]+), smallest weight ([\d.]+)")
    page.says("Every weight is 1", holds=[totals[0] == 144, totals[1] == 1, totals[2] == 1])
    sizes = page.numbers("59b3454f", r"largest value ([\d.]+)")
    page.says("More than a hundred times smaller", holds=sizes[0] > 100 * sizes[1])
    page.given("The slope of a softmax is p(1 − p), which is below 0.01 for p above 0.99", because="by hand")
    page.given("average of a 3 × 3 map", "By 9, the number of places", "the mean of this term is 0", because="by hand")
    page.given("Map A1 puts 90 %", "softmax over an axis of length 1", "the map is 1 everywhere", because="a question")
    page.given("have the shape (B, h, w, 1)", "from the logit of class 3", because="a shape, and a question")
    page.given("2,000 images in place of 4,000", because="advice")

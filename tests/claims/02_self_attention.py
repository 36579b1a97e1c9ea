"""What lecture 2 says of its numbers."""

from __future__ import annotations

import math

from claims.page import Page

NUMBER = r"(-?[\d.]+)"
TRAINED = ("plain average", "no parameters", "without √d_k", "full formula", "W_q / 8, no √d_k")


def claims(page: Page) -> None:
    meaning(page)
    nothing_to_learn(page)
    by_hand(page)
    scaling(page)
    shapes_and_masks(page)
    training(page)
    sharpening(page)
    pictures(page)
    cost(page)
    mistakes_and_questions(page)
    live_figure(page)


def meaning(page: Page) -> None:
    page.given("about 90 minutes to read", because="counted by tests/test_lectures.py")
    page.given("row 17 of the table", because="an example")
    page.given("two static vectors is exactly 1", "something clearly below 1", because="by definition")
    page.given(
        "positive and sum to 1", "after it and sum to 1", "must sum to 1 after the softmax", because="by definition"
    )
    page.given('"station" = (travel 1, broadcast 1)', "All its other features are 0.", because="defined in a cell")

    scores = page.numbers("cell-12", r"scores  of station \[" + r" *(\d+)\." * 6)
    weights = page.numbers("cell-12", r"weights of station \[" + f" *{NUMBER}" * 6)
    travel, broadcast = page.numbers("cell-12", rf"\[{NUMBER} {NUMBER}\]\]")
    page.given("(0, 0) | (2, 0) | (1, 0) | (0, 0) | (0, 0) | (1, 1)", because="defined in a cell")
    page.says("score = dot product with station |" + " {:.0f} |" * 6, *scores)
    page.given("e^score | 1 | 7.389 | 2.718 | 1 | 1 | 7.389 | 20.496 |", because="calculated by hand")
    page.says("weight |" + " {:.3f} |" * 6 + " 1 |", *weights)
    page.says("0.361·2 + 0.133·1 + 0.361·1 = {:.3f} . New broadcast: 0.361·1 = {:.3f} .", travel, broadcast)
    page.says("moved from (1, 1) towards travel", holds=travel > 1 > broadcast)

    after = page.numbers("cell-18", rf"after \[{NUMBER} +{NUMBER} *\]")
    mean = page.numbers("cell-18", rf"sentence \[{NUMBER} +{NUMBER} *\]")
    tired, wide = (after[8], after[9]), (after[10], after[11])
    sides = [after[0] > after[1], after[2] < after[3], after[4] > after[5], after[6] < after[7]]
    page.says('"station" and "date" come apart, each towards the meaning of its sentence', holds=sides)
    page.says('"it" moves in the right direction', holds=[tired[0] > tired[1], wide[1] > wide[0]])
    page.says("({:.3f}, {:.3f}) in one sentence, ({:.3f}, {:.3f}) in the other", *tired, *wide)
    page.says(
        "That is less than the plain mean of all words gives, ({:.3f}, {:.3f}) and ({:.3f}, {:.3f})",
        *mean[8:],
        holds=all(new < plain for new, plain in zip(after[8:], mean[8:], strict=True)),
    )
    page.given("which contains animal 1", "get the same score, 0", because="defined in a cell")


def nothing_to_learn(page: Page) -> None:
    own = dict(zip((1, 2, 4, 8, 16, 32, 64), page.numbers("cell-22", r": ([\d.]+)"), strict=True))
    page.given(
        "mean 0 and variance 1. What weight", "if D = 4? If D = 64? (All equal would be 0.1.)", because="a question"
    )
    page.says("the weight of a random vector on itself rises from about {:.1f} at width 1", own[1])
    page.says("to {:.0f} at width 32 and above", own[32], holds=own[64] == own[32])
    page.given("independent components with variance 1, no division", because="what the cell draws")
    page.says("almost unchanged once D is 16 or more", holds=min(own[16], own[32], own[64]) > 0.95)

    page.given("query of a pronoun is 4", "is 1; everything else is 0", "Set $d_k$ = 1", because="chosen by us")
    page.given("The sentence has 11 words", "is 4·1 = 4, with the ten others 0", "(e⁴ ≈ 54.6.)", because="by hand")
    tired, wide = page.numbers("cell-26", r"puts ([\d.]+)")
    page.says("54.6 / (54.6 + 10) = {:.3f}", tired, holds=tired == wide)


def by_hand(page: Page) -> None:
    page.given(
        "with D = 4; queries and keys with $d_k$ = 3; values with $d_v$ = 2", "row 1 of X", because="the example"
    )
    page.given("1·1 + 2·0 + 3·2 + 4·3 = 19", "Step 1, project", "Step 2, score", "Step 3, scale", because="by hand")
    page.given("Step 4, softmax", "Step 5, average", "(1.303 or 1.697 if you rounded on the way)", because="by hand")

    def first_row(name: str, width: int) -> list[float]:
        return page.numbers("cell-28", rf"{name} \([^)]*\)\n\[\[ *" + r" +".join([r"(\d[\d.]*)"] * width))

    page.says("q₁ = ({:.0f}, {:.0f}, {:.0f})", *first_row("Q", 3))
    page.says("k₁ = ({:.0f}, {:.0f}, {:.0f})", *first_row("K", 3))
    page.says("v₁ = ({:.0f}, {:.0f}). All", *first_row("V", 2))
    first, second, third = first_row("scores", 3)
    page.says("q₁·k₁ = 19 + 0 + 60 = {:.0f}; q₁·k₂ = 0 + 36 + 40 = {:.0f}", first, second)
    page.says("q₁·k₃ = 57 + 0 + 20 = {:.0f}", third)
    page.given("√3 = 1.732", because="by hand")
    scaled, weights = first_row("scaled", 3), first_row("weights", 3)
    page.says("{:.2f}, {:.2f}, {:.2f}. Step 4", *scaled)
    page.says("subtract the largest score first: 0, −{:.3f}, −{:.3f}.", scaled[0] - scaled[1], scaled[0] - scaled[2])
    page.given("e⁰ = 1, e^−1.732 = 0.177, e^−1.155 = 0.315; their sum is 1.492", because="by hand")
    page.says("Weights: {:.3f}, {:.3f}, {:.3f}", *weights)
    page.says("{:.3f}·(1, 2) + {:.3f}·(0, 3) + {:.3f}·(3, 0) = ?", *weights)
    page.says("({:.3f}, {:.3f}) , the new vector", *first_row("Z", 2), holds="by code: True" in page.output("cell-28"))
    rows = page.numbers("cell-28", r"weights \(3, 3\)\n\[" + r"\s*\[?\s*([\d.]+)\s*([\d.]+)\s*([\d.]+)\s*\]" * 3)
    page.says("How {:.2f}, {:.2f}, {:.2f}; are {:.2f}, {:.2f}, {:.2f}; you {:.2f}, {:.2f}, {:.2f}.", *rows)
    page.says('"are" takes three quarters of its new vector from "you"', holds=round(rows[5], 2) == 0.75)
    page.says('"you" looks mostly at "How"', holds=rows[6] > 0.5)


def scaling(page: Page) -> None:
    first, second = page.numbers("cell-32", r"divided by 8 .*-> \[([\d.]+) ([\d.]+)\]")
    page.given("with two keys are 112 and 96, and $d_k$ = 64", because="cited: J. Alammar")
    page.given("divide by 8; scores of components with variance 1", "division by √64 = 8", because="by hand")
    page.given("112/8 = 14 and 96/8 = 12. The difference is 2", "the difference is 16", because="by hand")
    page.given("e¹⁶ is about 8.9 million", because="by hand")
    page.says("e²/(e² + 1) = 7.389/8.389 = {:.2f} , the second {:.2f} .", first, second)
    unscaled = page.numbers("cell-32", r"'([\d.]+)'")
    page.says("A weight of {:.7f} may even be right", unscaled[0])
    page.says("gets a ten-millionth", holds=round(unscaled[1], 7) == 1e-7)
    page.given(
        "mean 0 and variance 1, each product has variance 1", "variance back to 1 at any width", because="derived"
    )

    page.given(
        "one query and 32 keys with random components, and is repeated 400 times",
        "each d from 4 to 1024",
        because="the cell's plan",
    )
    page.given(
        "the largest of the 32 weights, (c)", "of the 400 draws", "width d from 4 to 1024.", because="the cell's plan"
    )
    cell = page.numbers("cell-36", r"(?m)^ *(\d+) \|" + r" +([\d.e+]+) +([\d.]+) *\|" * 2 + r" +([\d.e+]+) +([\d.]+)$")
    names = ("d", "variance", "variance divided", "largest", "largest divided", "gradient", "gradient divided")
    by_width = {cell[at]: dict(zip(names, cell[at : at + 7], strict=True)) for at in range(0, len(cell), 7)}
    widths, rows = list(by_width), list(by_width.values())
    page.says("rises in a straight line", holds=all(0.9 < row["variance"] / row["d"] < 1.1 for row in rows))
    page.says("to about 1000, scaled it stays at 1", holds=[
        round(by_width[1024]["variance"], -3) == 1000, all(0.9 < row["variance divided"] < 1.1 for row in rows)
    ])  # fmt: skip
    page.says("The largest weight rises towards 1 unscaled", holds=rows == sorted(rows, key=lambda row: row["largest"]))
    page.says("stays near 0.15 scaled", holds=all(0.12 < row["largest divided"] < 0.16 for row in rows))
    page.says("The gradient through the softmax falls towards zero unscaled", holds=by_width[1024]["gradient"] < 0.001)
    page.says("and stays level scaled", holds=all(0.22 < row["gradient divided"] < 0.25 for row in rows))
    page.says("The largest of 32 weights is typically {:.2f} at d = 64", by_width[64]["largest"])
    page.says("at d = 1024 it takes everything", holds=by_width[1024]["largest"] > 0.999)
    gradients = [row["gradient"] for row in rows]
    page.says(
        "first rises a little, from {:.2f} to {:.2f}, and then falls to {:.5f}",
        gradients[0],
        max(gradients),
        gradients[-1],
    )
    below = [row["gradient"] > row["gradient divided"] for row in rows]
    page.says("Up to d = 32 the raw scores pass more gradient", holds=below == [width <= 32 for width in widths])
    wide, middle = by_width[1024], by_width[64]
    at_query, divided = wide["gradient"] * 32, wide["gradient divided"]
    page.says("{:.5f}·32 = {:.3f}", wide["gradient"], at_query)
    page.says("still 50 times less than {:.2f}", divided, holds=round(divided / at_query, -1) == 50)
    page.says("At d = 64 it makes {:.3f}·8 = {:.1f}", middle["gradient"], middle["gradient"] * 8)
    page.says(
        ", more than {:.2f}", middle["gradient divided"], holds=middle["gradient"] * 8 > middle["gradient divided"]
    )
    page.given("At d = 1024 that makes", because="a width of the table")


def shapes_and_masks(page: Page) -> None:
    page.given(
        "whose rows sum to 1, and weights", "B = 2, T = 5, D = 7, $d_k$ = 3, $d_v$ = 11", because="by definition"
    )
    page.given("becomes so negative that e^score is 0", because="by hand")
    sums = page.numbers("cell-44", r"rows sum to \[([\d.]+) ([\d.]+) ([\d.]+)\]")
    page.says("the remaining weights still sum to 1", holds=sums == [1.0] * 3)


def training(page: Page) -> None:
    page.given("24 clue words stand for 6 meanings", "√64 = 8", "gives 0.50", because="defined in a cell")
    accuracy = {kind: page.numbers("cell-53", rf"{kind} +test.*: ([\d.]+), ([\d.]+), ([\d.]+)") for kind in TRAINED}
    average, none, undivided, full, control = accuracy.values()
    page.says("The plain average stays at exactly {:.2f}", average[0], holds=len(set(average)) == 1)
    gains = [a - 0.5 for a in none]
    page.says("Attention without parameters is better by {:.2f} to {:.2f} only", min(gains), max(gains))
    own = page.number("cell-56", r"on itself is ([\d.]+)")
    page.says("keeps most of its weight for itself ({:.2f} on average", own, holds=own > 0.5)
    page.says("right in {:.0f} or {:.0f} of 100 cases, with every seed", 100 * min(full), 100 * max(full))
    ends_alike = all(abs(a - b) <= 0.02 for a, b in zip(none, undivided, strict=True))
    page.says("ends where attention without parameters ends", holds=ends_alike)
    page.says("The control ends there, too ({:.2f}, {:.2f} and {:.2f})", *control, holds=max(control) < min(full) - 0.2)

    loss = {kind: page.numbers("cell-54", rf"{kind} +last.*: ([\d.]+), ([\d.]+), ([\d.]+)") for kind in TRAINED}
    average, none, undivided, full, control = loss.values()
    page.says("The full formula falls to about {:.1f}", sorted(full)[1])
    stuck = [*undivided, *control]
    page.says("The two versions without the division by root d_k stay far above it", holds=min(stuck) > 3 * max(full))
    page.says("close to attention without parameters", holds=max(abs(a - sorted(none)[1]) for a in stuck) < 0.25)
    page.says("The plain average is highest", holds=min(average) > max(*none, *stuck))
    page.says("Its training loss is high", holds=min(undivided) > 3 * max(full))


def sharpening(page: Page) -> None:
    def before_and_after(kind: str) -> list[list[float]]:
        found = page.numbers("cell-56", rf"{kind} +" + rf"{NUMBER} → {NUMBER} +" * 2)
        return [found[column::4] for column in range(4)]

    (soft, sharp, at_start, at_end), of_full, of_control = map(before_and_after, TRAINED[2:])
    _, _, full_start, full_end = of_full
    starts_sharp = min(soft) > max(of_full[0])
    page.says(
        "passes more gradient than the full formula (about {:.2f} against {:.2f})",
        sorted(at_start)[1],
        sorted(full_start)[1],
        holds=[starts_sharp, min(at_start) > max(full_start)],
    )
    page.given("as unscaled scores up to d = 32 did", because="the table of section 6")
    page.says("The full formula still passes {:.2f} to {:.2f}", min(full_end), max(full_end))
    stuck = [*at_end, *of_control[3]]
    page.says("the two versions without the division pass {:.2f} or less", max(stuck), holds=max(stuck) < min(full_end))
    became_sharp = [after > before for before, after in zip(soft + of_control[0], sharp + of_control[1], strict=True)]
    page.says("their weights have become sharp during training", holds=became_sharp)
    alike = all(abs(a - b) < 0.02 for a, b in zip(of_full[0], of_control[0], strict=True))
    page.says("the control starts as soft as the full formula does", holds=alike)


def pictures(page: Page) -> None:
    page.given("a weight above 0.8", "(the first one below 0.1)", because="how the cell chooses")
    weights = page.numbers("cell-61", r"weight ([\d.]+) on clue words")
    page.says("send one thick line to a clue word", holds=min(weights[:3]) > 0.8)
    page.says("goes to a word that carries no clue", holds=weights[3] < 0.1)
    asked = page.numbers("cell-62", r"puts ([\d.]+) on")
    page.says("has one dark cell, at its clue", holds=min(asked) > 0.5)
    page.says("most other rows are pale patterns", holds=page.number("cell-62", r"rows: ([\d.]+)") < 0.5 * min(asked))
    away = page.numbers("cell-64", r"(\d+)% of the right answers")
    page.says("It happens often.", holds=min(away) > 20)
    fruit = page.numbers("cell-64", r"fruit ([\d.]+)")
    page.says("the weight on the clues of fruit is {:.2f}, {:.2f} and {:.2f}", *fruit)
    rows = [
        page.numbers("cell-64", rf"{meaning} ([\d.]+)")
        for meaning in ("rail", "radio", "fruit", "day", "animal", "thing")
    ]
    page.says("the models differ in which", holds=max(max(row) - min(row) for row in rows) > 0.5)
    page.says("models of equal accuracy can have different pictures", holds=max(fruit) - min(fruit) > 0.5)


def cost(page: Page) -> None:
    page.given(
        "Together 2·T²·D", "2·T²·D for the two products (plus 3·T·D² for", "| 2·T·D² |", because="counted by hand"
    )
    page.given(
        "| O(1) | O(1) |", "| O(1) | O(T/k)", "D = 512. From", "(Solve 2·T²·D = 2·T·D².)", because="counted by hand"
    )
    page.given(
        "At T = D = 512", "3·T·D² more, and these alone exceed 2·T·D²", "Cost: 2·T²·D", because="counted by hand"
    )
    mebibytes = dict(zip((128, 512, 2048, 8192, 32768), page.numbers("cell-67", r"([\d.,]+) MiB"), strict=True))
    page.says("At T = 512 the weights take {:.0f} MiB in float32. How much do they take at T = 32,768?", mebibytes[512])
    page.says("64 times the length is {:,.0f} times the memory: ", mebibytes[32768] / mebibytes[512])
    page.says("{:.0f} GiB for one head of one layer", mebibytes[32768] / 1024)
    page.says("Four times for each doubling", holds=mebibytes[2048] == 16 * mebibytes[512])

    scaled = page.numbers("cell-28", r"scaled \(3, 3\)\n\[\[([\d.]+) ([\d.]+) ([\d.]+)\]")
    page.says("its scaled scores are {:.2f}, {:.2f} and {:.2f}", *scaled)
    page.says("The largest score of the first block is {:.2f}, then {:.2f} comes", scaled[2], scaled[0])
    factors = page.numbers("online-softmax", r"factor ([\d.]+)")
    page.says("e^({:.2f} − {:.2f}) = e^−1.15 = {:.3f}", scaled[2], scaled[0], factors[1])
    page.says("computes exactly the same output", holds="section 5: True" in page.output("online-softmax"))

    page.given("convolution over 3 places", "all with D = 64 on the same input", because="the cell's plan")
    ratios = page.numbers("cell-70", r"T: +" + r" +".join([r"([\d.]+)"] * 6))
    attention, convolution, recurrence = ratios[:6], ratios[6:12], ratios[12:]
    four_times = [ratios[-2] * ratios[-1] for ratios in (attention, recurrence, convolution)]
    page.given("together, from T = 1024 to 4096", because="the last lengths of the cell")
    page.says("they multiply the time of attention by {:.0f}", four_times[0])
    page.says("that of the recurrence by {:.1f}, and that of the convolution by {:.1f}", *four_times[1:])
    page.says("single ratios vary (look at the recurrence: {:.1f}, then {:.1f})", *recurrence[-2:])
    page.says("Attention is nearly level at first", holds=attention[0] < 1.5)
    page.says("until it grows about fourfold per doubling", holds=2.8 < attention[-1] < 5.5)
    last = page.numbers("cell-70", r"([\d.]+) ms")
    page.says("At the longest input convolution takes least", holds=last[1] == min(last))
    page.says("Recurrence rises all along", holds=min(recurrence) > 1)
    page.given("(T = 7; the convolution looks back over k = 3 places)", because="how the figure is drawn")


def mistakes_and_questions(page: Page) -> None:
    page.given("T = $d_k$ = 3", "Eight 3 by 3 matrices", "do the rows not sum to 1?", because="defined in a cell")
    sums = page.numbers("cell-80", r"(?m): +([\d.]+) +([\d.]+) +([\d.]+)$")
    rows = [sums[at : at + 3] for at in range(0, len(sums), 3)]
    right, wrong_axis, unscaled, late_scaling, _, masked, inverted, late_mask = rows
    ones = [1.0] * 3
    page.says("Right and right with causal mask: rows sum to 1.", holds=[right == ones, masked == ones])
    page.says(
        "Wrong axis, scaled after the softmax, and mask after the softmax: rows do not sum to 1.",
        holds=[row != ones for row in (wrong_axis, late_scaling, late_mask)],
    )
    page.says(
        "Predict , before you look: for which of them do the rows not sum to 1?", holds=unscaled == inverted == ones
    )
    page.given("Wrong axis : the columns sum to 1", because="by definition")
    page.says("at $d_k$ = 64 our training got stuck", holds=max(page.numbers("cell-53", r"without.*: ([\d.]+)")) < 0.8)
    page.given("No scaling : at $d_k$ = 3 you hardly notice", because="the figure")
    page.says("rows sum to 1/√3 = 0.577", holds=all(round(row, 2) == 0.58 for row in late_scaling))
    page.says("Keys not transposed : rows sum to 1", holds=rows[4] == ones)
    page.given(
        "one weight is 1.00 in every row", "weights all near 1/T", "a 3-D array", because="symptoms, told in general"
    )
    page.given("(rows 2, 0, 1)", 'In "How are you" both are 3', because="defined in a cell")
    page.given("S = 32 keys of width 256", because="defined in a cell")
    by_divisor = page.numbers("cell-86", r"variance +([\d.]+), largest weight ([\d.]+)")
    page.says("how many keys there are does not enter", holds=abs(by_divisor[0] - 1) < 0.1 < abs(by_divisor[2] - 1))
    page.given(
        "Scores (3, 1) with $d_k$ = 4",
        "(e ≈ 2.718) Answer Divide by 2",
        "(1.5, 0.5). The difference is 1",
        because="by hand",
    )
    page.given("2.718/3.718 = 0.731 and 0.269", "multiply $W_q$ by 10", "add 10 to every", because="by hand")
    page.given("largest weight goes towards 1", "lie between 112 and 113", because="by hand")
    page.given(
        "A gap of 1 gives at most a ratio of e = 2.7; divided by 8 it is 1.13", "With $d_k$ = 64", because="by hand"
    )
    page.given("stop `lengths` at 1024", "`lengths` to 16,384 (the weights alone then take 1 GiB)", because="by hand")
    page.given("each row of weights sums to 1", "path length 1;", because="by definition")


def live_figure(page: Page) -> None:
    weights = page.numbers("cell-12", r"weights of station \[" + f" *{NUMBER}" * 6)
    page.says('"train" and "station" get {:.3f} each from "station"', weights[1], holds=weights[1] == weights[5])
    both = 2 * math.exp(4)
    page.says("which is {:.3f}.", both / (both + math.exp(2) + 3))
    page.given(
        "Divided by 1,",
        "to more than 0.9 together",
        "The scores (0, 2, 1, 0, 0, 2) become (0, 4, 2, 0, 0, 4), and e⁴ = 54.6",
        "2·54.6 of 2·54.6 + 7.4 + 3",
        "all their scores are 0, and 0 divided by any number is 0.",
        because="calculated by hand",
    )

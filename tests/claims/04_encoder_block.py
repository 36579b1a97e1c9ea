"""What lecture 4 says of its numbers."""

from __future__ import annotations

import numpy as np

BY_HAND = "calculated by hand on the page"
SHAPE = "a shape, a size or a setting that the page defines"


def claims(page) -> None:
    runs = page.recorded("encoder_block")["results"]
    kept(page)
    defined(page)
    without_residual(page, runs["parts"])
    norm(page, runs["parts"])
    dropout(page)
    rates(page, runs["rates"])
    parameters(page)
    bert(page)


def kept(page) -> None:
    """The sentences to keep."""
    page.says("Attention moves information between tokens; everything else in the block works on each token alone.")
    page.says(
        "attention has nothing to learn from (Noci et al., 2022); the residual stream keeps them apart for longer."
    )
    page.says("The norm gives every sub-layer tokens of one scale")
    page.says("Attention mixes tokens; the feed-forward network mixes the features of one token.")
    page.says("In our runs, deep post-norm needs a smaller rate or a warm-up; ten full steps at the start spoil it.")
    page.given("(1, 0, 0, 0)", "gets the weight 0.47", "(0, 0, 0.47, 0.47)", "(1, 0, 0.47, 0.47)", because=BY_HAND)


def defined(page) -> None:
    page.given(
        "about 63 minutes to read and predict (estimated, not measured); "
        "the code runs in about one minute on two CPU cores.",
        r"\max(0,\; x W_1 + b_1)\, W_2 + b_2 \qquad W_1:",
        "Training loss over 250 steps",
        "The output is (B, 2T, D).",
        "In the feed-forward network, token 3 only.",
        "In the block, token 3 only:",
        "| 4(D² + D) if key_dim = D/H |",
        "| 2DF + F + D |",
        "| 2D |",
        "| 0 |",
        because=SHAPE,
    )


def without_residual(page, parts) -> None:
    two, twelve = (parts[f"no residual, {depth} blocks"]["0.003"]["correct"] for depth in (2, 12))
    whole = parts["whole, 2 blocks"]["0.003"]["correct"]
    page.says(
        "Two blocks still learn without the sums, though less well. Twelve learn nothing in 250 steps",
        holds=[min(two) > 0.8, max(twelve) < 0.13, max(two) < min(whole)],
    )
    page.given("guessing gives 10 %", because="one digit of ten")
    position = page.number("parts", r"digit of each position: (\d+)%")
    page.says(
        "whoever knows only the position, not the digits, gets {:.0f} %", position, holds=max(twelve) * 100 < position
    )
    cells = page.numbers("gradients", r"without gradient of W_q +blocks 1, 3, 12: +(\S+) +(\S+) +(\S+)")
    values = page.numbers("gradients", r"without gradient of W_v +blocks 1, 3, 12: +(\S+) +(\S+) +(\S+)")
    page.says("falls by seven powers of ten", holds=6.5 < np.log10(cells[0] / cells[2]) < 7.5)
    cosines = page.numbers("gradients", r"without cosine of two tokens +blocks 1, 3, 12: +(\S+) +(\S+)")
    page.says("without residual connections it reaches 1 after three blocks", holds=cosines[1] > 0.995)
    bare = {
        part: page.evidence("04").numbers("bare", rf"neither, {part} +(\S+) (\S+) (\S+)")
        for part in ("cosine", "size", "query")
    }
    page.says(
        "after two blocks the cosine is {:.0f}, in block 5 the gradient of $W_q$ is exactly {:.0f}.",
        bare["cosine"][1], bare["query"][2],
        holds=[bare["cosine"][1] == 1 > bare["cosine"][0], bare["query"][2] == 0 < bare["query"][1]],
    )  # fmt: skip
    page.says(
        "the numbers shrink to {:.3f} in twelve blocks", bare["size"][2], holds=bare["size"][0] > 100 * bare["size"][2]
    )
    page.says(
        "With the sums the cosine rises slowly, to {:.2f} after twelve blocks.",
        page.number("gradients", r"with    cosine of two tokens +blocks 1, 3, 12: +\S+ +\S+ +(\S+)"),
    )
    page.says("The gradient of $W_v$ has about the same size in all blocks.", holds=max(values) < 2 * min(values))


def norm(page, parts) -> None:
    weights = page.numbers(
        "largest", r"without a norm: largest weight in blocks 1, 4, 8, 12: \[([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)"
    )
    page.says("soon each softmax puts nearly all its weight on one token", holds=[weights[0] < 0.5, weights[2] > 0.95])
    size = np.array(page.numbers("largest", r"without a norm: .*\[ *([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)\]"))
    steps = size[1:] / size[:-1]
    page.says(
        "every four blocks make their size, the standard deviation of the features, five to eight times as large",
        holds=[steps.min() > 4.9, steps.max() < 8.2],
    )
    page.says(
        "two blocks learn without a norm, and twelve reach {:.0f} % at most within 250 steps",
        100 * max(share for rate in parts["no norm, 12 blocks"].values() for share in rate["correct"]),
        holds=min(parts["no norm, 2 blocks"]["0.003"]["correct"]) > 0.95,
    )
    results = page.recorded("encoder_block")["results"]
    batch = results["norms"]["batch norm, 12 blocks"]["0.003"]["correct"]
    layer = results["rates"]["pre-norm"]["0.003"]["correct"]
    page.says(
        "twelve blocks learn with batch norm, too: three seeds reach {:.0f} to {:.0f} %, with layer norm {:.0f} to "
        "{:.0f} %",
        *(100 * side(shares) for shares in (batch, layer) for side in (min, max)),
        holds=[len(batch) == len(layer) == 3, max(batch) < min(layer), min(batch) > 0.9],
    )
    page.given(
        "The token is (0, 6, 6, 8), with γ = (1, 1, 3, 2), β = (0, 1, 0, 0)",
        "with ε = 10⁻⁶?",
        "with γ = 1 and β = 0.",
        because="an example",
    )
    page.given(
        "x̂ = (−1.667, 0.333, 0.333, 1) and y = (−1.667, 1.333, 1, 2)",
        "The differences are (−5, 1, 1, 3)",
        because=BY_HAND,
    )
    page.given("so σ² = (25 + 1 + 1 + 9)/4 = 9 and σ = 3", "σ² = 9·10⁻⁶, only nine times ε", because=BY_HAND)


def dropout(page) -> None:
    gaps = page.numbers("dropout", r"mean gap ([\d.]+) points")
    seen = page.numbers("dropout", r"on the 300 rows (\d+)% (\d+)% (\d+)%")
    page.says("Every model knows the 300 rows by heart.", holds=min(seen) > 99)
    page.says("the gap is about two points, with dropout and without it", holds=[1.5 < gap < 2.5 for gap in gaps])
    page.says("Sorting follows one rule, and 300 rows are enough to learn it.")
    page.given("Train two blocks on 300 rows only, drawn again and again for 700 steps", because=SHAPE)
    page.given(
        "sets each number to 0 with probability p",
        "by 1 − p",
        "With p = 0.5",
        "(2, 4, 6, 8)",
        "(4, 0, 0, 16)",
        because=SHAPE,
    )


def rates(page, runs) -> None:
    post = {rate: np.array(run["correct"]) for rate, run in runs["post-norm"].items()}
    page.says("At 0.003 all three seeds stay at the level of guessing.", holds=post["0.003"].max() < 0.13)
    page.says(
        "At 0.0003 all of them learn, about as well as with the warm-up",
        holds=abs(post["0.0003"] - post["0.003, warm-up"]).mean() < 0.05,
    )
    page.says("at 0.001 two of three do", holds=sorted(post["0.001"] > 0.8) == [False, True, True])
    page.says(
        "One step at the full rate before the warm-up already delays some seeds",
        holds=post["1 full step, then the warm-up"].min() < 0.5,
    )
    page.says("after ten, none recovers within 250 steps", holds=post["10 full steps, then the warm-up"].max() < 0.2)
    page.says(
        "post-norm at 0.003 stays at 2.3, the loss of guessing; at 0.001 the seeds differ widely; "
        "at 0.0003 it falls steadily",
        holds=[min(losses[-1] for losses in runs["post-norm"]["0.003"]["losses"]) > 2.25, np.ptp(post["0.001"]) > 0.5],
    )
    page.given("pre-norm at 0.003 falls fastest", because="the figure")
    page.says("with ten full steps it stays near 2.3.", holds=post["10 full steps, then the warm-up"].max() < 0.2)
    pre = [share for run in runs["pre-norm"].values() for share in run["correct"]]
    page.says("Pre-norm learns at each rate that we tried.", holds=min(pre) > 0.97)
    start = page.evidence("04")
    cosines = {kind: start.number("start", rf"(?m)^{kind} +([\d.]+)") for kind in ("pre-norm", "post-norm")}
    page.says(
        "the cosine of two tokens is {:.2f}, close to the collapse of section 2, against {:.2f}",
        cosines["post-norm"],
        cosines["pre-norm"],
    )
    page.given(
        "in 250 steps",
        "are trained to sort with Adam, 250 steps.",
        "the learning rate climbs from 0 to its full value, in its case over 4,000 steps, here over 100",
        "a constant rate of 0.003",
        because="settings, and Vaswani et al. 2017",
    )


def parameters(page) -> None:
    page.says(
        "In a block with F = 4D two thirds of the parameters are in the feed-forward network.",
        holds=page.numbers("counts", r"(\d+)% feed-forward")[1:] == [67, 67],
    )
    page.says("Together **10,656**", holds=page.numbers("counts", r"lecture 6 .*block +([\d,]+)") == [10_656])
    page.given("D = 32, F = 32", "`key_dim` = 32 (not D/H = 16)", "D = 16, H = 4, F = 64", because=SHAPE)
    page.says(
        "How much weight do the two words give to the two padding tokens?",
        holds=page.numbers("mask", r"(\d+)%")[0] == 0,
    )


def bert(page) -> None:
    rows = np.array(page.numbers("dogs", r"blocks: ([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+)")).reshape(4, 4)
    page.says("the cosine is {:.2f} in all four sentences", rows[0, 0], holds=len(set(rows[:, 0])) == 1)
    page.says(
        "({:.2f}, {:.2f}) than where both have the same colour ({:.2f}, {:.2f})",
        *rows[:, 3],
        holds=rows[:2, 3].max() < rows[2:, 3].min(),
    )

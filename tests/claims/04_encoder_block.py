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
    rates(page, runs["rates"])
    today(page)
    published(page)
    mistakes(page)


def kept(page) -> None:
    """The sentences to keep."""
    page.says("Attention moves information between tokens; everything else in the block works on each token alone.")
    page.says(
        "attention has nothing to learn from (Noci et al., 2022); the residual stream keeps them apart for longer."
    )
    page.says("The norm gives every sub-layer tokens of one scale")
    page.says("Only attention mixes tokens; the feed-forward network mixes the features of one token.")
    page.says("In our runs, deep post-norm needs a smaller rate or a warm-up; ten full steps at the start spoil it.")
    page.given("(1, 0, 0, 0)", "gets the weight 0.47", "(0, 0, 0.47, 0.47)", "(1, 0, 0.47, 0.47)", because=BY_HAND)


def defined(page) -> None:
    page.given(
        "about 65 minutes to read and predict (estimated, not measured); "
        "the code runs in about one minute on two CPU cores.",
        "fetches it once (84 MB)",
        "fresh stacks of width 32, three seeds each.",
        "at 250 steps; a run that is at 26 % after 250 steps may learn later.",
        "sets each number to 0 with probability p",
        "by 1 − p",
        "With p = 0.5",
        "(2, 4, 6, 8)",
        "(4, 0, 0, 16)",
        r"\max(0,\; x W_1 + b_1)\, W_2 + b_2 \qquad W_1:",
        "| 2D; RMSNorm D |",
        "Training loss over 250 steps",
        "The output is (B, 2T, D).",
        "In the feed-forward network, token 3 only.",
        "In the block, token 3 only:",
        "| 4(D² + D) if key_dim = D/H |",
        "| 2DF + F + D |",
        "| 0 |",
        because=SHAPE,
    )


def without_residual(page, parts) -> None:
    two, twelve = (parts[f"no residual, {depth} blocks"]["0.003"]["correct"] for depth in (2, 12))
    whole = parts["whole, 2 blocks"]["0.003"]["correct"]
    page.says(
        "Two blocks still learn without the sums, though less well:", holds=[min(two) > 0.8, max(two) < min(whole)]
    )
    slow = parts["no residual, 12 blocks"]["0.001"]["correct"]
    page.says(
        "Twelve learn nothing at this rate and hardly anything at 0.001 ({:.0f} to {:.0f} %)",
        100 * min(slow), 100 * max(slow), holds=max(twelve) < 0.13,
    )  # fmt: skip
    page.given("Guessing gives 10 %", because="one digit of ten")
    position = page.number("parts", r"digit of each position: (\d+)%")
    page.says(
        "whoever knows only the position, not the digits, gets {:.0f} %", position, holds=max(twelve) * 100 < position
    )
    rows = np.array(page.numbers("gradients", r"(?:tokens|numbers|W_[qv]) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+)"))
    cosine, size, query, value = rows.reshape(3, 4, 5).swapaxes(0, 1)  # stacks by blocks 0, 1, 2, 4, 11
    largest = page.numbers("gradients", r"largest weight +(\S+) +(\S+) +(\S+)")[:3]
    page.says(
        "the largest of a row is {:.3f} on average, equal weights have 0.125.", largest[1],
        holds=[largest[0] > 0.3, largest[2] == 0.125],
    )  # fmt: skip
    page.says("The gradient of $W_v$ has about the same size in all blocks.", holds=max(value[0]) < 2 * min(value[0]))
    page.says(
        "That of $W_q$ is {:.0f} from block {:d} on, but for the rounding of float32 (blocks are counted from 0).",
        query[0, 3], 4,
        holds=[query[0, 2] > 1e-8, query[0, 3:].max() < 1e-9],
    )  # fmt: skip
    page.says(
        "After two blocks the mean cosine of two tokens is {:.0f}: eight tokens, one vector.", cosine[0, 1],
        holds=[cosine[0, 0] < 0.7, cosine[0, 1] == 1],
    )  # fmt: skip
    page.says("at depth two a start with the cosine {:.2f} does not forbid learning.", cosine[1, 1])
    page.says("from block 4 on only rounding errors are left.", holds=query[0, 3] < 1e-9)
    page.says("the numbers shrink to {:.3f} in twelve blocks", size[0, 4], holds=size[0, 0] > 100 * size[0, 4])
    page.says(
        "It reaches 1 after two blocks in the stack of the question and after three with norms", holds=[
            cosine[0, 1] == 1, cosine[1, 1] < 0.995 <= cosine[1, 2]
        ],
    )  # fmt: skip
    page.says(
        "without sums it falls within five blocks to 0 or to the rounding of float32", holds=query[:2, 3].max() < 1e-8
    )
    page.says("with them the collapse takes three blocks in place of two", holds=[cosine[1, 1] < 1, cosine[1, 2] == 1])
    page.says("With the sums the cosine rises slowly, to {:.2f} after twelve blocks.", cosine[2, 4])
    alone = np.array(page.numbers("control", r"12 blocks: +\S+ \S+ (\S+) \S+ (\S+)")).reshape(
        3, 2
    )  # both, attention, network
    page.says(
        "Attention alone is as fast as both together: {:.2f} after two blocks.", alone[1, 0],
        holds=alone[0, 0] == alone[1, 0],
    )  # fmt: skip
    page.says("but slowly: {:.2f} after two blocks, {:.2f} after twelve.", *alone[2])


def norm(page, parts) -> None:
    weights = page.numbers(
        "largest", r"without a norm: largest weight in blocks 0, 3, 7, 11: \[([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)"
    )
    page.says("soon each softmax puts nearly all its weight on one token", holds=[weights[0] < 0.5, weights[2] > 0.95])
    size = np.array(page.numbers("largest", r"without a norm: .*\[ *([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)\]"))
    steps = size[1:] / size[:-1]
    page.says(
        "every four blocks make their size, the standard deviation of the features, five to eight times as large",
        holds=[steps.min() > 4.9, steps.max() < 8.2],
    )
    two = parts["no norm, 2 blocks"]["0.003"]["correct"]
    fast, slow = (parts["no norm, 12 blocks"][rate]["correct"] for rate in ("0.003", "0.001"))
    page.says(
        "Trained to sort at the rate 0.003, two blocks without a norm reach {:.1f} to {:.0f} %, and twelve {:.0f} to "
        "{:.0f} % within 250 steps; at 0.001 the twelve reach {:.0f} to {:.0f} %.",
        *(100 * extreme(shares) for shares in (two, fast, slow) for extreme in (min, max)),
    )  # fmt: skip
    results = page.recorded("encoder_block")["results"]
    batch = results["norms"]["batch norm, 12 blocks"]["0.003"]["correct"]
    page.says("twelve blocks learn with batch norm, too", holds=min(batch) > 0.9)
    page.given(
        "The token is (0, 6, 6, 8), with γ = (1, 1, 3, 2), β = (0, 1, 0, 0)",
        "with ε = 10⁻⁶?",
        "with γ = 1 and β = 0",
        because="an example",
    )
    page.given(
        "x̂ = (−1.667, 0.333, 0.333, 1) and y = (−1.667, 1.333, 1, 2)",
        "The differences are (−5, 1, 1, 3)",
        because=BY_HAND,
    )
    page.given("so σ² = (25 + 1 + 1 + 9)/4 = 9 and σ = 3", "σ² = 9·10⁻⁶, only nine times ε", because=BY_HAND)


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
    page.says("Pre-norm learns at both rates that we tried, 0.003 and 0.001.", holds=min(pre) > 0.97)
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


def today(page) -> None:
    old, new = page.numbers("today", r"([\d,]+) parameters")
    page.says("the network has about as many parameters as before", holds=abs(old / new - 1) < 0.04)
    page.given("With F cut to two thirds", because=SHAPE)


def published(page) -> None:
    page.says(
        "Together 591,360 + 1,181,568 + 1,536 = 1,774,464.",
        holds=page.numbers("block-count", r"block: ([\d,]+)") == [1_774_464],
    )
    page.says("as in every block with F = 4D.", holds=page.numbers("block-count", r"(\d+)% feed-forward") == [67])
    page.given(
        "4·(384·384 + 384) = 591,360", "384·1,536 + 1,536 + 1,536·384 + 384 = 1,181,568", "2·2·384 = 1,536",
        "six blocks with D = 384, F = 1,536 and twelve heads", "`sentence-transformers` 6.2.0", "D = 16, H = 4, F = 64",
        "its first twelve numbers stand in the cell", "as much as those numbers are themselves, 0.1 at most",
        "in 250 steps at the rate 0.003", "at 0.0003 the same start learns",
        because=SHAPE,
    )  # fmt: skip
    filled = page.numbers("filled", r"blocks, ([\d,]+) parameters")
    page.says("Now fill six blocks, each matrix under its name", holds=filled == 3 * [6 * 1_774_464])
    yours, relu, pre = page.numbers("filled", r"largest difference (\S+)")
    page.says("All three load without a word; only your block gives the published numbers.", holds=[
        yours < 1e-5, relu > 0.005, pre > 0.005
    ])  # fmt: skip
    page.says("only the comparison of an output tells whether it computes what BERT does.")


def mistakes(page) -> None:
    page.says(
        "How much weight do the two words give to the two padding tokens?",
        holds=page.numbers("mask", r"(\d+)%")[0] == 0,
    )

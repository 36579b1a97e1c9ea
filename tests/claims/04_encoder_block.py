"""What lecture 4 says of its numbers."""

from __future__ import annotations

import numpy as np

CHART = "application/vnd.vegalite.v5+json"
NUMBER = r"(-?[\d.]+(?:e[-+]?\d+)?)"
BY_HAND = "calculated by hand on the page"
BY_DEFINITION = "follows from the definition"
CITED = "cited, with its source in the sentence or the references"
DRAWN = "says what is drawn or asked"
READ_OFF = "read off the stored figure, which no cell prints"
VERSIONS = ("post-norm", "post-norm, warm-up", "pre-norm")


def claims(page) -> None:
    stacked_attention(page)
    residual_paths(page)
    layer_norm(page)
    live_layer_norm(page)
    batch_norm(page)
    feed_forward(page)
    dropout(page)
    one_block(page)
    post_or_pre(page)
    trained(page)
    first_step(page)
    parameters(page)
    newer_parts(page)
    mistakes(page)
    givens(page)


def stacked_attention(page) -> None:
    row = rf"(?m)^{{}} +mean cosine after 2, 6 and 16 layers: {NUMBER} {NUMBER} {NUMBER}"
    kinds = ("attention alone", "with residual path", "with residual path and norm", "and with feed-forward")
    alone, added, normed, whole = (page.numbers("3cd703b2", row.format(kind)) for kind in kinds)
    page.says("Almost exactly 1.", holds=alone[2] > 0.99)
    page.says("Two layers of bare attention make all tokens alike.", holds=alone[0] > 0.99)
    page.says("With a residual path it takes many more layers", holds=[added[0] < 0.5, added[1] < 0.9, added[2] > 0.95])
    page.says(
        "The norm makes no difference beyond the spread of the three runs",
        holds=[abs(one - other) < 0.1 for one, other in zip(added, normed, strict=True)],
    )
    page.says("its curve lies highest of the three", holds=[whole[at] > max(added[at], normed[at]) for at in (0, 1)])
    page.says(
        "With attention alone it jumps from 0 to nearly 1 after two or three layers and stays there. With a residual "
        "path, with a norm as well, and with a feed-forward network after each attention it rises more slowly.",
        holds=[min(alone) > 0.99, max(added[0], normed[0], whole[0]) < 0.5],
    )


def residual_paths(page) -> None:
    without, residual = page.numbers("d894b9b9", rf"dy/dx = {NUMBER}")
    page.says("0.5¹² = {:.6f}. With: 1.5¹² = {:.1f}.", without, residual)
    ways, total, short, share = page.numbers(
        "d894b9b9", r"sum over ([\d,]+) ways ([\d.]+); ways through at most 4 layers: (\d+), with (\d+)%"
    )
    page.says("Twelve layers have 2¹² = {:,.0f} ways.", ways, holds=ways == 2**12)
    page.says(
        "the derivative is the sum over all ways, 0.5ᵏ for a way through k layers; the short ones dominate it",
        holds=[abs(total - residual) < 1e-6, share > 60, short < ways / 4],
    )
    row = rf"(?m)^{{}} +at the input {NUMBER} times .*per block {NUMBER}; all depths and seeds: {NUMBER} to {NUMBER}"
    names = ("no residual", "residual, no norm", "residual, post-norm", "residual, pre-norm")
    plain, growing, post, pre = (page.numbers("6380d3a9", row.format(name)) for name in names)
    page.says(
        "By a factor between 1,000 and 10,000: each block takes away about two fifths.",
        holds=[1e-4 < plain[0] < 1e-3, abs(plain[1] - 0.6) < 0.02],
    )
    page.says("about a million times larger in the median of three seeds", holds=0.5e6 < growing[0] < 2e6)
    page.says("to about a million in the median of three seeds", holds=0.5e6 < growing[0] < 2e6)
    page.says(
        "Per block it is {:.0f} %: after 16 blocks about 1/2,900 is left, and after 32 it would be about a "
        "ten-millionth.",
        100 * (1 - plain[1]),
        holds=[round(1 / plain[0], -2) == 2900, 0.5e-7 < plain[0] ** 2 < 2e-7],
    )
    page.says(
        "keep the gradient within a factor of ten at every depth, in either order",
        holds=[0.1 < number < 10 for number in (*post[2:], *pre[2:])],
    )
    page.says(
        "Without residual paths it falls in a straight line to less than a thousandth at the input. With "
        "residual paths "
        "and no norm it rises to a million. With residual paths and norm, in either order, it stays within a factor of "
        "ten.",
        holds=[plain[0] < 1e-3, 0.5e6 < growing[0] < 2e6, *(0.1 < each < 10 for each in (*post[2:], *pre[2:]))],
    )
    page.given("where they made the step from some twenty layers to 152 (He et al., 2016)", because=CITED)


def layer_norm(page) -> None:
    x_hat = page.numbers("47ca43f5", rf"x_hat \[{NUMBER} +{NUMBER} +{NUMBER} +{NUMBER} *\]")
    y = page.numbers("47ca43f5", rf"by keras: \[{NUMBER} +{NUMBER} +{NUMBER} +{NUMBER} *\]")
    mean, variance = page.numbers("47ca43f5", r"mean (\d+), variance (\d+)")
    page.says("μ = 20/4 = {:.0f}. Differences", mean)
    page.says("σ² = 36/4 = {:.0f}, σ = 3.", variance)
    page.says("x̂ = (−{:.3f}, {:.3f}, {:.3f}, {:.0f}).", -x_hat[0], *x_hat[1:])
    page.says("y = (−{:.3f}, {:.3f}, {:.0f}, {:.0f}).", -y[0], *y[1:])
    wrong, right, keras = page.numbers("292be231", rf": +\[-[\d.]+ +{NUMBER} ")
    page.says(
        "The first version blows noise of 0.0005 up to {:.3f}; the right one leaves it small",
        wrong,
        holds=[right < 0.02, right == keras],
    )


def live_layer_norm(page) -> None:
    """The answer is computed as the figure computes it, from the token and the ε that the figure stores."""
    shown = next(output.data[CHART] for output in page.cells["live-layer-norm"].outputs if CHART in output.data)
    (rows,) = shown["datasets"].values()
    token = np.array([row["number"] for row in rows])
    (epsilon,) = (10.0 ** control["value"] for control in shown["params"] if control["name"] == "epsilon")
    sizes = np.array([token.max() - token.mean()]) * 10.0 ** -np.arange(2, 5)
    largest = sizes / np.sqrt(token.var() * 10.0 ** (-2 * np.arange(2, 5)) + epsilon)
    page.says(
        "{:.3f} for k = 2, {:.3f} for k = 3, {:.3f} for k = 4.",
        *largest,
        holds=[token.tolist() == [0, 6, 6, 8], largest[0] > 0.99, largest[1] < 0.99],
    )


def batch_norm(page) -> None:
    moves = page.numbers("80df35b9", r"moves by up to (\d+)%")
    scale = page.numbers("80df35b9", rf"features of real tokens: {NUMBER}")
    page.says("Batch norm returns the same five tokens up to {:.0f} % different", moves[0])
    page.says("whose features come out too large (right picture)", holds=scale[0] > 1.05)
    page.says("the scale is right again. The neighbours still count: up to {:.0f} %.", moves[1], holds=scale[1] == 1)
    page.says("it still moves, by less", holds=0 < moves[1] < moves[0])
    page.says("Layer norm does not move at all.", holds=moves[2] == 0)
    page.says(
        "Layer norm is zero throughout, batch norm changes by tens of per cent, and masked batch norm by "
        "somewhat less. "
        "Right: standard deviation of real tokens' features: 1 for layer norm and masked batch norm, drifting with the "
        "amount of padding for plain batch norm.",
        holds=[moves[2] == 0, moves[0] > moves[1] >= 10, scale[0] > 1.05, scale[1:] == [1, 1]],
    )


def feed_forward(page) -> None:
    kernel = page.numbers("b4e8d08c", r"convolution: \((\d+), (\d+), (\d+)\)")
    page.says(
        "({:.0f}, {:.0f}, {:.0f}): a window of one token, 16 channels in, 64 channels out.",
        *kernel,
        holds="equal outputs: True" in page.output("b4e8d08c"),
    )
    linear, one, two, three, eight = page.numbers("3a4f5020", rf"error {NUMBER}")
    page.says(
        "With one kink the best fit is hardly better than the straight line; with three the error is below "
        "0.01, and with "
        "eight it is gone to three decimals.",
        holds=[0.9 * linear < one < linear, two > 0.1, three < 0.01, eight == 0],
    )
    page.says(
        "Without ReLU the fit is a straight line although 64 hidden features are there. With one ReLU it is "
        "a line with "
        "one kink, with two a line with two kinks; with three it follows the wave in straight pieces, and "
        "with eight it "
        "can hardly be told from the target.",
        holds=[linear > one > two > 10 * three, eight == 0],
    )


def dropout(page) -> None:
    page.given(
        "Six training draws in which each entry is either 0 or twice the input; their mean over 5,000 draws "
        "is close to "
        "2, 4, 6, 8; at inference exactly 2, 4, 6, 8.",
        because="written into the cells of the stored figure",
    )
    survive, calculated = page.numbers("ee578638", rf"(?:path|calculated): {NUMBER}")
    page.says("0.9²⁴ = {:.2f}.", calculated, holds=survive == calculated)
    page.says("Twelve of thirteen features lose their short way home somewhere.", holds=abs(survive - 1 / 13) < 0.01)


def one_block(page) -> None:
    off = dict(
        zip(
            ("attention", "layer norm", "feed-forward", "whole block"),
            np.reshape(page.numbers("7fc8fb27", rf"off the diagonal {NUMBER}, from the padding {NUMBER}"), (4, 2)),
            strict=True,
        )
    )
    diagonal = [off[name][0] == 0 for name in ("layer norm", "feed-forward")]
    page.says("Layer norm and feed-forward are diagonal: each token on its own.", holds=diagonal)
    page.says("Layer norm and feed-forward: only the diagonal.", holds=diagonal)
    page.says(
        "Attention is the only part with entries off the diagonal.",
        holds=[*diagonal, off["attention"][0] > 0.5, off["attention"][1] == 0, off["whole block"][1] == 0],
    )
    page.says(
        "Attention: full columns for the five real tokens; the last two columns are empty except on the diagonal.",
        holds=off["attention"][1] == 0,
    )
    page.given(
        "Whole block: a strong diagonal and weak full columns for the five real tokens; the last two columns are empty "
        "except on the diagonal.",
        because=READ_OFF,
    )


def post_or_pre(page) -> None:
    after = rf"-norm, tokens after 4 and 16 blocks, median: \[{NUMBER} +{NUMBER} *\]"
    post, pre = (page.numbers("1ca82d3d", order + after) for order in ("post", "pre"))
    page.says(
        "the standard deviation grows like √depth: to above 4 after 16 blocks",
        holds=[pre[1] > 4, 1.6 < pre[1] / pre[0] < 2.4],
    )
    page.says(
        "constant at 1 in post-norm, growing like the square root of depth in pre-norm",
        holds=[post == [1, 1], 1.6 < pre[1] / pre[0] < 2.4],
    )
    row = rf"block +{{}}: post-norm {NUMBER} to {NUMBER}, pre-norm {NUMBER} to {NUMBER}"
    first, sixth, last = (page.numbers("1ca82d3d", row.format(block)) for block in (1, 6, 16))
    page.says(
        "In the last block the gradient of post-norm is about three times that of pre-norm.",
        holds=2.5 < sum(last[:2]) / sum(last[2:]) < 3.5,
    )
    page.says(
        "In the first block pre-norm's is the larger one, and post-norm's varies by a factor of three between seeds in "
        "blocks 1 and 6.",
        holds=[first[1] < first[2], round(first[1] / first[0]) == 3, round(sixth[1] / sixth[0]) == 3],
    )
    page.says(
        "Pre-norm's falls from the first block to the last; post-norm's has a wide band and no such trend.",
        holds=[first[2] > sixth[3], sixth[2] > last[3], last[0] > first[1]],
    )


def trained(page) -> None:
    row = rf"(?m)^{{}} +loss after 25, 100 and 250 steps: {NUMBER} {NUMBER} {NUMBER}"
    loss = {name: page.numbers("34440d3c", row.format(name)) for name in VERSIONS}
    size = dict(zip(VERSIONS, page.numbers("1c53908b", r"([\d,]+) parameters"), strict=True))
    page.says(
        "make {:,.0f}; pre-norm has {:.0f} more for its final norm",
        size["post-norm"],
        size["pre-norm"] - size["post-norm"],
    )
    half = [loss[name][0] / 2 for name in VERSIONS]
    page.says(
        "Pre-norm, early; post-norm with warm-up, later; post-norm without warm-up does not get there.",
        holds=[
            loss["pre-norm"][1] < half[2],
            loss["post-norm, warm-up"][1] > half[1] > loss["post-norm, warm-up"][2],
            loss["post-norm"][2] > half[0],
            page.number("064ca57d", r"(?m)^post-norm +learns within (\d+) steps: False") == 250,
        ],
    )
    page.says("Post-norm stays at {:.2f}.", loss["post-norm"][2], holds=abs(loss["post-norm"][2] - np.log(10)) < 0.02)
    place = page.number("1c745c73", rf"at {NUMBER} for a model that knows the place alone")
    page.says("knows the place would have {:.2f}, since small digits come first", place)
    page.says("So this model does not even use its positions.", holds=loss["post-norm"][2] > place + 0.3)
    page.says(
        "With a warm-up the same model ends at {:.2f}, and pre-norm, which needs none, at {:.2f}.",
        loss["post-norm, warm-up"][2],
        loss["pre-norm"][2],
    )
    page.says(
        "with lines at {:.2f} for guessing and at {:.2f} for a model that knows the place alone. "
        + " ".join(f"{name}: {{:.2f}} after 25 steps, {{:.2f}} at the end." for name in VERSIONS),
        np.log(10),
        place,
        *(loss[name][at] for name in VERSIONS for at in (0, 2)),
    )
    others = page.recorded("lecture_seeds")["results"]["04_encoder_block"]
    ends = {name: [run["losses"][name][-1] for run in others.values()] for name in VERSIONS}
    shown = {
        name: page.numbers("34440d3c", rf"(?m)^{name} +other seeds, at the end: {NUMBER} {NUMBER}") for name in VERSIONS
    }
    page.says(
        "Two other seeds end in the same order",
        holds=[
            len(others) == 2,
            *(abs(end - seen) < 0.006 for name in VERSIONS for end, seen in zip(ends[name], shown[name], strict=True)),
            *(one > two > three for one, two, three in zip(*(shown[name] for name in VERSIONS), strict=True)),
        ],
    )


def first_step(page) -> None:
    row = rf"rate {{}} +the output moves by +post-norm {NUMBER} {NUMBER} {NUMBER} +pre-norm {NUMBER} {NUMBER} {NUMBER}"
    full, small = (np.reshape(page.numbers("c73de86e", row.format(rate)), (2, 3)) for rate in ("0.003", "3e-05"))
    overlap = full[0].min() < full[1].max()
    page.says(
        "It moves about as far in both orders: by more than its own size. The two ranges overlap.",
        holds=[full.min() > 1, overlap],
    )
    page.says(
        "At the full rate the first step moves the output by more than its own size in both orders. The "
        "ranges of three "
        "seeds overlap, and pre-norm learns all the same.",
        holds=[full.min() > 1, overlap],
    )
    page.says(
        "At a hundredth of the rate, post-norm's output moves more on average, by a factor of less than two, and the "
        "ranges overlap again.",
        holds=[small[0].min() < small[1].max(), 1 < small[0].mean() / small[1].mean() < 2],
    )


def parameters(page) -> None:
    total = page.numbers("5da67679", r"total +([\d,]+)")
    page.says(
        "Attention 3·2,112 + 2,080 = {:,.0f}; feed-forward {:,.0f}; norms {:.0f}.",
        total[7],
        total[11] - total[7],
        total[15] - total[11],
    )
    page.says("Together {:,.0f} .", total[15])
    page.says("The running total ends at {:,.0f}.", total[15])
    base, share = page.numbers("81f5fc40", r"Transformer base, 2017 .*block +([\d,]+), (\d+)% feed-forward")
    page.says("has {:,.0f} parameters then, 2,048 fewer.", base - 2048)
    bert = page.number("81f5fc40", r"BERT-base .*, (\d+)% feed-forward")
    small = page.number("81f5fc40", r"key_dim 32 .*, (\d+)% feed-forward")
    page.says(
        "with F = 4D it has 8D² of them against 4D² in attention, two thirds of the block",
        holds=[share == 67, bert == 67],
    )
    page.says("In our small block F = D, and attention is the largest part.", holds=small < 33)


def newer_parts(page) -> None:
    y = np.reshape(page.numbers("3cd69aed", rf"RMSNorm \[{NUMBER} +{NUMBER} +{NUMBER} +{NUMBER} *\]"), (3, 4))
    norms = np.reshape(page.numbers("3cd69aed", rf"layer norm \[{NUMBER} +{NUMBER} +{NUMBER} +{NUMBER} *\]"), (3, 4))
    page.says(
        "its root 5, so y = ({:.1f}, {:.1f}, {:.0f}, {:.0f}). Ten times as long gives the same y.",
        *y[0],
        holds=(y[0] == y[1]).all(),
    )
    page.says(
        "With 100 added it is another one: RMSNorm forgets the length of a token and keeps its mean. Layer "
        "norm forgets both.",
        holds=[(y[2] != y[0]).any(), (norms == norms[0]).all()],
    )
    relu, gelu, swish = np.reshape(
        page.numbers("e1cf725a", rf"at -1: +{NUMBER}, smallest +{NUMBER} at x = {NUMBER}"), (3, 3)
    )
    page.says("at −1 it is −1·Φ(−1) = −{:.2f}.", -gelu[0])
    page.says("it has a minimum.", holds=[gelu[1] < gelu[0], -4 < gelu[2] < 0])
    page.says("the two others are smooth and dip below 0", holds=[gelu[1] < 0, swish[1] < 0, relu[1] == 0])
    row = rf"([\d,]+) parameters, loss at the end, three seeds: {NUMBER} {NUMBER} {NUMBER}"
    ends = np.reshape(page.numbers("e1cf725a", row), (4, 4))
    page.says(
        "All four learn the task, and the ranges of their three seeds overlap",
        holds=[(ends[:, 1:] < 0.5 * np.log(10)).all(), ends[:, 1:].min(axis=1).max() < ends[:, 1:].max(axis=1).min()],
    )
    page.given(
        "RMSNorm took 7 to 64 % less time than layer norm, for about the same quality (Zhang and Sennrich, abstract). "
        "SwiGLU lowered the loss of a T5 model from 1.677 with ReLU to 1.636, and GELU did not: 1.679 "
        "(Shazeer, table 1).",
        because=CITED,
    )


def mistakes(page) -> None:
    output = page.output("f2b958ba")
    moved = page.numbers("f2b958ba", rf"it moves by {NUMBER} when")
    page.says(r"1\. Token 0 moves; with the right axis it stays.", holds=[moved[0] == 0, moved[1] > 1])
    fewer, whole = page.numbers("f2b958ba", r"([\d,]+) parameters instead of ([\d,]+)")
    page.says("2. It has {:.0f} parameters fewer.", whole - fewer)
    page.says("3. They do not agree.", holds="agree: False" in output)
    counted = page.numbers("8937124c", r"(?m): +(\d+) parameters(?:$|,)")
    page.says(
        "4. Keras counts none of the 32, and the embedding of the second model is missing from the count as well.",
        holds=[counted[0] == 0, counted[1:3] == [32, 32], counted[3] == 320, counted[4] == 576],
    )
    page.says("{:.0f} parameters were missing, and the model trained all the same", counted[4] - counted[3])
    keyword, position = page.numbers("9569d794", r"give (\d+)% of their attention")
    page.says(
        "5. They give a large part of it to padding; with the keyword they give none.",
        holds=[keyword == 0, position >= 30],
    )
    page.says(
        "With the keyword the padding columns are 0. By position, the real words put a good part of their "
        "weight on padding.",
        holds=[keyword == 0, position >= 30],
    )


def givens(page) -> None:
    page.given(
        "about 90 minutes to read and predict; the code runs in about two minutes on two CPU cores.",
        because="counted by tests/test_lectures.py, and measured when the page was run",
    )
    page.given(
        "Take eight random tokens and send them through 16 freshly made attention layers",
        "After 16 layers, how similar",
        "10, 1,000, a million?",
        "Dense has a kernel of shape (16, 64).",
        "How close can a network 1 → F → 1 come to the curve sin(2x)?",
        "We try 4,000 random choices of the first layer",
        "F = 64 without ReLU, and F = 1, 2, 3 and 8 with ReLU: which",
        "Best fits of sin(2x).",
        "constant, like √depth, or like 2^depth?",
        "after 250 steps?",
        "Training loss over 250 steps of three models",
        "all with Adam at a learning rate of 0.003",
        "the rate climbs from 0 over the first 100 steps",
        "Rate 0.003, twelve blocks: in which order",
        "The token (1, 7, 5, 5), γ = 1 everywhere.",
        "ten times as long, or 100 added to each feature?",
        "And where is GELU below 0?",
        "ReLU, GELU and Swish from -4 to 3. ReLU has a corner at 0",
        "What happens to token 0 when token 4 changes?",
        "How many parameters does our block of 10,656 have then?",
        "How many of its 32 numbers does Keras count?",
        "if you change token 3, in (a)",
        "a block whose mask hides token 3?",
        because=DRAWN,
    )
    page.given(
        "Its derivative is 1 + f′(x) instead of f′(x).",
        "Let every layer be f(x) = 0.5·x, and put 12 of them in a row.",
        "as in the calculation with 1.5¹²",
        "Token (0, 6, 6, 8), γ = (1, 1, 3, 2), β = (0, 1, 0, 0), ε negligible.",
        "Differences (−5, 1, 1, 3), squares 25 + 1 + 1 + 9 = 36",
        "With D − 1 = 3 the variance would be 12: wrong by a third.",
        "The token (0, 60, 60, 80), ten times as long: what is its x̂? And (20, 26, 26, 28)?",
        "for which of 10⁻², 10⁻³ and 10⁻⁴ times (0, 6, 6, 8) is the largest entry of x̂ below 0.99, if ε = 10⁻⁶?",
        "A token that is 10⁻ᵏ times as long has σ² = 9·10⁻²ᵏ",
        "say (1, 1.001, 1, 1.001) with ε = 0.001",
        "√0.001 = 0.032 is the smallest divisor",
        "The 2,048 in the middle would be for nothing.",
        "The row (2, 4, 6, 8), p = 0.5",
        "(4, 0, 0, 16) in training: the survivors are divided by 0.5. At inference (2, 4, 6, 8)",
        "There are 12 blocks, so 24 sums.",
        "Guessing gives ln 10 = 2.303",
        "10·32 digits, 8·32 places, 12 blocks of 8,544, and 330 in the last layer",
        "32·64 + 64 = 2,112 , three times; 64·32 + 32 = 2,080 ; 32·32 + 32 = 1,056 , twice; 64, twice.",
        "The mean of the squares is (1 + 49 + 25 + 25)/4 = 25",
        "counted without biases, 2·512·2,048 parameters",
        "3·512·F = 2·512·2,048 gives F = 1,365",
        "Attention 4·(16·16 + 16) = 1,088; feed-forward 16·64 + 64 + 64·16 + 16 = 2,128; norms 2·32 = 64. "
        "Together 3,280 .",
        because=BY_HAND,
    )
    page.given(
        "μ = (1/D) Σ xᵢ, and the variance σ² = (1/D) Σ (xᵢ − μ)². Divided by D, not D − 1;",
        "mean 0, variance 1. The small ε keeps a constant token from dividing by 0;",
        r"\mathrm{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2 \qquad W_1: (D, F),\quad W_2: (F, D) $$",
        r"y_i = \gamma_i \, \frac{x_i}{\sqrt{\tfrac{1}{D}\sum_j x_j^2 + \varepsilon}}",
        "A convolution with kernel size 1 slides a window",
        "each number is set to 0 with probability p, and the survivors are divided by 1 − p",
        "twelve blocks of width 32, a Dense layer",
        "D = 32, F = 32 and two heads",
        "`key_dim` = 32 for each head, not D/H = 16",
        "(32, 2, 32) and (2, 32)",
        "(2, 32, 32) and (32,)",
        "(32, 32) and (32,)",
        "(32,) and (32,)",
        "Both are nearly 0 far on the left",
        "GELU is below 0 for all negative x",
        "A block has D = 16, H = 4, F = 64, key_dim = D/H.",
        "(B, 2T, D)",
        "(a) token 3 only;",
        "(c) token 3 only",
        "4(D² + D) when key_dim = D/H",
        "2DF + F + D",
        "| 0 |",
        "| 2D |",
        because=BY_DEFINITION,
    )
    page.given(
        "Keras's own default is ε = 0.001, PyTorch's 0.00001; this course uses 10⁻⁶",
        "The paper's base model has D = 512 and F = 2,048",
        "ResNet bottleneck: 256, 64, 256, narrow in the middle. Feed-forward network: 512, 2,048, 512, wide "
        "in the middle.",
        "(section 5.4 of the paper, p = 0.1;",
        "Keras 3 hands it down",
        "with 4,000 warm-up steps",
        "one block of its base model has 3,150,336",
        "In Keras 3 a bare",
        "“The original Transformer has 12 encoder blocks of width 768.”",
        "has D = 512, 8 heads, F = 2,048 and 6 + 6 blocks, with dropout 0.1",
        because=CITED,
    )
    page.given(
        "Sections 2, 3 and the first half of 8",
        "An ordinary network has F = 2,048",
        "D = 512.",
        because=DRAWN,
    )

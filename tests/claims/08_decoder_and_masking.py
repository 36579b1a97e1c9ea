"""What lecture 8 says of its numbers, and which outputs the numbers come from."""

import re

import numpy as np
from claims.page import Page


def claims(page: Page) -> None:
    by_hand(page)
    masks(page)
    counts(page)
    losses(page)
    training(page)
    without_the_mask(page)
    exposure(page)
    base_model(page)
    mistakes(page)
    examples(page)
    cited(page)
    live_figures(page)


def by_hand(page: Page) -> None:
    p, log_p, loss, perplexity = page.numbers("ad119efb", r"p = (\S+), log p = (\S+), loss (\S+), perplexity (\S+)")
    page.says("0.9 · 0.8 · 0.5 = {:.2f}.", p)
    page.says("−0.105 − 0.223 − 0.693 = −{:.3f}.", -log_p)
    page.says("The mean of −log p is {:.3f}", loss)
    page.says("e^0.341 = {:.2f} is the perplexity", perplexity)
    page.says("as uncertain as between {:.2f} equally likely tokens", perplexity)
    page.given("0.99¹⁰ = 90 % and 0.99¹⁰⁰ = 37 %, if mistakes are independent.", because="calculated by hand")


def masks(page: Page) -> None:
    open_, masked = (
        page.numbers("380450b6", rf"{name} +\[([\d.]+) +([\d.]+) +([\d.]+) *\]")
        for name in ("without the mask:", "with the mask:")
    )
    page.says("the weights are ({:.3f}, {:.3f}, {:.3f}): nearly everything comes from the future", *open_)
    page.says("(1, 3, 0) with sum 4, and the weights are ({:.2f}, {:.2f}, {:.0f})", *masked)
    page.says("No output depends on any later input", holds=page.number("e3ad7299", r"with the mask: (\S+)") == 0)
    page.says(
        "with it only the lower triangle with the diagonal", holds=page.number("e3ad7299", r"with the mask: (\S+)") == 0
    )
    blocked = page.output("4a3e3470")
    row = page.numbers("4a3e3470", r"real token: \[(\d)\. (\d)\. (\d)\. (\d)\. (\d)\.\]")
    page.says(
        "a row without any open key is finite",
        holds=["all rows finite: True" in blocked, blocked.count("nan") == 5, row == [0, 0, 1, 0, 0]],
    )
    page.says(
        "A day of the test set occurs in no line of the training set",
        holds=page.number("1d6ebf1b", r"days in both: (\d+)") == 0,
    )
    page.says("so that V = {:.0f}", page.number("1d6ebf1b", r"V = (\d+)"))
    shape = page.numbers("9806211e", r"weights \((\d+), (\d+), (\d+), (\d+)\)")
    page.says(
        "One row of weights per target token, one column per source token.",
        holds=[shape == [2, 4, 9, 10], "output: False" in page.output("9806211e")],
    )


def counts(page: Page) -> None:
    by_hand_, by_keras = page.numbers("f2e877d9", r"by hand ([\d,]+), by Keras ([\d,]+)")
    page.says("Sum 2·18,960 + 2·28,464 + 1,680 = {:,.0f}", by_hand_, holds=by_hand_ == by_keras)
    page.given(
        "Attention 9,408; feed-forward 9,360; norm 96. Encoder block 9,408 + 9,360 + 2·96 = 18,960. "
        "Decoder block 2·9,408 + "
        "9,360 + 3·96 = 28,464. Table 35·48 = 1,680",
        because="calculated by hand; the sum is compared with Keras's count",
    )
    sums = page.numbers("f2e877d9", r"sums to \[([\d.]+) ([\d.]+) ([\d.]+)\]")
    page.says("The softmax runs over the vocabulary", holds=sums == [1, 1, 1])


def losses(page: Page) -> None:
    crossed, kl = page.numbers("513e69c1", r"H\(p,q\) (\S+)  KL\(p\|q\) (\S+)")
    js = page.number("513e69c1", r"JS (\S+)")
    page.says("−log(1/6) = {:.3f} for each word, so H(p, q) = {:.3f}.", crossed, crossed)
    page.says("H(p) = log 2 = 0.693. KL(p‖q) = 1.792 − 0.693 = log 3 = {:.3f}.", kl, holds=js < np.log(2))
    page.says("KL(q‖p) is infinite: q allows words", holds="KL(q|p) inf" in page.output("513e69c1"))
    rows = dict(
        zip(
            ("untrained", "trained", "itself"),
            np.reshape(page.numbers("ef1dc43b", r"(?m)(\d\.\d+) +(\d\.\d+) +\S+ +(\d\.\d+)$"), (3, 3)),
            strict=True,
        )
    )
    page.says(
        "falls to the entropy of the target and stays there, KL and Jensen-Shannon fall to nearly 0",
        holds=[rows["trained"][0] < rows["itself"][0] + 0.02, rows["trained"][1] < 0.02, rows["trained"][2] < 0.02],
    )
    page.says("the untrained model is flat, the trained one nearly equals the target", holds=rows["untrained"][1] > 0.5)
    sums = page.numbers("a60a1674", r"rows: +\[([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) *\]")
    page.says(
        "places 1, 2 and 4 sum to {:.2f}, {:.2f} and {:.2f}",
        sums[1],
        sums[2],
        sums[4],
        holds=[sums[0] == 1, sums[3] == 1],
    )
    table, keras = (
        np.array(page.numbers("a60a1674", rf"{name}: +\[([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) *\]"))
        for name in ("from the table", "Keras reports")
    )
    page.says(
        "it divides each row by its sum first, and reports another loss than the table says",
        holds=np.allclose(keras, table + np.log(sums), atol=0.002) and not np.allclose(keras, table, atol=0.01),
    )
    smooth = np.reshape(page.numbers("3f635740", r"loss ([\d.]+) at a gap of ([\d.]+)"), (3, 2))
    page.says(
        "with smoothing 0.1 it has its minimum near a gap of {:.1f}, with 0.3 near {:.1f}", smooth[1, 1], smooth[2, 1]
    )
    floor = page.number("3f635740", r"floor with smoothing 0.1: ([\d.]+)")
    page.says("= 0.0923 + 0.5690 = {:.3f}", floor, holds=abs(smooth[1, 0] - floor) < 0.002)
    page.says("{:.3f} is the entropy of the smoothed target, the floor", floor)
    page.says("the dashed floor of {:.3f}", floor)
    page.given(
        "p(right) = 0.9 + 0.1/35 = 0.90286, others 0.1/35 = 0.002857. −0.90286·log 0.90286 − 34·0.002857·log 0.002857",
        "the floor says 0.90 where it could say 1",
        because="calculated by hand, and checked by the cell below",
    )
    peaks = page.numbers("25bb6c04", r"W = 4,000: ([\d.]+)")
    page.says("= 0.0007$", holds=peaks == [0.0007])


def training(page: Page) -> None:
    floor = page.number("3f635740", r"floor with smoothing 0.1: ([\d.]+)")
    loss = page.numbers("4b0e7d7d", r" loss: ([\d.]+)")
    exact = page.numbers("4b0e7d7d", r"exact: ([\d.]+)")
    share, dates, last = page.numbers("b669b012", r"mistake: ([\d.]+)% of ([\d,]+); last loss ([\d.]+)")
    seeds = page.numbers("b669b012", r"seed \d: ([\d.]+)%")
    page.says(
        "The loss arrives at the floor calculated in section 7", holds=[abs(last - floor) < 0.01, loss[-1] < loss[0]]
    )
    page.says("practically every unseen date is written without a mistake", holds=share > 99)
    page.says(
        "It is so with another seed, too (`experiments/lecture_seeds.py` ran these cells again).",
        holds=min(seeds) > 98.5,
    )
    page.says(
        "No mistake in {:,.0f} dates means, with 95 % confidence, fewer than 3/3,701 = {:.1f} %",
        dates,
        300 / dates,
        holds=share == 100,
    )
    page.says("starts near 0 and reaches 1 a few epochs later", holds=[exact[0] < 0.1, exact[-1] > 0.99])
    accuracy = page.numbers("4b0e7d7d", r"token_accuracy: ([\d.]+)")
    page.says(
        "In the early epochs, token accuracy is far above the share of dates without a mistake.",
        holds=[a > e + 0.1 for a, e in zip(accuracy[:3], exact[:3], strict=True)],
    )
    page.given("A model has 0.9 of the nine tokens right", because="an example")
    digit = (0.9 * 9 - 1) / 8
    page.says("(0.9 · 9 − 1)/8 = {:.4f}, and eight digits with 0.8875⁸ = {:.2f}", digit, digit**8)


def without_the_mask(page: Page) -> None:
    rows = re.findall(r"(?:this page|seed \d)': \[([^]]*)\]", page.output("05744030"))
    page.says("Faster, from the second epoch on", holds=["2, 3, 4" in row for row in rows] + [len(rows) == 2])
    page.says(
        "without it the loss is lower from the second epoch on, until both reach the same floor",
        holds="2, 3, 4" in rows[0],
    )
    masked, leaky = np.reshape(
        page.numbers("05744030", r"loss ([\d.]+), ([\d.]+)% of the dates right; on its own ([\d.]+)%"), (2, 3)
    )
    page.says(
        "It is as good in every evaluation that feeds it the target, on unseen days, too: the same "
        "loss, all dates right.",
        holds=[abs(masked[0] - leaky[0]) < 0.01, leaky[1] > 99.5, masked[1] > 99.5],
    )
    alone = page.numbers("05744030", r"(?m)other seeds: ([\d.]+)%")
    page.says(
        "both models get all unseen dates right while they read the target; on its own, the model "
        "without the mask gets none right",
        holds=[leaky[2] < 0.5, max(alone) < 5, masked[2] > 99],
    )
    on, off = np.reshape(
        page.numbers("cf863ed0", r"(?m)^mask \S+ +buffer of T places: +([\d.]+)% +growing prefix: +([\d.]+)%"), (2, 2)
    )
    seeds = np.reshape(page.numbers("cf863ed0", r"buffer +([\d.]+)% +growing prefix: +([\d.]+)%"), (-1, 2))
    page.says(
        "With the mask both ways agree. Without it the buffer's unwritten places are read as if they were text.",
        holds=[on[0] == on[1] <= 100, off[0] < on[0] - 20],
    )
    page.says(
        "But the growing prefix fails, too (how often depends on the run)",
        holds=[off[1] < 95, (seeds[:, 1] < 97).all(), np.ptp([off[1], *seeds[:, 1]]) > 1],
    )
    page.says(
        "without it, at inference, dates go wrong, even with a prefix that grows",
        holds=[off[1] < 95, (seeds[:, 1] < 97).all()],
    )


def exposure(page: Page) -> None:
    mean = page.number("02fcd251", r"wrong digit: (\d+)% on average")
    seeds = page.numbers("02fcd251", r"other seeds: (\d+)%")
    page.says("It does matter: after a mistake", holds=[mean < 75, max(seeds) < 80])
    page.says("the next one is more likely", holds=max(mean, *seeds) < 80)
    year = page.numbers("02fcd251", r"in a year \['(\d+)%', '(\d+)%', '(\d+)%'\]")
    page.says("After a wrong digit the next digit of the same field is often wrong, too", holds=max(year) < 60)


def base_model(page: Page) -> None:
    parts = dict(re.findall(r"(?m)^(\w+) +([\d,]+)$", page.output("04acfc1a")))
    parts = {name: int(count.replace(",", "")) for name, count in parts.items()}
    total = page.number("04acfc1a", r"all of them trained +([\d,]+)")
    kept = page.number("04acfc1a", r"norms alone +([\d,]+)")
    page.says("In all {:,.0f}", total, holds=total == sum(parts.values()))
    page.says("Together {:,.0f}.", kept, holds=kept == parts["Dense"] + parts["LayerNormalization"])
    page.says(
        "Then Keras counts {:,.0f} trainable parameters: the feed-forward networks and norms.",
        kept,
    )
    page.says("The other {:,.0f} numbers stay as they were drawn", total - kept)
    page.given(
        "12 of 2·512·2,048 + 2,048 + 512 = 2,099,712. Norms: 6·2 + 6·3 = 30, each of 2·512 = 1,024.",
        "6 + 2·6 = 18, each of 4·512² = 1,048,576. One table 29·512 = 14,848.",
        because="calculated by hand; the sums are compared with Keras's count",
    )
    assert parts["MultiHeadAttention"] == 18 * 4 * 512**2


def mistakes(page: Page) -> None:
    shifted, copied = page.numbers("1e0e41b6", r"attention ([\d.]+)")
    page.says('Even a "model" without any attention then reaches the floor.', holds=[copied < 0.01, shifted > 1])
    everywhere, lines, tokens = page.numbers(
        "560816c4", r"places ([\d.]+); over the lines' means ([\d.]+); over the real tokens ([\d.]+)"
    )
    page.says("The mean over all places is too small", holds=everywhere < tokens)
    page.says(
        "The mean of the lines' means counts a token of a short line four times as much.",
        holds=lines == 3 and tokens == 2.4,
    )
    page.says(
        "queries from the target, keys and values from the memory",
        holds=page.numbers("560816c4", r"output \(2, (\d+), 48\), but the target has (\d+)") == [10, 9],
    )


def examples(page: Page) -> None:
    page.given("Time: about 88 minutes", because="counted by tests/test_lectures.py")
    page.given(
        "[← 7 ·",
        "the probabilities 0.9, 0.8 and 0.5",
        "99 times out of 100. What share of its sentences of 10 tokens is free of mistakes, and what share of "
        "its sentences of 100 tokens?",
        "token 50 needs token 49",
        "lets place 0 read",
        "the places 0 to t",
        "so that their weight is 0 and the others still sum to 1",
        "Place 1 has the scores (0, ln 3, 5) for the places 0, 1 and 2.",
        "the exponentials are (1, 3, 148.4) with sum 152.4",
        "Three 5 by 5 maps for the tokens start, 1, 9, 9, 4.",
        "weights that are 0 above the diagonal. The first row has the single weight 1 on itself.",
        "can attend only to itself, with weight 1",
        "Two 7 by 7 maps",
        "(B, 1, S)",
        "Three masks of 5 by 5.",
        "key 0 is real",
        "sets the weights of blocked places to 0 afterwards",
        "all its weights are 0, and it sums to 0 instead of 1",
        "The decoder reads start, 1, 9, 9, 4, 0, 3, 2, 7 and says 1, 9, 9, 4, 0, 3, 2, 7, end.",
        "the vocabulary on axis 1",
        "with variance 1/D, so that the logits start near 1",
        "D = 48, F = 96, V = 35, N = 2 blocks",
        "4(D² + D), feed-forward 2DF",
        "a norm 2D",
        "not 0 |",
        "| 0 exactly at q = p",
        "never above log 2 = 0.693",
        "p = (½, ½, 0, 0, 0, 0)",
        "A term with p = 0 counts 0",
        "over 300 gradient steps",
        "A loss that stays above 0",
        "because idea has probability 0",
        "| 0 | 0.93 | 0.01 | 0.01 | 0.01 | 0.03 | 0.01 | | 1 | 0.02 | 0.80 | 0.10 | 0.03 | 0.03 | "
        "0.10 | | 2 | 0.01 | 0.02 | 0.85 | "
        "0.04 | 0.02 | 0.01 | | 3 | 0.02 | 0.01 | 0.02 | 0.90 | 0.03 | 0.02 | | 4 | 0.01 | 0.01 | "
        "0.02 | 0.01 | 0.98 | 0.01 |",
        "sums to more than 1 promises",
        "With ε = 0.1 and our V = 35",
        "for D = 512, W = 4,000?",
        "over 20,000 steps",
        "From step 8,000 on the first two curves are one",
        "copy place t + 1",
        "are at 100 %",
        "(In training such a prefix never occurred.)",
        "on 8 pairs of 10 tokens",
        "1. The target is not shifted.",
        "2. Softmax over",
        "3. An inverted mask",
        "4. Padding counted",
        "5. Query and value",
        "Mistake 4: the second line has one real token with a loss of 4, the first has four with a loss of 2.",
        "Mistake 3: the inverted",
        "Mistake 5 shows",
        "weights of 0, which sum to 0",
        "“Blocked places get the weight 0 after the softmax.” Then the rest does not sum to 1.",
        'Target "1 9 9 4 &lt;end&gt;".',
        '1 9 9 4".',
        "It is log 2, the largest value",
        "9 9 4",
        "at place 0 and at place 4",
        "At place 0 it says 1, at place 4 the end.",
        "B = 2, H = 4, T = 7, S = 11.",
        "Encoder (2, 4, 11, 11), mask (2, 1, 11). Decoder (2, 4, 7, 7), mask (7, 7), or (2, 7, 7) "
        "with the target's padding. Cross "
        "(2, 4, 7, 11), mask (2, 1, 11).",
        "The loss of a model with label smoothing 0.1 over V = 35 is 0.66.",
        "JS(p, q) = 0.693.",
        "stays far above 0",
        "| 7 | 5 | 20 |",
        "| 128 | 128 | 1,024 with",
        "48, 96, 2 |",
        "128, 512, 3 with",
        because="an example, a shape, a setting of the page, or the number of a question",
    )


def cited(page: Page) -> None:
    page.given(
        "ε = 0.1 in the Transformer paper",
        "6 + 6 blocks, D = 512, H = 8, F = 2,048",
        "a vocabulary of 29 words",
        "D = 768, 12 + 12 blocks, dropout 0.1, beam 4.” D = 512, H = 8, F = 2,048, 6 + 6 blocks; "
        "dropout 0.1, label smoothing 0.1, "
        "4,000 warm-up steps, beam 4 with length penalty 0.6. 768 and 12 are BERT-base.",
        "which Keras 3 does not track",
        "Keras 3 does not track",
        because="cited: Vaswani et al., 2017; Szegedy et al., 2016; Devlin et al., 2019; a version",
    )


def live_figures(page: Page) -> None:
    page.given(
        "which weights do the rows 0 and 1 get, if a blocked score is −10⁹?",
        "Rows 0 and 1 have no open key. Five equal scores of −10⁹ give five equal weights of 0.20",
        "(Keras sets them to 0 afterwards, as above)",
        "Row 2 has one open key and gives it everything.",
        "which rows still sum to 1?",
        "Blocked after the softmax, only the last row sums to 1,",
        because="calculated by hand; tests/test_live.py evaluates the figure",
    )

"""What lecture 2b says of its numbers."""

from __future__ import annotations

from itertools import pairwise

from claims.page import Page


def claims(page: Page) -> None:
    counted(page)
    paths(page)
    blocks(page)
    roofline(page)


def counted(page: Page) -> None:
    sizes = page.numbers("cell-5", r"([\d.,]+) MiB")
    page.says("At $T = 512$ one matrix of weights takes {:.0f} MiB in float32", sizes[1])
    page.says("This one matrix takes {:.0f} MiB, which is {:.0f} GiB", sizes[3], sizes[3] / 1024)
    page.says("four times the multiply–adds of the two products, and four times the memory of the weights.")


def paths(page: Page) -> None:
    near = page.numbers("cell-11", r"1 step back (\S+?),")
    far = page.numbers("cell-11", r"59 steps back (\S+)")
    fall = [near / far for near, far in zip(near, far, strict=True)]
    page.says("falling lines, the simple RNN steeper than the LSTM", holds=fall[0] > fall[1] > 1e3)
    page.says("so its curve is flat", holds=fall[2] < 3)
    page.says("is also low", holds=far[2] < near[2] < 32**0.5 / 59)
    page.given(
        "and equal weights would pass 1/59 of it to each token",
        "step 100 waits for step 99",
        "We multiply the 32 numbers of the output by random numbers of variance 1",
        because="the sizes of the cell",
    )
    page.given("| 1 | 1 |", "| 1 a layer |", because="counted")
    page.given("Keras starts the bias of this gate at 1", because="Keras's default, unit_forget_bias")
    page.given("The recurrence takes 512 small steps", because="T = 512")
    page.given(
        "take 5 ms and 50 ms at $T = 64$, and 20 ms and 60 ms", "20/5 = 4 against 60/50 = 1.2", because="an example"
    )
    page.given("about 47 minutes to read", because="counted by tests/lecture/test_lectures.py")
    page.given("the recurrence by a chain of six steps", because="drawn")
    crossing = page.number("cell-14", r"T = ([\d,]+)")
    names = ("attention", "recurrence", "convolution")
    attention, recurrence, convolution = (
        page.numbers("cell-14", rf"{name} +" + r"([\d.]+) +" * 8 + "ms") for name in names
    )
    page.says(
        "from 64 to 256 tokens attention takes about the same time",
        holds=max(attention[:3]) < 1.5 * min(attention[:3]),
    )
    page.says(
        "At 2,048, with {:.0f} times the recurrence's multiply–adds in its products, it is still {:.1f} times as fast",
        2048 / 64, recurrence[5] / attention[5],
    )  # fmt: skip
    page.says("The convolution is faster than both from 512 tokens on", holds=[
        mine < min(others) for mine, *others in zip(convolution[3:], attention[3:], recurrence[3:], strict=True)
    ])  # fmt: skip
    page.says("From 2,048 to 4,096 tokens attention took {:.0f} times as long, not four", attention[6] / attention[5])
    page.says("so the curves cross at about {:,.0f}.", crossing)
    page.given(
        "at 8,192 tokens took 92 ms, and 48 ms where the library was told to keep freed memory",
        "The 92 and 48 ms were timed once; what else stretched the step to 13",
        because="timed again, on two cores shared with other work; the last with glibc told to keep freed memory",
    )
    page.given("here at 64 tokens", "the larger part at 64 tokens", because="T = D = 64, counted on the page")
    page.says("at a width of 768, after {:,.0f} tokens", 6 * 768)
    page.says("In this run attention is faster than the recurrence for sentences and pages")
    page.says("slower only for texts of thousands of tokens", holds=[
        all(mine < other for mine, other in list(zip(attention, recurrence, strict=True))[:-2]),
        attention[-1] > recurrence[-1], 2048 < crossing < 8192,
    ])  # fmt: skip
    page.says("it pays with a square that only long inputs notice")
    standard = 6 * 2 * 1024**2 * 64 * 16 * 64 / 1e9  # six products, forward and backward
    again = 7 * standard / 6  # the scores a second time
    page.says("| standard attention | {:.0f} billion | 40.3 GB | 41.7 ms |", standard)
    page.says("| FlashAttention | {:.0f} billion | 4.4 GB | 7.3 ms |", again)
    page.says("in the table about {:.0f} and {:.0f}", 10 * round(standard / 403), 10 * round(again / 44))
    page.given(
        "about 220 in the table, where $T/2$ is 512",
        "bytes (4.4/1.555 = 2.8) and arithmetic (962/312 = 3.1) take about three each",
        "Of the second row's 7.3 ms",
        because="counted in the table",
    )
    page.given(
        "64 sequences of 1,024 tokens, 16 heads of width 64",
        because="Dao et al. 2022, figure 2",
    )


def blocks(page: Page) -> None:
    page.says("1 + 0.368 + 0.135 = {:.3f}", page.number("cell-19", r"by hand: ([\d.]+)"))
    page.given("Scores 1 and 2 form the first block, 3 the second", because="an example")
    page.given("maximum 2, sum 1", "The second block brings 3", "and 1 is added", because="by hand")
    page.says("For an exact softmax the matrix need not be stored", holds="True" in page.output("cell-19"))
    wrong, correct = page.numbers("cell-23", r"(?:factor|correct) ([\d.]+)")
    page.says("the result is wrong as soon as two of them differ", holds=[
        wrong > 2 * correct, 1 < correct < 2, wrong > 10
    ])  # fmt: skip
    page.says(
        "It also builds the program that later calls reuse",
        holds=page.number("cell-23", r"takes (\d+) times") > 2,
    )


def roofline(page: Page) -> None:
    page.given(
        "An A100 can do 312 trillion operations a second, and move 1.555 trillion bytes (NVIDIA 2021, data sheet).",
        because="the data sheet",
    )
    page.says("So while one byte arrives it could do {:.0f} operations.", 200, holds=round(312 / 1.555, -1) == 200)
    page.says("| the ridge point: 312/1.555 | {:.0f} | |", 312 / 1.555)
    page.says("for a head of width 64 thus {:.0f}, whatever $T$ is", 64 / 2)
    page.says("| attention in blocks, $T = 1{{,}}024$ | about 220, at best {:.0f} |", 1024 / 2)
    page.given(
        "Below 200 the memory sets the pace",
        "numbers of 2 bytes",
        "| writing, one token a pass | 1 |",
        "| standard attention, $D = 64$ | 32 |",
        "| reading 1,000 tokens | 1,000 |",
        "A language model with $P$ parameters of 2 bytes each",
        "reads a prompt of 1,000 tokens in one pass, then writes 1,000 tokens, one pass each.",
        "operations for $2P$ bytes, so 1,000",
        "for $2P$ bytes, so 1: two",
        "a batch of 50 uses each parameter 50 times",
        because="counted on the page",
    )
    times = page.numbers("b2-roof", r", +([\d.]+) ms")
    page.says(
        "Sixteen multiply–adds a number take {:.0f} ms here and one takes {:.0f}: the processor waits for its memory, "
        "and arithmetic is free. From 16 to 64 the time doubles with the work: now the arithmetic sets the pace. "
        "(128 took {:.1f} times as long as 64; why, this page does not know.)",
        times[4], times[0], times[7] / times[6],
        holds=[times[4] < 1.3 * times[0], *(1.8 < longer / shorter < 2.2 for shorter, longer in pairwise(times[4:7]))],
    )  # fmt: skip
    page.says(
        "More arithmetic on each number costs little at first, and then it sets the pace.",
        holds=max(times[:4]) < 1.3 * times[0],
    )
    page.given("16.8 million numbers are read once, go through 1 to 128 multiply–adds each", because="the cell's sizes")
    page.says(
        "With features in place of the exponential, attention is a recurrence",
        holds="same six outputs" in page.output("b2-linear"),
    )

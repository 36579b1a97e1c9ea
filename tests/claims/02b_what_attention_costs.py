"""What lecture 2b says of its numbers."""

from __future__ import annotations

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
    rows = [page.numbers("cell-14", rf"{name} +" + r"([\d.]+) +" * 8 + "ms") for name in ("attention", "recurrence")]
    attention = rows[0]
    page.says(
        "from 64 to 256 tokens attention takes about the same time",
        holds=max(attention[:3]) < 1.5 * min(attention[:3]),
    )
    page.says("In this run at about {:,.0f} tokens.", crossing)
    page.says("But from 2,048 to 4,096 tokens it took {:.0f} times as long.", attention[6] / attention[5])
    page.says("The recurrence has such a step, too: {:.1f} times as long from 512 to 1,024.", rows[1][4] / rows[1][3])
    page.given(
        "gave 4,717 and 7,548, and once they did not cross up to 8,192",
        "at $T = 8{,}192$ attention took 48 ms, and 92 ms without that setting",
        "a factor of two, not of 13",
        "at 4,096 tokens the matrix of weights has 64 MiB",
        "the fourth says only that it lies beyond 8,192",
        "The 92 and 48 ms were timed once",
        "13-fold step",
        because="timed again, on two cores shared with other work; the last with glibc told to keep freed memory",
    )
    page.says("In this run attention is faster than the recurrence for sentences and pages")
    page.says("slower only for texts of thousands of tokens", holds=[
        all(mine < other for mine, other in list(zip(*rows, strict=True))[:-2]), rows[0][-1] > rows[1][-1],
        2048 < crossing < 8192,
    ])  # fmt: skip
    page.says("it pays with a square that only long inputs notice")
    page.says(
        "the two products of the forward pass alone take {:.0f} billion multiply–adds at this size",
        2 * 1024**2 * 64 * 16 * 64 / 1e9,
    )
    page.says("the rows have {:.1f} and {:.0f} operations per byte", 66.6 / 40.3, 75.2 / 4.4)
    counted = 3 * 2 * 2 * 1024**2 * 64 * 16 * 64 / 1e9
    page.says("which are {:.0f} billion operations", counted)
    page.says(
        "with these the rows have about {:.0f} and {:.0f} operations per byte",
        counted / 40.3, 10 * round(counted / 44),
    )  # fmt: skip
    page.given("by the count above at 190, where $T/2$ is 512", because="counted above")
    page.given(
        "64 sequences of 1,024 tokens, 16 heads of width 64",
        "66.6 GFLOPs | 40.3 GB | 41.7 ms", "75.2 GFLOPs | 4.4 GB | 7.3 ms",
        because="Dao et al. 2022, figure 2",
    )  # fmt: skip


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
    page.says("at a width of 64 thus {:.0f}, whatever $T$ is", 64 / 2)
    page.says("| attention in blocks, $T = 1{{,}}024$ | at best {:.0f} |", 1024 / 2)
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
        "and arithmetic is free. 128 take {:.0f} ms: now the arithmetic sets the pace.",
        times[4], times[0], times[7],
        holds=[times[4] < 1.3 * times[0], times[7] > 5 * times[0]],
    )  # fmt: skip
    page.says(
        "More arithmetic on each number costs little at first, and then it sets the pace.",
        holds=max(times[:4]) < 1.3 * times[0],
    )
    page.given("16.8 million numbers are read once, go through 1 to 128 multiply–adds each", because="the cell's sizes")
    page.says("Without the softmax attention is a recurrence")

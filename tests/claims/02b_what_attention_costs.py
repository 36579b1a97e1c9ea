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
    page.given(
        "take 5 ms and 50 ms at $T = 64$, and 20 ms and 60 ms", "20/5 = 4 against 60/50 = 1.2", because="an example"
    )
    page.given("about 50 minutes to read", because="counted by tests/lecture/test_lectures.py")
    page.given("the recurrence by a chain of six steps", because="drawn")
    timed(page)
    page.says("at a width of 768, after {:,.0f} tokens", 6 * 768)
    standard = 6 * 2 * 1024**2 * 64 * 16 * 64 / 1e9  # six products, forward and backward
    again = 7 * standard / 6  # the scores a second time
    page.says("| standard attention | {:.0f} billion | 40.3 GB | 41.7 ms |", standard)
    page.says("| FlashAttention | {:.0f} billion | 4.4 GB | 7.3 ms |", again)
    page.says("in the table about {:.0f} and {:.0f}", 10 * round(standard / 403), 10 * round(again / 44))
    page.given(
        "so 3.1 ms would be possible; it took 7.3.",
        "(The table's 20 and 220 are for forward and backward pass together",
        because="counted in the table",
    )
    page.given(
        "64 sequences of 1,024 tokens, 16 heads of width 64",
        "(The figure prints 66.6 and 75.2 billion, about a twelfth of our count; how it counted we do not know.)",
        because="Dao et al. 2022, figure 2",
    )


def timed(page: Page) -> None:
    names = ("attention", "recurrence, Keras's loop", "recurrence, compiled")
    times = [page.numbers("b2-timed", rf"{name} +" + r"([\d.]+) +" * 6 + "ms") for name in names]
    ends = [page.numbers("b2-timed", rf"{name} .*: +([\d.]+) µs a token, +([\d.]+) b") for name in names]
    tokens, rates = zip(*ends, strict=True)
    attention, loop, compiled = times
    page.says(
        "At 2,048 tokens Keras's loop takes {:.1f} µs a token, the compiled program {:.1f}, with the same parameters "
        "and the same multiply–adds. So what the loop's time measures here is mostly the loop.",
        tokens[1], tokens[2],
        holds=[tokens[1] > 4 * tokens[2], rates[2] > 4 * rates[1]],
    )  # fmt: skip
    is_ahead = [mine < other for mine, other in zip(attention[:-1], loop, strict=False)]
    page.says("lies highest up to 1,024 tokens, its compiled twin below it everywhere", holds=is_ahead)
    page.says("in the loop of the framework it is slower than attention up to 1,024 tokens", holds=is_ahead)
    page.says(
        "Up to 1,024 tokens attention is faster than the loop; at 2,048 it is slower than the compiled program.",
        holds=[*is_ahead, compiled[-1] < attention[-1]],
    )
    page.says("compiled it is faster at the end", holds=compiled[-1] < attention[-1])
    page.says("Compiled, the same recurrence is faster than attention there.", holds=compiled[3] < attention[3])
    page.given(
        "At 2,048 tokens of width 64 that takes 33 times as many multiplications",
        "and there are 512 turns.",
        "At $D = 64$ and 2,048 tokens attention takes 33 times as many multiply–adds",
        "Attention has 33 times the work at this length",
        because="(2T + 3D)/2D at T = 2,048 and D = 64 is 33.5",
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
    page.says("for a head of width 64 thus {:.0f}, whatever $T$ is", 64 / 2)
    page.given(
        "Below 200 the memory sets the pace",
        "numbers of 2 bytes",
        "A language model with $P$ parameters of 2 bytes each",
        "reads a prompt of 1,000 tokens in one pass, then writes 1,000 tokens, one pass each.",
        "operations for $2P$ bytes, so 1,000",
        "for $2P$ bytes, so 1: two",
        "a batch of 50 uses each parameter 50 times",
        "trillions of operations a second over operations per byte, climbing up to about 200 and then flat.",
        "Dotted lines mark writing, at 1, and reading 1,000 tokens, at 1,000.",
        because="counted on the page",
    )
    points = (
        page.numbers("b2-roof-figure", rf"{name}: (\d+) .*, (\d+) tr.*there: (\d+)")
        for name in ("standard attention", "FlashAttention")
    )
    intensity, speed, roof = zip(*points, strict=True)
    page.says(
        "Two points from Dao et al. lie below it: standard attention under the slope, FlashAttention near the ridge.",
        holds=[speed[0] < roof[0] < 312, intensity[0] < 200 < intensity[1] < 250, speed[1] < roof[1] == 312],
    )
    layers, heads, width, parameters = 30, 3, 64, 134_515_008  # SmolLM2
    kept = 2 * layers * heads * width
    page.says("SmolLM2 (lecture 10) has {:.1f} million parameters", parameters / 1e6)
    page.says("for each token (a key and a value, 30 layers, three heads of 64).", holds=kept == 11_520)
    page.says(
        "So the cache of {:,.0f} tokens is as large as the model: in a batch of 50, at {:.0f} tokens each.",
        round(parameters / kept, -2), parameters / kept / 50,
    )  # fmt: skip
    page.says(
        "With features in place of the exponential, this other attention is a recurrence",
        holds="same six outputs" in page.output("b2-linear"),
    )

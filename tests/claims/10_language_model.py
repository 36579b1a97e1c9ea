"""What lecture 10 says of its numbers, and which outputs the numbers come from."""

import re

from claims.page import Page

TABLE, COPY, BLOCKS, LORA = "c10-25", "c10-35", "c10-38", "c10-47"


def claims(page: Page) -> None:
    pieces(page)
    trained(page)
    written(page)
    copying(page)
    fitted(page)
    mistakes(page)
    page.given("and tokens should grow together, at about 20 tokens a parameter", because="cited: Hoffmann et al. 2022")
    page.given(
        "about 61 minutes to read and predict (estimated, not measured)",
        "the code runs in about three minutes on two CPU cores that have nothing else to do",
        "The 256 bytes are such a list and can write everything",
        "Model A has a loss of 2 nats a token with it. Model B reads single bytes and has a loss of 1.2 nats a byte.",
        "A pays half of its 2 nats for each byte",
        "Each step takes eight random windows of 256 tokens",
        "starts at 0, so training starts from the frozen model",
        "(1 nat = 1.44 bits)",
        "new tokens count from 256",
        "The number of `l` is 108 and that of `se` is 256",
        '(The table calls this "counted, 4 tokens".)',
        "gets each of the first 300 held-out functions alone, with 32 kB of training text",
        "The test: 64 random tokens, then the same 64 again.",
        because="defined, estimated or an example",
    )


def pieces(page: Page) -> None:
    page.says(
        "The first merges are indentation and pieces of `self`",
        holds=["b'self'" in page.output("c10-12").split("last")[0]],
    )
    page.says(
        "A token of this vocabulary stands for about two bytes.",
        holds=[1.9 < page.number("c10-15", r"([\d.]+) bytes a token") < 2.4],
    )


def trained(page: Page) -> None:
    bits = [page.number(TABLE, rf"{name} +([\d.]+) bits") for name in ("counted, 4 tokens", "Transformer", "function")]
    page.says("Counting wins here", holds=[bits[0] < bits[1], 1 < bits[0] < 3, bits[2] < 4])
    steps = re.search(r"STEPS = .*?, (\d+) ", page.cells["c10-24"].source)
    page.says("after {:.0f} steps the counts are still ahead", int(steps[1]), holds=[bits[0] < bits[1]])
    page.says("On held-out text the network stays above the longest counted model.", holds=[bits[1] > bits[0]])
    read, text = page.number("c10-24", r"; ([\d,]+) of"), page.number("c10-24", r"of ([\d,]+) tokens")
    page.says("the Transformer has read half as many tokens", holds=[read < 0.6 * text])
    page.says("It has read the whole text, and the network half as many tokens", holds=[0.45 < read / text < 0.55])
    parameters = page.number("c10-24", r"([\d,]+) parameters")
    page.says(
        "So our model has read too little for its size by this rule.",
        holds=[
            abs(page.number("c10-44", r"([\d.]+) tokens read") - read / parameters) < 0.06,
            read / parameters < 20,
        ],
    )


def written(page: Page) -> None:
    everyone = page.number("c10-32", r"ended: \d+ of (\d+)")
    ended, fine = page.number("c10-32", r"ended: (\d+) of"), page.number("c10-32", r"parse: (\d+) of")
    short = [int(length) for length in re.search(r"that parse: +\[([\d, ]+)\]", page.output("c10-32"))[1].split(",")]
    page.says(
        "Of the {:.0f} bodies, {:.0f} ended and {:.0f} are Python, most of them short.",
        everyone,
        ended,
        fine,
        holds=[len(short) == fine, sum(length <= 2 for length in short) > fine / 2],
    )
    page.says("`pass` parses after every prompt", holds=[page.number("c10-32", r"`pass`: +(\d+)") == everyone])


def copying(page: Page) -> None:
    first, second = (page.number(COPY, rf"([\d.]+) the {which} time") for which in ("first", "second"))
    page.says("the second time costs as much as the first", holds=[abs(first - second) < 0.5, 6 < first < 30])
    one, two = (page.number(BLOCKS, rf"{blocks}: ([\d.]+) nats") for blocks in ("1 block", "2 blocks"))
    page.says("Here one block does not learn to copy by content, and two blocks do.", holds=[one > 2, two < 0.6])
    losses = page.evidence("10").numbers("e10-04", r"(?m)^ +\d +[12] +([\d.]+)")
    page.says(
        "In each of three seeds only the model with two blocks reaches a small loss",
        holds=[len(losses) == 6, min(losses[::2]) > 3 * max(losses[1::2])],
    )
    before, after = (page.numbers(BLOCKS, rf"{what} ([\d.]+)") for what in ("token before", "last time"))
    page.says(
        "In the first block a head looks one token back.",
        holds=[before[1] > 0.4, before[1] > 5 * before[2], after[1] < 0.1],
    )
    page.says(
        "the map of block 1 has its weight just below the diagonal, the map of block 2 has, below the line where the "
        "repetition begins, a line that runs parallel to the diagonal further to the left",
        holds=[before[1] > 0.4, after[2] > 0.4],
    )
    page.says(
        "In the second block a head puts more than half of its weight on what followed the same token last time",
        holds=[after[2] > 0.5],
    )


def fitted(page: Page) -> None:
    none, low, whole = (page.number(LORA, rf"{way} +([\d.]+) bits") for way in ("not fitted", "rank 4", "parameters"))
    counts = page.numbers(LORA, r"([\d,]+) parameters trained")
    page.says(
        "the order of the last two lines is not a result",
        holds=[max(low, whole) < none < 5, counts[0] * 10 < counts[1]],
    )


def mistakes(page: Page) -> None:
    colon, newline = (
        page.number("c10-51", r"(\d+) of \d+ behind the colon"),
        page.number("c10-51", r"(\d+) of \d+ behind the n"),
    )
    page.says(
        "With {:.0f} prompts the shares below are no evidence of a difference",
        24,
        holds=[colon == page.number("c10-32", r"parse: (\d+) of"), abs(colon - newline) < 4],
    )
    page.says(
        "The loss falls to nearly nothing, and the model only repeats what it reads.",
        holds=[page.number("c10-53", r"loss ([\d.]+)") < 0.2],
    )

"""What lecture 3b says of its numbers, and which outputs the numbers come from."""

from __future__ import annotations

import numpy as np
from claims.page import Page

HEAD = r"block (\d+), head (\d+): "


def claims(page: Page) -> None:
    kept(page)
    said_twice(page)
    copying(page)
    one_back(page)
    switched_off(page)
    spared(page)
    writing(page)
    mistakes(page)
    given(page)


def kept(page: Page) -> None:
    """The sentences to keep."""
    page.says(
        "Ten lines find heads that look where copying has to look; switching them off shows that the copying depends "
        "on them."
    )
    page.says("Induction heads look at what followed the same token last time, and ten lines find them.")
    page.says("The finders find B by its key, and one earlier head has written that key")
    page.says("A head matters where the loss rises without it, and more than without heads drawn at random.")
    page.says(
        "To look is not to write, as far as this lens can read: the strongest finder hardly writes the token; a later "
        "head can, and others cover for that one."
    )


def said_twice(page: Page) -> None:
    first, second, even = page.numbers(
        "said-twice", r"first copy ([\d.]+) nats a token, second copy ([\d.]+), an even guess ([\d.]+)"
    )
    page.says("It pays {:.1f} nats in the first copy and {:.1f} in the second.", first, second, holds=second < 5)
    page.says("In the first it is worse than an even guess", holds=first > even)
    page.says("A uniform guess over 49,152 tokens costs ln 49,152 = {:.1f} nats for each", even)
    page.says("The second copy costs {:.1f} nats a token. Now switch off one head of 270", second)
    page.says(
        "noise that costs {:.0f} nats a token at first costs {:.0f} when it comes again.",
        first,
        second,
        holds=first > 3,
    )
    page.says("| first copy | {:.1f} |", first)
    page.says("| whole model | {:.1f} |", second)
    paris = page.numbers("capital", r"Paris ([\d.]+), the ([\d.]+)")
    page.says("guesses the next token of a text", holds=paris[0] > 10 * paris[1])


def copying(page: Page) -> None:
    found = np.array(page.numbers("copying", HEAD + r"([\d.]+)")).reshape(-1, 3)
    equal, middle = page.numbers("copying", r"would give ([\d.]+), the median head gives ([\d.]+)")
    page.says("These heads stand in blocks {:.0f} to {:.0f}.", min(found[:, 0]), max(found[:, 0]))
    page.says(
        "darkest in block {:.0f}, head {:.0f}.", found[0, 0], found[0, 1], holds=found[0, 2] > 40 * max(equal, middle)
    )
    right, wrong = page.numbers("by-distance", r"39 back ([\d.]+), 63 back ([\d.]+)")
    page.says("It does not count.", holds=right > 0.8 > 0.1 > wrong)
    page.says(
        "The strongest induction head, block 18, head 6, puts {:.2f} of its weight on the token that comes next.",
        found[0, 2],
        holds=[found[0, 0] == 18, found[0, 1] == 6],
    )


def one_back(page: Page) -> None:
    found = np.array(page.numbers("dogs", HEAD + r"([\d.]+) one token back")).reshape(-1, 3)
    page.says("which was no colour head: a previous-token head .", holds=list(found[0, :2]) == [16, 0])
    looks = np.reshape(page.numbers("key-path", r"\(\d+, \d+\) ([\d.]+)"), (4, 4))  # (patches, finders)
    whole, keys, queries, neighbour = looks
    page.says("Block 18, head 6 puts {:.2f} of its weight 63 back.", whole[0])
    page.says(
        "(c) {:.2f}. Without the same in its queries it keeps {:.2f}, and without head 1 in its keys {:.2f}.",
        keys[0], queries[0], neighbour[0],
    )  # fmt: skip
    page.says(
        "without its part they hardly look there.",
        holds=[keys.max() < 0.02, whole.min() > 0.6, (neighbour > 0.9 * whole).all()],
    )
    page.says("So the four strongest finders recognise B by what block 16, head 0 has put into its keys.",
              holds=(queries > 10 * keys).all())  # fmt: skip
    page.given(
        "what its neighbour, head 1, adds", "not what blocks 16 and 17 make of it on the way", because="names of blocks"
    )


def switched_off(page: Page) -> None:
    table = {
        name: page.numbers("switched-off", rf"off: {name} +second copy +([\d.]+) nats \(([\d.]+), ([\d.]+)\)")
        for name in ("nothing", "block 18, head 6", "the four strongest", "block 16, head 0", "block 0, head 2")
    }
    whole, finder, four, back, odd = table.values()
    page.says(
        "It costs {:.1f} nats. The strongest induction head alone costs less: without block 18, head 6 it is {:.1f}. "
        "Without the four strongest it is {:.1f}.",
        back[0], finder[0], four[0],
        holds=whole[0] < finder[0] < back[0] < four[0],
    )  # fmt: skip
    for row, found in (
        ("block 18, head 6, which finds", finder),
        ("block 16, head 0, which looks one token back", back),
    ):
        page.says(f"| without one head: {row} | {{:.1f}} |", found[0])
    page.says("| without the four strongest induction heads | {:.1f} |", four[0])
    mean = page.numbers("switched-off", r"with the mean +([\d.]+)")
    page.says(
        "It looks neither one nor 63 back ({:.2f} each), and yet with zeros in its place the second row goes wrong, "
        "{:.1f} nats, while the first costs {:.1f}. With its mean in its place the copy costs {:.1f}",
        page.numbers("switched-off", r"one back with ([\d.]+)")[0], odd[2], odd[1], mean[4],
        holds=len(set(page.numbers("switched-off", r"back with ([\d.]+)"))) == 1,
    )  # fmt: skip
    page.says(
        "The other three sets cost about the same with their means: {:.1f}, {:.1f} and {:.1f}.", *mean[1:4],
        holds=max(abs(np.array(mean[1:4]) - [finder[0], four[0], back[0]])) < 1,
    )  # fmt: skip
    seen = page.numbers("switched-off", r"off: block 16, head 0 .*block 17, head 3 ([\d.]+), block 18, head 6 ([\d.]+)")
    before = page.numbers("switched-off", r"off: nothing .*block 17, head 3 ([\d.]+), block 18, head 6 ([\d.]+)")
    page.says(
        "The heads of blocks 17 and 18 are on. Yet one of these two looks 63 back with almost nothing, {:.2f}, and the "
        "other with a fifth of its weight, {:.2f}.", *seen,
        holds=[seen[0] < 0.1 * before[0], 0.15 < seen[1] < 0.25],
    )  # fmt: skip
    one, sets = ([float(number) for number in line.split()] for line in _lines(page, "by-lot", r"sorted ([\d. ]+?)  "))
    page.says(
        "Single heads at random leave the second copy between {:.1f} and {:.1f}, sets of four between {:.1f} "
        "and {:.1f}.",
        min(one), max(one), min(sets), max(sets),
        holds=[len(one) == 10, len(sets) == 10],
    )  # fmt: skip
    named = np.array(page.numbers("by-lot", r"off: \S.*second copy ([\d.]+)   English ([\d.]+)")).reshape(-1, 2)
    page.says(
        "Without block 16, head 0 it costs {:.1f}, more than with any of these draws; but only ten single heads of 270 "
        "were drawn. English costs {:.2f} in place of {:.2f} without it",
        named[1, 0], named[1, 1], named[0, 1],
        holds=named[1, 0] > 1.5 * max(*one, *sets),
    )  # fmt: skip
    others = page.numbers("other-heads", r"off: \S.*second copy +([\d.]+) nats +English ([\d.]+)")
    others = np.array(others).reshape(-1, 2)
    page.says(
        "Block 11, head 1 looks one back, too, and stands below the finders: without it the copy costs {:.1f}. (Block "
        "22, head 1 and block 19, head 3 stand above the strongest finders, those of blocks 17 and 18, and could not "
        "feed these: {:.1f} and {:.1f}.)",
        *others[:3, 0],
        holds=[len(others) == 4, max(others[:3, 0]) < 0.5 * named[1, 0]],
    )
    page.says(
        "Without the four strongest induction heads English costs {:.2f}, as with all heads.", others[3, 1],
        holds=others[3, 1] == named[0, 1],
    )  # fmt: skip
    above = page.number("other-heads", r"(\d+) heads look 63 back with more than 0.2")
    page.says("Thirteen of 270 heads put more than 0.2 of their weight on", holds=above == 13)
    page.says(
        "Block 16, head 0 lies alone far to the right and hardly higher; block 18, head 6 lies between.",
        holds=[named[1, 1] - named[0, 1] < 0.1, named[0, 0] < named[2, 0] < named[1, 0]],
    )


def _lines(page: Page, cell: str, pattern: str) -> list[str]:
    import re

    return re.findall(pattern, page.output(cell))


def spared(page: Page) -> None:
    runs = page.recorded("two_questions")["results"]["four heads"]
    lossless = [any(max(left) < 0.005 for left in run["without"]["zero"]) for run in runs]
    page.says(
        "In four of lecture 3's five models with four heads, at least one head can go without any loss",
        holds=sum(lossless) == 4,
    )


def writing(page: Page) -> None:
    found = np.array(
        page.numbers(
            "ranks", HEAD + r"looks 63 back ([\d.]+), at itself ([\d.]+); writes the next token at rank +([\d,]+)"
        )
    ).reshape(-1, 5)
    by_head = {(int(row[0]), int(row[1])): row[2:] for row in found}
    page.says(
        "Hardly, as this lens reads it: the right token has rank {:,.0f} in the median. Block 23, head 2, which looks "
        "with {:.1f}, writes it: rank {:.0f}. It is the only head of 270 with a rank below 10 that also looks back.",
        by_head[18, 6][2], by_head[23, 2][0], by_head[23, 2][2],
        holds=_lines(page, "ranks", r"(\(\d+, \d+\)) looks 0\.[1-9]") == ["(23, 2)"],
    )  # fmt: skip
    whole, without = page.numbers("relay", r"looks 63 back with ([\d.]+)")
    page.says("It looks 63 back itself, with {:.2f}, and without the four heads before it with {:.2f}.", whole, without)
    cost, least, most = page.numbers(
        "covered", r"second copy ([\d.]+) nats; single heads at random ([\d.]+) to ([\d.]+)"
    )
    page.says(
        "but without it the second copy costs {:.1f} nats, within the range of single heads at random.", cost,
        holds=least < cost < most,
    )  # fmt: skip


def mistakes(page: Page) -> None:
    weight, loss = page.numbers("off-by-one", r"head \d+: ([\d.]+); second copy without it ([\d.]+)")
    whole = page.number("switched-off", r"off: nothing +second copy +([\d.]+)")
    strongest = page.numbers("copying", HEAD + r"([\d.]+)")[2]
    page.says("with a line nearly as dark as that of section 2, {:.2f} against {:.2f}.", weight, strongest)
    page.says("without it the model copies as before", holds=abs(loss - whole) < 0.5)
    first, worst, none = page.numbers("one-set", r"draw ([\d.]+), the worst of ten ([\d.]+), the whole model ([\d.]+)")
    page.says(
        "Here the first draw changes hardly anything and the worst costs {:.1f} nats; look at all ten:", worst - none,
        holds=abs(first - none) < 0.3,
    )  # fmt: skip


def given(page: Page) -> None:
    page.given(
        "There is no grammar in them",
        "A uniform guess over the 64 tokens of the first copy would cost ln 64 = 4.2 nats",
        "(a) 10.8 nats in both: noise is noise - (b) more than 10.8 in the first, about 10 in the second - (c) more "
        "than 10.8 in the first, about 2 in the second",
        "(a) about 2:",
        "269 heads are left - (b) about 4 - (c) about 9",
        "Without one head in block 16",
        "Block 16, head 0",
        "which of its 270 heads do that?",
        "a model of 30 blocks",
        "there are 30.",
        "Time: about 54 minutes",
        "counted from 0.",
        'SmolLM2 (93 MB: `data.published("smollm2")` in a cell fetches it once; 0.6 GB of memory)',
        "It has 134.5 million numbers: a table of tokens and 30 blocks of nine heads",
        "The model reads 64 random tokens, then the same 64 again.",
        "Nobody taught it these 64 tokens.",
        "for two rows of 64 random tokens, said twice",
        "it jumps around 14 nats, above the dashed line of an even guess at 10.8",
        "it falls within a few tokens and stays between 0 and 7",
        "In our rows that token stands 63 back.",
        "how much weight it puts 63 tokens back",
        "A head could also count 63 tokens back.",
        "Say 40 tokens twice, and it should look 39 back instead:",
        "Thirteen of 270 heads put more than 0.2 of their weight on what followed the earlier copy, all in blocks 17 "
        "to 24.",
        "a map of 30 blocks by nine heads of the mean weight 63 tokens back; it is white but for some cells from block "
        "17 on",
        "the weights of this head, 127 by 127 tokens",
        "look at token 0",
        "it rests on token 0",
        "63 tokens to its left.",
        "block 16, head 0",
        "Block 0, head 2",
        "Each of 49,152 tokens gets a number.",
        "blocks 17 and 18",
        "Block 23, head 2",
        "block 23, head 2",
        "block 18, head 6",
        "64 back stands the earlier copy",
        "You say 20 random tokens three times.",
        "19 or 39 back, or at both",
        "A head puts 0.9 on the token before, in forty sentences.",
        "64, the width of a head: both are products of a (576, 64) and a (64, 576) matrix.",
        "those of a file with 4 bits each; the original has 16",
        because="the design of the page, a size, a name, or read off the stored figure",
    )

"""What lecture 10 says of its numbers, and which outputs the numbers come from."""

import re

import numpy as np
from claims.page import Page

_SHAPES = {  # width and blocks by parameters
    4_877_568: (256, 6),
    1_878_720: (192, 4),
    857_216: (128, 4),
    181_440: (64, 3),
    41_248: (32, 2),
    11_328: (16, 1),
}
TABLE, COPY, BLOCKS, LORA = "c10-25", "c10-35", "c10-38", "c10-47"


def claims(page: Page) -> None:
    pieces(page)
    trained(page)
    written(page)
    copying(page)
    fitted(page)
    mistakes(page)
    recorded(page)
    page.given("and tokens should grow together, at about 20 tokens a parameter", because="cited: Hoffmann et al. 2022")
    page.given("7 to 65 billion parameters, 1 to 1.4 trillion tokens", because="cited: Touvron et al. 2023, table 2")
    page.given(
        "about 65 minutes to read and predict (estimated, not measured)",
        "the code runs in about three minutes on two CPU cores that have nothing else to do",
        "The 256 bytes are such a list and can write everything",
        "Model A uses this vocabulary and has a loss of 2 nats a token. "
        "Model B reads single bytes and has a loss of 1.2 nats a byte.",
        "and B pays 1.2.",
        "Each step takes eight random windows of 257 tokens",
        "The first 256 tokens are the inputs, the last 256 the targets:",
        "The learning rate rises to 0.003 in the first 100 steps",
        "inputs and most logits have a standard deviation near 1",
        "starts at random and $B$ at 0, so training starts from the frozen model",
        "(1 nat = 1.44 bits)",
        "new tokens count from 256",
        "The number of `l` is 108 and that of `se` is 256",
        '"counted, 4 tokens" in the table',
        "The first test: 64 random tokens, then the same 64 again.",
        because="defined, estimated or an example",
    )


def pieces(page: Page) -> None:
    page.says(
        "A token of this vocabulary stands for about two bytes.",
        holds=[1.9 < page.number("c10-15", r"([\d.]+) bytes a token") < 2.4],
    )


def trained(page: Page) -> None:
    bits = [page.number(TABLE, rf"{name} +([\d.]+) bits") for name in ("counted, 4 tokens", "Transformer")]
    equal = page.number(TABLE, r"equal text +([\d.]+) bits")
    page.says(
        "Part of the lead is text",
        holds=[1 < bits[0] < equal < bits[1], equal - bits[0] > 0.3 * (bits[1] - bits[0])],
    )
    steps = re.search(r"STEPS = .*?, (\d+) ", page.cells["c10-24"].source)
    assert int(steps[1]) == page.recorded("library_language_model")["results"]["table"]["steps"]
    fresh, guessing = page.numbers("c10-loss", r"([\d.]+) nats a token; guessing costs ln 512 = ([\d.]+)")
    repeats = np.reshape(
        page.evidence("10").numbers("e10-untrained", r"seed \d: ([\d.]+) nats .* at (\d+)% of"), (2, 3, 2)
    )  # (one table and two, seeds, loss and share)
    page.says(
        "An untrained model costs more than guessing, mostly through the shared table: it predicts the token that it "
        "has just read. On random tokens it costs {:.1f} nats, with a second table for the predictions {:.1f}",
        *repeats[:, :, 0].mean(axis=1),
        holds=[
            fresh > guessing + 1,
            page.number("c10-loss", r"just read: (\d+)%") > 95,
            repeats[0, :, 1].min() > 95,
            repeats[1, :, 1].max() < 5,
            repeats[0, :, 0].min() > guessing + 1 > repeats[1, :, 0].min() > guessing,
        ],
    )
    page.given("repeats 640 times", because="the page's STEPS")
    read, text = page.number("c10-24", r"; ([\d,]+) of"), page.number("c10-24", r"of ([\d,]+) tokens")
    page.says(
        "the counts come from the whole text, and the network has read half as many tokens.",
        holds=[0.45 < read / text < 0.55],
    )
    parameters = page.number("c10-24", r"([\d,]+) parameters")
    page.says(
        "Ours has read {:.1f}: too few.",
        read / parameters,
        holds=read / parameters < 20,
    )


def written(page: Page) -> None:
    everyone = page.number("c10-32", r"ended: \d+ of (\d+)")
    fine = page.number("c10-32", r"parse: (\d+) of")
    short = [int(length) for length in re.search(r"that parse: +\[([\d, ]+)\]", page.output("c10-32"))[1].split(",")]
    page.says(
        "The answer to the opening question: sometimes, and what parses is mostly short.",
        holds=[0 < len(short) == fine < everyone, sum(length <= 2 for length in short) > fine / 2],
    )
    page.says("`pass` parses after every prompt", holds=[page.number("c10-32", r"`pass`: +(\d+)") == everyone])


def copying(page: Page) -> None:
    first, second = (page.number(COPY, rf"([\d.]+) the {which} time") for which in ("first", "second"))
    page.says("both times cost about the same, more than guessing", holds=[abs(first - second) < 0.5, 6.3 < first < 30])
    one, two = (page.number(BLOCKS, rf"{blocks}: ([\d.]+) nats") for blocks in ("1 block", "2 blocks"))
    page.says("Here one block does not learn to copy by content, and two blocks do.", holds=[one > 2, two < 0.6])
    kinds = {
        name: page.evidence("10").numbers("e10-04", rf"(?m)^{name} +\d +[\d,]+ +([\d.]+)")
        for name in ("1 block", "2 blocks", "1 block, 8 heads", "1 block, 1,350 steps")
    }
    page.says(
        "In each of three seeds only the model with two blocks reaches a small loss. One block with eight heads, or "
        "with three times the steps, does not",
        holds=[
            [len(losses) for losses in kinds.values()] == [3] * 4,
            min(min(losses) for name, losses in kinds.items() if name != "2 blocks") > 3 * max(kinds["2 blocks"]),
        ],
    )
    knowing = page.evidence("10").number("e10-04", r"not their order: ([\d.]+)")
    page.says(
        "while the curve of one block stays above the level of knowing which tokens repeat",
        holds=[one > knowing > two, min(kinds["1 block"]) > knowing],
    )
    before, after = (page.numbers(BLOCKS, rf"{what} ([\d.]+)") for what in ("token before", "last time"))
    page.says(
        "One head looks at the token before;",
        holds=[before[1] > 0.4, before[1] > 5 * before[2], after[1] < 0.1],
    )
    page.says(
        "the map of block 1 has its weight just below the diagonal, the map of block 2 has, below the line where the "
        "repetition begins, a line that runs parallel to the diagonal further to the left",
        holds=[before[1] > 0.4, after[2] > 0.4],
    )
    page.says(
        "The head of block 2 puts more than half of its weight on what followed the same token last time",
        holds=[after[2] > 0.5],
    )


def fitted(page: Page) -> None:
    none, low = (page.number(LORA, rf"{way} +([\d.]+) bits") for way in ("not fitted", "rank 4"))
    few, all_ = page.numbers(LORA, r"([\d,]+) parameters trained, of ([\d,]+)")
    assert low < none < 5
    page.says("LoRA trains {:.0f} % of the parameters", 100 * few / all_)


def mistakes(page: Page) -> None:
    colon, newline = (page.number("c10-51", rf"behind the {name} +(\d+) of") for name in ("colon", "newline"))
    ends = page.number("c10-51", r"before the end in (\d+)%")
    page.says("In the training text, half of the newlines without indentation end a function.", holds=45 < ends < 55)
    page.says("So the model often ends before it has written anything", holds=[colon <= 1, newline >= 8])
    page.says(
        "The loss falls to nearly nothing, and the model only repeats what it reads.",
        holds=[page.number("c10-53", r"loss ([\d.]+)") < 0.2],
    )


def recorded(page: Page) -> None:
    """The runs of three seeds, in `coursekit/recorded` and in the evidence."""
    results = page.recorded("library_language_model")["results"]
    table_of_models(page, results)
    counting = page.recorded("library_counting")["results"]
    equal_text(page, results, counting)
    neighbours(page, results, counting)
    longer_runs(page, results, counting["names"])
    which_head(page, results)
    scaling = page.recorded("library_scaling")["results"]["runs"]
    scaling_law(page, scaling)
    equal_operations(page, scaling)
    low_rank(page, results)
    settings = {"at 1": (1.0, 1.0), "at 0.7": (0.7, 0.9)}
    runs = {
        name: [
            run
            for run in results["written"]["runs"]
            if (run["model"], run["temperature"], run["top-p"]) == ("the page's model", *setting)
        ]
        for name, setting in settings.items()
    }
    parse = {name: [run["parse"] for run in found] for name, found in runs.items()}
    page.says(
        "Of the {0} bodies of a seed, {1} to {2} parse at temperature 1, "
        "and {3} to {4} at temperature 0.7 with $p = 0.9$.",
        results["written"]["prompts"],
        *(side(parse[name]) for name in settings for side in (min, max)),
        holds=[len(found) == 3 for found in runs.values()],
    )
    page.says(
        "these bodies use at most {:.0f} % of their parameters, real ones {:.0f} %",
        100 * max(run["used"] for run in runs["at 0.7"]),
        100 * results["written"]["real"]["used"],
    )
    by_lines = [
        [
            sum(low <= lines <= high for run in runs["at 0.7"] for lines in run[f"lines of {kind}"])
            for kind in ("parsed", "ended")
        ]
        for low, high in ((1, 1), (2, 3), (4, 6), (7, 1000))
    ]
    rates = [fine / all_ for fine, all_ in by_lines]
    page.says("The longer a body is, the more seldom Python accepts it.", holds=rates == sorted(rates, reverse=True))
    page.says(
        "Of one line nearly nine in ten parse, of two to six lines about half, of seven or more one in six.",
        holds=[0.85 < rates[0] < 0.9, 0.45 < rates[2] < rates[1] < 0.55, abs(rates[3] - 1 / 6) < 0.01],
    )
    counts = [f"{fine} of {all_}" for fine, all_ in by_lines]
    shares = "{} with one line parse, {} with two or three, {} with four to six and {} with seven or more"
    assert shares.format(*counts) in page.evidence("10").prose


def table_of_models(page: Page, results: dict) -> None:
    bits = {
        model: np.array([run["held-out bits a byte"] for run in results["table"]["runs"] if run["model"] == model])
        for model in ("the page's model", "LSTM", "the page's model on bytes", "LSTM at equal time")
    }
    pieces, lstm, in_bytes, equal_time = bits.values()
    assert max(pieces) < min(in_bytes) and "Bytes in place of pieces cost more" in page.evidence("10").prose
    low, high = page.evidence("10").numbers("e10-r02", r"95 % interval (-?[\d.]+) to ([\d.]+)")
    page.says(
        "After {} steps an LSTM of the same size is {:.2f} to {:.2f} bits behind the network, perhaps by chance; "
        "after equal processor time, more than {:.1f}",
        results["table"]["steps"],
        *(side(lstm - pieces) for side in (min, max)),
        np.floor(10 * min(equal_time - pieces)) / 10,
        holds=[
            low < 0 < high,
            abs(page.evidence("10").number("e10-r02", r"seconds are (\d+) steps") - 290) < 5,
        ],
    )


def _longer(page: Page) -> list[dict]:
    return page.recorded("library_language_model")["results"]["longer"]["runs"]


def equal_text(page: Page, results: dict, counting: dict) -> None:
    """Counting and the network by the tokens that each has seen, means over draws and seeds."""
    counts: dict[int, list[float]] = {}
    for draw in counting["less text"]:
        counts.setdefault(draw["tokens"], []).append(draw["all held-out text"][-1])
    network: dict[int, list[float]] = {}
    for run in results["table"]["runs"] + results["scale"]["runs"] + results["longer"]["runs"]:
        if run.get("model", run.get("size", "the page's model")) == "the page's model":
            network.setdefault(run.get("steps", 640) * 8 * 256, []).append(run["held-out bits a byte"])
    ahead = {tokens: np.mean(network[tokens]) - np.mean(found) for tokens, found in counts.items()}
    some, more = 163_840, 1_310_720
    whole = counting["all text"]["all held-out text"][-1]
    page.says(
        "On equal text counting is {:.1f} bits ahead at {:.2f} million tokens, and {:.2f} at {:.1f} million. "
        "With 4 million the network has {:.2f}, counting with the whole text {:.2f}",
        ahead[some],
        some / 1e6,
        ahead[more],
        more / 1e6,
        np.mean(network[1960 * 8 * 256]),
        whole,
        holds=[len(counts) == 4, *(len(found) == 3 for found in (*counts.values(), *network.values()))],
    )
    page.says(
        "On equal text counting leads up to about a million tokens, then the network.",
        holds=[min(ahead.values()) > 0, max(network[1960 * 8 * 256]) < whole],
    )
    page.says("the counted one ends at {:.1f} million with the text", counting["all text"]["tokens"] / 1e6)
    page.says("the curves meet at {:.1f} million tokens", more / 1e6, holds=ahead[more] < 0.03)
    page.says("the network falls on to {:.0f} million", max(network) / 1e6)


def neighbours(page: Page, results: dict, counting: dict) -> None:
    """What the other half of a module is worth, and how much of what is written is new."""
    runs = counting["neighbours"]
    bits = [np.mean([run[name]["bits a byte"] for run in runs]) for name in ("with neighbours", "without")]
    page.says(
        "With the other half of their module in the training text, functions cost a counted model {:.2f} bits a byte, "
        "without it {:.2f}",
        *bits,
        holds=[
            len(runs) == 3,
            *(run["without"]["bits a byte"] - run["with neighbours"]["bits a byte"] > 0.2 for run in runs),
        ],
    )
    new = [
        run["new strings of 8"]
        for run in results["written"]["runs"]
        if (run["model"], run["temperature"]) == ("the page's model", 0.7)
    ]
    page.says(
        "Of the strings of 8 tokens that the model writes, {:.0f} to {:.0f} % are not in the training text; of "
        "those in held-out functions, {:.0f} %.",
        100 * min(new),
        100 * max(new),
        100 * np.mean([run["without"]["new strings of 8"] for run in runs]),
        holds=len(new) == 3,
    )


def longer_runs(page: Page, results: dict, worth: dict) -> None:
    """A new made-up name gets dearer and a known one does not; rows of random tokens are not copied."""
    longest = [run["checkpoints"] for run in _longer(page) if run["steps"] == 7840]
    last = [points[-1]["nats of a made-up name"] for points in longest]
    early = [
        {point["step"]: point["nats of a made-up name"] for point in run["checkpoints"]}[640] for run in _longer(page)
    ]
    new, known = ([name[kind] for name in last] for kind in ("third, new", "third"))
    before = np.mean(
        [
            name["third"]
            for name in early
            if name in [point["nats of a made-up name"] for run in longest for point in run]
        ]
    )
    page.says(
        "Where our model stops, after 1.3 million tokens, both cost nearly the same. After {:.0f} million the new name "
        "costs {:.0f} nats, more than guessing ({:.0f}); the known one costs {:.0f}, as before.",
        longest[0][-1]["tokens"] / 1e6,
        np.mean(new),
        worth["nats, equal tokens"],
        np.mean(known),
        holds=[
            len(longest) == 3,
            min(new) > worth["nats, equal tokens"] > max(known),
            *(abs(name["third, new"] - name["third"]) < 0.6 for name in early),
            round(before) == round(np.mean(known)),
        ],
    )
    page.says(
        "who knows only how such names are made pays {:.1f}.",
        worth["nats, equal names"],
        holds=min(known) > worth["nats, equal names"] + 5,
    )
    page.says(
        "median and range of three recorded trainings of 16 million tokens",
        holds=all(abs(points[-1]["tokens"] - 16e6) < 1e5 for points in longest),
    )
    rows = [points[-1]["nats a token of random rows"] for points in longest]
    page.says(
        "Rows of random tokens are not copied either",
        holds=[y > x for x, y in rows],
    )


def which_head(page: Page, results: dict) -> None:
    """The head that matters most on the even functions, judged on the odd ones, and what it looks at."""
    runs, found = results["heads"]["runs"], []
    for run in runs:
        whole = np.array(run["nats of a third name, new and known"])  # (halves, 2)
        off = np.array(run["with a head off"])  # (blocks, H, halves, 2)
        lost = (whole[:, 0] - whole[:, 1] - off[..., 0] + off[..., 1]).reshape(-1, 2)
        best, looks = lost[:, 0].argmax(), np.ravel(run["weight on what followed, odd functions"])
        others = np.delete(lost[:, 1], best)
        most = np.delete(np.arange(len(lost)), best)[others.argmax()] // off.shape[1] + 1
        found.append((whole[1, 0] - whole[1, 1], lost[best, 1], others, most, looks[best], 1 + best // off.shape[1]))
    saved, lost, others, second, weights, blocks = zip(*found, strict=True)
    page.says("We switch off each of the {:.0f} heads in turn", off.shape[0] * off.shape[1])
    page.says(
        "Without the chosen head the difference between new and known shrinks by {:.0f}, {:.0f} and {:.0f} % "
        "(three seeds), without one of block 2 by {:.0f} to {:.0f} %, "
        "without another by {:.0f} to {:.0f} % on average.",
        *(100 * np.divide(lost, saved)),
        *(100 * side(np.divide([each.max() for each in others], saved)) for side in (min, max)),
        *(100 * side(np.divide([each.mean() for each in others], saved)) for side in (min, max)),
        holds=[len(runs) == 3, *(run["steps"] == 7840 for run in runs), set(second) == {2}],
    )
    assert "It stands in block {} or {}.".format(*sorted(set(blocks))) in page.evidence("10").prose
    page.says(
        "The chosen head puts {:.0f} to {:.0f} % of its weight on what followed this token before; "
        "equal weights would put {:.0f} %",
        *(100 * side(weights) for side in (min, max)),
        100 * runs[0]["base rate"],
    )


def scaling_law(page: Page, runs: list[dict]) -> None:
    """Hoffmann's form, fitted to all trainings at their best rate."""
    pattern = r", all, seed \d: E ([\d.]+), alpha ([\d.]+), beta ([\d.]+), largest residual ([\d.]+)"
    fits = np.reshape(page.evidence("10").numbers("e10-r16", pattern), (-1, 4))
    page.says(
        r"Our {:.0f} trainings, with three seeds each, give $\alpha$ from {:.2f} to {:.2f} and "
        r"$\beta$ from {:.2f} to {:.2f};",
        len(runs),
        *(side(fits[:, column]) for column in (1, 2) for side in (min, max)),
        holds=[len(fits) == 3],
    )
    page.says(
        "The 10 is rough: the fitted form expects {:.0f} to {:.0f},",
        *(side(64 ** (fits[:, 2] / (fits[:, 1] + fits[:, 2]))) for side in (min, max)),
    )
    page.given("Hoffmann et al. have 0.34 and 0.28", because="cited: Hoffmann et al. 2022, section D.3")


def equal_operations(page: Page, runs: list[dict]) -> None:
    """The best size for as many operations, at the best of three rates, by the mean of three seeds."""
    best, plain = [], []  # at the best rate of each size, and at 0.003
    for steps in (320, 1280, 5120, 20480):
        ours = next(run for run in runs if (run["parameters"], run["steps"]) == (857_216, steps))
        near = sorted(
            (run for run in runs if abs(run["operations"] / ours["operations"] - 1) < 0.01),
            key=lambda run: run["parameters"],
        )
        means = [_at_the_best_rate(run) for run in near]
        place = int(np.argmin(means))
        assert 0 < place < len(near) - 1, "the best size has smaller and larger ones beside it"
        best.append(near[place])
        plain.append(near[int(np.argmin([_at_the_best_rate(run, (0.003,)) for run in near]))])
    first, last = best[0], best[-1]
    page.says(
        "From the first line to the last the operations grow {:.0f} times, the parameters of the best size tried "
        "{:.0f} times and its tokens {:.0f} times",
        *(last[what] / first[what] for what in ("operations", "parameters", "tokens")),
    )
    page.says(
        "with one learning rate, not the best of three for each size, it is {:.0f}",
        plain[-1]["parameters"] / plain[0]["parameters"],
    )
    page.says(
        r"Attention's scores add $12 \cdot \text{blocks} \cdot \text{width} \cdot \text{window}$ for each token.",
        holds=all(
            run["operations"] == (6 * run["parameters"] + 12 * blocks * width * 256) * run["tokens"]
            for run in runs
            for width, blocks in [_SHAPES[run["parameters"]]]
        ),
    )
    page.says(
        "from {:.1f} to {:.1f} trillion operations the lowest point moves from {:,} to {:,} parameters",
        *(run["operations"] / 1e12 for run in (first, last)),
        *(run["parameters"] for run in (first, last)),
    )


def _at_the_best_rate(run: dict, rates: tuple[float, ...] = (0.0015, 0.003, 0.006)) -> float:
    bits: dict[float, list[float]] = {}
    for lane in run["lanes"]:
        bits.setdefault(lane["rate"], []).append(lane["held-out bits a byte"])
    return min(np.mean(bits[rate]) for rate in rates)


def low_rank(page: Page, results: dict) -> None:
    runs = results["lora"]["runs"]
    low, full = ([way for way in runs[0] if way.startswith(name)] for name in ("low rank", "full"))
    means = {
        way: [
            np.mean([run[way][part] - run["none, 0"]["all modules"] * (part != "bits") for run in runs])
            for part in ("bits", "all modules")
        ]
        for way in (*low, *full)
    }
    page.says(
        "In recorded runs (two rates, three seeds) training all parameters fits `tarfile` better, "
        "{:.2f} and {:.2f} bits against {:.2f} and {:.2f}.",
        *(means[way][0] for way in (*full, *low)),
        holds=[
            len(runs) == 3,
            len(low) == len(full) == 2,
            *(max(run[way]["bits"] for way in full) < min(run[way]["bits"] for way in low) for run in runs),
        ],
    )
    page.says(
        "the other modules cost {:.2f} and {:.2f} bits more, after LoRA {:.2f} and {:.2f}",
        *(means[way][1] for way in (*full, *low)),
    )

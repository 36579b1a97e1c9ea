"""What lecture 10 says of its numbers, and which outputs the numbers come from."""

import re

import numpy as np
from claims.page import Page
from claims.scaling import equal_operations, scaling_law

LINES = ((1, 1), (2, 3), (4, 6), (7, 1000))
TABLE, COPY, BLOCKS, LORA = "c10-25", "c10-35", "c10-38", "c10-47"


def claims(page: Page) -> None:
    pieces(page)
    trained(page)
    written(page)
    copying(page)
    fitted(page)
    mistakes(page)
    recorded(page)
    page.given("Hoffmann et al. (2022): about 20 tokens a parameter", because="cited: Hoffmann et al. 2022")
    page.given("7 to 65 billion parameters, 1 to 1.4 trillion tokens", because="cited: Touvron et al. 2023, table 2")
    page.given(
        "about 65 minutes to read and predict (estimated, not measured)",
        "the code runs in about three minutes on two CPU cores that have nothing else to do",
        "The 256 bytes are such a list and can write everything",
        "One model uses this vocabulary and has a loss of 2 nats a token. "
        "Another reads single bytes and has a loss of 1.2 nats a byte.",
        "and the second 1.2.",
        "Each step takes eight random windows of 257 tokens",
        "The first 256 tokens are the inputs, the last 256 the targets:",
        "The learning rate rises to 0.003 in the first 100 steps",
        "inputs and logits have a standard deviation near 1",
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
    read, text = page.number("c10-24", r"; ([\d,]+) of"), page.number("c10-24", r"of ([\d,]+) tokens")
    page.says(
        "partly because it has counted twice as many tokens as the Transformer has read.",
        holds=[1 < bits[0] < equal < bits[1], equal - bits[0] > 0.3 * (bits[1] - bits[0]), 0.45 < read / text < 0.55],
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
    parameters = page.number("c10-24", r"([\d,]+) parameters")
    page.says(
        "our model {:.1f}. With 20 it would read the text {:.1f} times",
        read / parameters,
        20 * parameters / text,
        holds=20 * parameters / text > 4,
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
        "The loss falls to nearly nothing. (The 100 % prove nothing: the untrained model of section 5 has them, too.)",
        holds=[
            page.number("c10-53", r"loss ([\d.]+)") < 0.2,
            page.number("c10-53", r"just read: (\d+)%") == page.number("c10-loss", r"just read: (\d+)%") == 100,
        ],
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
        "Of the {0} bodies of a seed, {1} to {2} end and parse at temperature 1, "
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
        for low, high in LINES
    ]
    rates = [fine / all_ for fine, all_ in by_lines]
    by_seed = [
        [
            sum(low <= lines <= high for lines in run["lines of parsed"])
            / sum(low <= lines <= high for lines in run["lines of ended"])
            for low, high in LINES
        ]
        for run in runs["at 0.7"]
    ]
    page.says(
        "Bodies of one line parse most often, and those of seven or more lines most seldom.",
        holds=[np.argmax(each) == 0 and np.argmin(each) == 3 for each in by_seed],
    )
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
    pieces, lstm, in_bytes, _ = bits.values()
    assert max(pieces) < min(in_bytes) and "Bytes in place of pieces cost more" in page.evidence("10").prose
    low, high = page.evidence("10").numbers("e10-r02", r"95 % interval (-?[\d.]+) to ([\d.]+)")
    page.says(
        "After {} steps at the same rate an LSTM of the same size is {:.2f} to {:.2f} bits worse, perhaps by chance",
        results["table"]["steps"],
        *(side(lstm - pieces) for side in (min, max)),
        holds=[low < 0 < high],
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
        "With as many tokens counting is {:.1f} bits ahead at {:.2f} million, and {:.2f} at {:.1f} million.",
        ahead[some],
        some / 1e6,
        ahead[more],
        more / 1e6,
        holds=[len(counts) == 4, *(len(found) == 3 for found in (*counts.values(), *network.values()))],
    )
    longer = network[1960 * 8 * 256]
    leads = [max(found) < min(network[tokens]) for tokens, found in counts.items()]
    read = 1960 * 8 * 256 / 1e6
    page.says(
        "With {:.0f} million read it has {:.2f}, counting with the whole text {:.2f}", read, np.mean(longer), whole
    )
    for sentence in (
        "leads up to at least {:.1f} million tokens; with {:.0f} million read the Transformer leads.",
        "leads up to at least {:.1f} million tokens; with {:.0f} million read the network is ahead even of counting "
        "the whole text.",
    ):
        page.says(sentence, max(counts) / 1e6, read, holds=[*leads, max(longer) < whole])
    page.says("the counted one ends at {:.1f} million with the text", counting["all text"]["tokens"] / 1e6)
    page.says("at {:.1f} million tokens counting is still a little lower", more / 1e6, holds=0 < ahead[more] < 0.03)
    page.says("the network falls on to {:.0f} million", max(network) / 1e6)
    starts = np.random.default_rng(1).integers(int(counting["all text"]["tokens"]) - 256, size=(640, 8))
    seen = np.unique(starts[..., None] + np.arange(257)).size
    page.says("the Transformer's windows overlap, so it has seen less text.", holds=seen < 0.9 * more)


def neighbours(page: Page, results: dict, counting: dict) -> None:
    """What the other half of a module is worth, and how much of what is written is new."""
    runs = counting["neighbours"]
    bits = [np.mean([run[name]["bits a byte"] for run in runs]) for name in ("with neighbours", "without")]
    page.says(
        "A counted model pays {:.2f} bits a byte for functions if it has counted the other half of their module, "
        "{:.2f} if not",
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
    real = [run["without"]["new strings of 8"] for run in runs]
    page.says(
        "{:.0f} to {:.0f} % of the 8-token strings it writes are new to the training text; "
        "of held-out functions' {:.0f} to {:.0f} %",
        *(100 * side(shares) for shares in (new, real) for side in (min, max)),
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
    here = [name for name in early if name in [point["nats of a made-up name"] for run in longest for point in run]]
    middle = [
        next(point["nats of a made-up name"] for point in run if point["step"] == 1960)["third"] for run in longest
    ]
    page.says(
        "Where our model stops, after 1.3 million tokens, both cost {:.0f} to {:.0f} nats. "
        "At 4 million the known name costs {:.0f}. "
        "With {:.0f} million it costs {:.0f}, and {:.0f} where it is new, more than guessing ({:.0f}).",
        min(name["third"] for name in here),
        max(name["third, new"] for name in here),
        np.mean(middle),
        longest[0][-1]["tokens"] / 1e6,
        np.mean(known),
        np.mean(new),
        worth["nats, equal tokens"],
        holds=[
            len(longest) == len(here) == 3,
            min(new) > worth["nats, equal tokens"] > max(known),
            *(abs(name["third, new"] - name["third"]) < 0.6 for name in early),
        ],
    )
    page.says(
        "After four million tokens the name that is new goes on to get dearer, and the known one gets cheaper again.",
        holds=[min(np.subtract(middle, known)) > 1, min(np.subtract(new, middle)) > 1],
    )
    page.says(
        "knowing how names are made costs {:.1f}.",
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
        found.append((whole[1, 0] - whole[1, 1], lost[best, 1], others, looks[best], 1 + best // off.shape[1]))
    saved, lost, others, weights, blocks = zip(*found, strict=True)
    page.says(
        "Without the head that matters most, chosen on other functions, the saving shrinks by {:.0f} to {:.0f} %, "
        "without another by {:.0f} to {:.0f} % on average",
        *(100 * side(np.divide(lost, saved)) for side in (min, max)),
        *(100 * side(np.divide([each.mean() for each in others], saved)) for side in (min, max)),
        holds=[len(runs) == 3, *(run["steps"] == 7840 for run in runs), min(weights) > 5 * runs[0]["base rate"]],
    )
    assert "It stands in block {} or {}.".format(*sorted(set(blocks))) in page.evidence("10").prose


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
        "In recorded runs ({} steps, above {}; three seeds) LoRA at the rate 0.01 has {:.2f} bits on `tarfile`, and "
        "the other modules cost {:.2f} bits more. All parameters, trained at 0.0003, forget as much, {:.2f}, and fit "
        "better: {:.2f}",
        results["lora"]["steps"],
        re.search(r"steps=(\d+)", page.cells[LORA].source)[1],
        *means["low rank, 0.01"],
        *reversed(means["full, 0.0003"]),
        holds=[
            len(runs) == 3,
            len(low) == len(full) == 2,
            "rate=1e-2" in page.cells[LORA].source,
            *(max(run[way]["bits"] for way in full) < min(run[way]["bits"] for way in low) for run in runs),
        ],
    )
    page.says(
        "where both forget as much, all parameters fit better here.",
        holds=abs(means["low rank, 0.01"][1] - means["full, 0.0003"][1]) < 0.02,
    )
    page.says(
        "Ours stands beside the {} matrices of attention.",
        len(re.findall(r'"w_[qkvo]"', page.cells[LORA].source))
        * int(re.search(r"SIZE.*? = \(\d+, (\d+)", page.cells["c10-24"].source)[1]),
    )

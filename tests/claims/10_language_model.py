"""What lecture 10 says of its numbers, and which outputs the numbers come from."""

import re

import numpy as np
from claims.page import Page

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
        "inputs and logits have a standard deviation near 1",
        "starts at 0, so training starts from the frozen model",
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
    page.says("Counting wins here", holds=[bits[0] < bits[1], 1 < bits[0] < 3])
    steps = re.search(r"STEPS = .*?, (\d+) ", page.cells["c10-24"].source)
    assert int(steps[1]) == page.recorded("library_language_model")["results"]["table"]["steps"]
    last = [run["checkpoints"][-1]["bits"] for run in _longer(page)]
    page.says(
        "Here the network stays above the counted model of four tokens; trained for longer, it falls below it.",
        holds=[bits[1] > bits[0] > max(last)],
    )
    page.says(
        "Right, recorded trainings that read more, median and range of three seeds each",
        holds=sorted((run["steps"], run["seed"]) for run in _longer(page))
        == [(steps, seed) for steps in (1960, 7840) for seed in (1, 2, 3)],
    )
    page.says(
        "After 16 million tokens the network has {:.2f} bits",
        np.mean([run["held-out bits a byte"] for run in _longer(page) if run["steps"] == 7840]),
    )
    fresh, guessing = page.numbers("c10-loss", r"([\d.]+) nats a token; guessing costs ln 512 = ([\d.]+)")
    repeats = np.reshape(
        page.evidence("10").numbers("e10-untrained", r"seed \d: ([\d.]+) nats .* at (\d+)% of"), (2, 3, 2)
    )  # (one table and two, seeds, loss and share)
    page.says(
        "An untrained model costs more than guessing here. The cause is the shared table: such a model predicts the "
        "token that it has just read",
        holds=[
            fresh > guessing + 1,
            page.number("c10-loss", r"just read: (\d+)%") > 95,
            repeats[0, :, 1].min() > 95,
            repeats[1, :, 1].max() < 5,
            repeats[0, :, 0].min() > guessing + 1 > repeats[1, :, 0].max(),
        ],
    )
    page.given("repeats 640 times", because="the page's STEPS")
    read, text = page.number("c10-24", r"; ([\d,]+) of"), page.number("c10-24", r"of ([\d,]+) tokens")
    page.says(
        "The counts come from the whole text, and the network has read half as many tokens.",
        holds=[0.45 < read / text < 0.55],
    )
    parameters = page.number("c10-24", r"([\d,]+) parameters")
    page.says(
        r"A model of 10 million parameters should read $20 \cdot 10 = 200$ million tokens, "
        r"$200 / 2.6 \approx {:.0f}$ passes over our text.",
        200 / (text / 1e6),
        holds=[20 * 10 == 200, f"{text / 1e6:.1f}" == "2.6"],
    )
    page.says(
        "Ours has read {:.1f}: too few.",
        read / parameters,
        holds=read / parameters < 20,
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
    none, low, whole = (page.number(LORA, rf"{way} +([\d.]+) bits") for way in ("not fitted", "rank 4", "parameters"))
    counts = page.numbers(LORA, r"([\d,]+) parameters trained")
    assert max(low, whole) < none < 5 and counts[0] * 10 < counts[1]


def mistakes(page: Page) -> None:
    colon, newline = (page.number("c10-51", rf"behind the {name} +(\d+) of") for name in ("colon", "newline"))
    ends = page.number("c10-51", r"before the end in (\d+)%")
    page.says("In the training text half of the lone newlines stand before the end.", holds=45 < ends < 55)
    page.says("So the model often ends before it has written anything", holds=[colon <= 1, newline >= 8])
    page.says(
        "The loss falls to nearly nothing, and the model only repeats what it reads.",
        holds=[page.number("c10-53", r"loss ([\d.]+)") < 0.2],
    )


def recorded(page: Page) -> None:
    """The runs of three seeds, in `coursekit/recorded` and in the evidence."""
    results = page.recorded("library_language_model")["results"]
    table_of_models(page, results)
    longer_runs(page, results)
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
        "the bodies of the figure that parse use at most {:.0f} % of their parameters, real bodies {:.0f} %",
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
        "An LSTM with as many parameters, trained at the same rate, is {:.2f} to {:.2f} bits behind "
        "after {} steps, which may be chance (three seeds). "
        "In equal processor time it is {:.2f} to {:.2f} bits behind",
        *(side(lstm - pieces) for side in (min, max)),
        results["table"]["steps"],
        *(side(equal_time - pieces) for side in (min, max)),
        holds=[
            low < 0 < high,
            abs(page.evidence("10").number("e10-r02", r"seconds are (\d+) steps") - 290) < 5,
        ],
    )


def _longer(page: Page) -> list[dict]:
    return page.recorded("library_language_model")["results"]["longer"]["runs"]


def longer_runs(page: Page, results: dict) -> None:
    """Made-up names get cheaper, rows of random tokens do not."""
    longest = [run["checkpoints"] for run in _longer(page) if run["steps"] == 7840]
    names = [points[-1]["nats of a made-up name"] for points in longest]
    saved = [
        {point["step"]: point["nats of a made-up name"] for point in run["checkpoints"]}[640] for run in _longer(page)
    ]
    page.says(
        "In three recorded runs of 16 million tokens the name costs at the end about {:.0f} nats where it is new and "
        "{:.0f} where it has stood before; after 1.3 million tokens, where our model stops, there is hardly a "
        "difference.",
        np.mean([name["third, new"] for name in names]),
        np.mean([name["third"] for name in names]),
        holds=[
            len(longest) == 3,
            *(abs(points[-1]["tokens"] - 16e6) < 1e5 for points in longest),
            *(name["third, new"] - name["third"] > 5 for name in names),
            *(abs(name["third, new"] - name["third"]) < 0.6 for name in saved),
        ],
    )
    rows = [points[-1]["nats a token of random rows"] for points in longest]
    page.says(
        "Rows of random tokens, which are not Python, are not copied even after 16 million",
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
        others = np.delete(lost[:, 1], best).mean()
        found.append((whole[1, 0] - whole[1, 1], lost[best, 1], others, looks[best], 1 + best // off.shape[1]))
    saved, lost, others, weights, blocks = zip(*found, strict=True)
    page.says("We switch off each of the {:.0f} heads in turn", off.shape[0] * off.shape[1])
    page.says(
        "Without this head {:.0f}, {:.0f} and {:.0f} % of the saving are lost (three seeds); "
        "without another, {:.0f} to {:.0f} % on average.",
        *(100 * np.divide(lost, saved)),
        *(100 * side(np.divide(others, saved)) for side in (min, max)),
        holds=[len(runs) == 3, *(run["steps"] == 7840 for run in runs), min(lost) > 4 * max(others)],
    )
    assert "It stands in block {} or {}.".format(*sorted(set(blocks))) in page.evidence("10").prose
    page.says(
        "At a token of the name it puts {:.0f} to {:.0f} % of its weight on what followed this token before, "
        "where equal weights would put {:.0f} %",
        *(100 * side(weights) for side in (min, max)),
        100 * runs[0]["base rate"],
    )


def scaling_law(page: Page, runs: list[dict]) -> None:
    """Hoffmann's form, fitted to all trainings at their best rate."""
    pattern = r", all, seed \d: E ([\d.]+), alpha ([\d.]+), beta ([\d.]+), largest residual ([\d.]+)"
    fits = np.reshape(page.evidence("10").numbers("e10-r16", pattern), (-1, 4))
    page.says(
        r"Our {:.0f} trainings, with three seeds each, give $\alpha$ from {:.2f} to {:.2f} and "
        r"$\beta$ from {:.2f} to {:.2f}.",
        len(runs),
        *(side(fits[:, column]) for column in (1, 2) for side in (min, max)),
        holds=[len(fits) == 3],
    )
    page.says("Our fit misses single trainings by up to {:.2f} bits", fits[:, 3].max())
    page.says(
        "The fitted form expects {:.0f} to {:.0f} times the parameters",
        *(side(64 ** (fits[:, 2] / (fits[:, 1] + fits[:, 2]))) for side in (min, max)),
    )
    page.given(
        "Hoffmann et al. have 0.34 and 0.28, a second fit of their data 0.35 and 0.37",
        because="cited: Hoffmann et al. 2022, section D.3; Besiroglu et al. 2024, section 3",
    )


def equal_operations(page: Page, runs: list[dict]) -> None:
    """The best size for as many operations, at the best of three rates, by the mean of three seeds."""
    best = []
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
    first, last = best[0], best[-1]
    page.says(
        "From the first line to the last the operations grow {:.0f} times. The best size tried then has {:.0f} times "
        "the parameters and reads {:.0f} times as many tokens, {:.0f} for each parameter.",
        *(last[what] / first[what] for what in ("operations", "parameters", "tokens")),
        last["tokens"] / last["parameters"],
    )
    page.says(
        "from {:.1f} to {:.1f} trillion operations the lowest point moves from {:,} to {:,} parameters",
        *(run["operations"] / 1e12 for run in (first, last)),
        *(run["parameters"] for run in (first, last)),
    )


def _at_the_best_rate(run: dict) -> float:
    bits: dict[float, list[float]] = {}
    for lane in run["lanes"]:
        bits.setdefault(lane["rate"], []).append(lane["held-out bits a byte"])
    return min(np.mean(each) for each in bits.values())


def low_rank(page: Page, results: dict) -> None:
    runs = results["lora"]["runs"]
    low, full = ([way for way in runs[0] if way.startswith(name)] for name in ("low rank", "full"))
    fits = {name: [run[way]["bits"] for run in runs for way in ways] for name, ways in (("full", full), ("low", low))}
    page.says(
        "In recorded runs of {} steps, three seeds and two rates each, "
        "training all parameters fits `tarfile` better ({:.2f} to {:.2f} bits) than LoRA "
        "({:.2f} to {:.2f}).",
        results["lora"]["steps"],
        *(side(found) for found in fits.values() for side in (min, max)),
        holds=[len(runs) == 3, len(low) == len(full) == 2, max(fits["full"]) < min(fits["low"])],
    )
    lost = [
        [run[way]["all modules"] - run["none, 0"]["all modules"] for run in runs for way in ways]
        for ways in (low, full)
    ]
    page.says(
        "the other modules cost {:.2f} to {:.2f} bits more after LoRA, "
        "{:.2f} to {:.2f} more after training all parameters",
        *(side(found) for found in lost for side in (min, max)),
    )

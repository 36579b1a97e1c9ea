"""What lecture 10b says of its numbers, and which outputs and recorded runs they come from."""

import numpy as np
from claims.page import Page


def claims(page: Page) -> None:
    given(page)
    fine_tuning(page)
    reward(page)
    holes(page)
    brakes(page)
    sharpened(page)
    preferred(page)
    quantised(page)
    mistakes(page)


def run_of(page: Page, part: str, **what) -> dict:
    """The recorded run of seed 1, with which the page's own runs begin."""
    return runs_of(page, part, **what)[0]


def runs_of(page: Page, part: str, **what) -> list[dict]:
    """The recorded runs of a part, by seed, which begin with seed 1."""
    found = [run for run in page.recorded("assistant")["results"][part]["runs"] if what.items() <= run.items()]
    found.sort(key=lambda run: run["seed"])
    assert [run["seed"] for run in found] == list(range(1, len(found) + 1)), (part, what)
    return found


def ends_of(runs: list[dict], name: str, times: float = 100) -> tuple[float, float]:
    """The least and the largest value of some runs."""
    values = [times * run[name] for run in runs]
    return min(values), max(values)


def fine_tuning(page: Page) -> None:
    first, tuned, control = (runs_of(page, "tuned", way=way) for way in ("start", "answers", "anywhere"))
    page.says(
        "Of the first model's answers {:.0f} % end in time and parse (first recorded seed, 300 first lines). "
        "After one pass over the pairs ({} steps of 32) it is {:.0f} %.",
        100 * first[0]["parse"], page.recorded("assistant")["results"]["tuned"]["steps"], 100 * tuned[0]["parse"],
    )  # fmt: skip
    page.says(
        "In three seeds {:.0f} to {:.0f} % of its answers ended in time before, {:.0f} to {:.0f} % afterwards. Of "
        "those that ended, {:.0f} to {:.0f} % parsed before, and {:.0f} to {:.0f} % afterwards.",
        *ends_of(first, "ended"), *ends_of(tuned, "ended"), *ends_of(first, "parse of ended"),
        *ends_of(tuned, "parse of ended"),
    )  # fmt: skip
    by_seed = list(zip(control, first, tuned, strict=True))
    page.says(
        "It got worse in each seed: {:.0f} to {:.0f} % parse, where it was {:.0f} to {:.0f} %.",
        *ends_of(control, "parse"), *ends_of(first, "parse"),
        holds=[less["parse"] < before["parse"] < more["parse"] for less, before, more in by_seed]
        + [less["ended"] < before["ended"] for less, before, _ in by_seed],
    )  # fmt: skip
    gains = [100 * (after["parse of ended"] - before["parse of ended"]) for _, before, after in by_seed]
    page.says(
        "Of the answers that end, five to ten points more parse than before. But they have shrunk from {:.0f} or "
        "{:.0f} tokens to {:.0f} or {:.0f}",
        *ends_of(first, "tokens", 1), *ends_of(tuned, "tokens", 1),
        holds=[round(min(gains)) == 5, round(max(gains)) == 10],
    )  # fmt: skip
    nats = ends_of(tuned, "nats an answer token", 1)
    page.says(
        "A real held-out body costs the tuned models {:.2f} to {:.2f} nats a token, the first one {:.2f}",
        *nats, first[0]["nats an answer token"],
    )  # fmt: skip
    before, after = (page.numbers("b10-parses", rf"{when} +ended (\d+)%, parse (\d+)%") for when in ("before", "steps"))
    page.says(
        "One pass over a few thousand short functions taught this model above all to write short whole bodies, and so "
        "to end.",
        holds=[run["tokens"] < 0.7 * first[0]["tokens"] for run in tuned]
        + [after[0] > before[0] + 30]
        + [late["ended"] - early["ended"] > 0.04 * gain for (_, early, late), gain in zip(by_seed, gains, strict=True)],
    )
    learn, lines = page.numbers("b10-first", r"([\d,]+) short functions to learn from, (\d+) held-out")
    assert [learn, lines] == page.recorded("assistant")["results"]["tuned"]["functions"]


def first_steps(runs: list[dict], curve: str, least: float) -> list[int]:
    """The first step of each run at which a curve of its history reaches a value."""
    return [1 + int(np.argmax(np.array(run["history"][curve]) >= least)) for run in runs]


def reward(page: Page) -> None:
    runs = runs_of(page, "rewarded", way="parses")
    page.says(
        "In each of three recorded seeds most are `return self`: {:.1f}, {:.1f} and {:.1f} % of the answers to "
        "held-out first lines (with the third, {:.0f} % say nothing at all, such as `return None`).",
        *(100 * run["commonest"][1] for run in runs), 100 * runs[2]["trivial"],
        holds=[run["commonest"][0] == "return self" and run["parse"] == 1 for run in runs],
    )  # fmt: skip
    parsing, filled = first_steps(runs, "parse", 0.95), first_steps(runs, "share of the commonest", 0.5)
    page.says(
        "In three recorded seeds there are two, four and nine steps between the one in which 95 of 100 answers parse "
        "and the one in which a single answer fills half of the batch.",
        holds=[late - early for early, late in zip(parsing, filled, strict=True)] == [2, 4, 9],
    )
    lengths = np.array([run["history"]["length"] for run in runs])[:, [0, 9, 19]]
    page.says(
        "The lengths fall first (the printed line has their ends):",
        holds=bool((lengths[:, 1] < 0.65 * lengths[:, 0]).all()),
    )
    equal = [int(np.sum(np.array(run["history"]["same"]) == 1)) for run in runs]
    page.says(
        "the gradient is 0: that is so for every group of {} to {} of the {} recorded batches",
        min(equal), max(equal), len(runs[0]["history"]["same"]),
    )  # fmt: skip
    live = page.numbers("b10-practise", r"parse (\d+)%, (\d+)%; tokens (\d+), (\d+); different answers (\d+)%, (\d+)%")
    page.says(
        "The reward was met to the last point, and the text is gone",
        holds=[live[1] == 100, live[3] < 8, live[5] < 20] + [run["tokens"] < 6 for run in runs],
    )


def holes(page: Page) -> None:
    half, shared = (runs_of(page, "rewarded", way=way) for way in ("half and half", "half and half, shared, KL .05"))
    page.says(
        "In both recorded seeds it is {:.0f} % of the answers.",
        100 * half[0]["commonest"][1],
        holds=[len(half) == 2] + [run["commonest"] == ["return self", 1.0] and run["parse"] == 1 for run in half],
    )
    forms, shares = zip(*(run["commonest shape"] for run in shared), strict=True)
    page.says(
        "Nearly all answers of the last step differ, but by letters. With one letter for every name, {:.0f} % of those "
        "to held-out first lines are `x.x = None` in the first recorded seed, and {:.0f} % are `return x.x` in the "
        "second.",
        *(100 * share for share in shares),
        holds=[run["history"]["distinct"][-1] > 0.9 for run in shared]
        + [forms == ("def f():\n    x.x = None", "def f():\n    return x.x")],
    )
    page.says(
        "in two recorded seeds {:.0f} and {:.0f} % of the answers to held-out first lines parse, and {:.0f} and "
        "{:.0f} % of them are different.",
        *(100 * run[what] for what in ("parse", "distinct") for run in shared),
    )
    shapes = page.numbers("b10-two", r"(\d+) shapes")
    page.says(
        "the 200 answers above have {:.0f} shapes, where the fine-tuned model's have {:.0f}.", shapes[2], shapes[0]
    )
    live = page.numbers("b10-held", r"parse (\d+)%, (\d+)%; tokens (\d+), (\d+); different answers (\d+)%, (\d+)%")
    page.says(
        "With a penalty for repeats and a price for leaving, the answers do not collapse to one text, but to few "
        "shapes.",
        holds=[live[1] > 85, live[5] > 90, min(shares) > 0.25, 4 * shapes[2] < shapes[0], shapes[1] < shapes[2]],
    )


def brakes(page: Page) -> None:
    """How far the rewards took the model, a token and an answer."""
    ways = "parses", "half and half", "half and half, shared, KL .05"
    runs = [runs_of(page, "rewarded", way=way) for way in ways]
    nats = [[run["history"]["KL"][-1] for run in some] for some in runs]
    whole = [[run["history"]["KL"][-1] * run["history"]["length"][-1] for run in some] for some in runs]
    dear = [[run["nats an answer token"] for run in some] for some in runs]
    page.says(
        "After the points for parsing the KL is {:.1f} to {:.1f} nats a token, after half and half {:.1f} to {:.1f}, "
        "and with both brakes {:.1f}.",
        min(nats[0]), max(nats[0]), min(nats[1]), max(nats[1]), nats[2][0],
        holds=[round(each, 1) == round(nats[2][0], 1) for each in nats[2]],
    )  # fmt: skip
    page.says(
        "for a whole answer it is {:.1f} to {:.1f} nats, {:.1f} to {:.1f}, and {:.1f} to {:.1f}: about half",
        *(end(some) for some in whole for end in (min, max)),
        holds=0.4 < np.mean(whole[2]) / np.mean(whole[0] + whole[1]) < 0.7,
    )
    page.says(
        "A real body costs the fine-tuned models {:.2f} to {:.2f}, after the first two rewards {:.1f} to {:.1f}, after "
        "the third {:.1f}.",
        *ends_of(runs_of(page, "tuned", way="answers"), "nats an answer token", 1),
        min(dear[0] + dear[1]), max(dear[0] + dear[1]), dear[2][0],
        holds=[round(each, 1) == round(dear[2][0], 1) for each in dear[2]]
        + [max(dear[2]) < min(dear[0] + dear[1]) - 0.2],
    )  # fmt: skip


def sharpened(page: Page) -> None:
    tuned = runs_of(page, "tuned", way="answers")
    shared = runs_of(page, "rewarded", way="half and half, shared, KL .05")
    page.says(
        "Before any reward one answer of the fine-tuned model parses with {:.0f} %.",
        100 * tuned[0]["parse"],
    )
    page.says(
        "Reading a parameter other than `self` did not become more frequent: {:.0f} to {:.0f} % of the fine-tuned "
        "models' answers do, and {:.0f} and {:.0f} % after the shared points, of {} that could",
        *ends_of(tuned, "reads its own"), *(100 * run["reads its own"] for run in shared), shared[0]["with parameters"],
        holds=max(run["reads its own"] for run in shared) <= min(run["reads its own"] for run in tuned),
    )  # fmt: skip
    first, several, held = np.reshape(page.numbers("b10-sharp-runs", r"one draw (\d+)%, .* of 16 (\d+)%"), (3, 2))
    page.says(
        "All of them, or nearly. Even the first model, never fine-tuned on answers, gets there.",
        holds=[several[1] >= 97, first[1] >= 90],
    )
    page.says(
        "One draw parses more often after fine-tuning, and always after the reward; but one of sixteen parsed for "
        "every first line from the start. So the reward made usual what was possible. With one draw at {:.0f} %,",
        first[0],
        holds=[held[0] == 100 > several[0] > first[0], first[1] == several[1] == held[1] == 100],
    )
    page.says("here the full points needed nothing new.", holds=several[1] == 100)


def preferred(page: Page) -> None:
    run = run_of(page, "preferred")
    points = run["points"]
    (chosen, rejected), last = points[-1]["chosen, rejected"], points[-1]
    page.says(
        "The loss falls because the rejected answers lose more probability than the chosen ones.",
        holds=[rejected < chosen < 0, last["loss"] < points[1]["loss"]],
    )
    page.says(
        "it falls, and that of the rejected ones falls more",
        holds=[rejected < chosen < 0],
    )
    page.says(
        "After eighty steps the chosen answers have lost {:.1f} nats each, the rejected ones {:.1f}.",
        -chosen, -rejected,
    )  # fmt: skip
    page.says(
        "In this one recorded run the share of new answers that parse (to 160 first lines) rises from {:.1f} to {:.1f} "
        "% in {} steps and falls to {:.1f} % after {}, while the loss goes on falling, from {:.2f} to {:.2f}: the loss "
        "does not know where to stop. And one answer spreads: `return` alone, {:.0f} % of all",
        100 * points[0]["parse"], 100 * points[2]["parse"], points[2]["step"], 100 * last["parse"], last["step"],
        points[2]["loss"], last["loss"], 100 * run["commonest"][1],
        holds=[
            max(point["parse"] for point in points) == points[2]["parse"] > last["parse"],
            run["commonest"][0] == "return",
            last["step"] == 80,
        ],
    )  # fmt: skip
    page.says("| {} pairs of its own answers |", run["pairs"])
    parse = [point["parse"] for point in points]
    page.says(
        "the share of new answers that parse rises until step 40 and then falls.",
        holds=[parse[:3] == sorted(parse[:3]), parse[2:] == sorted(parse[2:], reverse=True), points[2]["step"] == 40],
    )


def quantised(page: Page) -> None:
    rows, blocks = np.reshape(page.numbers("b10-more-figure", r"bits: ([\d.]+) a row, ([\d.]+) in 32s"), (5, 2)).T
    page.says(
        "Fewer bits cost more; at the same bits a scale for every 32 numbers costs less than one for a row",
        holds=[bool((np.diff(rows) >= 0).all()), bool((np.diff(blocks) >= 0).all()), bool((blocks <= rows).all())],
    )
    whole = page.number("b10-more-figure", r"as stored: ([\d.]+)")
    four, two, in_blocks = (
        page.number("b10-more-figure", pattern) - whole
        for pattern in (r"4 bits: ([\d.]+)", r"2 bits: ([\d.]+)", r"2 bits: [\d.]+ a row, ([\d.]+)")
    )
    page.says(
        "At four bits the model loses {:.2f} bits a byte; at two {:.2f} with a scale a row, and {:.2f} with one for 32 "
        "numbers.",
        four, two, in_blocks,
    )  # fmt: skip
    page.says("At four bits a number this model loses next to nothing; at two it loses much.", holds=four < 0.05 < two)


def mistakes(page: Page) -> None:
    page.says(
        "It ends all the same.",
        holds=page.number("b10-endless", r"after 20 steps: ended (\d+)%") > 85,
    )


def given(page: Page) -> None:
    for figure in ("b10-live", "b10-live-held"):
        words = page.output(figure).partition("[Figure: ")[2].partition("]")[0]
        page.given(words, because="the figure counts its own rows")
    page.given(
        "about 72 minutes to read and predict (estimated, not measured); the code runs in about three minutes on two "
        "CPU cores.",
        "The model is lecture 10's, after 1,960 steps",
        "at most 48 tokens with the end.",
        "the mean reward of G = 8 answers to the same prompt",
        "this makes the mean gradient smaller by 1/G",
        "Then the sum in 1 is",
        "where $Z$ makes the sum 1.",
        "A KL divergence is 0 if both agree",
        "the fine-tuned model's 82.5 % in DPO's figure is one of 86 to 89 % elsewhere.",
        "judged at temperature 0.7 with top-p 0.9; in training they are drawn at temperature 1",
        "The mean is 0.25",
        "the loss falls from ln 2; of the log probabilities",
        "If all eight parse, every advantage is 0",
        "Fifty steps of 8 prompts and 8 answers each.",
        "(41 bodies against 12)",
        "At the start both gains are 0, and the loss is ln 2 = 0.69.",
        "2 trillion tokens: web pages chosen for teaching, code, mathematics |",
        "2.6 million tokens of Python's library, read one and a half times |",
        "460,341 conversations, many written by larger models; two epochs |",
        "3,022 short functions; one epoch |",
        "about 61,000 pairs (UltraFeedback), judged by a larger model; two epochs, β = 0.5 |",
        "The gradient is 0, but Adam goes on",
        "The loss of DPO falls from step 60 to step 100.",
        "bodies here are at most 47 tokens long.",
        "for a model of 857,216 numbers.",
        "Recorded shares are over 300 held-out first lines (standard error at most 2.9 points), those of DPO by step "
        "over the first 160 (3.9), the page's own over the first 200 (3.5).",
        "(The cell below draws other answers, to the first 200 of the 300 first lines; so its shares may lie outside.)",
        "draw 64 answers (8 to each of 8 prompts)",
        "The recorded run takes eighty steps on",
        "(96 more steps on lecture 10's long windows were not run)",
        "the new model gives them 1/2 and 1/2, the old one gave them 1/4 and 3/4",
        "is 1/2 and 3/2, and",
        "is −0.69 and 0.41.",
        "It is 0 where both agree, and large where",
        "in another form, $e^{d}-d-1$",
        "because the old probabilities sum to 1.",
        "with a scale and a least value for each row, or for each 32 numbers:",
        "with two bytes for a scale and two for a least value, 32 numbers pay one bit a number more, and a row of 128 "
        "a quarter of a bit.",
        "(β = 0.1)",
        because="defined, a setting, counted once, or cited",
    )

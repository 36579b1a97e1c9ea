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
        "Of the answers that end, five to ten points more parse than before. But these have shrunk, too, from {:.0f} "
        "tokens to {:.0f} in the run above, so this need not be better Python.",
        *page.numbers("b10-parses", r"of those that ended, parse \d+%, (\d+) tokens"),
        holds=[round(min(gains)) == 5, round(max(gains)) == 10],
    )  # fmt: skip
    heeded = {way: runs_of(page, "heeded", way=way) for way in ("start", "answers")}
    (begin,), after = heeded["start"], heeded["answers"]
    gaps = [run["another's"] - run["own"] for run in after]
    page.says(
        "Behind another function's first line they cost about as much as before, behind their own a little less. So "
        "the first line counts for more than it did: {:.2f} to {:.2f} nats a token, where it was {:.2f}",
        min(gaps), max(gaps), begin["another's"] - begin["own"],
        holds=[abs(run["another's"] - begin["another's"]) < 0.03 < begin["own"] - run["own"] for run in after],
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
    ended, tokens, different = np.reshape(
        page.numbers("b10-practise", r"ended +(\d+)%.* ([\d.]+) tokens, different answers (\d+)%"), (5, 3)
    ).T
    page.says(
        "After ten steps nearly every answer ends, yet the answers go on shrinking.",
        holds=[ended[1] >= 95, tokens[-1] < 0.5 * tokens[1]],
    )
    (times,) = page.numbers("b10-live", r"last step is .*, (\d+) of 64 times")
    page.says("a few texts spread, and at the last step the commonest stands {:.0f} times in 64.", times)
    equal = [int(np.sum(np.array(run["history"]["same"]) == 1)) for run in runs]
    page.says(
        "the gradient is 0: that is so for every group of {} to {} of the {} recorded batches",
        min(equal), max(equal), len(runs[0]["history"]["same"]),
    )  # fmt: skip
    parse = page.numbers("b10-practise", r"parse +(\d+)%")
    page.says(
        "The reward was met to the last point, and the text is gone",
        holds=[parse[-1] == 100, tokens[-1] < 8, different[-1] < 25] + [run["tokens"] < 6 for run in runs],
    )


def holes(page: Page) -> None:
    half, shared = (runs_of(page, "rewarded", way=way) for way in ("half and half", "half and half, shared, KL .05"))
    page.says(
        "All the same it is {:.0f} % of the answers in both recorded seeds.",
        100 * half[0]["commonest"][1],
        holds=[len(half) == 2] + [run["commonest"] == ["return self", 1.0] and run["parse"] == 1 for run in half],
    )
    earned = page.numbers("b10-holes", r"earns ([\d.]+) for the (\d+) first lines with `self`, ([\d.]+) for the (\d+)")
    page.says(
        "So half a point is left lying on every first line without `self`.",
        holds=[earned[0] == 1, earned[2] == 0.5, earned[3] > 0],
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
    shapes = page.numbers("b10-two", r"(\d+) shapes")
    whole = page.numbers("b10-two", r"whole point: (\d+)%")
    page.says(
        "The 200 answers above have {:.0f} shapes, where the fine-tuned model's have {:.0f} (they are shorter, too).",
        shapes[2], shapes[0],
    )  # fmt: skip
    page.says(
        "the whole point goes to {:.0f} % of the answers with `self`, and to {:.0f} % of those without, where the "
        "fine-tuned model had {:.0f} % (two answers of 41 and five: hardly a difference).",
        *whole[4:],
        whole[1],
        holds=[whole[4] > whole[0], [round(0.41 * share) for share in (whole[5], whole[1])] == [2, 5]],
    )
    parse, different = np.reshape(page.numbers("b10-held", r"parse +(\d+)%.*answers (\d+)%"), (5, 2))[-1]
    page.says(
        "With a penalty for repeats and a price for leaving, the answers do not collapse to one text, but to few "
        "shapes.",
        holds=[parse > 85, different > 90, min(shares) > 0.25, 4 * shapes[2] < shapes[0], shapes[1] < shapes[2]],
    )


def brakes(page: Page) -> None:
    """How far the rewards took the model, a token and an answer."""
    ways = "half and half", "half and half, KL .05", "half and half, shared", "half and half, shared, KL .05"
    runs = [runs_of(page, "rewarded", way=way) for way in ways]
    none, price, penalty, both = ([run["nats an answer token"] for run in some] for some in runs)
    different = [[run["distinct"] for run in some] for some in runs]
    page.says(
        "Without a brake one text is left. With the price alone {:.0f} and {:.0f} % of the answers are different, with "
        "the penalty for repeats alone {:.0f} and {:.0f} %, with both {:.0f} and {:.0f} %.",
        *(100 * share for some in different[1:] for share in some),
        holds=[len(some) == 2 for some in runs] + [max(different[0]) < 0.01],
    )
    page.says(
        "A real body cost the fine-tuned models {:.2f} to {:.2f} nats a token. Without a brake it costs {:.1f} to "
        "{:.1f}, with the penalty alone {:.2f} and {:.2f}, with the price alone {:.2f} and {:.2f}, with both {:.1f}.",
        *ends_of(runs_of(page, "tuned", way="answers"), "nats an answer token", 1),
        min(none), max(none), *penalty, *price, both[0],
        holds=[round(each, 1) == round(both[0], 1) for each in both],
    )  # fmt: skip
    nats = [np.mean([run["history"]["KL"][-1] for run in some]) for some in runs]
    whole = [np.mean([run["history"]["KL"][-1] * run["history"]["length"][-1] for run in some]) for some in runs]
    page.says(
        "By the KL a token has gone a fifth as far with both brakes as without, but the answers are longer: a whole "
        "answer has gone half as far.",
        holds=[0.15 < nats[3] / nats[0] < 0.25, 0.4 < whole[3] / whole[0] < 0.6],
    )
    page.says(
        "The penalty kept more answers different, the price kept real bodies cheaper, and each did some of both.",
        holds=[min(different[2]) > max(different[1]) > 0.3, max(price) < min(penalty) < max(penalty) < min(none)],
    )


def sharpened(page: Page) -> None:
    found = np.reshape(page.numbers("b10-sharp-runs", r"one draw (\d+)%, at least one of 16 (\d+)%"), (3, 3, 2))
    (_, tuned, held) = found  # by test: parses, whole point, reads another
    assert found.shape == (3, 3, 2)
    page.says(
        "Parsing tests nothing here: for every first line one of sixteen parsed from the start.",
        holds=bool((found[:, 0, 1] == 100).all()),
    )
    page.says(
        "Before the reward one draw earned it with {:.0f} %, and after it with {:.0f} %; but of sixteen draws one "
        "earned it for {:.0f} % of the first lines before, and for {:.0f} % after.",
        tuned[1, 0], held[1, 0], tuned[1, 1], held[1, 1],
        holds=[held[1, 0] > tuned[1, 0] + 5, abs(held[1, 1] - tuned[1, 1]) < 5],
    )  # fmt: skip
    page.says(
        "one of sixteen did for {:.0f} % of all first lines before, and for {:.0f} % after.",
        tuned[2, 1], held[2, 1],
        holds=held[2, 1] < tuned[2, 1] - 5,
    )  # fmt: skip
    kinds = np.reshape(
        page.numbers("b10-sharp-runs", r"(\d+) first lines .*one draw (\d+)%, at least one of 16 (\d+) lines"),
        (3, 2, 3),
    )  # by model and kind of first line: how many, one draw, lines with one of sixteen
    page.says(
        "With `self` one draw went from {:.0f} to {:.0f} %, and one of sixteen had earned it for all {:.0f} before. "
        "Without `self` one draw went from {:.0f} to {:.0f} %, and one of sixteen earned it for {:.0f} of {:.0f} lines "
        "before, and for {:.0f} after.",
        *kinds[1:, 0, 1], kinds[1, 0, 2], *kinds[1:, 1, 1], kinds[1, 1, 2], kinds[1, 1, 0], kinds[2, 1, 2],
        holds=kinds[1, 0, 2] == kinds[1, 0, 0],
    )  # fmt: skip
    page.says("which pays on these {:.0f} lines only", kinds[1, 1, 0])
    runs = runs_of(page, "sharpened")
    one, sixteen = (
        [[run[when][name] for when in ("before", "after")] for run in runs] for name in ("one draw", "one of sixteen")
    )
    page.says(
        "one draw reads one nearly three times as often: {:.0f} % before, {:.0f} and {:.0f} % after, in two recorded "
        "seeds. Sixteen draws do not follow: {:.0f} % before and {:.0f} % after in the first seed, {:.0f} and {:.0f} % "
        "in the second",
        100 * one[0][0], *(100 * after for _, after in one), *(100 * share for some in sixteen for share in some),
        holds=[len(runs) == 2, sixteen[0][1] > sixteen[0][0], sixteen[1][1] < sixteen[1][0]]
        + [round(100 * before) == round(100 * one[0][0]) and 2.6 < after / before < 3 for before, after in one],
    )  # fmt: skip
    page.says(
        "here one draw got better where one of sixteen had always been right, and nowhere else.",
        holds=[kinds[2, 0, 1] > kinds[1, 0, 1] + 5, kinds[1, 0, 2] == kinds[1, 0, 0], kinds[2, 1, 1] < kinds[1, 1, 1]],
    )
    page.says(
        "For the whole point one draw got better and sixteen draws did not.",
        holds=[held[1, 0] > tuned[1, 0] + 5, held[1, 1] <= tuned[1, 1] + 2],
    )


def preferred(page: Page) -> None:
    runs = runs_of(page, "preferred")
    begin, early, last = ([run["points"][number] for run in runs] for number in (0, 1, -1))
    chosen, rejected = zip(*(point["held out"] for point in last), strict=True)
    falls = all(a < b < 0 for a, b in zip(rejected, chosen, strict=True))
    page.says(
        "The loss falls because the rejected answers lose more probability than the chosen ones.",
        holds=[falls] + [end["loss"] < after["loss"] for after, end in zip(early, last, strict=True)],
    )
    page.says("it falls, and that of the rejected ones falls more", holds=falls)
    page.says("the tokens of a new answer fall to less than half.", holds=max(ends_of(last, "tokens", 1)) < 11)
    page.says(
        "On held-out pairs the chosen answers have lost {:.0f} to {:.0f} nats after eighty steps, the rejected ones "
        "{:.0f} to {:.0f}.",
        -max(chosen), -min(chosen), -max(rejected), -min(rejected),
    )  # fmt: skip
    lengths = np.round([run["tokens of chosen, rejected"] for run in runs])
    page.says(
        "from {:.0f} to {:.0f} pairs, so each pair is read three or four times. A chosen answer has {:.0f} to {:.0f} "
        "tokens in the mean, a rejected one {:.0f}.",
        *ends_of(runs, "pairs", 1), lengths[:, 0].min(), lengths[:, 0].max(), lengths[0, 1],
        holds=[round(80 * run["batch"] / run["pairs"], 1) in (3.3, 3.4) for run in runs] + [np.ptp(lengths[:, 1]) <= 1],
    )  # fmt: skip
    page.says(
        "New answers to 160 first lines parse with {:.1f} to {:.1f} % at the start, and with {:.1f} to {:.1f} % after "
        "{} steps. After {} it is {:.1f} to {:.1f} %: nothing more has come, while the loss went on falling, from "
        "{:.2f} to {:.2f} down to {:.2f} to {:.2f}.",
        *ends_of(begin, "parse"), *ends_of(early, "parse"), early[0]["step"], last[0]["step"],
        *ends_of(last, "parse"), *ends_of(early, "loss", 1), *ends_of(last, "loss", 1),
        holds=[abs(end["parse"] - after["parse"]) < 0.01 for after, end in zip(early, last, strict=True)],
    )  # fmt: skip
    common = [100 * point["commonest"][1] for point in last]
    page.says(
        "The answers have shrunk from 22 tokens to {:.0f} to {:.0f}, and one text makes up {:.0f} to {:.0f} % of them",
        *ends_of(last, "tokens", 1), min(common), max(common),
        holds=[round(point["tokens"]) in (22, 23) for point in begin],
    )  # fmt: skip
    page.says("| {} to {} pairs of its own answers |", *map(round, ends_of(runs, "pairs", 1)))


def mistakes(page: Page) -> None:
    (with_end, _), (without, _) = np.reshape(page.numbers("b10-endless", r"ended (\d+)%, parse (\d+)%"), (2, 2))
    page.says(
        "It ends all the same, nearly as often as with the end in the mask.",
        holds=[without > 85, abs(with_end - without) < 8],
    )


def given(page: Page) -> None:
    for figure in ("b10-live", "b10-live-held"):
        words = page.output(figure).partition("[Figure: ")[2].partition("]")[0]
        page.given(words, because="the figure counts its own rows")
    page.given(
        "about 75 minutes to read and predict (estimated, not measured); the code runs in about three minutes on two "
        "CPU cores.",
        "The model is lecture 10's, after 1,960 steps",
        "at most 48 tokens with the end.",
        "the mean reward of G = 8 answers to the same prompt (the answer's own is in it, which makes the gradient 7/8 "
        "as large)",
        "Then the sum in 1 is",
        "where $Z$ makes the sum 1.",
        "A KL divergence is 0 if both agree",
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
        "for a model of 857,216 numbers.",
        "Recorded shares are over 300 held-out first lines (standard error at most 2.9 points), those of DPO by step "
        "over the first 160 (4.0), the page's own over the first 200 (3.5), those of sixteen draws over "
        "64 (6.2).",
        "Three recorded runs take eighty steps of 16 pairs",
        "the new model gives them 1/2 and 1/2, the old one gave them 1/4 and 3/4",
        "is 1/2 and 3/2, and",
        "is −0.69 and 0.41.",
        "It is 0 where both agree.",
        "the share of 64 first lines for which at least one of 1 to 16 draws passes",
        "are at 1 within three draws, that of the first model after sixteen.",
        "`Writer` draws at temperature 1, and `learner` makes one step of Adam:",
        "one with $p=0.3$, the other with $p=0.1$, and the rest fail; so the mean reward is 0.4.",
        "0.5 gives nearly every answer a push of +0.5",
        "in another form, $e^{d}-d-1$",
        "because the old probabilities sum to 1.",
        "(β = 0.1)",
        because="defined, a setting, counted once, or cited",
    )

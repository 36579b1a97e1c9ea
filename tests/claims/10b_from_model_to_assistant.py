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
        "Of the answers that end, five to ten points more parse than before. But these answers are shorter, too: in "
        "the run above they went from {:.1f} to {:.1f} tokens on average.",
        *page.numbers("b10-parses", r"parse \d+%, ([\d.]+) tokens"),
        holds=[round(min(gains)) == 5, round(max(gains)) == 10],
    )  # fmt: skip
    heeded = {way: runs_of(page, "heeded", way=way) for way in ("start", "answers")}
    (begin,), after = heeded["start"], heeded["answers"]
    gaps = [run["another's"] - run["own"] for run in after]
    page.says(
        "Behind another function's first line it is about what it was, behind their own a little less. So the "
        "first line counts for more than it did: {:.2f} to {:.2f} nats a token, where it was {:.2f}",
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
        "held-out first lines, and {:.0f}, {:.0f} and {:.0f} % of the last training step, at temperature 1. (With the "
        "third, {:.0f} % do nothing, such as `return None`.)",
        *(100 * run["commonest"][1] for run in runs),
        *(100 * run["history"]["share of the commonest"][-1] for run in runs), 100 * runs[2]["trivial"],
        holds=[run["commonest"][0] == "return self" and run["parse"] == 1 for run in runs]
        + [run["history"]["commonest"][-1][0] == "return self" for run in runs],
    )  # fmt: skip
    (likelier,) = page.numbers("b10-practise", r"first lines: pass has a mean probability of ([\d.]+)%")
    (winner,) = page.numbers("b10-practise", r"first lines: return self has a mean probability of ([\d.]+)%")
    page.says("Before practice `pass` was the likelier of the two, {:.1f} % against {:.1f} %", likelier, winner)
    parsing, filled = first_steps(runs, "parse", 0.95), first_steps(runs, "share of the commonest", 0.5)
    page.says(
        "In three recorded seeds a single answer fills half of the batch two, four and nine steps after 95 of 100 "
        "answers parse",
        holds=[late - early for early, late in zip(parsing, filled, strict=True)] == [2, 4, 9],
    )
    practised = np.reshape(
        page.numbers("b10-practise", r"ended +(\d+)%.* ([\d.]+) tokens, different answers (\d+)%, commonest (\d+)%"),
        (2, 5, 4),
    )  # points for parsing, points for the end
    ended, tokens, different, common = practised[0].T
    page.says(
        "After ten steps nearly every answer ends, yet the answers go on shrinking.",
        holds=[ended[1] >= 95, tokens[-1] < 0.5 * tokens[1]],
    )
    page.says(
        "Those answers shrink too, to {:.1f} tokens, but {:.0f} % of them stay different. So the end explains a part "
        "of the shrinking, not that so few texts are left.",
        *practised[1, -1, 1:3],
        holds=[practised[1, -1, 1] < 0.5 * practised[1, 0, 1], different[-1] < 25],
    )  # fmt: skip
    page.says("With points for parsing one text fills {:.0f} % of the batch at step 35", common[3])
    (times,) = page.numbers("b10-live", r"last step is .*, (\d+) of 64 times")
    page.says("and the commonest of the last step stands {:.0f} times in 64.", times)
    parse = page.numbers("b10-practise", r"parse +(\d+)%")[:5]
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
        "So half a point is left on every first line without `self`.",
        holds=[earned[0] == 1, earned[2] == 0.5, earned[3] > 0],
    )
    forms, shares = zip(*(run["commonest shape"] for run in shared), strict=True)
    page.says(
        "Nearly all answers of the last step differ, but only in their names. With one letter for every name, {:.0f} % "
        "of those to held-out first lines are `x.x = None` in the first recorded seed, and {:.0f} % are `return x.x` "
        "in the second.",
        *(100 * share for share in shares),
        holds=[run["history"]["distinct"][-1] > 0.9 for run in shared]
        + [forms == ("def f():\n    x.x = None", "def f():\n    return x.x")],
    )
    shapes = page.numbers("b10-two", r"(\d+) shapes")
    whole = np.reshape(page.numbers("b10-two", r"whole point: (\d+) of the (\d+) .*self, (\d+)%"), (3, 2, 3))
    page.says(
        "The 200 answers above have {:.0f} shapes, where the fine-tuned model's have {:.0f} (they are shorter, too).",
        shapes[2], shapes[0],
    )  # fmt: skip
    page.says(
        "behind first lines with `self` {:.0f} % of the answers earn the whole point, behind those without {:.0f} %: "
        "{:.0f} of {:.0f}, where the fine-tuned model had {:.0f}.",
        whole[2, 0, 2], whole[2, 1, 2], *whole[2, 1, :2], whole[0, 1, 0],
        holds=[whole[2, 0, 2] > whole[0, 0, 2], whole[2, 1, 0] <= whole[0, 1, 0]],
    )  # fmt: skip
    parse, different = np.reshape(page.numbers("b10-held", r"parse +(\d+)%.*answers (\d+)%,"), (5, 2))[-1]
    page.says(
        "With a penalty for repeats and a price for leaving, the answers do not collapse to one text, but to few "
        "shapes.",
        holds=[parse > 85, different > 90, min(shares) > 0.25, 4 * shapes[2] < shapes[0], shapes[1] < shapes[2]],
    )


def brakes(page: Page) -> None:
    """How far the rewards took the model, a token and an answer."""
    ways = "half and half", "half and half, KL .05", "half and half, shared", "half and half, shared, KL .05"
    runs = [runs_of(page, "rewarded", way=way) for way in ways]
    different = [[run["distinct"] for run in some] for some in runs]
    nats = [[run["history"]["KL"][-1] for run in some] for some in runs]
    whole = [[run["history"]["KL"][-1] * run["history"]["length"][-1] for run in some] for some in runs]
    page.says(
        "Without a brake one text is left. With the price alone {:.0f} and {:.0f} % of the answers are different, with "
        "the penalty alone {:.0f} and {:.0f} %.",
        *(100 * share for some in different[1:3] for share in some),
        holds=[len(some) == 2 for some in runs] + [max(different[0]) < 0.01],
    )
    page.says(
        "The KL a token falls from {:.2f} and {:.2f} to {:.2f} and {:.2f} with the price alone, and to {:.2f} and "
        "{:.2f} with the penalty alone.",
        *nats[0], *nats[1], *nats[2],
    )  # fmt: skip
    page.says(
        "(The KL of a whole answer falls less, since the answers are longer.)",
        holds=[
            whole[way][seed] / whole[0][seed] > nats[way][seed] / nats[0][seed] for way in (1, 2, 3) for seed in (0, 1)
        ],
    )
    page.says(
        "Each brake alone did both jobs in part: the penalty kept more answers different, and the price kept the model "
        "nearer to where it began.",
        holds=[min(different[2]) > max(different[1]) > 0.3]
        + [price < penalty < none for none, price, penalty, _ in zip(*nats, strict=True)],
    )


def sharpened(page: Page) -> None:
    pattern = r"one draw +(\d+)%, at least one of 16 for +(\d+) of (\d+) first"
    found = np.reshape(page.numbers("b10-sharp-runs", pattern), (4, 3, 3))
    first, tuned, free, held = found  # by test: whole point with self, without, another is read with self
    page.says(
        "With `self` in the line, one draw went from {:.0f} % to {:.0f} %. But sixteen draws had found the whole point "
        "for all {:.0f} lines before: practice made usual what was possible.",
        tuned[0, 0], held[0, 0], tuned[0, 2],
        holds=[tuned[0, 1] == tuned[0, 2], held[0, 0] > tuned[0, 0] + 5],
    )  # fmt: skip
    lost, gained = page.numbers("b10-sharp-runs", r"(\d+) lines lost, (\d+) gained")
    page.says(
        "Without `self` practice found no more. The fine-tuned model finds the whole point for {:.0f} of {:.0f} lines, "
        "the one without a brake for none, the one with both brakes for {:.0f} (ten lines lost, three gained; of "
        "single draws {:.0f} % earned it before, and {:.0f} % after). So even what is paid for can get rarer.",
        *tuned[1, 1:], held[1, 1], tuned[1, 0], held[1, 0],
        holds=[(lost, gained) == (10, 3), free[1, 1] == 0, held[1, 0] < tuned[1, 0], first[1, 1] < tuned[1, 1]],
    )  # fmt: skip
    page.says(
        "another parameter is read for {:.0f} of {:.0f} lines, where it was {:.0f}.",
        *held[2, 1:], tuned[2, 1],
        holds=held[2, 1] < tuned[2, 1] - 10,
    )  # fmt: skip
    runs = runs_of(page, "sharpened")
    one, sixteen = (
        [[run[when][name] for when in ("before", "after")] for run in runs] for name in ("one draw", "one of sixteen")
    )
    page.says(
        "one draw reads one nearly three times as often; sixteen draws find more in one recorded seed and fewer in the "
        "other",
        holds=[len(runs) == 2, sixteen[0][1] > sixteen[0][0], sixteen[1][1] < sixteen[1][0]]
        + [2.6 < after / before < 3 for before, after in one],
    )
    no_more = [held[1, 1] <= tuned[1, 1], free[1, 1] <= tuned[1, 1], tuned[0, 1] == tuned[0, 2]]
    page.says(
        "here practice made usual what sixteen draws had already found, and sixteen draws found no more than before.",
        holds=no_more,
    )
    page.says("Where sixteen draws could still tell, the reward found no more.", holds=no_more)


def preferred(page: Page) -> None:
    runs = runs_of(page, "preferred")
    begin, early, last = ([run["points"][number] for run in runs] for number in (0, 1, -1))
    chosen, rejected = zip(*(point["held out"] for point in last), strict=True)
    learned = [point["chosen, rejected"][0] for point in last]
    falls = all(a < b < 0 for a, b in zip(rejected, chosen, strict=True))
    page.says(
        "The loss falls because the rejected answers lose more probability than the chosen ones.",
        holds=[falls] + [end["loss"] < after["loss"] for after, end in zip(early, last, strict=True)],
    )
    page.says("it falls, and that of the rejected ones falls more", holds=falls)
    page.says("the tokens of a new answer fall to less than half.", holds=max(ends_of(last, "tokens", 1)) < 11)
    page.says(
        "The chosen answers have lost {:.0f} to {:.0f} nats after eighty steps, the rejected ones {:.0f} to {:.0f}. "
        "Even on pairs that it was trained on the chosen ones lose: {:.0f} to {:.0f} nats.",
        -max(chosen), -min(chosen), -max(rejected), -min(rejected), -max(learned), -min(learned),
    )  # fmt: skip
    lengths = np.round([run["tokens of chosen, rejected"] for run in runs])
    page.says(
        "from {:.0f} to {:.0f} pairs, so each pair is read three or four times. A chosen answer has {:.0f} to {:.0f} "
        "tokens on average, a rejected one {:.0f}.",
        *ends_of(runs, "pairs", 1), lengths[:, 0].min(), lengths[:, 0].max(), lengths[0, 1],
        holds=[round(80 * run["batch"] / run["pairs"], 1) in (3.3, 3.4) for run in runs] + [np.ptp(lengths[:, 1]) <= 1],
    )  # fmt: skip
    page.says(
        "New answers to 160 first lines parse with {:.1f} to {:.1f} % at the start, and with {:.1f} to {:.1f} % after "
        "{} steps. After {} it is {:.1f} to {:.1f} %: the share rose no further, while the loss fell from "
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
    (with_end, fine), (without, _) = np.reshape(page.numbers("b10-endless", r"ended (\d+)%, parse (\d+)%"), (2, 2))
    page.says(
        "It ends all the same, nearly as often as with the end in the mask.",
        holds=[without > 85, abs(with_end - without) < 8],
    )
    ended, parse = page.numbers("b10-parses", r"steps +ended (\d+)%, parse (\d+)%")
    page.says(
        "twenty steps do no worse than the 96 of section 2, one run each.", holds=[with_end >= ended, fine >= parse]
    )
    alone, templated = page.output("b10-chat-row").split("— alone: ")[1].split("— in the template: ")
    page.says(
        "Alone, the request is continued: more of the task follows. In the template it is answered.",
        holds=["The function should take" in alone, "def " not in alone, "return max(num1, num2)" in templated],
    )


def given(page: Page) -> None:
    for figure in ("b10-live", "b10-live-held"):
        words = page.output(figure).partition("[Figure: ")[2].partition("]")[0]
        page.given(words, because="the figure counts its own rows")
    page.given(
        "about 72 minutes to read and predict (estimated, not measured); the code runs in about five minutes on two "
        "CPU cores.",
        "The model is lecture 10's, after 1,960 steps",
        "at most 48 tokens with the end.",
        "the mean reward of G = 8 answers to the same prompt",
        "Then the sum in 1 is",
        "where $Z$ makes the sum 1.",
        "A KL divergence is 0 if both agree",
        "they are drawn at temperature 0.7 with top-p 0.9. In training they are drawn at temperature 1",
        "The mean is 0.25",
        "the loss on the pairs of training falls from ln 2; of the log probabilities",
        "If all eight parse, every advantage is 0",
        "Fifty steps of 8 prompts and 8 answers each.",
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
        "103 with `self` and 48 without (7.2).",
        "Three recorded runs take eighty steps of 16 pairs",
        "the new model gives them 1/2 and 1/2, the old one gave them 1/4 and 3/4",
        "is 1/2 and 3/2, and",
        "is 0.69 and −0.41.",
        "It is 0 where both agree.",
        "the share of first lines for which at least one of 1 to 16 draws passes",
        "and the one without a brake stays at 0.",
        "all four curves reach 1, the fine-tuned one within five draws",
        "here 7/8.",
        "`Writer` draws at temperature 1, and `learner` makes one step of Adam:",
        "one with $p=0.3$, the other with $p=0.1$, and the rest fail; so the mean reward is 0.4.",
        "0.5 gives nearly every answer a push of +0.5",
        "in another form, $e^{-g}+g-1$",
        "because the old probabilities sum to 1.",
        "(β = 0.1)",
        because="defined, a setting, counted once, or cited",
    )

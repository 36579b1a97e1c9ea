"""What lecture 10b says of its numbers, and which outputs and recorded runs they come from."""

import numpy as np
from claims.page import Page


def claims(page: Page) -> None:
    given(page)
    fine_tuning(page)
    reward(page)
    holes(page)
    sharpened(page)
    preferred(page)
    cheaper(page)
    quantised(page)
    mistakes(page)


def run_of(page: Page, part: str, **what) -> dict:
    """The recorded run of seed 1."""
    what = {"seed": 1} | what
    (found,) = [run for run in page.recorded("assistant")["results"][part]["runs"] if what.items() <= run.items()]
    return found


def fine_tuning(page: Page) -> None:
    first, tuned, control = (run_of(page, "tuned", way=way) for way in ("start", "answers", "anywhere"))
    page.says(
        "Of the first model's answers Python accepts {:.0f} %. After one pass over the pairs ({} steps of 32) it "
        "accepts {:.0f} %.",
        100 * first["parse"], page.recorded("assistant")["results"]["tuned"]["steps"], 100 * tuned["parse"],
    )  # fmt: skip
    page.says(
        "Before, {:.0f} % of its answers ended in time, afterwards {:.0f} %. Of those that ended, {:.0f} % parsed "
        "before and {:.0f} % afterwards.",
        100 * first["ended"], 100 * tuned["ended"], 100 * first["parse of ended"], 100 * tuned["parse of ended"],
    )  # fmt: skip
    page.says(
        "It got worse: {:.0f} % parse.",
        100 * control["parse"],
        holds=[control["parse"] < first["parse"] < tuned["parse"], control["ended"] < first["ended"]],
    )
    page.says("the answers have shrunk from {:.0f} tokens to {:.0f}", first["tokens"], tuned["tokens"])
    page.says(
        "A real held-out body costs the tuned model {:.2f} nats a token, the first one {:.2f}.",
        tuned["nats an answer token"], first["nats an answer token"],
    )  # fmt: skip
    before, after = (page.numbers("b10-parses", rf"{when} +ended (\d+)%, parse (\d+)%") for when in ("before", "steps"))
    page.says(
        "One pass over a few thousand answers taught this model to end; its Python is hardly better than before.",
        holds=[after[0] > before[0] + 30, abs(tuned["parse of ended"] - first["parse of ended"]) < 0.06],
    )
    learn, lines = page.numbers("b10-first", r"([\d,]+) short functions to learn from, (\d+) held-out")
    assert [learn, lines] == page.recorded("assistant")["results"]["tuned"]["functions"]


def reward(page: Page) -> None:
    run = run_of(page, "rewarded", way="parses")
    history, (body, share) = run["history"], run["commonest"]
    parse, common = np.array(history["parse"]), np.array(history["share of the commonest"])
    page.says(
        "In the recorded run `return self`: {:.1f} % of the answers to held-out first lines.",
        100 * share,
        holds=[body == "return self", run["parse"] == 1],
    )
    page.says(
        "That 95 of 100 parse, in step {} of the recorded run. Already in step {} one answer fills half of the batch",
        1 + int(np.argmax(parse >= 0.95)), 1 + int(np.argmax(common >= 0.5)),
    )  # fmt: skip
    lengths = history["length"]
    page.says(
        "{:.0f} tokens, {:.0f} in step 10, {:.0f} in step 20, {:.0f} at the end.",
        lengths[0], lengths[9], lengths[19], lengths[-1],
    )  # fmt: skip
    live = page.numbers("b10-practise", r"parse (\d+)%, (\d+)%; tokens (\d+), (\d+); different answers (\d+)%, (\d+)%")
    page.says(
        "The reward was met to the last point, and the text is gone",
        holds=[live[1] > 95, live[3] < 8, live[5] < 20, history["same"][-1] == 1],
    )


def holes(page: Page) -> None:
    half, shared = (run_of(page, "rewarded", way=way) for way in ("half and half", "half and half, shared"))
    page.says(
        "In the recorded run it is {:.0f} % of the answers.",
        100 * half["commonest"][1],
        holds=[half["commonest"][0] == "return self", half["parse"] == 1],
    )
    shape, share = shared["commonest shape"]
    page.says(
        "All answers of the last step differ, and they have few shapes: on held-out first lines {:.0f} % are "
        "`self.x = None` with some name for x.",
        100 * share,
        holds=[shared["history"]["distinct"][-1] == 1, shape == "def f():\n    x.x = None"],
    )
    page.says(
        "It holds: everything ends and parses, and {:.0f} % of the answers to held-out first lines are different.",
        100 * shared["distinct"],
        holds=[shared["ended"] == shared["parse"] == 1],
    )
    live = page.numbers("b10-held", r"parse (\d+)%, (\d+)%; tokens (\d+), (\d+); different answers (\d+)%, (\d+)%")
    page.says(
        "With a penalty for repeats and a price for leaving, the answers do not collapse to one text; about a third "
        "still have one shape.",
        holds=[live[1] > 85, live[5] > 90, 0.28 < share < 0.38],
    )


def sharpened(page: Page) -> None:
    tuned, parsing, shared = (
        run_of(page, part, way=way)
        for part, way in (("tuned", "answers"), ("rewarded", "parses"), ("rewarded", "half and half, shared"))
    )
    page.says(
        "the fine-tuned model {:.2f} nats a token, after the collapse {:.2f}, after the shared points with their price "
        "{:.2f}.",
        *(run["nats an answer token"] for run in (tuned, parsing, shared)),
    )
    page.says(
        "Before any reward one answer of the fine-tuned model parses with {:.0f} %.",
        100 * tuned["parse"],
    )
    page.says(
        "The fine-tuned model reads a parameter other than `self` of its own first line in {:.0f} % of its answers "
        "(one of another first line in {:.0f} %), and after the shared points in {:.0f} %: `self` was enough.",
        100 * tuned["reads its own"], 100 * tuned["reads another's"], 100 * shared["reads its own"],
    )  # fmt: skip
    first, several, held = np.reshape(page.numbers("b10-sharp-runs", r"one draw (\d+)%, .* of 16 (\d+)%"), (3, 2))
    page.says(
        "All of them, or nearly. Even the first model, which was never shown an answer, gets there.",
        holds=[several[1] >= 97, first[1] >= 90],
    )
    page.says(
        "So, as far as parsing goes, nothing new was found: the reward made usual what was possible.",
        holds=[held[0] > several[0] > first[0], held[1] <= several[1] + 3],
    )


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
    page.says("the chosen answers have lost {:.1f} nats each, the rejected ones {:.1f}.", -chosen, -rejected)
    page.says(
        "New answers parse with {:.0f} % after {} steps and with {:.0f} % after {}, while the loss goes on falling, "
        "from {:.2f} to {:.2f}. And one answer spreads: `return` alone, {:.0f} % of all.",
        100 * points[2]["parse"], points[2]["step"], 100 * last["parse"], last["step"], points[2]["loss"],
        last["loss"], 100 * run["commonest"][1],
        holds=[run["commonest"][0] == "return", last["step"] == 80],
    )  # fmt: skip
    page.says("| {} pairs of its own answers |", run["pairs"])


def cheaper(page: Page) -> None:
    """LoRA and quantisation."""
    trained, cost = zip(
        *np.reshape(page.numbers("b10-lora-run", r"([\d,]+) numbers trained: ([\d.]+) nats"), (2, 2)), strict=True
    )
    page.says(
        "In this run LoRA beside all seven matrices fits a little better than beside attention's four, with more than "
        "twice as many numbers.",
        holds=[2 * trained[0] < trained[1], cost[1] < cost[0]],
    )
    page.says(
        "After 32 steps a real held-out answer costs {:.3f} nats a token with attention's four, {:.3f} with all seven",
        *cost,
    )
    page.says("get to {:.3f}.", page.number("b10-lora-run", r"96 steps: ([\d.]+)"))
    rows, blocks = np.reshape(page.numbers("b10-more-figure", r"bits: ([\d.]+) a row, ([\d.]+) in 32s"), (5, 2)).T
    page.says(
        "Fewer bits cost more, and a scale for every 32 numbers costs less than a scale for a row.",
        holds=[bool((np.diff(rows) >= 0).all()), bool((np.diff(blocks) >= 0).all()), bool((blocks <= rows).all())],
    )


def quantised(page: Page) -> None:
    whole = page.number("b10-more-figure", r"as stored: ([\d.]+)")
    four, two, blocks = (
        page.number("b10-more-figure", pattern) - whole
        for pattern in (r"4 bits: ([\d.]+)", r"2 bits: ([\d.]+)", r"2 bits: [\d.]+ a row, ([\d.]+)")
    )
    page.says(
        "At eight and at five bits nothing is lost, at four {:.2f} bits a byte; at two {:.2f} with a scale a row, and "
        "{:.2f} with a scale for 32 numbers.",
        four, two, blocks,
    )  # fmt: skip


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
        "about 65 minutes to read and predict (estimated, not measured); the code runs in about three minutes on two "
        "CPU cores.",
        "The model is lecture 10's, after 1,960 steps",
        "at most 48 tokens.",
        "was cut after 256 tokens",
        "Draw G = 8 answers to the same prompt.",
        "The mean is 0.25",
        "the loss falls from ln 2; of the log probabilities",
        "If all eight parse, every advantage is 0",
        "Fifty steps of 8 prompts and 8 answers each.",
        "(41 bodies against 12)",
        "And let it pay a price of 0.05 for each nat",
        "At the start it is 0, and the loss is ln 2 = 0.69.",
        "trained for eighty steps (β = 0.1).",
        "Fine-tuning moved all 857,216 numbers.",
        "2 trillion tokens: web pages chosen for teaching, code, mathematics |",
        "2.6 million tokens of Python's library, read one and a half times |",
        "460,341 conversations, many written by larger models; two epochs |",
        "3,022 short functions; one epoch |",
        "about 61,000 pairs (UltraFeedback), judged by a larger model; two epochs, β = 0.5 |",
        "one scale a row or one for each 32 numbers",
        "Mixtral stores 47 billion parameters and uses 13 for a token",
        "The gradient is 0, but Adam goes on",
        "The loss of DPO falls from step 60 to step 100.",
        "bodies here are at most 47 tokens long.",
        "for a model of 857,216 numbers.",
        "Shares are over 300 held-out first lines (on the page 200)",
        because="defined, a setting, counted once, or cited",
    )

"""What lecture 2 says of its numbers."""

from __future__ import annotations

import numpy as np
from claims.page import Page
from scipy.special import softmax

SOFT_SMALL, *OTHERS = (f"{start} start, {step} steps" for start in ("soft", "sharp") for step in ("small", "large"))


def claims(page: Page) -> None:
    first_run(page)
    dogs(page)
    by_hand(page)
    scaling(page)
    learning(page)
    causal(page)
    published(page)
    questions(page)


def first_run(page: Page) -> None:
    shapes = page.numbers("cell-9", r"\((\d), (\d)\)")
    page.says("weights ({:.0f}, {:.0f}), result ({:.0f}, {:.0f})", *shapes)
    page.given("(b) weights (9, 3), result (9, 2)", "(c) weights (9, 9), result (9, 4)", because="wrong answers")
    page.given("which are positive and sum to 1.", because="by definition")
    page.says("Self-attention is a softmax of dot products, followed by an average: one row of weights for each token.")


def dogs(page: Page) -> None:
    _, _, brown, black = page.numbers("cell-14", r": ([\d.]+)")
    page.says("so the new vector has {:.3f} of it, and as much of black", brown, holds=brown == black)
    page.given('The embedding of "dog" is (1, 0, 0, 0)', "2.718", "12.436", because="the table, and e")
    page.given("The score is 1 with each of the two dogs and 0 with the seven other tokens", because="by hand")
    page.says("so does one line", holds="agree: True" in page.output("cell-12"))
    looks = page.evidence("02")
    own = looks.numbers("cell-3", r"(?m)^ +16 +([\d.]+)")[0]
    page.says("With ten random vectors of width 16, a token keeps on average {:.2f} of its weight for itself", own)
    page.says("Without matrices a token can find only what resembles it.")

    page.given(
        "a token with the feature dog has the query 4, a token with the feature colour the key 1", because="chosen"
    )
    page.given(
        "All other queries and keys are 0",
        "(Positions count from 0.)",
        "A score of 4 with two tokens and of 0 with seven",
        because="chosen",
    )
    found = page.numbers("cell-17", r"(?:brown|black) ([\d.]+)")
    page.says("So each dog puts {:.0f} % of its weight on colours", 100 * (found[0] + found[1]))
    page.says("in section 1 it was {:.0f} %", 100 * (brown + black))
    page.says("With the query 1 in place of 4 it would be {:.0f} %", 200 * np.e / (2 * np.e + 7))
    equal = [found[0] == found[1] == found[2] == found[3], "symmetric: False" in page.output("cell-17")]
    page.says("each dog finds both colours, and the two rows of $Z$ are equal", holds=equal)
    page.says(
        "Equal tokens get equal outputs; only position can tell them apart.",
        holds=page.output("cell-21").count("True") == 2,
    )


def by_hand(page: Page) -> None:
    weights = page.numbers("cell-25", r"weights of dog \[([\d.]+) ([\d.]+) ([\d.]+)\]")
    page.says("The weights are 1/23.804 = {:.3f}, then 20.086/23.804 = {:.3f} and 2.718/23.804 = {:.3f}.", *weights)
    black = page.number("cell-25", r"Z of dog \[0\. +([\d.]+)\]")
    page.says("Black: 0.042·0 + 0.844·1 + 0.114·0 = {:.3f}", black)
    undivided = page.numbers("cell-25", r"division \[([\d.]+) +([\d.]+) +([\d.]+)\]")
    page.says('the scores are 0, 6 and 2, and "black" gets {:.3f}: nearly all', undivided[1])
    page.given("Step 1.", "Step 2.", "Step 3.", "Step 4.", "Step 5.", because="headings")
    page.given("q_3=(2,0,2,0)", "Answer $$ q_3", because="by hand, checked by the weights")
    page.given('0 for "the", then 2·2 + 2·1 = 6 for "black", then 2·1 + 2·0 = 2', "0, 3 and 1.", because="by hand")
    page.given(
        "0.042·0 + 0.844·0 + 0.114·0 = 0", "1 + 20.086 + 2.718 = 23.804", "$e^3 \\approx 20.086$", because="by hand"
    )


def scaling(page: Page) -> None:
    rows = np.reshape(page.numbers("cell-29", r"(?m)^ *\d+" + r" +([\d.]+)" * 8 + "$"), (5, 8))
    variance, divided, largest, divided_largest, mean, divided_mean, median, divided_median = rows.T
    widths = (4, 16, 64, 256, 1024)
    grows = all(0.9 < v / d < 1.1 for v, d in zip(variance, widths, strict=True))
    page.says("keeps the variance at 1.", holds=[grows, all(0.9 < v < 1.1 for v in divided)])
    undivided, by_root = (largest_weights(page, divisor) for divisor in (1, 8))  # of the nine rows
    page.says("(c) above 0.8", holds=undivided.mean() > 0.8)
    page.says(
        "In every row one key takes most of the weight, before anything is learned.", holds=(undivided > 0.5).all()
    )
    page.says("the mean largest weight falls from {:.2f} to {:.2f}.", undivided.mean(), by_root.mean())
    page.says(
        "of 32 weights rises towards 1, or stays below 0.2 with the division",
        holds=[(np.diff(largest) > 0).all(), max(divided_largest) < 0.2],
    )
    root = divided_median * np.sqrt(widths)
    page.says(
        "with the division it falls slowly, as one over the root of the width; without it, it is larger up to width "
        "64, and then falls far below.",
        holds=[np.ptp(root) < 0.1 * root.min(), (median[:3] > divided_median[:3]).all(),
               median[3] < divided_median[3], median[4] < divided_median[4] / 20],
    )  # fmt: skip
    page.says(
        "On average the softmax passes more gradient without the division, at every width.",
        holds=(mean > 2 * divided_mean).all(),
    )
    page.says(
        "But at $d_k = 1024$ this mean of {:.4f} comes from fewer than half of the rows: the median row passes "
        "{:.4f}. With the division mean and median are {:.4f} and {:.4f}: the typical row passes as much as the mean.",
        mean[4], median[4], divided_mean[4], divided_median[4],
    )  # fmt: skip
    page.says(
        "the median row still passes more without the division, {:.4f} against {:.4f}.", median[2], divided_median[2]
    )
    page.says("and its typical row passes hardly any gradient", holds=median[4] < 0.001 * median[0])
    page.says("and a saturated row passes hardly any gradient;")
    page.given("mean 0 and variance 1. Each product has variance 1", "so it is 1 at any width", because="derived")
    page.given(
        "one weight is nearly 1, all others are nearly 0", "is close to 0 if each weight is close to 0 or to 1.",
        "neither independent nor of variance 1.", "keeps the variance of the scores at 1;", "here 1 or",
        because="derived",
    )  # fmt: skip
    page.given("Equal weights would be 0.11.", "(a) about 0.2", "(b) about 0.5", because="a question; 1/9")
    page.given("Nine rows are few, and 64 is one width.", "At 64, the width of a head", because="the cell's sizes")
    page.given(
        "400 queries with 32 keys each",
        "as the mean and the median of the 400 queries",
        "equal weights would be 0.03",
        because="the cell's sizes; 1/32",
    )
    runs = page.recorded("reader_design")["results"]["runs"]
    by_rate = page.recorded("reader_design")["results"]["by rate"]
    own = {  # of each design, the accuracies at the rate with the lowest loss
        name: [run["accuracy"] for run in min(at.values(), key=lambda runs: sum(run["last loss"] for run in runs))]
        for name, at in by_rate.items()
    }
    page.says(
        "why the division helps to train the small model of section 6 ($d_k = 64$, four learning rates",
        holds=[mine < best for name in OTHERS for mine, best in zip(own[name], own[SOFT_SMALL], strict=True)],
    )
    before = {name: [run["before"]["Jacobian"] for run in runs[name]] for name in runs}
    page.says(  # of the softmax alone; the chain rule makes the formula with its division smaller still
        "So gradients do not explain",
        holds=min(before["sharp start, large steps"]) > max(before[SOFT_SMALL]),
    )


def largest_weights(page: Page, divisor: float) -> np.ndarray:
    """The largest weight of each row (9,) of the live figure, from the scores that its stored output holds."""
    drawn = page.cells["cell-32"].outputs[0].data["application/vnd.vegalite.v5+json"]
    scores = np.array([row["score"] for row in drawn["datasets"]["rows_0"]])  # (9, 9)
    return softmax(scores / divisor, axis=-1).max(axis=-1)


def learning(page: Page) -> None:
    clue, equal = page.numbers("cell-37", r"on the clue ([\d.]+); equal weights would give ([\d.]+)")
    runs = page.recorded("reader_design")["results"]["runs"][SOFT_SMALL]
    page.says("the clue gets several times its equal share", holds=[
        clue > 3 * equal, all(run["weight on the clue"] > 3 * run["equal weights"] for run in runs)
    ])  # fmt: skip
    accuracy = [run["accuracy"] for run in runs]
    page.says(
        "Other seeds give an accuracy of {:.2f} and {:.2f}; the page shows the best of three.", *accuracy[1:],
        holds=[accuracy[0] == max(accuracy), page.number("cell-37", r"accuracy ([\d.]+)") == round(accuracy[0], 2)],
    )  # fmt: skip
    page.given("The floor is about one half: each ambiguous word has two meanings", because="how clauses are drawn")
    below = page.number("cell-37", r"on the clue: (\d+)%")
    others = [run["correct, below 0.1 on the clue"] for run in runs[1:]]
    page.says(
        "Of all correct answers, {:.0f} % come with less than 0.1 on the clue, and with the two other seeds {:.0f} and "
        "{:.0f} %", below, *(100 * share + 1e-6 for share in others),
    )  # fmt: skip


def causal(page: Page) -> None:
    first, none, second, other = page.numbers("cell-41", r"(?:brown|black) ([\d.]+)")
    page.says("and becomes brown", holds=[first > 0.9, none == 0, second == other])
    page.given("its score becomes −10⁹, so its weight is 0, and the others still sum to 1", because="by definition")
    page.says("Block the score, never the weight: one line before the softmax makes attention causal.")
    over_queries, late = (
        page.numbers("cell-44", row + r" +\[ *([\d.]+) +([\d.]+) +([\d.]+) *\]")
        for row in ("axis 0\\), row sums:", "after the softmax, row sums:")
    )
    page.says("With a late mask, the blocked share is lost", holds=[max(late) <= 1, min(late) < 0.9])
    page.says("The row sums show them", holds=[abs(sum(over_queries) - 3) < 0.02, 1 not in over_queries])
    page.given("the weights of each key sum to 1", because="by definition")


def published(page: Page) -> None:
    record = page.recorded("caption_in_smollm2")["results"]
    one, other = page.numbers("real-head", r"weight ([\d.]+) on (?:brown|black)")
    page.says(
        "(b) It puts {:.2f} on black , and the first \"dog\" {:.2f} on brown .", other, one,
        holds=[min(one, other) > 0.9],
    )  # fmt: skip
    stored = [weights_of(kept, 2, 1) for kept in list(record["sentences"].values())[:1]]
    page.says("Each dog looks at its own colour.", holds=[abs(weight - one) < 0.01 for weight in stored])
    young, brown, old, black = page.numbers("apart", r"position \d+: ([\d.]+) on \w+, ([\d.]+) on \w+")
    page.says(
        "Now the two dogs put {:.2f} and {:.2f} on young and old , and hardly anything on their colours.", young, old,
        holds=[brown < 0.1, black < 0.1],
    )  # fmt: skip
    page.says("a control sentence tells what the head really looks for.", holds=[young > 0.8, old > 0.8])
    page.given(
        "134.5 million numbers in 30 blocks",
        "from a file with 4 bits a number",
        "It sees all nine tokens, so equal weights would be 0.11.",
        "Block 16, head 0.",
        "block 16, head 0 of SmolLM2",
        "Section 8 is one head of 270 on two sentences.",
        "like our dogs in section 2",
        "fetches it once (93 MB)",
        because="the model's sizes, and its file",
    )


def weights_of(kept: dict, query: int, key: int) -> float:
    """The weight from one token to another, of the stored queries and keys."""
    q, k = np.array(kept["queries"]), np.array(kept["keys"])
    return float(softmax(q[query] @ k[: query + 1].T / 8)[key])


def questions(page: Page) -> None:
    page.given("have the scores 112 and 96", "Divided by 8 the scores are 14 and 12", because="J. Alammar's example")
    page.given("All scores of a row lie between 112 and 113", because="a question")
    page.given("The ratio of two weights is at most $e = 2.72$", because="derived")
    page.given("about 63 minutes to read", because="counted by tests/lecture/test_lectures.py")
    page.given("random queries and keys of width 64", because="the cell's sizes")

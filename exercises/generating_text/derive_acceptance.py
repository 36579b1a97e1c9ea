"""Lab 08b, exercise `derive_acceptance`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from exercises.drawing import by_hand, drawn_until
from exercises.formulas.attention import softmax

exercise = Exercise("derive_acceptance", returns=("accepted", "residual"))


@exercise.formula
def acceptance(target: np.ndarray, draft: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The accepted share Σ min(p, q), and max(p − q, 0) divided by its sum (Leviathan et al. 2023, appendix A).

    p (…, V), q (…, V) -> (…,), (…, V); where p = q the second result is p.
    """
    both = np.minimum(target, draft)
    accepted = both.sum(axis=-1)
    lacking = target - both
    left = lacking.sum(axis=-1, keepdims=True)
    residual = np.where(left > 0, lacking / np.where(left > 0, left, 1), target)
    return np.asarray(accepted), residual


def _pair(rng, *shape: int) -> dict[str, np.ndarray]:
    """Two laws (…, V) that differ clearly, each in both directions."""

    def draw() -> dict[str, np.ndarray]:
        target, draft = softmax(1.2 * rng.normal(size=(2, *shape)))
        return {"target": target.astype("float32"), "draft": draft.astype("float32")}

    def is_clear(drawn: dict[str, np.ndarray]) -> bool:
        accepted, _ = acceptance(drawn["target"], drawn["draft"])
        return bool((accepted > 0.3).all() and (accepted < 0.75).all())

    return drawn_until(is_clear, draw)


def _in_64ths(rng, words: int) -> np.ndarray:
    """A law of whole 64ths, none of them 0: its sum is exactly 1 in every float type, in whatever order."""
    cuts = np.sort(rng.permutation(63)[: words - 1] + 1)
    return (np.diff(np.concatenate([[0], cuts, [64]])) / 64).astype("float32")


@exercise.group("accepted share and residual", points=2)
def values(rng):
    yield by_hand("two tokens", target=[0.75, 0.25], draft=[0.25, 0.75])
    yield by_hand("three tokens", target=[0.5, 0.375, 0.125], draft=[0.25, 0.25, 0.5])
    yield from (_pair(rng, 7), _pair(rng, 11))


exercise.group("one row for each position", rows=lambda rng: [_pair(rng, 3, 7), _pair(rng, 2, 3, 5)])


@exercise.group(
    "equal laws, nearly equal ones, and tokens that one of them never writes",
    must_fail_for=("not_normalised", "target_again", "absolute_difference"),
)
def edges(rng):
    equal, zeros, near = _in_64ths(rng, 7), _pair(rng, 11), _pair(rng, 5)
    order = rng.permutation(11)
    zeros["target"][order[:2]] = 0.0
    zeros["draft"][order[1:4]] = 0.0
    zeros = {name: (law / law.sum()).astype("float32") for name, law in zeros.items()}
    mixed = _pair(rng, 3, 7)
    mixed["target"][1] = mixed["draft"][1] = equal
    close = {name: law.astype("float64") for name, law in near.items()}
    far, close["draft"] = close["draft"], 0.9 * close["target"] + 0.1 * close["draft"]
    closer = [{**close, "draft": (1 - share) * close["target"] + share * far} for share in (0.01, 0.001)]
    return [
        Case(mixed, "target (3, 7), draft (3, 7), equal in row 1"),
        Case(zeros, "target (11,), draft (11,), some tokens have probability 0, one of them in both"),
        Case(close, "target (5,), draft (5,), float64, nearly equal", scale=30.0),
        *(
            Case(inputs, f"target (5,), draft (5,), float64, equal up to {share}", scale=scale)
            for inputs, scale, share in zip(closer, (300.0, 3000.0), ("1 %", "0.1 %"), strict=True)
        ),
    ]


ACCEPTED = "both.sum(axis=-1)"
LACKING = "lacking = target - both"
RESIDUAL = "np.where(left > 0, lacking / np.where(left > 0, left, 1), target)"

exercise.mistakes(
    target_again=edit(RESIDUAL, "target + 0 * lacking")
    | "After a rejection you draw from p itself. Then tokens that the draft proposes come too often: they had a "
    "chance before." | "Which part of p(x) do the accepted tokens already provide? Only the rest is left to be drawn.",
    not_normalised=edit(RESIDUAL, "np.where(left > 0, lacking, target)")
    | "The residual does not sum to 1. It is a law to draw from: divide it by its sum.",
    target_where_larger=edit("lacking = target - both", "lacking = np.where(target > draft, target, 0)")
    | "The residual holds p where p is larger than q. A part of p comes out already, because it is accepted there."
    | "How often does x come out because it was proposed and accepted? Only what is lacking to p(x) is left.",
    absolute_difference=edit(LACKING, "lacking = np.abs(target - draft)")
    | "The residual holds tokens that the draft proposes too often as well. Only what is lacking to p belongs there."
    | "What is the sign of p(x) − q(x) where the draft proposes x too rarely?",
    other_way=edit(LACKING, "lacking = draft - both")
    | "The residual holds q − p: the tokens that the draft proposes too often. Tokens come too rarely where p is "
    "larger than q: the residual is p − q there."
    | "What is the sign of p(x) − q(x) where the draft proposes x too rarely?",
    under_the_target=edit(ACCEPTED, "(target * both / np.where(draft > 0, draft, 1)).sum(axis=-1)")
    | "The share is a mean over tokens of the target. It is the draft that proposes: weight by q."
    | "With which probability is x the drafted token?",
    tokens_unweighted=edit(ACCEPTED, "(both / np.where(draft > 0, draft, 1)).mean(axis=-1)")
    | "Every token counts the same in your share. A token counts as often as the draft proposes it."
    | "With which probability is x the drafted token?",
    agreement=edit(ACCEPTED, "(target * draft).sum(axis=-1)")
    | "Σ p·q is the probability that two independent draws agree. A drafted token can also be accepted where the "
    "target would have drawn another one."
    | "Multiply q(x) by min(1, p(x)/q(x)), first where p is larger and then where q is.",
    divided_by_accepted=edit(RESIDUAL, "np.where(left > 0, lacking / np.where(left < 1, 1 - left, 1), target)")
    | "The residual is divided by the accepted share, and does not sum to 1. How much is lacking in all?",
    rejected_share=edit(ACCEPTED, "1 - both.sum(axis=-1)") | "This is the share that is rejected.",
    counted_twice=edit(ACCEPTED, "1 - np.abs(target - draft).sum(axis=-1)")
    | "1 − Σ|p − q| counts each difference twice: what one token has too much, the others lack."
    | "How large are the positive differences together, compared with the negative ones?",
    unweighted_sum=edit(ACCEPTED, "(both / np.where(draft > 0, draft, 1)).sum(axis=-1)")
    | "Σ min(1, p/q) counts every token fully, and is larger than 1. A token counts as often as it is proposed."
    | "With which probability is x the drafted token?",
    difference=edit(ACCEPTED, "np.abs(target - draft).sum(axis=-1)")
    | "Σ|p − q| measures what differs, twice. The share of what is accepted is asked for."
    | "What should the share be where p = q?",
    small_number_added=edit(RESIDUAL, "lacking / (left + 1e-9)")
    | "Where p = q your residual is 0 (a small number in the divisor does that, too). There r should be p, by "
    "agreement." | "`np.where(left > 0, …, p)` decides row by row.",
    zero_by_zero=edit(RESIDUAL, "lacking / left")
    | "In a row where p = q, beside other rows, the residual is 0/0. There nothing is rejected, and r should be p."
    | "`np.where(left > 0, …, p)` decides row by row, and computes both sides: its divisor has to be 1 there.",
    differences_not_cut=edit(LACKING, "lacking = target - draft")
    | edit("left = lacking.sum(axis=-1, keepdims=True)", "left = 1 - both.sum(axis=-1, keepdims=True)")
    | "The residual has negative entries: it is p − q for every token. Where q is larger nothing is lacking to p."
    | "What is the smallest probability that a token may have in the residual?",
    target_times_rejected=edit(LACKING, "lacking = target * (1 - both / np.where(draft > 0, draft, 1))")
    | "The residual is p(x) · (1 − min(1, p/q)). What is lacking to p(x) is p(x) less what was drafted and accepted."
    | "How often does x come out because it was proposed and accepted? Only what is lacking to p(x) is left.",
    ratio_inverted=edit(ACCEPTED, "(draft * np.minimum(1, draft / np.maximum(target, 1e-30))).sum(axis=-1)")
    | "A drafted token is accepted with min(1, q/p) in your share. It should be min(1, p/q)."
    | "The draft proposes x too often. Should it always be accepted?",
    nearly_equal_is_equal=edit(RESIDUAL, "np.where(left > 0.01, lacking / np.where(left > 0, left, 1), target)")
    | "Where p and q differ by little, your residual is p. It should be p only where they are equal."
    | "How far from 1 is the accepted share of two laws that differ by a thousandth?",
    exchanged=edit("return np.asarray(accepted), residual", "return residual, np.asarray(accepted)")
    | "Share and residual are exchanged: the share should come first.",
)

exercise.advice(
    values=Advice(
        value="Token x is drafted with the probability q(x), and then accepted with min(1, p(x)/q(x)). Multiply "
        "the two before you add up. What is lacking to p(x) after that has to come from the residual.",
        nan="Both laws sum to 1, so their differences sum to 0. Only the positive ones belong to the residual.",
    ),
    rows=Advice(value="Sums run over the V tokens, the last axis. Each row has a share and a residual of its own."),
    edges=Advice(
        nan="Two divisions can fail: by q(x) where the draft never writes x, and by the rejected share where p = q. "
        "min(1, p/q) · q can be written without a quotient.",
        value="Where p = q nothing is rejected: the share is 1, and the residual is p by agreement, row by row. "
        "Where p and q differ only a little, the residual is still theirs.",
    ),
)
exercise.hints(
    values=(
        "The probability that x is drafted *and* accepted is q(x) · min(1, p(x)/q(x)). Write it without a quotient.",
        "A token comes out either accepted or from r: p(x) = (drafted and accepted) + (share rejected) · r(x). Solve "
        "for r.",
    ),
    rows="`sum(axis=-1)` loses an axis. `keepdims=True` keeps it for a division.",
    edges="Compute the rejected share of each row first. Divide by it where it is above 0, and return p elsewhere: "
    "`np.where` computes both sides, so give it a divisor of 1 there.",
)
exercise.worked = (
    "The draft proposes x with the probability q(x), and the target accepts it with min(1, p(x)/q(x)).\n"
    "The product is the probability that x is proposed and accepted: q(x) if q(x) is smaller, and p(x) otherwise. "
    "In short it is min(p(x), q(x)).\n"
    "The accepted share is the sum over all tokens, Σ min(p, q). It is 1 where p = q.\n"
    "A token x comes out in two ways: accepted, with min(p(x), q(x)), or from the residual, with (1 − accepted) · "
    "r(x). Together this has to be p(x).\n"
    "So (1 − accepted) · r(x) = p(x) − min(p(x), q(x)) = max(p(x) − q(x), 0): only what is lacking to p comes "
    "from r.\n"
    "The sum of p(x) − min(p(x), q(x)) over all tokens is 1 − accepted, because p sums to 1. Divided by it, r "
    "sums to 1.\n"
    "In the example by hand, 0.6 is accepted, and only the first token lacks 0.4: r = (1, 0, 0)."
)

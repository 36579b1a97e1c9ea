"""Lab 10b, exercise `derive_best_policy`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from exercises.drawing import normal
from exercises.formulas.attention import softmax

exercise = Exercise("derive_best_policy", returns=("policy",))


@exercise.formula
def best_policy(reference: np.ndarray, rewards: np.ndarray, beta: float) -> np.ndarray:
    """q e^(r/β) divided by its sum (Rafailov et al. 2023, equation 4). reference, rewards (…, V) -> (…, V)."""
    pull = rewards / beta
    known = np.where(reference > 0, pull, -np.inf)
    powers = np.exp(pull - known.max(axis=-1, keepdims=True))
    weighted = reference * np.where(reference > 0, powers, 0)
    return weighted / weighted.sum(axis=-1, keepdims=True)


def _inputs(rng, *shape: int, beta: float, size: float = 1.0, dtype: str = "float32") -> dict:
    return {
        "reference": softmax(normal(rng, *shape)).astype(dtype),
        "rewards": (size * rng.normal(size=shape)).astype(dtype),
        "beta": beta,
    }


@exercise.group("one prompt, other prices", points=2)
def values(rng):
    yield Case(_inputs(rng, 7, beta=1.0), "7 answers, beta=1")
    yield Case(_inputs(rng, 5, beta=0.5), "5 answers, beta=0.5")
    yield Case(_inputs(rng, 11, beta=3.0), "11 answers, beta=3")


@exercise.group("one row for each prompt")
def rows(rng):
    yield Case(_inputs(rng, 3, 7, beta=0.7), "reference (3, 7), rewards (3, 7), beta=0.7")
    yield Case(_inputs(rng, 2, 3, 5, beta=2.0), "reference (2, 3, 5), rewards (2, 3, 5), beta=2")


@exercise.group("answers that the reference never writes, large rewards, a small price")
def edges(rng):
    never, large = _inputs(rng, 3, 7, beta=0.8), _inputs(rng, 3, 5, beta=0.001, size=0.002)
    never["reference"][:, [1, 4]] = 0.0
    never["reference"] /= never["reference"].sum(axis=-1, keepdims=True)
    never["rewards"][:, 1] += 3.0
    large["rewards"] += np.float32(2.0)
    yield Case(never, "two answers have probability 0 in the reference, one of them earns most")
    yield Case(large, "rewards near 2, beta=0.001", scale=500.0)
    apart = _inputs(rng, 3, 5, beta=0.001, size=0.002)
    apart["rewards"] += rng.permutation(3)[:, None].astype("float32")
    yield Case(apart, "rewards near 0 in one row, near 1 or 2 in the others, beta=0.001", scale=500.0)


WEIGHTED = "reference * np.where(reference > 0, powers, 0)"
NORMAL = "weighted / weighted.sum(axis=-1, keepdims=True)"
PULL = "pull = rewards / beta"

exercise.mistakes(
    reference_forgotten=edit(WEIGHTED, "powers")
    | "The reference is missing: what it would hardly write gets as much as what it likes to write."
    | "Give all answers the same reward. Which law is the best one then?",
    beta_multiplied=edit(PULL, "pull = rewards * beta")
    | "The rewards are multiplied by β. A high price should weaken them."
    | "Which law is the best one when β is very large?",
    beta_ignored=edit(PULL, "pull = rewards + 0 * beta")
    | "`beta` changes nothing. A high price keeps the law near the reference.",
    beta_divides_all=edit(WEIGHTED, "np.where(reference > 0, reference ** (1 / beta), 0) * powers")
    | "The logarithm of the reference is divided by β as well. Only the reward should be."
    | "In the expression that is made "
    "large, which terms have β in front, r or ln p − ln q?",
    beta_on_reference=edit((PULL, "pull = rewards"), (WEIGHTED, "np.where(reference > 0, reference**beta, 0) * powers"))
    | "β stands as a power at the reference. It should divide the reward."
    | "Write ln p(a) = … and look where β stands.",
    linear=edit("np.exp(pull - known.max(axis=-1, keepdims=True))", "np.maximum(pull, 0)")
    | "The reference is multiplied by the reward itself. The logarithms add up, so it is e^(r/β)."
    | "ln p(a) is ln q(a) + r(a)/β + a constant. What is p(a)?",
    not_normalised=edit(NORMAL, "reference * np.exp(pull)") | "This does not sum to 1. Divide it by its sum.",
    without_side_condition=edit(NORMAL, "reference * np.exp(pull - 1)")
    | "This does not sum to 1: the side condition is missing. The derivative by p(a) has to be the same for all "
    "answers, not 0.",
    exponential_missing=edit(
        NORMAL,
        "(np.log(np.maximum(reference, 1e-30)) + pull)"
        " / (np.log(np.maximum(reference, 1e-30)) + pull).sum(axis=-1, keepdims=True)",
    )
    | "Logarithms are divided by their sum. Take the exponential first: ln q + r/β is ln p, up to a constant.",
    added=edit(WEIGHTED, "np.exp(reference + pull)")
    | "The probability of the reference is added to the reward. It is its logarithm that should be added to r/β.",
    greedy=edit(NORMAL, "np.eye(rewards.shape[-1])[known.argmax(axis=-1)] + 0 * weighted")
    | "Everything goes to the answer with the most points. That is the best law without a price; with one, it lies "
    "between this and the reference.",
    cost=edit(PULL, "pull = -rewards / beta")
    | "Answers with few points become likelier: the sign of the reward is wrong.",
    overflow=edit("pull - known.max(axis=-1, keepdims=True)", "pull")
    | edit("(reference > 0, powers, 0)", "(reference > 0, np.where(pull > 88.7, np.inf, powers), 0)")
    | "e^(r/β) is too large for float32 where β is small. The largest r/β can be taken off first: it cancels."
    | "What happens to a softmax if you take the same number off all scores?",
    largest_of_all=edit("known.max(axis=-1, keepdims=True)", "known.max()")
    | "The largest r/β of all rows is taken off, so that a row far below it becomes 0/0. Each row should lose its own "
    "largest one." | "Which axis does your maximum run over?",
    square_root=edit("reference * np", "np.sqrt(reference) * np")
    | "Only the root of the reference counts."
    | "Give all answers the same reward. Which law is the best one then?",
    over_everything=edit(
        ("known.max(axis=-1, keepdims=True)", "known.max()"), ("weighted.sum(axis=-1, keepdims=True)", "weighted.sum()")
    )
    | "The sum runs over all prompts. Each row is a law of its own.",
    mixture=edit(NORMAL, "(beta * reference + softmax(rewards / beta)) / (beta + 1)")
    | "This is a mixture of the reference and of a law of the rewards. Derive it: what is the derivative by p(a)?",
)

exercise.advice(
    values=Advice(
        value="Two tests that need no derivation: where all rewards are equal, the best law is the reference; where β "
        "is very large, too.",
        nan="Take the largest r/β off before the exponential.",
    ),
    rows=Advice(value="Each row is a law of its own: sums run over the last axis."),
    edges=Advice(
        nan="ln 0 is −inf, and e^(r/β) may be too large for float32. Multiply by the reference in place of adding its "
        "logarithm, or let a softmax do it: it takes the largest score off.",
        value="What the reference never writes, no finite reward can pay: its price is infinite.",
    ),
)
exercise.hints(
    values=(
        "Under the side condition Σ p = 1, the derivative by p(a) is the same number for every answer: r(a) − β (ln "
        "p(a) − ln q(a) + 1) = constant.",
        "Solve it for ln p(a). The constant is what makes the sum 1.",
    ),
    rows="`keepdims=True` keeps the axis of the sum for the division.",
    edges="`ops.softmax` or `scipy.special.softmax` of ln q + r/β: which entry does ln 0 give?",
)
exercise.worked = (
    "Let p(a) be the probability of answer a. What is made large is Σ p(a) r(a) − β Σ p(a) (ln p(a) − ln q(a)).\n"
    "The side condition is Σ p(a) = 1. With a multiplier λ for it, the derivative by p(a) has to vanish.\n"
    "The derivative is r(a) − β (ln p(a) − ln q(a)) − β − λ, because the derivative of p ln p is ln p + 1.\n"
    "So ln p(a) = ln q(a) + r(a)/β + c, where c collects all that is the same for every answer.\n"
    "Exponentials on both sides give p(a) = q(a) · exp(r(a)/β) · e^c, and e^c is what makes the sum 1.\n"
    "Where β is large, the second factor is nearly 1 and p is q. Where β is small, the best answers get all of it."
)

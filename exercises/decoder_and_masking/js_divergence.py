"""Lab 08, exercise `js_divergence`."""

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.decoder_and_masking import shared
from exercises.decoder_and_masking.shared import distribution, pair_types, pairs, zeros_in_p
from exercises.formulas.losses import kl_divergence

exercise = Exercise("js_divergence", uses=("kl_divergence",))


@exercise.formula
def js_divergence(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """JS(p, q) = ½ KL(p ‖ m) + ½ KL(q ‖ m) with m = ½ (p + q), in nats (Lin 1991)."""
    m = (p + q) / 2
    total = kl_divergence(p, m) + kl_divergence(q, m)
    mean = total / 2
    return np.asarray(mean)


exercise.group("right values, in nats", points=2, values=pairs(5, 7, 2))
exercise.group("zeros in p", zeros_in_p=zeros_in_p)


@exercise.group("zeros on both sides, nothing in common")
def extremes(rng):
    p, q = np.zeros(5), np.zeros(5)
    p[:2], q[2:] = distribution(rng, 2), distribution(rng, 3)
    yield Case({"p": p, "q": q}, "p and q (5,) have no word in common")
    yield Case({"p": distribution(rng, 7, zeros=3), "q": distribution(rng, 7, zeros=2)}, "zeros in p and in q")


exercise.group("TensorFlow tensors", types=pair_types)

MIDDLE = "(p + q) / 2"
BOTH = "kl_divergence(p, m) + kl_divergence(q, m)"

exercise.mistakes(
    log_to_base_2=shared.LOG_TWO,
    log_to_base_10=shared.LOG_TEN,
    half_forgotten=edit("total / 2", "total")
    | "The ½ is missing: JS is the mean of the two divergences."
    | "Two distributions with nothing in common should give ln 2. What do yours give?",
    middle_not_halved=edit(MIDDLE, "p + q") | "Your m is p + q; it should be their mean." | "What does your m sum to?",
    geometric_middle=edit(MIDDLE, "np.sqrt(p * q)") | "Your m is √(p·q); it should be the mean of p and q.",
    distance=edit("np.asarray(mean)", "np.sqrt(mean)") | "This is the square root, the Jensen–Shannon distance.",
    one_side_only=edit(BOTH, "2 * kl_divergence(p, m)") | "Only KL(p ‖ m) counts; KL(q ‖ m) is missing.",
    from_the_middle=edit(BOTH, "kl_divergence(m, p) + kl_divergence(m, q)")
    | "The divergences are KL(m ‖ p) and KL(m ‖ q); they should be KL(p ‖ m) and KL(q ‖ m)."
    | "Which of the two distributions of a KL may have zeros where the other has none?",
    no_middle=edit(BOTH, "kl_divergence(p, q) + kl_divergence(q, p)")
    | "This uses KL(p ‖ q) and KL(q ‖ p); both p and q should be compared with the middle m.",
    zero_times_log_zero=shared.NOT_A_NUMBER,
)

exercise.advice(
    zeros_in_p="A term whose p is 0 counts as 0, whatever q is there. Choose the terms before you take logarithms.",
    extremes="The middle m is positive wherever p or q is, so no term is infinite. Nothing in common gives ln 2.",
)
exercise.hints(
    values=("First the distribution in the middle, m = ½ (p + q).", "Then call your `kl_divergence` twice."),
    types="`np.asarray` turns a tensor into a NumPy array, and `float` turns the result into a Python number.",
)

"""Lab 08, exercise `js_divergence`."""

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.decoder_and_masking.shared import (
    LOG_TEN,
    LOG_TWO,
    NOT_A_NUMBER,
    distribution,
    pair_types,
    pairs,
    zeros_in_p,
)
from exercises.formulas.losses import kl_divergence

exercise = Exercise("js_divergence", call=("p", "q"), uses=("kl_divergence",))


@exercise.formula
def js_divergence(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """JS(p, q) = ½ KL(p ‖ m) + ½ KL(q ‖ m) with m = ½ (p + q), in nats (Lin 1991)."""
    m = (p + q) / 2
    total = kl_divergence(p, m) + kl_divergence(q, m)
    mean = total / 2
    return np.asarray(mean)


@exercise.group("right values, in nats", points=2)
def values(rng: Generator) -> list[Case]:
    return pairs(5, 7, 2)(rng)


@exercise.group(
    "zeros in p",
    points=1,
    name="zeros_in_p",
    advice="A term whose p is 0 counts as 0, whatever q is there. Choose the terms before you take logarithms.",
)
def zeros_in_p_cases(rng: Generator) -> list[Case]:
    return zeros_in_p(rng)


@exercise.group(
    "zeros on both sides, nothing in common",
    points=1,
    advice="The middle m is positive wherever p or q is, so no term is infinite. Nothing in common gives ln 2.",
)
def extremes(rng: Generator) -> list[Case]:
    p, q = np.zeros(5), np.zeros(5)
    p[:2], q[2:] = distribution(rng, 2), distribution(rng, 3)
    return [
        Case({"p": p, "q": q}, description="p and q (5,) have no word in common"),
        Case(
            {"p": distribution(rng, 7, zeros=3), "q": distribution(rng, 7, zeros=2)}, description="zeros in p and in q"
        ),
    ]


@exercise.group("TensorFlow tensors", points=1)
def types(rng: Generator) -> list[Case]:
    return pair_types(rng)


MIDDLE = "(p + q) / 2"
BOTH = "kl_divergence(p, m) + kl_divergence(q, m)"

exercise.mistakes(
    log_to_base_2=LOG_TWO,
    log_to_base_10=LOG_TEN,
    half_forgotten=wrong(
        "The ½ is missing: JS is the mean of the two divergences.",
        ("total / 2", "total"),
        hint="Two distributions with nothing in common should give ln 2. What do yours give?",
    ),
    middle_not_halved=wrong(
        "Your m is p + q; it should be their mean.", (MIDDLE, "p + q"), hint="What does your m sum to?"
    ),
    geometric_middle=wrong("Your m is √(p·q); it should be the mean of p and q.", (MIDDLE, "np.sqrt(p * q)")),
    distance=wrong("This is the square root, the Jensen–Shannon distance.", ("np.asarray(mean)", "np.sqrt(mean)")),
    one_side_only=wrong("Only KL(p ‖ m) counts; KL(q ‖ m) is missing.", (BOTH, "2 * kl_divergence(p, m)")),
    from_the_middle=wrong(
        "The divergences are KL(m ‖ p) and KL(m ‖ q); they should be KL(p ‖ m) and KL(q ‖ m).",
        (BOTH, "kl_divergence(m, p) + kl_divergence(m, q)"),
        hint="Which of the two distributions of a KL may have zeros where the other has none?",
    ),
    no_middle=wrong(
        "This uses KL(p ‖ q) and KL(q ‖ p); both p and q should be compared with the middle m.",
        (BOTH, "kl_divergence(p, q) + kl_divergence(q, p)"),
    ),
    zero_times_log_zero=NOT_A_NUMBER,
)


exercise.hints("First the distribution in the middle, m = ½ (p + q).", "Then call your `kl_divergence` twice.")
exercise.hints(
    "`np.asarray` turns a tensor into a NumPy array, and `float` turns the result into a Python number.", group="types"
)

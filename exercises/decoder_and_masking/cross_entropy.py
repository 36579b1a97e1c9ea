"""Lab 08, exercise `cross_entropy`."""

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.decoder_and_masking.shared import (
    AVERAGED,
    EPS_ADDED,
    LOG_TEN,
    LOG_TWO,
    NOT_A_NUMBER,
    OPEN_Q,
    SWAPPED,
    ZERO_Q_SKIPPED,
    pair_types,
    pairs,
    zeros_in_p,
    zeros_in_q,
)
from exercises.formulas.losses import cross_entropy

exercise = Exercise("cross_entropy", call=("p", "q"))
exercise.formula(cross_entropy)


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
    "a zero of q where p is positive",
    points=1,
    name="zeros_in_q",
    fixed="the answer is inf wherever q is 0 and p is not",
    advice="q says that this word cannot occur, and p says that it does: the cross-entropy is inf.",
)
def zeros_in_q_cases(rng: Generator) -> list[Case]:
    return zeros_in_q(rng)


@exercise.group("TensorFlow tensors", points=1)
def types(rng: Generator) -> list[Case]:
    return pair_types(rng)


exercise.mistakes(
    arguments_swapped=wrong(
        SWAPPED, ("p_log_q(p, q).sum()", "p_log_q(q, p).sum()"), hint="Under which of the two is the mean taken?"
    ),
    log_to_base_2=LOG_TWO,
    log_to_base_10=LOG_TEN,
    minus_missing=wrong(
        "The minus sign is missing: logarithms of probabilities are negative.",
        ("-total", "total"),
        hint="Can a cross-entropy be negative?",
        see="06#cross-entropy",
    ),
    eps_added=EPS_ADDED,
    zero_times_log_zero=NOT_A_NUMBER,
    zero_q_skipped=wrong(ZERO_Q_SKIPPED, (OPEN_Q, "np.where((p == 0) | (q == 0), 1, q)")),
    averaged=AVERAGED,
    log_of_sum=wrong(
        "The logarithm is taken of the sum; it should be taken of each q.",
        ("p_log_q(p, q).sum()", "np.log((p * q).sum())"),
    ),
    binary=wrong(
        "The terms of 1 − p and 1 − q are added: that is the loss for independent yes-or-no labels.",
        ("p_log_q(p, q).sum()", "(p_log_q(p, q) + p_log_q(1 - p, 1 - q)).sum()"),
    ),
)


exercise.hints("H(p, q) is the mean, under p, of −log q.")
exercise.hints("Select the entries where p is positive, and sum over those.", group="zeros_in_p")
exercise.hints("A logarithm of 0 is −inf by itself; nothing has to be added.", group="zeros_in_q")
exercise.hints(
    "`np.asarray` turns a tensor into a NumPy array, and `float` turns the result into a Python number.", group="types"
)

"""Lab 08, exercise `kl_divergence`."""

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
from exercises.formulas.losses import kl_divergence

exercise = Exercise("kl_divergence", call=("p", "q"))
exercise.formula(kl_divergence)


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
    advice="q says that this word cannot occur, and p says that it does: the divergence is inf.",
)
def zeros_in_q_cases(rng: Generator) -> list[Case]:
    return zeros_in_q(rng)


@exercise.group("TensorFlow tensors", points=1)
def types(rng: Generator) -> list[Case]:
    return pair_types(rng)


ENTROPY, CROSS = "p_log_q(p, p)", "p_log_q(p, q)"

exercise.mistakes(
    arguments_swapped=wrong(
        SWAPPED,
        (ENTROPY, "p_log_q(q, q)"),
        (CROSS, "p_log_q(q, p)"),
        hint="Under which of the two is the mean of log(p/q) taken?",
        see="08#loss-floor",
    ),
    log_to_base_2=LOG_TWO,
    log_to_base_10=LOG_TEN,
    sign_wrong=wrong(
        "The sign is wrong: a divergence is never negative.",
        ("np.asarray(total)", "np.asarray(-total)"),
        hint="Which of the two is larger: the cross-entropy of p and q, or the entropy of p?",
    ),
    eps_added=EPS_ADDED,
    zero_times_log_zero=NOT_A_NUMBER,
    zero_q_skipped=wrong(
        ZERO_Q_SKIPPED, (OPEN_Q, "np.where((p == 0) | (q == 0), 1, q)"), (ENTROPY, "np.where(q == 0, 0, p_log_q(p, p))")
    ),
    averaged=AVERAGED,
    entropy_not_subtracted=wrong(
        "This is the cross-entropy. The divergence is the cross-entropy minus the entropy of p.",
        (f"{ENTROPY} - {CROSS}", f"-{CROSS}"),
        hint="How large should the divergence of p from itself be?",
        see="08#loss-floor",
    ),
    factor_missing=wrong(
        "The factor p is missing: each ln(p/q) counts with the probability p.",
        (f"{ENTROPY} - {CROSS}", f"np.where(p == 0, 0, np.log(np.where(p == 0, 1, p)) - np.log({OPEN_Q}))"),
    ),
    both_ways=wrong(
        "This is KL(p ‖ q) + KL(q ‖ p). The divergence is KL(p ‖ q) alone.",
        ("terms.sum()", "terms.sum() + (p_log_q(q, q) - p_log_q(q, p)).sum()"),
    ),
    absolute_terms=wrong(
        "The absolute values of the terms are summed; sum the terms with their signs.",
        ("terms.sum()", "np.abs(terms).sum()"),
    ),
)


exercise.hints("It is the cross-entropy of p and q minus that of p with itself.")
exercise.hints(
    "`p[p > 0]` and `q[p > 0]` are arrays of the same length. NumPy warns at a division by 0 and returns inf, which is"
    " right here.",
    group="zeros_in_p",
)
exercise.hints(
    "`np.asarray` turns a tensor into a NumPy array, and `float` turns the result into a Python number.", group="types"
)

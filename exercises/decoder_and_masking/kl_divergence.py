"""Lab 08, exercise `kl_divergence`."""

from autograder.declare import Exercise, edit
from exercises.decoder_and_masking import shared
from exercises.decoder_and_masking.shared import pair_types, pairs, zeros_in_p, zeros_in_q
from exercises.formulas.losses import kl_divergence

exercise = Exercise("kl_divergence")
exercise.formula(kl_divergence)

exercise.group("right values, in nats", points=2, values=pairs(5, 7, 2))
exercise.group("zeros in p", zeros_in_p=zeros_in_p)
exercise.group(
    "a zero of q where p is positive", fixed="the answer is inf wherever q is 0 and p is not", zeros_in_q=zeros_in_q
)
exercise.group("TensorFlow tensors", types=pair_types)

ENTROPY, CROSS = "p_log_q(p, p)", "p_log_q(p, q)"

exercise.mistakes(
    arguments_swapped=edit((ENTROPY, "p_log_q(q, q)"), (CROSS, "p_log_q(q, p)"), see="08#loss-floor")
    | shared.SWAPPED
    | "Under which of the two is the mean of log(p/q) taken?",
    log_to_base_2=shared.LOG_TWO,
    log_to_base_10=shared.LOG_TEN,
    sign_wrong=edit("np.asarray(total)", "np.asarray(-total)")
    | "The sign is wrong: a divergence is never negative."
    | "Which of the two is larger: the cross-entropy of p and q, or the entropy of p?",
    eps_added=shared.EPS_ADDED,
    zero_times_log_zero=shared.NOT_A_NUMBER,
    zero_q_skipped=edit(shared.OPEN_Q, "np.where((p == 0) | (q == 0), 1, q)")
    | edit(ENTROPY, "np.where(q == 0, 0, p_log_q(p, p))")
    | shared.ZERO_Q_SKIPPED,
    averaged=shared.AVERAGED,
    entropy_not_subtracted=edit(f"{ENTROPY} - {CROSS}", f"-{CROSS}", see="08#loss-floor")
    | "This is the cross-entropy. The divergence is the cross-entropy minus the entropy of p."
    | "How large should the divergence of p from itself be?",
    factor_missing=edit(
        f"{ENTROPY} - {CROSS}", f"np.where(p == 0, 0, np.log(np.where(p == 0, 1, p)) - np.log({shared.OPEN_Q}))"
    )
    | "The factor p is missing: each ln(p/q) counts with the probability p.",
    both_ways=edit("terms.sum()", "terms.sum() + (p_log_q(q, q) - p_log_q(q, p)).sum()")
    | "This is KL(p ‖ q) + KL(q ‖ p). The divergence is KL(p ‖ q) alone.",
    absolute_terms=edit("terms.sum()", "np.abs(terms).sum()")
    | "The absolute values of the terms are summed; sum the terms with their signs.",
)

exercise.advice(
    zeros_in_p="A term whose p is 0 counts as 0, whatever q is there. Choose the terms before you take logarithms.",
    zeros_in_q="q says that this word cannot occur, and p says that it does: the divergence is inf.",
)
exercise.hints(
    values="It is the cross-entropy of p and q minus that of p with itself.",
    zeros_in_p="`p[p > 0]` and `q[p > 0]` are arrays of the same length. NumPy warns at a division by 0 and returns "
    "inf, which is right here.",
    types="`np.asarray` turns a tensor into a NumPy array, and `float` turns the result into a Python number.",
)

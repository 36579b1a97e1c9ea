"""Lab 08, exercise `cross_entropy`."""

from autograder.declare import Exercise, edit
from exercises.decoder_and_masking import shared
from exercises.decoder_and_masking.shared import pair_types, pairs, zeros_in_p, zeros_in_q
from exercises.formulas.losses import cross_entropy

exercise = Exercise("cross_entropy")
exercise.formula(cross_entropy)

exercise.group("right values, in nats", points=2, values=pairs(5, 7, 2))
exercise.group("zeros in p", zeros_in_p=zeros_in_p)
exercise.group(
    "a zero of q where p is positive", fixed="the answer is inf wherever q is 0 and p is not", zeros_in_q=zeros_in_q
)
exercise.group("TensorFlow tensors", types=pair_types)

exercise.mistakes(
    arguments_swapped=edit("p_log_q(p, q).sum()", "p_log_q(q, p).sum()")
    | shared.SWAPPED
    | "Under which of the two is the mean taken?",
    log_to_base_2=shared.LOG_TWO,
    log_to_base_10=shared.LOG_TEN,
    minus_missing=edit("-total", "total", see="06#cross-entropy")
    | "The minus sign is missing: logarithms of probabilities are negative."
    | "Can a cross-entropy be negative?",
    eps_added=shared.EPS_ADDED,
    zero_times_log_zero=shared.NOT_A_NUMBER,
    zero_q_skipped=edit(shared.OPEN_Q, "np.where((p == 0) | (q == 0), 1, q)") | shared.ZERO_Q_SKIPPED,
    averaged=shared.AVERAGED,
    log_of_sum=edit("p_log_q(p, q).sum()", "np.log((p * q).sum())")
    | "The logarithm is taken of the sum; it should be taken of each q.",
    binary=edit("p_log_q(p, q).sum()", "(p_log_q(p, q) + p_log_q(1 - p, 1 - q)).sum()")
    | "The terms of 1 − p and 1 − q are added: that is the loss for independent yes-or-no labels.",
)

exercise.advice(
    zeros_in_p="A term whose p is 0 counts as 0, whatever q is there. Choose the terms before you take logarithms.",
    zeros_in_q="q says that this word cannot occur, and p says that it does: the cross-entropy is inf.",
)
exercise.hints(
    values="H(p, q) is the mean, under p, of −log q.",
    zeros_in_p="Select the entries where p is positive, and sum over those.",
    zeros_in_q="A logarithm of 0 is −inf by itself; nothing has to be added.",
    types="`np.asarray` turns a tensor into a NumPy array, and `float` turns the result into a Python number.",
)

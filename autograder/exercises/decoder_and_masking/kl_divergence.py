"""Lab 08, exercise `kl_divergence`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.decoder_and_masking.shared import AVERAGED, EPS_ADDED, LOG_TEN, LOG_TWO, NOT_A_NUMBER, SWAPPED, ZERO_Q_SKIPPED, pair_types, pairs, zeros_in_p, zeros_in_q
from autograder.mistaken import losses as mistaken
from autograder.oracles import losses as oracles

exercise = Exercise("kl_divergence", oracle=oracles.kl_divergence, mistaken=mistaken.kl_divergence)


@exercise.group("right values, in nats", points=2)
def values(rng: Generator) -> list[Case]:
    return pairs(5, 7, 2)(rng)


@exercise.group("zeros in p", points=1, name="zeros_in_p", advice="A term whose p is 0 counts as 0, whatever q is there. Choose the terms before you take logarithms.")
def zeros_in_p_cases(rng: Generator) -> list[Case]:
    return zeros_in_p(rng)


@exercise.group("a zero of q where p is positive", points=1, name="zeros_in_q", advice="q says that this word cannot occur, and p says that it does: the divergence is inf.")
def zeros_in_q_cases(rng: Generator) -> list[Case]:
    return zeros_in_q(rng)


@exercise.group("TensorFlow tensors", points=1)
def types(rng: Generator) -> list[Case]:
    return pair_types(rng)


exercise.mistakes(
    arguments_swapped=SWAPPED,
    log_to_base_2=LOG_TWO,
    log_to_base_10=LOG_TEN,
    sign_wrong=wrong("The sign is wrong: a divergence is never negative.", sign=-1),
    eps_added=EPS_ADDED,
    zero_times_log_zero=NOT_A_NUMBER,
    zero_q_skipped=ZERO_Q_SKIPPED,
    averaged=AVERAGED,
    entropy_not_subtracted=wrong("This is the cross-entropy. The divergence is the cross-entropy minus the entropy of p.", formula="cross-entropy"),
    both_ways=wrong("This is KL(p ‖ q) + KL(q ‖ p). The divergence is KL(p ‖ q) alone.", formula="both ways"),
    absolute_terms=wrong("The absolute values of the terms are summed; sum the terms with their signs.", formula="absolute"),
)


exercise.hints("It is the cross-entropy of p and q minus that of p with itself.")
exercise.hints("p·log(p/q) entry by entry, over the entries where p is positive.", group="zeros_in_p")
exercise.hints("`np.asarray` turns a tensor into a NumPy array, and `float` turns the result into a Python number.", group="types")

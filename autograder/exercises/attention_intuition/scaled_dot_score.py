"""Lab 01, exercise `scaled_dot_score`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.attention_intuition.shared import TRANSPOSED, TYPES, TYPES_ADVICE, WEIGHTS_RETURNED, pair_types, pair_values
from autograder.exercises.self_attention.shared import BUILT_IN_ATTENTION
from autograder.mistaken import attention_intuition as mistaken
from autograder.oracles import attention_intuition as oracles

exercise = Exercise("scaled_dot_score", oracle=oracles.scaled_dot_score, mistaken=mistaken.scaled_dot_score, forbidden=BUILT_IN_ATTENTION)


@exercise.group("right values", points=2)
def values(rng: Generator) -> list[Case]:
    return pair_values(rng)


@exercise.group(TYPES, points=1, advice=TYPES_ADVICE)
def types(rng: Generator) -> list[Case]:
    return pair_types(rng)


exercise.mistakes(
    scores_transposed=TRANSPOSED,
    weights_instead_of_scores=WEIGHTS_RETURNED,
    unscaled=wrong("The scores are not scaled.", scale="none"),
    scaled_by_d=wrong("The scores are divided by the width itself, not by its root.", scale="d_k"),
    scaled_by_length=wrong("The scores are divided by the root of the number of keys. What does a dot product sum over?", scale="sqrt_keys"),
    scaled_by_queries=wrong("The scores are divided by the root of the number of queries. What does a dot product sum over?", scale="sqrt_queries"),
    scale_inverted=wrong("The scores are multiplied by the root of the width.", scale="inverse"),
)


exercise.hints("The divisor is the root of the width of q and k. `x ** 0.5` of a Python int keeps float32 as it is.")
exercise.hints("The numbers are right for one kind of argument. What does your code call that the other kind does not have?", group="types")

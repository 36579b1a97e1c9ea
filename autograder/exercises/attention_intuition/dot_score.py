"""Lab 01, exercise `dot_score`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.attention_intuition.shared import TRANSPOSED, TYPES, TYPES_ADVICE, WEIGHTS_RETURNED, pair_types, pair_values
from autograder.exercises.self_attention.shared import BUILT_IN_ATTENTION
from autograder.mistaken import attention_intuition as mistaken
from autograder.oracles import attention_intuition as oracles

exercise = Exercise("dot_score", oracle=oracles.dot_score, mistaken=mistaken.dot_score, forbidden=BUILT_IN_ATTENTION)


@exercise.group("right values", points=2)
def values(rng: Generator) -> list[Case]:
    return pair_values(rng)


@exercise.group(TYPES, points=1, advice=TYPES_ADVICE)
def types(rng: Generator) -> list[Case]:
    return pair_types(rng)


exercise.mistakes(
    scores_transposed=TRANSPOSED,
    weights_instead_of_scores=WEIGHTS_RETURNED,
    scaled_here=wrong("These are scaled scores; the plain dot product has no divisor.", scale="sqrt_d_k"),
    averaged=wrong("The products are averaged over d; the dot product is their sum.", scale="d_k"),
)


exercise.hints("All T·S dot products are one matrix product. Which of the two has to be transposed?")
exercise.hints("The numbers are right for one kind of argument. What does your code call that the other kind does not have?", group="types")

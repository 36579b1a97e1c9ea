"""Lab 01, exercise `additive_score`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.attention_intuition.shared import ACTIVATION_MISTAKES, TRANSPOSED, TYPES, TYPES_ADVICE, WEIGHTS_RETURNED, weighted_types, widths
from autograder.exercises.drawing import normal
from autograder.exercises.self_attention.shared import BUILT_IN_ATTENTION
from autograder.mistaken import attention_intuition as mistaken
from autograder.oracles import attention_intuition as oracles


def _additive(rng: Generator, d_q: int, d_k: int, dtype: str = "float32") -> dict:
    units = 11
    return {
        "q": normal(rng, 5, d_q, dtype=dtype),
        "k": normal(rng, 3, d_k, dtype=dtype),
        "w_q": normal(rng, d_q, units, dtype=dtype) / 2,
        "w_k": normal(rng, d_k, units, dtype=dtype) / 2,
        "v": normal(rng, units, dtype=dtype),
    }


exercise = Exercise("additive_score", oracle=oracles.additive_score, mistaken=mistaken.additive_score, forbidden=BUILT_IN_ATTENTION)


@exercise.group("right values", points=2)
def values(rng: Generator) -> list[Case]:
    return widths(_additive, (7, 2), (3, 3))(rng)


@exercise.group(TYPES, points=1, advice=TYPES_ADVICE)
def types(rng: Generator) -> list[Case]:
    return weighted_types(_additive)(rng)


exercise.mistakes(
    scores_transposed=TRANSPOSED,
    weights_instead_of_scores=WEIGHTS_RETURNED,
    **ACTIVATION_MISTAKES,
    subtracted=wrong("The projected keys are subtracted; they should be added.", combined="difference"),
    averaged_over_units=wrong("The product with v is averaged over U; it should be summed.", reduced="mean"),
    scaled_here=wrong("The scores are divided by the root of U; additive scores are not.", scaled=True),
    v_inside=wrong("v is inside the tanh; it should multiply the result of the tanh.", reduced="v inside"),
    v_missing=wrong("The hidden units are summed as they are: v is not used.", reduced="sum"),
    projections_swapped=wrong("w_q is applied to the keys and w_k to the queries.", swapped=True),
)


exercise.hints(
    "Project first: q w_q is (T, U), k w_k is (S, U). How do (T, U) and (S, U) become (T, S, U)?",
    "`a[:, None] + b[None]` adds every row of a to every row of b. Then tanh, then the product with v over U.",
)
exercise.hints("The numbers are right for one kind of argument. What does your code call that the other kind does not have?", group="types")

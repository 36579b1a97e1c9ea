"""Lab 01, exercise `dot_score`."""

import numpy as np

from autograder.declare import Exercise, edit
from exercises.attention_intuition import shared
from exercises.attention_intuition.shared import pair_values, pairs
from exercises.self_attention.shared import BUILT_IN_ATTENTION

exercise = Exercise("dot_score", returns=("scores",), forbidden=BUILT_IN_ATTENTION)


@exercise.formula
def dot_score(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """q·k for every pair (Luong et al. 2015, section 3.1). q (T, d), k (S, d) -> (T, S)."""
    scores = np.einsum("td,sd->ts", q, k)
    return scores


exercise.group("right values", points=2, values=pair_values)
exercise.types(lambda rng, dtype: pairs(rng, 5, 3, 7, dtype))

exercise.mistakes(
    scores_transposed=shared.TRANSPOSED,
    weights_instead_of_scores=shared.WEIGHTS_RETURNED,
    scaled_here=edit("return scores", "return scores / q.shape[-1] ** 0.5")
    | "These are scaled scores; the plain dot product has no divisor.",
    averaged=edit("return scores", "return scores / q.shape[-1]")
    | "The products are averaged over d; the dot product is their sum.",
)

exercise.advice(types=shared.TYPES_ADVICE)
exercise.hints(
    values="All T·S dot products are one matrix product. Which of the two has to be transposed?",
    types="The numbers are right for one kind of argument. What does your code call that the other kind does not have?",
)

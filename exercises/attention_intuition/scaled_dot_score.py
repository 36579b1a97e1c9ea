"""Lab 01, exercise `scaled_dot_score`."""

import math

import numpy as np

from autograder.declare import Exercise, edit
from exercises.attention_intuition import shared
from exercises.attention_intuition.shared import pair_values, pairs
from exercises.self_attention.shared import BUILT_IN_ATTENTION, DIVISION, ROOT

exercise = Exercise("scaled_dot_score", returns=("scores",), forbidden=BUILT_IN_ATTENTION, uses=("dot_score",))


@exercise.formula
def scaled_dot_score(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """q·k / √d for every pair (Vaswani et al. 2017, section 3.2.1). q (T, d), k (S, d) -> (T, S)."""
    scores = np.einsum("td,sd->ts", q, k) / math.sqrt(q.shape[-1])
    return scores


exercise.group("right values", points=2, values=pair_values)
exercise.types(lambda rng, dtype: pairs(rng, 5, 3, 7, dtype))

exercise.mistakes(
    scores_transposed=shared.TRANSPOSED,
    weights_instead_of_scores=shared.WEIGHTS_RETURNED,
    unscaled=edit(DIVISION, "") | "The scores are not scaled.",
    scaled_by_d=edit(ROOT, "q.shape[-1]") | "The scores are divided by the width itself, not by its root.",
    scaled_by_length=edit(ROOT, "math.sqrt(len(k))")
    | "The scores are divided by the root of the number of keys. What does a dot product sum over?",
    scaled_by_queries=edit(ROOT, "math.sqrt(len(q))")
    | "The scores are divided by the root of the number of queries. What does a dot product sum over?",
    scale_inverted=edit(DIVISION, "* math.sqrt(q.shape[-1])") | "The scores are multiplied by the root of the width.",
)

exercise.advice(types=shared.TYPES_ADVICE)
exercise.hints(
    values="The divisor is the root of the width of q and k. `x ** 0.5` of a Python int keeps float32 as it is.",
    types="The numbers are right for one kind of argument. What does your code call that the other kind does not have?",
)

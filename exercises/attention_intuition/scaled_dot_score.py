"""Lab 01, exercise `scaled_dot_score`."""

import math

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.attention_intuition.shared import (
    TRANSPOSED,
    TYPES,
    TYPES_ADVICE,
    WEIGHTS_RETURNED,
    pair_types,
    pair_values,
)
from exercises.self_attention.shared import BUILT_IN_ATTENTION, DIVISION, ROOT

exercise = Exercise(
    "scaled_dot_score", call=("q", "k"), returns=("scores",), forbidden=BUILT_IN_ATTENTION, uses=("dot_score",)
)


@exercise.formula
def scaled_dot_score(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """q·k / √d for every pair (Vaswani et al. 2017, section 3.2.1). q (T, d), k (S, d) -> (T, S)."""
    scores = np.einsum("td,sd->ts", q, k) / math.sqrt(q.shape[-1])
    return scores


@exercise.group("right values", points=2)
def values(rng: Generator) -> list[Case]:
    return pair_values(rng)


@exercise.group(TYPES, points=1, advice=TYPES_ADVICE)
def types(rng: Generator) -> list[Case]:
    return pair_types(rng)


exercise.mistakes(
    scores_transposed=TRANSPOSED,
    weights_instead_of_scores=WEIGHTS_RETURNED,
    unscaled=wrong("The scores are not scaled.", (DIVISION, "")),
    scaled_by_d=wrong("The scores are divided by the width itself, not by its root.", (ROOT, "q.shape[-1]")),
    scaled_by_length=wrong(
        "The scores are divided by the root of the number of keys. What does a dot product sum over?",
        (ROOT, "math.sqrt(len(k))"),
    ),
    scaled_by_queries=wrong(
        "The scores are divided by the root of the number of queries. What does a dot product sum over?",
        (ROOT, "math.sqrt(len(q))"),
    ),
    scale_inverted=wrong("The scores are multiplied by the root of the width.", (DIVISION, "* math.sqrt(q.shape[-1])")),
)


exercise.hints("The divisor is the root of the width of q and k. `x ** 0.5` of a Python int keeps float32 as it is.")
exercise.hints(
    "The numbers are right for one kind of argument. What does your code call that the other kind does not have?",
    group="types",
)

"""Lab 01, exercise `general_score`."""

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.attention_intuition.shared import (
    TRANSPOSED,
    TYPES,
    TYPES_ADVICE,
    WEIGHTS_RETURNED,
    weighted_types,
    widths,
)
from exercises.drawing import normal
from exercises.self_attention.shared import BUILT_IN_ATTENTION


def _general(rng: Generator, d_q: int, d_k: int, dtype: str = "float32") -> dict:
    return {
        "q": normal(rng, 5, d_q, dtype=dtype),
        "k": normal(rng, 3, d_k, dtype=dtype),
        "w": normal(rng, d_q, d_k, dtype=dtype),
    }


SCALED_GENERAL = "The scores are divided by the root of a width; the general score has no divisor."


exercise = Exercise("general_score", call=("q", "k", "w"), returns=("scores",), forbidden=BUILT_IN_ATTENTION)


@exercise.formula
def general_score(q: np.ndarray, k: np.ndarray, w: np.ndarray) -> np.ndarray:
    """qᵀ W k for every pair (Luong et al. 2015, section 3.1). q (T, dq), k (S, dk), w (dq, dk) -> (T, S)."""
    scores = np.einsum("ti,ij,sj->ts", q, w, k)
    return scores


@exercise.group("right values", points=2)
def values(rng: Generator) -> list[Case]:
    return widths(_general, (7, 2), (3, 3))(rng)


@exercise.group(TYPES, points=1, advice=TYPES_ADVICE)
def types(rng: Generator) -> list[Case]:
    return weighted_types(_general)(rng)


exercise.mistakes(
    scores_transposed=TRANSPOSED,
    weights_instead_of_scores=WEIGHTS_RETURNED,
    w_transposed=wrong("w is used transposed: its rows belong to the query.", ("q, w, k", "q, w.T, k")),
    w_ignored=wrong("w changes nothing in your scores.", ("q, w, k", "q, np.eye(len(w)), k")),
    scaled_here=wrong(SCALED_GENERAL, ("return scores", "return scores / q.shape[-1] ** 0.5")),
    scaled_by_key_width=wrong(SCALED_GENERAL, ("return scores", "return scores / k.shape[-1] ** 0.5")),
)


exercise.hints("q (T, dq) times w (dq, dk) is (T, dk): as wide as a key. What remains to do?")
exercise.hints(
    "The numbers are right for one kind of argument. What does your code call that the other kind does not have?",
    group="types",
)

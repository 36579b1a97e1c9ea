"""Lab 01, exercise `general_score`."""

import numpy as np

from autograder.declare import Exercise, edit
from exercises.attention_intuition import shared
from exercises.drawing import normal
from exercises.self_attention.shared import BUILT_IN_ATTENTION


def _general(rng, d_q: int, d_k: int, dtype: str = "float32") -> dict:
    return {
        "q": normal(rng, 5, d_q, dtype=dtype),
        "k": normal(rng, 3, d_k, dtype=dtype),
        "w": normal(rng, d_q, d_k, dtype=dtype),
    }


SCALED_GENERAL = "The scores are divided by the root of a width; the general score has no divisor."

exercise = Exercise("general_score", returns=("scores",), forbidden=BUILT_IN_ATTENTION)


@exercise.formula
def general_score(q: np.ndarray, k: np.ndarray, w: np.ndarray) -> np.ndarray:
    """qᵀ W k for every pair (Luong et al. 2015, section 3.1). q (T, dq), k (S, dk), w (dq, dk) -> (T, S)."""
    scores = np.einsum("ti,ij,sj->ts", q, w, k)
    return scores


exercise.group("right values", points=2, values=lambda rng: [_general(rng, 7, 2), _general(rng, 3, 3)])
exercise.types(lambda rng, dtype: _general(rng, 7, 2, dtype))

exercise.mistakes(
    scores_transposed=shared.TRANSPOSED,
    weights_instead_of_scores=shared.WEIGHTS_RETURNED,
    w_transposed=edit("q, w, k", "q, w.T, k") | "w is used transposed: its rows belong to the query.",
    w_ignored=edit("q, w, k", "q, np.eye(len(w)), k") | "w changes nothing in your scores.",
    scaled_here=edit("return scores", "return scores / q.shape[-1] ** 0.5") | SCALED_GENERAL,
    scaled_by_key_width=edit("return scores", "return scores / k.shape[-1] ** 0.5") | SCALED_GENERAL,
)

exercise.advice(types=shared.TYPES_ADVICE)
exercise.hints(
    values="q (T, dq) times w (dq, dk) is (T, dk): as wide as a key. What remains to do?",
    types="The numbers are right for one kind of argument. What does your code call that the other kind does not have?",
)

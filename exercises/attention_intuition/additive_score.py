"""Lab 01, exercise `additive_score`."""

import numpy as np

from autograder.declare import Exercise, edit
from exercises.attention_intuition import shared
from exercises.attention_intuition.shared import additive_scores
from exercises.drawing import normal
from exercises.self_attention.shared import BUILT_IN_ATTENTION


def _additive(rng, d_q: int, d_k: int, dtype: str = "float32") -> dict:
    units = 11
    return {
        "q": normal(rng, 5, d_q, dtype=dtype),
        "k": normal(rng, 3, d_k, dtype=dtype),
        "w_q": normal(rng, d_q, units, dtype=dtype) / 2,
        "w_k": normal(rng, d_k, units, dtype=dtype) / 2,
        "v": normal(rng, units, dtype=dtype),
    }


exercise = Exercise("additive_score", returns=("scores",), forbidden=BUILT_IN_ATTENTION)


@exercise.formula
def additive_score(q: np.ndarray, k: np.ndarray, w_q: np.ndarray, w_k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """vᵀ tanh(W_q q + W_k k) for every pair (Bahdanau et al. 2015, appendix A.1.2).

    q (T, dq), k (S, dk), w_q (dq, U), w_k (dk, U), v (U,) -> (T, S).
    """
    asked = np.einsum("td,du->tu", q, w_q)
    offered = np.einsum("sd,du->su", k, w_k)
    scores = additive_scores(asked[:, None], offered[None], v)
    return scores


exercise.group("right values", points=2, values=lambda rng: [_additive(rng, 7, 2), _additive(rng, 3, 3)])
exercise.types(lambda rng, dtype: _additive(rng, 7, 2, dtype))

exercise.mistakes(
    scores_transposed=shared.TRANSPOSED,
    weights_instead_of_scores=shared.WEIGHTS_RETURNED,
    **shared.ACTIVATION_MISTAKES,
    subtracted=edit(shared.HIDDEN, "np.tanh(asked - offered)")
    | "The projected keys are subtracted; they should be added.",
    averaged_over_units=edit("np.tanh(asked + offered) @ v", "(np.tanh(asked + offered) * v).mean(axis=-1)")
    | "The product with v is averaged over U; it should be summed.",
    scaled_here=edit("np.tanh(asked + offered) @ v", "np.tanh(asked + offered) @ v / len(v) ** 0.5")
    | "The scores are divided by the root of U; additive scores are not.",
    v_inside=edit("np.tanh(asked + offered) @ v", "np.tanh(asked * v + offered * v).sum(axis=-1)")
    | "v is inside the tanh; it should multiply the result of the tanh.",
    not_summed=edit("np.tanh(asked + offered) @ v", "np.tanh(asked + offered) * v")
    | "The products with v are not summed: your result still has the axis of the U hidden units.",
    v_missing=edit("np.tanh(asked + offered) @ v", "np.tanh(asked + offered).sum(axis=-1)")
    | "The hidden units are summed as they are: v is not used.",
    projections_swapped=edit(("q, w_q", "q, w_k"), ("k, w_k", "k, w_q"))
    | "w_q is applied to the keys and w_k to the queries.",
)

exercise.advice(types=shared.TYPES_ADVICE)
exercise.hints(
    values=(
        "Project first: q w_q is (T, U), k w_k is (S, U). How do (T, U) and (S, U) become (T, S, U)?",
        "`a[:, None] + b[None]` adds every row of a to every row of b. Then tanh, then the product with v over U, a "
        "sum over the last axis: `tf.matmul` does not take vectors.",
    ),
    types="The numbers are right for one kind of argument. What does your code call that the other kind does not have?",
)

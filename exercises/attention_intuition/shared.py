"""What several exercises of lab 01 share."""

from dataclasses import replace
from typing import Any

import numpy as np

from autograder.declare import edit
from exercises.drawing import normal
from exercises.formulas.attention import masked_softmax
from exercises.self_attention import shared as self_attention


def additive_scores(asked: np.ndarray, offered: np.ndarray, v: np.ndarray) -> np.ndarray:
    """vᵀ tanh(asked + offered), of projections (…, U) that broadcast; v (U,) or (U, 1)."""
    return np.tanh(asked + offered) @ v


def attended(scores: np.ndarray, values: np.ndarray, mask: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """softmax(scores) · values over the keys that the mask leaves (Bahdanau et al. 2015, equations 5 and 6).

    Args:
        scores: (…, T, S).
        values: (…, S, e).
        mask: broadcasts to the scores; true where a query may attend.

    Returns:
        The context (…, T, e) and the weights (…, T, S); NaN, for any finite number, in rows without any key.
    """
    weights = masked_softmax(scores, mask)
    result = np.einsum("...ts,...se->...te", weights, values)
    return result, weights


TRANSPOSED = (
    edit("return scores", "return scores.T")
    | "The scores come back transposed: row t belongs to query t, column s to key s."
)
WEIGHTS_RETURNED = (
    edit(
        "return scores",
        "return np.exp(scores - scores.max(axis=-1, keepdims=True)) / np.exp(scores - scores.max(axis=-1, "
        "keepdims=True)).sum(axis=-1, keepdims=True)",
    )
    | "Your rows sum to 1: those are weights. A score function returns what goes into the softmax."
)
SWAPPED_RESULTS = (
    edit("return result, weights", "return weights, result") | "The two results come back in the wrong order."
)
OVER_QUERIES = (
    edit("softmax(x, axis=-1)", "softmax(x, axis=-2)")
    | "The columns of the weights sum to 1, not the rows: the queries compete instead of the keys."
)
NO_SOFTMAX = (
    edit("powers / powers.sum(axis=axis, keepdims=True)", "np.where(x > -1e8, x, 0)")
    | "The scores weight the values directly: no softmax."
)
UNSTABLE = (
    edit("x.max(axis=axis, keepdims=True)", "0")
    | "Large scores overflow in `exp` and give NaN. What can be subtracted from a row without changing its softmax?"
)

# Of lab 02, whose lecture comes later: no section of it is named.
MASK_MISTAKES = {id: replace(mistake, see="") for id, mistake in self_attention.MASK_MISTAKES.items()}


def apart(rng, rows: int, columns: int, step: float = 2500) -> np.ndarray:
    """Large scores (rows, columns), in each row so far apart that rounding decides nothing, whichever way one sums."""
    levels = step * (np.arange(columns) - columns // 2)
    return (rng.permuted(np.tile(levels, (rows, 1)), axis=1) + rng.normal(size=(rows, columns))).astype("float32")


def pairs(rng, t: int, s: int, d: int, dtype: str = "float32") -> dict:
    return {"q": normal(rng, t, d, dtype=dtype), "k": normal(rng, s, d, dtype=dtype)}


def pair_values(rng) -> list[dict]:
    return [pairs(rng, 5, 3, 7), pairs(rng, 2, 11, 3), pairs(rng, 5, 5, 3)]


TYPES = "arrays and tensors"

TYPES_ADVICE = (
    "Tensors have few of NumPy's methods, and TensorFlow multiplies no float32 by a float64. "
    "Convert all arguments to one kind first: `ops.convert_to_tensor(x)`, or `np.asarray(x)`."
)
TRAINING_ADVICE = "Inside a layer use `keras.ops` (or TensorFlow operations): NumPy stops both graphs and gradients."

HIDDEN = "np.tanh(asked + offered)"
ACTIVATION_MISTAKES = dict(
    no_tanh=edit(HIDDEN, "asked + offered") | "The tanh is missing: without it the score is linear in q and k.",
    tanh_outside=edit("np.tanh(asked + offered) @ v", "np.tanh((asked + offered) @ v)")
    | "The tanh comes last. It belongs before the product with v.",
    tanh_of_each=edit(HIDDEN, "np.tanh(asked) + np.tanh(offered)")
    | "tanh is applied to each projection; it should be applied once, to their sum.",
    relu_for_tanh=edit(HIDDEN, "np.maximum(asked + offered, 0)")
    | "The hidden layer has a ReLU where the exercise asks for tanh.",
    sigmoid_for_tanh=edit(HIDDEN, "1 / (1 + np.exp(-(asked + offered)))")
    | "The hidden layer has a sigmoid where the exercise asks for tanh.",
    multiplied=edit(HIDDEN, "np.tanh(asked * offered)")
    | "The two projections are multiplied; additive attention adds them.",
)

"""Lab 02, exercise `self_attention_matrix`."""

import numpy as np

from autograder.declare import Exercise, cases, edit, instead
from exercises.drawing import normal
from exercises.formulas.attention import softmax
from exercises.self_attention import shared
from exercises.self_attention.shared import plain_large, plain_self_attention


def features_attend(x: np.ndarray) -> dict[str, np.ndarray]:
    """XᵀX in place of XXᵀ: one weight for each pair of features."""
    return {"output": x @ softmax(np.swapaxes(x, -1, -2) @ x / np.sqrt(x.shape[-1]))}


exercise = Exercise("self_attention_matrix", forbidden=shared.READY_SELF_ATTENTION, no_loops=True)
exercise.formula(plain_self_attention)

exercise.group("right values", points=2, values=cases(x=[(5, 7), (3, 2)]))
exercise.group("leading dimensions", batched=cases(x=[(2, 5, 7), (2, 3, 5, 7)]))
exercise.group("right and finite for large scores", large_scores=plain_large)
exercise.types(lambda rng, dtype: {"x": normal(rng, 5, 7, dtype=dtype)})

exercise.mistakes(
    **shared.PLAIN_MISTAKES,
    softmax_over_axis_1=shared.AXIS_ONE,
    scaled_by_axis_1=shared.SCALED_BY_AXIS_ONE,
    keepdims_forgotten=edit("powers.sum(axis=axis, keepdims=True)", "powers.sum(axis=axis)")
    | "Columns are divided by the sums of rows: a sum of shape (T,) broadcasts along the last axis. `keepdims=True` "
    "makes it (T, 1).",
    maximum_without_keepdims=shared.PEAK_IN_COLUMNS,
    keepdims_forgotten_twice=edit(shared.PEAK, "x.max(axis=axis)")
    | edit("powers.sum(axis=axis, keepdims=True)", "powers.sum(axis=axis)")
    | "The largest scores of the rows are subtracted from the columns, and the columns are divided by the sums of "
    "rows. Maximum and sum both need `keepdims=True`.",
    features_attend=instead(features_attend)
    | "The product is xᵀx, one score for each pair of features. x xᵀ has one for each pair of tokens.",
)

exercise.advice(
    batched="One sequence works, a batch does not? `.T` reverses all axes: swap the last two only. A sum over the "
    "last axis needs `keepdims=True`."
)
exercise.hints(
    values=(
        "All scores at once are one matrix product of x with itself. What is the shape of that product?",
        "In the product, row t holds the scores of query t. The softmax runs along the row.",
        "Shapes: (…, T, D) times (…, D, T) gives (…, T, T); times (…, T, D) gives (…, T, D).",
    ),
    batched=(
        "Which axes does your transposition exchange when x has three? And which axis does your sum remove?",
        "`np.swapaxes(x, -1, -2)`, `tf.matmul(…, transpose_b=True)` or an einsum exchange the last two alone.",
    ),
    large_scores=(
        "exp(800) is infinite. Which number can be subtracted from each row of scores without changing the softmax?",
        "Take the largest entry of a row, not of the whole array, and keep its axis: `keepdims=True`.",
    ),
    types="`np.asarray(x)` turns a tensor into an array; `ops.convert_to_tensor(x)` turns an array into a tensor.",
)

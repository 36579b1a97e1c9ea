"""Lab 02, exercise `self_attention_matrix`."""

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.formulas.attention import softmax
from exercises.self_attention.shared import (
    AXIS_ONE,
    PEAK,
    PEAK_IN_COLUMNS,
    PLAIN_MISTAKES,
    READY_SELF_ATTENTION,
    SCALED_BY_AXIS_ONE,
    plain,
    plain_large,
    plain_self_attention,
    plain_types,
)

KEEPDIMS_FORGOTTEN = wrong(
    "Columns are divided by the sums of rows: a sum of shape (T,) broadcasts along the last axis. "
    "`keepdims=True` makes it (T, 1).",
    ("powers.sum(axis=axis, keepdims=True)", "powers.sum(axis=axis)"),
)


def features_attend(x: np.ndarray) -> dict[str, np.ndarray]:
    """XᵀX in place of XXᵀ: one weight for each pair of features."""
    return {"output": x @ softmax(np.swapaxes(x, -1, -2) @ x / np.sqrt(x.shape[-1]))}


FEATURES_ATTEND = wrong(
    "The product is xᵀx, one score for each pair of features. x xᵀ has one for each pair of tokens.",
    instead=features_attend,
)


exercise = Exercise("self_attention_matrix", call=("x",), forbidden=READY_SELF_ATTENTION, no_loops=True)
exercise.formula(plain_self_attention)


@exercise.group("right values", points=2)
def values(rng: Generator) -> list[Case]:
    return plain((5, 7), (3, 2))(rng)


@exercise.group(
    "leading dimensions",
    points=1,
    advice="One sequence works, a batch does not? `.T` reverses all axes: swap the last two only. A sum over the "
    "last axis needs `keepdims=True`.",
)
def batched(rng: Generator) -> list[Case]:
    return plain((2, 5, 7), (2, 3, 5, 7))(rng)


@exercise.group("finite for large scores", points=1)
def large_scores(rng: Generator) -> list[Case]:
    return plain_large(rng)


@exercise.group("arrays and tensors", points=1)
def types(rng: Generator) -> list[Case]:
    return plain_types(rng)


exercise.mistakes(
    **PLAIN_MISTAKES,
    softmax_over_axis_1=AXIS_ONE,
    scaled_by_axis_1=SCALED_BY_AXIS_ONE,
    keepdims_forgotten=KEEPDIMS_FORGOTTEN,
    maximum_without_keepdims=PEAK_IN_COLUMNS,
    keepdims_forgotten_twice=wrong(
        "The largest scores of the rows are subtracted from the columns, and the columns are divided by the sums of "
        "rows. Maximum and sum both need `keepdims=True`.",
        (PEAK, "x.max(axis=axis)"),
        ("powers.sum(axis=axis, keepdims=True)", "powers.sum(axis=axis)"),
    ),
    features_attend=FEATURES_ATTEND,
)


exercise.hints(
    "All scores at once are one matrix product of x with itself. What is the shape of that product?",
    "In the product, row t holds the scores of query t. The softmax runs along the row.",
    "Shapes: (…, T, D) times (…, D, T) gives (…, T, T); times (…, T, D) gives (…, T, D).",
)
exercise.hints(
    "Which axes does your transposition exchange when x has three? And which axis does your sum remove?",
    "`np.swapaxes(x, -1, -2)`, `tf.matmul(…, transpose_b=True)` or an einsum exchange the last two alone.",
    group="batched",
)
exercise.hints(
    "exp(800) is infinite. Which number can be subtracted from each row of scores without changing the softmax?",
    "Take the largest entry of a row, not of the whole array, and keep its axis: `keepdims=True`.",
    group="large_scores",
)
exercise.hints(
    "`np.asarray(x)` turns a tensor into an array; `ops.convert_to_tensor(x)` turns an array into a tensor.",
    group="types",
)

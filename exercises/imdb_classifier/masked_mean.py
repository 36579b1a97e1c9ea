"""Lab 06, exercise `masked_mean`."""

import numpy as np

from autograder.declare import Case, Exercise, edit, instead
from exercises.drawing import normal
from exercises.imdb_classifier.shared import padded, with_one_word


def _mean_case(rng, ids: np.ndarray, width: int, floats: str = "float32", **settings) -> Case:
    x = rng.normal(size=(*ids.shape, width)) + 1.5
    x[ids == 0] *= 20
    return Case({"x": x.astype(floats), "ids": ids}, **settings)


exercise = Exercise("masked_mean", own_probe=True)


@exercise.formula
def masked_mean(x: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Mean of the tokens whose id is not 0; the zero vector where there is none. x (B, T, D), ids (B, T) -> (B, D)."""
    real = (ids != 0)[..., None]
    total = np.where(real, x, 0).sum(axis=1)
    count = real.sum(axis=1)
    return (total / np.maximum(count, 1)).astype(x.dtype)


def maximum(x: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """The largest value of each feature among the tokens."""
    real = (ids != 0)[..., None]
    return np.where(real.any(axis=1), np.where(real, x, -np.inf).max(axis=1), 0).astype(x.dtype)


@exercise.group("right values, padding at the end", points=2)
def values(rng):
    return [_mean_case(rng, padded(rng, 3, 7), 5), _mean_case(rng, with_one_word(rng, padded(rng, 3, 11)), 3)]


@exercise.group("padding in other places")
def anywhere(rng):
    ids = padded(rng, 3, 7)
    yield _mean_case(rng, ids[:, ::-1].copy(), 5, description="x (3, 7, 5), padding in front")
    yield _mean_case(rng, rng.permuted(ids, axis=1), 5, description="x (3, 7, 5), padding anywhere")


@exercise.group("a row that is all padding gives 0")
def all_padding(rng):
    ids = padded(rng, 3, 7)
    ids[int(rng.integers(3))] = 0
    return _mean_case(rng, ids, 5, description="x (3, 7, 5), one row is all padding")


@exercise.group("arrays and tensors, float type kept")
def types(rng):
    yield _mean_case(rng, padded(rng, 3, 7), 5, mode="tensor", description="TensorFlow tensors", dtype="float32")
    yield _mean_case(rng, padded(rng, 3, 7).astype("int32"), 5, description="NumPy arrays, ids of int32")
    yield _mean_case(rng, padded(rng, 2, 5), 3, "float64", description="NumPy arrays of float64", dtype="float64")


@exercise.group("works inside tf.function and on keras.Input, and gradients are finite")
def training(rng):
    ids = padded(rng, 3, 5)
    ids[0] = 0
    slope = _mean_case(rng, ids, 2, mode="gradient", description="gradients, one row is all padding")
    graph = _mean_case(rng, ids, 3, mode="graph", description="inside tf.function, batch size and length unknown")
    yield _mean_case(
        rng, ids.astype("int32"), 3, mode="model", description="in a model, between keras.Input and its output"
    )  # the first one, so that a 0/0 does not hide a function that cannot be there
    yield graph
    yield Case({**slope.inputs, "cotangent.output": normal(rng, 3, 2)}, slope.description, mode="gradient")


COUNT = "count = real.sum(axis=1)"
TOTAL = "total = np.where(real, x, 0).sum(axis=1)"

exercise.mistakes(
    padding_in_the_mean=edit("ids != 0", "np.ones_like(ids, bool)")
    | "This is the mean over all places: padding is part of it.",
    divided_by_length=edit(COUNT, "count = np.array(x.shape[1])")
    | "The words alone are added up, but the sum is divided by T. How many words does the row have?",
    divided_by_one_more=edit("np.maximum(count, 1)", "(count + 1)")
    | "The divisor is one larger than the number of words.",
    divided_by_the_longest=edit(COUNT, COUNT + ".max()")
    | "All rows are divided by the same number. Each row has its own number of words.",
    divided_by_the_batch=edit(COUNT, "count = real.sum()")
    | "The words of the whole batch are counted together: sum the mask along the tokens only.",
    not_divided=edit("total / np.maximum(count, 1)", "total") | "This is the sum of the words; it is not divided.",
    maximum=instead(maximum) | "This is the largest value of each feature, not its mean.",
    mask_inverted=edit("ids != 0", "ids == 0") | "The mask is the wrong way round: this is the mean of the padding.",
    unknown_left_out=edit("ids != 0", "ids > 1")
    | "Words of id 1 are left out, too. `[UNK]` is a word, one that the vocabulary does not know.",
    stops_at_padding=edit("(ids != 0)", "np.cumprod(ids != 0, axis=1).astype(bool)")
    | "Everything after the first padding is left out. Look at each id, not at the length.",
    empty_row_nan=edit("np.maximum(count, 1)", "count") | "A row without words is 0/0. Divide by at least 1.",
    over_batch=edit((COUNT, "count = real.sum(axis=0)"), (TOTAL, "total = np.where(real, x, 0).sum(axis=0)"))
    | "The mean runs over the batch. It should run over the tokens, axis 1.",
    over_features=edit((COUNT, "count = real.sum(axis=2)"), (TOTAL, "total = np.where(real, x, 0).sum(axis=2)"))
    | "The mean runs over the features. It should run over the tokens, axis 1.",
    axis_kept=edit(COUNT, "count = real.sum(axis=1, keepdims=True)")
    | edit(TOTAL, "total = np.where(real, x, 0).sum(axis=1, keepdims=True)")
    | "The result has an extra axis of size 1: the axis of the tokens should disappear.",
)

exercise.advice(
    anywhere="An id of 0 is padding wherever it stands.",
    all_padding="A row without words has the sum 0. Which number can you divide by, so that the result is 0?",
    training="The model of the next exercise needs this function. NumPy stops graphs and gradients, and functions of "
    "TensorFlow cannot take a `keras.Input`; `keras.ops` can. There `a == b` compares the two objects: write "
    "`ops.equal(a, b)`.",
)
exercise.hints(
    values=(
        "The mask `ids != 0` is (B, T). Which axis does it lack to multiply x (B, T, D)?",
        "Sum the words along axis 1, and sum the mask along the same axis: the second is what to divide by.",
    ),
    all_padding="`ops.maximum(count, 1)` changes only the count of a row without words.",
    types="`ops.convert_to_tensor(x)` at the beginning takes arrays and tensors alike. Give the mask the type of x: "
    "`ops.cast(…, x.dtype)`.",
    anywhere="Does your function look at each id, or only at how many ids are not 0?",
    training="Search your function for `np.`, `tf.`, `.numpy()` and `==`: each of them has a counterpart in "
    "`keras.ops`. On a `keras.Input`, `==` compares two objects: write `ops.equal`.",
)

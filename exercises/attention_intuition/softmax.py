"""Lab 01, exercise `softmax`."""

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.attention_intuition.shared import UNSTABLE, apart
from exercises.drawing import normal
from exercises.formulas.attention import softmax

READY_MADE_SOFTMAX = (
    "keras.ops.softmax",
    "keras.ops.nn.softmax",
    "keras.ops.log_softmax",
    "keras.ops.nn.log_softmax",
    "keras.activations.softmax",
    "keras.activations.log_softmax",
    "keras.layers.Softmax",
    "tensorflow.nn.softmax",
    "tensorflow.nn.log_softmax",
    "tensorflow.math.softmax",
    "tensorflow.math.log_softmax",
    "scipy.special.softmax",
    "scipy.special.log_softmax",
)


exercise = Exercise("softmax", call=("x",), optional=("axis",), forbidden=READY_MADE_SOFTMAX)
exercise.formula(softmax)


@exercise.group("right values along the last axis", points=1)
def values(rng: Generator) -> list[Case]:
    return [Case({"x": normal(rng, 7)}), Case({"x": normal(rng, 5, 3)}), Case({"x": normal(rng, 5, 2, 3)})]


@exercise.group("any axis", points=1, advice="`axis` says which entries sum to 1; `keepdims` helps.")
def axis(rng: Generator) -> list[Case]:
    shapes = (((5, 3), 0), ((2, 5, 3), 1), ((2, 5, 3), -2), ((2, 3, 5, 7), 1))
    return [Case({"x": normal(rng, *shape), "axis": axis}) for shape, axis in shapes]


@exercise.group("finite and right for ±1e4", points=1)
def large(rng: Generator) -> list[Case]:
    row = np.array([1e4, -1e4, 9000, 0, 5000], "float32")
    levels = np.array([[1e4], [0], [-1e4]], "float32") + apart(rng, 3, 5, step=150)
    return [
        Case({"x": row[rng.permutation(5)]}, description="entries of ±1e4"),
        Case({"x": levels[rng.permutation(3)]}, description="rows around 1e4, around 0 and around −1e4"),
    ]


@exercise.group(
    "arrays and tensors, float type kept",
    points=1,
    advice="The result has the float type of the input; `np.zeros` and `np.sqrt` of a whole number make float64.",
)
def types(rng: Generator) -> list[Case]:
    return [
        Case({"x": normal(rng, 5, 3)}, mode="tensor", description="a TensorFlow tensor", dtype="float32"),
        Case({"x": normal(rng, 5, 3)}, description="a NumPy array of float32", dtype="float32"),
        Case(
            {"x": rng.normal(size=(5, 3)), "axis": 0}, description="a NumPy array of float64, axis=0", dtype="float64"
        ),
    ]


exercise.mistakes(
    unstable_softmax=UNSTABLE,
    last_axis_only=wrong(
        "The argument `axis` is not used: you take the last one.",
        ("x.max(axis=axis, keepdims=True)", "x.max(axis=-1, keepdims=True)"),
        ("powers.sum(axis=axis, keepdims=True)", "powers.sum(axis=-1, keepdims=True)"),
    ),
    first_axis_only=wrong(
        "The argument `axis` is not used: you take the first one.",
        ("x.max(axis=axis, keepdims=True)", "x.max(axis=0, keepdims=True)"),
        ("powers.sum(axis=axis, keepdims=True)", "powers.sum(axis=0, keepdims=True)"),
    ),
    softmax_over_everything=wrong(
        "The whole array sums to 1; each slice along `axis` should sum to 1 by itself.",
        ("x.max(axis=axis, keepdims=True)", "x.max(axis=None, keepdims=True)"),
        ("powers.sum(axis=axis, keepdims=True)", "powers.sum(axis=None, keepdims=True)"),
    ),
    global_maximum=wrong(
        "The largest entry of the whole array is subtracted, so that a row far below it becomes 0/0.",
        ("x.max(axis=axis, keepdims=True)", "x.max()"),
    ),
    smallest_subtracted=wrong(
        "The smallest entry is subtracted, so that no exponent is below 0 and large ones overflow: subtract "
        "the largest.",
        ("x.max(axis=axis, keepdims=True)", "x.min(axis=axis, keepdims=True)"),
    ),
    sum_of_everything=wrong(
        "The exponentials are divided by the sum of the whole array: `axis` is missing in the sum.",
        ("powers.sum(axis=axis, keepdims=True)", "powers.sum()"),
    ),
    not_normalised=wrong(
        "The exponentials are not divided by their sum.", ("powers / powers.sum(axis=axis, keepdims=True)", "powers")
    ),
    no_exponential=wrong(
        "The exponential is missing: entries over their sum.", ("np.exp(x - x.max(axis=axis, keepdims=True))", "x")
    ),
    sign_reversed=wrong(
        "The largest entry gets the smallest share: a sign is wrong.",
        ("np.exp(x - x.max(axis=axis, keepdims=True))", "np.exp(x.min(axis=axis, keepdims=True) - x)"),
    ),
    divided_by_largest=wrong(
        "The entries are divided by the largest one, which changes their differences: subtract it.",
        ("np.exp(x - x.max(axis=axis, keepdims=True))", "np.exp(x / x.max(axis=axis, keepdims=True))"),
    ),
    logarithms=wrong(
        "These are the logarithms of the weights, none of them above 0.",
        ("powers / powers.sum(axis=axis, keepdims=True)", "np.log(powers / powers.sum(axis=axis, keepdims=True))"),
    ),
    sigmoids=wrong(
        "Each entry goes through a sigmoid of its own. In a softmax the entries compete, and the results sum to 1.",
        ("powers / powers.sum(axis=axis, keepdims=True)", "1 / (1 + np.exp(-x))"),
    ),
    clipped=wrong(
        "Large entries are cut off, and so are the differences between them.",
        (
            "np.exp(x - x.max(axis=axis, keepdims=True))",
            "np.exp(np.clip(x, -50, 50) - np.clip(x, -50, 50).max(axis=axis, keepdims=True))",
        ),
    ),
)


exercise.hints(
    "Exponentials, their sum along the axis, a division. What shape must the sum keep to divide the exponentials?",
    "Adding the same number to all entries of a row changes nothing. Which number makes every exponent at most 0?",
    "Both reductions, largest entry and sum, run along `axis` with `keepdims=True`.",
)
exercise.hints("Try a (2, 3) array with axis 0: what do its columns sum to, and what its rows?", group="axis")
exercise.hints("Which is the largest power of e that a float32 can hold? Which one is needed here?", group="large")
exercise.hints("Print the `dtype` of what goes in and of what comes out. Which line changes it?", group="types")

"""Lab 01, exercise `softmax`."""

import numpy as np

from autograder.declare import Case, Exercise, cases, edit
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

exercise = Exercise("softmax", forbidden=READY_MADE_SOFTMAX)
exercise.formula(softmax)
exercise.group("right values along the last axis", values=cases(x=[(7,), (5, 3), (5, 2, 3)]))


@exercise.group("any axis")
def axis(rng):
    shapes = (((5, 3), 0), ((2, 5, 3), 1), ((2, 5, 3), -2), ((2, 3, 5, 7), 1))
    return [Case({"x": normal(rng, *shape), "axis": axis}) for shape, axis in shapes]


@exercise.group("finite and right for ±1e4")
def large(rng):
    row = np.array([1e4, -1e4, 9000, 0, 5000], "float32")
    levels = np.array([[1e4], [0], [-1e4]], "float32") + apart(rng, 3, 5, step=150)
    yield Case({"x": row[rng.permutation(5)]}, "entries of ±1e4")
    order = rng.permutation(3)
    around = ", ".join(f"around {('1e4', '0', '−1e4')[row]}" for row in order)
    yield Case({"x": levels[order]}, f"three rows, in this order: {around}")


@exercise.group("arrays and tensors, float type kept")
def types(rng):
    yield Case({"x": normal(rng, 5, 3)}, "a TensorFlow tensor", mode="tensor", dtype="float32")
    yield Case({"x": normal(rng, 5, 3)}, "a NumPy array of float32", dtype="float32")
    yield Case({"x": rng.normal(size=(5, 3)), "axis": 0}, "a NumPy array of float64, axis=0", dtype="float64")


exercise.mistakes(
    unstable_softmax=UNSTABLE,
    last_axis_only=edit("x.max(axis=axis, keepdims=True)", "x.max(axis=-1, keepdims=True)")
    | edit("powers.sum(axis=axis, keepdims=True)", "powers.sum(axis=-1, keepdims=True)")
    | "The argument `axis` is not used: you take the last one.",
    first_axis_only=edit("x.max(axis=axis, keepdims=True)", "x.max(axis=0, keepdims=True)")
    | edit("powers.sum(axis=axis, keepdims=True)", "powers.sum(axis=0, keepdims=True)")
    | "The argument `axis` is not used: you take the first one.",
    softmax_over_everything=edit("x.max(axis=axis, keepdims=True)", "x.max(axis=None, keepdims=True)")
    | edit("powers.sum(axis=axis, keepdims=True)", "powers.sum(axis=None, keepdims=True)")
    | "The whole array sums to 1; each slice along `axis` should sum to 1 by itself.",
    global_maximum=edit("x.max(axis=axis, keepdims=True)", "x.max()")
    | "The largest entry of the whole array is subtracted, so that a row far below it becomes 0/0.",
    smallest_subtracted=edit("x.max(axis=axis, keepdims=True)", "x.min(axis=axis, keepdims=True)")
    | "The smallest entry is subtracted, so that no exponent is below 0 and large ones overflow: subtract the largest.",
    sum_of_everything=edit("powers.sum(axis=axis, keepdims=True)", "powers.sum()")
    | "The exponentials are divided by the sum of the whole array: `axis` is missing in the sum.",
    not_normalised=edit("powers / powers.sum(axis=axis, keepdims=True)", "powers")
    | "The exponentials are not divided by their sum.",
    no_exponential=edit("np.exp(x - x.max(axis=axis, keepdims=True))", "x")
    | "The exponential is missing: entries over their sum.",
    sign_reversed=edit("np.exp(x - x.max(axis=axis, keepdims=True))", "np.exp(x.min(axis=axis, keepdims=True) - x)")
    | "The largest entry gets the smallest share: a sign is wrong.",
    divided_by_largest=edit(".exp(x - x.max(axis=axis, keepdims=True))", ".exp(x / x.max(axis=axis, keepdims=True))")
    | "The entries are divided by the largest one, which changes their differences: subtract it.",
    logarithms=edit(
        "powers / powers.sum(axis=axis, keepdims=True)", "np.log(powers / powers.sum(axis=axis, keepdims=True))"
    )
    | "These are the logarithms of the weights, none of them above 0.",
    sigmoids=edit("powers / powers.sum(axis=axis, keepdims=True)", "1 / (1 + np.exp(-x))")
    | "Each entry goes through a sigmoid of its own. In a softmax the entries compete, and the results sum to 1.",
    clipped=edit("x - x.max", "np.clip(x, -50, 50) - np.clip(x, -50, 50).max")
    | "Large entries are cut off, and so are the differences between them.",
)

exercise.advice(
    axis="`axis` says which entries sum to 1; `keepdims` helps.",
    types="The result has the float type of the input; `np.zeros` and `np.sqrt` of a whole number make float64.",
)
exercise.hints(
    values=(
        "Exponentials, their sum along the axis, a division. What shape must the sum keep to divide the exponentials?",
        "Adding the same number to all entries of a row changes nothing. Which number makes every exponent at most 0?",
        "Both reductions, largest entry and sum, run along `axis` with `keepdims=True`.",
    ),
    axis="Try a (2, 3) array with axis 0: what do its columns sum to, and what its rows?",
    large="Which is the largest power of e that a float32 can hold? Which one is needed here?",
    types="Print the `dtype` of what goes in and of what comes out. Which line changes it?",
)

"""Lab 01, exercise `softmax`."""

import numpy as np
from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.attention_intuition.shared import UNSTABLE, apart
from autograder.exercises.drawing import normal
from autograder.mistaken import attention_intuition as mistaken
from autograder.oracles import attention_intuition as oracles

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


exercise = Exercise("softmax", oracle=oracles.softmax, mistaken=mistaken.softmax, forbidden=READY_MADE_SOFTMAX)


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
    return [Case({"x": row[rng.permutation(5)]}, description="entries of ±1e4"), Case({"x": levels[rng.permutation(3)]}, description="rows around 1e4, around 0 and around −1e4")]


@exercise.group("arrays and tensors, float type kept", points=1, advice="The result has the float type of the input; `np.zeros` and `np.sqrt` of a whole number make float64.")
def types(rng: Generator) -> list[Case]:
    return [
        Case({"x": normal(rng, 5, 3)}, mode="tensor", description="a TensorFlow tensor", dtype="float32"),
        Case({"x": normal(rng, 5, 3)}, description="a NumPy array of float32", dtype="float32"),
        Case({"x": rng.normal(size=(5, 3)), "axis": 0}, description="a NumPy array of float64, axis=0", dtype="float64"),
    ]


exercise.mistakes(
    unstable_softmax=UNSTABLE,
    last_axis_only=wrong("The argument `axis` is not used: you take the last one.", axis_used="last"),
    first_axis_only=wrong("The argument `axis` is not used: you take the first one.", axis_used="first"),
    softmax_over_everything=wrong("The whole array sums to 1; each slice along `axis` should sum to 1 by itself.", axis_used="all"),
    global_maximum=wrong("The largest entry of the whole array is subtracted, so that a row far below it becomes 0/0.", peak="global"),
    smallest_subtracted=wrong("The smallest entry is subtracted, so that no exponent is below 0 and large ones overflow: subtract the largest.", peak="smallest"),
    sum_of_everything=wrong("The exponentials are divided by the sum of the whole array: `axis` is missing in the sum.", summed="all"),
    not_normalised=wrong("The exponentials are not divided by their sum.", normalised=False),
    no_exponential=wrong("The exponential is missing: entries over their sum.", exponential=False),
    sign_reversed=wrong("The largest entry gets the smallest share: a sign is wrong.", negated=True),
    divided_by_largest=wrong("The entries are divided by the largest one, which changes their differences: subtract it.", peak="divisor"),
    logarithms=wrong("These are the logarithms of the weights, none of them above 0.", result="logarithms"),
    sigmoids=wrong("Each entry goes through a sigmoid of its own. In a softmax the entries compete, and the results sum to 1.", result="sigmoids"),
    clipped=wrong("Large entries are cut off, and so are the differences between them.", clipped=True),
)


exercise.hints(
    "Exponentials, their sum along the axis, a division. What shape must the sum keep to divide the exponentials?",
    "Adding the same number to all entries of a row changes nothing. Which number makes every exponent at most 0?",
    "Both reductions, largest entry and sum, run along `axis` with `keepdims=True`.",
)
exercise.hints("Try a (2, 3) array with axis 0: what do its columns sum to, and what its rows?", group="axis")
exercise.hints("Which is the largest power of e that a float32 can hold? Which one is needed here?", group="large")
exercise.hints("Print the `dtype` of what goes in and of what comes out. Which line changes it?", group="types")

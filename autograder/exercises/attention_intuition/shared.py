"""What several exercises of lab 01 share."""

import numpy as np
from coursekit.generator import Generator

from autograder.declaring import Case, wrong
from autograder.exercises.drawing import normal

TRANSPOSED = wrong("The scores come back transposed: row t belongs to query t, column s to key s.", transposed=True)


WEIGHTS_RETURNED = wrong("Your rows sum to 1: those are weights. A score function returns what goes into the softmax.", weights_instead=True)


SWAPPED_RESULTS = wrong("The two results come back in the wrong order.", swapped_results=True)


OVER_QUERIES = wrong("The columns of the weights sum to 1, not the rows: the queries compete instead of the keys.", softmax_axis=-2)


NO_SOFTMAX = wrong("The scores weight the values directly: no softmax.", no_softmax=True)


UNSTABLE = wrong("Large scores overflow in `exp` and give NaN. What can be subtracted from a row without changing its softmax?", stable=False)


def apart(rng: Generator, rows: int, columns: int, step: float = 2500) -> np.ndarray:
    """Large scores (rows, columns), in each row so far apart that rounding decides nothing, whichever way one sums."""
    levels = step * (np.arange(columns) - columns // 2)
    return (rng.permuted(np.tile(levels, (rows, 1)), axis=1) + rng.normal(size=(rows, columns))).astype("float32")


def pairs(rng: Generator, t: int, s: int, d: int, dtype: str = "float32") -> dict:
    return {"q": normal(rng, t, d, dtype=dtype), "k": normal(rng, s, d, dtype=dtype)}


def pair_values(rng: Generator) -> list[Case]:
    return [Case(pairs(rng, 5, 3, 7)), Case(pairs(rng, 2, 11, 3)), Case(pairs(rng, 5, 5, 3))]


def pair_types(rng: Generator) -> list[Case]:
    return [
        Case(pairs(rng, 5, 3, 7), mode="tensor", description="TensorFlow tensors"),
        Case(pairs(rng, 5, 3, 7), description="NumPy arrays of float32"),
        Case(pairs(rng, 5, 3, 7, dtype="float64"), description="NumPy arrays of float64"),
    ]


def widths(make, first: tuple[int, int], second: tuple[int, int]):
    return lambda rng: [Case(make(rng, *first)), Case(make(rng, *second))]


def weighted_types(make):
    return lambda rng: [
        Case(make(rng, 7, 2), mode="tensor", description="TensorFlow tensors"),
        Case(make(rng, 7, 2), description="NumPy arrays of float32"),
        Case(make(rng, 7, 2, dtype="float64"), description="NumPy arrays of float64"),
    ]


TYPES = "arrays and tensors"


TYPES_ADVICE = "Tensors have few of NumPy's methods, and TensorFlow multiplies no float32 by a float64. Convert all arguments to one kind first: `ops.convert_to_tensor(x)`, or `np.asarray(x)`."


TRAINING_ADVICE = "Inside a layer use `keras.ops` (or TensorFlow operations): NumPy stops both graphs and gradients."


ACTIVATION_MISTAKES = dict(
    no_tanh=wrong("The tanh is missing: without it the score is linear in q and k.", activation="none"),
    tanh_outside=wrong("The tanh comes last. It belongs before the product with v.", activation="outside"),
    tanh_of_each=wrong("tanh is applied to each projection; it should be applied once, to their sum.", activation="each"),
    relu_for_tanh=wrong("The hidden layer has a ReLU where the exercise asks for tanh.", activation="relu"),
    sigmoid_for_tanh=wrong("The hidden layer has a sigmoid where the exercise asks for tanh.", activation="sigmoid"),
    multiplied=wrong("The two projections are multiplied; additive attention adds them.", combined="product"),
)

"""Lab 01, exercise `attention_pooling`."""

import numpy as np

from autograder.declare import Case, Exercise, edit, instead
from exercises.attention_intuition.shared import SWAPPED_RESULTS, TYPES, TYPES_ADVICE
from exercises.drawing import normal
from exercises.formulas.attention import softmax


def _pool(rng, d: int = 3, m: int = 5, e: int = 2, dtype: str = "float32") -> dict:
    return {
        "query": normal(rng, d, dtype=dtype),
        "keys": normal(rng, m, d, dtype=dtype),
        "values": normal(rng, m, e, dtype=dtype),
    }


def equal_where_all_are_0(query, keys, values, bandwidth=1.0):
    """The kernels over their sum; where that is 0, the same weight for every key."""
    kernels = np.exp(-((query - keys) ** 2).sum(axis=-1) / (2 * bandwidth**2))
    total = kernels.sum()
    weights = kernels / total if total > 0 else np.full(len(keys), 1 / len(keys))
    return weights @ values, weights


exercise = Exercise("attention_pooling", returns=("output", "weights"), uses=("softmax",))


@exercise.formula
def attention_pooling(query, keys, values, bandwidth=1.0):
    """Nadaraya–Watson pooling with a Gaussian kernel, exp(−‖q−k‖² / 2·bandwidth²), normalised.

    query (d,), keys (m, d), values (m, e) -> output (e,), weights (m,) (Nadaraya 1964, Watson 1964).
    """
    exponents = -((query - keys) ** 2).sum(axis=-1) / (2 * bandwidth**2)
    weights = softmax(exponents)
    result = weights @ values
    return result, weights


@exercise.group("right values, bandwidth 1")
def values(rng):
    return [Case(_pool(rng)), Case(_pool(rng, d=2, m=7, e=3))]


@exercise.group("other bandwidths")
def bandwidth(rng):
    return [Case({**_pool(rng), "bandwidth": width}) for width in (0.6, 2.5)]


@exercise.group("right and finite far from all keys", must_fail_for=("dot_product",))
def far(rng):
    """Whole numbers, so that the squared distances are exact in float32 whichever way they are calculated."""
    far, narrow = _pool(rng), _pool(rng)
    far["query"] = rng.integers(60, 70, size=3).astype("float32")
    far["keys"] = (rng.permutation(5)[:, None] * np.ones((1, 3)) + rng.integers(-1, 1, size=(5, 3))).astype("float32")
    offsets = np.eye(3)[rng.integers(3, size=5)] * rng.permutation(np.arange(1, 6))[:, None]
    narrow["query"] = rng.integers(-3, 4, size=3).astype("float32")
    narrow["keys"] = (narrow["query"] + offsets).astype("float32")
    yield Case(far, "a query far from all keys")
    yield Case({**narrow, "bandwidth": 1 / 64}, "keys at distances from 1 to 5, bandwidth=1/64")


@exercise.group(TYPES)
def types(rng):
    yield Case({**_pool(rng), "bandwidth": 1.5}, "TensorFlow tensors", mode="tensor")
    yield Case(_pool(rng), "NumPy arrays of float32")
    yield Case(_pool(rng, dtype="float64"), "NumPy arrays of float64")


SQUARES = "((query - keys) ** 2).sum(axis=-1)"

exercise.mistakes(
    factor_2_missing=edit("2 * bandwidth**2", "bandwidth**2")
    | "The exponent is divided by the bandwidth squared, without the 2.",
    bandwidth_not_squared=edit("2 * bandwidth**2", "2 * bandwidth") | "The bandwidth has to be squared.",
    two_squared=edit("2 * bandwidth**2", "(2 * bandwidth) ** 2")
    | "The 2 is squared with the bandwidth: the divisor is 2·b², not (2·b)².",
    divided_by_bandwidth=edit("2 * bandwidth**2", "bandwidth")
    | "The exponent is divided by the bandwidth: a square and a 2 are missing.",
    bandwidth_ignored=edit("2 * bandwidth**2", "2") | "The bandwidth changes nothing in your result.",
    multiplied_by_bandwidth=edit("2 * bandwidth**2", "2 / bandwidth**2")
    | "`/ 2 * bandwidth ** 2` divides by 2 and then multiplies: put the divisor in brackets.",
    bandwidth_inverted=edit("2 * bandwidth**2", "1 / (2 * bandwidth**2)")
    | "A larger bandwidth should let farther keys count more, not less.",
    distance_not_squared=edit(SQUARES, "np.sqrt(((query - keys) ** 2).sum(axis=-1))") | "The distance is not squared.",
    dot_product=edit(SQUARES, "-(keys @ query)")
    | "The exponents hold dot products; this kernel needs the squared distance between query and key.",
    distance_averaged=edit(SQUARES, "((query - keys) ** 2).mean(axis=-1)")
    | "The squares are averaged over d; they should be summed.",
    manhattan_distance=edit(SQUARES, "np.abs(query - keys).sum(axis=-1)")
    | "Absolute differences are summed, not squares.",
    squared_after_sum=edit(SQUARES, "np.abs(query - keys).sum(axis=-1) ** 2")
    | "Absolute differences are summed, and the sum is squared. Square each difference first, and then sum."
    | "What is the squared length of (1, 1): 2 or 4?",
    sign_reversed=edit("-((query - keys) ** 2).sum(axis=-1)", "((query - keys) ** 2).sum(axis=-1)")
    | "The farther a key, the larger its weight: the minus is missing.",
    not_normalised=edit("softmax(exponents)", "np.exp(exponents)")
    | "The weights do not sum to 1: they are not normalised.",
    exponential_twice=edit("softmax(exponents)", "softmax(np.exp(exponents))")
    | "The kernels go into a softmax, which takes their exponential once more. Put the exponents into the softmax.",
    divided_by_count=edit("softmax(exponents)", "np.exp(exponents) / len(exponents)")
    | "The kernels are divided by their number, not by their sum.",
    unstable_kernel=edit("softmax(exponents)", "np.exp(exponents) / np.exp(exponents).sum()")
    | "Far from all keys every kernel rounds to 0, and 0/0 is NaN. Which softmax avoids this?",
    equal_where_all_are_0=instead(equal_where_all_are_0)
    | "Far from all keys every kernel rounds to 0, and there you give all keys the same weight. The nearest key should "
    "get the most. Which number can you subtract from all exponents, so that its kernel is 1?",
    nothing_where_all_are_0=edit("softmax(exponents)", "np.exp(exponents) / np.maximum(np.exp(exponents).sum(), 1e-30)")
    | "Far from all keys every kernel rounds to 0, and there all your weights are 0. They should sum to 1. Which "
    "number can you subtract from all exponents, so that the kernel of the nearest key is 1?",
    smallest_exponent_subtracted=edit(
        "np.exp(x - x.max(axis=axis, keepdims=True))", "np.exp((x - x.min(axis=axis, keepdims=True)).astype('float32'))"
    )
    | "The smallest exponent is subtracted, that of the farthest key, so that exp overflows and ∞/∞ is NaN. Subtract "
    "the largest exponent, that of the nearest key.",
    results_swapped=SWAPPED_RESULTS,
)

exercise.advice(
    far="Far from every key all kernels exp(−d²/(2σ²)) round to 0. The weights are the softmax of the exponents: "
    "subtract the largest exponent from all, and the nearest key has exp(0) = 1.",
    types=TYPES_ADVICE,
)
exercise.hints(
    values=(
        "query (d,) minus keys (S, d) broadcasts to (S, d). Which axis does the squared distance sum over?",
        "The weights are the softmax of −distance²/(2·bandwidth²). You already have a safe softmax.",
        "The output is the weights (S,) times the values (S, dv).",
    ),
    bandwidth=(
        "Put bandwidth 2 into the formula by hand and compare.",
        "A wide kernel should let far keys count more.",
    ),
    far="exp(−800) is 0 in a computer, and exp(800) is infinite. Which exponents reach `exp` in your code when the "
    "query is far from all keys?",
    types="The numbers are right for one kind of argument. What does your code call that the other kind does not have?",
)

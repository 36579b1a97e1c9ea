"""Lab 01, exercise `find_the_bug`."""

from autograder.declare import Case, Exercise, edit
from exercises.drawing import normal
from exercises.formulas.attention import softmax

exercise = Exercise("find_the_bug", returns=("output", "weights"))


@exercise.formula
def pooling_of_many(queries, keys, values, bandwidth=1.0):
    """Attention pooling for each of the queries (T, d); output (T, dv) and weights (T, S)."""
    exponents = -((queries[:, None] - keys) ** 2).sum(axis=-1) / (2 * bandwidth**2)
    weights = softmax(exponents)
    return weights @ values, weights


def _inputs(rng, bandwidth: float, *, queries: int = 3, keys: int = 7, d: int = 2, e: int = 5) -> dict:
    return {
        "queries": normal(rng, queries, d),
        "keys": normal(rng, keys, d),
        "values": normal(rng, keys, e),
        "bandwidth": bandwidth,
    }


@exercise.group("narrow and wide kernels", points=2)
def values(rng):
    by_default = {key: value for key, value in _inputs(rng, 1.0).items() if key != "bandwidth"}
    yield Case(_inputs(rng, 0.6))
    yield Case(_inputs(rng, 2.5))
    yield Case(_inputs(rng, 1.7, queries=5, keys=3, d=11))
    yield Case(by_default)


@exercise.group("right and finite far from all keys")
def far(rng):
    """Whole numbers, so that the squared distances are exact in float32 whichever way they are calculated."""
    inputs = _inputs(rng, 21.0)
    inputs["queries"] = rng.integers(600, 610, size=(3, 2)).astype("float32")
    inputs["keys"] = (rng.permutation(7)[:, None] + rng.integers(-1, 1, size=(7, 2))).astype("float32")
    return Case(inputs, "queries far from all keys, bandwidth=21.0", scale=1000.0)


exercise.given(("2 * bandwidth**2", "2 / bandwidth**2"))

exercise.mistakes(
    bandwidth_not_squared=edit("2 * bandwidth**2", "2 * bandwidth") | "The bandwidth has to be squared.",
    factor_2_missing=edit("2 * bandwidth**2", "bandwidth**2")
    | "The exponent is divided by the bandwidth squared, without the 2.",
    factor_2_squared=edit("2 * bandwidth**2", "(2 * bandwidth) ** 2")
    | "The 2 is squared as well. Only the bandwidth is.",
    bandwidth_ignored=edit("2 * bandwidth**2", "2") | "The bandwidth changes nothing in your result.",
    sign_reversed=edit("-((queries[:, None] - keys) ** 2).sum", "((queries[:, None] - keys) ** 2).sum")
    | "The farther a key, the larger its weight: the minus is missing.",
    weights_over_queries=edit("softmax(exponents)", "softmax(exponents, axis=0)")
    | "The weights of each key sum to 1. Each query shares its weight among the keys: the rows should sum to 1.",
    weights_over_everything=edit("softmax(exponents)", "softmax(exponents, axis=(0, 1))")
    | "All weights together sum to 1. Each row, one for each query, should sum to 1 by itself.",
    unstable_kernel=edit("softmax(exponents)", "np.exp(exponents) / np.exp(exponents).sum(axis=-1, keepdims=True)")
    | "Far from all keys every kernel rounds to 0, and 0/0 is NaN. Put the exponents into a softmax.",
)

exercise.hints(
    values=(
        "For which bandwidth is the code right? It is right for one and wrong for others: which expressions does that "
        "point to?",
        "Put numbers into the exponent: distance 2, bandwidth 3. What does the formula say, and what does Python "
        "calculate, from left to right?",
    ),
    far="The softmax in the given code is safe. Does it still get the exponents themselves?",
)

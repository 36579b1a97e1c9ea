"""Lab 01, exercise `derive_pooling_gradient`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit, instead
from exercises.drawing import by_hand, normal
from exercises.formulas.attention import softmax

exercise = Exercise(
    "derive_pooling_gradient",
    returns=("gradient",),
    forbidden=("tensorflow.GradientTape", "tensorflow.gradients", "tensorflow.autodiff.ForwardAccumulator"),
    uses=("softmax",),
)


@exercise.formula
def gradient(query: np.ndarray, keys: np.ndarray, values: np.ndarray, bandwidth: float = 1.0) -> np.ndarray:
    """Σ_s α_s (v_s − v̄)(k_s − q)ᵀ / σ²: the covariance of values and keys under the weights, divided by σ².

    The derivative of Nadaraya–Watson pooling by its query: dα_s/dq = α_s (k_s − k̄) / σ². As Σ α_s (v_s − v̄) = 0, it
    does not matter which point the keys are measured from. query (…, d), keys (S, d), values (S, dv) -> (…, dv, d).
    """
    steps = keys - query[..., None, :]
    exponents = -(steps**2).sum(axis=-1) / (2 * bandwidth**2)
    weights = softmax(exponents)
    mean_value = weights @ values
    apart = values - mean_value[..., None, :]
    covariance = np.einsum("...s,...se,...sd->...ed", weights, apart, steps)
    return covariance / bandwidth**2


def difference_quotient(query, keys, values, bandwidth=1.0, step=1e-5):
    """No derivation: the central difference quotient of the pooling, with one step for all lengths."""

    def pooled(at):
        exponents = -((keys - at[..., None, :]) ** 2).sum(axis=-1) / (2 * bandwidth**2)
        return softmax(exponents) @ values

    steps = step * np.eye(keys.shape[1])
    return np.stack([(pooled(query + each) - pooled(query - each)) / (2 * step) for each in steps], axis=-1)


def quotient_with_step_1e_4(query, keys, values, bandwidth=1.0):
    """The same with a larger step."""
    return difference_quotient(query, keys, values, bandwidth, 1e-4)


def quotient_with_step_1e_3(query, keys, values, bandwidth=1.0):
    """The same with the largest step in use."""
    return difference_quotient(query, keys, values, bandwidth, 1e-3)


def _inputs(rng, d: int, keys: int, e: int, queries: int = 0, dtype: str = "float32") -> dict:
    """Keys around the query or queries, each of which gets a share of the weight."""
    return {
        "query": normal(rng, *((queries,) if queries else ()), d, dtype=dtype),
        "keys": normal(rng, keys, d, dtype=dtype),
        "values": normal(rng, keys, e, dtype=dtype),
    }


TINY, HUGE = 2.0**-15, 2.0**17  # powers of two: float32 rounds at each scale alike


def _resized(inputs: dict, width: float, size: float) -> dict:
    """All lengths, and the values, times `size`: the gradient stays, and the step of a difference quotient does not."""
    resized = {name: (size * array).astype(array.dtype) for name, array in inputs.items()}
    return {**resized, "bandwidth": size * width}


@exercise.group("one query, bandwidth 1", points=2)
def values(rng):
    yield by_hand("equal values", query=[0], keys=[[0], [1]], values=[[1], [1]])
    yield by_hand("two keys with half of the weight each", query=[0], keys=[[-1], [1]], values=[[0], [1]])
    yield from (_inputs(rng, 3, 7, 2), _inputs(rng, 2, 5, 3), _inputs(rng, 5, 3, 5))


@exercise.group("other bandwidths", must_fail_for=("bandwidth_not_squared", "bandwidth_forgotten"))
def bandwidths(rng):
    sizes = ((0.7, 1.0), (2.3, HUGE), (1.1, TINY))
    return [Case(_resized(_inputs(rng, 3, 7, 2), width, size)) for width, size in sizes]


@exercise.group("several queries, arrays and tensors")
def several(rng):
    yield _resized(_inputs(rng, 3, 7, 2, queries=5), 1.5, TINY)
    yield Case(_inputs(rng, 3, 7, 2, queries=5), "TensorFlow tensors, query (5, 3)", mode="tensor")
    yield Case(
        _resized(_inputs(rng, 2, 5, 3, queries=7, dtype="float64"), 1.3, HUGE),
        "NumPy arrays of float64, query (7, 2), a wide kernel",
    )


@exercise.group("right and finite far from all keys", must_fail_for=("unstable_kernel",))
def far(rng):
    """Whole numbers over a power of two, so that float32 holds the exponents exactly however they are made."""
    inputs = _inputs(rng, 2, 7, 3)
    inputs["query"] = (1000 + rng.integers(1, 10, size=2)).astype("float32")
    inputs["keys"] = np.stack([rng.permutation(7), rng.integers(-1, 2, size=7)], axis=1).astype("float32")
    inputs["values"] = (100 * inputs["values"]).astype("float32")
    both = {**inputs, "query": np.stack([rng.integers(0, 6, size=2), inputs["query"]]).astype("float32")}
    narrow = _inputs(rng, 2, 7, 3)
    narrow["query"] = rng.integers(-3, 4, size=2).astype("float32")
    offsets = np.array([[1, 0], [0, 1], [4, 1], [-3, 4], [5, -2], [-6, 0], [2, 7]])[rng.permutation(7)]
    narrow["keys"] = (narrow["query"] + offsets * (2 * rng.integers(2, size=2) - 1)).astype("float32")
    # Four keys at one distance, and any step of the query gives one of them all of the weight, or is lost in rounding:
    # no difference quotient gives this slope, however its step is chosen. The formula is exact here in float32.
    between = {"query": np.zeros(2, "float32"), "values": normal(rng, 4, 3)}
    between["keys"] = (2.0**12 * np.concatenate([np.eye(2), -np.eye(2)])[rng.permutation(4)]).astype("float32")
    yield Case({**inputs, "bandwidth": 32.0}, "a query far from all keys, bandwidth=32", scale=25.0)
    yield Case({**between, "bandwidth": 2.0**-12}, "four keys around the query, 2²⁴ bandwidths away")
    yield Case({**both, "bandwidth": 16.0}, "a query near the keys and one far from all", scale=100.0)
    yield Case({**narrow, "bandwidth": 1 / 16}, "keys at distances from 1 to 7, bandwidth=1/16")


APART = "values - mean_value[..., None, :]"
PRODUCT = 'np.einsum("...s,...se,...sd->...ed", weights, apart, steps)'
AS_THEY_ARE = "values - 0 * mean_value[..., None, :]"
LAST = "covariance / bandwidth**2"
FROM_MEAN = "keys - (weights @ keys)[..., None, :]"
QUOTIENT = (
    "This is a difference quotient with a fixed step. It is only near the gradient, and no step fits all lengths: "
    "derive a formula."
)
ALL_DEPEND = "One step of the query changes all kernels, and so their sum, by which every weight is divided."

exercise.mistakes(
    sum_held_fixed=edit(APART, AS_THEY_ARE)
    | "You derive each kernel and keep the sum of the kernels fixed. The sum depends on the query as well."
    | "Which derivative does a fraction have whose numerator and denominator both depend on q?",
    means_missing=edit((APART, AS_THEY_ARE), (PRODUCT, 'np.einsum("...s,...se,...sd->...ed", weights, apart, keys)'))
    | "This is the weighted sum of v kᵀ, divided by σ². When all values grow by the same number, the slope of the "
    "output must not change; yours does." | f"{ALL_DEPEND} What does that take away from k_s?",
    bandwidth_not_squared=edit(LAST, "covariance / bandwidth")
    | "The gradient is divided by σ; in the exponent the bandwidth is squared, and the derivative keeps the square."
    | "Derive −(q − k)²/(2σ²) by q. What is left of the 2, and what of the σ²?",
    bandwidth_forgotten=edit(LAST, "covariance")
    | "The exponent has a σ² below it. It is missing in your derivative."
    | "Derive −(q − k)²/(2σ²) by q, with all constants.",
    half_as_large=edit(LAST, "covariance / (2 * bandwidth**2)")
    | "The result is half as large as it should be. What does the derivative of a square do to the 2 in 2σ²?"
    | "Derive −(q − k)²/(2σ²) by q. Is the 2 still there?",
    twice_as_large=edit(LAST, "2 * covariance / bandwidth**2")
    | "The result is twice as large as it should be: the 2 in 2σ² is missing."
    | "Derive −(q − k)²/(2σ²) by q. Two factors of 2 meet in it.",
    other_sign=edit(LAST, "-covariance / bandwidth**2")
    | "The sign is wrong. When the query moves towards a key, the weight of this key grows."
    | "Derive −(q − k)²/(2σ²) by q: two minus signs meet.",
    transposed=edit(PRODUCT, 'np.einsum("...s,...se,...sd->...de", weights, apart, steps)')
    | "The gradient is transposed: rows belong to the numbers of the output, columns to those of the query."
    | "The first row holds the derivatives of output[0]. How many are they?",
    diagonal_only=edit(PRODUCT, 'np.einsum("...s,...se,...sd->...ed", weights * (1 - weights), values, steps)')
    | "You take a weight to depend on its own score only, α(1 − α). It depends on the scores of all other keys, too."
    | "What happens to α_1 when the query moves and only the score of key 2 changes?",
    weights_left_out=edit(PRODUCT, f'np.einsum("...se,...sd->...ed", apart, {FROM_MEAN})')
    | "The products of values and keys are summed without their weights."
    | "How much may a key contribute that lies far from the query?",
    weights_left_out_from_query=edit(PRODUCT, 'np.einsum("...se,...sd->...ed", apart, steps)')
    | "The products of values and keys are summed without their weights."
    | "How much may a key contribute that lies far from the query?",
    plain_means=edit("weights @ values", "values.mean(axis=0)")
    | edit(PRODUCT, 'np.einsum("...s,...se,...sd->...ed", weights, apart, keys - keys.mean(axis=0))')
    | "The means that you subtract count every key alike. The weights of this query belong into them."
    | "Which mean of the values is the output itself?",
    weights_twice=edit(PRODUCT, f'np.einsum("...s,...se,...sd->...ed", weights**2, apart, {FROM_MEAN})')
    | "The weights come in twice."
    | "Which derivative does e^x have? So what stands before the bracket in that of α_s?",
    unstable_kernel=edit(
        "softmax(exponents)", "np.exp(exponents) / np.exp(exponents).sum(axis=-1, keepdims=True)", see="01#bandwidth"
    )
    | "Far from all keys every kernel rounds to 0, and 0/0 is NaN. Which softmax avoids this?",
    difference_quotient=instead(difference_quotient) | QUOTIENT,
    quotient_with_step_1e_4=instead(quotient_with_step_1e_4) | QUOTIENT,
    quotient_with_step_1e_3=instead(quotient_with_step_1e_3) | QUOTIENT,
    plain_mean_of_keys=edit(APART, AS_THEY_ARE)
    | edit("keys - query[..., None, :]", "keys - 0 * query[..., None, :] - keys.mean(axis=0)")
    | edit("-(steps**2).sum(axis=-1)", "-((keys - query[..., None, :]) ** 2).sum(axis=-1)")
    | "You take the plain mean of the keys off. It should be their mean under the weights."
    | "Derive log Σ exp(…): which weights stand before the keys?",
)

exercise.advice(
    values=Advice(
        value="Every key moves every weight, because the weights share one sum. Derive the softmax first, then the "
        "exponent, and put the two together.",
        shape="Row e belongs to number e of the output, column i to number i of the query: (dv, d).",
    ),
    bandwidths="The bandwidth stands at two places of the formula: in the weights, and in the derivative of the "
    "exponent. A difference quotient has no step that fits all lengths here.",
    several=Advice(
        value="Each query has weights and means of its own.",
        shape="Queries (T, d) give (T, dv, d); one query (d,) gives (dv, d). Count the axes from the end: "
        "`query[..., None, :] - keys` is (…, S, d).",
    ),
    far=Advice(
        nan="Far from every key all kernels round to 0, and 0/0 is NaN. The weights are the softmax of the exponents.",
        value="A formula is exact here. A difference quotient is not, whatever its step.",
    ),
)
exercise.hints(
    values=(
        "The output is Σ α_s v_s, and only the weights depend on the query. So you need the derivative of each α_s.",
        "d log α_s = d(exponent of s) − d log Σ exp(exponents). Write both terms as sums over keys; then dα = α · d "
        "log α.",
    ),
    bandwidths="Is it a formula? Put σ = 2 into it by hand, for two keys on a line.",
    several="An einsum with `...` in front of its letters takes any leading axes. Which letters are S, dv and d?",
    far="If you get NaN: your safe softmax has solved this once already, in `attention_pooling`.",
)
exercise.worked = (
    "The output is Σ α_s v_s, and only the weights α_s depend on the query q.\n"
    "Take the logarithm of a weight: ln α_s = e_s − ln Σ exp(e_r), with the exponents e_s = −(q − k_s)²/(2σ²).\n"
    "The derivative of e_s by q is (k_s − q)/σ². The derivative of the other term is the mean of all these under "
    "the weights, (k̄ − q)/σ² with k̄ = Σ α_r k_r.\n"
    "In the difference the two q cancel: dα_s/dq = α_s (k_s − k̄)/σ². A key gains weight if the query moves "
    "towards it and away from the mean key.\n"
    "The output moves by Σ α_s v_s (k_s − k̄)ᵀ/σ². Because Σ α_s (k_s − k̄) = 0, you may take the mean value v̄, "
    "which is the output, off every v_s.\n"
    "So the gradient is Σ α_s (v_s − v̄)(k_s − k̄)ᵀ/σ²: the covariance of values and keys under the weights, "
    "divided by σ². Equal values give 0."
)

"""Lab 01, attention intuition: the exercises, their cases and the mistakes that are named."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Group, Misconception
from autograder.exercises.drawing import drawn_until, masks_matter, normal, partial_mask
from autograder.exercises.self_attention import BUILT_IN_ATTENTION, MASK_MISTAKES, SCORES_RETURNED
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

TRANSPOSED = Misconception(
    "scores_transposed",
    {"transposed": True},
    "The scores come back transposed: row t belongs to query t, column s to key s.",
)
WEIGHTS_RETURNED = Misconception(
    "weights_instead_of_scores",
    {"weights_instead": True},
    "Your rows sum to 1: those are weights. A score function returns what goes into the softmax.",
)
SWAPPED_RESULTS = Misconception(
    "results_swapped", {"swapped_results": True}, "The two results come back in the wrong order."
)
OVER_QUERIES = Misconception(
    "softmax_over_queries",
    {"softmax_axis": -2},
    "The columns of the weights sum to 1, not the rows: the queries compete instead of the keys.",
)
OVER_ALL = Misconception(
    "softmax_over_everything",
    {"softmax_axis": (-2, -1)},
    "The whole matrix of weights sums to 1: every query needs a softmax of its own.",
)
NO_SOFTMAX = Misconception("no_softmax", {"no_softmax": True}, "The scores weight the values directly: no softmax.")
UNSTABLE = Misconception(
    "unstable_softmax",
    {"stable": False},
    "Large scores overflow in `exp` and give NaN. What can be subtracted from a row without changing its softmax?",
)


def _softmax_values(rng: np.random.Generator) -> list[Case]:
    return [Case({"x": normal(rng, 7)}), Case({"x": normal(rng, 5, 3)}), Case({"x": normal(rng, 5, 2, 3)})]


def _softmax_axes(rng: np.random.Generator) -> list[Case]:
    shapes = (((5, 3), 0), ((2, 5, 3), 1), ((2, 5, 3), -2), ((2, 3, 5, 7), 1))
    return [Case({"x": normal(rng, *shape), "axis": axis}) for shape, axis in shapes]


def _apart(rng: np.random.Generator, rows: int, columns: int, step: float = 2500) -> np.ndarray:
    """Large scores (rows, columns), in each row so far apart that rounding decides nothing, whichever way one sums."""
    levels = step * (np.arange(columns) - columns // 2)
    return (rng.permuted(np.tile(levels, (rows, 1)), axis=1) + rng.normal(size=(rows, columns))).astype("float32")


def _softmax_large(rng: np.random.Generator) -> list[Case]:
    row = np.array([1e4, -1e4, 9000, 0, 5000], "float32")
    levels = np.array([[1e4], [0], [-1e4]], "float32") + _apart(rng, 3, 5, step=150)
    return [
        Case({"x": row[rng.permutation(5)]}, how="entries of ±1e4"),
        Case({"x": levels[rng.permutation(3)]}, how="rows around 1e4, around 0 and around −1e4"),
    ]


def _softmax_types(rng: np.random.Generator) -> list[Case]:
    return [
        Case({"x": normal(rng, 5, 3)}, mode="tensor", how="a TensorFlow tensor", dtype="float32"),
        Case({"x": normal(rng, 5, 3)}, how="a NumPy array of float32", dtype="float32"),
        Case({"x": rng.normal(size=(5, 3)), "axis": 0}, how="a NumPy array of float64, axis=0", dtype="float64"),
    ]


def _pool(rng: np.random.Generator, d: int = 3, m: int = 5, e: int = 2, dtype: str = "float32") -> dict:
    return {
        "query": normal(rng, d, dtype=dtype),
        "keys": normal(rng, m, d, dtype=dtype),
        "values": normal(rng, m, e, dtype=dtype),
    }


def _pool_values(rng: np.random.Generator) -> list[Case]:
    return [Case(_pool(rng)), Case(_pool(rng, d=2, m=7, e=3))]


def _pool_bandwidths(rng: np.random.Generator) -> list[Case]:
    return [Case({**_pool(rng), "bandwidth": width}) for width in (0.6, 2.5)]


def _pool_far(rng: np.random.Generator) -> list[Case]:
    """Whole numbers, so that the squared distances are exact in float32 whichever way they are calculated."""
    far, narrow = _pool(rng), _pool(rng)
    far["query"] = rng.integers(60, 70, size=3).astype("float32")
    far["keys"] = (rng.permutation(5)[:, None] * np.ones((1, 3)) + rng.integers(-1, 1, size=(5, 3))).astype("float32")
    offsets = np.eye(3)[rng.integers(3, size=5)] * rng.permutation(np.arange(1, 6))[:, None]
    narrow["query"] = rng.integers(-3, 4, size=3).astype("float32")
    narrow["keys"] = (narrow["query"] + offsets).astype("float32")
    return [
        Case(far, how="a query far from all keys"),
        Case({**narrow, "bandwidth": 1 / 64}, how="keys at distances from 1 to 5, bandwidth=1/64"),
    ]


def _pool_types(rng: np.random.Generator) -> list[Case]:
    return [
        Case({**_pool(rng), "bandwidth": 1.5}, mode="tensor", how="TensorFlow tensors", dtype="float32"),
        Case(_pool(rng), how="NumPy arrays of float32", dtype="float32"),
        Case(_pool(rng, dtype="float64"), how="NumPy arrays of float64", dtype="float64"),
    ]


def _pairs(rng: np.random.Generator, t: int, s: int, d: int, dtype: str = "float32") -> dict:
    return {"q": normal(rng, t, d, dtype=dtype), "k": normal(rng, s, d, dtype=dtype)}


def _pair_values(rng: np.random.Generator) -> list[Case]:
    return [Case(_pairs(rng, 5, 3, 7)), Case(_pairs(rng, 2, 11, 3)), Case(_pairs(rng, 5, 5, 3))]


def _pair_types(rng: np.random.Generator) -> list[Case]:
    return [
        Case(_pairs(rng, 5, 3, 7), mode="tensor", how="TensorFlow tensors", dtype="float32"),
        Case(_pairs(rng, 5, 3, 7), how="NumPy arrays of float32", dtype="float32"),
        Case(_pairs(rng, 5, 3, 7, dtype="float64"), how="NumPy arrays of float64", dtype="float64"),
    ]


def _general(rng: np.random.Generator, d_q: int, d_k: int, dtype: str = "float32") -> dict:
    return {
        "q": normal(rng, 5, d_q, dtype=dtype),
        "k": normal(rng, 3, d_k, dtype=dtype),
        "w": normal(rng, d_q, d_k, dtype=dtype),
    }


def _additive(rng: np.random.Generator, d_q: int, d_k: int, dtype: str = "float32") -> dict:
    units = 11
    return {
        "q": normal(rng, 5, d_q, dtype=dtype),
        "k": normal(rng, 3, d_k, dtype=dtype),
        "w_q": normal(rng, d_q, units, dtype=dtype) / 2,
        "w_k": normal(rng, d_k, units, dtype=dtype) / 2,
        "v": normal(rng, units, dtype=dtype),
    }


def _widths(make, first: tuple[int, int], second: tuple[int, int]):
    return lambda rng: [Case(make(rng, *first)), Case(make(rng, *second))]


def _weighted_types(make):
    return lambda rng: [
        Case(make(rng, 7, 2), mode="tensor", how="TensorFlow tensors", dtype="float32"),
        Case(make(rng, 7, 2), how="NumPy arrays of float32", dtype="float32"),
        Case(make(rng, 7, 2, dtype="float64"), how="NumPy arrays of float64", dtype="float64"),
    ]


def _attend_values(rng: np.random.Generator) -> list[Case]:
    return [
        Case({"scores": normal(rng, 5, 3), "values": normal(rng, 3, 7)}),
        Case({"scores": normal(rng, 5, 5), "values": normal(rng, 5, 2)}),
    ]


def _attend_batched(rng: np.random.Generator) -> list[Case]:
    return [
        Case({"scores": normal(rng, 2, 5, 3), "values": normal(rng, 2, 3, 7)}),
        Case({"scores": normal(rng, 2, 3, 5, 11), "values": normal(rng, 2, 3, 11, 7)}),
    ]


def _attend_masked(rng: np.random.Generator) -> list[Case]:
    def case(mask: np.ndarray, mode: str = "call") -> Case:
        return Case({"scores": normal(rng, 2, 5, 3), "values": normal(rng, 2, 3, 7), "mask": mask}, mode=mode)

    square = {"scores": normal(rng, 5, 5), "values": normal(rng, 5, 7), "mask": partial_mask(rng, 5, 5)}
    return [
        Case(square),
        case(partial_mask(rng, 5, 3)),
        case(partial_mask(rng, 2, 5, 3).astype("int32")),
        case(partial_mask(rng, 2, 1, 3).astype("float32")),
        case(partial_mask(rng, 2, 5, 3).astype("int32"), mode="tensor"),
    ]


def _attend_fully_masked(rng: np.random.Generator) -> list[Case]:
    mask = partial_mask(rng, 2, 5, 3)
    mask[0, 1] = mask[1, 4] = False
    inputs = {"scores": normal(rng, 2, 5, 3), "values": normal(rng, 2, 3, 7), "mask": mask}
    return [Case(inputs, how="two queries may attend to nothing", property="rows are distributions")]


def _attend_large(rng: np.random.Generator) -> list[Case]:
    values = normal(rng, 3, 7)
    low = (normal(rng, 5, 3) - 1e4).astype("float32")
    scores, mask = drawn_until(
        lambda drawn: masks_matter(*drawn), lambda: (_apart(rng, 5, 3, step=5000), partial_mask(rng, 5, 3))
    )
    return [
        Case({"scores": scores, "values": values}, how="scores of thousands"),
        Case({"scores": scores, "values": values, "mask": mask}, how="scores of thousands, and a mask"),
        Case({"scores": low, "values": values, "mask": mask}, how="scores around −10,000, and a mask"),
    ]


def _attend_types(rng: np.random.Generator) -> list[Case]:
    single = {"scores": normal(rng, 2, 5, 3), "values": normal(rng, 2, 3, 7)}
    double = {key: rng.normal(size=value.shape) for key, value in single.items()}
    mask = partial_mask(rng, 2, 5, 3)
    return [
        Case({**single, "mask": mask}, mode="tensor", how="TensorFlow tensors", dtype="float32"),
        Case(single, how="NumPy arrays of float32", dtype="float32"),
        Case({**double, "mask": mask}, how="NumPy arrays of float64", dtype="float64"),
    ]


def _distribution(rng: np.random.Generator, *shape: int, dtype: str = "float32") -> np.ndarray:
    """Random weights whose rows sum to 1, with the largest one below ½ in some rows and above in others."""

    def draw() -> np.ndarray:
        powers = np.exp(2 * rng.normal(size=shape))
        return (powers / powers.sum(axis=-1, keepdims=True)).astype(dtype)

    return drawn_until(lambda drawn: drawn.max(axis=-1).min() < 0.45 and drawn.max() > 0.55, draw)


def _hard_values(rng: np.random.Generator) -> list[Case]:
    return [
        Case({"weights": np.array([0.1, 0.35, 0.3, 0.25], "float32")[rng.permutation(4)]}),
        Case({"weights": _distribution(rng, 5, 3)}),
    ]


def _hard_batched(rng: np.random.Generator) -> list[Case]:
    return [Case({"weights": _distribution(rng, 2, 5, 3)}), Case({"weights": _distribution(rng, 2, 3, 5, 7)})]


def _hard_ties(rng: np.random.Generator) -> list[Case]:
    rows = np.array([[0.25, 0.25, 0.25, 0.25], [0.1, 0.4, 0.1, 0.4], [0.4, 0.1, 0.1, 0.4]], "float32")
    return [Case({"weights": rows[rng.permutation(3)]}, how="rows in which the largest weight occurs more than once")]


def _hard_types(rng: np.random.Generator) -> list[Case]:
    return [
        Case({"weights": _distribution(rng, 5, 3)}, mode="tensor", how="a TensorFlow tensor", dtype="float32"),
        Case({"weights": _distribution(rng, 5, 3)}, how="a NumPy array of float32", dtype="float32"),
        Case({"weights": _distribution(rng, 5, 3, dtype="float64")}, how="a NumPy array of float64", dtype="float64"),
    ]


def _bahdanau(
    rng: np.random.Generator, batch: int = 2, t: int = 5, s: int = 3, d_q: int = 7, d_v: int = 11, units: int = 13
) -> dict:
    return {
        "units": units,
        "query": normal(rng, batch, t, d_q),
        "values": normal(rng, batch, s, d_v),
        "query_proj.kernel": normal(rng, d_q, units) / 2,
        "value_proj.kernel": normal(rng, d_v, units) / 2,
        "score_proj.kernel": normal(rng, units, 1),
    }


def _bahdanau_values(rng: np.random.Generator) -> list[Case]:
    return [
        Case(_bahdanau(rng), how="query (2, 5, 7), values (2, 3, 11), units=13"),
        Case(_bahdanau(rng, t=5, s=5, d_q=3, d_v=3, units=3), how="query (2, 5, 3), values (2, 5, 3), units=3"),
    ]


def _bahdanau_source_mask(rng: np.random.Generator) -> list[Case]:
    def case(inputs: dict, mask: np.ndarray) -> Case:
        how = f"query {inputs['query'].shape}, values {inputs['values'].shape}, mask {mask.shape} of {mask.dtype}"
        return Case({**inputs, "mask": mask}, how=how)

    return [
        case(_bahdanau(rng, batch=2), partial_mask(rng, 2, 3)),
        case(_bahdanau(rng, batch=5), partial_mask(rng, 5, 3).astype("int32")),
        case(_bahdanau(rng, batch=2, s=7), partial_mask(rng, 2, 7).astype("float32")),
        case(_bahdanau(rng, batch=2, t=5, s=5), partial_mask(rng, 2, 5)),
    ]


def _bahdanau_pair_mask(rng: np.random.Generator) -> list[Case]:
    inputs = _bahdanau(rng)
    return [Case({**inputs, "mask": partial_mask(rng, 2, 5, 3)}, how="query (2, 5, 7), mask (2, 5, 3)")]


def _bahdanau_fully_masked(rng: np.random.Generator) -> list[Case]:
    source, pair = partial_mask(rng, 2, 3), partial_mask(rng, 2, 5, 3)
    source[1] = False
    pair[0, 1] = pair[1, 4] = False
    return [
        Case({**_bahdanau(rng), "mask": mask}, how=f"mask {mask.shape}, {what}", property="rows are distributions")
        for mask, what in ((source, "one source is all padding"), (pair, "two queries may attend to nothing"))
    ]


def _bahdanau_parameters(rng: np.random.Generator) -> list[Case]:
    return [Case(_bahdanau(rng), mode="parameters", how="trainable parameters, dq=7, dv=11, units=13")]


def _bahdanau_training(rng: np.random.Generator) -> list[Case]:
    # Two open keys or more: with one, its weight is 1 whatever the layer computes.
    mask = drawn_until(lambda drawn: (drawn.sum(axis=-1) > 1).all(), lambda: partial_mask(rng, 2, 3))
    inputs = {**_bahdanau(rng, units=2), "mask": mask}
    cotangents = {"cotangent.context": normal(rng, 2, 5, 11), "cotangent.weights": normal(rng, 2, 5, 3)}
    return [
        Case(inputs, mode="graph", how="inside tf.function, batch size and lengths unknown"),
        Case({**inputs, **cotangents}, mode="gradient", how="gradients, compared with numerical ones"),
    ]


def _spatial(
    rng: np.random.Generator, size: tuple[int, int] = (5, 7), small: tuple[int, int] = (2, 3), filters: int = 13
) -> dict:
    """Inputs of spatial attention in which no sum is so close to 0 that rounding could decide about its ReLU."""
    channels, wide_channels = 3, 11
    while True:
        inputs = {
            "filters": filters,
            "features": normal(rng, 2, *size, channels),
            "global_features": normal(rng, 2, *small, wide_channels),
            "local_conv.kernel": normal(rng, 1, 1, channels, filters),
            "global_conv.kernel": normal(rng, 1, 1, wide_channels, filters) / 2,
            "score_conv.kernel": normal(rng, 1, 1, filters, 1) / 2,
        }
        local, wide = oracles.spatial_hidden(
            inputs["features"], inputs["global_features"], inputs["local_conv.kernel"], inputs["global_conv.kernel"]
        )
        if np.abs(local + wide).min() > 3e-4:
            return inputs


def _spatial_values(rng: np.random.Generator) -> list[Case]:
    return [
        Case(_spatial(rng, (3, 5), (3, 5)), how="features (2, 3, 5, 3), global features of the same size"),
        Case(_spatial(rng, (4, 6), (2, 3)), how="features (2, 4, 6, 3), global features (2, 2, 3, 11)"),
    ]


def _spatial_sizes(rng: np.random.Generator) -> list[Case]:
    return [
        Case(_spatial(rng, (5, 7), (2, 3)), how="features (2, 5, 7, 3), global features (2, 2, 3, 11)"),
        Case(_spatial(rng, (7, 3), (1, 1)), how="features (2, 7, 3, 3), global features (2, 1, 1, 11)"),
    ]


def _spatial_training(rng: np.random.Generator) -> list[Case]:
    inputs = _spatial(rng, (3, 5), (2, 3), filters=2)
    cotangents = {"cotangent.attended": normal(rng, 2, 3, 5, 3), "cotangent.map": normal(rng, 2, 3, 5, 1)}
    return [
        Case(inputs, mode="graph", how="inside tf.function, batch size unknown"),
        Case({**inputs, **cotangents}, mode="gradient", how="gradients, compared with numerical ones"),
    ]


def _answer(entry: str):
    return lambda rng: [Case({"entry": entry}, how=f'answers["{entry}"]')]


TYPES = "arrays and tensors, float type kept"
TYPES_ADVICE = "A Keras layer calculates in float32, whatever it is given; `np.zeros` and `np.eye` make float64."
ONE_HOT_ADVICE = (
    "A comparison gives bool, `np.eye` float64 and `ops.one_hot` float32 when they are not told the dtype: "
    "ask for the one of the weights."
)
SCALED_GENERAL = "The scores are divided by the root of a width; the general score has no divisor."
TRAINING_ADVICE = "Inside a layer use `keras.ops` (or TensorFlow operations): NumPy stops both graphs and gradients."
ACTIVATION_MISTAKES = (
    Misconception("no_tanh", {"activation": "none"}, "The tanh is missing: without it the score is linear in q and k."),
    Misconception(
        "tanh_outside", {"activation": "outside"}, "The tanh comes last. It belongs before the product with v."
    ),
    Misconception(
        "tanh_of_each", {"activation": "each"}, "tanh is taken of each projection; it is taken once, of their sum."
    ),
    Misconception("relu_for_tanh", {"activation": "relu"}, "The hidden layer has a ReLU where tanh is asked for."),
    Misconception(
        "sigmoid_for_tanh", {"activation": "sigmoid"}, "The hidden layer has a sigmoid where tanh is asked for."
    ),
    Misconception(
        "multiplied", {"combined": "product"}, "The two projections are multiplied; additive attention adds them."
    ),
)

EXERCISES = (
    Exercise(
        name="softmax",
        oracle=oracles.softmax,
        groups=(
            Group("values", "right values along the last axis", 1, _softmax_values),
            Group("axis", "any axis", 1, _softmax_axes, advice="`axis` says which entries sum to 1; `keepdims` helps."),
            Group("large", "finite and right for ±1e4", 1, _softmax_large),
            Group("types", TYPES, 1, _softmax_types, advice=TYPES_ADVICE),
        ),
        misconceptions=(
            UNSTABLE,
            Misconception("last_axis_only", {"axis_used": "last"}, "The argument `axis` is not used: you take the last one."),
            Misconception("first_axis_only", {"axis_used": "first"}, "The argument `axis` is not used: you take the first one."),
            Misconception(
                "softmax_over_everything",
                {"axis_used": "all"},
                "The whole array sums to 1; each slice along `axis` should sum to 1 by itself.",
            ),
            Misconception(
                "global_maximum",
                {"peak": "global"},
                "The largest entry of the whole array is subtracted, so that a row far below it becomes 0/0.",
            ),
            Misconception(
                "smallest_subtracted",
                {"peak": "smallest"},
                "The smallest entry is subtracted, so that no exponent is below 0 and large ones overflow: subtract the largest.",
            ),
            Misconception(
                "sum_of_everything",
                {"summed": "all"},
                "The exponentials are divided by the sum of the whole array: `axis` is missing in the sum.",
            ),
            Misconception("not_normalised", {"normalised": False}, "The exponentials are not divided by their sum."),
            Misconception("no_exponential", {"exponential": False}, "The exponential is missing: entries over their sum."),
            Misconception("sign_reversed", {"negated": True}, "The largest entry gets the smallest share: a sign is wrong."),
            Misconception(
                "divided_by_largest",
                {"peak": "divisor"},
                "The entries are divided by the largest one, which changes their differences: subtract it.",
            ),
            Misconception(
                "logarithms", {"result": "logarithms"}, "These are the logarithms of the weights, none of them above 0."
            ),
            Misconception(
                "sigmoids",
                {"result": "sigmoids"},
                "Each entry goes through a sigmoid of its own; a softmax lets the entries compete, and they sum to 1.",
            ),
            Misconception(
                "clipped", {"clipped": True}, "Large entries are cut off, and with them the differences that decide."
            ),
        ),
        hints=(
            "Exponentials, their sum along the axis, a division. What shape must the sum keep to divide the exponentials?",
            "Adding the same number to all entries of a row changes nothing. Which number makes every exponent at most 0?",
            "Both reductions, largest entry and sum, run along `axis` with `keepdims=True`.",
        ),
        forbidden=READY_MADE_SOFTMAX,
    ),
    Exercise(
        name="attention_pooling",
        oracle=oracles.attention_pooling,
        groups=(
            Group("values", "right values, bandwidth 1", 1, _pool_values),
            Group("bandwidth", "other bandwidths", 1, _pool_bandwidths),
            Group(
                "far",
                "finite far from all keys",
                1,
                _pool_far,
                advice="Far from every key all kernels round to 0, and 0/0 is NaN. The weights are the softmax of the exponents.",
                tells=("dot_product",),  # the nearest key may have the largest dot product by luck
            ),
            Group("types", TYPES, 1, _pool_types, advice=TYPES_ADVICE),
        ),
        misconceptions=(
            Misconception("factor_2_missing", {"width": "b²"}, "The exponent is divided by the bandwidth squared, without the 2."),
            Misconception("bandwidth_not_squared", {"width": "2b"}, "The bandwidth has to be squared."),
            Misconception("two_squared", {"width": "(2b)²"}, "The 2 is squared with the bandwidth: the divisor is 2·b², not (2·b)²."),
            Misconception("divided_by_bandwidth", {"width": "b"}, "The exponent is divided by the bandwidth: a square and a 2 are missing."),
            Misconception("bandwidth_ignored", {"width": "2"}, "The bandwidth changes nothing in your result."),
            Misconception(
                "multiplied_by_bandwidth",
                {"width": "2/b²"},
                "`/ 2 * bandwidth ** 2` divides by 2 and then multiplies: put the divisor in brackets.",
            ),
            Misconception("bandwidth_inverted", {"width": "inverse"}, "A larger bandwidth should let farther keys count more, not less."),
            Misconception("distance_not_squared", {"distance": "plain"}, "The distance is not squared."),
            Misconception(
                "dot_product",
                {"distance": "dot"},
                "The exponents hold dot products; this kernel takes the squared distance of query and key.",
            ),
            Misconception("distance_averaged", {"distance": "mean"}, "The squares are averaged over d; a distance sums them."),
            Misconception("manhattan_distance", {"distance": "absolute"}, "Absolute differences are summed, not squares."),
            Misconception("sign_reversed", {"sign": 1.0}, "The farther a key, the larger its weight: the minus is missing."),
            Misconception("not_normalised", {"normalised": "none"}, "The weights do not sum to 1: they are not normalised."),
            Misconception(
                "exponential_twice",
                {"normalised": "softmax"},
                "The kernels go into a softmax, which takes their exponential once more. What goes in are the exponents.",
            ),
            Misconception("divided_by_count", {"normalised": "count"}, "The kernels are divided by their number, not by their sum."),
            Misconception(
                "unstable_kernel",
                {"stable": False},
                "Far from all keys every kernel rounds to 0, and 0/0 is NaN. Is there a softmax that does not do that?",
            ),
            SWAPPED_RESULTS,
        ),
        hints=(
            "query (d,) minus keys (m, d) broadcasts to (m, d). Which axis does the squared distance sum over?",
            "The weights are the softmax of −distance²/(2·bandwidth²). You have a safe softmax already.",
            "The output is the weights (m,) times the values (m, e).",
        ),
    ),
    Exercise(
        name="dot_score",
        oracle=oracles.dot_score,
        groups=(Group("values", "right values", 2, _pair_values), Group("types", TYPES, 1, _pair_types, advice=TYPES_ADVICE)),
        misconceptions=(
            TRANSPOSED,
            WEIGHTS_RETURNED,
            Misconception("scaled_here", {"scale": "sqrt_d_k"}, "These are scaled scores; the plain dot product has no divisor."),
            Misconception("averaged", {"scale": "d_k"}, "The products are averaged over d; the dot product is their sum."),
        ),
        hints=("All T·S dot products are one matrix product. Which of the two has to be transposed?",),
        forbidden=BUILT_IN_ATTENTION,
    ),
    Exercise(
        name="scaled_dot_score",
        oracle=oracles.scaled_dot_score,
        groups=(Group("values", "right values", 2, _pair_values), Group("types", TYPES, 1, _pair_types, advice=TYPES_ADVICE)),
        misconceptions=(
            TRANSPOSED,
            WEIGHTS_RETURNED,
            Misconception("unscaled", {"scale": "none"}, "The scores are not scaled."),
            Misconception("scaled_by_d", {"scale": "d_k"}, "The scores are divided by the width itself, not by its root."),
            Misconception(
                "scaled_by_length",
                {"scale": "sqrt_keys"},
                "The scores are divided by the root of the number of keys. What does a dot product sum over?",
            ),
            Misconception(
                "scaled_by_queries",
                {"scale": "sqrt_queries"},
                "The scores are divided by the root of the number of queries. What does a dot product sum over?",
            ),
            Misconception("scale_inverted", {"scale": "inverse"}, "The scores are multiplied by the root of the width."),
        ),
        hints=("The divisor is the root of the width of q and k. `x ** 0.5` of a Python int keeps float32 as it is.",),
        forbidden=BUILT_IN_ATTENTION,
    ),
    Exercise(
        name="general_score",
        oracle=oracles.general_score,
        groups=(
            Group("values", "right values", 2, _widths(_general, (7, 2), (3, 3))),
            Group("types", TYPES, 1, _weighted_types(_general), advice=TYPES_ADVICE),
        ),
        misconceptions=(
            TRANSPOSED,
            WEIGHTS_RETURNED,
            Misconception("w_transposed", {"weight": "transposed"}, "w is used transposed: its rows belong to the query."),
            Misconception("w_ignored", {"weight": "missing"}, "w changes nothing in your scores."),
            Misconception("scaled_here", {"scale": "sqrt_d_k"}, SCALED_GENERAL),
            Misconception("scaled_by_key_width", {"scale": "sqrt_d_v"}, SCALED_GENERAL),
        ),
        hints=("q (T, dq) times w (dq, dk) is (T, dk): as wide as a key. What remains to do?",),
        forbidden=BUILT_IN_ATTENTION,
    ),
    Exercise(
        name="cosine_score",
        oracle=oracles.cosine_score,
        groups=(Group("values", "right values", 2, _pair_values), Group("types", TYPES, 1, _pair_types, advice=TYPES_ADVICE)),
        misconceptions=(
            TRANSPOSED,
            WEIGHTS_RETURNED,
            Misconception("no_lengths", {"normalise": "none"}, "That is the dot product: divide by the lengths of q and k."),
            Misconception("only_queries_normalised", {"normalise": "q"}, "Only the queries' lengths are divided by."),
            Misconception("only_keys_normalised", {"normalise": "k"}, "Only the keys' lengths are divided by."),
            Misconception(
                "keys_multiplied",
                {"normalise": "k upside down"},
                "The keys' lengths multiply: `s / a * b` is (s / a) * b. Put the product of the lengths in brackets.",
            ),
            Misconception(
                "cosine_distance", {"result": "distance"}, "This is the cosine distance, 1 − cosine; return the cosine."
            ),
            Misconception("angle_returned", {"result": "angle"}, "These are the angles themselves; return their cosines."),
            Misconception("squared_lengths", {"norm": "squared"}, "The lengths are squared: their root is missing."),
            Misconception("sum_of_absolutes", {"norm": "l1"}, "The length is the root of the sum of squares, not Σ|x|."),
            Misconception(
                "lengths_of_columns", {"norm": "columns"}, "The lengths of the columns are taken; a vector is a row."
            ),
            Misconception(
                "length_of_the_matrix",
                {"norm": "whole"},
                "One length for the whole matrix: every row has a length of its own.",
            ),
        ),
        hints=(
            "Divide every row of q and of k by its own length first; what is left is a dot product.",
            "The length of a row: root of the sum of its squares, with `keepdims=True` so that the division broadcasts.",
        ),
        forbidden=BUILT_IN_ATTENTION,
    ),
    Exercise(
        name="additive_score",
        oracle=oracles.additive_score,
        groups=(
            Group("values", "right values", 2, _widths(_additive, (7, 2), (3, 3))),
            Group("types", TYPES, 1, _weighted_types(_additive), advice=TYPES_ADVICE),
        ),
        misconceptions=(
            TRANSPOSED,
            WEIGHTS_RETURNED,
            *ACTIVATION_MISTAKES,
            Misconception("subtracted", {"combined": "difference"}, "The projected keys are subtracted; they are added."),
            Misconception("averaged_over_units", {"reduced": "mean"}, "The product with v is averaged over U; it is summed."),
            Misconception("scaled_here", {"scaled": True}, "The scores are divided by the root of U; additive scores are not."),
            Misconception(
                "v_inside", {"reduced": "v inside"}, "v stands inside the tanh; it multiplies what the tanh has made."
            ),
            Misconception("v_missing", {"reduced": "sum"}, "The hidden units are summed as they are: v is not used."),
            Misconception("projections_swapped", {"swapped": True}, "w_q is applied to the keys and w_k to the queries."),
        ),
        hints=(
            "Project first: q w_q is (T, U), k w_k is (S, U). How do (T, U) and (S, U) become (T, S, U)?",
            "`a[:, None] + b[None]` adds every row of a to every row of b. Then tanh, then the product with v over U.",
        ),
        forbidden=BUILT_IN_ATTENTION,
    ),
    Exercise(
        name="attend",
        oracle=oracles.attend,
        groups=(
            Group("values", "right values", 1, _attend_values),
            Group("batched", "leading dimensions", 1, _attend_batched),
            Group("masked", "masks of shape (T, S), (B, T, S) and (B, 1, S); bool, int, float", 2, _attend_masked),
            Group(
                "fully_masked",
                "a query that may attend to nothing",
                1,
                _attend_fully_masked,
                advice="A row of minus infinities is 0/0 in a softmax. A large negative number is not.",
            ),
            Group(
                "large_scores",
                "finite for large scores",
                1,
                _attend_large,
                advice="Scores go into the thousands. A blocked score has to lie far below all of them, and what is "
                "subtracted before the exponential is the largest of the open ones.",
            ),
            Group("types", TYPES, 1, _attend_types, advice=TYPES_ADVICE),
        ),
        misconceptions=(
            OVER_QUERIES,
            OVER_ALL,
            NO_SOFTMAX,
            UNSTABLE,
            *MASK_MISTAKES,
            Misconception("scaled_here", {"scaled": True}, "The scores are divided by something; here they come ready made."),
            Misconception(
                "fill_too_small",
                {"masking": "-1e4"},
                "Blocked scores become −10,000, and where the open ones are as low as that, blocked keys get weight.",
            ),
            SCORES_RETURNED,
            SWAPPED_RESULTS,
        ),
        hints=(
            "Mask the scores, take the softmax over the keys, multiply with the values: three lines.",
            "A blocked key needs a score whose exponential is 0. What does a whole row of such scores give?",
            "`ops.where(ops.cast(mask, 'bool'), scores, …)` with a large negative number of the scores' float type.",
        ),
        forbidden=BUILT_IN_ATTENTION,
    ),
    Exercise(
        name="hard_attention",
        oracle=oracles.hard_attention,
        groups=(
            Group("values", "right values", 1, _hard_values),
            Group("batched", "leading dimensions", 1, _hard_batched),
            Group("ties", "the first of equal weights", 1, _hard_ties),
            Group("types", TYPES, 1, _hard_types, advice=ONE_HOT_ADVICE),
        ),
        misconceptions=(
            Misconception("all_ties", {"ties": "all"}, "Where several weights are largest, each gets a 1; only the first should."),
            Misconception("last_tie", {"ties": "last"}, "On ties you take the last of the largest weights, not the first."),
            Misconception("smallest", {"place": "smallest"}, "The 1 stands at the smallest weight."),
            Misconception("over_queries", {"over": "column"}, "The columns are one-hot, not the rows."),
            Misconception("one_for_all", {"over": "all"}, "There is a single 1 in the whole array; every row needs one."),
            Misconception("index_returned", {"result": "index"}, "That is the place of the largest weight; return the one-hot row."),
            Misconception(
                "argmax_without_axis",
                {"result": "one_hot of all"},
                "argmax without an axis finds one place in the whole array: every row has its own, `axis=-1`.",
            ),
            Misconception(
                "argmax_of_columns",
                {"result": "one_hot of columns"},
                "argmax runs along the first axis; the weights of one query lie along the last one.",
            ),
            Misconception("weight_kept", {"result": "kept"}, "The largest weight keeps its value; it becomes 1."),
            Misconception("above_half", {"result": "half"}, "A weight need not be above ½ to be the largest."),
        ),
        hints=(
            "Which function gives the place of the largest entry of a row, and which one takes the first on ties?",
            "`argmax` over the last axis gives (…); `one_hot` makes (…, S) of it. How many classes are there?",
        ),
    ),
    Exercise(
        name="BahdanauAttention",
        oracle=oracles.bahdanau_attention,
        groups=(
            Group("values", "right values", 2, _bahdanau_values),
            Group("source_mask", "mask (B, S): padding of the source", 1, _bahdanau_source_mask),
            Group(
                "pair_mask",
                "mask (B, T, S)",
                1,
                _bahdanau_pair_mask,
                advice="Only a mask (B, S) needs an axis for the queries; this one has it.",
            ),
            Group(
                "fully_masked",
                "a query that may attend to nothing",
                1,
                _bahdanau_fully_masked,
                advice="A row of minus infinities is 0/0 in a softmax. Does `attend` survive it?",
            ),
            Group("parameters", "three Dense layers without bias", 1, _bahdanau_parameters),
            Group(
                "training", "works inside tf.function, and gradients reach every weight", 1, _bahdanau_training,
                advice=TRAINING_ADVICE,
            ),
        ),
        misconceptions=(
            *ACTIVATION_MISTAKES,
            Misconception(
                "values_projected",
                {"mixed": "projected"},
                "The context mixes the projected values. It is a mean of the values themselves.",
            ),
            Misconception("projections_swapped", {"swapped": True}, "query_proj is applied to the values, value_proj to the query."),
            Misconception("scaled_here", {"scaled": True}, "The scores are divided by something; additive scores are not."),
            Misconception(
                "mask_by_query",
                {"mask_by_query": True},
                "The mask (B, S) is read as (T, S). Each row of it belongs to one member of the batch: it needs an axis for T.",
            ),
            Misconception(
                "mask_on_queries",
                {"mask_on_queries": True},
                "The mask (B, S) blocks queries: S is the axis of the keys. It needs its new axis in the middle, (B, 1, S).",
            ),
            OVER_QUERIES,
            NO_SOFTMAX,
            Misconception(
                "softmax_over_one",
                {"one_each": True},
                "All weights are 1: the softmax runs over an axis of size 1, the one that score_proj leaves at the end.",
            ),
            *MASK_MISTAKES[:5],
            SWAPPED_RESULTS,
            Misconception("dense_with_bias", {"bias": "qvs"}, "The Dense layers have a bias; the contract says without."),
            Misconception("projections_with_bias", {"bias": "qv"}, "query_proj and value_proj have a bias; the contract says without."),
            Misconception("score_with_bias", {"bias": "s"}, "score_proj has a bias, which a softmax does not even notice."),
        ),
        hints=(
            "Three Dense layers in `__init__`: two with `units`, one with a single unit, all with `use_bias=False`.",
            "Queries (B, T, U) and values (B, S, U) meet in (B, T, S, U): give each an axis of size 1 where it has none.",
            "score_proj leaves an axis of size 1 at the end; take it off before the softmax. A mask (B, S) needs an axis in the middle.",
        ),
        forbidden=BUILT_IN_ATTENTION,
    ),
    Exercise(
        name="SpatialAttention",
        oracle=oracles.spatial_attention,
        groups=(
            Group("values", "right values", 2, _spatial_values),
            Group(
                "sizes",
                "global features of any size",
                1,
                _spatial_sizes,
                advice="`UpSampling2D` knows whole factors only; `ops.image.resize` takes the size that you want.",
            ),
            Group(
                "training", "works inside tf.function, and gradients reach every weight", 1, _spatial_training,
                advice=f"{TRAINING_ADVICE} A softmax over two axes at once needs a known batch size: flatten the places first.",
            ),
        ),
        misconceptions=(
            Misconception(
                "softmax_over_channels",
                {"normalised": "channels"},
                "The map is 1 everywhere: the softmax runs over the one channel instead of over the places.",
            ),
            Misconception("softmax_over_rows", {"normalised": "rows"}, "Every column of the map sums to 1; the whole map should."),
            Misconception("softmax_over_columns", {"normalised": "columns"}, "Every row of the map sums to 1; the whole map should."),
            Misconception("softmax_over_batch", {"normalised": "batch"}, "The maps of the whole batch sum to 1 together."),
            Misconception("sigmoid_map", {"normalised": "sigmoid"}, "The map is a sigmoid of the scores; the contract asks for a softmax."),
            Misconception("map_not_normalised", {"normalised": "none"}, "The map is the scores: it does not sum to 1."),
            Misconception("no_relu", {"activation": "none"}, "There is no ReLU between the sum and score_conv."),
            Misconception("relu_of_each", {"activation": "each"}, "ReLU is taken of each part before the sum; it comes after it."),
            Misconception(
                "relu_on_scores",
                {"activation": "on the scores"},
                "ReLU is taken of the scores; it belongs between the sum and score_conv.",
            ),
            Misconception("tanh_for_relu", {"activation": "tanh"}, "There is a tanh where ReLU is asked for."),
            Misconception("multiplied", {"combined": "product"}, "Local and global parts are multiplied; they are added."),
            Misconception("nearest_resize", {"method": "nearest"}, "The global features are resized to the nearest pixel, not bilinearly."),
            Misconception(
                "corners_aligned",
                {"method": "corners"},
                "The resizing keeps the corner pixels in place; here the outer edges of the images coincide.",
            ),
            Misconception("global_ignored", {"without_global": True}, "The global features change nothing in your map."),
            Misconception("not_multiplied", {"attended": "features"}, "The features come back as they are: multiply them by the map."),
            Misconception(
                "projection_attended",
                {"attended": "local"},
                "The map multiplies what local_conv made; it multiplies the features as they were given.",
            ),
            Misconception(
                "sum_attended",
                {"attended": "hidden"},
                "The map multiplies the sum of both projections; it multiplies the features as they were given.",
            ),
            Misconception(
                "global_attended", {"attended": "global"}, "The map multiplies the global features; it multiplies the others."
            ),
            Misconception("summed_over_places", {"attended": "summed"}, "The features are summed over the places; the layer returns them in place."),
            Misconception("features_added", {"attended": "residual"}, "The features are added once more; F′ is A·F alone."),
            SWAPPED_RESULTS,
        ),
        hints=(
            "Three `keras.layers.Conv2D` of kernel size 1; score_conv has one filter. ReLU belongs to none of them alone.",
            "Resize the global part to (h, w) of the features with `ops.image.resize(…, interpolation='bilinear')`.",
            "One softmax over all places: reshape the scores (B, h, w, 1) to (B, h·w), softmax, reshape back.",
        ),
        forbidden=BUILT_IN_ATTENTION,
    ),
    Exercise(
        name="answers",
        oracle=oracles.hand_calculation,
        groups=(
            Group("pooling_weights", "the weights by hand", 1, _answer("pooling_weights")),
            Group("pooling_output", "the output by hand", 1, _answer("pooling_output")),
            Group("weights_shape", "the shape of the weights", 1, _answer("weights_shape")),
            Group("learnable", "which score functions learn", 1, _answer("learnable")),
            Group("additive_parameters", "how many numbers additive attention learns", 1, _answer("additive_parameters")),
            Group("hard_attention", "what hard attention costs", 1, _answer("hard_attention")),
        ),
        misconceptions=(
            Misconception("hand_without_2", {"kernel": "b²"}, "The 2 under the squared distance is missing."),
            Misconception("hand_not_squared", {"kernel": "unsquared"}, "The distance is not squared."),
            Misconception("hand_sign_reversed", {"kernel": "sign"}, "The far key has the larger weight: the minus is missing."),
            Misconception("hand_not_normalised", {"output": "sum"}, "The kernels have to be divided by their sum."),
            Misconception(
                "axes_swapped",
                {"cross": "swapped"},
                "Rows are queries. Who asks in a translator, the source or the target?",
            ),
            Misconception("thought_self", {"cross": "target"}, "That would be self-attention of the target."),
            Misconception(
                "scaled_dot_thought_learnable",
                {"learnable": ("additive", "general", "location", "scaled dot")},
                "√d is a constant; nothing in the scaled dot product learns.",
            ),
            Misconception(
                "location_forgotten",
                {"learnable": ("additive", "general")},
                "Location-based scores come from the query alone: through what?",
            ),
            Misconception(
                "cosine_thought_learnable",
                {"learnable": ("cosine", "additive", "general", "location")},
                "A cosine is calculated from q and k; there is nothing to learn in it.",
            ),
            Misconception(
                "all_thought_learnable",
                {"learnable": oracles.SCORE_FUNCTIONS},
                "Look at the formulas: where is there a letter that is neither q nor k nor their width?",
            ),
            Misconception("v_forgotten", {"counted": "no_v"}, "The vector v has U numbers too."),
            Misconception("one_projection", {"counted": "one_matrix"}, "There are two matrices: one for q, one for k."),
            Misconception("bias_counted", {"counted": "bias"}, "There is no bias in the formula."),
            Misconception(
                "hard_thought_slow", {"hard": "slower"}, "Reading one place is less work than reading all of them."
            ),
            Misconception("hard_thought_unnormalised", {"hard": "sum"}, "A one-hot row does sum to 1."),
            Misconception(
                "hard_thought_large", {"hard": "memory"}, "A one-hot row can be stored as one number: its place."
            ),
        ),
        hints=("Each number takes a line on paper. The lecture has the same calculations with other numbers.",),
        reveal=False,
        tolerance=0.0051,
    ),
)  # fmt: skip

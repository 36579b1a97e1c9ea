"""Lab 02, self-attention: the exercises, their cases and the mistakes that are named."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Group, Misconception
from autograder.exercises.drawing import drawn_until, masks_matter, normal, partial_mask
from autograder.oracles import attention as attention_oracles
from autograder.oracles import self_attention as oracles

BUILT_IN_ATTENTION = (
    "keras.layers.MultiHeadAttention",
    "keras.layers.GroupedQueryAttention",
    "keras.layers.GroupQueryAttention",
    "keras.layers.Attention",
    "keras.layers.AdditiveAttention",
    "keras.ops.dot_product_attention",
    "keras.ops.nn.dot_product_attention",
    "tensorflow.nn.scaled_dot_product_attention",
)


SCORES_RETURNED = Misconception(
    "scores_returned",
    {"scores_returned": True},
    "The second result holds the scores. Return the weights: what the softmax makes of them.",
)
UNSCALED = Misconception(
    "unscaled", {"scale": "none"}, "The scores are not scaled: nothing divides them before the softmax."
)
SCALED_BY_D = Misconception(
    "scaled_by_d", {"scale": "d_k"}, "The scores are divided by the width itself, not by its square root."
)
SCALED_BY_LENGTH = Misconception(
    "scaled_by_length",
    {"scale": "sqrt_keys"},
    "The scores are divided by the root of the number of keys. Which axis of the inputs is summed over in a score?",
)
SCALE_INVERTED = Misconception(
    "scale_inverted",
    {"scale": "inverse"},
    "The scores are multiplied by the root of the width instead of divided by it.",
)
SCALED_AFTER = Misconception(
    "scaled_after_softmax",
    {"scale": "after"},
    "The scaling is applied to the weights, after the softmax, so the rows no longer sum to 1.",
)
OVER_QUERIES = Misconception(
    "softmax_over_queries",
    {"softmax_axis": -2},
    "The columns of the weights sum to 1, not the rows: the softmax runs over the queries instead of the keys.",
)
OVER_ALL = Misconception(
    "softmax_over_everything",
    {"softmax_axis": (-2, -1)},
    "The whole matrix of weights sums to 1: one softmax over both axes instead of one for each query.",
)
NO_SOFTMAX = Misconception(
    "no_softmax", {"no_softmax": True}, "The scores weight the values directly: the softmax is missing."
)
SUM_NORMALISED = Misconception(
    "divided_by_sum",
    {"normalising": "sum"},
    "The scores are divided by their sum. Scores can be negative, and so can such weights: exponentiate first.",
)
LARGEST_ONLY = Misconception(
    "largest_only",
    {"normalising": "largest"},
    "Each query takes the one key with the largest score. The softmax shares the weight among all keys.",
)
AXIS_ONE = Misconception(
    "softmax_over_axis_1",
    {"softmax_axis": 1},
    "The softmax runs over axis 1. That is the keys for one sequence, and something else in a batch: count from the end.",
)
UNSTABLE = Misconception(
    "unstable_softmax",
    {"stable": False},
    "Large scores overflow in `exp` and give NaN. What can be subtracted from a row without changing its softmax?",
)
TRANSPOSED = Misconception(
    "scores_transposed",
    {"transposed": True},
    "The matrix of scores is transposed: row t holds the scores of key t, not of query t.",
)

PLAIN_MISTAKES = (
    UNSCALED,
    SUM_NORMALISED,
    LARGEST_ONLY,
    SCALED_BY_D,
    SCALED_BY_LENGTH,
    SCALE_INVERTED,
    SCALED_AFTER,
    OVER_QUERIES,
    OVER_ALL,
    NO_SOFTMAX,
    UNSTABLE,
    Misconception("unchanged", {"unchanged": True}, "The tokens come back unchanged: nothing is mixed."),
    Misconception("returns_weights", {"return_weights": True}, "The weights come back, not the mixture of the inputs."),
    Misconception("self_left_out", {"exclude_self": True}, "A token does not attend to itself here; it should."),
    Misconception(
        "later_tokens_left_out",
        {"causal": True},
        "A token attends to itself and the tokens before it only. Nothing is masked here: it attends to all of them.",
    ),
    Misconception(
        "not_normalised",
        {"normalised": "not"},
        "The weights are positive, but they do not sum to 1: the division by their sum is missing.",
    ),
)

KEEPDIMS_FORGOTTEN = Misconception(
    "keepdims_forgotten",
    {"normalised": "broadcast"},
    "Columns are divided by the sums of rows: a sum of shape (T,) broadcasts along the last axis. `keepdims=True` makes it "
    "(T, 1).",
)
FEATURES_ATTEND = Misconception(
    "features_attend",
    {"features": True},
    "The product is xᵀx, one score for each pair of features. x xᵀ has one for each pair of tokens.",
)

MASK_MISTAKES = (
    Misconception("mask_ignored", {"masking": "ignore"}, "The mask changes nothing: blocked keys keep their weight."),
    Misconception(
        "mask_inverted",
        {"masking": "invert"},
        "The mask is read the wrong way round. In this course True means: may attend.",
    ),
    Misconception(
        "mask_added",
        {"masking": "add"},
        "The mask itself is added to the scores, so a blocked key loses only 1. It has to lose all of its weight.",
    ),
    Misconception(
        "mask_zeroes_scores",
        {"masking": "zero"},
        "Blocked scores become 0, and the softmax gives a score of 0 a weight like any other.",
    ),
    Misconception(
        "mask_after_softmax",
        {"masking": "after"},
        "The mask is applied after the softmax, so the remaining weights no longer sum to 1.",
    ),
    Misconception(
        "mask_transposed", {"masking": "queries"}, "The mask is applied with its axes swapped: rows are queries."
    ),
)


def _values(rng: np.random.Generator) -> list[Case]:
    return [
        Case({"q": normal(rng, 5, 7), "k": normal(rng, 3, 7), "v": normal(rng, 3, 11)}),
        Case({"q": normal(rng, 5, 3), "k": normal(rng, 5, 3), "v": normal(rng, 5, 2)}),
    ]


def _batched(rng: np.random.Generator) -> list[Case]:
    return [
        Case({"q": normal(rng, 2, 5, 7), "k": normal(rng, 2, 3, 7), "v": normal(rng, 2, 3, 11)}),
        Case({"q": normal(rng, 2, 3, 5, 7), "k": normal(rng, 2, 3, 11, 7), "v": normal(rng, 2, 3, 11, 13)}),
    ]


def _masked(rng: np.random.Generator) -> list[Case]:
    def case(mask: np.ndarray) -> Case:
        return Case({"q": normal(rng, 2, 5, 7), "k": normal(rng, 2, 3, 7), "v": normal(rng, 2, 3, 11), "mask": mask})

    flat = {"q": normal(rng, 5, 7), "k": normal(rng, 5, 7), "v": normal(rng, 5, 11), "mask": partial_mask(rng, 5, 5)}
    return [
        Case(flat),
        case(partial_mask(rng, 5, 3)),
        case(partial_mask(rng, 2, 5, 3).astype("int32")),
        case(partial_mask(rng, 2, 1, 3).astype("float32")),
    ]


def _fully_masked(rng: np.random.Generator) -> list[Case]:
    mask = partial_mask(rng, 2, 5, 3)
    mask[0, 1] = mask[1, 4] = False
    inputs = {"q": normal(rng, 2, 5, 7), "k": normal(rng, 2, 3, 7), "v": normal(rng, 2, 3, 11), "mask": mask}
    return [Case(inputs, how="two queries may attend to nothing", property="rows are distributions")]


def _large(rng: np.random.Generator) -> list[Case]:
    q, k, mask = drawn_until(
        lambda drawn: masks_matter(drawn[0] @ drawn[1].T, drawn[2]),
        lambda: (normal(rng, 5, 7) * 300, normal(rng, 3, 7) * 300, partial_mask(rng, 5, 3)),
    )
    v = normal(rng, 3, 11)
    return [
        Case({"q": q, "k": k, "v": v}, how="scores of tens of thousands"),
        Case({"q": q, "k": k, "v": v, "mask": mask}, how="scores of tens of thousands, and a mask"),
    ]


def _types(rng: np.random.Generator) -> list[Case]:
    single = {"q": normal(rng, 2, 5, 7), "k": normal(rng, 2, 3, 7), "v": normal(rng, 2, 3, 11)}
    double = {key: rng.normal(size=value.shape) for key, value in single.items()}
    mask = partial_mask(rng, 2, 5, 3)
    return [
        Case({**single, "mask": mask}, mode="tensor", how="TensorFlow tensors", dtype="float32"),
        Case(single, how="NumPy arrays of float32", dtype="float32"),
        Case({**double, "mask": mask}, how="NumPy arrays of float64", dtype="float64"),
    ]


def _plain(*shapes: tuple[int, ...]):
    return lambda rng: [Case({"x": normal(rng, *shape)}) for shape in shapes]


def _plain_large(rng: np.random.Generator) -> list[Case]:
    """Tokens of one direction and very different lengths, so that the longest wins and no token answers itself."""
    lengths = drawn_until(lambda drawn: drawn[0] < 700, lambda: rng.permutation([100.0, 200.0, 300.0, 400.0, 700.0]))
    x = lengths.astype("float32")[:, None] * (normal(rng, 7) + normal(rng, 5, 7) / 9)
    return [Case({"x": x}, how="scores of tens of thousands")]


def _plain_types(rng: np.random.Generator) -> list[Case]:
    return [
        Case({"x": normal(rng, 5, 7)}, mode="tensor", how="a TensorFlow tensor", dtype="float32"),
        Case({"x": normal(rng, 5, 7)}, how="a NumPy array of float32", dtype="float32"),
        Case({"x": rng.normal(size=(5, 7))}, how="a NumPy array of float64", dtype="float64"),
    ]


def _projections(*leading: tuple[int, ...], dtype: str = "float32", mode: str = "call", check_dtype: bool = False):
    def draw(rng: np.random.Generator) -> list[Case]:
        return [
            Case(
                {
                    "x": normal(rng, *batch, 5, 7, dtype=dtype),
                    "w_q": normal(rng, 7, 3, dtype=dtype),
                    "w_k": normal(rng, 7, 3, dtype=dtype),
                    "w_v": normal(rng, 7, 11, dtype=dtype),
                },
                mode=mode,
                dtype=dtype if check_dtype else None,
            )
            for batch in leading
        ]

    return draw


def _square_projections(rng: np.random.Generator) -> list[Case]:
    matrices = {name: normal(rng, 7, 7) for name in ("w_q", "w_k", "w_v")}
    return [Case({"x": normal(rng, 5, 7), **matrices})]


def _layer_inputs(rng: np.random.Generator, batch: int = 2, length: int = 5, width: int = 7) -> dict:
    d_k, d_v = 3, 11
    return {
        "d_k": d_k,
        "d_v": d_v,
        "x": normal(rng, batch, length, width),
        "w_q.kernel": normal(rng, width, d_k),
        "w_k.kernel": normal(rng, width, d_k),
        "w_v.kernel": normal(rng, width, d_v),
    }


def _layer_values(rng: np.random.Generator) -> list[Case]:
    return [
        Case(_layer_inputs(rng), how="x (2, 5, 7), d_k=3, d_v=11"),
        Case({**_layer_inputs(rng), "return_weights": True}, how="x (2, 5, 7), return_weights=True"),
    ]


def _layer_masked(rng: np.random.Generator) -> list[Case]:
    return [
        Case({**_layer_inputs(rng), "mask": mask, "return_weights": True}, how=f"x (2, 5, 7), mask {mask.shape}")
        for mask in (partial_mask(rng, 5, 5), partial_mask(rng, 2, 5, 5), partial_mask(rng, 2, 1, 5))
    ]


def _layer_head_axis(rng: np.random.Generator) -> list[Case]:
    mask = partial_mask(rng, 2, 1, 5, 5)
    return [Case({**_layer_inputs(rng), "mask": mask}, how="x (2, 5, 7), mask (2, 1, 5, 5)")]


def _layer_parameters(rng: np.random.Generator) -> list[Case]:
    return [Case(_layer_inputs(rng), mode="parameters", how="trainable parameters, d_model=7, d_k=3, d_v=11")]


def _layer_training(rng: np.random.Generator) -> list[Case]:
    inputs = {**_layer_inputs(rng), "mask": partial_mask(rng, 2, 5, 5)}
    return [
        Case(inputs, mode="graph", how="inside tf.function, batch size and length unknown"),
        Case(
            {**inputs, "cotangent.output": normal(rng, 2, 5, 11)},
            mode="gradient",
            how="gradients, compared with numerical ones",
        ),
    ]


def _costs(rng: np.random.Generator) -> list[Case]:
    return [
        Case({"length": int(t), "d_model": int(d)})
        for t, d in ((rng.integers(5, 400), rng.integers(401, 900)) for _ in range(3))
    ]


def _answer(entry: str):
    return lambda rng: [Case({"entry": entry}, how=f'answers["{entry}"]')]


EXERCISES = (
    Exercise(
        name="self_attention_loops",
        oracle=oracles.plain_self_attention,
        groups=(
            Group("values", "right values", 2, _plain((5, 7), (3, 2))),
            Group("large_scores", "finite for large scores", 1, _plain_large),
            Group("types", "arrays and tensors, float type kept", 1, _plain_types),
        ),
        misconceptions=PLAIN_MISTAKES,
        hints=(
            "Write the three steps for one token first: its scores with every token, their softmax, the weighted sum.",
            "A score is the dot product of two rows of x, divided by the root of the width of a row.",
            "Each token needs a softmax of its own, over all tokens. Then add up the rows of x, each times its weight.",
        ),
        forbidden=BUILT_IN_ATTENTION,
    ),
    Exercise(
        name="self_attention_matrix",
        oracle=oracles.plain_self_attention,
        groups=(
            Group("values", "right values", 2, _plain((5, 7), (3, 2))),
            Group(
                "batched",
                "leading dimensions",
                1,
                _plain((2, 5, 7), (2, 3, 5, 7)),
                advice="One sequence works, a batch does not? `.T` reverses all axes: swap the last two only. A sum over the "
                "last axis needs `keepdims=True`.",
            ),
            Group("large_scores", "finite for large scores", 1, _plain_large),
            Group("types", "arrays and tensors, float type kept", 1, _plain_types),
        ),
        misconceptions=(*PLAIN_MISTAKES, AXIS_ONE, KEEPDIMS_FORGOTTEN, FEATURES_ATTEND),
        hints=(
            "All scores at once are one matrix product of x with itself. What is the shape of that product?",
            "In the product, row t holds the scores of query t. The softmax runs along the row.",
            "Shapes: (…, T, D) times (…, D, T) gives (…, T, T); times (…, T, D) gives (…, T, D).",
        ),
        forbidden=BUILT_IN_ATTENTION,
        no_loops=True,
    ),
    Exercise(
        name="project_qkv",
        oracle=oracles.project_qkv,
        groups=(
            Group("values", "right values", 1, lambda rng: [*_projections(())(rng), *_square_projections(rng)]),
            Group(
                "batched",
                "leading dimensions",
                1,
                _projections((2,), (2, 3)),
                advice="The weights have two axes whatever x has: which product broadcasts over the leading axes of x?",
            ),
            Group(
                "types",
                "arrays and tensors, float type kept",
                1,
                lambda rng: [
                    *_projections((2,), mode="tensor", check_dtype=True)(rng),
                    *_projections((2,), dtype="float64", check_dtype=True)(rng),
                ],
            ),
        ),
        misconceptions=(
            Misconception("one_matrix_for_all", {"one_matrix": True}, "Query, key and value are all made with w_q."),
            Misconception("keys_with_w_q", {"matrices_used": "qqv"}, "The keys are made with w_q; w_k is not used."),
            Misconception(
                "values_with_w_k", {"matrices_used": "qkk"}, "The values are made with w_k; w_v is not used."
            ),
            Misconception(
                "values_are_inputs", {"matrices_used": "qk1"}, "The values are the inputs themselves; w_v is not used."
            ),
            Misconception(
                "order_q_v_k", {"order": "qvk"}, "Key and value come back in the wrong order: return (q, k, v)."
            ),
            Misconception(
                "order_k_q_v", {"order": "kqv"}, "Query and key come back in the wrong order: return (q, k, v)."
            ),
            Misconception(
                "weights_transposed",
                {"transposed": True},
                "x is multiplied with the transposed weights: a weight is (D, d_k).",
            ),
        ),
        hints=(
            "Each token is multiplied with the same matrix: the tokens are the rows of x.",
            "(…, T, D) times (D, d_k) gives (…, T, d_k).",
        ),
    ),
    Exercise(
        name="scaled_dot_product_attention",
        oracle=attention_oracles.scaled_dot_product_attention,
        groups=(
            Group("values", "right values", 2, _values),
            Group(
                "batched",
                "leading dimensions",
                1,
                _batched,
                advice="One sequence works, a batch does not? Swap the last two axes of k only, and sum over the last axis.",
            ),
            Group(
                "masked",
                "mask: True may attend, False is blocked",
                2,
                _masked,
                advice="Masks are boolean, int or float, and broadcast to the scores: (T, S), (B, T, S), (B, 1, S).",
            ),
            Group(
                "fully_masked",
                "a query that may attend to nothing gives no NaN",
                1,
                _fully_masked,
                advice="The softmax of a row of minus infinity is 0/0. A large negative number blocks just as well.",
            ),
            Group("large_scores", "finite for large scores", 1, _large),
            Group("types", "arrays and tensors, float type kept", 1, _types),
        ),
        misconceptions=(
            UNSCALED,
            SCALED_BY_D,
            SCALED_BY_LENGTH,
            SCALE_INVERTED,
            SCALED_AFTER,
            Misconception(
                "scaled_by_d_v",
                {"scale": "sqrt_d_v"},
                "The scores are divided by the root of the width of v, not of the keys.",
            ),
            Misconception(
                "scaled_by_constant",
                {"scale": 8.0},
                "The scores are divided by 8 whatever the width: 8 is the root of 64, the width used in the paper.",
            ),
            OVER_QUERIES,
            OVER_ALL,
            AXIS_ONE,
            NO_SOFTMAX,
            SUM_NORMALISED,
            LARGEST_ONLY,
            UNSTABLE,
            TRANSPOSED,
            *MASK_MISTAKES,
            Misconception(
                "mask_too_weak",
                {"masking": "weak"},
                "A blocked score loses 10 only, and e⁻¹⁰ is not 0: among large scores it still counts. Take −1e9.",
            ),
            Misconception(
                "results_swapped",
                {"swapped_results": True},
                "The results come in the wrong order: return (output, weights).",
            ),
            SCORES_RETURNED,
        ),
        hints=(
            "Four steps: scores, scaling, mask, softmax; then the weights meet the values.",
            "A score is a sum over the last axis of q and k. Divide by the root of that axis's size, read from k's shape.",
            "Blocked keys must lose all weight, yet a row with every key blocked must stay finite: give blocked scores a "
            "very large negative number before the softmax, in the scores' own float type.",
        ),
        forbidden=BUILT_IN_ATTENTION,
    ),
    Exercise(
        name="SelfAttention",
        oracle=oracles.self_attention_layer,
        groups=(
            Group("values", "right values", 2, _layer_values),
            Group("masked", "masks of shape (T, S), (B, T, S) and (B, 1, S)", 1, _layer_masked),
            Group(
                "mask_with_head_axis",
                "mask of shape (B, 1, T, S)",
                1,
                _layer_head_axis,
                advice="A mask made for several heads has an axis of size 1 for them. This layer has no such axis: take it out.",
            ),
            Group("parameters", "three Dense layers without bias", 1, _layer_parameters),
            Group(
                "training",
                "works inside tf.function, and gradients reach every weight",
                1,
                _layer_training,
                advice="Inside a layer use `keras.ops` (or TensorFlow operations): NumPy stops both graphs and gradients.",
            ),
        ),
        misconceptions=(
            UNSCALED,
            SCALED_BY_D,
            Misconception(
                "scaled_by_d_model",
                {"scale": "sqrt_d_model"},
                "The scores are divided by the root of d_model, not of d_k.",
            ),
            Misconception(
                "scaled_by_d_v", {"scale": "sqrt_d_v"}, "The scores are divided by the root of d_v, not of d_k."
            ),
            OVER_QUERIES,
            NO_SOFTMAX,
            *MASK_MISTAKES[:5],
            Misconception(
                "query_key_swapped",
                {"roles": "kqv"},
                "w_q makes the keys and w_k the queries; it is the other way round.",
            ),
            Misconception("one_projection", {"roles": "qqv"}, "Queries and keys come from the same projection, w_q."),
            Misconception("values_from_keys", {"roles": "qkk"}, "The values come from w_k instead of w_v."),
            Misconception(
                "values_unprojected",
                {"values_unprojected": True},
                "The values are the inputs themselves: w_v is not used.",
            ),
            Misconception(
                "dense_with_bias", {"bias": True}, "The Dense layers have a bias; the contract says without."
            ),
        ),
        hints=(
            "Make the three Dense layers in `__init__` with `use_bias=False`, and keep them as `self.w_q`, `self.w_k`, `self.w_v`.",
            "`call` projects x three times and hands the results, with the mask, to the function you wrote before.",
            "With `return_weights=True` return (output, weights), otherwise the output alone. A mask of rank 4 has one axis too many.",
        ),
        forbidden=BUILT_IN_ATTENTION,
    ),
    Exercise(
        name="attention_cost",
        oracle=oracles.attention_cost,
        groups=(Group("values", "right counts", 1, _costs),),
        misconceptions=(
            Misconception(
                "one_product", {"products": 1}, "One of the two matrix products is missing: QKᵀ, and weights times V."
            ),
            Misconception(
                "linear_in_length", {"length_power": 1}, "Every query meets every key: the length counts twice."
            ),
            Misconception(
                "quadratic_in_width",
                {"width_power": 2},
                "d_model² is the cost of a projection; it is not counted here.",
            ),
            Misconception(
                "projections_counted",
                {"projections": True},
                "The three projections are counted as well. Only Q Kᵀ and weights times V are.",
            ),
            Misconception(
                "width_left_out",
                {"width_power": 0},
                "The width is missing: one dot product takes d_model multiply-adds.",
            ),
            Misconception(
                "counts_flops",
                {"factor": 2},
                "A multiplication and its addition count as one here; you count them as two.",
            ),
            Misconception(
                "entries_by_width",
                {"entries": "TD"},
                "There is one weight for each pair of query and key; no width in it.",
            ),
            Misconception("entries_twice", {"entries": "2T²"}, "The weights are one matrix; you count two."),
        ),
        hints=(
            "Count one score first: how many multiplications does a dot product of two vectors of d_model take?",
            "QKᵀ has length × length entries. Each output of weights·V is a sum over length values; how many outputs are there?",
        ),
    ),
    Exercise(
        name="answers",
        oracle=oracles.hand_calculation,
        groups=(
            Group("key_row", "the key of “are”", 1, _answer("key_row")),
            Group("scaled_scores", "the scaled scores", 1, _answer("scaled_scores")),
            Group("weights", "the weights", 1, _answer("weights")),
            Group("without_scaling", "what happens without √d_k", 1, _answer("without_scaling")),
        ),
        misconceptions=(
            Misconception("hand_unscaled", {"scaling": "none"}, "This comes from scores that are not divided at all."),
            Misconception(
                "hand_scaled_by_d", {"scaling": "d_k"}, "The scores are divided by d_k, not by its square root."
            ),
            Misconception(
                "hand_key_with_w_q",
                {"queries_for_keys": True},
                "That is the query of the word: keys are made with W_k.",
            ),
            Misconception(
                "scaling_thought_flatter",
                {"effect": "flatter"},
                "Without the division the scores grow with d_k. Do larger differences make a softmax flatter or sharper?",
            ),
            Misconception(
                "scaling_thought_harmless",
                {"effect": "nothing"},
                "A factor on all scores does change the softmax; only adding a constant to all of them does not.",
            ),
            Misconception(
                "scaling_thought_normalising",
                {"effect": "sum"},
                "The softmax makes every row sum to 1 whatever the scale of the scores.",
            ),
        ),
        hints=("Each number takes one line on paper; the lecture does the same calculation with other numbers.",),
        reveal=False,
        tolerance=0.0051,
    ),
)

"""Lab 03, multi-head attention: the exercises, their cases and the mistakes that are named."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Group, Misconception
from autograder.exercises.drawing import drawn_until, is_far_apart, normal, partial_mask
from autograder.exercises.self_attention import (
    BUILT_IN_ATTENTION,
    MASK_MISTAKES,
    NO_SOFTMAX,
    OVER_QUERIES,
    SCALED_AFTER,
    SCALED_BY_LENGTH,
    UNSCALED,
    UNSTABLE,
)
from autograder.oracles import multi_head_attention as oracles

DENSE = ("w_q", "w_k", "w_v", "w_o")
KERAS_NAMES = ("query", "key", "value", "output")


def _tokens(*sizes: tuple[int, int, int, int]):
    """Cases for `split_heads`; sizes are (B, T, D, H)."""
    return lambda rng: [
        Case({"x": normal(rng, batch, length, width), "num_heads": heads}) for batch, length, width, heads in sizes
    ]


def _heads(*shapes: tuple[int, int, int, int]):
    return lambda rng: [Case({"x": normal(rng, *shape)}) for shape in shapes]


def _split_types(rng: np.random.Generator) -> list[Case]:
    return [
        Case({"x": normal(rng, 2, 5, 21), "num_heads": 3}, mode="tensor", how="a TensorFlow tensor", dtype="float32"),
        Case({"x": normal(rng, 2, 5, 21), "num_heads": 3}, how="a NumPy array of float32", dtype="float32"),
        Case({"x": rng.normal(size=(2, 5, 21)), "num_heads": 3}, how="a NumPy array of float64", dtype="float64"),
    ]


def _merge_types(rng: np.random.Generator) -> list[Case]:
    return [
        Case({"x": normal(rng, 2, 3, 5, 7)}, mode="tensor", how="a TensorFlow tensor", dtype="float32"),
        Case({"x": normal(rng, 2, 3, 5, 7)}, how="a NumPy array of float32", dtype="float32"),
        Case({"x": rng.normal(size=(2, 3, 5, 7))}, how="a NumPy array of float64", dtype="float64"),
    ]


def _layer_inputs(
    rng: np.random.Generator, *, heads: int = 3, size: int = 5, batch: int = 2, queries: int = 7, keys: int = 11
) -> dict:
    width = heads * size
    inputs = {
        "d_model": width,
        "num_heads": heads,
        "query": normal(rng, batch, queries, width),
        "key": normal(rng, batch, keys, width),
        "value": normal(rng, batch, keys, width),
    }
    for name in DENSE:
        inputs[f"{name}.kernel"] = normal(rng, width, width) / width**0.5
        inputs[f"{name}.bias"] = normal(rng, width)
    return {key: each.astype("float32") if isinstance(each, np.ndarray) else each for key, each in inputs.items()}


def _layer_values(rng: np.random.Generator) -> list[Case]:
    other = _layer_inputs(rng, heads=5, size=3, queries=11, keys=7)
    same = _layer_inputs(rng, queries=7, keys=7)
    same["key"] = same["value"] = same["query"]
    return [
        Case(_layer_inputs(rng), how="d_model=15, num_heads=3, query (2, 7, 15), key and value (2, 11, 15)"),
        Case(other, how="d_model=15, num_heads=5, query (2, 11, 15), key and value (2, 7, 15)"),
        Case(same, how="d_model=15, num_heads=3, query, key and value the same (2, 7, 15)"),
        Case(
            _layer_inputs(rng, heads=1, size=13),
            how="d_model=13, num_heads=1, query (2, 7, 13), key and value (2, 11, 13)",
        ),
    ]


def _layer_weights(rng: np.random.Generator) -> list[Case]:
    inputs = {**_layer_inputs(rng), "return_weights": True}
    return [Case(inputs, how="return_weights=True: output (2, 7, 15), weights (2, 3, 7, 11)")]


def _layer_masked(rng: np.random.Generator) -> list[Case]:
    masks = (
        partial_mask(rng, 7, 11),
        partial_mask(rng, 2, 7, 11).astype("int32"),
        partial_mask(rng, 2, 1, 7, 11).astype("float32"),
    )
    return [
        Case(
            {**_layer_inputs(rng), "mask": mask, "return_weights": True},
            how=f"query (2, 7, 15), key (2, 11, 15), mask {mask.shape} of {mask.dtype}",
        )
        for mask in masks
    ]


def _layer_batch_of_heads(rng: np.random.Generator) -> list[Case]:
    mask = partial_mask(rng, 3, 7, 11)
    return [Case({**_layer_inputs(rng, batch=3), "mask": mask}, how="as many sentences as heads (3), mask (3, 7, 11)")]


def _layer_fully_masked(rng: np.random.Generator) -> list[Case]:
    mask = partial_mask(rng, 2, 7, 11)
    mask[0, 1] = mask[1, 4] = False
    return [
        Case(
            {**_layer_inputs(rng), "mask": mask, "return_weights": True},
            how="two queries may attend to nothing",
            property="rows are distributions",
        )
    ]


def _layer_large(rng: np.random.Generator) -> list[Case]:
    def draw() -> dict:
        inputs = _layer_inputs(rng)
        return {**inputs, "query": inputs["query"] * 400, "key": inputs["key"] * 400}

    def is_clear(inputs: dict) -> bool:
        query, key = (
            oracles.split(inputs[name] @ inputs[f"{weight}.kernel"] + inputs[f"{weight}.bias"], inputs["num_heads"])
            for name, weight in (("query", "w_q"), ("key", "w_k"))
        )
        return is_far_apart(query @ np.swapaxes(key, -1, -2), 1000)

    return [Case(drawn_until(is_clear, draw), how="scores of many thousands")]


def _layer_parameters(rng: np.random.Generator) -> list[Case]:
    return [Case(_layer_inputs(rng), mode="parameters", how="trainable parameters, d_model=15, num_heads=3")]


def _layer_refusal(rng: np.random.Generator) -> list[Case]:
    return [
        Case(
            {
                "d_model": width,
                "num_heads": heads,
                **{key: normal(rng, 2, 3, width) for key in ("query", "key", "value")},
            },
            mode="refusal",
            how=f"d_model={width}, num_heads={heads}",
        )
        for width, heads in ((10, 3), (7, 11))
    ]


def _layer_training(rng: np.random.Generator) -> list[Case]:
    wide = {**_layer_inputs(rng), "mask": partial_mask(rng, 2, 7, 11)}
    small = {**_layer_inputs(rng, heads=2, size=2, batch=1, queries=3, keys=5), "mask": partial_mask(rng, 1, 3, 5)}
    return [
        Case(wide, mode="graph", how="inside tf.function, batch size and lengths unknown"),
        Case(
            {**small, "cotangent.output": normal(rng, 1, 3, 4)},
            mode="gradient",
            how="gradients, compared with numerical ones",
        ),
    ]


PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23)


def _counts(*optional: str, use_bias: bool = True):
    """Two cases for `mha_parameter_count` with the given optional sizes; all sizes differ."""

    def draw(rng: np.random.Generator) -> list[Case]:
        cases = []
        for _ in range(2):
            heads, size, *others = (int(prime) for prime in rng.permutation(PRIMES)[:4])
            inputs = {"d_model": heads * size, "num_heads": heads, **dict(zip(optional, others, strict=False))}
            cases.append(Case(inputs if use_bias else {**inputs, "use_bias": False}))
        return cases

    return draw


def _no_bias(rng: np.random.Generator) -> list[Case]:
    return [*_counts(use_bias=False)(rng), *_counts("key_dim", "value_dim", use_bias=False)(rng)]


def _keras_weights(*parts: str):
    def draw(rng: np.random.Generator) -> list[Case]:
        heads, size = 3, 5
        width = heads * size
        inputs: dict = {"d_model": width, "num_heads": heads, "parts": list(parts)}
        for name in KERAS_NAMES:
            out = name == "output"
            inputs[f"keras.{name}.kernel"] = normal(rng, *((heads, size, width) if out else (width, heads, size)))
            inputs[f"keras.{name}.bias"] = normal(rng, *((width,) if out else (heads, size)))
        return [
            Case(inputs, how=f"{', '.join(parts)} after load_keras_weights(mine, keras_mha), d_model=15, num_heads=3")
        ]

    return draw


def _ablations(rng: np.random.Generator) -> list[Case]:
    def case(shape: tuple[int, ...], keep: list[int]) -> Case:
        return Case({"head_outputs": normal(rng, *shape), "keep": keep})

    return [
        case((2, 5, 3, 7), [0, 3]),
        case((2, 5, 3, 7), [4, 1, 2]),
        case((2, 3, 5, 7), [1]),
        case((2, 3, 5, 7), []),
        case((2, 3, 5, 7), [0, 1, 2]),
    ]


def _ablation_types(rng: np.random.Generator) -> list[Case]:
    single, keep = normal(rng, 2, 3, 5, 7), [2, 0]
    double = rng.normal(size=(2, 3, 5, 7))
    return [
        Case(
            {"head_outputs": single, "keep": keep},
            mode="tensor",
            how="a TensorFlow tensor, keep=[2, 0]",
            dtype="float32",
        ),
        Case({"head_outputs": single, "keep": keep}, how="a NumPy array of float32, keep=[2, 0]", dtype="float32"),
        Case({"head_outputs": double, "keep": keep}, how="a NumPy array of float64, keep=[2, 0]", dtype="float64"),
    ]


EXERCISES = (
    Exercise(
        name="split_heads",
        oracle=oracles.split_heads,
        groups=(
            Group("values", "right values", 2, _tokens((2, 5, 21, 3), (2, 3, 35, 7))),
            Group(
                "edges", "one head, and heads of width 1", 1, lambda rng: [*_tokens((2, 3, 7, 1), (2, 3, 5, 5))(rng)]
            ),
            Group("types", "arrays and tensors, float type kept", 1, _split_types),
        ),
        misconceptions=(
            Misconception(
                "split_by_reshape_alone",
                {"how": "reshape"},
                "The shape is right and the tokens are torn apart: a reshape alone moves no number. "
                "Give the heads an axis beside the features first.",
            ),
            Misconception(
                "heads_interleaved",
                {"how": "interleaved"},
                "Head h takes every H-th feature. It should take a block of D/H features that lie side by side.",
            ),
            Misconception(
                "no_transpose",
                {"how": "no_transpose"},
                "The heads stand after the tokens, (B, T, H, K); the contract has them before.",
            ),
            Misconception(
                "features_first", {"how": "features_first"}, "The last two axes are exchanged: (B, H, K, T)."
            ),
            Misconception(
                "heads_before_batch", {"how": "heads_first"}, "The heads stand before the batch: (H, B, T, K)."
            ),
            Misconception(
                "heads_in_batch",
                {"how": "stacked"},
                "The heads are joined with the batch, (H·B, T, K); they have an axis of their own here.",
            ),
            Misconception(
                "size_and_number_exchanged",
                {"how": "exchanged"},
                "The features are cut into D/H heads of width H; it is the other way round.",
            ),
            Misconception(
                "heads_not_narrower", {"how": "copied"}, "Every head gets all D features; it gets D/H of them."
            ),
        ),
        hints=(
            "Two steps: cut the last axis into two, then change the order of the axes.",
            "After the cut the shape is (B, T, H, D/H): which two axes have to change places?",
        ),
    ),
    Exercise(
        name="merge_heads",
        oracle=oracles.merge_heads,
        groups=(
            Group("values", "right values", 2, _heads((2, 3, 5, 7), (2, 5, 3, 11), (2, 1, 3, 5))),
            Group("types", "arrays and tensors, float type kept", 1, _merge_types),
        ),
        misconceptions=(
            Misconception(
                "merged_by_reshape_alone",
                {"how": "reshape"},
                "The shape is right, but a row of the result holds several tokens: the heads are still before the "
                "tokens "
                "when you reshape.",
            ),
            Misconception(
                "merged_interleaved",
                {"how": "interleaved"},
                "The features of the heads alternate. A row should hold all of head 0, then all of head 1, and so on.",
            ),
            Misconception("heads_added", {"how": "added"}, "The heads are added up; they have to stand side by side."),
            Misconception(
                "heads_averaged", {"how": "averaged"}, "The heads are averaged; they have to stand side by side."
            ),
            Misconception(
                "heads_still_apart",
                {"how": "apart"},
                "The axes have changed places, (B, T, H, K), and are still four: the last two become one.",
            ),
            Misconception(
                "heads_below_each_other",
                {"how": "below"},
                "The heads stand below each other, (B, H·T, K): put them side by side, along the features.",
            ),
            Misconception(
                "features_of_all_tokens",
                {"how": "tokens"},
                "The sizes are mixed up: a row holds all tokens, (B, H, T·K). After the transpose the axes are B, T, H, K.",
            ),
        ),
        hints=(
            "It is `split_heads` backwards: undo its last step first.",
            "Only when the axes are (B, T, H, K) do the features of one token lie side by side.",
        ),
    ),
    Exercise(
        name="MultiHeadAttention",
        oracle=oracles.multi_head_attention,
        groups=(
            Group("values", "right values, for self-attention and for cross-attention", 3, _layer_values),
            Group("weights", "attention weights of every head", 1, _layer_weights),
            Group("masked", "masks of shape (T, S), (B, T, S) and (B, 1, T, S)", 2, _layer_masked),
            Group(
                "batch_of_heads",
                "mask (B, T, S) where B happens to be H",
                1,
                _layer_batch_of_heads,
                advice="Shapes are aligned from the right. Which axis of the scores does the first axis of the mask "
                "meet?",
            ),
            Group(
                "fully_masked",
                "a query that may attend to nothing gives no NaN",
                1,
                _layer_fully_masked,
                advice="The softmax of a row of minus infinity is 0/0. A large negative number blocks just as well.",
            ),
            Group("large_scores", "finite for large scores", 1, _layer_large),
            Group("parameters", "four Dense layers with bias", 1, _layer_parameters),
            Group(
                "refusal",
                "ValueError when num_heads does not divide d_model",
                1,
                _layer_refusal,
                advice="Compare d_model % num_heads with 0 in `__init__`, and raise a ValueError that names both "
                "numbers.",
            ),
            Group(
                "training",
                "works inside tf.function, and gradients reach every weight",
                1,
                _layer_training,
                advice="Inside tf.function the batch size is None: take it from `ops.shape(x)`, or put -1 for it in a "
                "reshape. "
                "NumPy stops both graphs and gradients.",
            ),
        ),
        misconceptions=(
            UNSCALED,
            Misconception(
                "scaled_by_d_model",
                {"scale": "sqrt_d_model"},
                "The scores are divided by the root of d_model. A head's scores are sums over d_model / num_heads "
                "features.",
            ),
            Misconception(
                "scaled_by_head_size",
                {"scale": "d_k"},
                "The scores are divided by the width of a head, not by its square root.",
            ),
            SCALED_BY_LENGTH,
            SCALED_AFTER,
            OVER_QUERIES,
            Misconception(
                "softmax_over_heads",
                {"softmax_axis": 1},
                "The weights of the heads sum to 1 for each pair of tokens: the softmax runs over the heads instead "
                "of the keys.",
            ),
            NO_SOFTMAX,
            UNSTABLE,
            *(each for each in MASK_MISTAKES if each.id != "mask_transposed"),
            Misconception(
                "mask_meets_heads",
                {"mask_axis": "heads"},
                "A mask (B, T, S) meets scores (B, H, T, S): its first axis falls on the heads. It needs an axis for "
                "them.",
            ),
            Misconception(
                "one_head",
                {"one_head": True},
                "There is one head of width D, not several: the projections go into the attention as they are, unsplit.",
            ),
            Misconception(
                "split_by_reshape_alone",
                {"split_how": "reshape"},
                "The heads are cut out by a reshape alone, which mixes the tokens.",
            ),
            Misconception(
                "merged_by_reshape_alone",
                {"merge_how": "reshape"},
                "The heads are merged by a reshape alone, which mixes the tokens.",
            ),
            Misconception(
                "heads_interleaved",
                {"split_how": "interleaved", "merge_how": "interleaved"},
                "Head h takes every H-th feature. It should take a block of features that lie side by side.",
            ),
            Misconception(
                "no_output_projection",
                {"project_out": False},
                "The merged heads come back as they are: w_o is not used.",
            ),
            Misconception(
                "keras_argument_order",
                {"arguments": "qvk"},
                "Key and value change places: the contract is call(query, key, value), unlike Keras's query, value, "
                "key.",
            ),
            Misconception(
                "query_attends_to_itself",
                {"arguments": "qqq"},
                "Keys and values are made from the query. In cross-attention they come from `key` and `value`.",
            ),
            Misconception(
                "values_from_key",
                {"arguments": "qkk"},
                "The values are made from the argument `key`, not from `value`.",
            ),
            Misconception(
                "query_key_swapped",
                {"roles": "kqv"},
                "w_q makes the keys and w_k the queries; it is the other way round.",
            ),
            Misconception("one_projection", {"roles": "qqv"}, "Queries and keys come from the same projection, w_q."),
            Misconception("values_from_w_k", {"roles": "qkk"}, "The values come from w_k instead of w_v."),
            Misconception(
                "one_layer_twice",
                {"roles": "kkv"},
                "w_q and w_k are one and the same layer; each has weights of its own.",
            ),
            Misconception(
                "one_layer_three_times",
                {"roles": "vvv"},
                "w_q, w_k and w_v are one and the same layer; each has weights of its own.",
            ),
            Misconception(
                "residual_inside",
                {"residual": True},
                "The query is added to the output. That residual path belongs to the block around this layer, in lab 04.",
            ),
            Misconception(
                "relu_on_projections",
                {"relu": True},
                "Queries, keys and values go through a ReLU; w_q, w_k and w_v are linear.",
            ),
            Misconception(
                "relu_before_w_o",
                {"relu_merged": True},
                "A ReLU stands between the merged heads and w_o; nothing comes between them.",
            ),
            Misconception(
                "relu_after_w_o",
                {"relu_out": True},
                "A ReLU stands after w_o, so nothing below 0 comes out; w_o is linear.",
            ),
            Misconception(
                "dense_without_bias", {"bias": False}, "The Dense layers have no bias; the contract says with bias."
            ),
            Misconception(
                "weights_averaged",
                {"average_weights": True},
                "The weights are averaged over the heads; return one map for each head, (B, H, T, S).",
            ),
            Misconception(
                "scores_returned",
                {"results": "output, scores"},
                "With return_weights=True the scores come back; the weights are what the softmax makes of them.",
            ),
            Misconception(
                "results_swapped",
                {"results": "weights, output"},
                "The weights come first; the contract is (output, weights).",
            ),
            Misconception(
                "any_width_accepted",
                {"refusal": "no error"},
                "A d_model that num_heads does not divide is accepted in silence.",
            ),
            Misconception(
                "refused_too_late",
                {"refusal": "InvalidArgumentError"},
                "A d_model that num_heads does not divide fails somewhere inside TensorFlow. Check it yourself, in "
                "words.",
            ),
        ),
        hints=(
            "`__init__` makes four Dense layers of width d_model, under the names of the contract, after it has "
            "checked the two numbers.",
            "`call`: project, `split_heads` three times, attention as in lab 02 (it works for any leading axes), "
            "`merge_heads`, `w_o`.",
            "Bring every mask to rank 4, or to a shape that broadcasts to (B, H, T, S). Only rank 3 needs something "
            "done to it.",
        ),
        forbidden=BUILT_IN_ATTENTION,
    ),
    Exercise(
        name="mha_parameter_count",
        oracle=oracles.mha_parameter_count,
        groups=(
            Group("paper", "no key_dim: the paper's layer", 1, _counts()),
            Group("key_dim", "key_dim given", 1, _counts("key_dim")),
            Group(
                "value_dim",
                "value_dim given, with key_dim and without",
                1,
                lambda rng: [*_counts("key_dim", "value_dim")(rng), *_counts("value_dim")(rng)],
            ),
            Group("no_bias", "use_bias=False", 1, _no_bias),
        ),
        misconceptions=(
            Misconception(
                "key_dim_defaults_to_d_model",
                {"default_key": "D"},
                "Without key_dim every head is as wide as the model; the paper's heads are D/H wide.",
            ),
            Misconception(
                "value_dim_defaults_to_head",
                {"default_value": "D/H"},
                "Without value_dim the values are D/H wide, although key_dim is given. value_dim follows key_dim.",
            ),
            Misconception(
                "value_dim_defaults_to_d_model", {"default_value": "D"}, "value_dim follows key_dim, not d_model."
            ),
            Misconception("value_dim_ignored", {"values_like_keys": True}, "value_dim changes nothing."),
            Misconception(
                "widths_ignored",
                {"widths_given": False},
                "key_dim and value_dim change nothing: D/H is counted whatever is given.",
            ),
            Misconception(
                "key_dim_of_all_heads",
                {"key_dim_is": "all"},
                "key_dim and value_dim are widths of one head; there are num_heads of them.",
            ),
            Misconception(
                "output_from_keys",
                {"output_from": "keys"},
                "W_O reads the merged heads: H values side by side, so its size depends on value_dim, not on key_dim.",
            ),
            Misconception("no_output_matrix", {"output_matrix": False}, "W_O is missing."),
            Misconception("no_output_bias", {"output_bias": "none"}, "The bias of W_O is missing."),
            Misconception(
                "no_bias", {"output_bias": "no bias anywhere"}, "No bias is counted; with use_bias=True there are four."
            ),
            Misconception(
                "output_bias_of_heads",
                {"output_bias": "inner"},
                "The bias of W_O is as wide as its output, d_model; you count one for its input.",
            ),
            Misconception(
                "bias_of_one_head",
                {"bias_heads": "one"},
                "The biases of queries, keys and values are counted for one head; there are num_heads of them.",
            ),
            Misconception("bias_always", {"bias_always": True}, "use_bias=False changes nothing."),
            Misconception("two_projections", {"projections": 1}, "One of W_Q and W_K is missing."),
        ),
        hints=(
            "Write down the shapes of the four matrices and of their four biases, then add up.",
            "W_Q and W_K are (D, H·key_dim), W_V is (D, H·value_dim). What does W_O read, and what does it write?",
        ),
    ),
    Exercise(
        name="load_keras_weights",
        oracle=oracles.load_keras_weights,
        groups=(
            Group(
                "kernels", "kernels of w_q, w_k and w_v", 2, _keras_weights("w_q.kernel", "w_k.kernel", "w_v.kernel")
            ),
            Group("output", "kernel of w_o", 2, _keras_weights("w_o.kernel")),
            Group("biases", "all four biases", 1, _keras_weights("w_q.bias", "w_k.bias", "w_v.bias", "w_o.bias")),
        ),
        misconceptions=(
            Misconception(
                "kernels_interleaved",
                {"inputs_how": "interleaved"},
                "In your kernels the features of the heads alternate. `split_heads` wants head 0's columns first, "
                "then head 1's.",
            ),
            Misconception(
                "kernels_heads_first",
                {"inputs_how": "heads_first"},
                "Keras's kernel (D, H, K) already has the inputs first: moving the heads before a reshape mixes rows.",
            ),
            Misconception(
                "kernels_transposed",
                {"inputs_how": "transposed"},
                "The kernels of w_q, w_k and w_v are transposed: rows are inputs, columns are outputs.",
            ),
            Misconception(
                "output_interleaved",
                {"output_how": "interleaved"},
                "The rows of w_o's kernel are out of order: head 0's K rows come first, then head 1's.",
            ),
            Misconception(
                "output_transposed",
                {"output_how": "transposed"},
                "The kernel of w_o is transposed: rows are inputs, columns are outputs.",
            ),
            Misconception("output_not_copied", {"output_how": "zero"}, "w_o keeps its own weights."),
            Misconception(
                "biases_not_copied",
                {"biases": False},
                "The biases are not copied. In a fresh layer they are 0, so nobody notices.",
            ),
            Misconception("output_bias_not_copied", {"output_bias": False}, "The bias of w_o is not copied."),
            Misconception(
                "biases_interleaved",
                {"biases_how": "interleaved"},
                "In your biases the features of the heads alternate. A bias (H, K) of Keras is read row by row: head 0 "
                "first.",
            ),
            Misconception("query_key_swapped", {"roles": "kqvo"}, "w_q and w_k get each other's weights."),
            Misconception("key_value_swapped", {"roles": "qvko"}, "w_k and w_v get each other's weights."),
            Misconception(
                "nothing_loaded",
                {"nothing": True},
                "The weights of `mine` did not change. Are they copied the other way, or only computed and not "
                "assigned?",
            ),
        ),
        hints=(
            "Print the shapes of `keras_mha.get_weights()`, and beside them the shapes of your four kernels and "
            "biases.",
            "The numbers are in the right order already: which reshape gives (D, H, K) the shape of your kernel? And "
            "(H, K, D)?",
            "A Dense layer takes both at once: `dense.set_weights([kernel, bias])`.",
        ),
    ),
    Exercise(
        name="ablate_heads",
        oracle=oracles.ablate_heads,
        groups=(
            Group("values", "right values, for any `keep`", 2, _ablations),
            Group("types", "arrays and tensors, float type kept", 1, _ablation_types),
        ),
        misconceptions=(
            Misconception(
                "keep_inverted", {"invert": True}, "The heads in `keep` become zero. They are the ones that stay."
            ),
            Misconception(
                "heads_removed",
                {"remove": True},
                "The other heads are taken out of the array; they stay in it, as zeros.",
            ),
            Misconception(
                "others_rescaled",
                {"rescale": True},
                "The heads that stay are scaled up, as in dropout. They keep their values.",
            ),
            Misconception(
                "heads_from_one",
                {"first": 1},
                "The heads are counted from 1: `keep` holds indices, and the first head is 0.",
            ),
            Misconception(
                "first_heads_stay",
                {"counted": True},
                "As many heads stay as `keep` has entries, but the first ones; `keep` says which.",
            ),
            Misconception(
                "empty_keep_keeps_all",
                {"empty_keeps_all": True},
                "With an empty `keep` every head stays; it means that none does.",
            ),
            Misconception(
                "sequences_ablated", {"axis": 0}, "Sequences become zero, not heads: axis 1 holds the heads."
            ),
            Misconception("tokens_ablated", {"axis": 2}, "Tokens become zero, not heads: axis 1 holds the heads."),
            Misconception("features_ablated", {"axis": 3}, "Features become zero, not heads: axis 1 holds the heads."),
            Misconception(
                "mean_instead_of_zero",
                {"fill": "mean"},
                "The other heads get the mean of all heads; they should be zero.",
            ),
        ),
        hints=(
            "Make a vector of H ones and zeros. Which shape does it need to broadcast to (B, H, T, K)?",
            "Tensors cannot be assigned to by index; a multiplication works for arrays and tensors alike.",
        ),
    ),
)

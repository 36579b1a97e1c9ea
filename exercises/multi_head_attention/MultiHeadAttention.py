"""Lab 03, exercise `MultiHeadAttention`."""

from dataclasses import replace
from typing import Any

import numpy as np

from autograder.declare import Case, Exercise, edit, seen
from exercises.drawing import drawn_until, is_far_apart, normal, one_of, partial_mask
from exercises.formulas.attention import scaled_dot_product_attention
from exercises.multi_head_attention import shared
from exercises.multi_head_attention.shared import attention_arrays, large_and_masked, merge, split
from exercises.self_attention import shared as self_attention


def _layer_inputs(rng, *, heads=3, size=5, batch=2, queries=7, keys=11):
    width = heads * size
    arrays = attention_arrays(rng, width, width, batch=batch, queries=queries, keys=keys)
    return {"d_model": width, "num_heads": heads, **arrays}


exercise = Exercise(
    "MultiHeadAttention",
    layer={
        "init": ("d_model", "num_heads"),
        "call": ("query", "key", "value"),
        "weights": shared.DENSE_WEIGHTS,
        "with_weights": "weights",
        "renamed": {"mask": "attention_mask"},
    },
    forbidden=self_attention.BUILT_IN_ATTENTION,
    uses=("split_heads", "merge_heads"),
)


@exercise.formula
def multi_head_attention(
    num_heads: int,
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    w_q_kernel: np.ndarray,
    w_q_bias: np.ndarray,
    w_k_kernel: np.ndarray,
    w_k_bias: np.ndarray,
    w_v_kernel: np.ndarray,
    w_v_bias: np.ndarray,
    w_o_kernel: np.ndarray,
    w_o_bias: np.ndarray,
    mask: Any = None,
    return_weights: bool = False,
) -> dict[str, np.ndarray]:
    """Multi-head attention with D/H features per head (Vaswani et al. 2017, section 3.2.2), biases included.

    Args:
        query, key, value: (B, T, D), (B, S, D), (B, S, D).
        mask: (T, S), (B, T, S) or (B, 1, T, S); true where a query may attend.

    Returns:
        ``output`` (B, T, D) and, if asked for, ``weights`` (B, H, T, S). Rows without any key are NaN in both.
    """
    q = split(query @ w_q_kernel + w_q_bias, num_heads)
    k = split(key @ w_k_kernel + w_k_bias, num_heads)
    v = split(value @ w_v_kernel + w_v_bias, num_heads)
    if np.ndim(mask) == 3:
        mask = np.asarray(mask)[:, None]  # the axis of the heads
    result = scaled_dot_product_attention(q, k, v, mask)
    output = merge(result["output"]) @ w_o_kernel + w_o_bias
    return {"output": output, "weights": result["weights"]} if return_weights else {"output": output}


@exercise.formula_for("unmasked")
def after_a_masked_call(
    num_heads: int,
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    w_q_kernel: np.ndarray,
    w_q_bias: np.ndarray,
    w_k_kernel: np.ndarray,
    w_k_bias: np.ndarray,
    w_v_kernel: np.ndarray,
    w_v_bias: np.ndarray,
    w_o_kernel: np.ndarray,
    w_o_bias: np.ndarray,
    mask: Any,
) -> dict[str, np.ndarray]:
    """The output without a mask, right after a call with one."""
    no_mask = None
    weights = w_q_kernel, w_q_bias, w_k_kernel, w_k_bias, w_v_kernel, w_v_bias, w_o_kernel, w_o_bias
    return multi_head_attention(num_heads, query, key, value, *weights, mask=no_mask)


@exercise.formula_for("parameters")
def number_of_parameters(d_model: int) -> dict[str, int]:
    """Four Dense layers (D, D) with bias."""
    return {"trainable_parameters": 4 * (d_model * d_model + d_model)}


@exercise.formula_for("refusal")
def refused() -> dict[str, str]:
    """A width that num_heads does not divide is refused with a ValueError."""
    return {"raised": "ValueError"}


@exercise.group("right values, for self-attention and for cross-attention", points=3)
def values(rng):
    other = _layer_inputs(rng, heads=5, size=3, queries=11, keys=7)
    same = _layer_inputs(rng, queries=7, keys=7)
    same["key"] = same["value"] = same["query"]
    yield Case(_layer_inputs(rng), "d_model=15, num_heads=3, query (2, 7, 15), key and value (2, 11, 15)")
    yield Case(other, "d_model=15, num_heads=5, query (2, 11, 15), key and value (2, 7, 15)")
    yield Case(same, "d_model=15, num_heads=3, query, key and value the same (2, 7, 15)")
    yield Case(
        _layer_inputs(rng, heads=1, size=13), "d_model=13, num_heads=1, query (2, 7, 13), key and value (2, 11, 13)"
    )


@exercise.group("attention weights of every head")
def weights(rng):
    inputs = {**_layer_inputs(rng), "return_weights": True}
    return Case(inputs, "return_weights=True: output (2, 7, 15), weights (2, 3, 7, 11)")


@exercise.group("masks of shape (T, S), (B, T, S) and (B, 1, T, S)", points=2)
def masked(rng):
    masks = (
        partial_mask(rng, 7, 11),
        partial_mask(rng, 2, 7, 11).astype("int32"),
        partial_mask(rng, 2, 1, 7, 11).astype("float32"),
    )
    return [
        Case(
            {**_layer_inputs(rng), "mask": mask, "return_weights": True},
            f"query (2, 7, 15), key (2, 11, 15), mask {mask.shape} of {mask.dtype}",
        )
        for mask in masks
    ] + [
        Case(
            {**_layer_inputs(rng), "mask": partial_mask(rng, 7, 11)},
            "once with a mask (7, 11), and then without",
            mode="unmasked",
        )
    ]


@exercise.group("mask (B, T, S) where B happens to be H")
def batch_of_heads(rng):
    mask = partial_mask(rng, 3, 7, 11)
    return Case({**_layer_inputs(rng, batch=3), "mask": mask}, "as many sentences as heads (3), mask (3, 7, 11)")


@exercise.group("right, and weights that sum to 1 or are all 0, where a query may attend to nothing")
def fully_masked(rng):
    mask = partial_mask(rng, 2, 7, 11)
    mask[0, 1] = mask[1, 4] = False
    return Case(
        {**_layer_inputs(rng), "mask": mask, "return_weights": True},
        "two queries may attend to nothing",
        property="rows are distributions",
    )


@exercise.group("right and finite for large scores")
def large_scores(rng):
    def draw(**sizes: int) -> dict:
        inputs = _layer_inputs(rng, **sizes)
        return {**inputs, "query": inputs["query"] * 400, "key": inputs["key"] * 400}

    def is_clear(inputs: dict) -> bool:
        query, key = (
            split(inputs[name] @ inputs[f"{weight}.kernel"] + inputs[f"{weight}.bias"], inputs["num_heads"])
            for name, weight in (("query", "w_q"), ("key", "w_k"))
        )
        return is_far_apart(query @ np.swapaxes(key, -1, -2), 1000)

    yield Case(drawn_until(is_clear, lambda: draw(size=4)), "scores of many thousands")
    yield Case(drawn_until(is_clear, lambda: draw(heads=1, size=13)), "scores of many thousands, one head")
    yield Case(
        large_and_masked(rng, lambda: _layer_inputs(rng, heads=1, size=13, batch=1, queries=5, keys=3)),
        "scores of tens of thousands, one head, and a mask",
    )


exercise.parameters(
    "four Dense layers with bias",
    lambda rng: _layer_inputs(rng, heads=one_of(rng, *range(3, 9)), size=one_of(rng, 9, 11)),
    told=("d_model", "num_heads"),
)

exercise.group(
    "ValueError when num_heads does not divide d_model",
    fixed="a refusal is the same error for all numbers that do not fit",
    refusal=lambda rng: [
        Case(
            {
                "d_model": width,
                "num_heads": heads,
                **{key: normal(rng, 2, 3, width) for key in ("query", "key", "value")},
            },
            f"d_model={width}, num_heads={heads}",
            mode="refusal",
        )
        for width, heads in ((10, 3), (7, 11))
    ],
)

exercise.training(
    lambda rng: (
        {**_layer_inputs(rng), "mask": partial_mask(rng, 2, 7, 11)},
        {**_layer_inputs(rng, heads=2, size=2, batch=1, queries=3, keys=5), "mask": partial_mask(rng, 1, 3, 5)},
    ),
    unknown="batch size and lengths",
)

Q, K, V = "query @ w_q_kernel + w_q_bias", "key @ w_k_kernel + w_k_bias", "value @ w_v_kernel + w_v_bias"
MERGED = 'merge(result["output"]) @ w_o_kernel + w_o_bias'
WEIGHTS = 'result["weights"]'
BOTH = '{"output": output, "weights": result["weights"]}'

exercise.mistakes(
    unscaled=replace(self_attention.UNSCALED, costs_at_most=0.5),  # lab 02 asks for it
    scaled_by_d_model=edit(f"split({Q}, num_heads)", f"split(({Q}) / num_heads**0.5, num_heads)", see="03#heads")
    | "The scores are divided by the root of d_model. A head's scores are sums over d_model / num_heads features."
    | "Over how many features does one dot product sum, after the split?",
    scaled_by_head_size=edit(self_attention.ROOT, "q.shape[-1]", see="02#why-sqrt-dk")
    | "The scores are divided by the width of a head, not by its square root."
    | "The variance of a score is the width of a head. Which number divides its standard deviation?",
    scaled_by_num_heads=edit(self_attention.ROOT, "math.sqrt(q.shape[1])", see="03#heads")
    | "The scores are divided by the root of the number of heads. A score sums over the D/H features of one head."
    | "Over how many features does one dot product sum, after the split?",
    scaled_by_length=self_attention.SCALED_BY_LENGTH,
    scaled_after_softmax=self_attention.SCALED_AFTER,
    softmax_over_queries=self_attention.OVER_QUERIES,
    softmax_over_heads=shared.OVER_HEADS,
    no_softmax=self_attention.NO_SOFTMAX,
    unstable_softmax=self_attention.UNSTABLE,
    one_maximum_for_all=self_attention.WHOLE_PEAK,
    mask_ignored=self_attention.MASK_MISTAKES["mask_ignored"],
    mask_inverted=self_attention.MASK_MISTAKES["mask_inverted"],
    mask_added=self_attention.MASK_MISTAKES["mask_added"],
    mask_zeroes_scores=self_attention.MASK_MISTAKES["mask_zeroes_scores"],
    mask_after_softmax=self_attention.MASK_MISTAKES["mask_after_softmax"],
    blocked_not_low_enough=self_attention.NOT_LOW_ENOUGH,
    blocked_loses_too_little=self_attention.LOSES_TOO_LITTLE,
    mask_meets_heads=shared.MASK_MEETS_HEADS,
    mask_kept=shared.MASK_KEPT,
    one_head=edit(f"q = split({Q}, num_heads)", f"num_heads = 1\nq = split({Q}, num_heads)")
    | edit(WEIGHTS, f"{WEIGHTS}[:, 0]", see="03#heads")
    | "There is one head of width D, not several: the projections go into the attention as they are, unsplit."
    | "Which of your functions makes the axis of the heads, and where is it called?",
    split_by_reshape_alone=shared.SPLIT_BY_RESHAPE,
    merged_by_reshape_alone=shared.MERGED_BY_RESHAPE,
    heads_interleaved=edit(shared.CUT, "x.reshape(batch, length, width // num_heads, num_heads).transpose(0, 3, 1, 2)")
    | edit(shared.JOINED, "x.transpose(0, 2, 3, 1).reshape(batch, length, heads * size)")
    | "Head h takes every H-th feature. It should take a block of features that lie side by side.",
    no_output_projection=edit(MERGED, 'merge(result["output"])', see="03#key-dim")
    | "The merged heads come back as they are: w_o is not used."
    | "What mixes the heads, once they stand side by side?",
    keras_argument_order=shared.KERAS_ORDER,
    query_attends_to_itself=edit("key @ w_k_kernel", "query @ w_k_kernel")
    | edit("value @ w_v_kernel", "query @ w_v_kernel")
    | "Keys and values are made from the query. They should be made from `key` and `value`.",
    values_from_key=shared.VALUES_FROM_KEY,
    query_key_swapped=edit((Q, "query @ w_k_kernel + w_k_bias"), (K, "key @ w_q_kernel + w_q_bias"))
    | "w_q makes the keys and w_k the queries; exchange the two.",
    one_projection=edit(K, "key @ w_q_kernel + w_q_bias") | "Queries and keys come from the same projection, w_q.",
    key_value_swapped=edit((K, "key @ w_v_kernel + w_v_bias"), (V, "value @ w_k_kernel + w_k_bias"))
    | "w_k makes the values and w_v the keys; exchange the two.",
    values_from_w_k=edit(V, "value @ w_k_kernel + w_k_bias") | "The values come from w_k instead of w_v.",
    one_layer_twice=edit(Q, "query @ w_k_kernel + w_k_bias")
    | "w_q and w_k are one and the same layer; each should have weights of its own.",
    one_layer_three_times=edit((Q, "query @ w_v_kernel + w_v_bias"), (K, "key @ w_v_kernel + w_v_bias"))
    | "w_q, w_k and w_v are one and the same layer; each should have weights of its own.",
    residual_inside=edit(MERGED, f"{MERGED} + query", see="04#block")
    | "The query is added to the output. That residual path belongs to the block around this layer, in lab 04."
    | "The layer returns what attention found. Which exercise of which lab adds its input to it?",
    relu_on_projections=edit((Q, f"np.maximum({Q}, 0)"), (K, f"np.maximum({K}, 0)"), (V, f"np.maximum({V}, 0)"))
    | "Queries, keys and values go through a ReLU; w_q, w_k and w_v should be linear.",
    relu_everywhere=edit(Q, f"np.maximum({Q}, 0)")
    | edit(K, f"np.maximum({K}, 0)")
    | edit(V, f"np.maximum({V}, 0)")
    | edit(MERGED, f"np.maximum({MERGED}, 0)")
    | "All four Dense layers have a ReLU; they should be linear.",
    relu_before_w_o=edit('merge(result["output"])', 'np.maximum(merge(result["output"]), 0)')
    | "There is a ReLU between the merged heads and w_o; remove it.",
    relu_after_w_o=edit(MERGED, f"np.maximum({MERGED}, 0)")
    | "There is a ReLU after w_o, so no output is below 0; w_o should be linear.",
    dense_without_bias=edit("+ w_q_bias", "")
    | edit("+ w_k_bias", "")
    | edit("+ w_v_bias", "")
    | edit("+ w_o_bias", "")
    | edit("d_model * d_model + d_model", "d_model * d_model")
    | "The Dense layers have no bias; this exercise asks for one.",
    weights_averaged=edit(WEIGHTS, f"{WEIGHTS}.mean(axis=1)")
    | "The weights are averaged over the heads; return one map for each head, (B, H, T, S).",
    scores_returned=edit(*self_attention.SCORES_RETURNED.edits)
    | "With return_weights=True the scores come back; the weights are the softmax of the scores.",
    results_swapped=edit(BOTH, '{"output": result["weights"], "weights": output}')
    | "The weights come first; return (output, weights).",
    any_width_accepted=seen({"raised": "no error"})
    | "A d_model that num_heads does not divide is accepted without an error.",
    refused_too_late=seen({"raised": "InvalidArgumentError"})
    | "A d_model that num_heads does not divide fails somewhere inside TensorFlow. Check it yourself, and say in "
    "words what is wrong.",
)

exercise.advice(
    batch_of_heads="Shapes are aligned from the right. Which axis of the scores does the first axis of the mask meet?",
    fully_masked="Where every key is blocked, the sum of the row is 0 and 0/0 is NaN, whether you take −∞ for a "
    "blocked score or multiply its exponential by 0. A large negative score avoids it.",
    refusal="Compare d_model % num_heads with 0 in `__init__`, and raise a ValueError that names both numbers.",
    training="Inside tf.function the batch size is None: take it from `ops.shape(x)`, or put -1 for it in a reshape. "
    "NumPy stops both graphs and gradients.",
)
exercise.hints(
    values=(
        "`__init__` makes four Dense layers of width d_model, under the names of the contract, after it has checked "
        "the two numbers.",
        "`call`: project, `split_heads` three times, attention as in lab 02 (it works for any leading axes), "
        "`merge_heads`, `w_o`.",
        "By which width are the scores divided: that of a token, or that of a head?",
    ),
    weights="The weights are what the softmax returns, before they meet the values: (B, H, T, S).",
    masked="Bring every mask to rank 4, or to a shape that broadcasts to (B, H, T, S). Only rank 3 needs something "
    "done to it.",
    batch_of_heads="Where does the new axis of a mask (B, T, S) belong, so that B meets B?",
    fully_masked="Which number do you write in place of a blocked score?",
    large_scores=(
        "A softmax of your own subtracts the largest score of each row; `ops.softmax` does it for you.",
        "With a mask: is the number that blocks far below scores of −20,000?",
    ),
    parameters="Four Dense layers, each from D to D. Do all of them have a bias, and is each of them called?",
    refusal="`%` gives the remainder of a division; check it before the layers are made.",
    training="A size from `x.shape` may be None in a graph; one from `ops.shape(x)` is not.",
)

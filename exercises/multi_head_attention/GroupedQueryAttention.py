"""Lab 03, exercise `GroupedQueryAttention`."""

from dataclasses import replace
from typing import Any

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.drawing import normal, one_of, partial_mask
from exercises.formulas.attention import scaled_dot_product_attention
from exercises.multi_head_attention.shared import (
    DENSE_WEIGHTS,
    KERAS_ORDER,
    MASK_KEPT,
    MASK_MEETS_HEADS,
    MERGED_BY_RESHAPE,
    VALUES_FROM_KEY,
    attention_arrays,
    large_and_masked,
    merge,
    split,
)
from exercises.self_attention import shared as self_attention


def _layer_inputs(rng, *, heads=6, shared=2, size=3, batch=2, queries=7, keys=11):
    width = heads * size
    arrays = attention_arrays(rng, width, shared * size, batch=batch, queries=queries, keys=keys)
    return {"d_model": width, "num_heads": heads, "num_kv_heads": shared, **arrays}


exercise = Exercise(
    "GroupedQueryAttention",
    layer={
        "init": ("d_model", "num_heads", "num_kv_heads"),
        "call": ("query", "key", "value"),
        "weights": DENSE_WEIGHTS,
        "with_weights": "weights",
        "renamed": {"mask": "attention_mask"},
    },
    forbidden=self_attention.BUILT_IN_ATTENTION,
    uses=("split_heads", "merge_heads"),
)


@exercise.formula
def grouped_query_attention(
    num_heads: int,
    num_kv_heads: int,
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
    """Grouped-query attention (Ainslie et al. 2023, section 2.2): H query heads share G heads of keys and values.

    Query head h reads key head h // (H/G). Other arguments and results as for `MultiHeadAttention`.
    """
    q = split(query @ w_q_kernel + w_q_bias, num_heads)
    shared = np.arange(num_heads) // (num_heads // num_kv_heads)
    k = split(key @ w_k_kernel + w_k_bias, num_kv_heads)[:, shared]
    v = split(value @ w_v_kernel + w_v_bias, num_kv_heads)[:, shared]
    if np.ndim(mask) == 3:
        mask = np.asarray(mask)[:, None]  # the axis of the heads
    result = scaled_dot_product_attention(q, k, v, mask)
    output = merge(result["output"]) @ w_o_kernel + w_o_bias
    return {"output": output, "weights": result["weights"]} if return_weights else {"output": output}


@exercise.formula_for("unmasked")
def after_a_masked_call(
    num_heads: int,
    num_kv_heads: int,
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
    return grouped_query_attention(num_heads, num_kv_heads, query, key, value, *weights, mask=no_mask)


@exercise.formula_for("parameters")
def number_of_parameters(d_model: int, num_heads: int, num_kv_heads: int) -> dict[str, int]:
    """W_Q and W_O are (D, D), W_K and W_V (D, G·K); each has a bias as wide as its output."""
    shared = num_kv_heads * (d_model // num_heads)
    rows = d_model + 1
    return {"trainable_parameters": 2 * rows * d_model + 2 * rows * shared}


@exercise.formula_for("refusal")
def refused(d_model: int, num_heads: int) -> dict[str, str]:
    """Both divisions that leave a remainder, D by H and H by G, are refused with a ValueError."""
    heads, groups = "ValueError", "ValueError"
    return {"raised": heads if d_model % num_heads else groups}


@exercise.group("right values, for self-attention and for cross-attention", points=3)
def values(rng):
    same = _layer_inputs(rng, queries=7, keys=7)
    same["key"] = same["value"] = same["query"]
    yield Case(
        _layer_inputs(rng), "d_model=18, num_heads=6, num_kv_heads=2, query (2, 7, 18), key and value (2, 11, 18)"
    )
    yield Case(
        _layer_inputs(rng, shared=3, size=2),
        "d_model=12, num_heads=6, num_kv_heads=3, query (2, 7, 12), key and value (2, 11, 12)",
    )
    yield Case(same, "d_model=18, num_heads=6, num_kv_heads=2, query, key and value the same (2, 7, 18)")


@exercise.group("one key head, and as many as query heads")
def edges(rng):
    yield Case(_layer_inputs(rng, heads=3, shared=1, size=5), "d_model=15, num_heads=3, num_kv_heads=1")
    yield Case(_layer_inputs(rng, heads=3, shared=3, size=5), "d_model=15, num_heads=3, num_kv_heads=3")


@exercise.group("attention weights of every query head")
def weights(rng):
    return Case(
        {**_layer_inputs(rng), "return_weights": True}, "return_weights=True: output (2, 7, 18), weights (2, 6, 7, 11)"
    )


@exercise.group("masks of shape (T, S), (B, T, S) and (B, 1, T, S)")
def masked(rng):
    masks = (
        partial_mask(rng, 7, 11),
        partial_mask(rng, 2, 7, 11).astype("int32"),
        partial_mask(rng, 2, 1, 7, 11).astype("float32"),
    )
    as_many = {**_layer_inputs(rng, heads=4, batch=4), "mask": partial_mask(rng, 4, 7, 11)}
    shown = [
        Case(
            {**_layer_inputs(rng), "mask": mask, "return_weights": True},
            f"query (2, 7, 18), key (2, 11, 18), mask {mask.shape} of {mask.dtype}",
        )
        for mask in masks
    ]
    large = large_and_masked(rng, lambda: _layer_inputs(rng, heads=1, shared=1, size=13, batch=1, queries=5, keys=3))
    kept = {**_layer_inputs(rng), "mask": partial_mask(rng, 7, 11)}
    return [
        *shown,
        Case(kept, "once with a mask (7, 11), and then without", mode="unmasked"),
        Case(as_many, "as many sentences as query heads (4), mask (4, 7, 11)"),
        Case(large, "d_model=13, one head, scores of tens of thousands, mask (5, 3)"),
    ]


@exercise.group("four Dense layers with bias, of the right widths")
def parameters(rng):
    heads, shared = one_of(rng, (6, 2), (6, 3), (8, 2), (9, 3))
    size = one_of(rng, 5, 7, 10, 11, 13)
    description = f"trainable parameters, d_model={heads * size}, num_heads={heads}, num_kv_heads={shared}"
    return Case(_layer_inputs(rng, heads=heads, shared=shared, size=size), description, mode="parameters")


exercise.group(
    "ValueError when the numbers do not fit",
    fixed="a refusal is the same error for all numbers that do not fit",
    refusal=lambda rng: [
        Case(
            {
                "d_model": width,
                "num_heads": heads,
                "num_kv_heads": shared,
                **{key: normal(rng, 2, 3, width) for key in ("query", "key", "value")},
            },
            f"d_model={width}, num_heads={heads}, num_kv_heads={shared}",
            mode="refusal",
        )
        for width, heads, shared in ((10, 4, 2), (12, 6, 4), (6, 3, 6))
    ],
)


@exercise.group("works inside tf.function, and gradients reach every weight")
def training(rng):
    small = {
        **_layer_inputs(rng, heads=4, shared=2, size=1, batch=1, queries=3, keys=5),
        "mask": partial_mask(rng, 1, 3, 5),
    }
    yield Case(
        {**_layer_inputs(rng), "mask": partial_mask(rng, 2, 7, 11)},
        "inside tf.function, batch size and lengths unknown",
        mode="graph",
    )
    yield Case(
        {**small, "cotangent.output": normal(rng, 1, 3, 4)}, "gradients, compared with numerical ones", mode="gradient"
    )


Q = "query @ w_q_kernel + w_q_bias"
SHARED = "[:, shared]"
KEYS = f"split(key @ w_k_kernel + w_k_bias, num_kv_heads){SHARED}"
VALUES = f"split(value @ w_v_kernel + w_v_bias, num_kv_heads){SHARED}"
MERGED = 'merge(result["output"]) @ w_o_kernel + w_o_bias'
WEIGHTS = 'result["weights"]'
REFUSED = 'heads, groups = "ValueError", "ValueError"'

exercise.mistakes(
    key_heads_in_turn=edit("np.arange(num_heads) // (num_heads // num_kv_heads)", "np.arange(num_heads) % num_kv_heads")
    | "Query heads 0 and G share a key head. Neighbours should share one: heads 0 to H/G − 1 use the first. Compare "
    "`repeat` with `tile`." | "With H = 6 and G = 2, write down the key head of each query head; then print yours.",
    value_heads_in_turn=edit(VALUES, f"{VALUES.removesuffix(SHARED)}[:, np.arange(num_heads) % num_kv_heads]")
    | "The keys are shared by neighbours, the values are not. Compare `repeat` with `tile`, for both.",
    keys_alone_in_turn=edit(KEYS, f"{KEYS.removesuffix(SHARED)}[:, np.arange(num_heads) % num_kv_heads]")
    | "The values are shared by neighbours, the keys are not. Compare `repeat` with `tile`, for both.",
    first_value_head_for_all=edit(VALUES, f"{VALUES.removesuffix(SHARED)}[:, 0 * shared]")
    | "All query heads use the first value head. Neighbours share keys and values alike."
    | "With H = 6 and G = 2, write down the value head of each query head; then print yours.",
    unscaled=replace(self_attention.UNSCALED, costs_at_most=0.5),  # lab 02 asks for it
    scaled_by_d_model=edit(f"split({Q}, num_heads)", f"split(({Q}) / num_heads**0.5, num_heads)", see="03#heads")
    | "The scores are divided by the root of d_model. A score sums over the D/H features of one head."
    | "Over how many features does one dot product sum, after the split?",
    scaled_by_num_heads=edit(self_attention.ROOT, "math.sqrt(q.shape[1])", see="03#heads")
    | "The scores are divided by the root of the number of heads. A score sums over the D/H features of one head."
    | "Over how many features does one dot product sum, after the split?",
    scaled_by_num_kv_heads=edit(
        f"split({Q}, num_heads)",
        f"split(({Q}) * (query.shape[-1] / num_heads / num_kv_heads) ** 0.5, num_heads)",
        see="03#heads",
    )
    | "The scores are divided by the root of the number of key heads. A score sums over the D/H features of one head."
    | "Over how many features does one dot product sum, after the split?",
    scaled_by_shared_width=edit(
        f"split({Q}, num_heads)", f"split(({Q}) / num_kv_heads**0.5, num_heads)", see="03#heads"
    )
    | "The scores are divided by the root of the width of all key heads together. A score sums over the D/H features "
    "of one head." | "Over how many features does one dot product sum, after the split?",
    softmax_over_queries=self_attention.OVER_QUERIES,
    no_softmax=self_attention.NO_SOFTMAX,
    mask_ignored=self_attention.MASK_MISTAKES["mask_ignored"],
    mask_inverted=self_attention.MASK_MISTAKES["mask_inverted"],
    mask_added=self_attention.MASK_MISTAKES["mask_added"],
    mask_zeroes_scores=self_attention.MASK_MISTAKES["mask_zeroes_scores"],
    mask_after_softmax=self_attention.MASK_MISTAKES["mask_after_softmax"],
    blocked_not_low_enough=self_attention.NOT_LOW_ENOUGH,
    blocked_loses_too_little=self_attention.LOSES_TOO_LITTLE,
    unstable_softmax=self_attention.UNSTABLE,
    mask_meets_heads=MASK_MEETS_HEADS,
    mask_kept=MASK_KEPT,
    no_output_projection=edit(MERGED, 'merge(result["output"])', see="03#key-dim")
    | "The merged heads come back as they are: w_o is not used."
    | "What mixes the heads, once they stand side by side?",
    merged_by_reshape_alone=MERGED_BY_RESHAPE,
    keras_argument_order=KERAS_ORDER,
    values_from_key=VALUES_FROM_KEY,
    key_value_swapped=edit("key @ w_k_kernel + w_k_bias", "key @ w_v_kernel + w_v_bias")
    | edit("value @ w_v_kernel + w_v_bias", "value @ w_k_kernel + w_k_bias")
    | "w_k makes the values and w_v the keys; exchange the two.",
    values_from_w_k=edit("value @ w_v_kernel + w_v_bias", "value @ w_k_kernel + w_k_bias")
    | "The values come from w_k instead of w_v.",
    dense_without_bias=edit("+ w_q_bias", "")
    | edit("+ w_k_bias", "")
    | edit("+ w_v_bias", "")
    | edit("+ w_o_bias", "")
    | edit("rows = d_model + 1", "rows = d_model")
    | "The Dense layers have no bias; this exercise asks for one.",
    weights_of_key_heads=edit(WEIGHTS, f"{WEIGHTS}[:, :: num_heads // num_kv_heads]")
    | "One map comes back for each key head. Return one for each query head, (B, H, T, S).",
    first_key_head_for_all=edit("np.arange(num_heads) // (num_heads // num_kv_heads)", "np.arange(num_heads) * 0")
    | "All query heads use the first key head. Only neighbours share one: query head h uses key head h // (H/G)."
    | "With H = 6 and G = 2, write down the key head of each query head; then print yours.",
    mean_of_the_key_heads=edit(KEYS, f"{KEYS.removesuffix(SHARED)}.mean(axis=1, keepdims=True)[:, 0 * shared]")
    | edit(VALUES, f"{VALUES.removesuffix(SHARED)}.mean(axis=1, keepdims=True)[:, 0 * shared]")
    | "The key heads are averaged, and so are the value heads. Each stays as it is, and H/G query heads read it."
    | "With H = 6 and G = 2, write down the key head of each query head. Is any of them a mixture?",
    heads_not_checked=edit(REFUSED, 'heads, groups = "no error", "ValueError"')
    | "A d_model that num_heads does not divide is accepted without an error.",
    groups_not_checked=edit(REFUSED, 'heads, groups = "ValueError", "no error"')
    | "A num_heads that num_kv_heads does not divide is accepted without an error.",
    nothing_refused_early=edit(REFUSED, 'heads, groups = "InvalidArgumentError", "InvalidArgumentError"')
    | "Numbers that do not fit fail somewhere inside TensorFlow. Check both divisions in `__init__`, and say in words "
    "what is wrong.",
    heads_refused_too_late=edit(REFUSED, 'heads, groups = "InvalidArgumentError", "ValueError"')
    | "A d_model that num_heads does not divide fails somewhere inside TensorFlow. Check it in `__init__`, and say in "
    "words what is wrong.",
    groups_refused_too_late=edit(REFUSED, 'heads, groups = "ValueError", "InvalidArgumentError"')
    | "A num_heads that num_kv_heads does not divide fails somewhere inside TensorFlow. Check it in `__init__`, and "
    "say in words what is wrong.",
)

exercise.advice(
    edges="G = 1 is multi-query attention, G = H is your `MultiHeadAttention`. Neither needs a special case.",
    weights="The weights are (B, H, T, S): query heads that share keys still have scores of their own.",
    masked="As in `MultiHeadAttention`, a mask (B, T, S) needs an axis for the heads.",
    parameters="w_q and w_o are as wide as the model; w_k and w_v have num_kv_heads heads of width d_model / "
    "num_heads.",
    refusal="Two divisions must leave no remainder: d_model by num_heads, and num_heads by num_kv_heads.",
    training="Inside tf.function the batch size is None: take it from `ops.shape(x)`, or put -1 for it in a reshape. "
    "NumPy stops both graphs and gradients.",
)
exercise.hints(
    values=(
        "w_k and w_v make G heads of width K, so their results are split into G heads; those of w_q into H.",
        "After the split k is (B, G, S, K) and q is (B, H, T, K). Repeat each key head H/G times, side by side, "
        "before q and k meet.",
        "`ops.repeat(k, n, axis=…)` writes every entry n times in a row. Which axis holds the heads, and what is n?",
    ),
    edges="Which of your lines assumes that G lies strictly between 1 and H?",
    weights="The softmax takes scores (B, H, T, S): apply it after the key heads have been repeated.",
    masked="It is the mask of `MultiHeadAttention`: what did a mask (B, T, S) need there?",
    parameters="A head is D/H wide, for queries and keys alike. How many heads do w_k and w_v make?",
    refusal="`%` gives the remainder of a division. Check before you make the Dense layers.",
    training="Does a size that is used in a reshape come from `ops.shape`?",
)

"""Lab 03, exercise `GroupedQueryAttention`."""

from dataclasses import replace
from typing import Any

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
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
from exercises.self_attention.shared import (
    BUILT_IN_ATTENTION,
    LOSES_TOO_LITTLE,
    MASK_MISTAKES,
    NO_SOFTMAX,
    NOT_LOW_ENOUGH,
    OVER_QUERIES,
    ROOT,
    UNSCALED,
    UNSTABLE,
)


def _layer_inputs(
    rng: Generator, *, heads: int = 6, shared: int = 2, size: int = 3, batch: int = 2, queries: int = 7, keys: int = 11
) -> dict:
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
    forbidden=BUILT_IN_ATTENTION,
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
def values(rng: Generator) -> list[Case]:
    same = _layer_inputs(rng, queries=7, keys=7)
    same["key"] = same["value"] = same["query"]
    return [
        Case(
            _layer_inputs(rng),
            description="d_model=18, num_heads=6, num_kv_heads=2, query (2, 7, 18), key and value (2, 11, 18)",
        ),
        Case(
            _layer_inputs(rng, shared=3, size=2),
            description="d_model=12, num_heads=6, num_kv_heads=3, query (2, 7, 12), key and value (2, 11, 12)",
        ),
        Case(same, description="d_model=18, num_heads=6, num_kv_heads=2, query, key and value the same (2, 7, 18)"),
    ]


@exercise.group(
    "one key head, and as many as query heads",
    points=1,
    advice="G = 1 is multi-query attention, G = H is your `MultiHeadAttention`. Neither needs a special case.",
)
def edges(rng: Generator) -> list[Case]:
    return [
        Case(_layer_inputs(rng, heads=3, shared=1, size=5), description="d_model=15, num_heads=3, num_kv_heads=1"),
        Case(_layer_inputs(rng, heads=3, shared=3, size=5), description="d_model=15, num_heads=3, num_kv_heads=3"),
    ]


@exercise.group(
    "attention weights of every query head",
    points=1,
    advice="The weights are (B, H, T, S): query heads that share keys still have scores of their own.",
)
def weights(rng: Generator) -> list[Case]:
    return [
        Case(
            {**_layer_inputs(rng), "return_weights": True},
            description="return_weights=True: output (2, 7, 18), weights (2, 6, 7, 11)",
        )
    ]


@exercise.group(
    "masks of shape (T, S), (B, T, S) and (B, 1, T, S)",
    points=1,
    advice="As in `MultiHeadAttention`, a mask (B, T, S) needs an axis for the heads.",
)
def masked(rng: Generator) -> list[Case]:
    masks = (
        partial_mask(rng, 7, 11),
        partial_mask(rng, 2, 7, 11).astype("int32"),
        partial_mask(rng, 2, 1, 7, 11).astype("float32"),
    )
    as_many = {**_layer_inputs(rng, heads=4, batch=4), "mask": partial_mask(rng, 4, 7, 11)}
    shown = [
        Case(
            {**_layer_inputs(rng), "mask": mask, "return_weights": True},
            description=f"query (2, 7, 18), key (2, 11, 18), mask {mask.shape} of {mask.dtype}",
        )
        for mask in masks
    ]
    large = large_and_masked(rng, lambda: _layer_inputs(rng, heads=1, shared=1, size=13, batch=1, queries=5, keys=3))
    kept = {**_layer_inputs(rng), "mask": partial_mask(rng, 7, 11)}
    return [
        *shown,
        Case(kept, mode="unmasked", description="once with a mask (7, 11), and then without"),
        Case(as_many, description="as many sentences as query heads (4), mask (4, 7, 11)"),
        Case(large, description="d_model=13, one head, scores of tens of thousands, mask (5, 3)"),
    ]


@exercise.group(
    "four Dense layers with bias, of the right widths",
    points=1,
    advice="w_q and w_o are as wide as the model; w_k and w_v have num_kv_heads heads of width d_model / num_heads.",
)
def parameters(rng: Generator) -> list[Case]:
    heads, shared = one_of(rng, (6, 2), (6, 3), (8, 2), (9, 3))
    size = one_of(rng, 5, 7, 10, 11, 13)
    description = f"trainable parameters, d_model={heads * size}, num_heads={heads}, num_kv_heads={shared}"
    return [Case(_layer_inputs(rng, heads=heads, shared=shared, size=size), mode="parameters", description=description)]


@exercise.group(
    "ValueError when the numbers do not fit",
    points=1,
    fixed="a refusal is the same error for all numbers that do not fit",
    advice="Two divisions must leave no remainder: d_model by num_heads, and num_heads by num_kv_heads.",
)
def refusal(rng: Generator) -> list[Case]:
    return [
        Case(
            {
                "d_model": width,
                "num_heads": heads,
                "num_kv_heads": shared,
                **{key: normal(rng, 2, 3, width) for key in ("query", "key", "value")},
            },
            mode="refusal",
            description=f"d_model={width}, num_heads={heads}, num_kv_heads={shared}",
        )
        for width, heads, shared in ((10, 4, 2), (12, 6, 4), (6, 3, 6))
    ]


@exercise.group(
    "works inside tf.function, and gradients reach every weight",
    points=1,
    advice=(
        "Inside tf.function the batch size is None: take it from `ops.shape(x)`, or put -1 for it in a reshape. NumPy"
        " stops both graphs and gradients."
    ),
)
def training(rng: Generator) -> list[Case]:
    small = {
        **_layer_inputs(rng, heads=4, shared=2, size=1, batch=1, queries=3, keys=5),
        "mask": partial_mask(rng, 1, 3, 5),
    }
    return [
        Case(
            {**_layer_inputs(rng), "mask": partial_mask(rng, 2, 7, 11)},
            mode="graph",
            description="inside tf.function, batch size and lengths unknown",
        ),
        Case(
            {**small, "cotangent.output": normal(rng, 1, 3, 4)},
            mode="gradient",
            description="gradients, compared with numerical ones",
        ),
    ]


Q = "query @ w_q_kernel + w_q_bias"
SHARED = "[:, shared]"
KEYS = f"split(key @ w_k_kernel + w_k_bias, num_kv_heads){SHARED}"
VALUES = f"split(value @ w_v_kernel + w_v_bias, num_kv_heads){SHARED}"
MERGED = 'merge(result["output"]) @ w_o_kernel + w_o_bias'
WEIGHTS = 'result["weights"]'
REFUSED = 'heads, groups = "ValueError", "ValueError"'

exercise.mistakes(
    key_heads_in_turn=wrong(
        "Query heads 0 and G share a key head. Neighbours should share one: heads 0 to H/G − 1 use the first. "
        "Compare `repeat` with `tile`.",
        ("np.arange(num_heads) // (num_heads // num_kv_heads)", "np.arange(num_heads) % num_kv_heads"),
        hint="With H = 6 and G = 2, write down the key head of each query head; then print yours.",
    ),
    value_heads_in_turn=wrong(
        "The keys are shared by neighbours, the values are not. Compare `repeat` with `tile`, for both.",
        (VALUES, f"{VALUES.removesuffix(SHARED)}[:, np.arange(num_heads) % num_kv_heads]"),
    ),
    keys_alone_in_turn=wrong(
        "The values are shared by neighbours, the keys are not. Compare `repeat` with `tile`, for both.",
        (KEYS, f"{KEYS.removesuffix(SHARED)}[:, np.arange(num_heads) % num_kv_heads]"),
    ),
    first_value_head_for_all=wrong(
        "All query heads use the first value head. Neighbours share keys and values alike.",
        (VALUES, f"{VALUES.removesuffix(SHARED)}[:, 0 * shared]"),
        hint="With H = 6 and G = 2, write down the value head of each query head; then print yours.",
    ),
    unscaled=replace(UNSCALED, costs_at_most=0.5),  # lab 02 asks for it
    scaled_by_d_model=wrong(
        "The scores are divided by the root of d_model. A score sums over the D/H features of one head.",
        (f"split({Q}, num_heads)", f"split(({Q}) / num_heads**0.5, num_heads)"),
        hint="Over how many features does one dot product sum, after the split?",
        see="03#heads",
    ),
    scaled_by_num_heads=wrong(
        "The scores are divided by the root of the number of heads. A score sums over the D/H features of one head.",
        (ROOT, "math.sqrt(q.shape[1])"),
        hint="Over how many features does one dot product sum, after the split?",
        see="03#heads",
    ),
    scaled_by_num_kv_heads=wrong(
        "The scores are divided by the root of the number of key heads. A score sums over the D/H features of one "
        "head.",
        (f"split({Q}, num_heads)", f"split(({Q}) * (query.shape[-1] / num_heads / num_kv_heads) ** 0.5, num_heads)"),
        hint="Over how many features does one dot product sum, after the split?",
        see="03#heads",
    ),
    scaled_by_shared_width=wrong(
        "The scores are divided by the root of the width of all key heads together. "
        "A score sums over the D/H features of one head.",
        (f"split({Q}, num_heads)", f"split(({Q}) / num_kv_heads**0.5, num_heads)"),
        hint="Over how many features does one dot product sum, after the split?",
        see="03#heads",
    ),
    softmax_over_queries=OVER_QUERIES,
    no_softmax=NO_SOFTMAX,
    mask_ignored=MASK_MISTAKES["mask_ignored"],
    mask_inverted=MASK_MISTAKES["mask_inverted"],
    mask_added=MASK_MISTAKES["mask_added"],
    mask_zeroes_scores=MASK_MISTAKES["mask_zeroes_scores"],
    mask_after_softmax=MASK_MISTAKES["mask_after_softmax"],
    blocked_not_low_enough=NOT_LOW_ENOUGH,
    blocked_loses_too_little=LOSES_TOO_LITTLE,
    unstable_softmax=UNSTABLE,
    mask_meets_heads=MASK_MEETS_HEADS,
    mask_kept=MASK_KEPT,
    no_output_projection=wrong(
        "The merged heads come back as they are: w_o is not used.",
        (MERGED, 'merge(result["output"])'),
        hint="What mixes the heads, once they stand side by side?",
        see="03#key-dim",
    ),
    merged_by_reshape_alone=MERGED_BY_RESHAPE,
    keras_argument_order=KERAS_ORDER,
    values_from_key=VALUES_FROM_KEY,
    key_value_swapped=wrong(
        "w_k makes the values and w_v the keys; exchange the two.",
        ("key @ w_k_kernel + w_k_bias", "key @ w_v_kernel + w_v_bias"),
        ("value @ w_v_kernel + w_v_bias", "value @ w_k_kernel + w_k_bias"),
    ),
    values_from_w_k=wrong(
        "The values come from w_k instead of w_v.", ("value @ w_v_kernel + w_v_bias", "value @ w_k_kernel + w_k_bias")
    ),
    dense_without_bias=wrong(
        "The Dense layers have no bias; this exercise asks for one.",
        ("+ w_q_bias", ""),
        ("+ w_k_bias", ""),
        ("+ w_v_bias", ""),
        ("+ w_o_bias", ""),
        ("rows = d_model + 1", "rows = d_model"),
    ),
    weights_of_key_heads=wrong(
        "One map comes back for each key head. Return one for each query head, (B, H, T, S).",
        (WEIGHTS, f"{WEIGHTS}[:, :: num_heads // num_kv_heads]"),
    ),
    first_key_head_for_all=wrong(
        "All query heads use the first key head. Only neighbours share one: query head h uses key head h // (H/G).",
        ("np.arange(num_heads) // (num_heads // num_kv_heads)", "np.arange(num_heads) * 0"),
        hint="With H = 6 and G = 2, write down the key head of each query head; then print yours.",
    ),
    mean_of_the_key_heads=wrong(
        "The key heads are averaged, and so are the value heads. Each stays as it is, and H/G query heads read it.",
        (KEYS, f"{KEYS.removesuffix(SHARED)}.mean(axis=1, keepdims=True)[:, 0 * shared]"),
        (VALUES, f"{VALUES.removesuffix(SHARED)}.mean(axis=1, keepdims=True)[:, 0 * shared]"),
        hint="With H = 6 and G = 2, write down the key head of each query head. Is any of them a mixture?",
    ),
    heads_not_checked=wrong(
        "A d_model that num_heads does not divide is accepted without an error.",
        (REFUSED, 'heads, groups = "no error", "ValueError"'),
    ),
    groups_not_checked=wrong(
        "A num_heads that num_kv_heads does not divide is accepted without an error.",
        (REFUSED, 'heads, groups = "ValueError", "no error"'),
    ),
    nothing_refused_early=wrong(
        "Numbers that do not fit fail somewhere inside TensorFlow. Check both divisions in `__init__`, and say in "
        "words what is wrong.",
        (REFUSED, 'heads, groups = "InvalidArgumentError", "InvalidArgumentError"'),
    ),
    heads_refused_too_late=wrong(
        "A d_model that num_heads does not divide fails somewhere inside TensorFlow. "
        "Check it in `__init__`, and say in words what is wrong.",
        (REFUSED, 'heads, groups = "InvalidArgumentError", "ValueError"'),
    ),
    groups_refused_too_late=wrong(
        "A num_heads that num_kv_heads does not divide fails somewhere inside TensorFlow. "
        "Check it in `__init__`, and say in words what is wrong.",
        (REFUSED, 'heads, groups = "ValueError", "InvalidArgumentError"'),
    ),
)


exercise.hints(
    "Begin with a copy of your `MultiHeadAttention`. Only w_k and w_v become narrower; they are split into G heads.",
    "After the split k is (B, G, S, K) and q is (B, H, T, K). Repeat each key head H/G times, side by side, before q"
    " and k meet.",
    "`ops.repeat(k, n, axis=…)` writes every entry n times in a row. Which axis holds the heads, and what is n?",
)
exercise.hints("Which of your lines assumes that G lies strictly between 1 and H?", group="edges")
exercise.hints(
    "The softmax takes scores (B, H, T, S): apply it after the key heads have been repeated.", group="weights"
)
exercise.hints("It is the mask of `MultiHeadAttention`: what did a mask (B, T, S) need there?", group="masked")
exercise.hints(
    "A head is D/H wide, for queries and keys alike. How many heads do w_k and w_v make?", group="parameters"
)
exercise.hints("`%` gives the remainder of a division. Check before you make the Dense layers.", group="refusal")
exercise.hints("Does a size that is used in a reshape come from `ops.shape`?", group="training")

"""Mistakes of lab 03: in splitting and merging heads, the layers, their parameters and cache, Keras's weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.mistaken.attention import masked_softmax, scale_factor, softmax

DENSE = {"query": "w_q", "key": "w_k", "value": "w_v", "output": "w_o"}


def split(x: np.ndarray, num_heads: int, how: str = "right") -> np.ndarray:
    """(B, T, D) -> (B, H, T, D/H): head h of a token is the h-th block of its features (Vaswani et al. 2017, 3.2.2).

    Wrong ways: ``reshape`` (numbers of one token land in several), ``interleaved`` (head h takes every H-th feature),
    ``no_transpose`` (B, T, H, K), ``features_first`` (B, H, K, T), ``heads_first`` (H, B, T, K),
    ``stacked`` (H·B, T, K), ``exchanged`` (K heads of width H), ``copied`` (every head gets all D features).
    """
    batch, length, width = x.shape
    size = width // num_heads
    if how == "reshape":
        return x.reshape(batch, num_heads, length, size)
    if how == "interleaved":
        return x.reshape(batch, length, size, num_heads).transpose(0, 3, 1, 2)
    if how == "exchanged":
        return x.reshape(batch, length, size, num_heads).transpose(0, 2, 1, 3)
    if how == "copied":
        return np.repeat(x[:, None], num_heads, axis=1)
    parts = x.reshape(batch, length, num_heads, size)
    if how == "stacked":
        return parts.transpose(2, 0, 1, 3).reshape(num_heads * batch, length, size)
    order = {
        "right": (0, 2, 1, 3),
        "no_transpose": (0, 1, 2, 3),
        "features_first": (0, 2, 3, 1),
        "heads_first": (2, 0, 1, 3),
    }
    return parts.transpose(order[how])


def merge(x: np.ndarray, how: str = "right") -> np.ndarray:
    """(B, H, T, K) -> (B, T, H·K), the way back.

    Wrong ways: ``reshape``, ``interleaved``, ``added``, ``averaged``, ``apart`` (B, T, H, K), ``below`` (B, H·T, K),
    ``tokens`` (B, H, T·K).
    """
    batch, heads, length, size = x.shape
    if how == "reshape":
        return x.reshape(batch, length, heads * size)
    if how == "interleaved":
        return x.transpose(0, 2, 3, 1).reshape(batch, length, heads * size)
    if how in ("added", "averaged"):
        return x.sum(axis=1) if how == "added" else x.mean(axis=1)
    if how == "below":
        return x.reshape(batch, heads * length, size)
    side_by_side = x.transpose(0, 2, 1, 3)
    if how == "tokens":
        return side_by_side.reshape(batch, heads, length * size)
    return side_by_side if how == "apart" else side_by_side.reshape(batch, length, heads * size)


def split_heads(x: np.ndarray, num_heads: int, *, how: str = "right") -> dict[str, np.ndarray]:
    """`split` under the name of its result."""
    return {"output": split(x, num_heads, how)}


def merge_heads(x: np.ndarray, *, how: str = "right") -> dict[str, np.ndarray]:
    """`merge` under the name of its result."""
    return {"output": merge(x, how)}


def multi_head_attention(
    d_model: int,
    num_heads: int,
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    w_q_kernel: np.ndarray | None = None,
    w_q_bias: np.ndarray | None = None,
    w_k_kernel: np.ndarray | None = None,
    w_k_bias: np.ndarray | None = None,
    w_v_kernel: np.ndarray | None = None,
    w_v_bias: np.ndarray | None = None,
    w_o_kernel: np.ndarray | None = None,
    w_o_bias: np.ndarray | None = None,
    mask: Any = None,
    return_weights: bool = False,
    *,
    mode: str = "call",
    scale: str = "sqrt_d_k",
    softmax_axis: int = -1,
    stable: bool = True,
    peak: str = "row",
    no_softmax: bool = False,
    masking: str = "block",
    mask_axis: str = "right",
    split_how: str = "right",
    merge_how: str = "right",
    roles: str = "qkv",
    arguments: str = "qkv",
    bias: bool = True,
    project_out: bool = True,
    average_weights: bool = False,
    one_head: bool = False,
    residual: bool = False,
    relu: bool = False,
    relu_merged: bool = False,
    relu_out: bool = False,
    results: str = "output, weights",
    refusal: str = "ValueError",
) -> dict[str, Any]:
    """Multi-head attention with D/H features per head (Vaswani et al. 2017, section 3.2.2), biases included.

    Args:
        query, key, value: (B, T, D), (B, S, D), (B, S, D).
        mask: (T, S), (B, T, S) or (B, 1, T, S); true where a query may attend.
        mask_axis: ``heads`` aligns a mask of rank 3 with the heads.
        roles: which projection makes queries, keys and values.
        arguments: which argument is taken for query, key and value.
        one_head: nothing is split; the weights (B, T, S) have no axis for the heads.
        residual: the query is added to the output.
        relu, relu_merged, relu_out: a ReLU after `w_q`, `w_k` and `w_v`, before `w_o`, after it.
        results: ``scores`` in place of the weights, or the two exchanged.

    Returns:
        ``output`` (B, T, D) and, if asked for, ``weights`` (B, H, T, S). Rows without any key are NaN in both.
    """
    if mode == "refusal":
        return {"raised": refusal}
    # Annotated as in every mode but the refusals: there none is given.
    kernels: dict[str, Any] = {"q": w_q_kernel, "k": w_k_kernel, "v": w_v_kernel, "o": w_o_kernel}
    biases: dict[str, Any] = {"q": w_q_bias, "k": w_k_bias, "v": w_v_bias, "o": w_o_bias}
    if mode == "parameters":
        used = [*sorted(set(roles)), *("o" if project_out else "")]
        return {"trainable_parameters": int(sum(kernels[name].size + bias * biases[name].size for name in used))}
    sources = {"q": query, "k": key, "v": value}
    projected = [
        np.einsum("btd,de->bte", sources[argument], kernels[role]) + (biases[role] if bias else 0)
        for argument, role in zip(arguments, roles, strict=True)
    ]
    if relu:
        projected = [np.maximum(each, 0) for each in projected]
    num_heads = 1 if one_head else num_heads
    q, k, v = (split(each, num_heads, split_how) for each in projected)  # (B, H, T, K), (B, H, S, K) twice
    scores = np.einsum("bhtk,bhsk->bhts", q, k)
    scores = scores / scale_factor(
        math.sqrt(d_model) if scale == "sqrt_d_model" else scale, q.shape[-1], v.shape[-1], *scores.shape[-2:]
    )
    if mask is not None:
        mask = np.asarray(mask).astype(bool)
        if mask.ndim == 3 and mask_axis == "right":
            mask = mask[:, None]
        if mask.ndim == 3 and mask.shape[0] != num_heads:
            raise ValueError("a mask (B, T, S) meets scores (B, H, T, S)")
    if no_softmax:
        weights = scores if mask is None else np.where(mask, scores, 0)
    elif softmax_axis == 1 and mask is not None and masking == "block":
        # a pair that is blocked is blocked in every head: scores of -1e9 then share the weight equally
        weights = softmax(np.where(mask, scores, scores.dtype.type(-1e9)), axis=1)
    else:
        weights = masked_softmax(scores, mask, softmax_axis=softmax_axis, stable=stable, masking=masking, peak=peak)
    if scale == "after":
        weights = weights / math.sqrt(q.shape[-1])
    mixed = np.einsum("bhts,bhsk->bhtk", weights, v)
    merged = merge(mixed, merge_how)
    merged = np.maximum(merged, 0) if relu_merged else merged
    output = (
        merged if not project_out else np.einsum("bte,ed->btd", merged, kernels["o"]) + (biases["o"] if bias else 0)
    )
    output = np.maximum(output, 0) if relu_out else output
    output = output + query if residual else output
    if not return_weights:
        return {"output": output}
    if results == "output, scores":
        weights = scores if mask is None else np.where(mask, scores, scores.dtype.type(-1e9))
    weights = weights.mean(axis=1) if average_weights or one_head else weights
    return (
        {"output": weights, "weights": output}
        if results == "weights, output"
        else {"output": output, "weights": weights}
    )


def mha_parameter_count(
    d_model: int,
    num_heads: int,
    key_dim: int | None = None,
    value_dim: int | None = None,
    use_bias: bool = True,
    *,
    default_key: str = "D/H",
    default_value: str = "key_dim",
    key_dim_is: str = "per_head",
    output_from: str = "values",
    output_bias: str = "D",
    output_matrix: bool = True,
    bias_always: bool = False,
    projections: int = 2,
    values_like_keys: bool = False,
    widths_given: bool = True,
    bias_heads: str = "all",
    bias_widths: str = "of the outputs",
) -> dict[str, int]:
    """Weights of W_Q, W_K (D, H·key_dim), W_V (D, H·value_dim) and W_O (H·value_dim, D), with their biases.

    The sizes are those of `keras.layers.MultiHeadAttention`; the paper's are key_dim = value_dim = D/H.
    """
    if not widths_given:
        key_dim = value_dim = None
    size = key_dim if key_dim is not None else (d_model // num_heads if default_key == "D/H" else d_model)
    if value_dim is not None and not values_like_keys:
        value_size = value_dim
    else:
        value_size = {"key_dim": size, "D/H": d_model // num_heads, "D": d_model}[default_value]
    heads = num_heads if key_dim_is == "per_head" or key_dim is None else 1
    keys, values = heads * size, heads * value_size
    count = projections * d_model * keys + d_model * values
    inner = keys if output_from == "keys" else values
    count += inner * d_model if output_matrix else 0
    if (use_bias or bias_always) and output_bias != "no bias anywhere":
        of_heads = (projections * keys + values) // (heads if bias_heads == "one" else 1)
        if bias_widths == "D":
            of_heads = (projections + 1) * d_model
        count += of_heads + {"D": d_model, "none": 0, "inner": inner}[output_bias] * output_matrix
    return {"output": int(count)}


def load_keras_weights(
    d_model: int,
    num_heads: int,
    parts: Sequence[str],
    keras_query_kernel: np.ndarray,
    keras_query_bias: np.ndarray,
    keras_key_kernel: np.ndarray,
    keras_key_bias: np.ndarray,
    keras_value_kernel: np.ndarray,
    keras_value_bias: np.ndarray,
    keras_output_kernel: np.ndarray,
    keras_output_bias: np.ndarray,
    *,
    inputs_how: str = "right",
    output_how: str = "right",
    biases_how: str = "right",
    roles: str = "qkvo",
    biases: bool = True,
    output_bias: bool = True,
    nothing: bool = False,
) -> dict[str, np.ndarray]:
    """Kernels (D, H, K) become (D, H·K), head after head; the output kernel (H, K, D) becomes (H·K, D).

    Wrong ways: ``interleaved`` (feature after feature), ``heads_first`` (the axes of heads and inputs exchanged before
    the reshape), ``zero`` (not copied). `mine` holds zeros before.
    """
    named = {
        "q": (keras_query_kernel, keras_query_bias),
        "k": (keras_key_kernel, keras_key_bias),
        "v": (keras_value_kernel, keras_value_bias),
        "o": (keras_output_kernel, keras_output_bias),
    }
    mine = {}
    for name, role in zip(DENSE.values(), roles, strict=True):
        kernel, bias = named[role]
        how = output_how if name == "w_o" else inputs_how
        if how == "interleaved":
            kernel = kernel.transpose(1, 0, 2) if name == "w_o" else kernel.transpose(0, 2, 1)
        elif how == "heads_first" and name != "w_o":
            kernel = kernel.transpose(1, 0, 2)
        elif how == "transposed":
            kernel = kernel.transpose(2, 0, 1) if name == "w_o" else kernel.transpose(1, 2, 0)
        kernel = kernel.reshape(d_model, d_model)
        mine[f"{name}.kernel"] = np.zeros_like(kernel) if nothing or how == "zero" else kernel
        flat = bias.T.reshape(-1) if biases_how == "interleaved" and name != "w_o" else bias.reshape(-1)
        copied = biases and not nothing and how != "zero" and (output_bias or name != "w_o")
        mine[f"{name}.bias"] = flat if copied else np.zeros_like(flat)
    return {part: mine[part] for part in parts}


def ablate_heads(
    head_outputs: np.ndarray,
    keep: Sequence[int],
    *,
    invert: bool = False,
    remove: bool = False,
    rescale: bool = False,
    axis: int = 1,
    first: int = 0,
    counted: bool = False,
    empty_keeps_all: bool = False,
    fill: str = "zero",
) -> dict[str, np.ndarray]:
    """head_outputs (B, H, T, K) with the heads that are not in `keep` set to zero (Michel et al. 2019, section 2.3)."""
    heads = head_outputs.shape[axis]
    stays = np.isin(np.arange(heads) + first, np.asarray(list(keep), int))
    if any(index >= heads for index in keep):
        raise IndexError("a head that the axis does not have")
    if counted:
        stays = np.arange(heads) < len(keep)
    if empty_keeps_all and not len(keep):
        return {"output": head_outputs}
    if invert:
        stays = ~stays
    if remove:
        return {"output": np.compress(stays, head_outputs, axis=axis)}
    shape = [1] * head_outputs.ndim
    shape[axis] = heads
    factor = heads / max(int(stays.sum()), 1) if rescale else 1.0
    replacement = head_outputs.mean(axis=axis, keepdims=True) if fill == "mean" else head_outputs.dtype.type(0)
    return {"output": np.where(stays.reshape(shape), head_outputs * factor, replacement).astype(head_outputs.dtype)}


def grouped_query_attention(
    d_model: int,
    num_heads: int,
    num_kv_heads: int,
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    w_q_kernel: np.ndarray | None = None,
    w_q_bias: np.ndarray | None = None,
    w_k_kernel: np.ndarray | None = None,
    w_k_bias: np.ndarray | None = None,
    w_v_kernel: np.ndarray | None = None,
    w_v_bias: np.ndarray | None = None,
    w_o_kernel: np.ndarray | None = None,
    w_o_bias: np.ndarray | None = None,
    mask: Any = None,
    return_weights: bool = False,
    *,
    mode: str = "call",
    shared: str = "neighbours",
    key_heads_shown: bool = False,
    bias: bool = True,
    scale: str = "sqrt_d_k",
    heads_refused: str = "ValueError",
    groups_refused: str = "ValueError",
    **flags: Any,
) -> dict[str, Any]:
    """Grouped-query attention, as multi-head attention whose key and value kernels are written out for every head.

    Args:
        shared: ``neighbours`` (right): head h reads key head h // (H/G); ``in turn``: key head h mod G.
        key_heads_shown: of each group of query heads only the weights of the first one come back.
        scale: besides those of multi-head attention ``sqrt_shared``, the root of G·K.
        heads_refused, groups_refused: what is raised where H does not divide D, and where G does not divide H.
    """
    if mode == "refusal":
        return {"raised": heads_refused if d_model % num_heads else groups_refused}
    # Annotated as in every mode but the refusals: there none is given.
    kernels: dict[str, Any] = {"q": w_q_kernel, "k": w_k_kernel, "v": w_v_kernel, "o": w_o_kernel}
    biases: dict[str, Any] = {"q": w_q_bias, "k": w_k_bias, "v": w_v_bias, "o": w_o_bias}
    if mode == "parameters":
        return {"trainable_parameters": int(sum(kernels[n].size + bias * biases[n].size for n in "qkvo"))}
    size, heads = d_model // num_heads, np.arange(num_heads)
    read = heads // (num_heads // num_kv_heads) if shared == "neighbours" else heads % num_kv_heads
    columns = (read[:, None] * size + np.arange(size)).reshape(-1)
    written = {f"w_{n}_kernel": kernels[n][:, columns] if n in "kv" else kernels[n] for n in "qkvo"}
    written |= {f"w_{n}_bias": biases[n][columns] if n in "kv" else biases[n] for n in "qkvo"}
    if scale == "sqrt_shared":
        written["w_q_kernel"] = written["w_q_kernel"] / math.sqrt(num_kv_heads)
        written["w_q_bias"] = written["w_q_bias"] / math.sqrt(num_kv_heads)
        scale = "sqrt_d_k"
    result = multi_head_attention(
        d_model, num_heads, query, key, value, **written, mask=mask, return_weights=return_weights,
        bias=bias, scale=scale, **flags,
    )  # fmt: skip
    if key_heads_shown and return_weights:
        result["weights"] = result["weights"][:, :: num_heads // num_kv_heads]
    return result


def kv_cache_numbers(
    length: int,
    num_layers: int,
    num_kv_heads: int,
    head_dim: int,
    batch: int = 1,
    *,
    kinds: int = 2,
    layers: str = "all",
    batches: str = "all",
    heads: str = "all",
    length_power: int = 1,
    factor: int = 1,
) -> dict[str, int]:
    """A key and a value for each token, layer and key head; with `factor` bytes are counted in place of numbers."""
    count = factor * kinds * length**length_power * head_dim
    count *= num_layers if layers == "all" else 1
    count *= batch if batches == "all" else 1
    return {"output": count * (num_kv_heads if heads == "all" else 1)}


def heads_beside_tokens(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    *,
    mixed: str = "right",
    scale: str = "sqrt_d_k",
    softmax_axis: int = -1,
    heads_first: bool = False,
) -> dict[str, np.ndarray]:
    """Attention of every head where the heads stand behind the tokens. q (B, T, H, K), k, v (B, S, H, K).

    Args:
        mixed: ``own value``: each weight meets the value of its query; ``queries``: the sum runs over the queries.
        softmax_axis: -1 (keys), -2 (queries) or 1 (heads), of scores (B, H, T, S).
        heads_first: the result is (B, H, T, K).
    """
    scores = np.einsum("bthk,bshk->bhts", q, k)
    scores = scores / scale_factor(scale, q.shape[-1], v.shape[-1], q.shape[1], k.shape[1])
    weights = softmax(scores, softmax_axis)
    if mixed != "right" and q.shape[1] != k.shape[1]:
        raise ValueError("T and S differ")
    how = {"right": "bhts,bshk->bhtk", "own value": "bhts,bthk->bhtk", "queries": "bhts,bthk->bhsk"}[mixed]
    output = np.einsum(how, weights, v)
    return {"output": output if heads_first else output.swapaxes(1, 2)}


def share_of_parameters(*, thought: float = 0.625) -> dict[str, float]:
    """The parameters of a grouped layer over those of the multi-head layer; `thought` is a wrong share."""
    return {"value": thought}

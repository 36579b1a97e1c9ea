"""Mistakes of lab 01: in softmax, pooling, score functions, attention with weights given, Bahdanau, spatial."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograder.mistaken import attention
from autograder.oracles.attention_intuition import LEARNABLE, SCORE_FUNCTIONS


def softmax(
    x: np.ndarray,
    axis: int = -1,
    *,
    stable: bool = True,
    axis_used: str = "given",
    peak: str = "axis",
    summed: str = "axis",
    normalised: bool = True,
    exponential: bool = True,
    negated: bool = False,
    clipped: bool = False,
    result: str = "weights",
) -> dict[str, np.ndarray]:
    """exp(x) / Σ exp(x) over `axis`; the largest entry along the axis is subtracted first.

    Args:
        x: (…), at least one axis.
        axis: the axis whose entries compete.
        axis_used: ``given`` (right), ``last``, ``first`` or ``all``.
        peak: ``axis`` (right) or ``global``: which largest entry is subtracted; or ``smallest``, that along the axis;
            with ``divisor`` the largest along the axis divides.
        summed: ``axis`` (right) or ``all``: what the sum runs over, when the largest entry is right.
        exponential: without it nothing is subtracted either; there is no overflow to prevent.
        result: ``weights`` (right), their ``logarithms``, or ``sigmoids`` of the entries.
    """
    over = {"given": axis, "last": -1, "first": 0, "all": None}[axis_used]
    x = -x if negated else x
    x = np.clip(x, -50, 50) if clipped else x
    if result == "sigmoids":
        return {"output": 1 / (1 + np.exp(-x))}
    if peak == "divisor":
        x = x / x.max(axis=over, keepdims=True)
    elif stable and exponential:
        whole = peak == "global"
        x = x - (
            x.min(axis=over, keepdims=True)
            if peak == "smallest"
            else x.max(axis=None if whole else over, keepdims=True)
        )
    powers = np.exp(x) if exponential else x
    total = powers.sum() if summed == "all" else powers.sum(axis=over, keepdims=True)
    weights = powers / total if normalised else powers
    return {"output": np.log(weights) if result == "logarithms" else weights}


def attention_pooling(
    query: np.ndarray,
    keys: np.ndarray,
    values: np.ndarray,
    bandwidth: float = 1.0,
    *,
    width: str = "2b²",
    distance: str = "squared",
    sign: float = -1.0,
    normalised: str = "sum",
    stable: bool = True,
    swapped_results: bool = False,
) -> dict[str, np.ndarray]:
    """Nadaraya–Watson pooling with a Gaussian kernel, exp(−‖q−k‖² / 2·bandwidth²), normalised.

    Source: Nadaraya (1964) and Watson (1964).

    Args:
        query, keys, values: (d,), (m, d), (m, e).

    Returns:
        ``output`` (e,) and ``weights`` (m,).
    """
    difference = query - keys
    squares = {
        "squared": (difference**2).sum(axis=-1),
        "plain": np.sqrt((difference**2).sum(axis=-1)),
        "mean": (difference**2).mean(axis=-1),
        "absolute": np.abs(difference).sum(axis=-1),
        "dot": -(keys @ query),
    }[distance]
    divisor = {
        "2b²": 2 * bandwidth**2,
        "b²": bandwidth**2,
        "2b": 2 * bandwidth,
        "(2b)²": (2 * bandwidth) ** 2,
        "b": bandwidth,
        "2": 2.0,
        "2/b²": 2 / bandwidth**2,
        "inverse": 1 / (2 * bandwidth**2),
    }[width]
    scores = sign * squares / divisor
    powers = np.exp(scores - scores.max()) if stable and normalised == "sum" else np.exp(scores)
    powers = np.where(powers > np.finfo("float32").max, np.inf, powers).astype(query.dtype)  # as float32 has it
    weights = {
        "sum": powers / powers.sum(),
        "none": powers,
        "count": powers / len(powers),
        "softmax": attention.softmax(powers),
    }[normalised]
    output = np.einsum("m,me->e", weights, values)
    if swapped_results:
        output, weights = weights, output
    return {"output": output, "weights": weights}


def _score(scores: np.ndarray, transposed: bool, weights_instead: bool) -> dict[str, np.ndarray]:
    if weights_instead:
        scores = attention.softmax(scores)
    return {"scores": scores.T if transposed else scores}


def dot_score(
    q: np.ndarray, k: np.ndarray, *, scale: str = "none", transposed: bool = False, weights_instead: bool = False
) -> dict[str, np.ndarray]:
    """q·k for every pair (Luong et al. 2015, section 3.1). q (T, d), k (S, d) -> ``scores`` (T, S)."""
    divisor = attention.scale_factor(scale, q.shape[-1], q.shape[-1], len(q), len(k))
    return _score(np.einsum("td,sd->ts", q, k) / divisor, transposed, weights_instead)


def scaled_dot_score(
    q: np.ndarray,
    k: np.ndarray,
    *,
    scale: str = "sqrt_d_k",
    transposed: bool = False,
    weights_instead: bool = False,
) -> dict[str, np.ndarray]:
    """q·k / √d for every pair (Vaswani et al. 2017, section 3.2.1). q (T, d), k (S, d) -> ``scores`` (T, S)."""
    return dot_score(q, k, scale=scale, transposed=transposed, weights_instead=weights_instead)


def general_score(
    q: np.ndarray,
    k: np.ndarray,
    w: np.ndarray,
    *,
    weight: str = "right",
    scale: str = "none",
    transposed: bool = False,
    weights_instead: bool = False,
) -> dict[str, np.ndarray]:
    """qᵀ W k for every pair (Luong et al. 2015, section 3.1). q (T, dq), k (S, dk), w (dq, dk) -> ``scores`` (T, S)."""
    if weight != "right" and w.shape[0] != w.shape[1]:
        raise ValueError("without w, or with its transpose, the widths of q and k have to agree")
    matrix = {"right": w, "transposed": w.T, "missing": np.eye(len(w), dtype=w.dtype)}[weight]
    divisor = attention.scale_factor(scale, q.shape[-1], k.shape[-1], len(q), len(k))
    return _score(np.einsum("ti,ij,sj->ts", q, matrix, k) / divisor, transposed, weights_instead)


def cosine_score(
    q: np.ndarray,
    k: np.ndarray,
    *,
    normalise: str = "both",
    norm: str = "l2",
    result: str = "cosine",
    transposed: bool = False,
    weights_instead: bool = False,
) -> dict[str, np.ndarray]:
    """q·k / (‖q‖ ‖k‖) for every pair (Graves et al. 2014, section 3.3.1). q (T, d), k (S, d) -> ``scores`` (T, S)."""
    lengths = {
        "l2": lambda x: np.sqrt((x**2).sum(axis=-1, keepdims=True)),
        "squared": lambda x: (x**2).sum(axis=-1, keepdims=True),
        "l1": lambda x: np.abs(x).sum(axis=-1, keepdims=True),
        "columns": lambda x: np.sqrt((x**2).sum(axis=0, keepdims=True)),
        "whole": lambda x: np.sqrt((x**2).sum()),
    }[norm]
    q = q / lengths(q) if normalise in ("both", "q", "k upside down") else q
    if normalise == "k upside down":
        k = k * lengths(k)
    k = k / lengths(k) if normalise in ("both", "k") else k
    cosine = np.einsum("td,sd->ts", q, k)
    scores = {"cosine": cosine, "distance": 1 - cosine, "angle": np.arccos(np.clip(cosine, -1, 1))}[result]
    return _score(scores, transposed, weights_instead)


def additive_score(
    q: np.ndarray,
    k: np.ndarray,
    w_q: np.ndarray,
    w_k: np.ndarray,
    v: np.ndarray,
    *,
    activation: str = "tanh",
    combined: str = "sum",
    reduced: str = "v",
    scaled: bool = False,
    swapped: bool = False,
    transposed: bool = False,
    weights_instead: bool = False,
) -> dict[str, np.ndarray]:
    """vᵀ tanh(W_q q + W_k k) for every pair (Bahdanau et al. 2015, appendix A.1.2).

    q (T, dq), k (S, dk), w_q (dq, U), w_k (dk, U), v (U,) -> ``scores`` (T, S).
    """
    if swapped:
        if w_q.shape != w_k.shape:
            raise ValueError("w_q and w_k can be exchanged only when q and k are equally wide")
        w_q, w_k = w_k, w_q
    asked = np.einsum("td,du->tu", q, w_q)[:, None]
    offered = np.einsum("sd,du->su", k, w_k)[None]
    hidden = _hidden(asked, offered, activation, combined)
    if reduced == "v inside":
        hidden, reduced = _hidden(asked * v, offered * v, activation, combined), "sum"
    reductions = {"v": hidden @ v, "sum": hidden.sum(axis=-1), "mean": (hidden * v).mean(axis=-1)}
    scores = reductions[reduced]
    if scaled:
        scores = scores / math.sqrt(len(v))
    if activation == "outside":
        scores = np.tanh(scores)
    return _score(scores, transposed, weights_instead)


def _hidden(asked: np.ndarray, offered: np.ndarray, activation: str, combined: str) -> np.ndarray:
    """The hidden layer of an additive score, with the right activation (tanh of the sum) or a wrong one."""
    if activation == "each":
        return np.tanh(asked) + np.tanh(offered)
    inner = {"sum": asked + offered, "product": asked * offered, "difference": asked - offered}[combined]
    if activation in ("none", "outside"):
        return inner
    if activation == "relu":
        return np.maximum(inner, 0)
    if activation == "sigmoid":
        return 1 / (1 + np.exp(-inner))
    return np.tanh(inner)


def attend(
    scores: np.ndarray,
    values: np.ndarray,
    mask: Any = None,
    *,
    softmax_axis: Any = -1,
    stable: bool = True,
    masking: str = "block",
    peak: str = "row",
    no_softmax: bool = False,
    scaled: bool = False,
    scores_returned: bool = False,
    swapped_results: bool = False,
) -> dict[str, np.ndarray]:
    """softmax(scores) · values over the keys that the mask leaves (Bahdanau et al. 2015, equations 5 and 6).

    Args:
        scores: (…, T, S).
        values: (…, S, e).
        mask: broadcasts to the scores; true where a query may attend.

    Returns:
        ``context`` (…, T, e) and ``weights`` (…, T, S); NaN, for any finite number, in rows without any key.
    """
    if scaled:
        scores = scores / math.sqrt(values.shape[-1])
    if no_softmax:
        open_only = mask is not None and masking != "ignore"
        weights = np.where(np.asarray(mask).astype(bool), scores, 0) if open_only else scores
    else:
        weights = attention.masked_softmax(
            scores, mask, softmax_axis=softmax_axis, stable=stable, masking=masking, peak=peak
        )
    closed: np.ndarray = np.zeros(scores.shape[:-1], bool)
    if mask is not None:
        closed = np.logical_not(np.broadcast_to(np.asarray(mask).astype(bool), scores.shape).any(axis=-1))
    filled = np.where(closed[..., None], 0, weights)
    context = np.einsum("...ts,...se->...te", filled, values)
    context = np.where(closed[..., None], np.nan, context).astype(values.dtype)
    weights = attention.blocked_scores(scores, mask) if scores_returned else weights
    weights = np.where(closed[..., None], np.nan, weights).astype(scores.dtype)
    if swapped_results:
        context, weights = weights, context
    return {"context": context, "weights": weights}


def hard_attention(
    weights: np.ndarray, *, ties: str = "first", place: str = "largest", over: str = "row", result: str = "one_hot"
) -> dict[str, np.ndarray]:
    """One-hot rows with the 1 at the largest weight, the first on ties.

    Source: Xu et al. (2015), section 4.1, with the largest weight instead of a random draw.

    Args:
        weights: (…, S).
        ties: ``first`` (right), ``last`` or ``all``.
        place: ``largest`` (right), ``smallest``.
        over: ``row`` (right), ``column`` (axis -2) or ``all``.
        result: ``one_hot`` (right), ``index``, ``kept`` (the largest weight itself), ``half`` (weights above ½),
            ``bool``, ``one_hot of all`` and ``one_hot of columns`` (argmax without an axis, and along the first one).
    """
    ranked = weights if place == "largest" else -weights
    axis = {"row": -1, "column": -2, "all": None}[over]
    if axis == -2 and weights.ndim < 2:
        raise IndexError("one row has no second axis")
    if result == "half":
        return {"output": (weights > 0.5).astype(weights.dtype)}
    if result in ("one_hot of all", "one_hot of columns"):
        places = np.asarray(ranked.argmax(axis=None if result == "one_hot of all" else 0))
        return {"output": (places[..., None] == np.arange(weights.shape[-1])).astype(weights.dtype)}
    if result == "index":
        return {"output": np.asarray(ranked.argmax(axis=-1))}
    largest = ranked == ranked.max(axis=axis, keepdims=True)
    if ties == "all":
        hot = largest
    elif axis is None:
        flat = np.zeros(weights.size, bool)
        places = np.flatnonzero(largest)
        flat[places[0 if ties == "first" else -1]] = True
        hot = flat.reshape(weights.shape)
    else:
        count = largest.cumsum(axis=axis)
        chosen = 1 if ties == "first" else count.max(axis=axis, keepdims=True)
        hot = largest & (count == chosen)
    return {"output": hot * weights if result == "kept" else hot.astype(weights.dtype)}


def bahdanau_attention(
    query: np.ndarray,
    values: np.ndarray,
    query_proj_kernel: np.ndarray,
    value_proj_kernel: np.ndarray,
    score_proj_kernel: np.ndarray,
    mask: Any = None,
    *,
    mode: str = "call",
    bias: str = "",
    activation: str = "tanh",
    combined: str = "sum",
    swapped: bool = False,
    mixed: str = "values",
    scaled: bool = False,
    mask_by_query: bool = False,
    mask_on_queries: bool = False,
    softmax_axis: Any = -1,
    masking: str = "block",
    no_softmax: bool = False,
    one_each: bool = False,
    swapped_results: bool = False,
) -> dict[str, Any]:
    """softmax(vᵀ tanh(W_q q + W_v v_s)) · values (Bahdanau et al. 2015, section 3.1 and appendix A.1.2).

    Args:
        query: (B, T, dq).
        values: (B, S, dv).
        query_proj_kernel, value_proj_kernel, score_proj_kernel: (dq, U), (dv, U), (U, 1).
        mask: (B, S) or (B, T, S); true where a query may attend.

    Returns:
        ``context`` (B, T, dv), a mean of the values themselves, and ``weights`` (B, T, S).
    """
    units = query_proj_kernel.shape[1]
    if mode == "parameters":
        kernels = query_proj_kernel.size + value_proj_kernel.size + score_proj_kernel.size
        return {"trainable_parameters": int(kernels + units * ("q" in bias) + units * ("v" in bias) + ("s" in bias))}
    closed_queries = None
    if mask_on_queries and mask is not None and np.ndim(mask) == 2:
        if query.shape[1] != values.shape[1]:
            raise ValueError("a mask (B, S) fits the queries only when T is S")
        mask, closed_queries = None, ~np.asarray(mask).astype(bool)
    elif mask is not None and np.ndim(mask) == 2:
        mask = np.asarray(mask)[None] if mask_by_query else np.asarray(mask)[:, None]
    if swapped:
        if query_proj_kernel.shape != value_proj_kernel.shape:
            raise ValueError("the projections can be exchanged only when query and values are equally wide")
        query_proj_kernel, value_proj_kernel = value_proj_kernel, query_proj_kernel
    asked = np.einsum("btd,du->btu", query, query_proj_kernel)[:, :, None]
    offered = np.einsum("bsd,du->bsu", values, value_proj_kernel)
    hidden = _hidden(asked, offered[:, None], activation, combined)
    scores = (hidden @ score_proj_kernel)[..., 0]
    scores = np.tanh(scores) if activation == "outside" else scores
    if scaled:
        scores = scores / math.sqrt(units)
    if closed_queries is not None:
        scores = np.where(closed_queries[..., None], 0, scores)  # blocked as a whole, a row has equal weights
    if one_each:
        scores, masking, no_softmax = np.ones_like(scores), "ignore", True
    payload = values if mixed == "values" else offered
    return attend(
        scores,
        payload,
        mask,
        softmax_axis=softmax_axis,
        masking=masking,
        no_softmax=no_softmax,
        swapped_results=swapped_results,
    )


def hand_calculation(
    entry: str,
    *,
    kernel: str = "2b²",
    output: str = "mean",
    learnable: tuple[str, ...] = LEARNABLE,
    counted: str = "all",
    hard: str = "right",
    cross: str = "right",
) -> dict[str, Any]:
    """The numbers and letters that lab 01 asks for.

    Two keys at distances 0 and 2, bandwidth 1: scores 0 and −2, weights 0.8808 and 0.1192, and with the values 10 and
    12 the output 10.238. Additive scores with dq = 3, dk = 5, U = 7: 21 + 35 + 7 numbers.
    """
    scores = {"2b²": [0.0, -2.0], "b²": [0.0, -4.0], "unsquared": [0.0, -1.0], "sign": [0.0, 2.0]}[kernel]
    weights = attention.softmax(np.array(scores))
    powers = np.exp(np.array(scores))
    values = np.array([10.0, 12.0])
    answers = {
        "pooling_weights": powers if output == "sum" else weights,
        "pooling_output": float({"mean": weights, "sum": powers}[output] @ values),
        "learnable": np.array([float(each in learnable) for each in SCORE_FUNCTIONS]),
        "additive_parameters": {"all": 63.0, "no_v": 56.0, "one_matrix": 28.0, "bias": 77.0}[counted],
        "hard_attention": {"right": "c", "slower": "a", "sum": "b", "memory": "d"}[hard],
        "weights_shape": np.array({"right": [7.0, 11.0], "swapped": [11.0, 7.0], "target": [7.0, 7.0]}[cross]),
    }
    return {"answer": answers[entry]}


def pooling_of_many(
    queries: np.ndarray,
    keys: np.ndarray,
    values: np.ndarray,
    bandwidth: float = 1.0,
    *,
    over: str = "keys",
    summed: str = "axis",
    **flags: Any,
) -> dict[str, np.ndarray]:
    """Pooling for many queries: queries (T, d), keys (S, d), values (S, dv).

    Args:
        over: ``queries`` lets the weights of each key sum to 1.
        summed: ``all``: one sum divides all kernels.
    """
    if over == "keys" and summed == "axis":
        pooled = [attention_pooling(query, keys, values, bandwidth, **flags) for query in queries]
        return {name: np.stack([each[name] for each in pooled]) for name in ("output", "weights")}
    exponents = -((queries[:, None] - keys) ** 2).sum(axis=-1) / (2 * bandwidth**2)
    axis = 0 if over == "queries" else None
    weights = attention.softmax(exponents, (0, 1) if axis is None else axis)
    return {"output": weights @ values, "weights": weights}


def keys_that_count(*, thought: float = 17.72) -> dict[str, float]:
    """1/Σα² at half the bandwidth; `thought` is a wrong one."""
    return {"value": thought}

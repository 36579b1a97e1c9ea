"""Softmax and dot-product attention, with the mistakes that students make in them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def softmax(x: np.ndarray, axis: int | tuple[int, ...] = -1, stable: bool = True) -> np.ndarray:
    """exp(x) / Σ exp(x) over `axis`; the largest entry is subtracted first unless `stable` is False."""
    powers = np.exp(x - x.max(axis=axis, keepdims=True)) if stable else np.exp(x)
    return powers / powers.sum(axis=axis, keepdims=True)


def masked_softmax(
    scores: np.ndarray,
    mask: Any = None,
    *,
    softmax_axis: Any = -1,
    stable: bool = True,
    masking: str = "block",
    peak: str = "row",
) -> np.ndarray:
    """Softmax of attention scores over the keys that the mask leaves.

    Args:
        scores: (…, T, S).
        mask: broadcasts to the scores; true where a query may attend to a key.
        softmax_axis: -1 (right), -2, or (-2, -1) for one softmax over the whole matrix.
        stable: whether the largest score is subtracted.
        masking: ``block`` (right), ``ignore``, ``invert``, ``add`` (the mask is added to the scores), ``zero`` (scores
            multiplied by the mask), ``weak`` (blocked scores lose 10), ``-1e4`` (blocked scores become that), ``after``
            (weights multiplied by the mask, not normalised again), ``queries`` (the mask read as (S, T)).

        peak: what is subtracted where all else is right: the largest score of its ``row`` (right), of the ``whole``
            array, or ``columns``: the largest of the rows, (…, T), which broadcast along the columns.

    Returns:
        Weights (…, T, S). Rows without any key are NaN: no single value is right there.
    """
    if peak != "row":
        return _badly_centred(scores, mask, peak)
    if mask is None or masking == "ignore":
        return softmax(scores, softmax_axis, stable)
    allowed = np.asarray(mask).astype(bool)
    if masking == "queries":
        allowed = np.swapaxes(allowed, -1, -2)
    allowed = np.broadcast_to(allowed, np.broadcast_shapes(allowed.shape, scores.shape))
    if masking == "invert":
        allowed = ~allowed
    if masking == "add":
        return softmax(scores + allowed.astype(scores.dtype), softmax_axis, stable)
    if masking == "weak":
        return softmax(np.where(allowed, scores, scores - scores.dtype.type(10)), softmax_axis, stable)
    if masking == "-1e4":
        return softmax(np.where(allowed, scores, scores.dtype.type(-1e4)), softmax_axis, stable)
    if masking == "zero":
        return softmax(scores * allowed.astype(scores.dtype), softmax_axis, stable)
    if masking == "after":
        return softmax(scores, softmax_axis, stable) * allowed
    blocked = np.where(allowed, scores, scores.dtype.type(-np.inf))
    if softmax_axis != -1:
        largest = blocked.max(axis=softmax_axis, keepdims=True)
        powers = np.where(allowed, np.exp(blocked - np.where(np.isfinite(largest), largest, 0)), 0)
        total = powers.sum(axis=softmax_axis, keepdims=True)
        equal = scores.dtype.type(1 / np.prod(np.take(scores.shape, softmax_axis)))  # what equally blocked scores get
        return np.where(total == 0, equal, powers / np.where(total == 0, 1, total))
    if not stable:
        powers = np.where(allowed, np.exp(scores), 0)
        weights = powers / powers.sum(axis=-1, keepdims=True)
    else:
        largest = np.where(np.isfinite(blocked.max(-1, keepdims=True)), blocked.max(-1, keepdims=True), 0)
        powers = np.where(allowed, np.exp(blocked - largest), 0)
        weights = powers / np.where(allowed.any(-1, keepdims=True), powers.sum(-1, keepdims=True), 1)
    return np.where(allowed.any(axis=-1, keepdims=True), weights, np.nan).astype(scores.dtype)


def _badly_centred(scores: np.ndarray, mask: Any, peak: str) -> np.ndarray:
    """A softmax of blocked scores that subtracts another number than the largest of the row."""
    kept = blocked_scores(scores, mask)
    if peak == "columns" and (kept.ndim != 2 or kept.shape[0] != kept.shape[1]):
        raise ValueError("maxima (…, T) do not broadcast to scores (…, T, S)")
    powers = np.exp(kept - (kept.max() if peak == "whole" else kept.max(axis=-1)))
    return powers / powers.sum(axis=-1, keepdims=True)


def scale_factor(scale: str | float, d_k: int, d_v: int, queries: int, keys: int) -> float:
    """The number that the scores are divided by, for the right scaling and the wrong ones."""
    factors = {
        "sqrt_d_k": math.sqrt(d_k),
        "none": 1.0,
        "d_k": float(d_k),
        "sqrt_d_v": math.sqrt(d_v),
        "sqrt_keys": math.sqrt(keys),
        "sqrt_queries": math.sqrt(queries),
        "inverse": 1.0 / math.sqrt(d_k),
        "after": 1.0,
    }
    return factors[scale] if isinstance(scale, str) else scale


def scaled_dot_product_attention(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    mask: Any = None,
    *,
    scale: str | float = "sqrt_d_k",
    softmax_axis: Any = -1,
    stable: bool = True,
    masking: str = "block",
    transposed: bool = False,
    no_softmax: bool = False,
    normalising: str = "softmax",
    swapped_results: bool = False,
    normalised: str = "rows",
    scores_returned: bool = False,
    peak: str = "row",
) -> dict[str, np.ndarray]:
    """softmax(QKᵀ / √d_k) V (Vaswani et al. 2017, equation 1).

    Args:
        q, k, v: (…, T, d_k), (…, S, d_k), (…, S, d_v).
        mask: broadcasts to (…, T, S); true where a query may attend.

    Returns:
        ``output`` (…, T, d_v) and ``weights`` (…, T, S).
    """
    scores = np.einsum("...td,...sd->...ts", q, k)
    if transposed:
        if scores.shape[-1] != scores.shape[-2]:
            raise ValueError("K Qᵀ cannot weight the values when T differs from S")
        scores = np.swapaxes(scores, -1, -2)
    divisor = scale_factor(scale, q.shape[-1], v.shape[-1], q.shape[-2], k.shape[-2])
    scores = scores / divisor
    if no_softmax:
        weights = scores if mask is None else np.where(np.asarray(mask).astype(bool), scores, 0)
    else:
        weights = masked_softmax(scores, mask, softmax_axis=softmax_axis, stable=stable, masking=masking, peak=peak)
    if normalising == "sum":
        kept = scores if mask is None else np.where(np.asarray(mask).astype(bool), scores, 0)
        weights = kept / kept.sum(axis=-1, keepdims=True)
    elif normalising == "largest":
        kept = scores if mask is None else np.where(np.asarray(mask).astype(bool), scores, -np.inf)
        weights = (kept == kept.max(axis=-1, keepdims=True)).astype(scores.dtype)
    if normalised != "rows":
        weights = _badly_normalised(scores, normalised)
    if scale == "after":
        weights = weights / math.sqrt(q.shape[-1])
    filled = np.where(np.isnan(weights) & _free_rows(scores, mask), 0, weights)
    output = np.einsum("...ts,...sd->...td", filled, v)
    output = np.where(_free_rows(scores, mask).any(-1, keepdims=True), np.nan, output).astype(q.dtype)
    if scores_returned:
        weights = blocked_scores(scores, mask)
    if swapped_results:
        output, weights = weights, output
    return {"output": output, "weights": weights}


def blocked_scores(scores: np.ndarray, mask: Any) -> np.ndarray:
    """Scores as they go into a softmax: a large negative number where the mask blocks."""
    return scores if mask is None else np.where(np.asarray(mask).astype(bool), scores, scores.dtype.type(-1e9))


def _badly_normalised(scores: np.ndarray, normalised: str) -> np.ndarray:
    """exp(scores) without the division (``not``), or each *column* divided by the sum of a row (``broadcast``)."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    if normalised == "not":
        return powers
    if scores.ndim != 2:
        raise ValueError("sums (…, T) do not broadcast to powers (…, T, S)")
    return powers / powers.sum(axis=-1)


def _free_rows(scores: np.ndarray, mask: Any) -> np.ndarray:
    """True where a query has no key at all, so that no single weight is right."""
    if mask is None:
        return np.zeros(scores.shape, bool)
    allowed = np.broadcast_to(np.asarray(mask).astype(bool), np.broadcast_shapes(np.shape(mask), scores.shape))
    return np.broadcast_to(~allowed.any(axis=-1, keepdims=True), allowed.shape)

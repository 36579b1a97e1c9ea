"""Softmax and scaled dot-product attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def softmax(x: np.ndarray, axis: int | tuple[int, ...] = -1) -> np.ndarray:
    """exp(x) / Σ exp(x) over `axis`; the largest entry is subtracted first, which changes nothing but the overflow."""
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def masked_softmax(scores: np.ndarray, mask: Any = None) -> np.ndarray:
    """Softmax of scores (…, T, S) over the keys that the mask leaves.

    Args:
        scores: (…, T, S).
        mask: broadcasts to the scores; true where a query may attend to a key.

    Returns:
        Weights (…, T, S). Rows without any key are NaN: no single value is right there.
    """
    if mask is None:
        return softmax(scores)
    allowed = np.asarray(mask).astype(bool)
    kept = np.where(allowed, scores, scores.dtype.type(-1e9))
    return np.where(allowed.any(axis=-1, keepdims=True), softmax(kept), np.nan)


def scaled_dot_product_attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: Any = None
) -> dict[str, np.ndarray]:
    """softmax(QKᵀ / √d_k) V (Vaswani et al. 2017, equation 1).

    Args:
        q, k, v: (…, T, d_k), (…, S, d_k), (…, S, d_v).
        mask: broadcasts to (…, T, S); true where a query may attend.

    Returns:
        ``output`` (…, T, d_v) and ``weights`` (…, T, S). Rows without any key are NaN in both.
    """
    scores = np.einsum("...td,...sd->...ts", q, k) / math.sqrt(q.shape[-1])
    weights = masked_softmax(scores, mask)
    output = np.einsum("...ts,...sd->...td", weights, v)
    return {"output": output, "weights": weights}

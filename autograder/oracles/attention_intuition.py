"""Oracles of lab 01: softmax, attention pooling, score functions, attention with weights given, Bahdanau, spatial."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograder.oracles import attention


def softmax(x: np.ndarray, axis: int = -1) -> dict[str, np.ndarray]:
    """exp(x) / Σ exp(x) over `axis`, the axis whose entries compete. x (…), at least one axis."""
    return {"output": attention.softmax(x, axis)}


def attention_pooling(
    query: np.ndarray, keys: np.ndarray, values: np.ndarray, bandwidth: float = 1.0
) -> dict[str, np.ndarray]:
    """Nadaraya–Watson pooling with a Gaussian kernel, exp(−‖q−k‖² / 2·bandwidth²), normalised.

    Source: Nadaraya (1964) and Watson (1964).

    Args:
        query, keys, values: (d,), (m, d), (m, e).

    Returns:
        ``output`` (e,) and ``weights`` (m,).
    """
    weights = attention.softmax(-((query - keys) ** 2).sum(axis=-1) / (2 * bandwidth**2))
    return {"output": weights @ values, "weights": weights}


def dot_score(q: np.ndarray, k: np.ndarray) -> dict[str, np.ndarray]:
    """q·k for every pair (Luong et al. 2015, section 3.1). q (T, d), k (S, d) -> ``scores`` (T, S)."""
    return {"scores": np.einsum("td,sd->ts", q, k)}


def scaled_dot_score(q: np.ndarray, k: np.ndarray) -> dict[str, np.ndarray]:
    """q·k / √d for every pair (Vaswani et al. 2017, section 3.2.1). q (T, d), k (S, d) -> ``scores`` (T, S)."""
    return {"scores": np.einsum("td,sd->ts", q, k) / math.sqrt(q.shape[-1])}


def general_score(q: np.ndarray, k: np.ndarray, w: np.ndarray) -> dict[str, np.ndarray]:
    """qᵀ W k for every pair (Luong et al. 2015, section 3.1). q (T, dq), k (S, dk), w (dq, dk) -> ``scores`` (T, S)."""
    return {"scores": np.einsum("ti,ij,sj->ts", q, w, k)}


def cosine_score(q: np.ndarray, k: np.ndarray) -> dict[str, np.ndarray]:
    """q·k / (‖q‖ ‖k‖) for every pair (Graves et al. 2014, section 3.3.1). q (T, d), k (S, d) -> ``scores`` (T, S)."""
    return {"scores": np.einsum("td,sd->ts", _unit(q), _unit(k))}


def _unit(x: np.ndarray) -> np.ndarray:
    return x / np.sqrt((x**2).sum(axis=-1, keepdims=True))


def additive_score(
    q: np.ndarray, k: np.ndarray, w_q: np.ndarray, w_k: np.ndarray, v: np.ndarray
) -> dict[str, np.ndarray]:
    """vᵀ tanh(W_q q + W_k k) for every pair (Bahdanau et al. 2015, appendix A.1.2).

    q (T, dq), k (S, dk), w_q (dq, U), w_k (dk, U), v (U,) -> ``scores`` (T, S).
    """
    asked = np.einsum("td,du->tu", q, w_q)
    offered = np.einsum("sd,du->su", k, w_k)
    return {"scores": np.tanh(asked[:, None] + offered[None]) @ v}


def attend(scores: np.ndarray, values: np.ndarray, mask: Any = None) -> dict[str, np.ndarray]:
    """softmax(scores) · values over the keys that the mask leaves (Bahdanau et al. 2015, equations 5 and 6).

    Args:
        scores: (…, T, S).
        values: (…, S, e).
        mask: broadcasts to the scores; true where a query may attend.

    Returns:
        ``context`` (…, T, e) and ``weights`` (…, T, S); NaN, for any finite number, in rows without any key.
    """
    weights = attention.masked_softmax(scores, mask)
    return {"context": np.einsum("...ts,...se->...te", weights, values), "weights": weights}


def hard_attention(weights: np.ndarray) -> dict[str, np.ndarray]:
    """One-hot rows with the 1 at the largest weight, the first on ties. weights (…, S).

    Source: Xu et al. (2015), section 4.1, with the largest weight instead of a random draw.
    """
    largest = weights.argmax(axis=-1)[..., None]
    return {"output": (np.arange(weights.shape[-1]) == largest).astype(weights.dtype)}


def bahdanau_attention(
    query: np.ndarray,
    values: np.ndarray,
    query_proj_kernel: np.ndarray,
    value_proj_kernel: np.ndarray,
    score_proj_kernel: np.ndarray,
    mask: Any = None,
) -> dict[str, np.ndarray]:
    """softmax(vᵀ tanh(W_q q + W_v v_s)) · values (Bahdanau et al. 2015, section 3.1 and appendix A.1.2).

    Args:
        query: (B, T, dq).
        values: (B, S, dv).
        query_proj_kernel, value_proj_kernel, score_proj_kernel: (dq, U), (dv, U), (U, 1).
        mask: (B, S) or (B, T, S); true where a query may attend.

    Returns:
        ``context`` (B, T, dv), a mean of the values themselves, and ``weights`` (B, T, S).
    """
    asked = np.einsum("btd,du->btu", query, query_proj_kernel)
    offered = np.einsum("bsd,du->bsu", values, value_proj_kernel)
    scores = np.tanh(asked[:, :, None] + offered[:, None]) @ score_proj_kernel  # (B, T, S, 1)
    if np.ndim(mask) == 2:
        mask = np.asarray(mask)[:, None]
    return attend(scores[..., 0], values, mask)


def bahdanau_parameters(
    query_proj_kernel: np.ndarray, value_proj_kernel: np.ndarray, score_proj_kernel: np.ndarray
) -> dict[str, int]:
    """Three Dense layers without bias have the numbers of their kernels."""
    return {"trainable_parameters": query_proj_kernel.size + value_proj_kernel.size + score_proj_kernel.size}


LEARNABLE = ("additive", "general", "location")
SCORE_FUNCTIONS = ("cosine", "additive", "location", "general", "dot", "scaled dot")


def hand_calculation(entry: str) -> dict[str, Any]:
    """The numbers and letters that lab 01 asks for.

    Two keys at distances 0 and 2, bandwidth 1: scores 0 and −2, weights 0.8808 and 0.1192, and with the values 10 and
    12 the output 10.238. Additive scores with dq = 3, dk = 5, U = 7: 21 + 35 + 7 numbers.
    """
    weights = attention.softmax(np.array([0.0, -2.0]))
    answers = {
        "pooling_weights": weights,
        "pooling_output": float(weights @ np.array([10.0, 12.0])),
        "learnable": np.array([float(each in LEARNABLE) for each in SCORE_FUNCTIONS]),
        "additive_parameters": float(3 * 7 + 5 * 7 + 7),
        "hard_attention": "c",
        "weights_shape": np.array([7.0, 11.0]),
    }
    return {"answer": answers[entry]}


def pooling_of_many(
    queries: np.ndarray, keys: np.ndarray, values: np.ndarray, bandwidth: float = 1.0
) -> dict[str, np.ndarray]:
    """`attention_pooling` for each of the queries (T, d); returns ``output`` (T, dv) and ``weights`` (T, S)."""
    pooled = [attention_pooling(query, keys, values, bandwidth) for query in queries]
    return {name: np.stack([each[name] for each in pooled]) for name in ("output", "weights")}


def keys_that_count() -> dict[str, float]:
    """1/Σα² of a query amid keys at distances of 0.1, at a bandwidth of 0.5: 2√π · 0.5 / 0.1, about 17.7."""
    keys = np.arange(-100, 101)[:, None] * 0.1
    weights = attention_pooling(np.zeros(1), keys, keys, 0.5)["weights"]
    return {"value": float(1 / np.sum(weights**2))}

"""Layer norm, self-attention as Keras computes it, weights end to end: what the models of several labs are made of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from exercises.formulas.attention import masked_softmax

Weights = Mapping[str, np.ndarray]


def normalised(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, eps: float = 1e-6) -> np.ndarray:
    """γ (x − μ) / √(σ² + ε) + β over the last axis, σ² divided by D (Ba et al. 2016, equations 3 and 4)."""
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + eps) + beta


def unpacked(vector: np.ndarray, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """One vector cut into named weights."""
    pieces = np.split(vector, np.cumsum([math.prod(shape) for shape in shapes.values()])[:-1])
    return {name: piece.reshape(shape) for (name, shape), piece in zip(shapes.items(), pieces, strict=True)}


def attended(x: np.ndarray, w: Weights, mask: Any) -> np.ndarray:
    """Multi-head self-attention as `keras.layers.MultiHeadAttention` computes it. x (B, T, D) -> (B, T, D)."""
    q, k, v = projected(x, w, "query"), projected(x, w, "key"), projected(x, w, "value")
    if np.ndim(mask) == 3:
        mask = np.asarray(mask)[:, None]  # the axis of the heads
    weights = masked_softmax(np.einsum("bhtk,bhsk->bhts", q, k) / math.sqrt(q.shape[-1]), mask)
    heads = np.einsum("bhts,bhsk->bthk", weights, v)
    return np.einsum("bthk,hkd->btd", heads, w["output.kernel"]) + w["output.bias"]


def projected(x: np.ndarray, w: Weights, part: str) -> np.ndarray:
    """Queries, keys or values of every head. x (B, T, D) -> (B, H, T, K)."""
    return np.einsum("btd,dhk->bhtk", x, w[f"{part}.kernel"]) + w[f"{part}.bias"][:, None]

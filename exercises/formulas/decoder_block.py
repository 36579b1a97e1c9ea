"""The decoder block and what it is made of; `DecoderBlock` and `Transformer` of lab 08 both use it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from exercises.formulas.attention import masked_softmax
from exercises.formulas.encoder_block import normalised

Weights = Mapping[str, np.ndarray]
Dropout = Callable[[np.ndarray, int], np.ndarray]


def head_width(d_model: int, num_heads: int) -> int:
    """The width of one head, D/H."""
    return d_model // num_heads


def kept(h: np.ndarray, place: int) -> np.ndarray:
    """In place of a dropout when nothing is dropped."""
    return h


def third_erased(h: np.ndarray, place: int) -> np.ndarray:
    """A dropout of rate ⅓ without chance: every third feature is erased, the rest 1.5 times as large."""
    return h * np.where(np.arange(h.shape[-1]) % 3 == place % 3, 0.0, 1.5).astype(h.dtype)


def attended(
    x: np.ndarray, memory: np.ndarray, w: Weights, name: str, mask: Any, dropout: Dropout = kept
) -> np.ndarray:
    """Multi-head attention as `keras.layers.MultiHeadAttention` computes it. x (B, T, D), memory (B, S, D)."""

    def projected(tokens: np.ndarray, part: str) -> np.ndarray:
        heads = np.einsum("btd,dhk->bhtk", tokens, w[f"{name}.{part}.kernel"])
        return heads + w[f"{name}.{part}.bias"][:, None]

    q, k, v = projected(x, "query"), projected(memory, "key"), projected(memory, "value")
    if np.ndim(mask) == 3:
        mask = np.asarray(mask)[:, None]  # the axis of the heads
    weights = dropout(masked_softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]), mask), 1)
    return np.einsum("bhtk,hkd->btd", weights @ v, w[f"{name}.output.kernel"]) + w[f"{name}.output.bias"]


def transformed(x: np.ndarray, w: Weights) -> np.ndarray:
    """The feed-forward network max(0, x W₁ + b₁) W₂ + b₂ (Vaswani et al. 2017, equation 2)."""
    hidden = x @ w["in.kernel"] + w["in.bias"]
    return np.maximum(hidden, 0) @ w["out.kernel"] + w["out.bias"]


def gelu(x: np.ndarray) -> np.ndarray:
    """x·Φ(x) (Hendrycks and Gimpel 2016)."""
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def norm(h: np.ndarray, w: Weights, name: str) -> np.ndarray:
    """The layer norm of this name."""
    gamma, beta = w[f"{name}.gamma"], w[f"{name}.beta"]
    return normalised(h, gamma, beta, 1e-6)


def block(x: np.ndarray, memory: np.ndarray, w: Weights, memory_mask: Any, dropout: Dropout = kept) -> np.ndarray:
    """One decoder block, post-norm: self-attention that cannot look ahead, attention over the memory, feed-forward
    network, each with dropout, sum and layer norm (Vaswani et al. 2017, section 3.1)."""
    causal = np.tri(x.shape[1], dtype=bool)
    first = norm(x + dropout(attended(x, x, w, "self", causal), 0), w, "norm1")
    second = norm(first + dropout(attended(first, memory, w, "cross", memory_mask), 1), w, "norm2")
    return norm(second + dropout(transformed(second, w), 2), w, "norm3")


# What mistakes change in `block`.
CAUSAL = "np.tri(x.shape[1], dtype=bool)"
FIRST = 'first = norm(x + dropout(attended(x, x, w, "self", causal), 0), w, "norm1")'
SECOND = 'second = norm(first + dropout(attended(first, memory, w, "cross", memory_mask), 1), w, "norm2")'
THIRD = 'return norm(second + dropout(transformed(second, w), 2), w, "norm3")'
PRE_NORM = (
    (FIRST, 'inner = norm(x, w, "norm1")\nfirst = x + dropout(attended(inner, inner, w, "self", causal), 0)'),
    (
        SECOND,
        'inner = norm(first, w, "norm2")\nsecond = first + dropout(attended(inner, memory, w, "cross", '
        "memory_mask), 1)",
    ),
    (THIRD, 'return second + dropout(transformed(norm(second, w, "norm3"), w), 2)'),
)


def one_by_one(vector: np.ndarray, shapes: Mapping[str, tuple[int, ...]]) -> list[np.ndarray]:
    """One vector for each of the shapes packed in `vector`: that part of it, and 0 elsewhere."""
    number = np.repeat(np.arange(len(shapes)), [math.prod(shape) for shape in shapes.values()])
    return [np.where(number == place, vector, 0) for place in range(len(shapes))]


def along(
    run: Callable[..., np.ndarray],
    point: Sequence[Any],
    steps: Sequence[Sequence[Any]],
    weighting: np.ndarray,
    size: float = 1e-5,
) -> np.ndarray:
    """Derivatives of ``sum(run(*point) * weighting)`` along each of the steps; central differences in float64."""
    point = [part.astype("float64") for part in point]

    def loss(step: Sequence[Any], sign: int) -> float:
        moved = [part + sign * size * np.asarray(change, "float64") for part, change in zip(point, step, strict=True)]
        return float(np.sum(run(*moved) * weighting.astype("float64")))

    return np.array([(loss(step, 1) - loss(step, -1)) / (2 * size) for step in steps])

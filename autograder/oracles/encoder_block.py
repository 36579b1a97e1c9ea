"""Oracles of lab 04: layer and RMS norm, the feed-forward network, the encoder block, stacks, their parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograder.oracles.attention import masked_softmax
from autograder.oracles.derivatives import weight_by_weight

Weights = Mapping[str, np.ndarray]
Dropout = Callable[[np.ndarray, int], np.ndarray]


def normalised(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, eps: float = 1e-6) -> np.ndarray:
    """γ (x − μ) / √(σ² + ε) + β over the last axis, σ² divided by D (Ba et al. 2016, equations 3 and 4)."""
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + eps) + beta


def layer_norm(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, eps: float = 1e-6) -> dict[str, np.ndarray]:
    """`normalised` under the name of its result."""
    return {"output": normalised(x, gamma, beta, eps)}


def feed_forward(
    x: np.ndarray,
    dense_in_kernel: np.ndarray,
    dense_in_bias: np.ndarray,
    dense_out_kernel: np.ndarray,
    dense_out_bias: np.ndarray,
) -> dict[str, np.ndarray]:
    """max(0, x W₁ + b₁) W₂ + b₂ for every token (Vaswani et al. 2017, equation 2). x (…, D) -> (…, D)."""
    hidden = np.maximum(x @ dense_in_kernel + dense_in_bias, 0)
    return {"output": hidden @ dense_out_kernel + dense_out_bias}


def feed_forward_parameters(d_model: int, d_ff: int) -> dict[str, int]:
    """Two Dense layers with bias."""
    return {"trainable_parameters": d_model * d_ff + d_ff + d_ff * d_model + d_model}


def block_shapes(d_model: int, num_heads: int, d_ff: int) -> dict[str, tuple[int, ...]]:
    """Shapes of a block's weights, in the order in which the probe packs them."""
    width = d_model // num_heads
    shapes: dict[str, tuple[int, ...]] = {}
    for part in ("query", "key", "value"):
        shapes[f"{part}.kernel"], shapes[f"{part}.bias"] = (d_model, num_heads, width), (num_heads, width)
    shapes |= {"output.kernel": (num_heads, width, d_model), "output.bias": (d_model,)}
    shapes |= {"in.kernel": (d_model, d_ff), "in.bias": (d_ff,), "out.kernel": (d_ff, d_model), "out.bias": (d_model,)}
    return shapes | {f"{norm}.{part}": (d_model,) for norm in ("norm1", "norm2") for part in ("gamma", "beta")}


def unpacked(vector: np.ndarray, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """One vector cut into named weights."""
    pieces = np.split(vector, np.cumsum([math.prod(shape) for shape in shapes.values()])[:-1])
    return {name: piece.reshape(shape) for (name, shape), piece in zip(shapes.items(), pieces, strict=True)}


def attended(x: np.ndarray, w: Weights, mask: Any) -> np.ndarray:
    """Multi-head self-attention as `keras.layers.MultiHeadAttention` computes it. x (B, T, D) -> (B, T, D)."""
    q, k, v = (
        np.einsum("btd,dhk->bhtk", x, w[f"{part}.kernel"]) + w[f"{part}.bias"][:, None]
        for part in ("query", "key", "value")
    )
    if np.ndim(mask) == 3:
        mask = np.asarray(mask)[:, None]  # the axis of the heads
    weights = masked_softmax(np.einsum("bhtk,bhsk->bhts", q, k) / math.sqrt(q.shape[-1]), mask)
    heads = np.einsum("bhts,bhsk->bthk", weights, v)
    return np.einsum("bthk,hkd->btd", heads, w["output.kernel"]) + w["output.bias"]


def kept(h: np.ndarray, place: int) -> np.ndarray:
    """In place of a dropout when nothing is dropped."""
    return h


def half_erased(h: np.ndarray, place: int) -> np.ndarray:
    """A dropout of rate 0.5 without chance: every other feature is erased, the rest doubled."""
    return h * (2 * ((np.arange(h.shape[-1]) + place) % 2)).astype(h.dtype)


def block(x: np.ndarray, w: Weights, norm: str, mask: Any, dropout: Dropout = kept) -> np.ndarray:
    """One encoder block, post-norm or pre-norm (Vaswani et al. 2017, section 3.1; Xiong et al. 2020, table 1)."""

    def attention(h: np.ndarray) -> np.ndarray:
        return dropout(attended(h, w, mask), 0)

    def transform(h: np.ndarray) -> np.ndarray:
        return dropout(feed_forward(h, w["in.kernel"], w["in.bias"], w["out.kernel"], w["out.bias"])["output"], 1)

    def norm1(h: np.ndarray) -> np.ndarray:
        return normalised(h, w["norm1.gamma"], w["norm1.beta"])

    def norm2(h: np.ndarray) -> np.ndarray:
        return normalised(h, w["norm2.gamma"], w["norm2.beta"])

    if norm == "post":
        h = norm1(x + attention(x))
        return norm2(h + transform(h))
    h = x + attention(norm1(x))
    return h + transform(norm2(h))


def stack(
    x: np.ndarray, vector: np.ndarray, sizes: tuple[int, int, int, int], norm: str, mask: Any, dropout: Dropout = kept
) -> np.ndarray:
    """Blocks one after the other, each with weights of its own; a pre-norm stack ends with one more layer norm.

    Args:
        vector: weights of the blocks end to end, then γ and β of the final norm of a pre-norm stack.
        sizes: num_layers, d_model, num_heads, d_ff.
    """
    num_layers, d_model, *_ = sizes
    shapes, size = block_shapes(*sizes[1:]), block_size(*sizes[1:])
    for start in range(0, num_layers * size, size):
        x = block(x, unpacked(vector[start : start + size], shapes), norm, mask, dropout)
    if norm == "post":
        return x
    gamma, beta = vector[num_layers * size :].reshape(2, d_model)
    return normalised(x, gamma, beta)


def block_size(d_model: int, num_heads: int, d_ff: int) -> int:
    """Number of weights of a block with key_dim D/H."""
    return sum(math.prod(shape) for shape in block_shapes(d_model, num_heads, d_ff).values())


def encoder_block(
    x: np.ndarray, d_model: int, num_heads: int, d_ff: int, weights: np.ndarray, norm: str = "post", mask: Any = None
) -> dict[str, np.ndarray]:
    """`block` with its weights end to end, in the order of `block_shapes`.

    Args:
        x: (B, T, D).
        mask: (T, T), (B, T, T) or (B, 1, T); true where a query may attend.
    """
    return {"output": block(x, unpacked(weights, block_shapes(d_model, num_heads, d_ff)), norm, mask)}


def encoder_block_training(
    x: np.ndarray, d_model: int, num_heads: int, d_ff: int, weights: np.ndarray, norm: str = "post"
) -> dict[str, np.ndarray]:
    """The same in training, with `half_erased` in place of both dropouts."""
    return {"output": block(x, unpacked(weights, block_shapes(d_model, num_heads, d_ff)), norm, None, half_erased)}


def encoder_block_slopes(
    x: np.ndarray,
    d_model: int,
    num_heads: int,
    d_ff: int,
    weights: np.ndarray,
    weighting: np.ndarray,
    direction: np.ndarray,
    direction_x: np.ndarray,
    norm: str = "post",
) -> dict[str, np.ndarray]:
    """Derivatives of ``sum(output * weighting)``, see `weight_by_weight`."""
    shapes = block_shapes(d_model, num_heads, d_ff)
    sizes = [math.prod(shape) for shape in shapes.values()]

    def run(x: np.ndarray, vector: np.ndarray) -> np.ndarray:
        return block(x, unpacked(vector, shapes), norm, None)

    return {"slopes": weight_by_weight(run, x, weights, sizes, weighting, direction, direction_x)}


def block_parameters(d_model: int, num_heads: int, d_ff: int) -> dict[str, int]:
    """`block_size` under the name of its result."""
    return {"trainable_parameters": block_size(d_model, num_heads, d_ff)}


def encoder(
    x: np.ndarray,
    num_layers: int,
    d_model: int,
    num_heads: int,
    d_ff: int,
    weights: np.ndarray,
    norm: str = "post",
    mask: Any = None,
) -> dict[str, np.ndarray]:
    """`stack` with the arguments of the layer; x and mask as for `encoder_block`."""
    return {"output": stack(x, weights, (num_layers, d_model, num_heads, d_ff), norm, mask)}


def encoder_training(
    x: np.ndarray, num_layers: int, d_model: int, num_heads: int, d_ff: int, weights: np.ndarray, norm: str = "post"
) -> dict[str, np.ndarray]:
    """The same in training, with `half_erased` in place of all dropouts."""
    return {"output": stack(x, weights, (num_layers, d_model, num_heads, d_ff), norm, None, half_erased)}


def encoder_slopes(
    x: np.ndarray,
    num_layers: int,
    d_model: int,
    num_heads: int,
    d_ff: int,
    weights: np.ndarray,
    weighting: np.ndarray,
    direction: np.ndarray,
    direction_x: np.ndarray,
    norm: str = "post",
) -> dict[str, np.ndarray]:
    """Derivatives of ``sum(output * weighting)``, see `weight_by_weight`."""
    one_block = [math.prod(shape) for shape in block_shapes(d_model, num_heads, d_ff).values()]
    sizes = num_layers * one_block + 2 * [d_model] * (norm == "pre")

    def run(x: np.ndarray, vector: np.ndarray) -> np.ndarray:
        return stack(x, vector, (num_layers, d_model, num_heads, d_ff), norm, None)

    return {"slopes": weight_by_weight(run, x, weights, sizes, weighting, direction, direction_x)}


def stack_parameters(num_layers: int, d_model: int, num_heads: int, d_ff: int, norm: str = "post") -> dict[str, int]:
    """Those of the blocks, and γ and β of a pre-norm stack's final norm."""
    final = 2 * d_model if norm == "pre" else 0
    return {"trainable_parameters": num_layers * block_size(d_model, num_heads, d_ff) + final}


def left_to_chance() -> dict[str, Any]:
    """Nothing: what a dropout erases is judged by a property."""
    return {}


def same_again() -> dict[str, bool]:
    """With `half_erased` in place of the dropouts, nothing is left to chance."""
    return {"same_again": True}


def name_kept() -> dict[str, str]:
    """A layer that is rebuilt from its configuration has the name of the first."""
    return {"name": "kept"}


def encoder_parameter_count(d_model: int, num_heads: int, d_ff: int, key_dim: int | None = None) -> dict[str, int]:
    """Trainable numbers of a block: attention 3·(D·HK + HK) + HK·D + D, feed-forward 2·DF + F + D, norms 4·D."""
    width = d_model if key_dim is None else num_heads * key_dim
    attention = 3 * (d_model * width + width) + width * d_model + d_model
    return {"output": attention + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model}


def rms_norm(x: np.ndarray, gamma: np.ndarray, eps: float = 1e-6) -> dict[str, np.ndarray]:
    """γ x / √(mean x² + ε) over the last axis (Zhang and Sennrich 2019, equation 4)."""
    return {"output": gamma * x / np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + eps)}


def pre_norm_stack(
    x: np.ndarray, scales: np.ndarray, matrices: np.ndarray, final_scale: np.ndarray
) -> dict[str, np.ndarray]:
    """x + tanh(norm(x) M) for each M of `matrices` (n, D, D), then a last norm.

    The norms are those that the probe hands over: a token over its largest size, times the scale, (n, D) and (D,).
    """
    for scale, matrix in zip(scales, matrices, strict=True):
        x = x + np.tanh(_over_largest(x, scale) @ matrix)
    return {"output": _over_largest(x, final_scale)}


def _over_largest(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return x * scale / abs(x).max(axis=-1)[..., None]


def spread_after_sums() -> dict[str, float]:
    """24 independent summands of variance 1 on tokens of variance 1: the variance is 25."""
    return {"value": math.sqrt(1 + 24)}

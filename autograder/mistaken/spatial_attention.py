"""Mistakes of lab 01: in attention over the places of an image."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.mistaken import attention


def resize(images: np.ndarray, height: int, width: int, method: str = "bilinear") -> np.ndarray:
    """Resize images (B, h, w, C) to (B, height, width, C), pixel centres at half-integers, edges repeated.

    method: ``bilinear``, ``nearest``, or ``corners`` (bilinear with the corner pixels' centres kept in place).
    """
    for axis, size in ((1, height), (2, width)):
        old = images.shape[axis]
        if method == "corners":
            place = np.linspace(0, old - 1, size)
        else:
            place = np.clip((np.arange(size) + 0.5) * old / size - 0.5, 0, old - 1)
        low = np.floor(place).astype(int)
        high = np.minimum(low + 1, old - 1)
        share = (place - low).reshape([-1 if each == axis else 1 for each in range(4)]).astype(images.dtype)
        if method == "nearest":
            images = images.take(((np.arange(size) + 0.5) * old / size).astype(int), axis=axis)
        else:
            images = images.take(low, axis=axis) * (1 - share) + images.take(high, axis=axis) * share
    return images


def spatial_hidden(
    features: np.ndarray,
    global_features: np.ndarray,
    local_kernel: np.ndarray,
    global_kernel: np.ndarray,
    method: str = "bilinear",
) -> tuple[np.ndarray, np.ndarray]:
    """The two projections (B, h, w, filters) that spatial attention adds up."""
    height, width = features.shape[1:3]
    local = np.einsum("bhwc,cf->bhwf", features, local_kernel[0, 0])
    wide = np.einsum("bhwc,cf->bhwf", resize(global_features, height, width, method), global_kernel[0, 0])
    return local, wide


def spatial_attention(
    features: np.ndarray,
    global_features: np.ndarray,
    local_conv_kernel: np.ndarray,
    global_conv_kernel: np.ndarray,
    score_conv_kernel: np.ndarray,
    *,
    method: str = "bilinear",
    activation: str = "relu",
    combined: str = "sum",
    normalised: str = "positions",
    attended: str = "product",
    without_global: bool = False,
    swapped_results: bool = False,
) -> dict[str, np.ndarray]:
    """Attention over the places of an image, guided by global features (after Yan et al. 2019 and Jetley et al. 2018).

    Args:
        features: (B, h, w, C).
        global_features: (B, h', w', C'), resized to (h, w).
        local_conv_kernel, global_conv_kernel, score_conv_kernel: (1, 1, C, F), (1, 1, C', F), (1, 1, F, 1).

    Returns:
        ``attended`` (B, h, w, C), features times map, and ``map`` (B, h, w, 1), the softmax over all places.
    """
    local, wide = spatial_hidden(features, global_features, local_conv_kernel, global_conv_kernel, method)
    wide = 0 * wide if without_global else wide
    if activation == "each":
        hidden = np.maximum(local, 0) + np.maximum(wide, 0)
    elif activation == "on the scores":
        hidden = local + wide if combined == "sum" else local * wide
    else:
        together = local + wide if combined == "sum" else local * wide
        hidden = {"relu": np.maximum(together, 0), "none": together, "tanh": np.tanh(together)}[activation]
    scores = np.einsum("bhwf,fo->bhwo", hidden, score_conv_kernel[0, 0])
    scores = np.maximum(scores, 0) if activation == "on the scores" else scores
    axes: dict[str, Any] = {"positions": (1, 2), "channels": -1, "rows": 1, "columns": 2, "batch": (0, 1, 2)}
    if normalised in axes:
        weights = attention.softmax(scores, axis=axes[normalised])
    else:
        weights = {"sigmoid": 1 / (1 + np.exp(-scores)), "none": scores}[normalised]
    product = features * weights
    result = {
        "product": product,
        "local": local * weights,
        "hidden": hidden * weights,
        "global": resize(global_features, features.shape[1], features.shape[2], method) * weights,
        "features": features,
        "summed": product.sum(axis=(1, 2)),
        "residual": features + product,
    }[attended]
    return {"attended": weights, "map": result} if swapped_results else {"attended": result, "map": weights}

"""Oracle of lab 01: attention over the places of an image."""

from __future__ import annotations

import numpy as np

from autograder.oracles import attention


def resize(images: np.ndarray, height: int, width: int) -> np.ndarray:
    """Bilinear resize of (B, h, w, C) to (B, height, width, C), pixel centres at half-integers, edges repeated."""
    for axis, size in ((1, height), (2, width)):
        old = images.shape[axis]
        place = np.clip((np.arange(size) + 0.5) * old / size - 0.5, 0, old - 1)
        low = np.floor(place).astype(int)
        share = (place - low).reshape([-1 if each == axis else 1 for each in range(4)]).astype(images.dtype)
        after = images.take(np.minimum(low + 1, old - 1), axis=axis)
        images = images.take(low, axis=axis) * (1 - share) + after * share
    return images


def spatial_hidden(
    features: np.ndarray, global_features: np.ndarray, local_kernel: np.ndarray, global_kernel: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The two projections (B, h, w, F) that spatial attention adds up."""
    local = np.einsum("bhwc,cf->bhwf", features, local_kernel[0, 0])
    wide = np.einsum("bhwc,cf->bhwf", resize(global_features, *features.shape[1:3]), global_kernel[0, 0])
    return local, wide


def spatial_attention(
    features: np.ndarray,
    global_features: np.ndarray,
    local_conv_kernel: np.ndarray,
    global_conv_kernel: np.ndarray,
    score_conv_kernel: np.ndarray,
) -> dict[str, np.ndarray]:
    """Attention over the places of an image, guided by global features (after Yan et al. 2019 and Jetley et al. 2018).

    Args:
        features: (B, h, w, C).
        global_features: (B, h', w', C'), resized to (h, w).
        local_conv_kernel, global_conv_kernel, score_conv_kernel: (1, 1, C, F), (1, 1, C', F), (1, 1, F, 1).

    Returns:
        ``attended`` (B, h, w, C), features times map, and ``map`` (B, h, w, 1), the softmax over all places.
    """
    local, wide = spatial_hidden(features, global_features, local_conv_kernel, global_conv_kernel)
    scores = np.einsum("bhwf,fo->bhwo", np.maximum(local + wide, 0), score_conv_kernel[0, 0])
    batch, height, width, _ = scores.shape
    weights = attention.softmax(scores.reshape(batch, -1)).reshape(batch, height, width, 1)
    return {"attended": features * weights, "map": weights}

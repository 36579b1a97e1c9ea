"""Parts of earlier lectures that lecture 10 puts together: RMS norm, rotary positions, and the nucleus to draw from."""

from __future__ import annotations

import keras
import numpy as np
from keras import ops


def rotated(x, positions):
    """Turn the pair (2i, 2i + 1) of x (…, T, K) by position · 10,000^(−2i/K) (Su et al. 2021); positions (T,)."""
    width = x.shape[-1]
    angles = ops.cast(positions, "float32")[:, None] / 10_000.0 ** (np.arange(0, width, 2, dtype="float32") / width)
    cos, sin = ops.cos(angles), ops.sin(angles)  # (T, K/2)
    even, odd = x[..., 0::2], x[..., 1::2]
    pairs = ops.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1)  # (…, T, K/2, 2)
    return ops.reshape(pairs, ops.shape(x))


def nucleus(probabilities, p):  # (V,)
    """The most probable tokens until their mass reaches p, scaled to sum to 1; all others get 0.

    >>> nucleus(np.array([0.5, 0.25, 0.125, 0.125]), p=0.75).round(3)
    array([0.667, 0.333, 0.   , 0.   ])
    """
    order = np.argsort(-probabilities)
    kept = order[np.cumsum(probabilities[order]) - probabilities[order] < p]
    cut = np.zeros_like(probabilities)
    cut[kept] = probabilities[kept]
    return cut / cut.sum()


class PlainRMSNorm(keras.Layer):
    """Divide each token by the root of its mean square (Zhang and Sennrich 2019)."""

    def build(self, shape):
        self.gamma = self.add_weight(shape=(shape[-1],), initializer="ones", name="gamma")

    def call(self, x):  # (..., D)
        return x * ops.rsqrt(ops.mean(ops.square(x), axis=-1, keepdims=True) + 1e-6) * self.gamma

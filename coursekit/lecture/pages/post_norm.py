"""The encoder side of lecture 8's Transformer: lecture 4's block in its post-norm form, and lecture 5's sinusoids."""

from __future__ import annotations

import keras
import numpy as np
from keras import layers, ops

LONGEST = 64  # positions in the table


class PostNormEncoderBlock(keras.Layer):
    """Source tokens (B, S, D) read each other; a norm after each residual sum (Vaswani et al. 2017, section 3.1)."""

    def __init__(self, width: int, heads: int, hidden: int):
        super().__init__()
        self.read = layers.MultiHeadAttention(heads, width // heads)
        self.widen, self.narrow = layers.Dense(hidden, activation="relu"), layers.Dense(width)
        self.norms = [layers.LayerNormalization(epsilon=1e-6) for _ in range(2)]

    def call(self, x, visible):  # (B, S, D), (B, 1, S)
        x = self.norms[0](x + self.read(query=x, value=x, attention_mask=visible))
        return self.norms[1](x + self.narrow(self.widen(x)))  # (B, S, D)


class ScaledPositions(keras.Layer):
    """Vectors (B, T, D) times the root of D, plus the sinusoids of lecture 5; sine and cosine in turn, T up to 64."""

    def build(self, shape):
        width = shape[-1]
        angle = np.arange(LONGEST)[:, None] / 10_000 ** (np.arange(0, width, 2) / width)  # (64, D/2)
        self.rows = np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(LONGEST, width).astype("float32")

    def call(self, x):
        return x * x.shape[-1] ** 0.5 + ops.cast(self.rows, x.dtype)[: ops.shape(x)[1]]  # (B, T, D)

"""The ViT of lecture 9b, read from its class token or from the mean of its patches, and its table for larger images."""

from __future__ import annotations

import keras
import numpy as np
from keras import layers, ops

from coursekit.pages.vision_transformer import PlainPatchTokens


def plain_reader(side, reads, width=64, heads=4, hidden=128, blocks=2):
    """Digits (B, side, side, 1) to logits (B, 10), read from the class token or from the mean of the patches."""
    pixels = keras.Input((side, side, 1))
    x = PlainPatchTokens(2, width)(pixels)  # (B, N + 1, D)
    for _ in range(blocks):
        normed = layers.LayerNormalization(epsilon=1e-6)(x)
        x = x + layers.MultiHeadAttention(heads, width // heads)(query=normed, value=normed)
        normed = layers.LayerNormalization(epsilon=1e-6)(x)
        x = x + layers.Dense(width)(layers.Dense(hidden, activation="gelu")(normed))
    x = layers.LayerNormalization(epsilon=1e-6)(x)
    read = x[:, 0] if reads == "class token" else ops.mean(x[:, 1:], axis=1)  # (B, D)
    return keras.Model(pixels, layers.Dense(10)(layers.Dropout(0.1)(read)))


def enlarged(table, times):
    """A position table (1 + s², D) for images `times` as large, (1 + (times·s)², D): interpolated in two dimensions."""
    side, width = round((len(table) - 1) ** 0.5), table.shape[1]
    grid = ops.image.resize(table[1:].reshape(side, side, width), (times * side, times * side))  # bilinear
    return np.concatenate([table[:1], np.asarray(grid).reshape(-1, width)])

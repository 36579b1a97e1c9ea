"""Lecture 9b: a position table for larger images, and a video model."""

from __future__ import annotations

import keras
import numpy as np
from keras import layers, ops


def enlarged(table, times):
    """A position table (1 + s², D) for images `times` as large, (1 + (times·s)², D): interpolated in two dimensions."""
    side, width = round((len(table) - 1) ** 0.5), table.shape[1]
    grid = ops.image.resize(table[1:].reshape(side, side, width), (times * side, times * side))  # bilinear
    return np.concatenate([table[:1], np.asarray(grid).reshape(-1, width)])


def read_along(axes, x):
    """Tokens (B, moments, positions, D) read each other along these axes: pre-norm attention and its residual."""
    normed = layers.LayerNormalization(epsilon=1e-6)(x)
    return x + layers.MultiHeadAttention(4, x.shape[-1] // 4, attention_axes=axes)(query=normed, value=normed)


class PlainClipPositions(keras.Layer):
    """Add to tokens (B, moments, positions, D) a learned vector of their moment and one of their position."""

    def build(self, shape):
        _, moments, positions, width = shape
        start = keras.initializers.RandomNormal(stddev=0.02)
        self.moments = self.add_weight(shape=(moments, 1, width), initializer=start, name="moments")
        self.positions = self.add_weight(shape=(1, positions, width), initializer=start, name="positions")

    def call(self, x):
        return x + self.moments + self.positions


def plain_video_reader(frames, kind, width=48, hidden=96, blocks=2):
    """Clips (B, 8, 12, 12, 1) to logits (B, 4), by tubelets of so many frames × 4 × 4 pixels."""
    clips = keras.Input((8, 12, 12, 1))
    x = layers.Conv3D(width, (frames, 4, 4), strides=(frames, 4, 4))(clips)  # (B, moments, 3, 3, D)
    x = PlainClipPositions()(layers.Reshape((-1, 9, width))(x))  # (B, moments, positions, D)
    for _ in range(blocks):
        x = read_along((2,), x)  # the positions of the own moment
        if kind == "factorised":
            x = read_along((1,), x)  # the own position at all moments
        normed = layers.LayerNormalization(epsilon=1e-6)(x)
        x = x + layers.Dense(width)(layers.Dense(hidden, activation="gelu")(normed))
    x = layers.LayerNormalization(epsilon=1e-6)(x)
    return keras.Model(clips, layers.Dense(4)(ops.mean(x, axis=(1, 2))))  # the head reads the mean of all tokens

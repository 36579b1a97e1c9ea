"""The patch tokens and the Vision Transformer of lecture 9, as its page shows them."""

from __future__ import annotations

import keras
from keras import layers, ops


class PlainPatchTokens(keras.Layer):
    """Images (B, h, w, C) to tokens (B, N + 1, D): patches projected, class token in front, positions added."""

    def __init__(self, patch, width, spread=0.02):
        super().__init__()
        self.project = layers.Conv2D(width, kernel_size=patch, strides=patch)
        self.start = keras.initializers.RandomNormal(stddev=spread)

    def build(self, shape):
        self.project.build(shape)
        _, rows, columns, width = self.project.compute_output_shape(shape)
        self.class_token = self.add_weight(shape=(1, 1, width), initializer="zeros", name="class_token")
        self.positions = self.add_weight(shape=(rows * columns + 1, width), initializer=self.start, name="positions")

    def call(self, images):
        patches = self.project(images)  # (B, h/P, w/P, D)
        batch, width = ops.shape(patches)[0], patches.shape[-1]
        tokens = ops.reshape(patches, (batch, -1, width))  # (B, N, D)
        first = ops.tile(self.class_token, (batch, 1, 1))  # (B, 1, D), the same for every image
        return ops.concatenate([first, tokens], axis=1) + self.positions  # (B, N + 1, D)


def plain_vit(image_shape, patch, width, heads, hidden, blocks, classes):
    """A Vision Transformer, images -> logits, and a model on the same weights that returns all attention weights."""
    images = keras.Input(image_shape)  # (B, h, w, C)
    x, maps = PlainPatchTokens(patch, width)(images), []  # (B, N + 1, D)
    for _ in range(blocks):
        normed = layers.LayerNormalization(epsilon=1e-6)(x)
        attention = layers.MultiHeadAttention(heads, width // heads)
        read, weights = attention(query=normed, value=normed, return_attention_scores=True)
        x = x + read
        widened = layers.Dense(hidden, activation="gelu")(layers.LayerNormalization(epsilon=1e-6)(x))  # (B, N + 1, F)
        x = x + layers.Dense(width)(widened)
        maps.append(weights)  # (B, H, N + 1, N + 1)
    class_token = layers.LayerNormalization(epsilon=1e-6)(x)[:, 0]  # (B, D): the head reads this token alone
    logits = layers.Dense(classes, dtype="float32")(layers.Dropout(0.1)(class_token))  # (B, classes)
    return keras.Model(images, logits, name="vit"), keras.Model(images, maps)

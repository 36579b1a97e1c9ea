"""The classifier of film reviews of lecture 6."""

from __future__ import annotations

import keras
from keras import layers, ops


class PlainReviewClassifier(keras.Model):
    """Ids (B, T) to the probability that a review is positive (B, 1); id 0 is padding."""

    def __init__(self, length=200, width=32, heads=2, dropout=0.1, masked=("attention", "mean")):
        super().__init__()
        self.masked = masked
        self.words, self.positions = layers.Embedding(20_000, width), layers.Embedding(length, width)
        self.attention = layers.MultiHeadAttention(heads, key_dim=width)
        self.feed_forward = keras.Sequential([layers.Dense(width, activation="relu"), layers.Dense(width)])
        self.norm1, self.norm2 = (layers.LayerNormalization(epsilon=1e-6) for _ in range(2))
        self.dropout, self.mean = layers.Dropout(dropout), layers.GlobalAveragePooling1D()
        self.hidden, self.output_unit = layers.Dense(20, activation="relu"), layers.Dense(1, "sigmoid", dtype="float32")

    def call(self, ids, training=False):
        is_word = ops.not_equal(ids, 0)  # (B, T): the mask
        keys = is_word[:, None] if "attention" in self.masked else None  # (B, 1, T): no query sees padding
        x = self.words(ids) + self.positions(ops.arange(ops.shape(ids)[1]))  # (B, T, D)
        attended = self.attention(query=x, value=x, attention_mask=keys)  # (B, T, D)
        x = self.norm1(x + self.dropout(attended, training=training))
        x = self.norm2(x + self.dropout(self.feed_forward(x), training=training))  # (B, T, D)
        x = self.mean(x, mask=is_word if "mean" in self.masked else None)  # (B, D)
        x = self.hidden(self.dropout(x, training=training))  # (B, 20)
        return self.output_unit(self.dropout(x, training=training))  # (B, 1)

"""The decoder block, the whole Transformer and the greedy writer of lecture 8, as its page shows them."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

from coursekit.lecture.pages.post_norm import PostNormEncoderBlock, ScaledPositions


class PlainDecoderBlock(keras.Layer):
    """Target tokens (B, T, D) read themselves, then the memory (B, S, D); post-norm, without dropout."""

    def __init__(self, width, heads, hidden, causal=True):
        super().__init__()
        self.causal = causal
        self.read_target, self.read_source = (layers.MultiHeadAttention(heads, width // heads) for _ in range(2))
        self.widen, self.narrow = layers.Dense(hidden, activation="relu"), layers.Dense(width)
        self.norms = [layers.LayerNormalization(epsilon=1e-6) for _ in range(3)]

    def call(self, x, memory, visible):  # visible (B, 1, S): True where the source is not padding
        read = self.read_target(query=x, value=x, use_causal_mask=self.causal)  # (B, T, D)
        x = self.norms[0](x + read)
        read = self.read_source(query=x, value=memory, attention_mask=visible)  # (B, T, D)
        x = self.norms[1](x + read)
        return self.norms[2](x + self.narrow(self.widen(x)))  # (B, T, D)


def plain_transformer(vocabulary, width=48, heads=4, hidden=96, blocks=2, causal=True):
    """The model (source (B, S), what the decoder reads (B, T)) -> logits (B, T, V), with one table for everything."""
    source, reads = keras.Input((None,), dtype="int32"), keras.Input((None,), dtype="int32")
    small = keras.initializers.RandomNormal(stddev=width**-0.5)
    table = layers.ReversibleEmbedding(vocabulary, width, embeddings_initializer=small, reverse_dtype="float32")
    visible = layers.Lambda(lambda ids: ops.not_equal(ids, 0)[:, None, :])(source)  # (B, 1, S)
    memory, x = ScaledPositions()(table(source)), ScaledPositions()(table(reads))  # (B, S, D), (B, T, D)
    for _ in range(blocks):
        memory = PostNormEncoderBlock(width, heads, hidden)(memory, visible)
    for _ in range(blocks):
        x = PlainDecoderBlock(width, heads, hidden, causal)(x, memory, visible)
    return keras.Model([source, reads], table(x, reverse=True))


def write_greedily(model, source, start, length):
    """Write `length` tokens for each source (N, S), the most probable one each time: ids (N, length)."""
    predict = tf.function(lambda *inputs: model(inputs, training=False))
    written = np.full((len(source), length + 1), start, "int32")  # the start token, then positions to fill
    for t in range(length):
        logits = predict(tf.constant(source), tf.constant(written[:, :-1]))  # (N, T, V)
        written[:, t + 1] = np.argmax(logits[:, t], axis=-1)  # (N,)
    return written[:, 1:]

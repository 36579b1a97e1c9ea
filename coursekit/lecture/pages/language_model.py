"""Lecture 10's language model: a decoder-only Transformer in the form of 2023 (Touvron et al.), without a cache."""

from __future__ import annotations

import keras
from keras import layers, ops

from coursekit.lecture.pages.parts import PlainRMSNorm, rotated


class PlainRotaryAttention(keras.Layer):
    """Causal multi-head attention with rotary positions, without biases."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.split = (num_heads, d_model // num_heads)  # H, K
        self.w_q, self.w_k, self.w_v, self.w_o = (layers.Dense(d_model, use_bias=False) for _ in range(4))

    def look(self, x):  # (B, T, D)
        batch, length, _ = ops.shape(x)
        q, k, v = (
            ops.transpose(ops.reshape(dense(x), (batch, length, *self.split)), (0, 2, 1, 3))
            for dense in (self.w_q, self.w_k, self.w_v)
        )  # each (B, H, T, K)
        time = ops.arange(length)
        scores = ops.matmul(rotated(q, time), ops.transpose(rotated(k, time), (0, 1, 3, 2))) / self.split[1] ** 0.5
        return ops.softmax(ops.where(time[:, None] >= time, scores, -1e9)), v  # (B, H, T, T), (B, H, T, K)

    def call(self, x):  # (B, T, D)
        weights, v = self.look(x)
        heads = ops.transpose(ops.matmul(weights, v), (0, 2, 1, 3))  # (B, T, H, K)
        return self.w_o(ops.reshape(heads, ops.shape(x)))


class PlainGatedBlock(keras.Layer):
    """A pre-norm decoder block: attention, then a feed-forward network with a gate (SwiGLU, Shazeer 2020)."""

    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm1, self.norm2 = PlainRMSNorm(), PlainRMSNorm()
        self.attention = PlainRotaryAttention(d_model, num_heads)
        self.w_gate, self.w_up = (layers.Dense(d_ff, use_bias=False) for _ in range(2))
        self.w_down = layers.Dense(d_model, use_bias=False)

    def call(self, x):  # (B, T, D)
        x = x + self.attention(self.norm1(x))
        x_norm = self.norm2(x)
        return x + self.w_down(ops.silu(self.w_gate(x_norm)) * self.w_up(x_norm))


class PlainLanguageModel(keras.Model):
    """Ids (B, T) to the logits (B, T, V) of the next token; one table reads and predicts."""

    def __init__(self, vocab_size, d_model, num_layers, num_heads, d_ff):
        super().__init__()
        start = keras.initializers.RandomNormal(stddev=d_model**-0.5)
        self.table = self.add_weight(shape=(vocab_size, d_model), initializer=start, name="table")
        self.blocks = [PlainGatedBlock(d_model, num_heads, d_ff) for _ in range(num_layers)]
        self.norm = PlainRMSNorm()

    def call(self, ids):  # (B, T)
        x = ops.take(self.table, ids, axis=0) * self.table.shape[-1] ** 0.5  # (B, T, D)
        for block in self.blocks:
            x = block(x)
        return ops.matmul(self.norm(x), ops.transpose(self.table))  # (B, T, V)

"""The models of lecture 7, as its page shows them: a published BERT for news, and a classifier on the small BERT."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow_hub as hub
import tf_keras
from keras import ops
from tf_keras import layers

from coursekit.lecture import bert


class PlainFeedForward(keras.Layer):
    """Each token alone, (B, T, D) to (B, T, D), through a wider layer with GELU."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense_in, self.dense_out = keras.layers.Dense(d_ff, "gelu"), keras.layers.Dense(d_model)

    def call(self, x):
        wide = self.dense_in(x)  # (B, T, F)
        return self.dense_out(wide)


class PlainBertBlock(keras.Layer):
    """BERT's block: lecture 4's post-norm block with GELU in place of ReLU."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm="post"):
        super().__init__()
        self.attention = keras.layers.MultiHeadAttention(num_heads, d_model // num_heads)
        self.feed_forward = PlainFeedForward(d_model, d_ff)
        self.norm1, self.norm2 = (keras.layers.LayerNormalization(epsilon=1e-12) for _ in range(2))

    def call(self, x, attention_mask=None):  # (B, T, D), (B, 1, T)
        x = self.norm1(x + self.attention(query=x, value=x, attention_mask=attention_mask))
        return self.norm2(x + self.feed_forward(x))


class PlainNewsBert(keras.Model):
    """Ids (B, T), 0 for padding, to logits (B, 4): BERT, the mean over its tokens, and a new linear head."""

    def __init__(self, encoder, classes=4):
        super().__init__()
        self.words, self.positions = self.add_weight(encoder.by_word.shape), self.add_weight(encoder.by_position.shape)
        self.words.assign(encoder.by_word)  # (V, D)
        self.positions.assign(encoder.by_position)  # (512, D)
        self.norm, self.blocks = encoder.first_norm, encoder.blocks
        self.head = keras.layers.Dense(classes, kernel_initializer="zeros")

    def vectors(self, ids):  # (B, T)
        seen = ids > 0
        x = self.norm(ops.take(self.words, ids, axis=0) + self.positions[: ops.shape(ids)[1]])  # (B, T, D)
        for block in self.blocks:
            x = block(x, attention_mask=seen[:, None])
        total = ops.sum(x * ops.cast(seen, x.dtype)[..., None], axis=1)  # (B, D): the mean but for its length
        return total / ops.norm(total, axis=-1, keepdims=True)

    def call(self, ids):
        return self.head(self.vectors(ids) * self.words.shape[1] ** 0.5)  # numbers of size 1


def padded(rows):
    """Rows of ids as one array (B, T), 0 behind the shorter ones."""
    longest = max(map(len, rows))
    return np.array([row + [0] * (longest - len(row)) for row in rows], "int32")


def in_batches(read, rows, size=32):
    """What `read` gives for all rows; those of like length go together, so that little padding is read."""
    order = np.argsort([len(row) for row in rows], kind="stable")
    starts = range(0, len(rows), size)
    parts = [read(padded([rows[number] for number in order[start : start + size]])) for start in starts]
    return np.concatenate(parts)[np.argsort(order)]


def table_means(table, rows):
    """The mean of the table's rows for each text, at length 1; without [CLS] and [SEP]. No block, no position."""
    means = np.stack([table[row[1:-1]].mean(axis=0) for row in rows])  # (N, D)
    return means / np.linalg.norm(means, axis=1, keepdims=True)


def fine_tune(model, rows, labels, rate=1e-4, epochs=8, size=16, seed=0):
    """Let every trainable number learn; the rate climbs for a tenth of the steps, then falls to zero."""
    rng, steps = np.random.default_rng(seed), epochs * -(-len(rows) // size)
    warm_up = max(1, steps // 10)
    schedule = keras.optimizers.schedules.CosineDecay(0.0, steps - warm_up, warmup_target=rate, warmup_steps=warm_up)
    optimizer = keras.optimizers.AdamW(schedule, weight_decay=0.01, global_clipnorm=1.0)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, jit_compile=False)
    for _ in range(epochs):
        order = np.argsort([len(row) for row in rows] + rng.normal(0, 9, len(rows)))  # of like length, in new company
        for start in rng.permutation(range(0, len(rows), size)):
            part = order[start : start + size]
            model.train_on_batch(padded([rows[number] for number in part]), labels[part])


class PlainLowRank(keras.Layer):
    """LoRA: a projection (D to H, K) that stays, beside a trained product A B of rank r (Hu et al. 2022)."""

    def __init__(self, projection, rank):
        super().__init__()
        self.projection = projection
        projection.trainable = False
        d_model, heads, size = projection.kernel.shape
        start = keras.initializers.RandomNormal(stddev=d_model**-0.5)
        self.down = self.add_weight(shape=(d_model, rank), initializer=start)  # A
        self.up = self.add_weight(shape=(rank, heads, size), initializer="zeros")  # B: at first nothing is added

    def call(self, x):  # (B, T, D)
        return self.projection(x) + ops.einsum("btd,dr,rhk->bthk", x, self.down, self.up)


def plain_classifier(encoder, classes=4, trainable=True):
    """A classifier on a pre-trained encoder: three rows of ids, each (B, T), to probabilities (B, classes)."""
    rows = {name: layers.Input((None,), dtype="int32", name=name) for name in bert.INPUTS}
    body = hub.KerasLayer(encoder, trainable=trainable)
    head = tf_keras.Sequential([layers.Dense(16, "relu"), layers.Dropout(0.2), layers.Dense(classes, "softmax")])
    return tf_keras.Model(rows, head(body(rows)["pooled_output"]))  # pooled: (B, D), one vector a text

"""A small pre-norm Transformer from the word pieces of a sentence to those of its translation, and its search."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops
from sentence_pieces import END, PAD, START

D, H, F, BLOCKS, DROPOUT = 128, 4, 256, 3, 0.1
PENALTY = 0.6  # of the length, in the search


def positions(length: int) -> np.ndarray:
    """Return the sinusoids of section 3.5 of the paper, (length, D), here as sines beside cosines."""
    angles = np.arange(length)[:, None] * np.exp(-np.log(10_000) * np.arange(0, D, 2) / D)  # (length, D/2)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype("float32")


def build(vocabulary_size: int, blocks: int = BLOCKS) -> keras.Model:
    """Return a pre-norm encoder-decoder from ids (B, S) and (B, T) to logits (B, T, V), one embedding for all three."""
    source = keras.Input((None,), dtype="int32", name="source")
    target = keras.Input((None,), dtype="int32", name="target")
    embedding = layers.ReversibleEmbedding(
        vocabulary_size, D, embeddings_initializer=keras.initializers.RandomNormal(stddev=D**-0.5)
    )
    table = positions(512)
    visible = layers.Lambda(lambda ids: ops.not_equal(ids, PAD)[:, None, :])(source)  # (B, 1, S)

    def embed(ids):
        place = layers.Lambda(lambda x: x * D**0.5 + ops.convert_to_tensor(table)[: ops.shape(x)[1]])
        return layers.Dropout(DROPOUT)(place(embedding(ids)))  # (B, T, D)

    def added(x, sub_layer, **arguments):
        normed = layers.LayerNormalization(epsilon=1e-6)(x)
        arguments = {"query": normed, "value": normed} | arguments if arguments else {"inputs": normed}
        return x + layers.Dropout(DROPOUT)(sub_layer(**arguments))  # (B, T, D)

    def attention():
        return layers.MultiHeadAttention(H, D // H, dropout=DROPOUT)

    def feed_forward():
        return keras.Sequential([layers.Dense(F, activation="relu"), layers.Dropout(DROPOUT), layers.Dense(D)])

    x = embed(source)  # (B, S, D)
    for _ in range(blocks):
        x = added(x, attention(), attention_mask=visible)
        x = added(x, feed_forward())
    memory = layers.LayerNormalization(epsilon=1e-6)(x)  # (B, S, D)
    x = embed(target)  # (B, T, D)
    for _ in range(blocks):
        x = added(x, attention(), use_causal_mask=True)
        x = added(x, attention(), value=memory, attention_mask=visible)
        x = added(x, feed_forward())
    x = layers.LayerNormalization(epsilon=1e-6)(x)
    return keras.Model([source, target], embedding(x, reverse=True), name="transformer")


def translate(model: keras.Model, sources: list[np.ndarray], beam: int) -> list[np.ndarray]:
    """Return the best translation of each source by beam search; a beam of 1 is greedy decoding."""

    @tf.function(reduce_retracing=True)
    def next_tokens(source, prefix, place):
        logits = model([source, prefix], training=False)[:, place]  # (B·k, V)
        return tf.math.top_k(ops.log_softmax(logits), beam)  # (B·k, k), twice

    order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
    answers: dict[int, np.ndarray] = {}
    for start in range(0, len(order), 50):
        chosen = order[start : start + 50]  # sentences of about one length
        source = np.zeros((len(chosen), max(len(sources[i]) for i in chosen)), "int32")  # (B, S)
        for row, i in zip(source, chosen, strict=True):
            row[: len(sources[i])] = sources[i]
        answers |= zip(chosen, search(next_tokens, source, beam, source.shape[1] + 15), strict=True)
    return [answers[i] for i in range(len(sources))]


def search(next_tokens, source: np.ndarray, k: int, length: int) -> np.ndarray:
    """Search with a beam of k for a batch of sources (B, S), writing at most `length` tokens; returns ids (B, length).

    A hypothesis with an end leaves the beam. Hypotheses are compared by log-probability / ((5 + n)/6)^PENALTY, n tokens
    (Wu et al., 2016, equation 14), those without an end after `length` tokens as well.
    """
    rows = np.full((len(source), k, length + 1), PAD, "int32")
    rows[:, :, 0] = START
    total = np.full((len(source), k), -np.inf)
    total[:, 0] = 0.0  # k equal beginnings are one
    best, best_score = rows[:, 0].copy(), np.full(len(source), -np.inf)
    asked = tf.repeat(source, k, axis=0)  # (B·k, S)
    for place in range(length):
        logs, ids = next_tokens(asked, rows[:, :, :-1].reshape(-1, length), tf.constant(place))
        options = (total[:, :, None] + np.reshape(logs, (-1, k, k))).reshape(-1, k * k)  # (B, k·k)
        chosen = np.argsort(-options, axis=1, kind="stable")[:, :k]  # (B, k)
        total = np.take_along_axis(options, chosen, axis=1)
        rows = np.take_along_axis(rows, chosen[:, :, None] // k, axis=1)
        rows[:, :, place + 1] = np.take_along_axis(np.reshape(ids, (-1, k * k)), chosen, axis=1)
        closed = (rows[:, :, place + 1] == END) | (place + 1 == length)  # (B, k)
        score = np.where(closed, total / ((6 + place) / 6) ** PENALTY, -np.inf)
        first = score.argmax(axis=1)  # (B,)
        better = score[np.arange(len(source)), first] > best_score
        best[better] = rows[better, first[better]]
        best_score = np.maximum(best_score, score.max(axis=1))
        total = np.where(closed, -np.inf, total)
        if not np.isfinite(total).any():
            break
    return best[:, 1:]

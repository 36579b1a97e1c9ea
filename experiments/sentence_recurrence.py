"""Recurrent networks with attention from the word pieces of a sentence to those of its translation.

Both decoders ask for a new mixture of the source at every step. In Bahdanau's (Bahdanau, Cho and Bengio, 2015, sections
3.1 and 3.2) the state of the step before asks, and the mixture enters the next state. In Luong's (Luong, Pham and
Manning, 2015, section 3.1) the recurrence runs first, and its new state asks. Nothing else differs here: both read the
source with the same encoder, and both say the next piece from the new state and the mixture (Luong's equation 5).
Luong's "input feeding" (their section 3.3) is left out, so that in training all states are there before any of them
asks.
"""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops
from sentence_pieces import END, PAD, START

D, DROPOUT = 128, 0.1
SCORES = {
    "Bahdanau": "additive",
    "Luong, dot": "dot",
    "Luong, general": "general",
    "Luong, additive": "additive",  # Luong's "concat"
}


class Attention(keras.Layer):
    """The score of every place of the source for a query, their softmax, and the mixture of the source by it."""

    def __init__(self, score: str, width: int, **kwargs):
        super().__init__(**kwargs)
        self.score = score
        if score == "general":
            self.key = layers.Dense(width, use_bias=False)
        elif score == "additive":
            self.key, self.query = layers.Dense(D), layers.Dense(D, use_bias=False)
            self.total = layers.Dense(1, use_bias=False)

    def keys(self, memory):
        """What the scores need of the source (B, S, W), once for all queries: (B, S, K)."""
        return memory if self.score == "dot" else self.key(memory)

    def call(self, query, keys, memory, visible):
        """Mixtures (B, T, W) and weights (B, T, S) for queries (B, T, W); the source as `Translator.read` gives it."""
        if self.score == "additive":
            scores = self.total(ops.tanh(self.query(query)[:, :, None] + keys[:, None]))[..., 0]  # (B, T, S)
        else:
            scores = ops.matmul(query, ops.transpose(keys, (0, 2, 1)))  # (B, T, S)
        weights = ops.softmax(ops.where(visible[:, None], scores, -1e9), axis=-1)
        return ops.matmul(weights, memory), weights


class Translator(keras.Model):
    """From ids (B, S) and the ids read so far (B, T) to logits (B, T, V).

    Args:
        kind: a key of `SCORES`.
        vocabulary_size: V; one embedding serves the source, the target and the logits.
        units: of each direction of the encoder; the decoder's state has twice as many.
    """

    def __init__(self, kind: str, vocabulary_size: int, units: int, **kwargs):
        super().__init__(**kwargs)
        self.kind, self.units = kind, units
        self.embedding = layers.ReversibleEmbedding(
            vocabulary_size, D, embeddings_initializer=keras.initializers.RandomNormal(stddev=D**-0.5)
        )
        self.drop_words, self.drop_mix = layers.Dropout(DROPOUT), layers.Dropout(DROPOUT)
        self.encoder = layers.Bidirectional(layers.GRU(units, return_sequences=True))
        self.first = layers.Dense(2 * units, activation="tanh")
        self.cell = layers.GRUCell(2 * units)
        self.along = layers.RNN(self.cell, return_sequences=True)
        self.attention = Attention(SCORES[kind], 2 * units)
        self.mix = layers.Dense(D, activation="tanh")

    def build(self, shapes):
        """Nothing: each layer makes its variables when it is first called."""

    def embed(self, ids, training=None):
        return self.drop_words(self.embedding(ids) * D**0.5, training=training)  # (B, T, D)

    def read(self, source, training=None):
        """The source (B, S) as keys, annotations (B, S, 2U) and visible places, and the first state (B, 2U)."""
        visible = ops.not_equal(source, PAD)
        memory = self.encoder(self.embed(source, training), mask=visible)  # (B, S, 2U)
        state = self.first(memory[:, 0, self.units :])  # the backward states end at the first word
        return (self.attention.keys(memory), memory, visible), state

    def step(self, word, state, source):
        """One embedded word (B, D) further: the next state (B, 2U), mixture (B, 2U) and weights (B, S)."""
        if self.kind == "Bahdanau":
            mixture, weights = self.attention(state[:, None], *source)  # (B, 1, 2U), (B, 1, S)
            state, _ = self.cell(ops.concatenate([word, mixture[:, 0]], axis=-1), [state])
        else:
            state, _ = self.cell(word, [state])
            mixture, weights = self.attention(state[:, None], *source)
        return state, mixture[:, 0], weights[:, 0]

    def say(self, state, mixture, training=None):
        """Logits (..., V) of the next piece."""
        mixed = self.mix(ops.concatenate([state, mixture], axis=-1))  # (..., D)
        return self.embedding(self.drop_mix(mixed, training=training), reverse=True)

    def look(self, source, reads, training=None):
        """Teacher forcing: the states and mixtures (B, T, 2U), and the weights (B, T, S) with which each was made."""
        source, state = self.read(source, training)
        words = self.embed(reads, training)  # (B, T, D)
        if self.kind != "Bahdanau":
            states = self.along(words, initial_state=state)  # (B, T, 2U), without a look at the source
            return states, *self.attention(states, *source)
        nothing = ops.zeros_like(state), ops.cast(ops.zeros_like(source[2]), state.dtype)
        steps = tf.scan(  # one after the other: each needs the state before it
            lambda before, word: self.step(word, before[0], source), ops.swapaxes(words, 0, 1), (state, *nothing)
        )
        return tuple(ops.swapaxes(each, 0, 1) for each in steps)  # (T, B, ...) -> (B, T, ...)

    def call(self, inputs, training=None):
        source, reads = inputs
        states, mixtures, _ = self.look(source, reads, training)
        return self.say(states, mixtures, training)


def built(kind: str, vocabulary_size: int, units: int) -> Translator:
    """A translator with its variables made."""
    model = Translator(kind, vocabulary_size, units)
    model([np.ones((1, 2), "int32"), np.ones((1, 2), "int32")])
    return model


def greedy(model: Translator, sources: list[np.ndarray], together: int = 100) -> list[np.ndarray]:
    """Write the most probable piece at each step, for each source at most 15 pieces more than it has."""
    read = tf.function(model.read, reduce_retracing=True)

    @tf.function(reduce_retracing=True)
    def write(pieces, state, source):
        state, mixture, _ = model.step(model.embed(pieces), state, source)
        return ops.cast(ops.argmax(model.say(state, mixture), axis=-1), "int32"), state

    order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
    answers: dict[int, np.ndarray] = {}
    for begin in range(0, len(order), together):
        chosen = order[begin : begin + together]  # sentences of about one length
        length = max(len(sources[i]) for i in chosen)
        source, state = read(tf.constant(padded([sources[i] for i in chosen], length)))
        pieces, written = tf.fill([len(chosen)], START), []
        for _ in range(length + 15):
            pieces, state = write(pieces, state, source)
            written.append(pieces.numpy())
            if np.all(np.any(np.array(written) == END, axis=0)):
                break
        answers |= zip(chosen, np.stack(written, axis=1), strict=True)
    return [answers[i] for i in range(len(sources))]


def padded(rows: list[np.ndarray], length: int) -> np.ndarray:
    """Rows of ids, filled up to one length: (N, length)."""
    filled = np.full((len(rows), length), PAD, "int32")
    for place, row in zip(filled, rows, strict=True):
        place[: len(row)] = row
    return filled

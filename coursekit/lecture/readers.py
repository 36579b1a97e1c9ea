"""One attention layer that reads ambiguous words, with a chosen start and a chosen size of its steps (lecture 2).

The embeddings are random and frozen, and the read-out sees nothing but what attention returns: whatever is learned is
learned in W_q, W_k, W_v and the read-out.
"""

from __future__ import annotations

from dataclasses import dataclass

import keras
import numpy as np
from keras import layers, ops

from coursekit.lecture.clauses import MEANINGS, Corpus

WIDTH = 64  # of embeddings, queries, keys and values


@dataclass(frozen=True)
class Run:
    """A trained reader.

    Attributes:
        losses: training loss by epoch.
        correct: (N, T) bool for the test sentences; meaningful at the ambiguous words.
        weights, start: (N, T, T) for the test sentences, after training and before it.
        accuracy: share of the ambiguous words of the test sentences that are read correctly.
    """

    losses: list[float]
    correct: np.ndarray
    weights: np.ndarray
    start: np.ndarray
    accuracy: float


def projection(x, start: float, step: float):
    """A matrix W = step · U that starts at start · Glorot; an optimizer's step of size r in U moves W by step · r."""
    glorot = keras.initializers.VarianceScaling((start / step) ** 2, "fan_avg", "uniform")
    return step * layers.Dense(WIDTH, use_bias=False, kernel_initializer=glorot)(x)


def reader(corpus: Corpus, q: tuple[float, float], k: tuple[float, float]) -> tuple[keras.Model, keras.Model]:
    """Build a reader: scores q·k without a division, W_q and W_k with (start, step) as in `projection`.

    Dividing by √64 is the same as q = (1/8, 1/8), k = (1, 1). Returns the model from ids (B, T) to meanings (B, T, 6),
    and one that returns its weights (B, T, T).
    """
    tokens = keras.Input(shape=(corpus.ids.shape[1],), dtype="int32")  # (B, T)
    frozen = keras.initializers.RandomNormal(stddev=0.7)
    x = layers.Embedding(len(corpus.vocabulary), WIDTH, embeddings_initializer=frozen, trainable=False)(tokens)
    scores = ops.matmul(projection(x, *q), ops.transpose(projection(x, *k), axes=(0, 2, 1)))  # (B, T, T)
    padding = ops.cast(ops.expand_dims(tokens, axis=1) == 0, "float32")  # (B, 1, T)
    weights = ops.softmax(scores - 1e9 * padding, axis=-1)  # (B, T, T)
    z = ops.matmul(weights, projection(x, 1.0, 1.0))  # (B, T, D)
    return keras.Model(tokens, layers.Dense(len(MEANINGS))(z)), keras.Model(tokens, weights)


def trained(
    corpus: Corpus, q: tuple[float, float], k: tuple[float, float], seed: int, epochs: int, rate: float = 1e-3
) -> Run:
    """Train a reader (Adam, batches of 64) and read the test sentences; the seed also draws the embeddings."""
    keras.utils.set_random_seed(seed)
    model, attention = reader(corpus, q, k)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=-1)
    model.compile(optimizer=keras.optimizers.Adam(rate), loss=loss, steps_per_execution=47)
    ids, labels = corpus.ids[corpus.test], corpus.labels[corpus.test]
    start = ops.convert_to_numpy(attention(ids))
    fitted = model.fit(corpus.ids[corpus.train], corpus.labels[corpus.train], batch_size=64, epochs=epochs, verbose=0)
    correct = ops.convert_to_numpy(model(ids)).argmax(axis=-1) == labels  # (N, T)
    weights = ops.convert_to_numpy(attention(ids))
    return Run(fitted.history["loss"], correct, weights, start, float(correct[labels >= 0].mean()))


# Start × step: scores that are soft or sharp at the start, and moved in small or large steps by one optimizer's step.
# Each row is ((start, step) of W_q, (start, step) of W_k); soft and small is the formula with its division.
DESIGN = {
    ("soft", "small"): ((1 / 8, 1 / 8), (1.0, 1.0)),
    ("soft", "large"): ((1 / 8, 1.0), (1.0, 8.0)),
    ("sharp", "small"): ((1.0, 1 / 8), (1.0, 1 / 8)),
    ("sharp", "large"): ((1.0, 1.0), (1.0, 1.0)),
}


def weight_on_clue(corpus: Corpus, run: Run) -> tuple[np.ndarray, np.ndarray]:
    """The weight that each ambiguous word of the test sentences puts on the clue that decides it, and an equal weight.

    Both (M,), in the order of the ambiguous words.
    """
    ids = corpus.ids[corpus.test]
    found = (run.weights * corpus.deciding()).sum(axis=-1)  # (N, T)
    equal = np.repeat(1 / (ids > 0).sum(axis=1)[:, None], ids.shape[1], axis=1)
    at = corpus.labels[corpus.test] >= 0
    return found[at], equal[at]

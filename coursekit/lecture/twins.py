"""A task that cannot be solved without order: does *brown* come before *black*? Every sentence has a twin.

A sentence has 12 tokens: *brown* (id 2) and *black* (id 3) exactly once each, the rest is filler. Its twin swaps them.
Both hold the same bag of words, and their labels are opposite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
from keras import layers

if TYPE_CHECKING:
    from numpy.typing import NDArray

LENGTH, VOCABULARY, WIDTH = 12, 20, 32


def pairs(count: int, seed: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Draw ids (2·count, 12) and labels (2·count,): the second half holds the twins of the first."""
    rng = np.random.default_rng(seed)
    ids = rng.integers(4, VOCABULARY, size=(count, LENGTH))  # filler
    positions = np.array([rng.choice(LENGTH, size=2, replace=False) for _ in range(count)])  # (count, 2)
    np.put_along_axis(ids, positions, [[2, 3]], axis=1)
    brown_first = (positions[:, 0] < positions[:, 1]).astype("float32")  # (count,)
    twins = np.select([ids == 2, ids == 3], [3, 2], ids)  # (count, 12)
    return np.concatenate([ids, twins]).astype("int32"), np.concatenate([brown_first, 1 - brown_first])


def reader(positions: Callable[[Any], Any]) -> keras.Model:
    """Build a model of one attention layer: ids (B, 12) to the probability (B, 1) that *brown* comes first.

    Args:
        positions: takes the tokens (B, T, D) to tokens that know their positions; the identity for none.
    """
    ids = keras.Input((LENGTH,), dtype="int32")  # (B, T)
    x = positions(layers.Embedding(VOCABULARY, WIDTH)(ids))  # (B, T, D)
    x = x + layers.MultiHeadAttention(num_heads=2, key_dim=WIDTH // 2)(query=x, value=x)  # (B, T, D)
    x = layers.LayerNormalization()(x)  # (B, T, D)
    x = x + layers.Dense(WIDTH)(layers.Dense(2 * WIDTH, activation="relu")(x))  # (B, T, D)
    pooled = layers.GlobalAveragePooling1D()(x)  # (B, D)
    return keras.Model(ids, layers.Dense(1, activation="sigmoid")(pooled))  # (B, 1)


def trained(positions: Callable[[Any], Any], seed: int, epochs: int = 6) -> tuple[keras.Model, list[float]]:
    """Train a reader on 2,000 sentences and their twins; returns it and its accuracy on 500 new pairs after each epoch.

    A twin whose probability equals its sentence's up to rounding counts as the same answer, so that exactly one of the
    two is correct: ties are one class.
    """
    keras.utils.set_random_seed(seed)
    model = reader(positions)
    model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy", jit_compile=False)
    ids, labels = pairs(2000, seed=0)
    new, expected = pairs(500, seed=1)
    accuracy = []
    for _ in range(epochs):
        model.fit(ids, labels, batch_size=64, epochs=1, verbose=0)
        guesses = np.round(np.asarray(model(new))[:, 0], 5) > 0.5  # (1000,)
        accuracy.append(float((guesses == expected.astype(bool)).mean()))
    return model, accuracy

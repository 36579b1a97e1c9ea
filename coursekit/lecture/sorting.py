"""A task that needs every token and takes seconds to learn: sort eight digits.

Input: eight random digits. Output: the same digits in rising order, one per position. Guessing costs ln 10 = 2.30; a
model that knows the position and ignores the digits has a loss of about 1.61, since small digits come first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
from keras import layers

if TYPE_CHECKING:
    from numpy.typing import NDArray

LENGTH, BATCH, WINDOW = 8, 64, 25  # WINDOW: steps behind one number of a curve


def glorot(width: int) -> keras.initializers.Initializer:
    """Glorot's uniform start for attention as wide as its input, written out: versions of Keras differ in theirs."""
    limit = (3 / width) ** 0.5  # √(6 / (fan in + fan out))
    return keras.initializers.RandomUniform(-limit, limit)


def digits(steps: int, seed: int = 0) -> NDArray[np.int64]:
    """Draw the inputs of a training run: (steps, BATCH, LENGTH), digits from 0 to 9.

    >>> digits(steps=100).shape == (100, BATCH, LENGTH)
    True
    """
    return np.random.default_rng(seed).integers(0, 10, size=(steps, BATCH, LENGTH))


def sorter(block: Callable[[], Any], depth: int, *, final_norm: bool = True, width: int = 32) -> keras.Model:
    """Build a model that sorts: embeddings of digit and position, `depth` blocks, a score for each digit.

    Args:
        block: makes a fresh block each time it is called; a block takes (B, T, D) to (B, T, D).
        depth: the number of blocks.
        final_norm: whether a layer norm follows the last block, as pre-norm needs it.
        width: D.

    Returns:
        A model from ids (B, 8) to scores (B, 8, 10).

    >>> model = sorter(lambda: keras.layers.Dense(32, activation="relu"), depth=2)
    >>> model(digits(steps=1)[0]).shape[1:]
    TensorShape([8, 10])
    """
    ids = keras.Input((LENGTH,), dtype="int32")  # (B, T)
    positions = keras.ops.cumsum(keras.ops.ones_like(ids), axis=1) - 1  # (B, T): 0 to 7 in every row
    x = layers.Embedding(10, width)(ids) + layers.Embedding(LENGTH, width)(positions)  # (B, T, D)
    for _ in range(depth):
        x = block()(x)  # (B, T, D)
    if final_norm:
        x = layers.LayerNormalization(epsilon=1e-6)(x)
    return keras.Model(ids, layers.Dense(10)(x))  # (B, T, 10)


class Trainer:
    """Trains one model again and again from given weights; its graph is compiled once, which is the slow part."""

    def __init__(self, model: keras.Model) -> None:
        import tensorflow as tf

        self.model = model
        self.adam = keras.optimizers.Adam()
        self.adam.build(model.trainable_variables)
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

        @tf.function  # a step of our own: fit() makes its graph twice, and twelve blocks take long
        def learn(ids: Any, ordered: Any) -> tuple[Any, Any]:
            with tf.GradientTape() as tape:
                scores = model(ids, training=True)  # (B, T, 10)
                error = loss(ordered, scores)
            self.adam.apply(tape.gradient(error, model.trainable_variables), model.trainable_variables)
            return error, keras.ops.mean(keras.metrics.sparse_categorical_accuracy(ordered, scores))

        self._learn = learn

    def run(
        self, start: list[Any], inputs: NDArray[np.int64], rate: Callable[[int], float]
    ) -> tuple[list[float], float]:
        """Train from the weights `start`, one step for each batch of `inputs` (steps, B, T).

        Args:
            rate: the learning rate of each step, counted from 0.

        Returns:
            The mean loss of each WINDOW steps, and the share of correct digits in the last WINDOW steps.
        """
        self.model.set_weights(start)
        for variable in self.adam.variables:  # what Adam remembers of an earlier run
            variable.assign(keras.ops.zeros_like(variable))
        measured = np.zeros((len(inputs), 2))  # loss and share of correct digits
        for step, ids in enumerate(inputs):  # ids (B, T)
            self.adam.learning_rate.assign(rate(step))
            measured[step] = [float(value) for value in self._learn(ids, np.sort(ids))]
        windows = measured.reshape(-1, WINDOW, 2).mean(axis=1)  # (steps / WINDOW, 2)
        return windows[:, 0].round(4).tolist(), round(float(windows[-1, 1]), 4)

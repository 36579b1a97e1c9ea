"""The task and the training of lecture 9: handwritten digits of 8 × 8 pixels, a ConvNet to compare, moved digits."""

from __future__ import annotations

from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from coursekit import data

WATCHED, BATCH = 287, 64  # training images kept aside to watch the training; images a step


class Split(NamedTuple):
    """Images (n, 8, 8, 1) from 0 to 1 and labels (n,), three times: to fit, to watch, to test."""

    x_fit: np.ndarray
    y_fit: np.ndarray
    x_watch: np.ndarray
    y_watch: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray


def split() -> Split:
    """The digits of scikit-learn: 1,150 to fit, 287 to watch, 360 to test."""
    (x, y), (x_test, y_test) = data.images("digits")
    return Split(x[WATCHED:], y[WATCHED:], x[:WATCHED], y[:WATCHED], x_test, y_test)


def convnet(image_shape: tuple[int, int, int], filters: tuple[int, ...], classes: int) -> keras.Model:
    """Stages of 3 × 3 convolution, batch norm, ReLU, the image halved between them; images to logits (B, classes)."""
    images = x = keras.Input(image_shape)
    for stage, count in enumerate(filters):
        x = layers.Conv2D(count, kernel_size=3, padding="same", use_bias=False)(x)
        x = layers.ReLU()(layers.BatchNormalization(momentum=0.9)(x))
        x = layers.MaxPooling2D()(x) if stage < len(filters) - 1 else layers.GlobalAveragePooling2D()(x)
    return keras.Model(images, layers.Dense(classes, dtype="float32")(layers.Dropout(0.1)(x)), name="convnet")


def train(model: keras.Model, digits: Split, epochs: int, rate: float) -> dict[str, list[float]]:
    """Fit with AdamW, a warm-up over a tenth of the steps and a cosine to zero; digits are moved by at most one pixel.

    Args:
        model: images to logits.
        digits: from `split`.
        epochs: passes over the images to fit.
        rate: the largest learning rate.

    Returns:
        The history: loss, accuracy, `val_loss` and `val_accuracy` by epoch; the last two are on the images to watch.
    """
    steps = epochs * (len(digits.x_fit) // BATCH)
    warmup, fall = steps // 10, int(0.9 * steps)
    schedule = keras.optimizers.schedules.CosineDecay(0.0, fall, warmup_target=rate, warmup_steps=warmup)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.AdamW(schedule, weight_decay=0.01), loss=loss, metrics=["accuracy"])
    move = layers.RandomTranslation(0.09, 0.09, fill_mode="constant", interpolation="nearest")  # whole pixels only
    pairs = tf.data.Dataset.from_tensor_slices((digits.x_fit, digits.y_fit)).shuffle(len(digits.x_fit))
    batches = pairs.batch(BATCH, drop_remainder=True)  # in parallel their random numbers would change order
    batches = batches.map(lambda images, labels: (move(images, training=True), labels)).prefetch(2)
    watched = (digits.x_watch, digits.y_watch)
    return model.fit(batches, epochs=epochs, validation_data=watched, shuffle=False, verbose=0).history


def moved(images: np.ndarray, down: int, right: int) -> np.ndarray:
    """Images (n, h, w, C) moved by whole pixels, at most 2; what leaves is lost, what comes in is background."""
    height, width = images.shape[1:3]
    padded = np.pad(images, ((0, 0), (2, 2), (2, 2), (0, 0)))  # (n, h + 4, w + 4, C)
    return padded[:, 2 - down : 2 - down + height, 2 - right : 2 - right + width]


def rows_moved(positions: np.ndarray, down: int, right: int) -> np.ndarray:
    """A position table (N + 1, D) of a square grid whose rows go along with patches that move by whole patches.

    What leaves the grid on one side comes in on the other: every row is used once. Row 0, the class token's, stays.
    """
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].reshape(side, side, -1)  # (h/P, w/P, D)
    return np.concatenate([positions[:1], np.roll(grid, (down, right), axis=(0, 1)).reshape(side * side, -1)])


def neighbour_cosines(positions: np.ndarray) -> tuple[float, float]:
    """The mean cosine of the rows of neighbouring patches, and of all other pairs, in a table (N + 1, D) of a square.

    The mean row is taken away first: so rows of noise have a cosine of about -1/(N - 1), neighbours or not.
    """
    rows = positions[1:] - positions[1:].mean(axis=0)
    rows = rows / np.linalg.norm(rows, axis=-1, keepdims=True)
    spots = np.stack(np.divmod(np.arange(len(rows)), round(len(rows) ** 0.5)), axis=1)  # (N, 2)
    steps = np.abs(spots[:, None] - spots).sum(axis=-1)  # (N, N): from patch to patch
    alike = rows @ rows.T
    return float(alike[steps == 1].mean()), float(alike[steps > 1].mean())


def answers(model: keras.Model, images: np.ndarray) -> np.ndarray:
    """The class with the largest logit for each image, (n,)."""
    return np.argmax(model.predict(images, batch_size=500, verbose=0), axis=-1)

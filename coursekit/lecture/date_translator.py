"""The task and the training of lecture 8: one date a line into eight digits, tested on days that no line has shown."""

from __future__ import annotations

from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from coursekit.lecture import dates

NAMES = [*dates.VOCABULARY, "<end>"]
V, START, END = len(NAMES), dates.IDS[dates.START], len(dates.VOCABULARY)
SOURCE_LENGTH, TARGET_LENGTH = 10, 9  # S and T: the longest date as people write it; eight digits and the end
DIGITS = np.array([dates.IDS[digit] for digit in "0123456789"], "int32")
SMOOTHING, BATCH = 0.1, 128


class Pairs(NamedTuple):
    """Sources (N, S), padded with 0 at the end, and targets (N, T), each with its end token."""

    source: np.ndarray
    target: np.ndarray


def task(count: int = 16_000, days: int = 3_000) -> tuple[Pairs, Pairs]:
    """Lines to train on and lines to test on; the days of the test lines occur in no training line."""
    rng = np.random.default_rng(8)
    sources, targets = dates.date_lines([1] * count, rng)
    end = np.full((count, 1), END, "int32")
    source = dates.encode(sources, SOURCE_LENGTH)
    target = np.concatenate([dates.encode(targets, TARGET_LENGTH - 1), end], axis=1)
    day = np.array(["".join(line) for line in targets])  # (N,)
    unseen = np.isin(day, rng.permutation(np.unique(day))[:days])  # (N,)
    return Pairs(source[~unseen], target[~unseen]), Pairs(source[unseen], target[unseen])


def text(ids: np.ndarray) -> str:
    """Ids (T,) as words with spaces between them; padding is left out."""
    return " ".join(NAMES[number] for number in ids if number)


def false_digits(digits: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """For ids of digits, of any shape, ids of other digits, drawn evenly."""
    return DIGITS[0] + (digits - DIGITS[0] + rng.integers(1, 10, digits.shape)) % 10


def train(model: keras.Model, source: np.ndarray, reads: np.ndarray, target: np.ndarray, epochs: int) -> dict:
    """Fit with Adam as in section 5.3 of the paper, 150 warm-up steps and a fall to zero.

    Args:
        model: (source, reads) -> logits (B, T, V).
        source, reads, target: (N, S), (N, T), (N, T).
        epochs: passes over all lines.

    Returns:
        The history: lists of loss and token_accuracy by epoch.
    """
    steps = epochs * (len(source) // BATCH)
    rate = keras.optimizers.schedules.CosineDecay(0.0, steps - 150, warmup_target=3e-3, warmup_steps=150)
    model.compile(
        keras.optimizers.Adam(rate, beta_2=0.98, epsilon=1e-9),
        keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=SMOOTHING),
        metrics=[keras.metrics.CategoricalAccuracy(name="token_accuracy")],
        jit_compile=not tf.distribute.has_strategy(),  # XLA's programs do not reach over several devices
    )
    lines = tf.data.Dataset.from_tensor_slices(((source, reads), target)).shuffle(len(source), seed=1)
    batches = lines.batch(BATCH, drop_remainder=True).map(lambda inputs, ids: (inputs, tf.one_hot(ids, V)))
    return model.fit(batches.prefetch(2), epochs=epochs, shuffle=False, verbose=0).history

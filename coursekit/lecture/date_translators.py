"""Translators of dates, without and with attention: the models, their training and their tests (lecture 1).

The task (dates as people write them into ISO 8601, a bidirectional LSTM, a map over the characters) follows the
programming assignment of week 3 of *Sequence Models* (Coursera, deeplearning.ai); lines of several dates are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

from coursekit.lecture import dates

PER_DATE = 9  # target tokens of a date, with its separator
LONGEST_SOURCE, LONGEST_TARGET = 11, 9  # tokens of one date, separator included
VOCABULARY_SIZE = len(dates.VOCABULARY)


@dataclass(frozen=True)
class Translator:
    """A translator and, where it has attention, its inner values.

    Attributes:
        model: source (B, S) and previous target tokens (B, T) -> logits (B, T, V).
        inside: the same inputs -> dict of query (B, T, U), annotations (B, S, 2U), key (B, S, U), weights (B, T, S).
    """

    model: keras.Model
    inside: Any = None


def lines(counts: Sequence[int], rng: np.random.Generator, most: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Draw one line for each entry of counts, with that many dates; `most` sets the padded length.

    Returns:
        Ids of the sources (N, S) and of the targets (N, T), padded with 0.
    """
    most = most or max(counts)
    sources, targets = dates.date_lines(counts, rng)
    return dates.encode(sources, LONGEST_SOURCE * most - 1), dates.encode(targets, LONGEST_TARGET * most - 1)


def previous(target: np.ndarray) -> np.ndarray:
    """What the decoder reads while it learns to write targets (N, T): the same tokens, one step later."""
    shifted = np.roll(target, 1, axis=1)
    shifted[:, 0] = dates.IDS[dates.START]
    return shifted


def build(attention: bool, units: int = 32) -> Translator:
    """Build a translator: a bidirectional LSTM reads, an LSTM that starts from its last state writes.

    With attention, every written token sees a mixture of all annotations, scored additively (Bahdanau et al. 2015).
    As in Luong et al. (2015), the current state is the query, so no step of the decoder waits for attention.
    """
    source, before = keras.Input((None,), dtype="int32"), keras.Input((None,), dtype="int32")
    embedding = layers.Embedding(VOCABULARY_SIZE, 32)
    mask = ops.not_equal(source, 0)  # (B, S)
    both = layers.Bidirectional(layers.LSTM(units, return_sequences=True, return_state=True))
    annotations, h_forward, c_forward, h_backward, c_backward = both(embedding(source), mask=mask)  # (B, S, 2U)
    state = [ops.concatenate([h_forward, h_backward], axis=-1), ops.concatenate([c_forward, c_backward], axis=-1)]
    decoded = layers.LSTM(2 * units, return_sequences=True)(embedding(before), initial_state=state)  # (B, T, 2U)
    if not attention:
        return Translator(keras.Model([source, before], _written(decoded)))
    query = layers.Dense(units, use_bias=False)(decoded)  # (B, T, U)
    key = layers.Dense(units, use_bias=False)(annotations)  # (B, S, U)
    align = layers.AdditiveAttention(name="align")
    context, weights = align([query, annotations, key], mask=[None, mask], return_attention_scores=True)
    inside = {"query": query, "annotations": annotations, "key": key, "weights": weights}
    logits = _written(ops.concatenate([decoded, context], axis=-1))
    return Translator(keras.Model([source, before], logits), keras.Model([source, before], inside))


def _written(features):
    return layers.Dense(VOCABULARY_SIZE)(layers.Dense(64, activation="tanh")(features))  # (B, T, V)


def train(translator: Translator, epochs: int, count: int = 4000) -> list[float]:
    """Train on lines of one to three dates (Adam, 0.01, cosine decay, batches of 32); returns the losses by epoch."""
    rng = np.random.default_rng(1)
    source, target = lines(rng.choice([1, 2, 3], size=count, p=[0.5, 0.3, 0.2]).tolist(), rng, most=3)
    schedule = keras.optimizers.schedules.CosineDecay(0.01, epochs * count // 32)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=0)
    translator.model.compile(keras.optimizers.Adam(schedule, clipnorm=1.0), loss)
    return translator.model.fit([source, previous(target)], target, batch_size=32, epochs=epochs, verbose=0).history[
        "loss"
    ]


def correct_dates(model: Callable, counts: Sequence[int] = (1, 2, 3), tested: int = 200) -> dict[int, list[float]]:
    """Share of test dates that are written correctly, by their position in lines of so many dates (greedy decoding)."""
    rng = np.random.default_rng(2)
    found = {}
    predict = tf.function(lambda source, before: model([source, before]), reduce_retracing=True)
    for count in counts:
        source, target = lines([count] * tested, rng)
        written = np.full((tested, target.shape[1] + 1), dates.IDS[dates.START], "int32")
        for step in range(target.shape[1]):
            logits = predict(tf.constant(source), tf.constant(written[:, :-1]))  # (N, T, V)
            written[:, step + 1] = np.argmax(logits[:, step], axis=-1)
        hits = written[:, 1:] == target  # (N, T)
        starts = range(0, target.shape[1], PER_DATE)
        found[count] = [float(hits[:, start : start + 8].all(axis=1).mean()) for start in starts]
    return found


def weights_for(translator: Translator, text: str, answer: str) -> tuple[np.ndarray, list[str], list[str]]:
    """Attention weights (T, S) while a translator writes an answer for a text, and the tokens of both."""
    source, target = dates.tokenize(text), dates.tokenize(answer)
    before = previous(dates.encode([target], len(target)))
    weights = translator.inside([dates.encode([source], len(source)), before])["weights"][0]
    return ops.convert_to_numpy(weights), source, target


def weight_on_padding(translator: Translator) -> float:
    """The mean weight on padding in lines of one date, padded for three, when the mask is left out after training."""
    source, target = lines([1] * 200, np.random.default_rng(12), most=3)
    parts = translator.inside([source, previous(target)])
    inputs = [parts["query"], parts["annotations"], parts["key"]]
    _, weights = translator.model.get_layer("align")(inputs, return_attention_scores=True)  # (B, T, S)
    real = (target > 0)[:, :, None]
    on_padding = ops.convert_to_numpy(weights) * (source == 0)[:, None, :] * real
    return float(on_padding.sum() / real.sum())

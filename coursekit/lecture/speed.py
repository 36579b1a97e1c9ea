"""How long layers take by length, where two of them take equally long, and how far back a gradient reaches."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

Layer = Callable[[Any], Any]


def seconds(call: Callable[[], Any]) -> float:
    """How long one call takes, until its result is there."""
    begin = time.perf_counter()
    np.asarray(call())
    return time.perf_counter() - begin


def fastest(
    layers: Mapping[str, Layer], lengths: Sequence[int], *, width: int, repeats: int = 30
) -> dict[str, np.ndarray]:
    """Time compiled forward passes of layers on inputs (1, T, width), all taking turns, after two calls of warm-up.

    Returns:
        Milliseconds of the fastest of `repeats` calls of each layer, (lengths,).
    """
    times = {name: np.full(len(lengths), np.inf) for name in layers}
    for column, length in enumerate(lengths):
        x = tf.random.stateless_normal((1, length, width), seed=(5, 6))  # (B, T, D)
        compiled = {name: tf.function(layer).get_concrete_function(x) for name, layer in layers.items()}
        for repeat in range(-2, repeats):
            for name, call in compiled.items():
                taken = seconds(partial(call, x))
                if repeat >= 0:
                    times[name][column] = min(times[name][column], 1000 * taken)
    return times


def first_call_and_later(layer: Layer, *, length: int, width: int) -> tuple[float, float]:
    """Seconds of the first call of a compiled layer, tracing included, and the median of five later calls."""
    x = tf.random.stateless_normal((1, length, width), seed=(5, 6))
    compiled = tf.function(layer)
    first = seconds(lambda: compiled(x))
    return first, float(np.median([seconds(lambda: compiled(x)) for _ in range(5)]))


def crossing(lengths: Sequence[int], rising: np.ndarray, other: np.ndarray) -> float | None:
    """The length at which a curve overtakes another for the last time, on straight lines between logarithms.

    Returns:
        The length, or None where that does not happen between the lengths: the first curve does not end above the
        other, or is above it everywhere. Times of another machine may do so.
    """
    gaps = np.log(np.asarray(rising)) - np.log(np.asarray(other))
    below = np.flatnonzero(gaps < 0)
    if not len(below) or below[-1] == len(gaps) - 1:
        return None
    last = below[-1]
    share = gaps[last] / (gaps[last] - gaps[last + 1])
    return float(np.exp(np.log(lengths[last]) + share * np.log(lengths[last + 1] / lengths[last])))


def gradient_by_distance(layer: Layer, *, length: int, width: int) -> np.ndarray:
    """Norms of the gradient of a random projection of a layer's last output (B, D), by distance from the last token.

    Returns:
        The median over 64 random inputs, (length,); entry d belongs to the token d steps back.
    """
    tokens = tf.random.stateless_normal((64, length, width), seed=(1, 2))  # (B, T, D)
    projection = tf.random.stateless_normal((64, width), seed=(3, 4))  # (B, D)
    with tf.GradientTape() as tape:
        tape.watch(tokens)
        loss = tf.reduce_sum(layer(tokens) * projection)
    return np.median(np.linalg.norm(tape.gradient(loss, tokens), axis=-1), axis=0)[::-1]

"""Six score functions of attention on three toy tasks (lecture 1).

Five items lie in random order, each with a noisy key; the query wants one of them, and names it in one of three ways.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import ops

ITEMS, WIDTH, WORDS, HIDDEN, NOISE = 5, 16, 20, 32, 0.3


def _pair(q, k):
    return ops.einsum("nd,nsd->ns", q, k)  # (N, S)


SCORES: dict[
    str, tuple[Callable[..., Any], list[tuple[int, ...]]]
] = {  # name: (score of q (N, D) and k (N, S, D) -> (N, S), shapes of its parameters)
    "cosine": (lambda q, k: _pair(ops.normalize(q), ops.normalize(k)), []),
    "additive": (
        lambda q, k, w_q, w_k, v: ops.einsum("nsu,u->ns", ops.tanh((q @ w_q)[:, None] + k @ w_k), v),
        [(WIDTH, HIDDEN), (WIDTH, HIDDEN), (HIDDEN,)],
    ),
    "location-based": (lambda q, k, w: q @ w, [(WIDTH, ITEMS)]),
    "general": (lambda q, k, w: _pair(q @ w, k), [(WIDTH, WIDTH)]),
    "dot": (lambda q, k: _pair(q, k), []),
    "scaled dot": (lambda q, k: _pair(q, k) / WIDTH**0.5, []),
}


def requests(task: str, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw queries (N, D), keys (N, S, D) with S = 5, and the position of the wanted item (N,).

    Raises:
        KeyError: the task is none of "same language", "other language" and "by position".
    """
    tables = np.random.default_rng(0)
    key_of, query_of = tables.normal(size=(2, WORDS, WIDTH))
    query_for_position = tables.normal(size=(ITEMS, WIDTH))
    words = np.array([rng.permutation(WORDS)[:ITEMS] for _ in range(count)])  # (N, S)
    position = rng.integers(ITEMS, size=count)  # (N,)
    wanted = words[np.arange(count), position]  # (N,)
    named = {
        "same language": key_of[wanted],
        "other language": query_of[wanted],
        "by position": query_for_position[position],
    }
    q = named[task] + NOISE * rng.normal(size=(count, WIDTH))
    k = key_of[words] + NOISE * rng.normal(size=(count, ITEMS, WIDTH))
    return q.astype("float32"), k.astype("float32"), position


def fitted(name: str, task: str, steps: int = 300) -> list[tf.Variable]:
    """Train the parameters of a score (Adam, 0.02, batches of 64); an empty list when it has none."""
    score, shapes = SCORES[name]
    draw = np.random.default_rng(1)
    parameters = [tf.Variable((draw.normal(size=shape) / shape[0] ** 0.5).astype("float32")) for shape in shapes]
    if not parameters:
        return parameters
    optimizer = keras.optimizers.Adam(0.02)
    optimizer.build(parameters)

    @tf.function
    def step(q, k, position):
        with tf.GradientTape() as tape:
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=position, logits=score(q, k, *parameters))
            loss = tf.reduce_mean(loss)
        optimizer.apply(tape.gradient(loss, parameters), parameters)

    for batch in tf.data.Dataset.from_tensor_slices(requests(task, 64 * steps, draw)).batch(64):
        step(*batch)
    return parameters


def measured(tasks: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Test every score on every task, on 2,000 requests that were not trained.

    Returns:
        The share of requests whose wanted item has the largest weight, and the mean weight on it, (scores, tasks) each.
    """
    picked, trust = np.zeros((2, len(SCORES), len(tasks)))
    for column, task in enumerate(tasks):
        q, k, position = requests(task, 2000, np.random.default_rng(9))
        for row, (name, (score, _)) in enumerate(SCORES.items()):
            w = ops.convert_to_numpy(ops.softmax(score(q, k, *fitted(name, task)), axis=-1))  # (N, S)
            picked[row, column] = np.mean(w.argmax(axis=1) == position)
            trust[row, column] = w[np.arange(len(w)), position].mean()
    return picked, trust

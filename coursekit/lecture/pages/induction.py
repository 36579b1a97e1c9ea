"""Lecture 10's smallest model that copies: attention alone, trained on rows of random tokens that repeat."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

from coursekit.lecture.pages.language_model import PlainRMSNorm, PlainRotaryAttention

TOKENS, WIDTH, HEADS, LENGTH, ROWS = 32, 64, 4, 40, 16
PERIODS = (6, 20)  # from, to without the last
RATE = 3e-3


class AttentionOnly(keras.Model):
    """Blocks of attention without feed-forward networks: ids (B, T) to logits (B, T, TOKENS)."""

    def __init__(self, num_blocks: int):
        super().__init__()
        self.embedding = layers.Embedding(
            TOKENS, WIDTH, embeddings_initializer=keras.initializers.RandomNormal(stddev=1.0)
        )
        self.norms = [PlainRMSNorm() for _ in range(num_blocks)]
        self.attentions = [PlainRotaryAttention(WIDTH, HEADS) for _ in range(num_blocks)]
        self.unembedding = layers.Dense(TOKENS, use_bias=False)

    def call(self, ids):
        x = self.embedding(ids)
        for norm, attention in zip(self.norms, self.attentions, strict=True):
            x = x + attention(norm(x))
        return self.unembedding(x)

    def looks(self, ids) -> list[np.ndarray]:
        """The weights (B, H, T, T) of each block."""
        x, seen = self.embedding(ids), []
        for norm, attention in zip(self.norms, self.attentions, strict=True):
            seen.append(np.array(attention.look(norm(x))[0]))
            x = x + attention(norm(x))
        return seen


def repeating(
    rng: np.random.Generator, rows: int = ROWS, span: tuple[int, int] = PERIODS
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of random tokens that repeat, each with a period of its own: ids (rows, LENGTH) and periods (rows, 1).

    `span` says from which period on, and below which, they are drawn.
    """
    periods = rng.integers(*span, size=(rows, 1))
    tokens = rng.integers(TOKENS, size=(rows, LENGTH))
    return np.take_along_axis(tokens, np.arange(LENGTH) % periods, axis=1).astype("int32"), periods


def taught(
    num_blocks: int,
    steps: int,
    seed: int,
    kind: type[AttentionOnly] = AttentionOnly,
    span: tuple[int, int] = PERIODS,
) -> tuple[AttentionOnly, np.ndarray]:
    """Train on repeating rows, their periods drawn from `span` (see `repeating`).

    Returns:
        The model and the nats a token of each step (steps, 2): new, and repeated.
    """
    keras.utils.set_random_seed(seed)
    model, rng = kind(num_blocks), np.random.default_rng(seed)
    optimizer = keras.optimizers.Adam(RATE)
    model(repeating(rng, span=span)[0])
    optimizer.build(model.trainable_variables)

    @tf.function
    def step(ids, again):
        with tf.GradientTape() as tape:
            nats = ops.sparse_categorical_crossentropy(ids[:, 1:], model(ids[:, :-1]), from_logits=True)
            loss = ops.sum(nats * again) / ops.sum(again)
        optimizer.apply(tape.gradient(loss, model.trainable_variables))
        return ops.sum(nats * (1 - again)) / ops.sum(1 - again), ops.sum(nats * again) / ops.sum(again)

    curve = []
    for _ in range(steps):
        ids, periods = repeating(rng, span=span)
        again = (np.arange(1, LENGTH) > periods).astype("float32")  # its token before has been seen, and what came next
        curve.append([float(value) for value in step(ids, again)])
    return model, np.array(curve)


def head_scores(model: AttentionOnly, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Mean weights of each head (blocks, H): on the token before, and on what followed the same token last time.

    Both are averages over the positions that have a period behind them (Olsson et al. 2022, "induction").
    """
    ids, periods = repeating(np.random.default_rng(seed), 64)
    time = np.arange(LENGTH)
    there = time >= periods  # (rows, T)
    back = np.maximum(time - periods + 1, 0)  # (rows, T)
    before, after = [], []
    for weights in model.looks(ids):
        at_before = np.take_along_axis(weights, np.maximum(time - 1, 0)[None, None, :, None], axis=-1)[..., 0]
        at_after = np.take_along_axis(weights, back[:, None, :, None], axis=-1)[..., 0]
        before.append([at_before[:, head][there].mean() for head in range(HEADS)])
        after.append([at_after[:, head][there].mean() for head in range(HEADS)])
    return np.array(before), np.array(after)


def repeated_loss(model: AttentionOnly, seed: int = 1) -> float:
    """Nats a repeated token of 64 fresh rows."""
    ids, periods = repeating(np.random.default_rng(seed), 64)
    nats = ops.sparse_categorical_crossentropy(ids[:, 1:], model(ids[:, :-1]), from_logits=True)
    return float(np.array(nats)[np.arange(1, LENGTH) > periods].mean())


def losses_without(model: AttentionOnly, block: int) -> np.ndarray:
    """Nats a repeated token with each head of a block, counted from 0, switched off in turn: (H,).

    A head is off while its rows of W_o are zero; afterwards the model is as before.
    """
    kernel = model.attentions[block].w_o.kernel
    whole, losses = ops.convert_to_numpy(kernel).copy(), []
    for rows in np.split(np.arange(WIDTH), HEADS):
        cut = whole.copy()
        cut[rows] = 0
        kernel.assign(cut)
        losses.append(repeated_loss(model))
    kernel.assign(whole)
    return np.array(losses)


def equal_weights(seed: int = 1) -> float:
    """What `head_scores` gives a head whose weights are equal: the mean of 1 / (t + 1) over the same positions."""
    _, periods = repeating(np.random.default_rng(seed), 64)
    time = np.arange(LENGTH)
    there = time >= periods  # (rows, T)
    return float(np.broadcast_to(1 / (time + 1), there.shape)[there].mean())


def without_order(rows: int = 2000, seed: int = 0) -> float:
    """Nats a repeated token of a model that knows how often each token stands in the period, and not their order."""
    ids, periods = repeating(np.random.default_rng(seed), rows)
    nats = []
    for row, period in zip(ids, periods[:, 0], strict=True):
        share = np.unique(row[:period], return_counts=True)[1] / period
        nats.append(-(share * np.log(share)).sum())
    return float(np.average(nats, weights=LENGTH - 1 - periods[:, 0]))  # so many tokens of a row are repeated

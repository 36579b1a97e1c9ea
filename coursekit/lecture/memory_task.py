"""A task beyond the training length: name the last letter seen, in causal models that differ in their positions only.

Most tokens are blank, some are one of 8 letters. In "· B · · A · ·" the answers at the end are A. A model that names a
letter where one stands and guesses elsewhere, without any memory, is correct in 0.3 + 0.7 / 8 = 39 % of the cases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import numpy as np
from keras import layers, ops

if TYPE_CHECKING:
    from numpy.typing import NDArray

LETTERS, WIDTH, HEADS, TRAINED, TESTED = 8, 32, 4, 32, 160
METHODS = ("none", "learned", "sinusoidal", "rotary", "ALiBi")


def rows(count: int, length: int, seed: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Draw ids (count, length), 1 for blank and 2 to 9 for letters, and the last letter so far (count, length)."""
    rng = np.random.default_rng(seed)
    letters = rng.integers(2, 2 + LETTERS, size=(count, length))
    shown = rng.random((count, length)) < 0.3
    shown[:, 0] = True
    ids = np.where(shown, letters, 1)  # (count, length)
    last = np.maximum.accumulate(np.where(shown, np.arange(length), 0), axis=1)  # position of the last letter
    return ids.astype("int32"), np.take_along_axis(ids, last, axis=1).astype("int32") - 2


def questions(
    count: int, length: int, farthest: int, seed: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Draw rows as `rows` does, but for their ends: the last letter stands 0 to `farthest` tokens before the end.

    Returns:
        ids (count, length), the last letters (count,), and their distances (count,), all equally probable.

    >>> ids, letters, distances = questions(count=3, length=10, farthest=4, seed=0)
    >>> bool((ids[np.arange(3), 9 - distances] == 2 + letters).all())  # there the last letter stands
    True
    """
    ids, _ = rows(count, length, seed)
    rng = np.random.default_rng([seed, 1])
    distances, letters = rng.integers(farthest + 1, size=count), rng.integers(LETTERS, size=count)
    at = length - 1 - distances  # (count,)
    ids[np.arange(length) > at[:, None]] = 1
    ids[np.arange(count), at] = 2 + letters
    return ids, letters.astype("int32"), distances


def last_answers(reader: keras.Model, ids: NDArray[np.int32], window: int) -> NDArray[np.int64]:
    """The letters (n,) that a model names at the ends of ids (n, T), when queries see the last `window` keys."""
    attention = next(layer for layer in reader.layers if isinstance(layer, CausalAttention))
    attention.window = window
    guesses: NDArray[np.int64] = ops.convert_to_numpy(reader(ids)).argmax(axis=-1)  # (n, T)
    attention.window = TESTED
    return guesses[:, -1]


def wave_table(length: int, width: int) -> NDArray[np.float32]:
    """Sinusoidal positions (length, width) of Vaswani et al. 2017, section 3.5: sine and cosine side by side."""
    angles = np.outer(np.arange(length), 10_000.0 ** (-np.arange(0, width, 2) / width))  # (length, width/2)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, width).astype("float32")


class CausalAttention(keras.Layer):
    """Causal multi-head attention; rotary positions or ALiBi act on its scores; `window` and `sinks` limit the keys."""

    def __init__(self, positions: str) -> None:
        super().__init__()
        self.positions, self.window, self.sinks, self.stretch = positions, TESTED, 0, 1.0
        self.to_qkv, self.output_projection = layers.Dense(3 * WIDTH), layers.Dense(WIDTH)
        self.slopes = (2.0 ** (-8 * np.arange(1, HEADS + 1) / HEADS)).astype("float32")[:, None, None]  # (H, 1, 1)

    def call(self, x: Any) -> Any:
        length, key_dim = ops.shape(x)[1], WIDTH // HEADS
        parts = ops.reshape(self.to_qkv(x), (-1, length, 3, HEADS, key_dim))  # (B, T, 3, H, K)
        q, k, v = ops.unstack(ops.transpose(parts, axes=(2, 0, 3, 1, 4)), 3, axis=0)  # (B, H, T, K) each
        if self.positions == "rotary":
            q, k = _turned(q, self.stretch), _turned(k, self.stretch)
        scores = ops.matmul(q, ops.swapaxes(k, -1, -2)) / np.sqrt(key_dim).item()  # (B, H, T, T)
        numbers = ops.cast(ops.arange(length), "float32")
        distance = numbers[:, None] - numbers  # (T, T) query − key
        if self.positions == "ALiBi":
            scores = scores - self.slopes * distance
        seen = (distance >= 0) & ((distance < self.window) | (numbers < self.sinks))  # (T, T)
        scores = ops.where(seen, scores, -1e9)
        mixed = ops.transpose(ops.matmul(ops.softmax(scores, axis=-1), v), axes=(0, 2, 1, 3))  # (B, T, H, K)
        return self.output_projection(ops.reshape(mixed, (-1, length, WIDTH)))  # (B, T, D)


def _turned(x: Any, stretch: float) -> Any:
    """Rotary positions, divided by `stretch`, for x (B, H, T, K), column j paired with column j + K/2."""
    half = x.shape[-1] // 2
    omega = ops.convert_to_tensor(10_000.0 ** (-np.arange(half) / half), "float32")  # (K/2,)
    angles = ops.cast(ops.arange(ops.shape(x)[2]), "float32")[:, None] * omega / stretch  # (T, K/2)
    a, b = x[..., :half], x[..., half:]  # (B, H, T, K/2) each
    cosine, sine = ops.cos(angles), ops.sin(angles)
    return ops.concatenate([a * cosine - b * sine, a * sine + b * cosine], axis=-1)  # (B, H, T, K)


class AddedPositions(keras.Layer):
    """Adds a position to each token of x (B, T, D): a learned row, or a sinusoidal one to √D times the token."""

    def __init__(self, positions: str) -> None:
        super().__init__()
        self.table = layers.Embedding(TESTED, WIDTH) if positions == "learned" else None

    def call(self, x: Any) -> Any:
        length = ops.shape(x)[1]
        if self.table is not None:
            return x + self.table(ops.arange(length))  # (B, T, D) + (T, D)
        return x * WIDTH**0.5 + ops.convert_to_tensor(wave_table(TESTED, WIDTH))[:length]  # (B, T, D)


def model(positions: str) -> keras.Model:
    """Build one causal pre-norm block with one of METHODS: ids (B, T) to scores of the letters (B, T, 8)."""
    ids = keras.Input((None,), dtype="int32")  # (B, T)
    x = layers.Embedding(2 + LETTERS, WIDTH)(ids)  # (B, T, D)
    if positions in ("learned", "sinusoidal"):
        x = AddedPositions(positions)(x)
    x = x + CausalAttention(positions)(layers.LayerNormalization()(x))  # (B, T, D)
    hidden = layers.Dense(2 * WIDTH, activation="relu")(layers.LayerNormalization()(x))  # (B, T, 2D)
    x = layers.LayerNormalization()(x + layers.Dense(WIDTH)(hidden))  # (B, T, D)
    return keras.Model(ids, layers.Dense(LETTERS)(x))  # (B, T, letters)


def trained(positions: str, seed: int, length: int = TRAINED, epochs: int = 10) -> keras.Model:
    """Train a model on 3,000 rows of `length` tokens."""
    keras.utils.set_random_seed(seed)
    reader = model(positions)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    reader.compile(optimizer=keras.optimizers.Adam(3e-3), loss=loss, jit_compile=False)
    reader.fit(*rows(3000, length, seed=0), batch_size=64, epochs=epochs, verbose=0)
    return reader


def correct_by_position(
    reader: keras.Model, window: int = TESTED, sinks: int = 0, stretch: float = 1.0
) -> NDArray[np.float64]:
    """The share of correct letters at each of 160 positions (T,), over 300 new rows.

    Args:
        reader: a trained model.
        window, sinks: queries see the last `window` keys and the first `sinks`.
        stretch: rotary positions are divided by it.
    """
    attention = next(layer for layer in reader.layers if isinstance(layer, CausalAttention))
    attention.window, attention.sinks, attention.stretch = window, sinks, stretch
    ids, letters = rows(300, TESTED, seed=1)
    guesses = ops.convert_to_numpy(reader(ids)).argmax(axis=-1)  # (B, T)
    attention.window, attention.sinks, attention.stretch = TESTED, 0, 1.0
    return (guesses == letters).mean(axis=0)

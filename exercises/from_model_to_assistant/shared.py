"""What several exercises of lab 10b share."""

from collections.abc import Callable

import numpy as np

from coursekit.generator import Generator


def by_differences(loss: Callable[[np.ndarray], np.ndarray], array: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """The derivative of a loss by each number of an array: central differences in float64."""
    slopes = np.zeros(array.shape)
    for place in np.ndindex(array.shape):
        nudge = np.zeros(array.shape)
        nudge[place] = step
        slopes[place] = (loss(array + nudge) - loss(array - nudge)) / (2 * step)
    return slopes


def some_columns(rng: Generator, rows: int, columns: int) -> np.ndarray:
    """A mask (rows, columns) of answers: in each row another stretch of ones, behind a prompt and before padding."""
    starts, ends = 1 + np.arange(rows) % 3, columns - np.arange(rows)[::-1] % 3
    places = np.arange(columns)
    return ((places >= starts[:, None]) & (places < ends[:, None]))[rng.permutation(rows)].astype("float32")


def likely(rng: Generator, *shape: int) -> np.ndarray:
    """Log probabilities of tokens: negative numbers from about −3 to 0."""
    return -(0.01 + np.abs(rng.normal(size=shape))).astype("float32")


def around(rng: Generator, log_p: np.ndarray, size: float = 0.4) -> np.ndarray:
    """Other log probabilities, not far from these."""
    return np.minimum(log_p + size * rng.normal(size=log_p.shape), -0.01).astype("float32")

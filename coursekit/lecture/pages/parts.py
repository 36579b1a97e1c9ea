"""Parts of earlier lectures that lecture 10 puts together: RMS norm, rotary positions, and the nucleus to draw from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import keras
import numpy as np
from keras import ops

BASE, EPSILON = 10_000.0, 1e-6
_constants: ContextVar[tuple[float, float]] = ContextVar("constants of a published model", default=(BASE, EPSILON))


@contextmanager
def constants(*, base: float, epsilon: float) -> Iterator[None]:
    """Within the block, `rotated` and `PlainRMSNorm` compute with the constants of a published model."""
    token = _constants.set((base, epsilon))
    try:
        yield
    finally:
        _constants.reset(token)


def rotated(x, positions):
    """Turn the pair (2i, 2i + 1) of x (…, T, K) by position · 10,000^(−2i/K) (Su et al. 2021); positions (T,)."""
    width, (base, _) = x.shape[-1], _constants.get()
    angles = ops.cast(positions, "float32")[:, None] / base ** (np.arange(0, width, 2, dtype="float32") / width)
    cos, sin = ops.cos(angles), ops.sin(angles)  # (T, K/2)
    even, odd = x[..., 0::2], x[..., 1::2]
    pairs = ops.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1)  # (…, T, K/2, 2)
    return ops.reshape(pairs, ops.shape(x))


def nucleus(probabilities, p):  # (V,)
    """The most probable tokens until their mass reaches p, scaled to sum to 1; all others get 0.

    >>> nucleus(np.array([0.5, 0.25, 0.125, 0.125]), p=0.75).round(3)
    array([0.667, 0.333, 0.   , 0.   ])
    """
    order = np.argsort(-probabilities)
    kept = order[np.cumsum(probabilities[order]) - probabilities[order] < p]
    cut = np.zeros_like(probabilities)
    cut[kept] = probabilities[kept]
    return cut / cut.sum()


class PlainRMSNorm(keras.Layer):
    """Divide each token by the root of its mean square (Zhang and Sennrich 2019)."""

    def build(self, shape):
        self.gamma = self.add_weight(shape=(shape[-1],), initializer="ones", name="gamma")

    def call(self, x):  # (..., D)
        return x * ops.rsqrt(ops.mean(ops.square(x), axis=-1, keepdims=True) + _constants.get()[1]) * self.gamma


def compared(yours: Mapping[str, Callable | None]) -> dict[str, str]:
    """Whether functions of earlier labs do what the page's parts do: "agrees" or "differs", by name.

    >>> compared({"top_p": nucleus, "rotary": lambda x, positions: x, "rms_norm": None})
    {'top_p': 'agrees', 'rotary': 'differs'}

    Args:
        yours: `rotary(x, positions)`, `rms_norm(x, gamma)` and `top_p(probabilities, p)`; None is left out.
    """
    x = np.random.default_rng(0).normal(size=(2, 5, 8)).astype("float32")  # (B, T, K)
    probabilities = np.array([0.1, 0.5, 0.15, 0.25])
    pairs: dict[str, tuple] = {
        "rotary": ((x, np.arange(5)), rotated(x, np.arange(5))),
        "rms_norm": ((x, np.ones(8, "float32")), PlainRMSNorm()(x)),
        "top_p": ((probabilities, 0.7), nucleus(probabilities, 0.7)),
    }
    return {
        name: "agrees" if np.allclose(own(*pairs[name][0]), pairs[name][1], atol=1e-5) else "differs"
        for name, own in yours.items()
        if own is not None
    }

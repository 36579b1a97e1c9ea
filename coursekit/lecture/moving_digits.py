"""Clips of one moving digit, whose class is the direction: what lecture 9b's video models read."""

from __future__ import annotations

import itertools

import numpy as np
from sklearn.datasets import load_digits

DIRECTIONS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}  # (y, x) a frame
FRAMES, SIZE = 8, 12


def clips(count: int, pool: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Clips (N, f, h, w, 1) of one digit each, and the direction (N,); one or two pixels a frame, from any place.

    All directions are equally frequent, up to one clip: a constant answer is right in a quarter of the clips.
    """
    drawings = load_digits().images.astype("float32") / 16  # (1797, 8, 8)
    frames, classes = np.zeros((count, FRAMES, SIZE, SIZE, 1), "float32"), rng.permutation(np.arange(count) % 4)
    steps = np.array(list(DIRECTIONS.values()))[classes] * rng.integers(1, 3, count)[:, None]  # (N, 2)
    starts, chosen = rng.integers(0, SIZE, (count, 2)), rng.choice(pool, count)
    for n, t in itertools.product(range(count), range(FRAMES)):
        y, x = (starts[n] + t * steps[n]) % SIZE
        frames[n, t, :8, :8, 0] = drawings[chosen[n]]
        frames[n, t] = np.roll(frames[n, t], (y, x), axis=(0, 1))
    return frames, classes.astype("int32")

"""Windows of one stream of tokens, and the sizes of lecture 10's training."""

from __future__ import annotations

import numpy as np

LENGTH, BATCH, STEPS = 256, 8, 640
PEAK_RATE, WARMUP = 3e-3, 100 / 640  # the warm-up as a share of the steps


def starts(stream_length: int, steps: int, seed: int) -> np.ndarray:
    """Where random windows of a stream begin: (steps, BATCH)."""
    return np.random.default_rng(seed).integers(stream_length - LENGTH, size=(steps, BATCH))


def windows(stream: np.ndarray, steps: int, seed: int) -> np.ndarray:
    """Random windows of a stream, (steps, BATCH, LENGTH + 1): inputs are the first LENGTH, targets the last."""
    return stream[starts(len(stream), steps, seed)[..., None] + np.arange(LENGTH + 1)]


def side_by_side(stream: np.ndarray) -> np.ndarray:
    """All windows of a stream that do not overlap but in one token: (rows, LENGTH + 1)."""
    return np.lib.stride_tricks.sliding_window_view(stream, LENGTH + 1)[::LENGTH]

"""What chance allows: counts of independent trials, with exact binomial distributions."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

ALARM = 1e-8  # the probability with which a comparison rejects what follows its law


def log_binomial(n: int, p: float) -> np.ndarray:
    """Logarithms of the probabilities of 0, 1, …, n successes in n trials."""
    k = np.arange(n)
    steps = np.log((n - k) / (k + 1)) + math.log(p / (1 - p))
    return n * math.log1p(-p) + np.concatenate([[0.0], np.cumsum(steps)])


@lru_cache(maxsize=4096)
def likely_counts(n: int, p: float, alarm: float = ALARM) -> tuple[int, int]:
    """Return the smallest and largest allowed count in n trials of probability p; all others have `alarm` in all."""
    if n == 0 or p <= 0 or p >= 1:
        return (n, n) if p >= 1 else (0, 0)
    probabilities = np.exp(log_binomial(n, p))
    below, above = np.cumsum(probabilities), np.cumsum(probabilities[::-1])[::-1]
    return int(np.argmax(below > alarm / 2)), int(n - np.argmax(above[::-1] > alarm / 2))


def is_likely(count: int, n: int, p: float) -> bool:
    low, high = likely_counts(n, p)
    return low <= count <= high

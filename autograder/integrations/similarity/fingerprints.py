"""Fingerprints of code: a number for every few tokens in a row, and of these numbers those that winnowing keeps.

Winnowing: Schleimer, Wilkerson, Aiken, "Winnowing: Local Algorithms for Document Fingerprinting" (SIGMOD 2003).
Passages of `LONGEST_MISSED` tokens may go unnoticed, longer ones never.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from autograder.integrations.similarity.normalising import Token

GRAM = 14  # tokens; about two lines of code
WINDOW = 6
LONGEST_MISSED = GRAM + WINDOW - 2
_BITS = 63


def grams(tokens: Sequence[Token]) -> np.ndarray:
    """Return a number for every `GRAM` tokens in a row, the same on every machine: (n - GRAM + 1,) of int64."""
    if len(tokens) < GRAM:
        return np.zeros(0, dtype=np.int64)
    values = np.array([_number(token.text) for token in tokens], dtype=np.uint64)
    mixed = np.zeros(len(values) - GRAM + 1, dtype=np.uint64)
    for at in range(GRAM):
        mixed = (mixed * np.uint64(0x100000001B3)) ^ values[at : at + len(mixed)]
        mixed ^= mixed >> np.uint64(29)
    return (mixed >> np.uint64(64 - _BITS)).astype(np.int64)


def fingerprints(tokens: Sequence[Token]) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers that winnowing keeps, and where in `tokens` each begins.

    Of `WINDOW` numbers in a row the smallest is kept, and of equal ones the last.
    """
    numbers = grams(tokens)
    if not len(numbers):
        return numbers, numbers
    windows = sliding_window_view(numbers, min(WINDOW, len(numbers)))
    last = windows.shape[1] - 1
    places = np.unique(np.arange(len(windows)) + last - windows[:, ::-1].argmin(axis=1))
    return numbers[places], places


@lru_cache(maxsize=100_000)
def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big")

"""What several exercises of lab 06 share."""

from collections.abc import Sequence

import numpy as np

WORDS = (
    "actor",
    "banal",
    "camera",
    "drama",
    "editing",
    "finale",
    "genre",
    "humour",
    "icon",
    "jokes",
    "kitsch",
    "laugh",
    "music",
    "noise",
    "opera",
    "plot",
    "queen",
    "role",
    "scene",
    "theme",
    "utter",
    "villain",
    "wit",
    "yawn",
    "zeal",
)
ACCENTED = ("café", "naïve", "fiancée", "über", "señor", "cliché", "déjà")


def pick(rng, words: Sequence[str], count: int) -> list[str]:
    return [str(word) for word in rng.permutation(list(words))[:count]]


def padded(rng, batch: int, length: int, least: int = 1) -> np.ndarray:
    """Ids (B, T) with words of ids from 1 on, then padding; the rows differ in length, and each has an unknown word."""
    ids = rng.integers(2, 31, size=(batch, length))
    for row, words in enumerate(rng.permutation(np.linspace(max(least, 2), length - 1, batch).astype(int))):
        ids[row, words:] = 0
        ids[row, int(rng.integers(words))] = 1
    return ids


def with_one_word(rng, ids: np.ndarray) -> np.ndarray:
    """Ids of which one row has its first word only: the smallest number to divide by."""
    ids[int(rng.integers(len(ids))), 1:] = 0
    return ids

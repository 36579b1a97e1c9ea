"""Random choices that are the same for the same seed on every machine and in every version of Python.

Of Python's generator only `random()` is promised to stay the same (its documentation, "Notes on Reproducibility"), so
every choice here is made from it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


class Draws:
    """Draws from a seed: a text, such as "reviews train 1"."""

    def __init__(self, seed: str):
        self._next = random.Random(seed).random

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self._next() < probability

    def below(self, bound: int) -> int:
        """One of 0, 1, … bound − 1."""
        return int(self._next() * bound)

    def one_of(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[self.below(len(items))]

    def some_of(self, items: Sequence[Item], count: int) -> list[Item]:
        """`count` different items, in random order."""
        rest = list(items)
        return [rest.pop(self.below(len(rest))) for _ in range(count)]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """All items, in random order."""
        return self.some_of(items, len(items))

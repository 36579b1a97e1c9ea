"""Random draws that are the same on every machine and with every version of NumPy."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

Size = int | Sequence[int] | None


class Generator:
    """The methods of `numpy.random.Generator` that exercises draw their cases with, and their arguments.

    What `numpy.random.Generator` returns for a seed may change with NumPy; the numbers of its bit generators and of
    `numpy.random.SeedSequence` may not (NumPy Enhancement Proposal 19). Here every value is made from them by integer
    arithmetic, sums and products, which all processors round alike.

    Args:
        seed: a number or numbers, at least 0.
    """

    def __init__(self, seed: int | Sequence[int]):
        self._bits = np.random.PCG64(np.random.SeedSequence(seed))

    def random(self, size: Size = None) -> Any:
        """Floats from 0 up to 1, and not 1."""
        return _shaped((self._raw(size) >> np.uint64(11)) * 2.0**-53, size)

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Size = None) -> Any:
        """Floats from `low` up to `high`."""
        return low + (high - low) * self.random(size)

    def normal(self, size: Size = None) -> Any:
        """Floats that are close to normally distributed, with mean 0 and variance 1.

        Each is the sum of twelve uniform numbers, less 6 (the Irwin-Hall distribution), so none is beyond ±6. Methods
        that are closer to the normal distribution need a logarithm, whose last bit differs between machines.
        """
        halves = self._raw((*_shape(size), 6)).view(np.uint32).astype("int64")
        return _shaped((halves.sum(axis=-1) - 6 * 2**32) * 2.0**-32, size)

    def integers(self, low: int, high: int | None = None, size: Size = None) -> Any:
        """Integers from `low` up to `high`, which is left out; from 0 up to `low` where there is no `high`.

        Raises:
            ValueError: there is no such integer.
        """
        low, high = (0, low) if high is None else (low, high)
        span = operator.index(high) - operator.index(low)
        if not 0 < span < 2**63:
            raise ValueError(f"no integer is at least {low} and below {high}")
        return _shaped((self._raw(size) % np.uint64(span)).astype("int64") + low, size)

    def permutation(self, x: Any) -> np.ndarray:
        """The entries of `x` along its first axis in random order; those of ``range(x)`` for a number."""
        entries = np.arange(x) if isinstance(x, int | np.integer) else np.asarray(x)
        return entries[np.argsort(self._raw(len(entries)), kind="stable")]

    def permuted(self, x: Any, axis: int) -> np.ndarray:
        """`x` with each of its lines along an axis in a random order of its own."""
        entries = np.asarray(x)
        return np.take_along_axis(entries, np.argsort(self._raw(entries.shape), axis=axis, kind="stable"), axis)

    def choice(self, a: Any, size: Size = None, replace: bool = True) -> Any:
        """Entries of `a`, or of ``range(a)`` for a number; different ones with ``replace=False``.

        Raises:
            ValueError: fewer entries than are asked for, with ``replace=False``.
        """
        entries = np.arange(a) if isinstance(a, int | np.integer) else np.asarray(a)
        if replace:
            return entries[self.integers(len(entries), size=size)]
        count = math.prod(_shape(size))
        if count > len(entries):
            raise ValueError(f"{count} different entries of {len(entries)} are asked for")
        chosen = self.permutation(entries)[:count]
        return chosen.reshape(_shape(size)) if size is not None else chosen[0]

    def _raw(self, size: Size) -> np.ndarray:
        """Random bits, 64 for each place."""
        shape = _shape(size)
        return self._bits.random_raw(math.prod(shape)).astype("uint64").reshape(shape)


def _shape(size: Size) -> tuple[int, ...]:
    if size is None:
        return ()
    return (operator.index(size),) if isinstance(size, int | np.integer) else tuple(map(operator.index, size))


def _shaped(values: np.ndarray, size: Size) -> Any:
    """An array, or the one number where no size was asked for."""
    return np.asarray(values)[()] if size is None else values

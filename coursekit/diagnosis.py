"""Names the mistake: finds the wrong reference whose results the student's results agree with."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coursekit.comparison import difference

Mistakes = tuple[str, ...]

FINGERPRINT_SIZE = 32


def agrees(actual: Mapping[str, Any], reference: Mapping[str, Any], tolerance: Mapping[str, float]) -> bool:
    """Whether every named result agrees with a reference; float types are not looked at."""
    return all(
        key in actual and difference(key, actual[key], value, tolerance.get(key, 0.0)) is None
        for key, value in reference.items()
    )


@dataclass(frozen=True)
class Fingerprint:
    """The shape of an array and at most 32 of its values, spread evenly: enough to tell one mistake from another."""

    shape: tuple[int, ...]
    values: np.ndarray


def fingerprint(value: Any) -> Any:
    """The fingerprint of a numeric array; any other value as it is."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf":
        return value
    flat = value.ravel()
    if flat.size > FINGERPRINT_SIZE:  # first: a result may have tens of millions of values
        flat = flat[np.linspace(0, flat.size - 1, FINGERPRINT_SIZE).astype(int)]
    return Fingerprint(value.shape, flat.astype("float64"))


class _Results:
    """The results of one case, fingerprinted once and compared with many wrong references."""

    def __init__(self, actual: Mapping[str, Any], expected: Mapping[str, Any], tolerance: Mapping[str, float]):
        self._actual = actual
        self._tolerance = tolerance
        self._prints = {key: fingerprint(value) for key, value in actual.items()}
        self._free = {}
        for key, value in expected.items():
            right = fingerprint(value)
            if isinstance(right, Fingerprint):
                self._free[key] = (right.shape, np.isnan(right.values))

    def resemble(self, wrong: Mapping[str, Any]) -> bool:
        """Whether every result agrees with a wrong reference, given by fingerprints.

        NaN in the wrong reference is met by NaN alone, except where the right reference leaves the value free.
        """
        return all(self._agree(key, reference) for key, reference in wrong.items())

    def _agree(self, key: str, reference: Any) -> bool:
        if key not in self._prints:
            return False
        if not isinstance(reference, Fingerprint):
            return difference(key, self._actual[key], reference, self._tolerance.get(key, 0.0)) is None
        value = self._prints[key]
        if not isinstance(value, Fingerprint) or value.shape != reference.shape:
            return False
        with np.errstate(invalid="ignore"):
            same = np.abs(value.values - reference.values) <= self._tolerance.get(key, 0.0)
        if same.all():
            return True
        same |= (value.values == reference.values) | (np.isnan(value.values) & np.isnan(reference.values))
        shape, free = self._free.get(key, ((), False))
        return bool(np.all(same | free if shape == value.shape else same))


def resembles(
    actual: Mapping[str, Any], wrong: Mapping[str, Any], expected: Mapping[str, Any], tolerance: Mapping[str, float]
) -> bool:
    """Whether every named result agrees with a wrong reference, given by fingerprints."""
    return _Results(actual, expected, tolerance).resemble(wrong)


def possible_mistakes(ids: Sequence[str]) -> list[Mistakes]:
    """Every mistake, and every pair of them."""
    return [(each,) for each in ids] + list(itertools.combinations(ids, 2))


def diagnose(
    ids: Sequence[str],
    outputs: Sequence[Mapping[str, Any] | None],
    expected: Sequence[Mapping[str, Any]],
    wrong: Sequence[Mapping[Mistakes, Mapping[str, Any]]],
    tolerances: Sequence[Mapping[str, float]],
) -> Mistakes:
    """Return the smallest set of mistakes that explains the results, empty when none does.

    A set of mistakes explains the results when, in every case that returned something, they agree with the reference
    made with those mistakes (the right reference, where the mistakes change nothing). When no set explains every case,
    the one that explains most of the wrong cases is taken, if it explains any.

    Args:
        ids: the mistakes that can be named.
        outputs: the student's results by case; None where the case raised.
        expected: right results by case.
        wrong: fingerprints of the results by case, with each set of mistakes that changes them.
        tolerances: by case, the largest difference that rounding explains.
    """
    cases = [index for index, result in enumerate(outputs) if result is not None]
    failing = [index for index in cases if not agrees(outputs[index], expected[index], tolerances[index])]
    results = {index: _Results(outputs[index], expected[index], tolerances[index]) for index in failing}
    candidates = sorted(possible_mistakes(ids), key=lambda m: (len(m), m)) if failing else ()
    best: Mistakes = ()
    best_rank = (0, -len(cases) - 2)  # as many cases may contradict a mistake as speak for it, and no more
    for mistakes in candidates:
        explained = 0
        for left, index in zip(range(len(failing), 0, -1), failing, strict=True):
            if (explained + left, -len(mistakes)) <= best_rank:
                break  # not even all that are left would make it the best; a wrong result costs time to compute
            explained += mistakes in wrong[index] and results[index].resemble(wrong[index][mistakes])
        if not explained:
            continue
        contradicted = sum(mistakes in wrong[index] for index in cases if index not in results)
        rank = (explained - contradicted, -len(mistakes))
        if rank > best_rank:
            best, best_rank = mistakes, rank
        if explained == len(failing) and not contradicted:
            break  # the larger sets that follow cannot explain more
    return best

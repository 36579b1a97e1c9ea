"""Names the mistake: finds the wrong reference whose results the student's results agree with."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coursekit.check.comparison import as_numbers, difference

STRUCTURE = {"parameters", "training", "reload", "saved"}
FINGERPRINT_SIZE = 32
# A mistake may make results a million times larger than the right ones, and their rounding with them: the share of a
# value by which float32 may round it on the way.
ROUNDED = 1e-5


def agrees(actual: Mapping[str, Any], reference: Mapping[str, Any], tolerance: Mapping[str, float]) -> bool:
    """Whether every named result agrees with a reference; float types are not looked at."""
    return all(
        key in actual and difference(key, actual[key], value, tolerance.get(key, 0.0)) is None
        for key, value in reference.items()
    )


def _agrees_where_it_counts(
    actual: Mapping[str, Any], expected: Mapping[str, Any], tolerance: Mapping[str, float]
) -> bool:
    """Whether results are wrong only in places where any number is right (NaN in the right result)."""
    free = {
        key: np.isnan(value)
        for key, value in expected.items()
        if isinstance(value, np.ndarray) and value.dtype.kind == "f"
        if (found := as_numbers(actual.get(key))) is not None and found.shape == value.shape
    }
    if not any(places.any() for places in free.values()):
        return False

    def filled(results: Mapping[str, Any]) -> dict[str, Any]:
        return {**results, **{key: np.where(places, 0.0, results[key]) for key, places in free.items()}}

    return agrees(filled(actual), filled(expected), tolerance)


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
        self._prints = {key: fingerprint(_as_expected(value, expected.get(key))) for key, value in actual.items()}
        self._free = {}
        for key, value in expected.items():
            right = fingerprint(value)
            if isinstance(right, Fingerprint):
                self._free[key] = (right.shape, np.isnan(right.values))

    def resemble(self, wrong: Mapping[str, Any]) -> bool:
        """Whether every result agrees with a wrong reference, given by fingerprints.

        Only NaN agrees with NaN in the wrong reference, except where the right reference leaves the value free.
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
        tolerance = self._tolerance.get(key, 0.0)
        sizes = np.abs(np.where(np.isfinite(reference.values), reference.values, 0))
        limit = tolerance + (ROUNDED * sizes if tolerance else 0)
        with np.errstate(invalid="ignore"):
            same = np.abs(value.values - reference.values) <= limit
        if same.all():
            return True
        same |= (value.values == reference.values) | (np.isnan(value.values) & np.isnan(reference.values))
        shape, free = self._free.get(key, ((), False))
        return bool(np.all(same | free if shape == value.shape else same))


def _as_expected(value: Any, expected: Any) -> Any:
    """A plain number as an array without axes where such an array is right."""
    is_number = isinstance(value, (int, float)) and isinstance(expected, np.ndarray) and expected.ndim == 0
    return np.asarray(value) if is_number else value


def resembles(
    actual: Mapping[str, Any], wrong: Mapping[str, Any], expected: Mapping[str, Any], tolerance: Mapping[str, float]
) -> bool:
    """Whether every named result agrees with a wrong reference, given by fingerprints."""
    return _Results(actual, expected, tolerance).resemble(wrong)


def diagnose(
    ids: Sequence[str],
    outputs: Sequence[Mapping[str, Any] | None],
    expected: Sequence[Mapping[str, Any]],
    wrong: Sequence[Mapping[str, Mapping[str, Any]]],
    tolerances: Sequence[Mapping[str, float]],
    groups: Sequence[str],
) -> str:
    """Return the mistake that explains the results; an empty text when none does.

    A mistake explains a case when the results agree with the reference made with this mistake. The one that explains
    most of the wrong cases is taken; a right case that it would have made wrong counts against it. Among equals the one
    declared first is taken.

    No mistake is taken that speaks against a group: one that would have failed a group whose results are all right, or
    changed nothing in the wrong cases of a group (`_would_fail_these`); nor one that explains less than half of the
    wrong cases of a group in which it is known what the mistake comes to (`_explains_each_group`): one case alone may
    agree by coincidence. A case that is wrong only where any number is right, with NaN there, speaks neither for a
    mistake nor against it.

    Args:
        ids: the mistakes that can be named, the likeliest first.
        outputs: the student's results by case; None where the case raised.
        expected: right results by case.
        wrong: fingerprints of the results by case, with each mistake that changes them.
        tolerances: by case, the largest difference that rounding explains.
        groups: by case, the group that it belongs to.
    """
    cases = {index: result for index, result in enumerate(outputs) if result is not None}
    failing = [index for index in cases if not agrees(cases[index], expected[index], tolerances[index])]
    results = {index: _Results(cases[index], expected[index], tolerances[index]) for index in failing}
    telling = [
        index for index in failing if not _agrees_where_it_counts(cases[index], expected[index], tolerances[index])
    ]
    silent = set(failing) - set(telling)
    by_group = {
        group: [index for index in cases if groups[index] == group and index not in silent]
        for group in dict.fromkeys(groups)
    }
    best, most = "", -1  # as many cases may contradict a mistake as speak for it, and no more
    for mistake in ids if failing else ():
        explained: list[int] = []
        for left, index in zip(range(len(failing), 0, -1), failing, strict=True):
            if len(explained) + left <= most:
                break  # not even all that are left would make it the best; a wrong result costs time to compute
            if mistake in wrong[index] and results[index].resemble(wrong[index][mistake]):
                explained.append(index)
        if not explained:
            continue
        speak_for_it = len(explained) - sum(mistake in wrong[index] for index in cases if index not in results)
        if speak_for_it <= most or not _would_fail_these(mistake, by_group, telling, wrong):
            continue
        if _explains_each_group(mistake, ids, by_group, telling, explained, wrong):
            best, most = mistake, speak_for_it
    return best


def _would_fail_these(
    mistake: str,
    groups: Mapping[str, Sequence[int]],
    failing: Collection[int],
    wrong: Sequence[Mapping[str, Mapping[str, Any]]],
) -> bool:
    """Whether a mistake changes something in the wrong cases of each group with wrong cases, and nothing elsewhere.

    Groups about how an object is made, `STRUCTURE`, may fail in any case: wrong references know little about that.
    """
    for name, group in groups.items():
        wrong_here = [index for index in group if index in failing]
        changed = any(mistake in wrong[index] for index in wrong_here or group)
        if changed != bool(wrong_here) and (changed or name not in STRUCTURE):
            return False
    return True


def _explains_each_group(
    mistake: str,
    ids: Sequence[str],
    groups: Mapping[str, Sequence[int]],
    failing: Collection[int],
    explained: Collection[int],
    wrong: Sequence[Mapping[str, Mapping[str, Any]]],
) -> bool:
    """Whether a mistake explains, in each group, half of the wrong cases for which its results are known.

    A quarter of these cases may stay unexplained if they are in groups of their own: large scores, for example, show
    how a mistake was written. What a probe says in words about how it was called is no coincidence: it is enough if
    no other mistake has these words.
    """
    known = {index for index in failing if _is_known(wrong[index].get(mistake))}
    if 4 * len(known.difference(explained)) <= len(known):
        return True
    others = [id for id in ids if id != mistake]
    for index in explained:
        words = _words(wrong[index][mistake])
        if words and words not in (_words(wrong[index].get(other)) for other in others):
            return True
    by_group = [known.intersection(group) for name, group in groups.items() if name not in STRUCTURE]
    return all(2 * len(group.intersection(explained)) >= len(group) for group in by_group)


def _words(results: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a probe says in words, of the results with a mistake."""
    return {key: value for key, value in (results or {}).items() if _says_words(value)}


def _says_words(value: Any) -> bool:
    return isinstance(value, str) and value[:1].isalpha() and " " in value


def _is_known(results: Mapping[str, Any] | None) -> bool:
    """Whether the results with a mistake are known: there are some, and their numbers are finite."""
    finite = (
        np.isfinite(value.values).all() if isinstance(value, Fingerprint) else math.isfinite(value)
        for value in (results or {}).values()
        if isinstance(value, (Fingerprint, bool, int, float))
    )
    return bool(results) and all(finite)

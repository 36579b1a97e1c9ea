"""Names the mistake: finds the wrong reference whose results the student's results agree with."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coursekit.comparison import as_numbers, difference

Mistakes = tuple[str, ...]

STRUCTURE = {"parameters", "training", "reload", "saved"}
FINGERPRINT_SIZE = 32
PAIRED = 8  # so many of an exercise's mistakes, the likeliest, are looked for in pairs
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


def possible_mistakes(ids: Sequence[str]) -> list[Mistakes]:
    """Every mistake, and every pair of the likeliest, which come first."""
    return [(id,) for id in ids] + list(itertools.combinations(ids[:PAIRED], 2))


def diagnose(
    ids: Sequence[str],
    outputs: Sequence[Mapping[str, Any] | None],
    expected: Sequence[Mapping[str, Any]],
    wrong: Sequence[Mapping[Mistakes, Mapping[str, Any]]],
    tolerances: Sequence[Mapping[str, float]],
    groups: Sequence[str],
) -> Mistakes:
    """Return the smallest set of mistakes that explains the results, empty when none does.

    A set of mistakes explains the results when, in every case that returned something, they agree with the reference
    made with those mistakes (the right reference, where the mistakes change nothing). When no set explains every case,
    the one that explains most of the wrong cases is taken, if it explains any. Among equals the one declared first is
    taken.

    No set is taken that speaks against a group: one that would have failed a group whose results are all right, or
    changed nothing in the wrong cases of a group (`_would_fail_these`); nor one that explains less than half of the
    wrong cases of a group in which it is known what the set comes to (`_explains_each_group`): one case alone may agree
    by coincidence. A case
    that is wrong only where any number is right, with NaN there, speaks neither for a mistake nor against it.

    A pair is taken only where both of its mistakes are seen, for a sum says little of its parts: a count that is 2·D
    too small may lack 4·D and have 2·D too many, or lack 2·D. `_both_are_seen` says when they are.

    Args:
        ids: the mistakes that can be named, the likeliest first.
        outputs: the student's results by case; None where the case raised.
        expected: right results by case.
        wrong: fingerprints of the results by case, with each set of mistakes that changes them.
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
    best: Mistakes = ()
    best_rank = (0, -len(cases) - 2)  # as many cases may contradict a mistake as speak for it, and no more
    for mistakes in possible_mistakes(ids) if failing else ():
        explained: list[int] = []
        for left, index in zip(range(len(failing), 0, -1), failing, strict=True):
            if (len(explained) + left, -len(mistakes)) <= best_rank:
                break  # not even all that are left would make it the best; a wrong result costs time to compute
            if mistakes in wrong[index] and results[index].resemble(wrong[index][mistakes]):
                explained.append(index)
        if not explained:
            continue
        contradicted = sum(mistakes in wrong[index] for index in cases if index not in results)
        rank = (len(explained) - contradicted, -len(mistakes))
        if rank <= best_rank or not _would_fail_these(mistakes, by_group, telling, wrong):
            continue
        if not _explains_each_group(mistakes, ids, by_group, telling, explained, wrong):
            continue
        evidence = [(expected[index], wrong[index], tolerances[index]) for index in explained]
        if len(mistakes) == 2 and not _both_are_seen(mistakes, evidence, complete=len(explained) == len(failing)):
            continue
        best, best_rank = mistakes, rank
        if len(explained) == len(failing) and not contradicted:
            break  # the sets that follow are no smaller, and cannot explain more
    return best


def _would_fail_these(
    mistakes: Mistakes,
    groups: Mapping[str, Sequence[int]],
    failing: Collection[int],
    wrong: Sequence[Mapping[Mistakes, Mapping[str, Any]]],
) -> bool:
    """Whether mistakes change something in the wrong cases of each group that has some, and nothing in other groups.

    A group about how an object is made, `STRUCTURE`, may fail all the same: wrong references know little of that.
    """
    for name, group in groups.items():
        wrong_here = [index for index in group if index in failing]
        changed = any(mistakes in wrong[index] for index in wrong_here or group)
        if changed != bool(wrong_here) and (changed or name not in STRUCTURE):
            return False
    return True


def _explains_each_group(
    mistakes: Mistakes,
    ids: Sequence[str],
    groups: Mapping[str, Sequence[int]],
    failing: Collection[int],
    explained: Collection[int],
    wrong: Sequence[Mapping[Mistakes, Mapping[str, Any]]],
) -> bool:
    """Whether in each group with wrong cases for which it is known what the mistakes do, half of them are explained.

    A quarter of such cases may stay unexplained, in groups of their own: large scores, say, show how a mistake was
    written. What a probe says in words, of how it was called, is no coincidence: that is enough, if it says them of no
    other mistake.
    """
    known = {index for index in failing if _is_known(wrong[index].get(mistakes))}
    if 4 * len(known.difference(explained)) <= len(known):
        return True
    others = [(id,) for id in ids if id not in mistakes]
    for index in explained:
        words = _words(wrong[index][mistakes])
        if words and words not in (_words(wrong[index].get(other)) for other in others):
            return True
    by_group = [known.intersection(group) for name, group in groups.items() if name not in STRUCTURE]
    return all(2 * len(group.intersection(explained)) >= len(group) for group in by_group)


def _words(results: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a probe says in words, of the results with some mistakes."""
    return {key: value for key, value in (results or {}).items() if _says_words(value)}


def _says_words(value: Any) -> bool:
    return isinstance(value, str) and value[:1].isalpha() and " " in value


def _is_known(results: Mapping[str, Any] | None) -> bool:
    """Whether it is known what a mistake comes to: there are results, and numbers in them."""
    numbers = [found for value in (results or {}).values() if (found := _numbers(value)) is not None]
    return bool(results) and all(np.isfinite(found.values).all() for found in numbers)


def _both_are_seen(
    pair: Mistakes,
    cases: Sequence[tuple[Mapping[str, Any], Mapping[Mistakes, Mapping[str, Any]], Mapping[str, float]]],
    *,
    complete: bool,
) -> bool:
    """Whether results that a pair of mistakes explains show both of them, and not only what they come to together.

    The effect of a mistake on a result is what goes when this mistake alone is left out of the pair. Both are seen if

    - each has an effect on a result on which the other one has none; or
    - in an array their effects are not multiples of one another; or
    - no wrong case is left (`complete`), and one of them has an effect on a result on which the other one has none; or
    - no wrong case is left, and together the two do something else than to add up, nor are their effects multiples.

    Args:
        pair: the mistakes.
        cases: of each case that the pair explains, the right results, the wrong ones, and the tolerances.
        complete: whether these are all the cases that are wrong.
    """
    alone = [False, False]
    effects: list[np.ndarray] = []
    for expected, wrong, tolerance in cases:
        for key, both in wrong[pair].items():
            right = fingerprint(expected.get(key))
            without = [fingerprint(wrong.get((other,), expected).get(key)) for other in reversed(pair)]
            found = _effects(both, without, right, tolerance.get(key, 0.0))
            if found is None:  # in shape, or in words: these do not add up
                changed = [not _equal(both, alone) for alone in without]
            else:
                effects.append(found)
                changed = [bool((np.abs(effect) > 1).any()) for effect in found[:2]]
            is_array = not isinstance(both, (bool, int, float))
            if all(changed) and is_array and (found is None or not _are_multiples(*found[:2])):
                return True
            alone = [before or (here and not all(changed)) for before, here in zip(alone, changed, strict=True)]
    if all(alone) or not complete:
        return all(alone)
    first, second, sums = np.concatenate(effects, axis=1) if effects else np.zeros((3, 0))
    return any(alone) or bool((np.abs(sums) > 1).any() and not _are_multiples(first, second))


def _effects(both: Any, without: Sequence[Any], right: Any, tolerance: float) -> np.ndarray | None:
    """The effects of two mistakes on one result, and by how much they do not add up, (3, numbers), in units of its
    tolerance; None if they change more than numbers."""
    found = [_numbers(value) for value in (both, *without, right)]
    values = [mistake for mistake in found if mistake is not None]
    if len(values) < len(found) or any(value.shape != values[0].shape for value in values):
        return None
    told = ~np.isnan(values[-1].values)
    together, *others = (np.nan_to_num(value.values, nan=2e30, posinf=1e30, neginf=-1e30)[told] for value in values)
    unit = max(tolerance, 1e-6 * float(np.abs(together[np.abs(together) < 1e30]).max(initial=0.0)), 1e-9)
    first, second, total = (together - other for other in others)
    return np.stack([first, second, total - first - second]) / unit


def _numbers(value: Any) -> Fingerprint | None:
    if isinstance(value, Fingerprint):
        return value
    return Fingerprint((), np.array([float(value)])) if isinstance(value, (bool, int, float)) else None


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, Fingerprint) and isinstance(other, Fingerprint):
        return one.shape == other.shape and np.array_equal(one.values, other.values, equal_nan=True)
    return type(one) is type(other) and one == other


def _are_multiples(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether one of two effects is, within 1, a multiple of the other, 0 times it included."""
    for one, other in ((first, second), (second, first)):
        length = float(other @ other)
        if (np.abs(one - (one @ other / length if length else 0.0) * other) <= 1).all():
            return True
    return False

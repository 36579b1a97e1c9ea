"""Says how wrong numbers relate to the right ones, where no named mistake fits: “Your `low` is right only in its last
item”.

A relation is a fact about numbers: a constant factor, two axes exchanged, right in the first item of a batch only. It
is stated if it holds in every case in which the result is wrong.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from coursekit.check.comparison import as_numbers, difference

FEW = 4  # of fewer numbers one may be right for another reason than its place
NEARLY = 0.01  # a difference that is smaller, as a share of the largest value, may come from one small number
GRADIENT = "gradient."  # how the names of gradients begin
ROUNDED = 1e-5  # the share of a value by which float32 may round it on the way


class Wrong(NamedTuple):
    """A result that differs from its reference: the inputs of the case, what came back, what is right."""

    inputs: Mapping[str, Any]
    actual: Any
    right: Any
    tolerance: float


def relation(
    inputs: Sequence[Mapping[str, Any]],
    outputs: Sequence[Mapping[str, Any] | None],
    expected: Sequence[Mapping[str, Any]],
    tolerances: Sequence[Mapping[str, float]],
) -> str:
    """A sentence on the first result for which a relation holds wherever it is wrong; empty if there is none.

    Gradients are wrong where what they are taken of is, so nothing is said of them unless all else is right.

    Args:
        inputs: inputs by case.
        outputs: the student's results by case; None where the case raised.
        expected: right results by case.
        tolerances: by case, the largest difference that rounding explains.
    """
    wrong: dict[str, list[Wrong]] = {}
    tried: Counter[str] = Counter()
    for given, results, right, limits in zip(inputs, outputs, expected, tolerances, strict=True):
        for key, value in right.items():
            limit = limits.get(key, 0.0)
            tried[key] += bool(results)
            if results and key in results and difference(key, results[key], value, limit) is not None:
                wrong.setdefault(key, []).append(Wrong(given, results[key], value, limit))
    misshapen = {key: cases for key, cases in wrong.items() if any(_has_another_shape(case) for case in cases)}
    wrong = misshapen or wrong  # what follows from another shape, such as another gradient, says nothing
    results_alone = {key: cases for key, cases in wrong.items() if not key.startswith(GRADIENT)}
    for key, cases in (results_alone or wrong).items():
        several = sum(_wrong_numbers(case) for case in cases) > 1
        with np.errstate(all="ignore"):  # whoever chose the numbers, nothing is said beside the sentence
            first, *others = (dict.fromkeys(_phrases(case, several)) for case in cases)
        common = [phrase for phrase in first if all(phrase in other for other in others)]
        if common and len(cases) == tried[key]:
            return f"Your `{key}` {common[0]}."
        if common:
            return f"Your `{key}` is wrong in {len(cases)} of {tried[key]} tests. There it {common[0]}."
    return ""


def _has_another_shape(case: Wrong) -> bool:
    actual, right = as_numbers(case.actual), as_numbers(case.right)
    return actual is not None and right is not None and actual.shape != right.shape


def _wrong_numbers(case: Wrong) -> int:
    """How many numbers of a result are wrong; all where its shape is another, 1 where no numbers are right."""
    actual, right = as_numbers(case.actual), as_numbers(case.right)
    if right is None:
        return 1
    if actual is None or actual.shape != right.shape:
        return int(right.size)
    with np.errstate(all="ignore"):  # an infinite number minus itself, and a wider type made narrow
        return int(right.size - np.sum(np.abs(actual.astype("float64") - right) <= case.tolerance))


def _phrases(case: Wrong, several: bool) -> Iterator[str]:
    """Return what is true of a wrong result, the most telling first. For one number some factor always fits."""
    actual, right = as_numbers(case.actual), as_numbers(case.right)
    if actual is None or right is None:
        return
    if actual.dtype.kind == "b" and right.dtype.kind != "b":
        return
    if actual.dtype.kind in "iu" and right.dtype.kind == "f" and (right != np.round(right)).any():
        is_near = actual.shape == right.shape and bool((np.abs(actual - right) <= 1).all())
        yield f"has whole numbers only{': the fractional parts were dropped' if is_near else ''}"
        return
    case = case._replace(actual=actual.astype("float64"), right=right.astype("float64"))
    yield from _unchanged(case, several)
    if actual.shape != right.shape:
        yield from _rearranged(case)
        return
    if not np.isfinite(case.actual).all():
        yield from _not_finite(case)
        return
    if np.isinf(case.right).any():  # no factor or difference relates a number to infinity
        return
    free = np.isnan(case.right)
    case = case._replace(actual=np.where(free, 0.0, case.actual), right=np.where(free, 0.0, case.right))
    yield from _rearranged(case)
    if right.dtype.kind != "b":
        yield from _scaled(case, several, is_count=right.dtype.kind in "iu" and not right.ndim)
    yield from _right_in_part(case)
    if right.dtype.kind == "f" and right.ndim:
        yield from _row_by_row(case)
        largest = float(np.abs(case.right).max(initial=0.0))
        if np.abs(case.actual - case.right).max(initial=0.0) <= NEARLY * largest:
            yield "is nearly right, as if a small number were added or had another value"


def _same(one: Any, other: Any, tolerance: float) -> bool:
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape:
        return False
    with np.errstate(invalid="ignore"):
        close = np.abs(one - other) <= tolerance + (ROUNDED * np.abs(other) if tolerance else 0)
    return bool(np.all(close | np.isnan(other)))


def _unchanged(case: Wrong, several: bool) -> Iterator[str]:
    for name, value in case.inputs.items():
        is_numbers = isinstance(value, np.ndarray) and value.ndim > 0 and value.dtype.kind in "iuf"
        if is_numbers and _same(case.actual, value, case.tolerance):
            yield f"is the input `{name}`, unchanged"
    if several and case.right.size > 1 and case.actual.size and (case.actual == case.actual.flat[0]).all():
        yield f"has the same number everywhere: {case.actual.flat[0]:.4g}"


def _rearranged(case: Wrong) -> Iterator[str]:
    """The right numbers along other axes, in another order, or in another shape."""
    _, actual, right, tolerance = case
    changed = [
        (f"its axes {axis} and {axis + 1} were exchanged", actual.swapaxes(axis, axis + 1))
        for axis in range(actual.ndim - 1)
        if actual.shape[axis : axis + 2] != (1, 1)
    ]
    for axis in range(-1, -1 - min(actual.ndim, 3), -1):
        if actual.shape[axis] > 1:
            changed.append((f"its order along axis {axis} were reversed", np.flip(actual, axis)))
            moved = f"it were shifted by one position along axis {axis}"
            changed += [(moved, np.roll(actual, step, axis)) for step in (1, -1)]
    yield from (f"would be right if {how}" for how, result in changed if _same(result, right, tolerance))
    if actual.size != right.size:
        return
    in_order = np.sort(right, axis=None)
    if actual.shape != right.shape and _same(actual.reshape(right.shape), right, tolerance):
        yield "has the right numbers, in another shape"
    elif len(np.unique(in_order)) > 2 and _same(np.sort(actual, axis=None), in_order, tolerance):
        yield "has the right numbers, in the wrong positions"


def _not_finite(case: Wrong) -> Iterator[str]:
    finite = np.isfinite(case.actual)
    if not _same(np.where(finite, case.actual, case.right), case.right, case.tolerance):
        return
    mask = case.inputs.get("mask", case.inputs.get("attention_mask"))
    if isinstance(mask, np.ndarray) and case.actual.ndim >= 2:
        empty = ~mask.astype(bool).any(axis=-1)
        rows = ~finite.any(axis=-1)
        whole = bool((rows == ~finite.all(axis=-1)).all())
        if whole and empty.ndim <= rows.ndim and _broadcasts(empty, rows) and empty.any():
            yield "is NaN or infinite exactly in the rows for which the mask allows nothing; all other rows are right"
    yield "is right wherever it is not NaN or infinite"


def _broadcasts(small: Any, large: Any) -> bool:
    try:
        return bool((np.broadcast_to(small, large.shape) == large).all())
    except ValueError:
        return False


def _scaled(case: Wrong, several: bool, *, is_count: bool) -> Iterator[str]:
    """Return phrases on factors and offsets. For a count, the factor has to look like a size: any other says nothing.
    For a single number it has to be a small fraction."""
    _, actual, right, tolerance = case
    length = float(np.sum(right * right))
    if not length:
        return
    factor = float(np.sum(actual * right)) / length
    if 1e-6 < abs(factor) < math.inf and _same(actual, factor * right, tolerance * max(1.0, abs(factor))):
        for name, size in _sizes(case.inputs):
            yield from _looks_like(factor, size, name)
        if not is_count and f"{factor:.4g}" != "1" and (several or _is_small_fraction(factor)):
            yield f"is the right result times {factor:.4g}"
    if right.size > 1:
        offset = float(np.mean(actual - right))
        if _same(actual, right + offset, tolerance):
            yield f"is the right result plus {offset:.4g}"


def _is_small_fraction(factor: float) -> bool:
    """Whether a factor is a small fraction such as 3/2 or 1/4, as a forgotten step gives."""
    return any(math.isclose(factor * parts, round(factor * parts) or 1, rel_tol=1e-4) for parts in (1, 2, 3, 4))


def _sizes(inputs: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The sizes of the inputs' axes, and the numbers among the inputs, that are larger than 1."""
    for name, value in inputs.items():
        if isinstance(value, np.ndarray):
            for axis in range(-1, -1 - value.ndim, -1):
                if value.shape[axis] > 1:
                    yield f"the size of axis {axis} of `{name}`", value.shape[axis]
        elif isinstance(value, (int, float)) and not isinstance(value, bool) and value > 1:
            yield f"`{name}`", value


def _looks_like(factor: float, size: float, name: str) -> Iterator[str]:
    for number, text in (
        (size, name),
        (math.sqrt(size), f"the square root of {name}"),
        (size**2, f"the square of {name}"),
    ):
        if math.isclose(factor, number, rel_tol=1e-4):
            yield f"is the right result times {text}"
        elif math.isclose(factor, 1 / number, rel_tol=1e-4):
            yield f"is the right result divided by {text}"


def _right_in_part(case: Wrong) -> Iterator[str]:
    _, actual, right, tolerance = case
    if not right.ndim:
        return
    close = np.abs(actual - right) <= tolerance
    mask = case.inputs.get("mask", case.inputs.get("attention_mask"))
    if isinstance(mask, np.ndarray) and mask.ndim:
        allowed = mask.astype(bool)
        if _broadcasts(allowed, close):
            yield "is right exactly where the mask is True"
        if _broadcasts(~allowed, close):
            yield "is right exactly where the mask is False"
    for axis in range(right.ndim):
        if right.shape[axis] < 2:
            continue
        along = close.all(axis=tuple(other for other in range(right.ndim) if other != axis))
        where = f" along axis {axis}" if right.ndim > 1 else ""
        first, last = along[0] and not along[1:].any(), along[-1] and not along[:-1].any()
        if (first or last) and right.size >= FEW:
            yield f"is right only in its {'first' if first else 'last'} item{where}"
        elif (not along[0] and along[1:].all()) or (not along[-1] and along[:-1].all()):
            yield f"is wrong only in its {'last' if along[0] else 'first'} item{where}"


def _row_by_row(case: Wrong) -> Iterator[str]:
    """Return phrases on factors and offsets of rows and of columns. Some factor always fits a line of equal numbers, or
    one with a single number that is not 0 (a softmax of large scores): each wrong line needs two different ones."""
    _, actual, right, tolerance = case
    for axis, what in ((-1, "row"), (-2, "column")):
        if right.ndim < -axis or right.shape[axis] < 3:
            continue
        each = f"{what} by {what}, each with another" if right.ndim > 1 else "in each test with another"
        lengths = (right * right).sum(axis=axis, keepdims=True)
        factors = (actual * right).sum(axis=axis, keepdims=True) / np.where(lengths > 0, lengths, 1.0)
        is_wrong = (np.abs(actual - right) > tolerance).any(axis=axis)
        counted = np.abs(right) > tolerance
        highest, lowest = (np.where(counted, sign * right, -np.inf).max(axis=axis) for sign in (1, -1))
        is_telling = bool((highest + lowest > tolerance)[is_wrong].all())
        if not is_telling:
            continue
        largest = float(np.abs(factors).max(initial=0.0))
        if 0 < largest < math.inf and _same(actual, factors * right, tolerance * max(1.0, largest)):
            yield f"is the right result times a factor, {each} one"
        offsets = (actual - right).mean(axis=axis, keepdims=True)
        if _same(actual, right + offsets, tolerance):
            yield f"is the right result plus a number, {each} one"

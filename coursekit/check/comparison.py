"""Compares one named result with the reference, and says what differs first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

LONGEST_QUOTE = 200  # characters of a value in a sentence
MOST_INSIDE = 100  # lists in each other that are printed
MOST_PRINTED = 1000  # values of an array: of a larger one NumPy prints the ends of each axis, and there may be 32 axes


def difference(
    name: str, actual: Any, expected: Any, tolerance: float, *, dtype: str | None = None, reveal: bool = True
) -> str | None:
    """Return one sentence on the first difference between a result and the reference, or None when they agree.

    Args:
        name: the result's name, such as ``"weights"``.
        actual: what came back, as plain data (see `coursekit.check.plain`), of whatever kind; nothing of it raises.
        expected: the reference. NaN in it stands for "any finite number".
        tolerance: largest absolute difference that rounding explains.
        dtype: the float type that the result must have; None when any will do.
        reveal: whether the sentence may state the reference value.
    """
    if not isinstance(expected, np.ndarray):
        return _plain_difference(name, actual, expected, tolerance, reveal)
    if isinstance(actual, (int, float, bool)):
        actual = np.asarray(actual)
    if not isinstance(actual, np.ndarray) or actual.dtype.kind not in "biuf":
        kind = f"array of {actual.dtype}" if isinstance(actual, np.ndarray) else type(actual).__name__
        return f"`{name}` is a {kind}; expected an array of numbers."
    if actual.shape != expected.shape:
        return f"`{name}` has shape {_shape(actual)}; expected {_shape(expected)}."
    anything = np.isnan(expected) if expected.dtype.kind == "f" else np.zeros(expected.shape, bool)
    not_finite = (
        ~np.isfinite(actual) & (anything | np.isfinite(expected)) if actual.dtype.kind == "f" else anything & False
    )
    if not_finite.any():
        index = _first(not_finite)
        return f"{_at(name, index)} is {actual[index]}: {int(not_finite.sum())} of {actual.size} values are not finite."
    wide = actual.astype("float64") if actual.dtype.kind != "f" else actual.astype(np.result_type(actual, "float64"))
    with np.errstate(invalid="ignore"):
        apart = ~((np.abs(wide - expected) <= tolerance) | (wide == expected) | anything)
    if apart.any():
        index = _first(apart)
        value = f"{_at(name, index)} is {_number(wide[index])}"
        value += f", expected {_number(expected[index])}" if reveal else ", which is not right"
        value += f"; {int(apart.sum())} of {actual.size} values differ." if actual.size > 1 else "."
        if actual.dtype.kind in "iu" and expected.dtype.kind == "f" and np.any(expected != np.round(expected)):
            value += f" It is an array of whole numbers ({actual.dtype}), so the fractional part was dropped."
        return value
    if dtype is not None and actual.dtype != np.dtype(dtype):
        return (
            f"`{name}` is {actual.dtype} for {dtype} input; expected {dtype}. "
            "Is another float type in the calculation? `np.zeros`, `np.eye` and `np.sqrt` of an int are float64."
        )
    return None


def as_numbers(value: Any) -> np.ndarray | None:
    """A number, or an array of numbers, as an array; None for anything else that can come back."""
    if not isinstance(value, (bool, int, float, np.ndarray)):
        return None
    array = np.asarray(value)
    return array if array.dtype.kind in "biuf" else None


def kind_of_difference(actual: Any, expected: Any) -> str:
    """How a result that differs from its reference fails: in its ``shape``, with a ``nan``, or in a ``value``."""
    if not isinstance(expected, np.ndarray):
        return "value"
    numbers = as_numbers(actual)
    if numbers is None or numbers.shape != expected.shape:
        return "shape"
    if numbers.dtype.kind != "f" or expected.dtype.kind != "f":
        return "value"
    return "nan" if bool((~np.isfinite(numbers) & ~np.isinf(expected)).any()) else "value"


def _plain_difference(name: str, actual: Any, expected: Any, tolerance: float, reveal: bool) -> str | None:
    if isinstance(actual, np.ndarray) and actual.ndim == 0:
        actual = actual.item()
    if isinstance(expected, (int, float)) and not isinstance(expected, bool):
        if isinstance(actual, bool) or not isinstance(actual, (int, float)):
            return f"`{name}` is {_quoted(actual)}; expected a number."
        same = actual == expected or abs(actual - expected) <= tolerance
    elif isinstance(expected, list):
        same = _equal(actual, expected)
    else:
        same = type(actual) is type(expected) and _equal(actual, expected)
    if same:
        return None
    if reveal and _is_plain_text(actual) and _is_plain_text(expected):
        return f"`{name}`: {actual}; expected: {expected}."
    return f"`{name}` is {_quoted(actual)}" + (
        f"; expected {_quoted(expected)}." if reveal else ", which is not right."
    )


def _equal(actual: Any, expected: Any) -> bool:
    """Whether two values are equal; arrays count as lists. Of `actual` only as much is read as `expected` is large: a
    student's result may hold a million things, and each case is compared with the results of many mistakes."""
    actual, expected = (value.item() if _is_number(value) else value for value in (actual, expected))
    if isinstance(actual, (list, np.ndarray)) and isinstance(expected, (list, np.ndarray)):
        return len(actual) == len(expected) and all(map(_equal, actual, expected))
    if isinstance(actual, dict) and isinstance(expected, dict):
        return actual.keys() == expected.keys() and all(_equal(actual[key], expected[key]) for key in expected)
    if isinstance(actual, np.ndarray) or isinstance(expected, np.ndarray):
        return False
    return bool(actual == expected)


def _is_number(value: Any) -> bool:
    return isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0)


def _is_plain_text(value: Any) -> bool:
    """Whether a value is a text that can be read without quotes, such as what a probe says of a function."""
    return isinstance(value, str) and 0 < len(value) < LONGEST_QUOTE and repr(value) == f"'{' '.join(value.split())}'"


def _quoted(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {_shape(value)}"
    text = _number(value) if isinstance(value, float) else beginning(value, LONGEST_QUOTE)
    return text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 3] + "…"


def beginning(value: Any, most: int, inside: tuple[int, ...] = ()) -> str:
    """Return what `repr` gives, whole or cut soon after `most` characters, without making the rest. A large array is
    given by its shape, a list inside itself by dots. `inside` are the ids of the containers around the value."""
    within = (*inside, id(value))
    match value:
        case list() | dict() if id(value) in inside or len(inside) > MOST_INSIDE:
            return "[...]" if isinstance(value, list) else "{...}"
        case str():
            return repr(value[: most + 1])
        case list():
            return f"[{_joined((beginning(item, most, within) for item in value), most)}]"
        case dict():
            pairs = (f"{beginning(key, most)}: {beginning(item, most, within)}" for key, item in value.items())
            return f"{{{_joined(pairs, most)}}}"
        case np.ndarray() if value.size > min(most, MOST_PRINTED):
            return f"an array of shape {_shape(value)}"
    return repr(value)


def _joined(texts: Iterable[str], most: int) -> str:
    kept: list[str] = []
    length = 0
    for text in texts:
        kept.append(text)
        length += len(text) + 2
        if length > most:
            break
    return ", ".join(kept)


def _shape(array: np.ndarray) -> str:
    return "(" + ", ".join(map(str, array.shape)) + ("," if array.ndim == 1 else "") + ")"


def _first(where: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(where)), where.shape))


def _at(name: str, index: tuple[int, ...]) -> str:
    return f"`{name}[{', '.join(map(str, index))}]`" if index else f"`{name}`"


def _number(value: Any) -> str:
    return f"{float(value):.6g}"

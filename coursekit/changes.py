"""Says what kind of change to the right formula gives a student's numbers, where no listed mistake does.

A lab's reference has, for each exercise, some kinds of change to the formula (another axis, a term left out) and for
each case one number for each of them, its *sketch*: a weighted sum of all that the changed formula returns there. The
formula itself is not here, and a sketch does not tell what it is of.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from coursekit.comparison import beginning, difference

UNCHANGED, NO_RESULT, NOT_COMPUTED = math.nan, math.inf, -math.inf  # in place of a sketch
LARGEST = 1e30  # what is larger counts as this: in float32 it is infinite
SAMPLED = 4096  # so many values of an array enter its sketch
LONGEST_TEXT = 4096  # about so many characters of what is no number do
ROUNDED = 1e-5  # the share of a value by which float32 may round it on the way (see `coursekit.diagnosis`)
STORED = 1e-6  # the share of a sketch by which it may differ from the stored one, which is a float32

PHRASES = {
    "axis": "{} runs over another axis",
    "all_axes": "{} runs over all axes at once",
    "size": "the size of another axis is used",
    "item": "another entry is taken",
    "times": "something is divided that should be multiplied",
    "over": "something is multiplied that should be divided",
    "plus": "something is subtracted that should be added",
    "minus": "something is added that should be subtracted",
    "difference": "a difference is taken the wrong way round",
    "summand": "one part of a sum or of a difference is left out",
    "factor": "a factor is left out",
    "added": "two numbers are added that should be multiplied",
    "divisor": "a division is left out",
    "quotient": "a quotient stands upside down",
    "power": "a power is not taken",
    "factors": "the two factors of a matrix product are exchanged",
    "transposed": "a factor of a product, or its result, is transposed",
    "either": "one condition is enough where both are needed",
    "both": "both conditions are needed where one is enough",
    "condition": "a condition is not asked for",
    "sign": "a minus sign is missing",
    "inverted": "a condition is turned round",
    "boundary": "a comparison leaves out equality, or has it in addition (`<` and `<=`)",
    "flag": "a switch is set the other way",
    "one_off": "a number is too large or too small by one",
    "constant": "a constant is another number",
    "part": "everything is taken where a part should be",
    "input": "{} stands where another input belongs",
    "entries": "two entries are exchanged",
    "function": "{} stands in the place of {}",
    "call": "{} is left out",
    "arguments": "what goes into {} is exchanged",
    "keepdims": "a reduced axis is not kept",
    "argument": "{} is not passed on",
    "statement": "a step is left out",
    "ignored": "{} is not used",
}
_NOUNS = {
    **{"sum": "a sum", "mean": "a mean", "max": "a maximum", "min": "a minimum", "prod": "a product"},
    **{"var": "a variance", "std": "a standard deviation", "sqrt": "a root", "exp": "an exponential"},
    **{"log": "a logarithm", "log2": "a logarithm to base 2", "softmax": "the softmax", "tanh": "the tanh"},
    **{"sin": "a sine", "cos": "a cosine", "maximum": "the larger of two", "minimum": "the smaller of two"},
    **{"transpose": "a transposition", "swapaxes": "a transposition", "where": "a choice between two values"},
    **{"reshape": "a change of shape", "argmax": "the place of the largest", "argmin": "the place of the smallest"},
    **{"any": "“any”", "all": "“all”", "abs": "an absolute value", "reverse": "a reversal"},
}


class Change(NamedTuple):
    """One change to the right formula: a key of `PHRASES`, what its sentence names, and the step that is changed.

    The sentence does not name the step: it is a variable of the formula, and a student's code need not have it.
    """

    kind: str
    detail: str = ""
    place: str = ""

    @property
    def sentence(self) -> str:
        """What the student is told."""
        if self.kind in ("input", "ignored", "argument"):
            names = [f"`{self.detail}`" if self.detail else "an argument"]
        else:
            names = [_noun(part) for part in reversed(self.detail.split("/"))]
        phrase = PHRASES[self.kind].format(*names)
        return f"Your numbers are those of the right calculation with one change: {phrase}."


def _noun(name: str) -> str:
    return _NOUNS.get(name, f"the step “{name.strip('_').replace('_', ' ')}”")


class Sketch(NamedTuple):
    """A weighted sum of all results of a case, and by how much rounding may change it."""

    value: float
    rounding: float

    def agrees(self, stored: float) -> bool:
        """Whether a stored sketch is of the same results."""
        return abs(self.value - stored) <= self.rounding + STORED * abs(stored)


def sketch(results: Mapping[str, Any], expected: Mapping[str, Any], tolerance: Mapping[str, float]) -> Sketch:
    """The sketch of results, as plain data, by the names of the expected ones.

    Shapes enter it, and what is no number by its text. A value that the right results leave free, NaN, does not.
    """
    total = rounding = 0.0
    for number, (key, right) in enumerate(expected.items()):
        values, shape = _numbers(results.get(key), right)
        steps = (np.arange(values.size) + 1.0) * 0.6180339887498949  # the golden ratio's multiples are spread evenly
        weights = (0.5 + steps % 1.0) * (1 + number)
        total += float(values @ weights) + sum((axis + 2) * math.sqrt(size + 2) for axis, size in enumerate(shape))
        limit = tolerance.get(key, 0.0)
        rounding += limit * float(weights.sum()) + (ROUNDED * float(np.abs(values) @ weights) if limit else 0.0)
    return Sketch(total, rounding / 4)  # of many roundings not all go one way


def _numbers(value: Any, right: Any) -> tuple[np.ndarray, tuple[int, ...]]:
    """A result as numbers to be added up, and its shape."""
    if not (isinstance(value, (bool, int, float)) or (isinstance(value, np.ndarray) and value.dtype.kind in "biuf")):
        text = beginning(value.tolist() if isinstance(value, np.ndarray) else value, LONGEST_TEXT)
        return np.array([zlib.crc32(text.encode("utf-8", "replace")) / 2.0**22]), ()
    array = np.asarray(value)
    free = isinstance(right, np.ndarray) and right.dtype.kind == "f" and right.shape == array.shape
    flat, none = array.ravel(), np.isnan(right).ravel() if free else np.zeros(array.size, bool)
    if flat.size > SAMPLED:
        places = np.linspace(0, flat.size - 1, SAMPLED).astype(int)
        flat, none = flat[places], none[places]
    numbers = np.nan_to_num(flat.astype("float64"), nan=7919.0, posinf=LARGEST, neginf=-LARGEST)
    return np.where(none, 0.0, np.clip(numbers, -LARGEST, LARGEST)), array.shape


def differs(results: Mapping[str, Any], expected: Mapping[str, Any], tolerance: Mapping[str, float]) -> bool:
    """Whether a result differs from the right one by more than its tolerance."""
    return any(
        difference(key, results.get(key), right, tolerance.get(key, 0.0)) is not None for key, right in expected.items()
    )


def change_behind(
    changes: Mapping[str, Change],
    outputs: Sequence[Mapping[str, Any] | None],
    expected: Sequence[Mapping[str, Any]],
    tolerances: Sequence[Mapping[str, float]],
    changed: Sequence[Mapping[str, float]],
    failed: Sequence[bool],
) -> Change | None:
    """The first change that gives a student's results in every case, right and wrong; None where none does.

    Args:
        changes: the exercise's changes, by key.
        outputs: the student's results by case; None where the case raised.
        expected: right results by case.
        tolerances: by case, the largest difference that rounding explains.
        changed: by case, the sketch of the results with each change; `UNCHANGED`, `NO_RESULT` or `NOT_COMPUTED`.
        failed: by case, whether it failed. One that failed though its numbers are right speaks against every change.
    """
    wrong: dict[int, Sketch] = {}
    right = []
    for index, result in enumerate(outputs):
        if result is None:
            continue
        if differs(result, expected[index], tolerances[index]):
            wrong[index] = sketch(result, expected[index], tolerances[index])
        elif failed[index]:
            return None
        else:
            right.append(index)

    def explains(key: str) -> bool:
        seen = 0
        for index, found in wrong.items():
            stored = changed[index].get(key, UNCHANGED)
            if stored != NOT_COMPUTED and not (math.isfinite(stored) and found.agrees(stored)):
                return False
            seen += stored != NOT_COMPUTED
        others = (changed[index].get(key, UNCHANGED) for index in right)
        return bool(seen) and all(math.isnan(other) or other == NOT_COMPUTED for other in others)

    return next((change for key, change in changes.items() if explains(key)), None) if wrong else None

"""Turns what a student's code returns into plain data: arrays of real numbers, numbers, text, and lists and
dictionaries of these. What comes out can be judged, and can be sent from the sandbox to the grader.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.probes.arguments import kind_of
from coursekit.probes.driving import ContractError

LONGEST_TEXT = 1 << 20  # characters
DEEPEST = 16  # lists in lists; no result of a lab has more than four axes
ARRAYS = frozenset(
    {
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64"),
    }
)
REPLACED = {
    **{"bfloat16": "float32", "float8_e4m3fn": "float32", "float8_e5m2": "float32"},
    **{"float96": "float64", "float128": "float64"},
}


def plain(value: Any) -> Any:
    """Turn a result into plain data.

    Tensors, variables and NumPy scalars become arrays of the type that they have, but for the float types `REPLACED`.
    A list or tuple of numbers becomes an array, however deep it is nested; any other list or tuple becomes a list,
    and bytes become text. Arrays are copied: what the student's code does later does not change them.

    Args:
        value: what the student's code returned.

    Returns:
        None, a bool, an int of 64 bits, a float, a str, an array of one of the types `ARRAYS`, or a list or a
        dictionary (with str keys) of these.

    Raises:
        ContractError: the value is none of these, such as a generator or a complex number.
    """
    return _plain(value, DEEPEST)


def _plain(value: Any, depth: int) -> Any:
    if depth == 0:
        raise ContractError(f"a result nested more than {DEEPEST} deep was returned; expected an array or a tensor.")
    if value is None or type(value) in (bool, float):
        return value
    if type(value) is int:
        return _whole(value)
    if isinstance(value, (str, bytes)):
        return _text(value)
    if isinstance(value, Mapping):
        return {_text(str(key)): _plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return _list(value, depth)
    return _array(value, depth)


def _whole(value: int) -> int:
    if not -(1 << 63) <= value < 1 << 64:
        raise ContractError("a whole number of more than 64 bits was returned; expected a number of usual size.")
    return value


def _text(value: str | bytes) -> str:
    if len(value) > LONGEST_TEXT:
        raise ContractError(f"a text of {len(value):,} characters was returned; expected an array or a tensor.")
    raw = value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
    return raw.decode("utf-8", "replace")


def _list(value: Sequence[Any], depth: int) -> Any:
    joined = _joined(value)
    if joined is not None:
        return joined
    items = [_plain(item, depth - 1) for item in value]
    if any(isinstance(item, np.ndarray) for item in items):  # of a float type that NumPy lacks, or variables
        joined = _joined(items)
    return items if joined is None else joined


def _joined(value: Sequence[Any]) -> np.ndarray | None:
    """Return a list as one array; None if it holds anything but numbers, or rows of different lengths."""
    try:
        array = np.asarray(value)
    except Exception:  # raised by the student's own objects as well
        return None
    return _native(array) if array.dtype.name in ARRAYS and array.size else None


def _array(value: Any, depth: int) -> Any:
    other = ContractError(f"{kind_of(value)} was returned; expected an array or a tensor.")
    if not (isinstance(value, (np.ndarray, np.generic)) or hasattr(value, "numpy") or hasattr(value, "__array__")):
        raise other
    try:
        array = np.asarray(value)
    except Exception as error:
        raise ContractError(
            f"{kind_of(value)} was returned that has no numbers; expected an array or a tensor."
        ) from error
    if array.dtype.kind in "OSU":
        listed = array.tolist()
        if listed is value:  # a ragged tensor
            raise other
        return _plain(listed, depth - 1)
    array = array.astype(REPLACED.get(array.dtype.name, array.dtype))
    if array.dtype.name not in ARRAYS:
        raise ContractError(f"an array of dtype {array.dtype} was returned; expected real numbers.")
    return _native(array)


def _native(array: np.ndarray) -> np.ndarray:
    return array.astype(array.dtype.newbyteorder("="))

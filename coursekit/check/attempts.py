"""Tries a student's object on one case: what it returns becomes plain data, an exception a status and a message.

The notebook's check and the grader's worker both call `attempt`, so that both judge the same things.
"""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.check.judge import STUB, Attempt, tidy_message
from coursekit.check.rules import ForbiddenCall
from coursekit.probes.driving import NotFound, Probe
from coursekit.probes.evidence import ContractError, kind_of

LONGEST_LINE = 90
LONGEST_MESSAGE = 400  # characters, as `tidy_message` leaves them
LONGEST_TEXT = 20_000  # characters of an error's own text that are read


def attempt(probe: Probe, namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> Attempt:
    """Drive the student's object with `probe`, and return its results as plain data, or what went wrong.

    Args:
        probe: the exercise's probe.
        namespace: the notebook's global names.
        inputs: named inputs of the case.
        mode: the probe's mode.

    Raises:
        KeyboardInterrupt: the user has asked to stop.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a notebook shows them as errors, and may have asked to raise them
            outputs = probe(namespace, inputs, mode)
            return Attempt({str(name): plain(value) for name, value in outputs.items()})
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # `exit()` in an answer raises SystemExit
        return failed(error, namespace)


def failed(error: BaseException, namespace: Mapping[str, Any]) -> Attempt:
    """Turn an exception into a failed attempt: the kind of failure, and a message on one line.

    Args:
        error: what the probe, or the student's code in it, raised.
        namespace: the notebook's global names, by which the student's own lines are found.
    """
    name, text = _words(error)
    if isinstance(error, ForbiddenCall):
        return Attempt(kind="forbidden", message=tidy_message(text))
    if isinstance(error, NotFound) or (isinstance(error, NotImplementedError) and STUB in text):
        return Attempt(kind="missing", message=tidy_message(text) or "not written yet.")
    if isinstance(error, ContractError):
        return Attempt(kind="contract", message=_located(tidy_message(text), error.__cause__, namespace))
    return Attempt(kind="error", message=_located(tidy_message(f"{name}: {text}"), error, namespace))


def _located(message: str, error: BaseException | None, namespace: Mapping[str, Any]) -> str:
    """`message` with the student's line in which `error` arose, if it arose in one."""
    line = _find_line(error, namespace) if error else ""
    if not line:
        return message
    where = f", in your line `{line}`"
    message = message.rstrip(".")
    room = LONGEST_MESSAGE - len(where)
    return (message if len(message) <= room else message[: room - 1] + "…") + where


def _find_line(error: BaseException, namespace: Mapping[str, Any]) -> str:
    """The line of the notebook in which `error` arose, as it is written there; empty when no line is found.

    Args:
        error: an error that was caught.
        namespace: the notebook's global names, by which its own frames are known.
    """
    line, frames = "", error.__traceback__
    while frames is not None:
        frame = frames.tb_frame
        if frame.f_globals is namespace:
            found = linecache.getline(frame.f_code.co_filename, frames.tb_lineno).strip()
            line = found if found and "ag__." not in found else line  # AutoGraph's code is not the student's
        frames = frames.tb_next
    line = line.partition("  #")[0].replace("`", "'")
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"


def _words(error: BaseException) -> tuple[str, str]:
    """Return an exception's name and text. A student's own exception class may raise here; then say that."""
    try:
        said = type(error).__name__, str(error)[:LONGEST_TEXT]
        name, text = (text.encode("utf-8", "replace").decode("utf-8") for text in said)
        return name, text
    except BaseException:
        return "Exception", "(the error's own text cannot be shown)"


# -- plain data: arrays of real numbers, numbers, text, lists and dictionaries of these -------------------------------


LONGEST_RESULT = 1 << 20  # characters
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
    if len(value) > LONGEST_RESULT:
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

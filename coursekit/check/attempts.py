"""Tries a student's object on one case: what it returns becomes plain data, an exception a status and a message.

The notebook's check and the grader's worker both call `attempt`, so that both judge the same things.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from coursekit.check import failures
from coursekit.check.guard import ForbiddenCall
from coursekit.check.judge import Attempt, tidy_message
from coursekit.check.plain import plain
from coursekit.check.statuses import STUB
from coursekit.probes.driving import ContractError, NotFound, Probe

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
    line = failures.place(error, namespace) if error else ""
    if not line:
        return message
    where = f", in your line `{line}`"
    message = message.rstrip(".")
    room = LONGEST_MESSAGE - len(where)
    return (message if len(message) <= room else message[: room - 1] + "…") + where


def _words(error: BaseException) -> tuple[str, str]:
    """Return an exception's name and text. A student's own exception class may raise here; then say that."""
    try:
        said = type(error).__name__, str(error)[:LONGEST_TEXT]
        name, text = (text.encode("utf-8", "replace").decode("utf-8") for text in said)
        return name, text
    except BaseException:
        return "Exception", "(the error's own text cannot be shown)"

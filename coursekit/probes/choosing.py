"""The probe of a design: hands over the numbers that a student chose; what is true of them is said outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from coursekit.probes.arguments import ContractError
from coursekit.probes.driving import record
from coursekit.probes.evidence import ReadOutside

Reader = Callable[[Any, str], Any]


def design(says: Callable[..., str], **entries: Reader) -> ReadOutside:
    """Probe that calls ``design()``, which returns a dictionary, for the constraint ``inputs["constraint"]``.

    Args:
        says: what is true of the choice, of ``says(constraint, **chosen)``; one text for each way to keep or break it.
        entries: for each entry of the dictionary what reads it: a value and its name, which `ContractError` states.
    """
    chosen = record("design", fields=tuple(entries))

    def read(found: Mapping[str, Any]) -> dict[str, Any]:
        return {name: read_entry(found.get(name), f"`{name}`") for name, read_entry in entries.items()}

    def drive(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
        return read(chosen(namespace, inputs, mode))  # read here as well: this error shows the value as it was returned

    def standing(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
        return {inputs["constraint"]: says(inputs["constraint"], **read(made))}

    return ReadOutside(drive, {"call": standing})


def whole(least: int = 1) -> Reader:
    """Reads a whole number of at least `least`, of whatever type: 64, 64.0 or ``np.int64(64)``."""

    def read(value: Any, name: str) -> int:
        number = _number(value)
        if number is None or number != round(number) or number < least:
            raise ContractError(f"{name} is {repr(value)[:60]}; expected a whole number of at least {least}.")
        return int(number)

    return read


def real(value: Any, name: str) -> float:
    """Reads a finite number."""
    number = _number(value)
    if number is None:
        raise ContractError(f"{name} is {repr(value)[:60]}; expected a number.")
    return float(number)


def positive(value: Any, name: str) -> float:
    """Reads a finite number above 0."""
    number = real(value, name)
    if number <= 0:
        raise ContractError(f"{name} is {repr(value)[:60]}; expected a number above 0.")
    return number


def _number(value: Any) -> int | float | None:
    """A finite number as it is; None for anything else."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError):  # a list whose rows differ in length
        return None
    is_number = array.shape == () and array.dtype.kind in "iuf" and np.isfinite(array)
    return array.item() if is_number else None

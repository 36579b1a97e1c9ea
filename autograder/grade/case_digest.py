"""A digest of an exercise's hidden cases: two submissions that were graded with the same one can be compared."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from coursekit.check.judge import ExerciseSpec, Expectation


def digest(spec: ExerciseSpec, cases: Iterable[Any]) -> str:
    """A text that changes when the cases of an exercise do, with what they expect, its groups' weights or its rules.

    It does not change with sentences and hints. Expected numbers count up to their tolerance, so that machines agree.
    """
    groups = [(group.name, group.weight) for group in spec.groups]
    rules = [groups, spec.forbidden, spec.no_loops, sorted(spec.costs_at_most.items())]
    found = hashlib.sha256(repr(rules).encode())
    for case in cases:
        found.update(repr(_plain(_of_case(case) if isinstance(case, Expectation) else case)).encode("utf-8", "replace"))
    return found.hexdigest()[:16]


def _of_case(case: Expectation) -> list[Any]:
    expected = {
        name: _up_to(value, case.tolerance[name]) if case.tolerance.get(name) else value
        for name, value in case.expected.items()
    }
    return [case.group, case.mode, case.dtype, case.property, case.inputs, case.withheld, expected]


def _up_to(value: Any, tolerance: float) -> Any:
    numbers = np.asarray(value, dtype="float64")
    with np.errstate(all="ignore"):
        steps = np.rint(numbers / tolerance) + 0.0  # no -0
    return [float(f"{tolerance:.3g}"), np.where(np.isnan(steps), np.nan, steps)]


def _plain(value: Any) -> Any:
    """A value whose `repr` says all of it, and nothing else."""
    if isinstance(value, Mapping):
        return [(str(key), _plain(value[key])) for key in sorted(value, key=str)]
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return value.dtype.str, value.shape, hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    if isinstance(value, np.ndarray):
        return [_plain(each) for each in value.tolist()]
    return value if isinstance(value, bool | int | float | str | bytes | None) else str(type(value))

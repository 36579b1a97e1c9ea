"""Finds the groups that expect the same for every seed: their points can be had by copying what a lab ships."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.declare import Exercise, Questions
from autograder.declare.declaration import Declaration
from autograder.declare.exercise import VISIBLE_SEED
from coursekit.check.judge import Expectation

OTHER_SEED = 40723  # any but the visible one


@dataclass(frozen=True)
class FixedGroup:
    """A group whose expected values do not depend on the seed.

    Attributes:
        exercise: the exercise's name.
        group: the group's name.
        share: of the exercise's points.
        reason: why that is so; "" where nobody has said it.
    """

    exercise: str
    group: str
    share: float
    reason: str


def fixed_groups(declared: Mapping[str, Declaration]) -> Iterator[FixedGroup]:
    """The fixed groups of a lab's exercises. Own ones are left out: their solution would have to run."""
    for name, exercise in declared.items():
        if not isinstance(exercise, Exercise):
            continue
        reason = "a value that students write down" if isinstance(exercise, Questions) else ""
        one, other = (exercise.expectations(seed) for seed in (VISIBLE_SEED, OTHER_SEED))
        total = sum(group.weight for group in exercise.groups)
        for group in exercise.groups:
            cases = [[case for case in drawn if case.group == group.name] for drawn in (one, other)]
            if _expect_the_same(*cases):
                yield FixedGroup(name, group.name, group.weight / total, reason or group.fixed)


def _expect_the_same(one: Sequence[Expectation], other: Sequence[Expectation]) -> bool:
    return len(one) == len(other) and all(
        _equal(a.expected, b.expected) and _equal(a.withheld, b.withheld) for a, b in zip(one, other, strict=True)
    )


def _equal(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f" and other.dtype.kind == "f")
    return type(one) is type(other) and one == other

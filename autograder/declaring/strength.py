"""How strong the cases of an exercise are: which mutants of its formula would get full points."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from autograder.declaring.changes import SLOW_MODES, ChangedResults
from autograder.declaring.declaration import Case
from autograder.declaring.exercise import Exercise
from coursekit.judge import Expectation

FRESH_SEED = 1_000_003  # seeds from here on draw inputs that no check and no grading run uses


@dataclass(frozen=True)
class Strength:
    """The mutants of a formula, by what becomes of them.

    Attributes:
        made: how many there are.
        killed: how many fail a group.
        equivalent: how many give the right results on every fresh input.
        left: keys of those that fail no group, though they differ on a fresh input.
    """

    made: int
    killed: int
    equivalent: int
    left: tuple[str, ...]


def strength(exercise: Exercise, seed: int, inputs: int = 200) -> Strength:
    """Try every mutant of the formula on the cases drawn from `seed`, and those that pass on fresh inputs.

    Args:
        exercise: one with a formula.
        seed: of the cases.
        inputs: how many fresh inputs a mutant must agree on to count as equivalent.
    """
    changes = list(exercise.changes)
    cases = [
        ChangedResults.of(exercise, expectation)
        for expectation in exercise.expectations(seed)
        if expectation.mode not in SLOW_MODES
    ]
    passing = [key for key in changes if not any(_differs(case, key) for case in cases)]
    fresh = [ChangedResults.of(exercise, drawn) for drawn in islice(fresh_inputs(exercise), inputs)] if passing else []
    left = tuple(key for key in passing if any(_differs(case, key) for case in fresh))
    return Strength(len(changes), len(changes) - len(passing), len(passing) - len(left), left)


def _differs(case: ChangedResults, key: str) -> bool:
    return not math.isnan(case[key])


LARGER = 3  # times as large are the numbers of some fresh inputs


def fresh_inputs(exercise: Exercise) -> Iterator[Expectation]:
    """Cases of further draws without end, each also without each of its optional inputs, and with larger numbers."""
    seed = FRESH_SEED
    while True:
        for case in exercise.expectations(seed):
            if case.mode in SLOW_MODES:
                continue
            yield case
            for key in exercise.optional:
                if key in case.inputs:
                    kept = {name: value for name, value in case.inputs.items() if name != key}
                    yield from _with_inputs(exercise, case, kept)
            yield from _with_inputs(exercise, case, {key: _larger(value) for key, value in case.inputs.items()})
        seed += 1


def _larger(value: Any) -> Any:
    return LARGER * value if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value


def _with_inputs(exercise: Exercise, case: Expectation, inputs: dict[str, Any]) -> Iterator[Expectation]:
    """The case with other inputs, if the formula takes them."""
    changed = Case(inputs, mode=case.mode, withheld=case.withheld)
    try:
        exact = exercise.reference(changed)
    except Exception:  # it needs what was left out
        return
    # Rounding that a group allows, since numbers inside are larger than the results, is allowed here, too.
    tolerance = {
        key: max(exercise.bound(changed, value), LARGER * case.tolerance.get(key, 0.0)) for key, value in exact.items()
    }
    yield replace(case, inputs=inputs, expected=exact, tolerance=tolerance)

"""How strong the cases of an exercise are: which mutants of its formula would get full points."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from autograder.author.mutants import Mutant, make_mutants
from autograder.declare.declaration import Case
from autograder.declare.exercise import Exercise
from coursekit.check.comparison import difference
from coursekit.check.judge import Expectation

SLOW_MODES = ("gradient", "slopes", "derivative")  # hundreds of runs of the formula for each case
NEARLY = 0.5  # tolerances within which a result counts as the right one

LARGER = 3  # times as large are the numbers of some fresh inputs
FRESH_SEED = 1_000_003  # seeds from here on draw inputs that no check and no grading run uses


@dataclass(frozen=True)
class Strength:
    """The mutants of a formula, by what becomes of them.

    Attributes:
        made: how many there are.
        killed: how many fail a group.
        equivalent: how many give the right results on every fresh input.
        left: those that fail no group, though they differ on a fresh input.
    """

    made: int
    killed: int
    equivalent: int
    left: tuple[Mutant, ...]


def strength(exercise: Exercise, seed: int, inputs: int = 200) -> Strength:
    """Try every mutant of the formula on the cases drawn from `seed`, and those that pass on fresh inputs.

    Args:
        exercise: one with a formula.
        seed: of the cases.
        inputs: how many fresh inputs a mutant must agree on to count as equivalent.
    """
    made = list(formula_mutants(exercise))
    cases = [case for case in exercise.expectations(seed) if case.mode not in SLOW_MODES]
    passing = [each for each in made if not any(each.differs(case) for case in cases)]
    fresh = list(islice(fresh_inputs(exercise), inputs)) if passing else []
    left = tuple(each.mutant for each in passing if any(each.differs(case) for case in fresh))
    return Strength(len(made), len(made) - len(passing), len(passing) - len(left), left)


def formula_mutants(exercise: Exercise) -> Iterator[FormulaMutant]:
    """Every mutant of an exercise's formula, and of the course's functions that it calls.

    None where there is no formula, or where it has no text of its own, such as a lambda.
    """
    try:
        texts = exercise.formulas.texts
    except (ValueError, SyntaxError):
        return
    for function, text in texts.items():
        yield from (FormulaMutant(exercise, function, mutant) for mutant in make_mutants(text))


class FormulaMutant:
    """One change to one function of a formula."""

    def __init__(self, exercise: Exercise, function: Any, mutant: Mutant):
        self.mutant = mutant
        self._exercise = exercise
        self._function = function

    @cached_property
    def _functions(self) -> dict[str, Any] | None:
        try:
            return self._exercise.formulas.compile({self._function: self.mutant.text})
        except Exception:  # a default value that cannot be computed any more
            return None

    def differs(self, case: Expectation) -> bool:
        """Whether the changed formula ends in an error, or returns something that is clearly not right."""
        results = self._results(Case(dict(case.inputs), mode=case.mode, withheld=case.withheld))
        if not results:
            return True
        return any(
            difference(key, _comparable(results.get(key), right), right, NEARLY * case.tolerance.get(key, 0.0))
            for key, right in case.expected.items()
        )

    def _results(self, case: Case) -> Mapping[str, Any] | None:
        """What the changed formula returns in a case; None where it ends in an error, or returns no values."""
        if self._functions is None:
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results = self._exercise.run(self._functions.get(case.mode) or self._functions[""], case)
                return None if any(isinstance(value, Iterator) for value in results.values()) else results
        except Exception:  # whatever a formula that makes no sense can raise
            return None


def _comparable(value: Any, right: Any) -> Any:
    """Return a formula's result in the form of the right one, with a number wherever the right one allows any."""
    if not isinstance(right, np.ndarray) or value is None or isinstance(value, str | dict):
        return value
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        return value
    if right.dtype.kind == "f" and array.dtype.kind == "f" and array.shape == right.shape:
        return np.where(np.isnan(right), 0.0, array)
    return array


def fresh_inputs(exercise: Exercise) -> Iterator[Expectation]:
    """Cases of further draws without end, each also without each of its optional inputs, and with larger numbers."""
    seed = FRESH_SEED
    while True:
        for case in exercise.expectations(seed):
            if case.mode in SLOW_MODES:
                continue
            yield case
            for key in exercise.arguments[1]:
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

"""Judges exercises that call each other: a mistake that was made once costs the points of one exercise, not of two.

All of it happens on the trusted side, after every exercise was judged on its own, with results that are there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from autograder.declaring.declaration import Case, Declaration
from autograder.declaring.exercise import Exercise, Oracle, scaled
from coursekit import properties
from coursekit.comparison import as_numbers, difference
from coursekit.diagnosis import Mistakes
from coursekit.judge import Attempt, Expectation, Judgement


@dataclass(frozen=True)
class JudgedAlone:
    """An exercise of a submission: its declaration and cases, what came back from them, and what was found alone."""

    exercise: Declaration
    cases: Sequence[Expectation]
    attempts: Sequence[Attempt]
    judgement: Judgement


def judged_together(tried: Mapping[str, JudgedAlone], called: Mapping[str, frozenset[str]]) -> dict[str, Judgement]:
    """The judgements by exercise, once it is looked at which exercises call one that is wrong.

    An exercise passes if its results are those of its formula where the exercises that it declares to use, and calls,
    have the mistakes that were named there. Otherwise it is said which one to mend first, and its points stay.

    Args:
        tried: the exercises of the lab in its order.
        called: by exercise, the others that the student's code calls.
    """
    found = {name: attempt.judgement for name, attempt in tried.items()}
    for name, attempt in tried.items():
        wrong = [other for other in found if other in called.get(name, ()) and found[other].is_wrong]
        if wrong and attempt.judgement.is_wrong:
            used = _used(name, tried)
            named = {
                other: (exercise, found[other].misconceptions)
                for other in wrong
                if other in used and found[other].misconceptions and _has_formula(exercise := tried[other].exercise)
            }
            carried, groups = _carried(attempt, named)
            alone = attempt.judgement
            found[name] = alone.carrying(carried, groups) if groups else alone.behind(wrong[0])
    return found


def _used(name: str, tried: Mapping[str, JudgedAlone]) -> set[str]:
    """The exercises that one declares to use, and those that they use."""
    used: set[str] = set()
    waiting = [name]
    while waiting:
        more = set(tried[waiting.pop()].exercise.uses) & tried.keys() - used
        used |= more
        waiting += more
    return used


def _carried(tried: JudgedAlone, wrong: Mapping[str, tuple[Exercise, Mistakes]]) -> tuple[list[str], set[str]]:
    """Which exercises, with their mistakes, explain the results of one that calls them, and the failed groups that
    they explain. No group, unless they explain every case in which something can be compared."""
    exercise = tried.exercise
    if not _has_formula(exercise):
        return [], set()
    others = {name: mistake for name, mistake in wrong.items() if exercise.formulas_calling([mistake])}
    functions = exercise.formulas_calling([*others.values()])
    if functions is None or not _has_only(exercise, tried.judgement.misconceptions, [*others.values()]):
        return [], set()
    groups = {group.spec.name for group in tried.judgement.groups if not group.passed}
    for case, attempt in zip(tried.cases, tried.attempts, strict=True):
        fits = _fits(exercise, functions, case, attempt)
        if fits is False:
            return [], set()
        if fits is None:
            groups.discard(case.group)
    return list(others), groups


def _has_formula(exercise: Declaration) -> TypeGuard[Exercise]:
    """Whether mistakes can be made in an exercise's formula: not where it is a question, or a lambda."""
    if not isinstance(exercise, Exercise) or exercise.oracle is None:
        return False
    try:
        return bool(exercise.formulas.texts)
    except (ValueError, SyntaxError):
        return False


def _has_only(exercise: Exercise, named: Mistakes, others: Sequence[tuple[Exercise, Mistakes]]) -> bool:
    """Whether every mistake named in an exercise is one of the others', made by the same edits."""
    theirs = [other.named_mistakes[id] for other, mistakes in others for id in mistakes]
    what = [(mistake.edits, mistake.instead) for mistake in theirs]
    return all((exercise.named_mistakes[id].edits, exercise.named_mistakes[id].instead) in what for id in named)


def _fits(exercise: Exercise, functions: Mapping[str, Oracle], case: Expectation, attempt: Attempt) -> bool | None:
    """Whether the results of a case are those of the formula with the mistakes; None where it cannot be said: what is
    wrong is only where any number would be right."""
    if attempt.outputs is None:
        return False
    declared = Case(dict(case.inputs), mode=case.mode, withheld=case.withheld)
    is_open, is_finite = not case.expected, True
    try:
        wrong = exercise.run(functions.get(case.mode) or functions[""], declared)
        declared = scaled(declared, wrong)
        for key, right in case.expected.items():
            reference = np.asarray(wrong[key]) if isinstance(right, np.ndarray) else wrong[key]
            tolerance = max(case.tolerance.get(key, 0.0), exercise.bound(declared, reference))
            actual: Any = attempt.outputs.get(key)
            free = _free(right)
            numbers = as_numbers(actual)
            if free is not None and numbers is not None and numbers.shape == free.shape:
                is_open, is_finite = True, is_finite and bool(np.isfinite(numbers[free]).all())
                actual = np.where(free, np.zeros((), numbers.dtype), numbers)
                reference = np.where(free, 0.0, reference)
            if not _agree(actual, reference, tolerance, case.dtype):
                return False
    except Exception:  # a formula with a mistake may end in any: then there is nothing to compare with
        return False
    if not is_finite:
        return None
    if case.property and properties.lacking(case.property, {**case.inputs, **case.withheld}, attempt.outputs):
        return None if is_open else True  # where every number is compared, the formula says what they are
    return True


def _free(right: Any) -> np.ndarray | None:
    """Where any finite number is right; None where nothing is free."""
    if not isinstance(right, np.ndarray) or right.dtype.kind != "f":
        return None
    free = np.isnan(right)
    return free if free.any() else None


def _agree(actual: Any, reference: Any, tolerance: float, dtype: str | None) -> bool:
    """Whether a result is the wrong reference, with NaN where that has NaN."""
    if isinstance(reference, np.ndarray) and reference.dtype.kind == "f" and (lost := np.isnan(reference)).any():
        numbers = as_numbers(actual)
        if numbers is None or numbers.shape != reference.shape or not np.isnan(numbers[lost]).all():
            return False
        actual = np.where(lost, np.zeros((), numbers.dtype), numbers)
    elif isinstance(reference, float) and np.isnan(reference):
        return isinstance(actual, float) and np.isnan(actual)
    return difference("", actual, reference, tolerance, dtype=dtype) is None

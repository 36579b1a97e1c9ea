"""The mutants of an exercise's formula: what each of them returns in a case, and which of them tell something."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from autograder.declaring.declaration import Case
from autograder.declaring.mutants import Mutant, in_turns, mutants
from coursekit.changes import NO_RESULT, NOT_COMPUTED, UNCHANGED, Change, Sketch, differs, sketch
from coursekit.judge import Expectation

if TYPE_CHECKING:
    from autograder.declaring.exercise import Exercise

MOST = 40  # changes of an exercise that are kept
TRIED = 3 * MOST  # and so many are tried, for a formula may be slow
SLOW_MODES = ("gradient", "slopes", "derivative")  # hundreds of runs of the formula for each case
CLEARLY = 2  # tolerances by which a result has to differ, so that rounding decides nothing
SLIGHTLY = (1 + 2.0**-40, 1 - 2.0**-39)  # factors: far from 1 beside rounding, near to it for a sketch
STEADY = 1e-7  # the share of itself by which a sketch may move with them; files may differ by ten times as much
_NAMES_OF_INPUTS = ("input", "ignored", "argument")


class Changes:
    """One change at a time to the formula of an exercise."""

    def __init__(self, exercise: Exercise):
        self._exercise = exercise
        self._made: dict[str, Any] = {}

    @cached_property
    def _mutants(self) -> dict[str, tuple[Any, Mutant]]:
        """Each with the function whose text it is, by its key; those of different kinds in turns.

        None of an exercise without a formula, or whose formula has no text of its own, such as a lambda.
        """
        try:
            formulas = self._exercise.formulas
            formulas.texts  # noqa: B018 - read now
        except (ValueError, SyntaxError):
            return {}
        functions: dict[int, Any] = {}
        found: list[Mutant] = []
        for function, text in formulas.texts.items():
            own = mutants(text, inner=not formulas.is_root(function))
            functions |= {id(mutant): function for mutant in own}
            found += own
        return {mutant.key: (functions[id(mutant)], mutant) for mutant in in_turns(found)}

    def __iter__(self) -> Iterator[str]:
        return iter(self._mutants)

    def __contains__(self, key: object) -> bool:
        return key in self._mutants

    def named(self, key: str) -> Change:
        """What is said of a change. Arguments of inner functions have no names that a student knows."""
        function, mutant = self._mutants[key]
        is_inner = not self._exercise.formulas.is_root(function)
        detail = "" if is_inner and mutant.kind in _NAMES_OF_INPUTS else mutant.detail
        return Change(mutant.kind, detail, mutant.place)

    def lines(self, key: str) -> str:
        """The changed lines of the formula, as they stand after the change."""
        function, mutant = self._mutants[key]
        before = Counter(self._exercise.formulas.texts[function].splitlines())
        after = Counter(mutant.text.splitlines())
        return "\n".join(line.strip() for line in after - before) or "a line is left out"

    def results(self, key: str, case: Case) -> Mapping[str, Any] | None:
        """What the changed formula returns in a case; None where it ends in an error, or returns no values."""
        if key not in self._made:
            function, mutant = self._mutants[key]
            try:
                self._made[key] = self._exercise.formulas.compiled({function: mutant.text})
            except Exception:  # a default value that cannot be computed any more
                self._made[key] = None
        functions = self._made[key]
        if functions is None:
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results = self._exercise.run(functions.get(case.mode) or functions[""], case)
                return None if any(isinstance(value, Iterator) for value in results.values()) else results
        except Exception:  # whatever a formula that makes no sense can raise
            return None

    def telling(self, cases: Sequence[Expectation]) -> dict[str, Change]:
        """The changes that are kept, by key: at most `MOST` that clearly change a result, each in another way.

        Changes with the same results as a listed mistake, or as a change before, are not among them.
        """
        drawn = [ChangedResults.of(self._exercise, case) for case in cases]
        known = [[draw.sketched(self._listed(id, draw.case)) for draw in drawn] for id in self._exercise.named_mistakes]
        kept: dict[str, Change] = {}
        for key in islice(self._mutants, TRIED) if drawn else ():
            row = [draw.sketched(self._results_in(key, draw.case)) for draw in drawn]
            is_wrong = any(math.isfinite(entry.value) for entry in row)
            is_new = all(entry.clear for entry in row) and not any(_same(row, other) for other in known)
            if is_wrong and is_new and self._is_steady(key, drawn, row):
                kept[key] = self.named(key)
                known.append(row)
                if len(kept) == MOST:
                    break
        return kept

    def _is_steady(self, key: str, drawn: Sequence[ChangedResults], row: Sequence[_Row]) -> bool:
        """Whether the results hardly move with the inputs. A result that is nothing but rounding, such as that of a
        division by the mean of differences from the mean, is another one on every processor."""
        moved = ([draw.sketched(self._results_in(key, _scaled(draw.case, by))) for draw in drawn] for by in SLIGHTLY)
        return all(_is_near(one.value, two.value) for other in moved for one, two in zip(row, other, strict=True))

    def _results_in(self, key: str, case: Case) -> Mapping[str, Any] | float:
        return NOT_COMPUTED if case.mode in SLOW_MODES else self.results(key, case) or NO_RESULT

    def _listed(self, id: str, case: Case) -> Mapping[str, Any] | float:
        if case.mode in SLOW_MODES:
            return NOT_COMPUTED
        try:
            return self._exercise.mistaken_results(case, (id,)) or NO_RESULT
        except (ValueError, IndexError, OverflowError):
            return NO_RESULT


class _Row(NamedTuple):
    """What is known of one case with a change: a sketch or what stands for it, its rounding, and whether it is clear
    that the results differ, or that they do not."""

    value: float
    rounding: float = 0.0
    clear: bool = True


def _same(row: Sequence[_Row], other: Sequence[_Row]) -> bool:
    return all(
        one.value == two.value
        or (math.isnan(one.value) and math.isnan(two.value))
        or Sketch(one.value, one.rounding).agrees(two.value)
        for one, two in zip(row, other, strict=True)
    )


class ChangedResults(Mapping[str, float]):
    """The sketch of a case's results with each change to the formula, computed when it is first asked for."""

    def __init__(self, exercise: Exercise, case: Case, exact: Mapping[str, Any], tolerance: Mapping[str, float]):
        self.case = case
        self._exercise = exercise
        self._exact = exact
        self._tolerance = tolerance
        self._known: dict[str, float] = {}

    @classmethod
    def of(cls, exercise: Exercise, expected: Expectation) -> ChangedResults:
        """Those of a case whose references are known."""
        case = Case(dict(expected.inputs), mode=expected.mode, withheld=expected.withheld)
        return cls(exercise, case, expected.expected, expected.tolerance)

    def sketched(self, results: Mapping[str, Any] | float) -> _Row:
        """The sketch of what a formula returned, or `UNCHANGED`; a number, which stands for a sketch, as it is."""
        if isinstance(results, float):
            return _Row(results)
        results = {key: _comparable(results.get(key), right) for key, right in self._exact.items()}
        slight, clear = (
            differs(results, self._exact, {key: factor * limit for key, limit in self._tolerance.items()})
            for factor in (1 / CLEARLY, CLEARLY)
        )
        if not slight:
            return _Row(UNCHANGED)
        return _Row(*sketch(results, self._exact, self._tolerance), clear and not _says_nothing(results, self._exact))

    def __getitem__(self, key: str) -> float:
        if key not in self._known:
            if key not in self._exercise.changes:
                raise KeyError(key)
            self._known[key] = self.sketched(self._exercise.changes._results_in(key, self.case)).value
        return self._known[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._exercise.changes)

    def __len__(self) -> int:
        return len(list(self._exercise.changes))


def _scaled(case: Case, factor: float) -> Case:
    """A case with all its real numbers times one factor: ties and zeros stay what they are."""

    def scaled(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            return value.astype("float64") * factor
        return value * factor if isinstance(value, float) else value

    return replace(
        case,
        inputs={key: scaled(value) for key, value in case.inputs.items()},
        withheld={key: scaled(value) for key, value in case.withheld.items()},
    )


def _is_near(value: float, other: float) -> bool:
    if not (math.isfinite(value) and math.isfinite(other)):
        return value == other or (math.isnan(value) and math.isnan(other))
    return math.isclose(value, other, rel_tol=STEADY, abs_tol=STEADY / 100)


def _says_nothing(results: Mapping[str, Any], exact: Mapping[str, Any]) -> bool:
    """Whether a whole result is NaN, and the right one is not: many changes agree with it, and where it is the root or
    the logarithm of something that is zero but for rounding, the processor decides about it."""
    for key, right in exact.items():
        value = results.get(key)
        if _is_real(value) and _is_real(right) and value.shape == right.shape:
            wanted = ~np.isnan(right)
            if wanted.any() and np.isnan(value[wanted]).all():
                return True
    return False


def _is_real(value: Any) -> TypeGuard[np.ndarray]:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def _comparable(value: Any, right: Any) -> Any:
    """A formula's result in the form of the right one; where that leaves a value free, there is some number."""
    if not isinstance(right, np.ndarray) or value is None or isinstance(value, str | dict):
        return value
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        return value
    if right.dtype.kind == "f" and array.dtype.kind == "f" and array.shape == right.shape:
        return np.where(np.isnan(right), 0.0, array)
    return array

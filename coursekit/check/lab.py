"""The student's side of a lab: `start_lab` gives the `check` function of its notebook."""

from __future__ import annotations

import contextlib
import copy
import linecache
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import FunctionType, MappingProxyType
from typing import Any

from coursekit.beside import raises
from coursekit.check import callees, rules
from coursekit.check.attempts import attempt
from coursekit.check.cells import Cell, read_cells
from coursekit.check.earlier import hash_cell, read_passed, write_passed
from coursekit.check.guard import guard
from coursekit.check.judge import Attempt, Expectation, Judgement, judge, not_run
from coursekit.check.readings import read
from coursekit.check.reference import LabReference, load_reference
from coursekit.check.report import CheckFailed, Report
from coursekit.check.statuses import STUB
from coursekit.probes import described, load_probe
from coursekit.probes.sharing import LayerCache, sharing


def start_lab(lab: str) -> Lab:
    """Open a lab and say what is in it.

    Args:
        lab: the lab's folder name, such as ``"02_self_attention"``.

    Returns:
        The lab, to be called with an exercise's name: ``check = start_lab(…)``, then ``check("SelfAttention")``.

    Raises:
        ValueError: there is no such lab.
    """
    started = Lab(load_reference(lab), read_passed(lab))
    total = sum(started.reference.points.values())
    print(
        f"Lab {lab.partition('_')[0]}, {started.reference.title}: {len(started.progress)} exercises, {total:g} points. "
        'After each exercise, run the cell check("…") below it.'
    )
    return started


class Lab:
    """The visible checks of one lab, and which of them passed.

    Args:
        reference: the lab.
        before: for exercises that passed before the kernel was restarted, the hash of the cell.
    """

    def __init__(self, reference: LabReference, before: Mapping[str, str] = MappingProxyType({})):
        self.reference = reference
        self._before = {name: cell for name, cell in before.items() if name in reference.specs}
        self._passed: dict[str, str] = {}  # since then
        self.progress = dict.fromkeys(reference.specs, False)
        self.failed: Counter[tuple[str, str]] = Counter()  # failed tries, by exercise and first group that failed
        self._shares = dict.fromkeys(reference.specs, 0.0)  # of an exercise's points, when last checked
        self._tried: dict[tuple[str, str], list[str]] = {}  # the code of the last try that failed there

    def __call__(self, exercise: str) -> None:
        """Check an exercise and show the report.

        Where nbgrader runs the notebook, or COURSE_CHECKS_RAISE=1 is set, a check that does not pass also raises
        `CheckFailed`; for a student it does not, so "Run all" goes on behind it.

        Args:
            exercise: the exercise's name; the object of that name is taken from the notebook.

        Raises:
            ValueError: the lab has no such exercise.
            CheckFailed: something is not right yet, in such a run; the report says what.
        """
        report = self.report(exercise, sys._getframe(1).f_globals)
        _show(report)
        write_passed(self.reference.lab, self._before | self._passed)
        if not report.judgement.passed and raises():
            raise CheckFailed(report.summary)

    def report(self, exercise: str, namespace: Mapping[str, Any]) -> Report:
        """Check an exercise on the objects in `namespace`, and return the report."""
        if exercise not in self.reference.specs:
            there = ", ".join(self.reference.specs)
            raise ValueError(
                f"there is no exercise {exercise!r} in this lab: your instructor has removed it, or the name is not "
                f"quite right. The exercises are {there}"
            )
        cells = _cells(namespace)
        trees = read_cells(cells)
        judgement = self._judge(exercise, namespace, trees)
        if judgement.is_wrong or (judgement.status == "missing" and _is_written(exercise, cells, trees)):
            judgement = self._beside_callees(judgement, namespace, trees)
        self.progress[exercise], self._shares[exercise] = judgement.passed, judgement.share
        self._remember(exercise, judgement.passed, cells, trees)
        failing = judgement.first_failing
        place = exercise, failing.name if failing else ""
        if judgement.status != "missing" and failing:
            code = [cells[number] for number in sorted(rules.find_code_behind(trees, exercise))]
            if not code or self._tried.get(place) != code:  # a check of unchanged code is the same try again
                self.failed[place] += 1
            self._tried[place] = code
        points = self.reference.points
        shares = self._shares | dict.fromkeys(self._before, 1.0)
        reached = sum(points.get(name, 0.0) * share for name, share in shares.items())
        spec, reach = self.reference.specs[exercise], (reached, sum(points.values()))
        return Report(spec, judgement, self.failed[place], self.progress, reach, frozenset(self._before))

    def _remember(self, exercise: str, passed: bool, cells: Sequence[str], trees: Sequence[Cell]) -> None:
        """Keep what this check says, and forget what passed before the restart with another cell than has run since."""
        found = {name: _find_own_cell(name, cells, trees) for name in (exercise, *self._before)}
        own = {name: None if cell is None else hash_cell(cell) for name, cell in found.items()}
        self._before = {
            name: before for name, before in self._before.items() if name != exercise and own[name] in (None, before)
        }
        self._passed.pop(exercise, None)
        if passed:
            self._passed[exercise] = own[exercise] or ""

    def _beside_callees(self, judgement: Judgement, namespace: Mapping[str, Any], trees: Sequence[Cell]) -> Judgement:
        """Add to the judgement what has to be said about the exercises that this one calls: that a cell has not run, or
        that one of them is wrong."""
        specs = self.reference.specs

        def lacks(found: Judgement) -> str:
            return next((name for name in callees.undefined(found) if name in specs and name not in namespace), "")

        if name := lacks(judgement):
            first = f"`{name}` is not there yet: run the cell that defines `{name}` first."
            return replace(judgement, misconceptions=(), first=first)
        called = rules.find_callees(trees, judgement.exercise, specs)
        parts = [self._judge(name, namespace, trees) for name in specs if name in called]
        if wrong := [part for part in parts if (part.is_wrong or part.status == "missing") and not lacks(part)]:
            return callees.beside(judgement, wrong, specs)
        if name := next((name for name in callees.undefined(judgement) if name not in namespace), ""):
            first = f"`{name}` is not defined: run the cell that defines it first, or correct the name."
            return replace(judgement, misconceptions=(), first=first)
        return judgement

    def _judge(self, exercise: str, namespace: Mapping[str, Any], trees: Sequence[Cell]) -> Judgement:
        """Try an exercise on its visible cases, and judge it without a look at the exercises that it calls."""
        spec, expectations = self.reference.specs[exercise], self.reference.expectations[exercise]
        given = self.reference.imports
        broken = rules.find_violations(trees, exercise, forbidden=spec.forbidden, no_loops=spec.no_loops, given=given)
        with guard(spec.forbidden), _calm_tensorflow():
            attempts = not_run(spec, expectations, broken) or run_cases(
                self.reference.lab, exercise, expectations, namespace, spec.probe
            )
        return judge(spec, expectations, attempts, broken)


def _is_written(exercise: str, cells: Sequence[str], trees: Sequence[Cell]) -> bool:
    """Whether the stub is gone from the last cell that defines an exercise."""
    own = _find_own_cell(exercise, cells, trees)
    return own is not None and STUB not in own


def _find_own_cell(exercise: str, cells: Sequence[str], trees: Sequence[Cell]) -> str | None:
    """The last cell that defines an exercise."""
    own = (cell for cell, tree in zip(cells, trees, strict=True) if any(exercise in part.binds for part in tree))
    return next(reversed([*own]), None)


def _cells(namespace: Mapping[str, Any]) -> list[str]:
    """Return the cells that were run, from IPython's history; without a history, the cells that define the objects."""
    history = [str(cell) for cell in namespace.get("In", ())]
    if "In" not in namespace or any(cell.strip() for cell in history):
        return history
    defined = [value_ for value in namespace.values() for value_ in (value, *getattr(value, "__dict__", {}).values())]
    files = dict.fromkeys(function.__code__.co_filename for function in defined if isinstance(function, FunctionType))
    return ["".join(linecache.getlines(name)) for name in files if not Path(name).exists()]  # a cell is no file


def run_cases(
    lab: str,
    exercise: str,
    expectations: Sequence[Expectation],
    namespace: Mapping[str, Any],
    probe_description: Mapping[str, Any] | None = None,
) -> list[Attempt]:
    """Try an exercise on each case, with the lab's probe or the described one. Cases share the layers they build.

    Each try gets a copy of the inputs: what an answer changes in place is not there for the next check.
    """
    probe = described(exercise, probe_description) if probe_description else load_probe(lab, exercise)
    with sharing(LayerCache()):
        attempts = [attempt(probe, namespace, copy.deepcopy(case.inputs), case.mode) for case in expectations]
    return [
        read(lab, exercise, case.inputs, case.mode, found) for case, found in zip(expectations, attempts, strict=True)
    ]


@contextlib.contextmanager
def _calm_tensorflow() -> Iterator[None]:
    """While a check runs, switch off TensorFloat-32, which rounds matrix products on recent GPUs to three digits, and
    TensorFlow's advice in its log, which is about how the check calls."""
    if "tensorflow" not in sys.modules:
        yield
        return
    import tensorflow as tf

    settings, log = tf.config.experimental, tf.get_logger()
    precision, level = settings.tensor_float_32_execution_enabled(), log.level
    settings.enable_tensor_float_32_execution(False)
    log.setLevel("ERROR")
    try:
        yield
    finally:
        settings.enable_tensor_float_32_execution(precision)
        log.setLevel(level)


def _show(report: Report) -> None:
    from IPython import get_ipython
    from IPython.display import display

    if get_ipython() is None:
        print(report)
    else:
        display(report)

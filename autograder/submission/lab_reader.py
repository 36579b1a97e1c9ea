"""What is read in a submission before its code runs: the plan, which cells are helpers, which rules are broken."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from nbformat import NotebookNode

from autograder.submission.helpers import helper_cells
from autograder.submission.reading import read_notebook
from autograder.submission.repair import CellStep, Known, Plan, ProbeStep, read_plan, repair
from autograder.submission.skeleton import Release
from coursekit import rules
from coursekit.statements import read_cells


@dataclass(frozen=True)
class Rules:
    """What the code of an exercise must not use: dotted names, and loops."""

    forbidden: tuple[str, ...] = ()
    no_loops: bool = False


@dataclass(frozen=True)
class Reading:
    """A submission as it is graded.

    Attributes:
        plan: what to run, in order.
        helpers: positions, in the plan's steps, of the student's own cells that an answer may need.
        broken: by exercise, a sentence for each of its rules that the cells above its test break.
        called: by exercise, the other exercises that the code behind it calls.
    """

    plan: Plan
    helpers: frozenset[int]
    broken: Mapping[str, tuple[str, ...]]
    called: Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class LabReader:
    """Reads submissions of one lab. It is the `work` of `Children`: strangers' bytes are read in a child process.

    Args:
        release: the roles of the lab's cells.
        known: grade_ids of each lab of the course.
        rules: the rules of each exercise.
        imports: the names that the release's own cells import; None where nobody knows them.
    """

    release: Release
    known: Known
    rules: Mapping[str, Rules]
    imports: tuple[str, ...] | None = None

    def read(self, data: bytes) -> Reading:
        """Return a notebook as it is graded.

        Raises:
            Unreadable: nothing can be made of it.
        """
        return with_rules(read_plan(data, self.release, self.known), self.rules, self.imports)

    def plan(self, data: bytes) -> Plan:
        """Return the plan alone. Raises Unreadable, as `read` does."""
        return read_plan(data, self.release, self.known)


class NotebookReader:
    """Reads and repairs a notebook where nobody grades it; the `work` of `Children`, as `LabReader` is."""

    def notebook(self, data: bytes) -> NotebookNode:
        """Return a notebook as submitted; see `read_notebook`."""
        return read_notebook(data)

    def repaired(self, notebook: NotebookNode, release: NotebookNode) -> NotebookNode:
        """Return a notebook with its cells put back as they were released; see `repair`."""
        return repair(notebook, release).notebook


def with_rules(plan: Plan, of_exercises: Mapping[str, Rules], imports: Collection[str] | None = None) -> Reading:
    """Return a plan with what the source alone tells: helpers, rules that are broken, exercises that are called."""
    code = {index: step.source for index, step in enumerate(plan.steps) if isinstance(step, CellStep)}
    cells = dict(zip(code, read_cells([*code.values()]), strict=True))
    broken: dict[str, tuple[str, ...]] = {}
    called: dict[str, frozenset[str]] = {}
    for at, step in enumerate(plan.steps):
        if isinstance(step, ProbeStep) and (own := of_exercises.get(step.exercise)) is not None:
            above = [cell for index, cell in cells.items() if index < at]
            found = rules.violations(
                above, step.exercise, forbidden=own.forbidden, no_loops=own.no_loops, given=imports
            )
            broken[step.exercise] = tuple(found)
            called[step.exercise] = rules.called(above, step.exercise, plan.exercises)
    return Reading(plan, helper_cells(plan.steps), broken, called)

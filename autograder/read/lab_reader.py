"""What is read in a submission before its code runs: the plan, which cells are helpers, which rules are broken."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nbformat import NotebookNode

from autograder.read.reading import read_notebook
from autograder.read.repair import CellStep, Known, Plan, ProbeStep, read_plan, repair
from autograder.read.skeleton import Release, find_defined_names, parse
from coursekit.check import rules
from coursekit.check.cells import read_cells

_WORD = re.compile(r"[^\W\d]\w*")
_MODULE_OR_FOLDER = re.compile(r"^[^\S\n]*%(?:%writefile|%file|run|cd|load|mkdir)\b", re.MULTILINE)


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
        rules: the rules of each exercise that has some.
        imports: the names that the release's own cells import; None where nobody knows them.
        callees: by exercise that others call, the course's own code of it.
    """

    release: Release
    known: Known
    rules: Mapping[str, Rules]
    imports: tuple[str, ...] | None = None
    callees: Mapping[str, str] = field(default_factory=dict)

    def read(self, data: bytes) -> Reading:
        """Return a notebook as it is graded.

        Raises:
            Unreadable: nothing can be made of it.
        """
        return with_rules(read_plan(data, self.release, self.known), self.rules, self.imports)

    def plan(self, data: bytes) -> Plan:
        """Return the plan alone. Raises Unreadable, as `read` does."""
        return read_plan(data, self.release, self.known)

    def with_callees(self, plan: Sequence[CellStep | ProbeStep], exercise: str, names: Collection[str]) -> Reading:
        """Return how one exercise alone is judged, with the course's own code of others that it calls.

        That code stands below each cell of the student's that answers or defines them, and above the exercise's own
        where there is none.

        Args:
            plan: the steps of the submission's plan that are to be taken.
            exercise: what is judged.
            names: the exercises that it calls.
        """
        own = {name: CellStep(code, name, False, 0, "") for name, code in self.callees.items() if name in names}
        steps: list[CellStep | ProbeStep] = []
        absent = dict(own)
        for step in plan:
            if isinstance(step, ProbeStep) and step.exercise != exercise:
                continue
            if step.exercise == exercise:
                steps += absent.values()
                absent.clear()
            steps.append(step)
            if isinstance(step, ProbeStep):
                break
            if not step.locked:
                defined = {step.exercise} | find_defined_names(step.source)
                steps += [code for name, code in own.items() if name in defined]
                absent = {name: code for name, code in absent.items() if name not in defined}
        alone = Plan(tuple(steps), {exercise: 1.0}, frozenset(), frozenset(), {}, (), (), NotebookNode())
        return with_rules(alone, self.rules, self.imports)


class NotebookReader:
    """Reads and repairs a notebook where nobody grades it; the `work` of `Children`, as `LabReader` is."""

    def notebook(self, data: bytes) -> NotebookNode:
        """Return a notebook as submitted; see `read_notebook`."""
        return read_notebook(data)

    def repair(self, notebook: NotebookNode, release: NotebookNode) -> NotebookNode:
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
            found = rules.find_violations(
                above, step.exercise, forbidden=own.forbidden, no_loops=own.no_loops, given=imports
            )
            broken[step.exercise] = tuple(found)
            called[step.exercise] = rules.find_callees(above, step.exercise, plan.exercises)
    return Reading(plan, helper_cells(plan.steps), broken, called)


def helper_cells(steps: Sequence[CellStep | ProbeStep]) -> frozenset[int]:
    """Return the positions of the student's own cells that an answer may need, directly or through another of them.

    Such a cell binds a name that is a word of the answer's code, changes what such a name stands for, or writes a
    module. Words of strings count, for code may look a name up; those of comments and docstrings do not.
    """
    own = {at: step for at, step in enumerate(steps) if isinstance(step, CellStep) and not step.locked}
    words = {word for step in own.values() if step.exercise is not None for word in _words(step.source)}
    waiting = {at: _bound(step.source) for at, step in own.items() if step.exercise is None}
    helpers = {at for at in waiting if _MODULE_OR_FOLDER.search(own[at].source)}
    while more := {at for at, names in waiting.items() if at not in helpers and not names.isdisjoint(words)}:
        helpers |= more
        words.update(word for at in more for word in _words(own[at].source))
    return frozenset(helpers)


def _words(source: str) -> Iterator[str]:
    tree = parse(source)
    if tree is None:
        yield from _WORD.findall(source)
        return
    docstrings = {
        node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        for _, part in () if node in docstrings else ast.iter_fields(node):
            for text in part if isinstance(part, list) else [part]:
                yield from _WORD.findall(text) if isinstance(text, str) else ()


def _bound(source: str) -> frozenset[str]:
    """Return the names that a cell binds or changes, imports included; none that it only times."""
    if source.lstrip().startswith("%%timeit"):
        return frozenset()
    names = set(find_defined_names(source))
    tree = parse(source)
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case ast.Import(names=imported) | ast.ImportFrom(names=imported):
                names.update(name.asname or name.name.partition(".")[0] for name in imported)
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                while isinstance(node, ast.Attribute | ast.Subscript):
                    node = node.value
                names.update({node.id} if isinstance(node, ast.Name) else ())
    return frozenset(names)

"""Reads the instructor's version of an nbgrader assignment: text, given code, questions with a solution and tests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nbformat import NotebookNode

from autograder.course.labs import details, grade_id, is_solution, is_test

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
_HIDDEN = re.compile(
    r"^[ \t]*#+ ?BEGIN HIDDEN TESTS.*?\n(.*?)^[ \t]*#+ ?END HIDDEN TESTS.*?$", re.DOTALL | re.MULTILINE
)
_MARKS = re.compile(r"^([ \t]*)#+ ?(BEGIN|END) SOLUTION[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Test:
    """A cell of tests: its points, and whether students were to see it."""

    source: str
    points: float
    hidden: bool = False


@dataclass
class Given:
    """A cell that students get as it is; nbgrader's metadata where it has some."""

    kind: str
    source: str
    attachments: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Written:
    """An answer that a person marks, in words or code."""

    name: str
    kind: str
    source: str
    points: float
    task: bool = False


@dataclass
class Question:
    """Code to be written: the solution, with the two marks around what students write, and its tests."""

    name: str
    solution: str
    tests: list[Test] = field(default_factory=list)


Part = Given | Written | Question


@dataclass
class Assignment:
    """The parts in their order, and sentences on what was not taken over."""

    parts: list[Part] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def mark_solution(source: str) -> str:
    """Return a solution with marks around what students write: around all of it where it has none."""
    return source if BEGIN in source else f"{BEGIN}\n{source}\n{END}"


def make_name(text: str) -> str:
    """Return a text as a grade_id of nbgrader's."""
    return re.sub(r"\W+", "_", text).strip("_") or "answer"


def is_nbgrader(notebook: NotebookNode) -> bool:
    """Whether some cell has nbgrader's metadata."""
    return any(details(cell) for cell in notebook.cells)


def read_nbgrader(notebook: NotebookNode) -> Assignment:
    """Return the assignment. A test belongs to the solution that stands above it."""
    found = Assignment()
    question: Question | None = None
    for cell in notebook.cells:
        flags, name = details(cell), grade_id(cell)
        worth = float(flags.get("points") or 0)
        if flags.get("task") or (is_solution(cell) and flags.get("grade")):
            task = bool(flags.get("task"))
            found.parts.append(Written(make_name(name), cell.cell_type, cell.source, worth, task))
        elif is_solution(cell) and cell.cell_type == "code":
            source = _MARKS.sub(r"\1### \2 SOLUTION", cell.source)
            question = Question(make_name(name), mark_solution(source))
            found.parts.append(question)
        elif is_test(cell) and cell.cell_type == "code":
            if question is None:
                found.left.append(f"the test “{name}”: no solution stands above it")
                continue
            hidden = [match[1] for match in _HIDDEN.finditer(cell.source)]
            shown = _HIDDEN.sub("", cell.source)
            question.tests.append(Test(shown, worth))
            question.tests += [Test(test, 0.0, hidden=True) for test in hidden]
        else:
            if flags.get("solution") or flags.get("grade"):
                found.left.append(f"the marks of the cell “{name}”, which is no code: it is given as it is")
            found.parts.append(Given(cell.cell_type, cell.source, cell.get("attachments", {})))
    return found

"""Reads the instructor's version of an nbgrader assignment."""

from __future__ import annotations

import re

from nbformat import NotebookNode

from autograder.course.cells import details, grade_id, is_solution, is_test
from autograder.integrations.importing.assignment import Assignment, Given, Question, Test, Written, as_name, marked

_HIDDEN = re.compile(
    r"^[ \t]*#+ ?BEGIN HIDDEN TESTS.*?\n(.*?)^[ \t]*#+ ?END HIDDEN TESTS.*?$", re.DOTALL | re.MULTILINE
)
_MARKS = re.compile(r"^([ \t]*)#+ ?(BEGIN|END) SOLUTION[ \t]*$", re.MULTILINE)


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
            found.parts.append(Written(as_name(name), cell.cell_type, cell.source, worth, task))
        elif is_solution(cell) and cell.cell_type == "code":
            source = _MARKS.sub(r"\1### \2 SOLUTION", cell.source)
            question = Question(as_name(name), marked(source))
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

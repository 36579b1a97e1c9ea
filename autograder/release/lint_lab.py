"""Says what is wrong with the structure of a solution notebook, before anything is released from it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from nbformat import NotebookNode

from autograder.course.labs import details, grade_id, is_solution, is_test
from autograder.release.course_cells import SETUP_TAG, tags
from coursekit.check.cells import NotPython, parse

BEGIN, END = "BEGIN SOLUTION", "END SOLUTION"


def structure_problems(notebook: NotebookNode) -> list[str]:
    """What is wrong with the structure of a solution notebook, one sentence each; see the contract of a lab's cells."""
    problems: list[str] = []
    cells: dict[str, NotebookNode] = {}
    for cell in notebook.cells:
        name = grade_id(cell)
        if (BEGIN in cell.source or END in cell.source) and not is_solution(cell):
            problems.append(f'the cell that begins "{_first_line(cell)}" has a solution region and is no solution cell')
        if "HIDDEN TESTS" in cell.source:
            problems.append(
                f'the cell that begins "{_first_line(cell)}" has hidden tests; declare hidden cases instead'
            )
        if not details(cell):
            continue
        if not name:
            problems.append(f'the cell that begins "{_first_line(cell)}" has nbgrader metadata and no grade_id')
        elif name in cells:
            problems.append(f'two cells have the grade_id "{name}"')
        else:
            cells[name] = cell
    for name, is_setup in (("setup", True), ("imports", False)):
        cell = cells.get(name)
        if cell is None or cell.cell_type != "code" or not details(cell).get("locked"):
            problems.append(f'there is no locked code cell "{name}"')
        elif is_setup and SETUP_TAG not in tags(cell):
            problems.append(f'the cell "setup" lacks the tag {SETUP_TAG}')
    tested = [name for name, cell in cells.items() if is_test(cell)]
    for name in tested:
        problems += _exercise_problems(name, cells)
    return problems


def _exercise_problems(name: str, cells: Mapping[str, NotebookNode]) -> list[str]:
    problems = []
    test = cells[name]
    if test.source.strip() != f'check("{name}")':
        problems.append(f'the test cell "{name}" should say check("{name}") and nothing else')
    if not details(test).get("locked"):
        problems.append(f'the test cell "{name}" is not locked')
    worth = details(test).get("points")
    if isinstance(worth, bool) or not isinstance(worth, int | float) or not 0 <= worth < math.inf:
        problems.append(f'the test cell "{name}" has points of {worth!r}; they have to be a number of at least 0')
    code = cells.get(f"{name}-code")
    if code is None or not is_solution(code) or details(code).get("grade"):
        return [*problems, f'there is no solution cell "{name}-code"']
    markers = re.findall(f"{BEGIN}|{END}", code.source)
    if not markers or markers != [BEGIN, END] * (len(markers) // 2):
        problems.append(f'the solution cell "{name}-code" needs ### BEGIN SOLUTION … ### END SOLUTION, in this order')
    else:
        stub = re.sub(f"([ \t]*)[^\n]*{BEGIN}.*?{END}[^\n]*", r"\1pass", code.source, flags=re.DOTALL)
        try:
            parse(stub)
        except NotPython as error:
            problems.append(f'the stub of "{name}-code" is not valid Python ({error})')
    return problems


def _first_line(cell: NotebookNode) -> str:
    return cell.source.strip().partition("\n")[0][:60]

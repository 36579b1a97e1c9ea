"""The course's own code of exercises that others call: it stands in for a student's that is not right."""

from __future__ import annotations

from collections.abc import Mapping

from nbformat import NotebookNode
from nbformat.v4 import new_notebook

from autograder.course.settings import Course, CourseError
from autograder.course.text_pairs import PairError, read_pair
from autograder.declare.declaration import Declaration
from autograder.read import read_release


def solution_of_callees(course: Course, lab: str, declared: Mapping[str, Declaration]) -> NotebookNode | None:
    """Of a lab's solution, the cells of exercises that others call, and their tests; the rest is not needed to grade.

    None where no exercise calls another one, or where there is no solution: then nothing stands in.

    Raises:
        CourseError: the solution cannot be read.
    """
    path = course.solution_notebook(lab)
    if not (names := _called(declared)):
        return None
    try:
        solution = read_pair(path)
    except FileNotFoundError:
        return None
    except PairError as error:
        raise CourseError(f"{path}: the code of exercises that others call comes from it, and {error}") from error
    cells = read_release(solution).cells
    kept = [cell for cell in cells if names.intersection(cell.exercises) or cell.grade_id in names]
    for cell in kept:
        cell.cell["outputs"] = []
    return new_notebook(cells=[cell.cell for cell in kept], metadata=solution.metadata)


def code_of_callees(solution: NotebookNode | None, declared: Mapping[str, Declaration]) -> dict[str, str]:
    """The source of the cell that answers each exercise that others call, by name."""
    names = _called(declared)
    cells = read_release(solution).cells if solution else ()
    return {name: cell.source for cell in cells for name in cell.exercises if name in names}


def _called(declared: Mapping[str, Declaration]) -> set[str]:
    return {name for exercise in declared.values() for name in exercise.uses}

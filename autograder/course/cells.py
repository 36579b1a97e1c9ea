"""What nbgrader's metadata says of a cell, and a lab's exercises and points: nothing else reads that metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbformat import NotebookNode  # slow to import, and a worker can start meanwhile


def details(cell: NotebookNode) -> Mapping[str, Any]:
    """Return nbgrader's metadata of a cell; empty if there are none, or if they are no dictionary."""
    found = cell["metadata"].get("nbgrader")
    return found if isinstance(found, Mapping) else {}


def grade_id(cell: NotebookNode) -> str:
    """The name that nbgrader knows the cell by; empty when it has none."""
    return details(cell).get("grade_id") or ""


def is_test(cell: NotebookNode) -> bool:
    """Whether a cell carries the points of an exercise, which is graded by itself.

    A graded cell that is also a solution is an answer in words or code that only a person can mark: no exercise.
    """
    return bool(details(cell).get("grade")) and not details(cell).get("solution")


def is_solution(cell: NotebookNode) -> bool:
    """Whether a cell is the student's to fill in."""
    return bool(details(cell).get("solution"))


def is_in_words(cell: NotebookNode) -> bool:
    """Whether only a person can mark a cell: an answer in words, code without a test, or a task of nbgrader's."""
    graded = details(cell).get("grade") and (is_solution(cell) or cell["cell_type"] != "code")
    return bool(graded or details(cell).get("task"))


def answers_in_words(notebook: NotebookNode) -> dict[str, NotebookNode]:
    """The cells that only a person can mark, by their names, in the notebook's order."""
    return {name: cell for name, cell in cells_by_id(notebook).items() if is_in_words(cell)}


def points(notebook: NotebookNode) -> dict[str, Any]:
    """The points of each exercise, by its name, in the notebook's order."""
    return {grade_id(cell): details(cell).get("points") for cell in notebook["cells"] if is_test(cell)}


def cells_by_id(notebook: NotebookNode) -> dict[str, NotebookNode]:
    """Return the notebook's cells by grade_id: only cells that have one, and the first of two with the same."""
    found: dict[str, NotebookNode] = {}
    for cell in notebook["cells"]:
        if grade_id(cell):
            found.setdefault(grade_id(cell), cell)
    return found

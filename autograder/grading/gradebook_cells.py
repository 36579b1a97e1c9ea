"""What nbgrader's gradebook holds of a released lab: rows for its cells, and for each cell of a submission."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nbformat import NotebookNode
from nbgrader import api
from nbgrader.utils import is_grade, is_locked, is_solution, is_task
from sqlalchemy import delete, insert, inspect, select
from sqlalchemy.orm import Session

from autograder.course.cells import cells_by_id, details, is_in_words
from autograder.course.released import read_released
from autograder.course.settings import Course
from autograder.grading.database import GradebookError
from autograder.grading.lab_dates import LabDates

SHOWN = 5  # students that a sentence names
AT_ONCE = 500  # submissions whose rows are asked for together


@dataclass(frozen=True)
class ReleasedLab:
    """What nbgrader has to know about one lab's notebook: its cells as students get them."""

    kernelspec: str
    cells: dict[str, NotebookNode]

    @cached_property
    def graded(self) -> dict[str, NotebookNode]:
        return {name: cell for name, cell in self.cells.items() if is_grade(cell)}

    @cached_property
    def tasks(self) -> dict[str, NotebookNode]:
        return {name: cell for name, cell in self.cells.items() if is_task(cell)}

    @cached_property
    def solutions(self) -> dict[str, NotebookNode]:
        return {name: cell for name, cell in self.cells.items() if is_solution(cell)}

    @cached_property
    def by_hand(self) -> set[str]:
        """Cells that only a person can mark. One without points has no mark to wait for."""
        return {name for name, cell in self.cells.items() if is_in_words(cell) and details(cell)["points"]}


def released_lab(course: Course, lab: str) -> ReleasedLab:
    """Read a lab as students get it. Raises CourseError when it is not released, or cannot be read."""
    notebook = read_released(course, lab)
    cells = {
        name: cell
        for name, cell in cells_by_id(notebook).items()
        if is_grade(cell) or is_solution(cell) or is_locked(cell) or is_task(cell)
    }
    return ReleasedLab(kernelspec=json.dumps(notebook.metadata.get("kernelspec", {})), cells=cells)


def store_lab(session: Session, course: Course, lab: str, released: ReleasedLab) -> None:
    """Bring the rows of a lab's assignment, notebook and cells to what is released.

    Raises GradebookError when a cell with manual scores is no longer in the lab.
    """
    assignment = session.scalars(select(api.Assignment).where(api.Assignment.name == lab)).one_or_none()
    if assignment is None:
        assignment = api.Assignment(name=lab, course_id=course.course_id)
        session.add(assignment)
    LabDates(course, lab, session.connection()).write_due(assignment)
    session.flush()
    notebook = session.scalars(notebook_query(lab)).one_or_none()
    if notebook is None:
        notebook = api.Notebook(name=lab, assignment_id=assignment.id)
        session.add(notebook)
    notebook.kernelspec = released.kernelspec
    session.flush()

    kinds: tuple[tuple[type[Any], Mapping[str, NotebookNode], Callable[[NotebookNode], dict[str, object]]], ...] = (
        (api.GradeCell, released.graded, _points),
        (api.TaskCell, released.tasks, _points),
        (api.SolutionCell, released.solutions, lambda cell: {}),
        (api.SourceCell, released.cells, _source),
    )
    for kind, cells, content in kinds:
        stored = _stored_cells(session, notebook.id, kind)
        for name in stored.keys() - cells.keys():
            _remove_cell(session, lab, stored[name])
        for name, cell in cells.items():
            if name not in stored:
                stored[name] = kind(name=name, notebook_id=notebook.id)
                session.add(stored[name])
            for attribute, value in content(cell).items():
                setattr(stored[name], attribute, value)
    session.flush()
    # nbgrader expects every submission to have a row for every cell; those of new cells wait for the next grading.
    submitted = session.scalars(
        select(api.SubmittedNotebook).where(api.SubmittedNotebook.notebook_id == notebook.id)
    ).all()
    for rows in (grade_rows(session, notebook.id, submitted), comment_rows(session, notebook.id, submitted)):
        insert_missing(session, rows)


def _remove_cell(session: Session, lab: str, cell: api.BaseCell | api.SourceCell) -> None:
    if not isinstance(cell, api.SourceCell):
        if isinstance(cell, api.GradeCell | api.TaskCell):
            manual = api.Grade.manual_score.is_not(None) | api.Grade.extra_credit.is_not(None)
            marked = session.scalars(
                select(api.SubmittedAssignment.student_id)
                .join(api.SubmittedNotebook, api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id)
                .join(api.Grade, api.Grade.notebook_id == api.SubmittedNotebook.id)
                .where(api.Grade.cell_id == cell.id, manual)
                .order_by(api.SubmittedAssignment.student_id)
            ).all()
            if marked:
                more = f" and {len(marked) - SHOWN} more" if len(marked) > SHOWN else ""
                raise GradebookError(
                    f'{lab}: the graded cell "{cell.name}" is no longer in the lab, and has marks by hand '
                    f"({', '.join(marked[:SHOWN])}{more}): "
                    f"take each back, with course mark {lab} STUDENT {cell.name} automatic --because "
                    f'"the exercise is dropped", or put the cell back'
                )
        session.execute(delete(api.Grade).where(api.Grade.cell_id == cell.id))
        session.execute(delete(api.Comment).where(api.Comment.cell_id == cell.id))
    session.delete(cell)


def _points(cell: NotebookNode) -> dict[str, object]:
    return {"max_score": float(details(cell)["points"]), "cell_type": cell.cell_type}


def _source(cell: NotebookNode) -> dict[str, object]:
    return {
        "cell_type": cell.cell_type,
        "locked": is_locked(cell),
        "source": cell.source,
        "checksum": details(cell).get("checksum"),
    }


def notebook_query(lab: str):
    """The lab\'s notebook, as a query."""
    return (
        select(api.Notebook)
        .join(api.Assignment, api.Assignment.id == api.Notebook.assignment_id)
        .where(api.Assignment.name == lab, api.Notebook.name == lab)
    )


def _stored_cells(session: Session, notebook_id: str, kind: type[Any]) -> dict[str, Any]:
    return {cell.name: cell for cell in session.scalars(select(kind).where(kind.notebook_id == notebook_id))}


def grade_rows(
    session: Session, notebook_id: str, submitted: Sequence[api.SubmittedNotebook]
) -> dict[str, dict[str, api.Grade]]:
    """The grades of submissions by their notebook's id and by cell; missing ones are made, see `insert_missing`."""
    cells = _stored_cells(session, notebook_id, api.GradeCell) | _stored_cells(session, notebook_id, api.TaskCell)
    return _rows_for_cells(session, submitted, api.Grade, cells)


def comment_rows(
    session: Session, notebook_id: str, submitted: Sequence[api.SubmittedNotebook]
) -> dict[str, dict[str, api.Comment]]:
    """The comments on submissions by their notebook's id and by cell; missing ones are made, see `insert_missing`."""
    cells = _stored_cells(session, notebook_id, api.SolutionCell) | _stored_cells(session, notebook_id, api.TaskCell)
    return _rows_for_cells(session, submitted, api.Comment, cells)


def insert_missing(session: Session, rows: Mapping[str, Mapping[str, Any]]) -> None:
    """Insert those of the rows that `grade_rows` or `comment_rows` made, all at once: there are dozens a submission."""
    made = [row for of_one in rows.values() for row in of_one.values() if inspect(row).transient]
    if made:
        kind = type(made[0])
        names = [column.name for column in inspect(kind).local_table.columns if column.name != "id"]
        session.execute(insert(kind), [{name: getattr(row, name) for name in names} for row in made])


def _rows_for_cells(
    session: Session, submitted: Sequence[api.SubmittedNotebook], kind: type[Any], cells: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """One Grade or Comment of each submission per cell, made where it is missing."""
    ids = [notebook.id for notebook in submitted]
    stored = {}
    for at in range(0, len(ids), AT_ONCE):
        for row in session.scalars(select(kind).where(kind.notebook_id.in_(ids[at : at + AT_ONCE]))):
            stored[row.notebook_id, row.cell_id] = row
    return {
        notebook_id: {
            name: stored.get((notebook_id, cell.id)) or _made(kind, cell.id, notebook_id)
            for name, cell in cells.items()
        }
        for notebook_id in ids
    }


def _made(kind: type[Any], cell_id: str, notebook_id: str) -> Any:
    row = kind(cell_id=cell_id, notebook_id=notebook_id)
    if kind is api.Grade:
        row.needs_manual_grade = True
    return row

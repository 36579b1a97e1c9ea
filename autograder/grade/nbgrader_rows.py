"""nbgrader's rows of a released lab, and of its submissions: what Formgrader and nbgrader's own commands read.

They are nbgrader's own models. The methods of its `Gradebook` do not serve here. Each commits on its own: a grader that
is killed would leave half of a verdict, and a server that is lost looks like a wrong entry. Each asks for one row: a
submission takes three times as long. And its SaveCells refuses a lab that changes after it was handed in.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from nbformat import NotebookNode
from nbgrader import api
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import is_grade, is_locked, is_solution, is_task, parse_utc
from sqlalchemy import Connection, Row, and_, delete, insert, inspect, select
from sqlalchemy.orm import Session, selectinload
from traitlets import Float

from autograder.course.labs import cells_by_id, details, is_in_words, read_released
from autograder.course.settings import Course, load_nbgrader_config
from autograder.grade.database import GradebookError, NotedDate

_EVERYBODY = ""  # stands for the student where the due date of the lab is noted


class LabDates:
    """The due date of one lab and its extensions, for one transaction."""

    def __init__(self, course: Course, lab: str, connection: Connection):
        self._lab, self._due, self._lateness, self._connection = lab, course.lab(lab).due, course.lateness, connection
        noted = select(NotedDate.student, NotedDate.written).where(NotedDate.lab == lab)
        is_there = inspect(connection).has_table(NotedDate.__tablename__)  # an older gradebook can be read
        self._noted = {row.student: row.written for row in connection.execute(noted)} if is_there else {}

    def due(self, stored: datetime | None) -> datetime | None:
        """The due date in UTC, without a zone as nbgrader keeps it; `stored` is the gradebook's."""
        if self._due is not None:
            return parse_utc(self._due)
        return None if self._is_of_course_toml(_EVERYBODY, stored) else stored

    def extension(self, student: str, stored: timedelta | None) -> timedelta:
        """What a student has after the due date; `stored` is the gradebook's."""
        later = self._lateness.extension(student, self._lab)
        if self._due is not None and later is not None:
            return later - self._due
        return timedelta(0) if stored is None or self._is_of_course_toml(student, stored) else stored

    def seconds_late(
        self, student: str, came: datetime | None, due: datetime | None, extension: timedelta | None
    ) -> float | None:
        """The seconds from a student's due date to the handing in, 0 where it was in time.

        Args:
            student: the student's id.
            came: when it was handed in, aware; None where nothing says so.
            due: the due date in the gradebook.
            extension: the extension in the gradebook.

        Returns:
            None where no time is known, or the lab is not due.
        """
        due = self.due(due)
        if came is None or due is None:
            return None
        return max((came - due.replace(tzinfo=UTC) - self.extension(student, extension)).total_seconds(), 0.0)

    def write_due(self, assignment: api.Assignment) -> None:
        """Bring nbgrader's row of the lab to what counts."""
        assignment.duedate = self.due(assignment.duedate)
        self._note(_EVERYBODY, assignment.duedate if self._due is not None else None)

    def write_extension(self, submission: api.SubmittedAssignment) -> None:
        """Bring nbgrader's row of a submission to what counts."""
        student = submission.student_id
        extension = self.extension(student, submission.extension)
        if extension != (submission.extension or timedelta(0)):
            submission.extension = extension
        self._note(student, extension if self._lateness.extension(student, self._lab) is not None else None)

    def _is_of_course_toml(self, student: str, stored: datetime | timedelta | None) -> bool:
        return self._noted.get(student) == str(stored)

    def _note(self, student: str, date: datetime | timedelta | None) -> None:
        """Note what course.toml gives; with None, that it gives nothing any more."""
        written = None if date is None else str(date)
        if self._noted.get(student) == written:
            return
        note = delete(NotedDate).where(NotedDate.lab == self._lab, NotedDate.student == student)
        self._connection.execute(note)
        self._noted.pop(student, None)
        if written is not None:
            self._noted[student] = written
            self._connection.execute(insert(NotedDate).values(lab=self._lab, student=student, written=written))


class CoursePenalty(LateSubmissionPlugin):
    """Nothing within the grace time; after it a share of the earned points for each day that has begun.

    Without a share it does what `LateSubmissionPlugin.penalty_method` says, once the grace time is over. Seconds are
    counted from the student's own due date: nbgrader adds an extension before it asks.
    """

    grace_minutes = Float(0.0, min=0.0, help="Minutes after the due date that cost nothing.").tag(config=True)
    percent_per_day = Float(
        0.0, min=0.0, max=100.0, help="Share of the earned points that each day costs; 0 for none."
    ).tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """The points that are taken off, at most all; None where nothing is.

        Args:
            student_id: the student.
            score: the points that were earned.
            total_seconds_late: seconds after the student's due date.
        """
        if total_seconds_late <= 60 * self.grace_minutes:
            return None
        if not self.percent_per_day:
            return super().late_submission_penalty(student_id, score, total_seconds_late)
        days = math.ceil(total_seconds_late / 86_400)
        return min(score, score * days * self.percent_per_day / 100)


class LatePenalties:
    """Asks the late submission plugin that nbgrader_config.py chooses, as nbgrader's AssignLatePenalties does."""

    def __init__(self, course: Course):
        self._preprocessor = AssignLatePenalties(config=load_nbgrader_config(course))
        self._preprocessor.init_plugin()

    def penalty(self, student: str, score: float, seconds_late: float) -> float:
        """Return the points that a submission loses: at most its `score`.

        Args:
            student: the student's id; a plugin may count late days by it.
            score: the points before the penalty.
            seconds_late: seconds after the due date, the student's extension included; 0 is in time.
        """
        if seconds_late <= 0:
            return 0.0
        penalty = self._preprocessor.plugin_inst.late_submission_penalty(student, score, seconds_late)
        if penalty is None:
            return 0.0
        return self._preprocessor._check_late_penalty(SimpleNamespace(score=score), penalty) or 0.0


# -- rows -------------------------------------------------------------------------------------------------------------


SHOWN = 5  # students that a sentence names
_CELLS_WITH = {api.Grade: ("GradeCell", "TaskCell"), api.Comment: ("SolutionCell", "TaskCell")}


@dataclass(frozen=True)
class ReleasedLab:
    """What nbgrader has to know about one lab's notebook: its cells as students get them, by name.

    Attributes:
        kernelspec: of the notebook.
        cells: all that nbgrader knows.
        graded: those with points, `tasks` of nbgrader's apart.
        tasks: answers with points that have no cell of their own.
        solutions: those that students fill in.
        by_hand: those that only a person can mark. One without points has no mark to wait for.
    """

    kernelspec: str
    cells: Mapping[str, NotebookNode]
    graded: Mapping[str, NotebookNode]
    tasks: Mapping[str, NotebookNode]
    solutions: Mapping[str, NotebookNode]
    by_hand: Collection[str]


def read_lab(course: Course, lab: str) -> ReleasedLab:
    """Read a lab as students get it. Raises CourseError when it is not released, or cannot be read."""
    notebook = read_released(course, lab)

    def choose(*kinds: Callable[[NotebookNode], bool]) -> dict[str, NotebookNode]:
        return {name: cell for name, cell in cells_by_id(notebook).items() if any(is_one(cell) for is_one in kinds)}

    by_hand = {name for name, cell in choose(is_in_words).items() if details(cell)["points"]}
    cells = choose(is_grade, is_solution, is_locked, is_task), choose(is_grade), choose(is_task), choose(is_solution)
    return ReleasedLab(json.dumps(notebook.metadata.get("kernelspec", {})), *cells, by_hand)


def store_lab(session: Session, course: Course, lab: str, released: ReleasedLab) -> None:
    """Bring the rows of a lab's assignment, notebook and cells to what is released.

    Raises GradebookError when a cell with manual scores is no longer in the lab.
    """
    assignment = session.scalars(select(api.Assignment).filter_by(name=lab)).one_or_none()
    if assignment is None:
        assignment = api.Assignment(name=lab, course_id=course.course_id)
        session.add(assignment)
    LabDates(course, lab, session.connection()).write_due(assignment)
    session.flush()
    notebook = session.scalars(select(api.Notebook).filter_by(name=lab, assignment_id=assignment.id)).one_or_none()
    if notebook is None:
        notebook = api.Notebook(name=lab, assignment_id=assignment.id)
        session.add(notebook)
    notebook.kernelspec = released.kernelspec
    session.flush()

    wanted: dict[type[Any], dict[str, dict[str, object]]] = {
        api.GradeCell: {name: _describe_points(cell) for name, cell in released.graded.items()},
        api.TaskCell: {name: _describe_points(cell) for name, cell in released.tasks.items()},
        api.SolutionCell: {name: {} for name in released.solutions},
        api.SourceCell: {name: _describe_source(cell) for name, cell in released.cells.items()},
    }
    for kind, cells in wanted.items():
        stored = {row.name: row for row in session.scalars(select(kind).filter_by(notebook_id=notebook.id))}
        for name in stored.keys() - cells.keys():
            _remove_cell(session, lab, stored[name])
        for name, columns in cells.items():
            row = stored.get(name) or kind(name=name, notebook_id=notebook.id)
            for column, value in columns.items():
                setattr(row, column, value)
            session.add(row)
    session.flush()
    add_missing_rows(session, lab)


def _remove_cell(session: Session, lab: str, cell: api.BaseCell | api.SourceCell) -> None:
    if not isinstance(cell, api.SourceCell):
        manual = api.Grade.manual_score.is_not(None) | api.Grade.extra_credit.is_not(None)
        of_cell = select(api.SubmittedAssignment.student_id).join(api.SubmittedAssignment.notebooks)
        of_cell = of_cell.join(api.SubmittedNotebook.grades).where(api.Grade.cell_id == cell.id, manual)
        if marked := session.scalars(of_cell.order_by(api.SubmittedAssignment.student_id)).all():
            more = f" and {len(marked) - SHOWN} more" if len(marked) > SHOWN else ""
            raise GradebookError(
                f'{lab}: the graded cell "{cell.name}" is no longer in the lab, and has marks by hand '
                f"({', '.join(marked[:SHOWN])}{more}): "
                f"take each back, with course mark {lab} STUDENT {cell.name} automatic --because "
                f'"the exercise is dropped", or put the cell back'
            )
        for kind in _CELLS_WITH:
            session.execute(delete(kind).where(kind.cell_id == cell.id))
    session.delete(cell)


def _describe_points(cell: NotebookNode) -> dict[str, object]:
    return {"max_score": float(details(cell)["points"]), "cell_type": cell.cell_type}


def _describe_source(cell: NotebookNode) -> dict[str, object]:
    return {
        "cell_type": cell.cell_type,
        "locked": is_locked(cell),
        "source": cell.source,
        "checksum": details(cell).get("checksum"),
    }


def store_submissions(session: Session, lab: str, students: Collection[str]) -> dict[str, api.SubmittedAssignment]:
    """The rows of some students' submissions of a lab, by student; those that are missing are made."""
    known = {*session.scalars(select(api.Student.id).where(api.Student.id.in_(students)))}
    session.add_all(api.Student(id=name) for name in students if name not in known)
    of_lab = select(api.Notebook).join(api.Notebook.assignment).where(api.Assignment.name == lab)
    notebook = session.scalars(of_lab.where(api.Notebook.name == lab)).one()
    kind = api.SubmittedAssignment
    query = select(kind).where(kind.assignment_id == notebook.assignment_id, kind.student_id.in_(students))
    stored = {row.student_id: row for row in session.scalars(query.options(selectinload(kind.notebooks)))}
    for name in students:
        if name not in stored:
            stored[name] = kind(assignment_id=notebook.assignment_id, student_id=name)
            session.add(stored[name])
        if all(inside.notebook_id != notebook.id for inside in stored[name].notebooks):
            stored[name].notebooks.append(api.SubmittedNotebook(notebook_id=notebook.id))
    return stored


def add_missing_rows(session: Session, lab: str, students: Collection[str] | None = None) -> None:
    """Give each submission of a lab, or those of some students, a grade and a comment for every cell.

    nbgrader expects them. Those of cells that are new in the lab wait for the next grading.
    """
    for kind, types in _CELLS_WITH.items():
        of_pair = and_(kind.notebook_id == api.SubmittedNotebook.id, kind.cell_id == api.BaseCell.id)
        query = (
            join_submission(select(api.SubmittedNotebook.id.label("notebook_id"), api.BaseCell.id.label("cell_id")))
            .join(api.BaseCell, api.BaseCell.notebook_id == api.SubmittedNotebook.notebook_id)
            .outerjoin(kind, of_pair)
            .where(api.Assignment.name == lab, api.BaseCell.type.in_(types), kind.id.is_(None))
        )
        query = query.where(api.SubmittedAssignment.student_id.in_(students)) if students is not None else query
        if missing := [dict(row) for row in session.execute(query).mappings()]:
            session.execute(insert(kind), missing)


def read_cell_rows(
    connection: Connection, lab: str, kind: type[api.Grade] | type[api.Comment], students: Collection[str] | None
) -> Mapping[str, Sequence[Row]]:
    """The grades of a lab, or the comments, by student, each row with the `name` of its cell."""
    query = (
        join_submission(select(api.SubmittedAssignment.student_id, api.BaseCell.name, *kind.__table__.columns))
        .join(kind, kind.notebook_id == api.SubmittedNotebook.id)
        .join(api.BaseCell, api.BaseCell.id == kind.cell_id)
        .where(api.Assignment.name == lab)
    )
    query = query.where(api.SubmittedAssignment.student_id.in_(students)) if students is not None else query
    rows: dict[str, list[Row]] = defaultdict(list)
    for row in connection.execute(query):
        rows[row.student_id].append(row)
    return rows


def join_submission(query: Any) -> Any:
    """A query of submitted notebooks, with the submission and the lab that each belongs to."""
    return (
        query.select_from(api.SubmittedNotebook)
        .join(api.SubmittedNotebook.assignment)
        .join(api.SubmittedAssignment.assignment)
    )

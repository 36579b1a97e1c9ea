"""Marks and comments that a person gives, by `course mark` or in Formgrader, and the log of them.

Whoever changes a mark through nbgrader's objects is logged here, in the transaction that changes it. So Formgrader and
the command leave the same trace.
"""

from __future__ import annotations

import getpass
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from nbgrader import api
from sqlalchemy import Connection, event, insert, inspect, select, update
from sqlalchemy.orm import Session

from autograder.course.settings import Course
from autograder.grading.course_tables import change_table
from autograder.grading.marks import MarkReader, given_by_hand
from autograder.grading.results import cut

WHO = "marked_by"  # in a session's info: who is at work, where it is not the account


@dataclass(frozen=True, slots=True)
class MarkChange:
    """One entry of the log: points by hand `before` and `after`, None for the automatic ones.

    Where `part` is empty the whole submission was removed, and `before` is what it was worth, where that is known.
    """

    student: str
    lab: str
    part: str
    changed_at: datetime
    by: str
    before: float | None
    after: float | None
    because: str


def account() -> str:
    """Whose account this process runs under: the hub's name for it, else the system's."""
    try:
        return os.environ.get("JUPYTERHUB_USER") or getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no entry
        return f"user {os.getuid()}"


def log_changes(course: Course) -> None:
    """Log from now on what is changed by hand in this process, and keep nbgrader's late penalty in step with it."""
    if not event.contains(Session, "after_flush", _after_flush):
        event.listen(Session, "after_flush", _after_flush)
    _courses[:] = [course]


_courses: list[Course] = []  # of this process: nbgrader works on one course at a time


def _after_flush(session: Session, _: Any) -> None:
    touched: dict[tuple[str, str], list[api.Grade | api.Comment]] = {}
    for row in session.dirty:
        if isinstance(row, api.Grade | api.Comment) and _is_changed_by_hand(row):
            name = session.connection().scalars(select(api.BaseCell.name).where(api.BaseCell.id == row.cell_id)).one()
            touched.setdefault((row.notebook_id, name.removesuffix("-code")), []).append(row)
    if not touched or not inspect(session.connection()).has_table(change_table.name):
        return
    reader = MarkReader(_courses[0])
    for (notebook_id, part), rows in touched.items():
        student, lab = session.connection().execute(_whose(notebook_id)).one()
        _log(session.connection(), student, lab, notebook_id, part, rows, session.info.get(WHO) or account())
        store_penalties(session.connection(), reader, lab, [student])


def _is_changed_by_hand(row: api.Grade | api.Comment) -> bool:
    names = ("manual_score", "extra_credit") if isinstance(row, api.Grade) else ("manual_comment",)
    return any(inspect(row).attrs[name].history.has_changes() for name in names)


def _log(
    connection: Connection,
    student: str,
    lab: str,
    notebook_id: str,
    part: str,
    rows: Sequence[api.Grade | api.Comment],
    by: str,
) -> None:
    # As stored, not as the row has it: what Formgrader sends is text until the database has made a number of it.
    stored = connection.execute(_grade(notebook_id, part)).first()
    before = after = given_by_hand(*stored) if stored is not None else None
    grade = next((row for row in rows if isinstance(row, api.Grade)), None)
    if grade is not None and stored is not None:
        manual, extra = _before(grade, "manual_score", stored[0]), _before(grade, "extra_credit", stored[1])
        before = given_by_hand(manual, extra, stored[2])
    comments = connection.scalars(
        select(api.Comment.manual_comment)
        .join(api.BaseCell, api.BaseCell.id == api.Comment.cell_id)
        .where(api.Comment.notebook_id == notebook_id, api.BaseCell.name.in_([part, f"{part}-code"]))
    )
    connection.execute(
        insert(change_table).values(
            student=student,
            lab=lab,
            part=part,
            changed_at=datetime.now(UTC).replace(tzinfo=None),
            by=by,
            before=before,
            after=after,
            because="\n".join(filter(None, comments)),
        )
    )


def _before(row: api.Grade, name: str, now: float | None) -> float | None:
    """What an attribute was before the change that is being written; `now` where that is no change of it."""
    history = inspect(row).attrs[name].history
    return next(iter(history.deleted or ()), None) if history.has_changes() else now


def _whose(notebook_id: str):
    return (
        select(api.SubmittedAssignment.student_id, api.Assignment.name)
        .join(api.SubmittedNotebook, api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id)
        .join(api.Assignment, api.Assignment.id == api.SubmittedAssignment.assignment_id)
        .where(api.SubmittedNotebook.id == notebook_id)
    )


def _grade(notebook_id: str, part: str):
    """The columns of a part's grade that a mark by hand is made of, as a query."""
    return (
        select(api.Grade.manual_score, api.Grade.extra_credit, api.Grade.auto_score)
        .join(api.BaseCell, api.BaseCell.id == api.Grade.cell_id)
        .where(api.Grade.notebook_id == notebook_id, api.BaseCell.name == part)
    )


def store_penalties(
    connection: Connection, reader: MarkReader, lab: str, students: Collection[str] | None = None
) -> None:
    """Write what lateness costs the submissions of a lab, where nbgrader's own pages and exports read it."""
    query = (
        select(
            api.SubmittedAssignment.student_id,
            api.SubmittedNotebook.id,
            api.SubmittedNotebook.late_submission_penalty,
        )
        .join(api.SubmittedNotebook, api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id)
        .join(api.Assignment, api.Assignment.id == api.SubmittedAssignment.assignment_id)
        .where(api.Assignment.name == lab)
    )
    query = query.where(api.SubmittedAssignment.student_id.in_(students)) if students is not None else query
    stored = {row.student_id: row for row in connection.execute(query)}
    for mark in reader.read(connection, lab, students):
        row = stored.get(mark.student)
        if row is not None and (row.late_submission_penalty or 0.0) != mark.penalty:
            connection.execute(
                update(api.SubmittedNotebook)
                .where(api.SubmittedNotebook.id == row.id)
                .values(late_submission_penalty=mark.penalty or None)
            )


def set_by_hand(session: Session, notebook_id: str, part: str, points: float | None, because: str) -> None:
    """Give points to a part in place of the automatic ones, or with None give those back; `because` is for the student.

    Formgrader does the same when an instructor types points and a comment.
    """
    rows = select(api.Grade).join(api.BaseCell, api.BaseCell.id == api.Grade.cell_id)
    grade = session.scalars(rows.where(api.Grade.notebook_id == notebook_id, api.BaseCell.name == part)).one()
    found = session.execute(
        select(api.BaseCell.name, api.Comment)
        .join(api.BaseCell, api.BaseCell.id == api.Comment.cell_id)
        .where(api.Comment.notebook_id == notebook_id, api.BaseCell.name.in_([part, f"{part}-code"]))
    )
    comments: dict[str, api.Comment] = {name: comment for name, comment in found}
    # From here on nothing is asked of the database, so that points and reason are one entry of the log.
    grade.manual_score = points
    grade.extra_credit = None
    grade.needs_manual_grade = points is None and grade.auto_score is None
    for comment in comments.values():
        comment.manual_comment = None
    if comments:
        comments.get(f"{part}-code", next(iter(comments.values()))).manual_comment = cut(because)


def changes(connection: Connection, lab: str, student: str | None = None) -> Iterator[MarkChange]:
    """The log of a lab, of one student or of all, the oldest entry first."""
    query = select(change_table).where(change_table.c.lab == lab).order_by(change_table.c.number)
    if student is not None:
        query = query.where(change_table.c.student == student)
    for row in connection.execute(query):
        fields = {name: value for name, value in row._mapping.items() if name != "number"}
        yield MarkChange(**fields | {"changed_at": row.changed_at.replace(tzinfo=UTC)})

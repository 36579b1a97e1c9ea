"""Marks and comments that a person gives, by `course mark` or in Formgrader, and the log of them.

Whoever changes a mark through nbgrader's objects is logged here, in the transaction that changes it. So Formgrader and
the command leave the same trace.
"""

from __future__ import annotations

import getpass
import os
from collections.abc import Collection, Sequence
from typing import Any

from nbgrader import api
from sqlalchemy import Connection, event, insert, inspect, select, update
from sqlalchemy.orm import Session

from autograder.course.settings import Course
from autograder.grade.database import MarkChange
from autograder.grade.marks import MarkReader, compute_by_hand
from autograder.grade.nbgrader_rows import join_submission
from autograder.grade.results import cut

WHO = "marked_by"  # in a session's info: who is at work, where it is not the account


def find_account() -> str:
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
    touched: dict[tuple[api.SubmittedNotebook, str], list[api.Grade | api.Comment]] = {}
    for row in session.dirty:
        if isinstance(row, api.Grade | api.Comment) and _is_changed_by_hand(row):
            touched.setdefault((row.notebook, row.name.removesuffix("-code")), []).append(row)
    if not touched or not inspect(session.connection()).has_table(MarkChange.__tablename__):
        return
    reader = MarkReader(_courses[0])
    for (notebook, part), rows in touched.items():
        student, lab = notebook.assignment.student_id, notebook.assignment.name
        _log(session, student, lab, notebook.id, part, rows)
        store_penalties(session.connection(), reader, lab, [student])


def _is_changed_by_hand(row: api.Grade | api.Comment) -> bool:
    names = ("manual_score", "extra_credit") if isinstance(row, api.Grade) else ("manual_comment",)
    return any(inspect(row).attrs[name].history.has_changes() for name in names)


def _log(
    session: Session, student: str, lab: str, notebook_id: str, part: str, rows: Sequence[api.Grade | api.Comment]
) -> None:
    connection = session.connection()
    # As stored, not as the row has it: what Formgrader sends is text until the database has made a number of it.
    grades = select(api.Grade.manual_score, api.Grade.extra_credit, api.Grade.auto_score).join(api.Grade.cell)
    of_part = (api.Grade.notebook_id == notebook_id, api.BaseCell.name == part)
    manual, extra, automatic = connection.execute(grades.where(*of_part)).first() or (None, None, None)
    after = before = compute_by_hand(manual, extra, automatic)
    for grade in rows:
        if isinstance(grade, api.Grade):
            then = _find_before(grade, "manual_score", manual), _find_before(grade, "extra_credit", extra)
            before = compute_by_hand(*then, automatic)
    comments = select(api.Comment.manual_comment).join(api.Comment.cell)
    of_part = (api.Comment.notebook_id == notebook_id, api.BaseCell.name.in_([part, f"{part}-code"]))
    because = "\n".join(filter(None, connection.scalars(comments.where(*of_part))))
    change = {"student": student, "lab": lab, "part": part, "before": before, "after": after, "because": because}
    connection.execute(insert(MarkChange).values(by=session.info.get(WHO) or find_account(), **change))


def _find_before(row: api.Grade, name: str, now: float | None) -> float | None:
    """What an attribute was before the change that is being written; `now` where that is no change of it."""
    history = inspect(row).attrs[name].history
    return next(iter(history.deleted or ()), None) if history.has_changes() else now


def store_penalties(
    connection: Connection, reader: MarkReader, lab: str, students: Collection[str] | None = None
) -> None:
    """Write what lateness costs the submissions of a lab, where nbgrader's own pages and exports read it."""
    penalties = {mark.student: mark.penalty for mark in reader.read(connection, lab, students)}
    table, student = api.SubmittedNotebook, api.SubmittedAssignment.student_id
    query = join_submission(select(table.id, student, table.late_submission_penalty))
    query = query.where(api.Assignment.name == lab, student.in_(penalties))
    for notebook, name, stored in connection.execute(query).all():
        if (stored or 0.0) != penalties[name]:
            new = update(table).where(table.id == notebook)
            connection.execute(new.values(late_submission_penalty=penalties[name] or None))


def set_by_hand(session: Session, lab: str, student: str, part: str, points: float | None, because: str) -> None:
    """Give points to a part in place of the automatic ones, or with None give those back; `because` is for the student.

    Formgrader does the same when an instructor types points and a comment.
    """
    query = join_submission(select(api.SubmittedNotebook))
    of_student = query.where(api.Assignment.name == lab, api.SubmittedAssignment.student_id == student)
    notebook = session.scalars(of_student).one()
    (grade,) = (row for row in notebook.grades if row.name == part)
    comments = {row.name: row for row in notebook.comments if row.name in (part, f"{part}-code")}
    # From here on nothing is asked of the database, so that points and reason are one entry of the log.
    grade.manual_score = points
    grade.extra_credit = None
    grade.needs_manual_grade = points is None and grade.auto_score is None
    for comment in comments.values():
        comment.manual_comment = None
    if comments:
        comments.get(f"{part}-code", next(iter(comments.values()))).manual_comment = cut(because)

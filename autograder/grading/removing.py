"""Takes a submission, or a student, out of the gradebook, with what grading wrote of it; the log says who and why."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote

from nbgrader import api
from sqlalchemy import Connection, delete, insert, select

from autograder.course.settings import Course
from autograder.grading.autograded_notebook import check_path_part
from autograder.grading.course_tables import change_table, date_table, removed_table, result_table


@dataclass(frozen=True)
class Removed:
    """A student who was removed, or the attempt at a lab with this hash; `when` in UTC."""

    student: str
    lab: str
    content_hash: str
    when: datetime

    @property
    def sentence(self) -> str:
        """Why the work is left out, and what is typed to have it graded all the same."""
        what = f"this attempt of “{self.student}”" if self.lab else f"“{self.student}”"
        again = f"course remove undo {quote(self.student)}{f' {self.lab}' if self.lab else ''}"
        return f"{what} was removed on {self.when:%Y-%m-%d} and stays out; to take it back, type: {again}"


def labs_of(connection: Connection, student: str) -> list[str]:
    """The labs of which the gradebook has a submission of a student, also those that the course no longer has."""
    handed_in = (
        select(api.Assignment.name)
        .join(api.SubmittedAssignment, api.SubmittedAssignment.assignment_id == api.Assignment.id)
        .where(api.SubmittedAssignment.student_id == student)
    )
    recorded = select(result_table.c.lab).where(result_table.c.student == student)
    return sorted({*connection.scalars(handed_in), *connection.scalars(recorded)})


def remove_submission(
    connection: Connection, student: str, lab: str, *, worth: float | None, because: str, by: str
) -> None:
    """Remove a submission with its marks and comments, and log what it was worth."""
    handed_in = (
        select(api.SubmittedAssignment.id)
        .join(api.Assignment, api.Assignment.id == api.SubmittedAssignment.assignment_id)
        .where(api.Assignment.name == lab, api.SubmittedAssignment.student_id == student)
    )
    of_it = (result_table.c.student == student) & (result_table.c.lab == lab)
    if content := connection.scalar(select(result_table.c.content_hash).where(of_it)):
        _keep_out(connection, student, lab, content)
    numbers = list(connection.scalars(handed_in))
    notebooks = list(
        connection.scalars(select(api.SubmittedNotebook.id).where(api.SubmittedNotebook.assignment_id.in_(numbers)))
    )
    for kind in (api.Grade, api.Comment):
        connection.execute(delete(kind).where(kind.notebook_id.in_(notebooks)))
    connection.execute(delete(api.SubmittedNotebook).where(api.SubmittedNotebook.id.in_(notebooks)))
    connection.execute(delete(api.SubmittedAssignment).where(api.SubmittedAssignment.id.in_(numbers)))
    for table in (result_table, date_table):
        connection.execute(delete(table).where(table.c.student == student, table.c.lab == lab))
    now = datetime.now(UTC).replace(tzinfo=None)
    connection.execute(
        insert(change_table).values(
            student=student, lab=lab, part="", changed_at=now, by=by, before=worth, after=None, because=because
        )
    )


def remove_student(connection: Connection, student: str) -> None:
    """Remove a student who has no submission any more from the list of students; grading leaves out their work now."""
    connection.execute(delete(api.Student).where(api.Student.id == student))
    take_back(connection, student)  # every file of theirs is meant now
    _keep_out(connection, student)


def _keep_out(connection: Connection, student: str, lab: str = "", content_hash: str = "") -> None:
    take_back(connection, student, lab)
    now = datetime.now(UTC).replace(tzinfo=None)
    connection.execute(
        insert(removed_table).values(student=student, lab=lab, content_hash=content_hash, removed_at=now)
    )


def take_back(connection: Connection, student: str, lab: str | None = None) -> int:
    """Let grading take again what was removed of a student, of one lab or of all; return how much that is."""
    table = removed_table.c
    of_lab = table.lab == lab if lab is not None else table.lab.is_not(None)
    return connection.execute(delete(removed_table).where(table.student == student, of_lab)).rowcount


def removed(connection: Connection, lab: str) -> dict[str, Removed]:
    """What grading of a lab leaves out, by student."""
    table = removed_table.c
    rows = connection.execute(select(removed_table).where(table.lab.in_(("", lab))).order_by(table.lab.desc()))
    return {row.student: Removed(row.student, row.lab, row.content_hash, row.removed_at) for row in rows}


def remove_files(course: Course, pages: Path | None, student: str, labs: Collection[str]) -> None:
    """Remove the pages and the repaired copies that grading wrote; what was handed in stays.

    Args:
        course: the course.
        pages: the folder of the feedback pages; None leaves them alone.
        student: the student's id.
        labs: the labs.
    """
    try:
        check_path_part(student)
    except ValueError:  # nbgrader's own command takes any id; grading wrote no file for this one
        return
    places = [course.autograded, course.root / "feedback"]
    for lab in labs:
        for place in places:
            shutil.rmtree(place / student / lab, ignore_errors=True)
        if pages is not None:
            (pages / student / f"{lab}.html").unlink(missing_ok=True)
    for place in [*places, *([pages] if pages is not None else [])]:
        with suppress(OSError):  # another lab's page is in it, or it never was
            (place / student).rmdir()


def left_behind(course: Course, student: str, labs: Iterable[str]) -> list[Path]:
    """Where the student's own work still lies in the course's folder."""
    return [folder for lab in labs if (folder := course.submitted / student / lab).is_dir()]

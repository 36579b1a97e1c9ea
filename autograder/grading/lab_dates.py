"""Until when a lab may be handed in: by course.toml, and where that says nothing by the gradebook.

What course.toml says is written into nbgrader's rows, and noted beside them. So a date that is taken out of course.toml
stops counting, and one that was set in the gradebook itself goes on.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from nbgrader import api
from nbgrader.utils import parse_utc
from sqlalchemy import Connection, delete, insert, inspect, select

from autograder.course.settings import Course
from autograder.grading.course_tables import date_table

_EVERYBODY = ""  # stands for the student where the due date of the lab is noted


class LabDates:
    """The due date of one lab and its extensions, for one transaction."""

    def __init__(self, course: Course, lab: str, connection: Connection):
        self._lab, self._due, self._lateness, self._connection = lab, course.lab(lab).due, course.lateness, connection
        noted = select(date_table.c.student, date_table.c.written).where(date_table.c.lab == lab)
        is_there = inspect(connection).has_table(date_table.name)  # a gradebook from before this table can be read
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

    def _note(self, student: str, written: datetime | timedelta | None) -> None:
        """Note what course.toml gives; with None, that it gives nothing any more."""
        if self._noted.get(student) == (written if written is None else str(written)):
            return
        table = date_table.c
        self._connection.execute(delete(date_table).where(table.lab == self._lab, table.student == student))
        self._noted.pop(student, None)
        if written is not None:
            self._noted[student] = str(written)
            self._connection.execute(insert(date_table).values(lab=self._lab, student=student, written=str(written)))

"""Until when a lab may be handed in, by course.toml or else by the gradebook, and what coming later costs.

What course.toml says is written into nbgrader's rows, and noted beside them. So a date that is taken out of course.toml
stops counting, and one that was set in the gradebook itself goes on.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

from nbgrader import api
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import parse_utc
from sqlalchemy import Connection, delete, insert, inspect, select
from traitlets import Float

from autograder.course.settings import Course, load_nbgrader_config
from autograder.grade.database import NotedDate

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

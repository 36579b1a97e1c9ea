"""Reads the marks that count from nbgrader's gradebook: with marks by hand, extensions and what lateness costs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nbgrader import api
from nbgrader.utils import parse_utc
from sqlalchemy import inspect, make_url, select
from sqlalchemy.orm import Session

from autograder.course import Course, CourseError
from autograder.grading.database import explained, open_engine, reading, shown_url
from autograder.grading.lateness import LatePenalties
from autograder.grading.results import round_score


class ExportRefused(CourseError):
    """Nothing was exported; the message has one sentence for each reason."""

    def __init__(self, reasons: Iterable[str]):
        self.reasons = tuple(reasons)
        super().__init__("\n".join(self.reasons))


@dataclass(frozen=True)
class Mark:
    """What one student has earned in one lab: `score` is what counts, after the `penalty` for lateness.

    `waits` while an answer in words has no mark yet.
    """

    student: str
    lab: str
    score: float
    max_score: float
    penalty: float
    waits: bool


def recorded_marks(course: Course, lab: str, db_url: str) -> list[Mark]:
    """Return the marks of a lab, by student.

    The gradebook holds one submission of each student, which is the one that `course grade` graded last. What lateness
    costs is asked of nbgrader's plugin anew, so that an extension counts which was granted after grading.

    Raises:
        CourseError: the gradebook holds nothing of this lab, or cannot be read.
    """
    lab = course.lab(lab).name
    none = CourseError(f"the gradebook {shown_url(db_url)} holds no marks of {lab} yet; run: course grade {lab} PATH")
    late = LatePenalties(course)
    with explained(db_url):
        url = make_url(db_url)
        if url.get_backend_name() == "sqlite" and not (url.database and Path(url.database).exists()):
            raise none
        engine = open_engine(db_url)
        try:
            with reading(engine) as connection, Session(connection) as session:
                if not inspect(connection).has_table("submitted_assignment"):
                    raise none
                query = select(api.SubmittedAssignment).join(api.Assignment).where(api.Assignment.name == lab)
                marks = [_mark(each, course, lab, late) for each in session.scalars(query)]
        finally:
            engine.dispose()
    if not marks:
        raise none
    return sorted(marks, key=lambda mark: mark.student)


def _mark(handed_in: api.SubmittedAssignment, course: Course, lab: str, late: LatePenalties) -> Mark:
    score = handed_in.score or 0.0
    seconds = handed_in.total_seconds_late if handed_in.assignment.duedate is not None else 0
    later = course.lateness.extension(handed_in.student_id, lab)  # course.toml may be newer than the gradebook
    if later is not None and handed_in.timestamp is not None:
        seconds = max((handed_in.timestamp - parse_utc(later)).total_seconds(), 0)
    penalty = late.penalty(handed_in.student_id, score, seconds) or 0.0
    return Mark(
        handed_in.student_id,
        lab,
        round_score(max(score - penalty, 0.0)),
        round_score(handed_in.max_score or 0.0),
        round_score(penalty),
        bool(handed_in.needs_manual_grade),
    )

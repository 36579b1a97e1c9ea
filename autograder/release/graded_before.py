"""Says what a release means for work that was graded before it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from autograder.course.settings import Course, CourseError
from autograder.grade.gradebook import GradebookWriter, read_marks
from autograder.grade.hidden_cases import describe_other_cases
from autograder.grade.lab_grader import LabGrader
from autograder.grade.marks import describe_waiting


def graded_before(
    course: Course, labs: Collection[str] | None, totals: Mapping[str, tuple[float, float]]
) -> Iterator[str]:
    """Return a sentence for each thing to do: grade again, export again. Brings the gradebook's cells up to date, too.

    Args:
        course: the course.
        labs: those that were released; None for all.
        totals: the points before and now of the labs whose points changed.
    """
    try:
        if not read_marks(course, course.db_url):
            return
        with GradebookWriter(course.db_url, course) as gradebook:
            for lab in gradebook.labs():
                if not labs or lab in labs:
                    gradebook.settle(lab)
                    grader = LabGrader(course, lab)
                    gradebook.note_cases(lab, grader.version, grader.case_digests())
                    marks = gradebook.marks(lab)
                    behind = [mark for mark in marks if mark.waiting_for("grader")]
                    yield from describe_waiting(behind)
                    yield from describe_other_cases(marks)
                    if lab in totals:
                        yield _export_again(lab, *totals[lab], behind=bool(behind))
    except CourseError as error:
        yield f"the gradebook does not know of this release yet: {error}"


def _export_again(lab: str, before: float, now: float, *, behind: bool) -> str:
    when = "when that is done, export again" if behind else "export again"
    return (
        f"{lab} has {now:g} points now, and had {before:g}: {when}, because tables that you exported before have the "
        "old maximum"
    )

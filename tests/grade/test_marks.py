"""The marks that count are those of nbgrader's gradebook, whatever was done to them there."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from graded_course import course, result  # noqa: F401  the fixture of a course of one lab
from nbgrader.api import Gradebook
from tiny_course import LAB, TOML

from autograder.course.settings import CourseError, load_course
from autograder.grade.gradebook import GradebookWriter, read_marks

HALF = '''
from nbgrader.plugins import BasePlugin


class HalfPoint(BasePlugin):
    """Half a point for every hour."""

    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return total_seconds_late / 7200


c.AssignLatePenalties.plugin_class = HalfPoint
'''


@pytest.fixture
def late(course):
    """The lab is due at 23:00 UTC; an hour late costs half a point, by a plugin of the instructor's own."""
    (course.root / "course.toml").write_text(TOML + "due = 2026-01-01T00:00:00+01:00\n")
    config = course.root / "nbgrader_config.py"
    config.write_text(config.read_text() + HALF)
    return load_course(course.root)


def record(course, *results):
    with GradebookWriter(course.db_url, course) as writer:
        writer.record(results)


def by_student(course):
    return {mark.student: mark for mark in read_marks(course, course.db_url, LAB)}


def test_lateness_costs_what_the_plugin_says_and_never_more_than_there_is(late):
    hour = datetime(2026, 1, 1, 0, 0, tzinfo=UTC)
    record(
        late,
        result(late, "ada", timestamp=hour),
        result(late, "bo", double=0.0, square=0.25, timestamp=hour),
        result(late, "cyd"),
    )
    found = by_student(late)
    assert (found["ada"].score, found["ada"].penalty, found["ada"].max_score) == (3.0, 0.5, 9)
    assert (found["bo"].score, found["bo"].penalty) == (0, 0.25)
    assert (found["cyd"].score, found["cyd"].penalty) == (3.5, 0)


def test_an_extension_that_is_granted_after_grading_counts(late):
    record(late, result(late, "ada", timestamp=datetime(2026, 1, 1, 1, 0, tzinfo=UTC)))
    assert by_student(late)["ada"].penalty == 1
    with Gradebook(late.db_url, late.course_id) as gradebook:
        gradebook.grant_extension(LAB, "ada", hours=1)
    assert by_student(late)["ada"].penalty == 0.5
    with Gradebook(late.db_url, late.course_id) as gradebook:
        gradebook.grant_extension(LAB, "ada", hours=2)
    assert (by_student(late)["ada"].penalty, by_student(late)["ada"].score) == (0, 3.5)


def test_an_extension_that_course_toml_gives_after_grading_counts(late):
    record(late, result(late, "ada", timestamp=datetime(2026, 1, 1, 1, 0, tzinfo=UTC)))
    toml = late.root / "course.toml"
    table = f'\n[[extensions]]\nstudent = "ada"\nlab = "{LAB}"\ndue = 2026-01-01T00:00:00Z\n'
    toml.write_text(toml.read_text() + table)
    assert by_student(load_course(late.root))["ada"].penalty == 0.5


def test_an_extension_without_a_due_date_is_no_reason_to_stop(course):
    record(course, result(course, "ada"))
    with Gradebook(course.db_url, course.course_id) as gradebook:
        gradebook.grant_extension(LAB, "ada", hours=1)
    assert by_student(course)["ada"].score == 3.5


def test_an_answer_in_words_waits_and_then_counts(course):
    record(course, result(course, "ada", why="Because of the scale."), result(course, "bo"))
    assert {name: mark.waits for name, mark in by_student(course).items()} == {"ada": True, "bo": False}
    with Gradebook(course.db_url, course.course_id) as gradebook:
        grade = gradebook.find_grade("why", LAB, LAB, "ada")
        grade.manual_score, grade.needs_manual_grade = 3, False
        gradebook.db.commit()
    assert (by_student(course)["ada"].score, by_student(course)["ada"].waits) == (6.5, False)


def test_the_attempt_counts_that_was_graded_last(course):
    record(course, result(course, "ada", content="c1"))
    record(course, result(course, "ada", square=3.0, content="c2"))
    assert by_student(course)["ada"].score == 5


def test_where_no_gradebook_is_there_are_no_marks_and_none_is_made(course):
    assert read_marks(course, course.db_url, LAB) == []
    assert not (course.root / "gradebook.db").exists()
    (course.root / "empty.db").touch()
    assert read_marks(course, f"sqlite:///{course.root / 'empty.db'}", LAB) == []
    with pytest.raises(CourseError, match="there is no lab"):
        read_marks(course, course.db_url, "07_other")

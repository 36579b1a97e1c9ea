"""What late work loses, by course.toml: grace, a share for each day, extensions; which attempt is the better one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from nbgrader.api import Gradebook
from tiny_course import LAB, TOML, released

from autograder.course.settings import CourseError, load_course
from autograder.grade.gradebook import GradebookWriter, read_marks
from autograder.grade.marks import make_mark
from autograder.grade.nbgrader_rows import CoursePenalty
from autograder.grade.results import ExerciseResult, LabResult
from autograder.pages.feedback import write_feedback

DUE = datetime(2026, 11, 2, 23, 59, tzinfo=UTC)
SETTINGS = """
[grading]
grace_minutes = 10
late_percent_per_day = 20
"""
EXTENSION = f"""
[[extensions]]
student = "bob"
lab = "{LAB}"
due = 2026-11-05T23:59:00Z
"""


@pytest.fixture
def course(tmp_path, monkeypatch):
    toml = TOML.replace("[[labs]]", SETTINGS + "\n[[labs]]") + "due = 2026-11-02T23:59:00Z\n" + EXTENSION
    return released(tmp_path / "course", monkeypatch, toml)


def result(student: str, late: timedelta, earned: float = 5.0) -> LabResult:
    exercises = (
        ExerciseResult("double", min(earned, 2), 2, "graded"),
        ExerciseResult("square", earned - 2, 3, "graded"),
    )
    return LabResult(student, LAB, exercises, timestamp=DUE + late, content_hash=f"{late}{earned}")


@pytest.mark.parametrize(
    ("late", "penalty"),
    [(0, None), (600, None), (601, 1.0), (86_400, 1.0), (86_401, 2.0), (5 * 86_400, 5.0), (50 * 86_400, 5.0)],
)
def test_each_day_that_has_begun_costs_its_share(late, penalty):
    plugin = CoursePenalty(grace_minutes=10, percent_per_day=20)
    assert plugin.late_submission_penalty("ada", 5.0, late) == penalty


def test_without_a_share_nbgraders_own_method_decides_after_the_grace_time():
    plugin = CoursePenalty(grace_minutes=10, penalty_method="zero")
    assert plugin.late_submission_penalty("ada", 5.0, 500) is None
    assert plugin.late_submission_penalty("ada", 5.0, 700) == 5.0
    assert CoursePenalty(grace_minutes=10).late_submission_penalty("ada", 5.0, 700) is None


def test_the_gradebook_takes_off_what_course_toml_says_and_knows_extensions(course):
    day = timedelta(days=1)
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result("ada", 2 * day), result("bob", 2 * day), result("cyd", timedelta(minutes=9))])
    with Gradebook(course.db_url, course.course_id) as gradebook:
        penalties = {
            name: gradebook.find_submission(LAB, name).late_submission_penalty for name in ("ada", "bob", "cyd")
        }
        assert penalties == {"ada": 2.0, "bob": 0.0, "cyd": 0.0}
        assert gradebook.find_submission(LAB, "bob").duedate == datetime(2026, 11, 5, 23, 59)


def test_the_better_attempt_is_the_one_that_is_worth_more_when_lateness_is_counted(course):
    day = timedelta(days=1)
    with GradebookWriter(course.db_url, course) as writer:
        assert writer.find_better(result("ada", day)) is None  # nothing is recorded yet
        writer.record([result("ada", -day, earned=4.5), result("bob", -day, earned=4.5)])
        assert writer.find_better(result("ada", day)) == 4.5  # 5 points less 20 %
        assert writer.find_better(result("bob", day)) is None  # bob has until the fifth
        assert writer.find_better(result("ada", -day, earned=4.0)) == 4.5


def test_an_extension_that_only_the_gradebook_knows_counts_too(course):
    day = timedelta(days=1)
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result("ada", -day, earned=4.5)])
        assert writer.count_lost_by_lateness(result("ada", day)) == 1.0
        with Gradebook(course.db_url, course.course_id) as gradebook:
            gradebook.grant_extension(LAB, "ada", days=2)
        assert writer.count_lost_by_lateness(result("ada", day)) == 0.0
        assert writer.find_better(result("ada", day)) is None


def without(course, *texts: str):
    """The course after these texts are taken out of course.toml."""
    path = course.root / "course.toml"
    text = path.read_text()
    for taken in texts:
        assert taken in text
        text = text.replace(taken, "")
    path.write_text(text)
    return load_course(course.root)


def penalties(course) -> dict[str, float]:
    """What each student loses; what nbgrader has in its own rows, once settled, is the same."""
    before = {mark.student: mark.penalty for mark in read_marks(course, course.db_url)}
    with GradebookWriter(course.db_url, course) as writer:
        writer.settle(LAB)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        stored = {row.student.id: row.late_submission_penalty for row in gradebook.assignment_submissions(LAB)}
    after = {mark.student: mark.penalty for mark in read_marks(course, course.db_url)}
    assert before == stored == after
    return after


def test_an_extension_that_is_taken_out_of_course_toml_counts_no_more(course):
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result("bob", timedelta(days=2)), result("ada", timedelta(days=2))])
    with Gradebook(course.db_url, course.course_id) as gradebook:
        gradebook.grant_extension(LAB, "ada", days=1)  # in the gradebook itself: this one stays
    assert penalties(course) == {"ada": 1.0, "bob": 0.0}
    course = without(course, EXTENSION)
    assert penalties(course) == {"ada": 1.0, "bob": 2.0}
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result("bob", timedelta(days=1), earned=4.0)])
    assert penalties(course) == {"ada": 1.0, "bob": 0.8}


def test_an_extension_that_is_taken_out_counts_no_more_where_the_work_is_graded_next(course):
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result("bob", timedelta(days=2))])
    course = without(course, EXTENSION)
    with GradebookWriter(course.db_url, course) as writer:
        assert writer.count_lost_by_lateness(result("bob", timedelta(days=1))) == 1.0
        assert writer.longest_extension(LAB) == timedelta(0)
        writer.record([result("bob", timedelta(days=2))])
    assert penalties(course) == {"bob": 2.0}


def test_an_extension_in_the_gradebook_stays_though_course_toml_gave_another_before(course):
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result("bob", timedelta(days=5))])
    course = without(course, EXTENSION)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        gradebook.grant_extension(LAB, "bob", days=4)
    assert penalties(course) == {"bob": 1.0} == penalties(course)


def test_a_due_date_that_is_taken_out_of_course_toml_counts_no_more(course):
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result("ada", timedelta(days=2)), result("bob", timedelta(days=2))])
    course = without(course, "due = 2026-11-02T23:59:00Z\n", EXTENSION)
    assert penalties(course) == {"ada": 0.0, "bob": 0.0}
    with Gradebook(course.db_url, course.course_id) as gradebook:
        assert gradebook.find_assignment(LAB).duedate is None


def test_a_due_date_that_only_the_gradebook_knows_counts_for_every_attempt(course):
    course = without(course, "due = 2026-11-02T23:59:00Z\n", EXTENSION)
    with GradebookWriter(course.db_url, course) as writer:
        writer.ensure_lab(LAB)
        with Gradebook(course.db_url, course.course_id) as gradebook:
            gradebook.update_or_create_assignment(LAB, duedate="2026-11-02 23:59:00 UTC")
        assert writer.count_lost_by_lateness(result("ada", timedelta(days=2))) == 2.0  # nothing of ada is recorded yet
        writer.record([result("ada", timedelta(0), earned=4.5)])
        assert writer.find_better(result("ada", timedelta(days=2))) == 4.5
    assert penalties(course) == {"ada": 0.0}


def test_a_gradebook_that_notes_no_dates_yet_is_read_as_it_is(course):
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result("bob", timedelta(days=2))])
    with closing(sqlite3.connect(course.root / "gradebook.db")) as database:
        database.execute("DROP TABLE course_date")
    assert [mark.penalty for mark in read_marks(course, course.db_url)] == [0.0]
    assert penalties(course) == {"bob": 0.0}
    assert penalties(without(course, EXTENSION)) == {"bob": 2.0}


@pytest.mark.parametrize(
    ("lost", "is_worse", "told"),
    [
        (0.0, False, "5 of 5 points"),
        (0.8, False, "handed in late, which costs 0.8 of the 5 points that it earned"),
        (0.0, True, "An earlier attempt of yours counts instead, with 4 points"),
    ],
)
def test_the_page_says_what_lateness_costs_and_which_attempt_counts(course, tmp_path, lost, is_worse, told):
    earlier = make_mark(result("ada", timedelta(0), earned=4.0)) if is_worse else None
    mark = make_mark(result("ada", timedelta(0)), lost)
    page = write_feedback(course, mark, tmp_path, instead=earlier).read_text("utf-8")
    assert told in page
    assert ("handed in late" in page, "earlier attempt" in page) == (lost > 0, is_worse)


def test_an_extension_for_all_labs_is_in_days_and_one_for_a_lab_counts_before_it(course):
    path = course.root / "course.toml"
    more = '\n[[labs]]\nname = "02_more"\ndue = 2026-11-09T23:59:00Z\n\n[[labs]]\nname = "03_without"\n'
    of_all = '\n[[extensions]]\nstudent = "bob"\ndays = 7\n\n[[extensions]]\nstudent = "cyd"\ndays = 0.5\n'
    path.write_text(path.read_text() + more + of_all)
    lateness = load_course(course.root).lateness
    assert lateness.extension("bob", LAB) == datetime(2026, 11, 5, 23, 59, tzinfo=UTC)
    assert lateness.extension("bob", "02_more") == datetime(2026, 11, 16, 23, 59, tzinfo=UTC)
    assert lateness.extension("cyd", LAB) == datetime(2026, 11, 3, 11, 59, tzinfo=UTC)
    assert lateness.extension("bob", "03_without") is None and lateness.extension("ada", LAB) is None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (('lab = "01_tiny"\ndue', 'lab = "07"\ndue'), 'extensions.lab: "07" is not among'),
        (("due = 2026-11-02T23:59:00Z\n", ""), f'extensions.lab: "{LAB}" has no due date'),
        ((EXTENSION, EXTENSION * 2), 'extensions: "bob" has two'),
        (
            ("due = 2026-11-05T23:59:00Z", "due = 2025-11-09T23:59:00+01:00"),
            f'extensions: "bob" has until 2025-11-09T23:59:00+01:00 for "{LAB}", and the lab is due only on '
            "2026-11-02T23:59:00+00:00; give a later date, or remove the extension",
        ),
        (("due = 2026-11-05T23:59:00Z", ""), 'extensions: "bob" needs either a due date, due = …, or days = …'),
        (("due = 2026-11-05T23:59:00Z", "days = 0"), "extensions.days: needs a number of days after the due date"),
        (
            (f'lab = "{LAB}"\ndue = 2026-11-05', "due = 2026-11-05"),
            "needs a lab with the due date, or days for all labs",
        ),
        ((EXTENSION, '\n[[extensions]]\nstudent = "bob"\ndays = 2\n' * 2), '"bob" has two for all labs; remove one'),
        (("grace_minutes = 10", "grace_minutes = -1"), "grading.grace_minutes: needs a number of at least 0"),
        (("grace_minutes = 10", 'counts = "first"'), 'grading.counts: should be "latest" or "best"'),
    ],
)
def test_what_course_toml_cannot_mean_is_told(course, change, told):
    path = course.root / "course.toml"
    path.write_text(path.read_text().replace(*change))
    with pytest.raises(CourseError) as error:
        load_course(course.root)
    assert told in str(error.value)

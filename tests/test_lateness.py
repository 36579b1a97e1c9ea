"""What late work loses, by course.toml: grace, a share for each day, extensions; which attempt is the better one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from nbgrader.api import Gradebook
from tiny_course import LAB, TOML, released

from autograder.course.settings import CourseError, load_course
from autograder.grading.gradebook import GradebookWriter
from autograder.grading.lateness import CoursePenalty
from autograder.grading.marks import automatic_mark
from autograder.grading.results import ExerciseResult, LabResult
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
        assert writer.better(result("ada", day)) is None  # nothing is recorded yet
        writer.record([result("ada", -day, earned=4.5), result("bob", -day, earned=4.5)])
        assert writer.better(result("ada", day)) == 4.5  # 5 points less 20 %
        assert writer.better(result("bob", day)) is None  # bob has until the fifth
        assert writer.better(result("ada", -day, earned=4.0)) == 4.5


def test_an_extension_that_only_the_gradebook_knows_counts_too(course):
    day = timedelta(days=1)
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result("ada", -day, earned=4.5)])
        assert writer.lost_by_lateness(result("ada", day)) == 1.0
        with Gradebook(course.db_url, course.course_id) as gradebook:
            gradebook.grant_extension(LAB, "ada", days=2)
        assert writer.lost_by_lateness(result("ada", day)) == 0.0
        assert writer.better(result("ada", day)) is None


@pytest.mark.parametrize(
    ("lost", "is_worse", "told"),
    [
        (0.0, False, "5 of 5 points"),
        (0.8, False, "handed in late, which costs 0.8 of the 5 points that it earned"),
        (0.0, True, "An earlier attempt of yours counts instead, with 4 points"),
    ],
)
def test_the_page_says_what_lateness_costs_and_which_attempt_counts(course, tmp_path, lost, is_worse, told):
    earlier = automatic_mark(result("ada", timedelta(0), earned=4.0)) if is_worse else None
    mark = automatic_mark(result("ada", timedelta(0)), lost)
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

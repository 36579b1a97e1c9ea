"""A student's page shows the inputs of hidden cases only where course.toml says so and after the last extension."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from graded_course import course, result  # noqa: F401  the fixture of a course of one lab
from nbgrader.api import Gradebook
from this_course import ROOT
from tiny_course import LAB, TOML

from autograder.course.settings import CourseError, load_course
from autograder.declare import Case, OwnExercise
from autograder.grade.gradebook import GradebookWriter
from autograder.grade.lab_grader import LabGrader
from autograder.grade.results import ExerciseResult, GroupResult
from autograder.marking.results_folder import bring_up_to_date
from autograder.pages.feedback import write_feedback

NOW = datetime.now(UTC)
DAY = timedelta(days=1)
SEED = 7
SECRET = 4.71125


def exercise() -> OwnExercise:
    declared = OwnExercise("double", call=("x", "width"))

    @declared.group("right values", points=2)
    def values(rng):
        return [Case({"x": np.array([SECRET, rng.random()]), "width": 3}), Case({"x": np.zeros(2), "width": 4})]

    @declared.group("a width of 1", points=1)
    def one(rng):
        return [Case({"x": np.array([815.5]), "width": 1})]

    return declared


@pytest.fixture
def graded(course, monkeypatch):
    """Write course.toml anew, with a due date in days from now; ada and bo fail one of two groups. The page of one."""
    declared = {"double": exercise()}
    monkeypatch.setattr("autograder.grade.lab_grader.declared_exercises", lambda course, lab: declared)
    (course.root / ".grading-seed").write_text(str(SEED))
    version = LabGrader(course, LAB).version

    def page(student="ada", *, setting='hidden_cases = "after due"', due=-1.0, more="", version=version) -> str:
        toml = TOML.replace("[[labs]]", f"[grading]\n{setting}\n\n[[labs]]")
        toml += f"due = {(NOW + due * DAY).isoformat()}\n" if due is not None else ""
        (course.root / "course.toml").write_text(toml + more)
        loaded = load_course(course.root)
        groups = (
            GroupResult("values", "right values", 2, False, "tried x (2,), width=3: it is off."),
            GroupResult("one", "a width of 1", 1, True),
        )
        exercises = (ExerciseResult("double", 0.5, 2, "graded", groups=groups),)
        verdict = replace(result(loaded, student, grader_version=version), exercises=exercises)
        folder = course.root / "grades"
        with GradebookWriter(loaded.db_url, loaded) as writer:
            writer.record([verdict])
            (mark,) = writer.marks(LAB, [student])
            if not (folder / "feedback" / student).exists():
                write_feedback(loaded, mark.with_notebook(verdict.notebook), folder / "feedback")
            bring_up_to_date(loaded, writer, folder)
        return (folder / "feedback" / student / f"{LAB}.html").read_text("utf-8")

    return page


def extension(days: float) -> str:
    return f'\n[[extensions]]\nstudent = "bo"\nlab = "{LAB}"\ndue = {(NOW + days * DAY).isoformat()}\n'


def test_by_default_a_page_tells_what_was_tried_and_shows_no_input(graded):
    page = graded(setting="")
    assert "tried x (2,), width=3: it is off." in page
    assert "4.71125" not in page and "hidden case" not in page


@pytest.mark.parametrize(
    ("more", "is_shown"),
    [
        ({"due": -1.0}, True),
        ({"due": 1.0}, False),
        ({"due": None}, False),
        ({"due": -1.0, "more": extension(1.0)}, False),  # of another student
        ({"due": -3.0, "more": extension(-1.0)}, True),
        ({"due": -0.5, "setting": 'hidden_cases = "after due"\ngrace_minutes = 1000'}, False),
        ({"due": -1.0, "setting": 'hidden_cases = "never"'}, False),
        ({"due": -1.0, "version": "another"}, False),  # other cases than those that it was graded with
    ],
)
def test_inputs_are_shown_after_the_last_extension(graded, more, is_shown):
    page = graded(**more)
    assert ("4.71125" in page) == is_shown
    if is_shown:
        assert "The inputs of these 2 hidden cases" in page and "width: 3" in page and "float64 (2,)" in page
        assert "815.5" not in page  # of a group that passed
        drawn = next(inputs["x"][1] for _, inputs in exercise().inputs(SEED))
        assert f"{drawn:.6f}".rstrip("0")[:7] in page


def test_an_extension_in_the_gradebook_counts_and_pages_open_and_close_with_it(graded, course):
    assert "4.71125" not in graded(due=1.0)
    assert "4.71125" in graded(due=-1.0)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        gradebook.grant_extension(LAB, "ada", days=2)
    assert "4.71125" not in graded(due=-1.0)
    assert "4.71125" not in graded("bo", due=-1.0)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        gradebook.grant_extension(LAB, "ada", days=0)
    assert "4.71125" in graded("bo", due=-1.0)


def test_a_lab_that_cannot_be_read_costs_no_page(graded, course, monkeypatch):
    def refuse(*_):
        raise CourseError("no exercise is declared")

    monkeypatch.setattr("autograder.grade.lab_grader.declared_exercises", refuse)
    assert "4.71125" not in graded() and "tried x (2,), width=3" in graded()


def test_a_word_that_the_setting_does_not_know_is_told(graded):
    with pytest.raises(CourseError, match=r'grading\.hidden_cases: should be "never" or "after due", and is'):
        graded(setting='hidden_cases = "always"')


def test_the_hidden_inputs_of_a_lab_are_those_that_its_marks_come_from():
    grader = LabGrader(load_course(ROOT), "02_self_attention", seed=SEED)
    cases = [(name, case) for name, prepared in grader._prepared.items() for case in prepared.cases]
    assert len(cases) > 20
    for (exercise, group, inputs), (name, case) in zip(grader.hidden_inputs(), cases, strict=True):
        assert (exercise, group) == (name, case.group) and inputs is case.inputs

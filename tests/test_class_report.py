"""The page on the class shows counts, mistakes in sentences and who could not be read, and nothing that runs."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from tiny_course import LAB, released
from typer.testing import CliRunner

from autograder import cli
from autograder.grading.gradebook import GradebookWriter
from autograder.grading.results import ExerciseResult, LabResult
from autograder.pages.class_report import write_report

SENTENCE = "The factor is `4`, not <2>."


@pytest.fixture
def course(tmp_path, monkeypatch):
    course = released(tmp_path / "course", monkeypatch)
    spec = SimpleNamespace(sentences={"four_times": SENTENCE})
    declared = {"double": SimpleNamespace(spec=spec), "square": SimpleNamespace(spec=SimpleNamespace(sentences={}))}
    monkeypatch.setattr("autograder.pages.class_report.declared_exercises", lambda course, lab: declared)
    return course


def result(student: str, double: float, square: float, *mistakes: str, **more) -> LabResult:
    exercises = (
        ExerciseResult("double", double, 2, "graded", misconceptions=mistakes),
        ExerciseResult("square", square, 3, "graded" if square else "missing"),
    )
    return LabResult(student, LAB, exercises, **more)


def page(course, results) -> str:
    target = course.root / "report.html"
    write_report(course, results, target)
    return target.read_text("utf-8")


def test_marks_and_mistakes_are_counted(course):
    results = [
        result("ada", 2, 3),
        result("bob", 0, 3, "four_times"),
        result("cyd", 0, 0, "four_times"),
        result("dan", 2, 0, "of_an_old_release"),
    ]
    text = page(course, results)
    assert "4 submissions, mean 50.0 %, median 50.0 %" in text  # 100, 60, 0 and 40 %
    rows = re.findall(r"<tr><td>(\d+)</td><td><code>(\w+)</code></td><td>(.*?)</td></tr>", text)
    assert rows == [
        ("2", "double", "The factor is <code>4</code>, not &lt;2&gt;."),
        ("1", "double", "of_an_old_release"),
    ]
    assert text.count("<svg") == 2 and "double" in text and "square" in text


def test_a_median_of_two_is_between_them(course):
    assert "mean 80.0 %, median 80.0 %" in page(course, [result("ada", 2, 3), result("bob", 0, 3)])


def test_who_could_not_be_read_is_named_and_cannot_write_into_the_page(course):
    text = page(course, [result("<script>x</script>", 0, 0, state="unreadable", reason="torn")])
    assert "Could not be read: &lt;script&gt;x&lt;/script&gt;" in text
    assert "<script" not in text and "None was found." in text


def test_course_report_writes_the_page_of_its_gradebook(course, monkeypatch):
    monkeypatch.chdir(course.root)
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result("ada", 2, 0), result("bob", 0, 3, "four_times")])
    done = CliRunner().invoke(cli.app, ["report"])
    assert done.exit_code == 0, done.output
    assert "grades/report.html: 2 submissions" in done.output
    assert "2 submissions, mean 50.0 %" in (course.root / "grades" / "report.html").read_text("utf-8")


def test_a_lab_without_results_has_no_part(course):
    assert "<h2>" not in page(course, [])

"""The page on the class shows counts, mistakes in sentences and who could not be read, and nothing that runs."""

from __future__ import annotations

import base64
import csv
import hashlib
import re
from types import SimpleNamespace

import pytest
from tiny_course import LAB, released
from typer.testing import CliRunner

from autograder import cli
from autograder.course import CourseError
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
    rows = re.findall(r'<td class="number">(\d+)</td><td><code>(\w+)</code></td><td>(.*?)</td>', text)
    assert rows == [
        ("2", "double", "The factor is <code>4</code>, not &lt;2&gt;."),
        ("1", "double", "of_an_old_release"),
    ]
    assert f'<a href="feedback/bob/{LAB}.html#double">bob</a>' in text
    assert text.count("<svg") == 2 and "double" in text and "square" in text


def test_a_median_of_two_is_between_them(course):
    assert "mean 80.0 %, median 80.0 %" in page(course, [result("ada", 2, 3), result("bob", 0, 3)])


def test_who_could_not_be_read_is_named_and_cannot_write_into_the_page(course):
    text = page(course, [result("<script>x</script>", 0, 0, state="unreadable", reason="torn")])
    assert "Could not be read: &lt;script&gt;x&lt;/script&gt;" in text
    assert text.count("<script") == 1 and "None was found." in text  # the one that filters
    assert 'data-student="&lt;script&gt;x&lt;/script&gt;"' in text


def test_only_the_filter_may_run(course):
    text = page(course, [result("ada", 2, 3)])
    (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text and "default-src 'none'" in text


def test_the_tables_behind_the_page_lie_beside_it(course):
    page(course, [result("ada", 2, 3), result("=1+1", 0, 3, "four_times")])
    tables = {path.name: list(csv.reader(path.open())) for path in (course.root / "report").glob("*.csv")}
    assert set(tables) == {"items.csv", "groups.csv", "mistakes.csv", "students.csv"}
    assert tables["items.csv"][1][:6] == [LAB, "double", "2", "0.5000", "", "0"]
    assert tables["mistakes.csv"][1] == [LAB, "double", "four_times", "1", SENTENCE]
    assert tables["students.csv"][1:] == [["'=1+1", "60", ""], ["ada", "100", ""]]


def test_last_year_is_compared_with_an_interval(course, tmp_path):
    lines = [f"s{n},{LAB},double,{score},2,graded,,1" for n, score in enumerate((0, 1, 2, 1))]
    last = tmp_path / "results.csv"
    last.write_text("\n".join(["student,lab,exercise,score,max_score,status,misconceptions,seconds", *lines]))
    target = course.root / "report.html"
    write_report(course, [result("ada", 2, 3), result("bob", 2, 0)], target, last_year=last)
    text = target.read_text("utf-8")
    assert "last year" in text and "50 %" in text and re.search(r"-\d+ to \+\d+", text)
    last.write_text("a,b\n1,2\n")
    with pytest.raises(CourseError, match=r"no results\.csv"):
        write_report(course, [result("ada", 2, 3)], target, last_year=last)


def test_course_report_writes_the_page_of_its_gradebook(course, monkeypatch):
    monkeypatch.chdir(course.root)
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result("ada", 2, 0), result("bob", 0, 3, "four_times")])
    done = CliRunner().invoke(cli.app, ["report"])
    assert done.exit_code == 0, done.output
    assert "grades/report.html: 2 submissions; tables in grades/report" in done.output
    assert "2 submissions, mean 50.0 %" in (course.root / "grades" / "report.html").read_text("utf-8")


def test_a_lab_without_results_has_no_part(course):
    assert "<h2>" not in page(course, [])

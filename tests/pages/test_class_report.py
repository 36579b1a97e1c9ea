"""The page on the class shows counts, mistakes in sentences and who could not be read, and nothing that runs."""

from __future__ import annotations

import base64
import csv
import hashlib
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import ttest_ind
from tiny_course import LAB, released
from typer.testing import CliRunner

from autograder.cli import app as cli
from autograder.course.settings import CourseError, CourseLab
from autograder.grade.gradebook import GradebookWriter
from autograder.grade.marks import Mark, make_mark
from autograder.grade.results import ExerciseResult, GroupResult, LabResult
from autograder.pages.class_report import write_report
from coursekit.lecture import plots

NAMES = ("labs", "items", "groups", "outcomes", "mistakes", "who_made_them", "submissions", "students")
SENTENCE = "The factor is `4`, not <2>."


@pytest.fixture
def course(tmp_path, monkeypatch):
    course = released(tmp_path / "course", monkeypatch)
    spec = SimpleNamespace(sentences={"four_times": SENTENCE})
    declared = {"double": SimpleNamespace(spec=spec), "square": SimpleNamespace(spec=SimpleNamespace(sentences={}))}
    monkeypatch.setattr("autograder.pages.class_report.declared_exercises", lambda course, lab: declared)
    return course


def result(student: str, double: float, square: float, *mistakes: str, **more) -> Mark:
    exercises = (
        ExerciseResult("double", double, 2, "graded", misconceptions=mistakes),
        ExerciseResult("square", square, 3, "graded" if square else "missing"),
    )
    return make_mark(LabResult(student, LAB, exercises, **more))


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
    assert text.count("<svg") == text.count('<svg role="img" aria-label="') == 2
    assert "double" in text and "square" in text


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
    text = page(course, [result("ada", 2, 3), result("=1+1", 0, 3, "four_times")])
    assert re.findall(r'href="report/(\w+)\.csv"', text) == list(NAMES)
    tables = {path.name: list(csv.reader(path.open())) for path in (course.root / "report").glob("*.csv")}
    assert set(tables) == {f"{name}.csv" for name in NAMES}
    assert tables["items.csv"][1][:6] == [LAB, "double", "2", "0.5000", "", "0"]
    assert tables["mistakes.csv"][1] == [LAB, "double", "four_times", "1", SENTENCE]
    assert tables["students.csv"][1:] == [["'=1+1", "60", ""], ["ada", "100", ""]]


def table(course, name: str) -> list[list[str]]:
    with (course.root / "report" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


def two_labs(course):
    """A class whose numbers can be checked by hand: two labs, hand-in times, groups of tests, a mistake of five."""
    second = "02_more"
    course = replace(course, labs=(CourseLab(LAB, "A tiny lab", due=DUE), CourseLab(second, "More")))
    hours = {"ada": -30, "bob": -2, "cyd": 5, "dan": None, "eve": -80}
    marks = {"ada": (2, 3), "bob": (0, 3), "cyd": (1, 0), "dan": (0, 0), "eve": (2, 1.5)}  # 100, 60, 20, 0 and 70 %
    first = []
    for student, (double, square) in marks.items():
        groups = tuple(GroupResult(name, f"the <{name}>", 1, double >= least) for name, least in (("a", 1), ("b", 2)))
        exercises = (
            ExerciseResult("double", double, 2, "graded", groups=groups, misconceptions=("four_times",)),
            ExerciseResult("square", square, 3, "graded" if square else "missing"),
        )
        when = None if (hour := hours[student]) is None else DUE + timedelta(hours=hour)
        first.append(make_mark(LabResult(student, LAB, exercises, timestamp=when)))
    then = [
        make_mark(LabResult(name, second, (ExerciseResult("third", score, 4, "graded"),)))
        for name, score in THEN.items()
    ]
    return course, first + then


DUE = datetime(2026, 11, 16, 12, tzinfo=UTC)
THEN = {"ada": 4, "bob": 1, "eve": 3}


def test_everything_that_the_page_draws_is_in_a_table(course):
    course, results = two_labs(course)
    page(course, results)
    assert table(course, "labs") == [
        [LAB, "5", "50.0000", "20.0000", "60.0000", "70.0000"],
        ["02_more", "3", "66.6667", "50.0000", "75.0000", "87.5000"],
    ]
    assert table(course, "outcomes") == [
        [LAB, "double", "2", "1", "2", "0"],
        [LAB, "square", "2", "1", "0", "2"],
        ["02_more", "third", "1", "2", "0", "0"],
    ]
    assert table(course, "groups") == [[LAB, "double", "the <a>", "0.6000"], [LAB, "double", "the <b>", "0.4000"]]
    assert [row[1:] for row in table(course, "who_made_them")] == [
        ["double", "four_times", student] for student in ("ada", "bob", "cyd", "dan", "eve")
    ]
    assert table(course, "submissions")[:4] == [
        ["ada", LAB, "100", "2026-11-15T06:00:00+00:00", "-30.0000", "graded"],
        ["bob", LAB, "60", "2026-11-16T10:00:00+00:00", "-2.0000", "graded"],
        ["cyd", LAB, "20", "2026-11-16T17:00:00+00:00", "5.0000", "graded"],
        ["dan", LAB, "0", "", "", "graded"],
    ]
    assert [row[:3] for row in table(course, "students")] == [
        *(["ada", "100", "100"], ["bob", "60", "25"], ["cyd", "20", ""], ["dan", "0", ""], ["eve", "70", "75"]),
    ]


def test_the_page_shows_groups_and_three_examples_of_a_mistake(course):
    course, results = two_labs(course)
    text = page(course, results)
    assert "<li>the &lt;a&gt;: 60 %</li>" in text and "<li>the &lt;b&gt;: 40 %</li>" in text
    assert re.findall(rf'<a href="feedback/(\w+)/{LAB}\.html#double">\1</a>', text) == ["ada", "bob", "cyd"]
    assert '<td class="number">5</td><td><code>double</code></td>' in text


def test_points_lie_at_their_hours_and_marks(course):
    """Affine in both directions: the marks of time and percent are as far from each other as the numbers are."""
    course, results = two_labs(course)
    text = page(course, results)
    assert "Marks of 4 students against the time of handing in; 1 of them came late." in text
    drawn = text[text.index("Time of handing in") :]
    drawn = drawn[drawn.index('id="PathCollection_1"') : drawn.index('id="matplotlib.axis_1"')]
    places = np.array([(float(x), float(y)) for x, y in re.findall(r'<use [^>]*?x="([\d.]+)" y="([\d.]+)"', drawn)])
    numbers = np.array([(-30, 100), (-2, 60), (5, 20), (-80, 70)])
    assert places.shape == numbers.shape
    for axis, sign in ((0, 1), (1, -1)):  # SVG counts from the top
        slope, start = np.polyfit(numbers[:, axis], places[:, axis], 1)
        assert sign * slope > 0
        np.testing.assert_allclose(places[:, axis], slope * numbers[:, axis] + start, atol=1e-3)


def test_the_style_in_use_changes_no_picture(course):
    """The lectures' style draws the axes before the points, for one."""
    course, results = two_labs(course)
    before = page(course, results)
    with plt.rc_context():
        plots.use_course_style()
        assert page(course, results) == before


def test_progress_is_told_by_medians(course):
    course, results = two_labs(course)
    text = page(course, results)
    assert "Median of the marks by lab: 01_tiny 60 %, 02_more 75 %;" in text
    assert "Progress over the labs" not in page(course, results[:5])  # one lab


def test_who_needs_help_this_week_is_on_the_page(course):
    course, results = two_labs(course)
    target = course.root / "report.html"
    write_report(course, results, target, enrolled=["gone"], now=DUE + timedelta(days=2))
    told = re.findall(r"<li>(\w+): (.*)</li>", target.read_text("utf-8"))
    assert told == [
        *(("bob", "25 % in 02_more"), ("cyd", f"20 % in {LAB}"), ("dan", f"0 % in {LAB}")),
        ("gone", f"nothing handed in for {LAB}"),
    ]
    assert ["gone", "", "", f"nothing handed in for {LAB}"] in table(course, "students")
    write_report(course, results, target, enrolled=["gone"], now=DUE + timedelta(days=15))
    assert "<li>gone" not in target.read_text("utf-8")


def test_last_year_is_compared_with_an_interval(course, tmp_path):
    lines = [f"s{n},{LAB},double,{score},2,graded,,1" for n, score in enumerate((0, 1, 2, 1))]
    last = tmp_path / "results.csv"
    last.write_text("\n".join(["student,lab,exercise,score,max_score,status,misconceptions,seconds", *lines]))
    target = course.root / "report.html"
    write_report(course, [result("ada", 2, 3), result("bob", 1, 0)], target, last_year=last)
    text = target.read_text("utf-8")
    low, high = ttest_ind([1, 0.5], [0, 0.5, 1, 0.5], equal_var=False).confidence_interval(0.95)
    assert f'<td class="number">50 %</td>\n<td class="number">{100 * low:+.0f} to {100 * high:+.0f}</td>' in text
    assert table(course, "items")[0][6:] == ["0.5000", f"{low:.4f}", f"{high:.4f}"]
    last.write_text("a,b\n1,2\n")
    with pytest.raises(CourseError, match=r"no results\.csv"):
        write_report(course, [result("ada", 2, 3)], target, last_year=last)


def test_course_report_writes_the_page_of_its_gradebook(course, monkeypatch):
    monkeypatch.chdir(course.root)
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result("ada", 2, 0).result, result("bob", 0, 3, "four_times").result])
    done = CliRunner().invoke(cli.app, ["report"])
    assert done.exit_code == 0, done.output
    assert "grades/report.html: 2 submissions; tables in grades/report" in done.output
    assert "2 submissions, mean 27.8 %" in (course.root / "grades" / "report.html").read_text("utf-8")


def test_a_lab_without_results_has_no_part(course):
    assert "<h2>" not in page(course, [])

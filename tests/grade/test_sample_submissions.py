"""The course as an instructor uses it: samples graded by `course grade` and by nbgrader, to the same marks."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from class_runs import SAMPLES, TOLD, run
from hostile.making import FULL, LAB, ROOT, make_course, rows

HONEST = (
    "01-perfect",
    "02-typical-mistakes",
    "03-other-mistakes",
    "04-half-finished",
    "05-untouched",
    "06-syntax-error",
)

MARKS = ROOT / "exercises" / "samples" / "marks.csv"  # `tools/image.sh test` reads it as well
pytestmark = [pytest.mark.long, pytest.mark.sandbox, pytest.mark.slow]


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A copy of the course with the samples graded once; it has a secret seed of its own."""
    root = make_course(tmp_path_factory.mktemp("course"))
    run("course", "grade", LAB, str(SAMPLES), "--workers", "2", cwd=root)
    return root


def test_samples_get_the_marks_they_must_get(course):
    grades = {row["student"]: row for row in rows(course / "grades" / "grades.csv")}
    found = {(row["student"], row["exercise"]): row for row in rows(course / "grades" / "results.csv")}
    marks = {row["student"]: float(row["score"]) for row in rows(MARKS)}
    assert {student: float(row["score"]) for student, row in grades.items()} == marks
    assert marks.keys() == TOLD.keys() and marks["01-perfect"] == FULL
    for student, exercises in TOLD.items():
        for exercise, told in exercises.items():
            row = found[student, exercise]
            assert told in (row["status"], row["misconceptions"]), row
        assert (course / "grades" / "feedback" / student / f"{LAB}.html").is_file()


def test_a_second_run_grades_nothing_again_and_says_the_same(course):
    before = (course / "grades" / "results.csv").read_bytes()
    result = run("course", "grade", LAB, str(SAMPLES), "--out", "again", cwd=course)
    assert "starting" not in result.stdout
    assert (course / "again" / "results.csv").read_bytes() == before
    assert (course / "again" / "feedback" / "01-perfect" / f"{LAB}.html").is_file()


def test_feedback_shows_code_and_mistakes_and_no_reference_value(course):
    page = (course / "grades" / "feedback" / "02-typical-mistakes" / f"{LAB}.html").read_text("utf-8")
    assert "divided by the root of" in page and "self_attention_loops" in page and "powers" in page
    assert "expected" not in page.split("<body>")[1].replace("expected the tuple", "")


def test_nbgrader_gives_the_same_marks_to_honest_work(course):
    for student in HONEST:
        folder = course / "submitted" / student / LAB
        folder.mkdir(parents=True)
        shutil.copy(SAMPLES / student / f"{LAB}.ipynb", folder)
    shutil.move(course / "gradebook.db", course / "ours.db")
    shutil.rmtree(course / "autograded")
    run("nbgrader", "autograde", LAB, cwd=course)
    run("nbgrader", "export", "--to", "theirs.csv", cwd=course)
    ours = {row["student"]: float(row["score"]) for row in rows(course / "grades" / "grades.csv")}
    theirs = {row["student_id"]: float(row["score"]) for row in rows(course / "theirs.csv")}
    assert theirs == {student: ours[student] for student in HONEST}
    run("nbgrader", "generate_feedback", LAB, cwd=course)
    page = (course / "feedback" / "02-typical-mistakes" / LAB / f"{LAB}.html").read_text("utf-8")
    assert "divided by the root of" in page


def test_validate_tells_right_from_wrong(course):
    right = run("nbgrader", "validate", str(SAMPLES / "01-perfect" / f"{LAB}.ipynb"), cwd=course)
    assert "Success" in right.stdout
    wrong = run("nbgrader", "validate", str(SAMPLES / "02-typical-mistakes" / f"{LAB}.ipynb"), cwd=course)
    assert "the value without the division" in wrong.stdout and "Success" not in wrong.stdout


ALONE = """
import sys
from pathlib import Path

sys.modules["autograder"] = None  # as if it were not installed
sys.path.insert(0, str(Path.cwd()))
import coursekit
from coursekit.notebook import check_notebook

assert Path(coursekit.__file__).is_relative_to(Path.cwd())
assert all(report.judgement.passed for report in check_notebook(Path(sys.argv[1])))
assert not any(report.judgement.passed for report in check_notebook(Path(sys.argv[2])))
"""


def test_the_published_course_checks_a_lab_alone(tmp_path):
    run("course", "publish", str(tmp_path / "student"), cwd=ROOT)
    solved = ROOT / "solutions" / LAB / f"{LAB}.ipynb"
    released = Path("labs") / LAB / f"{LAB}.ipynb"
    run(sys.executable, "-c", ALONE, str(solved), str(released), cwd=tmp_path / "student")

"""The one writer: whole batches, nothing of the instructor's lost, all readable by nbgrader; and the result tables."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import nbformat
import pytest
from graded_course import course, grade, result, set_grade  # noqa: F401  a fixture
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import select
from sqlalchemy.orm import Session
from tiny_course import LAB, TOML
from traitlets.config import PyFileConfigLoader

from autograder.course.settings import CourseError
from autograder.grade.database import GradebookError, open_engine
from autograder.grade.gradebook import GradebookWriter
from autograder.grade.marks import make_mark
from autograder.grade.results import (
    ExerciseResult,
    LabResult,
    round_score,
)
from autograder.marking.results_folder import write_tables
from autograder.release.release import release


def test_nbgrader_reads_what_was_written(course):
    with GradebookWriter(course.db_url, course) as writer:
        recorded = writer.record([result(course), result(course, "bob", double=0.0, why="My words.")])
    assert [mark.state for mark in recorded] == ["graded", "needs_manual_grade"]
    assert grade(course, "ada", "double") == (2.0, None, False, 2.0)
    assert grade(course, "ada", "why") == (0.0, None, False, 0.0)
    assert grade(course, "bob", "why") == (None, None, True, 0.0)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        assert gradebook.find_assignment(LAB).max_score == 9
        submission = gradebook.find_submission(LAB, "bob")
        assert (submission.score, bool(submission.needs_manual_grade)) == (1.5, True)
        assert gradebook.find_comment("double-code", LAB, LAB, "ada").comment == "No response."
    shown = nbformat.read(course.autograded / "bob" / LAB / f"{LAB}.ipynb", as_version=4)
    texts = ["".join(output.text for output in cell.get("outputs", [])) for cell in shown.cells]
    assert any("NOT PASSED  double: 0 of 2 points" in text for text in texts)
    assert any("You halve it." in text for text in texts)


def test_what_is_graded_is_known_by_content_and_grader(course):
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result(course, timestamp=datetime(2026, 1, 2, 3, tzinfo=UTC))])
    with GradebookWriter(course.db_url, course) as writer:
        found = writer.find_graded("ada", LAB, "c1", "g1")
        assert found == result(course, timestamp=datetime(2026, 1, 2, 3, tzinfo=UTC))
        assert writer.find_graded("ada", LAB, "c2", "g1") is None
        assert writer.find_graded("ada", LAB, "c1", "g2") is None
        assert writer.find_graded("bob", LAB, "c1", "g1") is None
        assert [mark.student for mark in writer.marks()] == ["ada"]
        assert writer.marks("other") == []
    with Gradebook(course.db_url, course.course_id) as gradebook:
        gradebook.remove_student("ada")
    with GradebookWriter(course.db_url, course) as writer:
        assert writer.find_graded("ada", LAB, "c1", "g1") is None


def test_manual_scores_and_comments_survive_grading_again(course):
    """Kept always; looked at again only where the answer or its automatic score changed."""
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result(course, why="My words.")])
        set_grade(course, "ada", "why", manual_score=3.0, needs_manual_grade=False)
        set_grade(course, "ada", "double", manual_score=1.0, extra_credit=0.5, needs_manual_grade=False)
        with Gradebook(course.db_url, course.course_id) as gradebook:
            gradebook.find_comment("why", LAB, LAB, "ada").manual_comment = "Well said."
            gradebook.db.commit()
        assert writer.marks()[0].state == "graded"

        writer.record([result(course, why="My words.", grader_version="g2")])
        assert grade(course, "ada", "why") == (None, 3.0, False, 3.0)
        assert grade(course, "ada", "double") == (2.0, 1.0, False, 1.5)

        writer.record(
            [result(course, why="Other words.", code="def double(x): ...", grader_version="g2", content="c2")]
        )
        assert grade(course, "ada", "why") == (None, 3.0, True, 3.0)
        assert grade(course, "ada", "double") == (2.0, 1.0, True, 1.5)
        assert grade(course, "ada", "square") == (1.5, None, False, 1.5)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        assert gradebook.find_comment("why", LAB, LAB, "ada").comment == "Well said."


def test_what_has_no_verdict_gets_no_points(course):
    """An exercise missing from the result, and a submission without a notebook."""
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result(course)])
        recorded = writer.record([LabResult("ada", LAB, (), state="unreadable", reason="The file is empty.")])
    assert recorded[0].state == "unreadable"
    for cell in ("double", "square", "why"):
        assert grade(course, "ada", cell) == (0.0, None, False, 0.0)
    assert "The file is empty." in (course.autograded / "ada" / LAB / f"{LAB}.ipynb").read_text()


def test_a_question_without_points_has_no_mark_to_wait_for(course):
    path = course.release_notebook(LAB)
    path.write_text(path.read_text().replace('"points": 4', '"points": 0'))
    with GradebookWriter(course.db_url, course) as writer:
        recorded = writer.record([result(course, why="My words.")])
    assert recorded[0].state == "graded"
    assert grade(course, "ada", "why") == (0.0, None, False, 0.0)


def test_formgrader_lists_what_was_written(course):
    """Its tables come from these calls. (It counts hand-ins in the submitted folder, which this test does not have.)"""
    config = PyFileConfigLoader("nbgrader_config.py", path=str(course.root)).load_config()
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result(course, why="My words."), result(course, "bob")])
    formgrader = NbGraderAPI(coursedir=CourseDirectory(config=config), config=config)
    (assignment,) = formgrader.get_assignments()
    assert (assignment["name"], assignment["max_score"]) == (LAB, 9)
    listed = {submission["student"]: submission for submission in formgrader.get_submissions(LAB)}
    assert {name: (submission["score"], submission["autograded"]) for name, submission in listed.items()} == {
        "ada": (3.5, True),
        "bob": (3.5, True),
    }
    (notebook, _) = formgrader.get_notebook_submissions(LAB, LAB)
    assert notebook["max_score"] == 9


def test_late_work(course, tmp_path):
    (course.root / "course.toml").write_text(TOML + "due = 2026-01-01T00:00:00+01:00\n")
    config = course.root / "nbgrader_config.py"
    config.write_text(config.read_text() + '\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    from autograder.course.settings import load_course

    course = load_course(course.root)
    with GradebookWriter(course.db_url, course) as writer:
        writer.record(
            [
                result(course, "late", timestamp=datetime(2025, 12, 31, 23, 1, tzinfo=UTC)),
                result(course, "early", timestamp=datetime(2025, 12, 31, 22, 59, tzinfo=UTC)),
                result(course, "unknown"),
            ]
        )
    with Gradebook(course.db_url, course.course_id) as gradebook:
        penalties = {
            submission.student.id: submission.notebooks[0].late_submission_penalty
            for submission in gradebook.assignment_submissions(LAB)
        }
    assert penalties == {"late": 3.5, "early": None, "unknown": None}
    stamp = (course.autograded / "late" / LAB / "timestamp.txt").read_text()
    assert stamp == "2025-12-31 23:01:00.000000 UTC"


def test_a_lab_may_change_under_its_marks(course):
    """New exercises get rows, points follow the release, and a cell with manual scores is not thrown away."""
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result(course)])
        set_grade(course, "ada", "why", manual_score=3.0)
    path = course.solution_notebook(LAB)
    path.with_suffix(".py").unlink()
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[5].metadata.nbgrader["points"] = 6
    question = nbformat.v4.new_markdown_cell("So.", metadata=notebook.cells[9].metadata.copy())
    question.metadata["nbgrader"] = {**notebook.cells[9].metadata.nbgrader, "grade_id": "how"}
    notebook.cells.append(question)
    path.write_text(nbformat.writes(notebook))
    release(course)
    with GradebookWriter(course.db_url, course) as writer:
        writer.ensure_lab(LAB)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        assert gradebook.find_assignment(LAB).max_score == 17
        assert gradebook.find_grade("how", LAB, LAB, "ada").score == 0

    path.with_suffix(".py").unlink()
    del notebook.cells[9]
    path.write_text(nbformat.writes(notebook))
    release(course)
    with GradebookWriter(course.db_url, course) as writer, pytest.raises(GradebookError, match='"why" is no longer'):
        writer.ensure_lab(LAB)
    set_grade(course, "ada", "why", manual_score=None)
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result(course, double=2.0)])
    with Gradebook(course.db_url, course.course_id) as gradebook:
        assert gradebook.find_assignment(LAB).max_score == 13


def test_impossible_results_are_refused(course):
    with GradebookWriter(course.db_url, course) as writer:
        stranger = LabResult("bob", LAB, (ExerciseResult("cube", 1, 1, "graded"),))
        with pytest.raises(GradebookError, match="cube"):
            writer.record([result(course), stranger])
        assert not writer.marks()
        writer.record([result(course)])
        with pytest.raises(ValueError, match="student id"):
            writer.record([result(course, "../../etc")])
        assert [mark.student for mark in writer.marks()] == ["ada"]
    for score in (float("nan"), float("inf"), -0.01, 2.01):
        with pytest.raises(ValueError, match="score"):
            ExerciseResult("double", score, 2, "graded")


RECORDER = """
import sys
from pathlib import Path
sys.path[:0] = [{repository!r}, {tests!r}]
import nbformat
from autograder.course.settings import load_course
from autograder.course.settings import CourseError
from autograder.grade.gradebook import GradebookWriter
from autograder.grade.results import ExerciseResult, LabResult

course = load_course(Path({root!r}))
exercises = (ExerciseResult("double", 2, 2, "graded"), ExerciseResult("square", 3, 3, "graded"))
with GradebookWriter(course.db_url, course) as writer:
    print("ready", flush=True)
    for number in range(int(sys.argv[2])):
        result = LabResult(f"{{sys.argv[1]}}-{{number}}", "01_tiny", exercises, content_hash="c", grader_version="g")
        writer.record([result])
"""


def start_recorder(course, name: str, count: int) -> subprocess.Popen:
    tests = Path(__file__).parents[1]
    code = RECORDER.format(repository=str(tests.parent), tests=str(tests), root=str(course.root))
    return subprocess.Popen([sys.executable, "-c", code, name, str(count)], stdout=subprocess.PIPE, text=True)


@pytest.mark.long
def test_two_graders_at_once_lose_nothing(course):
    """Both begin with no database at all."""
    graders = [start_recorder(course, name, 15) for name in ("a", "b")]
    assert [grader.wait(timeout=120) for grader in graders] == [0, 0]
    with GradebookWriter(course.db_url, course) as writer:
        assert len(writer.marks()) == 30
    with Gradebook(course.db_url, course.course_id) as gradebook:
        assert {submission.score for submission in gradebook.assignment_submissions(LAB)} == {5.0}


@pytest.mark.long
def test_a_killed_grader_leaves_whole_verdicts(course):
    grader = start_recorder(course, "a", 10_000)
    assert grader.stdout.readline() == "ready\n"
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline and len(list(course.autograded.glob("a-*"))) < 5:
        time.sleep(0.01)
    os.kill(grader.pid, signal.SIGKILL)
    grader.wait(timeout=30)
    database = sqlite3.connect(course.db_url.removeprefix("sqlite:///"))
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
    with GradebookWriter(course.db_url, course) as writer:
        kept = writer.marks()
        assert kept
        for mark in kept:
            assert (course.autograded / mark.student / LAB / f"{LAB}.ipynb").is_file()
        writer.record([result(course, "after")])
    with Gradebook(course.db_url, course.course_id) as gradebook:
        scores = {submission.student.id: submission.score for submission in gradebook.assignment_submissions(LAB)}
    assert scores == {mark.student: 5.0 for mark in kept} | {"after": 3.5}


@pytest.mark.long
def test_the_database_is_nbgraders_own(course):
    """nbgrader sees a current database: nothing to upgrade, and its own code opens it."""
    with GradebookWriter(course.db_url, course):
        pass
    from nbgrader.api import get_alembic_version

    with Session(open_engine(course.db_url)) as session:
        from sqlalchemy import column, table

        version = session.scalar(select(column("version_num")).select_from(table("alembic_version")))
    assert version == get_alembic_version()


def test_a_lab_that_is_not_released_is_named(course):
    course.release_notebook(LAB).unlink()
    with (
        GradebookWriter(course.db_url, course) as writer,
        pytest.raises(CourseError, match="course release 01_tiny"),
    ):
        writer.ensure_lab(LAB)


@pytest.mark.parametrize(
    "odd", ["=1", "+1", "-1", "@A1", "＝1", "＋1", "－1", "＠A1", "a;=1", "\t=1", "\r=1", "\n=1", " =1"]
)
def test_no_id_is_a_formula_in_the_tables(course, tmp_path, odd):
    write_tables(tmp_path, [make_mark(result(course, odd))])
    for name in ("results.csv", "grades.csv"):
        text = (tmp_path / name).read_text("utf-8")
        for row in csv.reader(io.StringIO(text)):
            for line in row[0].splitlines():
                assert line[0] not in "=+-@＝＋－＠" and ";" not in line


def test_result_tables(course, tmp_path):
    """Columns, order, rounding, and ids that a spreadsheet would compute."""
    results = [result(course, "zoe", double=1.005), result(course, "=cmd()", square=2.999), result(course, "ada")]
    write_tables(tmp_path / "out", [make_mark(result) for result in results])
    rows = list(csv.DictReader((tmp_path / "out" / "results.csv").open()))
    columns = ["student", "lab", "exercise", "score", "max_score", "status", "misconceptions", "seconds"]
    assert list(rows[0]) == [*columns, "automatic", "version", "comment"]
    assert [(row["student"], row["exercise"], row["score"]) for row in rows] == [
        *(("'=cmd()", "double", "2.00"), ("'=cmd()", "square", "3.00")),
        *(("ada", "double", "2.00"), ("ada", "square", "1.50")),
        *(("zoe", "double", "1.01"), ("zoe", "square", "1.50")),
    ]
    assert rows[1]["misconceptions"] == "half"
    grades = list(csv.reader((tmp_path / "out" / "grades.csv").open()))
    assert grades[0] == ["student", "lab", "score", "max_score", "percent", "state", "automatic", "version", "late"]
    assert grades[3] == ["zoe", LAB, "2.51", "5.00", "50.20", "graded", "2.51", "g1", "0.00"]
    assert [path.name for path in sorted((tmp_path / "out").iterdir())] == ["grades.csv", "results.csv"]


def test_results_survive_json(course):
    whole = result(course, timestamp=datetime(2026, 1, 2, tzinfo=UTC), repairs=("put back",))
    assert LabResult.from_dict(json.loads(json.dumps(whole.to_dict()))) == whole
    assert [round_score(score) for score in (0.125, 1.005, 2.675, 1 / 3, 0.0)] == [0.13, 1.01, 2.68, 0.33, 0.0]

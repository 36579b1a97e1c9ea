"""nbgrader's own commands work on the course, also on what defeats stock nbgrader."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbgrader.apps.api import NbGraderAPI
from nbgrader.auth import Authenticator
from nbgrader.converters import Autograde, GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import (
    ExchangeCollect,
    ExchangeFetchAssignment,
    ExchangeFetchFeedback,
    ExchangeReleaseAssignment,
    ExchangeReleaseFeedback,
    ExchangeSubmit,
)
from nbgrader.utils import compute_checksum
from tiny_course import LAB, build, released, write_notebook
from traitlets.config import PyFileConfigLoader

from autograder.course.labs import read_released
from autograder.grade import nbgrader_plugin
from autograder.grade.gradebook import GradebookWriter
from autograder.grade.lab_grader import content_hash
from autograder.grade.results import ExerciseResult, LabResult
from autograder.read import find_submissions, read_plan
from autograder.release.release import release

GRADE_IDS = {"double": 2.0, "square": 3.0}
pytestmark = pytest.mark.slow


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A released course, and a grader that gives full marks where the source has no "wrong"."""

    def grade_bytes(course, lab, data, student):
        plan = read_plan(data, read_released(course, lab))
        cells = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source for cell in plan.notebook.cells}
        exercises = tuple(
            ExerciseResult(
                name, 0.0 if "wrong" in cells[f"{name}-code"] else points, points, "graded", message="<b>hm</b>"
            )
            for name, points in plan.exercises.items()
        )
        result = LabResult(student, lab, exercises, repairs=plan.repairs, notebook=plan.notebook, grader_version="1")
        return replace(result, content_hash=content_hash(data))

    monkeypatch.setattr("autograder.grade.lab_grader.grade_bytes", grade_bytes)
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    return released(tmp_path / "course", monkeypatch)


def submission(course, answers: dict[str, str]) -> nbformat.NotebookNode:
    notebook = nbformat.read(course.release_notebook(LAB), as_version=4)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = answers.get(name, cell.source)
    return notebook


def hand_in(course, student: str, notebook: nbformat.NotebookNode | bytes, timestamp: str = "") -> None:
    path = course.submitted / student / LAB / f"{LAB}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(notebook if isinstance(notebook, bytes) else nbformat.writes(notebook).encode())
    if timestamp:
        (path.parent / "timestamp.txt").write_text(timestamp)


def convert(course, kind, **settings):
    config = PyFileConfigLoader("nbgrader_config.py", path=str(course.root)).load_config()
    config.CourseDirectory.assignment_id = LAB
    for name, value in settings.items():
        section, _, key = name.partition("__")
        config[section][key] = value
    converter = kind(coursedir=CourseDirectory(config=config), config=config)
    converter.start()


def grades(course) -> dict[str, tuple[float, bool, float | None]]:
    config = PyFileConfigLoader("nbgrader_config.py", path=str(course.root)).load_config()
    with NbGraderAPI(coursedir=CourseDirectory(config=config), config=config).gradebook as gradebook:
        return {
            submission.student.id: (
                submission.score,
                bool(submission.needs_manual_grade),
                submission.notebooks[0].late_submission_penalty,
            )
            for submission in gradebook.assignment_submissions(LAB)
        }


RIGHT = {"double-code": "def double(x):\n    return 2 * x", "square-code": "def square(x):\n    return x**2"}


def test_autograde_takes_no_score_from_a_notebook(course):
    """Tags, outputs, points and checksums of a submission decide nothing."""
    hand_in(course, "honest", submission(course, RIGHT))
    cheat = submission(course, {"double-code": "wrong = 1", "square-code": "wrong = 2"})
    for cell in cheat.cells:
        if cell.metadata.get("nbgrader", {}).get("grade") and cell.cell_type == "code":
            cell.metadata["tags"] = ["skip-execution"]
            cell.metadata.nbgrader["points"] = 1000
            cell.outputs = [
                nbformat.v4.new_output("execute_result", data={"text/plain": "1000"}, execution_count=1),
            ]
    hand_in(course, "cheat", cheat)
    convert(course, Autograde)
    assert grades(course) == {"honest": (5.0, False, None), "cheat": (0.0, False, None)}


def test_the_writer_leaves_a_file_that_nbgrader_can_write_again(course):
    """nbgrader opens the very file for writing, and is not always root."""
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([LabResult("ada", LAB, ())])
    assert (course.autograded / "ada" / LAB / f"{LAB}.ipynb").stat().st_mode & 0o200


def test_autograde_gives_a_verdict_on_anything(course):
    """Files that stop stock nbgrader get zero points, a reason, and leave the others alone."""
    hand_in(course, "empty", b"")
    hand_in(course, "prose", b"Dear teacher, ...")
    hand_in(course, "binary", bytes(range(256)))
    duplicated = submission(course, RIGHT)
    duplicated.cells.append(duplicated.cells[4])
    renamed = submission(course, RIGHT)
    renamed.cells[5].metadata.nbgrader["grade_id"] = "no such cell"
    deleted = submission(course, RIGHT)
    del deleted.cells[5]
    for name, notebook in (("duplicated", duplicated), ("renamed", renamed), ("deleted", deleted)):
        hand_in(course, name, notebook)
    convert(course, Autograde)
    points = {student: score for student, (score, _, _) in grades(course).items()}
    assert points == {"empty": 0, "prose": 0, "binary": 0, "duplicated": 5, "renamed": 5, "deleted": 5}
    shown = (course.autograded / "prose" / LAB / f"{LAB}.ipynb").read_text()
    assert "A note from the grader" in shown and json.loads(shown)["cells"][0]["outputs"]


def test_autograde_agrees_with_the_writer_and_runs_again(course):
    """The result is recorded by the one writer, so that a later grading knows it."""
    hand_in(course, "ada", submission(course, RIGHT | {"why": "My reason."}))
    convert(course, Autograde)
    path = course.submitted / "ada" / LAB / f"{LAB}.ipynb"
    with GradebookWriter(course.db_url, course) as writer:
        found = writer.find_graded("ada", LAB, content_hash(path.read_bytes()), "1")
    assert found is not None and found.score == 5.0 and found.state == "needs_manual_grade"
    assert grades(course)["ada"] == (5.0, True, None)
    convert(course, Autograde, Autograde__force=True)
    assert grades(course)["ada"] == (5.0, True, None)


def test_late_work_is_penalised_as_configured(tmp_path, monkeypatch, course):
    """nbgrader's own late penalties stay in force, also for results that do not come through nbgrader."""
    toml = (course.root / "course.toml").read_text()
    (course.root / "course.toml").write_text(toml + "due = 2026-01-01T00:00:00+01:00\n")
    config = course.root / "nbgrader_config.py"
    config.write_text(config.read_text() + '\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    hand_in(course, "late", submission(course, RIGHT), "2025-12-31 23:30:00 UTC")
    hand_in(course, "early", submission(course, RIGHT), "2025-12-31 22:30:00 UTC")
    convert(course, Autograde)
    assert {student: penalty for student, (_, _, penalty) in grades(course).items()} == {"late": 5.0, "early": None}


def test_feedback_shows_verdicts_and_no_markup_of_the_student(course):
    """Feedback renders verdicts as text; a script in a submission's text or output does not survive."""
    notebook = submission(course, RIGHT)
    notebook.cells[3].source = "hello <script>alert(1)</script>"
    notebook.cells[4].outputs = [
        nbformat.v4.new_output("display_data", data={"text/html": "<script>alert(2)</script>"})
    ]
    notebook.cells.insert(
        4, nbformat.v4.new_markdown_cell("mine <img src=x onerror=alert(3)> <script>alert(4)</script>")
    )
    hand_in(course, "ada", notebook)
    convert(course, Autograde)
    convert(course, GenerateFeedback)
    html = (course.root / "feedback" / "ada" / LAB / f"{LAB}.html").read_text()
    assert "double: 2 of 2 points" in html
    assert "&lt;b&gt;hm&lt;/b&gt;" in html
    for number in range(1, 5):
        assert f"<script>alert({number})" not in html
    assert "onerror=alert" not in html


def nbgrader(course, *arguments: str) -> subprocess.CompletedProcess:
    """Run nbgrader by its path, in an environment that is not activated."""
    command = [str(Path(sys.executable).parent / "nbgrader"), *arguments]
    environment = {**os.environ, "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, cwd=course.root, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.long
def test_generate_assignment_by_nbgrader_gives_the_same_bytes(tmp_path, monkeypatch):
    """Formgrader's Generate button and "course release" write the same lab."""
    course = build(tmp_path / "course", monkeypatch)
    done = nbgrader(course, "generate_assignment", LAB)
    assert done.returncode == 0, done.stderr
    by_nbgrader = course.release_notebook(LAB).read_bytes()
    release(course)
    assert course.release_notebook(LAB).read_bytes() == by_nbgrader


@pytest.mark.long
def test_export_and_list_work(course):
    """The commands that only read."""
    with GradebookWriter(course.db_url, course) as writer:
        exercises = tuple(ExerciseResult(name, points, points, "graded") for name, points in GRADE_IDS.items())
        writer.record([LabResult("ada", LAB, exercises)])
    for arguments in (("export",), ("list",)):
        done = nbgrader(course, *arguments)
        assert done.returncode == 0, done.stderr
    assert ",ada," in (course.root / "grades.csv").read_text()


def test_a_lab_goes_out_and_comes_back_through_the_exchange(course, tmp_path, monkeypatch):
    """Release, fetch, submit twice, collect: the newest attempt counts, wherever it is read; feedback goes back."""
    exchange, home = tmp_path / "exchange", tmp_path / "home"
    exchange.mkdir()
    exchange.chmod(0o777)
    home.mkdir()
    monkeypatch.setenv("NBGRADER_EXCHANGE", str(exchange))

    def run(kind, root):
        config = PyFileConfigLoader("nbgrader_config.py", path=str(course.root)).load_config()
        config.CourseDirectory.root = config.Exchange.assignment_dir = str(root)
        config.CourseDirectory.assignment_id = LAB
        kind(
            coursedir=CourseDirectory(config=config), authenticator=Authenticator(config=config), config=config
        ).start()

    run(ExchangeReleaseAssignment, course.root)
    monkeypatch.chdir(home)
    run(ExchangeFetchAssignment, home)
    path = home / LAB / f"{LAB}.ipynb"
    assert path.read_bytes() == course.release_notebook(LAB).read_bytes()
    for answers in (RIGHT | {"double-code": "wrong = 1"}, RIGHT):
        write_notebook(path, submission(course, answers))
        run(ExchangeSubmit, home)
    run(ExchangeCollect, course.root)
    for folder in (course.submitted, exchange / course.course_id / "inbound"):
        (found,) = find_submissions([folder], LAB).submissions
        assert found.read() == path.read_bytes() and found.timestamp is not None
    exercises = tuple(ExerciseResult(name, points, points, "graded") for name, points in GRADE_IDS.items())
    with GradebookWriter(course.db_url, course) as writer:  # as `course grade` does
        writer.record([LabResult(found.student, LAB, exercises, timestamp=found.timestamp)])
    convert(course, GenerateFeedback)
    run(ExchangeReleaseFeedback, course.root)
    run(ExchangeFetchFeedback, home)
    (page,) = (home / LAB / "feedback").rglob("*.html")
    assert "Score: 5.0 / 9.0" in page.read_text("utf-8")


@pytest.mark.long
def test_validate_ignores_stderr_and_runs_every_test_cell(course):
    """A right notebook that logs passes; a wrong one with skip-execution on its tests does not."""
    noise = (
        "import os, sys, warnings\n\n\ndef check(name):\n    os.write(2, b'log')\n    print('log', file=sys.stderr)\n"
    )
    noise += "    warnings.warn('careful')\n    assert {'double': 6, 'square': 9}[name] == globals()[name](3)\n"
    right = submission(course, RIGHT | {"imports": noise, "why": "My reason."})
    for cell in right.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "imports":
            cell.metadata.nbgrader["checksum"] = compute_checksum(cell)
    write_notebook(course.root / "right.ipynb", right)
    for cell in right.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "double-code":
            cell.source = "def double(x):\n    return x"
        if cell.source.startswith("check("):
            cell.metadata["tags"] = ["skip-execution"]
    write_notebook(course.root / "wrong.ipynb", right)
    assert "Success" in nbgrader(course, "validate", "right.ipynb").stdout
    assert "VALIDATION FAILED ON 1 CELL" in nbgrader(course, "validate", "wrong.ipynb").stdout


def test_nbgraders_way_reads_no_link_and_nothing_too_large(course, monkeypatch):
    notebook = submission(course, {})
    hand_in(course, "ada", notebook)
    path = course.submitted / "ada" / LAB / f"{LAB}.ipynb"
    honest = path.with_name("other.ipynb")
    path.rename(honest)
    path.symlink_to(honest)
    assert nbgrader_plugin.grade_file(course, "ada", LAB, path).state == "unreadable"
    assert nbgrader_plugin.ForgivingExporter().from_filename(str(path))
    path.unlink()
    honest.rename(path)
    monkeypatch.setattr("autograder.read.tree.MAX_FILE_BYTES", 1000)
    assert "more than" in nbgrader_plugin.grade_file(course, "ada", LAB, path).reason

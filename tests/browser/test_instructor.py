"""An instructor's way through Formgrader: autograde by its button, the gradebook, a written answer, feedback."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from hostile.making import FULL
from nbgrader.api import Gradebook
from selenium.webdriver import Keys
from workplace import Server, Window

ROOT = Path(__file__).resolve().parents[2]
LAB = "02_self_attention"
SAMPLE = "02-typical-mistakes"
COMMENT = "Good. And what does W_v add?"
REASON = "right for one of the two axes"
SAMPLES = ROOT / "exercises" / "samples" / LAB
MARKS = dict(row.split(",") for row in (SAMPLES.parent / "marks.csv").read_text(encoding="utf-8").splitlines()[1:])
EARNED, ALL = float(MARKS[SAMPLE]), FULL + 4  # with the written answer
SHARE = f"{EARNED:g} / {ALL:g}"

pytestmark = [pytest.mark.long, pytest.mark.sandbox]


def with_points(path: Path) -> None:
    """Give points to the written answer, which the course's own labs only comment on."""
    notebook = nbformat.read(path, as_version=4)
    (cell,) = (cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "explanation")
    cell.metadata.nbgrader["points"] = 4
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A course with lab 02 and a submission, in which a few of the answers are right."""
    root = tmp_path_factory.mktemp("instructor") / "course"
    root.mkdir()
    for name in ("course.toml", "nbgrader_config.py"):
        shutil.copy(ROOT / name, root)
    for folder in (f"solutions/{LAB}", f"labs/{LAB}", "exercises"):
        shutil.copytree(ROOT / folder, root / folder)
    with_points(root / "labs" / LAB / f"{LAB}.ipynb")
    path = root / "submitted" / "ada" / LAB / f"{LAB}.ipynb"
    path.parent.mkdir(parents=True)
    shutil.copy(ROOT / "exercises" / "samples" / LAB / SAMPLE / f"{LAB}.ipynb", path)
    return root


@pytest.fixture
def window(course, tmp_path):
    server = Server(course, tmp_path / "jupyter")
    try:
        window = Window(tmp_path)
        try:
            window.open(server, "lab")
            yield window
        finally:
            window.close()
    finally:
        server.stop()


def _comments(course: Path) -> list[str]:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        notebook = gradebook.find_submission_notebook(LAB, LAB, "ada")
        return [comment.manual_comment for comment in notebook.comments if comment.manual_comment]


def _given(course: Path, cell: str) -> float | None:
    """The points that a person gave for a cell."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return gradebook.find_grade(cell, LAB, LAB, "ada").manual_score


def _fill(window: Window, css: str, text: str, is_saved: Callable[[], bool]) -> None:
    """Fill in a field until the gradebook has it: what is typed before the page has fetched the marks is lost."""

    def attempt() -> bool:
        field = window.find(css)
        field.clear()
        field.send_keys(text, Keys.TAB)
        time.sleep(1)
        return is_saved()

    window.wait(attempt, f"{css} is in the gradebook")


def test_formgrader_from_autograding_to_feedback(window, course):
    window.menu("Nbgrader", "Formgrader")
    window.driver.switch_to.frame(window.find("iframe"))
    window.find("#main-table", LAB)
    window.click(".num-submissions a", "1")

    window.find("#main-table", "needs autograding")
    window.click(".autograde a")
    window.find(".modal.in", "Successfully autograded")
    window.shot("autograded")
    window.click(".modal.in button", "OK")
    assert f"ada None needs manual grading {SHARE}" in window.find("#main-table", SHARE).text

    window.click("a", "Manual Grading")
    for name in (LAB, LAB, "Submission #1"):  # assignments, notebooks, submissions
        assert f"{SHARE} {EARNED:g} / {FULL:g} 0 / 4" in window.find("#main-table", name).text or name == LAB
        window.shot(f"gradebook-{name}")
        window.click("#main-table a", name)
    verdict = window.find(".output_area", "self_attention_matrix: 0 of 2 points")
    assert "a softmax over the queries" in " ".join(verdict.text.split())
    for cell, points, comment_on, comment in (
        ("explanation", 3, "explanation", COMMENT),
        ("self_attention_matrix", 1.5, "self_attention_matrix-code", REASON),
    ):
        _fill(window, f"#{cell}", f"{points:g}", lambda of=cell, given=points: _given(course, of) == given)
        _fill(window, f"#{comment_on}-comment", comment, lambda text=comment: text in _comments(course))
    window.shot("answer")

    window.click("a", "Manual Grading")
    window.click("a", "Manage Assignments")
    window.click(".num-submissions a", "1")
    share = f"{EARNED + 4.5:g} / {ALL:g}"
    assert f"graded {share}" in window.find("#main-table", share).text
    window.click(".generate-feedback a")
    window.find(".modal.in", "Successfully generated feedback")
    page = (course / "feedback" / "ada" / LAB / f"{LAB}.html").read_text("utf-8")
    assert COMMENT in page and "3.0 / 4.0" in page
    window.click(".modal.in button", "OK")
    window.driver.switch_to.default_content()
    window.driver.get(f"file://{course / 'feedback' / 'ada' / LAB / LAB}.html")
    window.shot("feedback")

    words = [sys.executable, "-P", "-m", "autograder.cli", "grade", LAB, "submitted", "--again"]
    subprocess.run(words, cwd=course, check=True, capture_output=True)  # what was set in Formgrader survives it
    path = course / "grades" / "feedback" / "ada" / f"{LAB}.html"
    page = " ".join(re.sub(r"<[^>]+>", " ", path.read_text("utf-8")).split())
    assert f"Set by your instructor: 1.5 of 2 points, because: {REASON} The automatic mark was 0." in page
    assert f"Set by your instructor: 3 of 4 points, because: {COMMENT}" in page
    assert f"{EARNED + 4.5:g} of {ALL:g} points" in page
    window.driver.get(f"file://{path}")
    window.shot("page")

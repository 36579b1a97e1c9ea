"""An instructor's way through Formgrader: autograde by its button, the gradebook, a written answer, feedback."""

from __future__ import annotations

import shutil
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
SAMPLES = ROOT / "exercises" / "samples" / LAB
MARKS = dict(row.split(",") for row in (SAMPLES.parent / "marks.csv").read_text(encoding="utf-8").splitlines()[1:])
EARNED, ALL = float(MARKS[SAMPLE]), FULL + 4  # with the written answer
SHARE = f"{EARNED:g} / {ALL:g}"

pytestmark = pytest.mark.sandbox


def with_points(path: Path) -> None:
    """Give points to the written answer, which the course's own labs only comment on."""
    notebook = nbformat.read(path, as_version=4)
    (cell,) = (each for each in notebook.cells if each.metadata.get("nbgrader", {}).get("grade_id") == "explanation")
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
    assert "the softmax runs over the queries instead of the keys" in " ".join(verdict.text.split())
    window.find("#explanation").send_keys("3", Keys.TAB)
    window.find("#explanation-comment").send_keys(COMMENT, Keys.TAB)
    window.wait(lambda: _comments(course) == [COMMENT], "the comment is in the gradebook")  # "Saved" fades too soon
    window.shot("answer")

    window.click("a", "Manual Grading")
    window.click("a", "Manage Assignments")
    window.click(".num-submissions a", "1")
    assert f"graded {EARNED + 3:g} / {ALL:g}" in window.find("#main-table", f"{EARNED + 3:g} / {ALL:g}").text
    window.click(".generate-feedback a")
    window.find(".modal.in", "Successfully generated feedback")
    page = (course / "feedback" / "ada" / LAB / f"{LAB}.html").read_text("utf-8")
    assert COMMENT in page and "3.0 / 4.0" in page
    window.click(".modal.in button", "OK")
    window.driver.switch_to.default_content()
    window.driver.get(f"file://{course / 'feedback' / 'ada' / LAB / LAB}.html")
    window.shot("feedback")

"""The page on which JupyterLab opens: what it lists, which copy of a lab, the points that a saved notebook shows."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from site_building import ROOT
from typer.testing import CliRunner

from coursekit.check.judge import ExerciseSpec, Judgement
from coursekit.check.lab import load_reference
from coursekit.check.report import Report
from coursekit.start import PAGE, points_shown, write_start_page
from coursekit.terminal import app

LAB = "02_self_attention"
MOST = sum(load_reference(LAB).points.values())


def a_lab(*points: float) -> nbformat.NotebookNode:
    """A saved lab in which the checks showed these points, one after the other."""
    cells = [new_markdown_cell("# Lab 02 · Self|attention\n\nText")]
    for earned in points:
        report = Report(ExerciseSpec("x", (), {}), Judgement("x", "graded", (), ()), 1, {"x": True}, (earned, MOST))
        shown = new_output("display_data", data={"text/plain": str(report), "text/html": report._repr_html_()})
        cells.append(new_code_cell('check("x")', outputs=[shown]))
    return new_notebook(cells=cells)


@pytest.fixture
def course(tmp_path, monkeypatch):
    (tmp_path / "lectures").mkdir()
    for name in (LAB, "02b_what_attention_costs"):
        shutil.copy(ROOT / "lectures" / f"{name}.ipynb", tmp_path / "lectures")
    write(tmp_path / "labs", a_lab())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(place, notebook):
    (place / LAB).mkdir(parents=True)
    nbformat.write(notebook, place / LAB / f"{LAB}.ipynb")


def rows(course) -> list[str]:
    page = nbformat.read(write_start_page(course), as_version=4)
    nbformat.validate(page)
    return [line for line in page.cells[0].source.splitlines() if line.startswith("|")][2:]


def test_lectures_and_labs_are_listed_with_the_points_to_reach(course):
    first, second, together = rows(course)
    lab = f"[Lab 02 · Self\\|attention](labs/{LAB}/{LAB}.ipynb)"
    assert first == f"| [2 · Self-attention](lectures/{LAB}.ipynb) | {lab} | 0 of {MOST:g} |"
    assert second.startswith("| [2b · What attention costs](") and second.endswith("|  |  |")
    assert together == f"| | **together** | **0 of {MOST:g}** |"


def test_a_students_own_copy_is_opened_and_its_points_are_the_most_that_it_shows(course):
    write(course / "work", a_lab(8, 12.5, 3))
    assert f"(work/{LAB}/{LAB}.ipynb) | 12.5 of {MOST:g} |" in rows(course)[0]
    (course / "work" / LAB / f"{LAB}.ipynb").write_text("no notebook")
    assert f"[{LAB}](work/{LAB}/{LAB}.ipynb) | 0 of {MOST:g} |" in rows(course)[0]


def test_a_notebook_without_a_report_shows_no_points():
    assert points_shown(a_lab()) is None
    assert points_shown(a_lab(0)) == 0


def test_it_is_written_anew_and_somebody_elses_notebook_stays(course):
    rows(course)
    write(course / "work", a_lab(8))
    assert "8 of" in rows(course)[0]
    mine = new_notebook(cells=[new_markdown_cell("mine")])
    nbformat.write(mine, course / PAGE)
    write_start_page(course)
    assert nbformat.read(course / PAGE, as_version=4).cells[0].source == "mine"


def test_the_command_opens_jupyterlab_on_the_page(course, monkeypatch):
    ran = []
    monkeypatch.setattr(os, "execv", lambda *words: ran.append(words[1]))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "mine")
    (course / "course.toml").touch()
    assert CliRunner().invoke(app, ["start"]).exit_code == 0 and os.environ["JUPYTER_CONFIG_PATH"] == "mine"
    (course / "course.toml").unlink()
    done = CliRunner().invoke(app, ["start"])
    assert done.exit_code == 0, done.output
    first, others = os.environ["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert "nbgrader:create-assignment" in Path(first, "labconfig", "page_config.json").read_text() and others == "mine"
    settings = [f"--LabApp.default_url=/lab/tree/{PAGE}", "--LabApp.news_url=None"]
    assert ran[1][1:] == ["-m", "jupyterlab", *settings] and (course / PAGE).is_file()
    shutil.rmtree(course / "lectures")
    shutil.rmtree(course / "labs")
    done = CliRunner().invoke(app, ["start"])
    assert done.exit_code == 2 and "type this in the course's folder" in " ".join(done.output.split()).replace("│ ", "")

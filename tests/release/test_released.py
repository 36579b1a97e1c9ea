"""The released notebook of a lab: what is asked of it again and again is read once."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from autograder.course import labs
from autograder.course.labs import cells_by_id, read_released, read_released_names
from autograder.course.settings import CourseError

LAB = "02_self_attention"
RELEASED = Path(__file__).resolve().parents[2] / "labs" / LAB / f"{LAB}.ipynb"


@pytest.fixture
def course(tmp_path):
    path = tmp_path / RELEASED.name
    shutil.copy(RELEASED, path)
    return SimpleNamespace(lab=lambda name: SimpleNamespace(name=name), release_notebook=lambda _: path)


def test_names_are_parsed_once_and_anew_when_the_lab_changes(course, monkeypatch):
    parsed = []
    parse = labs.parse_notebook
    monkeypatch.setattr(labs, "parse_notebook", lambda *some: parsed.append(1) or parse(*some))
    names = read_released_names(course, LAB)
    assert names == read_released_names(course, LAB) == tuple(cells_by_id(read_released(course, LAB)))
    assert len(parsed) == 2  # once for each of the two functions
    notebook = read_released(course, LAB)
    notebook.cells = notebook.cells[: len(notebook.cells) // 2]
    nbformat.write(notebook, course.release_notebook(LAB))
    assert read_released_names(course, LAB) == names[: len(read_released_names(course, LAB))] != names


def test_names_of_a_lab_that_is_not_released_are_refused(course):
    course.release_notebook(LAB).unlink()
    with pytest.raises(CourseError, match=f'run "course release {LAB}"'):
        read_released_names(course, LAB)

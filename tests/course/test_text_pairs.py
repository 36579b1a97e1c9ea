"""Each notebook and its text file say the same, or a check says that they do not."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_output
from tiny_course import solution_notebook, write_notebook

from autograder.course.settings import load_course
from autograder.course.text_pairs import PairError, check_pair, find_pairs, read_pair, write_pair, write_text

HEAD = '[course]\ntitle = "t"\nid = "t"\n[distribution]\nversion = "1.0"\n'


@pytest.fixture
def pair(tmp_path) -> Path:
    """A notebook with an output, and its text file."""
    path = tmp_path / "lesson.ipynb"
    notebook = solution_notebook()
    notebook.cells[4].outputs = [new_output("stream", text="kept\n")]
    write_notebook(path, notebook)
    write_pair(path, read_pair(path))
    return path


def edit_text(path: Path, old: str, new: str, newer: bool) -> None:
    text_path = path.with_suffix(".py")
    text_path.write_text(text_path.read_text().replace(old, new))
    now = path.stat().st_mtime
    os.utime(text_path, (now, now + 10 if newer else now - 10))


def test_a_synchronised_pair_agrees_and_stays(pair):
    before = (pair.read_bytes(), pair.with_suffix(".py").read_bytes())
    assert check_pair(pair) is None
    assert write_pair(pair, read_pair(pair)) == []
    assert (pair.read_bytes(), pair.with_suffix(".py").read_bytes()) == before


def test_a_newer_text_changes_the_notebook_and_keeps_outputs(pair):
    edit_text(pair, "Double a number.", "Double any number.", newer=True)
    assert "does not have the same content" in check_pair(pair)
    assert write_pair(pair, read_pair(pair)) == [pair]
    notebook = nbformat.read(pair, as_version=4)
    assert notebook.cells[3].source == "Double any number."
    assert notebook.cells[4].outputs[0].text == "kept\n"
    assert notebook.cells[4].metadata.nbgrader.grade_id == "double-code"
    assert check_pair(pair) is None


def test_a_newer_notebook_changes_the_text(pair):
    edit_text(pair, "Double a number.", "An old text.", newer=False)
    assert write_pair(pair, read_pair(pair)) == [pair.with_suffix(".py")]
    assert "An old text." not in pair.with_suffix(".py").read_text()


def test_outputs_are_not_part_of_the_pair(pair):
    notebook = nbformat.read(pair, as_version=4)
    before = write_text(notebook)
    notebook.cells[4].outputs = []
    assert write_text(notebook) == before


@pytest.mark.parametrize("suffix", [".py", ".ipynb"])
def test_a_missing_half_is_noticed_and_made(pair, suffix):
    pair.with_suffix(suffix).unlink()
    assert "is missing" in check_pair(pair)
    write_pair(pair, read_pair(pair))
    assert check_pair(pair) is None
    assert read_pair(pair).cells[3].source == "Double a number."


def test_a_broken_notebook_is_named(pair):
    pair.write_text("{")
    with pytest.raises(PairError, match=r"lesson\.ipynb.*cannot be read"):
        check_pair(pair)


def test_paired_notebooks_finds_lectures_and_solutions(tmp_path):
    (tmp_path / "course.toml").write_text(HEAD + '[[labs]]\nname = "01_a"\n')
    course = load_course(tmp_path)
    (course.lectures).mkdir()
    (course.lectures / "01_a.py").write_text("# %%\n1\n")
    write_notebook(course.solution_notebook("01_a"), solution_notebook())
    assert find_pairs(course) == [course.lectures / "01_a.ipynb", course.solution_notebook("01_a")]

"""Each notebook and its text file say the same, or a check says that they do not."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_output
from tiny_course import solution_notebook, write_notebook

from autograder.course import CourseError, load_course
from autograder.releasing.text_pairs import PairError, check_pair, paired_notebooks, read_pair, sync_pair, text_of

HEAD = '[course]\ntitle = "t"\nid = "t"\n[distribution]\nversion = "1.0"\n'
LABS = '[[labs]]\nname = "a"\n'


@pytest.fixture
def pair(tmp_path) -> Path:
    """A notebook with an output, and its text file."""
    path = tmp_path / "lesson.ipynb"
    notebook = solution_notebook()
    notebook.cells[4].outputs = [new_output("stream", text="kept\n")]
    write_notebook(path, notebook)
    sync_pair(path)
    return path


def edit_text(path: Path, old: str, new: str, newer: bool) -> None:
    text_path = path.with_suffix(".py")
    text_path.write_text(text_path.read_text().replace(old, new))
    now = path.stat().st_mtime
    os.utime(text_path, (now, now + 10 if newer else now - 10))


def test_a_synchronised_pair_agrees_and_stays(pair):
    before = (pair.read_bytes(), pair.with_suffix(".py").read_bytes())
    assert check_pair(pair) is None
    assert sync_pair(pair) == []
    assert (pair.read_bytes(), pair.with_suffix(".py").read_bytes()) == before


def test_a_newer_text_changes_the_notebook_and_keeps_outputs(pair):
    edit_text(pair, "Double a number.", "Double any number.", newer=True)
    assert "does not say the same" in check_pair(pair)
    assert sync_pair(pair) == [pair]
    notebook = nbformat.read(pair, as_version=4)
    assert notebook.cells[3].source == "Double any number."
    assert notebook.cells[4].outputs[0].text == "kept\n"
    assert notebook.cells[4].metadata.nbgrader.grade_id == "double-code"
    assert check_pair(pair) is None


def test_a_newer_notebook_changes_the_text(pair):
    edit_text(pair, "Double a number.", "An old text.", newer=False)
    assert sync_pair(pair) == [pair.with_suffix(".py")]
    assert "An old text." not in pair.with_suffix(".py").read_text()


def test_outputs_are_not_part_of_the_pair(pair):
    notebook = nbformat.read(pair, as_version=4)
    before = text_of(notebook)
    notebook.cells[4].outputs = []
    assert text_of(notebook) == before


@pytest.mark.parametrize("suffix", [".py", ".ipynb"])
def test_a_missing_half_is_noticed_and_made(pair, suffix):
    pair.with_suffix(suffix).unlink()
    assert "is missing" in check_pair(pair)
    sync_pair(pair)
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
    assert paired_notebooks(course) == [course.lectures / "01_a.ipynb", course.solution_notebook("01_a")]


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("[course", "not TOML"),
        ("", r"course\.title: needs a text"),
        ('[course]\ntitle = "t"\nid = "two words"', r"course\.id: should be"),
        (HEAD, "labs: there are none"),
        (HEAD + LABS + "typo = 1", r"labs\.typo: is not a key"),
        (HEAD + LABS + "due = 2026-01-01", r"labs\.due: needs"),
        (HEAD + LABS + "weight = -1", r"labs\.weight: needs"),
        (HEAD + LABS + LABS, r'labs\.name: "a" appears twice'),
        (HEAD + '[[labs]]\nname = "../a"', r"labs\.name: should be"),
        (
            HEAD + LABS + "[grading]\nmemory_mb = 600",
            r"grading\.memory_mb: .* 3072 \(TensorFlow does not run with less",
        ),
        (HEAD + 'repository = "git@host"\n' + LABS, r"distribution\.repository: should be an https address"),
    ],
)
def test_a_wrong_course_file_is_explained(tmp_path, toml, message):
    """The message names the file and the key."""
    (tmp_path / "course.toml").write_text(toml)
    with pytest.raises(CourseError, match=f"course.toml.*{message}"):
        load_course(tmp_path)


def test_the_course_is_found_from_inside_and_by_variable(tmp_path, monkeypatch):
    (tmp_path / "course.toml").write_text(HEAD + 'repository = "https://github.com/o/r"\n' + LABS)
    inside = tmp_path / "deep" / "down"
    inside.mkdir(parents=True)
    assert load_course(inside).root == tmp_path
    monkeypatch.setenv("COURSE_ROOT", str(tmp_path))
    course = load_course()
    assert course.pip_spec == '"transformers-coursekit @ git+https://github.com/o/r@v1.0"'
    assert course.db_url == f"sqlite:///{tmp_path}/gradebook.db"
    monkeypatch.setenv("COURSE_ROOT", str(inside))
    with pytest.raises(CourseError, match="correct or unset COURSE_ROOT"):
        load_course()
    with pytest.raises(CourseError, match="the labs are a"):
        course.lab("b")

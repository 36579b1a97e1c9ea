"""A lab as students get it: what a cell is, as nbgrader sees it; and its notebook, which is read once."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader import utils
from tiny_course import solution_notebook

from autograder.course import labs
from autograder.course.labs import Role, cells_by_id, read_release, read_released, read_released_names
from autograder.course.settings import CourseError

LAB = "02_self_attention"
RELEASED = Path(__file__).resolve().parents[2] / "labs" / LAB / f"{LAB}.ipynb"
FLAGS = st.fixed_dictionaries(
    {"schema_version": st.just(3), "grade_id": st.sampled_from(["a", "b"])}
    | {name: st.booleans() for name in ("grade", "solution", "task", "locked")}
)


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


@given(FLAGS, st.sampled_from([new_code_cell, new_markdown_cell]))
def test_a_cell_is_what_nbgrader_takes_it_for(flags, kind):
    cell = kind("1", metadata={"nbgrader": flags})
    assert labs.is_solution(cell) == utils.is_solution(cell)
    assert labs.is_test(cell) == (utils.is_grade(cell) and not utils.is_solution(cell))
    assert labs.grade_id(cell) == flags["grade_id"]


@given(st.none() | st.text() | st.integers() | st.lists(st.integers()))
def test_what_a_student_wrote_in_place_of_metadata_is_none(junk):
    for cell in (new_code_cell("1", metadata={"nbgrader": junk}), new_code_cell("1")):
        assert not labs.details(cell) and not labs.grade_id(cell)
        assert not labs.is_test(cell) and not labs.is_solution(cell)


def test_an_exercise_is_a_cell_that_is_graded_by_itself():
    notebook = solution_notebook()
    by_hand = {"grade": True, "solution": True, "grade_id": "plot", "points": 7, "schema_version": 3}
    notebook.cells.append(new_code_cell("draw()", metadata={"nbgrader": by_hand}))  # its points are a person's to give
    assert labs.points(notebook) == {"double": 2, "square": 3}
    tests = [cell for cell in read_release(notebook).cells if cell.role is Role.TEST]
    assert {cell.grade_id: cell.points for cell in tests} == {"double": 2, "square": 3}


def test_of_two_cells_with_one_name_the_first_counts():
    named = [new_code_cell(text, metadata={"nbgrader": {"grade_id": "a"}}) for text in ("1", "2")]
    assert labs.cells_by_id(new_notebook(cells=[new_code_cell("0"), *named])) == {"a": named[0]}

"""The cells that come from course.toml; what a release does with them is in test_release.py."""

from __future__ import annotations

from dataclasses import replace

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from tiny_course import TOML, build

from autograder.release.course_cells import BADGE_TAG, setup_source, stabilise, tags, write_course_cells

REPOSITORY = 'repository = "https://github.com/owner/name"'


@pytest.fixture
def course(tmp_path, monkeypatch):
    return build(tmp_path / "course", monkeypatch)


@pytest.fixture
def online(tmp_path, monkeypatch):
    return build(tmp_path / "online", monkeypatch, TOML.replace('repository = ""', REPOSITORY))


def test_the_setup_cell_is_valid_for_ipython(course, online):
    for built in (course, online, replace(course, site="https://course.org/here")):
        compile(TransformerManager().transform_cell(setup_source(built)), "setup", "exec")


def test_the_setup_cell_installs_the_packages_of_the_course(course, online):
    for built in (course, online):
        source = setup_source(replace(built, packages=("polars[all]>=1.0, <2", "einops")))
        compile(TransformerManager().transform_cell(source), "setup", "exec")
        assert '    %pip install --quiet "polars[all]>=1.0, <2" "einops"\n' in source


def test_there_is_one_badge_below_the_title_however_often_it_is_written(course, online):
    cells = [nbformat.v4.new_markdown_cell("# Lecture"), nbformat.v4.new_code_cell("1")]
    notebook = nbformat.v4.new_notebook(cells=list(cells))
    for _ in range(2):
        write_course_cells(notebook, online, "lectures/01_tiny.ipynb")
        assert [BADGE_TAG in tags(cell) for cell in notebook.cells] == [False, True, False]
    assert "owner/name/blob/main/lectures/01_tiny.ipynb" in notebook.cells[1].source
    write_course_cells(notebook, course, "lectures/01_tiny.ipynb")
    assert notebook.cells == cells


def test_a_stable_notebook_holds_no_output_and_no_random_id():
    def saved():
        cell = nbformat.v4.new_code_cell(
            "1\n", execution_count=7, outputs=[nbformat.v4.new_output("stream", text="1")], metadata={"collapsed": True}
        )
        return nbformat.v4.new_notebook(cells=[cell, nbformat.v4.new_markdown_cell("a")], metadata={"vscode": 1})

    first, second = stabilise(saved()), stabilise(saved())
    assert first == second and stabilise(first) == first
    nbformat.validate(first)
    assert first.cells[0].outputs == [] and first.cells[0].execution_count is None and not first.cells[0].metadata
    assert first.cells[0].source == "1" and "vscode" not in first.metadata

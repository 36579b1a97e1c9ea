"""A Python script with cells is read as the notebook that it stands for; a hostile one costs only itself."""

from __future__ import annotations

import subprocess

import jupytext
import pytest
from measuring import takes_at_most
from test_submission_factory import ANSWERS, POINTS, SETUP, answered, as_bytes, release

from autograder.read import (
    Children,
    LabReader,
    NotebookReader,
    Rules,
    Unreadable,
    read_notebook,
    read_plan,
    read_release,
)
from autograder.read import reading as reading_module
from autograder.read.reading import cells_of_script, has_cells

READ = "The file is a Python script with cells (# %%); it was read as a notebook."


def script(notebook=None) -> str:
    return jupytext.writes(notebook or answered(), fmt="py:percent")


def without_labels(text: str) -> str:
    """As other editors write cells: no header, no metadata."""
    lines = text.split("# ---\n", 2)[2].splitlines()
    return "\n".join(line.partition(" nbgrader=")[0] if line.startswith("# %%") else line for line in lines)


def sources(plan) -> list[str]:
    return [step.source for step in plan.steps if hasattr(step, "source")]


def test_a_script_is_graded_as_its_notebook():
    wanted = read_plan(as_bytes(answered()), release())
    plan = read_plan(script().encode(), release())
    assert sources(plan) == sources(wanted) and plan.missing == wanted.missing == frozenset()
    assert [(answer.grade_id, answer.source, answer.untouched) for answer in plan.manual] == [
        ("essay", "Because the variance grows with d.", False)
    ]
    assert plan.repairs == (READ,)


@pytest.mark.parametrize("mark", ["# %%", "#%%", "# In[3]:", "# <codecell>"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_scripts_of_other_programs_are_read(mark, ends):
    text = "\n".join(mark if line == "# %%" else line for line in without_labels(script()).splitlines())
    for data in (text.replace("\n", ends).encode(), text.encode("utf-16"), b"\xef\xbb\xbf" + text.encode()):
        plan = read_plan(data, release())
        assert not plan.missing and not plan.untouched and not plan.manual[0].untouched, plan.repairs
        assert all(answer in sources(plan) for answer in ANSWERS.values())


def test_nothing_of_the_students_code_changes():
    code = 'def softmax(x, axis=-1):\n    # cat x\n    # %time\n    y = """\n# %%\n"""\n    return x'
    notebook = answered(ANSWERS | {"softmax": code})
    plan = read_plan(script(notebook).replace("# # %time", "# %time").encode(), release())
    assert code in sources(plan)


def test_magics_of_a_given_cell_come_back_and_no_change_is_told():
    released = release()
    for notebook in (released, given := answered()):
        next(cell for cell in notebook.cells if cell.id == "setup").source = f"{SETUP}\n%pip install x"
    plan = read_plan(script(given).encode(), released)
    assert "# %pip install x" in script(given) and plan.repairs == (READ,)


@pytest.mark.parametrize("name", ["marimo", "light", "sphinx", "nomarker", "no such format"])
def test_the_scripts_header_chooses_no_other_reader(name, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", None)
    text = script().replace("format_name: percent", f"format_name: {name}")
    assert f"format_name: {name}" in text
    assert not read_plan(text.encode(), release()).missing
    assert not read_plan(f"#!/usr/bin/env python\n# -*- coding: latin-1 -*-\n{text}".encode(), release()).missing
    loose = "# ---\n# jupyter:\n#   jupytext:\n#     text_representation:\n#       format_name: marimo\nx = 1\n# ---\n"
    assert not read_plan((loose + without_labels(script())).encode(), release()).missing


def test_text_before_the_first_cell_is_a_cell_and_a_script_without_cells_is_refused():
    first = read_notebook(b"import numpy\n\n# %%\nx = 1\n").cells
    assert [cell.source for cell in first] == ["import numpy", "x = 1"]
    with pytest.raises(Unreadable, match="Python script"):
        read_notebook(b"import numpy\nx = 1  # %%\n")
    assert has_cells(b"x\r\n# %%\r\n") and not has_cells(b"# %%time\n")


HOSTILE = {
    "many cells": ("# %%\n" * 5001, "more than 5000 cells"),
    "large": ("# %%\n" + "#" * (17 * 2**20), "17 MB"),
    "deep options": ("# %% a=" + "[" * 100_000 + "]" * 100_000 + "\nx = 1\n", None),
    "many options": ("# %% " + "a=1 " * 20_000 + "\nx = 1\n", None),
    "options that fit many ways": ("# %% " + "= " * 20_000 + "\nx = 1\n", None),
    "aliases": ("# ---\n# a: &a [x, x]\n# b: &b [*a, *a]\n" + "# c: [*b, *b]\n" * 99 + "# ---\n# %%\nx = 1\n", None),
    "an object": ("# ---\n# a: !!python/object/apply:os._exit [1]\n# ---\n# %%\nx = 1\n", None),
    "fences": ("# %% [markdown]\n" + "# ```\n# ~~~~\n" * 20_000, None),
    "an open string": ('# %%\nx = """\n' + "# %%\n" * 4000, None),
    "surrogates and zeros": ("# %%\nx = '\x00\ud800'\n", None),
    "no cell of the lab": ("# %%\nx = 1\n", None),
}


@pytest.fixture(scope="module")
def children():
    made = Children(LabReader(read_release(release()), {}, {exercise: Rules() for exercise in POINTS}), cpu_seconds=10)
    yield made
    made.close()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_script_ends_in_a_sentence(children, name):
    """In the same child, with the same limits, as notebooks."""
    text, told = HOSTILE[name]
    with pytest.raises(Unreadable, match=told):
        children.ask("read", text.encode("utf-8", "surrogatepass"))
    assert not children.ask("plan", script().encode()).missing  # the next one


def test_the_options_of_a_cell_do_not_cost_the_square_of_their_length():
    with takes_at_most(5):
        (cell,) = cells_of_script("# %% " + "a=b " * 23_000 + "\nx = 1\n")
    assert cell["source"] == "x = 1"


def test_a_reader_that_fails_is_no_crash(monkeypatch):
    monkeypatch.setattr(reading_module, "cells_of_script", lambda text: [][1])
    with pytest.raises(Unreadable, match="cannot be made out"):
        read_notebook(b"# %%\nx = 1\n")


def test_nbgraders_own_reader_takes_a_script():
    assert NotebookReader().notebook(script().encode()).cells[-1].source == "Because the variance grows with d."

"""A course of one lab and two exercises in a temporary folder: for tests of release, gradebook and nbgrader."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import coursekit
from autograder.course.settings import Course, load_course
from autograder.declare.declaration import Declaration

LAB = "01_tiny"
TOML = """
[course]
title = "Tiny course"
term = "Autumn"
id = "tiny"

[distribution]
repository = ""
version = "0.1.0"

[[labs]]
name = "01_tiny"
title = "A tiny lab"
"""
DOUBLE = (
    'def double(x):\n    """Twice x."""\n    ### BEGIN SOLUTION\n'
    "    doubled_carefully = x + x\n    return doubled_carefully\n    ### END SOLUTION"
)
SQUARE = (
    'def square(x):\n    """x times x."""\n    ### BEGIN SOLUTION\n'
    "    squared_carefully = x * x\n    return squared_carefully\n    ### END SOLUTION"
)

FORMULA = '''"""An oracle."""

import numpy as np


def double(x, factor=2.0):
    """Twice x."""
    return {"output": np.multiply(np.asarray(x, dtype="float64"), factor)}
'''

MISTAKEN = "def double(x, factor=2.0):\n    return {'output': np.multiply(np.asarray(x) + 1, factor)}\n"
CASES = "def values(rng):\n    return [Case({'x': rng.normal(size=(17, 23))}, mode='tensor')]\n"


def details(grade_id: str, **flags) -> dict:
    """nbgrader's metadata of a cell."""
    base = {
        "grade": False,
        "grade_id": grade_id,
        "locked": False,
        "schema_version": 3,
        "solution": False,
        "task": False,
    }
    return {"nbgrader": base | flags}


def solution_notebook() -> nbformat.NotebookNode:
    """The instructor's lab: two exercises (2 and 3 points) and a question answered in words (4 points)."""
    cells = [
        new_markdown_cell("# A tiny lab"),
        new_code_cell("pass", metadata=details("setup", locked=True) | {"tags": ["course-setup"]}),
        new_code_cell("check = print", metadata=details("imports", locked=True)),
        new_markdown_cell("Double a number."),
        new_code_cell(DOUBLE, metadata=details("double-code", solution=True)),
        new_code_cell('check("double")', metadata=details("double", grade=True, locked=True, points=2)),
        new_markdown_cell("Square a number."),
        new_code_cell(SQUARE, metadata=details("square-code", solution=True)),
        new_code_cell('check("square")', metadata=details("square", grade=True, locked=True, points=3)),
        new_markdown_cell("Because.", metadata=details("why", grade=True, solution=True, points=4)),
    ]
    kernelspec = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernelspec, "language_info": {"name": "python"}})


def write_notebook(path: Path, notebook: nbformat.NotebookNode) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


def export_points(lab: str, title: str, points: dict, *_) -> dict[str, bytes]:
    """Stands in for the export of reference cases."""
    return {f"{lab}.json": json.dumps(points | {"exercises": []}).encode() + b"\n"}


def build(root: Path, monkeypatch: pytest.MonkeyPatch, toml: str = TOML) -> Course:
    """Write the course into `root`, with stand-ins for the declarations and the reference files."""
    repository = Path(__file__).parent.parent
    root.mkdir(parents=True, exist_ok=True)
    (root / "course.toml").write_text(toml, encoding="utf-8")
    shutil.copy(repository / "nbgrader_config.py", root)
    shutil.copy(repository / "pyproject.toml", root)
    (root / "coursekit" / "reference").mkdir(parents=True)
    shutil.copy(coursekit.__file__, root / "coursekit")  # nbgrader finds it before the installed one
    write_notebook(root / "solutions" / LAB / f"{LAB}.ipynb", solution_notebook())

    declared = {name: Declaration(name) for name in ("double", "square")}
    for user in ("release.release", "grade.lab_grader", "pages.class_report", "integrations.gradescope.archive"):
        monkeypatch.setattr(f"autograder.{user}.declared_exercises", lambda course, lab: declared)
    monkeypatch.setattr("autograder.release.reference_export.export", export_points)
    monkeypatch.setattr("autograder.release.trials.find_failed_checks", lambda *_: [])
    return load_course(root)


def released(root: Path, monkeypatch: pytest.MonkeyPatch, toml: str = TOML) -> Course:
    """The course with its lab released."""
    from autograder.release.release import release

    course = build(root, monkeypatch, toml)
    release(course)
    return course


def with_secrets(root: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """The released course with an oracle, a mistake, a hidden case, data and a lecture."""
    course = released(root, monkeypatch)
    for file, text in (("formulas/tiny.py", FORMULA), ("formulas/double.py", MISTAKEN), ("tiny/double.py", CASES)):
        path = course.root / "exercises" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (course.root / "data").mkdir()
    (course.root / "data" / "README.md").write_text("Where the data comes from.\n")
    (course.root / "data" / "real").mkdir()
    (course.root / "data" / "real" / "big.bin").write_bytes(b"0" * 100)
    cells = [nbformat.v4.new_markdown_cell("# Lecture"), nbformat.v4.new_code_cell("print(1)")]
    write_notebook(course.lectures / "01_tiny.ipynb", nbformat.v4.new_notebook(cells=cells))
    return course

"""The tiny course with verdicts in its gradebook: what a grader records, and what Formgrader sets."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from tiny_course import LAB, released

from autograder.grade.results import ExerciseResult, GroupResult, LabResult


@pytest.fixture
def course(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    return released(tmp_path / "course", monkeypatch)


def result(course, student="ada", double=2.0, square=1.5, why="", code="", content="c1", **more) -> LabResult:
    notebook = nbformat.read(course.release_notebook(LAB), as_version=4)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name == "why" and why:
            cell.source = why
        if name == "double-code" and code:
            cell.source = code
    exercises = (
        ExerciseResult("double", double, 2, "graded", groups=(GroupResult("values", "right values", 1, double > 0),)),
        ExerciseResult("square", square, 3, "graded", misconceptions=("half",), sentences=("You halve it.",)),
    )
    filled = {"notebook": notebook, "content_hash": content, "grader_version": "g1"} | more
    return LabResult(student, LAB, exercises, **filled)


def grade(course, student: str, cell: str):
    with Gradebook(course.db_url, course.course_id) as gradebook:
        found = gradebook.find_grade(cell, LAB, LAB, student)
        return found.auto_score, found.manual_score, found.needs_manual_grade, found.score


def set_grade(course, student: str, cell: str, **values) -> None:
    """What Formgrader does when an instructor types a score."""
    with Gradebook(course.db_url, course.course_id) as gradebook:
        found = gradebook.find_grade(cell, LAB, LAB, student)
        for name, value in values.items():
            setattr(found, name, value)
        gradebook.db.commit()

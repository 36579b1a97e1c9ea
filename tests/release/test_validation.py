"""Validate: button and command begin with the points that the lab's checks gave."""

from __future__ import annotations

import io
import os
from types import ModuleType

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.apps import validateapp
from nbgrader.preprocessors import Execute
from nbgrader.server_extensions.validate_assignment import handlers
from nbgrader.validator import Validator
from traitlets.config import Config

from autograder.release.validation import configure_validation
from coursekit.beside import RAISING

# A check as the notebook shows it: the report's class and its last line, without what is tested.
CHECK = """
from coursekit.check.judge import ExerciseSpec, GroupJudgement, GroupSpec, Judgement
from coursekit.check.report import CheckFailed, Report


def check(name, passed, points):
    group = GroupSpec("values", "right values", 1)
    judged = Judgement(name, "graded", (GroupJudgement(group, passed, message="0 of 3"),), ())
    display(Report(ExerciseSpec(name, (group,), {}), judged, 1, {"one": True, "two": False}, points))
    if not passed:
        raise CheckFailed("no")
"""


def graded(source: str, name: str) -> nbformat.NotebookNode:
    metadata = {"grade": True, "solution": False, "locked": True, "points": 4, "grade_id": name, "schema_version": 3}
    return new_code_cell(source, metadata={"nbgrader": {**metadata, "cell_type": "code"}})


def validator(caller: ModuleType) -> Validator:
    """The validator that the button's handler, or the command, makes after it has read the settings."""
    config = Config()
    configure_validation(config)
    return caller.Validator(config=config)


def printed(path: str) -> list[str]:
    """The lines of `nbgrader validate`."""
    told = validator(validateapp)
    told.stream = io.StringIO()
    told.validate_and_print(path)
    return told.stream.getvalue().splitlines()


@pytest.fixture
def notebook(tmp_path):
    def write(*cells: nbformat.NotebookNode) -> str:
        path = tmp_path / "lab.ipynb"
        kernel = {"kernelspec": {"name": "python3", "display_name": "", "language": "python"}}
        nbformat.write(new_notebook(cells=[new_code_cell(CHECK), *cells], metadata=kernel), path)
        return str(path)

    return write


def test_the_first_entry_and_the_first_printed_line_are_the_points_of_the_last_report(notebook):
    tests = [f"check('{name}', {passed}, ({points}, 8))" for name, passed, points in TRIED]
    path = notebook(*(graded(test, f"cell-{number}") for number, test in enumerate(tests)))
    validator(handlers)  # the settings are read again each time the button is pressed
    failed = validator(handlers).validate(path)["failed"]
    assert [entry["source"] for entry in failed] == ["5.5 of 8 points", tests[1], tests[2]]
    assert all("CheckFailed: no" in entry["raw_error"] for entry in failed[1:])
    assert printed(path)[:3] == [
        "5.5 of 8 points",
        "",
        "VALIDATION FAILED ON 2 CELL(S)! If you submit your assignment as it is, you WILL NOT",
    ]


TRIED = (("one", True, 4), ("two", False, 5.5), ("three", False, 5.5))


@pytest.mark.long
def test_where_all_passes_the_points_come_first_too(notebook):
    path = notebook(graded("check('one', True, (4, 4))", "one"))
    (only,) = validator(handlers).validate(path)["failed"]
    assert only["source"].splitlines() == ["4 of 4 points", "", SUCCESS]
    assert printed(path) == ["4 of 4 points", "", SUCCESS]


SUCCESS = "Success! Your notebook passes all the tests."


@pytest.mark.long
def test_where_no_check_reports_all_is_as_nbgrader_has_it(notebook):
    assert validator(handlers).validate(notebook(graded("assert True", "one"))) == {}
    path = notebook(graded("raise ValueError('no')", "one"))
    (only,) = validator(handlers).validate(path)["failed"]
    assert only["source"] == "raise ValueError('no')"
    assert printed(path)[0].startswith("VALIDATION FAILED ON 1 CELL")


@pytest.mark.long
def test_what_a_notebook_prints_is_never_html_in_the_dialog(notebook):
    """The dialog shows sources as text and errors as HTML."""
    hostile = "<img/src/onerror=x()>"
    line = f"1 of 2 exercises pass, {hostile[:20]} of {hostile[:20]} points"
    said = "class Says:\n    def __repr__(self):\n        return " + repr(line)
    raises = graded(f"{said}\ndisplay(Says())\nraise ValueError({hostile!r})", "one")
    first, second = validator(handlers).validate(notebook(raises))["failed"]
    assert hostile[:20] in first["source"] and "<img" not in first["error"]
    assert "&lt;img" in second["error"] and "<img" not in second["error"]


def test_a_failed_check_of_a_lab_fails_the_validation(notebook, monkeypatch):
    """For a student it only reports. nbgrader's variables say that it has to raise; so here nothing else may say so."""
    for name in RAISING:
        monkeypatch.delenv(name, raising=False)
    check = 'start_lab("02_self_attention")("attention_cost")'
    path = notebook(new_code_cell("from coursekit import start_lab"), graded(check, "attention_cost"))
    (_, failed) = validator(handlers).validate(path)["failed"]
    assert failed["source"] == check and "not started yet" in failed["raw_error"]


def test_a_validation_that_breaks_off_leaves_no_variable_behind(notebook, monkeypatch):
    """Else every check would raise in all kernels that the student's JupyterLab starts afterwards."""
    for name in RAISING:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Execute, "preprocess", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        validator(handlers).validate(notebook(graded("1", "one")))
    assert not set(RAISING) & set(os.environ)


@pytest.mark.long
def test_a_changed_test_is_still_told(notebook):
    changed = graded("check('one', False, (0, 4))", "one")
    changed.metadata.nbgrader["checksum"] = "0" * 32
    assert list(validator(handlers).validate(notebook(changed))) == ["changed"]

"""Validate: what nbgrader lists as failed begins with the points that the lab's checks gave."""

from __future__ import annotations

import io

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.validator import Validator
from traitlets.config import Config

from autograder.releasing.validation import configure_validation

# A check as the notebook shows it: the report's class and its last line, without what is tested.
CHECK = """
from coursekit.judge import ExerciseSpec, GroupJudgement, GroupSpec, Judgement
from coursekit.report import CheckFailed, Report


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


def validator() -> Validator:
    config = Config()
    configure_validation(config)
    return Validator(config=config)


@pytest.fixture
def notebook(tmp_path):
    def write(*cells: nbformat.NotebookNode) -> str:
        path = tmp_path / "lab.ipynb"
        kernel = {"kernelspec": {"name": "python3", "display_name": "", "language": "python"}}
        nbformat.write(new_notebook(cells=[new_code_cell(CHECK), *cells], metadata=kernel), path)
        return str(path)

    return write


def test_the_first_line_says_the_points_of_the_last_report(notebook):
    tests = [f"check('{name}', {passed}, ({points}, 8))" for name, passed, points in TRIED]
    path = notebook(*(graded(test, f"cell-{number}") for number, test in enumerate(tests)))
    validator()  # the settings are read again each time the button is pressed
    failed = validator().validate(path)["failed"]
    assert [each["source"] for each in failed] == [f"5.5 of 8 points\n\n{tests[1]}", tests[2]]
    assert all("CheckFailed: no" in each["raw_error"] for each in failed)


TRIED = (("one", True, 4), ("two", False, 5.5), ("three", False, 5.5))


def test_where_all_passes_and_where_no_check_reports_all_is_as_nbgrader_has_it(notebook):
    assert validator().validate(notebook(graded("check('one', True, (4, 4))", "one"))) == {}
    told = validator()
    told.stream = io.StringIO()
    told.validate_and_print(notebook(graded("raise ValueError('no')", "one")))
    assert "VALIDATION FAILED ON 1 CELL" in told.stream.getvalue() and "points" not in told.stream.getvalue()


def test_a_changed_test_is_still_told(notebook):
    changed = graded("check('one', False, (0, 4))", "one")
    changed.metadata.nbgrader["checksum"] = "0" * 32
    assert list(validator().validate(notebook(changed))) == ["changed"]

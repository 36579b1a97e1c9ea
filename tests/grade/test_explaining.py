"""Explaining a mark: where the work comes from, what is shown of a case, and what is saved."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from graded_course import course as tiny  # noqa: F401  the fixture of a course of one lab
from graded_course import result
from measuring import takes_at_most
from typer.testing import CliRunner

from autograder.cli import explain as explain_command
from autograder.cli.app import app
from autograder.course.settings import CourseError
from autograder.grade import explaining, lab_grader
from autograder.grade.explaining import (
    NOT_REACHED,
    Explanation,
    FailedCase,
    _find_failed,
    find_work,
    save_inputs,
    show_value,
)
from autograder.grade.gradebook import GradebookWriter
from autograder.grade.lab_grader import content_hash
from autograder.grade.marks import make_mark
from autograder.grade.results import ExerciseResult, LabResult
from autograder.sandbox import warm
from coursekit.check.judge import Attempt, ExerciseSpec, Expectation, GroupSpec

LAB = "01_tiny"
SPEC = ExerciseSpec("double", (GroupSpec("values", "right values", 1),), {}, reveal=False)
X = np.arange(6.0).reshape(2, 3)
CASE = Expectation("values", "x (2, 3)", {"x": X, "odd": [np.ones(2), "a"]}, "call", {"y": 2 * X}, {"y": 1e-6})


@pytest.fixture
def course(tmp_path):
    return SimpleNamespace(submitted=tmp_path / "submitted", autograded=tmp_path / "autograded")


def mark(student="ada", data=b"graded"):
    return make_mark(LabResult(student, LAB, (), content_hash=content_hash(data)))


def test_only_failed_cases_are_told_with_what_was_expected():
    prepared = SimpleNamespace(spec=SPEC, cases=[CASE, CASE, CASE, CASE])
    right, wrong = Attempt({"y": 2 * X}), Attempt({"y": 3 * X})
    found = list(_find_failed(prepared, [right, wrong]))
    assert [case.number for case in found] == [2, 3]
    assert "expected" in found[0].problem
    assert found[1].problem == NOT_REACHED


def test_the_file_that_was_graded_is_found_and_another_one_is_not_taken_for_it(course):
    folder = course.submitted / "ada" / LAB
    folder.mkdir(parents=True)
    (folder / f"{LAB}.ipynb").write_bytes(b"later")
    with pytest.raises(CourseError, match=f"course explain {LAB} ada --from PATH"):
        find_work(course, LAB, mark(), None, {})
    (folder / f"{LAB}.ipynb").write_bytes(b"graded")
    assert find_work(course, LAB, mark(), None, {}).data == b"graded"


def test_a_named_file_that_differs_is_said_to_differ(course, tmp_path):
    path = tmp_path / "hers.ipynb"
    path.write_bytes(b"later")
    assert "is not the file that was graded" in find_work(course, LAB, mark(), path, {}).note
    path.write_bytes(b"graded")
    assert find_work(course, LAB, mark(), path, {}).note == ""
    with pytest.raises(CourseError, match="does not exist"):
        find_work(course, LAB, mark(), tmp_path / "none.ipynb", {})


def test_saved_inputs_load_without_pickle_and_hold_nothing_right(tmp_path):
    failed = FailedCase(3, CASE, Attempt({"y": X}), "wrong")
    explained = Explanation(ExerciseResult("double", 0, 2, "graded"), 3, (failed,))
    assert save_inputs(tmp_path / "case.npz", [explained]) == 2
    with np.load(tmp_path / "case.npz", allow_pickle=False) as saved:
        assert set(saved) == {"double/3/x", "double/3/odd"}
        np.testing.assert_array_equal(saved["double/3/x"], X)


def test_what_a_submission_returns_cannot_act_on_the_terminal():
    assert "\x1b" not in show_value("\x1b[2J") + show_value(np.asarray(["\x1b[2J\u202e"]))
    assert "\u202e" not in show_value(np.asarray(["\u202e"]))
    assert len(show_value("x" * 10_000)) == 800


@pytest.mark.parametrize("large", [np.zeros((5,) * 10, "uint8"), [np.arange(1000.0)] * 5000, [["word"] * 1000] * 1000])
def test_of_what_is_much_too_large_the_beginning_is_shown_at_once(large):
    with takes_at_most(0.5):
        text = show_value(large)
    assert len(text) <= 800


def test_values_are_shown_by_rows():
    assert show_value(X) == "float64 (2, 3)\n[[0. 1. 2.]\n [3. 4. 5.]]"
    assert show_value([X, "a"]) == repr([X, "a"])


def test_after_a_change_of_the_lab_a_case_that_fails_is_shown_and_what_differs_is_said(tiny, monkeypatch):
    """`double` is worth 4 points now in place of 2, `cube` came, and `gone` is no longer there."""
    data = b"what was handed in"
    (tiny.submitted / "ada" / LAB).mkdir(parents=True)
    (tiny.submitted / "ada" / LAB / f"{LAB}.ipynb").write_bytes(data)
    graded = result(tiny, double=1.0, content=content_hash(data), grader_version="before")
    gone = ExerciseResult("gone", 1, 3, "graded")
    with GradebookWriter(tiny.db_url, tiny) as gradebook:
        gradebook.record([graded])
    recorded = explain_command._read_mark
    monkeypatch.setattr(explain_command, "_read_mark", lambda *of: _with(recorded(*of), gone))
    path = tiny.release_notebook(LAB)
    path.chmod(0o644)
    path.write_text(path.read_text().replace('"grade_id": "square"', '"grade_id": "cube"'))
    failed = FailedCase(1, CASE, Attempt({"y": X}), "y is half of it")
    now = {
        "double": Explanation(ExerciseResult("double", 2, 4, "graded"), 1, (failed,)),
        "cube": Explanation(ExerciseResult("cube", 0, 3, "missing"), 1, ()),
    }
    sandbox = nullcontext(SimpleNamespace(result=lambda: None))
    monkeypatch.setattr(warm, "start_sandbox", lambda *_, **__: sandbox)
    monkeypatch.setattr(lab_grader, "LabGrader", lambda *_, **__: SimpleNamespace(known={}, version="after"))
    monkeypatch.setattr(explaining, "explain", lambda *_: now)
    monkeypatch.chdir(tiny.root)

    def said(*words) -> str:
        done = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["explain", LAB, "ada", *words])
        return " ".join(f"{done.output} {done.exception or ''}".split())

    told = said()
    assert "note: graded with another state of lab, grader or seed" in told
    assert "double: 2 of 4 points (graded) graded with 1 of 2 points: this run differs from the recorded one" in told
    assert "case 1 of 1" in told and "y is half of it" in told and "expected y: float64 (2, 3)" in told
    assert "bound y: ± 1e-06" in told
    assert "cube: 0 of 3 points (missing) no mark for it yet" in told
    assert "no mark for it yet" in said("cube")
    assert "gone is no longer in 01_tiny" in said("gone") and "graded with 1 of 3 points" in said("gone")
    assert "has no exercise why; its exercises are double, cube" in said("why")


def _with(mark, verdict):
    return replace(mark, result=replace(mark.result, exercises=(*mark.result.exercises, verdict)))

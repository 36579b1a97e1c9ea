"""A release needs a solution that passes its own checks. `test_one_round` proves it on a lab of the course."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from tiny_course import build, details

from autograder.course import labs
from autograder.release import trials
from autograder.release.release import ReleaseRefused, release


def test_such_a_release_is_refused_and_nothing_is_written(tmp_path, monkeypatch):
    course = build(tmp_path / "course", monkeypatch)
    monkeypatch.setattr("autograder.release.trials.find_failed_checks", lambda lab, *_: [f"{lab} fails"])
    with pytest.raises(ReleaseRefused, match="01_tiny fails"):
        release(course)
    assert not course.release_notebook("01_tiny").exists()


def test_files_that_no_submission_could_be_given_are_refused(tmp_path, monkeypatch):
    course = build(tmp_path / "course", monkeypatch)
    monkeypatch.setattr(labs, "MOST_BYTES", 10)
    (course.solutions / "01_tiny" / "big.csv").write_text("0" * 11)
    with pytest.raises(ReleaseRefused, match="take more than"):
        release(course)


def test_the_solution_finds_the_files_beside_it(monkeypatch):
    found = []

    def run(command, cwd, **_):
        found.append((cwd / "data" / "table.csv").read_bytes())
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(trials.subprocess, "run", run)
    assert trials.find_failed_checks("01_tiny", new_notebook(), {}, {"data/table.csv": b"1"}) == []
    assert found == [b"1"]


@pytest.mark.long
def test_the_exception_of_a_cell_is_told_before_the_checks_that_fail_by_it():
    """Or an import that is missing above a class would only be told as a class that is not there."""
    lab = "02_self_attention"
    cells = [
        new_code_cell(f'from coursekit import start_lab\ncheck = start_lab("{lab}")'),
        new_code_cell(
            "class SelfAttention(keras.layers.Layer):\n    pass", metadata=details("SelfAttention-code", solution=True)
        ),
    ]
    said = trials.find_failed_checks(lab, new_notebook(cells=cells), {}, {})
    assert said[0].endswith("the cell SelfAttention-code raised NameError: name 'keras' is not defined")
    assert any("`SelfAttention` is not defined" in line for line in said[1:])

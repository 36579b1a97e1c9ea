"""A release needs a solution that passes its own checks. `test_one_round` proves it on a lab of the course."""

from __future__ import annotations

import pytest
from tiny_course import build

from autograder.releasing.release import ReleaseRefused, release


def test_such_a_release_is_refused_and_nothing_is_written(tmp_path, monkeypatch):
    course = build(tmp_path / "course", monkeypatch)
    monkeypatch.setattr(
        "autograder.releasing.verify_solution.failed_checks", lambda lab, solution, references: [f"{lab} fails"]
    )
    with pytest.raises(ReleaseRefused, match="01_tiny fails"):
        release(course)
    assert not course.release_notebook("01_tiny").exists()

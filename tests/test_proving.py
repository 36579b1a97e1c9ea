"""A release needs a solution that passes its own checks."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from tiny_course import build

from autograder.proving import failed_checks
from autograder.release import ReleaseRefused, release

ROOT = Path(__file__).resolve().parents[1]
LAB = "02_self_attention"


def proof(change) -> list[str]:
    solution = nbformat.read(ROOT / "solutions" / LAB / f"{LAB}.ipynb", as_version=4)
    for cell in solution.cells:
        if cell.cell_type == "code":
            cell.source = change(cell.source)
    references = {path.name: path.read_bytes() for path in (ROOT / "coursekit" / "reference").glob(f"{LAB}.*")}
    return failed_checks(LAB, solution, references)


def test_the_solution_as_it_is_proves_itself():
    assert proof(lambda source: source) == []


def test_a_solution_that_no_longer_passes_is_named_with_its_exercise():
    failed = proof(lambda source: source.replace("2 * length**2 * d_model", "length**2 * d_model"))
    (sentence,) = failed
    assert "fails its own checks: attention_cost: 0 of 1 checks pass: right counts: tried " in sentence


def test_such_a_release_is_refused_and_nothing_is_written(tmp_path, monkeypatch):
    course = build(tmp_path / "course", monkeypatch)
    monkeypatch.setattr("autograder.proving.failed_checks", lambda lab, solution, references: [f"{lab} fails"])
    with pytest.raises(ReleaseRefused, match="01_tiny fails"):
        release(course)
    assert not course.release_notebook("01_tiny").exists()

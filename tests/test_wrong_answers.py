"""Wrong answers to an instructor's own exercise: a release is refused when the cases let one pass."""

from __future__ import annotations

import pytest

from autograder.course.settings import load_course
from autograder.integrations.scaffold.new import new_course
from autograder.releasing import verify_solution
from autograder.releasing.release import ReleaseRefused, release

pytestmark = pytest.mark.sandbox


@pytest.fixture
def refusals(tmp_path, monkeypatch):
    """What a release of a new course says of its first exercise, `centre`, with wrong answers beside it."""
    new_course(tmp_path / "course")
    course = load_course(tmp_path / "course")
    monkeypatch.setattr(verify_solution, "failed_checks", lambda *_: [])
    monkeypatch.setattr("autograder.releasing.release.preload_of", lambda *_: ("numpy",))
    path = course.root / "exercises" / "first_lab" / "centre.py"
    text = path.read_text()

    def said(*answers: str) -> list[str]:
        path.write_text(f"{text}\nexercise.must_fail({', '.join(map(repr, answers))})\n")
        try:
            release(course, check=True)
        except ReleaseRefused as refusal:
            return list(refusal.reasons)
        return []

    return said


def test_wrong_answers_that_pass_or_are_no_code_are_named(refusals):
    wrong = "def centre(x):\n    return x - x.mean(axis=1, keepdims=True)"
    assert refusals(wrong, "import os\ndef centre(x):\n    os._exit(1)", "def centre(x):\n    return y") == []
    said = refusals(wrong, "def centre(x):\n    return x - x.sum(axis=0) / len(x)", "def centre(x) return x")
    assert len(said) == 2
    assert "01_first_lab, centre: wrong answer 2 passes all" in said[0] and "add a case" in said[0]
    assert "centre: wrong answer 3 is not Python" in said[1]

"""Wrong answers to an exercise: a release is refused when the cases let one pass, or when another mistake is named."""

from __future__ import annotations

import pytest

from autograder.course.settings import load_course
from autograder.integrations.scaffold.making import new_course
from autograder.release import trials
from autograder.release.release import ReleaseRefused, release

pytestmark = pytest.mark.sandbox


@pytest.fixture
def refusals(tmp_path, monkeypatch):
    """What a release of a new course says of its first exercise, `centre`, with wrong answers beside it."""
    new_course(tmp_path / "course")
    course = load_course(tmp_path / "course")
    monkeypatch.setattr(trials, "find_failed_checks", lambda *_: [])
    monkeypatch.setattr("autograder.release.release.preload_of", lambda *_: ("numpy",))
    path = course.root / "exercises" / "first_lab" / "centre.py"
    text = path.read_text()

    def said(*answers: str, text: str = text) -> list[str]:
        path.write_text(f"{text}\n" + (f"exercise.must_fail({', '.join(map(repr, answers))})\n" if answers else ""))
        try:
            release(course, check=True)
        except ReleaseRefused as refusal:
            return list(refusal.reasons)
        return []

    return said


FORMULA = """
import numpy as np
from autograder.declare import Case, Exercise, edit

exercise = Exercise("centre", call=("x",))


@exercise.formula
def formula(x):
    return x - np.mean(x, axis=0, keepdims=True)


exercise.mistakes(
    over_rows=edit("axis=0", "axis=1") | "The mean is that of each row.",
    added=edit("x - np.mean", "x + np.mean") | "The mean is added.",
)


@exercise.group("values", points=1)
def values(rng):
    return [Case({"x": rng.normal(size=(5, 7))})]


"""


def test_a_wrong_answer_that_hears_another_name_is_refused(refusals):
    rows = "def centre(x):\n    return x - x.mean(axis=1, keepdims=True)"
    named = "exercise.must_fail({!r}, names={!r})".format
    assert refusals(text=FORMULA + named(rows, "over_rows")) == []
    said = refusals(
        text=FORMULA
        + "\n".join(
            [
                named(rows, "added"),
                named("def centre(x):\n    return 2 * x", "added"),
                named("def centre(x):\n    return x - x.mean(axis=0)", "added"),
                named(rows, "over_row"),
                named("def centre(x):\n    return y", "added"),
                "exercise.must_fail('def centre(x):\\n    return x - x.mean(axis=0)')",
            ]
        )
    )
    place = "exercises/first_lab/centre.py:5: 01_first_lab, centre"
    assert [line.partition(": wrong answer")[0] for line in said] == [place] * 6
    for line, told in zip(
        said,
        [
            "1 fails values, and is to be named added: over_rows.",
            "2 fails values, and is to be named added: no mistake is named.",
            "3 passes all cases, and is to be named added",
            "4 is to be named over_row, which is no mistake of the exercise; these are over_rows, added",
            "5 fails values, and is to be named added: no mistake is named.",
            "6 passes all 1 cases",
        ],
        strict=True,
    ):
        assert told in line


def test_wrong_answers_that_pass_or_are_no_code_are_named(refusals):
    wrong = "def centre(x):\n    return x - x.mean(axis=1, keepdims=True)"
    assert refusals(wrong, "import os\ndef centre(x):\n    os._exit(1)", "def centre(x):\n    return y") == []
    said = refusals(wrong, "def centre(x):\n    return x - x.sum(axis=0) / len(x)", "def centre(x) return x")
    assert len(said) == 2
    assert "01_first_lab, centre: wrong answer 2 passes all" in said[0] and "add a case" in said[0]
    assert "centre: wrong answer 3 is not Python" in said[1]


def test_a_mistake_that_no_case_shows_is_named_with_its_line(refusals):
    late = """    late=edit("axis=0, keepdims=True", "axis=0, keepdims=len(x) < 99") | "Only long arrays are wrong.","""
    said = refusals(text=FORMULA.replace("    added=", late + "\n    added="))
    place, remedy = "exercises/first_lab/centre.py:15", "add a case that it changes, or drop it"
    assert said == [f"{place}: centre, mistake late: changes no result; {remedy}"]

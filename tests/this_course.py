"""The exercises of this repository's course, as the tests use them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from autograder.course.settings import load_course
from autograder.declare.declaration import declared_exercises
from autograder.declare.exercise import Exercise

ROOT = Path(__file__).resolve().parents[1]


@cache
def exercises_of(lab: str) -> dict[str, Exercise]:
    """The declared exercises of a lab, by name."""
    return {
        name: exercise
        for name, exercise in declared_exercises(load_course(ROOT), lab).items()
        if isinstance(exercise, Exercise)
    }

"""Finds the declared exercises of a lab: those of this package, and an instructor's own, in her course's folder."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path

from autograder import exercises
from autograder.course import Course, CourseError
from autograder.declaring.declaration import Declaration
from autograder.declaring.own import OwnExercise

FOLDER = "exercises"  # in the course's folder: one folder for each lab, in it one file for each exercise


def declared_exercises(course: Course, lab: str) -> dict[str, Declaration]:
    """The exercises of a lab by name: this package's in the order of their names, then the instructor's own.

    Raises:
        CourseError: none is declared, one is declared twice, or a file of an exercise cannot be read.
    """
    found: dict[str, Declaration] = dict(_of_this_package(lab))
    for path in own_files(course, lab):
        exercise = _read(path)
        if exercise.name in found:
            raise CourseError(f"{path}: the lab has a second exercise {exercise.name}; give one another name")
        found[exercise.name] = exercise
    if not found:
        folder = course.root / FOLDER / lab
        raise CourseError(
            f"{lab}: no exercise is declared, in {folder} or in autograder/exercises; type: course new exercise {lab} …"
        )
    return found


def own_exercises(declared: Mapping[str, Declaration]) -> dict[str, OwnExercise]:
    """Those of the declared exercises whose references come from the solution."""
    return {name: each for name, each in declared.items() if isinstance(each, OwnExercise)}


def own_files(course: Course, lab: str) -> list[Path]:
    """The files that declare an instructor's own exercises of a lab."""
    return sorted((course.root / FOLDER / lab).glob("[!_.]*.py"))


def _of_this_package(lab: str) -> Mapping[str, Declaration]:
    try:
        return exercises.load_lab(lab).exercises
    except ModuleNotFoundError as error:
        if error.name != f"{exercises.__name__}.{lab.partition('_')[2]}":
            raise
        return {}


def _read(path: Path) -> OwnExercise:
    spec = importlib.util.spec_from_file_location(f"own_exercise_{path.stem}", path)
    assert spec is not None  # the file's name ends in .py
    module = importlib.util.module_from_spec(spec)
    try:
        exec(compile(path.read_text(encoding="utf-8"), path, "exec"), module.__dict__)  # leaves no __pycache__ behind
    except Exception as error:  # whatever a file of somebody's Python can raise
        raise CourseError(f"{path}: cannot be run ({type(error).__name__}: {error}); correct it") from error
    exercise = getattr(module, "exercise", None)
    if not isinstance(exercise, OwnExercise):
        raise CourseError(f"{path}: declares no exercise; begin with: exercise = OwnExercise(…)")
    return exercise

"""Finds the declared exercises of a lab: one folder for each lab beside course.toml, one file for each exercise."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from autograder.course.settings import Course, CourseError
from autograder.declare.declaration import Declaration, OwnExercise

FOLDER = "exercises"  # in the course's folder; it is imported under this name
SAMPLES = "samples"  # sample submissions, and what writes them
SHARED = "shared"  # a lab's file of this name declares no exercise


def declared_exercises(course: Course, lab: str) -> dict[str, Declaration]:
    """The exercises of a lab by name, in the order of their files.

    Raises:
        CourseError: none is declared, one is declared twice, or a file of an exercise cannot be read.
    """
    found: dict[str, Declaration] = {}
    for path in lab_files(course, lab):
        exercise = _read(course, path)
        if exercise.name in found:
            raise CourseError(f"{path}: the lab has a second exercise {exercise.name}; give one another name")
        found[exercise.name] = exercise
    if not found:
        folder = lab_folder(course, lab)
        old = f"; rename the folder {old} to it" if (old := course.root / FOLDER / lab).is_dir() else ""
        raise CourseError(f"{lab}: no exercise is declared in {folder}{old}; type: course new exercise {lab} …")
    return found


def own_exercises(declared: Mapping[str, Declaration]) -> dict[str, OwnExercise]:
    """Those of the declared exercises whose references come from the solution."""
    return {name: exercise for name, exercise in declared.items() if isinstance(exercise, OwnExercise)}


def lab_folder(course: Course, lab: str) -> Path:
    """Where the exercises of a lab are declared: its name without the number, such as ``exercises/self_attention``."""
    return course.root / FOLDER / lab.partition("_")[2]


def lab_files(course: Course, lab: str) -> list[Path]:
    """The files that declare the exercises of a lab."""
    return [path for path in sorted(lab_folder(course, lab).glob("[!_.]*.py")) if path.stem != SHARED]


def course_files(course: Course) -> list[Path]:
    """All that the declarations are made of: every Python file of the course's exercises, formulas included."""
    folder = course.root / FOLDER
    return sorted(path for path in folder.rglob("*.py") if SAMPLES not in path.relative_to(folder).parts)


def _read(course: Course, path: Path) -> Declaration:
    _take(course)
    name = ".".join(path.relative_to(course.root).with_suffix("").parts)
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # leaves no __pycache__ behind
    try:
        module = importlib.import_module(name)
    except Exception as error:  # whatever a file of somebody's Python can raise
        place = find_place(course, error) or path
        raise CourseError(f"{place}: cannot be run ({type(error).__name__}: {error}); correct it") from error
    finally:
        sys.dont_write_bytecode = writes
    exercise = getattr(module, "exercise", None)
    if not isinstance(exercise, Declaration):
        raise CourseError(f"{path}: declares no exercise; begin with: exercise = Exercise(…) or OwnExercise(…)")
    exercise.file, exercise.text = path.relative_to(course.root).as_posix(), path.read_text("utf-8")
    return exercise


def find_place(course: Course, error: Exception) -> str:
    """The file and line of the course's exercises in which an error was raised, or nothing."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if (path := Path(frame.filename)).is_relative_to(course.root / FOLDER):
            return f"{path.relative_to(course.root)}:{frame.lineno}"
    return ""


class _Exercises(ModuleType):
    """The folder of a course's exercises as a package, and the state of its files when it was taken."""

    state: object


def _take(course: Course) -> None:
    """Load the package `FOLDER` from this course; forget that of another course, and files edited since."""
    folder = course.root / FOLDER
    stats = [(path, path.stat()) for path in course_files(course)]
    state = [(path, stat.st_mtime_ns, stat.st_size) for path, stat in stats]
    package = sys.modules.get(FOLDER)
    if isinstance(package, _Exercises) and package.state == state:
        return
    for name in [name for name in sys.modules if name.partition(".")[0] == FOLDER]:
        del sys.modules[name]
    package = _Exercises(FOLDER)
    package.__path__ = [str(folder)]
    package.state = state
    sys.modules[FOLDER] = package
    importlib.invalidate_caches()

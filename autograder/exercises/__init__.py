"""One package for each lab with one module for each exercise; everything else is derived from these declarations."""

from __future__ import annotations

import importlib
import pkgutil

from autograder.declaring.exercise import Exercise, LabExercises

__all__ = ["load_lab"]


def load_lab(lab: str) -> LabExercises:
    """Return the declared exercises of a lab, in the order of their names.

    Args:
        lab: folder name of the lab, such as ``"02_self_attention"``.

    Raises:
        ModuleNotFoundError: no package declares this lab.
    """
    package = importlib.import_module(f"autograder.exercises.{lab.partition('_')[2]}")
    modules = [importlib.import_module(f"{package.__name__}.{each.name}") for each in pkgutil.iter_modules(package.__path__)]
    declared = [module.exercise for module in modules if isinstance(getattr(module, "exercise", None), Exercise)]
    return LabExercises(lab, {exercise.name: exercise for exercise in declared})

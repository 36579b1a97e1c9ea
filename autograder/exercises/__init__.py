"""One module per lab that declares its exercises; everything else is derived from these declarations."""

from __future__ import annotations

import importlib

from autograder.exercise import LabExercises

__all__ = ["load_lab"]


def load_lab(lab: str) -> LabExercises:
    """Return the declared exercises of a lab.

    Args:
        lab: folder name of the lab, such as ``"02_self_attention"``.

    Raises:
        ModuleNotFoundError: no module declares this lab.
    """
    module = importlib.import_module(f"autograder.exercises.{lab.partition('_')[2]}")
    return LabExercises(lab, {each.name: each for each in module.EXERCISES})

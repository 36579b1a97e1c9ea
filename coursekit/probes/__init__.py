"""How each exercise's object is driven: called, built, given known weights. Holds no expected value."""

from __future__ import annotations

import importlib

from coursekit.probes.driving import Probe, described

__all__ = ["described", "load_probe"]


def load_probe(lab: str, exercise: str) -> Probe:
    """Return the probe of one exercise.

    Args:
        lab: folder name of the lab, such as ``"02_self_attention"``.
        exercise: name of the exercise, such as ``"SelfAttention"``.

    Raises:
        KeyError: the lab has no such exercise.
    """
    module = importlib.import_module(f"coursekit.probes.{lab.partition('_')[2]}")
    return module.PROBES[exercise]

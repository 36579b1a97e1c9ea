"""Says what a probe has seen, outside of the student's process, from what the probe hands over.

`coursekit.probes.evidence` says why, and what can be forged all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from coursekit.check.judge import Attempt, tidy_message
from coursekit.probes import load_probe
from coursekit.probes.arguments import ContractError
from coursekit.probes.evidence import ReadOutside

UNREADABLE = "what came back cannot be read as the result asked for."


def read(lab: str, exercise: str, inputs: Mapping[str, Any], mode: str, attempt: Attempt) -> Attempt:
    """The attempt with what its results show in their place, for an exercise that has a reading; else as it is.

    Whatever came back, reading it does not fail: what cannot be read breaks the contract.

    Args:
        lab, exercise: their names.
        inputs, mode: of the case.
        attempt: what came back from the probe, maybe from a process of the student's.
    """
    probe = find_reading(lab, exercise)
    if probe is None or attempt.outputs is None:
        return attempt
    try:
        return Attempt(probe.says(inputs, mode, attempt.outputs))
    except ContractError as error:
        return Attempt(kind="contract", message=tidy_message(str(error)))
    except Exception:
        return Attempt(kind="contract", message=UNREADABLE)


@cache
def find_reading(lab: str, exercise: str) -> ReadOutside | None:
    """The probe of an exercise, if what it hands over is read; None for other exercises, and labs of other courses."""
    try:
        probe = load_probe(lab, exercise)
    except (AttributeError, KeyError):
        return None
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("coursekit.probes."):
            raise  # a library that is missing here opens no hole in the wall
        return None
    return probe if isinstance(probe, ReadOutside) else None

"""Says what results show where chance decides them: from the results, outside of the student's process.

Such a probe only hands over what an answer made of the inputs. Words that a probe says itself can be forged by who
replaces the probe, results cannot: they have to follow their law.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from coursekit.check.judge import Attempt
from coursekit.check.properties import Unfit
from coursekit.check.readings.token_masking import masking_seen

Reading = Callable[[Mapping[str, Any], str, Mapping[str, Any]], dict[str, Any]]

READINGS: dict[tuple[str, str], Reading] = {("bert_ag_news", "mask_tokens"): masking_seen}


def read(lab: str, exercise: str, inputs: Mapping[str, Any], mode: str, attempt: Attempt) -> Attempt:
    """The attempt with what its results show in their place, for an exercise that has a reading; else as it is.

    Whatever came back, reading it does not fail: what cannot be read breaks the contract.

    Args:
        lab, exercise: their names.
        inputs, mode: of the case.
        attempt: what came back from the probe, maybe from a process of the student's.
    """
    reading = READINGS.get((lab.partition("_")[2], exercise))
    if reading is None or attempt.outputs is None:
        return attempt
    try:
        return Attempt(reading(inputs, mode, attempt.outputs))
    except Unfit as unfit:
        return Attempt(kind="contract", message=str(unfit))
    except Exception:
        return Attempt(kind="contract", message="what came back cannot be read as the result asked for.")

"""Keeps of what came back from a case what is judged, so that no notebook fills the grader's memory.

What came back stays until the whole notebook is done: `course explain` shows it.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from coursekit.check.judge import Attempt, Expectation
from coursekit.check.properties import READS

LEAST_ROOM = 1 << 20  # bytes, for the results of one case
TIMES_EXPECTED = 24  # what came back may be so many times as large as what is expected: a list takes more than an array
OF_ARRAY = 128  # bytes that an array takes without its numbers


def kept(attempt: Attempt, case: Expectation) -> Attempt:
    """The attempt with the results that the case expects, and those that its property reads.

    Where these are far larger than what is expected, they are wrong: a sentence that says so is kept in their place.
    """
    if attempt.outputs is None:
        return attempt
    names = {*case.expected, *([READS[case.property]] if case.property else [])}
    outputs = {name: value for name, value in attempt.outputs.items() if name in names}
    room = max(LEAST_ROOM, TIMES_EXPECTED * sum(_size(value, sys.maxsize) for value in case.expected.values()))
    sizes = {name: _size(value, room) for name, value in outputs.items()}
    if sum(sizes.values()) <= room:
        return Attempt(outputs)
    largest = max(sizes, key=lambda name: sizes[name])
    value = outputs[largest]
    said = f"has shape {value.shape} and is" if isinstance(value, np.ndarray) else "is"
    return Attempt(kind="contract", message=f"`{largest}` {said} far larger than what is expected.")


def _size(value: Any, most: int) -> int:
    """The bytes that a result takes in memory; of one that takes more than `most`, at least so many."""
    size, waiting = 0, [value]
    while waiting and size <= most:
        part = waiting.pop()
        size += part.nbytes + OF_ARRAY if isinstance(part, np.ndarray) else sys.getsizeof(part)
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            waiting += [*part, *part.values()]
    return size

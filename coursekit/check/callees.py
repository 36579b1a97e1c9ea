"""What check and grader say of an exercise that calls others which are not right."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from coursekit.check.judge import ExerciseSpec, Judgement, sentences_of


def beside(
    judgement: Judgement, callees: Sequence[Judgement], specs: Mapping[str, ExerciseSpec], more: str = ""
) -> Judgement:
    """Return the judgement of an exercise that calls wrong ones, and say so first. Its points do not change.

    What looks like a mistake here may be a mistake there: so there is no advice, and a name is given with this
    reservation. If nothing came back, because the other exercise raises an error or is empty, this one has to wait.

    Args:
        judgement: of the exercise that calls.
        callees: the judgements of the wrong exercises that it calls; at least one.
        specs: the lab's exercises by name.
        more: what to say about the second judging, without their faults; empty if there was none.
    """
    groups = tuple(replace(group, named=True) for group in judgement.groups)
    stops = [callee for callee in callees if callee.status == "missing"]
    if judgement.status == "missing":
        stops = stops or [*callees]
    elif not stops:
        stops = [callee for callee in callees if callee.status == "error"]
    waits = stops and all(group.passed or group.kind in ("missing", "error") for group in groups)
    callee = stops[0] if waits else callees[0]
    name, finding = callee.exercise, _finding(callee, specs)
    first = f"“{name}”, which this one calls, is not right yet: {finding}"
    if not waits:
        told = sentences_of(first, "What else is said here may come from there.", more)
        return replace(judgement, groups=groups, first=told)
    told = sentences_of(first, more) if more else f"This is judged when “{name}”, which it calls, works: {finding}"
    if judgement.status == "missing":
        return Judgement(judgement.exercise, "error", groups, (), f"It calls “{name}”: {finding}", first=told)
    return replace(judgement, groups=groups, misconceptions=(), remark="", first=told)


def _finding(judgement: Judgement, specs: Mapping[str, ExerciseSpec]) -> str:
    """What is wrong, in a sentence: the mistake that is named, the error, or the first group that fails."""
    if judgement.status == "missing":
        return "it is not written yet."
    failing = judgement.first_failing
    said = replace(judgement, first="").sentences(specs[judgement.exercise])[:1] or (judgement.message,)
    return said[0] or (f"it fails “{failing.title}”." if failing else "")


def undefined(judgement: Judgement) -> tuple[str, ...]:
    """Return the names that an error reports as not defined."""
    texts = [judgement.message, *(group.message for group in judgement.groups)]
    return tuple(name for text in texts for name in re.findall(r"name '(\w+)' is not defined", text))

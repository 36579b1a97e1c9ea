"""A named mistake as text: its sentence, and the difference that it makes to the formula."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from autograder.declare.edits import spelling
from autograder.declare.exercise import Exercise


def described(exercise: Exercise, id: str) -> str:
    """Sentence, hint and section of a mistake, and the lines of the formula that it changes, as a unified diff."""
    mistake = exercise.named_mistakes[id]
    parts = [mistake.sentence]
    parts += [f"hint: {mistake.hint}"] if mistake.hint else []
    parts += [f"see: {mistake.see}"] if mistake.see else []
    changed = exercise.formulas.edited(mistake.edits) if mistake.edits else {}  # questions have no formula
    for function, new in changed.items():
        parts += _difference(exercise.formulas.texts[function], new)
    if mistake.instead is not None and exercise.oracle is not None:
        parts += _difference(spelling(exercise.oracle), spelling(mistake.instead))
    if mistake.seen is not None:
        parts.append(f"the probe says: {mistake.seen}")
    return "\n".join([*parts, ""])


def _difference(old: str, new: str) -> Iterator[str]:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=2)
    return (line for line in lines if not line.startswith(("---", "+++")))

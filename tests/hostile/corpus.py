"""More than 180 hostile or damaged notebooks of lab 02, each with what it tries and the verdict it must get."""

from __future__ import annotations

from hostile.exhaustion import EXHAUSTION
from hostile.feedback import FEEDBACK
from hostile.harmless_cells import HARMLESS
from hostile.making import Hostile
from hostile.notebooks import NOTEBOOKS
from hostile.results import RESULTS
from hostile.rules import DEEP, LOOPING, RULES
from hostile.thefts import THEFTS
from hostile.tricks import TRICKS

CORPUS: tuple[Hostile, ...] = (
    *NOTEBOOKS, *HARMLESS, *TRICKS, *RESULTS, *THEFTS, *EXHAUSTION, *RULES, *FEEDBACK,
    *LOOPING, *DEEP,
)  # fmt: skip

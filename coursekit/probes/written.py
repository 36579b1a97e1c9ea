"""Values that students write down: numbers are numbers, also where they stand in a text."""

from __future__ import annotations

from typing import Any

import numpy as np

LONGEST_NUMBERS = 200  # characters of a text that is read as numbers


def as_numbers(value: Any) -> Any:
    """Numbers that somebody wrote down as a text, ``"10 19 8"`` or ``"[0.5, 0.5]"``; anything else as it is."""
    if not isinstance(value, str) or len(value) > LONGEST_NUMBERS:
        return value
    try:
        found = [float(word) for word in value.strip(" \t\n[]()").replace(",", " ").replace(";", " ").split()]
    except ValueError:
        return value
    if not found or not np.isfinite(found).all():
        return value
    return found if len(found) > 1 else found[0]

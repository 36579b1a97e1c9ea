"""How a message names what a student's code returned."""

from __future__ import annotations

from typing import Any


def kind_of(value: Any) -> str:
    """The type of a value with its article: "a list", "an int"."""
    name = type(value).__name__
    return f"{'an' if name.startswith(tuple('AEIOaeio')) else 'a'} {name}"

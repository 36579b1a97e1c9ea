"""Says what a misspelt name may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

MOST = 3


def near(name: str, known: Iterable[str]) -> list[str]:
    """The known names that are most like `name`, whatever the case of their letters; the likest first."""
    by_key: dict[str, str] = {}
    for candidate in known:
        by_key.setdefault(candidate.casefold(), candidate)
    return [by_key[key] for key in get_close_matches(name.casefold(), by_key, MOST, cutoff=0.5)]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a sentence that refuses a name: "; did you mean a or b?", or nothing where none is like it."""
    found = near(name, known)
    return f"; did you mean {' or '.join(found)}?" if found else ""

"""What is typed for a command has to be text, for it ends in a gradebook, a page and a terminal."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable

LINES = "\n\t"  # a reason may have several lines


def no_text(words: Iterable[str]) -> str | None:
    """Return the first argument with bytes that are no UTF-8, or control characters, such as escape sequences.

    What exists under such a name is taken: students choose the names that a pattern like `inbox/*` stands for.
    """
    return next((word for word in words if _acts(word) and not os.path.lexists(word)), None)


def _acts(word: str) -> bool:
    return any(unicodedata.category(character) in ("Cc", "Cs") and character not in LINES for character in word)

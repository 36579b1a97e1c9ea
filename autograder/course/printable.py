"""Makes text that students chose (names, errors) fit to be shown: in a terminal, on a page, in a table, as a folder."""

from __future__ import annotations

import re
import unicodedata

_SAFE = re.compile(r"[ -~\n]*")


def printable(text: str) -> str:
    """Return `text` with `_` in place of every invisible character that acts, such as one that moves the cursor.

    These are Unicode's categories C (control and format characters, with them escape sequences, zero-width characters
    and those that turn the direction of writing; halves of characters, as names that are not UTF-8 have them), Zl and
    Zp (separators of lines and paragraphs). Ends of lines stay, a tab becomes a space.
    """
    if _SAFE.fullmatch(text):
        return text
    return "".join("_" if _acts(character) else character for character in text.replace("\t", " "))


def on_one_line(text: str) -> str:
    """Return a printable name on one line: in a list or a log, a name cannot begin a line of its own."""
    return printable(text).replace("\n", "_")


def _acts(character: str) -> bool:
    kind = unicodedata.category(character)
    return (kind[0] == "C" or kind in ("Zl", "Zp")) and character != "\n"

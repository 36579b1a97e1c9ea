"""How names, texts and times are written: fit to be shown, as a student's id, like a known name, in a zone."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo
from difflib import SequenceMatcher

_SAFE = re.compile(r"[ -~\n]*")
_UNSAFE = re.compile(r'[\n/\\:*?"<>|+;]')
_EDGES = "." + "".join(filter(str.isspace, map(chr, range(0x3001))))

MAX_ID_BYTES = 110  # the gradebook has room for 128 characters, with the suffix of an id that is claimed twice
MOST = 3
LEAST_LIKE = 0.5  # of two names: the share of characters that they have in common, in order
LEAST_LIKE_LETTERS = 0.6  # of their letters alone
LEAST_INSIDE = 3  # characters of a word that is searched in a name, and not only where a word of it begins
_NOT_LETTERS = re.compile(r"[\W\d_]+")
_BETWEEN_WORDS = re.compile(r"[\W_]+")


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


def student_id(name: str) -> str:
    """Return a name as an id that is a safe file name everywhere and the same however its accents are encoded."""
    cleaned = _UNSAFE.sub("_", printable(unicodedata.normalize("NFC", name))).strip(_EDGES)
    cleaned = cleaned.encode()[:MAX_ID_BYTES].decode(errors="ignore").rstrip(" .")
    return "_" + cleaned[1:] if cleaned.startswith("-") else cleaned or "unnamed"


def find_near(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that are most like `name`, the closest first; upper and lower case count as the same.

    One that has all of its words in it is like it, such as a full name where `name` is a first name. Otherwise, where
    both have letters, these decide: the numbers of two students are always like each other.
    """
    by_key: dict[str, str] = {}
    for candidate in known:
        by_key.setdefault(candidate.casefold(), candidate)
    likely = [(likeness, key) for key in by_key if (likeness := _likeness(name.casefold(), key)) >= LEAST_LIKE]
    return [by_key[key] for _, key in sorted(likely, key=lambda each: -each[0])[:MOST]]


def _likeness(name: str, other: str) -> float:
    """Return how similar two lower-case names are, from 0 to 1."""
    likeness = SequenceMatcher(None, name, other).ratio()
    words, of_other = (list(filter(None, _BETWEEN_WORDS.split(text))) for text in (name, other))
    if words and all(_is_in(word, of_other) for word in words):
        return max(likeness, LEAST_LIKE)
    one, two = (_NOT_LETTERS.sub("", text) for text in (name, other))
    if one and two and SequenceMatcher(None, one, two).ratio() < LEAST_LIKE_LETTERS:
        return 0.0
    return likeness


def _is_in(word: str, words: Iterable[str]) -> bool:
    return any(other.startswith(word) or (len(word) >= LEAST_INSIDE and word in other) for other in words)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that refuses a name: "; did you mean a or b?", or nothing if no name is close."""
    meant = find_near(name, known)
    return f"; did you mean {' or '.join(meant)}?" if meant else ""


def format_time(moment: datetime, zone: tzinfo, *, seconds: bool = False) -> str:
    """An aware time such as ``2026-11-27 23:59 CET (22:59 UTC)``; in UTC alone where this is the zone."""
    clock = "%H:%M:%S" if seconds else "%H:%M"
    universal, local = moment.astimezone(UTC), moment.astimezone(zone)
    if local.utcoffset() == universal.utcoffset():
        return universal.strftime(f"%Y-%m-%d {clock} UTC")
    day = "" if local.date() == universal.date() else "%Y-%m-%d "
    return f"{local.strftime(f'%Y-%m-%d {clock}')} {local.tzname()} ({universal.strftime(f'{day}{clock}')} UTC)"

"""How names, texts, times and tables are written: fit to be shown, like a known name, in a zone, in one step."""

from __future__ import annotations

import csv
import errno
import io
import os
import re
import secrets
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo
from difflib import SequenceMatcher
from pathlib import Path

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


# -- files that replace others in one step, and tables that a spreadsheet shows and does not compute ------------------


# A spreadsheet takes a cell that begins with one of these for a formula, some also where they are full-width.
_FORMULA_STARTS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def write_atomically(path: Path, content: bytes) -> None:
    """Write beside `path` and rename: a reader, or a crash, finds the old file or the new one, never half of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with beside.open("xb") as file:  # open, unlike mkstemp, gives it the mode that the user's umask asks for
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def plain_cell(text: str) -> str:
    """A text that a spreadsheet shows and does not compute.

    An apostrophe goes before what begins a formula. Where the list separator is a semicolon, a spreadsheet would begin
    a new cell after each: they become commas, which are quoted.
    """
    text = printable(text).replace("\n", " ").replace(";", ",").strip()
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def write_csv(path: Path, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    """Write a table. Replaces `path` in one step; texts have to be safe for spreadsheets (`plain_cell`)."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    write_atomically(path, text.getvalue().encode("utf-8"))

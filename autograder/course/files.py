"""Files that replace others in one step, and tables that a spreadsheet shows and does not compute."""

from __future__ import annotations

import csv
import errno
import io
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from autograder.course.text import printable

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

"""Turns the bytes a student handed in into a sound notebook, or says in one sentence why they are none."""

from __future__ import annotations

import codecs
import contextlib
import json
import re
from collections.abc import Mapping
from typing import Any

from nbformat import NotebookNode

from autograder.course.text import printable
from coursekit.check.cells import TooLarge, measure_effort

MAX_FILE_BYTES = 128 * 2**20
MAX_SOURCE_CHARACTERS = 16 * 2**20
MAX_CELLS = 5_000
MAX_CONTAINERS = 5_000_000  # brackets; each may become an object of 200 bytes, and nothing tells it beforehand
MAX_EFFORT = (
    80_000  # of all cells together, see `coursekit.check.cells`: with the release's they are read for the rules
)

TOO_MUCH = "The notebook holds more code than can be read; the last cells were not run."

MAX_SCRIPT = 16 * 2**20  # characters; a larger one is not read
_MARK = r"[ \t]*#[ \t]*(?:%%+(?:[ \t].*)?|<codecell>|In\[[0-9 ]*\]:?)[ \t]*\r?$"
_CELL = re.compile(rf"^{_MARK}", re.MULTILINE)
_LONG_MARK = re.compile(r"^([ \t]*#[ \t]*%%.{1000}).+", re.MULTILINE)  # jupytext takes the square of the length
_CELL_BYTES = re.compile(_CELL.pattern.encode(), re.MULTILINE)
_FORMAT = {"extension": ".py", "format_name": "percent", "comment_magics": False}  # a comment stays a comment

_SURROGATE = re.compile("[\ud800-\udfff]")
_LATIN_1 = {0xDC00 + byte: byte for byte in range(0x80, 0x100)}  # what `surrogateescape` makes of odd bytes
_CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_CELL_TYPES = ("code", "markdown", "raw")
_MERGE_CONFLICT = re.compile(r"^(<<<<<<<|>>>>>>>) ", re.MULTILINE)
_PYTHON = re.compile(r"^(?:# %%|import \w|from \w[\w.]* import |def \w+\(|class \w+|%\w|#!.*python)", re.MULTILINE)
_MAGIC_NUMBERS = (
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"Rar!", "a RAR archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"{\\rtf", "a rich text document"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"\x7fELF", "a program"),
)


class Unreadable(Exception):
    """A submission that cannot be graded; `reason` is one sentence for the student."""

    def __init__(self, reason: str):
        self.reason = printable(reason)
        super().__init__(self.reason)


class SubmittedNotebook(NotebookNode):
    """A notebook as read: nbformat 4.5, without outputs, and in `repairs` a sentence for each thing that was mended."""

    repairs: tuple[str, ...] = ()


def read_notebook(data: bytes) -> SubmittedNotebook:
    """Read a submitted notebook, or a Python script with cells (`# %%`), mending what can be mended.

    Kept of each cell: its type, its source as one string, its id, its nbgrader grade_id and the pictures attached to
    text. Everything else (outputs, tags, other metadata) is dropped here and can have no effect later.

    Raises:
        Unreadable: nothing to grade can be made out; the reason says what the file looks like.
    """
    if len(data) > MAX_FILE_BYTES:
        raise Unreadable(
            f"The file has {len(data) // 2**20} MB; files of more than {MAX_FILE_BYTES // 2**20} MB are not read."
        )
    notes: list[str] = []
    text = _decode(data, notes)
    if not text.lstrip("\ufeff \t\r\n\0").startswith(("{", "[", "<")) and (cells := count_cells(text)):
        return tidy(_script(text, cells, notes), notes)
    return tidy(_parse(text, notes), notes)


def tidy(content: Any, notes: list[str] | None = None) -> SubmittedNotebook:
    """Return parsed JSON of any shape as a sound notebook; see `read_notebook`.

    Raises:
        Unreadable: the content is no notebook, or too large.
    """
    notes = [] if notes is None else notes
    tidied = [_tidy_cell(cell, number, notes) for number, cell in enumerate(_find_cells(content, notes), start=1)]
    cells = [cell for cell in tidied if cell is not None]
    size = sum(len(cell["source"]) for cell in cells)
    if size > MAX_SOURCE_CHARACTERS:
        raise Unreadable(
            f"The cells hold {size // 2**20} MB of text; more than {MAX_SOURCE_CHARACTERS // 2**20} MB are not graded."
        )
    _leave_out_too_much(cells, notes)
    _make_ids_unique(cells)
    notebook = SubmittedNotebook(nbformat=4, nbformat_minor=5, metadata=NotebookNode(), cells=cells)
    notebook.__dict__["repairs"] = tuple(dict.fromkeys(notes))
    return notebook


def _decode(data: bytes, notes: list[str]) -> str:
    if not data.strip(b"\0 \t\r\n"):
        raise Unreadable("The file is empty." if not data.strip() else "The file holds only zero bytes.")
    if kind := _looks_like_binary(data):
        raise Unreadable(f"The file is not a notebook: it looks like {kind}.")
    encoding = "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else json.detect_encoding(data)
    if encoding not in ("utf-8", "utf-8-sig"):
        notes.append(f"The file was written in {encoding.upper()}, not UTF-8; it was converted.")
        return data.decode(encoding, errors="replace").removeprefix("\ufeff")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        notes.append("Some bytes of the file are not UTF-8; they were read as Latin-1.")
        text = data.decode(encoding, errors="surrogateescape")
        return text.translate(_LATIN_1)


def _looks_like_binary(data: bytes) -> str | None:
    if data.startswith(b"PK\x03\x04"):
        head = data[:4096]
        if b"word/" in head:
            return "a Word document"
        return "an Office document" if b"[Content_Types].xml" in head else "a zip archive"
    return next((kind for magic, kind in _MAGIC_NUMBERS if data.startswith(magic)), None)


def _script(text: str, cells: int, notes: list[str]) -> dict[str, Any]:
    """Return a Python script that has cells as a notebook."""
    if len(text) > MAX_SCRIPT:
        raise Unreadable(
            f"The script has {len(text) // 2**20} MB; scripts of more than {MAX_SCRIPT // 2**20} MB are not read."
        )
    if cells > MAX_CELLS:
        raise Unreadable(f"The script has more than {MAX_CELLS} cells; a script with more cells is not graded.")
    try:
        found = cells_of_script(_clean(text))
    except MemoryError:
        raise
    except Exception:
        raise Unreadable("The file is a Python script with cells (# %%), and its cells cannot be made out.") from None
    notes.append("The file is a Python script with cells (# %%); it was read as a notebook.")
    return {"nbformat": 4, "cells": found}


def _parse(text: str, notes: list[str]) -> Any:
    """Return the JSON value in `text`; control characters in strings, a tail after the value and huge numbers pass."""
    start = len(text) - len(text.lstrip(" \t\r\n\ufeff\0"))
    try:
        if text.count("{") + text.count("[") > MAX_CONTAINERS:
            raise MemoryError
        with contextlib.suppress(ValueError):
            return json.loads(text)
        value, end = json.JSONDecoder(strict=False, parse_int=_parse_int).raw_decode(text, start)
        if not isinstance(value, dict | list):
            json.loads(text)  # a word or a number with text after it: this error says where
    except RecursionError:
        raise Unreadable("The file is nested too deeply to be a notebook.") from None
    except MemoryError:
        raise Unreadable("The file holds more than can be read: clear the outputs and hand it in again.") from None
    except ValueError as error:
        raise Unreadable(_why_no_json(text, error)) from None
    if text[end:].strip(" \t\r\n\0"):
        notes.append("The file has more text after the end of the notebook; that text was ignored.")
    else:
        notes.append("The file had small errors of JSON; they were repaired.")
    return value


def _parse_int(digits: str) -> int | float:
    """Return an integer, infinity where it has more digits than anybody counts."""
    return int(digits) if len(digits) < 4000 else float("inf")


def _why_no_json(text: str, error: ValueError) -> str:
    head = text[:4096].lstrip("\ufeff \t\r\n\0")
    lowered = head.lower()
    if lowered.startswith(("<!doctype html", "<html", "<head", "<body")):
        return "The file is not a notebook: it looks like a web page (HTML). Download the .ipynb file itself."
    if lowered.startswith("<"):
        return "The file is not a notebook: it looks like HTML or XML."
    if _MERGE_CONFLICT.search(text):
        return "The file is damaged: it holds the marks of an unresolved merge conflict (<<<<<<<)."
    if not head.startswith(("{", "[")):
        kind = "a Python script" if _PYTHON.search(head) else "plain text"
        return f"The file is not a notebook: it looks like {kind}."
    if not isinstance(error, json.JSONDecodeError):
        return "The file is damaged: it is not valid JSON."
    place = f"line {error.lineno}, column {error.colno}"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return f"The file is cut off: it begins like a notebook but its text has no end (last good place: {place})."
    return f"The file is damaged: it is not valid JSON from {place} on ({error.msg})."


def _find_cells(content: Any, notes: list[str]) -> list[Any]:
    """Return the list of cells of a notebook of nbformat 2, 3 or 4, each as nbformat 4 names its parts."""
    if isinstance(content, list) and content and all(isinstance(c, Mapping) and "cell_type" in c for c in content):
        notes.append("The file holds a bare list of cells; it was read as a notebook.")
        content = {"nbformat": 4, "cells": content}
    if not isinstance(content, Mapping):
        raise Unreadable("The file is JSON but not a notebook.")
    version = content.get("nbformat")
    cells = content.get("cells")
    if not isinstance(cells, list) and isinstance(content.get("worksheets"), list):
        notes.append(f"The notebook is in an old format ({_say(version)}); it was upgraded to format 4.")
        sheets = [sheet for sheet in content["worksheets"] if isinstance(sheet, Mapping)]
        parts = [sheet["cells"] for sheet in sheets if isinstance(sheet.get("cells"), list)]
        cells = [_upgrade_cell(cell) for part in parts for cell in part]
    elif not isinstance(cells, list):
        raise Unreadable("The file is JSON but not a notebook: it has no list of cells.")
    elif version != 4 or isinstance(version, bool):
        notes.append(f"The notebook names {_say(version)} as its format; it was read as format 4.")
    if len(cells) > MAX_CELLS:
        raise Unreadable(f"The notebook has more than {MAX_CELLS} cells; a notebook with more cells is not graded.")
    return cells


def _upgrade_cell(cell: Any) -> Any:
    """Return a cell of nbformat 2 or 3 in the shape of nbformat 4."""
    if isinstance(cell, Mapping) and cell.get("cell_type") == "heading":
        level = cell.get("level")
        hashes = "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 1)
        source, _ = _as_text(cell.get("source"))
        return {**cell, "cell_type": "markdown", "source": f"{hashes} {' '.join(source.split())}"}
    return cell


def _tidy_cell(cell: Any, number: int, notes: list[str]) -> NotebookNode | None:
    if not isinstance(cell, Mapping):
        notes.append(f"Entry {number} of the notebook's cells is not a cell; it was left out.")
        return None
    raw = cell.get("source", cell.get("input", ""))
    source, sound = _as_text(raw)
    if not sound:
        notes.append(f"The source of cell {number} was not all text; it was repaired.")
    cleaned = _clean(source)
    if cleaned != source.replace("\r\n", "\n").replace("\r", "\n"):
        notes.append(f"Cell {number} had characters that cannot be run (such as zero bytes); it was repaired.")
    kind = cell.get("cell_type")
    if kind not in _CELL_TYPES:
        is_code = any(part in cell for part in ("outputs", "execution_count", "input"))
        kind = "code" if is_code else "markdown" if kind == "html" else "raw"
        notes.append(f"Cell {number} had no known type; it was read as {kind}.")
    tidied = NotebookNode(cell_type=kind, id=_as_id(cell.get("id")), metadata=_tidy_metadata(cell), source=cleaned)
    if kind == "code":
        tidied["outputs"] = []
        tidied["execution_count"] = None
    elif attachments := _tidy_attachments(cell.get("attachments")):
        tidied["attachments"] = attachments
    return tidied


def _as_text(source: Any) -> tuple[str, bool]:
    """Return a source of any JSON type as a string, and whether it had a type that nbformat allows."""
    if isinstance(source, str):
        return source, True
    if source is None:
        return "", False
    if isinstance(source, list):
        lines = [line for line in source if isinstance(line, str)]
        whole = len(lines) == len(source)
        if len(lines) > 1 and not any("\n" in line for line in lines):
            return "\n".join(lines), False
        return "".join(lines), whole
    if isinstance(source, int | float) and not isinstance(source, bool):
        return str(source), False
    return "", False


def _clean(source: str) -> str:
    source = source.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").removeprefix("\ufeff")
    return source if source.isascii() else _SURROGATE.sub("\ufffd", source)


def _tidy_metadata(cell: Mapping) -> NotebookNode:
    """Return the only metadata that matter: the nbgrader grade_id, where it is text."""
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, Mapping) else None
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, Mapping) else None
    if isinstance(grade_id, str) and 0 < len(grade_id) <= 1000:
        return NotebookNode(nbgrader=NotebookNode(grade_id=grade_id))
    return NotebookNode()


def _tidy_attachments(attachments: Any) -> NotebookNode:
    """Return the attached pictures that have the shape nbformat prescribes."""
    kept = NotebookNode()
    for name, bundle in attachments.items() if isinstance(attachments, Mapping) else ():
        if isinstance(bundle, Mapping) and name.isprintable():
            pictures = {mime: data for mime, data in bundle.items() if _is_picture(mime, data)}
            if pictures:
                kept[name] = NotebookNode(pictures)
    return kept


def _is_picture(mime: Any, data: Any) -> bool:
    return isinstance(mime, str) and mime.startswith("image/") and isinstance(data, str) and data.isascii()


def _as_id(cell_id: Any) -> str:
    return cell_id if isinstance(cell_id, str) and _CELL_ID.fullmatch(cell_id) else ""


def _leave_out_too_much(cells: list[NotebookNode], notes: list[str]) -> None:
    """Empty the code cells from where all together take too much effort to read. One that is too large to be read by
    itself takes none."""
    left = MAX_EFFORT
    for cell in cells:
        with contextlib.suppress(TooLarge):
            left -= measure_effort(cell["source"]) if cell["cell_type"] != "markdown" else 0
            if left < 0:
                cell["source"] = ""
                notes.append(TOO_MUCH)


def _make_ids_unique(cells: list[NotebookNode]) -> None:
    taken: set[str] = set()
    for number, cell in enumerate(cells):
        if not cell["id"] or cell["id"] in taken:
            cell["id"] = free_id(f"submitted-{number}", taken)
        taken.add(cell["id"])


def free_id(wish: str, taken: set[str]) -> str:
    """Return `wish`, or `wish` with the lowest number that makes it differ from every id in `taken`."""
    if wish not in taken:
        return wish
    number = 2
    while f"{wish}-{number}" in taken:
        number += 1
    return f"{wish}-{number}"


def _say(version: Any) -> str:
    return f"nbformat {version}" if isinstance(version, int) and 0 <= version < 100 else "no known version"


# -- Python scripts with cells: the percent format, as jupytext, VS Code and Spyder write it ---------------------------


def has_cells(data: bytes) -> bool:
    """Say whether a script has at least one line that begins a cell, such as `# %%`, in a part that can be read."""
    return _CELL_BYTES.search(data, 0, MAX_SCRIPT) is not None


def count_cells(text: str) -> int:
    """Return how many lines of a text begin a cell; those in strings count too."""
    return len(_CELL.findall(text))


def cells_of_script(text: str) -> list[dict[str, Any]]:
    """Return the cells of a script as those of nbformat 4: type, source and metadata.

    The script's own header is left out, because it can choose another reader than this one. Magics that jupytext made
    comments come back in locked cells only: elsewhere nothing tells them from a student's comment.

    Raises:
        Exception: whatever jupytext raises at text that it does not understand.
    """
    import jupytext  # here, because few submissions need it and it takes a second
    from jupytext.magics import uncomment_magic

    text = _without_header(text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _LONG_MARK.sub(r"\1", text)
    if _CELL.match(text) is None:
        text = f"# %%\n{text}"  # so that nothing before the first cell is taken for a header
    cells = []
    for cell in jupytext.reads(text, fmt=_FORMAT).cells:
        source = cell.source
        if cell.cell_type == "code" and _is_locked(cell.metadata):
            source = "\n".join(uncomment_magic(source.split("\n")))
        if source.strip() or cell.metadata:
            cells.append({"cell_type": cell.cell_type, "source": source, "metadata": cell.metadata})
    return cells


def _without_header(text: str) -> str:
    """Leave out comments between two lines `# ---`, at the top or below a line for the shell or the encoding."""
    lines = text.split("\n")
    begin = next((number for number, line in enumerate(lines[:3]) if line == "# ---"), 0)
    above = lines[:begin] if lines[begin] == "# ---" else [""]
    if all(line.startswith("#!") or (line.startswith("#") and "coding" in line) for line in above):
        for end, line in enumerate(lines[begin + 1 :], begin + 1):
            if line.rstrip(" \t") == "# ---":
                return "\n".join(lines[end + 1 :])
            if not line.startswith("#"):
                break
    return text


def _is_locked(metadata: Any) -> bool:
    nbgrader = metadata.get("nbgrader")
    return isinstance(nbgrader, dict) and nbgrader.get("locked") is True and nbgrader.get("solution") is not True

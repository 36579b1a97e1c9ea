"""Parses a notebook's JSON in a process with limits, and gives back only what `reading` looks at.

JSON of a few bytes can make objects of a hundred, and nothing says so beforehand. Run as a script, with the text on
standard input; it imports nothing but the standard library, so that it starts at once.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

MEMORY_BYTES = 768 * 2**20
CPU_SECONDS = 10
MOST_CELLS = 5_001  # one more than is read
MOST_LINES = 1_000  # of a source; more are joined
MOST_PICTURES = 100

_KEPT = ("cell_type", "id", "level")
_MARKS = ("execution_count", "outputs")  # that they are there makes a cell of no type code


def main() -> None:
    """Read, parse, slim and write: ``{"value": …, "end": …}`` or ``{"error": …, "position": …}``."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    try:
        text = sys.stdin.buffer.read().decode("utf-8", "surrogatepass")
        answer = parsed(text)
    except (MemoryError, RecursionError) as error:
        answer = {"error": type(error).__name__}
    json.dump(answer, sys.stdout)


def parsed(text: str) -> dict[str, Any]:
    """Return the slimmed value at the beginning of the text and where it ends, or what is wrong with it."""
    try:
        value, end = json.JSONDecoder(strict=False, parse_int=parse_int).raw_decode(text)
    except json.JSONDecodeError as error:
        return {"error": error.msg, "position": error.pos}
    except ValueError as error:
        return {"error": str(error)}
    return {"value": _notebook(value), "end": end}


def parse_int(digits: str) -> int | float:
    """Return an integer, infinity where it has more digits than anybody counts."""
    return int(digits) if len(digits) < 4000 else float("inf")


def _notebook(value: Any) -> Any:
    if isinstance(value, list):
        return [_cell(cell) for cell in value[:MOST_CELLS]]
    if not isinstance(value, dict):
        return None
    kept: dict[str, Any] = {}
    if isinstance(value.get("nbformat"), (int, str)):
        kept["nbformat"] = value["nbformat"]
    if isinstance(value.get("cells"), list):
        kept["cells"] = [_cell(cell) for cell in value["cells"][:MOST_CELLS]]
    if isinstance(value.get("worksheets"), list):
        sheets = (sheet["cells"] for sheet in value["worksheets"] if _holds_cells(sheet))
        cells = [cell for sheet in sheets for cell in sheet[:MOST_CELLS]]
        kept["worksheets"] = [{"cells": [_cell(cell) for cell in cells[:MOST_CELLS]]}]
    return kept


def _holds_cells(sheet: Any) -> bool:
    return isinstance(sheet, dict) and isinstance(sheet.get("cells"), list)


def _cell(cell: Any) -> Any:
    if not isinstance(cell, dict):
        return None
    kept = {key: cell[key] for key in _KEPT if isinstance(cell.get(key), (int, str))}
    kept.update({mark: None for mark in _MARKS if mark in cell})
    for key in ("source", "input"):
        if key in cell:
            kept[key] = _source(cell[key])
    try:
        grade_id = cell["metadata"]["nbgrader"]["grade_id"]
    except (KeyError, TypeError, IndexError):
        grade_id = None
    if isinstance(grade_id, str):
        kept["metadata"] = {"nbgrader": {"grade_id": grade_id}}
    if isinstance(cell.get("attachments"), dict):
        bundles = [
            (name, attachment) for name, attachment in cell["attachments"].items() if isinstance(attachment, dict)
        ]
        kept["attachments"] = {
            name: {mime: data for mime, data in list(bundle.items())[:MOST_PICTURES] if isinstance(data, str)}
            for name, bundle in bundles[:MOST_PICTURES]
        }
    return kept


def _source(source: Any) -> Any:
    if not isinstance(source, list):
        return None if isinstance(source, dict) else source
    lines = [line if isinstance(line, str) else None for line in source]
    return lines if len(lines) <= MOST_LINES else "".join(filter(None, lines))


if __name__ == "__main__":
    main()

"""What passed before the kernel was restarted: a file beside a student's notebook, which the grader never reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from coursekit.beside import is_a_students, write_beside

MOST_BYTES = 2**16


def read_passed(lab: str) -> dict[str, str]:
    """For each exercise that passed, the hash of its cell; nothing where no student works, or of a damaged file."""
    path = Path(_name(lab))
    try:
        if not is_a_students() or not path.is_file() or path.stat().st_size > MOST_BYTES:
            return {}
        found = json.loads(path.read_text("utf-8"))
        return {name: cell for name, cell in found.items() if isinstance(cell, str)}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def write_passed(lab: str, passed: Mapping[str, str]) -> None:
    """Write what `read_passed` reads after a restart."""
    write_beside(_name(lab), json.dumps(passed).encode())


def hash_cell(source: str) -> str:
    """The hash by which a cell is known again."""
    return hashlib.sha256(source.strip().encode("utf-8", "replace")).hexdigest()[:16]


def _name(lab: str) -> str:
    return f".{lab}.checked.json"

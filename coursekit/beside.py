"""Small files that a student's own notebook leaves beside itself: what passed so far, and pictures to keep."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

# Set where a run has to see what failed: the first two by nbgrader while it validates and executes, the third where
# notebooks are run as tests.
RAISING = ("NBGRADER_VALIDATING", "NBGRADER_EXECUTION", "COURSE_CHECKS_RAISE")


def raises() -> bool:
    """Whether a check that fails has to raise in this run."""
    return any(os.environ.get(name, "0") not in ("", "0") for name in RAISING)


def is_a_students() -> bool:
    """Whether a student works in this notebook: a kernel runs it, unlike in the grader; no tool runs it to see what
    fails; and it is not one that the instructor makes, in the course's `solutions/` or `labs/`."""
    from IPython import get_ipython

    folder = Path.cwd().parent
    is_made_here = folder.name != "work" and (folder.parent / "course.toml").exists()
    return getattr(get_ipython(), "kernel", None) is not None and not raises() and not is_made_here


def write_beside(name: str, content: bytes) -> bool:
    """Write a file beside a student's notebook, and say whether it is there now; a folder that is read-only stays."""
    if not is_a_students():
        return False
    try:
        Path(name).write_bytes(content)
    except OSError:
        return False
    return True


# -- what passed before the kernel was restarted; the grader never reads it -------------------------------------------


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

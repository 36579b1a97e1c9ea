"""Small files that a student's own notebook leaves beside itself: what passed so far, and pictures to keep."""

from __future__ import annotations

import os
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

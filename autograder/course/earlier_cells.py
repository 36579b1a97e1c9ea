"""Remembers what a lab's cells said before, so that no student is told to have changed what the instructor did."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path

from nbformat import NotebookNode

from autograder.course.cells import grade_id
from autograder.course.settings import Course, CourseError

ABSENT = ""  # in the place of a hash: the lab was released without this cell
MOST = 50  # earlier states of a cell that are kept
EarlierCells = Mapping[str, Collection[str]]  # cell -> hashes of what it said in earlier releases


def earlier_file(course: Course, lab: str) -> Path:
    """The file beside a lab's solution, which `course release` writes; it holds hashes alone."""
    return course.solutions / lab / ".earlier_cells.json"


def earlier_cells(course: Course, lab: str) -> dict[str, list[str]]:
    """What is remembered of a lab; nothing where no cell was changed yet.

    Raises:
        CourseError: the file is not what a release writes.
    """
    path = earlier_file(course, lab)
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): [str(each) for each in hashes] for name, hashes in found.items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise CourseError(f"{path}: cannot be read ({error}); put it back from a backup, or delete it") from error


def remembered(known: EarlierCells, old: NotebookNode, new: NotebookNode) -> bytes:
    """The content of the file once `new` is released in the place of `old`."""
    before, after = _sources(old), _sources(new)
    found = {name: list(hashes) for name, hashes in known.items()}
    for name, source in after.items():
        was = text_hash(before[name]) if name in before else ABSENT
        if was != text_hash(source):
            found[name] = [*(each for each in found.get(name, ()) if each != was), was][-MOST:]
    return (json.dumps(found, indent=1, sort_keys=True) + "\n").encode() if found else b""


def text_hash(source: str) -> str:
    """Return the hash that is kept of a cell's text; white space at the ends of lines does not count."""
    return hashlib.sha256(bare(source).encode("utf-8", "replace")).hexdigest()[:16]


def bare(source: str) -> str:
    """Return a source without white space at the ends of its lines and of itself."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def _sources(notebook: NotebookNode) -> dict[str, str]:
    return {name: cell["source"] for cell in notebook["cells"] if (name := grade_id(cell))}

"""Reads a lab as students got it, and any notebook of the course that somebody may have damaged."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.course.cells import cells_by_id
from autograder.course.settings import Course, CourseError


def read_released(course: Course, lab: str) -> NotebookNode:
    """The released notebook of a lab.

    Raises:
        CourseError: the course has no such lab, or it is not released, or what is in its place is no notebook.
    """
    return _parsed(lab, *_content(course, lab))


def released_names(course: Course, lab: str) -> tuple[str, ...]:
    """The grade_ids of the released notebook, in its order. It is parsed once, however often it is asked for.

    Raises:
        CourseError: as `read_released` does.
    """
    return _names(lab, *_content(course, lab))


def _content(course: Course, lab: str) -> tuple[Path, bytes]:
    path = course.release_notebook(course.lab(lab).name)
    try:
        return path, path.read_bytes()
    except FileNotFoundError:
        raise CourseError(f'{path}: the lab is not released; run "course release {lab}"') from None


def _parsed(lab: str, path: Path, content: bytes) -> NotebookNode:
    return parse_notebook(path, content, f'run "course release {lab}" to make it again')


@lru_cache(maxsize=32)
def _names(lab: str, path: Path, content: bytes) -> tuple[str, ...]:
    return tuple(cells_by_id(_parsed(lab, path, content)))


def parse_notebook(path: Path, content: bytes, remedy: str = "restore it") -> NotebookNode:
    """The notebook that `path` holds. Raises CourseError, with the remedy, when the content is none."""
    try:
        notebook = nbformat.reads(content.decode("utf-8"), as_version=4)
        notebook.cells, notebook.metadata  # noqa: B018  (nbformat reads what has neither)
    except Exception as error:  # of many kinds: nbformat trusts what it reads
        reason = str(error).partition("\n")[0][:80]
        raise CourseError(f"{path}: is not a notebook ({reason}); {remedy}") from error
    return notebook

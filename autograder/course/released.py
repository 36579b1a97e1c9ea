"""Reads a lab as students got it, and any notebook of the course that somebody may have damaged."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.course.settings import Course, CourseError


def read_released(course: Course, lab: str) -> NotebookNode:
    """The released notebook of a lab.

    Raises:
        CourseError: the course has no such lab, or it is not released, or what is in its place is no notebook.
    """
    path = course.release_notebook(course.lab(lab).name)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise CourseError(f'{path}: the lab is not released; run "course release {lab}"') from None
    return parse_notebook(path, content, f'run "course release {lab}" to make it again')


def parse_notebook(path: Path, content: bytes, remedy: str = "restore it") -> NotebookNode:
    """The notebook that `path` holds. Raises CourseError, with the remedy, when the content is none."""
    try:
        notebook = nbformat.reads(content.decode("utf-8"), as_version=4)
        notebook.cells, notebook.metadata  # noqa: B018  (nbformat reads what has neither)
    except Exception as error:  # of many kinds: nbformat trusts what it reads
        reason = str(error).partition("\n")[0][:80]
        raise CourseError(f"{path}: is not a notebook ({reason}); {remedy}") from error
    return notebook

"""Writes what a student gets back: one HTML page with their code, their marks, the mistakes named, and hints."""

from __future__ import annotations

import functools
from pathlib import Path

from markupsafe import Markup
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from autograder.course import Course
from autograder.grading.results import LabResult, write_atomically
from autograder.nbgrader_cells import grade_id
from autograder.pages.rendering import render
from coursekit.statuses import STATUS_WORDS

MAX_SHOWN_CHARACTERS = 20_000


def feedback_path(folder: Path, result: LabResult) -> Path:
    """Where the page of one student and lab is: ``<folder>/<student>/<lab>.html``."""
    return folder / result.student / f"{result.lab}.html"


def write_feedback(
    course: Course, result: LabResult, folder: Path, *, lost: float = 0.0, counts: float | None = None
) -> Path:
    """Write the page of one student. It holds no hidden case and no reference value; all of their text is escaped.

    Args:
        course: the course.
        result: the verdict.
        folder: where the pages of all students are.
        lost: points that lateness costs.
        counts: points of an earlier attempt that counts in place of this one.
    """
    path = feedback_path(folder, result)
    page = render(
        "feedback.html.j2",
        course=course,
        lab=course.lab(result.lab),
        result=result,
        lost=lost,
        counts=counts,
        code=_code_cells(result.notebook),
        status_words=STATUS_WORDS,
        style=Markup(_formatter().get_style_defs(".code")),
    )
    write_atomically(path, page)
    return path


def _code_cells(notebook: NotebookNode | None) -> dict[str, Markup]:
    """The student's code for each exercise, highlighted."""
    found: dict[str, list[str]] = {}
    for cell in notebook.cells if notebook is not None else ():
        name = grade_id(cell)
        if cell.cell_type == "code" and name.endswith("-code"):
            found.setdefault(name.removesuffix("-code"), []).append(cell.source)
    return {name: _highlighted("\n\n".join(sources)) for name, sources in found.items()}


def _highlighted(source: str) -> Markup:
    if len(source) > MAX_SHOWN_CHARACTERS:
        source = source[:MAX_SHOWN_CHARACTERS] + "\n# … cut here: the cell is very long"
    return Markup(highlight(source, PythonLexer(), _formatter()))


@functools.cache
def _formatter() -> HtmlFormatter:
    return HtmlFormatter(style="default", cssclass="code")

"""Keeps each notebook and the percent-format text file beside it saying the same."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import jupytext
import nbformat
from jupytext.combine import combine_inputs_with_outputs
from nbformat import NotebookNode

from autograder.course.settings import Course
from autograder.course.text import write_atomically

FORMAT = "py:percent"
_VERSION_LINE = re.compile(r"^#\s+jupytext_version:.*\n", re.MULTILINE)


class PairError(ValueError):
    """A notebook and its text file disagree, or one cannot be read; the message names the file and the remedy."""


def find_pairs(course: Course) -> list[Path]:
    """The notebooks of the course that have, or should have, a text file beside them: lectures and solutions."""
    halves = (path for path in course.lectures.glob("[0-9]*.*") if path.suffix in (".py", ".ipynb"))
    lectures = {path.with_suffix(".ipynb") for path in halves}
    solutions = {course.solution_notebook(lab.name) for lab in course.labs if (course.solutions / lab.name).is_dir()}
    return [*sorted(lectures), *sorted(solutions)]


def write_text(notebook: NotebookNode) -> str:
    """The text file of a notebook, without outputs, the version of jupytext, and blank lines kept between cells."""
    notebook = copy.deepcopy(nbformat.from_dict(notebook))
    for cell in notebook.cells:
        cell.metadata.pop("lines_to_next_cell", None)
    notebook.metadata = nbformat.from_dict({**notebook.metadata})
    notebook.metadata["jupytext"] = {"formats": "ipynb," + FORMAT}
    return _VERSION_LINE.sub("", jupytext.writes(notebook, fmt=FORMAT))


def check_pair(path: Path) -> str | None:
    """What is wrong with the pair of the notebook at `path`, or None when both halves say the same."""
    text_path = path.with_suffix(".py")
    for half, other in ((path, text_path), (text_path, path)):
        if not half.is_file():
            return f"{half}: is missing, and {other.name} is there"
    if write_text(_read_notebook(path)) != write_text(_read_text(text_path)):
        return f"{path}: does not have the same content as {text_path.name}"
    return None


def read_pair(path: Path) -> NotebookNode:
    """The notebook as the newer half of the pair has it, with the outputs of the notebook file."""
    text_path = path.with_suffix(".py")
    if not text_path.is_file():
        return _read_notebook(path)
    if not path.is_file():
        return _read_text(text_path)
    notebook = _read_notebook(path)
    if text_path.stat().st_mtime <= path.stat().st_mtime or check_pair(path) is None:
        return notebook
    return combine_inputs_with_outputs(_read_text(text_path), notebook, fmt=FORMAT)


def write_pair(path: Path, notebook: NotebookNode) -> list[Path]:
    """Write `notebook` and its text file where they differ from what is there; return the files that were written."""
    notebook.metadata["jupytext"] = {"formats": "ipynb," + FORMAT}
    wanted = {
        path.with_suffix(".py"): write_text(notebook).encode(),
        path: (nbformat.writes(notebook).rstrip("\n") + "\n").encode(),
    }
    written = [half for half, content in wanted.items() if not half.is_file() or half.read_bytes() != content]
    for half in written:
        write_atomically(half, wanted[half])
    return written


def _read_notebook(path: Path) -> NotebookNode:
    try:
        return nbformat.read(path, as_version=4)
    except Exception as error:
        raise PairError(f"{path}: cannot be read as a notebook ({error}); repair it or restore it from git") from error


def _read_text(path: Path) -> NotebookNode:
    try:
        notebook = jupytext.reads(path.read_text(encoding="utf-8"), fmt=FORMAT)
    except Exception as error:
        raise PairError(f"{path}: cannot be read as a percent-format text file ({error})") from error
    return notebook

"""Writes the cells that come from course.toml, and takes out of a notebook what depends on who saved it, and when."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Unicode

from autograder.course.labs import grade_id
from autograder.course.settings import Course, load_course
from autograder.release.numbering import write_points

ARCHIVE = "coursekit.zip"  # from which Colab installs coursekit where students have no repository
BADGE_TAG = "course-badge"
SETUP_TAG = "course-setup"
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
_KEPT_CELL_METADATA = ("deletable", "editable", "jupyter", "nbgrader", "slideshow", "tags")


def setup_source(course: Course) -> str:
    """The source of the cell that installs coursekit on Colab, and says how where it is missing elsewhere.

    It comes from the repository or the site that course.toml names, else from the site's archive, which the reader puts
    beside the notebook.
    """
    spec = course.pip_spec or (f"{course.site}/{ARCHIVE}" if course.site else "")
    named = "".join(f' "{package}"' for package in course.packages)
    packages = f"    %pip install --quiet{named}\n" if named else ""
    told = 'print("Installing the course\'s helper package …")\n'
    if spec:
        first = f"    {told}    %pip install --quiet --no-deps {spec}\n"
    else:
        first = (
            f'    from pathlib import Path\n\n    if Path("{ARCHIVE}").exists():\n'
            f"        {told}        %pip install --quiet --no-deps ./{ARCHIVE}\n    else:\n"
            f'        print("Upload {ARCHIVE}, which comes with this course, and run this cell again.")\n'
            '        print("To upload it, click the folder on the left and drop the file there.")\n'
        )
    how = "Run" if spec else f"With {ARCHIVE}, which comes with this course, beside the notebook, run"
    typed = f"%pip install {spec or f'./{ARCHIVE}'}{named}"
    return (
        "# Colab: install the course's helper package. Anywhere else this cell says how, where it is missing.\n"
        "import sys\nfrom importlib.util import find_spec\n\n"
        f'if "google.colab" in sys.modules:\n{packages}{first}'
        'elif find_spec("coursekit") is None:\n'
        f'    print("The course\'s helper package is missing here. {how} in a cell:")\n'
        f"    print({typed!r})"
    )


def badge_source(course: Course, path: str) -> str:
    """The badge that opens the published notebook at `path` in Colab; empty unless the repository is on GitHub."""
    target = course.colab_url(path)
    image = "https://colab.research.google.com/assets/colab-badge.svg"
    return f"[![Open in Colab]({image})]({target})" if target else ""


def write_course_cells(notebook: NotebookNode, course: Course, path: str) -> None:
    """Set the setup cell and the badge of a notebook from course.toml, in place.

    The badge is the second cell, below the title; without a repository there is none.
    """
    for cell in notebook.cells:
        if cell.cell_type == "code" and SETUP_TAG in tags(cell):
            cell.source = setup_source(course)
    badge = badge_source(course, path)
    badges = [cell for cell in notebook.cells if BADGE_TAG in tags(cell)]
    if badge and not badges:
        badges = [new_markdown_cell(badge, metadata={"tags": [BADGE_TAG]}, id=BADGE_TAG)]
        notebook.cells.insert(1, badges[0])
    for cell in badges[:1] if badge else ():
        cell.source = badge
    surplus = badges[1:] if badge else badges
    notebook.cells = [cell for cell in notebook.cells if not any(cell is other for other in surplus)]


def stabilise(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook without what depends on who saved it, when, or with which program."""
    taken: set[str] = set()
    cells = []
    for number, cell in enumerate(notebook.cells, start=1):
        cell = nbformat.from_dict(cell)
        cell.source = cell.source.rstrip("\n")
        cell.metadata = nbformat.from_dict(
            {key: cell.metadata[key] for key in _KEPT_CELL_METADATA if key in cell.metadata}
        )
        name = re.sub(r"[^A-Za-z0-9_-]", "-", grade_id(cell))[:60] or f"cell-{number}"
        cell["id"] = name if name not in taken else f"{name[:50]}-{number}"
        taken.add(cell["id"])
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        cells.append(cell)
    metadata = {"kernelspec": dict(KERNELSPEC), "language_info": {"name": "python"}}
    return nbformat.from_dict({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


class CourseCells(NbGraderPreprocessor):
    """For `GenerateAssignment`, first in line: the setup cell and the badge come from course.toml."""

    course_root = Unicode(help="the folder with course.toml").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Called by nbconvert."""
        lab = resources["nbgrader"]["assignment"]
        write_course_cells(nb, load_course(Path(self.course_root)), f"labs/{lab}/{lab}.ipynb")
        write_points(nb)
        # What follows computes checksums, which have to be those of the sources that are released.
        return stabilise(nb), resources


class StableNotebook(NbGraderPreprocessor):
    """For `GenerateAssignment`, last in line: the same solution gives the same bytes."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Called by nbconvert."""
        return stabilise(nb), resources


def tags(cell: NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])

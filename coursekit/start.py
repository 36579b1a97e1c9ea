"""The page on which JupyterLab opens: lectures, labs, and the points that their saved notebooks show."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from coursekit.check.lab import BESIDE

PAGE = "START.ipynb"
_OURS = "coursekit_start"  # in the notebook's metadata: it may be written anew
_WORK = ("work", "labs")  # where a student's own copy of a lab is, or the lab itself
# In the last line of a report.
_REACHED = re.compile(r"exercises pass, (\d{1,9}(?:\.\d{1,9})?) of \S{1,20} points$", re.MULTILINE)


def write_start_page(folder: Path) -> Path:
    """Write `PAGE` into the course's folder and return its path; a notebook of that name that is not ours stays.

    Raises:
        ValueError: there is neither a lecture nor a lab in the folder.
    """
    path = folder / PAGE
    text = _text(folder)
    if not path.exists() or _read(path).metadata.get(_OURS):
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        cell = nbformat.v4.new_markdown_cell(text, id="start")
        page = nbformat.v4.new_notebook(cells=[cell], metadata={_OURS: True, "kernelspec": kernel})
        nbformat.write(page, path)
    return path


def _text(folder: Path) -> str:
    lectures = {path.stem.partition("_")[0]: path for path in sorted((folder / "lectures").glob("[0-9]*.ipynb"))}
    labs = {path.stem.partition("_")[0]: path for path in _labs(folder)}
    if not lectures and not labs:
        raise ValueError(f"{folder.resolve()}: holds no lectures and no labs; type this in the course's folder")
    rows = ["| lecture | lab | your points |", "|---|---|---|"]
    reached, most = 0.0, 0.0
    for number in sorted({*lectures, *labs}):
        lecture = _link(lectures[number], folder) if number in lectures else ""
        lab, points = "", ""
        if number in labs:
            lab = _link(labs[number], folder)
            had, there_are = points_shown(_read(labs[number])), _most(labs[number])
            points = f"{had or 0:g} of {there_are:g}" if there_are else f"{had:g}" if had is not None else ""
            reached, most = reached + (had or 0), most + (there_are or 0)
        rows.append(f"| {lecture} | {lab} | {points} |")
    if most:
        rows.append(f"| | **together** | **{reached:g} of {most:g}** |")
    about = (
        "Your points are the most that a check shows in the notebook as you saved it. What counts comes from the "
        "grader. This page is written anew each time that JupyterLab is opened with it."
    )
    return "\n".join(["# Lectures and labs", "", *rows, "", about])


def _labs(folder: Path) -> Iterator[Path]:
    """For each lab its notebook, the student's own copy where there is one."""
    names = {path.parent.name for place in _WORK for path in (folder / place).glob("[0-9]*/[0-9]*.ipynb")}
    for name in sorted(names):
        paths = (folder / place / name / f"{name}.ipynb" for place in _WORK)
        if found := next((path for path in paths if path.is_file()), None):
            yield found


def points_shown(notebook: NotebookNode) -> float | None:
    """The most points that a report in a saved notebook shows; None where no check has run.

    A report counts what passed so far, so the last one may show less than an earlier one.
    """
    shown = [
        "".join(output.get("data", {}).get("text/plain", ""))
        for cell in notebook.cells
        for output in cell.get("outputs", ())
    ]
    return max((float(found) for text in shown for found in _REACHED.findall(text)), default=None)


def _most(lab: Path) -> float | None:
    """Return the points of a lab from its reference file; None if there is no such file."""
    beside = lab.parent / BESIDE / f"{lab.stem}.json"
    shipped = resources.files("coursekit") / "reference" / f"{lab.stem}.json"
    for file in (beside, shipped):
        if file.is_file():
            return float(sum(json.loads(file.read_text("utf-8"))["points"].values()))
    return None


def _link(path: Path, folder: Path) -> str:
    first: Any = next((cell.source for cell in _read(path).cells if cell.cell_type == "markdown"), "")
    heading = re.search(r"^# +(.+)$", first, re.MULTILINE)
    title = heading[1].replace("|", "\\|") if heading else path.stem
    return f"[{title}]({path.relative_to(folder).as_posix()})"


def _read(path: Path) -> NotebookNode:
    """Read a notebook; an empty one if the file cannot be read."""
    try:
        return nbformat.read(path, as_version=4)
    except (ValueError, OSError, KeyError, AttributeError):
        return nbformat.v4.new_notebook()

"""Puts verdicts into a student's notebook as outputs of its test cells, and writes it where nbgrader looks for it."""

from __future__ import annotations

import copy
import shutil
import textwrap
from collections.abc import Collection
from contextlib import suppress
from datetime import UTC
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output

from autograder.course.files import write_atomically
from autograder.course.labs import grade_id, is_test, read_released
from autograder.course.settings import Course
from autograder.grade.results import ExerciseResult, LabResult
from coursekit.check.judge import STATUS_WORDS

NOTE_ID = "autograder-note"
SECRET, LONGEST_SECRET = "submission_secret.txt", 1024  # bytes
LINE = 76  # characters that Formgrader shows beside its margins; nothing wraps the lines of an output


def write_verdict(result: ExerciseResult) -> str:
    """The verdict on one exercise as plain text: points, groups of cases, named mistakes, a hint."""
    verdict = "PASSED" if result.passed else "NOT PASSED"
    lines = [f"{verdict}  {result.exercise}: {result.score:g} of {result.max_score:g} points"]
    if result.status != "graded":
        lines += _wrap(f"Not tested: {STATUS_WORDS[result.status]}.")
    lines += _wrap(result.message)
    for group in result.groups:
        lines += _wrap(group.title, "  ✓ " if group.passed else "  ✗ ")
        lines += _wrap(group.message, " " * 6)
    for sentence in result.sentences:
        lines += _wrap(f"It looks like this: {sentence}")
    if result.hint:
        lines += _wrap(f"Hint: {result.hint}")
    return "\n".join(lines) + "\n"


def _wrap(text: str, first: str = "") -> list[str]:
    """The lines of a text, none longer than a page of feedback is wide; `first` stands before the first one."""
    rest = " " * len(first)
    wrapped: list[str] = []
    for line in text.splitlines():
        wrapped += textwrap.wrap(line, LINE, initial_indent=rest if wrapped else first, subsequent_indent=rest)
    return wrapped


def add_verdicts(notebook: NotebookNode, result: LabResult) -> NotebookNode:
    """A copy of `notebook` without any output but the verdicts.

    Whatever a submission's cells displayed is dropped: an instructor's browser shows this notebook, and a display may
    be a script. What was repaired, or why nothing was graded, is told in a first cell. Verdicts are plain text.
    """
    notebook = copy.deepcopy(notebook)
    notebook.cells = [cell for cell in notebook.cells if cell.get("id") != NOTE_ID]
    verdicts = {exercise.exercise: exercise for exercise in result.exercises}
    for cell in notebook.cells:
        cell.pop("attachments", None)
        if cell.cell_type != "code":
            continue
        cell.outputs, cell.execution_count = [], None
        cell.metadata.pop("execution", None)
        if is_test(cell) and grade_id(cell) in verdicts:
            cell.outputs = [_make_output(write_verdict(verdicts[grade_id(cell)]))]
    notes = [text for text in (result.reason, *result.repairs) if text]
    if notes:
        note = new_code_cell(
            source="# A note from the grader", outputs=[_make_output("\n".join(notes) + "\n")], id=NOTE_ID
        )
        if "id" not in next(iter(notebook.cells), {"id": ""}):
            del note["id"]
        notebook.cells.insert(0, note)
    return notebook


def write_autograded(course: Course, result: LabResult) -> Path:
    """Write autograded/<student>/<lab>/<lab>.ipynb, in one step, for Formgrader and `nbgrader generate_feedback`.

    A submission that could not be read is shown as the released notebook with the reason at its top. The file stays
    writable: nbgrader writes it again when it grades, and makes it read-only itself.
    """
    check_path_part(result.student)
    notebook = result.notebook
    if notebook is None:
        notebook = read_released(course, result.lab)
    text = nbformat.writes(add_verdicts(notebook, result), indent=None)  # indenting takes longer than all the rest
    path = _find_path(course, result.student, result.lab)
    write_atomically(path, text.encode("utf-8", "replace"))
    if result.timestamp is not None:
        # In UTC, because nbgrader reads "+0100" as an offset of 100 seconds.
        stamp = result.timestamp.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f UTC")
        write_atomically(path.parent / "timestamp.txt", stamp.encode())
    # By this nbgrader's exchange knows whose the feedback is; its own autograding carries it along in the same way.
    secret = course.submitted / result.student / result.lab / SECRET
    if secret.is_file() and not secret.is_symlink() and secret.stat().st_size <= LONGEST_SECRET:
        write_atomically(path.parent / SECRET, secret.read_bytes())
    return path


def read_autograded(course: Course, student: str, lab: str) -> NotebookNode | None:
    """The notebook as it was graded; None where it is not there, or cannot be read."""
    try:
        return nbformat.reads(_find_path(course, student, lab).read_text("utf-8"), as_version=4)
    except Exception:  # it is missing, or somebody's editor was in it
        return None


def _find_path(course: Course, student: str, lab: str) -> Path:
    return course.autograded / student / lab / f"{lab}.ipynb"


def check_path_part(student: str) -> None:
    """Raise ValueError when a student id would not be the name of one folder."""
    if student in ("", ".", "..") or any(character in student for character in "/\\\0"):
        raise ValueError(f"{student!r} cannot be a student id: it has to be usable as the name of a folder")


def _make_output(text: str) -> NotebookNode:
    return new_output("stream", name="stdout", text=text)


def remove_files(course: Course, pages: Path | None, student: str, labs: Collection[str]) -> None:
    """Remove the pages and the repaired copies that grading wrote; what was handed in stays.

    Args:
        course: the course.
        pages: the folder of the feedback pages; None leaves them alone.
        student: the student's id.
        labs: the labs.
    """
    try:
        check_path_part(student)
    except ValueError:  # nbgrader's own command takes any id; grading wrote no file for this one
        return
    places = [course.autograded, course.root / "feedback"]
    for lab in labs:
        for place in places:
            shutil.rmtree(place / student / lab, ignore_errors=True)
        if pages is not None:
            (pages / student / f"{lab}.html").unlink(missing_ok=True)
    for place in [*places, *([pages] if pages is not None else [])]:
        with suppress(OSError):  # another lab's page is in it, or it never was
            (place / student).rmdir()

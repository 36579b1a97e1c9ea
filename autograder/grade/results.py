"""What grading concludes: one exercise, one lab of one student, and the two tables an instructor reads."""

from __future__ import annotations

import copy
import math
import shutil
import textwrap
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output
from pydantic import TypeAdapter

from autograder.course.labs import grade_id, is_test, read_released
from autograder.course.settings import Course
from autograder.course.text import printable, write_atomically
from coursekit.check.judge import STATUS_WORDS

STATUSES = tuple(STATUS_WORDS)

# Texts that a submission can make long: a record travels over networks, and a page is read by people.
MOST_REPAIRS = 200
MOST_CHARACTERS = 2_000
MOST_FILE_NAME = 200


def cut(text: str) -> str:
    """`text` as it is kept: printable, and at most `MOST_CHARACTERS` long."""
    text = printable(text)
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"


def round_score(value: float) -> float:
    """A score as it is kept, shown and added up everywhere: two decimals, halves up. ValueError unless it is finite."""
    if not math.isfinite(value):
        raise ValueError(f"a score has to be a finite number, and this one is {value!r}")
    return float(Decimal(repr(float(value))).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP))


@dataclass(frozen=True, slots=True)
class GroupResult:
    """One named group of cases: its share of the exercise (`weight`), whether all passed, what to tell the student."""

    name: str
    title: str
    weight: float
    passed: bool
    message: str = ""
    misconceptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", cut(self.message))
        object.__setattr__(self, "weight", float(self.weight))


@dataclass(frozen=True, slots=True)
class ExerciseResult:
    """The verdict on one exercise.

    `misconceptions` are ids, `sentences` are what the student reads. Scores are rounded here, once. Raises ValueError
    when the status is unknown or the score is not between 0 and `max_score`.
    """

    exercise: str
    score: float
    max_score: float
    status: str
    misconceptions: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    groups: tuple[GroupResult, ...] = ()
    message: str = ""
    hint: str = ""
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f'{self.exercise}: "{self.status}" is not a status; they are {", ".join(STATUSES)}')
        object.__setattr__(self, "message", cut(self.message))
        for name in ("score", "max_score"):
            object.__setattr__(self, name, round_score(getattr(self, name)))
        if not 0 <= self.score <= self.max_score:
            raise ValueError(f"{self.exercise}: a score of {self.score} is not between 0 and {self.max_score}")

    @property
    def passed(self) -> bool:
        """Whether all of the exercise's points were earned; one without points passes when all its groups do."""
        if self.max_score > 0:
            return self.score == self.max_score
        return self.status == "graded" and all(group.passed for group in self.groups)

    def points_of(self, group: GroupResult) -> float:
        """The share of a group in the exercise's points, not rounded."""
        return self.max_score * group.weight / sum(result.weight for result in self.groups)


def _fields(part: LabResult | ExerciseResult | GroupResult) -> dict[str, Any]:
    return {name: getattr(part, name) for name in part.__slots__}


@dataclass(frozen=True, slots=True)
class LabResult:
    """The verdict on one student's lab.

    `state` is "graded", "needs_manual_grade", or why there was nothing to grade ("unreadable", "missing", …), with a
    `reason`. `notebook` is the repaired notebook (NotebookNode); it is not part of the result's JSON.
    `timestamp` is when the student handed in, with a time zone, or None when nothing says so. `file` is the name of the
    file that arrived, and `content_hash` the SHA-256 of its bytes; each is empty where it is not known.
    """

    student: str
    lab: str
    exercises: tuple[ExerciseResult, ...]
    state: str = "graded"
    reason: str = ""
    repairs: tuple[str, ...] = ()
    notebook: Any = field(default=None, compare=False, repr=False)
    content_hash: str = ""
    grader_version: str = ""
    timestamp: datetime | None = None
    file: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", cut(self.reason))
        object.__setattr__(self, "file", printable(self.file)[:MOST_FILE_NAME])
        repairs = tuple(cut(repair) for repair in self.repairs[:MOST_REPAIRS])
        if (more := len(self.repairs) - MOST_REPAIRS) > 0:
            repairs = (*repairs[:-1], f"… and {more + 1} more.")
        object.__setattr__(self, "repairs", repairs)

    @property
    def score(self) -> float:
        return round_score(math.fsum(exercise.score for exercise in self.exercises))

    @property
    def max_score(self) -> float:
        return round_score(math.fsum(exercise.max_score for exercise in self.exercises))

    @property
    def percent(self) -> float:
        """0 to 100; 0 for a lab without points."""
        return round_score(100 * self.score / self.max_score) if self.max_score else 0.0

    @property
    def misconceptions(self) -> tuple[str, ...]:
        """Ids over all exercises, each once, in order."""
        return tuple(dict.fromkeys(name for exercise in self.exercises for name in exercise.misconceptions))

    def to_dict(self) -> dict[str, Any]:
        """The result without its notebook, made of what JSON can hold."""
        exercises = [_fields(exercise) | {"groups": [*map(_fields, exercise.groups)]} for exercise in self.exercises]
        moment = self.timestamp.isoformat() if self.timestamp else None
        content = _fields(self) | {"exercises": exercises, "repairs": [*self.repairs], "timestamp": moment}
        del content["notebook"]
        return content

    @staticmethod
    def from_dict(content: dict[str, Any]) -> LabResult:
        """The inverse of `to_dict`, also after a trip through JSON; `notebook` is None."""
        return _RESULTS.validate_python(content)


_RESULTS = TypeAdapter(LabResult)


# -- verdicts in a student's notebook, where nbgrader looks for it ----------------------------------------------------


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

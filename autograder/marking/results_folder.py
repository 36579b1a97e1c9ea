"""The folder that an instructor reads: two tables and the students' pages, always as the gradebook has the marks."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.course.settings import Course, CourseError
from autograder.course.text import plain_cell, write_csv
from autograder.grade.gradebook import GradebookWriter, read_marks
from autograder.grade.marks import Mark
from autograder.grade.results import read_autograded
from autograder.pages.feedback import feedback_path, is_current, write_feedback
from autograder.read import PassedOver
from autograder.read.layouts import show_place

if TYPE_CHECKING:
    from autograder.grade.lab_grader import LabGrader  # slow to import, and few pages need it

RESULTS_COLUMNS = (
    *("student", "lab", "exercise", "score", "max_score", "status", "misconceptions", "seconds"),
    *("automatic", "version", "comment"),
)
GRADES_COLUMNS = (
    *("student", "lab", "score", "max_score", "percent", "state"),
    *("automatic", "version", "late"),
)
PASSED_OVER_COLUMNS = ("path", "reason", "lab")
VERSION_DIGITS = 8
Cases = Mapping[str, Mapping[str, tuple[str, ...]]]  # exercise -> group -> its cases, as text


def bring_up_to_date(course: Course, gradebook: GradebookWriter, folder: Path | None) -> list[Mark]:
    """Write the tables, and the pages of those whose mark has changed since, such as by hand; return all marks.

    Pages that are not in the folder are not made: another command graded those students into another folder.
    """
    for lab in gradebook.labs():
        gradebook.settle(lab)
    marks = gradebook.marks()
    if folder is None:
        return marks
    write_tables(folder, marks)
    hidden = HiddenInputs(course, gradebook)
    for mark in marks:
        page = feedback_path(folder / "feedback", mark.student, mark.lab)
        if page.exists() and not is_current(page, mark, is_open=hidden.is_open(mark.lab)):
            whole = mark.with_notebook(read_autograded(course, mark.student, mark.lab))
            write_feedback(course, whole, folder / "feedback", hidden=hidden.of(mark))
    return marks


def read_current_marks(course: Course, db_url: str, folder: Path | None) -> list[Mark]:
    """All marks of a gradebook, with `folder` brought up to date where there is one; none where no gradebook is.

    Raises:
        CourseError: the gradebook cannot be read or written.
    """
    if not read_marks(course, db_url):
        return []
    with GradebookWriter(db_url, course) as gradebook:
        return bring_up_to_date(course, gradebook, folder)


def write_tables(folder: Path, marks: Iterable[Mark]) -> None:
    """Write results.csv and grades.csv. `score` is what counts; what the grader gave stands in `automatic`."""
    marks = sorted(marks, key=lambda mark: (mark.student, mark.lab))
    write_csv(folder / "results.csv", RESULTS_COLUMNS, (row for mark in marks for row in _list_exercises(mark)))
    write_csv(folder / "grades.csv", GRADES_COLUMNS, map(_make_lab_row, marks))


def write_passed_over(table: Path, lab: str, looked_at: Iterable[Path], passed_over: Iterable[PassedOver]) -> None:
    """Write what was not graded: where it lies, why, and for which lab.

    Rows of other labs stay, and those of this lab that lie in none of the paths that were looked at now: an archive
    says nothing of another one.
    """
    roots = [plain_cell(show_place(str(path))) for path in looked_at]
    old = []
    if table.is_file():
        with table.open(encoding="utf-8", newline="") as file:
            rows = (tuple(row.get(column) or "" for column in PASSED_OVER_COLUMNS) for row in csv.DictReader(file))
            old = [row for row in rows if row[2] and not (row[2] == lab and _lies_in(row[0], roots))]
    new = [(plain_cell(passed.path), plain_cell(passed.reason), lab) for passed in passed_over]
    write_csv(table, PASSED_OVER_COLUMNS, dict.fromkeys([*old, *new]))


def _lies_in(place: str, roots: Iterable[str]) -> bool:
    return any(root == "." or place == root or place.startswith(f"{root}/") for root in roots)


def _list_exercises(mark: Mark) -> Iterable[tuple[str, ...]]:
    """The exercises that have a verdict, and the answers in words that are worth points or were marked."""
    for part in mark.parts:
        verdict = part.verdict
        has_row = verdict or part.max_score or part.by_hand is not None or part.comment
        if not has_row or (part.waits == "grader" and not verdict):
            continue
        yield (
            plain_cell(mark.student),
            mark.lab,
            part.name,
            _format(part.score),
            _format(part.max_score),
            verdict.status if verdict else "waits" if part.waits else "graded",
            ";".join(verdict.misconceptions) if verdict else "",
            f"{verdict.seconds if verdict else 0:.2f}",
            _format(part.automatic or 0.0),
            _shorten_version(mark),
            plain_cell(part.comment),
        )


def _make_lab_row(mark: Mark) -> tuple[str, ...]:
    return (
        plain_cell(mark.student),
        mark.lab,
        _format(mark.score),
        _format(mark.max_score),
        _format(mark.percent),
        mark.state,
        _format(mark.automatic),
        _shorten_version(mark),
        _format(mark.penalty),
    )


def _shorten_version(mark: Mark) -> str:
    """By which state of lab and grader the work was graded: equal in two rows that can be compared."""
    return mark.result.grader_version[:VERSION_DIGITS]


def _format(value: float) -> str:
    return f"{value:.2f}"


class HiddenInputs:
    """Says which labs' hidden cases may be shown, by `hidden_cases` in course.toml, and gives them.

    Args:
        course: the course.
        gradebook: knows the extensions that were given there.
        grader: of the lab that is being graded; of other labs, graders are made where a page needs them.
    """

    def __init__(self, course: Course, gradebook: GradebookWriter, grader: LabGrader | None = None):
        self._course, self._gradebook = course, gradebook
        self._graders: dict[str, LabGrader | None] = {grader.lab: grader} if grader is not None else {}
        self._open: dict[str, bool] = {}
        self._texts: dict[str, Cases] = {}

    def is_open(self, lab: str) -> bool:
        """Whether the lab was due, and the last extension for it is over, with the time of grace."""
        if lab not in self._open:
            due = self._course.lab(lab).due
            self._open[lab] = self._course.hidden_cases == "after due" and due is not None and self._is_over(lab, due)
        return self._open[lab]

    def _is_over(self, lab: str, due: datetime) -> bool:
        dates = [due, due + self._gradebook.longest_extension(lab)]
        dates += [later for _, what, later in self._course.lateness.extensions if what == lab]
        return datetime.now(UTC) > max(dates) + timedelta(minutes=self._course.lateness.grace_minutes)

    def of(self, mark: Mark) -> Cases | None:
        """The hidden cases of a mark's lab: None while they are not open, none where it was graded with others."""
        if not self.is_open(mark.lab):
            return None
        if mark.lab not in self._graders:
            from autograder.grade.lab_grader import LabGrader

            try:
                self._graders[mark.lab] = LabGrader(self._course, mark.lab)
            except CourseError:  # the lab was withdrawn, or is not whole: its pages do without
                self._graders[mark.lab] = None
        grader = self._graders[mark.lab]
        if grader is None or grader.version != mark.result.grader_version:
            return {}
        if mark.lab not in self._texts:
            self._texts[mark.lab] = _describe_inputs(grader)
        return self._texts[mark.lab]


def _describe_inputs(grader: LabGrader) -> Cases:
    """The inputs of each exercise's hidden cases by group, as text."""
    from autograder.grade.explaining import show_value

    texts: dict[str, dict[str, tuple[str, ...]]] = {}
    for exercise, group, inputs in grader.hidden_inputs():
        shown_ones = {name: value for name, value in inputs.items() if not name.startswith("cotangent.")}
        text = "\n".join(f"{name}: {show_value(value)}" for name, value in shown_ones.items())
        if text:
            of_exercise = texts.setdefault(exercise, {})
            of_exercise[group] = (*of_exercise.get(group, ()), text)
    return texts

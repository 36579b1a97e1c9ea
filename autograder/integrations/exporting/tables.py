"""The tables that platforms import: Canvas's gradebook, Moodle's grading worksheet, Moodle's gradebook, plain CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from autograder.course.roster import Roster
from autograder.course.settings import Course, CourseError
from autograder.course.text import did_you_mean, plain_cell
from autograder.grade.marks import Mark
from autograder.grade.results import round_score

Row = Mapping[str, str]
Marks = Mapping[str, Mapping[str, Mark]]  # lab -> student -> mark

_CANVAS_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
_ASSIGNMENT_ID = re.compile(r"(?<!\s)\s*\(\d+\)$")


@dataclass
class Table:
    """A table to be written, and sentences on what an instructor may not expect of it."""

    columns: Sequence[str]
    rows: list[dict[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add_columns(self, *columns: str) -> None:
        """Put these columns behind the others; a roster that is such a table itself has them already."""
        self.columns = [*self.columns, *(column for column in columns if column not in self.columns)]

    def as_csv(self) -> bytes:
        """The table as CSV in UTF-8, with a line of headings."""
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, self.columns, extrasaction="ignore", restval="", lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return text.getvalue().encode("utf-8")


@dataclass(frozen=True)
class Cell:
    """What goes into the table for a student: the mark, or None, and what is written where there is none."""

    zeros: bool = False
    excused: str = ""

    def text(self, mark: Mark | None, most: float | None = None) -> str:
        """The score as text, scaled to `most` points where the platform has another maximum."""
        if mark is None:
            return "0" if self.zeros else ""
        if mark.excused:
            return self.excused
        if mark.waits:
            return ""
        score = mark.score
        if most is not None and mark.max_score and most != mark.max_score:
            score = round_score(mark.score * most / mark.max_score)
        return f"{score:g}"


def make_canvas_table(
    course: Course, roster: Roster, marks: Marks, people: Mapping[str, Row], *, headings: Mapping[str, str], cell: Cell
) -> Table:
    """Canvas's gradebook: who it is, a row of points possible, and a column for each lab.

    `people` has the roster's row of each student. A lab's column is the one in `headings`, else the roster's column
    with the lab's title or name, as Canvas exports it with the assignment's number behind.

    Raises:
        CourseError: the roster is not what Canvas exports.
    """
    missing = [name for name in ("Student", "ID") if not roster.column(name)]
    if missing:
        raise CourseError(
            f"{roster.path}: has no column {missing[0]!r}; take the file that Canvas exports: Grades › Export"
        )
    cell = replace(cell, excused="EX")  # as one types it into Canvas's gradebook
    names = [column for name in _CANVAS_COLUMNS if (column := roster.column(name))]
    table = Table([*names])
    points: dict[str, str] = {names[0]: "    Points Possible"}
    possible = next((row for row in roster.rows if row[names[0]].strip() == "Points Possible"), {})
    persons = [row for row in roster.rows if roster.number(row)]
    filled: list[dict[str, str]] = [{name: row[name] for name in names} for row in persons]
    for lab, of_lab in marks.items():
        column = headings.get(lab) or _find_assignment(course, roster, lab) or course.lab(lab).title
        if column not in roster.columns:
            table.notes.append(
                f"{roster.path} has no column {column!r} for {lab}: "
                f"Canvas will offer to make an assignment {column!r}; "
                f"--column {lab}='TITLE (NUMBER)' names one that is there{did_you_mean(column, roster.columns)}"
            )
        own = next(iter(of_lab.values())).max_score
        most = _read_number(possible.get(column, "")) or own
        if most != own:
            table.notes.append(f"{lab}: {own:g} points are scaled to the {most:g} that Canvas has for {column!r}")
        table.add_columns(column)
        points[column] = f"{most:g}"
        _fill(filled, persons, column, of_lab, people, partial(cell.text, most=most))
    table.rows = [points, *filled]
    return table


def make_moodle_table(
    course: Course, roster: Roster, marks: Marks, people: Mapping[str, Row], *, headings: Mapping[str, str], cell: Cell
) -> Table:
    """Moodle's grading worksheet with the grades filled in; from any other roster, a table for Moodle's grade import.

    Raises:
        CourseError: a worksheet is of one assignment and has one column of grades, and several labs, or another column,
            are named.
    """
    grade, most_column = roster.column("Grade"), roster.column("Maximum grade")
    if roster.column("Identifier") is None or grade is None:
        return _make_plain_columns(course, roster, marks, people, headings, cell)
    if len(marks) != 1:
        raise CourseError(f"{roster.path}: is the grading worksheet of one assignment; name one lab")
    ((lab, of_lab),) = marks.items()
    if headings.get(lab, grade) != grade:
        raise CourseError(f"{roster.path}: is a worksheet with one column for marks, {grade!r}; leave --column out")
    table = Table(roster.columns)
    table.rows = rows = [dict(row) for row in roster.rows]
    texts = {row[most_column].strip() for row in rows if most_column and row[most_column].strip()}
    comma = any("," in text for text in texts)
    own = next(iter(of_lab.values())).max_score
    most = _read_number(next(iter(texts))) if len(texts) == 1 else None
    if most and most != own:
        table.notes.append(f"{lab}: {own:g} points are scaled to the {most:g} that Moodle has")

    def text(mark: Mark | None) -> str:
        written = cell.text(mark, most)
        return written.replace(".", ",") if comma else written

    _fill(rows, roster.rows, grade, of_lab, people, text)
    return table


def make_plain_table(marks: Marks, roster: Roster | None, people: Mapping[str, Row], cell: Cell) -> Table:
    """All that the gradebook says: for each lab score, maximum, points lost by lateness, and whether a mark waits.

    No text in it is a formula to a spreadsheet: names come from file names and from accounts of students.
    """
    students = sorted({student for of_lab in marks.values() for student in of_lab})
    rows = [dict(row) for row in roster.rows] if roster else [{"student": student} for student in students]
    table = Table(roster.columns if roster else ("student",), rows)
    of_rows: Sequence[Row] = roster.rows if roster else rows
    if not roster:
        people = {row["student"]: row for row in rows}
    for lab, of_lab in marks.items():
        columns = {
            lab: cell.text,
            f"{lab} of": lambda mark: f"{mark.max_score:g}" if mark and mark.parts else "",
            f"{lab} lost by lateness": lambda mark: f"{mark.penalty:g}" if mark else "",
            f"{lab} state": lambda mark: _describe_state(mark),
        }
        for column, text in columns.items():
            for row in rows:
                row.pop(column, None)  # where an earlier export is the roster
            _fill(rows, of_rows, column, of_lab, people, text)
        table.add_columns(*columns)
    remove_formulas(rows)
    return table


def remove_formulas(rows: Sequence[dict[str, str]]) -> None:
    """Change every text that a spreadsheet would compute; numbers stay."""
    for row in rows:
        row.update(
            {column: text if _read_number(text) is not None else plain_cell(text) for column, text in row.items()}
        )


def _describe_state(mark: Mark | None) -> str:
    if mark is None:
        return "nothing handed in"
    return mark.state if mark.state in ("excused", "unreadable") else "waits" if mark.waits else "graded"


def _make_plain_columns(
    course: Course, roster: Roster, marks: Marks, people: Mapping[str, Row], headings: Mapping[str, str], cell: Cell
) -> Table:
    rows = [dict(row) for row in roster.rows]
    table = Table(roster.columns, rows)
    for lab, of_lab in marks.items():
        column = headings.get(lab) or course.lab(lab).title
        if lab in headings and column not in roster.columns:
            table.notes.append(
                f"{roster.path} has no column {column!r}: it stands behind the others"
                f"{did_you_mean(column, roster.columns)}"
            )
        _fill(rows, roster.rows, column, of_lab, people, cell.text)
        table.add_columns(column)
    table.notes.append("for Grades › Import › CSV file; map the columns to your grade items on Moodle's next page")
    return table


def _fill(
    rows: Sequence[dict[str, str]],
    of_rows: Sequence[Row],
    column: str,
    of_lab: Mapping[str, Mark],
    people: Mapping[str, Row],
    text: Callable[[Mark | None], str],
) -> None:
    """Write `text` of each person's mark, or of None, into a column of the rows that were made from `of_rows`.

    A mark that waits empties the cell, whatever stood there; who has no mark keeps what the platform has.
    """
    by_row = {id(people[student]): mark for student, mark in of_lab.items() if student in people}
    for row, source in zip(rows, of_rows, strict=True):
        mark = by_row.get(id(source))
        written = text(mark)
        if mark is not None or written or column not in row:
            row[column] = written


def _find_assignment(course: Course, roster: Roster, lab: str) -> str | None:
    wanted = {lab.casefold(), course.lab(lab).title.casefold()}
    found = [column for column in roster.columns if _ASSIGNMENT_ID.sub("", column).strip().casefold() in wanted]
    if len(found) > 1:
        raise CourseError(f"{roster.path}: {len(found)} columns are named like {lab}; choose one with --column")
    return found[0] if found else None


def _read_number(text: str) -> float | None:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None

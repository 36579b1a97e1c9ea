"""The tables behind the class report, as CSV: what the page shows or draws can be computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.course.files import plain_cell, write_csv
from autograder.pages.class_numbers import Standing, hours_after, quartiles

if TYPE_CHECKING:
    from autograder.pages.class_report import LabPart

NAMES = ("labs", "items", "groups", "outcomes", "mistakes", "who_made_them", "submissions", "students")


def write_tables(folder: Path, labs: Sequence[LabPart], students: Sequence[Standing]) -> None:
    """Write one table for each of `NAMES` into `folder`.

    Percents are 0 to 100, shares 0 to 1; hours count from the due date and are below 0 before it. A number that is not
    known is an empty cell.
    """

    def write(name: str, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
        write_csv(folder / f"{name}.csv", columns, rows)

    write(
        "labs",
        ("lab", "submissions", "mean", "lower_quartile", "median", "upper_quartile"),
        [(lab.name, str(lab.submissions), *map(_number, (lab.mean, *quartiles(lab.percents)))) for lab in labs],
    )
    items = [item for lab in labs for item in lab.items]
    write(
        "items",
        (
            *("lab", "exercise", "students", "difficulty", "discrimination"),
            *("not_done", "last_year", "change_low", "change_high"),
        ),
        [
            (
                item.lab,
                item.exercise,
                str(item.students),
                _number(item.difficulty),
                _number(item.discrimination),
                str(item.not_done),
                _number(item.last_year),
                *map(_number, item.change or (None, None)),
            )
            for item in items
        ],
    )
    write(
        "groups",
        ("lab", "exercise", "group", "share_passing"),
        [
            (item.lab, item.exercise, plain_cell(title), _number(share))
            for item in items
            for title, share in item.groups
        ],
    )
    write(
        "outcomes",
        ("lab", "exercise", "full_marks", "some_points", "no_points", "not_done"),
        [(lab.name, name, *map(str, counts)) for lab in labs for name, counts in lab.outcomes.items()],
    )
    made = [mistake for lab in labs for mistake in lab.mistakes]
    write(
        "mistakes",
        ("lab", "exercise", "mistake", "students", "sentence"),
        [
            (mistake.lab, mistake.exercise, mistake.id, str(len(mistake.students)), plain_cell(mistake.sentence))
            for mistake in made
        ],
    )
    write(
        "who_made_them",
        ("lab", "exercise", "mistake", "student"),
        [
            (mistake.lab, mistake.exercise, mistake.id, plain_cell(student))
            for mistake in made
            for student in mistake.students
        ],
    )
    write(
        "submissions",
        ("student", "lab", "percent", "handed_in", "hours_after_due", "state"),
        [
            (
                plain_cell(result.student),
                lab.name,
                f"{result.percent:g}",
                result.timestamp.isoformat() if result.timestamp else "",
                _number(hours_after(lab.due, result)),
                result.state,
            )
            for lab in labs
            for result in lab.results
        ],
    )
    write(
        "students",
        ("student", *(lab.name for lab in labs), "may_need_help"),
        [
            (
                plain_cell(student.student),
                *(f"{student.percents[lab.name]:g}" if lab.name in student.percents else "" for lab in labs),
                plain_cell(", ".join(student.concerns)),
            )
            for student in students
        ],
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"

"""One page on the whole class, and its tables as CSV: marks, hard exercises, common mistakes, and who may need help."""

from __future__ import annotations

import base64
import hashlib
import statistics
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from autograder.course.settings import Course, CourseLab
from autograder.course.text import plain_cell, write_atomically, write_csv
from autograder.declare.declaration import declared_exercises
from autograder.grade.database import describe_other_cases
from autograder.grade.marks import Mark, describe_waiting
from autograder.pages import class_figures
from autograder.pages.class_numbers import (
    LEAST_FOR_CORRELATION,
    MistakeCount,
    Standing,
    analyse,
    compute_quartiles,
    count_hours,
    count_mistakes,
    count_outcomes,
    find_standings,
    read_last_year,
)
from autograder.pages.feedback import read_source, render

EXAMPLES = 3  # pages of students that are linked for each mistake


def write_report(
    course: Course,
    results: Sequence[Mark],
    target: Path,
    *,
    last_year: Path | None = None,
    enrolled: Iterable[str] = (),
    now: datetime | None = None,
) -> None:
    """Write the page for all recorded results, one part for each lab that has any, and its tables as CSV beside it.

    Args:
        course: the course.
        results: what the gradebook holds, as it counts.
        target: the page. The tables go into a folder of its name without the ending. Links to
            examples expect ``feedback/`` beside the page.
        last_year: a `results.csv` to compare with.
        enrolled: students who belong to the class, also those who have handed in nothing.
        now: the time, aware; labs that were due within two weeks before it count when help may be needed.

    Raises:
        CourseError: `last_year` cannot be read.
    """
    before = read_last_year(last_year)
    by_lab = [(lab, [result for result in results if result.lab == lab.name]) for lab in course.labs]
    labs = [LabPart(course, lab, of_lab, before) for lab, of_lab in by_lab if of_lab]
    students = find_standings(course, results, now or datetime.now(UTC), enrolled)
    script = read_source("class_report.js")
    folder = target.with_suffix("")
    tables = write_tables(folder, labs, students)
    page = render(
        "class_report.html.j2",
        course=course,
        labs=labs,
        students=students,
        concerned=[student for student in students if student.concerns],
        progress=class_figures.draw_progress({lab.name: lab.percents for lab in labs}),
        least=LEAST_FOR_CORRELATION,
        compared=last_year is not None,
        waiting=[*describe_waiting(results), *describe_other_cases(results)],
        tables=folder.name,
        names=tables,
        script=script,
        script_hash="sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    write_atomically(target, page)


class LabPart:
    """What the page shows of one lab."""

    def __init__(
        self,
        course: Course,
        lab: CourseLab,
        results: Sequence[Mark],
        last_year: Mapping[tuple[str, str], Sequence[float]],
    ):
        sentences = {
            (name, id): sentence
            for name, exercise in declared_exercises(course, lab.name).items()
            for id, sentence in exercise.spec.sentences.items()
        }
        self.name, self.title = lab.name, lab.title
        self.submissions = len(results)
        self.percents = [mark.percent for mark in results if not mark.excused] or [0.0]
        self.mean, self.median = statistics.fmean(self.percents), statistics.median(self.percents)
        self.unreadable = [result.student for result in results if result.state == "unreadable"]
        self.due, self.results = lab.due, results
        self.outcomes = count_outcomes(results)
        self.items = analyse(results, last_year)
        self.mistakes = count_mistakes(results, sentences)
        self.marks = class_figures.draw_marks(self.percents)
        self.exercises = class_figures.draw_exercises(self.outcomes)
        self.time = class_figures.draw_time_and_mark(results, lab.due)

    def examples(self, mistake: MistakeCount) -> list[tuple[str, str]]:
        """The first students who made a mistake, each with the place in their feedback."""
        return [
            (student, f"feedback/{quote(student)}/{quote(self.name)}.html#{quote(mistake.exercise)}")
            for student in mistake.students[:EXAMPLES]
        ]


def write_tables(folder: Path, labs: Sequence[LabPart], students: Sequence[Standing]) -> list[str]:
    """Write the tables of the report into `folder`; return their names.

    Percents are 0 to 100, shares 0 to 1; hours count from the due date and are below 0 before it. A number that is not
    known is an empty cell.
    """
    items = [item for lab in labs for item in lab.items]
    made = [mistake for lab in labs for mistake in lab.mistakes]
    tables: dict[str, tuple[str, list[tuple[str, ...]]]] = {
        "labs": (
            "lab submissions mean lower_quartile median upper_quartile",
            [
                (lab.name, str(lab.submissions), *map(_format, (lab.mean, *compute_quartiles(lab.percents))))
                for lab in labs
            ],
        ),
        "items": (
            "lab exercise students difficulty discrimination not_done last_year change_low change_high",
            [
                (
                    *(item.lab, item.exercise, str(item.students), _format(item.difficulty)),
                    *(_format(item.discrimination), str(item.not_done), _format(item.last_year)),
                    *map(_format, item.change or (None, None)),
                )
                for item in items
            ],
        ),
        "groups": (
            "lab exercise group share_passing",
            [
                (item.lab, item.exercise, plain_cell(title), _format(share))
                for item in items
                for title, share in item.groups
            ],
        ),
        "outcomes": (
            "lab exercise full_marks some_points no_points not_done",
            [(lab.name, name, *map(str, counts)) for lab in labs for name, counts in lab.outcomes.items()],
        ),
        "mistakes": (
            "lab exercise mistake students sentence",
            [(each.lab, each.exercise, each.id, str(len(each.students)), plain_cell(each.sentence)) for each in made],
        ),
        "who_made_them": (
            "lab exercise mistake student",
            [(each.lab, each.exercise, each.id, plain_cell(student)) for each in made for student in each.students],
        ),
        "submissions": (
            "student lab percent handed_in hours_after_due state",
            [
                (
                    *(plain_cell(mark.student), lab.name, f"{mark.percent:g}"),
                    mark.timestamp.isoformat() if mark.timestamp else "",
                    *(_format(count_hours(lab.due, mark)), mark.state),
                )
                for lab in labs
                for mark in lab.results
            ],
        ),
        "students": (
            " ".join(["student", *(lab.name for lab in labs), "may_need_help"]),
            [
                (
                    plain_cell(student.student),
                    *(f"{student.percents[lab.name]:g}" if lab.name in student.percents else "" for lab in labs),
                    plain_cell(", ".join(student.concerns)),
                )
                for student in students
            ],
        ),
    }
    for name, (columns, rows) in tables.items():
        write_csv(folder / f"{name}.csv", tuple(columns.split()), rows)
    return list(tables)


def _format(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"

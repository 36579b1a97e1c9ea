"""The table of a term: for each student every lab's percent and what it counts, and the weighted mean of the labs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from autograder.course.roster import Roster
from autograder.course.settings import Course, CourseError
from autograder.grade.marks import Mark
from autograder.grade.results import round_score
from autograder.integrations.exporting.tables import Marks, Row, Table, remove_formulas

SUMS = ("weights", "weighted sum", "term %")
NOT_DUE = "not due yet"


@dataclass(frozen=True)
class TermRules:
    """How the labs of a term become one number: their weights, how many are dropped, and when it is asked for."""

    weights: Mapping[str, float]
    dropped: int
    now: datetime


@dataclass(frozen=True)
class _Share:
    """What one lab is for one student: the percent, None where there is none; and the weight, or why it has none."""

    percent: float | None
    weight: float = 0.0
    because: str = ""


def read_weights(course: Course, labs: Sequence[str], given: Sequence[str]) -> dict[str, float]:
    """The weights of some labs: those in course.toml, and in their place the `given` ones, written LAB=NUMBER.

    Raises:
        CourseError: one is no number of at least 0, names a lab that is not there or not in the table, or all are 0.
    """
    weights = {lab: course.lab(lab).weight for lab in labs}
    for weight in given:
        lab, _, number = weight.partition("=")
        if course.lab(lab).name not in weights:
            raise CourseError(f"--weight {weight}: {lab} is not in this table; the labs in it are {', '.join(labs)}")
        try:
            weights[lab] = float(number)
        except ValueError:
            weights[lab] = math.nan
        if not 0 <= weights[lab] < math.inf:
            raise CourseError(f"--weight {weight}: a weight is a number of at least 0; write --weight {lab}=2")
    if not any(weights.values()):
        raise CourseError("every lab in this table has the weight 0; give one of them another: --weight LAB=1")
    return weights


def make_term_table(
    course: Course, marks: Marks, roster: Roster | None, people: Mapping[str, Row], rules: TermRules
) -> Table:
    """One row for each student, or for each row of the roster.

    A lab that was not handed in is 0 percent, once it is due for the student. An excused lab, and one that is not due
    yet, is left out of the mean. Then the labs with the lowest percents are dropped, of equal ones the heaviest first;
    one lab always stays. While a mark waits, the mean is empty.
    """
    whose: list[tuple[dict[str, str], str]] = []
    if roster is None:
        students = sorted({student for of_lab in marks.values() for student in of_lab})
        whose = [({"student": student}, student) for student in students]
    else:
        of_row = _find_with_extensions(course, roster) | {id(row): student for student, row in people.items()}
        whose = [(dict(row), of_row.get(id(row), "")) for row in roster.rows if roster.is_person(row)]
    table = Table([*(roster.columns if roster else ("student",))])
    table.add_columns(*(f"{lab} {what}" for lab in marks for what in ("%", "counts")), *SUMS)
    for row, student in whose:
        shares = {lab: _make_share(course, lab, student, of_lab.get(student), rules) for lab, of_lab in marks.items()}
        table.rows.append(row | _write_texts(_drop(shares, rules.dropped)))
    remove_formulas(table.rows)
    zero = [lab for lab, weight in rules.weights.items() if not weight]
    table.notes += [f"{lab} has the weight 0 and does not count" for lab in zero]
    if waiting := sum(not row["term %"] and "waits" in row.values() for row in table.rows):
        table.notes.append(
            f"{waiting} of {len(table.rows)} students have no term % yet, because a mark of theirs waits"
        )
    return table


def _find_with_extensions(course: Course, roster: Roster) -> dict[int, str]:
    """The students with an extension by their row, who may have handed in nothing at all yet."""
    students = dict.fromkeys(student for student, _, _ in course.lateness.extensions)
    return {id(roster.rows[place]): student for student in students for place in roster.places(student)}


def _make_share(course: Course, lab: str, student: str, mark: Mark | None, rules: TermRules) -> _Share:
    weight = rules.weights[lab]
    if mark is not None:
        if mark.excused:
            return _Share(None, because="excused")
        return _Share(None, because="waits") if mark.waits else _Share(mark.percent, weight)
    due = course.lateness.extension(student, lab) or course.lab(lab).due
    return _Share(None, because=NOT_DUE) if due is not None and rules.now <= due else _Share(0.0, weight)


def _drop(shares: Mapping[str, _Share], number: int) -> dict[str, _Share]:
    """The shares, those with the lowest percents dropped; all of them while one waits, which could be among those."""
    if any(share.because == "waits" for share in shares.values()):
        return dict(shares)
    counting = [lab for lab, share in shares.items() if share.weight and share.percent is not None]
    counting.sort(key=lambda lab: (shares[lab].percent, -shares[lab].weight))
    dropped = counting[: max(min(number, len(counting) - 1), 0)]
    return {lab: _Share(share.percent, because="dropped") if lab in dropped else share for lab, share in shares.items()}


def _write_texts(shares: Mapping[str, _Share]) -> dict[str, str]:
    texts = {}
    for lab, share in shares.items():
        texts[f"{lab} %"] = "" if share.percent is None else f"{share.percent:.2f}"
        texts[f"{lab} counts"] = share.because or f"{share.weight:g}"
    weights = math.fsum(share.weight for share in shares.values())
    total = math.fsum(share.weight * (share.percent or 0.0) for share in shares.values())
    waits = any(share.because == "waits" for share in shares.values())
    mean = f"{round_score(total / weights):.2f}" if weights and not waits else ""
    return texts | dict(zip(SUMS, (f"{weights:g}", f"{round_score(total):.2f}", mean), strict=True))

"""What counts: one calculation of a mark from what the grader found, what a person gave, lateness and excuses.

The student's page, the tables, the exports, the class report and the terminal all read it. nbgrader's own pages show
the same: they read the rows that it is calculated from.
"""

from __future__ import annotations

import getpass
import math
import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

from nbformat import NotebookNode
from nbgrader import api
from sqlalchemy import Connection, Row, event, insert, inspect, select, update
from sqlalchemy.orm import Session

from autograder.course.labs import read_released_names
from autograder.course.settings import Course, CourseError
from autograder.grade.database import MarkChange, Recorded, read_states
from autograder.grade.nbgrader_rows import LabDates, LatePenalties, join_submission, read_cell_rows
from autograder.grade.results import ExerciseResult, GroupResult, LabResult, cut, round_score

Wait = Literal["", "person", "second look", "grader"]


@dataclass(frozen=True, slots=True)
class PartMark:
    """What one graded cell of a lab is worth.

    Attributes:
        name: the graded cell, which is the exercise.
        max_score: its points in the lab as it is released now.
        automatic: what the grader gave; None where it gave nothing, as for an answer in words.
        by_hand: what a person gave in its place, extra credit included; None where nobody did.
        comment: what a person wrote to the student.
        waits: for whom the mark waits: a "person" who marks the answer, a "second look" because the answer changed
            after a person had marked it, or the "grader" because the lab got the exercise, or its points, since.
        verdict: what the grader found; None for an answer that it does not grade.
    """

    name: str
    max_score: float
    automatic: float | None
    by_hand: float | None = None
    comment: str = ""
    waits: Wait = ""
    verdict: ExerciseResult | None = None

    @property
    def score(self) -> float:
        return round_score(self.by_hand if self.by_hand is not None else self.automatic or 0.0)


@dataclass(frozen=True, slots=True)
class ExerciseMark(PartMark):
    """What an exercise is worth that the grader has a verdict on."""

    verdict: ExerciseResult = field(kw_only=True)

    @property
    def exercise(self) -> str:
        return self.name

    @property
    def passed(self) -> bool:
        """Whether all points were earned; an exercise without points passes when all its groups do."""
        return self.score >= self.max_score if self.max_score > 0 else self.verdict.passed

    @property
    def status(self) -> str:
        return self.verdict.status

    @property
    def groups(self) -> tuple[GroupResult, ...]:
        return self.verdict.groups

    @property
    def misconceptions(self) -> tuple[str, ...]:
        return self.verdict.misconceptions


@dataclass(frozen=True)
class Mark:
    """What one student has earned in one lab.

    Attributes:
        result: the verdict of the grader.
        parts: the graded cells, in the notebook's order.
        penalty: the points that lateness costs.
        seconds_late: after the student's due date, the extension included; None where no time is known, or none is due.
        excused: course.toml excuses the student from this lab.
        other_cases: the exercises that were graded with other hidden cases than are used now.
        other_grader: whether it was graded with another state of lab or grader, and nobody knows what differs.
    """

    result: LabResult
    parts: tuple[PartMark, ...]
    penalty: float = 0.0
    seconds_late: float | None = None
    excused: bool = False
    other_cases: tuple[str, ...] = ()
    other_grader: bool = False

    @property
    def student(self) -> str:
        return self.result.student

    @property
    def lab(self) -> str:
        return self.result.lab

    @property
    def exercises(self) -> tuple[ExerciseMark, ...]:
        """The parts that the grader has a verdict on."""
        return tuple(part for part in self.parts if isinstance(part, ExerciseMark))

    @property
    def earned(self) -> float:
        """The points before lateness."""
        return round_score(math.fsum(part.score for part in self.parts))

    @property
    def score(self) -> float:
        """What counts: the points less what lateness costs."""
        return round_score(max(self.earned - self.penalty, 0.0))

    @property
    def automatic(self) -> float:
        """What the grader gave, before lateness and without anything by hand."""
        return round_score(math.fsum(part.automatic or 0.0 for part in self.parts))

    @property
    def max_score(self) -> float:
        return round_score(math.fsum(part.max_score for part in self.parts))

    @property
    def percent(self) -> float:
        """0 to 100, more with extra credit; 0 for a lab without points."""
        return round_score(100 * self.score / self.max_score) if self.max_score else 0.0

    @property
    def waits(self) -> bool:
        """Whether some mark is still to come, so that the score is not final."""
        return any(part.waits == "grader" or (part.waits and part.max_score) for part in self.parts)

    def waiting_for(self, whom: Wait) -> tuple[str, ...]:
        """The names of the parts that wait for a person, a second look, or the grader."""
        return tuple(part.name for part in self.parts if part.waits == whom)

    @property
    def state(self) -> str:
        """ "graded", "needs_manual_grade", "grade_again", "excused", or why there was nothing to grade."""
        if self.excused:
            return "excused"
        if self.result.state not in ("graded", "needs_manual_grade"):
            return self.result.state
        if self.waiting_for("grader"):
            return "grade_again"
        return "needs_manual_grade" if self.waits else "graded"

    @property
    def reason(self) -> str:
        return self.result.reason

    @property
    def timestamp(self) -> datetime | None:
        return self.result.timestamp

    @property
    def misconceptions(self) -> tuple[str, ...]:
        return self.result.misconceptions

    def with_notebook(self, notebook: NotebookNode | None) -> Mark:
        """The same mark with another notebook behind it, or with none."""
        return replace(self, result=replace(self.result, notebook=notebook))


def make_mark(result: LabResult, penalty: float = 0.0) -> Mark:
    """The mark of a verdict that nothing by hand belongs to, such as an attempt that does not count."""
    parts = tuple(
        ExerciseMark(exercise.exercise, exercise.max_score, exercise.score, verdict=exercise)
        for exercise in result.exercises
    )
    return Mark(result, parts, min(penalty, result.score))


def compute_by_hand(manual: float | None, extra: float | None, automatic: float | None) -> float | None:
    """The points that a person gave, extra credit included; None where nobody gave any."""
    if manual is None and not extra:
        return None
    return round_score((manual if manual is not None else automatic or 0.0) + (extra or 0.0))


class MarkReader:
    """Calculates marks of a course from what a gradebook holds."""

    def __init__(self, course: Course):
        self._course = course
        self._late = LatePenalties(course)

    def count_lost(self, result: LabResult, connection: Connection) -> float:
        """The points that a verdict loses because it came late, whether or not it is recorded."""
        handed_in = api.SubmittedAssignment
        own = (handed_in.assignment_id == api.Assignment.id) & (handed_in.student_id == result.student)
        query = select(api.Assignment.duedate, handed_in.extension).outerjoin(handed_in, own)
        due, extension = connection.execute(query.where(api.Assignment.name == result.lab)).first() or (None, None)
        dates = LabDates(self._course, result.lab, connection)
        seconds = dates.seconds_late(result.student, result.timestamp, due, extension)
        return round_score(self._late.penalty(result.student, result.score, seconds or 0.0))

    def read(
        self, connection: Connection, lab: str | None = None, students: Collection[str] | None = None
    ) -> list[Mark]:
        """The marks of a lab, or of all labs of the course, by student and lab; of the named students, if any are."""
        labs = [lab] if lab is not None else [lab.name for lab in self._course.labs]
        marks = (mark for name in labs for mark in self._read_lab(connection, name, students))
        return sorted(marks, key=lambda mark: (mark.student, mark.lab))

    def _read_lab(self, connection: Connection, lab: str, students: Collection[str] | None) -> Iterator[Mark]:
        assignment = connection.execute(select(api.Assignment.id, api.Assignment.duedate).filter_by(name=lab)).first()
        if assignment is None:
            return
        cells, order = _read_cells(connection, assignment.id), self._order(lab)
        handed_in = api.SubmittedAssignment
        query = select(handed_in.student_id, handed_in.timestamp, handed_in.extension, Recorded.result)
        query = query.outerjoin(Recorded, (Recorded.student == handed_in.student_id) & (Recorded.lab == lab))
        query = query.where(handed_in.assignment_id == assignment.id)
        query = query.where(handed_in.student_id.in_(students)) if students is not None else query
        dates, states = LabDates(self._course, lab, connection), read_states(connection, lab)
        versions = {*connection.scalars(select(Recorded.grader_version).where(Recorded.lab == lab).distinct())}
        grades, comments = (read_cell_rows(connection, lab, kind, students) for kind in (api.Grade, api.Comment))
        for student, timestamp, extension, recorded in connection.execute(query).all():
            result = recorded or LabResult(student, lab, ())
            verdicts = {exercise.exercise: exercise for exercise in result.exercises}
            written = {row.name: row.manual_comment for row in comments[student] if row.manual_comment}
            given = {row.name: row for row in grades[student]}
            names = [name for name in dict.fromkeys([*order, *verdicts, *cells]) if name in cells]
            came = timestamp.replace(tzinfo=UTC) if timestamp is not None else result.timestamp
            seconds = dates.seconds_late(student, came, assignment.duedate, extension)
            mark = Mark(
                replace(result, timestamp=came),
                tuple(_make_part(name, cells[name], verdicts.get(name), given.get(name), written) for name in names),
                seconds_late=seconds,
                excused=self._course.lateness.is_excused(student, lab),
                other_cases=states.find_others(result.grader_version, verdicts),
                other_grader=states.may_differ(result.grader_version, versions),
            )
            yield replace(mark, penalty=round_score(self._late.penalty(student, mark.earned, seconds or 0.0)))

    def _order(self, lab: str) -> list[str]:
        with suppress(CourseError):  # a lab that was withdrawn keeps its marks
            return [*read_released_names(self._course, lab)]
        return []


def _read_cells(connection: Connection, assignment_id: str) -> dict[str, tuple[float, bool]]:
    """The graded cells of a lab by name: the points in the gradebook, and whether only a person can mark it."""
    in_lab = select(api.Notebook.id).where(api.Notebook.assignment_id == assignment_id)

    def ask(kind: Any, *columns: Any) -> Sequence[Row]:
        return connection.execute(select(kind.name, *columns).where(kind.notebook_id.in_(in_lab))).all()

    answers = {name for (name,) in ask(api.SolutionCell)}
    cells = {name: (most, most > 0) for name, most in ask(api.TaskCell, api.TaskCell.max_score)}
    for name, most, kind in ask(api.GradeCell, api.GradeCell.max_score, api.GradeCell.cell_type):
        cells[name] = most, name in answers or kind != "code"
    return cells


def _make_part(
    name: str, cell: tuple[float, bool], verdict: ExerciseResult | None, row: Row | None, comments: Mapping[str, str]
) -> PartMark:
    """What a cell is worth, by the verdict on it, its grade in nbgrader, and what a person wrote to the cells."""
    most, is_in_words = cell
    by_hand = compute_by_hand(row.manual_score, row.extra_credit, row.auto_score) if row is not None else None
    automatic = row.auto_score if row is not None else verdict.score if verdict else None
    waits: Wait = ""
    if row is not None and row.manual_score is not None:
        waits = "second look" if row.needs_manual_grade else ""
    elif is_in_words:
        waits = "person" if row is not None and row.needs_manual_grade else ""
    elif verdict is None or verdict.max_score != most or automatic is None:
        waits = "grader"
    comment = "\n".join(comments[of_cell] for of_cell in (name, f"{name}-code") if of_cell in comments)
    if verdict is not None and not is_in_words:
        return ExerciseMark(name, most, automatic, by_hand, comment, waits, verdict=verdict)
    return PartMark(name, most, automatic, by_hand, comment, waits)


def describe_waiting(marks: Iterable[Mark]) -> list[str]:
    """For each lab, what has to be done before its marks are whole; nothing where they are."""
    by_lab: dict[str, list[Mark]] = defaultdict(list)
    for mark in marks:
        by_lab[mark.lab].append(mark)
    sentences = []
    for lab, of_lab in by_lab.items():
        behind: dict[str, int] = defaultdict(int)
        for mark in of_lab:
            for name in mark.waiting_for("grader"):
                behind[name] += 1
        sentences += [
            f"{lab}: {_count(number)} no mark for {name}, which the lab got or changed after they were graded: "
            f"grade again, with course grade {lab} PATH"
            for name, number in behind.items()
        ]
        if number := sum(bool(mark.waiting_for("person")) for mark in of_lab):
            sentences.append(
                f"{lab}: {_count(number)} an answer in words without a mark: course mark {lab} --answers lists "
                "them, and says what to type; Formgrader marks them as well"
            )
        for mark in of_lab:
            sentences += [
                f"{lab}: {mark.student} has changed the answer to {name} after you set its mark: look again, and "
                f'set it anew with course mark {lab} {mark.student} {name} POINTS --because "…"'
                for name in mark.waiting_for("second look")
            ]
    return sentences


def _count(number: int) -> str:
    return "1 submission has" if number == 1 else f"{number} submissions have"


# -- marks and comments that a person gives, by `course mark` or in Formgrader, and the log of them -------------------


WHO = "marked_by"  # in a session's info: who is at work, where it is not the account


def find_account() -> str:
    """Whose account this process runs under: the hub's name for it, else the system's."""
    try:
        return os.environ.get("JUPYTERHUB_USER") or getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no entry
        return f"user {os.getuid()}"


def log_changes(course: Course) -> None:
    """Log from now on what is changed by hand in this process, and keep nbgrader's late penalty in step with it."""
    if not event.contains(Session, "after_flush", _after_flush):
        event.listen(Session, "after_flush", _after_flush)
    _courses[:] = [course]


_courses: list[Course] = []  # of this process: nbgrader works on one course at a time


def _after_flush(session: Session, _: Any) -> None:
    touched: dict[tuple[api.SubmittedNotebook, str], list[api.Grade | api.Comment]] = {}
    for row in session.dirty:
        if isinstance(row, api.Grade | api.Comment) and _is_changed_by_hand(row):
            touched.setdefault((row.notebook, row.name.removesuffix("-code")), []).append(row)
    if not touched or not inspect(session.connection()).has_table(MarkChange.__tablename__):
        return
    reader = MarkReader(_courses[0])
    for (notebook, part), rows in touched.items():
        student, lab = notebook.assignment.student_id, notebook.assignment.name
        _log(session, student, lab, notebook.id, part, rows)
        store_penalties(session.connection(), reader, lab, [student])


def _is_changed_by_hand(row: api.Grade | api.Comment) -> bool:
    names = ("manual_score", "extra_credit") if isinstance(row, api.Grade) else ("manual_comment",)
    return any(inspect(row).attrs[name].history.has_changes() for name in names)


def _log(
    session: Session, student: str, lab: str, notebook_id: str, part: str, rows: Sequence[api.Grade | api.Comment]
) -> None:
    connection = session.connection()
    # As stored, not as the row has it: what Formgrader sends is text until the database has made a number of it.
    grades = select(api.Grade.manual_score, api.Grade.extra_credit, api.Grade.auto_score).join(api.Grade.cell)
    of_part = (api.Grade.notebook_id == notebook_id, api.BaseCell.name == part)
    manual, extra, automatic = connection.execute(grades.where(*of_part)).first() or (None, None, None)
    after = before = compute_by_hand(manual, extra, automatic)
    for grade in rows:
        if isinstance(grade, api.Grade):
            then = _find_before(grade, "manual_score", manual), _find_before(grade, "extra_credit", extra)
            before = compute_by_hand(*then, automatic)
    comments = select(api.Comment.manual_comment).join(api.Comment.cell)
    of_part = (api.Comment.notebook_id == notebook_id, api.BaseCell.name.in_([part, f"{part}-code"]))
    because = "\n".join(filter(None, connection.scalars(comments.where(*of_part))))
    change = {"student": student, "lab": lab, "part": part, "before": before, "after": after, "because": because}
    connection.execute(insert(MarkChange).values(by=session.info.get(WHO) or find_account(), **change))


def _find_before(row: api.Grade, name: str, now: float | None) -> float | None:
    """What an attribute was before the change that is being written; `now` where that is no change of it."""
    history = inspect(row).attrs[name].history
    return next(iter(history.deleted or ()), None) if history.has_changes() else now


def store_penalties(
    connection: Connection, reader: MarkReader, lab: str, students: Collection[str] | None = None
) -> None:
    """Write what lateness costs the submissions of a lab, where nbgrader's own pages and exports read it."""
    penalties = {mark.student: mark.penalty for mark in reader.read(connection, lab, students)}
    table, student = api.SubmittedNotebook, api.SubmittedAssignment.student_id
    query = join_submission(select(table.id, student, table.late_submission_penalty))
    query = query.where(api.Assignment.name == lab, student.in_(penalties))
    for notebook, name, stored in connection.execute(query).all():
        if (stored or 0.0) != penalties[name]:
            new = update(table).where(table.id == notebook)
            connection.execute(new.values(late_submission_penalty=penalties[name] or None))


def set_by_hand(session: Session, lab: str, student: str, part: str, points: float | None, because: str) -> None:
    """Give points to a part in place of the automatic ones, or with None give those back; `because` is for the student.

    Formgrader does the same when an instructor types points and a comment.
    """
    query = join_submission(select(api.SubmittedNotebook))
    of_student = query.where(api.Assignment.name == lab, api.SubmittedAssignment.student_id == student)
    notebook = session.scalars(of_student).one()
    (grade,) = (row for row in notebook.grades if row.name == part)
    comments = {row.name: row for row in notebook.comments if row.name in (part, f"{part}-code")}
    # From here on nothing is asked of the database, so that points and reason are one entry of the log.
    grade.manual_score = points
    grade.extra_credit = None
    grade.needs_manual_grade = points is None and grade.auto_score is None
    for comment in comments.values():
        comment.manual_comment = None
    if comments:
        comments.get(f"{part}-code", next(iter(comments.values()))).manual_comment = cut(because)

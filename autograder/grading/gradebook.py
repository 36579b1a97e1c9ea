"""The one writer of marks: puts results into nbgrader's gradebook and remembers what is already graded."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import TypeVar

from nbformat import NotebookNode
from nbgrader import api
from nbgrader.utils import parse_utc
from sqlalchemy import ColumnElement, Connection, delete, insert, inspect, make_url, select, text, update
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.orm import Session

from autograder.course.cells import cells_by_id
from autograder.course.near import did_you_mean
from autograder.course.settings import Course
from autograder.grading.autograded_notebook import check_path_part, write_autograded
from autograder.grading.case_states import Digests, note_state
from autograder.grading.course_tables import metadata, result_table
from autograder.grading.database import GradebookError, explained, open_engine, reading, schema_head
from autograder.grading.gradebook_cells import (
    ReleasedLab,
    released_lab,
    store_lab,
)
from autograder.grading.gradebook_submissions import SubmissionRows
from autograder.grading.hand_marks import WHO, MarkChange, account, changes, log_changes, set_by_hand, store_penalties
from autograder.grading.lab_dates import LabDates
from autograder.grading.marks import Mark, MarkReader
from autograder.grading.removing import Removed, labs_of, remove_student, remove_submission, removed, take_back
from autograder.grading.results import LabResult, cut, round_score

ATTEMPTS = 5
SERVER_ATTEMPTS = 14  # almost a minute, in which a server that went down can come back
LONGEST_PAUSE = 5.0
T = TypeVar("T")


class GradebookWriter:
    """Writes verdicts into nbgrader's gradebook at `db_url` (SQLite by default, any SQLAlchemy address).

    What `record` gets is one transaction: killed at any moment, the gradebook holds all of it or nothing. Two graders
    may write at once. An instructor's manual scores and comments are never changed; where the answer under one
    changed, nbgrader's "needs manual grade" is set. A context manager, or call `close`; not shared between processes.
    """

    def __init__(self, db_url: str, course: Course):
        self._course = course
        self._beside = db_url == course.db_url  # Formgrader shows the notebooks of the course's own gradebook only
        self._reader = MarkReader(course)
        log_changes(course)
        self._ready: dict[str, ReleasedLab] = {}
        with explained(db_url):
            self._engine = open_engine(db_url)
            self._engine.connect().close()  # what is not there at all is not tried again, as a busy one is
            self._in_one_transaction(self._create_tables)

    def __enter__(self) -> GradebookWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the database connections back."""
        self._engine.dispose()

    def record(self, results: Sequence[LabResult]) -> list[LabResult]:
        """Write verdicts, with the autograded notebooks, in one transaction; return them with the state they got.

        Raises:
            GradebookError: a result names an exercise that its lab's notebook does not have; nothing is written.
        """
        for result in results:
            self._check(result)
        if not results:
            return []
        if self._beside:  # first, so that a row in the gradebook always has its notebook
            for result in results:
                write_autograded(self._course, result)
        return self._in_one_transaction(lambda session: self._record_all(session, results))

    def better(self, result: LabResult) -> float | None:
        """What the recorded attempt of the same student is worth, lateness counted, where that is more than this one.

        The same file graded again is no other attempt. An attempt that has no mark for an exercise of this one, or one
        out of other points, is not compared: it would have to be graded again first. Marks that a person gave by hand
        stand apart: they belong to the answer that they were given for.
        """
        query = select(result_table.c.result).where(
            result_table.c.student == result.student, result_table.c.lab == result.lab
        )
        with reading(self._engine) as connection:
            stored = connection.execute(query).scalar_one_or_none()
        if stored is None:
            return None
        recorded = LabResult.from_dict(json.loads(stored))
        own = {exercise.exercise: exercise.max_score for exercise in result.exercises}
        common = tuple(exercise for exercise in recorded.exercises if own.get(exercise.exercise) == exercise.max_score)
        if recorded.content_hash == result.content_hash or len(common) < len(own):
            return None
        recorded = replace(recorded, exercises=common)
        worth = recorded.score - self.lost_by_lateness(recorded)
        return round_score(worth) if worth > result.score - self.lost_by_lateness(result) else None

    def lost_by_lateness(self, result: LabResult) -> float:
        """The points that a result loses because it came late; 0 where nothing says when it came, or was due."""
        with reading(self._engine) as connection:
            return self._reader.lost(result, connection)

    def marks(self, lab: str | None = None, students: Collection[str] | None = None) -> list[Mark]:
        """What counts, without notebooks: of one lab or all, by student and lab."""
        with reading(self._engine) as connection:
            return self._reader.read(connection, lab, students) if lab else self._reader.read_all(connection)

    def note_cases(self, lab: str, version: str, digests: Digests, *, is_now: bool = True) -> None:
        """Note the hidden cases with which a version of the grader grades, so that marks can be compared.

        Args:
            lab: the lab's name.
            version: that of the grader.
            digests: of each exercise's cases.
            is_now: whether marks of other versions are compared with these; not those of a seed of its own.
        """
        self._in_one_transaction(lambda session: note_state(session.connection(), lab, version, digests, is_now=is_now))

    def labs(self) -> list[str]:
        """The labs of the course that something was recorded of."""
        with reading(self._engine) as connection:
            found = set(connection.scalars(select(result_table.c.lab).distinct()))
        return [lab.name for lab in self._course.labs if lab.name in found]

    def settle(self, lab: str) -> None:
        """Bring what nbgrader shows of a lab to what is released and to what course.toml says of lateness.

        Raises:
            GradebookError: a cell with marks by hand is no longer in the lab.
        """
        if self._course.release_notebook(lab).is_file():
            self.ensure_lab(lab)
        self._in_one_transaction(lambda session: self._settle_lateness(session, lab))

    def _settle_lateness(self, session: Session, lab: str) -> None:
        handed_in = session.scalars(
            select(api.SubmittedAssignment).join(api.Assignment).where(api.Assignment.name == lab)
        ).all()
        dates = LabDates(self._course, lab, session.connection())
        for submission in handed_in:
            dates.write_extension(submission)
        session.flush()
        store_penalties(session.connection(), self._reader, lab)

    def set_times(self, lab: str, times: Mapping[str, datetime]) -> None:
        """Set when submissions that are recorded already were handed in, by student, and what lateness costs them."""

        def work(session: Session) -> None:
            rows = session.scalars(
                select(api.SubmittedAssignment)
                .join(api.Assignment)
                .where(api.Assignment.name == lab, api.SubmittedAssignment.student_id.in_([*times]))
            )
            for row in rows:
                row.timestamp = parse_utc(times[row.student_id])
            session.flush()
            table = result_table.c
            of_lab = (table.lab == lab) & table.student.in_([*times])
            for student, stored in session.execute(select(table.student, table.result).where(of_lab)).all():
                dated = json.dumps(json.loads(stored) | {"timestamp": times[student].isoformat()}, sort_keys=True)
                session.execute(
                    update(result_table).where(table.lab == lab, table.student == student).values(result=dated)
                )
            store_penalties(session.connection(), self._reader, lab, [*times])

        self._in_one_transaction(work)

    def mark_by_hand(
        self, lab: str, student: str, part: str, points: float | None, because: str, by: str | None = None
    ) -> None:
        """Give points to a part of a submission in place of the automatic ones; with None give those back.

        Args:
            lab: the lab's name.
            student: whose submission.
            part: the graded cell.
            points: the points; None for the automatic ones.
            because: why, for the student.
            by: who does it, where it is not this account.

        Raises:
            GradebookError: there is no such submission or part, or the points are not between 0 and its maximum.
        """
        if points is not None:  # a mark on what the lab has no more can be taken back
            self.settle(lab)
        recorded = self.marks(lab, [student])
        if not recorded:
            students = [mark.student for mark in self.marks(lab)]
            raise GradebookError(f"{lab}: no submission of {student} is graded{did_you_mean(student, students)}")
        found = next((candidate for candidate in recorded[0].parts if candidate.name == part), None)
        if found is None:
            names = ", ".join(candidate.name for candidate in recorded[0].parts)
            raise GradebookError(f"{lab}: has no graded part {part}; its parts are {names}")
        if points is not None and not 0 <= points <= found.max_score:
            raise GradebookError(
                f"{lab}: {part} has {found.max_score:g} points, and {points:g} is not between 0 and that; "
                "extra credit is given in Formgrader"
            )

        def work(session: Session) -> None:
            session.info[WHO] = by
            notebook_id = session.scalars(
                select(api.SubmittedNotebook.id).where(
                    api.SubmittedNotebook.assignment_id.in_(_submission_id(student, lab))
                )
            ).one()
            set_by_hand(session, notebook_id, part, points, because)

        self._in_one_transaction(work)

    def labs_of(self, student: str) -> list[str]:
        """The labs of which there is a submission of a student, also those that the course no longer has."""
        with reading(self._engine) as connection:
            return labs_of(connection, student)

    def longest_extension(self, lab: str) -> timedelta:
        """The longest extension that counts for somebody's submission of a lab; 0 where there is none."""
        query = (
            select(api.SubmittedAssignment.student_id, api.SubmittedAssignment.extension)
            .join(api.Assignment, api.Assignment.id == api.SubmittedAssignment.assignment_id)
            .where(api.Assignment.name == lab)
        )
        with reading(self._engine) as connection:
            dates = LabDates(self._course, lab, connection)
            return max((dates.extension(*row) for row in connection.execute(query)), default=timedelta(0))

    def scores_of(self, student: str) -> dict[str, float]:
        """What counts for a student, by lab of the course."""
        return {mark.lab: mark.score for mark in self.marks() if mark.student == student}

    def remove(
        self, student: str, labs: Sequence[str], *, because: str = "", by: str | None = None, everything: bool = False
    ) -> None:
        """Remove the submissions of a student in some labs, and with `everything` the student as well; log it."""
        scores = self.scores_of(student)

        def work(session: Session) -> None:
            connection = session.connection()
            for lab in labs:
                remove_submission(
                    connection, student, lab, worth=scores.get(lab), because=cut(because), by=by or account()
                )
            if everything:
                remove_student(connection, student)

        self._in_one_transaction(work)

    def take_back(self, student: str, lab: str | None = None) -> int:
        """Let grading take again what was removed of a student, in one lab or all; return how much that is."""
        return self._in_one_transaction(lambda session: take_back(session.connection(), student, lab))

    def removed(self, lab: str) -> dict[str, Removed]:
        """What grading of a lab leaves out because it was removed, by student."""
        with reading(self._engine) as connection:
            return removed(connection, lab)

    def attempts(self, lab: str) -> dict[str, tuple[datetime, str]]:
        """Of each recorded attempt of a lab whose time is known, when it was handed in, and its hash; by student."""
        handed_in, result = api.SubmittedAssignment, result_table.c
        query = (
            select(handed_in.student_id, handed_in.timestamp, result.content_hash)
            .join(api.Assignment, api.Assignment.id == handed_in.assignment_id)
            .join(result_table, (result.student == handed_in.student_id) & (result.lab == api.Assignment.name))
            .where(api.Assignment.name == lab, handed_in.timestamp.is_not(None))
        )
        with reading(self._engine) as connection:
            return {name: (when.replace(tzinfo=UTC), digest) for name, when, digest in connection.execute(query)}

    def changes(self, lab: str, student: str | None = None) -> list[MarkChange]:
        """What was changed by hand in a lab, of one student or of all, the oldest change first."""
        with reading(self._engine) as connection:
            return [*changes(connection, lab, student)]

    def already_graded(self, student: str, lab: str, content_hash: str, grader_version: str) -> LabResult | None:
        """The recorded result (without its notebook) if this very content was graded by this very grader, else None."""
        table = result_table.c
        query = (
            select(table.result)
            .where(table.student == student, table.lab == lab)
            .where(table.content_hash == content_hash, table.grader_version == grader_version)
            .where(_submission_id(student, lab).exists())
        )
        with reading(self._engine) as connection:
            found = connection.execute(query).scalar_one_or_none()
        return LabResult.from_dict(json.loads(found)) if found is not None else None

    def ensure_lab(self, lab: str) -> None:
        """Make nbgrader's gradebook know the lab's assignment, notebook and cells as they were released.

        Raises GradebookError when a cell with manual scores is no longer in the lab.
        """
        if lab not in self._ready:
            released = released_lab(self._course, lab)
            self._in_one_transaction(lambda session: store_lab(session, self._course, lab, released))
            self._ready[lab] = released

    def _check(self, result: LabResult) -> None:
        check_path_part(result.student)
        self.ensure_lab(result.lab)
        unknown = [
            exercise.exercise
            for exercise in result.exercises
            if exercise.exercise not in self._ready[result.lab].graded
        ]
        if unknown:
            raise GradebookError(
                f"{result.lab}: the result for {result.student} has the exercise {unknown[0]!r}, and the lab has no "
                f'such test cell; run "course release {result.lab}" and grade again'
            )

    def _record_all(self, session: Session, results: Sequence[LabResult]) -> list[LabResult]:
        """Record them; what their submissions have in common is asked for once."""
        students: dict[str, list[str]] = {}
        for result in results:
            students.setdefault(result.lab, []).append(result.student)
        rows = {lab: SubmissionRows(session, lab, names) for lab, names in students.items()}
        answers = {lab: _stored_answers(session, lab, names) for lab, names in students.items()}
        dates = {lab: LabDates(self._course, lab, session.connection()) for lab in students}
        for result in results:
            handed_in = rows[result.lab].handed_in[result.student]
            if result.timestamp is not None:
                handed_in.timestamp = parse_utc(result.timestamp)
            dates[result.lab].write_extension(handed_in)
        recorded = [self._record_one(result, rows[result.lab], answers[result.lab]) for result in results]
        session.flush()
        for lab, of_lab in rows.items():
            of_lab.store_new(session)
            named = result_table.c.student.in_(students[lab])
            session.execute(delete(result_table).where(result_table.c.lab == lab, named))
        now = datetime.now(UTC).replace(tzinfo=None)
        last = {(mark.student, mark.lab): mark for mark in recorded}
        session.execute(
            insert(result_table),
            [
                {
                    "student": result.student,
                    "lab": result.lab,
                    "content_hash": result.content_hash,
                    "grader_version": result.grader_version,
                    "result": json.dumps(result.to_dict(), sort_keys=True),
                    "answers": json.dumps(answers[result.lab][result.student], sort_keys=True),
                    "graded_at": now,
                }
                for result in last.values()
            ],
        )
        for lab, names in students.items():
            store_penalties(session.connection(), self._reader, lab, names)
        return recorded

    def _record_one(self, result: LabResult, rows: SubmissionRows, stored: dict[str, dict[str, str]]) -> LabResult:
        """Fill in one submission's rows, and its answers in `stored`; return the result with the state it got."""
        released = self._ready[result.lab]
        cells = cells_by_id(result.notebook) if result.notebook is not None else {}
        old_answers = stored.get(result.student, {})
        answers = {name: _answer_hash(name, cells, result) for name in (*released.graded, *released.tasks)}
        stored[result.student] = answers
        scores = {exercise.exercise: exercise.score for exercise in result.exercises}

        waits = False
        for name, grade in rows.grades[result.student].items():
            same = old_answers.get(name) == answers[name]
            if name in released.by_hand:
                answered = name in released.tasks or _answered(name, cells, released)
                score = None if answered and cells else 0.0
            else:
                score = scores.get(name, 0.0)
            same = same and grade.auto_score == score
            grade.auto_score = score
            if grade.manual_score is None:
                grade.needs_manual_grade = score is None
            elif not same:
                grade.needs_manual_grade = True
            waits = waits or grade.needs_manual_grade
        for name, comment in rows.comments[result.student].items():
            untouched = name in released.solutions and name in cells and not _answered(name, cells, released)
            comment.auto_comment = "No response." if untouched else None
        state = "needs_manual_grade" if waits and result.state == "graded" else result.state
        return replace(result, state=state)

    def _create_tables(self, session: Session) -> None:
        """What nbgrader's own Gradebook does for a new database, in one transaction and without its subprocess."""
        connection = session.connection()
        fresh = not inspect(connection).get_table_names()
        api.Base.metadata.create_all(connection)
        metadata.create_all(connection)
        if fresh:
            connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
            connection.execute(
                text("INSERT INTO alembic_version (version_num) VALUES (:head)"), {"head": schema_head()}
            )
        if session.get(api.Course, self._course.course_id) is None:
            session.add(api.Course(id=self._course.course_id))

    def _in_one_transaction(self, work: Callable[[Session], T]) -> T:
        """Do `work` and commit; begin anew when another writer was in the way, or the server was lost."""
        has_server = self._engine.dialect.name != "sqlite"
        for attempt in count(1):
            try:
                with Session(self._engine, autoflush=True) as session, session.begin():
                    return work(session)
            except (IntegrityError, OperationalError) as error:
                lost = has_server and isinstance(error, OperationalError)
                if attempt == (SERVER_ATTEMPTS if lost else ATTEMPTS):
                    raise
                time.sleep(min(0.2 * 2**attempt, LONGEST_PAUSE))
        raise AssertionError("unreachable")


def recorded_marks(course: Course, db_url: str, lab: str | None = None) -> list[Mark]:
    """The marks that the gradebook at `db_url` holds, of one lab or of all; nothing is made or changed.

    Raises:
        CourseError: there is no such lab, something else is at this address, or it cannot be read.
    """
    name = course.lab(lab).name if lab is not None else None
    reader = MarkReader(course)
    return _read(
        db_url, lambda connection: reader.read(connection, name) if name is not None else reader.read_all(connection)
    )


def known_students(db_url: str) -> list[str]:
    """The names of all students in the gradebook at `db_url`, also of those who have handed in nothing.

    Raises:
        GradebookError: something else is at this address, or it cannot be read.
    """
    return _read(
        db_url,
        lambda connection: list(connection.scalars(select(api.Student.id).order_by(api.Student.id))),
        api.Student.__tablename__,
    )


def _read(db_url: str, query: Callable[[Connection], list[T]], table: str = result_table.name) -> list[T]:
    """What `query` finds in a gradebook that has the table: one that results were recorded in, where none is named."""
    with explained(db_url):
        url = make_url(db_url)
        if url.get_backend_name() == "sqlite" and not (url.database and Path(url.database).exists()):
            return []
        engine = open_engine(db_url)
        try:
            with reading(engine) as connection:
                return query(connection) if inspect(connection).has_table(table) else []
        finally:
            engine.dispose()


def _stored_answers(session: Session, lab: str, students: Sequence[str]) -> dict[str, dict[str, str]]:
    """The hashes of the answers under the recorded results, by student and cell."""
    table = result_table.c
    query = select(table.student, table.answers).where(table.lab == lab, table.student.in_(students))
    return {student: json.loads(answers) for student, answers in session.execute(query)}


def _answer_hash(name: str, cells: dict[str, NotebookNode], result: LabResult) -> str:
    """What the mark on graded cell `name` depends on, as far as an instructor's manual score is concerned."""
    answer = cells.get(f"{name}-code") or cells.get(name)
    return hashlib.sha256((answer.source if answer else result.content_hash).encode("utf-8", "replace")).hexdigest()


def _answered(name: str, cells: dict[str, NotebookNode], released: ReleasedLab) -> bool:
    return name in cells and cells[name].source.strip() != released.cells[name].source.strip()


def _submission_id(student: str | ColumnElement[str], lab: str | ColumnElement[str]):
    return (
        select(api.SubmittedAssignment.id)
        .join(api.Assignment, api.Assignment.id == api.SubmittedAssignment.assignment_id)
        .where(api.Assignment.name == lab, api.SubmittedAssignment.student_id == student)
    )

"""The one writer of marks: puts results into nbgrader's gradebook and remembers what is already graded."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import TypeVar

from nbformat import NotebookNode
from nbgrader import api
from nbgrader.utils import parse_utc
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    DateTime,
    MetaData,
    String,
    Table,
    Text,
    delete,
    func,
    insert,
    inspect,
    make_url,
    select,
    text,
)
from sqlalchemy.dialects.mysql import MEDIUMTEXT
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.orm import Session

from autograder.course import Course
from autograder.grading.database import GradebookError, explained, open_engine, reading, schema_head
from autograder.grading.gradebook_cells import (
    ReleasedLab,
    released_lab,
    store_lab,
)
from autograder.grading.gradebook_submissions import SubmissionRows
from autograder.grading.lateness import LatePenalties
from autograder.grading.results import LabResult, round_score
from autograder.nbgrader_cells import cells_by_id
from autograder.pages.autograded_notebook import check_path_part, write_autograded

ATTEMPTS = 5
SERVER_ATTEMPTS = 14  # almost a minute, in which a server that went down can come back
LONGEST_PAUSE = 5.0
T = TypeVar("T")

_metadata = MetaData()
_long_text = Text().with_variant(MEDIUMTEXT(), "mysql", "mariadb")  # their TEXT ends at 64 kB
_result_table = Table(
    "course_result",
    _metadata,
    Column("student", String(128), primary_key=True),
    Column("lab", String(128), primary_key=True),
    Column("content_hash", String(128), nullable=False),
    Column("grader_version", String(128), nullable=False),
    Column("result", _long_text, nullable=False),  # LabResult.to_dict as JSON
    Column("answers", _long_text, nullable=False),  # JSON: graded cell -> hash of the student's answer to it
    Column("graded_at", DateTime, nullable=False),  # UTC
)


class GradebookWriter:
    """Writes verdicts into nbgrader's gradebook at `db_url` (SQLite by default, any SQLAlchemy address).

    Every batch is one transaction: killed at any moment, the gradebook holds whole batches. Two graders may write at
    once. An instructor's manual scores and comments are never changed; where the answer under one changed, nbgrader's
    "needs manual grade" is set. Use it as a context manager, or call `close`. Not to be shared between processes.
    """

    def __init__(self, db_url: str, course: Course):
        self._course = course
        self._beside = db_url == course.db_url  # Formgrader shows the notebooks of the course's own gradebook only
        self._late = LatePenalties(course)
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

    def record(self, results: Iterable[LabResult], batch_size: int = 32, batch_seconds: float = 5.0) -> list[LabResult]:
        """Write verdicts as they arrive, with the autograded notebooks; return them with the state they got.

        A batch is written when it is full or its oldest result is `batch_seconds` old, and also when `results` itself
        raises. Raises GradebookError when a result names an exercise that its lab's notebook does not have.
        """
        recorded: list[LabResult] = []
        batch: list[LabResult] = []
        begun = 0.0
        try:
            for result in results:
                self._check(result)
                begun = begun if batch else time.monotonic()
                batch.append(result)
                if len(batch) >= batch_size or time.monotonic() - begun >= batch_seconds:
                    full, batch = batch, []
                    recorded += self._record_batch(full)
        finally:
            if batch:
                recorded += self._record_batch(batch)
        return recorded

    def better(self, result: LabResult) -> float | None:
        """What the recorded attempt of the same student is worth, lateness counted, where that is more than this one.

        Marks that a person gave by hand stand apart: they belong to the answer that they were given for.
        """
        query = select(_result_table.c.result).where(
            _result_table.c.student == result.student, _result_table.c.lab == result.lab
        )
        with reading(self._engine) as connection:
            stored = connection.execute(query).scalar_one_or_none()
        if stored is None:
            return None
        recorded = LabResult.from_dict(json.loads(stored))
        worth = recorded.score - self.lost_by_lateness(recorded)
        return round_score(worth) if worth > result.score - self.lost_by_lateness(result) else None

    def lost_by_lateness(self, result: LabResult) -> float:
        """The points that a result loses because it came late; 0 where nothing says when it came, or was due."""
        due = self._course.lab(result.lab).due
        if due is None or result.timestamp is None:
            return 0.0
        late = result.timestamp - due
        if late > timedelta(0):
            late -= self._extension(result.student, result.lab, due)
        return round_score(self._late.penalty(result.student, result.score, late.total_seconds()) or 0.0)

    def already_graded(self, student: str, lab: str, content_hash: str, grader_version: str) -> LabResult | None:
        """The recorded result (without its notebook) if this very content was graded by this very grader, else None."""
        table = _result_table.c
        query = (
            select(table.result)
            .where(table.student == student, table.lab == lab)
            .where(table.content_hash == content_hash, table.grader_version == grader_version)
            .where(_submission_id(student, lab).exists())
        )
        with reading(self._engine) as connection:
            found = connection.execute(query).scalar_one_or_none()
            return _loaded(connection, [found], student)[0] if found is not None else None

    def results(self, lab: str | None = None) -> list[LabResult]:
        """All recorded results, or those of one lab, without notebooks, by student and lab."""
        with reading(self._engine) as connection:
            return _results(connection, lab)

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
        unknown = [each.exercise for each in result.exercises if each.exercise not in self._ready[result.lab].graded]
        if unknown:
            raise GradebookError(
                f"{result.lab}: the result for {result.student} has the exercise {unknown[0]!r}, and the lab has no "
                f'such test cell; run "course release {result.lab}" and grade again'
            )

    def _record_batch(self, batch: list[LabResult]) -> list[LabResult]:
        # The notebook comes first: a row in the gradebook then always has its notebook.
        if self._beside:
            for result in batch:
                write_autograded(self._course, result)
        return self._in_one_transaction(lambda session: self._record_all(session, batch))

    def _record_all(self, session: Session, batch: list[LabResult]) -> list[LabResult]:
        """Record a batch; what its submissions have in common is asked for once."""
        students: dict[str, list[str]] = {}
        for result in batch:
            students.setdefault(result.lab, []).append(result.student)
        rows = {lab: SubmissionRows(session, lab, names) for lab, names in students.items()}
        answers = {lab: _stored_answers(session, lab, names) for lab, names in students.items()}
        recorded = [self._record_one(result, rows[result.lab], answers[result.lab]) for result in batch]
        session.flush()
        for lab, of_lab in rows.items():
            of_lab.store_new(session)
            for submitted in of_lab.submitted.values():
                self._set_late_penalty(session, submitted)
            named = _result_table.c.student.in_(students[lab])
            session.execute(delete(_result_table).where(_result_table.c.lab == lab, named))
        now = datetime.now(UTC).replace(tzinfo=None)
        last = {(each.student, each.lab): each for each in recorded}
        session.execute(
            insert(_result_table),
            [
                {
                    "student": each.student,
                    "lab": each.lab,
                    "content_hash": each.content_hash,
                    "grader_version": each.grader_version,
                    "result": json.dumps(each.to_dict(), sort_keys=True),
                    "answers": json.dumps(answers[each.lab][each.student], sort_keys=True),
                    "graded_at": now,
                }
                for each in last.values()
            ],
        )
        return recorded

    def _record_one(self, result: LabResult, rows: SubmissionRows, stored: dict[str, dict[str, str]]) -> LabResult:
        """Fill in one submission's rows, and its answers in `stored`; return the result with the state it got."""
        released = self._ready[result.lab]
        cells = cells_by_id(result.notebook) if result.notebook is not None else {}
        self._set_times(rows.handed_in[result.student], result)
        old_answers = stored.get(result.student, {})
        answers = {name: _answer_hash(name, cells, result) for name in (*released.graded, *released.tasks)}
        stored[result.student] = answers
        scores = {each.exercise: each.score for each in result.exercises}

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

    def _set_times(self, handed_in: api.SubmittedAssignment, result: LabResult) -> None:
        if result.timestamp is not None:
            handed_in.timestamp = parse_utc(result.timestamp)
        due = self._course.lab(result.lab).due
        later = self._course.lateness.extension(result.student, result.lab)
        if due is not None and later is not None:  # where course.toml says nothing, one that somebody gave stays
            handed_in.extension = max(later - due, timedelta(0))

    def _extension(self, student: str, lab: str, due: datetime) -> timedelta:
        """What course.toml gives a student after the due date; where it says nothing, what the gradebook does."""
        later = self._course.lateness.extension(student, lab)
        if later is not None:
            return max(later - due, timedelta(0))
        kind = api.SubmittedAssignment
        with reading(self._engine) as connection:
            query = select(kind.extension).where(kind.id.in_(_submission_id(student, lab)))
            return connection.execute(query).scalar_one_or_none() or timedelta(0)

    def _set_late_penalty(self, session: Session, submitted: api.SubmittedNotebook) -> None:
        """As nbgrader's AssignLatePenalties does, with the plugin that nbgrader_config.py chooses."""
        handed_in = session.get_one(api.SubmittedAssignment, submitted.assignment_id)
        submitted.late_submission_penalty = None
        if (seconds := handed_in.total_seconds_late) > 0:
            score = session.scalar(
                select(func.coalesce(func.sum(api.Grade.score), 0.0)).where(api.Grade.notebook_id == submitted.id)
            )
            submitted.late_submission_penalty = self._late.penalty(handed_in.student_id, score, seconds)

    def _create_tables(self, session: Session) -> None:
        """What nbgrader's own Gradebook does for a new database, in one transaction and without its subprocess."""
        connection = session.connection()
        fresh = not inspect(connection).get_table_names()
        api.Base.metadata.create_all(connection)
        _metadata.create_all(connection)
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


def recorded_results(db_url: str) -> list[LabResult]:
    """All results that the gradebook at `db_url` holds; nothing is made or changed, and no gradebook holds none.

    Raises:
        GradebookError: something else is at this address, or it cannot be read.
    """
    return _read(db_url, _results)


def known_students(db_url: str) -> list[str]:
    """The names of all students in the gradebook at `db_url`, also of those who have handed in nothing.

    Raises:
        GradebookError: something else is at this address, or it cannot be read.
    """
    return _read(db_url, lambda connection: list(connection.scalars(select(api.Student.id).order_by(api.Student.id))))


def _read(db_url: str, query: Callable[[Connection], list[T]]) -> list[T]:
    """What `query` finds in a gradebook that results were recorded in; nothing in any other."""
    with explained(db_url):
        url = make_url(db_url)
        if url.get_backend_name() == "sqlite" and not (url.database and Path(url.database).exists()):
            return []
        engine = open_engine(db_url)
        try:
            with reading(engine) as connection:
                return query(connection) if inspect(connection).has_table(_result_table.name) else []
        finally:
            engine.dispose()


def _results(connection: Connection, lab: str | None = None) -> list[LabResult]:
    table = _result_table.c
    query = (
        select(table.result)
        .where(_submission_id(table.student, table.lab).exists())  # nbgrader may have removed the student
        .order_by(table.student, table.lab)
    )
    if lab is not None:
        query = query.where(table.lab == lab)
    return _loaded(connection, connection.execute(query).scalars().all())


def _loaded(connection: Connection, stored: Sequence[str], student: str | None = None) -> list[LabResult]:
    """Results from JSON. Whether they wait for a person is asked anew: Formgrader may have settled it meanwhile."""
    query = (
        select(api.SubmittedAssignment.student_id, api.Assignment.name)
        .join(api.Assignment, api.Assignment.id == api.SubmittedAssignment.assignment_id)
        .join(api.SubmittedNotebook, api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id)
        .join(api.Grade, api.Grade.notebook_id == api.SubmittedNotebook.id)
        .where(api.Grade.needs_manual_grade)
        .distinct()
    )
    if student is not None:
        query = query.where(api.SubmittedAssignment.student_id == student)
    waiting = {tuple(row) for row in connection.execute(query)}
    results = [LabResult.from_dict(json.loads(each)) for each in stored]
    return [
        replace(each, state="needs_manual_grade" if (each.student, each.lab) in waiting else "graded")
        if each.state in ("graded", "needs_manual_grade")
        else each
        for each in results
    ]


def _stored_answers(session: Session, lab: str, students: Sequence[str]) -> dict[str, dict[str, str]]:
    """The hashes of the answers under the recorded results, by student and cell."""
    table = _result_table.c
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

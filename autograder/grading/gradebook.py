"""The one writer of marks: puts results into nbgrader's gradebook and remembers what is already graded."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TypeVar

from nbformat import NotebookNode
from nbgrader import api
from nbgrader.preprocessors import AssignLatePenalties
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

from autograder.course import Course, load_nbgrader_config
from autograder.grading.database import GradebookError, explained, open_engine, reading, schema_head
from autograder.grading.gradebook_cells import (
    ReleasedLab,
    comment_rows,
    grade_rows,
    notebook_query,
    released_lab,
    store_lab,
)
from autograder.grading.results import LabResult
from autograder.nbgrader_cells import cells_by_id
from autograder.pages.autograded_notebook import check_path_part, write_autograded

ATTEMPTS = 5
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
        self._late = _late_penalties(course)
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
        return self._in_one_transaction(lambda session: [self._record_one(session, result) for result in batch])

    def _record_one(self, session: Session, result: LabResult) -> LabResult:
        released = self._ready[result.lab]
        cells = cells_by_id(result.notebook) if result.notebook is not None else {}
        submitted = self._submission(session, result)
        before = session.execute(
            select(_result_table).where(_result_table.c.student == result.student, _result_table.c.lab == result.lab)
        ).one_or_none()
        old_answers = json.loads(before.answers) if before else {}
        answers = {name: _answer_hash(name, cells, result) for name in (*released.graded, *released.tasks)}
        scores = {each.exercise: each.score for each in result.exercises}

        waits = False
        for name, grade in grade_rows(session, submitted).items():
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
        for name, comment in comment_rows(session, submitted).items():
            untouched = name in released.solutions and name in cells and not _answered(name, cells, released)
            comment.auto_comment = "No response." if untouched else None
        session.flush()
        self._set_late_penalty(session, submitted)

        state = "needs_manual_grade" if waits and result.state == "graded" else result.state
        result = replace(result, state=state)
        row = {
            "student": result.student,
            "lab": result.lab,
            "content_hash": result.content_hash,
            "grader_version": result.grader_version,
            "result": json.dumps(result.to_dict(), sort_keys=True),
            "answers": json.dumps(answers, sort_keys=True),
            "graded_at": datetime.now(UTC).replace(tzinfo=None),
        }
        session.execute(
            delete(_result_table).where(_result_table.c.student == result.student, _result_table.c.lab == result.lab)
        )
        session.execute(insert(_result_table).values(**row))
        return result

    def _submission(self, session: Session, result: LabResult) -> api.SubmittedNotebook:
        """The submitted notebook's row, created with the rows above it where they are missing."""
        if session.get(api.Student, result.student) is None:
            session.add(api.Student(id=result.student))
        assignment = session.scalars(select(api.Assignment).where(api.Assignment.name == result.lab)).one()
        notebook = session.scalars(notebook_query(result.lab)).one()
        handed_in = session.scalars(
            select(api.SubmittedAssignment).where(
                api.SubmittedAssignment.assignment_id == assignment.id,
                api.SubmittedAssignment.student_id == result.student,
            )
        ).one_or_none()
        if handed_in is None:
            handed_in = api.SubmittedAssignment(assignment_id=assignment.id, student_id=result.student)
            session.add(handed_in)
        if result.timestamp is not None:
            handed_in.timestamp = parse_utc(result.timestamp)
        session.flush()
        submitted = session.scalars(
            select(api.SubmittedNotebook).where(
                api.SubmittedNotebook.assignment_id == handed_in.id,
                api.SubmittedNotebook.notebook_id == notebook.id,
            )
        ).one_or_none()
        if submitted is None:
            submitted = api.SubmittedNotebook(assignment_id=handed_in.id, notebook_id=notebook.id)
            session.add(submitted)
            session.flush()
        return submitted

    def _set_late_penalty(self, session: Session, submitted: api.SubmittedNotebook) -> None:
        """As nbgrader's AssignLatePenalties does, with the plugin that nbgrader_config.py chooses."""
        handed_in = session.get_one(api.SubmittedAssignment, submitted.assignment_id)
        submitted.late_submission_penalty = None
        seconds = handed_in.total_seconds_late
        if seconds > 0:
            score = session.scalar(
                select(func.coalesce(func.sum(api.Grade.score), 0.0)).where(api.Grade.notebook_id == submitted.id)
            )
            penalty = self._late.plugin_inst.late_submission_penalty(handed_in.student_id, score, seconds)
            if penalty is not None:
                submitted.late_submission_penalty = self._late._check_late_penalty(
                    SimpleNamespace(score=score), penalty
                )

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
        """Do `work` and commit; begin anew when another writer was in the way."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with Session(self._engine, autoflush=True) as session, session.begin():
                    return work(session)
            except (IntegrityError, OperationalError):
                if attempt == ATTEMPTS:
                    raise
                time.sleep(0.2 * 2**attempt)
        raise AssertionError("unreachable")


def recorded_results(db_url: str) -> list[LabResult]:
    """All results that the gradebook at `db_url` holds; nothing is made or changed, and no gradebook holds none.

    Raises:
        GradebookError: something else is at this address, or it cannot be read.
    """
    with explained(db_url):
        url = make_url(db_url)
        if url.get_backend_name() == "sqlite" and not (url.database and Path(url.database).exists()):
            return []
        engine = open_engine(db_url)
        try:
            with reading(engine) as connection:
                return _results(connection) if inspect(connection).has_table(_result_table.name) else []
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


def _late_penalties(course: Course) -> AssignLatePenalties:
    preprocessor = AssignLatePenalties(config=load_nbgrader_config(course))
    preprocessor.init_plugin()
    return preprocessor


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

"""The database of a gradebook: how it is opened, and the tables that this grader keeps there beside nbgrader's own.

Two graders may write at once. Each fact has one home. What the grader found is `Recorded`; nbgrader's automatic scores
are copied from it. What a person gives in Formgrader (points, comments, dates) stands in nbgrader's own rows, and is
read there, never copied.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import numpy as np
from sqlalchemy import (
    Connection,
    DateTime,
    Engine,
    Float,
    String,
    Text,
    create_engine,
    event,
    inspect,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator

from autograder.course.settings import CourseError, add_driver
from autograder.grade.results import LabResult
from coursekit.check.judge import ExerciseSpec, Expectation

BUSY_SECONDS = 60
WRITERS = 7_305_221  # any number: the lock in PostgreSQL that graders take in turn
Name = Annotated[str, mapped_column(String(128))]
Key = Annotated[str, mapped_column(String(128), primary_key=True)]


class GradebookError(CourseError):
    """The gradebook cannot be opened, or cannot take a result; the message says which one and what to do."""


def show_url(db_url: str) -> str:
    """A gradebook's address as it may be shown: without the password."""
    try:
        return make_url(db_url).render_as_string(hide_password=True)
    except ArgumentError:
        return db_url


@contextmanager
def explain_failure(db_url: str) -> Iterator[None]:
    """Any way in which a gradebook fails to open, as a GradebookError."""
    try:
        yield
    except (SQLAlchemyError, ImportError, OSError) as error:
        reason = str(error.orig if isinstance(error, DBAPIError) else error).partition("\n")[0]
        raise GradebookError(
            f"{show_url(db_url)}: no gradebook can be opened there ({reason}); name another with --db or in "
            f"course.toml, such as sqlite:///gradebook.db"
        ) from error


def open_for_reading(engine: Engine) -> Connection:
    """A connection that only reads, and so keeps no writer waiting."""
    return engine.connect().execution_options(reading=True)


def open_engine(db_url: str) -> Engine:
    """The database at a SQLAlchemy address. A transaction that writes takes its lock when it begins.

    In SQLite it is the database's. In PostgreSQL it is one among graders: nbgrader's own tools do not wait for it.
    """
    url = make_url(add_driver(db_url))
    kind = url.get_backend_name()
    if kind == "sqlite" and url.database and url.database != ":memory:":
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url, pool_pre_ping=True, connect_args={"timeout": BUSY_SECONDS} if kind == "sqlite" else {})

    @event.listens_for(engine, "connect")
    def prepare(connection, _record):
        if kind == "sqlite":  # the driver would begin too late (at the first change), and not at all for CREATE TABLE
            connection.isolation_level = None

    @event.listens_for(engine, "begin")
    def begin(connection):
        is_reading = connection.get_execution_options().get("reading", False)
        if kind == "sqlite":
            connection.exec_driver_sql("BEGIN" if is_reading else "BEGIN IMMEDIATE")
        elif kind == "postgresql" and not is_reading:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITERS})")

    return engine


def read_head() -> str:
    """The version of nbgrader's tables, as alembic names it."""
    import nbgrader  # only a new database needs them, and they are slow to import
    from alembic.script import ScriptDirectory

    head = ScriptDirectory(str(Path(nbgrader.__file__).parent / "alembic")).get_current_head()
    assert head is not None  # nbgrader's folder of migrations is not empty
    return head


class _UtcTime(TypeDecorator[datetime]):
    """A moment with a time zone; the database has it in UTC and without one, as nbgrader's own moments are."""

    impl, cache_ok = DateTime, True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> datetime | None:
        return value and value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Any) -> datetime | None:
        return value and value.replace(tzinfo=UTC)


class _Json(TypeDecorator[Any]):
    """What JSON can hold, as text."""

    impl, cache_ok = Text, True

    def process_bind_param(self, value: Any, dialect: Any) -> str | None:
        return json.dumps(value, sort_keys=True)

    def process_result_value(self, value: str | None, dialect: Any) -> Any:
        return value and json.loads(value)


class _Verdict(_Json):
    """A `LabResult`, without its notebook, as text."""

    cache_ok = True

    def process_bind_param(self, value: LabResult | None, dialect: Any) -> str | None:
        return super().process_bind_param(value.to_dict(), dialect) if value else None

    def process_result_value(self, value: str | None, dialect: Any) -> LabResult | None:
        return LabResult.from_dict(super().process_result_value(value, dialect)) if value else None


def _now() -> datetime:
    return datetime.now(UTC)


class CourseTable(DeclarativeBase):
    """A table of this grader's."""


class Recorded(CourseTable):
    """The verdict on the submission of a student: what grading finds, and by which state of file and grader."""

    __tablename__ = "course_result"

    student: Mapped[Key]
    lab: Mapped[Key]
    content_hash: Mapped[Name]
    grader_version: Mapped[Name]
    result: Mapped[LabResult] = mapped_column(_Verdict)
    answers: Mapped[dict[str, str]] = mapped_column(_Json)  # graded cell -> hash of the student's answer to it
    graded_at: Mapped[datetime] = mapped_column(_UtcTime, default=_now)


class NotedDate(CourseTable):
    """What course.toml said last of a date, as it was written into nbgrader's own rows."""

    __tablename__ = "course_date"

    lab: Mapped[Key]
    student: Mapped[Key]  # whose extension; empty: the due date of the lab
    written: Mapped[str] = mapped_column(String(64))


class MarkChange(CourseTable):
    """One entry of the log: points by hand `before` and `after`, None for the automatic ones.

    Where `part` is empty the whole submission was removed, and `before` is what it was worth, where that is known.
    """

    __tablename__ = "course_mark_change"

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    student: Mapped[str] = mapped_column(String(128), index=True)
    lab: Mapped[Name]
    part: Mapped[str] = mapped_column(String(255))  # the graded cell
    changed_at: Mapped[datetime] = mapped_column(_UtcTime, default=_now)
    by: Mapped[Name]  # the account of whoever changed it
    before: Mapped[float | None] = mapped_column(Float)
    after: Mapped[float | None] = mapped_column(Float)
    because: Mapped[str] = mapped_column(Text)


class CaseState(CourseTable):
    """By which hidden cases a version of the grader has graded: see case_states.py."""

    __tablename__ = "course_cases"

    lab: Mapped[Key]
    version: Mapped[Key]
    digests: Mapped[dict[str, str]] = mapped_column(_Json)  # exercise -> digest
    used_at: Mapped[datetime | None] = mapped_column(_UtcTime)  # None: with a seed that is not the course's


class Removed(CourseTable):
    """A student who was removed, or the attempt at a lab with this hash: it is not graded again."""

    __tablename__ = "course_removed"

    student: Mapped[Key]
    lab: Mapped[Key]  # empty: the student has left, and every lab is meant
    content_hash: Mapped[Name]  # of the removed attempt; empty: every file is meant
    removed_at: Mapped[datetime] = mapped_column(_UtcTime, default=_now)

    @property
    def sentence(self) -> str:
        """Why the work is left out, and what is typed to have it graded all the same."""
        what = f"this attempt of “{self.student}”" if self.lab else f"“{self.student}”"
        again = f"course remove undo {quote(self.student)}{f' {self.lab}' if self.lab else ''}"
        return f"{what} was removed on {self.removed_at:%Y-%m-%d} and stays out; to take it back, type: {again}"


# -- with which hidden cases a submission was graded ------------------------------------------------------------------


Digests = Mapping[str, str]  # exercise -> digest


def digest_cases(spec: ExerciseSpec, cases: Iterable[Any]) -> str:
    """A text that changes when the cases of an exercise do, with what they expect, its groups' weights or its rules.

    It does not change with sentences and hints. Expected numbers count up to their tolerance, so that machines agree.
    """
    groups = [(group.name, group.weight) for group in spec.groups]
    rules = [groups, spec.forbidden, spec.no_loops, sorted(spec.costs_at_most.items())]
    hashed = hashlib.sha256(repr(rules).encode())
    for case in cases:
        hashed.update(
            repr(_spell_out(_describe_case(case) if isinstance(case, Expectation) else case)).encode("utf-8", "replace")
        )
    return hashed.hexdigest()[:16]


def _describe_case(case: Expectation) -> list[Any]:
    expected = {
        name: _round_to(value, case.tolerance[name]) if case.tolerance.get(name) else value
        for name, value in case.expected.items()
    }
    return [case.group, case.mode, case.dtype, case.property, case.inputs, case.withheld, expected]


def _round_to(value: Any, tolerance: float) -> Any:
    numbers = np.asarray(value, dtype="float64")
    with np.errstate(all="ignore"):
        steps = np.rint(numbers / tolerance) + 0.0  # no -0
    return [float(f"{tolerance:.3g}"), np.where(np.isnan(steps), np.nan, steps)]


def _spell_out(value: Any) -> Any:
    """A value whose `repr` says all of it, and nothing else."""
    if isinstance(value, Mapping):
        return [(str(key), _spell_out(value[key])) for key in sorted(value, key=str)]
    if isinstance(value, list | tuple):
        return [_spell_out(each) for each in value]
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return value.dtype.str, value.shape, hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    if isinstance(value, np.ndarray):
        return [_spell_out(each) for each in value.tolist()]
    return value if isinstance(value, bool | int | float | str | bytes | None) else str(type(value))


@dataclass(frozen=True)
class CaseStates:
    """What is noted of a lab: the digests of each grader that graded or released it, by its version; `now` is the
    version that was used last with the course's own seed, None where nothing is noted."""

    digests: Mapping[str, Digests]
    now: str | None = None

    def find_others(self, version: str, exercises: Collection[str]) -> tuple[str, ...]:
        """Those of the exercises that have other cases now than those a submission was graded with, as far as known."""
        then, now = self.digests.get(version), self.digests.get(self.now or "")
        if then is None or now is None:
            return ()
        return tuple(name for name in exercises if name in now and then.get(name) != now[name])

    def may_differ(self, version: str, versions: Collection[str]) -> bool:
        """Whether nobody knows in what a submission was graded otherwise: its grader is not noted, or is another one
        than that of other submissions. `versions` are those of all submissions of the lab."""
        if self.now is None or version == self.now:
            return False
        return version not in self.digests or len(set(versions)) > 1


def read_states(connection: Connection, lab: str) -> CaseStates:
    """What is noted of a lab; nothing in a gradebook of an earlier version of this grader."""
    if not inspect(connection).has_table(CaseState.__tablename__):
        return CaseStates({})
    rows = connection.execute(select(CaseState.version, CaseState.digests, CaseState.used_at).filter_by(lab=lab)).all()
    used = [row for row in rows if row.used_at is not None]
    last = max(used, key=lambda row: row.used_at, default=None)
    return CaseStates({row.version: row.digests for row in rows}, last.version if last else None)


def describe_other_cases(marks: Iterable[Any]) -> Iterator[str]:
    """For each lab, how many submissions were graded with other cases than are used now, and what is to be typed."""
    with_others: Counter[tuple[str, tuple[str, ...]]] = Counter()
    unknown: Counter[str] = Counter()
    for mark in marks:
        if mark.other_cases:
            with_others[mark.lab, mark.other_cases] += 1
        elif mark.other_grader:
            unknown[mark.lab] += 1
    for (lab, names), number in sorted(with_others.items()):
        listed = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
        yield f"{lab}: {_count(number)} graded with other cases of {listed} than are used now: {_say_again(lab)}"
    for lab, number in sorted(unknown.items()):
        yield (
            f"{lab}: {_count(number)} graded with another state of the lab or the grader, so the same file may get "
            f"another mark now: {_say_again(lab)}"
        )


def _count(number: int) -> str:
    return "1 submission was" if number == 1 else f"{number} submissions were"


def _say_again(lab: str) -> str:
    return f"grade again, with course grade {lab} PATH on the same files"

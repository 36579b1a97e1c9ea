"""Opens the database of a gradebook, so that two graders may write at once, and says why where it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from autograder.course.settings import CourseError, with_driver

BUSY_SECONDS = 60
WRITERS = 7_305_221  # any number: the lock in PostgreSQL that graders take in turn


class GradebookError(CourseError):
    """The gradebook cannot be opened, or cannot take a result; the message says which one and what to do."""


def shown_url(db_url: str) -> str:
    """A gradebook's address as it may be shown: without the password."""
    try:
        return make_url(db_url).render_as_string(hide_password=True)
    except ArgumentError:
        return db_url


@contextmanager
def explained(db_url: str) -> Iterator[None]:
    """Any way in which a gradebook fails to open, as a GradebookError."""
    try:
        yield
    except (SQLAlchemyError, ImportError, OSError) as error:
        reason = str(error.orig if isinstance(error, DBAPIError) else error).partition("\n")[0]
        raise GradebookError(
            f"{shown_url(db_url)}: no gradebook can be opened there ({reason}); name another with --db or in "
            f"course.toml, such as sqlite:///gradebook.db"
        ) from error


def reading(engine: Engine) -> Connection:
    """A connection that only reads, and so keeps no writer waiting."""
    return engine.connect().execution_options(reading=True)


def open_engine(db_url: str) -> Engine:
    """The database at a SQLAlchemy address. A transaction that writes takes its lock when it begins.

    In SQLite it is the database's. In PostgreSQL it is one among graders: nbgrader's own tools do not wait for it.
    """
    url = make_url(with_driver(db_url))
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


def schema_head() -> str:
    """The version of nbgrader's tables, as alembic names it."""
    import nbgrader  # only a new database needs them, and they are slow to import
    from alembic.script import ScriptDirectory

    head = ScriptDirectory(str(Path(nbgrader.__file__).parent / "alembic")).get_current_head()
    assert head is not None  # nbgrader's folder of migrations is not empty
    return head

"""PostgreSQL as gradebook, on a real server: several write and read at once, and a cut connection is made again."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from graded_course import course, grade, result, set_grade  # noqa: F401  course is a fixture
from nbgrader.api import Gradebook
from postgres_server import Server, programs, running
from sqlalchemy import inspect, text
from tiny_course import LAB

from autograder.course.settings import add_driver, load_course
from autograder.grade.database import open_engine, read_head
from autograder.grade.gradebook import GradebookWriter, read_marks

WHERE = programs()
on_server = pytest.mark.skipif(WHERE is None, reason="no PostgreSQL here; Debian's package is postgresql")
STUDENTS = [f"student-{number:02}" for number in range(24)]


@pytest.fixture(scope="module")
def running_server() -> Iterator[Server]:
    assert WHERE is not None
    with running(WHERE) as started:
        yield started


@pytest.fixture
def server(running_server) -> Server:
    running_server.empty()
    return running_server


@pytest.fixture
def on_postgres(course, server):
    """The tiny course with its gradebook on the server."""
    with (course.root / "course.toml").open("a", encoding="utf-8") as toml:
        toml.write(f'\n[grading]\ndatabase = "{server.url}"\n')
    return load_course(course.root)


@pytest.mark.parametrize(
    ("named", "meant"),
    [
        ("postgresql://a:b@c/d?sslmode=verify-full", "postgresql+psycopg://a:b@c/d?sslmode=verify-full"),
        ("postgres://c/d", "postgresql+psycopg://c/d"),
        ("postgresql+psycopg2://c/d", "postgresql+psycopg2://c/d"),
        ("sqlite:////tmp/a.db", "sqlite:////tmp/a.db"),
        ("", ""),
    ],
)
def test_an_address_without_a_driver_gets_the_installed_one(named, meant):
    assert add_driver(named) == meant


@pytest.mark.long
@on_server
def test_two_graders_a_formgrader_and_a_report_at_once(on_postgres):
    """Both graders record everybody, one in the other order; meanwhile a person marks, and a report is read."""
    errors: list[Exception] = []
    finished = threading.Event()

    def guarded(work) -> threading.Thread:
        def run() -> None:
            try:
                work()
            except Exception as error:
                errors.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def record(students: list[str]) -> None:
        with GradebookWriter(on_postgres.db_url, on_postgres) as writer:
            for at in range(0, len(students), 4):
                writer.record([result(on_postgres, student, why="My words.") for student in students[at : at + 4]])

    def report() -> None:
        while not finished.is_set():
            assert len(read_marks(on_postgres, on_postgres.db_url)) <= len(STUDENTS)

    def mark() -> None:
        marked: set[str] = set()
        while len(marked) < len(STUDENTS):
            for student in {mark.student for mark in read_marks(on_postgres, on_postgres.db_url)} - marked:
                set_grade(on_postgres, student, "why", manual_score=3.0, needs_manual_grade=False)
                marked.add(student)

    graders = [guarded(lambda: record(STUDENTS)), guarded(lambda: record(STUDENTS[::-1]))]
    others = [guarded(report), guarded(mark)]
    for thread in (*graders, others[1]):
        thread.join(300)
    finished.set()
    others[0].join(60)
    assert errors == []
    for student in STUDENTS:
        assert grade(on_postgres, student, "double") == (2.0, None, False, 2.0)
        auto, manual, needs, score = grade(on_postgres, student, "why")
        assert (auto, manual, bool(needs), score) == (None, 3.0, False, 3.0)
    assert [mark.student for mark in read_marks(on_postgres, on_postgres.db_url)] == STUDENTS


@pytest.mark.long
@on_server
@pytest.mark.parametrize("first", ["nbgrader", "grader"])
def test_nbgraders_tables_are_as_its_migrations_want_them(on_postgres, first):
    if first == "nbgrader":
        Gradebook(on_postgres.db_url, on_postgres.course_id).close()
    with GradebookWriter(on_postgres.db_url, on_postgres) as writer:
        writer.record([result(on_postgres)])
    engine = open_engine(on_postgres.db_url)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all() == [read_head()]
        before = {table: inspect(connection).get_columns(table) for table in inspect(connection).get_table_names()}
    done = subprocess.run(
        [str(Path(sys.executable).parent / "nbgrader"), "db", "upgrade", "--db", on_postgres.db_url],
        cwd=on_postgres.root, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with engine.connect() as connection:
        after = {table: inspect(connection).get_columns(table) for table in inspect(connection).get_table_names()}
    engine.dispose()
    assert [*before] == [*after]
    assert {table: [column["name"] for column in columns] for table, columns in before.items()} == {
        table: [column["name"] for column in columns] for table, columns in after.items()
    }
    with Gradebook(on_postgres.db_url, on_postgres.course_id) as gradebook:
        assert gradebook.find_submission(LAB, "ada").score == 3.5


@on_server
def test_a_server_that_goes_down_and_comes_back_loses_nothing(on_postgres, server):
    with GradebookWriter(on_postgres.db_url, on_postgres) as writer:
        writer.record([result(on_postgres, "ada")])
        server.stop()
        threading.Timer(1.0, server.start).start()
        writer.record([result(on_postgres, "bob")])
        assert [mark.student for mark in writer.marks()] == ["ada", "bob"]
        assert writer.find_graded("ada", LAB, "c1", "g1") is not None

"""A gradebook that the release before wrote goes on: its marks, marks by hand, log, dates and removals."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from graded_course import result
from tiny_course import LAB, TOML, released

from autograder.course.settings import load_course
from autograder.grade.gradebook import GradebookWriter, read_marks

# Written by version 0.1.0. ada, a day late: 3 points by `course mark`. bo has an extension: 3 points, half a point of
# extra credit and a comment in Formgrader. cy's attempt was removed.
OLDER = Path(__file__).with_name("gradebook_0_1_0.sql")
DUE = "due = 2026-11-02T12:00:00Z\n"
EXTENSION = f'\n[[extensions]]\nstudent = "bo"\nlab = "{LAB}"\ndays = 1\n'
CAME = datetime(2026, 11, 3, 11, tzinfo=UTC)


@pytest.fixture
def course(tmp_path, monkeypatch):
    late = TOML.replace("[[labs]]", "[grading]\nlate_percent_per_day = 20\n\n[[labs]]")
    course = released(tmp_path / "course", monkeypatch, late + DUE + EXTENSION)
    with closing(sqlite3.connect(course.root / "gradebook.db")) as database:
        database.executescript(OLDER.read_text("utf-8"))
    return course


def counted(course) -> dict[str, tuple]:
    """What counts of each student: points, points lost by lateness, what was given by hand and why."""
    return {
        mark.student: (mark.score, mark.penalty, [(part.by_hand, part.comment) for part in mark.parts if part.by_hand])
        for mark in read_marks(course, course.db_url)
    }


THEN = {"ada": (4.0, 1.0, [(3.0, "right")]), "bo": (7.0, 0.0, [(3.5, "Say which scale.")])}


def test_its_marks_are_read_and_grading_again_keeps_them(course):
    assert counted(course) == THEN
    with GradebookWriter(course.db_url, course) as writer:
        assert writer.find_graded("ada", LAB, "c1", "g1").file == "ada.ipynb"
        assert writer.find_graded("ada", LAB, "c1", "g2") is None
        writer.settle(LAB)
        assert counted(course) == THEN
        same = {"timestamp": CAME, "grader_version": "g2"}
        writer.record([result(course, "ada", **same), result(course, "bo", why="Because.", content="c2", **same)])
        assert counted(course) == THEN
        assert not any(mark.waits for mark in writer.marks())
        writer.record([result(course, "bo", why="Other words.", content="c4", **same)])
        assert [mark.waiting_for("second look") for mark in writer.marks(LAB, ["bo"])] == [("why",)]


def test_its_log_removals_and_dates_are_known(course):
    with GradebookWriter(course.db_url, course) as writer:
        writer.mark_by_hand(LAB, "ada", "square", None, "my error")
        assert [(entry.by, entry.student, entry.part, entry.before, entry.after) for entry in writer.changes(LAB)][
            :-1
        ] == [
            ("Grace H.", "ada", "square", None, 3.0),
            ("grace", "bo", "why", None, 3.5),
            ("grace", "bo", "why", 3.5, 3.5),
            ("grace", "cy", "", 3.5, None),
        ]
        assert (writer.changes(LAB)[-1].before, writer.changes(LAB)[-1].after) == (3.0, None)
        assert writer.read_removed(LAB)["cy"].content_hash == "c3" and writer.take_back("cy") == 1
        assert writer.attempts(LAB) == {"ada": (CAME, "c1"), "bo": (CAME, "c2")}
    path = course.root / "course.toml"
    path.write_text(path.read_text().replace(EXTENSION, ""))
    assert counted(load_course(course.root))["bo"][1] == 1.4  # 20 % of 7 points


def test_the_tables_are_made_as_they_were(course, tmp_path):
    """Whoever changes a table writes what brings an older gradebook to it, and a test of that beside this one."""
    with GradebookWriter(f"sqlite:///{tmp_path / 'new.db'}", course):
        pass
    tables = []
    for path in (course.root / "gradebook.db", tmp_path / "new.db"):
        with closing(sqlite3.connect(path)) as database:
            names = "SELECT sql FROM sqlite_master WHERE name LIKE '%course_%' AND sql IS NOT NULL ORDER BY name"
            tables.append([" ".join(sql.split()) for (sql,) in database.execute(names)])
    assert tables[0] == tables[1] and len(tables[0]) == 6

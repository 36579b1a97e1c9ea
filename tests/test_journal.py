"""The journal of `course watch`: which attempt is graded when, and that a restart repeats and loses none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from autograder.integrations.watching.arrivals import HandedIn
from autograder.integrations.watching.journal import Journal
from autograder.submission import FoundSubmission

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


def attempt(number: int, student: str = "ada", lab: str = "01_tiny") -> HandedIn:
    found = FoundSubmission(student, lab, Path("x"))
    return HandedIn(f"{student}/{lab}/{number}", student, lab, NOON + timedelta(minutes=number), found)


@pytest.fixture
def journal(tmp_path):
    def opened(**settings) -> Journal:
        return Journal(tmp_path / "watch.db", **settings)

    return opened


def test_the_latest_of_several_that_wait_is_graded_and_the_others_are_replaced(journal):
    book = journal(counts="latest")
    assert book.note([attempt(1), attempt(2), attempt(3), attempt(1, "bob")], NOON) == 4
    assert book.due(NOON) == ["bob/01_tiny/1", "ada/01_tiny/3"]
    assert book.counts() == {"replaced": 2, "waiting": 2}


def test_where_the_best_counts_each_is_graded_in_turn(journal):
    book = journal(counts="best")
    book.note([attempt(2), attempt(1), attempt(1, lab="02_tiny")], NOON)
    assert sorted(book.due(NOON)) == ["ada/01_tiny/1", "ada/02_tiny/1"]
    book.finish("ada/01_tiny/1", NOON, 3, 5)
    book.finish("ada/02_tiny/1", NOON, 3, 5)
    assert book.due(NOON) == ["ada/01_tiny/2"]


def test_attempts_beyond_the_limit_wait_until_the_hour_is_over(journal):
    book = journal(counts="best", per_hour=2)
    for number in range(4):
        book.note([attempt(number)], NOON)
        for key in book.due(NOON):
            book.finish(key, NOON, 1, 5)
    assert book.counts() == {"graded": 2, "waiting": 2}
    assert book.waiting(9)[0].note.startswith("waits: 2 attempts an hour")
    book.note([attempt(1, "bob")], NOON)
    assert book.due(NOON + timedelta(minutes=59)) == ["bob/01_tiny/1"]
    assert book.due(NOON + timedelta(minutes=61)) == ["bob/01_tiny/1", "ada/01_tiny/2"]


def test_a_restart_repeats_nothing_and_loses_nothing(journal):
    book = journal()
    book.note([attempt(1), attempt(1, "bob")], NOON)
    book.finish("ada/01_tiny/1", NOON + timedelta(seconds=9), 3, 5)
    book.fail("bob/01_tiny/1", "the machine had no memory")
    book.close()
    again = journal()
    assert again.note([attempt(1), attempt(1, "bob")], NOON) == 0
    assert again.due(NOON) == ["bob/01_tiny/1"]
    (waits,), (graded,) = again.waiting(5), again.latest(5)
    assert (waits.failures, waits.note) == (1, "the machine had no memory")
    assert (graded.score, graded.max_score, graded.finished_at) == (3, 5, NOON + timedelta(seconds=9))
    assert again.seconds_to_feedback(NOON + timedelta(minutes=1)) == [9.0]

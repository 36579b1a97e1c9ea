"""Nothing that one attempt does ends `course watch`: it is a line, it rests, and the others are graded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from test_watcher import School
from tiny_course import LAB
from typer.testing import CliRunner

from autograder.cli import watching
from autograder.cli.app import app
from autograder.integrations.watching import watcher as watcher_module
from autograder.integrations.watching.resting import LONGEST, Resting
from autograder.integrations.watching.watcher import Round
from autograder.submission import PassedOver


@pytest.fixture
def school(tmp_path, monkeypatch):
    school = School(tmp_path, monkeypatch)
    for student, points in (("ada", 5), ("eve", 1), ("zoe", 4)):
        school.hand_in(student, points, monkeypatch)
    return school


def failing_for(who: str, real):
    def failing(attempt, *more):
        if attempt.student == who:
            raise ValueError("surrogates not allowed")
        return real(attempt, *more)

    return failing


def marks(watcher) -> dict[str, float]:
    return {mark.student: mark.score for mark in watcher.round()}


def test_an_attempt_that_has_no_time_is_its_own_line(school, monkeypatch):
    monkeypatch.setattr(watcher_module, "_came", failing_for("eve", watcher_module._came))
    with school.watcher() as watcher:
        assert marks(watcher) == {"ada": 5, "zoe": 4}
        assert watcher.last_round.failures == {"eve": "it cannot be taken in: ValueError: surrogates not allowed"}


def test_an_attempt_that_cannot_be_written_down_is_its_own_line(school, monkeypatch):
    with school.watcher() as watcher:
        real = watcher._journal.note

        def note(attempts, now):
            attempts = list(attempts)
            if any(attempt.student == "eve" for attempt in attempts):
                raise ValueError("surrogates not allowed")
            return real(attempts, now)

        monkeypatch.setattr(watcher._journal, "note", note)
        assert marks(watcher) == {"ada": 5, "zoe": 4} and watcher.last_round.arrived == 2
        assert list(watcher.last_round.failures) == ["eve"]


def test_an_attempt_that_ends_the_grading_of_all_is_graded_by_itself_and_rests(school, monkeypatch):
    """The next round tries it again, and the later ones not each time."""
    real, tried = school._grade_all, []

    def grade_all(grader, submissions, sandbox, workers):
        tried.append({submission.student for submission in submissions})
        if "eve" in tried[-1]:
            raise ValueError("surrogates not allowed")
        yield from real(grader, submissions, sandbox, workers)

    monkeypatch.setattr("autograder.marking.run.grade_all", grade_all)
    with school.watcher() as watcher:
        assert marks(watcher) == {"ada": 5, "zoe": 4}
        assert tried == [{"ada", "eve", "zoe"}, {"ada"}, {"eve"}, {"zoe"}]
        told = {"eve": "the grader failed at it: ValueError: surrogates not allowed"}
        assert watcher.last_round.failures == told
        for _ in range(4):
            assert marks(watcher) == {} and watcher.last_round.failures == told
        assert tried[4:] == [{"eve"}]
        school.hand_in("eve", 2, monkeypatch)  # another attempt need not wait
        monkeypatch.setattr("autograder.marking.run.grade_all", real)
        assert marks(watcher) == {"eve": 2}


def test_a_fault_after_the_last_verdict_and_a_page_that_cannot_be_made_are_told(school, monkeypatch):
    def broken(*_, **__):
        raise ValueError("no page")

    monkeypatch.setattr(watcher_module, "status_page", broken)
    monkeypatch.setattr("autograder.marking.run.bring_up_to_date", broken)
    with school.watcher() as watcher:
        assert marks(watcher) == {"ada": 5, "eve": 1, "zoe": 4}
        faults = {passed.path: passed.reason for passed in watcher.last_round.passed_over if passed.is_fault}
    assert "ValueError: no page" in faults[LAB] and "cannot be written" in faults[str(watcher.status)]


def test_who_failed_rests_longer_each_time_and_forgets_with_success():
    resting, now = Resting(), datetime(2026, 11, 2, tzinfo=UTC)
    rests = []
    for _ in range(12):
        resting.failed("a", "why", now)
        rests.append(next(n for n in range(0, 700, 10) if not resting.reason("a", now + timedelta(seconds=n))))
    assert rests[:4] == [0, 10, 20, 40] and rests[-1] == LONGEST.seconds
    assert resting.reason("a", now) == "why" and resting.reason("b", now) is None
    resting.succeeded("a")
    assert resting.reason("a", now) is None


class Rounds:
    """A watcher whose rounds raise."""

    status = only_roster = ""
    last_round = Round()
    __init__ = __exit__ = lambda *_, **__: None
    __enter__ = lambda self: self  # noqa: E731

    def round(self):
        raise ValueError("surrogates not allowed")


def test_rounds_that_fail_whatever_the_reason_are_told_and_come_slower(school, monkeypatch):
    pauses = list[float]()
    stop = SimpleNamespace(is_set=lambda: len(pauses) == 6, wait=pauses.append, set=lambda: None)
    monkeypatch.setattr(watcher_module, "Watcher", Rounds)
    monkeypatch.setattr(watching, "threading", SimpleNamespace(Event=lambda: stop))
    monkeypatch.setattr(watching.signal, "signal", lambda *_: None)
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["watch"])
    assert done.exit_code == 0 and done.output.count("this round stopped ValueError: surrogates not allowed") == 6
    assert pauses == [10, 20, 40, 60, 60, 60]


def test_a_single_round_says_by_its_exit_code_that_something_failed(school, monkeypatch):
    monkeypatch.setattr(watcher_module, "Watcher", Rounds)
    assert CliRunner().invoke(app, ["watch", "--once"]).exit_code != 0
    monkeypatch.setattr(Rounds, "round", lambda self: iter(()))
    for fault in (False, True):
        passed = PassedOver("inbound/eve", "it cannot be looked at", is_fault=fault)
        monkeypatch.setattr(Rounds, "last_round", Round(passed_over=[passed]))
        assert CliRunner().invoke(app, ["watch", "--once"]).exit_code == fault

"""Nothing that one attempt does ends `course watch`: it is a line, and the others are graded."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from test_watcher import School
from tiny_course import LAB
from typer.testing import CliRunner

from autograder.cli import grading
from autograder.cli.app import app
from autograder.integrations.watching import watcher as watcher_module
from autograder.integrations.watching.watcher import Round
from autograder.read import PassedOver


@pytest.fixture
def school(tmp_path, monkeypatch):
    school = School(tmp_path, monkeypatch)
    for student, points in (("ada", 5), ("eve", 1), ("zoe", 4)):
        school.hand_in(student, points, monkeypatch)
    return school


def marks(watcher) -> dict[str, float]:
    return {mark.student: mark.score for mark in watcher.round()}


def test_an_attempt_that_cannot_be_written_down_is_its_own_line(school, monkeypatch):
    with school.watcher() as watcher:
        real = watcher._note

        def note(arrival, now):
            if arrival.found.student == "eve":
                raise ValueError("surrogates not allowed")
            return real(arrival, now)

        monkeypatch.setattr(watcher, "_note", note)
        assert marks(watcher) == {"ada": 5, "zoe": 4}
        assert watcher.last_round.failures == {"eve": "it cannot be taken in: ValueError: surrogates not allowed"}


def test_an_attempt_that_ends_the_grading_of_all_is_graded_by_itself(school, monkeypatch):
    """Each round tries it again; rounds come slower while one fails."""
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
        assert marks(watcher) == {} and watcher.last_round.failures == told
        assert tried[4:] == [{"eve"}]
        school.hand_in("eve", 2, monkeypatch)  # another attempt need not wait
        monkeypatch.setattr("autograder.marking.run.grade_all", real)
        assert marks(watcher) == {"eve": 2}


def test_a_fault_after_the_last_verdict_is_told_and_costs_none(school, monkeypatch):
    def broken(*_, **__):
        raise ValueError("no page")

    monkeypatch.setattr("autograder.marking.run.bring_up_to_date", broken)
    with school.watcher() as watcher:
        assert marks(watcher) == {"ada": 5, "eve": 1, "zoe": 4}
        faults = {passed.path: passed.reason for passed in watcher.last_round.passed_over if passed.is_fault}
        assert watcher.last_round.failures == {}
    assert "ValueError: no page" in faults[LAB]


class Rounds:
    """A watcher whose rounds raise."""

    last_round = Round()
    __init__ = __exit__ = lambda *_, **__: None
    __enter__ = lambda self: self  # noqa: E731

    def round(self):
        raise ValueError("surrogates not allowed")


def test_rounds_that_fail_whatever_the_reason_are_told_and_come_slower(school, monkeypatch):
    pauses = list[float]()
    stop = SimpleNamespace(is_set=lambda: len(pauses) == 6, wait=pauses.append, set=lambda: None)
    monkeypatch.setattr(watcher_module, "Watcher", Rounds)
    monkeypatch.setattr(grading, "threading", SimpleNamespace(Event=lambda: stop))
    monkeypatch.setattr(grading.signal, "signal", lambda *_: None)
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["watch"])
    assert done.exit_code == 0 and done.output.count("this round stopped ValueError: surrogates not allowed") == 6
    assert pauses == [10, 20, 40, 60, 60, 60]
    pauses.clear()
    monkeypatch.setattr(Rounds, "round", lambda self: iter(()))
    monkeypatch.setattr(Rounds, "last_round", Round(failures={"eve": "the worker ended twice"}))
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["watch"])
    assert done.output.count("no verdict eve: the worker ended twice") == 1 and pauses[:3] == [10, 20, 40]


def test_a_single_round_says_by_its_exit_code_that_something_failed(school, monkeypatch):
    monkeypatch.setattr(watcher_module, "Watcher", Rounds)
    assert CliRunner().invoke(app, ["watch", "--once"]).exit_code != 0
    monkeypatch.setattr(Rounds, "round", lambda self: iter(()))
    for fault in (False, True):
        passed = PassedOver("inbound/eve", "it cannot be looked at", is_fault=fault)
        monkeypatch.setattr(Rounds, "last_round", Round(passed_over=[passed]))
        assert CliRunner().invoke(app, ["watch", "--once"]).exit_code == fault

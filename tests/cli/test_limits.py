"""The limits of a submission follow from the processors that the grader may use, not from those of the machine."""

import os

import pytest

from autograder.sandbox import Limits


@pytest.mark.parametrize("cores", [1, 2, 96])
def test_threads_follow_the_processors_that_may_be_used(monkeypatch, cores):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 128)
    assert Limits().processes == 64 + 2 * cores


def test_without_affinity_the_machines_processors_count(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert Limits().processes == 66


def test_a_larger_budget_has_as_many_times_more_by_the_clock():
    limits = Limits(cpu_seconds_per_step=10, wall_seconds_per_step=60)
    assert limits.wall_seconds(10) == 60
    assert limits.wall_seconds(25) == 150

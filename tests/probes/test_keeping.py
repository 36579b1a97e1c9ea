"""Of what came back no more is kept than is judged, and nothing that is far larger than what is right."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.grade.submission_run import LEAST_ROOM, keep_expected
from coursekit.check.judge import Attempt, ExerciseSpec, Expectation, GroupSpec, judge

RIGHT = {"y": np.ones((2, 3)), "words": ["a", "b"]}
SPEC = ExerciseSpec("double", (GroupSpec("values", "right values", 1),), {})


def case(expected=RIGHT, **settings) -> Expectation:
    return Expectation("values", "x (2, 3)", {}, "call", expected, dict.fromkeys(expected, 1e-6), **settings)


def test_what_is_judged_is_kept_and_all_else_goes():
    outputs = {**RIGHT, "rows": np.ones(3)}
    assert keep_expected(Attempt(outputs), case()) == Attempt(RIGHT)
    weights = {"weights": np.ones((2, 1))}
    assert keep_expected(Attempt({**weights, **outputs}), case({}, property="rows are distributions")) == Attempt(
        weights
    )
    assert "rows" not in keep_expected(Attempt({**outputs, "rows": np.zeros(LEAST_ROOM)}), case()).outputs


def test_a_failure_stays_as_it_is():
    failure = Attempt(kind="error", message="ValueError: no")
    assert keep_expected(failure, case()) is failure


@pytest.mark.parametrize(
    "large",
    [[np.zeros(1000)] * 200, [[]] * 100_000, "x" * 2_000_000, {"k": [np.zeros(LEAST_ROOM, "uint8")]}, [0.5] * 200_000],
    ids=["arrays", "empty lists", "a text", "a dictionary", "numbers"],
)
def test_of_what_is_far_too_large_only_a_sentence_is_kept(large):
    attempt = keep_expected(Attempt({**RIGHT, "y": large}), case())
    assert attempt == Attempt(kind="contract", message="`y` is far larger than what is expected.")
    assert not judge(SPEC, [case()], [attempt]).passed


def test_the_shape_of_a_large_array_is_said():
    attempt = keep_expected(Attempt({**RIGHT, "y": np.zeros((2, LEAST_ROOM), "uint8")}), case())
    assert attempt.message == "`y` has shape (2, 1048576) and is far larger than what is expected."


def test_a_wrong_result_that_is_somewhat_larger_is_judged():
    wrong = Attempt({**RIGHT, "y": np.zeros((300, 400))})
    assert keep_expected(wrong, case()) == wrong
    large = np.zeros((1000, 500))
    assert keep_expected(Attempt({"y": np.zeros((1000, 500, 4))}), case({"y": large})).outputs is not None
    assert keep_expected(Attempt({"y": np.zeros((1000, 500, 25))}), case({"y": large})).outputs is None

"""What a lab ships earns nothing in the grader: expected values depend on hidden inputs, or a group says why not."""

from __future__ import annotations

from typing import Any

import nbformat
import numpy as np
import pytest
from lab_matrix import LABS
from this_course import ROOT, exercises_of

from autograder.course.labs import points
from autograder.declare import Case, Design, Exercise, Questions
from autograder.declare.exercise import VISIBLE_SEED
from autograder.release.lint_lab import find_fixed_groups
from coursekit.check.judge import Attempt, Expectation, judge

HIDDEN_SEED = 977


def twice() -> Exercise:
    exercise = Exercise("twice", own_probe=True, oracle=lambda x: {"output": 2 * x})
    exercise.formula_for("refusal")(lambda: {"raised": "no"})

    @exercise.group("numbers", points=2)
    def numbers(rng):
        return [Case({"x": rng.normal(size=3)})]

    @exercise.group("zero", points=1)
    def zero(rng):
        return [Case({"x": np.zeros(3)})]

    @exercise.group("refused", points=1, fixed="a refusal")
    def refused(rng):
        return [Case({"x": rng.normal(size=2)}, mode="refusal")]

    return exercise


def test_a_group_is_fixed_if_two_seeds_expect_the_same():
    found = {group.group: group for group in find_fixed_groups({"twice": twice()})}
    assert list(found) == ["zero", "refused"]
    assert (found["zero"].share, found["zero"].reason) == (0.25, "")
    assert found["refused"].reason == "a refusal"


def test_what_is_written_down_is_a_value():
    questions = Questions("answers")
    questions.question("half", "a half", right=0.5)
    (group,) = find_fixed_groups({"answers": questions})
    assert group.reason == "a value that students write down"


def test_hidden_labels_are_no_fixed_group():
    exercise = Exercise("free", oracle=lambda x: {"output": np.full(2, np.nan)})

    @exercise.group("labels", points=1)
    def labels(rng):
        return [Case({"x": 1}, withheld={"labels": rng.integers(100, size=20)})]

    exercise.probe_only = ("labels",)
    assert list(find_fixed_groups({"free": exercise})) == []


@pytest.mark.long
@pytest.mark.parametrize("lab", LABS)
def test_every_other_group_of_this_course_says_why(lab):
    unexplained = {(group.exercise, group.group) for group in find_fixed_groups(exercises_of(lab)) if not group.reason}
    assert not unexplained


@pytest.mark.long
@pytest.mark.parametrize("lab", LABS)
def test_replaying_what_is_released_earns_nothing_else(lab):
    """Who returns what the reference file holds for the visible case whose inputs are the nearest."""
    exercises = exercises_of(lab)
    fixed = {(group.exercise, group.group) for group in find_fixed_groups(exercises)}
    worth = points(nbformat.read(ROOT / "solutions" / lab / f"{lab}.ipynb", as_version=4))
    total = values = 0.0
    for name, exercise in exercises.items():
        hidden = exercise.expectations(HIDDEN_SEED)
        attempts = replayed(exercise.expectations(VISIBLE_SEED), hidden)
        judgement = judge(exercise.spec, hidden, attempts)
        earned = {(name, group.spec.name) for group in judgement.groups if group.passed}
        assert earned <= fixed, earned - fixed
        total += judgement.share * worth.get(name, 0)
        values += judgement.share * worth.get(name, 0) * isinstance(exercise, (Questions, Design))
    assert total - values <= 0.05 * sum(worth.values())  # as SECURITY.md says: refusals, and what has no other answer
    assert total <= 0.25 * sum(worth.values())


@pytest.mark.parametrize("lab", LABS)
def test_values_are_worth_at_most_a_sixth_of_a_lab_and_a_quarter_with_a_design(lab):
    """They are written down, so a copy earns them: answers, the prediction, the numbers of a design."""
    worth = points(nbformat.read(ROOT / "solutions" / lab / f"{lab}.ipynb", as_version=4))
    exercises = exercises_of(lab)
    written = sum(worth.get(name, 0) for name, exercise in exercises.items() if type(exercise) is Questions)
    chosen = sum(worth.get(name, 0) for name, exercise in exercises.items() if isinstance(exercise, Design))
    assert 6 * written <= sum(worth.values())
    assert 4 * (written + chosen) <= sum(worth.values())


def replayed(visible: list[Expectation], hidden: list[Expectation]) -> list[Attempt]:
    attempts = []
    for case in hidden:
        kinds = [kind_apart(shown, case) for shown in visible]
        like = [shown for shown, kind in zip(visible, kinds, strict=True) if kind == min(kinds)]
        at_hand = min(
            like, key=lambda shown: sum(apart(value, shown.inputs.get(key)) for key, value in case.inputs.items())
        )
        outputs = {
            key: np.nan_to_num(value) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value
            for key, value in at_hand.expected.items()
        }
        attempts.append(Attempt(outputs))
    return attempts


def kind_apart(shown: Expectation, case: Expectation) -> tuple[bool, int, int]:
    """Whether two cases differ in mode, in how many inputs they differ by name or shape, and in how many texts."""
    pairs = [(value, shown.inputs[key]) for key, value in case.inputs.items() if key in shown.inputs]
    odd = len(shown.inputs.keys() ^ case.inputs.keys())
    odd += sum(getattr(one, "shape", ()) != getattr(other, "shape", ()) for one, other in pairs)
    texts = sum(not is_numeric(one) and repr(one) != repr(other) for one, other in pairs)
    return shown.mode != case.mode, odd, texts


def is_numeric(value: Any) -> bool:
    return isinstance(value, (bool, int, float)) or (isinstance(value, np.ndarray) and value.dtype.kind in "biuf")


def apart(one: Any, other: Any) -> float:
    """The root of the mean squared difference, as a share of the numbers' size; 0 for what is not numbers."""
    if not (is_numeric(one) and is_numeric(other) and np.shape(one) == np.shape(other)) or np.size(one) == 0:
        return 0.0
    one, other = np.nan_to_num(np.asarray(one, float)), np.nan_to_num(np.asarray(other, float))
    size = np.abs(one).mean() + np.abs(other).mean()
    return float(np.sqrt(((one - other) ** 2).mean()) / size) if size else 0.0

"""`course author mutants`: wrong solutions are graded behind the walls; those that pass though wrong are named."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest
from lab_matrix import LABS
from nbformat.v4 import new_code_cell, new_notebook
from this_course import ROOT, exercises_of
from tight_sandbox import TIGHT

from autograder.author.solution_mutants import measure
from autograder.author.strength import fresh_inputs
from autograder.course.settings import load_course
from autograder.course.text_pairs import read_pair
from autograder.declare import Case, Exercise
from autograder.declare.exercise import FIND_THE_BUG
from autograder.sandbox import Sandbox
from autograder.sandbox.warm import start_sandbox
from coursekit.generator import Generator

pytestmark = pytest.mark.sandbox
ROOTS = "def roots(x, floor=0):\n    return np.sqrt(np.maximum(x, floor))\n"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(TIGHT, preload=["numpy", "coursekit.probes", "coursekit.check.rules"]) as started:
        yield started


def notebook(source: str):
    metadata = {"nbgrader": {"grade": False, "grade_id": "roots-code", "solution": True, "locked": False}}
    return new_notebook(cells=[new_code_cell("import numpy as np"), new_code_cell(source, metadata=metadata)])


def roots(*lows: float) -> Exercise:
    """Roots of what is not below a floor; each case has numbers from one of `lows` on."""
    exercise = Exercise("roots", call=("x",))

    @exercise.formula
    def formula(x):
        return np.sqrt(np.maximum(x, 0))

    @exercise.group("values", points=1)
    def values(rng: Generator) -> list[Case]:
        return [Case({"x": low + rng.random(5)}) for low in lows]

    return exercise


def test_a_wrong_solution_that_passes_is_left_and_a_right_one_is_equivalent(sandbox, monkeypatch):
    drawn = fresh_inputs(roots(-0.5))
    monkeypatch.setattr("autograder.author.solution_mutants.fresh_inputs", lambda _: drawn)
    weak, strong = (measure("lab", roots(*lows), notebook(ROOTS), sandbox, seed=1) for lows in ((1.0,), (1.0, -0.5)))
    assert weak.made == strong.made == weak.killed + weak.equivalent + len(weak.left)
    assert weak.left and not strong.left and strong.equivalent
    assert any("return np.sqrt(x)" in label for label in weak.left)


def test_an_input_for_which_the_solution_itself_fails_says_nothing_of_a_mutant(sandbox, monkeypatch):
    """Numbers three times as large may be what the text rules out: a share, a probability."""
    refusing = ROOTS.replace("    return", "    if x.max() > 2.5:\n        raise ValueError\n    return")
    exercise = roots(1.0, -0.5)
    assert any(case.inputs["x"].max() > 2.5 for case in islice(fresh_inputs(exercise), 8))
    found = measure("lab", exercise, notebook(refusing), sandbox, seed=1)
    assert found.equivalent and not found.left


def test_of_an_exercise_that_trains_one_more_draw_is_tried(sandbox):
    """What is right for the inputs of the cases alone is no equivalent."""
    exercise = roots(1.0)
    exercise.cpu_seconds = 5
    lucky = exercise.expectations(1)[0].inputs["x"]
    source = f"def roots(x):\n    if abs(x[0] - {float(lucky[0])!r}) < 1e-9:\n        return np.sqrt(x) + 0.0\n"
    found = measure("lab", exercise, notebook(f"{source}    return np.sqrt(x) * 3 / 3\n"), sandbox, seed=1)
    assert found.left and found.made <= 20


@pytest.mark.long
def test_an_equivalent_one_is_right_on_200_inputs(sandbox, monkeypatch):
    """One that is wrong on the 151st is none."""
    drawn = []

    def counted(exercise):
        for case in fresh_inputs(exercise):
            drawn.append(case)
            yield case

    monkeypatch.setattr("autograder.author.solution_mutants.fresh_inputs", counted)
    exercise = roots(1.0)
    late = next(islice(fresh_inputs(exercise), 150, None)).inputs["x"]
    source = f"def roots(x):\n    if abs(x[0] - {float(late[0])!r}) < 1e-9:\n        return np.sqrt(x) + 0.0\n"
    found = measure("lab", exercise, notebook(f"{source}    return np.sqrt(x)\n"), sandbox, seed=1)
    assert any("+ 1.0" in label for label in found.left), found
    assert found.equivalent and len(drawn) == 200


@pytest.mark.exhaustive
@pytest.mark.parametrize("lab", LABS)
def test_wrong_solutions_fail(lab):
    course = load_course(ROOT)
    chosen = [
        exercise for name, exercise in exercises_of(lab).items() if exercise.oracle is not None and name != FIND_THE_BUG
    ]
    solution = read_pair(course.solution_notebook(lab))
    with start_sandbox(course, lab) as starting:
        found = [measure(lab, exercise, solution, starting.result(), seed=40723) for exercise in chosen]
    left = [f"{result.exercise}: {label}" for result in found for label in result.left]
    assert len(left) <= 0.01 * sum(result.killed for result in found), left

"""The instructor's solution in the sandbox: it gives the references, or one sentence says why it does not."""

from __future__ import annotations

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from tiny_course import LAB, details

from autograder.course.settings import CourseError
from autograder.declare import Case, OwnExercise
from autograder.grade.lab_grader import compute_own_expectations
from autograder.sandbox import Limits, Sandbox

pytestmark = pytest.mark.sandbox
RIGHT = "def twice(x):\n    return 2 * x"


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(Limits(cpu_seconds_per_step=2, wall_seconds_per_step=20), preload=("numpy",)) as warm:
        yield warm


def notebook(answer: str) -> nbformat.NotebookNode:
    cells = [
        new_code_cell("import nothing_of_this_name", metadata=details("imports", locked=True)),
        new_code_cell("raise SystemExit", metadata={"tags": ["demonstration"]}),
        new_code_cell(answer, metadata=details("twice-code", solution=True)),
        new_code_cell('check("twice")', metadata=details("twice", grade=True, locked=True, points=2)),
        new_code_cell("while True: pass", metadata=details("after", locked=True)),
    ]
    return new_notebook(cells=cells)


def run(sandbox: Sandbox, answer: str, draw=lambda rng: [Case({"x": rng.normal(size=5)})], files=None):
    exercise = OwnExercise("twice", call=("x",))
    exercise.group("right values", points=1, name="values")(draw)
    return compute_own_expectations(LAB, notebook(answer), {"twice": exercise}, 1, sandbox, files)


def test_the_references_are_what_the_solution_returns(sandbox):
    (case,) = run(sandbox, RIGHT)["twice"]
    np.testing.assert_array_equal(case.expected["output"], 2 * case.inputs["x"])


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("twice = 1 / 0", "the cell twice-code stops with ZeroDivisionError"),
        ("def twice(x):\n    return x[7]", "group values: tried x .*IndexError"),
        ("def twice(x):\n    while True: pass", "the solution's twice does not end"),
        ("def twice(x):\n    return x / 0 * 0", "not a number"),
        ("def other(x):\n    return x", "`twice` is not defined"),
    ],
)
def test_a_solution_that_gives_no_reference_is_said_in_a_sentence(sandbox, answer, said):
    with pytest.raises(CourseError, match=rf"^solutions/{LAB}.*{said}"):
        run(sandbox, answer)


def test_files_beside_the_notebook_are_in_the_working_folder(sandbox):
    files = {"data/table.csv": b"2", "note.txt": "'\u00e9\n".encode()}
    answer = "import os\nfactor = int(open('data/table.csv').read())\nassert open('note.txt').read() == \"'\u00e9\\n\""
    answer += "\nassert not os.access('note.txt', os.W_OK) or os.getuid() == 0\nassert 'path' not in globals()"
    (case,) = run(sandbox, f"{answer}\ndef twice(x):\n    return factor * x", files=files)["twice"]
    np.testing.assert_array_equal(case.expected["output"], 2 * case.inputs["x"])


def test_an_error_of_a_given_cell_is_told_first_with_what_to_do(sandbox):
    with pytest.raises(CourseError) as refusal:
        run(sandbox, "data = nothing_of_this_name.load()\n" + RIGHT)
    first, _, then = str(refusal.value).partition("; then ")
    assert 'the given cell that begins "import nothing_of_this_name" stops with ModuleNotFoundError' in first
    assert "name it in course.toml: packages" in first and "twice-code stops with NameError" in then


def test_a_given_cell_that_fails_is_told_also_where_every_exercise_has_its_results(sandbox):
    told = []
    solution = notebook(RIGHT)
    begins = f'from coursekit import start_lab\ncheck = start_lab("{LAB}")'
    solution.cells.insert(0, new_code_cell(begins, metadata=details("begin", locked=True)))
    exercise = OwnExercise("twice", call=("x",))
    exercise.group("right values", points=1, name="values")(lambda rng: [Case({"x": rng.normal(size=3)})])
    compute_own_expectations(LAB, solution, {"twice": exercise}, 1, sandbox, None, told.append)
    assert len(told) == 1 and "ModuleNotFoundError" in told[0] and "packages" in told[0]


def test_a_function_that_draws_no_cases_is_named(sandbox):
    with pytest.raises(CourseError, match=r"exercise twice: .*there is no input y"):
        run(sandbox, RIGHT, draw=lambda rng: [Case({"y": 1})])


def test_an_error_in_the_instructors_draw_is_told_with_its_exercise(sandbox):
    with pytest.raises(CourseError, match=r"exercise twice: .*ZeroDivisionError"):
        run(sandbox, RIGHT, draw=lambda rng: [Case({"x": 1 / 0})])

"""An instructor's own exercise: what its declaration says, and what is refused before students meet it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from autograder.course.settings import CourseError, load_course
from autograder.declare import Case, OwnExercise
from autograder.declare.declaration import SolutionFails, declared_exercises
from autograder.release.reference_export import export
from coursekit.check.judge import Attempt
from coursekit.check.lab import Lab, load_reference, run_cases
from coursekit.probes import described
from coursekit.probes.driving import NotFound

LAB = "01_averages"
DECLARED = """
from autograder.declare import Case, OwnExercise

exercise = OwnExercise("moving_average", call=("x", "width"))


@exercise.group("right values", points=2)
def values(rng):
    return [Case({"x": rng.normal(size=17), "width": 3})]
"""


def moving_average(x, width):
    return np.convolve(x, np.ones(width) / width, "valid")


def own(draw, **options) -> OwnExercise:
    exercise = OwnExercise("moving_average", **{"call": ("x", "width"), **options})
    exercise.group("right values", points=2, name="values")(draw)
    return exercise


def solution_of(exercise: OwnExercise, **names):
    def solution(case: Case) -> Attempt:
        return run_cases(LAB, exercise.name, [case], names, exercise.probe)[0]

    return solution


def two_cases(rng):
    return [Case({"x": rng.normal(size=17), "width": 3}), Case({"x": rng.normal(size=11), "width": 1}, mode="tensor")]


@pytest.mark.parametrize("points", [0, -1])
def test_a_group_without_points_is_refused_where_it_is_declared(points):
    told = f'moving_average: the group "right values" has {points} points; give it at least 1'
    with pytest.raises(ValueError, match=told):
        OwnExercise("moving_average", call=("x", "width")).group("right values", points=points)


def test_references_are_what_the_solution_returns_and_the_seed_decides_the_inputs():
    exercise = own(two_cases)
    solution = solution_of(exercise, moving_average=moving_average)
    one, again, other = (exercise.expectations(seed, solution) for seed in (1, 1, 2))
    for case in one:
        np.testing.assert_array_equal(case.expected["output"], moving_average(**case.inputs))
        assert 0 < case.tolerance["output"] < 1e-4
    np.testing.assert_array_equal(one[0].inputs["x"], again[0].inputs["x"])
    assert not np.array_equal(one[0].inputs["x"], other[0].inputs["x"])


def test_the_check_beside_the_notebook_needs_no_probe_of_the_package(tmp_path, monkeypatch):
    exercise = own(two_cases)
    exercise.hints(values="Add up the window.")
    cases = exercise.expectations(1, solution_of(exercise, moving_average=moving_average))
    files = export(LAB, "Averages", {"moving_average": 3}, {"moving_average": exercise}, {"moving_average": cases})
    (tmp_path / "reference").mkdir()
    for name, content in files.items():
        (tmp_path / "reference" / name).write_bytes(content)
    assert json.loads(files[f"{LAB}.json"])["exercises"][0]["probe"]["call"] == ["x", "width"]

    with pytest.raises(ValueError, match=f"no reference/{LAB}.json lies beside the notebook"):
        load_reference(LAB)
    monkeypatch.chdir(tmp_path)
    lab = Lab(load_reference(LAB))
    assert lab.report("moving_average", {"moving_average": moving_average}).judgement.passed
    wrong = lab.report("moving_average", {"moving_average": lambda x, width: moving_average(x, width) + 1e-3})
    assert wrong.judgement.status == "graded" and not wrong.judgement.passed


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda rng: [Case({"x": np.zeros(3), "widht": 3})], "no input widht; there are width, x"),
        (lambda rng: [Case({"x": np.zeros(3)})], "a case has no width"),
        (lambda rng: [], "it returns no cases"),
        (lambda rng: [Case({"x": np.zeros(3), "width": 1}, mode="gradient")], "a mode, call or tensor"),
    ],
)
def test_a_declaration_that_cannot_be_meant_is_refused(draw, said):
    exercise = own(draw)
    with pytest.raises(ValueError, match=said):
        exercise.expectations(1, solution_of(exercise, moving_average=moving_average))


@pytest.mark.parametrize("result", [None, np.array([1, np.nan]), float("nan")])
def test_a_solution_that_gives_nothing_to_compare_with_is_refused(result):
    exercise = own(two_cases)
    with pytest.raises(SolutionFails, match="group values"):
        exercise.expectations(1, solution_of(exercise, moving_average=lambda x, width: result))


def test_a_value_and_an_entry_of_answers_are_read():
    probe = described("area", {"kind": "value"})
    assert probe({"area": 3.5}, {}, "call") == {"value": 3.5}
    assert probe({"area": {"unit": " Metre. "}}, {"entry": "unit"}, "call") == {"answer": "metre"}
    for names, error in (({"area": None}, NotFound), ({}, NotFound)):
        with pytest.raises(error):
            probe(names, {}, "call")


def test_the_files_of_a_course_are_read_and_named_when_they_cannot_be(tmp_path):
    (tmp_path / "course.toml").write_text(
        f'[course]\ntitle = "T"\nid = "t"\n[distribution]\nversion = "1"\n[[labs]]\nname = "{LAB}"\n'
    )
    course = load_course(tmp_path)
    with pytest.raises(CourseError, match="no exercise is declared"):
        declared_exercises(course, LAB)
    path = tmp_path / "exercises" / LAB.partition("_")[2] / "moving_average.py"
    path.parent.mkdir(parents=True)
    path.write_text(DECLARED)
    assert list(declared_exercises(course, LAB)) == ["moving_average"]
    path.with_name("second.py").write_text(DECLARED)
    with pytest.raises(CourseError, match=r"second\.py: the lab has a second exercise moving_average"):
        declared_exercises(course, LAB)
    for text, said in (("exercise = 1", "declares no exercise"), ("1/0", "ZeroDivisionError")):
        path.with_name("second.py").write_text(text)
        with pytest.raises(CourseError, match=said):
            declared_exercises(course, LAB)

"""What an exercise's file says in short: mistakes as rows, cases from shapes, the standard groups."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.declare import Advice, Case, Exercise, Mistake, OwnExercise, cases, edit, instead, seen
from autograder.declare.mistakes import Edit, EditError
from coursekit.generator import Generator


def scaled(x, factor=2.0):
    return factor * x + factor


def dense(features, x, kernel):
    return x @ kernel


def drawn(exercise: Exercise | OwnExercise, seed: int = 1) -> list[Case]:
    return [case for group, rng in exercise.generators(seed) for case in group.draw(rng)]


def test_a_row_is_a_change_what_is_wrong_and_the_next_hint():
    row = edit("a", "b", see="02#roots") | edit("c", "d") | "It is wrong." | "Look again."
    assert row == Mistake("It is wrong.", (Edit("a", "b"), Edit("c", "d")), hint="Look again.", see="02#roots")
    assert edit(("a", "b"), ("c", "d")).edits == row.edits
    assert (edit("a", "b", costs_at_most=0.5) | seen({"n": 1.0}) | "Wrong.").seen == {"n": 1.0}
    assert (seen(1.0) | "One.").seen == 1.0 and (instead(scaled) | "Another one.").instead is scaled
    answers = {"row": np.arange(3.0)}
    assert (seen(answers) | "These.").seen is answers


@pytest.mark.parametrize(
    "twice",
    [
        lambda: edit("a", "b") | "It is wrong." | "A hint." | "Another one.",
        lambda: edit("a", "b", see="02#one") | edit("c", "d", see="02#other"),
        lambda: seen(1.0) | seen(2.0),
        lambda: edit("a", "b", "c"),
    ],
)
def test_a_row_with_two_of_a_kind_is_an_error(twice):
    with pytest.raises(ValueError):
        twice()


def test_an_edit_says_how_many_times_it_fits():
    exercise = Exercise("scaled")
    exercise.formula(scaled)
    exercise.mistakes(unscaled=edit("factor *", "") | "No.", fixed=edit("factor", "3", times=2) | "No.")
    assert exercise.with_mistake("fixed")(np.array(5.0)) == 18
    with pytest.raises(ValueError, match=r"mistake other: 'factor' fits 2 times; it must fit exactly 3 times in"):
        exercise.mistakes(other=edit("factor", "3", times=3) | "No.")
    with pytest.raises(ValueError, match="mistake silent: what is the student told"):
        exercise.mistakes(silent=edit("factor *", ""))
    with pytest.raises(EditError, match="exactly once"):
        exercise.formulas.change_texts([("factor", "3")])


def test_an_edit_may_use_numpy_where_the_formulas_module_does_not():
    functions: dict = {}
    exec(compile("def half(x):\n    return x / 2", __file__, "exec"), functions)
    exercise = Exercise("half", oracle=scaled)
    assert exercise.formulas.make([("factor * x", "np.abs(x) * math.pi")])[""](np.array(-1.0)) > 5


def test_the_formulas_signature_says_how_the_function_is_called():
    exercise = Exercise("scaled")
    exercise.formula(scaled)
    assert exercise.probe == {"kind": "function", "call": ["x"], "optional": ["factor"], "returns": ["output"]}
    assert Exercise("scaled", oracle=scaled, own_probe=True).probe is None
    assert Exercise("scaled", oracle=scaled, fields=("low",)).probe["kind"] == "record"


def test_cases_come_from_shapes_and_draw_as_if_they_were_written_out():
    exercise = Exercise("scaled", oracle=scaled)
    exercise.group("shapes", shapes=cases(x=[(7,), (5, 3)], factor=[1.0, 2.0], mode="tensor", dtype="float32"))
    exercise.group("one", points=2, one=cases(x=lambda rng: rng.integers(9, size=4), factor=3.0))

    @exercise.group("written out")
    def written(rng):
        yield {"x": rng.normal(size=2)}
        yield Case({"x": rng.normal(size=3)}, "three numbers")

    assert [(group.name, group.weight) for group in exercise.groups] == [("shapes", 1), ("one", 2), ("written", 1)]
    first, second, third, fourth, fifth = drawn(exercise)
    rng = Generator([1, 0, *b"scaled"])
    for case, shape, factor in ((first, (7,), 1.0), (second, (5, 3), 2.0)):
        np.testing.assert_array_equal(case.inputs["x"], rng.normal(size=shape).astype("float32"))
        assert (case.inputs["factor"], case.mode, case.dtype) == (factor, "tensor", "float32")
    assert third.inputs["x"].dtype == "int64" and third.inputs["factor"] == 3.0
    assert (fourth.description, fifth.description) == ("", "three numbers")


def test_a_group_is_declared_by_what_draws_its_cases():
    exercise = OwnExercise("scaled", call=("x",))
    exercise.group("right values", values=cases(x=(3,)))
    with pytest.raises(ValueError, match='the group "any shape" has no advice'):
        exercise.group("any shape", advice="Count from the end.")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='the group "both" has two names, one and other'):
        exercise.group("both", one=cases(x=(3,)), other=cases(x=(5,)))
    with pytest.raises(ValueError, match="two groups are called values"):
        exercise.group("again", values=cases(x=(3,)))
    with pytest.raises(ValueError, match=r"advice for shapes, but the groups so far are \['values'\]"):
        exercise.advice(shapes="Count from the end.")
    exercise.advice(values=Advice(nan="Which exponential is infinite?"))
    exercise.hints(values="One hint.")
    (group,) = exercise.spec.groups
    assert (group.advice, group.hints) == ({"nan": "Which exponential is infinite?"}, ("One hint.",))


def test_the_standard_group_of_types_tries_each_kind_in_its_float_type():
    exercise = Exercise("scaled", oracle=scaled)
    exercise.types(lambda rng, dtype: {"x": rng.normal(size=3).astype(dtype)}, kept=True)
    assert exercise.groups[0].title == "arrays and tensors, float type kept"
    assert [(case.description, case.mode, case.dtype, case.inputs["x"].dtype.name) for case in drawn(exercise)] == [
        ("a TensorFlow tensor", "tensor", "float32", "float32"),
        ("a NumPy array of float32", "call", "float32", "float32"),
        ("a NumPy array of float64", "call", "float64", "float64"),
    ]


def test_the_standard_groups_of_a_layer():
    exercise = Exercise("Dense", layer={"init": ("features",), "call": ("x",), "weights": ("kernel",)})
    exercise.formula(dense)
    exercise.formula_for("parameters")(lambda kernel: {"trainable_parameters": kernel.size})

    def inputs(rng, features: int) -> dict:
        return {"features": features, "x": rng.normal(size=(2, 3)), "kernel": rng.normal(size=(3, features))}

    exercise.parameters("one kernel", lambda rng: inputs(rng, 5), told=("features",))
    exercise.training(lambda rng: (inputs(rng, 5), inputs(rng, 2)))
    counted, graph, gradient = exercise.expectations(1)
    assert (counted.description, counted.expected) == ("trainable parameters, features=5", {"trainable_parameters": 15})
    assert graph.description == "inside tf.function, batch size and length unknown"
    cotangent, x = gradient.inputs["cotangent.output"], gradient.inputs["x"]
    assert cotangent.shape == (2, 2) and cotangent.dtype == "float32"
    np.testing.assert_allclose(gradient.expected["gradient.kernel"], x.T @ cotangent, rtol=1e-6)

"""A mistake is an edit of the right formula: layout does not matter, and what does not fit exactly once is an error."""

from __future__ import annotations

import math

import numpy as np
import pytest

from autograder.cli.author import describe_mistake
from autograder.declare import Advice, Case, Exercise, edit, instead, seen
from autograder.declare.mistakes import EditError, Formula
from autograder.release.leaks import _edit_lines, _find_named_texts
from coursekit.check.judge import Attempt, judge
from coursekit.check.report import Report
from coursekit.generator import Generator


def peak(x: np.ndarray) -> np.ndarray:
    """The largest entry of a row."""
    return x.max(axis=-1,
                 keepdims=True)  # fmt: skip


def softened(x: np.ndarray, sharpness: float = 1.0) -> np.ndarray:
    """Softmax of the rows, in a layout of its own."""
    # exp(x - max) does not overflow
    powers = np.exp(
        (x - peak(x)) * sharpness / math.sqrt(x.shape[-1]),
    )
    total = powers.sum(axis=-1, keepdims=True)
    return powers / total


def hardened(x: np.ndarray, sharpness: float = 1.0) -> np.ndarray:
    return (x == x.max(axis=-1, keepdims=True)).astype(x.dtype)


FORMULA = Formula({"": softened})
X = np.array([[1.0, 2.0, 4.0], [0.0, 0.0, -1.0]])


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("/ math.sqrt(x.shape[-1])", ""), lambda x: np.exp(x)),
        (("math.sqrt( x.shape[ -1 ] )", "3"), lambda x: np.exp(x / 3)),
        (("powers.sum(axis=-1, keepdims=True,)", "powers.sum(axis=-2, keepdims=True)"), None),
        (("powers / total", "powers"), None),
        (("total = powers.sum(axis=-1, keepdims=True)\nreturn powers / total", "return powers"), None),
        (("x.max(axis=-1,\n keepdims=True)", "0.5 * x"), None),
        (("peak(x)", "0.3 * x"), None),
    ],
)
def test_an_edit_is_found_whatever_the_layout(change, expected):
    new = FORMULA.make([change])[""]
    assert not np.allclose(new(X), softened(X))
    if expected is not None:
        np.testing.assert_allclose(new(X), expected(X) / expected(X).sum(axis=-1, keepdims=True))


def test_what_takes_the_place_of_an_expression_is_one_expression():
    """`x - peak(x)` becomes `x - (x.mean() + 1)`, and not `x - x.mean() + 1`."""
    assert "x - (x.mean() + 1)" in FORMULA.change_texts([("peak(x)", "x.mean() + 1")])[softened]


def test_the_formula_itself_stays_as_it_is():
    before = softened(X)
    FORMULA.make([("powers / total", "powers")])[""](X)
    np.testing.assert_array_equal(softened(X), before)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("powers * total", "powers"), "fits 0 times"),
        (("axis=-1", "axis=-2"), "fits 2 times"),
        (("powers / total", "powers /"), "no Python"),
        (("does not overflow", ""), "fits 0 times"),
    ],
)
def test_an_edit_that_does_not_fit_once_is_an_error_that_names_the_mistake(change, said):
    with pytest.raises(EditError, match=said):
        FORMULA.change_texts([change])
    exercise = Exercise("soft", oracle=softened)
    with pytest.raises(ValueError, match=rf"soft, mistake blunder: [\s\S]*{said}"):
        exercise.mistakes(blunder=edit(change) | "A blunder.")


@pytest.mark.parametrize(
    ("mistakes", "said"),
    [
        ({"idle": edit("powers / total", "(powers / total)")}, "mistake idle: its edit leaves the formula as it is"),
        (
            {"one": edit("/ total", ""), "other": edit("powers / total", "powers")},
            "one and other are one and the same mistake",
        ),
    ],
)
def test_a_mistake_that_changes_nothing_or_what_another_one_changes_is_refused(mistakes, said):
    with pytest.raises(ValueError, match=said):
        Exercise("soft", oracle=softened).mistakes(**{id: one | "A blunder." for id, one in mistakes.items()})


def test_two_edits_of_one_place_exclude_each_other():
    one, other = ("powers / total", "powers"), ("total = powers.sum(axis=-1, keepdims=True)", "total = 1")
    FORMULA.make([one, other])
    with pytest.raises(EditError, match="two edits change one place of"):
        FORMULA.make([("x - peak(x)", "x"), ("peak(x)", "0")])


def soft_exercise() -> Exercise:
    exercise = Exercise("soft", own_probe=True, returns=("weights",))
    exercise.formula(softened)

    @exercise.group("right values")
    def values(rng: Generator) -> list[Case]:
        return [Case({"x": rng.normal(size=(3, 5)) * 30})]

    @exercise.group("memory")
    def memory(rng: Generator) -> list[Case]:
        return [Case({"x": rng.normal(size=(2, 3))}, mode="memory")]

    exercise.formula_for("memory")(no_copy)
    exercise.mistakes(
        not_divided=edit("powers / total", "powers") | "The division is missing." | "What do the rows sum to?",
        largest_only=instead(hardened) | "Only the largest counts.",
        copied=seen({"copies": "one"}) | "The input is copied.",
    )
    exercise.advice(
        values=Advice(value="Look at the sum.", nan="Which exponential is infinite?"),
        memory=Advice(shape="Rows first."),
    )
    exercise.hints(values="Three steps.")
    return exercise


def no_copy() -> dict[str, str]:
    return {"copies": "none"}


def test_edit_algorithm_and_what_a_probe_says_are_wrong_results():
    values, memory = soft_exercise().expectations(7)
    assert set(values.wrong) == {"not_divided", "largest_only"}
    assert dict(memory.wrong) == {"copied": {"copies": "one"}}


def judged(outputs, kind=None):
    exercise = soft_exercise()
    cases = exercise.expectations(7)
    attempts = [Attempt(outputs(cases[0]), kind), Attempt({"copies": "none"})]
    return exercise.spec, judge(exercise.spec, cases, attempts)


def test_a_named_mistake_brings_its_own_hint_in_place_of_those_of_the_group():
    def undivided(case):
        return {"weights": FORMULA.make([("powers / total", "powers")])[""](case.inputs["x"])}

    spec, judgement = judged(undivided)
    assert judgement.misconceptions == ("not_divided",)
    assert Report(spec, judgement, 1, {}).hints == []
    assert Report(spec, judgement, 2, {}).hints == ["What do the rows sum to?"]
    assert Report(spec, judgement, 3, {}).hints == ["What do the rows sum to?"]


@pytest.mark.parametrize(
    ("outputs", "advice"),
    [
        (lambda case: {"weights": case.expected["weights"] + 1}, "Look at the sum."),
        (lambda case: {"weights": case.expected["weights"] * np.nan}, "Which exponential is infinite?"),
        (lambda case: {"weights": case.expected["weights"][:2]}, None),
    ],
)
def test_advice_is_given_for_its_own_kind_of_failure_alone(outputs, advice):
    told = judged(outputs)[1].explanations[0]
    every = ["Look at the sum.", "Which exponential is infinite?", "Rows first."]
    assert [text for text in every if text in told] == ([advice] if advice else [])


def test_a_mistake_is_shown_as_a_difference_of_the_formula():
    exercise = soft_exercise()
    text = describe_mistake(exercise, "not_divided")
    assert "-    return powers / total\n+    return powers\n" in text
    assert "hint: What do the rows sum to?" in text
    assert "x == x.max" in describe_mistake(exercise, "largest_only")
    assert "the probe says: {'copies': 'one'}" in describe_mistake(exercise, "copied")


def test_the_leak_scan_reads_edits():
    source = """
SCALED = "scores / numpy.sqrt(keys.shape[-1]) of an exercise"
exercise.mistakes(
    a=edit(SCALED, "the new text of the formula, line by line") | "For students." | "Help.",
    b=edit((shared.SCALED, "another text of the formula, in a pair")) | "For students, too.",
)
"""
    source += 'exercise.question(hints=("A hint is for students and no secret at all.", "Another one."))'
    assert set(_edit_lines(source, _find_named_texts(source))) == {
        "scores / numpy.sqrt(keys.shape[-1]) of an exercise",
        "the new text of the formula, line by line",
        "another text of the formula, in a pair",
    }

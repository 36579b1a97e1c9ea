"""What is said of wrong numbers that no listed mistake explains: in which relation they stand to the right ones."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from autograder.declare import Case, Exercise, Questions, edit, find_the_bug
from autograder.release import reference_export
from coursekit.check.failures import relation
from coursekit.check.judge import Attempt, judge
from coursekit.check.lab import _load
from coursekit.check.report import Report


def related(actual, right, **inputs) -> str:
    return relation([inputs], [{"y": actual}], [{"y": right}], [{"y": 1e-5}])


RIGHT = np.array([[0.1, 0.2, 0.7, 0.5], [0.3, 0.3, 0.4, 0.9], [0.6, 0.1, 0.3, 0.2]])
ROOT = "the square root of the size of axis -2 of `k`"
FACTORS = "a factor, row by row, each with another one"
EMPTY_ROWS = "is NaN or infinite exactly in the rows for which the mask allows nothing; all other rows are right"
NOTHING_LEFT = np.array([[True] * 4, [False] * 4, [True, False, True, True]])


@pytest.mark.parametrize(
    ("actual", "inputs", "said"),
    [
        (RIGHT * 4, {"q": np.zeros((3, 4))}, "is the right result times the size of axis -1 of `q`"),
        (RIGHT / np.sqrt(5), {"k": np.zeros((5, 2))}, f"is the right result divided by {ROOT}"),
        (RIGHT * 1.37, {}, "is the right result times 1.37"),
        (RIGHT + 0.25, {}, "is the right result plus 0.25"),
        (RIGHT.T, {}, "would be right if its axes 0 and 1 were exchanged"),
        (RIGHT[::-1], {}, "would be right if its order along axis -2 were reversed"),
        (RIGHT[:, None], {}, "has the right numbers, in another shape"),
        (np.where([[True], [False], [False]], RIGHT, 9 * RIGHT**2), {}, "is right only in its first item along axis 0"),
        (RIGHT * np.array([[1.0], [2.0], [3.0]]), {}, "is right only in its first item along axis 0"),
        (RIGHT * np.array([[4.0], [2.0], [3.0]]), {}, f"is the right result times {FACTORS}"),
        (np.where([[False], [True], [False]], np.nan, RIGHT), {"mask": NOTHING_LEFT}, EMPTY_ROWS),
        (np.where(NOTHING_LEFT, RIGHT, 5.0), {"mask": NOTHING_LEFT}, "is right exactly where the mask is True"),
        (RIGHT + 1e-4, {}, "is the right result plus 0.0001"),
        (RIGHT + 1e-3 * RIGHT**2, {}, "is nearly right, as if a small number were added or had another value"),
        (2 * np.ones((3, 4)), {"x": 2 * np.ones((3, 4))}, "is the input `x`, unchanged"),
        (np.zeros((3, 4)), {}, "has the same number everywhere: 0"),
    ],
)  # fmt: skip
def test_a_relation_is_said(actual, inputs, said):
    assert related(actual, RIGHT, **inputs) == f"Your `y` {said}."


def test_numbers_in_a_row_of_their_own_have_one_factor_in_each_case():
    right = {"x": np.array([1.0, 2.5, 0.3])}
    found = relation([{}, {}], [{"x": 2.2 * right["x"]}, {"x": 3.1 * right["x"]}], [right, right], [{"x": 1e-6}] * 2)
    assert found.endswith("Your `x` is the right result times a factor, in each test with another one.")


def test_what_holds_of_any_line_with_one_number_is_no_fact():
    """Rows of weights that are all on one key, equal rows, and a few numbers of which one is right."""
    one_key, equal_rows = np.eye(3, 5), np.ones((3, 1)) * np.array([2.0, 3.0, 5.0, 7.0])
    assert related(equal_rows + np.array([0.1, 0.5, 0.0, 2.0]), equal_rows) == ""
    assert related(one_key * np.array([[0.2], [0.5], [0.9]]), one_key) == ""
    assert related(np.array([0.5, 0.9, 0.7]), np.array([0.4, 0.6, 0.7])) == ""
    assert "right only in its last item." in related(np.array([0.5, 0.9, 0.1, 0.7]), np.array([0.4, 0.6, 0.2, 0.7]))


def test_a_count_is_explained_by_a_size_or_not_at_all():
    assert related(1009, 1000) == "" and related(np.int64(1009), np.int64(1000)) == ""
    assert "times `heads`" in related(4000, 1000, heads=4) and "times 1.5" in related(1.5, 1.0)


def test_any_factor_fits_one_number_and_is_no_fact():
    assert related(1.773, 1.0) == ""
    assert "everywhere" not in related(np.array([1, 1]), np.array([3, 1]))
    twice = [{"y": 1.773}, {"y": 3.546}], [{"y": 1.0}, {"y": 2.0}]
    assert "the right result times 1.773" in relation([{}, {}], *twice, [{"y": 1e-5}] * 2)


@pytest.mark.parametrize(
    "actual",
    [
        np.full((3, 4), 1e300),
        np.full((3, 4), np.inf),
        np.full((3, 4), np.finfo("longdouble").max),
        np.full((4, 3), 1e300),
        np.array([[1e308, -1e308, 1.0, 2.0]] * 3),
    ],
)
def test_of_numbers_that_cannot_be_added_nothing_false_is_said_and_no_warning(actual):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = related(actual, RIGHT)
    assert said == "" or "the same number everywhere" in said


def test_a_relation_holds_wherever_the_result_is_wrong():
    double = {"y": 2 * RIGHT}
    found = relation([{}, {}], [double, {"y": RIGHT}], [{"y": RIGHT}] * 2, [{"y": 1e-5}] * 2)
    assert found == "Your `y` is wrong in 1 of 2 tests. There it is the right result times 2."
    assert relation([{}, {}], [double, {"y": RIGHT**2 + 3}], [{"y": RIGHT}] * 2, [{"y": 1e-5}] * 2) == ""
    assert related(RIGHT**2 + 3, RIGHT) == "" and related("word", RIGHT) == "" and related(None, RIGHT) == ""


@pytest.mark.parametrize("gradient", ["gradient.x", "gradient", "slopes"])
def test_no_relation_of_a_gradient_is_said_where_a_result_is_wrong(gradient):
    limits = {"output": 1e-5, gradient: 1e-5}
    right = {"output": RIGHT, gradient: RIGHT}
    double = {"output": RIGHT, gradient: 2 * RIGHT}
    assert f"`{gradient}`" in relation([{}], [double], [right], [limits])
    assert relation([{}], [{**double, "output": RIGHT**2 + 3}], [right], [limits]) == ""
    assert "`output`" in relation([{}], [{**double, "output": 3 * RIGHT}], [right], [limits])


def total(x, shift=0.0):
    return x.sum(axis=-1) + shift


def totals() -> Exercise:
    exercise = Exercise("total", call=("x",), optional=("shift",))
    exercise.formula(total)
    exercise.group("values", points=1, name="values")(lambda rng: [Case({"x": rng.normal(size=(3, 5))})])
    exercise.group("a shift", points=1, name="shift")(lambda rng: [Case({"x": rng.normal(size=(3, 5)), "shift": 2.0})])
    exercise.mistakes(means=edit("x.sum", "x.mean") | "That is the mean.")
    return exercise


def judged(function, spec=None, cases=None):
    spec, cases = spec or totals().spec, cases or totals().expectations(3)
    return judge(spec, cases, [Attempt({"output": function(**case.inputs).astype("float32")}) for case in cases])


def test_a_check_says_a_relation_where_no_mistake_is_named(tmp_path):
    for name, content in reference_export.export("01_total", "Total", {"total": 2.0}, {"total": totals()}).items():
        (tmp_path / name).write_bytes(content)
    released = _load("01_total", tmp_path)
    for spec, cases in ((None, None), (released.specs["total"], released.expectations["total"])):
        judgement = judged(lambda x, shift=0.0: 7 * total(x, shift), spec, cases)
        assert judgement.remark == "Your `output` is the right result times 7." and judgement.misconceptions == ()
        report = Report(released.specs["total"], judgement, 1, {"total": False})
        assert report.sentences == (judgement.remark,) and "<code>output</code> is the right" in report._repr_html_()
        assert judged(lambda x, shift=0.0: x.mean(axis=-1) + shift, spec, cases).misconceptions == ("means",)
        assert not judged(lambda x, shift=0.0: x.mean(axis=-1) + shift, spec, cases).remark
        assert judged(total, spec, cases).passed and not judged(total, spec, cases).remark


def test_an_error_is_what_to_mend_first():
    cases = totals().expectations(3)
    outputs = Attempt({"output": 3 * cases[1].expected["output"]})
    judgement = judge(totals().spec, cases, [Attempt(kind="error", message="ValueError: no"), outputs])
    assert judgement.status == "graded" and not judgement.remark


def test_no_relation_is_said_where_finding_it_is_the_task():
    assert totals().spec.relations and not find_the_bug(totals()).spec.relations
    assert not Questions("answers").spec.relations

"""What is said of wrong numbers that no listed mistake explains: in which relation they stand to the right ones."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from coursekit.relations import relation


def related(actual, right, **inputs) -> str:
    return relation([inputs], [{"y": actual}], [{"y": right}], [{"y": 1e-5}])


RIGHT = np.array([[0.1, 0.2, 0.7, 0.5], [0.3, 0.3, 0.4, 0.9], [0.6, 0.1, 0.3, 0.2]])
NOTHING_LEFT = np.array([[True] * 4, [False] * 4, [True, False, True, True]])


@pytest.mark.parametrize(
    ("actual", "inputs", "said"),
    [
        (RIGHT * 4, {"q": np.zeros((3, 4))}, "times the size of axis -1 of `q`"),
        (RIGHT / np.sqrt(5), {"k": np.zeros((5, 2))}, "divided by the root of the size of axis -2 of `k`"),
        (RIGHT * 1.37, {}, "the right one times 1.37"),
        (RIGHT + 0.25, {}, "the right one plus 0.25"),
        (RIGHT.T, {}, "its last two axes, which are exchanged"),
        (RIGHT[::-1], {}, "the order along axis -2, which is reversed"),
        (RIGHT[:, None], {}, "its numbers are right, and its shape is another"),
        (np.where([[True], [False], [False]], RIGHT, 9 * RIGHT**2), {}, "only the first item along axis 0 is right"),
        (RIGHT * np.array([[1.0], [2.0], [3.0]]), {}, "only the first item along axis 0 is right"),
        (RIGHT * np.array([[4.0], [2.0], [3.0]]), {}, "each row is a multiple of the right one"),
        (np.where([[False], [True], [False]], np.nan, RIGHT), {"mask": NOTHING_LEFT}, "the mask leaves nothing"),
        (np.where(NOTHING_LEFT, RIGHT, 5.0), {"mask": NOTHING_LEFT}, "right exactly where the mask is True"),
        (RIGHT + 1e-4, {}, "the right one plus 0.0001"),
        (RIGHT + 1e-3 * RIGHT**2, {}, "nearly right"),
        (2 * np.ones((3, 4)), {"x": 2 * np.ones((3, 4))}, "it is the input `x` as it came"),
        (np.zeros((3, 4)), {}, "all its numbers are 0"),
    ],
)  # fmt: skip
def test_a_relation_is_said(actual, inputs, said):
    assert said in related(actual, RIGHT, **inputs)


def test_numbers_in_a_row_of_their_own_have_one_factor_in_each_case():
    right = {"x": np.array([1.0, 2.5, 0.3])}
    found = relation([{}, {}], [{"x": 2.2 * right["x"]}, {"x": 3.1 * right["x"]}], [right, right], [{"x": 1e-6}] * 2)
    assert found.endswith(
        "wrong in the same way each time: it is a multiple of the right one, with a factor that depends on the case."
    )


def test_what_holds_of_any_line_with_one_number_is_no_fact():
    """Rows of weights that are all on one key, equal rows, and a few numbers of which one is right."""
    one_key, equal_rows = np.eye(3, 5), np.ones((3, 1)) * np.array([2.0, 3.0, 5.0, 7.0])
    assert related(equal_rows + np.array([0.1, 0.5, 0.0, 2.0]), equal_rows) == ""
    assert related(one_key * np.array([[0.2], [0.5], [0.9]]), one_key) == ""
    assert related(np.array([0.5, 0.9, 0.7]), np.array([0.4, 0.6, 0.7])) == ""
    assert "only the last item" in related(np.array([0.5, 0.9, 0.1, 0.7]), np.array([0.4, 0.6, 0.2, 0.7]))


def test_a_count_is_explained_by_a_size_or_not_at_all():
    assert related(1009, 1000) == "" and related(np.int64(1009), np.int64(1000)) == ""
    assert "times `heads`" in related(4000, 1000, heads=4) and "times 1.5" in related(1.5, 1.0)


def test_any_factor_fits_one_number_and_is_no_fact():
    assert related(1.773, 1.0) == ""
    assert "all its numbers" not in related(np.array([1, 1]), np.array([3, 1]))
    twice = [{"y": 1.773}, {"y": 3.546}], [{"y": 1.0}, {"y": 2.0}]
    assert "the right one times 1.773" in relation([{}, {}], *twice, [{"y": 1e-5}] * 2)


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
    assert said == "" or "all its numbers are" in said


def test_a_relation_holds_wherever_the_result_is_wrong():
    double = {"y": 2 * RIGHT}
    assert relation([{}, {}], [double, {"y": RIGHT}], [{"y": RIGHT}] * 2, [{"y": 1e-5}] * 2)
    assert relation([{}, {}], [double, {"y": RIGHT**2 + 3}], [{"y": RIGHT}] * 2, [{"y": 1e-5}] * 2) == ""
    assert related(RIGHT**2 + 3, RIGHT) == "" and related("word", RIGHT) == "" and related(None, RIGHT) == ""


def test_no_relation_of_a_gradient_is_said_where_a_result_is_wrong():
    limits = {"output": 1e-5, "gradient.x": 1e-5}
    right = {"output": RIGHT, "gradient.x": RIGHT}
    double = {"output": RIGHT, "gradient.x": 2 * RIGHT}
    assert "`gradient.x`" in relation([{}], [double], [right], [limits])
    assert relation([{}], [{**double, "output": RIGHT**2 + 3}], [right], [limits]) == ""
    assert "`output`" in relation([{}], [{**double, "output": 3 * RIGHT}], [right], [limits])

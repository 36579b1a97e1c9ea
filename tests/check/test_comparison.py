"""One sentence on the first difference, for whatever came back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from coursekit.check.attempts import ARRAYS
from coursekit.check.comparison import beginning, difference

RIGHT = np.array([[0.25, 1.5], [2.5, -3.0]])

WIRE = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(1 << 63), (1 << 64) - 1), st.floats(), st.text(max_size=3),
        arrays.arrays(
            st.sampled_from(sorted(ARRAYS)), arrays.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=2)
        ),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=1), inner, max_size=2)),
    max_leaves=5,
)  # fmt: skip


@given(WIRE, WIRE, st.sampled_from([0.0, 0.1]), st.sampled_from([None, "float32"]), st.booleans())
def test_nothing_that_comes_back_stops_the_judge(actual, expected, tolerance, dtype, reveal):
    found = difference("y", actual, expected, tolerance, dtype=dtype, reveal=reveal)
    assert found is None or found.endswith((".", "?", ")."))


@given(arrays.arrays("float64", (2, 3), elements=st.floats(-1e6, 1e6)), st.sampled_from(["float32", "float64"]))
def test_a_result_agrees_with_itself_and_not_with_one_that_is_further_off_than_rounding(value, dtype):
    assert difference("y", value.astype(dtype), value.astype(dtype), 0.0, dtype=dtype) is None
    off = value.copy()
    off[1, 2] += 0.5
    assert difference("y", off, value, 0.6) is None
    assert "`y[1, 2]`" in difference("y", off, value, 0.4)


@pytest.mark.parametrize(
    ("actual", "words"),
    [
        (RIGHT[0], "`y` has shape (2,); expected (2, 2)."),
        (RIGHT.tolist(), "`y` is a list; expected an array of numbers."),
        (None, "`y` is None; expected an array of numbers."),
        (np.where(RIGHT < 0, np.nan, RIGHT), "`y[1, 1]` is nan: 1 of 4 values are not finite."),
        (RIGHT + np.eye(2)[::-1], "`y[0, 1]` is 2.5, expected 1.5; 2 of 4 values differ."),
        (RIGHT.astype(int), "It is an array of whole numbers (int64), so the fractional part was dropped."),
    ],
)
def test_the_first_difference_is_told(actual, words):
    assert words in difference("y", actual, RIGHT, 1e-6)


def test_only_what_should_be_finite_is_counted_as_not_finite():
    edge = np.array([np.inf, 1.0, 2.0])
    found = difference("y", np.array([np.inf, np.nan, 2.0]), edge, 0.0)
    assert found == "`y[1]` is nan: 1 of 2 that should be finite are not."
    assert difference("y", edge, edge, 0.0) is None


def test_what_a_probe_says_in_words_is_no_string():
    """“`fits` is 'nothing'; expected 'its training images'” is not English. Quotes stay where blanks count."""
    assert (
        difference("fits", "nothing", "its training images", 0.0) == "`fits`: nothing; expected: its training images."
    )
    assert difference("largest", "0.0008", "None", 0.0) == "`largest`: 0.0008; expected: None."
    assert difference("text", "a  b", "a b", 0.0) == "`text` is 'a  b'; expected 'a b'."
    assert difference("text", "", "a b", 0.0) == "`text` is ''; expected 'a b'."
    assert difference("tokens", [1, 2], "[1, 2]", 0.0) == "`tokens` is [1, 2]; expected '[1, 2]'."


def test_a_reference_value_is_told_only_where_it_may_be():
    assert difference("y", RIGHT + 1, RIGHT, 0.1, reveal=False).startswith("`y[0, 0]` is 1.25, which is not right;")
    assert difference("y", 3.0, 4.0, 0.1, reveal=False) == "`y` is 3, which is not right."
    assert difference("y", 3.0, 4.0, 0.1) == "`y` is 3; expected 4."


def test_nan_in_the_reference_stands_for_any_finite_number():
    free = np.array([np.nan, 1.0])
    assert difference("y", np.array([7.0, 1.0]), free, 0.0) is None
    assert "not finite" in difference("y", np.array([np.inf, 1.0]), free, 0.0)


def test_a_float_type_is_asked_for_only_where_it_is_named():
    assert difference("y", RIGHT, RIGHT, 0.0) is None
    assert "`y` is float64 for float32 input" in difference("y", RIGHT, RIGHT, 0.0, dtype="float32")


@pytest.mark.parametrize("actual", [["a", "b"], np.array([1, 2]), [np.array([1, 2]), 3]])
def test_lists_are_compared_as_lists(actual):
    expected = [[1, 2], 3] if isinstance(actual, list) and len(np.shape(actual[0])) else list(actual)
    assert difference("y", actual, expected, 0.0) is None
    assert difference("y", actual, [*expected, 4], 0.0)


class Watched:
    """A thing that counts how often it is looked at."""

    looks = 0

    def __eq__(self, other):
        Watched.looks += 1
        return self is other

    def __repr__(self):
        Watched.looks += 1
        return "a thing"

    __hash__ = object.__hash__


@pytest.mark.parametrize("expected", [1.5, "a word", [1, 2, 3], [[1, 2], [3]], [["a"]] * 100_000])
def test_of_a_result_that_is_much_too_large_only_the_beginning_is_read(expected):
    """A sentence is made, and every mistake's results are compared, for each case: that must not take hours."""
    for large in ([Watched()] * 100_000, [[Watched()] * 1000] * 100, {"y": [Watched()] * 100_000}):
        Watched.looks = 0
        assert "a thing" in difference("y", large, expected, 0.0)
        assert Watched.looks < 100


@given(
    st.recursive(st.integers() | st.text(max_size=9), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
)
def test_a_value_is_quoted_as_python_shows_it(value):
    text = repr([value])
    assert (text if len(text) <= 200 else text[:197] + "…") in difference("y", [value], "no list", 0.0)


def test_a_list_that_holds_itself_is_printed_as_python_does_and_deep_ones_end():
    cyclic, deep = [1, {"x": 2}], []
    cyclic.append(cyclic)
    for _ in range(100_000):
        deep = [deep]
    assert beginning(cyclic, 200) == repr(cyclic)
    assert "[...]" in beginning(deep, 200)

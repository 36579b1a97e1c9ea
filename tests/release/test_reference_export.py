"""Reference files: what counts as the same, and that nothing larger than rounding does."""

from __future__ import annotations

import copy
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.declare import Case, Exercise, edit
from autograder.release import reference_export

LAB = "01_guess"
LAST_BITS = 1e-9  # what differs between processors, relative
CHANGE = 1e-3  # what somebody changed

numbers = st.floats(-1e6, 1e6).filter(lambda value: value == 0 or abs(value) > 1e-3)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


def encoded(value) -> bytes:
    return json.dumps(value).encode()


def scaled(value, factor: float):
    """`value` with every float in it multiplied."""
    if isinstance(value, dict):
        return {key: scaled(item, factor) for key, item in value.items()}
    if isinstance(value, list):
        return [scaled(item, factor) for item in value]
    return value * factor if isinstance(value, float) else value


def has_number(value) -> bool:
    if isinstance(value, dict | list):
        return any(map(has_number, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float) and value != 0


@given(values)
def test_numbers_that_differ_by_rounding_are_the_same_file(value):
    assert reference_export.same(encoded(value), encoded(value))
    assert reference_export.same(encoded(value), encoded(scaled(value, 1 + LAST_BITS)))


@given(values.filter(has_number))
def test_a_changed_number_is_another_file(value):
    assert not reference_export.same(encoded(value), encoded(scaled(value, 1 + CHANGE)))
    assert not reference_export.same(encoded(scaled(value, 1 + CHANGE)), encoded(value))


@given(st.dictionaries(st.text(max_size=5), values, min_size=1, max_size=3), st.data())
def test_a_changed_key_or_kind_is_another_file(value, data):
    key = data.draw(st.sampled_from(sorted(value)))
    for other in (
        {name: item for name, item in value.items() if name != key},
        {**value, "another key": None},
        {**value, key: [value[key]]},
        {**value, key: str(value[key]) + "."},
    ):
        assert not reference_export.same(encoded(value), encoded(other))


@pytest.mark.parametrize(("old", "new"), [(1, 1.0), (0, False), (1, True), ("1", 1), (None, 0), ([], {})])
def test_values_of_different_kinds_differ(old, new):
    assert not reference_export.same(encoded({"value": old}), encoded({"value": new}))


@pytest.mark.parametrize("key", ["tolerance", "expected"])
def test_zero_is_compared_like_any_number(key):
    """A tolerance of zero in one file and not in the other once ended in a division by zero."""
    zero, other = {key: {"output": 0.0}}, {key: {"output": 0.01}}
    assert reference_export.same(encoded(zero), encoded(copy.deepcopy(zero)))
    assert not reference_export.same(encoded(zero), encoded(other))
    assert not reference_export.same(encoded(other), encoded(zero))


def packed(**arrays) -> bytes:
    return reference_export._pack({key: np.asarray(value) for key, value in arrays.items()})


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=8), st.data())
def test_arrays_are_the_same_up_to_rounding(listed, data):
    values = np.array(listed, "float32")
    index = data.draw(st.integers(0, len(listed) - 1))
    near, far = values.copy(), values.copy()
    near[index] = np.nextafter(values[index], np.float32(np.inf))
    far[index] += 1e-3 * max(1, abs(values[index]))
    assert reference_export.same(packed(x=values), packed(x=near))
    assert not reference_export.same(packed(x=values), packed(x=far))
    assert not reference_export.same(packed(x=values), packed(x=values.astype("float64")))
    assert not reference_export.same(packed(x=values), packed(x=values[None]))
    assert not reference_export.same(packed(x=values), packed(y=values))
    assert not reference_export.same(packed(x=values), packed(x=values, y=values))


def test_free_values_and_infinite_ones_are_places_like_others():
    values = np.array([np.nan, np.inf, -np.inf, 1.0])
    assert reference_export.same(packed(x=values), packed(x=values + 1e-9))
    for index, other in ((0, 0.0), (1, 1e30), (2, np.inf), (3, np.nan)):
        changed = values.copy()
        changed[index] = other
        assert not reference_export.same(packed(x=values), packed(x=changed))


@pytest.mark.parametrize("values", [np.arange(3), np.array([True, False]), np.array(["a", "b"])])
def test_what_is_counted_or_written_has_to_be_equal(values):
    assert reference_export.same(packed(x=values), packed(x=values.copy()))
    assert not reference_export.same(packed(x=values), packed(x=values[::-1]))


def files(hint="Divide.", value=1.0, scale=0.5) -> dict[str, bytes]:
    described = [
        {"name": "double", "hints": [hint], "cases": [{"expected": {"scale": scale}}]},
        {"name": "square", "hints": []},
    ]
    arrays = {"double.0.inputs.x": np.full(3, 2.0), "square.0.expected.output": np.array([value, 2.0])}
    return {f"{LAB}.json": encoded({"exercises": described}), f"{LAB}.npz": packed(**arrays)}


def test_the_exercises_that_differ_are_named():
    assert reference_export.differing_exercises(LAB, files(), files()) == []
    assert reference_export.differing_exercises(LAB, files(), files(value=1 + 1e-9, scale=0.5 + 1e-9)) == []
    assert reference_export.differing_exercises(LAB, files(), files(hint="Multiply.")) == ["double"]
    assert reference_export.differing_exercises(LAB, files(), files(scale=0.501)) == ["double"]
    assert reference_export.differing_exercises(LAB, files(), files(value=1.001)) == ["square"]
    assert reference_export.differing_exercises(LAB, {}, files()) == []


def by_hand(x):
    answer = math.exp(x)
    return {"answer": answer, "both": [answer, 1], "array": np.array([answer])}


def by_hand_with_another_last_bit(x):
    answer = math.nextafter(math.exp(x), math.inf)
    return {"answer": answer, "both": [answer, 1], "array": np.array([answer])}


def test_no_more_digits_are_written_than_processors_agree_on():
    """The oracle of two machines, one of which rounds the last bit the other way: the files are the same bytes."""

    def exported(formula):
        declared = Exercise("guess", oracle=formula)
        declared.group("values", points=1, name="values")(lambda rng: [Case({"x": 1.1})])
        declared.mistakes(wrong_sign=edit("exp(x)", "exp(-x)") | "The sign is wrong.")
        return reference_export.export(LAB, "A guess", {"guess": 2}, {"guess": declared})

    one, other = exported(by_hand), exported(by_hand_with_another_last_bit)
    assert one == other
    case = json.loads(one[f"{LAB}.json"])["exercises"][0]["cases"][0]
    assert case["expected"]["answer"] == 3.00416602 == case["expected"]["both"][0]
    assert case["wrong"]["wrong_sign"]["answer"] == 0.332871084

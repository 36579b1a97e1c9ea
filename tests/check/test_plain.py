"""Whatever a student's code returns becomes plain data, or a sentence that says what it is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from autograder.worker import protocol
from coursekit.check.attempts import ARRAYS, DEEPEST, plain
from coursekit.probes.driving import ContractError

ROWS = [[1.5, 2.0, -3.0], [0.25, 4.0, 5.0]]


def same(found, expected: np.ndarray) -> bool:
    return isinstance(found, np.ndarray) and found.dtype == expected.dtype and np.array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f4", "int64", "bool", "uint8"])
def test_an_array_keeps_its_type_and_is_a_copy(dtype):
    given_back = np.array(ROWS).astype(dtype)
    found = plain(given_back)
    assert same(found, given_back.astype(given_back.dtype.newbyteorder("=")))
    given_back[:] = 0
    assert found.any()


@pytest.mark.parametrize(
    "wrap",
    [
        lambda rows: rows,
        lambda rows: [tuple(row) for row in rows],
        lambda rows: tuple(np.array(row) for row in rows),
        lambda rows: [[np.float64(number) for number in row] for row in rows],
        lambda rows: np.array(rows, dtype=object),
        lambda rows: np.ma.array(rows),
    ],
)
def test_lists_of_numbers_are_arrays(wrap):
    assert same(plain(wrap(ROWS)), np.array(ROWS))


def test_tensors_and_variables_are_arrays():
    keras, tf = pytest.importorskip("keras"), pytest.importorskip("tensorflow")
    single = np.array(ROWS, "float32")
    for wrap in (tf.constant, tf.Variable, keras.Variable, keras.ops.convert_to_tensor):
        assert same(plain(wrap(single)), single)
        assert same(plain([wrap(row) for row in single]), single)
    assert same(plain(tf.constant(ROWS, "bfloat16")), single)
    assert same(plain([tf.constant(row, "bfloat16") for row in ROWS]), single)
    assert same(plain([[tf.constant(number) for number in row] for row in ROWS]), single)
    assert plain(tf.constant([b"caf\xc3\xa9", b"\xff"])) == ["café", "�"]
    assert plain(tf.constant("x")) == "x"
    with pytest.raises(ContractError, match="RaggedTensor"):
        plain(tf.ragged.constant([[1, 2], [3]]))
    with pytest.raises(ContractError, match="KerasTensor"):
        plain(keras.Input((3,)))


def test_other_values_stay_what_they_are():
    for value in (None, True, 3, -2.5, "text", [], ["a", "b"], [None, 1], {"a": 1}, -(1 << 63), (1 << 64) - 1):
        assert plain(value) == value and type(plain(value)) is type(value)
    assert plain(("a", 1)) == ["a", 1] and plain(b"bytes") == "bytes" and plain("\ud800") == "?"
    assert (
        plain([b"a", "b"]) == ["a", "b"] and plain(np.str_("a")) == "a" and plain({1: (2.0, "b")}) == {"1": [2.0, "b"]}
    )
    ragged = plain([[1, 2], [3]])
    assert [row.tolist() for row in ragged] == [[1, 2], [3]]
    assert same(plain(np.float32(2)), np.array(2, "float32"))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (object(), "an object was returned"),
        ((row for row in ROWS), "generator"),
        (range(3), "range"),
        ({1, 2}, "set"),
        (1 + 2j, "complex"),
        (np.array([1j]), "complex128"),
        (np.array([object()]), "an object"),
        (np.datetime64("2020-01-01"), "datetime64"),
        (1 << 64, "64 bits"),
        ([1 << 70], "64 bits"),
        ("x" * (1 << 21), "2,097,152 characters"),
    ],
)
def test_what_is_no_data_is_said(value, words):
    with pytest.raises(ContractError, match=words):
        plain(value)


def test_a_list_that_holds_itself_ends():
    endless: list = ["x"]
    endless.append(endless)
    with pytest.raises(ContractError, match=f"more than {DEEPEST} deep"):
        plain(endless)


def test_an_array_that_fails_to_show_its_numbers_is_said():
    class Trap:
        def __array__(self, *_, **__):
            raise RuntimeError("trap")

    with pytest.raises(ContractError, match="Trap was returned that has no numbers"):
        plain(Trap())


NUMBERS = st.one_of(st.booleans(), st.integers(-(1 << 63), (1 << 64) - 1), st.floats())
ANYTHING = st.recursive(
    st.one_of(
        st.none(), NUMBERS, st.text(), st.binary(),
        arrays.arrays(st.sampled_from(sorted(ARRAYS)), arrays.array_shapes(min_dims=0, min_side=0)),
    ),
    lambda inner: st.one_of(
        st.lists(inner), st.lists(inner).map(tuple), st.dictionaries(st.one_of(st.text(), st.integers()), inner)
    ),
    max_leaves=12,
)  # fmt: skip


@given(ANYTHING)
def test_plain_data_crosses_the_walls_unchanged_and_stays_plain(value):
    try:
        found = plain(value)
    except ContractError:
        return
    sent = protocol.decode(protocol.encode({"value": found})[protocol.LENGTH_BYTES :])["value"]
    assert repr(sent) == repr(found) and repr(plain(found)) == repr(found)


def test_every_array_type_can_be_sent():
    assert set(protocol.DTYPES) == ARRAYS

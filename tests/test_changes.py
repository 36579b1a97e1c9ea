"""A sketch of whatever came back is made in a moment: it is made for every wrong case, and not in the sandbox."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from measuring import takes_at_most

from coursekit.changes import sketch

RIGHT = {"y": np.zeros((3, 4))}
ROW = 10.0 ** np.random.default_rng(0).uniform(-307, 307, 1000)  # what NumPy prints slowest


def many_axes(axes: int) -> np.ndarray:
    return np.zeros((7,) * axes, "uint8")


@pytest.mark.parametrize(
    "large",
    [
        [ROW[: 1000 - number % 2] for number in range(2000)],
        [many_axes(7)[: 7 - number % 2] for number in range(60)],
        {"k": [ROW] * 1000, "v": [[ROW] * 1000, "word"]},
        [["word"] * 100_000] * 10,
        ["x" * 1_000_000, many_axes(8)],
    ],
    ids=["rows of two lengths", "many axes", "a dictionary", "words", "a long text"],
)
def test_the_sketch_of_what_is_much_too_large_takes_no_time(large):
    with takes_at_most(0.5):
        sketch({"y": large}, RIGHT, {})


@pytest.mark.parametrize(
    "value", [None, "softmax", ["a", "b"], [[1, 2.5], "a"], {"k": [np.arange(3), np.ones((2, 2), "float32")]}]
)
def test_what_is_no_number_enters_by_its_whole_text(value):
    number = zlib.crc32(repr(value).encode()) / 2.0**22
    weight = 0.5 + 0.6180339887498949
    assert sketch({"y": value}, RIGHT, {}).value == pytest.approx(number * weight)

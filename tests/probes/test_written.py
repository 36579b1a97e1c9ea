"""Numbers that students write down as a text are numbers; everything else stays what it is."""

from __future__ import annotations

import pytest

from coursekit.probes.evidence import as_numbers


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("10 19 8", [10, 19, 8]),
        ("[0.73, 0.27]", [0.73, 0.27]),
        (" (21;20) ", [21, 20]),
        ("4", 4),
        ("-1e-3", -0.001),
    ],
)
def test_a_text_of_numbers_is_read(text, numbers):
    assert as_numbers(text) == numbers


@pytest.mark.parametrize("value", ["", "[]", "b", "b)", "four", "nan", "1 inf", "2 m", "1" * 400, 4, [4], None])
def test_anything_else_stays_as_it_is(value):
    assert as_numbers(value) is value

"""Notebooks' outputs are equal when their numbers are: rounding passes, anything more fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_notebook, new_output
from printed_numbers import Printed

EQUAL = [
    ("loss 0.6931", "loss 0.6932"),  # one in the last digit
    ("[ 0.1  -0.25]", "[ 0.1 -0.25]"),
    ("[-0.  1.]", "[0. 1.]"),
    ("error 3.1e-08", "error 0.0"),
    ("0.33333334 0.6666667", "0.33333331 0.66666675"),
    ("47117.0", "47118.0"),
    ("[35. 35.]", "[34.999 35.]"),
    ("mean 0.1, variance 29.93", "mean 0.2, variance 29.93"),
    ("weights [nan inf 2.]", "weights [nan inf 2.]"),
    ("x −0.5", "x -0.5"),
]
DIFFERENT = [
    ("loss 0.6931", "loss 0.6951"),
    ("loss 0.69", "loss 0.67"),
    ("loss 0.69", "gain 0.69"),
    ("solved by 5 of 5", "solved by 4 of 5"),
    ("10 to the 6 times", "10 to the 7 times"),
    ("[1. 2.]", "[2. 1.]"),
    ("[1. 2.]", "[1. 2. 3.]"),
    ("[0.5 0.125]", "[0.6 0.125]"),
    ("[nan 2.]", "[0. 2.]"),
    ("0.5", "-0.5"),
    ("3.1e-08", "3.1e-04"),
    ("1,024", "1,025"),
    ("x1 2", "x2 2"),
    ("same: True", "same: False"),
    ("shape (2, 3)", "shape (2, 3, 1)"),
    ("", "0.5"),
]


@pytest.mark.parametrize(("stored", "printed"), EQUAL)
def test_rounding_is_no_difference(stored, printed):
    assert Printed(stored) == Printed(printed) and Printed(printed) == Printed(stored)


@pytest.mark.parametrize(("stored", "printed"), DIFFERENT)
def test_anything_more_is_a_difference(stored, printed):
    assert Printed(stored) != Printed(printed) and Printed(printed) != Printed(stored)


@given(st.floats(-1e6, 1e6), st.integers(2, 6))
def test_a_number_changed_by_a_thousandth_and_two_last_digits_is_a_difference(value, digits):
    changed = value + 1e-3 * abs(value) + 2.1 * 10.0**-digits
    assume(f"{value:.{digits}f}" != f"{changed:.{digits}f}")
    assert Printed(f"mean {value:.{digits}f}") != Printed(f"mean {changed:.{digits}f}")
    assert Printed(f"mean {value:.{digits}f}") == Printed(f"mean {value * (1 + 1e-7):.{digits}f}")


@given(st.integers(), st.integers())
def test_whole_numbers_are_compared_exactly(one, other):
    assert (Printed(f"count {one}") == Printed(f"count {other}")) == (one == other)


@pytest.mark.long
def test_nbval_compares_in_this_way(tmp_path):
    """Through pytest: a stored output that is off by rounding passes, one that is off by more fails."""
    for name, stored in (("near", "0.3333"), ("far", "0.3353")):
        cell = new_code_cell("# NBVAL_CHECK_OUTPUT\nprint(f'{1 / 3 + 7e-5:.4f}')")
        cell.execution_count = 1
        cell.outputs = [new_output("stream", name="stdout", text=f"{stored}\n")]
        nbformat.write(new_notebook(cells=[cell]), tmp_path / f"{name}.ipynb")
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "pytest", "-q", "--nbval-lax", "--nbval-current-env", "-p", "no:cacheprovider"]
    told = subprocess.run(
        [
            *command,
            f"--rootdir={root}",
            f"-c{root / 'pyproject.toml'}",
            f"--confcutdir={root}",
            "-pconftest",
            str(tmp_path),
        ],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=300,
    ).stdout
    assert "1 failed, 1 passed" in told and "far.ipynb" in told, told

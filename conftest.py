"""Notebooks are compared by the numbers that they print: see `tests/printed_numbers.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "tests"))

import printed_numbers

printed_numbers.install()

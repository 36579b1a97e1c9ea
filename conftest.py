"""How nbval runs notebooks here: see `tests/printed_numbers.py` and `tests/notebook_kernels.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "tests"))

import notebook_kernels
import printed_numbers

notebook_kernels.install()
printed_numbers.install()

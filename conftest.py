"""How nbval runs notebooks here: see `tests/printed_numbers.py` and `tests/notebook_kernels.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "tests"))


def pytest_configure(config):
    if config.getoption("nbval", False) or config.getoption("nbval_lax", False):
        import notebook_kernels
        import printed_numbers

        notebook_kernels.install(config)
        printed_numbers.install()

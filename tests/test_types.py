"""The types that the two packages declare hold, as far as mypy can tell; `make lint` runs the same."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_mypy_finds_nothing():
    pytest.importorskip("mypy", reason="mypy is in the extra `test`")
    ran = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr

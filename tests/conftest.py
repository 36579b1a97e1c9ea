"""Shared set-up of the tests."""

import os
import sys
from pathlib import Path

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("MPLBACKEND", "Agg")
sys.path.insert(0, str(Path(__file__).parent))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What shares fixtures or cached references stays in one process: a file, and of the labs' tests one lab's."""
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        item.add_marker(pytest.mark.xdist_group(f"{item.path.name} {parameters.get('lab', '')}".strip()))

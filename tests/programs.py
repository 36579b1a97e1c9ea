"""Programs of this repository, which are in no package: `experiments/built_in.py`."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]


@cache
def program(path: str) -> ModuleType:
    """The module of a program, which may import those beside it."""
    file = ROOT / path
    described = importlib.util.spec_from_file_location(f"program_{file.stem}", file)
    assert described and described.loader
    module = sys.modules[described.name] = importlib.util.module_from_spec(described)  # where dataclasses look it up
    sys.path.insert(0, str(file.parent))
    try:
        described.loader.exec_module(module)
    finally:
        sys.path.remove(str(file.parent))
    return module

"""The types that the two packages declare hold, as far as mypy can tell; `make lint` runs the same."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.long
def test_mypy_finds_nothing():
    pytest.importorskip("mypy", reason="mypy is in the extra `test`")
    ran = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_no_two_public_classes_have_one_name():
    """A name that means two things sends the reader to the wrong file."""
    places: dict[str, list[str]] = {}
    for package in ("autograder", "coursekit"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if "samples" not in path.parts:
                for node in ast.parse(path.read_text("utf-8")).body:
                    if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                        places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}

"""Names of types. Whether the types that the packages declare hold, `make lint` says."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]


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

"""The house stays in order: no file too long to read, and the tests of a module are found by its name."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 500
PATH = r"`([\w/]+(?:\.py|/))`"


def python_files() -> list[Path]:
    """Every Python file of the repository, new ones included, without the text pairs of notebooks."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.py"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / name for name in listing.split("\0") if name]
    return [path for path in paths if path.is_file() and not path.with_suffix(".ipynb").exists()]


def test_no_file_is_too_long_to_read():
    lengths = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in python_files()}
    assert len(lengths) > 300
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_the_tests_of_a_module_are_found_by_its_name_or_in_the_table():
    """The rule and the table are in `docs/maintainers.md`; a folder in the table stands for all of its modules."""
    text = (ROOT / "docs" / "maintainers.md").read_text("utf-8")
    table = text.partition("| module | tests |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", table, re.MULTILINE)
    listed = []
    for modules, tests in rows:
        folder = ""
        for name in re.findall(PATH, modules):
            listed.append(f"/{name}" if "/" in name else f"{folder}/{name}")
            folder = listed[-1].rstrip("/").rpartition("/")[0]
        for name in re.findall(PATH, tests):
            assert (ROOT / "tests" / name).exists(), f"{name}: the table names tests that are not there"
    lost = []
    for path in python_files():
        package, *inside = path.relative_to(ROOT).parts
        if package in ("autograder", "coursekit") and path.stem not in ("__init__", "__main__"):
            name = "/".join(("", package, *inside))
            in_table = any(each in name if each.endswith("/") else name.endswith(each) for each in listed)
            by_name = (f"test_{path.stem}.py", f"test_{'_'.join(inside)}")
            if not in_table and not any((ROOT / "tests" / each).exists() for each in by_name):
                lost.append(name)
    assert lost == []

"""The house stays in order: no line is too long. Long files, signatures and pages are told, and fail nothing."""

from __future__ import annotations

import ast
import subprocess
import unicodedata
from pathlib import Path

import pytest
from long_runs import advise

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 500
WIDEST = 120
MOST_PARAMETERS = 8
COMMANDS = ("benchmarks", "experiments", "site", "tools")


def python_files() -> list[Path]:
    """Every Python file of the repository, new ones included, without the text pairs of notebooks."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.py"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / name for name in listing.split("\0") if name]
    return [path for path in paths if path.is_file() and not path.with_suffix(".ipynb").exists()]


def test_no_file_is_too_long_to_read():
    lengths = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in python_files()}
    assert len(lengths) > 300
    advise("longer than 500 lines", {name: length for name, length in lengths.items() if length > LONGEST})


def test_no_line_is_too_long_to_read():
    """Linters let pass a long line that ends in a comment for them. Students' code in strings may be as it comes."""
    too_long = {
        f"{path.relative_to(ROOT)}:{number}"
        for path in python_files()
        if path.relative_to(ROOT).parts[0] != "corpus"
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if sum(not unicodedata.combining(letter) for letter in line) > WIDEST
    }
    assert too_long == set()


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many a caller sees: without self, and what stars collect counts once."""
    given = function.args
    names = [argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"])) + bool(given.vararg) + bool(given.kwarg)


def is_called_by_its_contract(path: Path, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A command, whose parameters are its options; or a formula, which takes an exercise's inputs by their names."""
    if path.parts[:2] == ("autograder", "cli") or (path.parts[0] in COMMANDS and function.name == "main"):
        return True
    marks = [ast.unparse(mark).partition("(")[0] for mark in function.decorator_list]
    return path.parts[0] == "exercises" and any(mark in ("exercise.formula", "exercise.formula_for") for mark in marks)


@pytest.mark.long
def test_no_function_takes_more_than_eight_parameters():
    too_many = {
        f"{path.relative_to(ROOT)}: {node.name}": parameters(node)
        for path in python_files()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and parameters(node) > MOST_PARAMETERS
        and not is_called_by_its_contract(path.relative_to(ROOT), node)
    }
    advise("more than eight parameters", too_many)


def test_a_page_of_the_instructors_guide_is_read_in_ten_minutes():
    """At most 1,500 words; the page of measurements is no part of the guide."""
    pages = {ROOT / "docs" / "instructors.md", *(ROOT / "docs" / "teaching").glob("*.md")}
    pages -= {ROOT / "docs" / "teaching" / "tried-on-public-code.md"}
    words = {path.name: len(path.read_text("utf-8").split()) for path in pages}
    advise("more than 1,500 words", {name: number for name, number in words.items() if number > 1500})

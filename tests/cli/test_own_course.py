"""A course of its own, made as docs/teaching/own-course.md says, word for word: its marks are those of the page."""

from __future__ import annotations

import csv
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from autograder.course.labs import cells_by_id

ROOT = Path(__file__).resolve().parents[2]
SECTION, NEXT = "# A course of your own\n", "\n## A layer, and mistakes with names\n"
LAB, TOPIC = "01_first_lab", "first_lab"
NAME = "moving_average"
EXAMPLE = "def centre(x):\n    return x - x.mean(axis=0)"
pytestmark = [pytest.mark.slow, pytest.mark.sandbox]


def page() -> str:
    return (ROOT / "docs" / "teaching" / "own-course.md").read_text(encoding="utf-8")


def section() -> str:
    return page().partition(SECTION)[2].partition(NEXT)[0]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)\n```$", section(), re.MULTILINE | re.DOTALL)


def marks() -> dict[str, dict[str, float]]:
    """The page's table: student -> exercise -> points."""
    lines = [line.strip("|").split("|") for line in section().splitlines() if line.startswith("|")]
    rows = [[field.strip(" `") for field in line] for line in lines]
    heading, _, *students = rows
    return {row[0]: dict(zip(heading[2:], map(float, row[2:]), strict=True)) for row in students}


def course(*words: str, cwd: Path) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "autograder.cli", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=900, check=False)


def typed(script: str, folder: Path) -> Path:
    """Type the lines of a block of the page; return the folder in which they end."""
    for line in script.splitlines():
        program, *words = shlex.split(line)
        if program == "cd":
            folder = folder / words[0]
        else:
            assert program == "course"
            done = course(*words, cwd=folder)
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    return folder


def write(path: Path, cells: dict[str, str]) -> None:
    """Put sources into the cells of a notebook, by their grade_id."""
    notebook = nbformat.read(path, as_version=4)
    for name, source in cells.items():
        cells_by_id(notebook)[name].source = source
    nbformat.write(notebook, path)


def hand_in(folder: Path, student: str, answer: str) -> None:
    notebook = nbformat.read(folder / "labs" / LAB / f"{LAB}.ipynb", as_version=4)
    for name, source in {"centre-code": EXAMPLE, f"{NAME}-code": answer}.items():
        cells_by_id(notebook)[name].source = source
    target = folder / "handed-in" / student / f"{LAB}.ipynb"
    target.parent.mkdir(parents=True)
    nbformat.write(notebook, target)


@pytest.mark.long
def test_the_page_word_for_word(tmp_path):
    begin, end = blocks("sh")
    declaration, solution, *wrong = blocks("python")
    folder = typed(begin, tmp_path)
    refused = course("release", cwd=folder)
    assert refused.returncode == 1 and f"exercises/{TOPIC}/{NAME}.py:5" in refused.stderr

    (folder / "exercises" / TOPIC / f"{NAME}.py").write_text(declaration + "\n", encoding="utf-8")
    text = blocks("markdown")[0]
    write(folder / "solutions" / LAB / f"{LAB}.ipynb", {f"{NAME}-code": solution, f"text-{NAME}": text})
    release, *others = end.splitlines()
    typed(release, folder)
    for student, answer in zip(marks(), [solution, *wrong], strict=True):
        hand_in(folder, student, answer)
    typed("\n".join(others), folder)

    with (folder / "grades" / "results.csv").open(encoding="utf-8") as file:
        found: dict[str, dict[str, float]] = {}
        for row in csv.DictReader(file):
            found.setdefault(row["student"], {})[row["exercise"]] = float(row["score"])
    assert found == marks()
    assert "moving_average" in (folder / "grades" / "report.html").read_text(encoding="utf-8")
    page = (folder / "grades" / "feedback" / "ben" / f"{LAB}.html").read_text(encoding="utf-8")
    assert "How many windows of" in page

    # What students get: a notebook whose checks work where coursekit knows nothing of the course.
    assert course("publish", str(tmp_path / "students"), cwd=folder).returncode == 0
    given = tmp_path / "students" / "labs" / LAB / f"{LAB}.ipynb"
    assert "np.convolve" not in given.read_text(encoding="utf-8")
    check = [sys.executable, "-m", "coursekit", "check", str(given)]
    answered = {"centre-code": EXAMPLE, f"{NAME}-code": solution}
    for answers, code in (({}, 1), (answered, 0)):
        write(given, answers)
        done = subprocess.run(
            check, cwd=tmp_path / "students", capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == code, done.stdout + done.stderr


def test_an_instructors_own_exercise_needs_at_most_twenty_lines():
    declaration = blocks("python")[0]
    assert len(declaration.splitlines()) <= 20


def test_the_layer_of_the_page_has_the_modes_that_it_explains_and_both_mistakes(tmp_path):
    source = re.search(r"^```python\n(.*?)\n```$", page().partition(NEXT)[2], re.MULTILINE | re.DOTALL)
    assert source
    (tmp_path / "Rescale.py").write_text(source[1], encoding="utf-8")
    cases = runpy.run_path(str(tmp_path / "Rescale.py"))["exercise"].expectations(3)
    assert [case.mode for case in cases] == ["call", "call", "parameters", "graph", "gradient"]
    for case in (cases[0], cases[1], cases[3]):
        assert set(case.wrong) >= {"shift_first", "no_shift"}

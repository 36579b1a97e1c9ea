"""The benchmarks find what they measure; their runs take minutes and are left to the commands."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys

import pytest
from this_course import ROOT, exercises_of

from coursekit.check.lab import load_reference

PROGRAMS = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py"))
LAB = "02_self_attention"


@pytest.fixture
def load(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module


def test_submissions_are_written_as_students_hand_them_in(load, tmp_path):
    inbound = tmp_path / "exchange" / "inbound"
    inbound.mkdir(parents=True)
    load("grading").hand_in(tmp_path / "handed-in", 5)
    for number in range(5):
        load("watch").hand_in(inbound, number)
    for folder in (tmp_path / "handed-in", inbound):
        texts = [path.read_text("utf-8") for path in sorted(folder.rglob(f"{LAB}.ipynb"))]
        assert len(set(texts)) == len(texts) == 5 and all(json.loads(text)["cells"] for text in texts)


def test_the_course_of_the_comparison_is_there(load, tmp_path):
    course = load("grading").make_course(tmp_path / "course")
    assert (course / "solutions" / LAB / f"{LAB}.ipynb").is_file() and (course / "exercises" / "samples" / LAB).is_dir()


def test_the_floor_runs_as_many_cases_of_each_exercise_as_grading(load):
    """A lab's reference file holds as many visible cases as grading draws hidden ones, else the floor is another."""
    lab = load("grading").LAB
    visible, declared = load_reference(lab).expectations, exercises_of(lab)
    assert {name: len(visible[name]) for name in visible} == {
        name: len(exercise.expectations(7)) for name, exercise in declared.items()
    }


def test_every_program_is_on_the_page_of_the_benchmarks():
    page = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
    assert sorted(set(re.findall(r"python benchmarks/(\w+)\.py", page))) == PROGRAMS


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_explains_its_options(program):
    done = subprocess.run(
        [sys.executable, f"benchmarks/{program}.py", "--help"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "--help" in done.stdout, done.stderr

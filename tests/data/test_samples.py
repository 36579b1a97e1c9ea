"""The sample submissions that `make demo` grades are of the lab as it is released now."""

from __future__ import annotations

import subprocess
from pathlib import Path

from programs import program

from autograder.course.labs import read_grade_ids, read_released
from autograder.course.settings import load_course
from autograder.read import Unreadable, read_plan

ROOT = Path(__file__).resolve().parents[2]


def test_samples_are_of_the_released_lab():
    wanted = program("exercises/samples/build.py").samples()
    stale = [str(path) for path, text in wanted.items() if not path.is_file() or path.read_text("utf-8") != text]
    assert not stale, "run: python exercises/samples/build.py"
    assert {path for path in (ROOT / "exercises" / "samples").rglob("*.ipynb")} == wanted.keys()


def test_only_the_cheat_changed_a_locked_cell():
    course = load_course(ROOT)
    changed = set()
    for path in program("exercises/samples/build.py").samples():
        lab = path.stem
        try:
            repairs = read_plan(
                path.read_bytes(), read_released(course, lab), {lab: read_grade_ids(course, lab)}
            ).repairs
        except Unreadable:
            continue
        changed |= {path.parent.name for note in repairs if "locked" in note}
    assert changed == {"10-cheats"}


def test_the_demo_grades_what_is_there_and_makes_nothing_in_the_checkout():
    commands = subprocess.run(["make", "-n", "demo"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "course grade" in commands and "course release" not in commands
    assert {"/demo/", ".grading-seed"} <= set((ROOT / ".gitignore").read_text("utf-8").splitlines())

"""What `run_autograder` starts in Gradescope's container: one submission, graded by root, run by another user.

Root owns the grader, its hidden cases and the results; the submission's code runs as a user of its own who may read
none of them. When something of the grader's own fails there are no results, and Gradescope says so: nobody is blamed.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course.labs import details
from autograder.course.settings import load_course
from autograder.course.text import write_atomically
from autograder.grade.lab_grader import LabGrader
from autograder.integrations.gradescope.results_json import write_results
from autograder.read.finding import Chooser
from autograder.read.layouts import Claim, LabNames
from autograder.read.tree import read_folder
from autograder.sandbox import Sandbox
from autograder.sandbox.bubblewrap import OtherUser
from autograder.sandbox.warm import limits_of, preload_of
from autograder.worker.walls import end_processes

SETTINGS = "gradescope.json"
STUDENT = "submission"


@dataclass(frozen=True)
class Places:
    """Where things are in the container."""

    base: Path = Path("/autograder")
    packages: Path = Path("/opt/course/packages")
    home: Path = Path("/opt/course/home/student")

    @property
    def course(self) -> Path:
        return self.base / "source" / "course"


def grade(places: Places = Places()) -> Path:
    """Grade the submission in the container and write results.json; return its path."""
    settings = json.loads((places.base / "source" / SETTINGS).read_text("utf-8"))
    _close(places)
    course = load_course(places.course)
    grader = LabGrader(course, settings["lab"], seed=settings["seed"])
    claim = Claim(STUDENT, read_folder(places.base / "submission"), archives=0)
    found = Chooser(LabNames(grader.lab, grader.known)).choose(claim)
    other = OtherUser(settings["user"], places.packages, places.home)
    try:
        with Sandbox(limits_of(course), preload=preload_of(course, grader.lab), other_user=other) as sandbox:
            result = grader.grade(found, sandbox)
            walls = sandbox.walls
    finally:
        end_processes(other.user)  # before anything is written: nobody is left to watch or to touch it
    by_hand = sum(
        float(flags.get("points") or 0.0) for flags in map(details, grader.release.cells) if _is_by_hand(flags)
    )
    target = places.base / "results" / "results.json"
    write_atomically(target, write_results(result, walls, show=settings["show"], by_hand=by_hand))
    return target


def _is_by_hand(flags: Mapping[str, Any]) -> bool:
    return bool(flags.get("task") or (flags.get("grade") and flags.get("solution")))


def _close(places: Places) -> None:
    """Let nobody but root into the grader's folders; make the one above the student's."""
    places.base.chmod(0o700)  # nobody else needs to know what is in it; what follows holds if somebody opens it again
    for folder in ("source", "results"):
        (places.base / folder).mkdir(exist_ok=True)
        (places.base / folder).chmod(0o700)
    for file in ("run_autograder", "submission_metadata.json"):
        if (places.base / file).exists():
            (places.base / file).chmod(0o700)
    places.home.parent.mkdir(parents=True, exist_ok=True)
    places.home.parent.chmod(0o711)
    private = places.base / "source" / "tmp"
    private.mkdir(exist_ok=True)
    tempfile.tempdir = os.environ["TMPDIR"] = str(private)


def main() -> None:
    """Grade, and leave with exit status 1 and without results where the grader itself fails."""
    os.umask(0o077)
    try:
        grade()
    except Exception as error:
        print(f"No verdict, by a fault of the grader and not of the submission: {type(error).__name__}: {error}")
        sys.exit(1)


if __name__ == "__main__":
    main()

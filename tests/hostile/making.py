"""What the corpus is made of: the released lab, right answers, and ways to change a notebook."""

from __future__ import annotations

import copy
import csv
import json
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from autograder.course.labs import points

ROOT = Path(__file__).resolve().parents[2]
LAB = "02_self_attention"
LOOPS = "self_attention_loops"
POINTS: dict[str, float] = points(json.loads((ROOT / "labs" / LAB / f"{LAB}.ipynb").read_text("utf-8")))
FULL = sum(POINTS.values())

Notebook = dict[str, Any]


SOON_REACHED = {"cpu_seconds": 3, "wall_seconds": 10, "memory_mb": 4096}  # limits


def make_course(root: Path, **limits: int) -> Path:
    """A course with lab 02 alone; `limits` are those of `[grading]` that differ."""
    root.mkdir(parents=True, exist_ok=True)
    toml = (ROOT / "course.toml").read_text("utf-8").splitlines()
    kept = [line for line in toml if not line.startswith(tuple(f"{name} =" for name in limits))]
    at = kept.index("[grading]") + 1
    kept[at:at] = [f"{name} = {value}" for name, value in limits.items()]
    (root / "course.toml").write_text("\n".join(kept) + "\n", encoding="utf-8")
    shutil.copy(ROOT / "nbgrader_config.py", root)
    for folder in (f"solutions/{LAB}", f"labs/{LAB}", "exercises"):
        shutil.copytree(ROOT / folder, root / folder)
    return root


def command(*words: object) -> list[str]:
    return [str(Path(sys.executable).parent / "course"), *map(str, words)]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@dataclass(frozen=True)
class Scene:
    """What an attack may aim at: a file of the user's, a secret in the environment, a port that listens."""

    canary: Path
    secret: str
    port: int


@dataclass(frozen=True)
class Hostile:
    """One submission and the verdict it must get.

    Attributes:
        name: the student's folder.
        what: what is tried, in one line.
        make: returns the bytes of the notebook.
        lost: status that an exercise must have where it does not earn all its points; its score is 0, or as `partly`
            says. Every exercise that is not named must earn full marks.
        partly: exercises that keep a part of their points: the score.
        harms_itself: where true, exercises that are not named may earn less: the student broke his own notebook.
        state: the lab's state in grades.csv.
        told: words that the feedback page must hold.
        silent: words that the feedback page must not hold.
    """

    name: str
    what: str
    make: Callable[[Scene], bytes]
    lost: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    partly: Mapping[str, float] = field(default_factory=dict)
    harms_itself: bool = False
    state: str = "graded"
    told: str = ""
    silent: str = ""


@cache
def _released() -> str:
    return (ROOT / "labs" / LAB / f"{LAB}.ipynb").read_text("utf-8")


@cache
def right_answers() -> dict[str, str]:
    """The right code of every exercise, and of the question in words, by name."""
    cells = json.loads((ROOT / "solutions" / LAB / f"{LAB}.ipynb").read_text("utf-8"))["cells"]
    found = {}
    for cell in cells:
        flags = cell["metadata"].get("nbgrader", {})
        if flags.get("solution"):
            lines = "".join(cell["source"]).splitlines()
            text = "\n".join(line for line in lines if "### BEGIN" not in line and "### END" not in line)
            found[flags["grade_id"].removesuffix("-code")] = text
    return found


def released() -> Notebook:
    """The lab as students get it."""
    return json.loads(_released())


def answered(**codes: str) -> Notebook:
    """The lab with right answers, except for the exercises whose code is given."""
    notebook = released()
    for name, code in {**right_answers(), **codes}.items():
        solution(notebook, name)["source"] = code
    return notebook


def grade_id(cell: Mapping[str, Any]) -> str:
    flags = cell["metadata"].get("nbgrader", {}) if isinstance(cell["metadata"], dict) else {}
    return flags.get("grade_id", "")


def solution(notebook: Notebook, name: str) -> dict[str, Any]:
    """The cell with the student's answer to an exercise."""
    return next(cell for cell in notebook["cells"] if grade_id(cell) in (f"{name}-code", name) and is_answer(cell))


def is_answer(cell: Mapping[str, Any]) -> bool:
    return bool(cell["metadata"].get("nbgrader", {}).get("solution"))


def tests(notebook: Notebook) -> list[dict[str, Any]]:
    """The test cells."""
    return [cell for cell in notebook["cells"] if cell["metadata"].get("nbgrader", {}).get("points")]


def code_cell(source: str, **metadata: Any) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": [], "execution_count": None}


def with_cell(notebook: Notebook, source: str, before: str = LOOPS) -> Notebook:
    """Add a cell of the student's own above the answer to an exercise."""
    notebook["cells"].insert(notebook["cells"].index(solution(notebook, before)), code_cell(source))
    return notebook


def as_bytes(notebook: Notebook) -> bytes:
    return json.dumps(notebook, ensure_ascii=False).encode("utf-8", "surrogatepass")


def made(notebook: Notebook) -> Callable[[Scene], bytes]:
    return lambda scene: as_bytes(notebook)


def changed(change: Callable[[Notebook], Any], **codes: str) -> Callable[[Scene], bytes]:
    """A notebook with right answers (but for `codes`), on which `change` has worked."""

    def make(scene: Scene) -> bytes:
        notebook = copy.deepcopy(answered(**codes))
        change(notebook)
        return as_bytes(notebook)

    return make

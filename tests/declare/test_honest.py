"""Honest notebooks with habits that cost nothing at home: `course grade` gives them all their points."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from hostile.making import (
    FULL,
    LAB,
    POINTS,
    SOON_REACHED,
    answered,
    as_bytes,
    code_cell,
    command,
    make_course,
    released,
    right_answers,
    rows,
)

from autograder.sandbox import check_walls

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(wall.stands for wall in check_walls() if wall.required), reason="no sandbox here: see `course doctor`"
    ),
]

BURN = "import time\nbegun = time.process_time()\nwhile time.process_time() - begun < {}:\n    pass"
HELPED = "scaled_dot_product_attention"


def place_of(notebook, name: str) -> int:
    ids = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in notebook["cells"]]
    return ids.index(f"{name}-code")


def reset_on_top():
    notebook = answered()
    notebook["cells"].insert(0, code_cell("%reset -f\nprint('a fresh start')"))
    return notebook


def heavy_cells_beside_a_helper(heavy: list[str]):
    """The answer calls a helper that stands in a cell of its own, between cells that take long."""
    notebook = answered()
    at = place_of(notebook, HELPED)
    answer = right_answers()[HELPED]
    notebook["cells"][at]["source"] = f"{HELPED} = my_attention"
    helper = code_cell(answer.replace(f"def {HELPED}", "def my_attention"))
    notebook["cells"][at:at] = [*map(code_cell, heavy), helper, *map(code_cell, heavy)]
    return notebook


def module_written_by_a_cell():
    """Of an exercise without rules: those with rules are read, and nobody can say what a file holds when it runs."""
    notebook = answered()
    name = "project_qkv"
    at = place_of(notebook, name)
    answer = right_answers()[name]
    imports = "import keras\nimport numpy as np\nimport tensorflow as tf\nfrom keras import ops\n\n"
    notebook["cells"][at]["source"] = f"from my_helper import {name}"
    notebook["cells"].insert(at, code_cell(f"%%writefile my_helper.py\n{imports}{answer}"))
    return notebook


def answers_filled_in_below_the_stub():
    notebook = answered()
    at = place_of(notebook, "answers")
    stub = "".join(released()["cells"][place_of(released(), "answers")]["source"])
    values: dict = {}
    exec(right_answers()["answers"], values)
    filled = {**notebook["cells"][at], "id": "filled-in"}
    filled["source"] = "\n".join(f"answers[{key!r}] = {value!r}" for key, value in values["answers"].items())
    notebook["cells"][at]["source"] = stub
    notebook["cells"].insert(at + 1, filled)
    return notebook


HONEST = {
    "reset-on-top": reset_on_top,
    "heavy-own-2x4s": lambda: heavy_cells_beside_a_helper([BURN.format(4)]),
    "heavy-own-6x2s": lambda: heavy_cells_beside_a_helper([BURN.format(2)] * 3),
    "heavy-own-endless": lambda: heavy_cells_beside_a_helper([BURN.format(100)] * 2),
    "timeit": lambda: heavy_cells_beside_a_helper(["%timeit -n 1 -r 3 sum(range(10**7))"]),
    "writefile": module_written_by_a_cell,
    "answers-below-the-stub": answers_filled_in_below_the_stub,
    os.fsdecode(b"caf\xe9"): answered,
    "\x1b[2Jclear": answered,
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The notebooks, graded in one run whose terminal takes nothing but UTF-8."""
    root = make_course(tmp_path_factory.mktemp("honest"), **SOON_REACHED)
    for name, make in HONEST.items():
        folder = root / "handed-in" / name
        folder.mkdir(parents=True)
        (folder / f"{LAB}.ipynb").write_bytes(as_bytes(make()))
    (root / "handed-in" / os.fsdecode(b"r\xe9sum\xe9.pdf")).write_text("x")
    stamp = root / "handed-in" / "timeit" / LAB
    stamp.mkdir()
    (root / "handed-in" / "timeit" / f"{LAB}.ipynb").rename(stamp / f"{LAB}.ipynb")
    (stamp / "timestamp.txt").write_text("9999-12-31 23:59:59 -2359")
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}
    finished = subprocess.run(
        command("grade", LAB, "handed-in", "--workers", 2), cwd=root, env=environment, capture_output=True, timeout=900
    )
    assert finished.returncode == 0, finished.stderr.decode()
    return SimpleNamespace(
        root=root,
        told=(finished.stdout + finished.stderr).decode("utf-8", "strict"),
        grades={row["student"]: row for row in rows(root / "grades" / "grades.csv")},
        results={(row["student"], row["exercise"]): row for row in rows(root / "grades" / "results.csv")},
    )


@pytest.mark.parametrize("name", [name if name.isprintable() else ascii(name) for name in HONEST])
def test_no_point_is_lost(graded, name):
    known = {"'caf\\udce9'": "caf_", "'\\x1b[2Jclear'": "_[2Jclear"}
    student = known.get(name, name)
    lost = {
        exercise: graded.results[student, exercise]
        for exercise in POINTS
        if graded.results[student, exercise]["status"] != "graded"
    }
    page = (graded.root / "grades" / "feedback" / student / f"{LAB}.html").read_text("utf-8")
    assert float(graded.grades[student]["score"]) == FULL, (lost, page[page.find("<body") :][:3000])


def test_names_of_any_bytes_reach_every_file_and_the_terminal(graded):
    assert "r_sum_.pdf" in graded.told and "passed over" in graded.told
    assert "\x1b[2J" not in graded.told
    for path in Path(graded.root / "autograded").rglob("*"):
        str(path).encode("utf-8")
        if path.is_file():
            path.read_text("utf-8")

"""Classes on lab 02 that are graded by `course grade` as a program, each run with a gradebook and tables of its own."""

from __future__ import annotations

import csv
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

from hostile.making import LAB, ROOT, answered, command, make_course, with_cell

WRONG = {
    "self_attention_loops": "def self_attention_loops(x):\n    return x",
    "project_qkv": "import os\ndef project_qkv(x, w_q, w_k, w_v):\n    os._exit(0)",
    "attention_cost": "def attention_cost(length, d_model):\n    raise ValueError",
    "answers": "answers = {}",
}


def hand_in(root: Path, student: str, content: bytes) -> None:
    folder = root / "handed-in" / student
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{LAB}.ipynb").write_bytes(content)


class Run:
    """`course grade` with its own gradebook and tables."""

    def __init__(self, course: Path, name: str, *paths: str, workers: int = 2):
        self.course, self.folder = course, course / name
        self.folder.mkdir(exist_ok=True)
        self.database = self.folder / "gradebook.db"
        options = ("--out", self.folder, "--db", f"sqlite:///{self.database}", "--workers", workers)
        self.words = command("grade", LAB, *(paths or ("handed-in",)), *options)

    def start(self, *prefix: str, **options: object) -> subprocess.Popen:
        return subprocess.Popen(
            [*prefix, *self.words],
            cwd=self.course,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **options,
        )

    def finish(self, *prefix: str, **options: object) -> tuple[int, str]:
        process = self.start(*prefix, **options)
        said, _ = process.communicate(timeout=600)
        return process.returncode, said

    def recorded(self) -> dict[str, str]:
        """What is in the gradebook: student -> the result as it is stored."""
        if not self.database.exists():
            return {}
        with sqlite3.connect(self.database, timeout=60) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            try:
                return dict(connection.execute("SELECT student, result || graded_at FROM course_result"))
            except sqlite3.OperationalError:
                return {}  # killed before there was a table

    def marks(self) -> dict[str, float]:
        with (self.folder / "grades.csv").open(newline="") as file:
            return {row["student"]: float(row["score"]) for row in csv.DictReader(file)}

    def details(self) -> list[tuple[str, ...]]:
        """The table of results without the times."""
        with (self.folder / "results.csv").open(newline="") as file:
            return [tuple(row[name] for name in row if name != "seconds") for row in csv.DictReader(file)]


ENDLESS = "def self_attention_loops(x):\n    while True: pass"
# Memory that nobody writes to costs no time: whichever machine it is, this ends by its memory and not by its CPU time.
HUNGRY = "def find_the_bug(*_, **__):\n    return [np.zeros(1 << 27, 'uint8') for _ in range(10 ** 6)]"
MIXED = (
    lambda: answered(),
    lambda: answered(**{"self_attention_loops": WRONG["self_attention_loops"], "answers": "answers = {}"}),
    lambda: answered(predict="predict = None"),
    lambda: with_cell(answered(), "import os\nos.kill(os.getpid(), 9)\nos.abort()", before="attention_cost"),
    lambda: answered(self_attention_loops=ENDLESS),
    lambda: answered(find_the_bug=HUNGRY),
    lambda: with_cell(answered(), "import os, time\nfor _ in range(500):\n    if not os.fork(): time.sleep(99)"),
    lambda: {"cells": "none"},
)


def mixed_class(root: Path, count: int) -> Path:
    """A course whose limits are soon reached, and a class that is right, wrong, hostile, greedy, broken."""
    make_course(root, cpu_seconds=4, wall_seconds=24, memory_mb=4096)
    (root / ".grading-seed").write_text("7\n")
    for number in range(count):
        hand_in(root, f"student-{number:02}", json.dumps(MIXED[number % len(MIXED)]()).encode())
    return root


# -- the sample submissions ------------------------------------------------------------------------------------------

SAMPLES = ROOT / "exercises" / "samples" / LAB
TOLD = {
    "01-perfect": {},
    "02-typical-mistakes": {"SelfAttention": "scaled_by_d_model", "predict": "thought_one"},
    "03-other-mistakes": {"project_qkv": "order_q_v_k", "SelfAttention": "forbidden"},
    "04-half-finished": {"scaled_dot_product_attention": "missing", "answers": "missing"},
    "05-untouched": {"self_attention_loops": "missing", "SelfAttention": "missing"},
    "06-syntax-error": {"self_attention_matrix": "error"},
    "07-damaged-file": {"self_attention_loops": "missing"},
    "08-endless-loop": {"scaled_dot_product_attention": "timeout", "SelfAttention": "graded"},
    "09-kills-its-process": {"SelfAttention": "crashed"},
    "10-cheats": {"self_attention_loops": "unchanged"},
}


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(
        words, cwd=cwd, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=600
    )
    assert result.returncode == 0, f"{' '.join(words)}\n{result.stdout}\n{result.stderr}"
    return result

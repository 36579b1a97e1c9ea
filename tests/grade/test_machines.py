"""Any machine makes the same release and gives the same marks.

Another processor is pretended, as far as NumPy, OpenBLAS and oneDNN let us, to grader and students' processes alike.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__ as dispatched

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "exercises" / "samples" / "02_self_attention"

# The `course` command; no variable of the grader reaches the students' processes, so they are told here.
COURSE = """
import contextlib, json, locale, os
with contextlib.suppress(locale.Error):  # a locale that is not installed
    locale.setlocale(locale.LC_ALL, "")
from autograder.sandbox import bubblewrap
plain = bubblewrap.environment
bubblewrap.environment = lambda: plain() | json.loads(os.environ["PRETENDED"])
from autograder.cli.app import main
main()
"""
PLACE = {"LC_ALL": "tr_TR.UTF-8", "TZ": "Pacific/Chatham"}
OLD = {"NPY_DISABLE_CPU_FEATURES": " ".join(dispatched), "OPENBLAS_CORETYPE": "Nehalem", "TF_ENABLE_ONEDNN_OPTS": "0"}
MACHINES = {
    "no AVX-512": {
        "NPY_DISABLE_CPU_FEATURES": " ".join(name for name in dispatched if name[:3] != "X86" or name > "X86_V3")
    },
    "nothing that NumPy chooses": {"NPY_DISABLE_CPU_FEATURES": OLD["NPY_DISABLE_CPU_FEATURES"]},
    "OpenBLAS for Nehalem": {"OPENBLAS_CORETYPE": "Nehalem"},
    "OpenBLAS for Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "OpenBLAS for Zen": {"OPENBLAS_CORETYPE": "Zen"},
    "no oneDNN": {"TF_ENABLE_ONEDNN_OPTS": "0"},
    "two threads": {"OMP_NUM_THREADS": "2", "TF_NUM_INTRAOP_THREADS": "2", "TF_NUM_INTEROP_THREADS": "2"},
    "one core": {"CORES": "1"},
    "another place": PLACE,
    "strict umask": {"UMASK": "077"},
    "all of it": {**OLD, **PLACE, "CORES": "1", "UMASK": "077"},
}


def course(*arguments: str, on: dict[str, str]) -> subprocess.CompletedProcess:
    """Run the `course` command as on another machine."""

    def keep_to_one_core() -> None:
        if "CORES" in on and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    return subprocess.run(
        [sys.executable, "-c", COURSE, *arguments],
        cwd=ROOT,
        env={**os.environ, **on, "PRETENDED": json.dumps(on)},
        umask=int(on.get("UMASK", "022"), 8),
        preexec_fn=keep_to_one_core,
        capture_output=True,
        text=True,
    )


@pytest.mark.long
@pytest.mark.slow
def test_another_machine_finds_the_release_up_to_date():
    """Labs and reference files are those that are committed, whatever the processor, the place and the rights."""
    done = course("release", "--check", on=MACHINES["all of it"])
    assert done.returncode == 0 and "Everything is up to date" in done.stdout, done.stdout + done.stderr


def marks(folder: Path, on: dict[str, str]) -> list[list[str]]:
    """Student, exercise, score, status and named mistakes, as `course grade` tells them of the samples."""
    database = f"sqlite:///{folder / 'gradebook.db'}"
    done = course("grade", SAMPLES.name, str(SAMPLES), "--out", str(folder), "--db", database, "--seed", "1", on=on)
    assert done.returncode == 0, done.stdout + done.stderr
    with open(folder / "results.csv", newline="", encoding="utf-8") as file:
        return [[value for key, value in row.items() if key != "seconds"] for row in csv.DictReader(file)]


@pytest.fixture(scope="session")
def own_marks(tmp_path_factory) -> list[list[str]]:
    return marks(tmp_path_factory.mktemp("own"), on={})


@pytest.mark.exhaustive
@pytest.mark.sandbox
@pytest.mark.parametrize("machine", MACHINES)
def test_another_machine_gives_the_same_marks_and_changes_no_file(machine, own_marks, tmp_path):
    status = ["git", "status", "--porcelain"]
    before = subprocess.run(status, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    released = course("release", "--check", on=MACHINES[machine])
    assert released.returncode == 0, released.stdout + released.stderr
    assert marks(tmp_path, on=MACHINES[machine]) == own_marks
    assert subprocess.run(status, cwd=ROOT, capture_output=True, text=True, check=True).stdout == before

"""Proves that a solution passes every check about to be released, in a process of its own, as a student's would."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode

import coursekit
from coursekit.terminal import RAISED

PATIENCE = 900  # seconds; labs that train a model take about a minute


def failed_checks(
    lab: str, solution: NotebookNode, references: Mapping[str, bytes], files: Mapping[str, bytes]
) -> list[str]:
    """Run a solution against reference files that are not written yet; return what it fails, one sentence each.

    The notebook runs with the instructor's rights: it is her own.

    Args:
        lab: the lab's name.
        solution: the instructor's notebook.
        references: the lab's reference files by name, as they would be released.
        files: what lies beside the notebook, by path.
    """
    with tempfile.TemporaryDirectory(prefix="course-proof-") as name:
        root = Path(name)
        package = Path(coursekit.__file__).parent
        shutil.copytree(package, root / package.name, ignore=shutil.ignore_patterns("__pycache__"))
        for file, content in references.items():
            (root / package.name / "reference" / file).write_bytes(content)
        for file, content in files.items():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_bytes(content)
        notebook = root / f"{lab}.ipynb"
        notebook.write_text(nbformat.writes(solution), encoding="utf-8")
        command = [sys.executable, "-m", package.name, "check", "--raised", notebook.name]
        try:
            done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            return [f"solutions/{lab}: the solution's checks do not end within {PATIENCE} seconds"]
    if done.returncode == 0:
        return []
    failed = _failures(done.stdout.splitlines())
    said = failed or done.stderr.strip().splitlines()[-1:]
    return [f"solutions/{lab}: the solution fails its own checks: {line}" for line in said]


def _failures(lines: list[str]) -> list[str]:
    """What a report says of the cells that raised, and of each exercise that fails: the first thing that is wrong."""
    failures = [line.removeprefix(RAISED) for line in lines if line.startswith(RAISED)]
    for number, line in enumerate(lines):
        if line.startswith("✗ "):
            wrong = next((n for n in range(number + 1, len(lines)) if lines[n].startswith("    ✗ ")), None)
            following = lines[wrong : wrong + 2] if wrong else []
            detail = [line for n, line in enumerate(following) if n == 0 or line.startswith(" " * 8)]
            failures.append(": ".join([line.removeprefix("✗ "), *(line.strip(" ✗") for line in detail)]))
    return failures

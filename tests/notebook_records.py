"""One record for each notebook: as what it last ran from top to bottom, and which files of the course it read then.

`make test-notebooks` runs the notebooks whose record is behind, and writes the records of those that pass into
`tests/notebook_records.jsonl`. A record is behind when the notebook's code, or a file that it read, has changed since.
That is told, and no test fails for it.

    python tests/notebook_records.py behind    the notebooks whose record is behind, and why
    python tests/notebook_records.py all       every notebook
    python tests/notebook_records.py choose    those that `.ci/run` runs: changed ones, and three that are drawn
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORDS = ROOT / "tests" / "notebook_records.jsonl"
MOST_CHANGED, DRAWN = 6, 3
WHOLE_FOLDERS = ("coursekit/data/bert",)  # TensorFlow reads these itself: one file of them stands for all


def notebooks() -> list[str]:
    """All notebooks that are tested, as paths from the root."""
    found = [*(ROOT / "lectures").rglob("*.ipynb"), *(ROOT / "solutions").glob("*/*.ipynb")]
    return sorted(str(path.relative_to(ROOT)) for path in found if ".ipynb_checkpoints" not in path.parts)


def code_cells(notebook: str) -> list[dict]:
    cells = json.loads((ROOT / notebook).read_text("utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def digest_of_cells(notebook: str) -> str:
    """Of the code of a notebook, and of the outputs that are compared."""
    told = [
        ["".join(cell["source"]), cell["outputs"] if "NBVAL_CHECK_OUTPUT" in "".join(cell["source"]) else None]
        for cell in code_cells(notebook)
    ]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def digest_of_files(files: Iterable[str]) -> str:
    whole = hashlib.sha256()
    for name in files:
        path = ROOT / name
        whole.update(f"{name}\0".encode() + (path.read_bytes() if path.is_file() else b"is gone"))
    return whole.hexdigest()[:16]


def read_files(listing: Path, notebook: str) -> list[str]:
    """The tracked files of the course among those that a kernel has listed; compiled modules by their sources."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tracked = set(tracked.split("\0"))
    found = set()
    for line in listing.read_text("utf-8", "surrogateescape").splitlines() if listing.exists() else ():
        path = Path(importlib.util.source_from_cache(line) if line.endswith(".pyc") else line)
        name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else ""
        found.add(name)
        for folder in WHOLE_FOLDERS:
            if name.startswith(folder):
                found |= {each for each in tracked if each.startswith(folder)}
    return sorted((found & tracked) - {notebook} - {name for name in found if name.startswith("tests/")})


def load() -> dict[str, dict]:
    lines = RECORDS.read_text("utf-8").splitlines() if RECORDS.exists() else []
    return {record["notebook"]: record for record in map(json.loads, lines)}


def save(notebook: str, files: list[str], seconds: float) -> None:
    """Record that a notebook has run, at this commit."""
    commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
    record = {
        "notebook": notebook, "cells": digest_of_cells(notebook), "files": files, "read": digest_of_files(files),
        "commit": commit.strip(), "seconds": round(seconds),
    }  # fmt: skip
    records = {name: each for name, each in (load() | {notebook: record}).items() if (ROOT / name).is_file()}
    text = "".join(f"{json.dumps(records[name])}\n" for name in sorted(records))
    RECORDS.with_suffix(".new").write_text(text, "utf-8")
    RECORDS.with_suffix(".new").replace(RECORDS)


def why_behind(notebook: str, record: dict | None) -> str:
    """Why a notebook should run again; empty where its record is up to date."""
    if record is None:
        return "has no record"
    if record["cells"] != digest_of_cells(notebook):
        return "its own code changed"
    return "" if record["read"] == digest_of_files(record["files"]) else "what it reads changed"


def behind() -> dict[str, str]:
    records = load()
    return {name: why for name in notebooks() if (why := why_behind(name, records.get(name)))}


def choose(commit: str, changed: Iterable[str] = ()) -> list[str]:
    """Up to six notebooks whose own code is not what ran last, and three more, drawn by the commit: of those that are
    behind for what they read, or of all where these are fewer."""
    why = behind()
    is_new = {"has no record", "its own code changed"}
    own = [name for name in notebooks() if name in changed or why.get(name) in is_new]
    own = _drawn(own, commit)[:MOST_CHANGED]
    stale = [name for name in why if name not in own]
    others = [name for name in notebooks() if name not in own and name not in stale]
    return [*own, *(_drawn(stale, commit) + _drawn(others, commit))[:DRAWN]]


def _drawn(names: Iterable[str], commit: str) -> list[str]:
    return sorted(names, key=lambda name: hashlib.sha256(f"{commit} {name}".encode()).digest())


def _git(*words: str) -> list[str]:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()


def main() -> None:
    what = sys.argv[1] if len(sys.argv) == 2 else ""
    if what == "behind":
        for name, why in behind().items():
            print(f"{name}: {why}", file=sys.stderr)
            print(name)
    elif what == "all":
        print("\n".join(notebooks()))
    elif what == "choose":
        base = os.environ.get("BASE")  # what a pull request starts from, where somebody knows it
        changed = _git("diff", "--name-only", f"{base}...HEAD") if base else []
        (commit,) = _git("rev-parse", "HEAD")
        print("\n".join(choose(commit, changed)))
    else:
        print(__doc__)
        sys.exit(2)


if __name__ == "__main__":
    main()

"""Results of experiments that are too long to be run with a page: written by `experiments/`, read by lectures."""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypedDict, Unpack

FOLDER = Path(__file__).parent
FIELDS = ("what", "data", "device", "command", "seed", "seconds", "date", "versions", "run", "results")
FROM_HISTORY = "of the history: the commit that brought these numbers, with their program; the run noted none"
LARGEST = 200_000  # bytes
_PACKAGES = ("tensorflow", "jax", "keras", "tf-keras", "numpy")


def names() -> list[str]:
    """The names of what is recorded."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def load(name: str) -> dict[str, Any]:
    """Load a recorded run.

    Args:
        name: of the experiment that wrote it, such as "imdb_classifier".

    Returns:
        A dict of `FIELDS`. The run has the program, its arguments, the commit and the processor seconds of the last
        call. The run of an older record has a commit only, and `commit_is`, which is `FROM_HISTORY`.

    Raises:
        FileNotFoundError: nothing is recorded under that name.
    """
    path = FOLDER / f"{name}.json"
    if not path.is_file():
        raise FileNotFoundError(
            f'nothing is recorded under "{name}"; recorded are: {", ".join(names()) or "none"}. '
            f"To record it, run experiments/{name}.py"
        )
    return json.loads(path.read_text(encoding="utf-8"))


class Conditions(TypedDict):
    """What was run, on which data and machine, by which command and from which seed, and how many seconds it took."""

    what: str
    data: str
    device: str
    command: str
    seed: int
    seconds: float


def save(name: str, *, results: dict[str, Any], folder: Path = FOLDER, **conditions: Unpack[Conditions]) -> Path:
    """Record a run, with today's date and the versions of what it ran on.

    Args:
        name: of the experiment; the file is `<name>.json`.
        results: numbers, strings, lists and dicts of them; finite.
        folder: where to, made if it is not there; the package's own when it is not given.
        conditions: all of `Conditions`, and nothing else.

    Returns:
        The file.

    Raises:
        TypeError: a condition is missing or unknown.
        ValueError: the record is larger than 200 kB, or holds a number that is not finite.
    """
    if wrong := conditions.keys() ^ Conditions.__annotations__.keys():
        raise TypeError(f"missing or unknown: {', '.join(sorted(wrong))}")
    record = {
        "what": conditions["what"],
        "data": conditions["data"],
        "device": conditions["device"],
        "command": conditions["command"],
        "seed": conditions["seed"],
        "seconds": round(conditions["seconds"], 1),
        "date": datetime.date.today().isoformat(),
        "versions": {"python": platform.python_version()}
        | {package: found for package in _PACKAGES if (found := _version(package))},
        "run": _run(),
        "results": results,
    }
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    if len(text.encode()) > LARGEST:
        raise ValueError(f"{name} has {len(text.encode()):,} bytes; keep it under {LARGEST:,}: round, thin out")
    folder.mkdir(parents=True, exist_ok=True)
    path, part = folder / f"{name}.json", folder / f"{name}.json.part"
    part.write_text(text, encoding="utf-8")
    return part.replace(path)  # at once: a program that is killed here leaves the record of before


def _run() -> dict[str, Any]:
    """What is running: the program, its arguments with every path as FOLDER, its commit, its processor seconds."""
    program, *arguments = sys.argv
    folded = []
    for argument in arguments:
        option, equals, value = argument.rpartition("=")
        folded.append(option + equals + ("FOLDER" if os.sep in value else value))
    return {
        "program": Path(program).name,
        "arguments": folded,
        "commit": _commit(Path(program).resolve().parent),
        "processor seconds": round(time.process_time(), 1),
    }


def _commit(folder: Path) -> str | None:
    """The commit that is checked out in `folder`, with "-dirty" if a file was changed since; None without git."""
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None

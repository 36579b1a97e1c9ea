"""Results of experiments that are too long to be run with a page: written by `experiments/`, read by lectures."""

from __future__ import annotations

import datetime
import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
FIELDS = ("what", "data", "device", "command", "seed", "seconds", "date", "versions", "results")
LARGEST = 200_000  # bytes
_PACKAGES = ("tensorflow", "keras", "tf-keras", "numpy")


def names() -> list[str]:
    """The names of what is recorded."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def load(name: str) -> dict[str, Any]:
    """Load a recorded run.

    Args:
        name: of the experiment that wrote it, such as "imdb_classifier".

    Returns:
        A dict with what, data, device, command, seed, seconds, date, versions and results.

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


def save(
    name: str,
    *,
    what: str,
    data: str,
    device: str,
    command: str,
    seed: int,
    seconds: float,
    results: dict[str, Any],
    folder: Path = FOLDER,
) -> Path:
    """Record a run, with today's date and the versions of what it ran on.

    Args:
        name: of the experiment; the file is `<name>.json`.
        what, data, device, command, seed, seconds: what was run, on which data and machine, how it is repeated, and how
            long it took.
        results: numbers, strings, lists and dicts of them; finite.
        folder: where to, made if it is not there; the package's own when it is not given.

    Returns:
        The file.

    Raises:
        ValueError: the record is larger than 200 kB, or holds a number that is not finite.
    """
    record = {
        "what": what,
        "data": data,
        "device": device,
        "command": command,
        "seed": seed,
        "seconds": round(seconds, 1),
        "date": datetime.date.today().isoformat(),
        "versions": {"python": platform.python_version()} | {each: _version(each) for each in _PACKAGES},
        "results": results,
    }
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    if len(text.encode()) > LARGEST:
        raise ValueError(f"{name} has {len(text.encode()):,} bytes; keep it under {LARGEST:,}: round, thin out")
    folder.mkdir(parents=True, exist_ok=True)
    path, part = folder / f"{name}.json", folder / f"{name}.json.part"
    part.write_text(text, encoding="utf-8")
    return part.replace(path)  # at once: a program that is killed here leaves the record of before


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None

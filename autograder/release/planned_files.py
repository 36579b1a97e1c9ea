"""Reads the folders of a course as they will be once the files that a release plans are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

_SKIPPED_PARTS = {"__pycache__", ".ipynb_checkpoints", ".git", ".DS_Store", "real"}

Planned = Mapping[Path, bytes | None]  # files that are about to be written, or to go
NOTHING_PLANNED: Planned = {}


def files_in(folder: Path, patterns: Iterable[str]) -> Iterator[Path]:
    """The files in a folder, and below it, that match one of the patterns; no links, caches or downloaded data."""
    for pattern in patterns:
        for path in sorted(folder.rglob(pattern)):
            inside = path.relative_to(folder)
            if path.is_file() and not path.is_symlink() and not _SKIPPED_PARTS & set(inside.parts):
                yield path


def contents(folder: Path, patterns: Iterable[str], planned: Planned) -> Iterator[tuple[Path, bytes]]:
    """The files of a folder with what is in them once the `planned` ones are written."""
    patterns = tuple(patterns)
    for path in files_in(folder, patterns):
        if path not in planned:
            yield path, path.read_bytes()
    for path, content in planned.items():
        if content is not None and path.is_relative_to(folder) and any(map(path.match, patterns)):
            yield path, content

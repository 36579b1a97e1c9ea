"""The files beside a released notebook, such as a table of data: a submission finds them in its folder."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from autograder.course.settings import CourseError

MOST_BYTES = 20 * 2**20  # of all files of a lab: they travel into each submission's process


def files_in(folder: Path) -> dict[str, bytes]:
    """The data files of a lab's folder, by path in it; no notebooks, no reference, nothing hidden.

    Raises:
        CourseError: they are larger than what a submission's process can be given.
    """
    found = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return data_files({path.relative_to(folder).as_posix(): path.read_bytes() for path in found}, str(folder))


def data_files(files: Mapping[str, bytes], where: str) -> dict[str, bytes]:
    """Those of the files, by path in the lab's folder, that are data. Raises CourseError as `files_in` does."""
    data = {name: content for name, content in files.items() if _is_data(PurePosixPath(name))}
    if sum(map(len, data.values())) > MOST_BYTES:
        raise CourseError(f"{where}: the files beside the notebook take more than {MOST_BYTES // 2**20} MB together")
    return data


def _is_data(name: PurePosixPath) -> bool:
    hidden = any(part.startswith((".", "__")) or part == "reference" for part in name.parts)
    return not hidden and name.suffix != ".ipynb"


def writing(files: Mapping[str, bytes]) -> str:
    """A cell that writes the files into the working folder, read-only; it leaves no name and shows nothing."""
    packed = {name: base64.b85encode(content).decode() for name, content in files.items()}
    return (
        "(lambda files, path, decode: [(path(name).parent.mkdir(parents=True, exist_ok=True),"
        " path(name).write_bytes(decode(text)), path(name).chmod(0o444)) for name, text in files.items()])"
        f"({packed!r}, __import__('pathlib').Path, __import__('base64').b85decode) and None"
    )

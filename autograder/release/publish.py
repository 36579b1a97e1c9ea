"""Writes the student repository, or says why it must not be written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import nbformat

import coursekit
from autograder.course.files import write_atomically
from autograder.course.settings import Course
from autograder.release.absent_links import without_absent_links
from autograder.release.leaks import find_leaks, is_binary
from autograder.release.planned_files import NOTHING_PLANNED, Planned, contents, files_in
from autograder.release.release_notes import check_changes, student_changes
from autograder.release.student_project import LOCK, project_files

MARKER = ".course-publish.json"
# What students may get: text, tables, archives, and what the scan for answers takes for binary.
_KINDS = frozenset({
    ".bib", ".c", ".cfg", ".conf", ".cpp", ".css", ".csv", ".dat", ".geojson", ".gz", ".h", ".htm", ".html", ".ini",
    ".ipynb", ".java", ".jl", ".js", ".json", ".jsonl", ".keras", ".m", ".markdown", ".md", ".mjs", ".npy", ".npz",
    ".pickle", ".pkl", ".py", ".pyi", ".r", ".rst", ".sh", ".sql", ".srt", ".svg", ".tex", ".toml", ".ts", ".tsv",
    ".txt", ".xlsx", ".xml", ".yaml", ".yml", ".zip",
})  # fmt: skip
_NAMES = frozenset({
    ".gitattributes", ".gitignore", ".gitkeep", "LICENCE", "LICENSE", "LICENSE-CONTENT", "Makefile", "NOTICE", "README",
    "py.typed",
})  # fmt: skip


class PublishRefused(ValueError):
    """The student repository was not written; `reasons` says why, one sentence each."""

    def __init__(self, reasons: Iterable[str]):
        self.reasons = tuple(reasons)
        super().__init__("\n".join(self.reasons))


@dataclass(frozen=True)
class PublishSummary:
    """Files of the student repository that are new or changed, those removed, and what students notice in labs.

    `unlinked` names the notebooks in which a link to a lecture or a lab that is not there became its text.
    """

    written: tuple[str, ...]
    removed: tuple[str, ...]
    students: tuple[str, ...] = ()
    unlinked: tuple[str, ...] = ()


def publish(course: Course, directory: Path) -> PublishSummary:
    """Write the student repository into `directory`: lectures, labs, coursekit, data, experiments, what installs them.

    The folder has to be new, empty, an empty git clone, or an earlier publication, in which files that this function
    did not write stay as they are. Raises PublishRefused when it is not, when a lab is not released, when a file is of
    an unknown kind, or when one holds a line of a solution, an oracle or a hidden case; then nothing is written.
    """
    if problems := publication_problems(course, directory):
        raise PublishRefused(problems)
    directory = directory.expanduser().resolve()
    earlier = _earlier_files(directory)
    files, unlinked = without_absent_links(_gathered(course, NOTHING_PLANNED))
    written = [
        name
        for name, content in files.items()
        if not (directory / name).is_file() or (directory / name).read_bytes() != content
    ]
    students = _student_changes(course, directory, files)
    # The list comes first: after a crash, the next publication still knows which files are its own.
    marker = {"course": course.course_id, "version": course.version, "files": sorted({*files, *earlier})}
    write_atomically(directory / MARKER, _json(marker))
    for name in written:
        write_atomically(directory / name, files[name])
    removed = [name for name in earlier if name not in files and (directory / name).is_file()]
    for name in removed:
        (directory / name).unlink()
        _remove_empty(directory / name, directory)
    write_atomically(directory / MARKER, _json(marker | {"files": sorted(files)}))
    return PublishSummary(tuple(sorted(written)), tuple(sorted(removed)), tuple(students), tuple(unlinked))


def publication_problems(course: Course, directory: Path, planned: Planned = NOTHING_PLANNED) -> list[str]:
    """Why the student repository may not be written into `directory`, one sentence each.

    Judged is the course as it will be when the `planned` files are written (path -> content, None for one that goes).
    """
    directory = directory.expanduser().resolve()
    files = student_files(course, planned)
    problems = [
        f'labs/{lab.name}: is not released; run "course release {lab.name}"'
        for lab in course.labs
        if f"labs/{lab.name}/{lab.name}.ipynb" not in files
    ]
    problems += [
        f"{name}: is of a kind that students do not get. Delete it or move it out of {PurePosixPath(name).parent}; "
        "if students need it, give it a known ending, such as .txt, .csv or .zip"
        for name in files
        if not _may_be_published(PurePosixPath(name))
    ]
    problems += find_leaks(files, course, planned)
    if directory == course.root or course.root.is_relative_to(directory):
        problems.append(f"{directory}: the course itself is in it; choose another folder")
    try:
        _earlier_files(directory)
    except PublishRefused as refusal:
        problems += refusal.reasons
    return problems


def _may_be_published(path: PurePosixPath) -> bool:
    """Whether a file is of a known kind. Copies that an editor makes, such as `.bak` and `~`, are not."""
    return path.name in _NAMES or path.suffix.lower() in _KINDS or is_binary(path.name)


def _student_changes(course: Course, directory: Path, files: Mapping[str, bytes]) -> list[str]:
    """What is new in the labs for those who have what `directory` holds."""
    notebook = re.compile(r"labs/(.+)/\1\.ipynb|lectures/[^/]+\.ipynb")
    gone = [name for name in _earlier_files(directory) if name not in files and notebook.fullmatch(name)]
    lines = [f"{PurePosixPath(name).stem}: was withdrawn" for name in gone]
    for lab in (lab.name for lab in course.labs):
        path = f"labs/{lab}/{lab}.ipynb"
        home = course.reference(lab)[-1].relative_to(course.root)
        old = {file.name: file.read_bytes() for file in files_in(directory / home, (f"{lab}.*",))}
        new = {Path(name).name: text for name, text in files.items() if name.startswith(f"{home}/{lab}.")}
        shipped = (directory / path).read_bytes() if (directory / path).is_file() else b""
        if shipped != files[path]:
            before = nbformat.reads(shipped.decode("utf-8"), as_version=4) if shipped else None
            lines += student_changes(lab, before, nbformat.reads(files[path].decode("utf-8"), as_version=4))
        lines += check_changes(lab, old, new)
    return lines


def student_files(course: Course, planned: Planned = NOTHING_PLANNED) -> dict[str, bytes]:
    """Everything that students get, by path in their repository; `planned` files as they will be."""
    return without_absent_links(_gathered(course, planned))[0]


def _gathered(course: Course, planned: Planned) -> dict[str, bytes]:
    root = course.root
    files: dict[str, bytes] = {}
    for folder, patterns in (
        ("lectures", ("*.ipynb",)),
        ("coursekit", ("*",)),
        ("data", ("*",)),
        ("experiments", ("*.py",)),
    ):
        for path, content in contents(root / folder, patterns, planned):
            files[str(path.relative_to(root))] = content
    if not (root / "coursekit").is_dir():
        files |= _package_files()
    for lab in course.labs:
        for path, content in contents(course.releases / lab.name, ("*",), planned):
            files[str(path.relative_to(root))] = content
    for name in ("LICENSE", "LICENSE-CONTENT", LOCK):
        if (root / name).is_file():
            files[name] = (root / name).read_bytes()
    files |= project_files(course, files)
    return dict(sorted(files.items()))


def _package_files() -> dict[str, bytes]:
    """Return the installed coursekit, for a course without a copy; without the files of this repository's labs."""
    package = Path(coursekit.__file__).parent
    left_out = {package / "reference", package / "lecture" / "recorded", package / "data" / "bert"}
    return {
        str(path.relative_to(package.parent)): path.read_bytes()
        for path in files_in(package, ("*",))
        if not left_out & {*path.parents} or path.suffix == ".py"
    }


def _earlier_files(directory: Path) -> list[str]:
    """The files of an earlier publication; none for a new folder. Raises PublishRefused for anybody else's folder."""
    if directory.exists() and not directory.is_dir():
        raise PublishRefused([f"{directory}: is a file; name a folder"])
    marker = directory / MARKER
    if marker.is_file():
        try:
            names = json.loads(marker.read_text(encoding="utf-8"))["files"]
        except (ValueError, KeyError, TypeError) as error:
            raise PublishRefused([f"{marker}: cannot be read ({error}); publish into a new folder"]) from error
        if not all((directory / name).resolve().is_relative_to(directory) for name in names):
            raise PublishRefused([f"{marker}: names files outside the folder; publish into a new folder"])
        return names
    if directory.is_dir() and any(path.name != ".git" for path in directory.iterdir()):
        raise PublishRefused([f"{directory}: is not empty and was not published before; name a new or empty folder"])
    return []


def _remove_empty(path: Path, top: Path) -> None:
    for folder in path.parents:
        if folder == top or any(folder.iterdir()):
            return
        folder.rmdir()


def _json(content: dict) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=True) + "\n").encode()

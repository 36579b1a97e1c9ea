"""Writes the student repository, or says why it must not be written."""

from __future__ import annotations

import functools
import hashlib
import inspect
import io
import json
import posixpath
import re
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import metadata
from pathlib import Path, PurePosixPath
from typing import Any

import nbformat
from jinja2 import Environment, PackageLoader, StrictUndefined, Template

import coursekit
from autograder.course.labs import parse_notebook
from autograder.course.settings import Course
from autograder.course.text import write_atomically
from autograder.release import validation
from autograder.release.leaks import NOTHING_PLANNED, Planned, files_in, find_leaks, is_binary, read_files
from autograder.release.notes import describe_check_changes, describe_student_changes
from coursekit.lecture.dates import MONTHS

MARKER = ".course-publish.json"
PACKAGE = "transformers-coursekit"
LOCK = "requirements/lock.txt"
MOST_LINES = 3  # on links that were taken out; more are one line together
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
    if problems := find_publication_problems(course, directory):
        raise PublishRefused(problems)
    directory = directory.expanduser().resolve()
    earlier = _earlier_files(directory)
    files, unlinked = drop_absent_links(_gather(course, NOTHING_PLANNED))
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


def find_publication_problems(course: Course, directory: Path, planned: Planned = NOTHING_PLANNED) -> list[str]:
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
            lines += describe_student_changes(lab, before, nbformat.reads(files[path].decode("utf-8"), as_version=4))
        lines += describe_check_changes(lab, old, new)
    return lines


def student_files(course: Course, planned: Planned = NOTHING_PLANNED) -> dict[str, bytes]:
    """Everything that students get, by path in their repository; `planned` files as they will be."""
    return drop_absent_links(_gather(course, planned))[0]


def _gather(course: Course, planned: Planned) -> dict[str, bytes]:
    root = course.root
    files: dict[str, bytes] = {}
    folders = {root / "lectures": "*.ipynb", root / "coursekit": "*", root / "data": "*", root / "experiments": "*.py"}
    folders |= {course.releases / lab.name: "*" for lab in course.labs}
    for folder, pattern in folders.items():
        files |= {str(path.relative_to(root)): text for path, text in read_files(folder, (pattern,), planned)}
    if not (root / "coursekit").is_dir():
        files |= _package_files()
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


# -- what depends on what else is published --------------------------------------------------------------------------

_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?![a-z]+:)([^)#\s]+\.ipynb)(#[^)\s]*)?\)")


def drop_absent_links(files: Mapping[str, bytes]) -> tuple[dict[str, bytes], list[str]]:
    """Return the files; links to notebooks that are not among them become plain text.

    Args:
        files: what is published, by path. Notebooks without such a link stay as they are, byte for byte.

    Returns:
        The files, and for each notebook that lost a link a line with the names of what is not there; of more than
        `MOST_LINES` notebooks one line together.
    """
    linked, lost = dict(files), dict[str, set[str]]()
    for name in files:
        if name.endswith(".ipynb"):
            linked[name], absent = _drop_links(name, files)
            if absent:
                lost[name] = absent
    if len(lost) > MOST_LINES:
        lost = {f"{len(lost)} notebooks": set().union(*lost.values())}
    return linked, [f"{name}: {', '.join(sorted(absent))}" for name, absent in lost.items()]


def _drop_links(name: str, files: Mapping[str, bytes]) -> tuple[bytes, set[str]]:
    notebook = nbformat.reads(files[name].decode("utf-8"), as_version=4)
    absent: set[str] = set()

    def keep_or_unlink(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), match[2]))
        if target in files:
            return match[0]
        absent.add(posixpath.basename(target).removesuffix(".ipynb"))
        return match[1]

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _LINK.sub(keep_or_unlink, cell.source)
    return (nbformat.writes(notebook).rstrip("\n") + "\n").encode() if absent else files[name], absent


_TIME = (1980, 1, 1, 0, 0, 0)  # zip has no earlier one; the same files give the same bytes


def pack_coursekit(files: Mapping[str, bytes]) -> bytes:
    """A zip archive that pip installs: of what students get, coursekit and what builds it.

    Args:
        files: the students' repository by path, see `student_files`.
    """
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            if name.startswith("coursekit/") or name in ("pyproject.toml", "LICENSE"):
                archive.writestr(zipfile.ZipInfo(f"coursekit/{name}", _TIME), files[name], zipfile.ZIP_DEFLATED)
    return content.getvalue()


# -- the files around lectures and labs: README, package, environment, settings --------------------------------------

_RENDERED = (
    *("README.md", "AGENTS.md", "pyproject.toml", "requirements.txt", "environment.yml", "nbgrader_config.py"),
    ".gitignore",
)
_FOR_CLASSROOM = (".github/workflows/checks.yml",)


def project_files(course: Course, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files by name, filled in from course.toml and the course's pyproject.toml.

    `files` is what else is published, by path: the README lists the lectures in it, a lock in it is installed from, and
    the workflow knows its notebooks.
    """
    project = _project(course)
    instructor = project.get("optional-dependencies", {}).get("instructor", [])
    lectures = sorted(name for name in files if PurePosixPath(name).match("lectures/*.ipynb"))
    values = {
        "course": course,
        "package": PACKAGE,
        "project": project,
        "environment": "transformers-course" if lectures else course.course_id,
        "requirements": LOCK if LOCK in files else "requirements.txt",
        "tools": [requirement for requirement in instructor if re.match(r"(jupyterlab|nbgrader)\b", requirement)],
        "lectures": [{"path": name, "title": _title(name, files[name])} for name in lectures],
        "handed_out": _digests(course, files),
        "packages": " ".join(f'"{package}"' for package in course.packages),
        "has_data": "data/README.md" in files,
        "validation": inspect.getsource(validation),
        "in_colab": lambda path: f" ([Colab]({course.colab_url(path)}))" if course.colab_url(path) else "",
    }
    names = _RENDERED + (_FOR_CLASSROOM if course.classroom else ())
    return {name: _template(name).render(values).encode() for name in names}


def _digests(course: Course, files: Mapping[str, bytes]) -> dict[str, str]:
    """The sha256 of each lab's notebook as students get it, by lab."""
    notebooks = {lab.name: files.get(f"labs/{lab.name}/{lab.name}.ipynb") for lab in course.labs}
    return {lab: hashlib.sha256(content).hexdigest() for lab, content in notebooks.items() if content is not None}


def _project(course: Course) -> Mapping[str, Any]:
    """What the course's pyproject.toml says of its project; of this package's where the course has none."""
    path = course.root / "pyproject.toml"
    if path.is_file():
        return tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    installed = metadata("transformers-course")
    needed: dict[str, list[str]] = {"": [], "instructor": []}
    for requirement in installed.get_all("Requires-Dist") or ():
        text, _, marker = requirement.partition(";")
        extra = re.search(r"""extra == ["'](\w+)["']""", marker)
        if extra is None:
            needed[""].append(requirement)
        elif extra[1] in needed:
            needed[extra[1]].append(text.strip())
    return {
        "requires-python": installed["Requires-Python"],
        "dependencies": needed[""],
        "optional-dependencies": {"instructor": needed["instructor"]},
    }


def _title(name: str, content: bytes) -> str:
    """The title of a lecture: its first heading, else its file name."""
    for cell in parse_notebook(Path(name), content).cells:
        if cell.cell_type != "code" and (found := re.search(r"^# +(.+)$", cell.source, re.MULTILINE)):
            return found[1].strip()
    return Path(name).stem


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("autograder.release"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # JSON's strings are TOML's basic strings.
    environment.filters |= {"python": repr, "toml": functools.partial(json.dumps, ensure_ascii=False)}
    environment.filters["due_date"] = _due_date
    return environment


def _template(name: str) -> Template:
    return _environment().get_template(f"{PurePosixPath(name).name.removeprefix('.')}.j2")


def _due_date(due: datetime) -> str:
    month = MONTHS[due.month - 1].title()  # strftime's names follow the machine's language
    return f"{due.day} {month} {due:%Y, %H:%M} ({due.tzname()})"

"""The archive that Gradescope builds an autograder from: the grader, one lab, its hidden cases, and how to start."""

from __future__ import annotations

import io
import json
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path

import nbformat

import autograder
import coursekit
from autograder.course.labs import earlier_file, read_released
from autograder.course.settings import FILE_NAME, Course, CourseError
from autograder.declare.declaration import course_files, declared_exercises, own_exercises
from autograder.grade.lab_grader import read_callees, read_grading_seed
from autograder.release.publish import LOCK

USER = 64_111  # whom student code runs as in the container
_TIME = (1980, 1, 1, 0, 0, 0)
_NOT_NEEDED = {"samples", *(f"integrations/{name}" for name in ("scaffold", "similarity", "exporting"))}


def make_archive(course: Course, lab: str, *, show: str = "visible", seed: int | None = None) -> bytes:
    """Return the zip archive for Gradescope's "Configure Autograder".

    Args:
        course: the course.
        lab: the lab's name.
        show: when students see the tests, see `results_json`.
        seed: seed of the hidden cases; the course's own secret seed when None.

    Raises:
        CourseError: the lab is not released, or what has to be installed is nowhere written.
    """
    lab = course.lab(lab).name
    read_released(course, lab)
    settings = {"lab": lab, "seed": read_grading_seed(course) if seed is None else seed, "user": USER, "show": show}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        templates = Path(autograder.__path__[0]) / "integrations" / "gradescope" / "templates"
        for name in ("setup.sh", "run_autograder"):
            _add(archive, name, (templates / name).read_bytes(), 0o755)
        _add(archive, "gradescope.json", (json.dumps(settings, indent=1) + "\n").encode())
        _add(archive, "requirements.txt", _read_requirements())
        if course.packages:
            _add(archive, "packages.txt", "".join(f"{package}\n" for package in course.packages).encode())
        _add(archive, f"course/{FILE_NAME}", _write_settings(course, lab))
        for name, path in sorted(_list_files(course, lab)):
            _add(archive, name, path.read_bytes())
        declared = declared_exercises(course, lab)
        if not own_exercises(declared) and (solution := read_callees(course, lab, declared)):
            _add(archive, f"course/solutions/{lab}/{lab}.ipynb", nbformat.writes(solution).encode())
    return content.getvalue()


def _add(archive: zipfile.ZipFile, name: str, content: bytes, mode: int = 0o644) -> None:
    entry = zipfile.ZipInfo(name, _TIME)
    entry.external_attr = (stat.S_IFREG | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)


def _list_files(course: Course, lab: str) -> Iterator[tuple[str, Path]]:
    """What goes in, with its place in the archive: packages below `grader/`, the lab below `course/`."""
    for package in (autograder, coursekit):
        root = Path(package.__path__[0])
        for path in _find_in(root):
            if package is coursekit or not any(path.is_relative_to(root / name) for name in _NOT_NEEDED):
                yield f"grader/{root.name}/{path.relative_to(root)}", path
    wanted = [*_find_in(course.releases / lab), *course_files(course)]
    if own_exercises(declared_exercises(course, lab)):  # their references are the solution's results
        wanted += _find_in(course.solutions / lab)
    if (memory := earlier_file(course, lab)).is_file():
        wanted.append(memory)
    for path in dict.fromkeys(wanted):
        yield f"course/{path.relative_to(course.root)}", path


def _write_settings(course: Course, lab: str) -> bytes:
    """What of course.toml the container needs: its gradebook's address, which may hold a password, stays here."""
    limits = course.limits
    words = {"title": course.title, "term": course.term, "id": course.course_id}
    lines = ["[course]", *(f"{name} = {json.dumps(text, ensure_ascii=False)}" for name, text in words.items())]
    lines += ["[distribution]", f'version = "{course.version}"']
    lines += ["[grading]", f"cpu_seconds = {limits.cpu_seconds}", f"wall_seconds = {limits.wall_seconds}"]
    lines += [f"memory_mb = {limits.memory_mb}", "[[labs]]", f'name = "{lab}"']
    lines += [f"title = {json.dumps(course.lab(lab).title, ensure_ascii=False)}"]
    lines += [f"preload = {json.dumps(course.lab(lab).preload)}"]
    return ("\n".join(lines) + "\n").encode()


def _find_in(folder: Path) -> Iterator[Path]:
    if folder.is_file():
        yield folder
    for path in folder.rglob("*"):
        hidden = any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(folder).parts)
        if path.is_file() and not hidden:
            yield path


def _read_requirements() -> bytes:
    lock = Path(autograder.__path__[0]).parent / LOCK
    if not lock.is_file():
        raise CourseError(f"{lock}: is missing; install the course from its repository, which holds it")
    return lock.read_bytes()

"""Writes the files around the lectures and labs of the student repository: README, package, environment, settings."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import re
import tomllib
from collections.abc import Mapping
from datetime import datetime
from importlib.metadata import metadata
from pathlib import Path, PurePosixPath
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from autograder.course.labs import parse_notebook
from autograder.course.settings import Course
from autograder.release import validation
from coursekit.lecture.dates import MONTHS

PACKAGE = "transformers-coursekit"
LOCK = "requirements/lock.txt"
_TEMPLATES = {
    "README.md": "README.md.j2",
    "pyproject.toml": "pyproject.toml.j2",
    "requirements.txt": "requirements.txt.j2",
    "environment.yml": "environment.yml.j2",
    "nbgrader_config.py": "nbgrader_config.py.j2",
    ".gitignore": "gitignore.j2",
}
_FOR_CLASSROOM = {".github/workflows/checks.yml": "checks.yml.j2"}


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
    templates = _environment()
    wanted = _TEMPLATES | (_FOR_CLASSROOM if course.classroom else {})
    return {name: templates.get_template(source).render(values).encode() for name, source in wanted.items()}


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
    environment.filters["python"] = repr
    environment.filters["toml"] = _toml_string
    environment.filters["due_date"] = _due_date
    return environment


def _toml_string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # JSON's strings are TOML's basic strings


def _due_date(due: datetime) -> str:
    month = MONTHS[due.month - 1].title()  # strftime's names follow the machine's language
    return f"{due.day} {month} {due:%Y, %H:%M} ({due.tzname()})"

"""Reads course.toml, the one file an instructor edits, into a checked, frozen `Course`."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from traitlets.config import Config

FILE_NAME = "course.toml"
ROOT_VARIABLE = "COURSE_ROOT"
LEAST_MEMORY_MB = 3072  # of address space


class CourseError(ValueError):
    """Something that an instructor can mend, in course.toml or another file; the message names it and the remedy."""


@dataclass(frozen=True, slots=True)
class Lab:
    """One lab: its folder's and notebook's name, title, share of the course, and when it is due (aware, or None)."""

    name: str
    title: str
    weight: float = 1.0
    due: datetime | None = None


@dataclass(frozen=True, slots=True)
class CourseLimits:
    """What one exercise of one student may use.

    `wall_seconds` is time by the clock. Seconds in which the code waits for a busy processor are not counted, so the
    same submission has the same time on every machine. An exercise with a larger budget of CPU time has as many times
    more of both.
    """

    cpu_seconds: float = 20.0
    wall_seconds: float = 60.0
    memory_mb: int = 8192

    @property
    def memory_bytes(self) -> int:
        return self.memory_mb * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Course:
    """The course as course.toml describes it, and where its folders are."""

    root: Path
    title: str
    term: str
    course_id: str
    labs: tuple[Lab, ...]
    limits: CourseLimits = CourseLimits()
    repository: str = ""
    branch: str = "main"
    version: str = "0.1.0"
    colab_install: str = ""
    database: str = ""
    exchange: str = ""

    @property
    def solutions(self) -> Path:
        return self.root / "solutions"

    @property
    def releases(self) -> Path:
        return self.root / "labs"

    @property
    def lectures(self) -> Path:
        return self.root / "lectures"

    @property
    def reference(self) -> Path:
        return self.root / "coursekit" / "reference"

    @property
    def submitted(self) -> Path:
        return self.root / "submitted"

    @property
    def autograded(self) -> Path:
        return self.root / "autograded"

    @property
    def db_url(self) -> str:
        """The gradebook's SQLAlchemy address: the one in course.toml, else gradebook.db beside it."""
        return self.database or f"sqlite:///{self.root / 'gradebook.db'}"

    @property
    def pip_spec(self) -> str:
        """What Colab hands to pip for coursekit, quoted where a shell needs it; empty where nobody has said.

        There is no default on a package index: a name that nobody has taken there is anybody's to take.
        """
        spec = self.colab_install
        if not spec and self.repository:
            spec = f"transformers-coursekit @ git+{self.repository}@v{self.version}"
        return f'"{spec}"' if " " in spec else spec

    def colab_url(self, path: str) -> str:
        """Where Colab opens the published notebook at `path`; empty unless the repository is on GitHub."""
        host = "https://github.com/"
        if not self.repository.startswith(host):
            return ""
        home = self.repository.removeprefix(host).removesuffix(".git")
        return f"https://colab.research.google.com/github/{home}/blob/{self.branch}/{path}"

    def lab(self, name: str) -> Lab:
        """The lab called `name`. Raises CourseError with the known names."""
        for lab in self.labs:
            if lab.name == name:
                return lab
        known = ", ".join(lab.name for lab in self.labs)
        raise CourseError(f'{self.root / FILE_NAME}: there is no lab "{name}"; the labs are {known}')

    def solution_notebook(self, lab: str) -> Path:
        return self.solutions / lab / f"{lab}.ipynb"

    def release_notebook(self, lab: str) -> Path:
        return self.releases / lab / f"{lab}.ipynb"


def find_root(start: Path | None = None) -> Path:
    """The folder with course.toml: `start` or one above it. The default is $COURSE_ROOT, else the working folder."""
    if start is None and (named := os.environ.get(ROOT_VARIABLE)):
        root = Path(named).expanduser().resolve()
        if not (root / FILE_NAME).is_file():
            raise CourseError(
                f"{ROOT_VARIABLE} is {named}, and there is no {FILE_NAME} in it: correct or unset {ROOT_VARIABLE}"
            )
        return root
    begin = (start or Path.cwd()).resolve()
    for folder in (begin, *begin.parents):
        if (folder / FILE_NAME).is_file():
            return folder
    raise CourseError(f"no {FILE_NAME} in {begin} or above it: go to the course's folder, or set {ROOT_VARIABLE} to it")


def load_course(start: Path | None = None) -> Course:
    """Read course.toml.

    `start` is a folder inside the course; see `find_root`. Raises CourseError naming the file, the key and the remedy.
    """
    root = find_root(start)
    path = root / FILE_NAME
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseError(f"{path}: this is not TOML: {error}") from error

    top = _Table(path, "", content)
    course = top.table("course")
    distribution = top.table("distribution")
    grading = top.table("grading")
    defaults = CourseLimits()
    result = Course(
        root=root,
        title=course.text("title", required=True),
        term=course.text("term"),
        course_id=course.match(
            "id", r"[A-Za-z0-9][A-Za-z0-9_.-]*", "letters, digits, _ . and -, for example transformers"
        ),
        labs=_labs(path, top.tables("labs")),
        limits=CourseLimits(
            cpu_seconds=grading.number("cpu_seconds", defaults.cpu_seconds, least=1),
            wall_seconds=grading.number("wall_seconds", defaults.wall_seconds, least=1),
            memory_mb=int(
                grading.number(
                    "memory_mb", defaults.memory_mb, least=LEAST_MEMORY_MB, why="TensorFlow does not run with less"
                )
            ),
        ),
        repository=distribution.match(
            "repository",
            r"(https://[^\s\"']+[^\s\"'/])?",
            "an https address without a / at the end, or empty",
            default="",
        ),
        branch=distribution.match("branch", r"[A-Za-z0-9_./-]+", "the name of a branch", default="main"),
        version=distribution.match("version", r"\d+(\.\d+)*((a|b|rc|\.post|\.dev)\d+)?", "a version such as 0.1.0"),
        colab_install=distribution.match(
            "colab_install", r"[^\"'\n;&|$`]*", "a pip requirement without quotes", default=""
        ),
        database=grading.text("database"),
        exchange=grading.text("exchange"),
    )
    for table in (course, distribution, grading, top):
        table.done()
    return result


def _labs(path: Path, tables: list[_Table]) -> tuple[Lab, ...]:
    labs: list[Lab] = []
    for table in tables:
        name = table.match("name", r"[A-Za-z0-9][A-Za-z0-9_]*", "the lab's folder, for example 02_self_attention")
        if any(lab.name == name for lab in labs):
            raise CourseError(f'{path}: labs.name: "{name}" appears twice; remove one')
        weight = table.number("weight", 1.0, least=0)
        labs.append(Lab(name=name, title=table.text("title") or name, weight=weight, due=table.moment("due")))
        table.done()
    if not labs:
        raise CourseError(f"{path}: labs: there are none; add a [[labs]] table with a name")
    return tuple(labs)


def load_nbgrader_config(course: Course) -> Config:
    """What nbgrader_config.py sets; nothing when the course has none. Raises CourseError when it cannot be run."""
    from traitlets.config import Config, PyFileConfigLoader

    path = course.root / "nbgrader_config.py"
    if not path.is_file():
        return Config()
    try:
        return PyFileConfigLoader(path.name, path=str(course.root)).load_config()
    except CourseError:
        raise
    except Exception as error:  # whatever a file of somebody's Python can raise
        raise CourseError(f"{path}: cannot be run ({type(error).__name__}: {error}); correct it") from error


class _Table:
    """One TOML table, read key by key, so that each error can say where it is and an unknown key is noticed."""

    def __init__(self, path: Path, name: str, content: dict[str, Any]):
        self._path, self._name, self._content, self._read = path, name, content, set()

    def _error(self, key: str, problem: str) -> CourseError:
        return CourseError(f"{self._path}: {self._name + '.' if self._name else ''}{key}: {problem}")

    def _take(self, key: str) -> Any:
        self._read.add(key)
        return self._content.get(key)

    def table(self, key: str) -> _Table:
        value = self._take(key)
        if not isinstance(value, dict | None):
            raise self._error(key, f"write it as a table, [{key}]")
        return _Table(self._path, key, value or {})

    def tables(self, key: str) -> list[_Table]:
        value = self._take(key)
        value = [] if value is None else value
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self._error(key, f"write each one as a table, [[{key}]]")
        return [_Table(self._path, key, item) for item in value]

    def text(self, key: str, required: bool = False) -> str:
        value = self._take(key)
        if value is None and not required:
            return ""
        if not isinstance(value, str) or (required and not value.strip()):
            raise self._error(key, f"needs a text in quotes, and is {_shown(value)}")
        return value

    def match(self, key: str, pattern: str, wanted: str, default: str | None = None) -> str:
        value = self._take(key)
        if value is None:
            if default is not None:
                return default
            raise self._error(key, f"is missing; it should be {wanted}")
        if not isinstance(value, str) or re.fullmatch(pattern, value) is None:
            raise self._error(key, f"should be {wanted}, and is {_shown(value)}")
        return value

    def number(self, key: str, default: float, least: float, why: str = "") -> float:
        value = self._take(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value < float("inf"):
            reason = f" ({why})" if why else ""
            raise self._error(key, f"needs a number of at least {least:g}{reason}, and is {_shown(value)}")
        return value

    def moment(self, key: str) -> datetime | None:
        value = self._take(key)
        if value is None:
            return None
        if not isinstance(value, datetime) or value.tzinfo is None:
            raise self._error(
                key, f"needs a date, a time and a time zone, as in 2026-12-04T23:59:00+01:00, and is {_shown(value)}"
            )
        return value

    def done(self) -> None:
        """Complain about keys that nothing reads: most are misspelt."""
        unknown = sorted(set(self._content) - self._read)
        if unknown:
            raise self._error(unknown[0], f"is not a key here; the keys are {', '.join(sorted(self._read))}")


def _shown(value: Any) -> str:
    return "missing" if value is None else repr(value) if isinstance(value, str | int | float) else str(value)

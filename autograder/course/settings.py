"""Reads course.toml, the one file an instructor edits, into a checked, frozen `Course`."""

from __future__ import annotations

import os
import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args
from zoneinfo import ZoneInfo

from packaging.requirements import Requirement
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from autograder.course.text import did_you_mean

if TYPE_CHECKING:
    from traitlets.config import Config

FILE_NAME = "course.toml"
ROOT_VARIABLE = "COURSE_ROOT"
_DUE_DATE = "needs a date, a time and a time zone, as in 2026-12-04T23:59:00+01:00"
_DUE = re.compile(r"\s*due\s*=\s*([^\s#][^#]*)")
LEAST_MEMORY_MB = 3072  # of address space


class CourseError(ValueError):
    """Something that an instructor can mend, in course.toml or another file; the message names it and the remedy."""


@dataclass(frozen=True, slots=True)
class CourseLab:
    """One lab: its folder's and notebook's name, title, share of the course, and when it is due (aware, or None).

    `preload` are the modules that workers load once, before its submissions, besides TensorFlow and Keras.
    """

    name: str
    title: str
    weight: float = 1.0
    due: datetime | None = None
    preload: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Lateness:
    """What late work loses: nothing for `grace_minutes`, then `percent_per_day` of the earned points a day.

    `extensions` are the due dates of single students: student, lab, date. `excused` are students and the labs that do
    not count for them.
    """

    grace_minutes: float = 0.0
    percent_per_day: float = 0.0
    extensions: tuple[tuple[str, str, datetime], ...] = ()
    excused: tuple[tuple[str, str], ...] = ()

    def is_excused(self, student: str, lab: str) -> bool:
        """Whether a lab does not count for a student."""
        return (student, lab) in self.excused

    def extension(self, student: str, lab: str) -> datetime | None:
        """The date by which a student may hand in a lab, where it is another than the lab's; else None."""
        return next((due for who, what, due in self.extensions if (who, what) == (student, lab)), None)


@dataclass(frozen=True, slots=True)
class Attempts:
    """Which attempt of a student counts, "latest" or "best", and how many are graded in an hour; 0 for all."""

    counts: str = "latest"
    per_hour: int = 10


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
    labs: tuple[CourseLab, ...]
    limits: CourseLimits = CourseLimits()
    repository: str = ""
    site: str = ""
    branch: str = "main"
    version: str = "0.1.0"
    colab_install: str = ""
    jupyterlab: str = ""
    classroom: bool = False
    database: str = ""
    exchange: str = ""
    lateness: Lateness = Lateness()
    attempts: Attempts = Attempts()
    roster: Path | None = None
    hidden_cases: str = "never"
    packages: tuple[str, ...] = ()
    time_zone: ZoneInfo | None = None

    @property
    def solutions(self) -> Path:
        return self.root / "solutions"

    @property
    def releases(self) -> Path:
        return self.root / "labs"

    @property
    def lectures(self) -> Path:
        return self.root / "lectures"

    def reference(self, lab: str) -> tuple[Path, ...]:
        """The folders of a lab's reference files.

        Where the course holds coursekit, that package's; else beside the lab's notebook, in the released folder that
        students get and in the one that nbgrader makes it from.
        """
        if (self.root / "coursekit").is_dir():
            return (self.root / "coursekit" / "reference",)
        return (self.solutions / lab / "reference", self.releases / lab / "reference")

    @property
    def submitted(self) -> Path:
        return self.root / "submitted"

    @property
    def autograded(self) -> Path:
        return self.root / "autograded"

    @property
    def db_url(self) -> str:
        """The gradebook's SQLAlchemy address: the one in course.toml, else gradebook.db beside it."""
        return add_driver(self.database) or f"sqlite:///{self.root / 'gradebook.db'}"

    def gradebook_at(self, address: str | None) -> str:
        """The address that a command was given, a relative SQLite file taken from the working folder; else `db_url`."""
        prefix = "sqlite:///"
        if address is None:
            return self.db_url
        if address.startswith(prefix) and not address.startswith(prefix + "/"):
            return f"{prefix}{Path(address.removeprefix(prefix)).resolve()}"
        return add_driver(address)

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

    def jupyterlab_url(self, path: str) -> str:
        """Where readers' JupyterLab opens the published notebook at `path`; empty where course.toml names none."""
        return f"{self.jupyterlab}/{path}" if self.jupyterlab else ""

    def lab(self, name: str) -> CourseLab:
        """The lab called `name`. Raises CourseError with the known names."""
        for lab in self.labs:
            if lab.name == name:
                return lab
        names = [lab.name for lab in self.labs]
        meant = did_you_mean(name, names)
        labs = f"{meant} The labs" if meant else "; the labs"
        raise CourseError(f'{self.root / FILE_NAME}: there is no lab "{name}"{labs} are {", ".join(names)}')

    def zone_of(self, lab: str) -> tzinfo:
        """The time zone of times of a lab that name none: the course's, else that of the lab's due date, else UTC."""
        due = next((each.due for each in self.labs if each.name == lab), None)
        return self.time_zone or (due.tzinfo if due is not None else None) or UTC

    def solution_notebook(self, lab: str) -> Path:
        return self.solutions / lab / f"{lab}.ipynb"

    def release_notebook(self, lab: str) -> Path:
        return self.releases / lab / f"{lab}.ipynb"


def add_driver(db_url: str) -> str:
    """A gradebook's address with the driver for PostgreSQL that is installed, where it names none."""
    kind, colon, place = db_url.partition("://")
    return f"postgresql+psycopg{colon}{place}" if kind in ("postgresql", "postgres") else db_url


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
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"{path}: {_explain_no_toml(path, error)}") from error
    except UnicodeDecodeError as error:
        raise CourseError(f"{path}: this is not TOML: {error}") from error

    try:
        tables = _CourseFile.model_validate(content)
    except ValidationError as error:
        raise CourseError("\n".join(f"{path}: {_describe(problem)}" for problem in error.errors())) from None
    if not tables.labs:
        raise CourseError(f"{path}: labs: there are none; add a [[labs]] table with a name")
    for name, count in Counter(lab.name for lab in tables.labs).items():
        if count > 1:
            raise CourseError(f'{path}: labs.name: "{name}" appears twice; remove one')
    course, grading = tables.course, tables.grading
    return Course(
        root=root,
        title=course.title,
        term=course.term,
        course_id=course.id,
        roster=root / course.roster if course.roster else None,
        labs=tuple(
            CourseLab(lab.name, lab.title or lab.name, lab.weight, lab.due, tuple(lab.preload)) for lab in tables.labs
        ),
        limits=CourseLimits(grading.cpu_seconds, grading.wall_seconds, int(grading.memory_mb)),
        **tables.distribution.model_dump(),  # its keys are those of a course
        database=grading.database,
        exchange=grading.exchange,
        lateness=Lateness(
            grading.grace_minutes,
            grading.late_percent_per_day,
            _read_extensions(path, tables),
            _read_excused(path, tables),
        ),
        time_zone=ZoneInfo(grading.time_zone) if grading.time_zone else None,
        attempts=Attempts(grading.counts, grading.attempts_per_hour),
        hidden_cases=grading.hidden_cases,
        packages=tuple(course.packages),
    )


def _explain_no_toml(path: Path, error: tomllib.TOMLDecodeError) -> str:
    """Say what is wrong with a file that is not TOML: a date as people write it, or else the parser's words."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        match = _DUE.match(line)
        if match is None:
            continue
        try:
            tomllib.loads(line)
        except tomllib.TOMLDecodeError:
            return f"line {number}: due {_DUE_DATE}, and is {match[1].rstrip()}"
    return f"this is not TOML: {error}"


def _read_extensions(path: Path, tables: _CourseFile) -> tuple[tuple[str, str, datetime], ...]:
    """Return the due dates of single students. An extension for one lab comes before one for all labs."""
    due = {lab.name: lab.due for lab in tables.labs}
    of_one: dict[tuple[str, str], datetime] = {}
    of_all: dict[tuple[str, str], datetime] = {}
    zone = ZoneInfo(tables.grading.time_zone) if tables.grading.time_zone else None
    for extension in tables.extensions:
        if (extension.due is None) == (extension.days is None):
            raise CourseError(
                f'{path}: extensions: "{extension.student}" needs either a due date, due = …, or days = …'
            )
        if extension.lab is None and extension.days is None:
            raise CourseError(
                f'{path}: extensions: "{extension.student}" needs a lab with the due date, or days for all labs'
            )
        if extension.lab is not None and due.get(extension.lab) is None:
            why = (
                "has no due date"
                if extension.lab in due
                else f"is not among [[labs]]{did_you_mean(extension.lab, due)}"
            )
            raise CourseError(f'{path}: extensions.lab: "{extension.lab}" {why}')
        dates = of_one if extension.lab is not None else of_all
        for lab, date in due.items():
            if date is None or extension.lab not in (None, lab):
                continue
            if (extension.student, lab) in dates:
                what = f'"{lab}"' if extension.lab is not None else "all labs"
                raise CourseError(f'{path}: extensions: "{extension.student}" has two for {what}; remove one')
            if extension.due is not None and extension.due < date:
                raise CourseError(
                    f'{path}: extensions: "{extension.student}" has until {extension.due.isoformat()} for "{lab}", '
                    f"and the lab is due only on {date.isoformat()}; give a later date, or remove the extension"
                )
            later = date.astimezone(zone or date.tzinfo) + timedelta(days=extension.days or 0)
            dates[extension.student, lab] = extension.due or later
    return tuple((student, lab, later) for (student, lab), later in (of_all | of_one).items())


def _read_excused(path: Path, tables: _CourseFile) -> tuple[tuple[str, str], ...]:
    names = {lab.name for lab in tables.labs}
    for excuse in tables.excused:
        if excuse.lab not in names:
            raise CourseError(
                f'{path}: excused.lab: "{excuse.lab}" is not among [[labs]]{did_you_mean(excuse.lab, names)}'
            )
    return tuple((excuse.student, excuse.lab) for excuse in tables.excused)


def load_nbgrader_config(course: Course) -> Config:
    """What nbgrader_config.py sets; nothing when the course has none.

    Raises:
        CourseError: it cannot be run, or lets nbgrader write times in another zone than UTC.
    """
    from traitlets.config import Config, PyFileConfigLoader

    path = course.root / "nbgrader_config.py"
    if not path.is_file():
        return Config()
    try:
        config = PyFileConfigLoader(path.name, path=str(course.root)).load_config()
    except CourseError:
        raise
    except Exception as error:  # whatever a file of somebody's Python can raise
        raise CourseError(f"{path}: cannot be run ({type(error).__name__}: {error}); correct it") from error
    if (zone := config.Exchange.get("timezone", "UTC")) != "UTC":
        raise CourseError(
            f'{path}: c.Exchange.timezone is "{zone}": nbgrader then writes letters such as CEST, which name no zone '
            "for sure; remove the line, so that times of handing in are in UTC"
        )
    return config


_DEFAULTS = CourseLimits()


class _Table(BaseModel):
    """A table of course.toml. An error quotes the description of its key: what the value has to be."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


def _check_requirement(text: str) -> str:
    """The requirement, which goes between quotes into a shell, a TOML file and a notebook. ValueError for others."""
    parsed = Requirement(text)
    if parsed.url or parsed.marker:
        raise ValueError("an address or a condition")
    return text


class _CourseTable(_Table):
    title: str = Field(pattern=r"\S", description="needs a text in quotes")
    term: str = Field("", description="needs a text in quotes")
    id: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$",
        description="should be letters, digits, _ . and -, for example transformers",
    )
    roster: str = Field("", description="should be the name of a CSV file in quotes")
    packages: list[Annotated[str, AfterValidator(_check_requirement)]] = Field(
        [], description='needs requirements as pip takes them, as in ["scipy>=1.11"]'
    )


class _DistributionTable(_Table):
    repository: str = Field(
        "",
        pattern=r"^(https://[^\s\"']+[^\s\"'/])?$",
        description="should be an https address without a / at the end, or empty",
    )
    site: str = Field(
        "",
        pattern=r"^(https?://[^\s\"']+[^\s\"'/])?$",
        description="should be a web address without a / at the end, or empty",
    )
    branch: str = Field("main", pattern=r"^[A-Za-z0-9_./-]+$", description="should be the name of a branch")
    version: str = Field(
        pattern=r"^\d+(\.\d+)*((a|b|rc|\.post|\.dev)\d+)?$", description="should be a version such as 0.1.0"
    )
    colab_install: str = Field(
        "", pattern=r"^[^\"'\n;&|$`]*$", description="should be a pip requirement without quotes"
    )
    jupyterlab: str = Field(
        "",
        pattern=r"^(https?://[^\s\"']+[^\s\"'/])?$",
        description="should be a web address without a / at the end, or empty",
    )
    classroom: bool = Field(False, description="should be true or false")


def _check_zone(name: str) -> str:
    try:
        return name and ZoneInfo(name).key
    except (LookupError, OSError) as error:
        raise ValueError(f"there is no time zone {name!r}") from error


class _GradingTable(_Table):
    cpu_seconds: float = Field(_DEFAULTS.cpu_seconds, ge=1, description="needs a number of at least 1")
    wall_seconds: float = Field(_DEFAULTS.wall_seconds, ge=1, description="needs a number of at least 1")
    memory_mb: float = Field(
        _DEFAULTS.memory_mb,
        ge=LEAST_MEMORY_MB,
        description=f"needs a number of at least {LEAST_MEMORY_MB} (TensorFlow does not run with less)",
    )
    database: str = Field("", description="needs a text in quotes")
    exchange: str = Field("", description="needs a text in quotes")
    time_zone: Annotated[str, AfterValidator(_check_zone)] = Field(
        "", description='needs the name of a time zone, as in "Europe/Berlin"'
    )
    counts: Literal["latest", "best"] = Field("latest", description='should be "latest" or "best"')
    hidden_cases: Literal["never", "after due"] = Field("never", description='should be "never" or "after due"')
    attempts_per_hour: int = Field(10, ge=0, description="needs a whole number; 0 sets no limit")
    grace_minutes: float = Field(0.0, ge=0, description="needs a number of at least 0")
    late_percent_per_day: float = Field(0.0, ge=0, le=100, description="needs a number from 0 to 100")


class _LabTable(_Table):
    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_]*$", description="should be the lab's folder, for example 02_self_attention"
    )
    title: str = Field("", description="needs a text in quotes")
    weight: float = Field(1.0, ge=0, description="needs a number of at least 0")
    due: AwareDatetime | None = Field(None, description=_DUE_DATE)
    preload: list[Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*$")]] = Field(
        [], description='needs names of modules, as in ["sklearn.linear_model"]'
    )


class _ExtensionTable(_Table):
    student: str = Field(pattern=r"\S", description="needs the student's id in quotes")
    lab: str | None = Field(None, pattern=r"\S", description="should be the name of a lab")
    due: AwareDatetime | None = Field(None, description=_DUE_DATE)
    days: float | None = Field(None, gt=0, le=1000, description="needs a number of days after the due date")


class _ExcusedTable(_Table):
    student: str = Field(pattern=r"\S", description="needs the student's id in quotes")
    lab: str = Field(pattern=r"\S", description="should be the name of a lab")


class _CourseFile(_Table):
    course: _CourseTable = Field(default_factory=dict, validate_default=True)
    distribution: _DistributionTable = Field(default_factory=dict, validate_default=True)
    grading: _GradingTable = Field(default_factory=dict, validate_default=True)
    labs: list[_LabTable] = []
    extensions: list[_ExtensionTable] = []
    excused: list[_ExcusedTable] = []


def _describe(error: ErrorDetails) -> str:
    """What is wrong, where, and how to mend it; `loc` is (table, key), for a lab (labs, number, key)."""
    where = [part for part in error["loc"] if isinstance(part, str)]
    place, table = ".".join(where), where[0]
    kind = _CourseFile.model_fields[table].annotation if table in _CourseFile.model_fields else None
    several = get_args(kind)  # of a list of tables, what each one is
    model: Any = next(iter(several), kind) if len(where) > 1 else _CourseFile
    if error["type"] == "extra_forbidden":
        return f"{place}: is not a known key; the keys are {', '.join(sorted(model.model_fields))}"
    if len(where) > 1:
        value = error["input"]
        shown = repr(value) if isinstance(value, str | int | float) else str(value)
        is_now = "missing" if error["type"] == "missing" else shown
        return f"{place}: {model.model_fields[where[1]].description}, and is {is_now}"
    return f"{place}: write " + (f"each one as a table, [[{table}]]" if several else f"it as a table, [{table}]")

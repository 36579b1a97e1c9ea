"""`course doctor`: looks at Python, TensorFlow, data, the walls of the sandbox, nbgrader, the released labs."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import typer
from packaging.requirements import Requirement
from rich.markup import escape
from rich.table import Table

from autograder.cli.console import out
from autograder.course.settings import FILE_NAME, Course, load_course
from autograder.grade.database import show_url

_COUNTING = "memory and CPU time"


@dataclass(frozen=True)
class Finding:
    """One thing looked at: whether it works, whether grading needs it, and what to do if it does not work."""

    name: str
    works: bool
    text: str
    remedy: str = ""
    needed: bool = True


def doctor() -> None:
    """Say what works on this machine, and how to repair the rest. Exit 1 when grading would refuse to run."""
    fine = True
    table = Table("", "what", show_lines=False)
    for heading in ("finding", "what to do"):
        table.add_column(heading, overflow="fold")  # a command to type is shown whole
    with out.status("Looking …"):
        for finding in look(load_course()):
            fine = fine and (finding.works or not finding.needed)
            sign = "[green]✓[/]" if finding.works else "[red]✗[/]" if finding.needed else "[yellow]–[/]"
            table.add_row(sign, finding.name, escape(finding.text), escape(finding.remedy))
    out.print(table)
    if not fine:
        raise typer.Exit(1)


def look(course: Course) -> Iterator[Finding]:
    """Look at one thing after the other; the walls take a second."""
    yield Finding("course", True, str(course.root))
    yield Finding("gradebook", True, show_url(course.db_url))
    yield Finding("late work", True, _describe_lateness(course))
    right = (3, 11) <= sys.version_info[:2] <= (3, 13)
    yield Finding("Python", right, sys.version.split()[0], "" if right else "use Python 3.11, 3.12 or 3.13")
    for package in ("tensorflow", "keras", "nbgrader"):
        yield _look_at_package(package)
    yield _look_at_package("tensorflow-text", needed=False, remedy="on Windows use WSL 2 or Docker; lab 07 needs it")
    for requirement in course.packages:
        yield _look_at_course_package(requirement)
    yield _look_at_gpu()
    yield _look_at_data()
    from autograder.sandbox import check_walls

    for wall in check_walls():
        yield Finding(
            f"wall: {wall.name}", wall.stands, "works" if wall.stands else wall.why, wall.remedy, wall.required
        )
    yield _look_at_counting()
    alembic = shutil.which("alembic")
    yield Finding(
        "nbgrader's database tool",
        alembic is not None,
        alembic or "alembic is not on the PATH",
        "" if alembic else "activate the environment: source .venv/bin/activate",
        needed=False,
    )
    for lab in course.labs:
        if course.solution_notebook(lab.name).exists():
            released = course.release_notebook(lab.name).exists()
            remedy = "" if released else f"course release {lab.name}"
            due = f"due {lab.due:%Y-%m-%d %H:%M %z}" if lab.due else "no due date"
            text = f"{'released' if released else 'not released'}, {due}"
            yield Finding(f"lab {lab.name}", released, text, remedy, needed=False)


def _describe_lateness(course: Course) -> str:
    late = course.lateness
    if not late.percent_per_day:
        penalty = "no percentage is taken; nbgrader's penalty_method decides"
    else:
        penalty = f"{late.percent_per_day:g} % a day, after {late.grace_minutes:g} minutes"
    students = len({student for student, *_ in (*late.extensions, *late.excused)})
    return f"{penalty}; {students} students have an extension or are excused"


def _look_at_counting() -> Finding:
    from autograder.sandbox.meter import find_control_group

    group = find_control_group()
    if isinstance(group, Path):
        return Finding(_COUNTING, True, "counted by the kernel: control groups", needed=False)
    user = "" if os.geteuid() == 0 else " --user"
    remedy = f"on Linux with systemd, the kernel counts: systemd-run{user} --scope -p Delegate=yes course grade …"
    return Finding(_COUNTING, False, f"sampled four times a second: {group}", remedy, needed=False)


def _look_at_package(name: str, *, needed: bool = True, remedy: str = "make setup") -> Finding:
    try:
        return Finding(name, True, version(name), needed=needed)
    except PackageNotFoundError:
        return Finding(name, False, "not installed", remedy, needed)


def _look_at_course_package(text: str) -> Finding:
    """Whether a package that course.toml names is there, in a version that it allows: submissions may import it."""
    requirement, remedy = Requirement(text), f'pip install "{text}"'
    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        return Finding(requirement.name, False, f"not installed; {FILE_NAME} asks for {text}", remedy)
    if requirement.specifier.contains(installed, prereleases=True):
        return Finding(requirement.name, True, installed)
    return Finding(requirement.name, False, f"{installed}, and {FILE_NAME} asks for {text}", remedy)


def _look_at_data() -> Finding:
    from coursekit.data.catalogue import SETS

    fetched = [data_set for data_set in SETS if data_set.load is not None]
    present = [data_set.name for data_set in fetched if data_set.where()]
    absent = [data_set.name for data_set in fetched if data_set.name not in present]
    text = "samples; real: " + (", ".join(present) or "none")
    return Finding("data", not absent, text, f"course data {absent[0]}, and so on" if absent else "", needed=False)


def _look_at_gpu() -> Finding:
    driver = Path("/proc/driver/nvidia/version").exists() or shutil.which("nvidia-smi") is not None
    text = (
        "an NVIDIA driver is present; make gpu-check shows what TensorFlow sees"
        if driver
        else "none; the CPU is enough"
    )
    return Finding("GPU", driver, text, needed=False)

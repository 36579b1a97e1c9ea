"""Finds the sections of lectures to which mistakes refer, such as ``02#why-sqrt-dk``."""

from __future__ import annotations

import re
from collections.abc import Mapping

import nbformat

from autograder.course.settings import Course, CourseError
from autograder.declare.declaration import Declaration
from autograder.declare.exercise import Exercise
from coursekit.check.judge import Section

_HEADING = re.compile(r"^#+\s+(.*\S)", re.MULTILINE)
_NUMBER = re.compile(r"(\d\d[a-z]?)#")
_ROOT = re.compile(r"\\sqrt\{(\w+)\}")


def referred_sections(course: Course, declared: Mapping[str, Declaration]) -> dict[str, dict[str, Section]]:
    """For each exercise the sections that its mistakes refer to, by the mistake's id.

    A reference to a lecture that the course has left out is none.

    Raises:
        CourseError: a lecture has no such section, or a reference names none; the message names exercise and mistake.
    """
    found: dict[str, dict[str, Section]] = {}
    for name, exercise in declared.items():
        for id, mistake in exercise.named_mistakes.items() if isinstance(exercise, Exercise) else ():
            if mistake.see and not is_left_out(course, mistake.see):
                try:
                    found.setdefault(name, {})[id] = section(course, mistake.see)
                except CourseError as error:
                    raise CourseError(f"{name}, mistake {id}: {error}") from error
    return found


def is_left_out(course: Course, reference: str) -> bool:
    """Whether a reference, such as ``"02#why-sqrt-dk"``, is to a lecture that the course does not have."""
    number = _NUMBER.match(reference)
    return number is not None and not any(course.lectures.glob(f"{number[1]}_*.ipynb"))


def section(course: Course, reference: str) -> Section:
    """The section with an id: the line ``<a id="why-sqrt-dk"></a>`` stands before its heading.

    Args:
        course: whose lectures are looked at.
        reference: number of the lecture and id, such as ``"02#why-sqrt-dk"`` or ``"02b#cost"``.

    Raises:
        CourseError: there is no such lecture, or no such section in it.
    """
    number, _, anchor = reference.partition("#")
    for path in sorted(course.lectures.glob(f"{number}_*.ipynb")) if number and anchor else ():
        for cell in nbformat.read(path, as_version=4).cells:
            _, mark, after = cell.source.partition(f'<a id="{anchor}"></a>')
            if cell.cell_type == "markdown" and mark and (heading := _HEADING.search(after)):
                title = _ROOT.sub(r"√\1", heading[1]).replace(
                    "$", ""
                )  # read in a terminal and on pages without formulas
                of_it = f"section {title}" if title[0].isdigit() else title
                return Section(f"Lecture {number.lstrip('0')}, {of_it}", f"{path.relative_to(course.root)}#{anchor}")
    raise CourseError(
        f"no lecture has the section {reference!r}; write the number of a lecture, # and the id in a line "
        f'<a id="…"></a> before a heading of it'
    )

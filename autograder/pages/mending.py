"""What a student should mend first: the mistakes and exercises that cost most, with the sections that explain them."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.course.settings import Course
from autograder.grade.marks import ExerciseMark, Mark
from autograder.grade.results import round_score
from coursekit.check.judge import Section
from coursekit.check.statuses import STATUS_WORDS

MOST = 3  # things that a page tells first


@dataclass(frozen=True)
class Mend:
    """One thing to mend: what it is, the points that it is worth, the exercises that it stands in.

    `sections` are those of the lectures that explain it, each with its address; empty where nobody knows it.
    """

    what: str
    points: float
    exercises: tuple[str, ...]
    sections: tuple[tuple[Section, str], ...] = ()


def to_mend(course: Course, mark: Mark) -> list[Mend]:
    """Return everything that costs points, the most expensive first, and what was not started at the end.

    One mistake in several exercises is one thing. What a person marked is left out: that person says why.
    """
    sections = _sections(course, mark.lab)
    found: dict[str, list[ExerciseMark]] = {}
    for part in mark.exercises:
        if _lost(part) > 0 and part.by_hand is None and part.waits != "grader":
            found.setdefault(_what(part), []).append(part)
    things = [_thing(course, what, parts, sections) for what, parts in found.items()]
    return sorted(things, key=lambda thing: (thing.what.endswith(STATUS_WORDS["missing"]), -thing.points))


def _lost(part: ExerciseMark) -> float:
    return round_score(part.max_score - part.score)


def _what(part: ExerciseMark) -> str:
    """The mistakes that were named; else what did not pass."""
    if part.verdict.sentences:
        return " ".join(part.verdict.sentences)
    failed = [group.title for group in part.groups if not group.passed]
    if part.status != "graded" or not failed:
        return f"`{part.name}`: {STATUS_WORDS[part.status]}"
    return f"`{part.name}` fails: {', '.join(failed)}"


def _thing(course: Course, what: str, parts: list[ExerciseMark], sections: Mapping[str, Mapping[str, Section]]) -> Mend:
    explained = [
        sections[part.name][id] for part in parts for id in part.misconceptions if id in sections.get(part.name, {})
    ]
    points = round_score(math.fsum(map(_lost, parts)))
    linked = tuple((mistake, _address(course, mistake.page)) for mistake in dict.fromkeys(explained))
    return Mend(what, points, tuple(part.name for part in parts), linked)


def _address(course: Course, page: str) -> str:
    """Where a section, such as ``"lectures/02_x.ipynb#look"``, is read: on the course's site, else in JupyterLab."""
    return f"{course.site}/{page.replace('.ipynb', '.html')}" if course.site else course.jupyterlab_url(page)


def _sections(course: Course, lab: str) -> dict[str, dict[str, Section]]:
    """The sections of a lab's mistakes, by exercise and mistake, as its release says; none where it is not released."""
    for folder in course.reference(lab):
        path = folder / f"{lab}.json"
        if path.is_file():
            return _read(path, path.stat().st_mtime_ns)
    return {}


@functools.lru_cache(maxsize=16)
def _read(path: Path, changed: int) -> dict[str, dict[str, Section]]:
    """The sections in a reference file as it was at a time, in nanoseconds."""
    entries = json.loads(path.read_text("utf-8"))["exercises"]
    return {
        entry["name"]: {id: Section(**section) for id, section in entry.get("sections", {}).items()}
        for entry in entries
    }

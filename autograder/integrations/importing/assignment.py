"""An assignment, whoever wrote it: text, given code, questions with a solution and tests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


@dataclass(frozen=True)
class Test:
    """A cell of tests: its points, and whether students were to see it."""

    source: str
    points: float
    hidden: bool = False


@dataclass
class Given:
    """A cell that students get as it is; nbgrader's metadata where it has some."""

    kind: str
    source: str
    attachments: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Written:
    """An answer that a person marks, in words or code."""

    name: str
    kind: str
    source: str
    points: float
    task: bool = False


@dataclass
class Question:
    """Code to be written: the solution, with the two marks around what students write, and its tests."""

    name: str
    solution: str
    tests: list[Test] = field(default_factory=list)


Part = Given | Written | Question


@dataclass
class Assignment:
    """The parts in their order, and sentences on what was not taken over."""

    parts: list[Part] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def marked(source: str) -> str:
    """Return a solution with marks around what students write: around all of it where it has none."""
    return source if BEGIN in source else f"{BEGIN}\n{source}\n{END}"


def as_name(text: str) -> str:
    """Return a text as a grade_id of nbgrader's."""
    return re.sub(r"\W+", "_", text).strip("_") or "answer"

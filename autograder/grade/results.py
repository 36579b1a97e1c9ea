"""What grading concludes: one exercise, one lab of one student, and the two tables an instructor reads."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from pydantic import TypeAdapter

from autograder.course.text import printable
from coursekit.check.judge import STATUS_WORDS

STATUSES = tuple(STATUS_WORDS)

# Texts that a submission can make long: a record travels over networks, and a page is read by people.
MOST_REPAIRS = 200
MOST_CHARACTERS = 2_000
MOST_FILE_NAME = 200


def cut(text: str) -> str:
    """`text` as it is kept: printable, and at most `MOST_CHARACTERS` long."""
    text = printable(text)
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"


def round_score(value: float) -> float:
    """A score as it is kept, shown and added up everywhere: two decimals, halves up. ValueError unless it is finite."""
    if not math.isfinite(value):
        raise ValueError(f"a score has to be a finite number, and this one is {value!r}")
    return float(Decimal(repr(float(value))).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP))


@dataclass(frozen=True, slots=True)
class GroupResult:
    """One named group of cases: its share of the exercise (`weight`), whether all passed, what to tell the student."""

    name: str
    title: str
    weight: float
    passed: bool
    message: str = ""
    misconceptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", cut(self.message))
        object.__setattr__(self, "weight", float(self.weight))


@dataclass(frozen=True, slots=True)
class ExerciseResult:
    """The verdict on one exercise.

    `misconceptions` are ids, `sentences` are what the student reads. Scores are rounded here, once. Raises ValueError
    when the status is unknown or the score is not between 0 and `max_score`.
    """

    exercise: str
    score: float
    max_score: float
    status: str
    misconceptions: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    groups: tuple[GroupResult, ...] = ()
    message: str = ""
    hint: str = ""
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f'{self.exercise}: "{self.status}" is not a status; they are {", ".join(STATUSES)}')
        object.__setattr__(self, "message", cut(self.message))
        for name in ("score", "max_score"):
            object.__setattr__(self, name, round_score(getattr(self, name)))
        if not 0 <= self.score <= self.max_score:
            raise ValueError(f"{self.exercise}: a score of {self.score} is not between 0 and {self.max_score}")

    @property
    def passed(self) -> bool:
        """Whether all of the exercise's points were earned; one without points passes when all its groups do."""
        if self.max_score > 0:
            return self.score == self.max_score
        return self.status == "graded" and all(group.passed for group in self.groups)

    def points_of(self, group: GroupResult) -> float:
        """The share of a group in the exercise's points, not rounded."""
        return self.max_score * group.weight / sum(result.weight for result in self.groups)


def _fields(part: LabResult | ExerciseResult | GroupResult) -> dict[str, Any]:
    return {name: getattr(part, name) for name in part.__slots__}


@dataclass(frozen=True, slots=True)
class LabResult:
    """The verdict on one student's lab.

    `state` is "graded", "needs_manual_grade", or why there was nothing to grade ("unreadable", "missing", …), with a
    `reason`. `notebook` is the repaired notebook (NotebookNode); it is not part of the result's JSON.
    `timestamp` is when the student handed in, with a time zone, or None when nothing says so. `file` is the name of the
    file that arrived, and `content_hash` the SHA-256 of its bytes; each is empty where it is not known.
    """

    student: str
    lab: str
    exercises: tuple[ExerciseResult, ...]
    state: str = "graded"
    reason: str = ""
    repairs: tuple[str, ...] = ()
    notebook: Any = field(default=None, compare=False, repr=False)
    content_hash: str = ""
    grader_version: str = ""
    timestamp: datetime | None = None
    file: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", cut(self.reason))
        object.__setattr__(self, "file", printable(self.file)[:MOST_FILE_NAME])
        repairs = tuple(cut(repair) for repair in self.repairs[:MOST_REPAIRS])
        if (more := len(self.repairs) - MOST_REPAIRS) > 0:
            repairs = (*repairs[:-1], f"… and {more + 1} more.")
        object.__setattr__(self, "repairs", repairs)

    @property
    def score(self) -> float:
        return round_score(math.fsum(exercise.score for exercise in self.exercises))

    @property
    def max_score(self) -> float:
        return round_score(math.fsum(exercise.max_score for exercise in self.exercises))

    @property
    def percent(self) -> float:
        """0 to 100; 0 for a lab without points."""
        return round_score(100 * self.score / self.max_score) if self.max_score else 0.0

    @property
    def misconceptions(self) -> tuple[str, ...]:
        """Ids over all exercises, each once, in order."""
        return tuple(dict.fromkeys(name for exercise in self.exercises for name in exercise.misconceptions))

    def to_dict(self) -> dict[str, Any]:
        """The result without its notebook, made of what JSON can hold."""
        exercises = [_fields(exercise) | {"groups": [*map(_fields, exercise.groups)]} for exercise in self.exercises]
        moment = self.timestamp.isoformat() if self.timestamp else None
        content = _fields(self) | {"exercises": exercises, "repairs": [*self.repairs], "timestamp": moment}
        del content["notebook"]
        return content

    @staticmethod
    def from_dict(content: dict[str, Any]) -> LabResult:
        """The inverse of `to_dict`, also after a trip through JSON; `notebook` is None."""
        return _RESULTS.validate_python(content)


_RESULTS = TypeAdapter(LabResult)

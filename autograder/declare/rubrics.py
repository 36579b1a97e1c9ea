"""Reads by what an instructor marks answers in words: a lab's rubrics.toml, beside its exercises.

Students never get this file: the scan of what is published knows its lines. What an item says reaches a student only
with a mark.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode
from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError

from autograder.course.labs import answers_in_words, details
from autograder.course.settings import Course, CourseError
from autograder.course.text import did_you_mean
from autograder.declare.declaration import FOLDER, lab_folder

FILE_NAME = "rubrics.toml"


@dataclass(frozen=True, slots=True)
class RubricItem:
    """One line of a rubric: what a good answer says, and what that is worth in points."""

    says: str
    points: float


@dataclass(frozen=True, slots=True)
class Rubric:
    """How one answer is marked.

    Attributes:
        items: what is looked for; their points add up to the cell's.
        half: a sample of an answer that meets some items only; the good sample is the solution's own answer.
        half_meets: the numbers of the items that it meets, from 1.
    """

    items: tuple[RubricItem, ...]
    half: str = ""
    half_meets: tuple[int, ...] = ()

    def points(self, met: Collection[int]) -> float:
        """Return the points of an answer that meets these items."""
        return round(math.fsum(self.items[number - 1].points for number in set(met)), 6)

    def describe(self, met: Collection[int], because: str = "", *, with_points: bool = True) -> str:
        """Return the items as the student reads them, each met or not, and below them the comment."""
        lines = []
        for number, item in enumerate(self.items, start=1):
            earned = item.points if number in met else 0.0
            worth = f" ({round(earned, 2):g} of {round(item.points, 2):g})" if item.points and with_points else ""
            lines.append(f"{'✓' if number in met else '✗'} {item.says}{worth}")
        return "\n".join([*lines, *filter(None, [because.strip()])])


def rubrics(course: Course, lab: str, notebook: NotebookNode) -> dict[str, Rubric]:
    """The rubrics of a lab by the name of the cell; none where the lab has no such file.

    The points are those of the cells of `notebook`. An item without points of its own has an equal share of them.

    Raises:
        CourseError: the file cannot be read, names a cell that is no answer in words, or gives other points.
    """
    path = rubric_file(course, lab)
    if not path.is_file():
        return {}
    found = {}
    cells = answers_in_words(notebook)
    for name, written in _read(path).items():
        if name not in cells:
            meant = did_you_mean(name, cells) or f"; these are {', '.join(cells) or 'none'}"
            raise CourseError(f"{path}: {name}: the lab has no such answer in words{meant}")
        found[name] = _rubric(written, float(details(cells[name])["points"] or 0.0), f"{path}: {name}")
    return found


def rubric_file(course: Course, lab: str) -> Path:
    """Where the rubrics of a lab stand, such as ``exercises/self_attention/rubrics.toml``."""
    return lab_folder(course, lab) / FILE_NAME


def rubric_texts(course: Course) -> Iterator[tuple[Path, str]]:
    """Return every text in the rubrics of a course, with its file: the leak scan looks for them.

    Raises:
        CourseError: one of the files cannot be read.
    """
    for path in sorted((course.root / FOLDER).glob(f"*/{FILE_NAME}")):
        yield path, path.read_text(encoding="utf-8")
        for written in _read(path).values():
            yield path, "\n".join([*map(_line, written.items), written.half])


class _Written(BaseModel):
    """A table of the file: one answer in words."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    items: list[str] = Field(min_length=1)
    points: list[float] = []
    half: str = ""
    half_meets: list[int] = []


class _File(RootModel[dict[str, _Written]]):
    """The whole file: one table for each answer in words, under the name of its cell."""


def _read(path: Path) -> Mapping[str, _Written]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseError(f"{path}: this is not TOML: {error}") from error
    try:
        return _File.model_validate(content).root
    except ValidationError as error:
        first = error.errors()[0]
        keys = ", ".join(_Written.model_fields)
        raise CourseError(
            f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}; an answer in words has the keys {keys}"
        ) from None


def _rubric(written: _Written, worth: float, where: str) -> Rubric:
    count = len(written.items)
    points = written.points or [worth / count] * count
    if len(points) != count:
        raise CourseError(f"{where}: points: there are {len(points)} for {count} items")
    if not math.isclose(math.fsum(points), worth, abs_tol=1e-9) or min(points) < 0:
        raise CourseError(f"{where}: points: they have to add up to the cell's points, which are {worth:g}")
    check_items(written.half_meets, count, f"{where}: half_meets")
    items = tuple(RubricItem(_line(text), worth) for text, worth in zip(written.items, points, strict=True))
    return Rubric(items, written.half.strip(), tuple(written.half_meets))


def _line(text: str) -> str:
    return " ".join(text.split())


def check_items(numbers: Collection[int], count: int, where: str) -> None:
    """Raise CourseError where a number is not that of one of the `count` items."""
    for number in numbers:
        if not 1 <= number <= count:
            raise CourseError(f"{where}: there is no item {number}; the items are 1 to {count}")

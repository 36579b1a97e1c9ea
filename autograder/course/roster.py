"""A learning platform's list of people, and who of them is which student of the gradebook."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from autograder.course.settings import FILE_NAME, Course, CourseError
from autograder.course.text import student_id

OWN_COLUMN = "gradebook_id"
_IDS = (
    *("id", "identifier", "sis user id", "sis login id", "integration id", "id number", "username", "user name"),
    *("login", "login id", "email", "email address", "student id", "student_id"),
)
_OF_OUR_TABLES = "student"  # there it is the id; on platforms a name
_NUMBERED = ("id", "identifier")
_NAMED = ("username", "user name", "login", "login id", "sis login id", "email", "email address")
_NUMBER_AT_END = re.compile(r"(?:^|_)(\d+)$")
MOST_BYTES = 64 * 2**20


class ExportRefused(CourseError):
    """Nothing was exported; the message has one sentence for each reason."""

    def __init__(self, reasons: Iterable[str]):
        self.reasons = tuple(reasons)
        super().__init__("\n".join(self.reasons))


@dataclass(frozen=True)
class Roster:
    """The rows of a CSV file by heading, in its order, and the line of the file on which each begins."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    lines: Sequence[int]

    def column(self, *names: str) -> str | None:
        """The heading that says one of the names, whatever the case of its letters; None where none does."""
        by_name = {column.strip().casefold(): column for column in reversed(self.columns)}
        return next((by_name[name.casefold()] for name in names if name.casefold() in by_name), None)

    @property
    def people(self) -> int:
        """The number of rows that are people: Canvas adds rows without an id."""
        return sum(map(self.is_person, self.rows))

    def is_person(self, row: Mapping[str, str]) -> bool:
        """Whether a row has an id of any kind."""
        return any(self._values(row, (*self._id_columns, OWN_COLUMN)))

    def number(self, row: Mapping[str, str]) -> str:
        """The number by which the platform knows a person: Canvas's `ID`, Moodle's `Participant 12345`."""
        digits = re.search(r"(?<!\d)(\d+)$", self._value(row, *_NUMBERED))
        return digits[1] if digits else ""

    def ids(self) -> list[str]:
        """All that can name a person: numbers, logins and addresses, and what the column `gradebook_id` has."""
        return [value for row in self.rows for value in self._values(row, (OWN_COLUMN, *self._id_columns)) if value]

    @property
    def has_ids(self) -> bool:
        """Whether there is a column of ids."""
        return any(map(self.column, (*self._id_columns, OWN_COLUMN)))

    def places(self, student: str) -> list[int]:
        """Return the places in `rows` of those who can be a student of the gradebook; `match` says in which order."""
        places = next((places for index in self._indexes if (places := index.get(_make_key(student)))), [])
        number = _NUMBER_AT_END.search(student)
        return places or (self._numbers.get(number[1], []) if number else [])

    def strangers(self, students: Iterable[str]) -> list[str]:
        """Return the students who are in no row."""
        return [student for student in students if not self.places(student)]

    def match(self, students: Iterable[str]) -> dict[str, Mapping[str, str]]:
        """Return the row of each student.

        A student of the gradebook is, in this order: whom the column `gradebook_id` names; who has this id, number,
        login or e-mail address; who has the number at the end of the id, as the platform's download names students;
        whose login or address begins with it.

        Raises:
            ExportRefused: a student is nobody in the roster, may be several people, or two students are one person.
        """
        reasons: list[str] = []
        strangers: list[str] = []
        rows: dict[str, Mapping[str, str]] = {}
        claimed: dict[int, str] = {}
        for student in students:
            places = self.places(student)
            if not places:
                strangers.append(student)
                reasons.append(f"{student}: nobody in {self.path} has this id")
            elif len(places) > 1:
                lines = ", ".join(str(self.lines[place]) for place in places)
                reasons.append(f"{student}: {len(places)} rows of {self.path} have this id (lines {lines}); remove one")
            elif (other := claimed.setdefault(places[0], student)) != student:
                reasons.append(
                    f"{student}: is the same person as {other} in {self.path} (line {self.lines[places[0]]}); grade "
                    f"one submission of them, or leave one out: --without {student!r}"
                )
            else:
                rows[student] = self.rows[places[0]]
        if strangers:  # said once, however many they are
            for_each = "" if len(strangers) == 1 else " for each"
            reasons.append(
                f"Add a column {OWN_COLUMN} with the id to that person's row; or leave out: "
                f"--without {strangers[0]!r}{for_each}, or --only-roster for all such students"
            )
        if reasons:
            raise ExportRefused(reasons)
        return rows

    @cached_property
    def _id_columns(self) -> tuple[str, ...]:
        return _IDS if any(map(self.column, (*_IDS, OWN_COLUMN))) else (_OF_OUR_TABLES,)

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        return self._index(self.number)

    @cached_property
    def _indexes(self) -> list[dict[str, list[int]]]:
        """Places of the rows by id, the surest kind of id first."""
        exact: dict[str, list[int]] = {}
        beginnings: dict[str, list[int]] = {}
        for place, row in enumerate(self.rows):
            for key in _make_keys(self._values(row, self._id_columns)):
                exact.setdefault(key, []).append(place)
            for key in _make_keys(value.partition("@")[0] for value in self._values(row, _NAMED)):
                beginnings.setdefault(key, []).append(place)
        return [self._index(lambda row: self._value(row, OWN_COLUMN)), exact, beginnings]

    def _index(self, key_of: Callable[[Mapping[str, str]], str]) -> dict[str, list[int]]:
        index: dict[str, list[int]] = {}
        for place, row in enumerate(self.rows):
            if key := _make_key(key_of(row)):
                index.setdefault(key, []).append(place)
        return index

    def _values(self, row: Mapping[str, str], names: Iterable[str]) -> list[str]:
        return [self._value(row, name) for name in names]

    def _value(self, row: Mapping[str, str], *names: str) -> str:
        column = self.column(*names)
        return row[column].strip() if column else ""


def read_roster(path: Path) -> Roster:
    """Read a CSV file with a line of headings, as Canvas and Moodle export it; commas, semicolons or tabs.

    Raises:
        CourseError: it is no such file, or a row has more cells than there are headings.
    """
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise CourseError(f"{path}: is too large for a roster; name the CSV file that the platform exports")
    try:
        text = data.decode("utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")
        first = text.partition("\n")[0]
        delimiter = max(",;\t", key=first.count)
        table = list(_number_lines(text, delimiter))
    except (UnicodeDecodeError, csv.Error) as error:
        raise CourseError(f"{path}: is not a CSV file in UTF-8 ({error}); export it from the platform again") from error
    if len(table) < 2 or not any(table[0][1]):
        raise CourseError(f"{path}: has no line of headings with people below it; export it from the platform again")
    columns = tuple(table[0][1])
    twice = sorted({column for column in columns if column.strip() and columns.count(column) > 1})
    if twice:
        raise CourseError(f"{path}: has the column {twice[0]!r} twice; remove one")
    people = [(line, cells) for line, cells in table[1:] if any(cells)]
    if beyond := [line for line, cells in people if any(cell.strip() for cell in cells[len(columns) :])]:
        raise CourseError(
            f"{path}, line {beyond[0]}: has more cells than there are headings; put a text with {delimiter!r} in it "
            "between double quotes, or name the column"
        )
    rows = tuple(dict(zip(columns, [*cells, *[""] * (len(columns) - len(cells))], strict=False)) for _, cells in people)
    return Roster(path, columns, rows, [line for line, _ in people])


def _number_lines(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Each row of a table, with the line on which it begins: text between quotes can have several."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begins = 1
    for cells in reader:
        yield begins, cells
        begins = reader.line_num + 1


def _make_key(text: str) -> str:
    """Return a key that ignores how accents are encoded, and upper and lower case; ß is not ss."""
    return unicodedata.normalize("NFC", text).strip().lower()


def _make_keys(texts: Iterable[str]) -> set[str]:
    """Return the ids of a person, as the platform writes them and as files named after them carry them."""
    return {key for text in texts if text for key in (_make_key(text), _make_key(student_id(text)))}


def read_course_roster(course: Course) -> Roster:
    """The list of people that course.toml names.

    Raises:
        CourseError: it names none, or the file is no list of people.
    """
    if course.roster is None:
        raise CourseError(
            f'{course.root / FILE_NAME}: names no list of people; add roster = "people.csv" under [course], with the '
            "file that your platform exports"
        )
    return read_roster(course.roster)

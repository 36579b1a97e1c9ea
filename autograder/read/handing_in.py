"""What one student handed in, and when: by what it says itself, and by what a platform, or a watcher, saw of it."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from autograder.course.roster import MOST_BYTES, Roster, read_roster
from autograder.course.settings import CourseError
from autograder.course.text import format_time, on_one_line, printable
from autograder.read.reading import Unreadable
from autograder.read.tree import FoundSource

SLACK = timedelta(minutes=5)  # between the time that work bears and its coming; clocks and networks need some
COLUMNS = (
    *("last modified (submission)", "submitted_at", "submitted at", "submitted", "submission time", "submission date"),
    *("date submitted", "time"),
)
_NOT_JSON = "while(1);"  # Canvas puts it before what it sends to a browser
_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?)"
    r"\s*([+-][0-9]{2}:?[0-9]{2}|[A-Za-z_/+-]{1,60})?"
)
# As Moodle writes it in English: Friday, 4 December 2026, 11:59 PM
_ENGLISH = re.compile(
    r"(?:[A-Za-z]+, )?([0-9]{1,2}) ([A-Za-z]{3})[a-z]*\.? ([0-9]{4}),? ([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?"
    r"(?: ?([AaPp])\.?[Mm]\.?)?"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEARS = range(2000, 2101)


@dataclass(frozen=True)
class FoundSubmission:
    """What one student handed in for one lab. `problem` says why there is nothing to grade; else `read()` works.

    `path` is the file on disk: the notebook, or the archive that holds it. `note` tells the instructor of a choice that
    was made (an id that two claimed, the newest of several attempts). `is_marked_late` where Canvas wrote so into its
    name. `spent` is the processor time that it took to find it.
    """

    student: str
    lab: str
    path: Path | None
    source: FoundSource | None = None
    problem: str | None = None
    timestamp: datetime | None = None
    note: str | None = None
    is_marked_late: bool = False
    spent: float = field(default=0.0, compare=False)

    @property
    def file_name(self) -> str:
        """The name of the file that arrived, without folders; inside archives the innermost; empty where none is."""
        if self.source is None:
            return ""
        return [self.source.path.name, *self.source.members][-1].rpartition("/")[2]

    def __post_init__(self) -> None:
        for name in ("problem", "note"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, printable(getattr(self, name)))

    def read(self) -> bytes:
        """Return the bytes of the notebook.

        Raises:
            Unreadable: there is none, or it cannot be read.
        """
        if self.source is None:
            raise Unreadable(self.problem or "There is no notebook.")
        return self.source.read()


@dataclass(frozen=True)
class PassedOver:
    """Something that was not graded, because nothing says whose it is; the reason is a sentence for the instructor.

    Strangers choose names: both are one printable line, whoever shows them. `is_fault` where the grader could not look.
    """

    path: str
    reason: str
    is_fault: bool = False

    def __post_init__(self) -> None:
        for name in ("path", "reason"):
            object.__setattr__(self, name, on_one_line(getattr(self, name)))


# -- times in text that a student or a platform has written -----------------------------------------------------------


def as_time(text: str, default: tzinfo = UTC) -> datetime | None:
    """Return the time in a text as nbgrader's exchange writes it, in UTC; None where there is none that can be true.

    A time without a zone is taken for one of the `default` zone. No text raises an error.
    """
    found = _TIME.search(text)
    if not found:
        return None
    day, clock, zone = found.groups()
    try:
        if zone and (zone[0] in "+-" or zone == "Z"):
            moment = datetime.fromisoformat(f"{day}T{clock}{zone}")
        else:
            moment = datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=ZoneInfo(zone) if zone else default)
    except (ArithmeticError, ValueError, OSError, LookupError):  # ZoneInfo opens a file of that name
        return None
    return _if_it_can_be(moment)


def time_in(source: FoundSource) -> datetime | None:
    """Return the time in a `timestamp.txt`; None where the file cannot be read, or holds none that can be true."""
    with suppress(Unreadable):
        return as_time(source.read()[:200].decode(errors="replace"))
    return None


def as_platform_time(text: str, default: tzinfo) -> datetime | None:
    """Return the time in a cell of a platform's table, as `as_time` reads it or as Moodle writes it in English.

    None where anything else stands beside it: it could be a zone, as in "(EST)".
    """
    found = _ENGLISH.fullmatch(text.strip())
    if not found:
        return as_time(text, default) if _TIME.fullmatch(text.strip()) else None
    day, month, year, hour, minute, second, half = found.groups()
    if half and not 1 <= int(hour) <= 12:
        return None
    hours = int(hour) % 12 + 12 * (half in "Pp") if half else int(hour)
    try:
        number = _MONTHS.index(month.lower()) + 1
        return _if_it_can_be(
            datetime(int(year), number, int(day), hours, int(minute), int(second or 0), tzinfo=default)
        )
    except ValueError:
        return None


def _if_it_can_be(moment: datetime) -> datetime | None:
    """A moment in UTC, None where it lies outside of this century."""
    try:
        moment = moment.astimezone(UTC)
    except (ArithmeticError, ValueError, OSError):
        return None
    return moment if moment.year in _YEARS else None


# -- which time counts ------------------------------------------------------------------------------------------------


def choose_time(said: datetime | None, seen: datetime | None) -> datetime | None:
    """The time that counts: the later one, where they lie more than `SLACK` apart; else what the work says itself.

    Args:
        said: what the work says, in a name or in a file that a student may have written.
        seen: what somebody else saw.
    """
    if said is None or seen is None:
        return said or seen
    return seen if seen - said > SLACK else said


def date_submission(submission: FoundSubmission, seen: datetime, zone: tzinfo = UTC) -> FoundSubmission:
    """The submission with the time that counts, and with a note for its page where it says an earlier one itself.

    Args:
        submission: the submission, with the time that it says itself.
        seen: what somebody else saw.
        zone: the time zone of the note.
    """
    said, counts = submission.timestamp, choose_time(submission.timestamp, seen)
    if said is None or counts is None or said == counts:
        return replace(submission, timestamp=counts)
    told = f"It is dated {format_time(said, zone)} and came at {format_time(counts, zone)}, which counts."
    return replace(submission, timestamp=counts, note=" ".join(filter(None, [submission.note, told])))


@dataclass(frozen=True)
class PlatformTimes:
    """A table of a platform in which the column `heading` says when each person handed in."""

    people: Roster
    heading: str
    zone: tzinfo

    def of(self, student: str) -> datetime | None:
        """When a student handed in: the newest of several times; None where there is none."""
        texts = (self.people.rows[place][self.heading] for place in self.people.places(student))
        return max(filter(None, (as_platform_time(text, self.zone) for text in texts)), default=None)


def read_times(path: Path, zone: tzinfo) -> PlatformTimes:
    """Read the times of handing in that a platform exports.

    These are a CSV file with a column of times and one of ids, such as Moodle's grading worksheet; or the list of an
    assignment's submissions from Canvas's interface for programs, as JSON.

    Args:
        path: the file.
        zone: the time zone of times that have none.

    Raises:
        CourseError: it is no such file, or no time in it can be read.
    """
    people = _from_canvas(path) if _is_json(path) else read_roster(path)
    heading = people.column(*COLUMNS)
    if heading is None:
        raise CourseError(f"{path}: has no column of times; call it {COLUMNS[0]!r}, as Moodle does, or {COLUMNS[1]!r}")
    if not people.has_ids:
        raise CourseError(f"{path}: has no column of ids; call it 'id', or 'student' as in grades.csv")
    texts = [text for row in people.rows if (text := row[heading].strip()) not in ("", "-")]
    if odd := [text for text in texts if as_platform_time(text, zone) is None]:
        raise CourseError(
            f"{path}: {odd[0]!r} in the column {heading!r} is no time; write 2026-12-04T23:59:00+01:00, or export the "
            f"table with the platform set to English"
        )
    if not texts:
        raise CourseError(f"{path}: nobody has a time in the column {heading!r}")
    return PlatformTimes(people, heading, zone)


def _is_json(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(100).lstrip(b"\xef\xbb\xbf \r\n\t").startswith((b"[", b"{", _NOT_JSON.encode()))


def _from_canvas(path: Path) -> Roster:
    """Canvas's submissions of an assignment, with the numbers of their users, as a list of people."""
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    try:
        if len(data) > MOST_BYTES:
            raise ValueError("it is too large")
        content: Any = json.loads(data.decode("utf-8-sig").strip().removeprefix(_NOT_JSON))
        rows = tuple(
            {"ID": str(row["user_id"]), COLUMNS[1]: row["submitted_at"] or ""}
            for row in (content if isinstance(content, list) else content["submissions"])
        )
        if not all(isinstance(row[COLUMNS[1]], str) for row in rows):
            raise ValueError("a time is no text")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise CourseError(
            f"{path}: is not Canvas's list of an assignment's submissions ({type(error).__name__}: {error}); save it "
            "from …/api/v1/courses/NUMBER/assignments/NUMBER/submissions?per_page=100"
        ) from error
    return Roster(path, ("ID", COLUMNS[1]), rows, range(1, len(rows) + 1))

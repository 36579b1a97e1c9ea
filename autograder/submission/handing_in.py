"""When work was handed in: what it says itself, and what the course's platform, or a watcher, saw of it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

from autograder.course.roster import MOST_BYTES, Roster, read_roster
from autograder.course.settings import CourseError
from autograder.course.times import shown_time
from autograder.submission.choosing import FoundSubmission
from autograder.submission.times import as_platform_time

SLACK = timedelta(minutes=5)  # between the time that work bears and its coming; clocks and networks need some
COLUMNS = (
    *("last modified (submission)", "submitted_at", "submitted at", "submitted", "submission time", "submission date"),
    *("date submitted", "time"),
)
_NOT_JSON = "while(1);"  # Canvas puts it before what it sends to a browser


def later(said: datetime | None, seen: datetime | None) -> datetime | None:
    """The time that counts: the later one, where they lie more than `SLACK` apart; else what the work says itself.

    Args:
        said: what the work says, in a name or in a file that a student may have written.
        seen: what somebody else saw.
    """
    if said is None or seen is None:
        return said or seen
    return seen if seen - said > SLACK else said


def dated(submission: FoundSubmission, seen: datetime, zone: tzinfo = UTC) -> FoundSubmission:
    """The submission with the time that counts, and with a note for its page where it says an earlier one itself.

    Args:
        submission: the submission, with the time that it says itself.
        seen: what somebody else saw.
        zone: the time zone of the note.
    """
    said, counts = submission.timestamp, later(submission.timestamp, seen)
    if said is None or counts is None or said == counts:
        return replace(submission, timestamp=counts)
    told = f"It is dated {shown_time(said, zone)} and came at {shown_time(counts, zone)}, which counts."
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

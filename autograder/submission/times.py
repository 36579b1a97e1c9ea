"""Reads when something was handed in, from text that a student or a platform has written."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from autograder.submission.opening import Source
from autograder.submission.reading import Unreadable

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


def time_in(source: Source) -> datetime | None:
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

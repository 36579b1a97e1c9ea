"""Reads when something was handed in, from text that a student may have written."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?)"
    r"\s*([+-][0-9]{2}:?[0-9]{2}|[A-Za-z_/+-]{1,60})?"
)
_YEARS = range(2000, 2101)


def as_time(text: str) -> datetime | None:
    """Return the time in a text as nbgrader's exchange writes it, in UTC; None where there is none that can be true.

    A time without a zone is taken for UTC. No text raises an error.
    """
    found = _TIME.search(text)
    if not found:
        return None
    day, clock, zone = found.groups()
    try:
        if zone and zone[0] in "+-":
            moment = datetime.fromisoformat(f"{day}T{clock}{zone}")
        else:
            moment = datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=ZoneInfo(zone) if zone else UTC)
        moment = moment.astimezone(UTC)
    except (ArithmeticError, ValueError, OSError, LookupError):  # ZoneInfo opens a file of that name
        return None
    return moment if moment.year in _YEARS else None

"""Says a time as people read it: in the course's zone, with UTC beside it."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo


def shown_time(moment: datetime, zone: tzinfo, *, seconds: bool = False) -> str:
    """An aware time such as ``2026-11-27 23:59 CET (22:59 UTC)``; in UTC alone where this is the zone."""
    clock = "%H:%M:%S" if seconds else "%H:%M"
    universal, local = moment.astimezone(UTC), moment.astimezone(zone)
    if local.utcoffset() == universal.utcoffset():
        return universal.strftime(f"%Y-%m-%d {clock} UTC")
    day = "" if local.date() == universal.date() else "%Y-%m-%d "
    return f"{local.strftime(f'%Y-%m-%d {clock}')} {local.tzname()} ({universal.strftime(f'{day}{clock}')} UTC)"

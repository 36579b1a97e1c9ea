"""Remembers every attempt that arrived and what became of it, so that a restart neither loses nor repeats one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Column, DateTime, Float, Integer, MetaData, String, Table, Text, create_engine, func, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import DatabaseError

from autograder.course.settings import CourseError
from autograder.integrations.watching.arrivals import HandedIn

WAITING, GRADED, REPLACED, LEFT_OUT = "waiting", "graded", "replaced", "left out"

_metadata = MetaData()
_attempts = Table(
    "attempts",
    _metadata,
    Column("key", Text, primary_key=True),
    Column("student", String(128), nullable=False, index=True),
    Column("lab", String(128), nullable=False),
    Column("handed_in", DateTime, nullable=False),  # this and the other times in UTC
    Column("seen_at", DateTime, nullable=False),
    Column("state", String(16), nullable=False, index=True),
    Column("finished_at", DateTime),
    Column("score", Float),
    Column("max_score", Float),
    Column("failures", Integer, nullable=False, default=0),  # how often the grader failed at it
    Column("note", Text, nullable=False, default=""),
)


@dataclass(frozen=True)
class JournalEntry:
    """What the journal says of one attempt. Times are aware, in UTC."""

    key: str
    student: str
    lab: str
    handed_in: datetime
    seen_at: datetime
    state: str
    finished_at: datetime | None
    score: float | None
    max_score: float | None
    failures: int
    note: str


class Journal:
    """The attempts in a small SQLite file. One process writes it at a time.

    Args:
        path: the file; made where it is missing.
        counts: "latest": of attempts that wait together only the newest is graded, the others are replaced by it;
            "best": each is graded, in the order in which they were handed in.
        per_hour: most attempts of a student that are graded in an hour, over all labs; the others wait.
    """

    def __init__(self, path: Path, *, counts: str = "latest", per_hour: int = 0):
        path.parent.mkdir(parents=True, exist_ok=True)
        self._engine = create_engine(f"sqlite:///{path}")
        self._counts = counts
        self._per_hour = per_hour
        try:
            _metadata.create_all(self._engine)
        except DatabaseError as error:
            self.close()
            raise CourseError(
                f"{path}: it is no journal of attempts ({error.orig}). Delete it: all attempts are looked at again, "
                f"and those that were graded and have not changed are not graded again"
            ) from error

    def close(self) -> None:
        """Give the file back."""
        self._engine.dispose()

    def note(self, attempts: Iterable[HandedIn], now: datetime) -> int:
        """Write down the attempts that are new; return how many there were."""
        rows = [
            {
                "key": attempt.key,
                "student": attempt.student,
                "lab": attempt.lab,
                "handed_in": _naive(attempt.handed_in),
                "seen_at": _naive(now),
                "state": WAITING,
            }
            for attempt in attempts
        ]
        with self._engine.begin() as connection:
            before = connection.scalar(select(func.count()).select_from(_attempts)) or 0
            for start in range(0, len(rows), 500):
                connection.execute(insert(_attempts).on_conflict_do_nothing(), rows[start : start + 500])
            return (connection.scalar(select(func.count()).select_from(_attempts)) or 0) - before

    def handed_in(self, keys: Iterable[str]) -> dict[str, datetime]:
        """When the attempts were handed in, by key, as it was written down when they arrived; none of new ones."""
        query = select(_attempts.c.key, _attempts.c.handed_in)
        with self._engine.connect() as connection:
            known = {key: _aware(when) for key, when in connection.execute(query)}
        return {key: known[key] for key in keys if key in known}

    def due(self, now: datetime) -> list[str]:
        """The keys of the attempts to grade now, oldest first: one for each student and lab, within the limit.

        Where the latest counts, older attempts that still wait are replaced.
        """
        table = _attempts.c
        with self._engine.begin() as connection:
            waiting = connection.execute(
                select(table.key, table.student, table.lab)
                .where(table.state == WAITING)
                .order_by(table.handed_in, table.key)
            ).all()
            spent = self._spent(connection, now)
            chosen: dict[tuple[str, str], str] = {}
            for key, student, lab in waiting:
                place = student, lab
                if self._counts == "latest":
                    if place in chosen:
                        self._set(connection, chosen.pop(place), state=REPLACED, finished_at=_naive(now))
                    chosen[place] = key
                else:
                    chosen.setdefault(place, key)
            keys = []
            for (student, _), key in chosen.items():
                if self._per_hour and spent.get(student, 0) >= self._per_hour:
                    self._set(connection, key, note=f"waits: {self._per_hour} attempts an hour are graded")
                    continue
                spent[student] = spent.get(student, 0) + 1
                keys.append(key)
            return keys

    def finish(self, key: str, now: datetime, score: float, max_score: float, note: str = "") -> None:
        """Write down that an attempt is graded, recorded and answered."""
        with self._engine.begin() as connection:
            values = {"score": score, "max_score": max_score, "note": note}
            self._set(connection, key, state=GRADED, finished_at=_naive(now), **values)

    def leave_out(self, key: str, now: datetime, reason: str) -> None:
        """Write down that an attempt is not graded, such as that of a student who was removed."""
        with self._engine.begin() as connection:
            self._set(connection, key, state=LEFT_OUT, finished_at=_naive(now), note=reason)

    def fail(self, key: str, reason: str) -> None:
        """Write down that the grader failed at an attempt, which keeps waiting."""
        with self._engine.begin() as connection:
            self._set(connection, key, failures=_attempts.c.failures + 1, note=reason)

    def counts(self) -> dict[str, int]:
        """How many attempts are in each state."""
        query = select(_attempts.c.state, func.count()).group_by(_attempts.c.state)
        with self._engine.connect() as connection:
            return {state: count for state, count in connection.execute(query)}

    def answered(self) -> list[str]:
        """The keys of the attempts that were graded last, one for each student and lab."""
        table = _attempts.c
        query = select(table.student, table.lab, table.key).where(table.state == GRADED).order_by(table.finished_at)
        with self._engine.connect() as connection:
            newest = {(student, lab): key for student, lab, key in connection.execute(query)}
        return list(newest.values())

    def waiting(self, most: int) -> list[JournalEntry]:
        """The attempts that wait, oldest first."""
        return self._entries(_attempts.c.state == WAITING, _attempts.c.handed_in, most)

    def latest(self, most: int) -> list[JournalEntry]:
        """The attempts that were graded last, newest first."""
        return self._entries(_attempts.c.state == GRADED, _attempts.c.finished_at.desc(), most)

    def seconds_to_feedback(self, now: datetime) -> list[float]:
        """For each attempt graded in the last hour, the seconds from its being seen to its being answered."""
        table = _attempts.c
        query = select(table.seen_at, table.finished_at).where(
            table.state == GRADED, table.finished_at > _naive(now - timedelta(hours=1))
        )
        with self._engine.connect() as connection:
            return [(done - seen).total_seconds() for seen, done in connection.execute(query)]

    def _spent(self, connection, now: datetime) -> dict[str, int]:
        if not self._per_hour:
            return {}
        table = _attempts.c
        recent = (table.state == GRADED) & (table.finished_at > _naive(now - timedelta(hours=1)))
        query = select(table.student, func.count()).where(recent).group_by(table.student)
        return {student: count for student, count in connection.execute(query)}

    def _entries(self, condition, order, most: int) -> list[JournalEntry]:
        query = select(_attempts).where(condition).order_by(order).limit(most)
        with self._engine.connect() as connection:
            return [
                JournalEntry(**{name: _aware(value) for name, value in row._mapping.items()})
                for row in connection.execute(query)
            ]

    @staticmethod
    def _set(connection, key: str, **values: object) -> None:
        connection.execute(_attempts.update().where(_attempts.c.key == key).values(**values))


def _naive(when: datetime) -> datetime:
    return when.astimezone(UTC).replace(tzinfo=None)


def _aware(value):
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value

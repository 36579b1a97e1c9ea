"""What failed rests before it is tried again, longer each time: a fault that stays does not fill each round."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

SHORTEST, LONGEST = timedelta(seconds=10), timedelta(minutes=10)


@dataclass(frozen=True)
class _Rest:
    times: int
    until: datetime
    reason: str


class Resting:
    """The attempts that failed, by key. The next round tries again; an attempt that fails again waits, twice as long.

    A start of the watcher knows of none.
    """

    def __init__(self) -> None:
        self._rests: dict[str, _Rest] = {}

    def failed(self, key: str, reason: str, now: datetime) -> None:
        """Note a failure."""
        times = self._rests[key].times + 1 if key in self._rests else 1
        wait = timedelta(0) if times == 1 else min(SHORTEST * 2 ** min(times - 2, 16), LONGEST)
        self._rests[key] = _Rest(times, now + wait, reason)

    def succeeded(self, key: str) -> None:
        """Forget the failures of an attempt."""
        self._rests.pop(key, None)

    def reason(self, key: str, now: datetime) -> str | None:
        """Why an attempt rests now; None where it is to be tried."""
        rest = self._rests.get(key)
        return rest.reason if rest is not None and now < rest.until else None

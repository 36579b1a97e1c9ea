"""The processor time that the grader has for one student's files, before any of their code runs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from autograder.submission.reading import Unreadable

SECONDS = 20  # of the grader's own thread and of the child that reads, together; an honest one takes tenths
INNER_SECONDS = 4  # of these, for an archive inside another one


class Spent(Unreadable):
    """The files of one student take more processor time than they may."""


class Budget:
    """What is left for the files of one student. Each step between two checks has a bound of its own.

    Args:
        within: the budget of an archive around these files, which may be a class's, and which they use up too.
    """

    def __init__(self, within: Budget | None = None):
        self.spent = 0.0
        self._seconds = SECONDS if within is None else INNER_SECONDS
        self._within = within
        self._since: float | None = None

    @contextmanager
    def paying(self) -> Iterator[None]:
        """Count what the block takes; it may be entered again inside."""
        if self._since is not None:
            yield
            return
        self._since = time.thread_time()
        try:
            yield
        finally:
            self._count()
            self._since = None

    def check(self, besides: float = 0.0) -> None:
        """Raises Spent where nothing is left, after what was spent here and besides."""
        if self._within is not None:
            self._within.check()
        if self._since is not None:
            self._count()
        if self.spent + besides > self._seconds:
            raise Spent(
                f"Looking through the files takes more than {self._seconds:g} seconds of computing: hand in the "
                "notebook alone."
            )

    def _count(self) -> None:
        now = time.thread_time()
        self.spent += now - (now if self._since is None else self._since)
        self._since = now

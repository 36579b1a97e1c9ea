"""Keeps one sandbox warm in a worker's process, from one job to the next."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from autograder.sandbox import Sandbox

IDLE_SECONDS = 60.0  # after which a sandbox makes room for one of another kind


class _Kept:
    """A sandbox in a thread of its own: a warm worker dies with the thread that started it."""

    def __init__(self, make: Callable[[], Sandbox]):
        self._thread = ThreadPoolExecutor(1)
        self.sandbox = make()
        self.users, self.used = 0, time.monotonic()
        self._started = self._thread.submit(self.sandbox.start)

    def wait(self) -> Sandbox:
        """The sandbox once it is warm. Raises SandboxUnavailable, and OSError, as starting it does."""
        self._started.result()
        return self.sandbox

    def close(self) -> None:
        self.sandbox.close()
        self._thread.shutdown(wait=False, cancel_futures=True)


class SandboxPool:
    """Sandboxes by kind (limits, and what they import). One that is idle goes when another kind is asked for."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, _Kept] = {}
        self._lock = threading.Lock()

    @contextmanager
    def warm(self, kind: Hashable, make: Callable[[], Sandbox]) -> Iterator[Sandbox]:
        """The sandbox of a kind, started with `make` where there is none; kept while this lasts, and afterwards.

        Raises:
            SandboxUnavailable: a required wall does not stand, or the worker does not start.
        """
        with self._lock:
            for other, idle in list(self._kept.items()):
                if other != kind and not idle.users and time.monotonic() - idle.used > IDLE_SECONDS:
                    self._kept.pop(other).close()
            if kind not in self._kept:
                self._kept[kind] = _Kept(make)
            kept = self._kept[kind]
            kept.users += 1
        try:
            yield self._started(kind, kept)
        finally:
            with self._lock:
                kept.users -= 1
                kept.used = time.monotonic()

    def close(self) -> None:
        """Stop all of them."""
        with self._lock:
            while self._kept:
                self._kept.popitem()[1].close()

    def _started(self, kind: Hashable, kept: _Kept) -> Sandbox:
        try:
            return kept.wait()
        except BaseException:
            with self._lock:
                if self._kept.get(kind) is kept:
                    del self._kept[kind]
            kept.close()
            raise

"""Whose turn it is: submissions run side by side, but one that may have used up the machine's memory runs alone."""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

_LONGEST_WAIT = 1800.0  # seconds: a grader that was stopped in its turn holds up nobody for ever
_LOOK_AGAIN = 0.05


@contextmanager
def turn(*, alone: bool) -> Iterator[bool]:
    """Wait until a submission may run, beside others or `alone`; yield whether it is alone.

    "Alone" is among all graders of this user on the machine. If these cannot be known, nobody waits, and nobody counts
    as alone.
    """
    with ExitStack() as locks:
        try:
            door, room = (locks.enter_context(_file(name)) for name in ("door", "room"))
        except OSError:
            yield False
            return
        how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        have = _lock(door, how) and _lock(room, how)  # who wants to be alone keeps the door, so that the room empties
        if not alone:
            fcntl.flock(door, fcntl.LOCK_UN)
        try:
            yield alone and have
        finally:  # not only closed: a child of the grader may have the file, too
            fcntl.flock(room, fcntl.LOCK_UN)
            fcntl.flock(door, fcntl.LOCK_UN)


def _file(name: str) -> IO[bytes]:
    """Open a lock file in a folder that only this user can open, so that no other account can lock it."""
    folder = Path(tempfile.gettempdir(), f"course-grader-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(folder)
    return (folder / name).open("ab")


def _lock(file: IO[bytes], how: int) -> bool:
    deadline = time.monotonic() + _LONGEST_WAIT
    while time.monotonic() < deadline:
        try:
            fcntl.flock(file, how | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(_LOOK_AGAIN)
    return False

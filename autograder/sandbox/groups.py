"""Control groups (version 2), where the grader may make them: the kernel counts and bounds what a submission uses."""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from functools import cache
from pathlib import Path

_NAME = "course-grader"
_REMOVAL_SECONDS = 2.0
_numbers = itertools.count()


class ControlGroup:
    """One submission's processes. A process that is moved in takes all along that it starts from then on.

    Args:
        parent: the folder of the group in which to make it.
        pid: the first process.
        memory_bytes: what all of them may hold together, with the kernel's memory for them. Beyond it the kernel ends
            one after the other.

    Raises:
        OSError: the group cannot be made, or the process be moved.
    """

    def __init__(self, parent: Path, pid: int, memory_bytes: int):
        self.folder = parent / f"{_NAME}-{os.getpid()}-{next(_numbers)}"
        try:
            self.folder.mkdir()
            _write(self.folder / "memory.max", memory_bytes)
            with contextlib.suppress(OSError):  # a kernel need not count what is swapped out
                _write(self.folder / "memory.swap.max", 0)
            with contextlib.suppress(OSError):
                _write(self.folder / "memory.oom.group", 1)
            _write(self.folder / "cgroup.procs", pid)
        except OSError:
            self.remove()
            raise

    def cpu_seconds(self) -> float:
        """Return the CPU time used since the group was made, that of all processes that have ended included."""
        return _table(self.folder / "cpu.stat")["usage_usec"] / 1e6

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel had to end a process because the limit was reached."""
        return _table(self.folder / "memory.events").get("oom_kill", 0) > 0

    def remove(self) -> None:
        """Remove the group, once its processes are gone."""
        end = time.monotonic() + _REMOVAL_SECONDS
        while self.folder.is_dir():
            try:
                self.folder.rmdir()
            except OSError:
                if time.monotonic() > end:
                    break  # an empty group costs nothing, and the next grader removes it
                time.sleep(0.02)


@cache
def find() -> Path | str:
    """Return the group in which the grader may make others, or why it may not."""
    try:
        parent = _find_handed_over()
    except (OSError, ValueError) as error:
        return str(error)
    if parent is None:
        return "no control group has been handed over to the grader"
    for left in parent.glob(f"{_NAME}-*"):
        if not Path(f"/proc/{left.name.split('-')[2]}").exists():
            with contextlib.suppress(OSError):
                left.rmdir()
    return parent


def _find_handed_over() -> Path | None:
    """Return the grader's own group if it was handed over: writable, and with no other processes than the grader's."""
    own = _own(_mount())
    if own is None:
        return None
    if own.name == _NAME and "memory" in _words(own.parent / "cgroup.subtree_control"):
        return own.parent  # moved by an earlier call
    if "memory" not in _words(own / "cgroup.controllers"):
        return None
    inside = [int(pid) for pid in _words(own / "cgroup.procs")]
    if not all(_is_ours(pid) for pid in inside):
        return None
    (own / _NAME).mkdir(exist_ok=True)
    for pid in inside:  # a group that hands out memory to others may hold no process itself
        _write(own / _NAME / "cgroup.procs", pid)
    _write(own / "cgroup.subtree_control", "+memory")
    return own


def _is_ours(pid: int) -> bool:
    while pid > 1 and pid != os.getpid():
        pid = int(Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[1])
    return pid == os.getpid()


def _own(mount: tuple[str, str] | None) -> Path | None:
    """Return the folder of the grader's own group, if it can be written."""
    if mount is None:
        return None
    root, folder = mount
    for line in Path("/proc/self/cgroup").read_text("utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:  # the hierarchy of version 2
            found = Path(folder) / os.path.relpath(path, root)
            return found if ".." not in found.parts and os.access(found, os.W_OK) else None
    return None


def _mount() -> tuple[str, str] | None:
    """Return the root and the folder of the hierarchy of version 2, where it is mounted."""
    for line in Path("/proc/self/mountinfo").read_text("utf-8").splitlines():
        before, _, after = line.partition(" - ")
        if after.split()[0] == "cgroup2":
            root, folder = before.split()[3:5]
            return root, folder
    return None


def _words(path: Path) -> list[str]:
    return path.read_text("ascii").split()


def _table(path: Path) -> dict[str, int]:
    return {name: int(value) for name, value in map(str.split, path.read_text("ascii").splitlines())}


def _write(path: Path, value: object) -> None:
    path.write_text(str(value), "ascii")

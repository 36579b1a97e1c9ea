"""Control groups, where the grader may make them: the kernel itself counts and bounds what a submission uses."""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_NAME = "course-grader"
_REMOVAL_SECONDS = 2.0
_numbers = itertools.count()


@dataclass(frozen=True)
class Place:
    """Where groups may be made: a folder of the hierarchy that counts memory, and one of that which counts CPU time.

    In version 2 of control groups they are the same.
    """

    memory: Path
    cpu: Path

    @property
    def version(self) -> int:
        """1 or 2, by who counts the memory."""
        return 1 if (self.memory / "memory.limit_in_bytes").exists() else 2


class ControlGroup:
    """One submission's processes. A process that is moved in takes all along that it starts from then on.

    Args:
        place: where to make it.
        pid: the first process.
        memory_bytes: what all of them may hold together, with the kernel's memory for them. Beyond it the kernel ends
            one after the other.

    Raises:
        OSError: the group cannot be made, or the process be moved.
    """

    def __init__(self, place: Place, pid: int, memory_bytes: int):
        name = f"{_NAME}-{os.getpid()}-{next(_numbers)}"
        self._memory, self._cpu = place.memory / name, place.cpu / name
        self._folders = list(dict.fromkeys((self._memory, self._cpu)))
        try:
            for folder in self._folders:
                folder.mkdir()
            if place.version == 1:
                _write(self._memory / "memory.limit_in_bytes", memory_bytes)
                with contextlib.suppress(OSError):  # a kernel need not count what is swapped out
                    _write(self._memory / "memory.memsw.limit_in_bytes", memory_bytes)
            else:
                _write(self._memory / "memory.max", memory_bytes)
                with contextlib.suppress(OSError):
                    _write(self._memory / "memory.swap.max", 0)
                with contextlib.suppress(OSError):
                    _write(self._memory / "memory.oom.group", 1)
            for folder in self._folders:
                _write(folder / "cgroup.procs", pid)
        except OSError:
            self.remove()
            raise

    def cpu_seconds(self) -> float:
        """Return the CPU time used since the group was made, that of all processes that have ended included."""
        with contextlib.suppress(FileNotFoundError):
            return int((self._cpu / "cpuacct.usage").read_text("ascii")) / 1e9
        return _table(self._cpu / "cpu.stat")["usage_usec"] / 1e6

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel had to end a process because the limit was reached."""
        with contextlib.suppress(FileNotFoundError):
            return _table(self._memory / "memory.oom_control").get("oom_kill", 0) > 0
        return _table(self._memory / "memory.events").get("oom_kill", 0) > 0

    def remove(self) -> None:
        """Remove the group, once its processes are gone."""
        end = time.monotonic() + _REMOVAL_SECONDS
        for folder in self._folders:
            while folder.is_dir():
                try:
                    folder.rmdir()
                except OSError:
                    if time.monotonic() > end:
                        break  # an empty group costs nothing, and the next grader removes it
                    time.sleep(0.02)


@cache
def find() -> Place | str:
    """Return where the grader may make groups, or why it may not."""
    try:
        place = _second_version() or _first_version()
    except (OSError, ValueError) as error:
        return str(error)
    if place is None:
        return "no control group has been handed over to the grader"
    for folder in {place.memory, place.cpu}:
        for left in folder.glob(f"{_NAME}-*"):
            if not Path(f"/proc/{left.name.split('-')[2]}").exists():
                with contextlib.suppress(OSError):
                    left.rmdir()
    return place


def _first_version() -> Place | None:
    """Use version 1 where nobody else has put the grader into a group: only root may, and nothing is handed over."""
    found = []
    for name in ("memory", "cpuacct"):
        mount = _mounts().get(name)
        own = _own(mount, name)
        if mount is None or own is None or own != Path(mount[1]):
            return None
        found.append(own)
    return Place(*found)


def _second_version() -> Place | None:
    """Use the grader's own group if it has been handed over: it can be written, and only the grader's are in it."""
    own = _own(_mounts().get(""), "")
    if own is None:
        return None
    if own.name == _NAME and "memory" in _words(own.parent / "cgroup.subtree_control"):
        return Place(own.parent, own.parent)  # moved by an earlier call
    if "memory" not in _words(own / "cgroup.controllers"):
        return None
    inside = [int(pid) for pid in _words(own / "cgroup.procs")]
    if not all(_is_ours(pid) for pid in inside):
        return None
    (own / _NAME).mkdir(exist_ok=True)
    for pid in inside:  # a group that hands out memory to others may hold no process itself
        _write(own / _NAME / "cgroup.procs", pid)
    _write(own / "cgroup.subtree_control", "+memory")
    return Place(own, own)


def _is_ours(pid: int) -> bool:
    while pid > 1 and pid != os.getpid():
        pid = int(Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[1])
    return pid == os.getpid()


def _own(mount: tuple[str, str] | None, controller: str) -> Path | None:
    """Return the folder of the grader's own group in one hierarchy, if it can be written."""
    if mount is None:
        return None
    root, folder = mount
    for line in Path("/proc/self/cgroup").read_text("utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            found = Path(folder) / os.path.relpath(path, root)
            return found if ".." not in found.parts and os.access(found, os.W_OK) else None
    return None


def _mounts() -> dict[str, tuple[str, str]]:
    """Return the root and the folder of each mounted hierarchy, by controller; version 2 is the one without a name."""
    found = {}
    for line in Path("/proc/self/mountinfo").read_text("utf-8").splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split()[:3]
        root, folder = before.split()[3:5]
        if kind == "cgroup2":
            found[""] = root, folder
        elif kind == "cgroup":
            found |= dict.fromkeys(options.split(","), (root, folder))
    return found


def _words(path: Path) -> list[str]:
    return path.read_text("ascii").split()


def _table(path: Path) -> dict[str, int]:
    return {name: int(value) for name, value in map(str.split, path.read_text("ascii").splitlines())}


def _write(path: Path, value: object) -> None:
    path.write_text(str(value), "ascii")

"""Measures, from outside, what a submission's process tree uses, bounds it where the kernel can, and ends it."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import psutil

COUNTED_EVERY = 0.01  # seconds: the step in which the kernel counts
DEATH_SECONDS = 120.0  # hundreds of processes of a fork bomb take the kernel a while


class ProcessTree:
    """The process that runs a submission and everything it has started.

    Inside namespaces the process is the first of its own process namespace: all that it starts stays below it, and
    all of it dies with it. Without namespaces, a process that detaches itself can get away.

    Where the grader may make control groups, the kernel counts the CPU time and bounds the memory; elsewhere both are
    sampled.

    Args:
        pid: the first process.
        memory_bytes: bound on the memory of all, the kernel's for them included; needed for a control group.

    Raises:
        ProcessLookupError: the process has already ended.
    """

    def __init__(self, pid: int, memory_bytes: int | None = None):
        try:
            self.process = psutil.Process(pid)
        except psutil.Error as error:
            raise ProcessLookupError(f"process {pid} has ended") from error
        self.descriptor = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
        self._cpu_seconds = 0.0
        self._counted = -math.inf  # when
        self._group: ControlGroup | None = None
        if memory_bytes is not None and isinstance(parent := find_control_group(), Path):
            with contextlib.suppress(OSError):
                self._group = ControlGroup(parent, pid, memory_bytes)
        self._schedule = _schedule(f"/proc/{pid}/task/{pid}")[1:]
        self._kernel_before = _kernel_bytes()

    def cpu_seconds(self) -> float:
        """Return the CPU time used so far by the whole tree, including processes that have ended and been waited for.

        What was counted less than `COUNTED_EVERY` ago is not counted again: most steps of a submission are shorter.
        """
        now = time.monotonic()
        if now - self._counted < COUNTED_EVERY:
            return self._cpu_seconds
        self._counted = now
        if self._group is not None:
            self._cpu_seconds = self._group.cpu_seconds()
            return self._cpu_seconds
        seconds = 0.0
        for process in self._processes():
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                seconds += times.user + times.system
                seconds += getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
        self._cpu_seconds = max(self._cpu_seconds, seconds)
        return self._cpu_seconds

    def waits_for_processor(self) -> bool:
        """Whether a thread of the tree runs, or could run if a processor were free.

        One that has stepped back, to a lower priority than the first process began with, waits by its own choice.
        """
        for process in self._processes():
            for thread in _threads(process.pid):
                with contextlib.suppress(OSError):
                    state, nice, policy = _schedule(thread)
                    if state == "R" and nice <= self._schedule[0] and policy == self._schedule[1]:
                        return True
        return False

    def ends_within(self, seconds: float) -> bool:
        """Wait up to `seconds` for the first process to end; return whether it has."""
        if self.descriptor is None:
            return not self.process.is_running()
        death = select.poll()
        death.register(self.descriptor, select.POLLIN)
        return bool(death.poll(seconds * 1000))

    def holds_more_than(self, limit: int) -> bool:
        """Whether the tree's own memory exceeds `limit` bytes: what no file of the machine backs, swapped out or not.

        Pages that several processes share are counted once. To find them takes the kernel a while, so it is asked only
        when the quick count, which takes them for private, is over the limit. Sockets count as if they were full.
        """
        if self.ran_out_of_memory():
            return True
        processes = self._processes()
        sockets = _socket_bytes(processes)
        return (
            sum(map(_held_at_most, processes)) + sockets > limit and sum(map(_fair_share, processes)) + sockets > limit
        )

    def kernel_growth(self) -> int:
        """Return how many more bytes the kernel holds, for all processes together, than when the tree began.

        Some system calls make it hold memory that no process shows. It can still be asked when the tree has ended.
        """
        return max(_kernel_bytes() - self._kernel_before, 0)

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel ended a process of the tree for its memory; False where the kernel does not count."""
        return self._group is not None and self._group.ran_out_of_memory()

    def tasks(self) -> int:
        """Return the number of processes and threads."""
        count = 0
        for process in self._processes():
            with contextlib.suppress(psutil.Error):
                count += process.num_threads()
        return count

    def pipes(self) -> int:
        """Return the number of pipes that are open; 0 where the kernel does not list descriptors."""
        found: set[str] = set()
        for process in self._processes():
            folder = f"/proc/{process.pid}/fd"
            with contextlib.suppress(OSError):
                for descriptor in os.listdir(folder):
                    with contextlib.suppress(OSError):
                        found.add(os.readlink(f"{folder}/{descriptor}"))
        return sum(name.startswith("pipe:") for name in found)

    def kill(self) -> bool:
        """End every process of the tree; return whether all of it is gone."""
        processes, gone = self._processes(), True
        if self.descriptor is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.descriptor, signal.SIGKILL)
            gone = self.ends_within(DEATH_SECONDS)
            os.close(self.descriptor)
            self.descriptor = None
            processes = processes[1:]
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.kill()
        gone = gone and not psutil.wait_procs(processes, timeout=DEATH_SECONDS)[1]
        if self._group is not None:
            self._group.remove()
        return gone

    def _processes(self) -> list[psutil.Process]:
        found = [self.process]
        with contextlib.suppress(psutil.Error):
            if not _KERNEL_LISTS_CHILDREN:
                return found + self.process.children(recursive=True)
            for process in found:  # grows while it is walked
                for pid in _children(process.pid):
                    with contextlib.suppress(psutil.Error):
                        found.append(psutil.Process(pid))
        return found


def _held_at_most(process: psutil.Process) -> int:
    """Return the bytes that one process holds, including those that it shares with others."""
    for thread in _threads(process.pid):  # the first may have ended and left the memory to the others
        fields = _sizes(f"{thread}/status")
        if "VmRSS" in fields:
            return sum(fields.get(name, 0) for name in ("RssAnon", "RssShmem", "VmSwap", "VmPTE"))
    if sys.platform != "linux":
        with contextlib.suppress(psutil.Error):
            return process.memory_info().rss
    return 0


def _fair_share(process: psutil.Process) -> int:
    """Return the bytes that one process holds, those that it shares divided by the number of sharers."""
    for thread in _threads(process.pid):
        fields = _sizes(f"{thread}/smaps_rollup")
        tables = _sizes(f"{thread}/status").get("VmPTE", 0)
        if "Pss_Anon" in fields:  # since Linux 5.4
            return sum(fields.get(name, 0) for name in ("Pss_Anon", "Pss_Shmem", "SwapPss")) + tables
        if "Pss" in fields:
            return fields["Pss"] + fields.get("SwapPss", 0) + tables
    return _held_at_most(process)


def _kernel_bytes() -> int:
    """Return what the kernel holds for everybody and cannot take back, without page tables, which processes show."""
    sizes = _sizes("/proc/meminfo")
    return sum(sizes.get(name, 0) for name in ("SUnreclaim", "VmallocUsed"))


def _sizes(path: str) -> dict[str, int]:
    """Return the sizes in a file of /proc, in bytes by name; none where the process is gone or may not be looked at."""
    found = {}
    with contextlib.suppress(OSError), open(path, "rb") as file:
        for line in file:
            words = line.split()  # the process chooses its own name, which is one of the lines
            if len(words) == 3 and words[2] == b"kB" and words[1].isdigit():
                found[words[0].rstrip(b":").decode("ascii", "replace")] = int(words[1]) * 1024
    return found


def _threads(pid: int) -> Iterator[str]:
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            yield f"/proc/{pid}/task/{thread}"


def _socket_bytes(processes: list[psutil.Process]) -> int:
    """Return what the local sockets of a network namespace can hold: the kernel's memory, which is nobody's own."""
    for process in processes:
        for thread in _threads(process.pid):
            with contextlib.suppress(OSError):
                if os.readlink(f"{thread}/ns/net") == os.readlink("/proc/self/ns/net"):
                    return 0  # no walls: these are the machine's sockets
                with open(f"{thread}/net/unix", "rb") as file:
                    return (sum(1 for _ in file) - 1) * _socket_buffer()
    return 0


@cache
def _socket_buffer() -> int:
    """Return how much one socket can hold: the filter of system calls keeps every buffer at the system's default."""
    try:
        return 2 * int(Path("/proc/sys/net/core/wmem_default").read_text("ascii"))  # the last message may exceed it
    except (OSError, ValueError):
        return 2 * 212992


def _schedule(thread: str) -> tuple[str, int, int]:
    """Return a thread's state, its nice value and its scheduling policy; see proc_pid_stat(5)."""
    try:
        with open(f"{thread}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except FileNotFoundError:
        return "X", 0, 0
    return fields[0].decode(), int(fields[16]), int(fields[38])


_KERNEL_LISTS_CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children").exists()


def _children(pid: int) -> list[int]:
    """Children of one process, without reading every process of the machine."""
    children: list[int] = []
    for thread in _threads(pid):
        with contextlib.suppress(OSError), open(f"{thread}/children", "rb") as file:
            children += map(int, file.read().split())
    return children


# -- control groups (version 2), where the grader may make them -------------------------------------------------------


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
def find_control_group() -> Path | str:
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

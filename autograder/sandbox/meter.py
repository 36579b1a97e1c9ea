"""Measures, from outside, what a submission's process tree uses, and ends it."""

from __future__ import annotations

import contextlib
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

from autograder.sandbox import groups

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
        self._group: groups.ControlGroup | None = None
        if memory_bytes is not None and isinstance(parent := groups.find(), Path):
            with contextlib.suppress(OSError):
                self._group = groups.ControlGroup(parent, pid, memory_bytes)
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

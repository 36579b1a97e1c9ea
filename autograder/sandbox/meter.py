"""Measures, from outside, what a submission's process tree uses, and ends it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from pathlib import Path

import psutil

DEATH_SECONDS = 120.0  # hundreds of processes of a fork bomb take the kernel a while


class Tree:
    """The process that runs a submission and everything it has started.

    Inside namespaces the process is the first of its own process namespace: all that it starts stays below it, and
    all of it dies with it. Without namespaces, a process that detaches itself can get away.

    Raises:
        ProcessLookupError: the process has already ended.
    """

    def __init__(self, pid: int):
        try:
            self.process = psutil.Process(pid)
        except psutil.Error as error:
            raise ProcessLookupError(f"process {pid} has ended") from error
        self.descriptor = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
        self._cpu_seconds = 0.0
        self._schedule = _schedule(pid, pid)[1:]

    def cpu_seconds(self) -> float:
        """Return the CPU time used so far by the whole tree, those included that have ended and been waited for."""
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
            with contextlib.suppress(OSError):
                for thread in map(int, os.listdir(f"/proc/{process.pid}/task")):
                    with contextlib.suppress(OSError):
                        state, nice, policy = _schedule(process.pid, thread)
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
        """Whether the tree's own memory exceeds `limit` bytes.

        Pages that a process shares with the one it was forked from are counted once. To find them takes the kernel a
        while, so it is asked only when the quick count, which takes them for private, is over the limit.
        """
        processes = self._processes()
        return sum(map(_private_at_most, processes)) > limit and sum(map(_fair_share, processes)) > limit

    def tasks(self) -> int:
        """Return the number of processes and threads."""
        count = 0
        for process in self._processes():
            with contextlib.suppress(psutil.Error):
                count += process.num_threads()
        return count

    def kill(self) -> bool:
        """End every process of the tree; return whether all of it is gone."""
        processes = self._processes()
        if self.descriptor is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.descriptor, signal.SIGKILL)
            death = select.poll()
            death.register(self.descriptor, select.POLLIN)
            gone = bool(death.poll(DEATH_SECONDS * 1000))
            os.close(self.descriptor)
            self.descriptor = None
            processes = processes[1:]
        else:
            gone = True
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.kill()
        return gone and not psutil.wait_procs(processes, timeout=DEATH_SECONDS)[1]

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


def _private_at_most(process: psutil.Process) -> int:
    try:
        held = process.memory_info()
    except psutil.Error:
        return 0
    return held.rss - getattr(held, "shared", 0)


def _fair_share(process: psutil.Process) -> int:
    try:
        held = process.memory_full_info()
    except psutil.AccessDenied:
        return _private_at_most(process)
    except psutil.Error:
        return 0
    return getattr(held, "pss", held.uss)


def _schedule(pid: int, thread: int) -> tuple[str, int, int]:
    """Return a thread's state, its nice value and its scheduling policy; see proc_pid_stat(5)."""
    try:
        with open(f"/proc/{pid}/task/{thread}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except FileNotFoundError:
        return "X", 0, 0
    return fields[0].decode(), int(fields[16]), int(fields[38])


_KERNEL_LISTS_CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children").exists()


def _children(pid: int) -> list[int]:
    """Children of one process, without reading every process of the machine."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
    return found

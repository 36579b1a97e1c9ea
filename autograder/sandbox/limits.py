"""How much one submission may take."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

_MEBIBYTE = 1 << 20
_GIBIBYTE = 1 << 30
_BACKSTOP_STEPS = 100


def _cores() -> int:
    """Return the number of cores that this process may use: as many threads as that start TensorFlow's pools."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Limits:
    """Limits of one submission's process tree.

    Two budgets of time, so that a busy machine costs nobody a mark. The first is the submission's own CPU use. The
    second is for code that waits for ever: seconds by the clock, without those in which the code could go on and all
    processors were busy with something else. So what it counts is computing and waiting for something other than a
    processor: a sleep, a lock, input that does not come.

    Attributes:
        cpu_seconds_per_step: CPU seconds for one cell or one probe.
        wall_seconds_per_step: seconds by the clock for a step with that budget; a larger one has as many times more.
        patience: how many times longer a step may take when the machine gives it no processor. Beyond it the machine
            has failed, not the submission.
        memory_bytes: address space of each process, and resident memory of all of them together.
        processes: processes and threads.
        file_bytes: size of one file.
        tmp_bytes: size of everything written, /dev/shm included.
        reply_bytes: size of the arrays that one probe may return.
        pipes: pipes that are open at once. The kernel gives all processes of a user 1024 of full size.
    """

    cpu_seconds_per_step: float = 30.0
    wall_seconds_per_step: float = 180.0
    patience: float = 20.0
    memory_bytes: int = 8 * _GIBIBYTE
    processes: int = field(default_factory=lambda: 64 + 2 * _cores())
    file_bytes: int = 256 * _MEBIBYTE
    tmp_bytes: int = 256 * _MEBIBYTE
    reply_bytes: int = 64 * _MEBIBYTE
    pipes: int = 128

    @property
    def cpu_seconds_per_process(self) -> float:
        """Return the CPU seconds at which the kernel ends a process: a backstop far beyond what a step may use."""
        return self.cpu_seconds_per_step * _BACKSTOP_STEPS

    def wall_seconds(self, cpu_seconds: float) -> float:
        """Return how long a step with a budget of `cpu_seconds` may take by the clock."""
        return self.wall_seconds_per_step * cpu_seconds / self.cpu_seconds_per_step

"""How much one submission may take."""

from __future__ import annotations

import os
from dataclasses import dataclass

_MEBIBYTE = 1 << 20
_GIBIBYTE = 1 << 30
_PROCESSES = 64 + 2 * (os.cpu_count() or 1)  # TensorFlow's data pipelines start a thread for each core


@dataclass(frozen=True)
class Limits:
    """Limits of one submission's process tree.

    Time is counted in seconds of the submission's own CPU use, so that a busy machine costs nobody a mark. Behind it
    stands a wall clock, for code that waits for ever: ``cpu × wall_factor + wall_extra`` seconds.

    Attributes:
        cpu_seconds_per_step: CPU seconds for one cell or one probe.
        wall_factor: wall-clock seconds for each CPU second of the budget.
        wall_extra: wall-clock seconds on top.
        memory_bytes: address space of each process, and resident memory of all of them together.
        processes: processes and threads.
        file_bytes: size of one file.
        tmp_bytes: size of everything written, /dev/shm included.
        reply_bytes: size of the arrays that one probe may return.
    """

    cpu_seconds_per_step: float = 30.0
    wall_factor: float = 5.0
    wall_extra: float = 30.0
    memory_bytes: int = 8 * _GIBIBYTE
    processes: int = _PROCESSES
    file_bytes: int = 256 * _MEBIBYTE
    tmp_bytes: int = 256 * _MEBIBYTE
    reply_bytes: int = 64 * _MEBIBYTE

    def wall_seconds(self, cpu_seconds: float) -> float:
        """Return how long a step with a budget of `cpu_seconds` may take on the clock."""
        return cpu_seconds * self.wall_factor + self.wall_extra

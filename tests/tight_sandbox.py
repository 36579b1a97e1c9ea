"""The limits under which the sandbox is attacked, and how its processes are looked at."""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
from this_course import exercises_of

from autograder.sandbox import Limits

ROOT = Path(__file__).parent.parent
CORES = os.cpu_count() or 1
MEBIBYTE = 1 << 20
TIGHT = Limits(
    cpu_seconds_per_step=1,
    wall_seconds_per_step=5,
    memory_bytes=1024 * MEBIBYTE,
    processes=48,
    file_bytes=8 * MEBIBYTE,
    tmp_bytes=16 * MEBIBYTE,
    reply_bytes=4 * MEBIBYTE,
)
LAB = "02_self_attention"
Q = np.ones((3, 2), "float32")


def wait_until(happens: Callable[[], bool]) -> None:
    """Wait for a state, however slow the machine is; ten minutes of nothing are a failure."""
    until = time.monotonic() + 600
    while not happens():
        assert time.monotonic() < until, "it does not happen"
        time.sleep(0.05)


def living(worker):
    """Process ids below `worker`, without those that are dead and wait to be collected."""
    found = set()
    for process in worker.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
                found.add(process.pid)
    return found


def output(session, source):
    reply = session.run_cell(source)
    assert reply.error is None, reply.error
    return reply.stdout.strip()


def line_of_descent(worker):
    """Bubblewrap, the first process of its namespace, and the warm worker in it."""
    (first,) = worker.children()
    return worker, first, next(child for child in first.children() if "worker.zygote" in " ".join(child.cmdline()))


def drive(session, exercise, inputs, **settings):
    """Drive the student's object as the grader does: with the exercise's description of its probe."""
    return session.probe(LAB, exercise, inputs, probe=exercises_of(LAB)[exercise].probe, **settings)

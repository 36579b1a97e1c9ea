"""Starts the sandbox in the background, so that TensorFlow loads while the grader itself does."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from autograder.course.settings import Course
from autograder.sandbox import PRELOAD, Limits, Sandbox


def limits_of(course: Course) -> Limits:
    """What one submission may use, from course.toml."""
    own = course.limits
    return Limits(
        cpu_seconds_per_step=own.cpu_seconds, wall_seconds_per_step=own.wall_seconds, memory_bytes=own.memory_bytes
    )


def preload_of(course: Course, lab: str) -> tuple[str, ...]:
    """The modules that a worker imports before it forks for submissions of this lab; course.toml names its own."""
    return (
        *PRELOAD,
        *(name for lab_settings in course.labs if lab_settings.name == lab for name in lab_settings.preload),
    )


@contextmanager
def start_sandbox(course: Course, lab: str = "", *, unsafe: bool = False) -> Iterator[Future[Sandbox]]:
    """Start a sandbox now; the future is the sandbox once it is warm, or the reason why there is none.

    Args:
        course: the course, for its limits.
        lab: the lab to be graded, for what its notebooks import.
        unsafe: go on without walls where they cannot be built.
    """
    sandbox = Sandbox(limits_of(course), unsafe=unsafe, preload=preload_of(course, lab))

    def start() -> Sandbox:
        sandbox.start()
        return sandbox

    with ThreadPoolExecutor(1) as thread:  # a worker dies with the thread that started it: this one lasts
        try:
            yield thread.submit(start)
        finally:
            sandbox.close()

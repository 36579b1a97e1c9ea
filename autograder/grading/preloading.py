"""Starts the sandbox in the background, so that TensorFlow loads while the grader itself does."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from autograder.course import Course
from autograder.sandbox import PRELOAD, Limits, Sandbox

# What a worker imports besides for the submissions of a lab. Imported once here, none of them has to.
FOR_LABS = {
    "bert_ag_news": ("tensorflow_text", "tensorflow_hub", "tf_keras"),
    "imdb_classifier": ("sklearn.feature_extraction.text", "sklearn.linear_model", "sklearn.pipeline"),
}


def limits_of(course: Course) -> Limits:
    """What one submission may use, from course.toml."""
    own = course.limits
    return Limits(
        cpu_seconds_per_step=own.cpu_seconds, wall_seconds_per_step=own.wall_seconds, memory_bytes=own.memory_bytes
    )


def preload_of(lab: str) -> tuple[str, ...]:
    """The modules that a worker imports before it forks for submissions of this lab."""
    return (*PRELOAD, *FOR_LABS.get(lab.partition("_")[2], ()))


@contextmanager
def start_sandbox(course: Course, lab: str = "", *, unsafe: bool = False) -> Iterator[Future[Sandbox]]:
    """Start a sandbox now; the future is the sandbox once it is warm, or the reason why there is none.

    Args:
        course: the course, for its limits.
        lab: the lab to be graded, for what its notebooks import.
        unsafe: go on without walls where they cannot be built.
    """
    sandbox = Sandbox(limits_of(course), unsafe=unsafe, preload=preload_of(lab))

    def start() -> Sandbox:
        sandbox.start()
        return sandbox

    with ThreadPoolExecutor(1) as thread:  # a worker dies with the thread that started it: this one lasts
        try:
            yield thread.submit(start)
        finally:
            sandbox.close()

"""What runs in a worker's process: a plugin that prepares a run beside a warm sandbox, and grades submissions there."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import cast

from distributed import Worker, WorkerPlugin, get_worker

from autograder.course.settings import CourseError
from autograder.grade.lab_grader import LabGrader
from autograder.integrations.cluster.wire import decode_job, encode_record
from autograder.sandbox import Sandbox, SandboxUnavailable
from autograder.sandbox.warm import preload_of


def grade(plugin: str, data: bytes) -> bytes:
    """The record of one submission, by the plugin of a run; a worker calls this for Dask."""
    return cast(GradingPlugin, get_worker().plugins[plugin]).grade(data)


class GradingPlugin(WorkerPlugin):
    """One run of `course grade` on one worker. Dask carries it to every worker, those that come later included.

    A worker that cannot grade says why, and leaves the cluster: Dask gives what it had to others.
    """

    def __init__(self, job: bytes):
        self.name = f"course-grade-{secrets.token_hex(8)}"
        self._job = job

    def setup(self, worker: Worker) -> None:
        """Begin to prepare the job. Returns at once."""
        self._worker, self._closed = worker, False
        self._thread = ThreadPoolExecutor(1)  # it lasts: a sandbox ends with the thread that started it
        self._prepared = self._thread.submit(self._prepare)

    def teardown(self, worker: Worker) -> None:
        """Forget the job, and end the sandbox with what still runs in it."""
        self._closed = True
        self._thread.submit(lambda: self._prepared.result()[1].close())
        self._thread.shutdown(wait=False)

    def grade(self, data: bytes) -> bytes:
        """The record of one submission, whatever is in it. Waits until the job is prepared.

        Raises RuntimeError where there is no verdict, by no fault of the submission: Dask tries again.
        """
        grader, sandbox = self._prepared.result()
        try:
            return encode_record(grader.judge(grader.open_bytes(data), "", sandbox))
        except Exception as error:
            if isinstance(error, (SandboxUnavailable, OSError, MemoryError)):
                self._leave(error)
            reason = _say_why(error)
        finally:
            if self._closed:
                sandbox.close()  # it was started again for this one
        raise RuntimeError(reason)  # Dask sends it as a pickle: a text, and no other error behind it

    def _prepare(self) -> tuple[LabGrader, Sandbox]:
        try:
            grader = decode_job(self._job)
            sandbox = Sandbox(grader.limits, preload=preload_of(grader.course, grader.lab))
            sandbox.start()
            grader.prepare(sandbox)
            return grader, sandbox
        except Exception as error:
            self._leave(error)
            reason = _say_why(error)
        raise RuntimeError(reason)

    def _leave(self, error: Exception) -> None:
        self._worker.log_event(self.name, f"{self._worker.name} cannot grade and leaves the cluster: {_say_why(error)}")
        self._worker.loop.add_callback(self._worker.close, reason="it cannot grade")


def _say_why(error: Exception) -> str:
    return str(error) if isinstance(error, (SandboxUnavailable, CourseError)) else f"{type(error).__name__}: {error}"

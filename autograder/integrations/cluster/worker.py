"""What runs in a worker's process: a plugin that prepares a job beside a warm sandbox, and grades submissions there."""

from __future__ import annotations

import logging
import threading
import traceback
from contextlib import AbstractContextManager
from itertools import chain, repeat

from distributed import Worker, WorkerPlugin

from autograder.course.printable import printable
from autograder.course.settings import CourseError
from autograder.grading.lab_grader import LabGrader
from autograder.grading.preloading import preload_of
from autograder.integrations.cluster import records
from autograder.integrations.cluster.job import Job, differences, installed, name_of
from autograder.integrations.cluster.warm import SandboxPool
from autograder.sandbox import Sandbox, SandboxUnavailable, WorkerLost

log = logging.getLogger(__name__)

PAUSES = (1.0, 2.0, 5.0, 10.0, 30.0)  # seconds, before a worker that was unfit tries again
_pool = SandboxPool()


class Refused(Exception):
    """This worker cannot do the job, whatever it waits for; the text says why."""


class GradingPlugin(WorkerPlugin):
    """A job on one worker. Dask carries it to every worker, those that come later included.

    `state` is "preparing", "ready", "waiting" (something is short, such as the disk, and is tried again), "refused" or
    "stopped" (the course itself has a fault); `why` says more. Both reach the client with the worker's heartbeat.

    Args:
        job: an encoded `Job`.
    """

    idempotent = True

    def __init__(self, job: bytes):
        self.name = name_of(job)
        self._encoded = job

    def setup(self, worker: Worker) -> None:
        """Begin to prepare the job. Returns at once."""
        self.state, self.why = "preparing", ""
        self._worker = worker
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._preparing: threading.Thread | None = None
        self._grader: LabGrader | None = None
        worker.metrics[self.name] = lambda _: [self.state, self.why[:1000]]
        self._begin()

    def teardown(self, worker: Worker) -> None:
        """Forget the job. The sandbox stays warm for the next one."""
        self._closed.set()
        worker.metrics.pop(self.name, None)

    def grade(self, data: bytes) -> bytes:
        """The record of one submission, whatever is in it; never raises."""
        if self.state != "ready" or self._grader is None:
            return records.unfit(self.why or "it is not ready yet")
        try:
            with self._warm(self._grader) as sandbox:
                return records.verdict(self._grader.verdict(data, "", sandbox))
        except WorkerLost as lost:
            return records.failed(str(lost))
        except (SandboxUnavailable, OSError, MemoryError) as error:
            self._begin(_reason(error))
            return records.unfit(_reason(error))
        except Exception as error:
            log.error("%s", printable(f"no verdict on a submission\n{traceback.format_exc()}"))
            return records.failed(f"{type(error).__name__}: {error}")

    def _begin(self, why: str = "") -> None:
        """Prepare the job in a thread of its own; after a failure, again and again until it succeeds."""
        with self._lock:
            if self._preparing is not None and self._preparing.is_alive():
                return
            self.state, self.why = ("waiting", why) if why else ("preparing", "")
            self._preparing = threading.Thread(target=self._prepare, daemon=True)
            self._preparing.start()

    def _prepare(self) -> None:
        for pause in chain(PAUSES, repeat(PAUSES[-1])):
            try:
                self._grader = self._grader or _grader(Job.decode(self._encoded))
                with self._warm(self._grader) as sandbox:
                    self._grader.prepared(sandbox)
                self._tell("ready", "")
                return
            except Refused as refused:
                self._tell("refused", str(refused))
                return
            except CourseError as error:
                self._tell("stopped", str(error))
                return
            except Exception as error:  # of the machine: a wall that does not stand, a disk that is full
                self._tell("waiting", _reason(error))
            if self._closed.wait(pause):
                return

    def _warm(self, grader: LabGrader) -> AbstractContextManager[Sandbox]:
        preload = preload_of(grader.course, grader.lab)
        return _pool.warm((grader.limits, preload), lambda: Sandbox(grader.limits, preload=preload))

    def _tell(self, state: str, why: str) -> None:
        self.state, self.why = state, why
        log.info("%s: %s %s", self.name, state, printable(why))
        self._worker.loop.add_callback(self._worker.heartbeat)  # the client reads it there


def _grader(job: Job) -> LabGrader:
    if differing := differences(job.versions, installed()):
        raise Refused(f"it has {differing}")
    grader = job.grader()
    if grader.version != job.grader_version:
        raise Refused("its grader draws other hidden cases from the same job")
    return grader


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, SandboxUnavailable) else f"{type(error).__name__}: {error}"

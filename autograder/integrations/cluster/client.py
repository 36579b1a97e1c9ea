"""The instructor's side of a cluster: submissions go to Dask, records come back and are checked."""

from __future__ import annotations

import json
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import dask
from distributed import Client, Future, as_completed

from autograder.course.settings import CourseError
from autograder.grade.lab_grader import QUEUED, GradingFailed, LabGrader, add_origin, content_hash
from autograder.grade.results import LabResult
from autograder.integrations.cluster.wire import decode_record, encode_job
from autograder.integrations.cluster.worker import GradingPlugin, grade
from autograder.read import FoundSubmission, ReaderLost, Unreadable
from autograder.sandbox import SandboxUnavailable

LOOK_SECONDS, POLL_SECONDS = 1.0, 0.02

Verdict = LabResult | GradingFailed


class ClusterUnavailable(SandboxUnavailable):
    """The cluster cannot be reached, or none of its workers can grade; the text says why and what to do."""


class Cluster:
    """A Dask cluster that grades.

    Args:
        named: the scheduler's address, ``tcp://…`` or ``tls://…``, or the path of its file. Else CourseError.
        wait_seconds: how long to wait for a scheduler, or for a worker, before giving up.
        tell: is told in a sentence which worker cannot grade.
    """

    def __init__(self, named: str, *, wait_seconds: float = 300.0, tell: Callable[[str], None] = lambda _: None):
        address = named
        with suppress(OSError, ValueError, KeyError, TypeError):
            address = str(json.loads(Path(named).read_text("utf-8"))["address"])
        scheme, _, place = address.partition("://")
        if scheme not in ("tcp", "tls") or ":" not in place:
            raise CourseError(f"{named}: name a scheduler by tcp://HOST:PORT, tls://HOST:PORT, or its scheduler file")
        self.address = address
        self._wait_seconds, self._tell = wait_seconds, tell

    def grade_all(self, grader: LabGrader, submissions: Iterable[FoundSubmission]) -> Iterator[list[Verdict]]:
        """Yield verdicts as `lab_grader.grade_all` does.

        Raises ClusterUnavailable where there was no scheduler, or no worker that can grade, for too long.
        """
        for name in [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # what Dask would say, sentences of ours say
        plugin = GradingPlugin(encode_job(grader))
        quiet = {"distributed.admin.low-level-log-length": 0}  # Dask would keep a thousand messages, each a submission
        try:
            with dask.config.set(quiet), Client(self.address, timeout=max(self._wait_seconds, 1.0)) as client:
                client.subscribe_topic(plugin.name, lambda event: self._tell(str(event[1])))
                try:
                    client.register_plugin(plugin)
                    yield from self._verdicts(client, plugin.name, grader, deque(submissions))
                finally:
                    if client.status == "running":  # else it would wait for a scheduler that is gone
                        with suppress(Exception):
                            client.unregister_worker_plugin(plugin.name)
        except (OSError, ImportError, RuntimeError, TypeError) as error:  # the last one where certificates are missing
            why = f"{self.address} cannot be used ({type(error).__name__}: {error})"
            raise ClusterUnavailable(f"{why}. It needs a scheduler, and workers with this package") from error

    def _verdicts(
        self, client: Client, plugin: str, grader: LabGrader, todo: deque[FoundSubmission]
    ) -> Iterator[list[Verdict]]:
        """Let Dask have as many as its workers can take; at last, one at a time, what was lost with a worker."""
        sent: dict[Future, tuple[FoundSubmission, bytes, bool]] = {}
        lost: deque[tuple[FoundSubmission, bytes]] = deque()
        done = as_completed(loop=client.loop, with_results=True, raise_errors=False)
        looked, seen, threads = 0.0, time.monotonic(), 0

        def submit(submission: FoundSubmission, data: bytes, *, again: bool) -> None:
            future = client.submit(grade, plugin, data, retries=2, pure=False)
            sent[future] = submission, data, again
            done.add(future)

        while todo or lost or sent:
            now, verdicts = time.monotonic(), list[Verdict]()
            if client.status != "running":
                raise ClusterUnavailable(f"The scheduler at {self.address} is lost. Start it again: dask scheduler")
            if now - looked > LOOK_SECONDS:
                workers = client.scheduler_info(n_workers=-1)["workers"].values()
                looked, threads = now, sum(worker["nthreads"] for worker in workers)
                seen = now if threads else seen
            if now - seen > self._wait_seconds:
                raise ClusterUnavailable(
                    f"{self.address} has no worker that can grade. Start some: dask worker ADDRESS"
                )
            while todo and len(sent) < QUEUED * threads:
                submission = todo.popleft()
                try:
                    submit(submission, submission.read(), again=False)
                except Unreadable as error:
                    verdicts.append(add_origin(grader.refuse(submission.student, error.reason), submission))
                except OSError as error:
                    verdicts.append(GradingFailed(submission.student, f"{type(error).__name__}: {error}"))
            if lost and threads and not sent:
                submit(*lost.popleft(), again=True)
            for future, answer in done.next_batch(block=False):
                submission, data, again = sent.pop(future)
                if future.status == "finished":
                    verdicts.append(_check_verdict(grader, submission, data, answer))
                elif again:
                    why = answer[1] if isinstance(answer, tuple) else answer
                    verdicts.append(GradingFailed(submission.student, f"twice lost on the cluster: {why}"))
                else:
                    lost.append((submission, data))
            if verdicts:
                yield verdicts
            else:
                time.sleep(POLL_SECONDS)


def _check_verdict(grader: LabGrader, submission: FoundSubmission, data: bytes, record: object) -> Verdict:
    """The verdict in a worker's record, whose every claim is checked that can be."""
    try:
        result = decode_record(record)
        points = {exercise.exercise: exercise.max_score for exercise in result.exercises}
        about = (result.lab, result.grader_version, result.content_hash, points)
        if about != (grader.lab, grader.version, content_hash(data), grader.points):
            raise ValueError("a record of something else")
        notebook = None if result.state == "unreadable" else grader.plan(data).notebook
    except (ValueError, ArithmeticError, Unreadable, ReaderLost) as error:
        return GradingFailed(submission.student, f"its worker sent what cannot be right: {str(error)[:300]}")
    return add_origin(replace(result, student=submission.student, notebook=notebook), submission)

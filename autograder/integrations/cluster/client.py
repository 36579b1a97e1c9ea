"""The instructor's side of a cluster: connects, hands out submissions, collects verdicts, and survives what fails."""

from __future__ import annotations

import gc
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from nbformat import NotebookNode

from autograder.course.settings import CourseError
from autograder.grading.lab_grader import GradingFailed, LabGrader, content_hash, of_submission
from autograder.grading.results import LabResult
from autograder.integrations.cluster import records
from autograder.integrations.cluster.connection import Connection, SchedulerLost, SchedulerView, WorkerView
from autograder.integrations.cluster.dispatch import Dispatch, WorkItem
from autograder.integrations.cluster.job import Job
from autograder.sandbox import SandboxUnavailable
from autograder.submission import FoundSubmission, Unreadable

SILENT_SECONDS = 30.0  # after which a worker counts as lost; Dask's workers are heard of each second or two
BENCH_SECONDS = 5.0  # for which a worker gets nothing, after it said that it is unfit
PLUGIN_SECONDS = 20.0  # in which a new worker says that it has the job
NO_PACKAGE = "it has no grader; install this package there, with the versions of requirements/lock.txt"

Verdict = LabResult | GradingFailed


class ClusterUnavailable(SandboxUnavailable):
    """The cluster cannot be reached, or none of its workers can grade; the text says why and what to do."""


@dataclass(frozen=True)
class _Readable:
    """A submission that can be read: its bytes as they travel, and its notebook, which stays here."""

    found: FoundSubmission
    data: bytes
    notebook: NotebookNode


class Cluster:
    """A Dask cluster that grades.

    Args:
        address: of the scheduler, ``tcp://…`` or ``tls://…``, or the path of a scheduler file.
        wait_seconds: how long to wait for a scheduler, or for a worker that can grade, before giving up.
        tell: is told in a sentence which worker is refused, and what is waited for.
    """

    def __init__(self, address: str, *, wait_seconds: float = 300.0, tell: Callable[[str], None] = lambda _: None):
        self.address = address
        self._wait_seconds = wait_seconds
        self._tell = tell

    def grade_all(self, grader: LabGrader, submissions: Iterable[FoundSubmission]) -> Iterator[list[Verdict]]:
        """Yield verdicts as they come: each time all that have come meanwhile. As `lab_grader.grade_all` does.

        Raises:
            ClusterUnavailable: no scheduler, or no worker that can grade, for as long as is waited for one.
            CourseError: something of the course itself stands in the way of every verdict.
        """
        run = _Run(grader)
        dispatch = Dispatch(run.readable(submissions))
        job = Job.of(grader).encode()
        told: set[tuple[str, str]] = set()
        with _without_old_garbage():
            while not dispatch.is_done():
                try:
                    with Connection(self.address, job, self._wait_seconds) as connection:
                        yield from _ConnectedRun(
                            connection, dispatch, run, self._wait_seconds, self._tell, told
                        ).verdicts()
                except SchedulerLost as lost:
                    for address in dispatch.holders:
                        for item in dispatch.held(address):
                            dispatch.lose(item, counts=False)
                    if not lost.was_connected:
                        yield run.local()
                        raise ClusterUnavailable(str(lost)) from lost
                    self._tell(f"The scheduler at {self.address} is lost; waiting for it")
        yield run.local()


@contextmanager
def _without_old_garbage() -> Iterator[None]:
    """Let Python search for garbage only in what is made from now on.

    To search the libraries takes so long (with TensorFlow 0.3 s) that workers run out of submissions meanwhile.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class _Run:
    """One lab's submissions on their way out, and their verdicts on the way back."""

    def __init__(self, grader: LabGrader):
        self._grader = grader
        self._local: list[Verdict] = []  # those that no worker gave
        self._points = grader.points

    def readable(self, submissions: Iterable[FoundSubmission]) -> Iterator[_Readable]:
        """The submissions that can be read; the verdicts on others need no worker."""
        for found in submissions:
            try:
                data = found.read()
                yield _Readable(found, data, self._grader.plan(data).notebook)
            except Unreadable as error:
                self._local.append(of_submission(self._unreadable(found, error), found))
            except Exception as error:
                self._local.append(GradingFailed(found.student, f"{type(error).__name__}: {error}"))

    def give_up(self, sent: _Readable, reason: str) -> None:
        """There is no verdict on this submission."""
        self._local.append(GradingFailed(sent.found.student, reason))

    def local(self) -> list[Verdict]:
        """What no worker gave, since the last call: verdicts on what cannot be read, and what was given up."""
        taken, self._local = self._local, []
        return taken

    def verdict(self, sent: _Readable, record: records.Record) -> LabResult:
        """The verdict in a worker's record, whose every claim is checked that can be.

        Raises:
            records.RecordError: it is on something else than what was sent.
        """
        result = record.lab_result()
        points = {exercise.exercise: exercise.max_score for exercise in result.exercises}
        about = (result.lab, result.grader_version, result.content_hash, points)
        if about != (self._grader.lab, self._grader.version, content_hash(sent.data), self._points):
            raise records.RecordError("a verdict on something that was not sent")
        result = replace(result, student=sent.found.student, notebook=sent.notebook)
        return of_submission(result, sent.found)

    def _unreadable(self, found: FoundSubmission, error: Unreadable) -> LabResult:
        result = self._grader.unreadable(found.student, error.reason)
        with suppress(Unreadable):
            return replace(result, content_hash=content_hash(found.read()))
        return result


class _ConnectedRun:
    """What happens between connecting to a scheduler and losing it."""

    def __init__(
        self,
        connection: Connection,
        dispatch: Dispatch[_Readable],
        run: _Run,
        wait_seconds: float,
        tell: Callable[[str], None],
        told: set[tuple[str, str]],
    ):
        self._connection = connection
        self._dispatch = dispatch
        self._run = run
        self._wait_seconds = wait_seconds
        self._tell = tell
        self._told = told
        self._items: dict[str, tuple[WorkItem[_Readable], str]] = {}  # by task: what, and with whom
        self._benched: dict[str, float] = {}
        self._fit: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self._reasons: dict[str, str] = {}  # of the workers that are not fit
        self._first_seen: dict[str, float] = {}
        self._fit_until = time.monotonic()

    def verdicts(self) -> Iterator[list[Verdict]]:
        """Hand out and collect until everything is done. Raises SchedulerLost, ClusterUnavailable and CourseError."""
        while not self._dispatch.is_done():
            if (seen := self._connection.seen()) is not None:
                self._look(seen)
            if not self._fit and time.monotonic() - self._fit_until > self._wait_seconds:
                yield self._run.local()
                raise ClusterUnavailable(self._nobody())
            self._send()
            batch = self._collected() + self._run.local()
            if batch:
                yield batch

    def _send(self) -> None:
        """Hand out what the workers can take: to each of them all at once, which costs Dask less."""
        items: defaultdict[str, list[WorkItem[_Readable]]] = defaultdict(list)
        for item, address in self._dispatch.assign(self._fit):
            items[address].append(item)
        for address, some in items.items():
            tasks = self._connection.send([item.content.data for item in some], address)
            self._items.update((task, (item, address)) for task, item in zip(tasks, some, strict=True))

    def _look(self, seen: SchedulerView) -> None:
        now = time.monotonic()
        self._names = {worker.address: worker.name for worker in seen.workers}
        alive = {worker.address for worker in seen.workers if worker.silent < SILENT_SECONDS}
        for task, (item, address) in list(self._items.items()):
            if address not in alive:
                del self._items[task]
                self._connection.forget(task)
                self._lose(item)
        self._fit = {
            worker.address: worker.slots
            for worker in seen.workers
            if worker.address in alive and worker.state == "ready" and self._benched.get(worker.address, 0.0) < now
        }
        if self._fit:
            self._fit_until = now
        self._reasons = {}
        for worker in seen.workers:
            if worker.state == "stopped":
                raise CourseError(worker.why)
            if worker.address not in self._fit:
                self._reasons[worker.name] = self._reason(worker, now)
        for name, reason in self._reasons.items():
            if reason and (name, reason) not in self._told:
                self._told.add((name, reason))
                self._tell(f"{name} gets no submissions: {reason}")

    def _reason(self, worker: WorkerView, now: float) -> str:
        """Why a worker is not fit; empty where it may become so in a moment."""
        since = self._first_seen.setdefault(worker.address, now)
        if worker.silent >= SILENT_SECONDS:
            return "it does not answer"
        if worker.state == "":
            return NO_PACKAGE if now - since > PLUGIN_SECONDS else ""
        return worker.why

    def _collected(self) -> list[Verdict]:
        batch: list[Verdict] = []
        for task, data in self._connection.collect():
            if task not in self._items:
                continue  # was lost, and is with another worker now
            item, address = self._items.pop(task)
            if data is None:
                self._lose(item)
                continue
            try:
                record = records.read(data)
                if record.kind == "unfit":
                    self._bench(address)
                    self._dispatch.lose(item, counts=False)
                    continue
                if record.kind == "failed":
                    self._run.give_up(item.content, record.reason)
                else:
                    batch.append(self._run.verdict(item.content, record))
                self._dispatch.finish(item)
            except records.RecordError as error:
                self._bench(address)
                self._tell(f"{self._names.get(address, address)} sent a record that cannot be right: {error}")
                self._lose(item)
        return batch

    def _bench(self, address: str) -> None:
        self._benched[address] = time.monotonic() + BENCH_SECONDS
        self._fit.pop(address, None)

    def _lose(self, item: WorkItem[_Readable]) -> None:
        if not self._dispatch.lose(item):
            self._run.give_up(item.content, f"its worker was lost {item.losses} times")

    def _nobody(self) -> str:
        reasons = "; ".join(f"{name}: {reason or 'it is not ready'}" for name, reason in self._reasons.items())
        found = f"None of its workers can grade ({reasons})" if reasons else "It has no workers"
        return f"{self._connection.address}: {found}. Start some where this package is installed: dask worker ADDRESS"

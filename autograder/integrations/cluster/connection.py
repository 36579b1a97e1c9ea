"""One connection to a Dask scheduler: what Dask does for the client, and nothing that knows of labs or marks."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import secrets
import time
import warnings
from collections import defaultdict
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import Future as Promise
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import dask
from distributed import Client, Future
from distributed.security import Security

from autograder.course.settings import CourseError
from autograder.integrations.cluster import remote
from autograder.integrations.cluster.job import name_of

CONNECT_SECONDS = 5.0
LOOK_SECONDS = 1.0
BLIND_SECONDS = 60.0  # without an answer of the scheduler, after which it counts as lost
FETCH_SECONDS = 30.0
GATHER_SECONDS = 0.02  # in which verdicts come together, to be fetched at once; a worker has more to do meanwhile
CLOSE_SECONDS = 5.0
# Dask keeps the last thousand messages for its developers; a message of ours is a submission.
KEEP_NO_MESSAGES = {"distributed.admin.low-level-log-length": 0}
TLS = (
    "needs certificates: name them in DASK_DISTRIBUTED__COMM__TLS__CA_FILE, DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT "
    "and DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY"
)


class SchedulerLost(Exception):
    """There is no scheduler, or no longer. `was_connected` says which."""

    def __init__(self, message: str, *, was_connected: bool):
        super().__init__(message)
        self.was_connected = was_connected


@dataclass(frozen=True)
class WorkerView:
    """A worker as the scheduler knows it: heard of `silent` seconds ago, with `state` and `why` of its plugin."""

    address: str
    name: str
    slots: int
    silent: float
    state: str
    why: str


@dataclass(frozen=True)
class SchedulerView:
    """One look at the scheduler."""

    workers: list[WorkerView]


def scheduler_address(named: str) -> str:
    """The address that a user means: an address, or what stands in the scheduler file of this name.

    Raises:
        CourseError: it is neither, or there are no certificates for it.
    """
    address = named
    if "://" not in named:
        try:
            address = str(json.loads(Path(named).read_text("utf-8"))["address"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CourseError(
                f"{named}: is not the address of a scheduler (tcp://HOST:PORT or tls://HOST:PORT), or a scheduler file "
                f"that can be read ({error})"
            ) from error
    scheme, _, place = address.partition("://")
    if scheme not in ("tcp", "tls") or ":" not in place:
        raise CourseError(f"{address}: the address of a scheduler is tcp://HOST:PORT or tls://HOST:PORT")
    if scheme == "tls":
        try:
            arguments = Security().get_connection_args("client")
        except (OSError, ValueError) as error:
            raise CourseError(f"{address} {TLS}; one of these files cannot be read ({error})") from error
        if arguments.get("ssl_context") is None:
            raise CourseError(f"{address} {TLS}")
    return address


def danger_of(named: str) -> str:
    """What whoever grades at this address should know, in a sentence; empty where there is nothing.

    A scheduler on this machine is no exception: other accounts of it can connect, too.

    Args:
        named: see `scheduler_address`, which also says what is raised.
    """
    address = scheduler_address(named)
    if address.startswith("tls://"):
        return ""
    return (
        f"{address} has no encryption and asks for no certificate: whoever can connect to it, other accounts of the "
        "machine included, can run code there, read hidden cases and write marks. Use tls:// unless nobody else can."
    )


class Connection:
    """A scheduler, for the time of a `with` block: looks at its workers, sends tasks, and collects their records.

    Args:
        named: see `scheduler_address`.
        job: an encoded `Job`, which every worker is given.
        wait_seconds: how long to try to connect.
    """

    def __init__(self, named: str, job: bytes, wait_seconds: float):
        self.address = scheduler_address(named)
        self._job = job
        self._name = name_of(job)
        self._wait_seconds = wait_seconds
        self._futures: dict[str, tuple[Future, str]] = {}  # by task: with the address of its worker
        self._finished: defaultdict[str, list[str]] = defaultdict(list)  # tasks whose records can be fetched, by worker
        self._fetching: set[str] = set()
        self._events: SimpleQueue[tuple[str, str, dict[str, Any] | None]] = SimpleQueue()
        self._tasks = (f"{self._name}-{secrets.token_hex(4)}-{number}" for number in itertools.count())
        self._look: Promise[dict[str, Any]] | None = None
        self._registration: Promise[Any] | None = None
        self._looked = self._answered = time.monotonic()

    def __enter__(self) -> Connection:
        """Connect, and hand the job to the workers. Raises SchedulerLost where there is no scheduler."""
        deadline = time.monotonic() + self._wait_seconds
        while True:
            _silence()
            try:
                with dask.config.set(KEEP_NO_MESSAGES):
                    self._client = Client(
                        self.address, timeout=CONNECT_SECONDS, set_as_default=False, direct_to_workers=False
                    )
                break
            except (OSError, ImportError, RuntimeError) as error:
                if time.monotonic() > deadline:
                    why = str(error) or type(error).__name__
                    text = f"No scheduler answers at {self.address} ({why}). Start one there: dask scheduler"
                    raise SchedulerLost(text, was_connected=False) from error
                time.sleep(0.5)
        self._answered = time.monotonic()
        self._looked = 0.0
        self._register()
        return self

    def __exit__(self, *_: object) -> None:
        """Take back what was not done, and the job."""
        for future, _address in self._futures.values():
            future.release()
        with suppress(Exception):
            if self._client.status == "running":
                self._start(self._unregistering()).result(CLOSE_SECONDS)
        with suppress(Exception):
            self._client.close(timeout=CLOSE_SECONDS)

    def seen(self) -> SchedulerView | None:
        """What the scheduler knows of its workers, once a second; None in between.

        Raises:
            SchedulerLost: the scheduler does not answer, or the connection to it has ended.
            CourseError: the scheduler's own Python lacks this package.
        """
        now = time.monotonic()
        if self._look is not None and self._look.done():
            look, self._look = self._look, None
            try:
                answer = look.result()
            except ImportError as error:
                raise CourseError(f"{self.address}: the scheduler's Python lacks this package ({error})") from error
            except Exception:  # of the connection: it is tried again
                return None
            self._answered = now
            if not answer["has_job"]:
                self._register()
            return SchedulerView([WorkerView(*fields) for fields in answer["workers"]])
        self._check(now - self._answered)
        if self._look is None and now - self._looked > LOOK_SECONDS:
            self._looked = now
            self._look = self._start(self._looking())
        return None

    def send(self, submissions: Sequence[bytes], worker: str) -> list[str]:
        """Let a worker grade each of them; return the tasks' names. The worker's records come from `collect`."""
        tasks = list(itertools.islice(self._tasks, len(submissions)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Dask thinks that 10 MB are too many for a task
            futures = self._client.map(
                remote.grade,
                [self._name] * len(tasks),
                submissions,
                key=tasks,
                workers=[worker],
                allow_other_workers=False,
                pure=False,
            )
        for task, future in zip(tasks, futures, strict=True):
            self._futures[task] = future, worker
            future.add_done_callback(lambda finished: self._events.put(("done", finished.key, None)))
        return tasks

    def forget(self, task: str) -> None:
        """Take a task back."""
        future, _ = self._futures.pop(task, (None, ""))
        if future is not None:
            future.release()

    def collect(self) -> Iterator[tuple[str, bytes | None]]:
        """Yield the records that have come, by task; None where a task was lost with its worker.

        Waits for half a second at most. Raises SchedulerLost.
        """
        for kind, subject, fetched in self._happened():
            if kind == "done":
                self._check()
                future, address = self._futures.get(subject, (None, ""))
                if future is None:
                    continue
                if future.status == "finished":
                    self._finished[address].append(subject)
                elif future.status == "error":
                    self.forget(subject)
                    yield subject, None
                else:  # Dask cancels what it waits for when it loses the scheduler
                    raise SchedulerLost("the scheduler is lost", was_connected=True)
            else:
                self._fetching.discard(subject)
                for task, record in (fetched or {}).items():
                    self.forget(task)
                    yield task, record
        for address in [finished for finished in self._finished if finished not in self._fetching]:
            tasks = self._finished.pop(address)
            futures = {task: self._futures[task][0] for task in tasks if task in self._futures}
            self._fetching.add(address)
            self._start(self._fetch(address, futures))

    def _happened(self) -> Iterator[tuple[str, str, dict[str, Any] | None]]:
        with suppress(Empty):
            yield self._events.get(timeout=LOOK_SECONDS / 2)
            time.sleep(GATHER_SECONDS)
            while True:
                yield self._events.get_nowait()

    async def _fetch(self, address: str, futures: dict[str, Future]) -> None:
        fetched: dict[str, Any] = dict.fromkeys(futures)
        try:
            fetched |= await asyncio.wait_for(self._client.gather(futures), FETCH_SECONDS)
        except Exception:  # the worker is gone, or hangs, with what it had done
            fetched = dict.fromkeys(futures)
        self._events.put(("fetched", address, fetched))

    async def _looking(self) -> dict[str, Any]:
        return await asyncio.wait_for(self._client.run_on_scheduler(remote.look, self._name), BLIND_SECONDS / 4)

    async def _registering(self) -> Any:
        from autograder.integrations.cluster.worker import GradingPlugin

        return await self._client.register_plugin(GradingPlugin(self._job))

    async def _unregistering(self) -> None:
        await self._client.unregister_worker_plugin(self._name)

    def _register(self) -> None:
        """Give the job to all workers, those to come included. Who cannot take it is seen when they are looked at."""
        if self._registration is None or self._registration.done():
            self._registration = self._start(self._registering())

    def _start(self, work: Coroutine[Any, Any, Any]) -> Promise[Any]:
        loop: Any = self._client.loop
        return asyncio.run_coroutine_threadsafe(work, loop.asyncio_loop)

    def _check(self, blind: float = 0.0) -> None:
        if self._client.status != "running" or blind > BLIND_SECONDS:
            raise SchedulerLost("the scheduler is lost", was_connected=True)


def _silence() -> None:
    """What Dask would tell in the terminal, the client tells in sentences."""
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)

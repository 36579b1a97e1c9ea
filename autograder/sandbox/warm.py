"""A warm worker: the process that has TensorFlow loaded and forks a runner for each submission."""

from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakSet

import psutil

from autograder.course.settings import Course
from autograder.sandbox import bubblewrap
from autograder.sandbox.bubblewrap import OtherUser
from autograder.sandbox.session import Limits, Session, SessionLost, WorkerLost, large_for, pair
from autograder.worker import protocol
from autograder.worker.protocol import WallReport

log = logging.getLogger(__name__)

PRELOAD = (
    "numpy", "tensorflow", "keras", "matplotlib.pyplot", "coursekit.lecture.plots", "coursekit.probes",
    "coursekit.check.rules", "coursekit.quiet",
)  # fmt: skip
OUTER_WALL = "bubblewrap"
OTHER_USER = "another user's process"

_CONTAINER_MARKS = ("/.dockerenv", "/run/.containerenv")  # Docker's and podman's
_CONTAINER_OPTIONS = "--security-opt seccomp=unconfined --security-opt apparmor=unconfined"
_UBUNTU = "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
_START_SECONDS = 600.0  # it loads TensorFlow, on a machine that may be busy; one that dies is noticed at once
_ANSWER_SECONDS = 120.0
_STOP_SECONDS = 60.0
_MEMORY_SECONDS = 60.0  # that a submission waits for memory of the machine
_REMEDIES = {
    "system-call filter": "Type: apt-get install libseccomp2 && pip install pyseccomp",
    "namespaces": "Raise the limit: sysctl -w user.max_user_namespaces=10000",
}
_PAUSES = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # seconds, before a process is asked for again


class SandboxUnavailable(Exception):
    """The walls cannot be built on this machine; the text says why and what to type."""


class Sandbox:
    """A warm worker. `session` forks a fresh process for one submission; sessions may overlap.

    The worker dies with the thread that started it, so start it in a thread that lasts as long as the grading.

    Args:
        limits: what one submission may take.
        unsafe: go on without walls where they cannot be built (macOS, some containers). Student code then runs with
            the grader's own rights.
        preload: modules that every submission finds imported. None of them may run a TensorFlow operation.
        probes: package whose `load_probe` gives the probes.
        other_user: who student code runs as, in place of the outer wall, where a container allows no namespaces.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        unsafe: bool = False,
        preload: Sequence[str] = PRELOAD,
        probes: str = "coursekit.probes",
        other_user: OtherUser | None = None,
    ):
        self.limits = limits or Limits()
        self.walls: list[WallReport] = []
        self.missing: dict[str, str] = {}
        self._unsafe = unsafe
        self._preload = list(preload)
        self._probes = probes
        self._other_user = other_user
        self._worker: _Worker | None = None
        self._stood = False
        self._lock = threading.Lock()

    def __enter__(self) -> Sandbox:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start the worker, look at its walls, and wait until it is warm.

        Raises:
            SandboxUnavailable: a required wall does not stand, or the worker does not start.
        """
        try:
            self.session().close()
        except SandboxUnavailable:
            self.close()
            raise

    def session(self, *, alone: bool = False) -> Session:
        """Return a fresh process behind walls of its own.

        A worker that has died is started again. Where the machine has no process or no memory to give, it is asked
        again for half a minute, as long as it has given one before.

        Args:
            alone: no other submission runs on this machine until it is closed; see `turn`. It waits for a minute, and
                says so, until the machine has the memory that it may use.

        Raises:
            SandboxUnavailable: a required wall does not stand, or no process can be had.
        """
        alone = alone and self._wait_for_memory()
        for pause in _PAUSES if self._stood else _PAUSES[:1]:
            try:
                return self._open(alone=alone)
            except (WorkerLost, SandboxUnavailable):
                time.sleep(pause)
        try:
            return self._open(alone=alone)
        except WorkerLost as lost:
            raise SandboxUnavailable(str(lost)) from lost

    def close(self) -> None:
        """Stop the worker and, with it, every session of it; one that is still starting as well."""
        if (worker := self._worker) is not None:
            worker.kill()  # who waits for it to start holds the lock, and learns of its end
        with self._lock:
            if self._worker is not None:
                self._worker.stop()
                self._worker = None

    def _wait_for_memory(self) -> bool:
        """Wait until the machine has memory for what a submission may take; return whether it has."""
        wanted = 2 * large_for(self.limits)  # less than a submission may take, on a small machine half of what it has
        deadline = time.monotonic() + _MEMORY_SECONDS
        while (free := psutil.virtual_memory().available) < wanted:
            if time.monotonic() > deadline:
                return False
            log.warning(
                "The machine is short of memory: %.1f GiB are free, and a submission may need %.1f. Grading waits.",
                free / (1 << 30),
                wanted / (1 << 30),
            )
            time.sleep(_MEMORY_SECONDS / 4)
        return True

    def _open(self, *, alone: bool) -> Session:
        worker = self._living()
        try:
            session = worker.fork(self.limits, self._probes, alone=alone)
        except WorkerLost:
            with self._lock:
                if self._worker is worker and (worker.has_ended() or not worker.serves()):
                    worker.stop()
                    self._worker = None
            raise
        self.walls = [*worker.walls, *session.walls]
        fallen = [wall for wall in self.walls if wall.required and not wall.stands]
        if fallen and not self._unsafe:
            session.close()
            raise SandboxUnavailable("; ".join(f"{wall.name}: {wall.why}" for wall in fallen))
        self._stood = True
        return session

    def _living(self) -> _Worker:
        with self._lock:
            if self._worker is not None and self._worker.has_ended():
                self._worker.stop()
                self._worker = None
            if self._worker is None:
                variant = self._other_user or bubblewrap.working_variant()
                self.walls = [outer_wall(variant)]
                if not self.walls[0].stands and not self._unsafe:
                    raise SandboxUnavailable(f"{self.walls[0].why}. {self.walls[0].remedy}")
                try:
                    self._worker = _Worker(variant, self._preload)
                except OSError as error:
                    raise WorkerLost(f"the worker does not start: {error}") from error
                try:
                    self.missing = self._worker.warm_up()
                except WorkerLost:
                    self._worker.stop()
                    self._worker = None
                    raise
            return self._worker


class _Worker:
    """The process that forks, the line on which it is told to, and the sessions that live by it."""

    def __init__(self, variant: bubblewrap.Variant | OtherUser | str, preload: Sequence[str]):
        self.walls = [outer_wall(variant)]
        self._lock = threading.Lock()
        self._hung_up = False
        self._sessions: WeakSet[Session] = WeakSet()
        self._folder: tempfile.TemporaryDirectory[str] | None = None  # where cells run when there are no walls
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        settings = json.dumps({
            "control": theirs.fileno(),
            "preload": list(preload),
            "walled": isinstance(variant, bubblewrap.Variant),
            "become": variant.become if isinstance(variant, bubblewrap.Variant) else None,
            "user": variant.user if isinstance(variant, OtherUser) else None,
            "home": str(variant.home) if isinstance(variant, OtherUser) else None,
        })  # fmt: skip
        way: dict[str, Any]  # arguments of Popen
        if isinstance(variant, bubblewrap.Variant):
            words = bubblewrap.interpreter("from worker.zygote import main; main(sys.argv[1])", settings)
            command, way = [*bubblewrap.arguments(variant), *words], bubblewrap.identity(variant)
        elif isinstance(variant, OtherUser):
            command = _start(variant.packages, "worker.zygote", settings)
            way = {"env": bubblewrap.environment() | variant.environment(), "cwd": "/"}
        else:
            self._folder = tempfile.TemporaryDirectory(prefix="unsafe-")
            home = {"HOME": self._folder.name, "TMPDIR": self._folder.name}
            command = _start(Path(__file__).resolve().parents[2], "autograder.worker.zygote", settings)
            way = {"env": bubblewrap.environment() | home, "cwd": self._folder.name}
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115  closed by `stop`
        with theirs:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._complaints,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                **way,
            )

    def warm_up(self) -> dict[str, str]:
        """Wait until everything is imported; return the modules that could not be, with the reason.

        Raises:
            WorkerLost: the worker ends instead.
        """
        try:
            self._control.settimeout(_START_SECONDS)
            ready: dict[str, Any] = protocol.receive(self._control.recv)
            self._control.settimeout(_ANSWER_SECONDS)
            return ready["missing"]
        except (OSError, EOFError, protocol.ProtocolError) as error:
            self.kill()
            self._complaints.seek(0)
            said = self._complaints.read().decode("utf-8", "replace").strip().splitlines()[-5:]
            raise WorkerLost(f"the worker does not start: {' | '.join(said) or error}") from error

    def fork(self, limits: Limits, probes: str, *, alone: bool = False) -> Session:
        """Return the session of a fresh process, after its greeting; `alone` is handed on to the session.

        Raises:
            WorkerLost: the worker cannot fork, or has ended.
        """
        try:
            ours, theirs = pair()
        except OSError as error:
            raise WorkerLost(f"no connection to a process can be made: {error}") from error
        wanted = {**asdict(limits), "cpu_seconds": int(limits.cpu_seconds_per_process) + 1, "probes": probes}
        try:
            with theirs:
                answer = self._ask({"op": "fork", "limits": wanted}, theirs.fileno())
            if answer["op"] != "forked":
                raise WorkerLost(f"the worker cannot start a process: {answer['why']}")
        except WorkerLost:
            ours.close()
            raise
        session = Session(ours, limits, partial(self._signal_that_ended, answer["child"]), alone=alone)
        session.greet()
        self._sessions.add(session)
        return session

    def has_ended(self) -> bool:
        """Whether the worker is gone, or no longer answers."""
        return self._hung_up or self.process.poll() is not None

    def serves(self) -> bool:
        """Whether a submission would be lost with this worker."""
        return any(session.pid is not None for session in self._sessions)

    def kill(self) -> None:
        """End the worker and its sessions."""
        self.process.kill()

    def stop(self) -> None:
        """End the worker and its sessions, and give back what it held."""
        self._hung_up = True
        self.kill()
        self._control.close()
        self.process.wait(_STOP_SECONDS)
        self._complaints.close()
        if self._folder is not None:
            self._folder.cleanup()

    def _signal_that_ended(self, child: int) -> int:
        return self._ask({"op": "fate", "child": child})["signal"]

    def _ask(self, request: dict[str, Any], *descriptors: int) -> dict[str, Any]:
        with self._lock:
            try:
                socket.send_fds(self._control, [json.dumps(request).encode()], descriptors)
                return protocol.receive(self._control.recv)
            except (OSError, EOFError, protocol.ProtocolError) as error:
                self._hung_up = True
                raise WorkerLost("the warm worker ended") from error


def check_walls() -> list[WallReport]:
    """Build every wall around a small process, and report on each. Takes about a second; never raises."""
    outer = outer_wall(bubblewrap.working_variant())
    if not outer.stands:
        return [outer]
    sandbox = Sandbox(unsafe=True, preload=())
    try:
        sandbox.start()
        walls = sandbox.walls
    except (SandboxUnavailable, SessionLost, OSError) as error:
        return [outer, WallReport("worker", stands=False, why=str(error))]
    finally:
        sandbox.close()
    return [
        WallReport(wall.name, wall.stands, wall.why, "" if wall.stands else _REMEDIES.get(wall.name, ""), wall.required)
        for wall in walls
    ]


def outer_wall(variant: bubblewrap.Variant | OtherUser | str) -> WallReport:
    """Return the report on bubblewrap, or on the wall used in its place: that it works, or why not and what to type."""
    if isinstance(variant, OtherUser):
        is_root = os.geteuid() == 0
        return WallReport(OTHER_USER, is_root, "" if is_root else "only root can run code as another user")
    if isinstance(variant, bubblewrap.Variant):
        return WallReport(OUTER_WALL, stands=True)
    if sys.platform != "linux":
        remedy = "Grade in Docker or on Linux; --unsafe grades without the sandbox, for work that you trust."
    elif "not installed" in variant:
        remedy = "Type: apt-get install bubblewrap (Fedora: dnf install bubblewrap). --unsafe grades without it."
    elif bubblewrap.MISPLACED in variant:
        remedy = (
            "Use a Python below /usr, /opt or your home folder, not below /tmp, /dev or /proc, and make the "
            "environment anew with it: rm -r .venv; make setup PYTHON=/usr/bin/python3"
        )
    elif _in_container():
        remedy = (
            f"This container was started with a profile that forbids the walls. Start it with {_CONTAINER_OPTIONS}, "
            f"as docker/compose.yaml does; on an Ubuntu host, 24.04 or later, type there as well: {_UBUNTU}"
        )
    else:
        remedy = (
            f"Unprivileged user namespaces are refused here. On Ubuntu 24.04 and later type: {_UBUNTU}; "
            f"in a container, start it with {_CONTAINER_OPTIONS}"
        )
    return WallReport(OUTER_WALL, stands=False, why=variant, remedy=remedy)


def _in_container() -> bool:
    return any(Path(mark).exists() for mark in _CONTAINER_MARKS)


def _start(packages: Path, module: str, settings: str) -> list[str]:
    """Return the command that starts a worker from the packages in a folder, without the outer wall."""
    program = f"import sys; sys.path.insert(0, {str(packages)!r}); from {module} import main; main(sys.argv[1])"
    return [sys.executable, "-I", "-c", program, settings]


# -- in the background, so that TensorFlow loads while the grader itself does -----------------------------------------


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

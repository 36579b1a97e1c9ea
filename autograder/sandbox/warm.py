"""A warm worker: the process that has TensorFlow loaded and forks a runner for each submission."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from autograder.sandbox import bubblewrap
from autograder.sandbox.limits import Limits
from autograder.sandbox.session import Session, SessionLost, pair
from autograder.worker import protocol
from autograder.worker.walls import WallReport

PRELOAD = (
    "numpy", "tensorflow", "keras", "matplotlib.pyplot", "coursekit.plots", "coursekit.probes",
    "coursekit.quiet", "coursekit.rules",
)  # fmt: skip
OUTER_WALL = "bubblewrap"

_CONTAINER_MARKS = ("/.dockerenv", "/run/.containerenv")  # Docker's and podman's
_CONTAINER_OPTIONS = "--security-opt seccomp=unconfined --security-opt apparmor=unconfined"
_UBUNTU = "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
_START_SECONDS = 180.0
_STOP_SECONDS = 10.0
_BACKSTOP_STEPS = 100


class SandboxUnavailable(Exception):
    """The walls cannot be built on this machine; the text says why and what to type."""


class Sandbox:
    """One warm worker. `session` forks a fresh process for one submission; sessions may overlap.

    The worker dies with the thread that started it, so start it in a thread that lasts as long as the grading.

    Args:
        limits: what one submission may take.
        unsafe: go on without walls where they cannot be built (macOS, some containers). Student code then runs with
            the grader's own rights.
        preload: modules that every submission finds imported. None of them may run a TensorFlow operation.
        probes: package whose `load_probe` gives the probes.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        unsafe: bool = False,
        preload: Sequence[str] = PRELOAD,
        probes: str = "coursekit.probes",
    ):
        self.limits = limits or Limits()
        self.walls: list[WallReport] = []
        self.missing: dict[str, str] = {}
        self._unsafe = unsafe
        self._preload = list(preload)
        self._probes = probes
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None  # where cells run when there are no walls
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
        except SessionLost as error:
            self.close()
            raise SandboxUnavailable(str(error)) from error
        except SandboxUnavailable:
            self.close()
            raise

    def session(self) -> Session:
        """Return a fresh process behind walls of its own. A worker that has died is started again.

        Raises:
            SandboxUnavailable: a required wall does not stand.
            SessionLost: the worker cannot fork.
        """
        with self._lock:
            for last in (False, True):
                if self._process is None or self._process.poll() is not None:
                    self._stop()
                    self._start()
                try:
                    session = self._fork()
                    break
                except (SessionLost, OSError):
                    self._stop()
                    if last:
                        raise
        outer = [wall for wall in self.walls if wall.name == OUTER_WALL]
        self.walls = outer + session.walls
        fallen = [wall for wall in self.walls if wall.required and not wall.stands]
        if fallen and not self._unsafe:
            session.close()
            raise SandboxUnavailable("; ".join(f"{wall.name}: {wall.why}" for wall in fallen))
        return session

    def close(self) -> None:
        """Stop the worker and, with it, every session of it; one that is still starting as well."""
        if (process := self._process) is not None:
            process.kill()  # who waits for it to start holds the lock, and learns of its end
        with self._lock:
            self._stop()

    def _fork(self) -> Session:
        ours, theirs = pair()
        session = Session(ours, self.limits)
        limits = {
            "memory_bytes": self.limits.memory_bytes,
            "processes": self.limits.processes,
            "file_bytes": self.limits.file_bytes,
            "tmp_bytes": self.limits.tmp_bytes,
            "reply_bytes": self.limits.reply_bytes,
            "cpu_seconds": int(self.limits.cpu_seconds_per_step * _BACKSTOP_STEPS) + 1,
            "probes": self._probes,
        }
        with theirs:
            try:
                socket.send_fds(self._control, [json.dumps(limits).encode()], [theirs.fileno()])
            except OSError:
                session.close()
                raise
        session.greet()
        return session

    def _start(self) -> None:
        variant = bubblewrap.working_variant()
        walled = isinstance(variant, bubblewrap.Variant)
        self.walls = [outer_wall(variant)]
        if not walled and not self._unsafe:
            raise SandboxUnavailable(f"{self.walls[0].why}. {self.walls[0].remedy}")
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        settings = json.dumps({
            "control": theirs.fileno(),
            "preload": self._preload,
            "walled": walled,
            "become": variant.become if walled else None,
        })  # fmt: skip
        if walled:
            words = bubblewrap.interpreter("from worker.zygote import main; main(sys.argv[1])", settings)
            command, way = [*bubblewrap.arguments(variant), *words], bubblewrap.identity(variant)
        else:
            self._folder = tempfile.TemporaryDirectory(prefix="unsafe-")
            home = {"HOME": self._folder.name, "TMPDIR": self._folder.name}
            command, way = _without_walls(settings), {"env": bubblewrap.environment() | home, "cwd": self._folder.name}
        with theirs, tempfile.TemporaryFile() as complaints:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                **way,
            )
            theirs.close()
            try:
                self._control.settimeout(_START_SECONDS)
                ready = protocol.receive(self._control.recv)
                self._control.settimeout(None)
                self.missing = ready["missing"]
            except (OSError, EOFError, protocol.ProtocolError) as error:
                self._stop()
                complaints.seek(0)
                said = complaints.read().decode("utf-8", "replace").strip().splitlines()[-5:]
                raise SandboxUnavailable(f"the worker does not start: {' | '.join(said) or error}") from error

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.kill()
            self._process.wait(_STOP_SECONDS)
            self._process = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def outer_wall(variant: bubblewrap.Variant | str) -> WallReport:
    """Return the report on bubblewrap: that it works, or why not and what to type."""
    if isinstance(variant, bubblewrap.Variant):
        return WallReport(OUTER_WALL, stands=True)
    if sys.platform != "linux":
        remedy = "Grade in Docker or on Linux; --unsafe grades without walls, for work that you trust."
    elif "not installed" in variant:
        remedy = "Type: apt-get install bubblewrap (Fedora: dnf install bubblewrap). --unsafe grades without walls."
    elif _in_container():
        remedy = (
            f"This container was started with a profile that forbids the walls. Start it with {_CONTAINER_OPTIONS}, "
            f"as compose.yaml does; on an Ubuntu host, 24.04 or later, type there as well: {_UBUNTU}"
        )
    else:
        remedy = (
            f"Unprivileged user namespaces are refused here. On Ubuntu 24.04 and later type: {_UBUNTU}; "
            f"in a container, start it with {_CONTAINER_OPTIONS}"
        )
    return WallReport(OUTER_WALL, stands=False, why=variant, remedy=remedy)


def _in_container() -> bool:
    return any(Path(mark).exists() for mark in _CONTAINER_MARKS)


def _without_walls(settings: str) -> list[str]:
    root = Path(__file__).resolve().parents[2]
    program = (
        f"import sys; sys.path.insert(0, {str(root)!r}); from autograder.worker.zygote import main; main(sys.argv[1])"
    )
    return [sys.executable, "-I", "-c", program, settings]

"""One submission's process, seen from the trusted side: requests go in, checked replies come out, within limits.

Submissions run side by side, but one that may have used up the machine's memory runs alone: see `turn`.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import select
import signal
import socket
import stat
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, NoReturn

import psutil

from autograder.sandbox.meter import ProcessTree
from autograder.worker import protocol
from autograder.worker.protocol import WallReport

_MEBIBYTE = 1 << 20
_GIBIBYTE = 1 << 30
_BACKSTOP_STEPS = 100


def _cores() -> int:
    """Return the number of cores that this process may use: as many threads as that start TensorFlow's pools."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Limits:
    """Limits of one submission's process tree.

    Two budgets of time, so that a busy machine costs nobody a mark. The first is the submission's own CPU use. The
    second is for code that waits for ever: seconds by the clock, without those in which the code could go on and all
    processors were busy with something else. So what it counts is computing and waiting for something other than a
    processor: a sleep, a lock, input that does not come.

    Attributes:
        cpu_seconds_per_step: CPU seconds for one cell or one probe.
        wall_seconds_per_step: seconds by the clock for a step with that budget; a larger one has as many times more.
        patience: how many times longer a step may take when the machine gives it no processor. Beyond it the machine
            has failed, not the submission.
        memory_bytes: address space of each process, and resident memory of all of them together.
        processes: processes and threads.
        file_bytes: size of one file.
        tmp_bytes: size of everything written, /dev/shm included.
        reply_bytes: size of the arrays that one probe may return.
        pipes: pipes that are open at once. The kernel gives all processes of a user 1024 of full size.
    """

    cpu_seconds_per_step: float = 30.0
    wall_seconds_per_step: float = 180.0
    patience: float = 20.0
    memory_bytes: int = 8 * _GIBIBYTE
    processes: int = field(default_factory=lambda: 64 + 2 * _cores())
    file_bytes: int = 256 * _MEBIBYTE
    tmp_bytes: int = 256 * _MEBIBYTE
    reply_bytes: int = 64 * _MEBIBYTE
    pipes: int = 128

    @property
    def cpu_seconds_per_process(self) -> float:
        """Return the CPU seconds at which the kernel ends a process: a backstop far beyond what a step may use."""
        return self.cpu_seconds_per_step * _BACKSTOP_STEPS

    def wall_seconds(self, cpu_seconds: float) -> float:
        """Return how long a step with a budget of `cpu_seconds` may take by the clock."""
        return self.wall_seconds_per_step * cpu_seconds / self.cpu_seconds_per_step


Reason = Literal["timeout", "crashed", "memory", "protocol"]
HELLO_SECONDS = 120.0

_TEXT_CHARACTERS = 8192
_MIN_POLL_SECONDS = 0.02
_LONGEST_LOOK = 0.25
_ENDING_SECONDS = 10.0  # seconds from the end of a connection to the end of its process, where that is the reason
_MOST_COUNTED = 1.0  # of the seconds between two looks; when more have passed, the grader itself was not running
_CHUNK_BYTES = 1 << 18
_CREDENTIALS = struct.Struct("iII")
_NEARLY = 0.9  # of a limit of CPU time that the kernel keeps: it counts in other steps than the meter
_SEALS = {"namespaces", "system-call filter"}  # without these, code can have itself killed


class SessionLost(Exception):
    """The submission's process is gone, for `reason`; its state is lost, and only a new session can go on.

    Attributes:
        reason: ``timeout``, ``crashed``, ``memory`` or ``protocol``.
        seconds: CPU seconds that the step had used.
        wall: seconds by the clock that are counted; see `Limits`.
        by_signal: whether a signal ended it, as `abort` does, and not an exit of its own.
    """

    def __init__(
        self, reason: Reason, message: str, seconds: float = 0.0, wall: float = 0.0, *, by_signal: bool = False
    ):
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.seconds = seconds
        self.wall = wall
        self.by_signal = by_signal


class WorkerLost(Exception):
    """The submission's process is gone, or cannot be had, by no fault of the submission: it may start over."""


@dataclass
class _Used:
    """What one step has used so far: CPU seconds, and seconds by the clock that are counted."""

    cpu: float = 0.0
    wall: float = 0.0


@dataclass(frozen=True)
class CellError:
    """What a cell raised, in the words of the student's process: text to show, nothing to rely on."""

    type: str
    message: str
    traceback: str


@dataclass(frozen=True)
class CellReply:
    """What came of a cell. `seconds` is CPU time and `wall` the counted time by the clock, measured here."""

    error: CellError | None
    stdout: str
    seconds: float
    wall: float


@dataclass(frozen=True)
class Failure:
    """Why a probe has no outputs: `kind` is ``missing``, ``error``, ``contract`` or ``forbidden``."""

    kind: str
    message: str


@dataclass(frozen=True)
class ProbeReply:
    """What came of a probe: raw outputs by name, or a failure. `seconds` and `wall` as in `CellReply`."""

    outputs: dict[str, Any] | None
    failure: Failure | None
    seconds: float
    wall: float


class Session:
    """A runner that is ready for one submission. Use it as a context manager, from one thread.

    Args:
        connection: the grader's end of the connection to the runner.
        limits: what the submission may take.
        signal_that_ended: asks the worker, once the runner has ended, for the signal that ended it, or 0. Raises
            WorkerLost when the worker has ended too.
        alone: whether no other submission runs meanwhile, on a machine that had memory for it: then memory that the
            machine lacks all the same is this one's doing, where it held a lot of it.
    """

    def __init__(
        self, connection: socket.socket, limits: Limits, signal_that_ended: Callable[[], int], *, alone: bool = False
    ):
        self._connection = connection
        self._limits = limits
        self._signal_that_ended = signal_that_ended
        self._alone = alone
        self._large = large_for(limits)
        self._is_large = False
        self._tree: ProcessTree | None = None
        self._lost: SessionLost | WorkerLost | None = None
        self.walls: list[WallReport] = []

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The runner's process id on this machine, or None before the greeting and after the end."""
        return self._tree.process.pid if self._tree else None

    def greet(self) -> None:
        """Wait for the runner's greeting: its process id, vouched for by the kernel, and the walls that stand.

        Raises:
            WorkerLost: no greeting comes.
        """
        deadline = time.monotonic() + HELLO_SECONDS

        def read(count: int) -> bytes:
            self._connection.settimeout(max(deadline - time.monotonic(), 0.01))
            return self._connection.recv(count)

        try:
            self._connection.settimeout(HELLO_SECONDS)
            head, pid = _receive_with_sender(self._connection)
            hello: dict[str, Any] = protocol.decode(protocol.read_exactly(read, protocol.body_length(head)))
            self.walls = [WallReport(**wall) for wall in hello["walls"]]
            self._tree = ProcessTree(
                pid if pid else hello["pid"], memory_bytes=self._limits.memory_bytes + self._limits.tmp_bytes
            )
        except (OSError, EOFError, protocol.ProtocolError, KeyError, TypeError) as error:
            self.close()
            raise WorkerLost(f"the worker did not start a process: {error!r}") from error
        self._connection.setblocking(False)

    def run_cell(
        self, source: str, *, cpu_seconds: float | None = None, wall_seconds: float | None = None
    ) -> CellReply:
        """Run one cell and return what came of it; an exception in the cell is part of the reply.

        Args:
            source: the cell.
            cpu_seconds: budget of this step, instead of the one in the limits.
            wall_seconds: longest time by the clock, as `Limits` counts it, instead of the one that follows from the
                budget.

        Raises:
            WorkerLost: the process is gone by no fault of the submission.
            SessionLost: the process did not outlive the cell, or did not keep to the protocol.
        """
        reply, used = self._ask({"op": "cell", "source": source}, cpu_seconds, wall_seconds)
        if reply["op"] != "cell_done":
            self._raise_lost("protocol", "a reply that answers no cell", used)
        error = reply.get("error")
        if error is not None:
            error = CellError(**self._texts(error, ("type", "message", "traceback"), used))
        return CellReply(error, self._texts(reply, ("stdout",), used)["stdout"], used.cpu, used.wall)

    def probe(
        self,
        lab: str,
        exercise: str,
        inputs: Mapping[str, Any],
        *,
        mode: str = "call",
        forbidden: Sequence[str] = (),
        probe: Mapping[str, Any] | None = None,
        cpu_seconds: float | None = None,
        wall_seconds: float | None = None,
    ) -> ProbeReply:
        """Drive the student's object of `exercise` on `inputs` and return its outputs, unjudged.

        Args:
            lab: folder name of the lab.
            exercise: name of the exercise.
            inputs: arrays, numbers and text by name; all that the student's process learns.
            mode: how the object is driven; see `coursekit.probes`.
            forbidden: dotted names that may not be called meanwhile.
            probe: how the object is driven, as plain data, where the lab has no probe of its own for it.
            cpu_seconds: budget of this step, instead of the one in the limits.
            wall_seconds: longest time by the clock, as `Limits` counts it, instead of the one that follows from the
                budget.

        Raises:
            WorkerLost: the process is gone by no fault of the submission.
            SessionLost: the process did not outlive the probe, or did not keep to the protocol.
        """
        reply, used = self._ask(
            {
                "op": "probe", "lab": lab, "exercise": exercise, "mode": mode,
                "inputs": dict(inputs), "forbidden": list(forbidden),
                "probe": dict(probe) if probe else None,
            },
            cpu_seconds,
            wall_seconds,
        )  # fmt: skip
        if reply["op"] == "outputs" and isinstance(reply.get("outputs"), dict):
            return ProbeReply(reply["outputs"], None, used.cpu, used.wall)
        if reply["op"] != "failed":
            self._raise_lost("protocol", "a reply that answers no probe", used)
        failure = Failure(**self._texts(reply, ("kind", "message"), used))
        if failure.kind not in ("missing", "error", "contract", "forbidden"):
            self._raise_lost("protocol", "a failure of an unknown kind", used)
        return ProbeReply(None, failure, used.cpu, used.wall)

    def is_exhausted(self) -> bool:
        """Whether the submission holds so much of its limits that the next step might get too little."""
        if self._tree is None:
            return True
        return self._tree.tasks() > self._limits.processes / 2 or self._tree.holds_more_than(
            self._limits.memory_bytes // 2
        )

    def close(self) -> None:
        """End the submission's processes. A second call does nothing."""
        self._connection.close()
        if self._tree is not None:
            tree, self._tree = self._tree, None
            if not tree.kill():
                raise RuntimeError(f"process {tree.process.pid} of a submission outlived SIGKILL")

    def _texts(self, source: Any, names: Sequence[str], used: _Used) -> dict[str, str]:
        if not isinstance(source, dict) or not all(isinstance(source.get(name), str) for name in names):
            self._raise_lost("protocol", "a reply without its fields", used)
        return {name: source[name][:_TEXT_CHARACTERS] for name in names}

    def _raise_lost(self, reason: Reason, message: str, used: _Used) -> NoReturn:
        self._end(SessionLost(reason, message, used.cpu, used.wall))

    def _lose_the_ended(self, used: _Used) -> NoReturn:
        """The runner has hung up: find out by whose doing.

        Behind its walls nothing can send the first process of a namespace SIGKILL but the kernel and the machine's
        users. They do when the machine runs out of memory, which is the submission's own doing if it holds a lot and
        nobody else runs, and when a process reaches its limit of CPU time.
        """
        assert self._tree is not None  # a request was under way
        if self._tree.ran_out_of_memory():
            limit = self._limits.memory_bytes / (1 << 30)
            self._raise_lost("memory", f"more than {limit:.3g} GiB of memory", used)
        if not self._tree.ends_within(_ENDING_SECONDS):
            self._raise_lost("crashed", "the process hung up", used)
        try:
            by = self._signal_that_ended()
        except WorkerLost as lost:
            self._end(lost)
        if by == signal.SIGKILL and _SEALS.issubset(wall.name for wall in self.walls if wall.stands):
            if self._is_large and self._alone:
                self._raise_lost("memory", "the machine ran out of memory, and it held a lot of it", used)
            if self._tree.cpu_seconds() > _NEARLY * self._limits.cpu_seconds_per_process:
                self._raise_lost("timeout", "it used up the seconds of computing that one process has", used)
            self._end(WorkerLost("its process was killed from outside"))
        self._end(SessionLost("crashed", "the process ended", used.cpu, used.wall, by_signal=by != 0))

    def _lose_to_the_kernel(self, grown: int, used: _Used) -> NoReturn:
        """The kernel holds much more than before. It is this submission's if it goes when only this one ends."""
        assert self._tree is not None
        tree, held = self._tree, f"{grown / (1 << 30):.2g} GiB of the kernel's memory"
        self.close()
        deadline = time.monotonic() + _ENDING_SECONDS
        while self._alone and tree.kernel_growth() > grown / 2 and time.monotonic() < deadline:
            time.sleep(_LONGEST_LOOK)
        if self._alone and tree.kernel_growth() <= grown / 2:
            self._raise_lost("memory", held, used)
        self._end(WorkerLost(f"while it ran, somebody came to hold {held}"))

    def _end(self, lost: SessionLost | WorkerLost) -> NoReturn:
        self._lost = lost
        self.close()
        raise lost

    def _ask(
        self, request: dict[str, Any], cpu_seconds: float | None, wall_seconds: float | None
    ) -> tuple[dict[str, Any], _Used]:
        if self._lost is not None:
            raise self._lost
        if self._tree is None:
            raise RuntimeError("this session is closed")
        budget = self._limits.cpu_seconds_per_step if cpu_seconds is None else cpu_seconds
        longest = self._limits.wall_seconds(budget) if wall_seconds is None else wall_seconds
        request["id"] = secrets.token_hex(16)
        frame = protocol.encode(request)
        look = _MIN_POLL_SECONDS
        try:
            meter = _StepMeter(self._tree)
            exchange = _Exchange(self._connection, frame, self._limits.reply_bytes)
            while not exchange.step(look):
                used = meter.look()
                if used.cpu > budget:
                    self._raise_lost("timeout", f"more than {budget:g} seconds of computing", used)
                if used.wall > longest:
                    self._raise_lost("timeout", f"no answer within {longest:.0f} seconds by the clock", used)
                if meter.elapsed > longest * self._limits.patience:
                    self._end(WorkerLost(f"in {meter.elapsed:.0f} seconds the machine gave its code {used.cpu:.1f}"))
                if self._tree.tasks() >= self._limits.processes * 0.9:
                    self._raise_lost("memory", f"as many processes and threads as {self._limits.processes}", used)
                if self._tree.pipes() > self._limits.pipes:
                    self._raise_lost("memory", f"more than {self._limits.pipes} pipes at once", used)
                if self._tree.holds_more_than(self._limits.memory_bytes):
                    limit = self._limits.memory_bytes / (1 << 30)
                    self._raise_lost("memory", f"more than {limit:.3g} GiB of memory", used)
                self._is_large = self._is_large or self._tree.holds_more_than(self._large)
                if (grown := self._tree.kernel_growth()) > self._large:
                    self._lose_to_the_kernel(grown, used)
                look = min(look * 1.5, _LONGEST_LOOK)
            used = meter.finish()
            reply = protocol.decode(exchange.body())
        except (ConnectionError, EOFError):
            self._lose_the_ended(meter.finish())
        except protocol.ProtocolError as error:
            self._raise_lost("protocol", f"a reply that is no message: {error}", meter.finish())
        except OSError as error:  # no descriptor is left to look at the process with, for example
            self._end(WorkerLost(f"its process cannot be measured: {error}"))
        if reply.get("id") != request["id"] or not isinstance(reply.get("op"), str):
            self._raise_lost("protocol", "a reply to a question that was not asked", used)
        return reply, used


class _StepMeter:
    """Measures one step of a process tree, look by look."""

    def __init__(self, tree: ProcessTree):
        self._tree = tree
        self._cpu_before = tree.cpu_seconds()
        self._begun = self._looked = time.monotonic()
        self._used = _Used()

    @property
    def elapsed(self) -> float:
        """Seconds by the clock, all of them."""
        return self._looked - self._begun

    def look(self) -> _Used:
        """Return what is used up to now."""
        computed = self._compute()
        now = time.monotonic()
        passed, self._looked = min(now - self._looked, _MOST_COUNTED), now
        self._used.wall += min(passed, computed) if self._tree.waits_for_processor() else passed
        return self._used

    def finish(self) -> _Used:
        """Return what the whole step has used. Of the time since the last look only computing is counted."""
        self._used.wall += self._compute()
        return self._used

    def _compute(self) -> float:
        computed = self._tree.cpu_seconds() - self._cpu_before - self._used.cpu
        self._used.cpu += computed
        return computed


@dataclass
class _Exchange:
    """One request on its way out and one reply on its way in, on a socket that does not block."""

    connection: socket.socket
    outgoing: bytes
    limit: int
    incoming: bytearray = field(default_factory=bytearray)
    sent: int = 0
    poller: select.poll = field(default_factory=select.poll)

    def __post_init__(self) -> None:
        with contextlib.suppress(BlockingIOError):
            if self.connection.recv(1):
                raise protocol.ProtocolError("bytes that nobody asked for")
            raise EOFError

    def step(self, seconds: float) -> bool:
        """Move bytes for up to `seconds`; return whether the reply is complete.

        Raises:
            EOFError, ConnectionError: the other side is gone.
            protocol.ProtocolError: the reply is too large, or comes before the request is read.
        """
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            unsent = self.sent < len(self.outgoing)
            self.poller.register(self.connection, select.POLLIN | (select.POLLOUT if unsent else 0))
            for _, event in self.poller.poll(max(left * 1000, 1)):
                if event & select.POLLOUT:
                    chunk = memoryview(self.outgoing)[self.sent : self.sent + _CHUNK_BYTES]
                    self.sent += self.connection.send(chunk)
                if event & ~select.POLLOUT:  # something to read, or the end
                    try:
                        part = self.connection.recv(_CHUNK_BYTES)
                    except BlockingIOError as error:  # an urgent byte wakes the reader, and is in no stream
                        raise protocol.ProtocolError("bytes out of band") from error
                    if not part:
                        raise EOFError
                    self.incoming += part
                    if self._complete():
                        return True
        return False

    def body(self) -> bytes:
        """Return the reply without its length."""
        return bytes(self.incoming[protocol.LENGTH_BYTES :])

    def _complete(self) -> bool:
        if len(self.incoming) < protocol.LENGTH_BYTES:
            return False
        head = bytes(self.incoming[: protocol.LENGTH_BYTES])
        whole = protocol.LENGTH_BYTES + protocol.body_length(head, limit=self.limit)
        if len(self.incoming) > whole:
            raise protocol.ProtocolError("bytes after the reply")
        if len(self.incoming) == whole and self.sent < len(self.outgoing):
            raise protocol.ProtocolError("a reply before the question was read")
        return len(self.incoming) == whole


def large_for(limits: Limits) -> int:
    """Return from how many bytes on a submission that runs alone is held responsible for a machine without memory."""
    return min(limits.memory_bytes, psutil.virtual_memory().total) // 4


def pair() -> tuple[socket.socket, socket.socket]:
    """Return the grader's and the runner's end of a new connection; the kernel vouches for who sends on it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    if sys.platform == "linux":
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return ours, theirs


def _receive_with_sender(connection: socket.socket) -> tuple[bytes, int]:
    if sys.platform != "linux":
        return connection.recv(protocol.LENGTH_BYTES, socket.MSG_WAITALL), 0
    head, ancillary, _, _ = connection.recvmsg(
        protocol.LENGTH_BYTES, socket.CMSG_SPACE(_CREDENTIALS.size), socket.MSG_WAITALL
    )
    if not head:
        raise EOFError
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
            pid, _, _ = _CREDENTIALS.unpack(data[: _CREDENTIALS.size])
            if pid in (0, os.getpid()):
                raise EOFError
            return head, pid
    raise EOFError


# -- whose turn it is -------------------------------------------------------------------------------------------------


_LONGEST_WAIT = 1800.0  # seconds: a grader that was stopped in its turn holds up nobody for ever
_LOOK_AGAIN = 0.05


@contextmanager
def turn(*, alone: bool) -> Iterator[bool]:
    """Wait until a submission may run, beside others or `alone`; yield whether it is alone.

    "Alone" is among all graders of this user on the machine. If these cannot be known, nobody waits, and nobody counts
    as alone.
    """
    with ExitStack() as locks:
        try:
            door, room = (locks.enter_context(_file(name)) for name in ("door", "room"))
        except OSError:
            yield False
            return
        how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        have = _lock(door, how) and _lock(room, how)  # who wants to be alone keeps the door, so that the room empties
        if not alone:
            fcntl.flock(door, fcntl.LOCK_UN)
        try:
            yield alone and have
        finally:  # not only closed: a child of the grader may have the file, too
            fcntl.flock(room, fcntl.LOCK_UN)
            fcntl.flock(door, fcntl.LOCK_UN)


def _file(name: str) -> IO[bytes]:
    """Open a lock file in a folder that only this user can open, so that no other account can lock it."""
    folder = Path(tempfile.gettempdir(), f"course-grader-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(folder)
    return (folder / name).open("ab")


def _lock(file: IO[bytes], how: int) -> bool:
    deadline = time.monotonic() + _LONGEST_WAIT
    while time.monotonic() < deadline:
        try:
            fcntl.flock(file, how | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(_LOOK_AGAIN)
    return False

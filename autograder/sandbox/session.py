"""One submission's process, seen from the trusted side: requests go in, checked replies come out."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import socket
import struct
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from autograder.sandbox.limits import Limits
from autograder.sandbox.meter import Tree
from autograder.worker import protocol
from autograder.worker.walls import WallReport

Reason = Literal["timeout", "crashed", "memory", "protocol"]
HELLO_SECONDS = 60.0

_TEXT_CHARACTERS = 8192
_SHORTEST_LOOK = 0.02
_LONGEST_LOOK = 0.25
_CHUNK_BYTES = 1 << 18
_CREDENTIALS = struct.Struct("iII")


class SessionLost(Exception):
    """The submission's process is gone, for `reason`; its state is lost, and only a new session can go on.

    Attributes:
        reason: ``timeout``, ``crashed``, ``memory`` or ``protocol``.
        seconds: CPU seconds that the step had used.
    """

    def __init__(self, reason: Reason, message: str, seconds: float = 0.0):
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.seconds = seconds


@dataclass(frozen=True)
class CellError:
    """What a cell raised, in the words of the student's process: text to show, nothing to rely on."""

    type: str
    message: str
    traceback: str


@dataclass(frozen=True)
class CellReply:
    """What came of a cell. `seconds` is CPU time, measured here."""

    error: CellError | None
    stdout: str
    seconds: float


@dataclass(frozen=True)
class Failure:
    """Why a probe has no outputs: `kind` is ``missing``, ``error``, ``contract`` or ``forbidden``."""

    kind: str
    message: str
    traceback: str


@dataclass(frozen=True)
class ProbeReply:
    """What came of a probe: raw outputs by name, or a failure. `seconds` is CPU time, measured here."""

    outputs: dict[str, Any] | None
    failure: Failure | None
    seconds: float


class Session:
    """A runner that is ready for one submission. Use it as a context manager, from one thread."""

    def __init__(self, connection: socket.socket, limits: Limits):
        self._connection = connection
        self._limits = limits
        self._tree: Tree | None = None
        self._lost: SessionLost | None = None
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
            SessionLost: no greeting comes.
        """
        deadline = time.monotonic() + HELLO_SECONDS
        try:
            self._connection.settimeout(HELLO_SECONDS)
            head, pid = _receive_with_sender(self._connection)
            body = bytearray()
            length = protocol.body_length(head)
            while len(body) < length:
                self._connection.settimeout(max(deadline - time.monotonic(), 0.01))
                part = self._connection.recv(length - len(body))
                if not part:
                    raise EOFError
                body += part
            hello = protocol.decode(bytes(body))
            self.walls = [WallReport(**wall) for wall in hello["walls"]]
            self._tree = Tree(pid if pid else hello["pid"])
        except (OSError, EOFError, protocol.ProtocolError, KeyError, TypeError) as error:
            self.close()
            raise SessionLost("crashed", f"the worker did not start a process: {error!r}") from error
        self._connection.setblocking(False)

    def run_cell(
        self, source: str, *, cpu_seconds: float | None = None, wall_seconds: float | None = None
    ) -> CellReply:
        """Run one cell and return what came of it; an exception in the cell is part of the reply.

        Args:
            source: the cell.
            cpu_seconds: budget of this step, instead of the one in the limits.
            wall_seconds: longest time by the clock, instead of the one that follows from the budget.

        Raises:
            SessionLost: the process did not outlive the cell, or did not keep to the protocol.
        """
        reply, seconds = self._ask({"op": "cell", "source": source}, cpu_seconds, wall_seconds)
        if reply["op"] != "cell_done":
            self._lose("protocol", "a reply that answers no cell", seconds)
        error = reply.get("error")
        if error is not None:
            error = CellError(**self._texts(error, ("type", "message", "traceback"), seconds))
        return CellReply(error, self._texts(reply, ("stdout",), seconds)["stdout"], seconds)

    def probe(
        self,
        lab: str,
        exercise: str,
        inputs: Mapping[str, Any],
        *,
        mode: str = "call",
        forbidden: Sequence[str] = (),
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
            cpu_seconds: budget of this step, instead of the one in the limits.
            wall_seconds: longest time by the clock, instead of the one that follows from the budget.

        Raises:
            SessionLost: the process did not outlive the probe, or did not keep to the protocol.
        """
        reply, seconds = self._ask(
            {
                "op": "probe", "lab": lab, "exercise": exercise, "mode": mode,
                "inputs": dict(inputs), "forbidden": list(forbidden),
            },
            cpu_seconds,
            wall_seconds,
        )  # fmt: skip
        if reply["op"] == "outputs" and isinstance(reply.get("outputs"), dict):
            return ProbeReply(reply["outputs"], None, seconds)
        if reply["op"] != "failed":
            self._lose("protocol", "a reply that answers no probe", seconds)
        failure = Failure(**self._texts(reply, ("kind", "message", "traceback"), seconds))
        if failure.kind not in ("missing", "error", "contract", "forbidden"):
            self._lose("protocol", "a failure of an unknown kind", seconds)
        return ProbeReply(None, failure, seconds)

    def is_exhausted(self) -> bool:
        """Whether so much is taken, of what the submission may use, that the next step might not get its share."""
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

    def _texts(self, source: Any, names: Sequence[str], seconds: float) -> dict[str, str]:
        if not isinstance(source, dict) or not all(isinstance(source.get(name), str) for name in names):
            self._lose("protocol", "a reply without its fields", seconds)
        return {name: source[name][:_TEXT_CHARACTERS] for name in names}

    def _lose(self, reason: Reason, message: str, seconds: float) -> None:
        self._lost = SessionLost(reason, message, seconds)
        self.close()
        raise self._lost

    def _ask(
        self, request: dict[str, Any], cpu_seconds: float | None, wall_seconds: float | None
    ) -> tuple[dict[str, Any], float]:
        if self._lost is not None:
            raise self._lost
        if self._tree is None:
            raise RuntimeError("this session is closed")
        budget = self._limits.cpu_seconds_per_step if cpu_seconds is None else cpu_seconds
        longest = self._limits.wall_seconds(budget) if wall_seconds is None else wall_seconds
        request["id"] = secrets.token_hex(16)
        frame = protocol.encode(request)
        before = self._tree.cpu_seconds()
        started = time.monotonic()
        look = _SHORTEST_LOOK
        try:
            exchange = _Exchange(self._connection, frame, self._limits.reply_bytes)
            while not exchange.step(look):
                used = self._tree.cpu_seconds() - before
                if used > budget:
                    self._lose("timeout", f"more than {budget:g} seconds of computing", used)
                if time.monotonic() - started > longest:
                    self._lose("timeout", f"no answer within {longest:.0f} seconds by the clock", used)
                if self._tree.tasks() >= self._limits.processes * 0.9:
                    self._lose("memory", f"as many processes and threads as {self._limits.processes}", used)
                if self._tree.holds_more_than(self._limits.memory_bytes):
                    limit = self._limits.memory_bytes / (1 << 30)
                    self._lose("memory", f"more than {limit:.3g} GiB of memory", used)
                look = min(look * 1.5, _LONGEST_LOOK)
            seconds = self._tree.cpu_seconds() - before
            reply = protocol.decode(exchange.body())
        except (ConnectionError, EOFError):
            self._lose("crashed", "the process ended", self._tree.cpu_seconds() - before)
        except protocol.ProtocolError as error:
            self._lose("protocol", f"a reply that is no message: {error}", self._tree.cpu_seconds() - before)
        if reply.get("id") != request["id"] or not isinstance(reply.get("op"), str):
            self._lose("protocol", "a reply to a question that was not asked", seconds)
        return reply, seconds


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
                    part = self.connection.recv(_CHUNK_BYTES)
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

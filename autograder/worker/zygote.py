"""The warm parent: imports TensorFlow once, runs no operation, and forks one runner for each submission.

It is told two things only, over the socket it was started with: to fork, with the limits of the runner and its
connection to the grader; and to say how a runner ended. Nothing that a student may not see is ever in its memory,
because its children inherit it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from . import protocol, runner, walls

REQUEST_BYTES = 65536
COLLECT_AFTER = 10_000  # new objects: a layer is made of hundreds, and to look through them often takes its own time


def main(configuration: str) -> None:
    """Serve until the grader hangs up.

    Args:
        configuration: JSON with ``control`` (descriptor of the control socket), ``preload`` (modules to import),
            ``walled`` (whether bubblewrap stands around this process), ``become`` (user to become, or null), ``user``
            and ``home`` (whom submissions become in place of walls, and the folder that is theirs; or null).
    """
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # who starts a grader may ignore it, and that is inherited
    settings = json.loads(configuration)
    if settings["become"] is not None:
        walls.become(settings["become"])
    with socket.socket(fileno=settings["control"]) as control:
        warm = _Warm(settings["preload"], walled=settings["walled"], user=settings["user"], home=settings["home"])
        control.sendall(protocol.encode({"op": "ready", "missing": warm.missing}))
        while True:
            request, descriptors, _, _ = socket.recv_fds(control, REQUEST_BYTES, 1)
            if not request:
                return
            reply = warm.answer(json.loads(request), *descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            control.sendall(protocol.encode(reply))


class _Warm:
    """Everything that is done once, so that a fork has it."""

    def __init__(self, preload: Sequence[str], *, walled: bool, user: int | None = None, home: str | None = None):
        self.walled = walled
        self.user, self.home = user, home
        self.missing: dict[str, protocol.Value] = {}
        for name in preload:
            try:
                importlib.import_module(name)
            except Exception as error:  # an optional module may fail in any way; the notebook that needs it will say so
                self.missing[name] = f"{type(error).__name__}: {error}"
        _run_operations_as_kernels()
        self.shell = runner.make_shell()
        self.proc = {}
        for name in walls.PROC_FILES:
            with contextlib.suppress(OSError), open(f"/proc/{name}", "rb") as file:
                self.proc[name] = file.read()
        self.rules: Any = None
        self.no_rules = "the course runs without it on this system"
        if sys.platform == "linux":
            try:
                self.rules = walls.system_call_filter()
            except (ImportError, OSError) as error:
                self.no_rules = str(error)
        self.running: set[int] = set()
        self.ended: dict[int, int] = {}
        gc.collect()
        gc.freeze()
        gc.set_threshold(COLLECT_AFTER, *gc.get_threshold()[1:])

    def answer(self, request: dict[str, Any], *descriptors: int) -> dict[str, Any]:
        """Do what the grader asks for, and say what came of it."""
        if request["op"] == "fate":
            return {"op": "fate", "signal": self._signal_that_ended(request["child"])}
        (descriptor,) = descriptors
        try:
            child = self._fork(descriptor, request["limits"])
        except OSError as error:  # the process table is full, or the memory; it need not stay so
            return {"op": "refused", "why": os.strerror(error.errno or 0)}
        return {"op": "forked", "child": child}

    def _signal_that_ended(self, child: int) -> int:
        """Wait for the first child of a runner, which waits for the runner, and return the signal, or 0."""
        if child in self.running:
            self._collect(child)
        return self.ended.get(child, 0)

    def _collect(self, child: int, options: int = 0) -> None:
        found, status = os.waitpid(child, options)
        if found:
            self.running.remove(child)
            self.ended[child] = abs(os.waitstatus_to_exitcode(status))

    def _fork(self, descriptor: int, limits: dict[str, Any]) -> int:
        """Fork twice: the first child enters new namespaces, the second is process 1 in them and the runner.

        The first child waits for the runner, and its exit status is the signal that ended the runner, or 0.
        """
        if self.user is not None:  # one submission at a time: whoever cleans up after it has to be done
            walls.end_processes(self.user)
        for child in tuple(self.running):
            self._collect(child, os.WNOHANG if self.user is None else 0)
        first = os.fork()
        if first:
            self.running.add(first)
            return first
        ended_by = 0
        try:
            connection = _keep_only(descriptor)
            reports = []
            if self.walled:
                reports.append(_build("namespaces", walls.enter_namespaces))
            elif self.user is not None and self.home is not None:
                walls.adopt_orphans()
                reports.append(_build("own files", partial(walls.own_folder, self.user, self.home)))
            second = os.fork()
            if second == 0:
                os.setsid()
                os.nice(5)  # a grader that waits for its turn behind a fork bomb could not stop it
                reports += self._walls(limits)
                runner.serve(connection, self.shell, limits, reports)
            connection.close()  # the runner alone holds it: when it ends, the grader hears of it
            status = os.waitpid(second, 0)[1] if self.user is None else walls.outlive(second, self.user)
            ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        finally:
            os._exit(ended_by)

    def _walls(self, limits: dict[str, Any]) -> list[protocol.WallReport]:
        reports = []
        if self.walled:
            with contextlib.suppress(OSError):
                walls.die_first()
            reports.append(_build("own files", lambda: walls.own_files(limits["tmp_bytes"])))
            reports.append(_build("hidden processes", lambda: walls.hide_processes(self.proc)))
        elif self.user is not None and self.home is not None:
            reports.append(_build("another user", partial(walls.live_as, self.user, self.home)))
        reports.append(
            _build(
                "resource limits",
                lambda: walls.limit_resources(
                    memory=limits["memory_bytes"],
                    processes=limits["processes"],
                    file_size=limits["file_bytes"],
                    cpu_seconds=limits["cpu_seconds"],
                ),
            )
        )
        if self.walled:
            reports.append(_build("no capabilities", walls.drop_capabilities))
        if self.walled or self.user is not None:
            reports.append(_build("no new privileges", walls.forbid_new_privileges))
            reports.append(_build("system-call filter", self._filter, required=not self.walled))
        return reports

    def _filter(self) -> None:
        if self.rules is None:
            raise ImportError(self.no_rules)
        self.rules.load()


def _run_operations_as_kernels() -> None:
    """Let TensorFlow run an operation as the kernel it is, outside of `tf.function`.

    By default it makes a function of one node for each kind of operation and size that it meets, and optimises it: a
    fifth of the time of a lab's cases, for kernels and results that are the same. The context in which operations
    run does not exist yet, and the parent makes none: the children will make theirs with this choice.
    """
    calls: Any = sys.modules.get("tensorflow.python.pywrap_tfe")
    choose = getattr(calls, "TFE_ContextOptionsSetRunEagerOpAsFunction", None)
    if choose is not None:  # other releases have other names, and are slower
        calls.TFE_ContextOptionsSetRunEagerOpAsFunction = lambda options, _: choose(options, False)


def _build(name: str, build: Callable[[], None], *, required: bool = True) -> protocol.WallReport:
    try:
        build()
    except (OSError, ImportError, ValueError) as error:
        return protocol.WallReport(name, stands=False, why=str(error), required=required)
    return protocol.WallReport(name, stands=True, required=required)


def _keep_only(descriptor: int) -> socket.socket:
    """Close every descriptor but this one, which becomes 3; input is empty and output goes nowhere."""
    null = os.open(os.devnull, os.O_RDWR)
    kept = os.dup(descriptor)
    for target in (0, 1, 2):
        os.dup2(null, target)
    if kept != 3:
        os.dup2(kept, 3, inheritable=False)
    os.closerange(4, os.sysconf("SC_OPEN_MAX"))
    return socket.socket(fileno=3)

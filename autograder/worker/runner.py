"""Runs one submission's cells and drives its objects; everything here shares a process with student code.

Nothing that this process says is trusted. It keeps its own references to what it needs, so that a notebook that
patches the standard library does not spoil its own later exercises by accident; a notebook that does so on purpose
loses its own steps and nobody else's.
"""

from __future__ import annotations

import builtins
import io
import os
import random
import socket
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any

import numpy as np
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from coursekit.check.attempts import attempt, failed
from coursekit.check.rules import guard
from coursekit.probes.layers import LayerCache, sharing

from . import protocol
from .protocol import WallReport

EXCERPT_BYTES = 8192
NAME_CHARACTERS = 200
MESSAGE_CHARACTERS = 2000
TRACEBACK_CHARACTERS = 6000


class _SilentDisplayHook(DisplayHook):
    def __call__(self, result: Any = None) -> None:
        if result is not None:
            assert self.shell is not None
            self.shell.user_ns["_"] = result


class _SilentDisplayPublisher(DisplayPublisher):
    def publish(self, *_: Any, **__: Any) -> None:
        """Drop what is displayed: it is no part of a score."""

    def clear_output(self, wait: bool = False) -> None:
        """There is no output area."""


class _Excerpt(io.RawIOBase):
    """Keeps the first bytes written and counts the rest as written."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        if len(self.kept) < EXCERPT_BYTES:
            self.kept += view[: EXCERPT_BYTES - len(self.kept)]
        return len(view)

    def fileno(self) -> int:
        return 1  # programs that are started write to a descriptor; it leads nowhere


class _Shell(InteractiveShell):
    """IPython without a screen: nothing is displayed and no error is printed; the grader reads the error itself."""

    displayhook_class = Type(_SilentDisplayHook)
    display_pub_class = Type(_SilentDisplayPublisher)

    def showtraceback(self, *_: Any, **__: Any) -> None:
        pass

    def showsyntaxerror(self, *_: Any, **__: Any) -> None:
        pass

    def enable_gui(self, gui: str | None = None) -> None:
        pass  # `%matplotlib inline` asks for this

    def ask_exit(self) -> None:
        pass  # `exit` ends a kernel; here the next cell runs all the same


def make_shell() -> InteractiveShell:
    """Return the IPython shell in which cells run. Made once, in the parent: it starts no thread and opens no file."""
    config = Config()
    config.HistoryManager.enabled = False
    shell = _Shell.instance(config=config)
    shell.run_cell("pass", store_history=False)
    builtins.get_ipython = shell.get_ipython  # type: ignore[attr-defined]  # as IPython itself does
    return shell


def serve(
    connection: socket.socket, shell: InteractiveShell, limits: Mapping[str, Any], walls: Sequence[WallReport]
) -> None:
    """Greet the grader, then answer one request after the other until it hangs up. Does not return."""
    send, receive, leave = connection.sendall, connection.recv, os._exit
    encode, decode_next = protocol.encode, protocol.receive
    limit = limits["reply_bytes"]
    if any(wall.name == "own files" and wall.stands for wall in walls):
        sys.path.insert(0, "")  # as in a kernel: what a notebook writes with %%writefile can be imported
    send(encode({"op": "hello", "pid": os.getpid(), "walls": [dict(vars(wall)) for wall in walls]}))
    undo_hooks = _Hooks(shell).undo
    run, probes = partial(_run_cell, shell), _Probes(shell, limits["probes"])

    def run_cell(request: Mapping[str, Any]) -> dict[str, Any]:
        probes.forget()
        return run(request)

    answers: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {"cell": run_cell, "probe": probes}
    try:
        while True:
            request: dict[str, Any] = decode_next(receive)
            undo_hooks()
            reply = answers[request["op"]](request)
            try:
                frame = encode({**reply, "id": request["id"]}, limit=limit)
            except protocol.ProtocolError as error:
                frame = encode({**_failed("contract", f"the result {error}"), "id": request["id"]})
            send(frame)
    finally:
        leave(0)


class _Hooks:
    """What IPython and Python call around every cell, as it was before the first one.

    A hook that a cell installs ends with it: one that raises, rewrites or traces would spoil all later exercises.
    """

    def __init__(self, shell: InteractiveShell):
        manager = shell.input_transformer_manager
        names = ("cleanup_transforms", "line_transforms", "token_transformers")
        places = [(manager, name) for name in names]
        places += [(shell, "ast_transformers"), (shell, "input_transformers_post")]
        self._lists = [(owner, name, tuple(getattr(owner, name))) for owner, name in places]
        self._events = shell.events
        self._callbacks = {event: tuple(called) for event, called in shell.events.callbacks.items()}
        self._settrace, self._setprofile = sys.settrace, sys.setprofile

    def undo(self) -> None:
        """Put everything back."""
        self._settrace(None)
        self._setprofile(None)
        self._events.callbacks = {event: list(called) for event, called in self._callbacks.items()}
        for owner, name, original in self._lists:
            setattr(owner, name, list(original))


def _run_cell(shell: InteractiveShell, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a ``cell`` request: run the source as a notebook cell."""
    kept = _Excerpt()
    sys.stdout = io.TextIOWrapper(kept, encoding="utf-8", errors="replace", write_through=True)
    sys.stderr = io.TextIOWrapper(_Excerpt(), encoding="utf-8", errors="replace", write_through=True)
    error: BaseException | None = None
    try:
        result = shell.run_cell(request["source"], store_history=False, silent=False)
        error = result.error_before_exec or result.error_in_exec
    except BaseException as raised:  # patched hooks and event callbacks raise outside of IPython's own guard
        error = raised
    return {
        "op": "cell_done",
        "error": None if error is None else _describe(error),
        "stdout": bytes(kept.kept).decode("utf-8", "replace"),
    }


class _Probes:
    """Answers ``probe`` requests: drives the student's object and returns what comes out."""

    def __init__(self, shell: InteractiveShell, package: str):
        from importlib import import_module

        self.namespace = shell.user_ns
        self.package = package
        self.import_module = import_module
        self.exercise: tuple[str, str] | None = None
        self.layers: Any = None

    def forget(self) -> None:
        """Forget the layers built so far: a cell may have changed the code."""
        self.exercise = None

    def __call__(self, request: Mapping[str, Any]) -> dict[str, Any]:
        sys.stdout = sys.stderr = io.TextIOWrapper(_Excerpt(), encoding="utf-8", errors="replace", write_through=True)
        try:
            probes, description = self.import_module(self.package), request.get("probe")
            if description:
                probe = probes.described(request["exercise"], description)
            else:
                probe = probes.load_probe(request["lab"], request["exercise"])
            if self.exercise != (exercise := (request["lab"], request["exercise"])):
                self.exercise, self.layers = exercise, LayerCache()
                _seed_tensorflow()
            _seed()
            with guard(request["forbidden"]), sharing(self.layers):
                tried = attempt(probe, self.namespace, request["inputs"], request["mode"])
        except BaseException as error:  # patched libraries fail outside of the attempt; nobody here interrupts it
            tried = failed(error, self.namespace)
        if tried.outputs is None:
            return _failed(tried.kind, tried.message)
        return {"op": "outputs", "outputs": tried.outputs}


def _failed(kind: str | None, message: str) -> dict[str, Any]:
    return {"op": "failed", "kind": kind, "message": message}


def _seed() -> None:
    """Start the random numbers afresh, so that a second grading of the same work gives the same marks."""
    random.seed(0)
    np.random.seed(0)


def _seed_tensorflow() -> None:
    """Seed TensorFlow, too. It then drops its compiled kernels, which would be too slow for every single case."""
    if "tensorflow" in sys.modules:
        sys.modules["tensorflow"].random.set_seed(0)


def _describe(error: BaseException) -> dict[str, str]:
    try:
        name = _clean(type(error).__name__)[:NAME_CHARACTERS]
    except BaseException:
        name = "Exception"
    return {"type": name, "message": _text(error), "traceback": _traceback(error)}


def _text(error: BaseException) -> str:
    try:
        return _clean(str(error)[:MESSAGE_CHARACTERS])
    except BaseException:
        return "(the error's own text cannot be shown)"


def _traceback(error: BaseException) -> str:
    try:
        kept = _own_frames(error.__traceback__)
        lines = traceback.format_exception(type(error), error, kept, limit=-8, chain=False)
        # Cut first: each pass over a message of a hundred megabytes would cost the student's own time.
        return _clean("".join(line[-TRACEBACK_CHARACTERS:] for line in lines)[-TRACEBACK_CHARACTERS:])
    except BaseException:
        return ""


def _own_frames(frames: TracebackType | None) -> TracebackType | None:
    """Skip the frames of IPython and of this package that lead to the student's code."""
    folder = os.path.dirname(__file__)
    while frames is not None:
        filename = frames.tb_frame.f_code.co_filename
        if not filename.startswith(folder) and f"{os.sep}IPython{os.sep}" not in filename:
            return frames
        frames = frames.tb_next
    return None


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")

"""A child process that reads strangers' bytes: it has limits, and its end costs only what it was reading.

Pattern, parser and rules of a submission run there. Whatever they take too much of, the kernel ends the child, and the
submission gets a sentence. One child serves many submissions, one after the other, so that each costs milliseconds.

It runs none of a submission's code: it is our own code at work, on bytes that it does not trust. So the answers that
come back are pickles.
"""

from __future__ import annotations

import math
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
import traceback
import weakref
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any

import psutil

import autograder
from autograder.read.reading import Unreadable
from autograder.read.tree import SECONDS

MEMORY_BYTES = 2 * 2**30
WORN_BYTES = 512 * 2**20  # a child that still holds more after an answer gives it back by ending
# nbformat's validator would build a grammar of web addresses, which takes two seconds and is not used here.
_START = """
import sys
sys.path[:] = sys.argv[2:]
sys.modules["rfc3987_syntax"] = None
from autograder.read.child import serve
serve(int(sys.argv[1]))
"""
_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class ReaderLost(Exception):
    """No child could read the submission, through no fault of the submission; nothing is said about it."""


class Children:
    """Child processes, started when they are needed, that call methods of one object. Threads may ask at once.

    Args:
        work: the object; a copy of it is in every child. Its methods take and return what can be pickled.
        cpu_seconds: processor time for one call.
        memory_bytes: address space of a child.
    """

    def __init__(self, work: object, *, cpu_seconds: int = SECONDS, memory_bytes: int = MEMORY_BYTES):
        self._work = pickle.dumps((work, memory_bytes))
        self._cpu_seconds = cpu_seconds
        self._idle: list[_Child] = []
        self._lock = threading.Lock()
        self._closing = weakref.finalize(self, _close, self._idle)

    def ask(self, method: str, *arguments: Any, spent: float = 0.0) -> Any:
        """Return what the method returns, called in a child.

        Args:
            method: the name of the method.
            arguments: what it takes.
            spent: the part of the processor time that was used up before.

        Raises:
            Unreadable: the method says so, or reading takes more time or memory than it may.
            ReaderLost: the child was ended from outside, twice; or none could be started.
        """
        for tries in (1, 2):
            child = self._free()
            try:
                kind, answer, worn = child.ask(method, arguments, max(1, math.ceil(self._cpu_seconds - spent)))
            except (EOFError, OSError):
                code = child.close()
                if code == -signal.SIGXCPU:
                    seconds = self._cpu_seconds
                    reason = f"Reading the submission takes more than {seconds} seconds of computing; it is not graded."
                    raise Unreadable(reason) from None
                if -code not in _FROM_OUTSIDE:
                    raise Unreadable("Reading the submission ended the process that read it.") from None
                if tries == 2:
                    raise ReaderLost("the process that read the submission was killed from outside, twice") from None
                continue
            except BaseException:
                child.kill()
                raise
            if worn:
                child.close()
            else:
                with self._lock:
                    self._idle.append(child)
            if kind == "raised":
                raise answer
            return answer
        raise AssertionError  # the second try returns or raises

    def close(self) -> None:
        """End all children that do nothing."""
        with self._lock:
            _close(self._idle)

    def _free(self) -> _Child:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return _Child(self._work)


class _Child:
    """One child process and the connection to it."""

    def __init__(self, work: bytes):
        self._connection, theirs = Pipe()
        packages = str(Path(autograder.__file__).parents[1])
        paths = [packages, *(path for path in sys.path if path and path != packages)]
        command = [sys.executable, "-I", "-c", _START, str(theirs.fileno()), *paths]
        threads = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
        try:
            with theirs:
                self._process = subprocess.Popen(
                    command,
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    env={**os.environ, **threads},
                    start_new_session=True,  # Ctrl-C is for whoever asks
                )
        except OSError as error:
            self._connection.close()
            raise ReaderLost(f"no process that reads submissions can be started: {error.strerror}") from error
        try:
            self._connection.send_bytes(work)
            self._connection.recv_bytes()  # it is ready
        except (EOFError, OSError):
            raise ReaderLost(f"the process that reads submissions does not start (code {self.close()})") from None

    def ask(self, method: str, arguments: tuple[Any, ...], seconds: int) -> tuple[str, Any, bool]:
        self._connection.send((method, arguments, seconds))
        answer: tuple[str, Any, bool] = self._connection.recv()
        return answer

    def kill(self) -> None:
        self._process.kill()
        self.close()

    def close(self) -> int:
        """End the child; return its exit code."""
        self._connection.close()
        try:
            return self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def _close(children: list[_Child]) -> None:
    while children:
        children.pop().close()


# -- in the child ----------------------------------------------------------------------------------------------------


def serve(descriptor: int) -> None:
    """Answer questions until nobody is left to ask."""
    with Connection(descriptor) as connection:
        work, memory_bytes = pickle.loads(connection.recv_bytes())
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        connection.send_bytes(b"ready")
        try:
            while True:
                method, arguments, seconds = connection.recv()
                limit = math.ceil(time.process_time()) + seconds
                resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
                kind, answer = _answer(work, method, arguments)
                del arguments
                worn = psutil.Process().memory_info().rss > WORN_BYTES
                connection.send((kind, answer, worn))
                del answer
        except (EOFError, OSError):
            return  # nobody asks any more
        except MemoryError:
            os._exit(1)  # in the middle of a message


def _answer(work: object, method: str, arguments: tuple[Any, ...]) -> tuple[str, Any]:
    try:
        return "returned", getattr(work, method)(*arguments)
    except Unreadable as error:
        return "raised", error
    except MemoryError:
        return "raised", Unreadable("Reading the submission takes more memory than it may: clear the outputs.")
    except Exception as error:
        wrong = RuntimeError(f"reading failed with {type(error).__name__}: {error}")
        wrong.add_note(traceback.format_exc())
        return "raised", wrong

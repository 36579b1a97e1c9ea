"""A child process that reads strangers' bytes: it has limits, and its end costs only what it was reading.

Pattern, parser and rules of a submission run there. Whatever they take too much of, the kernel ends the child, and the
submission gets a sentence. One child serves many submissions, one after the other, so that each costs milliseconds.

It runs none of a submission's code: it is our own code at work, on bytes that it does not trust. So the answers that
come back are pickles.
"""

from __future__ import annotations

import ast
import math
import os
import pickle
import re
import resource
import signal
import subprocess
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any

import psutil
from nbformat import NotebookNode

import autograder
from autograder.course.labs import Release, find_defined_names, parse
from autograder.read.reading import Unreadable, read_notebook
from autograder.read.repair import CellStep, Known, Plan, ProbeStep, read_plan, repair
from autograder.read.tree import SECONDS
from coursekit.check import rules
from coursekit.check.cells import read_cells

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


# -- what the child reads: the plan, which cells are helpers, which rules are broken ----------------------------------


_WORD = re.compile(r"[^\W\d]\w*")
_MODULE_OR_FOLDER = re.compile(r"^[^\S\n]*%(?:%writefile|%file|run|cd|load|mkdir)\b", re.MULTILINE)


@dataclass(frozen=True)
class Rules:
    """What the code of an exercise must not use: dotted names, and loops."""

    forbidden: tuple[str, ...] = ()
    no_loops: bool = False


@dataclass(frozen=True)
class Reading:
    """A submission as it is graded.

    Attributes:
        plan: what to run, in order.
        helpers: positions, in the plan's steps, of the student's own cells that an answer may need.
        broken: by exercise, a sentence for each of its rules that the cells above its test break.
        called: by exercise, the other exercises that the code behind it calls.
    """

    plan: Plan
    helpers: frozenset[int]
    broken: Mapping[str, tuple[str, ...]]
    called: Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class LabReader:
    """Reads submissions of one lab. It is the `work` of `Children`: strangers' bytes are read in a child process.

    Args:
        release: the roles of the lab's cells.
        known: grade_ids of each lab of the course.
        rules: the rules of each exercise that has some.
        imports: the names that the release's own cells import; None where nobody knows them.
        callees: by exercise that others call, the course's own code of it.
    """

    release: Release
    known: Known
    rules: Mapping[str, Rules]
    imports: tuple[str, ...] | None = None
    callees: Mapping[str, str] = field(default_factory=dict)

    def read(self, data: bytes) -> Reading:
        """Return a notebook as it is graded.

        Raises:
            Unreadable: nothing can be made of it.
        """
        return with_rules(read_plan(data, self.release, self.known), self.rules, self.imports)

    def plan(self, data: bytes) -> Plan:
        """Return the plan alone. Raises Unreadable, as `read` does."""
        return read_plan(data, self.release, self.known)

    def with_callees(self, plan: Sequence[CellStep | ProbeStep], exercise: str, names: Collection[str]) -> Reading:
        """Return how one exercise alone is judged, with the course's own code of others that it calls.

        That code stands below each cell of the student's that answers or defines them, and above the exercise's own
        where there is none.

        Args:
            plan: the steps of the submission's plan that are to be taken.
            exercise: what is judged.
            names: the exercises that it calls.
        """
        own = {name: CellStep(code, name, False, 0, "") for name, code in self.callees.items() if name in names}
        steps: list[CellStep | ProbeStep] = []
        absent = dict(own)
        for step in plan:
            if isinstance(step, ProbeStep) and step.exercise != exercise:
                continue
            if step.exercise == exercise:
                steps += absent.values()
                absent.clear()
            steps.append(step)
            if isinstance(step, ProbeStep):
                break
            if not step.locked:
                defined = {step.exercise} | find_defined_names(step.source)
                steps += [code for name, code in own.items() if name in defined]
                absent = {name: code for name, code in absent.items() if name not in defined}
        alone = Plan(tuple(steps), {exercise: 1.0}, frozenset(), frozenset(), {}, (), (), NotebookNode())
        return with_rules(alone, self.rules, self.imports)


class NotebookReader:
    """Reads and repairs a notebook where nobody grades it; the `work` of `Children`, as `LabReader` is."""

    def notebook(self, data: bytes) -> NotebookNode:
        """Return a notebook as submitted; see `read_notebook`."""
        return read_notebook(data)

    def repair(self, notebook: NotebookNode, release: NotebookNode) -> NotebookNode:
        """Return a notebook with its cells put back as they were released; see `repair`."""
        return repair(notebook, release).notebook


def with_rules(plan: Plan, of_exercises: Mapping[str, Rules], imports: Collection[str] | None = None) -> Reading:
    """Return a plan with what the source alone tells: helpers, rules that are broken, exercises that are called."""
    code = {index: step.source for index, step in enumerate(plan.steps) if isinstance(step, CellStep)}
    cells = dict(zip(code, read_cells([*code.values()]), strict=True))
    broken: dict[str, tuple[str, ...]] = {}
    called: dict[str, frozenset[str]] = {}
    for at, step in enumerate(plan.steps):
        if isinstance(step, ProbeStep) and (own := of_exercises.get(step.exercise)) is not None:
            above = [cell for index, cell in cells.items() if index < at]
            found = rules.find_violations(
                above, step.exercise, forbidden=own.forbidden, no_loops=own.no_loops, given=imports
            )
            broken[step.exercise] = tuple(found)
            called[step.exercise] = rules.find_callees(above, step.exercise, plan.exercises)
    return Reading(plan, helper_cells(plan.steps), broken, called)


def helper_cells(steps: Sequence[CellStep | ProbeStep]) -> frozenset[int]:
    """Return the positions of the student's own cells that an answer may need, directly or through another of them.

    Such a cell binds a name that is a word of the answer's code, changes what such a name stands for, or writes a
    module. Words of strings count, for code may look a name up; those of comments and docstrings do not.
    """
    own = {at: step for at, step in enumerate(steps) if isinstance(step, CellStep) and not step.locked}
    words = {word for step in own.values() if step.exercise is not None for word in _words(step.source)}
    waiting = {at: _bound(step.source) for at, step in own.items() if step.exercise is None}
    helpers = {at for at in waiting if _MODULE_OR_FOLDER.search(own[at].source)}
    while more := {at for at, names in waiting.items() if at not in helpers and not names.isdisjoint(words)}:
        helpers |= more
        words.update(word for at in more for word in _words(own[at].source))
    return frozenset(helpers)


def _words(source: str) -> Iterator[str]:
    tree = parse(source)
    if tree is None:
        yield from _WORD.findall(source)
        return
    docstrings = {
        node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        for _, part in () if node in docstrings else ast.iter_fields(node):
            for text in part if isinstance(part, list) else [part]:
                yield from _WORD.findall(text) if isinstance(text, str) else ()


def _bound(source: str) -> frozenset[str]:
    """Return the names that a cell binds or changes, imports included; none that it only times."""
    if source.lstrip().startswith("%%timeit"):
        return frozenset()
    names = set(find_defined_names(source))
    tree = parse(source)
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case ast.Import(names=imported) | ast.ImportFrom(names=imported):
                names.update(name.asname or name.name.partition(".")[0] for name in imported)
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                while isinstance(node, ast.Attribute | ast.Subscript):
                    node = node.value
                names.update({node.id} if isinstance(node, ast.Name) else ())
    return frozenset(names)

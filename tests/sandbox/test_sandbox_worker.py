"""Who is to blame when a process ends: the submission, or the machine."""

import contextlib
import errno
import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

import psutil
import pytest
from tight_sandbox import TIGHT, line_of_descent, output

from autograder.sandbox import Sandbox, SandboxUnavailable, SessionLost, WorkerLost, warm
from autograder.sandbox.meter import ProcessTree

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


def test_a_worker_that_dies_is_started_again():
    with Sandbox(TIGHT, preload=[]) as fragile:
        first = fragile._worker.process.pid
        for process in psutil.Process(first).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):  # each takes those below it along
                process.kill()
        with fragile.session() as session:
            assert output(session, "print(1)") == "1"
        assert fragile._worker.process.pid != first


@pytest.mark.parametrize("victim", ["bubblewrap", "its first process", "the worker"])
def test_who_dies_with_the_worker_is_told_from_who_ends_himself(victim):
    with Sandbox(TIGHT, preload=[]) as fragile, fragile.session() as innocent, fragile.session() as second:
        with pytest.raises(SessionLost) as lost:
            second.run_cell("import os; os._exit(0)")
        assert lost.value.reason == "crashed"
        worker = psutil.Process(fragile._worker.process.pid)
        chain = dict(zip(("bubblewrap", "its first process", "the worker"), line_of_descent(worker), strict=True))
        threading.Timer(0.3, chain[victim].kill).start()
        with pytest.raises(WorkerLost, match="the warm worker ended"):
            innocent.run_cell("import time; time.sleep(60)")
        with fragile.session() as session:
            assert output(session, "print(1)") == "1"


@pytest.mark.parametrize("measure", ["cpu_seconds", "waits_for_processor", "tasks", "holds_more_than"])
def test_a_process_that_cannot_be_measured_is_not_to_blame(session, monkeypatch, measure):
    def fail(*_):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(ProcessTree, measure, fail)
    with pytest.raises(WorkerLost, match=r"cannot be measured: .*Too many open files"):
        session.run_cell("import time; time.sleep(60)")


def test_a_runner_that_is_killed_from_outside_is_not_to_blame(session):
    threading.Timer(0.3, psutil.Process(session.pid).kill).start()
    with pytest.raises(WorkerLost, match="killed from outside"):
        session.run_cell("import time; time.sleep(60)")


def test_who_holds_much_when_the_machine_runs_out_of_memory_is_to_blame(session):
    process = psutil.Process(session.pid)

    def kill_once_it_holds_much() -> None:
        while not session._is_large:  # until the grader has measured it
            time.sleep(0.05)
        process.kill()

    threading.Thread(target=kill_once_it_holds_much, daemon=True).start()
    with pytest.raises(SessionLost) as lost:
        session.run_cell("x = b'x' * (300 << 20); import time; time.sleep(60)", cpu_seconds=30)
    assert lost.value.reason == "memory"


@pytest.mark.parametrize(
    "source",
    [
        "import os, signal; os.kill(1, signal.SIGKILL)",
        "from resource import *\nsetrlimit(RLIMIT_CPU, (0, 0))\nwhile True: pass",
        "from resource import *\nprlimit(0, RLIMIT_CPU, (0, 0))\nwhile True: pass",
        "import ctypes; ctypes.CDLL(None).prctl(22, 1)",  # the strict mode of seccomp ends a process by SIGKILL
        "import ctypes; ctypes.CDLL(None).prctl(1, 9)",  # SIGKILL when the parent dies; nobody inside can end that
        "import ctypes, signal; ctypes.CDLL(None).raise_(9)",
        "import fcntl, os, signal\nr, w = os.pipe()\nfcntl.fcntl(r, fcntl.F_SETOWN, os.getpid())\n"
        "fcntl.fcntl(r, 10, signal.SIGKILL)\nfcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC)\nos.write(w, b'x')",
        "import os; os.execv('/nonexistent', ['x'])",
        "import os; os.kill(0, 9)",
        "import os; os.kill(-1, 9)",
        "import os; os.abort()",
    ],
)
def test_nobody_ends_himself_so_that_it_looks_like_the_machines_doing(session, source):
    try:
        session.run_cell(source)
        session.run_cell("1")
    except SessionLost as lost:
        assert lost.reason in ("crashed", "timeout")


@pytest.mark.parametrize(("source", "by_signal"), [("os.abort()", True), ("os._exit(6)", False)])
def test_an_end_by_a_signal_is_told_from_an_exit(session, source, by_signal):
    """A library that gets no thread aborts; nobody is short of anything who exits."""
    with pytest.raises(SessionLost) as lost:
        session.run_cell(f"import os; {source}")
    assert (lost.value.reason, lost.value.by_signal) == ("crashed", by_signal)


@pytest.mark.skipif(not shutil.which("prlimit"), reason="prlimit is not installed")
def test_a_machine_without_room_for_a_process_is_asked_again(monkeypatch):
    """The worker cannot fork, as where the process table is full. Another session lives by it, so it lives on."""
    monkeypatch.setattr(warm, "_PAUSES", (0.1, 0.2))
    with Sandbox(TIGHT, preload=[]) as narrow, narrow.session() as other:
        worker = line_of_descent(psutil.Process(narrow._worker.process.pid))[-1]
        ids = {"user": worker.uids().real, "group": worker.gids().real, "extra_groups": []}

        def allow(processes):
            command = ["prlimit", f"--pid={worker.pid}", f"--nproc={processes}:"]
            subprocess.run(command, check=True, **(ids if os.geteuid() == 0 else {}))

        limits = Path(f"/proc/{worker.pid}/limits").read_text()
        before = limits.partition("Max processes")[2].split()[0]
        allow(1)
        with pytest.raises(SandboxUnavailable, match=os.strerror(errno.EAGAIN)):
            narrow.session()
        assert output(other, "print(1)") == "1"
        threading.Timer(0.05, allow, [before]).start()
        with narrow.session() as session:
            assert output(session, "print(2)") == "2"
        assert output(other, "print(3)") == "3"


def test_a_worker_dies_with_its_grader():
    sandbox = Sandbox(TIGHT, preload=[])
    sandbox.start()
    worker = psutil.Process(sandbox._worker.process.pid)
    processes = [worker, *worker.children(recursive=True)]
    with sandbox.session() as session:
        processes.append(psutil.Process(session.pid))
        sandbox.close()
        assert not psutil.wait_procs(processes, timeout=10)[1]

"""Who is to blame when a process ends: the submission, or the machine."""

import contextlib
import errno
import fcntl
import os
import queue
import shutil
import subprocess
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from tight_sandbox import TIGHT, line_of_descent, output

from autograder.sandbox import Sandbox, SandboxUnavailable, SessionLost, WorkerLost, meter, warm
from autograder.sandbox import session as session_module
from autograder.sandbox.meter import ProcessTree
from autograder.sandbox.session import _file, turn

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


@pytest.mark.parametrize("alone", [True, False])
def test_who_holds_much_alone_when_the_machine_runs_out_of_memory_is_to_blame(sandbox, alone):
    """Beside others nobody is: they may hold more. Then everybody goes again alone."""
    with sandbox.session(alone=alone) as session:
        process = psutil.Process(session.pid)

        def kill_once_it_holds_much() -> None:
            while not session._is_large:  # as the grader measures it
                time.sleep(0.05)
            process.kill()

        threading.Thread(target=kill_once_it_holds_much, daemon=True).start()
        with pytest.raises(SessionLost if alone else WorkerLost) as lost:
            session.run_cell("x = b'x' * (300 << 20); import time; time.sleep(60)", cpu_seconds=30)
    assert getattr(lost.value, "reason", None) == ("memory" if alone else None)


@pytest.mark.parametrize(
    ("alone", "gives_back", "by"),
    [(True, True, SessionLost), (True, False, WorkerLost), (False, True, WorkerLost)],
    ids=["its own", "somebody else's", "beside others"],
)
def test_memory_of_the_kernel_is_the_doing_of_who_gives_it_back(sandbox, monkeypatch, alone, gives_back, by):
    """No process shows such memory. Whether a process runs is all that decides here on what the kernel holds."""
    monkeypatch.setattr(session_module, "_ENDING_SECONDS", 0.5)
    with sandbox.session(alone=alone) as session:
        process = psutil.Process(session.pid)
        monkeypatch.setattr(meter, "_kernel_bytes", lambda: 1 << 40 if process.is_running() or not gives_back else 0)
        with pytest.raises(by, match="the kernel's memory"):
            session.run_cell("import time; time.sleep(60)")


def test_a_machine_short_of_memory_is_waited_for_and_nobody_is_alone_there(sandbox, monkeypatch, caplog):
    monkeypatch.setattr(warm, "_MEMORY_SECONDS", 0.2)
    monkeypatch.setattr(warm.psutil, "virtual_memory", lambda: SimpleNamespace(available=1 << 20, total=1 << 40))
    with sandbox.session(alone=True) as session:
        assert not session._alone
    assert "The machine is short of memory: 0.0 GiB are free" in caplog.text


def test_who_is_alone_runs_when_all_others_have_ended_and_before_those_that_come_later(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    began: queue.Queue[tuple[str, bool]] = queue.Queue()

    def run(name: str, end: threading.Event, alone: bool) -> None:
        with turn(alone=alone) as only:
            began.put((name, only))
            end.wait(60)

    ends = {name: threading.Event() for name in ("first", "second", "only", "later")}
    for name in ("first", "second"):
        threading.Thread(target=run, args=(name, ends[name], False), daemon=True).start()
    assert {began.get(timeout=60) for _ in range(2)} == {("first", False), ("second", False)}
    threading.Thread(target=run, args=("only", ends["only"], True), daemon=True).start()
    with _file("door") as door, contextlib.suppress(BlockingIOError):
        while True:  # until who wants to be alone has the door
            fcntl.flock(door, fcntl.LOCK_SH | fcntl.LOCK_NB)
            fcntl.flock(door, fcntl.LOCK_UN)
            time.sleep(0.01)
    threading.Thread(target=run, args=("later", ends["later"], False), daemon=True).start()
    ends["first"].set()
    with pytest.raises(queue.Empty):
        began.get(timeout=0.3)
    ends["second"].set()
    assert began.get(timeout=60) == ("only", True)
    ends["only"].set()
    assert began.get(timeout=60) == ("later", False)
    ends["later"].set()


def test_a_folder_of_another_account_is_no_place_for_turns(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    with turn(alone=True) as only:
        assert only
    (tmp_path / f"course-grader-{os.getuid()}").chmod(0o777)
    with turn(alone=True) as only:
        assert not only


@pytest.mark.parametrize(
    "source",
    [
        "import os, signal; os.kill(1, signal.SIGKILL)",
        "from resource import *\nsetrlimit(RLIMIT_CPU, (0, 0))\nwhile True: pass",
        "from resource import *\nprlimit(0, RLIMIT_CPU, (0, 0))\nwhile True: pass",
        # The library asks by prlimit64; setrlimit itself is call 160, on arm64 164.
        "import ctypes, platform\nnumber = 160 if platform.machine() == 'x86_64' else 164\n"
        "ctypes.CDLL(None).syscall(number, 0, (ctypes.c_ulong * 2)(0, 0))\nwhile True: pass",
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

"""Attacks on the sandbox: each costs the attacker a step, and nobody else anything."""

import contextlib
import errno
import fcntl
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import venv
from pathlib import Path

import numpy as np
import psutil
import pytest

from autograder.sandbox import (
    Limits,
    Sandbox,
    SandboxUnavailable,
    SessionLost,
    WorkerLost,
    bubblewrap,
    check_walls,
    groups,
    meter,
    warm,
)
from autograder.sandbox.meter import ProcessTree

ROOT = Path(__file__).parent.parent
CORES = os.cpu_count() or 1
MEBIBYTE = 1 << 20
TIGHT = Limits(
    cpu_seconds_per_step=1,
    wall_seconds_per_step=5,
    memory_bytes=1024 * MEBIBYTE,
    processes=48,
    file_bytes=8 * MEBIBYTE,
    tmp_bytes=16 * MEBIBYTE,
    reply_bytes=4 * MEBIBYTE,
)
LAB = "02_self_attention"
Q = np.ones((3, 2), "float32")

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


@pytest.fixture(scope="module")
def sandbox():
    """A worker without TensorFlow: it starts in a second, and its walls are the same."""
    with Sandbox(TIGHT, preload=["numpy", "coursekit.probes", "coursekit.guard"]) as started:
        yield started


def living(worker):
    """Process ids below `worker`, without those that are dead and wait to be collected."""
    found = set()
    for process in worker.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
                found.add(process.pid)
    return found


@pytest.fixture(autouse=True)
def next_submission_is_unharmed(request):
    """After every attack, the same worker serves the next submission, and nothing of the last one is left."""
    if "sandbox" not in request.fixturenames:
        yield
        return
    sandbox = request.getfixturevalue("sandbox")
    worker = psutil.Process(sandbox._worker.process.pid)
    before = living(worker)
    yield
    assert sandbox._worker.process.pid == worker.pid, "the worker had to be started again"
    deadline = time.monotonic() + 5  # the process between the worker and the runner may still be on its way out
    while left := living(worker) - before:
        assert time.monotonic() < deadline, f"processes are left: {left}"
        time.sleep(0.05)
    with sandbox.session() as session:
        reply = session.run_cell("print(sorted(__import__('os').listdir('.')), 'x' in globals())")
    assert (reply.error, reply.stdout) == (None, "[] False\n")


@pytest.fixture
def session(sandbox):
    with sandbox.session() as opened:
        yield opened


def output(session, source):
    reply = session.run_cell(source)
    assert reply.error is None, reply.error
    return reply.stdout.strip()


# What works ----------------------------------------------------------------------------------------------------------


def test_cells_share_a_namespace_and_report_what_they_raise(session):
    assert output(session, "x = 6\nprint(x * 7, __name__)") == "42 __main__"
    error = session.run_cell("def f():\n    return 1 / 0\nf()").error
    assert (error.type, error.message) == ("ZeroDivisionError", "division by zero")
    assert "line 2, in f" in error.traceback and "runner.py" not in error.traceback
    assert session.run_cell("def broken(:").error.type == "SyntaxError"
    assert output(session, "print(x)") == "6"


@pytest.mark.parametrize(
    "source",
    [
        "%matplotlib inline",
        "%%time\nsum(range(9))",
        "%timeit -n1 -r1 pass",
        "!echo hello",
        "files = !ls",
        "%pip --version",
        "?print",
        "await __import__('asyncio').sleep(0)",
        "display({'a': 1})",
        "exit",
        "get_ipython().run_line_magic('pwd', '')",
        "import subprocess; subprocess.run(['true'], check=True)",
        "import tempfile; tempfile.TemporaryFile().write(b'x')",
        "import multiprocessing as m; p = m.Pool(2); p.map(abs, [1]); p.terminate()",
        "def g(): pass\nimport inspect; assert inspect.getsource(g) == 'def g(): pass\\n'",
    ],
)
def test_everyday_cells_run(session, source):
    assert session.run_cell(source, cpu_seconds=20).error is None


def test_a_function_is_driven_and_its_raw_outputs_come_back(session):
    session.run_cell(
        "import numpy as np\n"
        "def scaled_dot_product_attention(q, k, v, mask=None):\n"
        "    return q @ k.T, [np.float64(1), (2, 'three'), {'four': np.arange(4)}, None, True, b'five']"
    )
    outputs = session.probe(LAB, "scaled_dot_product_attention", {"q": Q, "k": Q, "v": Q}).outputs
    assert outputs["output"].dtype == np.float32 and outputs["output"].shape == (3, 3)
    first, second, third, *rest = outputs["weights"]
    assert first == 1.0 and first.dtype == np.float64 and second == [2, "three"] and rest == [None, True, "five"]
    assert third["four"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("missing", None),
        ("missing", "raise NotImplementedError"),
        ("contract", "return None"),
        ("contract", "return q, object()"),
        ("contract", "return q, q.astype('complex64')"),
        ("contract", "return q, np.zeros(10 ** 6)"),
        ("forbidden", "return np.matmul(q, k.T), v"),
        ("error", "return q @ k, v"),
        ("error", "raise SystemExit"),
        ("error", "raise KeyboardInterrupt"),
        ("error", "return (lambda f: f(f))(lambda f: f(f))"),
    ],
)
def test_a_failure_says_of_which_kind_it_is(session, kind, body):
    if body:
        session.run_cell(f"import numpy as np\ndef scaled_dot_product_attention(q, k, v, mask=None):\n    {body}")
    reply = session.probe(LAB, "scaled_dot_product_attention", {"q": Q, "k": Q, "v": Q}, forbidden=["numpy.matmul"])
    assert reply.outputs is None
    assert reply.failure.kind == kind, reply.failure


def test_probes_do_not_depend_on_the_random_numbers_drawn_before(session):
    session.run_cell("import numpy as np\ndef self_attention_loops(x):\n    return x + np.random.normal(size=x.shape)")
    first, second = (session.probe(LAB, "self_attention_loops", {"x": Q}).outputs["output"] for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_time_is_the_submissions_own(session):
    started = time.monotonic()
    waiting = session.run_cell("import time; time.sleep(0.5)")
    assert time.monotonic() - started > 0.5 > 0.2 > waiting.seconds
    working = session.run_cell("while time.process_time() < 0.4: pass")
    assert 0.2 < working.seconds < 1
    child = session.run_cell(
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, '-S', '-c', 'import time\\nwhile time.process_time() < 0.4: pass'])"
    )
    assert 0.2 < child.seconds < 1.5


def test_sessions_overlap_and_do_not_meet(sandbox):
    with sandbox.session() as first, sandbox.session() as second:
        first.run_cell("x = 1; open('/tmp/note', 'w').write('mine')")
        assert second.run_cell("x").error.type == "NameError"
        assert output(second, "import os; print(os.path.exists('/tmp/note'), os.getpid())") == "False 1"
        assert output(first, "print(x)") == "1"


# Time, memory, disk, output ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "source"),
    [
        ("timeout", "while True: pass"),
        ("timeout", "import time; time.sleep(10 ** 6)"),
        ("timeout", "while True:\n    try:\n        while True: pass\n    except BaseException: pass"),
        ("timeout", "import threading; threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start(); input_ = 1\n"
                    "while True: pass"),
        ("timeout", "import signal\nfor s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n"
                    "    except (OSError, ValueError): pass\nwhile True: pass"),
        ("timeout", "import re; re.match('(a*)*b', 'a' * 40)"),
        ("timeout", "import os\nfor _ in range(4): os.fork()\nwhile True: pass"),
        ("timeout", "import os\nwhile True:\n    if os.fork() == 0: sum(range(10 ** 6)); os._exit(0)\n    os.wait()"),
        ("timeout", "import os\nwhile True:\n    if os.fork() == 0:\n        if os.fork(): os._exit(0)\n"
                    "        sum(range(10 ** 6)); os._exit(0)\n    os.wait(); os.wait()"),
        ("crashed", "import os; os._exit(0)"),
        ("crashed", "import os; os.abort()"),
        ("crashed", "import ctypes; ctypes.string_at(0)"),
        ("crashed", "import os; os.closerange(0, 100)"),
        ("crashed", "import resource, sys; sys.setrecursionlimit(10 ** 9)\n"
                    "class A:\n    def __repr__(self): return repr(self)\n"
                    "def f(): return f()\nimport ctypes; ctypes.memset(0, 1, 10)"),
    ],
)  # fmt: skip
def test_a_process_that_does_not_come_back_is_lost(session, reason, source):
    started = time.monotonic()
    with pytest.raises(SessionLost) as lost:
        session.run_cell(source)
    assert lost.value.reason == reason
    assert time.monotonic() - started < TIGHT.wall_seconds_per_step * TIGHT.patience
    with pytest.raises(SessionLost):
        session.run_cell("1")


def test_a_step_may_have_its_own_budget(session):
    with pytest.raises(SessionLost) as lost:
        session.run_cell("while True: pass", cpu_seconds=0.3)
    assert 0.3 < lost.value.seconds < 1.5


def test_a_fork_bomb_hits_the_process_limit(session):
    """Either the fork is refused, or the grader looks while the limit is nearly reached."""
    try:
        reply = session.run_cell("import os\nwhile True: os.fork()", cpu_seconds=30)
    except SessionLost as lost:
        assert (lost.reason, lost.message) == ("memory", f"as many processes and threads as {TIGHT.processes}")
    else:
        assert reply.error.type == "BlockingIOError"


def test_seconds_in_which_every_processor_is_busy_are_not_counted(session):
    """Eight busy processes for each core: code within its CPU budget takes several times its time by the clock."""
    command = [sys.executable, "-S", "-c", "print(flush=True)\nwhile True: pass"]
    busy = [subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) for _ in range(8 * CORES)]
    try:
        for each in busy:
            each.stdout.readline()
        started = time.monotonic()
        reply = session.run_cell("import time\nwhile time.process_time() < 0.6: pass", cpu_seconds=2, wall_seconds=2)
        by_the_clock = time.monotonic() - started
        assert reply.error is None
        assert reply.seconds < 1.5 and reply.wall < 2 < by_the_clock
        with pytest.raises(SessionLost) as lost:
            session.run_cell("import time; time.sleep(10 ** 6)", wall_seconds=2)
        assert lost.value.reason == "timeout" and lost.value.seconds < 0.5
    finally:
        for each in busy:
            each.kill()
            each.communicate()


def test_code_that_steps_back_on_its_own_waits_in_its_own_time(session):
    """Nobody makes the machine look busy by asking it for less: what is niced is counted by the clock."""
    with pytest.raises(SessionLost) as lost:
        session.run_cell("import os; os.nice(1)\nwhile True: pass", cpu_seconds=60, wall_seconds=2)
    assert lost.value.reason == "timeout" and lost.value.wall > 2


def test_a_machine_that_gives_no_processor_is_to_blame(session, monkeypatch):
    monkeypatch.setattr(ProcessTree, "waits_for_processor", lambda tree: True)
    with pytest.raises(WorkerLost, match="the machine gave its code"):
        session.run_cell("import time; time.sleep(10 ** 6)", wall_seconds=0.1)


def test_processes_are_limited(session):
    try:
        counted = output(
            session,
            "import os, time\nstarted = 0\ntry:\n    while started < 500:\n"
            "        if os.fork() == 0: time.sleep(60)\n        started += 1\n"
            "except BlockingIOError: pass\nprint(started)",
        )
    except SessionLost as lost:  # the grader looked while the limit was nearly reached
        assert lost.reason == "memory"
    else:
        assert 10 < int(counted) < TIGHT.processes


def test_memory_is_limited_in_one_process(session):
    assert session.run_cell("x = bytearray(10 ** 10)").error.type == "MemoryError"
    assert session.run_cell("x = [bytearray(10 ** 7) for _ in range(1000)]", cpu_seconds=30).error.type == "MemoryError"


def test_memory_is_limited_over_all_processes(session):
    with pytest.raises(SessionLost) as lost:
        session.run_cell(
            "import os, time\nfor _ in range(8):\n"
            "    if os.fork() == 0: x = b'x' * (300 << 20); time.sleep(60)\ntime.sleep(60)",
            cpu_seconds=30,
        )
    assert lost.value.reason == "memory"


@pytest.mark.parametrize(
    "source",
    [
        "import os; os.memfd_create('x')",
        "import ctypes; l = ctypes.CDLL(None, use_errno=True)\n"
        "if l.shmget(0, 1 << 30, 0o1600) < 0: raise OSError(ctypes.get_errno(), '')",
        "import mmap; mmap.mmap(-1, 1 << 12)",
        "import mmap; mmap.mmap(-1, 1 << 12, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000)",
        "import ctypes, os; l = ctypes.CDLL(None, use_errno=True)\n"
        "if l.vmsplice(os.pipe()[1], None, 0, 0) < 0: raise OSError(ctypes.get_errno(), '')",
        "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
        "import ctypes; l = ctypes.CDLL(None, use_errno=True)\n"
        "if l.sigaction(17, bytes([0] * 136 + [2] + [0] * 15), None) < 0: raise OSError(ctypes.get_errno(), '')",
        "import ctypes; l = ctypes.CDLL(None, use_errno=True)\n"
        "if l.inotify_init() < 0: raise OSError(ctypes.get_errno(), '')",
    ],
)
def test_memory_and_time_that_no_limit_counts_are_refused(session, source):
    assert session.run_cell(source).error.type == "PermissionError"


def test_zeros_are_a_file_that_holds_no_memory(session):
    assert output(session, "z = open('/dev/zero', 'rb'); print(set(z.read(10 ** 6)), z.seek(1 << 40), z.read(2))") == (
        "{0} 1099511627776 b'\\x00\\x00'"
    )
    source = (
        "import mmap\nm = mmap.mmap(z.fileno(), 64 << 20, prot=mmap.PROT_READ)\n"
        "for page in range(0, len(m), 4096): m[page]"
    )
    with pytest.raises(SessionLost) as lost:  # more than the limit of what it may write
        session.run_cell(source)
    assert lost.value.reason == "crashed"


@pytest.mark.parametrize(
    "source",
    [
        "import os, time\nfor _ in range(4):\n"
        "    if os.fork() == 0:\n        import threading\n        def hold():\n            global x\n"
        "            x = b'x' * (400 << 20); time.sleep(60)\n        import ctypes\n"
        "        threading.Thread(target=hold).start()\n        ctypes.CDLL(None).pthread_exit(None)\ntime.sleep(60)",
        "import os, socket, time\nfor _ in range(12):\n"
        "    if os.fork() == 0: held = [socket.socketpair() for _ in range(240)]; time.sleep(60)\ntime.sleep(60)",
    ],
    ids=["of threads without a leader", "of sockets"],
)
def test_memory_that_hides_is_found(session, source):
    with pytest.raises(SessionLost) as lost:
        session.run_cell(source, cpu_seconds=30)
    assert lost.value.reason == "memory"


def test_a_socket_holds_no_more_than_the_meter_thinks(session):
    source = (
        "import socket\na, b = socket.socketpair()\na.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)\n"
        "a.setblocking(False)\nsent = 0\ntry:\n    while True: sent += a.send(bytes(1 << 16))\n"
        "except BlockingIOError: print(sent)"
    )
    assert 0 < int(output(session, source)) <= meter._socket_buffer()


@pytest.fixture
def handed_over(monkeypatch):
    """Control groups of this machine, as if they had been handed over; only version 1 can be tried without systemd."""
    place = groups.Place(Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup/cpuacct"))
    if os.geteuid() != 0 or not (place.memory / "memory.limit_in_bytes").exists():
        pytest.skip("no control groups of version 1, or not root")
    monkeypatch.setattr(groups, "find", lambda: place)
    yield place
    assert not list(place.memory.glob("course-grader-*")) + list(place.cpu.glob("course-grader-*"))


def test_in_a_control_group_the_kernel_bounds_memory_and_counts_time(handed_over, sandbox):
    with sandbox.session() as session:
        working = session.run_cell("import time\nwhile time.process_time() < 0.4: pass")
        assert 0.2 < working.seconds < 1
        with pytest.raises(SessionLost) as lost:
            session.run_cell(
                "import os\nchild = os.fork()\nfor _ in range(2): os.fork()\nx = b'x' * (500 << 20)\nos.wait()",
                cpu_seconds=30,
            )
        assert lost.value.reason == "memory"
    with sandbox.session() as session, pytest.raises(SessionLost) as lost:
        session.run_cell("while True: pass")
    assert lost.value.reason == "timeout"


def test_sessions_share_no_terminals(sandbox):
    with sandbox.session() as first, sandbox.session() as second:
        output(first, "import os; pairs = [os.openpty() for _ in range(3)]")
        assert output(second, "import os; print(os.listdir('/dev/pts'))") == "['ptmx']"
        assert first.run_cell("while True: os.openpty()").error.type == "OSError"
        assert output(second, "print(os.ttyname(os.openpty()[1]))") == "/dev/pts/0"


def test_a_lock_inside_is_no_lock_outside(sandbox):
    shown = importlib.util.find_spec("coursekit").origin
    with sandbox.session() as first, sandbox.session() as second, open(shown) as file:
        for session in (first, second):
            output(session, "import fcntl\nfile = open('/grader/coursekit/__init__.py')\n"
                            "fcntl.flock(file, fcntl.LOCK_EX); fcntl.lockf(file, fcntl.LOCK_SH)")  # fmt: skip
            assert session.run_cell("fcntl.fcntl(file, 1024, fcntl.F_RDLCK)").error.type == "PermissionError"
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_programs_that_lock_and_wait_work(session):
    assert output(session, "import sqlite3; c = sqlite3.connect('x'); c.execute('create table t (a)'); c.commit()\n"
                           "print(c.execute('select count(*) from t').fetchone())") == "(0,)"  # fmt: skip
    shells = "import subprocess; print(subprocess.run([{!r}, '-c', {!r}], capture_output=True, text=True).stdout)"
    assert output(session, shells.format("bash", "(sleep 0.1; echo one) & wait; echo two | cat")) == "one\ntwo"
    assert output(session, shells.format("sh", "echo one; x=$(echo two | cat); echo $x")) == "one\ntwo"


def test_disk_is_limited(session):
    written = output(
        session,
        "total = 0\n"
        "for folder in ('/tmp', '/dev/shm', '/tmp/home', '.'):\n"
        "    for number in range(20):\n"
        "        try:\n"
        "            with open(f'{folder}/{number}', 'wb', buffering=0) as file:\n"
        "                while count := file.write(bytes(1 << 20)): total += count\n"
        "        except OSError: pass\n"
        "print(total)",
    )
    assert 4 * MEBIBYTE < int(written) <= TIGHT.tmp_bytes


@pytest.mark.parametrize("folder", ["/", "/usr", "/etc", "/dev", "/proc", "/grader", "/grader/worker"])
def test_nothing_else_can_be_written(session, folder):
    source = f"import os\nif os.path.isdir({folder!r}): open({folder + '/x'!r}, 'w')\nelse: raise OSError"
    assert session.run_cell(source).error.type in ("OSError", "PermissionError")


def test_a_gigabyte_of_output_is_let_go(session):
    reply = session.run_cell("line = 'x' * (1 << 20)\nfor _ in range(1024): print(line)", cpu_seconds=30)
    assert reply.error is None and len(reply.stdout) <= 8192
    assert session.run_cell("import os\nfor _ in range(1024): os.write(1, line.encode())", cpu_seconds=30).error is None
    assert session.run_cell("os.system('head -c 1000000000 /dev/zero >&2')", cpu_seconds=30).error is None


# What can be seen ----------------------------------------------------------------------------------------------------


def test_the_course_the_system_and_others_work_are_out_of_sight(session, tmp_path):
    canary = tmp_path / "gradebook.db"
    canary.write_text("marks")
    paths = [
        canary, tmp_path,
        *(ROOT / name for name in (".git", "autograder", "course.toml", "labs", "solutions", "tests")),
        Path.home() / ".bashrc", Path.home() / ".ssh", "/boot", "/etc/passwd", "/etc/shadow", "/grader/autograder",
        "/home", "/mnt", "/proc/1", "/proc/mounts", "/run", "/srv", "/sys", "/var/lib", "/var/log",
    ]  # fmt: skip
    seen = output(session, f"import os\nprint([p for p in {list(map(str, paths))!r} if os.path.lexists(p)])")
    assert seen == "[]"
    shown = {"coursekit", "data", "environment", "worker"}
    assert set(output(session, "print(*os.listdir('/grader'))").split()) <= shown


@pytest.mark.parametrize("module", ["autograder", "autograder.oracles", "autograder.worker", "solutions"])
def test_the_instructors_packages_cannot_be_imported(session, module):
    assert session.run_cell(f"import {module}").error.type == "ModuleNotFoundError"


def test_the_environment_is_not_the_graders(session, monkeypatch):
    monkeypatch.setenv("GRADER_SECRET", "secret")
    names = set(output(session, "import os; print(*os.environ)").split())
    assert names <= {*bubblewrap.environment(), "PWD", "LC_CTYPE", "COLUMNS", "LINES", "PAGER", "CLICOLOR",
                     "FORCE_COLOR", "CLICOLOR_FORCE", "GIT_PAGER", "TERM", "KMP_INIT_AT_FORK", "KMP_DUPLICATE_LIB_OK",
                     "SHLVL", "_", "OLDPWD"}  # fmt: skip


def test_other_processes_are_out_of_sight(session):
    assert output(session, "import os; print([p for p in os.listdir('/proc') if p.isdigit()], os.getppid())") == "[] 0"


def test_only_the_connection_to_the_grader_is_open(session):
    opened = output(
        session,
        "import os\nfound = []\nfor fd in range(1024):\n    try: os.fstat(fd); found.append(fd)\n"
        "    except OSError: pass\nprint(found)",
    )
    assert opened == "[0, 1, 2, 3]"


def test_the_kernel_confirms_the_walls(session):
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{session.pid}/status").read_text().splitlines())
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[name], 16) == 0, name
    assert status["NoNewPrivs"].strip() == "1"
    assert set(status["Uid"].split()) != {"0"}
    assert Path(f"/proc/{session.pid}/oom_score_adj").read_text() == "1000\n"
    kept = {65534} if os.geteuid() == 0 else {65534, *os.getgroups()}  # only root can give groups up
    assert set(map(int, status["Groups"].split())) <= kept
    for kind in ("user", "pid", "net", "mnt", "ipc", "uts"):
        assert os.readlink(f"/proc/{session.pid}/ns/{kind}") != os.readlink(f"/proc/self/ns/{kind}"), kind


def test_every_wall_is_reported_and_stands(sandbox):
    walls = check_walls()
    assert [wall.name for wall in walls] == [
        "bubblewrap", "namespaces", "own files", "hidden processes", "resource limits", "no capabilities",
        "no new privileges", "system-call filter",
    ]  # fmt: skip
    assert all(wall.stands for wall in walls if wall.required)
    assert [wall.name for wall in sandbox.walls] == [wall.name for wall in walls]


# What can be reached -------------------------------------------------------------------------------------------------


def test_there_is_no_network(session):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = server.getsockname()[1]
        error = session.run_cell(f"import socket; socket.create_connection(('127.0.0.1', {port}), 1)").error
        assert error.type in ("PermissionError", "ConnectionRefusedError", "OSError")
        error = session.run_cell("socket.create_connection(('192.0.2.1', 80), 1)").error
        assert error.type in ("PermissionError", "OSError", "TimeoutError")
        with pytest.raises(TimeoutError):
            server.accept()


@pytest.mark.parametrize("target", [0, -1, 1, 2, "os.getppid()", "os.getpgid(0)", "-os.getpgrp()"])
def test_signals_reach_nobody_else(session, target):
    survivor = psutil.Process()
    try:
        session.run_cell(f"import os, signal\nfor s in (15, 1, 2, 9):\n    try: os.kill({target}, s)\n"
                         "    except OSError: pass")  # fmt: skip
    except SessionLost as lost:
        assert lost.reason == "crashed"
    assert survivor.is_running()


CALLS = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def refused(name, *arguments):
    result = getattr(libc, name)(*arguments)
    assert result == -1, (name, result)
    print(name, ctypes.get_errno())
"""


@pytest.mark.parametrize(
    "call",
    [
        "'ptrace', 16, 1, 0, 0",
        "'process_vm_readv', 1, None, 0, None, 0, 0",
        "'unshare', 0x10000000",
        "'setns', 3, 0",
        "'mount', b'tmpfs', b'/tmp', b'tmpfs', 0, None",
        "'umount2', b'/proc', 2",
        "'chroot', b'/tmp'",
        "'setuid', 0",
        "'syscall', 272, 0x10000000",
        "'sethostname', b'x', 1",
    ],
)
def test_calls_that_break_walls_are_refused(session, call):
    assert output(session, f"{CALLS}refused({call})").split()[1] in ("1", "22")


def test_a_detached_process_does_not_outlive_its_session(sandbox):
    with sandbox.session() as session:
        session.run_cell(
            "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
            "        os.execvp('sleep', ['sleep', '86399'])\n    os._exit(0)\ntime.sleep(0.2)"
        )
        assert any(process.info["cmdline"] == ["sleep", "86399"] for process in psutil.process_iter(["cmdline"]))
    assert not any(process.info["cmdline"] == ["sleep", "86399"] for process in psutil.process_iter(["cmdline"]))


UNDER_WAY = """
import array, os, socket, time
kept = []
try:
    while True:
        kept += socket.socketpair()
        for _ in range(5): kept[-1].sendmsg([b"x"], [(1, 1, array.array("i", [2] * 250))])
except OSError as error: print(error.errno)
"""


def test_descriptors_under_way_do_not_keep_the_grader_from_sending_its_own(sandbox):
    """The kernel counts them for each user, and the grader may be the user whose submissions they are."""
    with sandbox.session() as greedy:
        assert output(greedy, UNDER_WAY) == str(errno.ETOOMANYREFS)
        with sandbox.session() as other:
            assert output(other, "print(1)") == "1"
        assert output(greedy, "print(2)") == "2"


GREEDY = {
    "time": "import os\nfor _ in range(20):\n    if os.fork() == 0: break\nwhile True: pass",
    "processes": "import os, time\nfor _ in range(40):\n    if os.fork() == 0: time.sleep(60)\ntime.sleep(60)",
    "memory": "import os, time\nfor _ in range(3):\n    if os.fork() == 0: x = b'x' * (300 << 20); time.sleep(60)\n"
              "time.sleep(60)",
    "disk": "import time\n"
            "for folder in ('/tmp', '/dev/shm'):\n    for number in range(20):\n        try:\n"
            "            with open(f'{folder}/{number}', 'wb', buffering=0) as file:\n"
            "                while file.write(bytes(1 << 20)): pass\n        except OSError: pass\ntime.sleep(60)",
    "the grader's ear": "while True: print('x' * (1 << 20))",
}  # fmt: skip
MODEST = """
import os, threading
started = [threading.Thread(target=len, args=("x",)) for _ in range(8)]
for thread in started: thread.start()
for thread in started: thread.join()
child = os.fork()
if child == 0: os._exit(0)
assert os.waitpid(child, 0)[1] == 0
memory = bytearray(100 << 20)
with open(os.path.expanduser("~/file"), "wb") as file: assert file.write(bytes(4 << 20)) == 4 << 20
with open("/dev/shm/file", "wb") as file: assert file.write(bytes(4 << 20)) == 4 << 20
assert sum(range(10 ** 5)) == 4999950000
"""


@pytest.mark.parametrize("wanted", GREEDY)
def test_what_one_submission_takes_no_other_lacks(sandbox, wanted):
    """Beside a submission that takes all that it can get, another one has its whole share and its own CPU seconds."""
    with sandbox.session() as greedy, sandbox.session() as modest:
        modest.run_cell("1")

        def take():
            with contextlib.suppress(SessionLost):
                greedy.run_cell(GREEDY[wanted], cpu_seconds=4, wall_seconds=8)

        taking = threading.Thread(target=take)
        taking.start()
        rounds = 0
        while taking.is_alive() or not rounds:
            reply = modest.run_cell(MODEST, cpu_seconds=10, wall_seconds=120)
            assert reply.error is None, reply.error
            assert reply.seconds < 2
            rounds += 1
        taking.join()
        assert not modest.is_exhausted()


# What can be said ----------------------------------------------------------------------------------------------------

SAY = """
import socket, time
from worker import protocol
line = socket.socket(fileno=3)
line.sendall({data})
time.sleep(60)
"""


@pytest.mark.parametrize(
    "data",
    [
        "b'\\xff' * 64",
        "b'nonsense'",
        "(20).to_bytes(8, 'big') + b'garbage that is long'",
        "(4).to_bytes(8, 'big') + bytes(4)",
        "(1 << 40).to_bytes(8, 'big') + bytes(1 << 16)",
        "protocol.encode({'op': 'cell_done', 'id': 'guess', 'error': None, 'stdout': ''})",
        "protocol.encode({'op': 'outputs', 'outputs': {}}) * 3",
    ],
    ids=["all ones", "text", "garbage", "empty", "announced", "wrong id", "no id"],
)  # fmt: skip
def test_forged_frames_cost_the_session(session, data):
    with pytest.raises(SessionLost) as lost:
        session.run_cell(SAY.format(data=data))
    assert lost.value.reason == "protocol"


def test_an_urgent_byte_costs_the_session(session):
    """It is nobody's fault but the submission's: the worker has not failed."""
    with pytest.raises(SessionLost) as lost:
        session.run_cell(
            "import socket, time\nline = socket.socket(fileno=3)\nline.send(b'x', socket.MSG_OOB); time.sleep(60)"
        )
    assert lost.value.reason == "protocol"


def test_a_process_cannot_mislead_the_meter_by_its_name(session):
    output(session, "import ctypes, time\nctypes.CDLL(None).prctl(15, b'x kB', 0, 0, 0)\ntime.sleep(1)")


def test_a_reply_nobody_asked_for_costs_the_session(session):
    session.run_cell(
        "import threading, time, socket, worker.protocol as p\n"
        "def later():\n    time.sleep(0.2)\n"
        "    socket.socket(fileno=3).sendall(p.encode({'op': 'outputs', 'outputs': {}}))\n    time.sleep(60)\n"
        "threading.Thread(target=later, daemon=True).start()"
    )
    time.sleep(0.6)
    with pytest.raises(SessionLost) as lost:
        session.run_cell("1")
    assert lost.value.reason == "protocol"


def test_an_endless_reply_is_cut_off(session):
    with pytest.raises(SessionLost) as lost:
        session.run_cell(
            "import socket\nline = socket.socket(fileno=3)\n"
            "line.sendall((3 << 20).to_bytes(8, 'big'))\nwhile True: line.sendall(bytes(1 << 16))"
        )
    assert lost.value.reason == "protocol"


def test_a_pickle_is_never_opened(session, tmp_path):
    mark = tmp_path / "mark"
    with pytest.raises(SessionLost):
        session.run_cell(
            "import os, pickle, socket, time\nclass Bomb:\n"
            f"    def __reduce__(self): return os.mkdir, ({str(mark)!r},)\n"
            "data = pickle.dumps(Bomb())\nline = socket.socket(fileno=3)\n"
            "line.sendall(len(data).to_bytes(8, 'big') + data)\ntime.sleep(60)"
        )
    assert not mark.exists()


@pytest.mark.parametrize(
    ("outcome", "sabotage"),
    [
        ("crashed", "import numpy as np; np.asarray = np.array = np.ndarray = None"),
        ("protocol", "import msgpack; msgpack.packb = msgpack.unpackb = lambda *a, **k: b'\\x80'"),
        ("crashed", "import builtins; builtins.isinstance = lambda *a: True"),
        ("protocol", "import builtins; builtins.len = lambda *a: 0"),
        ("crashed", "import builtins; del builtins.dict, builtins.Exception, builtins.BaseException"),
        ("right", "import sys; sys.stdout = sys.stderr = sys.stdin = None"),
        ("failed", "import sys; sys.modules.clear()"),
        ("right", "import sys; sys.settrace(lambda *a: 1 / 0)"),
        ("failed", "import sys, IPython; get_ipython().run_cell = None"),
        ("right", "get_ipython().input_transformers_cleanup.append(lambda lines: ['1/0'])"),
        ("right", "get_ipython().events.register('pre_run_cell', lambda *a: 1 / 0)"),
        ("right", "get_ipython().events.register('post_run_cell', lambda *a: __import__('sys').exit())"),
        ("failed", "get_ipython().display_formatter = get_ipython().displayhook = None"),
        ("crashed", "import worker.protocol as p; p.encode = p.receive = p.decode = None"),
        ("forged", "import coursekit.plain as p; p.plain = p._plain = lambda *a: {'score': 100}"),
        ("forged", "import coursekit.probes as p; p.load_probe = lambda *a: lambda *b: {'output': 1}"),
        ("right", "import os, socket; os._exit = socket.socket.sendall = None"),
        ("right", "import atexit; atexit.register(lambda: 1 / 0)"),
        ("right", "import gc\nfor x in gc.get_objects():\n    if isinstance(x, dict) and 'id' in x: x['id'] = 'other'"),
        ("right", "__name__ = 'x'; globals().clear()"),
    ],
)  # fmt: skip
def test_sabotage_costs_the_saboteur_at_most_a_step(session, outcome, sabotage):
    """It costs the process or the answer, or nothing. Who forges his own result is judged on what he forged."""
    try:
        session.run_cell(sabotage)
        session.run_cell("def self_attention_loops(x): return x")
        reply = session.probe(LAB, "self_attention_loops", {"x": Q})
    except SessionLost as lost:
        assert lost.reason == outcome
        return
    if outcome == "failed":
        assert reply.failure.kind in ("missing", "error")
    elif outcome == "forged":
        assert reply.outputs in ({"output": {"score": 100}}, {"output": 1})
    else:
        assert outcome == "right"
        np.testing.assert_array_equal(reply.outputs["output"], Q)


def test_a_result_that_runs_code_when_looked_at_is_looked_at_inside(session):
    session.run_cell(
        "class Trap:\n    def __array__(self, *a, **k):\n        while True: pass\n"
        "def self_attention_loops(x): return Trap()"
    )
    with pytest.raises(SessionLost) as lost:
        session.probe(LAB, "self_attention_loops", {"x": Q})
    assert lost.value.reason == "timeout"


# The worker ----------------------------------------------------------------------------------------------------------


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


def line_of_descent(worker):
    """Bubblewrap, the first process of its namespace, and the warm worker in it."""
    (first,) = worker.children()
    return worker, first, next(each for each in first.children() if "worker.zygote" in " ".join(each.cmdline()))


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
    threading.Timer(1.5, psutil.Process(session.pid).kill).start()
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


def test_without_walls_grading_is_refused_unless_told(monkeypatch):
    monkeypatch.setattr(bubblewrap, "working_variant", lambda: "bubblewrap is not installed")
    with pytest.raises(SandboxUnavailable, match="apt-get install bubblewrap"):
        Sandbox(TIGHT, preload=[]).start()
    assert [wall.stands for wall in check_walls()] == [False]
    with Sandbox(TIGHT, preload=[], unsafe=True) as bare:
        assert [wall.name for wall in bare.walls if not wall.stands] == ["bubblewrap"]
        with bare.session() as session:
            assert output(session, "x = 1; print(x)") == "1"
            with pytest.raises(SessionLost) as lost:
                session.run_cell("while True: pass")
            assert lost.value.reason == "timeout"


@pytest.mark.parametrize(("mark", "said"), [(True, "This container was started"), (False, "namespaces are refused")])
def test_where_namespaces_are_refused_the_remedy_names_what_to_type(monkeypatch, tmp_path, mark, said):
    monkeypatch.setattr(warm, "_CONTAINER_MARKS", (str(tmp_path / ("" if mark else "absent")),))
    wall = warm.outer_wall("bwrap: No permissions to create new namespace")
    assert not wall.stands and wall.why.startswith("bwrap: No permissions")
    assert said in wall.remedy
    assert "--security-opt seccomp=unconfined --security-opt apparmor=unconfined" in wall.remedy
    assert "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0" in wall.remedy


@pytest.mark.parametrize("own_name", [True, False])
@pytest.mark.parametrize("own_proc", [True, False])
@pytest.mark.parametrize("user_namespace", [True, False])
def test_the_other_ways_to_build_the_walls_hold_too(monkeypatch, user_namespace, own_proc, own_name):
    if not user_namespace and os.geteuid() != 0:
        pytest.skip("only root can do without a user namespace")
    best = bubblewrap.working_variant()
    if (own_proc and not best.own_proc) or (own_name and not best.own_name):
        pytest.skip("this container refuses it")
    variant = bubblewrap.Variant(user_namespace=user_namespace, own_proc=own_proc, start_as=None, own_name=own_name)
    monkeypatch.setattr(bubblewrap, "working_variant", lambda: variant)
    with Sandbox(TIGHT, preload=[]) as other:
        assert all(wall.stands for wall in other.walls if wall.required)
        with other.session() as session:
            assert output(session, "import os; print(os.getuid(), os.getpid())") == "65534 1"
            assert output(session, "print(os.uname().nodename)") == ("grader" if own_name else os.uname().nodename)
            assert session.run_cell(f"open({str(ROOT / 'pyproject.toml')!r})").error.type == "FileNotFoundError"
            assert output(session, "print([p for p in os.listdir('/proc') if p.isdigit()])") == "[]"


def test_a_course_inside_a_visible_folder_is_covered(monkeypatch, tmp_path):
    """In a container, the course often lies below /usr/src or below the folder that Python is installed in."""
    course, python = tmp_path / "usr" / "course", tmp_path / "usr" / "course" / ".venv"
    python.mkdir(parents=True)
    monkeypatch.setattr(bubblewrap, "_SYSTEM", (str(tmp_path / "usr"),))
    monkeypatch.setattr(bubblewrap, "_course_folders", lambda: [course])
    monkeypatch.setattr(bubblewrap, "_python_folders", lambda: [python])
    line = bubblewrap.arguments(bubblewrap.Variant(user_namespace=True, own_proc=True, start_as=None))
    steps = [line.index(str(folder)) for folder in (tmp_path / "usr", course, python)]
    assert steps == sorted(steps)
    assert line[steps[1] - 1] == "--tmpfs" and line[steps[2] - 1] == "--ro-bind"
    assert line[len(line) - 1 - line[::-1].index(str(course)) - 1] == "--remount-ro"


LOOK = """
import json
from autograder.sandbox import bubblewrap
print(json.dumps([bubblewrap.__file__, bubblewrap.arguments(bubblewrap.{variant})]))
"""


@pytest.fixture(params=["/tmp", "/var/tmp"], ids=["moved", "in its place"])
def installed(request):
    """A virtual environment with the two packages installed in it, not linked; the first lies where /tmp is inside."""
    with tempfile.TemporaryDirectory(dir=request.param) as folder:
        venv.create(folder)
        packages = next(Path(folder).glob("lib/python*/site-packages"))
        for name in ("autograder", "coursekit"):
            shutil.copytree(ROOT / name, packages / name, ignore=shutil.ignore_patterns("__pycache__"))
        (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
        yield Path(folder)


@pytest.mark.parametrize("where", ["elsewhere", "in the course", "course by variable"])
def test_an_installed_autograder_is_out_of_sight(installed, where):
    """The grader runs from the environment, and the list of what it shows is tried."""
    course = installed / "share" / "course"
    course.mkdir(parents=True)
    (course / "course.toml").write_text("")
    (course / "autograder-answers.txt").write_text("secret")
    if where == "elsewhere":
        shutil.rmtree(course)
    told = subprocess.run(
        [installed / "bin" / "python", "-c", LOOK.format(variant=bubblewrap.working_variant())],
        cwd=course if where == "in the course" else "/",
        env={**os.environ, "PYTHONPATH": "", "COURSE_ROOT": str(course) if where == "course by variable" else ""},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    module, arguments = json.loads(told.stdout)
    assert Path(module).is_relative_to(installed)
    search = ["find", "/", "-path", "/proc", "-prune", "-o", "-type", "f"]
    for words, wanted in (
        (["-path", "*autograder*", "-print"], set()),
        (["-name", "oracles*", "-print"], set()),
        (["-path", "*/coursekit/__init__.py", "-print"], {"/grader/coursekit/__init__.py"}),
    ):
        seen = subprocess.run([*arguments, *search, *words], capture_output=True, text=True, check=False)
        found = set(seen.stdout.splitlines())
        assert found >= wanted and (wanted or not found), seen.stdout + seen.stderr


def test_sessions_can_be_opened_from_several_threads(sandbox):
    outputs = []

    def work(number):
        with sandbox.session() as session:
            outputs.append(output(session, f"print({number})"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(outputs) == list("012345")


# With TensorFlow -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def warm_sandbox():
    with Sandbox(Limits(cpu_seconds_per_step=20)) as started:
        assert not started.missing
        yield started


def test_tensorflow_and_keras_work_behind_the_walls(warm_sandbox):
    with warm_sandbox.session() as session:
        output(session, "import keras, numpy as np, tensorflow as tf, matplotlib.pyplot as plt")
        output(
            session,
            "model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2), keras.layers.Dense(1)])\n"
            "model.compile('adam', 'mse')\nmodel.fit(np.ones((8, 3)), np.ones((8, 1)), verbose=0)\n"
            "model.save('model.keras'); keras.models.load_model('model.keras')",
        )
        output(session, "data = tf.data.Dataset.range(9).map(lambda x: 2 * x, num_parallel_calls=2).batch(4)")
        assert output(session, "print([len(b) for b in data])") == "[4, 4, 1]"
        output(session, "plt.plot([1, 2]); plt.savefig('figure.png'); plt.show()")
        assert output(session, "print(tf.function(lambda x: x + x, jit_compile=True)(tf.ones(2)).numpy())") == "[2. 2.]"
        output(
            session,
            "class SelfAttention(keras.Layer):\n"
            "    def __init__(self, d_k, d_v):\n        super().__init__()\n"
            "        self.w_q, self.w_k, self.w_v = (keras.layers.Dense(d, use_bias=False) for d in (d_k, d_k, d_v))\n"
            "    def call(self, x, mask=None):\n        return self.w_q(x) + self.w_v(x)[..., :1]\n",
        )
        inputs = {"d_k": 5, "d_v": 3, "x": np.ones((2, 7, 4), "float32"), "w_q.kernel": np.ones((4, 5), "float32")}
        reply = session.probe(LAB, "SelfAttention", inputs, forbidden=["keras.layers.MultiHeadAttention"])
        assert reply.failure is None and reply.outputs["output"].shape == (2, 7, 5)
        session.run_cell(
            "def self_attention_loops(x): return tf.cast(x, 'bfloat16')\n"
            "def self_attention_matrix(x): return tf.constant(['a', 'b'])"
        )
        assert session.probe(LAB, "self_attention_loops", {"x": Q}).outputs["output"].dtype == np.float32
        assert session.probe(LAB, "self_attention_matrix", {"x": Q}).outputs["output"] == ["a", "b"]


def test_a_small_submission_takes_a_fraction_of_a_second(warm_sandbox):
    def grade():
        started = time.monotonic()
        with warm_sandbox.session() as session:
            session.run_cell("import keras, tensorflow as tf")
            session.run_cell("def self_attention_loops(x): return tf.nn.softmax(x @ tf.transpose(x)) @ x")
            for _ in range(5):
                assert session.probe(LAB, "self_attention_loops", {"x": Q}, mode="tensor").outputs
        return time.monotonic() - started

    grade()
    assert min(grade() for _ in range(3)) < 2

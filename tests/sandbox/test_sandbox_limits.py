"""Attacks on time, memory, processes, disk and output: each costs the attacker a step."""

import fcntl
import importlib.util
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from tight_sandbox import CORES, MEBIBYTE, TIGHT, output

from autograder.sandbox import Sandbox, SessionLost, WorkerLost, meter
from autograder.sandbox.meter import ProcessTree

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


ENDLESS = [
    "while True: pass",
    "import time; time.sleep(10 ** 6)",
    "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "import threading; threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start(); input_ = 1\n"
    "while True: pass",
    "import signal\nfor s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n"
    "    except (OSError, ValueError): pass\nwhile True: pass",
    "import re; re.match('(a*)*b', 'a' * 40)",
    "import os\nfor _ in range(4): os.fork()\nwhile True: pass",
    "import os\nwhile True:\n    if os.fork() == 0: sum(range(10 ** 6)); os._exit(0)\n    os.wait()",
    "import os\nwhile True:\n    if os.fork() == 0:\n        if os.fork(): os._exit(0)\n"
    "        sum(range(10 ** 6)); os._exit(0)\n    os.wait(); os.wait()",
]
CRASHING = [
    "import os; os._exit(0)",
    "import os; os.abort()",
    "import ctypes; ctypes.string_at(0)",
    "import os; os.closerange(0, 100)",
    "import resource, sys; sys.setrecursionlimit(10 ** 9)\n"
    "class A:\n    def __repr__(self): return repr(self)\n"
    "def f(): return f()\nimport ctypes; ctypes.memset(0, 1, 10)",
]


@pytest.mark.parametrize(
    ("reason", "source"),
    [
        # each takes a second and more of a processor
        *(
            pytest.param("timeout", source, marks=[pytest.mark.long] * (at % 4 > 0))
            for at, source in enumerate(ENDLESS)
        ),
        *(("crashed", source) for source in CRASHING),
    ],
)
def test_a_process_that_does_not_come_back_is_lost(session, reason, source):
    with pytest.raises(SessionLost) as lost:
        session.run_cell(source)
    assert lost.value.reason == reason
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


@pytest.mark.long
def test_seconds_in_which_every_processor_is_busy_are_not_counted(session):
    """Eight busy processes for each core: code within its CPU budget takes several times its time by the clock."""
    command = [sys.executable, "-S", "-c", "print(flush=True)\nwhile True: pass"]
    busy = [subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) for _ in range(8 * CORES)]
    try:
        for process in busy:
            process.stdout.readline()
        started = time.monotonic()
        reply = session.run_cell("import time\nwhile time.process_time() < 0.6: pass", cpu_seconds=2, wall_seconds=2)
        by_the_clock = time.monotonic() - started
        assert reply.error is None
        assert reply.seconds < 1.5 and reply.wall < 2 < by_the_clock
        with pytest.raises(SessionLost) as lost:
            session.run_cell("import time; time.sleep(10 ** 6)", wall_seconds=2)
        assert lost.value.reason == "timeout" and lost.value.seconds < 0.5
    finally:
        for process in busy:
            process.kill()
            process.communicate()


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


def test_memory_that_the_kernel_holds_for_a_chain_of_processes_is_found():
    """Each process has a note on every mapping of all those above it. No process shows that memory.

    Of a smaller limit a quarter is found, so that no other test beside this one sees its own quarter taken.
    """
    source = (
        "import ctypes, mmap, os, time\nlibc = ctypes.CDLL(None)\nlibc.mmap.restype = ctypes.c_void_p\n"
        "libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]\n"
        "for number in range(20000):\n"
        "    place = (1 << 44) + 2 * number * mmap.PAGESIZE\n"
        "    place = libc.mmap(place, mmap.PAGESIZE, 3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)\n"
        "    ctypes.memset(place, 1, 1)\n"
        "depth = 0\nwhile depth < 12 and os.fork() == 0: depth += 1\ntime.sleep(60)"
    )
    limits = replace(TIGHT, memory_bytes=TIGHT.memory_bytes // 4)
    with (
        Sandbox(limits, preload=["numpy"]) as sandbox,
        sandbox.session(alone=True) as session,
        pytest.raises(SessionLost, match="of the kernel's memory") as lost,
    ):
        session.run_cell(source, cpu_seconds=30, wall_seconds=300)
    assert lost.value.reason == "memory"


def test_a_socket_holds_no_more_than_the_meter_thinks(session):
    source = (
        "import socket\na, b = socket.socketpair()\na.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)\n"
        "a.setblocking(False)\nsent = 0\ntry:\n    while True: sent += a.send(bytes(1 << 16))\n"
        "except BlockingIOError: print(sent)"
    )
    assert 0 < int(output(session, source)) <= meter._socket_buffer()


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


def test_timers_of_which_a_user_has_a_fixed_number_are_few(session):
    source = (
        "import ctypes\nlibc, timer, made = ctypes.CDLL(None), ctypes.c_void_p(), 0\n"
        "while made < 2000 and libc.timer_create(1, None, ctypes.byref(timer)) == 0: made += 1\nprint(made)"
    )
    assert 0 < int(output(session, source)) <= 256


def test_pipes_of_which_a_user_has_a_fixed_amount_are_few_and_keep_their_size(session):
    resize = "import fcntl, os\nheld = [os.pipe() for _ in range(100)]\nfcntl.fcntl(held[0][1], 1031, 1 << 20)"
    assert session.run_cell(resize).error.type == "PermissionError"
    with pytest.raises(SessionLost) as lost:
        session.run_cell("import time\nheld += [os.pipe() for _ in range(50)]\ntime.sleep(60)")
    assert (lost.value.reason, lost.value.message) == ("memory", "more than 128 pipes at once")


def test_a_process_that_the_kernel_ends_at_its_limit_of_cpu_time_has_itself_to_blame():
    """The kernel sends SIGKILL there, which otherwise comes from nobody inside."""
    limits = replace(TIGHT, cpu_seconds_per_step=0.02)
    with Sandbox(limits, preload=["numpy"]) as sandbox, sandbox.session() as session:
        with pytest.raises(SessionLost) as lost:
            session.run_cell("while True: pass", cpu_seconds=60, wall_seconds=300)
        assert lost.value.reason == "timeout" and "one process has" in lost.value.message

"""What the meter sees of processes that hide what they use. No walls are needed here."""

import contextlib
import subprocess
import sys
import threading

import psutil
import pytest

from autograder.sandbox import meter
from autograder.sandbox.meter import ProcessTree

MEBIBYTE = 1 << 20

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@contextlib.contextmanager
def running(source, *, lines=1):
    """The tree of a Python process that has run `source`, which prints as many lines when it is done."""
    program = f"import ctypes, mmap, os, sys, threading, time\n{source}\ntime.sleep(1000)"
    process = subprocess.Popen([sys.executable, "-S", "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        for _ in range(lines):
            assert process.stdout.readline().strip() == "ready"
        yield ProcessTree(process.pid)
    finally:
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
        process.kill()
        process.wait()
        process.stdout.close()


READY = "os.write(1, b'ready\\n')"


@pytest.mark.parametrize(
    "source",
    [
        f"held = b'x' * (60 << 20)\n{READY}",
        f"held = mmap.mmap(-1, 60 << 20)\nheld[:] = b'x' * len(held)\n{READY}",
        # the thread that a process is named after ends, and another one holds the memory
        "def hold():\n    global held\n    time.sleep(0.2)\n    held = b'x' * (60 << 20)\n"
        f"    {READY}\n    time.sleep(1000)\n"
        "threading.Thread(target=hold).start()\n"
        "libc = ctypes.CDLL(None)\nlibc.pthread_exit(None)",
    ],
    ids=["private", "shared", "in a thread without its leader"],
)
def test_memory_of_one_process_counts(source):
    with running(source) as tree:
        assert tree.holds_more_than(50 * MEBIBYTE)
        assert not tree.holds_more_than(250 * MEBIBYTE)


def test_page_tables_count():
    """Pages that are only read are one page of zeros, far apart: what holds memory is what tells where they are."""
    source = (
        "libc = ctypes.CDLL(None)\nlibc.mmap.restype = ctypes.c_void_p\n"
        "libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]\n"
        "flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS\n"
        "for number in range(1, 16001):\n"
        "    ctypes.string_at(libc.mmap(number << 30, mmap.PAGESIZE, mmap.PROT_READ, flags, -1, 0), 1)\n"
    )
    with running(source + READY) as tree:
        assert tree.holds_more_than(50 * MEBIBYTE)


@pytest.mark.parametrize("kind", ["private", "shared"])
def test_memory_of_children_counts(kind):
    held = {"private": "b'x' * (60 << 20)", "shared": "mmap.mmap(-1, 60 << 20); held[:] = b'x' * len(held)"}[kind]
    source = f"for _ in range(3):\n    if os.fork() == 0:\n        held = {held}\n        {READY}\n        break"
    with running(source, lines=3) as tree:
        assert tree.holds_more_than(170 * MEBIBYTE)
        assert not tree.holds_more_than(500 * MEBIBYTE)


@pytest.mark.parametrize("held", ["b'x' * (100 << 20)", "mmap.mmap(-1, 100 << 20); held[:] = b'x' * len(held)"])
def test_pages_that_children_share_count_once(held):
    children = f"for _ in range(4):\n    if os.fork() == 0:\n        len(held[:])\n        {READY}\n        break"
    source = f"held = {held}\n{children}"
    with running(source, lines=4) as tree:
        quick = sum(map(meter._held_at_most, tree._processes()))
        assert quick > 400 * MEBIBYTE
        assert tree.holds_more_than(90 * MEBIBYTE)
        assert not tree.holds_more_than(300 * MEBIBYTE)


def test_where_shares_cannot_be_read_the_quick_count_stands(monkeypatch):
    sizes = meter._sizes
    monkeypatch.setattr(meter, "_sizes", lambda path: {} if path.endswith("smaps_rollup") else sizes(path))
    with running(f"held = b'x' * (60 << 20)\n{READY}") as tree:
        assert tree.holds_more_than(50 * MEBIBYTE)


def test_swapped_pages_count(monkeypatch):
    sizes = {"VmRSS": 9 * MEBIBYTE, "RssAnon": 5 * MEBIBYTE, "RssFile": 4 * MEBIBYTE, "VmSwap": 70 * MEBIBYTE}
    shares = {"Pss": 9 * MEBIBYTE, "Pss_Anon": 5 * MEBIBYTE, "Pss_File": 4 * MEBIBYTE, "SwapPss": 70 * MEBIBYTE}
    monkeypatch.setattr(meter, "_sizes", lambda path: shares if path.endswith("smaps_rollup") else sizes)
    with running(READY) as tree:
        assert tree.holds_more_than(74 * MEBIBYTE)
        assert not tree.holds_more_than(75 * MEBIBYTE)  # pages of files are the machine's


BURN = "end = time.process_time() + 0.5\n{0}while time.process_time() < end: pass\n"


@pytest.mark.parametrize(
    "source",
    [
        BURN.format("") + READY,
        f"if os.fork() == 0:\n    {BURN.format('    ')}    os._exit(0)\nos.wait()\n{READY}",
        f"if os.fork() == 0:\n    {BURN.format('    ')}    {READY}\n    os._exit(0)",
    ],
    ids=["its own", "of a child that was waited for", "of a child that nobody waits for"],
)
def test_cpu_time_counts(source):
    with running(source) as tree:
        assert 0.4 < tree.cpu_seconds() < 5


def test_cpu_time_does_not_run_backwards(monkeypatch):
    monkeypatch.setattr(meter, "COUNTED_EVERY", 0.0)
    with running(BURN.format("") + READY) as tree:
        before = tree.cpu_seconds()
        monkeypatch.setattr(tree, "_processes", list)
        assert tree.cpu_seconds() == before


def test_cpu_time_is_not_counted_twice_in_a_moment(monkeypatch):
    with running(READY) as tree:
        monkeypatch.setattr(meter, "COUNTED_EVERY", 1000.0)
        before = tree.cpu_seconds()
        monkeypatch.setattr(tree, "_processes", None)  # whoever counts, fails
        assert tree.cpu_seconds() == before


def test_processes_and_threads_are_counted():
    source = (
        f"for _ in range(3):\n    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n"
        f"if os.fork() == 0: {READY}\n"
    )
    with running(source) as tree:
        assert tree.tasks() == 5


def test_the_whole_tree_is_ended():
    with running(f"for _ in range(3):\n    if os.fork() == 0: {READY}; break", lines=3) as tree:
        processes = tree._processes()
        assert len(processes) == 4
        collector = threading.Thread(target=tree.process.wait, daemon=True)
        collector.start()
        assert tree.kill()
        _, alive = psutil.wait_procs(processes, timeout=20)
        assert not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


def test_an_ended_process_has_no_tree():
    process = subprocess.Popen([sys.executable, "-S", "-c", ""])
    process.wait()
    with pytest.raises(ProcessLookupError):
        ProcessTree(process.pid)


def test_the_machines_own_sockets_are_nobodys():
    with running(READY) as tree:
        assert meter._socket_bytes(tree._processes()) == 0


@pytest.mark.parametrize(
    "name", ["x kB", "RssAnon: 0 kB", "a\\nRssAnon: 0 kB", ") R 1 1", "\\xff\\xfe kB", "7 kB", "\\t kB"]
)
def test_a_process_cannot_choose_its_sizes_by_its_name(name):
    source = f"held = b'x' * (60 << 20)\nctypes.CDLL(None).prctl(15, b'{name}', 0, 0, 0)\n{READY}"
    with running(source) as tree:
        assert 60 * MEBIBYTE < meter._held_at_most(tree.process) < 250 * MEBIBYTE
        assert tree.holds_more_than(60 * MEBIBYTE)
        assert tree.tasks() == 1
        assert tree.cpu_seconds() > 0


def test_sizes_of_a_process_that_is_gone_are_none():
    assert meter._sizes("/proc/0/status") == {}


def test_pipes_are_counted_once_for_all_processes():
    source = f"held = [os.pipe() for _ in range(70)]\nif os.fork() == 0:\n    time.sleep(1000)\n{READY}"
    with running(source) as tree:
        assert 70 <= tree.pipes() < 80

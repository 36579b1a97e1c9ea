"""Control groups: the kernel's where this machine has them, and files that look like them where it has not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import doctor
from autograder.sandbox import groups
from autograder.sandbox.groups import ControlGroup, Place

MEBIBYTE = 1 << 20


def writable(*names: str) -> Path | None:
    """A real folder of version 1 or 2 in which this user can make groups, with these files."""
    for mount in ("memory", "cpuacct", "unified", ""):
        folder = Path("/sys/fs/cgroup", mount)
        if os.geteuid() == 0 and os.access(folder, os.W_OK) and all((folder / name).exists() for name in names):
            return folder
    return None


FIRST_MEMORY = writable("memory.limit_in_bytes")
FIRST_CPU = writable("cpuacct.usage")
SECOND = writable("cgroup.controllers", "cgroup.procs")
needs_first = pytest.mark.skipif(not (FIRST_MEMORY and FIRST_CPU), reason="no control groups of version 1, or not root")
PLACES = [
    pytest.param(FIRST_MEMORY, FIRST_CPU, marks=needs_first, id="version 1"),
    pytest.param(
        FIRST_MEMORY, SECOND, marks=pytest.mark.skipif(not (FIRST_MEMORY and SECOND), reason="none of version 2"),
        id="CPU time of version 2",
    ),
]  # fmt: skip
WAIT = "import os, sys; os.read(0, 1); "
BURN = "\nimport time\nend = time.process_time() + 0.4\nwhile time.process_time() < end: pass\n"


class Started:
    """A process that waits for a word before it does what it is here for."""

    def __init__(self, source: str):
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-c", WAIT + source], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def go(self) -> int:
        self.process.communicate(b"x", timeout=120)
        return self.process.returncode


@pytest.mark.parametrize(("memory", "cpu"), PLACES)
def test_cpu_time_of_children_that_nobody_waits_for_counts(memory, cpu):
    source = "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)\nif os.fork() == 0:" + BURN.replace(
        "\n", "\n    "
    )
    started = Started(
        source + "\n    os._exit(0)\nwhile True:\n    try: os.wait()\n    except ChildProcessError: break"
    )
    group = ControlGroup(Place(memory, cpu), started.process.pid, 1 << 30)
    assert started.go() == 0
    assert group.cpu_seconds() > 0.35
    assert not group.ran_out_of_memory()
    group.remove()
    assert not any(folder.exists() for folder in group._folders)


@pytest.mark.parametrize(
    "source",
    [
        "held = b'x' * (200 << 20)",
        "import mmap; held = mmap.mmap(-1, 200 << 20); held[:] = b'x' * len(held)",
        "import mmap\nheld = mmap.mmap(-1, 200 << 20)\nfor n in range(0, len(held), 1 << 20):\n"
        "    held[n:n + (1 << 20)] = b'x' * (1 << 20)\n    held.madvise(mmap.MADV_DONTNEED)",
        "import socket\nkept = []\nfor _ in range(1500):\n    a, b = socket.socketpair(); kept += a, b\n"
        "    a.setblocking(False)\n    try:\n        while True: a.send(bytes(1 << 15))\n    except OSError: pass",
    ],
    ids=["private", "shared", "shared and given back", "sockets"],
)
@needs_first
def test_memory_is_bounded_by_the_kernel(source):
    started = Started("import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))\n" + source)
    group = ControlGroup(Place(FIRST_MEMORY, FIRST_CPU), started.process.pid, 100 * MEBIBYTE)
    assert started.go() == -9
    assert group.ran_out_of_memory()
    group.remove()


def test_a_group_of_version_2_is_bounded_and_read(tmp_path):
    """What is written where; a kernel of version 2 with the memory controller was not there to try."""
    group = ControlGroup(Place(tmp_path, tmp_path), 4711, 100 * MEBIBYTE)
    (folder,) = tmp_path.iterdir()
    assert {file.name: file.read_text() for file in folder.iterdir()} == {
        "memory.max": str(100 * MEBIBYTE), "memory.swap.max": "0", "memory.oom.group": "1", "cgroup.procs": "4711",
    }  # fmt: skip
    (folder / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\n")
    (folder / "memory.events").write_text("low 0\nhigh 0\nmax 9\noom 1\noom_kill 0\n")
    assert group.cpu_seconds() == 1.5
    assert not group.ran_out_of_memory()
    (folder / "memory.events").write_text("max 9\noom 1\noom_kill 1\n")
    assert group.ran_out_of_memory()
    for file in folder.iterdir():
        file.unlink()
    group.remove()
    assert not folder.exists()


def test_a_group_that_cannot_be_filled_is_not_left_behind(tmp_path, monkeypatch):
    def refuse(path, value):
        if path.name == "cgroup.procs":
            raise PermissionError

    monkeypatch.setattr(groups, "_write", refuse)
    with pytest.raises(PermissionError):
        ControlGroup(Place(tmp_path, tmp_path), 1, 1)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def handed_over(tmp_path, monkeypatch):
    """A folder that looks like a group of version 2 which has been handed over to this process."""
    for name, content in {
        "cgroup.controllers": "cpu memory pids", "cgroup.subtree_control": "", "cgroup.procs": str(os.getpid()),
    }.items():  # fmt: skip
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(groups, "_mounts", lambda: {"": ("/", "/sys/fs/cgroup")})
    monkeypatch.setattr(groups, "_own", lambda mount, controller: tmp_path if mount else None)
    groups.find.cache_clear()
    yield tmp_path
    groups.find.cache_clear()


def test_a_group_that_was_handed_over_is_used(handed_over):
    assert groups.find() == Place(handed_over, handed_over)
    assert (handed_over / "course-grader" / "cgroup.procs").read_text() == str(os.getpid())
    assert (handed_over / "cgroup.subtree_control").read_text() == "+memory"
    assert doctor._counting().text == "counted by the kernel: control groups, version 2"


def test_a_group_with_other_peoples_processes_is_left_alone(handed_over):
    (handed_over / "cgroup.procs").write_text(f"{os.getppid()}\n{os.getpid()}")
    assert groups.find() == "no control group has been handed over to the grader"
    found = doctor._counting()
    assert not found.works and not found.needed
    assert found.text.startswith("sampled four times a second")
    assert "--scope -p Delegate=yes" in found.remedy
    assert not (handed_over / "course-grader").exists()


def test_without_the_memory_controller_nothing_is_moved(handed_over):
    (handed_over / "cgroup.controllers").write_text("cpu pids")
    assert isinstance(groups.find(), str)
    assert not (handed_over / "course-grader").exists()


def test_what_a_killed_grader_left_is_removed(handed_over):
    (handed_over / "course-grader-4194305-0").mkdir()
    (handed_over / f"course-grader-{os.getpid()}-0").mkdir()
    groups.find()
    assert {each.name for each in handed_over.iterdir() if each.is_dir()} == {
        "course-grader", f"course-grader-{os.getpid()}-0",
    }  # fmt: skip

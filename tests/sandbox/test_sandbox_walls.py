"""What a submission can see and reach, however the walls are built."""

import ast
import contextlib
import errno
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import venv
from pathlib import Path

import psutil
import pytest
from tight_sandbox import ROOT, TIGHT, output, wait_until

from autograder.sandbox import Sandbox, SandboxUnavailable, SessionLost, bubblewrap, check_walls, warm
from autograder.worker.walls import _ALLOWED, system_call_filter

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


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


NAMED_BY_PIP = r"""
import os, pathlib, re, sysconfig
folder = pathlib.Path(sysconfig.get_path("purelib"))
notes = [*folder.glob("*.dist-info/direct_url.json"), *folder.glob("__editable__*")]
named = {path for note in notes for path in re.findall(r"/[^'\"]+", note.read_text().replace("file://", ""))}
print(sorted({name for path in named if os.path.isdir(path) for name in os.listdir(path)}))
"""


def test_what_pip_left_names_folders_of_the_course_and_opens_none(session):
    """A path in it is no secret: Python's own place tells as much. Below it lies at most Python."""
    seen = set(ast.literal_eval(output(session, NAMED_BY_PIP)))
    assert seen <= {Path(sys.prefix).name, "coursekit"}


@pytest.mark.parametrize("module", ["autograder", "exercises.formulas", "autograder.worker", "solutions"])
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


def test_calls_younger_than_the_library_are_refused_by_number(session):
    """Landlock's, whose memory no limit counts; lists of mounts; and all that a future kernel may have."""
    source = (
        "import ctypes\nlibc, found = ctypes.CDLL(None, use_errno=True), {}\n"
        "for number in range(425, 512):\n"
        "    ctypes.set_errno(0)\n"
        "    if number not in ALLOWED: found[number] = (libc.syscall(number, 0, 0, 1, 0), ctypes.get_errno())\n"
        "print(found)"
    )
    found = ast.literal_eval(output(session, source.replace("ALLOWED", repr(set(_ALLOWED)))))
    assert {444, 445, 446, 447, 457, 458, 467, 468, 469, 470} <= found.keys()
    assert {number: said for number, said in found.items() if said != (-1, errno.ENOSYS)} == {}


def test_newer_calls_that_programs_use_may_be_made(session):
    assert output(session, "import os, signal; print(signal.pidfd_send_signal(os.pidfd_open(1), 0))") == "None"


def test_a_rule_that_the_library_cannot_make_is_no_silent_gap(monkeypatch):
    """`course doctor` says so: a filter without one of its rules does not stand."""
    import pyseccomp

    known = pyseccomp.resolve_syscall
    monkeypatch.setattr(pyseccomp, "resolve_syscall", lambda where, name: -1 if name == "bpf" else known(where, name))
    with pytest.raises(ImportError, match="too old: it does not know the system call bpf"):
        system_call_filter()


def test_a_detached_process_does_not_outlive_its_session(sandbox):
    own = f"86399.{secrets.randbits(60)}"  # another run of this test on the machine has another number

    def runs() -> bool:
        return any(process.info["cmdline"] == ["sleep", own] for process in psutil.process_iter(["cmdline"]))

    with sandbox.session() as session:
        session.run_cell(
            "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
            f"        os.execvp('sleep', ['sleep', '{own}'])\n    os._exit(0)"
        )
        wait_until(runs)
    wait_until(lambda: not runs())


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


@pytest.mark.parametrize(
    "wanted", [pytest.param(kind, marks=[pytest.mark.long] * (kind != "memory")) for kind in GREEDY]
)
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


def test_a_python_that_cannot_be_shown_is_named_with_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "base_prefix", "/tmp/python")
    with pytest.raises(ValueError, match="Python is installed in /tmp/python") as refusal:
        bubblewrap.arguments(bubblewrap.Variant(user_namespace=True, own_proc=True, start_as=None))
    monkeypatch.setattr(warm, "_CONTAINER_MARKS", (str(tmp_path),))
    wall = warm.outer_wall(str(refusal.value))
    assert not wall.stands and "not below /tmp" in wall.remedy and "--security-opt" not in wall.remedy


@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="it takes a virtual environment")
def test_a_link_below_tmp_to_an_environment_elsewhere_works():
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        link = Path(folder) / ".venv"
        link.symlink_to(sys.prefix)
        program = "from autograder.sandbox import bubblewrap; print(bubblewrap.working_variant())"
        python = [link / "bin" / "python", "-c", program]
        told = subprocess.run(
            python, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
        )
        assert told.stdout.startswith("Variant("), told.stdout


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


@pytest.fixture(
    params=[pytest.param("/tmp", id="moved", marks=pytest.mark.long), pytest.param("/var/tmp", id="in its place")]
)
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

"""A machine that runs out of memory or of processes again and again, while a mixed class is graded: no mark changes."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from class_runs import Run, mixed_class

pytestmark = [pytest.mark.sandbox, pytest.mark.long]

GROUPS = Path("/sys/fs/cgroup")
TIMES = 6  # that something runs short
MOST_RUNS = 12
# Takes so many bytes for a moment. The kernel may end any process of the group but this one to make room for it.
GREEDY = """
import sys, time
open("/proc/self/oom_score_adj", "w").write("-1000")
open(sys.argv[1], "w").write("0")
held = bytearray(int(sys.argv[2]))
held[::4096] = b"x" * len(held[::4096])
time.sleep(0.5)
"""


@contextmanager
def group_of(kind: str) -> Iterator[Path]:
    """A control group of version 1, the only one that root may make inside any container; else the test is skipped."""
    group = GROUPS / kind / f"course-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        pytest.skip(f"a control group for {kind} cannot be made here")
    try:
        yield group
    finally:
        with suppress(OSError):
            group.rmdir()


def number(file: Path) -> int:
    return int(file.read_text().split()[-1])


def graded_while(run: Run, group: Path, happens: Callable[[], None]) -> str:
    """Grade in the group until everybody has a verdict, while something `happens`, `TIMES` times in all.

    Returns what all runs said.
    """
    chance, ended = random.Random(1), threading.Event()

    def again_and_again() -> None:
        for _ in range(TIMES):
            if ended.wait(chance.uniform(2, 6)):
                return
            happens()

    trouble = threading.Thread(target=again_and_again)
    trouble.start()
    said = ""
    try:
        for _ in range(MOST_RUNS):
            code, words = run.finish("sh", "-c", f'echo 0 >"{group}/cgroup.procs" && exec "$@"', "sh")
            said += f"{words}\n-- {code}\n"
            assert "Traceback" not in words, said
            waiting = {folder.name for folder in (run.course / "handed-in").iterdir()} - run.recorded().keys()
            if code == 0:
                assert not waiting, said
                break
            assert code in (1, 2, 3, -9), said
    finally:
        ended.set()
        trouble.join()
    assert code == 0, said
    return said


def test_memory_that_runs_out_changes_no_mark(tmp_path):
    """The kernel ends the largest process again and again: a worker, what a student left, or the grader itself."""
    course = mixed_class(tmp_path, 8)
    undisturbed, short = Run(course, "undisturbed"), Run(course, "short")
    with group_of("memory") as group:
        (group / "memory.limit_in_bytes").write_text(str(3 << 30))

        def more_than_there_is() -> None:
            free = (3 << 30) - number(group / "memory.usage_in_bytes")
            words = [sys.executable, "-S", "-c", GREEDY, str(group / "cgroup.procs"), str(free + (64 << 20))]
            subprocess.run(words, timeout=120)

        assert undisturbed.finish()[0] == 0
        graded_while(short, group, more_than_there_is)
        killed = number(group / "memory.oom_control")
    assert killed
    assert short.details() == undisturbed.details()


def test_a_full_process_table_changes_no_mark(tmp_path):
    """For some seconds nothing of the grader can start a process or a thread, again and again."""
    course = mixed_class(tmp_path, 8)
    undisturbed, short = Run(course, "undisturbed"), Run(course, "short")
    with group_of("pids") as group:
        most, refused = group / "pids.max", group / "pids.events"

        def no_more_processes() -> None:
            most.write_text(str(number(group / "pids.current")))
            threading.Event().wait(3)
            most.write_text("max")

        assert undisturbed.finish()[0] == 0
        graded_while(short, group, no_more_processes)
        times = number(refused)
    assert times
    assert short.details() == undisturbed.details()

"""`course grade --cluster` as it is typed, behind real walls: the verdicts of one machine, whatever is killed."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from cluster_processes import Processes, wait_for
from hostile.making import LAB, ROOT, answered, as_bytes
from test_resume import WRONG, Run, mixed_class

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


class ClusterRun(Run):
    """`course grade --cluster` with its own gradebook and tables."""

    def __init__(self, course: Path, name: str, address: str):
        super().__init__(course, name)
        self.words[-2:] = ["--cluster", address]

    def pages(self) -> dict[str, bytes]:
        return {path.parent.name: path.read_bytes() for path in self.folder.glob(f"feedback/*/{LAB}.html")}


@pytest.fixture(scope="module")
def processes(tmp_path_factory) -> Iterator[Processes]:
    with Processes(tmp_path_factory.mktemp("cluster")) as started:
        started.start_worker("one", stand_in=False, nanny=True)
        started.start_worker("two", stand_in=False, nanny=True)
        yield started


HANDED_IN = {
    "right": lambda: as_bytes(answered()),
    "wrong": lambda: as_bytes(answered(self_attention_loops=WRONG["self_attention_loops"], answers="answers = {}")),
    "leaves": lambda: as_bytes(answered(project_qkv=WRONG["project_qkv"])),
    "damaged": lambda: b"{",
    "raises": lambda: as_bytes(answered(attention_cost=WRONG["attention_cost"])),
    "right-too": lambda: as_bytes(answered()),
}


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    root = mixed_class(tmp_path_factory.mktemp("course"), 0)
    for student, make in HANDED_IN.items():
        (root / "handed-in" / student).mkdir(parents=True)
        (root / "handed-in" / student / f"{LAB}.ipynb").write_bytes(make())
    return root


@pytest.fixture(scope="module")
def alone(course) -> Run:
    """The same class graded on this machine alone."""
    run = Run(course, "alone")
    code, said = run.finish()
    assert code == 0, said
    return run


def sandboxes(processes: Processes) -> list[psutil.Process]:
    """The processes of all workers' sandboxes: bubblewrap, and what runs inside."""
    found = []
    for worker in processes.workers.values():
        for process in psutil.Process(worker.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                found += [process] if process.name() == "bwrap" else []
    return found


@pytest.mark.long
def test_verdicts_tables_pages_and_exit_code_are_those_of_one_machine(processes, course, alone):
    """With a client that is killed on the way: the next run goes on from what is recorded."""
    run = ClusterRun(course, "cluster", processes.address)
    killed = run.start(start_new_session=True)
    wait_for(lambda: run.recorded() or killed.poll() is not None, 900)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    kept = run.recorded()
    assert kept
    code, said = run.finish()
    assert code == 0, said
    assert kept.items() <= run.recorded().items()
    assert run.details() == alone.details()
    assert (run.folder / "grades.csv").read_bytes() == (alone.folder / "grades.csv").read_bytes()
    assert run.pages() == ClusterRun(course, "alone", "").pages()


@pytest.mark.long
def test_each_worker_keeps_one_warm_sandbox_from_run_to_run(processes, course, alone):
    """One of bubblewrap for each worker outside, and it is the same before and after another run."""
    seen = []
    for name in ("first", "again"):
        run = ClusterRun(course, name, processes.address)
        shutil.copy(alone.database, run.database)
        run.words.append("--again")
        code, said = run.finish()
        assert code == 0, said
        assert run.details() == alone.details()
        seen.append({process.pid for process in sandboxes(processes)})
    assert seen[0] and seen[0] == seen[1]


@pytest.mark.long
def test_a_cluster_that_is_not_there_ends_the_run_with_a_sentence(course):
    run = ClusterRun(course, "nowhere", "tcp://127.0.0.1:9")
    run.words += ["--cluster-wait", "0"]
    code, said = run.finish()
    said = " ".join(said.split())
    assert code == 3 and "Traceback" not in said
    assert "No scheduler answers at tcp://127.0.0.1:9" in said
    assert "1 of 6 submissions have a verdict" in said  # on the damaged one, which needs no worker


@pytest.mark.long
def test_ctrl_c_stops_it_and_keeps_what_is_recorded(processes, course, tmp_path):
    """One submission sleeps, so that there is something left to stop however quick the others are."""
    class_with_sleeper = shutil.copytree(course, tmp_path / "course")
    sleeper = class_with_sleeper / "handed-in" / "sleeps" / f"{LAB}.ipynb"
    sleeper.parent.mkdir()
    sleeper.write_bytes(as_bytes(answered(project_qkv="import time\ntime.sleep(150)\ndef project_qkv(*_): pass")))
    run = ClusterRun(class_with_sleeper, "stopped", processes.address)
    # Who starts the tests in the background of a shell has them ignore Ctrl-C, and all that they start.
    process = run.start(start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    wait_for(lambda: run.recorded() or process.poll() is not None, 900)
    os.kill(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=600)
    assert process.returncode == 130 and "Traceback" not in said, said
    assert 0 < len(run.recorded()) <= len(HANDED_IN)


class Killer(threading.Thread):
    """Ends, with kill -9 at random moments, a worker's process, its sandbox, or a submission's own process."""

    def __init__(self, processes: Processes, kills: int):
        super().__init__(daemon=True)
        self.processes, self.most, self.chance = processes, kills, random.Random(kills)
        self.kills = 0
        self.enough = threading.Event()

    def run(self) -> None:
        while self.kills < self.most and not self.enough.wait(self.chance.uniform(0.5, 6)):
            with contextlib.suppress(psutil.Error, IndexError):
                nanny = psutil.Process(self.chance.choice([*self.processes.workers.values()]).pid)
                below = [
                    process for process in nanny.children(recursive=True) if process.status() != psutil.STATUS_ZOMBIE
                ]
                workers = [process for process in below if "spawn_main" in " ".join(process.cmdline())]
                self.chance.choice(workers if self.chance.random() < 0.5 else below).kill()
                self.kills += 1


@pytest.mark.exhaustive
def test_a_hundred_kills_change_no_mark(tmp_path, tmp_path_factory):
    """Workers are replaced by their nannies; who has no verdict after a run gets it in the next one."""
    course = mixed_class(tmp_path, 40)
    alone = Run(course, "alone")
    assert alone.finish()[0] == 0
    with Processes(tmp_path_factory.mktemp("killed")) as processes:
        for name in ("one", "two"):
            processes.start_worker(name, stand_in=False, nanny=True)
        run = ClusterRun(course, "killed", processes.address)
        killer = Killer(processes, 100)
        killer.start()
        for _ in range(100):
            code, said = run.finish()
            assert code in (0, 1, 3) and "Traceback" not in said, said
            waiting = {folder.name for folder in (course / "handed-in").iterdir()} - run.recorded().keys()
            assert (code == 0) == (not waiting), said
            if not waiting:
                if killer.kills == killer.most:
                    break
                run.database.unlink()  # what is recorded already is no target any more
    assert killer.kills == killer.most
    assert run.details() == alone.details()


# -- the network -------------------------------------------------------------------------------------------------------


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@pytest.fixture
def far_away() -> Iterator[str]:
    """A network namespace that one cable joins to this one; the worker runs there."""
    name, ours, theirs = f"course{os.getpid()}", f"c{os.getpid()}a", f"c{os.getpid()}b"
    try:
        ip("netns", "add", name)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a network namespace cannot be made here")
    try:
        ip("link", "add", ours, "type", "veth", "peer", "name", theirs, "netns", name)
        ip("address", "add", "10.213.77.1/30", "dev", ours)
        ip("link", "set", ours, "up")
        for words in (["link", "set", "lo", "up"], ["address", "add", "10.213.77.2/30", "dev", theirs]):
            ip("-n", name, *words)
        ip("-n", name, "link", "set", theirs, "up")
        yield name
    finally:
        subprocess.run(["ip", "netns", "delete", name], capture_output=True)


@pytest.mark.long
@pytest.mark.parametrize("seconds", [3, 20])
def test_a_network_that_is_down_for_a_while_costs_nobody_anything(tmp_path, far_away, seconds):
    from test_cluster_client import Grading, LabGrader, load_course

    with Processes(tmp_path / "cluster", host="10.213.77.1") as processes:
        processes.start_worker("far", threads=2, prefix=["ip", "netns", "exec", far_away])
        run = Grading(LabGrader(load_course(ROOT), LAB, seed=7), processes.address)
        run.wait_for_verdicts(4)
        ip("link", "set", f"c{os.getpid()}a", "down")
        time.sleep(seconds)
        assert len(run.verdicts) < 24
        ip("link", "set", f"c{os.getpid()}a", "up")
        run.everybody_has_one()

"""Grading on a cluster of real processes: whatever is killed, hangs or is short, every submission gets its verdict."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import dask
import pytest
from cluster_processes import Processes, wait_for
from hostile.making import FULL, LAB, ROOT

from autograder.course.settings import CourseError, load_course
from autograder.grading.lab_grader import GradingFailed, LabGrader
from autograder.grading.results import LabResult
from autograder.integrations.cluster import client as client_module
from autograder.integrations.cluster import connection as connection_module
from autograder.integrations.cluster.client import Cluster, ClusterUnavailable
from autograder.submission import FoundSubmission

COUNT = 24
pytestmark = pytest.mark.slow
NOTEBOOK = (ROOT / "labs" / LAB / f"{LAB}.ipynb").read_bytes()


class Source:
    """A notebook that is in no file."""

    path = Path("notebook.ipynb")

    def __init__(self, data: bytes = NOTEBOOK):
        self._data = data

    def read(self) -> bytes:
        return self._data


STUDENTS = [FoundSubmission(f"student-{number:02}", LAB, None, Source()) for number in range(COUNT)]


@pytest.fixture(scope="module")
def grader() -> LabGrader:
    return LabGrader(load_course(ROOT), LAB, seed=7)


@pytest.fixture
def processes(tmp_path) -> Iterator[Processes]:
    with Processes(tmp_path / "cluster") as started:
        yield started


class Grading(threading.Thread):
    """The client at work, in a thread: the test disturbs it meanwhile."""

    def __init__(self, grader: LabGrader, address: str, found=STUDENTS, wait_seconds: float = 900.0):
        super().__init__(daemon=True)
        self.told: list[str] = []
        self.verdicts: list[LabResult | GradingFailed] = []
        self.error: Exception | None = None
        self._cluster = Cluster(address, wait_seconds=wait_seconds, tell=self.told.append)
        self._arguments = grader, found
        self.start()

    def run(self) -> None:
        try:
            for batch in self._cluster.grade_all(*self._arguments):
                self.verdicts += batch
        except Exception as error:
            self.error = error

    def wait_for_verdicts(self, count: int) -> None:
        wait_for(lambda: len(self.verdicts) >= count or not self.is_alive())
        assert len(self.verdicts) >= count, (self.error, self.told)

    def everybody_has_one(self) -> None:
        """Each student one verdict, with full marks, and nobody is blamed."""
        self.join(900)
        assert not self.is_alive() and self.error is None, (self.error, self.told)
        assert sorted(verdict.student for verdict in self.verdicts) == [submission.student for submission in STUDENTS]
        assert {getattr(verdict, "score", verdict) for verdict in self.verdicts} == {FULL}


@pytest.mark.long
def test_a_worker_that_is_killed_then_all_of_them_then_the_scheduler(processes, grader):
    """One run through it all: nothing is lost, nothing comes twice, nobody is blamed."""
    first, second = processes.start_worker("first"), processes.start_worker("second")
    run = Grading(grader, processes.address)
    run.wait_for_verdicts(4)
    processes.kill(first)
    done = len(run.verdicts)
    run.wait_for_verdicts(done + 4)
    processes.kill(second)
    processes.start_worker("third")
    done = len(run.verdicts)
    run.wait_for_verdicts(done + 2)
    processes.kill(processes.scheduler)
    processes.kill(processes.workers["third"])
    processes.start_scheduler()
    processes.start_worker("fourth", threads=2)
    run.everybody_has_one()
    assert any("scheduler" in sentence and "lost" in sentence for sentence in run.told)


@pytest.mark.long
def test_a_worker_that_hangs_costs_nobody_anything(processes, grader, monkeypatch):
    monkeypatch.setattr(client_module, "SILENT_SECONDS", 4.0)
    hanging = processes.start_worker("hanging", threads=2)
    run = Grading(grader, processes.address)
    run.wait_for_verdicts(4)
    os.kill(hanging.pid, signal.SIGSTOP)  # alone up to now, so that it is in the middle of the class
    processes.start_worker("working", threads=2)
    try:
        run.everybody_has_one()
    finally:
        os.kill(hanging.pid, signal.SIGCONT)
    assert "hanging gets no submissions: it does not answer" in run.told


@pytest.mark.long
def test_the_client_keeps_nothing_of_what_it_has_sent(processes, grader):
    """Two hundred submissions of 200 kB: what is held at the end is that of a few."""
    processes.start_worker("only", threads=16)
    source = Source(NOTEBOOK + b" " * 200_000)
    handed_in = [FoundSubmission(f"student-{number:03}", LAB, None, source) for number in range(200)]
    verdicts, held = 0, 0
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for batch in Cluster(processes.address, wait_seconds=900).grade_all(grader, handed_in):
            verdicts += len(batch)
            gc.collect()
            held = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert verdicts == 200
    assert held < 20e6, f"{held / 1e6:.0f} MB of 40 MB sent"


@pytest.mark.long
def test_workers_that_differ_are_refused_by_name(processes, grader):
    """Another NumPy on one of them, no walls on another; the third grades everybody."""
    numpy = processes.folder / "other" / "numpy_of_yesterday.py"
    numpy.parent.mkdir()
    numpy.write_text("from autograder.integrations.cluster import job\njob.version = lambda name: '1.0'\n")
    no_walls = processes.folder / "other" / "no_walls.py"
    no_walls.write_text(
        "from autograder.sandbox import bubblewrap\n"
        "bubblewrap.working_variant = lambda: 'bubblewrap is not installed'\n"
    )
    processes.start_worker("old", "--preload", str(numpy))
    processes.start_worker("open", "--preload", str(no_walls), stand_in=False)
    run = Grading(grader, processes.address)
    wait_for(lambda: len(run.told) >= 2)
    assert not run.verdicts
    processes.start_worker("good", threads=2)
    run.everybody_has_one()
    told = " | ".join(run.told)
    assert "old gets no submissions: it has another version of TensorFlow (1.0, here it is" in told
    assert "NumPy" in told
    assert "open gets no submissions: bubblewrap is not installed. Type: apt-get install bubblewrap" in told


@pytest.mark.long
def test_without_workers_and_without_a_scheduler_it_says_what_to_do(processes, grader, monkeypatch):
    unreadable = FoundSubmission("damaged", LAB, None, Source(b"{"))
    run = Grading(grader, processes.address, [unreadable, *STUDENTS], wait_seconds=1.0)
    run.join(300)
    assert isinstance(run.error, ClusterUnavailable) and "It has no workers. Start some" in str(run.error)
    assert [(verdict.student, verdict.state) for verdict in run.verdicts] == [("damaged", "unreadable")]
    processes.kill(processes.scheduler)
    run = Grading(grader, processes.address, wait_seconds=0.0)
    run.join(300)
    assert isinstance(run.error, ClusterUnavailable) and "Start one there: dask scheduler" in str(run.error)


@pytest.mark.long
def test_a_worker_whose_disk_is_full_is_named_and_waited_for(processes, grader):
    """The disk for temporary files fills up before the worker gets the job; later there is room."""
    folder, disk = processes.folder, processes.folder / "disk"
    disk.mkdir()
    rights = [] if os.geteuid() == 0 else ["--map-root-user"]
    script = (
        f'mount -t tmpfs -o size=256k small "{disk}" && cd "{folder}" && '
        f'(until [ -e fill ]; do sleep 0.1; done; head -c 1M /dev/zero > "{disk}/filler"; touch filled; '
        f'until [ -e room ]; do sleep 0.1; done; rm "{disk}/filler"; mount -o remount,size=64m "{disk}") & exec "$@"'
    )
    inside = ["unshare", "--mount", *rights, "sh", "-c", script, "sh"]
    if not shutil.which("unshare") or subprocess.run([*inside[:-4], "true"], capture_output=True).returncode:
        pytest.skip("a file system cannot be mounted here")
    choose = folder / "choose_the_disk.py"
    choose.write_text("import tempfile\ntempfile.gettempdir()\n")  # while it can be written; else Python takes another
    processes.start_worker("full", "--preload", str(choose), prefix=inside, settings={"TMPDIR": str(disk)}, threads=2)
    wait_for(lambda: "Registered to" in processes.log("full"))
    (folder / "fill").touch()
    wait_for((folder / "filled").exists)
    run = Grading(grader, processes.address)
    wait_for(lambda: run.told)
    assert run.told == ["full gets no submissions: OSError: [Errno 28] No space left on device"]
    (folder / "room").touch()
    run.everybody_has_one()


@pytest.mark.parametrize(
    ("named", "wrong"),
    [
        ("nowhere.json", "is not the address of a scheduler"),
        ("http://localhost:8786", "the address of a scheduler is"),
        ("tcp://localhost", "the address of a scheduler is"),
        ("tls://localhost:8786", "needs certificates"),
    ],
)
def test_an_address_that_is_none_is_told_in_a_sentence(named, wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CourseError, match=wrong):
        connection_module.scheduler_address(named)


def test_a_scheduler_file_names_the_address(tmp_path):
    (tmp_path / "scheduler.json").write_text('{"address": "tcp://127.0.0.1:9"}')
    assert connection_module.scheduler_address(str(tmp_path / "scheduler.json")) == "tcp://127.0.0.1:9"
    (tmp_path / "scheduler.json").write_text("[]")
    with pytest.raises(CourseError, match="is not the address of a scheduler"):
        connection_module.scheduler_address(str(tmp_path / "scheduler.json"))


@pytest.mark.long
def test_with_tls_only_who_has_a_certificate_of_the_authority_is_heard(tmp_path, grader):
    """The certificates are those that `tools/cluster_certificates.sh` makes."""
    if not shutil.which("openssl"):
        pytest.skip("no openssl here")
    made = {}
    for name in ("ours", "theirs"):
        script = [str(ROOT / "tools" / "cluster_certificates.sh"), str(tmp_path / name)]
        subprocess.run(script, check=True, capture_output=True)
        parts = {"ca-file": "ca.pem", "client.cert": "client.pem", "client.key": "client.key"}
        made[name] = {f"distributed.comm.tls.{key}": str(tmp_path / name / file) for key, file in parts.items()}
    prefix = "DASK_DISTRIBUTED__COMM__TLS__"
    settings = {prefix + "CA_FILE": str(tmp_path / "ours" / "ca.pem")}
    for side in ("scheduler", "worker"):
        settings[f"{prefix}{side.upper()}__CERT"] = str(tmp_path / "ours" / f"{side}.pem")
        settings[f"{prefix}{side.upper()}__KEY"] = str(tmp_path / "ours" / f"{side}.key")
    with Processes(tmp_path / "cluster", settings=settings, scheme="tls") as processes:
        assert processes.address.startswith("tls://")
        processes.start_worker("only", threads=4)
        with dask.config.set(made["ours"]):
            Grading(grader, processes.address).everybody_has_one()
        with dask.config.set(made["theirs"]):
            run = Grading(grader, processes.address, wait_seconds=0.0)
            run.join(300)
            assert isinstance(run.error, ClusterUnavailable) and not run.verdicts
        run = Grading(grader, processes.address.replace("tls", "tcp"), wait_seconds=0.0)
        run.join(300)
        assert isinstance(run.error, ClusterUnavailable) and not run.verdicts

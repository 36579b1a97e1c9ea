"""Grading on a cluster of real processes: the verdicts of one machine, whatever is killed, hangs or is odd."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import dask
import msgpack
import pytest
from class_runs import WRONG, Run, mixed_class
from cluster_processes import Processes, wait_for
from hostile.making import FULL, LAB, ROOT, answered, as_bytes

from autograder.course.settings import CourseError, load_course
from autograder.grade.lab_grader import GradingFailed, LabGrader
from autograder.grade.results import ExerciseResult, GroupResult, LabResult
from autograder.integrations.cluster import worker
from autograder.integrations.cluster.client import Cluster, ClusterUnavailable
from autograder.integrations.cluster.wire import decode_job, decode_record, encode_job, encode_record
from autograder.integrations.scaffold.making import new_course
from autograder.read import FoundSubmission
from autograder.release.release import release

NOTEBOOK = (ROOT / "labs" / LAB / f"{LAB}.ipynb").read_bytes()

# -- what travels ------------------------------------------------------------------------------------------------------

GROUP = GroupResult("values", "right values", 1.0, False, "The columns sum to 1.", ("softmax_over_queries",))
EXERCISES = (
    ExerciseResult("double", 2, 2, "graded", seconds=0.25),
    ExerciseResult("square", 0.5, 3, "graded", ("half",), ("You halve it.",), (GROUP,), "why \ud800", "a hint"),
)
RESULT = LabResult("ada", "01_tiny", EXERCISES, repairs=("A cell came back.",), content_hash="c1", grader_version="g1")


def test_a_verdict_comes_back_as_it_was_without_the_students_name():
    record = encode_record(RESULT)
    assert b"ada" not in record
    assert decode_record(record).to_dict() == RESULT.to_dict() | {"student": ""}


def of_result(**values) -> bytes:
    return json.dumps(json.loads(encode_record(RESULT)) | values).encode()


def of_exercise(**values) -> bytes:
    content = json.loads(encode_record(RESULT))
    content["exercises"][0] |= values
    return json.dumps(content).encode()


@pytest.mark.parametrize(
    "answer",
    [
        None, "text", RESULT, b"", b"null", b"[]", b"[" * 100_000, pickle.dumps(RESULT), b" " * (5 << 20),
        of_result(student="ada"), of_result(lab=7), of_result(repairs="x"), of_result(exercises=[1]),
        of_exercise(score="2"), of_exercise(score=-1), of_exercise(score=3), of_exercise(score=1e300),
        of_exercise(score=float("nan")), of_exercise(seconds=float("inf")), of_exercise(status="marvellous"),
        of_exercise(message=None), of_exercise(groups=[{}]), of_exercise(more=1),
    ],
)  # fmt: skip
def test_what_is_no_record_is_no_verdict(answer):
    with pytest.raises((ValueError, ArithmeticError)):
        decode_record(answer)


def test_whatever_a_submission_writes_its_record_can_be_read():
    """14,400 repairs and a message of a million characters: a client would refuse the record, for ever."""
    long = "x" * 1_700_000
    group = GroupResult("values", long[:100], 1.0, False, long)
    exercise = ExerciseResult("double", 0, 2, "graded", groups=(group,), message=long, hint="a hint")
    repairs = tuple(f"The cell {number} came back. {long[:3000]}" for number in range(14_400))
    record = encode_record(LabResult("ada", "01_tiny", (exercise,), reason=long, repairs=repairs))
    result = decode_record(record)
    assert len(record) < 1 << 20 and len(result.repairs) == 200 and "and 14201 more" in result.repairs[-1]
    assert max(len(result.reason), len(result.exercises[0].message), len(result.exercises[0].groups[0].message)) == 2000


@pytest.fixture(scope="module")
def grader() -> LabGrader:
    return LabGrader(load_course(ROOT), LAB, seed=7)


def test_the_grader_made_from_a_job_is_the_one_that_it_was_made_of(grader, tmp_path, monkeypatch):
    encoded = encode_job(grader)
    monkeypatch.chdir(tmp_path)
    made = decode_job(encoded)
    assert made.version == grader.version
    assert (made.points, made.limits, made.seed) == (grader.points, grader.limits, 7)
    assert {name: cells for name, cells in made.known.items() if cells} == {
        name: cells for name, cells in grader.known.items() if cells
    }
    assert not made.course.root.exists(), "hidden cases, or a solution, stay on the worker's disk"
    with pytest.raises(CourseError, match="of another version"):
        decode_job(msgpack.packb(msgpack.unpackb(encoded) | {"version": "g0"}))


def test_what_a_worker_raises_is_a_text_and_it_leaves_where_it_cannot_grade(grader, monkeypatch):
    """Dask sends what a task raises as a pickle: no other error may be behind it."""
    told, closed = [], []

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(
        worker, "Sandbox", lambda *_, **__: SimpleNamespace(start=lambda: 0, close=lambda: closed.append(1))
    )
    monkeypatch.setattr(LabGrader, "judge", fail)
    on_worker = SimpleNamespace(
        name="one",
        log_event=lambda topic, sentence: told.append(sentence),
        loop=SimpleNamespace(add_callback=lambda *_, **__: closed.append("worker")),
        close=None,
    )
    plugin = pickle.loads(pickle.dumps(worker.GradingPlugin(encode_job(grader))))
    plugin.setup(on_worker)
    with pytest.raises(RuntimeError, match="No space left") as raised:
        plugin.grade(NOTEBOOK)
    assert raised.value.__context__ is None and raised.value.__cause__ is None
    assert told == ["one cannot grade and leaves the cluster: OSError: [Errno 28] No space left on device"]
    plugin.teardown(on_worker)
    wait_for(lambda: closed == ["worker", 1], 60)


@pytest.mark.long
@pytest.mark.sandbox
def test_an_instructors_own_exercises_travel_with_their_solution_and_data(tmp_path, monkeypatch):
    new_course(tmp_path / "statistics")
    monkeypatch.chdir(tmp_path / "statistics")
    course = load_course()
    lab = course.labs[0].name
    (course.solutions / lab / "data").mkdir()
    (course.solutions / lab / "data" / "table.csv").write_text("1\n")
    release(course)
    own = LabGrader(course, lab, seed=3)
    made = decode_job(encode_job(own))
    assert (made.version, made.files) == (own.version, {"data/table.csv": b"1\n"})
    assert made.solution.cells[0].source == own.solution.cells[0].source
    (course.releases / lab / "data" / "table.csv").write_text("2\n")
    assert decode_job(encode_job(LabGrader(course, lab, seed=3))).version != own.version


@pytest.mark.parametrize("named", ["nowhere.json", "list.json", "http://localhost:8786", "tcp://localhost", "tls://"])
def test_an_address_that_is_none_is_told_in_a_sentence(named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("list.json").write_text("[]")
    with pytest.raises(CourseError, match="name a scheduler by tcp://HOST:PORT"):
        Cluster(named)


def test_a_scheduler_file_names_the_address(tmp_path):
    (tmp_path / "scheduler.json").write_text('{"address": "tcp://127.0.0.1:9"}')
    assert Cluster(str(tmp_path / "scheduler.json")).address == "tcp://127.0.0.1:9"


# -- what fails --------------------------------------------------------------------------------------------------------


class Source:
    """A notebook that is in no file."""

    path = Path("notebook.ipynb")
    members = ()

    def __init__(self, data: bytes = NOTEBOOK):
        self._data = data

    def read(self) -> bytes:
        return self._data


STUDENTS = [FoundSubmission(f"student-{number:02}", LAB, None, Source()) for number in range(24)]
POISON = FoundSubmission("poison", LAB, None, Source(NOTEBOOK + b" " * 9 + b"POISON"))


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


@pytest.fixture
def processes(tmp_path, request) -> Iterator[Processes]:
    """A scheduler waits five minutes for a worker that is silent, else a slow machine loses workers that are well."""
    patience = "30s" if "stop_one" in request.node.name else "300s"
    settings = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": patience}
    with Processes(tmp_path / "cluster", settings=settings) as started:
        yield started


def kill_one_then_all(processes: Processes, run: Grading) -> None:
    """Of two workers one is killed, then the other; a third one comes."""
    run.wait_for_verdicts(4)
    processes.kill(processes.workers["first"])
    run.wait_for_verdicts(len(run.verdicts) + 4)
    processes.kill(processes.workers["second"])
    processes.start_worker("third")


def stop_one(processes: Processes, run: Grading) -> None:
    """A worker hangs for longer than the scheduler waits for its workers."""
    run.wait_for_verdicts(4)
    os.kill(processes.workers["first"].pid, signal.SIGSTOP)


def close_gate(processes: Processes) -> Path:
    """Let the workers finish nothing more until the file is gone, so that a third one comes before the end."""
    gate = processes.folder / "gate"
    gate.touch()
    return gate


def send_worker_that_differs(processes: Processes, run: Grading) -> None:
    """A third worker has another grader."""
    gate = close_gate(processes)
    other = processes.folder / "another_version.py"
    other.write_text("from autograder.grade import lab_grader\nlab_grader.digest_sources = lambda: 'of yesterday'\n")
    processes.start_worker("third", "--preload", str(other))
    wait_for(lambda: run.told or not run.is_alive())
    assert run.told == [
        "third cannot grade and leaves the cluster: its grader, TensorFlow, Keras or NumPy is of another "
        "version; see requirements/lock.txt"
    ]
    gate.unlink()


def send_worker_without_walls(processes: Processes, run: Grading) -> None:
    """A third worker has no bubblewrap."""
    gate = close_gate(processes)
    no_walls = processes.folder / "no_walls.py"
    no_walls.write_text(
        "from autograder.sandbox import bubblewrap\n"
        "bubblewrap.working_variant = lambda: 'bubblewrap is not installed'\n"
    )
    processes.start_worker("third", "--preload", str(no_walls), stand_in=False)
    wait_for(lambda: run.told or not run.is_alive())
    assert "third cannot grade and leaves the cluster: bubblewrap is not installed. Type: apt-get" in run.told[0]
    gate.unlink()


@pytest.mark.slow
@pytest.mark.parametrize(
    "disturb",
    [
        kill_one_then_all,
        pytest.param(stop_one, marks=pytest.mark.long),
        pytest.param(send_worker_that_differs, marks=pytest.mark.long),
        pytest.param(send_worker_without_walls, marks=pytest.mark.long),
    ],
)
def test_a_worker_that_fails_costs_nobody_anything(processes, grader, disturb):
    for name in ("first", "second"):
        gate = str(processes.folder / "gate")
        processes.start_worker(name, settings={"COURSE_STAND_IN_SECONDS": "1", "COURSE_STAND_IN_GATE": gate})
    run = Grading(grader, processes.address)
    disturb(processes, run)
    run.everybody_has_one()


@pytest.mark.long
def test_what_takes_workers_down_is_named_and_all_others_have_their_marks(tmp_path, grader):
    """The scheduler gives a task up as soon as one worker died with it, so that fewer have to."""
    settings = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    with Processes(tmp_path / "cluster", settings=settings) as processes:
        processes.start_worker("first", nanny=True)
        processes.start_worker("second", nanny=True)
        run = Grading(grader, processes.address, [POISON, *STUDENTS])
        run.join(900)
    failed = [verdict for verdict in run.verdicts if isinstance(verdict, GradingFailed)]
    assert [failure.student for failure in failed] == ["poison"], (run.error, run.told)
    assert "twice lost on the cluster" in failed[0].reason
    run.verdicts.remove(failed[0])
    run.everybody_has_one()


@pytest.mark.long
def test_without_workers_without_a_scheduler_and_after_its_end_it_says_what_to_do(processes, grader):
    run = Grading(grader, processes.address, wait_seconds=1.0)
    run.join(300)
    assert isinstance(run.error, ClusterUnavailable) and "Start some: dask worker" in str(run.error)
    processes.start_worker("only")
    run = Grading(grader, processes.address)
    run.wait_for_verdicts(2)
    processes.kill(processes.scheduler)
    run.join(300)
    assert isinstance(run.error, ClusterUnavailable) and "is lost. Start it again: dask scheduler" in str(run.error)
    run = Grading(grader, processes.address, wait_seconds=0.0)
    run.join(300)
    assert isinstance(run.error, ClusterUnavailable) and "It needs a scheduler" in str(run.error)


@pytest.mark.long
def test_a_record_of_something_else_is_no_verdict(processes, grader):
    """A worker that answers with another submission's record."""
    mixed_up = processes.folder / "mixed_up.py"
    mixed_up.write_text(
        "from autograder.integrations.cluster import wire, worker\n"  # Dask runs this file twice
        "right = wire.encode_record\n"
        "worker.encode_record = lambda result: right(result).replace(result.content_hash.encode(), b'0' * 64)\n"
    )
    processes.start_worker("mixed-up", "--preload", str(mixed_up))
    run = Grading(grader, processes.address, STUDENTS[:2])
    run.join(300)
    reason = "its worker sent what cannot be right: a record of something else"
    assert run.verdicts == [GradingFailed(submission.student, reason) for submission in STUDENTS[:2]]


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
        plain = processes.address.replace("tls", "tcp")
        for certificates, address in ((made["theirs"], processes.address), ({}, processes.address), ({}, plain)):
            with dask.config.set(certificates):
                run = Grading(grader, address, wait_seconds=0.0)
                run.join(300)
            assert isinstance(run.error, ClusterUnavailable) and not run.verdicts


# -- behind walls ------------------------------------------------------------------------------------------------------

SPY = """import os, socket
def project_qkv(x, w_q, w_k, w_v):
    found = [name for name in os.environ if name.startswith(("DASK", "COURSE"))]
    found += [path for path in ({scratch!r}, {course!r}) if os.path.exists(path)]
    try:
        found.append(socket.create_connection(("127.0.0.1", {port}), 2))
    except OSError:
        pass
    if not found:
        raise ValueError("nothing is to be seen")
    return x @ w_q, x @ w_k, x @ w_v
"""
HANDED_IN = {
    "right": lambda: as_bytes(answered()),
    "wrong": lambda: as_bytes(answered(self_attention_loops=WRONG["self_attention_loops"], answers="answers = {}")),
    "leaves": lambda: as_bytes(answered(project_qkv=WRONG["project_qkv"])),
    "damaged": lambda: b"{",
    "raises": lambda: as_bytes(answered(attention_cost=WRONG["attention_cost"])),
    "another-lab": lambda: (ROOT / "labs/03_multi_head_attention/03_multi_head_attention.ipynb").read_bytes(),
}


class ClusterRun(Run):
    """`course grade --cluster` with its own gradebook and tables."""

    def __init__(self, course: Path, name: str, address: str):
        super().__init__(course, name)
        self.words[-2:] = ["--cluster", address]


def records_of(run: Run) -> dict[str, dict]:
    """What is recorded of each student, but for the seconds."""
    found = {}
    for student, stored in run.recorded().items():
        found[student], _ = json.JSONDecoder().raw_decode(stored)
        for exercise in found[student]["exercises"]:
            exercise.pop("seconds")
    return found


@pytest.fixture(scope="module")
def real(tmp_path_factory) -> Iterator[Processes]:
    with Processes(tmp_path_factory.mktemp("cluster")) as started:
        started.start_worker("one", stand_in=False, nanny=True)
        yield started


@pytest.fixture(scope="module")
def course(tmp_path_factory, real) -> Path:
    root = mixed_class(tmp_path_factory.mktemp("course"), 0)
    spy = SPY.format(scratch=str(real.folder), course=str(root), port=int(real.address.rpartition(":")[2]))
    for student, make in (HANDED_IN | {"spy": lambda: as_bytes(answered(project_qkv=spy))}).items():
        (root / "handed-in" / student).mkdir(parents=True)
        (root / "handed-in" / student / f"{LAB}.ipynb").write_bytes(make())
    return root


@pytest.mark.long
@pytest.mark.sandbox
def test_records_tables_and_pages_are_those_of_one_machine(real, course):
    """With a client that is killed on the way: the next run goes on from what is recorded."""
    alone = Run(course, "alone")
    code, said = alone.finish()
    assert code == 0, said
    run = ClusterRun(course, "cluster", real.address)
    killed = run.start(start_new_session=True)
    wait_for(lambda: run.recorded() or killed.poll() is not None, 900)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    kept = run.recorded()
    assert kept
    code, said = run.finish()
    assert code == 0 and "7/7" in said, said
    assert kept.items() <= run.recorded().items()
    assert records_of(run) == records_of(alone)
    assert run.details() == alone.details()
    assert (run.folder / "grades.csv").read_bytes() == (alone.folder / "grades.csv").read_bytes()
    pages = {path.parent.name: path.read_bytes() for path in alone.folder.glob(f"feedback/*/{LAB}.html")}
    assert {path.parent.name: path.read_bytes() for path in run.folder.glob(f"feedback/*/{LAB}.html")} == pages
    (spied,) = (exercise for exercise in records_of(run)["spy"]["exercises"] if exercise["exercise"] == "project_qkv")
    assert spied["score"] == 0 and "nothing is to be seen" in json.dumps(spied)


@pytest.mark.long
@pytest.mark.sandbox
def test_ctrl_c_stops_it_and_keeps_what_is_recorded(real, course, tmp_path):
    """One submission sleeps, so that there is something left to stop however quick the others are."""
    class_with_sleeper = shutil.copytree(course, tmp_path / "course", ignore=shutil.ignore_patterns("alone", "cluster"))
    sleeper = class_with_sleeper / "handed-in" / "zzz" / f"{LAB}.ipynb"
    sleeper.parent.mkdir()
    sleeper.write_bytes(as_bytes(answered(project_qkv="import time\ntime.sleep(150)\ndef project_qkv(*_): pass")))
    run = ClusterRun(class_with_sleeper, "stopped", real.address)
    # Who starts the tests in the background of a shell has them ignore Ctrl-C, and all that they start.
    process = run.start(start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    wait_for(lambda: run.recorded() or process.poll() is not None, 900)
    os.kill(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=600)
    assert process.returncode == 130 and "Traceback" not in said, said
    assert 0 < len(run.recorded()) <= 7

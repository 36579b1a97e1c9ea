"""The corpus of hostile and damaged submissions, graded by `course grade` beside an honest victim.

Every sixteenth submission and every fourth damaged file or odd name are graded by `make test`, all the others by
`make test-long`, each part in a run of its own.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from hostile.corpus import CORPUS
from hostile.files import ARCHIVED, FILES, NAMES, tricky_archive
from hostile.making import FULL, LAB, POINTS, SOON_REACHED, Scene, answered, as_bytes, command, make_course, rows

from autograder.course.text import student_id

SIXTEENTH, REST = "a sixteenth", "the rest"


def divide(everything: Sequence, into: int = 16) -> dict[str, tuple]:
    """The one of so many that each change is tried with, and all the others."""
    return {SIXTEENTH: tuple(everything[::into]), REST: tuple(each for at, each in enumerate(everything) if at % into)}


PARTS, FILES_OF, NAMES_OF = divide(CORPUS), divide(FILES, 4), divide(NAMES, 4)

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.slow,
]


def of_each_part(*names: str, cases=lambda part: [()]):
    """Parametrize a test with the run of each part, and with what `cases` gives for the part."""
    return pytest.mark.parametrize(
        ("graded", *names),
        [
            pytest.param(
                part,
                *case,
                marks=() if part == SIXTEENTH else pytest.mark.long,
                id=case[0].name if case else part,
            )
            for part in PARTS
            for case in cases(part)
        ],
        indirect=["graded"],
        scope="module",
    )


@dataclass
class Graded:
    """What a run of the grader left behind."""

    part: str
    root: Path
    finished: subprocess.CompletedProcess
    canary: Path
    calls: list[object]
    left_running: list[psutil.Process]

    def __post_init__(self) -> None:
        self.grades = {row["student"]: row for row in rows(self.root / "grades" / "grades.csv")}
        self.results = {(row["student"], row["exercise"]): row for row in rows(self.root / "grades" / "results.csv")}

    def page(self, student: str) -> str:
        return (self.root / "grades" / "feedback" / student / f"{LAB}.html").read_text("utf-8")


@pytest.fixture(scope="module")
def graded(request, tmp_path_factory) -> Graded:
    """A part of the corpus, graded in one run, with a file, a secret and a server within the grader's reach."""
    root = make_course(tmp_path_factory.mktemp("hostile"), **SOON_REACHED)
    canary = root / "canary.txt"
    canary.write_text("untouched", encoding="utf-8")
    canary.chmod(0o666)
    secret = f"secret-{secrets.token_hex(8)}"
    calls: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_listen, args=(server, calls), daemon=True).start()
        scene = Scene(canary, secret, server.getsockname()[1])
        handed_in = root / "handed-in"
        for name in ("aa-victim", "victim", "zz-victim"):
            _put(handed_in / name, as_bytes(answered()))
        for hostile in PARTS[request.param]:
            _put(handed_in / hostile.name, hostile.make(scene))
        for damaged in FILES_OF[request.param]:
            (handed_in / f"file-{damaged.name}").mkdir()
            damaged.put(handed_in / f"file-{damaged.name}" / f"{LAB}.ipynb")
        for name in NAMES_OF[request.param]:
            _put(handed_in / name, as_bytes(answered()))
        tricky_archive(root / "archive.zip")
        before = set(psutil.pids())
        finished = subprocess.run(
            command("grade", LAB, handed_in, root / "archive.zip", "--workers", 4),
            cwd=root, env={**os.environ, "GRADER_SECRET": secret}, capture_output=True, text=True,
        )  # fmt: skip
    left = [
        process
        for process in psutil.process_iter(["name", "ppid"])
        if process.pid not in before and _is_a_workers(process)
    ]
    # Some may be on their way out, and tests that run meanwhile kill graders, whose workers follow in a moment.
    _, left = psutil.wait_procs(left, timeout=300)
    left = [process for process in left if _is_a_workers(process)]
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return Graded(request.param, root, finished, canary, calls, left)


def _put(folder: Path, content: bytes) -> None:
    folder.mkdir(parents=True)
    (folder / f"{LAB}.ipynb").write_bytes(content)


def _listen(server: socket.socket, calls: list[object]) -> None:
    while True:
        try:
            calls.append(server.accept()[1])
        except OSError:
            return


def _is_a_workers(process: psutil.Process) -> bool:
    """Whether this is a worker that nobody waits for; workers of tests that run meanwhile have a grader above them, and
    one that has ended may wait for the system to take it away."""
    try:
        graders = [
            parent
            for parent in process.parents()
            if "python" in (parent.cmdline() or [""])[0] and not _is_worker(parent)
        ]
        return _is_worker(process) and not graders and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _is_worker(process: psutil.Process) -> bool:
    return "worker.zygote" in " ".join(process.cmdline()) or process.name() == "bwrap"


@of_each_part("hostile", cases=lambda part: [(hostile,) for hostile in PARTS[part]])
def test_the_corpus_gets_its_verdicts(graded, hostile):
    told = {name: graded.results[hostile.name, name] for name in POINTS}
    shown = {name: (row["status"], row["score"]) for name, row in told.items()}
    for name, points in POINTS.items():
        score = float(told[name]["score"])
        assert 0 <= score <= points, shown
        assert float(told[name]["max_score"]) == points, shown
        if name in hostile.lost:
            wanted = hostile.lost[name]
            assert told[name]["status"] in ((wanted,) if isinstance(wanted, str) else wanted), shown
            assert score == hostile.partly.get(name, 0), shown
        elif not hostile.harms_itself:
            assert (told[name]["status"], score) == ("graded", points), shown
    assert graded.grades[hostile.name]["state"] == hostile.state
    page = graded.page(hostile.name)
    assert hostile.told in page
    assert not hostile.silent or hostile.silent not in page


@of_each_part("damaged", cases=lambda part: [(damaged,) for damaged in FILES_OF[part]])
def test_damaged_files_get_a_verdict_with_a_reason(graded, damaged):
    name = f"file-{damaged.name}"
    assert (float(graded.grades[name]["score"]), graded.grades[name]["state"]) == (damaged.score, damaged.state)
    assert damaged.told in graded.page(name)


@of_each_part()
def test_the_rest_of_an_archive_is_graded(graded):
    assert {name: float(graded.grades[name]["score"]) for name in ARCHIVED} == ARCHIVED
    assert not list(graded.root.parent.rglob("escaped"))


@of_each_part()
def test_odd_names_stay_in_their_cell_and_in_their_folder(graded):
    found = {name.removeprefix("'"): float(row["score"]) for name, row in graded.grades.items()}
    for name in NAMES_OF[graded.part]:
        assert found[student_id(name)] == FULL
    for line in (graded.root / "grades" / "grades.csv").read_text("utf-8").splitlines():
        assert not line.startswith(("=", "+", "-", "@", "\t"))
    for name in NAMES_OF[graded.part]:
        assert "<script>alert" not in graded.page(student_id(name))


@of_each_part()
def test_the_honest_among_them_lose_nothing(graded):
    for name in ("aa-victim", "victim", "zz-victim"):
        assert float(graded.grades[name]["score"]) == FULL


@of_each_part()
def test_everybody_has_a_verdict_on_every_exercise(graded):
    students = {
        *(hostile.name for hostile in PARTS[graded.part]),
        *(f"file-{damaged.name}" for damaged in FILES_OF[graded.part]),
        *ARCHIVED,
    }
    assert students <= graded.grades.keys()
    assert len(graded.grades) == len(students) + len(NAMES_OF[graded.part]) + 3
    assert len(graded.results) == len(graded.grades) * len(POINTS)


@of_each_part()
def test_nothing_outside_was_read_written_or_called(graded):
    assert graded.canary.read_text("utf-8") == "untouched"
    assert graded.calls == []
    assert graded.left_running == []


@pytest.mark.long
@of_each_part()
def test_a_second_run_grades_nothing_again(graded):
    """What it tells includes the seconds of each exercise, which are others each time."""
    subprocess.run(
        command("grade", LAB, "handed-in", "archive.zip", "--workers", 2, "--out", "again"),
        cwd=graded.root, check=True, capture_output=True,
    )  # fmt: skip
    for name in ("results.csv", "grades.csv"):
        assert (graded.root / "again" / name).read_bytes() == (graded.root / "grades" / name).read_bytes()

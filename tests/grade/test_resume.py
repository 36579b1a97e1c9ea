"""Grading that is killed, starved or doubled loses no mark, and marks do not depend on how they came about."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
from class_runs import WRONG, Run, hand_in, mixed_class
from hostile.making import FULL, LAB, POINTS, answered, as_bytes, make_course

SCORES = {f"student-{n:02}": FULL - sum(POINTS[name] for name in list(WRONG)[: n % 5]) for n in range(10)}

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A course with ten submissions, whose folders are in no order of merit; nothing is graded yet."""
    root = make_course(tmp_path_factory.mktemp("resume"))
    (root / ".grading-seed").write_text("7\n")
    for number, student in enumerate(SCORES):
        names = list(WRONG)[: number % 5]
        hand_in(root, student, as_bytes(answered(**{name: WRONG[name] for name in names})))
    return root


@pytest.fixture(scope="module")
def reference(course) -> Run:
    run = Run(course, "reference")
    code, said = run.finish()
    assert code == 0, said
    assert run.marks() == SCORES
    return run


@pytest.mark.long
def test_marks_do_not_depend_on_order_or_workers(course, reference):
    backwards = [f"handed-in/{student}" for student in reversed(SCORES)]
    run = Run(course, "backwards", *backwards, workers=1)
    assert run.finish()[0] == 0
    assert run.details() == reference.details()


@pytest.mark.long
def test_killed_again_and_again_it_goes_on(course, reference):
    run = Run(course, "killed")
    chance = random.Random(0)
    kept: dict[str, str] = {}
    for _ in range(6):
        grader = run.start(start_new_session=True)
        end = time.monotonic() + 1200
        while time.monotonic() < end and grader.poll() is None and len(run.recorded()) == len(kept):
            time.sleep(0.05)
        time.sleep(chance.uniform(0, 0.3))
        os.killpg(grader.pid, signal.SIGKILL)
        grader.communicate()
        now = run.recorded()
        assert kept.items() <= now.items()
        kept = now
        if len(kept) == len(SCORES):
            break
    assert run.finish()[0] == 0
    assert kept.items() <= run.recorded().items()
    assert run.details() == reference.details()
    for student in SCORES:
        assert (run.folder / "feedback" / student / f"{LAB}.html").stat().st_size > 1000


@pytest.mark.long
def test_only_what_changed_is_graded_again(course, reference):
    run = Run(course, "changed")
    shutil.copy(reference.database, run.database)
    before = run.recorded()
    student = next(iter(SCORES))
    original = as_bytes(answered())
    hand_in(course, student, as_bytes(answered(answers=WRONG["answers"])))
    try:
        assert run.finish()[0] == 0
        assert run.marks() == {**SCORES, student: SCORES[student] - POINTS["answers"]}
        after = run.recorded()
        assert [name for name in SCORES if before[name] != after[name]] == [student]
    finally:
        hand_in(course, student, original)


@pytest.mark.long
def test_two_graders_at_once_agree(course, reference):
    run = Run(course, "doubled", workers=1)
    graders = [run.start() for _ in range(2)]
    for grader in graders:
        said, _ = grader.communicate(timeout=600)
        assert grader.returncode == 0, said
    assert run.details() == reference.details()
    assert run.recorded().keys() == SCORES.keys()


@pytest.mark.long
def test_a_full_disk_stops_it_with_a_sentence_and_loses_nothing(course, reference):
    """A file that may not grow stands for a disk that is full."""
    run = Run(course, "full")
    shutil.copy(reference.database, run.database)
    before = run.recorded()
    student = "late-student"
    hand_in(course, student, as_bytes(answered()))
    try:
        limit = 8192  # the gradebook's journal needs more, and so does a page of feedback
        code, said = run.finish(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        assert code == 2, said
        assert "Traceback" not in said and "run it again" in " ".join(said.split())
        assert before.items() <= run.recorded().items()
        assert run.finish()[0] == 0
        assert run.marks() == {**SCORES, student: FULL}
    finally:
        shutil.rmtree(course / "handed-in" / student)


@pytest.mark.long
def test_a_read_only_gradebook_is_named_and_left_alone(course, reference):
    run = Run(course, "read-only")
    shutil.copy(reference.database, run.database)
    command = f'mount --bind "{run.folder}" "{run.folder}" && mount -o remount,bind,ro "{run.folder}" && exec "$@"'
    inside = ["unshare", "--mount", "--map-root-user", "sh", "-c", command, "sh"]
    if not shutil.which("unshare") or subprocess.run([*inside, "true"], capture_output=True).returncode:
        pytest.skip("a folder cannot be made read-only here")
    before = run.database.read_bytes()
    code, said = run.finish(*inside)
    assert code == 2, said
    assert "Traceback" not in said and "cannot be written" in " ".join(said.split())
    assert run.database.read_bytes() == before


# -- deaths of the workers, not of the grader --------------------------------------------------------------------------


class Killer(threading.Thread):
    """Ends workers of one grader at random moments: bubblewrap, what it started, or a submission's own process.

    Four of five times it waits until a submission runs: a busy machine spends most of its time starting workers.
    """

    def __init__(self, grader: subprocess.Popen, chance: random.Random, most: int, pause: float):
        super().__init__()
        self.grader, self.chance, self.most, self.pause = psutil.Process(grader.pid), chance, most, pause
        self.kills = 0

    def run(self) -> None:
        while self.kills < self.most and self.grader.is_running() and self.grader.status() != psutil.STATUS_ZOMBIE:
            fewest = 1 if self.chance.random() < 0.2 else 5  # two of bubblewrap, the worker, two of the submission
            with contextlib.suppress(psutil.Error):
                while len(self.grader.children(recursive=True)) < fewest:
                    time.sleep(0.05)
                time.sleep(self.chance.uniform(0, self.pause))
                below = self.grader.children(recursive=True)
                if victims := [process for process in below if process.status() != psutil.STATUS_ZOMBIE]:
                    self.chance.choice(victims).kill()
                    self.kills += 1


def grade_under_fire(run: Run, kills: int, pause: float, most_runs: int) -> None:
    """Grade while workers are killed, and again without, until everybody has a verdict."""
    chance = random.Random(kills)
    done = 0
    for _ in range(most_runs):
        grader = run.start()
        killer = Killer(grader, chance, kills - done, pause)
        killer.start()
        said, _ = grader.communicate(timeout=3000)
        killer.join()
        done += killer.kills
        waiting = {folder.name for folder in (run.course / "handed-in").iterdir()} - run.recorded().keys()
        assert grader.returncode == (0 if not waiting else grader.returncode), said
        assert grader.returncode in (0, 1, 3) and "Traceback" not in said, said
        if grader.returncode == 1:
            assert all(f"no verdict {student}" in said for student in waiting), said
        if done < kills:  # what is recorded already is no target any more
            run.database.unlink(missing_ok=True)
        elif not waiting:
            break
    assert done == kills
    assert not waiting


@pytest.mark.parametrize(
    ("submissions", "kills", "pause"),
    [pytest.param(8, 5, 2.0, marks=pytest.mark.long), pytest.param(30, 100, 4.0, marks=pytest.mark.exhaustive)],
    ids=["8 submissions", "30 submissions"],
)
def test_workers_that_are_killed_change_no_mark(tmp_path, submissions, kills, pause):
    course = mixed_class(tmp_path, submissions)
    undisturbed = Run(course, "undisturbed")
    code, said = undisturbed.finish()
    assert code == 0, said
    scores = set(undisturbed.marks().values())
    assert len(scores) > 4 and FULL in scores and 0 in scores
    disturbed = Run(course, "disturbed")
    grade_under_fire(disturbed, kills, pause, most_runs=kills)
    assert disturbed.details() == undisturbed.details()


@pytest.mark.long
@pytest.mark.parametrize("seconds", [3, 30])
def test_a_gradebook_that_another_program_locks_is_waited_for(course, reference, seconds):
    run = Run(course, f"locked-{seconds}")
    shutil.copy(reference.database, run.database)
    student = "late-student"
    hand_in(course, student, as_bytes(answered()))
    try:
        with sqlite3.connect(run.database, isolation_level=None, check_same_thread=False) as other:
            other.execute("BEGIN IMMEDIATE")
            threading.Timer(seconds, other.rollback).start()
            code, said = run.finish()
        assert code == 0, said
        assert run.marks() == {**SCORES, student: FULL}
    finally:
        shutil.rmtree(course / "handed-in" / student)


@pytest.mark.long
def test_what_a_full_disk_left_out_is_graded_once_there_is_room(course, reference):
    """Gradebook and tables on a file system of their own, which is full before everybody is recorded, then grows."""
    run, copy = Run(course, "small-disk"), Run(course, "grown-disk")
    script = (
        f'mount -t tmpfs -o size=600k small "{run.folder}" || exit 99\n"$@"; first=$?\nls -s "{run.folder}" >&2\n'
        f'mount -o remount,size=64m "{run.folder}"\n"$@"; second=$?\n'
        f'cp -r "{run.folder}/." "{copy.folder}"; echo "ended with $first and $second"'
    )
    inside = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), "sh", "-c", script, "sh"]
    _, said = run.finish(*inside)
    if "ended with" not in said or "ended with 3" in said:
        pytest.skip("a file system cannot be mounted here, or walls cannot be built inside")
    assert "ended with 2 and 0" in said, said
    assert "Traceback" not in said and "run it again" in " ".join(said.split())
    assert copy.details() == reference.details()


@pytest.mark.exhaustive
def test_eight_busy_processes_for_each_core_change_no_mark(tmp_path):
    """The machine gives each submission a small part of a processor: nobody's time is up any sooner."""
    course = mixed_class(tmp_path, 8)
    idle, busy = Run(course, "idle"), Run(course, "busy")
    assert idle.finish()[0] == 0
    command = [sys.executable, "-S", "-c", "while True: pass"]
    others = [subprocess.Popen(command, start_new_session=True) for _ in range(8 * (os.cpu_count() or 1))]
    try:
        process = busy.start()
        said, _ = process.communicate(timeout=3600)
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert process.returncode == 0, said
    assert busy.details() == idle.details()

"""What `course watch` takes from the exchange and from drop folders, when it reads it, and what it passes over."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
import pytest
from test_watcher import School
from tiny_course import LAB

from autograder.read import FileSource, PassedOver

TIME = "2026-11-01 12:00:00.000000 UTC"


class Mailbox(School):
    """A school whose exchange is filled by hand, by strangers."""

    def entry(self, name: str, points: float = 1, *, secret: str = "s3cret") -> Path:
        folder = self.inbound / name
        folder.mkdir(parents=True)
        self.notebook(folder / f"{LAB}.ipynb", points)
        (folder / "submission_secret.txt").write_text(secret)
        return folder

    def notebook(self, path: Path, points: float) -> None:
        notebook = nbformat.read(self.course.release_notebook(LAB), as_version=4)
        notebook.cells[0].source = f"I ask for {points} points."
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)

    @property
    def inbound(self) -> Path:
        return self.exchange / self.course.course_id / "inbound"

    def take_in(self, **settings) -> tuple[dict[str, bytes], list[str]]:
        """What one look takes in, by student, as it is kept; and what is told of the rest."""
        with self.watcher(**settings) as watcher:
            watcher._take_in(watcher._look())
            kept = {
                attempt.student: (self.course.submitted / attempt.student / LAB / f"{LAB}.ipynb").read_bytes()
                for attempt in watcher._attempts("true")
            }
            assert watcher.last_round.failures == {}
            return kept, [f"{passed.path}: {passed.reason}" for passed in watcher.last_round.passed_over]


@pytest.fixture
def school(tmp_path, monkeypatch):
    return Mailbox(tmp_path, monkeypatch)


def test_of_the_attempts_of_a_student_the_newest_is_read_and_kept_with_its_secret(school):
    school.entry(f"ada+{LAB}+2026-11-01 11:00:00.000000 UTC+b", 1)
    school.entry(f"ada+{LAB}+{TIME}+a", 2)
    school.entry(f"bob+{LAB}+{TIME}+c", 3, secret="x" * 999)
    school.entry(f"cyd+02_other+{TIME}+c")
    kept, _ = school.take_in()
    assert set(kept) == {"ada", "bob"} and b"ask for 2 points" in kept["ada"]
    beside = school.course.submitted / "ada" / LAB
    assert (beside / "submission_secret.txt").read_text() == "s3cret"
    assert (beside / "timestamp.txt").read_text().startswith("2026-11-0")
    assert not (school.course.submitted / "bob" / LAB / "submission_secret.txt").exists()


def test_a_script_counts_where_no_notebook_is_beside_it(school, tmp_path):
    script = f'# %%\nstart_lab("{LAB}")\n\n# %%\ncheck("double")\n'
    for name in ("ada", "bob"):
        folder = school.entry(f"{name}+{LAB}+{TIME}+a")
        (folder / f"{LAB}.py").write_text(script)
    (school.inbound / f"ada+{LAB}+{TIME}+a" / f"{LAB}.ipynb").unlink()
    (tmp_path / "drop").mkdir()
    (tmp_path / "drop" / "cyd.py").write_text(script)
    kept, _ = school.take_in(drops=[tmp_path / "drop"])
    assert kept["ada"] == kept["cyd"] == script.encode() and b"points" in kept["bob"]


def test_what_is_no_attempt_is_named(school, tmp_path):
    school.entry(f"ada+{LAB}+{TIME}+a")
    (school.inbound / f"eve+{LAB}+{TIME}+a").symlink_to(tmp_path)
    (school.inbound / f"bob+{LAB}+{TIME}+a").write_text("a file")
    os.mkfifo(school.inbound / f"cyd+{LAB}+{TIME}+a")
    kept, told = school.take_in()
    assert set(kept) == {"ada"}
    assert all(any(who in line for line in told) for who in ("eve+", "bob+", "cyd+"))


@pytest.mark.parametrize("what", ["link", "pipe", "hard link"])
def test_what_is_no_file_of_the_students_is_not_read(school, tmp_path, what):
    """A hard link to a solution is a file of the grader's in a student's folder."""
    if what == "hard link" and os.getuid() != 0:
        pytest.skip("only root can give a file to another account")
    folder = school.entry(f"nobody+{LAB}+{TIME}+a")
    solution = tmp_path / "solution.ipynb"
    solution.write_text("the solution")
    notebook = folder / f"{LAB}.ipynb"
    notebook.unlink()
    if what == "link":
        notebook.symlink_to(solution)
    elif what == "pipe":
        os.mkfifo(notebook)
    else:
        notebook.hardlink_to(solution)
        os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)
    kept, told = school.take_in()
    assert kept == {} and len(told) == 1 and "nobody" in told[0]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another account")
def test_an_attempt_of_another_account_is_passed_over_unless_the_check_is_off(school):
    folder = school.entry(f"ada+{LAB}+{TIME}+a")
    for path in (folder, *folder.iterdir()):
        os.chown(path, 65534, 65534)
    kept, told = school.take_in()
    assert kept == {} and "is in ada's name and belongs to" in told[0]
    config = school.course.root / "nbgrader_config.py"
    config.write_text(config.read_text() + "\nc.ExchangeCollect.check_owner = False\n")
    assert set(school.take_in()[0]) == {"ada"}


def test_a_folder_swapped_for_a_link_between_look_and_reading_hands_out_no_solution(school, tmp_path):
    folder = school.entry(f"eve+{LAB}+{TIME}+a")
    school.entry(f"ada+{LAB}+{TIME}+a")
    (tmp_path / "solutions").mkdir()
    school.notebook(tmp_path / "solutions" / f"{LAB}.ipynb", 5)
    with school.watcher() as watcher:
        arrivals = watcher._look()
        folder.rename(school.inbound / "elsewhere")
        folder.symlink_to(tmp_path / "solutions")
        watcher._take_in(arrivals)
        assert [attempt.student for attempt in watcher._attempts("true")] == ["ada"]
    assert not (school.course.submitted / "eve").exists()


def test_folders_that_come_and_go_meanwhile_end_no_look(school):
    school.entry(f"ada+{LAB}+{TIME}+a")
    over = threading.Event()

    def come_and_go() -> None:
        for number in itertools.count():
            shutil.rmtree(school.entry(f"eve+{LAB}+{TIME}+{number % 3}"))
            if over.is_set():
                return

    attacker = threading.Thread(target=come_and_go)
    attacker.start()
    try:
        with school.watcher() as watcher:
            for _ in range(100):
                assert "ada" in {arrival.found.student for arrival in watcher._look()}
                assert not any(passed.is_fault for passed in watcher.last_round.passed_over)
    finally:
        over.set()
        attacker.join()


def test_what_is_on_its_way_waits_and_what_changes_is_a_new_attempt(school, tmp_path):
    drop = tmp_path / "drop"
    path = drop / "ada" / f"{LAB}.ipynb"
    school.notebook(path, 1)
    written = datetime.fromtimestamp(path.stat().st_ctime, UTC)
    with school.watcher(drops=[drop]) as watcher:

        def taken(seconds: float) -> int:
            school.clock.now = datetime.fromtimestamp(path.stat().st_ctime, UTC) + timedelta(seconds=seconds)
            watcher._take_in(watcher._look())
            return len(watcher._attempts("true"))

        assert [taken(1), taken(3), taken(9)] == [0, 1, 1]
        os.utime(path)
        assert taken(3) == 1, "touched"
        whole = path.read_text("utf-8")
        path.write_text(whole[:300], "utf-8")
        assert taken(59) == 1 and "has no end yet" in watcher.last_round.passed_over[-1].reason
        assert taken(61) == 2, "it is graded as it is, in the end"
        path.write_text(whole + "\n", "utf-8")
        assert taken(3) == 3
        assert [attempt.state for attempt in watcher._attempts("true")] == ["replaced", "replaced", "waiting"]
        assert watcher._attempts("true")[0].handed_in >= written.timestamp() - 1


def test_where_the_best_counts_an_attempt_waits_for_the_one_before(school, monkeypatch):
    toml = school.course.root / "course.toml"
    toml.write_text(toml.read_text().replace("[grading]", '[grading]\ncounts = "best"'))
    school.entry(f"ada+{LAB}+{TIME}+a", 4)
    with school.watcher() as watcher:
        watcher._take_in(watcher._look())
        school.entry(f"ada+{LAB}+2026-11-01 13:00:00 UTC+b", 2)
        watcher._take_in(watcher._look())
        assert [attempt.state for attempt in watcher._attempts("true")] == ["waiting"]
        assert [mark.score for mark in watcher.round()] == [4]
        list(watcher.round())
        assert [attempt.state for attempt in watcher._attempts("true")] == ["graded", "graded"]
    assert school.score("ada") == 4


def test_an_archive_that_cannot_be_opened_and_an_empty_folder_are_named(school, tmp_path):
    drop = tmp_path / "drop"
    school.notebook(drop / "cyd.ipynb", 1)
    (drop / "ada.zip").write_bytes(b"PK\x03\x04 cut off")
    (drop / "bob").mkdir()
    kept, told = school.take_in(drops=[drop])
    assert set(kept) == {"cyd"} and len(told) == 2
    assert any("drop/ada:" in line and "archive" in line for line in told)
    assert any("bob" in line and "the folder is empty" in line for line in told)
    (tmp_path / "none").mkdir()
    assert school.take_in(drops=[tmp_path / "none"], out_dir=tmp_path / "out")[1] == []


def test_what_is_passed_over_has_no_escape_sequence_and_no_second_line():
    """Whoever shows it: terminal, page, table."""
    named = "ev\x1b]0;PWNED\x07\npassed over ada\udcff"
    passed = PassedOver(f"drop/{named}.ipynb", f"it is beside {named}")
    assert passed.path == "drop/ev_]0;PWNED__passed over ada_.ipynb" and "\n" not in passed.reason
    assert (passed.path + passed.reason).isprintable()


def test_a_name_that_cannot_be_shown_ends_no_watch(school):
    """A byte that is no UTF-8 cannot be written into a database: one such name ended the watch for everybody."""
    for who, odd in (("ada", "a"), ("eve", "\udcff"), ("bob", "\x1b[2J"), ("cyd", "a\nb")):
        school.entry(f"{who}+{LAB}+{TIME}+{odd}", 3)
    with school.watcher() as watcher:
        assert {mark.student for mark in watcher.round()} == {"ada", "bob", "cyd", "eve"}
        assert all(attempt.key.isprintable() for attempt in watcher._attempts("true"))


def test_a_look_reads_nothing_and_of_a_secret_little_is_read(school, monkeypatch):
    """A sparse file of 127 MB beside each attempt made each look take minutes."""
    folder = school.entry(f"eve+{LAB}+{TIME}+a", secret="")
    os.truncate(folder / "submission_secret.txt", 2**36)
    opened = []
    real = FileSource.open
    monkeypatch.setattr(FileSource, "open", lambda source: opened.append(source.path.name) or real(source))
    with school.watcher() as watcher:
        arrivals = watcher._look()
        assert opened == [] and len(arrivals) == 1
        watcher._take_in(arrivals)
        assert opened == [f"{LAB}.ipynb", "submission_secret.txt"] and watcher._attempts("true")[0].secret == ""
        watcher._take_in(watcher._look())
        assert len(opened) == 2, "what is noted is not read again"

"""What `course watch` finds in the exchange and in drop folders, and what it passes over, by name."""

from __future__ import annotations

import contextlib
import itertools
import os
import pwd
import shutil
import threading
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.integrations.watching import arrivals
from autograder.integrations.watching.arrivals import in_exchange, in_folder
from autograder.submission import PassedOver, Unreadable
from autograder.submission.opening import FileSource

LAB = "01_tiny"
TIME = "2026-11-02 12:00:00.000000 UTC"


def entry(inbound: Path, name: str, *, secret: str = "s3cret") -> Path:
    folder = inbound / name
    folder.mkdir(parents=True)
    (folder / f"{LAB}.ipynb").write_text("{}")
    (folder / "submission_secret.txt").write_text(secret)
    return folder


def test_attempts_in_the_exchange_have_student_lab_time_and_secret(tmp_path):
    entry(tmp_path, f"ada+{LAB}+2026-11-02 13:00:00.000000 UTC+b")
    entry(tmp_path, f"ada+{LAB}+{TIME}+a", secret="x" * 999)
    entry(tmp_path, f"ada+02_other+{TIME}+c")
    (tmp_path / "notes.txt").write_text("not an attempt")
    arrived = in_exchange(tmp_path, [LAB])
    assert [(attempt.student, attempt.secret) for attempt in arrived.attempts] == [("ada", ""), ("ada", "s3cret")]
    assert arrived.attempts[0].handed_in == datetime(2026, 11, 2, 12, tzinfo=UTC)
    assert arrived.attempts[0].submission.read() == b"{}"
    assert arrived.passed_over == []


def test_a_script_counts_where_no_notebook_is_beside_it(tmp_path):
    """In the exchange and in a drop folder."""
    script = f'# %%\nstart_lab("{LAB}")\n\n# %%\ncheck("double")\n'
    for name in ("ada", "bob"):
        folder = entry(tmp_path / "inbound", f"{name}+{LAB}+{TIME}+a")
        (folder / f"{LAB}.py").write_text(script)
    (tmp_path / "inbound" / f"ada+{LAB}+{TIME}+a" / f"{LAB}.ipynb").unlink()
    read = {attempt.student: attempt.submission.read() for attempt in in_exchange(tmp_path / "inbound", [LAB]).attempts}
    assert read == {"ada": script.encode(), "bob": b"{}"}
    (tmp_path / "drop").mkdir()
    for name in ("cyd.py", "helper.py"):
        (tmp_path / "drop" / name).write_text(script if name == "cyd.py" else "# %%\nimport os\n")
    arrived = in_folder(tmp_path / "drop", [LAB], {LAB: {"double"}}, now=(tmp_path / "drop").stat().st_mtime + 60)
    assert [(attempt.student, attempt.submission.read()) for attempt in arrived.attempts] == [("cyd", script.encode())]
    assert [passed.path.endswith("helper.py") for passed in arrived.passed_over] == [True]


def test_what_nobody_can_have_handed_in_is_named(tmp_path):
    inbound = tmp_path / "inbound"
    entry(inbound, f"..+{LAB}+{TIME}+a")
    entry(inbound, f"ada+{LAB}+yesterday+a")
    (inbound / f"eve+{LAB}+{TIME}+a").symlink_to(tmp_path)
    (inbound / f"bob+{LAB}+{TIME}+a").write_text("a file")
    arrived = in_exchange(inbound, [LAB])
    assert arrived.attempts == []
    reasons = sorted(passed.reason for passed in arrived.passed_over)
    assert [reason.split(":")[0] for reason in reasons] == ["it is no folder"] * 2 + [
        "its name has no time",
        "no student can have this name",
    ]
    assert in_exchange(tmp_path / "nowhere", [LAB]).attempts == []


def test_a_link_in_place_of_the_notebook_leads_nowhere(tmp_path):
    folder = entry(tmp_path / "inbound", f"eve+{LAB}+{TIME}+a")
    (tmp_path / "solution.ipynb").write_text("the solution")
    (folder / f"{LAB}.ipynb").unlink()
    (folder / f"{LAB}.ipynb").symlink_to(tmp_path / "solution.ipynb")
    (attempt,) = in_exchange(tmp_path / "inbound", [LAB]).attempts
    with pytest.raises(Unreadable):
        attempt.submission.read()


def test_a_folder_swapped_for_a_link_hands_out_no_solution(tmp_path):
    """Between the look and the grading a student renames the folder and puts a link to the solutions in its place."""
    inbound, name = tmp_path / "inbound", f"eve+{LAB}+{TIME}+a"
    folder = entry(inbound, name)
    solutions = tmp_path / "solutions"
    solutions.mkdir()
    (solutions / f"{LAB}.ipynb").write_text("the solution")
    (early,) = in_exchange(inbound, [LAB]).attempts
    assert early.submission.read() == b"{}"
    (late,) = in_exchange(inbound, [LAB]).attempts
    folder.rename(inbound / "elsewhere")
    folder.symlink_to(solutions)
    assert early.submission.read() == b"{}"  # what is copied is what is graded
    with pytest.raises(Unreadable):
        late.submission.read()
    (passed,) = in_exchange(inbound, [LAB]).passed_over
    assert "no folder" in passed.reason


def test_folders_that_come_and_go_meanwhile_end_no_look(tmp_path):
    over = threading.Event()

    def come_and_go() -> None:
        for number in itertools.count():
            folder = entry(tmp_path, f"eve+{LAB}+{TIME}+{number % 3}")
            shutil.rmtree(folder)
            if over.is_set():
                return

    attacker = threading.Thread(target=come_and_go)
    attacker.start()
    try:
        for _ in range(300):
            for attempt in in_exchange(tmp_path, [LAB]).attempts:
                with contextlib.suppress(Unreadable):
                    assert attempt.submission.read() in (b"", b"{}")  # it may be seen before it is written
    finally:
        over.set()
        attacker.join()


@pytest.mark.parametrize("what", ["entry", "notebook"])
def test_a_pipe_in_the_exchange_waits_for_nobody(tmp_path, what):
    if what == "entry":
        os.mkfifo(tmp_path / f"eve+{LAB}+{TIME}+a")
        assert "no folder" in in_exchange(tmp_path, [LAB]).passed_over[0].reason
        return
    folder = entry(tmp_path, f"eve+{LAB}+{TIME}+a")
    for name in (f"{LAB}.ipynb", "submission_secret.txt"):
        (folder / name).unlink()
        os.mkfifo(folder / name)
    (attempt,) = in_exchange(tmp_path, [LAB]).attempts
    with pytest.raises(Unreadable, match="regular file"):
        attempt.submission.read()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to another account")
def test_a_file_of_the_graders_in_a_students_folder_is_not_read(tmp_path):
    """A hard link to a solution, say."""
    folder = entry(tmp_path, f"nobody+{LAB}+{TIME}+a")
    os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)
    (attempt,) = in_exchange(tmp_path, [LAB]).attempts
    with pytest.raises(Unreadable, match="another account"):
        attempt.submission.read()
    (same,) = in_exchange(tmp_path, [LAB], check_owner=False).attempts
    assert same.submission.read() == b"{}"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another account")
def test_an_attempt_of_another_account_is_passed_over_unless_the_check_is_off(tmp_path):
    folder = entry(tmp_path, f"ada+{LAB}+{TIME}+a")
    os.chown(folder, 65534, 65534)
    (passed,) = in_exchange(tmp_path, [LAB]).passed_over
    assert passed.reason.startswith("it is in ada's name and belongs to ")
    assert in_exchange(tmp_path, [LAB], check_owner=False).passed_over == []


def test_a_dropped_notebook_waits_until_it_has_settled_and_counts_again_when_it_changes(tmp_path):
    path = tmp_path / "ada" / f"{LAB}.ipynb"
    path.parent.mkdir()
    path.write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    written = path.stat().st_mtime
    known = {LAB: frozenset()}
    assert in_folder(tmp_path, [LAB], known, now=written + 1).attempts == []
    (first,) = in_folder(tmp_path, [LAB], known, now=written + 3).attempts
    (same,) = in_folder(tmp_path, [LAB], known, now=written + 9).attempts
    assert first.student == "ada" and first.key == same.key and first.secret == ""
    assert len(in_folder(tmp_path, [LAB], known, now=written - 3600).attempts) == 1  # a clock that runs behind
    path.write_text(path.read_text() + "\n")
    whole = path.read_text()
    path.write_text(whole[:30])
    written = path.stat().st_mtime
    half = in_folder(tmp_path, [LAB], known, now=written + 59)
    assert half.attempts == [] and half.passed_over[0].reason.startswith("it has no end yet")
    assert len(in_folder(tmp_path, [LAB], known, now=written + 61).attempts) == 1, "it is graded as it is, in the end"
    path.write_text(whole)
    (second,) = in_folder(tmp_path, [LAB], known, now=written + 99).attempts
    assert second.key != first.key


def test_an_archive_that_cannot_be_opened_and_an_empty_folder_are_named(tmp_path):
    """Once, however many labs are watched, and not where another lab has the student's notebook."""
    (tmp_path / "ada.zip").write_bytes(b"PK\x03\x04 cut off")
    (tmp_path / "bob").mkdir()
    (tmp_path / "cyd" / "02_other").mkdir(parents=True)
    (tmp_path / "cyd" / "02_other" / "02_other.ipynb").write_text("{}")
    known = {LAB: frozenset({"double"}), "02_other": frozenset({"other"})}
    arrived = in_folder(tmp_path, [LAB, "02_other"], known, now=(tmp_path / "cyd").stat().st_mtime + 60)
    assert {attempt.student for attempt in arrived.attempts} == {"cyd"}
    told = {Path(passed.path).name: passed.reason for passed in arrived.passed_over}
    assert len(arrived.passed_over) == 2 and "archive" in told["ada"] and "the folder is empty" in told["bob"]


def test_what_is_passed_over_has_no_escape_sequence_and_no_second_line(tmp_path):
    """Whoever shows it: terminal, status page, table."""
    named = "ev\x1b]0;PWNED\x07\npassed over ada\udcff"
    passed = PassedOver(f"drop/{named}.ipynb", f"it is beside {named}")
    assert passed.path == "drop/ev_]0;PWNED__passed over ada_.ipynb" and "\n" not in passed.reason
    assert (passed.path + passed.reason).isprintable()
    path = tmp_path / f"{named}.ipynb"
    path.write_text('{"cells": [')
    (waits,) = in_folder(tmp_path, [LAB], {LAB: frozenset()}, now=path.stat().st_mtime + 9).passed_over
    assert waits.reason.startswith("it has no end yet") and waits.path.isprintable()


def test_a_name_that_cannot_be_shown_is_passed_over(tmp_path):
    """A byte that is no UTF-8 cannot be written into the journal: one such name ended the watch for everybody."""
    entry(tmp_path, f"ada+{LAB}+{TIME}+a")
    for odd in ("\udcff", "\x1b[2J", "a\nb"):
        entry(tmp_path, f"eve+{LAB}+{TIME}+{odd}")
    arrived = in_exchange(tmp_path, [LAB])
    assert [attempt.student for attempt in arrived.attempts] == ["ada"]
    assert {passed.reason.split(":")[0] for passed in arrived.passed_over} == {
        "its name has characters that cannot be shown"
    }
    assert len(arrived.passed_over) == 3 and not any(passed.is_fault for passed in arrived.passed_over)


def test_an_entry_that_the_look_fails_at_is_named_and_the_others_are_taken(tmp_path, monkeypatch):
    for who in ("ada", "eve"):
        entry(tmp_path, f"{who}+{LAB}+{TIME}+a")
    monkeypatch.setattr(arrivals, "student_id", lambda name: name if name == "ada" else [][1])
    arrived = in_exchange(tmp_path, [LAB])
    assert [attempt.student for attempt in arrived.attempts] == ["ada"]
    (passed,) = arrived.passed_over
    assert "eve" in passed.path and "IndexError" in passed.reason and passed.is_fault


def test_a_dropped_file_that_the_look_fails_at_is_named_and_the_others_are_taken(tmp_path, monkeypatch):
    """A file may bear a date that no calendar has."""
    for who in ("ada", "eve"):
        (tmp_path / f"{who}.ipynb").write_text("{}")
    real = FileSource.read_with_status

    def dated(source):
        return real(source)[0], SimpleNamespace(st_mtime=1e15 if "eve" in source.path.name else 0.0)

    monkeypatch.setattr(FileSource, "read_with_status", dated)
    arrived = in_folder(tmp_path, [LAB], {LAB: frozenset()})
    assert [attempt.student for attempt in arrived.attempts] == ["ada"]
    (passed,) = arrived.passed_over
    assert passed.path.endswith("eve.ipynb") and "year" in passed.reason and passed.is_fault


def test_a_look_reads_no_secret_and_who_asks_reads_little(tmp_path, monkeypatch):
    """A sparse file of 127 MB beside each attempt made each look take minutes."""
    folder = entry(tmp_path, f"eve+{LAB}+{TIME}+a", secret="")
    os.truncate(folder / "submission_secret.txt", 2**36)
    opened = []
    real = FileSource.opened
    monkeypatch.setattr(FileSource, "opened", lambda source: opened.append(source.path.name) or real(source))
    (attempt,) = in_exchange(tmp_path, [LAB]).attempts
    assert opened == []
    assert attempt.secret == "" == attempt.secret and opened == ["submission_secret.txt"]

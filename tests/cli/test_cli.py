"""What can go wrong when an instructor types a command: always one sentence that says what to do, never a traceback."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tiny_course import LAB, TOML
from typed_commands import course, run  # noqa: F401  fixtures

from autograder.cli import app as cli
from autograder.course.text import write_atomically
from autograder.marking.run import Marking

RELEASED = f"labs/{LAB}/{LAB}.ipynb"
SOLUTION = f"solutions/{LAB}/{LAB}.ipynb"
GRADE = ("grade", LAB, "handed-in")


def put(path: str, text: str | bytes = "") -> None:
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text if isinstance(text, bytes) else text.encode())


def toml(old: str, new: str) -> str:
    assert old in TOML
    return TOML.replace(old, new)


def a_database() -> None:
    with sqlite3.connect("other.db") as connection:
        connection.execute("CREATE TABLE cats (name TEXT)")


def a_nested_file() -> None:
    put("a-file")


NOTHING = None
BROKEN_RELEASES = {"cut": b'{"cells": [', "empty": b"", "list": b"[]", "object": b"{}", "text": b"\xff\xfe\x00 no"}

# name: (what is done before, the command, what has to be said)
CALLS = {
    # a word that is not known, or missing
    "unknown command": (NOTHING, ("grad",), "No such command"),
    "answers": (NOTHING, ("answers", LAB), "`course answers` is `course mark LAB --answers` now"),
    "mistake": (NOTHING, ("mistake", LAB, "double"), "`course mistake` is `course author mistake` now"),
    "mutants": (NOTHING, ("mutants",), "`course mutants` is `course author mutants` now"),
    "roster": (NOTHING, ("roster", "students.csv"), "`course roster` is gone: JupyterHub makes the accounts"),
    "unknown option": (NOTHING, (*GRADE, "--fast"), "No such option: --fast"),
    "grade without a path": (NOTHING, ("grade", LAB), "Missing argument"),
    "grade without anything": (NOTHING, ("grade",), "Missing argument"),
    "workers 0": (NOTHING, (*GRADE, "--workers", "0"), "--workers': "),
    "workers many": (NOTHING, (*GRADE, "--workers", "many"), "--workers': "),
    "seed -5": (NOTHING, (*GRADE, "--seed", "-5"), "--seed': "),
    "seed of letters": (NOTHING, (*GRADE, "--seed", "abc"), "--seed': "),
    "layout unknown": (NOTHING, (*GRADE, "--layout", "pile"), "there is no such layout; those known are"),
    "unknown lab: grade": (NOTHING, ("grade", "99_none", "handed-in"), f'no lab "99_none"; the labs are {LAB}'),
    "unknown lab: release": (NOTHING, ("release", "99_none"), f'no lab "99_none"; the labs are {LAB}'),
    "lab as a path": (NOTHING, ("grade", f"labs/{LAB}", "handed-in"), f"did you mean {LAB}? The labs are {LAB}"),
    "check and publish": (NOTHING, ("release", "--check", "--publish", "x"), "give one of them"),
    # where submissions should be
    "no such path": (NOTHING, ("grade", LAB, "nowhere"), "nowhere: there is no such file or folder"),
    "no submission": (lambda: put("empty/readme.txt"), ("grade", LAB, "empty"), f"no submission of {LAB} in empty"),
    # the gradebook
    "db nonsense": (NOTHING, (*GRADE, "--db", "nonsense"), "nonsense: no gradebook can be opened there"),
    "db unknown": (NOTHING, (*GRADE, "--db", "cobol://x"), "no gradebook can be opened there"),
    "db empty": (NOTHING, (*GRADE, "--db", ""), "no gradebook can be opened there"),
    "db without a driver": (NOTHING, (*GRADE, "--db", "mysql://me:secret@localhost/marks"), "No module named"),
    "db text": (lambda: put("x.db", "no database " * 99), (*GRADE, "--db", "sqlite:///x.db"), "file is not a database"),
    "db folder": (lambda: Path("d").mkdir(), (*GRADE, "--db", "sqlite:///d"), "unable to open database file"),
    "db below a file": (a_nested_file, (*GRADE, "--db", "sqlite:///a-file/x.db"), "a-file"),
    "report: nonsense": (NOTHING, ("report", "--db", "nonsense"), "no gradebook can be opened there"),
    "report: no driver": (NOTHING, ("report", "--db", "mysql://localhost/marks"), "No module named"),
    "report: text": (lambda: put("x.db", "text " * 300), ("report", "--db", "sqlite:///x.db"), "not a database"),
    "report: folder": (lambda: Path("d").mkdir(), ("report", "--db", "sqlite:///d"), "unable to open"),
    "report: missing": (NOTHING, ("report", "--db", "sqlite:///new/x.db"), "holds no results yet; run course grade"),
    "report: of others": (a_database, ("report", "--db", "sqlite:///other.db"), "holds no results yet"),
    "report: nothing yet": (NOTHING, ("report",), "holds no results yet; run course grade"),
    "toml: database": (
        lambda: put("course.toml", f'{TOML}\n[grading]\ndatabase = "no"'),
        ("report",),
        "--db or in course",
    ),
    # where results should go
    "out is a file": (a_nested_file, (*GRADE, "--out", "a-file"), "a-file"),
    "out below a file": (a_nested_file, (*GRADE, "--out", "a-file/x"), "a-file"),
    # course.toml
    "no course": (lambda: os.remove("course.toml"), ("report",), "go to the course's folder, or set COURSE_ROOT"),
    "toml: no TOML": (lambda: put("course.toml", "[course"), ("report",), "course.toml: this is not TOML"),
    "toml: bytes": (lambda: put("course.toml", b"\xff\xfe"), ("report",), "course.toml: this is not TOML"),
    "toml: empty": (lambda: put("course.toml"), ("report",), "course.title: needs a text in quotes, and is missing"),
    "toml: folder": (lambda: (os.remove("course.toml"), Path("course.toml").mkdir()), ("report",), "no course.toml in"),
    "toml: title": (lambda: put("course.toml", toml('"Tiny course"', "3")), ("report",), "course.title: needs a text"),
    "toml: id": (lambda: put("course.toml", toml('"tiny"', '"a b"')), ("report",), "course.id: should be letters"),
    "toml: version": (lambda: put("course.toml", toml("0.1.0", "new")), ("report",), "should be a version such as"),
    "toml: repository": (
        lambda: put("course.toml", toml('repository = ""', 'repository = "me@host"')),
        ("report",),
        "distribution.repository: should be an https address",
    ),
    "toml: unknown key": (
        lambda: put("course.toml", toml("term", "tern")),
        ("report",),
        "course.tern: is not a known key",
    ),
    "toml: unknown table": (
        lambda: put("course.toml", TOML + "\n[grades]"),
        ("report",),
        "grades: is not a known key",
    ),
    "toml: no labs": (lambda: put("course.toml", TOML.split("[[")[0]), ("report",), "labs: there are none"),
    "toml: labs": (lambda: put("course.toml", toml("[[labs]]", "[labs]")), ("report",), "write each one as a table"),
    "toml: lab": (lambda: put("course.toml", toml(f'"{LAB}"', '"../x"')), ("report",), "labs.name: should be the lab"),
    "toml: lab twice": (
        lambda: put("course.toml", f'{TOML}\n[[labs]]\nname = "{LAB}"'),
        ("report",),
        "appears twice; remove one",
    ),
    "toml: weight": (lambda: put("course.toml", TOML + 'weight = "1"'), ("report",), "needs a number of at least 0"),
    "toml: due": (lambda: put("course.toml", TOML + "due = 2026-12-04"), ("report",), "a date, a time and a time zone"),
    "toml: grading": (
        lambda: put("course.toml", "grading = 3\n" + TOML),
        ("report",),
        "write it as a table, [grading]",
    ),
    "toml: seconds": (
        lambda: put("course.toml", TOML + "\n[grading]\ncpu_seconds = 0"),
        ("report",),
        "grading.cpu_seconds: needs a number of at least 1",
    ),
    "toml: memory": (
        lambda: put("course.toml", TOML + "\n[grading]\nmemory_mb = 600"),
        ("report",),
        "grading.memory_mb: needs a number of at least",
    ),
    "toml: not a number": (
        lambda: put("course.toml", TOML + "\n[grading]\ncpu_seconds = nan"),
        ("report",),
        "grading.cpu_seconds: needs a number of at least 1",
    ),
    # other files of the course
    "seed is broken": (lambda: put(".grading-seed", "12three"), GRADE, ".grading-seed: there is no seed in it"),
    "seed is empty": (lambda: put(".grading-seed"), GRADE, ".grading-seed: there is no seed in it"),
    "seed is no text": (lambda: put(".grading-seed", b"\xff\x00"), GRADE, ".grading-seed: there is no seed in it"),
    "seed is a folder": (lambda: Path(".grading-seed").mkdir(), GRADE, ".grading-seed"),
    "config is broken": (lambda: put("nbgrader_config.py", "c = ("), GRADE, "nbgrader_config.py: cannot be run"),
    "config: zone": (
        lambda: put("nbgrader_config.py", 'c = get_config()\nc.Exchange.timezone = "Europe/Berlin"\n'),
        GRADE,
        'c.Exchange.timezone is "Europe/Berlin": nbgrader then writes letters such as CEST',
    ),
    "config: release": (lambda: put("nbgrader_config.py", "1/0"), ("release",), "nbgrader_config.py: cannot be run"),
    "not released": (lambda: shutil.rmtree("labs"), GRADE, f'not released; run "course release {LAB}"'),
    "solution is broken": (lambda: put(SOLUTION, "{"), ("release",), SOLUTION),
    "solution is missing": (
        lambda: shutil.rmtree("solutions"),
        ("release",),
        "is missing; write it, or take the lab out",
    ),
    # the students' side
    "publish here": (NOTHING, ("publish", "."), "is not empty and was not published before; name a new or empty"),
    "publish above": (NOTHING, ("publish", ".."), "is not empty and was not published before; name a new or empty"),
    "publish onto a file": (a_nested_file, ("publish", "a-file"), "a-file: is a file; name a folder"),
    "publish below a file": (a_nested_file, ("publish", "a-file/x"), "a-file"),
    "check: missing": (NOTHING, ("check", "nowhere.ipynb"), "does not exist"),
    "check: folder": (NOTHING, ("check", "labs"), "is a directory"),
    "check: text": (lambda: put("x.ipynb", "hello"), ("check", "x.ipynb"), "x.ipynb is not a notebook"),
    "check: bytes": (lambda: put("x.ipynb", b"\xff\xfe\x00"), ("check", "x.ipynb"), "x.ipynb is not a notebook"),
    "check: list": (lambda: put("x.ipynb", "[]"), ("check", "x.ipynb"), "x.ipynb is not a notebook"),
    "check: cells": (lambda: put("x.ipynb", '{"cells": ["a"]}'), ("check", "x.ipynb"), "x.ipynb is not a notebook"),
    "check: no lab": (lambda: put("x.ipynb", '{"cells": []}'), ("check", "x.ipynb"), "x.ipynb starts no lab"),
    "pack: text": (lambda: put("x.ipynb", "hello"), ("pack", "x.ipynb"), "x.ipynb is not a notebook"),
    "data: unknown": (NOTHING, ("data", "mnist"), "no data set mnist; there are reviews"),
    "data: path alone": (NOTHING, ("data", "--path", "x"), "--path needs the name of a set"),
    "data: no such folder": (NOTHING, ("data", "imdb", "--path", "nowhere"), "nowhere"),
    "data: an empty folder": (lambda: Path("e").mkdir(), ("data", "imdb", "--path", "e"), "imdb"),
}


# The words are right: what they ask for is refused, or is not there. Exit code 1, as for "release --check".
REFUSED = (
    *("solution is missing", "publish here", "publish above", "publish onto a file"),
    *("data: no such folder", "data: an empty folder"),
)


def contents(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and path.name != ".grading-seed"}


@pytest.mark.parametrize("name", CALLS)
def test_an_error_is_one_sentence_and_changes_nothing(name, course, run):
    before, words, wanted = CALLS[name]
    if before is not NOTHING:
        before()
    files = contents(course)
    code, said = run(*words)
    assert code == (1 if name in REFUSED else 2), said
    assert wanted in said, said
    assert "Traceback" not in said and "secret" not in said
    assert contents(course) == files


@pytest.mark.parametrize("content", BROKEN_RELEASES.values(), ids=BROKEN_RELEASES.keys())
def test_a_broken_release_is_named_when_grading_and_made_again_by_release(content, course, run):
    before = contents(course)
    put(RELEASED, content)
    code, said = run(*GRADE)
    assert code == 2 and "is not a notebook" in said and f'run "course release {LAB}"' in said
    assert run("release")[0] == 0
    assert contents(course) == before


@pytest.mark.parametrize("counts", ["best", "latest"])
def test_which_attempt_counts_holds_for_grade(counts, course, run, monkeypatch):
    taken = []

    class Taken(Marking):
        def find(self, *_, **__):
            taken.append(self._keep_best)
            return []

    monkeypatch.setattr("autograder.marking.run.Marking", Taken)
    put("course.toml", toml("[[labs]]", f'[grading]\ncounts = "{counts}"\n\n[[labs]]'))
    run(*GRADE)
    assert taken == [counts == "best"]


def test_a_report_goes_into_a_file_and_says_so_when_there_is_a_folder(course, run, monkeypatch):
    from graded_course import result

    monkeypatch.setattr(
        "autograder.pages.class_report.write_report", lambda course, results, path, **_: write_atomically(path, b"")
    )
    from autograder.course.settings import load_course
    from autograder.grade.gradebook import GradebookWriter

    loaded = load_course(course)
    with GradebookWriter(loaded.db_url, loaded) as writer:
        writer.record([result(loaded)])
    code, said = run("report", "--out", "labs")
    assert code == 2 and "labs: Is a directory" in said and "name another path" in said
    assert not [path for path in Path().iterdir() if path.name.startswith(".labs.")]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_named(course, run):
    for path, words in (("course.toml", ("report",)), (RELEASED, GRADE)):
        Path(path).chmod(0)
        code, said = run(*words)
        Path(path).chmod(0o644)
        assert code == 2 and f"{path}: Permission denied" in said


def test_the_command_as_a_program_ends_in_the_same_way(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "autograder.cli", "report"], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 2
    assert done.stderr.startswith("course: no course.toml in") and "Traceback" not in done.stderr


@pytest.mark.parametrize("command", [("grade", LAB, "empty", "--cluster-wait", "0"), ("watch", LAB, "--once")])
@pytest.mark.parametrize(("address", "is_told"), [("tcp://127.0.0.1:9", True), ("tls://127.0.0.1:9", False)])
def test_a_cluster_without_certificates_is_told_as_open_to_others(command, address, is_told, course, run, monkeypatch):
    monkeypatch.setattr("distributed.security.Security.get_connection_args", lambda *_: {"ssl_context": object()})
    put("empty/readme.txt")
    _, said = run(*command, "--cluster", address)
    assert (f"{address} has no encryption and asks for no certificate" in said) == is_told
    assert ("Use tls:// unless nobody else can" in said) == is_told


def test_a_machine_with_no_thread_left_is_a_sentence(run, course, monkeypatch):
    """The bar asks for a thread of its own: with a full process table that is the first thing that fails."""

    def full(thread: threading.Thread) -> None:
        raise RuntimeError(cli.NO_THREAD)

    monkeypatch.setattr("rich.live._RefreshThread.start", full)
    code, said = run(*GRADE)
    assert code == 3
    assert "lets no further thread" in said and "the next run continues" in said


LOADED = """
import sys
from autograder.cli.app import main

def loaded(*words):
    sys.argv = ["course", *words]
    try:
        main()
    except SystemExit:
        slow = ("nbgrader", "nbformat", "tensorflow", "alembic", "rfc3987_syntax")
        print([name for name in slow if sys.modules.get(name)])

for words in (("mark",), ("mark", "--answers"), ("explain",), ("export", "csv")):
    loaded(*words, "01_tinny", *(["ada"] if words == ("explain",) else []))
loaded("mark", "01_tiny", "ada")
loaded("explain", "01_tiny", "ada")
"""


def test_what_is_slow_to_import_waits_until_it_is_needed(tmp_path, monkeypatch):
    """Each of these modules takes half a second of the processor, or two, before a sentence can be said."""
    (tmp_path / "course.toml").write_text(TOML)
    monkeypatch.delenv("COURSE_ROOT", raising=False)
    done = subprocess.run([sys.executable, "-c", LOADED], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]"] * 4 + ["['nbgrader', 'nbformat']"] * 2, done.stderr

"""`course watch` on a real exchange: what students hand in is graded once, answered, and survives restarts."""

from __future__ import annotations

import os
import re
import shutil
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import (
    ExchangeFetchAssignment,
    ExchangeFetchFeedback,
    ExchangeReleaseAssignment,
    ExchangeSubmit,
)
from tiny_course import LAB, TOML, released, write_notebook
from traitlets.config import PyFileConfigLoader
from typed_commands import type_command
from typer.testing import CliRunner

from autograder.cli.app import app
from autograder.course.settings import CourseError, load_course
from autograder.grade.gradebook import GradebookWriter
from autograder.grade.lab_grader import GradingFailed
from autograder.grade.marks import make_mark
from autograder.grade.results import ExerciseResult, LabResult
from autograder.integrations.watching import watcher as watcher_module
from autograder.integrations.watching.watcher import Watcher
from autograder.marking import run as command
from autograder.read import PassedOver

START = datetime(2026, 11, 2, 12, tzinfo=UTC)
SETTINGS = "[grading]\nattempts_per_hour = 3\n\n[[labs]]"


class Clock:
    """A clock that the test sets."""

    def __init__(self):
        self.now = START

    def __call__(self) -> datetime:
        return self.now


class School:
    """A course with an exchange, students who hand in, and a grader that gives the points that a notebook asks for."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch):
        self.exchange = root / "exchange"
        self.exchange.mkdir()
        self.exchange.chmod(0o777)
        monkeypatch.setenv("NBGRADER_EXCHANGE", str(self.exchange))
        self.course = released(root / "course", monkeypatch, TOML.replace("[[labs]]", SETTINGS))
        self.root, self.clock, self.broken = root, Clock(), set[str]()
        self.graded: list[str] = []
        monkeypatch.setattr(command, "grade_all", self._grade_all)
        monkeypatch.setattr("autograder.sandbox.Sandbox.start", lambda sandbox: None)
        monkeypatch.setattr("autograder.sandbox.Sandbox.close", lambda sandbox: None)
        monkeypatch.chdir(self.course.root)
        self.as_nbgrader(ExchangeReleaseAssignment, self.course.root)

    def as_nbgrader(self, kind, root: Path) -> None:
        config = PyFileConfigLoader("nbgrader_config.py", path=str(self.course.root)).load_config()
        config.CourseDirectory.root = config.Exchange.assignment_dir = str(root)
        config.CourseDirectory.assignment_id = LAB
        kind(
            coursedir=CourseDirectory(config=config), authenticator=Authenticator(config=config), config=config
        ).start()

    def hand_in(self, student: str, points: float, monkeypatch: pytest.MonkeyPatch) -> None:
        home = self.root / "homes" / student
        monkeypatch.setattr("nbgrader.exchange.default.exchange.get_username", lambda: student, raising=False)
        monkeypatch.setattr("nbgrader.exchange.default.submit.get_username", lambda: student, raising=False)
        home.mkdir(parents=True, exist_ok=True)
        monkeypatch.chdir(home)
        if not (home / LAB).exists():
            self.as_nbgrader(ExchangeFetchAssignment, home)
        path = home / LAB / f"{LAB}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        notebook.cells[0].source = f"I ask for {points} points."
        write_notebook(path, notebook)
        self.as_nbgrader(ExchangeSubmit, home)
        monkeypatch.chdir(self.course.root)

    def watcher(self, **more) -> Watcher:
        settings = {"out_dir": self.course.root / "grades", "db_url": self.course.db_url, "clock": self.clock}
        return Watcher(load_course(self.course.root), [LAB], **(settings | more))

    def score(self, student: str) -> float:
        with Gradebook(self.course.db_url, self.course.course_id) as gradebook:
            return gradebook.find_submission(LAB, student).score

    def _grade_all(self, grader, submissions, sandbox, workers):
        for submission in submissions:
            self.graded.append(submission.student)
            if submission.student in self.broken:
                yield [GradingFailed(submission.student, "the worker ended twice")]
                continue
            points = float(re.search(rb"ask for ([\d.]+) points", submission.read())[1])
            exercises = (
                ExerciseResult("double", min(points, 2), 2, "graded"),
                ExerciseResult("square", max(points - 2, 0), 3, "graded"),
            )
            digest = command.content_hash(submission.read())
            yield [
                LabResult(
                    submission.student,
                    LAB,
                    exercises,
                    timestamp=submission.timestamp,
                    content_hash=digest,
                    grader_version=grader.version,
                    notebook=nbformat.reads(submission.read().decode(), as_version=4),
                )
            ]


@pytest.fixture
def school(tmp_path, monkeypatch):
    return School(tmp_path, monkeypatch)


def test_who_was_removed_stays_out_and_is_told_once(school, monkeypatch):
    school.hand_in("ada", 5, monkeypatch)
    with school.watcher() as watcher:
        list(watcher.round())
        with GradebookWriter(school.course.db_url, school.course) as gradebook:
            gradebook.remove("ada", gradebook.labs_of("ada"), everything=True)
        school.clock.now += timedelta(hours=1)
        school.hand_in("ada", 4, monkeypatch)
        assert list(watcher.round()) == [] and school.graded == ["ada"]
        (over,) = watcher.last_round.passed_over
        assert "“ada” was removed on" in over.reason and "course remove undo ada" in over.reason
        assert list(watcher.round()) == [] and watcher.last_round.passed_over == []


def test_an_attempt_is_graded_once_and_its_page_comes_back_through_the_exchange(school, monkeypatch):
    school.hand_in("ada", 5, monkeypatch)
    with school.watcher() as watcher:
        assert [(verdict.student, verdict.score) for verdict in watcher.round()] == [("ada", 5)]
        assert list(watcher.round()) == [] and school.graded == ["ada"]
    home = school.root / "homes" / "ada"
    monkeypatch.chdir(home)
    school.as_nbgrader(ExchangeFetchFeedback, home)
    (page,) = (home / LAB / "feedback").rglob("*.html")
    assert "A tiny lab" in page.read_text("utf-8")
    assert page.read_bytes() == (school.course.root / "grades" / "feedback" / "ada" / f"{LAB}.html").read_bytes()
    assert (school.course.submitted / "ada" / LAB / "timestamp.txt").exists()  # where Formgrader looks


def test_a_student_can_read_the_page_however_strict_the_graders_umask_is(school, monkeypatch):
    school.hand_in("ada", 5, monkeypatch)
    before = os.umask(0o077)
    try:
        with school.watcher() as watcher:
            list(watcher.round())
    finally:
        os.umask(before)
    (page,) = (school.exchange / school.course.course_id / "feedback").glob("*.html")
    assert page.stat().st_mode & 0o777 == 0o644


def test_the_latest_counts_or_the_best_as_course_toml_says(school, monkeypatch):
    for points in (4, 1):
        school.hand_in("ada", points, monkeypatch)
        with school.watcher() as watcher:
            list(watcher.round())
    assert school.score("ada") == 1
    path = school.course.root / "course.toml"
    path.write_text(path.read_text().replace("[grading]", '[grading]\ncounts = "best"'))
    for points in (5, 2):
        school.hand_in("bob", points, monkeypatch)
        with school.watcher() as watcher:
            list(watcher.round())
    assert school.score("bob") == 5
    page = school.course.root / "grades" / "feedback" / "bob" / f"{LAB}.html"
    assert "An earlier attempt of yours counts instead, with 5 points" in page.read_text("utf-8")
    assert school.graded == ["ada", "ada", "bob", "bob"]


def test_the_page_of_late_work_says_what_lateness_costs(school, monkeypatch):
    path = school.course.root / "course.toml"
    toml = path.read_text().replace("[grading]", "[grading]\nlate_percent_per_day = 20")
    path.write_text(toml.replace('name = "01_tiny"', 'name = "01_tiny"\ndue = 2026-01-01T12:00:00Z'))
    school.hand_in("ada", 5, monkeypatch)
    with school.watcher() as watcher:
        list(watcher.round())
    page = school.course.root / "grades" / "feedback" / "ada" / f"{LAB}.html"
    assert "handed in late, which costs 5 of the 5 points that it earned" in page.read_text("utf-8")


def test_who_is_not_in_the_roster_is_passed_over_until_the_roster_has_them(school, monkeypatch):
    path = school.course.root / "course.toml"
    path.write_text(path.read_text().replace('id = "tiny"', 'id = "tiny"\nroster = "people.csv"'))
    roster = school.course.root / "people.csv"
    roster.write_text("id\nada\n")
    for student in ("ada", "eve"):
        school.hand_in(student, 5, monkeypatch)
    with school.watcher() as watcher:
        watcher.only_roster = True
        assert [mark.student for mark in watcher.round()] == ["ada"]
        assert [passed.reason for passed in watcher.last_round.passed_over] == ["“eve” is not in people.csv."]
        roster.write_text("id\nada\neve\n")
        assert [mark.student for mark in watcher.round()] == ["eve"]
        assert watcher.last_round.passed_over == []


def test_more_attempts_than_the_hour_allows_wait_and_are_then_graded(school, monkeypatch):
    for points in (1, 2, 3, 4):
        school.hand_in("ada", points, monkeypatch)
        with school.watcher() as watcher:
            list(watcher.round())
    assert school.score("ada") == 3 and len(school.graded) == 3
    assert [passed.reason for passed in watcher.last_round.passed_over] == ["it waits: 3 attempts an hour are graded"]
    school.hand_in("bob", 2, monkeypatch)
    school.clock.now += timedelta(minutes=59)
    with school.watcher() as watcher:
        assert [verdict.student for verdict in watcher.round()] == ["bob"], "another student does not wait"
    school.clock.now += timedelta(minutes=2)
    with school.watcher() as watcher:
        list(watcher.round())
    assert school.score("ada") == 4


def test_what_the_grader_fails_at_is_nobodys_fault_and_is_tried_again(school, monkeypatch):
    school.broken.add("ada")
    school.hand_in("ada", 5, monkeypatch)
    with school.watcher() as watcher:
        assert list(watcher.round()) == []
        assert watcher.last_round.failures == {"ada": "the worker ended twice"}
        school.broken.clear()
        assert [verdict.score for verdict in watcher.round()] == [5]


def test_stopped_between_verdict_and_answer_the_next_start_answers(school, monkeypatch):
    school.hand_in("ada", 5, monkeypatch)
    with monkeypatch.context() as patch, school.watcher() as watcher:
        patch.setattr(watcher, "_hand_back", lambda *_: sys.exit("killed"))
        with pytest.raises(SystemExit):
            list(watcher.round())
    with school.watcher() as watcher:
        assert [verdict.student for verdict in watcher.round()] == ["ada"]
    assert school.graded == ["ada"]  # the verdict was recorded and is not made again
    assert list((school.exchange / school.course.course_id / "feedback").glob("*.html"))


def test_two_watchers_do_not_work_on_one_folder(school):
    with school.watcher(), pytest.raises(CourseError, match="another `course watch`"):
        school.watcher()
    school.watcher().__exit__()


def test_a_drop_folder_is_graded_without_an_exchange(school, tmp_path):
    drop = tmp_path / "drop"
    path = drop / "cyd" / f"{LAB}.ipynb"
    notebook = nbformat.read(school.course.release_notebook(LAB), as_version=4)
    notebook.cells[0].source = "I ask for 3 points."
    write_notebook(path, notebook)
    earlier = path.stat().st_mtime - 60
    os.utime(path, (earlier, earlier))
    with school.watcher(drops=[drop]) as watcher:
        assert [(verdict.student, verdict.score) for verdict in watcher.round()] == [("cyd", 3)]
    assert (school.course.root / "grades" / "feedback" / "cyd" / f"{LAB}.html").exists()


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--help",), 0, "Fetch Feedback"),
        (("07_nothing", "--once"), 2, 'there is no lab "07_nothing"'),
        (("--drop", "nowhere", "--once"), 2, "there is no folder nowhere"),
    ],
)
def test_the_command_says_what_is_wrong_in_one_sentence(school, words, code, told, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    ended, said = type_command(monkeypatch, capsys, "watch", *words)
    assert ended == code and told in " ".join(said.split()) and "Traceback" not in said


def test_the_terminal_says_why_a_file_has_no_points_and_what_was_passed_over(school, monkeypatch):
    cut_off = LabResult("pia", LAB, (), state="unreadable", reason="The file is cut off.")
    late = LabResult("zoe", LAB, (ExerciseResult("double", 2, 2, "graded"),))

    class Rounds:
        last_round = SimpleNamespace(passed_over=[PassedOver("drop/notes.txt", "It is not a notebook.")], failures={})
        __init__ = __exit__ = lambda *_, **__: None
        __enter__ = lambda self: self  # noqa: E731
        round = lambda self: iter([make_mark(cut_off), make_mark(late, 1)])  # noqa: E731

    monkeypatch.setattr(watcher_module, "Watcher", Rounds)
    monkeypatch.chdir(school.course.root)
    said = " ".join(CliRunner(env={"COLUMNS": "200"}).invoke(app, ["watch", "--once"]).output.split())
    assert f"pia {LAB} 0/0 The file is cut off." in said
    assert f"zoe {LAB} 1/2 late: 1 of 2 points lost" in said
    assert "passed over drop/notes.txt: It is not a notebook." in said


def drop(folder: Path, name: str, course, points: float, lab: str = LAB) -> Path:
    """Put a notebook that asks for points into a drop folder, some seconds ago."""
    notebook = nbformat.read(course.release_notebook(LAB), as_version=4)
    notebook.cells[0].source = f"I ask for {points} points."
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_notebook(path, notebook)
    os.utime(path, (path.stat().st_mtime - 60,) * 2)
    return path


def test_a_place_that_cannot_be_looked_at_is_a_line_and_the_others_are_graded(school, tmp_path, monkeypatch):
    """A folder that vanishes during a look, or anything else that goes wrong there, ends no watch."""
    drop(tmp_path / "drop", "ada.ipynb", school.course, 5)
    school.hand_in("bob", 4, monkeypatch)
    find = watcher_module.find_submissions

    def vanishing(places, *some, **settings):
        return os.stat("/no/such/entry") if places[0].name == "inbound" else find(places, *some, **settings)

    monkeypatch.setattr(watcher_module, "find_submissions", vanishing)
    with school.watcher(drops=[tmp_path / "drop", tmp_path / "gone"]) as watcher:
        assert [(verdict.student, verdict.score) for verdict in watcher.round()] == [("ada", 5)]
        told = {Path(passed.path).name: passed for passed in watcher.last_round.passed_over}
    assert list(told) == ["inbound", "gone"]
    assert all(passed.is_fault for passed in told.values())
    assert all("it cannot be looked at now: No such file" in passed.reason for passed in told.values())


def test_what_a_page_does_when_it_is_handed_back_is_one_attempts_line(school, monkeypatch):
    school.hand_in("ada", 5, monkeypatch)
    school.hand_in("bob", 4, monkeypatch)
    with school.watcher() as watcher:
        back = watcher._hand_back
        broken = {"ada"}

        def failing(attempt, *more):
            if attempt.student in broken:
                raise ValueError("no such exchange")
            back(attempt, *more)

        monkeypatch.setattr(watcher, "_hand_back", failing)
        assert {verdict.student for verdict in watcher.round()} == {"ada", "bob"}
        assert watcher.last_round.failures == {"ada": "feedback cannot be handed back: ValueError: no such exchange"}


@pytest.mark.parametrize("on_cluster", [False, True])
def test_what_is_set_by_hand_later_reaches_the_exchange_with_the_next_round(school, monkeypatch, on_cluster):
    """Items of a rubric, points and Formgrader's: the page that students fetch says them, and is not sent twice."""
    rubric = school.course.root / "exercises" / "tiny" / "rubrics.toml"
    rubric.parent.mkdir(parents=True)
    rubric.write_text('[why]\nitems = ["Names the scale", "Says what it changes"]\npoints = [3, 1]\n')

    def fetched() -> str:
        (page,) = (school.exchange / school.course.course_id / "feedback").glob("*.html")
        return " ".join(re.sub(r"<[^>]+>", " ", page.read_text("utf-8")).split())

    def typed(*words) -> None:
        done = CliRunner().invoke(app, [str(word) for word in words])
        assert done.exit_code == 0, done.output

    cluster = SimpleNamespace(grade_all=lambda *some: school._grade_all(*some, None, 1)) if on_cluster else None
    school.hand_in("ada", 5, monkeypatch)
    with school.watcher(cluster=cluster) as watcher:
        list(watcher.round())
        typed("mark", LAB, "ada", "why", "--item", 1, "--because", "And for 2?")
        assert "Names the scale" not in fetched()
        assert list(watcher.round()) == []
        told = "3 of 4 points, because: ✓ Names the scale (3 of 3) ✗ Says what it changes (0 of 1) And for 2?"
        assert f"Set by your instructor: {told}" in fetched()
        with Gradebook(school.course.db_url, school.course.course_id) as gradebook:
            gradebook.find_grade("double", LAB, LAB, "ada").manual_score = 1
            gradebook.db.commit()
        typed("export", "csv", LAB)
        list(watcher.round())
        assert "1 of 2 points" in fetched() and told in fetched()
        sent = []
        monkeypatch.setattr(watcher._release, "start", lambda: sent.append("a page"))
        list(watcher.round())
        assert sent == [] and watcher.last_round.failures == {}
    typed("mark", LAB, "ada", "double", 2, "--because", "right after all")
    with school.watcher(cluster=cluster) as watcher:  # the next start knows it as well
        list(watcher.round())
        assert "2 of 2 points, because: right after all" in fetched() and school.graded == ["ada"]
        school.hand_in("ada", 4, monkeypatch)
        list(watcher.round())
    page = (school.course.root / "grades" / "feedback" / "ada" / f"{LAB}.html").read_text("utf-8")
    assert school.graded == ["ada", "ada"] and page.count("✓ Names the scale") == 1  # another attempt keeps the items


def test_a_record_that_is_none_is_told_in_a_sentence(school):
    (school.course.root / "grades").mkdir(exist_ok=True)
    (school.course.root / "grades" / "watch.db").write_text("no database, but a text that is long enough" * 50)
    with pytest.raises(CourseError, match="no record of attempts"):
        school.watcher()


def test_a_notebook_in_a_drop_folder_counts_for_one_lab(school, tmp_path):
    """Each lab's look takes a student's only notebook, whatever its name: another lab would record 0 for it."""
    drop(tmp_path / "drop", "ada.ipynb", school.course, 5)
    for labs in (["02_other"], [LAB, "02_other"]):
        with school.watcher(drops=[tmp_path / "drop"], out_dir=tmp_path / labs[0]) as watcher:
            watcher._known["02_other"] = frozenset({"other-code", "other"})
            watcher.labs = labs
            for at in range(2):  # the second look knows it without reading
                assert [verdict.lab for verdict in watcher.round()] == [LAB] * (LAB in labs and at == 0)
                told = [passed.reason for passed in watcher.last_round.passed_over]
                assert told == [f"it is a notebook of {LAB}"] * (LAB not in labs)


@pytest.mark.parametrize(("named", "late"), [(timedelta(0), False), (timedelta(days=-30), True)])
def test_of_the_time_that_an_attempt_bears_and_its_coming_the_later_counts(school, tmp_path, monkeypatch, named, late):
    """A folder made by hand bears an old date; the watcher has its own."""
    now = datetime.now(UTC)
    school.clock.now = now + timedelta(seconds=30)
    school.hand_in("eve", 5, monkeypatch)
    inbound = school.exchange / school.course.course_id / "inbound"
    (entry,) = inbound.iterdir()
    who, lab, _, random = entry.name.split("+")
    entry.rename(inbound / f"{who}+{lab}+{(now + named):%Y-%m-%d %H:%M:%S} UTC+{random}")
    with school.watcher() as watcher:
        (result,) = watcher.round()
        assert abs(result.timestamp - (now if late else now + named)) < timedelta(minutes=2)
        assert ("which counts" in str(watcher._attempts("true")[0].note)) == late
        school.clock.now += timedelta(days=3)  # the next look does not change it
        assert list(watcher.round()) == [] and len(watcher._attempts("true")) == 1
    stamp = (school.course.submitted / "eve" / LAB / "timestamp.txt").read_text()
    assert stamp.startswith(f"{result.timestamp:%Y-%m-%d %H:%M}")


def test_what_is_changed_while_it_waits_is_as_old_as_its_last_change(school, tmp_path, monkeypatch):
    """A stub before the due date, and the answers after it; an attempt that waits keeps its place and is read later."""
    now = datetime.now(UTC)
    early = now - timedelta(days=3)
    school.clock.now = early + timedelta(minutes=1)
    inbound = school.exchange / school.course.course_id / "inbound"
    with school.watcher() as watcher:
        for number in range(4):
            school.hand_in("eve", number, monkeypatch)
            (entry,) = (each for each in inbound.iterdir() if str(early.date()) not in each.name)
            entry.rename(inbound / f"eve+{LAB}+{early + timedelta(seconds=number):%Y-%m-%d %H:%M:%S} UTC+{number}")
            results = list(watcher.round())
        assert results == [] and len(school.graded) == 3, "the fourth waits"
        (waits,) = (each for each in inbound.iterdir() if each.name.endswith("+3"))
        path = waits / f"{LAB}.ipynb"
        path.write_text(path.read_text("utf-8").replace("ask for 3 points", "ask for 5 points"), "utf-8")
        os.utime(path, (early.timestamp(), early.timestamp()))
        school.clock.now = now + timedelta(minutes=1)
        (result,) = watcher.round()
        assert "which counts" in watcher._attempts("handed_in = (select max(handed_in) from noted)")[0].note
    assert result.score == 5 and abs(result.timestamp - now) < timedelta(minutes=2)
    stamp = (school.course.submitted / "eve" / LAB / "timestamp.txt").read_text()
    assert stamp.startswith(f"{result.timestamp:%Y-%m-%d %H:%M}")


def test_work_from_a_drop_folder_has_its_time_at_once_and_when_it_is_graded_again(school, tmp_path):
    school.clock.now = datetime.now(UTC) + timedelta(seconds=30)
    path = drop(tmp_path / "drop", "ada.ipynb", school.course, 5)
    os.utime(path, (0, 0))  # touch -d
    with school.watcher(drops=[tmp_path / "drop"]) as watcher:
        (result,) = watcher.round()
    assert result.timestamp is not None and abs(result.timestamp - datetime.now(UTC)) < timedelta(minutes=2)


def test_a_folder_swapped_for_a_link_while_it_waits_is_graded_as_it_was_seen(school, monkeypatch):
    """What is graded is what lies in `submitted`, whatever the name leads to by then."""
    school.hand_in("eve", 1, monkeypatch)
    (folder,) = (school.exchange / school.course.course_id / "inbound").iterdir()
    solution = school.root / "solution"
    shutil.copytree(folder, solution)
    notebook = (solution / f"{LAB}.ipynb").read_text("utf-8")
    (solution / f"{LAB}.ipynb").write_text(notebook.replace("I ask for 1 points", "I ask for 5 points"), "utf-8")

    def grade_after_the_swap(*args, **settings):
        folder.rename(folder.with_name("elsewhere"))
        folder.symlink_to(solution)
        yield from school._grade_all(*args, **settings)

    monkeypatch.setattr(command, "grade_all", grade_after_the_swap)
    with school.watcher() as watcher:
        (result,) = watcher.round()
    kept = school.course.submitted / "eve" / LAB / f"{LAB}.ipynb"
    assert result.score == 1 and result.result.content_hash == command.content_hash(kept.read_bytes())
    assert "ask for 5" not in kept.read_text("utf-8")


@pytest.mark.parametrize("moment", ["kept", "noted", "graded"])
def test_killed_at_any_moment_it_loses_and_doubles_nothing(school, monkeypatch, moment):
    """After the bytes are kept and before the record says so; before it is graded; before its end is written down."""
    school.hand_in("ada", 5, monkeypatch)
    school.hand_in("bob", 4, monkeypatch)
    with monkeypatch.context() as patch, school.watcher() as watcher:
        if moment == "kept":
            patch.setattr(watcher_module, "_write_words", lambda *_: sys.exit("killed"))
        elif moment == "noted":
            patch.setattr(watcher, "_grade", lambda *_: sys.exit("killed"))
        else:
            patch.setattr(watcher, "_set", lambda *_, **values: sys.exit("killed") if "state" in values else 0)
        with pytest.raises(SystemExit):
            list(watcher.round())
    with school.watcher() as watcher:
        assert {mark.student: mark.score for mark in watcher.round()} == {"ada": 5, "bob": 4}
        assert [attempt.state for attempt in watcher._attempts("true")] == ["graded", "graded"]
        assert list(watcher.round()) == []
    assert sorted(school.graded) == ["ada", "bob"]
    assert len(list((school.exchange / school.course.course_id / "feedback").glob("*.html"))) == 2

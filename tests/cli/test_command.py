"""One run of `course grade` as the tables show it; the grading itself is replaced."""

from __future__ import annotations

import csv
import errno
import io
import os
import shutil
import stat
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbgrader.api import Gradebook
from rich.console import Console
from sqlalchemy.exc import DataError, OperationalError
from tiny_course import LAB, TOML, released
from typer.main import get_command
from typer.testing import CliRunner

from autograder.cli import app as cli
from autograder.cli import grading
from autograder.course.settings import CourseError, load_course
from autograder.declare import Case, Exercise
from autograder.grade.database import digest_cases
from autograder.grade.gradebook import read_marks
from autograder.grade.results import ExerciseResult, LabResult
from autograder.marking import run as command
from autograder.marking.results_folder import write_passed_over
from autograder.read import PassedOver
from autograder.release import notes
from autograder.sandbox import SandboxUnavailable

SECOND = "02_tiny"
STATE: dict[str, str] = {}  # what the grader is, and a digest of its cases of one exercise


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of two labs, alike but for their names, in which every submission earns 2 of 5 points."""
    root = released(tmp_path / "course", monkeypatch).root
    (root / "labs" / SECOND).mkdir()
    shutil.copy(root / "labs" / LAB / f"{LAB}.ipynb", root / "labs" / SECOND / f"{SECOND}.ipynb")
    (root / "course.toml").write_text(f'{TOML}\n[[labs]]\nname = "{SECOND}"\n')

    class Grader:
        def __init__(self, course, lab, seed=None):
            self.version, self.known = STATE["version"], {}
            self.lab = lab
            self.release = nbformat.read(course.release_notebook(lab), as_version=4)

        def case_digests(self):
            return {"double": "1", "square": STATE["square"]}

    def grade_all(grader, submissions, sandbox, workers):
        exercises = (ExerciseResult("double", 2, 2, "graded"), ExerciseResult("square", 0, 3, "graded"))
        for found in submissions:
            digest = command.content_hash(found.read())
            result = LabResult(found.student, grader.lab, exercises, grader_version=grader.version)
            yield [replace(result, content_hash=digest, timestamp=found.timestamp)]

    monkeypatch.setitem(STATE, "version", "g1")
    monkeypatch.setitem(STATE, "square", "1")
    monkeypatch.setattr(command, "LabGrader", Grader)
    monkeypatch.setattr(notes, "LabGrader", Grader)
    monkeypatch.setattr(command, "grade_all", grade_all)
    monkeypatch.chdir(root)
    return load_course(root)


def mark(course, lab: str, *students: str, out: str = "grades", **more) -> command.Marking:
    run = command.Marking(course, lab, Path(out), db_url=more.pop("db_url", course.db_url), **more)
    for student in students:
        path = course.root / "handed-in" / student / f"{lab}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(course.release_notebook(lab), path)
    found = [submission for submission in run.find([course.root / "handed-in"]) if submission.student in students]
    warm: Future = Future()
    warm.set_result(SimpleNamespace())
    list(run.run(found, warm))
    return run


def told(path: str) -> list[tuple[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return [(row["student"], row["lab"]) for row in csv.DictReader(file)]


def test_a_second_lab_and_a_late_submission_leave_the_tables_whole(course):
    mark(course, LAB, "ada", "bob")
    assert told("grades/grades.csv") == [("ada", LAB), ("bob", LAB)]
    assert mark(course, SECOND, "ada").results[0].lab == SECOND
    mark(course, LAB, "cyd")
    everybody = [("ada", LAB), ("ada", SECOND), ("bob", LAB), ("cyd", LAB)]
    assert told("grades/grades.csv") == everybody
    rows = [row for row in everybody for _ in range(3)]  # two exercises and an answer in words
    assert told("grades/results.csv") == rows


def test_the_terminal_the_page_and_the_table_show_the_same_percent(course, monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(grading, "out", Console(file=shown, width=100))
    grading._show(mark(course, LAB, "ada"))
    assert ["ada", "2/9", "22.22"] in [line.split()[:3] for line in shown.getvalue().splitlines()]
    assert "(22.22 %)" in Path(f"grades/feedback/ada/{LAB}.html").read_text("utf-8")
    assert "22.22" in Path("grades/grades.csv").read_text("utf-8")


def test_the_tables_say_what_their_gradebook_says(course, tmp_path):
    mark(course, LAB, "ada")
    mark(course, LAB, "bob", out="elsewhere", db_url=f"sqlite:///{tmp_path / 'other.db'}")
    assert told("elsewhere/grades.csv") == [("bob", LAB)]
    mark(course, LAB, "bob", out="elsewhere")
    assert told("elsewhere/grades.csv") == [("ada", LAB), ("bob", LAB)]
    with Gradebook(course.db_url, course.course_id) as gradebook:
        gradebook.remove_student("ada")
    mark(course, LAB, "bob")
    assert told("grades/grades.csv") == [("bob", LAB)]


def test_the_better_attempt_of_two_archives_counts_where_the_course_says_so(course, monkeypatch):
    worth = {"first": 3.0, "second": 1.0, "third": 2.0}

    def grade_all(grader, submissions, sandbox, workers):
        for submission in submissions:
            words = nbformat.reads(submission.read().decode(), 4).cells[-1].source
            exercises = (ExerciseResult("double", 2, 2, "graded"), ExerciseResult("square", worth[words], 3, "graded"))
            digest = command.content_hash(submission.read())
            yield [LabResult(submission.student, grader.lab, exercises, content_hash=digest, grader_version="g1")]

    def attempt(words, **more):
        notebook = nbformat.read(course.release_notebook(LAB), as_version=4)
        notebook.cells.append(nbformat.v4.new_markdown_cell(words))
        path = course.root / words / "ada" / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            nbformat.write(notebook, path)
        run = command.Marking(course, LAB, Path("grades"), db_url=course.db_url, **more)
        warm: Future = Future()
        warm.set_result(SimpleNamespace())
        list(run.run(run.find([course.root / words]), warm))
        return read_marks(course, course.db_url, LAB)[0].score, run

    monkeypatch.setattr(command, "grade_all", grade_all)
    assert attempt("first", keep_best=True)[0] == 5
    score, run = attempt("second", keep_best=True)
    assert (score, run.results[0].score, run.counts_instead["ada"].score) == (5, 3, 5)
    assert "An earlier attempt of yours counts instead" in Path(f"grades/feedback/ada/{LAB}.html").read_text("utf-8")
    worth["first"] = 0.0
    assert attempt("first", keep_best=True, again=True)[0] == 2, "the same work graded again is no other attempt"
    assert attempt("third", keep_best=True)[0] == 4
    assert attempt("second")[0] == 3, "else the newest counts"


def said(*words: str) -> str:
    done = CliRunner(env={"COLUMNS": "300"}).invoke(cli.app, list(words))
    return " ".join(f"{done.output} {done.exception or ''}".split())


def test_two_marks_for_one_file_never_stand_side_by_side_without_a_word(course):
    """A hidden case changed between two students; then the lab is released anew; then everybody is graded again."""
    again = f"grade again, with course grade {LAB} PATH on the same files"
    mark(course, LAB, "ada", "bob")
    assert "graded with" not in said("export", "csv", LAB)
    STATE.update(version="g2", square="2")
    mark(course, LAB, "cyd")
    told = f"{LAB}: 2 submissions were graded with other cases of square than are used now: {again}"
    for words in (("export", "csv", LAB), ("export", "term"), ("report",)):
        assert told in said(*words), words
    assert told in Path("grades/report.html").read_text("utf-8")
    STATE.update(version="g3", square="3")
    assert list(notes.find_work_to_redo(course, [LAB], {})) == [told.replace("2 subm", "3 subm")]
    STATE.update(version="g4")  # what is not a case of an exercise: all are behind it alike, and nothing is said
    assert "graded with another" not in said("export", "csv", LAB)
    mark(course, LAB, "ada", "bob", "cyd")
    assert "graded with" not in said("export", "csv", LAB)
    STATE.update(version="g5")
    mark(course, LAB, "dan")
    assert f"{LAB}: 3 submissions were graded with another state of the lab or the grader" in said("export", "csv", LAB)


def test_a_seed_of_its_own_is_not_what_the_others_are_compared_with(course):
    mark(course, LAB, "ada")
    STATE.update(version="seed 5", square="5")
    mark(course, LAB, "bob", seed=5)
    assert f"{LAB}: 1 submission was graded with other cases of square" in said("export", "csv", LAB)


def test_a_digest_tells_cases_and_what_they_expect_but_no_words():
    def digest_of(seed=1, factor=2.0, size=3, points=1, hint="A hint."):
        exercise = Exercise("double", oracle=lambda x: {"output": factor * x})

        @exercise.group("values", points=points)
        def values(rng):
            return [Case({"x": rng.normal(size=size)})]

        exercise.hints(values=hint)
        return digest_cases(exercise.spec, exercise.expectations(seed))

    assert digest_of() == digest_of(hint="Another one.") == digest_of(factor=2 + 1e-13)
    others = [digest_of(seed=2), digest_of(factor=2.001), digest_of(size=4), digest_of(points=2)]
    assert len({digest_of(), *others}) == 5


def attempt(course, words: str, when: datetime | None, **more) -> command.Marking:
    """Grade a file of ada's that was handed in at a time; she says `words` in it."""
    notebook = nbformat.read(course.release_notebook(LAB), as_version=4)
    notebook.cells.append(nbformat.v4.new_markdown_cell(words))
    path = course.root / words / "ada" / f"{LAB}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        nbformat.write(notebook, path)
    run = command.Marking(course, LAB, Path("grades"), db_url=course.db_url, **more)
    warm: Future = Future()
    warm.set_result(SimpleNamespace())
    list(run.run([replace(found, timestamp=when) for found in run.find([course.root / words])], warm))
    return run


def counting(course) -> str:
    """The hash of the file of ada's that counts."""
    (found,) = read_marks(course, course.db_url, LAB)
    return found.result.content_hash


def test_an_older_attempt_does_not_replace_a_newer_one(course):
    noon, day = datetime(2026, 11, 27, 12, tzinfo=UTC), timedelta(days=1)
    attempt(course, "newer", noon)
    newer = counting(course)
    run = attempt(course, "older", noon - day)
    (over,) = run.passed_over
    assert "a newer attempt of “ada” is recorded, of 2026-11-27 12:00 UTC, and this one is of 2026-11-26" in over.reason
    assert f"course remove attempt {LAB} ada" in over.reason and "older" in over.path
    assert counting(course) == newer and not run.results
    assert "a newer attempt" in Path("grades/passed_over.csv").read_text("utf-8")
    STATE.update(version="g2")
    assert attempt(course, "newer", noon - day).results, "the same file is graded again, whatever time it is given"
    assert said("remove", "attempt", LAB, "ada", "--yes")
    attempt(course, "older", noon - day)
    assert counting(course) != newer, "as the line says"
    attempt(course, "newest", noon + day)
    newest = counting(course)
    run = attempt(course, "of no time", None)
    assert counting(course) != newest and "nothing says that this one is newer" in run.sentences_on_lateness()[0]


def test_an_older_attempt_is_graded_where_the_best_one_counts(course):
    noon = datetime(2026, 11, 27, 12, tzinfo=UTC)
    attempt(course, "newer", noon, keep_best=True)
    assert attempt(course, "older", noon - timedelta(days=1), keep_best=True).results


def test_who_was_removed_stays_removed_until_he_is_taken_back(course):
    mark(course, LAB, "ada", "bob")
    said("remove", "student", "bob", "--yes", "--because", "has left")
    run = mark(course, LAB, "ada", "bob")
    assert told("grades/grades.csv") == [("ada", LAB)]
    (over,) = run.passed_over
    assert over.reason.startswith("“bob” was removed on ") and "type: course remove undo bob" in over.reason
    assert not mark(course, SECOND, "bob").results, "in no other lab either"
    assert "nothing of ada was removed" in said("remove", "undo", "ada")
    assert f"nothing of bob was removed from {LAB} alone" in said("remove", "undo", "bob", LAB)
    said("remove", "undo", "bob")
    mark(course, LAB, "ada", "bob")
    assert told("grades/grades.csv") == [("ada", LAB), ("bob", LAB)]


def test_a_removed_attempt_stays_removed_and_another_file_takes_its_place(course):
    attempt(course, "somebody else's", None)
    said("remove", "attempt", LAB, "ada", "--yes")
    run = attempt(course, "somebody else's", None)
    assert "this attempt of “ada” was removed on" in run.left_out["ada"] and not told("grades/grades.csv")
    assert f"course remove undo ada {LAB}" in run.left_out["ada"]
    assert attempt(course, "her own", None).results and told("grades/grades.csv") == [("ada", LAB)]
    assert f"course grade {LAB} PATH" in said("remove", "undo", "ada", LAB)
    assert attempt(course, "somebody else's", None).results


def test_marks_have_the_mode_that_the_umask_asks_for(course):
    for umask, wanted in ((0o077, 0o600), (0o022, 0o644)):
        before = os.umask(umask)
        try:
            mark(course, LAB, "ada", out=f"out-{umask}", db_url=f"sqlite:///{umask}.db", again=True)
            shutil.rmtree(course.autograded, ignore_errors=True)
        finally:
            os.umask(before)
        files = [path for path in Path(f"out-{umask}").rglob("*") if path.is_file()] + [Path(f"{umask}.db")]
        assert len(files) == 5
        assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {wanted}


def test_a_verdict_that_cannot_be_recorded_costs_nobody_else_one(course, monkeypatch):
    """All come in one batch, which is one transaction. The name of one of them is no text."""
    exercises = (ExerciseResult("double", 2, 2, "graded"), ExerciseResult("square", 0, 3, "graded"))

    def grade_all(grader, submissions, sandbox, workers):
        names = [submission.student for submission in submissions]
        yield [LabResult(name.replace("bob", "b\udc80b"), grader.lab, exercises, content_hash=name) for name in names]

    monkeypatch.setattr(command, "grade_all", grade_all)
    run = mark(course, LAB, "ada", "bob", "cyd")
    assert told("grades/grades.csv") == [("ada", LAB), ("cyd", LAB)]
    assert [result.student for result in run.results] == ["ada", "cyd"]
    assert list(run.failures) == ["b\udc80b"] and "cannot be written" in run.failures["b\udc80b"]


@pytest.mark.parametrize(
    ("error", "stops"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OSError(errno.ENAMETOOLONG, "File name too long"), False),
        (OperationalError("INSERT", {}, Exception("database is locked")), True),
        (DataError("INSERT", {}, Exception("value out of range")), False),
        (OverflowError("date value out of range"), False),
    ],
)
def test_what_stops_everybody_stops_the_run_and_what_stops_one_does_not(course, monkeypatch, error, stops):
    record = command.GradebookWriter.record

    def fail_for_bob(self, results):
        if any(result.student == "bob" for result in results):
            raise error
        return record(self, results)

    monkeypatch.setattr(command.GradebookWriter, "record", fail_for_bob)
    if stops:
        with pytest.raises(CourseError, match="correct that and run it again"):
            mark(course, LAB, "bob", "cyd")
    else:
        assert list(mark(course, LAB, "bob", "cyd").failures) == ["bob"]
        assert told("grades/grades.csv") == [("cyd", LAB)]


def test_what_was_graded_before_the_walls_fell_is_in_the_tables(course, monkeypatch):
    graded = command.grade_all

    def grade_all(grader, submissions, sandbox, workers):
        yield from graded(grader, submissions[:1], sandbox, workers)
        raise SandboxUnavailable("namespaces: No space left on device")

    monkeypatch.setattr(command, "grade_all", grade_all)
    with pytest.raises(SandboxUnavailable):
        mark(course, LAB, "ada", "bob")
    assert told("grades/grades.csv") == [("ada", LAB)]
    monkeypatch.setattr(command, "grade_all", graded)
    mark(course, LAB, "ada", "bob")
    assert told("grades/grades.csv") == [("ada", LAB), ("bob", LAB)]


def test_what_is_passed_over_and_who_is_claimed_twice_is_known_and_in_a_table(course):
    handed_in = course.root / "handed-in"
    for name in ("ada.ipynb", "Ada/work.ipynb", f"{LAB}.ipynb", "=1.pdf"):
        (handed_in / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(course.release_notebook(LAB), handed_in / name)
    run = mark(course, LAB)
    rows = list(csv.reader(Path("grades/passed_over.csv").read_text("utf-8").splitlines()))
    assert rows[0] == ["path", "reason", "lab"]
    assert {Path(path).name for path, *_ in rows[1:]} == {"01_tiny.ipynb", "=1.pdf"}
    assert "2 submissions have the id" in run.claimed_twice[0]
    mark(course, LAB, "bob", out="again")
    assert len(list(csv.reader(Path("again/passed_over.csv").read_text("utf-8").splitlines()))) == 3


def test_what_another_archive_or_lab_passed_over_stays_in_the_table_and_what_is_looked_at_again_does_not(tmp_path):
    def written(lab, looked_at, *found) -> list[tuple[str, ...]]:
        over = [PassedOver(f"{tmp_path}/{path}", reason) for path, reason in found]
        write_passed_over(tmp_path / "p.csv", lab, [tmp_path / path for path in looked_at], over)
        rows = list(csv.DictReader((tmp_path / "p.csv").read_text("utf-8").splitlines()))
        return [(Path(row["path"]).name, row["reason"], row["lab"]) for row in rows]

    assert written("01", ["canvas.zip"], ("canvas.zip/a.pdf", "a; b")) == [("a.pdf", "a, b", "01")]
    assert len(written("01", ["canvas"], ("canvas/b.pdf", "c"))) == 2  # another path, although its name begins alike
    assert len(written("02", ["canvas.zip"])) == 2
    assert written("01", []) == [("a.pdf", "a, b", "01"), ("b.pdf", "c", "01")]
    assert written("01", ["canvas.zip"]) == [("b.pdf", "c", "01")]
    (tmp_path / "p.csv").write_text("path,reason\nold.pdf,of an older grader\n")
    assert written("01", ["canvas"], ("canvas/b.pdf", "c")) == [("b.pdf", "c", "01")]


def test_all_commands_stand_on_one_screen_and_students_come_first():
    overview = app_overview("--help")
    assert overview == app_overview() and len(overview) <= 24
    assert all(len(line) <= 100 and "…" not in line for line in overview[1:])
    told = [line[12:].split()[0] for line in overview[2:-2]]
    assert told[:2] == ["check", "pack"] and set(told) == set(get_command(cli.app).commands)


def app_overview(*words: str) -> list[str]:
    done = CliRunner().invoke(cli.app, words)
    assert done.exit_code == 0
    return done.output.splitlines()

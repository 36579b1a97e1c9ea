"""Marks by hand: from the command or from Formgrader, logged, kept, and the same on the page as in every table."""

from __future__ import annotations

import csv
import os
import re

import nbformat
import pytest
from graded_course import course, result, set_grade  # noqa: F401  the fixture of a course of one lab
from nbgrader.api import Gradebook
from tiny_course import LAB, details, write_notebook
from typer.testing import CliRunner

from autograder.cli import app as cli
from autograder.course.settings import load_course
from autograder.grade.gradebook import GradebookWriter, read_marks
from autograder.grade.results import LabResult
from autograder.marking.results_folder import bring_up_to_date
from autograder.pages.feedback import write_feedback
from autograder.release.notes import find_work_to_redo

PAGE = f"grades/feedback/{{}}/{LAB}.html"


@pytest.fixture
def run(course, monkeypatch):
    """The command `course` in the folder of the course, where ada and bo are graded: 2 of 2 and 1.5 of 3 points."""
    monkeypatch.chdir(course.root)
    monkeypatch.setenv("JUPYTERHUB_USER", "grace")
    record(course, result(course, "ada"), result(course, "bo", why="Because of the scale."))

    def call(*words):
        done = CliRunner(env={"COLUMNS": "200"}).invoke(cli.app, list(map(str, words)))
        return done.exit_code, " ".join(f"{done.output} {done.exception or ''}".split())

    return call


def record(course, *results):
    """Grade: record verdicts and write their pages."""
    with GradebookWriter(course.db_url, course) as writer:
        writer.record(results)
        for mark in writer.marks(LAB, [result.student for result in results]):
            (notebook,) = (result.notebook for result in results if result.student == mark.student)
            write_feedback(course, mark.with_notebook(notebook), course.root / "grades" / "feedback")
        bring_up_to_date(course, writer, course.root / "grades")


def page(course, student="ada") -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", (course.root / PAGE.format(student)).read_text("utf-8")).split())


def row(course, student, table="grades", exercise="square") -> dict[str, str]:
    with (course.root / "grades" / f"{table}.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["student"] == student]
    return next(row for row in rows if row.get("exercise", exercise) == exercise)


def mark_of(course, student="ada"):
    return next(mark for mark in read_marks(course, course.db_url, LAB) if mark.student == student)


def test_a_mark_by_hand_is_on_the_page_in_the_tables_in_nbgrader_and_in_the_log(course, run):
    code, said = run("mark", LAB, "ada", "square", 3, "--because", "right; <the text> misled you")
    assert code == 0, said
    assert "counts: 5 of 9" in said and "from automatic to 3, because: right; <the text> misled you" in said
    assert "5 of 9 points" in page(course)
    told = "3 of 3 points, because: right; &lt;the text&gt; misled you The automatic mark was 1.5."
    assert f"Set by your instructor: {told}" in page(course)
    assert (row(course, "ada")["score"], row(course, "ada")["automatic"]) == ("5.00", "3.50")
    assert (row(course, "ada", "results")["score"], row(course, "ada", "results")["automatic"]) == ("3.00", "1.50")
    with Gradebook(course.db_url, course.course_id) as gradebook:
        assert gradebook.find_submission(LAB, "ada").score == 5
        assert gradebook.find_comment("square-code", LAB, LAB, "ada").comment == "right; <the text> misled you"
    assert "grace: ada, square: from automatic to 3" in run("mark", LAB)[1]


def test_names_that_are_typed_again_are_never_cut(course, run):
    run("mark", LAB, "ada", "square", 3, "--because", "a reason that is much longer than the terminal is wide " * 2)
    said = CliRunner(env={"COLUMNS": "40"}).invoke(cli.app, ["mark", LAB, "ada"]).output
    assert {"double", "square", "why"} <= {line.split()[0] for line in said.splitlines() if line.strip()}


def test_grading_again_keeps_a_mark_by_hand_and_another_answer_asks_to_look_again(course, run):
    run("mark", LAB, "ada", "double", 1, "--because", "a loop")
    record(course, result(course, "ada", grader_version="g2"))
    assert mark_of(course).score == 2.5 and "1 of 2 points, because: a loop" in page(course)
    record(course, result(course, "ada", code="def double(x): return x + x", content="c2"))
    assert mark_of(course).waiting_for("second look") == ("double",)
    assert "It is to be looked at again" in page(course)
    said = run("export", "csv", LAB)[1]
    assert "ada has changed the answer to double after you set its mark: look again, and set it anew with" in said
    run("mark", LAB, "ada", "double", 2, "--because", "no loop now")
    assert mark_of(course).waiting_for("second look") == () and mark_of(course).score == 3.5


def test_a_mark_can_be_taken_back_and_the_log_keeps_both(course, run):
    run("mark", LAB, "ada", "square", 3, "--because", "right", "--by", "Grace H.")
    run("mark", LAB, "ada", "square", "automatic", "--because", "my error")
    assert mark_of(course).score == 3.5 and "Set by your instructor" not in page(course)
    said = run("mark", LAB, "ada")[1]
    assert "Grace H.: ada, square: from automatic to 3, because: right" in said
    assert "grace: ada, square: from 3 to automatic, because: my error" in said


def test_points_and_comments_of_formgrader_are_logged_and_reach_the_page(course, run):
    set_grade(course, "bo", "why", manual_score="3", needs_manual_grade=False)  # text, as Formgrader sends it
    with Gradebook(course.db_url, course.course_id) as gradebook:
        gradebook.find_comment("why", LAB, LAB, "bo").manual_comment = "Say which scale."
        gradebook.db.commit()
    code, said = run("export", "csv", LAB)
    assert code == 0, said
    assert "6.5 of 9 points" in page(course, "bo") and "3 of 4 points, because: Say which scale." in page(course, "bo")
    assert "Because of the scale." in page(course, "bo")  # the answer that the comment is about
    said = run("mark", LAB, "bo")[1]
    assert "grace: bo, why: from automatic to 3, because: no reason was given" in said
    assert "grace: bo, why: from 3 to 3, because: Say which scale." in said


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("ad", "square", 3, "--because", "x"), "no submission of ad is graded; did you mean ada?"),
        (("ada", "cube", 3, "--because", "x"), "has no graded part cube; its parts are double, square, why"),
        (("ada", "square", 4, "--because", "x"), "square has 3 points, and 4 is not between 0 and that"),
        (("ada", "square", "nan", "--because", "x"), "nan is not between"),
        (("ada", "square", "all", "--because", "x"), "'all' is no number of points"),
        (("ada", "square", 3), "a mark needs points and a reason: course mark"),
        (("ada", "square"), "a mark needs points and a reason"),
        (("zoe",), "no submission of zoe is graded"),
    ],
)
def test_what_cannot_be_marked_is_told_and_changes_nothing(course, run, words, told):
    code, said = run("mark", LAB, *words)
    assert code and told in said
    assert mark_of(course).score == 3.5 and run("mark", LAB)[1].startswith("Nothing was changed by hand")


def test_a_lab_that_grew_says_how_many_are_to_be_graded_again(course, run, monkeypatch):
    run("mark", LAB, "ada", "square", 3, "--because", "right")
    path = course.release_notebook(LAB)
    notebook = nbformat.read(path, as_version=4)
    cube = nbformat.v4.new_code_cell('check("cube")', metadata=details("cube", grade=True, locked=True, points=1))
    notebook.cells.insert(9, cube)
    os.chmod(path, 0o644)
    write_notebook(path, notebook)
    told = (
        f"{LAB}: 2 submissions have no mark for cube, which the lab got or changed after they were graded: grade again"
    )
    grade_again, *_, export_again = find_work_to_redo(course, None, {LAB: (9, 10)})
    assert told in grade_again
    assert f"{LAB} has 10 points now, and had 9: when that is done, export again" in export_again
    assert list(find_work_to_redo(course, ["another"], {LAB: (9, 10)})) == []
    assert told in run("export", "csv", LAB)[1]
    assert (mark_of(course).score, mark_of(course).max_score) == (5, 10)
    assert "It is to be graded again" in page(course)
    assert row(course, "ada")["state"] == "grade_again"


def test_a_dropped_exercise_keeps_its_marks_by_hand_until_they_are_taken_back(course, run):
    for student in ("ada", "bo"):
        run("mark", LAB, student, "square", 3, "--because", "right")
    path = course.release_notebook(LAB)
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if "square" not in cell.source]
    os.chmod(path, 0o644)
    write_notebook(path, notebook)
    told = '"square" is no longer in the lab, and has marks by hand (ada, bo): take each back, with course mark 01_tiny'
    code, said = run("export", "csv", LAB)
    assert code and told in said
    taken_back = ("square", "automatic", "--because", "the exercise is dropped")
    assert "has marks by hand (bo)" in run("mark", LAB, "ada", *taken_back)[1]
    assert run("mark", LAB, "bo", *taken_back)[0] == 0
    assert run("export", "csv", LAB)[0] == 0
    assert [(mark_of(course, name).score, mark_of(course, name).max_score) for name in ("ada", "bo")] == [(2, 6)] * 2
    assert "from 3 to automatic, because: the exercise is dropped" in run("mark", LAB)[1]
    assert "2 of 6 points" in page(course)


def test_an_excused_lab_does_not_count_and_says_so(course, run):
    toml = course.root / "course.toml"
    toml.write_text(toml.read_text() + f'\n[[excused]]\nstudent = "ada"\nlab = "{LAB}"\n')
    assert run("export", "csv", LAB)[0] == 0
    assert "You are excused from this lab" in page(course) and row(course, "ada")["state"] == "excused"
    assert mark_of(load_course(course.root)).excused
    with (course.root / "grades" / "export.csv").open() as file:
        exported = next(row for row in csv.DictReader(file) if row["student"] == "ada")
    assert (exported[LAB], exported[f"{LAB} state"]) == ("", "excused")


def test_who_handed_in_what_cannot_be_read_is_told_how_to_do_it_again(course, run):
    assert "To hand in again" not in page(course)
    record(course, LabResult("ada", LAB, (), state="unreadable", reason="The file is empty."))
    told = "The file is empty. To hand in again, open your notebook in Jupyter and save it. Then type"
    assert told in page(course) and "python -m coursekit pack" in page(course)


def test_a_page_of_what_cannot_be_read_folds_the_exercises_but_keeps_what_a_person_wrote(course, run):
    record(course, LabResult("ada", LAB, (), state="unreadable", reason="The file is empty."))
    assert "No answer could be read: 3 exercises and questions double , 2 points square , 3 points" in page(course)
    assert "0 of 2 points" not in page(course) and "Your code" not in page(course)
    assert run("mark", LAB, "ada", "double", 2, "--because", "seen in class")[0] == 0
    assert "No answer could be read: 2 exercises and questions square" in page(course)
    assert "Set by your instructor: 2 of 2 points, because: seen in class" in page(course)

"""Removing an attempt or a student: asked first, logged, and nothing of the others' changes."""

from __future__ import annotations

import csv
import sqlite3
from contextlib import closing

import pytest
from graded_course import course  # noqa: F401  the fixture of a course of one lab
from nbgrader.api import Gradebook, MissingEntry
from test_hand_marks import PAGE, mark_of, record, result, run  # noqa: F401  ada and bo are graded
from tiny_course import LAB
from typer.testing import CliRunner

from autograder.cli.app import app
from autograder.course.settings import load_course
from autograder.grade.gradebook import read_marks, read_students


def students(course, table="grades") -> list[str]:
    with (course.root / "grades" / f"{table}.csv").open() as file:
        return sorted({row["student"] for row in csv.DictReader(file)})


def test_an_attempt_is_gone_everywhere_and_the_log_says_who_and_why(course, run):
    run("mark", LAB, "ada", "square", 3, "--because", "right")
    run("mark", LAB, "bo", "square", 2, "--because", "half")
    others = (course.root / PAGE.format("bo")).read_bytes()
    (course.submitted / "ada" / LAB).mkdir(parents=True)
    code, said = run("remove", "attempt", LAB, "ada", "--yes", "--because", "the wrong file", "--by", "Grace H.")
    assert code == 0 and f"removed ada from {LAB}: 1 submission" in said
    assert f"what was handed in is still in {course.submitted / 'ada' / LAB}" in said
    assert [mark.student for mark in read_marks(course, course.db_url, LAB)] == ["bo"]
    assert students(course) == students(course, "results") == ["bo"]
    assert not (course.root / PAGE.format("ada")).exists() and not (course.autograded / "ada").exists()
    assert (course.root / PAGE.format("bo")).read_bytes() == others and mark_of(course, "bo").score == 4
    said = run("mark", LAB)[1]
    assert "Grace H.: ada: removed the submission, which had 5 points, because: the wrong file" in said
    assert "grace: ada, square: from automatic to 3, because: right" in said  # what was done before stays
    with Gradebook(course.db_url, course.course_id) as gradebook:
        with pytest.raises(MissingEntry):
            gradebook.find_submission(LAB, "ada")
        assert gradebook.find_student("ada") and gradebook.find_submission(LAB, "bo").score == 4


def test_the_next_file_takes_the_place_of_a_removed_one_without_its_marks_by_hand(course, run):
    run("mark", LAB, "ada", "square", 3, "--because", "right")
    run("remove", "attempt", LAB, "ada", "--yes")
    record(course, result(course, "ada"))  # the very same file
    assert (mark_of(course).score, [part.by_hand for part in mark_of(course).parts]) == (3.5, [None] * 3)
    assert students(course) == ["ada", "bo"]


def test_a_student_is_gone_with_everything_but_what_was_handed_in(course, run):
    toml = course.root / "course.toml"
    toml.write_text(toml.read_text() + f'\n[[excused]]\nstudent = "ada"\nlab = "{LAB}"\n')
    code, said = run("remove", "student", "ada", "--yes", "--because", "has left the course")
    assert code == 0 and "course.toml has an extension or an excuse for ada; delete it" in said
    assert read_students(course.db_url) == students(course) == ["bo"]
    code, said = run("mark", LAB)
    assert 'excused: "ada" is not in the gradebook' in said


def test_what_was_noted_of_an_extension_goes_with_the_submission(course, run):
    toml = course.root / "course.toml"
    extension = f'\n[[extensions]]\nstudent = "ada"\nlab = "{LAB}"\ndays = 7\n'
    toml.write_text(toml.read_text().rstrip() + "\ndue = 2026-01-01T00:00:00Z\n" + extension)
    record(load_course(course.root), result(course, "ada"))
    students_noted = "SELECT student FROM course_date WHERE student = 'ada'"
    with closing(sqlite3.connect(course.root / "gradebook.db")) as database:
        assert database.execute(students_noted).fetchall() == [("ada",)]
        assert run("remove", "student", "ada", "--yes")[0] == 0
        assert database.execute(students_noted).fetchall() == []


def test_the_last_student_leaves_empty_tables(course, run):
    for student in ("ada", "bo"):
        assert run("remove", "student", student, "--yes")[0] == 0
    assert students(course) == [] and not list((course.root / "grades" / "feedback").iterdir())


@pytest.mark.parametrize(("answer", "is_removed"), [("y\n", True), ("n\n", False), ("\n", False), ("", False)])
def test_it_asks_before(course, run, answer, is_removed):
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["remove", "student", "ada"], input=answer)
    assert f"the submission of ada in {LAB}, which has 3.5 points" in done.output
    assert "Remove the student ada and 1 submission? Marks and comments by hand go with it" in done.output
    assert (done.exit_code == 0) == is_removed
    assert students(course) == (["bo"] if is_removed else ["ada", "bo"])
    assert (course.root / PAGE.format("ada")).exists() != is_removed


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("attempt", LAB, "adda"), "has no student adda; did you mean ada?"),
        (("student", "nobody"), "has no student nobody"),
        (("attempt", "01_tinny", "ada"), 'there is no lab "01_tinny"; did you mean 01_tiny?'),
    ],
)
def test_who_is_not_there_cannot_be_removed(course, run, words, told):
    code, said = run("remove", *words, "--yes")
    assert code and told in said
    assert students(course) == ["ada", "bo"]


def test_another_gradebook_leaves_the_courses_pages_and_tables_alone(course, run, tmp_path):
    (tmp_path / "other.db").write_bytes((course.root / "gradebook.db").read_bytes())
    other = f"sqlite:///{tmp_path / 'other.db'}"
    assert run("remove", "attempt", LAB, "ada", "--yes", "--db", other)[0] == 0
    assert read_students(other) == ["ada", "bo"]
    assert [mark.student for mark in read_marks(course, other, LAB)] == ["bo"]
    assert students(course) == ["ada", "bo"] and (course.root / PAGE.format("ada")).exists()
    assert (course.autograded / "ada").exists()

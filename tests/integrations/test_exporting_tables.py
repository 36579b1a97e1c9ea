"""What `course export` writes is what Canvas and Moodle import: from their own archives and lists, and back."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from graded_course import course, result  # noqa: F401  the fixture of a course of one lab
from lms import CANVAS_FILES, CANVAS_GRADES, MOODLE_FILES, MOODLE_WORKSHEET, packed
from nbgrader.api import Gradebook
from tiny_course import LAB
from typed_commands import type_command

from autograder.grade.gradebook import GradebookWriter
from autograder.read import find_submissions


def grade(course, archive: Path, **more) -> list[str]:
    """Record a verdict on everybody in the archive, as `course grade` names them; each gets half a point more."""
    students = [submission.student for submission in find_submissions([archive], LAB).submissions]
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result(course, name, square=1.5 + at / 2, **more) for at, name in enumerate(sorted(students))])
    return students


@pytest.fixture
def run(monkeypatch, capsys, course):
    """Type a command in the course's folder; the answer is its exit code and what it said."""
    monkeypatch.chdir(course.root)
    monkeypatch.delenv("COURSE_ROOT", raising=False)
    monkeypatch.setenv("COLUMNS", "500")
    Path("Grades.csv").write_text(CANVAS_GRADES, "utf-8")
    Path("Worksheet.csv").write_text(MOODLE_WORKSHEET, "utf-8")

    def typed(*words: str) -> tuple[int, str]:
        code, said = type_command(monkeypatch, capsys, "export", *words)
        return code, " ".join(said.split())

    return typed


def rows(path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(Path(path).read_bytes().decode("utf-8"), newline="")))


def test_from_a_canvas_archive_back_to_canvas(course, run):
    assert set(grade(course, packed(course.root / "d.zip", CANVAS_FILES, b"{}"))) == {
        "lovelaceada_12345",
        "boolegeorge_12346",
    }
    code, said = run("canvas", LAB, "--roster", "Grades.csv")
    assert code == 0 and "marks of 2 students" in said
    assert "9 points are scaled to the 18" in said and "2 people of the roster have no mark" in said
    points, *people = rows("grades/canvas.csv")
    column = "A tiny lab (4711)"
    assert list(points) == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", column]
    assert (points["Student"].strip(), points[column]) == ("Points Possible", "18")
    assert {row["ID"]: row[column] for row in people} == {"12345": "8", "12346": "7", "12347": "", "12399": ""}
    assert people[1]["Student"] == 'Boole, George "Bo"' and people[2]["SIS User ID"] == "s102"


def test_a_lab_without_a_column_in_canvas_gets_one(course, run):
    grade(course, packed(course.root / "d.zip", CANVAS_FILES, b"{}"))
    Path("Grades.csv").write_text(CANVAS_GRADES.replace("A tiny lab (4711)", "Homework (7)"), "utf-8")
    code, said = run("canvas", LAB, "--roster", "Grades.csv", "--zeros")
    assert code == 0 and "Canvas will offer to make an assignment 'A tiny lab'" in said
    assert [row["A tiny lab"] for row in rows("grades/canvas.csv")] == ["9", "4", "3.5", "0", "0"]
    assert run("canvas", LAB, "--roster", "Grades.csv", "--column", f"{LAB}=Homework (7)")[0] == 0
    assert [row["Homework (7)"] for row in rows("grades/canvas.csv")] == ["18", "8", "7", "", ""]


def test_a_column_that_is_not_there_is_told(course, run):
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result(course, "bo")])
    there, mistyped = "A tiny lab (4711)", "A tiny lab (4712)"
    code, said = run("canvas", LAB, "--roster", "Grades.csv", "--column", f"{LAB}={mistyped}")
    assert code == 0 and f"has no column '{mistyped}'" in said and f"did you mean {there}?" in said
    assert "has no column" not in run("canvas", LAB, "--roster", "Grades.csv", "--column", f"{LAB}={there}")[1]
    Path("people.csv").write_text("Username,Lab 1\nbo,\n")
    said = run("moodle", LAB, "--roster", "people.csv", "--column", f"{LAB}=Lab 2")[1]
    assert "people.csv has no column 'Lab 2'" in said and "did you mean Lab 1?" in said
    assert "has no column" not in run("moodle", LAB, "--roster", "people.csv", "--column", f"{LAB}=Lab 1")[1]


def test_from_a_moodle_archive_back_into_its_worksheet(course, run):
    assert set(grade(course, packed(course.root / "d.zip", MOODLE_FILES, b"{}"))) == {
        "Ada Lovelace_501",
        "George Boole_502",
    }
    assert run("moodle", LAB, "--roster", "Worksheet.csv")[0] == 0
    before = list(csv.DictReader(io.StringIO(MOODLE_WORKSHEET.removeprefix("\ufeff"), newline="")))
    after = rows("grades/moodle.csv")
    assert [row.pop("Grade") for row in after] == ["3.5", "4", ""]
    assert after == [{name: value for name, value in row.items() if name != "Grade"} for row in before]


def test_a_worksheet_keeps_its_comma_and_its_maximum(course, run):
    grade(course, packed(course.root / "d.zip", MOODLE_FILES, b"{}"))
    Path("Worksheet.csv").write_text(MOODLE_WORKSHEET.replace(",9.00,", ',"12,00",'), "utf-8")
    code, said = run("moodle", LAB, "--roster", "Worksheet.csv")
    assert code == 0 and "scaled to the 12 that Moodle has" in said
    assert [row["Grade"] for row in rows("grades/moodle.csv")] == ["4,67", "5,33", ""]


def test_an_old_grade_in_a_worksheet_is_emptied_by_a_mark_that_waits_and_by_an_excuse(course, run):
    students = grade(course, packed(course.root / "d.zip", MOODLE_FILES, b"{}"), why="Because.")
    toml = course.root / "course.toml"
    toml.write_text(toml.read_text() + f'\n[[excused]]\nstudent = "{max(students)}"\nlab = "{LAB}"\n')
    Path("Worksheet.csv").write_text(MOODLE_WORKSHEET.replace(" - ,,9.00", " - ,7.00,9.00"), "utf-8")
    code, said = run("moodle", LAB, "--roster", "Worksheet.csv")
    assert code == 0 and "the cell is empty" in said
    assert [row["Grade"] for row in rows("grades/moodle.csv")] == ["", "", "7.00"]  # the last has no mark


def test_another_list_of_moodle_becomes_a_table_for_its_grade_import(course, run):
    grade(course, packed(course.root / "d.zip", {"ada.ipynb": "", "bo.ipynb": ""}, b"{}"))
    Path("people.csv").write_text("Username;Email address\nada;a@x\nbo;b@x\n")
    code, said = run("moodle", LAB, "--roster", "people.csv")
    assert code == 0 and "map the columns" in said
    assert rows("grades/moodle.csv") == [
        {"Username": "ada", "Email address": "a@x", "A tiny lab": "3.5"},
        {"Username": "bo", "Email address": "b@x", "A tiny lab": "4"},
    ]


def test_the_plain_table_says_all(course, run):
    grade(course, packed(course.root / "d.zip", CANVAS_FILES, b"{}"), why="Because.")
    code, said = run("csv", LAB)
    assert code == 0 and "2 submissions have an answer in words without a mark" in said
    assert rows("grades/export.csv")[0] == {
        "student": "boolegeorge_12346",
        LAB: "",
        f"{LAB} of": "9",
        f"{LAB} lost by lateness": "0",
        f"{LAB} state": "waits",
    }
    run("csv", LAB, "--roster", "Worksheet.csv", "--without", "lovelaceada_12345", "--without", "boolegeorge_12346")
    assert run("csv", LAB, "--roster", "Grades.csv")[0] == 0
    assert [row[f"{LAB} state"] for row in rows("grades/export.csv")] == [
        *["nothing handed in"] * 2,
        *["waits"] * 2,
        *["nothing handed in"] * 2,
    ]


@pytest.mark.parametrize("table", ["csv", "term"])
def test_a_table_that_is_read_back_as_the_roster_is_written_again(course, run, table):
    grade(course, packed(course.root / "d.zip", {"ada.ipynb": "", "bo.ipynb": ""}, b"{}"))
    Path("people.csv").write_text("student\nada\nbo\ncyd\n")
    assert run(table, LAB, "--roster", "people.csv", "--out", "first.csv")[0] == 0
    first = Path("first.csv").read_text()
    Path("old.csv").write_text(first.replace("3.5,", "2.5,").replace("\ncyd,,", "\ncyd,7,"))
    for roster in ("first.csv", "old.csv"):
        assert run(table, LAB, "--roster", roster, "--out", "again.csv")[0] == 0
        assert Path("again.csv").read_text() == first


def test_the_plain_table_tells_a_file_that_cannot_be_read_from_a_graded_one(course, run):
    with GradebookWriter(course.db_url, course) as writer:
        cut_off = result(course, "bo", 0.0, 0.0, state="unreadable", reason="The file is cut off.")
        writer.record([result(course, "ada"), cut_off])
    assert run("csv", LAB)[0] == 0
    states = {row["student"]: (row[LAB], row[f"{LAB} state"]) for row in rows("grades/export.csv")}
    assert states == {"ada": ("3.5", "graded"), "bo": ("0", "unreadable")}


def test_nobody_is_exported_where_one_is_unknown(course, run):
    grade(course, packed(course.root / "d.zip", [*CANVAS_FILES, "evemallory_99_900103_01_tiny.ipynb"], b"{}"))
    code, said = run("canvas", LAB, "--roster", "Grades.csv")
    assert code == 2 and "evemallory_99: nobody in Grades.csv has this id" in said
    assert not Path("grades/canvas.csv").exists()
    assert run("canvas", LAB, "--roster", "Grades.csv", "--without", "evemallory_99")[0] == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("canvas", "nowhere", "--roster", "Grades.csv"), "there is no lab"),
        (("canvas", LAB, "--roster", "missing.csv"), "No such file"),
        (("canvas", LAB, "--roster", "Worksheet.csv", "--without", "ada"), "no column 'Student'"),
        (("canvas", LAB, "--roster", "Grades.csv", "--feedback", "p.zip"), "--feedback needs --download"),
        (("canvas", LAB, "--roster", "Grades.csv", "--column", LAB), "has no heading"),
        (("moodle", LAB, "--roster", "Bo.csv", "--column", f"{LAB}=Lab 1"), "one column for marks, 'Grade'; leave"),
        (("csv", LAB, "--without", "bo", "--without", "zoe"), "no student is left after --without"),
    ],
)
def test_mistakes_get_a_sentence(course, run, words, told):
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result(course, "bo"), result(course, "zoe")])
    Path("Bo.csv").write_text("Identifier,ID number,Grade\nParticipant 1,bo,\nParticipant 2,zoe,\n")
    code, said = run(*words)
    assert (code, told in said) == (2, True), said


def test_no_name_becomes_a_formula(course, run):
    names = ('=HYPERLINK("http:__evil","x")_12', "@SUM(1+1)_3", "+1-1", "\uff1dcmd", "-2", "7")
    with GradebookWriter(course.db_url, course) as writer:
        writer.record([result(course, name) for name in names])
    assert run("csv", LAB)[0] == 0
    written = [row["student"] for row in rows("grades/export.csv")]
    assert not any(name.startswith(("=", "@", "+", "\uff1d")) for name in written)
    assert {name.removeprefix("'") for name in written} == set(names) and {"-2", "7"} < set(written)


def test_a_mark_that_the_lab_got_since_is_told_from_an_answer_in_words(course, run):
    """The remedy is another one: to grade again, and nothing by hand."""
    grade(course, packed(course.root / "d.zip", CANVAS_FILES, b"{}"))
    with Gradebook(course.db_url, course.course_id) as gradebook:
        new = gradebook.find_grade("square", LAB, LAB, "boolegeorge_12346")
        new.auto_score, new.needs_manual_grade = None, True
        gradebook.db.commit()
    code, said = run("csv", LAB)
    assert code == 0 and f"{LAB}: 1 submission has no mark for square" in said
    assert f"course grade {LAB} PATH" in said and "answer in words" not in said

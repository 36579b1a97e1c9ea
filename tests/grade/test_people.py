"""An extension or an excuse for nobody is told, or refused, with the nearest name; strangers can be left out."""

from __future__ import annotations

import shutil

import pytest
from tiny_course import LAB, TOML
from typed_commands import course, run  # noqa: F401  a course of one lab in the working folder, and the command

from autograder.course.settings import load_course
from autograder.course.text import find_near
from autograder.grade.gradebook import GradebookWriter
from autograder.grade.results import LabResult

DUE = "due = 2026-11-02T23:59:00Z\n"
ROSTER = "Student,ID,SIS Login ID\nMaria Lopez,2001,mlopez\nAda Lovelace,2002,ada\n"


def write(course, tables: str = "", roster: str = "") -> None:
    toml = TOML.replace('id = "tiny"', 'id = "tiny"\nroster = "people.csv"') if roster else TOML
    (course / "course.toml").write_text(toml + DUE + tables)
    (course / "people.csv").write_text(roster)


def extension(student: str, lab: str = LAB) -> str:
    return f'\n[[extensions]]\nstudent = "{student}"\nlab = "{lab}"\ndue = 2026-11-05T23:59:00Z\n'


def excuse(student: str, lab: str = LAB) -> str:
    return f'\n[[excused]]\nstudent = "{student}"\nlab = "{lab}"\n'


def graded(course, *students: str) -> None:
    loaded = load_course(course)
    with GradebookWriter(loaded.db_url, loaded) as writer:
        writer.record([LabResult(student, LAB, (), content_hash=student) for student in students])


COMMANDS = {
    "grade": ("grade", LAB, "handed-in"),
    "mark": ("mark", LAB),
    "export": ("export", "csv", LAB),
    "report": ("report",),
    "watch": ("watch", "--once"),
}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS.keys())
@pytest.mark.parametrize(
    ("tables", "told"),
    [
        (extension("lopezmaria"), 'extensions: "lopezmaria" is not in the gradebook; did you mean lopezmaria_2001?'),
        (excuse("LOPEZMARIA_201"), 'excused: "LOPEZMARIA_201" is not in the gradebook; did you mean lopezmaria_2001?'),
        (
            extension("x y"),
            "correct the name; or, if it is right and nothing was handed in yet, nothing is to be done",
        ),
    ],
)
def test_without_a_roster_nothing_stops(course, run, words, tables, told, monkeypatch):
    """Who is in no gradebook may have handed in nothing yet: one line says it, with the nearest name."""
    monkeypatch.setattr("autograder.pages.class_report.write_report", lambda *_, **__: None)
    graded(course, "ada", "lopezmaria_2001")
    write(course, tables)
    code, said = run(*words)
    assert said.count(told) == 1, said
    assert code == 0 or "no sandbox in this test" in said, said  # it came as far as that


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS.keys())
def test_who_is_in_no_roster_is_refused_by_every_command(course, run, words):
    graded(course, "ada", "lopezmaria_2001")
    write(course, extension("x y"), ROSTER)
    before = {path for path in course.rglob("*") if path.is_file() and path.name != ".grading-seed"}
    code, said = run(*words)
    assert code == 2 and "if it is right and nothing was handed in yet, type: nbgrader db stud" in said, said
    assert {path for path in course.rglob("*") if path.is_file() and path.name != ".grading-seed"} == before


@pytest.mark.parametrize(
    ("tables", "told"),
    [
        (extension("mlopez"), '"mlopez" is lopezmaria_2001 in the gradebook; write student = "lopezmaria_2001"'),
        (extension("adaa"), '"adaa" is neither in the gradebook nor in {}/people.csv; did you mean ada'),
        (extension("ada") + excuse("2002") + excuse("lopezmaria_2001"), ""),  # ada has handed in nothing yet
    ],
)
def test_a_roster_knows_those_who_have_handed_in_nothing(course, run, tables, told):
    graded(course, "lopezmaria_2001")
    write(course, tables, ROSTER)
    code, said = run("mark", LAB)
    assert (code, told.format(course) in said) == (2 if told else 0, True), said


def test_a_class_of_which_nothing_is_known_may_have_any_name(course, run):
    write(course, extension("grace"))
    code, said = run("report")
    assert code == 2 and "holds no results yet" in said
    code, said = run("grade", LAB, "handed-in")  # ada has handed in: now somebody is known
    assert code == 3 and "no sandbox in this test" in said and '"grace" is not in the gradebook' in said


@pytest.mark.parametrize("table", [extension, excuse])
def test_a_misspelt_lab_is_refused_with_the_nearest_name(course, run, table):
    write(course, table("ada", "01_tinny"))
    code, said = run("report")
    assert code == 2 and f'"01_tinny" is not among [[labs]]; did you mean {LAB}?' in said
    write(course)
    code, said = run("report")
    code, said = run("mark", "tiny")
    assert code == 2 and f'there is no lab "tiny"; did you mean {LAB}? The labs are {LAB}' in said


def test_a_mark_of_a_misspelt_student_is_refused_with_the_nearest_name(course, run):
    graded(course, "lopezmaria_2001")
    write(course)
    for words in (("lopezmaria",), ("lopezmaria", "square", "3", "--because", "x")):
        code, said = run("mark", LAB, *words)
        assert code == 2 and "no submission of lopezmaria is graded; did you mean lopezmaria_2001?" in said


def test_only_the_roster_is_graded_and_the_others_are_listed(course, run):
    write(course)
    code, said = run("grade", LAB, "handed-in", "--only-roster")
    assert code == 2 and 'names no list of people; add roster = "people.csv"' in said
    write(course, roster=ROSTER)
    shutil.copytree(course / "handed-in" / "ada", course / "handed-in" / "eve")
    code, said = run("grade", LAB, "handed-in", "--only-roster")
    assert code == 3 and "no sandbox in this test" in said  # ada would be graded
    shutil.rmtree(course / "handed-in" / "ada")
    shutil.copytree(course / "handed-in" / "eve", course / "handed-in" / "bob")
    code, said = run("grade", LAB, "handed-in", "--only-roster")
    assert code == 2 and "“eve” is not in people.csv." in said and "“bob” is not in people.csv." in said


def test_an_export_of_only_the_roster_lists_whom_it_left_out(course, run):
    graded(course, "ada", "eve_99", "bob_98")
    write(course, roster=ROSTER)
    code, said = run("export", "csv", LAB, "--roster", "people.csv")
    assert code == 2 and "or --only-roster for all such students" in said
    for more in (("--roster", "people.csv"), ()):
        code, said = run("export", "csv", LAB, "--only-roster", *more)
        assert code == 0 and "nobody of this id: bob_98, eve_99" in said and "marks of 1 student" in said
    write(course, roster=ROSTER.replace("ada", "cyd").replace("2002", "2003"))
    code, said = run("export", "csv", LAB, "--only-roster")
    assert code == 2 and f"{LAB}: no student is left after --without and --only-roster" in said


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("daniel", ["Daniel Kovac_501009"]),
        ("okafor ben", ["Ben Okafor_501002"]),
        ("501002", ["Ben Okafor_501002"]),
        ("anna", ["schmidtanna_1028", "Anna Schmidt_501010"]),
        ("zhangwie_1023", ["zhangwei_1023"]),
        ("braunuwe_1021", []),  # whose number alone is like others
        ("02", []),
    ],
)
def test_the_names_that_are_most_like_what_was_typed(typed, meant):
    known = ["Daniel Kovac_501009", "Ben Okafor_501002", "zhangwei_1023", "schmidtanna_1028", "Anna Schmidt_501010"]
    assert find_near(typed, known) == meant

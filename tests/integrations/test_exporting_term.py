"""`course export term`: weights, the lowest dropped, excused labs; every number can be checked by hand."""

from __future__ import annotations

import csv
import io
import shutil
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from tiny_course import LAB, TOML
from typed_commands import course, run  # noqa: F401  a course of one lab in the working folder, and the command

from autograder.course.settings import Lateness, load_course
from autograder.grade.gradebook import GradebookWriter
from autograder.grade.results import ExerciseResult, LabResult
from autograder.integrations.exporting.term import TermRules, make_term_table

SECOND, THIRD = "02_tiny", "03_tiny"
LABS = f'weight = 1.0\n\n[[labs]]\nname = "{SECOND}"\nweight = 2.0\n\n[[labs]]\nname = "{THIRD}"\nweight = 0.5\n'
EXCUSED = f'\n[[excused]]\nstudent = "bo"\nlab = "{SECOND}"\n'


@pytest.fixture
def term(course):
    """A course of three labs of 9 points. ada: 5, 2 and 4.5 points; bo: 4 and nothing, excused from the second."""
    (course / "course.toml").write_text(TOML + LABS + EXCUSED)
    for lab in (SECOND, THIRD):
        (course / "labs" / lab).mkdir()
        shutil.copy(course / "labs" / LAB / f"{LAB}.ipynb", course / "labs" / lab / f"{lab}.ipynb")
    loaded = load_course(course)
    points = {("ada", LAB): 5.0, ("ada", SECOND): 2.0, ("ada", THIRD): 4.5, ("bo", LAB): 4.0}

    def verdict(student: str, lab: str, earned: float) -> LabResult:
        double = min(earned, 2.0)
        exercises = (
            ExerciseResult("double", double, 2, "graded"),
            ExerciseResult("square", min(earned - double, 3.0), 3, "graded"),
        )
        return LabResult(student, lab, exercises, content_hash=f"{student}{lab}")

    with GradebookWriter(loaded.db_url, loaded) as writer:
        writer.record([verdict(student, lab, earned) for (student, lab), earned in points.items()])
    return loaded


def rows() -> dict[str, dict[str, str]]:
    text = Path("grades/term.csv").read_bytes().decode("utf-8")
    return {row["student"]: row for row in csv.DictReader(io.StringIO(text, newline=""))}


def counts(row: dict[str, str]) -> list[str]:
    return [row[f"{lab} counts"] for lab in (LAB, SECOND, THIRD)]


def sums(row: dict[str, str]) -> list[str]:
    return [row[name] for name in ("weights", "weighted sum", "term %")]


def test_the_mean_is_weighted_and_leaves_excused_labs_out(term, run):
    code, said = run("export", "term")
    assert code == 0 and "marks of 2 students" in said
    ada, bo = rows()["ada"], rows()["bo"]
    # ada: 5, 2 and 4.5 of 9 points
    assert [ada[f"{lab} %"] for lab in (LAB, SECOND, THIRD)] == ["55.56", "22.22", "50.00"]
    assert counts(ada) == ["1", "2", "0.5"]
    assert sums(ada) == ["3.5", "125.00", "35.71"]  # 55.56 + 2 · 22.22 + 0.5 · 50
    assert counts(bo) == ["1", "excused", "0.5"] and bo[f"{SECOND} %"] == ""
    assert sums(bo) == ["1.5", "44.44", "29.63"] and bo[f"{THIRD} %"] == "0.00"  # nothing handed in


def test_a_lab_that_is_due_and_has_no_mark_is_named(term, run):
    path = term.root / "course.toml"
    later = '\n[[labs]]\nname = "09_empty"\ntitle = "Nobody"\ndue = 2020-01-01T12:00:00Z\n'
    path.write_text(path.read_text() + later + later.replace("09", "10").replace("2020", "2120"))
    code, said = run("export", "term")
    assert code == 0 and "09_empty: due, and nobody has a mark; left out" in said and "10_empty" not in said
    assert "09_empty %" not in rows()["ada"]
    assert "left out of the table" not in run("export", "term", LAB)[1]


@pytest.mark.parametrize(
    ("words", "ada", "bo"),
    [
        (("--drop", "1"), ["1", "dropped", "0.5"], ["1", "excused", "dropped"]),
        (("--drop", "2"), ["1", "dropped", "dropped"], ["1", "excused", "dropped"]),
        (("--drop", "9"), ["1", "dropped", "dropped"], ["1", "excused", "dropped"]),  # one lab stays
        (("--drop", "1", "--weight", f"{SECOND}=0"), ["1", "0", "dropped"], ["1", "excused", "dropped"]),
    ],
)
def test_the_lowest_labs_are_dropped_and_an_excused_one_is_not_among_them(term, run, words, ada, bo):
    assert run("export", "term", *words)[0] == 0
    found = rows()
    assert (counts(found["ada"]), counts(found["bo"])) == (ada, bo)
    for row in found.values():  # what a spreadsheet calculates from the row
        numbers = [(float(row[f"{lab} %"]), row[f"{lab} counts"]) for lab in (LAB, SECOND, THIRD) if row[f"{lab} %"]]
        used = [(percent, float(weight)) for percent, weight in numbers if weight != "dropped"]
        assert float(row["weights"]) == sum(weight for _, weight in used)
        assert float(row["weighted sum"]) == pytest.approx(sum(percent * weight for percent, weight in used))
        assert float(row["term %"]) == pytest.approx(float(row["weighted sum"]) / float(row["weights"]), abs=0.01)


def test_a_student_who_is_excused_and_handed_in_nothing_is_excused_in_every_table(term, run):
    assert run("export", "csv", SECOND, "--zeros")[0] == 0
    with open("grades/export.csv", newline="") as file:
        (bo,) = (row for row in csv.DictReader(file) if row["student"] == "bo")
    assert (bo[SECOND], bo[f"{SECOND} of"], bo[f"{SECOND} state"]) == ("", "", "excused")


def test_labs_can_be_chosen_and_weighed_on_the_command_line(term, run):
    assert run("export", "term", LAB, THIRD, "--weight", f"{THIRD}=3")[0] == 0
    assert sums(rows()["ada"]) == ["4", "205.56", "51.39"] and f"{SECOND} %" not in rows()["ada"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--weight", f"{LAB}=x"), f"a weight is a number of at least 0; write --weight {LAB}=2"),
        (("--weight", f"{LAB}=-1"), "a weight is a number of at least 0"),
        (("--weight", "01_tinny=2"), f'there is no lab "01_tinny"; did you mean {LAB}'),
        ((LAB, "--weight", f"{SECOND}=2"), f"{SECOND} is not in this table; the labs in it are {LAB}"),
        ((LAB, "--weight", f"{LAB}=0"), "every lab in this table has the weight 0"),
    ],
)
def test_a_wrong_weight_gets_a_sentence(term, run, words, told):
    code, said = run("export", "term", *words)
    assert (code, told in said) == (2, True), said
    assert not Path("grades/term.csv").exists()


def test_people_of_the_roster_who_handed_in_nothing_have_0(term, run):
    Path("people.csv").write_text("Student,ID,SIS Login ID\nPoints Possible,,\nAda,1,ada\nBo,2,bo\nCyd,3,cyd\n")
    assert run("export", "term", "--roster", "people.csv")[0] == 0
    with open("grades/term.csv", newline="") as file:
        found = {row["Student"]: row for row in csv.DictReader(file)}
    assert {name: row["term %"] for name, row in found.items()} == {"Ada": "35.71", "Bo": "29.63", "Cyd": "0.00"}


def test_who_is_said_to_have_0_are_those_for_whom_a_lab_is_due(term, run):
    Path("people.csv").write_text("student\nada\nbo\ncyd\n")
    path = term.root / "course.toml"
    path.write_text(path.read_text().replace(f'name = "{THIRD}"', f'name = "{THIRD}"\ndue = 2120-01-01T12:00:00Z'))
    code, said = run("export", "term", "--roster", "people.csv", "--only-roster")
    assert code == 0 and f"{LAB}: 1 person of the roster has no mark; 0 is written there" in said
    assert rows()["cyd"][f"{THIRD} counts"] == "not due yet" and f"{THIRD}:" not in said


def test_an_extension_counts_for_who_handed_in_nothing_at_all(term, run):
    Path("people.csv").write_text("Student,ID,SIS Login ID\nAda,1,ada\nBo,2,bo\nCyd,3,cyd\nDan,4,dan\n")
    path = term.root / "course.toml"
    due = path.read_text().replace(f'name = "{THIRD}"', f'name = "{THIRD}"\ndue = 2020-01-01T12:00:00Z')
    path.write_text(due + f'\n[[extensions]]\nstudent = "cyd"\nlab = "{THIRD}"\ndue = 2120-01-01T12:00:00Z\n')
    assert run("export", "term", "--roster", "people.csv")[0] == 0
    with open("grades/term.csv", newline="") as file:
        found = {row["Student"]: row[f"{THIRD} counts"] for row in csv.DictReader(file)}
    assert (found["Cyd"], found["Dan"]) == ("not due yet", "0.5")


def test_what_is_not_due_yet_does_not_count_and_what_waits_leaves_the_mean_empty():
    due = datetime(2026, 11, 2, tzinfo=UTC)
    later = datetime(2026, 11, 9, tzinfo=UTC)
    course = SimpleNamespace(
        lab=lambda name: SimpleNamespace(name=name, due=due), lateness=Lateness(extensions=(("bo", "x", later),))
    )

    def mark(percent: float, waits: bool = False):
        return SimpleNamespace(percent=percent, waits=waits, excused=False)

    marks = {"x": {"ada": mark(50.0)}, "y": {"ada": mark(80.0), "bo": mark(70.0), "cyd": mark(60.0, waits=True)}}
    table = make_term_table(
        course, marks, None, {}, TermRules({"x": 1.0, "y": 1.0}, 1, datetime(2026, 11, 5, tzinfo=UTC))
    )
    told = {row["student"]: (row["x counts"], row["y counts"], row["term %"]) for row in table.rows}
    assert told == {
        "ada": ("dropped", "1", "80.00"),
        "bo": ("not due yet", "1", "70.00"),
        "cyd": ("1", "waits", ""),
    }
    assert table.notes == ["1 of 3 students have no term % yet, because a mark of theirs waits"]


def test_of_equal_percents_the_heaviest_lab_is_dropped():
    course = SimpleNamespace(lab=lambda name: SimpleNamespace(due=None), lateness=Lateness())
    marks = {
        lab: {"ada": SimpleNamespace(percent=p, waits=False, excused=False)}
        for lab, p in zip("xyz", (40, 40, 90), strict=True)
    }
    rules = TermRules({"x": 1.0, "y": 2.0, "z": 1.0}, 1, datetime.now(UTC))
    (row,) = make_term_table(course, marks, None, {}, rules).rows
    assert (row["x counts"], row["y counts"], row["term %"]) == ("1", "dropped", "65.00")

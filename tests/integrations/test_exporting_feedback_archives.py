"""Feedback pages go back to their students: each platform reads the archive as its importer does."""

from __future__ import annotations

from pathlib import Path

import pytest
from lms import CANVAS_FILES, MOODLE_FILES, packed, read_by_canvas, read_by_moodle
from test_exporting_tables import course, grade, run  # noqa: F401
from tiny_course import LAB

from autograder.course.roster import Roster
from autograder.integrations.exporting.feedback_archives import make_moodle_names
from autograder.read import find_submissions
from autograder.read.layouts import read_name


def write_pages(students: list[str]) -> None:
    for student in students:
        page = Path("grades/feedback") / student / f"{LAB}.html"
        page.parent.mkdir(parents=True)
        page.write_text(f"page of {student}")


def test_pages_go_back_into_canvas(course, run):
    download = packed(course.root / "submissions.zip", CANVAS_FILES, b"{}")
    write_pages(grade(course, download))
    words = ("--roster", "Grades.csv", "--feedback", "pages.zip", "--download", str(download))
    code, said = run("canvas", LAB, *words)
    assert code == 0 and "2 pages" in said
    content = Path("pages.zip").read_bytes()
    assert read_by_canvas(content) == {
        f"lovelaceada_12345_900101_{LAB}.html": ("12345", "900101"),
        f"boolegeorge_LATE_12346_900102_{LAB}.html": ("12346", "900102"),
    }
    run("canvas", LAB, *words)
    assert Path("pages.zip").read_bytes() == content


@pytest.mark.parametrize("file", ["homework.pdf", "work.zip", "solution.py"])
def test_who_handed_in_nothing_that_can_be_graded_gets_a_page_too(course, run, file):
    """It says how to hand in again."""
    name = f"celikzoe_12347_900103_{file}"
    download = packed(course.root / "submissions.zip", [*CANVAS_FILES, name], b"{}")
    write_pages(grade(course, download))
    code, said = run("canvas", LAB, "--roster", "Grades.csv", "--feedback", "pages.zip", "--download", str(download))
    assert code == 0 and "3 pages" in said, said
    assert f"celikzoe_12347_900103_{LAB}.html" in read_by_canvas(Path("pages.zip").read_bytes())


def test_what_canvas_packed_without_an_upload_cannot_be_answered(course, run):
    download = packed(course.root / "submissions.zip", [*CANVAS_FILES, "celikzoe_12347_text.html"], b"{}")
    write_pages(grade(course, download))
    words = ("--roster", "Grades.csv", "--feedback", "pages.zip", "--download", str(download))
    code, said = run("canvas", LAB, *words)
    assert code == 2 and "celikzoe_12347:" in said and "holds no file of this student" in said
    assert not Path("pages.zip").exists() and not Path("grades/canvas.csv").exists()


def test_pages_go_back_into_moodle(course, run):
    write_pages(grade(course, packed(course.root / "submissions.zip", MOODLE_FILES, b"{}")))
    assert run("moodle", LAB, "--roster", "Worksheet.csv", "--feedback", "pages.zip")[0] == 0
    assert read_by_moodle(Path("pages.zip").read_bytes()) == {
        "501": ("assignsubmission_file", f"{LAB}.html"),
        "502": ("assignsubmission_file", f"{LAB}.html"),
    }
    again = find_submissions([Path("pages.zip")], LAB)  # the names are those that this course reads as well
    assert {submission.student for submission in again.submissions} | {
        getattr(read_name(Path(passed.path).name), "who", "") for passed in again.passed_over
    } >= {"Ada Lovelace_501", "George Boole_502"}


@pytest.mark.parametrize("name", ["..\\..\\evil", "../../evil", ".", "a\nb", 'C:\\"x"|', "..\\_9_"])
def test_a_full_name_leads_nowhere_on_any_system(tmp_path, name):
    """Many platforms let students choose it, and whoever unpacks the archive may do so on another system."""
    row = {"Identifier": "Participant 501", "Full name": name}
    names = make_moodle_names(LAB, Roster(tmp_path / "w.csv", tuple(row), (row,), (2,)), {"ada": row})
    assert not set(names["ada"]) & set('/\\:*?"<>|\n')
    assert names["ada"].split("_")[1] == "501" and not names["ada"].startswith(".")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("moodle", LAB, "--roster", "Worksheet.csv", "--feedback", "p.zip"), "there is no page"),
        (("moodle", LAB, "--roster", "Grades.csv", "--feedback", "p.zip"), "no columns 'Identifier' and 'Full name'"),
    ],
)
def test_nothing_is_packed_by_halves(course, run, words, told):
    grade(course, packed(course.root / "d.zip", {"ada.ipynb": "", "bo.ipynb": ""}, b"{}"))
    code, said = run(*words)
    assert (code, told in said) == (2, True), said
    assert not Path("p.zip").exists()

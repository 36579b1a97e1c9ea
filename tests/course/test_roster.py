"""Who of the platform's people is which student: certain, or refused with a sentence."""

from __future__ import annotations

import pytest
from lms import CANVAS_GRADES, MOODLE_WORKSHEET

from autograder.course.roster import ExportRefused, read_roster
from autograder.course.settings import CourseError


@pytest.fixture
def roster(tmp_path):
    """Read a roster from its text."""

    def read(text: str, encoding="utf-8"):
        path = tmp_path / "roster.csv"
        path.write_bytes(text.encode(encoding))
        return read_roster(path)

    return read


@pytest.mark.parametrize(
    ("student", "number"),
    [
        ("lovelaceada_12345", "12345"),  # as Canvas names a student's file
        ("12345", "12345"),
        ("S100", "12345"),
        ("ada@uni.example", "12345"),
        ("ada", "12345"),
        ("bo", "12346"),
    ],
)
def test_students_of_canvas(roster, student, number):
    assert roster(CANVAS_GRADES).match([student])[student]["ID"] == number


@pytest.mark.parametrize("student", ["Ada Lovelace_501", "501", "s100", "ada", "ADA@uni.example", "Participant 501"])
def test_students_of_moodle(roster, student):
    worksheet = roster(MOODLE_WORKSHEET)
    assert worksheet.number(worksheet.match([student])[student]) == "501"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_roster_as_spreadsheets_write_it(roster, delimiter, encoding):
    text = f"Name{delimiter}Login{delimiter}gradebook_id\nZoë{delimiter}zc1{delimiter}zoe~1f2e3d4c\n"
    assert roster(text, encoding).match(["zoe~1f2e3d4c"])["zoe~1f2e3d4c"]["Name"] == "Zoë"


def test_unknown_and_double_students_are_refused_with_a_sentence_each(roster):
    text = "Student,ID,SIS User ID\nAda,12345,s1\nBo,12346,s2\nBo again,12347,s2\n"
    with pytest.raises(ExportRefused) as refusal:
        roster(text).match(["lovelaceada_12345", "s1", "S2", "eve", "mallory_99"])
    told = {reason.partition(":")[0]: reason for reason in refusal.value.reasons}
    *strangers, remedy = refusal.value.reasons
    assert [reason.partition(":")[0] for reason in strangers] == ["s1", "S2", "eve", "mallory_99"]
    assert "--without 'eve' for each, or --only-roster" in remedy and not any(
        "--only-roster" in reason for reason in strangers
    )
    assert "is the same person as lovelaceada_12345" in told["s1"]
    assert "2 rows of" in told["S2"] and "lines 3, 4" in told["S2"]
    assert "nobody in" in told["eve"] and "nobody in" in told["mallory_99"]
    assert all("\n" not in reason for reason in told.values())


@pytest.mark.parametrize(
    ("student", "login"),
    [
        ("jos\u00e9", "jose\u0301"),
        ("WEI\u1e9e", "wei\u00df"),
        ("ada+tag@x.org", "ada+tag@x.org"),
        ("ada_tag@x.org", "Ada+Tag@x.org"),  # as a folder of this name becomes an id
        ("ada_tag", "ada+tag@x.org"),
    ],
)
def test_an_id_is_found_however_its_letters_are_written(roster, student, login):
    people = roster(f"Name,Login\nWeiss,weiss\nX,{login}\n,@\n")
    assert people.match([student])[student]["Name"] == "X"
    assert people.strangers(["", "unnamed"]) == ["", "unnamed"]


def test_lines_are_those_of_the_file(roster):
    text = 'Student,ID\n\n"Ada\nLovelace",1\n\nBo,2\nBo again,2\n'
    with pytest.raises(ExportRefused, match="lines 6, 7"):
        roster(text).match(["2"])


def test_cells_beyond_the_headings_are_refused_where_they_say_something(roster):
    assert roster("Name,ID,Login\nAda,5,ada,, \n").people == 1
    with pytest.raises(CourseError, match="line 3: has more cells than there are headings"):
        roster("Name,ID,Login\nBo,6,bo\nLovelace, Ada,5,ada\n")


def test_the_column_of_the_gradebook_is_surer_than_a_number(roster):
    text = "Student,ID,gradebook_id\nAda,12345,x_12346\nBo,12346,\n"
    assert roster(text).match(["x_12346"])["x_12346"]["Student"] == "Ada"


def test_a_column_student_has_ids_where_there_is_no_other(roster):
    """So do the grader's own tables; on platforms it has names."""
    assert roster("student,late\nada,0\n").strangers(["ada", "bo"]) == ["bo"]
    assert roster("Student,ID\nada,1\n").strangers(["ada"]) == ["ada"]
    assert not roster("name\nada\n").has_ids


def test_people_are_counted_without_the_rows_that_canvas_adds(roster):
    assert roster(CANVAS_GRADES).people == 4


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "no line of headings"),
        (b"Student,ID\n", "no line of headings"),
        (b"Student,ID,ID\na,1,2\n", "'ID' twice"),
        (b"\x89PNG\r\n\x1a\n\xff", "is not a CSV file in UTF-8"),
        (b'Student,ID\n"Ada,1\n', "is not a CSV file"),
    ],
)
def test_what_is_no_roster_is_told(tmp_path, content, told):
    path = tmp_path / "roster.csv"
    path.write_bytes(content)
    with pytest.raises(CourseError, match=told):
        read_roster(path)

"""Times of handing in from Moodle and Canvas: read, compared with what the work says, and counted as all others are."""

from __future__ import annotations

import csv
import hashlib
import json
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest
from lms import CANVAS_FILES, MOODLE_FILES, MOODLE_WORKSHEET, packed
from test_command import course  # noqa: F401  a course of two labs; every submission earns 2 of 5 points
from tiny_course import LAB, TOML

from autograder.course.settings import CourseError, load_course
from autograder.course.text import format_time
from autograder.grade.gradebook import read_marks
from autograder.grade.lab_grader import add_origin
from autograder.grade.results import ExerciseResult, LabResult
from autograder.marking import run as command
from autograder.read import FoundSubmission, find_submissions
from autograder.read.handing_in import choose_time, date_submission, read_times

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
PLUS_ONE = timezone(timedelta(hours=1))
DUE = "due = 2026-11-02T13:00:00+01:00\n"  # noon in UTC
HEAD = 'Identifier,Full name,Status,Grade,"Last modified (submission)"\n'
MOODLE = (
    HEAD + 'Participant 501,Ada,,,"Monday, 2 November 2026, 12:59 PM"\n'
    'Participant 502,George,,,"Tuesday, 3 November 2026, 1:00 PM"\nParticipant 503,Zoë,,,-\n'
)


@pytest.fixture
def late(course, monkeypatch):
    """The course, whose first lab was due at noon and loses 20 percent a day."""

    def grade_all(grader, submissions, sandbox, workers):
        exercises = (ExerciseResult("double", 2, 2, "graded"), ExerciseResult("square", 3, 3, "graded"))
        for submission in submissions:
            digest = command.content_hash(submission.read())
            result = LabResult(submission.student, grader.lab, exercises, content_hash=digest, grader_version="g1")
            yield [add_origin(result, submission)]

    monkeypatch.setattr(command, "grade_all", grade_all)
    toml = TOML.replace("[[labs]]", "[grading]\nlate_percent_per_day = 20\n\n[[labs]]") + DUE
    (course.root / "course.toml").write_text(toml)
    return load_course(course.root)


def grade(course, archive: Path, *times: str, zone=PLUS_ONE) -> command.Marking:
    marking = command.Marking(course, LAB, Path("grades"), db_url=course.db_url)
    read = []
    for number, text in enumerate(times):
        Path(f"times-{number}").write_text(text, "utf-8")
        read.append(read_times(Path(f"times-{number}"), zone))
    found = marking.find([archive], None, read)
    warm: Future = Future()
    warm.set_result(SimpleNamespace())
    list(marking.run(found, warm))
    return marking


def told() -> dict[str, tuple[str, str]]:
    with open("grades/grades.csv", newline="", encoding="utf-8") as file:
        return {row["student"]: (row["score"], row["late"]) for row in csv.DictReader(file)}


def archive_of(course, names) -> Path:
    return packed(course.root / "handed-in.zip", names, course.release_notebook(LAB).read_bytes())


def test_whose_an_entry_of_the_exchange_is_is_asked_unless_the_course_says_otherwise(late, monkeypatch):
    entry = late.root / "inbound" / f"ada+{LAB}+2026-11-02 10:00:00 UTC+r"
    entry.mkdir(parents=True)
    (entry / f"{LAB}.ipynb").write_bytes(late.release_notebook(LAB).read_bytes())
    monkeypatch.setattr("autograder.read.tree.os.getuid", lambda: 12345)  # another account grades

    def found() -> list[str]:
        marking = command.Marking(late, LAB, Path("grades"), db_url=late.db_url)
        return [each.student for each in marking.find([late.root / "inbound"])]

    assert found() == []
    (late.root / "nbgrader_config.py").write_text("c = get_config()\nc.ExchangeCollect.check_owner = False\n")
    assert found() == ["ada"]


def test_moodles_worksheet_says_who_was_late_before_grading_or_after_it(late):
    archive = archive_of(late, MOODLE_FILES)
    expected = {"Ada Lovelace_501": ("5.00", "0.00"), "George Boole_502": ("4.00", "1.00")}
    grade(late, archive)
    assert told() == dict.fromkeys(expected, ("5.00", "0.00"))
    marking = grade(late, archive, MOODLE)  # nothing is graded anew
    assert told() == expected and {mark.student: f"{mark.score:.2f}" for mark in marking.results} == {
        student: score for student, (score, _) in expected.items()
    }
    page = Path(f"grades/feedback/George Boole_502/{LAB}.html").read_text("utf-8")
    assert (
        "handed in late, which costs 1 of the 5 points" in page
        and "handed in 2026-11-03 13:00 UTC+01:00 (12:00 UTC)" in page
    )
    (mark,) = [mark for mark in read_marks(late, late.db_url, LAB) if mark.student == "George Boole_502"]
    assert mark.timestamp == NOON + timedelta(days=1)
    (late.root / "gradebook.db").unlink()
    grade(late, archive, MOODLE)
    assert told() == expected


def test_canvas_calls_work_late_and_its_list_says_how_late(late):
    archive = archive_of(late, CANVAS_FILES)
    found = find_submissions([archive], LAB).submissions
    assert {submission.student: submission.is_marked_late for submission in found} == {
        "lovelaceada_12345": False,
        "boolegeorge_12346": True,
    }
    (sentence,) = grade(late, archive).sentences_on_lateness()
    assert "nothing says how late it is" in sentence and "boolegeorge_12346; give the times with --times" in sentence
    assert "due date" not in sentence  # it is there
    users = [
        {"user_id": 12345, "submitted_at": "2026-11-02T11:00:00Z", "late": False},
        {"user_id": 12346, "submitted_at": "2026-11-04T10:00:00Z", "late": True},
        {"user_id": 7, "submitted_at": None},
    ]
    marking = grade(late, archive, "while(1);" + json.dumps(users[:1]), json.dumps(users[1:]))
    assert told() == {"lovelaceada_12345": ("5.00", "0.00"), "boolegeorge_12346": ("3.00", "2.00")}
    assert marking.sentences_on_lateness() == []
    users[1]["submitted_at"] = "2026-11-02T11:59:00Z"
    (sentence,) = grade(late, archive, json.dumps(users[:2])).sentences_on_lateness()
    assert "by course.toml it is in time: boolegeorge_12346; compare" in sentence
    (first, second) = grade(late, archive, json.dumps(users[:1])).sentences_on_lateness()
    assert first == "no time of handing in is given for boolegeorge_12346" and "in time" in second


def test_a_time_is_said_in_the_zone_of_the_course_with_utc_beside_it():
    summer = datetime(2026, 7, 1, 22, 30, 5, tzinfo=UTC)
    assert format_time(NOON, ZoneInfo("Europe/Berlin")) == "2026-11-02 13:00 CET (12:00 UTC)"
    assert format_time(summer, ZoneInfo("Europe/Berlin")) == "2026-07-02 00:30 CEST (2026-07-01 22:30 UTC)"
    assert format_time(summer, UTC, seconds=True) == "2026-07-01 22:30:05 UTC"


def test_the_later_of_two_times_counts():
    hour = timedelta(hours=1)
    assert choose_time(None, None) is None and choose_time(NOON, None) == choose_time(None, NOON) == NOON
    assert choose_time(NOON, NOON + hour) == choose_time(NOON + hour, NOON) == NOON + hour
    assert choose_time(NOON, NOON + timedelta(minutes=4)) == NOON  # clocks differ
    said = FoundSubmission("ada", LAB, None, timestamp=NOON, note="A note.")
    assert date_submission(said, NOON + hour).timestamp == NOON + hour
    assert date_submission(said, NOON + hour).note.startswith(
        "A note. It is dated 2026-11-02 12:00 UTC and came at 2026-11-02 13"
    )
    assert date_submission(said, NOON - hour) == said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,submitted\n12345,2026-11-02 12:00:00 UTC\n12345,2026-11-02 11:00:00 UTC\n", NOON),  # two attempts
        ("id;Submission time\n12345;2026-11-02 13:00:00\n", NOON),  # in the zone of the due date
        ('{"submissions": [{"user_id": 12345, "submitted_at": "2026-11-02T12:00:00Z"}]}', NOON),
        ("id,submitted\n12346,2026-11-02 12:00:00 UTC\n", None),
        ("student,time\nlovelaceada_12345,2026-11-02T12:00:00Z\n", NOON),  # ids, as in the grader's own tables
    ],
)
def test_a_student_is_found_by_any_id_of_the_platform(tmp_path, text, expected):
    path = tmp_path / "times"
    path.write_text(text)
    assert read_times(path, PLUS_ONE).of("lovelaceada_12345") == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,name\n1,Ada\n", "no column of times; call it"),
        ("who,submitted\nada,2026-11-02T12:00:00Z\n", "no column of ids; call it 'id'"),
        ("id,submitted\n1,yesterday\n", "'yesterday' in the column 'submitted' is no time; write 2026-12-04T23:59"),
        ("id,submitted\n1,-\n", "nobody has a time"),
        (MOODLE_WORKSHEET, "nobody has a time"),
        ('[{"id": 1}]', "not Canvas's list of an assignment's submissions (KeyError: 'user_id')"),
        ('[{"user_id": 1, "submitted_at": 3}]', "a time is no text"),
        ('{"errors": []}', "not Canvas's list"),
        ("[1, 2", "not Canvas's list"),
        ("[" * 100_000, "not Canvas's list"),
    ],
)
def test_what_is_no_table_of_times_is_told(tmp_path, text, said):
    path = tmp_path / "times"
    path.write_text(text, "utf-8")
    with pytest.raises(CourseError) as refused:
        read_times(path, UTC)
    assert said in str(refused.value)


def test_the_page_is_a_receipt(late):
    archive = archive_of(late, MOODLE_FILES)
    grade(late, archive)
    page = Path(f"grades/feedback/Ada Lovelace_501/{LAB}.html").read_text("utf-8")
    digest = hashlib.sha256(late.release_notebook(LAB).read_bytes()).hexdigest()
    assert (
        f"<code>{LAB}.ipynb</code>, at a time that is not known here. SHA-256 of the file: <code>{digest}</code>"
        in page
    )
    grade(late, archive, MOODLE)
    page = Path(f"grades/feedback/Ada Lovelace_501/{LAB}.html").read_text("utf-8")
    assert "handed in 2026-11-02 12:59:00 UTC+01:00 (11:59:00 UTC). SHA-256" in page
    names = {"lovelaceada_12345_900101_my <b>work.ipynb": "ada"}
    grade(late, archive_of(late, names))
    page = Path(f"grades/feedback/lovelaceada_12345/{LAB}.html").read_text("utf-8")
    assert "<code>lovelaceada_12345_900101_my &lt;b&gt;work.ipynb</code>" in page

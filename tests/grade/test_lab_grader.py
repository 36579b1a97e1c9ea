"""Grading many submissions: the seed of the hidden cases, and what a failure costs whom."""

from __future__ import annotations

import errno
import os
import sys
import threading
from types import SimpleNamespace

import pytest
from tiny_course import LAB, released

from autograder.course.labs import read_known_cells
from autograder.course.settings import CourseError
from autograder.grade import lab_grader
from autograder.grade.lab_grader import SEED_FILE, GradingFailed, Opened, digest_sources, grade_all, read_grading_seed
from autograder.grade.results import LabResult
from autograder.read import ReaderLost
from autograder.sandbox import SandboxUnavailable, WorkerLost


@pytest.fixture
def course(tmp_path):
    return SimpleNamespace(root=tmp_path)


def test_a_seed_is_drawn_once(course):
    seed = read_grading_seed(course)
    assert seed == read_grading_seed(course) == int((course.root / SEED_FILE).read_text())
    assert [path.name for path in course.root.iterdir()] == [SEED_FILE]


def test_a_seed_is_drawn_where_there_are_no_hard_links(course, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    assert read_grading_seed(course) == read_grading_seed(course)
    assert [path.name for path in course.root.iterdir()] == [SEED_FILE]


@pytest.mark.parametrize("content", [b"", b"\n", b"seven\n", b"-5\n", b"7 8\n", b"\xff\xfe7\x00", "²".encode()])
def test_a_broken_seed_is_named_with_the_remedy(course, content):
    (course.root / SEED_FILE).write_bytes(content)
    with pytest.raises(CourseError, match=r"there is no seed in it\. Put the file back from a backup"):
        read_grading_seed(course)
    assert (course.root / SEED_FILE).read_bytes() == content


def test_a_lab_that_was_left_out_of_the_course_is_still_recognised(tmp_path, monkeypatch):
    """Its students' notebooks come all the same. What is damaged among such labs stops nothing."""
    course = released(tmp_path, monkeypatch)
    left_out = tmp_path / "labs" / "00_gone" / "00_gone.ipynb"
    left_out.parent.mkdir()
    left_out.write_text(course.release_notebook(LAB).read_text("utf-8").replace('"double', '"triple'), "utf-8")
    (tmp_path / "labs" / "00_odd").mkdir()
    (tmp_path / "labs" / "00_odd" / "00_odd.ipynb").write_text("no notebook")
    known = read_known_cells(course)
    assert set(known) == {LAB, "00_gone"}
    assert "triple" in known["00_gone"] and "double" in known[LAB]


class Grader:
    """Gives verdicts, but to those for whom it has an error."""

    def __init__(self, **errors: Exception):
        self.errors = errors

    def open(self, found):
        return Opened(found.student)

    def judge(self, opened, student, sandbox):
        assert opened.content_hash == student
        if student in self.errors:
            raise self.errors[student]
        return LabResult(student, "lab", ())


CLASS = [SimpleNamespace(student=name, note="", timestamp=None, file_name="") for name in ("ada", "bob", "cyd", "dan")]


def grade(grader: Grader, workers: int) -> dict[str, str]:
    """For each student the reason why there is no verdict, or nothing."""
    told = (verdict for batch in grade_all(grader, CLASS, None, workers=workers) for verdict in batch)
    return {verdict.student: verdict.reason if isinstance(verdict, GradingFailed) else "" for verdict in told}


@pytest.mark.parametrize("workers", [1, 3])
def test_a_failure_of_the_grader_is_one_students_line(workers):
    lost, broken = WorkerLost("twice the grader lost its process"), RecursionError("too deep")
    assert grade(Grader(bob=lost, cyd=broken), workers) == {
        "ada": "", "bob": "twice the grader lost its process", "cyd": "RecursionError: too deep", "dan": "",
    }  # fmt: skip


@pytest.mark.parametrize("workers", [1, 3])
def test_verdicts_that_came_before_the_walls_fell_are_given(workers):
    told = []
    with pytest.raises(SandboxUnavailable):
        for batch in grade_all(Grader(dan=SandboxUnavailable("namespaces")), CLASS, None, workers=workers):
            told += [result.student for result in batch]
    assert sorted(told) == ["ada", "bob", "cyd"]


def test_the_next_submission_is_read_while_one_runs():
    bob_is_read = threading.Event()

    class Patient(Grader):
        def open(self, found):
            if found.student == "bob":
                bob_is_read.set()
            return super().open(found)

        def judge(self, opened, student, sandbox):
            assert bob_is_read.wait(60)
            return super().judge(opened, student, sandbox)

    assert set(grade(Patient(), workers=1).values()) == {""}


def test_a_lost_reader_is_one_students_line_and_a_course_error_everybodys():
    class Unread(Grader):
        def open(self, found):
            if found.student in self.errors:
                raise self.errors[found.student]
            return super().open(found)

    assert grade(Unread(bob=ReaderLost("killed, twice")), workers=1)["bob"] == "killed, twice"
    with pytest.raises(CourseError):
        grade(Unread(bob=CourseError("no seed")), workers=1)


def test_threads_take_their_turns_as_before_when_all_are_graded():
    before = sys.getswitchinterval()
    grade(Grader(), workers=1)
    assert sys.getswitchinterval() == before


@pytest.mark.parametrize(
    ("file", "is_another_grader"),
    [
        ("autograder/grade/lab_grader.py", True),
        ("autograder/pages/templates/feedback.html", True),
        ("coursekit/check/judge.py", True),
        ("autograder/integrations/site/build.py", False),
        ("autograder/cli/app.py", False),
    ],
)
def test_a_comment_makes_another_grader_where_a_verdict_or_a_page_rests_on_the_file(
    tmp_path, monkeypatch, file, is_another_grader
):
    for package in ("autograder", "coursekit"):
        monkeypatch.setattr(lab_grader, package, SimpleNamespace(__path__=[str(tmp_path / package)]))
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text("")
    before = digest_sources.__wrapped__()
    (tmp_path / file).write_text("# a comment")
    assert (digest_sources.__wrapped__() != before) == is_another_grader

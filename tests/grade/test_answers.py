"""Answers in words: a queue with what to type, marks by items of a rubric, and the same told on every route."""

from __future__ import annotations

import csv

import nbformat
import pytest
from graded_course import course, result  # noqa: F401  the fixture of a course of one lab
from nbgrader.api import Gradebook
from test_hand_marks import mark_of, page, record, row, run  # noqa: F401  the fixture of the command
from tiny_course import LAB

RUBRIC = '[why]\nitems = ["Names the scale", "Says what it changes"]\npoints = [3, 1]\nhalf = "It is scaled."\n'
DAMAGED = '{"cells": [{"cell_type": "markdown", "source": ""}], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}'
PAGE = f"grades/answers/{LAB}.html"


@pytest.fixture
def rubric(course):
    path = course.root / "exercises" / "tiny" / "rubrics.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(RUBRIC)
    return path


def without_points(course):
    path = course.release_notebook(LAB)
    path.chmod(0o644)
    path.write_text(path.read_text().replace('"points": 4', '"points": 0'))


def test_the_queue_has_who_waits_the_rubric_and_what_to_type(course, run, rubric):
    record(course, result(course, "ada", why="<b>It</b> is scaled."), result(course, "Bo B_7", why="By two."))
    code, said = run("mark", LAB, "--answers")
    assert code == 0, said
    assert "why: 3 of 3 wait item 1 (3): Names the scale item 2 (1): Says what it changes" in said
    assert f"ada: <b>It</b> is scaled. course mark {LAB} ada why --item NUMBER --because" in said
    assert f"course mark {LAB} 'Bo B_7' why --item NUMBER" in said
    html = (course.root / PAGE).read_text("utf-8")
    assert "&lt;b&gt;It&lt;/b&gt; is scaled." in html and "<b>It</b>" not in html
    assert "Because." in html and "It is scaled." in html and "Names the scale (3)" in html
    told = run("export", "csv", LAB)[1]
    assert f"3 submissions have an answer in words without a mark: course mark {LAB} --answers lists them" in told


def test_marked_by_items_the_answer_leaves_the_queue_and_every_route_tells_the_same(course, run, rubric):
    code, said = run("mark", LAB, "bo", "why", "--item", 1, "--because", "And for a scale of 2?")
    assert code == 0, said
    told = "✓ Names the scale (3 of 3)\n✗ Says what it changes (0 of 1)\nAnd for a scale of 2?"
    marked = next(part for part in mark_of(course, "bo").parts if part.name == "why")
    assert (marked.score, marked.comment, marked.waits) == (3, told, "")
    line = " ".join(told.split())
    assert f"Set by your instructor: 3 of 4 points, because: {line}" in page(course, "bo")
    assert (row(course, "bo")["score"], row(course, "bo")["state"]) == ("6.50", "graded")
    in_table = row(course, "bo", "results", "why")
    assert (in_table["exercise"], in_table["score"], in_table["status"]) == ("why", "3.00", "graded")
    assert in_table["comment"] == line
    with Gradebook(course.db_url, course.course_id) as gradebook:
        assert gradebook.find_comment("why", LAB, LAB, "bo").comment == told
        assert gradebook.find_submission(LAB, "bo").score == 6.5
    assert run("export", "csv", LAB)[0] == 0
    with (course.root / "grades" / "export.csv").open() as file:
        assert next(row for row in csv.DictReader(file) if row["student"] == "bo")[LAB] == "6.5"
    assert "bo: " not in run("mark", LAB, "--answers")[1].replace("grades", "")
    assert "because: ✓ Names the scale (3 of 3); ✗ Says what it changes (0 of 1); And for" in run("mark", LAB, "bo")[1]
    record(course, result(course, "bo", why="Another answer.", content="c2"))
    assert "bo (changed after it was marked): Another answer." in run("mark", LAB, "--answers")[1]


def test_no_item_is_a_mark_and_points_may_replace_the_sum(course, run, rubric):
    run("mark", LAB, "bo", "why", "--item", 0)
    assert mark_of(course, "bo").earned == 3.5 and not mark_of(course, "bo").waits
    run("mark", LAB, "bo", "why", "2.5", "--item", 1, "--item", 1, "--because", "half of item 2")
    assert mark_of(course, "bo").earned == 6
    assert "2.5 of 4 points, because: ✓ Names the scale ✗ Says what it changes half of item 2" in page(course, "bo")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("why", "--item", 3), "there is no item 3; the items are 1 to 2"),
        (("why", "automatic", "--item", 1), "give items, or the word automatic, not both"),
        (("double", "--item", 1), "has no rubric for double; write one, or give points"),
        (("why", "--because", "good"), "a mark needs points and a reason"),
    ],
)
def test_items_that_are_not_there_are_told_and_change_nothing(course, run, rubric, words, told):
    code, said = run("mark", LAB, "bo", *words)
    assert code and told in said
    assert mark_of(course, "bo").waiting_for("person") == ("why",)


def test_an_answer_without_points_waits_for_a_comment_and_holds_no_export_back(course, run, rubric):
    without_points(course)
    rubric.write_text(RUBRIC.replace("points = [3, 1]\n", ""))
    record(course, result(course, "ada"), result(course, "bo", why="It is scaled.", content="c3"))
    assert row(course, "bo")["state"] == "graded"
    said = run("mark", LAB, "--answers")[1]
    assert "why: 1 of 2 wait item 1: Names the scale" in said and "bo: It is scaled." in said
    code, said = run("mark", LAB, "bo", "why", "--item", 1, "--because", "Good.")
    assert code == 0, said
    assert "Your instructor writes: ✓ Names the scale ✗ Says what it changes Good." in page(course, "bo")
    assert "Set by your instructor" not in page(course, "bo")
    assert "why: 0 of 2 wait" in run("mark", LAB, "--answers")[1]
    record(course, result(course, "bo", why="It is scaled by two.", content="c4"))
    assert "changed after it was marked" in run("mark", LAB, "--answers")[1]
    assert row(course, "bo")["state"] == "graded" and not mark_of(course, "bo").waits
    run("mark", LAB, "bo", "why", "--because", "Better.")
    assert "Your instructor writes: Better." in page(course, "bo")


def test_without_a_rubric_or_the_graded_notebook_the_queue_still_says_what_to_type(course, run):
    (course.autograded / "bo" / LAB / f"{LAB}.ipynb").unlink()
    code, said = run("mark", LAB, "--answers")
    assert code == 0, said
    assert f"bo: the graded notebook is not here course mark {LAB} bo why POINTS --because" in said


@pytest.mark.parametrize("text", ["", DAMAGED])
def test_a_graded_notebook_that_an_editor_damaged_costs_no_command(course, run, text):
    (course.autograded / "bo" / LAB / f"{LAB}.ipynb").write_text(text)
    code, said = run("mark", LAB, "--answers")
    assert code == 0 and "bo: the graded notebook is not here" in said
    code, said = run("mark", LAB, "bo", "why", 3, "--because", "Good.")
    assert code == 0, said
    assert "because: Good." in page(course, "bo")


def test_the_page_of_a_lab_shows_what_is_asked(course, run):
    released = nbformat.read(course.release_notebook(LAB), as_version=4)
    assert run("mark", LAB, "--answers", "--out", "here")[0] == 0
    assert released.cells[-4].source in (course.root / "here" / "answers" / f"{LAB}.html").read_text("utf-8")

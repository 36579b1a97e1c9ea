"""A student's page opens with at most three things to mend: points, the section that explains them; the rest folds."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest
from this_course import ROOT, exercises_of

from autograder.course.settings import load_course
from autograder.grade.marks import Mark, make_mark
from autograder.grade.results import ExerciseResult, GroupResult, LabResult
from autograder.pages.feedback import find_to_mend, write_feedback
from coursekit.check.lab import load_reference

LAB = "02_self_attention"
COURSE = replace(load_course(ROOT), site="https://course.org/here", jupyterlab="https://hub.org/lab/tree/c")


def exercise(name: str, score: float, *mistakes: str, status: str = "graded") -> ExerciseResult:
    groups = (GroupResult("values", "right values", 1, score == 4),) if status == "graded" else ()
    sentences = tuple(exercises_of(LAB)[name].spec.sentences[mistake] for mistake in mistakes)
    return ExerciseResult(name, score, 4, status, misconceptions=mistakes, sentences=sentences, groups=groups)


def of(*exercises: ExerciseResult) -> Mark:
    return make_mark(LabResult("ada", LAB, exercises))


@cache
def work() -> Mark:
    return of(
        exercise("online_attention", 0, status="missing"),
        exercise("project_qkv", 3),
        exercise("self_attention_loops", 4),
        exercise("self_attention_matrix", 2, "unscaled"),
        exercise("scaled_dot_product_attention", 2.5, "unscaled"),
        exercise("attention_cost", 1.5, status="error"),
    )


def test_one_mistake_in_two_exercises_is_one_thing_and_what_costs_most_comes_first():
    found = find_to_mend(COURSE, work())
    assert [(mend.exercises, mend.points) for mend in found] == [
        (("self_attention_matrix", "scaled_dot_product_attention"), 3.5),
        (("attention_cost",), 2.5),
        (("project_qkv",), 1),
        (("online_attention",), 4),
    ]
    assert (
        found[0].what == exercises_of(LAB)["self_attention_matrix"].spec.sentences["unscaled"]
        and found[2].what == "`project_qkv` fails: right values"
    )
    assert found[1].what == "`attention_cost`: your code raises an error"
    ((section, address),) = found[0].sections
    assert section == load_reference(LAB).specs["self_attention_matrix"].sections["unscaled"]
    assert address == "https://course.org/here/lectures/02_self_attention.html#why-sqrt-dk"


@pytest.mark.parametrize(
    ("course", "address"),
    [
        (replace(COURSE, site=""), "https://hub.org/lab/tree/c/lectures/02_self_attention.ipynb#why-sqrt-dk"),
        (replace(COURSE, site="", jupyterlab=""), ""),
    ],
)
def test_without_a_site_a_section_is_read_in_jupyterlab_or_named_only(course, address, tmp_path):
    ((section, found),) = find_to_mend(course, work())[0].sections
    assert found == address
    page = write_feedback(course, work(), tmp_path).read_text("utf-8")
    assert section.title in page and ('<a href="http' in page) == bool(address)


def test_what_a_person_marked_and_what_is_to_be_graded_again_is_not_told():
    first, *others = work().parts
    assert not find_to_mend(COURSE, replace(work(), parts=(replace(work().parts[3], by_hand=1.0),)))
    assert not find_to_mend(COURSE, replace(work(), parts=(replace(work().parts[3], waits="grader"),)))
    assert not find_to_mend(COURSE, of(exercise("project_qkv", 4)))
    assert len(others) == 5 and find_to_mend(COURSE, replace(work(), parts=(first,)))


def test_the_page_opens_with_three_of_them_and_folds_the_rest(tmp_path):
    page = write_feedback(COURSE, work(), tmp_path).read_text("utf-8")
    start, _, rest = page.partition("<section")
    things = re.findall(r"<li>.*?</li>", start.partition("Mend these first")[2], re.DOTALL)
    assert ["3.5 points" in things[0], "2.5 points" in things[1], "1 point<" in things[2]] == [True] * 3
    assert len(things) == 3 and "https://course.org/here/lectures/02_self_attention.html#why-sqrt-dk" in things[0]
    assert set(re.findall(r'href="#(\w+)"', start)) <= set(re.findall(r'<div id="(\w+)"', rest))
    folded = re.findall(r"<section class=\"\w+\">\n<details(.*?)>", page)
    assert folded == [""] * 6, "none is open"


def test_what_a_person_wrote_is_not_folded(tmp_path):
    parts = (replace(work().parts[3], by_hand=1.0, comment="Look again."), *work().parts[4:])
    page = write_feedback(COURSE, replace(work(), parts=parts), tmp_path).read_text("utf-8")
    assert re.findall(r"<section class=\"\w+\">\n<details(.*?)>", page) == [" open", "", ""]


def test_who_has_all_points_has_nothing_to_mend(tmp_path):
    page = write_feedback(COURSE, of(exercise("project_qkv", 4)), tmp_path).read_text("utf-8")
    assert "Mend" not in page

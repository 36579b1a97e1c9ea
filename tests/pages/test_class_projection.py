"""The page to show in class: the commonest mistakes as pictures, what failed most, and no name."""

from __future__ import annotations

import re

import pytest
from this_course import ROOT, exercises_of

from autograder.course.settings import load_course
from autograder.declare import Exercise
from autograder.grade.marks import make_mark
from autograder.grade.results import ExerciseResult, GroupResult, LabResult
from autograder.pages.class_projection import _draw_mistake, write_projection

LAB = "02_self_attention"


def handed_in(student: str, *mistakes: str, passed: bool = False):
    groups = (
        GroupResult("values", "right values", 0.5, passed),
        GroupResult("batched", "leading dimensions", 0.5, True),
    )
    exercise = ExerciseResult(
        "self_attention_matrix", 1.0 * passed, 2, "graded", misconceptions=mistakes, groups=groups
    )
    return make_mark(LabResult(student, LAB, (exercise,)))


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    target = tmp_path_factory.mktemp("class") / "project.html"
    results = [
        handed_in("lovelace", "softmax_over_queries"),
        handed_in("hopper", "unscaled"),
        handed_in("turing", "softmax_over_queries"),
        handed_in("noether", "not_listed_any_more", passed=True),
    ]
    write_projection(load_course(ROOT), results, target)
    return target.read_text("utf-8")


def test_it_names_nobody(page):
    assert not re.search("lovelace|hopper|turing|noether", page)


def test_the_commonest_mistake_comes_first_with_its_picture_and_its_section(page):
    cards = re.findall(r"<article>(.*?)</article>", page, flags=re.DOTALL)
    assert len(cards) == 3
    first = cards[0]
    assert '<span class="many">2</span> of 4' in first
    assert exercises_of(LAB)["self_attention_matrix"].spec.sentences["softmax_over_queries"].split(":")[0] in first
    assert 'aria-label="output: on the left as it should be, on the right with this mistake."' in first
    assert "Explained in Lecture 2, section" in first
    unscaled = next(card for card in cards if "not scaled" in card)
    assert "Why √d_k" in unscaled, "no page here typesets formulas"
    assert "<svg" not in next(card for card in cards if "not_listed_any_more" in card)


def test_what_failed_most_is_told_by_group(page):
    assert "75 % did not pass “right values” of <code>self_attention_matrix</code>" in page
    assert "did not pass “leading dimensions”" not in page


@pytest.mark.long
def test_nearly_every_mistake_that_changes_an_array_can_be_drawn():
    drawn = {
        f"{name} {id}": _draw_mistake(exercise, id)[1] is not None
        for name, exercise in exercises_of(LAB).items()
        if isinstance(exercise, Exercise) and "attention" in name
        for id in exercise.named_mistakes
    }
    assert sum(drawn.values()) >= 0.7 * len(drawn), drawn

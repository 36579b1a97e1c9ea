"""A choice under constraints is declared as data, and its probe reads whatever a student may choose."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.author.strength import formula_mutants
from autograder.cli.author import describe_mistake
from autograder.declare import Design, Questions, seen
from autograder.declare.questions import ANY_CHOICE
from autograder.release.lint_lab import find_fixed_groups
from coursekit.check.judge import Attempt, judge
from coursekit.probes.driving import ContractError, design, real, whole


def seats() -> Design:
    exercise = Design("design")
    exercise.constraint("rows", "at most 9 rows", about="rows", kept="at most 9", points=2)
    exercise.advice(rows="Count the rows.")
    exercise.constraint("aisle", "an aisle", about="the seats of a row", kept="an aisle")
    exercise.mistakes(
        too_many=seen({"rows": "more than 9"}) | "There are more than 9 rows.",
        none=seen({"rows": "no row", "aisle": "no aisle"}) | "There is nothing at all." | "Is 0 a choice?",
    )
    return exercise


def heard(rows: str, aisle: str):
    cases = seats().expectations(1)
    return judge(seats().spec, cases, [Attempt({"rows": rows}), Attempt({"aisle": aisle})])


def test_each_constraint_is_a_group_and_what_breaks_it_is_named():
    assert [group.passed for group in heard("at most 9", "an aisle").groups] == [True, True]
    assert [group.spec.weight for group in heard("at most 9", "an aisle").groups] == [2, 1]
    broken = heard("more than 9", "an aisle")
    assert broken.misconceptions == ("too_many",) and [group.passed for group in broken.groups] == [False, True]
    assert heard("no row", "no aisle").misconceptions == ("none",)
    assert heard("no row", "an aisle").misconceptions == (), "who has an aisle does not make the mistake"


def test_of_two_broken_constraints_both_are_named():
    assert heard("more than 9", "half an aisle").misconceptions == ("too_many",), "the other one has no name"
    exercise = seats()
    exercise.mistakes(half=seen({"aisle": "half an aisle"}) | "The aisle ends halfway.")
    attempts = [Attempt({"rows": "more than 9"}), Attempt({"aisle": "half an aisle"})]
    assert judge(exercise.spec, exercise.expectations(1), attempts).misconceptions == ("too_many", "half")


def test_a_choice_is_the_same_for_every_seed_and_has_no_formula_to_change():
    assert {group.reason for group in find_fixed_groups({"design": seats()})} == {ANY_CHOICE}
    assert not list(formula_mutants(seats()))


def test_a_mistake_without_a_formula_is_shown_in_words():
    assert describe_mistake(seats(), "none").splitlines() == [
        "There is nothing at all.",
        "hint: Is 0 a choice?",
        "the probe says: {'rows': 'no row', 'aisle': 'no aisle'}",
    ]
    questions = Questions("answers")
    questions.question("half", "a half", right=0.5)
    questions.mistakes(whole=seen({"half": 1.0}) | "That is the whole.")
    assert describe_mistake(questions, "whole").splitlines() == ["That is the whole.", "the probe says: {'half': 1.0}"]


@pytest.mark.parametrize("said", [None, {}, "more than 9", {"columns": "too many"}])
def test_a_mistake_breaks_a_constraint(said):
    with pytest.raises(ValueError, match=r"mistake other.*rows, aisle"):
        seats().mistakes(other=seen(said) | "Which?")


def test_a_mistake_is_none_where_the_constraint_is_kept():
    with pytest.raises(ValueError, match="mistake other: that is said"):
        seats().mistakes(other=seen({"rows": "at most 9"}) | "Which?")


PROBE = design(lambda constraint, rows, share: f"{constraint}: {rows}, {share}", rows=whole(), share=real)


def said(chosen: object) -> str:
    inputs = {"constraint": "rows"}
    return PROBE.says(inputs, "call", PROBE({"design": lambda: chosen}, inputs, "call"))["rows"]


@pytest.mark.parametrize("rows", [7, 7.0, np.int8(7), np.float32(7), np.array(7)])
def test_a_number_is_read_whatever_its_type(rows):
    assert said({"rows": rows, "share": np.float64(0.5), "more": None}) == "rows: 7, 0.5"


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ((7, 0.5), r"design\(\) returned a tuple; expected a dictionary"),
        (None, r"design\(\) returned None; expected a dictionary"),
        ({"rows": 7}, "no entry 'share'"),
        *(
            ({"rows": rows, "share": 0.5}, r"`rows` is .*; expected a whole number of at least 1\.")
            for rows in (0, -7, 7.5, "7", None, True, [7], [[7], [7, 7]], float("nan"), float("inf"), 10**400)
        ),
        *(({"rows": 7, "share": share}, "`share` is .*; expected a number") for share in ("0.5", float("nan"), [0.5])),
        ({"rows": "7" * 1000, "share": 0.5}, r"^.{,120}$"),
    ],
)
def test_what_is_no_choice_is_told(chosen, message):
    with pytest.raises(ContractError, match=message):
        said(chosen)

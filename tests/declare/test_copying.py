"""`find_the_bug` is graded like the exercise that it copies, all or nothing, and names no mistake."""

from __future__ import annotations

import numpy as np
import pytest
from this_course import exercises_of

from autograder.declare import Case, Exercise, edit, find_the_bug
from coursekit.check.judge import Attempt, judge

LABS = (
    *("06_imdb_classifier", "07_bert_ag_news", "08_decoder_and_masking"),
    *("08b_generating_text", "09_vision_transformer"),
)


def doubled(x):
    return {"output": 2 * x}


@pytest.fixture
def original() -> Exercise:
    exercise = Exercise("double", oracle=doubled, forbidden=("numpy.add",))
    for name, size in (("few", 3), ("many", 7)):

        @exercise.group(name, points=1, name=name)
        def draw(rng, size=size):
            return [Case({"x": rng.normal(size=size)})]

    exercise.mistakes(halved=edit("2 * x", "x / 2") | "Half of it.")
    return exercise


def test_all_cases_are_one_group_without_names(original):
    copy = find_the_bug(original)
    assert [group.name for group in copy.groups] == ["mended"] and copy.named_mistakes == {}
    assert copy.forbidden == original.forbidden
    assert [case.inputs["x"].size for case in copy.expectations(1)] == [3, 7]


def test_what_is_right_in_some_cases_earns_nothing(original):
    cases = find_the_bug(original).expectations(1)
    attempts = [Attempt({"output": case.expected["output"] + (case.inputs["x"].size == 7)}) for case in cases]
    judgement = judge(find_the_bug(original).spec, cases, attempts)
    assert judgement.share == 0 and judgement.misconceptions == ()
    right = [Attempt({"output": np.array(case.expected["output"])}) for case in cases]
    assert judge(find_the_bug(original).spec, cases, right).share == 1


@pytest.mark.parametrize("lab", LABS)
def test_a_lab_has_one_and_a_prediction_of_one_number(lab):
    exercises = exercises_of(lab)
    assert exercises["find_the_bug"].hint_texts["mended"]
    predict = exercises["predict"]
    (case,) = predict.expectations(1)
    (right,) = case.expected.values()
    assert np.shape(right) == () and predict.tolerance and not predict.reveal

"""What a case withholds reaches the oracle and the property, and never the probe."""

from __future__ import annotations

import json

import numpy as np
import pytest

from autograder.declare import Case, Exercise
from autograder.declare.exercise import VISIBLE_SEED
from autograder.release import reference_export
from coursekit.check import lab
from coursekit.check.judge import Attempt, judge

LABELS = np.array([0, 1, 1, 0, 1, 0, 0, 1, 1, 0])


def probabilities_of(x, labels):
    assert len(labels) == len(x)
    return {"probabilities": np.full((len(x), 1), np.nan)}


EXERCISE = Exercise("guess", oracle=probabilities_of)


@EXERCISE.group("examples that it has not seen", points=1)
def unseen(rng):
    withheld = {"labels": LABELS, "least_accuracy": 0.9}
    return [Case({"x": LABELS.astype("float32")}, property="classifies well", withheld=withheld)]


def outcome(cases, probabilities):
    return judge(EXERCISE.spec, cases, [Attempt({"probabilities": probabilities})])


@pytest.mark.parametrize("shipped", [False, True])
def test_the_labels_decide_and_stay_away_from_the_probe(shipped, tmp_path):
    cases = EXERCISE.expectations(1)
    if shipped:
        cases = through_the_reference_files(tmp_path)
    assert set(cases[0].inputs) == {"x"}
    right = np.where(LABELS == 1, 0.7, 0.2)[:, None]
    assert outcome(cases, right).passed
    one_wrong, two_wrong = right.copy(), right.copy()
    one_wrong[:1], two_wrong[:2] = 1 - right[:1], 1 - right[:2]
    assert outcome(cases, one_wrong).passed
    judgement = outcome(cases, two_wrong)
    assert not judgement.passed
    assert "on 10 examples that were not used in training is 80.0%" in judgement.groups[0].message
    for ignorant in (np.zeros((10, 1)), np.ones((10, 1)), np.full((10, 1), np.nan), np.zeros((10, 2))):
        assert not outcome(cases, ignorant).passed


def through_the_reference_files(tmp_path):
    arrays: dict = {}
    entry = reference_export._exercise(EXERCISE.spec, EXERCISE.expectations(VISIBLE_SEED), arrays)
    (tmp_path / "arrays.npz").write_bytes(reference_export._pack(arrays))
    loaded = np.load(tmp_path / "arrays.npz", allow_pickle=False)
    case = json.loads(json.dumps(entry, allow_nan=False))["cases"][0]
    return [lab._expectation(case, loaded, "guess.0")]

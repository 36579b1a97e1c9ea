"""A property holds for what has it, and for nothing that came back in another form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from test_comparison import WIRE

from coursekit.check.comparison import PROPERTIES, READS, lacking

LABELS = np.array([0, 1, 1, 0, 1])
INPUTS = {
    "rows are distributions": {},
    "drops at its rate": {"x": np.zeros((29, 5, 7)), "dropout": 0.25, "num_layers": 2},
    "classifies well": {"labels": LABELS, "least_accuracy": 0.8},
    "names the classes": {"withheld_labels": LABELS, "num_classes": 2, "least_accuracy": 0.8},
    "shares are near their law": {"law": np.array([0.5, 0.25]), "standard_error": np.array([0.02, 0.01])},
}
RESULTS = {
    "rows are distributions": {"weights": np.array([[0.25, 0.75], [0.0, 0.0]])},
    "drops at its rate": {"dropped": np.tile([0.25, 1 / 0.75, 0.0], (4, 1))},
    "classifies well": {"probabilities": np.array([[0.1], [0.9], [0.5], [0.4], [0.2]])},
    "names the classes": {"logits": np.eye(2)[[0, 1, 1, 0, 0]]},
    "shares are near their law": {"share": np.array([0.4, 0.29])},
}


def changed(name: str, change) -> dict:
    ((key, value),) = RESULTS[name].items()
    return {key: change(value)}


@pytest.mark.parametrize("name", PROPERTIES)
def test_it_holds(name):
    assert lacking(name, INPUTS[name], RESULTS[name]) is None
    assert [*RESULTS[name]] == [READS[name]]


def test_probabilities_may_be_a_row_or_a_column():
    assert lacking("classifies well", INPUTS["classifies well"], changed("classifies well", np.ravel)) is None


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("rows are distributions", lambda w: w - 0.5, "negative"),
        ("rows are distributions", lambda w: 2 * w, "1 of 2 queries sum to 2, not to 1"),
        ("rows are distributions", lambda w: w[:0], "shape (0, 2)"),
        ("drops at its rate", lambda d: d * [2, 1, 1], "dropout 1 sets 50.0%"),
        ("drops at its rate", lambda d: d * [1, 2, 1], "dropout 1 multiplies"),
        ("drops at its rate", lambda d: d + np.array([0, 0, 1]), "outside training"),
        ("drops at its rate", lambda d: d[:0], "shape (0, 3); expected (4, 3)"),
        ("drops at its rate", lambda d: d[:2], "shape (2, 3); expected (4, 3)"),
        ("drops at its rate", lambda d: np.hstack([d, d]), "shape (4, 6); expected (4, 3)"),
        ("classifies well", lambda p: 1 - p, "the accuracy on 5 examples that were not used in training is 40.0%"),
        ("classifies well", lambda p: p[:1], "shape (1, 1); expected (5, 1)"),
        ("names the classes", lambda s: -s, "at least 80% is required"),
        ("names the classes", lambda s: s[:, :1], "shape (5, 1); expected (5, 2)"),
        ("shares are near their law", lambda s: s + np.array([0, 0.1]), "`share[1]` lies 14 standard errors"),
        ("shares are near their law", lambda s: s[:1], "shape (1,); expected (2,)"),
    ],
)
def test_what_is_lacking_is_said(name, change, words):
    assert words in lacking(name, INPUTS[name], changed(name, change))


@pytest.mark.parametrize("name", PROPERTIES)
@pytest.mark.parametrize("value", ["abc", None, [], {}, "nan", np.array("a"), np.array([object()])])
def test_other_things_do_not_have_it(name, value):
    (key,) = RESULTS[name]
    assert lacking(name, INPUTS[name], {key: value}) and lacking(name, INPUTS[name], {})
    assert "not finite" in lacking(name, INPUTS[name], changed(name, lambda found: found * np.nan))


@pytest.mark.parametrize("name", PROPERTIES)
@settings(max_examples=100)
@given(value=WIRE)
def test_nothing_that_comes_back_stops_the_judge(name, value):
    (key,) = RESULTS[name]
    assert isinstance(lacking(name, INPUTS[name], {key: value}), str) or name == "rows are distributions"


def test_an_error_in_a_property_is_a_failure_of_the_result(monkeypatch):
    monkeypatch.setitem(PROPERTIES, "broken", lambda inputs, outputs: 1 / 0)
    assert lacking("broken", {}, {"y": 1}) == "`y` cannot be read as the result asked for."


def test_a_property_that_is_none_is_a_fault_of_the_declaration():
    with pytest.raises(KeyError):
        lacking("no such property", {}, {})


def test_a_sentence_names_a_few_results_however_many_come_back():
    forged = {"dropped": [[1], [1, 2]]} | {"n" * 100 + str(number): 0 for number in range(9000)}
    assert len(lacking("drops at its rate", {"x": np.ones(3)}, forged)) < 300


@pytest.mark.parametrize("name", PROPERTIES)
def test_texts_are_no_numbers_and_are_not_made_an_array(name):
    """As an array each of them takes the room of the longest: these would take 4 TB, and fewer would fit."""
    texts = changed(name, lambda _: ["a"] * 1_000_000 + ["b" * 1_000_000])
    assert "expected an array of numbers" in lacking(name, INPUTS[name], texts)

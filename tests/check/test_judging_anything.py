"""Whatever a student's code returns is judged: rows of different lengths, too, are a wrong result, no error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_comparison import WIRE

from coursekit.check.attempts import plain
from coursekit.check.judge import Attempt, judge
from coursekit.check.lab import load_reference

EXERCISES = [
    ("02_self_attention", "scaled_dot_product_attention"),
    ("03_multi_head_attention", "MultiHeadAttention"),
    ("07_bert_ag_news", "mask_tokens"),
    ("08b_generating_text", "beam_search"),
    ("08b_generating_text", "cached_attention"),
    ("10_language_model", "GroupedAttention"),
    ("10_language_model", "LanguageModel"),
    ("10_language_model", "measure_temperature"),
    ("10_language_model", "python_share"),
]
SMALL, LARGE = np.zeros((2, 2, 7, 4)), np.ones((2, 6, 7, 4))
RESULTS = {
    "of two shapes": (SMALL, LARGE),
    "with None": [SMALL, None],
    "a triple": [SMALL, SMALL, np.array(7)],
    "pairs of two shapes": [(SMALL, LARGE), (LARGE, SMALL)],
    "pairs with None": [[SMALL, None], [None, SMALL]],
    "a dictionary": {"k": SMALL, "v": LARGE},
    "a list of dictionaries": [{"k": SMALL}],
    "nothing": None,
    "an empty list": [],
    "a text": "softmax",
    "texts": np.array(["a", "b"]),
    "numbers and texts": [1, "a", [2.5]],
    "objects": np.array([SMALL, None, "a"], dtype=object),
    "a truth value": True,
    "a whole number": 1 << 63,
    "not a number": float("nan"),
    "no axes": np.array(1.5),
}

SOME = [each if at % 12 == 0 else pytest.param(*each, marks=pytest.mark.long) for at, each in enumerate(EXERCISES)]


def judged(lab: str, name: str, changed) -> None:
    """Judges the right results, changed, and has everything said that is said of them."""
    reference = load_reference(lab)
    spec, cases = reference.specs[name], reference.expectations[name]
    for index in range(len(cases)):
        for key in cases[index].expected:
            attempts = [Attempt(dict(case.expected)) for case in cases]
            attempts[index] = Attempt(changed(cases[index].expected, key))
            judgement = judge(spec, cases, attempts)
            assert all(isinstance(text, str) for text in (*judgement.explanations, *judgement.sentences(spec)))


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize(("lab", "name"), SOME)
def test_results_of_any_form_are_judged(lab, name, result):
    value = plain(RESULTS[result])
    judged(lab, name, lambda right, key: {**right, key: value})
    judged(lab, name, lambda right, key: {key: value})


@pytest.mark.parametrize(("lab", "name"), SOME)
@settings(max_examples=20)
@given(value=WIRE, other=WIRE, first=st.booleans())
def test_nothing_that_comes_back_stops_the_judge(lab, name, value, other, first):
    judged(lab, name, lambda right, key: {name: value if (name == key) == first else other for name in right})

"""The mistakes that are named are those that the rule of `diagnose` asks for, looked for without any short cut."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursekit.check.comparison import diagnose, fingerprint
from coursekit.check.lab import Lab, load_reference

IDS = ("c", "a", "b")  # declared in this order: not the alphabet's
RIGHT = 0  # a result is one number; any other is wrong
CASES = st.lists(
    st.tuples(
        st.integers(0, 3),  # what the student returns
        st.dictionaries(st.sampled_from(IDS), st.integers(1, 3)),  # what mistakes return
    ),
    min_size=1,
    max_size=6,
)


def diagnosis(cases, groups=()):
    """What is named, where each case is what the student returns and what the mistakes return, of one result."""
    return diagnose(
        IDS,
        [{"y": float(returned)} for returned, _ in cases],
        [{"y": float(RIGHT)} for _ in cases],
        [{mistake: {"y": fingerprint(float(v))} for mistake, v in wrong.items()} for _, wrong in cases],
        [{"y": 0.1} for _ in cases],
        groups or list(map(str, range(len(cases)))),  # each case is a group of its own, where nothing is said
    )


def agrees_with_all(mistake, cases) -> bool:
    """Whether the mistake changes just the wrong results, and to three quarters of these: a case is a group."""
    unlike = sum(wrong.get(mistake, returned) != returned for returned, wrong in cases if returned != RIGHT)
    failing = sum(returned != RIGHT for returned, _ in cases)
    return all((mistake in wrong) == (returned != RIGHT) for returned, wrong in cases) and 4 * unlike <= failing


@given(CASES)
def test_the_best_explanation_is_found(cases):
    def score(mistake):
        """How many cases the mistake explains, less those that it contradicts; -1 where it explains none."""
        explained = sum(returned != RIGHT and wrong.get(mistake) == returned for returned, wrong in cases)
        contradicted = sum(returned == RIGHT and mistake in wrong for returned, wrong in cases)
        return explained - contradicted if explained else -1

    allowed = [mistake for mistake in IDS if score(mistake) >= 0 and agrees_with_all(mistake, cases)]
    assert diagnosis(cases) == max(allowed, key=score, default="")


def test_in_a_group_half_of_the_cases_are_enough_and_one_group_is_not():
    """A coincidence in one case names nothing, while another mistake made beside the named one may hide it in some."""
    explained, another, not_known = (2, {"c": 2}), (3, {"c": 2}), (3, {"c": np.nan})
    assert diagnosis([explained, another], groups=["g", "g"]) == "c"
    assert diagnosis([explained, another], groups=["g", "h"]) == ""
    assert diagnosis([explained, another, another], groups=["g"] * 3) == "", "one in three is a coincidence"
    assert diagnosis([explained, not_known], groups=["g", "h"]) == "c"
    assert diagnosis([explained] * 3 + [another], groups=["g"] * 3 + ["h"]) == "c", "a quarter may stay unexplained"
    assert diagnosis([explained] * 2 + [another], groups=["g"] * 2 + ["h"]) == ""


@pytest.mark.parametrize(("said", "named"), [("each seed drawn twice", "c"), ("[256, 98]", ""), ("ab", "")])
def test_what_a_probe_says_in_words_is_no_coincidence(said, named):
    outputs, expected = [{"calls": said}, {"y": 3.0}], [{"calls": "each seed once"}, {"y": 0.0}]
    wrong = [{"c": {"calls": said}}, {"c": {"y": 2.0}}]
    assert diagnose(["c"], outputs, expected, wrong, [{"y": 0.1}, {"y": 0.1}], ["calls", "values"]) == named


def test_words_that_a_probe_says_of_two_mistakes_name_none_of_them():
    said = {"calls": "several heads at once"}
    outputs, expected = [said, {"y": 3.0}], [{"calls": "each head alone"}, {"y": 0.0}]
    wrong = [{"c": said, "a": said}, {"c": {"y": 2.0}, "a": {"y": 1.0}}]
    assert diagnose(["c", "a"], outputs, expected, wrong, [{"y": 0.1}] * 2, ["calls", "values"]) == ""
    wrong[1]["a"] = {"y": 3.0}
    assert diagnose(["c", "a"], outputs, expected, wrong, [{"y": 0.1}] * 2, ["calls", "values"]) == "a"


def test_among_equals_the_mistake_declared_first_is_named():
    for order in itertools.permutations(IDS):
        wrong = {mistake: {"y": 1.0} for mistake in IDS}
        named = diagnose(order, [{"y": 1.0}], [{"y": 0.0}], [wrong], [{"y": 0.1}], ["g"])
        assert named == order[0]


def test_a_name_speaks_against_no_group():
    """A formula that is right for every argument that is given, with another default: it is not the inverse."""
    wrong = {"c": 2}
    assert diagnosis([(2, wrong), (RIGHT, wrong)], groups=["default", "given"]) == ""
    assert diagnosis([(2, wrong), (3, {})], groups=["large", "small"]) == ""
    assert diagnosis([(2, wrong), (3, {})], groups=["large", "large"]) == "c"
    assert diagnosis([(2, wrong), (RIGHT, {})], groups=["large", "small"]) == "c"


def test_nan_where_any_number_is_right_speaks_against_no_mistake():
    """A softmax that overflows fails in a row without any key, too, where its reference says nothing."""
    right = [{"y": np.array([1.0, 2.0])}, {"y": np.array([1.0, np.nan])}]
    returned = [{"y": np.array([np.nan, np.nan])}, {"y": np.array([1.0, np.nan])}]
    wrong = [{"unstable": {"y": fingerprint(np.array([np.nan, np.nan]))}}, {}]
    tolerances = 2 * [{"y": 1e-6}]
    assert diagnose(["unstable"], returned, right, wrong, tolerances, ["large", "no key"]) == "unstable"
    returned[1]["y"] = np.array([5.0, np.nan])
    assert diagnose(["unstable"], returned, right, wrong, tolerances, ["large", "no key"]) == ""


@pytest.mark.parametrize(
    ("norms", "biases", "named"),
    [
        (2, "4D", ()),
        (4, "4D", ("biases_of_width_d",)),
        (2, "3HK + D", ("half_the_norms",)),
        (4, "ignored", ("key_dim_ignored",)),
        (2, "ignored", ()),
    ],
)
def test_of_two_mistakes_in_one_count_none_is_named(norms, biases, named):
    def encoder_parameter_count(d_model, num_heads, d_ff, key_dim=None):
        width = d_model if biases == "ignored" or not key_dim else num_heads * key_dim
        bias = 4 * d_model if biases == "4D" else 3 * width + d_model
        return 4 * d_model * width + bias + 2 * d_model * d_ff + d_ff + d_model + norms * d_model

    lab = Lab(load_reference("04_encoder_block"))
    report = lab.report("encoder_parameter_count", {"encoder_parameter_count": encoder_parameter_count})
    assert report.judgement.misconceptions == named


@pytest.mark.parametrize(
    ("returned", "wrong", "named"),
    [
        (np.array([4.7e9, 1.0], "float32"), np.array([4.7e9 + 300, 1.0]), "first"),  # float32 knows no nearer value
        (np.array([4.7e9, 1.0], "float32"), np.array([4.8e9, 1.0]), ""),
        (np.array([4.7e9, 1.0], "float32"), np.array([np.inf, 1.0]), ""),
        (np.array([np.inf, 1.0], "float32"), np.array([np.inf, 1.0]), "first"),
    ],
)
def test_results_far_larger_than_the_right_ones_are_compared_as_float32_knows_them(returned, wrong, named):
    right = {"y": np.ones(2)}
    assert (
        diagnose(["first"], [{"y": returned}], [right], [{"first": {"y": fingerprint(wrong)}}], [{"y": 1e-5}], ["g"])
        == named
    )

"""Lab 07: how often chance fails a right masking, which Keras a model is made of, and what stands for BERT's halves."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from lab_matrix import exercises_of, namespace, outcome, solution_sources, told, variants
from measuring import takes_at_most
from scipy.stats import binom

from autograder.course.settings import load_course
from autograder.sandbox import PRELOAD
from autograder.sandbox.warm import preload_of
from coursekit.check import chance
from coursekit.check.judge import Attempt, read
from coursekit.lecture import bert
from coursekit.probes import bert_ag_news, masked_ids, news_classifier
from coursekit.probes.layers import LayerCache, current_cache, sharing
from coursekit.probes.token_masking import texts_of

LAB = "07_bert_ag_news"
SEEDS = (1, 2, 3, 4, 5, 6)


@pytest.fixture(scope="module")
def solved():
    return namespace(solution_sources(LAB))


def masking_cases(seed: int):
    return exercises_of(LAB)["mask_tokens"].expectations(seed)


def test_likely_counts_leave_out_what_they_say_and_no_more():
    for n, p, alarm in (
        (40, 0.15, 1e-3),
        (5000, 0.8, 1e-8),
        (40_723, 0.0225, 1e-8),
        (380_013, 0.0855, 1e-8),
        (17, 1 / 3, 1e-6),
    ):
        low, high = chance.likely_counts(n, p, alarm)
        exact = binom(n, p)
        assert exact.cdf(low - 1) <= alarm / 2 < exact.cdf(low)
        assert exact.sf(high) <= alarm / 2 < exact.sf(high - 1)


def test_chance_fails_a_right_masking_less_than_once_in_a_million_marks(solved, monkeypatch):
    """Every comparison with chance that a right function meets, and the exact probability of losing one of them."""
    met = []
    bounds = chance.likely_counts

    def noted(n, p, alarm=chance.ALARM):
        low, high = bounds(n, p, alarm)
        met.append((n, p, low, high))
        return low, high

    for module in (chance, masked_ids):
        monkeypatch.setattr(module, "likely_counts", noted)
    for case in masking_cases(11):
        probe = bert_ag_news.PROBES["mask_tokens"]
        assert probe.says(case.inputs, case.mode, probe(solved, case.inputs, case.mode)) == case.expected
    lost = sum(binom.cdf(low - 1, n, p) + binom.sf(high, n, p) for n, p, low, high in met)
    assert 15 < len(met) < 400
    assert 0 < lost < 1e-6


def test_who_says_the_words_of_a_right_masking_has_masked_nothing():
    """The words name numbers of the case, and whoever replaces the probe knows these: only masked ids count."""
    for case in masking_cases(11):
        found = read(LAB, "mask_tokens", case.inputs, case.mode, Attempt(dict(case.expected)))
        assert (found.outputs, found.kind) == (None, "contract")


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["int32", "int64", "float64", "bool", "complex64", "object"])
def test_whatever_stands_in_place_of_masked_ids_is_read_in_seconds(dtype):
    """As many different ids as there are tokens, in every array that a probe hands over."""
    with takes_at_most(30):
        for case in masking_cases(11):
            texts = texts_of(case.inputs)
            one = texts[0].shape
            shapes = {
                "inputs": (len(texts), *one),
                "labels": (len(texts), *one),
                "given": one,
                "at_15": (2, *one),
                "wide": (len(texts), 2, *one),
                "short": (80, 2, one[-1]),
                "by_rng": (5, 2, *one),
            }
            made = {name: np.arange(math.prod(shape)).reshape(shape).astype(dtype) for name, shape in shapes.items()}
            found = read(LAB, "mask_tokens", case.inputs, case.mode, Attempt(made))
            assert found.kind == "contract" or found.outputs != case.expected
            for number in (np.nan, np.inf, -1e300, 2**62):
                if dtype == "float64":
                    odd = {name: np.full(shape, number) for name, shape in shapes.items()}
                    read(LAB, "mask_tokens", case.inputs, case.mode, Attempt(odd))


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_the_masking_is_judged_alike_whatever_is_drawn(solved, seed):
    exercise = exercises_of(LAB)["mask_tokens"]
    judgement = outcome(LAB, exercise, solved, seed)
    assert judgement.passed, told(judgement)
    wrong = [variant for variant in variants(LAB, "mask_tokens").WRONG if variant[0]]
    for misconception, source in wrong[seed :: len(SEEDS)]:
        judgement = outcome(LAB, exercise, namespace([*solution_sources(LAB), source]), seed)
        assert judgement.misconceptions == (misconception,), f"{told(judgement)}\n{source}"


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "keras.Model(text, y)"},
        {"hidden": 'keras.layers.Dense(16, activation="relu")(x)'},
        {"dropped": "keras.layers.Dropout(dropout)(h)"},
        {"dropped": "tf.keras.layers.Dropout(dropout)(h)"},
    ],
)
def test_a_second_keras_in_a_model_is_named_at_once(changes):
    source = variants(LAB, "build_news_classifier").news(**changes)
    judgement = outcome(LAB, exercises_of(LAB)["build_news_classifier"], namespace([*solution_sources(LAB), source]))
    assert judgement.groups and all(group.message == bert.MIXED for group in judgement.groups)


@pytest.mark.parametrize("package", ["keras", "tf.keras"])
def test_a_model_of_the_other_keras_is_named_at_once(package):
    source = variants(LAB, "build_news_classifier").news().replace("tf_keras", package)
    judgement = outcome(LAB, exercises_of(LAB)["build_news_classifier"], namespace([*solution_sources(LAB), source]))
    assert judgement.groups and all(group.message == bert.MIXED for group in judgement.groups)


def test_the_tiny_halves_are_called_as_those_of_tf_hub(tmp_path):
    first, second = map(tf.saved_model.load, news_classifier.write_tiny_halves(tmp_path, width=6))
    rows = first(tf.constant(["a b", "", "ü"]))
    assert set(rows) == set(bert.INPUTS)
    assert all(row.dtype == tf.int32 and row.shape == (3, news_classifier.LENGTH) for row in rows.values())
    outputs = second(rows)
    assert {"pooled_output", "sequence_output", "encoder_outputs"} <= set(outputs)
    assert outputs["pooled_output"].shape == (3, 6)
    assert outputs["sequence_output"].shape == (3, news_classifier.LENGTH, 6)
    np.testing.assert_array_equal(outputs["encoder_outputs"][-1], outputs["sequence_output"])


def test_cases_share_what_is_made_once():
    made = []
    with sharing(LayerCache()):
        cache = current_cache()
        for _ in range(2):
            assert cache.once("key", lambda: made.append(1) or len(made)) == 1
        assert cache.once("other", lambda: made.append(1) or len(made)) == 2


def test_only_the_workers_of_this_lab_load_what_its_notebook_imports():
    course = load_course(Path(__file__).resolve().parents[2])
    assert preload_of(course, "05_positional_encoding") == preload_of(course, "") == PRELOAD
    assert {name.partition(".")[0] for name in preload_of(course, "06_imdb_classifier")} >= {"sklearn"}
    assert set(preload_of(course, LAB)) - set(PRELOAD) == {"tensorflow_text", "tensorflow_hub", "tf_keras"}

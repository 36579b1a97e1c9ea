"""The language model of lecture 8b: its cache changes nothing, and the counted models are distributions."""

from __future__ import annotations

import json

import numpy as np
import pytest
from programs import program

tf = pytest.importorskip("tensorflow")
ROWS = [[2, 4, 5, 6, 3], [2, 4, 5, 7, 3], [2, 4, 6, 3], [2, 7, 7, 5, 6, 3]]


@pytest.fixture(scope="module")
def experiment():
    return program("experiments/language_model.py")


@pytest.fixture(scope="module")
def model(experiment):
    model = experiment.LanguageModel(9)
    model(tf.constant([[2, 4]]))
    return model


def test_with_the_cache_the_logits_are_those_of_the_whole_text(experiment, model):
    ids = tf.constant([[2, 4, 7, 5, 6, 8, 4]])
    whole = model(ids, training=False).numpy()[0]
    caches = experiment.empty_caches(11)
    for place in range(ids.shape[1]):
        logits, caches = model(ids[:, place : place + 1], caches=caches, place=place, training=False)
        np.testing.assert_allclose(logits.numpy()[0, 0], whole[place], atol=1e-4)


def test_no_token_sees_a_later_one(model):
    one, other = (model(tf.constant([[2, 4, 7, last]]), training=False).numpy()[0] for last in (5, 8))
    np.testing.assert_allclose(one[:3], other[:3], atol=1e-5)
    assert np.abs(one[3] - other[3]).max() > 1e-3


@pytest.mark.parametrize("order", [1, 2, 3])
def test_counted_models_are_distributions_and_prefer_what_they_have_seen(experiment, order):
    counted = experiment.KneserNey(ROWS, order, 9)
    for context in ([2, 2], [4, 5], [8, 8], [5, 6]):
        context = tuple(context[: order - 1])
        assert np.isclose(sum(counted.probability(context, word) for word in range(9)), 1)
    assert counted.perplexity(ROWS) < 9 < counted.perplexity([[2, 8, 8, 8, 8, 3]])


def test_perplexity_is_e_to_the_mean_loss(experiment, model):
    mean = []
    for row in ROWS:
        logits = model(tf.constant([row[:-1]]), training=False).numpy()[0].astype("float64")
        logs = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
        mean.extend(logs[range(len(row) - 1), row[1:]])
    assert np.isclose(experiment.perplexity(model, ROWS), np.exp(-np.mean(mean)), rtol=1e-4)


def test_padding_counts_in_no_loss(experiment):
    logits = np.random.default_rng(0).normal(size=(1, 4, 9)).astype("float32")
    short = experiment.loss_of(np.array([[4, 5]]), logits[:, :2])
    assert np.isclose(short, experiment.loss_of(np.array([[4, 5, 0, 0]]), logits), atol=1e-6)


def test_the_counted_models_are_recorded_before_a_training_begins(experiment, monkeypatch, tmp_path):
    """`make experiments-check` repeats these alone, and stops the program there."""
    texts = ["a man runs .", "a dog runs .", "a man sits ."] * 5
    monkeypatch.setattr(experiment.data, "sentence_pairs", lambda **_: [(texts, texts)] * 3)

    class Stopped(Exception):
        pass

    def stop(*_: object) -> None:
        raise Stopped

    monkeypatch.setattr(experiment, "trained", stop)
    with pytest.raises(Stopped):
        experiment.main(None, 1, "1", tmp_path)
    results = json.loads((tmp_path / "language_model.json").read_text(encoding="utf-8"))["results"]
    assert results["n-gram test perplexity"] and results["runs"] == {}

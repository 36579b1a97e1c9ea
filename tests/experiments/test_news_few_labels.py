"""The low-rank update of lecture 7's experiment: it starts from the kernel, and its gradients are those of A and B."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from programs import program

tf = pytest.importorskip("tensorflow")


@pytest.fixture(scope="module")
def experiment():
    return program("experiments/news_few_labels.py")


def test_an_update_starts_at_the_kernel_and_has_its_rank(experiment):
    start = np.random.default_rng(0).normal(size=(7, 3, 5)).astype("float32")
    kernel = tf.Variable(start)
    update = experiment.LowRankUpdate(kernel, 2, np.random.default_rng(1))
    update.apply()
    np.testing.assert_array_equal(kernel, start)
    update.b.assign(np.random.default_rng(2).normal(size=update.b.shape))
    update.apply()
    assert np.linalg.matrix_rank((kernel.numpy() - start).reshape(7, 15), tol=1e-4) == 2


def test_its_gradients_are_those_of_the_product(experiment):
    kernel = tf.Variable(np.random.default_rng(0).normal(size=(7, 3, 5)).astype("float32"))
    update = experiment.LowRankUpdate(kernel, 2, np.random.default_rng(1))
    update.b.assign(np.random.default_rng(2).normal(size=update.b.shape))
    upstream = tf.constant(np.random.default_rng(3).normal(size=(7, 3, 5)).astype("float32"))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(upstream * (update.start + tf.reshape(update.a @ update.b, (7, 3, 5))))
    expected = tape.gradient(loss, [update.a, update.b])
    for found, right in zip(update.gradients(upstream), expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-5)


def test_some_of_the_models_alone_are_recorded(experiment, monkeypatch, tmp_path):
    """The linear models need neither the encoder nor a rate for LoRA: `make experiments-check` repeats them."""
    words = ["a red ball", "the blue sky", "one old house", "two young trees"] * 80
    texts = SimpleNamespace(train=np.array(words, dtype=object), y=np.arange(320) % 4)
    texts.test, texts.y_test = texts.train[:8], texts.y[:8]
    monkeypatch.setattr(experiment, "Texts", lambda folder, length: texts)
    experiment.main(None, tmp_path, "linear")
    record = json.loads((tmp_path / "news_few_labels.json").read_text(encoding="utf-8"))
    assert "240 of 320 training texts" in record["data"], "how many were at hand"
    results = record["results"]
    assert results["test"] == {"linear": [1.0, 1.0, 1.0]} and results["pairs"] == []

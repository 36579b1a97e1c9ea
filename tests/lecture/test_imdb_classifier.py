"""The classifier of lab 06 beyond its checks: XLA, a file and back, and what padding does to it at its full size."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf
from lab_matrix import namespace, solution_sources

from coursekit.probes import imdb_classifier

LAB = "06_imdb_classifier"
SIZES = {"max_length": 13, "vocab_size": 31, "d_model": 6, "num_heads": 3, "d_ff": 11}


@pytest.fixture(scope="module")
def solved() -> dict:
    return namespace(solution_sources(LAB))


@pytest.fixture
def reviews() -> np.ndarray:
    ids = np.random.default_rng(6).integers(1, 31, size=(4, 13))
    ids[0, 5:] = ids[1, 12:] = ids[2] = 0
    return ids


def test_the_published_size(solved):
    model = solved["build_classifier"]()
    embeddings = [layer.count_params() for layer in model.layers if isinstance(layer, keras.layers.Embedding)]
    dense = [layer.count_params() for layer in model.layers if isinstance(layer, keras.layers.Dense)]
    assert sorted(embeddings) == [200 * 32, 20_000 * 32] and sum(embeddings) == 646_400
    assert dense[-2:] == [660, 21]
    assert model.count_params() == 657_737 == 646_400 + 10_656 + 660 + 21


@pytest.mark.long
def test_graph_xla_and_batches_of_any_size_give_what_eager_gives(solved, reviews):
    model = solved["build_classifier"](**SIZES)
    together = np.asarray(model(reviews))
    assert together.shape == (4, 1)
    np.testing.assert_allclose(np.concatenate([model(reviews[row : row + 1]) for row in range(4)]), together, atol=1e-6)
    np.testing.assert_allclose(model.predict(reviews, batch_size=3, verbose=0), together, atol=1e-6)
    for jit in (False, True):
        compiled = tf.function(lambda ids: model(ids), jit_compile=jit)
        np.testing.assert_allclose(compiled(tf.constant(reviews, "int32")), together, atol=1e-5)


def test_a_saved_classifier_gives_what_it_gave(solved, reviews, tmp_path):
    model = solved["build_classifier"](**SIZES)
    model.save(tmp_path / "classifier.keras")
    again = keras.models.load_model(tmp_path / "classifier.keras")
    np.testing.assert_allclose(np.asarray(again(reviews)), np.asarray(model(reviews)), atol=1e-6)


def _needs_numbers(model: keras.Model) -> keras.Model:
    """The model, unless it runs in a graph: its last layer asks for numbers, which a graph has not got."""
    last = model.layers[-1]
    call = last.call

    def with_numbers(x, training=None):
        np.asarray(x)
        return call(x)

    last.call = with_numbers
    return model


def _without_relu(model: keras.Model) -> keras.Model:
    for layer in model.layers:
        if isinstance(layer, keras.layers.Dense) and layer.activation is keras.activations.relu:
            layer.activation = keras.activations.linear
    return model


@pytest.mark.long
@pytest.mark.parametrize("change", [lambda model: model, _without_relu, _needs_numbers])
def test_the_hidden_layers_are_seen_alike_in_a_graph_and_outside(solved, reviews, monkeypatch, change):
    inputs = {**SIZES, "ids": reviews.astype("int32"), "weights": 6}
    answer = {"build_classifier": lambda **sizes: change(solved["build_classifier"](**sizes))}
    built = imdb_classifier._Classifier(answer, inputs)
    built.trace(inputs["ids"])
    assert (built.run is built.model) == (change is _needs_numbers)
    probe = imdb_classifier.PROBES["build_classifier"]
    quick = probe.says(inputs, "inside", probe(answer, inputs, "inside"))
    monkeypatch.setattr(imdb_classifier._Classifier, "trace", lambda self, ids: None)
    np.testing.assert_equal(probe.says(inputs, "inside", probe(answer, inputs, "inside")), quick)
    assert ("no ReLU" in map(str, quick.values())) == (change is _without_relu)

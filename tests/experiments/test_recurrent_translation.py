"""The recurrent translators of lecture 8b: both recurrences, the scores, padding, writing, and equal sizes."""

from __future__ import annotations

import sys

import keras
import numpy as np
import pytest
from programs import program

pytestmark = pytest.mark.long

tf = pytest.importorskip("tensorflow")
pytest.importorskip("tensorflow_text")
KINDS = ("Bahdanau", "Luong, dot", "Luong, general", "Luong, additive")
SOURCE, READS = np.array([[4, 5, 6, 7, 8], [9, 4, 10, 0, 0]]), np.array([[2, 7, 8, 9], [2, 5, 0, 0]])


@pytest.fixture(scope="module")
def experiment():
    return program("experiments/recurrent_translation.py")


@pytest.fixture(scope="module")
def network(experiment):
    return sys.modules["sentence_recurrence"]


@pytest.fixture(scope="module", params=KINDS)
def model(request, network):
    keras.utils.set_random_seed(5)
    return network.built(request.param, 11, 3)


def test_shapes_and_weights(model):
    assert model([SOURCE, READS]).shape == (2, 4, 11)
    states, mixtures, weights = model.look(SOURCE, READS)
    assert states.shape == mixtures.shape == (2, 4, 6) and weights.shape == (2, 4, 5)
    np.testing.assert_allclose(np.sum(weights, axis=-1), 1, atol=1e-6)
    assert np.all(np.asarray(weights)[1, :, 3:] == 0)


def test_neither_the_future_nor_padding_counts(model):
    before = np.asarray(model([SOURCE, READS]))
    later = np.asarray(model([SOURCE, np.where(READS == 9, 4, READS)]))
    np.testing.assert_allclose(later[:, :3], before[:, :3], atol=1e-6)
    assert np.abs(later[0, 3] - before[0, 3]).max() > 1e-5
    np.testing.assert_allclose(model([np.pad(SOURCE, ((0, 0), (0, 3))), READS]), before, atol=1e-6)


def test_only_bahdanaus_state_depends_on_the_mixture(model):
    """Another source with the first state kept: Bahdanau's next state changes, Luong's does not."""
    source, state = model.read(SOURCE[:1])
    keys, memory, visible = source
    word = model.embed(READS[:1])[:, 1]
    here, *_ = model.step(word, state, source)
    there, *_ = model.step(word, state, (keys, memory[:, ::-1] + 0.5, visible))
    changed = np.abs(np.asarray(here) - np.asarray(there)).max()
    assert changed > 1e-4 if model.kind == "Bahdanau" else changed == 0


def test_bahdanau_asks_before_the_word_is_read_and_luong_after(model):
    source, state = model.read(SOURCE[:1])
    one, other = (model.step(model.embed(READS[:1])[:, place], state, source)[2] for place in (0, 1))
    apart = np.abs(np.asarray(one) - np.asarray(other)).max()
    assert apart == 0 if model.kind == "Bahdanau" else apart > 1e-6


def test_steps_are_what_teacher_forcing_computes_at_once(model):
    source, state = model.read(SOURCE)
    words, together = model.embed(READS), model.look(SOURCE, READS)
    for place in range(READS.shape[1]):
        state, mixture, weights = model.step(words[:, place], state, source)
        for alone, all_places in zip((state, mixture, weights), together, strict=True):
            np.testing.assert_allclose(alone, np.asarray(all_places)[:, place], atol=1e-6)


def test_greedy_writes_the_largest_logit_of_its_own_prefix(model, network):
    sources = [row[row > 0] for row in SOURCE]
    for source, written in zip(sources, network.greedy(model, sources), strict=True):
        length = list(written).index(network.END) + 1 if network.END in written else len(written)
        reads = np.array([[network.START, *written[: length - 1]]])
        np.testing.assert_array_equal(np.argmax(model([source[None], reads]), axis=-1)[0], written[:length])


def test_scores_by_hand(network):
    rng = np.random.default_rng(3)
    query, memory = rng.normal(size=(1, 2, 4)).astype("float32"), rng.normal(size=(1, 3, 4)).astype("float32")
    visible = np.array([[True, True, False]])
    for score in ("dot", "general", "additive"):
        layer = network.Attention(score, 4)
        keys = np.asarray(layer.keys(memory))
        mixture, weights = (np.asarray(array) for array in layer(query, keys, memory, visible))
        if score == "additive":
            bent = np.tanh(query @ layer.query.kernel.numpy() + keys[:, :1]), keys[:, 1:2]
            first = (bent[0] @ layer.total.kernel.numpy())[..., 0]
            second = (np.tanh(query @ layer.query.kernel.numpy() + bent[1]) @ layer.total.kernel.numpy())[..., 0]
            scores = np.stack([first, second], axis=-1)
        else:
            kernel = layer.key.kernel.numpy() if score == "general" else np.eye(4)
            scores = np.einsum("btd,bsd->bts", query, memory @ kernel)[:, :, :2]
        expected = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(weights[:, :, :2], expected, atol=1e-5)
        np.testing.assert_allclose(mixture, expected @ memory[:, :2], atol=1e-5)


def test_all_models_have_the_parameters_of_the_transformer(experiment):
    wanted = experiment.model_of(experiment.TRANSFORMER, 50).count_params()
    for kind in KINDS:
        assert abs(experiment.model_of(kind, 50).count_params() / wanted - 1) < 0.02, kind


def test_the_rate_rises_and_falls_with_the_seconds_spent(experiment):
    shares = [experiment.share_of_peak(spent) for spent in (0, 0.05, 0.1, 0.55, 1)]
    np.testing.assert_allclose(shares, [0, 0.5, 1, 0.5, 0], atol=1e-9)


def test_training_stops_when_the_seconds_are_spent_and_starts_anew_from_its_seed(experiment, monkeypatch):
    monkeypatch.setitem(experiment.UNITS, "Luong, dot", 4)
    rows = [np.full(3, 4 + i % 3) for i in range(64)]
    pairs = sys.modules["sentence_pieces"].batches(rows, rows, shuffle=False)
    trainer = experiment.Trainer("Luong, dot", 8)
    assert trainer.run(1, 1e-2, 0.3, pairs) > 3
    trained = experiment.mean_loss(trainer.model, pairs)
    assert trainer.run(1, 1e-2, 0.0, pairs) == 0  # no step: the model as it begins
    begun = [variable.numpy() for variable in trainer.model.trainable_variables]
    assert trained < experiment.mean_loss(trainer.model, pairs)
    keras.utils.set_random_seed(1)
    fresh = experiment.model_of("Luong, dot", 8).trainable_variables
    for one, other in zip(begun, fresh, strict=True):
        np.testing.assert_array_equal(one, other)


def test_colours_are_found_where_they_are_clear(experiment):
    french = ["Un", "homme", "en", "T-shirt", "rouge", "court"]
    assert experiment.colour_places(french, ["A", "man", "in", "a", "red", "shirt", "runs"]) == (4, 4)
    assert experiment.colour_places(french, ["A", "man", "in", "a", "blue", "shirt", "runs"]) is None
    assert experiment.colour_places([*french, "vert"], ["A", "man", "in", "a", "red", "shirt", "runs"]) is None


def test_a_finished_run_is_not_run_again(experiment, tmp_path):
    calls = []
    for _ in range(2):
        found = experiment.kept(tmp_path / "a" / "run.json", lambda: calls.append(1) or {"steps": 3})
        assert found == {"steps": 3}
    assert len(calls) == 1

"""The Transformer of lecture 8b on sentences: pieces that lose nothing, padded batches, its loss, and its search."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from programs import program

pytest.importorskip("tensorflow_text")


@pytest.fixture(scope="module")
def experiment():
    return program("experiments/multi30k.py")


@pytest.fixture(scope="module")
def text(experiment):
    """The part that makes pieces and batches of the sentences."""
    return sys.modules["sentence_pieces"]


@pytest.fixture(scope="module")
def network(experiment):
    """The model and its search."""
    return sys.modules["sentence_transformer"]


@pytest.fixture(scope="module")
def pieces(text):
    return text.Pieces.learned_from(["A small dog (brown) runs, runs and runs.", "Ein kleiner Hund im T-Shirt."], 60)


@pytest.mark.parametrize("steps", [20, 429, 5_148])
def test_the_rate_rises_and_falls_to_zero_in_any_number_of_steps(experiment, steps):
    rates = np.array([float(experiment.schedule(steps)(step)) for step in np.linspace(0, steps, 21)])
    assert rates[0] == 0 and rates[-1] < 1e-9 and rates.max() > experiment.PEAK_RATE / 2
    assert (np.diff(rates[rates.argmax() :]) < 0).all() and (np.diff(rates[: rates.argmax() + 1]) > 0).all()


def test_text_survives_the_pieces(pieces):
    texts = ["A brown dog, small and (small).", "Ein Hund im T-Shirt runs."]
    rows = pieces.encode(texts)
    assert [pieces.decode(row) for row in rows] == texts
    assert pieces.vocabulary[:4] == ["[PAD]", "[UNK]", "[START]", "[END]"]


def test_what_comes_after_the_end_is_not_decoded(text, pieces):
    (row,) = pieces.encode(["A dog."])
    assert pieces.decode([*row, text.END, *row, text.PAD]) == "A dog."


def test_batches_are_shifted_padded_and_lose_no_sentence(text):
    sources = [np.full(length, 5) for length in (3, 14, 16, 41)]
    targets = [np.full(length, 6) for length in (4, 2, 13, 2)]
    seen = []
    for (source, reads), says in text.batches(sources, targets, shuffle=False):
        assert source.shape == reads.shape == says.shape and source.shape[1] in text.LENGTHS
        for row in np.flatnonzero(np.any(source, axis=1)):
            length = int(np.sum(says[row] != text.PAD))
            assert reads[row, 0] == text.START and says[row, length - 1] == text.END
            np.testing.assert_array_equal(reads[row, 1:length], says[row, : length - 1])
            seen.append((int(np.sum(source[row] != 0)), length - 1, source.shape[1]))
    assert sorted(seen) == [(3, 4, 14), (14, 2, 14), (16, 13, 18)]  # 41 pieces are too many


def test_the_loss_counts_real_tokens_only(text):
    rng = np.random.default_rng(0)
    logits, targets = rng.normal(size=(2, 3, 7)).astype("float32"), np.array([[4, 3, 0], [5, 0, 0]])
    log_p = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    smooth = np.full((2, 3, 7), text.SMOOTHING / 7) + np.eye(7)[targets] * (1 - text.SMOOTHING)
    expected = -(smooth * log_p).sum(axis=-1)[targets > 0].mean()
    np.testing.assert_allclose(text.smoothed_loss(targets, logits), expected, rtol=1e-5)


def chain(network, k):
    """next_tokens of a language in which greedy is trapped: token 4 looks better than 5, but what follows is worse."""
    after = {network.START: {4: 0.5, 5: 0.4}, 4: {6: 0.4, 7: 0.35}, 5: {6: 0.9, 7: 0.1}}

    def next_tokens(_, prefix, place):
        best = [sorted(after.get(row[int(place)], {network.END: 1.0}).items(), key=lambda p: -p[1]) for row in prefix]
        best = [(row + [(8, 1e-9)] * k)[:k] for row in best]
        return np.log([[p for _, p in row] for row in best]), np.array([[token for token, _ in row] for row in best])

    return next_tokens


@pytest.mark.parametrize(("k", "expected"), [(1, [4, 6]), (2, [5, 6]), (3, [5, 6])])
def test_greedy_is_trapped_and_a_beam_is_not(network, k, expected):
    rows = network.search(chain(network, k), np.ones((3, 2), "int32"), k, 6)
    assert rows.shape == (3, 6)
    for row in rows:
        assert list(row[:3]) == [*expected, network.END]


def test_without_an_end_the_search_stops_at_the_length(network):
    def endless(_, prefix, place):
        return np.log([[0.9, 0.1]] * len(prefix)), np.array([[6, 7]] * len(prefix))

    assert network.search(endless, np.ones((1, 2), "int32"), 2, 5).tolist() == [[6] * 5]


@pytest.mark.long
def test_the_model_sees_neither_the_future_nor_padding(network):
    model = network.build(11)
    source, reads = np.array([[4, 5, 6, 0]]), np.array([[2, 7, 8, 9]])
    before = np.asarray(model([source, reads]))
    later = np.asarray(model([source, np.array([[2, 7, 8, 4]])]))
    np.testing.assert_allclose(later[:, :3], before[:, :3], atol=1e-5)
    assert np.abs(later[:, 3] - before[:, 3]).max() > 1e-3
    np.testing.assert_allclose(model([np.pad(source, ((0, 0), (0, 3))), reads]), before, atol=1e-5)

"""Lecture 8b's caption model: what is shipped is what was trained, and its searches find what they promise."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from programs import program

from coursekit.lecture import captions
from coursekit.lecture.captions import END, START, UNKNOWN
from coursekit.lecture.pages.caption_model import PlainCaptionModel, beam, drawn, most_probable, reshaped, write


def tiny(words: int = 7, width: int = 8, seed: int = 0) -> PlainCaptionModel:
    rng = np.random.default_rng(seed)
    shapes = {name: (2, width, width) for name in ("w_q", "w_k", "w_v", "w_o")}
    shapes |= {"table": (words, width), "widen": (2, width, 12), "narrow": (2, 12, width)}
    weights = {name: rng.normal(scale=0.7, size=shape) for name, shape in shapes.items()}
    return PlainCaptionModel(captions.with_constants(weights), heads=2)


def log_p(model: PlainCaptionModel, ids: list[int]) -> float:
    cache, total = model.empty(1), 0.0
    for read, said in itertools.pairwise(ids):
        step, cache = model(np.array([read]), cache)
        total += float(step[0, said])
    return total


def test_the_model_of_the_page_is_the_one_that_was_trained(monkeypatch):
    keras = pytest.importorskip("keras")
    experiment = program("experiments/caption_model.py")
    keras.utils.set_random_seed(0)
    network, ids = experiment.CaptionModel(30), np.random.default_rng(0).integers(4, 30, (3, 9))
    logits = np.asarray(network(ids), "float64")  # (B, T, V)
    logits[..., [captions.PAD, UNKNOWN, START]] = -np.inf
    expected = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    model = PlainCaptionModel(captions.with_constants(network.exported()))
    cache = model.empty(3)
    for t in range(9):
        found, cache = model(ids[:, t], cache)
        np.testing.assert_allclose(found, expected[:, t], atol=0.01)  # the weights are rounded to float16


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_search_finds_the_most_probable_caption_of_all(seed):
    model = tiny(seed=seed)
    best, total, _ = most_probable(model, limit=log_p(model, [START, END]))
    assert np.isclose(total, log_p(model, best), atol=1e-4)
    words = [word for word in range(7) if word not in (captions.PAD, UNKNOWN, START, END)]
    every = [[START, *text, END] for length in range(4) for text in itertools.product(words, repeat=length)]
    assert total >= max(log_p(model, ids) for ids in every) - 1e-4
    found = [beam(model, width) for width in (1, 2, 5)]
    assert all(total >= other - 1e-4 for ids, other in found if ids[-1] == END)


def test_a_beam_of_one_is_greedy():
    model = tiny(seed=3)
    greedy, total = write(model, 1, lambda step: step.argmax(axis=-1))
    ids, same = beam(model, 1)
    assert list(greedy[0]) == ids and np.isclose(total[0], same, atol=1e-4)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_wide_beam_keeps_finished_captions_and_finds_the_best_by_its_score(seed):
    model = tiny(seed=seed)
    words = [word for word in range(7) if word not in (captions.PAD, UNKNOWN, START, END)]
    every = [[START, *text, END] for length in range(4) for text in itertools.product(words, repeat=length)]
    every += [[START, *text] for text in itertools.product(words, repeat=4)]  # no longer than `longest`, not finished
    for alpha in (0.0, 1.0):
        scores = [log_p(model, ids) / ((4 + len(ids)) / 6) ** alpha for ids in every]
        ids, total = beam(model, 1_000, alpha, longest=5)
        assert ids == every[int(np.argmax(scores))] and np.isclose(total, log_p(model, ids), atol=1e-4)


def test_words_are_drawn_with_the_probabilities_that_are_left():
    p = np.array([[0.5, 0.25, 0.15, 0.1]])
    np.testing.assert_allclose(reshaped(np.log(p), top_p=0.8)[0], np.array([0.5, 0.25, 0.15, 0]) / 0.9)
    np.testing.assert_allclose(reshaped(np.log(p), top_k=2)[0], [2 / 3, 1 / 3, 0, 0])
    np.testing.assert_allclose(reshaped(np.log(p), temperature=0.5)[0], p[0] ** 2 / (p**2).sum())
    both = [[2 / 3, 1 / 3, 0, 0]]  # of the three that top-k leaves, two have 0.8 of what is left
    np.testing.assert_allclose(reshaped(np.log(p), top_k=3, top_p=0.8), both)
    np.testing.assert_allclose(reshaped(np.log(p), top_k=1, top_p=0.8), [[1, 0, 0, 0]])
    np.testing.assert_allclose(reshaped(np.log(p), top_k=3, top_p=0.1), [[1, 0, 0, 0]])
    choose = drawn(np.random.default_rng(0), top_p=0.8)
    shares = np.bincount(choose(np.repeat(np.log(p), 20_000, axis=0)), minlength=4) / 20_000
    np.testing.assert_allclose(shares, np.array([0.5, 0.25, 0.15, 0]) / 0.9, atol=0.02)


def test_the_shipped_model_is_small_and_never_writes_a_special_word():
    words, weights = captions.load()
    assert captions.FILE.stat().st_size < 1_000_000 and len(words) == len(weights["table"])
    ids, total = write(PlainCaptionModel(weights), 5, drawn(np.random.default_rng(0)))
    assert not np.isin(ids[:, 1:], [captions.PAD, UNKNOWN, START]).any() and (total < 0).all()

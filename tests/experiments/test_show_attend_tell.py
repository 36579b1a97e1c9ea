"""The captioner of lecture 1b: true captions, and how each kind of attention reads and learns."""

from __future__ import annotations

import numpy as np
import pytest
from programs import program

tf = pytest.importorskip("tensorflow")


@pytest.fixture(scope="module")
def experiment():
    return program("experiments/show_attend_tell.py")


@pytest.fixture(scope="module")
def some(experiment):
    return experiment.scenes(40, np.arange(200), np.random.default_rng(0))


def test_captions_say_what_is_where(experiment, some):
    for caption, ids, digits, corners in zip(some.captions, some.ids, some.digits, some.corners, strict=True):
        names, (first, second) = [experiment.NAMES[digit] for digit in digits], corners
        apart = second - first
        if "above" in caption:
            assert caption == f"a {names[0]} above a {names[1]}" and apart[0] >= 8 and abs(apart[1]) <= 3
        else:
            assert caption == f"a {names[0]} left of a {names[1]}" and apart[1] >= 8 and abs(apart[0]) <= 3
        words = [experiment.WORDS[i] for i in ids if i != experiment.PAD]
        assert " ".join(words) == f"{caption} [END]"


def test_the_digits_stand_at_their_corners(experiment, some):
    drawings = experiment.load_digits()
    for image, digits, corners in zip(some.images, some.digits, some.corners, strict=True):
        for digit, (y, x) in zip(digits, corners, strict=True):
            box = image[y : y + 8, x : x + 8, 0] * 16
            assert any(np.array_equal(box, drawings.images[n]) for n in np.flatnonzero(drawings.target[:200] == digit))


@pytest.mark.parametrize("kind", ["soft", "hard", "hard, draws only"])
def test_weights_sum_to_one_and_learn(experiment, some, kind):
    model, images, ids = experiment.Captioner(kind), tf.constant(some.images[:6]), tf.constant(some.ids[:6])
    with tf.GradientTape() as tape:
        loss, rewards = experiment.losses(model, images, ids, tf.zeros(experiment.LONGEST))
    assert rewards.shape == (experiment.LONGEST,) and np.isfinite(loss)
    slopes = tape.gradient(loss, model.score.trainable_variables + model.query.trainable_variables)
    assert np.abs(slopes[0]).max() > 0 and np.abs(slopes[-1]).max() > 0
    captions, maps = experiment.told(model, some.images[:6])
    np.testing.assert_allclose(maps.sum(axis=-1), 1, atol=1e-5)
    assert len(captions) == 6


def test_drawing_without_reward_teaches_no_choice(experiment, some, monkeypatch):
    """Where each reward equals its baseline, nothing is learned about the places: one scene at a time shows it."""
    monkeypatch.setattr(experiment, "ENTROPY", 0.0)
    model, images, ids = experiment.Captioner("hard, draws only"), tf.constant(some.images[:1]), some.ids[:1]
    experiment.keras.utils.set_random_seed(3)
    _, rewards = experiment.losses(model, images, tf.constant(ids), tf.zeros(experiment.LONGEST))
    experiment.keras.utils.set_random_seed(3)  # the same draws again
    with tf.GradientTape() as tape:
        loss, again = experiment.losses(model, images, tf.constant(ids), rewards)
    np.testing.assert_allclose(again, rewards, atol=1e-5)
    np.testing.assert_allclose(tape.gradient(loss, model.score.kernel), 0, atol=1e-5)


def test_the_share_inside_a_box(experiment, some):
    maps = np.zeros((40, 8, 36))
    for n, ((y, x), _) in enumerate(some.corners):
        maps[n, :, (y + 4) // 4 * 6 + (x + 4) // 4] = 1  # always at the middle of the first digit
    shares = experiment.inside([caption.split() for caption in some.captions], maps, some)
    assert shares["either digit, other words"] > 0.8  # a place of 4 × 4 pixels may stick out of the box
    assert np.isclose(shares["its digit"] + shares["the other digit"], shares["either digit, other words"], atol=2e-3)
    assert experiment.inside([["a"]] * 40, maps, some)["its digit"] == 0

"""The experiment of lecture 9 on video: clips that one frame cannot tell apart, and what each model can know."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

FILE = Path(__file__).resolve().parents[1] / "experiments" / "moving_digits.py"


@pytest.fixture(scope="module")
def experiment():
    spec = importlib.util.spec_from_file_location("moving_digits", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def some(experiment):
    return experiment.clips(60, np.arange(100), np.random.default_rng(0))


def test_a_clip_moves_in_its_direction_over_joined_edges(experiment, some):
    clips, classes = some
    steps = list(experiment.DIRECTIONS.values())
    assert clips.shape == (60, 8, 20, 20, 1) and set(classes) == {0, 1, 2, 3}
    for clip, direction in zip(clips, classes, strict=True):
        moves = [np.roll(clip[:-1], tuple(speed * np.array(steps[direction])), axis=(1, 2)) for speed in (1, 2)]
        assert sum(np.array_equal(move, clip[1:]) for move in moves) == 1


def test_a_constant_answer_is_right_in_a_quarter_of_the_clips(some):
    assert np.bincount(some[1]).tolist() == [15, 15, 15, 15]


def test_a_reversed_clip_moves_in_the_opposite_direction(experiment):
    steps = np.array(list(experiment.DIRECTIONS.values()))
    assert np.array_equal(steps[experiment.OPPOSITE], -steps)


@pytest.mark.parametrize("kind", ["joint", "factorised"])
def test_the_scores_are_those_of_the_models(experiment, some, kind):
    model = experiment.video_transformer(kind)
    assert model(some[0][:3]).shape == (3, 4)
    rows = [
        int(np.prod(layer.output.shape[1:-1])) * layer.output.shape[axis]
        for layer in model.layers
        if isinstance(layer, experiment.layers.MultiHeadAttention)
        for axis in layer._attention_axes
    ]
    assert sum(rows) == experiment.BLOCKS * experiment.scores(kind)


def test_only_the_mean_over_frames_is_blind_to_order(experiment, some):
    clips = some[0][:5]
    frame, model = experiment.frame_average()
    np.testing.assert_allclose(model(clips), model(clips[:, ::-1]), atol=1e-5)
    np.testing.assert_allclose(model(clips)[0], np.mean(frame(clips[0]), axis=0), atol=1e-5)
    for kind in ("joint", "factorised"):
        model = experiment.video_transformer(kind)
        assert np.abs(model(clips) - model(clips[:, ::-1])).max() > 1e-3


def test_what_is_counted(experiment, some):
    class Right:
        def predict(self, clips, **_):
            """The direction, measured: of which of the eight moves the second frame is the result."""
            says = []
            for clip in clips:
                fits = [
                    np.array_equal(np.roll(clip[0], tuple(k * np.array(step)), axis=(0, 1)), clip[1])
                    for step in experiment.DIRECTIONS.values()
                    for k in (1, 2)
                ]
                says.append(np.eye(4)[np.argmax(fits) // 2])
            return np.array(says)

    found = experiment.tested(Right(), *some)
    assert (
        found["right"]["share"] == found["axis right"]["share"] == found["opposite answer, clip reversed"]["share"] == 1
    )
    assert found["right"]["interval"][0] < 1 and found["right, frames shuffled"]["share"] < 0.7
    assert found["right, frames shuffled"]["share"] < found["axis right, frames shuffled"]["share"]

"""The experiment of lecture 9b on video: clips that one frame cannot tell apart, and what each model can know."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from programs import program

from coursekit.lecture.moving_digits import DIRECTIONS, clips
from coursekit.lecture.pages.larger_images import plain_video_reader


@pytest.fixture(scope="module")
def experiment():
    return program("experiments/moving_digits.py")


@pytest.fixture(scope="module")
def some():
    return clips(60, np.arange(100), np.random.default_rng(0))


def test_a_clip_moves_in_its_direction_over_joined_edges(experiment, some):
    clips, classes = some
    steps = list(DIRECTIONS.values())
    assert clips.shape == (60, 8, 12, 12, 1) and set(classes) == {0, 1, 2, 3}
    for clip, direction in zip(clips, classes, strict=True):
        moves = [np.roll(clip[:-1], tuple(speed * np.array(steps[direction])), axis=(1, 2)) for speed in (1, 2)]
        assert sum(np.array_equal(move, clip[1:]) for move in moves) == 1


def test_a_constant_answer_is_right_in_a_quarter_of_the_clips(some):
    assert np.bincount(some[1]).tolist() == [15, 15, 15, 15]


def test_a_reversed_clip_moves_in_the_opposite_direction(experiment):
    steps = np.array(list(DIRECTIONS.values()))
    assert np.array_equal(steps[experiment.OPPOSITE], -steps)


@pytest.mark.parametrize("tubelet", [1, 2])
@pytest.mark.parametrize("kind", ["own moment only", "factorised"])
def test_the_scores_are_those_of_the_models(experiment, some, kind, tubelet):
    model = experiment.video_transformer(kind, tubelet)
    assert model(some[0][:3]).shape == (3, 4)
    rows = [
        int(np.prod(layer.output.shape[1:-1])) * layer.output.shape[axis]
        for layer in model.layers
        if isinstance(layer, experiment.layers.MultiHeadAttention)
        for axis in layer._attention_axes
    ]
    assert sum(rows) == experiment.BLOCKS * experiment.scores(kind, tubelet)


@pytest.mark.parametrize("frames", [1, 2])
@pytest.mark.parametrize("kind", ["own moment only", "factorised"])
def test_the_model_on_the_page_is_the_one_that_is_recorded(experiment, some, kind, frames):
    """With one seed both start with the same parameters, and give the same logits."""
    models = []
    for make in (lambda: experiment.video_transformer(kind, frames), lambda: plain_video_reader(frames, kind)):
        keras.utils.set_random_seed(5)
        models.append(make())
    recorded, page = models
    assert all(np.array_equal(a, b) for a, b in zip(recorded.get_weights(), page.get_weights(), strict=True))
    np.testing.assert_allclose(page(some[0][:5]), recorded(some[0][:5]), atol=1e-5)


@pytest.mark.parametrize("kind", ["own moment only", "factorised"])
def test_who_reads_whom(experiment, some, kind):
    """A change of the last frame reaches the tokens of the first moment by attention over time, and only by it."""
    model = experiment.video_transformer(kind, 2)
    tokens = experiment.keras.Model(model.input, model.layers[-2].input)  # (B, f', N, D), before they are averaged
    before, after = some[0][:2], some[0][:2].copy()
    after[:, -1] = after[:, -1].transpose(0, 2, 1, 3) + 1
    changed = np.abs(np.array(tokens(after)) - np.array(tokens(before))).max(axis=(0, 2, 3))  # (f',)
    assert changed[-1] > 1e-3
    assert (changed[:-1] > 1e-6).all() if kind == "factorised" else (changed[:-1] == 0).all()


def test_how_the_clips_are_changed(experiment, some):
    clips = some[0][:20]
    for tubelet in (1, 2):
        cut = clips.reshape(20, 8 // tubelet, tubelet, -1)
        changed = experiment.changed(clips, tubelet)
        turned = changed["each tubelet backwards"].reshape(cut.shape)
        assert all(np.array_equal(turned[:, :, frame], cut[:, :, tubelet - 1 - frame]) for frame in range(tubelet))
        assert np.array_equal(changed["clip backwards"], clips[:, ::-1])
        shuffled = changed["tubelets shuffled"].reshape(cut.shape)
        moved = 0
        for old, new in zip(cut, shuffled, strict=True):
            assert sorted(map(bytes, old)) == sorted(map(bytes, new))
            moved += not np.array_equal(old, new)
        assert moved >= 15  # some clips keep their order by chance


def test_what_is_counted(experiment, some):
    class Right:
        def predict(self, clips, **_):
            """The direction, measured: of which of the eight moves the second frame is the result."""
            says = []
            for clip in clips:
                fits = [
                    np.array_equal(np.roll(clip[0], tuple(k * np.array(step)), axis=(0, 1)), clip[1])
                    for step in DIRECTIONS.values()
                    for k in (1, 2)
                ]
                says.append(np.eye(4)[np.argmax(fits) // 2])
            return np.array(says)

    pair, single = (experiment.tested(Right(), *some, tubelet) for tubelet in (2, 1))
    for found in (pair, single):
        assert found["right"]["share"] == found["axis right"]["share"] == 1
        assert found["opposite answer, clip backwards"]["share"] == 1 > found["right"]["interval"][0]
        assert found["right, clip backwards"]["share"] == 0
    assert pair["right, tubelets shuffled"]["share"] == pair["opposite answer, each tubelet backwards"]["share"] == 1
    assert pair["right, each tubelet backwards"]["share"] == 0
    assert single["right, each tubelet backwards"]["share"] == 1
    shuffled = single["right, tubelets shuffled"]["share"]
    assert shuffled < 0.7 and shuffled < single["axis right, tubelets shuffled"]["share"]

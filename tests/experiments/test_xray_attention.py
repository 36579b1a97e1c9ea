"""The experiment of lecture 1b on X-rays: VGG-16 with attention, counted; networks of one size; intervals; deletion."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from programs import program
from sklearn.metrics import roc_auc_score

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def experiment():
    return program("experiments/xray_attention.py")


def test_vgg16_and_its_attention_modules_have_the_published_sizes(experiment):
    assert experiment.counted() == {
        "VGG-16 with its dense layers": 138_357_544,
        "VGG-16 without dense layers": 14_714_688,
        "two attention modules": (256 + 512) * 256 + 257 + (512 + 512) * 256 + 257,
        "dense layer for two classes": (256 + 512 + 512) * 2 + 2,
    }


def test_vgg16_with_attention_gives_logits_and_its_maps_sum_to_one(experiment):
    model = experiment.vgg16_with_attention(classes=3, size=64)
    maps = experiment.keras.Model(model.input, [model.get_layer(name).output for name in ("a1", "a2")])
    images = np.random.default_rng(0).random((2, 64, 64, 3), dtype="float32")
    assert model(images).shape == (2, 3)
    first, second = (np.array(array) for array in maps(images))
    assert first.shape == (2, 8, 8, 1) and second.shape == (2, 4, 4, 1)
    np.testing.assert_allclose([array.sum(axis=(1, 2, 3)) for array in (first, second)], 1, atol=1e-5)


def test_the_wider_network_has_as_many_parameters_as_that_with_attention(experiment):
    sizes = {kind: experiment.built(kind)[0].count_params() for kind in experiment.KINDS}
    assert abs(sizes["g alone, wider"] / sizes["attention"] - 1) < 0.005
    assert sizes["g alone"] < sizes["averages"] < sizes["attention"]
    images = np.zeros((3, 28, 28, 1), "float32")
    assert all(experiment.built(kind)[0](images).shape == (3,) for kind in experiment.KINDS)


def test_the_area_and_its_interval(experiment):
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [31, 43])
    scores = np.round(rng.normal(size=74) + labels, 1)  # with ties
    area, low, high = experiment.delong(labels, scores)
    assert np.isclose(area, roc_auc_score(labels, scores))
    sick, well = scores[labels == 1][:, None], scores[labels == 0][None]
    wins = (sick > well) + 0.5 * (sick == well)  # (43, 31): the same by its definition
    error = np.sqrt(wins.mean(axis=1).var(ddof=1) / 43 + wins.mean(axis=0).var(ddof=1) / 31)
    np.testing.assert_allclose([low, high], [area - 1.959964 * error, area + 1.959964 * error], rtol=1e-6)


def test_a_kind_against_itself_is_no_difference(experiment):
    labels, logits = np.repeat([0, 1], 20), np.random.default_rng(0).normal(size=40)
    assert experiment.difference(labels, [logits], [logits]) == {"AUC": [0.0] * 3, "accuracy": [0.0] * 3}


def test_what_is_deleted_is_what_the_map_names(experiment):
    maps = np.zeros((2, 16, 16))
    maps[0, 3, 5] = maps[1, 8, 8] = 1
    pixels = experiment.to_pixels(maps)
    assert pixels.shape == (2, 28, 28) and pixels.sum(axis=(1, 2)).tolist() == [4, 4]
    left = experiment.deleted(np.ones((2, 28, 28, 1)), pixels, 0.05, np.zeros((28, 28, 1)), np.random.default_rng(0))
    assert (left == 0).sum(axis=(1, 2, 3)).tolist() == [39, 39] and not left[..., 0][pixels == 1].any()


def test_a_shifted_map_keeps_its_form_and_leaves_its_position(experiment):
    maps = np.zeros((200, 4, 4))
    maps[:, 1, 2] = 3
    maps[:, 1, 3] = 1
    moved = experiment.shifted(maps, np.random.default_rng(0))
    peaks = moved.reshape(200, 16).argmax(axis=1)
    assert set(peaks) == set(range(16)) - {1 * 4 + 2}  # every position but its own
    beside = np.roll(moved, -1, axis=2).reshape(200, 16)[np.arange(200), peaks]
    assert (beside == 1).all()


def test_how_alike_maps_are(experiment):
    one = np.zeros((2, 4, 4))
    one[:, 1, 2] = 1
    assert np.isclose(experiment.agreement(one, 3 * one + 1), 1)
    assert experiment.agreement(one, one[:, ::-1, ::-1]) < 0


def test_the_images_are_those_of_the_record(experiment):
    folder = Path(os.environ.get("COURSE_DATA") or ROOT.parent / "shared" / "data")
    if not (folder / experiment.FILE).is_file():
        pytest.skip(f"no {experiment.FILE} in {folder}")
    parts = experiment.loaded(folder)
    assert [len(x) for x, _ in parts] == [2_428, 270, 468]
    assert all(x.shape[1:] == (28, 28, 1) and x.min() >= 0 and x.max() <= 1 and y.mean() == 0.5 for x, y in parts)

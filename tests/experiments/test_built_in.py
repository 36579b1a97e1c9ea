"""The control of lecture 9b: one thing is changed in each model, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from programs import program

from coursekit.lecture import recorded


@pytest.fixture(scope="module")
def experiment():
    return program("experiments/built_in.py")


def test_the_record_has_every_model_of_the_plan_and_the_size_of_the_one_it_is_compared_with(experiment):
    record, whole = (recorded.load(name)["results"] for name in ("built_in", "vit_against_convnet"))
    planned = experiment.cases(list(experiment.SIZES))
    assert [{key: run[key] for key in planned[0]} for run in record["runs"]] == planned
    assert record["parameters"] == {experiment.MODEL: whole["parameters"]["cifar10 convnet"]}


def test_scrambled_images_are_the_same_to_a_vision_transformer(experiment):
    """With the rows of its projection and its positions in the new order, it gives the same logits."""
    rng, patch, side, channels = np.random.default_rng(1), 4, 12, 3
    images = rng.random((2, side, side, channels), dtype="float32")
    mixed = experiment.scrambled(images, patch)
    assert not np.allclose(mixed, images)
    assert np.array_equal(np.sort(mixed.reshape(2, -1)), np.sort(images.reshape(2, -1)))

    def patches(pictures):
        cut = pictures.reshape(-1, side // patch, patch, side // patch, patch, channels)
        return cut.transpose(0, 1, 3, 2, 4, 5).reshape(len(pictures), -1, patch**2, channels)

    whole, other = patches(images)[0], patches(mixed)[0]  # (N, P², C)
    at = np.array(
        [[np.argwhere((whole == pixel).all(axis=-1))[0] for pixel in tokens] for tokens in other]
    )  # (N, P², 2)
    places, inside = at[:, 0, 0], at[0, :, 1]
    assert np.array_equal(other, whole[places][:, inside])

    model = experiment.plain.small_vit((side, side, channels), patch, blocks=1)
    expected = np.asarray(model(images))
    kernel, positions = model.layers[1].weights[0], next(w for w in model.weights if w.path.endswith("positions"))
    rows = np.asarray(kernel).reshape(patch**2, channels, -1)[inside]
    kernel.assign(rows.reshape(kernel.shape))
    table = np.asarray(positions)
    positions.assign(np.concatenate([table[:1], table[1:][places]]))
    assert np.allclose(model(mixed), expected, atol=1e-5)
    assert not np.allclose(model(images), expected, atol=1e-3)

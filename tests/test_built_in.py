"""The control of lecture 9b: one thing is changed in each model, and nothing else."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

EXPERIMENTS = Path(__file__).resolve().parents[1] / "experiments"


@pytest.fixture(scope="module")
def experiment():
    sys.path.insert(0, str(EXPERIMENTS))
    try:
        spec = importlib.util.spec_from_file_location("built_in", EXPERIMENTS / "built_in.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(EXPERIMENTS))
    return module


def test_a_patch_reads_its_neighbours_and_the_class_token_reads_all(experiment):
    mask = experiment.neighbours(5)[0]
    assert mask.shape == (26, 26) and mask[0].all() and not mask[1:, 0].any()
    grid = mask[1:, 1:].reshape(5, 5, 5, 5)  # rows and columns of the query, then of the key
    assert np.argwhere(grid[0, 0]).tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert np.argwhere(grid[2, 3]).tolist() == [[row, column] for row in (1, 2, 3) for column in (2, 3, 4)]


def test_with_the_mask_a_far_patch_reaches_the_class_token_only(experiment):
    """After one block a corner has reached its neighbours only; no parameter is added."""
    images = np.random.default_rng(0).random((2, 12, 12, 1), dtype="float32")
    changed = images.copy()
    changed[:, 8:, 8:] += 1
    limited = experiment.plain.small_vit((12, 12, 1), 4, blocks=1, mask=experiment.neighbours(3))
    free = experiment.plain.small_vit((12, 12, 1), 4, blocks=1)
    assert limited.count_params() == free.count_params()
    free.set_weights(limited.get_weights())
    assert np.allclose(limited(images), free(images), atol=1e-5)  # one block: the class token reads all in both
    tokens = [layer for layer in limited.layers if layer.name.startswith("layer_normalization")][-1].output
    read = experiment.keras.Model(limited.input, tokens)
    moved = np.abs(read(changed) - read(images)).max(axis=(0, 2)) > 1e-6  # (N + 1,)
    assert moved.tolist() == [True] + [False] * 4 + [True, True] + [False] + [True, True]


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

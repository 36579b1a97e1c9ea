"""The task of lecture 1b: where the whole digit stands, what a share in its box means, and the page's two maps."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

tf = pytest.importorskip("tensorflow")

from coursekit.lecture import digit_scenes  # noqa: E402
from coursekit.lecture.pages.visual_attention import gradient_map, plain_spatial_attention  # noqa: E402


@pytest.mark.parametrize("whole", [1, 2])
def test_whole_digits_stand_at_their_corners_and_have_their_labels(whole):
    found = digit_scenes.scenes(20, np.arange(100, 200), np.random.default_rng(0), whole)
    digits = load_digits()
    drawings, targets = digits.images[100:200].astype("float32") / 16, digits.target[100:200]
    for image, labels, corners in zip(found.images, found.labels, found.corners, strict=True):
        for label, (y, x) in zip(labels, corners, strict=True):
            same = [np.array_equal(drawing, image[y : y + 8, x : x + 8, 0]) for drawing in drawings]
            assert label in targets[same]


def test_no_drawing_is_in_both_parts():
    training, testing, pool = digit_scenes.split()
    assert training.images.shape == (4000, 24, 24, 1) and testing.images.shape == (500, 24, 24, 1)
    assert len(pool) == 1797 - 1300


def test_an_even_map_has_the_share_of_the_box_and_a_map_that_knows_has_all():
    corners = np.array([[0, 0], [16, 16], [5, 9]])
    even = digit_scenes.to_pixels(np.ones((3, 6, 6)))
    assert digit_scenes.inside_box(even, corners) == pytest.approx(64 / 576)
    knows = digit_scenes.boxes(corners)
    assert digit_scenes.inside_box(digit_scenes.to_pixels(knows), corners) == pytest.approx(1)


def test_networks_differ_in_their_paths_and_an_unknown_kind_is_named():
    attention, averages, alone = (digit_scenes.network(kind)[0] for kind in ("attention", "averages", "g alone"))
    assert attention.count_params() > averages.count_params() > alone.count_params()
    assert digit_scenes.network("averages", 36)[0].count_params() > attention.count_params()
    with pytest.raises(ValueError, match="not 'hard'"):
        digit_scenes.network("hard")


def test_a_map_of_attention_sums_to_1_and_the_sum_of_features_is_weighted_with_it():
    f, g = (tf.random.stateless_normal(shape, seed=[1, 2]) for shape in ((2, 6, 6, 5), (2, 3, 3, 7)))
    summary, a = plain_spatial_attention(f, g, filters=4)
    np.testing.assert_allclose(np.sum(a, axis=(1, 2, 3)), 1, atol=1e-5)
    np.testing.assert_allclose(summary, np.sum(np.asarray(a) * np.asarray(f), axis=(1, 2)), atol=1e-5)


def test_grad_cam_is_cam_divided_by_the_positions_where_a_network_ends_in_an_average():
    classifier, insides = digit_scenes.network("g alone")
    images = np.random.default_rng(3).random((2, 24, 24, 1), dtype="float32")
    cam = digit_scenes.seen(insides, images)["g"] @ classifier.layers[-1].kernel.numpy()[:, 4]  # (2, 3, 3)
    np.testing.assert_allclose(gradient_map(insides, images, "g", [4, 4]), np.maximum(cam, 0) / 9, atol=1e-5)

"""Word vectors from counts: what counts as near, and that words with the same neighbours get vectors that are near."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from programs import program


@pytest.fixture(scope="module")
def near_words():
    return program("experiments/near_words.py")


def test_pairs_are_counted_within_a_text_and_within_the_window(near_words):
    far = [2] * (near_words.WINDOW - 1)
    rows = tf.ragged.constant([[0, *far, 1, 3], [4, 5], [4, 5]])
    counts = near_words.counted(rows, 6).toarray()
    assert counts[0, 1] == 1 and counts[0, 3] == 0  # one place too far
    assert counts[4, 5] == 2 and counts[5, 4] == 0  # in the order of the text
    assert counts[3, 4] == counts[1, 4] == 0  # of two texts


def test_words_with_the_same_neighbours_get_vectors_that_are_near(near_words):
    rng = np.random.default_rng(0)
    good, bad, other = (0, 1), (2, 3), np.arange(4, 12)  # good words stand beside even words, bad ones beside odd ones
    rows = [[rng.choice(good), *rng.choice(other[::2], 4)] for _ in range(200)]
    rows += [[rng.choice(bad), *rng.choice(other[1::2], 4)] for _ in range(200)]
    table = near_words.vectors(near_words.counted(tf.ragged.constant(rows), 12), 3)
    assert table.shape == (12, 3) and np.allclose(table.mean(axis=0), 0, atol=1e-9)
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > 0.9 and unit[2] @ unit[3] > 0.9 and unit[0] @ unit[2] < 0

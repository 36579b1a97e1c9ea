"""What lecture 2 shows of SmolLM2 is the same computed and stored, and is what the course's classes give."""

import numpy as np
import pytest

from coursekit.data.published_models import MODELS_VARIABLE, is_here
from coursekit.lecture import recorded, scenes
from coursekit.lecture.pages.smollm2 import normed, turned
from coursekit.lecture.smollm2_heads import every_block, queries_and_keys
from coursekit.published import SMOLLM2_BASE, SMOLLM2_EPSILON


def test_without_the_model_the_stored_head_is_read(monkeypatch, tmp_path):
    monkeypatch.setenv(MODELS_VARIABLE, str(tmp_path))
    weights = queries_and_keys(scenes.CAPTION).weights()  # (T, T)
    np.testing.assert_allclose(weights.sum(axis=-1), 1)
    assert not np.triu(weights, 1).any() and weights[2, 1] > 0.9 and weights[8, 7] > 0.9
    with pytest.raises(KeyError, match="block 3, head 1 was not stored"):
        queries_and_keys(scenes.CAPTION, block=3, head=1)


def test_positions_turn_the_pairs_as_lecture_10s_parts_do_and_the_norm_has_the_models_epsilon():
    from coursekit.lecture.pages import parts

    x = np.random.default_rng(0).normal(size=(9, 7, 64)).astype("float32")  # (H, T, K)
    with parts.constants(base=SMOLLM2_BASE, epsilon=SMOLLM2_EPSILON):
        np.testing.assert_allclose(turned(x, start=0), parts.rotated(x, np.arange(7)), atol=1e-5)
    np.testing.assert_allclose(normed(np.zeros(3) + 1, 1), (1 + SMOLLM2_EPSILON) ** -0.5, rtol=1e-12)


@pytest.mark.skipif(not is_here("smollm2"), reason="the published model smollm2 is not here: course data smollm2")
def test_what_is_stored_is_what_the_model_gives():
    kept = recorded.load("caption_in_smollm2")["results"]["sentences"]
    for sentence in (scenes.CAPTION, scenes.TWIN):
        found = every_block(sentence, last=16)[16]
        assert found.pieces == kept[sentence]["pieces"] == sentence.split()
        for part in ("queries", "keys"):
            np.testing.assert_allclose(getattr(found, part)[0], kept[sentence][part], atol=2e-3)

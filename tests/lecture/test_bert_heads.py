"""The viewer of the small BERT's heads shows the weights that the formulas give, computed here without the model."""

from __future__ import annotations

import json

import numpy as np
import pytest
from models_in_pages import attention

from coursekit.lecture import bert, live
from coursekit.lecture.live import bert_heads

tf = pytest.importorskip("tensorflow")
text = pytest.importorskip("tensorflow_text")

SENTENCES = [
    "the company said its profit rose in the third quarter",
    "Naïve strikers WON'T score: 3-0!",
    "unbelievable",
]
# Two computations in float32 that sum in another order differ by a few of their rounding errors. This many times the
# largest rounding error of the formulas below, run in float32, is allowed.
FEW = 16


@pytest.fixture(scope="module")
def weights() -> dict[str, np.ndarray]:
    """The encoder's parameters by name, in float64."""
    encoder = tf.saved_model.load(bert.ENCODER)
    return {variable.name.split(":")[0]: variable.numpy().astype("float64") for variable in encoder.variables}


def cut(sentence: str) -> tuple[list[str], np.ndarray]:
    """Pieces and ids of a sentence between [CLS] and [SEP], by the library's own tokenizer."""
    lines = (bert.FOLDER / "preprocess" / "assets" / "vocab.txt").read_text("utf-8").split("\n")[:-1]
    pieces = text.FastBertTokenizer(lines, token_out_type=tf.int32, lower_case_nfd_strip_accents=True)
    ids = [lines.index("[CLS]"), *pieces.tokenize([sentence]).to_list()[0], lines.index("[SEP]")]
    return [lines[id] for id in ids], np.array(ids)


def tolerance(ids: np.ndarray, weights: dict[str, np.ndarray]) -> float:
    rounding = np.abs(attention(ids, weights, "float32") - attention(ids, weights, "float64")).max()
    assert 0 < rounding < 1e-5
    return FEW * float(rounding)


@pytest.mark.long
@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_weights_are_those_of_the_formulas(sentence, weights):
    pieces, ids = cut(sentence)
    shown, maps = bert_heads.attention_of(sentence)
    assert shown == pieces
    assert maps.shape == (3, 4, len(ids), len(ids))
    np.testing.assert_allclose(maps, attention(ids, weights, "float64"), rtol=0, atol=tolerance(ids, weights))


@pytest.mark.parametrize("wrong", ["no scale", "no bias", "no norm", "over the queries", "exact GELU"])
def test_a_mistake_is_far_outside_the_tolerance(wrong, weights):
    _, ids = cut(SENTENCES[0])
    away = np.abs(attention(ids, weights, "float64", wrong) - attention(ids, weights, "float64")).max()
    assert away > 4 * tolerance(ids, weights), away


def test_the_figure_holds_the_weights_of_every_head_and_sentence(weights):
    chosen = SENTENCES[:2]
    drawn = live.heads(*chosen).specification()
    rows = [row for rows in drawn["datasets"].values() for row in rows]
    for sentence in chosen:
        expected = attention(cut(sentence)[1], weights, "float64")
        for block in range(3):
            for head in range(4):
                name = f"block {block}, head {head}"
                mine = [row for row in rows if (row["sentence"], row["head"]) == (sentence, name)]
                assert [row["i"] for row in mine] == list(range(len(expected[0, 0])))
                np.testing.assert_allclose([row["weight"] for row in mine], expected[block, head], atol=5.1e-4)
        assert all(json.dumps(piece)[1:-1] in json.dumps(drawn) for piece in cut(sentence)[0])


def test_the_figure_is_of_the_small_bert_whatever_handles_the_notebook_has_taken(monkeypatch):
    """Published encoders give their parameters other names, and have their norms elsewhere."""
    before = live.heads(SENTENCES[0]).specification()
    monkeypatch.setattr(bert, "PREPROCESS", bert.PUBLIC_PREPROCESS)
    monkeypatch.setattr(bert, "ENCODER", bert.PUBLIC_BASE)
    bert_heads._small_bert.cache_clear()
    assert live.heads(SENTENCES[0]).specification() == before


def test_a_sentence_that_is_too_long_and_none_at_all_are_told():
    longest = "the " * (bert_heads.LONGEST - 2)
    assert len(bert_heads.attention_of(longest)[0]) == bert_heads.LONGEST
    with pytest.raises(ValueError, match=f"has {bert_heads.LONGEST + 1} pieces, more than {bert_heads.LONGEST}"):
        live.heads(longest + "the")
    with pytest.raises(ValueError, match="heads needs a sentence"):
        live.heads()

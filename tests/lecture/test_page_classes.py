"""The class on a page is the one that labs hand out: a lecture's cell and `coursekit/lecture/pages/` hold one text."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import SimpleNamespace

import jupytext
import numpy as np
import pytest

from coursekit.lecture.memory_task import wave_table
from coursekit.lecture.pages.attention import PlainAttention
from coursekit.lecture.pages.encoder_block import post_norm_block, pre_norm_block
from coursekit.lecture.pages.multi_head import PlainHeads
from coursekit.lecture.pages.positions import PlainPositions
from coursekit.lecture.pages.self_attention import PlainSelfAttention

ROOT = Path(__file__).resolve().parents[2]
PAGES = {  # lecture: module
    "01_attention_intuition": "attention",
    "01b_visual_attention": "visual_attention",
    "02_self_attention": "self_attention",
    "03_multi_head_attention": "multi_head",
    "03b_reading_heads": "smollm2",
    "04_encoder_block": "encoder_block",
    "05_positional_encoding": "positions",
    "06_imdb_classifier": "review_classifier",
    "06b_judging_a_classifier": "difference_interval",
    "07_bert_ag_news": "news_classifier",
    "08_decoder_and_masking": "decoder_and_masking",
    "08b_generating_text": "caption_model",
    "09_vision_transformer": "vision_transformer",
    "09b_many_images_and_video": "larger_images",
    "10_language_model": "language_model",
    "10b_from_model_to_assistant": "answering",
}


def classes(source: str) -> dict[str, str]:
    """The text of each class and function of a source, by its name."""
    found = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    return {node.name: ast.get_source_segment(source, node) for node in found}


@pytest.mark.parametrize("lecture", PAGES)
def test_the_page_shows_the_class_that_is_handed_out(lecture):
    handed_out = classes(
        (ROOT / "coursekit" / "lecture" / "pages" / f"{PAGES[lecture]}.py").read_text(encoding="utf-8")
    )
    cells = jupytext.read(ROOT / "lectures" / f"{lecture}.py").cells
    shown = {}
    for cell in cells:
        if cell.cell_type == "code" and "course-setup" not in cell.metadata.get("tags", []):
            shown |= classes(cell.source)
    assert handed_out and {name: shown.get(name) for name in handed_out} == handed_out
    assert all(
        text.count("\n") < 25 and (name.startswith("Plain") or name.islower()) for name, text in handed_out.items()
    )


@pytest.mark.parametrize("lab", sorted(path.name for path in (ROOT / "solutions").iterdir() if path.is_dir()))
def test_a_lab_is_given_what_its_lecture_ends_with(lab):
    """Its first cell imports classes or functions of pages, later cells use each of them, and its text names one."""
    cells = jupytext.read(ROOT / "solutions" / lab / f"{lab}.py").cells
    (first,) = [cell.source for cell in cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "imports"]
    given = [
        alias.name
        for node in ast.walk(ast.parse(first))
        if isinstance(node, ast.ImportFrom) and node.module.startswith("coursekit.pages")
        for alias in node.names
    ]
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code").replace(first, "")
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert given and [name for name in given if not re.search(rf"\b{name}\b", code)] == []
    assert any(f"`{name}`" in text or f"`{name}(" in text for name in given)


def test_self_attention_averages_values_with_weights_that_sum_to_1():
    x, w_q, w_k, w_v = (np.random.default_rng(0).normal(size=shape) for shape in ((5, 7), (7, 3), (7, 3), (7, 2)))
    attention = PlainSelfAttention(w_q, w_k, w_v)
    z = attention(x)
    assert z.shape == (5, 2) and np.allclose(attention.weights.sum(axis=-1), 1)
    assert np.allclose(z[1], sum(attention.weights[1, s] * (x[s] @ w_v) for s in range(5)))


def test_attention_with_large_scores_copies_the_value_of_the_best_key():
    keys, values = np.array([[1.0], [2.0], [3.0]]), np.array([[10.0], [20.0], [30.0]])
    attention = PlainAttention(score=lambda query, keys: 1000 * keys @ query)
    assert np.allclose(attention(np.array([[1.0], [-1.0]]), keys, values), [[30], [10]])
    assert np.allclose(attention.weights.sum(axis=-1), 1)


def test_heads_are_those_of_keras():
    import keras

    matrices, x = np.random.default_rng(1).normal(size=(4, 6, 6)), np.random.default_rng(2).normal(size=(5, 6))
    layer = keras.layers.MultiHeadAttention(num_heads=2, key_dim=3, use_bias=False)
    layer.build(query_shape=(None, None, 6), value_shape=(None, None, 6))
    layer.set_weights([matrix.reshape(6, 2, 3) for matrix in matrices[:3]] + [matrices[3].reshape(2, 3, 6)])
    heads = PlainHeads(*matrices, heads=2)
    np.testing.assert_allclose(heads(x), np.asarray(layer(query=x[None], value=x[None]))[0], atol=1e-4)
    assert heads.weights.shape == (2, 5, 5)
    np.testing.assert_allclose(heads.merge(heads.split(x)), x)


def test_a_block_has_its_parameters_and_a_post_norm_block_ends_in_a_norm():
    x = 5 * np.random.default_rng(3).normal(size=(2, 7, 32)).astype("float32")
    before, after = (np.asarray(make(32, heads=4, hidden=64)(x)) for make in (pre_norm_block, post_norm_block))
    np.testing.assert_allclose(after.std(axis=-1), 1, atol=1e-2)
    assert before.std() > 3
    # attention 4·(32·32 + 32), feed-forward 32·64 + 64 + 64·32 + 32, norms 2·64
    assert pre_norm_block(32, 4, 64).count_params() == post_norm_block(32, 4, 64).count_params() == 8_544


def test_positions_are_the_sinusoidal_table_beside_scaled_tokens():
    x = np.random.default_rng(4).normal(size=(3, 11, 6)).astype("float32")
    np.testing.assert_allclose(np.asarray(PlainPositions()(x)), x * 6**0.5 + wave_table(11, 6), atol=1e-5)


def test_lecture_07s_bert_reads_padded_rows_in_any_company():
    """A row gives the same vector alone and in a batch, and the rows keep their order."""
    import keras

    from coursekit.lecture.pages.news_classifier import PlainBertBlock, PlainNewsBert, in_batches, table_means

    keras.utils.set_random_seed(1)
    rng = np.random.default_rng(6)
    blocks = [PlainBertBlock(12, 3, 20) for _ in range(2)]
    tables = {"by_word": rng.normal(size=(30, 12)), "by_position": rng.normal(size=(9, 12))}
    encoder = SimpleNamespace(blocks=blocks, first_norm=keras.layers.LayerNormalization(), **tables)
    rows = [[1, 5, 6, 7, 2], [1, 8, 2], [1, 9, 10, 11, 12, 13, 2], [1, 14, 2]]
    read = PlainNewsBert(encoder).vectors
    together, alone = in_batches(read, rows, size=3), [in_batches(read, [row])[0] for row in rows]
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    means = table_means(tables["by_word"], rows)
    np.testing.assert_allclose(means[1], tables["by_word"][8] / np.linalg.norm(tables["by_word"][8]))


def test_a_low_rank_update_starts_at_the_projection_and_can_be_added_to_it():
    import keras

    from coursekit.lecture.pages.news_classifier import PlainLowRank

    x = np.random.default_rng(7).normal(size=(2, 5, 12)).astype("float32")
    dense = keras.layers.EinsumDense("btd,dhk->bthk", (None, 3, 4))
    before = np.asarray(dense(x))
    low_rank = PlainLowRank(dense, 2)
    np.testing.assert_array_equal(low_rank(x), before)
    assert [tuple(weight.shape) for weight in low_rank.trainable_weights] == [(12, 2), (2, 3, 4)]
    low_rank.up.assign(np.random.default_rng(8).normal(size=(2, 3, 4)))
    after = np.asarray(low_rank(x))
    dense.kernel.assign(dense.kernel + np.einsum("dr,rhk->dhk", low_rank.down, low_rank.up))
    np.testing.assert_allclose(dense(x), after, atol=1e-4)


def small_smollm2():
    """A model of two blocks in SmolLM2's shapes, with random numbers and 40 tokens."""
    from coursekit.lecture.pages.smollm2 import PlainSmolLM2

    rng, width, kept, wide = np.random.default_rng(9), 576, 192, 80
    shapes = {
        "attn_q": (width, width), "attn_k": (kept, width), "attn_v": (kept, width), "attn_output": (width, width),
        "ffn_gate": (wide, width), "ffn_up": (wide, width), "ffn_down": (width, wide),
    }  # fmt: skip
    blocks = []
    for _ in range(2):
        block = {name: rng.normal(size=shape).astype("float32") / 20 for name, shape in shapes.items()}
        gains = {name: rng.uniform(0.5, 2, width).astype("float32") for name in ("attn_norm", "ffn_norm")}
        blocks.append(block | gains)
    table = rng.normal(size=(40, width)).astype("float32")
    return PlainSmolLM2({"table": table, "last_norm": np.ones(width, "float32"), "blocks": blocks})


def test_lecture_3bs_model_writes_the_same_with_a_cache_and_sees_nothing_ahead():
    model, ids = small_smollm2(), np.random.default_rng(10).integers(40, size=(3, 11))
    whole, _ = model(ids)
    np.testing.assert_allclose(np.exp(whole).sum(axis=-1), 1, atol=1e-4)
    first, cache = model(ids[:, :5])
    second, cache = model(ids[:, 5:6], cache)
    third, _ = model(ids[:, 6:], cache)
    np.testing.assert_allclose(np.concatenate([first, second, third], axis=1), whole, atol=1e-3)
    assert [weights.shape for weights in model.weights] == [(3, 9, 5, 11)] * 2
    np.testing.assert_allclose(model.weights[0].sum(axis=-1), 1, atol=1e-5)


def test_a_head_that_is_off_adds_nothing_and_the_others_stay():
    model, ids = small_smollm2(), np.random.default_rng(11).integers(40, size=(2, 7))
    off, _ = model(ids, off=[(1, 4), (0, 2)])
    for block, head in ((0, 2), (1, 4)):
        model.blocks[block]["attn_output"][:, 64 * head : 64 * head + 64] = 0  # its rows of W_O, as Keras has them
    cut, _ = model(ids)
    np.testing.assert_allclose(off, cut, atol=1e-4)
    whole, _ = small_smollm2()(ids)
    assert np.abs(off - whole).max() > 1e-2

"""SmolLM2's attention in a student's functions: right ones give what lecture 3b's class gives, wrong ones are named.

The cells of the labs that show it run with a small model, and in the long run with the published one.
"""

import contextlib
import io
import os

import nbformat
import numpy as np
import pytest
from keras import ops
from lab_matrix import LABS, ROOT, code_cells, namespace, solution_sources

from coursekit import published_heads
from coursekit.data import published_models
from coursekit.lecture import smollm2_heads
from coursekit.lecture.pages.smollm2 import PlainSmolLM2, attend, normed
from coursekit.published import ChatTokens, SentenceEncoder, WordPieces, _byte_letters

RNG = np.random.default_rng(17)
CAPSTONES = {
    "02_self_attention": ["smollm2"],
    "03_multi_head_attention": ["smollm2"],
    "05_positional_encoding": ["smollm2", "minilm"],
    "08b_generating_text": ["smollm2"],
}


def small_tokens():
    """Bytes alone, after as many special tokens as SmolLM2 has."""
    pieces = [f"<{number}>".encode() for number in range(published_heads.SPECIAL)]
    special = {piece.decode(): number for number, piece in enumerate(pieces)} | {"<|im_end|>": 2}
    return ChatTokens([*pieces, *map(bytes, sorted([byte] for byte in _byte_letters().values()))], [], special)


@pytest.fixture
def small(monkeypatch):
    """Two blocks in SmolLM2's shapes with random numbers; what every function of the module reads."""
    shapes = {
        "attn_q": (576, 576), "attn_k": (192, 576), "attn_v": (192, 576), "attn_output": (576, 576),
        "ffn_gate": (80, 576), "ffn_up": (80, 576), "ffn_down": (576, 80),
    }  # fmt: skip
    blocks = []
    for _ in range(2):
        block = {name: RNG.normal(size=shape).astype("float32") / 20 for name, shape in shapes.items()}
        blocks.append(block | {name: RNG.uniform(0.5, 2, 576).astype("float32") for name in ("attn_norm", "ffn_norm")})
    table, tokens = RNG.normal(size=(273, 576)).astype("float32"), small_tokens()
    numbers = {"table": table, "last_norm": np.ones(576, "float32"), "blocks": blocks}
    monkeypatch.setattr(published_heads, "_smollm2", lambda: (numbers, tokens))

    def every_block(text, last):
        x, found = table[tokens.encode(text)][None], []
        for block in blocks[: last + 1]:
            h = normed(x, block["attn_norm"])
            query, _, value = smollm2_heads.project(block, h)
            _, _, (keys, _) = attend(h, block)
            query = published_heads.turned(query, 0)
            parts = [query, *map(smollm2_heads.copied, (keys, value))]
            pieces = [tokens.decode([number]) for number in tokens.encode(text)]
            found.append(smollm2_heads.Compared(pieces, *(part[0] for part in parts)))
        return found[: last + 1]

    monkeypatch.setattr(published_heads, "every_block", every_block)
    return numbers, tokens


@pytest.fixture(scope="module")
def labs():
    return {lab: namespace(solution_sources(lab)) for lab in CAPSTONES}


# -- lab 02 ------------------------------------------------------------------------------------------------------------


def test_lab_02s_attention_gives_the_blocks_weights(small, labs):
    own = labs["02_self_attention"]["scaled_dot_product_attention"]
    heads = published_heads.heads_of_block("a dog", block=0)
    weights = heads.compare(own(heads.q, heads.k, heads.v, mask=heads.mask))
    model = PlainSmolLM2(small[0])
    model([small[1].encode("a dog")])
    np.testing.assert_allclose(weights, model.weights[0][0], atol=1e-5)
    ((token, weight),) = heads.most(weights, "d", head=3)
    assert weight == weights[3, 2].max() and token == heads.tokens[weights[3, 2].argmax()]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda own, q, k, v, mask: own(q, k, v)[0], r"expected the tuple \(output, weights\); got \w*Tensor"),
        (lambda own, q, k, v, mask: own(q, k, v), "your weights leave the published model at head 0, query 0, key 0"),
        (lambda own, q, k, v, mask: own(q, k, v, mask)[::-1], r"your weights have the shape \(9, 5, 64\); expected"),
        (lambda own, q, k, v, mask: own(q, k, k, mask), "your outputs leave .* at head 0, query 0, column 0"),
        (lambda own, q, k, v, mask: (v, "weights"), r"your weights: expected numbers \(9, 5, 5\); got str"),
        (lambda own, q, k, v, mask: (v, np.full((9, 5, 5), np.nan)), "your weights leave .* nan; expected 1.0000"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_lab_02s_attention_is_told(small, labs, change, told):
    heads = published_heads.heads_of_block("a dog", block=1)
    own = labs["02_self_attention"]["scaled_dot_product_attention"]
    with pytest.raises(ValueError, match=told):
        heads.compare(change(own, heads.q, heads.k, heads.v, heads.mask))


# -- lab 03 ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "sizes"), [("GroupedQueryAttention", (576, 9, 3)), ("MultiHeadAttention", (576, 9))])
def test_lab_03s_layers_read_as_the_lectures_class_does(small, labs, name, sizes):
    model, ids = PlainSmolLM2(small[0]), RNG.integers(273, size=(2, 8))
    weights, nats = published_heads.read_through(labs["03_multi_head_attention"][name](*sizes), ids)
    log_p, _ = model(ids[:, :-1])
    np.testing.assert_allclose(weights, model.weights, atol=1e-4)
    np.testing.assert_allclose(nats, -np.take_along_axis(log_p, ids[:, 1:, None], axis=-1)[..., 0], atol=1e-3)


def test_a_layer_of_lab_03_that_deals_out_its_key_heads_otherwise_is_told_where(small, labs):
    own = labs["03_multi_head_attention"]

    class Tiled(own["GroupedQueryAttention"]):
        def call(self, query, key, value, attention_mask=None, return_weights=False):  # key heads 0 1 2 0 1 2 …
            order = np.arange(9).reshape(3, 3).T.reshape(-1)
            heads = ops.take(ops.reshape(query, (*query.shape[:2], 9, 64)), order, axis=2)
            mixed = ops.reshape(heads, query.shape)
            return super().call(mixed, key, value, attention_mask, return_weights)

    with pytest.raises(
        ValueError, match=r"block 0: the weights of your Tiled leave the published model at row 0, head 1"
    ):
        published_heads.read_through(Tiled(576, 9, 3), RNG.integers(273, size=(1, 6)))
    with pytest.raises(ValueError, match=r"“w_k.kernel” has the shape \(576, 64\)"):
        published_heads.read_through(own["GroupedQueryAttention"](576, 9, 1), RNG.integers(273, size=(1, 6)))


# -- lab 05 ------------------------------------------------------------------------------------------------------------


def test_lab_05s_rotary_turns_by_another_base_pair_by_pair(small, labs):
    names = dict(labs["05_positional_encoding"])
    assert "base 100,000" in shown("05_positional_encoding", "smollm2", names)
    ids = small[1].encode("a dog")
    log_p, _ = PlainSmolLM2(small[0])([ids])
    right = -log_p[0, np.arange(4), ids[1:]]
    np.testing.assert_allclose(published_heads.losses("a dog", names["slower"], 100_000), right, atol=1e-3)
    with pytest.raises(ValueError, match=r"your turned numbers leave .* at row 0, head 0, position 1, column 2"):
        published_heads.losses("a dog", names["rotary"], 100_000)


WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "dog", "runs", "black"]


def test_lab_05s_embedding_gives_the_encoder_its_positions(labs):
    own = labs["05_positional_encoding"]["TokenAndPositionEmbedding"]
    tables = [RNG.normal(size=shape).astype("float32") for shape in ((8, 12), (16, 12))]
    given = SentenceEncoder([], *tables, lambda x: np.asarray(x), WordPieces(WORDS))
    texts = ["the dog runs", "black dog"]
    np.testing.assert_allclose(given.embedded_by(own)(texts), given(texts), atol=1e-5)

    class Late(own):
        def call(self, ids):  # the first token gets position 1
            return self.token_embedding(ids) + self.position_embedding(np.arange(1, ids.shape[1] + 1))

    class Small(own):
        def __init__(self, **sizes):
            super().__init__(**{**sizes, "max_length": 4})

    with pytest.raises(ValueError, match="the vectors of your Late leave the published model at row 0, position 0"):
        given.embedded_by(Late)
    with pytest.raises(ValueError, match=r"“position_embedding.embeddings” has the shape \(4, 12\)"):
        given.embedded_by(Small)


# -- lab 08b -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_given", [False, True])
def test_a_step_gives_what_the_whole_list_gives_whatever_was_asked_before(small, labs, is_given):
    own = None if is_given else labs["08b_generating_text"]["cached_attention"]
    step, model = published_heads.NextToken("a dog", own), PlainSmolLM2(small[0])
    before = small[1].encode("a dog")
    for later in ([], [30], [31], [30, 40], [31, 41], [30, 40, 50], [], [99]):  # a beam, then another search
        right = model([[*before, *later]])[0][0, -1]
        found = step([step.start_id, *later])
        assert np.isneginf(found[:17]).all()
        np.testing.assert_allclose(found[17:], right[17:], atol=1e-3)
    assert step.text([step.start_id, *small[1].encode("b c")]) == "b c"


def test_what_is_wrong_in_lab_08bs_cache_is_told(small, labs):
    own = labs["08b_generating_text"]["cached_attention"]

    def forgets(query, key, value, cache=None):
        return own(query, key, value, tuple(part[:, :, 1:] for part in cache))

    def bare(query, key, value, cache=None):
        return own(query, key, value, cache)[0]

    for wrong, told in ((forgets, "block 0: the outputs of your cached_attention leave"), (bare, "expected the tuple")):
        step = published_heads.NextToken("a dog", wrong)
        step([step.start_id])
        with pytest.raises(ValueError, match=told):
            step([step.start_id, 30])


# -- the cells of the labs ---------------------------------------------------------------------------------------------


def shown(lab, name, names):
    """What a cell of a lab prints with `TALK = True`; its names are put into `names`."""
    names["TALK"] = True
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(compile(code_cells(lab)[name], f"<{lab}: {name}>", "exec"), names)
    return said.getvalue()


@pytest.mark.parametrize("lab", ["02_self_attention", "03_multi_head_attention", "08b_generating_text"])
def test_a_labs_cell_runs_with_a_small_model(small, labs, lab, monkeypatch):
    block, step = published_heads.heads_of_block, published_heads.NextToken
    noise = np.tile(RNG.integers(273, size=(1, 64)), 2)
    monkeypatch.setattr(published_heads, "heads_of_block", lambda text, **_: block(text, block=1))
    monkeypatch.setattr(published_heads, "said_twice", lambda **_: noise)
    monkeypatch.setattr(published_heads, "NextToken", lambda text, own=None: step("a dog", own))
    assert shown(lab, "smollm2", dict(labs[lab]))


@pytest.mark.parametrize("lab", LABS)
def test_what_needs_a_published_model_is_off_and_no_grader_runs_it(lab):
    cells = nbformat.read(ROOT / "solutions" / lab / f"{lab}.ipynb", as_version=4).cells
    talking = [cell for cell in cells if cell.cell_type == "code" and "TALK" in cell.source]
    assert all("demonstration" in cell.metadata.tags for cell in talking)
    assert [cell.source.startswith(("TALK = False", "if TALK:\n")) for cell in talking] == [True] * len(talking)
    assert lab not in CAPSTONES or len(talking) == 1 + len(CAPSTONES[lab])


REQUIRED = os.environ.get("REQUIRE_MODELS", "0") not in ("", "0")
SAID = {
    "02_self_attention": ["at brown 0.91, black 0.93", "at black 0.91, brown 0.92", "at wet 0.88, old 0.89"],
    "03_multi_head_attention": [
        "the token before: block 16 head 0 0.91", "first copy: block 18 head 6 0.91, block 17 head 3 0.79",
        "above one half: 7 of 270 heads; the median head: 0.003", "first copy 14.2 nats a token, second copy 1.9",
    ],
    "05_positional_encoding": [
        "base 100,000  3.78", "base 10,000   3.88", "no turn       5.18", "twin 0.9837, with the company 0.00",
        "twin 1.0000, with the company 0.06",
    ],
    "08b_generating_text": [
        "greedy     log p  -18.0  ' The dog is running towards the black dog. The dog is running towards the",
        "beam of 3  log p  -16.4",
    ],
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("lab", CAPSTONES)
def test_a_labs_cells_say_with_the_published_model_what_the_lab_says(lab, labs):
    for model in ["smollm2"] + ["minilm"] * ("minilm" in CAPSTONES[lab]):
        if not REQUIRED and not published_models.is_here(model):
            pytest.skip(f"the published model {model} is not here: course data {model}")
    names = dict(labs[lab])
    said = "".join(shown(lab, name, names) for name in CAPSTONES[lab])
    for line in SAID[lab]:
        assert line in said, said

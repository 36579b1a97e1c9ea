"""The small BERT in the page gives the encoder's own numbers, and cuts a sentence as the library's tokenizer does."""

from __future__ import annotations

import csv
import shutil
import threading
from functools import partial
from http.server import ThreadingHTTPServer

import numpy as np
import pytest
from models_in_pages import attention, small_bert
from test_web_site import COURSE, Quiet
from test_web_site import window as window  # a fixture

from coursekit.lecture import bert

tf = pytest.importorskip("tensorflow")
pytest.importorskip("tensorflow_text")

pytestmark = [pytest.mark.long, pytest.mark.slow]

STRANGE = [
    "Naïve strikers WON'T score: 3-0!",
    "unbelievable",
    "Straße, ΣΊΣΥΦΟΣ and İstanbul; ıssız (ﬁne print)",
    "a\tb\u00a0c\u200bd … “quoted” – 50 % $9.99 #tag @name [MASK] [unused1]",
    "東京 is 1,000 km from 서울 \U0001f600 é e\u0301",
    "x" * 101,
    "x" * 100 + " " + "é" * 60 + " " + "é" * 50,
    "pneumonoultramicroscopicsilicovolcanoconiosis",
    "",
    "  ... ",
]
TOLERANCE = 1e-4
_RUN = """
const [sentences, done] = arguments;
(async () => {
  const folder = new URL("/strip/", location.href);
  const [{ WordPieces }, { Network }, { load }] = await Promise.all(
    ["word_pieces.js", "network.js", "loading.js"].map((each) => import(new URL(each, folder))));
  const { arrays, pieces } = await load(folder, "small_bert");
  const cutter = new WordPieces(pieces), network = new Network(arrays);
  return sentences.map((sentence) => {
    const ids = [cutter.first, ...cutter.cut(sentence), cutter.last], run = network.run(ids);
    const likely = network.guess(run, 1);
    return {
      ids,
      states: [run.start, ...run.blocks.slice(0, -1).map((each) => each.after), run.final].map((each) => [...each]),
      weights: run.blocks.map((block) => block.heads.map((head) => [...head.weights])),
      likely: [...likely.keys()].sort((a, b) => likely[b] - likely[a]).slice(0, 5).map((each) => [each, likely[each]]),
    };
  });
})().then(done, (error) => done(String(error)));
"""


def sentences() -> list[str]:
    """Forty titles and beginnings of reviews of the samples, and ten that are hard to cut."""
    found = []
    for name in ("news_test", "reviews_test"):
        with (COURSE / "coursekit" / "data" / "samples" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))[:20]
        found += [max(row.values(), key=len)[:90] for row in rows]
    return found + STRANGE


@pytest.fixture(scope="module")
def strip(tmp_path_factory) -> str:
    """The address of a folder that holds the strip's scripts and the parameters, as the site does."""
    folder = tmp_path_factory.mktemp("strip")
    shutil.copytree(COURSE / "site" / "_static" / "strip", folder / "strip")
    small_bert().write(folder / "strip")
    (folder / "empty.html").write_text("<!doctype html><title>Empty</title>")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(scope="module")
def answers(window, strip) -> list[dict]:
    """What the page computes for each sentence."""
    window.driver.get(f"{strip}/empty.html")
    window.driver.set_script_timeout(120)
    answered = window.driver.execute_async_script(_RUN, sentences())
    assert isinstance(answered, list), answered
    return answered


def test_a_sentence_is_cut_as_the_library_cuts_it(answers):
    preprocess = tf.saved_model.load(bert.PREPROCESS)
    cut = preprocess.tokenize(tf.constant(sentences())).merge_dims(1, 2).to_list()
    assert [answer["ids"][1:-1] for answer in answers] == cut
    assert len(answers) == 50 and sum(map(len, cut)) > 500


def test_states_weights_and_guesses_are_the_encoders_with_the_same_rounded_parameters(answers):
    rounded = {name: value.astype("float32") for name, value in small_bert().parameters().items()}
    encoder = tf.saved_model.load(bert.ENCODER)
    for variable in encoder.mlm.variables:
        if (name := variable.name.split(":")[0]) in rounded:
            variable.assign(rounded[name])
    exact = {name: value.astype("float64") for name, value in rounded.items()}
    away = {"states": 0.0, "weights": 0.0, "guesses": 0.0}
    for answer in answers:
        ids = np.array([answer["ids"]], dtype="int32")
        rows = dict(zip(bert.INPUTS, (ids, np.ones_like(ids), np.zeros_like(ids)), strict=True))
        states = np.array(answer["states"]).reshape(4, ids.size, -1)
        own = np.concatenate([np.asarray(layer) for layer in encoder(rows)["encoder_outputs"]])
        away["states"] = max(away["states"], np.abs(states[1:] - own).max())
        weights = np.array(answer["weights"]).reshape(3, 4, ids.size, ids.size)
        away["weights"] = max(away["weights"], np.abs(weights - attention(ids[0], exact, "float64")).max())
        asked = {**rows, "masked_lm_positions": np.array([[1]], dtype="int32")}
        likely = tf.nn.softmax(encoder.mlm(asked)["mlm_logits"][0, 0]).numpy()
        pieces, shares = map(np.array, zip(*answer["likely"], strict=True))
        assert np.abs(np.sort(likely)[::-1][:5] - shares).max() < TOLERANCE
        away["guesses"] = max(away["guesses"], np.abs(likely[pieces.astype(int)] - shares).max())
    assert max(away.values()) < TOLERANCE, away

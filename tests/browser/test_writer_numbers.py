"""The language model in the page gives Keras's own logits, cuts text as lecture 10 does, and draws as it draws."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from models_in_pages import library_model
from test_strip_numbers import strip as strip  # a fixture
from test_web_site import COURSE
from test_web_site import window as window  # a fixture

from coursekit import data
from coursekit.lecture.pages.byte_pairs import PlainBytePairs
from coursekit.lecture.pages.parts import nucleus

pytestmark = [pytest.mark.long, pytest.mark.slow]

TOLERANCE = 1e-4
STRANGE = [
    "",
    "   ",
    "def f(x):\n    return x\n\n\n",
    "é\t\u2003x\x1cy \u0085z\ufeff  ü😀 == 12",
    "''''aaaaaaaaa  \n \n",
]
SETTINGS = [(0.0, 0.9), (0.3, 1.0), (0.7, 0.9), (1.0, 0.5), (1.5, 0.95)]
NUMBERS = [0.0, 0.31, 0.77, 0.999]
_RUN = """
const [texts, settings, numbers, done] = arguments;
(async () => {
  const folder = new URL("/strip/", location.href);
  const [{ BytePairs }, { LanguageModel }, { load }, { heated, nucleus, drawn, chance }] = await Promise.all(
    ["byte_pairs.js", "language_model.js", "loading.js", "sampling.js"].map((each) => import(new URL(each, folder))));
  const told = await load(folder, "library_model");
  const pairs = new BytePairs(told.merges), model = new LanguageModel(told.arrays, told.heads);
  const answers = texts.map((text) => {
    model.restart();
    const ids = [pairs.end, ...pairs.encode(text)].slice(0, 256);
    const logits = ids.map((id) => model.read(id)).at(-1);
    const draws = settings.map(([temperature, p]) => {
      const likely = heated(logits, temperature), cut = nucleus(likely, p);
      const kept = cut.order.slice(0, cut.kept);
      return { likely: [...likely], kept, drawn: numbers.map((each) => drawn(likely, cut, each)) };
    });
    return { ids, logits: [...logits], text: ids.map((id) => pairs.text(id)).join(""), draws };
  });
  const dice = [7, 7, 8].map((seed) => { const next = chance(seed); return Array.from({ length: 10000 }, next); });
  return { answers, dice };
})().then(done, (error) => done(String(error)));
"""


@cache
def prefixes() -> list[str]:
    """Beginnings of functions of this project, short and long, and five texts that are hard to cut."""
    (texts, _), (others, _) = data.library_functions(COURSE / "tests" / "fixed_library")
    longest = sorted(texts + others, key=len, reverse=True)[:30]
    return [longest[number % 30][: 8 + 8 * number] for number in range(45)] + STRANGE


@pytest.fixture(scope="module")
def answered(window, strip) -> dict:
    """What the page computes for each prefix, and three rows of random numbers."""
    window.driver.get(f"{strip}/empty.html")
    window.driver.set_script_timeout(300)
    found = window.driver.execute_async_script(_RUN, prefixes(), SETTINGS, NUMBERS)
    assert isinstance(found, dict), found
    return found


@pytest.fixture(scope="module")
def model():
    return library_model().load()


def test_a_text_is_cut_as_the_lecture_cuts_it(answered, model):
    pairs = PlainBytePairs([], 0)
    for left, right in model[1]["merges"]:
        pairs.merges.append((left, right))
        pairs.pieces.append(pairs.pieces[left] + pairs.pieces[right])
    pairs.end_id = len(pairs.pieces)
    expected = [[pairs.end_id, *ids][:256] for ids in pairs.encode(prefixes())]
    assert [answer["ids"] for answer in answered["answers"]] == expected
    assert len(expected) == 50 and max(map(len, expected)) > 150
    ascii_only = [text.isascii() for text in prefixes()]
    assert all(
        prefix.startswith(answer["text"])
        for prefix, answer, plain in zip(prefixes(), answered["answers"], ascii_only, strict=True)
        if plain
    )


def test_logits_are_keras_s_with_the_same_rounded_parameters(answered, model):
    away = 0.0
    for answer in answered["answers"]:
        own = model[0](np.array([answer["ids"]]))[0, -1].numpy()
        assert np.ptp(own) > 1
        away = max(away, float(np.abs(own - answer["logits"]).max()))
    assert away < TOLERANCE


def test_temperature_nucleus_and_draw_are_the_lecture_s(answered):
    cut_somewhere = 0
    for answer in answered["answers"]:
        logits = np.array(answer["logits"])
        for (temperature, p), draw in zip(SETTINGS, answer["draws"], strict=True):
            if temperature:
                likely = np.exp((logits - logits.max()) / temperature)
                likely /= likely.sum()
            else:
                likely = (np.arange(len(logits)) == logits.argmax()).astype(float)
            np.testing.assert_allclose(draw["likely"], likely, atol=1e-9)
            left = nucleus(likely, p)
            differ = set(draw["kept"]) ^ set(np.flatnonzero(left))  # sums are rounded in another order
            assert likely[list(differ)].sum() < 1e-12
            cut_somewhere += 1 < len(draw["kept"]) < len(logits)
            reached = np.cumsum(left[draw["kept"]])
            assert draw["drawn"] == [draw["kept"][int((reached > number).argmax())] for number in NUMBERS]
    assert cut_somewhere > 50


def test_a_seed_repeats_its_numbers_which_are_even(answered):
    first, again, other = (np.array(row) for row in answered["dice"])
    assert (first == again).all() and (first != other).mean() > 0.99
    for row in (first, other):
        assert row.min() >= 0 and row.max() < 1
        shares = np.histogram(row, 10, (0, 1))[0] / len(row)
        np.testing.assert_allclose(shares, 0.1, atol=6 * np.sqrt(0.09 / len(row)))

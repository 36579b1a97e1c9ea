"""Corpus BLEU of the experiments: by hand, and the paired bootstrap where its answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from programs import program


@pytest.fixture(scope="module")
def corpus():
    return program("experiments/corpus_bleu.py")


def test_bleu_by_hand(corpus):
    true = ["a", "seven", "left", "of", "a", "two"]
    assert np.isclose(corpus.bleu(np.array([corpus.overlaps(true, true)])), 100)
    other = corpus.overlaps(["a", "seven", "left", "of", "a", "one"], true)
    assert other.tolist() == [5, 6, 4, 5, 3, 4, 2, 3, 6, 6]
    assert np.isclose(corpus.bleu(np.array([other])), 100 * (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25)
    short = np.array([corpus.overlaps(["a", "seven", "left", "of"], true)])
    assert np.isclose(corpus.bleu(short), 100 * math.exp(1 - 6 / 4))
    repeated = corpus.overlaps(["a", "a", "a", "a"], true)
    assert repeated[:2].tolist() == [2, 4]  # two of the four are in the true sentence
    assert corpus.bleu(np.array([corpus.overlaps(["no", "word"], true)])) == 0
    assert corpus.bleu(np.array([corpus.overlaps([], true)])) == 0


def tables(corpus, rng, share):
    """Rows of sentences of ten words that copy a true word with this probability."""
    true = [[str(word) for word in row] for row in rng.integers(0, 50, (400, 10))]
    written = [[word if rng.random() < share else "other" for word in row] for row in true]
    return np.array([corpus.overlaps(*pair) for pair in zip(written, true, strict=True)])


def test_a_system_does_not_differ_from_itself(corpus):
    table = tables(corpus, np.random.default_rng(0), 0.8)
    assert corpus.paired_difference([table], [table]) == [0, 0, 0]
    shuffled = table[np.random.default_rng(1).permutation(len(table))]  # as good, on other sentences
    difference, low, high = corpus.paired_difference([table], [shuffled])
    assert np.isclose(difference, 0) and low < -1 and high > 1


def test_the_interval_is_that_of_the_pairs_and_holds_the_mean_over_runs(corpus):
    rng = np.random.default_rng(2)
    better, worse = tables(corpus, rng, 0.9), tables(corpus, rng, 0.7)
    difference, low, high = corpus.paired_difference([better, worse], [worse, worse])
    assert np.isclose(difference, (corpus.bleu(better) - corpus.bleu(worse)) / 2)
    assert 0 < low < difference < high
    back = corpus.paired_difference([worse, worse], [better, worse])
    np.testing.assert_allclose(back, [-difference, -high, -low])  # the same test sets are drawn


def test_the_interval_has_the_width_of_the_chance_in_the_sentences(corpus):
    """Half of the sentences are right, half hopeless: BLEU of a redrawn set is close to a function of a coin's sum."""
    right = corpus.overlaps(list("abcde"), list("abcde"))
    wrong = corpus.overlaps(list("vwxyz"), list("abcde"))
    mixed, all_right = np.array([right, wrong] * 200), np.array([right] * 400)
    difference, low, high = corpus.paired_difference([all_right], [mixed])
    assert np.isclose(difference, 50)
    assert abs((high - low) / 2 - 1.96 * 100 * 0.5 / math.sqrt(400)) < 0.7

"""The task and the readers of lecture 2: what is labelled, and what the four designs have in common at the start."""

import keras
import numpy as np
import pytest

from coursekit.lecture import clauses, readers


@pytest.fixture(scope="module")
def corpus():
    return clauses.corpus(count=300, tested=60)


def test_each_sentence_asks_for_two_words_and_holds_the_clue_of_each(corpus):
    assert ((corpus.labels >= 0).sum(axis=1) == 2).all()
    assert len(set(corpus.sentences)) == len(corpus.sentences) == len(corpus.ids)
    for sentence, labels in zip(corpus.sentences, corpus.labels, strict=True):
        for position in np.flatnonzero(labels >= 0):
            meaning = clauses.MEANINGS[labels[position]]
            assert meaning in clauses.CHOICES[sentence[position]]
            assert set(clauses.CLUES[meaning].split()) & set(sentence)


def test_a_clue_decides_the_words_of_its_own_clause(corpus):
    deciding = corpus.deciding()
    assert (deciding.sum(axis=-1) <= 1).all()
    for row, (sentence, labels) in enumerate(
        zip(corpus.sentences[corpus.test], corpus.labels[corpus.test], strict=True)
    ):
        for position in np.flatnonzero(labels >= 0):
            (key,) = np.flatnonzero(deciding[row, position])
            assert sentence[key] in clauses.CLUES[clauses.MEANINGS[labels[position]]].split()


def test_an_example_is_a_clause_with_its_word_and_enough_weight(corpus):
    weights = np.zeros((60, corpus.ids.shape[1], corpus.ids.shape[1]))
    weights += corpus.clues[corpus.test][:, None, :]
    number, (first, last), position = clauses.example(corpus, weights, "it", ".")
    sentence = corpus.sentences[corpus.test][number]
    assert sentence[position] == "it" and first <= position < last
    assert "." in sentence[first:last] and "and" not in sentence[first:last]
    with pytest.raises(LookupError):
        clauses.example(corpus, np.zeros_like(weights), "it", ".")


def test_designs_with_the_same_start_begin_with_the_same_weights(corpus):
    started = {}
    for cell, rows in readers.DESIGN.items():
        keras.utils.set_random_seed(1)
        started[cell] = keras.ops.convert_to_numpy(readers.reader(corpus, *rows)[1](corpus.ids[:5]))
    for start in ("soft", "sharp"):
        np.testing.assert_allclose(started[start, "small"], started[start, "large"], atol=1e-5)
    assert started["sharp", "large"].max(axis=-1).mean() > 2 * started["soft", "small"].max(axis=-1).mean()

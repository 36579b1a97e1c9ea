"""Sentences of two clauses, each with one ambiguous word, and what that word means there: the task of lecture 2.

The grammar is ours, so the sentences are artificial. Frames of one ambiguous word differ in one clue word; a third of
those about "it" are two sentences, so the pronoun stands in another sentence than its noun.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

CLUES = {
    "rail": "trains platforms tickets passengers", "radio": "music news songs interviews",
    "fruit": "sweet sticky ripe dried", "day": "early late final official",
    "animal": "tired hungry afraid asleep", "thing": "wide muddy icy flooded",
}  # fmt: skip
FRAMES = {
    "station": ["the station in our town is known for its {clue}",
                "the old station by the river lost its {clue}",
                "everybody likes the station with the {clue}"],
    "date": ["the date on the table seemed {clue}",
             "she said the date was too {clue}",
             "a {clue} date is what they wanted"],
    "it": ["the {animal} did not cross the {thing} because it was {clue}",
           "the {animal} stayed away from the {thing} . it was {clue}",
           "the {animal} ran along the {thing} although it was {clue}"],
}  # fmt: skip
MEANINGS = list(CLUES)
CHOICES = {"station": ["rail", "radio"], "date": ["fruit", "day"], "it": ["animal", "thing"]}


@dataclass(frozen=True)
class Corpus:
    """Sentences as ids.

    Attributes:
        sentences: the words of each, N tuples.
        vocabulary: the words by id; id 0 is padding.
        ids: (N, T) int32.
        labels: (N, T), the number of a meaning at each ambiguous word, -1 elsewhere.
        clues: (N, T) bool, which tokens are clue words.
        train, test: slices of the first axis; no sentence is in both.
    """

    sentences: list[tuple[str, ...]]
    vocabulary: list[str]
    ids: np.ndarray
    labels: np.ndarray
    clues: np.ndarray
    train: slice
    test: slice

    def deciding(self) -> np.ndarray:
        """(N, T, T) bool of the test sentences: is this key the clue word of the clause in which the query stands?"""
        ids, clues = self.ids[self.test], self.clues[self.test]
        clause_of = np.cumsum(ids == self.vocabulary.index("and"), axis=1)  # (N, T), 0 or 1
        return clues[:, None, :] & (clause_of[:, :, None] == clause_of[:, None, :])


def clause(word: str, rng: np.random.Generator) -> tuple[list[str], list[int]]:
    """Draw the words of one clause about an ambiguous word, and the label of each word."""
    meaning, frame = rng.choice(CHOICES[word]), rng.choice(FRAMES[word])
    animal, thing = rng.choice(["dog", "cat", "horse", "child"]), rng.choice(["road", "bridge", "river", "field"])
    words = frame.format(clue=rng.choice(CLUES[meaning].split()), animal=animal, thing=thing).split()
    return words, [MEANINGS.index(meaning) if written == word else -1 for written in words]


def corpus(count: int = 3500, tested: int = 500, seed: int = 0) -> Corpus:
    """Draw `count` different sentences; the last `tested` of them are for testing."""
    rng = np.random.default_rng(seed)
    drawn: dict[tuple[str, ...], list[int]] = {}
    while len(drawn) < count:
        first, second = rng.permutation(list(FRAMES))[:2]
        (words, meaning), (more_words, more_meaning) = clause(first, rng), clause(second, rng)
        drawn[(*words, "and", *more_words)] = [*meaning, -1, *more_meaning]
    vocabulary = ["", *sorted({word for words in drawn for word in words})]
    number = {word: i for i, word in enumerate(vocabulary)}
    length = max(map(len, drawn))
    ids, labels = np.zeros((count, length), "int32"), np.full((count, length), -1)
    for row, (sentence, meanings) in enumerate(drawn.items()):
        ids[row, : len(sentence)] = [number[word] for word in sentence]
        labels[row, : len(sentence)] = meanings
    clue_words = {clue for clues in CLUES.values() for clue in clues.split()}
    clues = np.isin(ids, [number[word] for word in clue_words])
    return Corpus(list(drawn), vocabulary, ids, labels, clues, slice(0, count - tested), slice(count - tested, None))


def example(
    corpus: Corpus, weights: np.ndarray, word: str, having: str, *, least: float = 0.8
) -> tuple[int, tuple[int, int], int]:
    """The first test sentence in which an ambiguous word puts more than `least` of its weight on its clue.

    Args:
        corpus: the sentences.
        weights: (N, T, T) of the test sentences.
        word: the ambiguous word.
        having: another word that its clause has.
        least: the weight that it needs.

    Returns:
        The number of the test sentence, where its clause begins and ends, and the position of the word.

    Raises:
        LookupError: there is no such sentence.
    """
    on_clue = (weights * corpus.deciding()).sum(axis=-1)  # (N, T)
    for number, sentence in enumerate(corpus.sentences[corpus.test]):
        position = sentence.index(word) if word in sentence else -1
        if position < 0 or on_clue[number, position] <= least:
            continue
        middle = sentence.index("and")
        bounds = (0, middle) if position < middle else (middle + 1, len(sentence))
        if having in sentence[slice(*bounds)]:
            return number, bounds, position
    raise LookupError(f'"{word}" puts more than {least} on its clue in no test sentence')

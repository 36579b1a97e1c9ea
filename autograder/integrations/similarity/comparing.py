"""Which pairs of submissions share passages that few others have, and how much of each these are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from autograder.integrations.similarity.documents import Document
from autograder.integrations.similarity.fingerprints import GRAM

LEAST_TOKENS = 40  # that two have in common; below it, chance is the simplest explanation
COMMON_SHARE = 0.1  # a passage that more of the class have is a usual way to write it
LEAST_COMMON = 10
_EXAMINED = 4  # times as many pairs as are asked for


@dataclass(frozen=True)
class Pair:
    """Two submissions: how many tokens the shared passages have, and which share they are of what is each one's own."""

    first: Document
    second: Document
    tokens: int
    of_first: float
    of_second: float
    shared: np.ndarray

    @property
    def likeness(self) -> float:
        """The larger of the two shares."""
        return max(self.of_first, self.of_second)


@dataclass(frozen=True)
class Comparison:
    """The pairs that are most alike; `common` passages count for nobody, as more than `most` submissions have them.

    `same` has each set of submissions of which all own code is the same but for names, comments and order.
    """

    pairs: list[Pair]
    common: int
    most: int
    same: list[list[Document]]


def compare(documents: Sequence[Document], *, pairs: int, most: int | None = None) -> Comparison:
    """Return the pairs that are most alike, the most alike first.

    A passage that more than `most` submissions have (a tenth of them, and ten at least, where nothing is said) counts
    for nobody. Between a submission and an earlier one, what counts is how many earlier ones have it: what much of the
    class took from one of them is what is looked for. Memory grows with the square of the number of documents, four
    bytes a pair.
    """
    earlier = np.array([document.earlier for document in documents], dtype=bool)
    most_of = [
        max(LEAST_COMMON, math.ceil(COMMON_SHARE * int(number))) if most is None else most
        for number in (np.sum(~earlier), np.sum(earlier))
    ]
    counts = np.zeros((len(documents), len(documents)), dtype=np.int32)
    common: list[list[int]] = [[], []]
    for number, owners in _shared_numbers(documents):
        now, before = owners[~earlier[owners]], owners[earlier[owners]]
        for kind, those in enumerate((now, before)):
            if len(those) > most_of[kind]:
                common[kind].append(number)
            elif kind == 0:
                counts[np.ix_(now, now)] += 1
            else:
                counts[np.ix_(now, before)] += 1
                counts[np.ix_(before, now)] += 1
    usual = [np.array(numbers, dtype=np.int64) for numbers in common]
    firsts, seconds = np.nonzero(np.triu(counts, 1))
    order = np.argsort(-counts[firsts, seconds], kind="stable")[: _EXAMINED * pairs]
    found = []
    for first, second in zip(firsts[order], seconds[order], strict=True):
        is_of_two_years = earlier[first] or earlier[second]
        pair = _pair(documents[first], documents[second], usual[int(is_of_two_years)])
        if pair.tokens >= LEAST_TOKENS:
            found.append(pair)
    found.sort(key=lambda pair: (-pair.likeness, -pair.tokens, pair.first.student, pair.second.student))
    return Comparison(found[:pairs], len(usual[0]), most_of[0], _same(documents))


def _same(documents: Sequence[Document]) -> list[list[Document]]:
    """The sets of documents with the same fingerprints, the largest first; not those of earlier ones alone."""
    sets: dict[bytes, list[Document]] = {}
    for document in documents:
        if _covered(document, np.ones(len(document.numbers), dtype=bool)) >= LEAST_TOKENS:
            sets.setdefault(np.sort(document.numbers).tobytes(), []).append(document)
    found = [each for each in sets.values() if len(each) > 1 and not all(document.earlier for document in each)]
    return sorted(found, key=len, reverse=True)


def _shared_numbers(documents: Sequence[Document]) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each number that two documents or more have, and who has it."""
    unique = [np.unique(document.numbers) for document in documents]
    numbers = np.concatenate([np.zeros(0, dtype=np.int64), *unique])
    owners = np.repeat(np.arange(len(documents)), [len(fingerprints) for fingerprints in unique])
    order = np.argsort(numbers, kind="stable")
    numbers, owners = numbers[order], owners[order]
    begins = np.flatnonzero(np.diff(numbers, prepend=-1))
    sizes = np.diff(np.append(begins, len(numbers)))
    for at, size in zip(begins, sizes, strict=True):
        if size > 1:
            yield int(numbers[at]), owners[at : at + size]


def _pair(first: Document, second: Document, common: np.ndarray) -> Pair:
    shared = np.setdiff1d(np.intersect1d(first.numbers, second.numbers), common)
    parts = []
    for document in (first, second):
        own = _covered(document, ~np.isin(document.numbers, common))
        parts.append((_covered(document, np.isin(document.numbers, shared)), own))
    (in_first, of_first), (in_second, of_second) = parts
    return Pair(
        first,
        second,
        min(in_first, in_second),
        in_first / of_first if of_first else 0.0,
        in_second / of_second if of_second else 0.0,
        shared,
    )


def _covered(document: Document, chosen: np.ndarray) -> int:
    """Count the tokens that the chosen fingerprints stand for."""
    cells, places = document.cells[chosen], document.places[chosen]
    order = np.lexsort((places, cells))
    cells, places = cells[order], places[order]
    if not len(places):
        return 0
    steps = np.where(np.diff(cells) == 0, np.minimum(np.diff(places), GRAM), GRAM)
    return int(steps.sum()) + GRAM

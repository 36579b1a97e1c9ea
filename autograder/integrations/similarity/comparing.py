"""Finds submissions that are more alike than chance makes them, with the library copydetect.

Code is text to it: Pygments cuts it into tokens; names, comments and layout count for nothing. All passages of `GRAM`
characters are compared, and none is winnowed away: which ones copydetect keeps depends on Python's hash of a text,
which differs between runs, and so would what is found. Its `compare_files` is asked for the likeliest pairs only: on
all pairs of a class it would take hours, if students hand in large files.
"""

from __future__ import annotations

import io
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from copydetect import CodeFingerprint, compare_files
from copydetect.utils import filter_code, get_token_coverage, hashed_kgrams, highlight_overlap
from markupsafe import Markup
from nbformat import NotebookNode
from scipy.sparse import csr_array, triu

from autograder.course.labs import Release
from autograder.course.text import printable
from autograder.read import CellStep, read_plan

GRAM = 25  # characters of filtered code, with each name as one: about two lines; copydetect's own choice
LEAST_ALIKE = 100  # characters that two have in common; below it, chance is the simplest explanation
COMMON_SHARE, LEAST_COMMON = 0.1, 10  # a passage that more of the class have is a usual way to write it
MOST_CHARACTERS = 50_000  # of a submission; honest ones have a tenth of it
MOST_SHOWN = 20_000  # of these on the page
_BETWEEN = "\n" * GRAM  # filtered code has no such sign: the order of cells says nothing
_EXAMINED = 4  # times as many pairs as are asked for


@dataclass(frozen=True)
class Text:
    """What a student wrote, as it is shown and as it is compared; `offsets` lead from one to the other.

    `cut` where it is so large that a part is not compared.
    """

    shown: str
    compared: str
    offsets: np.ndarray
    cut: bool = False


@dataclass(frozen=True)
class Document:
    """A submission to compare; `earlier` if only this year's are compared with it. `numbers` are its passages."""

    student: str
    text: Text
    numbers: np.ndarray
    earlier: bool = False

    @property
    def name(self) -> str:
        """Whose it is, for people."""
        return self.student + " (earlier)" * self.earlier


@dataclass(frozen=True)
class Pair:
    """Two submissions: which share of what is each one's own is alike, and both texts with that marked, escaped."""

    first: Document
    second: Document
    characters: int
    of_first: float
    of_second: float
    shown: tuple[Markup, Markup]


@dataclass(frozen=True)
class Comparison:
    """The pairs that are most alike, without the `common` passages that more than `most` submissions have.

    `same` has each set of submissions that are the same as a whole, but for names, comments and the order of cells.
    """

    pairs: list[Pair]
    same: list[list[Document]]
    common: int
    most: int


@dataclass(frozen=True, eq=False)
class TextReader:
    """Reads submissions; it does so in a child process, under the limits of grading."""

    release: Release
    known: Mapping[str, Collection[str]]

    def read(self, data: bytes) -> Text:
        """Return the code cells and answers in words that are not the release's. Raises Unreadable where none are."""
        plan = read_plan(data, self.release, self.known)
        given = {cell.source.strip() for cell in self.release.cells}
        code = dict.fromkeys(step.source for step in plan.steps if isinstance(step, CellStep) and not step.locked)
        words = [cell.source for cell in plan.manual if not cell.untouched]
        return filter_cells(
            (text for text in code if text.strip() not in given), (w for w in words if w.strip() not in given)
        )


def read_given_text(release: NotebookNode) -> Text:
    """Return what the lab says, in code and in words."""
    cells = [(cell["cell_type"] == "code", cell["source"]) for cell in release["cells"]]
    return filter_cells((text for is_code, text in cells if is_code), (text for is_code, text in cells if not is_code))


def filter_cells(code: Iterable[str], words: Iterable[str]) -> Text:
    """Return cells of code and of words as they are compared. All that acts in a terminal or on a page is replaced."""
    shown, compared, cut = "", _BETWEEN, False
    offsets = [np.zeros((1, 2), dtype=np.int64)]
    for is_code, cells in ((True, code), (False, words)):
        for cell in cells:
            whole = "\n".join(cell.splitlines()).strip() if is_code else " ".join(cell.split()).lower()
            source = printable(whole[: max(0, MOST_CHARACTERS - len(shown))])
            cut = cut or len(source) < len(whole)
            if not source:
                continue
            text, places = filter_code(source, "", "python") if is_code else (source, np.zeros((0, 2), dtype=np.int64))
            removed = len(shown) - len(compared)  # so far; behind the last token of this cell it is `end`
            end = removed + len(source) - len(text)
            offsets.append(np.maximum.accumulate(places) + np.array((len(compared), removed)))
            offsets.append(np.array([(len(compared) + len(text), end)]))
            shown, compared = f"{shown}{source}\n\n", f"{compared}{text}{_BETWEEN}"
    return Text(shown, compared, np.concatenate(offsets), cut)


def make_document(student: str, text: Text, given: Text, *, earlier: bool = False) -> Document:
    """Return a submission to be compared, without the passages that the lab itself has."""
    numbers = np.setdiff1d(hashed_kgrams(text.compared, GRAM), hashed_kgrams(given.compared, GRAM))
    return Document(student, text, numbers.astype(np.int64), earlier)


def compare(documents: Sequence[Document], *, pairs: int, most: int | None = None) -> Comparison:
    """Return the pairs that are most alike, the most alike first, and what is the same as a whole.

    A passage that more than `most` submissions have (a tenth of them, and ten at least, where nothing is said) counts
    for nobody. Between a submission and an earlier one, what counts is how many earlier ones have it: what much of the
    class took from one of them is what is looked for.
    """
    earlier = np.array([document.earlier for document in documents], dtype=bool)
    numbers, columns = np.unique(np.concatenate([each.numbers for each in documents]), return_inverse=True)
    rows = np.repeat(np.arange(len(documents)), [len(each.numbers) for each in documents])
    has = csr_array((np.ones(len(rows), dtype=np.int32), (rows, columns)), shape=(len(documents), len(numbers)))
    found, limits, usual = list[tuple[int, int, int, int]](), list[int](), list[set[int]]()
    for kind, others in enumerate((~earlier, earlier)):
        limits.append(max(LEAST_COMMON, math.ceil(COMMON_SHARE * int(others.sum()))) if most is None else most)
        rare = np.asarray(has[others].sum(axis=0)).ravel() <= limits[kind]
        usual.append(set(numbers[~rare].tolist()))
        left, right = has[~earlier][:, rare], has[others][:, rare]
        counts = (left @ right.T if kind else triu(left @ right.T, 1)).tocoo()
        firsts, seconds = np.flatnonzero(~earlier)[counts.row], np.flatnonzero(others)[counts.col]
        found += zip(counts.data.tolist(), firsts.tolist(), seconds.tolist(), [kind] * counts.nnz, strict=True)
    best = sorted(found, key=lambda each: (-each[0], each[1:]))[: _EXAMINED * pairs]
    examined = [_compare_pair(documents[first], documents[second], usual[kind]) for _, first, second, kind in best]
    alike = [pair for pair in examined if pair.characters >= LEAST_ALIKE]
    alike.sort(key=lambda pair: (-max(pair.of_first, pair.of_second), -pair.characters, pair.first.name))
    sets: dict[bytes, list[Document]] = {}
    for each in documents:
        if len(each.numbers) + GRAM > LEAST_ALIKE:
            sets.setdefault(each.numbers.tobytes(), []).append(each)
    same = [each for each in sets.values() if len(each) > 1 and not all(document.earlier for document in each)]
    return Comparison(alike[:pairs], sorted(same, key=len, reverse=True), len(usual[0]), limits[0])


def _compare_pair(first: Document, second: Document, usual: set[int]) -> Pair:
    prints = [_take_fingerprint(each, usual) for each in (first, second)]
    characters, shares, slices = compare_files(*prints)
    marked = [
        Markup(highlight_overlap(each.text.shown[:MOST_SHOWN], places, "<mark>", "</mark>", 3, escape_html=True)[0])
        if len(places)
        else Markup("")
        for each, places in zip((first, second), slices, strict=True)
    ]
    return Pair(first, second, int(characters), float(shares[0]), float(shares[1]), (marked[0], marked[1]))


def _take_fingerprint(each: Document, usual: set[int]) -> CodeFingerprint:
    """What copydetect compares. Its own way to leave passages out takes a repeated one for one that is to go."""
    found = CodeFingerprint(each.student, GRAM, 1, filter=False, fp=io.StringIO(each.text.compared))
    found.hashes = found.hashes.intersection(each.numbers.tolist()) - usual
    found.hash_idx = {number: found.hash_idx[number] for number in found.hashes}
    found.token_coverage = get_token_coverage(found.hash_idx, GRAM, len(each.text.compared))
    found.offsets = each.text.offsets
    return found

"""A submission as it is compared: the student's own cells, without the release's, and their fingerprints."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from nbformat import NotebookNode

from autograder.integrations.similarity.fingerprints import fingerprints, grams
from autograder.integrations.similarity.normalising import (
    Token,
    affordable,
    chosen_attributes,
    code_tokens,
    prose_tokens,
    read_code,
)
from autograder.submission import CellStep, Children, FoundSubmission, read_plan, read_release
from autograder.submission.skeleton import Release
from coursekit.cells import MAX_CHARACTERS


@dataclass(frozen=True)
class OwnCell:
    """A cell that a student wrote or filled in, as text and as tokens; `whole` unless part of it is not compared."""

    source: str
    tokens: list[Token]
    whole: bool = True


@dataclass(frozen=True)
class Document:
    """One submission's fingerprints: `numbers`, and for each the `cells` and the `places` in the cell where it begins.

    The text itself is not kept: a class's would fill the memory. `earlier` for one that others are compared with, and
    that is not compared with its own kind. `cut` cells are so large that part of them is not compared.
    """

    found: FoundSubmission
    numbers: np.ndarray
    cells: np.ndarray
    places: np.ndarray
    tokens: int
    cut: int = 0
    earlier: bool = False

    @property
    def student(self) -> str:
        return self.found.student


Fingerprints = tuple[np.ndarray, np.ndarray, np.ndarray, int, int]


class Documents:
    """Reads submissions of one lab for comparison, in child processes, under the limits of grading.

    Args:
        release: the lab as students get it.
        known: grade_ids of each lab of the course.
    """

    def __init__(self, release: NotebookNode, known: Mapping[str, Collection[str]]):
        self._children = Children(DocumentReader(read_release(release), known, given_grams(release)))

    def document(self, found: FoundSubmission, *, earlier: bool = False) -> Document:
        """Return a submission's fingerprints without the release's.

        Raises:
            Unreadable: the submission is none, or takes more than it may.
            ReaderLost: no process could read it.
        """
        numbers, cells, places, tokens, cut = self._children.ask("fingerprints", found.read())
        return Document(found, numbers, cells, places, tokens, cut, earlier)

    def own_cells(self, found: FoundSubmission) -> list[OwnCell]:
        """Return the student's code cells and answers in words. Raises the same as `document`."""
        cells: list[OwnCell] = self._children.ask("own_cells", found.read())
        return cells


@dataclass(frozen=True, eq=False)
class DocumentReader:
    """What `Documents` has its children do; `given` are the numbers of what the release itself says."""

    release: Release
    known: Mapping[str, Collection[str]]
    given: np.ndarray

    def own_cells(self, data: bytes) -> list[OwnCell]:
        """Return the student's cells. Raises Unreadable where the bytes are no submission."""
        plan = read_plan(data, self.release, self.known)
        given = {cell.source.strip() for cell in self.release.cells}
        sources = [step.source for step in plan.steps if isinstance(step, CellStep) and not step.locked]
        code = [source for source in dict.fromkeys(sources) if source.strip() not in given]
        prose = [cell.source for cell in plan.manual if not cell.untouched and cell.source.strip() not in given]
        read = affordable(code)
        chosen = chosen_attributes(source for source, within in zip(code, read, strict=True) if within)
        return [
            OwnCell(source, *(read_code(source, chosen) if within else ([], False)))
            for source, within in zip(code, read, strict=True)
        ] + [OwnCell(text, prose_tokens(text), len(text) <= MAX_CHARACTERS) for text in prose]

    def fingerprints(self, data: bytes) -> Fingerprints:
        """Return the numbers, cells, places, count of tokens and of cut cells of a `Document`."""
        return fingerprinted(self.own_cells(data), self.given)


def fingerprinted(cells: list[OwnCell], given: np.ndarray) -> Fingerprints:
    """Return the fingerprints of cells without those `given`: numbers, cells, places, tokens and cut cells, counted."""
    numbers, at_cells, places = [], [], []
    for at, cell in enumerate(cells):
        kept, where = fingerprints(cell.tokens)
        own = ~np.isin(kept, given)
        numbers.append(kept[own])
        places.append(where[own])
        at_cells.append(np.full(int(own.sum()), at, dtype=np.int64))
    empty = np.zeros(0, dtype=np.int64)
    joined = (np.concatenate([empty, *arrays]) for arrays in (numbers, at_cells, places))
    cut = sum(not cell.whole for cell in cells)
    return (*joined, sum(len(cell.tokens) for cell in cells), cut)  # type: ignore[return-value]


def given_grams(release: NotebookNode) -> np.ndarray:
    """Return the numbers of all that the release itself says, in code and in words."""
    code = [cell["source"] for cell in release["cells"] if cell["cell_type"] == "code"]
    chosen = chosen_attributes(code)
    found = [grams(code_tokens(source, chosen)) for source in code]
    found += [grams(prose_tokens(cell["source"])) for cell in release["cells"]]
    return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]))

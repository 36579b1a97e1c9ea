"""A submission as it is compared: the student's own cells, without the release's, and their fingerprints."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from nbformat import NotebookNode

from autograder.similarity.fingerprints import fingerprints, grams
from autograder.similarity.normalising import Token, chosen_attributes, code_tokens, prose_tokens
from autograder.submission import CellStep, FoundSubmission, read_plan


@dataclass(frozen=True)
class OwnCell:
    """A cell that a student wrote or filled in, as text and as tokens."""

    source: str
    tokens: list[Token]


@dataclass(frozen=True)
class Document:
    """One submission's fingerprints: `numbers`, and for each the `cells` and the `places` in the cell where it begins.

    The text itself is not kept: a class's would fill the memory. `earlier` for one that others are compared with, and
    that is not compared with its own kind.
    """

    found: FoundSubmission
    numbers: np.ndarray
    cells: np.ndarray
    places: np.ndarray
    tokens: int
    earlier: bool = False

    @property
    def student(self) -> str:
        return self.found.student


def own_cells(found: FoundSubmission, release: NotebookNode, known: Mapping[str, Collection[str]]) -> list[OwnCell]:
    """Return the student's code cells and answers in words, read under the limits of grading.

    Raises:
        Unreadable: the submission is none.
    """
    plan = read_plan(found.read(), release, known)
    given = {cell["source"].strip() for cell in release["cells"]}
    sources = [step.source for step in plan.steps if isinstance(step, CellStep) and not step.locked]
    code = [source for source in dict.fromkeys(sources) if source.strip() not in given]
    prose = [cell.source for cell in plan.manual if not cell.untouched and cell.source.strip() not in given]
    chosen = chosen_attributes(code)
    return [OwnCell(source, code_tokens(source, chosen)) for source in code] + [
        OwnCell(text, prose_tokens(text)) for text in prose
    ]


def document(found: FoundSubmission, cells: list[OwnCell], given: np.ndarray, *, earlier: bool = False) -> Document:
    """Return a submission's fingerprints without those `given`, the release's."""
    numbers, at_cells, places = [], [], []
    for at, cell in enumerate(cells):
        kept, where = fingerprints(cell.tokens)
        own = ~np.isin(kept, given)
        numbers.append(kept[own])
        places.append(where[own])
        at_cells.append(np.full(int(own.sum()), at, dtype=np.int64))
    empty = np.zeros(0, dtype=np.int64)
    return Document(
        found,
        np.concatenate([empty, *numbers]),
        np.concatenate([empty, *at_cells]),
        np.concatenate([empty, *places]),
        sum(len(cell.tokens) for cell in cells),
        earlier,
    )


def given_grams(release: NotebookNode) -> np.ndarray:
    """Return the numbers of all that the release itself says, in code and in words."""
    code = [cell["source"] for cell in release["cells"] if cell["cell_type"] == "code"]
    chosen = chosen_attributes(code)
    found = [grams(code_tokens(source, chosen)) for source in code]
    found += [grams(prose_tokens(cell["source"])) for cell in release["cells"]]
    return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]))

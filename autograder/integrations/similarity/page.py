"""Writes the page of similar submissions: pairs side by side, what they share marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from autograder.course.printable import printable
from autograder.course.settings import Course, CourseLab
from autograder.integrations.similarity.comparing import Comparison, Pair
from autograder.integrations.similarity.documents import Document, Documents, OwnCell
from autograder.integrations.similarity.fingerprints import GRAM, LONGEST_MISSED
from autograder.pages.rendering import render

MOST_LINES = 400  # of one cell
MOST_CHARACTERS = 300  # of one line


def similar_page(
    course: Course,
    lab: CourseLab,
    documents: Sequence[Document],
    comparison: Comparison,
    unread: Sequence[str],
    reading: Documents,
) -> bytes:
    """The page as HTML. Every text of a student is escaped; the page holds no script.

    `reading` gives the text of the submissions that are shown.
    """
    return render(
        "similar.html.j2",
        course=course,
        lab=lab,
        count=sum(not document.earlier for document in documents),
        earlier=sum(document.earlier for document in documents),
        comparison=comparison,
        shortest=LONGEST_MISSED + 1,
        pairs=[
            {
                "pair": pair,
                "rows": list(_rows(pair, *(_cells(document, reading) for document in (pair.first, pair.second)))),
            }
            for pair in comparison.pairs
        ],
        unread=unread,
    )


def _cells(document: Document, reading: Documents) -> list[OwnCell]:
    with suppress(Exception):  # it was read a moment ago: somebody has taken it away since
        return reading.own_cells(document.found)
    return []


def _rows(pair: Pair, first: list[OwnCell], second: list[OwnCell]) -> Iterator[tuple[Any, Any]]:
    """Yield the cells with shared passages, each beside the cell of the other that shares most with it."""
    left = _shared_places(pair.first, pair.shared)
    right = _shared_places(pair.second, pair.shared)
    shown: set[int] = set()
    for at, places in left.items():
        numbers = {number for number, _ in places}
        partner = max(
            right, key=lambda other: (len(numbers & {number for number, _ in right[other]}), -other), default=None
        )
        beside = None
        if partner is not None and partner not in shown:
            shown.add(partner)
            beside = _lines(second, partner, right[partner])
        yield _lines(first, at, places), beside
    for at, places in right.items():
        if at not in shown:
            yield None, _lines(second, at, places)


def _shared_places(document: Document, shared: np.ndarray) -> dict[int, list[tuple[int, int]]]:
    """Return the shared numbers and their places, by cell."""
    found: dict[int, list[tuple[int, int]]] = {}
    for at in np.flatnonzero(np.isin(document.numbers, shared)):
        found.setdefault(int(document.cells[at]), []).append((int(document.numbers[at]), int(document.places[at])))
    return dict(sorted(found.items()))


def _lines(cells: list[OwnCell], at: int, places: list[tuple[int, int]]) -> list[tuple[str, bool]]:
    """Return a cell's lines, and of each whether it stands in a shared passage."""
    if at >= len(cells):
        return []
    tokens = cells[at].tokens
    marked = {token.line for _, place in places for token in tokens[place : place + GRAM]}
    lines = cells[at].source.splitlines()
    shown = [
        (printable(line[:MOST_CHARACTERS]) + "…" * (len(line) > MOST_CHARACTERS), number in marked)
        for number, line in enumerate(lines[:MOST_LINES], start=1)
    ]
    return shown + [(f"… {len(lines) - MOST_LINES} more lines", False)] * (len(lines) > MOST_LINES)

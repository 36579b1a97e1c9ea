"""Lecture 10's tokenizer: byte-pair encoding (Gage 1994; Sennrich et al. 2016) on flat NumPy arrays."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import numpy as np

# What is cut before any pair is counted, so that no token joins a name with a bracket: names, digits, signs, line ends
# with the indentation behind them, other spaces.
CHUNK = re.compile(r" ?[A-Za-z_]+| ?[0-9]| ?[^\sA-Za-z_0-9]+|\n *|\s+")
BREAK = -1  # between two chunks of a flat array


def flat(chunks: Iterable[str]) -> np.ndarray:
    """The bytes of all chunks in one row (N,), each chunk with BREAK behind it."""
    return np.concatenate([np.zeros(0, int), *([*chunk.encode(), BREAK] for chunk in chunks)])


def merged(ids: np.ndarray, pair: tuple[int, int], new: int) -> tuple[np.ndarray, np.ndarray]:
    """Replace a pair by a new id, from left to right: the new row, and which positions (N,) of the old one it keeps."""
    hits = np.flatnonzero((ids[:-1] == pair[0]) & (ids[1:] == pair[1]))
    if pair[0] == pair[1]:  # in a run such as "aaa" every second hit overlaps the one before
        begins = np.diff(hits, prepend=-2) != 1
        hits = hits[(hits - np.maximum.accumulate(np.where(begins, hits, 0))) % 2 == 0]
    kept = np.ones(len(ids), bool)
    kept[hits + 1] = False
    ids = ids.copy()
    ids[hits] = new
    return ids[kept], kept


class PlainBytePairs:
    """A tokenizer: ids 0 to 255 are bytes, merge k makes id 256 + k, and `end_id` stands behind each document."""

    def __init__(self, texts: Iterable[str], num_merges: int):
        counts = Counter(chunk for text in texts for chunk in CHUNK.findall(text))
        ids = flat(counts)
        weights = np.repeat(list(counts.values()), [len(chunk.encode()) + 1 for chunk in counts])
        self.merges: list[tuple[int, int]] = []
        self.pieces = [bytes([byte]) for byte in range(256)]
        for size in range(256, 256 + num_merges):
            inside = (ids[:-1] != BREAK) & (ids[1:] != BREAK)
            pairs = ids[:-1][inside] * size + ids[1:][inside]
            best = divmod(int(np.argmax(np.bincount(pairs, weights[:-1][inside]))), size)
            self.merges.append(best)
            self.pieces.append(self.pieces[best[0]] + self.pieces[best[1]])
            ids, kept = merged(ids, best, size)
            weights = weights[kept]
        self.end_id = len(self.pieces)
        self.token_bytes = np.array([*map(len, self.pieces), 0])  # (V,): the end has no byte

    @classmethod
    def of(cls, merges: Iterable[tuple[int, int]]) -> PlainBytePairs:
        """A tokenizer of merges that were learned elsewhere."""
        found = cls(["."], 0)
        for one, two in merges:
            found.merges.append((one, two))
            found.pieces.append(found.pieces[one] + found.pieces[two])
        found.end_id = len(found.pieces)
        found.token_bytes = np.array([*map(len, found.pieces), 0])
        return found

    def encode(self, texts: Iterable[str]) -> list[list[int]]:
        """The ids of each text, without the end: all merges in the order in which they were learned."""
        cut = [CHUNK.findall(text) for text in texts]
        chunks = list(dict.fromkeys(chunk for text in cut for chunk in text))
        ids = flat(chunks)
        for rank, pair in enumerate(self.merges):
            ids, _ = merged(ids, pair, 256 + rank)
        rows = np.split(ids, np.flatnonzero(ids == BREAK) + 1)
        ids_of = {chunk: row[:-1].tolist() for chunk, row in zip(chunks, rows, strict=False)}
        return [[number for chunk in text for number in ids_of[chunk]] for text in cut]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids; the end is nothing, and bytes that are no UTF-8 become U+FFFD."""
        joined = b"".join(self.pieces[number] for number in ids if number != self.end_id)
        return joined.decode("utf-8", errors="replace")

    def stream(self, texts: Iterable[str]) -> np.ndarray:
        """All texts in one row of int32, each with the end behind it."""
        return np.array([number for ids in self.encode(texts) for number in (*ids, self.end_id)], "int32")

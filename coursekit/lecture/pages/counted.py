"""Lecture 10's baselines without a network: counted tokens, and a program that packs files."""

from __future__ import annotations

import zlib
from collections import Counter
from itertools import pairwise

import numpy as np

ZLIB_WINDOW = 32_768


class WittenBell:
    """A counted model: each context's counts, mixed with those of the context that is one token shorter.

    The shorter one gets the weight kinds / (kinds + count), where `kinds` is how many different tokens followed
    (Witten and Bell 1991); the shortest of all is equal shares.
    """

    def __init__(self, stream: np.ndarray, order: int, vocab_size: int):
        self.order, self.vocab_size = order, vocab_size
        ids = stream.tolist()
        self.grams = [
            Counter(zip(*(ids[place:] for place in range(length)), strict=False)) for length in range(1, order + 1)
        ]
        self.contexts: list[dict[tuple[int, ...], tuple[int, int]]] = []  # by length: (count, kinds)
        for grams in self.grams:
            found: dict[tuple[int, ...], tuple[int, int]] = {}
            for gram, count in grams.items():
                total, kinds = found.get(gram[:-1], (0, 0))
                found[gram[:-1]] = total + count, kinds + 1
            self.contexts.append(found)

    def probability(self, context: tuple[int, ...], token: int) -> float:
        """p(token | context), the context at most order − 1 tokens long."""
        shorter = self.probability(context[1:], token) if context else 1 / self.vocab_size
        total, kinds = self.contexts[len(context)].get(context, (0, 1))
        return (self.grams[len(context)][*context, token] + kinds * shorter) / (total + kinds)

    def bits_per_byte(self, stream: np.ndarray, token_bytes: np.ndarray) -> list[float]:
        """Bits a byte of a stream for each order from 1 to this one."""
        ids = stream.tolist()
        bits = np.zeros(self.order)
        for place in range(self.order, len(ids)):
            p = 1 / self.vocab_size
            for length in range(self.order):
                context = tuple(ids[place - length : place])
                total, kinds = self.contexts[length].get(context, (0, 1))
                p = (self.grams[length][*context, ids[place]] + kinds * p) / (total + kinds)
                bits[length] -= np.log2(p)
        return (bits / token_bytes[stream[self.order :]].sum()).tolist()

    def distribution(self, context: tuple[int, ...]) -> np.ndarray:
        """p of every token (V,) after a context of any length."""
        context = context[len(context) - min(len(context), self.order - 1) :]
        return np.array([self.probability(context, token) for token in range(self.vocab_size)])


class KneserNey:
    """A counted model by interpolated modified Kneser–Ney smoothing (Chen and Goodman 1999).

    Of the longest strings it takes the counts; of each shorter one, how many different tokens stood before it. Each
    count loses a discount, and what all counts of a context lose is shared out as the shorter context says. A string is
    kept as one number, whose digits to the base V are its tokens.
    """

    def __init__(self, stream: np.ndarray, order: int, vocab_size: int):
        if vocab_size**order >= 2**63:
            raise ValueError(f"{order} tokens of {vocab_size} kinds do not fit into one number of 64 bits")
        self.order, self.vocab_size = order, vocab_size
        self.tables: list[tuple[np.ndarray, ...]] = []  # by length: strings, what is left, contexts, totals, losses
        strings, counts = np.unique(self._numbers(stream), return_counts=True)
        for length in range(order, 0, -1):
            discount = np.concatenate([[0], _discounts(counts)])[np.minimum(counts, 3)]
            contexts, begins = np.unique(strings // vocab_size, return_index=True)
            total, lost = (np.add.reduceat(amounts, begins) for amounts in (counts, discount))
            self.tables.insert(0, (strings, counts - discount, contexts, total, lost))
            strings, counts = np.unique(strings % vocab_size ** (length - 1), return_counts=True)

    def _numbers(self, stream: np.ndarray) -> np.ndarray:
        rows = np.lib.stride_tricks.sliding_window_view(stream.astype("int64"), self.order)
        return rows @ self.vocab_size ** np.arange(self.order - 1, -1, -1)

    def probabilities(self, stream: np.ndarray) -> np.ndarray:
        """p of each token of a stream that has order − 1 others before it, given these."""
        numbers = self._numbers(stream)
        p = np.full(len(numbers), 1 / self.vocab_size)
        for length, (strings, left, contexts, total, lost) in enumerate(self.tables, 1):
            wanted = numbers % self.vocab_size**length
            string, context = _places(strings, wanted), _places(contexts, wanted // self.vocab_size)
            mixed = (np.where(string < 0, 0, left[string]) + lost[context] * p) / total[context]
            p = np.where(context < 0, p, mixed)
        return p

    def bits_per_byte(self, stream: np.ndarray, token_bytes: np.ndarray) -> float:
        """Bits a byte of a stream."""
        return float(-np.log2(self.probabilities(stream)[1:]).sum() / token_bytes[stream[self.order :]].sum())


def _discounts(counts: np.ndarray) -> np.ndarray:
    """What counts of 1, of 2 and of 3 or more lose; at least 0.1, so that something is left for every token."""
    one, *_ = kinds = [np.sum(counts == count) for count in (1, 2, 3, 4)]
    share = one / max(one + 2 * kinds[1], 1)
    lost = [k - (k + 1) * share * more / max(here, 1) for k, (here, more) in enumerate(pairwise(kinds), 1)]
    return np.maximum(lost, 0.1)


def _places(ascending: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where each wanted number stands in the ascending ones; −1 if nowhere."""
    place = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    return np.where(ascending[place] == wanted, place, -1)


def zlib_bits(train_texts: list[str], held_out: list[str]) -> float:
    """Bits a byte of zlib, each text alone, with the last 32 kB of the training text as its dictionary."""
    dictionary = "".join(train_texts).encode()[-ZLIB_WINDOW:]
    total = 0
    for text in held_out:
        packer = zlib.compressobj(9, zdict=dictionary)
        total += len(packer.compress(text.encode()) + packer.flush())
    return 8 * total / sum(len(text.encode()) for text in held_out)

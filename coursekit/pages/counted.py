"""Lecture 10's baselines without a network: counted tokens, and a program that packs files."""

from __future__ import annotations

import zlib
from collections import Counter

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


def zlib_bits(train_texts: list[str], held_out: list[str]) -> float:
    """Bits a byte of zlib, each text alone, with the last 32 kB of the training text as its dictionary."""
    dictionary = "".join(train_texts).encode()[-ZLIB_WINDOW:]
    total = 0
    for text in held_out:
        packer = zlib.compressobj(9, zdict=dictionary)
        total += len(packer.compress(text.encode()) + packer.flush())
    return 8 * total / sum(len(text.encode()) for text in held_out)

"""Corpus BLEU from counts per sentence, so that test sets can be cut and redrawn, and two systems compared on them."""

from __future__ import annotations

import collections

import numpy as np

DRAWS = 1_000  # test sets redrawn


def overlaps(written: list[str], true: list[str]) -> np.ndarray:
    """What corpus BLEU adds up, of one sentence: matches and n-grams for n = 1 to 4, its length, the true one's."""
    counts = []
    for n in range(1, 5):
        grams, others = (
            collections.Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1)) for words in (written, true)
        )
        counts += [(grams & others).total(), grams.total()]
    return np.array([*counts, len(written), len(true)], float)


def bleu(table: np.ndarray) -> float:
    """Corpus BLEU in percent (Papineni et al., 2002) from rows of `overlaps` (N, 10)."""
    return float(_from_sums(table.sum(axis=0)))


def _from_sums(sums: np.ndarray) -> np.ndarray:
    """BLEU in percent from sums of rows (..., 10); 0 where no n-gram of some n matches."""
    matches, grams, length, wanted = sums[..., 0:8:2], sums[..., 1:8:2], sums[..., 8], sums[..., 9]
    found = (matches > 0).all(axis=-1)
    precisions = np.where(found[..., None], matches, 1) / np.maximum(grams, 1)  # (..., 4)
    brevity = np.minimum(0.0, 1 - wanted / np.maximum(length, 1))
    return np.where(found, 100 * np.exp(brevity + np.log(precisions).mean(axis=-1)), 0.0)


def paired_difference(one: list[np.ndarray], other: list[np.ndarray], seed: int = 0) -> list[float]:
    """The mean BLEU of one system's runs less that of another's, and 95 % of the differences on redrawn test sets.

    The paired bootstrap of Koehn (2004): both systems are measured on the same sentences, drawn with replacement.

    Args:
        one, other: for each run a table (N, 10) of `overlaps`, a row for each test sentence.

    Returns:
        The difference on the test set itself, and the 2.5th and 97.5th percentile of the redrawn ones. They tell how
        far other test sentences could move the difference. How far other seeds could is another question.
    """
    count = len(one[0])
    often = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=DRAWS)  # (DRAWS, N)
    often = np.vstack([np.ones((1, count)), often])
    means = [np.mean([_from_sums(often @ table) for table in runs], axis=0) for runs in (one, other)]
    difference = means[0] - means[1]  # (1 + DRAWS,)
    return [float(each) for each in (difference[0], *np.percentile(difference[1:], [2.5, 97.5]))]

"""Modified Kneser–Ney counting: by hand, as a distribution, and against the formula written out."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from coursekit.lecture.pages.counted import KneserNey

KINDS = 7


@pytest.fixture(scope="module")
def stream():
    rng, tokens = np.random.default_rng(0), [0]
    for _ in range(600):  # each token is often its neighbour's double, and the last kind never occurs
        tokens.append(2 * tokens[-1] % (KINDS - 1) if rng.random() < 0.6 else int(rng.geometric(0.4) % (KINDS - 1)))
    return np.array(tokens)


def formula(stream, order, context, token):
    """p(token | context) of equation (2) and section 3.3 in Chen and Goodman (1999), with dictionaries."""
    strings = Counter(zip(*(stream[place:].tolist() for place in range(order)), strict=False))
    for _ in range(order - len(context) - 1):
        strings = Counter(string[1:] for string in strings)  # how many tokens stood before each shorter string
    n = [sum(count == times for count in strings.values()) for times in range(5)]
    y = n[1] / (n[1] + 2 * n[2]) if n[1] else 0
    d = [0.0, *(max(k - (k + 1) * y * n[k + 1] / n[k], 0.1) if n[k] else k for k in (1, 2, 3))]
    shorter = formula(stream, order, context[1:], token) if context else 1 / KINDS
    follow = {string[-1]: count for string, count in strings.items() if string[:-1] == context}
    if not follow:
        return shorter
    count, freed = follow.get(token, 0), sum(d[min(count, 3)] for count in follow.values())
    return (max(count - d[min(count, 3)], 0) + freed * shorter) / sum(follow.values())


def test_by_hand():
    """The pairs 01 (twice), 10 (twice), 02: Y = 1/5, D1 = 1/5, D2 = 2; each single token stood behind one other.

    So all single tokens cost 1/3, and of the three pairs that begin with 0, the discounts take 2 + 1/5.
    """
    p = KneserNey(np.array([0, 1, 0, 1, 0, 2]), 2, 3).probabilities(np.array([0, 1, 0, 2]))
    assert p == pytest.approx([(0 + 2.2 / 3) / 3, (0 + 2 / 3) / 2, (0.8 + 2.2 / 3) / 3])


@pytest.mark.parametrize("order", [1, 2, 4])
def test_all_tokens_together_have_probability_1_and_none_has_0(stream, order):
    counted = KneserNey(stream, order, KINDS)
    for context in ([1, 2, 4], [6, 6, 6], [5, 5, 0]):
        p = [counted.probabilities(np.array([*context, token]))[-1] for token in range(KINDS)]
        assert sum(p) == pytest.approx(1) and min(p) > 0


@pytest.mark.parametrize("order", [1, 2, 3])
def test_it_is_the_formula(stream, order):
    judged = np.random.default_rng(1).integers(KINDS, size=40)
    p = KneserNey(stream, order, KINDS).probabilities(judged)
    for place, found in enumerate(p):
        *context, token = judged[place : place + order].tolist()
        assert found == pytest.approx(formula(stream, order, tuple(context), token))


def test_bits_are_paid_for_all_tokens_behind_the_first_ones(stream):
    counted, of_two_bytes = KneserNey(stream, 3, KINDS), np.full(KINDS, 2)
    expected = -np.log2(counted.probabilities(stream)[1:]).mean() / 2
    assert counted.bits_per_byte(stream, of_two_bytes) == pytest.approx(expected)


def test_a_string_that_does_not_fit_into_a_number_is_refused(stream):
    with pytest.raises(ValueError, match="8 tokens of 512 kinds"):
        KneserNey(stream, 8, 512)

"""Losses on distributions, in nats; 0·log 0 is 0."""

from __future__ import annotations

import numpy as np


def log_softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    """The logarithm of the softmax: s − max − ln Σ e^(s − max)."""
    shifted = scores - scores.max(axis, keepdims=True)
    exponentials = np.exp(shifted)
    return shifted - np.log(exponentials.sum(axis, keepdims=True))


def p_log_q(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """p·log q entry by entry."""
    return np.where(p == 0, 0, p * np.log(np.where(p == 0, 1, q)))


def cross_entropy(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """H(p, q) = −Σ p log q."""
    total = p_log_q(p, q).sum()
    return np.asarray(-total)


def kl_divergence(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """KL(p ‖ q) = Σ p log(p / q)."""
    terms = p_log_q(p, p) - p_log_q(p, q)
    total = terms.sum()
    return np.asarray(total)

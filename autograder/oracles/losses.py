"""Oracles of lab 08: losses on distributions, and the schedule."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.oracles.attention import softmax


def p_log_q(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """p·log q entry by entry, in nats; 0·log 0 is 0."""
    return np.where(p == 0, 0, p * np.log(np.where(p == 0, 1, q)))


def cross_entropy(p: np.ndarray, q: np.ndarray) -> dict[str, np.ndarray]:
    """H(p, q) = −Σ p log q, in nats."""
    return {"output": np.asarray(-p_log_q(p, q).sum())}


def kl_divergence(p: np.ndarray, q: np.ndarray) -> dict[str, np.ndarray]:
    """KL(p ‖ q) = Σ p log(p / q), in nats."""
    return {"output": np.asarray((p_log_q(p, p) - p_log_q(p, q)).sum())}


def js_divergence(p: np.ndarray, q: np.ndarray) -> dict[str, np.ndarray]:
    """JS(p, q) = ½ KL(p ‖ m) + ½ KL(q ‖ m) with m = ½ (p + q), in nats (Lin 1991)."""
    m = (p + q) / 2
    return {"output": np.asarray((kl_divergence(p, m)["output"] + kl_divergence(q, m)["output"]) / 2)}


def smoothed(targets: np.ndarray, size: int, epsilon: float, dtype: Any) -> np.ndarray:
    """(1 − ε)·one-hot + ε/V (Szegedy et al. 2016, section 7). targets (…) -> (…, V)."""
    return np.eye(size, dtype=dtype)[targets] * (1 - epsilon) + epsilon / size


def masked_cross_entropy(
    logits: np.ndarray, targets: np.ndarray, pad_id: int = 0, label_smoothing: float = 0.0
) -> dict[str, np.ndarray]:
    """Mean over the real tokens of −Σ_v t_v log softmax(logits)_v with smoothed targets t.

    Args:
        logits: (B, T, V).
        targets: ids, (B, T).
    """
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    wanted = smoothed(targets, logits.shape[-1], label_smoothing, logits.dtype)
    with np.errstate(invalid="ignore"):
        losses = -(wanted * log_p).sum(axis=-1)
    return {"output": np.asarray(losses[targets != pad_id].sum() / (targets != pad_id).sum())}


def masked_cross_entropy_gradient(
    logits: np.ndarray, targets: np.ndarray, pad_id: int = 0, label_smoothing: float = 0.0
) -> dict[str, np.ndarray]:
    """The loss's derivative: (softmax(logits) − t) / N for the N real tokens, 0 for padding. (B, T, V)."""
    real = targets != pad_id
    apart = softmax(logits) - smoothed(targets, logits.shape[-1], label_smoothing, logits.dtype)
    return {"gradient": apart * real[..., None] / real.sum()}


def transformer_schedule(step: int, d_model: int, warmup_steps: int = 4000) -> dict[str, float]:
    """D^−0.5 · min(step^−0.5, step · warmup^−1.5) (Vaswani et al. 2017, equation 3); step 0 counts as 1."""
    step = max(step, 1)
    return {"output": d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)}

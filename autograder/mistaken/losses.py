"""Mistakes of lab 08: in losses on distributions, and in the schedule."""

from __future__ import annotations

import math

import numpy as np

from autograder.mistaken.attention import softmax


def _terms(p: np.ndarray, q: np.ndarray, eps: float, zeros: str, log: str) -> np.ndarray:
    """p·log q entry by entry; 0·log 0 is 0."""
    logarithm = {"e": np.log, "2": np.log2, "10": np.log10}[log]
    if zeros == "nan":
        return p * logarithm(q + eps)
    if zeros == "skipped":
        q = np.where(q == 0, 1, q)
    return np.where(p == 0, 0, p * logarithm(np.where(p == 0, 1, q + eps)))


def cross_entropy(
    p: np.ndarray,
    q: np.ndarray,
    *,
    swapped: bool = False,
    log: str = "e",
    eps: float = 0.0,
    zeros: str = "kept",
    sign: int = -1,
    joined: str = "sum",
    formula: str = "p log q",
) -> dict[str, np.ndarray]:
    """H(p, q) = −Σ p log q, in nats."""
    p, q = (q, p) if swapped else (p, q)
    if formula == "log of the sum":
        return {"output": np.asarray(-np.log((p * q).sum()))}
    if formula == "binary":
        other = _terms(1 - p, 1 - q, eps, zeros, log)
        return {"output": np.asarray(-(_terms(p, q, eps, zeros, log) + other).sum())}
    terms = _terms(p, q, eps, zeros, log)
    return {"output": np.asarray(sign * (terms.sum() if joined == "sum" else terms.mean()))}


def kl_divergence(
    p: np.ndarray,
    q: np.ndarray,
    *,
    swapped: bool = False,
    log: str = "e",
    eps: float = 0.0,
    zeros: str = "kept",
    sign: int = 1,
    joined: str = "sum",
    formula: str = "difference",
) -> dict[str, np.ndarray]:
    """KL(p ‖ q) = Σ p log(p / q), in nats."""
    p, q = (q, p) if swapped else (p, q)
    if zeros == "nan" and not eps:
        logarithm = {"e": np.log, "2": np.log2, "10": np.log10}[log]
        terms = p * logarithm(p / q) if formula == "difference" else -p * logarithm(q)
    else:
        own = _terms(p, p, eps, "kept", log) if formula != "cross-entropy" else 0
        if zeros == "skipped":
            own = np.where(q == 0, 0, own)
        terms = own - _terms(p, q, eps, zeros, log)
    if formula == "absolute":
        terms = np.abs(terms)
    total = sign * (terms.sum() if joined == "sum" else terms.mean())
    if formula == "both ways":
        total = total + (_terms(q, q, eps, "kept", log) - _terms(q, p, eps, zeros, log)).sum()
    return {"output": np.asarray(total)}


def js_divergence(
    p: np.ndarray,
    q: np.ndarray,
    *,
    log: str = "e",
    eps: float = 0.0,
    zeros: str = "kept",
    half: bool = True,
    middle: str = "mean",
    root: bool = False,
    formula: str = "both to the middle",
) -> dict[str, np.ndarray]:
    """JS(p, q) = ½ KL(p ‖ m) + ½ KL(q ‖ m) with m = ½ (p + q), in nats (Lin 1991)."""
    m = {"mean": (p + q) / 2, "sum": p + q, "root": np.sqrt(p * q)}[middle]

    def divergence(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return kl_divergence(a, b, log=log, eps=eps, zeros=zeros)["output"]

    total = {
        "both to the middle": lambda: divergence(p, m) + divergence(q, m),
        "first only": lambda: 2 * divergence(p, m),
        "from the middle": lambda: divergence(m, p) + divergence(m, q),
        "each other": lambda: divergence(p, q) + divergence(q, p),
    }[formula]()
    total = total / 2 if half else total
    return {"output": np.asarray(np.sqrt(total) if root else total)}


def masked_cross_entropy(
    logits: np.ndarray,
    targets: np.ndarray,
    pad_id: int = 0,
    label_smoothing: float = 0.0,
    *,
    mode: str = "call",
    mean: str = "tokens",
    masked: str = "pad",
    smoothing: str = "all",
    logarithm: str = "of the logits",
    axis: int = -1,
    taken_as: str = "logits",
    log: str = "e",
    sign: int = 1,
) -> dict[str, np.ndarray]:
    """Mean over the real tokens of −Σ_v t_v log softmax(logits)_v with t = (1 − ε)·one-hot + ε/V (Szegedy et al. 2016).

    Args:
        logits: (B, T, V).
        targets: ids, (B, T).
    """
    if mode == "derivative":
        return {"gradient": _loss_gradient(logits, targets, pad_id, label_smoothing)}
    size = logits.shape[-1]
    real = targets != {"pad": pad_id, "zero": 0}.get(masked, pad_id)
    if masked == "inverted":
        real = ~real
    if masked == "nothing":
        real = np.ones_like(real)
    if taken_as == "probabilities":
        log_p = np.log(logits)
    elif taken_as == "softmax twice":
        log_p = _log_softmax(softmax(logits))
    elif logarithm == "of the logits":
        log_p = _log_softmax(logits, axis)
    else:
        log_p = np.log(softmax(logits, axis))
    log_p = log_p / math.log(2) if log == "2" else log_p
    epsilon = 0.0 if smoothing == "ignored" else label_smoothing
    one_hot = np.eye(size, dtype=logits.dtype)[targets]
    spread = {"all": epsilon / size, "ignored": 0.0, "others": epsilon / (size - 1), "whole": epsilon,
              "without pad": epsilon / (size - 1), "reversed": 0.0}[smoothing]  # fmt: skip
    wanted = one_hot * (1 - epsilon) + spread
    if smoothing == "others":
        wanted = np.where(one_hot == 1, 1 - epsilon, spread)
    if smoothing == "without pad":
        wanted[..., pad_id] -= spread
    if smoothing == "reversed":
        wanted = one_hot * epsilon + (1 - epsilon) / size
    with np.errstate(all="ignore"):
        terms = wanted * log_p
        if logarithm == "of the softmax, of one word" or taken_as == "probabilities":
            terms = np.where(wanted == 0, 0, terms)
        losses = -sign * terms.sum(-1)
        losses = losses * real if logarithm == "of the softmax" else np.where(real, losses, 0)
    total = {
        "tokens": lambda: losses.sum() / real.sum(),
        "positions": lambda: losses.mean(),
        "sequences": lambda: (losses.sum(-1) / np.maximum(real.sum(-1), 1)).mean(),
        "per sequence": lambda: losses.sum() / len(losses),
        "sum": lambda: losses.sum(),
        "tokens and words": lambda: losses.sum() / real.sum() / size,
    }[mean]()
    return {"output": np.asarray(total)}


def _log_softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    shifted = x - x.max(axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))


def _loss_gradient(logits: np.ndarray, targets: np.ndarray, pad_id: int, epsilon: float) -> np.ndarray:
    """(softmax(logits) − t) / N for the N real tokens, 0 for padding."""
    size = logits.shape[-1]
    wanted = np.eye(size, dtype=logits.dtype)[targets] * (1 - epsilon) + epsilon / size
    real = targets != pad_id
    return (softmax(logits) - wanted) * real[..., None] / real.sum()


def transformer_schedule(
    step: int,
    d_model: int,
    warmup_steps: int = 4000,
    *,
    first: str = "one",
    width: float = -0.5,
    choice: str = "min",
    warmup: float = -1.5,
    decay: float = -0.5,
    ignored: bool = False,
) -> dict[str, float]:
    """D^−0.5 · min(step^−0.5, step · warmup^−1.5) (Vaswani et al. 2017, equation 3); step 0 counts as 1."""
    warmup_steps = 4000 if ignored else warmup_steps
    if step == 0 and first == "zero":
        return {"output": 0.0}
    step = step + 1 if first == "all shifted" else max(step, 1)
    falling, rising = float(step) ** decay, step * float(warmup_steps) ** warmup
    return {"output": float(d_model) ** width * {"min": min, "max": max}[choice](falling, rising)}

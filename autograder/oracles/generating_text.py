"""Oracles of lab 08b, generating text."""

from __future__ import annotations

from typing import Any

import numpy as np

from coursekit.probes.generating_text import table_step


def greedy_decode(table: np.ndarray, kind: str, start_id: int, end_id: int, max_length: int) -> dict[str, str]:
    """From the start id on, append the most probable token until it is the end id or the list is full."""
    step = table_step(table, kind)
    tokens = [start_id]
    while len(tokens) < max_length and end_id not in tokens[1:]:
        tokens.append(int(step(tokens).argmax()))
    return {"tokens": str(tokens)}


def beam_search(
    table: np.ndarray,
    kind: str,
    start_id: int,
    end_id: int,
    beam_width: int,
    max_length: int,
    length_penalty: float = 0.0,
) -> dict[str, Any]:
    """Beam search (Wu et al. 2016, section 7, without the coverage penalty).

    The beam holds the best hypotheses, finished or not, by score. In each round the finished ones stay as they are,
    every other one is lengthened by every token, and the best `beam_width` of all make the new beam.
    """
    step = table_step(table, kind)

    def is_finished(tokens: list[int]) -> bool:
        return end_id in tokens[1:]

    def score(hypothesis: tuple[list[int], float]) -> float:
        tokens, log_p = hypothesis
        return log_p / ((5 + len(tokens) - 1) / 6) ** length_penalty

    beam: list[tuple[list[int], float]] = [([start_id], 0.0)]
    for _ in range(max_length - 1):
        if all(is_finished(tokens) for tokens, _ in beam):
            break
        candidates = [each for each in beam if is_finished(each[0])]
        for tokens, log_p in beam:
            if not is_finished(tokens):
                candidates += [([*tokens, token], log_p + float(more)) for token, more in enumerate(step(tokens))]
        beam = sorted(candidates, key=score, reverse=True)[:beam_width]
    best = max(beam, key=score)
    return {"tokens": str(best[0]), "score": np.asarray(score(best))}


def top_p(probabilities: np.ndarray, p: float) -> dict[str, np.ndarray]:
    """The nucleus (Holtzman et al. 2020): tokens are dropped, the least probable first, while the others reach p."""
    probabilities = np.asarray(probabilities)
    by_rank = sorted(range(len(probabilities)), key=lambda token: (-probabilities[token], token))
    while len(by_rank) > 1 and probabilities[by_rank[:-1]].sum() >= p:
        by_rank.pop()
    nucleus = np.zeros_like(probabilities)
    nucleus[by_rank] = probabilities[by_rank] / probabilities[by_rank].sum()
    return {"output": nucleus}


def cached_attention(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> dict[str, np.ndarray]:
    """Causal attention of all tokens at once, (B, H, T, K), and the keys and values that a cache holds at the end."""
    length, width = query.shape[-2:]
    scores = np.einsum("bhtk,bhsk->bhts", query, key) / np.sqrt(width)
    scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return {"output": np.einsum("bhts,bhsk->bhtk", weights, value), "keys": key, "values": value}


def cached_branches(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> dict[str, np.ndarray]:
    """The last token but one and the last token, each as the continuation of all tokens before these two."""
    branches = {}
    for name, last in (("first", -2), ("second", -1)):
        one = [np.concatenate([each[:, :, :-2], each[:, :, [last]]], axis=2) for each in (query, key, value)]
        branches[name] = cached_attention(*one)["output"][:, :, -1:]
    return branches


def perplexity(logits: np.ndarray, targets: np.ndarray) -> dict[str, np.ndarray]:
    """e to the mean of −log p over the real tokens (Jelinek et al. 1977).

    The logits are (B, T, V), the targets ids (B, T) with 0 for padding. log p is the softmax's logarithm, written as
    −log Σ_v e^(logit_v − logit of the target) and kept from overflow.
    """
    real = np.flatnonzero(targets)
    scores, ids = logits.reshape(-1, logits.shape[-1])[real], targets.ravel()[real]
    above = scores - scores[np.arange(len(ids)), ids][:, None]
    largest = above.max(axis=1)
    losses = largest + np.log(np.exp(above - largest[:, None]).sum(axis=1))
    return {"perplexity": np.asarray(np.exp(losses.mean()))}


def predict(tokens: int, right: float) -> dict[str, np.ndarray]:
    """The share of sentences in which no token is wrong."""
    return {"prediction": np.asarray(np.prod(np.full(tokens, right)))}

"""Mistakes of lab 08b, generating text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from coursekit.probes.generating_text import table_step


def greedy_decode(
    table: np.ndarray,
    kind: str,
    start_id: int,
    end_id: int,
    max_length: int,
    *,
    handed: str = "whole",
    choice: str = "largest",
    counted: str = "in all",
    stop: bool = True,
    result: str = "whole",
) -> dict[str, str]:
    """From the start id on, append the most probable token until it is the end id or the list is full."""
    step = table_step(table, kind)
    tokens, places = [start_id], max_length + (counted == "generated")
    while len(tokens) < places and not (stop and len(tokens) > 1 and tokens[-1] == end_id):
        log_p = step({"whole": tokens, "last": tokens[-1:], "without start": tokens[1:]}[handed])
        from_behind = len(log_p) - 1 - log_p[::-1].argmax()
        best = {"largest": log_p.argmax(), "smallest": log_p.argmin(), "last of ties": from_behind}
        tokens.append(int(best[choice]))
    return {"tokens": _shown(tokens, result, end_id)}


def _shown(tokens: Sequence[int], result: str, end_id: int) -> str:
    tokens = list(tokens)
    if result in ("without end", "bare") and tokens[-1] == end_id:
        tokens = tokens[:-1]
    if result in ("without start", "bare"):
        tokens = tokens[1:]
    return str([int(token) for token in tokens])


def beam_search(
    table: np.ndarray,
    kind: str,
    start_id: int,
    end_id: int,
    beam_width: int,
    max_length: int,
    length_penalty: float = 0.0,
    *,
    handed: str = "whole",
    penalty: str = "((5+n)/6)^a",
    ranked: str = "score",
    finished: str = "kept",
    stop: str = "all finished",
    summed: str = "sum",
    pool: str = "all",
    pruning: str = "all together",
    counted: str = "in all",
    score: str = "penalised",
    result: str = "whole",
    width: str = "given",
) -> dict[str, Any]:
    """Beam search (Wu et al. 2016, section 7, without the coverage penalty).

    The beam holds the best hypotheses, finished or not, by score. In each round the finished ones stay as they are,
    every other one is lengthened by every token, and the best `beam_width` of all make the new beam.

    With ``finished`` at ``aside``, ``moved`` or ``refilled`` the finished hypotheses leave the beam, and keep their
    places in it, give them back in the next round or at once: not what the contract says, but nearly always with one
    result. ``ranked`` at ``sum`` cuts the beam by the sums and takes the penalty into account at the end only.
    """
    step = table_step(table, kind)
    beam_width = 1 if width == "one" else beam_width

    def scored(total: float, length: int) -> float:
        divisor = {
            "((5+n)/6)^a": ((5 + length) / 6) ** length_penalty,
            "none": 1.0,
            "n^a": max(length, 1) ** length_penalty,
            "n": float(max(length, 1)),
            "start counted": ((6 + length) / 6) ** length_penalty,
            "multiplied": ((5 + length) / 6) ** -length_penalty,
            "without end": ((5 + max(length - 1, 0)) / 6) ** length_penalty,
        }[penalty]
        return total / divisor

    def rank(hypothesis: tuple[list[int], float]) -> float:
        tokens, total = hypothesis
        return scored(total, len(tokens) - 1) if ranked == "score" else total

    def is_done(tokens: Sequence[int]) -> bool:
        return len(tokens) > 1 and tokens[-1] == end_id

    beam: list[tuple[list[int], float]] = [([start_id], 0.0)]
    done: list[tuple[list[int], float]] = []
    for _ in range(max_length - (counted == "in all")):
        candidates = []
        for tokens, total in beam:
            if is_done(tokens) and finished != "expanded":
                candidates.append((tokens, total))
                continue
            log_p = step({"whole": tokens, "last": tokens[-1:], "without start": tokens[1:]}[handed])
            children = [(total, float(each)) for each in log_p]
            totals = [
                {"sum": old + new, "product": old * new if len(tokens) > 1 else new, "last": new}[summed]
                for old, new in children
            ]
            made = [([*tokens, token], each) for token, each in enumerate(totals)]
            made.sort(key=rank, reverse=True)
            candidates += made[:1] if pruning == "each by itself" and len(tokens) > 1 else made
        if not candidates:
            break
        candidates.sort(key=rank, reverse=True)
        beam = candidates[:beam_width]
        if finished in ("aside", "moved", "refilled"):
            new = [each for each in beam if is_done(each[0])]
            done += new
            open_ones = candidates if finished == "refilled" else beam
            beam = [each for each in open_ones if not is_done(each[0])][:beam_width]
            beam_width -= len(new) if finished == "aside" else 0
            if not beam_width or (finished == "refilled" and len(done) >= beam_width):
                break
        ended = [is_done(tokens) for tokens, _ in beam]
        if finished != "expanded" and ended and (all(ended) or (stop == "first finished" and any(ended))):
            break
        if stop == "best finished" and ended and ended[0]:
            break
    pooled = [*done, *beam]
    if stop == "first finished" and any(is_done(tokens) for tokens, _ in pooled):
        pooled = [each for each in pooled if is_done(each[0])]
    if pool == "finished" and any(is_done(tokens) for tokens, _ in pooled):
        pooled = [each for each in pooled if is_done(each[0])]
    if pool == "unfinished" and not all(is_done(tokens) for tokens, _ in pooled):
        pooled = [each for each in pooled if not is_done(each[0])]
    tokens, total = max(pooled, key=lambda each: scored(each[1], len(each[0]) - 1))
    final = {
        "penalised": scored(total, len(tokens) - 1),
        "sum": total,
        "probability": math.exp(total),
        "loss": -scored(total, len(tokens) - 1),
    }[score]
    return {"tokens": _shown(tokens, result, end_id), "score": np.asarray(final)}


def top_p(
    probabilities: np.ndarray,
    p: float,
    *,
    order: str = "falling",
    kept: str = "smallest set",
    result: str = "by id",
    scaled: str = "by the sum",
) -> dict[str, np.ndarray]:
    """The most probable tokens whose sum reaches p, renormalised."""
    ids = np.arange(len(probabilities))
    ranked = {
        "falling": np.argsort(-probabilities, kind="stable"),
        "ids": ids,
        "rising": np.argsort(probabilities, kind="stable"),
        "ties from behind": np.argsort(probabilities, kind="stable")[::-1],
    }[order]
    sums = np.cumsum(probabilities[ranked])
    is_in = {
        "smallest set": np.concatenate([[True], sums[:-1] < p]),
        "below p": sums < p,
        "beyond p": np.concatenate([[True], sums[:-1] <= p]),
        "each at least p": probabilities[ranked] >= p,
    }[kept]
    is_in[0] = True
    left = np.zeros_like(probabilities)
    left[ranked[is_in]] = probabilities[ranked[is_in]]
    if scaled == "softmax":
        left = np.where(left > 0, np.exp(left), 0)
    if scaled != "no":
        left = left / left.sum()
    return {"output": left[ranked] if result == "sorted" else left}


def cached_attention(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    mode: str = "call",
    *,
    scale: str = "√K",
    seen: str = "all",
    softmax: str = "keys",
    place: str = "last",
    kept: str = "all",
    pair: str = "keys first",
    changed: bool = False,
) -> dict[str, np.ndarray]:
    """One token after the other, each with the cache that the one before has left."""

    def step(number: int, cache: list[np.ndarray] | None) -> tuple[np.ndarray, list[np.ndarray]]:
        q, new = query[:, :, [number]], [each[:, :, [number]] for each in (key, value)]
        if cache is None:
            keys, values = new
        else:
            both = [(one, old) if place == "first" else (old, one) for old, one in zip(cache, new, strict=True)]
            keys, values = (np.concatenate(each, axis=2) for each in both)
        if seen == "own" or cache is None:
            used = new
        else:
            used = cache if seen == "others" else [keys, values]
        scores = q @ used[0].swapaxes(-1, -2) / {"√K": q.shape[-1] ** 0.5, "K": q.shape[-1], "none": 1}[scale]
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights = weights / weights.sum(-1, keepdims=True) if softmax == "keys" else np.ones_like(weights)
        left = {"all": [keys, values], "newest": new, "old": new if cache is None else cache}[kept]
        return weights @ used[1], left[::-1] if pair == "swapped" else left

    length = query.shape[2]
    whole = mode != "branches"
    rows, cache = [], None
    for newest in range(length if whole else length - 2):
        row, cache = step(newest, cache)
        rows.append(row)
    if whole:
        assert cache is not None
        return {"output": np.concatenate(rows, 2), "keys": cache[0], "values": cache[1]}
    first, after = step(length - 2, cache)
    second, _ = step(length - 1, after if changed else cache)
    return {"first": first, "second": second}


def perplexity(
    logits: np.ndarray,
    targets: np.ndarray,
    *,
    counted: str = "real",
    moved: int = 0,
    taken_as: str = "logits",
    axis: int = -1,
    softmax: str = "with logarithm",
    averaged: str = "losses",
    over: str = "tokens",
    power: str = "e",
) -> dict[str, np.ndarray]:
    """e to the mean of −log p over the real tokens of all rows together.

    Args:
        logits: (B, T, V).
        targets: ids, (B, T); 0 is padding.
    """
    logits, targets = logits[:, : logits.shape[1] - moved], targets[:, moved:]
    real = {"real": targets != 0, "all": targets >= 0, "above 1": targets > 1}[counted]
    losses = -np.take_along_axis(_log_p(logits, taken_as, axis, softmax), targets[..., None].astype(int), -1)[..., 0]
    finishes: dict[str, Callable[[Any], Any]] = {
        "e": np.exp,
        "none": np.asarray,
        "2": np.exp2,
        "1/e": lambda loss: np.exp(-loss),
    }
    finish = finishes[power]
    if averaged in ("probabilities", "perplexities of tokens"):
        each = {"probabilities": np.exp(-losses), "perplexities of tokens": finish(losses)}[averaged]
        mean = _token_mean(each, real, over)
        return {"perplexity": np.asarray(1 / mean if averaged == "probabilities" else mean)}
    if averaged == "perplexities of rows":
        rows = [_token_mean(row[None], kept[None], over) for row, kept in zip(losses, real, strict=True)]
        return {"perplexity": np.asarray(np.mean(finish(np.array(rows))))}
    return {"perplexity": np.asarray(finish(_token_mean(losses, real, over)))}


def _log_p(logits: np.ndarray, taken_as: str, axis: int, softmax: str) -> np.ndarray:
    def normalised(scores: np.ndarray) -> np.ndarray:
        shifted = scores if softmax == "of large numbers" else scores - scores.max(axis, keepdims=True)
        exponentials = np.exp(shifted)
        sums = exponentials.sum(axis, keepdims=True)
        return shifted - np.log(sums) if softmax == "with logarithm" else np.log(exponentials / sums)

    if taken_as == "probabilities":  # as Keras's losses do: cut off at both ends, then divided by their sum
        return normalised(np.log(np.clip(logits, 1e-7, 1 - 1e-7)))
    if taken_as == "probabilities, uncut":
        return np.log(logits)
    if taken_as == "softmax twice":
        return normalised(np.exp(normalised(logits)))
    return logits if taken_as == "log-probabilities" else normalised(logits)


def _token_mean(losses: np.ndarray, real: np.ndarray, over: str) -> Any:
    sums = np.where(real, losses, 0).sum(axis=-1)
    if over == "rows":
        return (sums / real.sum(axis=-1)).mean()
    return sums.sum() / {"tokens": real.sum(), "positions": real.size, "sum": 1}[over]


def predict(tokens: int, right: float, *, thought: str = "right") -> dict[str, np.ndarray]:
    """The share of sentences in which no token is wrong."""
    shares = {"right": right**tokens, "one token": right, "errors added": 1 - tokens * (1 - right)}
    return {"prediction": np.asarray(shares[thought])}

"""Lecture 8b's caption model, the cuts of its probabilities, its writer, and two searches for its best caption."""

from __future__ import annotations

import heapq
import itertools

import numpy as np
from scipy.special import log_softmax, softmax

from coursekit.lecture.captions import END, START, normed


class PlainCaptionModel:
    """A decoder-only Transformer; a call reads one more token of each of n captions (pre-norm, no biases)."""

    def __init__(self, weights, heads=4):
        self.weights, self.heads = weights, heads
        self.blocks, self.width = len(weights["w_q"]), weights["table"].shape[1]  # L, D

    def empty(self, count):
        return np.zeros((self.blocks, 2, count, 0, self.heads, self.width // self.heads), "float32")

    def __call__(self, ids, cache):  # (n,), keys and values of t tokens (L, 2, n, t, H, K)
        w, t, grown = self.weights, cache.shape[3], []
        x = w["table"][ids] * self.width**0.5 + w["positions"][t]  # (n, D)
        for i, kept in enumerate(cache):  # (2, n, t, H, K)
            q, k, v = ((normed(x) @ w[name][i]).reshape(len(x), self.heads, -1) for name in ("w_q", "w_k", "w_v"))
            kept = np.concatenate([kept, np.stack([k, v])[:, :, None]], axis=2)  # one more key and value
            weights = softmax(np.einsum("nhk,nthk->nht", q, kept[0]) / q.shape[-1] ** 0.5, axis=-1)
            x = x + np.einsum("nht,nthk->nhk", weights, kept[1]).reshape(x.shape) @ w["w_o"][i]
            x = x + np.maximum(normed(x) @ w["widen"][i], 0) @ w["narrow"][i]
            grown.append(kept)
        return log_softmax(normed(x) @ w["table"].T + w["allowed"], axis=-1), np.stack(grown)  # (n, V), the cache


def reshaped(log_p, temperature=1.0, top_k=None, top_p=None):
    """Distributions (n, V) to draw from: temperature, then top-k, then top-p of the rest; ties at a cut all stay."""
    p = softmax(log_p / temperature, axis=-1)
    if top_k is not None:
        p = np.where(p >= np.sort(p, axis=-1)[:, -top_k, None], p, 0)
        p = p / p.sum(axis=-1, keepdims=True)
    if top_p is not None:
        falling = np.flip(np.sort(p, axis=-1), axis=-1)  # (n, V)
        before = np.cumsum(falling, axis=-1) - falling  # the probability in front of each token
        p = np.where(p >= np.min(np.where(before < top_p - 1e-9, falling, 1), axis=-1, keepdims=True), p, 0)
    return p / p.sum(axis=-1, keepdims=True)


def write(model, count, choose, longest=30):
    """Write `count` captions; `choose` turns log p (n, V) into ids (n,). Returns ids (n, t) and log p of each (n,)."""
    ids, cache, total = np.full((count, 1), START), model.empty(count), np.zeros(count)
    while ids.shape[1] < longest and (ids[:, -1] != END).any():
        log_p, cache = model(ids[:, -1], cache)
        ended = ids[:, -1] == END
        new = np.where(ended, END, choose(log_p))
        total += np.where(ended, 0, log_p[np.arange(count), new])
        ids = np.hstack([ids, new[:, None]])
    return ids, total


def drawn(rng, **settings):
    """A way to choose: draw each next token from the reshaped distribution."""

    def choose(log_p):
        sums = reshaped(log_p, **settings).cumsum(axis=-1)  # (n, V)
        return (sums < rng.random((len(sums), 1)) * sums[:, -1:]).sum(axis=-1)

    return choose


def beam(model, width, alpha=0.0, longest=30):
    """Beam search: ids and log p of the best caption by log p / ((5 + n)/6)^alpha, n tokens (Wu et al. 2016)."""

    def score(found):
        return found[1] / ((5 + len(found[0]) - 1) / 6) ** alpha  # the start token does not count

    kept, cache = [([START], 0.0)], model.empty(1)
    for _ in range(longest - 1):
        log_p, cache = model(np.array([ids[-1] for ids, _ in kept]), cache)  # (width, V); an ended row is read in vain
        found = []
        for row, (ids, total) in enumerate(kept):
            if ids[-1] == END:
                found.append((ids, total, row))  # a finished caption stays as it is, and competes
            else:
                best = np.argsort(-log_p[row])[:width]
                found += [([*ids, int(new)], total + float(log_p[row, new]), row) for new in best]
        found = sorted(found, key=score, reverse=True)[:width]
        kept = [(ids, total) for ids, total, _ in found]
        cache = cache[:, :, [row for *_, row in found]]  # each goes on with the cache of its beginning
        if all(ids[-1] == END for ids, _ in kept):
            break
    return kept[0]


def most_probable(model, limit):
    """The most probable caption of all: always continue the most probable beginning (Dijkstra 1959).

    Beginnings with a log p below `limit` are dropped: any finished caption is a limit.
    """
    heap = [(0.0, [START], model.empty(1))]
    for continued in itertools.count():
        cost, ids, cache = heapq.heappop(heap)
        if ids[-1] == END:
            return ids, -cost, continued
        log_p, cache = model(np.array(ids[-1:]), cache)
        for new in np.flatnonzero(log_p[0] >= limit + cost - 1e-6):
            heapq.heappush(heap, (cost - log_p[0, new], [*ids, int(new)], cache))

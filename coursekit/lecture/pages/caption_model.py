"""Lecture 8b's caption model, the cuts of its probabilities, its writer, and the search for its best caption."""

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
    """Distributions (n, V) to draw from, after a temperature and a cut; ties at the cut all stay."""
    p = softmax(log_p / temperature, axis=-1)
    falling = np.flip(np.sort(p, axis=-1), axis=-1)  # (n, V)
    least = np.zeros_like(p[:, :1])
    if top_k is not None:
        least = falling[:, top_k - 1 : top_k]  # (n, 1)
    if top_p is not None:
        before = np.cumsum(falling, axis=-1) - falling  # the probability in front of each word
        least = np.min(np.where(before < top_p - 1e-9, falling, 1), axis=-1, keepdims=True)
    p = np.where(p >= least, p, 0)
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
    """A way to choose: draw each next word from the reshaped distribution."""

    def choose(log_p):
        sums = reshaped(log_p, **settings).cumsum(axis=-1)  # (n, V)
        return (sums < rng.random((len(sums), 1)) * sums[:, -1:]).sum(axis=-1)

    return choose


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

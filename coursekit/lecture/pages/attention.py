"""The page class of lecture 1: attention as an average with computed weights."""

import numpy as np


class PlainAttention:
    """Soft attention of queries over keys and values; the score is a function of a query and all keys."""

    def __init__(self, score):
        self.score = score  # (D,), (S, D) -> (S,)

    def __call__(self, queries, keys, values):  # (T, D), (S, D), (S, D_v)
        scores = np.array([self.score(query, keys) for query in queries])  # (T, S)
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))  # the largest becomes 1: no overflow
        self.weights = exponentials / exponentials.sum(axis=-1, keepdims=True)  # (T, S), every row sums to 1
        return self.weights @ values  # (T, D_v)

"""The page class of lecture 2: self-attention for one sentence."""

import numpy as np
from scipy.special import softmax


class PlainSelfAttention:
    """Self-attention for one sentence, without a mask (Vaswani et al. 2017, equation 1)."""

    def __init__(self, w_q, w_k, w_v):
        self.w_q, self.w_k, self.w_v = w_q, w_k, w_v  # (D, d_k), (D, d_k), (D, d_v)

    def scores(self, x):  # (T, D)
        q, k = x @ self.w_q, x @ self.w_k  # (T, d_k), (T, d_k)
        return q @ k.T / np.sqrt(k.shape[-1])  # (T, T), one row for each query

    def __call__(self, x):
        self.weights = softmax(self.scores(x), axis=-1)  # (T, T), every row sums to 1
        return self.weights @ (x @ self.w_v)  # (T, d_v)

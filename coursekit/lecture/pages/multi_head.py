"""Multi-head attention as lecture 3 shows it: NumPy, one sentence, without a mask and without biases."""

import numpy as np
from scipy.special import softmax


class PlainHeads:
    """H heads for one sentence, x (T, D) to (T, D), without a mask (Vaswani et al. 2017, section 3.2.2)."""

    def __init__(self, w_q, w_k, w_v, w_o, heads):
        self.w_q, self.w_k, self.w_v, self.w_o = w_q, w_k, w_v, w_o  # (D, H·K) three times, (H·K, D)
        self.heads = heads

    def split(self, x):
        """Give every head its own K columns: (T, H·K) to (H, T, K)."""
        return x.reshape(len(x), self.heads, -1).transpose(1, 0, 2)

    def merge(self, x):
        """Put the heads side by side again: (H, T, K) to (T, H·K)."""
        return np.concatenate(list(x), axis=-1)

    def __call__(self, x):
        q, k, v = self.split(x @ self.w_q), self.split(x @ self.w_k), self.split(x @ self.w_v)  # (H, T, K)
        self.scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])  # (H, T, T)
        self.weights = softmax(self.scores, axis=-1)  # (H, T, T): a softmax for each head
        return self.merge(self.weights @ v) @ self.w_o  # (T, D)

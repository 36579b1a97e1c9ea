"""Sinusoidal positions as lecture 5 shows them, for one length that is known when the model is built."""

import keras
import numpy as np


class PlainPositions(keras.Layer):
    """Adds sinusoidal positions to √D times the tokens: x (B, T, D) to (B, T, D), D even (Vaswani et al. 2017, 3.5)."""

    def call(self, x):
        length, width = x.shape[1:]
        table = np.zeros((length, width), "float32")  # (T, D)
        for p in range(length):
            for i in range(width // 2):  # a pair of columns turns with one frequency
                omega = 10_000 ** (-2 * i / width)
                table[p, 2 * i : 2 * i + 2] = np.sin(omega * p), np.cos(omega * p)
        return x * width**0.5 + table

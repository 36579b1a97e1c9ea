"""Models of Python source, how they are trained and how they are judged: shared by the parts of the experiment.

Every model predicts the next token of one stream of documents. All are judged in bits a byte of held-out modules.
"""

from __future__ import annotations

import keras
from keras import layers, ops

from coursekit.lecture.pages.language_model import PlainLanguageModel

SIZES = {  # d_model, blocks, heads, d_ff
    "the largest": (256, 6, 8, 688),
    "a larger one": (192, 4, 6, 516),
    "the page's model": (128, 4, 4, 344),
    "a small one": (64, 3, 2, 172),
    "a tiny one": (32, 2, 1, 86),
    "a minute one": (16, 1, 1, 43),
}
LSTM_WIDTH = 231  # with this width the LSTM has as many parameters as the page's model, to 0.2 %


class RecurrentModel(keras.Model):
    """Two LSTM layers between one table that reads and predicts: ids (B, T) to logits (B, T, V)."""

    def __init__(self, vocab_size: int, d_model: int, units: int):
        super().__init__()
        start = keras.initializers.RandomNormal(stddev=d_model**-0.5)
        self.table = self.add_weight(shape=(vocab_size, d_model), initializer=start, name="table")
        self.recurrent = [layers.LSTM(units, return_sequences=True) for _ in range(2)]
        self.project = layers.Dense(d_model, use_bias=False)

    def call(self, ids):
        x = ops.take(self.table, ids, axis=0) * self.table.shape[-1] ** 0.5
        for layer in self.recurrent:
            x = layer(x)
        return ops.matmul(self.project(x), ops.transpose(self.table))


def operations(size: str, parameters: int, tokens: int, window: int) -> int:
    """Multiplications and additions of a training: 6 a parameter and token, and attention's maps, each way counted.

    The estimate of Chowdhery et al. 2022, appendix B; the shared table counts once, as the layer that predicts.
    """
    d_model, blocks, _, _ = SIZES[size]
    return (6 * parameters + 12 * blocks * d_model * window) * tokens


def transformer(vocab_size: int, size: str) -> PlainLanguageModel:
    """The page's class in one of SIZES."""
    d_model, blocks, heads, d_ff = SIZES[size]
    return PlainLanguageModel(vocab_size, d_model, blocks, heads, d_ff)

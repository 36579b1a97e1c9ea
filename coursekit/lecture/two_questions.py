"""A task with two questions per token: a table whose rows ask for the number above them, and for the number they want.

Each row has a position, a **name**, **wants** another row by its name, and holds a **number**. The two answers of a row
always come from two different rows, and never from itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import keras
import numpy as np
from keras import layers, ops
from scipy.special import softmax

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS, WIDTH = 6, 16
FEATURES = 3 * ROWS + 1  # position, name and want as one-hot columns, and the number
KINDS = {"position": slice(0, 6), "name": slice(6, 12), "want": slice(12, 18), "number": slice(18, 19)}


class Tables(NamedTuple):
    """B tables, as tokens and with what they are made of."""

    names: NDArray[np.int64]  # (B, T)
    wants: NDArray[np.int64]  # (B, T)
    wanted: NDArray[np.int64]  # (B, T) the row that each row wants
    tokens: NDArray[np.float32]  # (B, T, 19)
    answers: NDArray[np.float32]  # (B, T, 2): the number above, the wanted number


def tables(count: int, seed: int) -> Tables:
    """Draw tables; numbers have mean 0 and variance 1, the first row's "above" is the last row.

    >>> drawn = tables(count=2, seed=0)
    >>> drawn.tokens.shape, drawn.answers.shape  # (count, rows, features), (count, rows, questions)
    ((2, 6, 19), (2, 6, 2))
    """
    rng = np.random.default_rng(seed)
    names = rng.permuted(np.tile(np.arange(ROWS), (count, 1)), axis=1)  # each name once per table
    step = rng.integers(1, ROWS - 1, size=(count, ROWS))  # never itself (0), never the row above (ROWS - 1)
    wanted = (np.arange(ROWS) + step) % ROWS
    wants = np.take_along_axis(names, wanted, axis=1)
    numbers = rng.normal(size=(count, ROWS))
    one_hot = np.eye(ROWS)
    position = np.broadcast_to(one_hot, (count, ROWS, ROWS))
    tokens = np.concatenate([position, one_hot[names], one_hot[wants], numbers[..., None]], axis=-1)
    answers = np.stack([np.roll(numbers, 1, axis=1), np.take_along_axis(numbers, wanted, axis=1)], axis=-1)
    return Tables(names, wants, wanted, tokens.astype("float32"), answers.astype("float32"))


class Solver:
    """A trained model of two questions: embedding, `depth` attention layers, a linear read-out of two numbers.

    Nothing is non-linear but the softmax, so whatever is solved is solved by attention.

    Attributes:
        model: tokens (B, T, 19) to answers (B, T, 2).
        maps: tokens to all attention weights (B, depth · H, T, T).
        losses: of each epoch.
    """

    def __init__(self, num_heads: int, key_dim: int, seed: int, depth: int = 1, epochs: int = 8) -> None:
        keras.utils.set_random_seed(seed)
        tokens = keras.Input((ROWS, FEATURES))
        z = layers.Dense(WIDTH, use_bias=False)(tokens)  # (B, T, D)
        weights = []
        for level in range(depth):
            attention = layers.MultiHeadAttention(num_heads, key_dim, name=f"attention_{level}")
            mixed, of_level = attention(query=z, value=z, return_attention_scores=True)  # (B, T, D), (B, H, T, T)
            weights.append(of_level)
            z = z + mixed  # (B, T, D)
        self.model = keras.Model(tokens, layers.Dense(2)(z))
        self.maps = keras.Model(tokens, ops.concatenate(weights, axis=1))
        self.model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse", steps_per_execution=25)
        data = tables(16_000, seed=0)
        fit = self.model.fit(data.tokens, data.answers, batch_size=128, epochs=epochs, verbose=0)
        self.losses: list[float] = fit.history["loss"]

    def attention_parameters(self) -> int:
        """The number of parameters of all attention layers."""
        return sum(layer.count_params() for layer in self.model.layers if layer.name.startswith("attention"))

    def unexplained(self, test: Tables) -> NDArray[np.float64]:
        """The share (2,) of each answer's variance that the model leaves unexplained."""
        return unexplained(ops.convert_to_numpy(self.model(test.tokens)), test)

    def weights(self, test: Tables) -> NDArray[np.float64]:
        """All attention weights (B, depth · H, T, T)."""
        return ops.convert_to_numpy(self.maps(test.tokens))

    def circuits(self, head: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A head of the first layer as two matrices (Elhage et al. 2021): scores (19, 19), what is copied (19, 2).

        Both are in the columns of the tokens, with the embedding in front and the read-out behind; biases are left out.
        """
        embed, read = self.model.layers[1].get_weights()[0], self.model.layers[-1].get_weights()[0]  # (19, D), (D, 2)
        w_q, _, w_k, _, w_v, _, w_o, _ = self.model.get_layer("attention_0").get_weights()
        looks = embed @ w_q[:, head] @ w_k[:, head].T @ embed.T / w_k.shape[-1] ** 0.5
        return looks, embed @ w_v[:, head] @ w_o[head] @ read

    def past_the_attention(self, test: Tables) -> NDArray[np.float64]:
        """What the residual connection alone adds to the answers (B, T, 2)."""
        return test.tokens @ self.model.layers[1].get_weights()[0] @ self.model.layers[-1].get_weights()[0]

    def contribution(self, head: int, test: Tables) -> NDArray[np.float64]:
        """What one head of the first layer adds to the answers (B, T, 2), its value bias included."""
        _, copied = self.circuits(head)
        *_, bias, w_o, _ = self.model.get_layer("attention_0").get_weights()
        read = self.model.layers[-1].get_weights()[0]
        return self.weights(test)[:, head] @ (test.tokens @ copied + bias[head] @ w_o[head] @ read)

    def without(self, head: int, test: Tables, *, mean: str | None = None) -> NDArray[np.float64]:
        """The unexplained shares (2,) with a head's contribution replaced: by 0, or by its mean.

        Args:
            mean: None for zero, "all" for the mean over tables and rows, "row" for the mean of each row.
        """
        own = self.contribution(head, test)
        axes: dict[str, Any] = {"all": (0, 1), "row": 0}
        instead = 0.0 if mean is None else own.mean(axis=axes[mean], keepdims=True)
        return unexplained(ops.convert_to_numpy(self.model(test.tokens)) - own + instead, test)


def unexplained(guesses: NDArray[np.float64], test: Tables) -> NDArray[np.float64]:
    """The share (2,) of each answer's variance that guesses (B, T, 2) leave unexplained."""
    return ((guesses - test.answers) ** 2).mean(axis=(0, 1)) / test.answers.var(axis=(0, 1))


def jobs(weights: NDArray[np.float64], test: Tables) -> NDArray[np.float64]:
    """The mean weight (H, 2) of each head on the row above and on the wanted row; weights (B, H, T, T)."""
    above = weights[:, :, np.arange(ROWS), np.arange(ROWS) - 1].mean(axis=(0, 2))  # (H,)
    wanted = np.take_along_axis(weights, test.wanted[:, None, :, None], axis=-1).mean(axis=(0, 2, 3))  # (H,)
    return np.stack([above, wanted], axis=-1)


def attend_by(tokens: NDArray[np.float32], looks: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights (B, T, T) that a matrix of scores (19, 19) gives to tokens (B, T, 19)."""
    return softmax(tokens @ looks @ tokens.swapaxes(-1, -2), axis=-1)

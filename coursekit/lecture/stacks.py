"""Stacks of fresh encoder blocks with and without their parts, measured before any training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import keras
import numpy as np
from keras import layers

from coursekit.lecture.sorting import glorot

if TYPE_CHECKING:
    from numpy.typing import NDArray

BATCH, LENGTH, WIDTH, HEADS = 4, 8, 32, 4


class Measured(NamedTuple):
    """What a stack of N blocks shows at its start; index 0 of the first three is the input."""

    cosine: NDArray[np.float64]  # (N + 1,) mean cosine of two different tokens of a sentence
    size: NDArray[np.float64]  # (N + 1,) standard deviation of the features
    gradient: NDArray[np.float64]  # (N + 1,) norm of the loss's gradient with respect to the tokens
    query: NDArray[np.float64]  # (N,) norm of the gradient of each block's query kernel
    value: NDArray[np.float64]  # (N,) and of its value kernel
    largest: NDArray[np.float64]  # (N,) the largest weight of a row of attention, on average


def mean_cosine(x: NDArray[np.float64]) -> float:
    """Mean cosine between different tokens of each sentence; x (B, T, D).

    >>> mean_cosine(np.array([[[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]]))  # one pair of three points the same way
    0.3333333333333333
    """
    unit = x / np.linalg.norm(x, axis=-1, keepdims=True)  # (B, T, D)
    cosines = np.einsum("btd,bsd->bts", unit, unit)  # (B, T, T)
    length = x.shape[1]
    return float((cosines.sum() - len(x) * length) / (len(x) * length * (length - 1)))


def at_the_start(
    depth: int, seed: int, *, residual: bool = True, norm: str = "pre", parts: str = "attention and network"
) -> Measured:
    """Send random tokens (4, 8, 32) through a stack of fresh blocks, and a random direction's gradient back.

    Args:
        depth: the number of blocks N, each with weights of its own.
        seed: of the weights, the tokens and the direction; all versions with one seed share them.
        residual: whether the result of a sub-layer is added to its input, or replaces it.
        norm: "pre", "post" or "none".
        parts: which sub-layers a block has; "attention" or "network" leaves the other one out. The gradients and the
            largest weights of an attention that is left out are 0.

    Raises:
        ValueError: an unknown norm, or other parts.
    """
    import tensorflow as tf

    if norm not in ("pre", "post", "none"):
        raise ValueError(f'norm is "{norm}"; choose "pre", "post" or "none"')
    if parts not in ("attention and network", "attention", "network"):
        raise ValueError(f'parts is "{parts}"; choose "attention and network", "attention" or "network"')
    keras.utils.set_random_seed(seed)
    normalise = layers.LayerNormalization(center=False, scale=False, epsilon=1e-6)
    attentions = [
        layers.MultiHeadAttention(HEADS, WIDTH // HEADS, kernel_initializer=glorot(WIDTH)) for _ in range(depth)
    ]
    networks = [keras.Sequential([layers.Dense(2 * WIDTH, activation="relu"), layers.Dense(WIDTH)]) for _ in attentions]
    start, direction = keras.random.normal((2, BATCH, LENGTH, WIDTH))  # (B, T, D) each

    def around(x: Any, result: Any) -> Any:
        x = x + result if residual else result
        return normalise(x) if norm == "post" else x

    def pass_through(x: Any) -> tuple[list[Any], list[Any]]:
        states, largest = [x], []
        for attention, network in zip(attentions, networks, strict=True):
            weights = tf.zeros((1, 1, 1, 1))
            if "attention" in parts:
                h = normalise(x) if norm == "pre" else x
                mixed, weights = attention(query=h, value=h, return_attention_scores=True)  # (B, T, D), (B, H, T, T)
                x = around(x, mixed)
            if "network" in parts:
                x = around(x, network(normalise(x) if norm == "pre" else x))
            states.append(x)
            largest.append(tf.reduce_mean(tf.reduce_max(weights, axis=-1)))
        return states, largest

    for attention, network in zip(attentions, networks, strict=True):  # make the weights, the same in all versions
        network(attention(query=start, value=start))
    kernels = [
        [part.kernel.value for part in (attention.query_dense, attention.value_dense)] for attention in attentions
    ]
    with tf.GradientTape() as tape:
        tape.watch(start)
        states, largest = pass_through(start)
        loss = tf.reduce_sum(normalise(states[-1]) * direction) / direction.shape.num_elements()
    none = tf.UnconnectedGradients.ZERO
    gradients, by_kernel = tape.gradient(loss, (states, kernels), unconnected_gradients=none)
    return Measured(
        cosine=np.array([mean_cosine(np.asarray(state)) for state in states]),
        size=np.array([float(tf.math.reduce_std(state)) for state in states]),
        gradient=np.array([float(tf.norm(gradient)) for gradient in gradients]),
        query=np.array([float(tf.norm(query)) for query, _ in by_kernel]),
        value=np.array([float(tf.norm(value)) for _, value in by_kernel]),
        largest=np.array([float(weight) for weight in largest]),
    )

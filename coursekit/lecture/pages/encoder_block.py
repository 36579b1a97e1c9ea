"""The encoder block of lecture 4, in both orders: one Keras model each, without mask and dropout."""

import keras
from keras import layers

from coursekit.lecture.sorting import glorot


def pre_norm_block(width, heads, hidden):
    """An encoder block, x (B, T, D) to (B, T, D): each sub-layer reads a normalised copy and adds its result to x."""
    x = keras.Input((None, width))  # (B, T, D)
    normed = layers.LayerNormalization(epsilon=1e-6)(x)  # (B, T, D)
    attention = layers.MultiHeadAttention(heads, width // heads, kernel_initializer=glorot(width))
    y = x + attention(query=normed, value=normed)  # (B, T, D)
    normed = layers.LayerNormalization(epsilon=1e-6)(y)  # (B, T, D)
    wide = layers.Dense(hidden, activation="relu")(normed)  # (B, T, F)
    return keras.Model(x, y + layers.Dense(width)(wide))  # (B, T, D)


def post_norm_block(width, heads, hidden):
    """The block of 2017, x (B, T, D) to (B, T, D): every sum goes through a norm (Vaswani et al. 2017, section 3.1)."""
    x = keras.Input((None, width))  # (B, T, D)
    attention = layers.MultiHeadAttention(heads, width // heads, kernel_initializer=glorot(width))
    y = layers.LayerNormalization(epsilon=1e-6)(x + attention(query=x, value=x))  # (B, T, D)
    wide = layers.Dense(hidden, activation="relu")(y)  # (B, T, F)
    return keras.Model(x, layers.LayerNormalization(epsilon=1e-6)(y + layers.Dense(width)(wide)))  # (B, T, D)

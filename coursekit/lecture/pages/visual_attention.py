"""The attention module and the Grad-CAM of lecture 1b, as its page shows them."""

from __future__ import annotations

import keras
import tensorflow as tf
from keras import layers, ops


def gradient_map(insides, images, name, classes, start=tf.identity):
    """Grad-CAM (N, h, w) of the features `name` for the classes (N,), from start(logits)."""
    model = keras.Model(insides.inputs, [insides.output[name], insides.output["logits"]])
    with tf.GradientTape() as tape:
        features, logits = model(tf.constant(images))  # (N, h, w, C), (N, classes)
        score = tf.reduce_sum(start(logits) * tf.one_hot(classes, logits.shape[-1]))
    weights = tf.reduce_mean(tape.gradient(score, features), axis=(1, 2), keepdims=True)  # (N, 1, 1, C)
    return tf.nn.relu(tf.reduce_sum(features * weights, axis=-1)).numpy()  # (N, h, w)


def plain_spatial_attention(f, g, filters=32):
    """Features f (B, h, w, C), guided by g: returns the sum of A·f (B, C) and the map A (B, h, w, 1)."""
    h, w = f.shape[1:3]
    wish = layers.Conv2D(filters, 1)(g)  # (B, h', w', filters): the query
    wish = layers.UpSampling2D((h // g.shape[1], w // g.shape[2]), interpolation="bilinear")(wish)
    offer = layers.Conv2D(filters, 1, use_bias=False)(f)  # (B, h, w, filters): the keys
    score = layers.Conv2D(1, 1)(ops.relu(wish + offer))  # (B, h, w, 1)
    a = layers.Reshape((h, w, 1))(layers.Softmax()(layers.Flatten()(score)))  # one softmax over all h·w positions
    return ops.sum(a * f, axis=(1, 2)), a

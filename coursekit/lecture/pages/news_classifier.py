"""The classifier of lecture 7, as its page shows it."""

from __future__ import annotations

import tensorflow_hub as hub
import tf_keras
from tf_keras import layers

from coursekit.lecture import bert


def plain_classifier(encoder, classes=4, trainable=True):
    """A classifier on a pre-trained encoder: three rows of ids, each (B, T), to probabilities (B, classes)."""
    rows = {name: layers.Input((None,), dtype="int32", name=name) for name in bert.INPUTS}
    body = hub.KerasLayer(encoder, trainable=trainable)
    head = tf_keras.Sequential([layers.Dense(16, "relu"), layers.Dropout(0.2), layers.Dense(classes, "softmax")])
    return tf_keras.Model(rows, head(body(rows)["pooled_output"]))  # pooled: (B, D), one vector a text

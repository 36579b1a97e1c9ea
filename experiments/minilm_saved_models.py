"""Writes MiniLM as two SavedModels in the form of TensorFlow Hub's BERT: preprocessing, and encoder.

    python experiments/minilm_saved_models.py FOLDER     # FOLDER/preprocess and FOLDER/encoder, 90 MB

Lecture 7's cell for BERT-base takes the two folders as its handles (T at most 512). `pooled_output` is the vector that
MiniLM was trained for: the mean over all tokens that are no padding, at length 1. The model's maker, its licence and
where it comes from lie beside its files (`data.published("minilm")`).
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import tensorflow as tf
import typer
from small_bert import preprocessor, reusable

from coursekit import data
from coursekit.data.tensor_files import open_tensors
from coursekit.lecture import bert
from coursekit.lecture.pages.news_classifier import PlainBertBlock
from coursekit.published import load_published


class HubEncoder:
    """Three rows of ids, each (B, T), to what TensorFlow Hub's encoders give; all its numbers can learn."""

    inputs = tuple(tf.TensorSpec((None, None), tf.int32, name=name) for name in bert.INPUTS)

    def __init__(self) -> None:
        encoder = load_published(PlainBertBlock, "minilm")
        types = open_tensors(data.published("minilm") / "model.safetensors").read(
            "embeddings.token_type_embeddings.weight"
        )
        self.words = tf.Variable(encoder.by_word, name="words")  # (V, D)
        self.positions = tf.Variable(encoder.by_position - types[0], name="positions")  # (512, D)
        self.types = tf.Variable(types, name="types")  # (2, D)
        self.first_norm, self.blocks = encoder.first_norm, encoder.blocks
        layers = [each.value for layer in (self.first_norm, *self.blocks) for each in layer.weights]
        self.variables = self.trainable_variables = [self.words, self.positions, self.types, *layers]

    def __call__(self, inputs: dict[str, Any], training: bool = False) -> dict[str, Any]:
        ids, mask, types = (inputs[name] for name in bert.INPUTS)
        x = tf.gather(self.words, ids) + self.positions[: tf.shape(ids)[1]] + tf.gather(self.types, types)
        x, states = self.first_norm(x), []  # (B, T, D)
        for block in self.blocks:
            x = block(x, attention_mask=mask[:, None] > 0)
            states.append(x)
        total = tf.reduce_sum(x * tf.cast(mask, x.dtype)[..., None], axis=1)  # (B, D)
        pooled = total / tf.norm(total, axis=-1, keepdims=True)
        return {"pooled_output": pooled, "sequence_output": x, "encoder_outputs": states}


def main(folder: Path) -> None:
    """Write both halves into a folder; what they replace is removed."""
    for name in ("preprocess", "encoder"):
        shutil.rmtree(folder / name, ignore_errors=True)
    tf.saved_model.save(preprocessor(data.published("minilm") / "vocab.txt"), folder / "preprocess")
    tf.saved_model.save(reusable(HubEncoder()), folder / "encoder")


if __name__ == "__main__":
    typer.run(main)

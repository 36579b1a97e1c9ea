"""Trains three classifiers on the sample reviews, step by step in turn; they differ in their attention alone.

    python benchmarks/training.py                   some minutes on two cores
    python benchmarks/training.py --epochs 1        the step times alone, in a minute

The encoder block is that of solution 04. Its attention is Keras's MultiHeadAttention, or the layer that students write
in lab 03 (solution 03), or one written without care: a Dense layer for each head's queries, keys and values, and a
Python loop over the heads. All three see the same batches in the same order. The last line is JSON.
"""

from __future__ import annotations

import json
import os
import re
import time
import warnings
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from coursekit import data, quiet

quiet.start_tensorflow()

import keras  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras import ops  # noqa: E402

# Keras warns of any `mask` that is handed to a layer, and of layers that are put into a block from outside.
warnings.filterwarnings("ignore", message=r".*(passed an input with a mask|`build\(\)` was called on layer).*")

ROOT = Path(__file__).resolve().parents[1]
VARIANTS = ("keras", "ours", "naive")


def solution(lab: str, *exercises: str) -> SimpleNamespace:
    """Run the code of exercises of a lab's solution, and return what it defines."""
    text = (ROOT / "solutions" / lab / f"{lab}.py").read_text(encoding="utf-8")
    names = {"keras": keras, "ops": ops, "np": np, "tf": tf}
    for exercise in exercises:
        found = re.search(rf'^# %% .*"grade_id": "{exercise}-code".*\n((?:(?!^# %%).*\n)*)', text, re.MULTILINE)
        if found is None:
            raise SystemExit(f"solutions/{lab} has no cell {exercise}-code")
        exec(compile(found[1], f"{lab}: {exercise}", "exec"), names)
    return SimpleNamespace(**names)


LAB_03 = solution("03_multi_head_attention", "split_heads", "merge_heads", "MultiHeadAttention")
LAB_04 = solution("04_encoder_block", "FeedForward", "EncoderBlock")
LAB_05 = solution("05_positional_encoding", "TokenAndPositionEmbedding")


class OurAttention(LAB_03.MultiHeadAttention):
    """The layer of solution 03, called as the block of solution 04 calls Keras's."""

    def call(self, query, value, attention_mask=None):
        return super().call(query, value, value, mask=attention_mask)


class NaiveAttention(keras.Layer):
    """Multi-head attention as one would write it first: head by head, nothing fused."""

    def __init__(self, d_model, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.width = d_model // num_heads
        self.heads = [[keras.layers.Dense(self.width) for _ in range(3)] for _ in range(num_heads)]
        self.out = keras.layers.Dense(d_model)

    def call(self, query, value, attention_mask=None):
        outputs = []
        for to_q, to_k, to_v in self.heads:
            q, k, v = to_q(query), to_k(value), to_v(value)  # (B, T, K)
            scores = ops.matmul(q, ops.transpose(k, (0, 2, 1))) / self.width**0.5  # (B, T, T)
            scores = scores + ops.cast(ops.logical_not(attention_mask), scores.dtype) * -1e9
            outputs.append(ops.matmul(ops.softmax(scores, axis=-1), v))  # (B, T, K)
        return self.out(ops.concatenate(outputs, axis=-1))  # (B, T, D)


class Classifier(keras.Model):
    """Token and position embedding, one encoder block, the mean over real tokens, two Dense layers."""

    def __init__(self, variant, length, vocabulary, d_model, num_heads, d_ff):
        super().__init__()
        self.embedding = LAB_05.TokenAndPositionEmbedding(length, vocabulary, d_model)
        self.block = LAB_04.EncoderBlock(d_model, num_heads, d_ff)
        if variant != "keras":
            self.block.attention = {"ours": OurAttention, "naive": NaiveAttention}[variant](d_model, num_heads)
        self.hidden = keras.layers.Dense(20, activation="relu")
        self.out = keras.layers.Dense(1, activation="sigmoid")

    def call(self, ids, training=None):
        real = ops.not_equal(ids, 0)  # (B, T)
        x = self.block(self.embedding(ids), mask=ops.expand_dims(real, 1), training=training)  # (B, T, D)
        share = ops.cast(real, x.dtype) / ops.sum(ops.cast(real, x.dtype), axis=1, keepdims=True)  # (B, T)
        return self.out(self.hidden(ops.sum(x * share[..., None], axis=1)))  # (B, 1)


def encode(length: int | None) -> tuple:
    """The sample reviews as ids, cut or padded to `length` words; to the longest of them when it is None."""
    parts = data.reviews(source="sample")
    split = [[re.findall(r"\w+", text.replace("<br />", " ").lower()) for text in texts] for texts, _ in parts]
    counts = Counter(word for text in split[0] for word in text)
    ids = {word: number for number, word in enumerate(sorted(counts), start=2)}
    length = length or max(len(text) for texts in split for text in texts)
    encoded = []
    for texts, (_, labels) in zip(split, parts, strict=True):
        x = np.zeros((len(texts), length), dtype="int32")
        for row, text in zip(x, texts, strict=True):
            row[: min(len(text), length)] = [ids.get(word, 1) for word in text[:length]]
        encoded.append((x, labels.astype("float32")[:, None]))
    return encoded[0], encoded[1], len(ids) + 2


def main(
    epochs: Annotated[int, typer.Option(help="Times through the 4,000 reviews.")] = 8,
    batch: Annotated[int, typer.Option(help="Reviews in a batch.")] = 16,
    length: Annotated[int | None, typer.Option(help="Words of a review; the longest review's when not given.")] = None,
    d_model: Annotated[int, typer.Option(help="Width of a token.")] = 32,
    heads: Annotated[int, typer.Option(help="Heads; they share the width.")] = 4,
    d_ff: Annotated[int, typer.Option(help="Width inside the feed-forward network.")] = 32,
    rate: Annotated[float, typer.Option(help="Adam's learning rate.")] = 3e-3,
    steps: Annotated[int, typer.Option(help="Steps that one model takes before the next one's turn.")] = 25,
    seed: Annotated[int, typer.Option(help="Of weights, dropout and the order of the reviews.")] = 0,
) -> None:
    """Compare the step time and the accuracy of three attentions in the same encoder block, in one interleaved run."""
    (x, y), test, vocabulary = encode(length)
    models = {}
    for variant in VARIANTS:
        keras.utils.set_random_seed(seed)
        model = Classifier(variant, x.shape[1], vocabulary, d_model, heads, d_ff)
        model.compile(
            optimizer=keras.optimizers.Adam(rate),
            loss="binary_crossentropy",
            metrics=["accuracy"],
            steps_per_execution=steps,
        )
        model(x[:1])
        model.make_train_function()
        models[variant] = model
    counts = {variant: model.count_params() for variant, model in models.items()}
    if len(set(counts.values())) > 1:
        raise SystemExit(f"the three are not the same model: {counts}")

    seconds = train(models, x, y, epochs=epochs, batch=batch, steps=steps, seed=seed)
    accuracy = {variant: model.evaluate(*test, batch_size=100, verbose=0)[1] for variant, model in models.items()}
    report(seconds, accuracy, next(iter(counts.values())))


def train(models: dict, x, y, *, epochs: int, batch: int, steps: int, seed: int) -> dict[str, list[float]]:
    """Train all models on the same batches, `steps` at a time, each in turn; return seconds of a step, turn by turn.

    Who goes first changes from turn to turn. The first turn compiles, and is not counted.
    """
    rng = np.random.default_rng(seed)
    turn = batch * steps
    seconds: dict[str, list[float]] = {variant: [] for variant in models}
    turns = [(epoch, start) for epoch in range(epochs) for start in range(0, len(x) - turn + 1, turn)]
    if len(turns) < 4:
        raise SystemExit("too few turns to compare; lower --steps or --batch, or raise --epochs")
    order = np.arange(len(x))
    for number, (_, start) in enumerate(tqdm(turns, desc="training", unit=" turns", disable=None)):
        if start == 0:
            order = rng.permutation(len(x))
        rows = order[start : start + turn]
        batches = tf.data.Dataset.from_tensor_slices((x[rows], y[rows])).batch(batch, drop_remainder=True)
        names = list(models)
        for variant in names[number % len(names) :] + names[: number % len(names)]:
            iterator = iter(batches)
            begun = time.perf_counter()
            logs = models[variant].train_function(iterator)
            float(tf.nest.flatten(logs)[0])  # waits for the result
            seconds[variant].append((time.perf_counter() - begun) / steps)
    return {variant: each[1:] for variant, each in seconds.items()}


def report(seconds: dict[str, list[float]], accuracy: dict[str, float], parameters: int) -> None:
    """Show a table; print one line of JSON."""
    reference = np.array(seconds["keras"])
    ratios = {variant: float(np.median(np.array(each) / reference)) for variant, each in seconds.items()}
    medians = {variant: float(np.median(each)) for variant, each in seconds.items()}
    table = Table("attention", "ms a step", "quartiles", "against Keras", "test accuracy", title="one encoder block")
    for variant, each in seconds.items():
        low, high = np.percentile(each, (25, 75)) * 1_000
        table.add_row(
            variant,
            f"{medians[variant] * 1_000:.2f}",
            f"{low:.2f} – {high:.2f}",
            f"{ratios[variant]:.3f}",
            f"{accuracy[variant]:.3f}",
        )
    Console().print(table)
    print(
        json.dumps(
            {
                "ours_vs_keras": round(ratios["ours"], 3),
                "naive_vs_keras": round(ratios["naive"], 3),
                "step_ms": {variant: round(each * 1_000, 3) for variant, each in medians.items()},
                "accuracy": {variant: round(each, 4) for variant, each in accuracy.items()},
                "parameters": parameters,
                "turns": len(reference),
            }
        )
    )


if __name__ == "__main__":
    typer.run(main)

"""Lecture 10's training: windows of one stream, AdamW with a warm-up and a cosine, bits a byte of held-out text."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from IPython.display import clear_output
from keras import ops

from coursekit.lecture import plots
from coursekit.lecture.pages.windows import BATCH, LENGTH, PEAK_RATE, STEPS, WARMUP, side_by_side, windows

__all__ = [
    "BATCH",
    "LENGTH",
    "PEAK_RATE",
    "STEPS",
    "fit_on",
    "held_out_bits",
    "in_graph",
    "show_bits",
    "traced",
    "train",
    "trained_live",
    "windows",
]


def train(
    build: Callable[[], keras.Model],
    stream: np.ndarray,
    *,
    seed: int,
    steps: int = STEPS,
    rate: float = PEAK_RATE,
    compiled: bool = False,
    watch: Callable[[keras.Model, int, float], None] = lambda model, step, seconds: None,
    watch_at: Iterable[int] = (),
) -> tuple[keras.Model, list[float], float]:
    """Train from scratch with AdamW, a warm-up and a cosine to the last step.

    Args:
        build: makes the model; it returns logits (B, T, V), or a tuple whose first entry they are.
        compiled: whether XLA compiles the step.
        watch: called with the model, the step and the processor seconds so far, after each step in `watch_at`.

    Returns:
        The model, the loss in nats a token of each step, and the processor seconds without those of `watch`.
    """
    keras.utils.set_random_seed(seed)
    model = build()
    warmup = round(steps * WARMUP)
    schedule = keras.optimizers.schedules.CosineDecay(0.0, steps - warmup, warmup_target=rate, warmup_steps=warmup)
    optimizer = keras.optimizers.AdamW(schedule, weight_decay=0.1, beta_1=0.9, beta_2=0.95, global_clipnorm=1.0)

    @tf.function(jit_compile=compiled)
    def step(rows):
        with tf.GradientTape() as tape:
            found = model(rows[:, :-1])
            logits = found[0] if isinstance(found, tuple) else found
            loss = ops.mean(ops.sparse_categorical_crossentropy(rows[:, 1:], logits, from_logits=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply(gradients)
        return loss

    rows = windows(stream, steps, seed)
    model(rows[0, :1, :-1])
    optimizer.build(model.trainable_variables)
    watched, losses, spent = set(watch_at), [], 0.0
    for number, batch in enumerate(rows, 1):
        began = time.process_time()
        losses.append(float(step(batch)))
        spent += time.process_time() - began
        if number in watched:
            watch(model, number, spent)
    return model, losses, spent


def fit_on(model: keras.Model, variables: list, stream: np.ndarray, *, steps: int, rate: float, seed: int) -> None:
    """Go on training some of a model's variables, in place, on random windows of a short stream at a constant rate."""
    optimizer = keras.optimizers.Adam(rate, beta_2=0.95, global_clipnorm=1.0)
    optimizer.build(variables)

    @tf.function
    def step(rows):
        with tf.GradientTape() as tape:
            loss = ops.mean(ops.sparse_categorical_crossentropy(rows[:, 1:], model(rows[:, :-1]), from_logits=True))
        optimizer.apply(tape.gradient(loss, variables), variables)

    for rows in windows(stream, steps, seed):
        step(rows)


def held_out_bits(model: keras.Model, stream: np.ndarray, token_bytes: np.ndarray, most: int | None = None) -> float:
    """Bits a byte of a stream in windows side by side: the end of a document costs bits and has no byte."""
    rows = side_by_side(stream)[:most]
    total = 0.0
    for begin in range(0, len(rows), 32):
        total += float(_nats(model, rows[begin : begin + 32]))
    return total / np.log(2) / token_bytes[rows[:, 1:]].sum()


@tf.function(reduce_retracing=True)
def _nats(model, rows):
    return ops.sum(ops.sparse_categorical_crossentropy(rows[:, 1:], model(rows[:, :-1]), from_logits=True))


def trained_live(
    build: Callable[[], keras.Model], stream: np.ndarray, *, steps: int, measure: Callable[[keras.Model], float]
) -> keras.Model:
    """Train as `train` does with seed 1; after every 20 steps and the last one draw what `measure` says of the model.

    Args:
        measure: called with the model; returns its bits a byte on held-out text.

    Returns:
        The model.
    """
    seen: list[int] = []
    bits: list[float] = []

    def watch(model, step, seconds):
        seen.append(step)
        bits.append(measure(model))
        clear_output(wait=True)
        show_bits(seen, bits, steps)
        print(f"step {step}: {bits[-1]:.2f} bits a byte")

    model, _, _ = train(build, stream, seed=1, steps=steps, watch=watch, watch_at=[*range(20, steps, 20), steps])
    return model


def traced(model: Callable[..., Any]) -> Callable[..., Any]:
    """Two graphs of a model, as one function of ids (1, t) and caches: for a prompt, and for the tokens behind it.

    Args:
        model: called as model(ids) or model(ids, caches=…); returns logits and caches, a pair of (1, G, t, K) a block.

    Raises:
        Exception: the model cannot be traced.
    """
    _, kept = model(np.zeros((1, 2), "int32"))
    caches = [
        tuple(tf.TensorSpec((1, part.shape[1], None, part.shape[3]), part.dtype) for part in pair) for pair in kept
    ]
    ids = tf.TensorSpec((1, None), "int32")
    first = tf.function(lambda ids: model(ids), input_signature=[ids])
    step = tf.function(lambda ids, caches: model(ids, caches=caches), input_signature=[ids, caches])
    first.get_concrete_function(), step.get_concrete_function()

    def call(ids, caches=None):
        ids = np.asarray(ids, "int32")
        return first(ids) if caches is None else step(ids, [tuple(pair) for pair in caches])

    return call


def in_graph(model: Callable[..., Any]) -> Callable[..., Any]:
    """The model as `traced` makes it; the model itself, which is said, where it cannot be traced."""
    try:
        return traced(model)
    except Exception as error:  # whatever a class can raise that was never traced
        print(f"Your model does not run inside tf.function, so it writes slowly ({type(error).__name__}).")
        return model


def show_bits(steps: Sequence[int], bits: Sequence[float], last: int) -> None:
    """Draw bits a byte of held-out text over the steps of lab 10's training, which ends at the step `last`."""
    figure, ax = plt.subplots(figsize=(6, 3))
    ax.plot(steps, bits, **plots.LINES[0], clip_on=False)
    ax.axhline(2.04, color=plots.LINES[5]["color"], linewidth=1)
    ax.text(last, 2.07, "the lecture's model on all held-out text, 640 steps", ha="right")
    ax.set(xlabel="step", ylabel="bits a byte, held out", xlim=(0, last), ylim=(1.8, 5))
    plots.show(
        figure,
        alt="The lower, the better your model predicts functions that it has not read. Bits a byte on held-out "
        "functions over the steps so far; a level line shows the lecture's model.",
    )

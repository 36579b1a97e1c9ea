"""Train video Transformers on moving digits whose class is the direction, beside a model that averages over frames.

    python experiments/moving_digits.py

Each clip is a handwritten digit of scikit-learn that moves up, down, left or right over a frame whose edges are joined.
So every single frame is as likely in each class. All frames together, without their order, show the axis and no more:
an "up" and a "down" clip have the same frames. Joint and factorised attention over tubelets are those of ViViT
(Arnab et al., 2021, section 3.3, models 1 and 3). It writes `coursekit/recorded/moving_digits.json`, which lecture 9b
shows.
"""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Annotated

import keras
import numpy as np
import typer
from keras import layers, ops
from scipy.stats import binomtest
from sklearn.datasets import load_digits

from coursekit import recorded

NAME = "moving_digits"
DIRECTIONS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}  # (y, x) a frame
OPPOSITE = np.array([1, 0, 3, 2])
FRAMES, SIZE, PATCH, TUBELET = 8, 20, 4, 2
MOMENTS, PLACES = FRAMES // TUBELET, (SIZE // PATCH) ** 2  # 4 · 25 = 100 tubelets
D, H, F, BLOCKS = 48, 4, 96, 2
KINDS = ("frame average", "joint", "factorised")
TRAIN, TEST, EPOCHS, BATCH, PEAK_RATE = 4_000, 1_000, 3, 64, 2e-3


def clips(count: int, pool: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Clips (N, f, h, w, 1) of one digit each, and the direction (N,); one or two pixels a frame, from any place.

    All directions are equally frequent, up to one clip: a constant answer is right in a quarter of the clips.
    """
    drawings = load_digits().images.astype("float32") / 16  # (1797, 8, 8)
    frames, classes = np.zeros((count, FRAMES, SIZE, SIZE, 1), "float32"), rng.permutation(np.arange(count) % 4)
    steps = np.array(list(DIRECTIONS.values()))[classes] * rng.integers(1, 3, count)[:, None]  # (N, 2)
    starts, chosen = rng.integers(0, SIZE, (count, 2)), rng.choice(pool, count)
    for n, t in itertools.product(range(count), range(FRAMES)):
        y, x = (starts[n] + t * steps[n]) % SIZE
        frames[n, t, :8, :8, 0] = drawings[chosen[n]]
        frames[n, t] = np.roll(frames[n, t], (y, x), axis=(0, 1))
    return frames, classes.astype("int32")


class Positions(keras.Layer):
    """Add learned positions, one for each moment and one for each place, to tokens (B, f, N, D)."""

    def build(self, shape):
        _, moments, places, width = shape
        start = keras.initializers.RandomNormal(stddev=0.02)
        self.moments = self.add_weight(shape=(moments, 1, width), initializer=start, name="moments")
        self.places = self.add_weight(shape=(1, places, width), initializer=start, name="places")

    def call(self, x):
        return x + self.moments + self.places


def attended(x):
    """Pre-norm self-attention over the axis before the last: (…, T, D) to the same shape, residual included."""
    normed = layers.LayerNormalization(epsilon=1e-6)(x)
    return x + layers.MultiHeadAttention(H, D // H, attention_axes=[len(x.shape) - 2])(query=normed, value=normed)


def forward(x):
    """Pre-norm feed-forward sub-layer, residual included."""
    return x + layers.Dense(D)(layers.Dense(F, activation="gelu")(layers.LayerNormalization(epsilon=1e-6)(x)))


def video_transformer(kind: str) -> keras.Model:
    """Clips (B, f, h, w, 1) to logits (B, 4), with "joint" or "factorised" attention over tubelets of 2 × 4 × 4."""
    clip = keras.Input((FRAMES, SIZE, SIZE, 1))
    x = layers.Conv3D(D, (TUBELET, PATCH, PATCH), strides=(TUBELET, PATCH, PATCH))(clip)  # (B, f', h', w', D)
    x = Positions()(layers.Reshape((MOMENTS, PLACES, D))(x))  # (B, f', N, D)
    if kind == "joint":
        x = layers.Reshape((MOMENTS * PLACES, D))(x)  # every tubelet reads every other one
    for _ in range(BLOCKS):
        x = attended(x)  # joint: over all tubelets; factorised: over the places of one moment
        if kind == "factorised":
            x = layers.Permute((2, 1, 3))(attended(layers.Permute((2, 1, 3))(x)))  # over the moments of one place
        x = forward(x)
    x = ops.mean(layers.LayerNormalization(epsilon=1e-6)(x), axis=list(range(1, len(x.shape) - 1)))  # (B, D)
    return keras.Model(clip, layers.Dense(4)(x), name=kind)


def frame_average() -> tuple[keras.Model, keras.Model]:
    """A classifier of single frames (B, h, w, 1) with the same blocks, and clips (B, f, h, w, 1) to its mean logits."""
    frame = keras.Input((SIZE, SIZE, 1))
    x = Positions()(layers.Reshape((1, PLACES, D))(layers.Conv2D(D, PATCH, strides=PATCH)(frame)))  # (B, 1, N, D)
    for _ in range(BLOCKS):
        x = forward(attended(x))
    x = ops.mean(layers.LayerNormalization(epsilon=1e-6)(x), axis=(1, 2))  # (B, D)
    single, clip = keras.Model(frame, layers.Dense(4)(x)), keras.Input((FRAMES, SIZE, SIZE, 1))
    logits = ops.reshape(single(ops.reshape(clip, (-1, SIZE, SIZE, 1))), (-1, FRAMES, 4))
    return single, keras.Model(clip, ops.mean(logits, axis=1))


def trained(kind: str, seed: int, pool: np.ndarray, epochs: int) -> keras.Model:
    """Train on clips of the seed's own; "frame average" learns from single frames, each with its clip's class."""
    keras.utils.set_random_seed(seed)
    x, y = clips(TRAIN, pool, np.random.default_rng(seed))
    if kind == "frame average":
        learner, model = frame_average()
        x, y, rows = x.reshape(-1, SIZE, SIZE, 1), y.repeat(FRAMES), BATCH * FRAMES
    else:
        learner = model = video_transformer(kind)
        rows = BATCH
    steps = epochs * -(-TRAIN // BATCH)
    rate = keras.optimizers.schedules.CosineDecay(
        0.0, steps * 9 // 10, warmup_target=PEAK_RATE, warmup_steps=steps // 10
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    learner.compile(keras.optimizers.AdamW(rate, weight_decay=0.01), loss, jit_compile=False)
    learner.fit(x, y, batch_size=rows, epochs=epochs, verbose=0)
    return model


def scores(kind: str) -> int:
    """How many attention scores one head of one block calculates for one clip."""
    tokens = MOMENTS * PLACES
    return tokens**2 if kind == "joint" else tokens * (PLACES + MOMENTS) if kind == "factorised" else FRAMES * PLACES**2


def share(hits: np.ndarray) -> dict[str, float | list[float]]:
    """A share with Wilson's 95 % interval."""
    interval = binomtest(int(hits.sum()), len(hits)).proportion_ci(method="wilson")
    return {
        "share": round(float(hits.mean()), 4),
        "interval": [round(float(interval.low), 4), round(float(interval.high), 4)],
    }


def tested(model: keras.Model, x: np.ndarray, y: np.ndarray) -> dict:
    """Shares of right answers and axes, in order and with shuffled frames, and of opposite answers on reversed clips.

    Of the answers with the right axis, a model that ignores the order has half the directions right.
    """
    rng = np.random.default_rng(0)
    shuffled = np.stack([clip[rng.permutation(FRAMES)] for clip in x])
    said, mixed, back = (
        model.predict(each, batch_size=250, verbose=0).argmax(axis=-1) for each in (x, shuffled, x[:, ::-1])
    )
    return {
        "right": share(said == y),
        "axis right": share(said // 2 == y // 2),
        "right, frames shuffled": share(mixed == y),
        "axis right, frames shuffled": share(mixed // 2 == y // 2),
        "opposite answer, clip reversed": share(back == OPPOSITE[said]),
    }


def seconds_a_step(kind: str, x: np.ndarray) -> float:
    """Processor seconds of one training step of an untrained video Transformer, the mean of twenty."""
    model, y = video_transformer(kind), np.zeros(BATCH, "int32")
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    model.train_on_batch(x[:BATCH], y)
    started = time.process_time()
    for _ in range(20):
        model.train_on_batch(x[:BATCH], y)
    return (time.process_time() - started) / 20


def main(
    seeds: Annotated[str, typer.Option(help="The seeds, with commas between them")] = "1,2,3",
    epochs: Annotated[int, typer.Option(help=f"Passes over {TRAIN:,} clips")] = EPOCHS,
    out: Annotated[Path, typer.Option(help="Folder of the record to write")] = recorded.FOLDER,
) -> None:
    """Train every kind of model with each seed, and test what it makes of clips, of shuffled and of reversed ones."""
    began = time.process_time()
    order = np.random.default_rng(0).permutation(len(load_digits().images))
    pool, test_pool = order[:1_300], order[1_300:]  # no drawing is in both
    x, y = clips(TEST, test_pool, np.random.default_rng(0))
    results: dict = {
        "clip": [FRAMES, SIZE, SIZE],
        "tubelet": [TUBELET, PATCH, PATCH],
        "model": {"D": D, "H": H, "F": F, "blocks": BLOCKS},
        "training clips": TRAIN,
        "test clips": TEST,
        "epochs": epochs,
        "kinds": {},
        "runs": [],
    }
    for seed, kind in itertools.product(map(int, seeds.split(",")), KINDS):
        model = trained(kind, seed, pool, epochs)
        results["runs"].append({"kind": kind, "seed": seed} | tested(model, x, y))
        print(results["runs"][-1], flush=True)
        if kind not in results["kinds"]:
            results["kinds"][kind] = {"parameters": model.count_params(), "scores of one head": scores(kind)}
    for kind in ("joint", "factorised"):
        results["kinds"][kind]["processor seconds a training step"] = round(seconds_a_step(kind, x), 4)
    recorded.save(
        NAME,
        what="Moving digits, class = direction: joint and factorised attention over tubelets, and a mean over frames",
        data="Synthetic clips; the digits are scikit-learn's (Alpaydin and Kaynak, 1998), real",
        device="CPU, two cores; seconds are processor seconds",
        command=f"python experiments/{NAME}.py",
        seed=int(seeds.split(",")[0]),
        seconds=time.process_time() - began,
        results=results,
        folder=out,
    )


if __name__ == "__main__":
    typer.run(main)

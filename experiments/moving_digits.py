"""Train video Transformers on moving digits whose class is the direction, with and without attention over time.

    python experiments/moving_digits.py

Each clip is a handwritten digit of scikit-learn that moves up, down, left or right over a frame whose edges are joined.
So every single frame is as likely in each class. All frames together, without their order, show the axis and no more:
an "up" and a "down" clip have the same frames. A tubelet holds the patch of one frame, or of two: two show a motion.
Tokens read those of their own moment only, or first those and then the ones at their own place in all moments
(factorised: Arnab et al., 2021, section 3.3, model 3). It writes `coursekit/lecture/recorded/moving_digits.json`, which
lecture 9b shows, after every seed.
"""

from __future__ import annotations

import itertools
import time
from typing import Annotated

import keras
import numpy as np
import typer
from keras import layers, ops
from records import Out, Record, Seeds
from records import numbers as listed
from scipy.stats import binomtest
from sklearn.datasets import load_digits

from coursekit.lecture import recorded
from coursekit.lecture.moving_digits import FRAMES, SIZE, clips

NAME = "moving_digits"
OPPOSITE = np.array([1, 0, 3, 2])
PATCH = 4
PLACES = (SIZE // PATCH) ** 2  # 9
D, H, F, BLOCKS = 48, 4, 96, 2
TUBELETS = (1, 2)  # frames: 8 moments of 9 places, and 4
KINDS = ("factorised", "own moment only")
TRAIN, TEST, EPOCHS, BATCH, PEAK_RATE = 4_000, 1_000, 6, 64, 2e-3


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


def video_transformer(kind: str, tubelet: int) -> keras.Model:
    """Clips (B, f, h, w, 1) to logits (B, 4), with attention of a kind over tubelets of so many frames by 4 × 4."""
    clip = keras.Input((FRAMES, SIZE, SIZE, 1))
    moments, step = FRAMES // tubelet, (tubelet, PATCH, PATCH)
    x = layers.Conv3D(D, step, strides=step)(clip)  # (B, f', h', w', D)
    x = Positions()(layers.Reshape((moments, PLACES, D))(x))  # (B, f', N, D)
    for _ in range(BLOCKS):
        x = attended(x)  # over the places of one moment
        if kind == "factorised":
            x = layers.Permute((2, 1, 3))(attended(layers.Permute((2, 1, 3))(x)))  # over the moments of one place
        x = forward(x)
    x = ops.mean(layers.LayerNormalization(epsilon=1e-6)(x), axis=(1, 2))  # (B, D)
    return keras.Model(clip, layers.Dense(4)(x))


def trained(kind: str, tubelet: int, seed: int, pool: np.ndarray, epochs: int) -> keras.Model:
    """Train on clips of the seed's own."""
    keras.utils.set_random_seed(seed)
    x, y = clips(TRAIN, pool, np.random.default_rng(seed))
    model, steps = video_transformer(kind, tubelet), epochs * -(-TRAIN // BATCH)
    rate = keras.optimizers.schedules.CosineDecay(
        0.0, steps * 9 // 10, warmup_target=PEAK_RATE, warmup_steps=steps // 10
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.AdamW(rate, weight_decay=0.01), loss, jit_compile=False)
    model.fit(x, y, batch_size=BATCH, epochs=epochs, verbose=0)
    return model


def scores(kind: str, tubelet: int) -> int:
    """How many attention scores one head of one block calculates for one clip."""
    moments = FRAMES // tubelet
    return moments * PLACES * (PLACES + moments * (kind == "factorised"))


def share(hits: np.ndarray) -> dict[str, float | list[float]]:
    """A share with Wilson's 95 % interval."""
    interval = binomtest(int(hits.sum()), len(hits)).proportion_ci(method="wilson")
    return {
        "share": round(float(hits.mean()), 4),
        "interval": [round(float(interval.low), 4), round(float(interval.high), 4)],
    }


def changed(x: np.ndarray, tubelet: int) -> dict[str, np.ndarray]:
    """Clips (N, f, h, w, 1) with tubelets in random order, with each tubelet backwards, and backwards."""
    rng, cut = np.random.default_rng(0), x.reshape(len(x), -1, tubelet, *x.shape[2:])  # (N, f', frames, h, w, 1)
    return {
        "tubelets shuffled": np.stack([clip[rng.permutation(len(clip))] for clip in cut]).reshape(x.shape),
        "each tubelet backwards": cut[:, :, ::-1].reshape(x.shape),
        "clip backwards": x[:, ::-1],
    }


def tested(model: keras.Model, x: np.ndarray, y: np.ndarray, tubelet: int) -> dict:
    """Shares of right answers and right axes, and of opposite answers, to the clips and to each of the changed ones.

    Of the answers with the right axis, a model that ignores the order has half the directions right.
    """

    def said(each: np.ndarray) -> np.ndarray:
        return model.predict(each, batch_size=250, verbose=0).argmax(axis=-1)

    answers = said(x)
    found = {"right": share(answers == y), "axis right": share(answers // 2 == y // 2)}
    for name, each in changed(x, tubelet).items():
        other = said(each)
        found |= {
            f"right, {name}": share(other == y),
            f"axis right, {name}": share(other // 2 == y // 2),
            f"opposite answer, {name}": share(other == OPPOSITE[answers]),
        }
    return found


def main(
    seeds: Seeds = "1,2,3",
    epochs: Annotated[int, typer.Option(help=f"Passes over {TRAIN:,} clips")] = EPOCHS,
    out: Out = recorded.FOLDER,
) -> None:
    """Train every kind of model on tubelets of two frames and of one with each seed, and test it with changed clips."""
    began = time.process_time()
    order = np.random.default_rng(0).permutation(len(load_digits().images))
    pool, test_pool = order[:1_300], order[1_300:]  # no drawing is in both
    x, y = clips(TEST, test_pool, np.random.default_rng(0))
    record = Record(
        NAME,
        "Moving digits, class = direction: tubelets of one frame or two, with and without attention over time",
        "Synthetic clips; the digits are scikit-learn's (Alpaydin and Kaynak, 1998), real",
        out,
        seed=listed(seeds)[0],
    )
    results = record.results = {
        "clip": [FRAMES, SIZE, SIZE],
        "patch": [PATCH, PATCH],
        "model": {"D": D, "H": H, "F": F, "blocks": BLOCKS},
        "training clips": TRAIN,
        "test clips": TEST,
        "epochs": epochs,
        "kinds": {},
        "runs": [],
    }
    for seed in listed(seeds):
        for tubelet, kind in itertools.product(TUBELETS, KINDS):
            model = trained(kind, tubelet, seed, pool, epochs)
            results["runs"].append({"kind": kind, "tubelet": tubelet, "seed": seed} | tested(model, x, y, tubelet))
            print(results["runs"][-1], flush=True)
            results["kinds"][f"{kind}, tubelets of {tubelet}"] = {
                "parameters": model.count_params(),
                "scores of one head": scores(kind, tubelet),
            }
        record.save(time.process_time() - began)


if __name__ == "__main__":
    typer.run(main)

"""The task of lecture 1b: one whole digit among scraps, whose position is known, and a small network that reads it."""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
import numpy as np
from keras import layers, ops
from sklearn.datasets import load_digits

from coursekit.lecture.pages.visual_attention import plain_spatial_attention

SIZE, BOX = 24, 8  # pixels of an image's side, and of the digit's
SCRAPS, TRAINING, TESTING = 8, 4_000, 500
RATE, EPOCHS, BATCH = 3e-3, 8, 32


class Scenes(NamedTuple):
    """Images (N, 24, 24, 1), labels (N, whole), and the upper left corners (N, whole, 2) of the whole digits."""

    images: np.ndarray
    labels: np.ndarray
    corners: np.ndarray


def scenes(count: int, pool: np.ndarray, rng: np.random.Generator, whole: int = 1) -> Scenes:
    """Draw scenes: one whole digit, or two side by side, among scraps of 4 × 4 pixels of other digits.

    Args:
        count: number of scenes.
        pool: numbers of the drawings of scikit-learn's digits that may be used.
        rng: source of all draws.
        whole: number of whole digits, 1 or 2.
    """
    digits = load_digits()
    drawings = digits.images.astype("float32") / 16  # (1797, 8, 8)
    images = np.zeros((count, SIZE, SIZE, 1), "float32")
    chosen = rng.choice(pool, size=(count, whole))  # (N, whole)
    corners = np.zeros((count, whole, 2), int)
    for image, numbers, corner in zip(images, chosen, corners, strict=True):
        for number in rng.choice(pool, size=SCRAPS):
            (a, b), (y, x) = rng.integers(0, 5, size=2), rng.integers(0, SIZE - 3, size=2)
            patch = image[y : y + 4, x : x + 4, 0]
            patch[:] = np.maximum(patch, drawings[number, a : a + 4, b : b + 4][: patch.shape[0], : patch.shape[1]])
        columns = rng.permutation([0, SIZE // 2])[:whole] if whole > 1 else [None]
        for which, (number, column) in enumerate(zip(numbers, columns, strict=True)):
            y = rng.integers(0, SIZE - BOX + 1)
            x = rng.integers(0, SIZE - BOX + 1) if column is None else column + rng.integers(0, 5)
            image[y : y + BOX, x : x + BOX, 0] = drawings[number]
            corner[which] = y, x
    return Scenes(images, digits.target[chosen], corners)


def split() -> tuple[Scenes, Scenes, np.ndarray]:
    """4,000 scenes to train and 500 to test, and the numbers of the test drawings; no drawing is in both."""
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(1797)
    return scenes(TRAINING, shuffled[:1300], rng), scenes(TESTING, shuffled[1300:], rng), shuffled[1300:]


def network(kind: str, filters: int = 32) -> tuple[keras.Model, keras.Model]:
    """A small VGG, images to logits, and a model on the same weights that returns its features, maps and logits.

    Args:
        kind: "attention" (two modules), "averages" (the same paths with equal weights) or "g alone".
        filters: channels of the features F1, F2 and g.

    Raises:
        ValueError: there is no such kind.
    """
    if kind not in ("attention", "averages", "g alone"):
        raise ValueError(f"network has the kinds attention, averages and g alone, not {kind!r}")
    image = keras.Input((SIZE, SIZE, 1))
    x = layers.MaxPool2D()(_conv(16)(_conv(16)(image)))  # (B, 12, 12, 16)
    f1 = _conv(filters)(x)  # (B, 12, 12, C)
    f2 = _conv(filters)(layers.MaxPool2D()(f1))  # (B, 6, 6, C)
    g = _conv(filters)(layers.MaxPool2D()(f2))  # (B, 3, 3, C)
    parts, insides = [ops.mean(g, axis=(1, 2))], {"f1": f1, "g": g}
    if kind == "attention":
        (first, insides["a1"]), (second, insides["a2"]) = plain_spatial_attention(f1, g), plain_spatial_attention(f2, g)
        parts = [first, second, *parts]  # three times (B, C)
    elif kind == "averages":
        parts = [ops.mean(f1, axis=(1, 2)), ops.mean(f2, axis=(1, 2)), *parts]
    insides["logits"] = layers.Dense(10)(ops.concatenate(parts, axis=-1))  # (B, 10)
    return keras.Model(image, insides["logits"]), keras.Model(image, insides)


def _conv(filters: int) -> layers.Layer:
    return layers.Conv2D(filters, 3, padding="same", activation="relu", kernel_initializer="he_normal")


def trained(kind: str, seed: int, training: Scenes, filters: int = 32) -> tuple[keras.Model, keras.Model]:
    """The two models of `network` after training on labels alone: nobody tells them a position."""
    keras.utils.set_random_seed(seed)
    classifier, insides = network(kind, filters)
    schedule = keras.optimizers.schedules.CosineDecay(RATE, EPOCHS * len(training.images) // BATCH)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    classifier.compile(keras.optimizers.Adam(schedule), loss, steps_per_execution=25)
    classifier.fit(training.images, training.labels, batch_size=BATCH, epochs=EPOCHS, verbose=0)
    return classifier, insides


def seen(insides: keras.Model, images: np.ndarray) -> dict[str, Any]:
    """What `insides` returns for images: features, maps and logits by name."""
    return {name: np.asarray(values) for name, values in insides.predict(images, verbose=0).items()}


def to_pixels(maps: np.ndarray) -> np.ndarray:
    """Stretch maps (N, h, w) to (N, 24, 24) by repeating their cells; each sums to 1."""
    factor = SIZE // maps.shape[1]
    large = maps.repeat(factor, axis=1).repeat(factor, axis=2)
    return large / np.maximum(large.sum(axis=(1, 2), keepdims=True), 1e-12)


def inside_box(maps: np.ndarray, corners: np.ndarray) -> float:
    """Mean share of maps (N, 24, 24) inside the digits' boxes, whose corners are (N, 2)."""
    return float(np.mean([m[y : y + BOX, x : x + BOX].sum() for m, (y, x) in zip(maps, corners, strict=True)]))


def boxes(corners: np.ndarray) -> np.ndarray:
    """Maps (N, 24, 24) that know the position: 1 in the digits' boxes, whose corners are (N, 2), and 0 elsewhere."""
    maps = np.zeros((len(corners), SIZE, SIZE))
    for truth, (y, x) in zip(maps, corners, strict=True):
        truth[y : y + BOX, x : x + BOX] = 1
    return maps

"""Train a small VGG with and without two attention modules on chest X-rays, and test its maps by deletion.

    python experiments/xray_attention.py --data FOLDER

The plan is that of Yan, Kawahara and Hamarneh (2019, "Melanoma Recognition via Visual Attention"). Their VGG-16 is
built and counted; what is trained is a VGG of the same plan for 28 x 28 pixels. FOLDER holds
`chest_xray_pneumoniamnist/pneumoniamnist.npz`, a balanced part of PneumoniaMNIST (Yang et al., 2023). It writes
`coursekit/lecture/recorded/xray_attention.json`, which lecture 1b shows.
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
from records import Data, Out, Record, Seeds, numbers
from scipy.stats import binomtest, norm, rankdata

from coursekit.lecture import recorded

NAME = "xray_attention"
FILE = "chest_xray_pneumoniamnist/pneumoniamnist.npz"
PADDED = 32  # 28 pixels, and 2 of padding on each side: three poolings halve it without a rest
KINDS = ("g alone", "g alone, wider", "averages", "attention")
EPOCHS, BATCH, PEAK_RATE = 10, 32, 1e-3
SHARES = (0.05, 0.1, 0.2, 0.4)  # of the pixels, deleted

Arrays = tuple[np.ndarray, np.ndarray]


def look(f, g, filters: int, name: str):
    """One attention module: features f (B, h, w, C) guided by g (B, h', w', C') to their sum A·f (B, C), and A."""
    h, w = f.shape[1:3]
    wish = layers.Conv2D(filters, 1, use_bias=False)(g)  # (B, h', w', filters)
    wish = layers.UpSampling2D((h // g.shape[1], w // g.shape[2]), interpolation="bilinear")(wish)
    offer = layers.Conv2D(filters, 1, use_bias=False)(f)  # (B, h, w, filters)
    score = layers.Conv2D(1, 1)(ops.relu(wish + offer))  # (B, h, w, 1)
    a = layers.Reshape((h, w, 1), name=name)(layers.Softmax()(layers.Flatten()(score)))  # one softmax over all places
    return ops.sum(a * f, axis=(1, 2)), a


def vgg16_with_attention(classes: int = 2, size: int = 224) -> keras.Model:
    """VGG-16 without its dense layers, with an attention module on pool 3 and on pool 4, both guided by pool 5.

    Images (B, size, size, 3), the size a multiple of 32, to logits (B, classes).
    """
    base = keras.applications.VGG16(include_top=False, weights=None, input_shape=(size, size, 3))
    f1, f2, g = (base.get_layer(f"block{number}_pool").output for number in (3, 4, 5))
    parts = [look(f1, g, 256, "a1")[0], look(f2, g, 256, "a2")[0], ops.mean(g, axis=(1, 2))]
    return keras.Model(base.input, layers.Dense(classes)(ops.concatenate(parts, axis=-1)), name="vgg16_with_attention")


def counted() -> dict[str, int]:
    """Parameters of VGG-16 with its dense layers, without them, and of the two modules with their classifier."""
    whole = keras.applications.VGG16(weights=None).count_params()
    bare = keras.applications.VGG16(include_top=False, weights=None).count_params()
    seeing = vgg16_with_attention()
    classifier = seeing.layers[-1].count_params()
    return {
        "VGG-16 with its dense layers": whole,
        "VGG-16 without dense layers": bare,
        "two attention modules": seeing.count_params() - bare - classifier,
        "dense layer for two classes": classifier,
    }


def small_vgg(kind: str, last: int = 64) -> tuple[keras.Model, keras.Model]:
    """A VGG for images (B, 28, 28, 1): a classifier with one logit (B,), and a model of the logit and of both maps."""

    def conv(filters):
        return layers.Conv2D(filters, 3, padding="same", activation="relu", kernel_initializer="he_normal")

    image = keras.Input((28, 28, 1))
    x = layers.ZeroPadding2D((PADDED - 28) // 2)(image)  # (B, 32, 32, 1)
    x = layers.MaxPooling2D()(conv(16)(conv(16)(x)))  # (B, 16, 16, 16)
    f1 = conv(32)(conv(32)(x))  # (B, 16, 16, 32)
    f2 = conv(64)(conv(64)(layers.MaxPooling2D()(f1)))  # (B, 8, 8, 64)
    g = conv(last)(conv(64)(layers.MaxPooling2D()(f2)))  # (B, 4, 4, last)
    parts, inside = [ops.mean(g, axis=(1, 2))], {}
    if kind == "attention":
        (sum1, inside["a1"]), (sum2, inside["a2"]) = look(f1, g, 32, "a1"), look(f2, g, 32, "a2")
        parts += [sum1, sum2]
    elif kind == "averages":
        parts += [ops.mean(f1, axis=(1, 2)), ops.mean(f2, axis=(1, 2))]
    logit = layers.Reshape(())(layers.Dense(1)(layers.Dropout(0.2)(ops.concatenate(parts, axis=-1))))  # (B,)
    return keras.Model(image, logit), keras.Model(image, inside | {"logit": logit})


def built(kind: str) -> tuple[keras.Model, keras.Model]:
    """`small_vgg`; "g alone, wider" has as many filters in its last convolution as the modules have parameters."""
    if kind != "g alone, wider":
        return small_vgg(kind)
    wanted = small_vgg("attention")[0].count_params()
    one, two = (small_vgg("g alone", last)[0].count_params() for last in (64, 65))
    return small_vgg("g alone", 64 + round((wanted - one) / (two - one)))


def trained(kind: str, seed: int, train: Arrays, epochs: int) -> tuple[keras.Model, keras.Model]:
    """Train one network for a fixed number of epochs; nothing is chosen on held-out images."""
    keras.utils.set_random_seed(seed)
    model, inside = built(kind)
    steps = epochs * -(-len(train[0]) // BATCH)
    rate = keras.optimizers.schedules.CosineDecay(PEAK_RATE, steps)
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    model.compile(keras.optimizers.AdamW(rate, weight_decay=1e-3), loss, jit_compile=False)
    model.fit(*train, batch_size=BATCH, epochs=epochs, verbose=0)
    return model, inside


def delong(labels: np.ndarray, scores: np.ndarray) -> tuple[float, float, float]:
    """The area under the ROC curve and its 95 % interval (DeLong et al., 1988, by the mid-ranks of Sun and Xu, 2014).

    Args:
        labels: 0 or 1, (N,). scores: larger for class 1, (N,).
    """
    sick, well = scores[labels == 1], scores[labels == 0]
    m, n = len(sick), len(well)
    ranks = rankdata(np.concatenate([sick, well]))
    sick_share = (ranks[:m] - rankdata(sick)) / n  # for each of class 1: the share of class 0 with a lower score
    well_share = 1 - (ranks[m:] - rankdata(well)) / m
    area = sick_share.mean()
    error = np.sqrt(sick_share.var(ddof=1) / m + well_share.var(ddof=1) / n)
    half = norm.ppf(0.975) * error
    return float(area), float(max(area - half, 0)), float(min(area + half, 1))


def judged(labels: np.ndarray, logits: np.ndarray) -> dict[str, float | list[float]]:
    """Accuracy with Wilson's interval and area under the ROC curve with DeLong's, 95 % each."""
    right = int(np.sum((logits > 0) == labels))
    interval = binomtest(right, len(labels)).proportion_ci(method="wilson")
    area, low, high = delong(labels, logits)
    return {
        "accuracy": round(right / len(labels), 4),
        "accuracy interval": [round(float(interval.low), 4), round(float(interval.high), 4)],
        "AUC": round(area, 4),
        "AUC interval": [round(low, 4), round(high, 4)],
    }


def difference(labels: np.ndarray, one: list[np.ndarray], other: list[np.ndarray]) -> dict[str, list[float]]:
    """Mean over seeds of one kind's AUC and accuracy minus another's, with 95 % of 2,000 redrawn test sets."""
    rng, found = np.random.default_rng(0), {"AUC": [], "accuracy": []}
    for draw in range(2_001):
        rows = rng.integers(0, len(labels), len(labels)) if draw else np.arange(len(labels))
        y = labels[rows]
        means = [np.mean([delong(y, each[rows])[0] for each in kind]) for kind in (one, other)]
        found["AUC"].append(means[0] - means[1])
        means = [np.mean([np.mean((each[rows] > 0) == y) for each in kind]) for kind in (one, other)]
        found["accuracy"].append(means[0] - means[1])
    return {
        name: [round(float(each), 4) for each in (values[0], *np.percentile(values[1:], [2.5, 97.5]))]
        for name, values in found.items()
    }


def to_pixels(maps: np.ndarray) -> np.ndarray:
    """Maps (N, h, w) of the padded image, repeated to its 32 × 32 pixels, without the padding: (N, 28, 28)."""
    factor, edge = PADDED // maps.shape[1], (PADDED - 28) // 2
    return maps.repeat(factor, axis=1).repeat(factor, axis=2)[:, edge:-edge, edge:-edge]


def deleted(images: np.ndarray, maps: np.ndarray, share: float, mean_image: np.ndarray, rng) -> np.ndarray:
    """Images (N, 28, 28, 1) whose pixels with the largest map values (N, 28, 28) are those of the mean image.

    Pixels of equal value, as those of one place of a coarse map, follow each other at random.
    """
    count = round(share * maps[0].size)
    order = np.lexsort((rng.random(maps.shape).reshape(len(maps), -1), -maps.reshape(len(maps), -1)))
    gone = np.zeros((len(maps), maps[0].size), bool)
    np.put_along_axis(gone, order[:, :count], True, axis=1)
    return np.where(gone.reshape(images.shape), mean_image, images)


def shifted(maps: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Maps (N, h, w), each moved over the edges of its grid by its own draw of all moves but none: (N, h, w)."""
    height, width = maps.shape[1:]
    moves = np.stack(np.divmod(rng.integers(1, height * width, len(maps)), width), axis=1)  # (N, 2)
    return np.stack([np.roll(grid, move, axis=(0, 1)) for grid, move in zip(maps, moves, strict=True)])


def deletion_test(model: keras.Model, test: Arrays, maps: dict[str, np.ndarray], mean_image: np.ndarray) -> dict:
    """AUC after deletion, by map, by whose map it is, and by share.

    "own": the map of the image; "another's": that of another test image, so as typical for the network;
    "random": the positions of the grid in random order; "own, shifted": the form of the own map at another position.
    """
    images, labels = test
    rng = np.random.default_rng(0)
    apart = np.random.default_rng(1)  # so that the other three are deleted as if nothing were shifted
    results: dict = {}
    for name, grid in maps.items():
        shuffled = rng.permuted(grid.reshape(len(grid), -1), axis=1).reshape(grid.shape)
        order, others = rng.permutation(len(grid)), np.empty_like(grid)
        others[order] = grid[np.roll(order, 1)]  # each image gets the map of the one before it in a random order
        owners = {
            "own": (grid, rng),
            "another's": (others, rng),
            "random": (shuffled, rng),
            "own, shifted": (shifted(grid, apart), apart),
        }
        for owner, (chosen, draws) in owners.items():
            for share in SHARES:
                left = deleted(images, to_pixels(chosen), share, mean_image, draws)
                after = model.predict(left, batch_size=256, verbose=0)
                results.setdefault(name, {}).setdefault(owner, {})[str(share)] = {
                    "AUC": round(delong(labels, after)[0], 4),
                }
    return results


def agreement(one: np.ndarray, other: np.ndarray) -> float:
    """The mean over images of the correlation between two networks' maps (N, h, w) of the same image."""
    a, b = (each.reshape(len(each), -1) - each.mean(axis=(1, 2))[:, None] for each in (one, other))
    return float(np.mean(np.sum(a * b, axis=1) / np.sqrt(np.sum(a**2, axis=1) * np.sum(b**2, axis=1) + 1e-24)))


def loaded(folder: Path) -> tuple[Arrays, Arrays, Arrays]:
    """Images (N, 28, 28, 1) in 0 to 1 and labels (N,), 1 for pneumonia: to train on, to watch, to test."""
    file = np.load(folder / FILE)
    return tuple(
        (file[f"{part}_images"][..., None].astype("float32") / 255, file[f"{part}_labels"][:, 0].astype("float32"))
        for part in ("train", "val", "test")
    )


def main(
    data_folder: Data,
    seeds: Seeds = "1,2,3,4,5",
    epochs: Annotated[int, typer.Option(help="Passes over the images")] = EPOCHS,
    out: Out = recorded.FOLDER,
) -> None:
    """Count VGG-16 with attention, train four small networks with each seed, compare them, and test the maps."""
    began = time.process_time()
    train, watch, test = loaded(data_folder)
    mean_image = train[0].mean(axis=0)
    vgg16 = counted()
    print(vgg16, flush=True)
    keras.backend.clear_session()
    logits: dict[str, list] = {kind: [] for kind in KINDS}
    record = Record(
        NAME,
        "A small VGG with and without two attention modules on chest X-rays: accuracy, AUC, maps, deletion",
        f"PneumoniaMNIST (Yang et al., 2023), 28 x 28, a balanced part: {len(train[0]):,} images to train on, "
        f"{len(watch[0])} to watch, {len(test[0])} to test",
        out,
        command=f"python experiments/{NAME}.py --data FOLDER",
        seed=numbers(seeds)[0],
    )
    results = record.results = {"VGG-16": vgg16, "parameters": {}, "runs": [], "maps": []}
    seen: dict[str, list] = {"a1": [], "a2": []}
    for seed, kind in itertools.product(numbers(seeds), KINDS):
        started = time.process_time()
        model, inside = trained(kind, seed, train, epochs)
        seconds = time.process_time() - started
        told = {part: model.predict(x, batch_size=256, verbose=0) for part, (x, _) in (("val", watch), ("test", test))}
        logits[kind].append(told["test"])
        run = {"kind": kind, "seed": seed} | judged(test[1], told["test"])
        run["validation accuracy"] = round(float(np.mean((told["val"] > 0) == watch[1])), 4)
        results["runs"].append(run | {"cpu seconds": round(seconds, 1)})
        results["parameters"][kind] = model.count_params()
        print(results["runs"][-1], flush=True)
        if kind == "attention":
            maps = {name: inside.predict(test[0], batch_size=256, verbose=0)[name][..., 0] for name in seen}
            for name, grid in maps.items():
                seen[name].append(grid)
            tested = deletion_test(model, test, maps, mean_image)
            results["maps"].append({"seed": seed, "deletion": tested})
            print(results["maps"][-1], flush=True)
    results["attention minus"] = {
        kind: difference(test[1].astype(int), logits["attention"], logits[kind]) for kind in KINDS[:-1]
    }
    results["correlation of maps between seeds"] = {
        name: [round(agreement(a, b), 3) for a, b in itertools.combinations(grids, 2)] for name, grids in seen.items()
    }
    results["mean pictures"] = {
        label: {"image": np.round(test[0][test[1] == value].mean(axis=0)[..., 0], 3).tolist()}
        | {
            f"{name}, by seed": [
                np.round(grid[test[1] == value].mean(axis=0) * grid[0].size, 3).tolist() for grid in grids
            ]
            for name, grids in seen.items()
        }
        for label, value in (("normal", 0), ("pneumonia", 1))
    }
    print(results["attention minus"], results["correlation of maps between seeds"])
    record.save(time.process_time() - began)


if __name__ == "__main__":
    typer.run(main)

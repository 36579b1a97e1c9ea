"""Train a small Vision Transformer and a ConvNet of the same size on more and more images, and record their accuracy.

    python experiments/vit_against_convnet.py --help

Each model is trained on N labelled images, of which a fifth (2,000 at most) is held back to choose the best epoch. The
test set is used once per trained model. Results are written after every model, so that a run can be stopped and taken
up again with the same command.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import keras
import numpy as np
import tensorflow as tf
import typer
from keras import layers, ops
from records import DEVICE, DataOrFetched, Minutes, Out, Record, numbers

from coursekit import data
from coursekit.lecture import recorded

NAME = "vit_against_convnet"
PLAN = {500: (100, 64), 2_000: (50, 64), 8_000: (15, 128), 32_000: (6, 128)}  # labelled images: (epochs, batch)
SEEDS = {  # of each number of labelled images: as they are, augmented
    "fashion_mnist": {500: (3, 3), 2_000: (2, 2), 8_000: (2, 1), 32_000: (1, 1)},
    "cifar10": dict.fromkeys(PLAN, (3, 3)),
}
CLASSES = 10
DATA_SETS = {
    "fashion_mnist": "Fashion-MNIST (Xiao et al., 2017), 28 x 28 grey",
    "cifar10": "CIFAR-10 (Krizhevsky, 2009), 32 x 32 in colour",
}
PATCH = {"fashion_mnist": 7, "cifar10": 4}  # pixels: 16 tokens, and 64


class ClassTokenAndPositions(keras.Layer):
    """Put one learned token before the patches (B, N, D) and add a learned position to each: (B, N+1, D)."""

    def build(self, shape):
        _, count, width = shape
        self.token = self.add_weight(shape=(width,), initializer="zeros", name="token")
        self.positions = self.add_weight(
            shape=(count + 1, width), initializer=keras.initializers.RandomNormal(stddev=0.02), name="positions"
        )

    def call(self, patches):
        first = ops.tile(self.token[None, None], (ops.shape(patches)[0], 1, 1))  # (B, 1, D)
        return ops.concatenate([first, patches], axis=1) + self.positions  # (B, N+1, D)


def small_vit(image_shape: tuple[int, int, int], patch: int, *, width=48, heads=4, hidden=96, blocks=4) -> keras.Model:
    """Return a pre-norm ViT with a class token that maps images (B, h, w, C) to logits (B, 10)."""
    image = keras.Input(image_shape)
    x = layers.Conv2D(width, patch, strides=patch)(image)  # (B, h/P, w/P, D)
    x = ClassTokenAndPositions()(layers.Reshape((-1, width))(x))  # (B, N+1, D)
    for _ in range(blocks):
        normed = layers.LayerNormalization(epsilon=1e-6)(x)
        x = x + layers.MultiHeadAttention(heads, width // heads)(query=normed, value=normed)
        normed = layers.LayerNormalization(epsilon=1e-6)(x)
        x = x + layers.Dense(width)(layers.Dense(hidden, activation="gelu")(normed))
    x = layers.LayerNormalization(epsilon=1e-6)(x)[:, 0]  # (B, D)
    return keras.Model(image, layers.Dense(CLASSES)(layers.Dropout(0.1)(x)), name="vit")


def small_convnet(image_shape: tuple[int, int, int], parameters: int) -> keras.Model:
    """Return a three-stage ConvNet, (B, h, w, C) to logits (B, 10); its last stage is as wide as `parameters` allow."""

    def build(last: int) -> keras.Model:
        image = x = keras.Input(image_shape)
        for stage, filters in enumerate((16, 48, last)):
            x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
            x = layers.Activation("relu")(layers.BatchNormalization(momentum=0.9)(x))
            x = layers.MaxPooling2D()(x) if stage < 2 else layers.GlobalAveragePooling2D()(x)
        return keras.Model(image, layers.Dense(CLASSES)(layers.Dropout(0.1)(x)), name="convnet")

    per_filter = build(101).count_params() - build(100).count_params()
    return build(100 + round((parameters - build(100).count_params()) / per_filter))


def batches(x: np.ndarray, y: np.ndarray, *, batch: int, augment: bool) -> tf.data.Dataset:
    """Return shuffled batches; augmented images are shifted by up to 7 % each way and mirrored at random."""
    pairs = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(batch, drop_remainder=True)
    if augment:
        change = keras.Sequential(
            [layers.RandomTranslation(0.07, 0.07, fill_mode="constant"), layers.RandomFlip("horizontal")]
        )
        # batch after batch: in parallel they would draw their random numbers in a different order each time
        pairs = pairs.map(lambda images, labels: (change(images, training=True), labels))
    return pairs.prefetch(tf.data.AUTOTUNE)


def train_once(model: keras.Model, x: np.ndarray, y: np.ndarray, *, epochs: int, batch: int, augment: bool) -> dict:
    """Train on four fifths of x and y, keep the weights of the best validation accuracy, and say how it went."""
    held = min(len(x) // 5, 2_000)
    steps = epochs * ((len(x) - held) // batch)
    warm_up = steps // 20
    rate = keras.optimizers.schedules.CosineDecay(0.0, steps - warm_up, warmup_target=1e-3, warmup_steps=warm_up)
    model.compile(
        optimizer=keras.optimizers.AdamW(rate, weight_decay=0.01),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    stop = keras.callbacks.EarlyStopping(
        "val_accuracy", patience=max(5, epochs // 4), start_from_epoch=epochs // 2, restore_best_weights=True
    )
    started = time.process_time()
    history = model.fit(
        batches(x[held:], y[held:], batch=batch, augment=augment),
        validation_data=tf.data.Dataset.from_tensor_slices((x[:held], y[:held])).batch(500),
        epochs=epochs,
        callbacks=[stop],
        shuffle=False,  # the pipeline shuffles
        verbose=2,
    ).history
    best = stop.best_epoch
    return {
        "training": round(history["accuracy"][best], 4),
        "validation": round(history["val_accuracy"][best], 4),
        "best_epoch": best + 1,
        "epochs": len(history["accuracy"]),
        "cpu_seconds": round(time.process_time() - started, 1),
    }


def cases(dataset: str, sizes: list[int]) -> list[dict]:
    """Return every model to train, one seed for all sizes before the next seed."""
    return [
        {"dataset": dataset, "model": kind, "images": size, "augmentation": augment, "seed": seed}
        for seed in range(max(max(SEEDS[dataset][size]) for size in sizes))
        for size in sizes
        for augment in (False, True)
        if seed < SEEDS[dataset][size][augment]
        for kind in ("vit", "convnet")
    ]


def data_of(results: dict) -> str:
    """Name the data sets of the runs, and no other."""
    trained_on = {run["dataset"] for run in results["runs"]}
    return " and ".join(words for name, words in DATA_SETS.items() if name in trained_on)


def command_of(results: dict) -> str:
    """The commands that make the runs, one for each data set."""
    trained_on = {run["dataset"] for run in results["runs"]}
    return " and ".join(
        f"python experiments/{NAME}.py --dataset {name} --data FOLDER" for name in DATA_SETS if name in trained_on
    )


def record_of(name: str, what: str, folder: Path, dataset: str = "cifar10", **empty: dict) -> Record:
    """The record of a program that trains these models; it starts with lists of parameters and runs."""
    device = "GPU" if tf.config.list_physical_devices("GPU") else DEVICE
    command = f"python experiments/{name}.py --data FOLDER"
    return Record(
        name,
        what,
        DATA_SETS[dataset],
        folder,
        empty=empty | {"parameters": {}, "runs": []},
        device=device,
        command=command,
    )


def seconds_of(results: dict) -> float:
    return sum(run["cpu_seconds"] for run in results["runs"])


def images_of(seed: int, size: int, count: int) -> np.ndarray:
    """The numbers of the images that a seed is trained on: others for each seed, as far as they go."""
    return np.arange(seed * size, (seed + 1) * size) % count


def tested(model: keras.Model, x: np.ndarray, y: np.ndarray) -> float:
    return round(float(model.evaluate(x, y, batch_size=500, verbose=0)[1]), 4)


def run_cases(record: Record, cases: list[dict], count: int, run: Callable[[dict, np.ndarray], tuple]) -> None:
    """Train, test and record every case that has no result yet; `run` returns the model, its name and the outcome."""
    for case in cases:
        if record.has(**case):
            continue
        if time.monotonic() > record.until:
            break
        keras.utils.set_random_seed(case["seed"])
        model, name, outcome = run(case, images_of(case["seed"], case["images"], count))
        print(case, outcome, flush=True)
        record.results["runs"].append(case | outcome)
        record.results["parameters"][name] = model.count_params()
        record.save(seconds_of(record.results))


def main(
    dataset: Annotated[str, typer.Option(help="fashion_mnist or cifar10")] = "fashion_mnist",
    data_folder: DataOrFetched = None,
    minutes: Minutes = 1e9,
    sizes: Annotated[str, typer.Option(help="Numbers of labelled images, with commas")] = "500,2000,8000,32000",
    out: Out = recorded.FOLDER,
) -> None:
    """Train every model of the plan that has no result yet; one seed for all sizes before the next seed.

    Fashion-MNIST takes about half an hour of CPU, CIFAR-10 about an hour and a half. A run that
    is broken off, or ended by --minutes, goes on where it stopped.
    """
    (x, y), (x_test, y_test) = data.images(dataset, source="real", path=data_folder)
    what = "A small Vision Transformer and a ConvNet of the same size: test accuracy by number of labelled images"
    record = record_of(NAME, what, out).limited(minutes)

    def run(case: dict, chosen: np.ndarray) -> tuple:
        model = small_vit(x.shape[1:], PATCH[dataset])
        if case["model"] == "convnet":
            model = small_convnet(x.shape[1:], model.count_params())
        epochs, batch = PLAN[case["images"]]
        outcome = train_once(model, x[chosen], y[chosen], epochs=epochs, batch=batch, augment=case["augmentation"])
        return model, f"{dataset} {case['model']}", outcome | {"test": tested(model, x_test, y_test)}

    done = {"runs": [*record.results["runs"], {"dataset": dataset}]}
    record.conditions |= {"data": data_of(done), "command": command_of(done)}
    run_cases(record, cases(dataset, numbers(sizes)), len(x), run)


if __name__ == "__main__":
    typer.run(main)

"""Train the ViT and the ConvNet of `vit_against_convnet.py` each at its own learning rate, until they stop improving.

    python experiments/tuned_on_cifar.py --data FOLDER

CIFAR-10, the same images and seeds, a fifth held back, no augmentation. Each model is trained at three rates with seed
0. The rate with the best held-back accuracy is taken for all seeds. There is no fixed number of epochs: when the
held-back accuracy has not risen for some epochs, the rate falls to a fifth; when it still does not rise, training ends,
and the best epoch counts. With 8,000 images both models take the rate that was best with 2,000. The test images choose
nothing: a model whose rate is worse than one before it on the held-back images is not tested.
"""

from __future__ import annotations

import time
from typing import Annotated

import keras
import numpy as np
import tensorflow as tf
import typer
import vit_against_convnet as plain
from records import DataOrFetched, Out, numbers

from coursekit import data
from coursekit.lecture import recorded

NAME = "tuned_on_cifar"
DATASET = "cifar10"
RATES = {"vit": (1e-4, 3e-4, 1e-3), "convnet": (1e-3, 3e-3, 1e-2)}
PATIENCE = {500: 20, 2_000: 10, 8_000: 6}  # epochs without a better one after which training ends; half for the rate
BATCH = {size: batch for size, (_, batch) in plain.PLAN.items()}
MOST_EPOCHS, WARM_UP, SEEDS = 200, 2, 3  # epochs, epochs, number
SEARCHED = (2_000, 500)  # with 8,000 images the best rate of 2,000


def train_once(model: keras.Model, x: np.ndarray, y: np.ndarray, *, rate: float, batch: int, patience: int) -> dict:
    """Train on four fifths of x and y until the held-back accuracy stops rising, and keep the best epoch."""
    held = min(len(x) // 5, 2_000)
    model.compile(
        optimizer=keras.optimizers.AdamW(rate, weight_decay=0.01),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
        jit_compile=False,  # on a processor compiling costs more than it saves here
    )

    def warm_up(epoch: int, current: float) -> float:
        return rate * (epoch + 1) / (WARM_UP + 1) if epoch < WARM_UP else rate if epoch == WARM_UP else current

    stop = keras.callbacks.EarlyStopping("val_accuracy", patience=patience, restore_best_weights=True)
    slower = keras.callbacks.ReduceLROnPlateau("val_accuracy", factor=0.2, patience=patience // 2)
    started = time.process_time()
    history = model.fit(
        plain.batches(x[held:], y[held:], batch=batch, augment=False),
        validation_data=tf.data.Dataset.from_tensor_slices((x[:held], y[:held])).batch(500),
        epochs=MOST_EPOCHS,
        callbacks=[keras.callbacks.LearningRateScheduler(warm_up), slower, stop],
        shuffle=False,  # the pipeline shuffles
        verbose=0,
    ).history
    best, epochs = stop.best_epoch, len(history["accuracy"])
    per_epoch = (len(x) - held) // batch
    return {
        "training": round(history["accuracy"][best], 4),
        "validation": round(history["val_accuracy"][best], 4),
        "best_epoch": best + 1,
        "epochs": epochs,
        "steps": epochs * per_epoch,
        "best_step": (best + 1) * per_epoch,
        "cpu_seconds": round(time.process_time() - started, 1),
    }


def best_rate(runs: list[dict], kind: str, size: int, *, whole: bool = True) -> float | None:
    """The rate whose seed 0 has the best held-back accuracy, if two are equal the middle one; None before all three.

    If `whole` is false, it is the best one of those that are trained.
    """
    searched = SEARCHED[0] if size not in SEARCHED else size
    found = {
        run["rate"]: run["validation"]
        for run in runs
        if (run["model"], run["images"], run["seed"]) == (kind, searched, 0)
    }
    middle = RATES[kind][1]
    return (
        max(found, key=lambda rate: (found[rate], rate == middle))
        if found.keys() == set(RATES[kind]) or not whole
        else None
    )


def stages(sizes: list[int]) -> list[tuple[int, str, int, float | None]]:
    """What to train, in order: (images, model, seed, rate); without a rate the best one is taken.

    First what answers whether a ViT with 2,000 images reaches a ConvNet with 500.
    """
    planned = []
    for cells in ([(500, "convnet"), (2_000, "vit")], [(2_000, "convnet"), (500, "vit")]):
        planned += [(size, kind, 0, rate) for size, kind in cells for rate in RATES[kind]]
        planned += [(size, kind, seed, None) for seed in range(1, SEEDS) for size, kind in cells]
    planned += [(8_000, kind, seed, None) for kind in RATES for seed in range(SEEDS)]
    return [each for each in planned if each[0] in sizes]


def main(
    data_folder: DataOrFetched = None,
    sizes: Annotated[str, typer.Option(help="Numbers of labelled images, with commas")] = "500,2000,8000",
    out: Out = recorded.FOLDER,
) -> None:
    """Train every model that has no result yet: three rates with seed 0, then the other seeds at the best rate."""
    (x, y), test = data.images(DATASET, source="real", path=data_folder)
    what = "A small Vision Transformer and a ConvNet, each at its own learning rate, until it stops improving"
    record = plain.record_of(NAME, what, out, rates={})
    runs = record.results["runs"]
    for size, kind, seed, rate in stages(numbers(sizes)):
        rate = rate or best_rate(runs, kind, size)
        case = {"dataset": DATASET, "model": kind, "images": size, "rate": rate, "seed": seed}
        if rate is None or record.has(**case):
            continue
        keras.utils.set_random_seed(seed)
        model = plain.small_vit(x.shape[1:], plain.PATCH[DATASET])
        if kind == "convnet":
            model = plain.small_convnet(x.shape[1:], model.count_params())
        chosen = plain.images_of(seed, size, len(x))
        outcome = train_once(model, x[chosen], y[chosen], rate=rate, batch=BATCH[size], patience=PATIENCE[size])
        runs.append(case | outcome)
        if rate == best_rate(runs, kind, size, whole=False):
            runs[-1]["test"] = plain.tested(model, *test)
        print(runs[-1], flush=True)
        record.results["parameters"][kind] = model.count_params()
        record.results["rates"] = {
            f"{each}, {images}": found
            for each in RATES
            for images in SEARCHED
            if (found := best_rate(runs, each, images))
        }
        record.save(plain.seconds_of(record.results))


if __name__ == "__main__":
    typer.run(main)

"""Scramble the images of a ConvNet, so that what it has built in no longer fits, and change nothing else.

    python experiments/built_in.py --data FOLDER

The ConvNet is that of `vit_against_convnet.py`, with the same images, seeds, rate and epochs. In its images the patches
have changed places, and the pixels inside each patch, in the same way in all images, training and test. Neighbouring
pixels do not belong together any more. A Vision Transformer cannot tell such images from whole ones: with the rows of
its projection and of its position table in the new order it gives the same logits, and at the start one order is as
likely as the other. Lecture 9b compares the accuracies with `coursekit/lecture/recorded/vit_against_convnet.json`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import keras
import numpy as np
import tensorflow as tf
import typer
import vit_against_convnet as plain

from coursekit import data
from coursekit.lecture import recorded

NAME = "built_in"
DATASET = "cifar10"
MODEL = "convnet, scrambled"
PATCH = plain.PATCH[DATASET]
SIZES = (500, 2_000)
SEEDS = range(3)


def scrambled(images: np.ndarray, patch: int) -> np.ndarray:
    """Images (B, h, w, C) with the patches, and the pixels inside each patch, in another order, the same for all."""
    count, side, _, channels = images.shape
    rng, grid = np.random.default_rng(0), side // patch
    places, inside = rng.permutation(grid**2), rng.permutation(patch**2)
    cut = images.reshape(count, grid, patch, grid, patch, channels).transpose(0, 1, 3, 2, 4, 5)
    mixed = cut.reshape(count, grid**2, patch**2, channels)[:, places][:, :, inside]
    back = mixed.reshape(count, grid, grid, patch, patch, channels).transpose(0, 1, 3, 2, 4, 5)
    return back.reshape(images.shape)


def cases(sizes: list[int]) -> list[dict]:
    """Return every model to train, one seed of all sizes before the next seed."""
    return [
        {"dataset": DATASET, "model": MODEL, "images": size, "augmentation": False, "seed": seed}
        for seed in SEEDS
        for size in sizes
    ]


def keep(results: dict, folder: Path) -> None:
    """Write what is known so far."""
    recorded.save(
        NAME,
        what="A ConvNet on images with patches and pixels in another order: test accuracy by number of labelled images",
        data=plain.DATA_SETS[DATASET],
        device="GPU" if tf.config.list_physical_devices("GPU") else "CPU, two cores",
        command=f"python experiments/{NAME}.py --data FOLDER",
        seed=0,
        seconds=sum(run["cpu_seconds"] for run in results["runs"]),
        results=results,
        folder=folder,
    )


def main(
    data_folder: Annotated[
        Path | None, typer.Option("--data", help="Folder of local files; without it the data is fetched")
    ] = None,
    sizes: Annotated[str, typer.Option(help="Numbers of labelled images, with commas")] = ",".join(map(str, SIZES)),
    out: Annotated[
        Path, typer.Option(help="Folder in which the results are written and taken up again")
    ] = recorded.FOLDER,
) -> None:
    """Train every model that has no result yet; one seed of all sizes before the next seed."""
    (x, y), (x_test, y_test) = data.images(DATASET, source="real", path=data_folder)
    file = out / f"{NAME}.json"
    results = json.loads(file.read_text())["results"] if file.exists() else {"parameters": {}, "runs": []}
    seen, tested = scrambled(x, PATCH), scrambled(x_test, PATCH)
    for case in cases([int(size) for size in sizes.split(",")]):
        if any(case.items() <= run.items() for run in results["runs"]):
            continue
        size, seed = case["images"], case["seed"]
        keras.utils.set_random_seed(seed)
        # built in the order of the run without the change, so that both begin with the same numbers
        model = plain.small_convnet(x.shape[1:], plain.small_vit(x.shape[1:], PATCH).count_params())
        chosen = np.arange(seed * size, (seed + 1) * size) % len(x)  # the images of the run without the change
        epochs, batch = plain.PLAN[size]
        outcome = plain.train_once(model, seen[chosen], y[chosen], epochs=epochs, batch=batch, augment=False)
        outcome["test"] = round(float(model.evaluate(tested, y_test, batch_size=500, verbose=0)[1]), 4)
        print(case, outcome, flush=True)
        results["runs"].append(case | outcome)
        results["parameters"][case["model"]] = model.count_params()
        keep(results, out)


if __name__ == "__main__":
    typer.run(main)

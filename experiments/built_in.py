"""Change what is built into a small Vision Transformer and into a ConvNet, and nothing else, on CIFAR-10.

    python experiments/built_in.py --data FOLDER

"vit, neighbours" is the Vision Transformer of `vit_against_convnet.py` in which each patch may read only the patches
beside it. Its parameters, images, seeds, rate and epochs are those of the model without this limit.

"convnet, scrambled" is the ConvNet of the same program on images in which the patches have changed places, and the
pixels inside each patch, in the same way in all images. What the ConvNet has built in no longer fits them. A Vision
Transformer cannot tell them from whole images: with the rows of its projection and of its position table in the new
order it gives the same logits, and at the start one order is as likely as the other.

Lecture 9b compares both with `coursekit/recorded/vit_against_convnet.json`.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import keras
import numpy as np
import tensorflow as tf
import typer
import vit_against_convnet as plain

from coursekit import data, recorded

NAME = "built_in"
DATASET = "cifar10"
KINDS = ("convnet, scrambled", "vit, neighbours")
SIZES = (500, 2_000, 8_000)
SEEDS = range(3)


def neighbours(side: int) -> np.ndarray:
    """Which tokens each of 1 + side² may read, (1, N + 1, N + 1): a patch its 3 × 3 patches, the class token all."""
    rows, columns = np.divmod(np.arange(side**2), side)
    near = np.maximum(abs(rows[:, None] - rows), abs(columns[:, None] - columns)) <= 1  # (N, N)
    mask = np.zeros((side**2 + 1, side**2 + 1), bool)
    mask[0], mask[1:, 1:] = True, near
    return mask[None]


def scrambled(images: np.ndarray, patch: int) -> np.ndarray:
    """Images (B, h, w, C) with the patches, and the pixels inside each patch, in another order, the same for all."""
    count, side, _, channels = images.shape
    rng, grid = np.random.default_rng(0), side // patch
    places, inside = rng.permutation(grid**2), rng.permutation(patch**2)
    cut = images.reshape(count, grid, patch, grid, patch, channels).transpose(0, 1, 3, 2, 4, 5)
    mixed = cut.reshape(count, grid**2, patch**2, channels)[:, places][:, :, inside]
    back = mixed.reshape(count, grid, grid, patch, patch, channels).transpose(0, 1, 3, 2, 4, 5)
    return back.reshape(images.shape)


def cases(kinds: list[str], sizes: list[int]) -> list[dict]:
    """Return every model to train, one seed of all sizes before the next seed."""
    return [
        {"dataset": DATASET, "model": kind, "images": size, "augmentation": False, "seed": seed}
        for seed in SEEDS
        for size in sizes
        for kind in kinds
    ]


def built(kind: str, image_shape: tuple[int, int, int]) -> keras.Model:
    """Return the model of a kind, (B, h, w, C) to logits (B, 10)."""
    patch = plain.PATCH[DATASET]
    if kind == "vit, neighbours":
        return plain.small_vit(image_shape, patch, mask=neighbours(image_shape[0] // patch))
    return plain.small_convnet(image_shape, plain.small_vit(image_shape, patch).count_params())


def keep(results: dict, folder: Path) -> None:
    """Write what is known so far."""
    recorded.save(
        NAME,
        what="A ViT whose patches read only their neighbours, and a ConvNet on scrambled images: test accuracy",
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
    kinds: Annotated[str, typer.Option(help="The first words of the kinds, with commas")] = "convnet,vit",
    sizes: Annotated[str, typer.Option(help="Numbers of labelled images, with commas")] = ",".join(map(str, SIZES)),
    out: Annotated[
        Path, typer.Option(help="Folder in which the results are written and taken up again")
    ] = recorded.FOLDER,
) -> None:
    """Train every model that has no result yet; one seed of all sizes before the next seed."""
    (x, y), (x_test, y_test) = data.images(DATASET, source="real", path=data_folder)
    file = out / f"{NAME}.json"
    results = json.loads(file.read_text())["results"] if file.exists() else {"parameters": {}, "runs": []}
    chosen_kinds = [kind for kind in KINDS if kind.startswith(tuple(kinds.split(",")))]
    for case in cases(chosen_kinds, [int(size) for size in sizes.split(",")]):
        if any(case.items() <= run.items() for run in results["runs"]):
            continue
        size, seed = case["images"], case["seed"]
        keras.utils.set_random_seed(seed)
        model = built(case["model"], x.shape[1:])
        chosen = np.arange(seed * size, (seed + 1) * size) % len(x)  # the images of the run without the change
        seen, test = x[chosen], x_test
        if case["model"] == "convnet, scrambled":
            seen, test = (scrambled(each, plain.PATCH[DATASET]) for each in (seen, test))
        started = time.process_time()
        epochs, batch = plain.PLAN[size]
        outcome = plain.train_once(model, seen, y[chosen], epochs=epochs, batch=batch, augment=False)
        outcome["test"] = round(float(model.evaluate(test, y_test, batch_size=500, verbose=0)[1]), 4)
        print(case, outcome, f"{time.process_time() - started:.0f} s", flush=True)
        results["runs"].append(case | outcome)
        results["parameters"][case["model"]] = model.count_params()
        keep(results, out)


if __name__ == "__main__":
    typer.run(main)

"""Scramble the images of a ConvNet, so that what it has built in no longer fits, and change nothing else.

    python experiments/built_in.py --data FOLDER

The ConvNet is that of `vit_against_convnet.py`, with the same images, seeds, rate and epochs. In its images the patches
have changed places, and the pixels inside each patch, in the same way in all images, training and test. Neighbouring
pixels do not belong together any more. A Vision Transformer cannot tell such images from whole ones: with the rows of
its projection and of its position table in the new order it gives the same logits, and at the start one order is as
likely as the other. Lecture 9b compares the accuracies with `coursekit/lecture/recorded/vit_against_convnet.json`.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer
import vit_against_convnet as plain
from records import DataOrFetched, Out, numbers

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


def main(
    data_folder: DataOrFetched = None,
    sizes: Annotated[str, typer.Option(help="Numbers of labelled images, with commas")] = ",".join(map(str, SIZES)),
    out: Out = recorded.FOLDER,
) -> None:
    """Train every model that has no result yet; one seed of all sizes before the next seed."""
    (x, y), (x_test, y_test) = data.images(DATASET, source="real", path=data_folder)
    seen, read = scrambled(x, PATCH), scrambled(x_test, PATCH)

    def run(case: dict, chosen: np.ndarray) -> tuple:
        # built in the order of the run without the change, so that both begin with the same numbers
        model = plain.small_convnet(x.shape[1:], plain.small_vit(x.shape[1:], PATCH).count_params())
        epochs, batch = plain.PLAN[case["images"]]
        outcome = plain.train_once(model, seen[chosen], y[chosen], epochs=epochs, batch=batch, augment=False)
        return model, MODEL, outcome | {"test": plain.tested(model, read, y_test)}

    what = "A ConvNet on images with patches and pixels in another order: test accuracy by number of labelled images"
    plain.run_cases(plain.record_of(NAME, what, out), cases(numbers(sizes)), len(x), run)


if __name__ == "__main__":
    typer.run(main)

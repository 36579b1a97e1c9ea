"""What several exercises of lab 09 share."""

from collections.abc import Callable

import numpy as np
from coursekit.generator import Generator

from autograder.declaring import Case, Mistake, wrong
from autograder.exercises.drawing import normal

READY_CUTTERS = (
    "keras.ops.image.extract_patches",
    "keras.ops.image.extract_patches_3d",
    "keras.ops.space_to_depth",
    "keras.ops.nn.space_to_depth",
    "tensorflow.image.extract_patches",
    "tensorflow.extract_volume_patches",
    "tensorflow.nn.space_to_depth",
    "tensorflow.compat.v1.extract_image_patches",
    "tensorflow.compat.v1.extract_volume_patches",
    "tensorflow.compat.v1.space_to_depth",
)


Draw = Callable[[Generator], list[Case]]


def draw_images(rng: Generator, batch: int, grid: tuple[int, int], size: int, channels: int, dtype: str = "float32") -> np.ndarray:
    return normal(rng, batch, grid[0] * size, grid[1] * size, channels, dtype=dtype)


COLUMNS_FIRST = wrong("The patches are counted column by column. They go row by row, as one reads: the second patch is to the right of the first.", order="columns")


PIXELS_TURNED = wrong("Inside a patch, rows and columns of pixels change places: each patch is transposed.", turned=True)


CHANNELS_FIRST = wrong("Inside a patch the channels come first, (C, P, P). They should come last, (P, P, C): the numbers of a pixel stay together.", channels_first=True)


RESHAPE_ALONE = wrong(
    "A reshape alone does not make patches: it takes pixels that follow each other in memory, which lie in one row of the image. Some axes have to change places in between.", how="reshape"
)


EVERY_NTH_PIXEL = wrong(
    "A patch takes every n-th pixel of the whole image, not neighbours. In the first reshape the number of patches comes before the patch size: (h/P, P), not (P, h/P).", how="every n-th pixel"
)


SIDES_SWAPPED = wrong("Height and width change places. With square images you would not notice it.", sides_swapped=True)


LAYOUT_MISTAKES = dict(
    columns_first=COLUMNS_FIRST, pixels_turned=PIXELS_TURNED, channels_first=CHANNELS_FIRST, reshape_alone=RESHAPE_ALONE, every_nth_pixel=EVERY_NTH_PIXEL, sides_swapped=SIDES_SWAPPED
)


def refusal_mistakes(what: str) -> dict[str, Mistake]:
    return dict(
        any_size_accepted=wrong(f"{what} that do not fit are accepted, and part of the picture is cut off or filled up without an error.", refusal="no error"),
        refused_too_late=wrong(f"{what} that do not fit fail somewhere inside TensorFlow. Check them yourself first, and say in words what is wrong.", refusal="InvalidArgumentError"),
        sizes_asserted=wrong(f"{what} that do not fit end in an AssertionError; raise a ValueError (assertions can be switched off).", refusal="AssertionError"),
    )

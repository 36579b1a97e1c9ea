"""Lab 09, exercise `merge_patches`."""

import math
from typing import Any

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.drawing import normal
from exercises.vision_transformer.shared import Draw, layout_mistakes

READY_MERGERS = (
    "keras.ops.depth_to_space",
    "keras.ops.nn.depth_to_space",
    "tensorflow.nn.depth_to_space",
    "tensorflow.compat.v1.depth_to_space",
)


def _joined(*shapes: tuple[int, tuple[int, int], int, int], floats: str = "float32", **case: Any) -> Draw:
    """Cases of merge_patches: batch, patches down and across, patch size, channels."""

    def draw(rng) -> list[Case]:
        cases = []
        for batch, (rows, columns), size, channels in shapes:
            inputs: dict[str, Any] = {
                "patches": normal(rng, batch, rows * columns, size * size * channels, dtype=floats),
                "height": rows * size,
                "width": columns * size,
                "channels": channels,
            }
            description = (
                f"patches {inputs['patches'].shape}, height={rows * size}, width={columns * size}, channels={channels}"
            )
            cases.append(Case(inputs, description=description, **case))
        return cases

    return draw


exercise = Exercise("merge_patches", forbidden=READY_MERGERS)


@exercise.formula
def merge_patches(patches: np.ndarray, height: int, width: int, channels: int) -> np.ndarray:
    """Put patches (B, N, P·P·C), row by row, back together to images (B, h, w, C)."""
    size = math.isqrt(patches.shape[-1] // channels)
    rows, columns = height // size, width // size
    pieces = patches.reshape(-1, rows, columns, size, size, channels).transpose(0, 1, 3, 2, 4, 5)
    return pieces.reshape(-1, height, width, channels)


exercise.group("right images", points=2, values=_joined((2, (5, 7), 3, 4), (5, (3, 2), 7, 3), (7, (3, 5), 2, 1)))
exercise.group(
    "patches of one pixel, one patch per image, one row of patches",
    corners=_joined((2, (3, 5), 1, 7), (3, (1, 1), 5, 2), (2, (1, 3), 4, 5), (2, (3, 1), 4, 5)),
)


@exercise.group("arrays and tensors")
def types(rng):
    shape = (2, (3, 5), 2, 3)
    return [*_joined(shape, mode="tensor")(rng), *_joined(shape)(rng), *_joined(shape, floats="float64")(rng)]


READ = "patches.reshape(-1, rows, columns, size, size, channels)"
PIECES = f"{READ}.transpose(0, 1, 3, 2, 4, 5)"
LAYOUT = {
    "columns_first": (PIECES, "patches.reshape(-1, columns, rows, size, size, channels).transpose(0, 2, 3, 1, 4, 5)"),
    "pixels_turned": (PIECES, f"{READ}.transpose(0, 1, 4, 2, 3, 5)"),
    "channels_first": (PIECES, "patches.reshape(-1, rows, columns, channels, size, size).transpose(0, 1, 4, 2, 5, 3)"),
    "reshape_alone": (PIECES, "patches"),
    "every_nth_pixel": (PIECES, f"{READ}.transpose(0, 3, 1, 4, 2, 5)"),
    "sides_swapped": ("rows, columns = height // size, width // size", "columns, rows = height // size, width // size"),
}

exercise.mistakes(
    square_grid=edit("rows, columns = height // size, width // size", "rows = columns = math.isqrt(patches.shape[1])")
    | "You take as many rows as columns of patches. How many there are follows from height and width."
    | "How many patches stand in a row of an image that is one patch high?",
    **layout_mistakes(LAYOUT),
    read_as_an_image=edit(
        PIECES,
        "patches.reshape(-1, rows, size, columns, size, channels).transpose(0, 1, 3, 2, 4, 5)",
        see="09#patch-tokens",
    )
    | "The first reshape reads the patches as if they were still an image, (h/P, P, w/P, P). In the patches the axes "
    "of the grid come first: (h/P, w/P, P, P)."
    | "Which axis varies fastest in one patch, and which in the list of patches?",
    image_turned=edit(".reshape(-1, height, width, channels)", ".reshape(-1, height, width, channels).swapaxes(1, 2)")
    | "The images come back transposed: (B, w, h, C) instead of (B, h, w, C).",
)

exercise.advice(
    values="merge_patches(extract_patches(images, P), h, w, C) returns the images, also when they are not square."
)
exercise.hints(
    values=(
        "The patch size is not an argument, but a patch has P·P·C numbers. `math.isqrt` is the root of a whole number.",
        "Undo the steps of `extract_patches` one by one, the last one first.",
        "A reshape to (B, h/P, w/P, P, P, C), one exchange of two axes, a reshape to (B, h, w, C).",
    ),
    types="Convert the argument first, with `ops.convert_to_tensor`, or use `ops.reshape` and `ops.transpose`, which "
    "take arrays and tensors.",
    corners="How many patches are there down and across? Both come from height, width and P.",
)

"""Lab 09, exercise `extract_patches`."""

from typing import Any

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from exercises.drawing import normal
from exercises.vision_transformer import shared
from exercises.vision_transformer.shared import Draw, draw_images, layout_mistakes, patches_of, refusal_mistakes


def _cut(*shapes: tuple[int, tuple[int, int], int, int], **case: Any) -> Draw:
    """Cases of extract_patches: batch, patches down and across, patch size, channels."""

    def draw(rng) -> list[Case]:
        cases = []
        for shape in shapes:
            images = draw_images(rng, *shape)
            description = f"images {images.shape}, patch_size={shape[2]}"
            if case.get("mode") == "graph":
                description += ", inside tf.function, batch size unknown"
            cases.append(Case({"images": images, "patch_size": shape[2]}, description=description, **case))
        return cases

    return draw


exercise = Exercise("extract_patches", own_probe=True, forbidden=shared.READY_CUTTERS)
exercise.formula(patches_of)


@exercise.formula_for("refusal")
def refused(images: np.ndarray, patch_size: int) -> dict[str, str]:
    """Images whose height or width P does not divide are refused with a ValueError."""
    height, width = images.shape[1:3]
    error = "ValueError"
    fits = height % patch_size == 0 and width % patch_size == 0
    return {"raised": "no error" if fits else error}


exercise.group(
    "right patches, in the right order", points=2, values=_cut((2, (5, 7), 3, 4), (5, (3, 2), 7, 3), (7, (3, 5), 2, 1))
)
exercise.group(
    "patches of one pixel, one patch per image, one row of patches",
    corners=_cut((2, (3, 5), 1, 7), (3, (1, 1), 5, 2), (2, (1, 3), 4, 5), (2, (3, 1), 4, 5)),
)


@exercise.group("arrays and tensors, inside a graph too, float type kept")
def types(rng):
    shape = (2, (3, 5), 2, 3)
    wide = {"images": draw_images(rng, *shape, dtype="float64"), "patch_size": 2}
    return [
        *_cut(shape, mode="tensor", dtype="float32")(rng),
        *_cut(shape, dtype="float32")(rng),
        Case(wide, "images of float64", dtype="float64"),
        *_cut(shape, mode="graph", dtype="float32")(rng),
    ]


@exercise.group(
    "ValueError where the patch size does not divide height or width",
    fixed="a refusal is the same error for all sizes that do not fit",
)
def refusal(rng):
    size, rows, columns = int(rng.choice([3, 5])), int(rng.integers(2, 4)), int(rng.integers(4, 6))
    rest = int(rng.integers(1, size))
    shapes = [
        (rows * size + rest, columns * size, size, "does not divide the height"),
        (rows * size, columns * size + rest, size, "does not divide the width"),
        (4, 9, 6, "divides neither height nor width"),
    ]
    return [
        Case(
            {"images": normal(rng, 2, height, width, 3), "patch_size": patch},
            f"images (2, {height}, {width}, 3), patch_size={patch}, which {what}",
            mode="refusal",
        )
        for height, width, patch, what in shapes
    ]


LAYOUT = {
    "columns_first": (shared.PIECES, f"{shared.IMAGE_AXES}.transpose(0, 3, 1, 2, 4, 5)"),
    "pixels_turned": (shared.PIECES, f"{shared.IMAGE_AXES}.transpose(0, 1, 3, 4, 2, 5)"),
    "channels_first": (shared.PIECES, f"{shared.IMAGE_AXES}.transpose(0, 1, 3, 5, 2, 4)"),
    "reshape_alone": (shared.PIECES, "images"),
    "every_nth_pixel": (
        shared.PIECES,
        "images.reshape(batch, patch_size, rows, patch_size, columns, channels).transpose(0, 2, 4, 1, 3, 5)",
    ),
    "sides_swapped": (
        "rows, columns = height // patch_size, width // patch_size",
        "columns, rows = height // patch_size, width // patch_size",
    ),
}
EVERY_STEP = """
pieces = np.lib.stride_tricks.sliding_window_view(images, (patch_size, patch_size), axis=(1, 2))
pieces = pieces.transpose(0, 1, 2, 4, 5, 3)
rows, columns = pieces.shape[1:3]
"""
FLAT = "pieces.reshape(batch, rows * columns, -1)"
FITS = "height % patch_size == 0 and width % patch_size == 0"

exercise.mistakes(
    **layout_mistakes(LAYOUT),
    every_step=edit(f"pieces = {shared.PIECES}", EVERY_STEP, see="09#patch-tokens")
    | "The patches overlap: a new one begins at every pixel. The next one should begin where the last one ends."
    | "How far is it from the corner of one patch to the corner of the next?",
    patches_not_flattened=edit(FLAT, "pieces.reshape(batch, rows * columns, *pieces.shape[3:])", see="09#patch-tokens")
    | "Each patch is still a small image. Flatten it to one axis of P·P·C numbers."
    | "The projection is a Dense layer: how many axes does one patch have for it?",
    grid_kept=edit(FLAT, "pieces.reshape(batch, *pieces.shape[1:3], -1)", see="09#patch-tokens")
    | "The patches are still in a grid, (B, h/P, w/P, P·P·C). They should be on one axis: (B, N, P·P·C)."
    | "A Transformer reads (B, T, D). Which of your axes are T?",
    batch_joined=edit(FLAT, "pieces.reshape(batch * rows * columns, -1)")
    | "The patches of all images are on one axis. The batch should keep an axis of its own, the first.",
    **refusal_mistakes("Images"),
    only_height_checked=edit(FITS, "height % patch_size == 0") | "The height is checked, the width is not: try both.",
    only_width_checked=edit(FITS, "width % patch_size == 0") | "The width is checked, the height is not: try both.",
    only_height_refused=edit('= "ValueError"', '= "ValueError" if height % patch_size else "InvalidArgumentError"')
    | "The height is checked, the width is not: there TensorFlow stops, with an error of its own.",
    only_width_refused=edit('= "ValueError"', '= "ValueError" if width % patch_size else "InvalidArgumentError"')
    | "The width is checked, the height is not: there TensorFlow stops, with an error of its own.",
    only_area_refused=edit(
        'error = "ValueError"', 'error = "ValueError" if height * width % patch_size**2 else "InvalidArgumentError"'
    )
    | "Your code checks the number of pixels. That can be a multiple of P·P although P divides neither side.",
    area_checked=edit(FITS, "height * width % patch_size**2 == 0")
    | "Your code checks the number of pixels. That can be a multiple of P·P although P divides neither side.",
)

exercise.advice(
    values="Number the pixels of a small image (np.arange, reshaped), cut it, and compare with the drawing in the "
    "text.",
    types=Advice(
        graph="Inside a graph the batch size is None: give `ops.reshape` −1 in its place, or `ops.shape(images)[0]`."
    ),
    refusal="Look at both remainders before anything else, and raise a ValueError that names the numbers.",
)
exercise.hints(
    values=(
        "Split the height into two axes, (h/P, P), and the width in the same way: a reshape to six axes.",
        "Name the six axes: image, patch row, pixel row, patch column, pixel column, channel. Which two of them "
        "number the patches, and where do they have to stand?",
        "After the transposition: image, patch row, patch column, pixel row, pixel column, channel. A last reshape "
        "joins them.",
    ),
    types="Convert the argument first, with `ops.convert_to_tensor`, or use `ops.reshape` and `ops.transpose`, which "
    "take arrays and tensors and keep the type.",
    corners="Where does your code have a 2, or a size of the example, in place of a name?",
)

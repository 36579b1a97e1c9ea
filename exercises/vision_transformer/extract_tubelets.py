"""Lab 09, exercise `extract_tubelets`."""

from typing import Any

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.drawing import normal
from exercises.vision_transformer.shared import LAYOUTS, READY_CUTTERS, Draw, refusal_mistakes


def _tubes(*shapes: tuple[int, tuple[int, int, int], int, int, int], floats: str = "float32", **case: Any) -> Draw:
    """Cases of extract_tubelets: batch, tubelets in time, down and across, frames of each, patch size, channels."""

    def draw(rng) -> list[Case]:
        cases = []
        for batch, (times, rows, columns), frames, size, channels in shapes:
            video = normal(rng, batch, times * frames, rows * size, columns * size, channels, dtype=floats)
            description = f"video {video.shape}, frames={frames}, patch_size={size}"
            cases.append(Case({"video": video, "frames": frames, "patch_size": size}, description=description, **case))
        return cases

    return draw


exercise = Exercise("extract_tubelets", own_probe=True, forbidden=READY_CUTTERS)


@exercise.formula
def extract_tubelets(video: np.ndarray, frames: int, patch_size: int) -> np.ndarray:
    """Cut videos (B, f, h, w, C) into tubelets (B, N, frames·P·P·C): time, then rows, then columns.

    Source: Arnab et al. 2021, section 3.2, "tubelet embedding".
    """
    batch, length, height, width, channels = video.shape
    size = patch_size
    times, rows, columns = length // frames, height // size, width // size
    pieces = video.reshape(batch, times, frames, rows, size, columns, size, channels)
    return pieces.transpose(0, 1, 3, 5, 2, 4, 6, 7).reshape(batch, times * rows * columns, -1)


@exercise.formula_for("refusal")
def refused(video: np.ndarray, frames: int, patch_size: int) -> dict[str, str]:
    """Videos whose length `frames`, or whose height or width P does not divide are refused with a ValueError."""
    length, height, width = video.shape[1:4]
    error = "ValueError"
    fits = length % frames == 0 and height % patch_size == 0 and width % patch_size == 0
    return {"raised": "no error" if fits else error}


exercise.group(
    "right tubelets, in the right order", points=2, values=_tubes((2, (3, 2, 4), 5, 3, 2), (3, (4, 3, 2), 2, 5, 1))
)
exercise.group(
    "tubelets of one frame, and one tubelet for the whole video",
    corners=_tubes((2, (3, 2, 4), 1, 3, 2), (3, (1, 1, 1), 4, 5, 2)),
)


@exercise.group("arrays and tensors")
def types(rng):
    shape = (2, (2, 3, 1), 3, 2, 2)
    return [*_tubes(shape, mode="tensor")(rng), *_tubes(shape)(rng), *_tubes(shape, floats="float64")(rng)]


@exercise.group(
    "ValueError where a size does not fit", fixed="a refusal is the same error for all sizes that do not fit"
)
def refusal(rng):
    frames, size = 3, int(rng.choice([4, 5]))
    shapes = [  # the length is a multiple of patch_size, the others are of frames: each number has its own axis
        (size, 2 * size, 3 * size, "frames does not divide the length"),  # these two leave 1 and 2 over
        (2 * size, 2 * size, 3 * size, "frames does not divide the length"),
        (6, 2 * size + -2 * size % frames, 3 * size, "patch_size does not divide the height"),
        (6, 2 * size, 3 * size + frames, "patch_size does not divide the width"),
    ]
    return [
        Case(
            {"video": normal(rng, 2, length, height, width, 1), "frames": frames, "patch_size": size},
            f"video (2, {length}, {height}, {width}, 1), frames={frames}, patch_size={size}: {what}",
            mode="refusal",
        )
        for length, height, width, what in shapes
    ]


CUT = "video.reshape(batch, times, frames, rows, size, columns, size, channels)"
ORDER = ".transpose(0, 1, 3, 5, 2, 4, 6, 7)"
FITS = "length % frames == 0 and height % patch_size == 0 and width % patch_size == 0"

exercise.mistakes(
    time_last=edit(ORDER, ".transpose(0, 3, 5, 1, 2, 4, 6, 7)", see="09#patch-tokens")
    | "The tubelets go through rows, columns, then time. Time should come first."
    | "List the three axes that number the tubelets in the order in which the text counts them.",
    columns_first=edit(ORDER, ".transpose(0, 1, 5, 3, 2, 4, 6, 7)", see="09#patch-tokens")
    | "Within a moment the tubelets go column by column: rows come first."
    | "`extract_patches` has the same order within one moment. Which patch is the second?",
    frames_after_pixels=edit(ORDER, ".transpose(0, 1, 3, 5, 4, 6, 2, 7)")
    | "Inside a tubelet the frames come after the pixels, (P, P, frames, C). They should come first: (frames, P, P, "
    "C)." | "With frames=2, where in a tubelet should the second frame begin?",
    frames_between=edit(ORDER, ".transpose(0, 1, 3, 5, 4, 2, 6, 7)")
    | "Inside a tubelet the frames stand between the rows and the columns of pixels, (P, frames, P, C). They should "
    "come first: (frames, P, P, C).",
    frames_last=edit(ORDER, ".transpose(0, 1, 3, 5, 4, 6, 7, 2)")
    | "Inside a tubelet the frames come last, (P, P, C, frames). They should come first: (frames, P, P, C).",
    pixels_turned=edit(ORDER, ".transpose(0, 1, 3, 5, 2, 6, 4, 7)") | LAYOUTS["pixels_turned"][0],
    channels_first=edit(ORDER, ".transpose(0, 1, 3, 5, 7, 2, 4, 6)")
    | "Inside a tubelet the channels come first. They should come last: (frames, P, P, C).",
    reshape_alone=edit("pieces.transpose(0, 1, 3, 5, 2, 4, 6, 7)", "pieces", see="09#patch-tokens")
    | "A reshape alone does not make tubelets: it takes pixels that follow each other in memory."
    | "Number the entries of a small video with arange: where do the first ones lie in it?",
    inside_first=edit(ORDER, ".transpose(0, 2, 4, 6, 7, 1, 3, 5)")
    | "The axes inside a tubelet stand before those that number the tubelets. Time, rows and columns of the grid "
    "should come first.",
    every_nth_pixel=edit(CUT, "video.reshape(batch, times, frames, size, rows, size, columns, channels)")
    | edit(ORDER, ".transpose(0, 1, 4, 6, 2, 3, 5, 7)")
    | "A tubelet takes every n-th pixel of a frame, not neighbours. In the first reshape the number of patches comes "
    "before the patch size: (h/P, P).",
    every_nth_frame=edit(CUT, "video.reshape(batch, frames, times, rows, size, columns, size, channels)")
    | edit(ORDER, ".transpose(0, 2, 3, 5, 1, 4, 6, 7)")
    | "A tubelet takes every n-th frame of the video. Its frames should follow each other.",
    frames_apart=edit("size = patch_size", "frames, size = 1, patch_size")
    | "Every frame is cut by itself. A tubelet should span several frames.",
    **refusal_mistakes("Sizes"),
    time_not_checked=edit(FITS, "height % patch_size == 0 and width % patch_size == 0")
    | "Height and width are checked, the number of frames is not: a tubelet has `frames` of them.",
    only_time_checked=edit(FITS, "length % frames == 0") | "The length is checked, height and width are not.",
    only_height_checked=edit(FITS, "height % patch_size == 0") | "Only the height is checked.",
    only_width_checked=edit(FITS, "width % patch_size == 0") | "Only the width is checked.",
)

exercise.advice(
    values="Eight axes: image, then each of time, height and width split in two, then the channel.",
    refusal="Three remainders: length by frames, height and width by patch_size.",
)
exercise.hints(
    values=(
        "As in `extract_patches`, with one more axis that is split in two: time, (f/frames, frames).",
        "The three axes that number the tubelets move in front of the three that lie inside.",
    ),
    types="Convert the argument first, with `ops.convert_to_tensor`, or use `ops.reshape` and `ops.transpose`, which "
    "take arrays and tensors.",
    corners="With frames=1 this is `extract_patches`, frame after frame. With one tubelet all three counts are 1.",
)

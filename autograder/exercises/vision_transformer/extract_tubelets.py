"""Lab 09, exercise `extract_tubelets`."""

from typing import Any

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.drawing import normal
from autograder.exercises.vision_transformer.shared import PIXELS_TURNED, READY_CUTTERS, Draw, refusal_mistakes
from autograder.mistaken import patches as mistaken
from autograder.oracles import patches as oracles


def _tubes(*shapes: tuple[int, tuple[int, int, int], int, int, int], floats: str = "float32", **case: Any) -> Draw:
    """Cases of extract_tubelets: batch, tubelets in time, down and across, frames of each, patch size, channels."""

    def draw(rng: Generator) -> list[Case]:
        cases = []
        for batch, (times, rows, columns), frames, size, channels in shapes:
            video = normal(rng, batch, times * frames, rows * size, columns * size, channels, dtype=floats)
            description = f"video {video.shape}, frames={frames}, patch_size={size}"
            cases.append(Case({"video": video, "frames": frames, "patch_size": size}, description=description, **case))
        return cases

    return draw


exercise = Exercise("extract_tubelets", oracle=oracles.extract_tubelets, mistaken=mistaken.extract_tubelets, by_mode={"refusal": oracles.refused}, forbidden=READY_CUTTERS)


@exercise.group("right tubelets, in the right order", points=2, advice="Eight axes: image, then each of time, height and width split in two, then the channel.")
def values(rng: Generator) -> list[Case]:
    return _tubes((2, (3, 2, 4), 5, 3, 2), (3, (4, 3, 2), 2, 5, 1))(rng)


@exercise.group("tubelets of one frame, and one tubelet for the whole video", points=1)
def corners(rng: Generator) -> list[Case]:
    return _tubes((2, (3, 2, 4), 1, 3, 2), (3, (1, 1, 1), 4, 5, 2))(rng)


@exercise.group("arrays and tensors", points=1)
def types(rng: Generator) -> list[Case]:
    shape = (2, (2, 3, 1), 3, 2, 2)
    return [*_tubes(shape, mode="tensor")(rng), *_tubes(shape)(rng), *_tubes(shape, floats="float64")(rng)]


@exercise.group("ValueError where a size does not fit", points=1, advice="Three remainders: length by frames, height and width by patch_size.")
def refusal(rng: Generator) -> list[Case]:
    frames, size = 3, int(rng.choice([4, 5]))
    rest = int(rng.integers(1, size))
    shapes = [
        (7, 2 * size, 3 * size, "frames does not divide the length"),
        (6, 2 * size + rest, 3 * size, "patch_size does not divide the height"),
        (6, 2 * size, 3 * size + rest, "patch_size does not divide the width"),
    ]
    return [
        Case(
            {"video": normal(rng, 2, length, height, width, 1), "frames": frames, "patch_size": size},
            mode="refusal",
            description=f"video (2, {length}, {height}, {width}, 1), frames={frames}, patch_size={size}: {what}",
        )
        for length, height, width, what in shapes
    ]


exercise.mistakes(
    time_last=wrong("The tubelets go through rows, columns, then time. Time should come first.", time="last"),
    columns_first=wrong("Within a moment the tubelets go column by column: rows come first.", order="columns"),
    frames_after_pixels=wrong("Inside a tubelet the frames come after the pixels, (P, P, frames, C). They should come first: (frames, P, P, C).", inner_time="after the pixels"),
    frames_between=wrong("Inside a tubelet the frames stand between the rows and the columns of pixels, (P, frames, P, C). They should come first: (frames, P, P, C).", inner_time="between"),
    frames_last=wrong("Inside a tubelet the frames come last, (P, P, C, frames). They should come first: (frames, P, P, C).", inner_time="last"),
    pixels_turned=PIXELS_TURNED,
    channels_first=wrong("Inside a tubelet the channels come first. They should come last: (frames, P, P, C).", channels_first=True),
    reshape_alone=wrong("A reshape alone does not make tubelets: it takes pixels that follow each other in memory.", how="reshape"),
    inside_first=wrong("The axes inside a tubelet stand before those that number the tubelets. Time, rows and columns of the grid should come first.", inside_first=True),
    every_nth_pixel=wrong("A tubelet takes every n-th pixel of a frame, not neighbours. In the first reshape the number of patches comes before the patch size: (h/P, P).", how="every n-th pixel"),
    every_nth_frame=wrong("A tubelet takes every n-th frame of the video. Its frames should follow each other.", how="every n-th frame"),
    frames_apart=wrong("Every frame is cut by itself. A tubelet should span several frames.", frames_apart=True),
    **refusal_mistakes("Sizes"),
    time_not_checked=wrong("Height and width are checked, the number of frames is not: a tubelet has `frames` of them.", checked="height, width"),
    only_time_checked=wrong("The length is checked, height and width are not.", checked="time"),
    only_height_checked=wrong("Only the height is checked.", checked="height"),
    only_width_checked=wrong("Only the width is checked.", checked="width"),
)


exercise.hints("As in exercise 1, with one more axis that is split in two: time, (f/frames, frames).", "The three axes that number the tubelets move in front of the three that lie inside.")
exercise.hints("Convert the argument first, with `ops.convert_to_tensor`, or use `ops.reshape` and `ops.transpose`, which take arrays and tensors.", group="types")
exercise.hints("With frames=1 this is exercise 1, frame after frame. With one tubelet all three counts are 1.", group="corners")

"""Lab 09, exercise `merge_patches`."""

from typing import Any

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.drawing import normal
from autograder.exercises.vision_transformer.shared import LAYOUT_MISTAKES, Draw
from autograder.mistaken import patches as mistaken
from autograder.oracles import patches as oracles

READY_MERGERS = ("keras.ops.depth_to_space", "keras.ops.nn.depth_to_space", "tensorflow.nn.depth_to_space", "tensorflow.compat.v1.depth_to_space")


def _joined(*shapes: tuple[int, tuple[int, int], int, int], floats: str = "float32", **case: Any) -> Draw:
    """Cases of merge_patches: batch, patches down and across, patch size, channels."""

    def draw(rng: Generator) -> list[Case]:
        cases = []
        for batch, (rows, columns), size, channels in shapes:
            inputs: dict[str, Any] = {"patches": normal(rng, batch, rows * columns, size * size * channels, dtype=floats), "height": rows * size, "width": columns * size, "channels": channels}
            description = f"patches {inputs['patches'].shape}, height={rows * size}, width={columns * size}, channels={channels}"
            cases.append(Case(inputs, description=description, **case))
        return cases

    return draw


exercise = Exercise("merge_patches", oracle=oracles.merge_patches, mistaken=mistaken.merge_patches, forbidden=READY_MERGERS)


@exercise.group("right images", points=2, advice="merge_patches(extract_patches(images, P), h, w, C) returns the images, also when they are not square.")
def values(rng: Generator) -> list[Case]:
    return _joined((2, (5, 7), 3, 11), (5, (3, 2), 7, 3), (7, (3, 5), 2, 1))(rng)


@exercise.group("patches of one pixel, one patch per image, one row of patches", points=1)
def corners(rng: Generator) -> list[Case]:
    return _joined((2, (3, 5), 1, 7), (3, (1, 1), 5, 2), (2, (1, 3), 4, 5), (2, (3, 1), 4, 5))(rng)


@exercise.group("arrays and tensors", points=1)
def types(rng: Generator) -> list[Case]:
    shape = (2, (3, 5), 2, 3)
    return [*_joined(shape, mode="tensor")(rng), *_joined(shape)(rng), *_joined(shape, floats="float64")(rng)]


exercise.mistakes(
    **LAYOUT_MISTAKES,
    read_as_an_image=wrong(
        "The first reshape reads the patches as if they were still an image, (h/P, P, w/P, P). In the patches the axes of the grid come first: (h/P, w/P, P, P).", how="read as an image"
    ),
    image_turned=wrong("The images come back transposed: (B, w, h, C) instead of (B, h, w, C).", image_turned=True),
)


exercise.hints(
    "The patch size is not an argument, but a patch has P·P·C numbers.",
    "Undo the steps of exercise 1 one by one, the last one first.",
    "A reshape to (B, h/P, w/P, P, P, C), one exchange of two axes, a reshape to (B, h, w, C).",
)
exercise.hints("Convert the argument first, with `ops.convert_to_tensor`, or use `ops.reshape` and `ops.transpose`, which take arrays and tensors.", group="types")
exercise.hints("How many patches are there down and across? Both come from height, width and P.", group="corners")

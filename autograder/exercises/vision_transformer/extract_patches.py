"""Lab 09, exercise `extract_patches`."""

from typing import Any

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.drawing import normal
from autograder.exercises.vision_transformer.shared import LAYOUT_MISTAKES, READY_CUTTERS, Draw, draw_images, refusal_mistakes
from autograder.mistaken import patches as mistaken
from autograder.oracles import patches as oracles


def _cut(*shapes: tuple[int, tuple[int, int], int, int], **case: Any) -> Draw:
    """Cases of extract_patches: batch, patches down and across, patch size, channels."""

    def draw(rng: Generator) -> list[Case]:
        cases = []
        for shape in shapes:
            images = draw_images(rng, *shape)
            description = f"images {images.shape}, patch_size={shape[2]}"
            cases.append(Case({"images": images, "patch_size": shape[2]}, description=description, **case))
        return cases

    return draw


exercise = Exercise("extract_patches", oracle=oracles.extract_patches, mistaken=mistaken.extract_patches, by_mode={"refusal": oracles.refused}, forbidden=READY_CUTTERS)


@exercise.group("right patches, in the right order", points=2, advice="Number the pixels of a small image (np.arange, reshaped), cut it, and compare with the drawing in the text.")
def values(rng: Generator) -> list[Case]:
    return _cut((2, (5, 7), 3, 11), (5, (3, 2), 7, 3), (7, (3, 5), 2, 1))(rng)


@exercise.group("patches of one pixel, one patch per image, one row of patches", points=1)
def corners(rng: Generator) -> list[Case]:
    return _cut((2, (3, 5), 1, 7), (3, (1, 1), 5, 2), (2, (1, 3), 4, 5), (2, (3, 1), 4, 5))(rng)


@exercise.group("arrays and tensors, float type kept", points=1)
def types(rng: Generator) -> list[Case]:
    shape = (2, (3, 5), 2, 3)
    wide = {"images": draw_images(rng, *shape, dtype="float64"), "patch_size": 2}
    return [*_cut(shape, mode="tensor", dtype="float32")(rng), *_cut(shape, dtype="float32")(rng), Case(wide, description="images of float64", dtype="float64")]


@exercise.group("ValueError where the patch size does not divide height or width", points=1, advice="Look at both remainders before anything else, and raise a ValueError that names the numbers.")
def refusal(rng: Generator) -> list[Case]:
    size, rows, columns = int(rng.choice([3, 5])), int(rng.integers(2, 4)), int(rng.integers(4, 6))
    rest = int(rng.integers(1, size))
    shapes = [
        (rows * size + rest, columns * size, size, "does not divide the height"),
        (rows * size, columns * size + rest, size, "does not divide the width"),
        (4, 9, 6, "divides neither height nor width"),
    ]
    return [
        Case({"images": normal(rng, 2, height, width, 3), "patch_size": patch}, mode="refusal", description=f"images (2, {height}, {width}, 3), patch_size={patch}, which {what}")
        for height, width, patch, what in shapes
    ]


exercise.mistakes(
    **LAYOUT_MISTAKES,
    every_step=wrong("The patches overlap: a new one begins at every pixel. The next one should begin where the last one ends.", how="every step"),
    patches_not_flattened=wrong("Each patch is still a small image. Flatten it to one axis of P·P·C numbers.", result="patches kept"),
    grid_kept=wrong("The patches are still in a grid, (B, h/P, w/P, P·P·C). They should be on one axis: (B, N, P·P·C).", result="grid kept"),
    batch_joined=wrong("The patches of all images are on one axis. The batch should keep an axis of its own, the first.", result="batch joined"),
    **refusal_mistakes("Images"),
    only_height_checked=wrong("The height is checked, the width is not: try both.", checked="height"),
    only_width_checked=wrong("The width is checked, the height is not: try both.", checked="width"),
    area_checked=wrong("Your code checks the number of pixels. That can be a multiple of P·P although P divides neither side.", checked="area"),
)


exercise.hints(
    "Split the height into two axes, (h/P, P), and the width in the same way: a reshape to six axes.",
    "Name the six axes: image, patch row, pixel row, patch column, pixel column, channel. Which two of them number the patches, and where do they have to stand?",
    "After the transposition: image, patch row, patch column, pixel row, pixel column, channel. A last reshape joins them.",
)
exercise.hints("Convert the argument first, with `ops.convert_to_tensor`, or use `ops.reshape` and `ops.transpose`, which take arrays and tensors and keep the type.", group="types")
exercise.hints("Where does your code have a 2, or a size of the example, in place of a name?", group="corners")

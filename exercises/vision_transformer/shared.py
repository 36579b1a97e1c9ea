"""What several exercises of lab 09 share."""

import math
from collections.abc import Callable, Mapping

import numpy as np

from autograder.declare import Case, Mistake, edit
from coursekit.generator import Generator
from exercises.drawing import normal

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


def patches_of(images: np.ndarray, patch_size: int) -> np.ndarray:
    """Cut images (B, h, w, C) into patches (B, N, P·P·C), row by row (Dosovitskiy et al. 2021, section 3.1)."""
    batch, height, width, channels = images.shape
    rows, columns = height // patch_size, width // patch_size
    pieces = images.reshape(batch, rows, patch_size, columns, patch_size, channels).transpose(0, 1, 3, 2, 4, 5)
    return pieces.reshape(batch, rows * columns, -1)


def embedded(images, patch_size, kernel, bias, class_token, positions):
    """Projected patches with a class token in front, plus positions: (B, h, w, C) -> (B, N + 1, D).

    Source: Dosovitskiy et al. 2021, equation 1.
    """
    tokens = patches_of(images, patch_size) @ kernel + bias
    front = np.broadcast_to(class_token, (len(tokens), 1, tokens.shape[-1]))
    return np.concatenate([front, tokens], axis=1) + positions


def gelu(x: np.ndarray) -> np.ndarray:
    """x·Φ(x), with the distribution function of the normal distribution (Hendrycks and Gimpel 2016)."""
    return (x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))).astype(x.dtype)


def vit_size(patches: int, pixels: int, d_model: int, num_layers: int, d_ff: int, num_classes: int | None) -> int:
    """Trainable numbers of a Vision Transformer, with `pixels` numbers in a patch."""
    projection = pixels * d_model + d_model
    class_token = d_model
    positions = (patches + 1) * d_model
    attention = 4 * d_model * d_model + 4 * d_model
    feed_forward = 2 * d_model * d_ff + d_ff + d_model
    norms = 2 * 2 * d_model
    last_norm = 2 * d_model
    head = d_model * num_classes + num_classes if num_classes else 0
    return projection + class_token + positions + num_layers * (attention + feed_forward + norms) + last_norm + head


# What mistakes change in these formulas.
IMAGE_AXES = "images.reshape(batch, rows, patch_size, columns, patch_size, channels)"
PIECES = f"{IMAGE_AXES}.transpose(0, 1, 3, 2, 4, 5)"
JOINED = "np.concatenate([front, tokens], axis=1) + positions"
FRONT_FIRST = "[front, tokens]"


def draw_images(rng, batch, grid, size, channels, dtype="float32"):
    return normal(rng, batch, grid[0] * size, grid[1] * size, channels, dtype=dtype)


LAYOUTS = {
    "columns_first": (
        (
            "The patches are counted column by column. They go row by row, as one reads: the second patch is to the"
            " right of the first."
        ),
        "Number the patches of the drawing in the text. Which one is patch 1?",
    ),
    "pixels_turned": (
        "Inside a patch, rows and columns of pixels change places: each patch is transposed.",
        "Cut a small image of numbered pixels, and look at the second number of the first patch.",
    ),
    "channels_first": (
        (
            "Inside a patch the channels come first, (C, P, P). They should come last, (P, P, C): the numbers of a"
            " pixel stay together."
        ),
        "Which numbers of a patch lie side by side in memory: those of a pixel, or those of a colour?",
    ),
    "reshape_alone": (
        (
            "A reshape alone does not make patches: it takes pixels that follow each other in memory, which lie in one"
            " row of the image. Some axes have to change places in between."
        ),
        "Number the pixels of a small image with arange: where do the first P·P numbers lie in it?",
    ),
    "every_nth_pixel": (
        (
            "A patch takes every n-th pixel of the whole image, not neighbours. In the first reshape the number of"
            " patches comes before the patch size: (h/P, P), not (P, h/P)."
        ),
        "Of the two axes that a side is split into, the second is the one that counts neighbours.",
    ),
    "sides_swapped": (
        "Height and width change places. With square images you would not notice it.",
        "Try an image that is wider than high. How many patches are in a row?",
    ),
}


def layout_mistakes(edits: Mapping[str, tuple[str, str]]) -> dict[str, Mistake]:
    """The mistakes in the order of pixels and patches, each with the edit of a formula that makes it."""
    return {id: edit(edits[id], see="09#patch-tokens") | sentence | hint for id, (sentence, hint) in LAYOUTS.items()}


def refusal_mistakes(what: str) -> dict[str, Mistake]:
    """Sizes that do not fit are not refused, or not with a ValueError: where a formula says ``error = …``."""
    return dict(
        any_size_accepted=edit('error = "ValueError"', 'error = "no error"', see="09#patch-tokens")
        | f"{what} that do not fit are accepted, and part of the picture is cut off or filled up without an error."
        | "Compare the two remainders with 0 in the first line of the function.",
        refused_too_late=edit('error = "ValueError"', 'error = "InvalidArgumentError"')
        | f"{what} that do not fit fail somewhere inside TensorFlow. "
        "Check them yourself first, and say in words what is wrong.",
        sizes_asserted=edit('error = "ValueError"', 'error = "AssertionError"')
        | f"{what} that do not fit end in an AssertionError; raise a ValueError (assertions can be switched off).",
    )

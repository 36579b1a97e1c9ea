"""Lab 01, exercise `SpatialAttention`."""

from typing import Any

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.attention_intuition.shared import SWAPPED_RESULTS, TRAINING_ADVICE
from exercises.drawing import normal
from exercises.formulas.attention import softmax
from exercises.self_attention.shared import BUILT_IN_ATTENTION


def resize(images: np.ndarray, height: int, width: int) -> np.ndarray:
    """Bilinear resize of (B, h, w, C) to (B, height, width, C), pixel centres at half-integers, edges repeated."""
    for axis, size in ((1, height), (2, width)):
        old = images.shape[axis]
        place = np.clip((np.arange(size) + 0.5) * old / size - 0.5, 0, old - 1)
        low = np.floor(place).astype(int)
        share = (place - low).reshape([-1 if each == axis else 1 for each in range(4)]).astype(images.dtype)
        after = images.take(np.minimum(low + 1, old - 1), axis=axis)
        images = images.take(low, axis=axis) * (1 - share) + after * share
    return images


def spatial_hidden(
    features: np.ndarray, global_features: np.ndarray, local_kernel: np.ndarray, global_kernel: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The two projections (B, h, w, F) that spatial attention adds up."""
    local = np.einsum("bhwc,cf->bhwf", features, local_kernel[0, 0])
    wide = np.einsum("bhwc,cf->bhwf", resize(global_features, *features.shape[1:3]), global_kernel[0, 0])
    return local, wide


def _spatial(
    rng: Generator, size: tuple[int, int] = (5, 7), small: tuple[int, int] = (2, 3), filters: int = 13
) -> dict:
    """Inputs of spatial attention in which no sum is so close to 0 that rounding could decide about its ReLU."""
    channels, wide_channels = 3, 11
    while True:
        inputs: dict[str, Any] = {
            "filters": filters,
            "features": normal(rng, 2, *size, channels),
            "global_features": normal(rng, 2, *small, wide_channels),
            "local_conv.kernel": normal(rng, 1, 1, channels, filters),
            "global_conv.kernel": normal(rng, 1, 1, wide_channels, filters) / 2,
            "score_conv.kernel": normal(rng, 1, 1, filters, 1) / 2,
        }
        local, wide = spatial_hidden(
            inputs["features"], inputs["global_features"], inputs["local_conv.kernel"], inputs["global_conv.kernel"]
        )
        if np.abs(local + wide).min() > 3e-4:
            return inputs


exercise = Exercise(
    "SpatialAttention",
    layer={
        "init": ("filters",),
        "call": ("features", "global_features"),
        "optional": (),
        "weights": ("local_conv.kernel", "global_conv.kernel", "score_conv.kernel"),
        "returns": ("attended", "map"),
        "unknown_axes": (0,),
    },
    returns=("attended", "map"),
    probe_only=("filters",),
    forbidden=BUILT_IN_ATTENTION,
    uses=("softmax",),
)


@exercise.formula
def spatial_attention(
    features: np.ndarray,
    global_features: np.ndarray,
    local_conv_kernel: np.ndarray,
    global_conv_kernel: np.ndarray,
    score_conv_kernel: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Attention over the places of an image, guided by global features (after Yan et al. 2019 and Jetley et al. 2018).

    Args:
        features: (B, h, w, C).
        global_features: (B, h', w', C'), resized to (h, w).
        local_conv_kernel, global_conv_kernel, score_conv_kernel: (1, 1, C, F), (1, 1, C', F), (1, 1, F, 1).

    Returns:
        Features times map (B, h, w, C), and the map (B, h, w, 1), the softmax over all places.
    """
    local, wide = spatial_hidden(features, global_features, local_conv_kernel, global_conv_kernel)
    hidden = np.maximum(local + wide, 0)
    scores = np.einsum("bhwf,fo->bhwo", hidden, score_conv_kernel[0, 0])
    weights = softmax(scores, axis=(1, 2))
    result = features * weights
    return result, weights


@exercise.group("right values", points=2)
def values(rng: Generator) -> list[Case]:
    return [
        Case(_spatial(rng, (3, 5), (3, 5)), description="features (2, 3, 5, 3), global features of the same size"),
        Case(_spatial(rng, (4, 6), (2, 3)), description="features (2, 4, 6, 3), global features (2, 2, 3, 11)"),
    ]


@exercise.group(
    "global features of any size",
    points=1,
    advice="`UpSampling2D` takes whole factors only; `ops.image.resize` takes the size that you want.",
)
def sizes(rng: Generator) -> list[Case]:
    return [
        Case(_spatial(rng, (5, 7), (2, 3)), description="features (2, 5, 7, 3), global features (2, 2, 3, 11)"),
        Case(_spatial(rng, (7, 3), (1, 1)), description="features (2, 7, 3, 3), global features (2, 1, 1, 11)"),
    ]


@exercise.group(
    "works inside tf.function, and gradients reach every weight",
    points=1,
    advice=f"{TRAINING_ADVICE} A softmax over two axes at once needs a known batch size: flatten the places first.",
)
def training(rng: Generator) -> list[Case]:
    inputs = _spatial(rng, (3, 5), (2, 3), filters=2)
    cotangents = {"cotangent.attended": normal(rng, 2, 3, 5, 3), "cotangent.map": normal(rng, 2, 3, 5, 1)}
    return [
        Case(inputs, mode="graph", description="inside tf.function, batch size unknown"),
        Case({**inputs, **cotangents}, mode="gradient", description="gradients, compared with numerical ones"),
    ]


exercise.mistakes(
    softmax_over_channels=wrong(
        "The map is 1 everywhere: the softmax runs over the one channel. It should run over the places.",
        ("softmax(scores, axis=(1, 2))", "softmax(scores, axis=-1)"),
    ),
    softmax_over_rows=wrong(
        "Every column of the map sums to 1; the whole map should.",
        ("softmax(scores, axis=(1, 2))", "softmax(scores, axis=1)"),
    ),
    softmax_over_columns=wrong(
        "Every row of the map sums to 1; the whole map should.",
        ("softmax(scores, axis=(1, 2))", "softmax(scores, axis=2)"),
    ),
    softmax_over_batch=wrong(
        "The maps of the whole batch sum to 1 together.",
        ("softmax(scores, axis=(1, 2))", "softmax(scores, axis=(0, 1, 2))"),
    ),
    sigmoid_map=wrong(
        "The map is a sigmoid of the scores; the contract asks for a softmax.",
        ("softmax(scores, axis=(1, 2))", "1 / (1 + np.exp(-scores))"),
    ),
    map_not_normalised=wrong(
        "The map holds the scores, so it does not sum to 1: the softmax is missing.",
        ("softmax(scores, axis=(1, 2))", "scores"),
    ),
    no_relu=wrong("There is no ReLU between the sum and score_conv.", ("np.maximum(local + wide, 0)", "local + wide")),
    relu_of_each=wrong(
        "ReLU is applied to each part before the sum; it should come after the sum.",
        ("np.maximum(local + wide, 0)", "np.maximum(local, 0) + np.maximum(wide, 0)"),
    ),
    relu_on_scores=wrong(
        "ReLU is applied to the scores; it belongs between the sum and score_conv.",
        ("np.maximum(local + wide, 0)", "local + wide"),
        ("softmax(scores, axis=(1, 2))", "softmax(np.maximum(scores, 0), axis=(1, 2))"),
    ),
    tanh_for_relu=wrong(
        "There is a tanh where the exercise asks for ReLU.", ("np.maximum(local + wide, 0)", "np.tanh(local + wide)")
    ),
    multiplied=wrong(
        "Local and global parts are multiplied; they should be added.",
        ("np.maximum(local + wide, 0)", "np.maximum(local * wide, 0)"),
    ),
    nearest_resize=wrong(
        "The global features are resized to the nearest pixel, not bilinearly.",
        (
            "images.take(low, axis=axis) * (1 - share) + after * share",
            "images.take(((np.arange(size) + 0.5) * old / size).astype(int), axis=axis)",
        ),
    ),
    corners_aligned=wrong(
        "Your resizing makes the corner pixels coincide; here the outer edges of the images should coincide.",
        ("np.clip((np.arange(size) + 0.5) * old / size - 0.5, 0, old - 1)", "np.linspace(0, old - 1, size)"),
    ),
    global_ignored=wrong(
        "The global features change nothing in your map.", ("np.maximum(local + wide, 0)", "np.maximum(local, 0)")
    ),
    not_multiplied=wrong(
        "The features come back as they are: multiply them by the map.", ("features * weights", "features")
    ),
    projection_attended=wrong(
        "The map multiplies the result of local_conv; it should multiply the features as they were given.",
        ("features * weights", "local * weights"),
    ),
    sum_attended=wrong(
        "The map multiplies the sum of both projections; it should multiply the features as they were given.",
        ("features * weights", "hidden * weights"),
    ),
    global_attended=wrong(
        "The map multiplies the global features; it should multiply `features`.",
        ("features * weights", "resize(global_features, *features.shape[1:3]) * weights"),
    ),
    summed_over_places=wrong(
        "The features are summed over the places; the layer should return one vector for each place.",
        ("features * weights", "(features * weights).sum(axis=(1, 2))"),
    ),
    features_added=wrong(
        "The features are added once more; the result should be features · map alone.",
        ("features * weights", "features + features * weights"),
    ),
    results_swapped=SWAPPED_RESULTS,
)


exercise.hints(
    "Three `keras.layers.Conv2D` of kernel size 1; score_conv has one filter. None of them has an activation "
    "of its own.",
    "Resize the global part to (h, w) of the features with `ops.image.resize(…, interpolation='bilinear')`.",
    "One softmax over all places: reshape the scores (B, h, w, 1) to (B, h·w), softmax, reshape back.",
)
exercise.hints(
    "Which two numbers does the resizing need, and from which of the two inputs do they come?", group="sizes"
)
exercise.hints("Which of your sizes is None when the batch is not known? A reshape takes −1 once.", group="training")

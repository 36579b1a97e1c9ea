"""Lab 01, exercise `SpatialAttention`."""

from typing import Any

import numpy as np

from autograder.declare import Case, Exercise, edit
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


def spatial_hidden(features, global_features, local_kernel, global_kernel):
    """The two projections (B, h, w, F) that spatial attention adds up."""
    local = np.einsum("bhwc,cf->bhwf", features, local_kernel[0, 0])
    wide = np.einsum("bhwc,cf->bhwf", resize(global_features, *features.shape[1:3]), global_kernel[0, 0])
    return local, wide


def _spatial(rng, size=(5, 7), small=(2, 3), filters=13):
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
def spatial_attention(features, global_features, local_conv_kernel, global_conv_kernel, score_conv_kernel):
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
def values(rng):
    yield Case(_spatial(rng, (3, 5), (3, 5)), "features (2, 3, 5, 3), global features of the same size")
    yield Case(_spatial(rng, (4, 6), (2, 3)), "features (2, 4, 6, 3), global features (2, 2, 3, 11)")


@exercise.group("global features of any size")
def sizes(rng):
    yield Case(_spatial(rng, (5, 7), (2, 3)), "features (2, 5, 7, 3), global features (2, 2, 3, 11)")
    yield Case(_spatial(rng, (7, 3), (1, 1)), "features (2, 7, 3, 3), global features (2, 1, 1, 11)")


exercise.training(lambda rng: _spatial(rng, (3, 5), (2, 3), filters=2), unknown="batch size")

exercise.mistakes(
    softmax_over_channels=edit("softmax(scores, axis=(1, 2))", "softmax(scores, axis=-1)")
    | "The map is 1 everywhere: the softmax runs over the one channel. It should run over the places.",
    softmax_over_rows=edit("softmax(scores, axis=(1, 2))", "softmax(scores, axis=1)")
    | "Every column of the map sums to 1; the whole map should.",
    softmax_over_columns=edit("softmax(scores, axis=(1, 2))", "softmax(scores, axis=2)")
    | "Every row of the map sums to 1; the whole map should.",
    softmax_over_batch=edit("softmax(scores, axis=(1, 2))", "softmax(scores, axis=(0, 1, 2))")
    | "The maps of the whole batch sum to 1 together.",
    sigmoid_map=edit("softmax(scores, axis=(1, 2))", "1 / (1 + np.exp(-scores))")
    | "The map is a sigmoid of the scores; the contract asks for a softmax.",
    map_not_normalised=edit("softmax(scores, axis=(1, 2))", "scores")
    | "The map holds the scores, so it does not sum to 1: the softmax is missing.",
    no_relu=edit("np.maximum(local + wide, 0)", "local + wide") | "There is no ReLU between the sum and score_conv.",
    relu_of_each=edit("np.maximum(local + wide, 0)", "np.maximum(local, 0) + np.maximum(wide, 0)")
    | "ReLU is applied to each part before the sum; it should come after the sum.",
    relu_on_scores=edit("np.maximum(local + wide, 0)", "local + wide")
    | edit("softmax(scores, axis=(1, 2))", "softmax(np.maximum(scores, 0), axis=(1, 2))")
    | "ReLU is applied to the scores; it belongs between the sum and score_conv.",
    tanh_for_relu=edit("np.maximum(local + wide, 0)", "np.tanh(local + wide)")
    | "There is a tanh where the exercise asks for ReLU.",
    multiplied=edit("np.maximum(local + wide, 0)", "np.maximum(local * wide, 0)")
    | "Local and global parts are multiplied; they should be added.",
    nearest_resize=edit(
        "images.take(low, axis=axis) * (1 - share) + after * share",
        "images.take(((np.arange(size) + 0.5) * old / size).astype(int), axis=axis)",
    )
    | "The global features are resized to the nearest pixel, not bilinearly.",
    corners_aligned=edit("clip((np.arange(size) + 0.5) * old / size - 0.5, 0, old - 1)", "linspace(0, old - 1, size)")
    | "Your resizing makes the corner pixels coincide; here the outer edges of the images should coincide.",
    global_ignored=edit("np.maximum(local + wide, 0)", "np.maximum(local, 0)")
    | "The global features change nothing in your map.",
    not_multiplied=edit("features * weights", "features")
    | "The features come back as they are: multiply them by the map.",
    projection_attended=edit("features * weights", "local * weights")
    | "The map multiplies the result of local_conv; it should multiply the features as they were given.",
    sum_attended=edit("features * weights", "hidden * weights")
    | "The map multiplies the sum of both projections; it should multiply the features as they were given.",
    global_attended=edit("features * weights", "resize(global_features, *features.shape[1:3]) * weights")
    | "The map multiplies the global features; it should multiply `features`.",
    summed_over_places=edit("features * weights", "(features * weights).sum(axis=(1, 2))")
    | "The features are summed over the places; the layer should return one vector for each place.",
    features_added=edit("features * weights", "features + features * weights")
    | "The features are added once more; the result should be features · map alone.",
    results_swapped=SWAPPED_RESULTS,
)

exercise.advice(
    sizes="`UpSampling2D` takes whole factors only; `ops.image.resize` takes the size that you want.",
    training=f"{TRAINING_ADVICE} A softmax over two axes at once needs a known batch size: flatten the places first.",
)
exercise.hints(
    values=(
        "Three `keras.layers.Conv2D` of kernel size 1; score_conv has one filter. None of them has an activation of "
        "its own.",
        "Resize the global part to (h, w) of the features with `ops.image.resize(…, interpolation='bilinear')`.",
        "One softmax over all places: reshape the scores (B, h, w, 1) to (B, h·w), softmax, reshape back.",
    ),
    sizes="Which two numbers does the resizing need, and from which of the two inputs do they come?",
    training="Which of your sizes is None when the batch is not known? A reshape takes −1 once.",
)

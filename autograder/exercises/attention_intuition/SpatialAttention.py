"""Lab 01, exercise `SpatialAttention`."""

from typing import Any

import numpy as np
from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.attention_intuition.shared import SWAPPED_RESULTS, TRAINING_ADVICE
from autograder.exercises.drawing import normal
from autograder.exercises.self_attention.shared import BUILT_IN_ATTENTION
from autograder.mistaken import spatial_attention as mistaken
from autograder.oracles import spatial_attention as oracles


def _spatial(rng: Generator, size: tuple[int, int] = (5, 7), small: tuple[int, int] = (2, 3), filters: int = 13) -> dict:
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
        local, wide = oracles.spatial_hidden(inputs["features"], inputs["global_features"], inputs["local_conv.kernel"], inputs["global_conv.kernel"])
        if np.abs(local + wide).min() > 3e-4:
            return inputs


exercise = Exercise("SpatialAttention", oracle=oracles.spatial_attention, mistaken=mistaken.spatial_attention, probe_only=("filters",), forbidden=BUILT_IN_ATTENTION)


@exercise.group("right values", points=2)
def values(rng: Generator) -> list[Case]:
    return [
        Case(_spatial(rng, (3, 5), (3, 5)), description="features (2, 3, 5, 3), global features of the same size"),
        Case(_spatial(rng, (4, 6), (2, 3)), description="features (2, 4, 6, 3), global features (2, 2, 3, 11)"),
    ]


@exercise.group("global features of any size", points=1, advice="`UpSampling2D` takes whole factors only; `ops.image.resize` takes the size that you want.")
def sizes(rng: Generator) -> list[Case]:
    return [
        Case(_spatial(rng, (5, 7), (2, 3)), description="features (2, 5, 7, 3), global features (2, 2, 3, 11)"),
        Case(_spatial(rng, (7, 3), (1, 1)), description="features (2, 7, 3, 3), global features (2, 1, 1, 11)"),
    ]


@exercise.group("works inside tf.function, and gradients reach every weight", points=1, advice=f"{TRAINING_ADVICE} A softmax over two axes at once needs a known batch size: flatten the places first.")
def training(rng: Generator) -> list[Case]:
    inputs = _spatial(rng, (3, 5), (2, 3), filters=2)
    cotangents = {"cotangent.attended": normal(rng, 2, 3, 5, 3), "cotangent.map": normal(rng, 2, 3, 5, 1)}
    return [Case(inputs, mode="graph", description="inside tf.function, batch size unknown"), Case({**inputs, **cotangents}, mode="gradient", description="gradients, compared with numerical ones")]


exercise.mistakes(
    softmax_over_channels=wrong("The map is 1 everywhere: the softmax runs over the one channel. It should run over the places.", normalised="channels"),
    softmax_over_rows=wrong("Every column of the map sums to 1; the whole map should.", normalised="rows"),
    softmax_over_columns=wrong("Every row of the map sums to 1; the whole map should.", normalised="columns"),
    softmax_over_batch=wrong("The maps of the whole batch sum to 1 together.", normalised="batch"),
    sigmoid_map=wrong("The map is a sigmoid of the scores; the contract asks for a softmax.", normalised="sigmoid"),
    map_not_normalised=wrong("The map holds the scores, so it does not sum to 1: the softmax is missing.", normalised="none"),
    no_relu=wrong("There is no ReLU between the sum and score_conv.", activation="none"),
    relu_of_each=wrong("ReLU is applied to each part before the sum; it should come after the sum.", activation="each"),
    relu_on_scores=wrong("ReLU is applied to the scores; it belongs between the sum and score_conv.", activation="on the scores"),
    tanh_for_relu=wrong("There is a tanh where the exercise asks for ReLU.", activation="tanh"),
    multiplied=wrong("Local and global parts are multiplied; they should be added.", combined="product"),
    nearest_resize=wrong("The global features are resized to the nearest pixel, not bilinearly.", method="nearest"),
    corners_aligned=wrong("Your resizing makes the corner pixels coincide; here the outer edges of the images should coincide.", method="corners"),
    global_ignored=wrong("The global features change nothing in your map.", without_global=True),
    not_multiplied=wrong("The features come back as they are: multiply them by the map.", attended="features"),
    projection_attended=wrong("The map multiplies the result of local_conv; it should multiply the features as they were given.", attended="local"),
    sum_attended=wrong("The map multiplies the sum of both projections; it should multiply the features as they were given.", attended="hidden"),
    global_attended=wrong("The map multiplies the global features; it should multiply `features`.", attended="global"),
    summed_over_places=wrong("The features are summed over the places; the layer should return one vector for each place.", attended="summed"),
    features_added=wrong("The features are added once more; the result should be features · map alone.", attended="residual"),
    results_swapped=SWAPPED_RESULTS,
)


exercise.hints(
    "Three `keras.layers.Conv2D` of kernel size 1; score_conv has one filter. None of them has an activation of its own.",
    "Resize the global part to (h, w) of the features with `ops.image.resize(…, interpolation='bilinear')`.",
    "One softmax over all places: reshape the scores (B, h, w, 1) to (B, h·w), softmax, reshape back.",
)
exercise.hints("Which two numbers does the resizing need, and from which of the two inputs do they come?", group="sizes")
exercise.hints("Which of your sizes is None when the batch is not known? A reshape takes −1 once.", group="training")

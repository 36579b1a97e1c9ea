"""Lab 09, exercise `attention_rollout`."""

from typing import Any

import numpy as np
from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.vision_transformer.shared import Draw
from autograder.mistaken import vision_transformer as mistaken
from autograder.mistaken.attention import softmax
from autograder.oracles import vision_transformer as oracles


def _attentions(rng: Generator, *shape: int, pruned: bool = False, dtype: str = "float32") -> np.ndarray:
    weights = softmax(2 * rng.normal(size=(*shape, shape[-1])))
    if pruned:
        weights = np.where(weights < np.quantile(weights, 0.6), 0, weights)
    return weights.astype(dtype)


def _rollouts(*shapes: tuple[int, ...], pruned: bool = False, floats: str = "float32", **case: Any) -> Draw:
    def draw(rng: Generator) -> list[Case]:
        cases = []
        for shape in shapes:
            attentions = _attentions(rng, *shape, pruned=pruned, dtype=floats)
            description = f"attentions {attentions.shape}" + (", small weights set to 0" if pruned else "")
            cases.append(Case({"attentions": attentions}, description=description, **case))
        return cases

    return draw


exercise = Exercise("attention_rollout", oracle=oracles.attention_rollout, mistaken=mistaken.attention_rollout)


@exercise.group("right values", points=2, advice="Try it on the two layers of the text first.")
def values(rng: Generator) -> list[Case]:
    return _rollouts((3, 2, 5, 7), (5, 3, 2, 4))(rng)


@exercise.group("a single layer, a single head", points=1)
def one_layer(rng: Generator) -> list[Case]:
    return _rollouts((1, 2, 3, 5), (2, 3, 1, 5))(rng)


@exercise.group("rows that do not sum to 1 before", points=1, advice="After half of the identity is added, every row is divided by its own sum.")
def pruned(rng: Generator) -> list[Case]:
    return _rollouts((3, 2, 5, 7), pruned=True)(rng)


@exercise.group("arrays and tensors", points=1)
def types(rng: Generator) -> list[Case]:
    shape = (3, 2, 2, 5)
    return [*_rollouts(shape, mode="tensor")(rng), *_rollouts(shape)(rng), *_rollouts(shape, floats="float64")(rng)]


exercise.mistakes(
    order_reversed=wrong("The layers are multiplied in the wrong order. The last layer acts last, so its matrix should be on the left.", product="first on the left"),
    entry_by_entry=wrong("The layers are multiplied entry by entry. A path from layer to layer is a matrix product.", product="entry by entry"),
    layers_averaged=wrong("The layers are averaged; they should be multiplied.", product="mean"),
    no_identity=wrong("The residual path is missing: add half of the identity to half of the attention.", identity="none"),
    not_normalised=wrong("The rows are not normalised after the identity is added.", normalised="no"),
    identity_whole_not_normalised=wrong("A + I is multiplied as it is, so the numbers grow from layer to layer: halve, and normalise.", identity="whole", normalised="no"),
    normalised_before=wrong("The rows are normalised before the identity is added. Add the identity first: with pruned weights the result differs.", normalised="rows, before"),
    identity_not_halved=wrong("The identity is added whole, and the attention half: each should count one half.", identity="beside half"),
    columns_normalised=wrong("Columns are normalised. Rows should be: there is one row per query.", normalised="columns"),
    divided_by_largest=wrong("Each row is divided by its largest entry, not by its sum.", normalised="largest"),
    heads_summed=wrong("The heads are added up, so they outweigh the identity. They should be averaged.", heads="sum"),
    largest_head=wrong("Only the largest head counts; the heads should be averaged.", heads="largest"),
    smallest_head=wrong("Only the smallest head counts; the heads should be averaged.", heads="smallest"),
    first_head_only=wrong("Only the first head counts; the heads should be averaged.", heads="first"),
    heads_one_by_one=wrong("The rollout is made for each head alone and averaged at the end. A path may change heads from layer to layer, so the heads are averaged first.", heads="one by one"),
    last_layer_only=wrong("Only the last layer is in the result.", layers="last"),
    first_layer_only=wrong("Only the first layer is in the result.", layers="first"),
    first_layer_twice=wrong("The first layer is in the product twice: does the loop begin with the one that you started from?", layers="first twice"),
    first_layer_left_out=wrong("The first layer is left out of the product.", layers="all but the first"),
    weights_transposed=wrong("Queries and keys change places: rows are queries.", transposed=True),
)


exercise.hints(
    "The axis of the heads is number 2: (L, B, H, T, T).",
    "For each layer: average the heads, add one half of this to one half of the identity, divide each row by its sum.",
    "Start with the first layer. Multiply the result so far by each next matrix from the left.",
)
exercise.hints("With one layer there is nothing to multiply, and the result is that layer's matrix after step 3.", group="one_layer")
exercise.hints("TensorFlow does not combine a tensor of float64 with one of float32. `ops.eye(…, dtype=attentions.dtype)` has the type of the argument.", group="types")

"""Lab 09, exercise `attention_rollout`."""

from typing import Any

import numpy as np

from autograder.declaring import Advice, Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.formulas.attention import softmax
from exercises.vision_transformer.shared import Draw


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


exercise = Exercise("attention_rollout", call=("attentions",))


@exercise.formula
def attention_rollout(attentions: np.ndarray) -> np.ndarray:
    """How much each token's start contributes to each token's end (Abnar and Zuidema 2020, section 3, equation 1).

    Args:
        attentions: weights (L, B, H, T, T), rows are queries.

    Returns:
        (B, T, T).
    """
    heads = attentions.mean(axis=2)
    eye = np.eye(heads.shape[-1], dtype=heads.dtype)
    maps = (heads + eye) / 2
    maps = maps / maps.sum(axis=-1, keepdims=True)
    rollout = maps[0]
    for layer in maps[1:]:
        rollout = layer @ rollout
    return rollout


def heads_one_by_one(attentions: np.ndarray) -> np.ndarray:
    """A rollout of each head alone, and their mean."""
    return np.mean([attention_rollout(attentions[:, :, [head]]) for head in range(attentions.shape[2])], axis=0)


@exercise.group(
    "right values",
    points=2,
    advice=Advice(
        value="Try it on the two layers of the text first.",
        shape="The result has a whole matrix for each image, (B, T, T), and no axis of heads.",
    ),
)
def values(rng: Generator) -> list[Case]:
    return _rollouts((3, 2, 5, 7), (5, 3, 2, 4))(rng)


@exercise.group("a single layer, a single head", points=1)
def one_layer(rng: Generator) -> list[Case]:
    return _rollouts((1, 2, 3, 5), (2, 3, 1, 5))(rng)


@exercise.group(
    "rows that do not sum to 1 before",
    points=1,
    advice="After half of the identity is added, every row is divided by its own sum.",
)
def pruned(rng: Generator) -> list[Case]:
    return _rollouts((3, 2, 5, 7), pruned=True)(rng)


@exercise.group("arrays and tensors", points=1)
def types(rng: Generator) -> list[Case]:
    shape = (3, 2, 2, 5)
    return [*_rollouts(shape, mode="tensor")(rng), *_rollouts(shape)(rng), *_rollouts(shape, floats="float64")(rng)]


MEAN = "heads = attentions.mean(axis=2)"
MIXED = "(heads + eye) / 2"
NORMALISED = "maps = maps / maps.sum(axis=-1, keepdims=True)"
START = "rollout = maps[0]"
STEP = "layer @ rollout"

exercise.mistakes(
    order_reversed=wrong(
        "The layers are multiplied in the wrong order. The last layer acts last, so its matrix should be on the left.",
        (STEP, "rollout @ layer"),
        hint="Row t of the last layer asks tokens of the layer before it. Which matrix do these rows multiply?",
        see="09#rollout",
    ),
    entry_by_entry=wrong(
        "The layers are multiplied entry by entry. A path from layer to layer is a matrix product.",
        (STEP, "rollout * layer"),
        hint="A path goes from token to token through one in between: over what is summed?",
        see="09#rollout",
    ),
    layers_averaged=wrong(
        "The layers are averaged; they should be multiplied.",
        (STEP, "rollout + layer"),
        ("return rollout", "return rollout / len(maps)"),
        hint="What does a path through two layers cost: a sum, or a product of its two weights?",
        see="09#rollout",
    ),
    no_identity=wrong(
        "The residual path is missing: add half of the identity to half of the attention.",
        (MIXED, "heads"),
        hint="A block adds its result to the token. Which matrix stands for the token that stays as it is?",
        see="09#rollout",
    ),
    not_normalised=wrong(
        "The rows are not normalised after the identity is added.",
        (NORMALISED, ""),
        hint="What should a row sum to, if it says from where a token has what it holds?",
        see="09#rollout",
    ),
    identity_whole_not_normalised=wrong(
        "A + I is multiplied as it is, so the numbers grow from layer to layer: halve, and normalise.",
        (MIXED, "heads + eye"),
        (NORMALISED, ""),
        hint="What should a row sum to, if it says from where a token has what it holds?",
        see="09#rollout",
    ),
    normalised_at_the_end=wrong(
        "Only the product's rows are divided by their sums. Each layer's rows should be, before they are multiplied.",
        (NORMALISED, ""),
        ("return rollout", "return rollout / rollout.sum(axis=-1, keepdims=True)"),
        hint="In the text's list, which comes first: the division or the product?",
        see="09#rollout",
    ),
    normalised_before=wrong(
        "The rows are normalised before the identity is added. Add the identity first: with pruned weights the result"
        " differs.",
        (MEAN, f"{MEAN}\nheads = heads / heads.sum(axis=-1, keepdims=True)"),
        (NORMALISED, ""),
        hint="In the text's list, which of the two steps comes first?",
        see="09#rollout",
    ),
    identity_not_halved=wrong(
        "The identity is added whole, and the attention half: each should count one half.",
        (MIXED, "heads / 2 + eye"),
        hint="Which share has the attention, and which the residual path?",
        see="09#rollout",
    ),
    attention_not_halved=wrong(
        "The attention is added whole, and the identity half: each should count one half.",
        (MIXED, "heads + eye / 2"),
        hint="Which share has the attention, and which the residual path?",
        see="09#rollout",
    ),
    columns_normalised=wrong(
        "Columns are normalised. Rows should be: there is one row per query.",
        (NORMALISED, NORMALISED.replace("-1", "-2")),
    ),
    row_sums_on_columns=wrong(
        "Column i is divided by the sum of row i: a sum without `keepdims=True` is laid along the last axis.",
        (NORMALISED, "maps = maps / maps.sum(axis=-1)[..., None, :]"),
        see="09#rollout",
    ),
    divided_by_largest=wrong(
        "Each row is divided by its largest entry, not by its sum.", (NORMALISED, NORMALISED.replace("sum", "max"))
    ),
    heads_summed=wrong(
        "The heads are added up, so they outweigh the identity. They should be averaged.",
        (MEAN, "heads = attentions.sum(axis=2)"),
    ),
    images_averaged=wrong(
        "The mean is taken over the images, axis 1. The heads are on axis 2: (L, B, H, T, T).",
        (MEAN, "heads = attentions.mean(axis=1)"),
    ),
    first_head_only=wrong(
        "Only the first head counts; the heads should be averaged.", (MEAN, "heads = attentions[:, :, 0]")
    ),
    heads_one_by_one=wrong(
        "The rollout is made for each head alone and averaged at the end. A path may change heads from layer to layer,"
        " so the heads are averaged first.",
        instead=heads_one_by_one,
    ),
    last_layer_only=wrong("Only the last layer is in the result.", (START, f"maps = maps[-1:]\n{START}")),
    first_layer_only=wrong("Only the first layer is in the result.", (START, f"maps = maps[:1]\n{START}")),
    first_layer_twice=wrong(
        "The first layer is in the product twice: does the loop begin with the one that you started from?",
        (START, f"maps = np.concatenate([maps[:1], maps])\n{START}"),
    ),
    first_layer_left_out=wrong(
        "The first layer is left out of the product.", (START, f"maps = maps[1:] if len(maps) > 1 else maps\n{START}")
    ),
    weights_transposed=wrong(
        "Queries and keys change places: rows are queries.", (MIXED, "((heads + eye) / 2).swapaxes(-1, -2)")
    ),
    largest_head=wrong(
        "Only the largest head counts; the heads should be averaged.", (MEAN, "heads = attentions.max(axis=2)")
    ),
    smallest_head=wrong(
        "Only the smallest head counts; the heads should be averaged.", (MEAN, "heads = attentions.min(axis=2)")
    ),
)


exercise.hints(
    "The axis of the heads is number 2: (L, B, H, T, T).",
    "For each layer: average the heads, add one half of this to one half of the identity, divide each row by its sum.",
    "Start with the first layer. Multiply the result so far by each next matrix from the left.",
)
exercise.hints(
    "With one layer there is nothing to multiply, and the result is that layer's matrix after step 3.",
    group="one_layer",
)
exercise.hints(
    "TensorFlow does not combine a tensor of float64 with one of float32. `ops.eye(…, dtype=attentions.dtype)` has the"
    " type of the argument.",
    group="types",
)

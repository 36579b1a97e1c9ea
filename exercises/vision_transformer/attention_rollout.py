"""Lab 09, exercise `attention_rollout`."""

from typing import Any

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit, instead
from exercises.formulas.attention import softmax
from exercises.vision_transformer.shared import Draw


def _attentions(rng, *shape: int, pruned: bool = False, dtype: str = "float32") -> np.ndarray:
    weights = softmax(2 * rng.normal(size=(*shape, shape[-1])))
    if pruned:
        weights = np.where(weights < np.quantile(weights, 0.6), 0, weights)
    return weights.astype(dtype)


def _rollouts(*shapes: tuple[int, ...], pruned: bool = False, floats: str = "float32", **case: Any) -> Draw:
    def draw(rng) -> list[Case]:
        cases = []
        for shape in shapes:
            attentions = _attentions(rng, *shape, pruned=pruned, dtype=floats)
            description = f"attentions {attentions.shape}" + (", small weights set to 0" if pruned else "")
            cases.append(Case({"attentions": attentions}, description=description, **case))
        return cases

    return draw


exercise = Exercise("attention_rollout")


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


exercise.group("right values", points=2, values=_rollouts((3, 2, 5, 7), (5, 3, 2, 4)))
exercise.group("a single layer, a single head", one_layer=_rollouts((1, 2, 3, 5), (2, 3, 1, 5)))


@exercise.group("rows that do not sum to 1 before")
def pruned(rng):
    return _rollouts((3, 2, 5, 7), pruned=True)(rng)


@exercise.group("arrays and tensors")
def types(rng):
    shape = (3, 2, 2, 5)
    return [*_rollouts(shape, mode="tensor")(rng), *_rollouts(shape)(rng), *_rollouts(shape, floats="float64")(rng)]


MEAN = "heads = attentions.mean(axis=2)"
MIXED = "(heads + eye) / 2"
NORMALISED = "maps = maps / maps.sum(axis=-1, keepdims=True)"
START = "rollout = maps[0]"
STEP = "layer @ rollout"

exercise.mistakes(
    order_reversed=edit(STEP, "rollout @ layer", see="09#rollout")
    | "The layers are multiplied in the wrong order. The last layer acts last, so its matrix should be on the left."
    | "Row t of the last layer asks tokens of the layer before it. Which matrix do these rows multiply?",
    entry_by_entry=edit(STEP, "rollout * layer", see="09#rollout")
    | "The layers are multiplied entry by entry. A path from layer to layer is a matrix product."
    | "A path goes from token to token through one in between: over what is summed?",
    layers_averaged=edit((STEP, "rollout + layer"), ("return rollout", "return rollout / len(maps)"), see="09#rollout")
    | "The layers are averaged; they should be multiplied."
    | "What does a path through two layers cost: a sum, or a product of its two weights?",
    no_identity=edit(MIXED, "heads", see="09#rollout")
    | "The residual path is missing: add half of the identity to half of the attention."
    | "A block adds its result to the token. Which matrix stands for the token that stays as it is?",
    not_normalised=edit(NORMALISED, "", see="09#rollout")
    | "The rows are not normalised after the identity is added."
    | "What should a row sum to, if it says from where a token has what it holds?",
    identity_whole_not_normalised=edit((MIXED, "heads + eye"), (NORMALISED, ""), see="09#rollout")
    | "A + I is multiplied as it is, so the numbers grow from layer to layer: halve, and normalise."
    | "What should a row sum to, if it says from where a token has what it holds?",
    normalised_at_the_end=edit(NORMALISED, "")
    | edit("return rollout", "return rollout / rollout.sum(axis=-1, keepdims=True)", see="09#rollout")
    | "Only the product's rows are divided by their sums. Each layer's rows should be, before they are multiplied."
    | "In the text's list, which comes first: the division or the product?",
    normalised_before=edit(MEAN, f"{MEAN}\nheads = heads / heads.sum(axis=-1, keepdims=True)")
    | edit(NORMALISED, "", see="09#rollout")
    | "The rows are normalised before the identity is added. Add the identity first: with pruned weights the result "
    "differs." | "In the text's list, which of the two steps comes first?",
    identity_not_halved=edit(MIXED, "heads / 2 + eye", see="09#rollout")
    | "The identity is added whole, and the attention half: each should count one half."
    | "Which share has the attention, and which the residual path?",
    attention_not_halved=edit(MIXED, "heads + eye / 2", see="09#rollout")
    | "The attention is added whole, and the identity half: each should count one half."
    | "Which share has the attention, and which the residual path?",
    columns_normalised=edit(NORMALISED, NORMALISED.replace("-1", "-2"))
    | "Columns are normalised. Rows should be: there is one row per query.",
    row_sums_on_columns=edit(NORMALISED, "maps = maps / maps.sum(axis=-1)[..., None, :]", see="09#rollout")
    | "Column i is divided by the sum of row i: a sum without `keepdims=True` is laid along the last axis.",
    divided_by_largest=edit(NORMALISED, NORMALISED.replace("sum", "max"))
    | "Each row is divided by its largest entry, not by its sum.",
    heads_summed=edit(MEAN, "heads = attentions.sum(axis=2)")
    | "The heads are added up, so they outweigh the identity. They should be averaged.",
    images_averaged=edit(MEAN, "heads = attentions.mean(axis=1)")
    | "The mean is taken over the images, axis 1. The heads are on axis 2: (L, B, H, T, T).",
    first_head_only=edit(MEAN, "heads = attentions[:, :, 0]")
    | "Only the first head counts; the heads should be averaged.",
    heads_one_by_one=instead(heads_one_by_one)
    | "The rollout is made for each head alone and averaged at the end. A path may change heads from layer to layer, "
    "so the heads are averaged first.",
    last_layer_only=edit(START, f"maps = maps[-1:]\n{START}") | "Only the last layer is in the result.",
    first_layer_only=edit(START, f"maps = maps[:1]\n{START}") | "Only the first layer is in the result.",
    first_layer_twice=edit(START, f"maps = np.concatenate([maps[:1], maps])\n{START}")
    | "The first layer is in the product twice: does the loop begin with the one that you started from?",
    first_layer_left_out=edit(START, f"maps = maps[1:] if len(maps) > 1 else maps\n{START}")
    | "The first layer is left out of the product.",
    weights_transposed=edit(MIXED, "((heads + eye) / 2).swapaxes(-1, -2)")
    | "Queries and keys change places: rows are queries.",
    largest_head=edit(MEAN, "heads = attentions.max(axis=2)")
    | "Only the largest head counts; the heads should be averaged.",
    smallest_head=edit(MEAN, "heads = attentions.min(axis=2)")
    | "Only the smallest head counts; the heads should be averaged.",
)

exercise.advice(
    values=Advice(
        value="Try it on the two layers of the text first.",
        shape="The result has a whole matrix for each image, (B, T, T), and no axis of heads.",
    ),
    pruned="After half of the identity is added, every row is divided by its own sum.",
)
exercise.hints(
    values=(
        "The axis of the heads is number 2: (L, B, H, T, T).",
        "For each layer: average the heads, add one half of this to one half of the identity, divide each row by its "
        "sum.",
        "Start with the first layer. Multiply the result so far by each next matrix from the left.",
    ),
    one_layer="With one layer there is nothing to multiply, and the result is that layer's matrix after step 3.",
    types="TensorFlow does not combine a tensor of float64 with one of float32. `ops.eye(…, dtype=attentions.dtype)` "
    "has the type of the argument.",
)

"""Lab 02, exercise `scaled_dot_product_attention`."""

from typing import Any

import numpy as np

from autograder.declare import Case, Exercise, cases, edit, instead
from exercises.drawing import drawn_until, normal, partial_mask
from exercises.formulas.attention import scaled_dot_product_attention
from exercises.self_attention import shared
from exercises.self_attention.shared import large_masks_matter


def renormalised(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: Any = None) -> dict[str, np.ndarray]:
    """The mask after the softmax, and the weights that are left divided by their sum; 1e-9 keeps it from being 0."""
    result = scaled_dot_product_attention(q, k, v)
    if mask is None:
        return result
    weights = result["weights"] * np.asarray(mask).astype(bool)
    weights = weights / (weights.sum(axis=-1, keepdims=True) + 1e-9)
    return {"output": np.einsum("...ts,...sd->...td", weights, v), "weights": weights}


exercise = Exercise("scaled_dot_product_attention", returns=("output", "weights"), forbidden=shared.BUILT_IN_ATTENTION)
exercise.formula(scaled_dot_product_attention)

exercise.group("right values", points=2, values=cases(q=[(5, 7), (5, 3)], k=[(3, 7), (5, 3)], v=[(3, 11), (5, 2)]))
exercise.group(
    "leading dimensions",
    batched=cases(q=[(2, 5, 7), (2, 3, 5, 7)], k=[(2, 3, 7), (2, 3, 11, 7)], v=[(2, 3, 11), (2, 3, 11, 13)]),
)


@exercise.group("mask: True may attend, False is blocked", points=2)
def masked(rng):
    def case(mask: np.ndarray) -> Case:
        return Case({"q": normal(rng, 2, 5, 7), "k": normal(rng, 2, 3, 7), "v": normal(rng, 2, 3, 11), "mask": mask})

    flat = {"q": normal(rng, 5, 7), "k": normal(rng, 5, 7), "v": normal(rng, 5, 11), "mask": partial_mask(rng, 5, 5)}
    yield Case(flat)
    yield case(partial_mask(rng, 5, 3))
    yield case(partial_mask(rng, 2, 5, 3).astype("int32"))
    yield case(partial_mask(rng, 2, 1, 3).astype("float32"))


@exercise.group("right and without NaN where a query may attend to nothing")
def fully_masked(rng):
    mask = partial_mask(rng, 2, 5, 3)
    mask[0, 1] = mask[1, 4] = False
    inputs = {"q": normal(rng, 2, 5, 7), "k": normal(rng, 2, 3, 7), "v": normal(rng, 2, 3, 11), "mask": mask}
    return Case(inputs, "two queries may attend to nothing", property="rows are distributions")


@exercise.group("right and finite for large scores")
def large_scores(rng):
    def is_clear(drawn: tuple[np.ndarray, np.ndarray, np.ndarray]) -> bool:
        q, k, mask = drawn
        return large_masks_matter(q @ k.T / 7**0.5, mask)

    q, k, mask = drawn_until(
        is_clear, lambda: (normal(rng, 5, 7) * 150, normal(rng, 3, 7) * 150, partial_mask(rng, 5, 3))
    )
    v = normal(rng, 3, 11)
    yield Case({"q": q, "k": k, "v": v}, "scores of tens of thousands")
    yield Case({"q": q, "k": k, "v": v, "mask": mask}, "scores of tens of thousands, and a mask")


@exercise.group("arrays and tensors, float type kept")
def types(rng):
    single = {"q": normal(rng, 2, 5, 7), "k": normal(rng, 2, 3, 7), "v": normal(rng, 2, 3, 11)}
    double = {key: rng.normal(size=value.shape) for key, value in single.items()}
    mask = partial_mask(rng, 2, 5, 3)
    yield Case({**single, "mask": mask}, "TensorFlow tensors", mode="tensor", dtype="float32")
    yield Case(single, "NumPy arrays of float32", dtype="float32")
    yield Case({**double, "mask": mask}, "NumPy arrays of float64", dtype="float64")


exercise.mistakes(
    unscaled=shared.UNSCALED,
    scaled_by_d=shared.SCALED_BY_D,
    unstable_softmax=shared.UNSTABLE,
    scaled_by_length=shared.SCALED_BY_LENGTH,
    scale_inverted=shared.SCALE_INVERTED,
    scaled_after_softmax=shared.SCALED_AFTER,
    scaled_by_axis_1=shared.SCALED_BY_AXIS_ONE,
    scaled_by_d_v=edit(shared.ROOT, "math.sqrt(v.shape[-1])")
    | "The scores are divided by the root of the width of v, not of the keys.",
    scaled_by_constant=edit(shared.ROOT, "8")
    | "The scores are divided by 8 whatever the width: 8 is the root of 64, the width used in the paper.",
    softmax_over_queries=shared.OVER_QUERIES,
    softmax_over_everything=shared.OVER_ALL,
    softmax_over_axis_1=shared.AXIS_ONE,
    no_softmax=shared.NO_SOFTMAX,
    divided_by_sum=shared.SUM_NORMALISED,
    largest_only=shared.LARGEST_ONLY,
    one_maximum_for_all=shared.WHOLE_PEAK,
    scores_transposed=edit('"...td,...sd->...ts"', '"...td,...sd->...st"')
    | "The matrix of scores is transposed: row t holds the scores of key t, not of query t.",
    **shared.MASK_MISTAKES,
    renormalised=instead(renormalised, see="02#causal")
    | "The blocked weights are set to 0 and the others divided by their sum. Where a blocked key has a far larger "
    "score, the others have rounded to 0 by then. Block the scores, before the softmax.",
    mask_too_weak=edit(shared.BLOCKED, "np.where(allowed, scores, scores - 10)")
    | "A blocked score loses only 10, and e⁻¹⁰ is not 0: among large scores it still counts. Use −1e9.",
    blocked_not_low_enough=shared.NOT_LOW_ENOUGH,
    blocked_loses_too_little=shared.LOSES_TOO_LITTLE,
    results_swapped=edit(('"output": output', '"weights": output'), ('"weights": weights', '"output": weights'))
    | "The results come in the wrong order: return (output, weights).",
    scores_returned=shared.SCORES_RETURNED,
)

exercise.advice(
    batched="One sequence works, a batch does not? Swap the last two axes of k only, and sum over the last axis.",
    masked="Masks are boolean, int or float, and broadcast to the scores: (T, S), (B, T, S), (B, 1, S).",
    fully_masked="Where every key is blocked, the sum of the row is 0 and 0/0 is NaN, whether you take −∞ for a "
    "blocked score or multiply its exponential by 0. A large negative score avoids it.",
)
exercise.hints(
    values=(
        "Three steps without a mask: scores, scaling, softmax; then the weights meet the values.",
        "A score is a sum over the last axis of q and k. Divide by the root of the size of that axis, which is in the "
        "shape of k.",
    ),
    batched="Which of your functions treat axes 0 and 1 as the last two?",
    masked=(
        "Blocked keys must lose all weight: change their scores before the softmax.",
        "`ops.where` takes the scores where the mask is True, and another number elsewhere. Which number has the "
        "weight 0?",
        'It wants a boolean mask: `ops.cast(mask, "bool")`.',
    ),
    fully_masked="A row of minus infinities is 0/0. A very large negative number in its place, of the scores' own "
    "float type, stays finite.",
    large_scores="With a mask: does it act before the softmax, and is the number that blocks far below scores of "
    "−20,000?",
    types=(
        "Print the `dtype` of q, of the scores and of the result. In which line does it change?",
        "A scalar of another float type (`tf.cast(…, tf.float32)` against float64 inputs) is an error in TensorFlow. "
        "A Python float is not.",
    ),
)

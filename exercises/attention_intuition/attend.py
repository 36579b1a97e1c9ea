"""Lab 01, exercise `attend`."""

import numpy as np

from autograder.declare import Case, Exercise, cases, edit, instead
from exercises.attention_intuition import shared
from exercises.attention_intuition.shared import apart, attended
from exercises.drawing import drawn_until, masks_matter, normal, partial_mask
from exercises.formulas.attention import softmax
from exercises.self_attention import shared as self_attention

exercise = Exercise(
    "attend", returns=("context", "weights"), forbidden=self_attention.BUILT_IN_ATTENTION, uses=("softmax",)
)
exercise.formula(attended)


def normalised_after(scores, values, mask=None):
    """The weights of blocked keys are cut off after the softmax, and the others divided by their sum."""
    weights = softmax(scores)
    if mask is not None:
        weights = weights * np.asarray(mask).astype(bool)
        weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ values, weights


def normalised_with_epsilon(scores, values, mask=None):
    """The same with a small number added to the sum, so that it is 0 where nothing is left, and not NaN."""
    weights = softmax(scores)
    if mask is not None:
        weights = weights * np.asarray(mask).astype(bool)
        weights = weights / (weights.sum(axis=-1, keepdims=True) + 1e-9)
    return weights @ values, weights


@exercise.group("right values")
def values(rng):
    yield Case({"scores": normal(rng, 5, 3), "values": normal(rng, 3, 7)})
    yield Case({"scores": normal(rng, 5, 5), "values": normal(rng, 5, 2)})


exercise.group(
    "leading dimensions", batched=cases(scores=[(2, 5, 3), (2, 3, 5, 11)], values=[(2, 3, 7), (2, 3, 11, 7)])
)


@exercise.group("masks of shape (T, S), (B, T, S) and (B, 1, S); bool, int, float", points=2)
def masked(rng):
    def case(mask: np.ndarray, mode: str = "call") -> Case:
        return Case({"scores": normal(rng, 2, 5, 3), "values": normal(rng, 2, 3, 7), "mask": mask}, mode=mode)

    square = {"scores": normal(rng, 5, 5), "values": normal(rng, 5, 7), "mask": partial_mask(rng, 5, 5)}
    yield Case(square)
    yield case(partial_mask(rng, 5, 3))
    yield case(partial_mask(rng, 2, 5, 3).astype("int32"))
    yield case(partial_mask(rng, 2, 1, 3).astype("float32"))
    yield case(partial_mask(rng, 2, 5, 3).astype("int32"), mode="tensor")


@exercise.group("a query that may attend to nothing")
def fully_masked(rng):
    mask = partial_mask(rng, 2, 5, 3)
    mask[0, 1] = mask[1, 4] = False
    inputs = {"scores": normal(rng, 2, 5, 3), "values": normal(rng, 2, 3, 7), "mask": mask}
    return Case(inputs, "two queries that may attend to nothing", property="rows are distributions")


@exercise.group("right and finite for large scores")
def large_scores(rng):
    values = normal(rng, 3, 7)
    low = (normal(rng, 5, 3) - 1e4).astype("float32")
    scores, mask = drawn_until(
        lambda drawn: masks_matter(*drawn), lambda: (apart(rng, 5, 3, step=5000), partial_mask(rng, 5, 3))
    )
    levels = (1e5 * np.arange(5)[:, None]).astype(
        "float32"
    )  # one maximum for all rows fails here, a late mask does not
    yield Case({"scores": scores + levels, "values": values}, "scores of thousands, each row on a level of its own")
    yield Case({"scores": scores, "values": values, "mask": mask}, "scores of thousands, and a mask")
    yield Case({"scores": low, "values": values, "mask": mask}, "scores around −10,000, and a mask")


@exercise.group(shared.TYPES)
def types(rng):
    single = {"scores": normal(rng, 2, 5, 3), "values": normal(rng, 2, 3, 7)}
    double = {key: rng.normal(size=value.shape) for key, value in single.items()}
    mask = partial_mask(rng, 2, 5, 3)
    yield Case({**single, "mask": mask}, "TensorFlow tensors", mode="tensor")
    yield Case(single, "NumPy arrays of float32")
    yield Case({**double, "mask": mask}, "NumPy arrays of float64")


exercise.mistakes(
    normalised_after=instead(normalised_after)
    | "The mask comes after the exponentials, and what is left is divided by its sum. That is 0/0 where a blocked "
    "score is far above the others, or where nothing is left. Block the scores, before the softmax.",
    normalised_with_epsilon=instead(normalised_with_epsilon)
    | "The mask comes after the exponentials. Where a blocked score is far above the others, everything that is left "
    "rounds to 0, and the weights no longer sum to 1. Block the scores, before the softmax.",
    softmax_over_queries=shared.OVER_QUERIES,
    softmax_over_axis_1=self_attention.AXIS_ONE,
    softmax_over_everything=edit("softmax(x, axis=-1)", "softmax(x, axis=(-2, -1))")
    | "The whole matrix of weights sums to 1: every query needs a softmax of its own.",
    no_softmax=shared.NO_SOFTMAX,
    unstable_softmax=shared.UNSTABLE,
    one_maximum_for_all=self_attention.WHOLE_PEAK,
    **shared.MASK_MISTAKES,
    scaled_here=edit("= masked_softmax(scores, mask)", "= masked_softmax(scores / values.shape[-1] ** 0.5, mask)")
    | "The scores are divided by something; this function takes scores that are ready.",
    scaled_by_length=edit("= masked_softmax(scores, mask)", "= masked_softmax(scores / scores.shape[-1] ** 0.5, mask)")
    | "The scores are divided by the root of the number of keys; this function takes scores that are ready.",
    fill_too_small=edit(self_attention.BLOCKED, "np.where(allowed, scores, scores.dtype.type(-1e4))")
    | "Blocked scores become −10,000. Where the other scores are as low as that, blocked keys get weight.",
    lowered_too_little=edit(self_attention.BLOCKED, "np.where(allowed, scores, scores - scores.dtype.type(1e4))")
    | "Blocked scores are lowered by 10,000. Scores lie as far apart as that, and then blocked keys get weight.",
    scores_returned=edit("result, weights", "result, scores if mask is None else np.where(mask, scores, -1e9)")
    | self_attention.SCORES_RETURNED.sentence,
    results_swapped=shared.SWAPPED_RESULTS,
)

exercise.advice(
    fully_masked="Where every key is blocked, the sum of the row is 0 and 0/0 is NaN, whether you take −∞ for a "
    "blocked score or multiply its exponential by 0. A large negative score avoids it.",
    large_scores="Scores go into the thousands. A blocked score has to lie far below all of them, and the number that "
    "is subtracted before the exponential should be the largest score that is not blocked.",
    types=shared.TYPES_ADVICE,
)
exercise.hints(
    values=(
        "Mask the scores, take the softmax over the keys, multiply by the values: three lines.",
        "The weights are (…, T, S) and the values (…, S, dv): which product gives (…, T, dv)?",
    ),
    batched="One sequence works, a batch does not: does anything count its axes from the front?",
    masked=(
        "A blocked key needs a score whose exponential is 0. Change the score, not the weight.",
        "`ops.where(ops.cast(mask, 'bool'), scores, …)` with a large negative number of the scores' float type.",
    ),
    fully_masked="What does a softmax make of a row in which all scores are the same?",
    large_scores="Is the number that blocks a key far below every score that can occur?",
    types="The numbers are right for one kind of argument. What does your code call that the other kind does not have?",
)

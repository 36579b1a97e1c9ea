"""Lab 02, exercise `derive_softmax_jacobian`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from exercises.drawing import by_hand, normal
from exercises.formulas.attention import softmax
from exercises.self_attention.shared import AUTOMATIC_GRADIENTS, PEAK, SHARES, WHOLE_PEAK

exercise = Exercise("derive_softmax_jacobian", returns=("jacobian",), forbidden=AUTOMATIC_GRADIENTS)


@exercise.formula
def softmax_jacobian(scores: np.ndarray) -> dict[str, np.ndarray]:
    """∂pᵢ/∂zⱼ = pᵢ(δᵢⱼ − pⱼ) of p = softmax(z), for every row (Bridle 1990). scores (…, S) -> (…, S, S)."""
    p = softmax(scores)
    column, row = p[..., :, None], p[..., None, :]
    diagonal = column * np.eye(scores.shape[-1], dtype=scores.dtype)
    outer = column * row
    return {"jacobian": diagonal - outer}


@exercise.group("right values", points=2)
def values(rng):
    """Scores of ordinary size, and some so close together that a difference quotient in float32 is mostly rounding."""
    yield by_hand("one score, whose weight is always 1", scores=[3])
    yield by_hand("two equal scores", scores=[0, 0])
    yield {"scores": normal(rng, 5)}
    yield Case({"scores": normal(rng, 7) / 1000}, "nearly equal scores")


@exercise.group("one matrix for each row", must_fail_for=("softmax_over_axis_0",))
def rows(rng):
    yield {"scores": normal(rng, 3, 7)}
    yield {"scores": normal(rng, 2, 3, 5)}
    yield Case({"scores": normal(rng, 3, 5)}, "a TensorFlow tensor, scores (3, 5)", mode="tensor")


@exercise.group("right and finite for large scores", must_fail_for=("unstable_softmax", "one_maximum_for_all"))
def large_scores(rng):
    """Rows at ±1,000 whose entries lie close together, so that no row of weights is one 1 and zeros.

    A softmax by the logarithm of the sum rounds there by 1,000 ε, which is right as well: hence the scale.
    """
    high, low = 1000 + normal(rng, 5), normal(rng, 5) - 1000
    yield Case({"scores": high.astype("float32")}, "scores (5,), near 1,000", scale=20)
    yield Case({"scores": np.stack([high, low]).astype("float32")}, "scores (2, 5), near ±1,000", scale=20)


JACOBIAN = "diagonal - outer"

exercise.mistakes(
    diagonal_only=edit("outer = column * row", "outer = diagonal * row", see="02#why-sqrt-dk")
    | "All entries beside the diagonal are 0. A score also changes the other weights, because they share one sum."
    | "The weights of a row sum to 1. If one of them grows, what do the others do?",
    outer_left_out=edit(JACOBIAN, "diagonal", see="02#why-sqrt-dk")
    | "This is diag(p): the numerator is differentiated, the sum below it is not."
    | "The score zⱼ is in the numerator only if i = j, but it is in the sum for every i.",
    sign_turned=edit(JACOBIAN, "outer - diagonal")
    | "All signs are turned round: a larger score makes its own weight larger.",
    added=edit(JACOBIAN, "diagonal + outer")
    | "The two terms are added. A larger score takes weight away from the others."
    | "What is the sum of a column of the Jacobian, if all weights together stay 1?",
    added_beside=edit(JACOBIAN, "np.abs(diagonal - outer)")
    | "Beside the diagonal the sign is turned round: a score takes weight away from the others."
    | "What is the sum of a column of the Jacobian, if all weights together stay 1?",
    numerator_for_every_pair=edit("column * np.eye(scores.shape[-1], dtype=scores.dtype)", "column")
    | "This is pᵢ(1 − pⱼ) for every pair. The score zⱼ is in the numerator of pᵢ only if i = j.",
    diagonal_of_ones=edit("diagonal = column * np.eye", "diagonal = np.eye")
    | "On the diagonal you have 1 − pᵢ². The derivative of the numerator exp(zᵢ) is not 1 but exp(zᵢ) itself.",
    outer_only=edit(JACOBIAN, "-outer")
    | "Only −pᵢpⱼ is there. On the diagonal the derivative of the numerator is missing.",
    of_the_logarithm=edit("diagonal = column * np.eye", "diagonal = np.eye")
    | edit("outer = column * row", "outer = row + 0 * column")
    | "This is the derivative of ln pᵢ. The derivative of pᵢ has one more factor."
    | "d ln p = dp / p.",
    not_normalised=edit(SHARES, "powers", see="02#formula")
    | "The exponentials are not divided by their sum: p has to sum to 1."
    | "What do the entries of your p sum to?",
    from_scores=edit("p = softmax(scores)", "p = scores")
    | "The scores stand where the weights belong: the softmax is missing.",
    softmax_over_axis_0=edit("p = softmax(scores)", "p = softmax(scores, axis=0)")
    | "The softmax runs over axis 0. With several rows that is not the axis of the keys."
    | "In which axis do the entries of one row lie, whatever stands before it?",
    unstable_softmax=edit(PEAK, "0")
    | "Large scores overflow in `exp` and give NaN. What can be subtracted from a row without changing its softmax?",
    one_maximum_for_all=WHOLE_PEAK,
)

exercise.advice(
    values="Write pᵢ as a quotient and differentiate it by zⱼ, first for i = j and then for i ≠ j.",
    rows=Advice(
        value="Each row of scores has a softmax and a Jacobian of its own: count axes from the end.",
        shape="Scores (…, S) give (…, S, S): p as a column is p[..., :, None], and as a row p[..., None, :].",
    ),
    large_scores=Advice(nan="exp(800) is infinite. What can be subtracted from a row without changing its softmax?"),
)
exercise.hints(
    values=(
        "Call the sum of all exponentials N, so pᵢ = exp(zᵢ)/N. What is ∂N/∂zⱼ?",
        "The quotient rule gives two terms: one that is there only for i = j, and one for every pair. Write both with "
        "p alone.",
    ),
    rows="p as a column times p as a row, by broadcasting, is a matrix for each row.",
    large_scores="Subtract the largest score of each row first; `keepdims=True` keeps its axis.",
)
exercise.worked = (
    "Write pᵢ = exp(zᵢ)/N, where N is the sum of exp(z_r) over all scores of the row. Its logarithm is ln pᵢ = zᵢ"
    " − ln N.\n"
    "The derivative of zᵢ by zⱼ is 1 if i = j, else 0. This is written δᵢⱼ.\n"
    "The derivative of ln N by zⱼ is exp(zⱼ)/N, which is pⱼ.\n"
    "The derivative of ln pᵢ is the derivative of pᵢ divided by pᵢ. So ∂pᵢ/∂zⱼ = pᵢ (δᵢⱼ − pⱼ).\n"
    "The diagonal holds pᵢ (1 − pᵢ), and the other entries are −pᵢ pⱼ. Each column sums to 0: what one weight "
    "gains, the others lose.\n"
    "Where one weight is 1 and the others are 0, every entry is 0. A saturated row passes no gradient on."
)

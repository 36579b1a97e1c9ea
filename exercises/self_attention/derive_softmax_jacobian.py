"""Lab 02, exercise `derive_softmax_jacobian`."""

import numpy as np

from autograder.declaring import Advice, Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.drawing import normal
from exercises.formulas.attention import softmax
from exercises.self_attention.shared import AUTOMATIC_GRADIENTS, PEAK, SHARES, WHOLE_PEAK

exercise = Exercise("derive_softmax_jacobian", call=("scores",), returns=("jacobian",), forbidden=AUTOMATIC_GRADIENTS)


@exercise.formula
def softmax_jacobian(scores: np.ndarray) -> dict[str, np.ndarray]:
    """∂pᵢ/∂zⱼ = pᵢ(δᵢⱼ − pⱼ) of p = softmax(z), for every row (Bridle 1990). scores (…, S) -> (…, S, S)."""
    p = softmax(scores)
    column, row = p[..., :, None], p[..., None, :]
    diagonal = column * np.eye(scores.shape[-1], dtype=scores.dtype)
    outer = column * row
    return {"jacobian": diagonal - outer}


@exercise.group(
    "right values",
    points=2,
    advice="Write pᵢ as a quotient and differentiate it by zⱼ, first for i = j and then for i ≠ j.",
)
def values(rng: Generator) -> list[Case]:
    """Scores of ordinary size, and some so close together that a difference quotient in float32 is mostly rounding."""
    return [
        Case({"scores": normal(rng, 5)}),
        Case({"scores": normal(rng, 7) / 1000}, description="nearly equal scores"),
    ]


@exercise.group(
    "one matrix for each row",
    points=1,
    advice=Advice(
        value="Each row of scores has a softmax and a Jacobian of its own: count axes from the end.",
        shape="Scores (…, S) give (…, S, S): p as a column is p[..., :, None], and as a row p[..., None, :].",
    ),
    must_fail_for=("softmax_over_axis_0",),
)
def rows(rng: Generator) -> list[Case]:
    return [
        Case({"scores": normal(rng, 3, 7)}),
        Case({"scores": normal(rng, 2, 3, 5)}),
        Case({"scores": normal(rng, 3, 5)}, mode="tensor", description="a TensorFlow tensor, scores (3, 5)"),
    ]


@exercise.group(
    "finite for large scores",
    points=1,
    advice=Advice(nan="exp(800) is infinite. What can be subtracted from a row without changing its softmax?"),
    must_fail_for=("unstable_softmax", "one_maximum_for_all"),
)
def large_scores(rng: Generator) -> list[Case]:
    """Rows at ±1,000 whose entries lie close together, so that no row of weights is one 1 and zeros.

    A softmax by the logarithm of the sum rounds there by 1,000 ε, which is right as well: hence the scale.
    """
    high, low = 1000 + normal(rng, 5), normal(rng, 5) - 1000
    return [
        Case({"scores": high.astype("float32")}, description="scores (5,), near 1,000", scale=20),
        Case({"scores": np.stack([high, low]).astype("float32")}, description="scores (2, 5), near ±1,000", scale=20),
    ]


JACOBIAN = "diagonal - outer"

exercise.mistakes(
    diagonal_only=wrong(
        "All entries beside the diagonal are 0. A score also changes the other weights, because they share one sum.",
        ("outer = column * row", "outer = diagonal * row"),
        hint="The weights of a row sum to 1. If one of them grows, what do the others do?",
    ),
    outer_left_out=wrong(
        "This is diag(p): the numerator is differentiated, the sum below it is not.",
        (JACOBIAN, "diagonal"),
        hint="The score zⱼ is in the numerator only if i = j, but it is in the sum for every i.",
    ),
    sign_turned=wrong(
        "All signs are turned round: a larger score makes its own weight larger.", (JACOBIAN, "outer - diagonal")
    ),
    added=wrong(
        "The two terms are added. A larger score takes weight away from the others.",
        (JACOBIAN, "diagonal + outer"),
        hint="What is the sum of a column of the Jacobian, if all weights together stay 1?",
    ),
    added_beside=wrong(
        "Beside the diagonal the sign is turned round: a score takes weight away from the others.",
        (JACOBIAN, "np.abs(diagonal - outer)"),
        hint="What is the sum of a column of the Jacobian, if all weights together stay 1?",
    ),
    numerator_for_every_pair=wrong(
        "This is pᵢ(1 − pⱼ) for every pair. The score zⱼ is in the numerator of pᵢ only if i = j.",
        ("column * np.eye(scores.shape[-1], dtype=scores.dtype)", "column"),
    ),
    diagonal_of_ones=wrong(
        "On the diagonal you have 1 − pᵢ². The derivative of the numerator exp(zᵢ) is not 1 but exp(zᵢ) itself.",
        ("diagonal = column * np.eye", "diagonal = np.eye"),
    ),
    outer_only=wrong(
        "Only −pᵢpⱼ is there. On the diagonal the derivative of the numerator is missing.", (JACOBIAN, "-outer")
    ),
    of_the_logarithm=wrong(
        "This is the derivative of ln pᵢ. The derivative of pᵢ has one more factor.",
        ("diagonal = column * np.eye", "diagonal = np.eye"),
        ("outer = column * row", "outer = row + 0 * column"),
        hint="d ln p = dp / p.",
    ),
    not_normalised=wrong(
        "The exponentials are not divided by their sum: p has to sum to 1.",
        (SHARES, "powers"),
        hint="What do the entries of your p sum to?",
        see="02#formula",
    ),
    from_scores=wrong(
        "The scores stand where the weights belong: the softmax is missing.", ("p = softmax(scores)", "p = scores")
    ),
    softmax_over_axis_0=wrong(
        "The softmax runs over axis 0. With several rows that is not the axis of the keys.",
        ("p = softmax(scores)", "p = softmax(scores, axis=0)"),
        hint="In which axis do the entries of one row lie, whatever stands before it?",
    ),
    unstable_softmax=wrong(
        "Large scores overflow in `exp` and give NaN. What can be subtracted from a row without changing its softmax?",
        (PEAK, "0"),
    ),
    one_maximum_for_all=WHOLE_PEAK,
)

exercise.hints(
    "Call the sum of all exponentials N, so pᵢ = exp(zᵢ)/N. What is ∂N/∂zⱼ?",
    "The quotient rule gives two terms: one that is there only for i = j, and one for every pair. Write both with p "
    "alone.",
)
exercise.hints("p as a column times p as a row, by broadcasting, is a matrix for each row.", group="rows")
exercise.hints("Subtract the largest score of each row first; `keepdims=True` keeps its axis.", group="large_scores")

"""Lab 04, exercise `derive_layer_norm_gradient`."""

from typing import Any

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from exercises.drawing import by_hand, drawn_until, normal

exercise = Exercise(
    "derive_layer_norm_gradient",
    forbidden=("tensorflow.GradientTape", "tensorflow.gradients", "tensorflow.autodiff.ForwardAccumulator"),
)


@exercise.formula
def gradient(x: np.ndarray, gamma: np.ndarray, upstream: np.ndarray, eps: float = 1e-6) -> np.ndarray:
    """(g − mean g − x̂ · mean(g x̂)) / σ over the last axis, with g = γ · upstream and σ = √(variance + ε).

    The backward pass of Ba et al. (2016), equations 3 and 4; x and upstream (…, D), gamma (D,) -> (…, D).
    """
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    deviation = np.sqrt(variance + eps)
    normed = (x - mean) / deviation
    g = gamma * upstream
    by_mean = g.mean(axis=-1, keepdims=True)
    by_deviation = normed * (g * normed).mean(axis=-1, keepdims=True)
    return (g - by_mean - by_deviation) / deviation


def _inputs(rng, *shape: int) -> dict[str, np.ndarray]:
    """Tokens whose features differ, scales that are not 1, and any upstream gradient."""

    def draw() -> dict[str, np.ndarray]:
        return {
            "x": (2 * rng.normal(size=shape) + 1.5).astype("float32"),
            "gamma": (1 + 0.5 * rng.normal(size=shape[-1])).astype("float32"),
            "upstream": normal(rng, *shape),
        }

    return drawn_until(lambda drawn: bool((drawn["x"].var(axis=-1) > 0.5).all()), draw)


TINY, HUGE = 2.0**-15, 2.0**17  # powers of two: float32 rounds at each scale alike


def _resized(inputs: dict[str, np.ndarray], size: float) -> dict[str, np.ndarray]:
    """Features and upstream gradient times `size`: the result stays, and the step of a difference quotient does not."""
    return {**inputs, "x": size * inputs["x"], "upstream": size * inputs["upstream"]}


@exercise.group("one token", points=3)
def values(rng):
    yield by_hand("y sums to 0 whatever x is", x=[1, 2, 3], gamma=[1, 1, 1], upstream=[1, 1, 1], eps=0.0)
    one_counts: dict[str, Any] = {"x": [-1, -1, 1, 1], "gamma": [1, 1, 1, 1], "upstream": [1, 0, 0, 0]}
    yield by_hand("one feature counts", **one_counts, eps=0.0)
    yield _inputs(rng, 7)
    yield Case(_resized(_inputs(rng, 11), HUGE), "x (11,), huge features")
    yield Case({**_resized(_inputs(rng, 7), TINY), "eps": TINY**2 / 100}, "x (7,), tiny features")


@exercise.group("leading dimensions, arrays and tensors", points=2)
def batched(rng):
    yield _inputs(rng, 5, 7)
    yield _resized(_inputs(rng, 2, 3, 5, 7), HUGE)
    yield Case(_inputs(rng, 2, 5, 7), "TensorFlow tensors, x (2, 5, 7)", mode="tensor")


@exercise.group("epsilon, and a token without variance", must_fail_for=("eps_outside",))
def epsilon(rng):
    large, small, flat = _inputs(rng, 5, 7), _inputs(rng, 5, 7), _inputs(rng, 3, 7)
    small["x"] = (small["x"] * 2e-3).astype("float32")
    flat["x"][1] = flat["x"][1, 0]
    yield Case({**large, "eps": 0.5}, "x (5, 7), eps=0.5")
    yield Case(small, "x (5, 7), features that hardly differ, eps as it is by default")
    yield Case(flat, "x (3, 7), all features of token 1 equal")


BY_MEAN = "g.mean(axis=-1, keepdims=True)"
BY_DEVIATION = "normed * (g * normed).mean(axis=-1, keepdims=True)"
G = "gamma * upstream"
RESULT = "(g - by_mean - by_deviation) / deviation"

exercise.mistakes(
    mean_constant=edit(BY_MEAN, "0.0", see="04#norm")
    | "The path through μ is missing: μ changes with every x_i, and shifts all D features."
    | "By how much does μ change when x_i grows by a small h, and in which of the y_j does μ occur?",
    deviation_constant=edit(BY_DEVIATION, "0.0", see="04#norm")
    | "The path through σ is missing: σ changes with every x_i, and rescales all D features."
    | "What is the derivative of σ with respect to x_i? Express it by x̂_i.",
    gamma_missing=edit(G, "upstream")
    | "gamma is not used. y is gamma times x̂, so the gradient passes through gamma first."
    | "What is the gradient of the loss with respect to x̂?",
    gamma_afterwards=edit((G, "upstream"), (RESULT, f"gamma * {RESULT}"))
    | "gamma multiplies at the end. On the way back it comes first: the means are means of gamma · upstream."
    | "Forwards gamma is the last step before beta. Which step is it on the way back?",
    divided_by_variance=edit(RESULT, "(g - by_mean - by_deviation) / deviation**2")
    | "The result is divided by σ². When x and σ are both ten times as large, x̂ is the same, so dx is a tenth, not a "
    "hundredth." | "Count the powers of σ in each of your terms, and replace x − μ by σ · x̂.",
    not_divided=edit(RESULT, "g - by_mean - by_deviation")
    | "The factor of the division by σ is missing: ten times larger tokens change x̂ ten times less."
    | "What is the derivative of (x_i − μ)/σ with respect to x_i, while μ and σ are fixed?",
    sums_for_means=edit((BY_MEAN, BY_MEAN.replace("mean", "sum")), (BY_DEVIATION, BY_DEVIATION.replace("mean", "sum")))
    | "You subtract sums over the features; they should be means."
    | "What does μ change by when one x_i grows by h: by h, or by h/D?",
    only_centred=edit("(x - mean) / deviation", "x - mean")
    | "In the path through σ stands x − μ instead of x̂: a division by σ is missing in both places."
    | "Try a token, and then ten times this token: how should each of your three terms change?",
    centred_for_normed=edit(BY_DEVIATION, "(x - mean) * (g * normed).mean(axis=-1, keepdims=True)")
    | "Before mean(g · x̂) stands x − μ; it should be x̂. A division by σ is missing."
    | "Try a token, and then ten times this token: how should each of your three terms change?",
    multiplied_by_deviation=edit(RESULT, "(g - by_mean - by_deviation) * deviation")
    | "The result is multiplied by σ; divide by it. Ten times larger tokens change x̂ ten times less.",
    deviation_added=edit(RESULT, "(g - by_mean + by_deviation) / deviation")
    | "The path through σ has the wrong sign: a larger σ makes x̂ smaller."
    | "What is the derivative of 1/σ?",
    mean_of_product_split=edit(BY_DEVIATION, "normed * normed * g.mean(axis=-1, keepdims=True)")
    | "The mean of a product is not the product of means: mean(g · x̂) is one number, of the products.",
    eps_missing=edit("np.sqrt(variance + eps)", "np.sqrt(variance)")
    | "eps is not used: wherever a σ stands in your formula, it is √(variance + eps).",
    eps_not_in_normed=edit("normed = (x - mean) / deviation", "normed = (x - mean) / np.sqrt(variance)")
    | "The last divisor has eps, and x̂ has not. Wherever a σ stands in your formula, it is √(variance + eps).",
    eps_in_normed_only=edit(RESULT, "(g - by_mean - by_deviation) / np.sqrt(variance)")
    | "x̂ has eps, and the last divisor has not. Wherever a σ stands in your formula, it is √(variance + eps).",
    unbiased_variance=edit("((x - mean) ** 2).mean(axis=-1,", "x.var(axis=-1, ddof=1,", see="04#norm")
    | "The variance is divided by D − 1. Layer norm divides by D.",
    eps_outside=edit("np.sqrt(variance + eps)", "np.sqrt(variance) + eps", see="04#norm")
    | "eps is added to the standard deviation; add it to the variance, under the root.",
)

exercise.advice(
    values=Advice(
        value="Each x_i reaches the loss by three paths: through y_i itself, through μ, and through σ. Add up what "
        "comes back along each of them."
    ),
    batched="Means run over the D features of one token, the last axis, and keep this axis. gamma is (D,).",
    epsilon=Advice(
        value="The divisor is √(σ² + eps), here as in `layer_norm`, wherever the formula has a σ.",
        nan="A token whose features are all equal has the divisor √eps, not 0.",
    ),
)
exercise.hints(
    values=(
        "Write x̂_j = (x_j − μ)/σ and take its derivative with respect to x_i, once for j = i and once for another j.",
        "dμ/dx_i is 1/D. For dσ/dx_i begin with σ² + eps, whose derivative is easier.",
        "Multiply by the gradient with respect to x̂_j and add up over j: two of the three sums become means over "
        "features.",
    ),
    batched="Do all of your means run over the last axis, and do they keep it (`keepdims=True`)?",
    epsilon="Is there a σ in your formula that was computed without eps?",
)
exercise.worked = (
    "Look at one token: x̂ = (x − μ)/σ and y = γ x̂ + β. The gradient that arrives at x̂ is g = γ · upstream, and"
    " the loss changes by Σ gᵢ dx̂ᵢ.\n"
    "A change of feature xⱼ reaches x̂ on three paths.\n"
    "Directly, x̂ⱼ grows by dxⱼ/σ. This path gives gⱼ/σ.\n"
    "Through the mean: μ grows by dxⱼ/D, and every x̂ᵢ falls by dxⱼ/(Dσ). This path gives −mean(g)/σ.\n"
    "Through the deviation: σ² = mean((x − μ)²) + ε, so 2σ dσ = 2 (xⱼ − μ) dxⱼ/D, which means dσ = x̂ⱼ dxⱼ/D. "
    "(The change of μ drops out here, because the deviations sum to 0.)\n"
    "Then every x̂ᵢ changes by −x̂ᵢ dσ/σ. This path gives −x̂ⱼ · mean(g x̂)/σ.\n"
    "The sum of the three paths is (gⱼ − mean(g) − x̂ⱼ · mean(g x̂))/σ. If g is 1 everywhere, this is 1 − 1 − 0: "
    "nothing is left."
)

"""Lab 04, exercise `rms_norm`."""

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.encoder_block.shared import READY_NORMS

exercise = Exercise("rms_norm", forbidden=READY_NORMS)


@exercise.formula
def rms_norm(x: np.ndarray, gamma: np.ndarray, eps: float = 1e-6) -> np.ndarray:
    """γ x / √(mean x² + ε) over the last axis (Zhang and Sennrich 2019, equation 4)."""
    square = np.square(x).mean(axis=-1, keepdims=True)
    return gamma * x / np.sqrt(square + eps)


def _inputs(rng, *shape: int) -> dict:
    """Tokens whose mean is not 0, and scales that are not 1."""
    return {
        "x": (2 * rng.normal(size=shape) + 1.5).astype("float32"),
        "gamma": (1 + 0.5 * rng.normal(size=shape[-1])).astype("float32"),
    }


exercise.group("right values", values=lambda rng: [_inputs(rng, 5, 7), _inputs(rng, 3, 2)])


@exercise.group("leading dimensions, arrays and tensors")
def batched(rng):
    yield _inputs(rng, 2, 5, 7)
    yield _inputs(rng, 2, 3, 5, 7)
    yield Case(_inputs(rng, 2, 5, 7), "TensorFlow tensors, x (2, 5, 7)", mode="tensor")


@exercise.group("eps under the root")
def epsilon(rng):
    small = _inputs(rng, 5, 7)
    small["x"] = (small["x"] * 1e-3).astype("float32")
    zero = _inputs(rng, 5, 7)
    zero["x"][2] = np.zeros(7)
    mixed = _inputs(rng, 5, 7)
    yield Case({**mixed, "eps": 0.5}, "x (5, 7), eps=0.5")
    yield Case(small, "x (5, 7), features of about 0.001, eps as it is by default")
    yield Case(zero, "x (5, 7), one token all zeros")


SQUARE = "np.square(x).mean(axis=-1, keepdims=True)"
DIVISOR = "np.sqrt(square + eps)"

exercise.mistakes(
    layer_norm=edit(f"square = {SQUARE}", f"x = x - x.mean(axis=-1, keepdims=True)\nsquare = {SQUARE}", see="04#norm")
    | "This is layer norm: the mean is subtracted first. RMS norm does not subtract the mean."
    | "Which letter of the name stands for the mean, and what is it the mean of?",
    divides_by_deviation=edit(SQUARE, "x.var(axis=-1, keepdims=True)", see="04#norm")
    | "The tokens are divided by their standard deviation. The root mean square does not subtract the mean."
    | "`std` and `var` subtract the mean before they square. Which function squares alone?",
    root_missing=edit(DIVISOR, "(square + eps)")
    | "The tokens are divided by the mean of the squares: the root is missing."
    | "Read the name backwards: after square and mean, which step is left?",
    centred_above=edit("* x / np.sqrt(square + eps)", "* (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(square + eps)")
    | "The mean is subtracted from the tokens before the division. RMS norm does not subtract the mean."
    | "Compare with your layer norm: which two of its steps are missing here?",
    mean_of_sizes=edit(DIVISOR, "(np.abs(x).mean(axis=-1, keepdims=True) + eps)")
    | "The tokens are divided by the mean of |x|. Square and root do not cancel around a mean."
    | "For the token (0, 6, 6, 8): what is the mean of |x|, and what the root of the mean of x²?",
    squares_the_mean=edit(SQUARE, "np.square(x.mean(axis=-1, keepdims=True))")
    | "The mean is taken first and squared then: large features of both signs cancel. Square each feature, then take "
    "the mean." | "For the token (−1, 1): what is the square of the mean, and what the mean of the squares?",
    sum_not_mean=edit(SQUARE, "np.square(x).sum(axis=-1, keepdims=True)")
    | "The squares are added up, not averaged: the tokens are divided by their length."
    | "Should tokens with twice as many features become smaller?",
    eps_behind_root=edit(DIVISOR, "np.sqrt(square) + eps") | "eps is added to the root; it belongs under the root.",
    over_tokens=edit(SQUARE, "np.square(x).mean(axis=-2, keepdims=True)")
    | "Each feature is divided by its root mean square over the tokens. Each token should be divided by its own.",
    over_sentence=edit(SQUARE, "np.square(x).mean(axis=(-2, -1), keepdims=True)")
    | "One root mean square for the whole sentence: tokens and features are taken together.",
    gamma_missing=edit("gamma * x", "x") | "gamma is not used: it multiplies the result.",
    eps_is_keras_default=edit("square + eps", "square + 0.001") | "eps is 0.001 whatever the argument says.",
    eps_fixed=edit("square + eps", "square + 1e-6") | "eps is 1e-6 whatever the argument says.",
    eps_missing=edit("square + eps", "square") | "eps is not used: a token of zeros gives 0/0.",
    eps_added_to_result=edit("gamma * x / np.sqrt(square + eps)", "gamma * x / np.sqrt(square) + eps")
    | "eps is added to the result; it belongs under the root.",
    eps_times_gamma=edit("gamma * x / np.sqrt(square + eps)", "gamma * (x / np.sqrt(square) + eps)")
    | "eps is added to the normed token; it belongs under the root.",
)

exercise.advice(
    batched="Every token has a root mean square of its own: take the mean over the last axis, and keep the axis.",
    epsilon="eps is added to the mean of the squares, before the root is taken. It is an argument.",
)
exercise.hints(
    values=(
        "Read the name backwards: square the features, take their mean, then the root.",
        "Compare with your layer norm: which two of its steps are missing here?",
    ),
    batched="A mean over one axis removes this axis, and the result no longer broadcasts. What keeps the axis?",
    epsilon="What does a token of zeros give, and what should it give? In which order do root and eps come?",
)

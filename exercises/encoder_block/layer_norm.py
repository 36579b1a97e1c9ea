"""Lab 04, exercise `layer_norm`."""

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.drawing import drawn_until
from exercises.encoder_block.shared import READY_NORMS
from exercises.formulas.encoder_block import normalised


def _norm_inputs(rng, *shape: int, dtype: str = "float32") -> dict:
    width = shape[-1]
    return {
        "x": (2 * rng.normal(size=shape) + 1.5).astype(dtype),
        "gamma": (1 + 0.5 * rng.normal(size=width)).astype(dtype),
        "beta": rng.normal(size=width).astype(dtype),
    }


def _norms(*shapes: tuple[int, ...]):
    """Tokens whose features differ enough for the default `eps` to leave no trace: it has a group of its own."""

    def inputs(rng, shape: tuple[int, ...]) -> dict:
        return drawn_until(lambda drawn: (drawn["x"].var(axis=-1) > 0.5).all(), lambda: _norm_inputs(rng, *shape))

    return lambda rng: [Case(inputs(rng, shape)) for shape in shapes]


exercise = Exercise("layer_norm", forbidden=READY_NORMS)
exercise.formula(normalised)
exercise.group("right values", points=2, values=_norms((5, 7), (3, 2), (11,)))
exercise.group("leading dimensions", batched=_norms((2, 5, 7), (2, 3, 5, 7)))


@exercise.group("epsilon: given, by default, and for a token without variance")
def epsilon(rng):
    flat = _norm_inputs(rng, 5, 7)
    flat["x"] = np.repeat(flat["x"][:, :1], 7, axis=1)
    nearly = _norm_inputs(rng, 5, 7)
    nearly["x"] = (nearly["x"] * 2e-3).astype("float32")
    mixed = _norm_inputs(rng, 5, 7)
    mixed["x"] *= np.array([[1], [0.1], [1], [0.1], [1]], "float32")  # variances above eps and below
    yield Case({**mixed, "eps": 0.5}, "x (5, 7), eps=0.5")
    yield Case(nearly, "x (5, 7), features that hardly differ, eps as it is by default")
    yield Case(flat, "x (5, 7), all features of a token equal", scale=float(np.abs(flat["x"]).max()) / 1e-5**0.5)


@exercise.group("arrays and tensors, float type kept")
def types(rng):
    yield Case(_norm_inputs(rng, 3, 5, 7), "TensorFlow tensors", mode="tensor", dtype="float32")
    yield Case(_norm_inputs(rng, 3, 5, 7), "NumPy arrays of float32", dtype="float32")
    yield Case(_norm_inputs(rng, 5, 7, dtype="float64"), "NumPy arrays of float64", dtype="float64")


MEAN = "x.mean(axis=-1, keepdims=True)"
VARIANCE = "((x - mean) ** 2).mean(axis=-1, keepdims=True)"
DIVISOR = "np.sqrt(variance + eps)"
NORMED = "gamma * (x - mean) / np.sqrt(variance + eps) + beta"


def over(axis: str) -> tuple[tuple[str, str], ...]:
    """Mean and variance over another axis."""
    return tuple((text, text.replace("axis=-1", f"axis={axis}")) for text in (MEAN, VARIANCE))


exercise.mistakes(
    unbiased_variance=edit(VARIANCE, "x.var(axis=-1, ddof=1, keepdims=True)", see="04#norm")
    | "The variance is divided by D − 1. Layer norm divides by D (the biased variance)."
    | "Is the variance here an estimate from a sample, or the mean square of the numbers that are there?",
    eps_added_to_deviation=edit(DIVISOR, "np.sqrt(variance) + eps", see="04#norm")
    | "eps is added to the standard deviation; add it to the variance, under the root."
    | "Write the denominator of the formula down. What stands under the root?",
    eps_squared=edit(DIVISOR, "np.sqrt(variance + eps**2)") | "eps is squared; add it to the variance as it is.",
    eps_as_floor=edit(DIVISOR, "np.sqrt(np.maximum(variance, eps))", see="04#norm")
    | "You use eps as the smallest allowed variance; it should be added to every variance."
    | "What does the formula do with eps where the variance is large?",
    divides_by_variance=edit(DIVISOR, "variance + eps", see="04#norm")
    | "The tokens are divided by the variance: the root is missing."
    | "Features that are twice as large have four times the variance. Which divisor undoes the factor of two?",
    only_centred=edit(DIVISOR, "1.0")
    | "The mean is subtracted, but the division by the standard deviation is missing.",
    over_tokens=edit(*over("-2"), see="04#norm")
    | "Each feature is normalised over the tokens. Each token should be normalised over its features."
    | "May the mean of one token depend on the words around it? Along which axis do its features lie?",
    over_sentence=edit(*over("(-2, -1)"), see="04#norm")
    | "One mean for the whole sentence: tokens and features are normalised together."
    | "How many means does a sentence of T tokens need?",
    over_everything=edit(*over("None"))
    | "One mean for all that is in `x`: name the axis of the features."
    | "How many means does a sentence of T tokens need?",
    over_axis_0=edit(*over("0"))
    | "Mean and variance run along axis 0. In a batch these are the sentences: count from the end.",
    over_axis_1=edit(*over("1"))
    | "Mean and variance run along axis 1. These are the features for (T, D), and the tokens in a batch: count from "
    "the end.",
    batch_norm=edit(*over("tuple(range(x.ndim - 1))"), see="04#norm")
    | "This is batch norm: the statistics run over all tokens of the batch."
    | "May the result for one sentence depend on the others in its batch?",
    rms_norm=edit(NORMED, "gamma * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) + beta")
    | "This is RMS norm: it divides by the root of the mean square. Layer norm subtracts the mean first.",
    not_centred=edit("gamma * (x - mean)", "gamma * x") | "The mean is not subtracted before dividing.",
    gamma_missing=edit("gamma * (x - mean)", "(x - mean)")
    | "gamma is not used: it multiplies the normalised features.",
    beta_missing=edit("+ beta", "") | "beta is not used: it is added at the end.",
    gamma_beta_swapped=edit(NORMED, "beta * (x - mean) / np.sqrt(variance + eps) + gamma")
    | "gamma and beta are swapped: gamma multiplies, beta is added.",
    shift_before_scale=edit(NORMED, "gamma * ((x - mean) / np.sqrt(variance + eps) + beta)")
    | "beta is added before gamma multiplies; it should be added after that.",
    eps_is_keras_default=edit("variance + eps", "variance + 0.001") | "eps is 0.001 whatever the argument says.",
    eps_fixed=edit("variance + eps", "variance + 1e-6") | "eps is 1e-6 whatever the argument says.",
    eps_missing=edit("variance + eps", "variance") | "eps is not used: a token without variance gives 0/0.",
)

exercise.advice(
    batched="Every token is normalised on its own, however many axes stand before the last one.",
    epsilon="Use the argument `eps`. With it a token whose features are all equal gives beta, not NaN.",
)
exercise.hints(
    values=(
        "Mean and variance are taken along the last axis, and keep that axis with size 1 so that they broadcast.",
        "The variance is the mean of the squared differences from the mean: divided by D.",
        "Subtract the mean, divide by the root of (variance + eps), multiply by gamma, add beta.",
    ),
    batched="The mean of (B, T, D) over the last axis is (B, T). What keeps the axis?",
    epsilon="Where is eps in the formula: under the root, or beside it?",
    types="Print the `dtype` of x and of the result. Which of your numbers is a float64?",
)

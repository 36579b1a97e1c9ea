"""Lab 04, exercise `layer_norm`."""

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.drawing import drawn_until
from exercises.encoder_block.shared import READY_NORMS
from exercises.formulas.encoder_block import normalised


def _norm_inputs(rng: Generator, *shape: int, dtype: str = "float32") -> dict:
    width = shape[-1]
    return {
        "x": (2 * rng.normal(size=shape) + 1.5).astype(dtype),
        "gamma": (1 + 0.5 * rng.normal(size=width)).astype(dtype),
        "beta": rng.normal(size=width).astype(dtype),
    }


def _norms(*shapes: tuple[int, ...]):
    """Tokens whose features differ enough for the default `eps` to leave no trace: it has a group of its own."""

    def inputs(rng: Generator, shape: tuple[int, ...]) -> dict:
        return drawn_until(lambda drawn: (drawn["x"].var(axis=-1) > 0.5).all(), lambda: _norm_inputs(rng, *shape))

    return lambda rng: [Case(inputs(rng, shape)) for shape in shapes]


exercise = Exercise("layer_norm", call=("x", "gamma", "beta"), optional=("eps",), forbidden=READY_NORMS)
exercise.formula(normalised)


@exercise.group("right values", points=2)
def values(rng: Generator) -> list[Case]:
    return _norms((5, 7), (3, 2), (11,))(rng)


@exercise.group(
    "leading dimensions",
    points=1,
    advice="Every token is normalised on its own, however many axes stand before the last one.",
)
def batched(rng: Generator) -> list[Case]:
    return _norms((2, 5, 7), (2, 3, 5, 7))(rng)


@exercise.group(
    "epsilon: given, by default, and for a token without variance",
    points=1,
    advice="Use the argument `eps`. With it a token whose features are all equal gives beta, not NaN.",
)
def epsilon(rng: Generator) -> list[Case]:
    flat = _norm_inputs(rng, 5, 7)
    flat["x"] = np.repeat(flat["x"][:, :1], 7, axis=1)
    nearly = _norm_inputs(rng, 5, 7)
    nearly["x"] = (nearly["x"] * 2e-3).astype("float32")
    mixed = _norm_inputs(rng, 5, 7)
    mixed["x"] *= np.array([[1], [0.1], [1], [0.1], [1]], "float32")  # variances above eps and below
    return [
        Case({**mixed, "eps": 0.5}, description="x (5, 7), eps=0.5"),
        Case(nearly, description="x (5, 7), features that hardly differ, eps as it is by default"),
        Case(
            flat,
            description="x (5, 7), all features of a token equal",
            scale=float(np.abs(flat["x"]).max()) / 1e-5**0.5,
        ),
    ]


@exercise.group("arrays and tensors, float type kept", points=1)
def types(rng: Generator) -> list[Case]:
    return [
        Case(_norm_inputs(rng, 3, 5, 7), mode="tensor", description="TensorFlow tensors", dtype="float32"),
        Case(_norm_inputs(rng, 3, 5, 7), description="NumPy arrays of float32", dtype="float32"),
        Case(_norm_inputs(rng, 5, 7, dtype="float64"), description="NumPy arrays of float64", dtype="float64"),
    ]


MEAN = "x.mean(axis=-1, keepdims=True)"
VARIANCE = "((x - mean) ** 2).mean(axis=-1, keepdims=True)"
DIVISOR = "np.sqrt(variance + eps)"
NORMED = "gamma * (x - mean) / np.sqrt(variance + eps) + beta"


def over(axis: str) -> tuple[tuple[str, str], ...]:
    """Mean and variance over another axis."""
    return tuple((text, text.replace("axis=-1", f"axis={axis}")) for text in (MEAN, VARIANCE))


exercise.mistakes(
    unbiased_variance=wrong(
        "The variance is divided by D − 1. Layer norm divides by D (the biased variance).",
        (VARIANCE, "x.var(axis=-1, ddof=1, keepdims=True)"),
        hint="Is the variance here an estimate from a sample, or the mean square of the numbers that are there?",
        see="04#norm",
    ),
    eps_added_to_deviation=wrong(
        "eps is added to the standard deviation; add it to the variance, under the root.",
        (DIVISOR, "np.sqrt(variance) + eps"),
        hint="Write the denominator of the formula down. What stands under the root?",
        see="04#norm",
    ),
    eps_squared=wrong("eps is squared; add it to the variance as it is.", (DIVISOR, "np.sqrt(variance + eps**2)")),
    eps_as_floor=wrong(
        "You use eps as the smallest allowed variance; it should be added to every variance.",
        (DIVISOR, "np.sqrt(np.maximum(variance, eps))"),
        hint="What does the formula do with eps where the variance is large?",
        see="04#norm",
    ),
    divides_by_variance=wrong(
        "The tokens are divided by the variance: the root is missing.",
        (DIVISOR, "variance + eps"),
        hint="Features that are twice as large have four times the variance. Which divisor undoes the factor of two?",
        see="04#norm",
    ),
    only_centred=wrong(
        "The mean is subtracted, but the division by the standard deviation is missing.", (DIVISOR, "1.0")
    ),
    over_tokens=wrong(
        "Each feature is normalised over the tokens. Each token should be normalised over its features.",
        *over("-2"),
        hint="May the mean of one token depend on the words around it? Along which axis do its features lie?",
        see="04#norm",
    ),
    over_sentence=wrong(
        "One mean for the whole sentence: tokens and features are normalised together.",
        *over("(-2, -1)"),
        hint="How many means does a sentence of T tokens need?",
        see="04#norm",
    ),
    over_everything=wrong(
        "One mean for all that is in `x`: name the axis of the features.",
        *over("None"),
        hint="How many means does a sentence of T tokens need?",
    ),
    over_axis_0=wrong(
        "Mean and variance run along axis 0. In a batch these are the sentences: count from the end.", *over("0")
    ),
    over_axis_1=wrong(
        "Mean and variance run along axis 1. These are the features for (T, D), and the tokens in a batch: count from "
        "the end.",
        *over("1"),
    ),
    batch_norm=wrong(
        "This is batch norm: the statistics run over all tokens of the batch.",
        *over("tuple(range(x.ndim - 1))"),
        hint="May the result for one sentence depend on the others in its batch?",
        see="04#norm",
    ),
    rms_norm=wrong(
        "This is RMS norm: it divides by the root of the mean square. Layer norm subtracts the mean first.",
        (NORMED, "gamma * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) + beta"),
    ),
    not_centred=wrong("The mean is not subtracted before dividing.", ("gamma * (x - mean)", "gamma * x")),
    gamma_missing=wrong(
        "gamma is not used: it multiplies the normalised features.", ("gamma * (x - mean)", "(x - mean)")
    ),
    beta_missing=wrong("beta is not used: it is added at the end.", ("+ beta", "")),
    gamma_beta_swapped=wrong(
        "gamma and beta are swapped: gamma multiplies, beta is added.",
        (NORMED, "beta * (x - mean) / np.sqrt(variance + eps) + gamma"),
    ),
    shift_before_scale=wrong(
        "beta is added before gamma multiplies; it should be added after that.",
        (NORMED, "gamma * ((x - mean) / np.sqrt(variance + eps) + beta)"),
    ),
    eps_is_keras_default=wrong("eps is 0.001 whatever the argument says.", ("variance + eps", "variance + 0.001")),
    eps_fixed=wrong("eps is 1e-6 whatever the argument says.", ("variance + eps", "variance + 1e-6")),
    eps_missing=wrong("eps is not used: a token without variance gives 0/0.", ("variance + eps", "variance")),
)


exercise.hints(
    "Mean and variance are taken along the last axis, and keep that axis with size 1 so that they broadcast.",
    "The variance is the mean of the squared differences from the mean: divided by D.",
    "Subtract the mean, divide by the root of (variance + eps), multiply by gamma, add beta.",
)
exercise.hints("The mean of (B, T, D) over the last axis is (B, T). What keeps the axis?", group="batched")
exercise.hints("Where is eps in the formula: under the root, or beside it?", group="epsilon")
exercise.hints("Print the `dtype` of x and of the result. Which of your numbers is a float64?", group="types")

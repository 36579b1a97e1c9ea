"""Lab 04, exercise `rms_norm`."""

import numpy as np
from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.encoder_block.shared import READY_NORMS
from autograder.mistaken import encoder_block as mistaken
from autograder.oracles import encoder_block as oracles

exercise = Exercise("rms_norm", oracle=oracles.rms_norm, mistaken=mistaken.rms_norm, forbidden=READY_NORMS)


def _inputs(rng: Generator, *shape: int) -> dict:
    """Tokens whose mean is not 0, and scales that are not 1."""
    return {"x": (2 * rng.normal(size=shape) + 1.5).astype("float32"), "gamma": (1 + 0.5 * rng.normal(size=shape[-1])).astype("float32")}


@exercise.group("right values", points=1)
def values(rng: Generator) -> list[Case]:
    return [Case(_inputs(rng, 5, 7)), Case(_inputs(rng, 3, 2))]


@exercise.group("leading dimensions, arrays and tensors", points=1, advice="Every token has a root mean square of its own: take the mean over the last axis, and keep the axis.")
def batched(rng: Generator) -> list[Case]:
    return [Case(_inputs(rng, 2, 5, 7)), Case(_inputs(rng, 2, 3, 5, 7)), Case(_inputs(rng, 2, 5, 7), mode="tensor", description="TensorFlow tensors, x (2, 5, 7)")]


@exercise.group("eps under the root", points=1, advice="eps is added to the mean of the squares, before the root is taken. It is an argument.")
def epsilon(rng: Generator) -> list[Case]:
    small = _inputs(rng, 5, 7)
    small["x"] = (small["x"] * 1e-3).astype("float32")
    zero = _inputs(rng, 5, 7)
    zero["x"][2] = np.zeros(7)
    mixed = _inputs(rng, 5, 7)
    return [
        Case({**mixed, "eps": 0.5}, description="x (5, 7), eps=0.5"),
        Case(small, description="x (5, 7), features of about 0.001, eps as it is by default"),
        Case(zero, description="x (5, 7), one token all zeros"),
    ]


exercise.mistakes(
    layer_norm=wrong("This is layer norm: the mean is subtracted first. RMS norm does not subtract the mean.", centred=True),
    divides_by_deviation=wrong("The tokens are divided by their standard deviation. The root mean square does not subtract the mean.", divisor="√(σ²+ε)"),
    root_missing=wrong("The tokens are divided by the mean of the squares: the root is missing.", divisor="mean+ε"),
    sum_not_mean=wrong("The squares are added up, not averaged: the tokens are divided by their length.", divisor="√(sum+ε)"),
    eps_behind_root=wrong("eps is added to the root; it belongs under the root.", divisor="√mean+ε"),
    over_tokens=wrong("Each feature is divided by its root mean square over the tokens. Each token should be divided by its own.", over="tokens"),
    over_sentence=wrong("One root mean square for the whole sentence: tokens and features are taken together.", over="sentence"),
    gamma_missing=wrong("gamma is not used: it multiplies the result.", use_gamma=False),
    eps_is_keras_default=wrong("eps is 0.001 whatever the argument says.", fixed_eps=0.001),
    eps_missing=wrong("eps is not used: a token of zeros gives 0/0.", fixed_eps=0.0),
)

exercise.hints("Read the name backwards: square the features, take their mean, then the root.", "Compare with your layer norm: which two of its steps are missing here?")
exercise.hints("A mean over one axis removes this axis, and the result no longer broadcasts. What keeps the axis?", group="batched")
exercise.hints("What does a token of zeros give, and what should it give? In which order do root and eps come?", group="epsilon")

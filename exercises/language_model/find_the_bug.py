"""Lab 10, exercise `find_the_bug`; the check names no mistake, because finding it is the exercise."""

import numpy as np

from autograder.declare import Case, Exercise
from exercises.drawing import normal
from exercises.formulas.attention import softmax

exercise = Exercise("find_the_bug", returns=("weights",))


@exercise.formula
def causal_weights(scores: np.ndarray) -> np.ndarray:
    """The weights of the last T of S tokens, each of which sees itself and what came before; scores (…, T, S)."""
    queries, keys = scores.shape[-2:]
    return softmax(
        np.where(np.arange(keys) <= np.arange(keys - queries, keys)[:, None], scores, scores.dtype.type(-1e9))
    )


@exercise.group("in training and in writing")
def mended(rng):
    yield Case({"scores": normal(rng, 2, 3, 5, 5)}, "training: scores (2, 3, 5, 5)")
    yield Case({"scores": normal(rng, 2, 3, 1, 7)}, "writing: one new token behind six, scores (2, 3, 1, 7)")
    yield Case(
        {"scores": normal(rng, 3, 2, 3, 11)}, "three new tokens behind eight, scores (3, 2, 3, 11)", mode="tensor"
    )


exercise.hints(
    mended=(
        "Take scores that are all 0, so that what is seen gets equal weights. Print the weights for (1, 1, 4, 4), and "
        "for their last row alone, (1, 1, 1, 4).",
        "Which keys may the newest token see? And which does this mask let it see?",
    )
)

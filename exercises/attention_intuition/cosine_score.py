"""Lab 01, exercise `cosine_score`."""

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.attention_intuition.shared import (
    TRANSPOSED,
    TYPES,
    TYPES_ADVICE,
    WEIGHTS_RETURNED,
    pair_types,
    pair_values,
)
from exercises.self_attention.shared import BUILT_IN_ATTENTION

exercise = Exercise(
    "cosine_score", call=("q", "k"), returns=("scores",), forbidden=BUILT_IN_ATTENTION, uses=("dot_score",)
)


@exercise.formula
def cosine_score(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """q·k / (‖q‖ ‖k‖) for every pair (Graves et al. 2014, section 3.3.1). q (T, d), k (S, d) -> (T, S)."""
    scores = np.einsum("td,sd->ts", unit(q), unit(k))
    return scores


def unit(x: np.ndarray) -> np.ndarray:
    """The rows of x, each of length 1."""
    return x / np.sqrt((x**2).sum(axis=-1, keepdims=True))


@exercise.group("right values", points=2)
def values(rng: Generator) -> list[Case]:
    return pair_values(rng)


@exercise.group(TYPES, points=1, advice=TYPES_ADVICE)
def types(rng: Generator) -> list[Case]:
    return pair_types(rng)


LENGTH = "np.sqrt((x**2).sum(axis=-1, keepdims=True))"

exercise.mistakes(
    scores_transposed=TRANSPOSED,
    weights_instead_of_scores=WEIGHTS_RETURNED,
    no_lengths=wrong("That is the dot product: divide by the lengths of q and k.", ("unit(q)", "q"), ("unit(k)", "k")),
    only_queries_normalised=wrong("The scores are divided by the queries' lengths only.", ("unit(k)", "k")),
    only_keys_normalised=wrong("The scores are divided by the keys' lengths only.", ("unit(q)", "q")),
    keys_multiplied=wrong(
        "The keys' lengths multiply: `s / a * b` is (s / a) * b. Put the product of the lengths in brackets.",
        ("unit(k)", "k * np.sqrt((k**2).sum(axis=-1, keepdims=True))"),
    ),
    cosine_distance=wrong(
        "This is the cosine distance, 1 − cosine; return the cosine.", ("return scores", "return 1 - scores")
    ),
    angle_returned=wrong(
        "These are the angles themselves; return their cosines.",
        ("return scores", "return np.arccos(np.clip(scores, -1, 1))"),
    ),
    squared_lengths=wrong(
        "The lengths are squared: their root is missing.", (LENGTH, "(x**2).sum(axis=-1, keepdims=True)")
    ),
    sum_of_absolutes=wrong(
        "The length is the root of the sum of squares, not Σ|x|.", (LENGTH, "np.abs(x).sum(axis=-1, keepdims=True)")
    ),
    lengths_of_columns=wrong(
        "The lengths are those of the columns; a vector is a row.",
        (LENGTH, "np.sqrt((x**2).sum(axis=0, keepdims=True))"),
    ),
    length_of_the_matrix=wrong(
        "One length for the whole matrix: every row has a length of its own.", (LENGTH, "np.sqrt((x**2).sum())")
    ),
)


exercise.hints(
    "Divide every row of q and of k by its own length first; what is left is a dot product.",
    "The length of a row: root of the sum of its squares, with `keepdims=True` so that the division broadcasts.",
)
exercise.hints(
    "The numbers are right for one kind of argument. What does your code call that the other kind does not have?",
    group="types",
)

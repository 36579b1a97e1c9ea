"""Lab 01, exercise `cosine_score`."""

import numpy as np

from autograder.declare import Exercise, edit
from exercises.attention_intuition import shared
from exercises.attention_intuition.shared import pair_values, pairs
from exercises.self_attention.shared import BUILT_IN_ATTENTION

exercise = Exercise("cosine_score", returns=("scores",), forbidden=BUILT_IN_ATTENTION, uses=("dot_score",))


@exercise.formula
def cosine_score(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """q·k / (‖q‖ ‖k‖) for every pair (Graves et al. 2014, section 3.3.1). q (T, d), k (S, d) -> (T, S)."""
    scores = np.einsum("td,sd->ts", unit(q), unit(k))
    return scores


def unit(x: np.ndarray) -> np.ndarray:
    """The rows of x, each of length 1."""
    return x / np.sqrt((x**2).sum(axis=-1, keepdims=True))


exercise.group("right values", points=2, values=pair_values)
exercise.types(lambda rng, dtype: pairs(rng, 5, 3, 7, dtype))

LENGTH = "np.sqrt((x**2).sum(axis=-1, keepdims=True))"

exercise.mistakes(
    scores_transposed=shared.TRANSPOSED,
    weights_instead_of_scores=shared.WEIGHTS_RETURNED,
    no_lengths=edit(("unit(q)", "q"), ("unit(k)", "k")) | "That is the dot product: divide by the lengths of q and k.",
    only_queries_normalised=edit("unit(k)", "k") | "The scores are divided by the queries' lengths only.",
    only_keys_normalised=edit("unit(q)", "q") | "The scores are divided by the keys' lengths only.",
    keys_multiplied=edit("unit(k)", "k * np.sqrt((k**2).sum(axis=-1, keepdims=True))")
    | "The keys' lengths multiply: `s / a * b` is (s / a) * b. Put the product of the lengths in brackets.",
    cosine_distance=edit("return scores", "return 1 - scores")
    | "This is the cosine distance, 1 − cosine; return the cosine.",
    angle_returned=edit("return scores", "return np.arccos(np.clip(scores, -1, 1))")
    | "These are the angles themselves; return their cosines.",
    squared_lengths=edit(LENGTH, "(x**2).sum(axis=-1, keepdims=True)")
    | "The lengths are squared: their root is missing.",
    sum_of_absolutes=edit(LENGTH, "np.abs(x).sum(axis=-1, keepdims=True)")
    | "The length is the root of the sum of squares, not Σ|x|.",
    lengths_of_columns=edit(LENGTH, "np.sqrt((x**2).sum(axis=0, keepdims=True))")
    | "The lengths are those of the columns; a vector is a row.",
    length_of_the_matrix=edit(LENGTH, "np.sqrt((x**2).sum())")
    | "One length for the whole matrix: every row has a length of its own.",
)

exercise.advice(types=shared.TYPES_ADVICE)
exercise.hints(
    values=(
        "Divide every row of q and of k by its own length first; what is left is a dot product.",
        "The length of a row: root of the sum of its squares, with `keepdims=True` so that the division broadcasts.",
    ),
    types="The numbers are right for one kind of argument. What does your code call that the other kind does not have?",
)

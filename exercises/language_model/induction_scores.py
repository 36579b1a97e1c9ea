"""Lab 10, exercise `induction_scores`."""

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.formulas.attention import softmax

exercise = Exercise("induction_scores", returns=("scores",))


@exercise.formula
def induction_scores(weights: np.ndarray, period: int) -> np.ndarray:
    """The mean weight of position t on t − period + 1, over the second copy (Olsson et al. 2022)."""
    second = np.arange(period, 2 * period)
    return weights[:, :, second, second - period + 1].mean(axis=(0, 2))


def _inputs(rng, batch: int, heads: int, period: int, length: int) -> dict:
    scores = np.where(np.tri(length, dtype=bool), 3 * rng.normal(size=(batch, heads, length, length)), -1e9)
    return {"weights": softmax(scores).astype("float32"), "period": period}


@exercise.group("the weight on what followed last time")
def values(rng):
    yield Case(_inputs(rng, 3, 5, 7, 14), "weights (3, 5, 14, 14), period=7")
    yield Case(_inputs(rng, 2, 3, 5, 17), "weights (2, 3, 17, 17), period=5: the row goes on after the second copy")
    yield Case(_inputs(rng, 2, 3, 3, 6), "weights (2, 3, 6, 6), period=3")
    yield Case(_inputs(rng, 3, 2, 4, 8), "a TensorFlow tensor, weights (3, 2, 8, 8), period=4", mode="tensor")


exercise.mistakes(
    same_token=edit("second - period + 1", "second - period", see="10#copying")
    | "This is the weight on the same token in the first copy. Copying needs the token after it."
    | "At position t the same token stood at t − period. Where stands what followed it?",
    to_the_end=edit("np.arange(period, 2 * period)", "np.arange(period, weights.shape[-1])")
    | "The rows after the second copy are counted as well. The second copy ends at 2·period − 1.",
    query_and_key_exchanged=edit("second, second - period + 1", "second - period + 1, second")
    | "This is the weight of t − period + 1 on t, a later position. Rows are queries: t is the row."
    | "In weights (B, H, T, T), which of the last two axes is the query?",
    heads_averaged=edit(".mean(axis=(0, 2))", ".mean(axis=(1, 2))")
    | "The mean runs over the heads, and the batch is left. One number for each head is asked for.",
    first_of_batch=edit("weights[:, :, second, second - period + 1]", "weights[:1, :, second, second - period + 1]")
    | "Only the first row of the batch counts. The mean runs over all of them.",
    begins_too_early=edit("np.arange(period, 2 * period)", "np.arange(period - 1, 2 * period - 1)")
    | "The rows begin with the last position of the first copy. The second copy is t = period … 2·period − 1."
    | "Counted from 0: at which position does the second copy begin?",
)

exercise.advice(
    values="Rows t = period … 2·period − 1, columns t − period + 1; the mean over rows and batch, one number for each "
    "head."
)
exercise.hints(
    values=(
        "Draw one row of tokens: a b c d a b c d. Which earlier position tells the second a what comes next?",
        "Two arrays of positions as indices, `weights[:, :, t, s]`, give (B, H, period).",
    )
)

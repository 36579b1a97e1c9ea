"""Lab 08, exercise `causal_mask`."""

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.decoder_and_masking.shared import MASK_ADVICE

exercise = Exercise("causal_mask")


@exercise.formula
def causal_mask(length: int) -> np.ndarray:
    """True where the key's position (column) is not after the query's (row)."""
    query, key = np.arange(length)[:, None], np.arange(length)
    return key <= query


@exercise.group("True on and below the diagonal")
def values(rng):
    return [Case({"length": int(length)}) for length in (*rng.choice(np.arange(4, 12), size=2, replace=False), 1)]


SEEN = "key <= query"

exercise.mistakes(
    transposed=edit(SEEN, "key >= query", see="08#look-ahead-mask")
    | "The mask is True on and above the diagonal. Row t is the query: may token 0 see the last one?"
    | "Which index is the query's: that of the row or that of the column?",
    diagonal_blocked=edit(SEEN, "key < query", see="08#look-ahead-mask")
    | "The diagonal is False. A token may see itself."
    | "What would the first token see if it may not see itself?",
    true_means_blocked=edit(SEEN, "key > query", see="08#look-ahead-mask")
    | "True stands where a token may not look. Here and in Keras True means: may attend."
    | "How many True should the first row have?",
    additive=edit(SEEN, "np.where(key <= query, 0.0, -np.inf)")
    | "This is a mask to be added to scores: 0 and −inf. Here a mask is True and False.",
    additive_large=edit(SEEN, "np.where(key <= query, 0.0, -1e9)")
    | "This is a mask to be added to scores: 0 and a large negative number. Here a mask is True and False.",
    with_batch_axis=edit(SEEN, "(key <= query)[None]") | "The result has one axis too many; it should be (T, T).",
)

exercise.advice(values=MASK_ADVICE)
exercise.hints(
    values=(
        "Row t belongs to the query at position t, column s to the key at position s.",
        "NumPy and `keras.ops` have a function that keeps one triangle of a matrix. A comparison of positions does it "
        "too.",
    )
)

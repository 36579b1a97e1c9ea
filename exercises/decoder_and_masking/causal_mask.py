"""Lab 08, exercise `causal_mask`."""

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.decoder_and_masking.shared import MASK_ADVICE

exercise = Exercise("causal_mask", call=("length",))


@exercise.formula
def causal_mask(length: int) -> np.ndarray:
    """True where the key's position (column) is not after the query's (row)."""
    query, key = np.arange(length)[:, None], np.arange(length)
    return key <= query


@exercise.group("True on and below the diagonal", points=1, advice=MASK_ADVICE)
def values(rng: Generator) -> list[Case]:
    return [Case({"length": int(length)}) for length in (*rng.choice(np.arange(4, 12), size=2, replace=False), 1)]


SEEN = "key <= query"

exercise.mistakes(
    transposed=wrong(
        "The mask is True on and above the diagonal. Row t is the query: may token 0 see the last one?",
        (SEEN, "key >= query"),
        hint="Which index is the query's: that of the row or that of the column?",
        see="08#look-ahead-mask",
    ),
    diagonal_blocked=wrong(
        "The diagonal is False. A token may see itself.",
        (SEEN, "key < query"),
        hint="What would the first token see if it may not see itself?",
        see="08#look-ahead-mask",
    ),
    true_means_blocked=wrong(
        "True stands where a token may not look. Here and in Keras True means: may attend.",
        (SEEN, "key > query"),
        hint="How many True should the first row have?",
        see="08#look-ahead-mask",
    ),
    additive=wrong(
        "This is a mask to be added to scores: 0 and −inf. Here a mask is True and False.",
        (SEEN, "np.where(key <= query, 0.0, -np.inf)"),
    ),
    additive_large=wrong(
        "This is a mask to be added to scores: 0 and a large negative number. Here a mask is True and False.",
        (SEEN, "np.where(key <= query, 0.0, -1e9)"),
    ),
    with_batch_axis=wrong("The result has one axis too many; it should be (T, T).", (SEEN, "(key <= query)[None]")),
)


exercise.hints(
    "Row t belongs to the query at position t, column s to the key at position s.",
    "NumPy and `keras.ops` have a function that keeps one triangle of a matrix. A comparison of positions does it too.",
)

"""Lab 08, exercise `causal_mask`."""

import numpy as np
from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.decoder_and_masking.shared import MASK_ADVICE
from autograder.mistaken import decoder_and_masking as mistaken
from autograder.oracles import decoder_and_masking as oracles

exercise = Exercise("causal_mask", oracle=oracles.causal_mask, mistaken=mistaken.causal_mask)


@exercise.group("True on and below the diagonal", points=1, advice=MASK_ADVICE)
def values(rng: Generator) -> list[Case]:
    return [Case({"length": int(length)}) for length in (*rng.choice(np.arange(4, 12), size=2, replace=False), 1)]


exercise.mistakes(
    transposed=wrong("The mask is True on and above the diagonal. Row t is the query: may token 0 see the last one?", shape="upper"),
    diagonal_blocked=wrong("The diagonal is False. A token may see itself.", shape="strictly lower"),
    true_means_blocked=wrong("True stands where a token may not look. Here and in Keras True means: may attend.", shape="strictly upper"),
    additive=wrong("This is a mask to be added to scores: 0 and −inf. Here a mask is True and False.", shape="additive"),
    additive_large=wrong("This is a mask to be added to scores: 0 and a large negative number. Here a mask is True and False.", shape="large negative"),
    with_batch_axis=wrong("The result has one axis too many; it should be (T, T).", shape="with batch"),
)


exercise.hints(
    "Row t belongs to the query at position t, column s to the key at position s.", "NumPy and `keras.ops` have a function that keeps one triangle of a matrix. A comparison of positions does it too."
)

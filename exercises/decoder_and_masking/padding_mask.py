"""Lab 08, exercise `padding_mask`."""

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.decoder_and_masking.shared import MASK_ADVICE, draw_ids

exercise = Exercise("padding_mask", call=("ids",), optional=("pad_id",))


@exercise.formula
def padding_mask(ids: np.ndarray, pad_id: int = 0) -> np.ndarray:
    """True where a token is not padding, with an axis of size 1 for the queries. ids (B, S) -> (B, 1, S)."""
    real = ids != pad_id
    return real[:, None, :]


@exercise.group("True at real tokens, shape (B, 1, S)", points=2, advice=MASK_ADVICE)
def values(rng: Generator) -> list[Case]:
    whole = draw_ids(rng, 2, 5)
    whole[1] = 0
    return [
        Case({"ids": draw_ids(rng, 3, 7)}, description="ids (3, 7), padded at the end and in the middle"),
        Case({"ids": whole}, description="ids (2, 5), one sentence is padding alone"),
    ]


@exercise.group("another padding id", points=1)
def pad_id(rng: Generator) -> list[Case]:
    pad = int(rng.integers(2, 9))
    ids = draw_ids(rng, 3, 7, pad=pad)
    ids[1, 0] = 0  # an ordinary token here
    return [Case({"ids": ids, "pad_id": pad}, description=f"ids (3, 7), pad_id={pad}")]


@exercise.group("arrays and tensors", points=1)
def types(rng: Generator) -> list[Case]:
    return [
        Case({"ids": draw_ids(rng, 3, 5)}, mode="tensor", description="a TensorFlow tensor of int32"),
        Case({"ids": draw_ids(rng, 2, 7).astype("int64")}, description="a NumPy array of int64"),
    ]


REAL = "ids != pad_id"
WITH_AXIS = "real[:, None, :]"

exercise.mistakes(
    true_means_padding=wrong(
        "True stands at the padding. Here and in Keras True means: may attend.",
        (REAL, "ids == pad_id"),
        hint="Take a sentence without padding: what should the whole mask be?",
        see="08#look-ahead-mask",
    ),
    no_query_axis=wrong(
        "The axis of the queries is missing: the shape is (B, 1, S).",
        (WITH_AXIS, "real"),
        hint="The scores of a layer are (B, T, S). Which of these axes do the ids lack?",
    ),
    axis_last=wrong("The new axis is the last one; the shape should be (B, 1, S).", (WITH_AXIS, "real[:, :, None]")),
    head_axis=wrong(
        "There is an axis for the heads as well. Keras adds this axis itself: the shape is (B, 1, S).",
        (WITH_AXIS, "real[:, None, None, :]"),
    ),
    queries_masked_too=wrong(
        "The padding's own rows are blocked as well. Mask only the keys: the shape is (B, 1, S).",
        (WITH_AXIS, "real[:, None, :] & real[:, :, None]"),
    ),
    pad_id_ignored=wrong("The argument `pad_id` changes nothing.", (REAL, "ids != 0")),
    by_length=wrong(
        "Your mask is made of the sentences' lengths. Padding can stand before a token: look at each id.",
        (REAL, "np.arange(ids.shape[1]) < (ids != pad_id).sum(axis=1, keepdims=True)"),
        hint="What does the mask of (5, 0, 7) look like?",
    ),
    larger_than_pad=wrong(
        "Ids below pad_id count as padding too. A token is padding only when its id is pad_id.", (REAL, "ids > pad_id")
    ),
)


exercise.hints(
    "A comparison of all ids with pad_id gives one truth value each.",
    "The mask says which keys may be seen, so it lies along the keys; the axis of size 1 stands for every query.",
)
exercise.hints("Does your comparison use the argument, or the number 0?", group="pad_id")
exercise.hints(
    "`ops.not_equal` takes arrays and tensors. Which shape comes out before and after the new axis?", group="types"
)

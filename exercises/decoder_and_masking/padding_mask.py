"""Lab 08, exercise `padding_mask`."""

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.decoder_and_masking.shared import MASK_ADVICE, draw_ids

exercise = Exercise("padding_mask")


@exercise.formula
def padding_mask(ids: np.ndarray, pad_id: int = 0) -> np.ndarray:
    """True where a token is not padding, with an axis of size 1 for the queries. ids (B, S) -> (B, 1, S)."""
    real = ids != pad_id
    return real[:, None, :]


@exercise.group("True at real tokens, shape (B, 1, S)", points=2)
def values(rng):
    whole = draw_ids(rng, 2, 5)
    whole[1] = 0
    yield Case({"ids": draw_ids(rng, 3, 7)}, "ids (3, 7), padded at the end and in the middle")
    yield Case({"ids": whole}, "ids (2, 5), one sentence is padding alone")


@exercise.group("another padding id")
def pad_id(rng):
    pad = int(rng.integers(2, 9))
    ids = draw_ids(rng, 3, 7, pad=pad)
    ids[1, 0] = 0  # an ordinary token here
    return Case({"ids": ids, "pad_id": pad}, f"ids (3, 7), pad_id={pad}")


@exercise.group("arrays and tensors")
def types(rng):
    yield Case({"ids": draw_ids(rng, 3, 5)}, "a TensorFlow tensor of int32", mode="tensor")
    yield Case({"ids": draw_ids(rng, 2, 7).astype("int64")}, "a NumPy array of int64")


REAL = "ids != pad_id"
WITH_AXIS = "real[:, None, :]"

exercise.mistakes(
    true_means_padding=edit(REAL, "ids == pad_id", see="08#look-ahead-mask")
    | "True stands at the padding. Here and in Keras True means: may attend."
    | "Take a sentence without padding: what should the whole mask be?",
    no_query_axis=edit(WITH_AXIS, "real")
    | "The axis of the queries is missing: the shape is (B, 1, S)."
    | "The scores of a layer are (B, T, S). Which of these axes do the ids lack?",
    axis_last=edit(WITH_AXIS, "real[:, :, None]") | "The new axis is the last one; the shape should be (B, 1, S).",
    head_axis=edit(WITH_AXIS, "real[:, None, None, :]")
    | "There is an axis for the heads as well. Keras adds this axis itself: the shape is (B, 1, S).",
    queries_masked_too=edit(WITH_AXIS, "real[:, None, :] & real[:, :, None]")
    | "The padding's own rows are blocked as well. Mask only the keys: the shape is (B, 1, S).",
    pad_id_ignored=edit(REAL, "ids != 0") | "The argument `pad_id` changes nothing.",
    by_length=edit(REAL, "np.arange(ids.shape[1]) < (ids != pad_id).sum(axis=1, keepdims=True)")
    | "Your mask is made of the sentences' lengths. Padding can stand before a token: look at each id."
    | "What does the mask of (5, 0, 7) look like?",
    larger_than_pad=edit(REAL, "ids > pad_id")
    | "Ids below pad_id count as padding too. A token is padding only when its id is pad_id.",
)

exercise.advice(values=MASK_ADVICE)
exercise.hints(
    values=(
        "A comparison of all ids with pad_id gives one truth value each.",
        "The mask says which keys may be seen, so it lies along the keys; the axis of size 1 stands for every query.",
    ),
    pad_id="Does your comparison use the argument, or the number 0?",
    types="`ops.not_equal` takes arrays and tensors. Which shape comes out before and after the new axis?",
)

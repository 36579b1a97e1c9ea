"""Lab 08, exercise `shift_right`."""

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.decoder_and_masking.shared import draw_ids

exercise = Exercise("shift_right")


@exercise.formula
def shift_right(ids: np.ndarray, start_id: int) -> np.ndarray:
    """The start id, then all ids but the last one. ids (B, T) -> (B, T)."""
    start = np.full_like(ids[:, :1], start_id)
    return np.concatenate([start, ids[:, :-1]], axis=1)


@exercise.group("start id first, last token gone", points=2)
def values(rng):
    start = int(rng.integers(2, 6))
    inputs = {"ids": draw_ids(rng, 3, 5), "start_id": start}
    yield Case(inputs, f"ids (3, 5), start_id={start}")
    yield Case({"ids": draw_ids(rng, 2, 7).astype("int64"), "start_id": 11}, "ids (2, 7) of int64, start_id=11")


@exercise.group("one token, a square batch, a tensor")
def edges(rng):
    square = rng.integers(1, 13, size=(5, 5)).astype("int32")
    yield Case({"ids": square[:3, :1], "start_id": 17}, "ids (3, 1): one token each")
    yield Case({"ids": square, "start_id": 17}, "ids (5, 5), a TensorFlow tensor", mode="tensor")


SHIFTED = "np.concatenate([start, ids[:, :-1]], axis=1)"

exercise.mistakes(
    last_token_kept=edit(SHIFTED, "np.concatenate([start, ids], axis=1)", see="08#teacher-forcing")
    | "The result is one token longer than ids: drop the last token."
    | "Which token of the target does the decoder never get as an input?",
    shifted_left=edit(SHIFTED, "np.concatenate([ids[:, 1:], start], axis=1)", see="08#teacher-forcing")
    | "The tokens move to the left. The decoder's input at position t is the target at t − 1."
    | "When the decoder has to write word t: which word has it just read?",
    rolled=edit(SHIFTED, "np.roll(ids, 1, axis=1)")
    | "The last token comes back at the front; the start id belongs there.",
    rolled_over_sentences=edit(SHIFTED, "np.roll(ids, 1)")
    | "The tokens move from one sentence to the next: the shift runs along the wrong axes.",
    first_token_replaced=edit(SHIFTED, "np.concatenate([start, ids[:, 1:]], axis=1)")
    | "The start id takes the place of the first token, and nothing moves.",
    start_is_zero=edit(SHIFTED, "np.concatenate([start * 0, ids[:, :-1]], axis=1)")
    | "A 0 stands at the front; the start id belongs there.",
    shifted_down=edit(SHIFTED, "np.concatenate([np.full_like(ids[:1], start_id), ids[:-1]], axis=0)")
    | "Whole sentences move; each sentence should be shifted by itself.",
    start_missing=edit(SHIFTED, "ids[:, :-1]") | "The start id is missing: the result has shape (B, T).",
)

exercise.hints(
    values=(
        "All tokens but the last of each sentence: which slice of the second axis is that?",
        "Put a column of start ids, (B, 1), in front of it. `np.full` or `ops.full_like` makes one.",
    ),
    edges="With T = 1 only the start id is left. Along which axis do you join? With as many sentences as tokens both "
    "would fit.",
)

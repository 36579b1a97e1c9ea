"""Lab 08, exercise `shift_right`."""

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.decoder_and_masking.shared import draw_ids

exercise = Exercise("shift_right", call=("ids", "start_id"))


@exercise.formula
def shift_right(ids: np.ndarray, start_id: int) -> np.ndarray:
    """The start id, then all ids but the last one. ids (B, T) -> (B, T)."""
    start = np.full_like(ids[:, :1], start_id)
    return np.concatenate([start, ids[:, :-1]], axis=1)


@exercise.group("start id first, last token gone", points=2)
def values(rng: Generator) -> list[Case]:
    start = int(rng.integers(2, 6))
    inputs = {"ids": draw_ids(rng, 3, 5), "start_id": start}
    return [
        Case(inputs, description=f"ids (3, 5), start_id={start}"),
        Case(
            {"ids": draw_ids(rng, 2, 7).astype("int64"), "start_id": 11}, description="ids (2, 7) of int64, start_id=11"
        ),
    ]


@exercise.group("one token, a square batch, a tensor", points=1)
def edges(rng: Generator) -> list[Case]:
    square = rng.integers(1, 13, size=(5, 5)).astype("int32")
    return [
        Case({"ids": square[:3, :1], "start_id": 17}, description="ids (3, 1): one token each"),
        Case({"ids": square, "start_id": 17}, mode="tensor", description="ids (5, 5), a TensorFlow tensor"),
    ]


SHIFTED = "np.concatenate([start, ids[:, :-1]], axis=1)"

exercise.mistakes(
    last_token_kept=wrong(
        "The result is one token longer than ids: drop the last token.",
        (SHIFTED, "np.concatenate([start, ids], axis=1)"),
        hint="Which token of the target does the decoder never get as an input?",
        see="08#teacher-forcing",
    ),
    shifted_left=wrong(
        "The tokens move to the left. The decoder's input at position t is the target at t − 1.",
        (SHIFTED, "np.concatenate([ids[:, 1:], start], axis=1)"),
        hint="When the decoder has to write word t: which word has it just read?",
        see="08#teacher-forcing",
    ),
    rolled=wrong(
        "The last token comes back at the front; the start id belongs there.", (SHIFTED, "np.roll(ids, 1, axis=1)")
    ),
    rolled_over_sentences=wrong(
        "The tokens move from one sentence to the next: the shift runs along the wrong axes.",
        (SHIFTED, "np.roll(ids, 1)"),
    ),
    first_token_replaced=wrong(
        "The start id takes the place of the first token, and nothing moves.",
        (SHIFTED, "np.concatenate([start, ids[:, 1:]], axis=1)"),
    ),
    start_is_zero=wrong(
        "A 0 stands at the front; the start id belongs there.",
        (SHIFTED, "np.concatenate([start * 0, ids[:, :-1]], axis=1)"),
    ),
    shifted_down=wrong(
        "Whole sentences move; each sentence should be shifted by itself.",
        (SHIFTED, "np.concatenate([np.full_like(ids[:1], start_id), ids[:-1]], axis=0)"),
    ),
    start_missing=wrong("The start id is missing: the result has shape (B, T).", (SHIFTED, "ids[:, :-1]")),
)


exercise.hints(
    "All tokens but the last of each sentence: which slice of the second axis is that?",
    "Put a column of start ids, (B, 1), in front of it. `np.full` or `ops.full_like` makes one.",
)
exercise.hints(
    "With T = 1 only the start id is left. Along which axis do you join? With as many sentences as tokens both would "
    "fit.",
    group="edges",
)

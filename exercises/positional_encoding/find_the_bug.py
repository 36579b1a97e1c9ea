"""Lab 05, exercise `find_the_bug`."""

import math

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.drawing import normal
from exercises.positional_encoding.rotary import HALF_PAIRS, ROWS_COUNTED, rotary
from exercises.positional_encoding.shared import ANGLE_TOLERANCE

exercise = Exercise("find_the_bug", tolerance=ANGLE_TOLERANCE)


@exercise.formula
def rotary_scores(q: np.ndarray, k: np.ndarray, positions: np.ndarray) -> dict[str, np.ndarray]:
    """Scaled scores of queries and keys (…, T, D) turned by their positions (T,) (Su et al. 2021, equation 16)."""
    turned_q = rotary(q, positions)["output"]
    turned_k = rotary(k, positions)["output"]
    return {"output": np.einsum("...td,...sd->...ts", turned_q, turned_k) / math.sqrt(q.shape[-1])}


# What mistakes change: a key whose second numbers have the other sign is the conjugate of a complex number.
KEYS_TURNED = "rotary(k, positions)"
MIRRORED = "k * np.where(np.arange(k.shape[-1]) % 2, -1, 1).astype(k.dtype)"


def _inputs(rng, *leading: int, positions: object = None, length: int = 5, width: int = 6) -> dict:
    places = np.arange(length) if positions is None else np.asarray(positions)
    return {**{name: normal(rng, *leading, len(places), width) for name in "qk"}, "positions": places.astype("int32")}


@exercise.group("right values", points=2)
def values(rng):
    some = (np.sort(rng.choice(100, size=7, replace=False)) + 1).tolist()
    yield Case(_inputs(rng))
    yield Case(_inputs(rng, positions=some, width=10), f"q and k (7, 10), positions {some}")
    yield Case(_inputs(rng, positions=some[:5]), f"q and k (5, 6), positions {some[:5]}")


exercise.group(
    "leading dimensions",
    batched=lambda rng: [_inputs(rng, 2), Case(_inputs(rng, 2, 3, length=7), "q and k (2, 3, 7, 6)")],
)

exercise.given((KEYS_TURNED, f"rotary({MIRRORED}, -np.asarray(positions))"))

exercise.mistakes(
    keys_turned_back=edit(KEYS_TURNED, "rotary(k, -np.asarray(positions))")
    | "The keys are turned the other way, so the scores depend on the sum of the two positions.",
    turn_conjugated_alone=edit(KEYS_TURNED, f"rotary({MIRRORED}, positions)")
    | "Only the rotation of the keys is conjugated. The key itself has to be conjugated, too: a·c + b·d is the real "
    "part of one pair times the conjugate of the other.",
    query_turn_conjugated_alone=edit("rotary(q, positions)", "rotary(q, -np.asarray(positions))")
    | edit(KEYS_TURNED, f"rotary({MIRRORED}, -np.asarray(positions))")
    | "Only the rotation of the queries is conjugated. Now the score depends on the distance, but at distance 0 it is "
    "a·c − b·d and not the dot product, a·c + b·d.",
    keys_not_turned=edit(f"{KEYS_TURNED}['output']", "k")
    | "Only the queries are turned: the scores depend on the position of the query, not on the distance.",
    unscaled=edit("/ math.sqrt(q.shape[-1])", "") | "The division by √D is missing.",
    half_pairs=edit(*HALF_PAIRS)
    | "Column i is paired with column i + D/2. Here neighbours make a pair: columns 2i and 2i + 1.",
    positions_counted=edit(ROWS_COUNTED) | "The rows are counted 0, 1, 2, …; the positions given are not used.",
)

exercise.hints(
    values=(
        "Give all queries and all keys the same two numbers, (1, 0), and print the scores. Along which lines of the "
        "table are they constant?",
        "The product of two complex numbers adds their angles. Which operation on one of them makes it subtract?",
        "The dot product of two pairs is a·c + b·d. Which part of which product of a + ib and c + id is it?",
    ),
    batched="Which axes does your product exchange? In a batch only the last two may change places.",
)

"""Lab 05, exercise `rotary`."""

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.drawing import normal
from exercises.positional_encoding.shared import ANGLE_TOLERANCE, PAIR_EXPONENTS, angular_speeds


def _rotary(rng, *leading: int, positions=None, length: int = 5, width: int = 6, **case) -> Case:
    dtype = case.pop("float_type", "float32")
    places = np.arange(length) if positions is None else np.asarray(positions)
    inputs = {
        "x": normal(rng, *leading, len(places), width, dtype=dtype),
        "positions": places.astype(case.pop("kind", "int32")),
    }
    return Case(inputs, **case)


exercise = Exercise("rotary", tolerance=ANGLE_TOLERANCE)


@exercise.formula
def rotary(x: np.ndarray, positions: np.ndarray) -> dict[str, np.ndarray]:
    """Rotary positions (Su et al. 2021, section 3.4.2): x (…, T, D), positions (T,) -> ``output`` (…, T, D).

    Pair (x[2i], x[2i + 1]) turns by position/10000^(2i/D).
    """
    angles = np.asarray(positions, "float64")[:, None] * angular_speeds(x.shape[-1])  # (T, D/2)
    cosine, sine = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]  # (…, T, D/2)
    first = a * cosine - b * sine
    second = a * sine + b * cosine
    return {"output": np.stack([first, second], axis=-1).reshape(x.shape)}


# What mistakes change.
GIVEN = "np.asarray(positions, 'float64')"
FIRST = "a * cosine - b * sine"
SECOND = "a * sine + b * cosine"
INTERLEAVED = "np.stack([first, second], axis=-1).reshape(x.shape)"
HALF_PAIRS = (
    ("x[..., 0::2]", "x[..., : x.shape[-1] // 2]"),
    ("x[..., 1::2]", "x[..., x.shape[-1] // 2 :]"),
    (INTERLEAVED, "np.concatenate([first, second], axis=-1)"),
)
ROWS_COUNTED = (GIVEN, "np.arange(len(positions))")

exercise.group("right values", points=2, values=lambda rng: [_rotary(rng), _rotary(rng, length=7, width=10)])
exercise.group(
    "leading dimensions",
    batched=lambda rng: [_rotary(rng, 2), _rotary(rng, 2, 3, length=7), _rotary(rng, 3, 2, 5, length=7)],
)


@exercise.group("positions with gaps, in any order")
def positions(rng):
    some = np.sort(rng.choice(200, size=7, replace=False)) + 1
    yield _rotary(rng, 2, positions=some, description=f"x (2, 7, 6), positions {some.tolist()}")
    yield _rotary(rng, positions=[9, 2, 5], kind="float32", description="x (3, 6), positions [9., 2., 5.]")


@exercise.group("arrays and tensors, float type kept")
def types(rng):
    yield _rotary(rng, 2, mode="tensor", dtype="float32", description="TensorFlow tensors, positions of int32")
    yield _rotary(rng, 2, dtype="float32", description="NumPy arrays of float32")
    yield _rotary(rng, 2, float_type="float64", kind="int64", dtype="float64", description="NumPy arrays of float64")


exercise.mistakes(
    **PAIR_EXPONENTS,
    turns_backwards=edit(GIVEN, f"-{GIVEN}")
    | "The pairs turn the wrong way: the minus sign belongs to the first of the two numbers.",
    rotary_minus_missing=edit(FIRST, "a * cosine + b * sine")
    | "A minus sign is missing: a·cos θ − b·sin θ comes first.",
    cosine_factor_only=edit((FIRST, "a * cosine"), (SECOND, "b * cosine"))
    | "The pairs are multiplied by cos θ only: the sine terms are missing.",
    added_instead=edit((FIRST, "a + sine"), (SECOND, "b + cosine"))
    | "Sines and cosines are added to x. Rotary positions turn x and add nothing.",
    turned_pair_added=edit((FIRST, f"a + {FIRST}"), (SECOND, f"b + {SECOND}"))
    | "The turned pair is added to x; it should replace x.",
    pairs_mirrored=edit(SECOND, "a * sine - b * cosine")
    | "There is a minus sign in both formulas, which mirrors the pair. The second one is a·sin θ + b·cos θ.",
    overwritten_pair=edit(SECOND, "first * sine + b * cosine")
    | "The second number is computed from the first one's new value. Keep the old pair until both numbers are "
    "computed.",
    half_pairs=edit(*HALF_PAIRS)
    | "Column i is paired with column i + D/2. Here neighbours make a pair: columns 2i and 2i + 1.",
    not_interleaved=edit(INTERLEAVED, "np.concatenate([first, second], axis=-1)")
    | "The turned pairs come back as two blocks. They have to be interleaved again: columns 2i and 2i + 1.",
    positions_counted=edit(ROWS_COUNTED) | "The rows are counted 0, 1, 2, …; the positions given are not used.",
    positions_plus_one=edit(GIVEN, f"({GIVEN} + 1)")
    | "Every position is one too large: position 0 should not turn at all.",
    rotary_sin_cos_exchanged=edit((FIRST, "a * sine - b * cosine"), (SECOND, "a * cosine + b * sine"))
    | "Sine and cosine are exchanged: position 0 has to leave x as it is.",
    angles_in_halves=edit(
        INTERLEAVED, "x * np.tile(cosine, 2) + np.stack([-b, a], axis=-1).reshape(x.shape) * np.tile(sine, 2)"
    )
    | "The angles are repeated block by block, θ₀, θ₁, …, θ₀, θ₁, …. Neighbours share one: θ₀, θ₀, θ₁, θ₁, …",
    degrees=edit(GIVEN, f"np.deg2rad({GIVEN})") | "The angles are read as degrees; they are radians.",
)

exercise.advice(
    batched="The angles have the shape (T, D/2) and broadcast over all leading axes. Write x[..., 0::2].",
    positions="Use the positions given, not a count of the rows.",
    types="Positions come as integers. In TensorFlow, a product of integers and fractions cuts the fractions to whole "
    "numbers: cast the positions to a float type first. NumPy makes float64 of them: cast the cosines and sines to the "
    "float type of x.",
)
exercise.hints(
    values=(
        "a = x[..., 0::2] and b = x[..., 1::2] hold all pairs at once, (…, T, D/2).",
        "The angles are positions (T, 1) times frequencies (D/2,), and they broadcast to the pairs.",
        "To interleave two arrays: stack them along a new last axis, then reshape to the shape of x.",
    ),
    batched="Do your slices take the last axis, whatever axes come before it?",
    positions="Where do the angles come from: from the argument, or from a count of the rows?",
    types="Of which type is each array on the way: the positions, the angles, the sines, the result? Where does it "
    "change?",
)

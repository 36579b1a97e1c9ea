"""Lab 05, exercise `rotary`."""

import numpy as np
from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.drawing import normal
from autograder.exercises.positional_encoding.shared import ANGLE_TOLERANCE, PAIR_EXPONENTS
from autograder.mistaken import positional_encoding as mistaken
from autograder.oracles import positional_encoding as oracles


def _rotary(rng: Generator, *leading: int, positions=None, length: int = 5, width: int = 6, **case) -> Case:
    dtype = case.pop("float_type", "float32")
    places = np.arange(length) if positions is None else np.asarray(positions)
    inputs = {"x": normal(rng, *leading, len(places), width, dtype=dtype), "positions": places.astype(case.pop("kind", "int32"))}
    return Case(inputs, **case)


exercise = Exercise("rotary", oracle=oracles.rotary, mistaken=mistaken.rotary, tolerance=ANGLE_TOLERANCE)


@exercise.group("right values", points=2)
def values(rng: Generator) -> list[Case]:
    return [_rotary(rng), _rotary(rng, length=7, width=10)]


@exercise.group("leading dimensions", points=1, advice="The angles have the shape (T, D/2) and broadcast over all leading axes. Write x[..., 0::2].")
def batched(rng: Generator) -> list[Case]:
    return [_rotary(rng, 2), _rotary(rng, 2, 3, length=7), _rotary(rng, 3, 2, 5, length=7)]


@exercise.group("positions with gaps, in any order", points=1, advice="Use the positions given, not a count of the rows.")
def positions(rng: Generator) -> list[Case]:
    some = np.sort(rng.choice(200, size=7, replace=False)) + 1
    return [_rotary(rng, 2, positions=some, description=f"x (2, 7, 6), positions {some.tolist()}"), _rotary(rng, positions=[9, 2, 5], kind="float32", description="x (3, 6), positions [9., 2., 5.]")]


@exercise.group(
    "arrays and tensors, float type kept",
    points=1,
    advice="Positions come as integers. In TensorFlow, a product of integers and fractions cuts the fractions to whole numbers, so the values are wrong as well: cast the positions to the float type of x first.",
)
def types(rng: Generator) -> list[Case]:
    return [
        _rotary(rng, 2, mode="tensor", dtype="float32", description="TensorFlow tensors, positions of int32"),
        _rotary(rng, 2, dtype="float32", description="NumPy arrays of float32"),
        _rotary(rng, 2, float_type="float64", kind="int64", dtype="float64", description="NumPy arrays of float64"),
    ]


exercise.mistakes(
    **PAIR_EXPONENTS,
    turns_backwards=wrong("The pairs turn the wrong way: the minus sign belongs to the first of the two numbers.", direction=-1),
    rotary_minus_missing=wrong("A minus sign is missing: a·cos θ − b·sin θ comes first.", rotation="plus"),
    cosine_factor_only=wrong("The pairs are multiplied by cos θ only: the sine terms are missing.", rotation="scaled"),
    added_instead=wrong("Sines and cosines are added to x. Rotary positions turn x and add nothing.", rotation="added"),
    turned_pair_added=wrong("The turned pair is added to x; it should replace x.", rotation="turned and added"),
    pairs_mirrored=wrong("There is a minus sign in both formulas, which mirrors the pair. The second one is a·sin θ + b·cos θ.", rotation="mirrored"),
    overwritten_pair=wrong("The second number is computed from the first one's new value. Keep the old pair until both numbers are computed.", rotation="overwritten"),
    half_pairs=wrong("Column i is paired with column i + D/2. Here neighbours make a pair: columns 2i and 2i + 1.", layout="halves"),
    not_interleaved=wrong("The turned pairs come back as two blocks. They have to be interleaved again: columns 2i and 2i + 1.", layout="not interleaved"),
    positions_counted=wrong("The rows are counted 0, 1, 2, …; the positions given are not used.", counted=True),
    positions_plus_one=wrong("Every position is one too large: position 0 should not turn at all.", first=1),
    rotary_sin_cos_exchanged=wrong("Sine and cosine are exchanged: position 0 has to leave x as it is.", rotation="sin_cos_exchanged"),
    angles_in_halves=wrong("The angles are repeated block by block, θ₀, θ₁, …, θ₀, θ₁, …. Neighbours share one: θ₀, θ₀, θ₁, θ₁, …", layout="angles in halves"),
    degrees=wrong("The angles are read as degrees; they are radians.", degrees=True),
)


exercise.hints(
    "a = x[..., 0::2] and b = x[..., 1::2] hold all pairs at once, (…, T, D/2).",
    "The angles are positions (T, 1) times frequencies (D/2,), and they broadcast to the pairs.",
    "To interleave two arrays: stack them along a new last axis, then reshape to the shape of x.",
)
exercise.hints("Do your slices take the last axis, whatever axes come before it?", group="batched")
exercise.hints("Where do the angles come from: from the argument, or from a count of the rows?", group="positions")
exercise.hints("What is an integer times a fraction in TensorFlow? Cast the positions first.", group="types")

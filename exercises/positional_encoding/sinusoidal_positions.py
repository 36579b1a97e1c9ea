"""Lab 05, exercise `sinusoidal_positions`."""

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.drawing import one_of
from exercises.positional_encoding.shared import (
    ANGLE_TOLERANCE,
    COS_FIRST,
    HALVES,
    PAIR_EXPONENTS,
    POSITIONS,
    sinusoidal_table,
)

COLUMN_EXPONENT = wrong(
    "The cosine of a pair has another frequency than its sine. Both columns of a pair share one: i counts the pairs.",
    ("np.cos(angles)", "np.cos(angles * 10000.0 ** (-1 / d_model))"),
)


DOUBLE_COLUMN = wrong(
    "The exponent is twice the column's number. In 2i/D, i is the number of the pair: columns 2i and 2i + 1 share it.",
    ("np.sin(angles)", f"np.sin({POSITIONS} * angular_speeds(d_model) ** 2)"),
    ("np.cos(angles)", f"np.cos({POSITIONS} * angular_speeds(d_model) ** 2 * 10000.0 ** (-2 / d_model))"),
)


EXPONENTS = dict(**PAIR_EXPONENTS, exponent_by_column=COLUMN_EXPONENT, exponent_by_doubled_column=DOUBLE_COLUMN)


ONE_BASED = wrong(
    "The first row is position 1; positions count from 0.", (POSITIONS, "np.arange(1, length + 1)[:, None]")
)


def _tables(*sizes: tuple[int, int]):
    return lambda rng: [Case({"length": length, "d_model": width}) for length, width in sizes]


exercise = Exercise(
    "sinusoidal_positions",
    tolerance=ANGLE_TOLERANCE,
    forbidden=("coursekit.pages.positions.PlainPositions", "coursekit.memory_task.wave_table"),
)


@exercise.formula
def sinusoidal_positions(length: int, d_model: int) -> dict[str, np.ndarray]:
    """Sinusoidal positions (length, D) (Vaswani et al. 2017, section 3.5)."""
    return {"output": sinusoidal_table(length, d_model)}


@exercise.formula_for("refusal")
def odd_width_refused(d_model: int) -> dict[str, str]:
    """An odd D has no pairs, and is refused with a ValueError; an even one is not."""
    return {"raised": "ValueError" if d_model % 2 else "no error"}


REFUSAL = '"ValueError" if d_model % 2 else "no error"'


@exercise.group("right values", points=2)
def values(rng: Generator) -> list[Case]:
    return [
        Case({"length": int(rng.integers(5, 9)), "d_model": 6}),
        Case({"length": int(rng.integers(11, 19)), "d_model": 10}),
        Case({"length": 3, "d_model": 26}),
        Case({"length": 2, "d_model": 14}),  # no part of the table before it
    ]


@exercise.group("hundreds of positions", points=1)
def long(rng: Generator) -> list[Case]:
    return _tables((one_of(rng, *range(601, 640)), 14))(rng)


@exercise.group(
    "ValueError for an odd d_model, and only then",
    points=1,
    fixed="a refusal is the same error for all odd widths",
    advice="Look at d_model % 2 first, and raise a ValueError that names the number. An even width raises no error, "
    "whatever is in the table.",
)
def odd_width(rng: Generator) -> list[Case]:
    """Which error is raised, and no values: who refuses the right widths passes, with a wrong table too."""
    width = int(rng.choice([5, 7, 11]))
    return [
        Case({"length": length, "d_model": width}, mode="refusal", description=f"d_model={width}, {kind} width")
        for length, width, kind in ((3, width, "an odd"), (5, 6, "an even"))
    ]


exercise.mistakes(
    **EXPONENTS,
    cos_first=COS_FIRST,
    sines_then_cosines=HALVES,
    sine_only=wrong("All columns are sines; the odd ones should be cosines.", ("np.cos(angles)", "np.sin(angles)")),
    cosine_only=wrong("All columns are cosines; the even ones should be sines.", ("np.sin(angles)", "np.cos(angles)")),
    one_based=ONE_BASED,
    table_transposed=wrong(
        "The table is transposed: it should have one row per position, (length, d_model).",
        ("sinusoidal_table(length, d_model)}", "sinusoidal_table(length, d_model).T}"),
    ),
    odd_accepted=wrong("An odd d_model is accepted; it should raise a ValueError.", (REFUSAL, '"no error"')),
    odd_asserted=wrong(
        "An odd d_model ends in an AssertionError; raise a ValueError (assertions can be switched off).",
        (REFUSAL, '"AssertionError" if d_model % 2 else "no error"'),
    ),
    odd_fails_by_chance=wrong(
        "For an odd d_model one of your lines happens to fail, and its message speaks of shapes. Refuse the width "
        "yourself: raise a ValueError that says what is wrong with it.",
        (REFUSAL, '"ValueError by chance" if d_model % 2 else "no error"'),
    ),
)


exercise.hints(
    "Make the frequencies first, one for each pair: D/2 numbers, falling from 1.",
    "positions as a column (length, 1) times frequencies as a row (D/2,) gives all angles, (length, D/2).",
    "Even columns of an array are table[:, 0::2], odd ones table[:, 1::2]. You can assign to both.",
)
exercise.hints("Look at the slowest pair at position 600: is its angle 600 times its frequency?", group="long")
exercise.hints("Look at d_model % 2 before you compute anything.", group="odd_width")

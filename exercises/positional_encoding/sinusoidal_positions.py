"""Lab 05, exercise `sinusoidal_positions`."""

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.drawing import one_of
from exercises.positional_encoding import shared
from exercises.positional_encoding.shared import sinusoidal_table

COLUMN_EXPONENT = (
    edit("np.cos(angles)", "np.cos(angles * 10000.0 ** (-1 / d_model))")
    | "The cosine of a pair has another frequency than its sine. Both columns of a pair share one: i counts the pairs."
)
DOUBLE_COLUMN = (
    edit("np.sin(angles)", f"np.sin({shared.POSITIONS} * angular_speeds(d_model) ** 2)")
    | edit("np.cos(angles)", f"np.cos({shared.POSITIONS} * angular_speeds(d_model) ** 2 * 10000.0 ** (-2 / d_model))")
    | "The exponent is twice the column's number. In 2i/D, i is the number of the pair: columns 2i and 2i + 1 share "
    "it."
)
EXPONENTS = dict(**shared.PAIR_EXPONENTS, exponent_by_column=COLUMN_EXPONENT, exponent_by_doubled_column=DOUBLE_COLUMN)


def _tables(*sizes: tuple[int, int]):
    return lambda rng: [Case({"length": length, "d_model": width}) for length, width in sizes]


exercise = Exercise(
    "sinusoidal_positions",
    own_probe=True,
    tolerance=shared.ANGLE_TOLERANCE,
    forbidden=("coursekit.lecture.pages.positions.PlainPositions", "coursekit.lecture.memory_task.wave_table"),
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
def values(rng):
    yield {"length": int(rng.integers(5, 9)), "d_model": 6}
    yield {"length": int(rng.integers(11, 19)), "d_model": 10}
    yield {"length": 3, "d_model": 26}
    yield {"length": 2, "d_model": 14}


exercise.group("hundreds of positions", long=lambda rng: _tables((one_of(rng, *range(601, 640)), 14))(rng))


@exercise.group("ValueError for an odd d_model, and only then", fixed="a refusal is the same error for all odd widths")
def odd_width(rng):
    """Which error is raised, and no values: who refuses the right widths passes, with a wrong table too."""
    width = int(rng.choice([5, 7, 11]))
    return [
        Case({"length": length, "d_model": width}, f"d_model={width}, {kind} width", mode="refusal")
        for length, width, kind in ((3, width, "an odd"), (5, 6, "an even"))
    ]


exercise.mistakes(
    **EXPONENTS,
    cos_first=shared.COS_FIRST,
    sines_then_cosines=shared.HALVES,
    sine_only=edit("np.cos(angles)", "np.sin(angles)") | "All columns are sines; the odd ones should be cosines.",
    cosine_only=edit("np.sin(angles)", "np.cos(angles)") | "All columns are cosines; the even ones should be sines.",
    one_based=edit(shared.POSITIONS, "np.arange(1, length + 1)[:, None]")
    | "The first row is position 1; positions count from 0.",
    table_transposed=edit("sinusoidal_table(length, d_model)}", "sinusoidal_table(length, d_model).T}")
    | "The table is transposed: it should have one row per position, (length, d_model).",
    odd_accepted=edit(REFUSAL, '"no error"') | "An odd d_model is accepted; it should raise a ValueError.",
    odd_asserted=edit(REFUSAL, '"AssertionError" if d_model % 2 else "no error"')
    | "An odd d_model ends in an AssertionError; raise a ValueError (assertions can be switched off).",
    odd_fails_by_chance=edit(REFUSAL, '"ValueError by chance" if d_model % 2 else "no error"')
    | "For an odd d_model one of your lines happens to fail, and its message speaks of shapes. Refuse the width "
    "yourself: raise a ValueError that says what is wrong with it.",
)

exercise.advice(
    odd_width="Look at d_model % 2 first, and raise a ValueError that names the number. An even width raises no "
    "error, whatever is in the table."
)
exercise.hints(
    values=(
        "Make the frequencies first, one for each pair: D/2 numbers, falling from 1.",
        "positions as a column (length, 1) times frequencies as a row (D/2,) gives all angles, (length, D/2).",
        "Even columns of an array are table[:, 0::2], odd ones table[:, 1::2]. You can assign to both.",
    ),
    long="Look at the slowest pair at position 600: is its angle 600 times its frequency?",
    odd_width="Look at d_model % 2 before you compute anything.",
)

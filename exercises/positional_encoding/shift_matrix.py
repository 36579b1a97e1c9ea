"""Lab 05, exercise `shift_matrix`."""

import math

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.positional_encoding.shared import ANGLE_TOLERANCE, PAIR_EXPONENTS, angular_speeds


def _shifts(low: int, high: int, *widths: int):
    return lambda rng: [Case({"offset": int(rng.integers(low, high)), "d_model": width}) for width in widths]


exercise = Exercise("shift_matrix", call=("offset", "d_model"), tolerance=ANGLE_TOLERANCE)


@exercise.formula
def shift_matrix(offset: int, d_model: int) -> dict[str, np.ndarray]:
    """M (D, D) with PE[p + offset] = PE[p] M, a rotation for each pair, by the addition theorems."""
    matrix = np.zeros((d_model, d_model))
    for pair, speed in enumerate(angular_speeds(d_model)):
        angle = offset * speed
        c, s = math.cos(angle), math.sin(angle)
        columns = [2 * pair, 2 * pair + 1]
        matrix[np.ix_(columns, columns)] = [[c, -s], [s, c]]
    return {"output": matrix}


def columns_rolled(offset: int, d_model: int) -> dict[str, np.ndarray]:
    """The columns of a table move, and its pairs do not turn."""
    return {"output": np.roll(np.eye(d_model), offset, axis=1)}


BLOCK = "[[c, -s], [s, c]]"


@exercise.group("shifts by a few positions", points=2)
def values(rng: Generator) -> list[Case]:
    return _shifts(2, 8, 4, 6, 10)(rng)


@exercise.group("a negative shift, and none", points=1)
def backwards(rng: Generator) -> list[Case]:
    return [Case({"offset": int(-rng.integers(2, 9)), "d_model": 10}), Case({"offset": 0, "d_model": 6})]


@exercise.group("shifts by hundreds of positions", points=1)
def far(rng: Generator) -> list[Case]:
    return _shifts(150, 400, 14)(rng)


exercise.mistakes(
    **PAIR_EXPONENTS,
    shifts_backwards=wrong(
        "This matrix shifts by −offset: it is the transpose. Rows of the table are (sin, cos), and they "
        "stand on the left of M.",
        ("return {'output': matrix}", "return {'output': matrix.T}"),
    ),
    offset_ignored=wrong("The matrix shifts by 1, whatever the offset is.", ("offset * speed", "speed")),
    offset_plus_one=wrong("The matrix shifts one position too far.", ("offset * speed", "(offset + 1) * speed")),
    offset_without_sign=wrong(
        "A shift back goes forward: the sign of offset is lost.", ("offset * speed", "abs(offset) * speed")
    ),
    columns_rolled=wrong(
        "This matrix moves columns. It should turn each pair by an angle, so that each row becomes the row "
        "of a later position.",
        instead=columns_rolled,
    ),
    minus_missing=wrong(
        "A minus sign is missing: cos(a + b) = cos a cos b − sin a sin b.", (BLOCK, "[[c, s], [s, c]]")
    ),
    two_minus_signs=wrong(
        "Both sines have a minus sign; in a rotation only one of them has.", (BLOCK, "[[c, -s], [-s, c]]")
    ),
    reflection=wrong(
        "The blocks are reflections; the minus sign belongs to a sine, not to a cosine.", (BLOCK, "[[c, s], [s, -c]]")
    ),
    cosines_only=wrong(
        "There are only the cosines on the diagonal: without the sines nothing turns.", (BLOCK, "[[c, 0], [0, c]]")
    ),
    block_sin_cos_exchanged=wrong(
        "Sine and cosine of the shift's angle are exchanged: a shift by 0 has to be the identity.",
        (BLOCK, "[[s, -c], [c, s]]"),
    ),
    pairs_by_halves=wrong(
        "The blocks join column i with column i + D/2. A pair has neighbouring columns, 2i and 2i + 1.",
        ("[2 * pair, 2 * pair + 1]", "[pair, pair + d_model // 2]"),
    ),
)


exercise.hints(
    "Write sin(ω(p + k)) and cos(ω(p + k)) with the addition theorems. Which numbers multiply sin(ωp), which cos(ωp)?",
    "Column 2i of M makes the new sine, column 2i + 1 the new cosine. Row 2i is multiplied by the old sine, "
    "row 2i + 1 by the old cosine.",
    "Start from np.zeros((d_model, d_model)) and fill one 2 × 2 block for each pair. Test it on a row of your table.",
)
exercise.hints("Is a shift by −k the transpose of a shift by k in your matrix?", group="backwards")
exercise.hints("Is the angle offset times the frequency, without rounding in between?", group="far")

"""Lab 05, exercise `shift_matrix`."""

import math

import numpy as np

from autograder.declare import Case, Exercise, edit, instead
from exercises.positional_encoding.shared import ANGLE_TOLERANCE, PAIR_EXPONENTS, angular_speeds


def _shifts(low: int, high: int, *widths: int):
    return lambda rng: [Case({"offset": int(rng.integers(low, high)), "d_model": width}) for width in widths]


exercise = Exercise("shift_matrix", tolerance=ANGLE_TOLERANCE)


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

exercise.group("shifts by a few positions", points=2, values=_shifts(2, 8, 4, 6, 10))
exercise.group(
    "a negative shift, and none",
    backwards=lambda rng: [{"offset": int(-rng.integers(2, 9)), "d_model": 10}, {"offset": 0, "d_model": 6}],
)
exercise.group("shifts by hundreds of positions", far=_shifts(150, 400, 14))

exercise.mistakes(
    **PAIR_EXPONENTS,
    shifts_backwards=edit("return {'output': matrix}", "return {'output': matrix.T}")
    | "This matrix shifts by −offset: it is the transpose. Rows of the table are (sin, cos), and they stand on the "
    "left of M.",
    offset_ignored=edit("offset * speed", "speed") | "The matrix shifts by 1, whatever the offset is.",
    offset_plus_one=edit("offset * speed", "(offset + 1) * speed") | "The matrix shifts one position too far.",
    offset_without_sign=edit("offset * speed", "abs(offset) * speed")
    | "A shift back goes forward: the sign of offset is lost.",
    columns_rolled=instead(columns_rolled)
    | "This matrix moves columns. It should turn each pair by an angle, so that each row becomes the row of a later "
    "position.",
    minus_missing=edit(BLOCK, "[[c, s], [s, c]]") | "A minus sign is missing: cos(a + b) = cos a cos b − sin a sin b.",
    two_minus_signs=edit(BLOCK, "[[c, -s], [-s, c]]")
    | "Both sines have a minus sign; in a rotation only one of them has.",
    reflection=edit(BLOCK, "[[c, s], [s, -c]]")
    | "The blocks are reflections; the minus sign belongs to a sine, not to a cosine.",
    cosines_only=edit(BLOCK, "[[c, 0], [0, c]]")
    | "There are only the cosines on the diagonal: without the sines nothing turns.",
    block_sin_cos_exchanged=edit(BLOCK, "[[s, -c], [c, s]]")
    | "Sine and cosine of the shift's angle are exchanged: a shift by 0 has to be the identity.",
    pairs_by_halves=edit("[2 * pair, 2 * pair + 1]", "[pair, pair + d_model // 2]")
    | "The blocks join column i with column i + D/2. A pair has neighbouring columns, 2i and 2i + 1.",
)

exercise.hints(
    values=(
        "Write sin(ω(p + k)) and cos(ω(p + k)) with the addition theorems. Which numbers multiply sin(ωp), which "
        "cos(ωp)?",
        "Column 2i of M makes the new sine, column 2i + 1 the new cosine. Row 2i is multiplied by the old sine, row "
        "2i + 1 by the old cosine.",
        "Start from np.zeros((d_model, d_model)) and fill one 2 × 2 block for each pair. Test it on a row of your "
        "table.",
    ),
    backwards="Is a shift by −k the transpose of a shift by k in your matrix?",
    far="Is the angle offset times the frequency, without rounding in between?",
)

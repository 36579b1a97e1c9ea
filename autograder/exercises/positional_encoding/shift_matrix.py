"""Lab 05, exercise `shift_matrix`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.positional_encoding.shared import ANGLE_TOLERANCE, PAIR_EXPONENTS
from autograder.mistaken import positional_encoding as mistaken
from autograder.oracles import positional_encoding as oracles


def _shifts(low: int, high: int, *widths: int):
    return lambda rng: [Case({"offset": int(rng.integers(low, high)), "d_model": width}) for width in widths]


exercise = Exercise("shift_matrix", oracle=oracles.shift_matrix, mistaken=mistaken.shift_matrix, tolerance=ANGLE_TOLERANCE)


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
    shifts_backwards=wrong("This matrix shifts by −offset: it is the transpose. Rows of the table are (sin, cos), and they stand on the left of M.", transposed=True),
    offset_ignored=wrong("The matrix shifts by 1, whatever the offset is.", unit_offset=True),
    offset_plus_one=wrong("The matrix shifts one position too far.", beyond=1),
    offset_without_sign=wrong("A shift back goes forward: the sign of offset is lost.", sign=False),
    columns_rolled=wrong("This matrix moves columns. It should turn each pair by an angle, so that each row becomes the row of a later position.", rolled=True),
    minus_missing=wrong("A minus sign is missing: cos(a + b) = cos a cos b − sin a sin b.", block="plus"),
    two_minus_signs=wrong("Both sines have a minus sign; in a rotation only one of them has.", block="two minus"),
    reflection=wrong("The blocks are reflections; the minus sign belongs to a sine, not to a cosine.", block="reflection"),
    cosines_only=wrong("There are only the cosines on the diagonal: without the sines nothing turns.", block="cosines"),
    block_sin_cos_exchanged=wrong("Sine and cosine of the shift's angle are exchanged: a shift by 0 has to be the identity.", block="sin_cos_exchanged"),
    pairs_by_halves=wrong("The blocks join column i with column i + D/2. A pair has neighbouring columns, 2i and 2i + 1.", layout="halves"),
)


exercise.hints(
    "Write sin(ω(p + k)) and cos(ω(p + k)) with the addition theorems. Which numbers multiply sin(ωp), which cos(ωp)?",
    "Column 2i of M makes the new sine, column 2i + 1 the new cosine. Row 2i is multiplied by the old sine, row 2i + 1 by the old cosine.",
    "Start from np.zeros((d_model, d_model)) and fill one 2 × 2 block for each pair. Test it on a row of your table.",
)
exercise.hints("Is a shift by −k the transpose of a shift by k in your matrix?", group="backwards")
exercise.hints("Is the angle offset times the frequency, without rounding in between?", group="far")

"""Lab 05, exercise `sinusoidal_positions`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.positional_encoding.shared import ANGLE_TOLERANCE, COS_FIRST, HALVES, PAIR_EXPONENTS
from autograder.mistaken import positional_encoding as mistaken
from autograder.oracles import positional_encoding as oracles

COLUMN_EXPONENT = wrong("The cosine of a pair has another frequency than its sine. Both columns of a pair share one: i counts the pairs.", exponent="column")


DOUBLE_COLUMN = wrong("The exponent is twice the column's number. In 2i/D, i is the number of the pair: columns 2i and 2i + 1 share it.", exponent="double_column")


EXPONENTS = dict(**PAIR_EXPONENTS, exponent_by_column=COLUMN_EXPONENT, exponent_by_doubled_column=DOUBLE_COLUMN)


ONE_BASED = wrong("The first row is position 1; positions count from 0.", first=1)


def _tables(*sizes: tuple[int, int]):
    return lambda rng: [Case({"length": length, "d_model": width}) for length, width in sizes]


exercise = Exercise("sinusoidal_positions", oracle=oracles.sinusoidal_positions, mistaken=mistaken.sinusoidal_positions, by_mode={"refusal": oracles.odd_width_refused}, tolerance=ANGLE_TOLERANCE)


@exercise.group("right values", points=2)
def values(rng: Generator) -> list[Case]:
    return [Case({"length": int(rng.integers(5, 9)), "d_model": 6}), Case({"length": int(rng.integers(11, 19)), "d_model": 10}), Case({"length": 3, "d_model": 26})]


@exercise.group("hundreds of positions", points=1)
def long(rng: Generator) -> list[Case]:
    return _tables((601, 14))(rng)


@exercise.group(
    "ValueError for an odd d_model, and only then", points=1, advice="Look at d_model % 2 first, and raise a ValueError that names the number. An even width raises no error, whatever is in the table."
)
def odd_width(rng: Generator) -> list[Case]:
    """Which error is raised, and no values: who refuses the right widths passes, with a wrong table too."""
    width = int(rng.choice([5, 7, 11]))
    return [Case({"length": length, "d_model": width}, mode="refusal", description=f"d_model={width}, {kind} width") for length, width, kind in ((3, width, "an odd"), (5, 6, "an even"))]


exercise.mistakes(
    **EXPONENTS,
    cos_first=COS_FIRST,
    sines_then_cosines=HALVES,
    sine_only=wrong("All columns are sines; the odd ones should be cosines.", layout="sin"),
    cosine_only=wrong("All columns are cosines; the even ones should be sines.", layout="cos"),
    one_based=ONE_BASED,
    table_transposed=wrong("The table is transposed: it should have one row per position, (length, d_model).", transposed=True),
    odd_accepted=wrong("An odd d_model is accepted; it should raise a ValueError.", refusal="no error"),
    odd_asserted=wrong("An odd d_model ends in an AssertionError; raise a ValueError (assertions can be switched off).", refusal="AssertionError"),
)


exercise.hints(
    "Make the frequencies first, one for each pair: D/2 numbers, falling from 1.",
    "positions as a column (length, 1) times frequencies as a row (D/2,) gives all angles, (length, D/2).",
    "Even columns of an array are table[:, 0::2], odd ones table[:, 1::2]. You can assign to both.",
)
exercise.hints("Look at the slowest pair at position 600: is its angle 600 times its frequency?", group="long")
exercise.hints("Look at d_model % 2 before you compute anything.", group="odd_width")

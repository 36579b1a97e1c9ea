"""Lab 02, exercise `attention_cost`."""

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator

exercise = Exercise("attention_cost", call=("length", "d_model"), fields=("multiply_adds", "weights_entries"))


@exercise.formula
def attention_cost(length: int, d_model: int) -> dict[str, int]:
    """Multiply-adds of QKᵀ and of weights·V (T²·D each), and the number of weights (Vaswani et al. 2017, table 1)."""
    return {"multiply_adds": 2 * length**2 * d_model, "weights_entries": length**2}


@exercise.group("right counts", points=1)
def values(rng: Generator) -> list[Case]:
    return [
        Case({"length": int(t), "d_model": int(d)})
        for t, d in ((rng.integers(5, 400), rng.integers(401, 900)) for _ in range(3))
    ]


exercise.mistakes(
    one_product=wrong(
        "One of the two matrix products is missing: QKᵀ, and weights times V.",
        ("2 * length**2 * d_model", "length**2 * d_model"),
        hint="Write down the two matrix products of the formula, and the shapes of what they multiply.",
        see="02b#counting",
    ),
    linear_in_length=wrong(
        "Every query meets every key: the length counts twice.",
        ("2 * length**2 * d_model", "2 * length * d_model"),
        hint="How many scores does a sequence of T tokens have?",
        see="02b#counting",
    ),
    quadratic_in_width=wrong(
        "d_model² is the cost of a projection; it is not counted here.",
        ("length**2 * d_model", "length**2 * d_model**2"),
    ),
    width_squared=wrong(
        "In the multiply-adds the width counts twice and the length once. Every pair of tokens costs one dot product.",
        ("2 * length**2 * d_model", "2 * length * d_model**2"),
        hint="How many scores does a sequence of T tokens have?",
    ),
    projections_counted=wrong(
        "The three projections are counted as well. Only Q Kᵀ and weights times V are.",
        ("2 * length**2 * d_model", "2 * length**2 * d_model + 3 * length * d_model**2"),
    ),
    width_left_out=wrong(
        "The width is missing: one dot product takes d_model multiply-adds.", ("length**2 * d_model", "length**2")
    ),
    counts_flops=wrong(
        "A multiplication and its addition count as one here; you count two.",
        ("2 * length**2 * d_model", "4 * length**2 * d_model"),
    ),
    entries_by_width=wrong(
        "There is one weight for each pair of query and key; the width does not count.",
        ('"weights_entries": length**2', '"weights_entries": length * d_model'),
    ),
    parameters_counted=wrong(
        "3·d_model² is the number of parameters. Count the attention weights: one for each pair of query and key.",
        ('"weights_entries": length**2', '"weights_entries": 3 * d_model**2'),
    ),
    entries_twice=wrong(
        "The weights are one matrix; you count two.",
        ('"weights_entries": length**2', '"weights_entries": 2 * length**2'),
    ),
)


exercise.hints(
    "Which of the two numbers is wrong? `weights_entries` counts what the softmax returns: one number for "
    "each pair of query and key.",
    "Count one score first: how many multiplications does a dot product of two vectors of d_model take?",
    "QKᵀ has length × length entries. Each output of weights·V is a sum over length values; how many outputs "
    "are there?",
)

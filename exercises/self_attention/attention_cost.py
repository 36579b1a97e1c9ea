"""Lab 02, exercise `attention_cost`."""

from autograder.declare import Case, Exercise, edit

exercise = Exercise("attention_cost", fields=("multiply_adds", "weights_entries"))


@exercise.formula
def attention_cost(length: int, d_model: int) -> dict[str, int]:
    """Multiply-adds of QKᵀ and of weights·V (T²·D each), and the number of weights (Vaswani et al. 2017, table 1)."""
    return {"multiply_adds": 2 * length**2 * d_model, "weights_entries": length**2}


exercise.group(
    "right counts",
    values=lambda rng: [
        Case({"length": int(t), "d_model": int(d)})
        for t, d in ((rng.integers(5, 400), rng.integers(401, 900)) for _ in range(3))
    ],
)

exercise.mistakes(
    one_product=edit("2 * length**2 * d_model", "length**2 * d_model", see="02b#counting")
    | "One of the two matrix products is missing: QKᵀ, and weights times V."
    | "Write down the two matrix products of the formula, and the shapes of what they multiply.",
    linear_in_length=edit("2 * length**2 * d_model", "2 * length * d_model", see="02b#counting")
    | "Every query meets every key: the length counts twice."
    | "How many scores does a sequence of T tokens have?",
    quadratic_in_width=edit("length**2 * d_model", "length**2 * d_model**2")
    | "d_model² is the cost of a projection; it is not counted here.",
    width_squared=edit("2 * length**2 * d_model", "2 * length * d_model**2")
    | "In the multiply-adds the width counts twice and the length once. Every pair of tokens costs one dot product."
    | "How many scores does a sequence of T tokens have?",
    projections_counted=edit("2 * length**2 * d_model", "2 * length**2 * d_model + 3 * length * d_model**2")
    | "The three projections are counted as well. Only Q Kᵀ and weights times V are.",
    width_left_out=edit("length**2 * d_model", "length**2")
    | "The width is missing: one dot product takes d_model multiply-adds.",
    counts_flops=edit("2 * length**2 * d_model", "4 * length**2 * d_model")
    | "A multiplication and its addition count as one here; you count two.",
    entries_by_width=edit('"weights_entries": length**2', '"weights_entries": length * d_model')
    | "There is one weight for each pair of query and key; the width does not count.",
    parameters_counted=edit('"weights_entries": length**2', '"weights_entries": 3 * d_model**2')
    | "3·d_model² is the number of parameters. Count the attention weights: one for each pair of query and key.",
    entries_twice=edit('"weights_entries": length**2', '"weights_entries": 2 * length**2')
    | "The weights are one matrix; you count two.",
)

exercise.hints(
    values=(
        "Which of the two numbers is wrong? `weights_entries` counts what the softmax returns: one number for each "
        "pair of query and key.",
        "Count one score first: how many multiplications does a dot product of two vectors of d_model take?",
        "QKᵀ has length × length entries. Each output of weights·V is a sum over length values; how many outputs are "
        "there?",
    )
)

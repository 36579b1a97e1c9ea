"""Lab 02, exercise `attention_cost`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import self_attention as mistaken
from autograder.oracles import self_attention as oracles

exercise = Exercise("attention_cost", oracle=oracles.attention_cost, mistaken=mistaken.attention_cost)


@exercise.group("right counts", points=1)
def values(rng: Generator) -> list[Case]:
    return [Case({"length": int(t), "d_model": int(d)}) for t, d in ((rng.integers(5, 400), rng.integers(401, 900)) for _ in range(3))]


exercise.mistakes(
    one_product=wrong("One of the two matrix products is missing: QKᵀ, and weights times V.", products=1),
    linear_in_length=wrong("Every query meets every key: the length counts twice.", length_power=1),
    quadratic_in_width=wrong("d_model² is the cost of a projection; it is not counted here.", width_power=2),
    projections_counted=wrong("The three projections are counted as well. Only Q Kᵀ and weights times V are.", projections=True),
    width_left_out=wrong("The width is missing: one dot product takes d_model multiply-adds.", width_power=0),
    counts_flops=wrong("A multiplication and its addition count as one here; you count two.", factor=2),
    entries_by_width=wrong("There is one weight for each pair of query and key; the width does not count.", entries="TD"),
    parameters_counted=wrong("3·d_model² is the number of parameters. Count the attention weights: one for each pair of query and key.", entries="3D²"),
    entries_twice=wrong("The weights are one matrix; you count two.", entries="2T²"),
)


exercise.hints(
    "Which of the two numbers is wrong? `weights_entries` counts what the softmax returns: one number for each pair of query and key.",
    "Count one score first: how many multiplications does a dot product of two vectors of d_model take?",
    "QKᵀ has length × length entries. Each output of weights·V is a sum over length values; how many outputs are there?",
)

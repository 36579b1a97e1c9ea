"""Lab 02, exercise `self_attention_loops`."""

from autograder.declare import Exercise, cases
from exercises.drawing import normal
from exercises.self_attention import shared
from exercises.self_attention.shared import plain_large, plain_self_attention

exercise = Exercise("self_attention_loops", forbidden=shared.READY_SELF_ATTENTION)
exercise.formula(plain_self_attention)

exercise.group("right values", points=2, values=cases(x=[(5, 7), (3, 2)]))
exercise.group("right and finite for large scores", large_scores=plain_large)
exercise.types(lambda rng, dtype: {"x": normal(rng, 5, 7, dtype=dtype)})

exercise.mistakes(**shared.PLAIN_MISTAKES)

exercise.advice(types="x may be an array or a tensor. `np.asarray(x)` gives you an array of either.")
exercise.hints(
    values=(
        "Write the three steps for one token first: its scores with every token, their softmax, the weighted sum.",
        "A score is the dot product of two rows of x, divided by the root of the width of a row.",
        "Each token needs a softmax of its own, over all tokens. Then add up the rows of x, each times its weight.",
    ),
    large_scores="exp(800) is infinite. Which number can be subtracted from all scores of a token without changing "
    "its weights?",
    types="`np.asarray(x)` turns a tensor into an array.",
)

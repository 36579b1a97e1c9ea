"""Lab 02, exercise `self_attention_loops`."""

from autograder.declaring import Case, Exercise
from coursekit.generator import Generator
from exercises.self_attention.shared import (
    PLAIN_MISTAKES,
    READY_SELF_ATTENTION,
    plain,
    plain_large,
    plain_self_attention,
    plain_types,
)

exercise = Exercise("self_attention_loops", call=("x",), forbidden=READY_SELF_ATTENTION)
exercise.formula(plain_self_attention)


@exercise.group("right values", points=2)
def values(rng: Generator) -> list[Case]:
    return plain((5, 7), (3, 2))(rng)


@exercise.group("finite for large scores", points=1)
def large_scores(rng: Generator) -> list[Case]:
    return plain_large(rng)


@exercise.group("arrays and tensors", points=1)
def types(rng: Generator) -> list[Case]:
    return plain_types(rng)


exercise.mistakes(**PLAIN_MISTAKES)


exercise.hints(
    "Write the three steps for one token first: its scores with every token, their softmax, the weighted sum.",
    "A score is the dot product of two rows of x, divided by the root of the width of a row.",
    "Each token needs a softmax of its own, over all tokens. Then add up the rows of x, each times its weight.",
)
exercise.hints(
    "exp(800) is infinite. Which number can be subtracted from all scores of a token without changing its weights?",
    group="large_scores",
)
exercise.hints("`np.asarray(x)` turns a tensor into an array.", group="types")

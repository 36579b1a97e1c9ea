"""Lab 01, exercise `hard_attention`."""

import numpy as np
from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.attention_intuition.shared import TYPES
from autograder.exercises.drawing import drawn_until
from autograder.mistaken import attention_intuition as mistaken
from autograder.oracles import attention_intuition as oracles


def _distribution(rng: Generator, *shape: int, dtype: str = "float32") -> np.ndarray:
    """Random weights whose rows sum to 1, with the largest one below ½ in some rows and above in others."""

    def draw() -> np.ndarray:
        powers = np.exp(2 * rng.normal(size=shape))
        return (powers / powers.sum(axis=-1, keepdims=True)).astype(dtype)

    return drawn_until(lambda drawn: drawn.max(axis=-1).min() < 0.45 and drawn.max() > 0.55, draw)


ONE_HOT_ADVICE = "Tensors have few of NumPy's methods: use `ops.argmax` and `ops.one_hot`, or make an array first."


exercise = Exercise("hard_attention", oracle=oracles.hard_attention, mistaken=mistaken.hard_attention)


@exercise.group("right values", points=1)
def values(rng: Generator) -> list[Case]:
    return [Case({"weights": np.array([0.1, 0.35, 0.3, 0.25], "float32")[rng.permutation(4)]}), Case({"weights": _distribution(rng, 5, 3)})]


@exercise.group("leading dimensions", points=1)
def batched(rng: Generator) -> list[Case]:
    return [Case({"weights": _distribution(rng, 2, 5, 3)}), Case({"weights": _distribution(rng, 2, 3, 5, 7)})]


@exercise.group("the first of equal weights", points=1)
def ties(rng: Generator) -> list[Case]:
    rows = np.array([[0.25, 0.25, 0.25, 0.25], [0.1, 0.4, 0.1, 0.4], [0.4, 0.1, 0.1, 0.4]], "float32")
    return [Case({"weights": rows[rng.permutation(3)]}, description="rows in which the largest weight occurs more than once")]


@exercise.group(TYPES, points=1, advice=ONE_HOT_ADVICE)
def types(rng: Generator) -> list[Case]:
    return [
        Case({"weights": _distribution(rng, 5, 3)}, mode="tensor", description="a TensorFlow tensor"),
        Case({"weights": _distribution(rng, 5, 3)}, description="a NumPy array of float32"),
        Case({"weights": _distribution(rng, 5, 3, dtype="float64")}, description="a NumPy array of float64"),
    ]


exercise.mistakes(
    all_ties=wrong("Where several weights are largest, each gets a 1; only the first should get it.", ties="all"),
    last_tie=wrong("On ties you take the last of the largest weights, not the first.", ties="last"),
    smallest=wrong("The 1 stands at the smallest weight.", place="smallest"),
    over_queries=wrong("The columns are one-hot, not the rows.", over="column"),
    one_for_all=wrong("There is a single 1 in the whole array; every row needs one.", over="all"),
    index_returned=wrong("That is the place of the largest weight; return the one-hot row.", result="index"),
    argmax_without_axis=wrong("argmax without an axis finds one place in the whole array: every row has its own, `axis=-1`.", result="one_hot of all"),
    argmax_of_columns=wrong("argmax runs along the first axis; the weights of one query lie along the last one.", result="one_hot of columns"),
    weight_kept=wrong("The largest weight keeps its value; it should become 1.", result="kept"),
    above_half=wrong("A weight need not be above ½ to be the largest.", result="half"),
)


exercise.hints(
    "Which function gives the place of the largest entry of a row, and which one takes the first on ties?",
    "`argmax` over the last axis gives (…); `one_hot` turns it into (…, S). How many classes are there?",
)
exercise.hints("Which axis holds the keys, whatever stands before it?", "An index such as `out[i, j]` needs exactly two axes. `one_hot` of the places takes any number of them.", group="batched")
exercise.hints("Comparing with the largest weight marks all that equal it. Which function returns only one place?", group="ties")
exercise.hints("The numbers are right for one kind of argument. What does your code call that the other kind does not have?", group="types")

"""Lab 01, exercise `hard_attention`."""

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.attention_intuition.shared import TYPES
from exercises.drawing import drawn_until


def _distribution(rng: Generator, *shape: int, dtype: str = "float32") -> np.ndarray:
    """Random weights whose rows sum to 1, with the largest one below ½ in some rows and above in others."""

    def draw() -> np.ndarray:
        powers = np.exp(2 * rng.normal(size=shape))
        return (powers / powers.sum(axis=-1, keepdims=True)).astype(dtype)

    return drawn_until(lambda drawn: drawn.max(axis=-1).min() < 0.45 and drawn.max() > 0.55, draw)


ONE_HOT_ADVICE = "Tensors have few of NumPy's methods: use `ops.argmax` and `ops.one_hot`, or make an array first."


exercise = Exercise("hard_attention", call=("weights",))


@exercise.formula
def hard_attention(weights: np.ndarray) -> np.ndarray:
    """One-hot rows with the 1 at the largest weight, the first on ties. weights (…, S).

    Source: Xu et al. (2015), section 4.1, with the largest weight instead of a random draw.
    """
    largest = weights.argmax(axis=-1)[..., None]
    return (np.arange(weights.shape[-1]) == largest).astype(weights.dtype)


def one_hot_columns(weights: np.ndarray) -> np.ndarray:
    """A 1 at the largest weight of each column."""
    largest = weights.argmax(axis=-2)[..., None, :]
    return (np.arange(weights.shape[-2])[:, None] == largest).astype(weights.dtype)


def one_for_all(weights: np.ndarray) -> np.ndarray:
    """A 1 at the largest of all weights."""
    return (np.arange(weights.size).reshape(weights.shape) == weights.argmax()).astype(weights.dtype)


@exercise.group("right values", points=1)
def values(rng: Generator) -> list[Case]:
    return [
        Case({"weights": np.array([0.1, 0.35, 0.3, 0.25], "float32")[rng.permutation(4)]}),
        Case({"weights": _distribution(rng, 5, 3)}),
    ]


@exercise.group("leading dimensions", points=1)
def batched(rng: Generator) -> list[Case]:
    return [Case({"weights": _distribution(rng, 2, 5, 3)}), Case({"weights": _distribution(rng, 2, 3, 5, 7)})]


@exercise.group("the first of equal weights", points=1)
def ties(rng: Generator) -> list[Case]:
    rows = np.array([[0.25, 0.25, 0.25, 0.25], [0.1, 0.4, 0.1, 0.4], [0.4, 0.1, 0.1, 0.4]], "float32")
    return [
        Case(
            {"weights": rows[rng.permutation(3)]}, description="rows in which the largest weight occurs more than once"
        )
    ]


@exercise.group(TYPES, points=1, advice=ONE_HOT_ADVICE)
def types(rng: Generator) -> list[Case]:
    return [
        Case({"weights": _distribution(rng, 5, 3)}, mode="tensor", description="a TensorFlow tensor"),
        Case({"weights": _distribution(rng, 5, 3)}, description="a NumPy array of float32"),
        Case({"weights": _distribution(rng, 5, 3, dtype="float64")}, description="a NumPy array of float64"),
    ]


exercise.mistakes(
    all_ties=wrong(
        "Where several weights are largest, each gets a 1; only the first should get it.",
        ("np.arange(weights.shape[-1]) == largest", "weights == weights.max(axis=-1, keepdims=True)"),
    ),
    last_tie=wrong(
        "On ties you take the last of the largest weights, not the first.",
        ("weights.argmax(axis=-1)[..., None]", "weights.shape[-1] - 1 - weights[..., ::-1].argmax(axis=-1)[..., None]"),
    ),
    smallest=wrong(
        "The 1 stands at the smallest weight.",
        ("weights.argmax(axis=-1)[..., None]", "weights.argmin(axis=-1)[..., None]"),
    ),
    over_queries=wrong("The columns are one-hot, not the rows.", instead=one_hot_columns),
    one_for_all=wrong("There is a single 1 in the whole array; every row needs one.", instead=one_for_all),
    index_returned=wrong(
        "That is the place of the largest weight; return the one-hot row.",
        ("(np.arange(weights.shape[-1]) == largest).astype(weights.dtype)", "weights.argmax(axis=-1)"),
    ),
    argmax_without_axis=wrong(
        "argmax without an axis finds one place in the whole array: every row has its own, `axis=-1`.",
        ("weights.argmax(axis=-1)[..., None]", "weights.argmax()"),
    ),
    argmax_of_columns=wrong(
        "argmax runs along the first axis; the weights of one query lie along the last one.",
        ("weights.argmax(axis=-1)[..., None]", "weights.argmax(axis=0)[..., None]"),
    ),
    weight_kept=wrong(
        "The largest weight keeps its value; it should become 1.",
        (
            "(np.arange(weights.shape[-1]) == largest).astype(weights.dtype)",
            "(np.arange(weights.shape[-1]) == largest) * weights",
        ),
    ),
    above_half=wrong(
        "A weight need not be above ½ to be the largest.",
        ("(np.arange(weights.shape[-1]) == largest).astype(weights.dtype)", "(weights > 0.5).astype(weights.dtype)"),
    ),
)


exercise.hints(
    "Which function gives the place of the largest entry of a row, and which one takes the first on ties?",
    "`argmax` over the last axis gives (…); `one_hot` turns it into (…, S). How many classes are there?",
)
exercise.hints(
    "Which axis holds the keys, whatever stands before it?",
    "An index such as `out[i, j]` needs exactly two axes. `one_hot` of the places takes any number of them.",
    group="batched",
)
exercise.hints(
    "Comparing with the largest weight marks all that equal it. Which function returns only one place?", group="ties"
)
exercise.hints(
    "The numbers are right for one kind of argument. What does your code call that the other kind does not have?",
    group="types",
)

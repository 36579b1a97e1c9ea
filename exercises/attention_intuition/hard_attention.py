"""Lab 01, exercise `hard_attention`."""

import numpy as np

from autograder.declare import Case, Exercise, edit, instead
from exercises.drawing import drawn_until


def _distribution(rng, *shape: int, dtype: str = "float32") -> np.ndarray:
    """Random weights whose rows sum to 1, with the largest one below ½ in some rows and above in others."""

    def draw() -> np.ndarray:
        powers = np.exp(2 * rng.normal(size=shape))
        return (powers / powers.sum(axis=-1, keepdims=True)).astype(dtype)

    return drawn_until(lambda drawn: drawn.max(axis=-1).min() < 0.45 and drawn.max() > 0.55, draw)


exercise = Exercise("hard_attention")


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


@exercise.group("right values")
def values(rng):
    yield {"weights": np.array([0.1, 0.35, 0.3, 0.25], "float32")[rng.permutation(4)]}
    yield {"weights": _distribution(rng, 5, 3)}


exercise.group(
    "leading dimensions",
    batched=lambda rng: [{"weights": _distribution(rng, 2, 5, 3)}, {"weights": _distribution(rng, 2, 3, 5, 7)}],
)


@exercise.group("the first of equal weights")
def ties(rng):
    rows = np.array([[0.25, 0.25, 0.25, 0.25], [0.1, 0.4, 0.1, 0.4], [0.4, 0.1, 0.1, 0.4]], "float32")
    return Case({"weights": rows[rng.permutation(3)]}, "rows in which the largest weight occurs more than once")


exercise.types(lambda rng, dtype: {"weights": _distribution(rng, 5, 3, dtype=dtype)})

exercise.mistakes(
    all_ties=edit("np.arange(weights.shape[-1]) == largest", "weights == weights.max(axis=-1, keepdims=True)")
    | "Where several weights are largest, each gets a 1; only the first should get it.",
    last_tie=edit(".argmax(axis=-1)[..., None]", ".shape[-1] - 1 - weights[..., ::-1].argmax(axis=-1)[..., None]")
    | "On ties you take the last of the largest weights, not the first.",
    smallest=edit("weights.argmax(axis=-1)[..., None]", "weights.argmin(axis=-1)[..., None]")
    | "The 1 stands at the smallest weight.",
    over_queries=instead(one_hot_columns) | "The columns are one-hot, not the rows.",
    one_for_all=instead(one_for_all) | "There is a single 1 in the whole array; every row needs one.",
    index_returned=edit("(np.arange(weights.shape[-1]) == largest).astype(weights.dtype)", "weights.argmax(axis=-1)")
    | "That is the place of the largest weight; return the one-hot row.",
    argmax_without_axis=edit("weights.argmax(axis=-1)[..., None]", "weights.argmax()")
    | "argmax without an axis finds one place in the whole array: every row has its own, `axis=-1`.",
    argmax_of_columns=edit("weights.argmax(axis=-1)[..., None]", "weights.argmax(axis=0)[..., None]")
    | "argmax runs along the first axis; the weights of one query lie along the last one.",
    weight_kept=edit(".astype(weights.dtype)", "* weights") | "The largest weight keeps its value; it should become 1.",
    above_half=edit("(np.arange(weights.shape[-1]) == largest).astype", "(weights > 0.5).astype")
    | "A weight need not be above ½ to be the largest.",
)

exercise.advice(
    types="Tensors have few of NumPy's methods: use `ops.argmax` and `ops.one_hot`, or make an array first."
)
exercise.hints(
    values=(
        "Which function gives the place of the largest entry of a row, and which one takes the first on ties?",
        "`argmax` over the last axis gives (…); `one_hot` turns it into (…, S). How many classes are there?",
    ),
    batched=(
        "Which axis holds the keys, whatever stands before it?",
        "An index such as `out[i, j]` needs exactly two axes. `one_hot` of the places takes any number of them.",
    ),
    ties="Comparing with the largest weight marks all that equal it. Which function returns only one place?",
    types="The numbers are right for one kind of argument. What does your code call that the other kind does not have?",
)

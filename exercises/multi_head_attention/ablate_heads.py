"""Lab 03, exercise `ablate_heads`."""

from collections.abc import Sequence

import numpy as np

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.drawing import normal

exercise = Exercise("ablate_heads", call=("head_outputs", "keep"))


@exercise.formula
def ablate_heads(head_outputs: np.ndarray, keep: Sequence[int]) -> np.ndarray:
    """head_outputs (B, H, T, K) with the heads that are not in `keep` set to zero (Michel et al. 2019, section 2.3)."""
    stays = np.eye(head_outputs.shape[1])[list(keep)].sum(axis=0) > 0
    return np.where(stays[:, None, None], head_outputs, head_outputs.dtype.type(0))


@exercise.group("right values, for any `keep`", points=2)
def values(rng: Generator) -> list[Case]:
    def case(shape: tuple[int, ...], keep: list[int]) -> Case:
        return Case({"head_outputs": normal(rng, *shape), "keep": keep})

    return [
        case((2, 5, 3, 7), [0, 3]),
        case((2, 5, 3, 7), [4, 1, 2]),
        case((2, 3, 5, 7), [1]),
        case((2, 3, 5, 7), []),
        case((2, 3, 5, 7), [0, 1, 2]),
    ]


@exercise.group("arrays and tensors", points=1)
def types(rng: Generator) -> list[Case]:
    single, keep = normal(rng, 2, 3, 5, 7), [2, 0]
    double = rng.normal(size=(2, 3, 5, 7))
    return [
        Case({"head_outputs": single, "keep": keep}, mode="tensor", description="a TensorFlow tensor, keep=[2, 0]"),
        Case({"head_outputs": single, "keep": keep}, description="a NumPy array of float32, keep=[2, 0]"),
        Case({"head_outputs": double, "keep": keep}, description="a NumPy array of float64, keep=[2, 0]"),
    ]


HEADS = "head_outputs.shape[1]"
STAYS = "np.eye(head_outputs.shape[1])[list(keep)].sum(axis=0) > 0"
ALONG_HEADS = "stays[:, None, None]"
KEPT = "np.where(stays[:, None, None], head_outputs, head_outputs.dtype.type(0))"
ZERO = "head_outputs.dtype.type(0)"

exercise.mistakes(
    keep_inverted=wrong(
        "The heads in `keep` become zero. These heads should stay.",
        (STAYS, f"~({STAYS})"),
        hint="Call it with all heads in `keep`: what should come back?",
        see="03#ablation",
    ),
    heads_removed=wrong(
        "The other heads are removed from the array; they should stay in it, as zeros.",
        (KEPT, "head_outputs[:, stays]"),
        hint="The result goes into W_O, which reads H heads. Which shape does that ask for?",
        see="03#ablation",
    ),
    others_rescaled=wrong(
        "The heads that stay are scaled up, as in dropout. They should keep their values.",
        (KEPT, f"{KEPT} * (len(stays) / max(stays.sum(), 1))"),
        hint="Is anything averaged over the heads before W_O, so that a missing one would have to be made up for?",
        see="03#ablation",
    ),
    heads_from_one=wrong(
        "The heads are counted from 1: `keep` holds indices, and the first head is 0.",
        (STAYS, "np.eye(head_outputs.shape[1] + 1)[list(keep)].sum(axis=0)[1:] > 0"),
    ),
    first_heads_stay=wrong(
        "The number of heads that stay is right, but they are the first ones; `keep` says which ones stay.",
        (STAYS, "np.arange(head_outputs.shape[1]) < len(keep)"),
        hint="Try keep=[2]: which head has to stay?",
    ),
    empty_keep_keeps_all=wrong(
        "With an empty `keep` every head stays; then no head should stay.", (STAYS, f"({STAYS}) | (len(keep) == 0)")
    ),
    tokens_ablated=wrong(
        "Tokens become zero, not heads: axis 1 holds the heads.",
        (HEADS, "head_outputs.shape[2]"),
        (ALONG_HEADS, "stays[:, None]"),
    ),
    items_ablated=wrong(
        "Items of the batch become zero, not heads: axis 1 holds the heads.",
        (STAYS, "np.isin(np.arange(head_outputs.shape[0]), list(keep))"),
        (ALONG_HEADS, "stays[:, None, None, None]"),
    ),
    mean_instead_of_zero=wrong(
        "The other heads get the mean of all heads; they should be zero.",
        (ZERO, "head_outputs.mean(axis=1, keepdims=True)"),
        hint="The lecture tries both. Which of the two does the exercise ask for?",
        see="03#ablation",
    ),
)


exercise.hints(
    "Make a vector of H ones and zeros. Which shape does it need to broadcast to (B, H, T, K)?",
    "Tensors cannot be assigned to by index; a multiplication works for arrays and tensors alike.",
)
exercise.hints(
    "A factor that you make yourself has a float type: which one do `np.zeros` and `np.ones` give, and which one does"
    " the tensor have?",
    group="types",
)

"""Lab 03, exercise `ablate_heads`."""

from collections.abc import Sequence

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.drawing import normal

exercise = Exercise("ablate_heads")


@exercise.formula
def ablate_heads(head_outputs: np.ndarray, keep: Sequence[int]) -> np.ndarray:
    """head_outputs (B, H, T, K) with the heads that are not in `keep` set to zero (Michel et al. 2019, section 2.3)."""
    stays = np.eye(head_outputs.shape[1])[list(keep)].sum(axis=0) > 0
    return np.where(stays[:, None, None], head_outputs, head_outputs.dtype.type(0))


@exercise.group("right values, for any `keep`", points=2)
def values(rng):
    def case(shape: tuple[int, ...], keep: list[int]) -> Case:
        return Case({"head_outputs": normal(rng, *shape), "keep": keep})

    yield case((2, 5, 3, 7), [0, 3])
    yield case((2, 5, 3, 7), [4, 1, 2])
    yield case((2, 3, 5, 7), [1])
    yield case((2, 3, 5, 7), [])
    yield case((2, 3, 5, 7), [0, 1, 2])


@exercise.group("arrays and tensors")
def types(rng):
    single, keep = normal(rng, 2, 3, 5, 7), [2, 0]
    double = rng.normal(size=(2, 3, 5, 7))
    yield Case({"head_outputs": single, "keep": keep}, "a TensorFlow tensor, keep=[2, 0]", mode="tensor")
    yield Case({"head_outputs": single, "keep": keep}, "a NumPy array of float32, keep=[2, 0]")
    yield Case({"head_outputs": double, "keep": keep}, "a NumPy array of float64, keep=[2, 0]")


HEADS = "head_outputs.shape[1]"
STAYS = "np.eye(head_outputs.shape[1])[list(keep)].sum(axis=0) > 0"
ALONG_HEADS = "stays[:, None, None]"
KEPT = "np.where(stays[:, None, None], head_outputs, head_outputs.dtype.type(0))"
ZERO = "head_outputs.dtype.type(0)"

exercise.mistakes(
    keep_inverted=edit(STAYS, f"~({STAYS})", see="03b#ablation")
    | "The heads in `keep` become zero. These heads should stay."
    | "Call it with all heads in `keep`: what should come back?",
    heads_removed=edit(KEPT, "head_outputs[:, stays]", see="03b#ablation")
    | "The other heads are removed from the array; they should stay in it, as zeros."
    | "The result goes into W_O, which reads H heads. Which shape does that ask for?",
    others_rescaled=edit(KEPT, f"{KEPT} * (len(stays) / max(stays.sum(), 1))", see="03b#ablation")
    | "The heads that stay are scaled up, as in dropout. They should keep their values."
    | "Is anything averaged over the heads before W_O, so that a missing one would have to be made up for?",
    heads_from_one=edit(STAYS, "np.eye(head_outputs.shape[1] + 1)[list(keep)].sum(axis=0)[1:] > 0")
    | "The heads are counted from 1: `keep` holds indices, and the first head is 0.",
    first_heads_stay=edit(STAYS, "np.arange(head_outputs.shape[1]) < len(keep)")
    | "The number of heads that stay is right, but they are the first ones; `keep` says which ones stay."
    | "Try keep=[2]: which head has to stay?",
    empty_keep_keeps_all=edit(STAYS, f"({STAYS}) | (len(keep) == 0)")
    | "With an empty `keep` every head stays; then no head should stay.",
    tokens_ablated=edit((HEADS, "head_outputs.shape[2]"), (ALONG_HEADS, "stays[:, None]"))
    | "Tokens become zero, not heads: axis 1 holds the heads.",
    items_ablated=edit(STAYS, "np.isin(np.arange(head_outputs.shape[0]), list(keep))")
    | edit(ALONG_HEADS, "stays[:, None, None, None]")
    | "Items of the batch become zero, not heads: axis 1 holds the heads.",
    mean_instead_of_zero=edit(ZERO, "head_outputs.mean(axis=1, keepdims=True)", see="03b#ablation")
    | "The other heads get the mean of all heads; they should be zero."
    | "The lecture tries both. Which of the two does the exercise ask for?",
)

exercise.hints(
    values=(
        "Make a vector of H ones and zeros. Which shape does it need to broadcast to (B, H, T, K)?",
        "Tensors cannot be assigned to by index; a multiplication works for arrays and tensors alike.",
    ),
    types="A factor that you make yourself has a float type: which one do `np.zeros` and `np.ones` give, and which "
    "one does the tensor have?",
)

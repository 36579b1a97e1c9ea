"""Lab 08, exercise `combine_masks`."""

import functools
from typing import Any

import numpy as np

from autograder.declare import Case, Exercise, edit
from exercises.drawing import partial_mask

exercise = Exercise("combine_masks", own_probe=True)


@exercise.formula
def combine_masks(count: int, mask_1: Any = None, mask_2: Any = None, mask_3: Any = None) -> np.ndarray | None:
    """The first `count` masks joined by "and", broadcast; None blocks nothing, and None is what no mask gives."""
    given = [np.asarray(mask).astype(bool) for mask in (mask_1, mask_2, mask_3)[:count] if mask is not None]
    return functools.reduce(np.logical_and, given) if given else None


def _joined(*masks: np.ndarray | None, description: str = "", mode: str = "call") -> Case:
    shapes = " and ".join("None" if mask is None else str(mask.shape) for mask in masks)
    named = {f"mask_{number}": mask for number, mask in enumerate(masks, 1)}
    return Case({"count": len(masks), **named}, description or f"masks {shapes}", mode=mode)


@exercise.group("two masks, broadcast", points=2)
def two(rng):
    """Random masks and not the usual ones, so that no shortcut for a causal mask helps."""
    yield _joined(partial_mask(rng, 5, 5), partial_mask(rng, 3, 1, 5))
    yield _joined(partial_mask(rng, 2, 1, 7), partial_mask(rng, 2, 5, 7))
    yield _joined(partial_mask(rng, 7), partial_mask(rng, 2, 3, 5, 7))


@exercise.group("one mask, three masks")
def counts(rng):
    yield _joined(
        partial_mask(rng, 5, 5), partial_mask(rng, 3, 1, 5), np.array([[[True], [True], [False], [True], [True]]])
    )
    yield _joined(partial_mask(rng, 3, 1, 5))


@exercise.group("None, and no mask at all")
def none(rng):
    yield _joined(None, partial_mask(rng, 5, 5), partial_mask(rng, 3, 1, 5))
    yield _joined(partial_mask(rng, 3, 1, 5), None)
    yield _joined(None, None)
    yield _joined(description="no mask at all")


@exercise.group("integers and tensors")
def types(rng):
    ones = partial_mask(rng, 5, 5).astype("int32")
    yield _joined(ones, partial_mask(rng, 3, 1, 5), description="one mask of int32, one of bool")
    yield _joined(partial_mask(rng, 5, 5), partial_mask(rng, 3, 1, 5), mode="tensor", description="TensorFlow tensors")
    yield _joined(
        partial_mask(rng, 5, 5).astype("int32"),
        partial_mask(rng, 3, 1, 5).astype("int64"),
        partial_mask(rng, 3, 1, 5),
        mode="tensor",
        description="TensorFlow tensors of int32, int64 and bool",
    )


JOINED = "functools.reduce(np.logical_and, given)"

exercise.mistakes(
    **{
        "or": edit("np.logical_and", "np.logical_or", see="08#look-ahead-mask")
        | "A position is open when any of the masks opens it. It has to be open in all of them."
        | "A word that comes later is hidden by one mask and shown by the other. May it be seen?"
    },
    added=edit(JOINED, 'functools.reduce(np.add, [mask.astype("int64") for mask in given])')
    | "The masks are added, so the result is 2 where two of them are open.",
    only_the_first=edit(JOINED, "given[0]") | "Only the first mask counts.",
    only_the_last=edit(JOINED, "given[-1]")
    | "Only the last mask counts."
    | "Is the result of one step used in the next one?",
    only_two=edit(JOINED, "functools.reduce(np.logical_and, given[:2])") | "The third mask is not used.",
    inverted=edit(JOINED, f"~{JOINED}") | "The result is the wrong way round: True means: may attend.",
    exclusive_or=edit("np.logical_and", "np.logical_xor")
    | "Positions that are open in exactly one of the masks are open in the result. They have to be open in all of "
    "them.",
)

exercise.advice(
    none="A mask that is None blocks nothing, so it can be left out. Without any mask the result is None.",
    types="Masks of different types do not always combine: turn each mask into truth values first.",
)
exercise.hints(
    two=(
        "`masks` is a tuple. Take out what is None, turn numbers into truth values, and join two masks by a logical "
        "and. How do you get from two to any number?",
        "Start with the first mask and join the others to it, one after the other.",
    ),
    counts="Does your function work for one mask and for four? A loop, or `functools.reduce`, takes any number.",
)

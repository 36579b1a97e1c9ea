"""Finds out whether the hidden layers of a classifier have a ReLU, by weights that make their sums negative (lab 06).

The layers are found by the shapes of their kernels, since they have no names in the contract. A layer that is not
found, because it is built in another way, counts as right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

HIDDEN = 20  # units of the head's hidden layer
FAR = 100.0  # a sum that no input of a normalised layer brings back to the other side of 0
INNER, OUTER = "feed-forward network, hidden layer", "feed-forward network, its result"
HEAD, WITHOUT = "head, hidden layer", "without the feed-forward network's result"
RIGHT = {INNER: "ReLU", OUTER: "of both signs", HEAD: "ReLU", WITHOUT: "the words count"}
WRONG = {INNER: "no ReLU", OUTER: "not negative", HEAD: "no ReLU", WITHOUT: "nothing is left"}


def inside(
    variables: Sequence[Any],
    width: int,
    inner: int,
    run: Callable[[], np.ndarray],
    shaken: Iterable[None],
) -> dict[str, float]:
    """For each of `RIGHT`, by how much the results move at most; the weights are others afterwards.

    A layer that is not found is left out.

    Args:
        variables: the model's trainable weights.
        width, inner: D and F; no two of D, F and 20 are equal.
        run: gives the model's results, one row for each review.
        shaken: each step puts other random weights into the model.
    """
    first, bias = _only(variables, (width, inner)), _only(variables, (inner,))
    second, last = _only(variables, (inner, width)), _only(variables, (HIDDEN, 1))
    head, head_bias = _only(variables, (width, HIDDEN)), _only(variables, (HIDDEN,))
    found: dict[str, float] = {}

    def note(what: str, moved: float) -> None:
        found[what] = max(found.get(what, 0.0), moved)

    for _ in shaken:
        if last is not None:
            last.assign(0.01 * np.asarray(last))  # so that the sigmoid does not end at 0 or 1
        kept = [np.asarray(variable) for variable in variables]
        if first is not None and bias is not None and second is not None:
            bias.assign(np.full(inner, -FAR))
            note(INNER, _moves(run, first, -np.asarray(first)))
            bias.assign(np.full(inner, FAR))
            below = -(np.abs(np.asarray(second)) + 1) * 3 / (FAR * inner)  # the sums are about −4
            second.assign(below)
            note(OUTER, _moves(run, second, 2 * below[:, ::-1]))
            second.assign(np.zeros(second.shape))
            note(WITHOUT, float(np.ptp(run(), axis=0).max()))
            for variable, values in zip(variables, kept, strict=True):
                variable.assign(values)
        if head is not None and head_bias is not None:
            head_bias.assign(np.full(HIDDEN, -FAR))
            note(HEAD, _moves(run, head, -np.asarray(head)))
    return found


def seen(moves: Mapping[str, float], apart: float) -> dict[str, str]:
    """What `inside` shows, in the words of `RIGHT`; results further `apart` than this differ by more than rounding."""
    facts = dict(RIGHT)
    for what, moved in moves.items():
        if (moved > apart) == (what in (INNER, HEAD)):
            facts[what] = WRONG[what]
    return facts


def _only(variables: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """The one weight of this shape; None if there is none, or more than one."""
    found = [variable for variable in variables if tuple(variable.shape) == shape]
    return found[0] if len(found) == 1 else None


def _moves(run: Callable[[], np.ndarray], variable: Any, values: np.ndarray) -> float:
    """By how much the results move when a weight gets other values."""
    before = run()
    variable.assign(values)
    return float(np.abs(run() - before).max())

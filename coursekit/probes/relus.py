"""Finds out whether the hidden layers of a classifier have a ReLU, by weights that make their sums negative (lab 06).

The layers are found by the shapes of their kernels, since they have no names in the contract. A layer that is not
found, because it is built in another way, counts as right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

HIDDEN = 20  # units of the head's hidden layer
FAR = 100.0  # a sum that no input of a normalised layer brings back to the other side of 0
RIGHT = {
    "feed-forward network, hidden layer": "ReLU",
    "feed-forward network, its result": "of both signs",
    "head, hidden layer": "ReLU",
    "without the feed-forward network's result": "the words count",
}


def inside(
    variables: Sequence[Any],
    width: int,
    inner: int,
    run: Callable[[], np.ndarray],
    shaken: Iterable[None],
    apart: float,
) -> dict[str, str]:
    """What is found, in the words of `RIGHT`; the weights are others afterwards.

    Args:
        variables: the model's trainable weights.
        width, inner: D and F; no two of D, F and 20 are equal.
        run: gives the model's results, one row for each review.
        shaken: each step puts other random weights into the model.
        apart: results further apart than this differ by more than rounding.
    """
    first, bias = _only(variables, (width, inner)), _only(variables, (inner,))
    second, last = _only(variables, (inner, width)), _only(variables, (HIDDEN, 1))
    head, head_bias = _only(variables, (width, HIDDEN)), _only(variables, (HIDDEN,))
    found = dict.fromkeys(RIGHT, False)
    for _ in shaken:
        if last is not None:
            last.assign(0.01 * np.asarray(last))  # so that the sigmoid does not end at 0 or 1
        kept = [np.asarray(variable) for variable in variables]
        if first is not None and bias is not None and second is not None:
            bias.assign(np.full(inner, -FAR))
            found["feed-forward network, hidden layer"] |= _moves(run, first, -np.asarray(first)) > apart
            bias.assign(np.full(inner, FAR))
            below = -(np.abs(np.asarray(second)) + 1) * 3 / (FAR * inner)  # the sums are about −4
            second.assign(below)
            found["feed-forward network, its result"] |= _moves(run, second, 2 * below[:, ::-1]) > apart
            second.assign(np.zeros(second.shape))
            found["without the feed-forward network's result"] |= bool(np.ptp(run(), axis=0).max() > apart)
            for variable, values in zip(variables, kept, strict=True):
                variable.assign(values)
        if head is not None and head_bias is not None:
            head_bias.assign(np.full(HIDDEN, -FAR))
            found["head, hidden layer"] |= _moves(run, head, -np.asarray(head)) > apart
    facts = dict(RIGHT)
    if found["feed-forward network, hidden layer"]:
        facts["feed-forward network, hidden layer"] = "no ReLU"
    if found["head, hidden layer"]:
        facts["head, hidden layer"] = "no ReLU"
    if first is not None and bias is not None and second is not None:
        if not found["feed-forward network, its result"]:
            facts["feed-forward network, its result"] = "not negative"
        if not found["without the feed-forward network's result"]:
            facts["without the feed-forward network's result"] = "nothing is left"
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

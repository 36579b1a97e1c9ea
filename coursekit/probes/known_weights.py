"""Puts the weights of a case into a classifier of lab 06 and reads its probabilities.

The layers have no names in the contract, so each weight is found by its shape. Whatever is left over belongs to the
attention: with kernels of 0 it gives its bias, in whatever way its heads are made. The table of positions is 0 as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from coursekit.probes.driving import ContractError

ONE_EACH = ("inner", "inner_bias", "outer", "hidden", "hidden_bias", "last", "last_bias")  # found by its shape
APART = 2e-5  # probabilities further apart than this differ by more than rounding


def probabilities(model: Any, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The model's probabilities with the case's weights, as it is called outside of training.

    Raises:
        ContractError: a weight of the contract is not found, or chance or nothing at all decides about the results.
    """
    _put(model.weights, inputs)
    first, second = (np.asarray(model(inputs["ids"])) for _ in range(2))
    if first.shape != second.shape or np.abs(first - second).max() > APART:
        raise ContractError("called twice as `model(ids)`, the model gives the same reviews another result each time.")
    if np.ptp(first) <= APART:
        raise ContractError(
            "with the check's weights every review gets the same result. There the table of positions and the "
            "attention's kernels are 0, and the words get through by sums: words plus positions, and the attention's "
            "input plus its output."
        )
    return {"probabilities": first}


def _put(weights: list[Any], inputs: Mapping[str, Any]) -> None:
    width, given = inputs["d_model"], _given(inputs)
    shapes = {id(each): _shape(each) for each in weights}
    values = {id(each): np.zeros(each.shape) for each in weights}
    for name in ONE_EACH:
        found = [each for each in weights if shapes[id(each)] == given[name].shape]
        if len(found) != 1:
            raise ContractError(
                f"the check puts weights of its own into the model, and {len(found)} of its weights have the shape "
                f"{given[name].shape} of the table; it should be one. Compare `model.summary()` with the table."
            )
        values[id(found[0])] = given[name].reshape(found[0].shape)
    tables = [each for each in weights if len(each.shape) == 2 and each.shape[1] == width]
    table = max(tables, key=lambda each: each.shape[0])
    if table.shape[0] < len(given["words"]):
        raise ContractError("the check finds no table of V words of width D among the model's weights.")
    values[id(table)] = np.pad(given["words"], ((0, table.shape[0] - len(given["words"])), (0, 0)))
    vectors = [each for each in weights if shapes[id(each)] == (width,)]
    gains = {id(each) for each in vectors if np.all(np.asarray(each) == 1)}
    if len(gains) != 2:
        raise ContractError(f"the check finds the gains of {len(gains)} layer norms in the model; it should be 2.")
    for each in vectors:
        values[id(each)] = given["gain" if id(each) in gains else "shift"].reshape(each.shape)
    for each in weights:
        each.assign(values[id(each)])


def _given(inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The numbers of the case by name: the words, the layers in the order of the table, gains of norms, and biases."""
    words, width, inner = (inputs[name] for name in ("vocab_size", "d_model", "d_ff"))
    layers = ((width, inner), (inner,), (inner, width), (width, 20), (20,), (20, 1), (1,))
    shapes = {"words": (words, width), **dict(zip(ONE_EACH, layers, strict=True)), "gain": (width,), "shift": (width,)}
    given, begin = {}, 0
    for name, shape in shapes.items():
        end = begin + math.prod(shape)
        given[name], begin = np.reshape(inputs["numbers"][begin:end], shape), end
    return given


def _shape(weight: Any) -> tuple[int, ...]:
    """The shape of a weight without axes of size 1 in front."""
    shape = tuple(weight.shape)
    while len(shape) > 1 and shape[0] == 1:
        shape = shape[1:]
    return shape

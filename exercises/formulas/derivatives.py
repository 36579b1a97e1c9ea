"""Derivatives of an oracle's results by central differences, in float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np


def weight_by_weight(
    run: Callable[[np.ndarray, np.ndarray], np.ndarray],
    x: np.ndarray,
    vector: np.ndarray,
    sizes: Sequence[int],
    weighting: np.ndarray,
    direction: np.ndarray,
    direction_x: np.ndarray,
    step: float = 1e-7,
) -> np.ndarray:
    """Derivatives of ``sum(run(x, vector) * weighting)`` along `direction_x` and, weight by weight, along `direction`.

    The step is small, so that hardly ever one of the ReLUs has its kink within it.

    Args:
        run: what is differentiated, a function of the input and of all weights end to end.
        sizes: how many numbers each of the weights in `vector` has.

    Returns:
        1 + len(sizes) numbers, whatever the float type of the inputs.
    """
    x, vector, weighting, direction, direction_x = (
        array.astype("float64") for array in (x, vector, weighting, direction, direction_x)
    )

    def slope(change_x: np.ndarray | float, change: np.ndarray | float) -> float:
        upper, lower = (run(x + sign * step * change_x, vector + sign * step * change) for sign in (1, -1))
        return float(np.sum((upper - lower) * weighting) / (2 * step))

    slopes = [slope(direction_x, 0.0)]
    for end, size in zip(np.cumsum(sizes), sizes, strict=True):
        only = np.zeros_like(vector)
        only[end - size : end] = direction[end - size : end]
        slopes.append(slope(0.0, only))
    return np.array(slopes)

"""Draws the random inputs that several exercises share, and sees to it that every draw tells the same apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from autograder.declare import Case
from coursekit.generator import Generator

Drawn = TypeVar("Drawn")


def normal(rng: Generator, *shape: int, dtype: str = "float32") -> np.ndarray:
    """Standard normal numbers."""
    return rng.normal(size=shape).astype(dtype)


def by_hand(why: str, *, mode: str = "call", **inputs: Any) -> Case:
    """A case of few numbers that a person can compute, told with all of them; a list is an array of float32."""
    shown = ", ".join(f"{name}={np.asarray(value).tolist()}" for name, value in inputs.items())
    given = {name: np.array(value, "float32") if isinstance(value, list) else value for name, value in inputs.items()}
    return Case(given, f"{why}: {shown}", mode)


def one_of(rng: Generator, *choices: Drawn) -> Drawn:
    """One of the `choices`: a size that the grader draws, so that its answer cannot be copied from what is released."""
    return choices[rng.integers(len(choices))]


def size_other_than(rng: Generator, least: int, most: int, *others: int) -> int:
    """A size from `least` to `most` that is none of the `others`, so that no two sizes can be taken for each other."""
    return one_of(rng, *(size for size in range(least, most + 1) if size not in others))


def partial_mask(rng: Generator, *shape: int) -> np.ndarray:
    """A random boolean mask in which every row has at least one open key and at least one blocked key."""
    mask = rng.random(shape) < 0.6
    open_key = rng.integers(shape[-1], size=shape[:-1])
    blocked_key = (open_key + rng.integers(1, shape[-1], size=shape[:-1])) % shape[-1]
    np.put_along_axis(mask, open_key[..., None], True, axis=-1)
    np.put_along_axis(mask, blocked_key[..., None], False, axis=-1)
    return mask


def drawn_until(fits: Callable[[Drawn], bool], draw: Callable[[], Drawn]) -> Drawn:
    """Draw until a draw `fits`: what a case tells apart must not depend on the seed, or marks would."""
    while not fits(drawn := draw()):
        pass
    return drawn


def is_far_apart(scores: np.ndarray, gap: float) -> bool:
    """Whether the largest score of every row leads by `gap`, so that its weight is 1 however scores are scaled."""
    ordered = np.sort(scores, axis=-1)
    return bool((ordered[..., -1] - ordered[..., -2] > gap).all())


def masks_matter(scores: np.ndarray, mask: np.ndarray) -> bool:
    """Whether a mask over large `scores` changes the result, and changes it in each wrong way of masking as well.

    Some query's best key is blocked; some query sees negative scores only, which zeros in place of blocked ones beat;
    and in no row does rounding decide about the best key, or the best open one.
    """
    best_is_blocked = ~np.take_along_axis(mask, scores.argmax(axis=-1)[..., None], axis=-1)
    sees_negative = np.where(mask, scores, -np.inf).max(axis=-1) < -1000
    is_clear = is_far_apart(scores, 1000) and is_far_apart(np.where(mask, scores, scores.min() - 1e5), 1000)
    return bool(is_clear and best_is_blocked.any() and sees_negative.any())

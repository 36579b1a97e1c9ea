"""What a student's object is called with, what a function owes to its caller, and whether an error was meant."""

from __future__ import annotations

import dis
from collections.abc import Mapping
from typing import Any

import numpy as np


class ContractError(Exception):
    """The student's object does not keep the contract: a wrong number of results, a missing attribute."""


def tensors(value: Any) -> Any:
    """An array as a TensorFlow tensor; any other value as it is."""
    import tensorflow as tf

    return tf.convert_to_tensor(value) if isinstance(value, np.ndarray) else value


def copied(value: Any) -> Any:
    """A copy of an array or a list, with the lists and arrays inside; any other value as it is."""
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value.copy() if isinstance(value, np.ndarray) else value


def refuse_changed(inputs: Mapping[str, Any], given: Mapping[str, Any], shown: str) -> None:
    """Raise `ContractError` if a function has changed one of its arguments: its caller goes on with what it gave."""
    for key, after in given.items():
        if isinstance(inputs[key], (list, np.ndarray)) and _is_changed(inputs[key], after):
            raise ContractError(f"{shown} changed its argument `{key}`. Make a new array, or work on a copy of it.")


def _is_changed(before: Any, after: Any) -> bool:
    if isinstance(before, list) and isinstance(after, list):
        return len(before) != len(after) or any(map(_is_changed, before, after))
    if not isinstance(before, np.ndarray):
        plain = isinstance(before, (str, bytes, int, float, tuple)) and type(before) is type(after)
        return before != after if plain else before is not after
    if not isinstance(after, np.ndarray) and not hasattr(after, "numpy"):
        return False  # a tensor of a graph has no numbers that could change
    array = np.asarray(after)
    return array.shape != before.shape or not ((array == before) | (array != array)).all()


def shorter(tensor: Any) -> Any:
    """Sequences (B, T) or (B, T, D) without their last token; anything else as it is, such as vectors of floats (B, D).

    A layer that is built on vectors with one number less could not take those of the case.
    """
    import tensorflow as tf

    shape = tuple(getattr(tensor, "shape", ()))
    is_sequence = len(shape) == 3 or (len(shape) == 2 and not tf.as_dtype(tensor.dtype).is_floating)
    return tensor[:, :-1] if is_sequence and shape[1] > 1 else tensor


def is_deliberate(error: BaseException) -> bool:
    """Whether a ``raise`` statement made the error, and not an operation that happened to fail."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return place is None or place.tb_frame.f_code.co_code[place.tb_lasti] == dis.opmap["RAISE_VARARGS"]


def kind_of(value: Any) -> str:
    """The type of a value with its article: "a list", "an int"."""
    name = type(value).__name__
    return f"{'an' if name.startswith(tuple('AEIOaeio')) else 'a'} {name}"


LONGEST_NUMBERS = 200  # characters of a text that is read as numbers


def as_numbers(value: Any) -> Any:
    """Numbers that somebody wrote down as a text, ``"10 19 8"`` or ``"[0.5, 0.5]"``; anything else as it is."""
    if not isinstance(value, str) or len(value) > LONGEST_NUMBERS:
        return value
    try:
        found = [float(word) for word in value.strip(" \t\n[]()").replace(",", " ").replace(";", " ").split()]
    except ValueError:
        return value
    if not found or not np.isfinite(found).all():
        return value
    return found if len(found) > 1 else found[0]

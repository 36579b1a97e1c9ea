"""What goes into a student's object, what a probe hands over, and what reads it outside of the student's process.

A probe runs beside student code, which can replace it, its helpers and every library that it calls: what it says counts
for nothing. So it hands over what came of the student's object as it is, arrays above all, and a reading says what that
shows. The reading runs where no student code does: in the grader's own process. In a notebook both run in the kernel.

Who forges what is handed over has to make it follow the law, or agree with the numbers of the case, as a right answer
does. Some things only the student's process sees: what a function asked for, what a model does with weights that have
no names. They can be invented; `ReadOutside.inside` lists them, and SECURITY.md says how many points rest on them.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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
    """The type of a value with its article: "a list", "an int"; "None"."""
    if value is None:
        return "None"
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


# -- what is handed over ----------------------------------------------------------------------------------------------


CALLS = "what a function asks of another one"
MODEL = "what a model does whose weights have no names"
REFUSED = {"raised": "which error a call ended with"}  # of every probe, see `driving.refusing`

Says = Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]


@dataclass(frozen=True, eq=False)
class ReadOutside:
    """A probe, called as every probe is, with the reading of what it hands over.

    Attributes:
        drive: the probe.
        readings: by mode, what is said of the case's inputs and of what came back; that may come from a process of the
            student's: `ContractError` where it is not what the probe hands over. In other modes that is the result.
        inside: results that rest on what only the student's process sees, by name, and what that is.
    """

    drive: Callable[[Mapping[str, Any], Mapping[str, Any], str], dict[str, Any]]
    readings: Mapping[str, Says]
    inside: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
        """Drive the student's object; see `drive`."""
        return self.drive(namespace, inputs, mode)

    def says(self, inputs: Mapping[str, Any], mode: str, made: Mapping[str, Any]) -> dict[str, Any]:
        """What the reading of this mode says of what came back."""
        return self.readings[mode](inputs, made) if mode in self.readings else dict(made)


def taken(made: Mapping[str, Any], name: str, shape: tuple[int, ...] | None = None, kinds: str = "biuf") -> np.ndarray:
    """The array that a probe handed over as `name`: of this shape where one is given, and of these kinds of dtype.

    Raises:
        ContractError: something else came back.
    """
    value = made.get(name)
    array = np.asarray(value) if isinstance(value, (bool, int, float, np.ndarray)) else None
    if array is None or array.dtype.kind not in kinds or (shape is not None and array.shape != shape):
        raise ContractError("what came back cannot be read as the result asked for.")
    return array


class Asked:
    """Notes what a function asks of something that a probe hands over: how often, for each place of a grid.

    Args:
        shown: how the call is told, such as "`draw` was asked for".
        axes: what may be asked for, by name, such as the seeds; each is an axis of `table`.
    """

    def __init__(self, shown: str, **axes: Sequence[Any]):
        self._shown = shown
        self._axes = {name: list(known) for name, known in axes.items()}
        self.table = np.zeros([len(known) for known in axes.values()], "int64")

    def refuse_unknown(self, **values: Any) -> None:
        """Raise `ContractError` if one of these values is not among those that the function was given."""
        for name, value in values.items():
            if value not in self._axes[name]:
                raise ContractError(f"{self._shown} the {name} {value!r}, which is not among those given.")

    def place(self, **values: Any) -> tuple[int, ...]:
        """Note that these values are asked for, and return their place in the grid; see `refuse_unknown`."""
        self.refuse_unknown(**values)
        place = tuple(known.index(values[name]) for name, known in self._axes.items())
        self.table[place] += 1
        return place


def part_of_grid(asked: np.ndarray, everything: str, unit: str) -> str:
    """What was asked for, of a grid whose last axis are seeds: everything, all with one seed, or so many of a unit."""
    was = asked > 0
    if was.all():
        return everything
    if was.any(axis=tuple(range(was.ndim - 1))).sum() == 1:
        return "one seed only"
    return f"{was.sum()} of {was.size} {unit}"

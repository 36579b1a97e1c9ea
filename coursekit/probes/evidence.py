"""What a probe hands over, and what reads it outside of the student's process.

A probe runs beside student code, which can replace it, its helpers and every library that it calls: what it says counts
for nothing. So it hands over what came of the student's object as it is, arrays above all, and a reading says what that
shows. The reading runs where no student code does: in the grader's own process. In a notebook both run in the kernel.

Who forges what is handed over has to make it follow the law, or agree with the numbers of the case, as a right answer
does. Some things only the student's process sees: what a function asked for, what a model does with weights that have
no names. They can be invented; `ReadOutside.inside` lists them, and SECURITY.md says how many points rest on them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coursekit.probes.arguments import ContractError

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

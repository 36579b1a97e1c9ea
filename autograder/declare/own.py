"""An instructor's own exercise: she says which inputs to try, and her solution gives the right results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from autograder.declare.declaration import Case, Declaration, Group, describe
from coursekit.check.judge import Attempt, Expectation

Solution = Callable[[Case], Attempt]  # tries the instructor's own object on one case
_MODES = ("call", "tensor")


class SolutionFails(ValueError):
    """The instructor's solution gives no reference for a case; the message says what came instead."""


@dataclass
class OwnExercise(Declaration):
    """An exercise whose references come from the solution in the notebook, run on the same inputs.

    Attributes:
        call: inputs that the function gets by position, in the order of its signature; None where the exercise is a
            value: a variable of that name, or with inputs ``{"entry": key}`` an entry of a dictionary of that name.
        optional: inputs that the function gets by keyword, in the cases that have them.
        returns: names of the function's results; a tuple is expected when there are several.
    """

    _: KW_ONLY
    call: tuple[str, ...] | None = None
    optional: tuple[str, ...] = ()
    returns: tuple[str, ...] = ("output",)

    @property
    def probe(self) -> Mapping[str, Any]:
        """How the object is driven, as plain data: see `coursekit.probes.described`."""
        if self.call is None:
            return {"kind": "value"}
        lists = {"call": self.call, "optional": self.optional, "returns": self.returns}
        return {"kind": "function"} | {key: list(names) for key, names in lists.items()}

    def expectations(self, seed: int, solution: Solution) -> list[Expectation]:
        """Draw the cases from `seed`, and take their references from the solution.

        Raises:
            SolutionFails: the solution raises, or returns nothing that can be compared.
            ValueError: a case holds what the solution does not take.
        """
        if not self.groups:
            raise ValueError(f"{self.name}: there is no group of cases; declare one with @exercise.group(…)")
        return [
            self._expectation(group, case, solution)
            for group, rng in self.generators(seed)
            for case in self._cases(group, rng)
        ]

    def inputs(self, seed: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The group and the inputs of each case drawn from `seed`. Raises ValueError, as `expectations` does."""
        for group, rng in self.generators(seed):
            for case in self._cases(group, rng):
                yield group.name, case.inputs

    def _cases(self, group: Group, rng: Any) -> list[Case]:
        try:
            cases = list(group.draw(rng) or ())
        except Exception as error:  # whatever a function of somebody's can raise
            raise ValueError(
                f"{self.name}, group {group.name}: the function that draws its cases stops with "
                f"{type(error).__name__}: {error}"
            ) from error
        if not cases:
            raise ValueError(f"{self.name}, group {group.name}: it returns no cases; return a list of Case(…)")
        if group.must_fail_for or group.must_pass_for:
            raise ValueError(f"{self.name}, group {group.name}: an exercise of your own names no mistakes")
        for case in cases:
            self._refuse(group, case)
        return cases

    def _refuse(self, group: Group, case: Case) -> None:
        where = f"{self.name}, group {group.name}"
        known = {"entry"} if self.call is None else {*self.call, *self.optional}
        if unknown := sorted(case.inputs.keys() - known):
            raise ValueError(f"{where}: there is no input {', '.join(unknown)}; there are {', '.join(sorted(known))}")
        if missing := [key for key in self.call or () if key not in case.inputs]:
            raise ValueError(f"{where}: a case has no {', '.join(missing)}")
        if case.mode not in _MODES or case.property or case.withheld:
            raise ValueError(
                f"{where}: a case of your own has inputs, description, dtype, scale and a mode, call or tensor"
            )

    def _expectation(self, group: Group, case: Case, solution: Solution) -> Expectation:
        description = case.description or describe(case) or self.name
        attempt = solution(case)
        if attempt.outputs is None:
            raise SolutionFails(f"{self.name}, group {group.name}: tried {description}: {attempt.message}")
        for key, value in attempt.outputs.items():
            if value is None or _has_nan(value):
                raise SolutionFails(
                    f"{self.name}, group {group.name}: tried {description}: the solution's `{key}` "
                    + ("is None" if value is None else "has values that are not a number (NaN)")
                )
        return Expectation(
            group=group.name,
            description=description,
            inputs=case.inputs,
            mode=case.mode,
            expected=attempt.outputs,
            tolerance={key: self.bound(case, value) for key, value in attempt.outputs.items()},
            dtype=case.dtype,
        )


def _has_nan(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and bool(np.isnan(value).any())
    return isinstance(value, float) and value != value

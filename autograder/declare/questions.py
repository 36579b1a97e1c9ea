"""Questions with an answer that a student writes down: a number, several, or a word; declared as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from autograder.declare.declaration import Case, Group
from autograder.declare.exercise import Exercise, Mistake

ONE = ""  # the entry of an exercise that is one question: its answer is the value of the student's variable


@dataclass
class Questions(Exercise):
    """An exercise whose answers are the entries of a dictionary, or the value of one variable.

        exercise = Questions("answers", tolerance=0.005)
        exercise.question("weights", "the weights", right=[0.7311, 0.2689])
        exercise.mistakes(unscaled=seen({"weights": [0.9975, 0.0025]}) | "These scores are not divided.")

    A mistake says in `seen` what who makes it answers, by entry; where there is one question, the answer alone.

    Attributes:
        right: the right answer of each entry.
        within: how far from it an answer may lie, by entry, where that differs from `tolerance`.
    """

    _: KW_ONLY
    reveal: bool = False
    right: dict[str, Any] = field(default_factory=dict, init=False)
    within: dict[str, float] = field(default_factory=dict, init=False)

    def question(self, entry: str, title: str, *, right: Any, points: int = 1, name: str = "") -> None:
        """Declare a question.

        Args:
            entry: its key in the dictionary; `ONE` where the variable itself is the answer.
            title: what is asked for, in the student's terms.
            right: a number, a list or an array of numbers, or a word in small letters.
            points: its share of the exercise's points.
            name: short id of the group of tests; the entry by default, and ``number`` for `ONE`.
        """
        self.right[entry] = _answer(right) if entry != ONE else right
        where = f'{self.name}["{entry}"]' if entry != ONE else "your number"
        inputs = {"entry": entry} if entry != ONE else {}
        self.group(title, points=points, name=name or entry or "number")(lambda rng: Case(dict(inputs), where))

    def measured(self, entry: str, title: str, low: float, high: float, *, widened: float = 1.5) -> None:
        """Declare a question for a number that students measure themselves: it lies in the range of recorded runs.

        Args:
            entry, title: as for `question`.
            low, high: the smallest and the largest number of the recorded runs.
            widened: how many times as wide as this range the accepted one is, with the same middle. Record so many
                runs that a right measurement never lies beyond.
        """
        self.within[entry] = widened * (high - low) / 2
        self.question(entry, title, right=(low + high) / 2)

    def bound(self, case: Case, exact: Any) -> float:
        """How far an answer may lie from the right one."""
        within = self.within.get(case.inputs.get("entry", ONE))
        return super().bound(case, exact) if within is None else within

    def mistakes(self, **named: Mistake) -> None:
        """Declare the wrong answers that can be named, the most likely first.

        Raises:
            ValueError: a mistake says nothing, or answers what is not asked; the message names it.
        """
        for id, mistake in named.items():
            if not _seen(mistake) or _seen(mistake).keys() - self.right.keys():
                raise ValueError(
                    f"{self.name}, mistake {id}: say in seen={{…}} what is answered to {', '.join(self.right)}"
                )
        self._name(named)

    @property
    def probe(self) -> Mapping[str, Any]:
        """How the answers are read, as plain data."""
        is_number = isinstance(self.right.get(ONE), (int, float))
        return {"kind": "value"} | ({"number": True} if is_number else {})

    def reference(self, case: Case, precision: str = "float64") -> dict[str, Any]:
        """The right answer, by the result's name."""
        return {_result(case): self.right[case.inputs.get("entry", ONE)]}

    def mistaken_results(self, case: Case, id: str) -> dict[str, Any]:
        """What is answered with a mistake."""
        entry = case.inputs.get("entry", ONE)
        seen = _seen(self.named_mistakes[id])
        if entry not in seen:
            return self.reference(case)
        return {_result(case): _answer(seen[entry]) if entry != ONE else seen[entry]}

    def _refuse_unknown_inputs(self, group: Group, case: Case) -> None:
        pass


def _result(case: Case) -> str:
    return "answer" if "entry" in case.inputs else "value"


def _seen(mistake: Mistake) -> Mapping[str, Any]:
    if mistake.seen is None or isinstance(mistake.seen, Mapping):
        return mistake.seen or {}
    return {ONE: mistake.seen}


def _answer(value: Any) -> Any:
    if isinstance(value, str):
        return value
    return float(value) if np.ndim(value) == 0 else np.asarray(value, dtype="float64")

"""Exercises that ask for no function or layer of the student's own: questions, choices, and given code to mend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from typing import Any

import numpy as np

from autograder.declare.declaration import Case, Group
from autograder.declare.exercise import FIND_THE_BUG, Exercise, Mistake
from coursekit.generator import Generator

ANY_CHOICE = "any choice that keeps the constraint is right"
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


@dataclass
class Design(Exercise):
    """An exercise in which students choose numbers; for each constraint the probe says what is true of the choice.

        exercise = Design("design")
        exercise.constraint("texts", "at least 24 texts at once", about="texts", kept="at least 24 texts")
        exercise.mistakes(too_few=seen({"texts": "fewer than 24 texts"}) | "There are fewer than 24 texts.")

    A mistake says in `seen` what the probe says of who makes it, by constraint. `coursekit.probes.driving` makes the
    probe.

    Attributes:
        kept: by constraint, what the probe says of a choice that keeps it.
    """

    _: KW_ONLY
    kept: dict[str, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.own_probe = True
        self.oracle = self._kept  # a method: no formula with a text that could be changed

    def constraint(self, name: str, title: str, *, about: str, kept: str, points: int = 1) -> None:
        """Declare a constraint.

        Args:
            name: short id, unique in the exercise; the probe gets it as the input ``constraint``.
            title: what is asked for, in the student's terms.
            about: what is looked at, in the student's terms.
            kept: what the probe says of a choice that keeps it.
            points: its share of the exercise's points.
        """
        self.kept[name] = kept
        self.group(title, points=points, name=name, fixed=ANY_CHOICE)(lambda rng: Case({"constraint": name}, about))

    def mistakes(self, **named: Mistake) -> None:
        """Declare the broken constraints that can be named, the most likely first.

        Raises:
            ValueError: a mistake breaks no constraint, or one that is not declared; the message names it.
        """
        for id, mistake in named.items():
            seen = mistake.seen
            if not isinstance(seen, Mapping) or not seen or seen.keys() - self.kept.keys():
                raise ValueError(
                    f"{self.name}, mistake {id}: say in seen={{…}} what the probe says about {', '.join(self.kept)}"
                )
            if any(self.kept[name] == said for name, said in seen.items()):
                raise ValueError(f"{self.name}, mistake {id}: that is said of a choice that keeps the constraint")
        self._name(named)

    def _kept(self, constraint: str) -> dict[str, str]:
        return {constraint: self.kept[constraint]}

    def mistaken_results(self, case: Case, id: str) -> dict[str, Any]:
        """What the probe says with a mistake."""
        results = self.reference(case)
        return results | {name: said for name, said in self.named_mistakes[id].seen.items() if name in results}


def find_the_bug(original: Exercise) -> Exercise:
    """An exercise graded like `original`, all or nothing; its mistakes have no names, because finding one is the task.

    All cases are one group: the given code is right in most of them, and as it stands it earns nothing. Any float type
    passes: a lab asks for one in one exercise, and that is the original.

    In the solution's cell the given code stands after ``### END SOLUTION``; students find it below the line
    ``raise NotImplementedError``. It must fail every group, so that it earns nothing unchanged.
    """
    own = {"name", "reveal", "uses"}
    shared = {one.name: getattr(original, one.name) for one in fields(Exercise) if one.init}
    exercise = Exercise(FIND_THE_BUG, **{name: value for name, value in shared.items() if name not in own})

    @exercise.group(f"all that `{original.name}` is asked for", points=1)
    def mended(rng: Generator) -> list[Case]:
        return [replace(case, dtype=None) for group in original.groups for case in group.draw(rng)]

    return exercise

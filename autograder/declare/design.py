"""A choice under constraints: whatever keeps all of them is right; declared as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from autograder.declare.declaration import Case
from autograder.declare.exercise import Exercise, Mistake

ANY_CHOICE = "any choice that keeps the constraint is right"


@dataclass
class Design(Exercise):
    """An exercise in which students choose numbers; for each constraint the probe says what is true of the choice.

        exercise = Design("design")
        exercise.constraint("texts", "at least 24 texts at once", about="texts", kept="at least 24 texts")
        exercise.mistakes(too_few=seen({"texts": "fewer than 24 texts"}) | "There are fewer than 24 texts.")

    A mistake says in `seen` what the probe says of who makes it, by constraint. `coursekit.probes.choosing` makes the
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

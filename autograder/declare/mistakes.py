"""How a mistake is written down: what it changes | what the student is told | the next hint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from autograder.declare.edits import Edit


@dataclass(frozen=True)
class Mistake:
    """A mistake that can be named, and what it does to the results.

        edit("axis=-1", "axis=-2") | "The softmax runs over the queries." | "Which axis holds the keys?"

    `|` joins what a mistake consists of: several edits, what the probe sees, then the sentence, then the hint.

    Attributes:
        sentence: what the student is told.
        edits: what is different in the formula's text, each with how many times it fits there (`edits.Formula`).
        instead: another algorithm, in the formula's place.
        seen: what the probe says instead, by the result's name; a text alone is the first result.
        hint: the next hint for who makes it.
        see: the section of a lecture to read again, such as ``"02#why-sqrt-dk"``; a release fails if it is not there.
        costs_at_most: the largest share of the exercise's points that it may cost where it is the only mistake; for
            what the exercise is not about, such as a library's default.
    """

    sentence: str = ""
    edits: tuple[Edit, ...] = ()
    instead: Callable[..., Any] | None = None
    seen: Any = None
    hint: str = ""
    see: str = ""
    costs_at_most: float = 1.0

    def __or__(self, other: Mistake | str) -> Mistake:
        """Add a part to this mistake. Raises ValueError if it has this part already, or for a third text."""
        if isinstance(other, str):
            if self.hint:
                raise ValueError(f"a mistake has a sentence and a hint, and this is a third text: {other!r}")
            return replace(self, hint=other) if self.sentence else replace(self, sentence=other)
        new = other._parts()
        if twice := new.keys() & self._parts().keys():
            raise ValueError(f"a mistake has one {' and one '.join(sorted(twice))}: {self} | {other}")
        return replace(self, edits=self.edits + other.edits, **new)

    def _parts(self) -> dict[str, Any]:
        """Return the fields that are given, without the edits."""
        given = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "edits"}
        return {name: value for name, value in given.items() if not _is_blank(name, value)}


def _is_blank(name: str, value: Any) -> bool:
    default = getattr(Mistake, name)
    return value is default or (
        isinstance(value, str | float) and isinstance(default, type(value)) and value == default
    )


def edit(
    *texts: str | tuple[str, str] | Edit,
    times: int = 1,
    see: str = "",
    costs_at_most: float = 1.0,
) -> Mistake:
    """A mistake that is a change of the formula.

    Args:
        texts: a text of the formula and what stands there instead; or several such pairs.
        times: how many times each text occurs in the formula; all of them are replaced.
        see, costs_at_most: see `Mistake`.

    Raises:
        ValueError: the texts are no pairs.
    """
    pairs: Sequence[Any] = (texts,) if texts and isinstance(texts[0], str) else texts
    if not all(len(pair) == 2 or isinstance(pair, Edit) for pair in pairs):
        raise ValueError(f"an edit is a text and what stands there instead, but here are {texts!r}")
    edits = tuple(pair if isinstance(pair, Edit) else Edit(pair[0], pair[1], times) for pair in pairs)
    return Mistake(edits=edits, see=see, costs_at_most=costs_at_most)


def seen(result: Any, *, see: str = "", costs_at_most: float = 1.0) -> Mistake:
    """A mistake by which the probe says something else: the first result, or results by name."""
    return Mistake(seen=result, see=see, costs_at_most=costs_at_most)


def instead(function: Callable[..., Any], *, see: str = "", costs_at_most: float = 1.0) -> Mistake:
    """A mistake that is another algorithm in the formula's place."""
    return Mistake(instead=function, see=see, costs_at_most=costs_at_most)

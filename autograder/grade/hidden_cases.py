"""With which hidden cases a submission was graded: a digest of them, and whether two marks of a lab can be compared."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, inspect, select

from autograder.grade.database import CaseState
from coursekit.check.judge import ExerciseSpec, Expectation

Digests = Mapping[str, str]  # exercise -> digest


def digest_cases(spec: ExerciseSpec, cases: Iterable[Any]) -> str:
    """A text that changes when the cases of an exercise do, with what they expect, its groups' weights or its rules.

    It does not change with sentences and hints. Expected numbers count up to their tolerance, so that machines agree.
    """
    groups = [(group.name, group.weight) for group in spec.groups]
    rules = [groups, spec.forbidden, spec.no_loops, sorted(spec.costs_at_most.items())]
    hashed = hashlib.sha256(repr(rules).encode())
    for case in cases:
        hashed.update(
            repr(_spell_out(_describe_case(case) if isinstance(case, Expectation) else case)).encode("utf-8", "replace")
        )
    return hashed.hexdigest()[:16]


def _describe_case(case: Expectation) -> list[Any]:
    expected = {
        name: _round_to(value, case.tolerance[name]) if case.tolerance.get(name) else value
        for name, value in case.expected.items()
    }
    return [case.group, case.mode, case.dtype, case.property, case.inputs, case.withheld, expected]


def _round_to(value: Any, tolerance: float) -> Any:
    numbers = np.asarray(value, dtype="float64")
    with np.errstate(all="ignore"):
        steps = np.rint(numbers / tolerance) + 0.0  # no -0
    return [float(f"{tolerance:.3g}"), np.where(np.isnan(steps), np.nan, steps)]


def _spell_out(value: Any) -> Any:
    """A value whose `repr` says all of it, and nothing else."""
    if isinstance(value, Mapping):
        return [(str(key), _spell_out(value[key])) for key in sorted(value, key=str)]
    if isinstance(value, list | tuple):
        return [_spell_out(each) for each in value]
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return value.dtype.str, value.shape, hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    if isinstance(value, np.ndarray):
        return [_spell_out(each) for each in value.tolist()]
    return value if isinstance(value, bool | int | float | str | bytes | None) else str(type(value))


@dataclass(frozen=True)
class CaseStates:
    """What is noted of a lab: the digests of each grader that graded or released it, by its version; `now` is the
    version that was used last with the course's own seed, None where nothing is noted."""

    digests: Mapping[str, Digests]
    now: str | None = None

    def find_others(self, version: str, exercises: Collection[str]) -> tuple[str, ...]:
        """Those of the exercises that have other cases now than those a submission was graded with, as far as known."""
        then, now = self.digests.get(version), self.digests.get(self.now or "")
        if then is None or now is None:
            return ()
        return tuple(name for name in exercises if name in now and then.get(name) != now[name])

    def may_differ(self, version: str, versions: Collection[str]) -> bool:
        """Whether nobody knows in what a submission was graded otherwise: its grader is not noted, or is another one
        than that of other submissions. `versions` are those of all submissions of the lab."""
        if self.now is None or version == self.now:
            return False
        return version not in self.digests or len(set(versions)) > 1


def read_states(connection: Connection, lab: str) -> CaseStates:
    """What is noted of a lab; nothing in a gradebook of an earlier version of this grader."""
    if not inspect(connection).has_table(CaseState.__tablename__):
        return CaseStates({})
    rows = connection.execute(select(CaseState.version, CaseState.digests, CaseState.used_at).filter_by(lab=lab)).all()
    used = [row for row in rows if row.used_at is not None]
    last = max(used, key=lambda row: row.used_at, default=None)
    return CaseStates({row.version: row.digests for row in rows}, last.version if last else None)


def describe_other_cases(marks: Iterable[Any]) -> Iterator[str]:
    """For each lab, how many submissions were graded with other cases than are used now, and what is to be typed."""
    with_others: Counter[tuple[str, tuple[str, ...]]] = Counter()
    unknown: Counter[str] = Counter()
    for mark in marks:
        if mark.other_cases:
            with_others[mark.lab, mark.other_cases] += 1
        elif mark.other_grader:
            unknown[mark.lab] += 1
    for (lab, names), number in sorted(with_others.items()):
        listed = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
        yield f"{lab}: {_count(number)} graded with other cases of {listed} than are used now: {_say_again(lab)}"
    for lab, number in sorted(unknown.items()):
        yield (
            f"{lab}: {_count(number)} graded with another state of the lab or the grader, so the same file may get "
            f"another mark now: {_say_again(lab)}"
        )


def _count(number: int) -> str:
    return "1 submission was" if number == 1 else f"{number} submissions were"


def _say_again(lab: str) -> str:
    return f"grade again, with course grade {lab} PATH on the same files"

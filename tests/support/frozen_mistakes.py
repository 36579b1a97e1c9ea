"""Records what every single mistake does to every case of every lab, and compares a later state with the record.

    python tests/support/frozen_mistakes.py record FILE [LAB…]
    python tests/support/frozen_mistakes.py compare FILE [LAB…]

The record holds fingerprints of the results, as the check compares them. `compare` prints one line for each mistake
that came, went, or gives other results, and ends with 1 if there is any.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np

from autograder.declare.exercise import VISIBLE_SEED
from coursekit.check.diagnosis import Fingerprint, fingerprint

SEEDS = (VISIBLE_SEED, 3, 11)
Record = dict[tuple[str, str, int], list[dict[str, Any]]]


def record(labs: list[str]) -> Record:
    """What each single mistake gives: (lab, exercise, seed) -> cases with right and wrong results."""
    from autograder.course.settings import load_course
    from autograder.declare.course_exercises import declared_exercises

    course = load_course()
    found: Record = {}
    for lab in labs or [lab.name for lab in course.labs]:
        for name, exercise in declared_exercises(course, lab).items():
            for seed in SEEDS:
                found[lab, name, seed] = [
                    {
                        "case": f"{case.group}: {case.description} ({case.mode})",
                        "expected": dict(case.expected),
                        "tolerance": dict(case.tolerance),
                        "wrong": {id: dict(case.wrong[id]) for id in exercise.named_mistakes if id in case.wrong},
                    }
                    for case in exercise.expectations(seed)
                ]
        print(lab, flush=True)
    return found


def differences(before: Record, after: Record) -> list[str]:
    """One line for each mistake of an exercise that does not do what it did."""
    lines: dict[str, list[str]] = {}
    for key, cases in after.items():
        old = before[key]
        if [case["case"] for case in old] != [case["case"] for case in cases]:
            lines.setdefault(f"{key[0]} {key[1]}: other cases", []).append(str(key[2]))
            continue
        for one, other in zip(old, cases, strict=True):
            if not _same(one["expected"], other["expected"], one):
                lines.setdefault(f"{key[0]} {key[1]}: another right result", []).append(other["case"])
            for id in dict.fromkeys([*one["wrong"], *other["wrong"]]):
                what = _change(one["wrong"].get(id), other["wrong"].get(id), one)
                if what:
                    lines.setdefault(f"{key[0]} {key[1]} {id} {what}", []).append(other["case"])
    return [f"{line} [{len(cases)}×; {cases[0]}]" for line, cases in lines.items()]


def _change(before: dict[str, Any] | None, after: dict[str, Any] | None, case: dict[str, Any]) -> str:
    if after is None:
        return "no longer changes anything"
    if before is None:
        return "changes the result now"
    return "" if _same(before, after, case) else "gives other results"


def _same(one: dict[str, Any], other: dict[str, Any], case: dict[str, Any]) -> bool:
    """Whether two results agree wherever the right one says anything (is not NaN)."""
    return one.keys() == other.keys() and all(
        _equal(
            *(fingerprint(part.get(key)) for part in (one, other, case["expected"])), case["tolerance"].get(key, 0.0)
        )
        for key in one
    )


def _equal(one: Any, other: Any, right: Any, tolerance: float) -> bool:
    if not isinstance(one, Fingerprint):
        return type(one) is type(other) and (one == other or (isinstance(one, float) and abs(one - other) <= tolerance))
    if not isinstance(other, Fingerprint) or one.shape != other.shape:
        return False
    free = np.isnan(right.values) if isinstance(right, Fingerprint) and right.shape == one.shape else False
    limit = max(tolerance, 1e-9)
    return bool(np.all(free | np.isclose(one.values, other.values, rtol=1e-5, atol=limit, equal_nan=True)))


def main(action: str, file: str, *labs: str) -> int:
    path = Path(file)
    if action == "record":
        path.write_bytes(pickle.dumps(record(list(labs))))
        return 0
    lines = differences(pickle.loads(path.read_bytes()), record(list(labs)))
    print("\n".join(lines) or "no mistake does anything else than it did")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

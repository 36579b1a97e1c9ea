"""Exports the visible cases of a lab, with references from the oracle, to the files that `coursekit` ships."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.exercise import VISIBLE_SEED, Exercise
from autograder.exercises import load_lab
from coursekit.diagnosis import Fingerprint
from coursekit.judge import Expectation


def export(lab: str, title: str, points: Mapping[str, float]) -> dict[str, bytes]:
    """Return the reference files of a lab: file name under ``coursekit/reference`` -> content.

    No oracle is in them: inputs, right results, and fingerprints of wrong results are.

    Args:
        lab: folder name of the lab.
        title: title of the lab.
        points: points of each exercise, from the solution notebook, in the notebook's order.
    """
    declared = load_lab(lab).exercises
    arrays: dict[str, np.ndarray] = {}
    entries = [_exercise(declared[name], arrays) for name in points]
    description = {"lab": lab, "title": title, "points": dict(points), "exercises": entries}
    text = json.dumps(description, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    return {f"{lab}.json": text.encode("utf-8"), f"{lab}.npz": _pack(arrays)}


def same(old: bytes, new: bytes, tolerance: float = 1e-5) -> bool:
    """Whether two reference files agree; arrays up to `tolerance`, since the last bits differ between processors."""
    if old == new:
        return True
    if old[:2] != b"PK" or new[:2] != b"PK":
        return _same_json(json.loads(old), json.loads(new))
    before, after = (np.load(io.BytesIO(each), allow_pickle=False) for each in (old, new))
    return before.files == after.files and all(
        before[key].dtype == after[key].dtype
        and before[key].shape == after[key].shape
        and np.allclose(before[key], after[key], rtol=tolerance, atol=tolerance, equal_nan=True)
        for key in before.files
    )


def _same_json(old: Any, new: Any, key: str = "") -> bool:
    if isinstance(old, dict) and isinstance(new, dict):
        return list(old) == list(new) and all(
            _same_json(old[name], new[name], key if key == "tolerance" else name) for name in old
        )
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_same_json, old, new))
    if key == "tolerance":  # measured from rounding, which differs between processors
        return old == new or 0.25 < old / new < 4
    return old == new


def _exercise(exercise: Exercise, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    facts = exercise.facts
    return {
        "name": facts.name,
        "groups": [vars(group) for group in facts.groups],
        "sentences": dict(facts.sentences),
        "hints": list(facts.hints),
        "forbidden": list(facts.forbidden),
        "no_loops": facts.no_loops,
        "reveal": facts.reveal,
        "cases": [
            _case(case, arrays, f"{facts.name}.{index}")
            for index, case in enumerate(exercise.expectations(VISIBLE_SEED))
        ],
    }


def _case(case: Expectation, arrays: dict[str, np.ndarray], prefix: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"group": case.group, "how": case.how, "mode": case.mode}
    parts = {"inputs": case.inputs, "expected": case.expected} | ({"withheld": case.withheld} if case.withheld else {})
    for part, values in parts.items():
        in_arrays = {key: value for key, value in values.items() if isinstance(value, np.ndarray)}
        entry[part] = {key: value for key, value in values.items() if key not in in_arrays}
        entry[f"{part}_arrays"] = list(in_arrays)
        for key, value in in_arrays.items():
            keep = value if part != "expected" or value.dtype.kind != "f" else value.astype("float32")
            arrays[f"{prefix}.{part}.{key}"] = keep
    entry["tolerance"] = {key: float(f"{value:.2g}") for key, value in case.tolerance.items()}
    entry["dtype"] = case.dtype
    entry["property"] = case.property
    entry["wrong"] = {}
    values: list[np.ndarray] = []
    for mistakes, results in case.wrong.items():
        prints = {key: value for key, value in results.items() if isinstance(value, Fingerprint)}
        usual = {key: np.shape(case.expected.get(key)) for key in prints}
        entry["wrong"]["+".join(mistakes)] = {
            key: list(value.shape) if isinstance(value, Fingerprint) else value
            for key, value in results.items()
            if not (isinstance(value, Fingerprint) and value.shape == usual[key])
        }
        values.extend(value.values for value in prints.values())
    if entry["wrong"]:
        with np.errstate(over="ignore"):  # what is too large for float32 is infinite in a student's result, too
            arrays[f"{prefix}.wrong"] = np.concatenate(values or [np.zeros(0)]).astype("float32")
    return entry


def _pack(arrays: Mapping[str, np.ndarray]) -> bytes:
    """An .npz file whose bytes depend on the arrays alone: NumPy's own writer stores the time of writing."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, np.asarray(array, order="C"), allow_pickle=False)
            member = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, content.getvalue(), compresslevel=9)
    return target.getvalue()

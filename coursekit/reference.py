"""Reads a lab's reference files: the visible cases, their right results, and fingerprints of the wrong ones."""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np

from coursekit.diagnosis import FINGERPRINT_SIZE, Fingerprint
from coursekit.judge import ExerciseFacts, Expectation, GroupFacts


@dataclass(frozen=True)
class LabReference:
    """A lab as the student's side knows it: title, and for each exercise the facts and the visible cases."""

    lab: str
    title: str
    points: Mapping[str, float]
    facts: Mapping[str, ExerciseFacts]
    expectations: Mapping[str, list[Expectation]]


@functools.cache
def load_reference(lab: str) -> LabReference:
    """Load the reference of a lab, such as ``"02_self_attention"``.

    Raises:
        ValueError: there is no such lab; the message lists those that there are.
    """
    folder = resources.files("coursekit") / "reference"
    try:
        description = json.loads((folder / f"{lab}.json").read_text("utf-8"))
        arrays = np.load(io.BytesIO((folder / f"{lab}.npz").read_bytes()), allow_pickle=False)
    except FileNotFoundError:
        known = sorted(each.name[:-5] for each in folder.iterdir() if each.name.endswith(".json"))
        raise ValueError(f"there is no lab {lab!r}; the labs are {', '.join(known)}") from None
    facts, expectations = {}, {}
    for entry in description["exercises"]:
        name = entry["name"]
        facts[name] = ExerciseFacts(
            name=name,
            groups=tuple(GroupFacts(**group) for group in entry["groups"]),
            sentences=entry["sentences"],
            hints=tuple(entry["hints"]),
            forbidden=tuple(entry["forbidden"]),
            no_loops=entry["no_loops"],
            reveal=entry["reveal"],
        )
        expectations[name] = [
            _expectation(case, arrays, f"{name}.{index}") for index, case in enumerate(entry["cases"])
        ]
    return LabReference(lab, description["title"], description["points"], facts, expectations)


def _expectation(case: Mapping[str, Any], arrays: Mapping[str, np.ndarray], prefix: str) -> Expectation:
    def values(part: str) -> dict[str, Any]:
        plain = dict(case.get(part, {}))
        found = {key: arrays[f"{prefix}.{part}.{key}"] for key in case.get(f"{part}_arrays", ())}
        return {**plain, **found}

    expected = values("expected")
    fingerprinted = case["expected_arrays"]
    store = arrays[f"{prefix}.wrong"] if case["wrong"] else np.zeros(0)
    wrong, start = {}, 0
    for mistakes, deviations in case["wrong"].items():
        results = dict(deviations)
        for key in fingerprinted:
            shape = tuple(deviations.get(key, expected[key].shape))
            size = min(int(np.prod(shape)), FINGERPRINT_SIZE)
            results[key] = Fingerprint(shape, store[start : start + size].astype("float64"))
            start += size
        wrong[tuple(mistakes.split("+"))] = results
    return Expectation(
        group=case["group"],
        how=case["how"],
        inputs=values("inputs"),
        mode=case["mode"],
        expected=expected,
        tolerance=case["tolerance"],
        dtype=case["dtype"],
        wrong=wrong,
        property=case["property"],
        withheld=values("withheld"),
    )

"""Probes of the two exercises that every lab has: `find_the_bug` and `predict`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coursekit.probes.driving import ContractError, NotFound, Probe, find, numbers


def mended(probe: Probe, original: str, name: str = "find_the_bug") -> Probe:
    """The probe of the exercise `original`, which drives the object called `name` in its place."""

    def driven(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
        return probe({**namespace, original: find(namespace, name)}, inputs, mode)

    return driven


def prediction(name: str = "predict") -> Probe:
    """Probe that reads one number, which the student predicts before she measures it. None: not predicted yet."""

    def probe(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
        found = find(namespace, name)
        if found is None:
            raise NotFound(f"`{name}` is None: nothing is predicted yet.")
        number = numbers(found, f"`{name}`").astype("float64")
        if number.size != 1:
            raise ContractError(f"`{name}` has {number.size} numbers; expected one.")
        return {"prediction": number.reshape(())}

    return probe

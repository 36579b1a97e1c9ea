"""Probes of lab 01, attention intuition: the declarations of its exercises describe all but one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coursekit.probes.arguments import copied, kind_of, refuse_changed
from coursekit.probes.driving import ContractError, Probe, find, numbers

MEASURED = ("errors", "best", "base_rate")


def _measure_bandwidth(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Hand over points and bandwidths; the modes ask for the errors, for the base rate, or for everything."""
    shown = "measure_bandwidth(x, y, bandwidths)"
    given = {name: copied(inputs[name]) for name in ("x", "y", "bandwidths")}
    found = find(namespace, "measure_bandwidth")(*given.values())
    refuse_changed(inputs, given, shown)
    if not isinstance(found, Mapping) or any(name not in found for name in MEASURED):
        raise ContractError(f"{shown} returned {kind_of(found)}; expected a dictionary with {', '.join(MEASURED)}.")
    names = {"errors": MEASURED[:1], "base rate": MEASURED[2:]}.get(mode, MEASURED)
    return {name: numbers(found[name], f"`{name}`").astype("float64") for name in names}


PROBES: dict[str, Probe] = {"measure_bandwidth": _measure_bandwidth}

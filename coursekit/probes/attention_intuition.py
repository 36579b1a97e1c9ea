"""Probes of lab 01, attention intuition: the declarations of its exercises describe all but one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coursekit.probes.driving import Probe, entries, find, floats
from coursekit.probes.evidence import copied, refuse_changed

MEASURED = ("errors", "best", "base_rate")


def _measure_bandwidth(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Hand over points and bandwidths; the modes ask for the errors, for the base rate, or for everything."""
    shown = "measure_bandwidth(x, y, bandwidths)"
    given = {name: copied(inputs[name]) for name in ("x", "y", "bandwidths")}
    found = find(namespace, "measure_bandwidth")(*given.values())
    refuse_changed(inputs, given, shown)
    found = entries(found, MEASURED, shown)
    names = {"errors": MEASURED[:1], "base rate": MEASURED[2:]}.get(mode, MEASURED)
    return {name: floats(found[name], f"`{name}`") for name in names}


PROBES: dict[str, Probe] = {"measure_bandwidth": _measure_bandwidth}

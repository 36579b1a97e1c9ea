"""The probe of an exercise that brings no code of its own, made from its description as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coursekit.probes.driving import LayerProbe, Probe, function, record, refusing, value

# The modes that each kind understands; a misspelt one would be a plain call, and test nothing of what it names.
MODES: Mapping[str, tuple[str, ...]] = {
    "value": ("call",),
    "function": ("call", "tensor"),
    "record": ("call",),
    "layer": ("call", "parameters", "graph", "gradient", "reload", "refusal", "unmasked"),
}


def described(name: str, description: Mapping[str, Any]) -> Probe:
    """The probe of an exercise that brings no code of its own: a function, a record, a layer, or a value.

    Args:
        name: the name of the student's object.
        description: ``{"kind": "value"}``, with ``"number": True`` where it is one number;
            ``{"kind": "function", "call": [...], "optional": [...], "returns": [...]}`` with lists of names as in
            `function`; ``{"kind": "record", …}`` with ``fields`` in place of ``returns``; or ``{"kind": "layer", …}``
            with the fields of `LayerProbe`; the mode ``refusal`` says which error it raises.

    Raises:
        KeyError: it describes none of them.
    """
    if description["kind"] == "value":
        return value(name, number=description.get("number", False))
    if description["kind"] == "layer":
        return refusing(LayerProbe(name, **{key: value for key, value in description.items() if key != "kind"}))
    if description["kind"] == "record":
        return record(name, *description["call"], optional=description["optional"], fields=description["fields"])
    return function(name, *description["call"], optional=description["optional"], returns=description["returns"])

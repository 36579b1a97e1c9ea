"""Probes of functions that turn texts into words, and words into numbers (lab 06)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from coursekit.probes.driving import ContractError, find, function_of, numbers
from coursekit.probes.evidence import taken


def standardize(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Call the function; it has to return a str, and no tensor or bytes, for the next exercises split it."""
    value = find(namespace, "standardize")(inputs["text"])
    if value is None:
        raise ContractError("standardize(text) returned None. Is the `return` missing?")
    if isinstance(value, str):
        return {"standardized": value}
    if hasattr(value, "numpy"):
        raise ContractError(
            "standardize(text) returned a tensor; expected a str. Python's own functions of strings, such as "
            "`text.lower()` and `re.sub`, do without TensorFlow; `value.numpy().decode()` is the str in a tensor."
        )
    raise ContractError(f"standardize(text) returned an object of type {type(value).__name__}; expected a str.")


def of_texts(name: str, *others: str, result: str) -> Callable[..., dict[str, Any]]:
    """Probe of a function of a list of texts; what it returns is a list, or an array of numbers."""

    def probe(namespace: Mapping[str, Any], inputs: Mapping[str, Any], mode: str) -> dict[str, Any]:
        target = function_of(namespace, name)
        given = [list(value) if isinstance(value, list) else value for value in (inputs[key] for key in others)]
        value = target(list(inputs["texts"]), *given)
        if value is None:
            raise ContractError(f"{name}(…) returned None. Is the `return` missing?")
        if result == "vocabulary":
            return {"vocabulary": _words(value, name)}
        return {"ids": numbers(value, f"what {name}(…) returned")}

    return probe


def ids_seen(inputs: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """The ids, and whether their type holds those of 20,000 words."""
    ids = taken(made, "ids")
    if ids.dtype.kind in "iu" and ids.dtype.itemsize == 1:
        return {"ids": ids, "kind": f"{ids.dtype.name}, too small for the ids of 20,000 words"}
    return {"ids": ids, "kind": "whole numbers" if ids.dtype.kind in "iu" else f"{ids.dtype.name}"}


def _words(value: Any, name: str) -> list[str]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(word, str) for word in value):
        other = [] if not isinstance(value, (list, tuple)) else [word for word in value if not isinstance(word, str)]
        found = f"; its entry {str(other[0])[:40]} is no word" if other else ""
        raise ContractError(f"{name}(…) returned a {type(value).__name__}{found}; expected a list of words.")
    return [str(word) for word in value]

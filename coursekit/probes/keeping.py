"""A function of the student's for probes that call it in ways of their own: it leaves what it gets as it was."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from coursekit.probes.arguments import copied, refuse_changed
from coursekit.probes.driving import find


def function_of(namespace: Mapping[str, Any], name: str) -> Callable[..., Any]:
    """The student's function called `name`, as `find` gives it; a call that changes an array or a list raises.

    What stands in a tuple, such as a pair of arrays, is looked at, too.

    Raises:
        NotFound: there is no such function.
        ContractError: of a call, after which an argument is another one; the text names it.
    """
    target = find(namespace, name)
    known = _names(target)  # once: some probes call thousands of times

    @functools.wraps(target)
    def call(*given: Any, **named: Any) -> Any:
        arguments = _by_name(known, given, named)
        before = {key: copied(value) for key, value in arguments.items()}
        result = target(*given, **named)
        refuse_changed(before, arguments, f"{name}(…)")
        return result

    return call


def _names(target: Any) -> list[str]:
    """The names of the arguments that a function takes by position; none where Python knows no signature."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    with suppress(TypeError, ValueError):
        return [each.name for each in inspect.signature(target).parameters.values() if each.kind in kinds]
    return []


def _by_name(known: Sequence[str], given: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by the names that the function has for them, else by their number; parts of a tuple by their place."""
    names = [*known[: len(given)], *(f"argument {number}" for number in range(len(known) + 1, len(given) + 1))]
    found: dict[str, Any] = {}
    for name, value in [*zip(names, given, strict=True), *named.items()]:
        if isinstance(value, tuple) and value:
            found |= {f"{name}[{number}]": part for number, part in enumerate(value)}
        else:
            found[name] = value
    return found

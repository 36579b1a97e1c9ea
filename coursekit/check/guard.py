"""Stops the calls that an exercise forbids, while a student's code runs."""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any


class ForbiddenCall(Exception):
    """A call that the exercise asks the student to write."""


@contextlib.contextmanager
def guard(forbidden: Iterable[str]) -> Iterator[None]:
    """Stop calls of the `forbidden` dotted names while the block runs, by raising `ForbiddenCall`.

    Classes are stopped when they are built and when a layer made of them is called; functions wherever they were taken
    from their module before. A name is skipped where its module cannot be imported.
    """
    with contextlib.ExitStack() as stack:
        for name in forbidden:
            path, _, attribute = name.rpartition(".")
            if not path:  # a name of the notebook itself: `coursekit.check.rules` finds it in the cells
                continue
            try:
                module = importlib.import_module(path)
                target = getattr(module, attribute)
            except (ImportError, AttributeError):
                continue
            if inspect.isclass(target):
                for method in {"__init__", "call"} & vars(target).keys():
                    stack.enter_context(_replaced(target, method, _stopper(name, vars(target)[method])))
            else:
                stack.enter_context(_replaced(module, attribute, _stopper(name, target)))
                if inspect.isfunction(target):
                    code = _stopping_code(name, target.__code__.co_freevars)
                    stack.enter_context(_replaced(target, "__code__", code))
        yield


def forbidden_sentence(name: str) -> str:
    """Return what a student is told who uses a forbidden `name`."""
    return f"this exercise forbids `{name}`: write it yourself."


def _stopper(name: str, original: Any) -> Any:
    def stop(*_: Any, **__: Any) -> Any:
        raise ForbiddenCall(forbidden_sentence(name))

    with contextlib.suppress(ValueError, TypeError):
        # Keras reads the signature before it calls
        stop.__signature__ = _signature(original)  # type: ignore[attr-defined]  # a name of `inspect`'s
    return stop


@functools.cache  # this and the next: a guard goes up before each case
def _signature(function: Any) -> inspect.Signature:
    return inspect.signature(function)


@functools.cache
def _stopping_code(name: str, variables: tuple[str, ...]) -> CodeType:
    """Return code that raises in place of a function's own, so that it stops under any other name, too."""
    text = f"from coursekit.check.guard import ForbiddenCall\n    raise ForbiddenCall({forbidden_sentence(name)!r})"
    made: dict[str, Any] = {}
    exec(f"def stop(*_, **__):\n    {text}", made)
    return made["stop"].__code__.replace(co_freevars=variables)


@contextlib.contextmanager
def _replaced(owner: Any, attribute: str, value: Any) -> Iterator[None]:
    original = vars(owner)[attribute] if inspect.isclass(owner) else getattr(owner, attribute)
    setattr(owner, attribute, value)
    try:
        yield
    finally:
        setattr(owner, attribute, original)

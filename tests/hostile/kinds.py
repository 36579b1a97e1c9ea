"""The kinds of hostile submissions: an attack on one answer, a theft, a strange result, a changed notebook.

An attack on `self_attention_loops` beside right answers may cost that exercise and nothing else. A *theft* gives the
right result if and only if it found what it looked for, so that success would earn points. Code that breaks its own
process for good (`harms_itself`) may lose more, but can gain nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

from hostile.making import LOOPS, Hostile, Notebook, Scene, answered, as_bytes, changed, right_answers, with_cell

WRONG = "def self_attention_loops(x):\n    return x"


def attack(
    name: str,
    what: str,
    code: str,
    status: str | tuple[str, ...] = "graded",
    *,
    harms_itself: bool = False,
    told: str = "",
    silent: str = "",
) -> Hostile:
    """Code in place of the answer to `self_attention_loops`; all other answers are right."""
    make = filled(answered(**{LOOPS: dedent(code).strip()}))
    return Hostile(name, what, make, {LOOPS: status}, harms_itself=harms_itself, told=told, silent=silent)


def filled(notebook: Notebook) -> Callable[[Scene], bytes]:
    def make(scene: Scene) -> bytes:
        text = as_bytes(notebook)
        for word, value in (("@CANARY@", str(scene.canary)), ("@SECRET@", scene.secret), ("@PORT@", str(scene.port))):
            text = text.replace(word.encode(), value.encode())
        return text

    return make


def theft(name: str, what: str, code: str, status: str | tuple[str, ...] = "graded") -> Hostile:
    """The code defines `loot`; the answer is right if `loot()` returns something true.

    It is called by a name that no cell defines: what it does is the walls' affair, and no rule of the exercise's.
    """
    right = right_answers()[LOOPS].replace("def self_attention_loops", "def _right")
    body = f"""
{dedent(code).strip()}


{right}

import builtins
import functools

@functools.cache
def _tried():
    try:
        return loot()
    except Exception:
        return None

builtins.tried = _tried

def self_attention_loops(x):
    return _right(x) if tried() else x
"""
    return Hostile(name, what, filled(answered(**{LOOPS: body.strip()})), {LOOPS: status})


def harmless(name: str, what: str, source: str, told: str = "") -> Hostile:
    """A cell of the student's own above right answers: it may cost nothing."""
    return Hostile(name, what, filled(with_cell(answered(), dedent(source).strip())), told=told)


def returning(name: str, what: str, expression: str, status: str | tuple[str, ...] = "graded") -> Hostile:
    """An answer that returns a strange object."""
    return attack(name, what, f"def self_attention_loops(x):\n    return {expression}", status)


def repaired(name: str, what: str, change: Callable[[Notebook], object], told: str = "") -> Hostile:
    """Right answers in a notebook that was changed: no point is lost."""
    return Hostile(name, what, changed(change), told=told)


def gains_nothing(name: str, what: str, change: Callable[[Notebook], object]) -> Hostile:
    """A wrong answer in a notebook that was changed: no point is gained."""
    return Hostile(name, what, changed(change, **{LOOPS: WRONG}), {LOOPS: "graded"})

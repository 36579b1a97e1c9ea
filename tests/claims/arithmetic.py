"""Calculations that a text writes out, "36/4 = 9" or "54.6 / (2 · 54.6 + 7) ≈ 0.47": found, and done again."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
_TERM = rf"[-−+]?[(]*\s*[-−+]?{_NUMBER}\s*[)]*(?:²|³)?"
_CALCULATION = re.compile(
    rf"(?<![\w.^_/])({_TERM}(?:\s*[-−+·×/]\s*{_TERM})+)\s*([=≈])\s*([-−]?{_NUMBER})"
    r"(\s?%|\s(?:M\b|million))?(?![\w/·×^]|\s*[·×/]\s*\d)"
)
_WRITTEN = str.maketrans({"−": "-", "·": "*", "×": "*", ",": None, "²": "**2", "³": "**3"})
_OPERATIONS = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)


@dataclass(frozen=True)
class Calculation:
    """A calculation in a text: where it stands, and whether its result is right as far as it is written out."""

    start: int
    end: int
    text: str
    right: bool


def calculations(text: str) -> Iterator[Calculation]:
    """The calculations in a text, from left to right."""
    for found in _CALCULATION.finditer(text):
        value = _value(found[1])
        if value is None:
            continue
        share = {"": 1, "%": 100}.get((found[4] or "").strip(), 1e-6)
        result = float(found[3].translate(_WRITTEN))
        written_out = 10.0 ** -len(found[3].partition(".")[2])
        allowed = (0.5 if found[2] == "=" else 1.5) * written_out + share * _rounding(found[1], value)
        yield Calculation(found.start(), found.end(), found[0], abs(share * value - result) <= allowed + 1e-9)


def _rounding(expression: str, value: float) -> float:
    """How far the value may be off because its decimals are rounded: half a unit of the last digit of each."""
    off = 0.0
    for found in re.finditer(rf"{_NUMBER}", expression):
        digits = len(found[0].partition(".")[2])
        if digits:
            moved = f"({found[0]} + {0.5 * 10.0**-digits:.12f})"
            off += abs((_value(expression[: found.start()] + moved + expression[found.end() :]) or value) - value)
    return off


def _value(expression: str) -> float | None:
    """The value of sums, products and quotients of numbers; None for anything else, such as unbalanced brackets."""
    try:
        tree = ast.parse(expression.translate(_WRITTEN).strip(), mode="eval")
        if not all(isinstance(node, _OPERATIONS) for node in ast.walk(tree)):
            return None
        return float(eval(compile(tree, "<calculation>", "eval"), {"__builtins__": {}}))
    except (SyntaxError, ZeroDivisionError):
        return None
